//! What the commands print: words, counts, units, columns and exit codes.

use relay_tests::command::{Folder, run, run_in};
use serde_json::{Value, json};

/// A module with an error, a warning and a hint.
const MIXED: &str =
    "def @f(%x: int32) -> int32 {\n  let %a = 1;\n  %x\n}\ndef @main() -> int32 {\n  %y\n}\n";

#[test]
fn severities_have_one_name_in_all_outputs() {
    let folder = Folder::new("words", &[("a.relay", MIXED.as_bytes())]);
    let level = ["check", "--level", "unused-binding=info", "a.relay"];
    let human = folder.run(&level).out;
    assert!(human.contains("info[unused-binding]"), "{human}");
    assert!(human.contains("1 error, 1 info in 1 file"), "{human}");
    let json = folder.run(&[&level[..], &["--format", "json"]].concat()).out;
    assert!(json.contains("\"severity\":\"info\""), "{json}");
    for word in ["remark", "notice"] {
        assert!(!human.contains(word) && !json.contains(word));
    }
}

/// The summary counts what is printed. Only hints that the default hides are mentioned.
#[test]
fn summary_counts_what_is_reported() {
    let folder = Folder::new("counts", &[("a.relay", MIXED.as_bytes())]);
    let summary = |args: &[&str]| {
        let out = folder.run(&[&["check", "a.relay"], args].concat()).out;
        out.lines().next_back().unwrap_or_default().to_owned()
    };
    let all = summary(&["--severity", "hint"]);
    assert!(all.starts_with("1 error, 1 warning, ") && all.contains("hint"), "{all}");
    assert_eq!(summary(&["--severity", "error"]), "1 error in 1 file");
    assert_eq!(summary(&["--severity", "warning"]), "1 error, 1 warning in 1 file");
    assert!(summary(&[]).ends_with("not shown: `--severity hint`)"), "{}", summary(&[]));
}

#[test]
fn a_missing_file_of_settings_is_one_clear_error() {
    let folder = Folder::new("no-config", &[("a.relay", MIXED.as_bytes())]);
    for command in ["check", "fmt", "run"] {
        let refused = folder.run(&[command, "--config", "nope.toml", "a.relay"]);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{command}");
        let error = refused.err.trim_end();
        assert!(error.starts_with("error: cannot read `nope.toml`: "), "{error}");
        assert!(error.contains("`--config`") && error.lines().count() == 1, "{error}");
    }
}

/// The help of each command says its exit codes.
#[test]
fn help_of_every_command_names_exit_codes() {
    let help = run(&["--help"], "").out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = commands.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  "));
    let names: Vec<&str> = names
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        for flag in ["-h", "--help"] {
            let help = run(&[name, flag], "").out;
            assert!(help.contains("Exit codes: 0"), "{name} {flag}: {help}");
        }
    }
}

/// A log in which a pass fuses two calls, and another one takes them apart.
const LOG: &str = "\
[10:00:01] /src/ir/transform.cc:629: PrintIR(after InferType):
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = nn.relu(%x);
  exp(%0)
}
[10:00:02] /src/ir/transform.cc:629: PrintIR(after FuseOps):
def @main(%x: Tensor[(2, 3), float32]) {
  %2 = fn (%p: Tensor[(2, 3), float32], Primitive=1) {
    %1 = nn.relu(%p);
    exp(%1)
  };
  %2(%x)
}
[10:00:03] /src/ir/transform.cc:629: PrintIR(after DefuseOps):
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = nn.relu(%x);
  exp(%0)
}
";

#[test]
fn history_names_the_direction_of_a_pass() {
    let folder = Folder::new("direction", &[("run.log", LOG.as_bytes())]);
    // From each of the modules, in both directions.
    for at in ["3:8", "9:10", "16:8"] {
        let told = folder.run(&["history", "run.log", "--at", at]).out;
        assert!(told.contains(" fused by `FuseOps`\n"), "{told}");
        assert!(told.contains(" unfused by `DefuseOps`\n"), "{told}");
    }
    let json = folder.run(&["history", "run.log", "--at", "3:8", "--format", "json"]).lines();
    let stops = json[0]["stops"].as_array().expect("stops");
    let kinds: Vec<&str> = stops.iter().filter_map(|stop| stop["kind"].as_str()).collect();
    assert_eq!(kinds, ["fused", "unfused"]);
}

