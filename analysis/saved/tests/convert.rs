//! Tests of saved modules: the output of TVM, earlier versions, and hostile files.

use std::time::{Duration, Instant};

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
    assert!(begin.elapsed() < Duration::from_secs(20), "{error}");
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
        json["attrs"]["tvm_version"] = "0.7.0".into();
        assert_eq!(convert(&json.to_string()).expect("text"), text, "{id}");
        json["attrs"]["tvm_version"] = "0.8.dev1425+g1234".into();
        let converted = convert(&json.to_string());
        assert_eq!(converted.expect("text"), text, "{id}");
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
    assert_eq!(text, expected);
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
