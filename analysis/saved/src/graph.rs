//! The graph of nodes that `tvm.ir.save_json` writes.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use types::Release;

use crate::{Error, MAX_NODES, former, kinds::Field};

/// The index of a node. A node without a kind represents null.
pub(crate) type Id = u32;

/// A saved object with all objects that it refers to.
pub(crate) struct Graph<'t> {
    pub(crate) root: Id,
    pub(crate) nodes: Vec<Node<'t>>,
    /// Arrays in base64.
    pub(crate) arrays: Vec<Cow<'t, str>>,
    /// The version of TVM that wrote it.
    pub(crate) version: Cow<'t, str>,
    /// Its release: that of the printer until the graph is upgraded.
    pub(crate) release: Release,
}

/// One object.
#[derive(Default, Clone)]
pub(crate) struct Node<'t> {
    /// The type key of TVM.
    pub(crate) kind: Cow<'t, str>,
    /// The bytes of objects that are saved by name: strings, operators, source names.
    pub(crate) bytes: Option<Cow<'t, [u8]>>,
    /// Fields by name. If a field is another object, the value is its index.
    pub(crate) fields: Vec<(Cow<'t, str>, Cow<'t, str>)>,
    /// Keys of a map from strings.
    pub(crate) keys: Vec<Cow<'t, str>>,
    /// The elements of an array; the values of a map, each after its key unless keys are strings.
    pub(crate) data: Vec<Id>,
}

impl<'t> Node<'t> {
    /// Returns the text of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&Cow<'t, str>> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, name: &'static str, value: String) {
        match self.fields.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value.into(),
            None => self.fields.push((name.into(), value.into())),
        }
    }
}

