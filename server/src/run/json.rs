//! Values as JSON: tensors with shape, type and elements; NaN and infinities are strings.

use std::io::{self, Write};

use interpreter::{Tensor, Value};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::Value as Json;
use types::ElementKind;

use super::{show::not_finite, summary::Summary};
use crate::protocol::Profile;

/// The largest depth of a value; deeper parts are `null`.
const DEPTH: usize = 100;
/// The largest number of parts of tuples and data. A chain of tuples that contain the next one
/// twice has exponentially many.
const PARTS: usize = 1 << 22;

/// Converts a value. Tensors with more than `limit` elements are summarised, and only the first
/// `limit` fields are listed. `null` if it has too many parts.
pub(crate) fn within(value: &Value, limit: usize) -> Json {
    let mut left = PARTS;
    if !fits(value, 0, limit, &mut left) {
        return Json::Null;
    }
    serde_json::to_value(ShownValue { value, depth: 0, limit, extra: Extras::NONE, saved: false })
        .unwrap_or_default()
}

/// The fields that follow those of the outermost object of a value.
#[derive(Default)]
pub(crate) struct Extras<'e> {
    /// The profile, if requested.
    pub(crate) profile: Option<Profile<String>>,
    /// The warnings about the files of the arguments; omitted if there are none.
    pub(crate) warnings: &'e [String],
    /// The differences from the expected value, if one is given.
    pub(crate) differences: Option<&'e [String]>,
}

impl Extras<'_> {
    /// The fields of a part of a value.
    const NONE: &'static Extras<'static> =
        &Extras { profile: None, warnings: &[], differences: None };

    fn is_empty(&self) -> bool {
        self.profile.is_none() && self.warnings.is_empty() && self.differences.is_none()
    }

    fn serialize<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if let Some(profile) = &self.profile {
            map.serialize_entry("profile", profile)?;
        }
        if !self.warnings.is_empty() {
            map.serialize_entry("warnings", self.warnings)?;
        }
        if let Some(differences) = self.differences {
            map.serialize_entry("differences", differences)?;
        }
        Ok(())
    }
}

/// Writes a value and a line break as a stream, as the text of all elements may exceed memory.
/// `extra` follows the fields of the outermost object. If `saved`, the elements are in a file and are
/// omitted.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn write(
    value: &Value,
    extra: &Extras<'_>,
    saved: bool,
    mut out: impl Write,
) -> io::Result<()> {
    let mut left = PARTS;
    if !fits(value, 0, usize::MAX, &mut left) {
        return Err(io::Error::other(format!(
            "the result has more than {PARTS} parts, too many to be written"
        )));
    }
    serde_json::to_writer(
        &mut out,
        &ShownValue { value, depth: 0, limit: usize::MAX, extra, saved },
    )?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Returns true if a value has at most `left` parts down to the largest depth.
fn fits(value: &Value, depth: usize, limit: usize, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    if depth > DEPTH {
        return true;
    }
    let mut all = |fields: &[Value]| {
        fields.iter().take(limit).all(|field| fits(field, depth + 1, limit, left))
    };
    match value {
        Value::Tuple(_) => all(value.as_tuple().unwrap_or_default()),
        Value::Data(data) => all(data.fields()),
        Value::Ref(cell) => all(&[cell.get()]),
        Value::Tensor(_)
        | Value::Closure(_)
        | Value::Unknown(_)
        | Value::Empty
        | Value::Released => true,
    }
}

#[derive(Clone, Copy)]
struct ShownValue<'v> {
    value: &'v Value,
    depth: usize,
    limit: usize,
    extra: &'v Extras<'v>,
    saved: bool,
}

impl Serialize for ShownValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let &ShownValue { value, depth, limit, extra, saved } = self;
        let is_nothing = matches!(value, Value::Unknown(_) | Value::Empty | Value::Released);
        if depth > DEPTH || is_nothing && extra.is_empty() {
            return to.serialize_unit();
        }
        let inner = ShownValue { depth: depth + 1, extra: Extras::NONE, ..*self };
        let fields = |fields| Fields(fields, inner);
        let mut map = to.serialize_map(None)?;
        match value {
            Value::Tensor(tensor) => {
                if tensor.len() <= limit && !saved {
                    map.serialize_entry("data", &Elements(tensor))?;
                }
                map.serialize_entry("dtype", &tensor.dtype().to_string())?;
                map.serialize_entry("shape", tensor.shape())?;
                if tensor.len() > limit {
                    map.serialize_entry("summary", &Summary::of(tensor))?;
                }
                map.serialize_entry("type", &tensor.ty().to_string())?;
            }
            Value::Tuple(_) => {
                map.serialize_entry("tuple", &fields(value.as_tuple().unwrap_or_default()))?;
            }
            Value::Data(data) => {
                map.serialize_entry("constructor", data.constructor.as_str())?;
                map.serialize_entry("fields", &fields(data.fields()))?;
            }
            Value::Closure(_) => map.serialize_entry("function", &true)?,
            Value::Ref(cell) => {
                // The content of a reference is in no file.
                let shown = ShownValue { value: &cell.get(), saved: false, ..inner };
                map.serialize_entry("ref", &shown)?;
            }
            Value::Unknown(_) | Value::Empty | Value::Released => {}
        }
        extra.serialize(&mut map)?;
        map.end()
    }
}

