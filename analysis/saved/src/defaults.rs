//! The defaults of fields, which TVM does not print.

use crate::{
    Error,
    graph::{Graph, Id},
    kinds::{Field, FieldType},
};

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
