//! The profile of a run: time, multiply-accumulates and bytes by binding, operator and layer.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use ide::{
    layers::{FunctionLayers, Grouping, function_around},
    shapes::{self, FunctionShapes},
    words,
};
use interpreter::{CallMeasurement, Observer, Value};
use operators::{Cost, CostCall};
use semantics::{Db, ExprRef, SourceFile, View, body::Expr};
use syntax::{TextRange, TextSize};

use super::failure::Places;
use crate::{protocol, report::columns::aligned};

/// The number of bindings in a table.
const MAX_ROWS: usize = 20;

/// The costs of operator calls by place and operator.
#[derive(Default)]
pub(crate) struct Profile {
    calls: HashMap<(SourceFile, TextRange, &'static str), Part>,
    /// The number of measured calls.
    measured: u64,
    /// The number of calls to measure, if limited.
    limit: Option<u64>,
    /// The time of the observer, which is part of that of the run.
    observed: Duration,
}

/// The costs of some calls.
#[derive(Clone, Default)]
struct Part {
    function: String,
    calls: u64,
    time: Duration,
    macs: u64,
    /// True if the multiply-accumulates of some calls are undefined.
    has_undefined_macs: bool,
    bytes: u64,
}

impl Part {
    fn add(&mut self, other: &Part) {
        self.calls += other.calls;
        self.time += other.time;
        self.macs = self.macs.saturating_add(other.macs);
        self.has_undefined_macs |= other.has_undefined_macs;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    fn macs(&self) -> String {
        let known = if self.macs > 0 { words::number(self.macs) } else { String::new() };
        if self.has_undefined_macs { format!("{known}?") } else { known }
    }

    fn totals(&self) -> protocol::CallTotals {
        let count = |value: u64, text: String| protocol::Count { value, text };
        protocol::CallTotals {
            calls: count(self.calls, words::number(self.calls)),
            time: self.time.into(),
            macs: protocol::Amount::new(
                (!self.has_undefined_macs).then_some(self.macs),
                self.macs(),
            ),
            bytes: count(self.bytes, words::bytes(self.bytes)),
        }
    }
}

/// A row of the table: the calls at one place.
struct Row<'p> {
    place: (SourceFile, TextRange),
    binding: String,
    operator: &'static str,
    part: &'p Part,
}

impl Observer for Profile {
    fn measures(&self) -> bool {
        self.limit.is_none_or(|limit| self.measured < limit)
    }

    fn called(&mut self, call: &CallMeasurement<'_>) {
        let cost = CostCall { args: call.args, result: &call.value.ty(), attrs: call.attrs };
        let macs = match call.operator.cost {
            Cost::Free | Cost::Elementwise | Cost::Reduction => Some(0),
            Cost::Macs(macs) => macs(&cost),
            Cost::Unknown | Cost::Undefined(_) => None,
        };
        let bytes = bytes_of(call.value);
        self.measured += 1;
        let (file, range) = call.place;
        let part = self.calls.entry((file, range, call.operator.name)).or_default();
        if part.calls == 0 {
            part.function = call.function.to_owned();
        }
        part.add(&Part {
            function: String::new(),
            calls: 1,
            time: call.time,
            macs: macs.unwrap_or(0),
            has_undefined_macs: macs.is_none(),
            bytes,
        });
    }
}

fn bytes_of(value: &Value) -> u64 {
    match value {
        Value::Tensor(tensor) => tensor.bytes() as u64,
        // A value with more parts, as through sharing, is not counted.
        other => other
            .leaves_within(1 << 16)
            .map_or(0, |leaves| leaves.iter().map(|tensor| tensor.bytes() as u64).sum()),
    }
}

impl Profile {
    /// Creates a profile of about the first `limit` calls. Measuring slows a loop over scalars down
    /// several times.
    pub(crate) fn of_first(limit: u64) -> Profile {
        Profile { limit: Some(limit), ..Profile::default() }
    }

    /// Adds a time of the observer.
    pub(crate) fn add_observed(&mut self, time: Duration) {
        self.observed += time;
    }

    /// Returns the time and the number of the calls at each place of a file.
    pub(crate) fn times(&self, file: SourceFile) -> Vec<(TextRange, Duration, u64)> {
        let mut found: HashMap<TextRange, (Duration, u64)> = HashMap::new();
        for ((_, range, _), part) in self.calls.iter().filter(|((of, ..), _)| *of == file) {
            let (time, calls) = found.entry(*range).or_default();
            *time += part.time;
            *calls += part.calls;
        }
        found.into_iter().map(|(range, (time, calls))| (range, time, calls)).collect()
    }

