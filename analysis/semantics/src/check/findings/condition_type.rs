//! A condition that is not a scalar `bool`.

use syntax::TextRange;
use types::{DataType, Type, describe};

use super::{Report, Site};
use crate::{check::cause::Evidence, diagnostic::Code};

pub(super) fn report(site: &Site<'_, '_, '_>, ty: &Type) -> Report {
    let message =
        format!("the condition of an `if` must be a scalar `bool`, but this is {}", describe(ty));
    let diagnostic = site.diagnostic(Code::ConditionType, message);
    let diagnostic = match ty.as_tensor() {
        Some(tensor) if tensor.dtype.is_bool() && tensor.rank() > 0 => {
            diagnostic.help("reduce it to one value first: `all(…)` or `any(…)`")
        }
        Some(tensor) if tensor.rank() == 0 => {
            let end = TextRange::empty(diagnostic.range.end());
            diagnostic
                .help("compare it: `… != 0`")
                .fix("Compare with 0", [(end, " != 0".to_owned())])
        }
        Some(_) => diagnostic.help("compare elements and reduce: `all(equal(…, …))`"),
        None => diagnostic,
    };
    let evidence = ty.as_tensor().filter(|tensor| tensor.rank() == 0).map(|tensor| {
        let mut evidence = Evidence::new(site.unit);
        evidence.cause.values = vec![DataType::BOOL.into(), tensor.dtype.into()];
        evidence.operands.extend(site.expr_ref());
        evidence.with_flows(site.view)
    });
    Report { diagnostic, evidence }
}
