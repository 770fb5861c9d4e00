//! `relay/compare`, `relay/passes`, `relay/moduleText` and `relay/history`: differences between
//! modules.
//!
//! A module is an open document, a file, a module of a log, or a text that the editor sends, such as
//! that of the last commit.

use std::{path::PathBuf, sync::Arc};

use diff::{Change, Options, Pair, Unpaired};
use semantics::{Code, Database, SourceFile};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syntax::{LineColumn, LineIndex, TextRange};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{Position, Range, TextDocumentIdentifier, Url},
};

use crate::{
    between::{
        history::History,
        passes::{document, examine},
    },
    input::{self, Log},
    lsp::{bases::Borrowed, convert, snapshot::Snapshot},
    paths,
    report::diff::{Shown, Totals, change_text, cost_json, headline, human},
};

/// The name of a module of a log: its index, or the pass in its header.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum ModuleName {
    Number(u32),
    Pass(String),
}

/// A module to compare.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct Side {
    /// The document, open or not, with the module unless `text` is given.
    uri: Url,
    /// The module of the document, if that is a log.
    #[serde(default)]
    module: Option<ModuleName>,
    /// The text, if it is not that of the document.
    #[serde(default)]
    text: Option<String>,
    /// The name in the report.
    #[serde(default)]
    name: Option<String>,
}

/// The parameters of `relay/compare`.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct CompareParams {
    before: Side,
    after: Side,
}

/// The response to `relay/compare`. Ranges are relative to the start of each module.
#[derive(Serialize)]
pub(in crate::lsp) struct Comparison {
    /// True if the modules differ in names, order, notation and comments only.
    equal: bool,
    /// A summary of the differences in one sentence.
    headline: String,
    /// The report of `relay-analyzer diff`.
    report: String,
    functions: Vec<Function>,
    /// The cost of running each side.
    totals: Value,
    /// The names of the sides with syntax errors.
    broken: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    before: Option<String>,
    after: Option<String>,
    equal: bool,
    is_guess: bool,
    pairs: Vec<MatchedPair>,
    removed: Vec<Unmatched>,
    added: Vec<Unmatched>,
}

/// Two expressions that correspond.
#[derive(Serialize)]
struct MatchedPair {
    before: Range,
    after: Range,
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Changed>,
}

/// A difference between two expressions, with its place in each.
#[derive(Serialize)]
struct Changed {
    text: String,
    before: Option<Range>,
    after: Option<Range>,
}

/// An expression without a counterpart.
#[derive(Serialize)]
struct Unmatched {
    range: Range,
    operator: String,
}

/// Compares two modules.
pub(in crate::lsp) fn compare(snapshot: &Snapshot, params: CompareParams) -> Result<Comparison> {
    let before = Module::of(snapshot, params.before)?;
    let after = Module::of(snapshot, params.after)?;
    let ((db_a, file_a), (db_b, file_b)) = (before.database(snapshot), after.database(snapshot));
    let modules = (semantics::module(db_a, file_a, 0), semantics::module(db_b, file_b, 0));
    let (Some(a), Some(b)) = modules else {
        return Err(refused("there is no module to compare".to_owned()));
    };
    let found = diff::compare((db_a, a), (db_b, b), &Options::default());
    let totals = match found.equal {
        true => Totals::default(),
        false => {
            let cost = |db, file| snapshot.session.bases.cost(db, file);
            Totals { before: cost(db_a, file_a), after: cost(db_b, file_b) }
        }
    };
    let (place_a, place_b) = (before.places(snapshot), after.places(snapshot));
    let changed = |change: &Change| Changed {
        text: change_text(change),
        before: change.places.0.map(&place_a),
        after: change.places.1.map(&place_b),
    };
    let matched = |pair: &Pair| MatchedPair {
        before: place_a(pair.before),
        after: place_b(pair.after),
        kind: pair.kind.word(),
        changes: pair.changes.iter().map(changed).collect(),
    };
    let unmatched = |lost: &[Unpaired], place: &dyn Fn(TextRange) -> Range| -> Vec<Unmatched> {
        let one = |lost: &Unpaired| Unmatched {
            range: place(lost.range),
            operator: lost.operator.to_string(),
        };
        lost.iter().map(one).collect()
    };
    let functions = found.functions.iter().map(|function| Function {
        before: function.before.as_ref().map(|f| f.name.to_string()),
        after: function.after.as_ref().map(|f| f.name.to_string()),
        equal: function.equal,
        is_guess: function.is_guess,
        pairs: function.pairs.iter().map(matched).collect(),
        removed: unmatched(&function.removed, &place_a),
        added: unmatched(&function.added, &place_b),
    });
    let sides = [(&before, db_a, file_a), (&after, db_b, file_b)];
    let broken = sides
        .into_iter()
        .filter(|(_, db, file)| file.parse(*db).errors.iter().any(|error| !error.kind.is_compat()));
    Ok(Comparison {
        equal: found.equal,
        headline: if found.equal { "equal in structure".to_owned() } else { headline(&found) },
        report: human(&found, (&before.shown(), &after.shown()), &totals),
        functions: functions.collect(),
        totals: json!({
            "before": totals.before.as_ref().map(cost_json),
            "after": totals.after.as_ref().map(cost_json),
        }),
        broken: broken.map(|(side, ..)| side.name.clone()).collect(),
    })
}