impl<'t> Graph<'t> {
    /// Reads a graph.
    pub(crate) fn read(json: &'t str) -> Result<Graph<'t>, Error> {
        let raw: RawGraph<'t> = serde_json::from_str(json).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let reason = reason(&error);
            let code = if reason.starts_with("more than") { "too-many-nodes" } else { "not-json" };
            Error::new(code, place, format!("this is not what `tvm.ir.save_json` writes: {reason}"))
        })?;
        let version = raw.attrs.0.into_iter().find(|(key, _)| key == "tvm_version");
        let version = version.map(|(_, version)| version).unwrap_or_default();
        let root = raw.root.unwrap_or(u32::MAX);
        let Nodes(nodes) = raw.nodes.unwrap_or_default();
        let arrays = raw.b64ndarrays.into_iter().map(|Text(text)| text).collect();
        let graph = Graph { root, nodes, arrays, version, release: Release::DEFAULT };
        for (id, node) in graph.nodes.iter().enumerate() {
            if let Some(&far) = node.data.iter().find(|&&link| link as usize >= graph.nodes.len()) {
                return Err(graph.bad(id as Id, &format!("there is no node {far}")));
            }
        }
        if graph.root as usize >= graph.nodes.len() {
            return Err(Error::new(
                "bad-graph",
                "`root`",
                format!("there is no node {}", graph.root),
            ));
        }
        Ok(graph)
    }

    /// Returns a node. All indices in the graph are valid.
    pub(crate) fn node(&self, id: Id) -> &Node<'t> {
        &self.nodes[id as usize]
    }

    /// Returns the kind of a node.
    pub(crate) fn kind(&self, id: Id) -> &str {
        &self.node(id).kind
    }

    /// Returns the fields of a known kind in the release that saved the graph.
    pub(crate) fn fields(&self, kind: &str) -> Option<&'static [Field]> {
        former::fields(kind, self.release)
    }

    /// Returns true if a node is not null.
    pub(crate) fn is_there(&self, id: Id) -> bool {
        !self.node(id).kind.is_empty()
    }

    /// Returns the text of a field.
    pub(crate) fn field(&self, id: Id, name: &str) -> Result<&str, Error> {
        let field = self.node(id).field(name);
        field.map(|text| &**text).ok_or_else(|| self.bad(id, &format!("it has no field `{name}`")))
    }

    /// Returns the object in a field.
    pub(crate) fn link(&self, id: Id, name: &str) -> Result<Id, Error> {
        let text = self.field(id, name)?;
        self.index(text)
            .ok_or_else(|| self.bad(id, &format!("`{name}` is not a node: `{}`", short(text))))
    }

    /// Returns the object in a field, if it is not null.
    pub(crate) fn optional(&self, id: Id, name: &str) -> Result<Option<Id>, Error> {
        if self.node(id).field(name).is_none() {
            return Ok(None);
        }
        Ok(Some(self.link(id, name)?).filter(|&link| self.is_there(link)))
    }

    fn index(&self, text: &str) -> Option<Id> {
        text.parse::<Id>().ok().filter(|&index| (index as usize) < self.nodes.len())
    }

    /// Returns the elements of the array in a field; none if the field is null.
    pub(crate) fn list(&self, id: Id, name: &str) -> Result<&[Id], Error> {
        let list = self.link(id, name)?;
        self.elements(list)
    }

    /// Returns the elements of an array.
    pub(crate) fn elements(&self, list: Id) -> Result<&[Id], Error> {
        match self.kind(list) {
            "Array" | "" => Ok(&self.node(list).data),
            _ => Err(self.bad(list, "an array is expected here")),
        }
    }

    /// Returns the string in a field.
    pub(crate) fn string(&self, id: Id, name: &str) -> Result<Cow<'_, str>, Error> {
        let link = self.link(id, name)?;
        Ok(self.bytes_as_text(link))
    }

    /// Returns the text of a string, or the name of an object that is saved by name.
    pub(crate) fn bytes_as_text(&self, id: Id) -> Cow<'_, str> {
        String::from_utf8_lossy(self.node(id).bytes.as_deref().unwrap_or_default())
    }

    /// Returns the number in a field.
    pub(crate) fn number<N: std::str::FromStr>(&self, id: Id, name: &str) -> Result<N, Error> {
        let text = self.field(id, name)?;
        text.parse()
            .map_err(|_| self.bad(id, &format!("`{name}` is not a number: `{}`", short(text))))
    }

    /// Returns the entries of a map from strings.
    pub(crate) fn entries(&self, id: Id) -> Result<Vec<(Cow<'_, str>, Id)>, Error> {
        let node = self.node(id);
        if !matches!(&*node.kind, "Map" | "") {
            return Err(self.bad(id, "a map is expected here"));
        }
        if !node.keys.is_empty() && node.keys.len() == node.data.len() {
            let keys = node.keys.iter().map(|key| Cow::Borrowed(&**key));
            return Ok(keys.zip(node.data.iter().copied()).collect());
        }
        let pairs = self.pairs(id)?;
        Ok(pairs.into_iter().map(|(key, value)| (self.bytes_as_text(key), value)).collect())
    }

    /// Returns the entries of a map from objects.
    pub(crate) fn pairs(&self, id: Id) -> Result<Vec<(Id, Id)>, Error> {
        let node = self.node(id);
        if !node.keys.is_empty() || !node.data.len().is_multiple_of(2) {
            return Err(self.bad(id, "its keys and values do not match"));
        }
        Ok(node.data.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    /// Returns the name of a node for messages.
    pub(crate) fn place(&self, id: Id) -> String {
        match self.kind(id) {
            "" => format!("node {id}"),
            kind => format!("node {id} (`{}`)", short(kind)),
        }
    }

    /// Returns an error about a node.
    pub(crate) fn bad(&self, id: Id, message: &str) -> Error {
        Error::new("bad-graph", self.place(id), message)
    }

    /// Returns the error about a function that was lowered to loops, whose name in the module may be known.
    pub(crate) fn lowered(&self, id: Id, name: Option<&str>) -> Error {
        let message = match name.map(short) {
            Some(name) => format!("`@{name}` is a `tir.PrimFunc`, which has no text in Relay"),
            None => "a `tir.PrimFunc` has no text in Relay".to_owned(),
        };
        Error::new("lowered-function", format!("node {id}"), message)
    }

    /// Returns the error about a node of an unknown kind, or of one that cannot be at its place.
    pub(crate) fn unknown(&self, id: Id) -> Error {
        if self.kind(id) == "tir.PrimFunc" {
            return self.lowered(id, None);
        }
        let version = short(&self.version);
        let message =
            format!("`{}` is not a known kind of node (TVM {version})", short(self.kind(id)));
        Error::new("unknown-node-kind", format!("node {id}"), message)
    }
}

/// Shortens a text of a file for a message, and escapes its control characters.
pub(crate) fn short(text: &str) -> Cow<'_, str> {
    let cut = text.char_indices().nth(80).map(|(end, _)| end);
    let part = &text[..cut.unwrap_or(text.len())];
    if cut.is_none() && !part.contains(char::is_control) {
        return text.into();
    }
    let more = if cut.is_some() { "…" } else { "" };
    (on_one_line(part) + more).into()
}

