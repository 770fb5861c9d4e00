//! An attribute that the operator does not have.

use operators::Operator;

use super::{Code, DefDiagnostic};
use crate::check::{other_names, site::ProblemSite};

pub(in crate::check) fn report(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
    nearest: Option<&'static str>,
) -> DefDiagnostic {
    let message = format!("`{}` has no attribute `{name}`", operator.name);
    let diagnostic = site.diagnostic(Code::UnknownAttribute, message);
    let fields = || operator.schema.into_iter().flat_map(|schema| schema.fields);
    let of_name = |name: &str| fields().find(|field| field.name == name).map(|field| field.name);
    match nearest.or_else(|| other_names::attribute(name, of_name)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).change(site.range, near),
        None => {
            let known: Vec<String> = fields().map(|field| format!("`{}`", field.name)).collect();
            diagnostic.help(format!("its attributes are {}", known.join(", ")))
        }
    }
}
