//! Attributes of calls: their declared types, and their values.

use std::{hash::Hash, sync::Arc};

use smol_str::SmolStr;

use crate::{DataType, Dim, Shape, TensorType};

/// The attributes that an operator declares, under TVM's name for the set.
#[derive(Debug)]
pub struct AttrSchema {
    /// `relay.attrs.Conv2DAttrs`
    pub key: &'static str,
    /// In declaration order, which is the order in which TVM prints them.
    pub fields: &'static [AttrField],
}

impl AttrSchema {
    /// The position of the attribute `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The attribute `name`.
    pub fn field(&self, name: &str) -> Option<&'static AttrField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// One declared attribute.
#[derive(Debug)]
pub struct AttrField {
    /// `padding`
    pub name: &'static str,
    /// What may be written.
    pub ty: AttrType,
    /// What holds where nothing is written.
    pub default: AttrDefault,
    /// TVM's metadata section holds the value as an entry of its own. Lists, dimensions and
    /// optional values always are; plain numbers and strings are as the field says. A boxed number
    /// is taken as it is written: where `1` does for a plain `1f`, it does not for a boxed one.
    pub boxed: bool,
    /// The least number that may be written.
    pub least: Option<i64>,
}

/// What may be written for an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttrType {
    /// An integer.
    Int,
    /// `True` or `False`.
    Bool,
    /// A number.
    Float,
    /// A string.
    Str,
    /// A string from a list.
    Choice(&'static [&'static str]),
    /// A string that names the axes of a tensor: `"NCHW"`, `"NCHW4c"`.
    Layout,
    /// A string that names a data type: `"float32"`.
    DType,
    /// A dimension, or `None`.
    Dim,
    /// A list of dimensions, or one for all.
    Dims,
    /// A list of integers.
    Ints,
    /// An integer or `None`.
    OptionalInt,
    /// A list of integers or `None`.
    OptionalInts,
    /// A list of numbers.
    Floats,
    /// A list of lists of integers.
    IntLists,
    /// A list of lists of dimensions.
    DimLists,
    /// A constant, by reference into the metadata section or as a literal.
    Constant,
    /// A device on which a value lives.
    VirtualDevice,
    /// Something of TVM's own that only the metadata section can give, or `None`.
    Object,
    /// Anything.
    Any,
}

/// What holds for an attribute that is not written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AttrDefault {
    /// It must be written.
    Required,
    /// No value.
    None,
    /// This integer.
    Int(i64),
    /// This truth value.
    Bool(bool),
    /// This number.
    Float(f64),
    /// This string.
    Str(&'static str),
    /// This data type.
    DType(DataType),
    /// This list.
    Ints(&'static [i64]),
    /// This list.
    Floats(&'static [f64]),
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrValue {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer, of 64 bits if `wide`.
    Int {
        /// The number.
        value: i64,
        /// Whether it was written with 64 bits.
        wide: bool,
    },
    /// A number.
    Float(Number),
    /// A string.
    Str(SmolStr),
    /// A data type.
    DType(DataType),
    /// A dimension that is not a plain integer.
    Dim(Dim),
    /// A list.
    List(Arc<[AttrValue]>),
    /// A constant tensor.
    Constant(Arc<Constant>),
    /// An entry of the metadata section, not looked up yet.
    Meta {
        /// `relay.Constant`
        key: SmolStr,
        /// `0`
        index: u32,
    },
    /// A value that has a meaning to TVM but none to types: a device, a map, a function.
    Opaque,
    /// A value that could not be read; whoever needs it has nothing to say.
    Error,
}

/// A number that compares and hashes by its bits.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// A tensor whose elements are known: little-endian bytes, row-major.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    /// Its type, of known sizes.
    pub ty: TensorType,
    /// Its elements.
    pub data: Arc<[u8]>,
}

impl Constant {
    /// The only element, as a number.
    pub fn as_number(&self) -> Option<f64> {
        let d = &*self.data;
        Some(match self.ty.dtype {
            DataType::INT8 => i8::from_le_bytes(d.try_into().ok()?).into(),
            DataType::INT16 => i16::from_le_bytes(d.try_into().ok()?).into(),
            DataType::INT32 => i32::from_le_bytes(d.try_into().ok()?).into(),
            DataType::INT64 => i64::from_le_bytes(d.try_into().ok()?) as f64,
            DataType::UINT8 | DataType::BOOL => u8::from_le_bytes(d.try_into().ok()?).into(),
            DataType::UINT16 => u16::from_le_bytes(d.try_into().ok()?).into(),
            DataType::UINT32 => u32::from_le_bytes(d.try_into().ok()?).into(),
            DataType::UINT64 => u64::from_le_bytes(d.try_into().ok()?) as f64,
            DataType::FLOAT32 => f32::from_le_bytes(d.try_into().ok()?).into(),
            DataType::FLOAT64 => f64::from_le_bytes(d.try_into().ok()?),
            _ => return None,
        })
    }
}

impl AttrValue {
    /// A 32-bit integer.
    pub fn int(value: i64) -> AttrValue {
        AttrValue::Int { value, wide: false }
    }

    /// The integer, if it is one; truth values count as 0 and 1, as they do in TVM.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            AttrValue::Int { value, .. } | AttrValue::Dim(Dim::Known { size: value, .. }) => {
                Some(*value)
            }
            AttrValue::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            AttrValue::Float(value) => Some(value.0),
            AttrValue::Constant(constant) => constant.as_number(),
            _ => self.as_int().map(|value| value as f64),
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            AttrValue::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn as_list(&self) -> Option<&[AttrValue]> {
        match self {
            AttrValue::List(values) => Some(values),
            _ => None,
        }
    }

    /// The dimension, if it is one: an integer or a symbolic size.
    pub fn as_dim(&self) -> Option<Dim> {
        match self {
            AttrValue::Int { value, wide } => Some(Dim::Known { size: *value, wide: *wide }),
            AttrValue::Dim(dim) => Some(dim.clone()),
            _ => None,
        }
    }

    /// `None`, or nothing written.
    pub fn is_none(&self) -> bool {
        matches!(self, AttrValue::None)
    }
}

impl From<AttrDefault> for AttrValue {
    fn from(default: AttrDefault) -> AttrValue {
        match default {
            AttrDefault::Required => AttrValue::Error,
            AttrDefault::None => AttrValue::None,
            AttrDefault::Int(value) => AttrValue::int(value),
            AttrDefault::Bool(value) => AttrValue::Bool(value),
            AttrDefault::Float(value) => AttrValue::Float(Number(value)),
            AttrDefault::Str(text) => AttrValue::Str(SmolStr::new_static(text)),
            AttrDefault::DType(dtype) => AttrValue::DType(dtype),
            AttrDefault::Ints(values) => {
                AttrValue::List(values.iter().map(|&v| AttrValue::int(v)).collect())
            }
            AttrDefault::Floats(values) => {
                AttrValue::List(values.iter().map(|&v| AttrValue::Float(Number(v))).collect())
            }
        }
    }
}

/// The attributes of one call: a value for every declared attribute.
#[derive(Clone, Debug)]
pub struct Attrs {
    schema: Option<&'static AttrSchema>,
    values: Arc<[AttrValue]>,
}

impl PartialEq for Attrs {
    fn eq(&self, other: &Attrs) -> bool {
        let key = |attrs: &Attrs| attrs.schema.map(|s| s.key);
        key(self) == key(other) && self.values == other.values
    }
}

impl Eq for Attrs {}

impl Hash for Attrs {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.schema.map(|s| s.key).hash(state);
        self.values.hash(state);
    }
}

