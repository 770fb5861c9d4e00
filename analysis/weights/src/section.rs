//! The nodes of a section, and the ranges of its tensors.

use std::{borrow::Cow, ops::Range};

use crate::outline::{Outline, json_start};
use base64::{Engine, engine::general_purpose::STANDARD};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use smol_str::SmolStr;
use types::{DataType, Dim, ElementKind, TensorType};

/// The kind of the entries that are tensors.
pub const CONSTANT: &str = "relay.Constant";

/// The largest number of axes of a tensor.
const MAX_RANK: usize = 64;

/// A scanned section. Of its tensors it stores only headers and ranges in the text.
#[derive(Debug, Default)]
pub struct Section {
    nodes: Vec<Node>,
    /// The node of the array of entries of each kind, in the order of the section, and the entries.
    kinds: Vec<(SmolStr, u32, Vec<u32>)>,
    arrays: Vec<Array>,
    /// The version of TVM that wrote the section.
    version: Option<SmolStr>,
    /// The error if the section is invalid.
    error: Option<String>,
}

/// An object of TVM's graph.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The kind, such as `relay.Constant`.
    pub kind: SmolStr,
    /// The fields, each with its text.
    pub attrs: Vec<(SmolStr, SmolStr)>,
    /// The elements of an array or a map.
    pub data: Vec<u32>,
    /// The keys of a map.
    pub keys: Vec<SmolStr>,
    /// The text of a string.
    pub text: SmolStr,
}

impl Node {
    /// Returns the text of a field.
    pub fn attr(&self, name: &str) -> Option<&str> {
        self.attrs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the number of the tensor of a constant.
    pub fn array(&self) -> Option<usize> {
        self.attr("data")?.parse().ok()
    }
}

/// The text of a tensor in base64.
#[derive(Debug)]
struct Array {
    /// The range in the section, in bytes.
    range: Range<usize>,
    header: Option<Header>,
}

/// The header that precedes the elements of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The type, with known sizes.
    pub ty: TensorType,
    /// The length of the header in bytes, which is the offset of the elements.
    pub length: usize,
}

impl Header {
    /// Parses the header of a tensor in base64.
    pub fn read(text: &[u8]) -> Option<Header> {
        // Magic number and reserved word (16 bytes), device, rank, data type; then the sizes and
        // the length in bytes.
        const FIXED: usize = 8 + 8 + 8 + 4 + 4;
        let front = |bytes: usize| STANDARD.decode(text.get(..bytes.div_ceil(3) * 4)?).ok();
        let fixed = front(FIXED.min(text.len() / 4 * 3)).filter(|b| b.len() >= FIXED)?;
        let rank = i32::from_le_bytes(fixed[24..28].try_into().ok()?);
        let rank = usize::try_from(rank).ok().filter(|&rank| rank <= MAX_RANK)?;
        let kind = match fixed[28] {
            0 => ElementKind::Int,
            1 => ElementKind::UInt,
            2 => ElementKind::Float,
            4 => ElementKind::BFloat,
            _ => return None,
        };
        let lanes = u16::from_le_bytes(fixed[30..32].try_into().ok()?);
        let dtype = DataType { kind, bits: fixed[29], lanes };
        let length = FIXED + rank * 8 + 8;
        let bytes = front(length).filter(|b| b.len() >= length)?;
        let shape = (0..rank).map(|axis| {
            let at = FIXED + axis * 8;
            let size = bytes[at..at + 8].try_into().map(i64::from_le_bytes).unwrap_or_default();
            Dim::known(size)
        });
        Some(Header { ty: TensorType::new(shape, dtype), length })
    }

