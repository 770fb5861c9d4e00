//! Notifications about a running definition.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use operators::Operator;
use rustc_hash::FxHashSet;
use semantics::SourceFile;
use smallvec::SmallVec;
use syntax::TextRange;
use types::{Attrs, DataType, Dim, Type};

use super::{Run, calls::Calls};
use crate::{
    code::Proc,
    fault::{Fault, FaultKind},
    overflow::Overflow,
    value::Value,
};

/// An event at which a debugger can stop.
#[derive(Debug)]
pub enum Event<'e> {
    /// The [point](crate::Point) at the place of the innermost call is reached: what follows it is not evaluated yet.
    Reached,
    /// The variable whose name is at this range got this value.
    Bound(TextRange, &'e Value),
    /// The operator is about to be called; without one, a function is.
    Calling(Option<&'static Operator>),
    /// An operator was called; only if the observer [measures](Observer::measures).
    Called(&'e CallMeasurement<'e>),
    /// The run fails, and ends after this event.
    Failed(&'e Fault),
}

/// What a run does after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// It goes on.
    Continue,
    /// It goes on, and asks the observer again what it receives.
    Refresh,
    /// It ends with [`FaultKind::Cancelled`].
    End,
}

/// How a run passes over the events that its observer does not need.
#[derive(Clone, Debug)]
pub struct Pace {
    /// The number of events after which the observer receives the next point. It receives that after a large call,
    /// too.
    pub events: u64,
    /// While it is set, the observer receives each event.
    pub alert: Arc<AtomicBool>,
}

/// Receives notifications about a running definition.
pub trait Observer {
    /// A variable whose name is at `place` got a value. This includes parameters, but not those of
    /// function expressions, nor variables in other files than that of the definition.
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        let _ = (place, value);
    }

    /// The `if` or `match` at `place` continues in the arm with this index; that of a true condition is 0.
    fn chose(&mut self, place: (SourceFile, TextRange), arm: usize) {
        let _ = (place, arm);
    }

    /// An event of a run whose [tracing](crate::TraceLevel) includes points. The run waits for the answer.
    fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
        let _ = (event, calls);
        Flow::Continue
    }

    /// Returns true if [`Observer::called`] is to be called, which costs two clock readings per
    /// operator and the shortcut for scalars. This is queried repeatedly, since an observer may have
    /// received enough.
    fn measures(&self) -> bool {
        false
    }

    /// Returns true if calls that are [measured](Observer::measures) are checked for integer overflow. Their arguments
    /// are kept for that, so that no operator works in place.
    fn checks_overflow(&self) -> bool {
        false
    }

    /// Returns true if variables keep their values after their last use, as far as these are small, in a run whose
    /// [tracing](crate::TraceLevel) includes points. This is queried at the beginning and after [`Flow::Refresh`].
    fn retains(&self) -> bool {
        false
    }

    /// Returns the pace at which the run passes over points, values of variables and calls of operators, if the
    /// observer needs none in particular. They are [counted](Calls::passed), and calls are fused. This is queried at the
    /// beginning and after [`Flow::Refresh`].
    fn pace(&self) -> Option<Pace> {
        None
    }

    /// Returns the ranges of the names of variables that keep their values until their calls end, if the run
    /// [retains](Observer::retains) any.
    fn pinned(&self) -> Arc<FxHashSet<TextRange>> {
        Arc::default()
    }

    /// An operator is about to be called, if the observer measures. Returns its result if that is known: the operator
    /// is not called then.
    fn known(&mut self, call: &PendingCall<'_>) -> Option<Value> {
        let _ = call;
        None
    }

    /// An operator was called.
    fn called(&mut self, call: &CallMeasurement<'_>) {
        let _ = call;
    }

    /// Returns a value of the same type with which the run goes on instead of the result of a call that
    /// [`Observer::called`] has received.
    fn replacement(&mut self, call: &CallMeasurement<'_>) -> Option<Value> {
        let _ = call;
        None
    }

    /// The expression at `place` has no value. Returns the number of the failure for [`Value::Unknown`], with which the
    /// run goes on, or for a call another value of its type; `None` to end the run.
    fn unknown(
        &mut self,
        place: (SourceFile, TextRange),
        absence: Absence<'_>,
    ) -> Option<(u32, Option<Value>)> {
        let _ = (place, absence);
        None
    }
}

