//! Runs the markdown tests; see [`relay_tests::mdtest`] for their format.

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
fn releases() {
    check("releases");
}

/// The pages of the book about releases, one for each.
#[test]
fn pages_of_releases() {
    let pages = mdtest::pages(&here().join("../docs"));
    let of_releases = pages.iter().filter(|(name, _)| name.starts_with("release-"));
    let reports: Vec<String> =
        of_releases.map(|(name, page)| mdtest::check_page(name, page)).collect();
    assert_eq!(reports.len(), types::Release::all().count());
    let report = reports.concat();
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn pasted() {
    check("pasted");
}

#[test]
fn programs() {
    check("programs");
}

/// The pages of programs include many programs, with errors and with values.
#[test]
fn programs_cover_errors_and_values() {
    let pages = mdtest::pages(&here().join("mdtest/programs"));
    let blocks: Vec<_> = pages.iter().flat_map(|(_, page)| mdtest::blocks(page)).collect();
    let with = |claim| blocks.iter().filter(|block| block.text.contains(claim)).count();
    let (all, refused, computed) = (blocks.len(), with("// error: ["), with("// gives: "));
    assert!(all >= 250, "there are {all} programs");
    assert!(refused * 3 >= all, "{refused} of {all} programs have errors");
    assert!(computed >= 60, "{computed} programs claim a value");
}

#[test]
fn operators() {
    check("operators");
}

/// Each operator is on a page, with an accepted call whose type is claimed and a rejected call; operators
/// without a type in TVM have only a rejected call.
#[test]
fn every_operator_has_a_page() {
    let pages = mdtest::pages(&here().join("mdtest/operators"));
    let blocks = pages.iter().flat_map(|(_, page)| mdtest::blocks(page));
    let text: String = blocks.map(|block| block.text).collect();
    let lines = |claims: &'static [&'static str]| -> Vec<&str> {
        text.lines().filter(|line| claims.iter().any(|claim| line.contains(claim))).collect()
    };
    let accepted = lines(&["// revealed: ", "error: [operator-undefined]"]);
    let refused = lines(&["// error: ["]);
    let is_called = |lines: &[&str], name: &str| {
        let call = format!("{name}(");
        let name_goes_on = |c: char| c.is_alphanumeric() || "_.@%".contains(c);
        lines.iter().any(|line| {
            line.match_indices(&call).any(|(at, _)| !line[..at].ends_with(name_goes_on))
        })
    };
    let missing = |lines: &[&str]| -> Vec<&str> {
        operators::all().map(|op| op.name).filter(|name| !is_called(lines, name)).collect()
    };
    assert_eq!(missing(&accepted), [""; 0], "no page has an accepted call");
    assert_eq!(missing(&refused), [""; 0], "no page has a rejected call");
}

#[test]
fn runner_reports_false_claims() {
    let page = "```relay\ndef @f(%x: int32) { %x } // revealed: float32\n%y // error: [x]\n```\n\
                ```relay\ndef @f(%x) { %x } // scheme: fn [t1](t1) -> int32\n```\n";
    let report = mdtest::check_page("page", page);
    assert!(report.contains("page:2: revealed int32, claimed float32"), "{report}");
    assert!(report.contains("page:3: no such finding"), "{report}");
    assert!(report.contains("page:6: the scheme is fn [t1](t1) -> t1, claimed"), "{report}");
    assert!(report.contains("page:3: unclaimed error: [unknown-variable]"), "{report}");
}
