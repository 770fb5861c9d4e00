//! `relay-analyzer bisect`: the pass of a log after which a function computes another value.

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;
use syntax::LineIndex;

use super::{
    Failure, InputArgs, Outcome, RunLimits,
    compare::error,
    diff::{global, shown},
    run::inputs,
};
use crate::{
    input::{NamedModule, read_log},
    progress::Progress,
    project::Project,
    report::{compare as report, escape, stderr},
    run::{
        bisect::{
            Bisection, ComparedModules, Difference, LogRuns, LonePasses, NoModuleRun, Obstacle,
            State, WrongPass, bisect, most_runs,
        },
        compare::{Comparison, ComparisonSettings, Errors, Tolerances, candidates},
    },
};

/// The arguments of `bisect`.
#[derive(Args)]
pub(super) struct BisectArgs {
    /// The log: a sequence of modules, of which the first one is right
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The function to run [default: `@main`, or the only one]
    #[arg(long, value_name = "@NAME")]
    function: Option<String>,
    /// Run every module once, and show the error after each pass
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    inputs: InputArgs,
    /// The tolerated error of each element relative to the largest element of the result [default: by data type]
    #[arg(long, value_name = "ERROR", value_parser = error)]
    rtol: Option<f64>,
    /// The tolerated absolute error of each element [default: by data type]
    #[arg(long, value_name = "ERROR", value_parser = error)]
    atol: Option<f64>,
    /// The output format
    #[arg(long, value_enum, default_value = "human")]
    format: BisectFormat,
    #[command(flatten)]
    limits: RunLimits,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BisectFormat {
    /// The pass and the call, or a table
    Human,
    /// One JSON document
    Json,
    /// With `--all`: a self-contained page with a sortable table
    Html,
}

/// The error, relative to the largest element, above which single precision alone does not explain a difference.
const VISIBLE: f64 = 1e-5;

/// The modules of a log, and how they are run.
struct Modules<'l> {
    runs: LogRuns<'l>,
    seed: u64,
}

pub(super) fn run(mut args: BisectArgs) -> Result<Outcome, Failure> {
    if args.format == BisectFormat::Html && !args.all {
        return Err("`--format html` takes `--all`".to_owned().into());
    }
    let log = read_log(&args.log)?;
    let count = log.modules.len();
    if count < 2 {
        let path = escape::terminal(&log.path);
        let modules = ide::words::counted(count as u64, "module");
        return Err(format!("`{path}` has {modules}: a search takes two or more").into());
    }
    // A function that is run has arguments: those that are not given are random.
    let seed = *args.inputs.random.get_or_insert(0);
    let limits = args.limits.in_project(&Project::default());
    let tolerances = Tolerances { relative: args.rtol, absolute: args.atol };
    let runs = LogRuns {
        log: &log,
        function: args.function.as_deref().map(global),
        inputs: inputs(&args.inputs)?,
        setting: ComparisonSettings { tolerances, ..ComparisonSettings::new(&limits) },
    };
    let modules = Modules { runs, seed };
    match args.all {
        true => modules.all(args.format),
        false => modules.search(args.format),
    }
}

