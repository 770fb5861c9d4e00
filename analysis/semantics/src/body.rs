//! Bodies: the lowered code of definitions.
//!
//! A body is a list of *units*: the header, each statement of the outermost block, and its tail
//! expression:
//!
//! ```text
//! def @f(%x: Tensor[(2), float32]) {   // unit 0: the header
//!   let %y = exp(%x);                  // unit 1: `%y`, uses the free name `%x`
//!   add(%x, %y)                        // unit 2: the tail
//! }
//! ```
//!
//! A unit is independent of its position and of the units around it, so that an edit replaces only
//! the units that it touches, and the others are shared with the previous revision. Ranges are in the
//! [`SourceMap`] beside the body. Its expressions
//! are in the order of evaluation; a branch or a function body is a range of them. Passes over a
//! body are loops instead of recursive functions, because a network may nest deeply.

mod index;
mod pattern;
mod problem;
mod reference;
mod source;

use std::sync::Arc;

use operators::Operator;
use smallvec::SmallVec;
use smol_str::SmolStr;
use types::{AttrValue, Attrs, DataType, Kind, Param, RelationKey, Releases, Shape, Type};

use crate::list::List;

use crate::features::UnitFeatures;
pub use index::UnitsSummary;
pub(crate) use index::{has_meta, name_bit};
pub use pattern::{Arm, Match, Pattern, PatternKind};
pub use problem::{
    Problem, ProblemKind, PythonCall, PythonExpr, PythonPart, PythonText, UnqualifiedCall,
};
pub use reference::{ExprRef, LocalRef};
pub use source::{SourceMap, UnitRanges};

/// The name of a variable, global, constructor or type, with its sigil where it has one.
pub type Name = SmolStr;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
            pub struct $name(pub u32);

            impl $name {
                /// Returns the index in its list.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    /// A unit of a body.
    UnitId,
    /// An expression of a unit.
    ExprId,
    /// A variable bound in a unit.
    BinderId,
    /// A free name of a unit: used in it, and bound outside of it.
    FreeId,
    /// A function expression of a unit.
    FnId,
    /// A `match` expression of a unit.
    MatchId,
    /// A call of a unit.
    CallId,
    /// The range of a part of a unit that is not an expression, in the source map.
    RangeId,
}

impl UnitId {
    /// The header.
    pub const HEADER: UnitId = UnitId(0);
}

/// The units of a body.
pub type Units = List<Arc<Unit>, UnitsSummary>;

/// The lowered code of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The header, the statements, and the tail expression.
    pub units: Units,
    /// The summary of all units.
    pub summary: UnitsSummary,
}

/// The header, a statement or the tail expression of a definition.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// The kind of the unit.
    pub kind: UnitKind,
    /// Expressions in the order of evaluation.
    pub exprs: Vec<Expr>,
    /// Variables bound anywhere in the unit.
    pub binders: Vec<Binder>,
    /// The free names of the unit.
    pub frees: Vec<FreeName>,
    /// Function expressions; the header is one.
    pub fns: Vec<Function>,
    /// `match` expressions.
    pub matches: Vec<Match>,
    /// Calls.
    pub calls: Vec<CallData>,
    /// The value of the statement, or the tail expression.
    pub root: Option<ExprId>,
    /// The variable that the unit binds for the following units.
    pub binds: Option<BinderId>,
    /// The type names that are resolved in the module.
    pub type_uses: Vec<TypeUse>,
    /// `/* ty=… */` comments.
    pub type_comments: Vec<TypeComment>,
    /// The errors that lowering finds.
    pub problems: Vec<Problem>,
    /// The kinds of constructs in the unit.
    pub features: UnitFeatures,
    /// True if the unit binds one variable to a value that depends on every free name in it: a tree of calls, tuples
    /// and projections.
    pub(crate) is_one_value: bool,
    /// The releases of TVM that write all calls of the unit.
    pub releases: Releases,
    /// Other releases than 0.14 in which a call may have another meaning.
    pub other: Releases,
    /// A bit for each name that is bound in the unit.
    pub(crate) name_summary: u64,
    pub(crate) index: index::LazyIndex,
}

