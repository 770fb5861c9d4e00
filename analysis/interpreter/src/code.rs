//! The code that the machine runs: instructions over the slots of a frame.

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

/// A function in code. Its frame holds the parameters first, then what it captured.
#[derive(Debug)]
pub(crate) struct Proc {
    /// The definition that contains it: `@main`.
    pub(crate) name: SmolStr,
    /// The number of parameters.
    pub(crate) params: usize,
    /// The number of slots of a frame.
    pub(crate) slots: usize,
    /// The code.
    pub(crate) code: Vec<Instr>,
    /// The file that contains it.
    pub(crate) file: SourceFile,
    /// The offset in the file that each instruction comes from.
    pub(crate) places: Vec<TextRange>,
}

/// An operand: a slot of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Use {
    /// Which.
    pub(crate) slot: u32,
    /// Nothing uses the slot after this: the value may be moved out.
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
    /// Gives a value that is known.
    Const(Value),
    /// Gives a number in the data type of the operand, an empty tensor.
    Number(Literal),
    /// Gives a tensor all of whose elements are one number.
    Fill(Arc<Fill>),
    /// Gives a constant of a metadata section, by its number in the program.
    Meta(u32),
    /// Gives its operand.
    Move,
    /// Makes a tuple.
    Tuple,
    /// Takes a field of a tuple.
    Proj(u32),
    /// Calls an operator.
    Operator(Arc<Site>),
    /// Calls an operator, and does what follows together with it.
    Fused(Arc<Fused>),
    /// Makes a value of an algebraic data type.
    Construct(SmolStr),
    /// Calls the function that is the first operand.
    Call {
        /// Nothing is left to do after the call.
        tail: bool,
    },
    /// Calls a definition, by its number in the program.
    CallGlobal {
        /// Which.
        global: u32,
        /// Nothing is left to do after the call.
        tail: bool,
    },
    /// Gives the function that is running.
    Own,
    /// Gives a function with what it captures.
    Closure(Callable),
    /// Goes on at the place given, if the operand is false.
    Unless(u32),
    /// Goes on at the place given.
    Jump(u32),
    /// Goes on at the first arm that takes the operand.
    Match(Arc<Arms>),
    /// Makes a reference.
    RefNew,
    /// Reads a reference.
    RefRead,
    /// Writes a reference.
    RefWrite,
    /// Forgets operands that nothing needs on this way.
    Forget,
    /// Computes the value in slot `dst` by the code at the place given, if it has none yet.
    Force(u32),
    /// Goes back to the instruction after the `Force` that led here.
    Resume,
    /// A variable, whose name is there in the file, has got its value, which is the operand.
    Bound(TextRange),
    /// Ends the function with the operand.
    Return,
    /// Fails.
    Fault(FaultKind, Arc<str>),
}

/// `Constant(1, (10, 10), float32)`: made when it is reached, within the limits of the run.
#[derive(Debug)]
pub(crate) struct Fill {
    /// The number, as a scalar.
    pub(crate) value: Tensor,
    /// The shape, of which there may be no tensor.
    pub(crate) shape: Vec<usize>,
}

/// The call of an operator.
#[derive(Debug)]
pub(crate) struct Site {
    /// The operator.
    pub(crate) operator: &'static Operator,
    /// The operator, if it is one that two numbers go through without a kernel.
    pub(crate) quick: Option<Quick>,
    /// Its attributes.
    pub(crate) attrs: Attrs,
    /// The type that inference found for the result.
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
    /// Each with its pattern and where it goes on.
    pub(crate) arms: Vec<(Test, u32)>,
}

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// Takes everything.
    Any,
    /// Takes everything, and keeps it in a slot.
    Keep(u32),
    /// Takes what a constructor made.
    Data(SmolStr, Vec<Test>),
    /// Takes a tuple.
    Tuple(Vec<Test>),
}
