//! Rewriting of the calls in a module of another release for TVM 0.14, with the same meaning.
//!
//! A module of TVM 0.6 has `nn.batch_matmul(%a, %b)`, which transposes `%b`, and `nn.pad(%x, pad_value=1f, …)`.
//! Once the version line is replaced, nothing says so any more: the calls become
//! `nn.batch_matmul(%a, %b, transpose_b=True)` and `nn.pad(%x, 1f, …)`.

use ::types::{AttrDefault, AttrValue, DataType, Release};
use operators::{Becomes, CallForm, FormerAttr, Operator};
use syntax::{TextRange, TextSize};

use super::Edit;
use crate::{body::*, db::Db, item::Module, view::View};

/// Returns the edits of the calls of a module; `None` if a call means something else in 0.14 and cannot be
/// written there.
pub(super) fn calls(db: &dyn Db, module: Module<'_>, release: Release) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    for &def in module.items(db) {
        let Some(view) = View::new(db, def) else { continue };
        for (number, unit) in view.body.units() {
            for (expr_ref, expr, _) in view.exprs(number) {
                let Expr::Call(call) = expr else { continue };
                let call = unit.call(*call);
                let Callee::Operator(operator) = &call.callee else { continue };
                CallRewrite { view: &view, expr_ref, call, release }
                    .add_to(operator, &mut edits)?;
            }
        }
    }
    Some(edits)
}

/// A call that is rewritten.
struct CallRewrite<'v, 'db> {
    view: &'v View<'db>,
    expr_ref: ExprRef,
    call: &'v CallData,
    release: Release,
}

impl CallRewrite<'_, '_> {
    /// Adds the edits of the call; `None` if it means something else in 0.14 and cannot be written there.
    fn add_to(&self, operator: &'static Operator, edits: &mut Vec<Edit>) -> Option<()> {
        let call = self.call;
        if operator.is_another {
            // A row of other releases alone: a call that 0.14 takes means something else there, and so would
            // one whose former name is replaced.
            let is_renamed =
                operators::find(operator.name).is_some_and(|it| !it.formerly.is_empty());
            return (!is_renamed && !call.releases.has(Release::DEFAULT)).then_some(());
        }
        let is_of_release = |form: &&CallForm| form.releases.has(self.release);
        let Some(form) = operator.forms.iter().find(is_of_release) else { return Some(()) };
        if !call.releases.has(self.release) || call.meta_attrs.is_some() || call.infix {
            return Some(());
        }
        // Attributes without a counterpart stay, and the call is that of its release.
        let former = |attr: &WrittenAttr| form.attr(&attr.name);
        let stays = |attr: &FormerAttr| attr.becomes == Becomes::Nothing;
        if call.written.iter().filter_map(former).any(stays) {
            return Some(());
        }
        self.rewrite(operator, form, edits);
        Some(())
    }

    fn rewrite(&self, operator: &Operator, form: &CallForm, edits: &mut Vec<Edit>) {
        let (view, unit, call) = (self.view, self.expr_ref.unit, self.call);
        let of = |expr: ExprId| view.range(ExprRef { unit, expr });
        // What follows are literals that lowering made of attributes.
        let args = &call.args[..form.args.min(call.args.len())];
        let Some(last) = args.last().map(|&expr| of(expr).end()) else { return };
        let mut end = last;
        for attr in &call.written {
            let attr_end = view.place(unit, attr.value_range).end();
            if form.attr(&attr.name).is_some() {
                edits.push((TextRange::new(end, attr_end), String::new()));
            }
            end = attr_end;
        }
        let mut arguments: Vec<(usize, String)> = Vec::new();
        for attr in form.attrs {
            let Becomes::Argument(position, dtype) = attr.becomes else { continue };
            let written = call.written.iter().find(|written| written.name == attr.field.name);
            let value = written.map_or_else(|| attr.field.default.into(), |w| w.value.clone());
            let dtype = dtype
                .or_else(|| view.ty(ExprRef { unit, expr: args[0] }).as_tensor().map(|t| t.dtype));
            arguments.push((position, literal(&value, dtype)));
        }
        arguments.sort_by_key(|(position, _)| *position);
        let arguments: String = arguments.iter().map(|(_, text)| format!(", {text}")).collect();
        let today = |name: &str| {
            operator.schema.and_then(|schema| schema.fields.iter().find(|field| field.name == name))
        };
        let absent = form.defaults.iter().filter(|(name, default)| {
            !call.written.iter().any(|attr| attr.name == *name)
                && today(name).is_some_and(|field| field.default != *default)
        });
        let attrs: String =
            absent.map(|(name, default)| format!(", {name}={}", text(default))).collect();
        insert(edits, last, arguments);
        insert(edits, end, attrs);
    }
}

/// Adds an insertion; insertions at the same place are one edit.
fn insert(edits: &mut Vec<Edit>, at: TextSize, text: String) {
    let at = TextRange::empty(at);
    match edits.last_mut() {
        _ if text.is_empty() => {}
        Some((range, known)) if *range == at => known.push_str(&text),
        _ => edits.push((at, text)),
    }
}

/// Returns a literal of a data type: `0.5f`, `3`, `cast(1f, dtype="float16")`.
fn literal(value: &AttrValue, dtype: Option<DataType>) -> String {
    let number =
        value.as_int().map(|value| value as f64).or_else(|| value.as_float()).unwrap_or(0.0);
    match dtype {
        Some(DataType::FLOAT32) | None => format!("{number}f"),
        Some(DataType::INT32) => format!("{}", number as i64),
        Some(dtype) if dtype.is_int() => format!("cast({}, dtype=\"{dtype}\")", number as i64),
        Some(dtype) => format!("cast({number}f, dtype=\"{dtype}\")"),
    }
}

/// Returns a default as it is written.
fn text(default: &AttrDefault) -> String {
    fn list<T: ToString>(values: &[T]) -> String {
        let values: Vec<String> = values.iter().map(T::to_string).collect();
        format!("[{}]", values.join(", "))
    }
    match default {
        AttrDefault::Required | AttrDefault::None => "None".to_owned(),
        AttrDefault::Int(value) => value.to_string(),
        AttrDefault::Bool(true) => "True".to_owned(),
        AttrDefault::Bool(false) => "False".to_owned(),
        AttrDefault::Float(value) => format!("{value}f"),
        AttrDefault::Str(value) => format!("\"{value}\""),
        AttrDefault::DType(dtype) => format!("\"{dtype}\""),
        AttrDefault::Ints(values) => list(values),
        AttrDefault::Floats(values) => {
            list(&values.iter().map(|value| format!("{value}f")).collect::<Vec<_>>())
        }
    }
}