    /// Returns what the run did, with the times, which sum to that of the run.
    fn parts(&self, took: Duration) -> Vec<protocol::TimePart> {
        let operators = self.total().time;
        let rest = took.saturating_sub(operators).saturating_sub(self.observed);
        let rest_name = match self.measures() {
            true => "interpreter",
            false => "interpreter, and calls that were not measured",
        };
        let parts =
            [("operators", operators), ("values for the editor", self.observed), (rest_name, rest)];
        let known = parts.into_iter().filter(|(_, time)| !time.is_zero());
        known
            .map(|(what, time)| protocol::TimePart { what: what.to_owned(), time: time.into() })
            .collect()
    }

    fn total(&self) -> Part {
        let mut total = Part::default();
        self.calls.values().for_each(|part| total.add(part));
        total
    }

    fn by_operator(&self) -> Vec<(&'static str, Part)> {
        let mut groups: HashMap<&'static str, Part> = HashMap::new();
        for ((_, _, operator), part) in &self.calls {
            groups.entry(operator).or_default().add(part);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(name, part)| (std::cmp::Reverse(part.time), *name));
        groups
    }

    /// Returns the layers in their order, each before those inside of it. In a function without layers, those that
    /// `span=` comments name, slowest first.
    fn by_layer(&self, db: &dyn Db, grouping: Grouping) -> Vec<Layer> {
        let mut files: HashMap<SourceFile, LayersOfFile<'_>> = HashMap::new();
        let mut tree: BTreeMap<(TextSize, Vec<usize>), Layer> = BTreeMap::new();
        let mut groups: HashMap<String, Part> = HashMap::new();
        for ((file, range, _), part) in &self.calls {
            let of_file =
                files.entry(*file).or_insert_with(|| LayersOfFile::new(db, *file, grouping));
            let Some(function) = of_file.function(*range) else {
                if let Some(layer) = of_file.spans.get(range) {
                    groups.entry(layer.clone()).or_default().add(part);
                }
                continue;
            };
            let mut layers = &function.layers;
            let mut path = Vec::new();
            for around in function.around(*range) {
                let layer = &layers[around.layer];
                path.push(around.layer);
                let key = (function.range.start(), path.clone());
                let new =
                    || Layer { name: layer.title(), depth: path.len() - 1, part: Part::default() };
                tree.entry(key).or_insert_with(new).part.add(part);
                layers = &layer.layers;
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|a, b| b.1.time.cmp(&a.1.time).then_with(|| a.0.cmp(&b.0)));
        let groups = groups.into_iter().map(|(name, part)| Layer { name, depth: 0, part });
        tree.into_values().chain(groups).collect()
    }

    /// Returns the rows, slowest first.
    fn rows(&self, db: &dyn Db) -> Vec<Row<'_>> {
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by_key(|((_, range, name), part)| {
            (std::cmp::Reverse(part.time), range.start(), *name)
        });
        let mut names = HashMap::new();
        let row = |((file, range, operator), part): (&(SourceFile, TextRange, &'static str), _)| {
            let part: &Part = part;
            let bound = names.entry(*file).or_insert_with(|| bindings(db, *file));
            let binding = bound.get(range).cloned().unwrap_or_default();
            Row { place: (*file, *range), binding, operator, part }
        };
        calls.into_iter().map(row).collect()
    }

    /// Formats a table of the slowest bindings, followed by one of operators.
    pub(crate) fn table(&self, db: &dyn Db, places: &mut Places<'_>, took: Duration) -> String {
        let total = self.total();
        let percent = |time: Duration| {
            let share = time.as_secs_f64() / total.time.as_secs_f64().max(1e-12);
            format!("{:.1} %", 100.0 * share)
        };
        let rows = self.rows(db);
        let head = ["binding", "operator", "at", "in", "calls", "time", "", "MACs", "bytes"];
        let mut cells = vec![head.map(str::to_owned)];
        for row in rows.iter().take(MAX_ROWS) {
            cells.push([
                row.binding.clone(),
                row.operator.to_owned(),
                places.name(row.place),
                row.part.function.clone(),
                words::number(row.part.calls),
                words::duration(row.part.time),
                percent(row.part.time),
                row.part.macs(),
                words::bytes(row.part.bytes),
            ]);
        }
        let mut out = columns(&cells, 4);
        if rows.len() > MAX_ROWS {
            out += &format!(
                "… and {} more\n",
                words::counted((rows.len() - MAX_ROWS) as u64, "place")
            );
        }
        let operators = self.by_operator().into_iter().map(|(name, part)| (name.to_owned(), part));
        let layers = self.by_layer(db, Grouping::default()).into_iter();
        let layers =
            layers.map(|layer| (format!("{}{}", "  ".repeat(layer.depth), layer.name), layer.part));
        for (what, groups) in [("operator", operators.collect()), ("layer", layers.collect())] {
            let groups: Vec<(String, Part)> = groups;
            if groups.is_empty() {
                continue;
            }
            let head = [what, "calls", "time", "", "MACs", "bytes"];
            let mut cells = vec![head.map(str::to_owned)];
            for (name, part) in groups.iter().take(MAX_ROWS) {
                cells.push([
                    name.clone(),
                    words::number(part.calls),
                    words::duration(part.time),
                    percent(part.time),
                    part.macs(),
                    words::bytes(part.bytes),
                ]);
            }
            out.push('\n');
            out += &columns(&cells, 1);
        }
        out + &format!(
            "\ntotal: {} of {} in {}, {} MACs, {} of results\n",
            words::duration(total.time),
            words::duration(took),
            words::counted(total.calls, "call"),
            if total.macs().is_empty() { "0".to_owned() } else { total.macs() },
            words::bytes(total.bytes),
        )
    }

    /// Converts the profile to the type of the protocol, with at most `limit` bindings, operators and layers each.
    /// `place` converts the place of a call.
    pub(crate) fn document<P>(
        &self,
        db: &dyn Db,
        took: Duration,
        limit: usize,
        grouping: Grouping,
        place: &mut dyn FnMut((SourceFile, TextRange)) -> P,
    ) -> protocol::Profile<P> {
        let rows = self.rows(db);
        let bindings = rows.iter().take(limit).map(|row| protocol::CallSite {
            binding: row.binding.clone(),
            operator: row.operator,
            function: row.part.function.clone(),
            at: place(row.place),
            totals: row.part.totals(),
        });
        let operators = self.by_operator().into_iter().take(limit);
        let operators = operators
            .map(|(operator, part)| protocol::OperatorTotals { operator, totals: part.totals() });
        let layers = self.by_layer(db, grouping).into_iter().take(limit);
        let layers = layers.map(|layer| protocol::LayerTotals {
            layer: layer.name,
            depth: layer.depth,
            totals: layer.part.totals(),
        });
        protocol::Profile {
            bindings: bindings.collect(),
            operators: operators.collect(),
            layers: layers.collect(),
            total: protocol::ProfileTotal {
                totals: self.total().totals(),
                wall: took.into(),
                parts: self.parts(took),
                cut: !self.measures(),
            },
        }
    }
}

/// The calls of a layer.
struct Layer {
    name: String,
    /// The number of layers around it.
    depth: usize,
    part: Part,
}

/// The layers of a file.
struct LayersOfFile<'db> {
    functions: &'db [FunctionLayers],
    /// The places in the framework's program by the ranges of calls.
    spans: HashMap<TextRange, String>,
}

impl<'db> LayersOfFile<'db> {
    fn new(db: &'db dyn Db, file: SourceFile, grouping: Grouping) -> LayersOfFile<'db> {
        let functions = match grouping {
            Grouping::Flat => &[],
            grouping => &ide::layers::layers(db, file, grouping)[..],
        };
        let reports = shapes::structure(db, file);
        let rows = reports.iter().flat_map(FunctionShapes::all).flat_map(|function| &function.rows);
        let spans = rows.filter_map(|row| Some((row.range, shapes::layer(row.span.as_deref()?))));
        LayersOfFile { functions, spans: spans.collect() }
    }

    /// Returns the function around a range, if it has layers.
    fn function(&self, range: TextRange) -> Option<&'db FunctionLayers> {
        function_around(self.functions, range).filter(|function| !function.layers.is_empty())
    }
}

/// Returns the variables of a file by the range of their values.
fn bindings(db: &dyn Db, file: SourceFile) -> HashMap<TextRange, String> {
    let mut found = HashMap::new();
    for view in semantics::all_defs(db, file).filter_map(|def| View::new(db, def)) {
        for (number, unit) in view.body.units() {
            for expr in &unit.exprs {
                if let Expr::Bind { binder, value, .. } = expr {
                    let range = view.range(ExprRef { unit: number, expr: *value });
                    found.insert(range, unit.binder(*binder).name.to_string());
                }
            }
        }
    }
    found
}

/// Aligns cells in columns with two spaces between them, from column `right` on to the right.
fn columns<const N: usize>(rows: &[[String; N]], right: usize) -> String {
    let is_right: [bool; N] = std::array::from_fn(|at| at >= right);
    aligned(rows, &is_right, "  ", None).iter().map(|line| format!("{line}\n")).collect()
}
