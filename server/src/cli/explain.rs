//! `relay-analyzer explain`

use std::io::Write;

use semantics::{code_of, codes};

use super::{Failure, Outcome};

pub(super) fn run(code: Option<&str>) -> Result<Outcome, Failure> {
    let mut out = anstream::stdout().lock();
    let bold = anstyle::Style::new().bold();
    let Some(name) = code else {
        let width = codes().iter().map(|code| code.name.len()).max().unwrap_or(0);
        for code in codes() {
            let level = if code.tvm { "tvm" } else { code.severity.name() };
            writeln!(out, "{bold}{:width$}{bold:#}  {level:7}  {}", code.name, code.title)?;
        }
        return Ok(Outcome::Clean);
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    match code_of(name) {
        Some(code) => {
            let level = if code.tvm { "hint; an error with `--tvm`" } else { code.severity.name() };
            writeln!(
                out,
                "{bold}{}{bold:#} ({level}): {}\n\n{}",
                code.name, code.title, code.page
            )?;
            Ok(Outcome::Clean)
        }
        None => {
            let near = codes().iter().min_by_key(|code| operators::distance(name, code.name));
            let near =
                near.map_or(String::new(), |near| format!(", did you mean `{}`?", near.name));
            Err(format!("there is no code `{name}`{near} `relay-analyzer explain` lists all")
                .into())
        }
    }
}
