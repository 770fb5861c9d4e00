//! Liveness of results, and their memory.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    ExprRef,
    body::{Callee, Expr, ExprId},
};

use super::{
    amount::Amount,
    data::{Code, Data, parts},
};

/// Computes the memory of the live results at each row, and passes it to `at_row` with the index of the
/// row. `sizes` are those of the results. Returns for each row the last row during which its result is live; the number
/// of rows for a result of the function.
///
/// The last use of an expression is the last use of any value that contains it: a tuple keeps its
/// fields alive. Expressions are visited backwards, so that each passes its last use on to its
/// parts.
pub(super) fn memory(
    data: &Data<'_>,
    code: &Code,
    calls: &[ExprRef],
    sizes: &[Amount],
    mut at_row: impl FnMut(usize, &Amount),
) -> Vec<usize> {
    let times: FxHashMap<ExprRef, u32> =
        code.exprs.iter().enumerate().map(|(at, &expr_ref)| (expr_ref, at as u32)).collect();
    let mut last = vec![0u32; code.exprs.len()];
    let is_row: FxHashSet<ExprRef> = calls.iter().copied().collect();
    let reach = |last: &mut Vec<u32>, expr_ref: ExprRef, time: u32| {
        if let Some(&at) = times.get(&expr_ref) {
            last[at as usize] = last[at as usize].max(time);
        }
    };
    let value_of = |at: ExprRef| data.view.variable(at).and_then(|it| data.view.value(it));
    if let Some(result) = code.result {
        reach(&mut last, result, u32::MAX);
    }
    for (time, &expr_ref) in code.exprs.iter().enumerate().rev() {
        let unit = data.view.unit(expr_ref.unit);
        let at = |expr: ExprId| ExprRef { unit: expr_ref.unit, expr };
        let own = last[time];
        let now = time as u32;
        match unit.expr(expr_ref.expr) {
            Expr::Call(id) if is_row.contains(&expr_ref) => {
                let call = unit.call(*id);
                call.args.iter().for_each(|&arg| reach(&mut last, at(arg), now));
                if let Callee::Expr(callee) = &call.callee {
                    reach(&mut last, at(*callee), now);
                }
            }
            Expr::Condition(cond) => reach(&mut last, at(*cond), now),
            // A function keeps the variables alive that it captures.
            Expr::Fn(id) => {
                if let Some(body) = unit.fns.get(id.index()).and_then(|function| function.body) {
                    for inner in body.start..body.end.min(unit.exprs.len() as u32) {
                        if let Some(value) = value_of(at(ExprId(inner))) {
                            reach(&mut last, value, own);
                        }
                    }
                }
            }
            expr => {
                if let Some(value) = value_of(expr_ref) {
                    reach(&mut last, value, own);
                }
                // A `match` also reads its scrutinee at its start.
                parts(unit, expr, &mut |part| reach(&mut last, at(part), own.max(now)));
            }
        }
    }
    // Rows by their last use.
    let mut ends: Vec<(u32, usize)> = calls
        .iter()
        .enumerate()
        .map(|(row, expr_ref)| {
            (times.get(expr_ref).map_or(0, |&at| last[at as usize].max(at)), row)
        })
        .collect();
    let starts: Vec<u32> =
        calls.iter().map(|call| times.get(call).copied().unwrap_or_default()).collect();
    let until = |&(end, row): &(u32, usize)| match end {
        u32::MAX => calls.len(),
        // The rows are in the order of their times.
        end => starts.partition_point(|&start| start <= end).saturating_sub(1).max(row),
    };
    let until = ends.iter().map(until).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let mut live = Amount::ZERO;
    for (at, &now) in starts.iter().enumerate() {
        while let Some((_, dead)) = ends.next_if(|&(end, row)| end < now && row < at) {
            live.subtract(&sizes[dead]);
        }
        live.add(&sizes[at]);
        at_row(at, &live);
    }
    until
}
