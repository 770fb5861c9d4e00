//! The metadata section: objects that the text refers to, as in `meta[relay.Constant][0]`.

use rustc_hash::FxHashMap;

use crate::{
    Error, former,
    graph::{Graph, Id, packed},
    kinds::FieldType,
    map, numbers,
    write::JsonWriter,
};

/// Objects of the metadata section, by kind in the order of their first use.
#[derive(Default)]
pub(crate) struct Metadata {
    kinds: Vec<(String, Vec<Id>)>,
    names: FxHashMap<Id, String>,
}

impl Metadata {
    /// Adds an object to the section and returns its name.
    pub(crate) fn name(&mut self, graph: &Graph<'_>, id: Id) -> Result<&str, Error> {
        if !self.names.contains_key(&id) {
            if !graph.is_there(id) {
                return Err(graph.bad(id, "an object is expected here"));
            }
            let kind = former::key(graph.kind(id), graph.release);
            let at = self.kinds.iter().position(|(known, _)| known == kind).unwrap_or_else(|| {
                self.kinds.push((kind.to_owned(), Vec::new()));
                self.kinds.len() - 1
            });
            let list = &mut self.kinds[at].1;
            self.names.insert(id, format!("meta[{kind}][{}]", list.len()));
            list.push(id);
        }
        Ok(&self.names[&id])
    }

    /// Returns true if the section has no objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns the section as TVM saves a map from kinds to arrays of objects.
    pub(crate) fn section(&self, graph: &Graph<'_>, version: &str) -> Result<String, Error> {
        let inserted: Vec<&str> = self.kinds.iter().map(|(kind, _)| kind.as_str()).collect();
        let keys = map::ordered(&inserted);
        let mut index = Index::new(graph);
        let mut lists = Vec::new();
        for key in &keys {
            let Some((_, list)) = self.kinds.iter().find(|(kind, _)| kind == key) else { continue };
            lists.push((index.list(), list));
            for &id in list {
                index.add(id)?;
            }
        }
        let mut out = JsonWriter::default();
        out.begin('{', true);
        out.member("root");
        out.number(1);
        out.member("nodes");
        out.begin('[', true);
        let entries = index.entries.iter();
        for entry in entries {
            out.element();
            out.begin('{', true);
            out.member("type_key");
            match *entry {
                Entry::Null => out.string(""),
                Entry::Map => {
                    out.string("Map");
                    out.member("keys");
                    out.strings(keys.iter().copied());
                    out.member("data");
                    let data: Vec<u32> = lists.iter().map(|(at, _)| *at).collect();
                    out.numbers(&data);
                }
                Entry::List(at) => {
                    out.string("Array");
                    let list = lists.iter().find(|(own, _)| *own == at).map(|(_, list)| *list);
                    let list = list.into_iter().flatten();
                    let data: Vec<u32> = list.map(|id| index.numbers[id]).collect();
                    out.member("data");
                    out.numbers(&data);
                }
                Entry::Node(id) => index.node(&mut out, id)?,
            }
            out.end('}');
        }
        out.end(']');
        out.member("b64ndarrays");
        out.strings(index.arrays.iter().map(|&array| &*graph.arrays[array]));
        out.member("attrs");
        out.object(&[("tvm_version", version.to_owned())]);
        out.end('}');
        Ok(out.finish())
    }
}

/// The kind of a node of the section.
enum Entry {
    /// Null; the first of all nodes.
    Null,
    /// The map from kinds.
    Map,
    /// The array of a kind, by the number of the array.
    List(u32),
    /// An object of the module.
    Node(Id),
}

/// New numbers of objects and arrays.
struct Index<'g, 't> {
    graph: &'g Graph<'t>,
    entries: Vec<Entry>,
    numbers: FxHashMap<Id, u32>,
    arrays: Vec<usize>,
    array_numbers: FxHashMap<usize, usize>,
}

