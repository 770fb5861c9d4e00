//! The reference of diagnostic codes: its claims hold, and the page of each code has an example that
//! produces it.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use relay_tests::{client::binary, corpus::here, mdtest};
use semantics::Code;

/// Codes that no example produces: they concern files, the number of findings, deep nesting, or operators
/// without a rule, which do not exist.
const WITHOUT_BLOCK: &[Code] = &[
    Code::NotText,
    Code::InvalidUtf8,
    Code::FileTooLarge,
    Code::UnreadableSavedModule,
    Code::InvalidSettings,
    Code::InternalError,
    Code::OutOfSync,
    Code::NestedTooDeep,
    Code::TooMany,
    Code::NoRelation,
    Code::InferenceBudget,
    Code::TvmCarriageReturn,
    // A claim after the section would be a part of its JSON.
    Code::UnusedConstant,
    Code::DuplicateConstant,
    // Codes that a text alone cannot cause.
    Code::RunCancelled,
    Code::RunInput,
    Code::RunNoKernel,
    Code::RunNotFinite,
    Code::RunUntyped,
];

fn reference() -> String {
    let file = here().join("../analysis/codes/src/codes.md");
    fs::read_to_string(file).expect("the reference")
}

#[test]
fn claims_of_the_reference_hold() {
    let report = mdtest::check_page("codes.md", &reference());
    assert!(report.is_empty(), "\n{report}");
}

/// The `run` blocks are run, with the limits in their headers.
#[test]
fn runtime_failures_match_the_reference() {
    let reference = reference();
    let mut seen = 0;
    for block in mdtest::blocks(&reference) {
        if block.words.first().is_none_or(|word| word != "run") {
            continue;
        }
        seen += 1;
        let mut command = Command::new(binary());
        command.args(["run", "-", "--format", "json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        for (name, value) in block.words.iter().filter_map(|word| word.split_once('=')) {
            command.arg(format!("--{name}")).arg(value);
        }
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(block.text.as_bytes()).expect("the program reads");
        drop(stdin);
        let output = child.wait_with_output().expect("the program ends");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let error = &found["error"];
        let [(line, code, part)] = &mdtest::failures(&block)[..] else {
            panic!("line {}: one claim", block.line)
        };
        assert_eq!(error["code"], code.as_str(), "line {}: {found}", block.line);
        let given = error["arguments"].as_array().expect("a list");
        let given: Vec<&str> = given.iter().filter_map(|ty| ty.as_str()).collect();
        let message = error["message"].as_str().unwrap_or_default();
        let message = format!("{message} (arguments: {})", given.join(", "));
        assert!(message.contains(part), "line {}: {message}", block.line);
        let start = error["trace"][0]["place"]["start"].as_u64().expect("a place") as usize;
        let at = block.text[..start].matches('\n').count();
        assert_eq!(at, *line, "line {}: {found}", block.line);
        assert_eq!(output.status.code(), Some(1));
    }
    assert!(seen >= 6, "{seen} blocks");
}

#[test]
fn every_page_has_an_example_of_its_code() {
    let mut report = String::new();
    for &code in Code::ALL {
        let page = code.page();
        // The test above checks the claims of blocks.
        let claim = format!(": [{code}]");
        let shows = mdtest::blocks(page).iter().any(|block| block.text.contains(&claim));
        if shows == WITHOUT_BLOCK.contains(&code) {
            let what = if shows { "has a block, and is listed as one without" } else { "has none" };
            report += &format!("codes.md: the page of `{code}` {what}\n");
        }
        let prose = page.split("```").next().unwrap_or_default();
        if prose.trim().is_empty() {
            report += &format!("codes.md: the page of `{code}` says nothing\n");
        }
    }
    assert!(report.is_empty(), "\n{report}");
}
