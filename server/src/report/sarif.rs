//! Diagnostics as a SARIF log, which code hosts show as alerts and follow from commit to commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    sync::Arc,
};

use semantics::{Code, Diagnostic, Fix, Severity};
use serde::{Serialize, Serializer};
use syntax::{Encoding, TextRange};

use super::{CheckReport, escape, machine::whole};

/// The results of the files of a run, and what went wrong in it.
#[derive(Default)]
pub(crate) struct Log {
    results: Vec<SarifResult>,
    /// The reasons that files were not checked.
    failures: Vec<String>,
}

// The fields are in the order of their names, as in earlier logs.

#[derive(Serialize)]
struct SarifLog {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [SarifRun; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun {
    column_kind: &'static str,
    invocations: [Invocation; 1],
    results: Vec<SarifResult>,
    tool: Tool,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    rules: Vec<Rule>,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    default_configuration: RuleConfiguration,
    help: RuleHelp,
    id: &'static str,
    short_description: Message<&'static str>,
}

#[derive(Serialize)]
struct RuleConfiguration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleHelp {
    markdown: String,
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
}

/// A text: a message, a title, or what a fix inserts.
#[derive(Clone, Serialize)]
struct Message<T = String> {
    text: T,
}

/// A diagnostic of a file.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifResult {
    #[serde(skip)]
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<SarifFix>,
    level: &'static str,
    locations: [Location; 1],
    message: Message,
    partial_fingerprints: Fingerprints,
    related_locations: Vec<RelatedLocation>,
    rule_id: &'static str,
    /// The index of the code among those of the log.
    rule_index: Option<usize>,
}

#[derive(Clone, Serialize)]
struct Fingerprints {
    #[serde(rename = "codeAndLine/v1")]
    code_and_line: String,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Place,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct RelatedLocation {
    id: usize,
    message: Message,
    physical_location: Place,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Clone, Serialize)]
struct Artifact {
    #[serde(serialize_with = "serialize_shared")]
    uri: Arc<str>,
}

fn serialize_shared<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    byte_length: u32,
    byte_offset: u32,
    end_column: u32,
    end_line: u32,
    start_column: u32,
    start_line: u32,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix {
    artifact_changes: [ArtifactChange; 1],
    description: Message,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Message,
}

impl Log {
    /// Adds the results of a file.
    pub(crate) fn add(&mut self, results: &[SarifResult]) {
        self.results.extend_from_slice(results);
    }

    /// Adds the reason that a file was not checked.
    pub(crate) fn fail(&mut self, message: &str) {
        self.failures.push(message.to_owned());
    }

    /// Writes the log, with the rules that occur.
    pub(crate) fn write(
        mut self,
        is_successful: bool,
        out: &mut impl Write,
    ) -> std::io::Result<()> {
        let codes: BTreeSet<Code> = self.results.iter().map(|result| result.code).collect();
        let index: BTreeMap<Code, usize> =
            codes.iter().enumerate().map(|(at, code)| (*code, at)).collect();
        for result in &mut self.results {
            result.rule_index = index.get(&result.code).copied();
        }
        let rules = codes.iter().map(|code| {
            let page = code.readable_page().to_string();
            Rule {
                default_configuration: RuleConfiguration { level: level(code.severity()) },
                help: RuleHelp { markdown: page.clone(), text: page },
                id: code.name(),
                short_description: Message { text: code.title() },
            }
        });
        let failures = self.failures.iter().map(|message| Notification {
            level: "error",
            message: Message { text: escape::sarif_message(message) },
        });
        let invocation = Invocation {
            execution_successful: is_successful,
            tool_execution_notifications: failures.collect(),
        };
        let driver = Driver {
            name: "relay-analyzer",
            rules: rules.collect(),
            version: env!("CARGO_PKG_VERSION"),
        };
        let log = SarifLog {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            runs: [SarifRun {
                column_kind: "utf16CodeUnits",
                invocations: [invocation],
                results: self.results,
                tool: Tool { driver },
            }],
            version: "2.1.0",
        };
        serde_json::to_writer_pretty(&mut *out, &log)?;
        writeln!(out)
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
pub(crate) fn results(checked: &CheckReport) -> Vec<SarifResult> {
    let uri: Arc<str> = escape::uri(&checked.path).into();
    // Equal lines with equal codes are told apart by their order.
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    let result = |diagnostic: &Diagnostic| {
        let related = diagnostic.related.iter().enumerate().map(|(id, related)| RelatedLocation {
            id,
            message: Message { text: escape::sarif_message(&related.message) },
            physical_location: place(checked, &uri, related.range),
        });
        let hash = fingerprint(checked, diagnostic);
        let number = seen.entry(hash).and_modify(|number| *number += 1).or_insert(1);
        SarifResult {
            code: diagnostic.code,
            fixes: diagnostic.fixes.iter().map(|fix| fix_of(checked, &uri, fix)).collect(),
            level: level(diagnostic.severity),
            locations: [Location { physical_location: place(checked, &uri, diagnostic.range) }],
            message: Message { text: escape::sarif_message(&whole(diagnostic)) },
            partial_fingerprints: Fingerprints { code_and_line: format!("{hash:016x}:{number}") },
            related_locations: related.collect(),
            rule_id: diagnostic.code.name(),
            rule_index: None,
        }
    };
    checked.diagnostics.iter().map(result).collect()
}

fn place(checked: &CheckReport, uri: &Arc<str>, range: TextRange) -> Place {
    let artifact_location = Artifact { uri: uri.clone() };
    Place { artifact_location, region: region(checked, range) }
}

fn region(checked: &CheckReport, range: TextRange) -> Region {
    let at = |offset| checked.lines().line_column(offset, Encoding::Utf16);
    let (start, end) = (at(range.start()), at(range.end()));
    Region {
        byte_length: range.len().into(),
        byte_offset: range.start().into(),
        end_column: end.column + 1,
        end_line: end.line + 1,
        start_column: start.column + 1,
        start_line: start.line + 1,
    }
}

fn fix_of(checked: &CheckReport, uri: &Arc<str>, fix: &Fix) -> SarifFix {
    let replacements = fix.edits.iter().map(|(range, text)| Replacement {
        deleted_region: region(checked, *range),
        inserted_content: Message { text: text.clone() },
    });
    SarifFix {
        artifact_changes: [ArtifactChange {
            artifact_location: Artifact { uri: uri.clone() },
            replacements: replacements.collect(),
        }],
        description: Message { text: escape::sarif_message(&fix.title) },
    }
}

/// Returns a hash of the code and the line of a diagnostic: it stays the same where other lines change. That of
/// the standard library may change with its version.
fn fingerprint(checked: &CheckReport, diagnostic: &Diagnostic) -> u64 {
    let lines = checked.lines();
    let line = lines.line_content(checked.text.as_str(), lines.line_at(diagnostic.range.start()));
    let line = line.map_or("", |line| &checked.text[std::ops::Range::<usize>::from(line)]);
    let bytes = diagnostic.code.name().bytes().chain([0]).chain(line.trim().bytes());
    // FNV-1a.
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
