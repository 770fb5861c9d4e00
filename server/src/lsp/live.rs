//! Live values: the values that the variables of a document had in its last run.
//!
//! The values of a definition are shown while its text and that of all definitions that it uses are
//! unchanged; an edit elsewhere in the file only moves them. After a run of `@main` in
//!
//! ```text
//! def @scale(%x: float32) { %x * 2f }
//! def @main() { let %y = @scale(3f); %y }
//! ```
//!
//! an edit of `@scale` hides the value of `%y`, too.

mod again;
mod call;

use std::{collections::HashMap, sync::Arc, time::Duration};

use clock::Instant;
use ide::markdown::code_block;
use interpreter::{Observer, Value};
use parking_lot::Mutex;
use semantics::{Code, Database, Db, DefKind, Diagnostic, SourceFile, body::Name};
use syntax::{TextRange, TextSize};
use tokio::sync::mpsc::WeakUnboundedSender;
use tower_lsp::lsp_types::Url;
use weights::Stats;

use super::documents::Document;
use crate::run::summary::{self, Summary};
pub(super) use again::Rerun;
pub(super) use call::CallRecord;
use call::ValueInCall;

/// The interval of progress messages.
const REPORT: Duration = Duration::from_millis(100);
/// The number of values of one variable that are listed, and scanned for NaN and Inf. Small values are always
/// scanned.
const MAX_SCANS: u64 = 64;
/// The length of the fields of a value in a hover.
const MAX_CONTENTS: usize = 2_000;
/// The largest tensor whose distribution is computed, in elements.
const MAX_DISTRIBUTION: usize = 1 << 24;
/// The largest number of elements of a value that is kept to show the last value of a variable.
const SMALL: usize = 256;
/// The largest number of parts of a value of a data type that is kept likewise.
const SMALL_PARTS: usize = 16;
/// The number of elements between checks for cancellation.
const POLL: usize = 1 << 16;
/// The largest number of variables with NaN or Inf that are reported.
const MAX_NOT_FINITE: usize = 50;
/// The largest size of a metadata section that is compared; larger ones are equal if their lengths
/// are.
const MAX_COMPARED: usize = 16 << 20;

/// Observes the values of variables in a run.
pub(super) struct Watcher<'r> {
    file: SourceFile,
    text: &'r str,
    seen: HashMap<TextRange, ValueRecord>,
    nan: Option<Mark>,
    infinite: Option<Mark>,
    /// The variables whose first value has NaN or Inf, in the order of evaluation.
    not_finite: Vec<NotFinite>,
    progress: &'r WeakUnboundedSender<String>,
    reported: Instant,
    count: u64,
}

/// A variable whose first value has NaN or Inf.
pub(super) struct NotFinite {
    /// The name of the variable.
    pub(super) range: TextRange,
    pub(super) nan: usize,
    pub(super) infinite: usize,
    pub(super) elements: usize,
}

struct ValueRecord {
    /// The first values.
    values: Vec<ShownValue>,
    /// The first value in more detail, as Markdown.
    details: Option<Arc<str>>,
    times: u64,
    /// The latest value, if it is small. A reference to a large one would prevent updates in place.
    last: Option<Value>,
}

struct Mark {
    range: TextRange,
    count: usize,
    elements: usize,
}

