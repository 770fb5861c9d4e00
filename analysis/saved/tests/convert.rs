//! Tests of saved modules: the output of TVM, earlier versions, and hostile files.

use std::time::{Duration, Instant};

use base64::Engine;
use saved::{convert, is_saved};
use serde_json::{Value, json};

struct Case {
    id: String,
    json: Value,
    text: String,
}

/// Returns modules that TVM 0.14 saved, with the texts that it printed.
fn cases() -> Vec<Case> {
    let lines = include_str!("cases.jsonl").lines();
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case");
        let text = |name: &str| case[name].as_str().expect("text").to_owned();
        let json = serde_json::from_str(&text("json")).expect("a graph");
        Case { id: text("id"), json, text: text("text") }
    };
    lines.map(case).collect()
}

/// Creates a graph of a function without parameters from all nodes except the first four. The body is
/// node 4.
fn function(nodes: &[Value]) -> Value {
    let mut all = vec![
        json!({ "type_key": "" }),
        node(
            "relay.Function",
            json!({ "params": "2", "body": "4", "ret_type": "0", "type_params": "2",
            "attrs": "0", "virtual_device_": "0", "span": "0", "_checked_type_": "0" }),
        ),
        json!({ "type_key": "Array" }),
        json!({ "type_key": "runtime.String", "repr_str": "x" }),
    ];
    all.extend_from_slice(nodes);
    json!({ "root": 1, "nodes": all, "b64ndarrays": [], "attrs": { "tvm_version": "0.14.0" } })
}

fn node(kind: &str, fields: Value) -> Value {
    json!({ "type_key": kind, "attrs": fields })
}

/// Creates an expression with the common fields.
fn expression(kind: &str, fields: Value) -> Value {
    let mut node = node(kind, fields);
    for name in ["virtual_device_", "span", "_checked_type_"] {
        node["attrs"][name] = "0".into();
    }
    node
}

fn global(name: &str) -> Vec<Value> {
    vec![
        expression("GlobalVar", json!({ "name_hint": "5" })),
        json!({ "type_key": "runtime.String", "repr_str": name }),
    ]
}

fn fails(graph: &Value, code: &str) -> String {
    let begin = Instant::now();
    let error = convert(&graph.to_string()).expect_err("an error");
    assert_eq!(error.code, code, "{error}");
    assert!(begin.elapsed() < Duration::from_secs(120), "{error}");
    error.to_string()
}

#[test]
fn modules_are_printed_as_tvm_prints_them() {
    for Case { id, json, text } in cases() {
        let saved = json.to_string();
        assert!(is_saved(saved.as_bytes()), "{id}");
        assert_eq!(convert(&saved).expect("text"), text, "{id}");
        let pretty = serde_json::to_string_pretty(&json).expect("JSON");
        assert!(is_saved(pretty.as_bytes()), "{id}");
        assert_eq!(convert(&pretty).expect("text"), text, "{id}");
    }
}

#[test]
fn modules_of_tvm_0_7_and_0_8_are_upgraded() {
    for Case { id, mut json, text } in cases() {
        for node in json["nodes"].as_array_mut().expect("nodes") {
            let is_module = node["type_key"] == "IRModule";
            if let Some(fields) = node.get_mut("attrs").and_then(Value::as_object_mut) {
                // Such versions have no virtual devices.
                if fields.get("virtual_device_").is_some_and(|device| device == "0") {
                    fields.remove("virtual_device_");
                }
                if is_module {
                    fields.remove("attrs");
                }
            }
        }
        json["attrs"]["tvm_version"] = "0.8.dev1425+g1234".into();
        let converted = convert(&json.to_string());
        assert_eq!(converted.expect("text"), text, "{id}");
        if text.contains("virtual_device=") {
            continue;
        }
        // The text of 0.7 names it, as calls have its defaults.
        json["attrs"]["tvm_version"] = "0.7.0".into();
        let converted = convert(&json.to_string()).expect("text");
        match text.contains("#[metadata]") {
            true => assert_eq!(converted, text.replace("\"0.14.0\"", "\"0.7.0\""), "{id}"),
            false => {
                let section = converted.strip_prefix(&text).expect(&id);
                assert!(section.starts_with("\n#[metadata]\n{"), "{id}: {section}");
                assert!(section.contains("\"tvm_version\": \"0.7.0\""), "{id}: {section}");
            }
        }
    }
}

