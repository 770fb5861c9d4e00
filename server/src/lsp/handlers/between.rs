//! `relay/compare`, `relay/passes`, `relay/moduleText` and `relay/history`: what lies between
//! modules.
//!
//! A module is an open document, a file on disk, a module inside of a log, or a text that the editor
//! has from elsewhere: the last commit, the clipboard.

use std::path::PathBuf;

use diff::{Change, Lost, Options, Pair};
use semantics::{Database, SourceFile};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syntax::{LineIndex, TextRange};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{Position, Range, TextDocumentIdentifier, Url},
};

use crate::{
    analyzer::Analyzer,
    between::{
        history::History,
        passes::{document, examine},
    },
    input::{self, Log},
    lsp::snapshot::Snapshot,
    report::diff::{Shown, Totals, change_text, cost, cost_json, headline, human},
};

/// The number of a module of a log, or the pass that its header names.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Wanted {
    Number(u32),
    Pass(String),
}

/// A module to compare.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct Side {
    /// The document, open or not. Without a text of its own, the module is read from there.
    uri: Url,
    /// Which module, if the document is a log.
    #[serde(default)]
    module: Option<Wanted>,
    /// The text, where it is neither that of the document nor of the file.
    #[serde(default)]
    text: Option<String>,
    /// What to call it in texts for people.
    #[serde(default)]
    name: Option<String>,
}

/// What `relay/compare` is asked with.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct CompareParams {
    before: Side,
    after: Side,
}

/// What `relay/compare` answers. Places count from the start of each module.
#[derive(Serialize)]
pub(in crate::lsp) struct Comparison {
    /// Nothing but names, order, notation and comments differs.
    equal: bool,
    /// What happened, in a sentence.
    headline: String,
    /// All of it for a person, as `relay-analyzer diff` prints it.
    report: String,
    functions: Vec<Function>,
    /// What each side costs to run.
    totals: Value,
    /// Names of the sides that cannot be read whole.
    broken: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    before: Option<String>,
    after: Option<String>,
    equal: bool,
    is_guess: bool,
    pairs: Vec<Partners>,
    removed: Vec<Lonely>,
    added: Vec<Lonely>,
}

/// Two expressions that belong together.
#[derive(Serialize)]
struct Partners {
    before: Range,
    after: Range,
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Changed>,
}

/// What differs about two expressions, and where each says so.
#[derive(Serialize)]
struct Changed {
    text: String,
    before: Option<Range>,
    after: Option<Range>,
}

/// An expression without partner.
#[derive(Serialize)]
struct Lonely {
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
        return Err(refused("there is nothing to compare".to_owned()));
    };
    let found = diff::compare((db_a, a), (db_b, b), &Options::default());
    let totals = match found.equal {
        true => Totals::default(),
        false => Totals { before: cost(db_a, file_a, None), after: cost(db_b, file_b, None) },
    };
    let (place_a, place_b) = (before.places(snapshot), after.places(snapshot));
    let changed = |change: &Change| Changed {
        text: change_text(change),
        before: change.places.0.map(&place_a),
        after: change.places.1.map(&place_b),
    };
    let partners = |pair: &Pair| Partners {
        before: place_a(pair.before),
        after: place_b(pair.after),
        kind: pair.kind.word(),
        changes: pair.changes.iter().map(changed).collect(),
    };
    let lonely = |lost: &[Lost], place: &dyn Fn(TextRange) -> Range| -> Vec<Lonely> {
        let one =
            |lost: &Lost| Lonely { range: place(lost.range), operator: lost.operator.to_string() };
        lost.iter().map(one).collect()
    };
    let functions = found.functions.iter().map(|function| Function {
        before: function.before.as_ref().map(|f| f.name.to_string()),
        after: function.after.as_ref().map(|f| f.name.to_string()),
        equal: function.equal,
        is_guess: function.is_guess,
        pairs: function.pairs.iter().map(partners).collect(),
        removed: lonely(&function.removed, &place_a),
        added: lonely(&function.added, &place_b),
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
    text: String,
    lines: LineIndex,
    /// Its file in the snapshot's database, for an open document as it is; else its own database.
    analyzed: Analyzed,
}

enum Analyzed {
    Open(SourceFile),
    Own(Box<Analyzer>),
}

impl Module {
    fn of(snapshot: &Snapshot, side: Side) -> Result<Module> {
        let Side { uri, module, text, name } = side;
        let known = name.unwrap_or_else(|| last_part(&uri));
        if let (None, None, Some(open)) = (&module, &text, snapshot.documents.get(&uri)) {
            return Ok(Module {
                name: known,
                text: open.text.to_string(),
                lines: LineIndex::new(&open.text),
                analyzed: Analyzed::Open(open.file),
            });
        }
        let text = match (module, text) {
            (None, Some(text)) => text,
            (None, None) => read(snapshot, &uri)?,
            (Some(module), text) => {
                let log = match text {
                    Some(text) => Log::new(known.clone(), text),
                    None => log_of(snapshot, &uri)?,
                };
                let number = number_of(&log, &module)?;
                log.module(number, known.clone()).text
            }
        };
        let mut analyzer = Analyzer::new(false);
        analyzer.parse(&text);
        let lines = LineIndex::new(&text);
        Ok(Module { name: known, text, lines, analyzed: Analyzed::Own(Box::new(analyzer)) })
    }

    fn database<'m>(&'m self, snapshot: &'m Snapshot) -> (&'m Database, SourceFile) {
        match &self.analyzed {
            Analyzed::Open(file) => (&snapshot.db, *file),
            Analyzed::Own(analyzer) => analyzer.database(),
        }
    }

    fn places(&self, snapshot: &Snapshot) -> impl Fn(TextRange) -> Range {
        let encoding = snapshot.encoding;
        move |range| places(&self.lines, encoding, range)
    }

    fn shown(&self) -> Shown<'_> {
        Shown { name: &self.name, text: &self.text, lines: &self.lines, offset: 0, first_line: 0 }
    }
}

