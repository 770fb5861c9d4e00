//! Files that TVM saves.

use serde_json::{Value, json};

use crate::{arrays::params, corpus};

/// Longer modules make no seeds.
const MAX_SEED: usize = 9000;

/// The plan of a compiled module.
const PLAN: &str = r#"{"nodes": [{"op": "null", "name": "x", "inputs": []},
{"op": "tvm_op", "name": "f", "inputs": [[0, 0, 0]]}], "arg_nodes": [0], "heads": [[1, 0, 0]],
"attrs": {"dltype": ["list_str", ["float32", "int8"]], "storage_id": ["list_int", [0, 1]],
"shape": ["list_shape", [[2, 3], [6]]]}, "node_row_ptr": [0, 1, 2]}"#;

/// Modules of the present version and of earlier ones, and a plan.
pub(super) fn json() -> Vec<Vec<u8>> {
    let path = corpus::here().join("../analysis/saved/tests/cases.jsonl");
    let cases = std::fs::read_to_string(path).expect("modules that TVM saved");
    let module = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case");
        case["json"].as_str().expect("a module").to_owned()
    };
    let modules = cases.lines().map(module).filter(|module| module.len() <= MAX_SEED);
    let mut seeds: Vec<String> = modules.collect();
    assert!(seeds.len() > 5, "{} modules", seeds.len());
    for version in ["0.6.0", "0.7.0", "0.8.0"] {
        seeds.push(seeds[0].replace("0.14.0", version));
    }
    seeds.extend([first(), PLAN.to_owned()]);
    seeds.into_iter().map(String::into_bytes).collect()
}

/// `def @main[t](%x: Tensor[(3), float32]) { exp(%x) }` as TVM 0.6 saves it.
fn first() -> String {
    let node = |kind: &str, fields: Value| json!({ "type_key": kind, "attrs": fields });
    let nodes = json!([
        { "type_key": "" },
        node("relay.Module", json!({ "functions": "2", "type_definitions": "3",
            "global_var_map_": "0", "global_type_var_map_": "0" })),
        { "type_key": "Map", "data": [4, 5] },
        { "type_key": "StrMap" },
        node("relay.GlobalVar", json!({ "name_hint": "main", "span": "0", "_checked_type_": "0" })),
        node("relay.Function", json!({ "params": "6", "body": "7", "ret_type": "0",
            "type_params": "8", "attrs": "0", "span": "0", "_checked_type_": "0" })),
        { "type_key": "Array", "data": [9] },
        node("relay.Call", json!({ "op": "10", "args": "6", "attrs": "0", "type_args": "0",
            "span": "0", "_checked_type_": "0" })),
        { "type_key": "Array", "data": [11] },
        node("relay.Var", json!({ "vid": "12", "type_annotation": "13", "span": "0",
            "_checked_type_": "0" })),
        { "type_key": "relay.Op", "global_key": "exp" },
        node("relay.TypeVar", json!({ "var": "14", "kind": "0", "span": "0" })),
        node("relay.Id", json!({ "name_hint": "x" })),
        node("relay.TensorType", json!({ "shape": "15", "dtype": "float32", "span": "0" })),
        node("Variable", json!({ "name": "t", "dtype": "int32" })),
        { "type_key": "Array", "data": [16] },
        node("IntImm", json!({ "dtype": "int32", "value": "3" })),
    ]);
    let attrs = json!({ "tvm_version": "0.6.1" });
    json!({ "root": 1, "nodes": nodes, "b64ndarrays": [], "attrs": attrs }).to_string()
}

/// Archives of each form, with small modules.
pub(super) fn archives() -> Vec<Vec<u8>> {
    let arrays = params(&[("w", &[2], &[0; 8])]);
    let module = first();
    let (module, plan) = (module.as_bytes(), PLAN.as_bytes());
    let text = b"#[version = \"0.0.5\"]\ndef @main() { 1 }\n";
    [
        &[("model.json", module), ("model.params", &arrays)][..],
        &[("./model.params", &arrays), ("./model.json", module)],
        &[("mod.json", plan), ("mod.params", &arrays), ("mod.so", b"\x7fELF")],
        &[
            ("metadata.json", b"{}"),
            ("src/default.relay", text),
            ("parameters/default.params", &arrays),
            ("executor-config/graph/default.graph", plan),
        ],
        &[("note.txt", b"")],
        &[],
    ]
    .into_iter()
    .map(tar)
    .collect()
}

/// A tar archive: for each entry a header, then its bytes to a multiple of 512.
fn tar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in entries {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[156] = b'0';
        header[257..263].copy_from_slice(b"ustar\0");
        set_checksum(&mut header);
        out.extend_from_slice(&header);
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

/// Makes the checksum of a header that of its bytes: no other header is read.
pub(in crate::fuzz) fn set_checksum(header: &mut [u8]) {
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
}
