//! The findings of inference, as facts about a unit; `check::findings` renders them.

use operators::Operator;
use smol_str::SmolStr;
use types::{Conflict, ConflictKind, Reason, Table, Type, map_leaves};

use crate::body::*;

/// A finding of inference in a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The part of the unit that it reports.
    pub subject: FindingSubject,
    /// What it follows from.
    pub depends_on: DependsOn,
    /// What is wrong.
    pub kind: FindingKind,
}

/// The part of a unit that a finding reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingSubject {
    /// An expression whose value has no valid type, so that what uses the value is affected.
    Value(ExprId),
    /// A call without a valid type, reported at its callee, or the name of an operator that is a value.
    Call(ExprId),
    /// The value of the statement.
    Statement,
    /// An expression.
    Expr(ExprId),
    /// The callee of a call.
    Callee(ExprId),
    /// A variable.
    Binder(BinderId),
    /// A pattern.
    Pattern(RangeId),
}

/// What a finding follows from. A finding that follows from an assumed type or from a syntax error is not
/// reported: in `%0 = ad(%x, %y); %0.1` the tensor without fields is the fault of `ad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependsOn {
    /// The text of its subject alone.
    Text,
    /// The type of an expression.
    Value(ExprId),
    /// The types of the operands of an expression; for a variable, its own type.
    Operands(ExprId),
    /// The types of the callee and the arguments of a call.
    Call(ExprId),
    /// The number of parameters and arguments of a call.
    ArgumentCount(ExprId),
    /// The type of the tail expression of a function.
    Body(ExprId),
    /// The types of the matched values of the unit.
    Matched,
}

/// A kind of finding. The file of its code in `check::findings` says what a user sees of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// A name refers to nothing: an error even in unused code.
    Unresolved(UnresolvedName),
    /// A limit of inference, or valid code that is unintended, as opposed to an error of the program.
    Remark(Remark),
    /// The type relation of a call, or of a use of a function with a constraint, does not hold.
    Relation {
        /// The operator of the relation.
        operator: &'static str,
        /// The reason.
        reason: Box<Reason>,
    },
    /// The type of an expression cannot be inferred.
    Unknown {
        /// The first argument whose type is missing, for a call.
        argument: Option<usize>,
        /// The reason why the relation gives no type.
        reason: Option<Box<Reason>>,
    },
    /// The type of a variable cannot be inferred.
    UnknownVariable,
    /// TVM alone cannot infer the type of the subject.
    Open,
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
    /// The condition of an `if` has this type instead of a scalar `bool`.
    Condition(Type),
    /// A call of a value of this type, which is not a function.
    NotCallable(Type),
    /// A function called with itself, which would have an infinite type.
    SelfApplication,
    /// A variable of this type of higher rank: a part of the type, or the type of a parameter, is
    /// polymorphic.
    HigherRank(Type),
    /// A rule that does not hold for every instance of a type parameter.
    Unproven(types::Constraint),
    /// A type that exceeds a limit of inference.
    TooLarge(TypeLimit),
    /// Inference stopped, because it exceeded the limit on memory.
    Budget,
    /// A literal without suffix that does not fit its data type.
    NumberRange {
        /// Its value.
        value: i64,
        /// The data type that the context requires.
        dtype: types::DataType,
    },
    /// A call with too few or too many arguments.
    Arity {
        /// The number of parameters.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
    /// An operator as a value, with attributes that have no default.
    ValueAttributes {
        /// The operator.
        operator: &'static Operator,
        /// The attributes.
        missing: Vec<&'static str>,
    },
    /// A projection of a value that is not a tuple, or of a field that does not exist.
    Projection {
        /// The field.
        index: u32,
        /// The type of the projected value.
        ty: Type,
    },
    /// A constructor pattern with the wrong number of fields.
    PatternArity {
        /// The constructor; `None` for a tuple.
        name: Option<Name>,
        /// The number of fields.
        expected: usize,
        /// The number of patterns.
        found: usize,
    },
    /// A pattern that does not match the type of the value.
    PatternType {
        /// The type of the pattern.
        pattern: Type,
        /// The type of the matched value.
        scrutinee: Type,
    },
    /// Values that no arm of a total `match` matches, as patterns.
    NotExhaustive(Vec<String>),
    /// A call with the wrong number of type arguments.
    TypeArgs {
        /// The number of type parameters.
        expected: usize,
        /// The number of type arguments.
        found: usize,
    },
    /// A type argument of the wrong kind.
    TypeArgKind {
        /// The index of the type argument.
        index: usize,
        /// The kind of the type parameter.
        expected: types::Kind,
    },
}

