//! `relay/convertFile`: the text of a file that TVM saved.

use semantics::Code;
use serde::Deserialize;
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::Url,
};

use crate::{input, lsp::snapshot::Snapshot, paths, protocol::ConvertedText};

/// The parameters of `relay/convertFile`.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct ConvertParams {
    uri: Url,
}

/// Returns the text of a module that TVM saved as JSON or in an archive. The file is read for each
/// request; editors show the text read-only.
pub(in crate::lsp) fn convert(snapshot: &Snapshot, params: ConvertParams) -> Result<ConvertedText> {
    let refused = |message: String| Error::invalid_params(message);
    let path = paths::of_uri(&params.uri)
        .ok_or_else(|| refused(format!("{} is not a file of this machine", params.uri)))?;
    let input = input::read_file(&path, snapshot.config.limits.code as u64).map_err(refused)?;
    match input.problem.filter(|problem| problem.code != Code::InvalidUtf8) {
        Some(problem) => Err(refused(problem.message)),
        None if input.saved.is_none() => {
            Err(refused("this file was not saved by TVM as JSON or in an archive".to_owned()))
        }
        None => Ok(ConvertedText { text: input.text }),
    }
}
