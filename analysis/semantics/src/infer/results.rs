//! The results of inference.

use std::sync::Arc;

use smol_str::SmolStr;
use types::{DTypeTerm, Param, Type};

use super::{Finding, bits::Bits};
use crate::{body::*, list::List};

/// The types of a body.
#[derive(Clone, Debug, Default, Eq)]
pub struct Inference {
    /// Types of each unit.
    pub units: List<Arc<UnitTypes>>,
    /// The type of the definition, or of the expression.
    pub signature: Option<Type>,
    /// True if some type is more general than the written one, or unknown: TVM may infer other
    /// types.
    pub generalised: bool,
    /// True if the types are those that TVM infers.
    pub(crate) strict: bool,
    /// The type parameters of the definition that stand for data types of literals.
    pub numeric: Vec<Param>,
    /// True if a reference of the definition holds one type for all its users.
    pub(crate) weak: bool,
    /// The assumptions after an error, and their consequences.
    pub(super) assumptions: Assumptions,
    /// The numbers of the units with anything besides types, in order; see [`UnitTypes::has_findings`].
    pub(super) units_with_findings: Vec<u32>,
    /// The names of the type parameters of the signature. They take no part in the equality of
    /// types, but messages show them.
    pub(super) names: Box<[SmolStr]>,
}

/// The types of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitTypes {
    /// The type of each expression.
    pub exprs: Box<[Type]>,
    /// The type of each variable.
    pub binders: Box<[Type]>,
    /// The findings of inference, without places.
    pub findings: Box<[Finding]>,
    /// The numbers of type comments that disagree with the inferred types.
    pub stale: Box<[u32]>,
    /// The inputs of the unit; see `Infer::add_inputs`.
    pub(super) inputs: Box<[Type]>,
    /// True if the unit was a batch of its own.
    pub(super) alone: bool,
    /// True if some type is left open.
    pub(super) open: bool,
    /// True if a type of the batch is more general than the written one.
    pub(super) generalised: bool,
    /// Data types of literals that are chosen by uses.
    pub numeric: Option<Box<Numeric>>,
    /// The expressions whose types are assumed because of an error, not those that depend on them.
    pub(super) assumed: Box<[ExprId]>,
}

/// Literals whose data types are chosen where a function or constant is used, for evaluation: in
/// `let %inc = fn (%x) { add(%x, 1) };` the `1` has the data type of the argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numeric {
    /// Uses of polymorphic types, with the data types that they choose, in the order of expressions.
    pub uses: Vec<(ExprId, Vec<DTypeTerm>)>,
    /// Variables of polymorphic types, with the parameters that stand for such data types.
    pub binders: Vec<(BinderId, Vec<Param>)>,
    /// Function expressions that are not bound to a variable, with such parameters of their own.
    pub functions: Vec<(FnId, Vec<Param>)>,
    /// Literals of constants, with the parameters that stand for their data types.
    pub literals: Vec<(ExprId, Param)>,
    /// Variables bound to constants, with the types that their uses have instances of.
    pub schemes: Vec<(BinderId, Type)>,
}

impl PartialEq for Inference {
    fn eq(&self, other: &Inference) -> bool {
        let Inference { units, signature, generalised, strict, numeric, weak, .. } = self;
        // Compare the fields that differ most often, and cost least, first.
        *signature == other.signature
            && (*generalised, *strict, *weak) == (other.generalised, other.strict, other.weak)
            && self.units_with_findings == other.units_with_findings
            && self.assumptions == other.assumptions
            && *numeric == other.numeric
            && self.names == other.names
            && *units == other.units
    }
}

impl Inference {
    /// Returns the units with anything besides plain types, among them all with findings, stale
    /// comments or open types, in order.
    pub(crate) fn units_with_findings(&self) -> impl Iterator<Item = (UnitId, &UnitTypes)> {
        self.units_with_findings.iter().map(|&unit| (UnitId(unit), &*self.units[unit as usize]))
    }

    /// Returns the findings of all units, in order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.units_with_findings().flat_map(|(_, types)| &types.findings)
    }
}

impl UnitTypes {
    /// Returns true if there is anything besides closed types: findings, stale comments, assumptions, or types that
    /// were inferred together with those of other units. Few units have it, and what looks for them would read all
    /// units at every keystroke.
    pub(super) fn has_findings(&self) -> bool {
        !self.alone
            || self.open
            || self.generalised
            || !self.findings.is_empty()
            || !self.stale.is_empty()
            || !self.assumed.is_empty()
    }

    /// Returns true if the unit had these inputs.
    pub(super) fn has_inputs(&self, inputs: &[Type]) -> bool {
        let same = |(now, then): (&Type, &Type)| then.is_same(now) || then == now;
        inputs.len() == self.inputs.len() && inputs.iter().zip(&self.inputs).all(same)
    }

    /// Returns true if a type of the batch is more general than the written one.
    pub(crate) fn is_generalised(&self) -> bool {
        self.generalised
    }

    /// The type of an expression.
    pub fn expr(&self, expr: ExprId) -> &Type {
        self.exprs.get(expr.index()).unwrap_or(&Type::Error)
    }

    /// The type that uses of a variable have, or have instances of.
    pub(super) fn use_of(&self, binder: BinderId) -> &Type {
        let schemes = self.numeric.as_deref().map_or(&[][..], |numeric| &numeric.schemes);
        let scheme = schemes.iter().find(|(own, _)| *own == binder);
        scheme.map_or_else(|| self.binder(binder), |(_, ty)| ty)
    }

    /// The type of a variable.
    pub fn binder(&self, binder: BinderId) -> &Type {
        self.binders.get(binder.index()).unwrap_or(&Type::Error)
    }
}

/// The assumptions of a body, and what depends on them.
///
/// Inference does not know them: what depends on an assumed type has the same type, so that a
/// statement that is broken for a while does not change those after it. The findings that depend on
/// assumptions are removed at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Assumptions {
    /// True if anything is assumed.
    pub(super) are_any: bool,
    /// The units of which all variables have types that depend on assumed types.
    pub(super) units: Bits,
    /// Such variables of other units, in order.
    pub(super) variables: Vec<LocalRef>,
    /// The units with findings that depend on assumed types, before those were removed.
    pub(super) unfiltered: Vec<(u32, Arc<UnitTypes>)>,
}

impl Assumptions {
    /// Returns true if nothing is assumed.
    pub(super) fn is_empty(&self) -> bool {
        !self.are_any
    }

    /// Returns a unit with all its findings, if those that depend on assumptions were removed.
    pub(super) fn unfiltered(&self, unit: usize) -> Option<&Arc<UnitTypes>> {
        let at = self.unfiltered.binary_search_by_key(&unit, |(unit, _)| *unit as usize).ok()?;
        Some(&self.unfiltered[at].1)
    }

    /// Returns true if the type of a variable depends on an assumed type.
    pub(super) fn hold_for(&self, binding: LocalRef) -> bool {
        let key = |binding: &LocalRef| (binding.unit, binding.binder.index());
        self.units.get(binding.unit.index())
            || !self.variables.is_empty()
                && self.variables.binary_search_by_key(&key(&binding), key).is_ok()
    }
}
