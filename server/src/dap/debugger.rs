//! The observer of a run that is debugged. It counts the events of the run, stops it at goals, breakpoints and filters,
//! and waits there for orders.
//!
//! Going back is going forward: the language is pure and the arguments are the same, so that the run is repeated up to
//! an earlier event, from the last checkpoint before it. What the last event of a kind is, such as a breakpoint that
//! holds, is found by repeating the parts between checkpoints, the last one first.

mod conditions;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, Sender},
};

use interpreter::{
    CallMeasurement, Calls, Event, FaultKind, Flow, Observer, Pace, PointKind, Snapshot, Value,
};
use operators::Operator;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::TextRange;

use super::{
    breakpoints::{Breakpoint, Breakpoints},
    checkpoints::{Checkpoint, Checkpoints},
    edits::Edits,
    evaluator::Evaluator,
    position::Position,
    stop::{Exception, Goal, Order, Reason, Report, SessionEvent, Stop, Target},
};
use crate::run::{arguments::Arguments, execute::RunObserver, failure, summary::Summary};

/// The number of steps that are remembered for going back.
const MAX_STEPS: usize = 1 << 16;
/// The number of events that a run without breakpoints passes over, before it looks whether a checkpoint is due.
const PACE: u64 = 64;
/// The number of elements of a variable whose computation may have taken long.
const MANY: usize = 1 << 12;

/// What the session and the run share while the run goes on.
#[derive(Default)]
pub(super) struct RunControl {
    /// Ends the run.
    pub(super) cancelled: Arc<AtomicBool>,
    /// Asks the run to stop.
    pub(super) pause: AtomicBool,
    /// True if the run is to look at what changed: the breakpoints, or a request to pause.
    pub(super) alert: Arc<AtomicBool>,
    /// The breakpoints.
    pub(super) breakpoints: Mutex<Breakpoints>,
    /// The arguments of the run, once they are gathered.
    pub(super) arguments: Mutex<Arc<Vec<Value>>>,
}

impl RunControl {
    /// Asks the run to look at what changed.
    pub(super) fn notify(&self) {
        self.alert.store(true, Ordering::SeqCst);
    }
}

/// Where a repetition of the run begins.
pub(super) enum Start {
    Beginning,
    Checkpoint(Arc<Snapshot>),
}

/// The observer of a run that is debugged.
pub(super) struct Debugger<'s> {
    shared: &'s RunControl,
    evaluator: Evaluator,
    orders: Receiver<Order>,
    reports: Sender<SessionEvent>,
    breakpoints: Breakpoints,
    goal: Goal,
    now: Position,
    checkpoints: Checkpoints,
    /// The position of the first point of this repetition, if it began at a checkpoint.
    start: Option<Position>,
    /// True after an event that may have taken long.
    is_long: bool,
    /// True if variables keep their values after their last use.
    retains: bool,
    /// True if a condition names a variable whose value was released.
    lacks_value: bool,
    /// The position from which the run was last repeated because of that.
    completed: Option<Position>,
    /// The goal of the repetition of the run that follows it.
    repetition: Option<Goal>,
    /// The last candidate of a search for an earlier position.
    candidate: Option<(Position, Reason)>,
    /// The positions at which steps began, by those at which they ended.
    steps: FxHashMap<Position, Position>,
    /// The position at which the current step began.
    step_from: Option<Position>,
    edits: Edits,
    /// The number of times that breakpoints with a hit condition were reached.
    hits: FxHashMap<i64, u64>,
    /// The number of lines of logpoints.
    lines: u64,
    /// The position of the last line of a logpoint.
    printed: Position,
    /// The position up to which earlier runs have printed the lines of logpoints.
    skipped: Position,
    seed: Option<u64>,
    greeted: bool,
}

