//! What a comparison finds: data, of which others make text.

use semantics::body::Name;
use smol_str::SmolStr;
use syntax::TextRange;
use types::{AttrValue, Type};

/// The difference between two modules.
#[derive(Clone, Debug, Default)]
pub struct ModuleDiff {
    /// Nothing but names, order, notation and comments differs.
    pub equal: bool,
    /// The functions: those of the module before in order, then those that are new.
    pub functions: Vec<FunctionDiff>,
    /// Definitions other than functions that differ.
    pub types: Vec<TypeDiff>,
}

/// A data type that differs.
#[derive(Clone, Debug)]
pub struct TypeDiff {
    /// The place before; `None` for a new one.
    pub before: Option<TextRange>,
    /// The place after; `None` for one that is gone.
    pub after: Option<TextRange>,
    /// Its name.
    pub name: Name,
}

/// The difference between two functions.
#[derive(Clone, Debug, Default)]
pub struct FunctionDiff {
    /// The function before; `None` for a new one.
    pub before: Option<FunctionRef>,
    /// The function after; `None` for one that is gone.
    pub after: Option<FunctionRef>,
    /// Nothing but names, order, notation and comments differs.
    pub equal: bool,
    /// Expressions that belong together, in the order of the text after, each pair once.
    pub pairs: Vec<Pair>,
    /// Expressions that nothing belongs to after.
    pub removed: Vec<Lost>,
    /// Expressions that nothing belongs to before.
    pub added: Vec<Lost>,
    /// Calls of operators before, as often as they are made.
    pub calls_before: usize,
    /// Calls of operators after.
    pub calls_after: usize,
    /// The functions on both sides have hardly anything in common: the pairs are a guess.
    pub is_guess: bool,
}

/// A function of one side.
#[derive(Clone, Debug)]
pub struct FunctionRef {
    /// Its name, with the sigil; empty for a bare expression.
    pub name: Name,
    /// The definition.
    pub range: TextRange,
    /// What is outside of the function calls it only as a part of others, where its calls are
    /// compared.
    pub is_part: bool,
}

/// An expression without partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The place.
    pub range: TextRange,
    /// What is called there; empty where nothing is.
    pub operator: SmolStr,
}

/// The relation of the two expressions of a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PairKind {
    /// They are the same, given that their operands are.
    Same,
    /// They differ as `changes` says.
    Changed,
    /// One of them stands in a function that is compiled as one.
    Fused,
    /// One of them stands in a function that is called in the place of the other.
    Inlined,
    /// A constant, or a call that is made once, and one of those that it came from.
    Folded,
    /// An operator, and one of those that it was expanded to.
    Expanded,
}

impl PairKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            PairKind::Same => "same",
            PairKind::Changed => "changed",
            PairKind::Fused => "fused",
            PairKind::Inlined => "inlined",
            PairKind::Folded => "folded",
            PairKind::Expanded => "expanded",
        }
    }
}

/// Two expressions that belong together.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The expression before, without its comment.
    pub before: TextRange,
    /// The expression after, without its comment.
    pub after: TextRange,
    /// How they belong together.
    pub kind: PairKind,
    /// What is called before and after; empty where nothing is.
    pub operators: (SmolStr, SmolStr),
    /// What differs about them, apart from what follows from other changes.
    pub changes: Vec<Change>,
}

/// A difference between two expressions.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// What differs.
    pub what: What,
    /// The name of the attribute, the number of the operand; empty where there is only one of it.
    pub name: SmolStr,
    /// Before.
    pub before: Fact,
    /// After.
    pub after: Fact,
    /// The places of the two, where they are written.
    pub places: (Option<TextRange>, Option<TextRange>),
}

/// The things that can differ about an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    /// What is called.
    Operator,
    /// An attribute of a call or function.
    Attribute,
    /// An operand.
    Operand,
    /// The number of operands.
    Operands,
    /// A constant.
    Value,
    /// A type that is written.
    Annotation,
    /// The data type of the result.
    DataType,
    /// The shape of the result.
    Shape,
    /// The type of the result, where it is no tensor.
    Type,
    /// The field that is taken from a tuple.
    Field,
    /// The patterns of a `match`.
    Patterns,
    /// The place of a function: a group of calls has other members.
    Group,
}

impl What {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            What::Operator => "operator",
            What::Attribute => "attribute",
            What::Operand => "operand",
            What::Operands => "operands",
            What::Value => "value",
            What::Annotation => "annotation",
            What::DataType => "data type",
            What::Shape => "shape",
            What::Type => "type",
            What::Field => "field",
            What::Patterns => "patterns",
            What::Group => "group",
        }
    }
}

/// One side of a change.
#[derive(Clone, PartialEq, Debug)]
pub enum Fact {
    /// It is not there.
    Absent,
    /// An operator, function or constructor.
    Callee(SmolStr),
    /// The value of an attribute.
    Attribute(AttrValue),
    /// A type.
    Type(Type),
    /// An expression, by its place.
    Expr(TextRange),
    /// A number of things.
    Count(usize),
}
