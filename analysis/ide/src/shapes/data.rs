//! A definition with indexes for the shape report.

use std::{borrow::Cow, ops::Range};

use rustc_hash::FxHashMap;
use semantics::{
    ExprRef, View,
    body::{Expr, ExprId, FnId, LocalRef, Region, Subject, UnitId},
};
use syntax::{Source as _, Text, TextRange, TextSize};

use super::{Input, Source, SourceKind};
use crate::weights::{Leaf, field};

/// The maximal number of expressions to visit for the origins of one argument.
const MAX_SOURCES: usize = 256;
/// The maximal length in bytes of a constant that is named by its text.
const MAX_CONSTANT_NAME: usize = 60;

/// A function: the whole definition, or a function expression inside it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum FunctionId {
    Whole,
    Inner(UnitId, FnId),
}

/// The sources of a function without duplicates.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) list: Vec<Source>,
    index: FxHashMap<Leaf, usize>,
    /// The expressions that are still to be visited, each with the field that is taken of its value. Each search of
    /// origins begins with none, and the next one takes the memory.
    stack: Vec<(ExprRef, Option<u32>)>,
}

/// The origins of values, without duplicates.
#[derive(Default)]
pub(super) struct InputList {
    pub(super) inputs: Vec<Input>,
    /// Indices of `inputs`, with fields that are taken of their results.
    pub(super) fields: Vec<(usize, u32)>,
}

impl InputList {
    fn add(&mut self, input: Input, field: Option<u32>) {
        let known = self.inputs.iter().position(|known| *known == input);
        let at = known.unwrap_or(self.inputs.len());
        if known.is_none() {
            self.inputs.push(input);
        }
        if let (Input::Row(_), Some(field)) = (input, field)
            && !self.fields.contains(&(at, field))
        {
            self.fields.push((at, field));
        }
    }
}

/// A definition with the text of its file.
pub(super) struct Data<'db> {
    pub(super) view: View<'db>,
    text: Text,
}

/// The minimal length of the rest of a comment that names a place after the type: ` span=`.
const MIN_SPAN: u32 = 6;

/// The expressions of a function, excluding those of nested functions.
pub(super) struct Code {
    pub(super) exprs: Vec<ExprRef>,
    pub(super) functions: Vec<(UnitId, FnId)>,
    /// The result of the function.
    pub(super) result: Option<ExprRef>,
}

impl<'db> Data<'db> {
    pub(super) fn new(view: View<'db>) -> Data<'db> {
        let text = view.def.file(view.db).text(view.db);
        Data { view, text }
    }

    /// Returns the name of the variable that an expression is bound to.
    pub(super) fn name(&self, expr_ref: ExprRef) -> Option<String> {
        let unit = self.view.unit(expr_ref.unit);
        Some(unit.binder(unit.bound_to(expr_ref.expr)?).name.as_str().to_owned())
    }

    /// Returns the place in the framework's program that the comment after an expression names.
    pub(super) fn span(&self, expr_ref: ExprRef) -> Option<String> {
        let unit = self.view.unit(expr_ref.unit);
        let about = unit.comment_about(Subject::Expr(expr_ref.expr))?;
        if about.rest < MIN_SPAN {
            return None;
        }
        let end = self.view.place(expr_ref.unit, about.range).end();
        let rest = self.part(TextRange::at(end, TextSize::new(about.rest)))?;
        let (_, span) = rest.strip_suffix("*/").unwrap_or(&rest).rsplit_once("span=")?;
        Some(span.trim().to_owned())
    }

    /// Returns the text of a range, without collecting that of the whole file.
    fn part(&self, range: TextRange) -> Option<Cow<'_, str>> {
        self.text.part(Range::<usize>::from(range))
    }

    /// Returns the text of a range inside of the definition.
    pub(super) fn text(&self, range: TextRange) -> String {
        // Functions of the prelude are in no text.
        self.part(range).map_or_else(|| self.view.text(range), Cow::into_owned)
    }

    /// Returns the parameters of a function.
    pub(super) fn params(&self, which: FunctionId) -> Vec<LocalRef> {
        let (unit, function) = match which {
            FunctionId::Whole => (UnitId::HEADER, self.view.body.header()),
            FunctionId::Inner(unit, id) => (unit, self.view.unit(unit).fns.get(id.index())),
        };
        let params = function.map(|function| function.params.as_slice()).unwrap_or_default();
        params.iter().map(|&binder| LocalRef { unit, binder }).collect()
    }

    /// Returns the expressions of a function.
    pub(super) fn code(&self, which: FunctionId) -> Code {
        let mut code = Code { exprs: Vec::new(), functions: Vec::new(), result: None };
        match which {
            FunctionId::Whole => {
                for (number, unit) in self.view.body.units() {
                    let region = 0..unit.exprs.len() as u32;
                    self.add_exprs(number, region, &mut code);
                    if let Some(root) = unit.root {
                        code.result = Some(ExprRef { unit: number, expr: root });
                    }
                }
            }
            FunctionId::Inner(unit, id) => {
                let function = self.view.unit(unit).fns.get(id.index());
                if let Some(Region { start, end, result }) = function.and_then(|f| f.body) {
                    self.add_exprs(unit, start..end, &mut code);
                    code.result = Some(ExprRef { unit, expr: result });
                }
            }
        }
        code
    }

