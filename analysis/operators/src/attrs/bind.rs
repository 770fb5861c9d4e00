//! Written attributes to values: names, types, defaults.

use smallvec::SmallVec;
use types::{AttrDefault, AttrSchema, AttrType, AttrValue, Attrs, DataType};

/// One attribute as it was written.
#[derive(Clone, Debug)]
pub struct Written<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: AttrValue,
}

/// What is wrong with the attributes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrProblem {
    /// The operator has no attribute of this name.
    Unknown {
        /// Which of the written attributes.
        written: usize,
        /// The declared name that is nearest.
        nearest: Option<&'static str>,
    },
    /// The value is of the wrong kind.
    Type {
        /// Which of the written attributes.
        written: usize,
        /// What the attribute takes.
        wanted: AttrType,
    },
    /// An attribute without default is not written.
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// The attribute is written twice.
    Twice {
        /// Which of the written attributes comes second.
        written: usize,
    },
}

/// The attributes of a call from what is written, with everything that is wrong in it. A value
/// that is wrong or missing reads as an error, so that whoever needs it stays silent.
pub fn bind(
    schema: &'static AttrSchema,
    written: &[Written<'_>],
) -> (Attrs, SmallVec<[AttrProblem; 1]>) {
    let mut problems = SmallVec::new();
    let mut values: SmallVec<[Option<AttrValue>; 16]> =
        schema.fields.iter().map(|_| None).collect();
    for (index, attr) in written.iter().enumerate() {
        let Some(position) = schema.position(attr.name) else {
            let nearest = nearest(attr.name, schema.fields.iter().map(|f| f.name));
            problems.push(AttrProblem::Unknown { written: index, nearest });
            continue;
        };
        let wanted = schema.fields[position].ty;
        let value = convert(wanted, &attr.value).unwrap_or_else(|| {
            problems.push(AttrProblem::Type { written: index, wanted });
            AttrValue::Error
        });
        if values[position].is_some() {
            problems.push(AttrProblem::Twice { written: index });
        }
        values[position] = Some(value);
    }
    let fill = |(field, value): (&types::AttrField, Option<AttrValue>)| {
        value.unwrap_or_else(|| {
            if field.default == AttrDefault::Required {
                problems.push(AttrProblem::Missing { name: field.name });
            }
            field.default.into()
        })
    };
    let values: Vec<AttrValue> = schema.fields.iter().zip(values).map(fill).collect();
    (Attrs::new(schema, values), problems)
}

/// `value` as an attribute of type `ty`, or nothing if it cannot be one.
fn convert(ty: AttrType, value: &AttrValue) -> Option<AttrValue> {
    use AttrValue::{Bool, Constant, DType, Error, Float, Int, List, Opaque, Str};
    let list_of = |item: fn(&AttrValue) -> bool| match value {
        List(values) => values.iter().all(|v| item(v) || matches!(v, Error | AttrValue::Meta { .. })).then(|| value.clone()),
        _ => None,
    };
    let is_int = |v: &AttrValue| matches!(v, Int { .. } | Bool(_));
    let is_dim = |v: &AttrValue| matches!(v, Int { .. } | Bool(_) | AttrValue::Dim(_) | Float(_));
    match (ty, value) {
        (_, Error) => Some(Error),
        // Whether an entry of the metadata section fits is seen when it is looked up.
        (_, AttrValue::Meta { .. }) => Some(value.clone()),
        (AttrType::Any | AttrType::VirtualDevice, value) => Some(value.clone()),
        (AttrType::Int, Int { .. } | Bool(_)) => Some(value.clone()),
        (AttrType::Bool, Bool(_)) => Some(value.clone()),
        (AttrType::Bool, Int { value, .. }) => Some(Bool(*value != 0)),
        (AttrType::Float, Float(_) | Int { .. } | Bool(_)) => Some(value.clone()),
        (AttrType::Str | AttrType::Choice(_) | AttrType::Layout, Str(_)) => Some(value.clone()),
        (AttrType::DType, Str(text)) => DataType::parse(text).map(DType),
        (AttrType::DType, DType(_)) => Some(value.clone()),
        (AttrType::DType, AttrValue::None) => Some(DType(DataType::VOID)),
        (AttrType::Dim, AttrValue::None) => Some(AttrValue::None),
        (AttrType::Dim, value) if is_dim(value) => Some(value.clone()),
        (AttrType::Dims, AttrValue::None) => Some(AttrValue::None),
        (AttrType::Dims, List(_)) => list_of(is_dim),
        (AttrType::Ints, List(_)) => list_of(is_int),
        (AttrType::Ints, AttrValue::None) => Some(AttrValue::None),
        (AttrType::OptionalInt, AttrValue::None) => Some(AttrValue::None),
        (AttrType::OptionalInt, value) if is_int(value) => Some(value.clone()),
        (AttrType::OptionalInts, AttrValue::None) => Some(AttrValue::None),
        (AttrType::OptionalInts, List(_)) => list_of(is_int),
        (AttrType::Floats, AttrValue::None) => Some(AttrValue::None),
        (AttrType::Floats, List(_)) => {
            list_of(|v| matches!(v, Float(_) | Int { .. } | Bool(_)))
        }
        (AttrType::IntLists | AttrType::DimLists, List(values)) => values
            .iter()
            .all(|row| matches!(row, List(_) | Error))
            .then(|| value.clone()),
        (AttrType::Constant, Constant(_) | Opaque | AttrValue::None) => Some(value.clone()),
        _ => None,
    }
}

impl AttrProblem {
    /// How a message names what an attribute takes.
    pub fn describe(ty: AttrType) -> String {
        match ty {
            AttrType::Int => "an integer".into(),
            AttrType::Bool => "`True` or `False`".into(),
            AttrType::Float => "a number".into(),
            AttrType::Str => "a string".into(),
            AttrType::Choice(choices) => {
                let choices: Vec<_> = choices.iter().map(|c| format!("\"{c}\"")).collect();
                format!("one of {}", choices.join(", "))
            }
            AttrType::Layout => "a layout such as \"NCHW\"".into(),
            AttrType::DType => "a data type such as \"float32\"".into(),
            AttrType::Dim => "a dimension or `None`".into(),
            AttrType::Dims => "a list of dimensions such as `[1, 1]`".into(),
            AttrType::Ints => "a list of integers such as `[0, 1]`".into(),
            AttrType::OptionalInt => "an integer or `None`".into(),
            AttrType::OptionalInts => "a list of integers or `None`".into(),
            AttrType::Floats => "a list of numbers".into(),
            AttrType::IntLists => "a list of lists of integers".into(),
            AttrType::DimLists => "a list of lists of dimensions".into(),
            AttrType::Constant => "a constant from the metadata section".into(),
            AttrType::VirtualDevice => "a device from the metadata section".into(),
            AttrType::Any => "a value".into(),
        }
    }
}

/// The candidate nearest to `name`, if one is near enough to be meant.
pub(crate) fn nearest(
    name: &str,
    candidates: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let limit = (name.len() / 3).max(1);
    candidates
        .map(|candidate| (crate::distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