impl<'r> Watcher<'r> {
    /// Creates a watcher of the variables of `file`, which has this text.
    pub(super) fn new(
        file: SourceFile,
        text: &'r str,
        progress: &'r WeakUnboundedSender<String>,
    ) -> Watcher<'r> {
        Watcher {
            file,
            text,
            seen: HashMap::new(),
            nan: None,
            infinite: None,
            not_finite: Vec::new(),
            progress,
            reported: Instant::now(),
            count: 0,
        }
    }

    /// Records a value of the variable with its name at `range`.
    fn record(&mut self, range: TextRange, value: &Value) {
        let is_complete = self.nan.is_some() && self.infinite.is_some();
        if let Some(seen) = self.seen.get_mut(&range) {
            seen.times += 1;
            seen.last = is_small(value).then(|| value.clone());
            let is_listed = seen.times <= MAX_SCANS;
            let scans = is_listed || seen.last.is_some() && !is_finite(value);
            if is_listed || scans && !is_complete {
                let summaries = summary::of_value(value);
                if is_listed {
                    seen.values.push(ShownValue::new(value, &summaries));
                }
                if !is_complete {
                    self.mark(range, &summaries);
                }
            }
            return;
        }
        let summaries = summary::of_value(value);
        let values = vec![ShownValue::new(value, &summaries)];
        let details = details(value, &values[0].line);
        self.seen.insert(range, ValueRecord { values, details, times: 1, last: None });
        self.mark(range, &summaries);
        let sum = |count: fn(&Summary) -> usize| summaries.iter().map(count).sum::<usize>();
        let (nan, infinite) = (sum(|s| s.nan), sum(|s| s.infinite));
        if nan + infinite > 0 && self.not_finite.len() < MAX_NOT_FINITE {
            let elements = sum(|s| s.shape.iter().product());
            self.not_finite.push(NotFinite { range, nan, infinite, elements });
        }
    }

    /// Marks the variable if it is the first with NaN or the first with Inf.
    fn mark(&mut self, range: TextRange, summaries: &[Summary]) {
        for summary in summaries {
            let elements = summary.shape.iter().product();
            let mark = |count| Mark { range, count, elements };
            if summary.nan > 0 && self.nan.is_none() {
                self.nan = Some(mark(summary.nan));
            }
            if summary.infinite > 0 && self.infinite.is_none() {
                self.infinite = Some(mark(summary.infinite));
            }
        }
    }

    /// Returns the variables whose first value has NaN or Inf, in the order of evaluation.
    pub(super) fn not_finite(&self) -> &[NotFinite] {
        &self.not_finite
    }

    /// Returns the diagnostics of the first variables with NaN and Inf.
    fn marks(&self) -> Vec<Diagnostic> {
        let of = |mark: &Option<Mark>, what: &str| {
            let Mark { range, count, elements } = mark.as_ref()?;
            let name = self.text.get(std::ops::Range::<usize>::from(*range)).unwrap_or_default();
            let message = match elements {
                1 => format!("`{name}` is {what} in the last run"),
                _ => format!(
                    "`{name}` has {count} {what} among its {elements} elements in the last run"
                ),
            };
            let message = format!("{message}; it is the first such variable");
            Some(Diagnostic::new(Code::RunNotFinite, *range, message))
        };
        of(&self.nan, "NaN").into_iter().chain(of(&self.infinite, "Inf")).collect()
    }
}

/// Describes a value in more detail than its line, as Markdown that follows it: the elements of a tensor, or all fields.
fn details(value: &Value, line: &str) -> Option<Arc<str>> {
    match value {
        Value::Tensor(tensor) if tensor.rank() > 0 && tensor.len() <= MAX_DISTRIBUTION => {
            let mut looked = 0;
            let each = |f: &mut dyn FnMut(&[f64])| {
                tensor.each_f64s(|numbers| {
                    if looked % POLL == 0 {
                        interpreter::poll();
                    }
                    looked += numbers.len();
                    f(numbers);
                });
            };
            Some(ide::hover::elements(&ide::elements::described(&Stats::of_blocks(each))).into())
        }
        Value::Tuple(_) | Value::Data(_) => {
            let contents = summary::contents(value, MAX_CONTENTS);
            (contents != line).then(|| format!("\n\n{}", code_block(&contents)).into())
        }
        _ => None,
    }
}

fn is_small(value: &Value) -> bool {
    match value {
        Value::Tensor(tensor) => tensor.len() <= SMALL,
        Value::Data(_) => value
            .leaves_within(SMALL_PARTS)
            .is_some_and(|leaves| leaves.iter().all(|tensor| tensor.len() <= SMALL)),
        // Their summaries do not depend on their contents.
        Value::Closure(_) | Value::Ref(_) | Value::Unknown(_) | Value::Empty | Value::Released => {
            false
        }
        Value::Tuple(_) => {
            let fields = value.as_tuple().unwrap_or_default();
            fields.len() <= SMALL
                && fields.iter().all(|field| field.as_tensor().is_some_and(|t| t.len() <= SMALL))
        }
    }
}

