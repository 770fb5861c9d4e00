//! Attributes of calls and functions.

use super::{Printer, Text};
use crate::{
    Error,
    defaults::is_default,
    former,
    graph::{Graph, Id},
    kinds::{Field, FieldType},
    numbers::general,
};

impl Printer<'_, '_> {
    /// Prints the value of an attribute, or a size of a shape.
    pub(super) fn attribute(&mut self, id: Id) -> Result<Text, Error> {
        self.nested(id, |printer| printer.attribute_here(id))
    }

    fn attribute_here(&mut self, id: Id) -> Result<Text, Error> {
        let graph = self.graph;
        let text = match graph.kind(id) {
            "" => "None".to_owned(),
            "tir.Any" => "?".to_owned(),
            "runtime.String" => quoted(graph.node(id).bytes.as_deref().unwrap_or_default()),
            "tir.StringImm" => quoted(graph.string(id, "value")?.as_bytes()),
            "Array" => {
                let elements = self.list(graph.elements(id)?, Self::attribute)?;
                format!("[{elements}]")
            }
            "IntImm" => integer(graph, id)?,
            "FloatImm" => {
                let value: f64 = graph.number(id, "value")?;
                match graph.field(id, "dtype")? {
                    "float16" => format!("{}f16", general(value)),
                    "float32" => format!("{}f", general(value)),
                    "float64" => format!("{}f64", general(value)),
                    _ if value.is_finite() => format!("{value:.6}"),
                    _ => general(value),
                }
            }
            // The text format cannot express other values.
            _ => self.metadata.name(graph, id)?.to_owned(),
        };
        self.text(text)
    }

    /// Prints the attributes of a call.
    pub(super) fn call_attributes(&mut self, call: Id, op: Id) -> Result<Vec<String>, Error> {
        let graph = self.graph;
        let Some(attributes) = graph.optional(call, "attrs")? else { return Ok(Vec::new()) };
        let kind = graph.kind(attributes);
        let fields = graph.fields(kind).ok_or_else(|| graph.unknown(attributes))?;
        let is_operator = graph.kind(op) == "Op";
        if is_operator && !former::takes(&graph.bytes_as_text(op), kind, graph.release) {
            return Ok(vec![self.metadata.name(graph, attributes)?.to_owned()]);
        }
        let mut shown = Vec::new();
        for field in fields {
            if !is_default(graph, attributes, field)? {
                let value = self.field(attributes, field)?;
                shown.push(format!("{}={value}", field.name));
            }
        }
        if !is_operator {
            shown.push(format!("attrs_type_key={}", quoted(kind.as_bytes())));
        }
        Ok(shown)
    }

    fn field(&mut self, id: Id, field: &Field) -> Result<String, Error> {
        let graph = self.graph;
        Ok(match field.ty {
            FieldType::Integer => graph.number::<i128>(id, field.name)?.to_string(),
            FieldType::Float => format!("{}f", general(graph.number(id, field.name)?)),
            FieldType::Bool => truth(graph.field(id, field.name)? != "0").to_owned(),
            FieldType::String | FieldType::DataType => {
                quoted(graph.field(id, field.name)?.as_bytes())
            }
            FieldType::Array => return Err(graph.bad(id, "an array is not an attribute")),
            FieldType::Object => self.attribute(graph.link(id, field.name)?)?.to_string(),
        })
    }

    /// Prints the attributes of a function.
    pub(super) fn function_attributes(&mut self, function: Id) -> Result<Vec<String>, Error> {
        let graph = self.graph;
        let Some(attributes) = graph.optional(function, "attrs")? else { return Ok(Vec::new()) };
        let entries = graph.entries(graph.link(attributes, "__dict__")?)?;
        let shown = entries.into_iter().map(|(name, value)| {
            let value = self.attribute(value)?;
            self.take(name.len() + value.len())?;
            Ok(format!("{name}={value}"))
        });
        shown.collect()
    }
}

fn integer(graph: &Graph<'_>, id: Id) -> Result<String, Error> {
    let value: i64 = graph.number(id, "value")?;
    Ok(match graph.field(id, "dtype")? {
        "int16" => format!("{value}i16"),
        "int64" => format!("{value}i64"),
        "bool" => truth(value != 0).to_owned(),
        _ => value.to_string(),
    })
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// Returns a string literal.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            b'\n' => out.push_str("\\n"),
            b' '..=b'~' => out.push(byte.into()),
            _ => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
    out.push('"');
    out
}
