//! Tests of archives of TVM, including hostile ones.

use std::io::Cursor;

use saved::{Error, Package, is_archive, open};
use tar::{Builder, EntryType, Header};

fn model() -> (String, String) {
    let line = include_str!("cases.jsonl").lines().next().expect("a case");
    let case: serde_json::Value = serde_json::from_str(line).expect("a case");
    let text = |name: &str| case[name].as_str().expect("text").to_owned();
    (text("json"), text("text"))
}

/// Creates an archive of entries with arbitrary names.
fn archive(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for &(name, kind, bytes) in entries {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append(&header, bytes).expect("an entry");
    }
    builder.into_inner().expect("an archive")
}

fn read(bytes: &[u8]) -> Result<Package, Error> {
    open(Cursor::new(bytes), bytes.len() as u64)
}

fn refused(bytes: &[u8], why: &str) {
    let error = read(bytes).err().expect(why);
    assert!(error.to_string().contains(why), "{error}");
}

const FILE: EntryType = EntryType::Regular;

#[test]
fn saved_models_have_the_range_of_their_parameters() {
    let (json, text) = model();
    let bytes =
        archive(&[("./model.json", FILE, json.as_bytes()), ("model.params", FILE, b"parameters")]);
    assert!(is_archive(&bytes[..512]));
    let package = read(&bytes).expect("a package");
    assert_eq!(package.text.as_deref(), Some(&*text));
    let range = package.params.expect("parameters");
    assert_eq!(&bytes[range.start as usize..range.end as usize], b"parameters");
}

#[test]
fn model_library_format_has_text_and_plan() {
    let plan = br#"{"nodes": [{"op": "null", "name": "x", "inputs": []}], "arg_nodes": [0],
        "heads": [[0, 0, 0]], "attrs": {"dltype": ["list_str", ["float32"]],
        "storage_id": ["list_int", [0]], "shape": ["list_shape", [[2, 3]]]}}"#;
    let bytes = archive(&[
        ("src/default.relay", FILE, b"def @main() { 1 }"),
        ("parameters/default.params", FILE, b"p"),
        ("executor-config/graph/default.graph", FILE, plan),
    ]);
    let package = read(&bytes).expect("a package");
    assert_eq!(package.text.as_deref(), Some("def @main() { 1 }"));
    assert!(package.params.is_some());
    assert_eq!(package.plan.expect("a plan").argument_bytes, 24);
    let compiled = archive(&[("mod.json", FILE, plan), ("mod.so", FILE, b"\x7fELF")]);
    let package = read(&compiled).expect("a package");
    assert!(package.text.is_none() && package.plan.is_some());
}

#[test]
fn path_traversal_and_links_are_rejected() {
    let (json, _) = model();
    let good = ("model.json", FILE, json.as_bytes());
    for name in ["/etc/passwd", "../model.json", "a/../../b", "a\\..\\b", ".."] {
        refused(&archive(&[good, (name, FILE, b"x")]), "leads out of it");
    }
    // Names that are longer than the field of a header are in an entry before.
    let long = "a/".repeat(80) + "../../x\0";
    refused(&archive(&[("././@LongLink", EntryType::GNULongName, long.as_bytes()), good]), "leads");
    let record = format!("{} path={}\n", 174, long.trim_end_matches('\0'));
    let pax = ("PaxHeaders/x", EntryType::XHeader, record.as_bytes());
    refused(&archive(&[pax, good]), "leads out of it");
    let harmless = ("PaxHeaders/x", EntryType::XHeader, &b"19 mtime=1234567890\n"[..]);
    assert!(read(&archive(&[harmless, good])).is_ok());
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        refused(&archive(&[good, ("model.params", kind, b"")]), "is a device or a pipe");
    }
    for kind in [EntryType::Symlink, EntryType::Link] {
        refused(&archive(&[good, ("model.params", kind, b"")]), "is a link");
    }
}

#[test]
fn truncated_archives_are_rejected() {
    let (json, _) = model();
    let whole =
        archive(&[("model.json", FILE, json.as_bytes()), ("model.params", FILE, &[7; 999])]);
    for end in (1..whole.len().saturating_sub(1024)).step_by(331) {
        // The truncated archive may be a valid one with fewer entries.
        if let Ok(package) = read(&whole[..end]) {
            assert!(package.params.is_none_or(|range| range.end <= end as u64));
        }
    }
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..10].copy_from_slice(b"model.json");
    for size in [1 << 40, u64::MAX] {
        header.set_size(size);
        header.set_cksum();
        assert!(read(header.as_bytes()).is_err());
    }
    refused(&archive(&[]), "neither a module");
    refused(&archive(&[("a.txt", FILE, b"")]), "neither a module");
    refused(&archive(&[("model.json", FILE, b"\xff")]), "not UTF-8");
    refused(&archive(&[("model.json", FILE, b"{}")]), "`model.json`");
    refused(&archive(&[("src/a.relay", FILE, b""), ("src/b.relay", FILE, b"")]), "2 modules");
}
