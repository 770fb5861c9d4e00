//! The queries that ten kinds of edit execute, after a first request for everything.
//!
//! The lists are exact: an accidental dependency adds a query to an unrelated edit. Queries are counted by
//! name, because their number must not grow with the module.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use semantics::{Database, QueryLog, Settings, SourceFile, check_file, types_in};
use syntax::{Edit, ParseLimits, TextRange};

const MODULE: &str = r#"#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}
def @leaf(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  %0 = nn.relu(%x);
  add(%0, %x)
}
def @open(%x) {
  add(%x, 1f)
}
def @middle(%x: Tensor[(2, 3), float32]) {
  %0 = @leaf(%x);
  multiply(%0, meta[relay.Constant][0])
}
def @list(%x: Tensor[(2, 3), float32]) -> List[Tensor[(2, 3), float32]] {
  Cons(%x, Nil)
}
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = @middle(%x);
  tanh(%0)
}

#[metadata]
{
  "root": 1,
  "nodes": [{"type_key": ""}]
}
"#;

/// A database with a module, its log of queries, and memos of all results.
struct Session {
    db: Database,
    log: QueryLog,
    file: SourceFile,
    text: String,
}

impl Session {
    fn new() -> Session {
        let (db, log) = Database::with_query_log();
        let file = db.add_file(MODULE, ParseLimits::default());
        let session = Session { db, log, file, text: MODULE.to_owned() };
        session.executed();
        session
    }

    /// Requests diagnostics and types; returns the executed queries with their numbers.
    fn executed(&self) -> BTreeMap<String, usize> {
        check_file(&self.db, self.file);
        types_in(&self.db, self.file);
        let mut counts = BTreeMap::new();
        for query in self.log.take() {
            let name = query.split('(').next().unwrap_or_default().to_owned();
            *counts.entry(name).or_default() += 1;
        }
        counts
    }

    /// Replaces the first `old` after `context`.
    fn edit(&mut self, context: &str, old: &str, new: &str) {
        let from = self.text.find(context).expect("the context");
        let at = from + self.text[from..].find(old).expect("the text to replace");
        let range = TextRange::new((at as u32).into(), ((at + old.len()) as u32).into());
        let edit = Edit { range, insert: new.into() };
        edit.apply(&mut self.text);
        self.db.apply(self.file, &edit);
    }
}

/// Compares the queries that an edit executes with a list, and the results with those of a fresh database.
fn check(edit: impl FnOnce(&mut Session), expected: &Expect) {
    let mut session = Session::new();
    edit(&mut session);
    let counts = session.executed();
    let lines: Vec<String> =
        counts.iter().map(|(query, count)| format!("{query} {count}")).collect();
    expected.assert_eq(&lines.join(", "));
    // A repeated request executes nothing.
    assert!(session.executed().is_empty());

    let mut fresh = Database::new();
    fresh.set_rules(Settings::get(&session.db).rules(&session.db));
    let file = fresh.add_file(&session.text, ParseLimits::default());
    assert_eq!(check_file(&session.db, session.file), check_file(&fresh, file));
    assert_eq!(types_in(&session.db, session.file), types_in(&fresh, file));
}

#[test]
fn white_space_before_a_definition() {
    check(
        |s| s.edit("def @leaf", "def", "\n\n  def"),
        &expect![
            "check_file 1, file_context 1, modules 1, parsed 1, previous 1, releases_of_file 1, \
             tree 8"
        ],
    );
}

#[test]
fn white_space_in_a_body() {
    check(
        |s| s.edit("def @leaf", "%0 = nn", "%0  =  nn"),
        &expect![
            "body 1, check_file 1, file_context 1, findings_of 1, header 1, lowered 1, modules 1, \
             parsed 1, previous 1, releases_of_def 1, releases_of_file 1, tree 8"
        ],
    );
}

#[test]
fn comment_in_a_body() {
    check(
        |s| s.edit("def @leaf", "add(", "// A residual.\n  add("),
        &expect![
            "body 1, check_file 1, file_context 1, findings_of 1, header 1, lowered 1, modules 1, \
             parsed 1, previous 1, releases_of_def 1, releases_of_file 1, tree 8"
        ],
    );
}

