//! `relay-analyzer passes`: the modules of a log, and the changes of each pass.

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use diff::log::LogModule;
use ide::words;

use super::{Failure, Outcome, write_json};
use crate::{
    between::passes::{Module, document, examine},
    input::{Log, read_log},
    progress::Progress,
    protocol::Amount,
    report::{columns::aligned, escape},
};

/// The arguments of `passes`.
#[derive(Args)]
pub(super) struct PassesArgs {
    /// The log: a sequence of modules, with or without headers that name passes
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The output format
    #[arg(long, value_enum, default_value = "human")]
    format: PassesFormat,
    /// Print calls, parameters, multiply-accumulates and peak memory of each module, which requires
    /// type-checking all of them
    #[arg(long)]
    costs: bool,
}

/// The format of what is said of a log.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PassesFormat {
    /// Columns for a terminal
    Human,
    /// One JSON document
    Json,
}

/// The longest name of a pass that is printed whole.
const LONGEST_PASS: usize = 40;

pub(super) fn run(args: &PassesArgs) -> Result<Outcome, Failure> {
    let log = read_log(&args.log)?;
    let progress = Progress::new(true, log.modules.len(), "modules");
    let modules = examine(&log, args.costs, &|| progress.advance(1));
    drop(progress);
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        PassesFormat::Json => write_json(&mut out, &document(&log, modules))?,
        PassesFormat::Human => table(&log, &modules, &mut out)?,
    }
    out.flush()?;
    match log.modules.is_empty() {
        true => Err(format!(
            "`{}` has no modules: it should be the output of `PrintIR`, `print_after` or `print(mod)`",
            escape::terminal(&log.path)
        )
        .into()),
        false => Ok(Outcome::Clean),
    }
}

/// Prints a line for each module. The last column may name several functions.
fn table(log: &Log, modules: &[Module], out: &mut impl Write) -> std::io::Result<()> {
    let dim = anstyle::Style::new().dimmed();
    let mut head = vec!["#", "pass", "line", "size", "defs"];
    let with_costs = modules.iter().any(|module| module.cost.is_some());
    if with_costs {
        head.extend(["calls", "parameters", "MACs", "peak"]);
    }
    head.push("changed");
    let is_number: Vec<bool> =
        head.iter().map(|name| !matches!(*name, "pass" | "changed")).collect();
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<String>>()];
    rows.extend(log.modules.iter().zip(modules).enumerate().map(|(index, (place, module))| {
        let pass = place.pass.as_deref().unwrap_or("-");
        let mut row = vec![
            index.to_string(),
            words::bounded(pass, LONGEST_PASS).0,
            words::number(place.line as u64 + 1),
            words::bytes(place.range.len() as u64),
            words::number(module.functions as u64),
        ];
        if with_costs {
            let cost = module.cost.as_ref();
            let amounts = cost.map(|cost| [&cost.calls, &cost.params, &cost.macs, &cost.peak]);
            let texts = |amounts: [&Amount; 4]| amounts.map(|amount| amount.text.clone());
            row.extend(amounts.map_or_else(|| ["-"; 4].map(str::to_owned), texts));
        }
        row.push(changes(index, place, module));
        row
    }));
    for (number, line) in aligned(&rows, &is_number, "  ", None).into_iter().enumerate() {
        let module = number.checked_sub(1);
        match module.is_some_and(|at| at > 0 && modules[at].changed.is_empty()) {
            true => writeln!(out, "{dim}{line}{dim:#}")?,
            false => writeln!(out, "{line}")?,
        }
        for nested in module.iter().flat_map(|&at| &log.modules[at].nested) {
            writeln!(out, "{dim}{:>4}   {}{dim:#}", "", escape::terminal(nested))?;
        }
    }
    Ok(())
}

/// Returns the functions that differ from the previous module, and what is special about the module.
fn changes(index: usize, place: &LogModule, module: &Module) -> String {
    let mut what = match (index, module.changed.as_slice()) {
        (0, _) => String::new(),
        (_, []) => "nothing".to_owned(),
        (_, changed) => {
            let names: Vec<&str> = changed.iter().take(4).map(String::as_str).collect();
            let more = changed.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", names.join(", "))
        }
    };
    if place.is_before {
        what += " (printed before the pass)";
    }
    if place.is_cut {
        what += " (cut off)";
    }
    what.trim_start().to_owned()
}
