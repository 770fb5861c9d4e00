//! Errors that lowering finds.

use operators::{Operator, attrs::AttrProblem};
use smallvec::SmallVec;
use smol_str::SmolStr;
use types::{AttrValue, Attrs, DataType, Param};

use super::{BinderKind, CallData, Callee, ExprId, Literal, Name, RangeId, Unit};

/// An error that lowering finds in a unit or a type definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The range.
    pub range: RangeId,
    /// The kind.
    pub kind: ProblemKind,
}

/// The kind of a [`Problem`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProblemKind {
    /// An attribute does not match the schema of the operator.
    Attr {
        /// The operator.
        operator: &'static Operator,
        /// The written attribute, if there is one.
        name: SmolStr,
        /// The error.
        problem: AttrProblem,
    },
    /// Attributes of a call that does not accept any.
    AttrsNotTaken {
        /// The callee.
        callee: SmolStr,
        /// The range of the callee.
        callee_range: RangeId,
    },
    /// TVM reads the attributes of this operator from the metadata section only.
    DetachedAttrs(&'static Operator),
    /// A type parameter of the wrong kind: `Tensor[t, float32]` with `t : Type`.
    Kind {
        /// The parameter.
        param: Param,
        /// The expected kind.
        expected: types::Kind,
    },
    /// An unknown kind: `fn<t : Foo>`.
    UnknownKind(SmolStr),
    /// An unknown data type.
    UnknownDType(SmolStr),
    /// An unknown type relation after a function type.
    UnknownRelation(SmolStr),
    /// A number too large for its data type.
    NumberRange {
        /// The text of the number.
        text: SmolStr,
        /// The data type.
        dtype: DataType,
    },
    /// An unknown number suffix.
    NumberSuffix(SmolStr),
    /// A negative size.
    NegativeDim(i64),
    /// A parameter or type parameter of the name of an earlier one.
    DuplicateParam {
        /// The name.
        name: Name,
        /// The range of the earlier name.
        first: RangeId,
    },
    /// A graph variable bound as a parameter or by `let`, a local variable bound without `let`.
    BadBinder {
        /// The name.
        name: Name,
        /// The kind of the binding.
        kind: BinderKind,
    },
    /// A type parameter with type arguments.
    ParamWithArgs(Param),
    /// A positional argument after an attribute.
    ArgAfterAttr,
    /// A string where a value is expected: `let %x = "float32";`.
    StringValue,
    /// `_` in a field of a constructor: `type Box { Wrap(_) }`.
    OpenField,
    /// `match? (%x) { }`.
    NoArms,
    /// A call with arguments and attributes as Python passes them: `cast(%x, 'int8')`.
    PythonCall(Box<PythonCall>),
    /// An operator with the modules of Python before its name: `relay.nn.relu`.
    PythonName(&'static Operator),
    /// A call of a function of Python that creates an expression: `relay.const(1.0, "float32")`.
    PythonExpr(Box<PythonExpr>),
    /// A call by the name that an operator has in its module: `softmax(%x, 1)`. It is an error unless the module or the
    /// project declares the name, so that the finding about the unknown name reports it.
    Unqualified(Box<UnqualifiedCall>),
    /// The data types of scalars after the arguments of a call, which debug builds of TVM 0.9 print: `add(%n, 1, int32,
    /// int32)`. The range begins with the comma before them.
    PrintedTypes,
    /// A list as an argument that is not an attribute: `add(%x, [1f, 2f])`.
    ListValue {
        /// True if it is read as a tuple.
        is_tuple: bool,
    },
}

impl ProblemKind {
    /// The message for the types of a call among its arguments, some of which the parser finds.
    pub(crate) const PRINTED_TYPES: &str =
        "debug builds of TVM 0.9 print the types of a call among its arguments";

    /// Returns true if TVM rejects the text because of it.
    pub fn is_error(&self) -> bool {
        match self {
            ProblemKind::Attr { problem, .. } => problem.is_error(),
            ProblemKind::NoArms | ProblemKind::PrintedTypes | ProblemKind::Unqualified(_) => false,
            _ => true,
        }
    }
}

/// A call in Python's notation, and its parts in Relay.
///
/// It refers to the text by ranges, so that it stays equal if only white space changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PythonCall {
    /// The operator.
    pub operator: &'static Operator,
    /// True if the name in the text is not that of the operator.
    pub is_renamed: bool,
    /// The ranges of the arguments and attributes in the text, in its order.
    pub written: Vec<RangeId>,
    /// The arguments and attributes in Relay: the name of an attribute, or an empty one, and the value.
    pub parts: Vec<(&'static str, PythonText)>,
}

/// The text of an argument or a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PythonText {
    /// The text at a range.
    Same(RangeId),
    /// The list at a range, as a tuple.
    Tuple {
        /// The range, with the brackets.
        range: RangeId,
        /// True if it has one field, which a comma follows in a tuple.
        is_single: bool,
    },
    /// The value of an attribute.
    Value(AttrValue),
    /// A default of Python.
    Default(&'static str),
}

/// A call of a function of Python that creates an expression, with the expression in Relay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PythonExpr {
    /// The range of the call.
    pub call: RangeId,
    /// The parts of the expression in Relay, in the order of the text.
    pub parts: SmallVec<[PythonPart; 4]>,
}

/// A part of an expression in Relay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PythonPart {
    /// A text that is not in the call.
    Text(SmolStr),
    /// The text at a range of the call.
    Kept(RangeId),
    /// A number of a data type.
    Number {
        /// Its value.
        value: Literal,
        /// Its data type.
        dtype: DataType,
    },
}

/// A call by the name that an operator has in its module, and what it means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnqualifiedCall {
    /// The operator.
    pub operator: &'static Operator,
    /// The arguments of the operator.
    pub args: SmallVec<[ExprId; 4]>,
    /// The attributes of the operator.
    pub attrs: Attrs,
    /// The call in Relay, if more than the name differs.
    pub call: Option<PythonCall>,
}

impl Unit {
    /// Returns the meaning of a call of an unknown name, if it is that of an operator without its module.
    pub fn unqualified(&self, call: &CallData) -> Option<&UnqualifiedCall> {
        let Callee::Name(_) = call.callee else { return None };
        let mut problems = self.problems.iter().filter(|p| p.range == call.callee_range);
        problems.find_map(|problem| match &problem.kind {
            ProblemKind::Unqualified(meaning) => Some(&**meaning),
            _ => None,
        })
    }
}
