//! Calls of the tests, from which random calls are derived.

use std::{collections::BTreeMap, sync::LazyLock};

use operators::Operator;
use types::{AttrField, AttrType, AttrValue, Attrs, Type};

use super::{Arg, Call, Elements, Form};
use crate::{
    calls,
    kernel_calls::{Array, Case, cases},
};

/// Operators that no text can call, with the reason.
pub const WITHOUT_CALL: &[(&str, &str)] = &[
    ("parser.MetaRef", "`meta[relay.Constant][0]` is the entry itself as soon as a text is read"),
    ("meta_schedule_layout_transform", "its index map is an object of TIR in the metadata section"),
];

/// Returns the operators that have valid calls.
pub fn callable() -> impl Iterator<Item = &'static Operator> {
    let is_typed = |operator: &&Operator| operator.rule.is_some_and(|(name, _)| !name.is_empty());
    let has_call = |operator: &&Operator| {
        let name = operator.name;
        WITHOUT_CALL.iter().all(|(other, _)| *other != name)
    };
    operators::all().filter(is_typed).filter(has_call)
}

/// The seeds of all operators.
#[derive(Default)]
pub(super) struct Seeds {
    /// The calls, by the name of the operator.
    calls: BTreeMap<&'static str, Vec<Call>>,
    /// The values of attributes that are strings or of any type, by the name of the attribute.
    words: BTreeMap<&'static str, Vec<AttrValue>>,
}

/// Reads the seeds, which takes longer than a call.
pub fn read_seeds() {
    seeds();
}

/// Returns the seeds, which are read once.
pub(super) fn seeds() -> &'static Seeds {
    static SEEDS: LazyLock<Seeds> = LazyLock::new(Seeds::of_tests);
    &SEEDS
}

impl Seeds {
    fn of_tests() -> Seeds {
        let mut seeds = Seeds::default();
        for call in calls::of_pages() {
            seeds.add(&call, None);
        }
        for case in cases() {
            let types: Vec<Type> = case.args.iter().map(|arg| arg.tensor().ty()).collect();
            for call in calls::of_text(&case.text()) {
                let is_whole = call.args == types;
                if !seeds.add(&call, is_whole.then_some(&case.args[..])) {
                    seeds.add_text(call.operator, &case);
                }
            }
        }
        seeds
    }

    /// Returns the calls of an operator.
    pub(super) fn of(&self, operator: &Operator) -> &[Call] {
        self.calls.get(operator.name).map_or(&[], Vec::as_slice)
    }

    /// Returns the values that attributes of this name have in tests.
    pub(super) fn words(&self, field: &AttrField) -> &[AttrValue] {
        self.words.get(field.name).map_or(&[], Vec::as_slice)
    }

    /// Adds a call. Returns false if its text does not follow from its types and attributes.
    fn add(&mut self, call: &calls::Call, data: Option<&[Array]>) -> bool {
        let args = call.args.iter().map(Arg::of).collect::<Option<Vec<Arg>>>();
        let (Some(mut args), Some(attrs)) = (args, self.attrs(&call.attrs)) else { return false };
        for (arg, array) in args.iter_mut().zip(data.unwrap_or_default()) {
            let elements = Elements::Given(array.tensor().to_f64s());
            arg.each(&mut |tensor| tensor.elements = elements.clone());
        }
        let form = Form::Table(attrs);
        let call = Call { operator: call.operator, form, args, is_squared: false };
        self.calls.entry(call.operator.name).or_default().push(call);
        true
    }

    fn add_text(&mut self, operator: &'static Operator, case: &Case) {
        let args = case.args.iter().map(|array| {
            let elements = Elements::Given(array.tensor().to_f64s());
            let mut arg = Arg::of(&array.tensor().ty())?;
            arg.each(&mut |tensor| tensor.elements = elements.clone());
            Some(arg)
        });
        let Some(args) = args.collect::<Option<Vec<Arg>>>() else { return };
        let form = Form::Text {
            before: case.before.clone(),
            expr: case.expr.clone(),
            after: case.after.clone(),
        };
        let call = Call { operator, form, args, is_squared: false };
        self.calls.entry(operator.name).or_default().push(call);
    }

    /// Returns the attributes that differ from their defaults. `None` if a value has no text.
    fn attrs(&mut self, attrs: &Attrs) -> Option<Vec<(&'static AttrField, AttrValue)>> {
        let Some(schema) = attrs.schema() else { return Some(Vec::new()) };
        let fields = schema.fields.iter().zip(attrs.values());
        let written: Vec<_> = fields
            .filter(|(field, value)| AttrValue::from(field.default) != **value)
            .map(|(field, value)| (field, value.clone()))
            .collect();
        if written.iter().any(|(_, value)| !has_text(value)) {
            return None;
        }
        for (field, value) in &written {
            if matches!(field.ty, AttrType::Str | AttrType::Layout | AttrType::Any) {
                let known = self.words.entry(field.name).or_default();
                if !known.contains(value) {
                    known.push(value.clone());
                }
            }
        }
        Some(written)
    }
}

/// Returns true if a value can be written without a metadata section.
fn has_text(value: &AttrValue) -> bool {
    match value {
        AttrValue::Meta { .. } | AttrValue::Opaque | AttrValue::Error | AttrValue::Dim(_) => false,
        AttrValue::List(values) => values.iter().all(has_text),
        _ => true,
    }
}
