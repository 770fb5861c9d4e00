//! Bindings and parameters.

use syntax::TextRange;

use crate::{
    body::{BinderKind, LocalRef},
    check::site::ProblemSite,
    diagnostic::{Code, DefDiagnostic, Severity},
    view::View,
};

/// A graph variable that is bound like a local variable, or the reverse.
pub(in crate::check) fn invalid(
    site: &ProblemSite<'_, '_, '_>,
    name: &str,
    kind: BinderKind,
) -> DefDiagnostic {
    let bare = &name[1..];
    let digits = bare.bytes().all(|b| b.is_ascii_digit());
    let message = match kind {
        BinderKind::Graph => {
            format!("`{name}` is not a graph variable: those are numbers, as in `%0`")
        }
        _ if digits => format!("the graph variable `{name}` cannot be bound here"),
        _ => format!("`{name}` is not a valid name: names begin with a letter"),
    };
    let diagnostic = site.diagnostic(Code::InvalidBinder, message);
    match kind {
        BinderKind::Graph if !bare.starts_with(|c: char| c.is_ascii_digit()) => {
            let mut edits = vec![(TextRange::empty(site.range.start()), "let ".to_owned())];
            // The newline ends a graph binding, but a `let` needs a `;`.
            edits.extend(site.end_of_graph_binding().map(|end| (end, ";".to_owned())));
            diagnostic.fix("Bind it with `let`", edits)
        }
        BinderKind::Graph => {
            let number: String = bare.chars().take_while(char::is_ascii_digit).collect();
            diagnostic.change(site.range, format!("%{number}"))
        }
        _ if digits => diagnostic.help("`%0 = …;` binds graph variables; write a name here"),
        _ => diagnostic.help(format!("write `%_{bare}`, or another name")),
    }
}

/// A binding with the name of a parameter.
pub(in crate::check) fn shadowed_parameter(
    view: &View<'_>,
    binding: LocalRef,
    parameter: LocalRef,
) -> DefDiagnostic {
    let name = &view.binder(binding).name;
    let message = format!("`{name}` shadows the parameter of the same name");
    DefDiagnostic::new(Code::ShadowedParameter, view.binding_range(binding), message)
        .related(view.binding_range(parameter), "the parameter")
}

/// Bindings and parameters that are never read.
pub(in crate::check) fn unused(view: &View<'_>, binding: LocalRef) -> DefDiagnostic {
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
pub(in crate::check) fn unused_generated(
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
