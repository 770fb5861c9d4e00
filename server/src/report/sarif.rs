//! Diagnostics as a SARIF log, which code hosts show as alerts and follow from commit to commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use semantics::{Code, Diagnostic, Fix, Severity};
use serde_json::{Value, json};
use syntax::{Encoding, TextRange};

use super::{Checked, escape, machine::whole};

/// The results of the files of a run, and what went wrong in it.
#[derive(Default)]
pub(crate) struct Log {
    results: Vec<(Code, Value)>,
    /// The reasons that files were not checked.
    failures: Vec<String>,
}

impl Log {
    /// Adds the results of a file.
    pub(crate) fn add(&mut self, results: &[(Code, Value)]) {
        self.results.extend_from_slice(results);
    }

    /// Adds the reason that a file was not checked.
    pub(crate) fn fail(&mut self, message: &str) {
        self.failures.push(message.to_owned());
    }

    /// Writes the log, with the rules that occur.
    pub(crate) fn write(self, is_successful: bool, out: &mut impl Write) -> std::io::Result<()> {
        let codes: BTreeSet<Code> = self.results.iter().map(|(code, _)| *code).collect();
        let index: BTreeMap<Code, usize> =
            codes.iter().enumerate().map(|(at, code)| (*code, at)).collect();
        let results = self.results.into_iter().map(|(code, mut result)| {
            result["ruleIndex"] = json!(index.get(&code));
            result
        });
        let rules = codes.iter().map(|code| {
            let page = code.readable_page();
            json!({
                "id": code.name(),
                "shortDescription": { "text": code.title() },
                "help": { "text": page, "markdown": page },
                "defaultConfiguration": { "level": level(code.severity()) },
            })
        });
        let failures = self.failures.iter().map(|message| {
            json!({ "level": "error", "message": { "text": escape::sarif_message(message) } })
        });
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "relay-analyzer",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.collect::<Vec<_>>(),
                } },
                "invocations": [{
                    "executionSuccessful": is_successful,
                    "toolExecutionNotifications": failures.collect::<Vec<_>>(),
                }],
                "columnKind": "utf16CodeUnits",
                "results": results.collect::<Vec<_>>(),
            }],
        });
        writeln!(out, "{log:#}")
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

/// Returns the results of a file.
pub(crate) fn results(checked: &Checked) -> Vec<(Code, Value)> {
    let uri = escape::uri(&checked.path);
    // Equal lines with equal codes are told apart by their order.
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    let result = |diagnostic: &Diagnostic| {
        let related = diagnostic.related.iter().enumerate().map(|(id, related)| {
            json!({
                "id": id,
                "message": { "text": escape::sarif_message(&related.message) },
                "physicalLocation": place(checked, &uri, related.range),
            })
        });
        let hash = fingerprint(checked, diagnostic);
        let number = seen.entry(hash).and_modify(|number| *number += 1).or_insert(1);
        let mut result = json!({
            "ruleId": diagnostic.code.name(),
            "level": level(diagnostic.severity),
            "message": { "text": escape::sarif_message(&whole(diagnostic)) },
            "locations": [{ "physicalLocation": place(checked, &uri, diagnostic.range) }],
            "relatedLocations": related.collect::<Vec<_>>(),
            "partialFingerprints": { "codeAndLine/v1": format!("{hash:016x}:{number}") },
        });
        if !diagnostic.fixes.is_empty() {
            let fixes = diagnostic.fixes.iter().map(|fix| fix_of(checked, &uri, fix));
            result["fixes"] = fixes.collect();
        }
        (diagnostic.code, result)
    };
    checked.diagnostics.iter().map(result).collect()
}

fn place(checked: &Checked, uri: &str, range: TextRange) -> Value {
    json!({ "artifactLocation": { "uri": uri }, "region": region(checked, range) })
}

fn region(checked: &Checked, range: TextRange) -> Value {
    let at = |offset| checked.lines().line_column(offset, Encoding::Utf16);
    let (start, end) = (at(range.start()), at(range.end()));
    json!({
        "startLine": start.line + 1, "startColumn": start.column + 1,
        "endLine": end.line + 1, "endColumn": end.column + 1,
        "byteOffset": u32::from(range.start()), "byteLength": u32::from(range.len()),
    })
}

fn fix_of(checked: &Checked, uri: &str, fix: &Fix) -> Value {
    let replacements = fix.edits.iter().map(|(range, text)| {
        json!({ "deletedRegion": region(checked, *range), "insertedContent": { "text": text } })
    });
    json!({
        "description": { "text": escape::sarif_message(&fix.title) },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri },
            "replacements": replacements.collect::<Vec<_>>(),
        }],
    })
}

/// Returns a hash of the code and the line of a diagnostic: it stays the same where other lines change. That of
/// the standard library may change with its version.
fn fingerprint(checked: &Checked, diagnostic: &Diagnostic) -> u64 {
    let lines = checked.lines();
    let line = lines.line_content(checked.text.as_str(), lines.line_at(diagnostic.range.start()));
    let line = line.map_or("", |line| &checked.text[std::ops::Range::<usize>::from(line)]);
    let bytes = diagnostic.code.name().bytes().chain([0]).chain(line.trim().bytes());
    // FNV-1a.
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