impl Modules<'_> {
    /// Returns the first module that can be run: its values are right.
    fn first(&self) -> Result<(usize, NamedModule), Failure> {
        let found = self.runs.first().map_err(|not_run| match not_run {
            NoModuleRun::Unreadable(message) => message,
            NoModuleRun::Obstacle(at, obstacle) => {
                let reason = self.place_and_reason(at, &obstacle);
                format!("no module can be run; the first one: {reason}")
            }
        })?;
        if let Some(random) = found.arguments.random(self.seed) {
            stderr::note(&random);
        }
        Ok((found.index, found.module))
    }

    /// Runs a module on the arguments of the first one, and compares the values.
    fn state(&self, right: &NamedModule, module: &NamedModule) -> State {
        if module.text == right.text {
            return State::Run(Difference::None);
        }
        match self.runs.compare(right, module) {
            Ok(ComparedModules { comparison, .. }) => State::Run(match comparison.is_equal {
                false if comparison.is_hidden() => Difference::Hidden,
                false => Difference::Visible,
                true if self.is_visible(&comparison, module) => Difference::Tolerated,
                true => Difference::None,
            }),
            Err(not_run) => State::NotRun(Obstacle::of(module, not_run)),
        }
    }

    fn search(&self, format: BisectFormat) -> Result<Outcome, Failure> {
        let (first, right) = self.first()?;
        let count = self.runs.log.modules.len();
        let progress = Progress::new(true, most_runs(count), "runs");
        let mut broken = None;
        let mut found = bisect(first, count, |at| {
            progress.advance(1);
            match self.runs.module(at) {
                Ok(module) => self.state(&right, &module),
                Err(message) => {
                    broken = Some(message.clone());
                    State::NotRun(Obstacle { message, ..Obstacle::default() })
                }
            }
        });
        if let Some(message) = broken {
            return Err(message.into());
        }
        if let Some(other) = found.other {
            let (before, after) = (self.runs.module(found.same)?, self.runs.module(other)?);
            let compared = self.runs.compare(&before, &after).map_err(|it| it.message)?;
            // An error that is tolerated is one only if a call has an error of its own.
            let has_culprit = compared.comparison.culprits().next().is_some();
            if found.sought == Difference::Visible || has_culprit {
                drop(progress);
                let wrong = WrongPass { before: found.same, after: other, compared, undone: None };
                return self.wrong(&found, (&wrong, None), format);
            }
            found.other = None;
            found.same = found.not_run.unwrap_or(count) - 1;
        }
        let passes = self.runs.lone_passes(first, &mut found, || progress.advance(1))?;
        drop(progress);
        match &passes.wrong {
            Some(wrong) => self.wrong(&found, (wrong, Some(&passes)), format),
            None => self.same(&found, &passes, format),
        }
    }

    /// Says which pass is wrong, and which call. With `passes`, it was found on its own.
    fn wrong(
        &self,
        found: &Bisection,
        (wrong, passes): (&WrongPass, Option<&LonePasses>),
        format: BisectFormat,
    ) -> Result<Outcome, Failure> {
        let WrongPass { before: same, after: other, compared, undone } = wrong;
        let (before, after) = (self.runs.module(*same)?, self.runs.module(*other)?);
        let ComparedModules { comparison, diff } = compared;
        let candidates = candidates(&diff.functions);
        let calls = report::Calls::of(&candidates);
        let (lines_a, lines_b) = (LineIndex::new(&before.text), LineIndex::new(&after.text));
        let (shown_a, shown_b) = (shown(&before, &lines_a, &[]), shown(&after, &lines_b, &[]));
        let runs = ide::words::counted(found.runs as u64, "run");
        let count = self.runs.log.modules.len();
        let relation = match passes {
            None => "is the first that computes another value",
            Some(_) => "computes another value than the one before it",
        };
        let named = self.named(*other);
        let mut text = format!("{named} {relation}, after {runs} of {count} modules\n");
        if other - same > 1 {
            let between = ide::words::counted((other - same - 1) as u64, "module");
            text += &format!("{between} before it cannot be run, and may do so, too\n");
        }
        if passes.is_some() {
            text += &format!("module {} agrees with the first one\n", found.same);
        }
        if let Some(undone) = undone {
            text += &format!("{} hides it: the call is as it was before\n", self.named(*undone));
        }
        text += &report::human(comparison, &calls, (&shown_a, &shown_b));
        let document = SearchDocument {
            pass: self.pass(*other),
            index: Some(*other),
            pair: report::culprit(comparison, &calls, (&shown_a, &shown_b)),
            ..self.document(found, passes)
        };
        self.write(found, &text, &document, format)?;
        Ok(Outcome::Errors)
    }

    /// Returns true if the error of a result is larger than that of sums in another order.
    fn is_visible(&self, comparison: &Comparison, module: &NamedModule) -> bool {
        let is_given = self.runs.setting.tolerances.relative.is_some()
            || self.runs.setting.tolerances.absolute.is_some();
        let errors = comparison.result.filter(|_| !is_given && !module.text.contains("float16"));
        errors.is_some_and(|errors| errors.max_abs > VISIBLE * errors.scale)
    }

    /// Says that the last module that can be run computes what the first one does.
    fn same(
        &self,
        found: &Bisection,
        passes: &LonePasses,
        format: BisectFormat,
    ) -> Result<Outcome, Failure> {
        let count = ide::words::counted(self.runs.log.modules.len() as u64, "module");
        let mut text = match found.not_run {
            None => format!("the last module computes what the first one does ({count})\n"),
            Some(not_run) if not_run == found.same + 1 && found.same == 0 => {
                format!("only the first module can be run ({count})\n")
            }
            Some(not_run) => format!(
                "no difference before module {not_run}: module {} computes what the first one does ({count})\n",
                found.same
            ),
        };
        if !passes.run.is_empty() {
            text += &format!(
                "passes that change calls: {}, of which {} were run on their own and agree\n",
                passes.changing,
                passes.run.len(),
            );
        }
        self.write(found, &text, &self.document(found, Some(passes)), format)?;
        // Whether the last module computes the same is not known.
        Ok(if found.not_run.is_some() { Outcome::Unusable } else { Outcome::Clean })
    }

    /// Returns a module with its pass, as in ``module 3 (`FuseOps`)``.
    fn named(&self, at: usize) -> String {
        let pass = self.pass(at).map(|pass| format!(" (`{}`)", escape::terminal(pass)));
        format!("module {at}{}", pass.unwrap_or_default())
    }

    fn pass(&self, at: usize) -> Option<&str> {
        self.runs.log.modules[at].pass.as_deref()
    }

    /// Returns the reason that a module cannot be run, after its place.
    fn place_and_reason(&self, at: usize, obstacle: &Obstacle) -> String {
        let code = obstacle.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
        let reason = format!("{}{code}", escape::terminal(&obstacle.message));
        match obstacle.position {
            Some((line, column)) => {
                format!("{}#{at}:{line}:{column}: {reason}", escape::terminal(&self.runs.log.path))
            }
            None => reason,
        }
    }

    /// Writes what a search found: for people `text`, and which modules cannot be run.
    fn write(
        &self,
        found: &Bisection,
        text: &str,
        document: &SearchDocument<'_>,
        format: BisectFormat,
    ) -> std::io::Result<()> {
        let mut out = std::io::BufWriter::new(anstream::stdout().lock());
        if format != BisectFormat::Human {
            write_document(&mut out, document)?;
            return out.flush();
        }
        write!(out, "{text}")?;
        // The pass made the first module of those at the end that cannot be run.
        if let Some(at) = found.not_run {
            let is_last = at + 1 == self.runs.log.modules.len();
            let after = if is_last { "" } else { ", and the last one cannot, either" };
            writeln!(out, "{} cannot be run{after}", self.named(at))?;
        }
        for (at, obstacle) in &found.skipped {
            let reason = self.place_and_reason(*at, obstacle);
            match Some(*at) == found.not_run {
                true => writeln!(out, "  {reason}")?,
                false => stderr::note(&format!("module {at} cannot be run: {reason}")),
            }
        }
        out.flush()
    }

    /// Returns the document of a search that found no module with another value.
    fn document<'d>(
        &'d self,
        found: &'d Bisection,
        passes: Option<&'d LonePasses>,
    ) -> SearchDocument<'d> {
        let not_run = found.not_run.and_then(|at| Some((at, found.obstacle(at)?)));
        SearchDocument {
            pass: None,
            index: None,
            runs: found.runs,
            pair: None,
            not_run: not_run.map(|(at, obstacle)| NotRunDocument {
                obstacle: ObstacleDocument::of(at, obstacle),
                pass: self.pass(at),
            }),
            alone: passes.map(|passes| LoneDocument {
                changing: passes.changing,
                run: &passes.run,
                undone: passes
                    .wrong
                    .as_ref()
                    .and_then(|wrong| wrong.undone)
                    .map(|index| UndoneDocument { index, pass: self.pass(index) }),
            }),
            skipped: found.skipped.iter().map(|(at, it)| ObstacleDocument::of(*at, it)).collect(),
        }
    }

    /// Runs every module, and writes the error of each result against the first one.
    fn all(&self, format: BisectFormat) -> Result<Outcome, Failure> {
        let (first, right) = self.first()?;
        let count = self.runs.log.modules.len();
        let progress = Progress::new(true, count, "runs");
        let mut is_equal = true;
        let mut rows = Vec::new();
        for at in first..count {
            let module = self.runs.module(at)?;
            let compared = self.runs.compare(&right, &module).map(|it| it.comparison);
            let compared = compared.map_err(|not_run| Obstacle::of(&module, not_run));
            progress.advance(1);
            is_equal &= compared.as_ref().map_or(true, |comparison| comparison.is_equal);
            rows.push((at, compared));
        }
        drop(progress);
        let mut out = std::io::BufWriter::new(anstream::stdout().lock());
        let pass = |at: usize| self.pass(at);
        match format {
            BisectFormat::Json => {
                let rows = rows.iter().map(|(at, compared)| match compared {
                    Ok(it) => ModuleDocument::Run {
                        index: *at,
                        pass: pass(*at),
                        equal: it.is_equal,
                        result: it.result,
                    },
                    Err(obstacle) => ModuleDocument::NotRun(NotRunDocument {
                        obstacle: ObstacleDocument::of(*at, obstacle),
                        pass: pass(*at),
                    }),
                });
                write_document(&mut out, &LogDocument { modules: rows.collect() })?;
            }
            BisectFormat::Html => {
                let row = |(at, compared): &(usize, Result<Comparison, Obstacle>)| {
                    let (at, found) = (*at, compared.as_ref());
                    report::ModuleRow {
                        index: at,
                        pass: pass(at),
                        state: match &found {
                            Ok(comparison) if comparison.is_equal => "equal",
                            Ok(_) => "differs",
                            Err(_) => "cannot be run",
                        },
                        result: found.ok().and_then(|it| it.result),
                        reason: found.err().map(|reason| self.place_and_reason(at, reason)),
                    }
                };
                let rows: Vec<report::ModuleRow<'_>> = rows.iter().map(row).collect();
                write!(out, "{}", report::modules_html(&self.runs.log.path, &rows))?;
            }
            BisectFormat::Human => {
                for (at, compared) in &rows {
                    let name = escape::terminal(pass(*at).unwrap_or("-"));
                    let error = match compared {
                        Ok(it) => report::result_text(it),
                        Err(obstacle) => {
                            format!("cannot be run: {}", self.place_and_reason(*at, obstacle))
                        }
                    };
                    writeln!(out, "{at:>4}  {name:<28}  {error}")?;
                }
            }
        }
        out.flush()?;
        Ok(if is_equal { Outcome::Clean } else { Outcome::Errors })
    }
}

