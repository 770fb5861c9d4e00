//! Upgrades JSON of earlier versions to the current format.

use std::borrow::Cow;

use crate::{
    Error,
    graph::{Graph, Node, short},
};

/// The first supported version.
const FIRST: u32 = 6;
/// The last version with Relay.
const LAST: u32 = 19;

/// Upgrades a graph in place.
pub(crate) fn upgrade(graph: &mut Graph<'_>) -> Result<(), Error> {
    let minor = minor(&graph.version).filter(|minor| (FIRST..=LAST).contains(minor));
    let Some(minor) = minor else {
        let message = match short(&graph.version) {
            version if version.is_empty() => {
                "the file does not name the version of TVM that wrote it".to_owned()
            }
            version => format!("TVM {version} is not supported: Relay is saved by TVM 0.6 to 0.19"),
        };
        return Err(Error::new("unknown-version", "`attrs.tvm_version`", message));
    };
    if minor < 7 {
        from_06(graph)?;
    }
    if minor < 8 {
        for node in graph.nodes.iter_mut().filter(|node| node.kind == "IRModule") {
            add(node, "attrs");
        }
    }
    if minor < 9 {
        for node in graph.nodes.iter_mut().filter(|node| WITH_DEVICE.contains(&&*node.kind)) {
            add(node, "virtual_device_");
        }
    }
    Ok(())
}

fn minor(version: &str) -> Option<u32> {
    let rest = version.strip_prefix("0.")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
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

/// Operators that are called without their prefix since 0.7.
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
    for id in 0..graph.nodes.len() {
        let kind = graph.nodes[id].kind.clone();
        if matches!(&*kind, "relay.TypeVar" | "relay.GlobalTypeVar") {
            // The name was stored in a separate variable.
            let var = graph.link(id as u32, "var")?;
            let name = graph.field(var, "name")?.to_owned();
            graph.nodes[var as usize].kind = Cow::Borrowed("");
            let node = &mut graph.nodes[id];
            node.fields.retain(|(key, _)| key != "var");
            node.set("name_hint", name);
        }
        let node = &mut graph.nodes[id];
        match &*kind {
            _ if WITHOUT_PREFIX.contains(&&*kind) => {
                node.kind = Cow::Owned(kind.trim_start_matches("relay.").to_owned());
            }
            _ if OF_TIR.contains(&&*kind) => node.kind = Cow::Owned(format!("tir.{kind}")),
            "Variable" => node.kind = Cow::Borrowed("tir.Var"),
            "relay.Module" => node.kind = Cow::Borrowed("IRModule"),
            "StrMap" => node.kind = Cow::Borrowed("Map"),
            _ => {}
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
            let bytes = (!text.is_empty()).then(|| Cow::Owned(text.into_bytes()));
            let string = Node { kind: Cow::Borrowed("runtime.String"), bytes, ..Node::default() };
            let index = graph.nodes.len();
            graph.nodes.push(string);
            graph.nodes[id].set(field, index.to_string());
        }
    }
    Ok(())
}

/// Returns true if a version is later than that of this printer.
pub(crate) fn is_later(version: &str) -> bool {
    minor(version).is_some_and(|minor| minor > 14)
}
