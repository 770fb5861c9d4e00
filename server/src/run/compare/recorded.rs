//! Compares the values of a module with recorded ones, such as those of a framework.
//!
//! As between two modules, the **local error** of a call is that on recorded operands: after a value was compared, the
//! recorded one takes its place. The **accumulated error** is that of an ordinary run.

use std::{collections::BTreeMap, path::Path};

use arrays::{Archive, Source};
use interpreter::{Absence, CallMeasurement, Limits, Observer, Value};
use rustc_hash::FxHashMap;
use semantics::{
    SourceFile, View,
    body::{CallData, Callee},
};
use syntax::{
    Node, TextRange,
    ast::{self, AstNode},
};

use super::{
    Arguments, Errors, Inputs, NotRun, Side, Stop, Stops, Tolerances, converted, ended, guarded,
    machine_of, option_of, with_function,
};
use crate::run::{
    arguments,
    files::{ArgumentFile, Part},
};

/// The comparison of a call with a recorded value.
#[derive(Clone, Debug)]
pub(crate) struct RecordedPair {
    /// The name of the recorded value.
    pub(crate) name: String,
    /// The range of the call.
    pub(crate) call: TextRange,
    /// Its operator.
    pub(crate) operator: &'static str,
    /// The error on recorded operands.
    pub(crate) local: Errors,
    /// The error of an ordinary run.
    pub(crate) accumulated: Errors,
    /// True if the local error exceeds the tolerance.
    pub(crate) is_culprit: bool,
}

/// The comparison of a run with recorded values.
pub(crate) struct RecordedComparison {
    /// The calls with recorded values in the order of evaluation.
    pub(crate) pairs: Vec<RecordedPair>,
    /// The recorded values that were not compared, with the reasons.
    pub(crate) not_compared: Vec<(String, String)>,
    /// The names that stand for several calls or are resolved by order, with what they were taken for.
    pub(crate) ambiguous: Vec<String>,
    /// The expressions that cannot be run.
    pub(crate) stops: Vec<Stop>,
    /// True if no error exceeds the tolerance.
    pub(crate) is_equal: bool,
    /// The arguments, without their values.
    pub(crate) arguments: Arguments,
}

/// Returns true for a file with recorded values.
pub(crate) fn is_recorded(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("npz" | "npy" | "params"))
}

/// Runs a module, and compares its values with those in a file.
///
/// # Errors
/// The module cannot be run, or the file cannot be read.
pub(crate) fn compare_recorded(
    side: Side<'_>,
    path: &Path,
    inputs: &Inputs,
    limits: &Limits,
    tolerances: Tolerances,
) -> Result<RecordedComparison, NotRun> {
    let records = Records::open(path).map_err(NotRun::new)?;
    guarded(|| {
        with_function(side, option_of, |subject| {
            let view = subject.view;
            let assigned = assign(&records.names, &sites(view));
            let run = |replaces: bool| {
                let mut machine = machine_of(subject, limits);
                let watch = machine.begin();
                let gather = || arguments::gather(view, inputs, &mut |_| None);
                let gathered = watch.within(gather).map_err(|fault| subject.stop(&fault))?;
                let mut arguments = gathered?;
                let values = std::mem::take(&mut arguments.values);
                let mut observer = RecordObserver {
                    file: view.def.file(subject.db),
                    records: &records,
                    assigned: &assigned.records,
                    seen: FxHashMap::default(),
                    tolerances,
                    replaces,
                    stops: Stops::new(subject),
                };
                let ran = machine.run(view.def, values, Some(&mut observer));
                let value = ended(ran, subject, &mut observer.stops)?;
                observer.result(&value, view.def.range(subject.db));
                Ok::<_, NotRun>((observer.seen, arguments, observer.stops.into_found()))
            };
            let (local, arguments, _) = run(true)?;
            let (ordinary, _, stops) = run(false)?;
            Ok(combined(&records.names, assigned, local, &ordinary, (arguments, stops)))
        })
    })
}

