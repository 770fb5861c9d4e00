//! The syntax of Relay, TVM's functional tensor IR.
//!
//! Invariants:
//! - [`parse`] takes any text and never fails or panics; the tree holds every byte of it.
//! - A tree is a value: no positions are stored in it, equal text parses to an equal tree.
//! - Chains of bindings are flat lists; nesting is bounded by [`ParseLimits`].
//!
//! Absent on purpose: the incremental database, the file system, LSP.

#[macro_use]
mod kind;

mod adopt;
pub mod ast;
mod error;
pub mod format;
mod grammar;
mod interner;
mod lexer;
mod line_index;
mod node;
mod parser;
mod reparse;
mod tree;

pub use error::{Expectation, SyntaxError, SyntaxErrorKind};
pub use kind::{Relay, SyntaxKind};
pub use line_index::{Encoding, LineColumn, LineIndex, LineWalk};
pub use node::{Element, Node, Token};
pub use parser::ParseLimits;
pub use reparse::Edit;
pub use rowan::NodeOrToken;
pub use rowan::{GreenNode, GreenNodeData, TextRange, TextSize};

/// A node with parent and siblings, for features that walk the tree freely.
pub type SyntaxNode = rowan::SyntaxNode<Relay>;
/// A token with its place.
pub type SyntaxToken = rowan::SyntaxToken<Relay>;

use interner::Interner;
use lexer::TensorTypes;
use parser::{Input, Parser};

/// A parsed text: the tree and what was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parse {
    /// The tree over the whole text.
    pub green: GreenNode,
    /// Findings, in no particular order.
    pub errors: Vec<SyntaxError>,
}

impl Parse {
    /// The same parse, made of the definitions and statements of `before` as far as they are equal.
    pub fn sharing(self, before: &Parse) -> Parse {
        Parse { green: adopt::adopt(&before.green, self.green), errors: self.errors }
    }

    /// The tree with parents and siblings.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }
}

/// Parses a whole file.
pub fn parse(text: &str) -> Parse {
    parse_with(text, ParseLimits::default())
}

/// Parses a whole file under other limits than the default.
pub fn parse_with(text: &str, limits: ParseLimits) -> Parse {
    fragment(text, limits, grammar::source_file)
}

/// Parses a type alone, such as one in a comment; the tree is a file around it.
pub fn parse_type(text: &str) -> Parse {
    fragment(text, ParseLimits::default(), grammar::type_fragment)
}

/// The tokens of a text, each with its end. Types of tensors come out whole, as the parser gets
/// them: `Tensor[(1, 64), float32]`.
pub fn tokens(text: &str) -> impl Iterator<Item = (SyntaxKind, TextSize)> {
    let tokens = lexer::lex(text, TensorTypes::Whole);
    tokens.kinds.into_iter().zip(tokens.ends.into_iter().map(TextSize::new))
}

fn fragment(text: &str, limits: ParseLimits, entry: fn(&mut Parser<'_>)) -> Parse {
    let mut tokens = lexer::lex(text, TensorTypes::Whole);
    let mut errors = std::mem::take(&mut tokens.errors);
    let mut parser = Parser::new(Input::new(text, tokens), limits, Interner::default());
    entry(&mut parser);
    let parsed = parser.finish();
    errors.extend(parsed.errors);
    Parse { green: parsed.green, errors }
}
