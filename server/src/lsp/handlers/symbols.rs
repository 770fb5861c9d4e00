//! `textDocument/documentSymbol`

use ide::symbols::{Symbol, SymbolKind as Kind, outline};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind},
};

use crate::lsp::{documents::Document, owner::Snapshot};

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let symbols = outline(&snapshot.db, document.file);
    let symbols = symbols.iter().map(|symbol| convert(snapshot, document, symbol)).collect();
    Ok(Some(DocumentSymbolResponse::Nested(symbols)))
}

fn convert(snapshot: &Snapshot, document: &Document, symbol: &Symbol) -> DocumentSymbol {
    let kind = match symbol.kind {
        Kind::Module => SymbolKind::MODULE,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Type => SymbolKind::ENUM,
        Kind::Constructor => SymbolKind::ENUM_MEMBER,
        Kind::Expression => SymbolKind::VARIABLE,
        Kind::Tir => SymbolKind::FUNCTION,
        Kind::Metadata => SymbolKind::CONSTANT,
    };
    let children = symbol.children.iter().map(|child| convert(snapshot, document, child));
    #[expect(deprecated, reason = "the struct has a field that nobody should set")]
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: symbol.detail.clone(),
        kind,
        tags: None,
        deprecated: None,
        range: document.range(symbol.full, snapshot.encoding),
        selection_range: document.range(symbol.focus, snapshot.encoding),
        children: (!symbol.children.is_empty()).then(|| children.collect()),
    }
}
