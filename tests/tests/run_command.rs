//! `relay-analyzer run`: its arguments, results and failures.

use relay_tests::{
    arrays::{npy, params},
    command::{Folder, run},
};
use serde_json::{Value, json};

const DENSE: &str = "\
def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(2, 2), float32], %n: int32) {
  %0 = nn.dense(%x, %w, units=2);
  %1 = nn.relu(%0);
  (%1, %n)
}
";

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn run_takes_arguments_from_all_sources() {
    let folder = Folder::new(
        "run",
        &[
            ("a.relay", DENSE.as_bytes()),
            ("open.relay", b"def @main(%x) { add(%x, 1) }\ndef @pair(%x) { (%x, 1) }\n"),
            ("x.npy", &npy("<f4", "(1, 2)", &floats(&[1.0, -2.0]))),
            ("w.params", &params(&[("w", &[2, 2], &floats(&[1.0, 0.0, 0.5, 2.0]))])),
        ],
    );
    let given = ["run", "a.relay", "--input", "x=x.npy", "--params", "w.params", "--input", "n=7"];
    let shown = folder.run(&given);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert_eq!(
        shown.out,
        "(Tensor[(1, 2), float32]  min 0.000000 mean 0.500000 max 1.000000\n[[1. 0.]], 7 (int32))\n"
    );
    // By position, with an unnamed file, and as JSON.
    let json = ["run", "a.relay", "--input", "i0=[[1, -2]]", "--input", "w.params"];
    let json = folder.run(&[&json[..], &["--random", "3", "--format", "json"]].concat());
    let value = &json.lines()[0];
    assert_eq!(value["tuple"][0]["data"], json!([1.0, 0.0]));
    assert_eq!(value["tuple"][0]["type"], "Tensor[(1, 2), float32]");
    // A parameter of unknown type takes any argument, typed as in a program.
    let open = |function: &str, x: &str| {
        let (function, input) = (format!("--function={function}"), format!("x={x}"));
        let ran = folder.run(&["run", "open.relay", &function, "--input", &input]);
        (ran.out.trim_end().to_owned(), ran.err)
    };
    assert_eq!(open("@main", "2.5").0, "3.5 (float32)");
    assert_eq!(open("@main", "2").0, "3 (int32)");
    assert_eq!(
        open("@pair", "(True, Some(2.5))").0,
        "((True (bool), Some(2.5 (float32))), 1 (int32))"
    );
    assert!(open("@pair", "Sme(1)").1.contains("there is no constructor `Sme`"));
    // Equal seeds yield equal arguments.
    let drawn = |seed: &str| folder.run(&["run", "a.relay", "--random", seed]).out;
    assert_eq!(drawn("1"), drawn("1"));
    assert_ne!(drawn("1"), drawn("2"));
    // A saved result can be an argument of another run.
    let save = folder.run(&[&given[..], &["--output", "out.npz"]].concat());
    assert_eq!((save.code, save.out.as_str()), (Some(0), ""));
    std::fs::write(
        folder.path().join("b.relay"),
        "def @main(%o0: Tensor[(1, 2), float32], %o1: int32) { (%o0, %o1) }",
    )
    .expect("a file");
    let again = folder.run(&["run", "b.relay", "--inputs", "out.npz"]);
    assert_eq!(again.out, shown.out, "{}", again.err);
}

