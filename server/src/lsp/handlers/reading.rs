//! `relay/readingView`: what a reader can do without, as numbers, because a dump has tens of
//! thousands of comments. `relay/readingFormat`: the text, laid out for reading.

use ide::reading::reading;
use serde::{Deserialize, Serialize};
use syntax::{TextRange, format::Style};
use tower_lsp::{jsonrpc::Result, lsp_types::TextDocumentIdentifier};

use super::rename::refused;
use crate::lsp::snapshot::Snapshot;

/// What `relay/readingView` is asked with.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ReadingParams {
    text_document: TextDocumentIdentifier,
}

/// What `relay/readingView` answers.
#[derive(Serialize)]
pub(in crate::lsp) struct ReadingView {
    version: i32,
    /// Line, first character, character behind the last.
    hidden: Vec<[u32; 3]>,
    /// The same.
    dimmed: Vec<[u32; 3]>,
    /// Line, and the type of the statement on it in short.
    shapes: Vec<(u32, String)>,
    /// First line, last line.
    chains: Vec<[u32; 2]>,
    /// What is out of sight of each of the chains when it is folded.
    summaries: Vec<String>,
}

/// What can be left out of sight.
pub(in crate::lsp) fn handle(snapshot: &Snapshot, params: ReadingParams) -> Result<ReadingView> {
    let document = snapshot.document(&params.text_document.uri)?;
    let found = reading(&snapshot.db, document.file, &document.lines);
    let flat = |ranges: Vec<TextRange>| {
        // Places in order are found in one walk over the text.
        let mut walk = document.lines.walk(snapshot.encoding);
        let mut on_one_line = Vec::new();
        let mut last = syntax::TextSize::default();
        for range in ranges {
            // A weight inside of another one is dimmed with it.
            if range.start() < last {
                continue;
            }
            last = range.end();
            let start = walk.line_column(range.start());
            let end = walk.line_column(range.end());
            if start.line == end.line {
                on_one_line.push([start.line, start.column, end.column]);
            }
        }
        on_one_line
    };
    Ok(ReadingView {
        version: document.version,
        hidden: flat(found.hidden),
        dimmed: flat(found.dimmed),
        shapes: found.shapes,
        chains: found.chains.iter().map(|chain| [chain.first, chain.last]).collect(),
        summaries: found.chains.into_iter().map(|chain| chain.summary).collect(),
    })
}

/// The text of a document with one parameter a line, and long calls wrapped.
pub(in crate::lsp) fn format(snapshot: &Snapshot, params: ReadingParams) -> Result<String> {
    let document = snapshot.document(&params.text_document.uri)?;
    if let Some(problem) = &document.problem {
        return Err(refused(problem.message.clone()));
    }
    let edits = syntax::format::format(&document.text, &document.parse, Style::Reading);
    Ok(ide::edit::apply_all(&document.text, &edits))
}
