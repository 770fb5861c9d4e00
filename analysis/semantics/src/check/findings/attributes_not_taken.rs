//! Attributes of a call whose callee takes none.

use syntax::TextRange;

use super::{Code, DefDiagnostic};
use crate::{body::ExprRef, check::site::ProblemSite};

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>, callee: &str) -> DefDiagnostic {
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