/// The document of a search. Its fields are written in the order of their names.
#[derive(Serialize)]
struct SearchDocument<'d> {
    /// The pass after which another value is computed.
    pass: Option<&'d str>,
    /// The number of its module.
    index: Option<usize>,
    /// The number of modules that were run.
    runs: usize,
    /// The first call with an error of its own.
    pair: Option<report::JsonPair<'d>>,
    /// The first module of those at the end that cannot be run.
    not_run: Option<NotRunDocument<'d>>,
    /// The passes that were run on their own, if the first and the last module agree.
    alone: Option<LoneDocument<'d>>,
    /// All modules that cannot be run.
    skipped: Vec<ObstacleDocument<'d>>,
}

/// The passes that were run on their own.
#[derive(Serialize)]
struct LoneDocument<'d> {
    /// The number of passes that change calls.
    changing: usize,
    /// The modules after those that were run, in the order of the runs.
    run: &'d [usize],
    /// The first module in which the wrong call is as it was before.
    undone: Option<UndoneDocument<'d>>,
}

/// A module in which a wrong call is right again.
#[derive(Serialize)]
struct UndoneDocument<'d> {
    index: usize,
    pass: Option<&'d str>,
}

/// The document of `--all`.
#[derive(Serialize)]
struct LogDocument<'d> {
    modules: Vec<ModuleDocument<'d>>,
}

