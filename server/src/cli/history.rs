//! `relay-analyzer history`: the history of an expression through the modules of a log.

use std::{io::Write, path::PathBuf};

use clap::Args;
use syntax::{Encoding, LineColumn};

use super::{Failure, Outcome, passes::PassesFormat, write_json};
use crate::{
    between::history::{History, Stop},
    input::{Log, read_log},
    protocol::{HistoryDocument, HistoryPlace, StepKind},
    report::escape,
};

/// The arguments of `history`.
#[derive(Args)]
pub(super) struct HistoryArgs {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The position of the expression in the log, both numbers from 1
    #[arg(long, value_name = "LINE:COL", value_parser = line_and_column)]
    at: (u32, u32),
    /// The output format
    #[arg(long, value_enum, default_value = "human")]
    format: PassesFormat,
}

/// Parses a position.
fn line_and_column(text: &str) -> Result<(u32, u32), String> {
    let parts = text
        .split_once(':')
        .and_then(|(line, column)| Some((line.parse::<u32>().ok()?, column.parse::<u32>().ok()?)));
    match parts {
        Some((line, column)) if line > 0 && column > 0 => Ok((line, column)),
        _ => Err("it is not of the form `LINE:COL`, both from 1".to_owned()),
    }
}

pub(super) fn run(args: &HistoryArgs) -> Result<Outcome, Failure> {
    let log = read_log(&args.log)?;
    let (line, column) = args.at;
    let place = LineColumn { line: line - 1, column: column - 1 };
    let (module, offset) = log.place(place, Encoding::Utf32)?;
    let history = History::of(&log, module, offset)?;
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        PassesFormat::Human => table(&log, &history, &mut out)?,
        PassesFormat::Json => write_json(&mut out, &document(&log, &history))?,
    }
    out.flush()?;
    Ok(Outcome::Clean)
}

/// Returns the pass between the previous module and this one.
fn pass(log: &Log, number: usize) -> String {
    match log.modules.get(number).and_then(|module| module.pass.as_deref()) {
        Some(pass) => format!("`{}`", escape::terminal(pass)),
        None => format!("the pass before module {number}"),
    }
}

fn table(log: &Log, history: &History, out: &mut impl Write) -> std::io::Result<()> {
    if let Some(first) = history.stops.first().filter(|_| history.is_new) {
        let before = first.module.saturating_sub(1);
        writeln!(
            out,
            "      added by {}: module {before} has no counterpart",
            pass(log, first.module)
        )?;
    }
    for (number, stop) in history.stops.iter().enumerate() {
        writeln!(out, "{}", row(log, stop, number == history.here))?;
        let Some(step) = history.steps.get(number).filter(|step| step.kind != StepKind::Same)
        else {
            continue;
        };
        let changes = step.changes.join(", ");
        let colon = if changes.is_empty() { "" } else { ": " };
        writeln!(out, "      {} by {}{colon}{changes}", step.kind, pass(log, stop.module + 1))?;
    }
    if let Some(last) = history.stops.last().filter(|_| history.is_gone) {
        let next = last.module + 1;
        writeln!(out, "      removed by {}: module {next} has no counterpart", pass(log, next))?;
    }
    Ok(())
}

fn row(log: &Log, stop: &Stop, is_here: bool) -> String {
    let pass = log.modules[stop.module].pass.as_deref().unwrap_or("-");
    let position = format!("{}:{}", stop.position.0, stop.position.1);
    let note = if is_here { "   ← here" } else { "" };
    format!(
        "{:>4}  {:24} {position:>10}  {}{note}",
        stop.module,
        escape::terminal(pass),
        escape::terminal(&stop.text)
    )
}

fn document<'a>(log: &'a Log, history: &'a History) -> HistoryDocument<'a> {
    let stops = history.stops.iter().enumerate().map(|(number, stop)| {
        let module = &log.modules[stop.module];
        let step = number.checked_sub(1).and_then(|before| history.steps.get(before));
        HistoryPlace {
            module: stop.module,
            pass: module.pass.as_deref(),
            start: usize::from(stop.range.start()) + module.range.start,
            end: usize::from(stop.range.end()) + module.range.start,
            line: stop.position.0,
            column: stop.position.1,
            text: &stop.text,
            kind: step.map(|step| step.kind),
            changes: step.map(|step| &*step.changes),
        }
    });
    HistoryDocument {
        file: &log.path,
        here: history.here,
        stops: stops.collect(),
        new: history.is_new,
        gone: history.is_gone,
    }
}
