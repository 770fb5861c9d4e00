//! The metadata section: constants, symbolic sizes and attributes that the text refers to. The
//! section is TVM's graph of nodes in JSON, with tensors in base64. It is parsed on first use, and
//! each tensor is decoded when its elements are needed instead of all at once: a ResNet-18 with
//! parameters contains 62 MB of them.

use std::{borrow::Cow, ops::Range, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use smol_str::SmolStr;
use types::{
    AttrSchema, AttrType, AttrValue, Attrs, Constant, DataType, Dim, ElementKind, Number, Op,
    SymbolId, TensorType, Type,
};

use crate::{infer::MetaEntry, lower::meta_symbol};

/// A parsed section. Tensors are decoded on demand.
#[derive(Debug, Default)]
pub struct Metadata {
    /// The text of the section.
    text: Arc<str>,
    nodes: Vec<Node>,
    /// The nodes of the entries of each key, such as `relay.Constant`.
    entries: FxHashMap<SmolStr, Vec<u32>>,
    /// The range of the text of each tensor.
    arrays: Vec<Range<usize>>,
    dims: FxHashMap<SymbolId, Dim>,
    /// The error if the section is invalid.
    error: Option<String>,
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Metadata) -> bool {
        // All fields are computed from the text.
        Arc::ptr_eq(&self.text, &other.text) || self.text == other.text
    }
}

impl Eq for Metadata {}

#[derive(Debug, Default)]
struct Node {
    key: SmolStr,
    attrs: Vec<(SmolStr, SmolStr)>,
    data: Vec<u32>,
    keys: Vec<SmolStr>,
    text: SmolStr,
}

#[derive(Deserialize)]
struct Graph<'a> {
    root: usize,
    #[serde(borrow)]
    nodes: Vec<RawNode<'a>>,
    #[serde(borrow, default)]
    b64ndarrays: Vec<&'a str>,
}

#[derive(Deserialize)]
struct RawNode<'a> {
    #[serde(borrow)]
    type_key: Cow<'a, str>,
    #[serde(default)]
    attrs: FxHashMap<SmolStr, SmolStr>,
    #[serde(default)]
    data: Vec<u32>,
    #[serde(default)]
    keys: Vec<SmolStr>,
    #[serde(default)]
    repr_str: SmolStr,
}

