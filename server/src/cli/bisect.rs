//! `relay-analyzer bisect`: the pass of a log after which a function computes another value.

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use diff::Options;
use serde_json::{Value, json};
use syntax::LineIndex;

use super::{
    Failure, InputArgs, Outcome, RunLimits,
    compare::{calls_of, error},
    diff::{PreparedModule, global, shown},
    run::inputs,
};
use crate::{
    input::{Log, NamedModule, read_log},
    progress::Progress,
    project::Project,
    report::{compare as report, escape, stderr},
    run::{
        arguments::Inputs,
        bisect::{Bisection, Obstacle, State, bisect},
        compare::{CallPair, Candidate, Comparison, NotRun, Side, Tolerances, candidates, compare},
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

/// The tolerated error, relative to the largest element, of a result that is computed in half precision.
const HALF: f64 = 1e-2;

/// The error, relative to the largest element, above which single precision alone does not explain a difference.
const VISIBLE: f64 = 1e-5;

/// The modules of a log, and how they are run.
struct Modules<'l> {
    log: &'l Log,
    function: Option<String>,
    inputs: Inputs,
    limits: interpreter::Limits,
    tolerances: Tolerances,
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
    let modules = Modules {
        log: &log,
        function: args.function.as_deref().map(global),
        inputs: inputs(&args.inputs)?,
        limits: args.limits.in_project(&Project::default()),
        tolerances: Tolerances { relative: args.rtol, absolute: args.atol },
        seed,
    };
    match args.all {
        true => modules.all(args.format),
        false => modules.search(args.format),
    }
}

impl Modules<'_> {
    fn module(&self, at: usize) -> Result<NamedModule, String> {
        self.log.module(at, format!("{}#{at}", self.log.path))
    }

    fn side<'t>(&'t self, module: &'t NamedModule) -> Side<'t> {
        Side { text: &module.text, function: self.function.as_deref() }
    }

    /// Runs two modules on the same arguments.
    fn compare(
        &self,
        before: &NamedModule,
        after: &NamedModule,
        pairs: &[CallPair],
    ) -> Result<Comparison, NotRun> {
        let sides = (self.side(before), self.side(after));
        let mut tolerances = self.tolerances;
        // A result is no more precise than the values that it is computed from.
        if [before, after].iter().any(|module| module.text.contains("float16")) {
            tolerances.relative.get_or_insert(HALF);
        }
        let compared = compare(sides, pairs, &self.inputs, &self.limits, tolerances)?;
        let (of_before, of_after) = &compared.stops;
        match of_after.iter().chain(of_before).next() {
            Some(stop) => Err(stop.clone().into()),
            None => Ok(compared),
        }
    }

    /// Returns the first module that can be run: its values are right.
    fn first(&self) -> Result<(usize, NamedModule), Failure> {
        let mut reason = String::new();
        for at in 0..self.log.modules.len() {
            let module = self.module(at)?;
            match self.compare(&module, &module, &[]) {
                Ok(comparison) => {
                    if let Some(random) = comparison.arguments.random(self.seed) {
                        stderr::note(&random);
                    }
                    return Ok((at, module));
                }
                Err(not_run) if reason.is_empty() => {
                    reason = self.place_and_reason(at, &obstacle(&module, not_run));
                }
                Err(_) => {}
            }
        }
        Err(format!("no module can be run; the first one: {reason}").into())
    }

    /// Runs a module on the arguments of the first one, and compares the results.
    fn state(&self, right: &NamedModule, module: &NamedModule) -> State {
        if module.text == right.text {
            return State::Same;
        }
        match self.compare(right, module, &[]) {
            Ok(comparison) if !comparison.is_equal => State::Other,
            Ok(comparison) if self.is_visible(&comparison, module) => State::Near,
            Ok(_) => State::Same,
            Err(not_run) => State::NotRun(obstacle(module, not_run)),
        }
    }

    fn search(&self, format: BisectFormat) -> Result<Outcome, Failure> {
        let (first, right) = self.first()?;
        let count = self.log.modules.len();
        let progress = Progress::new(true, count.ilog2() as usize + 2, "runs");
        let mut broken = None;
        let found = bisect(first, count, |at| {
            progress.advance(1);
            match self.module(at) {
                Ok(module) => self.state(&right, &module),
                Err(message) => {
                    broken = Some(message.clone());
                    State::NotRun(Obstacle { message, ..Obstacle::default() })
                }
            }
        });
        drop(progress);
        if let Some(message) = broken {
            return Err(message.into());
        }
        let mut out = std::io::BufWriter::new(anstream::stdout().lock());
        let Some(other) = found.other else {
            return self.same(&found, format, &mut out);
        };
        let (before, after) = (self.module(found.same)?, self.module(other)?);
        let a = PreparedModule::new(&before, self.function.as_deref(), false, None)?;
        let b = PreparedModule::new(&after, self.function.as_deref(), false, None)?;
        let diff = diff::compare_prepared(a.comparand, b.comparand, &Options::default());
        let candidates = candidates(&diff.functions);
        let pairs: Vec<CallPair> = candidates.iter().filter_map(Candidate::call_pair).collect();
        let comparison = self.compare(&before, &after, &pairs).map_err(|it| it.message)?;
        // An error that is tolerated is one only if a call has an error of its own.
        if found.is_strict && !comparison.pairs.iter().any(|pair| pair.is_culprit) {
            return self.same(&Bisection { other: None, ..found }, format, &mut out);
        }
        let calls = calls_of(&candidates);
        let (lines_a, lines_b) = (LineIndex::new(&before.text), LineIndex::new(&after.text));
        let (shown_a, shown_b) = (shown(&before, &lines_a, &[]), shown(&after, &lines_b, &[]));
        let pass = self.log.modules[other].pass.as_deref();
        match format {
            BisectFormat::Human => {
                let runs = ide::words::counted(found.runs as u64, "run");
                writeln!(
                    out,
                    "{} is the first that computes another value, after {runs} of {count} modules",
                    self.named(other)
                )?;
                if other - found.same > 1 {
                    let between = ide::words::counted((other - found.same - 1) as u64, "module");
                    writeln!(out, "{between} before it cannot be run, and may do so, too")?;
                }
                write!(out, "{}", report::human(&comparison, &calls, (&shown_a, &shown_b)))?;
                self.write_not_run(&found, &mut out)?;
            }
            BisectFormat::Json | BisectFormat::Html => {
                let pair = report::culprit(&comparison, &calls, (&shown_a, &shown_b));
                let document = json!({
                    "pass": pass, "index": other, "runs": found.runs, "pair": pair,
                    "not_run": self.not_run(&found), "skipped": skipped(&found.skipped),
                });
                writeln!(out, "{document}")?;
            }
        }
        self.tell_skipped(&found, format);
        out.flush()?;
        Ok(Outcome::Errors)
    }

    /// Returns true if the error of a result is larger than that of sums in another order.
    fn is_visible(&self, comparison: &Comparison, module: &NamedModule) -> bool {
        let is_given = self.tolerances.relative.is_some() || self.tolerances.absolute.is_some();
        let errors = comparison.result.filter(|_| !is_given && !module.text.contains("float16"));
        errors.is_some_and(|errors| errors.max_abs > VISIBLE * errors.scale)
    }

    /// Says that the last module that can be run computes what the first one does.
    fn same(
        &self,
        found: &Bisection,
        format: BisectFormat,
        out: &mut impl Write,
    ) -> Result<Outcome, Failure> {
        match format {
            BisectFormat::Human => {
                let count = ide::words::counted(self.log.modules.len() as u64, "module");
                match found.not_run {
                    None => {
                        writeln!(
                            out,
                            "the last module computes what the first one does ({count})"
                        )?;
                    }
                    Some(not_run) if not_run == found.same + 1 && found.same == 0 => {
                        writeln!(out, "only the first module can be run ({count})")?;
                    }
                    Some(not_run) => writeln!(
                        out,
                        "no difference before module {not_run}: module {} computes what the first one does ({count})",
                        found.same
                    )?,
                }
                self.write_not_run(found, out)?;
            }
            BisectFormat::Json | BisectFormat::Html => {
                let document = json!({
                    "pass": null, "index": null, "runs": found.runs, "pair": null,
                    "not_run": self.not_run(found), "skipped": skipped(&found.skipped),
                });
                writeln!(out, "{document}")?;
            }
        }
        self.tell_skipped(found, format);
        out.flush()?;
        // Whether the last module computes the same is not known.
        Ok(if found.not_run.is_some() { Outcome::Unusable } else { Outcome::Clean })
    }

    /// Returns a module with its pass, as in ``module 3 (`FuseOps`)``.
    fn named(&self, at: usize) -> String {
        let pass = self.log.modules[at].pass.as_deref();
        let pass = pass.map(|pass| format!(" (`{}`)", escape::terminal(pass)));
        format!("module {at}{}", pass.unwrap_or_default())
    }

    /// Returns the reason that a module cannot be run, after its place.
    fn place_and_reason(&self, at: usize, obstacle: &Obstacle) -> String {
        let code = obstacle.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
        let reason = format!("{}{code}", escape::terminal(&obstacle.message));
        match obstacle.position {
            Some((line, column)) => {
                format!("{}#{at}:{line}:{column}: {reason}", escape::terminal(&self.log.path))
            }
            None => reason,
        }
    }

    /// Says which pass made the first module of those at the end that cannot be run.
    fn write_not_run(&self, found: &Bisection, out: &mut impl Write) -> std::io::Result<()> {
        let Some(at) = found.not_run else { return Ok(()) };
        let after = match self.log.modules.len() - at {
            1 => String::new(),
            _ => ", and the last one cannot, either".to_owned(),
        };
        writeln!(out, "{} cannot be run{after}", self.named(at))?;
        if let Some(obstacle) = found.obstacle(at) {
            writeln!(out, "  {}", self.place_and_reason(at, obstacle))?;
        }
        Ok(())
    }

    /// Returns the first module of those at the end that cannot be run, for a document.
    fn not_run(&self, found: &Bisection) -> Option<Value> {
        let at = found.not_run?;
        let obstacle = found.obstacle(at)?;
        let mut document = json_obstacle(at, obstacle);
        document["pass"] = json!(self.log.modules[at].pass);
        Some(document)
    }

    fn tell_skipped(&self, found: &Bisection, format: BisectFormat) {
        if format == BisectFormat::Human {
            for (at, obstacle) in found.skipped.iter().filter(|(at, _)| Some(*at) != found.not_run)
            {
                let reason = self.place_and_reason(*at, obstacle);
                stderr::note(&format!("module {at} cannot be run: {reason}"));
            }
        }
    }

    /// Runs every module, and writes the error of each result against the first one.
    fn all(&self, format: BisectFormat) -> Result<Outcome, Failure> {
        let (first, right) = self.first()?;
        let count = self.log.modules.len();
        let progress = Progress::new(true, count, "runs");
        let mut is_equal = true;
        let mut rows = Vec::new();
        for at in first..count {
            let module = self.module(at)?;
            let compared = self.compare(&right, &module, &[]);
            let compared = compared.map_err(|not_run| obstacle(&module, not_run));
            progress.advance(1);
            is_equal &= compared.as_ref().map_or(true, |comparison| comparison.is_equal);
            rows.push((at, compared));
        }
        drop(progress);
        let mut out = std::io::BufWriter::new(anstream::stdout().lock());
        let pass = |at: usize| self.log.modules[at].pass.as_deref();
        match format {
            BisectFormat::Json => {
                let row = |(at, compared): &(usize, Result<Comparison, Obstacle>)| match compared {
                    Ok(it) => json!({
                        "index": at, "pass": pass(*at), "equal": it.is_equal,
                        "result": it.result.as_ref().map(report::JsonErrors::from),
                    }),
                    Err(obstacle) => {
                        let mut document = json_obstacle(*at, obstacle);
                        document["pass"] = json!(pass(*at));
                        document
                    }
                };
                let modules: Vec<Value> = rows.iter().map(row).collect();
                writeln!(out, "{}", json!({ "modules": modules }))?;
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
                        result: found.ok().and_then(|it| Some(it.result.as_ref()?.into())),
                        reason: found.err().map(|reason| self.place_and_reason(at, reason)),
                    }
                };
                let rows: Vec<report::ModuleRow<'_>> = rows.iter().map(row).collect();
                write!(out, "{}", report::modules_html(&self.log.path, &rows))?;
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

fn skipped(skipped: &[(usize, Obstacle)]) -> Vec<Value> {
    skipped.iter().map(|(at, obstacle)| json_obstacle(*at, obstacle)).collect()
}

/// Returns a module that cannot be run, for a document.
fn json_obstacle(at: usize, obstacle: &Obstacle) -> Value {
    json!({
        "index": at, "reason": obstacle.message, "code": obstacle.code,
        "line": obstacle.position.map(|(line, _)| line),
        "column": obstacle.position.map(|(_, column)| column),
    })
}

/// Returns the reason that a module cannot be run.
fn obstacle(module: &NamedModule, not_run: NotRun) -> Obstacle {
    let position = not_run.error.map(|(_, range)| {
        let lines = LineIndex::new(&module.text);
        shown(module, &lines, &[]).position(range)
    });
    let code = not_run.error.map(|(code, _)| code.name().to_owned());
    Obstacle { message: not_run.message, code, position }
}
