//! The statements of a block in chunks.
//!
//! The block of a network has thousands of statements. As one list of children, all of it would be copied at each
//! edit, and compared with the one before. A block therefore holds most of its statements in nodes of a few dozen:
//!
//! ```text
//! BLOCK
//!   {
//!   CHUNK   ␣ %0 = add(%x, %y); … ␣ %31 = nn.relu(%30);
//!   CHUNK   ␣ %32 = nn.dense(%31, %w); …
//!   ␣ %70
//!   ␣ }
//! ```
//!
//! Where a chunk ends depends on the statement before its end, so that an edit moves only the ends beside it, and
//! a reparse gives the tree of a full parse. What has no end after it, such as the statements of a small block,
//! stays among the children of the block. [`crate::Node`] hides chunks.

use std::hash::Hasher;

use rowan::{GreenNode, GreenNodeData, NodeOrToken};
use rustc_hash::FxHasher;

use crate::{
    SyntaxKind,
    interner::{Child, Element, borrowed},
};

/// One of this many statements ends a chunk.
const MEAN: u64 = 32;
/// The largest number of statements of a chunk. Statements that are equal to the hash would else never end one.
const LARGEST: usize = 256;

/// Returns true if a chunk ends after a statement, from a hash of its name and length.
fn is_end(statement: &GreenNodeData) -> bool {
    let mut hasher = FxHasher::default();
    hasher.write_u32(statement.text_len().into());
    let name = statement.children().find_map(NodeOrToken::into_node);
    if let Some(NodeOrToken::Token(name)) = name.and_then(|name| name.children().next()) {
        hasher.write(name.text().as_bytes());
    }
    // The upper bits depend on all of the input.
    hasher.finish() >> 32 & (MEAN - 1) == 0
}

/// Returns the chunk, if a child is one.
pub(crate) fn as_chunk(child: Child<'_>) -> Option<&GreenNodeData> {
    child.into_node().filter(|node| node.kind() == SyntaxKind::CHUNK.into())
}

fn as_statement(child: Child<'_>) -> Option<&GreenNodeData> {
    child.into_node().filter(|node| SyntaxKind::of(node.kind()).is_stmt())
}

/// Distributes elements to chunks.
#[derive(Default)]
pub(crate) struct Chunks {
    children: Vec<Element>,
    /// The elements after the last chunk.
    open: Vec<Element>,
    /// The number of statements among them.
    statements: usize,
}

impl Chunks {
    pub(crate) fn push(&mut self, element: Element) {
        let is_end = as_statement(borrowed(&element)).is_some_and(|statement| {
            self.statements += 1;
            self.statements == LARGEST || is_end(statement)
        });
        self.open.push(element);
        if is_end {
            let chunk = GreenNode::new(SyntaxKind::CHUNK.into(), self.open.drain(..));
            self.children.push(chunk.into());
            self.statements = 0;
        }
    }

    /// Returns true if the next element begins a chunk.
    pub(crate) fn is_at_start(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the chunks and the elements after them.
    pub(crate) fn finish(mut self) -> Vec<Element> {
        self.children.append(&mut self.open);
        self.children
    }
}

/// Moves the children of a block, from index `from` on, to chunks.
pub(crate) fn distribute(children: &mut Vec<Element>, from: usize) {
    let is_brace = |child: &Element| child.kind() == SyntaxKind::L_BRACE.into();
    let first = from + usize::from(children.get(from).is_some_and(is_brace));
    let ends = children[first..].iter().filter_map(|child| as_statement(borrowed(child)));
    // Few blocks have so many statements.
    let mut count = 0;
    let mut is_any_end = |statement| {
        count += 1;
        count == LARGEST || is_end(statement)
    };
    if !ends.into_iter().any(&mut is_any_end) {
        return;
    }
    let mut chunks = Chunks::default();
    children.drain(first..).for_each(|child| chunks.push(child));
    children.append(&mut chunks.finish());
}
