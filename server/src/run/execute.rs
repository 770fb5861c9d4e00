//! A run from its arguments to its result, in one sequence. The command line and the language server observe it and
//! draw its report; neither has a sequence of its own.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use clock::Instant;
use interpreter::{Fault, FaultKind, Limits, Machine, Observer, Snapshot, TraceLevel, Value};
use semantics::{Database, Def, DefKind, Diagnostic, Severity, SourceFile, View};
use syntax::TextSize;

use super::{
    arguments::{self, ArgumentError, Arguments, Inputs},
    failure,
};
use crate::allocator::{self, limited_machine};

/// The choice of a function or bare expression of a file.
pub(crate) enum Selection<'s> {
    /// The function with this name, with or without `@`.
    Named(&'s str),
    /// The function or expression at an offset; between definitions, that of [`Selection::Main`].
    At(TextSize),
    /// The bare expression.
    Expression,
    /// `@main`, otherwise the bare expression, otherwise the only function.
    Main,
}

impl Selection<'_> {
    /// Returns the definition in `file`.
    ///
    /// # Errors
    /// There is none, or [`Selection::Main`] has several candidates.
    pub(crate) fn find<'db>(
        &self,
        db: &'db Database,
        file: SourceFile,
    ) -> Result<Def<'db>, String> {
        let defs: Vec<Def<'db>> = semantics::all_defs(db, file).collect();
        let functions = || defs.iter().copied().filter(|def| def.kind(db) == DefKind::Fn);
        match self {
            Selection::Named(name) => {
                let name = format!("@{}", name.trim_start_matches('@'));
                function_named(db, file, &name).ok_or_else(|| {
                    let names: Vec<&str> = functions().map(|def| def.name(db).as_str()).collect();
                    arguments::no_function(&name, &names)
                })
            }
            Selection::At(offset) => ide::place::def_at(db, file, *offset)
                .map(|(_, def)| def)
                .filter(|def| def.kind(db).has_body())
                .map_or_else(|| Selection::Main.find(db, file), Ok),
            Selection::Expression => {
                let found = defs.iter().copied().find(|def| def.kind(db) == DefKind::Expr);
                found.ok_or_else(|| "there is no bare expression in this file".to_owned())
            }
            Selection::Main => {
                let bare = || defs.iter().copied().find(|def| def.kind(db) == DefKind::Expr);
                let only = || {
                    let mut all = functions();
                    all.next().filter(|_| all.next().is_none())
                };
                let found = function_named(db, file, "@main").or_else(bare).or_else(only);
                found.ok_or_else(|| {
                    "there is no `@main` in this file: name the function to run".to_owned()
                })
            }
        }
    }
}

fn function_named<'db>(db: &'db Database, file: SourceFile, name: &str) -> Option<Def<'db>> {
    let mut defs = semantics::all_defs(db, file);
    defs.find(|def| def.kind(db) == DefKind::Fn && def.name(db) == name)
}

/// A definition that is ready to run.
pub(crate) struct PreparedRun<'db> {
    /// The definition.
    pub(crate) def: Def<'db>,
    /// Its body and types.
    pub(crate) view: View<'db>,
    db: &'db Database,
    limits: Limits,
    cancelled: Arc<AtomicBool>,
    /// The errors of the file, at which the run stops.
    errors: Vec<Diagnostic>,
}

impl<'db> PreparedRun<'db> {
    /// Prepares a run within limits; `None` if the definition cannot be analysed.
    pub(crate) fn new(
        db: &'db Database,
        def: Def<'db>,
        limits: Limits,
    ) -> Option<PreparedRun<'db>> {
        let view = View::new(db, def)?;
        Some(PreparedRun { def, view, db, limits, cancelled: Arc::default(), errors: Vec::new() })
    }

    /// Ends the run soon after the flag is set.
    pub(crate) fn cancelled_by(self, flag: Arc<AtomicBool>) -> PreparedRun<'db> {
        PreparedRun { cancelled: flag, ..self }
    }

    /// Stops the run at the errors among the diagnostics of the file.
    pub(crate) fn stopping_at(self, found: &[Diagnostic]) -> PreparedRun<'db> {
        PreparedRun { errors: errors_among(found), ..self }
    }

    /// Returns the first error in the header of the definition, without which it cannot be called.
    pub(crate) fn header_error(&self) -> Option<&Diagnostic> {
        let own = self.def.range(self.db);
        let inside = self.errors.iter().filter(|d| own.contains_range(d.range));
        let error = inside.min_by_key(|d| d.range.start())?;
        ide::live::is_in_header(&self.view, error.range).then_some(error)
    }
}

/// Returns the errors of the text. Other findings are none, even if settings make them errors.
pub(super) fn errors_among(found: &[Diagnostic]) -> Vec<Diagnostic> {
    let is_error =
        |d: &&Diagnostic| d.severity == Severity::Error && d.code.severity() == Severity::Error;
    found.iter().filter(is_error).cloned().collect()
}

/// Observes a run: its arguments, then what [`Observer`] receives while the function runs.
pub(crate) trait RunObserver: Observer {
    /// The arguments were read, and the function starts.
    fn started(&mut self, _arguments: &Arguments) {}
}

/// The end of a run.
pub(crate) enum Ending {
    /// An argument is missing or does not fit, and the function did not start.
    Refused(ArgumentError),
    /// The run failed. It may have exceeded a limit before the function started, while arguments were read.
    Failed(Fault),
    /// The function returned a value.
    Done(Value),
}

