//! The findings of inference, as facts about a unit; `check` renders them.

use operators::Operator;
use smol_str::SmolStr;
use types::{Conflict, Reason, Table, Type, map_leaves};

use crate::body::*;

/// A finding of inference in a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The type relation of a call does not hold.
    Relation {
        /// The call, or a use of a function whose constraint does not hold.
        expr: ExprId,
        /// The reason.
        reason: Box<Reason>,
    },
    /// The type relation of a call is undecided, but the type is known from an annotation.
    Undecided {
        /// The call.
        expr: ExprId,
        /// The reason why it is undecided.
        reason: Box<Reason>,
    },
    /// The type relation of a call holds, but its operator cannot compute it.
    Uncomputable {
        /// The call.
        expr: ExprId,
        /// The reason.
        reason: Box<Reason>,
    },
    /// The type of an expression cannot be inferred.
    Unknown {
        /// The expression.
        expr: ExprId,
        /// The first argument whose type is missing, for a call.
        argument: Option<usize>,
        /// The reason why the relation gives no type.
        reason: Option<Box<Reason>>,
    },
    /// The type of a variable cannot be inferred.
    UnknownVariable(BinderId),
    /// TVM cannot infer the type of an expression.
    OpenExpr(ExprId),
    /// TVM cannot infer the type of a variable.
    OpenVariable(BinderId),
    /// Two types that must be equal differ.
    Mismatch {
        /// The reason why they must be equal.
        what: Mismatch,
        /// The type found.
        found: Type,
        /// The expected type.
        expected: Type,
        /// The part in which they differ.
        conflict: Box<Conflict>,
    },
    /// The condition of an `if` is not a scalar `bool`.
    Condition {
        /// The condition.
        expr: ExprId,
        /// Its type.
        ty: Type,
    },
    /// A call of a value that is not a function.
    NotCallable {
        /// The call.
        call: ExprId,
        /// The type of the callee.
        ty: Type,
    },
    /// A function called with itself, which would have an infinite type.
    SelfApplication {
        /// The call.
        call: ExprId,
    },
    /// A variable with a type of higher rank: a part of the type, or the type of a parameter, is
    /// polymorphic.
    HigherRank {
        /// The use of the variable.
        expr: ExprId,
        /// Its type.
        ty: Type,
    },
    /// A rule that does not hold for every instance of a type parameter.
    Unproven {
        /// The call.
        expr: ExprId,
        /// The rule with its types.
        constraint: types::Constraint,
    },
    /// A type that exceeds the limit on the size or the depth of types.
    TypeTooLarge {
        /// The first expression of such a type.
        expr: ExprId,
    },
    /// A use of a polymorphic type that exceeds the limit on type parameters and relations.
    TooGeneral {
        /// The use.
        expr: ExprId,
        /// The number of its type parameters and relations.
        open: usize,
    },
    /// Inference stopped, because it exceeded the limit on memory.
    Budget {
        /// The first expression without a type.
        expr: ExprId,
    },
    /// A literal without suffix that does not fit its data type.
    NumberRange {
        /// The literal.
        expr: ExprId,
        /// Its value.
        value: i64,
        /// The data type that the context requires.
        dtype: types::DataType,
    },
    /// A call with too few or too many arguments.
    Arity {
        /// The call.
        call: ExprId,
        /// The number of parameters.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
    /// An operator without a type relation.
    NoRule {
        /// The call.
        expr: ExprId,
        /// The operator.
        operator: &'static Operator,
    },
    /// A name that is neither an operator nor a constructor.
    UnknownName {
        /// The use.
        expr: ExprId,
        /// The name.
        name: Name,
    },
    /// A global that the module does not define.
    UnknownGlobal {
        /// The use.
        expr: ExprId,
        /// The name.
        name: Name,
    },
    /// A projection of a value that is not a tuple, or of a field that does not exist.
    Projection {
        /// The projection.
        expr: ExprId,
        /// The field.
        index: u32,
        /// The type of the projected value.
        ty: Type,
    },
    /// A pattern of a constructor that does not exist.
    UnknownConstructor {
        /// The pattern.
        range: RangeId,
        /// The name.
        name: Name,
    },
    /// A constructor pattern with the wrong number of fields.
    PatternArity {
        /// The pattern.
        range: RangeId,
        /// The constructor; `None` for a tuple.
        name: Option<Name>,
        /// The number of fields.
        expected: usize,
        /// The number of patterns.
        found: usize,
    },
    /// A pattern that does not match the type of the value.
    PatternType {
        /// The pattern.
        range: RangeId,
        /// The type of the pattern.
        pattern: Type,
        /// The type of the matched value.
        scrutinee: Type,
    },
    /// Values that no arm of a total `match` matches.
    NotExhaustive {
        /// The `match`.
        expr: ExprId,
        /// Patterns for these values.
        missing: Vec<String>,
    },
    /// An unreachable arm.
    Unreachable {
        /// The `match`.
        expr: ExprId,
        /// The arm.
        arm: usize,
    },
    /// A call with the wrong number of type arguments.
    TypeArgs {
        /// The call.
        call: ExprId,
        /// The number of type parameters.
        expected: usize,
        /// The number of type arguments.
        found: usize,
    },
    /// A type argument of the wrong kind.
    TypeArgKind {
        /// The call.
        call: ExprId,
        /// The index of the type argument.
        index: usize,
        /// The kind of the type parameter.
        expected: types::Kind,
    },
    /// A `where` clause names a relation that does not exist.
    UnknownRelation {
        /// The name in the text.
        range: RangeId,
        /// The name.
        name: SmolStr,
    },
    /// A reference to a missing entry of the metadata section.
    Metadata {
        /// The use.
        expr: ExprId,
        /// `relay.Constant`
        key: SmolStr,
        /// `0`
        index: u32,
        /// True if the module has a section.
        section: bool,
    },
    /// A constant without a type comment in a module without a metadata section.
    UntypedConstant {
        /// The use.
        expr: ExprId,
    },
}

