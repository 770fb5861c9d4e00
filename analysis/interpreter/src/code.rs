//! The machine's code: instructions over the slots of a frame.

use std::sync::Arc;

use operators::Operator;
use semantics::{SourceFile, body::Literal};
use smallvec::SmallVec;
use smol_str::SmolStr;
use syntax::TextRange;
use types::{Attrs, Type};

use crate::{fault::FaultKind, fusion_rules::FusionRules, shared::SharedTensor, tensor::Tensor};

/// A compiled function. Its frame begins with the parameters and the captured values.
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
    /// The range in the file of each instruction.
    pub(crate) places: Vec<TextRange>,
    /// The variables that a debugger shows. Each has a slot of its own.
    pub(crate) variables: Vec<FrameVariable>,
}

/// A variable of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameVariable {
    /// The range of its name where it is bound.
    pub(crate) name: TextRange,
    /// Its slot.
    pub(crate) slot: u32,
    /// True if a function captured it.
    pub(crate) is_captured: bool,
}

/// An operand: a slot of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operand {
    /// The slot.
    pub(crate) slot: u32,
    /// True for the last use of the value, which may be moved out.
    pub(crate) last: bool,
    /// True if the slot belongs to a variable that a debugger shows.
    pub(crate) is_variable: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instr {
    /// The operation.
    pub(crate) op: Op,
    /// The slot of the result; [`NO_SLOT`] for instructions without one.
    pub(crate) dst: u32,
    /// The operands.
    pub(crate) args: SmallVec<[Operand; 2]>,
}

/// No slot.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// The operation of an instruction.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Loads a constant.
    Const(SharedTensor),
    /// Loads a number of the data type of the operand, an empty tensor.
    Literal(Literal),
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
    Operator(Arc<CallSite>),
    /// Calls an operator together with those that follow.
    Fused(Arc<FusedCalls>),
    /// Creates a value of an algebraic data type.
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
    CurrentFunction,
    /// Creates a function with its captured values.
    Closure(Callable),
    /// Jumps if the operand is false.
    JumpUnless(u32),
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
    Drop,
    /// Computes the value of slot `dst` by the code at the target, unless it has one.
    Force(u32),
    /// Returns to the instruction after the last `Force`.
    Resume,
    /// Reports the value of a variable, whose name is at this range of the file, to the observer.
    Report(TextRange),
    /// Reports a point at which a debugger can stop, which is the place of the instruction.
    Reach,
    /// Fails if the last operand does not have its declared sizes.
    Check(Arc<Promise>),
    /// Returns the operand.
    Return,
    /// Fails.
    Fault(FaultKind, Arc<str>),
}

/// A declaration, and the variable or result that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Promise {
    /// `` `%y` `` or `the result`
    pub(crate) of: SmolStr,
    /// The types of parameters, which determine symbolic sizes, followed by the declared type.
    pub(crate) types: Box<[Type]>,
}

/// The code of a function value.
#[derive(Clone, Debug)]
pub(crate) enum Callable {
    /// A function expression.
    Proc(Arc<Proc>),
    /// A definition, by its number in the program.
    Global(u32),
    /// An operator with default attributes: `nn.relu` as a value.
    Operator(&'static operators::Operator),
    /// A constructor.
    Constructor(SmolStr),
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
pub(crate) struct CallSite {
    /// The operator.
    pub(crate) operator: &'static Operator,
    /// The fusion rules of the kernel.
    pub(crate) fusion: FusionRules,
    /// Its attributes.
    pub(crate) attrs: Attrs,
    /// The inferred type of the result.
    pub(crate) result: Type,
    /// True if an argument has a size that is not known before the run. TVM's relations let `?` stand
    /// for the size that they need, so that the result may have another type.
    pub(crate) is_open: bool,
}

/// Calls of operators, each of which takes the result of the previous one. The instructions of all
/// but the first follow it, and are skipped.
#[derive(Debug)]
pub(crate) struct FusedCalls {
    /// The first call.
    pub(crate) first: Arc<CallSite>,
    /// True if the kernel of the first call applies the others to its result.
    pub(crate) has_epilogue: bool,
    /// The other calls.
    pub(crate) rest: Vec<FusedCall>,
    /// The numbers of the results that are used again after the next call. The result of the first
    /// call has the number 0.
    pub(crate) saved: Vec<usize>,
    /// The number of instructions, including the first.
    pub(crate) length: usize,
    /// The slot of the result.
    pub(crate) dst: u32,
    /// The number of events of the instructions after the first.
    pub(crate) events: u64,
    /// The slots of the variables that get other results.
    pub(crate) variables: SmallVec<[u32; 4]>,
}

/// A call that takes the result of the previous one.
#[derive(Debug)]
pub(crate) struct FusedCall {
    /// The call.
    pub(crate) site: Arc<CallSite>,
    /// Its arguments.
    pub(crate) args: SmallVec<[FusedArg; 2]>,
}

/// An argument of a fused call.
#[derive(Debug)]
pub(crate) enum FusedArg {
    /// The result of the previous call.
    Previous,
    /// A saved result, by its index in [`FusedCalls::saved`].
    Saved(usize),
    /// A slot of the frame.
    Slot(Operand),
    /// A constant that a skipped instruction loads.
    Const(SharedTensor),
}

/// The arms of a `match`.
#[derive(Debug)]
pub(crate) struct Arms {
    /// The pattern and target of each arm.
    pub(crate) arms: Vec<(Pattern, u32)>,
}

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// Matches everything.
    Wildcard,
    /// Matches everything and stores it in a slot.
    Bind(u32),
    /// Matches the values of a constructor.
    Constructor(SmolStr, Vec<Pattern>),
    /// Matches a tuple.
    Tuple(Vec<Pattern>),
}