/// `i1` denotes the same tensor as an argument and in an archive: positions count tensors, including those
/// in tuples.
#[test]
fn positions_count_tensors() {
    let text = "def @main(%p: (int32, (int32, int32)), %n: int32) {\n\
                  let %q = %p.1;\n  (%p.0, %q.0, %q.1, %n)\n}";
    let four = "def @main() { (1, 2, 3, 4) }";
    let folder =
        Folder::new("positions", &[("a.relay", text.as_bytes()), ("four.relay", four.as_bytes())]);
    let run = |inputs: &[&str]| {
        let mut args = vec!["run", "a.relay"];
        inputs.iter().for_each(|input| args.extend(["--input", input]));
        let run = folder.run(&args);
        (run.code, run.out.replace(" (int32)", "").trim_end().to_owned() + &run.err)
    };
    assert_eq!(run(&["i0=1", "i1=2", "i2=3", "i3=4"]), (Some(0), "(1, 2, 3, 4)".to_owned()));
    assert_eq!(run(&["p=(1, (2, 3))", "i3=4"]).1, "(1, 2, 3, 4)");
    // The tensors that a run has saved, one of them overridden.
    assert_eq!(folder.run(&["run", "four.relay", "--output", "o.npz"]).code, Some(0));
    let saved = std::fs::read(folder.path().join("o.npz")).expect("an archive");
    // The names of saved results start with another letter.
    let named = |letter: u8| {
        let mut bytes = saved.clone();
        for at in 0..bytes.len().saturating_sub(5) {
            if bytes[at] == b'o' && &bytes[at + 2..at + 6] == b".npy" {
                bytes[at] = letter;
            }
        }
        bytes
    };
    std::fs::write(folder.path().join("i.npz"), named(b'i')).expect("a file");
    assert_eq!(run(&["i.npz"]).1, "(1, 2, 3, 4)");
    assert_eq!(run(&["i.npz", "i1=7"]).1, "(1, 7, 3, 4)");
    assert_eq!(run(&["i.npz", "n=8"]).1, "(1, 2, 3, 8)");
    assert_eq!(run(&["i.npz", "p=(5, (6, 7))", "i3=9"]).1, "(5, 6, 7, 9)");
    // There is no fifth tensor, and the second is a number.
    let lacks = |inputs: &[&str], what: &str| {
        let (code, said) = run(inputs);
        assert!(code != Some(0) && said.contains(what), "{said}");
    };
    lacks(&["i4=1"], "there is no parameter `i4`");
    lacks(&["i01=1"], "there is no parameter `i01`");
    lacks(&["i1=(2, 3)"], "`i1`, which counts the tensors in `%p`, is of type int32");
    lacks(&["i0=1", "i3=1"], "the parameter `%p`");
    let help = folder.run(&["run", "--help"]).out;
    assert!(help.contains("`i0`, `i1`, … count tensors"), "{help}");
}

