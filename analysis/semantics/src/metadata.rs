//! The metadata section: constants, symbolic sizes and attributes that the text refers to. The
//! section is TVM's graph of nodes in JSON, with tensors in base64. It is parsed on first use, and
//! each tensor is decoded when its elements are needed instead of all at once: a ResNet-18 with
//! parameters contains 62 MB of them.

use rustc_hash::FxHashMap;
use types::{
    AttrSchema, AttrType, AttrValue, Attrs, Constant, DataType, Dim, Number, Op, Release, SymbolId,
    Type,
};
use weights::{CONSTANT, Node, Weights};

use crate::lower::meta_symbol;

/// The result of a lookup in the metadata section.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaEntry<T> {
    /// The entry.
    Found(T),
    /// The module has no metadata section.
    NoSection,
    /// The section has no such entry.
    Missing,
    /// The entry is of another kind.
    Wrong,
}

/// A section as the analysis sees it. Tensors are decoded on demand.
#[derive(Debug)]
pub struct Metadata {
    weights: Weights,
    dims: FxHashMap<SymbolId, Dim>,
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Metadata) -> bool {
        // The sizes are computed from the section.
        self.weights == other.weights
    }
}

impl Eq for Metadata {}

impl Metadata {
    /// Parses a section: the token that begins with `#[metadata]`.
    pub fn read(token: &str) -> Metadata {
        Metadata::of(Weights::of_text(token))
    }

    /// Resolves the symbolic sizes of a section.
    pub fn of(weights: Weights) -> Metadata {
        let mut metadata = Metadata { weights, dims: FxHashMap::default() };
        let mut dims = FxHashMap::default();
        for (key, entries) in metadata.weights.section().kinds() {
            if is_dim(key) {
                for (index, &node) in (0u32..).zip(entries) {
                    dims.insert(meta_symbol(key, index), metadata.dim_of(node, 0));
                }
            }
        }
        metadata.dims = dims;
        metadata
    }

    /// Returns the nodes and tensors.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns the error if the section is invalid.
    pub fn error(&self) -> Option<&str> {
        self.weights.section().error()
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.weights.section().node(index)
    }

    fn entry(&self, key: &str, index: u32) -> MetaEntry<u32> {
        let entry = self.weights.section().entries(key).get(index as usize);
        entry.map_or(MetaEntry::Missing, |&node| MetaEntry::Found(node))
    }

    /// Returns the release of TVM that wrote the section, as far as it says.
    pub fn release(&self) -> Option<Release> {
        Release::parse(self.weights.section().version()?)
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
        // TVM 0.6 and before have no prefix.
        match node.kind.strip_prefix("tir.").unwrap_or(&node.kind) {
            "IntImm" => {
                let size = node.attr("value").and_then(|v| v.parse().ok()).unwrap_or_default();
                Dim::Known { size, wide: node.attr("dtype") == Some("int64") }
            }
            "Any" => Dim::Any,
            "Var" | "SizeVar" | "Variable" => {
                let name = node.attr("name").map(|name| match name.parse() {
                    Ok(at) => self.node(at).map(|node| node.text.clone()),
                    // In TVM 0.6 and before, strings are values.
                    Err(_) => Some(name.into()),
                });
                let name = name.flatten().filter(|name| !name.is_empty());
                let name = name.unwrap_or_else(|| format!("n{index}").into());
                Dim::symbol(name, SymbolId::of_entry(index))
            }
            "Cast" => part("value"),
            "Add" => binary(Op::Add),
            "Sub" => binary(Op::Sub),
            "Mul" => binary(Op::Mul),
            "FloorDiv" | "Div" => binary(Op::FloorDiv),
            "FloorMod" | "Mod" => binary(Op::FloorMod),
            "Max" => binary(Op::Max),
            "Min" => binary(Op::Min),
            _ => unknown(),
        }
    }

    /// Returns the type of an expression entry.
    pub fn constant_type(&self, key: &str, index: u32) -> MetaEntry<Type> {
        self.entry(key, index).and_then(|node| {
            let node = self.node(node)?;
            match node.kind.as_str() {
                CONSTANT => Some(self.weights.section().header(node.array()?)?.ty.clone().into()),
                _ => node.attr("_checked_type_").and_then(|at| self.type_of(at.parse().ok()?)),
            }
        })
    }

