//! Bindings and parameters that are never read.

use crate::{
    body::{BinderKind, LocalRef},
    diagnostic::{Code, DefDiagnostic, Severity},
    view::View,
};

pub(in crate::check) fn report(view: &View<'_>, binding: LocalRef) -> DefDiagnostic {
    let binder = view.binder(binding);
    let (code, what) = match binder.kind {
        BinderKind::Param => (Code::UnusedParameter, "parameter"),
        BinderKind::Pattern => (Code::UnusedBinding, "pattern variable"),
        _ => (Code::UnusedBinding, "binding"),
    };
    let message = format!("the {what} `{}` is never used", binder.name);
    let range = view.binding_range(binding);
    let mut diagnostic = DefDiagnostic::new(code, range, message).unnecessary();
    if binder.kind == BinderKind::Pattern {
        // `_` takes no type.
        let with = match &binder.annotation {
            Some(_) => format!("%_{}", &binder.name[1..]),
            None => "_".to_owned(),
        };
        diagnostic = diagnostic.fix(format!("Write `{with}`"), [(range, with)]);
    }
    diagnostic
}

/// A binding, and a number of others whose names begin with the same stem.
pub(in crate::check) fn generated(
    view: &View<'_>,
    binding: LocalRef,
    stem: &str,
    others: usize,
) -> DefDiagnostic {
    let name = &view.binder(binding).name;
    let message = format!("`{name}` and {others} more bindings `{stem}…` are never used");
    let mut diagnostic =
        DefDiagnostic::new(Code::UnusedBinding, view.binding_range(binding), message)
            .help("names that end in digits are assumed to be generated");
    diagnostic.severity = Severity::Hint;
    diagnostic
}