/// Returns true if a small value has neither NaN nor Inf.
fn is_finite(value: &Value) -> bool {
    value.leaves().iter().all(|tensor| {
        let dtype = tensor.dtype();
        !(dtype.is_float() || dtype.is_bfloat())
            || tensor.to_f64s().iter().all(|number| number.is_finite())
    })
}

impl Observer for Watcher<'_> {
    fn bound(&mut self, (file, range): (SourceFile, TextRange), value: &Value) {
        if file != self.file {
            return;
        }
        self.record(range, value);
        self.count += 1;
        if self.count.is_multiple_of(16) && self.reported.elapsed() > REPORT {
            self.reported = Instant::now();
            let name = self.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
            // The sender is dropped when the run is cancelled; the receiver, if there is no progress.
            if let Some(progress) = self.progress.upgrade() {
                let _ = progress.send(format!("{name}, {} values", self.count));
            }
        }
    }
}

/// A definition at the time of the run.
#[derive(Clone)]
struct RecordedDef {
    key: Key,
    range: TextRange,
    /// The indices of the definitions that use it.
    users: Vec<usize>,
    /// True for a definition other than a function, which any definition may use.
    is_used_anywhere: bool,
}

/// A definition by kind, name, and the number of earlier definitions with the same name.
type Key = (DefKind, Name, usize);

/// The results of a run that are shown in its document.
#[derive(Clone)]
pub(super) struct RunRecord {
    version: i32,
    text: Arc<String>,
    defs: Vec<RecordedDef>,
    values: Vec<LiveValue>,
    marks: Vec<Diagnostic>,
    /// The function and its time, if it succeeded.
    ran: Option<(String, Duration)>,
    rerun: Rerun,
    placed: Arc<Mutex<Option<VersionedValues>>>,
}

/// The values at their places in a version of the document.
type VersionedValues = (i32, Arc<PlacedValues>);

/// The summary of the values of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LiveValue {
    /// The name in its binding.
    pub(super) range: TextRange,
    /// Its first values in the order of evaluation; at least one.
    values: Arc<[ShownValue]>,
    /// The first value in more detail, as Markdown.
    details: Option<Arc<str>>,
    /// The number of times that it was bound.
    times: u64,
    /// The summary of its last value, if that is small and not the first.
    last: Option<Arc<str>>,
    /// What it had in the call whose values are shown, if one was chosen.
    call: Option<ValueInCall>,
}

/// A value in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ShownValue {
    /// The summary.
    pub(super) line: Arc<str>,
    /// The summary without the shape.
    pub(super) brief: Arc<str>,
    /// True for a tensor with axes.
    is_tensor: bool,
}

impl ShownValue {
    fn new(value: &Value, summaries: &[Summary]) -> ShownValue {
        let line = summary::line(value, summaries).into();
        let is_tensor = value.as_tensor().is_some_and(|tensor| tensor.rank() > 0);
        ShownValue { line, brief: summary::brief(value, summaries).into(), is_tensor }
    }
}

/// The values that are valid for a version of the document, with ranges in that version.
#[derive(Default, Debug)]
pub(super) struct PlacedValues {
    /// In the order of the text.
    pub(super) values: Vec<LiveValue>,
    /// The diagnostics of the run.
    pub(super) marks: Vec<Diagnostic>,
}

impl PlacedValues {
    /// Returns the value of the variable with its name at `range`.
    pub(super) fn value(&self, range: TextRange) -> Option<&LiveValue> {
        let at = self.values.partition_point(|value| value.range.start() < range.start());
        self.values.get(at).filter(|value| value.range == range)
    }
}

