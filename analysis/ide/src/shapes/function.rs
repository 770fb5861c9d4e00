//! The rows of one function, and what a run of it takes.

use std::{collections::BTreeMap, rc::Rc};

use operators::{Cost, CostCall, Operator};
use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, Def, DefKind, Spot, View,
    body::{CallData, Callee, Expr, ExprId, FnId},
    global,
};
use syntax::TextRange;
use types::Type;

use super::{
    FunctionShapes, Group, Input, Row, Source, Total, UnknownSize,
    amount::Amount,
    data::{Data, Leaf, Sources, Which},
    memory::memory,
    sizes::{Origins, Sizes},
    sorted,
};

/// How deep functions are followed into those that they call.
const MAX_DEPTH: usize = 48;

/// What a function takes, for those that call it.
#[derive(Default)]
struct Summary<'db> {
    total: Total,
    weights: Vec<(Def<'db>, Leaf, Amount, Amount)>,
    by_operator: BTreeMap<String, Group>,
    by_span: BTreeMap<String, Group>,
}

/// Makes reports; what it has found of a function is not looked for again.
pub(super) struct Reporter<'db> {
    db: &'db dyn Db,
    in_full: bool,
    data: FxHashMap<Def<'db>, Rc<Data<'db>>>,
    origins: FxHashMap<Def<'db>, Origins>,
    sizes: Sizes,
    known: FxHashMap<(Def<'db>, Which), Rc<Done<'db>>>,
    active: FxHashSet<(Def<'db>, Which)>,
}

/// A function that has been looked at.
struct Done<'db> {
    rows: Vec<Row>,
    sources: Vec<Source>,
    results: Vec<Input>,
    inner: Vec<FnId>,
    inner_units: Vec<usize>,
    summary: Summary<'db>,
}

