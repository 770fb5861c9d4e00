//! The memory plan of the graph executor: the assignment of tensors to storages.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, de::IgnoredAny};

use crate::{Error, graph::reason};

/// The largest number of tensors of a plan.
const MAX_TENSORS: usize = 1 << 22;

/// The memory that the graph executor allocates for a compiled module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The number of tensors.
    pub tensors: usize,
    /// The number of storages.
    pub storages: usize,
    /// Bytes of the storages of inputs and parameters.
    pub argument_bytes: u64,
    /// Bytes of all other storages.
    pub activation_bytes: u64,
    /// Bytes of all other tensors without sharing.
    pub unshared_bytes: u64,
}

/// Returns true if the start of a file is that of the JSON of the graph executor.
pub fn is_plan(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4 << 10)];
    let mut text = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    b"{\"nodes\":[{\"op\":".iter().all(|byte| text.next() == Some(byte))
}

#[derive(Deserialize)]
struct RawPlan<'t> {
    #[serde(borrow)]
    nodes: Vec<IgnoredNode<'t>>,
    #[serde(default)]
    arg_nodes: Vec<usize>,
    node_row_ptr: Option<Vec<usize>>,
    #[serde(borrow)]
    attrs: Attributes<'t>,
}

#[derive(Deserialize)]
struct IgnoredNode<'t> {
    #[serde(borrow, rename = "op")]
    _op: Option<Cow<'t, str>>,
}

#[derive(Deserialize)]
struct Attributes<'t> {
    #[serde(borrow)]
    dltype: Option<(IgnoredAny, Vec<Cow<'t, str>>)>,
    shape: Option<(IgnoredAny, Vec<Vec<i64>>)>,
    storage_id: Option<(IgnoredAny, Vec<i64>)>,
}

impl Plan {
    /// Reads the JSON of the graph executor.
    ///
    /// # Errors
    /// It has another format, or its lists have different lengths.
    pub fn read(json: &str) -> Result<Plan, Error> {
        let bad = |message: String| Error::new("bad-plan", "", message);
        let raw: RawPlan<'_> = serde_json::from_str(json).map_err(|error| {
            let reason = reason(&error);
            bad(format!("this is not the JSON of the graph executor: {reason}"))
        })?;
        let (Some((_, types)), Some((_, shapes)), Some((_, ids))) =
            (raw.attrs.dltype, raw.attrs.shape, raw.attrs.storage_id)
        else {
            return Err(bad(
                "the graph has no plan: `dltype`, `shape` or `storage_id` is missing".into()
            ));
        };
        if types.len() != shapes.len() || types.len() != ids.len() || types.len() > MAX_TENSORS {
            return Err(bad("the lists of data types, shapes and storages do not match".into()));
        }
        // The first tensor of each node, and the number of tensors before the next.
        let rows = raw.node_row_ptr.unwrap_or_else(|| (0..=raw.nodes.len()).collect());
        let mut is_argument = vec![false; ids.len()];
        for node in raw.arg_nodes {
            if let Some(flag) = rows.get(node).and_then(|&row| is_argument.get_mut(row)) {
                *flag = true;
            }
        }
        let mut storages: BTreeMap<i64, (u64, bool)> = BTreeMap::new();
        let mut plan = Plan { tensors: ids.len(), ..Plan::default() };
        for (at, id) in ids.iter().enumerate() {
            let bytes = bytes_of(&types[at], &shapes[at])
                .ok_or_else(|| bad(format!("the size of tensor {at} is unknown")))?;
            let storage = storages.entry(*id).or_default();
            storage.0 = storage.0.max(bytes);
            storage.1 |= is_argument[at];
            if !is_argument[at] {
                plan.unshared_bytes = plan.unshared_bytes.saturating_add(bytes);
            }
        }
        plan.storages = storages.len();
        for (bytes, is_argument) in storages.into_values() {
            let total =
                if is_argument { &mut plan.argument_bytes } else { &mut plan.activation_bytes };
            *total = total.saturating_add(bytes);
        }
        Ok(plan)
    }
}

/// Returns the size of a tensor as the graph executor allocates it.
fn bytes_of(dtype: &str, shape: &[i64]) -> Option<u64> {
    let bits = match dtype {
        "bool" => 8,
        "handle" => 64,
        name => {
            let digits = name.find(|c: char| c.is_ascii_digit())?;
            let (bits, lanes) = name[digits..].split_once('x').unwrap_or((&name[digits..], "1"));
            bits.parse::<u64>().ok()?.checked_mul(lanes.parse().ok()?)?
        }
    };
    let mut bytes = bits.div_ceil(8);
    for &size in shape {
        bytes = bytes.checked_mul(u64::try_from(size).ok()?)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"{
  "nodes": [{"op": "null", "name": "x", "inputs": []},
            {"op": "tvm_op", "name": "f", "inputs": [[0, 0, 0]]},
            {"op": "tvm_op", "name": "g", "inputs": [[1, 0, 0]]},
            {"op": "tvm_op", "name": "h", "inputs": [[2, 0, 0]]}],
  "arg_nodes": [0], "heads": [[3, 0, 0]], "node_row_ptr": [0, 1, 2, 3, 4],
  "attrs": {"dltype": ["list_str", ["float32", "float32", "float32", "float16"]],
            "storage_id": ["list_int", [0, 1, 2, 1]],
            "shape": ["list_shape", [[2, 4], [10], [1], [4]]]}}"#;

    #[test]
    fn tensors_that_share_a_storage_are_counted_once() {
        assert!(is_plan(PLAN.as_bytes()));
        let plan = Plan::read(PLAN).expect("a plan");
        let expected = Plan {
            tensors: 4,
            storages: 3,
            argument_bytes: 32,
            activation_bytes: 44,
            unshared_bytes: 52,
        };
        assert_eq!(plan, expected);
    }

    #[test]
    fn lists_of_unequal_length_are_refused() {
        let json = PLAN.replace("[0, 1, 2, 1]", "[0, 1, 2]");
        let error = Plan::read(&json).expect_err("an error");
        assert!(error.to_string().contains("do not match"), "{error}");
        assert!(Plan::read("{}").is_err());
        let json = PLAN.replace("[2, 4]", "[9223372036854775807, 4, 9]");
        assert!(Plan::read(&json).is_err());
    }
}