#[test]
fn modules_of_tvm_0_6_are_upgraded() {
    let graph = json!({
        "root": 1,
        "nodes": [
            { "type_key": "" },
            { "type_key": "relay.Module", "attrs": { "functions": "2", "type_definitions": "9",
                "global_var_map_": "0", "global_type_var_map_": "0" } },
            { "type_key": "Map", "data": [3, 4] },
            { "type_key": "relay.GlobalVar", "attrs": { "name_hint": "main", "span": "0", "_checked_type_": "0" } },
            { "type_key": "relay.Function", "attrs": { "params": "5", "body": "6", "ret_type": "12",
                "type_params": "13", "attrs": "0", "span": "0", "_checked_type_": "0" } },
            { "type_key": "Array", "data": [7] },
            { "type_key": "relay.Call", "attrs": { "op": "8", "args": "10", "attrs": "0",
                "type_args": "11", "span": "0", "_checked_type_": "0" } },
            { "type_key": "relay.Var", "attrs": { "vid": "15", "type_annotation": "12", "span": "0", "_checked_type_": "0" } },
            { "type_key": "relay.Op", "global_key": "exp" },
            { "type_key": "Map" },
            { "type_key": "Array", "data": [7] },
            { "type_key": "Array" },
            { "type_key": "relay.TensorType", "attrs": { "shape": "16", "dtype": "float32", "span": "0" } },
            { "type_key": "Array", "data": [14] },
            { "type_key": "relay.TypeVar", "attrs": { "var": "18", "kind": "0", "span": "0" } },
            { "type_key": "relay.Id", "attrs": { "name_hint": "x" } },
            { "type_key": "Array", "data": [17] },
            { "type_key": "IntImm", "attrs": { "dtype": "int32", "value": "3" } },
            { "type_key": "Variable", "attrs": { "name": "t", "dtype": "int32" } }
        ],
        "b64ndarrays": [],
        "attrs": { "tvm_version": "0.6.1" }
    });
    let text = convert(&graph.to_string()).expect("text");
    let expected = "\
#[version = \"0.0.5\"]
def @main[t](%x: Tensor[(3), float32]) -> Tensor[(3), float32] {
  exp(%x)
}
";
    assert!(text.starts_with(expected), "{text}");
    // The version that it says of itself: calls have the defaults of 0.6.
    assert!(text[expected.len()..].contains("\"tvm_version\": \"0.6.0\""), "{text}");
}

