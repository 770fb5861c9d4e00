//! The reduction of modules on the command line.

use relay_tests::{
    client::Client,
    command::{Folder, Run},
    refused::{errors, in_networks},
};
use serde_json::{Value, json};

/// A network with one wrong call among others.
const NETWORK: &str = "#[version = \"0.0.5\"]
def @helper(%a: Tensor[(4), float32]) -> Tensor[(4), float32] {
  nn.relu(%a)
}

def @main(%x: Tensor[(2, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32], %d: Tensor[(5, 7), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]) /* ty=Tensor[(2, 4, 8, 8), float32] */;
  %1 = nn.relu(%0);
  %2 = nn.global_avg_pool2d(%1);
  %3 = nn.batch_flatten(%2);
  %4 = nn.dense(%3, %d, units=5);
  %5 = nn.relu(%4);
  nn.softmax(%5)
}
";

fn reduce(name: &str, text: &str, args: &[&str]) -> (Run, String) {
    let folder = Folder::new(&format!("reduce-{name}"), &[("a.relay", text.as_bytes())]);
    let run = folder.run(&[&["reduce", "a.relay", "-o", "b.relay"], args].concat());
    let reduced = std::fs::read_to_string(folder.path().join("b.relay")).unwrap_or_default();
    (run, reduced)
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err))
}

/// Reduces a module, and returns the document and the result.
fn reduced(name: &str, text: &str, args: &[&str]) -> (Value, String) {
    let (run, reduced) = reduce(name, text, &[args, &["--format", "json"]].concat());
    assert_eq!(run.code, Some(0), "{name}: {}", run.err);
    (document(&run), reduced)
}

#[test]
fn a_diagnostic_is_cut_out_of_a_network() {
    let (document, text) = reduced("code", NETWORK, &["--keep", "code:shape-mismatch"]);
    let expected = "#[version = \"0.0.5\"]
// Shows: `nn.dense`: `data` has 3 features, but `weight` expects 5
// Reduced by `relay-analyzer reduce --keep code:shape-mismatch`
def @main(%d: Tensor[(4, 5), float32], %v3: Tensor[(2, 3), float32]) {
  nn.dense(%v3, %d, units=4)
}
";
    assert_eq!(text, expected);
    assert_eq!(document["bindings"], serde_json::json!([6, 0]));
    assert_eq!(errors(&text), ["shape-mismatch"]);
    // A second reduction changes nothing.
    let (_, again) = reduced("code-again", &text, &["--keep", "code:shape-mismatch"]);
    assert_eq!(again, text);
}

#[test]
fn a_failure_keeps_the_call_that_fails() {
    let module = NETWORK.replace("Tensor[(5, 7)", "Tensor[(5, 4)").replace(
        "  %5 = nn.relu(%4);",
        "  %8 = 3 / 0;\n  %9 = cast(%8, dtype=\"float32\");\n  %5 = multiply(%4, %9);",
    );
    let (document, text) = reduced("fails", &module, &["--keep", "fails"]);
    assert!(text.contains("3 / 0") && !text.contains("conv2d"), "{text}");
    assert_eq!(document["bindings"][1], 0, "{text}");
}

#[test]
fn a_nan_keeps_the_call_that_computes_it() {
    let module = NETWORK
        .replace("Tensor[(5, 7)", "Tensor[(5, 4)")
        .replace("  %5 = nn.relu(%4);", "  %8 = subtract(%4, %4);\n  %5 = divide(%8, %8);");
    let (document, text) = reduced("nan", &module, &["--keep", "nan"]);
    assert!(text.contains("divide(") && !text.contains("conv2d"), "{text}");
    assert!(document["bindings"][1].as_u64() < Some(3), "{text}");
}

#[test]
fn a_refusal_of_tvm_is_kept() {
    let module =
        "def @main(%input.1: Tensor[(2), float32]) {\n  %0 = nn.relu(%input.1);\n  tanh(%0)\n}\n";
    let (document, text) = reduced("tvm", module, &["--keep", "tvm"]);
    assert!(text.contains("%input.1") && !text.contains("tanh"), "{text}");
    assert_eq!(document["bindings"], serde_json::json!([1, 0]), "{text}");
}