impl<'s> Debugger<'s> {
    /// Creates the observer. Its first event looks at what was changed before: the client may ask for a pause before the run
    /// begins.
    pub(super) fn new(
        shared: &'s RunControl,
        evaluator: Evaluator,
        (orders, reports): (Receiver<Order>, Sender<SessionEvent>),
        goal: Goal,
        seed: Option<u64>,
    ) -> Debugger<'s> {
        let breakpoints = shared.breakpoints.lock().clone();
        let retains = breakpoints.needs_variables() || !matches!(goal, Goal::Breakpoint);
        Debugger {
            shared,
            evaluator,
            orders,
            reports,
            breakpoints,
            goal,
            now: Position::default(),
            checkpoints: Checkpoints::new(),
            start: None,
            is_long: false,
            retains,
            lacks_value: false,
            completed: None,
            repetition: None,
            candidate: None,
            steps: FxHashMap::default(),
            step_from: None,
            edits: Edits::default(),
            hits: FxHashMap::default(),
            lines: 0,
            printed: Position::default(),
            skipped: Position::default(),
            seed,
            greeted: false,
        }
    }

    /// Prepares the next repetition of the run. Returns where it begins; `None` if none was ordered.
    pub(super) fn next_repetition(&mut self) -> Option<Start> {
        let goal = self.repetition.take()?;
        self.retains = true;
        self.candidate = None;
        self.skipped = self.skipped.max(self.printed);
        let checkpoint = self.checkpoint_for(&goal);
        let snapshot = checkpoint.as_ref().map(|checkpoint| checkpoint.snapshot.clone());
        self.goal = goal;
        self.start = checkpoint.as_ref().map(Checkpoint::position);
        let (moment, hits) = match checkpoint {
            Some(Checkpoint { moment, hits, .. }) => (moment, hits),
            None => (0, FxHashMap::default()),
        };
        (self.now, self.hits) = (Position { moment, results: 0 }, hits);
        self.checkpoints.begin(snapshot.as_ref());
        Some(snapshot.map_or(Start::Beginning, Start::Checkpoint))
    }

    /// Returns the last checkpoint before a goal.
    fn checkpoint_for(&self, goal: &Goal) -> Option<Checkpoint> {
        let found = match goal {
            Goal::Position { at, .. } | Goal::Through { at, .. } => {
                self.checkpoints.last_before(|checkpoint| checkpoint.position() <= *at)
            }
            Goal::Last { before, .. } => {
                self.checkpoints.last_before(|checkpoint| checkpoint.position() < *before)
            }
            Goal::Call { serial } => {
                self.checkpoints.last_before(|checkpoint| checkpoint.snapshot.entered() < *serial)
            }
            Goal::Breakpoint | Goal::Entry | Goal::Into | Goal::Over { .. } | Goal::Out { .. } => {
                None
            }
        }?;
        // Hits of other breakpoints are counted from the beginning.
        let is_counted = !self.breakpoints.has_hits() || found.version == self.breakpoints.version;
        is_counted.then(|| found.clone())
    }

    /// Returns true if the session ended the run.
    pub(super) fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// Describes a repetition that ended without the position that it was for; `None` for any other run.
    pub(super) fn lost(&self) -> Option<&'static str> {
        self.goal.is_repetition().then_some(
            "the run differs from the one before: the files of its arguments have changed",
        )
    }

    /// Sends a line to the console.
    pub(super) fn print(&self, text: String, place: Option<TextRange>) {
        // Fails if the session has ended.
        let _ = self.reports.send(SessionEvent::Report(Report::Line { text, place }));
    }

    fn place(&self, calls: &Calls<'_>) -> Option<TextRange> {
        let (file, range) = calls.place()?;
        (file == self.evaluator.file()).then_some(range)
    }

    /// Looks at what the session has changed. Returns `None` if the event is to be looked at further.
    #[cold]
    fn look(&mut self, calls: &mut Calls<'_>) -> Option<Flow> {
        self.shared.alert.store(false, Ordering::SeqCst);
        self.breakpoints = self.shared.breakpoints.lock().clone();
        if self.goal.is_repetition() {
            return None;
        }
        if self.shared.pause.swap(false, Ordering::AcqRel) {
            return Some(self.stop(Reason::Pause, calls));
        }
        self.retains |= self.breakpoints.needs_variables();
        None
    }

    fn repeat(&mut self, goal: Goal) -> Flow {
        self.repetition = Some(goal);
        Flow::End
    }

    /// Stops the run, and does what the session orders.
    fn stop(&mut self, reason: Reason, calls: &mut Calls<'_>) -> Flow {
        self.step_from = None;
        self.retains = true;
        let moment = (self.now, self.edits.clone());
        let stop = Stop::new(reason, calls, self.evaluator.file(), moment);
        if self.reports.send(SessionEvent::Report(Report::Stopped(stop))).is_err() {
            return Flow::End;
        }
        loop {
            // Fails if the session has ended.
            let Ok(order) = self.orders.recv() else { return Flow::End };
            match order {
                Order::Set { inner, name, value } => {
                    // What follows differs.
                    self.checkpoints.forget_from(self.now);
                    self.edits.set(calls, self.now, (inner, name), value);
                    continue;
                }
                Order::Continue(goal) => {
                    let is_step = matches!(goal, Goal::Into | Goal::Over { .. });
                    self.step_from = is_step.then_some(self.now);
                    self.goal = goal;
                    self.shared.alert.store(false, Ordering::SeqCst);
                    self.breakpoints = self.shared.breakpoints.lock().clone();
                    self.shared.pause.store(false, Ordering::Release);
                    return Flow::Refresh;
                }
                Order::Repeat(goal) => return self.repeat(goal),
                Order::StepBack => {
                    let goal = match self.steps.get(&self.now) {
                        Some(&at) => Goal::Position { at, reason: Reason::Step },
                        None => {
                            let active = (0..calls.depth()).map(|inner| calls.serial(inner));
                            let target = Target::Point { calls: Arc::new(active.collect()) };
                            Goal::Last { target, before: self.now }
                        }
                    };
                    return self.repeat(goal);
                }
                Order::ReverseContinue => {
                    self.breakpoints = self.shared.breakpoints.lock().clone();
                    let target = Target::Breakpoint;
                    return self.repeat(Goal::Last { target, before: self.now });
                }
                Order::Goto { serial, place } => {
                    let target = Target::Place { serial, place, origin: self.now };
                    // The moment after the stop, so that the place of the stop itself is found.
                    let mut before = self.now;
                    before.advance();
                    return self.repeat(Goal::Last { target, before });
                }
            }
        }
    }

    /// Stops if the position is that of the goal. Returns `None` if the event is to be looked at further.
    fn arrive(&mut self, calls: &mut Calls<'_>) -> Option<Flow> {
        match &self.goal {
            Goal::Position { at, reason } if *at == self.now => {
                let reason = reason.clone();
                self.goal = Goal::Breakpoint;
                Some(self.stop(reason, calls))
            }
            Goal::Through { at, then } if *at == self.now => {
                self.goal = (**then).clone();
                None
            }
            Goal::Last { target, before } if *before <= self.now => {
                let goal = match (self.candidate.take(), self.start) {
                    (Some((at, reason)), _) => Goal::Position { at, reason },
                    (None, Some(start)) => Goal::Last { target: target.clone(), before: start },
                    (None, None) => match *target {
                        Target::Place { origin, .. } => {
                            let text = "the call has not come to this place yet: run to it";
                            self.print(text.to_owned(), None);
                            Goal::Position { at: origin, reason: Reason::Goto }
                        }
                        Target::Breakpoint | Target::Point { .. } => Goal::Entry,
                    },
                };
                Some(self.repeat(goal))
            }
            _ => None,
        }
    }

    /// Returns true for the point before the body of a definition, which steps pass.
    fn is_header(&self, calls: &Calls<'_>) -> bool {
        let points = self.evaluator.program().points();
        let is_header = |place: TextRange| {
            let first = points.partition_point(|point| point.range.start() < place.start());
            let mut same =
                points.iter().skip(first).take_while(|p| p.range.start() == place.start());
            same.any(|point| point.range == place && point.kind == PointKind::Definition)
        };
        self.place(calls).is_some_and(is_header)
    }

    /// Records a point that a search looks for.
    fn consider(&mut self, calls: &Calls<'_>) {
        let Goal::Last { target, .. } = &self.goal else { return };
        let reason = match target {
            Target::Point { calls: wanted }
                if wanted.contains(&calls.serial(0)) && !self.is_header(calls) =>
            {
                Reason::Step
            }
            Target::Place { serial, place, .. }
                if *serial == calls.serial(0) && self.place(calls) == Some(*place) =>
            {
                Reason::Goto
            }
            Target::Breakpoint | Target::Point { .. } | Target::Place { .. } => return,
        };
        self.candidate = Some((self.now, reason));
    }

    fn reached(&mut self, calls: &mut Calls<'_>) -> Flow {
        let (depth, serial) = (calls.depth(), calls.serial(0));
        self.consider(calls);
        if matches!(self.goal, Goal::Call { serial: wanted } if wanted == serial) {
            self.goal = Goal::Breakpoint;
            return self.stop(Reason::Step, calls);
        }
        let is_step = match &self.goal {
            Goal::Into => !self.is_header(calls),
            Goal::Over { serial: own, depth: most } => depth < *most || serial == *own,
            Goal::Out { depth: most } => depth < *most,
            Goal::Entry => true,
            _ => false,
        };
        if is_step
            && let Some(from) = self.step_from.take()
            && self.steps.len() < MAX_STEPS
        {
            self.steps.insert(self.now, from);
        }
        let breakpoints = &self.breakpoints;
        let has_any = !breakpoints.before.is_empty() || !breakpoints.definitions.is_empty();
        let hit = if has_any { self.hit_at_point(calls) } else { None };
        match hit {
            Some(reason) => self.found(reason, calls),
            None if is_step => {
                let is_entry = matches!(self.goal, Goal::Entry);
                self.stop(if is_entry { Reason::Entry } else { Reason::Step }, calls)
            }
            None => Flow::Continue,
        }
    }

    /// Stops at a breakpoint or a filter, or records it in a search.
    fn found(&mut self, reason: Reason, calls: &mut Calls<'_>) -> Flow {
        match self.goal {
            Goal::Last { target: Target::Breakpoint, .. } => {
                self.candidate = Some((self.now, reason));
                Flow::Continue
            }
            _ if self.goal.is_repetition() => Flow::Continue,
            _ => self.stop(reason, calls),
        }
    }

    fn hit_at_point(&mut self, calls: &mut Calls<'_>) -> Option<Reason> {
        let place = self.place(calls)?;
        let before = self.breakpoints.before.get(&place).cloned().unwrap_or_default();
        let definitions = self.breakpoints.definitions.get(&place).cloned().unwrap_or_default();
        self.hit_of(&before, &definitions, place, calls)
    }

    /// Returns the reason to stop at breakpoints of a place, and at those of what is called there.
    fn hit_of(
        &mut self,
        here: &[Breakpoint],
        called: &[Breakpoint],
        place: TextRange,
        calls: &Calls<'_>,
    ) -> Option<Reason> {
        let (hit, called) = (self.hit(here, place, calls), self.hit(called, place, calls));
        match (hit.is_empty(), called.is_empty()) {
            (false, _) => Some(Reason::Breakpoint(hit)),
            (true, false) => Some(Reason::FunctionBreakpoint(called)),
            (true, true) => None,
        }
    }

    fn bound(&mut self, name: TextRange, calls: &mut Calls<'_>) -> Flow {
        let Some(at) = self.breakpoints.bound.get(&name) else { return Flow::Continue };
        let at = at.clone();
        let hit = self.hit(&at, name, calls);
        match hit.is_empty() {
            true => Flow::Continue,
            false => self.found(Reason::Breakpoint(hit), calls),
        }
    }

    fn calling(&mut self, operator: Option<&'static Operator>, calls: &mut Calls<'_>) -> Flow {
        let Breakpoints { operators, calls: columns, .. } = &self.breakpoints;
        if operators.is_empty() && columns.is_empty() {
            return Flow::Continue;
        }
        let Some(place) = self.place(calls) else { return Flow::Continue };
        let at_column = columns.get(&place).cloned().unwrap_or_default();
        let of_operator = operator.and_then(|operator| operators.get(operator.name));
        let of_operator = of_operator.cloned().unwrap_or_default();
        match self.hit_of(&at_column, &of_operator, place, calls) {
            Some(reason) => self.found(reason, calls),
            None => Flow::Continue,
        }
    }

    /// Looks at the result of an operator for the filters.
    fn result(&mut self, call: &CallMeasurement<'_>, calls: &mut Calls<'_>) -> Flow {
        self.now.results += 1;
        if let Some(flow) = self.arrive(calls) {
            return flow;
        }
        if let Some(overflow) = call.overflow.filter(|_| self.breakpoints.overflow) {
            let (name, ty, what) = (call.operator.name, call.value.ty(), overflow.quantity());
            let description = format!("the {what} of `{name}` does not fit {ty}{overflow}");
            let id = "overflow".to_owned();
            return self.found(Reason::Exception(Exception { id, description }), calls);
        }
        let Breakpoints { nan, infinite, .. } = self.breakpoints;
        if !nan && !infinite {
            return Flow::Continue;
        }
        let tensors = call.value.leaves_within(1 << 10).unwrap_or_default();
        let mut counts = (0, 0);
        for tensor in tensors {
            let Summary { nan, infinite, .. } = Summary::of(tensor);
            counts = (counts.0 + nan, counts.1 + infinite);
        }
        let found = match (counts, nan, infinite) {
            ((count, _), true, _) if count > 0 => Some(("nan", format!("{count} NaN"))),
            ((_, count), _, true) if count > 0 => Some(("infinity", format!("{count} Inf"))),
            _ => None,
        };
        let Some((id, what)) = found else { return Flow::Continue };
        let ty = call.value.describe();
        let description = format!("the result of `{}`, {ty}, has {what}", call.operator.name);
        self.found(Reason::Exception(Exception { id: id.to_owned(), description }), calls)
    }
}

