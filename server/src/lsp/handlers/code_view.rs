//! `relay/codeView` and `relay/saveCode`: modules with large metadata sections as their code.

use serde::Deserialize;
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::Url,
};

use super::{FileParams, path_on_machine};
use crate::{
    code_view::{self, Refusal, SavedView},
    lsp::{code_views::file_of, snapshot::Snapshot},
    protocol::{CodeView, Count, SavedCode},
};

/// The parameters of `relay/saveCode`.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct SaveParams {
    uri: Url,
    /// The state of the file when the code was read.
    stamp: String,
    /// The code, and the line that replaces the section.
    text: String,
    /// The file to write a copy to; by default the file itself.
    output: Option<Url>,
}

/// Returns the code of a file, which the URI names as `file:` or `relay-code:`.
pub(in crate::lsp) fn open(snapshot: &Snapshot, params: FileParams) -> Result<CodeView> {
    let path = path_on_machine(&params.uri, file_of(&params.uri))?;
    let view = code_view::open(&path).map_err(|refusal| refused(&refusal))?;
    let stamp = view.stamp.text();
    let section_bytes = Count { value: view.section, text: weights::megabytes(view.section) };
    snapshot.session.code_views.store(path, &view);
    Ok(CodeView { text: view.text, stamp, section_bytes })
}

/// Writes the code of a file, and keeps all other bytes.
pub(in crate::lsp) fn save(snapshot: &Snapshot, params: SaveParams) -> Result<SavedCode> {
    let path = path_on_machine(&params.uri, file_of(&params.uri))?;
    let output = params.output.as_ref();
    let output = output.map(|to| path_on_machine(to, file_of(to))).transpose()?;
    let views = &snapshot.session.code_views;
    let _saving = views.saving(&path);
    let known = views.section_of(&path);
    match code_view::save(&path, &params.stamp, &params.text, known, output.as_deref()) {
        Ok(SavedView { stamp, start, view }) => {
            let is_own = output.is_none();
            if let Some(view) = &view {
                views.store(output.unwrap_or(path), view);
            } else if is_own {
                views.saved(&path, stamp, start);
            }
            Ok(SavedCode { stamp: Some(stamp.text()), text: view.map(|view| view.text) })
        }
        Err(Refusal::Changed) => Ok(SavedCode { stamp: None, text: None }),
        Err(refusal) => Err(refused(&refusal)),
    }
}

fn refused(refusal: &Refusal) -> Error {
    Error::invalid_params(refusal.to_string())
}