/// Two modules that compute other values become two functions that do, on the same values.
#[test]
fn a_difference_from_another_module_is_kept() {
    let right = NETWORK
        .replace("Tensor[(5, 7)", "Tensor[(5, 4)")
        .replace("  %1 = nn.relu(%0);", "  %7 = sigmoid(%0);\n  %1 = subtract(%7, %0);");
    let folder = |name: &str, other: &str| {
        let files = [("a.relay", right.as_bytes()), ("other.relay", other.as_bytes())];
        Folder::new(&format!("reduce-differs-{name}"), &files)
    };
    let args = ["reduce", "a.relay", "-o", "b.relay", "--keep", "differs:other.relay"];
    // Other numbers and names of bindings do not matter.
    let renamed =
        |text: &str| text.replace("%0", "%10").replace("%1 ", "%11 ").replace("(%1)", "(%11)");
    for (name, from, to, calls) in [
        ("operands", "subtract(%7, %0)", "subtract(%0, %7)", ["subtract(", "subtract("]),
        ("operator", "sigmoid(%0)", "tanh(%0)", ["sigmoid(", "tanh("]),
        ("axis", "nn.softmax(%5)", "nn.softmax(%5, axis=0)", ["nn.softmax(", "axis=0"]),
    ] {
        for other in [right.replace(from, to), renamed(&right.replace(from, to))] {
            let folder = folder(name, &other);
            let run = folder.run(&args);
            assert_eq!(run.code, Some(0), "{name}: {}", run.err);
            let text = std::fs::read_to_string(folder.path().join("b.relay")).expect("a module");
            assert!(
                text.contains("// Shows: the results of `@main` and `@other` differ"),
                "{text}"
            );
            let (first, second) = text.split_once("def @other").expect("two functions");
            assert!(first.contains(calls[0]) && second.contains(calls[1]), "{name}: {text}");
            assert!(!text.contains("conv2d") && text.lines().count() < 14, "{name}: {text}");
            let compared =
                folder.run(&["compare", "b.relay", "b.relay", "--function", "@main=@other"]);
            assert_eq!(compared.code, Some(1), "{name}: {} {text}", compared.out);
        }
    }
    let same = folder("same", &renamed(&right)).run(&args);
    assert_eq!(same.code, Some(1), "{}", same.out);
    assert!(same.err.contains("the modules compute the same values"), "{}", same.err);
    let missing =
        folder("missing", &right).run(&["reduce", "a.relay", "--keep", "differs:no.relay"]);
    assert_eq!(missing.code, Some(2), "{}", missing.err);
}

/// Candidates are well-formed before a command sees them, and the file that it gets is a module.
#[cfg(unix)]
#[test]
fn a_command_decides() {
    let module = NETWORK.replace("Tensor[(5, 7)", "Tensor[(5, 4)");
    let command = "grep -q nn.dense {} && grep -q nn.softmax {}";
    let (document, text) = reduced("command", &module, &["--command", command]);
    assert!(text.contains("nn.dense(") && text.contains("nn.softmax("), "{text}");
    assert!(!text.contains("conv2d") && !text.contains("helper"), "{text}");
    assert_eq!(errors(&text), [""; 0]);
    assert_eq!(document["flaky"], false);
}

#[cfg(unix)]
#[test]
fn a_command_that_takes_too_long_or_is_flaky_is_told() {
    let (run, text) =
        reduce("slow", NETWORK, &["--command", "sleep 60; test -f {}", "--timeout", "0.2"]);
    assert_eq!((run.code, text.as_str()), (Some(1), ""), "{}", run.out);
    assert!(run.err.contains("it takes longer than 0.2 s"), "{}", run.err);
    let command = "test -f {}; if test -f flag; then rm flag; exit 1; else touch flag; fi";
    let (run, _) = reduce("flaky", NETWORK, &["--command", command]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("gave different answers"), "{}", run.err);
}

#[test]
fn what_does_not_hold_at_the_start_is_said() {
    let fine = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) {\n  nn.relu(%x)\n}\n";
    let endless = "def @main(%x: int32) -> int32 {\n  @main(%x)\n}\n";
    for (name, module, keep, reason) in [
        ("code", fine, "code:shape-mismatch", "has no diagnostic `shape-mismatch`"),
        ("tvm", fine, "tvm", "TVM does not refuse the module"),
        ("fails", fine, "fails", "runs without a failure"),
        ("nan", fine, "nan", "has no NaN"),
        ("limit", endless, "fails", "the run does not fail by itself"),
        ("errors", NETWORK, "nan", "has errors and cannot be run"),
    ] {
        let (run, text) = reduce(name, module, &["--keep", keep, "--fuel", "100000"]);
        assert_eq!((run.code, text.as_str()), (Some(1), ""), "{name}: {}", run.out);
        assert!(run.err.contains(reason), "{name}: {}", run.err);
    }
    let (run, _) = reduce("unknown", fine, &["--keep", "code:shape-mismach"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("there is no code `shape-mismach`"), "{}", run.err);
}