/// Combines the two runs.
fn combined(
    names: &[String],
    assigned: RecordAssignment,
    local: FxHashMap<usize, RecordComparison>,
    ordinary: &FxHashMap<usize, RecordComparison>,
    (arguments, stops): (Arguments, Vec<Stop>),
) -> RecordedComparison {
    let mut not_compared = Vec::new();
    let mut pairs = Vec::new();
    for (record, name) in names.iter().enumerate() {
        let outcome = local.get(&record).map(|seen| &seen.outcome);
        let (Some(seen), Some(Ok(errors))) = (local.get(&record), outcome) else {
            let reason = match outcome {
                Some(Err(reason)) => reason.clone(),
                _ if assigned.records.values().any(|known| *known == record) => {
                    "its call was not computed".to_owned()
                }
                _ => "no call or binding has this name".to_owned(),
            };
            not_compared.push((name.clone(), reason));
            continue;
        };
        let accumulated = ordinary.get(&record).and_then(|seen| seen.outcome.as_ref().ok());
        let pair = RecordedPair {
            name: name.clone(),
            call: seen.call,
            operator: seen.operator,
            local: *errors,
            accumulated: *accumulated.unwrap_or(errors),
            is_culprit: !seen.is_tolerated,
        };
        pairs.push((seen.sequence, pair));
    }
    pairs.sort_by_key(|(sequence, _)| *sequence);
    let pairs: Vec<RecordedPair> = pairs.into_iter().map(|(_, pair)| pair).collect();
    let is_equal = !pairs.is_empty() && !pairs.iter().any(|pair| pair.is_culprit);
    let RecordAssignment { ambiguous, .. } = assigned;
    RecordedComparison { pairs, not_compared, ambiguous, stops, is_equal, arguments }
}

/// Recorded values, which are read when they are compared.
struct Records {
    path: String,
    names: Vec<String>,
    file: File,
}

enum File {
    Archive(Archive<Part>),
    /// A `.npy` file has one array without a name.
    Single(Source<Part>),
}

impl Records {
    fn open(path: &Path) -> Result<Records, String> {
        let source = ArgumentFile { path: path.to_owned(), within: None, part: None }.open()?;
        let shown = path.display().to_string();
        if path.extension().is_some_and(|extension| extension == "npy") {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let names = vec![stem.unwrap_or_default()];
            return Ok(Records { path: shown, names, file: File::Single(source) });
        }
        let archive = Archive::open(source).map_err(|error| format!("`{shown}`: {error}"))?;
        let names = archive.names().to_vec();
        Ok(Records { path: shown, names, file: File::Archive(archive) })
    }

    fn read(&self, record: usize) -> Result<Value, String> {
        let array = match &self.file {
            File::Archive(archive) => archive.array(record),
            File::Single(source) => source.npy(),
        };
        let tensor = array.and_then(arrays::Array::read);
        tensor.map(Value::from).map_err(|error| format!("`{}`: {error}", self.path))
    }
}

/// A call of an operator in the function.
struct Site {
    range: TextRange,
    operator: &'static str,
    /// The name of its binding, without the sigil, and that in its span comment, with the simple forms of them.
    names: Vec<String>,
}

/// Returns the calls of a function in text order.
fn sites(view: &View<'_>) -> Vec<Site> {
    let text = view.def.file(view.db).text(view.db);
    let mut bound: FxHashMap<TextRange, String> = FxHashMap::default();
    let root = Node::at(view.def.green(view.db), view.def.range(view.db).start());
    for stmt in root.descendants().filter_map(ast::Stmt::cast) {
        let (name, value) = match stmt {
            ast::Stmt::LetStmt(it) => (it.name(), it.value().map(AstNode::range)),
            ast::Stmt::GraphStmt(it) => (it.name(), it.value().map(AstNode::range)),
            _ => continue,
        };
        if let (Some(name), Some(value)) = (name, value) {
            bound.insert(value, name.text().trim_start_matches('%').to_owned());
        }
    }
    let calls = view.body.units().flat_map(|(number, _)| view.calls(number));
    let site = |(call, range): (&CallData, TextRange)| {
        let Callee::Operator(operator) = &call.callee else { return None };
        let mut names: Vec<String> = bound.get(&range).cloned().into_iter().collect();
        names.extend(span_after(&text, range));
        let simple: Vec<String> = names.iter().map(|name| simplified(name)).collect();
        names.extend(simple);
        Some(Site { range, operator: operator.name, names })
    };
    let mut sites: Vec<Site> = calls.filter_map(site).collect();
    sites.sort_by_key(|site| (site.range.end(), site.range.start()));
    sites
}

