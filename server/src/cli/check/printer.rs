//! Prints the results of files and the totals.

use std::io::{BufWriter, Write};

use semantics::Severity;

use super::{FileResult, Report, least_severity};
use crate::{
    cli::{
        Failure, Outcome,
        check_args::{CheckArgs, Format},
    },
    report::{Summary, escape, sarif, stderr},
};

/// Prints the results of files in their order.
pub(super) struct Printer<'a> {
    args: &'a CheckArgs,
    out: BufWriter<anstream::Stdout>,
    summary: Summary,
    sarif: sarif::Log,
    outcome: Outcome,
    /// The number of files that fixes would change.
    changed: usize,
}

impl<'a> Printer<'a> {
    /// Creates a printer; `problems` are those of finding the files, which are printed already.
    pub(super) fn new(args: &'a CheckArgs, problems: &[String]) -> Printer<'a> {
        let out = BufWriter::new(anstream::stdout());
        let (summary, mut sarif) = (Summary::default(), sarif::Log::default());
        problems.iter().for_each(|problem| sarif.fail(problem));
        let outcome = if problems.is_empty() { Outcome::Clean } else { Outcome::Unusable };
        Printer { args, out, summary, sarif, outcome, changed: 0 }
    }

    /// Prints the result of a file, or the message about a file that cannot be read.
    pub(super) fn print(&mut self, result: &Result<FileResult, String>) -> Result<(), Failure> {
        let result = match result {
            Ok(result) => result,
            Err(message) => {
                self.out.flush()?;
                stderr::error(message);
                self.sarif.fail(message);
                self.outcome = Outcome::Unusable;
                return Ok(());
            }
        };
        let FileResult { checked, report, panicked, fixed, diff } = result;
        if *panicked {
            self.outcome = Outcome::Unusable;
            let fault = checked.diagnostics.first().map_or("", |fault| fault.message.as_str());
            self.sarif.fail(&format!("{}: {fault}", checked.path));
        }
        if self.args.diff {
            return self.print_diff(result, diff.as_deref());
        }
        self.summary.add(checked);
        if let Some(count) = fixed.filter(|_| !self.args.quiet) {
            self.out.flush()?;
            let what = ide::words::counted(count as u64, "problem");
            stderr::note(&format!("`{}`: {what} fixed", checked.path));
        }
        if !panicked && checked.counts[Severity::Error as usize] > 0 {
            self.outcome = self.outcome.max(Outcome::Errors);
        }
        match report {
            Report::Text(text) => self.out.write_all(text.as_bytes())?,
            Report::Sarif(results) => self.sarif.add(results),
        }
        Ok(())
    }

    /// Prints the changes that fixes would make.
    fn print_diff(&mut self, result: &FileResult, diff: Option<&str>) -> Result<(), Failure> {
        if result.panicked {
            self.out.flush()?;
            let what = format!("the fixes of `{}`", escape::terminal(&result.checked.path));
            let reason = result.checked.diagnostics.first();
            let reason = reason.map(|fault| fault.message.as_str()).unwrap_or_default();
            stderr::error(&format!("{what}: {reason}"));
        }
        if let Some(diff) = diff {
            self.changed += 1;
            self.outcome = self.outcome.max(Outcome::Errors);
            self.out.write_all(diff.as_bytes())?;
        }
        Ok(())
    }

    /// Prints the totals, and returns the outcome.
    pub(super) fn finish(mut self) -> Result<Outcome, Failure> {
        let is_quiet = self.args.quiet;
        if self.args.diff {
            self.out.flush()?;
            if !is_quiet && self.changed > 0 {
                let files = ide::words::counted(self.changed as u64, "file");
                stderr::note(&format!("`--fix` would change {files}"));
            }
            return Ok(self.outcome);
        }
        match self.args.format {
            Format::Sarif => {
                self.sarif.write(self.outcome != Outcome::Unusable, &mut self.out)?;
            }
            // A file that cannot be read makes the outcome unusable.
            Format::Human
                if !is_quiet && (self.summary.files() > 0 || self.outcome == Outcome::Clean) =>
            {
                let tells_hidden = self.args.severity.is_none();
                let text = self.summary.text(least_severity(self.args), tells_hidden);
                self.out.write_all(text.as_bytes())?;
            }
            Format::Human | Format::Json | Format::Github => {}
        }
        self.out.flush()?;
        Ok(self.outcome)
    }
}
