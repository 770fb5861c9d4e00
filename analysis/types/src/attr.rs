//! Attributes of calls: declarations and values.

use std::{hash::Hash, sync::Arc};

use smol_str::SmolStr;

use crate::{DataType, Dim, Releases, Shape, TensorType};

/// The attributes that an operator declares.
#[derive(Debug)]
pub struct AttrSchema {
    /// TVM's name for the set: `relay.attrs.Conv2DAttrs`.
    pub key: &'static str,
    /// The attributes in declaration order, which is the order in which TVM prints them.
    pub fields: &'static [AttrField],
}

impl AttrSchema {
    /// Returns the position of the attribute `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Returns the attribute `name`.
    pub fn field(&self, name: &str) -> Option<&'static AttrField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// One declared attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttrField {
    /// The name: `padding`.
    pub name: &'static str,
    /// The type of its values.
    pub ty: AttrType,
    /// The value if the call does not specify one.
    pub default: AttrDefault,
    /// True if TVM stores the value as an object: an entry of its own in the metadata section.
    /// Lists, dimensions and optional values always are objects. A boxed number is not converted:
    /// a plain float attribute accepts `1` for `1f`, a boxed one does not.
    pub boxed: bool,
    /// The minimum of a numeric attribute.
    pub min: Option<i64>,
    /// The releases whose operators have it.
    pub releases: Releases,
}

/// The declared type of an attribute.
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
    /// One of the listed strings.
    Choice(&'static [&'static str]),
    /// A string that names the axes of a tensor: `"NCHW"`, `"NCHW4c"`.
    Layout,
    /// A string that names a data type: `"float32"`.
    DType,
    /// A dimension, or `None`.
    Dim,
    /// A list of dimensions, or a single dimension for all axes.
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
    /// A constant: a reference into the metadata section or a literal.
    Constant,
    /// The device of a value: `VirtualDevice(device_type=1, …)`.
    VirtualDevice,
    /// Any other object from the metadata section, or `None`.
    Object,
    /// Any value.
    Any,
}

impl AttrType {
    /// Returns true if `None` is a value of the type itself.
    pub fn is_optional(self) -> bool {
        matches!(self, AttrType::Dim | AttrType::OptionalInt | AttrType::OptionalInts)
    }
}

/// The default of an attribute.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AttrDefault {
    /// No default: a call must specify the attribute.
    Required,
    /// `None`.
    None,
    /// An integer.
    Int(i64),
    /// `True` or `False`.
    Bool(bool),
    /// A number.
    Float(f64),
    /// A string.
    Str(&'static str),
    /// A data type.
    DType(DataType),
    /// A list of integers.
    Ints(&'static [i64]),
    /// A list of numbers.
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
        /// The value.
        value: i64,
        /// True for a 64-bit literal such as `1i64`.
        wide: bool,
    },
    /// A number.
    Float(Number),
    /// A string.
    Str(SmolStr),
    /// A data type.
    DType(DataType),
    /// A dimension other than an integer.
    Dim(Dim),
    /// A list.
    List(Arc<[AttrValue]>),
    /// A constant tensor.
    Constant(Arc<Constant>),
    /// An unresolved reference into the metadata section: `meta[relay.Constant][0]`.
    Meta {
        /// The type key: `relay.Constant`.
        key: SmolStr,
        /// The index among the entries of that key.
        index: u32,
    },
    /// A value without influence on types: a device, a map, a function.
    Opaque,
    /// An invalid value, reported elsewhere. Relations that need it fail silently.
    Error,
}

/// A number with bitwise equality and hash.
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

/// A constant tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    /// The type, with known sizes.
    pub ty: TensorType,
    /// The elements in row-major order, little-endian.
    pub data: Arc<[u8]>,
}

impl Constant {
    /// Returns the element of a constant with one element as a number.
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
    /// Creates a 32-bit integer.
    pub fn int(value: i64) -> AttrValue {
        AttrValue::Int { value, wide: false }
    }

    /// Creates a list.
    pub fn list<T: Into<AttrValue>>(values: impl IntoIterator<Item = T>) -> AttrValue {
        AttrValue::List(values.into_iter().map(Into::into).collect())
    }

    /// Returns true if the value can be written: a symbolic size, a device and an invalid value cannot.
    pub fn is_writable(&self) -> bool {
        match self {
            AttrValue::List(values) => values.iter().all(AttrValue::is_writable),
            AttrValue::Dim(_) | AttrValue::Constant(_) | AttrValue::Opaque | AttrValue::Error => {
                false
            }
            _ => true,
        }
    }

