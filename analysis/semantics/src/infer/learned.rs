//! What the inference of a body finds out about its own type parameters, and needs at the start.
//!
//! A function with declared type parameters may call itself with other ones. What its body requires of them is only
//! known after the body:
//!
//! ```text
//! def @f<b : BaseType>(%x: Tensor[(), b]) { @f(%x + 1) }            // b is a number
//! def @g<n : ShapeVar>(%x: Tensor[(n,), float32], %k: int32) {
//!   if (equal(%k, 0)) { reshape(%x, newshape=[2, 2]) }               // n is 4,
//!   else { @g(concatenate((%x, %x), axis=0), subtract(%k, 1)) }      // and 2 * n is 4
//! }
//! ```
//!
//! Bodies are therefore inferred again with what the last run has found, until nothing new is found.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use types::{Constraint, DTypeClass, Kind, NodeId, Param, ParamId, RelationKey, State, Type};

use super::{Env, Infer, Instance, UnitRef};
use crate::{body::*, scope::Scopes};

/// The maximum number of times that bodies are inferred until the classes of data types settle.
const MAX_RUNS: usize = 16;
/// The maximum number of times that bodies are inferred until the constraints of recursive functions settle. Those of
/// a function that calls itself with larger and larger sizes never do: each run checks one more level of calls.
const MAX_LEVELS: usize = 4;
/// The maximum number of constraints of a recursive function that its recursive calls check.
const MAX_CONSTRAINTS: usize = 200;

/// Facts about written type parameters.
#[derive(Clone, Default, PartialEq)]
pub(super) struct LearnedFacts {
    /// The classes of data types that parameters are restricted to.
    pub(super) classes: FxHashMap<(UnitRef, ParamId), DTypeClass>,
    /// The types of the functions that use themselves, if they have constraints.
    pub(super) recursive: FxHashMap<Declarer, Type>,
}

/// A function that declares type parameters: a definition, or a function expression.
pub(super) type Declarer = (UnitRef, Option<FnId>);

/// Infers bodies until what is learned of their type parameters settles.
pub(super) fn settled<'a>(
    bodies: &'a [(&'a Body, &'a Scopes)],
    env: &'a dyn Env,
    run: impl Fn(&mut Infer<'a>),
) -> Infer<'a> {
    let mut infer = Infer::new(bodies, env);
    run(&mut infer);
    for runs in 1..MAX_RUNS {
        if !infer.has_learned() {
            break;
        }
        let is_last = runs >= MAX_LEVELS && infer.found.classes == infer.learned.classes;
        if is_last {
            break;
        }
        let learned = infer.found;
        infer = Infer { learned, ..Infer::new(bodies, env) };
        run(&mut infer);
    }
    infer
}

/// Returns true if a type contains one of `params`.
pub(crate) fn mentions(ty: &Type, params: &[Param]) -> bool {
    let mut found = false;
    let _same = ty.rename_params(&mut |param| {
        found |= params.contains(param);
        None
    });
    found
}

