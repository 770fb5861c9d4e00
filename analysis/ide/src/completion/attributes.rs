//! Completion of attributes and their values.

use operators::{Operator, attrs::AttrProblem};
use types::{AttrDefault, AttrField, AttrType};

use super::{DATA_TYPES, Item, ItemKind, List, Lookup, item};
use crate::{
    cursor::{CallSite, CalleeSyntax},
    words,
};

/// The layouts to offer for an attribute that accepts any layout of data.
const DATA_LAYOUTS: &[&str] =
    &["NCHW", "NHWC", "NCHW4c", "NCHW16c", "NCW", "NWC", "NCDHW", "NDHWC"];
/// The layouts to offer for an attribute that accepts any layout of a kernel.
const KERNEL_LAYOUTS: &[&str] =
    &["OIHW", "HWIO", "OHWI", "HWOI", "IOHW", "OIW", "WIO", "OIDHW", "DHWIO"];

/// Returns the operator that a call site names.
pub(crate) fn operator_of(call: &CallSite<'_>) -> Option<&'static Operator> {
    match &call.callee {
        CalleeSyntax::Name(name) => operators::named(name),
        _ => None,
    }
}

/// Returns a placeholder value.
pub(super) fn example(ty: AttrType) -> String {
    match ty {
        AttrType::Int | AttrType::OptionalInt | AttrType::Dim => "0".into(),
        AttrType::Bool => "True".into(),
        AttrType::Float => "1f".into(),
        AttrType::Str => "\"\"".into(),
        AttrType::Choice(choices) => format!("\"{}\"", choices.first().unwrap_or(&"")),
        AttrType::Layout => "\"NCHW\"".into(),
        AttrType::DType => "\"float32\"".into(),
        AttrType::Dims | AttrType::Ints | AttrType::OptionalInts => "[1, 1]".into(),
        AttrType::Floats => "[1f]".into(),
        AttrType::IntLists | AttrType::DimLists => "[[0, 0], [0, 0]]".into(),
        AttrType::Constant => "meta[relay.Constant][0]".into(),
        AttrType::VirtualDevice | AttrType::Object | AttrType::Any => "None".into(),
    }
}

impl List<'_, '_> {
    /// Adds the attributes of the operator that are not written yet.
    pub(super) fn attributes(&mut self, call: &CallSite<'_>) {
        let Some(operator) = operator_of(call) else { return };
        let Some(schema) = operator.schema.filter(|_| !operator.detached) else { return };
        // Attributes come first once all arguments are written.
        let class = if call.argument >= operator.args.len() { 0 } else { 2 };
        for (order, field) in schema.fields.iter().enumerate() {
            if call.before.attributes.contains(&field.name) {
                continue;
            }
            let required = field.default == AttrDefault::Required;
            let order = order as u32 + if required { 0 } else { 1_000 };
            let mut entry = Item {
                detail: Some(describe(field)),
                lookup: Some(Lookup::Attribute(operator.name.to_owned(), field.name.to_owned())),
                ..item(format!("{}=", field.name), ItemKind::Attribute)
            };
            if !matches!(
                field.ty,
                AttrType::Layout | AttrType::Choice(_) | AttrType::DType | AttrType::Bool
            ) {
                let value = words::default(&field.default).unwrap_or_else(|| example(field.ty));
                let snippet = format!("{}=${{1:{}}}$0", field.name, super::escaped(&value));
                entry = self.expanded(entry, snippet);
            }
            self.add(class, order, entry);
        }
    }

    /// Adds the values that an attribute accepts.
    pub(super) fn attribute_values(
        &mut self,
        call: Option<&CallSite<'_>>,
        name: &str,
        in_list: bool,
        in_string: bool,
    ) {
        let Some(operator) = call.and_then(operator_of) else { return };
        let Some(field) = operator.schema.and_then(|schema| schema.field(name)) else { return };
        let quoted = |text: &str| if in_string { text.to_owned() } else { format!("\"{text}\"") };
        let default = words::default(&field.default);
        let mut values: Vec<String> = Vec::new();
        match field.ty {
            AttrType::Bool if !in_string => values.extend(["True".into(), "False".into()]),
            AttrType::Choice(choices) => values.extend(choices.iter().map(|c| quoted(c))),
            AttrType::DType => {
                values.extend(DATA_TYPES.iter().map(|name| quoted(name)));
            }
            AttrType::Layout => {
                let is_kernel = field.name.contains("kernel") || field.name.contains("weight");
                let layouts = if is_kernel { KERNEL_LAYOUTS } else { DATA_LAYOUTS };
                values.extend(layouts.iter().map(|name| quoted(name)));
            }
            AttrType::Dims | AttrType::Ints | AttrType::OptionalInts if !in_list && !in_string => {
                values.extend(["[1, 1]".into(), "[0, 0, 0, 0]".into()]);
            }
            _ => {}
        }
        if !in_list && !in_string {
            if matches!(field.ty, AttrType::OptionalInt | AttrType::OptionalInts | AttrType::Dim) {
                values.push("None".into());
            }
            values.extend(default.clone());
        }
        let mut seen: Vec<&str> = Vec::new();
        for (order, value) in values.iter().enumerate() {
            if seen.contains(&value.as_str()) || value.is_empty() {
                continue;
            }
            seen.push(value);
            let is_default =
                default.as_ref().is_some_and(|d| d.trim_matches('"') == value.trim_matches('"'));
            let detail = is_default.then(|| "the default".to_owned());
            let mut entry = Item { detail, ..item(value.as_str(), ItemKind::Value) };
            entry.lookup = Some(Lookup::Attribute(operator.name.to_owned(), field.name.to_owned()));
            // Quotes may or may not be typed, so that they are ignored.
            let fit = super::fit(self.typed.trim_matches('"'), value.trim_matches('"'));
            if let Some(fit) = fit {
                entry.rank = (fit, u8::from(!is_default), order as u32);
                self.items.push(entry);
            }
        }
    }
}

/// Describes the type and default of an attribute: `an integer = 1`, `a dimension or None,
/// required`.
pub(crate) fn describe(field: &AttrField) -> String {
    let ty = AttrProblem::describe(field.ty).replace('`', "");
    match words::default(&field.default) {
        Some(default) => format!("{ty} = {default}"),
        None => format!("{ty}, required"),
    }
}
