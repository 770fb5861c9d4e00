//! The cost of type relations, on the calls of the models with their types.
//!
//! A call is solved as in inference: the types of its arguments are added to the table, the relation
//! runs until it holds, and the type of the result is read.

use std::{collections::HashMap, hint::black_box, time::Duration};

use cpu_time::ThreadTime;
use relay_tests::{
    calls::{self, Call},
    corpus,
};
use smallvec::SmallVec;
use types::{NodeId, Relation, Solver, State};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of operators, the most common ones.
const OPERATORS: usize = 20;
/// The maximum number of calls of each.
const CALLS: usize = 256;

fn main() {
    let calls: Vec<Call> = match corpus::models() {
        Some(models) => models.iter().flat_map(|(_, text)| calls::of_text(text)).collect(),
        None => {
            println!("there is no conformance corpus: the calls of the markdown tests");
            calls::of_pages()
        }
    };
    let mut by_operator: HashMap<&str, Vec<(Relation, &Call)>> = HashMap::new();
    for call in &calls {
        let Some(relation) = call.relation() else { continue };
        by_operator.entry(call.operator.name).or_default().push((relation, call));
    }
    let mut common: Vec<_> = by_operator.into_iter().collect();
    common.sort_by_key(|(name, calls)| (std::cmp::Reverse(calls.len()), *name));
    println!("\none solved call: nanoseconds of CPU");
    println!("{:24} {:>8} {:>8}", "", "calls", "ns");
    let mut costs: Vec<f64> = Vec::new();
    for (name, calls) in common.iter().take(OPERATORS) {
        let cost = cost(&calls[..calls.len().min(CALLS)]);
        println!("{name:24} {:>8} {cost:>8.0}", calls.len());
        costs.push(cost);
    }
    costs.sort_by(f64::total_cmp);
    if let (Some(middle), Some(most)) = (costs.get(costs.len() / 2), costs.last()) {
        println!("{:24} {:>8} {middle:>8.0}, {most:.0} at most", "median", "");
    }
}

/// Nanoseconds a call, the median of some rounds.
fn cost(calls: &[(Relation, &Call)]) -> f64 {
    let mut solver = Solver::new();
    let mut rounds: Vec<f64> = (0..9)
        .map(|_| {
            let start = ThreadTime::now();
            let mut solved = 0u32;
            while start.elapsed() < Duration::from_millis(5) {
                for (relation, call) in calls {
                    solved += solve(&mut solver, relation, call);
                }
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(solved.max(1))
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

/// Solves one call; returns 1 if it holds.
fn solve(solver: &mut Solver, relation: &Relation, call: &Call) -> u32 {
    solver.clear();
    let mut args: SmallVec<[NodeId; 4]> =
        call.args.iter().map(|ty| solver.table.import(ty)).collect();
    let result = solver.table.fresh();
    args.push(result);
    let id = solver.add(relation.clone(), args, call.operator.args, 0);
    solver.solve();
    black_box(solver.table.resolve(result));
    u32::from(matches!(solver.entry(id).state, State::Solved))
}
