//! Variables that are bound to constants whose types their uses choose.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use types::{DTypeTerm, NodeId, Param, PolyType, Table, Type, TypeArg, Var};

use super::At;
use crate::body::*;

/// A variable that is bound to a constant of a polymorphic type: `let %one = 1;`, `%0 = Nil;`.
///
/// Each use chooses its type, and evaluates the constant anew where that makes a difference. By
/// itself it is shown as what its uses make of it, where they agree, as TVM prints it.
pub(super) struct ConstantBinding {
    /// The statement that binds it.
    pub(super) at: At,
    /// The variable.
    pub(super) binder: BinderId,
    /// The first and the last expression that is evaluated for it.
    pub(super) exprs: (ExprId, ExprId),
    /// The type that its uses have instances of.
    pub(super) scheme: Type,
    /// The type that it is shown to have, which is not polymorphic.
    pub(super) shown: NodeId,
    /// What is open in that type, with the type parameters of the other.
    pub(super) vars: Vec<(Var, Param)>,
    /// What uses make of them.
    pub(super) uses: Vec<Vec<TypeArg>>,
}

/// The constants of the open stretch, in the order in which they are bound.
#[derive(Default)]
pub(super) struct Constants {
    bindings: Vec<ConstantBinding>,
    /// The binding of each scheme, by the address of the scheme, which the binding keeps alive.
    by_scheme: FxHashMap<*const PolyType, usize>,
}

impl Constants {
    pub(super) fn push(&mut self, constant: ConstantBinding) {
        if let Type::Poly(scheme) = &constant.scheme {
            self.by_scheme.insert(Arc::as_ptr(scheme), self.bindings.len());
        }
        self.bindings.push(constant);
    }

    /// Notes a use of `poly`, if that is the scheme of a constant.
    pub(super) fn note_use(&mut self, poly: &PolyType, args: &[TypeArg]) {
        if let Some(&index) = self.by_scheme.get(&std::ptr::from_ref(poly)) {
            self.bindings[index].uses.push(args.to_vec());
        }
    }

    /// The bindings.
    pub(super) fn bindings(&self) -> &[ConstantBinding] {
        &self.bindings
    }
}

impl ConstantBinding {
    /// The type parameter that a data type is in the value, where `expr` is a part of it.
    pub(super) fn param(&self, expr: ExprId, dtype: &DTypeTerm, table: &Table) -> Option<Param> {
        let (start, end) = self.exprs;
        let root = table.dtype_root(dtype).filter(|_| (start..=end).contains(&expr))?;
        self.vars.iter().find(|(var, _)| *var == root).map(|(_, param)| param.clone())
    }

    /// Returns true if all that is open is known.
    pub(super) fn settle(&self, table: &mut Table) -> bool {
        let mut all = true;
        for (i, (var, _)) in self.vars.iter().enumerate() {
            if !table.is_open(*var) {
                continue;
            }
            let args: Vec<TypeArg> =
                self.uses.iter().filter_map(|args| Some(table.refresh_arg(args.get(i)?))).collect();
            let mut known = args.iter().filter(|arg| arg.is_known());
            let first = known.next();
            let agree = first.is_some_and(|first| known.all(|other| other == first));
            all &= agree && first.is_some_and(|first| table.settle(*var, first));
        }
        all
    }

    /// Decides what no use has decided: literals are what they are by themselves, the rest may be
    /// anything. Returns the type parameters in what is shown.
    pub(super) fn decide(&self, table: &mut Table) -> Vec<Param> {
        let mut left = Vec::new();
        for (var, param) in &self.vars {
            if !matches!(var, Var::DType(_)) && table.is_open(*var) {
                table.requantify(*var, param);
                left.push(param.clone());
            }
        }
        left
    }
}