impl Default for Attrs {
    fn default() -> Attrs {
        Attrs::none()
    }
}

impl Attrs {
    /// No attributes.
    pub fn none() -> Attrs {
        thread_local! {
            static NOTHING: Arc<[AttrValue]> = Arc::from([]);
        }
        Attrs { schema: None, values: NOTHING.with(Clone::clone) }
    }

    /// Values in the order of the schema's fields.
    pub fn new(schema: &'static AttrSchema, values: impl Into<Arc<[AttrValue]>>) -> Attrs {
        let values = values.into();
        debug_assert_eq!(schema.fields.len(), values.len());
        Attrs { schema: Some(schema), values }
    }

    /// The defaults of a schema; what is required reads as an error value.
    pub fn defaults(schema: &'static AttrSchema) -> Attrs {
        Attrs::new(schema, schema.fields.iter().map(|f| f.default.into()).collect::<Vec<_>>())
    }

    /// The declaration, if the call has attributes.
    pub fn schema(&self) -> Option<&'static AttrSchema> {
        self.schema
    }

    /// Values in the order of the schema's fields.
    pub fn values(&self) -> &[AttrValue] {
        &self.values
    }

    /// The value of `name`; `None` for what is not declared.
    pub fn get(&self, name: &str) -> &AttrValue {
        let position = self.schema.and_then(|schema| schema.position(name));
        position.and_then(|at| self.values.get(at)).unwrap_or(&AttrValue::None)
    }

    /// Whether `name` has a value that is not `None`.
    pub fn has(&self, name: &str) -> bool {
        !self.get(name).is_none()
    }

    /// The integer `name`.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name).as_int()
    }

    /// The truth value `name`; false where it is not written.
    pub fn bool(&self, name: &str) -> bool {
        self.get(name).as_int().is_some_and(|value| value != 0)
    }

    /// The number `name`.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.get(name).as_float()
    }

    /// The string `name`; empty where it is not written.
    pub fn str(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    /// The data type `name`; void where it is not written.
    pub fn dtype(&self, name: &str) -> DataType {
        match self.get(name) {
            AttrValue::DType(dtype) => *dtype,
            AttrValue::Str(text) => DataType::parse(text).unwrap_or(DataType::VOID),
            _ => DataType::VOID,
        }
    }

    /// The dimension `name`, if there is one.
    pub fn dim(&self, name: &str) -> Option<Dim> {
        self.get(name).as_dim()
    }

    /// The list of dimensions `name`; a single one counts as a list of one.
    pub fn dims(&self, name: &str) -> Option<Shape> {
        match self.get(name) {
            AttrValue::List(values) => values.iter().map(AttrValue::as_dim).collect(),
            value => Some(Shape::from_iter([value.as_dim()?])),
        }
    }

    /// The list of integers `name`; a single one counts as a list of one.
    pub fn ints(&self, name: &str) -> Option<smallvec::SmallVec<[i64; 6]>> {
        match self.get(name) {
            AttrValue::List(values) => values.iter().map(AttrValue::as_int).collect(),
            value => Some(smallvec::smallvec![value.as_int()?]),
        }
    }
}
