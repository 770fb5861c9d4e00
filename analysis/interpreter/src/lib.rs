//! Running Relay.
//!
//! Values on arrays, a kernel for each operator, and a machine that evaluates the same lowered
//! bodies that the analysis reads.
//!
//! - The machine keeps its own stack: neither a recursion nor a list, however deep, touches that of
//!   the thread. Calls in tail position take no space.
//! - Every evaluation stays within its [`Limits`] and ends soon after it is cancelled.
//! - Nothing that a program makes is allocated before its size is held against the limits, and no
//!   size aborts the process.
//! - A failure is a [`Fault`] with a back trace; nothing here panics on what a user can type.
//!
//! Absent on purpose: files, formats of files, LSP, the terminal.

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
pub use interrupt::{hold, poll, repeated, while_wanted};
pub use kernel::{can_run, missing, refusal};
pub use limits::{Limits, Watch};
pub use machine::{Machine, Measured, Observer};
pub use shared::SharedTensor;
pub use tensor::{Array, Element, Tensor, count_of};
pub use value::{Closure, Data, Reference, Value};
