//! Adding constants to a section.

use std::fmt::Write;

use serde::Deserialize;

use crate::{
    outline::json_start,
    section::{CONSTANT, Section},
};

/// A section without constants, to which constants can be added.
pub const EMPTY: &str = "#[metadata]
{
  \"root\": 1, 
  \"nodes\": [
    {
      \"type_key\": \"\"
    }, 
    {
      \"type_key\": \"Map\", 
      \"keys\": [
        \"relay.Constant\"
      ], 
      \"data\": [2]
    }, 
    {
      \"type_key\": \"Array\", 
      \"data\": []
    }
  ], 
  \"b64ndarrays\": [], 
  \"attrs\": {\"tvm_version\": \"0.14.0\"}
}
";

/// The positions at which constants are inserted into a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Insertions {
    /// The number of the first new entry.
    pub first: u32,
    /// The nodes and their numbers with their positions, in order.
    pub inserted: [(usize, String); 2],
    /// The position of the texts of the tensors, each in quotes, separated by commas.
    pub arrays: usize,
    /// True if other tensors precede them, so that a comma is needed.
    pub follows: bool,
}

#[derive(Deserialize)]
struct Places<'a> {
    #[serde(borrow)]
    nodes: Vec<Kind<'a>>,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    type_key: &'a str,
}

/// Returns the positions at which `count` constants are inserted into a section; `None` if it has no
/// list of constants, or is not formatted as by TVM.
pub fn append(text: &str, section: &Section, count: usize) -> Option<Insertions> {
    let places: Places<'_> = serde_json::from_str(&text[json_start(text.as_bytes())..]).ok()?;
    let after = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize + part.len() + 1;
    let list = places.nodes.get(section.list(CONSTANT)? as usize)?.type_key;
    let open = after(list) + text.get(after(list)..)?.find('[')?;
    let close = open + text[open..].find(']')?;
    let end = object_end(text, after(places.nodes.last()?.type_key))?;
    let (first, node) = (section.entries(CONSTANT).len(), section.nodes().len());
    let mut numbers = String::new();
    let mut nodes = String::new();
    for new in 0..count {
        let comma = if first + new > 0 { ", " } else { "" };
        // Writing to a string does not fail.
        let _ = write!(numbers, "{comma}{}", node + new);
        let array = section.arrays() + new;
        let _ = write!(
            nodes,
            ", \n    {{\n      \"type_key\": \"{CONSTANT}\", \n      \"attrs\": {{\n        \"_checked_type_\": \"0\", \n        \"data\": \"{array}\", \n        \"span\": \"0\", \n        \"virtual_device_\": \"0\"\n      }}\n    }}"
        );
    }
    let last = section.arrays().checked_sub(1).and_then(|array| section.range(array));
    let arrays = match &last {
        Some(range) => range.end + 1,
        None => {
            const NAME: &str = "\"b64ndarrays\"";
            let name = end + text.get(end..)?.find(NAME)? + NAME.len();
            name + text[name..].find('[')? + 1
        }
    };
    let inserted = [(close, numbers), (end, nodes)];
    (close < end && end < arrays).then(|| Insertions {
        first: first as u32,
        inserted,
        arrays,
        follows: last.is_some(),
    })
}

/// Returns the end of the object that contains the position `from`.
fn object_end(text: &str, from: usize) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0i32, false, false);
    for (at, byte) in text.bytes().enumerate().skip(from) {
        if is_string {
            is_string = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'{' | b'[' => depth += 1,
            b'}' if depth == 0 => return Some(at + 1),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    None
}
