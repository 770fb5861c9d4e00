//! An operator as a value, with attributes that have no default.

use operators::Operator;

use super::{Code, DefDiagnostic, Site};

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
