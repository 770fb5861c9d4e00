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
    .or(UnitFeatures::GLOBAL)
    .or(UnitFeatures::CONSTRUCTOR)
    .or(UnitFeatures::TYPE_USE)
    .or(UnitFeatures::META)
    .or(UnitFeatures::FREE_VARIABLE);

/// The statements of a body that have been solved, by content.
#[derive(Default)]
pub(super) struct Repeated {
    solved: FxHashMap<u64, (Arc<Unit>, Arc<UnitTypes>)>,
}

/// The hash of a statement's content and of the types that it takes from outside.
#[derive(Clone, Copy)]
pub(super) struct Key(u64);

impl Key {
    /// Returns the key of a unit, if its types follow from its content and `inputs` alone.
    ///
    /// Not of a unit that takes its meaning from definitions elsewhere, or has literals of open data
    /// types; nor where an input is broken, or has a `?`, which may change in the solver when it
    /// meets a size. The inputs begin with those of the free names, in their order.
    pub(super) fn of(unit: &Unit, inputs: &[Type]) -> Option<Key> {
        let is_binding = matches!(unit.kind, UnitKind::Let | UnitKind::Graph);
        let is_plain = !unit.features.has(DEPENDENT)
            && unit.problems.is_empty()
            && unit.fns.iter().all(|function| function.type_params.is_empty());
        let is_open = Flags::ANY.or(Flags::ERROR).or(Flags::POLY).or(Flags::HOLE);
        let is_usable = |(number, ty): (usize, &Type)| match ty {
            // `%t.0` is a projection, unless a variable of that name has a type.
            Type::Error => unit.frees.get(number).is_some_and(|free| free.whole),
            _ => !ty.flags().has(is_open),
        };
        if !is_binding || !is_plain || !inputs.iter().enumerate().all(is_usable) {
            return None;
        }
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
        Some(Key(hasher.finish()))
    }
}

impl Repeated {
    /// Returns the types of a statement that was solved before with the same content and inputs.
    pub(super) fn get(&self, key: Key, unit: &Unit, inputs: &[Type]) -> Option<&Arc<UnitTypes>> {
        let (known, types) = self.solved.get(&key.0)?;
        (types.inputs[..] == *inputs && computes_the_same(known, unit)).then_some(types)
    }

    /// Remembers the types of a statement. Findings are left out, since they name places.
    pub(super) fn insert(&mut self, key: Key, unit: &Arc<Unit>, types: &Arc<UnitTypes>) {
        let is_plain = types.alone
            && !types.open
            && !types.generalised
            && types.findings.is_empty()
            && types.numeric.is_none()
            && types.assumed.is_none();
        if is_plain {
            self.solved.insert(key.0, (unit.clone(), types.clone()));
        }
    }
}

/// Returns true if two units are equal but for names and places.
fn computes_the_same(a: &Unit, b: &Unit) -> bool {
    fn each<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
    }
    a.kind == b.kind
        && a.exprs == b.exprs
        && a.fns == b.fns
        && a.root == b.root
        && a.binds == b.binds
        && each(&a.calls, &b.calls, |a, b| {
            a.callee == b.callee
                && a.args == b.args
                && a.attrs == b.attrs
                && (a.trusted, a.whole, a.infix) == (b.trusted, b.whole, b.infix)
                && a.meta_attrs == b.meta_attrs
                && a.type_args == b.type_args
        })
        && each(&a.binders, &b.binders, |a, b| a.kind == b.kind && a.annotation == b.annotation)
        && each(&a.frees, &b.frees, |a, b| (a.dotted, a.whole) == (b.dotted, b.whole))
        && each(&a.type_comments, &b.type_comments, |a, b| {
            a.subject == b.subject && a.text == b.text
        })
}
