//! Attributes of an operator that TVM registers without an attribute type.

use operators::Operator;
use syntax::TextRange;

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

pub(in crate::check) fn report(
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