    /// Returns the header that TVM writes for a tensor in host memory; `None` for elements that are not
    /// numbers.
    pub fn write(dtype: DataType, shape: &[usize]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(40 + shape.len() * 8);
        out.extend(0xDD5E_40F0_96B4_A13Fu64.to_le_bytes());
        out.extend(0u64.to_le_bytes());
        // The first device of the kind `cpu`.
        out.extend(1u32.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend((shape.len() as u32).to_le_bytes());
        let kind = match dtype.kind {
            ElementKind::Int => 0,
            ElementKind::UInt => 1,
            ElementKind::Float => 2,
            ElementKind::BFloat => 4,
            _ => return None,
        };
        out.extend([kind, dtype.bits]);
        out.extend(dtype.lanes.to_le_bytes());
        for &size in shape {
            out.extend((size as u64).to_le_bytes());
        }
        let count = shape.iter().fold(1u64, |count, &size| count.saturating_mul(size as u64));
        out.extend(count.saturating_mul(dtype.bytes()).to_le_bytes());
        Some(out)
    }

    /// Returns the number of bytes of the elements; `None` on overflow.
    pub fn bytes(&self) -> Option<u64> {
        self.ty.bytes()
    }

    /// Returns the sizes of the axes.
    pub fn shape(&self) -> Option<Vec<usize>> {
        self.ty.lengths()
    }
}

#[derive(Deserialize)]
struct Graph<'a> {
    root: usize,
    #[serde(borrow)]
    nodes: Vec<RawNode<'a>>,
    // As bytes, which serde_json does not validate as UTF-8.
    #[serde(borrow, default)]
    b64ndarrays: Vec<&'a [u8]>,
    #[serde(default)]
    attrs: serde_json::Value,
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

impl Section {
    /// Scans a section, which begins with `#[metadata]`. The texts of tensors may be invalid UTF-8, which
    /// [`crate::split`] reports.
    pub fn scan(text: &[u8]) -> Section {
        let json = &text[json_start(text)..];
        // TVM 0.5 prints the JSON as a string of Python.
        let end = match text.starts_with(b"#[") {
            true => json.len(),
            false => memchr::memrchr(b'}', json).map_or(0, |at| at + 1),
        };
        let graph: Graph<'_> = match serde_json::from_slice(&json[..end]) {
            Ok(graph) => graph,
            Err(error) => {
                return Section { error: Some(error.to_string()), ..Section::default() };
            }
        };
        let place = |part: &&[u8]| {
            let at = part.as_ptr() as usize - text.as_ptr() as usize;
            Array { range: at..at + part.len(), header: Header::read(part) }
        };
        let arrays = graph.b64ndarrays.iter().map(place).collect();
        let node = |raw: RawNode<'_>| Node {
            kind: raw.type_key.as_ref().into(),
            attrs: raw.attrs.into_iter().collect(),
            data: raw.data,
            keys: raw.keys,
            text: raw.repr_str,
        };
        let nodes: Vec<Node> = graph.nodes.into_iter().map(node).collect();
        let kinds = nodes.get(graph.root).map_or_else(Vec::new, |root| {
            let lists = root.keys.iter().zip(&root.data);
            let entries = |list: u32| nodes.get(list as usize).map(|node| node.data.clone());
            lists
                .map(|(key, &list)| (key.clone(), list, entries(list).unwrap_or_default()))
                .collect()
        });
        let version = graph.attrs.get("tvm_version").and_then(|version| version.as_str());
        let version = version.map(SmolStr::from);
        Section { nodes, kinds, arrays, version, error: None }
    }

    /// Returns the version of TVM that wrote the section: `0.8.0`.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Scans an outline. The ranges of tensors are those in the section.
    pub fn of_outline(outline: &Outline<'_>) -> Section {
        let mut section = Section::scan(outline.text().as_bytes());
        for array in &mut section.arrays {
            let Range { start, end } = array.range;
            array.range = outline.offset_in_section(start)..outline.offset_in_section(end);
        }
        section
    }

    /// Returns the error if the section is invalid.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns each kind with its entries, which are numbers of nodes.
    pub fn kinds(&self) -> impl Iterator<Item = (&SmolStr, &[u32])> {
        self.kinds.iter().map(|(kind, _, entries)| (kind, entries.as_slice()))
    }

    /// Returns the entries of a kind.
    pub fn entries(&self, kind: &str) -> &[u32] {
        self.kinds.iter().find(|(known, ..)| known == kind).map_or(&[], |(.., entries)| entries)
    }

    /// Returns the number of the node that lists the entries of a kind.
    pub fn list(&self, kind: &str) -> Option<u32> {
        self.kinds.iter().find(|(known, ..)| known == kind).map(|&(_, list, _)| list)
    }

    /// Returns a node.
    pub fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of the tensor of an entry.
    pub fn array_of(&self, kind: &str, index: u32) -> Option<usize> {
        let &node = self.entries(kind).get(index as usize)?;
        self.node(node)?.array().filter(|&array| array < self.arrays.len())
    }

    /// Returns the number of tensors.
    pub fn arrays(&self) -> usize {
        self.arrays.len()
    }

    /// Returns the range of the text of a tensor in the section, in bytes.
    pub fn range(&self, array: usize) -> Option<Range<usize>> {
        self.arrays.get(array).map(|array| array.range.clone())
    }

    /// Returns the header of a tensor, if it is valid.
    pub fn header(&self, array: usize) -> Option<&Header> {
        self.arrays.get(array)?.header.as_ref()
    }
}
