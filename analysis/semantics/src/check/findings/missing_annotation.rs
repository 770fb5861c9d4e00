//! A variable whose type cannot be inferred.

use super::{Code, DefDiagnostic, Site};
use crate::{body::LocalRef, infer::FindingSubject};

pub(super) fn report(site: &Site<'_, '_, '_>) -> Option<DefDiagnostic> {
    let FindingSubject::Binder(binder) = site.subject else { return None };
    let binding = LocalRef { unit: site.unit, binder };
    let name = &site.view.binder(binding).name;
    let diagnostic = site
        .diagnostic(Code::MissingAnnotation, format!("cannot infer the type of `{name}`"))
        .help(format!("write it: `{name}: Tensor[(…), float32]`"));
    let last = site.view.last_use_of(binding);
    Some(diagnostic.with(last, |diagnostic, last| diagnostic.related(last, "it is used here")))
}
