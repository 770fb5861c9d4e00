//! The machine, which executes code over a stack of frames.

mod calls;
mod fused;
mod instructions;
mod kernel_thread;
mod matching;
mod memory;
#[cfg(test)]
mod observed;
mod observer;
mod operator;
mod program;
mod references;
mod retention;
mod scalar;
mod slots;
mod snapshot;
mod unknown;

use std::sync::{Arc, atomic::AtomicBool};

use semantics::{Db, Def, DefKind, SourceFile};
use smallvec::SmallVec;
use syntax::TextRange;
use types::Type;

use crate::{
    allocate::no_memory,
    code::{Callable, NO_SLOT, Op, Proc},
    compile::{TraceLevel, literal_dtypes},
    fault::{Fault, FaultKind, Step},
    limits::{Limits, Watch},
    pool::BufferPool,
    value::{Closure, SLOT, Value},
};
pub use calls::{Call, CallVariable, Calls};
use kernel_thread::{LazyKernelThread, is_large_value};
use observer::PassedEvents;
pub use observer::{Absence, CallMeasurement, Event, Flow, Observer, Pace, PendingCall};
use program::Program;
use references::References;
use retention::Retention;
pub use snapshot::Snapshot;

/// The number of calls of small operators between checks of the clock.
const POLL_EVERY: u32 = 256;
/// The number of elements of an argument above which each call of an operator checks the clock.
const LARGE: usize = 1 << 12;
/// The number of steps that are kept at each end of a back trace.
const TRACE: usize = 32;

/// An evaluation of the definitions of one file.
pub struct Machine<'db> {
    program: Program<'db>,
    limits: Limits,
    cancelled: Arc<AtomicBool>,
    /// The watch of the next run, if it has begun.
    begun: Option<Watch>,
    /// Buffers for the next run: taking new pages from the system costs a twentieth of a run of ResNet-18.
    pool: Option<Arc<BufferPool>>,
    /// Returns the bytes of the large blocks that the process has allocated.
    meter: Option<fn() -> u64>,
    thread: LazyKernelThread,
    /// What the code of the observed file reports.
    tracing: TraceLevel,
}

/// The frame of an active call.
#[derive(Clone, Debug)]
struct Frame {
    /// The number of the call in the run.
    serial: u64,
    proc: Arc<Proc>,
    /// The index of its first slot.
    base: usize,
    /// The next instruction.
    pc: usize,
    /// The slot of the result in the caller's frame.
    dst: u32,
    /// The running function, if it is a value.
    own: Option<Arc<Closure>>,
    /// The positions to return to after computing lazy values.
    resume: Vec<u32>,
}

impl<'db> Machine<'db> {
    /// Creates a machine for the definitions of `db`, without limits.
    pub fn new(db: &'db dyn Db) -> Machine<'db> {
        Machine {
            program: Program::new(db),
            limits: Limits::default(),
            cancelled: Arc::default(),
            begun: None,
            pool: None,
            meter: None,
            thread: LazyKernelThread::default(),
            tracing: TraceLevel::Values,
        }
    }

    /// Sets the limits.
    pub fn limited(mut self, limits: Limits) -> Machine<'db> {
        self.limits = limits;
        // Its size follows the limit of the memory.
        self.pool = None;
        self
    }

