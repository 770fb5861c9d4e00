//! `relay-analyzer passes`: the modules of a log, and the changes of each pass.

use std::io::Write;

use super::{Failure, Outcome, PassesArgs, PassesFormat};
use crate::{
    between::passes::{Module, document, examine},
    input::{Log, read_log},
    progress::Progress,
    protocol::Cost,
    report::escape,
};

pub(super) fn run(args: &PassesArgs) -> Result<Outcome, Failure> {
    let log = read_log(&args.log)?;
    let progress = Progress::new(true, log.modules.len(), "modules");
    let modules = examine(&log, args.costs, &|| progress.advance(1));
    drop(progress);
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        PassesFormat::Json => {
            serde_json::to_writer(&mut out, &document(&log, modules))
                .map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
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
                both(&|cost| cost.calls.text.clone()),
                both(&|cost| cost.params.text.clone()),
                both(&|cost| cost.macs.text.clone()),
                both(&|cost| cost.peak.text.clone())
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
