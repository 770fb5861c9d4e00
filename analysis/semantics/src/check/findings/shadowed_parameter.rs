//! A binding with the name of a parameter.

use crate::{
    body::LocalRef,
    diagnostic::{Code, DefDiagnostic},
    view::View,
};

pub(in crate::check) fn report(
    view: &View<'_>,
    binding: LocalRef,
    parameter: LocalRef,
) -> DefDiagnostic {
    let name = &view.binder(binding).name;
    let message = format!("`{name}` shadows the parameter of the same name");
    DefDiagnostic::new(Code::ShadowedParameter, view.binding_range(binding), message)
        .related(view.binding_range(parameter), "the parameter")
}
