//! `relay/health`: the number of definitions, diagnostics and TVM incompatibilities of a file. An editor
//! that counts them itself would need all symbols and diagnostics first.

use semantics::{Code, DefKind, Diagnostic, Severity, all_defs, other_releases};
use tower_lsp::jsonrpc::Result;

use super::{DocumentParams, diagnostics};
use crate::{lsp::snapshot::Snapshot, protocol::HealthCounts};

/// The codes of diagnostics of unknown types.
const UNRESOLVED: [Code; 4] =
    [Code::CannotInfer, Code::MissingAnnotation, Code::TypeNeeded, Code::UntypedConstant];

/// Returns the health of a document.
pub(in crate::lsp) fn handle(snapshot: &Snapshot, params: DocumentParams) -> Result<HealthCounts> {
    let document = snapshot.document(&params.text_document.uri)?;
    let found = diagnostics::with_marks(snapshot, &params.text_document.uri, document);
    let count = |holds: &dyn Fn(&Diagnostic) -> bool| found.iter().filter(|d| holds(d)).count();
    let against = || found.iter().filter(|d| d.code.is_tvm());
    let defined = |kind| {
        let defs = all_defs(&snapshot.db, document.file);
        defs.filter(|def| def.kind(&snapshot.db) == kind).count()
    };
    let first = against().min_by_key(|d| d.range.start());
    Ok(HealthCounts {
        version: document.version,
        functions: defined(DefKind::Fn),
        types: defined(DefKind::Type),
        errors: count(&|d| d.severity == Severity::Error),
        warnings: count(&|d| d.severity == Severity::Warning),
        unresolved: count(&|d| UNRESOLVED.contains(&d.code)),
        tvm: against().count(),
        names: count(&|d| d.code == Code::TvmName),
        releases: other_releases(&snapshot.db, document.file).map(|releases| releases.to_string()),
        first: first.map(|d| document.range(d.range, snapshot.encoding)),
    })
}
