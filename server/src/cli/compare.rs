//! `relay-analyzer compare`

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use diff::Options;
use syntax::LineIndex;

use super::{
    CodeLimit, Failure, InputArgs, Outcome, RunLimits,
    diff::{PreparationError, PreparedModule, global, refuse, shapes_of, shown},
    run::inputs,
    write_json,
};
use crate::{
    input::read_module,
    progress::Progress,
    project::Project,
    report::{compare as report, stderr},
    run::{
        arguments::Inputs,
        compare::{
            CallPair, Candidate, Comparison, NotRun, Sample, Samples, Side, Tolerances, candidates,
            compare, compare_recorded, is_recorded,
        },
    },
};

/// The arguments of `compare`.
#[derive(Args)]
pub(super) struct CompareArgs {
    /// The module whose values are right: a file, or a module of a log by index or pass, as in `run.log#7` or
    /// `run.log#FuseOps` (the last of that name)
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The module whose values are compared with them, likewise; or values that were recorded of the first module in
    /// a framework, in a `.npz`, `.npy` or `.params` file, by the name of the binding, of the span or of the operator
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// The function to run, which may have another name in the second module [default: `@main`, or the only one]
    #[arg(long, value_name = "@NAME[=@NAME]")]
    function: Option<String>,
    #[command(flatten)]
    inputs: InputArgs,
    /// The number of samples, each with other random arguments, or a folder of `.npz` files, each with the arguments of
    /// one; the worst errors of all are told, with their samples
    #[arg(long, value_name = "N|FOLDER", value_parser = Samples::parse)]
    samples: Option<Samples>,
    /// The tolerated error of each element relative to the largest element of the value [default: by data type]
    #[arg(long, value_name = "ERROR", value_parser = error)]
    rtol: Option<f64>,
    /// The tolerated absolute error of each element [default: by data type]
    #[arg(long, value_name = "ERROR", value_parser = error)]
    atol: Option<f64>,
    /// The output format
    #[arg(long, value_enum, default_value = "human")]
    format: CompareFormat,
    #[command(flatten)]
    limits: RunLimits,
    #[command(flatten)]
    reading: CodeLimit,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// The first call that computes another value, and a table of all of them
    Human,
    /// One JSON document with every pair of calls
    Json,
    /// A self-contained page with a sortable table of all pairs and histograms of the errors
    Html,
}

/// Parses a tolerated error.
pub(super) fn error(text: &str) -> Result<f64, String> {
    let error: f64 = text.parse().map_err(|_| "this is not a number".to_owned())?;
    if error >= 0.0 { Ok(error) } else { Err("an error is not negative".to_owned()) }
}

pub(super) fn run(mut args: CompareArgs) -> Result<Outcome, Failure> {
    let max_code = args.reading.max_code();
    if is_recorded(&args.after) {
        return run_recorded(args);
    }
    let (before, after) =
        (read_module(&args.before, max_code)?, read_module(&args.after, max_code)?);
    let functions = args.function.as_deref().map(|names| {
        let (a, b) = names.split_once('=').unwrap_or((names, names));
        (global(a), global(b))
    });
    let names = functions.as_ref().map(|(a, b)| (a.as_str(), b.as_str()));
    let prepared = (
        PreparedModule::new(&before, names.map(|names| names.0), true, None),
        PreparedModule::new(&after, names.map(|names| names.1), true, None),
    );
    let errors = [&prepared.0, &prepared.1].map(|side| match side {
        Err(PreparationError::Syntax(error)) => Some(&**error),
        _ => None,
    });
    if errors.iter().any(Option::is_some) {
        refuse([(&args.before, &before), (&args.after, &after)], errors);
        return Ok(Outcome::Unusable);
    }
    let (a, b) = (prepared.0?, prepared.1?);
    let found = diff::compare_prepared(a.comparand, b.comparand, &Options::default());
    let candidates = candidates(&found.functions);
    // A function that is run has arguments: those that are not given are random.
    args.inputs.random.get_or_insert(0);
    let inputs = inputs(&args.inputs)?;
    let pairs: Vec<CallPair> = candidates.iter().filter_map(Candidate::call_pair).collect();
    let sides = (
        Side { text: &before.text, function: names.map(|names| names.0) },
        Side { text: &after.text, function: names.map(|names| names.1) },
    );
    let tolerances = Tolerances { relative: args.rtol, absolute: args.atol };
    let limits = args.limits.in_project(&Project::default());
    let samples = args.samples.as_ref().unwrap_or(&Samples::Seeds(1)).inputs(&inputs)?;
    let compared =
        on_samples(&samples, |inputs| compare(sides, &pairs, inputs, &limits, tolerances));
    let comparison = compared.map_err(|(sample, reason)| {
        let help = reason.help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let of = if samples.len() > 1 { format!(" ({})", sample.name) } else { String::new() };
        format!("the modules cannot be compared{of}: {}{help}", reason.message)
    })?;
    let names: Vec<&str> = samples.iter().map(|sample| sample.name.as_str()).collect();
    if args.format == CompareFormat::Human {
        let seed = args.inputs.random.unwrap_or_default();
        if let Some(random) = comparison.arguments.random(seed) {
            stderr::note(&random);
        }
        comparison.arguments.warnings.iter().for_each(|warning| stderr::warning(warning));
    }
    let (lines_a, lines_b) = (LineIndex::new(&before.text), LineIndex::new(&after.text));
    let shown = (shown(&before, &lines_a, &a.layers), shown(&after, &lines_b, &b.layers));
    let calls = report::Calls { samples: &names, ..report::Calls::of(&candidates) };
    // The report has no styles, and what a stream without them drops would be missing in the script of a page.
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match args.format {
        CompareFormat::Human => {
            write!(out, "{}", report::human(&comparison, &calls, (&shown.0, &shown.1)))?;
        }
        CompareFormat::Json => {
            let seed = args.inputs.random.unwrap_or_default();
            let document = report::json(&comparison, &calls, (&shown.0, &shown.1), seed);
            write_json(&mut out, &document)?;
        }
        CompareFormat::Html => {
            let (functions, layers) = shapes_of(&after.text);
            let sides = (&shown.0, &shown.1);
            let page = report::html(&comparison, &calls, sides, (&functions, &layers));
            write!(out, "{page}")?;
        }
    }
    out.flush()?;
    Ok(outcome(&comparison))
}