/// A side of a comparison.
struct Module {
    name: String,
    analyzed: Analyzed,
}

/// The analysis of a side: that of the snapshot for an open document, otherwise its own.
enum Analyzed {
    Open { file: SourceFile, text: Arc<String>, lines: LineIndex },
    Own(Borrowed),
}

impl Module {
    fn of(snapshot: &Snapshot, side: Side) -> Result<Module> {
        let Side { uri, module, text, name } = side;
        let name = name.unwrap_or_else(|| last_part(&uri));
        if let (None, None, Some(open)) = (&module, &text, snapshot.documents.get(&uri)) {
            let (file, text) = (open.file, open.text.collected().clone());
            let analyzed = Analyzed::Open { file, lines: LineIndex::new(&text), text };
            return Ok(Module { name, analyzed });
        }
        let text = match (module, text) {
            (None, Some(text)) => text,
            (None, None) => read(snapshot, &uri)?,
            (Some(module), text) => {
                let log = match text {
                    Some(text) => Arc::new(Log::new(name.clone(), Arc::new(text))),
                    None => log_of(snapshot, &uri)?,
                };
                let number = number_of(&log, &module)?;
                log.text(number).map_err(refused)?.into_owned()
            }
        };
        let analyzed = Analyzed::Own(Borrowed::new(&snapshot.session.bases, text));
        Ok(Module { name, analyzed })
    }

    fn database<'m>(&'m self, snapshot: &'m Snapshot) -> (&'m Database, SourceFile) {
        match &self.analyzed {
            Analyzed::Open { file, .. } => (&snapshot.db, *file),
            Analyzed::Own(own) => own.analyzer.database(),
        }
    }

    fn text(&self) -> (&str, &LineIndex) {
        match &self.analyzed {
            Analyzed::Open { text, lines, .. } => (text, lines),
            Analyzed::Own(own) => (&own.text, &own.lines),
        }
    }

    fn places(&self, snapshot: &Snapshot) -> impl Fn(TextRange) -> Range {
        let encoding = snapshot.encoding;
        let (_, lines) = self.text();
        move |range| convert::range(lines, range, encoding)
    }

    fn shown(&self) -> Shown<'_> {
        let (text, lines) = self.text();
        Shown { name: &self.name, text, lines, offset: 0, first_line: 0 }
    }
}

fn last_part(uri: &Url) -> String {
    let path = paths::of_uri(uri);
    let name = path.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    name.map_or_else(|| uri.to_string(), |name| name.into_owned())
}

fn path_of(uri: &Url) -> Result<PathBuf> {
    paths::of_uri(uri)
        .ok_or_else(|| Error::invalid_params(format!("{uri} is neither open nor a local file")))
}

/// Reads the text of a file.
fn read(snapshot: &Snapshot, uri: &Url) -> Result<String> {
    let path = path_of(uri)?;
    let input = input::read_file(&path, snapshot.config.limits.code as u64).map_err(refused)?;
    match input.problem.filter(|problem| problem.code != Code::InvalidUtf8) {
        Some(problem) => Err(refused(problem.message)),
        None => Ok(input.text),
    }
}

