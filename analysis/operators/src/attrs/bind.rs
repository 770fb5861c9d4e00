//! Binding of the attributes of a call to their declarations: names, types, defaults.
//!
//! A value is valid if TVM's parser converts it to the declared type. `axis=True` is the integer 1,
//! `alpha=1` the number 1.0, and `units=None` no value; `axis=1f`, `axis=[1]` and `strides=2` are
//! rejected. Unlike in TVM, meaningless values such as a size of 2.5 are rejected too.

use std::sync::Arc;

use smallvec::SmallVec;
use types::{AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, DataType, Releases};

use crate::similar::nearest;

/// An attribute in the source.
#[derive(Clone, Copy, Debug)]
pub struct AttrEntry<'a> {
    /// The name.
    pub name: &'a str,
    /// The value.
    pub value: &'a AttrValue,
}

/// An error in the attributes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrProblem {
    /// The operator has no attribute of this name.
    Unknown {
        /// The index of the written attribute.
        written: usize,
        /// The most similar declared name.
        nearest: Option<&'static str>,
    },
    /// The value has the wrong type.
    Type {
        /// The index of the written attribute.
        written: usize,
        /// The declared type.
        expected: AttrType,
        /// True if the attribute accepts `None`.
        none: bool,
    },
    /// The string is not one of the choices.
    Choice {
        /// The index of the written attribute.
        written: usize,
        /// The valid values.
        choices: &'static [&'static str],
        /// The most similar choice.
        nearest: Option<&'static str>,
    },
    /// The string is not a data type.
    DType {
        /// The index of the written attribute.
        written: usize,
        /// The most similar data type.
        nearest: Option<&'static str>,
    },
    /// The number is too small.
    TooSmall {
        /// The index of the written attribute.
        written: usize,
        /// The minimum.
        min: i64,
    },
    /// `attrs_type_key` is not the attribute set of the operator.
    TypeKey {
        /// The key of the set, or `None` if the operator accepts any set and this one does not
        /// exist.
        expected: Option<&'static str>,
    },
    /// A required attribute is missing.
    Missing {
        /// The name.
        name: &'static str,
    },
    /// The attribute is specified twice. As in TVM, the last value is used.
    Twice {
        /// The index of the second written attribute.
        written: usize,
    },
}

/// The result of [`bind`].
#[derive(Clone, Debug)]
pub struct AttrBinding {
    /// A value for every declared attribute.
    pub attrs: Attrs,
    /// The errors.
    pub problems: SmallVec<[AttrProblem; 1]>,
    /// The releases that have all attributes which are written.
    pub releases: Releases,
    /// True if the values are those intended, despite possible errors. Otherwise the type relation
    /// would report consequences of the errors.
    pub trusted: bool,
}