    /// Adds a range of the expressions of a unit to `code`, except bodies of nested functions.
    pub(super) fn add_exprs(&self, number: UnitId, range: std::ops::Range<u32>, code: &mut Code) {
        let unit = self.view.unit(number);
        let mut at = range.start;
        while at < range.end.min(unit.exprs.len() as u32) {
            let expr_ref = ExprRef { unit: number, expr: ExprId(at) };
            code.exprs.push(expr_ref);
            at += 1;
            if let Expr::EnterFn(id) = unit.expr(expr_ref.expr) {
                code.functions.push((number, *id));
                if let Some(body) = unit.fns.get(id.index()).and_then(|function| function.body) {
                    at = at.max(body.end);
                }
            }
        }
    }

    /// Returns the origins of the arguments of a call.
    pub(super) fn inputs(
        &self,
        expr_ref: ExprRef,
        rows: &FxHashMap<ExprRef, usize>,
        sources: &mut Sources,
    ) -> InputList {
        let Some(call) = self.view.call(expr_ref) else { return InputList::default() };
        let args = call.args.iter().rev();
        self.origins(args.map(|&expr| ExprRef { unit: expr_ref.unit, expr }), rows, sources)
    }

    /// Returns the origins of expressions, those of the last one first.
    pub(super) fn origins(
        &self,
        exprs: impl IntoIterator<Item = ExprRef>,
        rows: &FxHashMap<ExprRef, usize>,
        sources: &mut Sources,
    ) -> InputList {
        let mut found = InputList::default();
        let mut stack = std::mem::take(&mut sources.stack);
        stack.clear();
        stack.extend(exprs.into_iter().map(|expr_ref| (expr_ref, None)));
        for _ in 0..MAX_SOURCES {
            let Some((next, taken)) = stack.pop() else { break };
            let value = self.view.resolve(next);
            if let Some(&row) = rows.get(&value) {
                found.add(Input::Row(row), taken);
                continue;
            }
            let unit = self.view.unit(value.unit);
            let at = |expr: ExprId| ExprRef { unit: value.unit, expr };
            let variable = self.view.variable(value).map(Leaf::Param);
            match unit.expr(value.expr) {
                _ if let Some(leaf) = variable => {
                    found.add(Input::Source(self.source(leaf, sources)), taken);
                }
                Expr::Meta(_) | Expr::Filled(_) | Expr::Literal(_) => {
                    let leaf = Leaf::Constant(value);
                    found.add(Input::Source(self.source(leaf, sources)), taken);
                }
                // Only the projected field is visited, because a wide tuple would be
                // traversed once for each of its projections.
                &Expr::Proj { tuple, index } => {
                    let tuple = self.view.resolve(at(tuple));
                    stack.push(match field(&self.view, tuple, index) {
                        Some(value) => (value, taken),
                        None => (tuple, Some(index)),
                    });
                }
                Expr::Tuple(fields) => {
                    let fields = fields.iter().take(MAX_SOURCES).rev();
                    stack.extend(fields.map(|&expr| (at(expr), None)));
                }
                expr => parts(unit, expr, &mut |expr| stack.push((at(expr), taken))),
            }
        }
        sources.stack = stack;
        found
    }

    /// Returns the index of a source, which is added if it is new.
    fn source(&self, leaf: Leaf, sources: &mut Sources) -> usize {
        *sources.index.entry(leaf).or_insert_with(|| {
            sources.list.push(match leaf {
                Leaf::Param(binding) => Source {
                    name: self.view.binder(binding).name.as_str().to_owned(),
                    ty: self.view.binding_type(binding).clone(),
                    kind: SourceKind::Input,
                    range: self.view.binding_range(binding),
                },
                Leaf::Constant(expr_ref) => {
                    let range = self.view.range(expr_ref);
                    let is_short = usize::from(range.len()) <= MAX_CONSTANT_NAME;
                    let text = is_short.then(|| self.text(range));
                    let name = text.filter(|text| !text.is_empty() && !text.contains('\n'));
                    Source {
                        name: name.unwrap_or_else(|| "constant".to_owned()),
                        ty: self.view.ty(expr_ref).clone(),
                        kind: SourceKind::Constant,
                        range,
                    }
                }
            });
            sources.list.len() - 1
        })
    }
}

impl Sources {
    /// Sets the kind of the parameters that are weights.
    pub(super) fn mark_weights(&mut self, is_weight: impl Fn(Leaf) -> bool) {
        for (&leaf, &at) in &self.index {
            if matches!(leaf, Leaf::Param(_)) && is_weight(leaf) {
                self.list[at].kind = SourceKind::Weight;
            }
        }
    }
}

/// Passes the expressions that the value of an expression may contain to `add`.
pub(super) fn parts(unit: &semantics::body::Unit, expr: &Expr, add: &mut dyn FnMut(ExprId)) {
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
            let call = unit.call(*id);
            call.args.iter().rev().for_each(|&arg| add(arg));
        }
        _ => {}
    }
}