fn places(lines: &LineIndex, encoding: syntax::Encoding, range: TextRange) -> Range {
    let at = |offset| {
        let at = lines.line_column(offset, encoding);
        Position::new(at.line, at.column)
    };
    Range::new(at(range.start()), at(range.end()))
}

fn last_part(uri: &Url) -> String {
    let path = uri.to_file_path().ok();
    let name = path.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    name.map_or_else(|| uri.to_string(), |name| name.into_owned())
}

fn path_of(uri: &Url) -> Result<PathBuf> {
    uri.to_file_path()
        .map_err(|()| Error::invalid_params(format!("{uri} is neither open nor a file here")))
}

/// The text of a file on disk.
fn read(snapshot: &Snapshot, uri: &Url) -> Result<String> {
    let path = path_of(uri)?;
    let input = input::read(&path, snapshot.config.limits.code as u64).map_err(refused)?;
    match input.problem.filter(|problem| problem.code != "invalid-utf8") {
        Some(problem) => Err(refused(problem.message)),
        None => Ok(input.text),
    }
}

/// A log: the document if it is open, else the file.
fn log_of(snapshot: &Snapshot, uri: &Url) -> Result<Log> {
    match snapshot.documents.get(uri) {
        Some(open) => Ok(Log::new(last_part(uri), open.text.to_string())),
        None => input::read_log(&path_of(uri)?).map_err(refused),
    }
}

fn number_of(log: &Log, module: &Wanted) -> Result<usize> {
    match module {
        Wanted::Number(number) => log.find(&number.to_string()),
        Wanted::Pass(pass) => log.find(pass),
    }
    .map_err(refused)
}

fn refused(message: String) -> Error {
    Error::invalid_params(message)
}

/// What `relay/passes` is asked with.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct LogParams {
    text_document: TextDocumentIdentifier,
    /// Tell what each module costs, which types all of them.
    #[serde(default)]
    costs: bool,
}

/// The modules of a log and what each pass changed, as `relay-analyzer passes --format json`.
pub(in crate::lsp) fn passes(snapshot: &Snapshot, params: LogParams) -> Result<Value> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    Ok(document(&log, &examine(&log, params.costs)))
}

/// What `relay/moduleText` is asked with.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ModuleParams {
    text_document: TextDocumentIdentifier,
    module: Wanted,
}

/// A module of a log as a text of its own.
#[derive(Serialize)]
pub(in crate::lsp) struct ModuleText {
    /// Its number.
    module: usize,
    /// The pass that its header names.
    pass: Option<String>,
    /// The line of the log that it begins on, from 0.
    line: u32,
    text: String,
}

/// The text of a module of a log.
pub(in crate::lsp) fn module_text(snapshot: &Snapshot, params: ModuleParams) -> Result<ModuleText> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    let number = number_of(&log, &params.module)?;
    let module = &log.modules[number];
    Ok(ModuleText {
        module: number,
        pass: module.pass.clone(),
        line: module.line,
        text: module.text(&log.text).into_owned(),
    })
}

/// What `relay/history` is asked with.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct HistoryParams {
    text_document: TextDocumentIdentifier,
    /// The module, if the position counts from its start, and not from the start of the log.
    #[serde(default)]
    module: Option<Wanted>,
    position: Position,
}

/// Where an expression came from, and what became of it. Ranges count from the start of each module.
pub(in crate::lsp) fn history(snapshot: &Snapshot, params: HistoryParams) -> Result<Value> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    let offset_in = |text: &str| {
        let lines = LineIndex::new(text);
        let Position { line, character } = params.position;
        let at = syntax::LineColumn { line, column: character };
        lines.offset(at, snapshot.encoding).ok_or_else(|| {
            refused(format!("there is no line {line}: the text has {} lines", lines.line_count()))
        })
    };
    let (number, offset) = match &params.module {
        Some(module) => {
            let number = number_of(&log, module)?;
            (number, offset_in(&log.modules[number].text(&log.text))?)
        }
        None => log.place(offset_in(&log.text)?).map_err(refused)?,
    };
    let history = History::of(&log, number, offset).map_err(refused)?;
    let stops = history.stops.iter().enumerate().map(|(at, stop)| {
        let module = &log.modules[stop.module];
        let lines = LineIndex::new(&module.text(&log.text));
        let step = at.checked_sub(1).and_then(|before| history.steps.get(before));
        json!({
            "module": stop.module, "pass": module.pass,
            "range": places(&lines, snapshot.encoding, stop.range),
            "line": stop.position.0 - 1, "text": stop.text,
            "kind": step.map(|step| step.kind.word()),
            "changes": step.map(|step| &step.changes),
        })
    });
    Ok(json!({
        "here": history.here, "stops": stops.collect::<Vec<_>>(),
        "new": history.is_new, "gone": history.is_gone,
    }))
}
