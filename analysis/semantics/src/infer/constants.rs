//! Variables bound to constants whose uses determine their types.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use types::{DTypeTerm, NodeId, Param, PolyType, Table, Type, TypeArg, Var};

use super::UnitRef;
use crate::body::*;

/// A variable that is bound to a constant of a polymorphic type: `let %one = 1;`, `%0 = Nil;`.
///
/// Each use instantiates the type. The constant itself is displayed with the type of its uses if
/// they agree, as TVM prints it.
pub(super) struct ConstantBinding {
    /// The statement that binds it.
    pub(super) at: UnitRef,
    /// The variable.
    pub(super) binder: BinderId,
    /// The first and the last expression of the evaluation of its value.
    pub(super) exprs: (ExprId, ExprId),
    /// The polymorphic type.
    pub(super) scheme: Type,
    /// The displayed type, which is not polymorphic.
    pub(super) shown: NodeId,
    /// The variables of the displayed type, with the type parameters of the scheme.
    pub(super) vars: Vec<(Var, Param)>,
    /// The type arguments of the uses.
    pub(super) uses: Vec<Vec<TypeArg>>,
}

/// The constants of the open solver batch, in the order of their bindings.
#[derive(Default)]
pub(super) struct Constants {
    bindings: Vec<ConstantBinding>,
    /// The binding of each scheme, by the address of the scheme, which the binding owns.
    by_scheme: FxHashMap<*const PolyType, usize>,
}

impl Constants {
    pub(super) fn push(&mut self, constant: ConstantBinding) {
        if let Type::Poly(scheme) = &constant.scheme {
            self.by_scheme.insert(Arc::as_ptr(scheme), self.bindings.len());
        }
        self.bindings.push(constant);
    }

    /// Records a use of `poly` if it is the scheme of a constant.
    pub(super) fn note_use(&mut self, poly: &PolyType, args: &[TypeArg]) {
        if let Some(&index) = self.by_scheme.get(&std::ptr::from_ref(poly)) {
            self.bindings[index].uses.push(args.to_vec());
        }
    }

    /// Returns the bindings.
    pub(super) fn bindings(&self) -> &[ConstantBinding] {
        &self.bindings
    }
}

impl ConstantBinding {
    /// Returns the type parameter of the value that a data type corresponds to, if `expr` is part
    /// of a constant.
    pub(super) fn param(&self, expr: ExprId, dtype: &DTypeTerm, table: &Table) -> Option<Param> {
        let (start, end) = self.exprs;
        let root = table.dtype_root(dtype).filter(|_| (start..=end).contains(&expr))?;
        self.vars.iter().find(|(var, _)| *var == root).map(|(_, param)| param.clone())
    }

    /// Decides variables from the uses. Returns true if all are decided.
    pub(super) fn decide_from_uses(&self, table: &mut Table) -> bool {
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
            all &= agree && first.is_some_and(|first| table.bind_arg(*var, first));
        }
        all
    }

    /// Decides the variables without a use: literals have their default types, the rest become type
    /// parameters, which are returned.
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
