//! `relay-analyzer run`

use std::{
    io::Write,
    path::PathBuf,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use interpreter::{FaultKind, Limits, Machine, Observer};
use semantics::{Def, DefKind, Diagnostic, Severity, View};
use serde_json::json;

use super::{Failure, Outcome, RunArgs, RunFormat};
use crate::{
    analyzer::Analyzer,
    input,
    report::{self, Checked},
    run::{
        arguments::{self, Inputs},
        failure::{self, Places},
        npy,
        profile::Profile,
        show,
    },
};

pub(super) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    let input = input::read(&args.path, args.reading.max_code())?;
    if let Some(problem) = &input.problem {
        return Err(format!("{}: {}", input.path, problem.message).into());
    }
    let inputs = inputs(args)?;
    let mut analyzer = Analyzer::new(false);
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
        if own || semantics::has_type_errors(&view) {
            return Ok(Outcome::Errors);
        }
    }
    let mut machine = Machine::new(db).limited(Limits {
        fuel: args.fuel,
        memory: args.memory.map(|mb| mb.saturating_mul(1 << 20)),
        time: args.time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        depth: args.depth,
    });
    let mut function = |name: &str| {
        let def = find(db, file, name)?;
        let ty = View::new(db, def)?.inference.signature.clone()?;
        Some((machine.function(def)?, ty))
    };
    let never = AtomicBool::new(false);
    let values = match arguments::gather(&view, &inputs, &never, &mut function) {
        Ok(arguments) => arguments.values,
        Err(lack) => {
            let diagnostic = lack.diagnostic(FaultKind::Input.code(), def.range(db));
            match args.format {
                RunFormat::Human => report(vec![diagnostic]),
                RunFormat::Json => {
                    let (code, message) = (diagnostic.code, &diagnostic.message);
                    let error = json!({ "code": code, "message": message, "help": lack.help });
                    println(&json!({ "error": error }).to_string())?;
                }
            }
            return Ok(Outcome::Unusable);
        }
    };
    let mut profile = args.profile.then(Profile::default);
    let begin = Instant::now();
    let observer = profile.as_mut().map(|profile| profile as &mut dyn Observer);
    let result = machine.run(def, values, observer);
    let took = begin.elapsed();
    let mut places = Places::new(db, file, &input.path, &lines);
    let profile = |places: &mut Places<'_>| match (&profile, args.format) {
        (Some(profile), RunFormat::Human) => {
            let _ = anstream::stderr().write_all(profile.table(db, places, took).as_bytes());
            None
        }
        (Some(profile), RunFormat::Json) => Some(profile.json(db, places, took)),
        (None, _) => None,
    };
    let value = match result {
        Ok(value) => value,
        Err(fault) => {
            match args.format {
                RunFormat::Human => {
                    report(vec![failure::diagnostic(db, def, &fault)]);
                    let trace = places.trace(&fault);
                    let _ = anstream::stderr().write_all(trace.as_bytes());
                    // What was done until then is known all the same.
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
        let leaves = value.leaves();
        let named = leaves.iter().enumerate().map(|(k, tensor)| (format!("o{k}"), *tensor));
        npy::write_npz(path, named)
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    }
    match args.format {
        RunFormat::Human => {
            if args.output.is_none() {
                println(&show::human(&value))?;
            }
            profile(&mut places);
        }
        RunFormat::Json => {
            let mut shown = show::json(&value);
            if let Some(profile) = profile(&mut places) {
                shown["profile"] = profile;
            }
            println(&shown.to_string())?;
        }
    }
    // What is left of a long list or a large module ends with the process.
    std::mem::forget(value);
    Ok(if faulty { Outcome::Errors } else { Outcome::Clean })
}

/// Where the arguments come from. Files need no name: `--input weights.npz`.
fn inputs(args: &RunArgs) -> Result<Inputs, String> {
    let mut inputs = Inputs {
        given: Vec::new(),
        archives: args.archives.clone(),
        params: args.params.clone(),
        seed: args.random,
        folder: PathBuf::new(),
    };
    for text in &args.inputs {
        match text.split_once('=') {
            Some((name, value)) => inputs.given.push((name.to_owned(), value.to_owned())),
            None if text.ends_with(".npz") => inputs.archives.push(text.into()),
            None if text.ends_with(".params") => inputs.params.push(text.into()),
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

/// The function that is called so.
fn find<'db>(
    db: &'db semantics::Database,
    file: semantics::SourceFile,
    name: &str,
) -> Option<Def<'db>> {
    let mut defs = semantics::all_defs(db, file);
    defs.find(|def| def.kind(db) == DefKind::Fn && def.name(db) == name)
}

/// The definition to run.
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
