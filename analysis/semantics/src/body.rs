//! Bodies: what a definition computes, with names resolved as far as the definition tells.
//!
//! A body is a list of *units*: the header, each statement of the outermost block, the expression
//! at its end. A unit knows nothing of its place in the file or of the units around it, so an edit
//! replaces the units it touches and leaves the others as they are, in memory too. Inside a unit,
//! expressions stand in the order in which they are evaluated and typed; what belongs to a branch
//! or a function is a stretch of that list. No pass over a body recurses.

mod index;

use std::sync::Arc;

use operators::{Operator, attrs::AttrProblem};
use smallvec::SmallVec;
use smol_str::SmolStr;
use syntax::{TextRange, TextSize};
use types::{AttrValue, Attrs, DataType, Dim, Kind, Param, Shape, Type};

use crate::traits::Traits;

/// The name of a variable, global, constructor or type, with its sigil where it has one.
pub type Name = SmolStr;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub struct $name(pub u32);

            impl $name {
                /// The position in its list.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    /// An expression of a unit.
    ExprId,
    /// A variable bound in a unit.
    BinderId,
    /// A name used in a unit and bound outside of it.
    FreeId,
    /// A function expression of a unit.
    FnId,
    /// A `match` expression of a unit.
    MatchId,
    /// A call of a unit.
    CallId,
}

/// What a definition computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The header, then the statements, then the expression at the end.
    pub units: Vec<Arc<Unit>>,
    /// Where each unit begins, counted from the start of the definition.
    pub starts: Vec<TextSize>,
}

/// A piece of a definition that is understood on its own.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// What the unit is.
    pub kind: UnitKind,
    /// Expressions in the order of evaluation.
    pub exprs: Vec<Expr>,
    /// Where each expression stands, counted from the start of the unit.
    pub ranges: Vec<TextRange>,
    /// Variables bound anywhere in the unit.
    pub binders: Vec<Binder>,
    /// Names that the unit takes from outside.
    pub frees: Vec<Free>,
    /// Function expressions; the header is one.
    pub fns: Vec<Function>,
    /// `match` expressions.
    pub matches: Vec<Match>,
    /// Calls.
    pub calls: Vec<CallData>,
    /// The value of the statement, or the expression at the end.
    pub root: Option<ExprId>,
    /// What the unit binds for those behind it.
    pub binds: Option<BinderId>,
    /// Types written, as far as names in them have to be looked up.
    pub type_uses: Vec<TypeUse>,
    /// `/* ty=… */` comments.
    pub evidence: Vec<Evidence>,
    /// What is wrong with the unit on its own.
    pub problems: Vec<Problem>,
    /// What is in it.
    pub traits: Traits,
    /// Bytes of the unit.
    pub len: u32,
    pub(crate) index: index::Lazy,
}

impl PartialEq for Unit {
    fn eq(&self, other: &Unit) -> bool {
        // Everything in a unit follows from its text, and equal lists mean equal text up to white
        // space that moves nothing.
        self.kind == other.kind
            && self.len == other.len
            && self.exprs == other.exprs
            && self.ranges == other.ranges
            && self.binders == other.binders
            && self.frees == other.frees
            && self.fns == other.fns
            && self.matches == other.matches
            && self.calls == other.calls
            // Names of shapes that are not declared are in no type.
            && self.type_uses == other.type_uses
            && self.evidence == other.evidence
            && self.problems == other.problems
    }
}

impl Eq for Unit {}

/// What a unit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnitKind {
    /// Parameters and result of the definition; an empty one for a bare expression.
    #[default]
    Header,
    /// `let %x = e;`
    Let,
    /// `%0 = e;`
    Graph,
    /// `free_var %x: T;`
    FreeVar,
    /// `e;`
    Sequence,
    /// The expression at the end.
    Tail,
}

/// An expression, or a step that types and binds without a value of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// Something that could not be read.
    Missing,
    /// A number or truth value.
    Literal(Literal),
    /// `Constant(1, (10, 10), float32)`
    Filled(Box<Filled>),
    /// A variable bound in this unit.
    Bound(BinderId),
    /// A variable bound outside.
    Free(FreeId),
    /// `%input.1`: the variable of that name, or a projection of `%input`.
    Dotted {
        /// The whole as a name.
        whole: FreeId,
        /// The tuple, if it is a projection.
        tuple: ExprId,
        /// The field, if it is a projection.
        index: u32,
    },
    /// `@f`
    Global(Name),
    /// `nn.relu` or `Cons`: an operator or a constructor, where it is not called.
    Name(Name),
    /// `meta[relay.Constant][0]`
    Meta(Box<MetaRef>),
    /// `(a, b)`
    Tuple(SmallVec<[ExprId; 4]>),
    /// `t.0`
    Proj {
        /// The tuple.
        tuple: ExprId,
        /// The field.
        index: u32,
    },
    /// `f(a, b)`
    Call(CallId),
    /// `if (c) { a } else { b }`
    If {
        /// The condition.
        cond: ExprId,
        /// One branch.
        then: Region,
        /// The other.
        otherwise: Region,
    },
    /// `match (e) { … }`
    Match(MatchId),
    /// `fn (%x) { … }`
    Fn(FnId),
    /// `ref(e)`
    RefNew(ExprId),
    /// `ref_read(r)`
    RefRead(ExprId),
    /// `ref_write(r, e)`
    RefWrite(ExprId, ExprId),

    /// The condition of the `if` that follows has been evaluated.
    Condition(ExprId),
    /// The parameters of a function come into scope.
    EnterFn(FnId),
    /// The patterns of a `match` come into scope.
    EnterMatch(MatchId),
    /// A function is about to be bound to a name that it may use itself. Its parameters follow.
    Declare(BinderId),
    /// A variable is bound to a value.
    Bind {
        /// The variable.
        binder: BinderId,
        /// Its value.
        value: ExprId,
        /// The first expression that is evaluated for the value.
        start: ExprId,
    },
}