/// A name that refers to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnresolvedName {
    /// Neither an operator nor a constructor.
    Operator(Name),
    /// A global that the module does not define.
    Global(Name),
    /// A constructor of a pattern.
    Constructor(Name),
    /// An entry of the metadata section, such as `meta[relay.Constant][0]`.
    Metadata {
        /// `relay.Constant`
        key: SmolStr,
        /// `0`
        index: u32,
    },
}

/// A finding that is no error of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The type relation of a call is undecided, but the type is known from an annotation.
    Undecided(Box<Reason>),
    /// The type relation of a call holds, but its operator cannot compute it.
    Uncomputable(Box<Reason>),
    /// An operator without a type relation.
    NoRule(&'static Operator),
    /// An unreachable arm.
    Unreachable,
    /// A constant without a type comment in a module without a metadata section.
    UntypedConstant,
}

/// A limit on types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeLimit {
    /// The size or the depth of a type.
    Size,
    /// The number of type parameters and relations of a polymorphic type, of which this one has too many.
    Parameters(usize),
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
    /// A branch of an `if`, or an arm of a `match`, and another one, whose type is expected.
    Branch {
        /// The `if` or `match`.
        expr: ExprId,
        /// The index of the branch.
        branch: usize,
        /// The index of the other one.
        other: usize,
        /// True if the expected type is the declared one.
        is_declared: bool,
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

impl FindingSubject {
    /// Returns the expression that is the subject, or whose callee is.
    pub fn expr(self, unit: &Unit) -> Option<ExprId> {
        match self {
            FindingSubject::Value(expr)
            | FindingSubject::Call(expr)
            | FindingSubject::Expr(expr)
            | FindingSubject::Callee(expr) => Some(expr),
            FindingSubject::Statement => unit.root,
            FindingSubject::Binder(_) | FindingSubject::Pattern(_) => None,
        }
    }
}

impl Mismatch {
    fn subject(self) -> FindingSubject {
        match self {
            Mismatch::Result { value, .. } => FindingSubject::Value(value),
            Mismatch::Argument { call, .. } => FindingSubject::Call(call),
            Mismatch::Annotation { .. }
            | Mismatch::Branch { .. }
            | Mismatch::Pattern { .. }
            | Mismatch::Reference { .. }
            | Mismatch::Write { .. } => FindingSubject::Statement,
        }
    }

    fn depends_on(self) -> DependsOn {
        match self {
            Mismatch::Annotation { value, .. } | Mismatch::Write { value } => {
                DependsOn::Value(value)
            }
            Mismatch::Reference { reference } => DependsOn::Value(reference),
            Mismatch::Result { value, .. } => DependsOn::Body(value),
            Mismatch::Argument { call, .. } => DependsOn::Call(call),
            Mismatch::Branch { expr, .. } => DependsOn::Operands(expr),
            Mismatch::Pattern { .. } => DependsOn::Matched,
        }
    }
}

impl Finding {
    /// Creates a finding about an expression that follows from the types of its operands.
    pub(super) fn of_operands(expr: ExprId, kind: FindingKind) -> Finding {
        let (subject, depends_on) = (FindingSubject::Value(expr), DependsOn::Operands(expr));
        Finding { subject, depends_on, kind }
    }

    /// Creates a finding about the type of an expression that follows from the types of its operands.
    /// Nothing is wrong with the value itself.
    pub(super) fn of_type(expr: ExprId, kind: FindingKind) -> Finding {
        let (subject, depends_on) = (FindingSubject::Expr(expr), DependsOn::Operands(expr));
        Finding { subject, depends_on, kind }
    }

    /// Creates a finding that follows from the text of its subject.
    pub(super) fn of_text(subject: FindingSubject, kind: FindingKind) -> Finding {
        Finding { subject, depends_on: DependsOn::Text, kind }
    }

    /// Creates a finding about the callee of a call, which follows from the types of the call.
    pub(super) fn of_callee(call: ExprId, kind: FindingKind) -> Finding {
        let (subject, depends_on) = (FindingSubject::Callee(call), DependsOn::Operands(call));
        Finding { subject, depends_on, kind }
    }

    /// Creates the finding of a call of a value that is not a function.
    pub(super) fn not_callable(call: ExprId, ty: Type) -> Finding {
        let (subject, depends_on) = (FindingSubject::Call(call), DependsOn::Call(call));
        Finding { subject, depends_on, kind: FindingKind::NotCallable(ty) }
    }

    /// Creates the finding of a call with the wrong number of arguments.
    pub(super) fn arity(call: ExprId, expected: usize, found: usize) -> Finding {
        let (subject, depends_on) = (FindingSubject::Call(call), DependsOn::ArgumentCount(call));
        Finding { subject, depends_on, kind: FindingKind::Arity { expected, found } }
    }

    /// Creates a finding about a pattern, which follows from the type of the matched value.
    pub(super) fn of_pattern(range: RangeId, kind: FindingKind) -> Finding {
        let (subject, depends_on) = (FindingSubject::Pattern(range), DependsOn::Matched);
        Finding { subject, depends_on, kind }
    }

    /// Creates the finding of two types that must be equal and are not.
    pub(super) fn mismatch(
        what: Mismatch,
        found: Type,
        expected: Type,
        conflict: Box<Conflict>,
    ) -> Finding {
        let kind = FindingKind::Mismatch { what, found, expected, conflict };
        Finding { subject: what.subject(), depends_on: what.depends_on(), kind }
    }

    /// Creates the finding of a use of a type with too many type parameters and relations.
    pub(super) fn too_general(expr: ExprId, open: usize) -> Finding {
        let kind = FindingKind::TooLarge(TypeLimit::Parameters(open));
        Finding::of_text(FindingSubject::Expr(expr), kind)
    }

    /// Makes the types in a finding independent of the table: literals get their decided data
    /// types, and unknown types become the error type.
    pub(super) fn freeze(&mut self, table: &Table) {
        // The data type that would fit is not the default one of numbers alone.
        let is_class = matches!(&self.kind, FindingKind::Mismatch { conflict, .. }
            if matches!(conflict.kind, ConflictKind::Class(_)));
        self.kind.for_each_type(&mut |ty| {
            if is_class {
                *ty = ty.for_message();
            } else if !ty.is_closed() {
                *ty = map_leaves(ty, &mut |leaf| match leaf {
                    Type::OpenTensor(open) => table.known_dtype(open),
                    other => other.clone(),
                })
                .for_message();
            }
        });
    }

    /// Returns true if the finding is an error of the program, as opposed to a limit of inference.
    pub fn is_error(&self) -> bool {
        !matches!(self.kind, FindingKind::Remark(_))
    }

    /// Returns true if a pattern of `found` is ill-typed. Whether its arms are exhaustive means nothing then.
    pub(crate) fn is_in_pattern_of(&self, found: &Match) -> bool {
        matches!(self.subject, FindingSubject::Pattern(range)
            if self.is_error() && found.has_pattern(range))
    }
}

impl FindingKind {
    fn for_each_type(&mut self, visit: &mut dyn FnMut(&mut Type)) {
        use FindingKind::*;
        match self {
            Mismatch { found, expected, conflict, .. } => {
                let conflict = [&mut conflict.left, &mut conflict.right];
                [found, expected].into_iter().chain(conflict).for_each(visit);
            }
            Condition(ty) | NotCallable(ty) | HigherRank(ty) | Projection { ty, .. } => visit(ty),
            Unproven(constraint) => constraint.args.iter_mut().for_each(visit),
            PatternType { pattern, scrutinee } => {
                [pattern, scrutinee].into_iter().for_each(visit);
            }
            Unresolved(_)
            | Remark(_)
            | Relation { .. }
            | Unknown { .. }
            | UnknownVariable
            | Open
            | SelfApplication
            | TooLarge(_)
            | Budget
            | NumberRange { .. }
            | Arity { .. }
            | ValueAttributes { .. }
            | PatternArity { .. }
            | NotExhaustive(_)
            | TypeArgs { .. }
            | TypeArgKind { .. } => {}
        }
    }
}