/// Returns the definitions of a file with their ranges.
fn definitions(db: &dyn Db, file: SourceFile) -> Vec<(Key, TextRange)> {
    let mut count: HashMap<(DefKind, Name), usize> = HashMap::new();
    let mut found = Vec::new();
    for module in semantics::modules(db, file) {
        for &def in module.items(db) {
            let (kind, name) = (def.kind(db), def.name(db).clone());
            let nth = count.entry((kind, name.clone())).or_default();
            found.push(((kind, name, *nth), def.range(db)));
            *nth += 1;
        }
    }
    found
}

impl RunRecord {
    /// Records what `watcher` observed in a run of `document`, and the failure of the run, if any.
    pub(super) fn new(
        db: &Database,
        file: SourceFile,
        document: &Document,
        watcher: Watcher<'_>,
        failure: Option<Diagnostic>,
        ran: Option<(String, Duration)>,
        rerun: Rerun,
    ) -> RunRecord {
        let mut defs: Vec<RecordedDef> = definitions(db, file)
            .into_iter()
            .map(|(key, range)| RecordedDef {
                is_used_anywhere: !key.0.has_body(),
                key,
                range,
                users: Vec::new(),
            })
            .collect();
        let mut by_name: HashMap<Name, Vec<usize>> = HashMap::new();
        for (number, def) in defs.iter().enumerate() {
            by_name.entry(def.key.1.clone()).or_default().push(number);
        }
        let mut number = 0;
        let mut uses: Vec<(usize, usize)> = Vec::new();
        for module in semantics::modules(db, file) {
            for &def in module.items(db) {
                if def.kind(db).has_body() {
                    let body = semantics::body(db, def);
                    for (name, _) in body.units.iter().flat_map(|unit| unit.globals()) {
                        // A name with several definitions refers to the first.
                        let used = by_name.get(name).and_then(|all| all.first());
                        uses.extend(used.map(|&used| (used, number)));
                    }
                }
                number += 1;
            }
        }
        uses.sort_unstable();
        uses.dedup();
        for (used, user) in uses {
            defs[used].users.push(user);
        }
        let mut marks = watcher.marks();
        marks.extend(failure);
        let mut values: Vec<LiveValue> = watcher
            .seen
            .into_iter()
            .map(|(range, seen)| {
                let line = |value: &Value| summary::line(value, &summary::of_value(value)).into();
                let last = seen.last.as_ref().map(line);
                let values = seen.values.into();
                let details = seen.details;
                LiveValue { range, values, details, times: seen.times, last, call: None }
            })
            .collect();
        values.sort_by_key(|value| value.range.start());
        RunRecord {
            version: document.version,
            text: document.text.collected().clone(),
            defs,
            values,
            marks,
            ran,
            rerun,
            placed: Arc::default(),
        }
    }

    /// Returns the values that are valid for `document`.
    fn placed(&self, db: &Database, document: &Document) -> Arc<PlacedValues> {
        if let Some((version, placed)) = &*self.placed.lock()
            && *version == document.version
        {
            return placed.clone();
        }
        let placed = Arc::new(if document.version == self.version {
            PlacedValues { values: self.values.clone(), marks: self.marks.clone() }
        } else {
            self.place(db, document)
        });
        *self.placed.lock() = Some((document.version, placed.clone()));
        placed
    }

