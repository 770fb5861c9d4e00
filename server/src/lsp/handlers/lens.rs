//! `textDocument/codeLens`

use ide::lens::{Lens, LensKind, lenses};
use serde_json::json;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{CodeLens, CodeLensParams, Command, Location, Url},
};

use crate::lsp::{documents::Document, runs::RUN, snapshot::Snapshot};

/// What editors show references by, where they say that they know the command.
const SHOW_REFERENCES: &str = "relay.showReferences";

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: CodeLensParams,
) -> Result<Option<Vec<CodeLens>>> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    let found = lenses(&snapshot.db, document.file);
    Ok(Some(found.iter().map(|lens| convert(snapshot, uri, document, lens)).collect()))
}

fn convert(snapshot: &Snapshot, uri: &Url, document: &Document, lens: &Lens) -> CodeLens {
    let range = document.range(lens.range, snapshot.encoding);
    // A command without a name is a text that cannot be clicked.
    let mut command = Command::new(lens.title(), String::new(), None);
    match &lens.kind {
        LensKind::References(places)
            if !places.is_empty() && snapshot.session.runs(SHOW_REFERENCES) =>
        {
            let places: Vec<Location> = places
                .iter()
                .map(|place| Location::new(uri.clone(), document.range(*place, snapshot.encoding)))
                .collect();
            command.command = SHOW_REFERENCES.to_owned();
            command.arguments = Some(vec![json!(uri), json!(range.start), json!(places)]);
        }
        LensKind::Run(name) => {
            command.command = RUN.to_owned();
            let mut argument = json!({ "uri": uri, "position": range.start });
            if !name.is_empty() {
                argument["function"] = json!(name);
            }
            command.arguments = Some(vec![argument]);
        }
        _ => {}
    }
    CodeLens { range, command: Some(command), data: None }
}