/// The reason why two types must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A variable's annotation and its value.
    Annotation {
        /// The variable.
        binder: BinderId,
        /// The value.
        value: ExprId,
    },
    /// The declared result of a function and its body.
    Result {
        /// The function expression; `None` for the definition.
        function: Option<FnId>,
        /// The tail expression.
        value: ExprId,
    },
    /// An argument and its parameter.
    Argument {
        /// The call.
        call: ExprId,
        /// The index of the argument.
        index: usize,
    },
    /// The two branches of an `if`.
    Branches {
        /// The tail of the `then` branch.
        then: ExprId,
        /// The tail of the `else` branch.
        otherwise: ExprId,
    },
    /// An arm of a `match` and the arms before it.
    Arm {
        /// The `match`.
        expr: ExprId,
        /// The index of the arm.
        arm: usize,
    },
    /// The annotation of a pattern variable and the matched value.
    Pattern {
        /// The variable.
        binder: BinderId,
    },
    /// A read or write of a value that is not a reference.
    Reference {
        /// The value.
        reference: ExprId,
    },
    /// The value written to a reference and the type of the reference.
    Write {
        /// The value.
        value: ExprId,
    },
}

impl Finding {
    /// Makes the types in a finding independent of the table: literals get their decided data
    /// types, and unknown types become the error type.
    pub(super) fn freeze(&mut self, table: &Table) {
        let freeze = |ty: &mut Type| {
            if ty.is_closed() {
                return;
            }
            *ty = map_leaves(ty, &mut |leaf| match leaf {
                Type::OpenTensor(open) => table.known_dtype(open),
                other => other.clone(),
            })
            .for_message();
        };
        match self {
            Finding::Mismatch { found, expected, conflict, .. } => {
                [found, expected, &mut conflict.left, &mut conflict.right]
                    .into_iter()
                    .for_each(freeze);
            }
            Finding::Condition { ty, .. }
            | Finding::NotCallable { ty, .. }
            | Finding::HigherRank { ty, .. }
            | Finding::Projection { ty, .. } => freeze(ty),
            Finding::Unproven { constraint, .. } => {
                constraint.args.iter_mut().for_each(freeze);
            }
            Finding::PatternType { pattern, scrutinee, .. } => {
                [pattern, scrutinee].into_iter().for_each(freeze);
            }
            _ => {}
        }
    }

    /// Returns true for an unresolved name, which is an error even in unused code.
    pub fn is_unresolved_name(&self) -> bool {
        matches!(
            self,
            Finding::UnknownName { .. }
                | Finding::UnknownGlobal { .. }
                | Finding::UnknownConstructor { .. }
                | Finding::Metadata { .. }
        )
    }

    /// Returns true if the finding is an error of the program, as opposed to a limit of inference.
    pub fn is_error(&self) -> bool {
        !matches!(
            self,
            Finding::Undecided { .. }
                | Finding::Uncomputable { .. }
                | Finding::NoRule { .. }
                | Finding::Unreachable { .. }
                | Finding::UntypedConstant { .. }
        )
    }
}
