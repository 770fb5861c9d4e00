//! Pages of Relay whose claims hold; see [`relay_tests::mdtest`] for how they are written.

use relay_tests::{corpus::here, mdtest};

fn check(folder: &str) {
    let report = mdtest::check_folder(&here().join("mdtest").join(folder));
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn language() {
    check("language");
}

#[test]
fn operators() {
    check("operators");
}

#[test]
fn the_runner_notices() {
    let page = "```relay\ndef @f(%x: int32) { %x } // revealed: float32\n%y // error: [x]\n```\n";
    let report = mdtest::check_page("page", page);
    assert!(report.contains("page:2: revealed int32, claimed float32"), "{report}");
    assert!(report.contains("page:3: no such finding"), "{report}");
    assert!(report.contains("page:3: unclaimed error: [unknown-variable]"), "{report}");
}