/// A module of the document of `--all`.
#[derive(Serialize)]
#[serde(untagged)]
enum ModuleDocument<'d> {
    Run {
        index: usize,
        pass: Option<&'d str>,
        equal: bool,
        /// The error of the result; `null` if it has another type.
        result: Option<Errors>,
    },
    NotRun(NotRunDocument<'d>),
}

/// A module that cannot be run, with its pass.
#[derive(Serialize)]
struct NotRunDocument<'d> {
    #[serde(flatten)]
    obstacle: ObstacleDocument<'d>,
    pass: Option<&'d str>,
}

/// The reason that a module cannot be run.
#[derive(Serialize)]
struct ObstacleDocument<'d> {
    index: usize,
    reason: &'d str,
    code: Option<&'d str>,
    line: Option<u32>,
    column: Option<u32>,
}

impl<'d> ObstacleDocument<'d> {
    fn of(index: usize, obstacle: &'d Obstacle) -> ObstacleDocument<'d> {
        ObstacleDocument {
            index,
            reason: &obstacle.message,
            code: obstacle.code.as_deref(),
            line: obstacle.position.map(|(line, _)| line),
            column: obstacle.position.map(|(_, column)| column),
        }
    }
}

fn write_document(out: &mut impl Write, document: &impl Serialize) -> std::io::Result<()> {
    writeln!(out, "{}", report::sorted_json(document)?)
}
