//! The rows of one function, and what a run of it takes.

use std::{collections::BTreeMap, rc::Rc};

use operators::{Cost, CostCall, Operator};
use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{
    Db, Def, DefKind, Spot, View,
    body::{BinderKind, CallData, Callee, Expr, ExprId, FnId, Region, Subject},
    global,
    scope::Binding,
};
use syntax::{NodeOrToken, SyntaxKind, TextRange, TextSize};
use types::Type;

use super::{
    FunctionShapes, Group, Input, Row, Total, UnknownSize,
    amount::Amount,
    sizes::{Origins, Sizes},
    sorted,
};

/// How deep functions are followed into those that they call.
const MAX_DEPTH: usize = 48;
/// How many expressions are looked at to find out where one argument comes from.
const MAX_SOURCES: usize = 256;

/// A function: a definition, or a function expression of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Which {
    Whole,
    Inner(usize, FnId),
}

/// A tensor that a function is given: by a parameter, or as a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Leaf {
    Param(Binding),
    Constant(Spot),
}

/// A definition, with what is looked up in it again and again.
struct Data<'db> {
    view: View<'db>,
    values: FxHashMap<Binding, Spot>,
    /// Names of variables by the expressions that they are bound to.
    names: FxHashMap<Spot, String>,
    /// What `span=` comments say, by where the comment begins.
    spans: Vec<(TextSize, String)>,
}

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
    with_spans: bool,
    data: FxHashMap<Def<'db>, Rc<Data<'db>>>,
    origins: FxHashMap<Def<'db>, Origins>,
    sizes: Sizes,
    known: FxHashMap<(Def<'db>, Which), Rc<Done<'db>>>,
    active: FxHashSet<(Def<'db>, Which)>,
}

/// A function that has been looked at.
struct Done<'db> {
    rows: Vec<Row>,
    inner: Vec<FnId>,
    inner_units: Vec<usize>,
    summary: Summary<'db>,
}

