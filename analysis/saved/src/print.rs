//! Prints a graph as Relay text, like TVM 0.14 with metadata.
//!
//! The printer visits nodes in the same order as TVM's, since names and numbers are assigned in the order
//! of the first visit: an expression that is used more than once becomes a statement of the scope of its
//! first use, and is not printed again.

mod attributes;
mod expressions;
mod types;

use std::{borrow::Cow, rc::Rc};

use ::types::Release;
use rustc_hash::FxHashMap;

use crate::{
    Error, MAX_NESTING, former,
    graph::{Graph, Id},
    metadata::Metadata,
    uses::Uses,
};

/// The version of the text format.
const FORMAT: &str = "0.0.5";
/// The version of TVM in the output, unless the file is from a later one, or from one whose meaning of
/// calls the text keeps.
const VERSION: &str = "0.14.0";
/// The limit on the output for a short file, in bytes.
const MIN_LIMIT: usize = 256 << 20;
/// The additional limit per byte of the file. A line of text is copied once for each enclosing scope.
const FACTOR: usize = 64;

/// The printed form of an expression, a type or a pattern.
type Text = Rc<str>;

/// Prints the root of a graph.
pub(crate) fn module(graph: &Graph<'_>, length: usize) -> Result<String, Error> {
    let mut printer = Printer {
        graph,
        uses: Uses::new(graph.nodes.len()),
        metadata: Metadata::default(),
        scopes: Vec::new(),
        printed: vec![None; graph.nodes.len()],
        first: FxHashMap::default(),
        seen: vec![ExprState::default(); graph.nodes.len()],
        names: FxHashMap::default(),
        temporaries: 0,
        in_type_definition: false,
        depth: 0,
        budget: MIN_LIMIT.saturating_add(length.saturating_mul(FACTOR)),
    };
    let mut out = format!("#[version = \"{FORMAT}\"]\n");
    match graph.kind(graph.root) {
        "IRModule" => printer.definitions(&mut out)?,
        kind if expressions::is_expression(kind) => {
            printer.uses.count(graph, graph.root)?;
            out.push_str(&printer.scope(graph.root)?);
        }
        kind if types::is_type(kind) => out.push_str(&printer.ty(graph.root)?),
        "" => return Err(Error::new("no-module", "", "the file is empty")),
        "tir.PrimFunc" => return Err(graph.lowered(graph.root, None)),
        kind => {
            let kind = crate::graph::short(kind);
            let message =
                format!("the file contains neither a module nor a function, but a `{kind}`");
            return Err(Error::new("no-module", graph.place(graph.root), message));
        }
    }
    let writes_release = former::writes_release(graph.release);
    if !printer.metadata.is_empty() || writes_release {
        out.push_str("\n#[metadata]\n");
        let version = match graph.release {
            release if writes_release => Cow::Owned(format!("{release}.0")),
            release if release > Release::DEFAULT => Cow::Borrowed(&*graph.version),
            _ => Cow::Borrowed(VERSION),
        };
        out.push_str(&printer.metadata.section(graph, &version)?);
    }
    Ok(out)
}

struct Printer<'g, 't> {
    graph: &'g Graph<'t>,
    uses: Uses,
    metadata: Metadata,
    /// The statements of the open scopes, the innermost last.
    scopes: Vec<String>,
    /// The printed form of each expression, type and pattern.
    printed: Vec<Option<Text>>,
    /// The variables with their types, as printed at their first occurrence.
    first: FxHashMap<Id, Text>,
    seen: Vec<ExprState>,
    /// The used names, each with the last number that was appended to it.
    names: FxHashMap<String, u64>,
    temporaries: u64,
    in_type_definition: bool,
    depth: usize,
    /// The number of bytes that may still be written.
    budget: usize,
}

/// The state of an expression.
#[derive(Clone, Copy, Default)]
struct ExprState {
    /// True for an expression with a statement and a variable that has occurred.
    is_named: bool,
    /// True if its type has been printed.
    is_commented: bool,
}

