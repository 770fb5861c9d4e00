//! What a reduction keeps, and the judgement of candidates.

use std::{
    collections::HashSet,
    fmt,
    io::{BufRead, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use interpreter::{CallMeasurement, Fault, FaultKind, Limits, Observer, Value};
use semantics::{Code, Diagnostic, Rules, Setup, Severity};
use syntax::TextRange;

use super::{
    cut::{self, Parts, Style},
    differs,
    edits::Edit,
    facts::Facts,
};
use crate::{
    analyzer::{Analyzer, Options},
    files::{Claims, Scratch},
    run::{
        arguments::Inputs,
        execute::{Ending, PreparedRun, RunObserver, Selection, execute},
        failure,
    },
};

/// What the reduced module must still show.
#[derive(Clone, Debug)]
pub(crate) enum Keep {
    /// A diagnostic with this code.
    Code(Code),
    /// A refusal of a release of TVM.
    Tvm(Rules),
    /// A failure of a run.
    Fails,
    /// An element of the result that is not a number.
    Nan,
    /// A difference between the values of two functions that were cut from the module and from the one at this path.
    Differs(PathBuf),
    /// What the program that started this one answers.
    Ask,
    /// A command that exits with 0; `{}` in it is the path of the module.
    Command(String),
}

impl Keep {
    /// Parses the option of the command line.
    ///
    /// # Errors
    /// The message for another text.
    pub(crate) fn parse(text: &str) -> Result<Keep, String> {
        match text.split_once([':', '=']) {
            Some(("differs", path)) if !path.is_empty() => Ok(Keep::Differs(path.into())),
            Some(("code", name)) => Code::from_name(name).map(Keep::Code).ok_or_else(|| {
                let near =
                    semantics::nearest_code(name).map(|code| format!("; did you mean `{code}`?"));
                format!("there is no code `{name}`{}", near.unwrap_or_default())
            }),
            Some(("tvm", release)) => Rules::parse(release)
                .filter(|rules| *rules != Rules::General)
                .map(Keep::Tvm)
                .ok_or_else(|| "expected a release from 0.5 to 0.19".to_owned()),
            None if text == "tvm" => Ok(Keep::Tvm(Rules::of(true))),
            None if text == "fails" => Ok(Keep::Fails),
            None if text == "nan" => Ok(Keep::Nan),
            None if text == "ask" => Ok(Keep::Ask),
            _ => {
                let all =
                    "`code:CODE`, `tvm`, `tvm=RELEASE`, `fails`, `nan`, `differs:FILE` and `ask`";
                Err(format!("it is none of {all}"))
            }
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::Code(code) => write!(f, "--keep code:{code}"),
            Keep::Tvm(Rules::Tvm(release)) => write!(f, "--keep tvm={release}"),
            Keep::Tvm(Rules::General) => f.write_str("--keep tvm"),
            Keep::Fails => f.write_str("--keep fails"),
            Keep::Nan => f.write_str("--keep nan"),
            Keep::Ask => f.write_str("--keep ask"),
            Keep::Differs(path) => write!(f, "--keep differs:{}", path.display()),
            Keep::Command(command) => write!(f, "--command '{}'", command.replace('\n', " ")),
        }
    }
}

/// The settings of a judge.
pub(crate) struct JudgeSettings {
    /// What is kept.
    pub(crate) keep: Keep,
    /// The arguments of runs.
    pub(crate) inputs: Inputs,
    /// The limits of each run.
    pub(crate) limits: Limits,
    /// The longest time of each command.
    pub(crate) time: Duration,
    /// The commands that run at the same time.
    pub(crate) jobs: usize,
    /// The operators of the calls that differ, in [`JoinedModule`](super::Joined).
    pub(crate) operators: Option<(String, String)>,
    /// Ends the reduction soon after it is set.
    pub(crate) cancelled: Arc<AtomicBool>,
    /// The rules of the diagnostics, unless what is kept decides them.
    pub(crate) rules: Rules,
    /// The place of the diagnostic that is kept, if there are several.
    pub(crate) place: Option<TextRange>,
}

/// The judgement of a module.
#[derive(Clone, Default, Debug)]
pub(super) struct Verdict {
    /// True if it shows what is kept.
    pub(super) holds: bool,
    /// True if it has no other errors than those of the module at the start.
    pub(super) is_formed: bool,
    /// Where it shows, the most precise place first.
    pub(super) places: Vec<TextRange>,
    /// What it shows, in one line.
    pub(super) what: String,
}

/// Judges candidates.
pub(super) struct Judge {
    setting: JudgeSettings,
    analyzer: Analyzer,
    /// The code that is kept: that of the first error or of the failure.
    code: Option<Code>,
    /// The codes of errors that any candidate may have.
    allowed: HashSet<Code>,
    folder: Option<Scratch>,
    /// The number of candidates that were judged.
    pub(super) tried: u64,
    /// Those of them that were well-formed.
    pub(super) formed: u64,
    /// True if a command gave two answers about one module.
    pub(super) is_flaky: bool,
}

impl Judge {
    /// Creates a judge, and judges the module at the start.
    ///
    /// # Errors
    /// The message if it does not show what is kept, or cannot be run.
    pub(super) fn new(setting: JudgeSettings, text: &str) -> Result<(Judge, Verdict), String> {
        let (mut rules, mut code, mut folder) = (setting.rules, None, None);
        match &setting.keep {
            Keep::Tvm(own) => rules = *own,
            Keep::Code(own) => code = Some(*own),
            Keep::Command(_) => folder = Some(Scratch::new("reduce")?),
            Keep::Fails | Keep::Nan | Keep::Differs(_) | Keep::Ask => {}
        }
        let setup = Setup { rules, ..Setup::default() };
        let analyzer = Analyzer::new(&Options { setup, ..Options::default() });
        let mut judge = Judge {
            setting,
            analyzer,
            code,
            allowed: HashSet::new(),
            folder,
            tried: 0,
            formed: 0,
            is_flaky: false,
        };
        let found = judge.diagnostics(text)?;
        let errors: Vec<&Diagnostic> =
            found.iter().filter(|d| d.severity == Severity::Error).collect();
        match &judge.setting.keep {
            // A missing version is the least of what a module shows.
            Keep::Tvm(_) => {
                let other = errors.iter().find(|error| error.code != Code::TvmVersion);
                judge.code = other.or(errors.first()).map(|error| error.code);
            }
            Keep::Code(_) | Keep::Command(_) | Keep::Ask => {}
            Keep::Fails | Keep::Nan | Keep::Differs(_) => {
                if let Some(error) = errors.first() {
                    return Err(format!(
                        "the module has errors and cannot be run: {}",
                        error.message
                    ));
                }
            }
        }
        judge.allowed = errors.iter().map(|error| error.code).collect();
        let verdict = judge.verdict(text)?;
        if !verdict.holds {
            return Err(judge.refusal(&verdict));
        }
        if let Keep::Command(_) = judge.setting.keep {
            for _ in 0..2 {
                judge.is_flaky |= !judge.verdict(text)?.holds;
            }
        }
        Ok((judge, verdict))
    }

    fn refusal(&self, verdict: &Verdict) -> String {
        match &self.setting.keep {
            Keep::Code(code) => {
                format!("the module has no diagnostic `{code}`: there is nothing to keep")
            }
            Keep::Tvm(_) => "TVM does not refuse the module: there is nothing to keep".to_owned(),
            Keep::Fails if verdict.what.is_empty() => {
                "the module runs without a failure: there is nothing to keep".to_owned()
            }
            Keep::Fails => format!("the run does not fail by itself: {}", verdict.what),
            Keep::Nan if !verdict.what.is_empty() => {
                format!("the module does not run: {}", verdict.what)
            }
            Keep::Ask => "the answer for the module at the start is no".to_owned(),
            Keep::Differs(_) => "the results do not differ: there is nothing to keep".to_owned(),
            Keep::Nan => "the result has no NaN: there is nothing to keep".to_owned(),
            Keep::Command(_) => format!(
                "the command does not hold for the module at the start{}",
                if verdict.what.is_empty() { String::new() } else { format!(": {}", verdict.what) }
            ),
        }
    }

    /// Returns what is kept.
    pub(super) fn keep(&self) -> &Keep {
        &self.setting.keep
    }

    /// Returns true if the reduction is to end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.setting.cancelled.load(Ordering::Relaxed)
    }

    /// Returns true if syntax errors are kept: the tree then says little about the text.
    pub(super) fn is_of_syntax(&self) -> bool {
        matches!(self.code, Some(Code::SyntaxError | Code::SecondExpression))
    }

    /// Returns the facts about a text.
    pub(super) fn facts(&mut self, text: &str) -> Option<Facts> {
        let text = text.to_owned();
        let found = self.analyzer.guarded(move |analyzer| {
            let found = analyzer.check_next(&text).diagnostics;
            Facts::of(analyzer, text.clone(), &found)
        });
        found.ok()
    }

    /// Returns true unless the removal of an attribute changes the type of its call, or adds another error to it. The call
    /// alone, with parameters of the types of its operands, shows that.
    pub(super) fn keeps_type(&mut self, facts: &Facts, edit: &Edit) -> bool {
        let Edit::Attribute { call, removed } = edit else { return true };
        let alone = Parts::of(vec![*call]);
        let Some(text) = cut::build(facts, &alone, Style::ALL[0]) else { return true };
        let text = text.replacen(facts.slice(*removed).trim(), "", 1);
        let found = self.diagnostics(&text).unwrap_or_default();
        if !is_formed(&found, &self.allowed, self.code) {
            return false;
        }
        // A call with the error that is kept has no type.
        let before = facts.type_of(*call);
        before.is_none() || self.facts(&text).is_some_and(|facts| facts.result_type() == before)
    }

    fn diagnostics(&mut self, text: &str) -> Result<Vec<Diagnostic>, String> {
        // Definitions that a candidate keeps are not analysed again.
        let found = self.analyzer.guarded(|analyzer| analyzer.check_next(text).diagnostics);
        found.map(|found| found.to_vec()).map_err(|panicked| panicked.message)
    }

    /// Judges a candidate.
    pub(super) fn judge(&mut self, text: &str) -> Verdict {
        self.tried += 1;
        let verdict = self.verdict(text).unwrap_or_default();
        self.formed += u64::from(verdict.is_formed);
        if !verdict.is_formed && tracing::enabled!(tracing::Level::DEBUG) {
            let found = self.diagnostics(text).unwrap_or_default();
            let errors = found.iter().filter(|d| d.severity == Severity::Error);
            let other =
                errors.filter(|d| Some(d.code) != self.code && !self.allowed.contains(&d.code));
            for error in other.take(1) {
                tracing::debug!("ill-formed: {}", one_line(&error.message));
            }
        }
        tracing::debug!(verdict.holds, verdict.is_formed, "candidate:\n{text}");
        verdict
    }

    /// Returns the first candidate that is well-formed and shows what is kept. Commands run at the same time.
    pub(super) fn first(&mut self, candidates: Vec<String>) -> Option<(String, Verdict)> {
        let Keep::Command(command) = self.setting.keep.clone() else {
            return candidates.into_iter().find_map(|text| {
                let verdict = self.judge(&text);
                (verdict.holds && verdict.is_formed).then_some((text, verdict))
            });
        };
        let formed = candidates.into_iter().filter(|text| {
            self.tried += 1;
            let is_formed = self.is_formed(text);
            self.formed += u64::from(is_formed);
            is_formed
        });
        let formed: Vec<String> = formed.collect();
        for group in formed.chunks(self.setting.jobs.max(1)) {
            let holds = self.commands(&command, group);
            for (text, holds) in group.iter().zip(holds) {
                if holds != Ok(true) {
                    continue;
                }
                // A command that is flaky could keep what shows nothing.
                let again = self.commands(&command, std::slice::from_ref(text));
                if again.first() == Some(&Ok(true)) {
                    return Some((
                        text.clone(),
                        Verdict { holds: true, is_formed: true, ..Verdict::default() },
                    ));
                }
                self.is_flaky = true;
            }
        }
        None
    }

    fn is_formed(&mut self, text: &str) -> bool {
        self.diagnostics(text).is_ok_and(|found| is_formed(&found, &self.allowed, None))
    }

    fn verdict(&mut self, text: &str) -> Result<Verdict, String> {
        let found = self.diagnostics(text)?;
        let is_formed = is_formed(&found, &self.allowed, self.code);
        let mut verdict = Verdict { is_formed, ..Verdict::default() };
        match self.setting.keep.clone() {
            Keep::Code(_) | Keep::Tvm(_) => {
                let mut shown = found.iter().filter(|d| Some(d.code) == self.code);
                // Only the module at the start has it at this place.
                let place = self.setting.place.take();
                let wanted = shown.clone().find(|d| Some(d.range) == place);
                if let Some(first) = wanted.or_else(|| shown.next()) {
                    verdict.holds = true;
                    verdict.what = one_line(&first.message);
                    verdict.places = vec![first.range];
                    verdict.places.extend(first.related.iter().map(|related| related.range));
                }
            }
            Keep::Fails | Keep::Nan | Keep::Differs(_) | Keep::Ask if !is_formed => {}
            Keep::Ask => match ask(text) {
                Ok(holds) => verdict.holds = holds,
                Err(message) => {
                    // Nothing answers any more.
                    self.setting.cancelled.store(true, Ordering::Relaxed);
                    return Err(message);
                }
            },
            Keep::Differs(_) => {
                let calls = self.setting.operators.as_ref();
                if calls.is_some_and(|calls| !differs::has_calls(&self.analyzer, calls)) {
                    return Ok(verdict);
                }
                let (inputs, limits) = (&self.setting.inputs, &self.setting.limits);
                // Candidates whose functions take other values are not compared.
                if let Some(what) = differs::difference(text, inputs, limits).unwrap_or_default() {
                    (verdict.holds, verdict.what) = (true, what);
                }
            }
            Keep::Fails | Keep::Nan => self.run(text, &mut verdict)?,
            Keep::Command(command) => match self.commands(&command, &[text.to_owned()]).pop() {
                Some(Ok(holds)) => verdict.holds = holds,
                Some(Err(message)) => verdict.what = message,
                None => {}
            },
        }
        Ok(verdict)
    }

    /// Runs the text that was analysed last.
    fn run(&mut self, text: &str, verdict: &mut Verdict) -> Result<(), String> {
        let mut inputs = self.setting.inputs.clone();
        // A candidate may have lost parameters.
        inputs
            .given
            .retain(|given| text.contains(&format!("%{}", given.name.trim_start_matches('%'))));
        let keep = self.setting.keep.clone();
        let limits = self.setting.limits.clone();
        let ended = self.analyzer.guarded(|analyzer| {
            let (db, file) = analyzer.database();
            let def = Selection::Main.find(db, file)?;
            let unread = || "the function cannot be read".to_owned();
            let prepared = PreparedRun::new(db, def, limits.clone()).ok_or_else(unread)?;
            let mut watch = Watch::default();
            let report = execute(&prepared, || Ok(inputs.clone()), &mut watch);
            let own = |fault: &Fault| {
                fault.trace.iter().filter_map(|step| step.place).find(|(of, _)| *of == file)
            };
            Ok::<_, String>(match report.ending {
                Ending::Refused(refusal) => RunEnd { what: refusal.message, ..RunEnd::default() },
                Ending::Failed(fault) => RunEnd {
                    kind: Some(fault.kind),
                    what: one_line(&fault.message),
                    place: own(&fault).map(|(_, range)| range),
                    has_nan: false,
                },
                Ending::Done(value) => RunEnd {
                    has_nan: has_nan(&value),
                    place: watch.first.filter(|(of, _)| *of == file).map(|(_, range)| range),
                    ..RunEnd::default()
                },
            })
        });
        let ended = ended.map_err(|panicked| panicked.message)??;
        verdict.places = ended.place.into_iter().collect();
        verdict.what = ended.what;
        verdict.holds = match (keep, ended.kind) {
            (Keep::Nan, None) => ended.has_nan,
            (Keep::Fails, Some(kind)) if !is_of_input(kind) => {
                *self.code.get_or_insert(kind.code()) == kind.code()
            }
            _ => false,
        };
        if verdict.holds && ended.has_nan {
            verdict.what = "an element of the result is not a number".to_owned();
        }
        Ok(())
    }

    /// Runs a command on modules at the same time. `Err` says that it was stopped or cannot be started.
    fn commands(&self, command: &str, texts: &[String]) -> Vec<Result<bool, String>> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let started = texts.iter().enumerate().map(|(number, text)| {
            let path = folder.path().join(format!("candidate{number}.relay"));
            let output = Claims::default().write(&path)?;
            output.write_text(text).map_err(|error| output.error(&error))?;
            start(command, &path).map_err(|error| format!("it cannot be started: {error}"))
        });
        let started: Vec<Result<Child, String>> = started.collect();
        let end = Instant::now() + self.setting.time;
        let answers = started.into_iter().map(|child| {
            let mut child = child?;
            let status = wait(&mut child, end).map_err(|error| error.to_string())?;
            let seconds = self.setting.time.as_secs_f64();
            let status = status.ok_or_else(|| format!("it takes longer than {seconds} s"))?;
            Ok(status.success())
        });
        answers.collect()
    }
}

