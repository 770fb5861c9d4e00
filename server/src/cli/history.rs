//! `relay-analyzer history`: where an expression of a log came from, and what became of it.

use std::io::Write;

use diff::{Options, Pair, PairKind};
use syntax::{Encoding, LineColumn, LineIndex, TextRange};

use super::{Failure, HistoryArgs, Outcome};
use crate::{
    analyzer::Analyzer,
    input::{Log, NamedModule, read_log},
    report::{diff::fact_text, escape},
};

/// A module that is open.
struct Open {
    module: NamedModule,
    lines: LineIndex,
    analyzer: Analyzer,
}

pub(super) fn run(args: &HistoryArgs) -> Result<Outcome, Failure> {
    let log = read_log(&args.log)?;
    let lines = LineIndex::new(&log.text);
    let (line, column) = args.at;
    let place = LineColumn { line: line - 1, column: column - 1 };
    let offset = lines.offset(place, Encoding::Utf32).ok_or_else(|| {
        let count = lines.line_count();
        format!("there is no line {line} with a column {column}: the log has {count} lines")
    })?;
    let offset = usize::from(offset);
    let start = log
        .modules
        .iter()
        .position(|module| module.range.start <= offset && offset < module.range.end)
        .ok_or_else(|| {
            let lines: Vec<String> =
                log.modules.iter().take(8).map(|module| (module.line + 1).to_string()).collect();
            match lines.is_empty() {
                true => "there is no module in this log".to_owned(),
                false => format!(
                    "no module is at line {line}: modules begin at lines {}",
                    lines.join(", ")
                ),
            }
        })?;
    drop(lines);
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    let own = open(&log, start);
    let at = (offset - own.module.offset) as u32;
    // The expression is the smallest one that the comparison of the module with itself knows there.
    let (pairs, _) = compare(&own, &own);
    let smallest = pairs
        .iter()
        .filter(|pair| pair.after.contains_inclusive(at.into()))
        .min_by_key(|pair| pair.after.len())
        .ok_or_else(|| format!("there is no expression at line {line}, column {column}"))?;
    let range = smallest.after;
    let mut steps: Vec<String> = Vec::new();
    walk(&log, start, range, true, &mut steps);
    steps.reverse();
    for step in &steps {
        writeln!(out, "{step}")?;
    }
    writeln!(out, "{}", row(&log, &own, start, range, "here"))?;
    let mut steps = Vec::new();
    walk(&log, start, range, false, &mut steps);
    for step in &steps {
        writeln!(out, "{step}")?;
    }
    out.flush()?;
    Ok(Outcome::Clean)
}

fn open(log: &Log, number: usize) -> Open {
    let module = log.module(number, format!("{}#{number}", log.path));
    let lines = LineIndex::new(&module.text);
    let mut analyzer = Analyzer::new(false);
    analyzer.parse(&module.text);
    Open { module, lines, analyzer }
}

fn compare(before: &Open, after: &Open) -> (Vec<Pair>, bool) {
    let ((db_a, file_a), (db_b, file_b)) = (before.analyzer.database(), after.analyzer.database());
    let (Some(a), Some(b)) =
        (semantics::module(db_a, file_a, 0), semantics::module(db_b, file_b, 0))
    else {
        return (Vec::new(), true);
    };
    let diff = diff::compare((db_a, a), (db_b, b), &Options::default());
    (diff.functions.into_iter().flat_map(|function| function.pairs).collect(), diff.equal)
}

/// Follows an expression from module to module, until it has no partner or the log ends: at most
/// once through every module.
fn walk(log: &Log, start: usize, range: TextRange, is_back: bool, steps: &mut Vec<String>) {
    let mut at = start;
    let mut range = range;
    let mut own = open(log, at);
    loop {
        let next = if is_back { at.checked_sub(1) } else { Some(at + 1) };
        let Some(next) = next.filter(|&next| next < log.modules.len()) else { return };
        let other = open(log, next);
        let (before, after) = if is_back { (&other, &own) } else { (&own, &other) };
        let (pairs, _) = compare(before, after);
        let side = |pair: &Pair| if is_back { pair.after } else { pair.before };
        let rank = |pair: &&Pair| (pair.kind != PairKind::Same, pair.kind);
        let found = pairs.iter().filter(|pair| side(pair) == range).min_by_key(rank);
        // What changed between the two was done by the pass that the later one was printed after.
        let pass = pass(log, next.max(at));
        let Some(pair) = found else {
            steps.push(match is_back {
                true => format!("      new with {pass}: nothing in module {next} belongs to it"),
                false => format!("      gone with {pass}: nothing in module {next} belongs to it"),
            });
            return;
        };
        let note = match pair.kind {
            PairKind::Same => String::new(),
            kind => {
                let changes: Vec<String> = pair
                    .changes
                    .iter()
                    .map(|change| {
                        let (old, new) = (fact_text(&change.before), fact_text(&change.after));
                        format!("{} {} {old} → {new}", change.what.word(), change.name)
                    })
                    .collect();
                let changes = escape::terminal(&changes.join(", ")).into_owned();
                format!(
                    "{} by {pass}{}{changes}",
                    kind.word(),
                    if changes.is_empty() { "" } else { ": " }
                )
            }
        };
        range = if is_back { pair.before } else { pair.after };
        if is_back {
            // The change is told of the later one of the two.
            if !note.is_empty() {
                steps.push(format!("      {note}"));
            }
            steps.push(row(log, &other, next, range, ""));
        } else {
            if !note.is_empty() {
                steps.push(format!("      {note}"));
            }
            steps.push(row(log, &other, next, range, ""));
        }
        (at, own) = (next, other);
    }
}

fn pass(log: &Log, number: usize) -> String {
    match &log.modules[number].pass {
        Some(pass) => format!("`{}`", escape::terminal(pass)),
        None => format!("the pass before module {number}"),
    }
}

fn row(log: &Log, of: &Open, number: usize, range: TextRange, note: &str) -> String {
    let place = of.lines.line_column(range.start(), Encoding::Utf32);
    let text = of.module.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
    let line: String = text.lines().next().unwrap_or_default().chars().take(80).collect();
    let pass = log.modules[number].pass.as_deref().unwrap_or("-");
    let position = format!("{}:{}", place.line + of.module.first_line + 1, place.column + 1);
    let note = if note.is_empty() { String::new() } else { format!("   ← {note}") };
    format!(
        "{number:>4}  {:24} {position:>10}  {}{note}",
        escape::terminal(pass),
        escape::terminal(&line)
    )
}