impl PartialEq for Unit {
    fn eq(&self, other: &Unit) -> bool {
        // The other fields follow from these.
        self.kind == other.kind
            && self.exprs == other.exprs
            && self.binders == other.binders
            && self.frees == other.frees
            && self.fns == other.fns
            && self.matches == other.matches
            && self.calls == other.calls
            && self.root == other.root
            && self.binds == other.binds
            // Undeclared names of shapes do not occur in types.
            && self.type_uses == other.type_uses
            && self.type_comments == other.type_comments
            && self.problems == other.problems
    }
}

impl Eq for Unit {}

/// The kind of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnitKind {
    /// The parameters and the result type; empty for a bare expression.
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
    /// The tail expression.
    Tail,
}

/// An expression, or a step of the evaluation without a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A syntax error.
    Missing,
    /// A number or boolean.
    Literal(Literal),
    /// `Constant(1, (10, 10), float32)`
    Filled(Box<FilledTensor>),
    /// A variable bound in this unit.
    Bound(BinderId),
    /// A variable bound outside of the unit.
    Free(FreeId),
    /// `%input.1`: the variable of that name, or a projection of `%input`.
    Dotted {
        /// The whole text as a name.
        whole: FreeId,
        /// The tuple, if it is a projection.
        tuple: ExprId,
        /// The field, if it is a projection.
        index: u32,
    },
    /// `@f`
    Global(Name),
    /// `nn.relu` or `Cons`: an operator or a constructor that is not called.
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
        /// The `then` branch.
        then: Region,
        /// The `else` branch.
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

    /// The condition of the following `if` is evaluated.
    Condition(ExprId),
    /// The parameters of a function come into scope.
    EnterFn(FnId),
    /// The patterns of a `match` come into scope.
    EnterMatch(MatchId),
    /// Declares the name of a recursive function before its parameters and body.
    Declare(BinderId),
    /// A variable is bound to a value.
    Bind {
        /// The variable.
        binder: BinderId,
        /// Its value.
        value: ExprId,
        /// The first expression of the evaluation of the value.
        start: ExprId,
    },
}

impl Expr {
    /// Returns true if this is a step of the evaluation without an expression in the text.
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

/// A range of the expressions of a unit: a branch, an arm or a function body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// The first expression.
    pub start: u32,
    /// The index after the last expression.
    pub end: u32,
    /// The tail expression of the region.
    pub result: ExprId,
}

/// A number or boolean, as written.
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
        /// Without a suffix, the data type in the comment after it: before TVM 0.9, `3 /* ty=int64 */` is
        /// printed so.
        claimed: Option<DataType>,
    },
    /// A floating point number.
    Float {
        /// The bits of its value.
        bits: u64,
        /// The data type of its suffix.
        dtype: Option<DataType>,
        /// As of integers: in TVM 0.6 and 0.7, `1.5 /* ty=float64 */`.
        claimed: Option<DataType>,
    },
}

/// `Constant(1, (10, 10), float32)`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilledTensor {
    /// The value of every element.
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
    /// The type in the comment after it.
    pub claimed: Option<Type>,
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binder {
    /// The name, with the sigil.
    pub name: Name,
    /// The range of the name.
    pub range: RangeId,
    /// The kind of binding.
    pub kind: BinderKind,
    /// The annotation.
    pub annotation: Option<Type>,
}

/// The kind of the construct that binds a variable.
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

/// A free name of a unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreeName {
    /// The name, with the sigil.
    pub name: Name,
    /// The range of the first use.
    pub range: RangeId,
    /// Set if the name is projected, and may be part of a longer name.
    pub dotted: bool,
    /// Set if this is such a longer name, and may be a projection.
    pub whole: bool,
}