/// Every node that TVM renames, and every field of text that becomes a string of its own, from 0.6.
#[test]
fn every_step_from_tvm_0_6_is_taken() {
    let fields = |kind: &str| match kind {
        "Variable" | "SizeVar" => json!({ "name": "n", "dtype": "int32" }),
        "StringImm" => json!({ "value": "text", "dtype": "handle" }),
        _ => json!({ "dtype": "int32", "a": "8", "b": "8" }),
    };
    let text_of = |dimension: Value| {
        let nodes = json!([
            { "type_key": "" },
            node("relay.Function", json!({ "params": "2", "body": "3", "ret_type": "0",
                "type_params": "0", "attrs": "0", "span": "0", "_checked_type_": "0" })),
            { "type_key": "Array", "data": [3] },
            node("relay.Var", json!({ "vid": "4", "type_annotation": "5", "span": "0",
                "_checked_type_": "0" })),
            node("relay.Id", json!({ "name_hint": "x" })),
            node("relay.TensorType", json!({ "shape": "6", "dtype": "float32", "span": "0" })),
            { "type_key": "Array", "data": [7] },
            dimension,
            node("IntImm", json!({ "dtype": "int32", "value": "3" })),
        ]);
        let attrs = json!({ "tvm_version": "0.6.0" });
        let graph = json!({ "root": 1, "nodes": nodes, "b64ndarrays": [], "attrs": attrs });
        convert(&graph.to_string()).expect("text")
    };
    // As the dimension of a tensor each is in the metadata section, with its fields.
    for (kind, now) in [
        ("Variable", "tir.Var"),
        ("SizeVar", "tir.SizeVar"),
        ("Add", "tir.Add"),
        ("Sub", "tir.Sub"),
        ("Mul", "tir.Mul"),
        ("Div", "tir.Div"),
        ("Mod", "tir.Mod"),
        ("FloorDiv", "tir.FloorDiv"),
        ("FloorMod", "tir.FloorMod"),
        ("Min", "tir.Min"),
        ("Max", "tir.Max"),
        ("EQ", "tir.EQ"),
        ("NE", "tir.NE"),
        ("LT", "tir.LT"),
        ("LE", "tir.LE"),
        ("GT", "tir.GT"),
        ("GE", "tir.GE"),
        ("And", "tir.And"),
        ("Or", "tir.Or"),
    ] {
        let text = text_of(node(kind, fields(kind)));
        // The text of 0.6 has its name of the kind.
        let begin = format!("(%x: Tensor[(meta[{kind}][0]), float32])");
        assert!(text.contains(&begin), "{kind}: {text}");
        assert!(text.contains(&format!("\"type_key\": \"{now}\"")), "{text}");
        // Fields of later versions are there, as TVM 0.14 saves them.
        assert!(text.contains("\"span\": \"0\""), "{text}");
        if matches!(kind, "Variable" | "SizeVar") {
            assert!(text.contains("\"type_annotation\": \"0\""), "{text}");
            assert!(text.contains("\"repr_str\": \"n\""), "{text}");
        }
    }
    assert!(text_of(node("Any", json!({ "dtype": "int32" }))).contains("Tensor[(?), float32]"));
    let text = text_of(node("StringImm", fields("StringImm")));
    assert!(text.contains("Tensor[(\"text\"), float32]"), "{text}");
}

#[test]
fn numbers_of_earlier_versions_get_all_digits() {
    let mut graph = function(&[
        expression("relay.Call", json!({ "op": "6", "args": "2", "attrs": "5", "type_args": "0" })),
        node("relay.attrs.ClipAttrs", json!({ "a_min": "1e-05", "a_max": "0.5" })),
        json!({ "type_key": "Op", "repr_str": "add" }),
    ]);
    graph["attrs"]["tvm_version"] = "0.9.0".into();
    let text = convert(&graph.to_string()).expect("text");
    // `add` has other attributes, so that these are in the metadata section.
    assert!(text.contains("add(meta[relay.attrs.ClipAttrs][0])"), "{text}");
    assert!(text.contains("\"a_min\": \"1.0000000000000001e-05\""), "{text}");
    assert!(text.contains("\"a_max\": \"0.5\""), "{text}");
}