impl RunObserver for Debugger<'_> {
    fn started(&mut self, arguments: &Arguments) {
        if std::mem::replace(&mut self.greeted, true) {
            return;
        }
        if let Some(random) = self.seed.and_then(|seed| arguments.random(seed)) {
            self.print(random, None);
        }
        arguments.warnings.iter().for_each(|warning| self.print(warning.clone(), None));
        *self.shared.arguments.lock() = Arc::new(arguments.values.clone());
    }
}

impl Observer for Debugger<'_> {
    fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
        if calls.passed() > 0 {
            self.now = Position { moment: self.now.moment + calls.passed(), results: 0 };
            self.is_long = true;
        }
        match &event {
            Event::Called(call) => return self.result(call, calls),
            Event::Failed(fault) => {
                self.now.results = Position::FAILED;
                if let Some(flow) = self.arrive(calls) {
                    return flow;
                }
                let Breakpoints { failed, declared_size, .. } = self.breakpoints;
                let is_wanted = failed || (declared_size && fault.kind == FaultKind::DeclaredSize);
                if !is_wanted {
                    return Flow::Continue;
                }
                let id = fault.kind.code().name().to_owned();
                let program = self.evaluator.program();
                let mut fault = (*fault).clone();
                failure::explain_stop(&mut fault, program.file, &program.errors);
                let description = failure::message(&fault);
                return self.found(Reason::Exception(Exception { id, description }), calls);
            }
            Event::Reached | Event::Bound(..) | Event::Calling(_) => {}
        }
        self.now.advance();
        self.edits.repeat(calls, self.now);
        match &event {
            Event::Reached if self.checkpoints.is_due(self.now.moment, self.is_long) => {
                let (before, version) = (self.now.moment - 1, self.breakpoints.version);
                self.checkpoints.take(calls, before, &self.hits, version);
                self.is_long = false;
            }
            Event::Bound(_, Value::Tensor(tensor)) => self.is_long = tensor.len() > MANY,
            _ => {}
        }
        if let Some(flow) = self.arrive(calls) {
            return flow;
        }
        let is_changed = self.shared.alert.load(Ordering::Relaxed);
        if is_changed && let Some(flow) = self.look(calls) {
            return flow;
        }
        let flow = match event {
            Event::Reached => self.reached(calls),
            Event::Bound(name, _) => self.bound(name, calls),
            Event::Calling(operator) => self.calling(operator, calls),
            Event::Called(_) | Event::Failed(_) => Flow::Continue,
        };
        let flow = if self.lacks_value { self.complete() } else { flow };
        if is_changed && flow == Flow::Continue { Flow::Refresh } else { flow }
    }

    fn measures(&self) -> bool {
        let has_results = match &self.goal {
            Goal::Position { at, .. }
            | Goal::Through { at, .. }
            | Goal::Last { before: at, .. } => at.has_results(),
            _ => false,
        };
        self.breakpoints.looks_at_results() || has_results
    }

    fn checks_overflow(&self) -> bool {
        self.breakpoints.overflow
    }

    fn retains(&self) -> bool {
        self.retains
    }

    fn pace(&self) -> Option<Pace> {
        let is_free = matches!(self.goal, Goal::Breakpoint)
            && !self.breakpoints.needs_variables()
            && self.edits.is_empty();
        is_free.then(|| Pace { events: PACE, alert: self.shared.alert.clone() })
    }

    fn pinned(&self) -> Arc<FxHashSet<TextRange>> {
        self.breakpoints.pinned.clone()
    }
}
