//! The machine's code: instructions over the slots of a frame.

use std::sync::Arc;

use operators::Operator;
use semantics::{SourceFile, body::Literal};
use smallvec::SmallVec;
use smol_str::SmolStr;
use syntax::TextRange;
use types::{Attrs, Type};

use crate::{
    fault::FaultKind,
    machine::quick::Quick,
    tensor::Tensor,
    value::{Callable, Value},
};

/// A compiled function. Its frame starts with the parameters and the captured values.
#[derive(Debug)]
pub(crate) struct Proc {
    /// The definition that contains it: `@main`.
    pub(crate) name: SmolStr,
    /// The number of parameters.
    pub(crate) params: usize,
    /// The number of slots of its frame.
    pub(crate) slots: usize,
    /// The instructions.
    pub(crate) code: Vec<Instr>,
    /// The file that contains it.
    pub(crate) file: SourceFile,
    /// The offset in the file of each instruction.
    pub(crate) places: Vec<TextRange>,
}

/// An operand: a slot of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    /// The slot.
    pub(crate) slot: u32,
    /// True for the last use of the slot: the value may be moved out.
    pub(crate) last: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instr {
    /// The operation.
    pub(crate) op: Op,
    /// The slot of the result; [`NOWHERE`] for instructions without one.
    pub(crate) dst: u32,
    /// The operands.
    pub(crate) args: SmallVec<[Use; 2]>,
}

/// No slot.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The operation of an instruction.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Loads a constant.
    Const(Value),
    /// Loads a number in the data type of the operand, an empty tensor.
    Number(Literal),
    /// Creates a tensor filled with one number.
    Fill(Arc<Fill>),
    /// Loads a constant of a metadata section, by its number in the program.
    Meta(u32),
    /// Copies its operand.
    Move,
    /// Creates a tuple.
    Tuple,
    /// Reads a field of a tuple.
    Proj(u32),
    /// Calls an operator.
    Operator(Arc<Site>),
    /// Calls an operator, and does what follows together with it.
    Fused(Arc<Fused>),
    /// Makes a value of an algebraic data type.
    Construct(SmolStr),
    /// Calls the function that is the first operand.
    Call {
        /// True for a tail call.
        tail: bool,
    },
    /// Calls a definition, by its number in the program.
    CallGlobal {
        /// The number.
        global: u32,
        /// True for a tail call.
        tail: bool,
    },
    /// Loads the running function.
    Own,
    /// Creates a function with its captured values.
    Closure(Callable),
    /// Jumps if the operand is false.
    Unless(u32),
    /// Jumps.
    Jump(u32),
    /// Jumps to the first arm that matches the operand.
    Match(Arc<Arms>),
    /// Creates a reference.
    RefNew,
    /// Reads a reference.
    RefRead,
    /// Writes a reference.
    RefWrite,
    /// Drops operands that are not used on this path.
    Forget,
    /// Computes the value of slot `dst` by the code at the target, unless it has one.
    Force(u32),
    /// Returns to the instruction after the last `Force`.
    Resume,
    /// Reports the value of a variable, whose name is at this range of the file, to the observer.
    Bound(TextRange),
    /// Returns the operand.
    Return,
    /// Fails.
    Fault(FaultKind, Arc<str>),
}

/// `Constant(1, (10, 10), float32)`: created at run time, within the limits.
#[derive(Debug)]
pub(crate) struct Fill {
    /// The number, as a scalar.
    pub(crate) value: Tensor,
    /// The shape, which may be too large for a tensor.
    pub(crate) shape: Vec<usize>,
}

/// The call of an operator.
#[derive(Debug)]
pub(crate) struct Site {
    /// The operator.
    pub(crate) operator: &'static Operator,
    /// The shortcut for two scalars, if the operator has one.
    pub(crate) quick: Option<Quick>,
    /// Its attributes.
    pub(crate) attrs: Attrs,
    /// The inferred type of the result.
    pub(crate) result: Type,
}

/// Calls of operators in a row, each of which takes the result of the one before. The instructions of all but
/// the first come after it, and are skipped.
#[derive(Debug)]
pub(crate) struct Fused {
    /// The first call.
    pub(crate) site: Arc<Site>,
    /// Its kernel does the operations of the others with its own.
    pub(crate) leads: bool,
    /// The other calls.
    pub(crate) links: Vec<Link>,
    /// Results, by their numbers, that are used again later than by the next call; that of the first call is 0.
    pub(crate) kept: Vec<usize>,
    /// The number of instructions, with the first.
    pub(crate) length: usize,
    /// The slot of the result.
    pub(crate) dst: u32,
}

/// A call that takes the result of the one before.
#[derive(Debug)]
pub(crate) struct Link {
    /// The call.
    pub(crate) site: Arc<Site>,
    /// Its arguments.
    pub(crate) args: SmallVec<[Source; 2]>,
}

/// An argument of a call in a row of calls.
#[derive(Debug)]
pub(crate) enum Source {
    /// The result of the call before.
    Before,
    /// A result that is kept, by its place among those.
    Kept(usize),
    /// A slot of the frame.
    Slot(Use),
    /// A constant that an instruction of the row gives.
    Const(Value),
}

/// The arms of a `match`.
#[derive(Debug)]
pub(crate) struct Arms {
    /// The pattern and target of each arm.
    pub(crate) arms: Vec<(Test, u32)>,
}

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// Matches everything.
    Any,
    /// Matches everything and stores it in a slot.
    Keep(u32),
    /// Matches the values of a constructor.
    Data(SmolStr, Vec<Test>),
    /// Matches a tuple.
    Tuple(Vec<Test>),
}
