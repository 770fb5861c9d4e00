//! The values of the bindings of ONNX models, from ONNX Runtime, against equal Relay modules.

use std::{ffi::OsStr, path::PathBuf, process::Command};

use relay_tests::{client::binary, corpus};
use serde_json::Value;

use super::rate;

/// Networks, each with a weight of which an element is changed in the ONNX model.
const NETWORKS: [(&str, &str); 3] =
    [("resnet18", "p26"), ("resnet18-v2", "p26"), ("bert-base", "p5")];

/// Compares each network with the values of ONNX Runtime, then with those of the model with the changed weight.
pub(crate) fn measure() -> bool {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("onnx-runtime");
    if python(&["write".as_ref(), folder.as_os_str()]).is_none() {
        println!("\n*** SKIPPED: there is no `python3` with onnxruntime, onnx and numpy:");
        println!("*** pip install onnxruntime onnx numpy");
        return true;
    }
    let chosen = std::env::var("RELAY_ONNX_NETS").unwrap_or_default();
    let (mut same, mut named, mut all) = (0, 0, 0);
    for (name, weight) in NETWORKS {
        if !chosen.is_empty() && !chosen.split(',').any(|net| net == name) {
            continue;
        }
        let compared = |weight: Option<&str>| {
            let args = [Some("record"), folder.to_str(), Some(name), weight];
            let args: Vec<&OsStr> = args.into_iter().flatten().map(OsStr::new).collect();
            let users = python(&args)?;
            let path = |end: &str| folder.join(format!("{name}.{end}"));
            let mut command = Command::new(binary());
            command.arg("compare").args([path("relay"), path("values.npz")]);
            command.arg("--inputs").arg(path("npz")).args(["--format", "json"]);
            let run = command.output().ok()?;
            let document: Value = serde_json::from_slice(&run.stdout).ok()?;
            let pairs = document["pairs"].as_array()?;
            let culprits = pairs.iter().filter(|pair| pair["culprit"] == true);
            let culprits: Vec<String> =
                culprits.filter_map(|pair| Some(pair["name"].as_str()?.to_owned())).collect();
            Some((users, culprits, pairs.len()))
        };
        let (Some((_, right, count)), Some((users, wrong, _))) =
            (compared(None), compared(Some(weight)))
        else {
            println!("{name}: *** does not run");
            all += 1;
            continue;
        };
        let users: Vec<&str> = users.split_whitespace().collect();
        println!(
            "{name}: {count} values; wrong: {right:?}; with another `%{weight}` of {users:?}: {wrong:?}"
        );
        all += 1;
        same += usize::from(right.is_empty() && count > 0);
        named += usize::from(wrong.iter().eq(users.iter()));
    }
    println!("\nvalues of ONNX Runtime");
    let all = [
        rate("no divergence", (same, all), 100),
        rate("a changed weight is named, and nothing else", (named, all), 100),
    ];
    all.iter().all(|fine| *fine)
}

/// Returns what the script prints; `None` if it fails, of which it then prints the reason.
fn python(args: &[&OsStr]) -> Option<String> {
    let script = corpus::here().join("benches/running/onnx_runtime.py");
    let output = Command::new("python3").arg(script).args(args).output().ok()?;
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default());
    }
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
