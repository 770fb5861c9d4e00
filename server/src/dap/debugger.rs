//! The observer of a run that is debugged. It counts the events of the run, stops it at goals, breakpoints and filters,
//! and waits there for orders.
//!
//! Going back is going forward: the language is pure and the arguments are the same, so that the run is repeated up to
//! an earlier event. Only the code of a run that may stop keeps the values of its variables; a run without breakpoints
//! that is paused is repeated with them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, Sender},
    },
    time::{Duration, Instant},
};

use interpreter::{CallMeasurement, Calls, Event, Flow, Observer, Value};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use syntax::TextRange;

use super::{
    breakpoints::{Breakpoint, Breakpoints, Piece, pieces},
    evaluator::Evaluator,
    stop::{Exception, Goal, Order, Position, Reason, Report, Stop},
};
use crate::run::{
    arguments::Arguments,
    execute::RunObserver,
    failure,
    summary::{self, Summary},
};

/// The time up to which a paused run is repeated for the values of its variables.
const MAX_REPEATED: Duration = Duration::from_secs(5);
/// The number of steps that are remembered for going back.
const MAX_STEPS: usize = 1 << 16;
/// The number of lines that logpoints print.
const MAX_LINES: u64 = 100_000;

/// What the session and the run share while the run goes on.
#[derive(Default)]
pub(super) struct Shared {
    /// Ends the run.
    pub(super) cancelled: Arc<AtomicBool>,
    /// Asks the run to stop.
    pub(super) pause: AtomicBool,
    /// The number of changes, including requests to pause.
    pub(super) changes: AtomicU64,
    /// The breakpoints.
    pub(super) breakpoints: Mutex<Breakpoints>,
}

impl Shared {
    /// Asks the run to look at what changed.
    pub(super) fn notify(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }
}

/// A value that was set in a stopped run.
struct Edit {
    at: Position,
    inner: usize,
    name: TextRange,
    value: Value,
}

/// The last point of an active call.
#[derive(Clone, Copy, Default)]
struct LastPoint {
    /// The number of the call; 0 for a call without points.
    serial: u64,
    /// The moment of the point.
    moment: u64,
    /// The moment of the one before it in the same call; 0 for none.
    before: u64,
}

