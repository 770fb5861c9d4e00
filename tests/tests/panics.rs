//! Recovery from panics in queries.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use fastrand::Rng;
use relay_tests::{corpus, edits};
use semantics::{Database, SourceFile, check_file, types_in};
use syntax::ParseLimits;

fn assert_as_from_scratch(db: &Database, file: SourceFile, text: &str, what: &str) {
    let fresh = Database::new();
    let fresh_file = fresh.add_file(text, ParseLimits::default());
    assert_eq!(check_file(db, file), check_file(&fresh, fresh_file), "diagnostics {what}");
    assert_eq!(types_in(db, file), types_in(&fresh, fresh_file), "types {what}");
}

/// After a panic in any query, results for the same and the next text equal those of a fresh database.
#[test]
fn database_recovers_from_a_panic_in_any_query() {
    // The panics are intended.
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let result = catch_unwind(|| {
        let mut texts = corpus::examples();
        texts.push(("chain".into(), corpus::chain(40)));
        let mut panics = 0;
        for (name, original) in texts {
            let mut rng = Rng::with_seed(7);
            let (mut db, log) = Database::with_query_log();
            let file = db.add_file(&original, ParseLimits::default());
            check_file(&db, file);
            let queries = log.take().len().max(1);
            let mut text = original.clone();
            for step in 0..12 {
                // Either a new text, so that every query runs, or an edit, so that few do.
                if step % 3 == 0 {
                    db.set_text(file, "", ParseLimits::default());
                    check_file(&db, file);
                    text.clone_from(&original);
                    db.set_text(file, &text, ParseLimits::default());
                } else {
                    edits::random(&mut rng, &text).apply(&mut text);
                    db.set_text(file, &text, ParseLimits::default());
                }
                let most = if step % 3 == 0 { queries } else { 12 };
                log.panic_in(rng.usize(1..=most));
                let ended = catch_unwind(AssertUnwindSafe(|| check_file(&db, file)));
                log.panic_in(0);
                panics += usize::from(ended.is_err());
                if rng.bool() {
                    assert_as_from_scratch(&db, file, &text, &format!("of {name}, step {step}"));
                }
            }
        }
        panics
    });
    set_hook(hook);
    let panics = result.expect("equal results");
    assert!(panics > 50, "{panics} panics only");
}
