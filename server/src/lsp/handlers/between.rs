//! `relay/compare`, `relay/passes`, `relay/moduleText` and `relay/history`: differences between
//! modules.
//!
//! A module is an open document, a file, a module of a log, or a text that the editor sends, such as
//! that of the last commit.

use std::{path::PathBuf, sync::Arc};

use diff::{Change, FunctionRef, Options, Pair};
use ide::{
    layers::{FunctionLayers, shown_layers, structure_by_layer},
    shapes::FunctionShapes,
};
use semantics::{Database, SourceFile};
use serde::Deserialize;
use syntax::{LineColumn, LineIndex, TextRange, TextSize};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{Position, Range, TextDocumentIdentifier, Url},
};

use crate::{
    between::{
        fillers::fillers,
        history::History,
        passes::{document, examine},
        stops::stops,
    },
    input::Log,
    lsp::{bases::BorrowedBase, convert, documents::Document, snapshot::Snapshot},
    paths,
    protocol::{
        self, Comparison, FunctionChanges, HistoryStop, MatchedPair, ModuleText, PassLog,
        ReportLink, Totals, UnpairedExpr,
    },
    report::{
        diff::{Place, Report, ShownModule, change_note, change_text, headline, human},
        escape::terminal,
        shapes::MergedShapes,
    },
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

impl Side {
    /// Returns the document.
    pub(in crate::lsp) fn uri(&self) -> &Url {
        &self.uri
    }

    /// Returns the name in reports.
    pub(in crate::lsp) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| last_part(&self.uri))
    }

    /// Returns the open document that it is, unless it is a part of one or another text.
    pub(in crate::lsp) fn open_document<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Document> {
        let is_whole = self.module.is_none() && self.text.is_none();
        snapshot.documents.get(&self.uri).filter(|_| is_whole)
    }

    /// Returns the text of the module.
    pub(in crate::lsp) fn text(self, snapshot: &Snapshot) -> Result<String> {
        match self.open_document(snapshot).is_some() {
            true => Ok(snapshot.document(&self.uri)?.text.collected().as_str().to_owned()),
            false => self.unopened_text(snapshot),
        }
    }

    /// Returns the text of a module that is not an open document.
    fn unopened_text(self, snapshot: &Snapshot) -> Result<String> {
        let name = self.name();
        match (self.module, self.text) {
            (None, Some(text)) => Ok(text),
            (None, None) => Ok(snapshot.read(&path_of(&self.uri)?)?.text),
            (Some(module), text) => {
                let log = match text {
                    Some(text) => Arc::new(Log::new(name, Arc::new(text))),
                    None => log_of(snapshot, &self.uri)?,
                };
                let number = number_of(&log, &module)?;
                Ok(log.text(number).map_err(Error::invalid_params)?.into_owned())
            }
        }
    }
}

/// The parameters of `relay/compare`.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct CompareParams {
    before: Side,
    after: Side,
}

