//! Common mistakes at an expected token, each with its correction in Relay.

use syntax::{
    Expectation, Node, SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange, TextSize, Token,
};

use crate::diagnostic::{Code, Diagnostic, parenthesise};

/// The maximum length in bytes of a shape without parentheses that is recognised.
const MAX_SHAPE_TEXT: usize = 200;

/// The help for what follows the value of a body.
const VALUE: &str = "the value of a body is its last expression";

/// Returns the diagnostic for a syntax error that is one of these mistakes.
pub(super) fn of(root: &Node<'_>, error: &SyntaxError) -> Option<Diagnostic> {
    let SyntaxErrorKind::Expected { expected, found, .. } = &error.kind else { return None };
    match (expected, found) {
        (Expectation::Kind(SyntaxKind::LOCAL), SyntaxKind::IDENT) => sigil(root, error.range),
        (Expectation::Shape, SyntaxKind::INT) => shape(root, error.range),
        (_, SyntaxKind::R_BRACE) => ended_value(root, error.range),
        _ => returned(root, error.range),
    }
}

/// Adds the fix that inserts the missing token, or removes the extra one.
pub(super) fn with_inserted(
    root: &Node<'_>,
    error: &SyntaxError,
    diagnostic: Diagnostic,
) -> Diagnostic {
    use SyntaxKind::*;
    let at = error.range.start();
    match &error.kind {
        SyntaxErrorKind::Expected { expected: Expectation::Kind(LET_KW), found: IDENT, .. } => {
            // The error of a word on a new line is at the end of the line before.
            let word = root.token_from(at).filter(|token| token.kind() == IDENT);
            diagnostic.with(word, |diagnostic, word| diagnostic.change(word.range(), "let"))
        }
        SyntaxErrorKind::Expected { expected: Expectation::Kind(kind), found, open } => {
            let token = match kind {
                SEMICOLON if error.range.is_empty() && *found != END_OF_FILE => ";",
                COMMA if begins_value(*found) && !error.range.is_empty() => ",",
                R_PAREN if open.is_some() => ")",
                R_BRACK if open.is_some() => "]",
                R_BRACE if open.is_some() => "\n}",
                _ => return diagnostic,
            };
            let Some(end) = end_before(root, at) else { return diagnostic };
            let title = format!("Insert `{}`", token.trim_start());
            diagnostic.fix(title, [(TextRange::empty(end), token.to_owned())])
        }
        SyntaxErrorKind::Expected {
            expected: Expectation::Words("an expression" | "`;` and an expression after it"),
            found: R_BRACE,
            ..
        } => {
            let Some((end, name)) = last_binding(root, at) else { return diagnostic };
            let last = root.token_at(end - TextSize::from(1));
            let semicolon = if last.is_some_and(|t| t.kind() == SEMICOLON) { "" } else { ";" };
            diagnostic.help("a body ends with its value: an expression without `;`").fix(
                format!("Add `{name}` as the value"),
                [(TextRange::empty(end), format!("{semicolon} {name}"))],
            )
        }
        SyntaxErrorKind::Expected { expected: Expectation::Words("`else`"), .. } => diagnostic
            .help(
                "`if` is an expression: both branches have a value, `if (%c) { %x } else { %y }`",
            ),
        SyntaxErrorKind::Unexpected(SEMICOLON | R_PAREN | R_BRACK | R_BRACE) => {
            let Some(token) = root.token_at(at).filter(|token| token.range() == error.range) else {
                return diagnostic;
            };
            let title = format!("Remove `{}`", token.text());
            diagnostic.fix(title, [(error.range, String::new())])
        }
        _ => diagnostic,
    }
}

/// Returns the end and the name of the binding before `at`, the last statement of a block.
fn last_binding(root: &Node<'_>, at: TextSize) -> Option<(TextSize, String)> {
    let end = end_before(root, at)?;
    let path = root.path_to(TextRange::new(end.checked_sub(1.into())?, end));
    let is_binding =
        |node: &&Node<'_>| matches!(node.kind(), SyntaxKind::LET_STMT | SyntaxKind::GRAPH_STMT);
    let binding = path.iter().rev().find(is_binding).filter(|node| node.range().end() == end)?;
    let name = binding.child(SyntaxKind::NAME)?.to_string();
    Some((end, name.trim().to_owned()))
}

/// `let y = 2;`
fn sigil(root: &Node<'_>, range: TextRange) -> Option<Diagnostic> {
    let name = root.token_at(range.start()).filter(|token| token.range() == range)?;
    let to = format!("%{}", name.text());
    let message = format!("`{}` is not a local variable: those begin with `%`", name.text());
    Some(Diagnostic::new(Code::SyntaxError, range, message).change(range, to))
}

/// `add(%x, %y); }`
fn ended_value(root: &Node<'_>, range: TextRange) -> Option<Diagnostic> {
    let end = range.start();
    let at = TextRange::new(end.checked_sub(1.into())?, end);
    let is_value =
        |node: &Node<'_>| node.kind() == SyntaxKind::EXPR_STMT && node.range().end() == end;
    root.path_to(at).iter().rev().find(|node| is_value(node))?;
    let semicolon =
        root.token_at(at.start()).filter(|token| token.kind() == SyntaxKind::SEMICOLON)?;
    let message = "the value of a block has no `;` after it";
    let diagnostic = Diagnostic::new(Code::SyntaxError, semicolon.range(), message).help(VALUE);
    Some(diagnostic.fix("Remove `;`", [(semicolon.range(), String::new())]))
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
    let mut edits = vec![(removed, String::new())];
    edits.extend(semicolon_before_brace(root, range).map(|range| (range, String::new())));
    let diagnostic = Diagnostic::new(Code::SyntaxError, word.range(), "Relay has no `return`");
    Some(diagnostic.help(VALUE).fix("Remove `return`", edits))
}

/// Returns the `;` that ends the statement at `range`, if the block ends after it.
fn semicolon_before_brace(root: &Node<'_>, range: TextRange) -> Option<TextRange> {
    let mut at = range.end();
    let mut last = None;
    for _ in 0..MAX_SHAPE_TEXT {
        let token = root.token_from(at)?;
        match token.kind() {
            SyntaxKind::R_BRACE => return last,
            SyntaxKind::SEMICOLON => last = Some(token.range()),
            SyntaxKind::L_BRACE | SyntaxKind::LET_KW => return None,
            _ => last = None,
        }
        at = token.range().end();
    }
    None
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
    let whole = TextRange::new(range.start(), last);
    let message = "a shape is written in parentheses";
    let diagnostic = Diagnostic::new(Code::SyntaxError, whole, message);
    let diagnostic = diagnostic.help(format!("write `({sizes})`"));
    Some(diagnostic.fix("Put parentheses around the shape", parenthesise(whole)))
}

/// Returns the end of the last token before `at` that is not trivia.
fn end_before(root: &Node<'_>, at: TextSize) -> Option<TextSize> {
    let mut end = at;
    for _ in 0..64 {
        let token = root.token_at(end.checked_sub(1.into())?)?;
        if !token.kind().is_trivia() {
            return Some(token.range().end());
        }
        end = token.range().start();
    }
    None
}

/// Returns true if a token of this kind can begin an argument.
fn begins_value(kind: SyntaxKind) -> bool {
    use SyntaxKind::*;
    matches!(kind, LOCAL | GLOBAL | IDENT | INT | FLOAT | TRUE_KW | FALSE_KW | STRING)
}
