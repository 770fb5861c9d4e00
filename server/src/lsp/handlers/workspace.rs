//! `workspace/symbol`

use ide::{
    fuzzy,
    symbols::{Listed, SymbolKind as Kind, listed},
};
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Location, Range, SymbolInformation, SymbolKind, Url, WorkspaceSymbolParams},
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

/// More answers than a person looks through are not sent.
const MOST: usize = 256;

/// A definition that fits. Thousands may; only those that are sent are copied.
struct Hit<'h> {
    score: u32,
    name: &'h str,
    kind: Kind,
    uri: &'h Url,
    place: Place<'h>,
    of: Option<&'h str>,
}

/// Where a definition stands.
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
    let open: Vec<(&Url, &Document, Vec<Listed>)> = snapshot
        .documents
        .iter()
        .map(|(uri, document)| (uri, document, listed(&document.parse)))
        .collect();
    let mut hits: Vec<Hit<'_>> = Vec::new();
    for (uri, document, symbols) in &open {
        for Listed { name, kind, range, of } in symbols {
            if let Some(score) = fuzzy::score(query, name) {
                let place = Place::Open(document, *range);
                hits.push(Hit { score, name, kind: *kind, uri, place, of: of.as_deref() });
            }
        }
    }
    let files = snapshot.session.workspace.files(&snapshot.db, snapshot.encoding);
    for file in files.values() {
        // What is open counts as it is in the editor.
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
    if hits.len() > MOST {
        hits.select_nth_unstable_by(MOST - 1, order);
        hits.truncate(MOST);
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
    #[expect(deprecated, reason = "the struct has a field that nobody should set")]
    SymbolInformation {
        name: hit.name.to_owned(),
        kind: match hit.kind {
            Kind::Type => SymbolKind::ENUM,
            Kind::Constructor => SymbolKind::ENUM_MEMBER,
            _ => SymbolKind::FUNCTION,
        },
        tags: None,
        deprecated: None,
        location: Location::new(hit.uri.clone(), range),
        container_name: hit.of.or(file).map(str::to_owned),
    }
}
