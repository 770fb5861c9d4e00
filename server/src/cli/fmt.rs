//! `relay-analyzer fmt`

use std::{io::Write, path::Path};

use super::{
    Failure, FmtArgs, Outcome, fix::unified, named_files, report_problem, reported,
    settings::FileSettings,
};
use crate::{
    files::replace_text,
    input, panics,
    project::Project,
    report::{escape, stderr},
};

pub(super) fn run(args: &FmtArgs) -> Result<Outcome, Failure> {
    let (files, mut outcome) = named_files(&args.paths);
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    let mut settings = FileSettings::new(&args.settings);
    for path in files {
        let project = settings.of(&path)?;
        outcome = outcome.max(reported(format(&path, &project, args, &mut out))?);
    }
    out.flush()?;
    Ok(outcome)
}

/// Formats a file.
fn format(
    path: &Path,
    project: &Project,
    args: &FmtArgs,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let style = args.style.or(project.style).unwrap_or_default();
    let input = input::read(path, args.reading.max_code_in(project))?;
    let is_stdin = path.as_os_str() == "-";
    let shown = escape::terminal(&input.path);
    if input.saved.is_some() && !is_stdin {
        let message = format!(
            "`{shown}` was saved by TVM and is not written: `relay-analyzer convert {shown}` shows its text"
        );
        return Err(message.into());
    }
    // The replacement of invalid UTF-8 must not be written back.
    if report_problem(&input) == Outcome::Unusable {
        return Ok(Outcome::Unusable);
    }
    let formatted = panics::caught(|| {
        let errors = syntax::parse(&input.text).errors;
        let is_broken = errors.iter().any(|error| !error.kind.is_compat());
        (!is_broken).then(|| syntax::format::formatted(&input.text, style))
    });
    let formatted =
        formatted.map_err(|panicked| panicked.message(&format!("the layout of `{shown}`")))?;
    let Some(text) = formatted else {
        stderr::error(&format!(
            "`{shown}` has syntax errors and is left as it is; `relay-analyzer check` shows them"
        ));
        return Ok(Outcome::Errors);
    };
    let differs = text != input.text;
    if args.check || args.diff {
        if !differs {
            return Ok(Outcome::Clean);
        }
        match args.check {
            true => writeln!(out, "{shown}")?,
            false => out.write_all(unified(&input.path, &input.text, &text).as_bytes())?,
        }
        return Ok(Outcome::Errors);
    }
    if is_stdin {
        out.write_all(text.as_bytes())?;
    } else if differs {
        replace_text(path, input.stamp, &text)
            .map_err(|error| format!("cannot write `{shown}`: {error}"))?;
    }
    Ok(Outcome::Clean)
}
