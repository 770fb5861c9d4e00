//! Laws of `bind` and `lift`, over lists of parameters in every layout.

use std::fs;

use arrays::{write_npz, write_params};
use interpreter::Tensor;
use relay_tests::command::{Folder, Run};
use types::DataType;

/// The parameters of each module, in order: `%x` is never bound.
const NAMES: [&str; 5] = ["w", "b.1", "x", "aten::k", "conv_w"];

/// A layout of a list: its start, what precedes a parameter, what follows it, what follows the comma,
/// and its end. `{}` is the name of the parameter.
struct Layout {
    open: &'static str,
    before: &'static str,
    after: &'static str,
    comma: &'static str,
    close: &'static str,
}

const LAYOUTS: [Layout; 8] = [
    Layout { open: "(", before: "", after: "", comma: ", ", close: ")" },
    // As TVM prints them.
    Layout {
        open: "(",
        before: "",
        after: " /* ty=Tensor[(2, 3), float32] */",
        comma: ", ",
        close: ")",
    },
    Layout {
        open: "(",
        before: "",
        after: " /* ty=Tensor[(2, 3), float32] span={}:0:0 */",
        comma: ", ",
        close: ")",
    },
    Layout { open: "(\n", before: "  ", after: "", comma: ",\n", close: "\n)" },
    Layout {
        open: "(\n",
        before: "  ",
        after: "",
        comma: ", // about {}\n",
        close: " // the last\n)",
    },
    Layout {
        open: "(\n",
        before: "  // {}\n  ",
        after: " // about {}\n  ",
        comma: ",\n",
        close: "\n)",
    },
    Layout {
        open: "(",
        before: "/* {} */ ",
        after: " /* ty=Tensor[(2, 3), float32] */",
        comma: ", ",
        close: ", Primitive=1, Compiler=\"dnnl\")",
    },
    Layout {
        open: "(\n",
        before: "  ",
        after: " /* ty=Tensor[(2, 3), float32] */",
        comma: ", // about {}\n",
        close: ", // the last\n  Primitive=1 // set\n)",
    },
];

/// Returns a module with parameters in an order, of which each is used, and one twice.
fn module(layout: &Layout, names: &[&str], line_break: &str) -> String {
    let fill = |text: &str, name: &str| text.replace("{}", name);
    let mut out = format!("#[version = \"0.0.5\"]\ndef @main{}", layout.open);
    for (at, name) in names.iter().enumerate() {
        let comma = if at + 1 < names.len() { layout.comma } else { "" };
        out += &fill(layout.before, name);
        out += &format!("%{name}: Tensor[(2, 3), float32]");
        out += &fill(layout.after, name);
        out += &fill(comma, name);
    }
    out += layout.close;
    out += " {\n";
    let mut last = format!("%{}", names[0]);
    for (number, name) in names.iter().rev().enumerate() {
        out += &format!("  %{number} = add({last}, %{name}) /* ty=Tensor[(2, 3), float32] */;\n");
        last = format!("%{number}");
    }
    out += &format!("  nn.relu({last})\n}}\n\ndef @other(%w: float32) {{\n  %w\n}}\n");
    out.replace('\n', line_break)
}

fn works(run: Run) -> String {
    assert_eq!(run.code, Some(0), "{run:?}");
    run.out
}

/// The codes of the findings of a file that are not about TVM.
fn codes(folder: &Folder, name: &str) -> Vec<String> {
    let found = folder.run(&["check", "--format", "json", name]).lines();
    let found = found[0]["diagnostics"].as_array().expect("a list").clone();
    let codes = found.iter().map(|d| d["code"].as_str().expect("a code").to_owned());
    codes.filter(|code| !code.starts_with("tvm-")).collect()
}

/// The names of the parameters of `@main`.
fn params(text: &str) -> Vec<String> {
    let head = text.split_once("def @main").expect("a function").1;
    let head = head.split_once(" {").map_or(head, |(head, _)| head);
    let names = head.split('%').skip(1).map(|rest| rest.split(": ").next().expect("a name"));
    names.map(str::to_owned).collect()
}

