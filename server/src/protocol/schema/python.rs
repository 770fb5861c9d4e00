//! Types in Python, as a stub for type checkers: the package runs on releases without `NotRequired`.

use std::fmt::Write;

use super::{Definitions, Shape};

const HEAD: &str = "\
\"\"\"The documents of the program, generated from `server/src/protocol` by
`RELAY_WRITE=1 cargo test --workspace --lib generated_types`.\"\"\"

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union, final

from typing_extensions import NotRequired
";

/// Returns the definitions as a stub.
pub(super) fn types(definitions: &Definitions) -> String {
    let mut out = HEAD.to_owned();
    for (name, definition) in definitions {
        out.push('\n');
        let Shape::Object(fields) = &definition.shape else {
            comment(definition.doc.as_deref(), "", &mut out);
            let _ = writeln!(out, "{name} = {}", written(&definition.shape));
            continue;
        };
        // The syntax of a class has no fields that are named like keywords.
        let is_class = fields.iter().all(|field| field.name != "pass");
        if is_class {
            let _ = writeln!(out, "@final\nclass {name}(TypedDict):");
            if let Some(doc) = &definition.doc {
                let _ = writeln!(out, "    \"\"\"{doc}\"\"\"\n");
            }
        } else {
            comment(definition.doc.as_deref(), "", &mut out);
            let _ = writeln!(out, "{name} = TypedDict(\n    \"{name}\",\n    {{");
        }
        for field in fields {
            comment(field.doc.as_deref(), if is_class { "    " } else { "        " }, &mut out);
            let ty = written(&field.shape);
            let ty = if field.is_optional { format!("NotRequired[{ty}]") } else { ty };
            let _ = match is_class {
                true => writeln!(out, "    {}: {ty}", field.name),
                false => writeln!(out, "        \"{}\": {ty},", field.name),
            };
        }
        if !is_class {
            out += "    },\n)\n";
        }
    }
    out
}

fn comment(doc: Option<&str>, indent: &str, out: &mut String) {
    if let Some(doc) = doc {
        let _ = writeln!(out, "{indent}#: {doc}");
    }
}

fn written(shape: &Shape) -> String {
    let all = |shapes: &[Shape]| shapes.iter().map(written).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Object(_) => panic!("a type in Python needs a name: make it a struct"),
        Shape::Named(name) => name.clone(),
        Shape::List(item) => format!("List[{}]", written(item)),
        Shape::Tuple(items) => format!("Tuple[{}]", all(items)),
        Shape::Map(value) => format!("Dict[str, {}]", written(value)),
        Shape::Union(options) => {
            format!("Union[{}]", all(options))
        }
        Shape::Literal(text) => format!("Literal[\"{text}\"]"),
        Shape::String => "str".to_owned(),
        Shape::Integer => "int".to_owned(),
        Shape::Number => "float".to_owned(),
        Shape::Bool => "bool".to_owned(),
        Shape::Null => "None".to_owned(),
        Shape::Any => "Any".to_owned(),
    }
}
