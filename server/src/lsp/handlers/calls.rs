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

/// Returns the callers or callees of an item that the client returns, with the ranges of the calls.
/// A file of the prelude that is not open has none.
fn calls_of(
    snapshot: &Snapshot,
    called: &CallHierarchyItem,
    query: fn(&dyn semantics::Db, semantics::SourceFile, syntax::TextSize) -> Vec<Calls>,
) -> Option<Vec<(CallHierarchyItem, Vec<Range>)>> {
    let document = snapshot.documents.get(&called.uri)?;
    let offset = document.offset(called.selection_range.start, snapshot.encoding)?;
    let calls = query(&snapshot.db, document.file, offset);
    let calls = calls.iter().filter_map(|call| {
        let ranges = call.places.iter().map(|range| document.range(*range, snapshot.encoding));
        Some((item(snapshot, &call.other)?, ranges.collect()))
    });
    Some(calls.collect())
}

pub(in crate::lsp) fn handle_incoming(
    snapshot: &Snapshot,
    params: CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
    let call = |(from, from_ranges)| CallHierarchyIncomingCall { from, from_ranges };
    let calls = calls_of(snapshot, &params.item, incoming);
    Ok(calls.map(|calls| calls.into_iter().map(call).collect()))
}

pub(in crate::lsp) fn handle_outgoing(
    snapshot: &Snapshot,
    params: CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
    let call = |(to, from_ranges)| CallHierarchyOutgoingCall { to, from_ranges };
    let calls = calls_of(snapshot, &params.item, outgoing);
    Ok(calls.map(|calls| calls.into_iter().map(call).collect()))
}
