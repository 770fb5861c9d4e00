//! The law of fixes: a text after any single fix of an error has fewer errors.

use relay_tests::{corpus, mdtest};
use semantics::{
    Database, Diagnostic, Rules, Severity, SourceFile, check_file, retain_helpful_fixes,
};
use syntax::ParseLimits;

/// The share of fixes that have to help, in percent. The rest is in texts that are too long for a trial, and
/// syntax errors that hide others.
const LEAST: f64 = 98.0;
/// The share of errors with a fix below which the law would hold for want of fixes, in percent.
const LEAST_FIXED: f64 = 10.0;

/// Returns the texts with errors: those that TVM rejects, or without the corpus those of the pages.
fn texts() -> Vec<(String, String)> {
    corpus::cases("reject.jsonl").unwrap_or_else(|| {
        let folders = ["mdtest/language", "mdtest/operators"];
        let pages = folders.iter().flat_map(|folder| mdtest::pages(&corpus::here().join(folder)));
        let blocks = pages.flat_map(|(name, page)| {
            let blocks = mdtest::blocks(&page).into_iter();
            let texts = blocks.map(|block| (format!("{name}:{}", block.line), block.text));
            texts.collect::<Vec<_>>()
        });
        blocks.filter(|(_, text)| text.contains("// error: [")).collect()
    })
}

/// Returns a database with a text.
fn loaded(text: &str, rules: Rules) -> (Database, SourceFile) {
    let mut db = Database::new();
    db.set_rules(rules);
    let file = db.add_file(text, ParseLimits::default());
    (db, file)
}

fn errors(text: &str, rules: Rules) -> Vec<String> {
    let (db, file) = loaded(text, rules);
    let found = check_file(&db, file);
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| format!("{}: {}", d.code, d.message)).collect()
}

/// What the fixes of a text lead to.
#[derive(Default)]
struct Outcome {
    errors: usize,
    errors_with_fix: usize,
    /// The number of fixes that are proposed and not offered.
    withheld: usize,
    offered: usize,
    failed: Vec<String>,
}

fn outcome(id: &str, text: &str, rules: Rules) -> Outcome {
    let (db, file) = loaded(text, rules);
    let proposed = check_file(&db, file);
    let mut found: Vec<Diagnostic> = proposed.to_vec();
    retain_helpful_fixes(&db, file, &mut found);
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let before = found.iter().filter(is_error).count();
    let mut outcome = Outcome { errors: before, ..Outcome::default() };
    for (diagnostic, proposed) in found.iter().zip(proposed.iter()).filter(|(d, _)| is_error(d)) {
        outcome.errors_with_fix += usize::from(!diagnostic.fixes.is_empty());
        outcome.withheld += proposed.fixes.len() - diagnostic.fixes.len();
        for fix in &diagnostic.fixes {
            outcome.offered += 1;
            let after = errors(&semantics::apply(text, [fix]), rules);
            if after.len() >= before {
                let reason = after.join(" | ").replace('\n', " ");
                outcome.failed.push(format!(
                    "{id}: {}: {}: {before} errors, then {}: {reason}",
                    diagnostic.code,
                    fix.title,
                    after.len()
                ));
            }
        }
    }
    outcome
}

fn fixes_lead_to_fewer_errors(rules: Rules) {
    let texts = texts();
    let share = texts.len().div_ceil(std::thread::available_parallelism().map_or(1, usize::from));
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let parts = texts.chunks(share.max(1));
        let threads = parts.map(|part| {
            scope.spawn(move || {
                let outcomes = part.iter().map(|(id, text)| outcome(id, text, rules));
                outcomes.collect::<Vec<_>>()
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let sum = |count: fn(&Outcome) -> usize| outcomes.iter().map(count).sum::<usize>();
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let (offered, failed) = (sum(|o| o.offered), sum(|o| o.failed.len()));
    let (errors, fixed) = (sum(|o| o.errors), sum(|o| o.errors_with_fix));
    let helpful = percent(offered - failed, offered);
    eprintln!(
        "{rules:?}: {helpful:.2} % of {offered} fixes help, {} are withheld; {:.1} % of {errors} errors have one",
        sum(|o| o.withheld),
        percent(fixed, errors)
    );
    outcomes.iter().flat_map(|outcome| &outcome.failed).for_each(|failed| eprintln!("{failed}"));
    assert!(helpful >= LEAST, "{helpful:.2} % of the fixes help, expected at least {LEAST} %");
    let fixed = percent(fixed, errors);
    assert!(fixed >= LEAST_FIXED, "{fixed:.1} % of the errors have a fix");
}

#[test]
fn a_fix_leads_to_fewer_errors() {
    fixes_lead_to_fewer_errors(Rules::General);
}

#[test]
fn a_fix_leads_to_fewer_errors_of_tvm() {
    fixes_lead_to_fewer_errors(Rules::of(true));
}

/// Definitions that together are longer than what is tried at once.
fn padding() -> String {
    let line = "  let %y = nn.relu(%x);\n".repeat(20);
    let definition =
        |number| format!("def @pad{number}(%x: Tensor[(2), float32]) {{\n{line}  %x\n}}\n");
    (0..64).map(definition).collect()
}

/// The titles of the fixes that are offered for the errors of a text.
fn offered(text: &str) -> Vec<String> {
    let (db, file) = loaded(text, Rules::General);
    let mut found = check_file(&db, file).to_vec();
    retain_helpful_fixes(&db, file, &mut found);
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.flat_map(|d| &d.fixes).map(|fix| fix.title.clone()).collect()
}

/// In a long file, a fix is tried with the definitions that its own one uses.
#[test]
fn a_fix_is_tried_with_the_definitions_that_are_used() {
    let used = "def @used(%x: Tensor[(2), float32]) { %x }\n";
    let main = |result: &str| {
        format!(
            "def @main(%y: Tensor[(3), float32]) {result} {{\n  \
             let %z: Tensor[(2), float32] = %y;\n  %z\n}}\n"
        )
    };
    let declare = "Declare it as `Tensor[(3), float32]`";
    let long = |main: String| format!("{used}{}{main}", padding());
    assert_eq!(offered(&long(main(""))), [declare]);
    // The declared result would be the next error.
    assert_eq!(offered(&long(main("-> Tensor[(2), float32]"))), [""; 0]);
    // So would the parameter of a function that is called.
    let called = main("").replace("  %z\n", "  @used(%z)\n");
    assert_eq!(offered(&long(called)), [""; 0]);
}

/// A definition that is too long for a trial has its fixes.
#[test]
fn fixes_in_a_long_definition_are_offered() {
    let lines = "  let %a = nn.relu(%y);\n".repeat(1200);
    let text = format!(
        "def @main(%y: Tensor[(3), float32]) -> Tensor[(2), float32] {{\n{lines}  \
         let %z: Tensor[(2), float32] = %y;\n  %z\n}}\n"
    );
    assert_eq!(offered(&text), ["Declare it as `Tensor[(3), float32]`"]);
}
