//! Failed runs as diagnostics, text and JSON.

use std::collections::HashMap;

use interpreter::{Fault, FaultKind};
use semantics::{Database, Def, Diagnostic, SourceFile};
use syntax::{LineIndex, TextRange};

use crate::protocol::{RunError, TracePlace, TraceStep};

/// Converts a failure to a diagnostic in the file of `def`, at the innermost call in that file. The
/// calls around it in the same file are related places.
///
/// `limit` returns the option or setting of a limit: `--memory`, `relay.run.memory`.
pub(crate) fn diagnostic(
    db: &Database,
    def: Def<'_>,
    fault: &Fault,
    limit: fn(&str) -> String,
) -> Diagnostic {
    let file = def.file(db);
    let mut places = fault.trace.iter().filter_map(|step| match step.place {
        Some((of, range)) if of == file && !range.is_empty() => Some((step, range)),
        _ => None,
    });
    let range = places.next().map_or_else(|| def.range(db), |(_, range)| range);
    let mut diagnostic = Diagnostic::new(fault.kind.code(), range, message(fault));
    if let Some(name) = limit_of(fault.kind) {
        diagnostic = diagnostic.help(format!("raise the limit with `{}`", limit(name)));
    }
    let mut seen = vec![range];
    for (step, range) in places.take(8) {
        // A recursion passes the same place many times.
        if !seen.contains(&range) {
            seen.push(range);
            diagnostic = diagnostic.related(range, format!("called in {}", step.function));
        }
    }
    diagnostic
}

/// Adds the error of the text at which a run stopped to its failure: place, message and code. Returns that error.
pub(crate) fn explain_stop<'d>(
    fault: &mut Fault,
    file: SourceFile,
    errors: &'d [Diagnostic],
) -> Option<&'d Diagnostic> {
    if fault.kind != FaultKind::Untyped {
        return None;
    }
    let (_, range) = fault.trace.first()?.place.filter(|(of, _)| *of == file)?;
    let within = errors.iter().find(|error| range.contains_range(error.range));
    // An error between two statements stops the next one.
    let before = || errors.iter().rfind(|error| error.range.end() <= range.end());
    let error = within.or_else(before)?;
    fault.message = format!("the run stopped at an error: {}", summary_of(error));
    if let Some(innermost) = fault.trace.first_mut() {
        innermost.place = Some((file, error.range));
    }
    Some(error)
}

/// Returns the first line of the message of an error, and its code.
pub(crate) fn summary_of(error: &Diagnostic) -> String {
    format!("{} [{}]", headline(error), error.code)
}

/// Returns the first line of the message of an error.
pub(crate) fn headline(error: &Diagnostic) -> &str {
    error.message.lines().next().unwrap_or_default()
}

/// Returns true for a failure that says more of the limits or the arguments of a run than of the program.
pub(crate) fn is_of_limit(kind: FaultKind) -> bool {
    use FaultKind::{Cancelled, Depth, Fuel, Input, Memory, Time};
    matches!(kind, Fuel | Memory | Time | Depth | Cancelled | Input)
}

/// Returns the name of a definition that is run, in messages.
pub(crate) fn name_of(db: &Database, def: Def<'_>) -> String {
    match def.name(db).as_str() {
        "" => "the expression".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the limit that a run exceeded.
fn limit_of(kind: FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::Fuel => Some("fuel"),
        FaultKind::Memory => Some("memory"),
        FaultKind::Time => Some("time"),
        FaultKind::Depth => Some("depth"),
        _ => None,
    }
}

/// Returns the message with the arguments of the operator.
pub(crate) fn message(fault: &Fault) -> String {
    match fault.arguments.is_empty() {
        true => fault.message.clone(),
        false => format!("{} (arguments: {})", fault.message, fault.arguments.join(", ")),
    }
}

/// The files of a backtrace with their names and lines.
pub(crate) struct Places<'a> {
    db: &'a Database,
    name: &'a str,
    file: SourceFile,
    lines: &'a LineIndex,
    prelude: HashMap<usize, (String, LineIndex)>,
}

impl<'a> Places<'a> {
    /// Creates the places of `file`, with its name and lines; other files are of the prelude.
    pub(crate) fn new(
        db: &'a Database,
        file: SourceFile,
        name: &'a str,
        lines: &'a LineIndex,
    ) -> Places<'a> {
        Places { db, name, file, lines, prelude: HashMap::new() }
    }

    /// Formats a place, as in `net.relay:12:3`.
    pub(crate) fn name(&mut self, (file, range): (SourceFile, TextRange)) -> String {
        let utf8 = syntax::Encoding::Utf8;
        if file == self.file {
            let at = self.lines.line_column(range.start(), utf8);
            return format!("{}:{}:{}", self.name, at.line + 1, at.column + 1);
        }
        let Some(number) = self.db.prelude_number(file) else { return "elsewhere".to_owned() };
        let (name, lines) = self.prelude.entry(number).or_insert_with(|| {
            let (name, text) = semantics::prelude::source(number);
            (name.to_string(), LineIndex::new(&text))
        });
        let at = lines.line_column(range.start(), utf8);
        format!("{name}:{}:{}", at.line + 1, at.column + 1)
    }

    /// Formats the backtrace, one call per line; repeated steps are counted.
    pub(crate) fn trace(&mut self, fault: &Fault) -> String {
        let mut out = String::new();
        let half = fault.trace.len() / 2;
        let mut at = 0;
        while at < fault.trace.len() {
            if fault.omitted > 0 && at == half {
                out += &format!("  … {} more calls …\n", fault.omitted);
            }
            let step = &fault.trace[at];
            let end = if at < half && fault.omitted > 0 { half } else { fault.trace.len() };
            let run = fault.trace[at..end].iter().take_while(|next| *next == step).count();
            let again = if run > 1 { format!(", {run} times") } else { String::new() };
            let called = if at == 0 { "in" } else { "called in" };
            let place = step.place.map(|place| format!(" at {}", self.name(place)));
            let place = place.unwrap_or_default();
            out += &format!("  {called} {}{place}{again}\n", step.function);
            at += run.max(1);
        }
        out
    }

    /// Converts a failure to the type of the protocol. `range` is its place in the document.
    pub(crate) fn error<P>(&mut self, fault: &Fault, range: Option<P>) -> RunError<P> {
        let trace = fault.trace.iter().map(|step| TraceStep {
            function: step.function.clone(),
            place: step.place.map(|(file, range)| TracePlace {
                at: self.name((file, range)),
                start: range.start().into(),
                end: range.end().into(),
            }),
        });
        RunError {
            code: fault.kind.code().name(),
            message: fault.message.clone(),
            help: None,
            arguments: fault.arguments.clone(),
            trace: trace.collect(),
            omitted: fault.omitted,
            range,
        }
    }
}
