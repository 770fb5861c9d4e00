//! The cost of running a module, which is reported with differences.

use ide::shapes::{self, FunctionShapes};
use semantics::{Database, Def, SourceFile};

use crate::protocol::{Amount, Cost};

/// Returns the cost of a run of the named function, otherwise of `@main` or the only function.
pub(crate) fn cost(db: &Database, file: SourceFile, name: Option<&str>) -> Option<Cost> {
    let defs: Vec<Def<'_>> =
        semantics::all_defs(db, file).filter(|def| def.kind(db).has_body()).collect();
    let expected = name.unwrap_or("@main");
    let def = defs.iter().find(|def| def.name(db) == expected).or(match defs.as_slice() {
        [only] if name.is_none() => Some(only),
        _ => None,
    })?;
    let summary: FunctionShapes = ide::shapes::totals(db, &[*def]).pop()??;
    let total = &summary.total;
    let amount = |amount: &shapes::Amount, text| Amount::new(amount.as_known(), text);
    Some(Cost {
        name: def.name(db).to_string(),
        calls: Amount::new(Some(total.calls), total.calls.to_string()),
        params: amount(&total.params, summary.number(&total.params)),
        macs: amount(&total.macs, summary.number(&total.macs)),
        peak: amount(&total.peak, summary.bytes(&total.peak)),
    })
}
