//! `textDocument/codeAction`, `codeAction/resolve`, and the command that resolves and applies an action.

use ide::actions::{Action, ActionKind};
use semantics::{Diagnostic, Severity};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{
        CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
        Command, Diagnostic as DisplayedDiagnostic, ExecuteCommandParams, Url, WorkspaceEdit,
    },
};

use super::{binding, diagnostics};
use crate::lsp::{
    documents::Document,
    request::{content_modified, request_failed},
    snapshot::Snapshot,
};

/// The command that applies an action, for clients that do not resolve it. Its argument is the data of the
/// action.
pub(in crate::lsp) const APPLY: &str = "relay.applyAction";

/// The command of clients that reduces a document with `relay.reduce` and shows the result. Its arguments are the URI,
/// the position and the code of a diagnostic.
const REDUCE_TO: &str = "relay.reduceToDiagnostic";

/// The size in bytes up to which a client that does not resolve actions gets their edits at once. In a longer
/// text [`APPLY`] computes them: those of all actions take as long as checking the text a dozen times, and
/// editors ask whenever the cursor moves.
const SMALL: usize = 16 << 10;

/// Returns the kinds of actions.
pub(in crate::lsp) fn kinds() -> Vec<CodeActionKind> {
    vec![
        CodeActionKind::QUICKFIX,
        CodeActionKind::REFACTOR_REWRITE,
        CodeActionKind::REFACTOR_INLINE,
        CodeActionKind::REFACTOR_EXTRACT,
        CodeActionKind::SOURCE,
        CodeActionKind::SOURCE_FIX_ALL,
    ]
}

fn kind_of(kind: ActionKind) -> CodeActionKind {
    match kind {
        ActionKind::QuickFix => CodeActionKind::QUICKFIX,
        ActionKind::Rewrite => CodeActionKind::REFACTOR_REWRITE,
        ActionKind::Inline => CodeActionKind::REFACTOR_INLINE,
        ActionKind::Extract => CodeActionKind::REFACTOR_EXTRACT,
        ActionKind::Source => CodeActionKind::SOURCE,
        ActionKind::FixAll => CodeActionKind::SOURCE_FIX_ALL,
    }
}

