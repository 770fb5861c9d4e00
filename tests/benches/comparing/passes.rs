//! Modules before and after passes that keep values.

use std::{fs::File, io::BufRead, io::BufReader};

use flate2::read::GzDecoder;
use relay_tests::{command::Folder, corpus};
use serde_json::Value;

use super::rate;

/// Passes that compute other values on purpose.
const INEXACT: [&str; 3] = ["FastMath", "ToMixedPrecision", "FakeQuant"];

/// Compares the modules of each pair. `RELAY_BETWEEN_NETS=resnet18,mlp` chooses networks.
pub(crate) fn measure() -> bool {
    let Some(folder) = corpus::between() else { return false };
    let nets = std::env::var("RELAY_BETWEEN_NETS").unwrap_or_default();
    let nets: Vec<&str> = nets.split(',').filter(|net| !net.is_empty()).collect();
    let file = File::open(folder.join("pairs.jsonl.gz")).expect("the pairs");
    let (mut same, mut clean, mut not_run, mut all) = (0, 0, 0, 0);
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let pair: Value = serde_json::from_str(&line.expect("a line")).expect("a pair");
        let text = |key: &str| pair[key].as_str().unwrap_or_default();
        let is_chosen = nets.is_empty() || nets.contains(&text("net"));
        if INEXACT.contains(&text("pass")) || !is_chosen {
            continue;
        }
        let files = [("a.relay", text("before").as_bytes()), ("b.relay", text("after").as_bytes())];
        let folder = Folder::new("passes", &files);
        let run = folder.run(&["compare", "a.relay", "b.relay", "--format", "json"]);
        let document: Value = serde_json::from_str(&run.out).unwrap_or_default();
        if document.is_null() || run.code == Some(2) {
            not_run += 1;
            let why = run.err.lines().find(|line| line.contains("error")).unwrap_or_default();
            println!(
                "{} {}: not compared: {why} {}",
                text("net"),
                text("pass"),
                document["stops"][0]
            );
            continue;
        }
        let pairs = document["pairs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let culprits = pairs.iter().filter(|pair| pair["culprit"] == true).count();
        all += 1;
        same += usize::from(document["equal"] == true);
        clean += usize::from(culprits == 0);
        if document["equal"] != true || culprits > 0 {
            println!(
                "{} {}: {culprits} culprits, {}",
                text("net"),
                text("pass"),
                document["result"]
            );
        }
    }
    println!("\npasses that keep values; {not_run} pairs cannot be run");
    let all = [
        rate("within the tolerance", (same, all), 99),
        rate("without a culprit", (clean, all), 99),
    ];
    all.iter().all(|fine| *fine)
}
