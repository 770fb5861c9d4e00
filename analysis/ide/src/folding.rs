//! Folding ranges: blocks, multi-line lists, comments, TIR functions and metadata, and layers.
//!
//! Only nodes that span more than one line are visited, so that the cost is proportional to the
//! number of folds rather than to the size of the file.

use semantics::{Db, SourceFile};
use syntax::{
    Element, LineIndex, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, element_range,
};

use crate::layers::{Grouping, Part, shown_layers};

/// A folding range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The range, from the first line, which stays visible, to the last hidden character.
    pub range: TextRange,
    /// The kind.
    pub kind: FoldKind,
}

/// The kind of a folding range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoldKind {
    /// A block, a list of arms or constructors.
    Block,
    /// Parameters, arguments, the fields of a tuple.
    List,
    /// A comment of several lines, or several in a row.
    Comment,
    /// A TIR function.
    Tir,
    /// The metadata section.
    Metadata,
    /// A layer.
    Layer,
}

/// Returns the folding ranges of a file in text order.
pub fn folds(db: &dyn Db, file: SourceFile, lines: &LineIndex) -> Vec<Fold> {
    let parse = file.parse(db);
    let mut found = Vec::new();
    let is_tall = |range: TextRange| lines.line_at(range.start()) < lines.line_at(range.end());
    let mut stack = vec![Node::root(&parse.green)];
    let mut count = 0u32;
    while let Some(node) = stack.pop() {
        count += 1;
        if count.is_multiple_of(1024) {
            db.unwind_if_revision_cancelled();
        }
        if let Some(kind) = kind_of(node.kind()) {
            let range = match kind {
                FoldKind::Tir | FoldKind::Metadata => without_break(node),
                _ => inside(node).map(|(open, content)| TextRange::new(open, content.end())),
            };
            if let Some(range) = range.filter(|range| is_tall(*range)) {
                found.push(Fold { range, kind });
            }
        }
        comments(node, is_tall, &mut found);
        let tall = node.children().filter(|child| is_tall(child.range()));
        stack.extend(tall);
    }
    found.sort_by_key(|fold| (fold.range.start(), std::cmp::Reverse(fold.range.end())));
    // Nested ranges on the same lines are merged.
    found.dedup_by_key(|fold| (lines.line_at(fold.range.start()), lines.line_at(fold.range.end())));
    found
}

/// Returns the folding ranges of layers whose lines are those of no other layer beside them. One that begins on the line
/// of the layer around it has none: an editor folds one range from a line.
pub fn of_layers(
    db: &dyn Db,
    file: SourceFile,
    grouping: Grouping,
    lines: &LineIndex,
) -> Vec<Fold> {
    let mut found = Vec::new();
    for function in shown_layers(db, file, grouping) {
        let first = lines.line_at(function.range.start());
        add_parts(&function.parts, first, lines, &mut found);
    }
    found
}

/// Adds the folds of parts inside of one that begins on the line `around`. The nesting of parts is bounded.
fn add_parts(parts: &[Part], around: u32, lines: &LineIndex, found: &mut Vec<Fold>) {
    for (at, part) in parts.iter().enumerate() {
        let (first, last) = (lines.line_at(part.range.start()), lines.line_at(part.range.end()));
        let before = at.checked_sub(1).map(|at| lines.line_at(parts[at].range.end()));
        let after = parts.get(at + 1).map(|next| lines.line_at(next.range.start()));
        let is_apart =
            before.is_none_or(|before| before < first) && after.is_none_or(|after| last < after);
        if is_apart && first > around && first < last {
            found.push(Fold { range: part.range, kind: FoldKind::Layer });
        }
        add_parts(&part.parts, first, lines, found);
    }
}

/// Returns the first lines of the folds of a reader, a level at a time: lines inside definitions first, so that each
/// binding stays visible, then blocks from the innermost to the definitions themselves. `chains` are the first lines of
/// chains of bindings. No level is empty.
///
/// Folds are in text order; each is compared with the blocks around it, whose number is the depth of the nesting.
pub fn levels(folds: &[Fold], chains: &[u32], lines: &LineIndex) -> Vec<Vec<u32>> {
    let mut inner = chains.to_vec();
    let mut blocks: Vec<Vec<u32>> = Vec::new();
    let mut around: Vec<TextSize> = Vec::new();
    for fold in folds {
        while around.last().is_some_and(|&end| end <= fold.range.start()) {
            around.pop();
        }
        let depth = around.len();
        let level = match fold.kind {
            FoldKind::Comment | FoldKind::Metadata | FoldKind::Layer => &mut inner,
            FoldKind::List if depth > 0 => &mut inner,
            // With the header of a definition, also its parameters are left.
            FoldKind::Block | FoldKind::List | FoldKind::Tir => {
                if blocks.len() <= depth {
                    blocks.resize_with(depth + 1, Vec::new);
                }
                &mut blocks[depth]
            }
        };
        level.push(lines.line_at(fold.range.start()));
        if fold.kind == FoldKind::Block {
            around.push(fold.range.end());
        }
    }
    let mut levels = vec![inner];
    levels.extend(blocks.into_iter().rev());
    levels.retain(|level| !level.is_empty());
    for level in &mut levels {
        level.sort_unstable();
        level.dedup();
    }
    levels
}