impl<'db> Reporter<'db> {
    /// `with_spans`: what `span=` comments say is looked up, which takes a look at every token.
    pub(super) fn new(db: &'db dyn Db, with_spans: bool) -> Reporter<'db> {
        Reporter {
            db,
            with_spans,
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
        let data = Rc::new(Data::new(View::new(self.db, def)?, self.with_spans));
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
        for (row, &spot) in rows.iter_mut().zip(&spots) {
            row.inputs = data.inputs(spot, &index);
        }
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
        Done { rows, inner, inner_units, summary }
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
                merge(&mut self.by_span, &Group { name: source_name(span), ..group.clone() });
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

/// `aten::linear_3:0:0` → `aten::linear_3`
fn source_name(span: &str) -> String {
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

/// The expressions of a function, without those of functions in it.
struct Code {
    exprs: Vec<Spot>,
    functions: Vec<(usize, FnId)>,
    /// The expression that the function gives.
    result: Option<Spot>,
}

impl<'db> Data<'db> {
    fn new(view: View<'db>, with_spans: bool) -> Data<'db> {
        let mut values = FxHashMap::default();
        let mut names = FxHashMap::default();
        for (number, unit) in view.body.units.iter().enumerate() {
            for expr in &unit.exprs {
                let Expr::Bind { binder, value } = expr else { continue };
                let value = Spot { unit: number, expr: *value };
                values.insert(Binding { unit: number as u32, binder: *binder }, value);
                names.entry(value).or_insert_with(|| unit.binder(*binder).name.to_string());
            }
        }
        let mut spans = Vec::new();
        if with_spans && view.body.units.iter().any(|unit| !unit.evidence.is_empty()) {
            let mut stack = vec![view.def.node(view.db)];
            while let Some(node) = stack.pop() {
                for element in node.elements() {
                    match element {
                        NodeOrToken::Node(child) => stack.push(child),
                        NodeOrToken::Token(token) if token.kind() == SyntaxKind::BLOCK_COMMENT => {
                            if let Some((_, span)) = token.text().rsplit_once("span=") {
                                let span = span.trim_end_matches("*/").trim();
                                spans.push((token.start(), span.to_owned()));
                            }
                        }
                        NodeOrToken::Token(_) => {}
                    }
                }
            }
            spans.sort_by_key(|(start, _)| *start);
        }
        Data { view, values, names, spans }
    }

    /// The place in the framework's program that a comment behind an expression names.
    fn span(&self, spot: Spot) -> Option<String> {
        if self.spans.is_empty() {
            return None;
        }
        let unit = self.view.unit(spot.unit);
        let about = unit.evidence.iter().find(|e| e.about == Subject::Expr(spot.expr))?;
        let at = about.range.start() + self.view.body.starts[spot.unit];
        let before = self.spans.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
        // The comment that begins in front of the type is the one that holds it.
        let (start, span) = &self.spans[before];
        (at - *start < TextSize::new(16)).then(|| span.clone())
    }

    /// Follows variables to what they are bound to.
    fn resolve(&self, mut spot: Spot) -> Spot {
        for _ in 0..10_000 {
            match self.view.variable(spot).and_then(|binding| self.values.get(&binding)) {
                Some(&value) => spot = value,
                None => break,
            }
        }
        spot
    }

    /// The parameters of a function.
    fn params(&self, which: Which) -> Vec<Binding> {
        let (unit, function) = match which {
            Which::Whole => (0, self.view.body.header()),
            Which::Inner(unit, id) => (unit, self.view.unit(unit).fns.get(id.index())),
        };
        let params = function.map(|function| function.params.as_slice()).unwrap_or_default();
        params.iter().map(|&binder| Binding { unit: unit as u32, binder }).collect()
    }

    fn code(&self, which: Which) -> Code {
        let mut code = Code { exprs: Vec::new(), functions: Vec::new(), result: None };
        match which {
            Which::Whole => {
                for (number, unit) in self.view.body.units.iter().enumerate() {
                    let region = 0..unit.exprs.len() as u32;
                    self.stretch(number, region, &mut code);
                    if let Some(root) = unit.root {
                        code.result = Some(Spot { unit: number, expr: root });
                    }
                }
            }
            Which::Inner(unit, id) => {
                let function = self.view.unit(unit).fns.get(id.index());
                if let Some(Region { start, end, result }) = function.and_then(|f| f.body) {
                    self.stretch(unit, start..end, &mut code);
                    code.result = Some(Spot { unit, expr: result });
                }
            }
        }
        code
    }

    fn stretch(&self, number: usize, range: std::ops::Range<u32>, code: &mut Code) {
        let unit = self.view.unit(number);
        let mut at = range.start;
        while at < range.end.min(unit.exprs.len() as u32) {
            let spot = Spot { unit: number, expr: ExprId(at) };
            code.exprs.push(spot);
            at += 1;
            if let Expr::EnterFn(id) = unit.expr(spot.expr) {
                code.functions.push((number, *id));
                if let Some(body) = unit.fns.get(id.index()).and_then(|function| function.body) {
                    at = at.max(body.end);
                }
            }
        }
    }

    /// The parameter or constant that an expression is, but for how it is laid out: `transpose(%w)`
    /// is `%w`.
    fn leaf(&self, mut spot: Spot) -> Option<Leaf> {
        for _ in 0..64 {
            spot = self.resolve(spot);
            if let Some(binding) = self.view.variable(spot) {
                let kind = self.view.binder(binding).kind;
                let is_given = matches!(kind, BinderKind::Param | BinderKind::Free);
                return is_given.then_some(Leaf::Param(binding));
            }
            let unit = self.view.unit(spot.unit);
            match unit.expr(spot.expr) {
                Expr::Meta(_) | Expr::Filled(_) => return Some(Leaf::Constant(spot)),
                Expr::Call(id) => {
                    let call = unit.call(*id);
                    match (&call.callee, call.args[..].first()) {
                        (Callee::Operator(operator), Some(&first))
                            if call.args.len() == 1 && keeps_data(operator) =>
                        {
                            spot = Spot { unit: spot.unit, expr: first };
                        }
                        _ => return None,
                    }
                }
                Expr::Proj { tuple, index } => {
                    let tuple = self.resolve(Spot { unit: spot.unit, expr: *tuple });
                    match self.view.unit(tuple.unit).expr(tuple.expr) {
                        Expr::Tuple(fields) => {
                            let &expr = fields.get(*index as usize)?;
                            spot = Spot { unit: tuple.unit, expr };
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        None
    }

    /// The parameters that are the first argument of some operator: what the function works on.
    fn data_inputs(&self, code: &Code) -> FxHashSet<Leaf> {
        let mut found = FxHashSet::default();
        for spot in &code.exprs {
            let unit = self.view.unit(spot.unit);
            let Expr::Call(id) = unit.expr(spot.expr) else { continue };
            let call = unit.call(*id);
            let Callee::Operator(operator) = &call.callee else { continue };
            if keeps_data(operator) || operator.name == "take" || operator.args == ["lhs", "rhs"] {
                continue;
            }
            let first = call.args.first().map(|&expr| Spot { unit: spot.unit, expr });
            if let Some(leaf @ Leaf::Param(_)) = first.and_then(|first| self.leaf(first)) {
                found.insert(leaf);
            }
        }
        found
    }

    /// The weights among the arguments of an operator.
    fn weights_of(&self, spot: Spot, call: &CallData, operator: &Operator) -> Vec<Leaf> {
        if operator.variadic || call.args.len() == 1 && keeps_data(operator) {
            return Vec::new();
        }
        let leaves: Vec<Option<Leaf>> =
            call.args.iter().map(|&expr| self.leaf(Spot { unit: spot.unit, expr })).collect();
        let names = operator.args;
        let mut found = Vec::new();
        for (at, leaf) in leaves.iter().enumerate() {
            let Some(leaf) = *leaf else { continue };
            let name = names.get(at).copied().unwrap_or_default();
            let counts = match leaf {
                _ if is_index(name) => false,
                Leaf::Constant(_) => true,
                Leaf::Param(_) if names == ["lhs", "rhs"] => {
                    leaves.get(1 - at.min(1)).is_some_and(Option::is_none)
                }
                Leaf::Param(_) if at == 0 => operator.name == "take",
                Leaf::Param(_) => true,
            };
            if counts {
                found.push(leaf);
            }
        }
        found
    }

    /// Where the arguments of a call come from.
    fn inputs(&self, spot: Spot, rows: &FxHashMap<Spot, usize>) -> Vec<Input> {
        let unit = self.view.unit(spot.unit);
        let Expr::Call(id) = unit.expr(spot.expr) else { return Vec::new() };
        let mut found: Vec<Input> = Vec::new();
        let mut stack: Vec<Spot> =
            unit.call(*id).args.iter().rev().map(|&expr| Spot { unit: spot.unit, expr }).collect();
        for _ in 0..MAX_SOURCES {
            let Some(next) = stack.pop() else { break };
            let value = self.resolve(next);
            let input = match rows.get(&value) {
                Some(&row) => Some(Input::Row(row)),
                None => match self.view.variable(value) {
                    Some(binding) => {
                        Some(Input::Variable(self.view.binder(binding).name.to_string()))
                    }
                    None => {
                        let of = self.view.unit(value.unit);
                        match of.expr(value.expr) {
                            Expr::Meta(_) | Expr::Filled(_) | Expr::Literal(_) => {
                                Some(Input::Constant)
                            }
                            expr => {
                                parts(of, expr, &mut |expr| {
                                    stack.push(Spot { unit: value.unit, expr });
                                });
                                None
                            }
                        }
                    }
                },
            };
            if let Some(input) = input.filter(|input| !found.contains(input)) {
                found.push(input);
            }
        }
        found
    }
}

/// Operators that give the same data in another form.
fn keeps_data(operator: &Operator) -> bool {
    matches!(
        operator.name,
        "transpose"
            | "reshape"
            | "broadcast_to"
            | "cast"
            | "expand_dims"
            | "squeeze"
            | "layout_transform"
            | "nn.batch_flatten"
            | "contrib_reverse_reshape"
            | "copy"
            | "annotation.stop_fusion"
            | "device_copy"
            | "on_device"
            | "nn.contrib_dense_pack"
    )
}

/// Arguments that say where or how much, and are no weights.
fn is_index(name: &str) -> bool {
    name.contains("ind")
        || matches!(
            name,
            "shape"
                | "newshape"
                | "new_shape"
                | "prev_shape"
                | "begin"
                | "end"
                | "strides"
                | "axis"
                | "axes"
                | "size"
                | "k"
                | "reps"
                | "depth"
                | "condition"
                | "valid_length"
                | "sequence_length"
                | "seq_lengths"
                | "key"
                | "pad_width"
        )
}

/// The expressions whose values an expression holds or passes on.
fn parts(unit: &semantics::body::Unit, expr: &Expr, add: &mut dyn FnMut(ExprId)) {
    match expr {
        Expr::Tuple(fields) => fields.iter().rev().for_each(|&field| add(field)),
        Expr::Proj { tuple, .. } | Expr::Dotted { tuple, .. } => add(*tuple),
        Expr::If { then, otherwise, .. } => {
            add(otherwise.result);
            add(then.result);
        }
        Expr::Match(id) => {
            if let Some(found) = unit.matches.get(id.index()) {
                found.arms.iter().rev().for_each(|arm| add(arm.body.result));
                add(found.scrutinee);
            }
        }
        Expr::RefNew(value) | Expr::RefRead(value) => add(*value),
        Expr::RefWrite(reference, value) => {
            add(*reference);
            add(*value);
        }
        Expr::Call(id) => {
            // Constructors hold their fields; what is called otherwise makes values of its own.
            let call = unit.call(*id);
            call.args.iter().rev().for_each(|&arg| add(arg));
        }
        _ => {}
    }
}

/// Finds how much memory the results take that are there at each row.
///
/// Each expression is used last at the latest use of whatever holds it: a tuple that is read later
/// keeps its fields. Going back from the end, each expression hands its last use on to its parts.
fn memory(data: &Data<'_>, code: &Code, spots: &[Spot], rows: &mut [Row]) {
    let times: FxHashMap<Spot, u32> =
        code.exprs.iter().enumerate().map(|(at, &spot)| (spot, at as u32)).collect();
    let mut last = vec![0u32; code.exprs.len()];
    let is_row: FxHashSet<Spot> = spots.iter().copied().collect();
    let reach = |last: &mut Vec<u32>, spot: Spot, time: u32| {
        if let Some(&at) = times.get(&spot) {
            last[at as usize] = last[at as usize].max(time);
        }
    };
    if let Some(result) = code.result {
        reach(&mut last, result, u32::MAX);
    }
    for (time, &spot) in code.exprs.iter().enumerate().rev() {
        let unit = data.view.unit(spot.unit);
        let at = |expr: ExprId| Spot { unit: spot.unit, expr };
        let own = last[time];
        let now = time as u32;
        match unit.expr(spot.expr) {
            Expr::Call(id) if is_row.contains(&spot) => {
                let call = unit.call(*id);
                call.args.iter().for_each(|&arg| reach(&mut last, at(arg), now));
                if let Callee::Expr(callee) = &call.callee {
                    reach(&mut last, at(*callee), now);
                }
            }
            Expr::Condition(cond) => reach(&mut last, at(*cond), now),
            // A function holds what it uses of what is outside of it.
            Expr::Fn(id) => {
                if let Some(body) = unit.fns.get(id.index()).and_then(|function| function.body) {
                    for inner in body.start..body.end.min(unit.exprs.len() as u32) {
                        let inner = at(ExprId(inner));
                        if let Some(binding) = data.view.variable(inner)
                            && let Some(&value) = data.values.get(&binding)
                        {
                            reach(&mut last, value, own);
                        }
                    }
                }
            }
            Expr::Bound(_) | Expr::Free(_) => {
                if let Some(binding) = data.view.variable(spot)
                    && let Some(&value) = data.values.get(&binding)
                {
                    reach(&mut last, value, own);
                }
            }
            expr => {
                if let Expr::Dotted { .. } = expr
                    && let Some(binding) = data.view.variable(spot)
                    && let Some(&value) = data.values.get(&binding)
                {
                    reach(&mut last, value, own);
                }
                // Matching looks at its value when it begins, too.
                parts(unit, expr, &mut |part| reach(&mut last, at(part), own.max(now)));
            }
        }
    }
    // Rows by when they are used last.
    let mut ends: Vec<(u32, usize)> = spots
        .iter()
        .enumerate()
        .map(|(row, spot)| (times.get(spot).map_or(0, |&at| last[at as usize].max(at)), row))
        .collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let mut live = Amount::ZERO;
    for at in 0..rows.len() {
        let now = times.get(&spots[at]).copied().unwrap_or_default();
        while let Some((_, gone)) = ends.next_if(|&(end, row)| end < now && row < at) {
            live.subtract(&rows[gone].bytes);
        }
        live.add(&rows[at].bytes);
        rows[at].live = live.clone();
    }
}
