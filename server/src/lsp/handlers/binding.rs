//! `relay/bindParameters` and `relay/liftConstants`: parameters as constants, and constants as
//! parameters. Both write a new module beside the document, since its tensors may be too large for
//! the edits of an editor. Their code actions are commands of the client, which asks for the files.

use std::{path::PathBuf, sync::Arc};

use semantics::{DefKind, users_of};
use serde::Deserialize;
use serde_json::json;
use syntax::{SyntaxKind, TextRange};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{CodeAction, CodeActionKind, Command, Url},
};

use weights::{Module, ModuleFile, Weights};

use super::path_on_machine;
use crate::{
    binding,
    code_view::{self, Refusal},
    files::Claims,
    lsp::{code_views::file_of, documents::Document, snapshot::Snapshot},
    paths,
    protocol::BoundNames,
    weights::NamedArrays,
};

/// The commands of clients that ask for the files of each request.
const BIND: &str = "relay.bindParameters";
const LIFT: &str = "relay.liftConstants";

/// The parameters of `relay/bindParameters`.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct BindParams {
    uri: Url,
    /// The `.params` and `.npz` files.
    files: Vec<Url>,
    /// The module to write.
    output: Url,
}

/// The parameters of `relay/liftConstants`.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct LiftParams {
    uri: Url,
    /// The module to write.
    output: Url,
    /// The `.npz` or `.params` file to write the tensors to.
    params: Option<Url>,
}

/// Writes a module whose parameters are constants where an array has their name.
pub(in crate::lsp) fn bind(snapshot: &Snapshot, params: BindParams) -> Result<BoundNames> {
    let text = text(snapshot, &params.uri)?;
    let files = params.files.iter().map(path).collect::<Result<Vec<_>>>()?;
    let mut claims = claims(&params.uri).read_all(&files);
    let names = claims.write_regular(&path(&params.output)?).and_then(|output| {
        let known = NamedArrays::open(&files)?;
        binding::bind(&text, &known, &output)
    });
    names.map(|names| BoundNames { names }).map_err(Error::invalid_params)
}

/// Writes a module whose constants are parameters, and the tensors by their names.
pub(in crate::lsp) fn lift(snapshot: &Snapshot, params: LiftParams) -> Result<BoundNames> {
    let text = text(snapshot, &params.uri)?;
    let mut claims = claims(&params.uri);
    let mut target = |uri: &Url| claims.write_regular(&path(uri)?).map_err(Error::invalid_params);
    let output = target(&params.output)?;
    let arrays = params.params.as_ref().map(target).transpose()?;
    let names = binding::lift(&text, &output, arrays.as_ref());
    names.map(|names| BoundNames { names }).map_err(Error::invalid_params)
}

fn path(uri: &Url) -> Result<PathBuf> {
    path_on_machine(uri, paths::of_uri(uri))
}

/// Returns the claims of a request: the file of the document must not be overwritten.
fn claims(document: &Url) -> Claims {
    match file_of(document) {
        Some(file) => Claims::default().read(&file),
        None => Claims::default(),
    }
}

/// Returns the text of a document with its section, which the text of a code view does not have.
fn text(snapshot: &Snapshot, uri: &Url) -> Result<Arc<String>> {
    let document = snapshot.document(uri)?;
    let views = &snapshot.session.code_views;
    let code = code_view::view_of(&document.text).map(|view| view.code);
    if views.known(uri).is_none() || matches!(code, Err(Refusal::OwnSection)) {
        return Ok(document.text.collected().clone());
    }
    let refused = |message: String| Error::invalid_params(message);
    let file = file_of(uri).ok_or_else(|| refused(format!("{uri} is not a file")))?;
    let code = code.map_err(|refusal| refused(refusal.to_string()))?;
    let module = ModuleFile::open(&file).map_err(Refusal::from).and_then(code_view::module_of);
    let Module { section, text, .. } = module.map_err(|refusal| refused(refusal.to_string()))?;
    if views.section_of(&file).is_none_or(|known| known.stamp != text.file().stamp()) {
        return Err(refused(Refusal::Changed.to_string()));
    }
    let weights = Weights::of_file(section, text);
    let section = weights.text(0..weights.len()).map_err(|error| refused(error.to_string()))?;
    Ok(Arc::new(code.to_owned() + &section))
}

/// Returns the actions at a range, for clients that have the commands.
pub(super) fn offers(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
    range: TextRange,
) -> Vec<CodeAction> {
    let offers = [
        (BIND, "Bind parameters to the arrays of a file…", binds as fn(&_, &_, _) -> bool),
        (LIFT, "Lift constants to parameters…", lifts),
    ];
    let offers = offers.into_iter().filter(|(command, _, applies)| {
        snapshot.client.runs(command) && applies(snapshot, document, range)
    });
    let action = |(command, title, _): (&str, &str, _)| CodeAction {
        title: title.to_owned(),
        kind: Some(CodeActionKind::REFACTOR_REWRITE),
        command: Some(Command::new(title.to_owned(), command.to_owned(), Some(vec![json!(uri)]))),
        ..CodeAction::default()
    };
    offers.map(action).collect()
}

/// Returns true if the range begins in the parameters of a `@main` that no function calls.
fn binds(snapshot: &Snapshot, document: &Document, range: TextRange) -> bool {
    let db = &snapshot.db;
    let at = range.start();
    let is_main = |def: &semantics::Def<'_>| {
        def.kind(db) == DefKind::Fn
            && def.name(db) == "@main"
            && def.range(db).contains_inclusive(at)
    };
    let Some(def) = semantics::all_defs(db, document.file).find(is_main) else { return false };
    let list = def.node(db).child(SyntaxKind::PARAM_LIST);
    let is_in_list = list.is_some_and(|list| {
        let has_params = list.children().any(|node| node.kind() == SyntaxKind::PARAM);
        has_params && at <= list.range().end() + def.start(db)
    });
    let view = semantics::View::new(db, def);
    is_in_list && view.is_some_and(|view| users_of(db, view.module, "@main").next().is_none())
}

/// Returns true if the range begins at a constant of the metadata section.
fn lifts(snapshot: &Snapshot, document: &Document, range: TextRange) -> bool {
    ide::hover::constant_at(&snapshot.db, document.file, range.start()).is_some()
}