/// The reason why a file is not the JSON that it should be. It may quote a value of the file, which
/// may be as long as the file: the middle is left out then.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    const MAX_SHOWN: usize = 60;
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason);
    let count = text.chars().count();
    if count <= 2 * MAX_SHOWN {
        return on_one_line(text);
    }
    let from: String = text.chars().take(MAX_SHOWN).collect();
    let to: String = text.chars().skip(count - MAX_SHOWN).collect();
    on_one_line(&format!("{from}…{to}"))
}

/// A text without control characters.
fn on_one_line(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// A string of the file, borrowed unless it has escapes.
#[derive(Default, Clone, Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

#[derive(Deserialize)]
struct RawGraph<'t> {
    root: Option<Id>,
    #[serde(borrow)]
    nodes: Option<Nodes<'t>>,
    #[serde(borrow, default)]
    b64ndarrays: Vec<Text<'t>>,
    #[serde(borrow, default)]
    attrs: Fields<'t>,
}

#[derive(Deserialize)]
struct RawNode<'t> {
    #[serde(borrow, default)]
    type_key: Text<'t>,
    #[serde(borrow, default)]
    repr_str: Option<Text<'t>>,
    #[serde(borrow, default)]
    repr_b64: Option<Text<'t>>,
    /// Used instead of `repr_str` up to TVM 0.7.
    #[serde(borrow, default)]
    global_key: Option<Text<'t>>,
    #[serde(borrow, default)]
    attrs: Fields<'t>,
    #[serde(borrow, default)]
    keys: Vec<Text<'t>>,
    #[serde(default)]
    data: Vec<Id>,
}

#[derive(Default)]
struct Fields<'t>(Vec<(Cow<'t, str>, Cow<'t, str>)>);

impl<'de: 't, 't> Deserialize<'de> for Fields<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(key), Text(value))) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(Members)
    }
}

#[derive(Default)]
struct Nodes<'t>(Vec<Node<'t>>);

impl<'de: 't, 't> Deserialize<'de> for Nodes<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Elements;
        impl<'de> Visitor<'de> for Elements {
            type Value = Nodes<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an array of nodes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Nodes<'de>, A::Error> {
                let mut nodes = Vec::new();
                while let Some(node) = seq.next_element::<RawNode<'de>>()? {
                    if nodes.len() == MAX_NODES {
                        while seq.next_element::<IgnoredAny>()?.is_some() {}
                        let message = format!("more than {MAX_NODES} nodes");
                        return Err(serde::de::Error::custom(message));
                    }
                    nodes.push(node.into_node().map_err(serde::de::Error::custom)?);
                }
                Ok(Nodes(nodes))
            }
        }
        from.deserialize_seq(Elements)
    }
}

impl<'t> RawNode<'t> {
    fn into_node(self) -> Result<Node<'t>, &'static str> {
        let text = self.repr_str.or(self.global_key).map(|Text(text)| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        });
        let bytes = match (text, self.repr_b64) {
            (None, Some(Text(encoded))) => Some(Cow::Owned(unpacked(&encoded)?)),
            (text, _) => text,
        };
        Ok(Node {
            kind: self.type_key.0,
            bytes: bytes.filter(|bytes| !bytes.is_empty()),
            fields: self.attrs.0,
            keys: self.keys.into_iter().map(|Text(key)| key).collect(),
            data: self.data,
        })
    }
}

/// Unpacks a byte string: its length, then its bytes.
fn unpacked(encoded: &str) -> Result<Vec<u8>, &'static str> {
    const BROKEN: &str = "a byte string has another length than declared";
    let bytes = STANDARD.decode(encoded).map_err(|_| BROKEN)?;
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or(BROKEN)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| BROKEN)?;
    rest.get(..length).map(<[u8]>::to_vec).ok_or(BROKEN)
}

/// Packs a byte string.
pub(crate) fn packed(bytes: &[u8]) -> String {
    let mut all = (bytes.len() as u64).to_le_bytes().to_vec();
    all.extend_from_slice(bytes);
    STANDARD.encode(all)
}
