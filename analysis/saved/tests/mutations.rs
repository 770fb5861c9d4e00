//! Tests of random mutations of saved files: each is converted or rejected without a panic.

use std::io::Cursor;

use saved::{Plan, convert, open};
use serde_json::Value;

/// The number of files that each test generates.
const FILES: usize = 1_000;

fn graphs() -> Vec<Value> {
    let graph = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case");
        serde_json::from_str(case["json"].as_str().expect("text")).expect("a graph")
    };
    let graphs: Vec<Value> = include_str!("cases.jsonl").lines().map(graph).collect();
    // Each as a file of a release that is upgraded, too.
    let former = ["0.6.0", "0.7.0", "0.8.0"].into_iter().flat_map(|version| {
        graphs.iter().cloned().map(move |mut graph: Value| {
            graph["attrs"]["tvm_version"] = version.into();
            graph
        })
    });
    former.chain(graphs.iter().cloned()).collect()
}

#[test]
fn mutated_fields_do_not_panic() {
    let graphs = graphs();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..FILES {
        let mut graph = graphs[random.usize(..graphs.len())].clone();
        let nodes = graph["nodes"].as_array_mut().expect("nodes");
        let count = nodes.len();
        for _ in 0..random.usize(1..4) {
            let other = nodes[random.usize(..count)].clone();
            let node = &mut nodes[random.usize(..count)];
            let number = random.usize(..count + 2);
            match random.u8(..4) {
                0 => *node = other,
                1 => node["type_key"] = other["type_key"].clone(),
                2 => {
                    let fields = node.get_mut("attrs").and_then(Value::as_object_mut);
                    let fields = fields.into_iter().flat_map(|fields| fields.values_mut());
                    if let Some(field) = random.choice(fields.collect::<Vec<_>>()) {
                        *field = number.to_string().into();
                    }
                }
                _ => {
                    let data = node.get_mut("data").and_then(Value::as_array_mut);
                    if let Some(element) = data.and_then(|data| random.choice(data)) {
                        *element = number.into();
                    }
                }
            }
        }
        if let Err(error) = convert(&graph.to_string()) {
            assert!(!error.message.is_empty());
        }
    }
}

#[test]
fn mutated_bytes_do_not_panic() {
    let graphs: Vec<String> = graphs().iter().map(Value::to_string).collect();
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..FILES {
        let mut bytes = graphs[random.usize(..graphs.len())].clone().into_bytes();
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        let entry = archive.append_data(&mut header, "model.json", &bytes[..]);
        entry.expect("an entry");
        let mut archive = archive.into_inner().expect("an archive");
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.choice(b"0123456789\"{}[],: x").copied().unwrap_or(0);
            let at = random.usize(..archive.len().min(700));
            archive[at] = random.u8(..);
        }
        let text = String::from_utf8_lossy(&bytes);
        drop((convert(&text), Plan::read(&text)));
        let length = archive.len() as u64;
        drop(open(Cursor::new(archive), length));
    }
}