impl Printer<'_, '_> {
    /// Prints type definitions and functions, each kind in the order of the names.
    fn definitions(&mut self, out: &mut String) -> Result<(), Error> {
        let (graph, module) = (self.graph, self.graph.root);
        let mut is_first = true;
        let mut gap = |out: &mut String| {
            if !std::mem::take(&mut is_first) {
                out.push('\n');
            }
        };
        for (_, definition) in self.sorted(graph.link(module, "type_definitions")?)? {
            gap(out);
            let text = self.ty(definition)?;
            out.push_str(&text);
            out.push('\n');
        }
        for (name, function) in self.sorted(graph.link(module, "functions")?)? {
            gap(out);
            match graph.kind(function) {
                "relay.Function" => {
                    self.uses.count(graph, function)?;
                    let text = self.function(&format!("def @{name}"), function)?;
                    out.push_str(&text);
                }
                "tir.PrimFunc" => return Err(graph.lowered(function, Some(&name))),
                // Externally compiled functions have no text.
                _ => {}
            }
            out.push('\n');
        }
        Ok(())
    }

    /// Returns the entries of a map from global names, by name.
    fn sorted(&self, map: Id) -> Result<Vec<(String, Id)>, Error> {
        let pairs = self.graph.pairs(map)?;
        let named = pairs.into_iter().map(|(global, value)| {
            Ok((self.graph.string(global, "name_hint")?.into_owned(), value))
        });
        let mut named = named.collect::<Result<Vec<(String, Id)>, Error>>()?;
        named.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(named)
    }

    /// Counts a text towards the limit and shares it.
    fn text(&mut self, text: String) -> Result<Text, Error> {
        self.take(text.len())?;
        Ok(text.into())
    }

    fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.budget = self.budget.checked_sub(bytes).ok_or_else(|| {
            let message = "the text is far longer than the file, because it repeats shared nodes";
            Error::new("too-long", "", message)
        })?;
        Ok(())
    }

    /// Calls a function one nesting level deeper.
    fn nested<T>(
        &mut self,
        id: Id,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth == MAX_NESTING {
            let message = format!("it is nested deeper than {MAX_NESTING} levels");
            return Err(Error::new("too-deep", self.graph.place(id), message));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Prints several nodes, separated by commas.
    fn list(
        &mut self,
        ids: &[Id],
        mut print: impl FnMut(&mut Self, Id) -> Result<Text, Error>,
    ) -> Result<String, Error> {
        let mut out = String::new();
        for (number, &id) in ids.iter().enumerate() {
            if number > 0 {
                out.push_str(", ");
            }
            let text = print(self, id)?;
            self.take(text.len())?;
            out.push_str(&text);
        }
        Ok(out)
    }

    /// Returns a unique name for a variable.
    fn unique(&mut self, wanted: String) -> String {
        let mut name = wanted;
        if self.names.contains_key(&name) {
            let mut number = self.names[&name];
            // Terminates after at most as many names as are used.
            let free = loop {
                number += 1;
                let next = format!("{name}{number}");
                if !self.names.contains_key(&next) {
                    break next;
                }
            };
            self.names.insert(name, number);
            name = free;
        }
        self.names.insert(name.clone(), 0);
        name
    }

    /// Returns a block with its lines indented by two columns.
    fn block(&mut self, open: char, body: &str, close: char) -> Result<String, Error> {
        let lines = memchr::memchr_iter(b'\n', body.as_bytes()).count();
        self.take(body.len() + 2 * lines)?;
        let mut out = String::with_capacity(body.len() + 2 * lines + 8);
        out.push(open);
        for line in body.split('\n') {
            out.push_str("\n  ");
            out.push_str(line);
        }
        out.push('\n');
        out.push(close);
        Ok(out)
    }
}