impl Expr {
    /// Whether this is a step of the evaluation and no expression of the text.
    pub fn is_step(&self) -> bool {
        matches!(
            self,
            Expr::Condition(_)
                | Expr::EnterFn(_)
                | Expr::EnterMatch(_)
                | Expr::Declare(_)
                | Expr::Bind { .. }
        )
    }
}

/// A stretch of the expressions of a unit that is evaluated together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// The first expression.
    pub start: u32,
    /// The first expression behind it.
    pub end: u32,
    /// Whose value is the value of the region.
    pub result: ExprId,
}

/// A number or truth value, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Literal {
    /// `True`
    Bool(bool),
    /// An integer.
    Int {
        /// Its value.
        value: i64,
        /// The data type of its suffix.
        dtype: Option<DataType>,
    },
    /// A floating point number.
    Float {
        /// The bits of its value.
        bits: u64,
        /// The data type of its suffix.
        dtype: Option<DataType>,
    },
}

/// `Constant(1, (10, 10), float32)`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filled {
    /// What every element is.
    pub value: Literal,
    /// The shape.
    pub shape: Shape,
    /// The data type.
    pub dtype: DataType,
}

/// `meta[relay.Constant][0]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetaRef {
    /// `relay.Constant`
    pub key: SmolStr,
    /// `0`
    pub index: u32,
    /// The type in the comment behind it.
    pub claimed: Option<Type>,
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binder {
    /// Its name, with the sigil.
    pub name: Name,
    /// Where the name stands.
    pub range: TextRange,
    /// What kind of binding it is.
    pub kind: BinderKind,
    /// The type written, if one is.
    pub annotation: Option<Type>,
}

/// Where a variable is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinderKind {
    /// A parameter.
    Param,
    /// `let`
    Let,
    /// `%0 = …`
    Graph,
    /// A pattern.
    Pattern,
    /// `free_var`
    Free,
}

/// A name that a unit uses and does not bind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Free {
    /// The name, with the sigil.
    pub name: Name,
    /// Where it is used first.
    pub range: TextRange,
    /// It stands under a dot, and may be part of a longer name.
    pub dotted: bool,
    /// It is such a longer name, and may be a projection.
    pub whole: bool,
}

/// A function: a definition's header, or a function expression.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// `[A, B]`
    pub type_params: Vec<Param>,
    /// The parameters.
    pub params: Vec<BinderId>,
    /// The type written behind `->`.
    pub ret: Option<Type>,
    /// Relations of a `where` clause, by name, with their arguments if they are written.
    pub relations: Vec<WhereRelation>,
    /// The body; a header has none, its body is the units behind it.
    pub body: Option<Region>,
    /// Attributes: `Primitive=1`.
    pub attrs: Vec<(SmolStr, AttrValue)>,
}

/// One relation of a `where` clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WhereRelation {
    /// `Broadcast`
    pub name: SmolStr,
    /// Where the name stands.
    pub range: TextRange,
    /// The types related; without them, the parameters and the result.
    pub args: Option<Vec<Type>>,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallData {
    /// What is called.
    pub callee: Callee,
    /// Where the callee stands.
    pub callee_range: TextRange,
    /// The arguments.
    pub args: SmallVec<[ExprId; 4]>,
    /// The attributes, by the operator's declaration.
    pub attrs: Attrs,
    /// Whether the attributes are what was meant; where they are not, that is said, and the call
    /// has no type.
    pub trusted: bool,
    /// Whether the list of arguments could be read to its end: `add(%x, ;` says nothing about how
    /// many there are.
    pub whole: bool,
    /// The attributes as written.
    pub written: Vec<WrittenAttr>,
    /// `meta[relay.attrs.X][0]` in the place of attributes.
    pub meta_attrs: Option<(SmolStr, u32)>,
    /// `<T, (10, 10)>`
    pub type_args: Vec<TypeArg>,
    /// The call is spelled with an operator sign: `%a + %b`.
    pub infix: bool,
}