/// The server reduces a document to the diagnostic at a position, which clients with the command get as a code action.
#[test]
fn a_document_is_reduced_to_a_diagnostic() {
    let uri = "file:///work/reduce.relay";
    // Two diagnostics of one code: the one at the position is kept.
    let text = NETWORK.replace("  nn.softmax(%5)", "  %6 = nn.dense(%2, %d);\n  nn.softmax(%5)");
    let commands = json!({ "commands": ["relay.reduceToDiagnostic"] });
    let mut client =
        Client::start_with(json!({ "experimental": { "commands": commands } }), Value::Null);
    client.open(uri, &text);
    let range =
        json!({ "start": { "line": 10, "character": 0 }, "end": { "line": 10, "character": 40 } });
    let params =
        json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let actions = client.request("textDocument/codeAction", params);
    let mut actions = actions["result"].as_array().expect("actions").iter();
    let action = actions.rfind(|action| action["title"] == "Reduce to This Diagnostic");
    let command = action.expect("an action")["command"].clone();
    assert_eq!(command["command"], "relay.reduceToDiagnostic");
    assert_eq!(command["arguments"][2], "shape-mismatch");
    let mut run = |argument: Value| {
        let params = json!({ "command": "relay.reduce", "arguments": [argument] });
        client.request("workspace/executeCommand", params)
    };
    let reduced = run(json!({
        "uri": uri, "position": command["arguments"][1], "code": command["arguments"][2],
    }));
    let result = &reduced["result"];
    assert_eq!(result["code"], "shape-mismatch", "{reduced}");
    assert_eq!(result["bindings"], json!([7, 0]), "{reduced}");
    let reduced_text = result["text"].as_str().expect("a text");
    assert_eq!(errors(reduced_text), ["shape-mismatch"]);
    assert!(reduced_text.contains("units=4"), "{reduced_text}");
    let of_line = run(json!({ "uri": uri, "position": { "line": 12, "character": 0 } }));
    assert_ne!(of_line["result"]["text"], result["text"], "{of_line}");
    for (argument, code) in [
        (json!({ "uri": uri, "position": { "line": 0, "character": 0 } }), -32803),
        (
            json!({ "uri": uri, "position": { "line": 10, "character": 8 }, "code": "no-code" }),
            -32803,
        ),
        (json!({ "uri": uri }), -32602),
        (json!(7), -32602),
    ] {
        assert_eq!(run(argument.clone())["error"]["code"], code, "{argument}");
    }
    // Other clients do not get the action.
    let mut other = Client::start_with(json!({}), Value::Null);
    other.open(uri, &text);
    let params =
        json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let actions = other.request("textDocument/codeAction", params).to_string();
    assert!(!actions.contains("Reduce to This Diagnostic"), "{actions}");
}