/// Returns true if the client requests `kind`: `refactor` includes `refactor.inline`.
fn is_requested(only: Option<&[CodeActionKind]>, kind: &CodeActionKind) -> bool {
    let Some(only) = only else { return true };
    only.iter().any(|requested| {
        let rest = kind.as_str().strip_prefix(requested.as_str());
        requested.as_str().is_empty()
            || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>> {
    let uri = &params.text_document.uri;
    let host = snapshot.document(uri)?;
    let only = params.context.only.as_deref();
    let encoding = snapshot.encoding;
    let (Some(start), Some(end)) =
        (host.offset(params.range.start, encoding), host.offset(params.range.end, encoding))
    else {
        return Ok(Some(Vec::new()));
    };
    let (document, start, end) = match &host.host {
        None => (host, start, end),
        Some(_) => {
            // In a document of another language there are actions for what lies within one block.
            let (Some((block, start)), Some((last, end))) =
                (host.block_at(start), host.block_at(end))
            else {
                return Ok(None);
            };
            if block.file != last.file {
                return Ok(None);
            }
            (block, start, end)
        }
    };
    let range = TextRange::new(start.min(end), end.max(start));
    let mut actions = Vec::new();
    if is_requested(only, &CodeActionKind::QUICKFIX) {
        let mut found = diagnostics::found(snapshot, document);
        found.retain(|d| d.range.start() <= range.end() && range.start() <= d.range.end());
        let error = found.iter().find(|d| d.severity == Severity::Error);
        let reducible = error.filter(|_| snapshot.client.runs(REDUCE_TO)).cloned();
        semantics::retain_helpful_fixes(&snapshot.db, document.file, &mut found);
        for diagnostic in found {
            for (at, fix) in diagnostic.fixes.iter().enumerate() {
                let of = document.diagnostic(uri, &diagnostic, encoding);
                let action = document.fix(uri, fix, of, at == 0, encoding);
                actions.extend(action.map(CodeActionOrCommand::CodeAction));
            }
        }
        // Fixes are more wanted.
        if let Some(diagnostic) = reducible.filter(|_| document.problem.is_none()) {
            let shown = document.diagnostic(uri, &diagnostic, encoding);
            actions.push(CodeActionOrCommand::CodeAction(reduction(uri, &diagnostic, shown)));
        }
    }
    if document.problem.is_some() {
        return Ok(Some(actions));
    }
    let features = &snapshot.client.features;
    // A block may be unable to hold the result.
    let is_eager = document.origin.is_some()
        || !features.lazy_actions
            && (only.is_some() || !features.applied_edits || document.text.len() <= SMALL);
    for offered in ide::actions::actions(&snapshot.db, document.file, range) {
        if !is_requested(only, &kind_of(offered.kind)) {
            continue;
        }
        let mut action = offer(uri, document, range, &offered);
        if is_eager {
            // The client does not resolve the action: it is offered only if it can be applied.
            let edits = ide::actions::resolve(&snapshot.db, document.file, range, offered.id);
            let edits = edits.ok().and_then(|edits| document.workspace_edit(uri, &edits, encoding));
            let Some(edits) = edits else { continue };
            (action.edit, action.data) = (Some(edits), None);
        } else if !features.lazy_actions {
            let argument = action.data.iter().cloned().collect();
            action.command =
                Some(Command::new(offered.title.clone(), APPLY.to_owned(), Some(argument)));
        }
        actions.push(CodeActionOrCommand::CodeAction(action));
    }
    if is_requested(only, &CodeActionKind::REFACTOR_REWRITE) {
        let offered = binding::offers(snapshot, uri, document, range);
        actions.extend(offered.into_iter().map(CodeActionOrCommand::CodeAction));
    }
    Ok(Some(actions))
}

/// What the server needs to compute the edits of an action. The range is relative to the version of the document.
#[derive(Serialize, Deserialize)]
struct ActionData {
    id: String,
    uri: Url,
    version: i32,
    start: u32,
    end: u32,
}

/// Returns the action that reduces a document to a diagnostic, as it is displayed.
fn reduction(uri: &Url, diagnostic: &Diagnostic, shown: DisplayedDiagnostic) -> CodeAction {
    let title = "Reduce to This Diagnostic";
    let arguments = vec![json!(uri), json!(shown.range.start), json!(diagnostic.code.name())];
    CodeAction {
        title: title.to_owned(),
        kind: Some(CodeActionKind::QUICKFIX),
        command: Some(Command::new(title.to_owned(), REDUCE_TO.to_owned(), Some(arguments))),
        diagnostics: Some(vec![shown]),
        ..CodeAction::default()
    }
}

fn offer(uri: &Url, document: &Document, range: TextRange, offered: &Action) -> CodeAction {
    CodeAction {
        title: offered.title.clone(),
        kind: Some(kind_of(offered.kind)),
        data: Some(json!(ActionData {
            id: offered.id.to_string(),
            uri: uri.clone(),
            version: document.version,
            start: range.start().into(),
            end: range.end().into(),
        })),
        ..CodeAction::default()
    }
}

/// Computes the edits of a chosen action.
pub(in crate::lsp) fn resolve(snapshot: &Snapshot, mut action: CodeAction) -> Result<CodeAction> {
    // Quick fixes have their edits already.
    if let Some(data) = action.data.as_ref().filter(|_| action.edit.is_none()) {
        action.edit = edit_of(snapshot, data)?;
    }
    Ok(action)
}

/// Computes the edits of the action that [`APPLY`] is to apply.
pub(in crate::lsp) fn apply(
    snapshot: &Snapshot,
    params: ExecuteCommandParams,
) -> Result<Option<WorkspaceEdit>> {
    edit_of(snapshot, params.arguments.first().unwrap_or(&Value::Null))
}

/// Computes the edits of the action with this data.
fn edit_of(snapshot: &Snapshot, data: &Value) -> Result<Option<WorkspaceEdit>> {
    let Ok(ActionData { id, uri, version, start, end }) = ActionData::deserialize(data) else {
        return Err(Error::invalid_params("this action does not come from this server"));
    };
    let document = snapshot.document(&uri)?;
    if version != document.version {
        return Err(content_modified());
    }
    let length = document.text.len() as u32;
    let range =
        TextRange::new(start.min(end).min(length).into(), end.max(start).min(length).into());
    let edits =
        ide::actions::resolve(&snapshot.db, document.file, range, &id).map_err(request_failed)?;
    Ok(document.workspace_edit(&uri, &edits, snapshot.encoding))
}
