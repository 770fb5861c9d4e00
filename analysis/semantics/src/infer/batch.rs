//! The state of inference for the units that are solved together, until their types are frozen.

use rustc_hash::{FxHashMap, FxHashSet};
use types::{NodeId, Param, ParamId, RelationId, Type};

use super::{DeclaredSignature, Finding, Instance, UnitRef, constants};
use crate::body::{BinderId, ExprId, FnId, LocalRef, Name};

/// The units that are inferred together: a unit alone, or those whose types depend on each other.
#[derive(Default)]
pub(super) struct Batch {
    /// The units.
    pub(super) units: Vec<OpenUnit>,
    /// The index of each unit in `units`.
    pub(super) indices: FxHashMap<UnitRef, usize>,
    /// Nodes of variables bound outside the batch, one per variable, so that sharing is preserved.
    pub(super) imported: FxHashMap<(u32, LocalRef), NodeId>,
    /// The expression that each relation originates from.
    pub(super) origins: Vec<(UnitRef, ExprId)>,
    /// The number of relations that have been reported.
    pub(super) reported: usize,
    /// Globals with one type for all uses in the definition: those of which only a part of the type
    /// is known, and all of them if the whole group is inferred in one table.
    pub(super) globals: FxHashMap<Name, NodeId>,
    /// Written type parameters of functions, with their counterparts in the table.
    pub(super) rigid: FxHashMap<ParamId, Param>,
    /// The written data type parameters, with their counterparts in the table.
    pub(super) restrictable: Vec<(UnitRef, ParamId, Param)>,
    /// Variables that are bound to constants of open data types.
    pub(super) constants: constants::Constants,
    /// Relations of `where` clauses.
    pub(super) given: Vec<RelationId>,
    /// The first relation inside each function with type parameters.
    pub(super) first_relations: FxHashMap<(UnitRef, FnId), usize>,
    /// Undecided relations whose results have been replaced by the error type.
    pub(super) given_up: FxHashSet<RelationId>,
    /// Recursive functions declared before their bodies, by unit and number.
    pub(super) declared: FxHashMap<(UnitRef, FnId), DeclaredSignature>,
    /// The result of the current definition, if it is inferred statement by statement.
    pub(super) result: Option<NodeId>,
    /// True if an inferred type is more general than the written one.
    pub(super) generalised: bool,
}

impl Batch {
    /// Ends the batch: nothing of it remains but the memory of its collections, which the next one uses. That all
    /// fields are named here is what keeps a new one from being forgotten.
    pub(super) fn clear(&mut self) {
        let Batch {
            units,
            indices,
            imported,
            origins,
            reported,
            globals,
            rigid,
            restrictable,
            constants,
            given,
            first_relations,
            given_up,
            declared,
            result,
            generalised,
        } = self;
        units.clear();
        indices.clear();
        imported.clear();
        origins.clear();
        globals.clear();
        rigid.clear();
        restrictable.clear();
        given.clear();
        first_relations.clear();
        given_up.clear();
        declared.clear();
        *constants = constants::Constants::default();
        (*reported, *result, *generalised) = (0, None, false);
    }
}

/// A unit whose types are not frozen yet.
pub(super) struct OpenUnit {
    pub(super) at: UnitRef,
    pub(super) exprs: Vec<NodeId>,
    pub(super) binders: Vec<Option<NodeId>>,
    pub(super) findings: Vec<Finding>,
    /// The types of free names and globals, compared before the memo is reused.
    pub(super) inputs: Vec<Type>,
    /// Uses of polymorphic types, with the data types chosen for literals.
    pub(super) instances: Vec<(ExprId, Instance)>,
    /// Variables of polymorphic types, with the parameters that stand for data types of literals.
    pub(super) numeric: Vec<(BinderId, Vec<Param>)>,
    /// Function expressions with such parameters of their own.
    pub(super) functions: Vec<(FnId, Vec<Param>)>,
    /// Literals whose data type is chosen by each use of a constant.
    pub(super) constants: Vec<(ExprId, Param)>,
    /// Expressions whose type is assumed because of an error.
    pub(super) assumed: Vec<ExprId>,
}