    /// Counts what the process allocates during a run towards its memory limit, the temporary memory of
    /// operators in particular. `large_bytes` returns the bytes of the large blocks that are allocated.
    pub fn metered(mut self, large_bytes: fn() -> u64) -> Machine<'db> {
        self.meter = Some(large_bytes);
        self
    }

    /// Ends the evaluation soon after the flag is set.
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Machine<'db> {
        self.cancelled = flag;
        self
    }

    /// Sets what the next runs report to their observers, if they have one.
    pub fn trace(&mut self, tracing: TraceLevel) {
        self.tracing = tracing;
    }

    /// Stops runs at the errors of a file, whose ranges these are: evaluating an expression with an error fails with
    /// [`FaultKind::Untyped`], after all that is evaluated before it.
    pub fn stopping_at(mut self, file: SourceFile, errors: Vec<TextRange>) -> Machine<'db> {
        self.program.stop_at(file, errors);
        self
    }

    /// Begins the next run before [`Machine::run`], in order to read its arguments first. Reading
    /// counts towards the time of the run, and stays within the limits if it is done
    /// [within](Watch::within) the result.
    pub fn begin(&mut self) -> Watch {
        let watch = self.watch();
        self.begun.insert(watch).clone()
    }

    fn watch(&mut self) -> Watch {
        let new = || Arc::new(BufferPool::new(self.limits.memory));
        let pool = self.pool.get_or_insert_with(new).clone();
        let watch = Watch::with_pool(&self.limits, self.cancelled.clone(), pool);
        watch.metered(self.meter).with_discards(self.thread.discards())
    }

    /// Returns a definition as a value, for parameters that are functions; `None` if it is not a
    /// function.
    pub fn function(&mut self, def: Def<'db>) -> Option<Value> {
        let number =
            (def.kind(self.program.db) == DefKind::Fn).then(|| self.program.number(def))?;
        Some(Value::closure(Callable::Global(number), Vec::new()))
    }

    /// Waits until a run that has ended has released its memory: cancelled large calls continue
    /// until their next check for cancellation.
    pub fn wait_for_cleanup(&self) {
        self.thread.wait();
    }

    /// Runs a definition on arguments, one for each parameter; a bare expression takes one for each
    /// `free_var`.
    ///
    /// # Errors
    /// The failure, with a back trace.
    pub fn run<'o>(
        &mut self,
        def: Def<'db>,
        args: Vec<Value>,
        observer: Option<&'o mut (dyn Observer + 'o)>,
    ) -> Result<Value, Fault> {
        if !matches!(def.kind(self.program.db), DefKind::Fn | DefKind::Expr) {
            return Err(Fault::new(FaultKind::Missing, "this is not a function that can be run"));
        }
        let observed = observer.is_some().then(|| (def.file(self.program.db), self.tracing));
        self.program.observe(observed);
        let proc = self.program.compile(def)?;
        if proc.params != args.len() {
            return Err(Fault::new(
                FaultKind::Input,
                format!("`{}` has {} parameters, but got {}", proc.name, proc.params, args.len()),
            ));
        }
        let mut run = self.new_run(observer);
        run.has_large = args.iter().any(is_large_value);
        // A generic function is run at the types of its arguments.
        let dtypes = literal_dtypes(&semantics::inference(run.program.db, def), &args);
        let own = match Value::closure(Callable::Proc(proc.clone()), dtypes) {
            Value::Closure(own) if !own.captured().is_empty() => Some(own),
            _ => None,
        };
        run.retention.exempt(&args);
        let begun = run
            .enter(proc, args.into_iter().collect(), NO_SLOT, own)
            .and_then(|()| run.measure(&[]));
        run.complete(begun)
    }

    /// Goes on with a run of this machine from a snapshot, whose references get their contents of then. Other
    /// snapshots of the same run stay valid.
    ///
    /// # Errors
    /// The failure, with a back trace.
    pub fn resume<'o>(
        &mut self,
        snapshot: &Arc<Snapshot>,
        observer: &'o mut (dyn Observer + 'o),
    ) -> Result<Value, Fault> {
        // Of the earlier run; it would add to what this one needs.
        if let Some(pool) = &self.pool {
            pool.clear();
        }
        let mut run = self.new_run(Some(observer));
        let begun = run.restore(snapshot).and_then(|()| run.measure(&[]));
        run.complete(begun)
    }

    fn new_run<'r, 'o>(
        &'r mut self,
        observer: Option<&'o mut (dyn Observer + 'o)>,
    ) -> Run<'r, 'db, 'o> {
        let watch = self.begun.take().unwrap_or_else(|| self.watch());
        let has_points = observer.is_some() && self.tracing >= TraceLevel::Points;
        let mut retention = Retention::default();
        let mut passed = PassedEvents::default();
        if let Some(observer) = &observer {
            retention.set(observer.retains(), observer.pinned());
            passed.set(observer.pace().filter(|_| has_points));
        }
        Run {
            measures: observer.as_ref().is_some_and(|observer| observer.measures()),
            has_unknown: false,
            has_points,
            passed,
            entered: 0,
            depth: self.limits.depth.unwrap_or(usize::MAX),
            watch,
            fuel: self.limits.fuel.unwrap_or(u64::MAX),
            memory: self.limits.memory,
            program: &mut self.program,
            thread: &mut self.thread,
            has_large: false,
            observer,
            stack: Vec::new(),
            frames: Vec::new(),
            retention,
            references: References::default(),
            lowest: 0,
            until_poll: POLL_EVERY,
            live: 0,
            created: 0,
            measure_after: u64::MAX,
        }
    }
}

