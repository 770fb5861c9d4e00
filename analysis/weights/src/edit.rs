//! Removing entries from a section.

use std::{collections::BTreeSet, ops::Range};

use serde::Deserialize;

use crate::{
    outline::{Outline, json_start},
    section::{CONSTANT, Section},
};

/// The edits that remove constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Removal {
    /// The ranges of the section to replace, in order, each with the new text.
    pub edits: Vec<(Range<usize>, String)>,
    /// The numbers of the entries afterwards; `None` for those that are removed.
    pub numbers: Vec<Option<u32>>,
}

#[derive(Deserialize)]
struct Places<'a> {
    #[serde(borrow)]
    nodes: Vec<NodePlace<'a>>,
}

#[derive(Deserialize)]
struct NodePlace<'a> {
    #[serde(borrow)]
    type_key: &'a str,
    #[serde(borrow, default)]
    attrs: Option<AttrPlace<'a>>,
}

#[derive(Deserialize)]
struct AttrPlace<'a> {
    #[serde(borrow, default)]
    data: Option<&'a str>,
}

/// Returns the edits that remove constants from a section, given as its outline. Their nodes become null, which preserves the
/// numbers of all others; their tensors are removed unless another constant uses them. `None` if the
/// JSON is not formatted as by TVM.
pub fn drop_entries(
    outline: &Outline<'_>,
    section: &Section,
    drop: &BTreeSet<u32>,
) -> Option<Removal> {
    let text = outline.text();
    let offset = json_start(text.as_bytes());
    let places: Places<'_> = serde_json::from_str(&text[offset..]).ok()?;
    let at = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    // Edits of places in the outline; no tensor is in them.
    let edit = |range: Range<usize>, with: String| {
        (outline.offset_in_section(range.start)..outline.offset_in_section(range.end), with)
    };
    let range = |part: &str| at(part)..at(part) + part.len();
    let entries = section.entries(CONSTANT);
    let list = section.list(CONSTANT)? as usize;
    let mut edits = Vec::new();
    // The list of entries: its brackets follow its kind and precede the next node.
    let from = range(places.nodes.get(list)?.type_key).end;
    let until = places.nodes.get(list + 1).map_or(text.len(), |next| at(next.type_key));
    let open = from + text.get(from..until)?.find('[')? + 1;
    let close = open + text.get(open..until)?.find(']')?;
    let numbers: Vec<&str> = text[open..close].split(',').collect();
    if numbers.len() != entries.len() {
        return None;
    }
    let kept = numbers.iter().zip(0u32..).filter(|(_, entry)| !drop.contains(entry));
    let kept: Vec<&str> = kept.map(|(number, _)| *number).collect();
    edits.push(edit(open..close, kept.join(",")));
    let gone: BTreeSet<u32> =
        drop.iter().filter_map(|&entry| entries.get(entry as usize).copied()).collect();
    // An entry may be in the list twice.
    let stays = |node: u32| {
        (0u32..).zip(entries).any(|(entry, &other)| other == node && !drop.contains(&entry))
    };
    let gone: BTreeSet<u32> = gone.into_iter().filter(|&node| !stays(node)).collect();
    let mut unused: BTreeSet<usize> = BTreeSet::new();
    for &node in &gone {
        let place = places.nodes.get(node as usize)?;
        edits.push(edit(range(place.type_key), String::new()));
        // The number of its tensor must not depend on the order in which constants are removed.
        if let Some(data) = place.attrs.as_ref().and_then(|attrs| attrs.data) {
            edits.push(edit(range(data), "0".to_owned()));
        }
        unused.extend(section.node(node)?.array());
    }
    let constants = || {
        let nodes = (0u32..).zip(section.nodes());
        nodes.filter(|(number, node)| node.kind == CONSTANT && !gone.contains(number))
    };
    for (_, node) in constants() {
        if let Some(array) = node.array() {
            unused.remove(&array);
        }
    }
    for (number, node) in constants() {
        let Some(array) = node.array() else { continue };
        let before = unused.range(..array).count();
        if before > 0 {
            let data = places.nodes.get(number as usize)?.attrs.as_ref()?.data?;
            edits.push(edit(range(data), (array - before).to_string()));
        }
    }
    for &array in &unused {
        let own = section.range(array)?;
        let follows_kept = (0..array).any(|before| !unused.contains(&before));
        let cut = match (follows_kept, section.range(array + 1)) {
            (true, _) => section.range(array - 1)?.end + 1..own.end + 1,
            (false, Some(next)) => own.start - 1..next.start - 1,
            (false, None) => own.start - 1..own.end + 1,
        };
        edits.push((cut, String::new()));
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut next = 0;
    let numbers = (0..entries.len() as u32).map(|entry| {
        (!drop.contains(&entry)).then(|| {
            next += 1;
            next - 1
        })
    });
    let numbers = numbers.collect();
    Some(Removal { edits, numbers })
}

/// Returns the range of an entry's node in a section: the text of its kind with the quotes.
pub fn entry_range(text: &str, section: &Section, kind: &str, index: u32) -> Option<Range<usize>> {
    let &node = section.entries(kind).get(index as usize)?;
    let places: Places<'_> = serde_json::from_str(&text[json_start(text.as_bytes())..]).ok()?;
    let part = places.nodes.get(node as usize)?.type_key;
    let at = part.as_ptr() as usize - text.as_ptr() as usize;
    Some(at - 1..at + part.len() + 1)
}
