//! `relay-analyzer passes`: the modules of a log, and what each pass changed.

use std::io::Write;

use diff::Structure;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    Failure, Outcome, PassesArgs, PassesFormat,
    diff::{cost, cost_json},
};
use crate::{
    analyzer::Analyzer,
    input::{Log, read_log},
    report::{diff::Cost, escape},
};

/// What is known of a module of a log.
struct Module {
    functions: usize,
    /// The functions that are not what they were before.
    changed: Vec<String>,
    cost: Option<Cost>,
}

pub(super) fn run(args: &PassesArgs) -> Result<Outcome, Failure> {
    let log = read_log(&args.log)?;
    let modules = examine(&log, args.costs);
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        PassesFormat::Json => {
            serde_json::to_writer(&mut out, &document(&log, &modules))
                .map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        PassesFormat::Human => table(&log, &modules, &mut out)?,
    }
    out.flush()?;
    match modules.is_empty() {
        true => Err(format!(
            "`{}` holds no module: it should have what `PrintIR`, `print_after` or `print(mod)` write",
            escape::terminal(&log.path)
        )
        .into()),
        false => Ok(Outcome::Clean),
    }
}

/// Compares each module to the one before. Every thread takes a run of neighbours, so that it parses
/// each of them once and holds the structures of two.
fn examine(log: &Log, with_costs: bool) -> Vec<Module> {
    let numbers: Vec<usize> = (0..log.modules.len()).collect();
    let run = numbers.len().div_ceil(rayon::current_num_threads().max(1)).max(1);
    let one_run = |numbers: &[usize]| -> Vec<Module> {
        let mut known = None;
        numbers.iter().map(|&number| one(log, number, with_costs, &mut known)).collect()
    };
    let parts: Vec<Vec<Module>> = numbers.par_chunks(run).map(one_run).collect();
    parts.into_iter().flatten().collect()
}

/// `known` is the structure of the module before, where that was asked for.
fn one(log: &Log, number: usize, with_costs: bool, known: &mut Option<Structure>) -> Module {
    let module = &log.modules[number];
    let changed = match number.checked_sub(1) {
        None => Vec::new(),
        Some(before) => changed(log, before, number, known),
    };
    let begins = |item: &&std::ops::Range<usize>| log.text[(*item).clone()].starts_with("def ");
    let functions = module.items.iter().filter(begins).count();
    let cost = with_costs.then(|| {
        let text = module.text(&log.text);
        let mut analyzer = Analyzer::new(false);
        let found = analyzer.guarded(|analyzer| {
            analyzer.parse(&text);
            let (db, file) = analyzer.database();
            cost(db, file, None)
        });
        found.ok().flatten()
    });
    Module { functions, changed, cost: cost.flatten() }
}

/// The functions that two modules do not have alike. Modules whose texts are equal are not parsed;
/// then `known` is the structure of both.
fn changed(log: &Log, before: usize, after: usize, known: &mut Option<Structure>) -> Vec<String> {
    let text = |number: usize| log.modules[number].text(&log.text);
    let (text_a, text_b) = (text(before), text(after));
    if text_a.trim_end() == text_b.trim_end() {
        return Vec::new();
    }
    let old = known.take().or_else(|| structure(&text_a));
    *known = structure(&text_b);
    let found = old.as_ref().zip(known.as_ref()).map(|(old, new)| old.changed(new));
    found.unwrap_or_default().into_iter().map(|name| name.to_string()).collect()
}

/// The structure of a module; `None` if the analysis panics.
fn structure(text: &str) -> Option<Structure> {
    let mut analyzer = Analyzer::new(false);
    let found = analyzer.guarded(|analyzer| {
        analyzer.parse(text);
        let (db, file) = analyzer.database();
        Some(Structure::new(db, semantics::module(db, file, 0)?))
    });
    found.ok().flatten()
}

fn document(log: &Log, modules: &[Module]) -> Value {
    let modules = log.modules.iter().zip(modules).enumerate().map(|(index, (place, module))| {
        let mut shown = json!({
            "index": index, "pass": place.pass, "start": place.range.start,
            "end": place.range.end, "line": place.line + 1, "changed": module.changed,
            "functions": module.functions,
        });
        if place.is_before {
            shown["before"] = json!(true);
        }
        if place.is_cut {
            shown["cut"] = json!(true);
        }
        if let Some(cost) = &module.cost {
            shown["cost"] = cost_json(cost);
        }
        shown
    });
    json!({ "file": log.path, "modules": modules.collect::<Vec<_>>() })
}

fn table(log: &Log, modules: &[Module], out: &mut impl Write) -> std::io::Result<()> {
    let dim = anstyle::Style::new().dimmed();
    let width = log.modules.iter().filter_map(|m| m.pass.as_deref()).map(|p| p.chars().count());
    let width = width.max().unwrap_or(4).clamp(4, 40);
    writeln!(
        out,
        "{:>4} {:width$} {:>9} {:>10} {:>5}  changed",
        "#", "pass", "line", "bytes", "defs"
    )?;
    let mut before: Option<&Cost> = None;
    for (index, (place, module)) in log.modules.iter().zip(modules).enumerate() {
        let pass = escape::terminal(place.pass.as_deref().unwrap_or("-"));
        let mut what = match (index, module.changed.as_slice()) {
            (0, _) => String::new(),
            (_, []) => "nothing".to_owned(),
            (_, changed) => {
                let names: Vec<&str> = changed.iter().take(4).map(String::as_str).collect();
                let more = changed.len() - names.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{}{more}", escape::terminal(&names.join(", ")))
            }
        };
        if place.is_before {
            what += " (printed before the pass)";
        }
        if place.is_cut {
            what += " (cut off)";
        }
        if let Some(cost) = &module.cost {
            let both = |of: &dyn Fn(&Cost) -> String| match before.map(of) {
                Some(old) if old != of(cost) => format!("{old} → {}", of(cost)),
                _ => of(cost),
            };
            what += &format!(
                "; {} calls, {} parameters, {} MACs, peak {}",
                both(&|cost| cost.calls.to_string()),
                both(&|cost| cost.params.clone()),
                both(&|cost| cost.macs.clone()),
                both(&|cost| cost.peak.clone())
            );
            before = Some(cost);
        }
        let row = format!(
            "{index:>4} {pass:width$} {:>9} {:>10} {:>5}  {what}",
            place.line + 1,
            place.range.len(),
            module.functions
        );
        match index > 0 && module.changed.is_empty() {
            true => writeln!(out, "{dim}{row}{dim:#}")?,
            false => writeln!(out, "{row}")?,
        }
    }
    Ok(())
}
