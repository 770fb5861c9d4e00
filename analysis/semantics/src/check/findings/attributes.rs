//! Attributes that a callee does not take as they are written.

use operators::Operator;
use syntax::TextRange;

use super::{Code, DefDiagnostic};
use crate::{
    body::ExprRef,
    check::{other_names, site::ProblemSite},
};

/// An attribute that the operator does not have.
pub(in crate::check) fn unknown(
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

/// Attributes of a call whose callee takes none.
pub(in crate::check) fn not_taken(site: &ProblemSite<'_, '_, '_>, callee: &str) -> DefDiagnostic {
    let message = format!("`{callee}` takes no attributes");
    site.diagnostic(Code::AttributesNotTaken, message).with(written(site), |diagnostic, range| {
        diagnostic.fix("Remove the attributes", [(range, String::new())])
    })
}

/// Returns the range from the last argument to the last attribute.
fn written(site: &ProblemSite<'_, '_, '_>) -> Option<TextRange> {
    let (view, unit) = site.unit()?;
    let call = site.call_with_attributes()?;
    let start = view.range(ExprRef { unit, expr: *call.args.last()? }).end();
    let end = view.place(unit, call.written.last()?.value_range).end();
    (end > start).then(|| TextRange::new(start, end))
}

/// Attributes of an operator that TVM registers without an attribute type.
pub(in crate::check) fn detached(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
) -> DefDiagnostic {
    let message = format!("TVM does not know the type of the attributes of `{}`", operator.name);
    let diagnostic = site.diagnostic(Code::TvmDetachedAttributes, message);
    let last = site.call_with_attributes().and_then(|call| call.written.last());
    match (last, operator.schema) {
        (Some(last), Some(schema)) => {
            let at = site.place(last.value_range).end();
            let text = format!(", attrs_type_key=\"{}\"", schema.key);
            diagnostic.fix("Add the attribute type", [(TextRange::empty(at), text)])
        }
        _ => diagnostic.help("add `attrs_type_key=\"…\"`"),
    }
}
