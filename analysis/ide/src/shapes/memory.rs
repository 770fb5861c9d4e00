//! How much memory results take, and for how long.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Spot,
    body::{Callee, Expr, ExprId},
};

use super::{
    Row,
    amount::Amount,
    data::{Code, Data, parts},
};

/// Finds how much memory the results take that are there at each row.
///
/// Each expression is used last at the latest use of whatever holds it: a tuple that is read later
/// keeps its fields. Going back from the end, each expression hands its last use on to its parts.
pub(super) fn memory(data: &Data<'_>, code: &Code, spots: &[Spot], rows: &mut [Row]) {
    let times: FxHashMap<Spot, u32> =
        code.exprs.iter().enumerate().map(|(at, &spot)| (spot, at as u32)).collect();
    let mut last = vec![0u32; code.exprs.len()];
    let is_row: FxHashSet<Spot> = spots.iter().copied().collect();
    let reach = |last: &mut Vec<u32>, spot: Spot, time: u32| {
        if let Some(&at) = times.get(&spot) {
            last[at as usize] = last[at as usize].max(time);
        }
    };
    if let Some(result) = code.result {
        reach(&mut last, result, u32::MAX);
    }
    for (time, &spot) in code.exprs.iter().enumerate().rev() {
        let unit = data.view.unit(spot.unit);
        let at = |expr: ExprId| Spot { unit: spot.unit, expr };
        let own = last[time];
        let now = time as u32;
        match unit.expr(spot.expr) {
            Expr::Call(id) if is_row.contains(&spot) => {
                let call = unit.call(*id);
                call.args.iter().for_each(|&arg| reach(&mut last, at(arg), now));
                if let Callee::Expr(callee) = &call.callee {
                    reach(&mut last, at(*callee), now);
                }
            }
            Expr::Condition(cond) => reach(&mut last, at(*cond), now),
            // A function holds what it uses of what is outside of it.
            Expr::Fn(id) => {
                if let Some(body) = unit.fns.get(id.index()).and_then(|function| function.body) {
                    for inner in body.start..body.end.min(unit.exprs.len() as u32) {
                        let inner = at(ExprId(inner));
                        if let Some(binding) = data.view.variable(inner)
                            && let Some(&value) = data.values.get(&binding)
                        {
                            reach(&mut last, value, own);
                        }
                    }
                }
            }
            Expr::Bound(_) | Expr::Free(_) => {
                if let Some(binding) = data.view.variable(spot)
                    && let Some(&value) = data.values.get(&binding)
                {
                    reach(&mut last, value, own);
                }
            }
            expr => {
                if let Expr::Dotted { .. } = expr
                    && let Some(binding) = data.view.variable(spot)
                    && let Some(&value) = data.values.get(&binding)
                {
                    reach(&mut last, value, own);
                }
                // Matching looks at its value when it begins, too.
                parts(unit, expr, &mut |part| reach(&mut last, at(part), own.max(now)));
            }
        }
    }
    // Rows by when they are used last.
    let mut ends: Vec<(u32, usize)> = spots
        .iter()
        .enumerate()
        .map(|(row, spot)| (times.get(spot).map_or(0, |&at| last[at as usize].max(at)), row))
        .collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let mut live = Amount::ZERO;
    for at in 0..rows.len() {
        let now = times.get(&spots[at]).copied().unwrap_or_default();
        while let Some((_, gone)) = ends.next_if(|&(end, row)| end < now && row < at) {
            live.subtract(&rows[gone].bytes);
        }
        live.add(&rows[at].bytes);
        rows[at].live = live.clone();
    }
}
