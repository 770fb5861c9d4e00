//! Upgrades JSON of earlier versions to the current format.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use types::Release;

use crate::{
    Error,
    graph::{Graph, Id, Node, short},
    kinds::{Field, FieldType},
};

/// The first release whose files are read.
const FIRST: Release = Release::minor(6);

/// Upgrades a graph in place. The attributes of calls stay those of the release that saved it.
pub(crate) fn upgrade(graph: &mut Graph<'_>) -> Result<(), Error> {
    let Some(release) = Release::parse(&graph.version).filter(|release| *release >= FIRST) else {
        let message = match short(&graph.version) {
            version if version.is_empty() => {
                "the file does not name the version of TVM that wrote it".to_owned()
            }
            version => format!("TVM {version} is not supported: Relay is saved by TVM 0.6 to 0.19"),
        };
        return Err(Error::new("unknown-version", "`attrs.tvm_version`", message));
    };
    graph.release = release;
    if release < Release::minor(7) {
        from_06(graph)?;
    }
    if release < Release::minor(8) {
        for node in graph.nodes.iter_mut().filter(|node| node.kind == "IRModule") {
            add(node, "attrs");
        }
    }
    if release < Release::minor(9) {
        for node in graph.nodes.iter_mut().filter(|node| WITH_DEVICE.contains(&&*node.kind)) {
            add(node, "virtual_device_");
        }
    }
    if release < Release::minor(10) {
        strings_of_attributes(graph);
    }
    Ok(())
}

/// Turns strings of attributes that are values into objects: `"data_layout": "NCHW"`. TVM did so for one
/// class after the other, in 0.7 to 0.9 and in builds between, so that the version does not decide. The
/// text does: the index of an object is a number, and none of these strings is one.
fn strings_of_attributes(graph: &mut Graph<'_>) {
    let is_string = |field: &&Field| {
        field.ty == FieldType::Object
            && field.default.is_some_and(|default| default.starts_with('"'))
    };
    let mut known: FxHashMap<String, Id> = FxHashMap::default();
    for id in 0..graph.nodes.len() {
        let fields = graph.fields(&graph.nodes[id].kind).unwrap_or_default();
        for field in fields.iter().filter(is_string) {
            let Some(text) = graph.nodes[id].field(field.name) else { continue };
            if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            // All calls of a network have the same layouts.
            let text = text.to_string();
            let string = match known.get(&text) {
                Some(&string) => string,
                None => {
                    let string = push_string(graph, text.clone());
                    known.insert(text, string);
                    string
                }
            };
            graph.nodes[id].set(field.name, string.to_string());
        }
    }
}

/// Adds a string as an object of its own.
fn push_string(graph: &mut Graph<'_>, text: String) -> Id {
    let bytes = (!text.is_empty()).then(|| Cow::Owned(text.into_bytes()));
    graph.nodes.push(Node { kind: Cow::Borrowed("runtime.String"), bytes, ..Node::default() });
    // At most four for each of `MAX_NODES`.
    (graph.nodes.len() - 1) as Id
}

/// Adds a null field.
fn add(node: &mut Node<'_>, field: &'static str) {
    if node.field(field).is_none() {
        node.set(field, "0".to_owned());
    }
}

/// Nodes that have a virtual device since 0.9.
const WITH_DEVICE: &[&str] = &[
    "GlobalVar",
    "relay.Var",
    "relay.Function",
    "relay.Tuple",
    "relay.Call",
    "relay.Let",
    "relay.If",
    "relay.TupleGetItem",
    "relay.RefCreate",
    "relay.RefRead",
    "relay.RefWrite",
    "relay.Match",
    "relay.Constant",
];

/// Fields of a place in a text, by their names before 0.7 and since.
const OF_SPAN: &[(&str, &str)] =
    &[("source", "source_name"), ("lineno", "line"), ("col_offset", "column")];

/// Nodes that are called without their prefix since 0.7.
const WITHOUT_PREFIX: &[&str] = &[
    "relay.Op",
    "relay.Type",
    "relay.TupleType",
    "relay.TypeConstraint",
    "relay.FuncType",
    "relay.IncompleteType",
    "relay.TypeRelation",
    "relay.TypeCall",
    "relay.SourceName",
    "relay.Span",
    "relay.GlobalVar",
    "relay.TypeVar",
    "relay.GlobalTypeVar",
];

/// Nodes that belong to `tir` since 0.7.
const OF_TIR: &[&str] = &[
    "SizeVar",
    "StringImm",
    "Cast",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Mod",
    "FloorDiv",
    "FloorMod",
    "Min",
    "Max",
    "EQ",
    "NE",
    "LT",
    "LE",
    "GT",
    "GE",
    "And",
    "Or",
    "Not",
    "Select",
    "BufferLoad",
    "Ramp",
    "Broadcast",
    "Shuffle",
    "Call",
    "Let",
    "Any",
    "LetStmt",
    "AssertStmt",
    "BufferStore",
    "BufferRealize",
    "Allocate",
    "IfThenElse",
    "Evaluate",
    "Prefetch",
    "AttrStmt",
    "Layout",
    "Buffer",
];

/// Renames kinds, and converts fields that were strings to objects.
fn from_06(graph: &mut Graph<'_>) -> Result<(), Error> {
    // The names of type variables, before those of variables are objects of their own.
    for id in 0..graph.nodes.len() {
        if matches!(&*graph.nodes[id].kind, "relay.TypeVar" | "relay.GlobalTypeVar") {
            // The name was stored in a separate variable.
            let var = graph.link(id as Id, "var")?;
            let name = graph.field(var, "name")?.to_owned();
            let node = &mut graph.nodes[id];
            node.fields.retain(|(key, _)| key != "var");
            node.set("name_hint", name);
        }
    }
    for id in 0..graph.nodes.len() {
        let kind = graph.nodes[id].kind.clone();
        let node = &mut graph.nodes[id];
        match &*kind {
            _ if WITHOUT_PREFIX.contains(&&*kind) => {
                node.kind = Cow::Owned(kind.trim_start_matches("relay.").to_owned());
            }
            _ if OF_TIR.contains(&&*kind) => node.kind = Cow::Owned(format!("tir.{kind}")),
            "Variable" => node.kind = Cow::Borrowed("tir.Var"),
            "relay.Module" => node.kind = Cow::Borrowed("IRModule"),
            "StrMap" => node.kind = Cow::Borrowed("Map"),
            "UIntImm" => node.kind = Cow::Borrowed("IntImm"),
            _ => {}
        }
        if kind == "relay.Span" {
            for (key, _) in &mut node.fields {
                if let Some((_, now)) = OF_SPAN.iter().find(|(old, _)| key == old) {
                    *key = Cow::Borrowed(now);
                }
            }
        }
        if matches!(&*kind, "Variable" | "SizeVar") {
            add(node, "type_annotation");
        }
        let strings: &[&'static str] = match &*kind {
            "relay.TypeVar"
            | "TypeVar"
            | "relay.Id"
            | "relay.GlobalTypeVar"
            | "GlobalTypeVar"
            | "relay.Constructor"
            | "relay.GlobalVar"
            | "GlobalVar" => &["name_hint"],
            "Variable" | "SizeVar" | "Call" | "Layout" => &["name"],
            "StringImm" => &["value"],
            "AttrStmt" => &["attr_key"],
            "Buffer" => &["name", "scope"],
            _ => &[],
        };
        for &field in strings {
            let text = graph.field(id as u32, field)?.to_owned();
            let string = push_string(graph, text);
            graph.nodes[id].set(field, string.to_string());
        }
    }
    Ok(())
}
