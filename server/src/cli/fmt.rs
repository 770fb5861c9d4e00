//! `relay-analyzer fmt`

use std::io::Write;

use syntax::format::Style;

use super::{
    Failure, FmtArgs, Outcome, fix::unified, named_files, report_problem, settings::FileSettings,
};
use crate::{
    files::replace_text,
    input, panics,
    report::{escape, stderr},
};

pub(super) fn run(args: &FmtArgs) -> Result<Outcome, Failure> {
    let (files, mut outcome) = named_files(&args.paths);
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    let mut settings = FileSettings::new(&args.settings);
    for path in files {
        let project = settings.of(&path)?;
        let style = args.style.map(Style::from).or(project.style).unwrap_or_default();
        let input = match input::read(&path, args.reading.max_code_in(&project)) {
            Ok(input) => input,
            Err(message) => {
                stderr::error(&message);
                outcome = Outcome::Unusable;
                continue;
            }
        };
        if input.saved.is_some() && path.as_os_str() != "-" {
            stderr::error(&format!(
                "`{0}` was saved by TVM and is not written: `relay-analyzer convert {0}` shows its text",
                escape::terminal(&input.path)
            ));
            outcome = Outcome::Unusable;
            continue;
        }
        // The replacement of invalid UTF-8 must not be written back.
        if report_problem(&input) == Outcome::Unusable {
            outcome = Outcome::Unusable;
            continue;
        }
        let formatted = panics::caught(|| {
            let errors = syntax::parse(&input.text).errors;
            let is_broken = errors.iter().any(|error| !error.kind.is_compat());
            (!is_broken).then(|| syntax::format::formatted(&input.text, style))
        });
        let text = match formatted {
            Ok(Some(text)) => text,
            Ok(None) => {
                stderr::error(&format!(
                    "`{}` has syntax errors and is left as it is; `relay-analyzer check` shows them",
                    escape::terminal(&input.path)
                ));
                outcome = outcome.max(Outcome::Errors);
                continue;
            }
            Err(panicked) => {
                let what = format!("the layout of `{}`", escape::terminal(&input.path));
                stderr::error(&panicked.message(&what));
                outcome = Outcome::Unusable;
                continue;
            }
        };
        let differs = text != input.text;
        let is_stdin = path.as_os_str() == "-";
        if args.check {
            if differs {
                writeln!(out, "{}", escape::terminal(&input.path))?;
                outcome = outcome.max(Outcome::Errors);
            }
        } else if args.diff {
            if differs {
                let diff = unified(&input.path, &input.text, &text);
                out.write_all(diff.as_bytes())?;
                outcome = outcome.max(Outcome::Errors);
            }
        } else if is_stdin {
            out.write_all(text.as_bytes())?;
        } else if differs && let Err(error) = replace_text(&path, input.stamp, &text) {
            stderr::error(&format!("cannot write `{}`: {error}", escape::terminal(&input.path)));
            outcome = Outcome::Unusable;
        }
    }
    out.flush()?;
    Ok(outcome)
}
