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
mod chain;
mod code;
#[expect(clippy::disallowed_methods, reason = "code is as long as the text")]
mod compile;
mod convert;
mod families;
mod fault;
mod gemm;
mod interrupt;
mod kernel;
mod limits;
mod machine;
mod shared;
mod spare;
mod tensor;
mod value;
mod wide;

pub use allocate::room;
pub use fault::{Fault, FaultKind, Step};
pub use half::{bf16, f16};
pub use interrupt::{Ended, hold, poll, repeated, while_wanted};
pub use kernel::{can_run, missing, refusal};
pub use limits::{Limits, Watch};
pub use machine::{Machine, Measured, Observer};
pub use shared::SharedTensor;
pub use tensor::{Array, Element, Tensor, count_of};
pub use value::{Closure, Data, Reference, Value};
