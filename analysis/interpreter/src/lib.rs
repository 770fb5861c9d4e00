//! An interpreter for Relay.
//!
//! It consists of values, a kernel per operator, and a machine that evaluates the same lowered
//! bodies as the analyses.
//!
//! - The machine has its own stack: neither deep recursion nor a long list uses that of the thread.
//!   Tail calls take no space.
//! - Every evaluation stays within its [`Limits`] and ends soon after it is cancelled.
//! - Sizes that a program determines are checked against the limits before memory is allocated, and
//!   no size aborts the process.
//! - A failure is a [`Fault`] with a back trace. No input makes the interpreter panic.
//!
//! The crate deliberately knows no files, file formats, LSP or terminals.

mod allocate;
mod cast;
mod chain;
mod code;
#[expect(clippy::disallowed_methods, reason = "code is as long as the text")]
mod compile;
mod convert;
mod derived;
mod families;
mod fault;
mod fusion;
mod fusion_rules;
mod gemm;
mod interrupt;
mod kernel;
mod limits;
mod machine;
mod overflow;
mod parallel;
mod permute;
mod pool;
mod promise;
mod shared;
mod slice;
mod tensor;
mod value;
mod wide;

pub use allocate::{repeated, with_capacity};
pub use compile::{Point, PointKind, TraceLevel, points};
pub use families::{can_run, missing, refusal};
pub use fault::{Fault, FaultKind, Step};
pub use half::{bf16, f16};
pub use interrupt::{FatalFault, charge, poll, until_cancelled};
pub use limits::{Limits, Watch};
pub use machine::{
    Absence, Call, CallMeasurement, CallVariable, Calls, Event, Flow, Machine, Observer, Pace,
    PendingCall, Snapshot,
};
pub use overflow::Overflow;
pub use shared::SharedTensor;
pub use slice::AxisSlice;
pub use tensor::{Array, Element, Tensor, count_of};
pub use value::{Closure, Data, Reference, Value};
