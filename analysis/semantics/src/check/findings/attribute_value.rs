//! An attribute whose value has the right type, but is none of the valid ones.

use operators::Operator;

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

/// A string that is not one of the choices.
pub(in crate::check) fn choice(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    (choices, nearest): (&[&str], Option<&str>),
) -> DefDiagnostic {
    let message = format!("`{}`: `{name}` cannot be {}", operator.name, site.text());
    let known: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    let diagnostic = site.diagnostic(Code::AttributeValue, message);
    let diagnostic = diagnostic.help(format!("it is one of {}", known.join(", ")));
    suggested(site, diagnostic, nearest)
}

/// A string that is not a data type.
pub(in crate::check) fn dtype(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    nearest: Option<&str>,
) -> DefDiagnostic {
    let value = &site.text();
    let message = format!("`{}`: `{name}` is {value}, which is not a data type", operator.name);
    let diagnostic = site.diagnostic(Code::AttributeValue, message);
    let diagnostic = diagnostic.help("write a data type as in `\"float32\"`");
    suggested(site, diagnostic, syntax::dtype_of(value).or(nearest))
}

/// A number below the minimum.
pub(in crate::check) fn too_small(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    min: i64,
) -> DefDiagnostic {
    let message =
        format!("`{}`: `{name}` must be at least {min}, it is {}", operator.name, site.text());
    site.diagnostic(Code::AttributeValue, message)
        .fix(format!("Change to {min}"), [(site.range, min.to_string())])
}

/// The name of another set of attributes; `expected` is that of the operator, unless it takes any set.
pub(in crate::check) fn type_key(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    expected: Option<&str>,
) -> DefDiagnostic {
    let message = format!("`{}`: this is not the name of its attribute type", operator.name);
    let diagnostic = site.diagnostic(Code::AttributeValue, message);
    match expected {
        Some(key) => suggested(site, diagnostic, Some(key)),
        None => diagnostic.help("the name is one of TVM's, such as \"relay.attrs.InitOpAttrs\""),
    }
}

/// Adds a fix that inserts the nearest valid string, if there is one.
fn suggested(
    site: &ProblemSite<'_, '_, '_>,
    diagnostic: DefDiagnostic,
    nearest: Option<&str>,
) -> DefDiagnostic {
    diagnostic.with(nearest, |diagnostic, near| {
        diagnostic.fix(format!("Change to \"{near}\""), [(site.range, format!("\"{near}\""))])
    })
}
