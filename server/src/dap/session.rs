//! A session: the requests of a client, in any order.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, Sender, channel},
    },
};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use syntax::TextRange;

use super::{
    breakpoints::points_between,
    capabilities::capabilities,
    console::read_files,
    debugger::RunControl,
    evaluator::Evaluator,
    program::{Positions, Program},
    protocol::{
        Body, BreakpointLocation, BreakpointState, ClientMessage, ErrorText, EvaluateArguments,
        Event, GotoArguments, GotoTarget, InitializeArguments, LaunchArguments, OutputEvent,
        PlaceArguments, Response, ServerMessage, SetBreakpointsArguments,
        SetExceptionBreakpointsArguments, StoppedEvent, Thread,
    },
    runner,
    stop::{Goal, Order, Reason, Report, SessionEvent, Stop},
    stopped::StoppedRun,
    transport::{Input, Output},
    variables::ArgumentLines,
};
use crate::{panics, run::failure};

/// The request for the view of a tensor.
const TENSOR: &str = "relay/tensor";
/// The only thread.
const THREAD: i64 = 1;
/// The longest label of a target, in characters.
const MAX_LABEL: usize = 80;

/// The answer to a request.
type Answer = Result<Option<Body>, String>;

/// A session.
pub(super) struct Session {
    output: Output,
    to_self: Sender<SessionEvent>,
    positions: Positions,
    launch: Option<(LaunchArguments, Evaluator)>,
    is_configured: bool,
    /// Sends orders to the run, if there is one.
    run: Option<Sender<Order>>,
    /// Shared with the run, which is not started yet or has ended, too.
    shared: Arc<RunControl>,
    stopped: Option<StoppedRun>,
    /// From the first stop on.
    lines: Option<Arc<ArgumentLines>>,
    next_id: i64,
    is_over: bool,
}

impl Session {
    /// Serves a client until it disconnects.
    pub(super) fn serve(output: Output, events: (Sender<SessionEvent>, Receiver<SessionEvent>)) {
        let (to_self, events) = events;
        let mut session = Session {
            output,
            to_self,
            positions: Positions { line: 1, column: 1 },
            launch: None,
            is_configured: false,
            run: None,
            shared: Arc::default(),
            stopped: None,
            lines: None,
            next_id: 0,
            is_over: false,
        };
        for event in events.iter() {
            match event {
                SessionEvent::Input(Input::Closed) => break,
                SessionEvent::Input(Input::Malformed(reason)) => {
                    session.print("stderr", &reason, None);
                }
                SessionEvent::Input(Input::Message(message)) => session.message(&message),
                SessionEvent::Report(report) => session.report(report),
            }
            if session.is_over {
                break;
            }
        }
        session.end_run();
    }

    fn send(&mut self, message: ServerMessage) {
        // A client that reads no more has gone.
        if self.output.send(&message).is_err() {
            self.is_over = true;
        }
    }

    fn event(&mut self, event: Event) {
        self.send(ServerMessage::Event(event));
    }

    fn print(&mut self, category: &'static str, text: &str, place: Option<TextRange>) {
        let program = self.launch.as_ref().map(|(_, evaluator)| evaluator.program());
        let at = place
            .zip(program)
            .map(|(range, program)| (program.source(), program.position(range.start()).0));
        let (source, line) = at.unzip();
        let output = format!("{text}\n");
        self.event(Event::Output(OutputEvent { category, output, source, line }));
    }

    fn message(&mut self, message: &ClientMessage) {
        if message.kind != "request" {
            return;
        }
        let mut answer = Err(String::new());
        let mut answer_to = |session: &mut Session| answer = session.answer(message);
        let caught = panics::caught(|| answer_to(self));
        if let Err(panicked) = caught {
            answer = Err(panicked.message("this request"));
        }
        let (success, body, reason) = match answer {
            Ok(body) => (true, body, None),
            Err(format) => {
                // A view of a tensor shows its problems itself.
                let error = ErrorText { id: 1, format, show_user: message.command != TENSOR };
                (false, Some(Body::Failure { error }), Some("failed"))
            }
        };
        self.send(ServerMessage::Response(Response {
            request_seq: message.seq,
            success,
            command: message.command.clone(),
            message: reason,
            body,
        }));
        if !success {
            return;
        }
        match message.command.as_str() {
            "launch" => self.launched(),
            "configurationDone" => self.start(),
            "terminate" => self.terminate(),
            "disconnect" => self.is_over = true,
            _ => {}
        }
    }

