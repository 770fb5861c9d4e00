//! A call with too few or too many arguments.

use super::{Report, Site};
use crate::{
    body::*,
    check::{
        cause::{self, Evidence},
        plural::count,
    },
    diagnostic::Code,
};

pub(super) fn report(site: &Site<'_, '_, '_>, expected: usize, found: usize) -> Option<Report> {
    let view = site.view;
    let call = site.expr_ref()?;
    let message =
        format!("{} expects {}, found {found}", site.callee_name()?, count(expected, "argument"));
    let mut diagnostic = site.diagnostic(Code::ArgumentCount, message);
    if let Some(data) = view.call(call) {
        if let Callee::Operator(operator) = data.callee
            && expected > 0
        {
            diagnostic = diagnostic.help(format!("its arguments are {}", operator.args.join(", ")));
        }
        if found > expected
            && let Some(&extra) = data.args.get(expected)
        {
            diagnostic = diagnostic.related(site.range(extra), "unexpected argument");
        }
    }
    let mut evidence = Evidence::new(site.unit);
    evidence.suspect = cause::declared_for(view, site.unit, call.expr);
    evidence.call = Some(call);
    Some(Report { diagnostic, evidence: Some(evidence) })
}
