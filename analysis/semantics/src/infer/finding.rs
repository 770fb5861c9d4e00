//! What inference finds wrong, in terms of the unit.

use operators::Operator;
use smol_str::SmolStr;
use types::{Conflict, Reason, Table, Type, map_leaves};

use crate::body::*;

/// Something that inference has to say about a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The type relation of a call does not hold.
    Relation {
        /// The call, or a use of a function whose constraint does not hold.
        expr: ExprId,
        /// Why.
        reason: Box<Reason>,
    },
    /// The type relation of a call neither holds nor fails; something else decided the type.
    Undecided {
        /// The call.
        expr: ExprId,
        /// What kept it.
        reason: Box<Reason>,
    },
    /// The type relation of a call holds, but its operator cannot compute it.
    Uncomputable {
        /// The call.
        expr: ExprId,
        /// What it cannot do.
        reason: Box<Reason>,
    },
    /// A type that nothing decides.
    Unknown {
        /// Of what.
        expr: ExprId,
        /// The first argument whose type is missing, for a call.
        argument: Option<usize>,
        /// What kept the relation from giving a type.
        reason: Option<Box<Reason>>,
    },
    /// A variable without a type.
    UnknownVariable(BinderId),
    /// An expression that has a type, but none that TVM finds.
    OpenExpr(ExprId),
    /// A variable that has a type, but none that TVM finds.
    OpenVariable(BinderId),
    /// Two types that must be one are not.
    Mismatch {
        /// What demands it.
        what: Mismatch,
        /// What was found.
        found: Type,
        /// What was wanted.
        wanted: Type,
        /// Where they differ.
        conflict: Box<Conflict>,
    },
    /// The condition of an `if` is not a truth value.
    Condition {
        /// The condition.
        expr: ExprId,
        /// Its type.
        ty: Type,
    },
    /// A call of something that is no function.
    NotCallable {
        /// The call.
        call: ExprId,
        /// What is called.
        ty: Type,
    },
    /// A function that is called with itself, so that its type would contain itself.
    SelfApplication {
        /// The call.
        call: ExprId,
    },
    /// A variable of a type of rank above 1: polymorphic in a part, or the parameter of a function
    /// though it is polymorphic.
    HigherRank {
        /// The use of the variable.
        expr: ExprId,
        /// Its type.
        ty: Type,
    },
    /// A rule that does not hold for every type that a type parameter may be.
    Unproven {
        /// The call.
        expr: ExprId,
        /// The rule with its types.
        constraint: types::Constraint,
    },
    /// A type that is larger or deeper than types may be.
    TypeTooLarge {
        /// The first expression of such a type.
        expr: ExprId,
    },
    /// A use of a polymorphic type of more type parameters and relations than a type may have.
    TooGeneral {
        /// The use.
        expr: ExprId,
        /// How many they are.
        open: usize,
    },
    /// Inference has been given up, because it takes too much room.
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
        /// The data type that its surroundings need.
        dtype: types::DataType,
    },
    /// A call with too few or too many arguments.
    Arity {
        /// The call.
        call: ExprId,
        /// How many are wanted.
        wanted: usize,
        /// How many are given.
        found: usize,
    },
    /// An operator that has no type relation here.
    NoRule {
        /// The call.
        expr: ExprId,
        /// The operator.
        operator: &'static Operator,
    },
    /// A name that is neither an operator nor a constructor.
    UnknownName {
        /// Where it is used.
        expr: ExprId,
        /// The name.
        name: Name,
    },
    /// A global that the module does not define.
    UnknownGlobal {
        /// Where it is used.
        expr: ExprId,
        /// The name.
        name: Name,
    },
    /// A projection of something that is no tuple, or past its end.
    Projection {
        /// The projection.
        expr: ExprId,
        /// The field.
        index: u32,
        /// What is projected.
        ty: Type,
    },
    /// A pattern of a constructor that does not exist.
    UnknownConstructor {
        /// Where the pattern stands.
        range: syntax::TextRange,
        /// The name.
        name: Name,
    },
    /// A constructor pattern with the wrong number of fields.
    PatternArity {
        /// Where the pattern stands.
        range: syntax::TextRange,
        /// The constructor, or nothing for a tuple.
        name: Option<Name>,
        /// How many fields there are.
        wanted: usize,
        /// How many patterns are given.
        found: usize,
    },
    /// A pattern that does not fit the type it is matched against.
    PatternType {
        /// Where the pattern stands.
        range: syntax::TextRange,
        /// The type of the pattern.
        pattern: Type,
        /// The type matched on.
        scrutinee: Type,
    },
    /// Values that no arm of a total `match` takes.
    NotExhaustive {
        /// The `match`.
        expr: ExprId,
        /// Patterns for them, spelled out.
        missing: Vec<String>,
    },
    /// An arm that can never run.
    Unreachable {
        /// The `match`.
        expr: ExprId,
        /// The arm.
        arm: usize,
    },
    /// Type arguments at a call that takes another number of them.
    TypeArgs {
        /// The call.
        call: ExprId,
        /// How many type parameters there are.
        wanted: usize,
        /// How many arguments are given.
        found: usize,
    },
    /// A type argument of the wrong kind.
    TypeArgKind {
        /// The call.
        call: ExprId,
        /// Which argument.
        index: usize,
        /// What the parameter stands for.
        wanted: types::Kind,
    },
    /// A `where` clause names a relation that does not exist.
    UnknownRelation {
        /// Where the name stands.
        range: syntax::TextRange,
        /// The name.
        name: SmolStr,
    },
    /// A reference into the metadata section that leads nowhere.
    Metadata {
        /// Where it is used.
        expr: ExprId,
        /// `relay.Constant`
        key: SmolStr,
        /// `0`
        index: u32,
        /// Whether the module has a section at all.
        section: bool,
    },
    /// A constant from a metadata section that is not there and has no type comment.
    UntypedConstant {
        /// Where it is used.
        expr: ExprId,
    },
}