/// Returns the words of each line.
fn cells(out: &str) -> Vec<Vec<&str>> {
    out.lines()
        .map(|line| line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect())
        .collect()
}

#[test]
fn passes_have_their_costs_in_columns() {
    let folder = Folder::new("columns", &[("run.log", LOG.as_bytes())]);
    let out = folder.run(&["passes", "--costs", "run.log"]).out;
    let rows = cells(&out);
    let head =
        ["#", "pass", "line", "size", "defs", "calls", "parameters", "MACs", "peak", "changed"];
    assert_eq!(rows[0], head, "{out}");
    assert_eq!(rows[1][..9], ["0", "InferType", "2", "73 bytes", "1", "2", "0", "0", "48 bytes"]);
    assert_eq!(rows[2][9], "@main", "{out}");
    // The last characters of numbers are below those of the head.
    let ends = |line: &str, cell: &str| line.find(cell).map(|at| at + cell.len());
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(ends(lines[0], "peak"), ends(lines[1], "48 bytes"), "{out}");
    let plain = folder.run(&["passes", "run.log"]).out;
    assert_eq!(cells(&plain)[0], ["#", "pass", "line", "size", "defs", "changed"]);
}

/// A module with a metadata section.
const SECTION: &str = "#[version = \"0.0.5\"]\ndef @main() { 1 }\n#[metadata]\n{\n  \"root\": 1, \n  \"nodes\": [\n    {\n      \"type_key\": \"\"\n    }\n  ], \n  \"b64ndarrays\": [], \n  \"attrs\": {\"tvm_version\": \"0.14.0\"}\n}\n";

#[test]
fn strip_and_weights_read_standard_input() {
    let folder = Folder::new("pipes", &[("a.relay", SECTION.as_bytes())]);
    let pipe = |args: &[&str]| run_in(folder.path(), args, SECTION.as_bytes());
    assert_eq!(folder.run(&["strip", "a.relay", "-o", "code.relay"]).code, Some(0));
    let code = folder.text("code.relay");
    assert!(code.contains("#[metadata] folded:"), "{code}");
    // Without `-o`, and with `-o -`, the code is printed.
    for args in [&["strip", "-"][..], &["strip", "-", "-o", "-"]] {
        let stripped = pipe(args);
        assert_eq!(
            (stripped.code, stripped.out.as_str()),
            (Some(0), code.as_str()),
            "{}",
            stripped.err
        );
    }
    assert_eq!(folder.run(&["strip", "a.relay"]).out, code);
    assert!(!folder.path().join("-").exists());
    let again = run_in(folder.path(), &["strip", "-"], code.as_bytes());
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("`-`: it has no metadata section"), "{}", again.err);
    let listed = pipe(&["weights", "-"]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    assert_eq!(listed.out, folder.run(&["weights", "a.relay"]).out);
}

#[test]
fn parameters_of_the_shape_of_a_result_are_no_weights() {
    let text = "#[version = \"0.0.5\"]\n\
        def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %b: Tensor[(4), float32],\n\
                  %mask: Tensor[(2, 4), float32]) {\n\
          %0 = nn.dense(%x, %w, units=4);\n  %1 = add(%0, %b);\n  multiply(%1, %mask)\n}\n";
    let folder = Folder::new("mask", &[("a.relay", text.as_bytes())]);
    let json = folder.run(&["shapes", "a.relay", "--format", "json"]).lines();
    let function = &json[0]["functions"][0];
    assert_eq!(function["total"]["parameters"]["value"], 16);
    let kind = |name: &str| {
        let sources = function["sources"].as_array().expect("sources").iter();
        sources.clone().find(|s| s["name"] == name).expect(name)["kind"].clone()
    };
    assert_eq!(
        (kind("%w"), kind("%b"), kind("%mask")),
        ("weight".into(), "weight".into(), "input".into())
    );
}

