//! `textDocument/codeAction`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse},
};

use super::diagnostics;
use crate::lsp::owner::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    let wants_fixes = params.context.only.as_ref().is_none_or(|only| {
        only.iter().any(|kind| *kind == CodeActionKind::QUICKFIX || kind.as_str().is_empty())
    });
    let (Some(start), Some(end)) = (
        document.offset(params.range.start, snapshot.encoding),
        document.offset(params.range.end, snapshot.encoding),
    ) else {
        return Ok(Some(Vec::new()));
    };
    let mut actions = Vec::new();
    for diagnostic in diagnostics::found(snapshot, document) {
        let touches =
            diagnostic.range.start() <= end.max(start) && start.min(end) <= diagnostic.range.end();
        if !touches || !wants_fixes {
            continue;
        }
        for (at, fix) in diagnostic.fixes.iter().enumerate() {
            let of = document.diagnostic(uri, &diagnostic, snapshot.encoding);
            let action = document.fix(uri, fix, of, at == 0, snapshot.encoding);
            actions.push(CodeActionOrCommand::CodeAction(action));
        }
    }
    Ok(Some(actions))
}
