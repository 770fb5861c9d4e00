//! Diagnostics for syntax errors.

use syntax::{Mistake, SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange, TextSize};

use super::{
    findings::{syntax_error, unknown_version},
    site::SyntaxSite,
};
use crate::{
    db::{Db, SourceFile},
    diagnostic::Diagnostic,
};

/// Returns what a user sees of an error; `None` for a construct of another language, which [`check`] reports with
/// those beside it, for a place where text was cut, and for errors of TVM compatibility, which `tvm` reports.
fn report(site: &SyntaxSite<'_, '_>) -> Option<Diagnostic> {
    use SyntaxErrorKind::*;
    Some(match &site.error.kind {
        Expected { expected, found, open } => syntax_error::expected(site, expected, *found, *open),
        Unexpected(kind) => syntax_error::unexpected(site, *kind),
        UnknownVersion => unknown_version::report(site.error.range),
        _ => return syntax_error::plain(site.error),
    })
}

/// Reports the syntax errors of a file, without those that follow from others.
pub(super) fn check(db: &dyn Db, file: SourceFile, found: &mut Vec<Diagnostic>) {
    let parse = file.parse(db);
    let root = syntax::Node::root(&parse.green);
    let lexical = LexicalErrors::of(&parse.errors);
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
                found.push(syntax_error::other_languages::report(db, file, error.range, &mistake));
            }
            continue;
        }
        // Diagnostics over the limit are not shown.
        let site = SyntaxSite { root: &root, error, is_shown: number < super::MAX_DIAGNOSTICS };
        found.extend(report(&site));
    }
    found.extend(syntax_error::only_words(&root));
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

/// The places of lexical errors, at which errors of the parser are suppressed.
struct LexicalErrors {
    /// The ranges of unknown characters, sorted.
    unknown: Vec<TextRange>,
    /// The ends of unclosed strings, sorted.
    strings: Vec<TextSize>,
}

impl LexicalErrors {
    fn of(errors: &[SyntaxError]) -> LexicalErrors {
        let of = |kind: SyntaxErrorKind| errors.iter().filter(move |error| error.kind == kind);
        let mut unknown: Vec<TextRange> =
            of(SyntaxErrorKind::UnknownCharacter).map(|error| error.range).collect();
        unknown.sort_unstable_by_key(|range| range.start());
        let mut strings: Vec<TextSize> =
            of(SyntaxErrorKind::UnclosedString).map(|error| error.range.end()).collect();
        strings.sort_unstable();
        LexicalErrors { unknown, strings }
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
