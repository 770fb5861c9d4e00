//! What a module costs to run, to be told beside a difference.

use ide::shapes::FunctionShapes;
use semantics::{Database, Def, DefKind, SourceFile};
use serde_json::{Value, json};

/// What a run costs.
pub(crate) struct Cost {
    /// The function.
    pub(crate) name: String,
    /// Calls of operators.
    pub(crate) calls: u64,
    /// Elements of weights and constants.
    pub(crate) params: String,
    /// Multiply-accumulates.
    pub(crate) macs: String,
    /// The most memory for results.
    pub(crate) peak: String,
}

/// What a run costs on both sides, where that is known.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) before: Option<Cost>,
    pub(crate) after: Option<Cost>,
}

/// What a run of the function costs that was asked for, or else of `@main` or the only one.
pub(crate) fn cost(db: &Database, file: SourceFile, name: Option<&str>) -> Option<Cost> {
    let defs: Vec<Def<'_>> = semantics::all_defs(db, file)
        .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr))
        .collect();
    let wanted = name.unwrap_or("@main");
    let def = defs.iter().find(|def| def.name(db) == wanted).or(match defs.as_slice() {
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

/// A cost as JSON. Amounts are as people read them, since sizes may be unknown.
pub(crate) fn cost_json(cost: &Cost) -> Value {
    json!({
        "function": cost.name, "calls": cost.calls, "params": cost.params, "macs": cost.macs,
        "peak": cost.peak,
    })
}
