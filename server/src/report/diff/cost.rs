//! The cost of running a module, which is reported with differences.

use ide::shapes::FunctionShapes;
use semantics::{Database, Def, DefKind, SourceFile};
use serde_json::{Value, json};

/// The cost of a run.
#[derive(Clone)]
pub(crate) struct Cost {
    /// The function.
    pub(crate) name: String,
    /// The number of operator calls.
    pub(crate) calls: u64,
    /// The number of elements of weights and constants.
    pub(crate) params: String,
    /// The number of multiply-accumulates.
    pub(crate) macs: String,
    /// The peak memory of results.
    pub(crate) peak: String,
}

/// The costs of both modules, if known.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) before: Option<Cost>,
    pub(crate) after: Option<Cost>,
}

/// Returns the cost of a run of the named function, otherwise of `@main` or the only function.
pub(crate) fn cost(db: &Database, file: SourceFile, name: Option<&str>) -> Option<Cost> {
    let defs: Vec<Def<'_>> = semantics::all_defs(db, file)
        .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr))
        .collect();
    let expected = name.unwrap_or("@main");
    let def = defs.iter().find(|def| def.name(db) == expected).or(match defs.as_slice() {
        [only] if name.is_none() => Some(only),
        _ => None,
    })?;
    let summary: FunctionShapes = ide::shapes::totals(db, &[*def]).pop()??;
    Some(Cost {
        name: def.name(db).to_string(),
        calls: summary.total.calls,
        params: summary.number(&summary.total.params),
        macs: summary.number(&summary.total.macs),
        peak: summary.bytes(&summary.total.peak),
    })
}

/// Converts a cost to JSON. Amounts are texts, as sizes may be unknown.
pub(crate) fn cost_json(cost: &Cost) -> Value {
    json!({
        "function": cost.name, "calls": cost.calls, "params": cost.params, "macs": cost.macs,
        "peak": cost.peak,
    })
}