/// Binds the attributes of a call. A misspelt name is bound to the most similar declared one. `defaults` are
/// those of another release that differ.
pub fn bind(
    schema: &'static AttrSchema,
    written: &[AttrEntry<'_>],
    defaults: &[(&str, AttrDefault)],
) -> AttrBinding {
    let mut problems = SmallVec::new();
    let (mut trusted, mut releases) = (true, Releases::ALL);
    let mut values: SmallVec<[Option<AttrValue>; 16]> = SmallVec::new();
    values.resize_with(schema.fields.len(), || None);
    let mut misspelt: SmallVec<[(usize, usize); 1]> = SmallVec::new();
    let open = schema.key == super::system::DICT.key;
    for (index, attr) in written.iter().enumerate().filter(|_| !open) {
        let Some(position) = schema.position(attr.name) else {
            // An attribute that is bound already is not a candidate.
            let is_free = |position: usize| {
                values[position].is_none() && misspelt.iter().all(|&(_, other)| other != position)
            };
            let fields = schema.fields.iter().enumerate();
            let free = fields.filter(|&(position, _)| is_free(position)).map(|(_, f)| f.name);
            let nearest = nearest(attr.name, free);
            problems.push(AttrProblem::Unknown { written: index, nearest });
            match nearest.and_then(|name| schema.position(name)) {
                Some(position) => misspelt.push((index, position)),
                None => trusted = false,
            }
            continue;
        };
        releases = releases.and(schema.fields[position].releases);
        if values[position].is_some() {
            problems.push(AttrProblem::Twice { written: index });
        }
        values[position] = Some(match convert(&schema.fields[position], attr.value) {
            Ok(value) => value,
            Err(mismatch) => {
                problems.push(mismatch.problem(index));
                trusted = false;
                AttrValue::Error
            }
        });
    }
    for &(index, position) in &misspelt {
        if values[position].is_none() {
            let value = convert(&schema.fields[position], written[index].value);
            values[position] = value.ok();
        }
        trusted &= values[position].is_some();
    }
    // A missing attribute is possibly an unknown one, which is reported already.
    let unknown = problems.iter().any(|p| matches!(p, AttrProblem::Unknown { .. }));
    let fill = |(field, value): (&AttrField, &mut Option<AttrValue>)| {
        value.take().unwrap_or_else(|| {
            if let Some((_, default)) = defaults.iter().find(|(name, _)| *name == field.name) {
                return (*default).into();
            }
            if matches!(field.default, AttrDefault::Required) {
                trusted = false;
                if !unknown {
                    problems.push(AttrProblem::Missing { name: field.name });
                }
            }
            field.default.into()
        })
    };
    let values: Arc<[AttrValue]> = schema.fields.iter().zip(&mut values).map(fill).collect();
    AttrBinding { attrs: Attrs::new(schema, values), problems, releases, trusted }
}

/// Returns true if `value`, from the metadata section, is valid for the attribute.
pub fn accepts(field: &AttrField, value: &AttrValue) -> bool {
    convert(field, value).is_ok()
}

/// Returns true if `None` is a value of the attribute.
pub fn accepts_none(field: &AttrField) -> bool {
    takes_none(field)
}

/// A conversion error.
enum Mismatch {
    Type(AttrType, bool),
    Choice(&'static [&'static str], Option<&'static str>),
    DType(Option<&'static str>),
    TooSmall(i64),
}

impl Mismatch {
    fn problem(self, written: usize) -> AttrProblem {
        match self {
            Mismatch::Type(expected, none) => AttrProblem::Type { written, expected, none },
            Mismatch::Choice(choices, nearest) => AttrProblem::Choice { written, choices, nearest },
            Mismatch::DType(nearest) => AttrProblem::DType { written, nearest },
            Mismatch::TooSmall(min) => AttrProblem::TooSmall { written, min },
        }
    }
}

/// Converts `value` to the declared type of `field`.
fn convert(field: &AttrField, value: &AttrValue) -> Result<AttrValue, Mismatch> {
    use AttrType as T;
    use AttrValue as V;
    let mismatch = || Err(Mismatch::Type(field.ty, takes_none(field)));
    match (field.ty, value) {
        // Errors have been reported, and entries of the metadata section are checked when they are
        // resolved.
        (_, V::Error | V::Meta { .. }) => Ok(value.clone()),
        (T::DType, V::None) => Ok(V::DType(DataType::VOID)),
        (_, V::None) if takes_none(field) => Ok(V::None),
        (T::Any, _) => Ok(value.clone()),
        (T::VirtualDevice | T::Object | T::Constant, V::Opaque) => Ok(value.clone()),
        (T::Constant, V::Constant(_)) => Ok(value.clone()),
        (T::Int, V::Int { .. } | V::Bool(_)) => {
            let value = int(value, field.boxed);
            match (value.as_int(), field.min) {
                (Some(value), Some(min)) if value < min => Err(Mismatch::TooSmall(min)),
                _ => Ok(value),
            }
        }
        (T::OptionalInt, V::Int { .. } | V::Bool(_)) => Ok(int(value, true)),
        (T::Bool, V::Int { .. } | V::Bool(_)) => {
            Ok(V::Bool(value.as_int().is_some_and(|value| value != 0)))
        }
        (T::Float, V::Float(_)) | (T::Float, V::Int { .. } | V::Bool(_))
            if is_number(field, value) =>
        {
            match (value.as_float(), field.min) {
                (Some(value), Some(min)) if value < min as f64 => Err(Mismatch::TooSmall(min)),
                _ => Ok(value.clone()),
            }
        }
        (T::Str | T::Layout, V::Str(_)) => Ok(value.clone()),
        (T::Choice(choices), V::Str(text)) => {
            if choices.contains(&text.as_str()) {
                return Ok(value.clone());
            }
            Err(Mismatch::Choice(choices, similar(text, choices)))
        }
        (T::DType, V::Str(text)) => {
            let dtype = DataType::parse(text).map(V::DType);
            dtype.ok_or_else(|| Mismatch::DType(similar(text, DTYPES)))
        }
        (T::DType, V::DType(_)) => Ok(value.clone()),
        (T::Dim, V::Int { .. } | V::Bool(_)) => Ok(int(value, true)),
        (T::Dim, V::Dim(_)) => Ok(value.clone()),
        (T::Dims, V::List(values)) => list(values, size).map_or_else(mismatch, Ok),
        (T::Ints, V::List(values)) => list(values, integer).map_or_else(mismatch, Ok),
        (T::OptionalInts, V::List(values)) => {
            let item = |value: &V| if value.is_none() { Some(V::None) } else { integer(value) };
            list(values, item).map_or_else(mismatch, Ok)
        }
        (T::Floats, V::List(values)) => {
            list(values, |v| is_number(field, v).then(|| v.clone())).map_or_else(mismatch, Ok)
        }
        (T::IntLists, V::List(rows)) => {
            list(rows, |row| list(row.as_list()?, integer)).map_or_else(mismatch, Ok)
        }
        (T::DimLists, V::List(rows)) => {
            list(rows, |row| list(row.as_list()?, size)).map_or_else(mismatch, Ok)
        }
        _ => mismatch(),
    }
}

/// Returns true if the attribute accepts `None`.
fn takes_none(field: &AttrField) -> bool {
    match field.ty {
        AttrType::Any
        | AttrType::DType
        | AttrType::Dim
        | AttrType::OptionalInt
        | AttrType::OptionalInts
        | AttrType::Object
        | AttrType::Constant => true,
        AttrType::Bool | AttrType::Float => field.boxed,
        // If the default has items, TVM's relation accesses them without a check for `None`.
        AttrType::Dims
        | AttrType::Ints
        | AttrType::Floats
        | AttrType::IntLists
        | AttrType::DimLists => match field.default {
            AttrDefault::Ints(items) => items.is_empty(),
            AttrDefault::Floats(items) => items.is_empty(),
            _ => true,
        },
        AttrType::Int
        | AttrType::Str
        | AttrType::Choice(_)
        | AttrType::Layout
        | AttrType::VirtualDevice => false,
    }
}

/// Converts every item of a list.
fn list(values: &[AttrValue], item: impl Fn(&AttrValue) -> Option<AttrValue>) -> Option<AttrValue> {
    let convert = |value: &AttrValue| match value {
        AttrValue::Error | AttrValue::Meta { .. } => Some(value.clone()),
        value => item(value),
    };
    values.iter().map(convert).collect::<Option<_>>().map(AttrValue::List)
}

/// Converts an integer or a truth value to an integer, which has 32 bits unless it is boxed.
fn int(value: &AttrValue, boxed: bool) -> AttrValue {
    match value {
        AttrValue::Bool(value) => AttrValue::int(i64::from(*value)),
        AttrValue::Int { value, .. } if !boxed => AttrValue::int(i64::from(*value as i32)),
        value => value.clone(),
    }
}

// Runs for each number of each list of a module.
#[inline]
fn integer(value: &AttrValue) -> Option<AttrValue> {
    matches!(value, AttrValue::Int { .. } | AttrValue::Bool(_)).then(|| int(value, true))
}

fn size(value: &AttrValue) -> Option<AttrValue> {
    match value {
        AttrValue::Dim(_) => Some(value.clone()),
        value => integer(value),
    }
}

/// Returns true if `value` is a number that the field accepts: a boxed number must not be an
/// integer.
fn is_number(field: &AttrField, value: &AttrValue) -> bool {
    match value {
        AttrValue::Float(_) => true,
        AttrValue::Int { .. } | AttrValue::Bool(_) => !field.boxed,
        _ => false,
    }
}

impl AttrProblem {
    /// Returns true if TVM rejects the call.
    pub fn is_error(&self) -> bool {
        !matches!(self, AttrProblem::Twice { .. })
    }

    /// Returns the index of the written attribute.
    pub fn written(&self) -> Option<usize> {
        match self {
            AttrProblem::Unknown { written, .. }
            | AttrProblem::Type { written, .. }
            | AttrProblem::Choice { written, .. }
            | AttrProblem::DType { written, .. }
            | AttrProblem::TooSmall { written, .. }
            | AttrProblem::Twice { written } => Some(*written),
            AttrProblem::TypeKey { .. } | AttrProblem::Missing { .. } => None,
        }
    }

    /// Returns true if the name is wrong, false if the value is.
    pub fn is_about_name(&self) -> bool {
        matches!(self, AttrProblem::Unknown { .. } | AttrProblem::Twice { .. })
    }

    /// Returns the name of a type in messages.
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
            AttrType::Floats => "a list of numbers such as `[0f, 1f]`".into(),
            AttrType::IntLists => "a list of lists of integers such as `[[0, 0], [1, 1]]`".into(),
            AttrType::DimLists => "a list of lists of dimensions such as `[[0, 0], [1, 1]]`".into(),
            AttrType::Constant => "a constant from the metadata section".into(),
            AttrType::VirtualDevice => "a device from the metadata section".into(),
            AttrType::Object => "an entry of the metadata section".into(),
            AttrType::Any => "a value".into(),
        }
    }
}

/// Data types for suggestions.
const DTYPES: &[&str] = &[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "bfloat16",
];

/// Returns the choice most similar to `text`, which may differ in case.
fn similar(text: &str, choices: &'static [&'static str]) -> Option<&'static str> {
    let other_case = choices.iter().copied().find(|choice| choice.eq_ignore_ascii_case(text));
    other_case.or_else(|| nearest(text, choices.iter().copied()))
}