/// `fmt --diff` prints what `fmt` would write.
#[test]
fn fmt_prints_its_changes() {
    let folder = Folder::new("fmt-diff", &[("a.relay", b"def @main(){1+2}\n")]);
    let shown = folder.run(&["fmt", "--diff", "a.relay"]);
    let diff = "--- a.relay\n+++ a.relay\n@@ -1 +1,3 @@\n-def @main(){1+2}\n+def @main() {\n+  1 + 2\n+}\n";
    assert_eq!((shown.code, shown.out.as_str()), (Some(1), diff), "{}", shown.err);
    assert_eq!(folder.text("a.relay"), "def @main(){1+2}\n", "nothing is written");
    assert_eq!(folder.run(&["fmt", "a.relay"]).code, Some(0));
    assert_eq!(folder.text("a.relay"), "def @main() {\n  1 + 2\n}\n");
    let shown = folder.run(&["fmt", "--diff", "a.relay"]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(0), ""));
    assert_eq!(folder.run(&["fmt", "--diff", "--check", "a.relay"]).code, Some(2));
}

/// Returns the run of a SARIF log.
fn sarif(folder: &Folder, files: &[&str]) -> Value {
    let out = folder.run(&[&["check", "--format", "sarif"], files].concat()).out;
    let log: Value = serde_json::from_str(&out).expect("JSON");
    log["runs"][0].clone()
}

