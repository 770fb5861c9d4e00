//! `relay-analyzer run`

use std::{
    collections::HashSet,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use ide::layers::Grouping;
use interpreter::Value;
use semantics::{Diagnostic, Severity};
use serde_json::{Map, Value as Json};

use super::{Failure, InputArgs, Outcome, RunArgs, RunFormat, settings::FileSettings, write_json};
use crate::{
    analyzer::{Analyzer, Options},
    files::{Claims, Target},
    input,
    protocol::FailedRun,
    report::{self, CheckReport, stderr},
    run::{
        self,
        arguments::{GivenArgument, Inputs},
        execute::{Ending, PreparedRun, Selection, execute},
        expect,
        failure::{self, Places},
        files::ArgumentFile,
        json::Extras,
        observer::TerminalObserver,
        profile::Profile,
        show, top,
    },
};

pub(super) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    let project = FileSettings::new(&args.settings).of(&args.path)?;
    let input = input::read(&args.path, args.reading.max_code_in(&project))?;
    if let Some(problem) = &input.problem {
        return Err(format!("{}: {}", input.path, problem.message).into());
    }
    let mut inputs = inputs(&args.inputs)?;
    // Before a run that may take long.
    let output = args.output.as_deref().map(|path| output(path, args, &inputs)).transpose()?;
    if let Some(part) = input.saved.as_ref().and_then(|saved| saved.params.clone()) {
        // Named arguments take precedence.
        let whole = ArgumentFile { path: args.path.clone(), within: None, part: Some(part) };
        inputs.params.insert(0, whole);
    }
    let setup = project.setup().of_runs();
    let mut analyzer = Analyzer::new(&Options { setup, ..Options::from(&*project) });
    let looked = analyzer.check(&input.text);
    let errors: Vec<Diagnostic> =
        looked.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    let (path, text, parse) = (input.path.clone(), input.text, looked.parse);
    let lines = syntax::LineIndex::new(&text);
    let report = |diagnostics: Vec<Diagnostic>| {
        let checked = CheckReport::new(
            path.clone(),
            text.clone(),
            parse.clone(),
            diagnostics,
            Severity::Error,
        );
        let _ = anstream::stderr().write_all(report::human(&checked).as_bytes());
    };
    let (db, file) = analyzer.database();
    let selection = args.function.as_deref().map_or(Selection::Main, Selection::Named);
    let def = match selection.find(db, file) {
        Ok(def) => def,
        Err(message) => {
            report(errors);
            return Err(message.into());
        }
    };
    let prepared = PreparedRun::new(db, def, args.limits.in_project(&project))
        .ok_or_else(|| "the function cannot be read".to_owned())?
        .stopping_at(&errors);
    let faulty = !errors.is_empty();
    if faulty {
        report(errors);
        if let Some(error) = prepared.header_error() {
            let name = failure::name_of(db, def);
            stderr::note(&format!("{name} cannot be called: {}", failure::summary_of(error)));
            return Ok(Outcome::Errors);
        }
    }
    let is_human = args.format == RunFormat::Human;
    let bindings = prepared.view.body.units.len();
    let profile = args.profile.then(Profile::default);
    let mut observer = TerminalObserver::new(is_human, bindings, args.inputs.random, profile);
    if faulty {
        observer.values.keep(file, &text);
    }
    let ran = execute(&prepared, || Ok(inputs), &mut observer);
    let (profile, observed) = observer.into_parts();
    let mut places = Places::new(db, file, &input.path, &lines);
    let table = |places: &mut Places<'_>| {
        if let Some(profile) = &profile {
            let table = profile.table(db, places, ran.time);
            let _ = anstream::stderr().write_all(table.as_bytes());
        }
    };
    let document = |places: &mut Places<'_>| {
        let profile = profile.as_ref()?;
        Some(
            profile
                .document(db, ran.time, usize::MAX, Grouping::default(), &mut |at| places.name(at)),
        )
    };
    let diagnostic = ran.diagnostic(db, def, flag);
    let value = match (&ran.ending, diagnostic) {
        (Ending::Done(value), _) => value,
        (ending, diagnostic) if is_human => {
            match &ran.stopped {
                // The error itself was reported before the run.
                Some(error) => {
                    let name = failure::name_of(db, def);
                    let at = places.name((file, error.range));
                    stderr::note(&format!(
                        "{name} stopped at {at}: {}",
                        failure::summary_of(error)
                    ));
                    let _ = anstream::stderr().write_all(observed.table().as_bytes());
                }
                None => report(diagnostic.into_iter().collect()),
            }
            let Ending::Failed(fault) = ending else { return Ok(Outcome::Unusable) };
            if ran.arguments.is_some() {
                let trace = places.trace(fault);
                let _ = anstream::stderr().write_all(trace.as_bytes());
                // The profile up to the failure is printed, too.
                table(&mut places);
            }
            return Ok(Outcome::Errors);
        }
        (Ending::Refused(refusal), _) => {
            let failed = FailedRun { error: refusal.document(), profile: None, values: Vec::new() };
            write_json(&mut std::io::stdout().lock(), &failed)?;
            return Ok(Outcome::Unusable);
        }
        (Ending::Failed(fault), _) => {
            let profile = ran.arguments.as_ref().and_then(|_| document(&mut places));
            let values = match ran.stopped {
                Some(_) => observed.values,
                None => Vec::new(),
            };
            let failed = FailedRun { error: places.error(fault, None), profile, values };
            write_json(&mut std::io::stdout().lock(), &failed)?;
            return Ok(Outcome::Errors);
        }
    };
    if let (Some(path), Some(output)) = (&args.output, &output) {
        save(value, path, output)?;
    }
    let differences = match &args.expect {
        Some(path) => expect::differences(value, path)?,
        None => Vec::new(),
    };
    match args.format {
        RunFormat::Human => {
            print(value, args, &differences)?;
            table(&mut places);
        }
        RunFormat::Json => {
            let extra = Extras {
                profile: document(&mut places),
                warnings: ran.arguments.as_ref().map_or(&[][..], |arguments| &arguments.warnings),
                differences: args.expect.is_some().then_some(&*differences),
            };
            let out = BufWriter::new(std::io::stdout().lock());
            run::json::write(value, &extra, args.output.is_some(), out)?;
        }
    }
    // Dropping a long list or a large module is slow; the end of the process frees them at once.
    std::mem::forget(ran);
    Ok(if faulty || !differences.is_empty() { Outcome::Errors } else { Outcome::Clean })
}

