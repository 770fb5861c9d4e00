//! Text that is no Relay: errors of the parser, and values that only look like Relay's.

mod mistakes;
pub(in crate::check) mod other_languages;

use syntax::{Expectation, Node, SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange};

use crate::{
    check::site::{ProblemSite, SyntaxSite},
    diagnostic::{Code, DefDiagnostic, Diagnostic},
};

/// The maximum length of a token in a message, in bytes.
const MAX_TOKEN: usize = 30;

/// A token or construct that is missing; `open` is the bracket that it closes.
pub(in crate::check) fn expected(
    site: &SyntaxSite<'_, '_>,
    expected: &Expectation,
    found: SyntaxKind,
    open: Option<TextRange>,
) -> Diagnostic {
    let SyntaxSite { root, error, is_shown } = *site;
    if is_shown && let Some(diagnostic) = slash(root, error).or_else(|| mistakes::of(root, error)) {
        return diagnostic;
    }
    let next = if is_shown { next_line(root, error) } else { None };
    let text = next.map_or_else(|| site.text(), |next| short_text(root, next));
    let message = format!("expected {expected}, {}", describe_found(found, &text));
    let mut diagnostic = Diagnostic::new(Code::SyntaxError, error.range, message);
    if matches!((expected, found), (Expectation::Kind(SyntaxKind::SEMICOLON), SyntaxKind::EQ)) {
        diagnostic = diagnostic.help(
            "`=` alone binds graph variables, as in `%0 = …;`; a name is bound with `let %x = …;`",
        );
    } else if let Some(open) = open {
        diagnostic = diagnostic.related(open, "opened here");
    }
    if is_shown {
        diagnostic = mistakes::with_inserted(root, error, diagnostic);
    }
    match next {
        Some(next) if next.is_empty() => diagnostic.related(next, "the file ends here"),
        Some(next) => diagnostic.related(next, format!("{} is the next token", quoted(&text))),
        None => diagnostic,
    }
}

/// A token that fits no construct.
pub(in crate::check) fn unexpected(site: &SyntaxSite<'_, '_>, kind: SyntaxKind) -> Diagnostic {
    let SyntaxSite { root, error, is_shown } = *site;
    let text = site.text();
    let what = if is_quotable(&text) { format!("`{text}`") } else { kind.describe().to_owned() };
    let diagnostic = Diagnostic::new(Code::SyntaxError, error.range, format!("unexpected {what}"));
    if is_shown { mistakes::with_inserted(root, error, diagnostic) } else { diagnostic }
}

/// An error with the same words at each place; `None` for other kinds.
pub(in crate::check) fn plain(error: &SyntaxError) -> Option<Diagnostic> {
    let (code, message, help) = match error.kind {
        SyntaxErrorKind::UnclosedComment => (
            Code::UnclosedComment,
            "this comment is never closed",
            Some("close it with `*/`; comments nest"),
        ),
        SyntaxErrorKind::UnclosedString => (
            Code::UnclosedString,
            "this string is never closed",
            Some("close it with `\"` on the same line"),
        ),
        SyntaxErrorKind::UnknownCharacter => {
            (Code::UnknownCharacter, "unexpected characters", None)
        }
        SyntaxErrorKind::TooDeep => (
            Code::NestedTooDeep,
            "expressions are nested too deeply here; the rest is not parsed",
            Some("bind inner expressions to names with `let` or `%0 = …;`"),
        ),
        SyntaxErrorKind::UnknownSection => (
            Code::UnknownSection,
            "only `#[version = \"0.0.5\"]` and `#[metadata]` are sections",
            None,
        ),
        SyntaxErrorKind::SecondExpression => (
            Code::SecondExpression,
            "a file holds at most one expression outside of definitions",
            None,
        ),
        _ => return None,
    };
    Some(Diagnostic::new(code, error.range, message).with(help, Diagnostic::help))
}

/// A positional argument after an attribute.
pub(in crate::check) fn argument_after_attribute(site: &ProblemSite<'_, '_, '_>) -> DefDiagnostic {
    site.diagnostic(Code::SyntaxError, "positional argument follows an attribute")
}

/// A string where a value is expected.
pub(in crate::check) fn string_value(site: &ProblemSite<'_, '_, '_>) -> DefDiagnostic {
    site.diagnostic(Code::SyntaxError, "a string is not a value of Relay")
        .help("strings are values of attributes: `cast(%x, dtype=\"float16\")`")
}