/// Whatever the layout and the order of parameters, the constants of `bind` have the names of the
/// parameters for `lift`, which writes no stale comment; each command undoes the other from then on;
/// and every file of arrays that one command writes, the others take.
#[test]
fn bind_and_lift_are_a_round_trip() {
    let arrays = |skip: usize| {
        let names = NAMES.iter().enumerate().filter(|(_, name)| **name != "x").skip(skip);
        let tensor = |at: usize| {
            let elements = (0..6).map(|k| (k * (at + 1)) as f64 / 4.0 - 1.0).collect();
            Tensor::from_f64s(DataType::FLOAT32, &[2, 3], elements).expect("a tensor")
        };
        names.map(move |(at, name)| (*name, tensor(at))).collect::<Vec<_>>()
    };
    let mut random = fastrand::Rng::with_seed(23);
    for (case, layout) in LAYOUTS.iter().enumerate() {
        let folder = Folder::new(&format!("binding-{case}"), &[]);
        let at = |name: &str| folder.path().join(name);
        let text = |name: &str| fs::read_to_string(at(name)).expect("a file");
        let mut names = NAMES.to_vec();
        random.shuffle(&mut names);
        let source = module(layout, &names, if case % 3 == 2 { "\r\n" } else { "\n" });
        fs::create_dir_all(folder.path()).expect("a folder");
        fs::write(at("net.relay"), &source).expect("a file");
        // All but the parameters of a run, or some of them.
        let arrays = arrays(case % 2);
        let file = fs::File::create(at("w.npz")).expect("a file");
        let named = arrays.iter().map(|(name, tensor)| Ok(((*name).to_owned(), tensor.clone())));
        write_npz(file, named).expect("arrays are written");
        let file = fs::File::create(at("w.params")).expect("a file");
        let listed: Vec<&str> = arrays.iter().map(|(name, _)| *name).collect();
        write_params(file, &listed, arrays.iter().map(|(_, tensor)| Ok(tensor.clone())))
            .expect("arrays are written");

        works(folder.run(&["bind", "net.relay", "--params", "w.npz", "-o", "bound.relay"]));
        works(folder.run(&["bind", "net.relay", "--params", "w.params", "-o", "same.relay"]));
        assert_eq!(text("bound.relay"), text("same.relay"));
        let left: Vec<&str> = names.iter().copied().filter(|name| !listed.contains(name)).collect();
        assert_eq!(params(&text("bound.relay")), left, "{}", text("bound.relay"));
        works(folder.run(&["lift", "bound.relay", "-o", "lifted.relay", "--params", "l.params"]));
        works(folder.run(&["lift", "bound.relay", "-o", "lifted.relay", "--params", "l.npz"]));
        let lifted = text("lifted.relay");
        let mut found = params(&lifted);
        assert_eq!(&found[..left.len()], left, "{lifted}");
        let mut wanted = names.clone();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{lifted}");
        for name in ["bound.relay", "lifted.relay"] {
            assert_eq!(codes(&folder, name), [] as [String; 0], "{}", text(name));
        }
        // Attributes and line breaks stay.
        let attribute = source.contains("Primitive");
        assert_eq!(lifted.contains("Primitive=1"), attribute, "{lifted}");
        let is_windows = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
        assert!(is_windows(&lifted) == is_windows(&source), "{lifted:?}");

        works(folder.run(&["bind", "lifted.relay", "--params", "l.params", "-o", "b.relay"]));
        works(folder.run(&["lift", "b.relay", "-o", "again.relay", "--params", "a.npz"]));
        assert_eq!(text("again.relay"), lifted);
        let value = |args: &[&str]| {
            let random = ["--random", "1", "--format", "json"];
            works(folder.run(&[&["run"], args, &random].concat()))
        };
        if case % 2 == 0 {
            let bound = value(&["bound.relay"]);
            for file in ["w.npz", "w.params"] {
                for option in ["--params", "--inputs", "--input"] {
                    assert_eq!(value(&["net.relay", option, file]), bound, "{option} {file}");
                }
            }
            for file in ["l.npz", "l.params", "a.npz"] {
                assert_eq!(value(&["lifted.relay", "--params", file]), bound, "{file}");
            }
        }
    }
}

