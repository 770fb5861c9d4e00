//! What an edit costs: which queries run again, and what they take over.

use std::sync::Arc;

use relay_tests::corpus;
use semantics::{Database, SourceFile, all_defs, body, check_file, inference};
use syntax::{Edit, ParseLimits, TextRange};

fn edited(db: &mut Database, file: SourceFile, text: &mut String, at: usize, old: &str, new: &str) {
    assert!(text[at..].starts_with(old));
    let start = at as u32;
    let range = TextRange::new(start.into(), (start + old.len() as u32).into());
    let edit = Edit { range, insert: new.into() };
    edit.apply(text);
    let parse = file.parse(db).reparse(text, &edit, ParseLimits::default());
    db.set_parse(file, Arc::new(parse));
}

/// An edit in one statement lowers and infers that statement; all others are the very same.
#[test]
fn other_statements_are_taken_over() {
    let mut text = corpus::chain(1_000);
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    check_file(&db, file);
    let parts = |db: &Database| {
        let def = all_defs(db, file).nth(1).expect("a definition");
        (body(db, def), inference(db, def))
    };
    let before = parts(&db);
    for (old, new, inferred) in
        [("nn.relu", "qnn.relu", 502), ("qnn.relu", "nn.relu", 502), ("nn.relu", "sigmoid", 1)]
    {
        let before = parts(&db);
        let at = text[..text.len() / 2].rfind(old).expect("a call");
        edited(&mut db, file, &mut text, at, old, new);
        check_file(&db, file);
        let after = parts(&db);
        let lowered = after
            .0
            .units
            .iter()
            .filter(|new| !before.0.units.iter().any(|old| Arc::ptr_eq(old, new)))
            .count();
        let typed = after
            .1
            .units
            .iter()
            .filter(|new| !before.1.units.iter().any(|old| Arc::ptr_eq(old, new)))
            .count();
        assert_eq!((lowered, typed), (1, inferred), "{old} to {new}");
    }
    drop(before);
}
