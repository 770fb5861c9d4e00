//! `relay-analyzer run`

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
    time::Instant,
};

use interpreter::{FaultKind, Machine};
use semantics::{Def, DefKind, Diagnostic, Severity, View};
use serde_json::json;

use super::{Failure, Outcome, RunArgs, RunFormat, settings::FileSettings};
use crate::{
    analyzer::{Analyzer, Options},
    input,
    report::{self, Checked, stderr},
    run::{
        self,
        arguments::{self, Given, Inputs},
        expect,
        failure::{self, Places},
        files::Named,
        observer::Watched,
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
    let mut inputs = inputs(args)?;
    if let Some(part) = input.saved.as_ref().and_then(|saved| saved.params.clone()) {
        // Named arguments take precedence.
        let whole = Named { path: args.path.clone(), within: None, part: Some(part) };
        inputs.params.insert(0, whole);
    }
    let mut analyzer = Analyzer::new(&Options { tvm: false, ..Options::from(&*project) });
    let looked = analyzer.check(&input.text);
    let errors: Vec<Diagnostic> =
        looked.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    let (path, text, parse) = (input.path.clone(), input.text, looked.parse);
    let lines = syntax::LineIndex::new(&text);
    let report = |diagnostics: Vec<Diagnostic>| {
        let checked =
            Checked::new(path.clone(), text.clone(), parse.clone(), diagnostics, Severity::Error);
        let _ = anstream::stderr().write_all(report::human(&checked).as_bytes());
    };
    let (db, file) = analyzer.database();
    let def = match choose(db, file, args.function.as_deref()) {
        Ok(def) => def,
        Err(message) => {
            report(errors);
            return Err(message.into());
        }
    };
    let view = View::new(db, def).ok_or_else(|| "the function cannot be read".to_owned())?;
    let faulty = !errors.is_empty();
    if faulty {
        let inside = |d: &Diagnostic| def.range(db).contains_range(d.range);
        let own = errors.iter().any(inside);
        report(errors);
        if own || view.has_type_errors() {
            return Ok(Outcome::Errors);
        }
    }
    let mut machine = Machine::new(db).limited(args.limits.in_project(&project));
    // Reading the arguments counts towards the limits.
    let watch = machine.begin();
    let mut function = |name: &str| {
        let def = find(db, file, name)?;
        let ty = View::new(db, def)?.inference.signature.clone()?;
        Some((machine.function(def)?, ty))
    };
    let gathered = watch.within(|| arguments::gather(&view, &inputs, &mut function));
    let (values, warnings) = match gathered {
        Ok(Ok(arguments)) => {
            if let (RunFormat::Human, Some(seed)) = (args.format, args.random) {
                note_random(&arguments.drawn, seed);
            }
            (arguments.values, arguments.warnings)
        }
        Ok(Err(lack)) => {
            let diagnostic = lack.diagnostic(FaultKind::Input.code(), def.range(db));
            match args.format {
                RunFormat::Human => report(vec![diagnostic]),
                RunFormat::Json => {
                    let (code, message) = (diagnostic.code, &diagnostic.message);
                    let error =
                        json!({ "code": code.name(), "message": message, "help": lack.help });
                    println(&json!({ "error": error }).to_string())?;
                }
            }
            return Ok(Outcome::Unusable);
        }
        // The run exceeded a limit before the function started.
        Err(fault) => {
            match args.format {
                RunFormat::Human => {
                    report(vec![failure::diagnostic(db, def, &fault, flag)]);
                }
                RunFormat::Json => {
                    let mut places = Places::new(db, file, &input.path, &lines);
                    println(&json!({ "error": places.json(&fault) }).to_string())?;
                }
            }
            return Ok(Outcome::Errors);
        }
    };
    if args.format == RunFormat::Human {
        warnings.iter().for_each(|warning| stderr::warning(warning));
    }
    let mut profile = args.profile.then(Profile::default);
    let begin = Instant::now();
    let mut observer =
        Watched::new(args.format == RunFormat::Human, view.body.units.len(), profile.as_mut());
    let result = machine.run(def, values, Some(&mut observer));
    // The progress is cleared before the result is printed.
    drop(observer);
    let took = begin.elapsed();
    let mut places = Places::new(db, file, &input.path, &lines);
    let profile = |places: &mut Places<'_>| match (&profile, args.format) {
        (Some(profile), RunFormat::Human) => {
            let _ = anstream::stderr().write_all(profile.table(db, places, took).as_bytes());
            None
        }
        (Some(profile), RunFormat::Json) => {
            let mut place = |at| json!(places.name(at));
            Some(profile.json(db, took, usize::MAX, &mut place))
        }
        (None, _) => None,
    };
    let value = match result {
        Ok(value) => value,
        Err(fault) => {
            match args.format {
                RunFormat::Human => {
                    report(vec![failure::diagnostic(db, def, &fault, flag)]);
                    let trace = places.trace(&fault);
                    let _ = anstream::stderr().write_all(trace.as_bytes());
                    // The profile up to the failure is printed, too.
                    profile(&mut places);
                }
                RunFormat::Json => {
                    let mut shown = json!({ "error": places.json(&fault) });
                    if let Some(profile) = profile(&mut places) {
                        shown["profile"] = profile;
                    }
                    println(&shown.to_string())?;
                }
            }
            return Ok(Outcome::Errors);
        }
    };
    if let Some(path) = &args.output {
        let shown = path.display();
        let leaves = value.leaves_within(MAX_SAVED).ok_or_else(|| {
            format!("cannot write `{shown}`: the result has more than {MAX_SAVED} parts")
        })?;
        let fail = |error: std::io::Error| format!("cannot write `{shown}`: {error}");
        if path.extension().is_some_and(|extension| extension == "npy") {
            let [tensor] = leaves[..] else {
                let count = leaves.len();
                let message = format!(
                    "cannot write `{shown}`: the result has {count} tensors, and a `.npy` file one; \
                     a `.npz` file takes them all"
                );
                return Err(message.into());
            };
            let mut out = File::create(path).map(BufWriter::new).map_err(fail)?;
            arrays::write_npy(&mut out, tensor).and_then(|()| out.flush()).map_err(fail)?;
        } else {
            let named = leaves.iter().enumerate().map(|(k, tensor)| (format!("o{k}"), *tensor));
            File::create(path)
                .and_then(|file| arrays::write_npz(BufWriter::new(file), named.map(Ok)))
                .map_err(fail)?;
        }
    }
    let differences = match &args.expect {
        Some(path) => expect::differences(&value, path)?,
        None => Vec::new(),
    };
    match args.format {
        RunFormat::Human => {
            match (args.top, &args.output, &args.expect) {
                (Some(count), _, _) => println(&top::human(&value, count.into()))?,
                (None, None, None) => println(&show::human(&value))?,
                _ => {}
            }
            match &args.expect {
                Some(path) if differences.is_empty() => {
                    println(&format!("the result is that of `{}`", path.display()))?;
                }
                _ => differences.iter().try_for_each(|difference| println(difference))?,
            }
            profile(&mut places);
        }
        RunFormat::Json => {
            let mut extra = Vec::new();
            extra.extend(profile(&mut places).map(|profile| ("profile", profile)));
            if !warnings.is_empty() {
                extra.push(("warnings", json!(warnings)));
            }
            if args.expect.is_some() {
                extra.push(("differences", json!(differences)));
            }
            let out = BufWriter::new(std::io::stdout().lock());
            run::json::write(&value, &extra, args.output.is_some(), out)?;
        }
    }
    // Dropping a long list or a large module is slow; the end of the process frees them at once.
    std::mem::forget(value);
    Ok(if faulty || !differences.is_empty() { Outcome::Errors } else { Outcome::Clean })
}