    fn answer(&mut self, message: &ClientMessage) -> Answer {
        let given = &message.arguments;
        match message.command.as_str() {
            "initialize" => self.initialize(&arguments(given)?),
            "launch" => self.prepare(arguments(given)?),
            "attach" => Err("a run is launched, not attached to".to_owned()),
            "configurationDone" => {
                self.is_configured = true;
                Ok(None)
            }
            "setBreakpoints" => self.set_breakpoints(&arguments(given)?),
            "setFunctionBreakpoints" => self.set_functions(&arguments(given)?),
            "setExceptionBreakpoints" => self.set_filters(&arguments(given)?),
            "breakpointLocations" => self.locations(&arguments(given)?),
            "threads" => {
                let name = match &self.launch {
                    Some((launch, _)) => launch.function.clone().unwrap_or("run".to_owned()),
                    None => "run".to_owned(),
                };
                Ok(Some(Body::Threads { threads: vec![Thread { id: THREAD, name }] }))
            }
            "stackTrace" => self.at_stop(given, |stopped, given| stopped.frames(given)),
            "scopes" => self.at_stop(given, StoppedRun::scopes),
            "variables" => self.at_stop(given, StoppedRun::variables),
            "evaluate" => {
                let given: EvaluateArguments = arguments(given)?;
                let read = self.launch.as_ref().map(|(launch, evaluator)| {
                    let folder = runner::folder(evaluator.program());
                    read_files(&given.expression, launch, &folder)
                });
                self.stopped()?.0.evaluate(&given, &read.unwrap_or_default()).map(Some)
            }
            "completions" => self.at_stop(given, |stopped, given| stopped.completions(given)),
            "readMemory" => self.at_stop(given, |stopped, given| stopped.memory(given)),
            TENSOR => self.at_stop(given, StoppedRun::tensor_view),
            "setVariable" => {
                let given = arguments(given)?;
                let (stopped, orders) = self.stopped()?;
                let (order, body) = stopped.set(&given)?;
                // Fails if the run has ended.
                let _ = orders.send(order);
                Ok(Some(body))
            }
            "exceptionInfo" => {
                let Reason::Exception(found) = &self.stopped()?.0.reason else {
                    return Err("the run did not stop at an exception".to_owned());
                };
                Ok(Some(Body::Exception {
                    exception_id: found.id.clone(),
                    description: found.description.clone(),
                    break_mode: "always",
                }))
            }
            "continue" => {
                self.resume(|_| Order::Continue(Goal::Breakpoint))?;
                Ok(Some(Body::Continued { all_threads_continued: true }))
            }
            "next" => self.resume(|stopped| {
                let (serial, depth) = stopped.innermost();
                Order::Continue(Goal::Over { serial, depth })
            }),
            "stepIn" => self.resume(|_| Order::Continue(Goal::Into)),
            "stepOut" => {
                self.resume(|stopped| Order::Continue(Goal::Out { depth: stopped.innermost().1 }))
            }
            "stepBack" => self.resume(|_| Order::StepBack),
            "reverseContinue" => self.resume(|_| Order::ReverseContinue),
            "restartFrame" => {
                let given = arguments(given)?;
                let serial = self.stopped()?.0.serial(&given)?;
                self.resume(|_| Order::Repeat(Goal::Call { serial }))
            }
            "gotoTargets" => self.goto_targets(&arguments(given)?),
            "goto" => {
                let given: GotoArguments = arguments(given)?;
                let (serial, place) = self.goto_target(given.target_id)?;
                self.resume(|_| Order::Goto { serial, place })
            }
            "pause" => {
                if self.run.is_none() {
                    return Err(not_running());
                }
                if self.stopped.is_none() {
                    self.shared.pause.store(true, Ordering::Release);
                    self.shared.notify();
                }
                Ok(None)
            }
            "terminate" | "disconnect" | "cancel" => Ok(None),
            other => Err(format!("the request `{other}` is not supported")),
        }
    }

    fn initialize(&mut self, given: &InitializeArguments) -> Answer {
        let first = |is_one: Option<bool>| i64::from(is_one.unwrap_or(true));
        let (line, column) = (first(given.lines_start_at1), first(given.columns_start_at1));
        self.positions = Positions { line, column };
        Ok(Some(Body::Capabilities(capabilities())))
    }

    fn prepare(&mut self, launch: LaunchArguments) -> Answer {
        if self.launch.is_some() {
            return Err("a program was launched already in this session".to_owned());
        }
        if launch.program.is_empty() {
            return Err("the configuration has no `program`: name the file to debug".to_owned());
        }
        let program = Program::load(Path::new(&launch.program), self.positions)?;
        runner::inputs(&launch, &runner::folder(&program))?;
        {
            let (function, limits) = (launch.function.as_deref(), program.limits.clone());
            let prepared = runner::prepared(&program, function, limits)?;
            if let Some(error) = prepared.header_error() {
                let name = failure::name_of(&program.db, prepared.def);
                return Err(format!("{name} cannot be called: {}", failure::summary_of(error)));
            }
        }
        self.launch = Some((launch, Evaluator::new(&program)));
        Ok(None)
    }