#[test]
fn sarif_has_the_rules_that_occur_with_fixes_and_fingerprints() {
    let stale = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  \
                 let %é = nn.relu(%x) /* ty=Tensor[(2, 4), float32] */;\n  \
                 let %é = nn.relu(%x) /* ty=Tensor[(2, 4), float32] */;\n  %é\n}\n";
    let folder = Folder::new("sarif", &[("a.relay", stale.as_bytes())]);
    let found = sarif(&folder, &["a.relay"]);
    let rules = found["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = found["results"].as_array().expect("results");
    let mut ids: Vec<&str> = results.iter().filter_map(|r| r["ruleId"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let listed: Vec<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(listed, ids, "each rule that occurs, and no other");
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    let help = rules[0]["help"]["markdown"].as_str().expect("a page");
    assert!(!help.contains(": [") && help.contains("```relay\n"), "{help}");
    assert_eq!(found["invocations"][0]["executionSuccessful"], true);

    let stale_results: Vec<&Value> =
        results.iter().filter(|result| result["ruleId"] == "stale-type-comment").collect();
    assert_eq!(stale_results.len(), 2);
    let replacement = &stale_results[1]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let number = |name: &str| replacement["deletedRegion"][name].as_u64().expect(name) as usize;
    let (start, length) = (number("byteOffset"), number("byteLength"));
    let text = replacement["insertedContent"]["text"].as_str().expect("a text");
    let fixed = [&stale[..start], text, &stale[start + length..]].concat();
    let wanted = stale.rfind("(2, 4)").expect("the type");
    assert_eq!(fixed, [&stale[..wanted], "(2, 3)", &stale[wanted + 6..]].concat());

    // Fingerprints differ from each other, and do not depend on the lines around.
    let fingerprints = |run: &Value| -> Vec<Value> {
        let results = run["results"].as_array().expect("results").iter();
        let of = results.filter(|result| result["ruleId"] == "stale-type-comment");
        of.map(|result| result["partialFingerprints"].clone()).collect()
    };
    let before = fingerprints(&found);
    assert_ne!(before[0], before[1]);
    let moved = stale.replace("def @main", "// a comment\n\ndef @main");
    let folder = Folder::new("sarif-moved", &[("a.relay", moved.as_bytes())]);
    assert_eq!(fingerprints(&sarif(&folder, &["a.relay"])), before);
}

#[test]
fn sarif_reports_what_was_not_checked() {
    let folder =
        Folder::new("sarif-failures", &[("a.relay", b"def @f() { 1 }\n"), ("b/c.txt", b"")]);
    let found = sarif(&folder, &["a.relay", "none.relay", "b"]);
    let invocation = &found["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = invocation["toolExecutionNotifications"].as_array().expect("notifications");
    let told: Vec<&str> = told.iter().filter_map(|n| n["message"]["text"].as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("`b`") && told[1].contains("`none.relay`"), "{told:?}");
    let clean = sarif(&folder, &["--severity", "error", "a.relay"]);
    assert_eq!(clean["tool"]["driver"]["rules"], json!([]));
}

/// `--by memory` names what is live at the peak, with the lines between which it lives; its CSV has all lifetimes.
#[test]
fn memory_over_time_has_the_results_of_the_peak() {
    let net = "def @inner(%y: Tensor[(64), float32]) { add(add(exp(%y), tanh(%y)), %y) }\n\
        def @main(%x: Tensor[(64), float32]) {\n  let %a = exp(%x);\n  let %b = tanh(%a);\n  \
        let %c = @inner(%b);\n  add(%c, %a)\n}\n";
    let folder = Folder::new("memory-over-time", &[("net.relay", net.as_bytes())]);
    let args = ["shapes", "net.relay", "--function", "main", "--by", "memory"];
    let table = folder.run(&args).out;
    let expected = "\
@main (line 2)
  live at the peak operator type       bytes lines
  %a               exp      64 f32 256 bytes 3–6
  %b               tanh     64 f32 256 bytes 4–5
  %c               @inner   64 f32 256 bytes 5–6
in the call of @inner at %c: 768 bytes
";
    assert!(table.starts_with(expected), "{table}");
    let csv = folder.run(&[&args[..], &["--format", "csv"]].concat()).out;
    assert!(
        csv.contains("main,2,%c,\"'@inner\",\"Tensor[(64), float32]\",256,768,1280,5,6,true\r\n"),
        "{csv}"
    );
    assert!(
        csv.contains("main,3,,add,\"Tensor[(64), float32]\",256,768,768,6,,false\r\n"),
        "{csv}"
    );
    let json = folder.run(&["shapes", "net.relay", "--format", "json"]).lines();
    let main = &json[0]["functions"][1];
    assert_eq!(main["total"]["peakRows"], json!([0, 1, 2]));
    let until = main["rows"].as_array().expect("rows").iter().map(|row| row["liveUntil"].clone());
    assert_eq!(until.collect::<Vec<_>>(), [3, 2, 3, 4]);
    assert_eq!(main["rows"][2]["peakBytes"]["text"], "1.2 KiB");
}

/// A function inside of another one has layers of its own, as totals and as groups of the graph.
#[test]
fn inner_functions_have_layers_of_their_own() {
    let layers =
        ["%a = nn.relu(nn.dense(%y", "%b = nn.relu(nn.dense(%a", "%c = nn.relu(nn.dense(%b"];
    let body: String =
        layers.iter().map(|layer| format!("    let {layer}, %w, units=8));\n")).collect();
    let net = format!(
        "def @main(%x: Tensor[(1, 8), float32], %w: Tensor[(8, 8), float32]) {{\n  \
         let %f = fn (%y: Tensor[(1, 8), float32]) {{\n{body}    %c\n  }};\n  %f(%x)\n}}\n"
    );
    let folder = Folder::new("inner-layers", &[("net.relay", net.as_bytes())]);
    for args in [&["shapes", "net.relay"][..], &["shapes", "net.relay", "--function", "main"]] {
        let json = folder.run(&[args, &["--format", "json"]].concat()).lines();
        let inner = &json[0]["functions"][0]["functions"][0];
        assert_eq!(inner["byLayer"][0]["name"], "dense × 3", "{inner}");
        assert_eq!(inner["groups"][0]["rows"], json!([[0, 2], [2, 4], [4, 6]]));
    }
    let table = folder.run(&["shapes", "net.relay", "--by", "layer"]).out;
    assert!(table.contains("%f (line 2)") && table.contains("dense × 3"), "{table}");
}