/// A function: a definition's header, or a function expression.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// `[A, B]`
    pub type_params: Vec<Param>,
    /// The parameters.
    pub params: Vec<BinderId>,
    /// The type after `->`.
    pub ret: Option<Type>,
    /// The relations of a `where` clause.
    pub relations: Vec<WhereRelation>,
    /// The body; `None` for a header, because the following units are its body.
    pub body: Option<Region>,
    /// Attributes: `Primitive=1`.
    pub attrs: Vec<(SmolStr, AttrValue)>,
}

/// One relation of a `where` clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WhereRelation {
    /// `Broadcast`, with its attributes
    pub relation: RelationKey,
    /// The related types; the default is the parameters and the result.
    pub args: Option<Vec<Type>>,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallData {
    /// The callee.
    pub callee: Callee,
    /// The range of the callee.
    pub callee_range: RangeId,
    /// The arguments.
    pub args: SmallVec<[ExprId; 4]>,
    /// The attributes, checked against the schema of the operator.
    pub attrs: Attrs,
    /// True if the attributes are valid; otherwise they are reported, and the call has no type.
    pub trusted: bool,
    /// True if the list of arguments has no syntax errors: the number of arguments of `add(%x, ;`
    /// is unknown.
    pub whole: bool,
    /// The attributes as written.
    pub written: Vec<WrittenAttr>,
    /// `meta[relay.attrs.X][0]` instead of attributes.
    pub meta_attrs: Option<Box<(SmolStr, u32)>>,
    /// `<T, (10, 10)>`
    pub type_args: Box<[Type]>,
    /// Set if the call is written with an infix operator: `%a + %b`.
    pub infix: bool,
    /// Set if the operator has the name of the manual, not that of TVM: `mul`.
    pub alias: bool,
    /// The releases of TVM that write a call like this one.
    pub releases: Releases,
}

/// A callee.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// An operator, unless the module has a constructor of the same name.
    Operator(&'static Operator),
    /// A name that is not an operator: a constructor, or unknown.
    Name(Name),
    /// Any expression.
    Expr(ExprId),
}

/// An attribute as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenAttr {
    /// Its name.
    pub name: SmolStr,
    /// The range of the name.
    pub name_range: RangeId,
    /// Its value.
    pub value: AttrValue,
    /// The range of the value.
    pub value_range: RangeId,
}

/// A use of a type name that is resolved in the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeUse {
    /// `List`
    pub name: Name,
    /// Its arguments.
    pub args: Box<[Type]>,
    /// The expected kind: a type, except in `Tensor[s, float32]` and `Tensor[(n, 3), float32]`.
    pub expected: Kind,
    /// The range.
    pub range: RangeId,
}

/// A `/* ty=… */` comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeComment {
    /// The subject of the comment.
    pub subject: Subject,
    /// The range of the type in the comment.
    pub range: RangeId,
    /// The length of what follows the type in the comment, in bytes: of `span=…`, and of the end of the comment.
    pub rest: u32,
    /// The text of the type.
    pub text: SmolStr,
}

/// The subject of a type comment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Subject {
    /// An expression.
    Expr(ExprId),
    /// A variable.
    Binder(BinderId),
}

impl Body {
    /// Returns a unit.
    pub fn unit(&self, unit: UnitId) -> &Arc<Unit> {
        &self.units[unit.index()]
    }

    /// Returns a unit and those after it.
    pub fn units_from(
        &self,
        first: UnitId,
    ) -> impl DoubleEndedIterator<Item = (UnitId, &Arc<Unit>)> + ExactSizeIterator {
        self.units().skip(first.index())
    }

    /// Returns the units with their identities.
    pub fn units(
        &self,
    ) -> impl DoubleEndedIterator<Item = (UnitId, &Arc<Unit>)> + ExactSizeIterator {
        self.units.iter().enumerate().map(|(at, unit)| (UnitId(at as u32), unit))
    }

    /// Returns the function of the header.
    pub fn header(&self) -> Option<&Function> {
        self.units.first().and_then(|unit| unit.header())
    }
}
