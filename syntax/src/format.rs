//! The formatter. It changes white space between tokens and nothing else.
//!
//! A printer from the tree could lose a comment or change a name; edits of white space cannot. They
//! could still change the meaning of a text where white space matters: in `%a -1`, at line ends in
//! the manual's notation, in broken text. Therefore code with syntax errors is left alone, and in
//! the other cases the result is parsed and compared with the original.
//!
//! There are two styles: [`Style::Tvm`] formats exactly as TVM prints; [`Style::Reading`] wraps
//! long lines, because a header printed by TVM can have 190,000 characters.

mod layout;
mod width;

use crate::{
    Edit, Parse, ParseLimits, SyntaxKind, TextRange,
    lexer::{self, TensorTypes},
    parse_with,
};

/// A formatting style.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// The layout that TVM prints: a header is one line, and so is a call.
    #[default]
    Tvm,
    /// Long headers have one parameter per line, and long calls are wrapped.
    Reading,
}

impl Style {
    /// Parses a style name.
    pub fn parse(name: &str) -> Option<Style> {
        [Style::Tvm, Style::Reading].into_iter().find(|style| style.name() == name)
    }

    /// Returns the name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Style::Tvm => "tvm",
            Style::Reading => "reading",
        }
    }
}

/// Returns the edits that format `text`, in order of position; each replaces white space by white
/// space. `parse` is the parse of `text`. Code with syntax errors is left alone; there are no edits
/// at all if the result would parse differently.
pub fn format(text: &str, parse: &Parse, style: Style) -> Vec<(TextRange, String)> {
    // White space may have damaged characters, which formatting would move, or the meaning of another language.
    if parse.is_pasted() || crate::other_text(parse).is_some() {
        return Vec::new();
    }
    let layout::Output { edits, needs_reparse } = layout::lay_out(text, parse, style);
    if edits.is_empty() {
        return edits;
    }
    let after = apply(text, &edits);
    let is_unchanged = if needs_reparse {
        let reparsed = parse_with(&after, ParseLimits::default());
        // What TVM reads in another way, as `1+2` and `%x -1`, it reads rightly with spaces.
        let broken = |parse: &Parse| parse.errors.iter().filter(|e| !e.kind.is_compat()).count();
        broken(&reparsed) == broken(parse)
            && reparsed.errors.len() <= parse.errors.len()
            && is_same_tree(parse, &reparsed)
    } else {
        significant(text).eq(significant(&after))
    };
    if is_unchanged { edits } else { Vec::new() }
}

/// Parses and formats a text.
pub fn formatted(text: &str, style: Style) -> String {
    let parse = crate::parse(text);
    apply(text, &format(text, &parse, style))
}

/// Applies edits that are sorted by position. An edit that overlaps a preceding one or the end of the text is skipped.
pub fn apply(text: &str, edits: &[(TextRange, impl AsRef<str>)]) -> String {
    let mut out = String::with_capacity(text.len() + edits.len() * 4);
    let mut done = 0;
    for (range, with) in edits {
        let (start, end) = (usize::from(range.start()), usize::from(range.end()));
        let Some(between) = text.get(done..start) else { continue };
        if text.get(start..end).is_none() {
            continue;
        }
        out += between;
        out += with.as_ref();
        done = end;
    }
    out += text.get(done..).unwrap_or_default();
    out
}

/// Returns one edit from the first difference between two texts to the last one.
pub fn difference(before: &str, after: &str) -> Vec<(TextRange, String)> {
    let edit = Edit::between(before, after);
    (before != after).then_some((edit.range, edit.insert)).into_iter().collect()
}

/// Returns the tokens of a text without white space.
fn significant(text: &str) -> impl Iterator<Item = (SyntaxKind, &str)> {
    let tokens = lexer::lex(text, TensorTypes::Spelled);
    let mut start = 0;
    let ends = tokens.ends.into_iter().map(|end| end as usize);
    tokens
        .kinds
        .into_iter()
        .zip(ends)
        .map(move |(kind, end)| {
            let token = text.get(start..end).unwrap_or_default();
            start = end;
            (kind, token)
        })
        .filter(|(kind, _)| *kind != SyntaxKind::WHITESPACE)
}