/// The reason that an expression has no value.
#[derive(Clone, Copy, Debug)]
pub enum Absence<'f> {
    /// A call of an operator failed.
    Call(&'f Fault),
    /// Something else failed. It is told at each use of the expression.
    Other(&'f Fault),
    /// A call of an operator has an operand that depends on the failure with this number.
    Operand(u32),
}

/// The events of a run that its observer does not receive.
#[derive(Default)]
pub(super) struct PassedEvents {
    pace: Option<Pace>,
    /// Their number since the last one that it received.
    count: u64,
    /// True if it receives the next point.
    is_due: bool,
}

impl PassedEvents {
    /// Sets what the observer answers.
    pub(super) fn set(&mut self, pace: Option<Pace>) {
        self.pace = pace;
    }

    /// Returns true if the run passes over events.
    pub(super) fn is_on(&self) -> bool {
        self.pace.is_some()
    }

    /// Passes over an event. Returns false if the observer receives it.
    #[inline]
    pub(super) fn pass(&mut self, is_point: bool) -> bool {
        let Some(pace) = &self.pace else { return false };
        let is_due = is_point && (self.is_due || self.count >= pace.events);
        if is_due || pace.alert.load(Ordering::Relaxed) {
            return false;
        }
        self.count += 1;
        true
    }

    /// Counts the events of fused calls.
    pub(super) fn add(&mut self, count: u64) {
        self.count += count;
    }

    /// Ends the passing over points, after a call that may have taken long.
    pub(super) fn hasten(&mut self) {
        self.is_due = true;
    }
}

impl Run<'_, '_, '_> {
    /// Reports the arm of the running instruction of `proc`.
    pub(super) fn chose(&mut self, proc: &Proc, arm: usize) {
        if let (Some(observer), Some(frame)) = (&mut self.observer, self.frames.last())
            && let Some(place) = proc.places.get(frame.pc.saturating_sub(1))
        {
            observer.chose((proc.file, *place), arm);
        }
    }

    /// Sends an event to the observer of a run with points, if it needs it.
    #[inline]
    pub(super) fn event(&mut self, event: Event<'_>) -> Result<(), Fault> {
        let passes = match event {
            _ if !self.has_points => true,
            Event::Reached => self.passed.pass(true),
            Event::Bound(..) | Event::Calling(_) => self.passed.pass(false),
            Event::Called(_) | Event::Failed(_) => false,
        };
        if passes { Ok(()) } else { self.send(event) }
    }

    fn send(&mut self, event: Event<'_>) -> Result<(), Fault> {
        self.passed.is_due = false;
        let passed = std::mem::take(&mut self.passed.count);
        let Some(observer) = &mut self.observer else { return Ok(()) };
        let mut calls = Calls {
            frames: &self.frames,
            stack: &mut self.stack,
            retention: &self.retention,
            references: &self.references,
            lowest: &mut self.lowest,
            passed,
            entered: self.entered,
            fuel: self.fuel,
            has_large: self.has_large,
        };
        let flow = observer.event(event, &mut calls);
        self.follow(flow)
    }

    /// Does what the observer answers.
    pub(super) fn follow(&mut self, flow: Flow) -> Result<(), Fault> {
        match flow {
            Flow::Continue => Ok(()),
            Flow::Refresh => {
                if let Some(observer) = &self.observer {
                    self.measures = observer.measures();
                    self.retention.set(observer.retains(), observer.pinned());
                    self.passed.set(observer.pace());
                }
                Ok(())
            }
            Flow::End => Err(Fault::new(FaultKind::Cancelled, "the debugger ended the run")),
        }
    }
}

/// A call of an operator that has not begun.
#[derive(Debug)]
pub struct PendingCall<'c> {
    /// The operator.
    pub operator: &'static Operator,
    /// Its attributes.
    pub attrs: &'c Attrs,
    /// The arguments.
    pub args: &'c [Value],
    /// The inferred type of the result.
    pub result: &'c Type,
    /// The range of the call.
    pub place: (SourceFile, TextRange),
}

/// A completed call of an operator.
#[derive(Debug)]
pub struct CallMeasurement<'c> {
    /// The operator.
    pub operator: &'static Operator,
    /// Its attributes.
    pub attrs: &'c Attrs,
    /// The arguments.
    pub args: &'c [Type],
    /// The result.
    pub value: &'c Value,
    /// The integer overflow in the result, if the observer [checks](Observer::checks_overflow) for it.
    pub overflow: Option<&'c Overflow>,
    /// The duration.
    pub time: Duration,
    /// The calling function.
    pub function: &'c str,
    /// The range of the call.
    pub place: (SourceFile, TextRange),
}

/// The type of an argument, recorded before the kernel consumes the value.
pub(super) enum ArgType {
    Tensor(DataType, SmallVec<[usize; 4]>),
    Tuple(Vec<ArgType>),
    Other,
}

impl ArgType {
    /// Returns the type of a value.
    pub(super) fn of(value: &Value) -> ArgType {
        ArgType::within(value, 4)
    }

    /// Tuples nested deeper than `depth` levels are ignored.
    fn within(value: &Value, depth: u32) -> ArgType {
        match value {
            Value::Tensor(tensor) => ArgType::Tensor(tensor.dtype(), tensor.shape().into()),
            Value::Tuple(_) if depth > 0 => {
                let fields = value.as_tuple().unwrap_or_default().iter();
                ArgType::Tuple(fields.map(|field| ArgType::within(field, depth - 1)).collect())
            }
            _ => ArgType::Other,
        }
    }

    /// Returns the type as that of an expression.
    pub(super) fn ty(&self) -> Type {
        match self {
            ArgType::Tensor(dtype, shape) => {
                Type::tensor(shape.iter().map(|&size| Dim::known(size as i64)), *dtype)
            }
            ArgType::Tuple(fields) => Type::tuple(fields.iter().map(ArgType::ty)),
            ArgType::Other => Type::Error,
        }
    }
}
