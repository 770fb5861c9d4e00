//! Live values: what the variables of a document were bound to when it was run last.
//!
//! They stay with the text that gave them. Those of a definition are shown as long as it and all
//! that it calls read as they did; an edit elsewhere in the file only moves them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use interpreter::{Observer, Value};
use semantics::{Database, Db, DefKind, Diagnostic, SourceFile, body::Name};
use syntax::{TextRange, TextSize};
use tokio::sync::mpsc::WeakUnboundedSender;
use tower_lsp::lsp_types::Url;

use super::documents::Document;
use crate::run::summary::{self, Summary};

/// How often a run says where it is.
const REPORT: Duration = Duration::from_millis(100);
/// Of a variable that is bound again and again, this many values are looked at for NaN and Inf, and
/// all small ones.
const LOOKS: u64 = 64;
/// Values up to so many elements are kept until another one comes, to show the last.
const SMALL: usize = 256;
/// Of so many variables that are not finite, a run tells.
const MOST_ODD: usize = 50;
/// Metadata sections up to this size are compared; larger ones are the same if they are as long.
const COMPARED: usize = 16 << 20;

/// Sees what variables are bound to while a function runs.
pub(super) struct Watcher<'r> {
    file: SourceFile,
    text: &'r str,
    seen: HashMap<TextRange, Seen>,
    nan: Option<Mark>,
    infinite: Option<Mark>,
    /// The variables whose first value had any NaN or Inf, in the order of evaluation.
    odd: Vec<Odd>,
    reports: &'r WeakUnboundedSender<String>,
    reported: Instant,
    count: u64,
}

/// A value that is not finite.
pub(super) struct Odd {
    /// The name of the variable.
    pub(super) range: TextRange,
    pub(super) nan: usize,
    pub(super) infinite: usize,
    pub(super) elements: usize,
}

struct Seen {
    line: String,
    brief: String,
    times: u64,
    /// The latest value, if it is small: a large one is let go of, so that it can be written to.
    last: Option<Value>,
}

struct Mark {
    range: TextRange,
    count: usize,
    elements: usize,
}

impl<'r> Watcher<'r> {
    /// Of the variables of `file`, whose text this is; says where the run is to `reports`.
    pub(super) fn new(
        file: SourceFile,
        text: &'r str,
        reports: &'r WeakUnboundedSender<String>,
    ) -> Watcher<'r> {
        Watcher {
            file,
            text,
            seen: HashMap::new(),
            nan: None,
            infinite: None,
            odd: Vec::new(),
            reports,
            reported: Instant::now(),
            count: 0,
        }
    }

    /// The variable whose name stands at `range` has a value.
    fn see(&mut self, range: TextRange, value: &Value) {
        let settled = self.nan.is_some() && self.infinite.is_some();
        if let Some(seen) = self.seen.get_mut(&range) {
            seen.times += 1;
            seen.last = is_small(value).then(|| value.clone());
            let looks = seen.times <= LOOKS || seen.last.is_some() && is_odd(value);
            if looks && !settled {
                self.look(range, &summary::of_value(value));
            }
            return;
        }
        let summaries = summary::of_value(value);
        let line = summary::line(value, &summaries);
        let brief = summary::brief(value, &summaries);
        self.seen.insert(range, Seen { line, brief, times: 1, last: None });
        self.look(range, &summaries);
        let sum = |count: fn(&Summary) -> usize| summaries.iter().map(count).sum::<usize>();
        let (nan, infinite) = (sum(|s| s.nan), sum(|s| s.infinite));
        if nan + infinite > 0 && self.odd.len() < MOST_ODD {
            let elements = sum(|s| s.shape.iter().product());
            self.odd.push(Odd { range, nan, infinite, elements });
        }
    }

    fn look(&mut self, range: TextRange, summaries: &[Summary]) {
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

    /// The variables whose first value had any NaN or Inf, the first one first.
    pub(super) fn odd(&self) -> &[Odd] {
        &self.odd
    }

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
            let message = format!("{message}, the first variable that has any");
            Some(Diagnostic::new("run-not-finite", *range, message))
        };
        of(&self.nan, "NaN").into_iter().chain(of(&self.infinite, "Inf")).collect()
    }
}

