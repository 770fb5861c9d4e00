//! `workspace/symbol`

use ide::{
    fuzzy,
    symbols::{Listed, SymbolKind as Kind, listed},
};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Location, Range, SymbolInformation, SymbolKind, Url, WorkspaceSymbolParams},
};

use crate::lsp::owner::Snapshot;

/// More answers than a person looks through are not sent.
const MOST: usize = 256;

struct Hit {
    score: u32,
    name: String,
    kind: Kind,
    uri: Url,
    range: Range,
    of: Option<String>,
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: WorkspaceSymbolParams,
) -> Result<Option<Vec<SymbolInformation>>> {
    let query = params.query.as_str();
    let mut hits: Vec<Hit> = Vec::new();
    for (uri, document) in snapshot.documents.iter() {
        for Listed { name, kind, range, of } in listed(&document.parse) {
            if let Some(score) = fuzzy::score(query, &name) {
                let range = document.range(range, snapshot.encoding);
                hits.push(Hit { score, name, kind, uri: uri.clone(), range, of });
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
                    name: symbol.name.clone(),
                    kind: symbol.kind,
                    uri: file.uri.clone(),
                    range: symbol.range,
                    of: symbol.of.clone(),
                });
            }
        }
    }
    hits.sort_by(|a, b| {
        let place = |hit: &Hit| (hit.range.start.line, hit.range.start.character);
        (b.score, &a.name, &a.uri, place(a)).cmp(&(a.score, &b.name, &b.uri, place(b)))
    });
    hits.truncate(MOST);
    Ok(Some(hits.into_iter().map(convert).collect()))
}

fn convert(hit: Hit) -> SymbolInformation {
    let file = hit.uri.path_segments().and_then(|mut parts| parts.next_back().map(str::to_owned));
    #[expect(deprecated, reason = "the struct has a field that nobody should set")]
    SymbolInformation {
        name: hit.name,
        kind: match hit.kind {
            Kind::Type => SymbolKind::ENUM,
            Kind::Constructor => SymbolKind::ENUM_MEMBER,
            _ => SymbolKind::FUNCTION,
        },
        tags: None,
        deprecated: None,
        location: Location::new(hit.uri, hit.range),
        container_name: hit.of.or(file),
    }
}
