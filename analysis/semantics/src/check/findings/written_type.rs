//! Parts of written types and of type definitions.

use syntax::TextRange;

use super::{Code, DefDiagnostic};
use crate::{check::site::ProblemSite, diagnostic::NameSet};

/// The data types among which a similar name is searched.
const COMMON: [&str; 13] = [
    "float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "bool", "bfloat16",
];

/// A data type that does not exist.
pub(in crate::check) fn unknown_dtype(site: &ProblemSite<'_, '_, '_>, name: &str) -> DefDiagnostic {
    let diagnostic = site.diagnostic(Code::UnknownDtype, format!("`{name}` is not a data type"));
    match syntax::dtype_of(name).or_else(|| operators::similar::nearest(name, COMMON)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).change(site.range, near),
        None => diagnostic.help("data types are written `float32`, `int8`, `bool` …"),
    }
}

/// A kind that does not exist.
pub(in crate::check) fn unknown_kind(site: &ProblemSite<'_, '_, '_>, name: &str) -> DefDiagnostic {
    site.diagnostic(Code::UnknownKind, format!("`{name}` is not a kind"))
        .help("the kinds are `Type`, `Shape`, `ShapeVar` and `BaseType`")
}

/// A type relation that does not exist.
pub(in crate::check) fn unknown_relation(
    site: &ProblemSite<'_, '_, '_>,
    name: &str,
) -> DefDiagnostic {
    site.diagnostic(Code::UnknownRelation, format!("there is no type relation `{name}`"))
        .help("relations are named after operators: `Broadcast`, `Dense`, `Identity` …")
        .or_similar(name, site.range, &[NameSet::Relations])
}

/// A negative size of a tensor.
pub(in crate::check) fn negative_size(site: &ProblemSite<'_, '_, '_>, size: i64) -> DefDiagnostic {
    let message = format!("the size of a tensor cannot be negative, found {size}");
    site.diagnostic(Code::NegativeSize, message)
        .help("write an unknown size as `?`")
        .fix("Write `?`", [(site.range, "?".to_owned())])
}

/// A field of a constructor without a type.
pub(in crate::check) fn open_field(site: &ProblemSite<'_, '_, '_>) -> DefDiagnostic {
    site.diagnostic(Code::OpenField, "the type of a field cannot be left out")
        .help("write it, or make it a parameter of the data type: `type Box[A] { Wrap(A) }`")
}

/// Constructors of an external type.
pub(in crate::check) fn extern_constructors(range: TextRange) -> DefDiagnostic {
    DefDiagnostic::new(Code::ExternConstructors, range, "an external type has no constructors")
}