    /// Returns a constant with its elements.
    pub fn constant(&self, key: &str, index: u32) -> MetaEntry<Constant> {
        self.entry(key, index).and_then(|node| self.decode(node))
    }

    /// Returns a hash of the content of an expression entry, which is equal for equal constants.
    pub fn content_hash(&self, key: &str, index: u32) -> MetaEntry<u64> {
        self.entry(key, index).and_then(|node| self.weights.content_hash(self.node(node)?.array()?))
    }

    fn decode(&self, node: u32) -> Option<Constant> {
        let array = self.node(node)?.array()?;
        let header = self.weights.section().header(array)?;
        let data = self.weights.payload(array)?.decode(header).ok()?;
        Some(Constant { ty: header.ty.clone(), data: data.into() })
    }

    fn type_of(&self, index: u32) -> Option<Type> {
        let node = self.node(index)?;
        let child = |name: &str| node.attr(name)?.parse::<u32>().ok();
        match node.kind.as_str() {
            "relay.TensorType" => {
                let shape = self.node(child("shape")?)?.data.iter();
                let dims = shape.map(|&dim| self.dim_of(dim, 0));
                Some(Type::tensor(dims, DataType::parse(node.attr("dtype")?)?))
            }
            "TupleType" => {
                let fields = self.node(child("fields")?)?.data.iter();
                let fields: Option<Vec<Type>> = fields.map(|&field| self.type_of(field)).collect();
                Some(Type::tuple(fields?))
            }
            _ => None,
        }
    }

    /// Returns an entry as the attributes of a call.
    pub fn attrs(&self, key: &str, index: u32) -> MetaEntry<Attrs> {
        self.entry(key, index).and_then(|node| {
            let node = self.node(node)?;
            let schema = operators::attrs::by_key(&node.kind)?;
            Some(self.attrs_of(node, schema))
        })
    }

    fn attrs_of(&self, node: &Node, schema: &'static AttrSchema) -> Attrs {
        let values = schema.fields.iter().map(|field| match node.attr(field.name) {
            None => field.default.into(),
            Some(text) => {
                let is_string =
                    matches!(field.ty, AttrType::Str | AttrType::Layout | AttrType::Choice(_));
                let string = || is_string.then(|| AttrValue::Str(text.into()));
                let direct = match field.ty {
                    _ if field.boxed => None,
                    AttrType::Int => text.parse().ok().map(AttrValue::int),
                    AttrType::Bool => Some(AttrValue::Bool(text != "0")),
                    AttrType::Float => text.parse().ok().map(|v| AttrValue::Float(Number(v))),
                    AttrType::DType => DataType::parse(text).map(AttrValue::DType),
                    _ => string(),
                };
                let indirect = || text.parse().ok().map(|at| self.value_of(at, 0));
                // In TVM 0.7 and before, strings are values.
                direct.or_else(indirect).or_else(string).unwrap_or(AttrValue::Error)
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
        match node.kind.as_str() {
            "" => AttrValue::None,
            "IntImm" if node.attr("dtype") == Some("bool") => AttrValue::Bool(value() != Some("0")),
            "IntImm" => {
                let wide = node.attr("dtype") == Some("int64");
                let number = value().and_then(|v| v.parse().ok());
                number.map_or(AttrValue::Error, |value| AttrValue::Int { value, wide })
            }
            "FloatImm" => {
                let number = value().and_then(|v| v.parse().ok());
                number.map_or(AttrValue::Error, |number| AttrValue::Float(Number(number)))
            }
            "runtime.String" => AttrValue::Str(node.text.clone()),
            "Array" => {
                AttrValue::List(node.data.iter().map(|&at| self.value_of(at, depth + 1)).collect())
            }
            CONSTANT => {
                let constant = self.decode(index);
                constant.map_or(AttrValue::Error, |found| AttrValue::Constant(found.into()))
            }
            key if key.starts_with("tir.") => AttrValue::Dim(self.dim_of(index, 0)),
            _ => AttrValue::Opaque,
        }
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

/// Returns true for the keys of sizes.
fn is_dim(key: &str) -> bool {
    const OLD: &[&str] = &[
        "Any", "Variable", "Cast", "Add", "Sub", "Mul", "FloorDiv", "Div", "FloorMod", "Mod",
        "Max", "Min", "IntImm",
    ];
    key.starts_with("tir.") || OLD.contains(&key)
}
