//! The prelude: definitions that are in scope in every module, unless the module redefines them.
//!
//! It consists of several files, each parsed on the first use of a name in it: [`CHAPTERS`], and
//! the tensor arrays of each data type. TVM repeats the latter for each data type. Here a Relay
//! file contains those of `float32`, and the others are generated from it:
//! `@tensor_array_read_int8` from `@tensor_array_read_float32`.

use std::sync::{Arc, OnceLock};

use syntax::Parse;

/// The data types with tensor arrays, in TVM's order.
pub const TENSOR_ARRAYS: [&str; 9] =
    ["float32", "float16", "float64", "int32", "uint8", "int8", "int16", "uint16", "int64"];

/// The text of the prelude without the tensor arrays.
pub const CHAPTERS: &str = include_str!("prelude.relay");

/// The text of the tensor arrays of `float32`.
const TENSOR_ARRAY: &str = include_str!("prelude_tensor_array.relay");

/// The number of files of the prelude.
pub(crate) const COUNT: usize = 1 + TENSOR_ARRAYS.len();

/// Returns the parse of a file of the prelude, which is parsed on first use: number 0 is
/// [`CHAPTERS`], the others are the tensor arrays of each data type.
pub(crate) fn parse(number: usize) -> &'static Arc<Parse> {
    static FILES: [OnceLock<Arc<Parse>>; COUNT] = [const { OnceLock::new() }; COUNT];
    let number = number.min(COUNT - 1);
    FILES[number].get_or_init(|| {
        Arc::new(match number.checked_sub(1) {
            Some(dtype) => syntax::parse(&tensor_array(dtype)),
            None => syntax::parse(CHAPTERS),
        })
    })
}

fn tensor_array(number: usize) -> String {
    TENSOR_ARRAY.replace(TENSOR_ARRAYS[0], TENSOR_ARRAYS[number])
}

/// Returns the name and the text of a file of the prelude.
pub fn source(number: usize) -> (String, String) {
    let name = match number.checked_sub(1).and_then(|n| TENSOR_ARRAYS.get(n)) {
        Some(dtype) => format!("prelude-tensor-array-{dtype}.relay"),
        None => "prelude.relay".to_owned(),
    };
    (name, parse(number).green.to_string())
}

/// Returns the number of the file that would define `name`: `@map`, `List`,
/// `@tensor_array_read_int8`, `tensor_int8_t`, `tensor0_int8`.
pub(crate) fn file_of(name: &str) -> usize {
    let bare = name.strip_suffix("_t").unwrap_or(name);
    let Some((front, dtype)) = bare.rsplit_once('_') else { return 0 };
    let number = TENSOR_ARRAYS.iter().position(|known| *known == dtype);
    let front = front.trim_start_matches('@');
    match number {
        Some(number) if front.starts_with("tensor") || front.starts_with("ta_") => number + 1,
        _ => 0,
    }
}
