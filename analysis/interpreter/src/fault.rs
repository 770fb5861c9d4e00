//! Failures of runs.

use std::fmt;

use semantics::{Code, SourceFile};
use syntax::TextRange;

/// The failure of an evaluation.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The kind of the failure.
    pub kind: FaultKind,
    /// The failure, in one sentence.
    pub message: String,
    /// The call or expression that failed and its callers, innermost first. The middle of a deep
    /// recursion is omitted.
    pub trace: Vec<Step>,
    /// The number of calls that the trace omits.
    pub omitted: usize,
    /// The types of the arguments of the operator that failed, as source text.
    pub arguments: Vec<String>,
}

/// One step of a back trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The definition: `@main`; empty for a bare expression.
    pub function: String,
    /// The file of the definition and the range of the expression in it.
    pub place: Option<(SourceFile, TextRange)>,
}

/// Kinds of failure, each with a stable code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The operator has no kernel.
    NoKernel,
    /// The operator rejects its arguments.
    Operator,
    /// A value does not have the sizes that are declared for it.
    DeclaredSize,
    /// No arm of a `match?` matches the value.
    NoArm,
    /// The fuel is used up.
    Fuel,
    /// The memory limit is reached.
    Memory,
    /// The time limit is reached.
    Time,
    /// Too many calls are nested.
    Depth,
    /// The run was cancelled.
    Cancelled,
    /// A value is missing: a constant printed without its section, an external function.
    Missing,
    /// An argument of the run does not fit the parameter.
    Input,
    /// Errors in the program leave the expression without a type.
    Untyped,
}

impl FaultKind {
    /// Returns the code of the diagnostic.
    pub fn code(self) -> Code {
        match self {
            FaultKind::NoKernel => Code::RunNoKernel,
            FaultKind::Operator => Code::RunOperatorFailed,
            FaultKind::DeclaredSize => Code::RunDeclaredSize,
            FaultKind::NoArm => Code::RunNoArm,
            FaultKind::Fuel => Code::RunFuel,
            FaultKind::Memory => Code::RunMemory,
            FaultKind::Time => Code::RunTime,
            FaultKind::Depth => Code::RunDepth,
            FaultKind::Cancelled => Code::RunCancelled,
            FaultKind::Missing => Code::RunMissing,
            FaultKind::Input => Code::RunInput,
            FaultKind::Untyped => Code::RunUntyped,
        }
    }
}

impl Fault {
    /// Creates a failure without a trace, which the machine adds.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault {
            kind,
            message: message.into(),
            trace: Vec::new(),
            omitted: 0,
            arguments: Vec::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