/// The content of a file of arrays counts, and not its name.
#[test]
fn other_names_of_files_are_no_matter() {
    let text = "def @main(%x: float32, %w: float32) { add(%x, %w) }\n";
    let folder = Folder::new("binding-names", &[("net.relay", text.as_bytes()), ("no.npz", b"PK")]);
    let tensor = Tensor::from_f64s(DataType::FLOAT32, &[], vec![2.5]).expect("a tensor");
    for name in ["a.params", "a.bin"] {
        let file = fs::File::create(folder.path().join(name)).expect("a file");
        write_npz(file, [Ok(("w".to_owned(), tensor.clone()))].into_iter()).expect("it is written");
        let ran = folder.run(&["run", "net.relay", "--input", "x=1", "--params", name]);
        assert!(works(ran).contains("3.5"));
        works(folder.run(&["bind", "net.relay", "--params", name, "-o", "bound.relay"]));
        assert!(works(folder.run(&["run", "bound.relay", "--input", "x=1"])).contains("3.5"));
    }
    for command in [&["bind", "net.relay", "-o", "o.relay"][..], &["run", "net.relay"]] {
        for (file, what) in [("no.npz", "no.npz"), ("net.relay", "contains no parameters of TVM")] {
            let run = folder.run(&[command, &["--params", file]].concat());
            assert_eq!(run.code, Some(2), "{run:?}");
            assert!(run.err.contains(what), "{run:?}");
        }
    }
    // A tuple takes no array.
    let tuple = "def @main(%w: (float32, float32)) { %w.0 }\n";
    fs::write(folder.path().join("tuple.relay"), tuple).expect("a file");
    let bound = folder.run(&["bind", "tuple.relay", "--params", "a.bin", "-o", "o.relay"]);
    assert_eq!(bound.code, Some(2), "{bound:?}");
    assert!(bound.err.contains("is of type (float32, float32)"), "{bound:?}");
}

/// A name that is taken, or that no variable can have, is not that of a parameter.
#[test]
fn names_of_constants_are_new_variables() {
    let text = "def @main(%x: float32, %w: float32) { let %a: float32 = add(%w, %x); %a }\n";
    let folder = Folder::new("binding-taken", &[("net.relay", text.as_bytes())]);
    let tensor = Tensor::from_f64s(DataType::FLOAT32, &[], vec![2.5]).expect("a tensor");
    let file = fs::File::create(folder.path().join("w.npz")).expect("a file");
    write_npz(file, [Ok(("w".to_owned(), tensor))].into_iter()).expect("it is written");
    works(folder.run(&["bind", "net.relay", "--params", "w.npz", "-o", "bound.relay"]));
    let bound = fs::read_to_string(folder.path().join("bound.relay")).expect("a module");
    for (source, name) in [
        ("w", "w"),
        ("x", "constant_0"),
        ("a", "constant_0"),
        ("aten::linear_0", "aten::linear_0"),
        ("0", "constant_0"),
        ("a b", "constant_0"),
        ("", "constant_0"),
        (") { 1 }", "constant_0"),
    ] {
        let text = bound.replace("span=w:0:0", &format!("span={source}:0:0"));
        fs::write(folder.path().join("b.relay"), text).expect("a file");
        works(folder.run(&["lift", "b.relay", "-o", "l.relay"]));
        let lifted = fs::read_to_string(folder.path().join("l.relay")).expect("a module");
        assert_eq!(params(&lifted), ["x", name], "{source}: {lifted}");
    }
    // What TVM prints about the source of an expression may not be the name of a variable.
    let text = bound.replace("span=w:0:0", "ty=float32 span=aten::linear_0:0:0");
    fs::write(folder.path().join("b.relay"), text).expect("a file");
    works(folder.run(&["lift", "b.relay", "-o", "l.relay"]));
    let lifted = fs::read_to_string(folder.path().join("l.relay")).expect("a module");
    assert_eq!(params(&lifted), ["x", "constant_0"], "{lifted}");
    assert_eq!(codes(&folder, "l.relay"), [] as [String; 0], "{lifted}");
}
