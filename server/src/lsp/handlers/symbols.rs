//! `textDocument/documentSymbol`

use ide::symbols::{OutlineEntry, SymbolKind as Kind, outline};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation,
        SymbolKind, Url,
    },
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>> {
    let document = snapshot.document(&params.text_document.uri)?;
    snapshot.session.layered.record(document);
    let symbols = outline(&snapshot.db, document.file, snapshot.config.layers);
    if !snapshot.client.features.nested_symbols {
        let mut flat = Vec::new();
        for symbol in &symbols {
            flatten(snapshot, &params.text_document.uri, document, symbol, None, &mut flat);
        }
        return Ok(Some(DocumentSymbolResponse::Flat(flat)));
    }
    let symbols = symbols.iter().map(|symbol| convert(snapshot, document, symbol)).collect();
    Ok(Some(DocumentSymbolResponse::Nested(symbols)))
}

fn kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Module => SymbolKind::MODULE,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Type => SymbolKind::ENUM,
        Kind::Constructor => SymbolKind::ENUM_MEMBER,
        Kind::Expression => SymbolKind::VARIABLE,
        Kind::Layer => SymbolKind::NAMESPACE,
        Kind::Tir => SymbolKind::FUNCTION,
        Kind::Metadata => SymbolKind::CONSTANT,
    }
}

/// Returns a symbol in a list.
pub(super) fn information(
    name: &str,
    of: Kind,
    location: Location,
    around: Option<&str>,
) -> SymbolInformation {
    #[expect(deprecated, reason = "the struct literal must set the deprecated field")]
    SymbolInformation {
        name: name.to_owned(),
        kind: kind(of),
        tags: None,
        deprecated: None,
        location,
        container_name: around.map(str::to_owned),
    }
}

/// Appends a symbol and those that it contains, each with the name of its container.
fn flatten(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
    symbol: &OutlineEntry,
    around: Option<&str>,
    flat: &mut Vec<SymbolInformation>,
) {
    let range = document.range(symbol.full, snapshot.encoding);
    let location = Location::new(uri.clone(), range);
    flat.push(information(&symbol.name, symbol.kind, location, around));
    for child in &symbol.children {
        flatten(snapshot, uri, document, child, Some(&symbol.name), flat);
    }
}

fn convert(snapshot: &Snapshot, document: &Document, symbol: &OutlineEntry) -> DocumentSymbol {
    let children = symbol.children.iter().map(|child| convert(snapshot, document, child));
    #[expect(deprecated, reason = "the struct literal must set the deprecated field")]
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: symbol.detail.clone(),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: document.range(symbol.full, snapshot.encoding),
        selection_range: document.range(symbol.focus, snapshot.encoding),
        children: (!symbol.children.is_empty()).then(|| children.collect()),
    }
}
