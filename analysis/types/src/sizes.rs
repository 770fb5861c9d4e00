//! Relations that hold for sizes that are type parameters, but not for all their values.
//!
//! `reshape(%x, newshape=[2, 2])` of a `Tensor[(n), float32]` has a type whatever `n` is, and can be
//! computed if `n` is 4. Rules compare the sizes that they know. Instead of asking each of them what
//! it has not compared, the relation is solved again for samples of the sizes. One that holds for
//! all samples is taken to hold for all sizes; any other one becomes a constraint of the function.

use crate::{
    Constraint, Dim, Kind, Param, PolyType, Relation, RelationFn, Solver, State, Type, TypeArg,
};

/// The sizes that are tried: those below and above most attributes, divisible by little and by much.
const SAMPLES: [i64; 9] = [1, 2, 3, 5, 8, 60, 97, 1024, 1 << 20];

/// Returns true if a relation over `types`, the closed types of the arguments and the result, holds
/// for the parameters of kind `ShapeVar` among `params` and for all sizes that they may be.
pub fn holds_for_all_sizes(
    relation: &Relation,
    names: &'static [&'static str],
    types: &[Type],
    params: &[Param],
) -> bool {
    let params: Vec<Param> =
        params.iter().filter(|param| param.kind() == Kind::ShapeVar).cloned().collect();
    let constraint = Constraint { relation: relation.key(), args: types.into() };
    if outcome(&constraint, relation.solve, names) != State::Solved {
        return false;
    }
    let Type::Poly(poly) = PolyType::close(&params, vec![constraint], &Type::unit()) else {
        return true;
    };
    let count = SAMPLES.len();
    let equal = SAMPLES.iter().map(|&size| vec![size; params.len()]);
    // Parameters may differ, and each may be the larger one.
    let different = [0, 4, 7].into_iter().flat_map(|shift| {
        let ascending: Vec<i64> =
            (0..params.len()).map(|at| SAMPLES[(shift + at) % count]).collect();
        let descending = ascending.iter().rev().copied().collect();
        [ascending, descending]
    });
    let different = different.filter(|_| params.len() > 1);
    equal.chain(different).all(|sizes| {
        let args: Vec<TypeArg> = sizes.iter().map(|&size| TypeArg::Dim(Dim::known(size))).collect();
        let instance = poly.open(&args);
        let mut outcomes = instance
            .constraints
            .iter()
            .map(|constraint| outcome(constraint, relation.solve, names));
        outcomes.all(|state| !matches!(state, State::Failed(_)))
    })
}

/// Solves a constraint over closed types alone.
fn outcome(constraint: &Constraint, solve: RelationFn, names: &'static [&'static str]) -> State {
    let mut solver = Solver::new();
    let id = solver.add_constraint(constraint, solve, names, 0);
    solver.solve();
    solver.entry(id).state.clone()
}
