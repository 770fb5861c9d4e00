//! The rows and the cost of a function.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use operators::{Cost, CostCall, Operator};
use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, Def, ExprRef, View,
    body::{CallData, Callee, Expr, ExprId, FnId, UnitId},
    global,
};
use syntax::TextRange;
use types::Type;

use super::{
    CallTarget, FunctionShapes, Group, Input, Row, Source, Total, UncountedCall, UnknownSize,
    amount::Amount,
    data::{Code, Data, FunctionId, Sources},
    memory::memory,
    sizes::{Origins, Sizes},
    sorted,
};
use crate::{
    lookups::args_of,
    weights::{Leaf, data_uses, leaf, weights_of},
};

/// The maximal depth of calls to follow.
const MAX_DEPTH: usize = 48;

/// The cost of a function, for its callers.
#[derive(Default)]
struct Summary<'db> {
    total: Total,
    weights: Vec<(Def<'db>, Leaf, Amount, Amount)>,
    by_operator: BTreeMap<String, Group>,
    by_span: BTreeMap<String, Group>,
}

/// The content of a report of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Only totals. They need no rows, which take most of the memory.
    Totals,
    /// Only rows, with their inputs. They need no amounts, which take most of the time.
    Structure,
    /// Both.
    Whole,
}

/// A builder of reports with a memo of the functions that were analyzed.
pub(super) struct Reporter<'db> {
    db: &'db dyn Db,
    has_rows: bool,
    has_amounts: bool,
    data: FxHashMap<Def<'db>, Rc<Data<'db>>>,
    origins: FxHashMap<Def<'db>, Origins>,
    sizes: Sizes,
    known: FxHashMap<(Def<'db>, FunctionId), Rc<Analysis<'db>>>,
    active: FxHashSet<(Def<'db>, FunctionId)>,
}

/// The analysis of a function.
struct Analysis<'db> {
    /// The report moves them out: it is made once, and callers need only the summary.
    parts: RefCell<Parts>,
    inner: Vec<(UnitId, FnId)>,
    summary: Summary<'db>,
}

/// The parts of an analysis that a report with totals only does not have.
#[derive(Default)]
struct Parts {
    rows: Vec<Row>,
    sources: Vec<Source>,
    results: Vec<Input>,
}

