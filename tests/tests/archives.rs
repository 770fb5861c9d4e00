//! Arrays that `relay-analyzer run` reads from files, and its messages about other arrays.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use relay_tests::{
    arrays::{Temporary, npy, params, sparse, unchecked_npz},
    client::binary,
    figures::at_most,
};

struct Run {
    code: Option<i32>,
    out: String,
    err: String,
    took: Duration,
}

fn run(folder: &Path, args: &[&str]) -> Run {
    let begin = Instant::now();
    let output = Command::new(binary())
        .args([&["run", "a.relay"], args].concat())
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    Run { code: output.status.code(), out, err, took: begin.elapsed() }
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

const TWO: &str = "def @main(%x: Tensor[(2), float32], %w: Tensor[(2), float32]) { add(%x, %w) }";

/// Asserts that a run fails quickly, with a short message that contains `why`.
fn refused(run: &Run, why: &str) {
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
    assert!(run.err.contains("error[run-input]") && run.err.contains(why), "{why}: {}", run.err);
    assert_eq!(run.err.matches("error[").count(), 1, "{}", run.err);
    at_most(why, run.took, Duration::from_secs(5));
}

#[test]
fn only_arrays_that_a_parameter_takes_are_read() {
    let folder = Temporary::new("used");
    folder.file("a.relay", TWO);
    let x = npy("<f4", "(2,)", &floats(&[1.0, 2.0]));
    // The others are not readable.
    let broken = npy("<f4", "(1000,)", &[0; 3]);
    let objects = npy("|O", "(2,)", &[0; 16]);
    // The checksums of this archive are wrong; only that of `x` is verified.
    folder.file("c.npz", unchecked_npz(&[("x.npy", &x)]));
    let read = run(&folder.0, &["--inputs", "c.npz", "--input", "w=1"]);
    refused(&read, "`x`: it is damaged: its checksum");
    let entries =
        [("y.npy", &broken[..]), ("i7.npy", &objects), ("i01.npy", &broken), ("note.txt", b"text")];
    folder.file("d.npz", unchecked_npz(&entries));
    let read = run(&folder.0, &["--inputs", "d.npz", "--input", "x=1", "--input", "w=[1, 2]"]);
    assert_eq!(read.code, Some(0), "{}", read.err);
    let warning = "warning: `d.npz` has 3 arrays that no parameter takes: `y`, `i7`, `i01`";
    assert!(read.err.starts_with(warning), "{}", read.err);
    // An argument on the command line overrides the file, which is not read.
    let w = [("x", &[2][..], &floats(&[5.0, 5.0])[..]), ("w", &[9], &[0; 36])];
    folder.file("w.params", params(&w));
    let read = run(&folder.0, &["--params", "w.params", "--input", "w=2"]);
    assert_eq!((read.code, read.err.as_str()), (Some(0), ""));
    assert!(read.out.contains("[7. 7.]"), "{}", read.out);
    refused(&run(&folder.0, &["--params", "w.params"]), "the array given is Tensor[(9), float32]");
}

#[test]
fn unknown_array_name_is_a_warning() {
    let folder = Temporary::new("names");
    folder.file("a.relay", TWO);
    let data = floats(&[1.0, 2.0]);
    let named = [("x", &[2][..], &data[..]), ("weight", &[2], &data), ("ww", &[2], &data)];
    folder.file("w.params", params(&named));
    let drawn = run(&folder.0, &["--params", "w.params", "--random", "0"]);
    assert_eq!(drawn.code, Some(0), "{}", drawn.err);
    let warning = "`w.params` has 2 arrays that no parameter takes: `weight`, `ww`";
    let note = "note: `%w` is random (seed 0)";
    assert_eq!(drawn.err, format!("{note}\nwarning: {warning}\n"));
    let json = run(&folder.0, &["--params", "w.params", "--random", "0", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&shown["warnings"], json.err.as_str()), (&serde_json::json!([warning]), ""));
    folder.file("v.params", params(&[("xx", &[2], &data)]));
    let near = run(&folder.0, &["--params", "v.params", "--random", "0"]);
    let warning =
        "`v.params` has an array that no parameter takes: `xx`; did you mean `x` by `xx`?";
    assert!(near.err.contains(warning), "{}", near.err);
    let missing = run(&folder.0, &["--params", "v.params"]);
    refused(&missing, "the files have `xx`");
}

/// An array with another data type than the parameter is an error that names it.
#[test]
fn data_type_mismatch_is_an_error() {
    let folder = Temporary::new("types");
    let codes = [
        ("bool", "|b1"),
        ("int8", "|i1"),
        ("int16", "<i2"),
        ("int32", "<i4"),
        ("int64", "<i8"),
        ("uint8", "|u1"),
        ("uint16", "<u2"),
        ("uint32", "<u4"),
        ("uint64", "<u8"),
        ("float16", "<f2"),
        ("bfloat16", "<V2"),
        ("float32", "<f4"),
        ("float64", "<f8"),
    ];
    for (name, code) in codes {
        let width = code[2..].parse().expect("a width");
        folder.file(&format!("{name}.npy"), npy(code, "(1,)", &vec![0; width]));
    }
    for (wanted, _) in codes {
        folder.file("a.relay", format!("def @main(%x: Tensor[(1), {wanted}]) {{ %x }}"));
        for (given, _) in codes {
            let read = run(&folder.0, &["--input", &format!("x={given}.npy")]);
            if wanted == given {
                assert_eq!(read.code, Some(0), "{given}: {}", read.err);
                continue;
            }
            refused(&read, &format!("the array given is Tensor[(1), {given}]: save it as"));
            let name = if wanted == "bfloat16" { "ml_dtypes.bfloat16" } else { wanted };
            assert!(read.err.contains(name), "{}", read.err);
        }
    }
    // Saved results of all data types can be read as arguments.
    for (name, _) in codes {
        folder.file("a.relay", format!("def @main(%o0: Tensor[(1), {name}]) {{ %o0 }}"));
        let save = ["--input", &format!("o0={name}.npy"), "--output", "o.npz"];
        assert_eq!(run(&folder.0, &save).code, Some(0), "{name}");
        assert_eq!(run(&folder.0, &["--inputs", "o.npz"]).code, Some(0), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_rejected_immediately() {
    let folder = Temporary::new("kinds");
    folder.file("a.relay", TWO);
    std::fs::create_dir(folder.0.join("d.npz")).expect("a folder");
    let made = Command::new("mkfifo").arg(folder.0.join("p.npz")).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe");
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(from, folder.0.join(to)).expect("a link");
    };
    link("ring.npz", "ring.npz");
    link("/dev/zero", "zero.npz");
    link("none", "gone.npz");
    for (name, why) in [
        ("d.npz", "it is a folder, not a file"),
        ("p.npz", "it is a pipe, not a file"),
        ("zero.npz", "it is a device, not a file"),
        ("ring.npz", "cannot read `ring.npz`"),
        ("gone.npz", "cannot read `gone.npz`"),
        ("/dev/zero", "it is a device, not a file"),
        ("/dev/tty", "it is a device, not a file"),
        ("/proc/self/mem", "the file is truncated"),
    ] {
        let why = if name == "/proc/self/mem" { "Input/output error" } else { why };
        refused(&run(&folder.0, &["--inputs", name]), why);
    }
    for (name, why) in [("p.npz", "it is a pipe"), ("/proc/self/mem", "Input/output error")] {
        refused(&run(&folder.0, &["--params", name]), why);
    }
    link("p.npz", "x.npy");
    refused(&run(&folder.0, &["--input", "x=x.npy", "--input", "w=1"]), "it is a pipe, not a file");
    // Links to files are followed.
    folder.file("real.npy", npy("<f4", "(2,)", &floats(&[1.0, 2.0])));
    link("real.npy", "link.npy");
    let read = run(&folder.0, &["--input", "x=link.npy", "--input", "w=1"]);
    assert_eq!(read.code, Some(0), "{}", read.err);
}

/// Files that declare more than they contain, or more than the limits.
#[test]
fn declared_sizes_are_verified() {
    let folder = Temporary::new("lies");
    folder.file("a.relay", "def @main(%x: Tensor[(?), float32]) { %x }");
    folder.file("long.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f4'");
    refused(&run(&folder.0, &["--input", "x=long.npy"]), "the file is truncated");
    folder.file("much.npy", npy("<f4", "(1000000000000,)", &[0; 100]));
    let read = run(&folder.0, &["--input", "x=much.npy"]);
    refused(&read, "its header declares 4000000000000 bytes of elements, but 100 follow");
    folder.file("below.npy", npy("<f4", "(-5,)", &[]));
    refused(&run(&folder.0, &["--input", "x=below.npy"]), "the size -5 is below 0");
    folder.file("short.npz", &unchecked_npz(&[("x.npy", &[0; 200])])[..100]);
    refused(&run(&folder.0, &["--inputs", "short.npz"]), "not an archive of arrays");
    let mut many = params(&[("x", &[2], &floats(&[1.0, 2.0]))]);
    many[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    folder.file("many.params", many);
    refused(&run(&folder.0, &["--params", "many.params"]), "the file is truncated");
}

/// Three gigabytes of actual data, which exceed the memory or time limit.
#[test]
fn limits_apply_while_arguments_are_read() {
    let folder = Temporary::new("limits");
    let count = 3usize << 28;
    let (x, npz, tvm) = sparse(&folder.0, count);
    folder.file("a.relay", format!("def @main(%x: Tensor[({count}), float32]) {{ sum(%x) }}"));
    let [x, npz, tvm] = [x, npz, tvm].map(|path| path.display().to_string());
    let named = format!("x={x}");
    for args in [["--input", &named], ["--inputs", &npz], ["--params", &tvm], ["--random", "1"]] {
        let limited = |limit: [&str; 2], code: &str| {
            let ended = run(&folder.0, &[&args[..], &limit].concat());
            assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{args:?} {}", ended.err);
            assert!(ended.err.contains(&format!("error[{code}]")), "{args:?} {}", ended.err);
            let help = format!("raise the limit with `{}`", limit[0]);
            assert!(ended.err.contains(&help), "{}", ended.err);
            at_most(code, ended.took, Duration::from_secs(5));
        };
        limited(["--memory", "3071"], "run-memory");
        limited(["--time", "0.1"], "run-time");
    }
    let json = run(&folder.0, &["--inputs", &npz, "--memory", "100", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((json.code, &shown["error"]["code"]), (Some(1), &serde_json::json!("run-memory")));
}

/// All arguments share one limit.
#[test]
fn arguments_count_together_towards_the_limit() {
    let folder = Temporary::new("together");
    let ty = "Tensor[(1000000), float32]";
    folder.file("a.relay", format!("def @main(%x: {ty}, %w: {ty}) {{ (%x, %w) }}"));
    let zeros = npy("<f4", "(1000000,)", &[0; 4_000_000]);
    folder.file("z.npy", zeros);
    let both = ["--input", "x=z.npy", "--input", "w=z.npy", "--output", "o.npz"];
    let code = |args: &[&str], memory: &str| {
        let ended = run(&folder.0, &[args, &["--memory", memory]].concat());
        (ended.code, ended.err.contains("error[run-memory]"))
    };
    assert_eq!(code(&both, "9"), (Some(0), false));
    assert_eq!(code(&both, "5"), (Some(1), true));
    for args in [&["--random", "3", "--output", "o.npz"][..], &["--input", "x=1", "--input", "w=1"]]
    {
        assert_eq!(code(args, "9"), (Some(0), false), "{args:?}");
        assert_eq!(code(args, "5"), (Some(1), true), "{args:?}");
    }
}

/// Tensors without elements with a maximal axis: random, read, shown and saved.
#[test]
fn empty_arrays_with_huge_axes_are_supported() {
    let folder = Temporary::new("huge");
    let shape = "(0, 4611686018427387904)";
    let ty = format!("Tensor[{shape}, float32]");
    folder.file(
        "a.relay",
        format!("def @main(%o0: {ty}, %o1: {ty}) {{ (exp(%o0), %o1, sum(%o1)) }}"),
    );
    folder.file("x.npy", npy("<f4", shape, &[]));
    let drawn = run(&folder.0, &["--random", "1", "--output", "o.npz"]);
    let note = "note: `%o0`, `%o1` are random (seed 1)\n";
    assert_eq!((drawn.code, drawn.err.as_str()), (Some(0), note));
    let read = run(&folder.0, &["--input", "o0=x.npy", "--inputs", "o.npz"]);
    assert_eq!(read.code, Some(0), "{}", read.err);
    assert_eq!(read.out, format!("({ty}\n[], {ty}\n[], 0.0 (float32))\n"));
    assert!(read.err.contains("`o2`"), "{}", read.err);
    let json = run(&folder.0, &["--input", "o0=1", "--input", "o1=2", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&json.out).expect(&json.err);
    assert_eq!(shown["tuple"][0]["shape"], serde_json::json!([0, 1u64 << 62]));
    assert_eq!(shown["tuple"][0]["data"], serde_json::json!([]));
    let profile = run(&folder.0, &["--random", "1", "--profile"]);
    assert_eq!(profile.code, Some(0), "{}", profile.err);
}

#[test]
fn result_is_saved_and_compared() {
    let folder = Temporary::new("expect");
    let text = "def @main(%x: Tensor[(2, 3), float32]) { (nn.relu(%x), 1) }\n\
                def @one(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }\n";
    folder.file("a.relay", text);
    let drawn = |more: &[&str]| run(&folder.0, &[&["--random", "1"], more].concat());
    let one = ["--function", "@one"];
    for (args, file) in [(&[][..], "o.npz"), (&one[..], "o.npy")] {
        let saved = drawn(&[args, &["--output", file]].concat());
        assert_eq!(saved.code, Some(0), "{}", saved.err);
        assert!(saved.err.contains("`%x` is random (seed 1)"), "{}", saved.err);
        let same = drawn(&[args, &["--expect", file]].concat());
        assert_eq!((same.code, same.err.contains("error")), (Some(0), false), "{}", same.err);
        let other = [args, &["--random", "2", "--expect", file]].concat();
        let other = run(&folder.0, &other);
        assert_eq!(other.code, Some(1), "{}", other.out);
        assert!(other.out.starts_with("`o0`: ") && other.out.contains("elements differ"));
    }
    // A `.npy` file contains one array.
    let saved = drawn(&["--output", "both.npy"]);
    assert!(saved.err.contains("the result has 2 tensors"), "{}", saved.err);
    let compared = drawn(&["--expect", "o.npy"]);
    assert!(compared.err.contains("the result has 2 tensors"), "{}", compared.err);
    let absent = drawn(&["--expect", "absent.npz"]);
    assert!(absent.code == Some(2) && absent.err.contains("absent.npz"), "{}", absent.err);
    let shown = run(
        &folder.0,
        &[&one[..], &["--input", "x=[[1, 5, 2], [4, 3, 0]]", "--top", "2"]].concat(),
    );
    assert_eq!(shown.out, "Tensor[(2, 3), float32]\n  [0, 1] 5\n  [1, 0] 4\n", "{}", shown.err);
}
