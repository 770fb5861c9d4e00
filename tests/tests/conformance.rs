//! Modules that TVM printed and rejected, if the corpus is present.

use std::collections::HashMap;

use relay_tests::corpus::{self, cases};
use semantics::{Database, Diagnostic, Severity, check_file, types_in};
use syntax::ParseLimits;

fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns the type in a comment; `None` if it has generated names.
fn stated(comment: &str) -> Option<String> {
    let inner = comment.strip_prefix("/*")?.strip_suffix("*/")?.trim();
    let ty = inner.strip_prefix("ty=")?;
    let ty = ty.split(" span=").next()?.trim();
    let states = !ty.contains("meta[") && !ty.contains("-malformed-ir");
    states.then(|| plain(ty))
}

/// Returns the type comments of a text: the end of the annotated expression, and the type.
fn claims(text: &str) -> Vec<(usize, String)> {
    let mut claims = Vec::new();
    let (mut at, mut end) = (0, 0);
    for (kind, until) in syntax::tokens(text) {
        let token = &text[at..usize::from(until)];
        match kind {
            syntax::SyntaxKind::BLOCK_COMMENT => claims.extend(stated(token).map(|ty| (end, ty))),
            kind if kind.is_trivia() => {}
            _ => end = usize::from(until),
        }
        at = usize::from(until);
    }
    claims
}

fn errors(found: &[Diagnostic]) -> Vec<&Diagnostic> {
    found.iter().filter(|d| d.severity == Severity::Error).collect()
}

/// Describes the first difference from the types that TVM printed.
fn wrong(text: &str, strict: bool) -> Option<String> {
    let mut db = Database::new();
    db.set_tvm(strict);
    let file = db.add_file(text, ParseLimits::default());
    let found = check_file(&db, file);
    if let Some(error) = errors(&found).first() {
        return Some(format!("{}: {}", error.code, error.message));
    }
    let mut types: HashMap<usize, Vec<String>> = HashMap::new();
    for at in types_in(&db, file) {
        types.entry(at.range.end().into()).or_default().push(plain(&at.ty.to_string()));
    }
    claims(text).into_iter().find_map(|(end, ty)| {
        let here = types.get(&end)?;
        (!here.contains(&ty)).then(|| format!("at {end}: {here:?}, not {ty}"))
    })
}

/// Asserts that the share of passing cases reaches a bar, and prints the failed ones.
fn bar(what: &str, total: usize, failed: &[String], least: f64) {
    let share = 100.0 * (total - failed.len()) as f64 / total.max(1) as f64;
    let shown: Vec<&str> = failed.iter().take(20).map(String::as_str).collect();
    eprintln!("{what}: {share:.2} % of {total}\n{}", shown.join("\n"));
    assert!(share >= least, "{what}: {share:.2} %, expected at least {least} %");
}

fn printed(file: &str, strict: bool, least: f64) {
    let Some(cases) = cases(file) else { return };
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|(id, text)| wrong(text, strict).map(|why| format!("{id}: {why}")))
        .collect();
    bar(file, cases.len(), &failed, least);
}

#[test]
fn modules_that_tvm_accepts() {
    printed("typed.jsonl", true, 99.5);
}

#[test]
fn modules_that_tvm_prints_but_rejects() {
    printed("printonly.jsonl", false, 97.0);
}

#[test]
fn networks_of_the_corpus() {
    let Some(models) = corpus::models() else { return };
    let failed: Vec<String> = models
        .iter()
        .filter_map(|(name, text)| wrong(text, false).map(|why| format!("{name}: {why}")))
        .collect();
    bar("models", models.len(), &failed, 100.0);
}

#[test]
fn modules_that_tvm_rejects() {
    let Some(cases) = cases("reject.jsonl") else { return };
    let accepted = |(id, text): &(String, String)| {
        let mut db = Database::new();
        db.set_tvm(true);
        let file = db.add_file(text, ParseLimits::default());
        errors(&check_file(&db, file)).is_empty().then(|| id.clone())
    };
    let failed: Vec<String> = cases.iter().filter_map(accepted).collect();
    bar("reject.jsonl", cases.len(), &failed, 99.0);
}

/// The tree of every text of the corpus contains every byte; those that TVM prints have no syntax
/// errors.
#[test]
fn trees_contain_every_byte() {
    for (name, text) in corpus::models().into_iter().flatten() {
        let parse = syntax::parse(&text);
        assert!(parse.green.to_string() == text, "{name}");
        let error = parse.errors.iter().find(|error| !error.kind.is_compat());
        assert!(error.is_none(), "{name}: {error:?}");
    }
    for file in ["typed.jsonl", "printonly.jsonl", "reject.jsonl"] {
        for (id, text) in cases(file).into_iter().flatten() {
            assert!(syntax::parse(&text).green.to_string() == text, "{id}");
        }
    }
}