/// Returns a log from an open document or a file.
fn log_of(snapshot: &Snapshot, uri: &Url) -> Result<Arc<Log>> {
    match snapshot.documents.get(uri) {
        Some(open) => Ok(Arc::new(Log::new(last_part(uri), open.text.collected().clone()))),
        None => snapshot.session.logs.get(&path_of(uri)?).map_err(refused),
    }
}

fn number_of(log: &Log, module: &ModuleName) -> Result<usize> {
    match module {
        ModuleName::Number(number) => log.find(&number.to_string()),
        ModuleName::Pass(pass) => log.find(pass),
    }
    .map_err(refused)
}

fn refused(message: String) -> Error {
    Error::invalid_params(message)
}

/// The parameters of `relay/passes`.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct LogParams {
    text_document: TextDocumentIdentifier,
    /// Compute the cost of each module, for which all modules are type-checked.
    #[serde(default)]
    costs: bool,
}

/// Returns the modules of a log and the changes of each pass, as in
/// `relay-analyzer passes --format json`.
pub(in crate::lsp) fn passes(snapshot: &Snapshot, params: LogParams) -> Result<Value> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    Ok(document(&log, &examine(&log, params.costs, &|| ())))
}

/// The parameters of `relay/moduleText`.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ModuleParams {
    text_document: TextDocumentIdentifier,
    module: ModuleName,
}

/// The response to `relay/moduleText`.
#[derive(Serialize)]
pub(in crate::lsp) struct ModuleText {
    /// The index of the module.
    module: usize,
    /// The pass in its header.
    pass: Option<String>,
    /// Its first line in the log, from 0.
    line: u32,
    text: String,
}

/// Returns the text of a module of a log.
pub(in crate::lsp) fn module_text(snapshot: &Snapshot, params: ModuleParams) -> Result<ModuleText> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    let number = number_of(&log, &params.module)?;
    let module = &log.modules[number];
    Ok(ModuleText {
        module: number,
        pass: module.pass.clone(),
        line: module.line,
        text: log.text(number).map_err(refused)?.into_owned(),
    })
}

/// The parameters of `relay/history`.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct HistoryParams {
    text_document: TextDocumentIdentifier,
    /// The module to whose start the position is relative; otherwise the position is in the log.
    #[serde(default)]
    module: Option<ModuleName>,
    position: Position,
}

/// Returns the history of an expression through the passes of a log. Ranges are relative to the start
/// of each module.
pub(in crate::lsp) fn history(snapshot: &Snapshot, params: HistoryParams) -> Result<Value> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    let Position { line, character } = params.position;
    let at = LineColumn { line, column: character };
    let (number, offset) = match &params.module {
        Some(module) => {
            let number = number_of(&log, module)?;
            let lines = LineIndex::new(&log.text(number).map_err(refused)?);
            let offset = lines.offset(at, snapshot.encoding).ok_or_else(|| {
                let count = lines.line_count();
                refused(format!("line {line} does not exist: the text has {count} lines"))
            })?;
            (number, offset)
        }
        None => log.place(at, snapshot.encoding).map_err(refused)?,
    };
    let history = History::of(&log, number, offset).map_err(refused)?;
    let stops = history.stops.iter().enumerate().map(|(at, stop)| {
        let module = &log.modules[stop.module];
        let lines = LineIndex::new(&log.text(stop.module).map_err(refused)?);
        let step = at.checked_sub(1).and_then(|before| history.steps.get(before));
        Ok(json!({
            "module": stop.module, "pass": module.pass,
            "range": convert::range(&lines, stop.range, snapshot.encoding),
            "line": stop.position.0 - 1, "text": stop.text,
            "kind": step.map(|step| step.kind.word()),
            "changes": step.map(|step| &step.changes),
        }))
    });
    Ok(json!({
        "here": history.here, "stops": stops.collect::<Result<Vec<Value>>>()?,
        "new": history.is_new, "gone": history.is_gone,
    }))
}