fn is_small(value: &Value) -> bool {
    match value {
        Value::Tensor(tensor) => tensor.len() <= SMALL,
        // What is shown of them takes no look at what is in them.
        Value::Data(_) | Value::Closure(_) | Value::Ref(_) | Value::Empty => false,
        Value::Tuple(_) => {
            let fields = value.as_tuple().unwrap_or_default();
            fields.len() <= SMALL
                && fields.iter().all(|field| field.as_tensor().is_some_and(|t| t.len() <= SMALL))
        }
    }
}

/// Whether there is a NaN or an Inf in a small value.
fn is_odd(value: &Value) -> bool {
    value.leaves().iter().any(|tensor| {
        let dtype = tensor.dtype();
        (dtype.is_float() || dtype.is_bfloat())
            && tensor.to_f64s().iter().any(|number| !number.is_finite())
    })
}

impl Observer for Watcher<'_> {
    fn bound(&mut self, (file, range): (SourceFile, TextRange), value: &Value) {
        if file != self.file {
            return;
        }
        self.see(range, value);
        self.count += 1;
        if self.count.is_multiple_of(16) && self.reported.elapsed() > REPORT {
            self.reported = Instant::now();
            let name = self.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
            // Without a progress nobody listens.
            // Nobody hears of a run that is stopped.
            if let Some(reports) = self.reports.upgrade() {
                let _ = reports.send(format!("{name}, {} values", self.count));
            }
        }
    }
}

/// A definition as it was when the values were made.
struct KeptDef {
    key: Key,
    range: TextRange,
    /// The definitions of the file that use it, by number.
    users: Vec<usize>,
    /// It is no function: whatever stands in the file may use it.
    is_used_anywhere: bool,
}

/// A definition by what it is called, and how many of that name stand before it.
type Key = (DefKind, Name, usize);

/// What a run leaves behind.
pub(super) struct Kept {
    version: i32,
    text: Arc<String>,
    defs: Vec<KeptDef>,
    values: Vec<LiveValue>,
    marks: Vec<Diagnostic>,
    /// The function that ran, and how long it took, if it came to its end.
    ran: Option<(String, Duration)>,
    placed: Mutex<Option<(i32, Arc<Placed>)>>,
}

/// What is shown of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LiveValue {
    /// Its name, where it is bound.
    pub(super) range: TextRange,
    /// What its value is like.
    pub(super) line: Arc<str>,
    /// The same without its shape.
    pub(super) brief: Arc<str>,
    /// How often it was bound; the value is the first.
    pub(super) times: u64,
    /// What the last value is like, if it was bound more than once and that is known.
    pub(super) last: Option<Arc<str>>,
}

impl LiveValue {
    /// Which of several values it is: goes on behind it.
    pub(super) fn of_several(&self) -> String {
        match (self.times, &self.last) {
            (1, _) => String::new(),
            (times, None) => format!(", the first of {times} values"),
            (times, Some(last)) => format!(", the first of {times} values; the last is `{last}`"),
        }
    }
}

/// The values that hold for a version of the document.
#[derive(Default, Debug)]
pub(super) struct Placed {
    /// In the order of the text.
    pub(super) values: Vec<LiveValue>,
    /// What is wrong with them.
    pub(super) marks: Vec<Diagnostic>,
}

impl Placed {
    /// The value of the variable whose name stands at `range`.
    pub(super) fn value(&self, range: TextRange) -> Option<&LiveValue> {
        let at = self.values.partition_point(|value| value.range.start() < range.start());
        self.values.get(at).filter(|value| value.range == range)
    }
}

/// The definitions of a file, with where they stand.
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

