//! `relay/convertFile`: the text of a file that TVM saved.

use tower_lsp::jsonrpc::{Error, Result};

use super::{FileParams, path_on_machine};
use crate::{lsp::snapshot::Snapshot, paths, protocol::ConvertedText};

/// Returns the text of a module that TVM saved as JSON or in an archive. The file is read for each
/// request; editors show the text read-only.
pub(in crate::lsp) fn convert(snapshot: &Snapshot, params: FileParams) -> Result<ConvertedText> {
    let input = snapshot.read(&path_on_machine(&params.uri, paths::of_uri(&params.uri))?)?;
    if input.saved.is_none() {
        let message = "this file was not saved by TVM as JSON or in an archive";
        return Err(Error::invalid_params(message));
    }
    Ok(ConvertedText { text: input.text })
}