impl<'g, 't> Index<'g, 't> {
    fn new(graph: &'g Graph<'t>) -> Index<'g, 't> {
        Index {
            graph,
            entries: vec![Entry::Null, Entry::Map],
            numbers: FxHashMap::default(),
            arrays: Vec::new(),
            array_numbers: FxHashMap::default(),
        }
    }

    fn list(&mut self) -> u32 {
        let number = self.entries.len() as u32;
        self.entries.push(Entry::List(number));
        number
    }

    /// Numbers an object and all objects that it refers to: each before its parts, in the order of its fields.
    fn add(&mut self, id: Id) -> Result<(), Error> {
        let graph = self.graph;
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            let node = graph.node(id);
            if node.kind.is_empty() || self.numbers.contains_key(&id) {
                continue;
            }
            self.numbers.insert(id, self.entries.len() as u32);
            self.entries.push(Entry::Node(id));
            let begin = left.len();
            if &*node.kind == "Array" || &*node.kind == "Map" {
                left.extend_from_slice(&node.data);
            } else if node.bytes.is_none() && &*node.kind != "runtime.String" {
                let fields = graph.fields(&node.kind).ok_or_else(|| graph.unknown(id))?;
                for field in fields {
                    match field.ty {
                        FieldType::Object => left.extend(graph.optional(id, field.name)?),
                        FieldType::Array => self.array(id, field.name)?,
                        _ => {}
                    }
                }
                if &*node.kind == "relay.Let" {
                    // The parts of a binding are in another order.
                    left.truncate(begin);
                    for name in ["var", "value", "span", "_checked_type_", "body"] {
                        left.extend(graph.optional(id, name)?);
                    }
                }
            }
            left[begin..].reverse();
        }
        Ok(())
    }

    fn array(&mut self, id: Id, field: &str) -> Result<(), Error> {
        let array: usize = self.graph.number(id, field)?;
        if array >= self.graph.arrays.len() {
            return Err(self.graph.bad(id, &format!("there is no array {array}")));
        }
        if !self.array_numbers.contains_key(&array) {
            self.array_numbers.insert(array, self.arrays.len());
            self.arrays.push(array);
        }
        Ok(())
    }

    /// Writes the contents of a node after its opening brace.
    fn node(&self, out: &mut JsonWriter, id: Id) -> Result<(), Error> {
        let node = self.graph.node(id);
        out.string(&node.kind);
        let number = |id: &Id| self.numbers.get(id).copied().unwrap_or(0);
        if let Some(bytes) = &node.bytes {
            match std::str::from_utf8(bytes) {
                Ok(text) if bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) => {
                    out.member("repr_str");
                    out.string(text);
                }
                _ => {
                    out.member("repr_b64");
                    out.string(&packed(bytes));
                }
            }
            return Ok(());
        }
        let mut fields = Vec::new();
        for field in self.graph.fields(&node.kind).unwrap_or_default() {
            let Some(text) = node.field(field.name) else {
                // A version that did not have it yet: an object that is not there.
                if field.ty == FieldType::Object {
                    fields.push((field.name, "0".to_owned()));
                }
                continue;
            };
            let text = match field.ty {
                FieldType::Object => number(&self.graph.link(id, field.name)?).to_string(),
                FieldType::Array => {
                    let array: usize = self.graph.number(id, field.name)?;
                    self.array_numbers.get(&array).copied().unwrap_or_default().to_string()
                }
                // TVM 0.9 and before saved fewer digits.
                FieldType::Float => numbers::whole(self.graph.number(id, field.name)?),
                _ => text.to_string(),
            };
            fields.push((field.name, text));
        }
        if !fields.is_empty() {
            fields.sort_unstable();
            out.member("attrs");
            out.object(&fields);
        }
        if !node.keys.is_empty() {
            out.member("keys");
            out.strings(node.keys.iter().map(|key| &**key));
        }
        if !node.data.is_empty() {
            let data: Vec<u32> = node.data.iter().map(number).collect();
            out.member("data");
            out.numbers(&data);
        }
        Ok(())
    }
}
