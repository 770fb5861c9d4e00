//! `textDocument/definition` and `textDocument/typeDefinition`

use ide::goto::Jump;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, Location},
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    Ok(answer(snapshot, ide::goto::definition(&snapshot.db, document.file, offset)))
}

pub(in crate::lsp) fn handle_type(
    snapshot: &Snapshot,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    Ok(answer(snapshot, ide::goto::type_definition(&snapshot.db, document.file, offset)))
}

fn answer(snapshot: &Snapshot, jump: Option<Jump>) -> Option<GotoDefinitionResponse> {
    let targets = jump?.targets;
    let places: Vec<Location> =
        targets.iter().filter_map(|target| snapshot.location(target.file, target.name)).collect();
    (!places.is_empty()).then_some(GotoDefinitionResponse::Array(places))
}