impl Metadata {
    /// Parses a section: the token that begins with `#[metadata]`.
    pub fn read(token: &str) -> Metadata {
        let text: Arc<str> = token.into();
        let start = token.find(']').map_or(token.len(), |at| at + 1);
        let graph: Graph<'_> = match serde_json::from_str(&text[start..]) {
            Ok(graph) => graph,
            Err(error) => {
                let error = Some(error.to_string());
                return Metadata { error, text: text.clone(), ..Metadata::default() };
            }
        };
        let place = |part: &str| {
            let at = part.as_ptr() as usize - text.as_ptr() as usize;
            at..at + part.len()
        };
        let arrays = graph.b64ndarrays.iter().map(|part| place(part)).collect();
        let root = graph.root;
        let nodes: Vec<Node> = graph
            .nodes
            .into_iter()
            .map(|raw| Node {
                key: raw.type_key.as_ref().into(),
                attrs: raw.attrs.into_iter().collect(),
                data: raw.data,
                keys: raw.keys,
                text: raw.repr_str,
            })
            .collect();
        let mut metadata = Metadata { text: text.clone(), nodes, arrays, ..Metadata::default() };
        metadata.index(root);
        metadata
    }

    fn index(&mut self, root: usize) {
        let Some(root) = self.nodes.get(root) else { return };
        let (keys, data) = (root.keys.clone(), root.data.clone());
        for (key, array) in keys.into_iter().zip(data) {
            let entries = self.node(array).map(|node| node.data.clone()).unwrap_or_default();
            for (index, &node) in entries.iter().enumerate() {
                if key.starts_with("tir.") || key == "IntImm" {
                    let dim = self.dim_of(node, 0);
                    self.dims.insert(meta_symbol(&key, index as u32), dim);
                }
            }
            self.entries.insert(key, entries);
        }
    }

    /// Returns the error if the section is invalid.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the number of entries of each key.
    pub fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.entries.iter().map(|(key, entries)| (key.as_str(), entries.len()))
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    fn entry(&self, key: &str, index: u32) -> MetaEntry<u32> {
        let entry = self.entries.get(key).and_then(|entries| entries.get(index as usize));
        entry.map_or(MetaEntry::Missing, |&node| MetaEntry::Found(node))
    }

    /// Returns a symbolic size that the text refers to.
    pub fn dim(&self, symbol: SymbolId) -> Option<Dim> {
        self.dims.get(&symbol).cloned()
    }

    fn dim_of(&self, index: u32, depth: u32) -> Dim {
        let unknown = || Dim::symbol(format!("n{index}"), SymbolId::of_entry(index));
        let Some(node) = self.node(index).filter(|_| depth < 64) else { return unknown() };
        let part = |name: &str| {
            let at = node.attr(name).and_then(|text| text.parse().ok()).unwrap_or(0);
            self.dim_of(at, depth + 1)
        };
        let binary = |op: Op| Dim::apply(op, &part("a"), &part("b"));
        match node.key.as_str() {
            "IntImm" => {
                let size = node.attr("value").and_then(|v| v.parse().ok()).unwrap_or_default();
                Dim::Known { size, wide: node.attr("dtype") == Some("int64") }
            }
            "tir.Any" => Dim::Any,
            "tir.Var" | "tir.SizeVar" => {
                let name = node.attr("name").and_then(|at| self.node(at.parse().ok()?));
                let name = name.map_or_else(|| format!("n{index}").into(), |n| n.text.clone());
                Dim::symbol(name, SymbolId::of_entry(index))
            }
            "tir.Cast" => part("value"),
            "tir.Add" => binary(Op::Add),
            "tir.Sub" => binary(Op::Sub),
            "tir.Mul" => binary(Op::Mul),
            "tir.FloorDiv" | "tir.Div" => binary(Op::FloorDiv),
            "tir.FloorMod" | "tir.Mod" => binary(Op::FloorMod),
            "tir.Max" => binary(Op::Max),
            "tir.Min" => binary(Op::Min),
            _ => unknown(),
        }
    }

    /// Returns the type of an expression entry.
    pub fn constant_type(&self, key: &str, index: u32) -> MetaEntry<Type> {
        self.entry(key, index).and_then(|node| {
            let node = self.node(node)?;
            match node.key.as_str() {
                "relay.Constant" => Some(self.header(self.array(node)?)?.0.into()),
                _ => node.attr("_checked_type_").and_then(|at| self.type_of(at.parse().ok()?)),
            }
        })
    }

    /// Returns a constant with its elements.
    pub fn constant(&self, key: &str, index: u32) -> MetaEntry<Constant> {
        self.entry(key, index).and_then(|node| self.decode(self.array(self.node(node)?)?))
    }

    /// Returns the base64 text of an expression entry, which is equal for equal constants.
    pub fn content(&self, key: &str, index: u32) -> MetaEntry<&str> {
        self.entry(key, index).and_then(|node| self.array(self.node(node)?))
    }

    fn array(&self, node: &Node) -> Option<&str> {
        let index: usize = node.attr("data")?.parse().ok()?;
        self.text.get(self.arrays.get(index)?.clone())
    }

    /// Returns the type of a tensor, and the offset of its elements in the decoded bytes.
    fn header(&self, text: &str) -> Option<(TensorType, usize)> {
        // Magic number and reserved word (16 bytes), device, rank, data type; then the sizes and
        // the length in bytes.
        const FIXED: usize = 8 + 8 + 4 + 4 + 4 + 4;
        let front = |bytes: usize| STANDARD.decode(text.get(..bytes.div_ceil(3) * 4)?).ok();
        let fixed = front(FIXED.min(text.len() / 4 * 3)).filter(|b| b.len() >= FIXED)?;
        let rank = i32::from_le_bytes(fixed[24..28].try_into().ok()?);
        let rank = usize::try_from(rank).ok().filter(|&rank| rank <= 64)?;
        let kind = match fixed[28] {
            0 => ElementKind::Int,
            1 => ElementKind::UInt,
            2 => ElementKind::Float,
            4 => ElementKind::BFloat,
            _ => return None,
        };
        let lanes = u16::from_le_bytes(fixed[30..32].try_into().ok()?);
        let dtype = DataType { kind, bits: fixed[29], lanes };
        let whole = FIXED + rank * 8 + 8;
        let bytes = front(whole).filter(|b| b.len() >= whole)?;
        let shape = (0..rank).map(|axis| {
            let at = FIXED + axis * 8;
            let size = bytes[at..at + 8].try_into().map(i64::from_le_bytes).unwrap_or_default();
            Dim::known(size)
        });
        Some((TensorType::new(shape, dtype), whole))
    }

    fn decode(&self, text: &str) -> Option<Constant> {
        let (ty, offset) = self.header(text)?;
        let bytes = STANDARD.decode(text).ok()?;
        let length = usize::try_from(ty.bytes()?).ok()?;
        let data = bytes.get(offset..offset + length)?.into();
        Some(Constant { ty, data })
    }

    fn type_of(&self, index: u32) -> Option<Type> {
        let node = self.node(index)?;
        let child = |name: &str| node.attr(name)?.parse::<u32>().ok();
        match node.key.as_str() {
            "relay.TensorType" => {
                let shape = self.node(child("shape")?)?.data.clone();
                let dims = shape.into_iter().map(|dim| self.dim_of(dim, 0));
                Some(Type::tensor(dims, DataType::parse(node.attr("dtype")?)?))
            }
            "TupleType" => {
                let fields = self.node(child("fields")?)?.data.clone();
                let fields: Option<Vec<Type>> =
                    fields.into_iter().map(|field| self.type_of(field)).collect();
                Some(Type::tuple(fields?))
            }
            _ => None,
        }
    }

    /// Returns an entry as the attributes of a call.
    pub fn attrs(&self, key: &str, index: u32) -> MetaEntry<Attrs> {
        self.entry(key, index).and_then(|node| {
            let node = self.node(node)?;
            let schema = operators::attrs::by_key(&node.key)?;
            Some(self.attrs_of(node, schema))
        })
    }

    fn attrs_of(&self, node: &Node, schema: &'static AttrSchema) -> Attrs {
        let values = schema.fields.iter().map(|field| match node.attr(field.name) {
            None => field.default.into(),
            Some(text) => {
                let direct = match field.ty {
                    _ if field.boxed => None,
                    AttrType::Int => text.parse().ok().map(AttrValue::int),
                    AttrType::Bool => Some(AttrValue::Bool(text != "0")),
                    AttrType::Float => text.parse().ok().map(|v| AttrValue::Float(Number(v))),
                    AttrType::Str | AttrType::Layout | AttrType::Choice(_) => {
                        Some(AttrValue::Str(text.into()))
                    }
                    AttrType::DType => DataType::parse(text).map(AttrValue::DType),
                    _ => None,
                };
                let indirect = || Some(self.value_of(text.parse().ok()?, 0));
                direct.or_else(indirect).unwrap_or(AttrValue::Error)
            }
        });
        Attrs::new(schema, values.collect::<Vec<_>>())
    }

    /// Returns an entry as the value of an attribute.
    pub fn value(&self, key: &str, index: u32) -> MetaEntry<AttrValue> {
        self.entry(key, index).map(|node| self.value_of(node, 0))
    }

    fn value_of(&self, index: u32, depth: u32) -> AttrValue {
        let Some(node) = self.node(index).filter(|_| depth < 64) else { return AttrValue::Error };
        let value = || node.attr("value");
        match node.key.as_str() {
            "" => AttrValue::None,
            "IntImm" if node.attr("dtype") == Some("bool") => AttrValue::Bool(value() != Some("0")),
            "IntImm" => match value().and_then(|v| v.parse().ok()) {
                Some(number) => {
                    AttrValue::Int { value: number, wide: node.attr("dtype") == Some("int64") }
                }
                None => AttrValue::Error,
            },
            "FloatImm" => match value().and_then(|v| v.parse().ok()) {
                Some(number) => AttrValue::Float(Number(number)),
                None => AttrValue::Error,
            },
            "runtime.String" => AttrValue::Str(node.text.clone()),
            "Array" => {
                AttrValue::List(node.data.iter().map(|&at| self.value_of(at, depth + 1)).collect())
            }
            "relay.Constant" => match self.array(node).and_then(|text| self.decode(text)) {
                Some(constant) => AttrValue::Constant(constant.into()),
                None => AttrValue::Error,
            },
            key if key.starts_with("tir.") => AttrValue::Dim(self.dim_of(index, 0)),
            _ => AttrValue::Opaque,
        }
    }
}

impl Node {
    fn attr(&self, name: &str) -> Option<&str> {
        self.attrs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl<T> MetaEntry<T> {
    fn map<U>(self, f: impl FnOnce(T) -> U) -> MetaEntry<U> {
        self.and_then(|found| Some(f(found)))
    }

    fn and_then<U>(self, f: impl FnOnce(T) -> Option<U>) -> MetaEntry<U> {
        match self {
            MetaEntry::Found(found) => f(found).map_or(MetaEntry::Wrong, MetaEntry::Found),
            MetaEntry::NoSection => MetaEntry::NoSection,
            MetaEntry::Missing => MetaEntry::Missing,
            MetaEntry::Wrong => MetaEntry::Wrong,
        }
    }
}