/// The end of a run.
#[derive(Default)]
struct RunEnd {
    kind: Option<FaultKind>,
    what: String,
    place: Option<TextRange>,
    has_nan: bool,
}

/// Returns true for a failure that says more of the limits, the arguments or the text than of what is computed.
fn is_of_input(kind: FaultKind) -> bool {
    failure::is_of_limit(kind) || matches!(kind, FaultKind::Missing | FaultKind::Untyped)
}

/// Returns true if there are no errors but allowed ones.
fn is_formed(found: &[Diagnostic], allowed: &HashSet<Code>, code: Option<Code>) -> bool {
    let mut errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.all(|error| Some(error.code) == code || allowed.contains(&error.code))
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn has_nan(value: &Value) -> bool {
    let leaves = value.leaves_within(1 << 16).unwrap_or_default();
    leaves.iter().filter(|leaf| leaf.dtype().is_float()).any(|leaf| {
        let mut found = false;
        leaf.each_f64s(|numbers| found |= numbers.iter().any(|number| number.is_nan()));
        found
    })
}

/// Notes the first call with a value that is not a number.
#[derive(Default)]
struct Watch {
    first: Option<(semantics::SourceFile, TextRange)>,
}

impl Observer for Watch {
    fn measures(&self) -> bool {
        true
    }

    fn called(&mut self, call: &CallMeasurement<'_>) {
        if self.first.is_none() && has_nan(call.value) {
            self.first = Some(call.place);
        }
    }
}

impl RunObserver for Watch {}

/// Asks the program that started this one about a module: a line of JSON on standard output, and an answer on standard
/// input.
fn ask(text: &str) -> Result<bool, String> {
    let mut out = std::io::stdout().lock();
    let line = serde_json::json!({ "candidate": text });
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|error| format!("no question can be written: {error}"))?;
    let mut answer = String::new();
    let read = std::io::stdin().lock().take(MOST_ANSWER).read_line(&mut answer);
    match (read, answer.trim()) {
        (Ok(_), "true") => Ok(true),
        (Ok(_), "false") => Ok(false),
        (Ok(0), _) => Err("there is no answer: standard input has ended".to_owned()),
        (Ok(_), other) => Err(format!("the answer is `{other}`, neither `true` nor `false`")),
        (Err(error), _) => Err(format!("no answer can be read: {error}")),
    }
}

/// The most bytes of an answer.
const MOST_ANSWER: u64 = 80;

fn start(command: &str, path: &Path) -> std::io::Result<Child> {
    let path = path.display().to_string();
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell);
    // What the command starts is stopped with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut child, 0);
    child.arg(flag).arg(command.replace("{}", &path));
    child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Waits for a process until `end`, then stops it; `None` if it was stopped.
fn wait(child: &mut Child, end: Instant) -> std::io::Result<Option<std::process::ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            stop(child)?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Stops a process, and on Unix those that it started.
fn stop(child: &mut Child) -> std::io::Result<()> {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let stopped = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        return stopped.map_err(std::io::Error::from);
    }
    child.kill()
}