#[test]
fn attributes_of_functions_of_every_kind_are_printed() {
    let values = json!({
        "Integer": ["IntImm", { "dtype": "int64", "value": "-3" }],
        "Unsigned": ["IntImm", { "dtype": "uint8", "value": "7" }],
        "Short": ["IntImm", { "dtype": "int16", "value": "7" }],
        "Truth": ["IntImm", { "dtype": "bool", "value": "1" }],
        "Half": ["FloatImm", { "dtype": "float16", "value": "0.5" }],
        "Single": ["FloatImm", { "dtype": "float32", "value": "1e-10" }],
        "Double": ["FloatImm", { "dtype": "float64", "value": "100000" }],
        "Brain": ["FloatImm", { "dtype": "bfloat16", "value": "1.5" }],
        "Nothing": ["", {}],
        "Any": ["tir.Any", { "dtype": "int32" }],
        "Device": ["VirtualDevice", { "device_type_int": "1", "virtual_device_id": "0",
            "target": "0", "memory_scope": "3" }],
        "Map": ["Map", {}],
    });
    let values = values.as_object().expect("an object");
    let mut nodes = global("f");
    nodes.push(node("DictAttrs", json!({ "__dict__": "7" })));
    let first = 8;
    let keys: Vec<&String> = values.keys().collect();
    let data: Vec<usize> = (first..first + keys.len()).collect();
    nodes.push(json!({ "type_key": "Map", "keys": keys, "data": data }));
    for value in values.values() {
        let mut all = node(value[0].as_str().expect("a kind"), value[1].clone());
        all["attrs"]["span"] = "0".into();
        nodes.push(all);
    }
    let mut graph = function(&nodes);
    graph["nodes"][1]["attrs"]["attrs"] = "6".into();
    graph["nodes"][3]["repr_str"] = "a \"quote\"".into();
    let text = convert(&graph.to_string()).expect("text");
    for part in [
        "Integer=-3i64",
        "Unsigned=7",
        "Short=7i16",
        "Truth=True",
        "Half=0.5f16",
        "Single=1e-10f",
        "Double=100000f64",
        "Brain=1.500000",
        "Nothing=None",
        "Any=?",
        "Device=meta[VirtualDevice][0]",
        "Map=meta[Map][0]",
    ] {
        let all = text.lines().nth(1).unwrap_or_default();
        assert!(all.contains(part), "{part}: {all}");
    }
}

/// Scalars of the data types that the text has literals for are written out, all others are in the
/// metadata section.
#[test]
fn constants_of_every_data_type_are_printed() {
    let scalar = |code: u8, bits: u8, bytes: &[u8]| {
        let mut all = 0xDD5E_40F0_96B4_A13Fu64.to_le_bytes().to_vec();
        all.extend(0u64.to_le_bytes());
        all.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, code, bits, 1, 0]);
        all.extend((bytes.len() as u64).to_le_bytes());
        all.extend(bytes);
        all
    };
    for (array, text) in [
        (scalar(0, 16, &7i16.to_le_bytes()), "7i16"),
        (scalar(0, 32, &(-7i32).to_le_bytes()), "-7"),
        (scalar(0, 64, &(1i64 << 40).to_le_bytes()), "1099511627776i64"),
        (scalar(1, 1, &[1]), "True"),
        (scalar(1, 1, &[0]), "False"),
        (scalar(2, 16, &[0, 0x38]), "0.5f16"),
        (scalar(2, 32, &1e-20f32.to_le_bytes()), "1e-20f"),
        (scalar(2, 32, &f32::NEG_INFINITY.to_le_bytes()), "-inff"),
        (scalar(2, 64, &1234567.0f64.to_le_bytes()), "1.23457e+06f64"),
        (scalar(0, 8, &[7]), "meta[relay.Constant][0]"),
        (scalar(1, 8, &[7]), "meta[relay.Constant][0]"),
        (scalar(1, 32, &[7, 0, 0, 0]), "meta[relay.Constant][0]"),
        (scalar(4, 16, &[0, 0x3F]), "meta[relay.Constant][0]"),
        (scalar(0, 4, &[7]), "meta[relay.Constant][0]"),
    ] {
        let mut graph = function(&[expression("relay.Constant", json!({ "data": "0" }))]);
        graph["b64ndarrays"] = json!([base64::engine::general_purpose::STANDARD.encode(array)]);
        let found = convert(&graph.to_string()).expect("text");
        assert_eq!(found.lines().nth(2), Some(&*format!("  {text}")), "{found}");
    }
}

#[test]
fn references_and_bare_functions_are_printed() {
    let graph = function(&[
        expression("relay.RefWrite", json!({ "ref": "5", "value": "6" })),
        expression("relay.RefCreate", json!({ "value": "6" })),
        expression("relay.Tuple", json!({ "fields": "2" })),
    ]);
    let text = convert(&graph.to_string()).expect("text");
    // The tuple is used twice, the reference once; neither is at the end of the scope.
    let expected = "\
#[version = \"0.0.5\"]
fn () {
  %0 = ();
  %1 = ref(%0);
  ref_write(%1, %0)
}";
    assert_eq!(text, expected);
}

