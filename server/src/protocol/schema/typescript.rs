//! Types in TypeScript.

use std::fmt::Write;

use super::{Definitions, Field, Shape};

const HEAD: &str = "\
// The responses of the server, generated from `server/src/protocol` by
// `RELAY_WRITE=1 cargo test --workspace --lib generated_types`.
";

/// Returns the definitions as a module.
pub(super) fn types(definitions: &Definitions) -> String {
    let mut out = HEAD.to_owned();
    for (name, definition) in definitions {
        out.push('\n');
        comment(definition.doc.as_deref(), "", &mut out);
        let _ = match &definition.shape {
            Shape::Object(fields) => writeln!(out, "export interface {name} {}", object(fields)),
            shape => writeln!(out, "export type {name} = {};", written(shape)),
        };
    }
    out
}

fn comment(doc: Option<&str>, indent: &str, out: &mut String) {
    if let Some(doc) = doc {
        let _ = writeln!(out, "{indent}/** {doc} */");
    }
}

fn object(fields: &[Field]) -> String {
    let mut out = "{\n".to_owned();
    for field in fields {
        comment(field.doc.as_deref(), "  ", &mut out);
        let mark = if field.is_optional { "?" } else { "" };
        let _ = writeln!(out, "  readonly {}{mark}: {};", field.name, written(&field.shape));
    }
    out + "}"
}

fn written(shape: &Shape) -> String {
    let all = |shapes: &[Shape], between: &str| {
        shapes.iter().map(written).collect::<Vec<_>>().join(between)
    };
    match shape {
        Shape::Object(fields) => object(fields),
        Shape::Named(name) => name.clone(),
        Shape::List(item) => match &**item {
            Shape::Union(_) | Shape::List(_) | Shape::Tuple(_) => {
                format!("readonly ({})[]", written(item))
            }
            item => format!("readonly {}[]", written(item)),
        },
        Shape::Tuple(items) => format!("readonly [{}]", all(items, ", ")),
        Shape::Map(value) => format!("Readonly<Record<string, {}>>", written(value)),
        Shape::Union(options) => all(options, " | "),
        Shape::Literal(text) => format!("\"{text}\""),
        Shape::String => "string".to_owned(),
        Shape::Integer | Shape::Number => "number".to_owned(),
        Shape::Bool => "boolean".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Any => "unknown".to_owned(),
    }
}
