//! The attribute sets of operators, with TVM's names, types and defaults, and their binding to the
//! attributes of a call.

pub mod conv;
pub mod image;
pub mod nn;
pub mod qnn;
pub mod system;
pub mod transform;

mod bind;

pub use bind::{AttrProblem, Bound, Written, accepts, bind};
use types::{AttrDefault, AttrField, AttrSchema, AttrType, DataType};

const fn schema(key: &'static str, fields: &'static [AttrField]) -> AttrSchema {
    AttrSchema { key, fields }
}

const fn field(name: &'static str, ty: AttrType, default: AttrDefault) -> AttrField {
    AttrField { name, ty, default, boxed: false, min: None }
}

/// A field with [`AttrField::boxed`] set.
const fn boxed(name: &'static str, ty: AttrType, default: AttrDefault) -> AttrField {
    AttrField { name, ty, default, boxed: true, min: None }
}

/// A number with a minimum.
const fn at_least(min: i64, field: AttrField) -> AttrField {
    AttrField { min: Some(min), ..field }
}

/// Returns all attribute sets.
pub fn all() -> impl Iterator<Item = &'static AttrSchema> {
    [conv::ALL, image::ALL, nn::ALL, qnn::ALL, system::ALL, transform::ALL]
        .into_iter()
        .flatten()
        .copied()
}

/// Returns the attribute set with the key `key`, such as `relay.attrs.Conv2DAttrs`.
pub fn by_key(key: &str) -> Option<&'static AttrSchema> {
    all().find(|schema| schema.key == key)
}
