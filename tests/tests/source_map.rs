//! Laws of source maps: bodies do not depend on white space, and ranges lead back to their expressions.

use std::sync::Arc;

use relay_tests::mdtest;
use semantics::{Database, DefKind, SourceFile, View, all_defs, body::Body};
use syntax::{ParseLimits, SyntaxKind};

/// Returns the bodies of a file.
fn bodies(db: &Database, file: SourceFile) -> Vec<Arc<Body>> {
    all_defs(db, file).map(|def| semantics::body(db, def)).collect()
}

/// Returns the views of the functions and expressions of a file.
fn views(db: &Database, file: SourceFile) -> impl Iterator<Item = View<'_>> {
    all_defs(db, file).filter_map(|def| View::new(db, def))
}

/// Repeats all white space, with a line comment after each line break.
fn respaced(text: &str) -> String {
    let mut start = 0;
    let mut respaced = String::new();
    for (kind, end) in syntax::tokens(text) {
        let token = &text[start..usize::from(end)];
        start = usize::from(end);
        respaced += token;
        if kind == SyntaxKind::WHITESPACE {
            respaced += if token.contains('\n') { "// a comment\n" } else { "" };
            respaced += token;
        }
    }
    respaced
}

/// Other white space changes the source maps alone: the bodies are equal, and they are those of the
/// version before it.
#[test]
fn white_space_changes_no_body() {
    let mut count = 0;
    for (name, text) in mdtest::texts() {
        let mut db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        // TIR is skipped by a heuristic on its text.
        if all_defs(&db, file).any(|def| def.kind(&db) == DefKind::Tir) {
            continue;
        }
        let before = bodies(&db, file);
        db.replace_text(file, respaced(&text), ParseLimits::default());
        let after = bodies(&db, file);
        assert!(before == after, "{name}:\n{}", respaced(&text));
        let scratch = Database::new();
        let file = scratch.add_file(respaced(&text), ParseLimits::default());
        assert_eq!(before, bodies(&scratch, file), "{name}:\n{text}");
        count += before.len();
    }
    // Those of the examples and the markdown tests, which are always present.
    assert!(count > 800, "{count} bodies");
}

/// The expression of a node's range has that range, and the innermost expression around a range is
/// inside of it or equal to it.
#[test]
fn ranges_lead_to_their_expressions() {
    for (name, text) in mdtest::texts() {
        let db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        for view in views(&db, file) {
            for (unit, _) in view.body.units() {
                for (expr_ref, _, _) in view.exprs(unit) {
                    let range = view.source.expr(unit, expr_ref.expr);
                    let found = view.source.expr_of(&view.body, range);
                    let found = found.map(|found| view.source.expr(found.unit, found.expr));
                    assert_eq!(found, Some(range), "{name}:\n{text}");
                    let inner = view.source.expr_around(&view.body, range);
                    let inner = inner.map(|inner| view.source.expr(inner.unit, inner.expr));
                    assert!(inner.is_some_and(|inner| inner.contains_range(range)), "{name}");
                }
            }
        }
    }
}
