//! Diagnostics as JSON Lines and GitHub workflow commands.

use ide::highlight::{Highlight, Highlights};
use semantics::{Diagnostic, Severity, TypeAt};
use syntax::{Encoding, LineIndex, TextRange};

use super::{CheckReport, escape};
use crate::protocol;

fn bounds(range: TextRange) -> (u32, u32) {
    (range.start().into(), range.end().into())
}

impl<'a> protocol::Diagnostic<'a> {
    /// Converts a diagnostic. `rendered` is its excerpt, if requested.
    pub(crate) fn new(
        diagnostic: &'a Diagnostic,
        lines: &LineIndex,
        rendered: Option<String>,
    ) -> protocol::Diagnostic<'a> {
        let position = lines.line_column(diagnostic.range.start(), Encoding::Utf16);
        let (start, end) = bounds(diagnostic.range);
        let related = diagnostic.related.iter().map(|related| {
            let (start, end) = bounds(related.range);
            protocol::RelatedPlace { message: &related.message, start, end }
        });
        let fixes = diagnostic.fixes.iter().map(|fix| {
            let edits = fix.edits.iter().map(|(range, text)| {
                let (start, end) = bounds(*range);
                protocol::Edit { start, end, text }
            });
            protocol::Fix { title: &fix.title, edits: edits.collect() }
        });
        protocol::Diagnostic {
            code: diagnostic.code.name(),
            severity: diagnostic.severity.name(),
            message: &diagnostic.message,
            start,
            end,
            line: position.line,
            column: position.column,
            related: related.collect(),
            help: diagnostic.help.as_deref(),
            fixes: fixes.collect(),
            rendered,
        }
    }
}

/// Returns one line: `{"path", "diagnostics"}`.
pub(crate) fn json_line(checked: &CheckReport) -> String {
    let convert = |d| protocol::Diagnostic::new(d, checked.lines(), None);
    let diagnostics = checked.diagnostics.iter().map(convert).collect();
    let line = protocol::CheckedFile { path: &checked.path, diagnostics };
    // Numbers, strings and lists serialise without errors.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

/// Returns the types with their ranges.
pub(crate) fn json_types(types: Vec<TypeAt>) -> Vec<protocol::TypedRange> {
    let line = |at: TypeAt| {
        let (start, end) = bounds(at.range);
        protocol::TypedRange { start, end, ty: at.ty.to_string() }
    };
    types.into_iter().map(line).collect()
}

/// Returns the tokens as `[start, end, kind]`, in order.
pub(crate) fn json_tokens(tokens: Highlights) -> Vec<(u32, u32, &'static str)> {
    let token = |token: Highlight| {
        let (start, end) = bounds(token.range);
        (start, end, token.kind.name())
    };
    tokens.iter().map(token).collect()
}

/// Returns the message with the help.
pub(super) fn whole(diagnostic: &Diagnostic) -> String {
    match &diagnostic.help {
        Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

/// Returns workflow commands, which GitHub shows as annotations.
pub(crate) fn github(checked: &CheckReport) -> String {
    let mut out = String::new();
    for diagnostic in &checked.diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "notice",
        };
        let at = |offset| checked.lines().line_column(offset, Encoding::Utf32);
        let (start, end) = (at(diagnostic.range.start()), at(diagnostic.range.end()));
        out += &format!(
            "::{level} file={},line={},col={},endLine={},endColumn={},title={}::{}\n",
            escape::github_property(&checked.path),
            start.line + 1,
            start.column + 1,
            end.line + 1,
            end.column + 1,
            escape::github_property(diagnostic.code.name()),
            escape::github_data(&whole(diagnostic)),
        );
    }
    out
}
