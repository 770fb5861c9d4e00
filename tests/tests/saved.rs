//! Modules that TVM saved, on the command line and in an editor.

use relay_tests::{
    arrays::params,
    client::Client,
    command::{Folder, run},
    corpus,
};
use serde_json::{Value, json};

/// `def @main(%x: Tensor[(2), float32], %w: Tensor[(2), float32]) { add(%x, %w) }` as saved by TVM 0.14,
/// except for fields that the text does not show.
fn module() -> String {
    let expression = |kind: &str, mut fields: Value| {
        for name in ["virtual_device_", "span", "_checked_type_"] {
            fields[name] = "0".into();
        }
        json!({ "type_key": kind, "attrs": fields })
    };
    let variable =
        |id: &str| expression("relay.Var", json!({ "vid": id, "type_annotation": "13" }));
    let name = |name: &str| json!({ "type_key": "runtime.String", "repr_str": name });
    let id = |name: &str| json!({ "type_key": "relay.Id", "attrs": { "name_hint": name } });
    let nodes = json!([
        { "type_key": "" },
        { "type_key": "IRModule", "attrs": { "attrs": "0", "functions": "2", "global_type_var_map_": "0",
            "global_var_map_": "0", "source_map": "0", "type_definitions": "16" } },
        { "type_key": "Map", "data": [3, 5] },
        expression("GlobalVar", json!({ "name_hint": "4" })),
        name("main"),
        expression("relay.Function", json!({ "params": "6", "body": "11", "ret_type": "0",
            "type_params": "17", "attrs": "0" })),
        { "type_key": "Array", "data": [7, 9] },
        variable("8"),
        id("18"),
        variable("10"),
        id("19"),
        expression("relay.Call", json!({ "op": "12", "args": "6", "attrs": "0", "type_args": "17" })),
        { "type_key": "Op", "repr_str": "add" },
        { "type_key": "relay.TensorType", "attrs": { "dtype": "float32", "shape": "14", "span": "0" } },
        { "type_key": "Array", "data": [15] },
        { "type_key": "IntImm", "attrs": { "dtype": "int32", "span": "0", "value": "2" } },
        { "type_key": "Map" },
        { "type_key": "Array" },
        name("x"),
        name("w")
    ]);
    let attrs = json!({ "tvm_version": "0.14.0" });
    let graph = json!({ "root": 1, "nodes": nodes, "b64ndarrays": [], "attrs": attrs });
    serde_json::to_string_pretty(&graph).expect("JSON")
}

const TEXT: &str = "\
#[version = \"0.0.5\"]
def @main(%x: Tensor[(2), float32], %w: Tensor[(2), float32]) {
  add(%x, %w)
}
";

