//! The kinds of nodes: their fields in the order in which TVM visits them.
//!
//! `tables/kinds.txt` has a line for each kind: its name, then `FIELD:TYPE` or `FIELD:TYPE=DEFAULT`.
//! The types are `i` (integer), `f` (float), `b` (bool), `s` (string), `t` (data type), `n` (array),
//! and `o` (another object). Two classes of attributes have one name, `SimulatedQuantizeAttrs`: the
//! fields of each have defaults, so that those of the other one may be missing.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::{
    Error,
    graph::{Graph, Id},
};

/// The kind of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldType {
    Integer,
    Float,
    Bool,
    String,
    DataType,
    Array,
    Object,
}

/// A field of a kind of nodes.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) ty: FieldType,
    /// The default, which is not printed.
    pub(crate) default: Option<&'static str>,
}

static KINDS: LazyLock<FxHashMap<&'static str, Vec<Field>>> = LazyLock::new(|| {
    let kind = |line: &'static str| {
        let mut words = line.split(' ');
        (words.next().unwrap_or_default(), words.filter_map(field).collect())
    };
    include_str!("tables/kinds.txt").lines().map(kind).collect()
});

fn field(word: &'static str) -> Option<Field> {
    let (name, rest) = word.split_once(':')?;
    let (ty, default) = match rest.split_once('=') {
        Some((ty, default)) => (ty, Some(default)),
        None => (rest, None),
    };
    let ty = match ty {
        "i" => FieldType::Integer,
        "f" => FieldType::Float,
        "b" => FieldType::Bool,
        "s" => FieldType::String,
        "t" => FieldType::DataType,
        "n" => FieldType::Array,
        _ => FieldType::Object,
    };
    Some(Field { name, ty, default })
}

/// Returns the fields of a known kind in the order of TVM.
pub(crate) fn fields(kind: &str) -> Option<&'static [Field]> {
    KINDS.get(kind).map(Vec::as_slice)
}

/// Returns true if an operator accepts attributes of a kind. Operators that are unknown or of another
/// version accept any.
pub(crate) fn takes(operator: &str, kind: &str) -> bool {
    let takes = |operator: &operators::Operator| {
        operator.registered_attrs().is_some_and(|registered| registered.key == kind)
    };
    operators::other_version(operator).is_some() || operators::find(operator).is_none_or(takes)
}

/// Returns true if a field has its default.
pub(crate) fn is_default(graph: &Graph<'_>, id: Id, field: &Field) -> Result<bool, Error> {
    let Some(default) = field.default else { return Ok(false) };
    let text = match graph.node(id).field(field.name) {
        Some(text) => &**text,
        // Written by a version without this field.
        None => return Ok(true),
    };
    Ok(match field.ty {
        FieldType::Integer => text == default,
        FieldType::Bool => (text == "1") == (default == "True"),
        FieldType::String | FieldType::DataType => Some(text) == unquoted(default),
        FieldType::Float => {
            let value: f64 = graph.number(id, field.name)?;
            is_close(value, default.parse().unwrap_or_default())
        }
        FieldType::Array => false,
        FieldType::Object => is_object(graph, graph.link(id, field.name)?, default)?,
    })
}

/// Floating point numbers are compared with a tolerance.
fn is_close(left: f64, right: f64) -> bool {
    left == right || (left - right).abs() < 1e-9
}

fn unquoted(default: &str) -> Option<&str> {
    default.strip_prefix('"')?.strip_suffix('"')
}

/// Returns true if an object equals a default.
fn is_object(graph: &Graph<'_>, id: Id, default: &str) -> Result<bool, Error> {
    let kind = graph.kind(id);
    if default == "None" || kind.is_empty() {
        return Ok(default == "None" && kind.is_empty());
    }
    if let Some(text) = unquoted(default) {
        return Ok(kind == "runtime.String" && graph.bytes_as_text(id) == text);
    }
    if default == "map" {
        return Ok(kind == "Map" && graph.node(id).data.is_empty());
    }
    if default == "unconstrained" {
        return is_unconstrained(graph, id);
    }
    if let Some(list) = default.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        if kind != "Array" {
            return Ok(false);
        }
        let mut wanted = list.split(',').filter(|word| !word.is_empty());
        for &element in &graph.node(id).data {
            match wanted.next() {
                Some(word) if is_immediate(graph, element, word)? => {}
                _ => return Ok(false),
            }
        }
        return Ok(wanted.next().is_none());
    }
    is_immediate(graph, id, default)
}

/// Returns true if a node is an immediate: `1` of `int32`, `0.5f` of `float32`, `bool:False`.
fn is_immediate(graph: &Graph<'_>, id: Id, default: &str) -> Result<bool, Error> {
    let (kind, dtype, text) = match (default.strip_prefix("bool:"), default.strip_suffix('f')) {
        (Some(word), _) => ("IntImm", "bool", if word == "True" { "1" } else { "0" }),
        (None, Some(number)) => ("FloatImm", "float32", number),
        (None, None) => ("IntImm", "int32", default),
    };
    if graph.kind(id) != kind || graph.field(id, "dtype")? != dtype {
        return Ok(false);
    }
    if kind == "IntImm" {
        return Ok(graph.field(id, "value")? == text);
    }
    let wanted: f32 = text.parse().unwrap_or_default();
    Ok(is_close(graph.number(id, "value")?, wanted.into()))
}

/// Returns true if a virtual device is unconstrained.
pub(crate) fn is_unconstrained(graph: &Graph<'_>, id: Id) -> Result<bool, Error> {
    if !graph.is_there(id) {
        return Ok(true);
    }
    if graph.kind(id) != "VirtualDevice" {
        return Err(graph.bad(id, "a virtual device is expected here"));
    }
    let is_none = |name| Ok::<bool, Error>(graph.number::<i64>(id, name)? == -1);
    Ok(is_none("device_type_int")?
        && is_none("virtual_device_id")?
        && graph.optional(id, "target")?.is_none()
        && graph.string(id, "memory_scope")?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attributes of every operator can be printed and saved: all fields by the names that the
    /// operator has, and none without a type.
    #[test]
    fn every_attribute_class_of_an_operator_is_known() {
        let mut classes = 0;
        for operator in operators::all() {
            let schemas = [operator.registered_attrs(), operator.declared_attrs()];
            for schema in schemas.into_iter().flatten() {
                let fields = fields(schema.key);
                let fields = fields.unwrap_or_else(|| panic!("{}: {}", operator.name, schema.key));
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                for field in schema.fields {
                    assert!(known.contains(&field.name), "{}.{}", schema.key, field.name);
                }
                classes += 1;
            }
        }
        assert!(classes > 200, "{classes}");
    }

    #[test]
    fn operators_take_their_own_attributes() {
        assert!(takes("nn.conv2d", "relay.attrs.Conv2DAttrs"));
        assert!(!takes("nn.conv2d", "relay.attrs.Conv1DAttrs"));
        assert!(!takes("add", "DictAttrs"));
    }
}