impl<'db> Reporter<'db> {
    pub(super) fn new(db: &'db dyn Db, content: Content) -> Reporter<'db> {
        Reporter {
            db,
            has_rows: content != Content::Totals,
            has_amounts: content != Content::Structure,
            data: FxHashMap::default(),
            origins: FxHashMap::default(),
            sizes: Sizes::default(),
            known: FxHashMap::default(),
            active: FxHashSet::default(),
        }
    }

    /// Returns the report of a definition, once for each.
    pub(super) fn report(&mut self, def: Def<'db>) -> Option<FunctionShapes> {
        let data = self.data(def)?;
        let mut report = self.shapes(&data, FunctionId::Whole, 0)?;
        let unknowns = self.sizes.unknowns.clone();
        let mut stack = vec![&mut report];
        while let Some(function) = stack.pop().filter(|_| !unknowns.is_empty()) {
            function.unknowns = used_unknowns(function, &unknowns);
            stack.extend(function.functions.iter_mut());
        }
        Some(report)
    }

    /// Returns a report of a definition with only its totals.
    pub(super) fn summary(&mut self, def: Def<'db>) -> Option<FunctionShapes> {
        let data = self.data(def)?;
        let analysis = self.analysis(&data, FunctionId::Whole, 0)?;
        let mut report = empty_report(&data, FunctionId::Whole);
        report.total = analysis.summary.total.clone();
        report.unknowns = self.sizes.unknowns.clone();
        Some(report)
    }

    fn shapes(
        &mut self,
        data: &Rc<Data<'db>>,
        which: FunctionId,
        depth: usize,
    ) -> Option<FunctionShapes> {
        let analysis = self.analysis(data, which, depth)?;
        let mut report = empty_report(data, which);
        Parts { rows: report.rows, sources: report.sources, results: report.results } =
            analysis.parts.take();
        report.total = analysis.summary.total.clone();
        report.by_operator = sorted(&analysis.summary.by_operator);
        report.by_span = sorted(&analysis.summary.by_span);
        if depth < MAX_DEPTH {
            for &(unit, id) in &analysis.inner {
                let inner = self.shapes(data, FunctionId::Inner(unit, id), depth + 1);
                let inner = inner.filter(|f| !f.rows.is_empty() || !f.functions.is_empty());
                report.functions.extend(inner);
            }
        }
        Some(report)
    }

    fn data(&mut self, def: Def<'db>) -> Option<Rc<Data<'db>>> {
        if let Some(data) = self.data.get(&def) {
            return Some(data.clone());
        }
        let data = Rc::new(Data::new(View::new(self.db, def)?));
        self.data.insert(def, data.clone());
        Some(data)
    }

    /// Returns the analysis of a function, or `None` if it is recursive or nested too deeply.
    fn analysis(
        &mut self,
        data: &Rc<Data<'db>>,
        which: FunctionId,
        depth: usize,
    ) -> Option<Rc<Analysis<'db>>> {
        let key = (data.view.def, which);
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        if depth > MAX_DEPTH || !self.active.insert(key) {
            return None;
        }
        let found = Rc::new(self.analyze(data, which, depth));
        self.active.remove(&key);
        // An analysis that may be cut off at the maximal depth is not memoized, because a caller at
        // a smaller depth gets a complete one.
        if depth == 0 || self.active.is_empty() || found.summary.total.macs.undefined_count() == 0 {
            self.known.insert(key, found.clone());
        }
        Some(found)
    }

    fn analyze(&mut self, data: &Rc<Data<'db>>, which: FunctionId, depth: usize) -> Analysis<'db> {
        let code = data.code(which);
        // A row is large, so that the memory of a growing list would be moved often. Most calls have several arguments.
        let count = code.exprs.len() / 4;
        let mut rows: Vec<Row> = Vec::with_capacity(if self.has_rows { count } else { 0 });
        let mut calls: Vec<ExprRef> = Vec::with_capacity(count);
        let mut sizes: Vec<Amount> = Vec::new();
        // The memory of the functions that rows call.
        let mut peaks: Vec<(usize, Amount)> = Vec::new();
        let mut summary = Summary::default();
        let mut weights: FxHashSet<(Def<'db>, Leaf)> = FxHashSet::default();
        let inputs = data_uses(&data.view, &code.exprs);
        for (count, &expr_ref) in code.exprs.iter().enumerate() {
            if count % 512 == 0 {
                self.db.unwind_if_revision_cancelled();
            }
            let Some(call) = data.view.call(expr_ref) else { continue };
            let Some(found) = self.call(data, expr_ref, call, &inputs, depth) else { continue };
            for weight in found.weights {
                if weights.insert((weight.0, weight.1)) {
                    summary.total.params.add(&weight.2);
                    summary.total.param_bytes.add(&weight.3);
                    summary.weights.push(weight);
                }
            }
            if self.has_amounts {
                summary.add(&found.row, found.inner.as_deref());
                let peak = found.inner.map(|inner| inner.summary.total.peak.clone());
                peaks.extend(peak.map(|peak| (calls.len(), peak)));
                sizes.push(found.row.bytes.clone());
            } else {
                // Undefined where the analysis ends, which decides whether it is known.
                summary.total.macs.add(&found.row.macs);
            }
            calls.push(expr_ref);
            if self.has_rows {
                rows.push(found.row);
            }
        }
        if self.has_amounts {
            memory_over_time((data, &code), &calls, &sizes, peaks, (&mut rows, &mut summary.total));
        }
        let mut sources = Sources::default();
        let mut results = Vec::new();
        if self.has_rows {
            let index: FxHashMap<ExprRef, usize> =
                calls.iter().enumerate().map(|(at, &expr_ref)| (expr_ref, at)).collect();
            for (row, &expr_ref) in rows.iter_mut().zip(&calls) {
                let origins = data.inputs(expr_ref, &index, &mut sources);
                (row.inputs, row.fields) = (origins.inputs, origins.fields);
            }
            results = data.origins(code.result, &index, &mut sources).inputs;
            sources.mark_weights(|leaf| weights.contains(&(data.view.def, leaf)));
        }
        let parts = RefCell::new(Parts { rows, sources: sources.list, results });
        Analysis { parts, inner: code.functions, summary }
    }
}

/// Fills what is live during rows, and the peak of a total. `sizes` are those of the results of `calls`; `peaks` are the
/// memory of the functions that rows call, with the indices of these.
fn memory_over_time(
    (data, code): (&Data<'_>, &Code),
    calls: &[ExprRef],
    sizes: &[Amount],
    peaks: Vec<(usize, Amount)>,
    (rows, total): (&mut [Row], &mut Total),
) {
    let mut peaks = peaks.into_iter().peekable();
    let until = memory(data, code, calls, sizes, |at, live| {
        let mut here = live.clone();
        if let Some((_, inner)) = peaks.next_if(|(row, _)| *row == at)
            && inner.at_one() > sizes[at].at_one()
        {
            // The memory of the callee includes the result.
            here.subtract(&sizes[at]);
            here.add(&inner);
            if let Some(row) = rows.get_mut(at) {
                row.peak = Some(here.clone());
            }
        }
        if let Some(row) = rows.get_mut(at) {
            row.live = live.clone();
        }
        if total.peak_row.is_none() || here.at_one() > total.peak.at_one() {
            total.peak = here;
            total.peak_row = Some(at);
        }
    });
    rows.iter_mut().zip(until).for_each(|(row, until)| row.until = until);
}

/// The analysis of a call.
struct CallAnalysis<'db> {
    row: Row,
    weights: Vec<(Def<'db>, Leaf, Amount, Amount)>,
    /// The function that is called.
    inner: Option<Rc<Analysis<'db>>>,
}

impl<'db> Reporter<'db> {
    fn sized(&mut self, data: &Data<'db>, expr_ref: ExprRef) -> Type {
        let origins = self.origins.entry(data.view.def).or_default();
        self.sizes.sized(&data.view, origins, expr_ref)
    }

    /// Returns the row of a call, `None` for a constructor.
    fn call(
        &mut self,
        data: &Rc<Data<'db>>,
        expr_ref: ExprRef,
        call: &CallData,
        inputs: &FxHashSet<Leaf>,
        depth: usize,
    ) -> Option<CallAnalysis<'db>> {
        let view = &data.view;
        let at = |expr: ExprId| ExprRef { unit: expr_ref.unit, expr };
        let result = self.has_amounts.then(|| self.sized(data, expr_ref));
        let mut row = Row {
            binding: if self.has_rows { data.name(expr_ref) } else { None },
            operator: String::new(),
            category: None,
            called: CallTarget::Nothing,
            ty: view.ty(expr_ref).clone(),
            range: view.range(expr_ref),
            params: Amount::ZERO,
            macs: Amount::ZERO,
            bytes: result.as_ref().map_or(Amount::ZERO, |result| self.sizes.bytes(result)),
            live: Amount::ZERO,
            peak: None,
            until: 0,
            span: if self.has_rows { data.span(expr_ref) } else { None },
            inputs: Vec::new(),
            fields: Vec::new(),
            attributes: if self.has_rows { attributes(data, expr_ref, call) } else { Vec::new() },
            undefined: None,
        };
        let mut leaves: Vec<(Def<'db>, Leaf, Amount, Amount)> = Vec::new();
        let mut inner = None;
        match &call.callee {
            Callee::Name(_) => return None,
            Callee::Operator(operator) if view.types.constructor(operator.name).is_some() => {
                return None;
            }
            Callee::Operator(operator) => {
                row.operator = operator.name.to_owned();
                row.category = Some(operator.category());
                if let Some(result) = &result {
                    (row.macs, row.undefined) = self.cost(data, expr_ref, call, operator, result);
                }
                for leaf in weights_of(view, expr_ref) {
                    if !inputs.contains(&leaf) {
                        leaves.push(self.weight(data, leaf));
                    }
                }
            }
            Callee::Expr(callee) => {
                let value = data.view.resolve(at(*callee));
                row.operator = data.text(view.range(at(*callee)));
                if row.operator.contains('\n') || row.operator.len() > 40 {
                    row.operator = "fn".to_owned();
                }
                let target = match view.unit(value.unit).expr(value.expr) {
                    Expr::Global(name) => global(self.db, view.module, name)
                        .and_then(|(def, _)| self.data(def))
                        .map(|data| (data, FunctionId::Whole)),
                    Expr::Fn(id) => Some((data.clone(), FunctionId::Inner(value.unit, *id))),
                    _ => None,
                };
                inner =
                    target.as_ref().and_then(|(of, which)| self.analysis(of, *which, depth + 1));
                match (&inner, &target) {
                    (Some(callee), Some((of, which))) => {
                        row.macs = callee.summary.total.macs.clone();
                        if self.has_amounts {
                            row.called = callee.summary.called();
                        }
                        row.undefined = callee.summary.total.uncounted.as_ref().map(|first| {
                            format!("in it, {} is not counted: {}", first.operator, first.why)
                        });
                        let params = of.params(*which);
                        for weight in &callee.summary.weights {
                            let own = match weight.1 {
                                Leaf::Param(binding) if weight.0 == of.view.def => {
                                    params.iter().position(|param| *param == binding)
                                }
                                _ => None,
                            };
                            match own {
                                // A weight parameter of the callee is an argument of this call.
                                Some(position) => {
                                    let arg = call.args.get(position);
                                    let leaf = arg.and_then(|&arg| leaf(view, at(arg)));
                                    leaves.extend(leaf.map(|leaf| self.weight(data, leaf)));
                                }
                                None => leaves.push(weight.clone()),
                            }
                        }
                    }
                    (None, Some(_)) => {
                        row.macs = Amount::undefined();
                        row.called = CallTarget::Recursive;
                        row.undefined = Some("the depth of the recursion is unknown".into());
                    }
                    _ => {
                        row.macs = Amount::undefined();
                        row.undefined = Some("the callee is unknown".into());
                    }
                }
            }
        }
        if leaves.len() > 1 {
            let mut seen = FxHashSet::default();
            leaves.retain(|leaf| seen.insert((leaf.0, leaf.1)));
        }
        for leaf in &leaves {
            row.params.add(&leaf.2);
        }
        Some(CallAnalysis { row, weights: leaves, inner })
    }

    /// Returns the multiply-accumulates of an operator, and the reason if they are undefined.
    fn cost(
        &mut self,
        data: &Data<'db>,
        expr_ref: ExprRef,
        call: &CallData,
        operator: &Operator,
        result: &Type,
    ) -> (Amount, Option<String>) {
        let macs = match operator.cost {
            Cost::Free | Cost::Elementwise | Cost::Reduction => return (Amount::ZERO, None),
            Cost::Unknown => {
                let why = "the cost of the operator is unknown";
                return (Amount::undefined(), Some(why.into()));
            }
            Cost::Undefined(why) => return (Amount::undefined(), Some(why.into())),
            Cost::Macs(macs) => macs,
        };
        let mut types: Vec<Type> =
            args_of(expr_ref.unit, call).map(|arg| self.sized(data, arg)).collect();
        types.push(result.clone());
        let measure = |types: &[Type]| {
            let (result, args) = types.split_last()?;
            macs(&CostCall { args, result, attrs: &call.attrs })
        };
        let amount = self.sizes.measure(&types, &measure);
        let undefined = (amount.undefined_count() > 0).then(|| {
            let is_untyped = |ty: &Type| !matches!(ty, Type::Tensor(_) | Type::Tuple(_));
            let (_, args) = types.split_last().unwrap_or((result, &[]));
            match args_of(expr_ref.unit, call).zip(args).find(|(_, ty)| is_untyped(ty)) {
                Some((arg, _)) => format!("the type of {} is unknown", data.view.describe(arg)),
                None => "its sizes are unknown".to_owned(),
            }
        });
        (amount, undefined)
    }

    fn weight(&mut self, data: &Data<'db>, leaf: Leaf) -> (Def<'db>, Leaf, Amount, Amount) {
        if !self.has_amounts {
            return (data.view.def, leaf, Amount::ZERO, Amount::ZERO);
        }
        let ty = match leaf {
            Leaf::Constant(expr_ref) => self.sized(data, expr_ref),
            Leaf::Param(binding) => data.view.binding_type(binding).clone(),
        };
        let (elements, bytes) = (self.sizes.elements(&ty), self.sizes.bytes(&ty));
        (data.view.def, leaf, elements, bytes)
    }
}

impl<'db> Summary<'db> {
    /// Returns what the function calls.
    fn called(&self) -> CallTarget {
        let mut bytes = Amount::ZERO;
        self.by_operator.values().for_each(|group| bytes.add(&group.bytes));
        CallTarget::Operators { calls: self.total.calls, bytes }
    }

    fn add(&mut self, row: &Row, inner: Option<&Analysis<'db>>) {
        self.total.macs.add(&row.macs);
        if self.total.uncounted.is_none() {
            let own =
                |why: &String| UncountedCall { operator: row.operator.clone(), why: why.clone() };
            self.total.uncounted = match inner {
                Some(inner) => inner.summary.total.uncounted.clone(),
                None => row.undefined.as_ref().map(own),
            };
        }
        let Some(inner) = inner else {
            self.total.calls += u64::from(row.category.is_some());
            let group = Group {
                name: row.operator.clone(),
                count: 1,
                macs: row.macs.clone(),
                bytes: row.bytes.clone(),
            };
            if let Some(span) = &row.span {
                merge(&mut self.by_span, &Group { name: layer(span), ..group.clone() });
            }
            merge(&mut self.by_operator, &group);
            return;
        };
        self.total.calls = self.total.calls.saturating_add(inner.summary.total.calls);
        inner.summary.by_operator.values().for_each(|group| merge(&mut self.by_operator, group));
        inner.summary.by_span.values().for_each(|group| merge(&mut self.by_span, group));
    }
}

fn merge(groups: &mut BTreeMap<String, Group>, more: &Group) {
    match groups.get_mut(&more.name) {
        Some(group) => {
            group.count = group.count.saturating_add(more.count);
            group.macs.add(&more.macs);
            group.bytes.add(&more.bytes);
        }
        None => drop(groups.insert(more.name.clone(), more.clone())),
    }
}

/// Returns the names and texts of the attributes of a call.
fn attributes(data: &Data<'_>, expr_ref: ExprRef, call: &CallData) -> Vec<(String, String)> {
    let view = &data.view;
    let written = call.written.iter().map(|attribute| {
        let value = data.text(view.place(expr_ref.unit, attribute.value_range));
        (attribute.name.as_str().to_owned(), value)
    });
    let meta = call
        .meta_attrs
        .as_deref()
        .map(|(kind, number)| ("attributes".to_owned(), format!("meta[{kind}][{number}]")));
    written.chain(meta).collect()
}

/// Returns the content of a `span=` comment without line and column: `aten::linear_3` for
/// `aten::linear_3:0:0`.
pub fn layer(span: &str) -> String {
    let mut name = span;
    for _ in 0..2 {
        match name.rsplit_once(':') {
            Some((front, number)) if number.bytes().all(|b| b.is_ascii_digit()) => name = front,
            _ => break,
        }
    }
    name.to_owned()
}

/// Returns a report with name and range only.
fn empty_report(data: &Data<'_>, which: FunctionId) -> FunctionShapes {
    let view = &data.view;
    let (name, range) = match which {
        FunctionId::Whole => {
            let name = view.def.name(view.db).to_string();
            let name = if name.is_empty() { "expression".to_owned() } else { name };
            (name, view.def.range(view.db))
        }
        FunctionId::Inner(unit, id) => {
            let is_function = |expr: &Expr| matches!(expr, Expr::Fn(own) if *own == id);
            match view.unit(unit).exprs.iter().position(is_function) {
                Some(at) => {
                    let expr_ref = ExprRef { unit, expr: ExprId(at as u32) };
                    let name = data.name(expr_ref).unwrap_or_else(|| "fn".to_owned());
                    (name, view.range(expr_ref))
                }
                None => ("fn".to_owned(), TextRange::default()),
            }
        }
    };
    FunctionShapes { name, range, ..FunctionShapes::default() }
}

/// Returns the unknown sizes up to the last one that a report uses, so that their numbers stay
/// valid as indices.
fn used_unknowns(function: &FunctionShapes, all: &[UnknownSize]) -> Vec<UnknownSize> {
    let rows = function.rows.iter().flat_map(|row| [&row.params, &row.macs, &row.bytes, &row.live]);
    let total = &function.total;
    let peaks = function.rows.iter().filter_map(|row| row.peak.as_ref());
    let called = function.rows.iter().filter_map(|row| match &row.called {
        CallTarget::Operators { bytes, .. } => Some(bytes),
        CallTarget::Nothing | CallTarget::Recursive => None,
    });
    let amounts = rows.chain(peaks).chain(called).chain([&total.params, &total.macs, &total.peak]);
    let last = amounts
        .flat_map(|amount| amount.terms())
        .flat_map(|(factors, _)| factors.iter().map(|(unknown, _)| *unknown as usize + 1))
        .max();
    all[..last.unwrap_or(0).min(all.len())].to_vec()
}