#[test]
fn run_reports_missing_and_invalid_arguments() {
    let folder = Folder::new(
        "run-lacks",
        &[
            ("a.relay", DENSE.as_bytes()),
            ("x.npy", &npy("<f4", "(2,)", &floats(&[1.0, -2.0]))),
            ("w.params", b"nothing"),
        ],
    );
    let said = |args: &[&str], wanted: &str| {
        let run = folder.run(&[&["run", "a.relay"], args].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(run.err.contains(wanted), "{args:?}: {}", run.err);
    };
    said(&[], "the parameter `%x` of type Tensor[(1, 2), float32] has no value");
    said(&["--input", "x=x.npy"], "the array given is Tensor[(2), float32]");
    said(&["--input", "x=1", "--input", "%x=2"], "`--input x=…` is given twice");
    said(&["--input", "y=1"], "there is no parameter `y`; the parameters are: x, w, n");
    said(&["--params", "w.params"], "contains no parameters of TVM");
    said(&["--input", "x"], "is not of the form `NAME=VALUE`");
    said(&["--function", "@f"], "there is no function `@f`");
}

/// Tuples, data, references and functions are written as they are displayed, or random.
#[test]
fn arguments_of_every_type() {
    let text = "\
#[version = \"0.0.5\"]
type Tree[A] {
  Leaf(A),
  Node(Tree[A], Tree[A]),
}
def @half(%x: float32) -> float32 { %x / 2f }
def @twice(%n: int32) -> int32 { %n * 2 }
def @main(%p: (int32, Tensor[(2), bool]), %l: List[int32], %t: Tree[float32],
    %f: fn (float32) -> float32, %r: ref(int8), %u: uint64) {
  (%p, %l, %t, %f(3f), ref_read(%r), %u)
}
";
    let folder = Folder::new(
        "run-values",
        &[("a.relay", text.as_bytes()), ("b.npy", &npy("|b1", "(2,)", &[1, 0]))],
    );
    let run = |args: &[&str]| {
        let mut all = vec!["run", "a.relay"];
        args.iter().for_each(|arg| all.extend(["--input", arg]));
        folder.run(&[&all[..], &["--random", "0", "--format", "json"]].concat())
    };
    let given = ["p=(7, b.npy)", "l=[1, 2]", "t=Node(Leaf(1), Leaf(2.5))", "f=@half", "r=-128"];
    let done = run(&[&given[..], &["u=18446744073709551615"]].concat());
    assert_eq!(done.code, Some(0), "{} {}", done.out, done.err);
    let fields = done.lines()[0]["tuple"].clone();
    assert_eq!(fields[0]["tuple"][1]["data"], json!([true, false]));
    assert_eq!(fields[1]["fields"][1]["fields"][0]["data"], json!([2]));
    assert_eq!(fields[2]["fields"][1]["fields"][0]["data"], json!([2.5]));
    let numbers: Vec<&Value> = (3..6).map(|at| &fields[at]["data"][0]).collect();
    assert_eq!(numbers, [&json!(1.5), &json!(-128), &json!(u64::MAX)]);
    // Missing arguments are random, equal with equal seeds, except functions.
    let (first, again) = (run(&["f=@half"]), run(&["f=@half"]));
    assert_eq!((first.code, &first.out), (Some(0), &again.out), "{}", first.out);
    let lacks = |args: &[&str], wanted: &str| {
        let run = run(args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.out);
        let error = run.lines()[0]["error"].clone();
        assert_eq!(error["code"], "run-input");
        let said = format!("{} | {}", error["message"], error["help"]);
        assert!(said.contains(wanted), "{args:?}: {said}");
    };
    lacks(&[], "there are no random functions");
    lacks(&[], "`--input f=@f`, a function of the file");
    lacks(&["f=@twice"], "`@twice` is of type fn (int32) -> int32");
    lacks(&["f=@hall"], "there is no function `@hall`");
    lacks(&["f=2"], "`2` is given");
    lacks(&["l=Cons(1, Nill)"], "did you mean `Nil`?");
    lacks(&["l=Cons(1)"], "`Cons` has 2 fields, 1 are given");
    lacks(&["p=(1, 2, 3)"], "3 fields are given for a tuple of 2");
    lacks(&["p=(1, [1])"], "the array given is Tensor[(1), bool]");
    lacks(&["r=128"], "128 is not a valid int8: the range is -128 to 127");
    lacks(&["p=(1.5, b.npy)"], "`1.5` is not a valid int32");
    lacks(&["t=b.npy"], "the array given is Tensor[(2), bool]");
    lacks(&["q=1"], "the parameters are: p, l, t, f, r, u");
    lacks(&["l=[1"], "a `,` or `]` is missing");
}

/// Valid numpy files of all formats, and invalid ones.
#[test]
fn numpy_files_of_all_formats() {
    let text = b"def @main(%x: Tensor[(2, 3), float32]) { %x }";
    let rows = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let big: Vec<u8> = rows.chunks(4).flat_map(|one| one.iter().rev().copied()).collect();
    let columns = floats(&[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let plain = npy("<f4", "(2, 3)", &rows);
    let as_text = |bytes: &[u8], from: &str, to: &str| -> Vec<u8> {
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes());
        let at = at.expect("it is in the header");
        [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
    };
    // One character less, and one space more.
    let fortran = as_text(
        &npy("<f4", "(2, 3)", &columns),
        "'fortran_order': False",
        "'fortran_order': True ",
    );
    // The length of the header has four bytes since version 2.
    let version =
        |number: u8| [&plain[..6], &[number, 0], &plain[8..10], &[0, 0], &plain[10..]].concat();
    let cases: [(&str, Vec<u8>, &str); 13] = [
        ("plain", plain.clone(), ""),
        ("fortran", fortran, ""),
        ("big", npy(">f4", "(2, 3)", &big), ""),
        ("native", npy("=f4", "(2, 3)", &rows), ""),
        ("two", version(2), ""),
        ("three", version(3), ""),
        ("nine", version(9), "version 9 of numpy's format is not supported"),
        (
            "complex",
            npy("<c8", "(2,)", &rows),
            "arrays of complex numbers (`<c8`) are not supported",
        ),
        ("objects", npy("|O", "(2,)", &rows), "arrays of Python objects (`|O`) are not supported"),
        ("wide", npy("<f16", "(2,)", &rows), "arrays of the type `<f16` are not supported"),
        ("empty", npy("<f4", "(0, 3)", &[]), "the array given is Tensor[(0, 3), float32]"),
        ("short", plain[..plain.len() - 1].to_vec(), "the file is truncated"),
        (
            "records",
            as_text(&plain, "'descr': '<f4'", "'descr': [('a', '<f4')]"),
            "arrays of records",
        ),
    ];
    let files: Vec<(String, &[u8])> =
        cases.iter().map(|(name, bytes, _)| (format!("{name}.npy"), bytes.as_slice())).collect();
    let mut all: Vec<(&str, &[u8])> = vec![("a.relay", text)];
    all.extend(files.iter().map(|(name, bytes)| (name.as_str(), *bytes)));
    let folder = Folder::new("run-numpy", &all);
    for (name, _, refused) in &cases {
        let run = folder.run(&["run", "a.relay", "--input", &format!("x={name}.npy")]);
        if refused.is_empty() {
            assert!(run.out.ends_with("[[0. 1. 2.]\n [3. 4. 5.]]\n"), "{name}: {}", run.err);
        } else {
            assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{name}");
            assert!(run.err.contains(refused), "{name}: {}", run.err);
            assert!(run.err.contains("error[run-input]"), "{name}: {}", run.err);
        }
    }
}

#[test]
fn run_prints_a_profile() {
    let folder = Folder::new("run-profile", &[("a.relay", DENSE.as_bytes())]);
    let run = folder.run(&["run", "a.relay", "--random", "0", "--profile"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let line = run.err.lines().find(|line| line.starts_with("%0")).expect("a line of %0");
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[..5], ["%0", "nn.dense", "a.relay:2:8", "@main", "1"], "{line}");
    // The time with its unit and as a share, then multiply-accumulates and bytes.
    assert!(["µs", "ms", "s"].contains(&cells[6]) && cells[8] == "%", "{line}");
    assert_eq!(cells[9..], ["4", "8", "bytes"], "{line}");
    assert!(run.err.contains("total: ") && run.err.contains("in 2 calls, 4 MACs"), "{}", run.err);
    let json = folder.run(&["run", "a.relay", "--random", "0", "--profile", "--format", "json"]);
    let profile = &json.lines()[0]["profile"];
    assert_eq!(profile["total"]["calls"], json!({ "value": 2, "text": "2" }));
    let of = |binding: &str| {
        let bindings = profile["bindings"].as_array().expect("bindings");
        bindings.iter().find(|row| row["binding"] == binding).expect("a binding").clone()
    };
    assert_eq!((&of("%0")["macs"]["value"], &of("%1")["operator"]), (&json!(4), &json!("nn.relu")));
}

#[test]
fn failed_run_prints_a_stack_trace() {
    let text = "\
def @take(%x: Tensor[(3), float32], %i: int32) {
  %0 = %i / 0;
  take(%x, %0)
}
def @main(%x: Tensor[(3), float32]) { @take(%x, 1) }
";
    let folder = Folder::new("run-fails", &[("a.relay", text.as_bytes())]);
    let run = folder.run(&["run", "a.relay", "--random", "0", "--profile"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    let has = |wanted: &str| assert!(run.err.contains(wanted), "{wanted}: {}", run.err);
    has("error[run-operator-failed]");
    has("(arguments: int32, int32)");
    has("  in @take at a.relay:2:8\n");
    // The call in `@main` is a tail call.
    has("total: ");
}

/// A function with an error runs up to it: the values before it are shown, and there is no result.
#[test]
fn a_run_stops_at_an_error() {
    let text = "\
def @helper(%v: Tensor[(2), float32]) {
  let %w = exp(%v);
  add(%w, %nothing)
}
def @main(%x: Tensor[(2), float32]) {
  let %y = %x * 2f;
  let %p = if (False) { add(%y, ones(shape=[3], dtype=\"float32\")) } else { %y };
  let %z = add(%y, %unbound);
  let %never = exp(%z);
  %never
}
def @caller(%x: Tensor[(2), float32]) { @helper(%x) }
def @unreached(%x: Tensor[(2), float32]) { if (True) { %x } else { exp(%missing) } }
def @header(%x: Tensor[(2), flot32]) { %x }
def @graph(%x: Tensor[(2), float32]) {
  %0 = exp(%x);
  %1 = negative(%0 %0);
  (%0, %1)
}
";
    let folder = Folder::new("run-stops", &[("a.relay", text.as_bytes())]);
    let run = |function: &str, more: &[&str]| {
        let args = ["run", "a.relay", "--function", function, "--input", "x=[1, 2]"];
        folder.run(&[&args[..], more].concat())
    };
    let main = run("@main", &[]);
    assert_eq!((main.code, main.out.as_str()), (Some(1), ""), "{}", main.err);
    let has = |wanted: &str| assert!(main.err.contains(wanted), "{wanted}: {}", main.err);
    has("@main stopped at a.relay:8:20: there is no variable `%unbound` here [unknown-variable]\n");
    assert!(!main.err.contains("%never ="), "{}", main.err);
    has("  %y = (2,) min 2 mean 3 max 4\n");
    let json = run("@main", &["--format", "json"]);
    let failed: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(failed["error"]["code"], "run-untyped", "{failed}");
    let names = |failed: &Value| {
        let values = failed["values"].as_array().cloned().unwrap_or_default();
        values.iter().map(|v| v["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&failed), ["%x", "%y", "%p"], "{failed}");
    let caller = run("@caller", &["--format", "json"]);
    let failed: Value = serde_json::from_str(&caller.out).expect("JSON");
    assert_eq!(names(&failed), ["%x", "%v", "%w"], "{failed}");
    assert_eq!(failed["error"]["trace"][0]["place"]["at"], "a.relay:3:11", "{failed}");
    // An error that the run does not reach stops nothing; the exit status tells that there are errors.
    let unreached = run("@unreached", &[]);
    assert_eq!(unreached.code, Some(1), "{}", unreached.err);
    assert!(
        unreached.out.contains("[1, 2]") || unreached.out.contains("[1. 2.]"),
        "{}",
        unreached.out
    );
    let header = run("@header", &[]);
    assert_eq!((header.code, header.out.as_str()), (Some(1), ""), "{}", header.err);
    assert!(header.err.contains("@header cannot be called: "), "{}", header.err);
    let graph = run("@graph", &[]);
    assert_eq!(graph.code, Some(1), "{}", graph.err);
    assert!(graph.err.contains("@graph stopped at a.relay:17:20: "), "{}", graph.err);
    assert!(graph.err.contains("  %0 = (2,)"), "{}", graph.err);
}

#[test]
fn stack_trace_of_a_recursion_is_shortened() {
    let text =
        "def @down(%n: int32) -> int32 { @down(%n + 1) + 1 }\ndef @main() -> int32 { @down(0) }";
    let folder = Folder::new("run-deep", &[("a.relay", text.as_bytes())]);
    let run = folder.run(&["run", "a.relay", "--depth", "1000"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("error[run-depth]"), "{}", run.err);
    assert!(run.err.contains("called in @down at a.relay:1:33, 32 times"), "{}", run.err);
    assert!(run.err.contains("more calls …"), "{}", run.err);
    for code in ["run-depth", "run-no-kernel", "run-not-finite"] {
        assert_eq!(folder.run(&["explain", code]).code, Some(0), "{code}");
    }
}

#[test]
fn images_are_rejected_with_a_conversion() {
    let text = "def @main(%data: Tensor[(1, 3, 8, 8), float32]) { nn.relu(%data) }\n";
    let folder = Folder::new("image", &[("a.relay", text.as_bytes()), ("cat.png", b"\x89PNG")]);
    let found = folder.run(&["run", "a.relay", "--input", "data=cat.png"]);
    assert_eq!(found.code, Some(2));
    assert!(found.err.contains("`cat.png` is an image"), "{}", found.err);
    let line = "python3 -c \"import numpy as np; from PIL import Image; np.save('cat.npy', \
                (np.asarray(Image.open('cat.png').convert('RGB').resize((8, 8)))\
                .transpose(2, 0, 1)[None] / 255).astype('float32'))\"";
    assert!(found.err.contains(line), "{}", found.err);
    assert!(found.err.contains("--input data=cat.npy"), "{}", found.err);
}

/// There is no progress if standard error is not a terminal.
#[test]
fn progress_is_not_written_to_files() {
    let mut text = "def @main(%x: Tensor[(200000), float32]) {\n  %0 = exp(%x);\n".to_owned();
    for number in 1..400 {
        text += &format!("  %{number} = tanh(%{});\n", number - 1);
    }
    text += "  sum(%399)\n}\n";
    let found = run(&["run", "-", "--random", "1"], &text);
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert_eq!(found.err, "note: `%x` is random (seed 1)\n");
}
