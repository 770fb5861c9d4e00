//! The command line, as scripts and people use it.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use relay_tests::{
    arrays::{npy, params},
    client::binary,
};
use serde_json::{Value, json};

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    /// Standard output as JSON Lines.
    fn lines(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }
}

fn run_in(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(binary())
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // A program that does not read its input may have gone.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

fn run(args: &[&str], input: &str) -> Run {
    run_in(Path::new("."), args, input.as_bytes())
}

/// A folder of files for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &[u8])]) -> Folder {
        let path = std::env::temp_dir().join(format!("relay-cli-{}-{name}", std::process::id()));
        // It may not be there.
        let _ = std::fs::remove_dir_all(&path);
        for (file, bytes) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, bytes).expect("a file");
        }
        Folder(path)
    }

    fn run(&self, args: &[&str]) -> Run {
        run_in(&self.0, args, b"")
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect("the file")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left over harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const GOOD: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { %x }\n";
const BAD: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { /* ä𝄞 */ %y }\n";

#[test]
fn exit_codes() {
    let folder =
        Folder::new("codes", &[("good.relay", GOOD.as_bytes()), ("bad.rly", BAD.as_bytes())]);
    assert_eq!(folder.run(&["check", "good.relay"]).code, Some(0));
    assert_eq!(folder.run(&["check", "bad.rly"]).code, Some(1));
    assert_eq!(folder.run(&["check", "."]).code, Some(1));
    let missing = folder.run(&["check", "missing.relay"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("missing.relay"), "{}", missing.err);
    assert_eq!(missing.out, "", "nothing is known of it");
    let quiet = folder.run(&["check", "-q", "good.relay"]);
    assert_eq!((quiet.code, quiet.out.as_str()), (Some(0), ""));
    let disabled = folder.run(&["check", "--disable", "unknown-variable", "bad.rly"]);
    assert_eq!((disabled.code, disabled.out.as_str()), (Some(0), "no errors in 1 file\n"));
    let no_code = folder.run(&["check", "--disable", "unknown-variabl", "bad.rly"]);
    assert_eq!(no_code.code, Some(2));
    assert!(no_code.err.contains("relay-analyzer explain"), "{}", no_code.err);
    assert!(folder.run(&["check", "--color", "always", "bad.rly"]).out.contains("\u{1b}["));
    assert!(!folder.run(&["check", "--color", "never", "bad.rly"]).out.contains('\u{1b}'));
    assert_eq!(folder.run(&["check"]).code, Some(2));
    assert_eq!(folder.run(&["check", "--format", "poem", "good.relay"]).code, Some(2));
    assert_eq!(folder.run(&["frobnicate"]).code, Some(2));
    assert_eq!(folder.run(&["check", "--tvm", "good.relay"]).code, Some(0));
    let manual = Folder::new("manual", &[("a.rly", b"def @main(%x: int32) { %x }")]);
    assert_eq!(manual.run(&["check", "a.rly"]).code, Some(0));
    assert_eq!(manual.run(&["check", "--tvm", "a.rly"]).code, Some(1));
}

#[test]
fn json_says_where() {
    let folder = Folder::new("json", &[("bad.relay", BAD.as_bytes())]);
    let lines = folder.run(&["check", "--format", "json", "bad.relay"]).lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["path"], "bad.relay");
    let errors: Vec<&Value> = lines[0]["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|d| d["severity"] == "error")
        .collect();
    assert_eq!(errors.len(), 1);
    let error = errors[0];
    let at = BAD.find("%y").expect("the fault");
    assert_eq!(
        (&error["code"], &error["start"], &error["end"]),
        (&json!("unknown-variable"), &json!(at), &json!(at + 2))
    );
    // Lines from 0, columns in utf-16.
    let line_start = BAD.find("def").expect("a line");
    let column = BAD[line_start..at].encode_utf16().count();
    assert_eq!((&error["line"], &error["column"]), (&json!(1), &json!(column)));
    assert!(error["message"].is_string() && error["related"].is_array());
    assert!(error["help"].as_str().is_some_and(|help| help.contains("%x")), "{error}");
}

#[test]
fn other_formats() {
    let folder = Folder::new("formats", &[("bad.relay", BAD.as_bytes())]);
    let sarif: Value =
        serde_json::from_str(&folder.run(&["check", "--format", "sarif", "bad.relay"]).out)
            .expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert!(results.iter().any(|r| r["ruleId"] == "unknown-variable" && r["level"] == "error"));
    let github = folder.run(&["check", "--format", "github", "bad.relay"]).out;
    assert!(github.starts_with("::error file=bad.relay,line=2,"), "{github}");
    let human = folder.run(&["check", "bad.relay"]).out;
    assert!(human.contains("error[unknown-variable]") && human.contains("bad.relay:2:"), "{human}");
    assert!(!human.contains('\u{1b}'), "colour goes to terminals only: {human:?}");
}

#[test]
fn folders_as_git_sees_them() {
    let folder = Folder::new(
        "ignore",
        &[
            (".git/HEAD", b"ref: refs/heads/main\n"),
            (".gitignore", b"out/\n"),
            ("a/one.relay", GOOD.as_bytes()),
            ("a/b/two.rly", GOOD.as_bytes()),
            ("out/three.relay", BAD.as_bytes()),
            ("a/notes.txt", b"no Relay"),
        ],
    );
    let lines = folder.run(&["check", "--format", "json", "."]).lines();
    let mut paths: Vec<&str> = lines.iter().filter_map(|line| line["path"].as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["./a/b/two.rly", "./a/one.relay"]);
}

#[test]
fn types_as_tvm_prints_them() {
    let folder = Folder::new("types", &[("good.relay", GOOD.as_bytes())]);
    let lines = folder.run(&["types", "good.relay"]).lines();
    let types = lines[0]["types"].as_array().expect("a list");
    let use_of_x = GOOD.rfind("%x").expect("a use");
    let wanted = json!({ "start": use_of_x, "end": use_of_x + 2, "type": "int32" });
    assert!(types.contains(&wanted), "{types:?}");
    assert_eq!(types.len(), 2, "the parameter and its use: {types:?}");
}

#[test]
fn batches_are_answered_in_order() {
    let input: String = (0..200)
        .map(|i| json!({ "id": i, "text": if i % 2 == 0 { GOOD } else { BAD } }).to_string() + "\n")
        .collect();
    let answers = run(&["check", "--batch", "--types"], &input).lines();
    assert_eq!(answers.len(), 200);
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], i);
        let errors = answer["diagnostics"].as_array().expect("a list");
        let errors = errors.iter().filter(|d| d["severity"] == "error").count();
        assert_eq!(errors, i % 2);
        assert!(answer["types"].is_array());
    }
    let odd = run(
        &["check", "--batch"],
        &format!("{{\"id\": 1\nnonsense\n{}\n", json!({ "id": "z", "text": GOOD })),
    );
    let last = odd.lines().pop().expect("an answer");
    assert_eq!(last["id"], "z", "{}", odd.out);
}

