//! Written attributes to values: names, types, defaults.
//!
//! What may be written is what TVM's reader converts to the declared type. `axis=True` is the
//! integer 1, `alpha=1` the number 1.0, `units=None` no value; `axis=1f`, `axis=[1]` and
//! `strides=2` are refused. Where TVM converts something to a value that means nothing, such as a
//! size of 2.5, it is refused here.

use smallvec::SmallVec;
use types::{AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, DataType};

use crate::similar::nearest;

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
        /// Whether it takes `None` as well.
        none: bool,
    },
    /// The value is not one of those that there are.
    Choice {
        /// Which of the written attributes.
        written: usize,
        /// What may be written.
        choices: &'static [&'static str],
        /// The one that is nearest.
        nearest: Option<&'static str>,
    },
    /// The string names no data type.
    DType {
        /// Which of the written attributes.
        written: usize,
        /// The data type that is nearest.
        nearest: Option<&'static str>,
    },
    /// The number is too small.
    TooSmall {
        /// Which of the written attributes.
        written: usize,
        /// The least that may be written.
        least: i64,
    },
    /// `attrs_type_key` does not name the set of attributes that the operator has.
    TypeKey {
        /// The name of the set; nothing, where any set would do, and this one does not exist.
        wanted: Option<&'static str>,
    },
    /// An attribute without default is not written.
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// The attribute was written before; this value is the one that holds, as it does in TVM.
    Twice {
        /// Which of the written attributes comes second.
        written: usize,
    },
}

/// The attributes of a call.
#[derive(Clone, Debug)]
pub struct Bound {
    /// A value for every declared attribute.
    pub attrs: Attrs,
    /// What is wrong.
    pub problems: SmallVec<[AttrProblem; 1]>,
    /// Whether the values are what was meant, as far as one can tell. Where they are not, the
    /// rule of the operator would only say in other words what the problems say.
    pub trusted: bool,
}

