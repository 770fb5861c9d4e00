//! Diagnostics, sent unasked and `textDocument/diagnostic`.

use std::{
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use semantics::Cancelled;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        Diagnostic, DocumentDiagnosticParams, DocumentDiagnosticReport,
        DocumentDiagnosticReportResult, FullDocumentDiagnosticReport,
        RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
        UnchangedDocumentDiagnosticReport, Url,
    },
};

use crate::lsp::{config::Delivery, documents::Document, snapshot::Snapshot};

/// The diagnostics of a document at a version.
pub(in crate::lsp) struct Checked {
    /// The document.
    pub(in crate::lsp) uri: Url,
    /// The diagnostics and the version that they are of; nothing if the text changed meanwhile.
    pub(in crate::lsp) items: Option<(Arc<Vec<Diagnostic>>, i32)>,
    /// How long they took.
    pub(in crate::lsp) took: Duration,
    /// Why there are none.
    pub(in crate::lsp) error: Option<String>,
}

/// Checks a document, on a worker.
pub(in crate::lsp) fn check(snapshot: &Snapshot, uri: Url) -> Checked {
    let start = Instant::now();
    let Some(document) = snapshot.documents.get(&uri) else {
        let items = Some((Arc::default(), 0));
        return Checked { uri, items, took: Duration::ZERO, error: None };
    };
    let run = || items(snapshot, &uri, document);
    let (items, error) = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(items) => (Some((Arc::new(items), document.version)), None),
        Err(payload) if payload.is::<Cancelled>() => (None, None),
        Err(_) => {
            let error = format!("an internal error kept {uri} from being checked");
            (Some((Arc::default(), document.version)), Some(error))
        }
    };
    Checked { uri, items, took: start.elapsed(), error }
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

fn items(snapshot: &Snapshot, uri: &Url, document: &Document) -> Vec<Diagnostic> {
    let mut found = found(snapshot, document);
    if let Some(placed) = snapshot.session.live.of(&snapshot.db, uri, document) {
        let wanted =
            |d: &&semantics::Diagnostic| !snapshot.config.disabled.iter().any(|c| c == d.code);
        found.extend(placed.marks.iter().filter(wanted).cloned());
    }
    found.iter().map(|d| document.diagnostic(uri, d, snapshot.encoding)).collect()
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    // What is sent anyhow would be shown twice.
    let items = match snapshot.config.delivery {
        Delivery::Push => Vec::new(),
        Delivery::Auto | Delivery::Pull => items(snapshot, uri, document),
    };
    let result_id = fingerprint(&items);
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

/// A name for a list of diagnostics: equal lists have equal names.
fn fingerprint(items: &[Diagnostic]) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    for item in items {
        let Diagnostic { range, severity, code, message, .. } = item;
        (range.start.line, range.start.character, range.end.line, range.end.character)
            .hash(&mut hasher);
        format!("{severity:?} {code:?} {:?}", item.related_information).hash(&mut hasher);
        message.hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}
