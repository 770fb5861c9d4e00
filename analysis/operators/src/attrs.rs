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

pub(crate) use bind::nearest;
pub use bind::{AttrProblem, Written, bind};
use types::{AttrDefault, AttrField, AttrSchema, AttrType, DataType};

const fn schema(key: &'static str, fields: &'static [AttrField]) -> AttrSchema {
    AttrSchema { key, fields }
}

const fn field(name: &'static str, ty: AttrType, default: AttrDefault) -> AttrField {
    AttrField { name, ty, default, boxed: false }
}

/// A field that TVM's metadata section holds by reference.
const fn boxed(name: &'static str, ty: AttrType, default: AttrDefault) -> AttrField {
    AttrField { name, ty, default, boxed: true }
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