/// Compares two trees without their white space.
fn is_same_tree(a: &Parse, b: &Parse) -> bool {
    fn flat(parse: &Parse) -> impl Iterator<Item = (SyntaxKind, Option<&str>)> {
        let mut stack = vec![crate::NodeOrToken::Node(crate::Node::root(&parse.green))];
        std::iter::from_fn(move || {
            loop {
                match stack.pop()? {
                    crate::NodeOrToken::Node(node) => {
                        stack.extend(node.elements().rev());
                        return Some((node.kind(), None));
                    }
                    crate::NodeOrToken::Token(token) => {
                        if token.kind() != SyntaxKind::WHITESPACE {
                            return Some((token.kind(), Some(token.text())));
                        }
                    }
                }
            }
        })
    }
    flat(a).eq(flat(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, style: Style, after: &str) {
        assert_eq!(formatted(before, style), after, "{before}");
        assert_eq!(formatted(after, style), after, "formatting is idempotent");
    }

    #[test]
    fn tvm_style_prints_as_tvm_does() {
        check(
            "def @main( %x:Tensor[(1,2),float32],%y : int32 )->int32{%0=add(%x ,%x);let %z:int32=%y;\n\n\n   if(%c){%z}else{ %0 . 0 }}\ntype T[A]{C(A,T[A]),D}",
            Style::Tvm,
            "def @main(%x: Tensor[(1, 2), float32], %y: int32) -> int32 {\n  %0 = add(%x, %x);\n  let %z: int32 = %y;\n\n  if (%c) {\n    %z\n  } else {\n    %0.0\n  }\n}\n\ntype T[A] {\n  C(A, T[A]),\n  D\n}\n",
        );
    }

    #[test]
    fn comments_keep_their_lines() {
        check(
            "// head\n\n\n\n// above f\ndef @f(%x: int32 /* ty=int32 */) { // open\n // alone\n  %0 = add(%x, /* in */ %x)/* ty=int32 */; // after\n\n  /* own line */\n  %0 // last\n} // end\n// tail",
            Style::Tvm,
            "// head\n\n// above f\ndef @f(%x: int32 /* ty=int32 */) { // open\n  // alone\n  %0 = add(%x, /* in */ %x) /* ty=int32 */; // after\n\n  /* own line */\n  %0 // last\n} // end\n// tail\n",
        );
    }

    #[test]
    fn broken_statements_are_left_alone() {
        let text = "def @main(%x: int32) {\n   %0 = add(%x,,  ;\n     %1=add(%x,%x);\n  %1\n}\n";
        let after = formatted(text, Style::Tvm);
        assert!(after.contains("   %0 = add(%x,,  ;"), "{after}");
        check("def @main(%x: int32) { %x-1 }\n", Style::Tvm, "def @main(%x: int32) {\n  %x-1\n}\n");
        check(
            "def @main(%x: int32) { %x- 1 }\n",
            Style::Tvm,
            "def @main(%x: int32) {\n  %x - 1\n}\n",
        );
        check(
            "def @main(%x: int32) { %x   -1 }\n",
            Style::Tvm,
            "def @main(%x: int32) {\n  %x - 1\n}\n",
        );
    }

    #[test]
    fn operators_have_spaces_on_both_sides_or_none() {
        for (before, after) in [
            ("1+2", "1 + 2"),
            ("%x +2", "%x + 2"),
            ("%x+ 2", "%x + 2"),
            ("%x+2*%x", "%x + 2 * %x"),
            ("%x <2", "%x < 2"),
            ("%x*-2", "%x * -2"),
            ("%x -2f", "%x - 2f"),
            ("(1+2)*3", "(1 + 2) * 3"),
            ("1.5f+2f", "1.5f + 2f"),
            ("%x-%y", "%x - %y"),
            ("%x-1", "%x-1"),
            ("%x -1", "%x - 1"),
            ("%x /* a */+/* b */2", "%x /* a */ + /* b */ 2"),
        ] {
            let text = format!("def @main(){{{before}}}");
            check(&text, Style::Tvm, &format!("def @main() {{\n  {after}\n}}\n"));
        }
    }

    #[test]
    fn reading_style_wraps_long_lines() {
        let params: Vec<String> =
            (0..6).map(|i| format!("%weight_{i}: Tensor[(64, 64), float32]")).collect();
        let flat = format!(
            "def @main({}) {{\n  nn.conv2d(%weight_0, %weight_1, strides=[1, 1], padding=[0, 0, 0, 0], channels=64, kernel_size=[3, 3])\n}}\n",
            params.join(", ")
        );
        let tall = format!(
            "def @main(\n  {}\n) {{\n  nn.conv2d(\n    %weight_0, %weight_1, strides=[1, 1], padding=[0, 0, 0, 0], channels=64, kernel_size=[3, 3]\n  )\n}}\n",
            params.join(",\n  ")
        );
        check(&flat, Style::Reading, &tall);
        check(&tall, Style::Tvm, &flat);
    }

    #[test]
    fn crlf_line_breaks_are_kept() {
        check("def @f() {\r\n1 }\r\n", Style::Tvm, "def @f() {\r\n  1\r\n}\r\n");
        check(
            "// a\r\ndef @f() {\r\n  1 // b\r\n}\r\n",
            Style::Tvm,
            "// a\r\ndef @f() {\r\n  1 // b\r\n}\r\n",
        );
    }

    #[test]
    fn manual_notation_is_formatted() {
        check(
            "data Nat { Z : () -> Nat\n S : (Nat) -> Nat }\ndef @f(%n : Nat) -> int32 { %0 = %n\n match (%n) { case Z() { 1 }\n case S(%m) { 2 } } }\n",
            Style::Reading,
            "data Nat {\n  Z : () -> Nat\n  S : (Nat) -> Nat\n}\n\ndef @f(%n: Nat) -> int32 {\n  %0 = %n\n  match (%n) {\n    case Z() {\n      1\n    }\n    case S(%m) {\n      2\n    }\n  }\n}\n",
        );
    }

    #[test]
    fn formatting_any_text_keeps_its_tokens() {
        let pieces = [
            "def @f(",
            "%x",
            " -1",
            "{",
            "}",
            "\n",
            " ",
            "// c\n",
            "/* c */",
            "let %y = ",
            ";",
            ",",
            "add(",
            ")",
            "if (",
            "Tensor[(1 , 2),float32]",
            "#[metadata]\n{}",
            "match",
            "=>",
            "\"s\"",
            "[",
            "]",
            "  ",
            "\r\n",
            "%0 = ",
            "type T {",
            "é",
            "# x\n",
            "data D { ",
            "1",
            ".",
        ];
        let mut seed = 7u64;
        for _ in 0..3000 {
            let mut text = String::new();
            for _ in 0..20 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text += pieces[(seed >> 33) as usize % pieces.len()];
            }
            for style in [Style::Tvm, Style::Reading] {
                let once = formatted(&text, style);
                assert_eq!(formatted(&once, style), once, "{text:?}");
                assert!(significant(&text).eq(significant(&once)), "{text:?}\n{once:?}");
            }
        }
    }
}