#[test]
fn errors_name_unknown_versions_and_kinds() {
    let mut graph = function(&global("f"));
    for version in ["0.5.0", "0.20.0", "1.0.0", "", "0.x"] {
        graph["attrs"]["tvm_version"] = version.into();
        assert!(fails(&graph, "unknown-version").contains(version));
    }
    let graph = function(&[expression("relay.Future", json!({}))]);
    let error = fails(&graph, "unknown-node-kind");
    assert!(error.contains("node 4") && error.contains("relay.Future"), "{error}");
    let mut graph = function(&global("f"));
    graph["root"] = 2.into();
    assert!(fails(&graph, "no-module").contains("`Array`"));
}

/// `tir.PrimFunc` is named wherever it occurs: in a module, as the whole file, as the body or the operator
/// of a call, in a type, and in the attributes of a call.
#[test]
fn lowered_functions_are_named() {
    let lowered = || {
        node(
            "tir.PrimFunc",
            json!({ "params": "2", "body": "0", "ret_type": "0", "buffer_map": "0", "attrs": "0",
            "span": "0", "_checked_type_": "0" }),
        )
    };
    let way_out = "save the module before it is lowered";
    let mut module = function(&global("main"));
    let nodes = module["nodes"].as_array_mut().expect("nodes");
    nodes.extend([
        node("IRModule", json!({ "functions": "7", "type_definitions": "8" })),
        json!({ "type_key": "Map", "data": [4, 1, 9, 11] }),
        json!({ "type_key": "Map" }),
        expression("GlobalVar", json!({ "name_hint": "10" })),
        json!({ "type_key": "runtime.String", "repr_str": "tvmgen_add" }),
        lowered(),
    ]);
    module["root"] = 6.into();
    let error = fails(&module, "lowered-function");
    assert!(error.contains("node 11: `@tvmgen_add` is a `tir.PrimFunc`"), "{error}");
    assert!(error.contains(way_out) && error.contains("[lowered-function]"), "{error}");

    let mut root = function(&[lowered()]);
    root["root"] = 4.into();
    let call =
        expression("relay.Call", json!({ "op": "5", "args": "2", "attrs": "0", "type_args": "2" }));
    let typed = expression("relay.Var", json!({ "vid": "6", "type_annotation": "5" }));
    let id = node("relay.Id", json!({ "name_hint": "3" }));
    for (graph, place) in [
        (root, "node 4: "),
        (function(&[lowered()]), "node 4: "),
        (function(&[call, lowered()]), "node 5: "),
        (function(&[typed, lowered(), id]), "node 5: "),
    ] {
        let error = fails(&graph, "lowered-function");
        assert!(error.starts_with(place) && error.contains("`tir.PrimFunc`"), "{error}");
        assert!(error.contains(way_out), "{error}");
    }
}

#[test]
fn invalid_graphs_are_rejected() {
    let mut graph = function(&global("f"));
    graph["root"] = 99.into();
    fails(&graph, "bad-graph");
    for (field, value) in [("body", "99"), ("body", "-1"), ("body", "0"), ("params", "3")] {
        let mut graph = function(&global("f"));
        graph["nodes"][1]["attrs"][field] = value.into();
        fails(&graph, "bad-graph");
    }
    let mut graph = function(&global("f"));
    graph["nodes"][2]["data"] = json!([7]);
    fails(&graph, "bad-graph");
    let constant = expression("relay.Constant", json!({ "data": "3" }));
    fails(&function(&[constant]), "bad-graph");
    for text in ["", "{", "[]", "{\"root\": 1}", "{\"root\": 1, \"nodes\": 3}"] {
        assert!(convert(text).is_err(), "{text}");
    }
    // A message quotes no array, and has one line.
    let mut graph = function(&global("f"));
    graph["root"] = "A".repeat(1 << 20).into();
    assert!(fails(&graph, "not-json").len() < 300);
    let graph = function(&[node("a\nb", json!({}))]);
    assert!(!fails(&graph, "unknown-node-kind").contains('\n'));
    for Case { json, .. } in cases().into_iter().take(2) {
        let saved = json.to_string();
        for end in (0..saved.len()).step_by(97) {
            assert!(convert(&saved[..end]).is_err());
        }
    }
}

