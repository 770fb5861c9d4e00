//! What people write who come from other languages, and what it is in Relay.

use syntax::{Expectation, Node, SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange, Token};

use crate::diagnostic::Diagnostic;

/// How much text a mistake is looked for in.
const MOST_TEXT: usize = 200;

/// A syntax error that is one of these mistakes, with its change.
pub(super) fn of(root: &Node<'_>, error: &SyntaxError) -> Option<Diagnostic> {
    let SyntaxErrorKind::Expected { expected, found, .. } = &error.kind else { return None };
    match (expected, found) {
        (Expectation::Kind(SyntaxKind::LOCAL), SyntaxKind::IDENT) => sigil(root, error.range),
        (Expectation::Shape, SyntaxKind::INT) => shape(root, error.range),
        _ => returned(root, error.range),
    }
}

/// `let y = 2;`
fn sigil(root: &Node<'_>, range: TextRange) -> Option<Diagnostic> {
    let name = root.token_at(range.start()).filter(|token| token.range() == range)?;
    let to = format!("%{}", name.text());
    let message = format!("`{}` is not a local variable: those begin with `%`", name.text());
    Some(
        Diagnostic::new("syntax-error", range, message)
            .fix(format!("Change to `{to}`"), [(range, to)]),
    )
}

/// `return %x`
fn returned(root: &Node<'_>, range: TextRange) -> Option<Diagnostic> {
    let before = |token: &Token<'_>| {
        token.range().start().checked_sub(1.into()).and_then(|at| root.token_at(at))
    };
    let here = root.token_at(range.start())?;
    let space = before(&here).filter(|token| token.kind() == SyntaxKind::WHITESPACE)?;
    let word = before(&space).filter(|token| token.text() == "return")?;
    let gone = word.range().cover(space.range());
    Some(
        Diagnostic::new("syntax-error", word.range(), "Relay has no `return`")
            .help("the value of a body is its last expression")
            .fix("Remove `return`", [(gone, String::new())]),
    )
}

/// `Tensor[10, 5, float32]`
fn shape(root: &Node<'_>, range: TextRange) -> Option<Diagnostic> {
    let mut at = range.start();
    let mut last = range.end();
    let mut sizes = String::new();
    // A size, then a comma, until a name stands there.
    loop {
        let token = root.token_at(at)?;
        match token.kind() {
            SyntaxKind::INT | SyntaxKind::QUESTION => last = token.range().end(),
            SyntaxKind::COMMA | SyntaxKind::WHITESPACE => {}
            SyntaxKind::IDENT => break,
            _ => return None,
        }
        sizes += token.text();
        at = token.range().end();
        if sizes.len() > MOST_TEXT {
            return None;
        }
    }
    let sizes = sizes.trim_end().trim_end_matches(',').trim_end();
    Some(
        Diagnostic::new(
            "syntax-error",
            TextRange::new(range.start(), last),
            "a shape stands in parentheses",
        )
        .help(format!("write `({sizes})`"))
        .fix(
            "Put parentheses around the shape",
            [
                (TextRange::empty(range.start()), "(".to_owned()),
                (TextRange::empty(last), ")".to_owned()),
            ],
        ),
    )
}

/// What stands in Relay for a name that is neither an operator nor a constructor: what to change it
/// to, where one name is for another, and help.
pub(super) fn name_of_other_languages(name: &str) -> Option<(Option<&'static str>, &'static str)> {
    Some(match name {
        "return" => (None, "Relay has no `return`: the value of a body is its last expression"),
        "read" | "deref" => (Some("ref_read"), "what a reference holds is read by `ref_read`"),
        "write" | "assign" => (Some("ref_write"), "what a reference holds is set by `ref_write`"),
        "matmul" => (Some("nn.matmul"), "the product of two matrices is `nn.matmul`"),
        "print" => (None, "Relay has no output: `relay-analyzer run` shows what a function gives"),
        _ => return None,
    })
}
