//! Relay text of a graph, as TVM 0.14 prints it with its metadata.
//!
//! The printer does what TVM's does, in the same order, since names and numbers are given in the
//! order of the first visit: an expression that is used more than once becomes a statement of the
//! scope where it was first met, and what was printed once is not printed again.

mod attributes;
mod expressions;
mod types;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::{
    Error, MOST_NESTED,
    graph::{Graph, Id},
    metadata::Metadata,
    uses::Uses,
};

/// The version of the text format.
const FORMAT: &str = "0.0.5";
/// The version of TVM whose output this is, where the file is not of a later one.
const VERSION: &str = "0.14.0";
/// Bytes that may be written for a short file.
const LEAST: usize = 256 << 20;
/// Bytes that may be written for each byte of the file. A line of text is copied once for each
/// scope around it.
const FACTOR: usize = 64;

/// The printed form of an expression, a type or a pattern.
type Text = Rc<str>;

/// Prints what the graph has at its root.
pub(crate) fn module(graph: &Graph<'_>, length: usize) -> Result<String, Error> {
    let mut printer = Printer {
        graph,
        uses: Uses::new(graph.nodes.len()),
        metadata: Metadata::default(),
        scopes: Vec::new(),
        printed: vec![None; graph.nodes.len()],
        first: FxHashMap::default(),
        seen: vec![Seen::default(); graph.nodes.len()],
        names: FxHashMap::default(),
        temporaries: 0,
        in_type_definition: false,
        depth: 0,
        room: LEAST.saturating_add(length.saturating_mul(FACTOR)),
    };
    let mut out = format!("#[version = \"{FORMAT}\"]\n");
    match graph.kind(graph.root) {
        "IRModule" => printer.definitions(&mut out)?,
        kind if expressions::is_expression(kind) => {
            printer.uses.count(graph, graph.root)?;
            out.push_str(&printer.scope(graph.root)?);
        }
        kind if types::is_type(kind) => out.push_str(&printer.ty(graph.root)?),
        "" => return Err(Error::new("no-module", "", "the file holds nothing")),
        kind => {
            let kind = crate::graph::short(kind);
            let message =
                format!("the file holds neither a module nor a function: it is a `{kind}`");
            return Err(Error::new("no-module", graph.place(graph.root), message));
        }
    }
    if !printer.metadata.is_empty() {
        out.push_str("\n#[metadata]\n");
        let version =
            if crate::upgrade::is_later(&graph.version) { &*graph.version } else { VERSION };
        out.push_str(&printer.metadata.section(graph, version)?);
    }
    Ok(out)
}

struct Printer<'g, 't> {
    graph: &'g Graph<'t>,
    uses: Uses,
    metadata: Metadata,
    /// Statements of the scopes that are open, the innermost last.
    scopes: Vec<String>,
    /// The printed form of each expression, type and pattern.
    printed: Vec<Option<Text>>,
    /// Variables with their types, as they are printed where they are met first.
    first: FxHashMap<Id, Text>,
    seen: Vec<Seen>,
    /// Names that are taken, and the number of the last one that begins so.
    names: FxHashMap<String, u64>,
    temporaries: u64,
    in_type_definition: bool,
    depth: usize,
    /// Bytes that may still be written.
    room: usize,
}

/// The state of an expression.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// It has a statement, or is a variable that has been met.
    is_named: bool,
    /// Its type has been printed.
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
                "tir.PrimFunc" => return Err(graph.unknown(function)),
                // What was compiled elsewhere has no text.
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

    /// Keeps a text, if there is room for it.
    fn text(&mut self, text: String) -> Result<Text, Error> {
        self.take(text.len())?;
        Ok(text.into())
    }

    fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.room = self.room.checked_sub(bytes).ok_or_else(|| {
            let message =
                "the text is far longer than the file: what the file shares is repeated in it";
            Error::new("too-long", "", message)
        })?;
        Ok(())
    }

    /// Does something one level deeper.
    fn nested<T>(
        &mut self,
        id: Id,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth == MOST_NESTED {
            let message = format!("what is here is nested deeper than {MOST_NESTED} levels");
            return Err(Error::new("too-deep", self.graph.place(id), message));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Joins what is printed of several nodes by commas.
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

    /// Returns a name that no other variable has.
    fn unique(&mut self, wanted: String) -> String {
        let mut name = wanted;
        if self.names.contains_key(&name) {
            let mut number = self.names[&name];
            // Ends at the latest after as many names as there are.
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

    /// Returns a block: the lines are two columns further right.
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
