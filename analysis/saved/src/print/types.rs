//! Types and their definitions.

use super::{Printer, Text};
use crate::{Error, graph::Id};

/// Returns true for the kinds of types.
pub(super) fn is_type(kind: &str) -> bool {
    matches!(
        kind,
        "TypeVar"
            | "GlobalTypeVar"
            | "TypeCall"
            | "relay.TensorType"
            | "TupleType"
            | "FuncType"
            | "relay.RefType"
            | "relay.TypeData"
            | "IncompleteType"
            | "TypeRelation"
            | "PrimType"
            | "PointerType"
    )
}

impl Printer<'_, '_> {
    /// Prints a type.
    pub(super) fn ty(&mut self, id: Id) -> Result<Text, Error> {
        if let Some(text) = &self.printed[id as usize] {
            return Ok(text.clone());
        }
        let text = self.nested(id, |printer| printer.ty_here(id))?;
        let text = self.text(text)?;
        self.printed[id as usize] = Some(text.clone());
        Ok(text)
    }

    fn ty_here(&mut self, id: Id) -> Result<String, Error> {
        let graph = self.graph;
        Ok(match graph.kind(id) {
            "TypeVar" | "GlobalTypeVar" => graph.string(id, "name_hint")?.into_owned(),
            "TypeCall" => {
                let constructor = self.ty(graph.link(id, "func")?)?;
                let args = self.list(graph.list(id, "args")?, Self::ty)?;
                format!("{constructor}[{args}]")
            }
            "relay.TensorType" => {
                let shape = graph.list(id, "shape")?;
                let dtype = graph.field(id, "dtype")?.to_owned();
                if shape.is_empty() {
                    return Ok(dtype);
                }
                let shape = self.list(shape, Self::attribute)?;
                format!("Tensor[({shape}), {dtype}]")
            }
            "TupleType" => {
                let fields = graph.list(id, "fields")?;
                let comma = if fields.len() == 1 { "," } else { "" };
                let fields = self.list(fields, Self::ty)?;
                format!("({fields}{comma})")
            }
            "FuncType" => {
                let mut params = self.list(graph.list(id, "type_params")?, Self::ty)?;
                if !params.is_empty() {
                    params = format!("[{params}]");
                }
                let args = self.list(graph.list(id, "arg_types")?, Self::ty)?;
                let result = self.ty(graph.link(id, "ret_type")?)?;
                format!("fn {params}({args}) -> {result}")
            }
            "relay.RefType" => format!("ref({})", self.ty(graph.link(id, "value")?)?),
            "relay.TypeData" => self.definition(id)?,
            "" => return Err(graph.bad(id, "a type is expected here")),
            kind if is_type(kind) => self.metadata.name(graph, id)?.to_owned(),
            _ => return Err(graph.unknown(id)),
        })
    }

    fn definition(&mut self, id: Id) -> Result<String, Error> {
        let graph = self.graph;
        self.in_type_definition = true;
        let header = self.ty(graph.link(id, "header")?)?;
        let mut params = self.list(graph.list(id, "type_vars")?, Self::ty)?;
        if !params.is_empty() {
            params = format!("[{params}]");
        }
        let mut body = String::new();
        for (number, &constructor) in graph.list(id, "constructors")?.iter().enumerate() {
            if number > 0 {
                body.push('\n');
            }
            if graph.kind(constructor) != "relay.Constructor" {
                return Err(graph.bad(constructor, "a constructor is expected here"));
            }
            let constructor = self.expression(constructor, true)?;
            body.push_str(&constructor);
            body.push(',');
        }
        self.in_type_definition = false;
        Ok(format!("type {header}{params} {}", self.block('{', &body, '}')?))
    }
}
