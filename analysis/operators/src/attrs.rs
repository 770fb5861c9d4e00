//! The attribute sets of operators, with TVM's names, types and defaults, and their binding to the
//! attributes of a call.

/// Declares attribute sets in TVM's order, which is the order in which it prints them. An attribute without
/// a default must be specified:
///
/// ```text
/// TOPK = "relay.attrs.TopKAttrs" {
///     k: OptionalInt,
///     axis: Int = -1,
///     ret_type: Choice ["both", "values", "indices"] = "both",
///     is_ascend: Bool = false,
///     dtype: DType = VOID,
/// }
/// ```
///
/// `boxed` is [`AttrField::boxed`], and `>= 0` after the type [`AttrField::min`]. An attribute that not every
/// release of its operators has ends in `since 8`, `until 14` or `since 7 until 8`. The attribute sets of a module
/// are its `ALL`.
macro_rules! attrs {
    ($($(#[$doc:meta])* $name:ident = $key:literal { $($fields:tt)* })*) => {
        $(
            #[doc = concat!("`", $key, "`")]
            $(#[$doc])*
            pub static $name: AttrSchema =
                AttrSchema { key: $key, fields: fields!(@name [] $($fields)*) };
        )*
        pub(super) static ALL: &[&AttrSchema] = &[$(&$name),*];
    };
}

/// The fields of an attribute set. A recursive macro: each expansion parses one part of the next field, and the
/// finished fields accumulate in the brackets.
macro_rules! fields {
    (@name [$($done:tt)*]) => { &[$($done)*] };
    (@name $done:tt $name:ident: boxed $($rest:tt)*) => {
        fields!(@type $done ($name, true) $($rest)*)
    };
    (@name $done:tt $name:ident: $($rest:tt)*) => {
        fields!(@type $done ($name, false) $($rest)*)
    };
    (@type $done:tt $head:tt Choice [$($choice:literal),*] $($rest:tt)*) => {
        fields!(@min $done $head (Str, AttrType::Choice(&[$($choice),*])) $($rest)*)
    };
    (@type $done:tt $head:tt Choice $choices:ident $($rest:tt)*) => {
        fields!(@min $done $head (Str, AttrType::Choice($choices)) $($rest)*)
    };
    (@type $done:tt $head:tt $ty:ident $($rest:tt)*) => {
        fields!(@min $done $head ($ty, AttrType::$ty) $($rest)*)
    };
    (@min $done:tt $head:tt $ty:tt >= $min:literal $($rest:tt)*) => {
        fields!(@default $done $head $ty (Some($min)) $($rest)*)
    };
    (@min $done:tt $head:tt $ty:tt $($rest:tt)*) => {
        fields!(@default $done $head $ty (None) $($rest)*)
    };
    (@default $done:tt $head:tt ($kind:ident, $ty:expr) $min:tt = -$value:literal $($rest:tt)*) => {
        fields!(@end $done $head ($ty) $min (default!($kind, -$value)) $($rest)*)
    };
    (@default $done:tt $head:tt ($kind:ident, $ty:expr) $min:tt = $value:tt $($rest:tt)*) => {
        fields!(@end $done $head ($ty) $min (default!($kind, $value)) $($rest)*)
    };
    (@default $done:tt $head:tt ($kind:ident, $ty:expr) $min:tt $($rest:tt)*) => {
        fields!(@end $done $head ($ty) $min (AttrDefault::Required) $($rest)*)
    };
    (@end [$($done:tt)*] ($name:ident, $boxed:literal) $ty:tt $min:tt $default:tt
        $(since $first:literal)? $(until $last:literal)? $(, $($rest:tt)*)?
    ) => {
        fields!(@name [$($done)* AttrField {
            name: stringify!($name),
            ty: $ty,
            default: $default,
            boxed: $boxed,
            min: $min,
            releases: Releases::ALL
                $(.and(Releases::since($first)))?
                $(.and(Releases::until($last)))?,
        },] $($($rest)*)?)
    };
}

/// The default of an attribute of a type.
macro_rules! default {
    ($ty:ident, None) => { AttrDefault::None };
    (Int, $value:expr) => { AttrDefault::Int($value) };
    (OptionalInt, $value:expr) => { AttrDefault::Int($value) };
    (Dim, $value:expr) => { AttrDefault::Int($value) };
    (Bool, $value:expr) => { AttrDefault::Bool($value) };
    (Float, $value:expr) => { AttrDefault::Float($value) };
    (Str, $value:expr) => { AttrDefault::Str($value) };
    (Layout, $value:expr) => { AttrDefault::Str($value) };
    (DType, $value:ident) => { AttrDefault::DType(DataType::$value) };
    (Floats, [$($value:expr),*]) => { AttrDefault::Floats(&[$($value),*]) };
    ($ty:ident, [$($value:expr),*]) => { AttrDefault::Ints(&[$($value),*]) };
}

pub mod conv;
pub mod image;
pub mod nn;
pub mod qnn;
pub mod system;
pub mod transform;

mod bind;

pub use bind::{AttrBinding, AttrEntry, AttrProblem, accepts, accepts_none, bind};
use types::{AttrDefault, AttrField, AttrSchema, AttrType, DataType, Releases};

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
