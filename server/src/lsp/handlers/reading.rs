//! `relay/readingView`: the parts of a printed module that an editor can fold or dim, as numbers, as a
//! dump has tens of thousands of comments. `relay/readingFormat`: the text formatted for reading.

use ide::{
    folding::{folds, levels},
    reading::reading,
};
use syntax::{TextRange, format::Style};
use tower_lsp::jsonrpc::Result;

use super::DocumentParams;
use crate::{
    lsp::{request::request_failed, snapshot::Snapshot},
    protocol::ReadingView,
};

/// Returns the parts of a document that can be folded or dimmed.
pub(in crate::lsp) fn handle(snapshot: &Snapshot, params: DocumentParams) -> Result<ReadingView> {
    let document = snapshot.document(&params.text_document.uri)?;
    let found = reading(&snapshot.db, document.file, &document.lines);
    let flat = |ranges: Vec<TextRange>| {
        // Positions in order take one walk over the text.
        let mut walk = document.lines.walk(snapshot.encoding);
        let mut on_one_line = Vec::new();
        let mut last = syntax::TextSize::default();
        for range in ranges {
            // A weight within another one is dimmed with it.
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
    let chains: Vec<u32> = found.chains.iter().map(|chain| chain.first).collect();
    let folds = folds(&snapshot.db, document.file, &document.lines);
    Ok(ReadingView {
        version: document.version,
        hidden: flat(found.hidden),
        dimmed: flat(found.dimmed),
        shapes: found.shapes,
        chains: found.chains.iter().map(|chain| [chain.first, chain.last]).collect(),
        summaries: found.chains.into_iter().map(|chain| chain.summary).collect(),
        levels: levels(&folds, &chains, &document.lines),
    })
}

/// Returns the text of a document with one parameter per line, and long calls wrapped.
pub(in crate::lsp) fn format(snapshot: &Snapshot, params: DocumentParams) -> Result<String> {
    let document = snapshot.document(&params.text_document.uri)?;
    if document.host.is_some() {
        return Err(request_failed("only files of Relay have a reading view".to_owned()));
    }
    if let Some(problem) = &document.problem {
        return Err(request_failed(problem.message.clone()));
    }
    let edits =
        syntax::format::format(&document.text, &document.file.parse(&snapshot.db), Style::Reading);
    Ok(ide::edit::apply_all(&document.text, &edits))
}