/// Writes the tensors of a result to a file.
fn save(value: &Value, path: &Path, output: &Target) -> Result<(), Failure> {
    let shown = path.display();
    let leaves = value.leaves_within(MAX_SAVED).ok_or_else(|| {
        format!("cannot write `{shown}`: the result has more than {MAX_SAVED} parts")
    })?;
    let written = if path.extension().is_some_and(|extension| extension == "npy") {
        let [tensor] = leaves[..] else {
            let count = leaves.len();
            let message = format!(
                "cannot write `{shown}`: the result has {count} tensors, and a `.npy` file one; \
                 a `.npz` file takes them all"
            );
            return Err(message.into());
        };
        output.write(|out| arrays::write_npy(out, tensor))
    } else {
        let named = leaves.iter().enumerate().map(|(k, tensor)| (format!("o{k}"), *tensor));
        output.write(|out| arrays::write_npz(out, named.map(Ok)))
    };
    written.map_err(|error| output.error(&error))?;
    Ok(())
}

/// Prints a result, and how it differs from the expected one.
fn print(value: &Value, args: &RunArgs, differences: &[String]) -> Result<(), Failure> {
    match (args.top, &args.output, &args.expect) {
        (Some(count), _, _) => println(&top::human(value, count.into()))?,
        (None, None, None) => println(&show::human(value))?,
        _ => {}
    }
    match &args.expect {
        Some(path) if differences.is_empty() => {
            println(&format!("the result is that of `{}`", path.display()))?;
        }
        _ => differences.iter().try_for_each(|difference| println(difference))?,
    }
    Ok(())
}

/// Returns the file of the result, which is none of those that are read.
fn output(path: &Path, args: &RunArgs, inputs: &Inputs) -> Result<Target, String> {
    // An argument may be the name of a file or a number.
    let given = inputs.given.iter().map(|given| given.folder.join(&given.text));
    let archives = inputs.archives.iter().chain(&inputs.params).map(|named| named.path.clone());
    let named = args.inputs.archives.iter().cloned().chain(args.expect.clone());
    let read: Vec<PathBuf> = given.chain(archives).chain(named).collect();
    Claims::default().read(&args.path).read_all(&read).write(path)
}

/// The largest number of parts of a result that is saved.
const MAX_SAVED: usize = 1 << 20;

/// Returns the option of a limit.
fn flag(limit: &str) -> String {
    format!("--{limit}")
}

/// Returns the sources of the arguments. Archives need no name: `--input weights.npz`.
pub(super) fn inputs(args: &InputArgs) -> Result<Inputs, String> {
    // These files are named by the user, and need not be checked.
    let named = |path: PathBuf| ArgumentFile { path, within: None, part: None };
    let is_json = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let (written, archives): (Vec<&PathBuf>, Vec<_>) = args.archives.iter().partition(is_json);
    let mut inputs = Inputs {
        given: Vec::new(),
        archives: archives.into_iter().cloned().map(named).collect(),
        params: args.params.iter().cloned().map(named).collect(),
        seed: args.random,
    };
    for path in written {
        inputs.given.extend(written_in(path)?);
    }
    let mut names = HashSet::new();
    for text in &args.inputs {
        match text.split_once('=') {
            Some((name, value)) => {
                let bare = name.trim().trim_start_matches('%');
                if !names.insert(bare) {
                    return Err(format!("`--input {bare}=…` is given twice"));
                }
                inputs.given.push(GivenArgument {
                    name: name.to_owned(),
                    text: value.to_owned(),
                    folder: PathBuf::new(),
                    is_remote: false,
                });
            }
            None if text.ends_with(".npz") => inputs.archives.push(named(text.into())),
            None if text.ends_with(".params") => inputs.params.push(named(text.into())),
            None => return Err(format!("`--input {text}` is not of the form `NAME=VALUE`")),
        }
    }
    Ok(inputs)
}

/// The largest size of a file of values in JSON, in bytes.
const MAX_JSON: u64 = 256 << 20;

/// Reads the arguments in a file of values in JSON: `{"x": [1, 2], "w": "w.npy"}`.
fn written_in(path: &Path) -> Result<Vec<GivenArgument>, String> {
    let shown = path.display();
    let fail = |what: &dyn std::fmt::Display| format!("cannot read `{shown}`: {what}");
    let file = ArgumentFile { path: path.to_owned(), within: None, part: None };
    let text = file.open()?.text(MAX_JSON).map_err(|error| fail(&error))?;
    let values: Map<String, Json> = serde_json::from_str(&text)
        .map_err(|error| fail(&format!("it is no JSON object of arguments: {error}")))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    values.iter().map(|(name, value)| GivenArgument::of_json(name, value, folder, false)).collect()
}

fn println(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}
