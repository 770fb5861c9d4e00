//! Common mistakes of users of other languages, each with its correction in Relay.

use syntax::{Expectation, Node, SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange, Token};

use crate::diagnostic::{Code, Diagnostic};

/// The maximum length in bytes of a shape without parentheses that is recognised.
const MAX_SHAPE_TEXT: usize = 200;

/// Returns the diagnostic for a syntax error that is one of these mistakes.
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
        Diagnostic::new(Code::SyntaxError, range, message)
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
    let removed = word.range().cover(space.range());
    Some(
        Diagnostic::new(Code::SyntaxError, word.range(), "Relay has no `return`")
            .help("the value of a body is its last expression")
            .fix("Remove `return`", [(removed, String::new())]),
    )
}

/// `Tensor[10, 5, float32]`
fn shape(root: &Node<'_>, range: TextRange) -> Option<Diagnostic> {
    let mut at = range.start();
    let mut last = range.end();
    let mut sizes = String::new();
    // Sizes and commas, up to the name of the data type.
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
        if sizes.len() > MAX_SHAPE_TEXT {
            return None;
        }
    }
    let sizes = sizes.trim_end().trim_end_matches(',').trim_end();
    Some(
        Diagnostic::new(
            Code::SyntaxError,
            TextRange::new(range.start(), last),
            "a shape is written in parentheses",
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

/// Returns the Relay name for a name of another language, if there is one, and the help text.
pub(super) fn name_of_other_languages(name: &str) -> Option<(Option<&'static str>, &'static str)> {
    Some(match name {
        "return" => (None, "Relay has no `return`: the value of a body is its last expression"),
        "read" | "deref" => (Some("ref_read"), "`ref_read` reads the value of a reference"),
        "write" | "assign" => (Some("ref_write"), "`ref_write` sets the value of a reference"),
        "matmul" => (Some("nn.matmul"), "`nn.matmul` multiplies two matrices"),
        "print" => {
            (None, "Relay has no output: `relay-analyzer run` shows the result of a function")
        }
        _ => return None,
    })
}