/// The observer of a run that is debugged.
pub(super) struct Debugger<'s> {
    shared: &'s Shared,
    evaluator: Evaluator,
    orders: Receiver<Order>,
    reports: Sender<Report>,
    breakpoints: Breakpoints,
    /// The number of changes that it has seen.
    seen: u64,
    goal: Goal,
    now: Position,
    began: Instant,
    /// True if variables keep their values in this run.
    pub(super) keeps_variables: bool,
    /// The goal of the repetition of the run that follows it.
    repetition: Option<Goal>,
    /// The last candidate of a search for an earlier position.
    candidate: Option<(Position, Reason)>,
    /// The positions at which steps began, by those at which they ended.
    steps: FxHashMap<Position, Position>,
    /// The position at which the current step began.
    step_from: Option<Position>,
    /// The last points of the active calls, the outermost first.
    points: Vec<LastPoint>,
    edits: Vec<Edit>,
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
    /// Creates the observer. `keeps_variables` is true if the run is likely to stop.
    pub(super) fn new(
        shared: &'s Shared,
        evaluator: Evaluator,
        (orders, reports): (Receiver<Order>, Sender<Report>),
        goal: Goal,
        seed: Option<u64>,
    ) -> Debugger<'s> {
        let breakpoints = shared.breakpoints.lock().clone();
        let keeps_variables = breakpoints.needs_variables() || !matches!(goal, Goal::Breakpoint);
        Debugger {
            shared,
            evaluator,
            orders,
            reports,
            breakpoints,
            seen: shared.changes.load(Ordering::Acquire),
            goal,
            now: Position::default(),
            began: Instant::now(),
            keeps_variables,
            repetition: None,
            candidate: None,
            steps: FxHashMap::default(),
            step_from: None,
            points: Vec::new(),
            edits: Vec::new(),
            hits: FxHashMap::default(),
            lines: 0,
            printed: Position::default(),
            skipped: Position::default(),
            seed,
            greeted: false,
        }
    }

    /// Prepares the next repetition of the run. Returns false if none was ordered.
    pub(super) fn repeats(&mut self) -> bool {
        let Some(goal) = self.repetition.take() else { return false };
        self.goal = goal;
        self.now = Position::default();
        self.began = Instant::now();
        self.keeps_variables = true;
        self.candidate = None;
        self.points.clear();
        self.skipped = self.skipped.max(self.printed);
        self.hits.clear();
        true
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
        let _ = self.reports.send(Report::Line { text, place });
    }

    fn place(&self, calls: &Calls<'_>) -> Option<TextRange> {
        let (file, range) = calls.place()?;
        (file == self.evaluator.file()).then_some(range)
    }

    /// Looks at what the session has changed. Returns `None` if the event is to be looked at further.
    #[cold]
    fn look(&mut self, calls: &mut Calls<'_>) -> Option<Flow> {
        self.seen = self.shared.changes.load(Ordering::Acquire);
        self.breakpoints = self.shared.breakpoints.lock().clone();
        if self.goal.is_repetition() {
            return None;
        }
        if self.shared.pause.swap(false, Ordering::AcqRel) {
            return Some(self.stop(Reason::Pause, calls));
        }
        if self.breakpoints.needs_variables() && !self.keeps_variables {
            let then = Box::new(self.goal.clone());
            return Some(self.repeat(Goal::Through { at: self.now, then }));
        }
        None
    }

    fn repeat(&mut self, goal: Goal) -> Flow {
        self.repetition = Some(goal);
        Flow::End
    }

    /// Stops the run, and does what the session orders.
    fn stop(&mut self, reason: Reason, calls: &mut Calls<'_>) -> Flow {
        if !self.keeps_variables && self.began.elapsed() < MAX_REPEATED {
            return self.repeat(Goal::Position { at: self.now, reason });
        }
        self.step_from = None;
        let stop = Stop::new(reason, calls, self.evaluator.file(), self.keeps_variables);
        if self.reports.send(Report::Stopped(stop)).is_err() {
            return Flow::End;
        }
        loop {
            // Fails if the session has ended.
            let Ok(order) = self.orders.recv() else { return Flow::End };
            match order {
                Order::Set { inner, name, value } => {
                    if calls.set(inner, name, value.clone()) {
                        self.edits.push(Edit { at: self.now, inner, name, value });
                    }
                    continue;
                }
                Order::Continue(goal) => {
                    let is_step = matches!(goal, Goal::Into | Goal::Over { .. });
                    self.step_from = is_step.then_some(self.now);
                    self.goal = goal;
                    self.seen = self.shared.changes.load(Ordering::Acquire);
                    self.breakpoints = self.shared.breakpoints.lock().clone();
                    self.shared.pause.store(false, Ordering::Release);
                    return Flow::Refresh;
                }
                Order::Repeat(goal) => return self.repeat(goal),
                Order::StepBack => {
                    let goal = match self.steps.get(&self.now) {
                        Some(&at) => Goal::Position { at, reason: Reason::Step },
                        None => self
                            .point_before(calls)
                            .map_or(Goal::Entry, |at| Goal::Position { at, reason: Reason::Step }),
                    };
                    return self.repeat(goal);
                }
                Order::ReverseContinue => {
                    self.breakpoints = self.shared.breakpoints.lock().clone();
                    return self.repeat(Goal::BreakpointBefore { at: self.now });
                }
            }
        }
    }

    /// Counts an event, and applies what was set at it in an earlier run.
    fn count(&mut self, calls: &mut Calls<'_>) {
        self.now = Position { moment: self.now.moment + 1, results: 0 };
        if !self.edits.is_empty() {
            self.edit(calls);
        }
    }

    fn edit(&self, calls: &mut Calls<'_>) {
        for edit in self.edits.iter().filter(|edit| edit.at == self.now) {
            calls.set(edit.inner, edit.name, edit.value.clone());
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
            Goal::BreakpointBefore { at } if *at <= self.now => {
                let goal = match self.candidate.take() {
                    Some((at, reason)) => Goal::Position { at, reason },
                    None => Goal::Entry,
                };
                Some(self.repeat(goal))
            }
            _ => None,
        }
    }

    /// Records a point of the innermost call.
    fn pass(&mut self, depth: usize, serial: u64) {
        self.points.resize(depth, LastPoint::default());
        let moment = self.now.moment;
        if let Some(last) = self.points.last_mut() {
            let before = if last.serial == serial { last.moment } else { 0 };
            *last = LastPoint { serial, moment, before };
        }
    }

    /// Returns the last point before this event that is in the same call or in one around it.
    fn point_before(&self, calls: &Calls<'_>) -> Option<Position> {
        let depth = calls.depth();
        let moment = (0..depth).find_map(|inner| {
            let last = self.points.get(depth - 1 - inner)?;
            // A call that has ended may have left its point.
            if last.serial != calls.serial(inner) {
                return None;
            }
            let is_here = last.moment == self.now.moment && self.now.results == 0;
            let moment = if is_here { last.before } else { last.moment };
            (moment > 0).then_some(moment)
        });
        moment.map(|moment| Position { moment, results: 0 })
    }

    fn reached(&mut self, calls: &mut Calls<'_>) -> Flow {
        let (depth, serial) = (calls.depth(), calls.serial(0));
        if matches!(self.goal, Goal::Call { serial: wanted } if wanted == serial) {
            self.goal = Goal::Breakpoint;
            return self.stop(Reason::Step, calls);
        }
        let is_step = match &self.goal {
            Goal::Into => true,
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
            Goal::BreakpointBefore { .. } => {
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
        let hit = self.hit(&before, place, calls);
        let definitions = self.breakpoints.definitions.get(&place).cloned().unwrap_or_default();
        let called = self.hit(&definitions, place, calls);
        match (hit.is_empty(), called.is_empty()) {
            (false, _) => Some(Reason::Breakpoint(hit)),
            (true, false) => Some(Reason::FunctionBreakpoint(called)),
            (true, true) => None,
        }
    }

    /// Returns the breakpoints of a place that hold. Logpoints print their texts.
    fn hit(&mut self, at: &[Breakpoint], place: TextRange, calls: &Calls<'_>) -> Vec<i64> {
        let is_search = matches!(self.goal, Goal::BreakpointBefore { .. });
        let is_repetition = self.goal.is_repetition() && !is_search;
        let mut held = Vec::new();
        for breakpoint in at {
            // A repetition counts, and stops elsewhere.
            if is_repetition && breakpoint.hits.is_none() {
                continue;
            }
            let holds = breakpoint.condition.as_deref().is_none_or(|condition| {
                match self.condition(condition, place, calls) {
                    Ok(holds) => holds,
                    Err(message) => {
                        if !self.goal.is_repetition() {
                            let text = format!("the condition `{condition}` failed: {message}");
                            self.print(text, Some(place));
                        }
                        true
                    }
                }
            });
            if !holds {
                continue;
            }
            if let Some(condition) = breakpoint.hits {
                let hits = self.hits.entry(breakpoint.id).or_default();
                *hits += 1;
                if !condition.holds(*hits) {
                    continue;
                }
            }
            match &breakpoint.log {
                None if !is_repetition => held.push(breakpoint.id),
                None => {}
                Some(_) if self.goal.is_repetition() => {}
                Some(text) => self.log(text, place, calls),
            }
        }
        held
    }

    fn log(&mut self, text: &str, place: TextRange, calls: &Calls<'_>) {
        // A run that is repeated has printed this before.
        if self.now <= self.skipped || self.lines >= MAX_LINES {
            return;
        }
        self.printed = self.now;
        self.lines += 1;
        let mut line = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => line += text,
                Piece::Expression(expression) => {
                    let value = self.evaluator.evaluate(expression, place, &calls.variables(0));
                    line += &match value {
                        Ok(value) => summary::line(&value, &summary::of_value(&value)),
                        Err(message) => format!("{{{message}}}"),
                    };
                }
            }
        }
        if self.lines == MAX_LINES {
            line +=
                &format!("\nthe logpoints have printed {MAX_LINES} lines: later ones are left out");
        }
        self.print(line, Some(place));
    }

    fn condition(
        &self,
        condition: &str,
        place: TextRange,
        calls: &Calls<'_>,
    ) -> Result<bool, String> {
        let value = self.evaluator.evaluate(condition, place, &calls.variables(0))?;
        let tensor = value.as_tensor().filter(|tensor| tensor.len() == 1);
        let number = tensor.and_then(|tensor| tensor.get_f64(0));
        let number = number.ok_or_else(|| format!("it is {}, not a scalar", value.describe()))?;
        Ok(number != 0.0)
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

    fn calling(&mut self, operator: &str, calls: &mut Calls<'_>) -> Flow {
        let Some(at) = self.breakpoints.operators.get(operator) else { return Flow::Continue };
        let at = at.clone();
        let place = self.place(calls).unwrap_or_default();
        let hit = self.hit(&at, place, calls);
        match hit.is_empty() {
            true => Flow::Continue,
            false => self.found(Reason::FunctionBreakpoint(hit), calls),
        }
    }

    /// Looks at the result of an operator for the filters.
    fn result(&mut self, call: &CallMeasurement<'_>, calls: &mut Calls<'_>) -> Flow {
        self.now.results += 1;
        if let Some(flow) = self.arrive(calls) {
            return flow;
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

    fn is_changed(&self) -> bool {
        self.shared.changes.load(Ordering::Relaxed) != self.seen
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
    }
}

impl Observer for Debugger<'_> {
    fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
        match &event {
            Event::Called(call) => return self.result(call, calls),
            Event::Failed(fault) => {
                self.now.results = Position::FAILED;
                if let Some(flow) = self.arrive(calls) {
                    return flow;
                }
                if !self.breakpoints.failed {
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
        self.count(calls);
        if matches!(event, Event::Reached) {
            self.pass(calls.depth(), calls.serial(0));
        }
        if let Some(flow) = self.arrive(calls) {
            return flow;
        }
        let is_changed = self.is_changed();
        if is_changed && let Some(flow) = self.look(calls) {
            return flow;
        }
        let flow = match event {
            Event::Reached => self.reached(calls),
            Event::Bound(name, _) => self.bound(name, calls),
            Event::Calling(operator) => self.calling(operator.name, calls),
            Event::Called(_) | Event::Failed(_) => Flow::Continue,
        };
        if is_changed && flow == Flow::Continue { Flow::Refresh } else { flow }
    }

    fn measures(&self) -> bool {
        let has_results = match &self.goal {
            Goal::Position { at, .. }
            | Goal::Through { at, .. }
            | Goal::BreakpointBefore { at } => at.results > 0 && at.results != Position::FAILED,
            _ => false,
        };
        self.breakpoints.nan || self.breakpoints.infinite || has_results
    }
}