#[test]
fn standard_input() {
    let read = run(&["check", "--format", "json", "-"], BAD);
    assert_eq!(read.code, Some(1));
    assert!(read.out.contains("unknown-variable"), "{}", read.out);
}

#[test]
fn bad_files() {
    let deep = format!("def @main(%x: int32) {{ {}%x{} }}", "(".repeat(50_000), ")".repeat(50_000));
    let large = format!("{GOOD}// {}\n", "x".repeat(1_200_000));
    let folder = Folder::new(
        "bad",
        &[
            ("program.relay", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0"),
            ("wide.relay", b"\xff\xfed\0e\0f\0"),
            ("latin.relay", b"def @main(%x: int32) { %x } // \xe4\xf6\n"),
            ("nul.relay", b"def @main(%x: int32) { \0 %x }\n"),
            ("empty.relay", b""),
            (
                "crlf.relay",
                b"#[version = \"0.0.5\"]\r\ndef @main(%x: int32) -> int32 {\r\n  %x\r\n}\r\n",
            ),
            ("cr.relay", b"def @main(%x: int32) -> int32 {\r  %x\r}\r"),
            (
                "bom.relay",
                "\u{FEFF}#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { %x }\n".as_bytes(),
            ),
            ("comment.relay", b"def @main(%x: int32) { %x } /* open"),
            ("string.relay", b"def @main(%x: int32) { cast(%x, dtype=\"int8) }"),
            ("deep.relay", deep.as_bytes()),
            ("large.relay", large.as_bytes()),
        ],
    );
    let errors = |args: &[&str]| -> Vec<String> {
        let run = folder.run(args);
        assert!(matches!(run.code, Some(0 | 1)), "{args:?}: {:?} {}", run.code, run.err);
        let lines = run.lines();
        let found = lines[0]["diagnostics"].as_array().expect("a list").iter();
        let errors = found.filter(|d| d["severity"] == "error");
        errors.map(|d| d["code"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let json = |file: &str| errors(&["check", "--format", "json", file]);
    assert_eq!(json("program.relay"), ["not-text"]);
    assert_eq!(json("wide.relay"), ["not-text"]);
    assert_eq!(json("latin.relay"), ["invalid-utf8"]);
    assert_eq!(json("nul.relay"), ["unknown-character"]);
    assert_eq!(json("comment.relay"), ["unclosed-comment"]);
    assert_eq!(json("string.relay").first().map(String::as_str), Some("unclosed-string"));
    assert_eq!(json("deep.relay"), ["nested-too-deep"]);
    for sound in ["empty.relay", "crlf.relay", "cr.relay", "bom.relay", "large.relay"] {
        assert_eq!(json(sound), [""; 0], "{sound}");
    }
    assert_eq!(errors(&["check", "--format", "json", "--tvm", "crlf.relay"]), [""; 0]);
    assert_eq!(
        errors(&["check", "--format", "json", "--max-size", "1", "large.relay"]),
        ["file-too-large"]
    );
}

#[test]
fn codes_are_explained() {
    let page = run(&["explain", "shape-mismatch"], "");
    assert_eq!(page.code, Some(0));
    assert!(page.out.contains("shape-mismatch"), "{}", page.out);
    let all = run(&["explain"], "");
    assert!(all.out.contains("unknown-variable") && all.out.contains("tvm-version"));
    let unknown = run(&["explain", "shape-mismatc"], "");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("shape-mismatch"), "{}", unknown.err);
}

#[test]
fn operators_are_shown() {
    let page = run(&["operators", "nn.conv2d"], "");
    assert_eq!(page.code, Some(0));
    assert!(
        page.out.contains("data_layout=\"NCHW\"") && page.out.contains("Conv2D"),
        "{}",
        page.out
    );
    let all = run(&["operators"], "");
    assert!(all.out.lines().count() >= 305, "{}", all.out.lines().count());
    let unknown = run(&["operators", "conv2d"], "");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("`nn.conv2d`"), "{}", unknown.err);
}

/// The reference page in the tree is the one that the program makes.
#[test]
fn the_reference_page_is_current() {
    let page = run(&["operators", "--markdown"], "").out;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/operators/OPERATORS.md");
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == there,
        "write it anew: relay-analyzer operators --markdown > analysis/operators/OPERATORS.md"
    );
}

#[test]
fn versions_and_help() {
    let version = run(&["--version"], "");
    assert_eq!(version.out.trim(), format!("relay-analyzer {}", env!("CARGO_PKG_VERSION")));
    for args in [&["--help"][..], &["check", "--help"], &["types", "--help"], &["lsp", "--help"]] {
        let help = run(args, "");
        assert!(help.code == Some(0) && help.out.contains("Usage"), "{args:?}: {}", help.err);
    }
}

/// Each way in that editors use.
#[test]
fn ways_into_the_server() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
    let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    for args in [&["lsp"][..], &["lsp", "--stdio"], &["--stdio"], &[]] {
        let session = run(args, &(framed(request) + &framed(exit)));
        // `exit` right behind it may cancel the request; it is answered either way.
        assert!(session.out.contains("\"id\":1"), "{args:?}: {} {}", session.out, session.err);
        assert_eq!(session.code, Some(1), "exit without shutdown");
    }
}

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
fn a_run_takes_its_arguments_from_everywhere() {
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
    // By position, without a name for the file, and for machines.
    let json = ["run", "a.relay", "--input", "i0=[[1, -2]]", "--input", "w.params"];
    let json = folder.run(&[&json[..], &["--random", "3", "--format", "json"]].concat());
    let value = &json.lines()[0];
    assert_eq!(value["tuple"][0]["data"], json!([1.0, 0.0]));
    assert_eq!(value["tuple"][0]["type"], "Tensor[(1, 2), float32]");
    // A parameter of any type takes what is written, of the type that it has in a program.
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
    // The same seed draws the same.
    let drawn = |seed: &str| folder.run(&["run", "a.relay", "--random", seed]).out;
    assert_eq!(drawn("1"), drawn("1"));
    assert_ne!(drawn("1"), drawn("2"));
    // What one run saves another reads.
    let save = folder.run(&[&given[..], &["--output", "out.npz"]].concat());
    assert_eq!((save.code, save.out.as_str()), (Some(0), ""));
    std::fs::write(
        folder.0.join("b.relay"),
        "def @main(%o0: Tensor[(1, 2), float32], %o1: int32) { (%o0, %o1) }",
    )
    .expect("a file");
    let again = folder.run(&["run", "b.relay", "--inputs", "out.npz"]);
    assert_eq!(again.out, shown.out, "{}", again.err);
}