impl<'db> Reporter<'db> {
    /// `in_full`: attributes are copied, and what `span=` comments say is looked up, which takes a
    /// look at every token.
    pub(super) fn new(db: &'db dyn Db, in_full: bool) -> Reporter<'db> {
        Reporter {
            db,
            in_full,
            data: FxHashMap::default(),
            origins: FxHashMap::default(),
            sizes: Sizes::default(),
            known: FxHashMap::default(),
            active: FxHashSet::default(),
        }
    }

    /// A definition with all its rows.
    pub(super) fn report(&mut self, def: Def<'db>) -> Option<FunctionShapes> {
        let data = self.data(def)?;
        let mut report = self.shapes(&data, Which::Whole, 0)?;
        let unknowns = self.sizes.unknowns.clone();
        let mut stack = vec![&mut report];
        while let Some(function) = stack.pop() {
            function.unknowns = used_unknowns(function, &unknowns);
            stack.extend(function.functions.iter_mut());
        }
        Some(report)
    }

    /// A definition with its totals alone.
    pub(super) fn summary(&mut self, def: Def<'db>) -> Option<FunctionShapes> {
        let data = self.data(def)?;
        let done = self.done(&data, Which::Whole, 0)?;
        let mut report = named(&data, Which::Whole);
        report.total = done.summary.total.clone();
        report.unknowns = self.sizes.unknowns.clone();
        Some(report)
    }

    fn shapes(
        &mut self,
        data: &Rc<Data<'db>>,
        which: Which,
        depth: usize,
    ) -> Option<FunctionShapes> {
        let done = self.done(data, which, depth)?;
        let mut report = named(data, which);
        report.rows = done.rows.clone();
        report.sources = done.sources.clone();
        report.results = done.results.clone();
        report.total = done.summary.total.clone();
        report.by_operator = sorted(&done.summary.by_operator);
        report.by_span = sorted(&done.summary.by_span);
        if depth < MAX_DEPTH {
            for (&unit, &id) in done.inner_units.iter().zip(&done.inner) {
                let inner = self.shapes(data, Which::Inner(unit, id), depth + 1);
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
        if !matches!(def.kind(self.db), DefKind::Fn | DefKind::Expr) {
            return None;
        }
        let data = Rc::new(Data::new(View::new(self.db, def)?, self.in_full));
        self.data.insert(def, data.clone());
        Some(data)
    }

    /// Looks at a function, unless that is going on already: then it calls itself.
    fn done(&mut self, data: &Rc<Data<'db>>, which: Which, depth: usize) -> Option<Rc<Done<'db>>> {
        let key = (data.view.def, which);
        if let Some(done) = self.known.get(&key) {
            return Some(done.clone());
        }
        if depth > MAX_DEPTH || !self.active.insert(key) {
            return None;
        }
        let done = Rc::new(self.look(data, which, depth));
        self.active.remove(&key);
        // What was cut off because it lies too deep is looked at again from nearer.
        if depth == 0 || self.active.is_empty() || done.summary.total.macs.untold_count() == 0 {
            self.known.insert(key, done.clone());
        }
        Some(done)
    }

    fn look(&mut self, data: &Rc<Data<'db>>, which: Which, depth: usize) -> Done<'db> {
        let code = data.code(which);
        let mut rows: Vec<Row> = Vec::new();
        let mut spots: Vec<Spot> = Vec::new();
        let mut peaks: Vec<Amount> = Vec::new();
        let mut summary = Summary::default();
        let mut weights: FxHashSet<(Def<'db>, Leaf)> = FxHashSet::default();
        let inputs = data.data_inputs(&code);
        for (count, &spot) in code.exprs.iter().enumerate() {
            if count % 512 == 0 {
                self.db.unwind_if_revision_cancelled();
            }
            let unit = data.view.unit(spot.unit);
            let Expr::Call(id) = unit.expr(spot.expr) else { continue };
            let call = unit.call(*id);
            let Some(found) = self.call(data, spot, call, &inputs, depth) else { continue };
            for weight in found.weights {
                if weights.insert((weight.0, weight.1)) {
                    summary.total.params.add(&weight.2);
                    summary.total.param_bytes.add(&weight.3);
                    summary.weights.push(weight);
                }
            }
            summary.add(&found.row, found.inner.as_deref());
            peaks.push(found.inner.map_or(Amount::ZERO, |inner| inner.summary.total.peak.clone()));
            rows.push(found.row);
            spots.push(spot);
        }
        let index: FxHashMap<Spot, usize> =
            spots.iter().enumerate().map(|(at, &spot)| (spot, at)).collect();
        let mut sources = Sources::default();
        for (row, &spot) in rows.iter_mut().zip(&spots) {
            row.inputs = data.inputs(spot, &index, &mut sources);
        }
        let results = data.origins(code.result.into_iter().collect(), &index, &mut sources);
        sources.mark_weights(|leaf| weights.contains(&(data.view.def, leaf)));
        memory(data, &code, &spots, &mut rows);
        for (at, (row, inner)) in rows.iter().zip(&peaks).enumerate() {
            // The function called makes the result in the end: its own memory holds it already.
            let mut here = row.live.clone();
            if inner.at_one() > row.bytes.at_one() {
                here.subtract(&row.bytes);
                here.add(inner);
            }
            if summary.total.peak_row.is_none() || here.at_one() > summary.total.peak.at_one() {
                summary.total.peak = here;
                summary.total.peak_row = Some(at);
            }
        }
        let (inner_units, inner) = code.functions.into_iter().unzip();
        Done { rows, sources: sources.list, results, inner, inner_units, summary }
    }
}

/// A call that has been looked at.
struct Found<'db> {
    row: Row,
    weights: Vec<(Def<'db>, Leaf, Amount, Amount)>,
    /// The function that is called.
    inner: Option<Rc<Done<'db>>>,
}

impl<'db> Reporter<'db> {
    fn sized(&mut self, data: &Data<'db>, spot: Spot) -> Type {
        let origins = self.origins.entry(data.view.def).or_default();
        self.sizes.sized(&data.view, origins, spot)
    }

    /// A call as a row; constructors make none.
    fn call(
        &mut self,
        data: &Rc<Data<'db>>,
        spot: Spot,
        call: &CallData,
        inputs: &FxHashSet<Leaf>,
        depth: usize,
    ) -> Option<Found<'db>> {
        let view = &data.view;
        let at = |expr: ExprId| Spot { unit: spot.unit, expr };
        let result = self.sized(data, spot);
        let mut row = Row {
            binding: data.names.get(&spot).cloned(),
            operator: String::new(),
            is_operator: false,
            ty: view.ty(spot).clone(),
            range: view.range(spot),
            params: Amount::ZERO,
            macs: Amount::ZERO,
            bytes: self.sizes.bytes(&result),
            live: Amount::ZERO,
            span: data.span(spot),
            inputs: Vec::new(),
            attributes: if self.in_full { attributes(data, spot, call) } else { Vec::new() },
            untold: None,
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
                row.is_operator = true;
                (row.macs, row.untold) = self.cost(data, spot, call, operator, &result);
                for leaf in data.weights_of(spot, call, operator) {
                    if inputs.contains(&leaf) {
                        continue;
                    }
                    leaves.push(self.weight(data, leaf));
                }
            }
            Callee::Expr(callee) => {
                let value = data.resolve(at(*callee));
                row.operator = view.text(view.range(at(*callee)));
                if row.operator.contains('\n') || row.operator.len() > 40 {
                    row.operator = "fn".to_owned();
                }
                let target = match view.unit(value.unit).expr(value.expr) {
                    Expr::Global(name) => global(self.db, view.module, name)
                        .and_then(|(def, _)| self.data(def))
                        .map(|data| (data, Which::Whole)),
                    Expr::Fn(id) => Some((data.clone(), Which::Inner(value.unit, *id))),
                    _ => None,
                };
                inner = target.as_ref().and_then(|(of, which)| self.done(of, *which, depth + 1));
                match (&inner, &target) {
                    (Some(done), Some((of, which))) => {
                        row.macs = done.summary.total.macs.clone();
                        let params = of.params(*which);
                        for weight in &done.summary.weights {
                            let own = match weight.1 {
                                Leaf::Param(binding) if weight.0 == of.view.def => {
                                    params.iter().position(|param| *param == binding)
                                }
                                _ => None,
                            };
                            match own {
                                // A weight of the function called is what this call gives it.
                                Some(position) => {
                                    let arg = call.args.get(position);
                                    let leaf = arg.and_then(|&arg| data.leaf(at(arg)));
                                    leaves.extend(leaf.map(|leaf| self.weight(data, leaf)));
                                }
                                None => leaves.push(weight.clone()),
                            }
                        }
                    }
                    (None, Some(_)) => {
                        row.macs = Amount::untold();
                        row.untold = Some("how often it calls itself is not known".into());
                    }
                    _ => {
                        row.macs = Amount::untold();
                        row.untold = Some("what the function computes is not known".into());
                    }
                }
            }
        }
        let mut seen = FxHashSet::default();
        leaves.retain(|leaf| seen.insert((leaf.0, leaf.1)));
        for leaf in &leaves {
            row.params.add(&leaf.2);
        }
        Some(Found { row, weights: leaves, inner })
    }

    /// The multiply-accumulates of an operator, or why they cannot be told.
    fn cost(
        &mut self,
        data: &Data<'db>,
        spot: Spot,
        call: &CallData,
        operator: &Operator,
        result: &Type,
    ) -> (Amount, Option<String>) {
        let macs = match operator.cost {
            Cost::Free | Cost::Elementwise | Cost::Reduction => return (Amount::ZERO, None),
            Cost::Unknown => {
                let why = "nothing is known about what the operator costs";
                return (Amount::untold(), Some(why.into()));
            }
            Cost::Undefined(why) => return (Amount::untold(), Some(why.into())),
            Cost::Macs(macs) => macs,
        };
        let mut types: Vec<Type> = call
            .args
            .iter()
            .map(|&expr| self.sized(data, Spot { unit: spot.unit, expr }))
            .collect();
        types.push(result.clone());
        let measure = |types: &[Type]| {
            let (result, args) = types.split_last()?;
            macs(&CostCall { args, result, attrs: &call.attrs })
        };
        let amount = self.sizes.measure(&types, &measure);
        let untold = (amount.untold_count() > 0).then(|| "its sizes are not known".to_owned());
        (amount, untold)
    }

    fn weight(&mut self, data: &Data<'db>, leaf: Leaf) -> (Def<'db>, Leaf, Amount, Amount) {
        let ty = match leaf {
            Leaf::Constant(spot) => self.sized(data, spot),
            Leaf::Param(binding) => data.view.binding_type(binding).clone(),
        };
        let (elements, bytes) = (self.sizes.elements(&ty), self.sizes.bytes(&ty));
        (data.view.def, leaf, elements, bytes)
    }
}

impl<'db> Summary<'db> {
    fn add(&mut self, row: &Row, inner: Option<&Done<'db>>) {
        self.total.macs.add(&row.macs);
        let Some(inner) = inner else {
            self.total.calls += u64::from(row.is_operator);
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

/// The attributes of a call, as they are written.
fn attributes(data: &Data<'_>, spot: Spot, call: &CallData) -> Vec<(String, String)> {
    let view = &data.view;
    let written = call.written.iter().map(|attribute| {
        let value = view.text(view.place(spot.unit, attribute.value_range));
        (attribute.name.to_string(), value)
    });
    let meta = call
        .meta_attrs
        .iter()
        .map(|(kind, number)| ("attributes".to_owned(), format!("meta[{kind}][{number}]")));
    written.chain(meta).collect()
}

/// What a `span=` comment names, without its line and column: `aten::linear_3:0:0` is
/// `aten::linear_3`.
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

/// A report without rows.
fn named(data: &Data<'_>, which: Which) -> FunctionShapes {
    let view = &data.view;
    let (name, range) = match which {
        Which::Whole => {
            let name = view.def.name(view.db).to_string();
            let name = if name.is_empty() { "expression".to_owned() } else { name };
            (name, view.def.range(view.db))
        }
        Which::Inner(unit, id) => {
            let is_it = |expr: &Expr| matches!(expr, Expr::Fn(own) if *own == id);
            match view.unit(unit).exprs.iter().position(is_it) {
                Some(at) => {
                    let spot = Spot { unit, expr: ExprId(at as u32) };
                    let name = data.names.get(&spot).cloned().unwrap_or_else(|| "fn".to_owned());
                    (name, view.range(spot))
                }
                None => ("fn".to_owned(), TextRange::default()),
            }
        }
    };
    FunctionShapes {
        name,
        range,
        rows: Vec::new(),
        sources: Vec::new(),
        results: Vec::new(),
        functions: Vec::new(),
        total: Total::default(),
        by_operator: Vec::new(),
        by_span: Vec::new(),
        unknowns: Vec::new(),
    }
}

/// The sizes up to the last that a report uses: their numbers stay what they are.
fn used_unknowns(function: &FunctionShapes, all: &[UnknownSize]) -> Vec<UnknownSize> {
    let rows = function.rows.iter().flat_map(|row| [&row.params, &row.macs, &row.bytes, &row.live]);
    let total = &function.total;
    let amounts = rows.chain([&total.params, &total.macs, &total.peak]);
    let last = amounts
        .flat_map(|amount| amount.terms())
        .flat_map(|(factors, _)| factors.iter().map(|(unknown, _)| *unknown as usize + 1))
        .max();
    all[..last.unwrap_or(0).min(all.len())].to_vec()
}