/// What demands that two types are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A variable's annotation and its value.
    Annotation {
        /// The variable.
        binder: BinderId,
        /// The value.
        value: ExprId,
    },
    /// The result written for a function and its body.
    Result {
        /// The function expression, or nothing for the definition.
        function: Option<FnId>,
        /// The expression that gives the result.
        value: ExprId,
    },
    /// An argument and the parameter it is for.
    Argument {
        /// The call.
        call: ExprId,
        /// Which argument.
        index: usize,
    },
    /// The two branches of an `if`.
    Branches {
        /// One.
        then: ExprId,
        /// The other.
        otherwise: ExprId,
    },
    /// An arm of a `match` and the arms before it.
    Arm {
        /// The `match`.
        expr: ExprId,
        /// Which arm.
        arm: usize,
    },
    /// A pattern variable's annotation and what it is matched against.
    Pattern {
        /// The variable.
        binder: BinderId,
    },
    /// What is read from or written to something that is no reference.
    Reference {
        /// What should be a reference.
        reference: ExprId,
    },
    /// What is written to a reference and what it holds.
    Write {
        /// The value.
        value: ExprId,
    },
}

impl Finding {
    /// Makes the types in a finding types that stand outside of the table: literals get the data
    /// types that they have got since, and what is not known is the error type.
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
            Finding::Mismatch { found, wanted, conflict, .. } => {
                [found, wanted, &mut conflict.left, &mut conflict.right]
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

    /// Whether a name means nothing, which is wrong whether or not the expression is needed.
    pub fn is_about_name(&self) -> bool {
        matches!(
            self,
            Finding::UnknownName { .. }
                | Finding::UnknownGlobal { .. }
                | Finding::UnknownConstructor { .. }
                | Finding::Metadata { .. }
        )
    }

    /// Whether the finding is about the program, and not only about what is known of it.
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