#[test]
fn cycles_are_rejected() {
    let call =
        expression("relay.Call", json!({ "op": "4", "args": "2", "attrs": "0", "type_args": "2" }));
    fails(&function(&[call]), "bad-graph");
    let binding = expression("relay.Let", json!({ "var": "5", "value": "5", "body": "4" }));
    fails(&function(&[binding]), "bad-graph");
    // An expression in place of a constructor.
    let mut graph = function(&global("f"));
    graph["nodes"][1]["attrs"]["ret_type"] = "6".into();
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    let fields = json!({ "header": "8", "type_vars": "2", "constructors": "7", "span": "0" });
    nodes.push(node("relay.TypeData", fields));
    nodes.push(json!({ "type_key": "Array", "data": [9] }));
    nodes.push(node("GlobalTypeVar", json!({ "name_hint": "3", "kind": "0" })));
    nodes.push(expression("relay.Let", json!({ "var": "9", "value": "9", "body": "9" })));
    fails(&graph, "bad-graph");
    // A tuple type of itself.
    let mut graph = function(&global("f"));
    graph["nodes"][1]["attrs"]["ret_type"] = "6".into();
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    nodes.push(node("TupleType", json!({ "fields": "7", "span": "0" })));
    nodes.push(json!({ "type_key": "Array", "data": [6] }));
    fails(&graph, "too-deep");
}

#[test]
fn output_of_shared_types_is_limited() {
    // Each tuple type contains the next one twice: 2^60 names.
    let mut graph = function(&global("f"));
    graph["nodes"][1]["attrs"]["ret_type"] = "6".into();
    let nodes = graph["nodes"].as_array_mut().expect("nodes");
    for level in 0..60 {
        let next = 8 + 2 * level;
        nodes.push(node("TupleType", json!({ "fields": (next - 1).to_string(), "span": "0" })));
        nodes.push(json!({ "type_key": "Array", "data": [next, next] }));
    }
    nodes.push(node("TypeVar", json!({ "name_hint": "3", "kind": "0", "span": "0" })));
    fails(&graph, "too-long");
}

#[test]
fn nesting_is_limited_and_chains_are_not() {
    let reads = |depth: usize| {
        let read =
            |level: usize| expression("relay.RefRead", json!({ "ref": (5 + level).to_string() }));
        let mut nodes: Vec<Value> = (0..depth).map(read).collect();
        nodes.push(expression("relay.Tuple", json!({ "fields": "2" })));
        function(&nodes)
    };
    assert!(convert(&reads(1000).to_string()).is_ok());
    fails(&reads(100_000), "too-deep");
    let count = 50_000;
    let mut nodes = Vec::new();
    for level in 0..count {
        // A binding, its variable and its name.
        let at = 4 + 3 * level;
        let fields = json!({ "var": (at + 1).to_string(), "value": (4 + 3 * count).to_string(), "body": (at + 3).to_string() });
        nodes.push(expression("relay.Let", fields));
        nodes.push(expression(
            "relay.Var",
            json!({ "vid": (at + 2).to_string(), "type_annotation": "0" }),
        ));
        nodes.push(node("relay.Id", json!({ "name_hint": "3" })));
    }
    nodes.push(expression("relay.Tuple", json!({ "fields": "2" })));
    let text = convert(&function(&nodes).to_string()).expect("text");
    assert_eq!(text.lines().count(), count + 5);
    assert!(text.contains("let %x49999 = %0;"), "{}", &text[..200]);
}

#[test]
fn other_files_are_not_recognised_as_saved_modules() {
    for text in [
        "",
        "{",
        "{}",
        "def @main() { 1 }",
        "{\"name\": \"x\"}",
        "{\"nodes\": [{\"op\": \"null\"}]}",
    ] {
        assert!(!is_saved(text.as_bytes()), "{text}");
    }
}