/// The attributes of a call from what is written, with everything that is wrong in it. A misspelt
/// name counts for the name that is nearest to it.
pub fn bind(schema: &'static AttrSchema, written: &[Written<'_>]) -> Bound {
    let mut problems = SmallVec::new();
    let mut trusted = true;
    let mut values: SmallVec<[Option<AttrValue>; 16]> =
        schema.fields.iter().map(|_| None).collect();
    let mut misspelt: SmallVec<[(usize, usize); 1]> = SmallVec::new();
    let open = schema.key == super::system::DICT.key;
    for (index, attr) in written.iter().enumerate().filter(|_| !open) {
        let Some(position) = schema.position(attr.name) else {
            // What stands there already, under its name or misspelt, was not meant once more.
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
        if values[position].is_some() {
            problems.push(AttrProblem::Twice { written: index });
        }
        values[position] = Some(match convert(&schema.fields[position], &attr.value) {
            Ok(value) => value,
            Err(misfit) => {
                problems.push(misfit.problem(index));
                trusted = false;
                AttrValue::Error
            }
        });
    }
    for &(index, position) in &misspelt {
        if values[position].is_none() {
            let value = convert(&schema.fields[position], &written[index].value);
            values[position] = value.ok();
        }
        trusted &= values[position].is_some();
    }
    // What is missing may be what was misspelt; one of the two is enough to say.
    let unknown = problems.iter().any(|p| matches!(p, AttrProblem::Unknown { .. }));
    let fill = |(field, value): (&AttrField, Option<AttrValue>)| {
        value.unwrap_or_else(|| {
            if field.default == AttrDefault::Required {
                trusted = false;
                if !unknown {
                    problems.push(AttrProblem::Missing { name: field.name });
                }
            }
            field.default.into()
        })
    };
    let values: Vec<AttrValue> = schema.fields.iter().zip(values).map(fill).collect();
    Bound { attrs: Attrs::new(schema, values), problems, trusted }
}

/// Whether `value`, which comes from the metadata section, may stand for the attribute.
pub fn accepts(field: &AttrField, value: &AttrValue) -> bool {
    convert(field, value).is_ok()
}

/// Why a value is not one for an attribute.
enum Misfit {
    Type(AttrType, bool),
    Choice(&'static [&'static str], Option<&'static str>),
    DType(Option<&'static str>),
    TooSmall(i64),
}

impl Misfit {
    fn problem(self, written: usize) -> AttrProblem {
        match self {
            Misfit::Type(wanted, none) => AttrProblem::Type { written, wanted, none },
            Misfit::Choice(choices, nearest) => AttrProblem::Choice { written, choices, nearest },
            Misfit::DType(nearest) => AttrProblem::DType { written, nearest },
            Misfit::TooSmall(least) => AttrProblem::TooSmall { written, least },
        }
    }
}

/// `value` as the attribute `field`.
fn convert(field: &AttrField, value: &AttrValue) -> Result<AttrValue, Misfit> {
    use AttrType as T;
    use AttrValue as V;
    let misfit = || Err(Misfit::Type(field.ty, takes_none(field)));
    match (field.ty, value) {
        // What could not be read has been reported where it stands, and whether an entry of the
        // metadata section fits is seen when it is looked up.
        (_, V::Error | V::Meta { .. }) => Ok(value.clone()),
        (T::DType, V::None) => Ok(V::DType(DataType::VOID)),
        (_, V::None) if takes_none(field) => Ok(V::None),
        (T::Any, _) => Ok(value.clone()),
        (T::VirtualDevice | T::Object | T::Constant, V::Opaque) => Ok(value.clone()),
        (T::Constant, V::Constant(_)) => Ok(value.clone()),
        (T::Int, V::Int { .. } | V::Bool(_)) => {
            let value = int(value, field.boxed);
            match (value.as_int(), field.least) {
                (Some(value), Some(least)) if value < least => Err(Misfit::TooSmall(least)),
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
            match (value.as_float(), field.least) {
                (Some(value), Some(least)) if value < least as f64 => Err(Misfit::TooSmall(least)),
                _ => Ok(value.clone()),
            }
        }
        (T::Str | T::Layout, V::Str(_)) => Ok(value.clone()),
        (T::Choice(choices), V::Str(text)) => {
            if choices.contains(&text.as_str()) {
                return Ok(value.clone());
            }
            Err(Misfit::Choice(choices, similar(text, choices)))
        }
        (T::DType, V::Str(text)) => {
            DataType::parse(text).map(V::DType).ok_or_else(|| Misfit::DType(similar(text, DTYPES)))
        }
        (T::DType, V::DType(_)) => Ok(value.clone()),
        (T::Dim, V::Int { .. } | V::Bool(_)) => Ok(int(value, true)),
        (T::Dim, V::Dim(_)) => Ok(value.clone()),
        (T::Dims, V::List(values)) => list(values, size).map_or_else(misfit, Ok),
        (T::Ints, V::List(values)) => list(values, integer).map_or_else(misfit, Ok),
        (T::OptionalInts, V::List(values)) => {
            let item = |value: &V| if value.is_none() { Some(V::None) } else { integer(value) };
            list(values, item).map_or_else(misfit, Ok)
        }
        (T::Floats, V::List(values)) => {
            list(values, |v| is_number(field, v).then(|| v.clone())).map_or_else(misfit, Ok)
        }
        (T::IntLists, V::List(rows)) => {
            list(rows, |row| list(row.as_list()?, integer)).map_or_else(misfit, Ok)
        }
        (T::DimLists, V::List(rows)) => {
            list(rows, |row| list(row.as_list()?, size)).map_or_else(misfit, Ok)
        }
        _ => misfit(),
    }
}

/// Whether `None` may be written.
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
        // A list that has items when nothing is written has them always: TVM reads them unseen.
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

/// A list of which every item is converted.
fn list(values: &[AttrValue], item: impl Fn(&AttrValue) -> Option<AttrValue>) -> Option<AttrValue> {
    let convert = |value: &AttrValue| match value {
        AttrValue::Error | AttrValue::Meta { .. } => Some(value.clone()),
        value => item(value),
    };
    values.iter().map(convert).collect::<Option<_>>().map(AttrValue::List)
}

/// An integer or truth value as an integer; a plain one is held in 32 bits, whatever is written.
fn int(value: &AttrValue, boxed: bool) -> AttrValue {
    match value {
        AttrValue::Bool(value) => AttrValue::int(i64::from(*value)),
        AttrValue::Int { value, .. } if !boxed => AttrValue::int(i64::from(*value as i32)),
        value => value.clone(),
    }
}

fn integer(value: &AttrValue) -> Option<AttrValue> {
    matches!(value, AttrValue::Int { .. } | AttrValue::Bool(_)).then(|| int(value, true))
}

fn size(value: &AttrValue) -> Option<AttrValue> {
    match value {
        AttrValue::Dim(_) => Some(value.clone()),
        value => integer(value),
    }
}

/// Whether `value` is a number as the field takes it: a boxed one is no integer.
fn is_number(field: &AttrField, value: &AttrValue) -> bool {
    match value {
        AttrValue::Float(_) => true,
        AttrValue::Int { .. } | AttrValue::Bool(_) => !field.boxed,
        _ => false,
    }
}

impl AttrProblem {
    /// Whether TVM refuses the call for it.
    pub fn is_error(&self) -> bool {
        !matches!(self, AttrProblem::Twice { .. })
    }

    /// Which of the written attributes it is about.
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

    /// Whether it is the name that is wrong, and not the value.
    pub fn is_about_name(&self) -> bool {
        matches!(self, AttrProblem::Unknown { .. } | AttrProblem::Twice { .. })
    }

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

/// Data types to suggest.
const DTYPES: &[&str] = &[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "bfloat16",
];

/// The choice nearest to `text`, upper and lower case being the same.
fn similar(text: &str, choices: &'static [&'static str]) -> Option<&'static str> {
    let same = choices.iter().copied().find(|choice| choice.eq_ignore_ascii_case(text));
    same.or_else(|| nearest(text, choices.iter().copied()))
}
