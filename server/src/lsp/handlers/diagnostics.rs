//! Diagnostics, published or pulled by `textDocument/diagnostic`.

use std::{
    hash::{Hash, Hasher},
    panic::resume_unwind,
    sync::Arc,
    time::Duration,
};

use clock::Instant;
use semantics::{Cancelled, apply_levels};
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
    panics::{self, CaughtPanic, Interrupt, guarded},
};

/// The diagnostics of a document at a version.
pub(in crate::lsp) struct DocumentDiagnostics {
    pub(in crate::lsp) uri: Url,
    /// The diagnostics and their version; `None` if a change cancelled the check.
    pub(in crate::lsp) items: Option<(Arc<Vec<Diagnostic>>, i32)>,
    /// The time that the check took.
    pub(in crate::lsp) took: Duration,
    /// The panic of the check, if it was not reported to the client before.
    pub(in crate::lsp) panicked: Option<CaughtPanic>,
}

/// Checks a document, on a worker.
pub(in crate::lsp) fn check(snapshot: &Snapshot, uri: Url) -> DocumentDiagnostics {
    let start = Instant::now();
    let _check = tracing::debug_span!("check", %uri).entered();
    let Some(document) = snapshot.documents.get(&uri) else {
        let items = Some((Arc::default(), 0));
        return DocumentDiagnostics { uri, items, took: Duration::ZERO, panicked: None };
    };
    let (items, panicked) = match items(snapshot, &uri, document) {
        Ok((items, panicked)) => (Some((Arc::new(items), document.version)), panicked),
        Err(_) => (None, None),
    };
    let panicked = panicked.filter(|panicked| snapshot.session.faults.is_new(panicked));
    DocumentDiagnostics { uri, items, took: start.elapsed(), panicked }
}

/// Returns the diagnostics of a document.
pub(in crate::lsp) fn found(
    snapshot: &Snapshot,
    document: &Document,
) -> Vec<semantics::Diagnostic> {
    let mut found: Vec<_> = document.problem.iter().map(|problem| (**problem).clone()).collect();
    apply_levels(document.file.levels(&snapshot.db), &mut found);
    found.extend(semantics::check_file(&snapshot.db, document.file).iter().cloned());
    found
}

/// Returns the diagnostics of a document. If the check of it, or of a block of it, panics, the panic is
/// the only diagnostic until the text changes.
fn items(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
) -> Result<(Vec<Diagnostic>, Option<CaughtPanic>), Cancelled> {
    let (mut all, mut first) = (Vec::new(), None);
    if let (Some(_), Some(problem)) = (&document.host, &document.problem) {
        all.push(document.diagnostic(uri, problem, snapshot.encoding));
    }
    for part in document.parts() {
        match guarded(|| unguarded_items(snapshot, uri, part)) {
            Ok(items) => all.extend(items),
            Err(Interrupt::Cancelled(cancelled)) => return Err(cancelled),
            Err(Interrupt::Panicked(panicked)) => {
                let at = panics::locate(&snapshot.db, part.file)?;
                all.push(part.diagnostic(uri, &panicked.diagnostic(at), snapshot.encoding));
                first.get_or_insert(panicked);
            }
        }
    }
    Ok((all, first))
}

fn unguarded_items(snapshot: &Snapshot, uri: &Url, document: &Document) -> Vec<Diagnostic> {
    let found = with_marks(snapshot, uri, document);
    found.iter().map(|d| document.diagnostic(uri, d, snapshot.encoding)).collect()
}

/// Returns the diagnostics of a document and of its last run.
pub(in crate::lsp) fn with_marks(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
) -> Vec<semantics::Diagnostic> {
    let mut found = found(snapshot, document);
    if document.is_in_sync()
        && let Some(placed) = snapshot.session.live.of(&snapshot.db, uri, document)
    {
        let is_allowed =
            |d: &semantics::Diagnostic| semantics::is_allowed(&snapshot.db, document.file, d);
        let mut marks = placed.marks.clone();
        marks.retain(|mark| !is_allowed(mark));
        apply_levels(document.file.levels(&snapshot.db), &mut marks);
        found.extend(marks);
    }
    found
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentDiagnosticParams,
) -> jsonrpc::Result<DocumentDiagnosticReportResult> {
    let uri = &params.text_document.uri;
    let document = snapshot.any_document(uri)?;
    // Published diagnostics would be shown twice.
    let items = match snapshot.config.delivery {
        Delivery::Push => Vec::new(),
        Delivery::Auto | Delivery::Pull => match items(snapshot, uri, document) {
            Ok((items, _)) => items,
            // The request is retried or cancelled.
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

/// Returns the identifier of a list of diagnostics: equal lists have equal identifiers, until the
/// document is closed. Neovim drops the diagnostics of a closed buffer but sends the identifier of the
/// last result after it is opened again: with an unchanged identifier it would show none.
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