/// Notes which arguments are random.
fn note_random(names: &[String], seed: u64) {
    let what = match names {
        [] => return,
        [one] => format!("`%{one}` is"),
        [first, rest @ ..] if rest.len() < 4 => {
            let rest: Vec<String> = rest.iter().map(|name| format!("`%{name}`")).collect();
            format!("`%{first}`, {} are", rest.join(", "))
        }
        many => format!("{} arguments are", many.len()),
    };
    stderr::note(&format!("{what} random (seed {seed})"));
}

/// The largest number of parts of a result that is saved.
const MAX_SAVED: usize = 1 << 20;

/// Returns the option of a limit.
fn flag(limit: &str) -> String {
    format!("--{limit}")
}

/// Returns the sources of the arguments. Archives need no name: `--input weights.npz`.
fn inputs(args: &RunArgs) -> Result<Inputs, String> {
    // These files are named by the user, and need not be checked.
    let named = |path: PathBuf| Named { path, within: None, part: None };
    let mut inputs = Inputs {
        given: Vec::new(),
        archives: args.archives.iter().cloned().map(named).collect(),
        params: args.params.iter().cloned().map(named).collect(),
        seed: args.random,
        folder: PathBuf::new(),
    };
    for text in &args.inputs {
        match text.split_once('=') {
            Some((name, value)) => inputs.given.push(Given {
                name: name.to_owned(),
                text: value.to_owned(),
                is_remote: false,
            }),
            None if text.ends_with(".npz") => inputs.archives.push(named(text.into())),
            None if text.ends_with(".params") => inputs.params.push(named(text.into())),
            None => return Err(format!("`--input {text}` is not of the form `NAME=VALUE`")),
        }
    }
    Ok(inputs)
}

fn println(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Finds a function by name.
fn find<'db>(
    db: &'db semantics::Database,
    file: semantics::SourceFile,
    name: &str,
) -> Option<Def<'db>> {
    let mut defs = semantics::all_defs(db, file);
    defs.find(|def| def.kind(db) == DefKind::Fn && def.name(db) == name)
}

/// Returns the definition to run.
fn choose<'db>(
    db: &'db semantics::Database,
    file: semantics::SourceFile,
    name: Option<&str>,
) -> Result<Def<'db>, String> {
    let defs: Vec<Def<'db>> = semantics::all_defs(db, file).collect();
    let functions = || defs.iter().copied().filter(|def| def.kind(db) == DefKind::Fn);
    if let Some(name) = name {
        let name = if name.starts_with('@') { name.to_owned() } else { format!("@{name}") };
        return find(db, file, &name).ok_or_else(|| {
            let names: Vec<&str> = functions().map(|def| def.name(db).as_str()).collect();
            arguments::no_function(&name, &names)
        });
    }
    let bare = || defs.iter().copied().find(|def| def.kind(db) == DefKind::Expr);
    let only = || {
        let mut all = functions();
        all.next().filter(|_| all.next().is_none())
    };
    find(db, file, "@main").or_else(bare).or_else(only).ok_or_else(|| {
        "there is no `@main` in this file: name a function with `--function`".to_owned()
    })
}
