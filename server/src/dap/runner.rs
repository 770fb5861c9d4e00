//! The thread of a run: the run, and its repetitions.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, Sender},
    },
    thread,
};

use interpreter::{Limits, TraceLevel};

use super::{
    debugger::{Debugger, RunControl, Start},
    evaluator::Evaluator,
    program::Program,
    protocol::LaunchArguments,
    stop::{Goal, Order, Report, SessionEvent},
};
use crate::{
    allocator, panics,
    run::{
        arguments::{GivenArgument, Inputs},
        execute::{Ending, PreparedRun, Repeatable, RunReport, Selection},
        failure::{self, Places},
        files::ArgumentFile,
        show,
    },
};

/// The stack size, for the deepest nesting that settings allow.
pub(super) const STACK: usize = 16 << 20;
/// The longest result that is printed, in bytes.
const MAX_RESULT: usize = 64 << 10;

/// Returns the sources of the arguments of a launch. Names of files are relative to `folder`.
///
/// # Errors
/// The message for an argument of another form.
pub(super) fn inputs(launch: &LaunchArguments, folder: &Path) -> Result<Inputs, String> {
    let given = launch.inputs.iter();
    let given = given.map(|(name, value)| GivenArgument::of_json(name, value, folder, false));
    let named = |path: &String| ArgumentFile { path: folder.join(path), within: None, part: None };
    Ok(Inputs {
        given: given.collect::<Result<Vec<GivenArgument>, String>>()?,
        archives: launch.archives.iter().map(named).collect(),
        params: launch.params.iter().map(named).collect(),
        seed: launch.random,
    })
}

/// Prepares a run of the function of a launch, which stops at the errors of the program.
///
/// # Errors
/// The message if there is no such function, or it cannot be analysed.
pub(super) fn prepared<'p>(
    program: &'p Program,
    function: Option<&str>,
    limits: Limits,
) -> Result<PreparedRun<'p>, String> {
    let selection = function.map_or(Selection::Main, Selection::Named);
    let def = selection.find(&program.db, program.file)?;
    let prepared = PreparedRun::new(&program.db, def, limits);
    let prepared = prepared.ok_or_else(|| "the function cannot be analysed".to_owned())?;
    Ok(prepared.stopping_at(&program.errors))
}

/// Returns the folder to which the names of files in a launch are relative.
pub(super) fn folder(program: &Program) -> PathBuf {
    program.path.parent().map(Path::to_owned).unwrap_or_default()
}

/// Starts the thread of a run.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn start(
    evaluator: Evaluator,
    launch: LaunchArguments,
    shared: Arc<RunControl>,
    orders: Receiver<Order>,
    reports: Sender<SessionEvent>,
) -> std::io::Result<()> {
    let work = move || {
        let end = reports.clone();
        let mut channels = Some((orders, reports));
        let run = || match channels.take() {
            Some(channels) => run(&evaluator, &launch, &shared, channels),
            None => ("the run has ended".to_owned(), 2),
        };
        let (text, code) =
            panics::caught(run).unwrap_or_else(|panicked| (panicked.message("this run"), 2));
        // Fails if the session has ended.
        let _ = end.send(SessionEvent::Report(Report::Ended { text, code }));
    };
    thread::Builder::new().name("run".into()).stack_size(STACK).spawn(work).map(|_| ())
}

/// Runs the program, and repeats it as ordered. Returns the last text for the console and the exit code.
fn run(
    evaluator: &Evaluator,
    launch: &LaunchArguments,
    shared: &RunControl,
    channels: (Receiver<Order>, Sender<SessionEvent>),
) -> (String, i64) {
    let program = evaluator.program();
    let prepared = match prepared(program, launch.function.as_deref(), program.limits.clone()) {
        Ok(prepared) => prepared.cancelled_by(shared.cancelled.clone()),
        Err(message) => return (message, 2),
    };
    let goal =
        if launch.stop_on_entry && !launch.no_debug { Goal::Entry } else { Goal::Breakpoint };
    let mut debugger = Debugger::new(shared, evaluator.clone(), channels, goal, launch.random);
    let mut runs = Repeatable::new(&prepared);
    let folder = folder(program);
    runs.trace(TraceLevel::Points);
    let mut report = runs.run(|| Ok(inputs(launch, &folder)?), &mut debugger);
    loop {
        if let Some(start) = debugger.next_repetition() {
            // It needs the memory that other threads have freed. The first run is as fast as any other without it.
            allocator::return_freed_pages();
            report = match start {
                Start::Checkpoint(snapshot) => runs.resume(&snapshot, &mut debugger),
                Start::Beginning => {
                    let arguments = shared.arguments.lock().clone();
                    runs.run_on((*arguments).clone(), &mut debugger)
                }
            };
            continue;
        }
        if let (Some(lost), false) = (debugger.lost(), debugger.is_cancelled()) {
            debugger.print(lost.to_owned(), None);
        }
        return ended(program, &prepared, &report);
    }
}

/// Returns the last text of a run and its exit code.
fn ended(program: &Program, prepared: &PreparedRun<'_>, report: &RunReport) -> (String, i64) {
    let name = program.path.display().to_string();
    let mut places = Places::new(&program.db, program.file, &name, &program.lines);
    match &report.ending {
        Ending::Refused(error) => {
            let help = error.help.as_ref().map(|help| format!("\nhelp: {help}"));
            (format!("{}{}", error.message, help.unwrap_or_default()), 2)
        }
        Ending::Failed(fault) => {
            let what = failure::name_of(&program.db, prepared.def);
            let text = failure::message(fault);
            (format!("{what} failed: {text}\n{}", places.trace(fault).trim_end()), 1)
        }
        Ending::Done(value) => {
            let mut text = show::human(value);
            if text.len() > MAX_RESULT {
                let end = (0..=MAX_RESULT).rev().find(|at| text.is_char_boundary(*at));
                text.truncate(end.unwrap_or(0));
                text.push('…');
            }
            (text, i64::from(!program.errors.is_empty()))
        }
    }
}
