//! Lazy evaluation of graph bindings.
//!
//! `%0 = e;` means `e` wherever `%0` is used, evaluated at most once. If the following code needs
//! it on every path, it is evaluated in its place, and otherwise on its first use. A recursion after
//! an `if` then terminates, and a variable that is bound in one branch and used in another, as TVM
//! prints some, has its value in both. What reads or writes references is evaluated on its first use
//! in any case, as its place is observable.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    View,
    body::{BinderKind, Expr, ExprId, LocalRef, Region, Unit, UnitId},
};

/// The graph bindings of a body that are evaluated on first use.
#[derive(Default)]
pub(super) struct LazyBindings {
    vars: FxHashSet<LocalRef>,
    /// The unit and the first expression of each binding.
    starts: FxHashSet<(UnitId, ExprId)>,
}

/// A graph binding.
struct Graph {
    var: LocalRef,
    region: u32,
    /// The expressions of the statement: unit, first expression, expression that binds the
    /// variable.
    span: (UnitId, u32, u32),
    /// The graph binding whose expression contains it.
    outer: Option<usize>,
    uses: Vec<(u32, Option<usize>)>,
}

impl LazyBindings {
    pub(super) fn of(view: &View<'_>) -> LazyBindings {
        let mut regions = vec![0u32];
        let mut graphs: Vec<Graph> = Vec::new();
        let mut known: FxHashMap<LocalRef, usize> = FxHashMap::default();
        for (number, unit) in view.body.units() {
            let firsts = firsts(unit);
            // Values that depend on the data types of their uses are never evaluated in place.
            let numeric = view.unit_types(number).numeric.as_deref();
            let made: Vec<_> =
                numeric.into_iter().flat_map(|n| &n.binders).map(|(binder, _)| *binder).collect();
            // The regions around the current expression, with their ends.
            let mut inside: Vec<(u32, u32)> = vec![(0, u32::MAX)];
            let begins = region_starts(unit);
            let mut opening: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for (at, expr) in unit.exprs.iter().enumerate() {
                if let Expr::Bind { binder, value, .. } = expr
                    && unit.binder(*binder).kind == BinderKind::Graph
                    && !made.contains(binder)
                {
                    opening.entry(firsts[value.index()]).or_default().push(at as u32);
                }
            }
            let mut open: Vec<(usize, u32)> = Vec::new();
            for (at, expr) in unit.exprs.iter().enumerate() {
                let at = at as u32;
                while inside.last().is_some_and(|&(_, end)| end <= at) {
                    inside.pop();
                }
                if let Some(&end) = begins.get(&at) {
                    let parent = inside.last().map_or(0, |&(region, _)| region);
                    regions.push(parent);
                    inside.push((regions.len() as u32 - 1, end));
                }
                let region = inside.last().map_or(0, |&(region, _)| region);
                for &bind in opening.get(&at).into_iter().flatten().rev() {
                    let Expr::Bind { binder, .. } = unit.exprs[bind as usize] else { continue };
                    let var = LocalRef { unit: number, binder };
                    let outer = open.last().map(|&(graph, _)| graph);
                    known.insert(var, graphs.len());
                    open.push((graphs.len(), bind));
                    let span = (number, at, bind);
                    graphs.push(Graph { var, region, span, outer, uses: Vec::new() });
                }
                while open.last().is_some_and(|&(_, bind)| bind <= at) {
                    open.pop();
                }
                let used = match expr {
                    Expr::Bound(binder) => Some(LocalRef { unit: number, binder: *binder }),
                    Expr::Free(free) | Expr::Dotted { whole: free, .. } => {
                        view.scopes.get(number, *free)
                    }
                    _ => None,
                };
                if let Some(&graph) = used.and_then(|var| known.get(&var)) {
                    graphs[graph].uses.push((region, open.last().map(|&(graph, _)| graph)));
                }
            }
        }
        if graphs.is_empty() {
            return LazyBindings::default();
        }
        let effects = view.effects();
        let mut lazy = vec![false; graphs.len()];
        for at in (0..graphs.len()).rev() {
            let graph = &graphs[at];
            let within = |mut region: u32| {
                while region > graph.region {
                    region = regions[region as usize];
                }
                region == graph.region
            };
            // A use inside of the expression of a lazy binding may never be evaluated.
            let certain = |&(region, mut inner): &(u32, Option<usize>)| {
                while let Some(outer) = inner {
                    let (unit, first, bind) = graphs[outer].span;
                    let (own, from, _) = graph.span;
                    if unit == own && first <= from && from <= bind {
                        break;
                    }
                    if lazy[outer] {
                        return false;
                    }
                    inner = graphs[outer].outer;
                }
                region == graph.region
            };
            lazy[at] = effects.of_binding(graph.var).is_ordered()
                || !(graph.uses.iter().all(|&(region, _)| within(region))
                    && graph.uses.iter().any(certain));
        }
        let deferred = || graphs.iter().zip(&lazy).filter(|(_, lazy)| **lazy).map(|(g, _)| g);
        LazyBindings {
            vars: deferred().map(|graph| graph.var).collect(),
            starts: deferred().map(|g| (g.span.0, ExprId(g.span.1))).collect(),
        }
    }

