//! A data type that does not exist.

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

/// The data types among which a similar name is searched.
const COMMON: [&str; 13] = [
    "float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "bool", "bfloat16",
];

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>, name: &str) -> DefDiagnostic {
    let diagnostic = site.diagnostic(Code::UnknownDtype, format!("`{name}` is not a data type"));
    match syntax::dtype_of(name).or_else(|| operators::similar::nearest(name, COMMON)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).change(site.range, near),
        None => diagnostic.help("data types are written `float32`, `int8`, `bool` …"),
    }
}