/// Returns the name in the comment after a call: `aten::relu_3` of `/* ty=… span=aten::relu_3:0:0 */`.
pub(crate) fn span_after(text: &str, range: TextRange) -> Option<String> {
    let rest = text.get(usize::from(range.end())..)?.trim_start();
    let (comment, _) = rest.strip_prefix("/*")?.split_once("*/")?;
    let (_, span) = comment.rsplit_once("span=")?;
    let span = span.trim();
    let mut parts = span.rsplitn(3, ':');
    let is_number =
        |part: Option<&str>| part.is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()));
    let has_place = is_number(parts.next()) && is_number(parts.next());
    let name = parts.next().filter(|_| has_place).unwrap_or(span);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns a name without what tools write in different ways: `aten::relu_3` and `aten_relu_3` are one.
fn simplified(name: &str) -> String {
    let name = name.trim_start_matches('%').to_ascii_lowercase();
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_")
}

/// The records of calls.
struct RecordAssignment {
    /// The record of a call, by its range.
    records: FxHashMap<TextRange, usize>,
    /// What is said of names that do not decide.
    ambiguous: Vec<String>,
}

/// Finds the calls of records: by the name of the binding or the span, or else by the operator and the order.
fn assign(names: &[String], sites: &[Site]) -> RecordAssignment {
    let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, site) in sites.iter().enumerate() {
        for name in &site.names {
            let known = by_name.entry(name).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }
    let mut assigned = RecordAssignment { records: FxHashMap::default(), ambiguous: Vec::new() };
    let mut left: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (record, name) in names.iter().enumerate() {
        let exact = name.trim_start_matches('%');
        let simple = simplified(name);
        let found = by_name.get(exact).or_else(|| by_name.get(simple.as_str()));
        // The last call of a name computes its value.
        let Some(last) = found.and_then(|found| found.last()) else {
            left.entry(kind_of(&simple)).or_default().push(record);
            continue;
        };
        if let Some(others) = found.map(Vec::len).filter(|count| *count > 1) {
            let message = format!(
                "`{name}` is the name of {others} calls, of which the last one is compared"
            );
            assigned.ambiguous.push(message);
        }
        assigned.records.entry(sites[*last].range).or_insert(record);
    }
    for (kind, records) in left {
        let is_of = |site: &&Site| {
            kind_of(&simplified(site.operator.rsplit('.').next().unwrap_or_default())) == kind
        };
        let free = |site: &&Site| !assigned.records.contains_key(&site.range);
        let calls: Vec<&Site> = sites.iter().filter(is_of).filter(free).collect();
        if calls.is_empty() || calls.len() != records.len() {
            continue;
        }
        let message = format!(
            "{} of `{}` {} resolved by order",
            ide::words::counted(records.len() as u64, "recorded value"),
            calls[0].operator,
            if records.len() == 1 { "is" } else { "are" }
        );
        assigned.ambiguous.push(message);
        for (site, record) in calls.iter().zip(records) {
            assigned.records.insert(site.range, record);
        }
    }
    assigned
}

/// Returns a simplified name without numbers and prefixes of tools: `relu` of `tvmgen_default_fused_nn_relu_1_0`.
fn kind_of(simple: &str) -> String {
    let prefixes = ["tvmgen", "default", "fused", "nn", "aten", "output"];
    let is_kept =
        |part: &&str| !part.bytes().all(|b| b.is_ascii_digit()) && !prefixes.contains(part);
    simple.split('_').filter(is_kept).collect::<Vec<_>>().join("_")
}

/// The comparison of a record with the value of a call.
struct RecordComparison {
    call: TextRange,
    operator: &'static str,
    /// The error, or the reason that there is none.
    outcome: Result<Errors, String>,
    is_tolerated: bool,
    sequence: usize,
}

