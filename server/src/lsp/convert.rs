//! Between the analysis and the protocol. All arithmetic on positions is here.

use std::{collections::HashMap, sync::LazyLock};

use semantics::{Code, Severity, codes};
use syntax::{Encoding, LineColumn, TextRange, TextSize};
use tower_lsp::lsp_types::{
    CodeAction, CodeActionKind, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Location, NumberOrString, Position, PositionEncodingKind, Range, TextEdit, Url,
    WorkspaceEdit,
};

use super::documents::Document;

/// The encoding for a client that offers `offered`: bytes if it can, what the protocol assumes
/// otherwise.
pub(super) fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Encoding {
    let offered = offered.unwrap_or_default();
    if offered.contains(&PositionEncodingKind::UTF8) {
        Encoding::Utf8
    } else if offered.contains(&PositionEncodingKind::UTF32) {
        Encoding::Utf32
    } else {
        Encoding::Utf16
    }
}

/// The commands that a client runs when they are clicked: `{"commands": {"commands": […]}}` among
/// its experimental abilities.
pub(super) fn commands(experimental: Option<&serde_json::Value>) -> Vec<String> {
    let list = experimental.and_then(|abilities| abilities["commands"]["commands"].as_array());
    let names = list.into_iter().flatten().filter_map(|name| name.as_str());
    names.map(str::to_owned).collect()
}

/// The reference of the codes, as the repository shows it.
const REFERENCE: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/analysis/semantics/src/codes.md");

/// Where the page of each code can be read.
static PAGES: LazyLock<HashMap<&str, Url>> = LazyLock::new(|| {
    let page = |code: &Code| Url::parse(&format!("{REFERENCE}#{}", anchor(code))).ok();
    codes().iter().filter_map(|code| Some((code.name, page(code)?))).collect()
});

/// The anchor of a heading such as `## shape-mismatch (error): Sizes that must agree do not`: its
/// letters, digits and hyphens, with a hyphen for each space.
fn anchor(code: &Code) -> String {
    let kind = if code.tvm { "tvm" } else { code.severity.name() };
    let heading = format!("{} ({kind}): {}", code.name, code.title).to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// An encoding as the protocol calls it.
pub(super) fn encoding_kind(encoding: Encoding) -> PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
        Encoding::Utf32 => PositionEncodingKind::UTF32,
    }
}

/// The offset of a position. A column past the end of its line counts as the end of the line; a
/// line past the last has no offset.
pub(super) fn offset(
    text: &str,
    lines: &syntax::LineIndex,
    position: Position,
    encoding: Encoding,
) -> Option<TextSize> {
    let at = LineColumn { line: position.line, column: position.character };
    let offset = lines.offset(at, encoding)?;
    // The end of a line is before its break, and `\r\n` is one break.
    let content = lines.line_content(text, position.line)?;
    let offset = usize::from(offset.min(content.end()));
    // Columns in bytes may be inside of a letter, which has four at most.
    let letter = (0..=offset).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    Some(TextSize::new(letter as u32))
}

impl Document {
    /// The offset of a position, if there is such a line.
    pub(super) fn offset(&self, position: Position, encoding: Encoding) -> Option<TextSize> {
        offset(&self.text, &self.lines, position, encoding)
    }

    /// The position of an offset.
    pub(super) fn position(&self, offset: TextSize, encoding: Encoding) -> Position {
        let at = self.lines.line_column(offset, encoding);
        Position::new(at.line, at.column)
    }

    /// A range of the text as the protocol wants it.
    pub(super) fn range(&self, range: TextRange, encoding: Encoding) -> Range {
        Range::new(self.position(range.start(), encoding), self.position(range.end(), encoding))
    }

    /// A diagnostic as the protocol wants it.
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
            code: Some(NumberOrString::String(diagnostic.code.to_owned())),
            code_description: PAGES
                .get(diagnostic.code)
                .map(|href| CodeDescription { href: href.clone() }),
            source: Some("relay".to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            tags: diagnostic.unnecessary.then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..Diagnostic::default()
        }
    }

    /// A quick fix as the protocol wants it.
    pub(super) fn fix(
        &self,
        uri: &Url,
        fix: &semantics::Fix,
        of: Diagnostic,
        preferred: bool,
        encoding: Encoding,
    ) -> CodeAction {
        let edits = fix.edits.iter().map(|(range, text)| TextEdit {
            range: self.range(*range, encoding),
            new_text: text.clone(),
        });
        CodeAction {
            title: fix.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![of]),
            edit: Some(WorkspaceEdit {
                changes: Some([(uri.clone(), edits.collect())].into()),
                ..WorkspaceEdit::default()
            }),
            is_preferred: Some(preferred),
            ..CodeAction::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use syntax::LineIndex;

    use super::*;

    #[test]
    fn columns_past_the_end_and_breaks_of_two_bytes() {
        let text = "ab\r\nä𝄞c\n";
        let lines = LineIndex::new(text);
        let at = |line, column, encoding| {
            offset(text, &lines, Position::new(line, column), encoding).map(u32::from)
        };
        assert_eq!(at(0, 99, Encoding::Utf16), Some(2));
        assert_eq!(at(1, 3, Encoding::Utf16), Some(10));
        assert_eq!(at(1, 2, Encoding::Utf32), Some(10));
        assert_eq!(at(1, 6, Encoding::Utf8), Some(10));
        assert_eq!(at(2, 0, Encoding::Utf16), Some(12));
        assert_eq!(at(3, 0, Encoding::Utf16), None);
    }

    #[test]
    fn bytes_are_preferred() {
        use PositionEncodingKind as Kind;
        assert_eq!(negotiate(None), Encoding::Utf16);
        assert_eq!(negotiate(Some(&[Kind::UTF16])), Encoding::Utf16);
        assert_eq!(negotiate(Some(&[Kind::UTF16, Kind::UTF32])), Encoding::Utf32);
        assert_eq!(negotiate(Some(&[Kind::UTF16, Kind::UTF8])), Encoding::Utf8);
    }

    #[test]
    fn codes_have_pages() {
        let href = |name: &str| PAGES.get(name).map(Url::as_str).unwrap_or_default();
        assert!(
            href("shape-mismatch")
                .ends_with("/codes.md#shape-mismatch-error-sizes-that-must-agree-do-not")
        );
        // Backquotes and signs leave no trace.
        assert!(href("tvm-case-arm").ends_with("#tvm-case-arm-tvm-tvm-has-no-case"));
        assert_eq!(PAGES.len(), codes().len());
    }
}