/// Values that are shown like one.
struct Fields<'v>(&'v [Value], ShownValue<'v>);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let &Fields(fields, like) = self;
        to.collect_seq(fields.iter().take(like.limit).map(|value| ShownValue { value, ..like }))
    }
}

/// The elements of a tensor in row-major order.
struct Elements<'v>(&'v Tensor);

impl Serialize for Elements<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Elements(tensor) = self;
        let mut all = to.serialize_seq(Some(tensor.len()))?;
        match (tensor, tensor.dtype().kind) {
            // These need all 64 bits.
            (Tensor::U64(array), _) => array.iter().try_for_each(|x| all.serialize_element(x))?,
            (Tensor::I64(array), _) => array.iter().try_for_each(|x| all.serialize_element(x))?,
            (Tensor::Bool(array), _) => array.iter().try_for_each(|x| all.serialize_element(x))?,
            (tensor, kind) => {
                let is_float = matches!(kind, ElementKind::Float | ElementKind::BFloat);
                let mut written = Ok(());
                tensor.each_f64s(|numbers| {
                    let mut one = |&x: &f64| match not_finite(x) {
                        Some(text) => all.serialize_element(text),
                        None if is_float => all.serialize_element(&x),
                        None => all.serialize_element(&(x as i64)),
                    };
                    if written.is_ok() {
                        written = numbers.iter().try_for_each(&mut one);
                    }
                });
                written?;
            }
        }
        all.end()
    }
}

#[cfg(test)]
mod tests {
    use interpreter::Element;
    use serde_json::json;
    use types::DataType;

    use super::*;

    fn written(value: &Value, warnings: &[String]) -> Json {
        let extra = &Extras { warnings, ..Extras::default() };
        let mut bytes = Vec::new();
        write(value, extra, false, &mut bytes).expect("it can be written");
        assert_eq!(bytes.last(), Some(&b'\n'));
        let read: Json = serde_json::from_slice(&bytes).expect("JSON");
        if extra.is_empty() {
            assert_eq!(read, within(value, usize::MAX));
        }
        read
    }

    #[test]
    fn nan_and_infinities_are_strings() {
        let numbers = f64::tensor(&[3], vec![1.5, f64::NAN, f64::NEG_INFINITY]).expect("numbers");
        assert_eq!(written(&numbers.into(), &[])["data"], json!([1.5, "nan", "-inf"]));
    }

    #[test]
    fn elements_of_every_data_type() {
        let of = |dtype| {
            let tensor = Tensor::from_i64s(dtype, &[2], vec![0, 1]).expect("a tensor");
            written(&tensor.into(), &[])["data"].clone()
        };
        assert_eq!(of(DataType::BOOL), json!([false, true]));
        for dtype in [DataType::INT8, DataType::UINT32, DataType::INT64, DataType::UINT64] {
            assert_eq!(of(dtype), json!([0, 1]), "{dtype}");
        }
        for dtype in [DataType::FLOAT16, DataType::BFLOAT16, DataType::FLOAT64] {
            assert_eq!(of(dtype), json!([0.0, 1.0]), "{dtype}");
        }
        let large = u64::tensor(&[1], vec![u64::MAX]).expect("a tensor");
        assert_eq!(written(&large.into(), &[])["data"], json!([u64::MAX]));
    }

    #[test]
    fn extra_fields_follow_the_value() {
        let pair = Value::tuple([Tensor::scalar(1i32).into(), Value::tuple([])]);
        let shown = written(&pair, &["odd".to_owned()]);
        assert_eq!(shown["warnings"], json!(["odd"]));
        assert_eq!(shown["tuple"][1], json!({ "tuple": [] }));
        assert_eq!(within(&pair, 0)["tuple"], json!([]));
    }

    #[test]
    fn shared_parts_are_limited() {
        let mut value = Value::from(Tensor::scalar(1i32));
        for _ in 0..60 {
            value = Value::tuple([value.clone(), value]);
        }
        assert_eq!(within(&value, 1000), Json::Null);
        let error =
            write(&value, Extras::NONE, false, io::sink()).expect_err("it has too many parts");
        assert!(error.to_string().contains("parts"), "{error}");
    }

    #[test]
    fn tensors_without_elements() {
        let empty = Tensor::zeros(DataType::FLOAT32, &[0, 1 << 62]).expect("a tensor");
        let shown = written(&empty.into(), &[]);
        assert_eq!(shown["shape"], json!([0, 1u64 << 62]));
        assert_eq!(shown["data"], json!([]));
    }
}
