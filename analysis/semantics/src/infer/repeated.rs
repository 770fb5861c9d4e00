//! Statements that compute the same from the same types, solved once.
//!
//! An unrolled network has thousands of statements and a dozen distinct ones:
//!
//! ```text
//! %4 = multiply(%2, %3) /* ty=Tensor[(1, 64), float32] */;
//! %9 = multiply(%7, %8) /* ty=Tensor[(1, 64), float32] */;
//! ```
//!
//! The table is keyed by content: what a statement computes, without names and places, and the types
//! that it takes from outside. It lives as long as one run of inference, so that results cannot
//! depend on earlier edits. A table that outlived the run was rejected: it would have to be evicted,
//! and the first statement of each kind costs little.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};
use types::{Flags, Type};

use super::UnitTypes;
use crate::{body::*, features::UnitFeatures};

/// The features of units whose types depend on more than their content and inputs.
const DEPENDENT: UnitFeatures = UnitFeatures::BARE_INT
    .union(UnitFeatures::GLOBAL)
    .union(UnitFeatures::CONSTRUCTOR)
    .union(UnitFeatures::TYPE_USE)
    .union(UnitFeatures::META)
    .union(UnitFeatures::FREE_VARIABLE);

/// The statements of a body that have been solved, by content.
#[derive(Default)]
pub(super) struct SolvedUnits {
    solved: FxHashMap<u64, Solved>,
    /// The statements that were found or solved last, with the inputs that they were found with.
    /// These are compared by address, which costs less than hashing them.
    recent: [Option<(Solved, Box<[Type]>)>; 4],
    /// The next place in `recent`.
    next: usize,
}

/// A solved statement.
type Solved = (Arc<Unit>, Arc<UnitTypes>);

/// Returns true if the types of a unit follow from its content and `inputs` alone.
///
/// Not those of a unit that takes its meaning from definitions elsewhere, or has literals of open
/// data types. `inputs` begin with those of the free names, whose variables are `bindings`. A `?` in
/// an input may change in the solver when it meets a size; the body is then inferred as a whole.
pub(super) fn has_key(
    unit: &Unit,
    inputs: &[Type],
    bindings: impl Iterator<Item = Option<LocalRef>>,
) -> bool {
    let is_binding = matches!(unit.kind, UnitKind::Let | UnitKind::Graph);
    let is_plain = !unit.features.intersects(DEPENDENT)
        && unit.problems.is_empty()
        && unit.fns.iter().all(|function| function.type_params.is_empty());
    if !is_binding || !is_plain {
        return false;
    }
    unit.frees.len() <= inputs.len()
        && unit.frees.iter().zip(bindings).zip(inputs).all(|((free, binding), ty)| match ty {
            _ if binding.is_none() => true,
            // `%t.0` is a projection, unless a variable of that name has a type.
            Type::Error => !free.whole,
            ty => !ty.flags().has(Flags::POLY.or(Flags::HOLE)),
        })
}

/// Returns the hash of a statement's content and of the types that it takes from outside.
fn hash(unit: &Unit, inputs: &[Type]) -> u64 {
    let mut hasher = FxHasher::default();
    unit.exprs.len().hash(&mut hasher);
    for call in &unit.calls {
        if let Callee::Operator(operator) = call.callee {
            std::ptr::hash(operator, &mut hasher);
        }
        call.attrs.hash(&mut hasher);
    }
    for binder in &unit.binders {
        binder.annotation.hash(&mut hasher);
    }
    inputs.hash(&mut hasher);
    hasher.finish()
}

impl SolvedUnits {
    /// Returns the types of a statement that was solved before with the same content and inputs.
    pub(super) fn get(&mut self, unit: &Unit, inputs: &[Type]) -> Option<Arc<UnitTypes>> {
        let is_same = |(a, b): (&Type, &Type)| a.is_same(b);
        let recent = self.recent.iter().flatten().find(|((known, _), found_with)| {
            found_with.len() == inputs.len()
                && found_with.iter().zip(inputs).all(is_same)
                && computes_the_same(known, unit)
        });
        if let Some(((_, types), _)) = recent {
            return Some(types.clone());
        }
        let found = self.solved.get(&hash(unit, inputs));
        let found = found
            .filter(|(known, types)| types.inputs[..] == *inputs && computes_the_same(known, unit));
        let solved = found?.clone();
        let types = solved.1.clone();
        self.add_recent(solved, inputs.into());
        Some(types)
    }

    fn add_recent(&mut self, solved: Solved, inputs: Box<[Type]>) {
        self.recent[self.next] = Some((solved, inputs));
        self.next = (self.next + 1) % self.recent.len();
    }

    /// Remembers the types of a statement. Findings are left out, since they name places.
    pub(super) fn insert(&mut self, unit: &Arc<Unit>, types: &Arc<UnitTypes>) {
        let is_plain = types.alone
            && !types.open
            && !types.generalised
            && types.findings.is_empty()
            && types.numeric.is_none();
        if is_plain {
            let solved = (unit.clone(), types.clone());
            self.solved.insert(hash(unit, &types.inputs), solved.clone());
            self.add_recent(solved, types.inputs.clone());
        }
    }
}

/// Returns true if two units are equal but for names and places.
pub(super) fn computes_the_same(a: &Unit, b: &Unit) -> bool {
    if std::ptr::eq(a, b) {
        return true;
    }
    fn each<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
    }
    // Statements that are compared often differ in their operators.
    each(&a.calls, &b.calls, |a, b| {
        a.callee == b.callee
            && a.args == b.args
            && a.attrs == b.attrs
            && (a.trusted, a.whole, a.infix) == (b.trusted, b.whole, b.infix)
            && a.meta_attrs == b.meta_attrs
            && a.type_args == b.type_args
    }) && a.kind == b.kind
        && a.exprs == b.exprs
        && a.fns == b.fns
        && a.root == b.root
        && a.binds == b.binds
        && each(&a.binders, &b.binders, |a, b| a.kind == b.kind && a.annotation == b.annotation)
        && each(&a.frees, &b.frees, |a, b| (a.dotted, a.whole) == (b.dotted, b.whole))
        && each(&a.type_comments, &b.type_comments, |a, b| {
            a.subject == b.subject && a.text == b.text
        })
}
