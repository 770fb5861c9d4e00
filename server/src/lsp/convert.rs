//! Conversions from the types of the analysis to those of the protocol.

use std::{collections::HashMap, sync::LazyLock};

use semantics::{Code, Severity};
use syntax::{Encoding, LineIndex, TextRange, TextSize};
use tower_lsp::lsp_types::{
    CodeAction, CodeActionKind, CodeDescription, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, DiagnosticTag, Location, NumberOrString, Position, PositionEncodingKind,
    Range, Url, WorkspaceEdit,
};

use super::documents::Document;

/// Returns the encoding of columns for a client that offers `offered`: UTF-8 if possible, otherwise
/// UTF-32, otherwise UTF-16, the default of the protocol.
pub(super) fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Encoding {
    let offered = offered.unwrap_or_default();
    let mut preferred = [Encoding::Utf8, Encoding::Utf32].into_iter();
    preferred.find(|one| offered.contains(&encoding_kind(*one))).unwrap_or(Encoding::Utf16)
}

/// The URL of the index of diagnostics in the repository.
const REFERENCE: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/analysis/codes/src/codes.md");

/// The URL of the page of each diagnostic code.
static PAGES: LazyLock<HashMap<Code, Url>> = LazyLock::new(|| {
    let page = |code: Code| Url::parse(&format!("{REFERENCE}#{}", anchor(code))).ok();
    Code::ALL.iter().filter_map(|&code| Some((code, page(code)?))).collect()
});

/// Returns the anchor of a heading such as `## shape-mismatch (error): Sizes that must be equal differ`: its
/// letters, digits and hyphens, with a hyphen for each space.
fn anchor(code: Code) -> String {
    let heading = code.page_heading().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Converts an encoding.
pub(super) fn encoding_kind(encoding: Encoding) -> PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
        Encoding::Utf32 => PositionEncodingKind::UTF32,
    }
}

/// Converts an offset in a text with these lines.
fn position(lines: &LineIndex, offset: TextSize, encoding: Encoding) -> Position {
    let at = lines.line_column(offset, encoding);
    Position::new(at.line, at.column)
}

/// Converts a range in a text with these lines.
pub(super) fn range(lines: &LineIndex, range: TextRange, encoding: Encoding) -> Range {
    Range::new(position(lines, range.start(), encoding), position(lines, range.end(), encoding))
}

impl Document {
    /// Converts an offset.
    pub(super) fn position(&self, offset: TextSize, encoding: Encoding) -> Position {
        self.range(TextRange::empty(offset), encoding).start
    }

    /// Converts a range.
    pub(super) fn range(&self, range: TextRange, encoding: Encoding) -> Range {
        let (lines, range) = self.placed(range);
        self::range(lines, range, encoding)
    }

    /// Converts a diagnostic.
    pub(super) fn diagnostic(
        &self,
        uri: &Url,
        diagnostic: &semantics::Diagnostic,
        encoding: Encoding,
    ) -> Diagnostic {
        let related = diagnostic.related.iter().map(|related| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), self.range(related.range, encoding)),
            message: related.message.clone(),
        });
        let related: Vec<_> = related.collect();
        let message = match &diagnostic.help {
            Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
            None => diagnostic.message.clone(),
        };
        Diagnostic {
            range: self.range(diagnostic.range, encoding),
            severity: Some(match diagnostic.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Info => DiagnosticSeverity::INFORMATION,
                Severity::Hint => DiagnosticSeverity::HINT,
            }),
            code: Some(NumberOrString::String(diagnostic.code.name().to_owned())),
            code_description: PAGES
                .get(&diagnostic.code)
                .map(|href| CodeDescription { href: href.clone() }),
            source: Some("relay".to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            tags: diagnostic.unnecessary.then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..Diagnostic::default()
        }
    }

    /// Converts edits. Returns `None` if the document cannot have them.
    pub(super) fn workspace_edit(
        &self,
        uri: &Url,
        edits: &[(TextRange, String)],
        encoding: Encoding,
    ) -> Option<WorkspaceEdit> {
        let edits = edits.iter().map(|(range, text)| self.text_edit(*range, text, encoding));
        Some(WorkspaceEdit::new([(uri.clone(), edits.collect::<Option<_>>()?)].into()))
    }

    /// Converts a quick fix of the diagnostic `of`. Returns `None` if the document cannot have it.
    pub(super) fn fix(
        &self,
        uri: &Url,
        fix: &semantics::Fix,
        of: Diagnostic,
        preferred: bool,
        encoding: Encoding,
    ) -> Option<CodeAction> {
        Some(CodeAction {
            title: fix.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![of]),
            edit: Some(self.workspace_edit(uri, &fix.edits, encoding)?),
            is_preferred: Some(preferred),
            ..CodeAction::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_preferred() {
        use PositionEncodingKind as Kind;
        assert_eq!(negotiate(None), Encoding::Utf16);
        assert_eq!(negotiate(Some(&[Kind::UTF16])), Encoding::Utf16);
        assert_eq!(negotiate(Some(&[Kind::UTF16, Kind::UTF32])), Encoding::Utf32);
        assert_eq!(negotiate(Some(&[Kind::UTF16, Kind::UTF8])), Encoding::Utf8);
    }

    #[test]
    fn every_code_links_to_its_page() {
        let href = |code| PAGES.get(&code).map(Url::as_str).unwrap_or_default();
        assert!(
            href(Code::ShapeMismatch)
                .ends_with("/codes.md#shape-mismatch-error-sizes-that-must-be-equal-differ")
        );
        // Anchors omit backquotes and punctuation.
        assert!(href(Code::TvmCaseArm).ends_with("#tvm-case-arm-tvm-tvm-has-no-case"));
        assert_eq!(PAGES.len(), Code::ALL.len());
    }
}
