//! `relay-analyzer run`

mod arguments;
mod npy;
mod params;
mod show;

use std::{io::Write, time::Duration};

use interpreter::{Fault, Limits, Machine};
use semantics::{Def, DefKind, Diagnostic, Severity, View};
use serde_json::json;
use syntax::TextRange;

use super::{Failure, Outcome, RunArgs, RunFormat};
use crate::{
    analyzer::Analyzer,
    input,
    report::{self, Checked},
};

pub(super) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    let input = input::read(&args.path, args.reading.max_code())?;
    if let Some(problem) = &input.problem {
        return Err(format!("{}: {}", input.path, problem.message).into());
    }
    let mut analyzer = Analyzer::new(false);
    let looked = analyzer.check(&input.text);
    let errors: Vec<Diagnostic> =
        looked.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    let (path, text, parse) = (input.path.clone(), input.text, looked.parse);
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
    let values = arguments::gather(&view, args)?;
    let mut machine = Machine::new(db).limited(Limits {
        fuel: args.fuel,
        memory: args.memory.map(|mb| mb.saturating_mul(1 << 20)),
        time: args.time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    });
    let value = match machine.run(def, values, None) {
        Ok(value) => value,
        Err(fault) => {
            match args.format {
                RunFormat::Human => {
                    report(vec![diagnostic(&view, &fault)]);
                    backtrace(&fault);
                }
                RunFormat::Json => {
                    let line =
                        json!({ "error": { "code": fault.kind.code(), "message": fault.message } });
                    println(&line.to_string())?;
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
        RunFormat::Human if args.output.is_none() => println(&show::human(&value))?,
        RunFormat::Human => {}
        RunFormat::Json => println(&show::json(&value).to_string())?,
    }
    // What is left of a long list or a large module ends with the process.
    std::mem::forget(value);
    Ok(if faulty { Outcome::Errors } else { Outcome::Clean })
}

fn println(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// The definition to run.
fn choose<'db>(
    db: &'db semantics::Database,
    file: semantics::SourceFile,
    name: Option<&str>,
) -> Result<Def<'db>, String> {
    let defs: Vec<Def<'db>> = semantics::all_defs(db, file).collect();
    let functions = || defs.iter().copied().filter(|def| def.kind(db) == DefKind::Fn);
    let find = |name: &str| functions().find(|def| def.name(db) == name);
    if let Some(name) = name {
        let name = if name.starts_with('@') { name.to_owned() } else { format!("@{name}") };
        return find(&name).ok_or_else(|| format!("there is no function `{name}` in this file"));
    }
    let bare = || defs.iter().copied().find(|def| def.kind(db) == DefKind::Expr);
    let only = || {
        let mut all = functions();
        all.next().filter(|_| all.next().is_none())
    };
    find("@main").or_else(bare).or_else(only).ok_or_else(|| {
        "there is no `@main` in this file: name a function with `--function`".to_owned()
    })
}

fn diagnostic(view: &View<'_>, fault: &Fault) -> Diagnostic {
    let file = view.def.file(view.db);
    let here = |step: &interpreter::Step| match step.place {
        Some((of, range)) if of == file && !range.is_empty() => Some(range),
        _ => None,
    };
    let range: Option<TextRange> = fault.trace.iter().find_map(here);
    let range = range.unwrap_or_else(|| view.def.range(view.db));
    Diagnostic::new(fault.kind.code(), range, fault.message.clone())
}

/// The calls around the one that failed.
fn backtrace(fault: &Fault) {
    if fault.trace.len() < 2 {
        return;
    }
    let mut err = anstream::stderr();
    let steps = fault.trace.len();
    for (k, step) in fault.trace.iter().enumerate() {
        if fault.omitted > 0 && k == steps / 2 {
            let _ = writeln!(err, "  … {} more calls …", fault.omitted);
        }
        let _ = writeln!(err, "  {}in {}", if k == 0 { "" } else { "called " }, step.function);
    }
}
