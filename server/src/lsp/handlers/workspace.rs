//! `workspace/symbol`

use ide::{
    fuzzy,
    symbols::{SymbolEntry, SymbolKind, listed, listed_layers, listed_spans},
};
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Location, Range, SymbolInformation, Url, WorkspaceSymbolParams},
};

use super::symbols;
use crate::lsp::{documents::Document, snapshot::Snapshot};

/// The largest number of symbols in a response.
const MAX_SYMBOLS: usize = 256;

/// A definition that matches. It borrows, as thousands may match and only some are sent.
struct Hit<'h> {
    score: u32,
    name: &'h str,
    kind: SymbolKind,
    uri: &'h Url,
    place: Place<'h>,
    of: Option<&'h str>,
}

/// The place of a definition.
#[derive(Clone, Copy)]
enum Place<'h> {
    Open(&'h Document, TextRange),
    Closed(Range),
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: WorkspaceSymbolParams,
) -> Result<Option<Vec<SymbolInformation>>> {
    let query = params.query.as_str();
    let grouping = snapshot.config.layers;
    let open = snapshot.documents.iter().map(|(uri, document)| {
        let parse = document.file.parse(&snapshot.db);
        let mut symbols = listed(&parse);
        symbols.extend(listed_spans(&parse));
        symbols.extend(listed_layers(&snapshot.db, document.file, grouping));
        (uri, document, symbols)
    });
    let open: Vec<(&Url, &Document, Vec<SymbolEntry>)> = open.collect();
    let mut hits: Vec<Hit<'_>> = Vec::new();
    for (uri, document, symbols) in &open {
        for SymbolEntry { name, kind, range, of } in symbols {
            if let Some(score) = fuzzy::score(query, name) {
                let place = Place::Open(document, *range);
                hits.push(Hit { score, name, kind: *kind, uri, place, of: of.as_deref() });
            }
        }
    }
    let files = snapshot.session.workspace.files(&snapshot.db, snapshot.encoding);
    for file in files.values() {
        // Open documents replace their files.
        if snapshot.documents.get(&file.uri).is_some() {
            continue;
        }
        for symbol in &file.symbols {
            if let Some(score) = fuzzy::score(query, &symbol.name) {
                hits.push(Hit {
                    score,
                    name: &symbol.name,
                    kind: symbol.kind,
                    uri: &file.uri,
                    place: Place::Closed(symbol.range),
                    of: symbol.of.as_deref(),
                });
            }
        }
    }
    let order = |a: &Hit<'_>, b: &Hit<'_>| {
        (b.score, a.name, a.uri.as_str()).cmp(&(a.score, b.name, b.uri.as_str()))
    };
    if hits.len() > MAX_SYMBOLS {
        hits.select_nth_unstable_by(MAX_SYMBOLS - 1, order);
        hits.truncate(MAX_SYMBOLS);
    }
    hits.sort_by(order);
    Ok(Some(hits.into_iter().map(|hit| convert(snapshot, hit)).collect()))
}

fn convert(snapshot: &Snapshot, hit: Hit<'_>) -> SymbolInformation {
    let file = hit.uri.path_segments().and_then(|mut parts| parts.next_back());
    let range = match hit.place {
        Place::Open(document, range) => document.range(range, snapshot.encoding),
        Place::Closed(range) => range,
    };
    let location = Location::new(hit.uri.clone(), range);
    symbols::information(hit.name, hit.kind, location, hit.of.or(file))
}