/// `i1` is the same tensor where it is written and in an archive: positions count tensors, those of
/// a tuple one by one.
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
    // The tensors that one run has saved, one of them given anew.
    assert_eq!(folder.run(&["run", "four.relay", "--output", "o.npz"]).code, Some(0));
    let saved = std::fs::read(folder.0.join("o.npz")).expect("an archive");
    // The names in it have a letter for what they were there.
    let named = |letter: u8| {
        let mut bytes = saved.clone();
        for at in 0..bytes.len().saturating_sub(5) {
            if bytes[at] == b'o' && &bytes[at + 2..at + 6] == b".npy" {
                bytes[at] = letter;
            }
        }
        bytes
    };
    std::fs::write(folder.0.join("i.npz"), named(b'i')).expect("a file");
    assert_eq!(run(&["i.npz"]).1, "(1, 2, 3, 4)");
    assert_eq!(run(&["i.npz", "i1=7"]).1, "(1, 7, 3, 4)");
    assert_eq!(run(&["i.npz", "n=8"]).1, "(1, 2, 3, 8)");
    assert_eq!(run(&["i.npz", "p=(5, (6, 7))", "i3=9"]).1, "(5, 6, 7, 9)");
    // There is no fifth, and the second is a number.
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
fn a_run_says_what_its_arguments_lack() {
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
    said(&["--input", "y=1"], "there is no parameter `y`; the parameters are: x, w, n");
    said(&["--params", "w.params"], "holds no parameters of TVM");
    said(&["--input", "x"], "is not of the form `NAME=VALUE`");
    said(&["--function", "@f"], "there is no function `@f`");
}