#[test]
fn name_of_a_binding() {
    check(
        |s| {
            s.edit("def @main", "%0 =", "%made =");
            s.edit("def @main", "tanh(%0", "tanh(%made");
        },
        &expect![
            "base_inference 1, body 1, check_file 1, file_context 1, findings_of 1, global_uses 1, \
             header 1, lowered 1, modules 1, named 1, parsed 2, previous 1, releases_of_def 1, \
             releases_of_file 1, scopes 1, tree 8, tvm_types 1, unknown_results 1, \
             weak_cluster 1"
        ],
    );
}

#[test]
fn operand() {
    check(
        |s| s.edit("def @leaf", "add(%0, %x)", "add(%0, %0)"),
        &expect![
            "base_inference 1, base_type 1, body 1, check_file 1, file_context 1, findings_of 1, \
             global_uses 1, header 1, lowered 1, modules 1, named 1, parsed 1, previous 1, \
             releases_of_def 1, releases_of_file 1, scopes 1, tree 8, tvm_types 1"
        ],
    );
}

#[test]
fn header_of_a_used_function() {
    check(
        |s| s.edit("def @leaf", "-> Tensor[(2, 3), float32]", "-> Tensor[(2, 3), float16]"),
        &expect![
            "base_inference 2, base_type 2, body 1, check_file 1, closed_signature 1, \
             file_context 1, findings_of 2, group_of 1, groups 1, header 1, infer_from_below 1, \
             lowered 1, modules 1, named 1, parsed 1, previous 1, releases_of_def 1, \
             releases_of_file 1, scopes 1, signature 1, tree 8, tvm_types 2, \
             uses_open_globals 1, weak_cluster 1"
        ],
    );
}

#[test]
fn new_definition() {
    check(
        |s| s.edit("def @main", "def", "def @other(%y: int32) { %y }\ndef"),
        &expect![
            "base_inference 3, body 1, check_file 1, closed_signature 1, file_context 1, \
             findings_of 3, global_uses 1, group_members 2, group_of 4, groups 1, header 1, \
             infer_from_below 1, infer_group 1, lowered 1, metadata 1, module_scope 1, \
             module_types 1, modules 1, named 1, parsed 1, possible_releases 1, previous 1, \
             releases_of_def 1, releases_of_file 1, scopes 1, signature 1, tree 9, tvm_types 2, \
             type_scope 1, unknown_results 1, users 1, uses_open_globals 3, weak_cluster 1"
        ],
    );
}

#[test]
fn removed_definition() {
    check(
        |s| s.edit("def @open", "def @open(%x) {\n  add(%x, 1f)\n}\n", ""),
        &expect![
            "base_inference 2, check_file 1, file_context 1, findings_of 1, group_of 2, groups 1, \
             infer_from_below 1, metadata 1, module_scope 1, module_types 1, modules 1, parsed 1, \
             possible_releases 1, previous 1, releases_of_file 1, tree 7, tvm_types 1, \
             type_scope 1, unknown_results 1, uses_open_globals 2, weak_cluster 1"
        ],
    );
}

#[test]
fn type_declaration() {
    check(
        |s| s.edit("type List", "  Nil,", "  Nil,\n  Last(A),"),
        &expect![
            "base_inference 4, check_file 1, file_context 1, findings_of 6, infer_group 1, \
             module_types 1, modules 1, parsed 1, previous 1, releases_of_file 1, tree 8, \
             tvm_types 2, type_def 1"
        ],
    );
}

#[test]
fn metadata_section() {
    check(
        |s| s.edit("#[metadata]", "\"root\": 1", "\"root\": 0"),
        &expect![
            "base_inference 4, check_file 1, file_context 1, findings_of 5, infer_group 1, \
             metadata 1, modules 1, parsed 1, possible_releases 1, previous 1, \
             releases_of_file 1, tree 8, tvm_types 2"
        ],
    );
}

#[test]
fn settings() {
    check(
        |s| s.db.set_tvm(true),
        &expect!["base_inference 4, check_file 1, findings_of 5, release 1, tvm_types 5"],
    );
}

/// When the server is idle, results become earlier ones: a revision, but none if there are no new ones.
#[test]
fn idle() {
    check(|s| s.db.free_replaced(), &expect!["previous 1"]);
    check(
        |s| {
            s.db.free_replaced();
            s.executed();
            s.db.free_replaced();
        },
        &expect![""],
    );
}
