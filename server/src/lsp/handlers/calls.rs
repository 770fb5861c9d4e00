//! `textDocument/prepareCallHierarchy`, `callHierarchy/incomingCalls` and `…/outgoingCalls`

use ide::calls::{Callable, Calls, callable_at, incoming, outgoing};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
        CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams,
        SymbolKind,
    },
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

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

/// Returns the calls of an item that the client returns. A file of the prelude that is not open has
/// none.
fn calls_of<'s>(
    snapshot: &'s Snapshot,
    item: &CallHierarchyItem,
    ask: fn(&dyn semantics::Db, semantics::SourceFile, syntax::TextSize) -> Vec<Calls>,
) -> Option<(&'s Document, Vec<Calls>)> {
    let document = snapshot.documents.get(&item.uri)?;
    let offset = document.offset(item.selection_range.start, snapshot.encoding)?;
    Some((document, ask(&snapshot.db, document.file, offset)))
}

pub(in crate::lsp) fn handle_incoming(
    snapshot: &Snapshot,
    params: CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
    let Some((document, calls)) = calls_of(snapshot, &params.item, incoming) else {
        return Ok(None);
    };
    let calls = calls.iter().filter_map(|call| {
        let from_ranges = call.places.iter();
        let from_ranges = from_ranges.map(|range| document.range(*range, snapshot.encoding));
        let from_ranges = from_ranges.collect();
        Some(CallHierarchyIncomingCall { from: item(snapshot, &call.other)?, from_ranges })
    });
    Ok(Some(calls.collect()))
}

pub(in crate::lsp) fn handle_outgoing(
    snapshot: &Snapshot,
    params: CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
    let Some((document, calls)) = calls_of(snapshot, &params.item, outgoing) else {
        return Ok(None);
    };
    let calls = calls.iter().filter_map(|call| {
        let from_ranges = call.places.iter();
        let from_ranges = from_ranges.map(|range| document.range(*range, snapshot.encoding));
        let from_ranges = from_ranges.collect();
        Some(CallHierarchyOutgoingCall { to: item(snapshot, &call.other)?, from_ranges })
    });
    Ok(Some(calls.collect()))
}