/// Tuples, data, references and functions are written as they are shown, and drawn by their types.
#[test]
fn values_of_every_type_are_arguments() {
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
    // What is not given is drawn, the same with the same seed; functions are not.
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
    lacks(&[], "functions are not drawn");
    lacks(&[], "`--input f=@f`, a function of the file");
    lacks(&["f=@twice"], "`@twice` is of type fn (int32) -> int32");
    lacks(&["f=@hall"], "there is no function `@hall`");
    lacks(&["f=2"], "`2` is given");
    lacks(&["l=Cons(1, Nill)"], "did you mean `Nil`?");
    lacks(&["l=Cons(1)"], "`Cons` has 2 fields, 1 are given");
    lacks(&["p=(1, 2, 3)"], "3 fields are given for a tuple of 2");
    lacks(&["p=(1, [1])"], "the array given is Tensor[(1), bool]");
    lacks(&["r=128"], "128 is no int8: those are from -128 to 127");
    lacks(&["p=(1.5, b.npy)"], "`1.5` is no int32");
    lacks(&["t=b.npy"], "the array given is Tensor[(2), bool]");
    lacks(&["q=1"], "the parameters are: p, l, t, f, r, u");
    lacks(&["l=[1"], "a `,` or `]` is missing");
}

/// Files of numpy in all their forms, and those that are refused.
#[test]
fn arrays_of_numpy() {
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
    // One letter less, and one blank more.
    let fortran = as_text(
        &npy("<f4", "(2, 3)", &columns),
        "'fortran_order': False",
        "'fortran_order': True ",
    );
    // The length of the header takes four bytes from version 2 on.
    let version =
        |number: u8| [&plain[..6], &[number, 0], &plain[8..10], &[0, 0], &plain[10..]].concat();
    let cases: [(&str, Vec<u8>, &str); 13] = [
        ("plain", plain.clone(), ""),
        ("fortran", fortran, ""),
        ("big", npy(">f4", "(2, 3)", &big), ""),
        ("native", npy("=f4", "(2, 3)", &rows), ""),
        ("two", version(2), ""),
        ("three", version(3), ""),
        ("nine", version(9), "version 9 of the format of numpy is not known"),
        ("complex", npy("<c8", "(2,)", &rows), "arrays of complex numbers (`<c8`) are not read"),
        ("objects", npy("|O", "(2,)", &rows), "arrays of Python objects (`|O`) are not read"),
        ("wide", npy("<f16", "(2,)", &rows), "arrays of the type `<f16` are not read"),
        ("empty", npy("<f4", "(0, 3)", &[]), "the array given is Tensor[(0, 3), float32]"),
        ("short", plain[..plain.len() - 1].to_vec(), "the file ends too soon"),
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
fn a_profile_of_a_run() {
    let folder = Folder::new("run-profile", &[("a.relay", DENSE.as_bytes())]);
    let run = folder.run(&["run", "a.relay", "--random", "0", "--profile"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let line = run.err.lines().find(|line| line.starts_with("%0")).expect("a line of %0");
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[..5], ["%0", "nn.dense", "a.relay:2:8", "@main", "1"], "{line}");
    // Time in milliseconds and as a share, then multiply-accumulates and bytes.
    assert_eq!((cells[6], cells[8]), ("ms", "%"), "{line}");
    assert_eq!(cells[9..], ["4", "8", "bytes"], "{line}");
    assert!(run.err.contains("total: ") && run.err.contains("in 2 calls, 4 MACs"), "{}", run.err);
    let json = folder.run(&["run", "a.relay", "--random", "0", "--profile", "--format", "json"]);
    let profile = &json.lines()[0]["profile"];
    assert_eq!(profile["total"]["calls"], 2);
    let of = |binding: &str| {
        let bindings = profile["bindings"].as_array().expect("bindings");
        bindings.iter().find(|row| row["binding"] == binding).expect("a binding").clone()
    };
    assert_eq!((&of("%0")["macs"], &of("%1")["operator"]), (&json!(4), &json!("nn.relu")));
}

#[test]
fn a_failure_of_a_run_shows_the_way_to_it() {
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
    has("(it was given int32, int32)");
    has("  in @take at a.relay:2:8\n");
    // Its call is the last thing that `@main` does.
    has("total: ");
}

#[test]
fn ends_of_a_recursion() {
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
fn fixes_are_written_back() {
    let stale = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  \
                 nn.relu(%x) /* ty=Tensor[(2, 4), float32] */\n}\n";
    let mended = stale.replace("(2, 4)", "(2, 3)");
    let folder = Folder::new("fix", &[("a.relay", stale.as_bytes()), ("b.relay", BAD.as_bytes())]);
    let found = folder.run(&["check", "--fix", "a.relay", "b.relay"]);
    assert_eq!(folder.text("a.relay"), mended);
    // What needs a person is left as it is, and reported.
    assert_eq!(folder.text("b.relay"), BAD);
    assert_eq!(found.code, Some(1));
    assert!(found.err.contains("`a.relay`: 1 problem fixed"), "{}", found.err);
    assert!(found.out.contains("unknown-variable"), "{}", found.out);
    let again = folder.run(&["check", "--fix", "a.relay"]);
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""));
    let stdin = run(&["check", "--fix", "-"], stale);
    assert_eq!(stdin.code, Some(2));
    assert!(stdin.err.contains("standard input"), "{}", stdin.err);
}

#[test]
fn shapes_of_several_files() {
    let one = "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }\n";
    let two = "def @main(%x: Tensor[(5, 7), float32]) { exp(%x) }\n";
    let folder =
        Folder::new("shapes", &[("a.relay", one.as_bytes()), ("sub/b.relay", two.as_bytes())]);
    let table = folder.run(&["shapes", "."]);
    assert_eq!(table.code, Some(0), "{}", table.err);
    let at = |text: &str| table.out.find(text).unwrap_or_else(|| panic!("{text}: {}", table.out));
    assert!(at("a.relay\n") < at("nn.relu") && at("nn.relu") < at("b.relay\n"));
    assert!(at("b.relay\n") < at("exp"));
    let json = folder.run(&["shapes", "--format", "json", "a.relay", "sub/b.relay"]);
    let rows: Vec<Value> = json
        .lines()
        .iter()
        .map(|line| line["functions"][0]["rows"][0]["operator"].clone())
        .collect();
    assert_eq!(rows, ["nn.relu", "exp"]);
    let html = folder.run(&["shapes", "--format", "html", "."]);
    assert_eq!(html.code, Some(2));
    assert!(html.err.contains("takes one file, and 2 are named"), "{}", html.err);
    // One that is missing costs none of the others.
    let missing = folder.run(&["shapes", "none.relay", "a.relay"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.out.contains("nn.relu") && missing.err.contains("none.relay"));
}

#[test]
fn images_become_arrays_first() {
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

/// Progress is for people: there is none where standard error is no terminal.
#[test]
fn no_progress_into_files() {
    let mut text = "def @main(%x: Tensor[(200000), float32]) {\n  %0 = exp(%x);\n".to_owned();
    for number in 1..400 {
        text += &format!("  %{number} = tanh(%{});\n", number - 1);
    }
    text += "  sum(%399)\n}\n";
    let found = run(&["run", "-", "--random", "1"], &text);
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert_eq!(found.err, "note: `%x` is drawn from the seed 1\n");
}