/// Returns the kind of the folding range of a node.
pub(crate) fn kind_of(kind: SyntaxKind) -> Option<FoldKind> {
    use SyntaxKind::*;
    Some(match kind {
        BLOCK | CONSTRUCTOR_LIST | ARM_LIST => FoldKind::Block,
        PARAM_LIST | ARG_LIST | TUPLE_EXPR | TUPLE_TYPE | ATTR_LIST | ATTR_MAP
        | TYPE_PARAM_LIST => FoldKind::List,
        TIR_ITEM => FoldKind::Tir,
        METADATA_ITEM => FoldKind::Metadata,
        _ => return None,
    })
}

/// Returns the end of the opening bracket of a node, and the range of what is between its brackets, without white space
/// at the ends.
pub(crate) fn inside(node: Node<'_>) -> Option<(TextSize, TextRange)> {
    use SyntaxKind::*;
    let kind = |element: &Element<'_>| element.as_token().map(|token| token.kind());
    let mut elements = node.elements();
    let open = elements.find(|it| matches!(kind(it), Some(L_PAREN | L_BRACK | L_BRACE)))?;
    elements.rfind(|it| matches!(kind(it), Some(R_PAREN | R_BRACK | R_BRACE)))?;
    let mut content = elements.filter(|it| kind(it) != Some(WHITESPACE));
    let first = element_range(&content.next()?);
    let last = content.next_back().map_or(first, |last| element_range(&last));
    Some((element_range(&open).end(), first.cover(last)))
}

/// Returns the range of an item that is one token, without trailing line breaks.
fn without_break(node: Node<'_>) -> Option<TextRange> {
    let token = node.tokens().find(|token| !token.kind().is_trivia())?;
    Some(TextRange::at(token.start(), TextSize::of(token.text().trim_end())))
}

/// Adds the multi-line comments and runs of line comments directly in a node.
fn comments(node: Node<'_>, is_tall: impl Fn(TextRange) -> bool, found: &mut Vec<Fold>) {
    let mut row: Option<TextRange> = None;
    let mut add = |range: Option<TextRange>| {
        if let Some(range) = range.filter(|range| is_tall(*range)) {
            found.push(Fold { range, kind: FoldKind::Comment });
        }
    };
    for element in node.elements() {
        let NodeOrToken::Token(token) = element else {
            add(row.take());
            continue;
        };
        match token.kind() {
            SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT => {
                row = Some(row.map_or(token.range(), |row| row.cover(token.range())));
            }
            // An empty line separates two runs of comments.
            SyntaxKind::WHITESPACE if token.text().matches('\n').count() <= 1 => {}
            SyntaxKind::BLOCK_COMMENT => {
                add(row.take());
                add(Some(token.range()));
            }
            _ => add(row.take()),
        }
    }
    add(row);
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use syntax::LineIndex;

    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let lines = LineIndex::new(&fixture.text);
        let mut out = String::new();
        for fold in super::folds(&fixture.db, fixture.file, &lines) {
            let (from, to) = (lines.line_at(fold.range.start()), lines.line_at(fold.range.end()));
            out += &format!("{from}..{to} {:?}\n", fold.kind);
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn blocks_lists_and_comments_fold() {
        check(
            "// One.
// Two.

// Alone.
type List[A] {
  Cons(A, List[A]),
  Nil,
}
/* Some
   lines. */
def @main(
  %x: int32,
  %y: List[int32]
) -> int32 {
  # manual
  # comments
  let %f = fn (%z: int32) {
    add(%z,
        1)
  };
  match (%y) {
    Nil => { %x },
    Cons(%h, _) => {
      %h
    },
  }
}
def @one() { 1 }
",
            expect![[r#"
                0..1 Comment
                4..6 Block
                8..9 Comment
                10..12 List
                13..25 Block
                14..15 Comment
                16..18 Block
                17..18 List
                20..24 Block
                22..23 Block
            "#]],
        );
    }

    #[test]
    fn levels_go_from_bindings_to_definitions() {
        let fixture = Fixture::new(
            "def @main(
  %x: int32
) {
  // One.
  // Two.
  let %f = fn (%z: int32) {
    let %g = fn () {
      add(%z,
          1)
    };
    %g()
  };
  %f(%x)
}
def @one() {
  1
}
#[metadata]
{
}
",
        );
        let lines = LineIndex::new(&fixture.text);
        let folds = super::folds(&fixture.db, fixture.file, &lines);
        let levels = super::levels(&folds, &[10], &lines);
        assert_eq!(levels, [vec![3, 7, 10, 17], vec![6], vec![5], vec![0, 2, 14]]);
        assert!(super::levels(&[], &[], &lines).is_empty());
    }

    #[test]
    fn metadata_and_tir_fold() {
        check(
            "#[version = \"0.0.5\"]
def @main() { meta[relay.Constant][0] }
@tir = primfn(a: handle) -> () {
  attr = 1
}
#[metadata]
{
  \"root\": 1
}
",
            expect![[r#"
                2..4 Tir
                5..8 Metadata
            "#]],
        );
    }
}
