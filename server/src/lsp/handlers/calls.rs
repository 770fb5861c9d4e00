//! `textDocument/prepareCallHierarchy`, `callHierarchy/incomingCalls` and `…/outgoingCalls`

use ide::calls::{Callable, Calls, callable_at, incoming, outgoing};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
        CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams,
        Range, SymbolKind,
    },
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn prepare(
    snapshot: &Snapshot,
    params: CallHierarchyPrepareParams,
) -> Result<Option<Vec<CallHierarchyItem>>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    let callable = callable_at(&snapshot.db, document.file, offset);
    Ok(callable.and_then(|callable| item(snapshot, &callable)).map(|item| vec![item]))
}

fn item(snapshot: &Snapshot, callable: &Callable) -> Option<CallHierarchyItem> {
    let target = &callable.target;
    let full = snapshot.location(target.file, target.full)?;
    let name = snapshot.location(target.file, target.name)?;
    Some(CallHierarchyItem {
        name: callable.name.clone(),
        kind: SymbolKind::FUNCTION,
        tags: None,
        detail: callable.detail.clone(),
        uri: full.uri,
        range: full.range,
        selection_range: name.range,
        data: None,
    })
}

/// Returns the calls of an item that the client returns: the other items, with the places of the calls, which
/// `call` combines. A file of the prelude that is not open has none.
fn calls_of<T>(
    snapshot: &Snapshot,
    of: &CallHierarchyItem,
    ask: fn(&dyn semantics::Db, semantics::SourceFile, syntax::TextSize) -> Vec<Calls>,
    call: fn(CallHierarchyItem, Vec<Range>) -> T,
) -> Option<Vec<T>> {
    let document = snapshot.documents.get(&of.uri)?;
    let offset = document.offset(of.selection_range.start, snapshot.encoding)?;
    let calls = ask(&snapshot.db, document.file, offset).into_iter().filter_map(|calls| {
        let places = calls.places.iter().map(|range| document.range(*range, snapshot.encoding));
        Some(call(item(snapshot, &calls.other)?, places.collect()))
    });
    Some(calls.collect())
}

pub(in crate::lsp) fn handle_incoming(
    snapshot: &Snapshot,
    params: CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
    let call = |from, from_ranges| CallHierarchyIncomingCall { from, from_ranges };
    Ok(calls_of(snapshot, &params.item, incoming, call))
}

pub(in crate::lsp) fn handle_outgoing(
    snapshot: &Snapshot,
    params: CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
    let call = |to, from_ranges| CallHierarchyOutgoingCall { to, from_ranges };
    Ok(calls_of(snapshot, &params.item, outgoing, call))
}