    /// Returns the value as an integer. As in TVM, `False` is 0 and `True` is 1.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            AttrValue::Int { value, .. } | AttrValue::Dim(Dim::Known { size: value, .. }) => {
                Some(*value)
            }
            AttrValue::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// Returns the value as a number.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            AttrValue::Float(value) => Some(value.0),
            AttrValue::Constant(constant) => constant.as_number(),
            _ => self.as_int().map(|value| value as f64),
        }
    }

    /// Returns the value as a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            AttrValue::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements of a list.
    pub fn as_list(&self) -> Option<&[AttrValue]> {
        match self {
            AttrValue::List(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the value as a dimension: an integer or a symbolic size.
    pub fn as_dim(&self) -> Option<Dim> {
        match self {
            AttrValue::Int { value, wide } => Some(Dim::Known { size: *value, wide: *wide }),
            AttrValue::Dim(dim) => Some(dim.clone()),
            _ => None,
        }
    }

    /// Returns true for `None`.
    pub fn is_none(&self) -> bool {
        matches!(self, AttrValue::None)
    }
}

/// Values in the source of a typing rule. A size that is no number is a dimension.
macro_rules! value_from {
    ($($source:ty: |$value:ident| $make:expr;)*) => {
        $(impl From<$source> for AttrValue {
            fn from($value: $source) -> AttrValue {
                $make
            }
        })*
    };
}

value_from! {
    i32: |value| AttrValue::int(value.into());
    i64: |value| AttrValue::int(value);
    usize: |value| AttrValue::int(value as i64);
    &str: |text| AttrValue::Str(text.into());
    DataType: |dtype| AttrValue::DType(dtype);
    Number: |number| AttrValue::Float(number);
    &Dim: |dim| match dim {
        Dim::Known { size, wide } => AttrValue::Int { value: *size, wide: *wide },
        _ => AttrValue::Dim(dim.clone()),
    };
    Dim: |dim| AttrValue::from(&dim);
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
    /// Returns the attributes of an operator without any.
    pub fn none() -> Attrs {
        thread_local! {
            // `Arc::from([])` would allocate for every call.
            static EMPTY: Arc<[AttrValue]> = Arc::from([]);
        }
        Attrs { schema: None, values: EMPTY.with(Clone::clone) }
    }

    /// Creates attributes from values in the order of the schema's fields.
    pub fn new(schema: &'static AttrSchema, values: impl Into<Arc<[AttrValue]>>) -> Attrs {
        let values = values.into();
        debug_assert_eq!(schema.fields.len(), values.len());
        Attrs { schema: Some(schema), values }
    }

    /// Returns the defaults of a schema, with error values for required attributes.
    pub fn defaults(schema: &'static AttrSchema) -> Attrs {
        Attrs::new(schema, schema.fields.iter().map(|f| f.default.into()).collect::<Vec<_>>())
    }

    /// Returns the declaration, if the operator has attributes.
    pub fn schema(&self) -> Option<&'static AttrSchema> {
        self.schema
    }

    /// Returns the values in the order of the schema's fields.
    pub fn values(&self) -> &[AttrValue] {
        &self.values
    }

    /// Returns the attributes with another value of `name`, which has to be declared.
    pub fn with(&self, name: &str, value: AttrValue) -> Option<Attrs> {
        let schema = self.schema?;
        let mut values = self.values.to_vec();
        *values.get_mut(schema.position(name)?)? = value;
        Some(Attrs::new(schema, values))
    }

    /// Returns the value of `name`, or `None` if it is not declared.
    pub fn get(&self, name: &str) -> &AttrValue {
        let position = self.schema.and_then(|schema| schema.position(name));
        position.and_then(|at| self.values.get(at)).unwrap_or(&AttrValue::None)
    }

    /// Returns true if `name` has a value other than `None`.
    pub fn has(&self, name: &str) -> bool {
        !self.get(name).is_none()
    }

    /// Returns the value of `name` as an integer.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name).as_int()
    }

    /// Returns the truth value of `name`, false if it is `None`.
    pub fn bool(&self, name: &str) -> bool {
        self.get(name).as_int().is_some_and(|value| value != 0)
    }

    /// Returns the value of `name` as a number.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.get(name).as_float()
    }

    /// Returns the string `name`, empty if it is `None`.
    pub fn str(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    /// Returns the data type `name`, void if it is `None`.
    pub fn dtype(&self, name: &str) -> DataType {
        match self.get(name) {
            AttrValue::DType(dtype) => *dtype,
            AttrValue::Str(text) => DataType::parse(text).unwrap_or(DataType::VOID),
            _ => DataType::VOID,
        }
    }

    /// Returns the value of `name` as a dimension.
    pub fn dim(&self, name: &str) -> Option<Dim> {
        self.get(name).as_dim()
    }

    /// Returns the list of dimensions `name`; a single dimension is a list of length 1.
    pub fn dims(&self, name: &str) -> Option<Shape> {
        match self.get(name) {
            AttrValue::List(values) => values.iter().map(AttrValue::as_dim).collect(),
            value => Some(Shape::from_iter([value.as_dim()?])),
        }
    }

    /// Returns the list of integers `name`; a single integer is a list of length 1.
    pub fn ints(&self, name: &str) -> Option<smallvec::SmallVec<[i64; 6]>> {
        match self.get(name) {
            AttrValue::List(values) => values.iter().map(AttrValue::as_int).collect(),
            value => Some(smallvec::smallvec![value.as_int()?]),
        }
    }
}