/// Compares on each sample, and merges the comparisons.
fn on_samples(
    samples: &[Sample],
    mut compare: impl FnMut(&Inputs) -> Result<Comparison, NotRun>,
) -> Result<Comparison, (&Sample, NotRun)> {
    let progress = Progress::new(true, samples.len(), "runs");
    let mut compare = |sample: &Sample| {
        let compared = compare(&sample.inputs);
        progress.advance(1);
        compared
    };
    // There is one sample at least.
    let mut merged = compare(&samples[0]).map_err(|reason| (&samples[0], reason))?;
    for (number, sample) in samples.iter().enumerate().skip(1) {
        merged.merge(compare(sample).map_err(|reason| (sample, reason))?, number);
    }
    Ok(merged)
}

/// Returns the outcome of a comparison. A result that is not known is no agreement.
fn outcome(comparison: &Comparison) -> Outcome {
    match comparison.culprits().next() {
        _ if comparison.is_equal => Outcome::Clean,
        None if !comparison.is_complete() => Outcome::Unusable,
        _ => Outcome::Errors,
    }
}

/// Compares the values of a module with recorded ones.
fn run_recorded(mut args: CompareArgs) -> Result<Outcome, Failure> {
    if args.format == CompareFormat::Html {
        return Err("a comparison with recorded values has no page".to_owned().into());
    }
    if args.samples.is_some() {
        return Err("recorded values are those of one sample".to_owned().into());
    }
    let module = read_module(&args.before, args.reading.max_code())?;
    let function = args.function.as_deref().map(global);
    let seed = *args.inputs.random.get_or_insert(0);
    let inputs = inputs(&args.inputs)?;
    let limits = args.limits.in_project(&Project::default());
    let tolerances = Tolerances { relative: args.rtol, absolute: args.atol };
    let side = Side { text: &module.text, function: function.as_deref() };
    let compared = compare_recorded(side, &args.after, &inputs, &limits, tolerances);
    let comparison = compared.map_err(|reason| {
        let help = reason.help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        format!("the values cannot be compared: {}{help}", reason.message)
    })?;
    let lines = LineIndex::new(&module.text);
    let shown = shown(&module, &lines, &[]);
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        CompareFormat::Human => {
            if let Some(random) = comparison.arguments.random(seed) {
                stderr::note(&random);
            }
            comparison.ambiguous.iter().for_each(|what| stderr::note(what));
            write!(out, "{}", report::recorded_human(&comparison, &shown))?;
        }
        CompareFormat::Json => {
            let document = report::recorded_json(&comparison, &shown, seed);
            let text = report::sorted_json(&document).map_err(std::io::Error::from)?;
            writeln!(out, "{text}")?;
        }
        CompareFormat::Html => {}
    }
    out.flush()?;
    Ok(if comparison.is_equal { Outcome::Clean } else { Outcome::Errors })
}
