//! The attribute sets that operators declare, and how written attributes become values.
//!
//! Names, types and defaults are TVM's. An operator refers to its set by the constant here.

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
    AttrField { name, ty, default, boxed: false, least: None }
}

/// A field that TVM's metadata section holds by reference.
const fn boxed(name: &'static str, ty: AttrType, default: AttrDefault) -> AttrField {
    AttrField { name, ty, default, boxed: true, least: None }
}

/// A number that is at least `least`.
const fn at_least(least: i64, field: AttrField) -> AttrField {
    AttrField { least: Some(least), ..field }
}

/// Every attribute set.
pub fn all() -> impl Iterator<Item = &'static AttrSchema> {
    [conv::ALL, image::ALL, nn::ALL, qnn::ALL, system::ALL, transform::ALL]
        .into_iter()
        .flatten()
        .copied()
}

/// The attribute set of TVM's name `key`, such as `relay.attrs.Conv2DAttrs`.
pub fn by_key(key: &str) -> Option<&'static AttrSchema> {
    all().find(|schema| schema.key == key)
}
