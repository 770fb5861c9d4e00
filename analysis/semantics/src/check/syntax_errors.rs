//! Diagnostics for syntax errors.

use syntax::{Expectation, Mistake, SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange, TextSize};

use super::mistakes;
use crate::{
    db::{Db, SourceFile},
    diagnostic::{Code, Diagnostic},
};

pub(super) fn check(db: &dyn Db, file: SourceFile, found: &mut Vec<Diagnostic>) {
    let parse = file.parse(db);
    let root = syntax::Node::root(&parse.green);
    let text_of = |range: TextRange| -> String {
        match root.token_at(range.start()) {
            Some(token) if token.range() == range => token.text().to_owned(),
            _ => String::new(),
        }
    };
    let lexical = Lexical::of(&parse.errors);
    let mut errors: Vec<&SyntaxError> =
        parse.errors.iter().filter(|e| !e.kind.is_compat()).collect();
    errors.sort_by_key(|error| error.range.start());
    let mistakes: Vec<&SyntaxError> = errors
        .iter()
        .copied()
        .filter(|error| matches!(error.kind, SyntaxErrorKind::Mistake(_)))
        .collect();
    for (number, error) in errors.into_iter().enumerate() {
        if lexical.explains(error) || is_part_of_mistake(error, &mistakes) {
            continue;
        }
        if let SyntaxErrorKind::Mistake(mistake) = &error.kind {
            if number < super::MAX_DIAGNOSTICS {
                let mistake = with_rest_of_header(&root, error, mistake, &mistakes);
                found.push(mistakes::words::of_mistake(db, file, error.range, &mistake));
            }
            continue;
        }
        // Diagnostics over the limit are not shown, and lookups in the tree are slow.
        let shown = number < super::MAX_DIAGNOSTICS;
        let next = if shown { next_line(&root, error) } else { None };
        let text = match next {
            Some(next) => short_text(&root, next),
            None if shown => text_of(error.range),
            None => String::new(),
        };
        let mistake = || slash(&root, error).or_else(|| mistakes::of(&root, error));
        if let Some(diagnostic) = shown.then(mistake).flatten() {
            found.push(diagnostic);
        } else if let Some((code, message)) = message_of(&error.kind, &text) {
            let diagnostic = detail(error, Diagnostic::new(code, error.range, message));
            let diagnostic = match shown {
                true => mistakes::with_inserted(&root, error, diagnostic),
                false => diagnostic,
            };
            found.push(match next {
                Some(next) if next.is_empty() => diagnostic.related(next, "the file ends here"),
                Some(next) => {
                    diagnostic.related(next, format!("{} is the next token", quoted(&text)))
                }
                None => diagnostic,
            });
        }
    }
    found.extend(only_words(&root));
}

/// Returns a mistake in a header with the edits of the others there, because errors after the first one in a header are
/// not reported: `def @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32>`.
fn with_rest_of_header(
    root: &syntax::Node<'_>,
    error: &SyntaxError,
    mistake: &Mistake,
    mistakes: &[&SyntaxError],
) -> Mistake {
    let mut whole = mistake.clone();
    let item = root.children().find(|item| item.range().contains_range(error.range));
    let is_function = |item: &syntax::Node<'_>| item.kind() == SyntaxKind::FN_DEF;
    let item = item.filter(is_function).filter(|_| !mistake.edits.is_empty());
    let Some(item) = item else { return whole };
    let body = item.child(SyntaxKind::BLOCK);
    let header = TextRange::new(item.start(), body.map_or(item.range().end(), |body| body.start()));
    if !header.contains_range(error.range) {
        return whole;
    }
    // The later ones are not reported.
    let first = mistakes.partition_point(|other| other.range.start() < header.start());
    if mistakes.get(first).is_none_or(|first| first.range != error.range) {
        return whole;
    }
    let in_header = |other: &&&SyntaxError| {
        other.range.start() > error.range.start() && header.contains_range(other.range)
    };
    for other in mistakes[first..].iter().take(super::MAX_DIAGNOSTICS).filter(in_header) {
        if let SyntaxErrorKind::Mistake(other) = &other.kind {
            whole.edits.extend(other.edits.iter().cloned());
        }
    }
    whole
}

/// Returns true for a character that begins no token of Relay, but is an operator of another language which has been
/// reported: the `|` of `type Shade = Light | Dark`.
fn is_part_of_mistake(error: &SyntaxError, mistakes: &[&SyntaxError]) -> bool {
    matches!(error.kind, SyntaxErrorKind::UnknownCharacter)
        && mistakes.iter().take(super::MAX_DIAGNOSTICS).any(|mistake| {
            let SyntaxErrorKind::Mistake(of) = &mistake.kind else { return false };
            mistake.range.contains_range(error.range)
                || of.edits.iter().any(|(range, _)| range.contains_range(error.range))
        })
}

/// Reports a text of words alone: `hello world`. Beside a module, words are lines of a log; without one they are no
/// Relay, unless they are of a compiler.
fn only_words(root: &syntax::Node<'_>) -> Option<Diagnostic> {
    // Most files begin with a module.
    let mut items = root.children();
    if !items.all(|item| item.kind() == SyntaxKind::BANNER_ITEM) {
        return None;
    }
    let words = root.children().filter_map(|item| item.token(SyntaxKind::BANNER));
    let first = words.into_iter().find(|line| {
        line.text().starts_with(char::is_alphabetic) && !syntax::is_log_text(line.text())
    })?;
    Some(
        Diagnostic::new(
            Code::SyntaxError,
            first.range(),
            "these are words, and no module of Relay",
        )
        .help("a module has definitions: `def @main(%x: Tensor[(1, 64), float32]) { … }`"),
    )
}