struct Run<'r, 'db, 'o> {
    program: &'r mut Program<'db>,
    thread: &'r mut LazyKernelThread,
    /// True if large values were created or passed.
    has_large: bool,
    observer: Option<&'o mut (dyn Observer + 'o)>,
    watch: Watch,
    fuel: u64,
    memory: Option<u64>,
    depth: usize,
    /// True if the observer measures operators.
    measures: bool,
    /// True if the run went on after a failure, so that values may be unknown.
    has_unknown: bool,
    /// True if the observer receives events.
    has_points: bool,
    /// The events that it does not receive.
    passed: PassedEvents,
    /// The number of calls that were entered.
    entered: u64,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    /// The variables that keep their values after their last use.
    retention: Retention,
    /// The references of a run with points.
    references: References,
    /// The least number of frames since the last snapshot. All but the last of them are as they were.
    lowest: usize,
    until_poll: u32,
    /// The bytes that were live at the last measurement of memory.
    live: u64,
    /// The bytes created since then.
    created: u64,
    /// The number of created bytes at which live values are measured again.
    measure_after: u64,
}

type Args = SmallVec<[Value; 4]>;

impl Run<'_, '_, '_> {
    /// Runs to the end, if it was begun.
    fn complete(mut self, begun: Result<(), Fault>) -> Result<Value, Fault> {
        let result = begun.and_then(|()| self.go()).and_then(|value| self.with_elements(value));
        result.map_err(|fault| {
            let fault = self.traced(fault);
            if fault.kind != FaultKind::Cancelled {
                // The run ends in any case.
                let _ = self.event(Event::Failed(&fault));
            }
            // Drops the values in the background: there may be ten million.
            let left = std::mem::take(&mut self.stack);
            rayon::spawn(move || drop(left));
            fault
        })
    }

    /// Begins a call.
    ///
    /// # Errors
    /// There is no memory for another frame.
    fn enter(
        &mut self,
        proc: Arc<Proc>,
        args: Args,
        dst: u32,
        own: Option<Arc<Closure>>,
    ) -> Result<(), Fault> {
        let base = self.stack.len();
        let slots = proc.slots.max(args.len());
        // The stack grows by doubling. It is the only vector that deep recursion makes large.
        let reserved = self.stack.try_reserve(slots).and_then(|()| self.frames.try_reserve(1));
        reserved.map_err(|_| no_memory(SLOT * (2 * self.stack.len() + slots) as u64))?;
        self.stack.extend(args);
        if let Some(own) = &own {
            self.stack.extend(own.captured().iter().cloned());
        }
        self.stack.resize_with(base + proc.slots, || Value::Empty);
        self.entered += 1;
        let serial = self.entered;
        self.frames.push(Frame { serial, proc, base, pc: 0, dst, own, resume: Vec::new() });
        Ok(())
    }

    fn go(&mut self) -> Result<Value, Fault> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Err(Fault::new(FaultKind::Missing, "there is no code to run"));
            };
            let proc = frame.proc.clone();
            let base = frame.base;
            // Runs until the frame changes.
            match self.frame(&proc, base) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => {}
                Err(fault) => self.go_on_after(fault)?,
            }
        }
    }

    /// Runs until another frame is innermost. Returns the result of the outermost one.
    fn frame(&mut self, proc: &Arc<Proc>, base: usize) -> Result<Option<Value>, Fault> {
        let at = self.frames.len() - 1;
        let mut pc = self.frames[at].pc;
        loop {
            let Some(instr) = proc.code.get(pc) else {
                return Err(Fault::new(FaultKind::Missing, "the code has no end"));
            };
            // Kept up to date for back traces.
            self.frames[at].pc = pc + 1;
            pc += 1;
            match &instr.op {
                Op::Const(tensor) => self.put(base, instr.dst, Value::Tensor(tensor.clone())),
                Op::Literal(literal) => self.literal(base, instr, literal)?,
                Op::Fill(fill) => {
                    let value = self.fill(fill)?;
                    let bytes = self.bytes(&value);
                    self.create(base, instr.dst, value, bytes)?;
                }
                Op::Meta(number) => {
                    let value = self.constant(*number)?;
                    self.put(base, instr.dst, value);
                }
                Op::Move => {
                    let value = self.operand(base, instr, 0);
                    self.put(base, instr.dst, value);
                }
                Op::Tuple => {
                    let fields: Args = self.operands(base, &instr.args);
                    let bytes = SLOT * (fields.len() as u64 + 1);
                    self.create(base, instr.dst, Value::tuple(fields), bytes)?;
                }
                Op::Proj(index) => self.field(base, instr, *index as usize)?,
                Op::Operator(site) => {
                    self.step()?;
                    self.event(Event::Calling(Some(site.operator)))?;
                    self.site(base, instr, site)?;
                }
                Op::Fused(fused) => {
                    self.step()?;
                    self.event(Event::Calling(Some(fused.first.operator)))?;
                    pc += self.fused(base, instr, fused)? - 1;
                }
                Op::Construct(name) => {
                    let fields: Args = self.operands(base, &instr.args);
                    let bytes = 64 + SLOT * fields.len() as u64;
                    self.create(base, instr.dst, Value::data(name.clone(), fields), bytes)?;
                }
                Op::Call { tail } => {
                    self.step()?;
                    self.event(Event::Calling(None))?;
                    let mut args = self.operands(base, &instr.args);
                    let function = args.remove(0);
                    if self.call(function, args, instr.dst, *tail, base)? {
                        return Ok(None);
                    }
                    // The result of a tail call without a frame is returned as usual.
                }
                Op::CallGlobal { global, tail } => {
                    self.step()?;
                    self.event(Event::Calling(None))?;
                    let args = self.operands(base, &instr.args);
                    let callee = self.program.proc(*global)?;
                    self.begin(callee, args, instr.dst, *tail, base, None)?;
                    return Ok(None);
                }
                Op::CurrentFunction => {
                    let Some(own) = self.frames[at].own.clone() else {
                        return Err(Fault::new(FaultKind::Missing, "unknown function"));
                    };
                    self.put(base, instr.dst, Value::Closure(own));
                }
                Op::Closure(body) => {
                    let captured = self.operands(base, &instr.args);
                    let bytes = 64 + SLOT * captured.len() as u64;
                    self.create(base, instr.dst, Value::closure(body.clone(), captured), bytes)?;
                }
                Op::JumpUnless(to) => {
                    let is_true = self.condition(base, instr)?;
                    self.chose(proc, usize::from(!is_true));
                    pc = if is_true { pc } else { *to as usize };
                }
                Op::Jump(to) => pc = *to as usize,
                Op::Match(arms) => {
                    let (arm, to) = self.arm(base, instr, arms)?;
                    self.chose(proc, arm);
                    pc = to;
                }
                Op::RefNew => {
                    let value = Value::reference(self.operand(base, instr, 0));
                    if self.has_points {
                        self.references.add(&value);
                    }
                    self.create(base, instr.dst, value, 64 + SLOT)?;
                }
                Op::RefRead => self.read(base, instr)?,
                Op::RefWrite => self.write(base, instr)?,
                Op::Drop => {
                    for arg in &instr.args {
                        self.release(base, *arg);
                    }
                }
                Op::Force(to) => {
                    if matches!(self.stack[base + instr.dst as usize], Value::Empty) {
                        self.frames[at].resume.push(pc as u32);
                        pc = *to as usize;
                    }
                }
                Op::Resume => {
                    let to = self.frames[at].resume.pop();
                    let no_place =
                        || Fault::new(FaultKind::Missing, "there is no lazy value to return to");
                    pc = to.ok_or_else(no_place)? as usize;
                }
                Op::Report(name) => self.report(base, instr, (proc.file, *name))?,
                Op::Reach => self.event(Event::Reached)?,
                Op::Check(promise) => self.check(base, instr, promise)?,
                Op::Return => return Ok(self.end(base, instr)),
                Op::Fault(kind, message) => {
                    return Err(Fault::new(*kind, message.to_string()));
                }
            }
        }
    }

    /// Calls a function value. Returns true if it has a frame.
    fn call(
        &mut self,
        function: Value,
        mut args: Args,
        dst: u32,
        tail: bool,
        base: usize,
    ) -> Result<bool, Fault> {
        if let Value::Unknown(_) = function {
            self.put(base, dst, function);
            return Ok(false);
        }
        let Value::Closure(closure) = function else {
            let message = format!("{} cannot be called", function.describe());
            return Err(Fault::new(FaultKind::Untyped, message));
        };
        let (proc, own) = match &closure.body {
            Callable::Proc(proc) => (proc.clone(), Some(closure.clone())),
            // It captures the data types that its use determines.
            Callable::Global(number) => {
                let own = (!closure.captured().is_empty()).then(|| closure.clone());
                (self.program.proc(*number)?, own)
            }
            Callable::Operator(operator) => {
                if let Some(number) = self.failure_of(&args) {
                    let value = self.unknown(Absence::Operand(number), &Type::Error);
                    self.put(base, dst, value.unwrap_or(Value::Unknown(number)));
                    return Ok(false);
                }
                let attrs = operator.attrs_of_value().unwrap_or_default();
                let value = self.operator(operator, &attrs, &mut args, &Type::Error)?;
                let bytes = self.bytes(&value);
                self.create(base, dst, value, bytes)?;
                return Ok(false);
            }
            Callable::Constructor(name) => {
                let bytes = 64 + SLOT * args.len() as u64;
                self.create(base, dst, Value::data(name.clone(), args), bytes)?;
                return Ok(false);
            }
        };
        self.begin(proc, args, dst, tail, base, own)?;
        Ok(true)
    }

    fn begin(
        &mut self,
        proc: Arc<Proc>,
        args: Args,
        mut dst: u32,
        tail: bool,
        base: usize,
        own: Option<Arc<Closure>>,
    ) -> Result<(), Fault> {
        if proc.params != args.len() {
            let message = format!(
                "`{}` has {} parameters, but the call has {}",
                proc.name,
                proc.params,
                args.len()
            );
            return Err(Fault::new(FaultKind::Untyped, message));
        }
        if tail {
            // A tail call replaces the frame of the caller.
            if let Some(frame) = self.frames.pop() {
                dst = frame.dst;
                self.leave(frame.serial, base);
            }
        }
        if self.frames.len() >= self.depth {
            let message =
                format!("more than {} nested calls: the recursion is too deep", self.depth);
            return Err(Fault::new(FaultKind::Depth, message));
        }
        let bytes = if tail { 0 } else { SLOT * proc.slots as u64 + 96 };
        self.enter(proc, args, dst, own)?;
        self.count_created(bytes)
    }

    /// Counts a call towards the fuel, and regularly checks for cancellation.
    fn step(&mut self) -> Result<(), Fault> {
        if self.fuel == 0 {
            return Err(Fault::new(
                FaultKind::Fuel,
                "the evaluation has used up its fuel, the limit on calls",
            ));
        }
        self.fuel -= 1;
        self.watch.poll_cancelled()?;
        self.until_poll -= 1;
        if self.until_poll == 0 {
            self.until_poll = POLL_EVERY;
            self.watch.poll()?;
            if self.measures {
                self.measures = self.observer.as_ref().is_some_and(|seen| seen.measures());
            }
        }
        Ok(())
    }

    /// Adds the back trace to a fault.
    fn traced(&self, mut fault: Fault) -> Fault {
        let step = |frame: &Frame| {
            let place = frame.proc.places.get(frame.pc.saturating_sub(1));
            let place = place.map(|place| (frame.proc.file, *place));
            Step { function: frame.proc.name.to_string(), place }
        };
        let count = self.frames.len();
        let frames = self.frames.iter().rev().enumerate();
        let shown = frames.filter(|(k, _)| *k < TRACE || k + TRACE >= count);
        fault.trace = shown.map(|(_, frame)| step(frame)).collect();
        fault.omitted = count - fault.trace.len();
        fault
    }
}
