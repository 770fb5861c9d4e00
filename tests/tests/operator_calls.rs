//! A call of an operator without errors gives a value of exactly the inferred type, or fails with a reason.
//!
//! Random calls of all operators, see [`relay_tests::operator_calls`]. `RELAY_OPERATOR_CALLS` sets the number of
//! calls without errors, `RELAY_LAWS_SEED` the seed; `RELAY_OPERATOR_ONLY` restricts the test to operators,
//! separated by commas.

use std::collections::BTreeMap;

use operators::Operator;
use relay_tests::{
    notes::note,
    operator_calls::{Call, Outcome, Violation, callable, check_law, random, shrink},
    programs::tape::Tape,
    variables::number,
};

/// The maximal number of choices of a call.
const LENGTH: usize = 120;
/// The number of attempts to find a call of an operator that has no errors.
const ATTEMPTS: usize = 200;

/// The calls of a test.
struct Calls {
    rng: fastrand::Rng,
    rejected: u64,
}

impl Calls {
    /// Returns a call without errors, and how it ends. `None` if there is none among the attempts.
    fn next(&mut self, operator: &'static Operator) -> Option<(Call, Result<Outcome, Violation>)> {
        for _ in 0..ATTEMPTS {
            let choices: Vec<u16> = (0..LENGTH).map(|_| self.rng.u16(..)).collect();
            let Some(call) = random(operator, &mut Tape::new(&choices)) else { continue };
            match check_law(&call) {
                Ok(Outcome::Rejected) => self.rejected += 1,
                ended => return Some((call, ended)),
            }
        }
        None
    }
}

/// A test of the text of a call.
type Predicate = fn(&str) -> bool;

/// The features of calls that the generator is for, with a way to recognise them in the text.
const FEATURES: &[(&str, Predicate)] = &[
    ("a size of 0", |text| text.contains("(0, ") || text.contains(", 0)") || text.contains("[(0)")),
    ("a size of 1", |text| text.contains("(1, ") || text.contains(", 1)") || text.contains("[(1)")),
    ("an unknown size", |text| text.contains('?')),
    ("a negative number", |text| {
        text.contains("=-") || text.contains("[-") || text.contains(", -")
    }),
    ("a scalar", |text| text.contains(": float32") || text.contains(": int")),
    ("five axes", |text| text.split("), ").any(|ty| ty.matches(", ").count() >= 4)),
    ("a 64-bit attribute", |text| text.contains("i64]") || text.contains("i64,")),
    ("integers", |text| text.contains("), int8]") || text.contains("), uint64]")),
];

#[test]
fn values_have_the_inferred_types() {
    let only = std::env::var("RELAY_OPERATOR_ONLY").ok();
    let is_chosen =
        |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == name));
    let operators: Vec<_> = callable().filter(|operator| is_chosen(operator.name)).collect();
    assert!(!operators.is_empty(), "RELAY_OPERATOR_ONLY names no operator: {only:?}");
    let wanted = number("RELAY_OPERATOR_CALLS", 2_000);
    let rng = fastrand::Rng::with_seed(number("RELAY_LAWS_SEED", 7));
    note(&format!("{wanted} calls (RELAY_OPERATOR_CALLS)"));
    let mut calls = Calls { rng, rejected: 0 };
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    let mut features = vec![0u64; FEATURES.len()];
    // The number for each operator, and the smallest program.
    let mut wrong: BTreeMap<&str, (u64, String)> = BTreeMap::new();
    let mut count = 0;
    while count < wanted {
        for operator in &operators {
            let Some((call, ended)) = calls.next(operator) else {
                panic!("`{}`: no call of {ATTEMPTS} has no errors", operator.name);
            };
            count += 1;
            let text = call.text();
            for (feature, count) in FEATURES.iter().zip(&mut features) {
                *count += u64::from((feature.1)(&text));
            }
            let end = match ended {
                Ok(Outcome::Failed(kind)) => kind.code().name(),
                Ok(_) => "computed",
                Err(violation) => {
                    let entry = wrong.entry(operator.name).or_default();
                    entry.0 += 1;
                    if entry.1.is_empty() {
                        let (small, violation) = shrink(&call, &violation);
                        entry.1 = format!("{violation}:\n{}", small.text().trim());
                    }
                    "wrong"
                }
            };
            *ends.entry(end).or_default() += 1;
        }
    }
    println!(
        "{count} calls of {} operators: {ends:?}; {} rejected",
        operators.len(),
        calls.rejected
    );
    let report: Vec<String> = wrong
        .iter()
        .map(|(name, (count, program))| format!("{name} ({count} calls): {program}"))
        .collect();
    assert!(wrong.is_empty(), "{} operators:\n{}", wrong.len(), report.join("\n"));
    if only.is_none() {
        for ((feature, _), found) in FEATURES.iter().zip(features) {
            assert!(found * 100 >= count, "{found} of {count} calls have {feature}");
        }
    }
    let computed = ends.get("computed").copied().unwrap_or_default();
    assert!(computed * 5 >= count * 4, "{computed} of {count} calls are computed");
}

/// Calls follow from their choices alone, and differ.
#[test]
fn calls_are_reproducible() {
    let text = |operator, seed| {
        let mut rng = fastrand::Rng::with_seed(seed);
        let choices: Vec<u16> = (0..LENGTH).map(|_| rng.u16(..)).collect();
        random(operator, &mut Tape::new(&choices)).map(|call| call.text())
    };
    let operator = operators::find("nn.conv2d").expect("an operator");
    let once: Vec<_> = (0..200).filter_map(|seed| text(operator, seed)).collect();
    let again: Vec<_> = (0..200).filter_map(|seed| text(operator, seed)).collect();
    assert_eq!(once, again);
    let different: std::collections::BTreeSet<_> = once.iter().collect();
    assert!(different.len() * 2 > once.len(), "{} of {}", different.len(), once.len());
}