/// Returns the range of the next token, which may be on a later line, if a token is missing. TVM
/// reports the error there:
///
/// ```text
/// let %a = exp(%x)   // the `;` is missing here
/// let %b = %a;       // and this is what TVM did not expect
/// ```
fn next_line(root: &syntax::Node<'_>, error: &SyntaxError) -> Option<TextRange> {
    let is_missing = matches!(error.kind, SyntaxErrorKind::Expected { .. });
    if !is_missing || !error.range.is_empty() {
        return None;
    }
    let end = TextRange::empty(root.range().end());
    Some(root.token_from(error.range.end()).map_or(end, |token| token.range()))
}

/// Returns the text of a token if it is short enough for a message.
fn short_text(root: &syntax::Node<'_>, at: TextRange) -> String {
    let text = root.token_at(at.start()).map_or("", |token| token.text());
    if text.len() <= 30 && !text.contains('\n') { text.to_owned() } else { String::new() }
}

/// Returns a token as it is quoted in a message.
fn quoted(text: &str) -> String {
    if text.is_empty() { "this".to_owned() } else { format!("`{text}`") }
}

/// The places of lexical errors, at which errors of the parser are suppressed.
struct Lexical {
    /// The ranges of unknown characters, sorted.
    unknown: Vec<TextRange>,
    /// The ends of unclosed strings, sorted.
    strings: Vec<TextSize>,
}

impl Lexical {
    fn of(errors: &[SyntaxError]) -> Lexical {
        let of = |kind: SyntaxErrorKind| errors.iter().filter(move |error| error.kind == kind);
        let mut unknown: Vec<TextRange> =
            of(SyntaxErrorKind::UnknownCharacter).map(|error| error.range).collect();
        unknown.sort_unstable_by_key(|range| range.start());
        let mut strings: Vec<TextSize> =
            of(SyntaxErrorKind::UnclosedString).map(|error| error.range.end()).collect();
        strings.sort_unstable();
        Lexical { unknown, strings }
    }

    /// Returns true if an error of the parser follows from a lexical error: it is in unknown
    /// characters, or directly after an unclosed string.
    fn explains(&self, error: &SyntaxError) -> bool {
        use SyntaxErrorKind::*;
        if !matches!(error.kind, Expected { .. } | Unexpected(_)) {
            return false;
        }
        let start = error.range.start();
        let until = self.unknown.partition_point(|range| range.start() <= start);
        until.checked_sub(1).is_some_and(|at| self.unknown[at].contains(start))
            || self.strings.binary_search(&start).is_ok()
    }
}

/// Returns the diagnostic for `%a/%b`, which is intended as a division and lexed as two variables,
/// `%a/` and `%b`.
fn slash(root: &syntax::Node<'_>, error: &syntax::SyntaxError) -> Option<Diagnostic> {
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

/// Adds related places, help and fixes to the diagnostic of an error.
fn detail(error: &syntax::SyntaxError, diagnostic: Diagnostic) -> Diagnostic {
    use SyntaxErrorKind::*;
    let range = error.range;
    match &error.kind {
        Expected {
            expected: Expectation::Kind(SyntaxKind::SEMICOLON),
            found: SyntaxKind::EQ,
            ..
        } => diagnostic.help(
            "`=` alone binds graph variables, as in `%0 = …;`; a name is bound with `let %x = …;`",
        ),
        Expected { open: Some(open), .. } => diagnostic.related(*open, "opened here"),
        UnknownVersion => diagnostic.fix("Write 0.0.5", [(range, "\"0.0.5\"".to_owned())]),
        UnclosedComment => diagnostic.help("close it with `*/`; comments nest"),
        UnclosedString => diagnostic.help("close it with `\"` on the same line"),
        TooDeep => diagnostic.help("bind inner expressions to names with `let` or `%0 = …;`"),
        _ => diagnostic,
    }
}

/// Returns the code and the message of an error; `text` is the text at its range. `None` for errors
/// of TVM compatibility, which `tvm` reports.
fn message_of(kind: &SyntaxErrorKind, text: &str) -> Option<(Code, String)> {
    use SyntaxErrorKind::*;
    let found = |kind: SyntaxKind| match kind {
        SyntaxKind::END_OF_FILE => "the file ends here".to_owned(),
        _ if !text.is_empty() && text.len() <= 30 && !text.contains('\n') => {
            format!("found `{text}`")
        }
        SyntaxKind::ERROR | SyntaxKind::UNKNOWN => "found unknown text".to_owned(),
        kind => format!("found {}", kind.describe()),
    };
    let (code, message): (_, &str) = match kind {
        Expected { expected, found: what, .. } => {
            return Some((Code::SyntaxError, format!("expected {expected}, {}", found(*what))));
        }
        Unexpected(what) => {
            let what = if text.is_empty() || text.len() > 30 || text.contains('\n') {
                what.describe().to_owned()
            } else {
                format!("`{text}`")
            };
            return Some((Code::SyntaxError, format!("unexpected {what}")));
        }
        UnclosedComment => (Code::UnclosedComment, "this comment is never closed"),
        UnclosedString => (Code::UnclosedString, "this string is never closed"),
        UnknownCharacter => (Code::UnknownCharacter, "unexpected characters"),
        TooDeep => {
            (Code::NestedTooDeep, "expressions are nested too deeply here; the rest is not parsed")
        }
        UnknownSection => {
            (Code::UnknownSection, "only `#[version = \"0.0.5\"]` and `#[metadata]` are sections")
        }
        UnknownVersion => {
            (Code::UnknownVersion, "unknown version of the text format: it is read as 0.0.5")
        }
        SecondExpression => {
            (Code::SecondExpression, "a file holds at most one expression outside of definitions")
        }
        _ => return None,
    };
    Some((code, message.to_owned()))
}
