//! The modules of a log, and the changes of each pass.

use diff::Structure;
use rayon::prelude::*;

use crate::{
    analyzer::Analyzer,
    input::Log,
    protocol::{Cost, PassLog, PassModule},
    report::diff::cost,
};

/// The analysis of a module of a log.
pub(crate) struct Module {
    /// The number of functions.
    pub(crate) functions: usize,
    /// The functions that differ from the previous module.
    pub(crate) changed: Vec<String>,
    /// The cost of running it, if requested and known.
    pub(crate) cost: Option<Cost>,
}

/// Compares each module with the previous one. Each thread takes consecutive modules, so that it
/// parses each of them once and holds the structures of two. `done` is called after each module.
pub(crate) fn examine(log: &Log, with_costs: bool, done: &(dyn Fn() + Sync)) -> Vec<Module> {
    let numbers: Vec<usize> = (0..log.modules.len()).collect();
    let run = numbers.len().div_ceil(rayon::current_num_threads().max(1)).max(1);
    let one_run = |numbers: &[usize]| -> Vec<Module> {
        let mut known = None;
        let examine = |&number: &usize| {
            let module = one(log, number, with_costs, &mut known);
            done();
            module
        };
        numbers.iter().map(examine).collect()
    };
    let parts: Vec<Vec<Module>> = numbers.par_chunks(run).map(one_run).collect();
    parts.into_iter().flatten().collect()
}

/// Analyses one module. `known` is the structure of the previous module, if this thread has
/// computed it.
fn one(log: &Log, number: usize, with_costs: bool, known: &mut Option<Structure>) -> Module {
    let module = &log.modules[number];
    let changed = match number.checked_sub(1) {
        None => Vec::new(),
        Some(before) => changed(log, before, number, known),
    };
    let cost = with_costs.then(|| {
        let text = log.text(number).ok()?;
        let mut analyzer = Analyzer::default();
        let found = analyzer.guarded(|analyzer| {
            analyzer.parse(&text);
            let (db, file) = analyzer.database();
            cost(db, file, None)
        });
        found.ok().flatten()
    });
    Module { functions: module.functions, changed, cost: cost.flatten() }
}

/// Returns the names of the functions that differ between two modules. Fast path: modules with
/// equal texts are not parsed, and `known` is the structure of both.
fn changed(log: &Log, before: usize, after: usize, known: &mut Option<Structure>) -> Vec<String> {
    let (Ok(text_a), Ok(text_b)) = (log.text(before), log.text(after)) else {
        *known = None;
        return Vec::new();
    };
    if text_a.trim_end() == text_b.trim_end() {
        return Vec::new();
    }
    let old = known.take().or_else(|| structure(&text_a));
    *known = structure(&text_b);
    let found = old.as_ref().zip(known.as_ref()).map(|(old, new)| old.changed(new));
    found.unwrap_or_default().into_iter().map(|name| name.to_string()).collect()
}

/// Returns the structure of a module; `None` if the analysis panics.
fn structure(text: &str) -> Option<Structure> {
    let mut analyzer = Analyzer::default();
    let found = analyzer.guarded(|analyzer| {
        analyzer.parse(text);
        let (db, file) = analyzer.database();
        Some(Structure::new(db, semantics::module(db, file, 0)?))
    });
    found.ok().flatten()
}

/// Returns the modules with their changes.
pub(crate) fn document(log: &Log, modules: Vec<Module>) -> PassLog {
    let modules =
        log.modules.iter().zip(modules).enumerate().map(|(index, (place, module))| PassModule {
            index,
            pass: place.pass.clone(),
            nested: place.nested.clone(),
            start: place.range.start,
            end: place.range.end,
            line: place.line + 1,
            changed: module.changed,
            functions: module.functions,
            before: place.is_before,
            cut: place.is_cut,
            cost: module.cost,
        });
    PassLog { file: log.path.clone(), modules: modules.collect() }
}