/// Compares the values of a run with records.
struct RecordObserver<'r, 'db> {
    file: SourceFile,
    records: &'r Records,
    assigned: &'r FxHashMap<TextRange, usize>,
    seen: FxHashMap<usize, RecordComparison>,
    tolerances: Tolerances,
    replaces: bool,
    stops: Stops<'r, 'db>,
}

impl RecordObserver<'_, '_> {
    /// Compares a value, and returns the recorded one.
    fn compare(
        &mut self,
        record: usize,
        value: &Value,
        (call, operator): (TextRange, &'static str),
    ) -> Option<Value> {
        let recorded = self.records.read(record);
        let outcome = recorded.as_ref().map_err(String::clone).and_then(|recorded| {
            Errors::between(recorded, value).ok_or_else(|| {
                format!("it is {}, and the call computes {}", recorded.ty(), value.ty())
            })
        });
        let is_tolerated = match (&recorded, &outcome) {
            (Ok(recorded), Ok(errors)) => {
                errors.is_zero() || self.tolerances.between(recorded, value, false).admits(errors)
            }
            _ => true,
        };
        let is_compared = outcome.is_ok();
        let sequence = self.seen.len();
        self.seen
            .insert(record, RecordComparison { call, operator, outcome, is_tolerated, sequence });
        recorded.ok().filter(|_| is_compared)
    }

    /// Compares the tensors of the result with the records `o0`, `o1`, … and `output`.
    fn result(&mut self, value: &Value, place: TextRange) {
        let leaves = value.leaves_within(super::exchange::MAX_LEAVES).unwrap_or_default();
        let single = [&self.records.names].into_iter().find(|names| names.len() == 1);
        for (number, leaf) in leaves.iter().enumerate() {
            let is_named = |name: &String| {
                *name == format!("o{number}")
                    || number == 0
                        && leaves.len() == 1
                        && matches!(name.as_str(), "output" | "result")
            };
            let named = self.records.names.iter().position(is_named);
            let only = single.filter(|_| leaves.len() == 1).map(|_| 0);
            if let Some(record) = named.or(only).filter(|record| !self.seen.contains_key(record)) {
                self.compare(record, &Value::from((*leaf).clone()), (place, "the result"));
            }
        }
    }
}

impl Observer for RecordObserver<'_, '_> {
    fn measures(&self) -> bool {
        true
    }

    fn unknown(
        &mut self,
        (file, range): (SourceFile, TextRange),
        absence: Absence<'_>,
    ) -> Option<(u32, Option<Value>)> {
        let stop = self.stops.of(absence);
        let record = self.assigned.get(&range).filter(|_| file == self.file && self.replaces);
        // What follows is compared on the recorded value.
        let recorded = record.and_then(|record| self.records.read(*record).ok());
        Some((stop, recorded))
    }

    fn replacement(&mut self, call: &CallMeasurement<'_>) -> Option<Value> {
        let (file, range) = call.place;
        let record = *self.assigned.get(&range).filter(|_| file == self.file)?;
        // Of a call that is computed several times, the first value is compared.
        if self.seen.contains_key(&record) {
            return None;
        }
        let place = (range, call.operator.name);
        // The statistics of a normalisation have no records.
        match call.value.as_tuple() {
            Some([first, rest @ ..]) if first.as_tensor().is_some() => {
                let recorded = self.compare(record, first, place).filter(|_| self.replaces)?;
                let first = converted(recorded, first)?;
                Some(Value::tuple(std::iter::once(first).chain(rest.iter().cloned())))
            }
            _ => {
                let recorded = self.compare(record, call.value, place).filter(|_| self.replaces)?;
                converted(recorded, call.value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_simplified() {
        assert_eq!(simplified("aten::relu_3"), "aten_relu_3");
        assert_eq!(simplified("%input.1"), "input_1");
        assert_eq!(kind_of("tvmgen_default_fused_nn_relu_1_0"), "relu");
        let span = |text: &str| span_after(text, TextRange::new(0.into(), 1.into()));
        assert_eq!(
            span("x /* ty=int32 span=aten::relu_3:0:0 */;").as_deref(),
            Some("aten::relu_3")
        );
        assert_eq!(span("x /* ty=int32 */;"), None);
    }
}