/// Compares two modules.
pub(in crate::lsp) fn compare(snapshot: &Snapshot, params: CompareParams) -> Result<Comparison> {
    let before = Module::of(snapshot, params.before)?;
    let after = Module::of(snapshot, params.after)?;
    let ((db_a, file_a), (db_b, file_b)) = (before.database(snapshot), after.database(snapshot));
    let modules = (semantics::module(db_a, file_a, 0), semantics::module(db_b, file_b, 0));
    let (Some(a), Some(b)) = modules else {
        return Err(Error::invalid_params("there is no module to compare".to_owned()));
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
    let changed = |change: &Change| protocol::Change {
        text: change_text(change),
        note: change_note(change),
        before: change.places.0.map(&place_a),
        after: change.places.1.map(&place_b),
    };
    let matched = |pair: &Pair| MatchedPair {
        before: place_a(pair.before),
        after: place_b(pair.after),
        kind: pair.kind.into(),
        changes: pair.changes.iter().map(changed).collect(),
    };
    let unpaired =
        |lost: &[diff::UnpairedExpr], place: &dyn Fn(TextRange) -> Range| -> Vec<UnpairedExpr> {
            let one = |lost: &diff::UnpairedExpr| UnpairedExpr {
                range: place(lost.range),
                operator: lost.operator.to_string(),
            };
            lost.iter().map(one).collect()
        };
    let functions: Vec<FunctionChanges> = found
        .functions
        .iter()
        .map(|function| {
            let (of_before, of_after) = (function.before.as_ref(), function.after.as_ref());
            let mut removed = unpaired(&function.removed, &place_a);
            let mut added = unpaired(&function.added, &place_b);
            match (of_before, of_after) {
                (Some(lost), None) => {
                    removed.extend(before.name_of(lost).map(|name| whole(place_a(name))))
                }
                (None, Some(new)) => {
                    added.extend(after.name_of(new).map(|name| whole(place_b(name))))
                }
                _ => {}
            }
            FunctionChanges {
                before: of_before.map(|f| f.name.to_string()),
                after: of_after.map(|f| f.name.to_string()),
                equal: function.equal,
                pairs: function.pairs.iter().map(matched).collect(),
                removed,
                added,
            }
        })
        .collect();
    let pairs = functions.iter().flat_map(|function| &function.pairs);
    let pairs: Vec<_> = pairs.map(|pair| (pair.before, pair.after, pair.kind)).collect();
    let ranges = |of: fn(&FunctionChanges) -> &[UnpairedExpr]| -> Vec<Range> {
        functions.iter().flat_map(of).map(|lost| lost.range).collect()
    };
    let stops = stops(&pairs, &ranges(|f| &f.removed), &ranges(|f| &f.added));
    let sides = [(&before, db_a, file_a), (&after, db_b, file_b)];
    let broken: Vec<String> = sides
        .into_iter()
        .filter(|(_, db, file)| file.parse(*db).errors.iter().any(|error| !error.kind.is_compat()))
        .map(|(side, ..)| side.name.clone())
        .collect();
    // What is not read may differ.
    let headline = match (found.equal, broken.is_empty()) {
        (true, true) => "equal in structure".to_owned(),
        (true, false) => "the valid parts are equal in structure".to_owned(),
        (false, _) => headline(&found),
    };
    let report = match found.equal && !broken.is_empty() {
        true => {
            let (before, after) = (terminal(&before.name), terminal(&after.name));
            let text = format!("`{before}` → `{after}`: {headline}\n");
            Report { text, ..Report::default() }
        }
        false => {
            let layers_of = |db, file| match found.equal {
                true => &[],
                false => shown_layers(db, file, snapshot.config.layers),
            };
            let (layers_a, layers_b) = (layers_of(db_a, file_a), layers_of(db_b, file_b));
            human(&found, (&before.shown(layers_a), &after.shown(layers_b)), &totals)
        }
    };
    let report_lines = LineIndex::new(&report.text);
    let link = |place: &Place| ReportLink {
        range: convert::range(&report_lines, place.range, snapshot.encoding),
        before: place.ends.before.map(&place_a),
        after: place.ends.after.map(&place_b),
    };
    let links = report.places.iter().map(link).collect();
    Ok(Comparison {
        equal: found.equal && broken.is_empty(),
        headline,
        report: report.text,
        links,
        functions,
        stops,
        fillers: fillers(&pairs),
        totals,
        broken,
    })
}

/// Returns the shape report of a document with the calls and functions that were removed from another module.
pub(in crate::lsp) fn merged_shapes(
    snapshot: &Snapshot,
    before: Side,
    document: &Document,
    found: (Vec<FunctionShapes>, Vec<FunctionLayers>),
) -> Result<MergedShapes> {
    let before = Module::of(snapshot, before)?;
    let (db, file) = before.database(snapshot);
    let after = semantics::module(&snapshot.db, document.file, 0);
    let (Some(a), Some(b)) = (semantics::module(db, file, 0), after) else {
        return Err(Error::invalid_params("there is no module to compare".to_owned()));
    };
    let diff = diff::compare((db, a), (&snapshot.db, b), &Options::default());
    let end = TextSize::new(document.text.len() as u32);
    let (shapes, layers) = structure_by_layer(db, file, snapshot.config.layers);
    Ok(MergedShapes::new(&diff, (&shapes, &layers), found, end))
}

/// Returns the mark of a function without a counterpart.
fn whole(range: Range) -> UnpairedExpr {
    UnpairedExpr { range, operator: String::new() }
}

/// A side of a comparison.
struct Module {
    name: String,
    analyzed: SideAnalysis,
}

/// The analysis of a side: that of the snapshot for an open document, otherwise its own.
enum SideAnalysis {
    Open { file: SourceFile, text: Arc<String>, lines: LineIndex },
    Own(BorrowedBase),
}

impl Module {
    fn of(snapshot: &Snapshot, side: Side) -> Result<Module> {
        let name = side.name();
        if side.open_document(snapshot).is_some() {
            let open = snapshot.document(&side.uri)?;
            let (file, text) = (open.file, open.text.collected().clone());
            let analyzed = SideAnalysis::Open { file, lines: LineIndex::new(&text), text };
            return Ok(Module { name, analyzed });
        }
        let text = side.unopened_text(snapshot)?;
        let analyzed = SideAnalysis::Own(BorrowedBase::new(&snapshot.session.bases, text));
        Ok(Module { name, analyzed })
    }

    fn database<'m>(&'m self, snapshot: &'m Snapshot) -> (&'m Database, SourceFile) {
        match &self.analyzed {
            SideAnalysis::Open { file, .. } => (&snapshot.db, *file),
            SideAnalysis::Own(own) => own.analyzer.database(),
        }
    }

    fn text(&self) -> (&str, &LineIndex) {
        match &self.analyzed {
            SideAnalysis::Open { text, lines, .. } => (text, lines),
            SideAnalysis::Own(own) => (&own.text, &own.lines),
        }
    }

    /// Returns the range of the keyword and the name of a function. A function that was inlined is compared at its
    /// calls.
    fn name_of(&self, function: &FunctionRef) -> Option<TextRange> {
        let text = self.text().0.get(std::ops::Range::<usize>::from(function.range))?;
        let end = text.find(function.name.as_str())? + function.name.len();
        (!function.is_part && !function.name.is_empty())
            .then(|| TextRange::at(function.range.start(), TextSize::new(end as u32)))
    }

    fn places(&self, snapshot: &Snapshot) -> impl Fn(TextRange) -> Range {
        let encoding = snapshot.encoding;
        let (_, lines) = self.text();
        move |range| convert::range(lines, range, encoding)
    }

    fn shown<'m>(&'m self, layers: &'m [FunctionLayers]) -> ShownModule<'m> {
        let (text, lines) = self.text();
        ShownModule { name: &self.name, text, lines, offset: 0, first_line: 0, layers }
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

/// Returns a log from an open document or a file.
pub(in crate::lsp) fn log_of(snapshot: &Snapshot, uri: &Url) -> Result<Arc<Log>> {
    match snapshot.documents.get(uri) {
        Some(_) => {
            let text = snapshot.document(uri)?.text.collected().clone();
            Ok(Arc::new(Log::new(last_part(uri), text)))
        }
        None => snapshot.session.logs.get(&path_of(uri)?).map_err(Error::invalid_params),
    }
}

fn number_of(log: &Log, module: &ModuleName) -> Result<usize> {
    match module {
        ModuleName::Number(number) => log.find(&number.to_string()),
        ModuleName::Pass(pass) => log.find(pass),
    }
    .map_err(Error::invalid_params)
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
pub(in crate::lsp) fn passes(snapshot: &Snapshot, params: LogParams) -> Result<PassLog> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    let modules = examine(&log, params.costs, &|| ());
    Ok(document(&log, modules))
}

/// The parameters of `relay/moduleText`.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ModuleParams {
    text_document: TextDocumentIdentifier,
    module: ModuleName,
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
        text: log.text(number).map_err(Error::invalid_params)?.into_owned(),
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
pub(in crate::lsp) fn history(
    snapshot: &Snapshot,
    params: HistoryParams,
) -> Result<protocol::History> {
    let log = log_of(snapshot, &params.text_document.uri)?;
    let Position { line, character } = params.position;
    let at = LineColumn { line, column: character };
    let (number, offset) = match &params.module {
        Some(module) => {
            let number = number_of(&log, module)?;
            let lines = LineIndex::new(&log.text(number).map_err(Error::invalid_params)?);
            let offset = lines.offset(at, snapshot.encoding).ok_or_else(|| {
                let count = lines.line_count();
                Error::invalid_params(format!(
                    "line {line} does not exist: the text has {count} lines"
                ))
            })?;
            (number, offset)
        }
        None => log.place(at, snapshot.encoding).map_err(Error::invalid_params)?,
    };
    let history = History::of(&log, number, offset).map_err(Error::invalid_params)?;
    let stops = history.stops.iter().enumerate().map(|(at, stop)| {
        let lines = LineIndex::new(&log.text(stop.module).map_err(Error::invalid_params)?);
        let step = at.checked_sub(1).and_then(|before| history.steps.get(before));
        Ok(HistoryStop {
            module: stop.module,
            pass: log.modules[stop.module].pass.clone(),
            range: convert::range(&lines, stop.range, snapshot.encoding),
            line: stop.position.0 - 1,
            text: stop.text.clone(),
            kind: step.map(|step| step.kind),
            changes: step.map(|step| step.changes.clone()),
        })
    });
    Ok(protocol::History {
        here: history.here,
        stops: stops.collect::<Result<_>>()?,
        new: history.is_new,
        gone: history.is_gone,
    })
}
