//! `textDocument/documentLink`

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use ide::links::{LinkTarget, links};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{DocumentLink, DocumentLinkParams, Url},
};

use crate::{lsp::snapshot::Snapshot, paths};

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentLinkParams,
) -> Result<Option<Vec<DocumentLink>>> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    // A path is relative to the document's folder, or to a workspace folder.
    let own = paths::of_uri(uri);
    let mut folders: Vec<PathBuf> =
        own.as_deref().and_then(Path::parent).map(Path::to_owned).into_iter().collect();
    folders.extend(snapshot.session.workspace.folders());
    // A module names the same few files many times.
    let mut known: HashMap<String, Option<Url>> = HashMap::new();
    let mut answers = Vec::new();
    for link in links(&snapshot.db, document.file) {
        let (target, tooltip) = match link.target {
            LinkTarget::Place(place) => {
                let line = document.position(place.start(), snapshot.encoding).line;
                let mut target = uri.clone();
                target.set_fragment(Some(&format!("L{}", line + 1)));
                (target, "the metadata section".to_owned())
            }
            LinkTarget::Path { path, line } => {
                let found = known.entry(path.clone()).or_insert_with(|| find(&path, &folders));
                let Some(mut target) = found.clone() else { continue };
                let place = match line {
                    Some((line, Some(column))) => Some(format!("L{line},{column}")),
                    Some((line, None)) => Some(format!("L{line}")),
                    None => None,
                };
                target.set_fragment(place.as_deref());
                (target, path)
            }
        };
        answers.push(DocumentLink {
            range: document.range(link.range, snapshot.encoding),
            target: Some(target),
            tooltip: snapshot.client.features.tooltips.then_some(tooltip),
            data: None,
        });
    }
    Ok(Some(answers))
}

/// Returns the existing file that a path in a comment names.
fn find(path: &str, folders: &[PathBuf]) -> Option<Url> {
    let path = Path::new(path);
    // Joining an absolute path gives that path.
    let mut places: Vec<PathBuf> = folders.iter().map(|folder| folder.join(path)).collect();
    if places.is_empty() && path.is_absolute() {
        places.push(path.to_owned());
    }
    let there = places.into_iter().find(|place| place.is_file())?;
    paths::uri_of(there)
}
