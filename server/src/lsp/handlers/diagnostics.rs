//! Diagnostics, sent unasked and `textDocument/diagnostic`.

use std::{
    hash::{Hash, Hasher},
    panic::resume_unwind,
    sync::Arc,
    time::{Duration, Instant},
};

use semantics::Cancelled;
use tower_lsp::{
    jsonrpc,
    lsp_types::{
        Diagnostic, DocumentDiagnosticParams, DocumentDiagnosticReport,
        DocumentDiagnosticReportResult, FullDocumentDiagnosticReport,
        RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
        UnchangedDocumentDiagnosticReport, Url,
    },
};

use crate::{
    lsp::{config::Delivery, documents::Document, snapshot::Snapshot},
    panics::{self, Interrupt, Panicked, guarded},
};

/// The diagnostics of a document at a version.
pub(in crate::lsp) struct Checked {
    /// The document.
    pub(in crate::lsp) uri: Url,
    /// The diagnostics and the version that they are of; nothing if the text changed meanwhile.
    pub(in crate::lsp) items: Option<(Arc<Vec<Diagnostic>>, i32)>,
    /// How long they took.
    pub(in crate::lsp) took: Duration,
    /// The panic that they speak of, if the client has not been told of it.
    pub(in crate::lsp) panicked: Option<Panicked>,
}

/// Checks a document, on a worker.
pub(in crate::lsp) fn check(snapshot: &Snapshot, uri: Url) -> Checked {
    let start = Instant::now();
    let Some(document) = snapshot.documents.get(&uri) else {
        let items = Some((Arc::default(), 0));
        return Checked { uri, items, took: Duration::ZERO, panicked: None };
    };
    let (items, panicked) = match items(snapshot, &uri, document) {
        Ok((items, panicked)) => (Some((Arc::new(items), document.version)), panicked),
        Err(_) => (None, None),
    };
    let panicked = panicked.filter(|panicked| snapshot.session.faults.is_new(panicked));
    Checked { uri, items, took: start.elapsed(), panicked }
}

/// The diagnostics of a document that the user wants.
pub(in crate::lsp) fn found(
    snapshot: &Snapshot,
    document: &Document,
) -> Vec<semantics::Diagnostic> {
    let found = semantics::check_file(&snapshot.db, document.file);
    let wanted = |d: &&semantics::Diagnostic| !snapshot.config.disabled.iter().any(|c| c == d.code);
    let problem = document.problem.iter().map(|problem| &**problem);
    problem.chain(found.iter()).filter(wanted).cloned().collect()
}

/// The diagnostics of a document. If looking for them panics, there is one that says so, as long as
/// the text stays as it is.
fn items(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
) -> Result<(Vec<Diagnostic>, Option<Panicked>), Cancelled> {
    match guarded(|| sound_items(snapshot, uri, document)) {
        Ok(items) => Ok((items, None)),
        Err(Interrupt::Cancelled(cancelled)) => Err(cancelled),
        Err(Interrupt::Panicked(panicked)) => {
            let at = panics::locate(&snapshot.db, document.file)?;
            let item = document.diagnostic(uri, &panicked.diagnostic(at), snapshot.encoding);
            Ok((vec![item], Some(panicked)))
        }
    }
}

fn sound_items(snapshot: &Snapshot, uri: &Url, document: &Document) -> Vec<Diagnostic> {
    let found = with_marks(snapshot, uri, document);
    found.iter().map(|d| document.diagnostic(uri, d, snapshot.encoding)).collect()
}

/// The diagnostics of a document that the user wants, together with what its last run has found.
pub(in crate::lsp) fn with_marks(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
) -> Vec<semantics::Diagnostic> {
    let mut found = found(snapshot, document);
    if let Some(placed) = snapshot.session.live.of(&snapshot.db, uri, document) {
        let wanted =
            |d: &&semantics::Diagnostic| !snapshot.config.disabled.iter().any(|c| c == d.code);
        found.extend(placed.marks.iter().filter(wanted).cloned());
    }
    found
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentDiagnosticParams,
) -> jsonrpc::Result<DocumentDiagnosticReportResult> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    // What is sent anyhow would be shown twice.
    let items = match snapshot.config.delivery {
        Delivery::Push => Vec::new(),
        Delivery::Auto | Delivery::Pull => match items(snapshot, uri, document) {
            Ok((items, _)) => items,
            // The request is made again, or ends.
            Err(cancelled) => resume_unwind(Box::new(cancelled)),
        },
    };
    let result_id = fingerprint(document, &items);
    let report = if params.previous_result_id.as_ref() == Some(&result_id) {
        DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
        })
    } else {
        DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: Some(result_id),
                items,
            },
        })
    };
    Ok(DocumentDiagnosticReportResult::Report(report))
}

/// A name for the diagnostics of a document: equal lists have equal names, until it is closed. What
/// is opened again has no diagnostics at the client, though its text may be the same: Neovim drops
/// them with the buffer, and still names the result that it had.
fn fingerprint(document: &Document, items: &[Diagnostic]) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    document.opened.hash(&mut hasher);
    for item in items {
        let Diagnostic { range, severity, code, message, .. } = item;
        (range.start.line, range.start.character, range.end.line, range.end.character)
            .hash(&mut hasher);
        format!("{severity:?} {code:?} {:?}", item.related_information).hash(&mut hasher);
        message.hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}
