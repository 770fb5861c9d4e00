//! The result of a comparison as plain data.

use semantics::body::Name;
use smol_str::SmolStr;
use syntax::TextRange;
use types::{AttrValue, Type};

/// The difference between two modules.
#[derive(Clone, Debug, Default)]
pub struct ModuleDiff {
    /// True if only names, order, notation and comments differ.
    pub equal: bool,
    /// The functions of the module before in order, then the added ones.
    pub functions: Vec<FunctionDiff>,
    /// The data types that differ.
    pub types: Vec<TypeDiff>,
}

/// A data type that differs.
#[derive(Clone, Debug)]
pub struct TypeDiff {
    /// The range before; `None` if the type was added.
    pub before: Option<TextRange>,
    /// The range after; `None` if the type was removed.
    pub after: Option<TextRange>,
    /// The name.
    pub name: Name,
}

/// The difference between two functions.
#[derive(Clone, Debug, Default)]
pub struct FunctionDiff {
    /// The function before; `None` if it was added.
    pub before: Option<FunctionRef>,
    /// The function after; `None` if it was removed.
    pub after: Option<FunctionRef>,
    /// True if only names, order, notation and comments differ.
    pub equal: bool,
    /// The pairs of expressions, in order of the text after, without duplicates.
    pub pairs: Vec<Pair>,
    /// The expressions before that have no partner.
    pub removed: Vec<UnpairedExpr>,
    /// The expressions after that have no partner.
    pub added: Vec<UnpairedExpr>,
    /// The number of operator calls before, counting those of inlined functions at each call.
    pub calls_before: usize,
    /// The number of operator calls after.
    pub calls_after: usize,
    /// True if the functions have so little in common that the pairs are a guess.
    pub is_guess: bool,
}

/// A function of one side.
#[derive(Clone, Debug)]
pub struct FunctionRef {
    /// The name with its sigil; empty for a bare expression.
    pub name: Name,
    /// The range of the definition.
    pub range: TextRange,
    /// True if the function was inlined into its callers, where its calls are compared.
    pub is_part: bool,
}

/// An expression without a partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpairedExpr {
    /// The range.
    pub range: TextRange,
    /// The callee; empty if the expression is not a call.
    pub operator: SmolStr,
}

/// The relation of the two expressions of a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PairKind {
    /// Equal, apart from their operands.
    Same,
    /// Different, as listed in [`Pair::changes`].
    Changed,
    /// One of them is in a fused function.
    Fused,
    /// One of them is in a function whose call replaces the other.
    Inlined,
    /// A constant or shared call, and one of the calls that it replaces.
    Folded,
    /// An operator call, and one of the calls of its expansion.
    Expanded,
}

impl PairKind {
    /// Returns the name of the kind.
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

/// A pair of corresponding expressions.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The range before, without comments.
    pub before: TextRange,
    /// The range after, without comments.
    pub after: TextRange,
    /// The relation of the expressions.
    pub kind: PairKind,
    /// The callees before and after; empty for expressions that are not calls.
    pub operators: (SmolStr, SmolStr),
    /// The fused, composite or external function of each side that contains the expression or, for a
    /// call of such a function, is called. Functions are numbered within their module.
    pub groups: (Option<u32>, Option<u32>),
    /// The differences, apart from consequences of other changes.
    pub changes: Vec<Change>,
}

/// A difference between two expressions.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The property that differs.
    pub what: Property,
    /// The name of the attribute or the 1-based number of the operand; empty for other properties.
    pub name: SmolStr,
    /// The value before.
    pub before: Fact,
    /// The value after.
    pub after: Fact,
    /// The ranges of the property before and after, if it is written.
    pub places: (Option<TextRange>, Option<TextRange>),
}

/// A property in which two expressions can differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// The callee.
    Operator,
    /// An attribute of a call or function.
    Attribute,
    /// An operand.
    Operand,
    /// The number of operands.
    Operands,
    /// A constant.
    Value,
    /// A type annotation.
    Annotation,
    /// The data type of the result.
    DataType,
    /// The shape of the result.
    Shape,
    /// The type of the result in other respects.
    Type,
    /// The field of a projection.
    Field,
    /// The patterns of a `match`.
    Patterns,
    /// The members of a group of calls.
    Group,
}

impl Property {
    /// Returns the name of the property.
    pub fn word(self) -> &'static str {
        match self {
            Property::Operator => "operator",
            Property::Attribute => "attribute",
            Property::Operand => "operand",
            Property::Operands => "operands",
            Property::Value => "value",
            Property::Annotation => "annotation",
            Property::DataType => "data type",
            Property::Shape => "shape",
            Property::Type => "type",
            Property::Field => "field",
            Property::Patterns => "patterns",
            Property::Group => "group",
        }
    }
}

/// The value of a property on one side of a change.
#[derive(Clone, PartialEq, Debug)]
pub enum Fact {
    /// Absent.
    Absent,
    /// An operator, function or constructor.
    Callee(SmolStr),
    /// The value of an attribute.
    Attribute(AttrValue),
    /// A type.
    Type(Type),
    /// An expression, by its range.
    Expr(TextRange),
    /// A number, such as that of operands.
    Count(usize),
}

/// Sorts pairs by their ranges after, and removes duplicates, which result from functions with
/// several calls. The pair with the most changes is kept.
pub(crate) fn order(pairs: &mut Vec<Pair>) {
    let key = |pair: &Pair| {
        let place = |range: TextRange| (range.start(), range.end());
        (place(pair.after), place(pair.before))
    };
    pairs.sort_by(|x, y| {
        key(x).cmp(&key(y)).then((y.changes.len(), y.kind).cmp(&(x.changes.len(), x.kind)))
    });
    pairs.dedup_by(|x, y| key(x) == key(y));
}