    fn place(&self, db: &Database, document: &Document) -> PlacedValues {
        let current: HashMap<Key, TextRange> = definitions(db, document.file).into_iter().collect();
        let same = |a: TextRange, b: TextRange| slice(&self.text, a) == slice(&document.text, b);
        let is_stale: Vec<bool> = {
            let unchanged = |def: &RecordedDef| {
                let Some(&at) = current.get(&def.key) else { return false };
                let is_large =
                    def.key.0 == DefKind::Metadata && usize::from(at.len()) > MAX_COMPARED;
                if is_large { at.len() == def.range.len() } else { same(def.range, at) }
            };
            let changed = |def: &RecordedDef| !unchanged(def);
            let mut stale: Vec<bool> = self.defs.iter().map(changed).collect();
            let anywhere =
                self.defs.iter().zip(&stale).any(|(def, stale)| *stale && def.is_used_anywhere);
            if anywhere {
                stale.iter_mut().for_each(|stale| *stale = true);
            }
            let mut todo: Vec<usize> = (0..stale.len()).filter(|&def| stale[def]).collect();
            while let Some(def) = todo.pop() {
                for &user in &self.defs[def].users {
                    if !stale[user] {
                        stale[user] = true;
                        todo.push(user);
                    }
                }
            }
            stale
        };
        // Maps a range of the text that ran to the current text.
        let moved = |range: TextRange| {
            let at = self.defs.partition_point(|def| def.range.start() <= range.start());
            let at = at.checked_sub(1)?;
            let def = &self.defs[at];
            if is_stale[at] || !def.range.contains_range(range) {
                return None;
            }
            let inside: TextSize = range.start() - def.range.start();
            Some(TextRange::at(current.get(&def.key)?.start() + inside, range.len()))
        };
        let values = self
            .values
            .iter()
            .filter_map(|value| Some(LiveValue { range: moved(value.range)?, ..value.clone() }));
        let mut values: Vec<LiveValue> = values.collect();
        // An edit may have reordered the definitions.
        values.sort_by_key(|value| value.range.start());
        let marks = self.marks.iter().filter_map(|mark| {
            let mut mark = mark.clone();
            mark.range = moved(mark.range)?;
            mark.related.retain_mut(|related| match moved(related.range) {
                Some(range) => {
                    related.range = range;
                    true
                }
                None => false,
            });
            Some(mark)
        });
        PlacedValues { values, marks: marks.collect() }
    }
}

fn slice(text: &str, range: TextRange) -> Option<&[u8]> {
    text.as_bytes().get(std::ops::Range::<usize>::from(range))
}

/// The results of runs of all documents.
#[derive(Default)]
pub(super) struct LiveResults(Mutex<HashMap<Url, DocumentRuns>>);

/// What a run gets at its start, and its results are stored with: those of a document's runs that started before
/// its results were removed are not.
#[derive(Clone, Default)]
pub(super) struct RunTicket(Arc<()>);

/// The results of the runs of a document.
#[derive(Default)]
struct DocumentRuns {
    ticket: RunTicket,
    last: Option<Arc<RunRecord>>,
    /// The time of the last successful run of each function.
    times: HashMap<String, Duration>,
}

impl LiveResults {
    /// Returns the ticket of a run that starts.
    pub(super) fn ticket(&self, uri: &Url) -> RunTicket {
        self.0.lock().entry(uri.clone()).or_default().ticket.clone()
    }

    /// Stores the record of a run in place of the previous one, and returns true unless records were removed
    /// since its start.
    pub(super) fn store(&self, uri: &Url, ticket: &RunTicket, record: RunRecord) -> bool {
        let mut all = self.0.lock();
        let Some(runs) = all.get_mut(uri).filter(|runs| Arc::ptr_eq(&runs.ticket.0, &ticket.0))
        else {
            return false;
        };
        if let Some((function, time)) = &record.ran {
            runs.times.insert(function.clone(), *time);
        }
        runs.last = Some(Arc::new(record));
        true
    }

    /// Removes the records of a document, also of runs that have not ended.
    pub(super) fn forget(&self, uri: &Url) {
        self.0.lock().remove(uri);
    }

    /// Returns the values that are valid for a document.
    pub(super) fn of(
        &self,
        db: &Database,
        uri: &Url,
        document: &Document,
    ) -> Option<Arc<PlacedValues>> {
        let record = self.0.lock().get(uri)?.last.clone()?;
        Some(record.placed(db, document))
    }

    /// Returns the time of the last successful run of a function. A bare expression has an empty
    /// name.
    pub(super) fn time_of(&self, uri: &Url, function: &str) -> Option<Duration> {
        self.0.lock().get(uri)?.times.get(function).copied()
    }
}