impl Infer<'_> {
    /// Returns true if this run has found what it did not know at its start.
    pub(super) fn has_learned(&self) -> bool {
        self.found != self.learned
    }

    /// Records the type of a function that declares type parameters and uses itself, for the next run.
    pub(super) fn learn_type(&mut self, declarer: Declarer, ty: &Type) {
        if let Type::Poly(poly) = ty
            && poly.params().first().is_some_and(|param| !param.inferred)
            && (1..=MAX_CONSTRAINTS).contains(&poly.constraint_count())
            && ty.is_closed()
        {
            self.found.recursive.insert(declarer, ty.clone());
        }
    }

    /// Returns the definitions of the group that are used in the group, by number.
    pub(super) fn recursive_members(&self) -> FxHashSet<usize> {
        let uses = self.batch.units.iter().flat_map(|unit| &unit.instances);
        let member = |(_, used): &(ExprId, Instance)| match used {
            Instance::Member(number) => Some(*number),
            Instance::DTypes(_) => None,
        };
        uses.filter_map(member).collect()
    }

    /// Returns the constraints that the last run has found for a function that uses itself, over its type parameters
    /// `own`, and the further type parameters that only the constraints have.
    ///
    /// The parts of the type that are not written are the same at all uses: they become variables, and `node`, the
    /// type of the function without constraints, is unified with them.
    pub(super) fn learned_constraints(
        &mut self,
        declarer: Declarer,
        own: &[Param],
        node: NodeId,
    ) -> (Vec<Param>, Vec<Constraint>) {
        let Some(Type::Poly(poly)) = self.learned.recursive.get(&declarer).cloned() else {
            return (Vec::new(), Vec::new());
        };
        let written = poly.params().iter().filter(|param| !param.inferred).count();
        if written != own.len() {
            return (Vec::new(), Vec::new());
        }
        let (opened, instance) = Type::Poly(poly.clone()).opened();
        let mut visible: FxHashSet<ParamId> = FxHashSet::default();
        let _same = instance.ty.rename_params(&mut |param| {
            visible.insert(param.id());
            None
        });
        let mut own_params = own.iter();
        let mut hidden = Vec::new();
        let mut args = Vec::with_capacity(opened.len());
        for (param, declared) in opened.iter().zip(poly.params()) {
            args.push(match own_params.next().filter(|_| !declared.inferred) {
                Some(own) => own.as_arg(),
                None if visible.contains(&param.id()) || declared.kind == Kind::BaseType => {
                    self.solver.table.open_param(declared)
                }
                None => {
                    let param = self.solver.table.fresh_param(declared.clone(), false);
                    hidden.push(param.clone());
                    param.as_arg()
                }
            });
        }
        let (found, constraints) = self.solver.table.instantiate_with(&poly, &args);
        // What the bodies say decides, if they have changed their mind.
        if self.solver.table.unify(node, found).is_err() {
            return (Vec::new(), Vec::new());
        }
        // The other constraints are over what is the same at all uses: recursive calls have them already.
        let mut over = own.to_vec();
        let mut kept = Vec::new();
        for constraint in constraints {
            if !constraint.args.iter().any(|ty| mentions(ty, &over)) {
                continue;
            }
            if let Some(result) = constraint.args.last() {
                let is_in = |param: &&Param| mentions(result, std::slice::from_ref(*param));
                over.extend(hidden.iter().filter(is_in).cloned());
            }
            kept.push(constraint);
        }
        hidden.retain(|param| over.contains(param));
        (hidden, kept)
    }

    /// Records the type of a function that is bound to a variable, if it uses that.
    pub(super) fn learn_function(
        &mut self,
        at: UnitRef,
        function: FnId,
        binder: BinderId,
        (start, value): (ExprId, ExprId),
        node: NodeId,
    ) {
        let unit = self.unit(at);
        let is_used =
            |expr| matches!(unit.expr(ExprId(expr)), Expr::Bound(used) if *used == binder);
        if !unit.fns[function.index()].type_params.is_empty() && (start.0..value.0).any(is_used) {
            let ty = self.solver.table.resolve(node);
            self.learn_type((at, Some(function)), &ty);
        }
    }

    /// Gives relations that have one rule and equal arguments one result, in a run that knows the constraints of
    /// recursive functions: a recursive call with the same type parameters has them a second time.
    pub(super) fn unify_equal_relations(&mut self) {
        if self.learned.recursive.is_empty() {
            return;
        }
        let mut known: FxHashMap<(RelationKey, Vec<Type>), NodeId> = FxHashMap::default();
        // The arguments of a relation are results of earlier ones.
        for id in self.relations_from(0) {
            let entry = self.solver.entry(id);
            if entry.state != State::Waiting || self.batch.given.contains(&id) {
                continue;
            }
            let Some(&result) = entry.args.last() else { continue };
            let key = entry.relation.key();
            let mut inputs = self.solver.arg_types(id);
            inputs.pop();
            match known.entry((key, inputs)) {
                Entry::Vacant(entry) => {
                    entry.insert(result);
                }
                Entry::Occupied(entry) => {
                    if self.solver.table.unify(*entry.get(), result).is_ok() {
                        self.solver.release(id);
                    }
                }
            }
        }
    }
}