/// The report of a run.
pub(crate) struct RunReport {
    /// The end of the run.
    pub(crate) ending: Ending,
    /// The arguments, if the function started; without their values, which belong to the function.
    pub(crate) arguments: Option<Arguments>,
    /// The time that the function took.
    pub(crate) time: Duration,
    /// The error of the text at which the run stopped, if that is why it failed.
    pub(crate) stopped: Option<Diagnostic>,
}

impl RunReport {
    fn unstarted(ending: Ending) -> RunReport {
        RunReport { ending, arguments: None, time: Duration::ZERO, stopped: None }
    }

    /// Returns the diagnostic of a run without a value. `limit` returns the option or setting of a limit.
    pub(crate) fn diagnostic(
        &self,
        db: &Database,
        def: Def<'_>,
        limit: fn(&str) -> String,
    ) -> Option<Diagnostic> {
        match &self.ending {
            Ending::Refused(error) => {
                Some(error.diagnostic(FaultKind::Input.code(), def.range(db)))
            }
            Ending::Failed(fault) => Some(failure::diagnostic(db, def, fault, limit)),
            Ending::Done(_) => None,
        }
    }
}

/// Reads the arguments that `inputs` names, and runs the definition on them. Reading counts towards the limits.
pub(crate) fn execute(
    prepared: &PreparedRun<'_>,
    inputs: impl FnOnce() -> Result<Inputs, ArgumentError>,
    observer: &mut dyn RunObserver,
) -> RunReport {
    Repeatable::new(prepared).run(inputs, observer)
}

/// Runs of one definition, which share its code and decoded constants.
pub(crate) struct Repeatable<'p, 'db> {
    prepared: &'p PreparedRun<'db>,
    machine: Machine<'db>,
}

impl<'p, 'db> Repeatable<'p, 'db> {
    /// Creates the runs of a prepared definition.
    pub(crate) fn new(prepared: &'p PreparedRun<'db>) -> Repeatable<'p, 'db> {
        let PreparedRun { def, db, limits, cancelled, errors, .. } = prepared;
        let mut machine = limited_machine(db, limits.clone()).cancelled_by(cancelled.clone());
        if !errors.is_empty() {
            let ranges = errors.iter().map(|error| error.range).collect();
            machine = machine.stopping_at(def.file(*db), ranges);
        }
        Repeatable { prepared, machine }
    }

    /// Sets what the next runs report to their observers.
    pub(crate) fn trace(&mut self, tracing: TraceLevel) {
        self.machine.trace(tracing);
    }

    /// Runs the definition, as [`execute`] does.
    pub(crate) fn run(
        &mut self,
        inputs: impl FnOnce() -> Result<Inputs, ArgumentError>,
        observer: &mut dyn RunObserver,
    ) -> RunReport {
        let PreparedRun { def, view, db, .. } = self.prepared;
        let machine = &mut self.machine;
        let watch = machine.begin();
        let mut function = |name: &str| {
            let def = function_named(db, def.file(*db), name)?;
            let ty = View::new(*db, def)?.inference.signature.clone()?;
            Some((machine.function(def)?, ty))
        };
        let gather = || arguments::gather(view, &inputs()?, &mut function);
        let mut arguments = match watch.within(gather) {
            Ok(Ok(arguments)) => arguments,
            Ok(Err(error)) => return RunReport::unstarted(Ending::Refused(error)),
            Err(fault) => return RunReport::unstarted(Ending::Failed(fault)),
        };
        observer.started(&arguments);
        // Moved, so that operators may reuse their memory.
        let values = std::mem::take(&mut arguments.values);
        let report = self.run_on(values, observer);
        RunReport { arguments: Some(arguments), ..report }
    }

    /// Runs the definition on arguments that an earlier run has gathered.
    pub(crate) fn run_on(
        &mut self,
        values: Vec<Value>,
        observer: &mut dyn RunObserver,
    ) -> RunReport {
        let begin = Instant::now();
        let result = self.machine.run(self.prepared.def, values, Some(observer));
        self.report(result, begin)
    }

    /// Goes on with an earlier run from a snapshot.
    pub(crate) fn resume(
        &mut self,
        snapshot: &Arc<Snapshot>,
        observer: &mut dyn RunObserver,
    ) -> RunReport {
        // The values of the earlier run and of this one are not in memory together.
        self.machine.wait_for_cleanup();
        allocator::collect();
        let begin = Instant::now();
        let result = self.machine.resume(snapshot, observer);
        self.report(result, begin)
    }

    fn report(&self, result: Result<Value, Fault>, begin: Instant) -> RunReport {
        let time = begin.elapsed();
        let PreparedRun { def, db, errors, .. } = self.prepared;
        let mut stopped = None;
        let ending = match result {
            Ok(value) => Ending::Done(value),
            Err(mut fault) => {
                let file = def.file(*db);
                let found = match fault.kind {
                    // An unknown name, for example, which inference does not report.
                    FaultKind::Untyped if errors.is_empty() => {
                        errors_among(&semantics::check_file(*db, file))
                    }
                    _ => Vec::new(),
                };
                let errors = if found.is_empty() { errors } else { &found };
                stopped = failure::explain_stop(&mut fault, file, errors).cloned();
                Ending::Failed(fault)
            }
        };
        RunReport { ending, arguments: None, time, stopped }
    }
}