/// Creates a tar archive: for each entry a header of 512 bytes, then its padded contents.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in entries {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..263].copy_from_slice(b"ustar\0");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        out.extend_from_slice(&header);
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn weights() -> Vec<u8> {
    let two: Vec<u8> = [10f32, 20.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    params(&[("w", &[2], &two)])
}

#[test]
fn convert_writes_the_text() {
    let folder = Folder::new("saved-convert", &[("m.json", module().as_bytes())]);
    let run = folder.run(&["convert", "m.json", "-o", "m.relay"]);
    assert_eq!((run.code, &*run.out, &*run.err), (Some(0), "", ""));
    assert_eq!(folder.text("m.relay"), TEXT);
    assert_eq!(folder.run(&["convert", "m.json"]).out, TEXT);
    let run = folder.run(&["convert", "m.relay"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("nothing to convert"), "{}", run.err);
}

#[test]
fn standard_input_is_converted() {
    assert_eq!(run(&["convert", "-"], &module()).out, TEXT);
}

#[test]
fn every_command_reads_saved_modules() {
    let tar = archive(&[("model.json", module().as_bytes()), ("model.params", &weights())]);
    let json = module();
    let files: [(&str, &[u8]); 3] =
        [("m.json", json.as_bytes()), ("m.tar", &tar), ("m.relay", TEXT.as_bytes())];
    let folder = Folder::new("saved-commands", &files);
    for file in ["m.json", "m.tar"] {
        for command in [&["check", "--quiet"][..], &["types"], &["shapes"]] {
            let with = |file| folder.run(&[command, &[file]].concat());
            let (saved, text) = (with(file), with("m.relay"));
            assert_eq!(saved.code, Some(0), "{command:?}: {}", saved.err);
            assert_eq!(saved.out.replace(file, "m.relay"), text.out, "{command:?}");
        }
        let run = folder.run(&["diff", file, "m.relay"]);
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    }
    let run = folder.run(&["run", "m.tar", "--input", "x=[1, 2]"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("[11. 22.]"), "{}", run.out);
    // The parameters of the archive are its weights.
    let run = folder.run(&["weights", "m.tar", "--save", "arrays", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let listed: Value = serde_json::from_str(&run.out).expect("JSON");
    let [w] = &listed["weights"].as_array().expect("a list")[..] else { panic!("{listed}") };
    let described = (&w["name"], &w["shape"], &w["uses"], &w["statistics"]["max"]);
    assert_eq!(described, (&json!("w"), &json!("(2)"), &json!(1), &json!(20.0)));
    assert!(folder.path().join("arrays/parameter_0.npy").is_file());
    let run = folder.run(&["weights", "m.json"]);
    assert!(run.code == Some(2) && run.err.contains("no weights"), "{}", run.err);
    // What the user names counts more than the archive.
    let run = folder.run(&["run", "m.tar", "--input", "x=[1, 2]", "--input", "w=[1, 1]"]);
    assert!(run.out.contains("[2. 3.]"), "{}", run.out);
}

#[test]
fn names_in_archives_are_no_formulas_in_a_spreadsheet() {
    let names = [
        "=HYPERLINK(\"http://e\",\"x\")",
        "+1",
        "-1+1",
        "@SUM(1+1)*cmd|' /C calc'!A0",
        "\t=1",
        "\r=1",
        "\n=1",
        "a,b",
        "a\"b",
        "plain.weight",
    ];
    // Numbers stay numbers: the first tensor has a negative one, the second none that is finite.
    let bytes = |number: f32| number.to_le_bytes();
    let numbers = [bytes(-1.5), bytes(f32::NAN)];
    let arrays: Vec<(&str, &[u64], &[u8])> = names
        .iter()
        .zip((0..2).cycle())
        .map(|(name, at)| (*name, &[1][..], &numbers[at][..]))
        .collect();
    let tar = archive(&[("model.json", module().as_bytes()), ("model.params", &params(&arrays))]);
    let folder = Folder::new("saved-csv", &[("m.tar", &tar)]);
    let run = folder.run(&["weights", "m.tar", "--format", "csv"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let expected = |name: &str, at: usize| {
        let stats = ["-1.5,-1.5,-1.5,0,0,0", ",,,0,1,0"][at % 2];
        let is_formula = name.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
        let cell = match (is_formula, name.contains([',', '"'])) {
            (true, _) => format!("\"'{}\"", name.replace('"', "\"\"")),
            (false, true) => format!("\"{}\"", name.replace('"', "\"\"")),
            (false, false) => name.to_owned(),
        };
        format!(",float32,(1),4,{stats},0,,{cell}\n")
    };
    for (at, name) in names.iter().enumerate() {
        assert!(run.out.contains(&expected(name, at)), "{name:?}: {}", run.out);
    }
}

#[test]
fn saved_modules_are_never_written() {
    let folder = Folder::new("saved-written", &[("m.json", module().as_bytes())]);
    let run = folder.run(&["fmt", "m.json"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("relay-analyzer convert"), "{}", run.err);
    folder.run(&["check", "--fix", "m.json"]);
    assert_eq!(folder.text("m.json"), module());
}

#[test]
fn unreadable_saved_module_is_one_error() {
    let broken = module().replace("relay.Call", "relay.Future");
    let hostile = archive(&[("../model.json", module().as_bytes())]);
    let package = archive(&[("mod.so", b"\x7fELF")]);
    let files: [(&str, &[u8]); 3] =
        [("kind.json", broken.as_bytes()), ("up.tar", &hostile), ("empty.tar", &package)];
    let folder = Folder::new("saved-broken", &files);
    for (file, why) in [
        ("kind.json", "unknown-node-kind"),
        ("up.tar", "leads out of it"),
        ("empty.tar", "no-module"),
    ] {
        let run = folder.run(&["check", "--quiet", file]);
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.out.contains("error[unreadable-saved-module]"), "{}", run.out);
        assert!(run.out.contains(why), "{}", run.out);
        assert_eq!(run.out.matches("error[").count(), 1, "{}", run.out);
        for command in ["types", "shapes", "run", "convert"] {
            let run = folder.run(&[command, file]);
            assert_eq!(run.code, Some(2), "{command}: {}", run.out);
            assert!(run.err.contains(why), "{command}: {}", run.err);
        }
    }
}

#[test]
fn shapes_shows_the_plan_of_a_compiled_package() {
    let plan = r#"{"nodes": [{"op": "null", "name": "x", "inputs": []}], "arg_nodes": [0],
        "heads": [[0, 0, 0]], "attrs": {"dltype": ["list_str", ["float32"]],
        "storage_id": ["list_int", [0]], "shape": ["list_shape", [[2, 3]]]}}"#;
    let package = archive(&[("mod.json", plan.as_bytes()), ("mod.so", b"\x7fELF")]);
    let folder =
        Folder::new("saved-plan", &[("mod.json", plan.as_bytes()), ("package.tar", &package)]);
    for file in ["mod.json", "package.tar"] {
        let run = folder.run(&["shapes", file]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(run.out.contains("1 tensor in 1 storage: 24 bytes of inputs"), "{}", run.out);
        let json = &folder.run(&["shapes", "--format", "json", file]).lines()[0];
        assert_eq!(json["plan"]["argument_bytes"], 24);
        let run = folder.run(&["check", file]);
        assert!(run.out.contains("memory plan of a compiled one"), "{}", run.out);
    }
}

#[test]
fn convert_file_request_returns_the_text() {
    let tar = archive(&[("model.json", module().as_bytes())]);
    let json = module();
    let files: [(&str, &[u8]); 3] =
        [("m.json", json.as_bytes()), ("m.tar", &tar), ("a.relay", b"")];
    let folder = Folder::new("saved-editor", &files);
    let mut client = Client::start_with(json!({}), Value::Null);
    let mut ask = |file: &str| {
        let uri = format!("file://{}", folder.path().join(file).display());
        client.request("relay/convertFile", json!({ "uri": uri }))
    };
    for file in ["m.json", "m.tar"] {
        let answer = ask(file);
        assert_eq!(answer["result"]["text"], TEXT, "{answer}");
    }
    let refused = ask("a.relay");
    assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains("not saved by TVM")));
    assert!(ask("none.json")["error"].is_object());
}

/// Modules that TVM 0.6 and 0.7 saved, beside the texts that they printed of them.
#[test]
fn modules_of_former_releases_are_their_texts() {
    let Some(corpus) = corpus::versions() else { return };
    let mut modules = 0;
    for folder in ["json-0.6", "json-0.7"] {
        let files = std::fs::read_dir(corpus.join(folder)).expect("a folder of the corpus");
        let files = files.map(|entry| entry.expect("an entry").path());
        for saved in files.filter(|path| path.extension().is_some_and(|it| it == "json")) {
            let (text, saved) = (saved.with_extension("relay"), saved.display().to_string());
            let check = run(&["check", "--quiet", &saved], "");
            assert_eq!(check.code, Some(0), "{saved}: {}{}", check.out, check.err);
            let diff = run(&["diff", &saved, &text.display().to_string()], "");
            assert_eq!(diff.code, Some(0), "{saved}: {}{}", diff.out, diff.err);
            modules += 1;
        }
    }
    assert!(modules > 0, "no modules in {}", corpus.display());
}

/// A product of matrices of TVM 0.7 says nothing of its second operand, which is transposed: the saved
/// module tells its release, the text does not.
#[test]
fn a_saved_module_tells_the_release_of_a_text() {
    let product = |version: &str| {
        let module: Value = serde_json::from_str(&module()).expect("JSON");
        let mut text = module.to_string().replace("\"0.14.0\"", &format!("\"{version}\""));
        text = text.replace("\"add\"", "\"nn.batch_matmul\"");
        text.replace("[15]", "[15,15,15]")
    };
    let text = TEXT.replace("add", "nn.batch_matmul").replace("(2)", "(2, 2, 2)");
    let (old, new) = (product("0.7.0"), product("0.14.0"));
    let files: [(&str, &[u8]); 3] =
        [("old.json", old.as_bytes()), ("new.json", new.as_bytes()), ("m.relay", text.as_bytes())];
    let folder = Folder::new("saved-release", &files);
    for file in ["old.json", "new.json"] {
        let check = folder.run(&["check", "--quiet", file]);
        assert_eq!(check.code, Some(0), "{file}: {}", check.out);
        for sides in [[file, "m.relay"], ["m.relay", file]] {
            let diff = folder.run(&[&["diff"], &sides[..]].concat());
            assert_eq!(diff.code, Some(0), "{sides:?}: {}{}", diff.out, diff.err);
            let note = "both are read as modules of TVM 0.7";
            assert_eq!(diff.err.contains(note), file == "old.json", "{}", diff.err);
        }
    }
    // The text names its release, which is the meaning of the call.
    let converted = folder.run(&["convert", "old.json"]).out;
    assert!(converted.contains("nn.batch_matmul(%x, %w)\n"), "{converted}");
    assert!(converted.contains("\"tvm_version\": \"0.7.0\""), "{converted}");
    assert_eq!(folder.run(&["convert", "new.json"]).out, text);
    let diff = folder.run(&["diff", "old.json", "new.json"]);
    assert_eq!(diff.code, Some(1), "{}{}", diff.out, diff.err);
}
