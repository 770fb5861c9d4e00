//! One mistake causes few errors: changing one token of a text without errors causes more than five errors
//! in at most one of a thousand cases.
//!
//! The texts are those of this repository and, if present, the models of the conformance corpus.
//! `RELAY_CASCADES=200000` sets the number of changes for each kind of text, and prints more of the worst.

use std::collections::BTreeMap;

use fastrand::Rng;
use relay_tests::{
    corpus,
    fuzz::{Seeds, one_token},
    notes::note,
    variables,
};
use semantics::{Database, Severity, SourceFile, check_file};
use syntax::ParseLimits;

/// The largest number of errors that is not a cascade.
const FEW: usize = 5;
/// At most one in this number of changes may cause a cascade.
const ONE_IN: usize = 1000;
/// The length of the longest text. Longer ones take long, and do not reveal more.
const MAX_TEXT: usize = 300_000;

/// The codes of the errors in a text, in order.
fn errors(text: &str) -> Vec<&'static str> {
    let db = Database::new();
    errors_in(&db, db.add_file(text, ParseLimits::default()))
}

/// The codes of the errors in a file, in order.
fn errors_in(db: &Database, file: SourceFile) -> Vec<&'static str> {
    let found = check_file(db, file);
    found
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| found.code.name())
        .collect()
}

/// A change that causes a cascade.
struct Cascade {
    name: String,
    change: String,
    codes: Vec<&'static str>,
    text: String,
}

/// Changes a token of each text in turn; returns the cascades and the number of changes that cause
/// errors.
fn cascades(texts: &[(String, String)], changes: usize, seed: u64) -> (Vec<Cascade>, usize) {
    let mut rng = Rng::with_seed(seed);
    let (mut found, mut faults) = (Vec::new(), 0);
    // Each change is an edit: what it does not touch is not analysed again.
    let mut db = Database::new();
    let files: Vec<SourceFile> =
        texts.iter().map(|(_, text)| db.add_file(&**text, ParseLimits::default())).collect();
    for number in 0..changes {
        let at = number % texts.len();
        let (name, text) = &texts[at];
        let Some((text, change)) = one_token(&mut rng, text) else { continue };
        db.replace_text(files[at], &*text, ParseLimits::default());
        let codes = errors_in(&db, files[at]);
        faults += usize::from(!codes.is_empty());
        if codes.len() > FEW {
            found.push(Cascade { name: name.clone(), change, codes, text });
        }
    }
    (found, faults)
}

fn report(cascades: &[Cascade], shown: usize) -> String {
    let mut kinds: BTreeMap<String, Vec<&Cascade>> = BTreeMap::new();
    for cascade in cascades {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        cascade.codes.iter().for_each(|code| *counts.entry(code).or_default() += 1);
        let most = counts.iter().max_by_key(|(_, count)| **count).map_or("", |(code, _)| code);
        kinds.entry(most.to_owned()).or_default().push(cascade);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, cascades)| std::cmp::Reverse(cascades.len()));
    let mut report = String::new();
    for (code, cascades) in kinds {
        report += &format!("{} mostly of `{code}`:\n", cascades.len());
        for cascade in cascades.iter().take(shown) {
            let Cascade { name, change, codes, text } = cascade;
            report +=
                &format!("  {name}: {change}: {} errors, first {:?}\n", codes.len(), codes[0]);
            if text.len() < 700 {
                report += &format!("    {text:?}\n");
            }
        }
    }
    report
}

fn hold(what: &str, texts: &[(String, String)], changes: usize) {
    let chosen = variables::chosen("RELAY_CASCADES");
    let changes = chosen.unwrap_or(changes);
    note(&format!("{changes} changes of {what} (RELAY_CASCADES)"));
    let (found, faults) = cascades(texts, changes, 12);
    let rate = 100.0 * found.len() as f64 / changes as f64;
    println!("{what}: {} of {changes} changes ({rate:.3} %), {faults} with errors", found.len());
    let report = report(&found, if chosen.is_some() { 12 } else { 3 });
    println!("{report}");
    assert!(faults * 2 > changes, "too few changes cause errors: {faults} of {changes}");
    assert!(found.len() * ONE_IN <= changes, "{what}: {rate:.3} % of changes cascade\n{report}");
}

#[test]
fn changing_one_token_of_repository_texts_rarely_cascades() {
    let seeds = Seeds::of_repository().texts.into_iter();
    let sound = seeds.filter(|text| errors(text).is_empty());
    let texts: Vec<(String, String)> =
        sound.enumerate().map(|(number, text)| (format!("text {number}"), text)).collect();
    assert!(texts.len() > 300, "{} texts without errors", texts.len());
    hold("texts of the repository", &texts, 20_000);
}

#[test]
fn changing_one_token_of_models_rarely_cascades() {
    let Some(mut texts) = corpus::models() else { return };
    texts.retain(|(_, text)| text.len() < MAX_TEXT);
    hold("models", &texts, 2_000);
}

/// Returns a function of a statement with an unknown operator, and others that use the one before them each; but statement
/// `restart` does not, and statement `wrong` has an operand of the wrong shape.
fn sequence(restart: usize, wrong: usize) -> String {
    let mut text =
        String::from("def @main(%a: Tensor[(1, 64), float32], %b: Tensor[(3), float32]) {\n");
    for number in 0..400 {
        let before = number.max(1) - 1;
        let call = match number {
            0 => "qadd(%a, %a)".to_owned(),
            _ if number == restart => "nn.relu(%a)".to_owned(),
            _ if number == wrong => format!("add(%{before}, %b)"),
            _ => format!("add(%{before}, %a)"),
        };
        text.push_str(&format!("  %{number} = {call};\n"));
    }
    text + "  %399\n}\n"
}

/// The type of a call of an unknown operator is assumed. What depends on it through hundreds of statements has no errors
/// of its own, wherever these are in the chunks of the function, and what does not has.
#[test]
fn an_assumption_reaches_what_depends_on_it_in_a_long_function() {
    for restart in [1, 2, 31, 63, 64, 65, 100, 127, 128, 129, 200, 350] {
        for wrong in [3, 62, 63, 64, 65, 66, 130, 199, 201, 399] {
            if wrong == restart {
                continue;
            }
            let found = errors(&sequence(restart, wrong));
            let is_reported = restart < wrong;
            assert_eq!(found.len(), 1 + usize::from(is_reported), "{restart} {wrong}: {found:?}");
        }
    }
}