/// Cuts keep what explains an error, edits keep written types and bounds: no candidate has an error that the module at the
/// start lacks.
#[test]
fn candidates_have_no_other_errors() {
    let names = "def @main(%2: Tensor[(2, 4), float32], %k: Tensor[(2, 4), float32]) {
  %0 = cast(%data, dtype=\"int32\");
  %1 = cast(%k, dtype=\"int32\");
  %2 = subtract(%0, 1);
  multiply(%2, %1)
}
";
    let binder = "def @main(%x: Tensor[(10, 4), float32], %0: Tensor[(10, 4), float32]) -> Tensor[(10, 4), float32] {
  %0 = sigmoid(%x);
  multiply(%0, %g)
}
";
    let twice = "def @main(%c: Tensor[(3), int64], %b: Tensor[(3), int64], %c: int64) {
  sparse_to_dense(%a, %b, %c, output_shape=[5])
}
";
    let syntax = "def @main(%x: Tensor[(1, 4), int32]) {
  %0 = cast(%x, dtype=\"int32\");
  %1 } reshape(%0, newshape=[-1]);
  %2 = cast(%1, dtype=\"int32\");
  %3 = subtract(%2, %0);
  cast(%3, dtype=\"uint8\")
}
";
    let header = "def @main(%x: Tensor[(3, 1), float32], %z: Tensor[(3, 1), float32]) -> Tensor[(3, 1), float32]
  %0 = nn.relu(%x);
  add(%0, %z)
}
";
    let fields = "def @main(%x: Tensor[(3, 4), float32], %y: Tensor[(5, 4), float32]) -> (Tensor[(3, 4), float16], Tensor[(5, 4), float32], Tensor[(3, 4), float32]) {
  %0 = nn.relu(%x);
  %1 = nn.relu(%y);
  %2 = (%0, %1, %x);
  %2
}
";
    let window = "def @main(%x: Tensor[(20, 100), float32]) -> Tensor[(20, 5), float32] {
  topk(%x, k=7, ret_type=\"values\", dtype=\"float32\")
}
";
    let blocks = "def @main(%x: Tensor[(1, 2, 6, 6, 16), float32], %w: Tensor[(1, 2, 3, 3, 16, 16), float32]) {
  nn.contrib_conv2d_NCHWc(%x, %w, kernel_size=[3, 3], channels=16, data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\", paddings=[0, 0])
}
";
    let annotation = "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4, 3), float32]) {
  let %a: Tensor[(4, 3), float32] = zeros_like(%x);
  let %b = add(%a, %x);
  let %c = nn.relu(%y);
  (%b, %c)
}
";
    for (name, module, code) in [
        ("annotation", annotation, "shape-mismatch"),
        ("names", names, "invalid-binder"),
        ("binder", binder, "invalid-binder"),
        ("twice", twice, "duplicate-parameter"),
        ("syntax", syntax, "syntax-error"),
        ("header", header, "syntax-error"),
        ("fields", fields, "dtype-mismatch"),
        ("window", window, "shape-mismatch"),
        ("blocks", blocks, "unknown-attribute"),
    ] {
        let module = format!("#[version = \"0.0.5\"]\n{module}");
        let found = errors(&module);
        assert!(found.iter().any(|found| found == code), "{name}: {found:?}");
        let (document, text) = reduced(name, &module, &["--keep", &format!("code:{code}")]);
        assert_eq!(document["tried"], document["well_formed"], "{name}: {document} {text}");
    }
}

/// A function that is the value of another one becomes a definition, whose bindings are removed like those of others.
#[test]
fn bindings_in_a_function_value_are_removed() {
    let lines: Vec<String> = (1..40).map(|at| format!("    %{at} = exp(%{});\n", at - 1)).collect();
    let module = format!(
        "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(10, 20), float32]) {{
  %f = fn (%p: Tensor[(10, 20), float32], Primitive=1) -> Tensor[(8, 20), float32] {{
    %0 = exp(%p);\n{}    exp(%39)\n  }};\n  %f(%x)\n}}\n",
        lines.concat()
    );
    let (document, text) = reduced("lifted", &module, &["--keep", "code:shape-mismatch"]);
    assert_eq!(document["bindings"][1], 0, "{text}");
    assert!(document["tried"].as_u64() < Some(100), "{document}");
    assert_eq!(document["tried"], document["well_formed"], "{document} {text}");
    assert!(text.contains("def @main(") && !text.contains("fn ("), "{text}");
}

/// Refused modules in networks become few bindings again.
#[test]
fn refused_modules_are_cut_out_of_networks() {
    let Some(modules) = in_networks(16) else { return };
    let mut sizes = Vec::new();
    let mut candidates = (0, 0);
    for module in modules {
        let reduced = module.reduce();
        let (id, text) = (&module.id, &reduced.text);
        let found = errors(text);
        assert!(found.contains(&module.code), "{id}: {found:?} {text}");
        let others = errors(&module.text);
        assert!(found.iter().all(|code| others.contains(code)), "{id}: {found:?} {text}");
        sizes.push(reduced.bindings);
        candidates = (candidates.0 + reduced.tried, candidates.1 + reduced.formed);
    }
    sizes.sort_unstable();
    assert!(sizes.len() > 10, "{sizes:?}");
    assert!(sizes[sizes.len() / 2] <= 8 && sizes[sizes.len() * 95 / 100] <= 20, "{sizes:?}");
    assert!(candidates.1 * 100 >= candidates.0 * 99, "{candidates:?}");
}