    fn launched(&mut self) {
        let errors = self.launch.as_ref().and_then(|(_, e)| e.program().errors_in_short());
        if let Some(errors) = errors {
            self.print("stderr", &errors, None);
        }
        // Breakpoints are set in the text of the program.
        self.event(Event::Initialized);
        self.start();
    }

    /// Starts the run if all that it needs is known.
    fn start(&mut self) {
        let Some((launch, evaluator)) = self.launch.clone().filter(|_| self.is_configured) else {
            return;
        };
        if self.run.is_some() || self.shared.cancelled.load(Ordering::Relaxed) {
            return;
        }
        let (orders, from_session) = channel();
        let (shared, to_self) = (self.shared.clone(), self.to_self.clone());
        match runner::start(evaluator, launch, shared, from_session, to_self) {
            Ok(()) => self.run = Some(orders),
            Err(error) => {
                self.report(Report::Ended {
                    text: format!("no run can be started: {error}"),
                    code: 2,
                });
            }
        }
    }

    fn set_breakpoints(&mut self, given: &SetBreakpointsArguments) -> Answer {
        let Some((launch, evaluator)) = &self.launch else {
            return Ok(Some(self.pending(given.breakpoints.len())));
        };
        let program = evaluator.program();
        let path = given.source.path.as_deref().map(std::path::absolute);
        let is_own = path.is_some_and(|path| path.is_ok_and(|path| is_same(&path, &program.path)));
        if !is_own || launch.no_debug {
            let mut pending = self.pending(given.breakpoints.len());
            if let (Body::Breakpoints { breakpoints }, false) = (&mut pending, is_own) {
                breakpoints.iter_mut().for_each(|state| {
                    state.message = Some("this file is not the program".to_owned());
                });
            }
            return Ok(Some(pending));
        }
        let mut all = self.shared.breakpoints.lock().clone();
        let ids = &mut self.next_id;
        let breakpoints = all.set(&given.breakpoints, evaluator, ids);
        *self.shared.breakpoints.lock() = all;
        self.shared.notify();
        Ok(Some(Body::Breakpoints { breakpoints }))
    }

    fn set_functions(&mut self, given: &SetBreakpointsArguments) -> Answer {
        let debugged = self.launch.as_ref().filter(|(launch, _)| !launch.no_debug);
        let Some((_, evaluator)) = debugged else {
            return Ok(Some(self.pending(given.breakpoints.len())));
        };
        let ids = &mut self.next_id;
        let mut all = self.shared.breakpoints.lock();
        let breakpoints = all.set_functions(&given.breakpoints, evaluator, ids);
        drop(all);
        self.shared.notify();
        Ok(Some(Body::Breakpoints { breakpoints }))
    }

    /// Returns breakpoints that hold nowhere.
    fn pending(&mut self, count: usize) -> Body {
        let states = (0..count.min(10_000)).map(|_| {
            self.next_id += 1;
            BreakpointState { id: self.next_id, ..BreakpointState::default() }
        });
        Body::Breakpoints { breakpoints: states.collect() }
    }

    fn set_filters(&mut self, given: &SetExceptionBreakpointsArguments) -> Answer {
        let is_debugged = self.launch.as_ref().is_none_or(|(launch, _)| !launch.no_debug);
        let has = |name: &str| is_debugged && given.filters.iter().any(|filter| filter == name);
        let mut all = self.shared.breakpoints.lock();
        (all.failed, all.declared_size) = (has("failed"), has("declaredSize"));
        (all.nan, all.infinite) = (has("nan"), has("infinity"));
        all.overflow = has("overflow");
        drop(all);
        self.shared.notify();
        Ok(None)
    }

    fn locations(&mut self, given: &PlaceArguments) -> Answer {
        let Some((_, evaluator)) = &self.launch else { return Err(not_running()) };
        let lines = (given.line, given.end_line.unwrap_or(given.line));
        let places = points_between(evaluator.program(), lines).into_iter();
        let breakpoints = places.map(|(line, column)| BreakpointLocation { line, column });
        Ok(Some(Body::Locations { breakpoints: breakpoints.collect() }))
    }

    /// Returns the points of a line that the innermost call has passed. Their numbers are those of the points.
    fn goto_targets(&mut self, given: &PlaceArguments) -> Answer {
        let path = given.source.path.clone();
        let (stopped, _) = self.stopped()?;
        let program = stopped.program();
        if !path.is_some_and(|path| is_same(Path::new(&path), &program.path)) {
            return Err("this file is not the program".to_owned());
        }
        let numbers = (1..).zip(program.points()).filter_map(|(id, point)| {
            let (line, column) = program.position(point.range.start());
            let (end_line, end_column) = program.position(point.range.end());
            let is_wanted = line == given.line && given.column.is_none_or(|from| from <= column);
            let text = program.at(point.range).lines().next().unwrap_or_default();
            let label = text.chars().take(MAX_LABEL).collect();
            (is_wanted && stopped.has_passed(point.range)).then_some(GotoTarget {
                id,
                label,
                line,
                column,
                end_line,
                end_column,
            })
        });
        Ok(Some(Body::Targets { targets: numbers.collect() }))
    }