/// A list that is an argument; `is_tuple` is true if it is read as a tuple.
pub(in crate::check) fn list_value(
    site: &ProblemSite<'_, '_, '_>,
    is_tuple: bool,
) -> DefDiagnostic {
    let message = "a list in brackets is not a value";
    let diagnostic = site.diagnostic(Code::SyntaxError, message).help(
        "several tensors are a tuple: `(%a, %b)`; a tensor of numbers is a parameter or a constant of the \
         metadata section",
    );
    let text = site.text();
    let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return diagnostic;
    };
    if !is_tuple {
        return diagnostic;
    }
    let comma = if inner.contains(',') { "" } else { "," };
    diagnostic.fix("Write a tuple", [(site.range, format!("({inner}{comma})"))])
}

/// A text of words alone: `hello world`. Beside a module, words are lines of a log; without one they are no
/// Relay, unless they are of a compiler.
pub(in crate::check) fn only_words(root: &Node<'_>) -> Option<Diagnostic> {
    // Most files begin with a module.
    let mut items = root.children();
    if !items.all(|item| item.kind() == SyntaxKind::BANNER_ITEM) {
        return None;
    }
    let words = root.children().filter_map(|item| item.token(SyntaxKind::BANNER));
    let first = words.into_iter().find(|line| {
        line.text().starts_with(char::is_alphabetic) && !syntax::is_log_text(line.text())
    })?;
    let message = "these are words, and no module of Relay";
    let diagnostic = Diagnostic::new(Code::SyntaxError, first.range(), message);
    let help = "a module has definitions: `def @main(%x: Tensor[(1, 64), float32]) { … }`";
    Some(diagnostic.help(help))
}

/// `%a/%b`, which is intended as a division and lexed as two variables,
/// `%a/` and `%b`.
fn slash(root: &Node<'_>, error: &SyntaxError) -> Option<Diagnostic> {
    let SyntaxErrorKind::Expected { found: SyntaxKind::LOCAL | SyntaxKind::GRAPH, .. } = error.kind
    else {
        return None;
    };
    let before = error.range.start().checked_sub(1.into())?;
    let name = root.token_at(before).filter(|token| token.kind() == SyntaxKind::LOCAL)?;
    let bare = name.text().strip_suffix('/')?;
    let message = format!("`/` is part of the name `{}` here", name.text());
    let diagnostic = Diagnostic::new(Code::SyntaxError, name.range(), message);
    let help = format!("put a space after `{bare}` for a division");
    Some(diagnostic.help(help).fix("Write a division", [(name.range(), format!("{bare} / "))]))
}

/// Returns the range of the next token, which may be on a later line, if a token is missing. TVM
/// reports the error there:
///
/// ```text
/// let %a = exp(%x)   // the `;` is missing here
/// let %b = %a;       // and this is what TVM did not expect
/// ```
fn next_line(root: &Node<'_>, error: &SyntaxError) -> Option<TextRange> {
    let is_missing = matches!(error.kind, SyntaxErrorKind::Expected { .. });
    if !is_missing || !error.range.is_empty() {
        return None;
    }
    let end = TextRange::empty(root.range().end());
    Some(root.token_from(error.range.end()).map_or(end, |token| token.range()))
}

/// Returns the text of a token if it is short enough for a message.
fn short_text(root: &Node<'_>, at: TextRange) -> String {
    let text = root.token_at(at.start()).map_or("", |token| token.text());
    if is_quotable(text) { text.to_owned() } else { String::new() }
}

/// Returns a token as it is quoted in a message.
fn quoted(text: &str) -> String {
    if text.is_empty() { "this".to_owned() } else { format!("`{text}`") }
}

/// Returns true if a message can quote the text of a token.
fn is_quotable(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TOKEN && !text.contains('\n')
}

/// Returns the token in the place of another one in words.
fn describe_found(kind: SyntaxKind, text: &str) -> String {
    match kind {
        SyntaxKind::END_OF_FILE => "the file ends here".to_owned(),
        _ if is_quotable(text) => format!("found `{text}`"),
        SyntaxKind::ERROR | SyntaxKind::UNKNOWN => "found unknown text".to_owned(),
        kind => format!("found {}", kind.describe()),
    }
}