    /// Returns true if a variable is evaluated on its first use.
    pub(super) fn is(&self, var: LocalRef) -> bool {
        self.vars.contains(&var)
    }

    /// Returns true if the expression of a lazy binding begins here.
    pub(super) fn begins(&self, unit: UnitId, expr: ExprId) -> bool {
        self.starts.contains(&(unit, expr))
    }
}

/// Returns the end of each region by its start.
fn region_starts(unit: &Unit) -> FxHashMap<u32, u32> {
    let mut starts = FxHashMap::default();
    let mut add = |region: &Region| {
        starts.insert(region.start, region.end);
    };
    for expr in &unit.exprs {
        match expr {
            Expr::If { then, otherwise, .. } => {
                add(then);
                add(otherwise);
            }
            Expr::Match(at) => {
                unit.matches[at.index()].arms.iter().for_each(|arm| add(&arm.body));
            }
            Expr::Fn(at) => {
                unit.fns[at.index()].body.iter().for_each(&mut add);
            }
            _ => {}
        }
    }
    starts
}

/// Returns the first expression that is evaluated as part of each expression.
fn firsts(unit: &Unit) -> Vec<u32> {
    let mut firsts: Vec<u32> = Vec::with_capacity(unit.exprs.len());
    for (at, expr) in unit.exprs.iter().enumerate() {
        let of = |id: &ExprId| firsts.get(id.index()).copied().unwrap_or(at as u32);
        let all = |ids: &[ExprId]| ids.iter().map(of).min().unwrap_or(at as u32);
        let first = match expr {
            Expr::Tuple(fields) => all(fields),
            Expr::Proj { tuple, .. } | Expr::Dotted { tuple, .. } => of(tuple),
            Expr::Call(call) => {
                let data = unit.call(*call);
                let callee = match &data.callee {
                    semantics::body::Callee::Expr(callee) => of(callee),
                    _ => at as u32,
                };
                all(&data.args).min(callee)
            }
            Expr::If { cond, .. } | Expr::Condition(cond) => of(cond),
            Expr::Match(id) => of(&unit.matches[id.index()].scrutinee),
            Expr::Fn(id) => match unit.fns[id.index()].body {
                // The preceding step brings the parameters into scope.
                Some(body) => body.start.saturating_sub(1),
                None => at as u32,
            },
            Expr::RefNew(value) | Expr::RefRead(value) => of(value),
            Expr::RefWrite(reference, value) => of(reference).min(of(value)),
            _ => at as u32,
        };
        firsts.push(first.min(at as u32));
    }
    firsts
}