/// What is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// An operator, unless the module has a constructor of its name.
    Operator(&'static Operator),
    /// A name that is no operator: a constructor, or unknown.
    Name(Name),
    /// Any expression.
    Expr(ExprId),
}

/// A type or shape given to a type parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeArg {
    /// A type.
    Type(Type),
    /// A shape.
    Shape(SmallVec<[Dim; 4]>),
}

/// An attribute as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenAttr {
    /// Its name.
    pub name: SmolStr,
    /// Where the name stands.
    pub name_range: TextRange,
    /// Its value.
    pub value: AttrValue,
    /// Where the value stands.
    pub value_range: TextRange,
}

/// A `match` expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Match {
    /// What is matched on.
    pub scrutinee: ExprId,
    /// `match?`: values that no arm takes are an error when they occur.
    pub partial: bool,
    /// The arms.
    pub arms: Vec<Arm>,
}

/// An arm of a `match`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// What it gives.
    pub body: Region,
}

/// A pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Where it stands.
    pub range: TextRange,
    /// What it takes.
    pub kind: PatternKind,
}

/// What a pattern takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PatternKind {
    /// `_`, or something that could not be read.
    Wildcard,
    /// `%x`
    Var(BinderId),
    /// `Cons(%x, _)`
    Constructor(Name, Vec<Pattern>),
    /// `(%a, _)`
    Tuple(Vec<Pattern>),
}

/// A use of a type name that the module has to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeUse {
    /// `List`
    pub name: Name,
    /// How many arguments it is given.
    pub args: usize,
    /// What belongs there: a type, but in `Tensor[s, float32]` and `Tensor[(n, 3), float32]`.
    pub wanted: Kind,
    /// Where it stands.
    pub range: TextRange,
}

/// A `/* ty=… */` comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// What the comment is about.
    pub about: Subject,
    /// Where the type stands in the comment.
    pub range: TextRange,
    /// The type as it is written there.
    pub text: SmolStr,
}

/// What a type is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// An expression.
    Expr(ExprId),
    /// A variable.
    Binder(BinderId),
}

/// What is wrong with a unit on its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub range: TextRange,
    /// What.
    pub kind: ProblemKind,
}

/// What can be wrong with a unit on its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProblemKind {
    /// An attribute does not fit the operator's declaration.
    Attr {
        /// The operator.
        operator: &'static Operator,
        /// The attribute, where one is written.
        name: SmolStr,
        /// What is wrong.
        problem: AttrProblem,
    },
    /// Attributes at a call that takes none.
    AttrsNotTaken {
        /// What is called.
        callee: SmolStr,
        /// Where that stands.
        callee_range: TextRange,
    },
    /// The attributes of this operator reach TVM only through the metadata section.
    DetachedAttrs(&'static Operator),
    /// A type parameter of the wrong kind: `Tensor[t, float32]` with `t : Type`.
    Kind {
        /// The parameter.
        param: Param,
        /// What belongs there.
        wanted: types::Kind,
    },
    /// An unknown kind: `fn<t : Foo>`.
    UnknownKind(SmolStr),
    /// A data type that is none.
    UnknownDType(SmolStr),
    /// A type relation that is none, behind a function type.
    UnknownRelation(SmolStr),
    /// A number too large for its data type.
    NumberRange {
        /// As written.
        text: SmolStr,
        /// The data type.
        dtype: DataType,
    },
    /// A number suffix that names no data type.
    NumberSuffix(SmolStr),
    /// A negative size.
    NegativeDim(i64),
    /// A second parameter of one name.
    DuplicateParam(Name),
    /// A graph variable bound as a parameter or by `let`, a local variable bound without `let`.
    BadBinder {
        /// What is bound.
        name: Name,
        /// How.
        kind: BinderKind,
    },
    /// A type parameter that takes no arguments is given some.
    ParamWithArgs(Param),
    /// An attribute before an argument.
    ArgAfterAttr,
    /// `_` in a field of a constructor: `type Box { Wrap(_) }`.
    OpenField,
}

impl ProblemKind {
    /// Whether TVM refuses the text for it.
    pub fn is_error(&self) -> bool {
        match self {
            ProblemKind::Attr { problem, .. } => problem.is_error(),
            _ => true,
        }
    }
}

impl Body {
    /// The header of the definition.
    pub fn header(&self) -> Option<&Function> {
        self.units.first().and_then(|unit| unit.header())
    }

    /// Where a unit stands, counted from the start of the definition.
    pub fn unit_range(&self, unit: usize) -> TextRange {
        TextRange::at(self.starts[unit], self.units[unit].len.into())
    }
}

/// Whether a value stands in the metadata section, or a part of it does.
pub(crate) fn has_meta(value: &AttrValue) -> bool {
    match value {
        AttrValue::Meta { .. } => true,
        AttrValue::List(values) => values.iter().any(has_meta),
        _ => false,
    }
}
