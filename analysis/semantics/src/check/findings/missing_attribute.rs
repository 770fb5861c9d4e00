//! Attributes without a default: missing in a call, whose weight decides the `units` of `nn.dense(%x, %w)`, or in an
//! operator that is a value.

use operators::{Operator, attrs::accepts_none};
use syntax::TextRange;
use types::{AttrDefault, AttrField, AttrType, Type};

use super::{Code, DefDiagnostic, Site};
use crate::{
    body::*,
    check::{check_view::CheckView, plural::listed, site::ProblemSite},
};

/// An operator as a value.
pub(super) fn report(
    site: &Site<'_, '_, '_>,
    operator: &Operator,
    missing: &[&'static str],
) -> DefDiagnostic {
    let list = |of: fn(&&str) -> String| missing.iter().map(of).collect::<Vec<_>>().join(", ");
    let params: Vec<String> = operator.args.iter().map(|arg| format!("%{arg}")).collect();
    let params = params.join(", ");
    let message = format!(
        "`{}` needs {}, which an operator that is not called does not have",
        operator.name,
        list(|name| format!("`{name}`"))
    );
    site.diagnostic(Code::MissingAttribute, message).help(format!(
        "write a function: `fn ({params}) {{ {}({params}, {}) }}`",
        operator.name,
        list(|name| format!("{name}=…"))
    ))
}

/// A call without an attribute that it must have: names all of them, with the values that the shapes of the arguments
/// decide.
pub(in crate::check) fn of_call(
    site: &ProblemSite<'_, '_, '_>,
    operator: &'static Operator,
    name: &str,
) -> DefDiagnostic {
    let (Some((view, unit)), Some(call), Some(schema)) =
        (site.unit(), site.call_of_callee(), operator.schema)
    else {
        let message = format!("`{}` needs the attribute `{name}`", operator.name);
        let help = format!("write `{name}=…` after the arguments");
        return site.diagnostic(Code::MissingAttribute, message).help(help);
    };
    let is_missing = |field: &&AttrField| {
        field.default == AttrDefault::Required
            && !call.written.iter().any(|written| written.name == field.name)
    };
    let missing: Vec<&AttrField> = schema.fields.iter().filter(is_missing).collect();
    let quoted: Vec<String> = missing.iter().map(|field| format!("`{}`", field.name)).collect();
    let plural = if missing.len() == 1 { "" } else { "s" };
    let message = format!("`{}` needs the attribute{plural} {}", operator.name, listed(&quoted));
    let argument = |name: &str| {
        let position = operator.args.iter().position(|arg| *arg == name)?;
        let expr = *call.args.get(position)?;
        Some(view.ty(ExprRef { unit, expr }))
    };
    let values: Vec<Option<String>> =
        missing.iter().map(|field| decided(field, argument)).collect();
    let texts: Vec<String> = missing
        .iter()
        .zip(&values)
        .map(|(field, value)| format!("{}={}", field.name, value.as_deref().unwrap_or("…")))
        .collect();
    let help = format!("write `{}` after the arguments", texts.join(", "));
    let diagnostic = site.diagnostic(Code::MissingAttribute, message).help(help);
    // Before the closing parenthesis, after the last argument or attribute.
    match view.end_of_arguments(unit, call) {
        Some(end) if values.iter().all(Option::is_some) => {
            let edit = (TextRange::empty(end), format!(", {}", texts.join(", ")));
            diagnostic.fix(format!("Add {}", quoted.join(", ")), [edit])
        }
        _ => diagnostic,
    }
}

/// Returns the value of an attribute that the type of an argument decides: the `units` of a weight `(4, 3)` are 4.
fn decided<'t>(field: &AttrField, argument: impl Fn(&str) -> Option<&'t Type>) -> Option<String> {
    let sizes = |name: &str| -> Option<Vec<i64>> {
        let shape = &argument(name)?.as_tensor()?.shape;
        shape.iter().map(|dim| dim.as_known()).collect()
    };
    match field.name {
        "units" | "channels" if sizes("weight").is_some() => {
            Some(sizes("weight")?.first()?.to_string())
        }
        "kernel_size" => {
            let sizes = sizes("weight")?;
            let kernel: Vec<String> = sizes.get(2..)?.iter().map(i64::to_string).collect();
            Some(format!("[{}]", kernel.join(", ")))
        }
        // The axes in reverse order.
        "axes" if accepts_none(field) => Some("None".to_owned()),
        _ if field.ty == AttrType::Dim => Some("None".to_owned()),
        _ => None,
    }
}

/// Returns the edit that adds the attributes which a call of the operator `name` must have, and which may be `None`:
/// `units=None` of `nn.matmul`.
pub(super) fn optional_attributes(
    view: &CheckView<'_, '_>,
    expr_ref: ExprRef,
    name: &str,
) -> Option<(TextRange, String)> {
    let schema = operators::find(name)?.schema?;
    let call = view.call(expr_ref)?;
    let is_missing = |field: &&AttrField| {
        field.default == AttrDefault::Required
            && (field.ty == AttrType::Dim || field.name == "axes" && accepts_none(field))
            && !call.written.iter().any(|written| written.name == field.name)
    };
    let text: String = schema
        .fields
        .iter()
        .filter(is_missing)
        .map(|field| format!(", {}=None", field.name))
        .collect();
    let last = *call.args.last().filter(|_| call.written.is_empty() && !text.is_empty())?;
    let end = view.range(ExprRef { unit: expr_ref.unit, expr: last }).end();
    Some((TextRange::empty(end), text))
}
