//! Expressions, functions and patterns.

use std::fmt::Write;

use super::{Printer, Text};
use crate::{Error, defaults::is_unconstrained, former, graph::Id, numbers};

/// Returns true for the kinds of expressions.
pub(super) fn is_expression(kind: &str) -> bool {
    is_inline(kind)
        || matches!(
            kind,
            "relay.Call"
                | "relay.Tuple"
                | "relay.TupleGetItem"
                | "relay.Let"
                | "relay.If"
                | "relay.Function"
                | "relay.Match"
                | "relay.RefCreate"
                | "relay.RefRead"
                | "relay.RefWrite"
        )
}

/// Returns true for the kinds of expressions that are printed at each use.
fn is_inline(kind: &str) -> bool {
    matches!(kind, "GlobalVar" | "relay.Constant" | "Op" | "relay.Var" | "relay.Constructor")
}

impl Printer<'_, '_> {
    /// Prints an expression as the end of a new scope.
    pub(super) fn scope(&mut self, id: Id) -> Result<String, Error> {
        self.scopes.push(String::new());
        let end = self.expression(id, true)?;
        let mut out = self.scopes.pop().unwrap_or_default();
        self.take(end.len())?;
        out.push_str(&end);
        Ok(out)
    }

    /// Appends to the statements of the innermost scope.
    fn statement(&mut self, text: &str) -> Result<(), Error> {
        self.take(text.len())?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.push_str(text);
        }
        Ok(())
    }

    /// Prints a use of an expression. If `at_end`, it ends a scope, and is printed there unless it has
    /// other uses.
    pub(super) fn expression(&mut self, id: Id, at_end: bool) -> Result<Text, Error> {
        self.nested(id, |printer| printer.expression_here(id, at_end))
    }

    fn expression_here(&mut self, id: Id, at_end: bool) -> Result<Text, Error> {
        let at = id as usize;
        let kind = self.graph.kind(id);
        let is_inline = is_inline(kind) || at_end && self.uses.is_single(id);
        let is_variable = kind == "relay.Var";
        let mut text = self.visited(id)?;
        if !is_inline && kind == "relay.Let" {
            text = self.block('(', &text, ')')?.into();
        }
        let comment = self.comment(id)?;
        if is_variable {
            // An unbound variable.
            let is_new = !std::mem::replace(&mut self.seen[at].is_named, true);
            if let Some(first) = self.first.get(&id).filter(|_| is_new) {
                let statement = format!("free_var {first};\n");
                self.statement(&statement)?;
            }
            return Ok(self.printed[at].clone().unwrap_or(text));
        }
        if !comment.is_empty() {
            text = self.text(format!("{text}{comment}"))?;
        }
        if is_inline {
            self.printed[at] = Some(text.clone());
            return Ok(text);
        }
        if std::mem::replace(&mut self.seen[at].is_named, true) {
            return Ok(self.printed[at].clone().unwrap_or(text));
        }
        let name: Text = format!("%{}", self.temporaries).into();
        self.temporaries += 1;
        self.printed[at] = Some(name.clone());
        let statement = format!("{name} = {text};\n");
        self.statement(&statement)?;
        Ok(name)
    }

    /// Prints an expression after the operands of its calls and tuples, without recursion.
    fn visited(&mut self, id: Id) -> Result<Text, Error> {
        let mut left = vec![(id, false)];
        while let Some((id, is_expanded)) = left.last_mut() {
            let id = *id;
            if self.printed[id as usize].is_some() {
                left.pop();
            } else if std::mem::replace(is_expanded, true) {
                let text = self.leaf(id)?;
                match &mut self.printed[id as usize] {
                    empty @ None => *empty = Some(text),
                    Some(_) => {
                        self.first.insert(id, text);
                    }
                }
                left.pop();
            } else {
                self.expand(id, &mut left)?;
            }
        }
        self.printed[id as usize].clone().ok_or_else(|| self.graph.bad(id, "it was not printed"))
    }

    /// Pushes the operands that are printed before a call or tuple, the first one last.
    fn expand(&self, id: Id, left: &mut Vec<(Id, bool)>) -> Result<(), Error> {
        let graph = self.graph;
        let mut push = |id: Id| {
            if self.printed[id as usize].is_none() {
                left.push((id, false));
            }
        };
        match graph.kind(id) {
            "relay.Call" => {
                let (op, args) = (graph.link(id, "op")?, graph.list(id, "args")?);
                let is_lowered =
                    graph.kind(op) == "Op" && graph.bytes_as_text(op) == "call_lowered";
                match *args {
                    [function, tuple] if is_lowered && graph.kind(tuple) == "relay.Tuple" => {
                        graph.list(tuple, "fields")?.iter().rev().copied().for_each(&mut push);
                        push(function);
                    }
                    _ => args.iter().rev().copied().for_each(&mut push),
                }
                push(op);
            }
            "relay.Tuple" => graph.list(id, "fields")?.iter().rev().copied().for_each(push),
            "relay.TupleGetItem" => push(graph.link(id, "tuple_value")?),
            _ => {}
        }
        Ok(())
    }

    /// Prints an expression whose operands have been printed.
    fn leaf(&mut self, id: Id) -> Result<Text, Error> {
        let graph = self.graph;
        let text = match graph.kind(id) {
            "relay.Var" => return self.variable(id),
            "relay.Constant" => self.constant(id)?,
            "GlobalVar" => format!("@{}", graph.string(id, "name_hint")?),
            "Op" => graph.bytes_as_text(id).into_owned(),
            "relay.Constructor" => self.constructor(id)?,
            "relay.Call" => self.call(id)?,
            "relay.Tuple" => {
                let fields = graph.list(id, "fields")?;
                let comma = if fields.len() == 1 { "," } else { "" };
                let fields = self.list(fields, |printer, id| printer.expression(id, false))?;
                format!("({fields}{comma})")
            }
            "relay.TupleGetItem" => {
                let tuple = self.expression(graph.link(id, "tuple_value")?, false)?;
                format!("{tuple}.{}", graph.number::<i64>(id, "index")?)
            }
            "relay.Let" => self.bindings(id)?,
            "relay.If" => {
                let condition = self.expression(graph.link(id, "cond")?, false)?;
                let then = self.body(graph.link(id, "true_branch")?)?;
                let otherwise = self.body(graph.link(id, "false_branch")?)?;
                format!("if ({condition}) {then} else {otherwise}")
            }
            "relay.Function" => self.function("fn ", id)?,
            "relay.Match" => self.matching(id)?,
            "relay.RefCreate" => {
                format!("ref({})", self.expression(graph.link(id, "value")?, false)?)
            }
            "relay.RefRead" => {
                format!("ref_read({})", self.expression(graph.link(id, "ref")?, false)?)
            }
            "relay.RefWrite" => {
                let target = self.expression(graph.link(id, "ref")?, false)?;
                let value = self.expression(graph.link(id, "value")?, false)?;
                format!("ref_write({target}, {value})")
            }
            "" => return Err(graph.bad(id, "an expression is expected here")),
            _ => return Err(graph.unknown(id)),
        };
        self.text(text)
    }

    fn body(&mut self, id: Id) -> Result<String, Error> {
        let body = self.scope(id)?;
        self.block('{', &body, '}')
    }

    /// Prints a chain of bindings and its body.
    fn bindings(&mut self, id: Id) -> Result<String, Error> {
        let graph = self.graph;
        let outer = self.scopes.len();
        let mut at = id;
        while graph.kind(at) == "relay.Let" {
            let variable = self.variable(graph.link(at, "var")?)?;
            let value = self.expression(graph.link(at, "value")?, true)?;
            let binding = format!("let {variable} = {value};\n");
            self.take(binding.len())?;
            // Statements of the next value follow this binding.
            self.scopes.push(binding);
            at = graph.link(at, "body")?;
        }
        let end = self.scope(at)?;
        let mut out: String = self.scopes.drain(outer..).collect();
        self.take(out.len())?;
        out.push_str(&end);
        Ok(out)
    }

    /// Prints the binder of a variable: its name and type.
    fn variable(&mut self, id: Id) -> Result<Text, Error> {
        let graph = self.graph;
        if graph.kind(id) != "relay.Var" {
            return Err(graph.bad(id, "a variable is expected here"));
        }
        if let Some(name) = &self.printed[id as usize] {
            return Ok(format!("{name}-malformed-ir").into());
        }
        let hint = graph.string(graph.link(id, "vid")?, "name_hint")?;
        let begins = hint.starts_with(|c: char| c.is_ascii_alphabetic());
        let name = format!("%{}{hint}", if begins { "" } else { "v" });
        let mut out = self.unique(name);
        self.printed[id as usize] = Some(out.as_str().into());
        if let Some(device) = self.device(id)? {
            let _ = write!(out, " {{{device}}}");
        }
        if let Some(ty) = graph.optional(id, "type_annotation")? {
            let _ = write!(out, ": {}", self.ty(ty)?);
        }
        out.push_str(&self.comment(id)?);
        self.text(out)
    }

    /// Returns the virtual device of an expression as an attribute, if it has one.
    fn device(&mut self, id: Id) -> Result<Option<String>, Error> {
        match self.graph.optional(id, "virtual_device_")? {
            Some(device) if !is_unconstrained(self.graph, device)? => {
                Ok(Some(format!("virtual_device={}", self.attribute(device)?)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the comment with the type and the source location at the first use.
    fn comment(&mut self, id: Id) -> Result<String, Error> {
        if std::mem::replace(&mut self.seen[id as usize].is_commented, true) {
            return Ok(String::new());
        }
        let graph = self.graph;
        let has_comment = matches!(
            graph.kind(id),
            "relay.Constant"
                | "relay.Call"
                | "relay.Var"
                | "relay.Function"
                | "relay.Tuple"
                | "relay.TupleGetItem"
        );
        if !has_comment {
            return Ok(String::new());
        }
        let (ty, span) = (graph.optional(id, "_checked_type_")?, graph.optional(id, "span")?);
        if ty.is_none() && span.is_none() {
            return Ok(String::new());
        }
        let mut out = " /*".to_owned();
        if let Some(ty) = ty {
            let _ = write!(out, " ty={}", self.ty(ty)?);
        }
        if let Some(span) = span {
            let source = graph.bytes_as_text(graph.link(span, "source_name")?);
            let [line, column] =
                [graph.number::<i64>(span, "line")?, graph.number::<i64>(span, "column")?];
            let _ = write!(out, " span={source}:{line}:{column}");
        }
        out.push_str(" */");
        self.take(out.len())?;
        Ok(out)
    }

    fn constant(&mut self, id: Id) -> Result<String, Error> {
        let array: usize = self.graph.number(id, "data")?;
        let Some(array) = self.graph.arrays.get(array) else {
            return Err(self.graph.bad(id, &format!("there is no array {array}")));
        };
        match numbers::scalar(array) {
            Some(number) if former::has_literal(&number, self.graph.release) => Ok(number),
            _ => Ok(self.metadata.name(self.graph, id)?.to_owned()),
        }
    }

    fn constructor(&mut self, id: Id) -> Result<String, Error> {
        let name = self.graph.string(id, "name_hint")?;
        let inputs = self.graph.list(id, "inputs")?;
        if !self.in_type_definition || inputs.is_empty() {
            return Ok(name.into_owned());
        }
        let inputs = self.list(inputs, Self::ty)?;
        Ok(format!("{name}({inputs})"))
    }

    fn call(&mut self, id: Id) -> Result<String, Error> {
        let graph = self.graph;
        let op = graph.link(id, "op")?;
        let args = graph.list(id, "args")?;
        let mut args = self.list(args, |printer, id| printer.expression(id, false))?;
        for attribute in self.call_attributes(id, op)? {
            self.take(attribute.len())?;
            if !args.is_empty() {
                args.push_str(", ");
            }
            args.push_str(&attribute);
        }
        if graph.kind(op) == "relay.Constructor" {
            let name = graph.string(op, "name_hint")?;
            return Ok(match graph.list(op, "inputs")? {
                [] => name.into_owned(),
                _ => format!("{name}({args})"),
            });
        }
        let op = self.expression(op, false)?;
        Ok(format!("{op}({args})"))
    }

    /// Prints a function: `prefix` is `def @NAME` or `fn `.
    pub(super) fn function(&mut self, prefix: &str, id: Id) -> Result<String, Error> {
        let graph = self.graph;
        let mut out = prefix.to_owned();
        let type_params = graph.list(id, "type_params")?;
        if !type_params.is_empty() {
            let names = type_params.iter().map(|&param| graph.string(param, "name_hint"));
            let names = names.collect::<Result<Vec<_>, Error>>()?;
            let _ = write!(out, "[{}]", names.join(", "));
        }
        out.push('(');
        let mut params = self.list(graph.list(id, "params")?, Self::variable)?;
        let mut attributes = self.function_attributes(id)?;
        attributes.extend(self.device(id)?);
        for attribute in attributes {
            if !params.is_empty() {
                params.push_str(", ");
            }
            params.push_str(&attribute);
        }
        let _ = write!(out, "{params}) ");
        if let Some(ty) = graph.optional(id, "ret_type")? {
            let _ = write!(out, "-> {} ", self.ty(ty)?);
        }
        out.push_str(&self.body(graph.link(id, "body")?)?);
        self.take(out.len())?;
        Ok(out)
    }

    fn matching(&mut self, id: Id) -> Result<String, Error> {
        let graph = self.graph;
        let mark = if graph.field(id, "complete")? == "1" { "" } else { "?" };
        let data = self.expression(graph.link(id, "data")?, false)?;
        let mut arms = String::new();
        for (number, &clause) in graph.list(id, "clauses")?.iter().enumerate() {
            if number > 0 {
                arms.push('\n');
            }
            let pattern = self.pattern(graph.link(clause, "lhs")?)?;
            let body = self.body(graph.link(clause, "rhs")?)?;
            let _ = write!(arms, "{pattern} => {body},");
        }
        Ok(format!("match{mark} ({data}) {}", self.block('{', &arms, '}')?))
    }

    fn pattern(&mut self, id: Id) -> Result<Text, Error> {
        if let Some(text) = &self.printed[id as usize] {
            return Ok(text.clone());
        }
        let graph = self.graph;
        let text = self.nested(id, |printer| {
            Ok(match graph.kind(id) {
                "relay.PatternWildcard" => "_".to_owned(),
                "relay.PatternVar" => printer.variable(graph.link(id, "var")?)?.to_string(),
                "relay.PatternTuple" => {
                    let fields = printer.list(graph.list(id, "patterns")?, Self::pattern)?;
                    format!("({fields})")
                }
                "relay.PatternConstructor" => {
                    let constructor = graph.link(id, "constructor")?;
                    let name = graph.string(constructor, "name_hint")?;
                    match graph.list(id, "patterns")? {
                        [] => name.into_owned(),
                        fields => {
                            let fields = printer.list(fields, Self::pattern)?;
                            format!("{name}({fields})")
                        }
                    }
                }
                "" => return Err(graph.bad(id, "a pattern is expected here")),
                _ => return Err(graph.unknown(id)),
            })
        })?;
        let text = self.text(text)?;
        self.printed[id as usize] = Some(text.clone());
        Ok(text)
    }
}