impl Kept {
    /// What `watcher` saw in a run of `document`, and why the run failed, if it did.
    pub(super) fn new(
        db: &Database,
        file: SourceFile,
        document: &Document,
        watcher: Watcher<'_>,
        failure: Option<Diagnostic>,
        ran: Option<(String, Duration)>,
    ) -> Kept {
        let mut defs: Vec<KeptDef> = definitions(db, file)
            .into_iter()
            .map(|(key, range)| KeptDef {
                is_used_anywhere: !matches!(key.0, DefKind::Fn | DefKind::Expr),
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
                if matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
                    let body = semantics::body(db, def);
                    for (name, _) in body.units.iter().flat_map(|unit| unit.globals()) {
                        // Of several definitions of a name, the first counts.
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
                let (line, brief) = (seen.line.into(), seen.brief.into());
                LiveValue { range, line, brief, times: seen.times, last }
            })
            .collect();
        values.sort_by_key(|value| value.range.start());
        Kept {
            version: document.version,
            text: document.text.clone(),
            defs,
            values,
            marks,
            ran,
            placed: Mutex::new(None),
        }
    }

    /// What of it holds for `document`, which `file` is in `db`.
    fn placed(&self, db: &Database, document: &Document) -> Arc<Placed> {
        let lock = || self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, placed)) = &*lock()
            && *version == document.version
        {
            return placed.clone();
        }
        let placed = Arc::new(if document.version == self.version {
            Placed { values: self.values.clone(), marks: self.marks.clone() }
        } else {
            self.place(db, document)
        });
        *lock() = Some((document.version, placed.clone()));
        placed
    }

    fn place(&self, db: &Database, document: &Document) -> Placed {
        let now: HashMap<Key, TextRange> = definitions(db, document.file).into_iter().collect();
        let same = |a: TextRange, b: TextRange| slice(&self.text, a) == slice(&document.text, b);
        let is_stale: Vec<bool> = {
            let unchanged = |def: &KeptDef| {
                let Some(&at) = now.get(&def.key) else { return false };
                let is_large = def.key.0 == DefKind::Metadata && usize::from(at.len()) > COMPARED;
                if is_large { at.len() == def.range.len() } else { same(def.range, at) }
            };
            let changed = |def: &KeptDef| !unchanged(def);
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
        // Where a place of the old text is now.
        let moved = |range: TextRange| {
            let at = self.defs.partition_point(|def| def.range.start() <= range.start());
            let at = at.checked_sub(1)?;
            let def = &self.defs[at];
            if is_stale[at] || !def.range.contains_range(range) {
                return None;
            }
            let inside: TextSize = range.start() - def.range.start();
            Some(TextRange::at(now.get(&def.key)?.start() + inside, range.len()))
        };
        let values = self
            .values
            .iter()
            .filter_map(|value| Some(LiveValue { range: moved(value.range)?, ..value.clone() }));
        let mut values: Vec<LiveValue> = values.collect();
        // Definitions may have changed places.
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
        Placed { values, marks: marks.collect() }
    }
}

fn slice(text: &str, range: TextRange) -> Option<&[u8]> {
    text.as_bytes().get(std::ops::Range::<usize>::from(range))
}

/// What runs have left of every document.
#[derive(Default)]
pub(super) struct Live(Mutex<HashMap<Url, Left>>);

/// What runs of a document have left.
#[derive(Default)]
struct Left {
    /// The values of the last run.
    kept: Option<Arc<Kept>>,
    /// How long each function took when it ran last.
    times: HashMap<String, Duration>,
}

impl Live {
    /// A document was run: the values of an earlier run are of no interest any more.
    pub(super) fn keep(&self, uri: Url, kept: Kept) {
        let mut all = self.lock();
        let left = all.entry(uri).or_default();
        if let Some((function, time)) = &kept.ran {
            left.times.insert(function.clone(), *time);
        }
        left.kept = Some(Arc::new(kept));
    }

    /// A document was closed, or nobody wants to see what was left of it.
    pub(super) fn forget(&self, uri: &Url) {
        self.lock().remove(uri);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Url, Left>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values that hold for a document.
    pub(super) fn of(&self, db: &Database, uri: &Url, document: &Document) -> Option<Arc<Placed>> {
        let kept = self.lock().get(uri)?.kept.clone()?;
        Some(kept.placed(db, document))
    }

    /// How long a function took when it ran last. A bare expression has an empty name.
    pub(super) fn time_of(&self, uri: &Url, function: &str) -> Option<Duration> {
        self.lock().get(uri)?.times.get(function).copied()
    }
}