    fn goto_target(&mut self, id: i64) -> Result<(u64, TextRange), String> {
        let (stopped, _) = self.stopped()?;
        let number = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
        let point = number.and_then(|number| stopped.program().points().get(number));
        let point = point.ok_or_else(|| format!("there is no target {id}"))?;
        match stopped.has_passed(point.range) {
            true => Ok((stopped.innermost().0, point.range)),
            false => Err("the call has not come to this place yet: run to it".to_owned()),
        }
    }

    fn stopped(&mut self) -> Result<(&mut StoppedRun, &Sender<Order>), String> {
        let Some(orders) = &self.run else { return Err(not_running()) };
        let stopped = self.stopped.as_mut();
        let stopped = stopped.ok_or_else(|| "the program is running: pause it first".to_owned())?;
        Ok((stopped, orders))
    }

    /// Answers a request about a stopped run.
    fn at_stop<A: DeserializeOwned>(
        &mut self,
        given: &Json,
        answer: impl FnOnce(&mut StoppedRun, &A) -> Result<Body, String>,
    ) -> Answer {
        let given = arguments(given)?;
        answer(self.stopped()?.0, &given).map(Some)
    }

    fn resume(&mut self, order: impl FnOnce(&StoppedRun) -> Order) -> Answer {
        let (stopped, orders) = self.stopped()?;
        let (order, orders) = (order(stopped), orders.clone());
        // The values of the stop are released before operators may reuse their memory.
        self.stopped = None;
        // Fails if the run has ended.
        let _ = orders.send(order);
        Ok(None)
    }

    fn report(&mut self, report: Report) {
        match report {
            Report::Stopped(stop) => self.stop(stop),
            Report::Line { text, place } => self.print("console", &text, place),
            Report::Ended { text, code } => {
                self.run = None;
                self.stopped = None;
                // The session has one run.
                self.shared.cancelled.store(true, Ordering::Relaxed);
                self.print(if code == 0 { "stdout" } else { "stderr" }, &text, None);
                self.event(Event::Exited { exit_code: code });
                self.event(Event::Terminated);
            }
        }
    }

    fn stop(&mut self, stop: Stop) {
        let Some((launch, evaluator)) = &self.launch else { return };
        let mut event = StoppedEvent {
            reason: "step",
            thread_id: THREAD,
            all_threads_stopped: true,
            ..StoppedEvent::default()
        };
        match &stop.reason {
            Reason::Entry => event.reason = "entry",
            Reason::Step => {}
            Reason::Pause => event.reason = "pause",
            Reason::Goto => event.reason = "goto",
            Reason::Breakpoint(ids) => {
                (event.reason, event.hit_breakpoint_ids) = ("breakpoint", ids.clone());
            }
            Reason::FunctionBreakpoint(ids) => {
                (event.reason, event.hit_breakpoint_ids) = ("function breakpoint", ids.clone());
            }
            Reason::Exception(found) => {
                event.reason = "exception";
                event.description = Some("Paused on exception".to_owned());
                event.text = Some(found.description.clone());
            }
        }
        let arguments = self.shared.arguments.lock().clone();
        let lines = self.lines.get_or_insert_with(|| Arc::new(ArgumentLines::of(&arguments)));
        let lines = lines.clone();
        let origin = (launch.function.clone(), arguments);
        self.stopped = Some(StoppedRun::new(stop, evaluator.clone(), origin, lines));
        self.event(Event::Stopped(event));
    }

    fn terminate(&mut self) {
        match &self.run {
            // The run reports its end.
            Some(_) => self.end_run(),
            None => self.event(Event::Terminated),
        }
    }

    fn end_run(&mut self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
        self.stopped = None;
        if let Some(orders) = &mut self.run {
            self.shared.notify();
            // A stopped run waits for an order, and ends without a session.
            *orders = channel().0;
        }
    }
}

fn not_running() -> String {
    "no program is running: launch one first".to_owned()
}

/// Returns true if two paths name the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

/// Returns the arguments of a request; without any, those of an empty object.
fn arguments<A: DeserializeOwned>(given: &Json) -> Result<A, String> {
    let given = match given {
        Json::Null => Json::Object(serde_json::Map::new()),
        other => other.clone(),
    };
    serde_json::from_value(given).map_err(|error| format!("the arguments are invalid: {error}"))
}
