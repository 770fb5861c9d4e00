use expect_test::{Expect, expect};

use crate::fixture::Fixture;

fn check(text: &str, new: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let (db, file, at) = (&fixture.db, fixture.file, fixture.cursor());
    let outcome = super::rename(db, file, at, new);
    let edits = outcome.unwrap_or_else(|reason| panic!("{new} is refused: {reason}"));
    expected.assert_eq(&crate::edit::apply_all(&fixture.text, &edits));
}

fn refused(text: &str, new: &str, expected: &str) {
    let fixture = Fixture::new(text);
    let outcome = super::rename(&fixture.db, fixture.file, fixture.cursor(), new);
    assert_eq!(outcome.err().as_deref(), Some(expected), "{new} in\n{text}");
}

#[test]
fn rename_local_with_or_without_sigil() {
    let text = "
def @main(%x$0: int32) {
  let %y = add(%x, %x);
  let %x = %y;
  add(%x, %y)
}
";
    for new in ["input", "%input"] {
        check(
            text,
            new,
            expect![[r#"
                def @main(%input: int32) {
                  let %y = add(%input, %input);
                  let %x = %y;
                  add(%x, %y)
                }
            "#]],
        );
    }
    refused(text, "@input", "`@input` is not a name for a local variable");
    refused(text, "1", "`%1` is the name of a graph variable; start the name with a letter");
    refused(text, "a b", "`a b` is not a name for a local variable");
}

#[test]
fn rename_that_captures_is_refused() {
    // The other binding would capture a use of `%y`.
    refused(
        "
def @main(%x: int32) {
  let %y$0 = 1;
  let %z = 2;
  add(%y, %z)
}
",
        "z",
        "`%z` is already bound on line 3, and `%y` on line 4 would refer to that binding",
    );
    // The renamed binding would capture a use of `%x`.
    refused(
        "
def @main(%x: int32) {
  let %y$0 = 1;
  add(%y, %x)
}
",
        "x",
        "`%x` on line 3 refers to the binding on line 1, but would refer to the renamed `%y`",
    );
    // Shadowing is allowed if the shadowed variable has no later use.
    check(
        "
def @main(%x: int32) {
  let %y$0 = add(%x, 1);
  add(%y, %y)
}
",
        "x",
        expect![[r#"
                def @main(%x: int32) {
                  let %x = add(%x, 1);
                  add(%x, %x)
                }
            "#]],
    );
    refused(
        "def @main(%x$0: int32, %y: int32) { 1 }\n",
        "y",
        "another parameter is already called `%y`",
    );
    // Inner functions and patterns.
    refused(
        "
def @main(%x$0: int32) {
  let %f = fn (%y: int32) { add(%x, %y) };
  %f(%x)
}
",
        "y",
        "`%y` is already bound on line 2, and `%x` on line 2 would refer to that binding",
    );
    refused(
        "
def @main(%x$0: int32) {
  add(%x, %unknown)
}
",
        "unknown",
        "`%unknown` on line 2 is undefined, but would refer to the renamed `%x`",
    );
}

#[test]
fn graph_variable_is_renamed_to_unused_number() {
    let text = "def @main(%x: int32) {\n  %0 = add(%x, %x);\n  %1 = add(%$00, %x);\n  %1\n}\ndef @g() {\n  %5 = 1;\n  %5\n}\n";
    refused(
        text,
        "5",
        "another function of this module has a `%5`, and TVM parses equal numbers as one variable",
    );
    check(
        text,
        "7",
        expect![[r#"
                def @main(%x: int32) {
                  %7 = add(%x, %x);
                  %1 = add(%7, %x);
                  %1
                }
                def @g() {
                  %5 = 1;
                  %5
                }
            "#]],
    );
    refused(text, "%1", "`%1` is already bound on line 3");
    refused(
        text,
        "%sum",
        "graph variables have numbers, as in `%7`; rewrite it as a `let` binding to name it `%sum`",
    );
}

#[test]
fn rename_globals_types_and_constructors() {
    let text = "
type Chain[A] { Link(A, Chain[A]), End }
def @ma$0in(%c: Chain[int32] /* ty=Chain[int32] */) -> int32 {
  match (%c) { Link(%x, _) => @main(End), End => 0 }
}
def @other() { @main(Link(1, End)) }
";
    check(
        text,
        "start",
        expect![[r#"
            type Chain[A] { Link(A, Chain[A]), End }
            def @start(%c: Chain[int32] /* ty=Chain[int32] */) -> int32 {
              match (%c) { Link(%x, _) => @start(End), End => 0 }
            }
            def @other() { @start(Link(1, End)) }
        "#]],
    );
    refused(text, "other", "`@other` is already defined on line 5");
    refused(text, "map", "`@map` is a function of the prelude, whose calls would be captured");
    let on = |what: &str| text.replace("$0", "").replacen(what, &format!("$0{what}"), 1);
    check(
        &on("Chain"),
        "List1",
        expect![[r#"
            type List1[A] { Link(A, List1[A]), End }
            def @main(%c: List1[int32] /* ty=List1[int32] */) -> int32 {
              match (%c) { Link(%x, _) => @main(End), End => 0 }
            }
            def @other() { @main(Link(1, End)) }
        "#]],
    );
    refused(&on("Chain"), "List", "`List` is already a type of the prelude");
    refused(&on("Chain"), "A", "`A` is already a type on line 1");
    check(
        &on("Link"),
        "Cell",
        expect![[r#"
            type Chain[A] { Cell(A, Chain[A]), End }
            def @main(%c: Chain[int32] /* ty=Chain[int32] */) -> int32 {
              match (%c) { Cell(%x, _) => @main(End), End => 0 }
            }
            def @other() { @main(Cell(1, End)) }
        "#]],
    );
    refused(&on("Link"), "add", "`add` is an operator, whose calls would be captured");
    refused(&on("Link"), "let", "`let` is a keyword");
    check(
        &on("A]"),
        "Elem",
        expect![[r#"
            type Chain[Elem] { Link(Elem, Chain[Elem]), End }
            def @main(%c: Chain[int32] /* ty=Chain[int32] */) -> int32 {
              match (%c) { Link(%x, _) => @main(End), End => 0 }
            }
            def @other() { @main(Link(1, End)) }
        "#]],
    );
    refused(&on("A]"), "Chain", "`Chain` is already a type on line 1");
    refused(&on("A]"), "float32", "`float32` is a built-in type");
}

#[test]
fn rename_of_builtin_is_refused() {
    refused(
        "def @main(%x: int32) { ad$0d(%x, %x) }",
        "sum",
        "`add` is an operator of Relay and cannot be renamed",
    );
    refused(
        "def @main(%x: List[int32]) { @le$0ngth(%x) }",
        "len",
        "`@length` belongs to the prelude and cannot be renamed",
    );
    refused(
        "def @main(%x: Li$0st[int32]) { %x }",
        "Seq",
        "`List` belongs to the prelude and cannot be renamed",
    );
    refused(
        "def @main(%x: int32) { cast(%x, dty$0pe=\"int8\") }",
        "d",
        "`dtype` is an attribute of `cast` and cannot be renamed",
    );
}

#[test]
fn rename_local_with_dots() {
    check(
        "def @main(%input.1: int32) {\n  %0 = add(%inp$0ut.1, %input.1);\n  %0\n}\n",
        "data",
        expect![[r#"
                def @main(%data: int32) {
                  %0 = add(%data, %data);
                  %0
                }
            "#]],
    );
}

/// Any rename of a variable to another name is refused or keeps all types and adds no error.
#[test]
fn every_rename_is_refused_or_keeps_types() {
    let texts = [
        "type T { C(int32, T), D }\ndef @f(%a: int32, %b: float32, %t: T) {\n  let %c = add(%a, 1);\n  let %g = fn (%a: float32) { let %b = (%a, %c); %b.0 };\n  %0 = %g(%b);\n  let %a = %0;\n  match? (%t) { C(%c, %b) => (%a, %b, %c), D => (%a, D, 1) }\n}\n",
        "def @f(%x: int32) {\n  let %x = (%x, 1f);\n  let %y = (%x, %x.0);\n  let %loop = fn (%n: int32) -> int32 { if (less(%n, 1)) { %n } else { %loop(subtract(%n, 1)) } };\n  (%loop(%x.0), %y)\n}\n",
    ];
    let analyze = |text: &str| {
        let db = semantics::Database::new();
        let file = db.add_file(text, syntax::ParseLimits::default());
        let types: Vec<String> =
            semantics::types_in(&db, file).iter().map(|at| at.ty.to_string()).collect();
        let errors: Vec<&str> = semantics::check_file(&db, file)
            .iter()
            .filter(|d| d.severity == semantics::Severity::Error)
            .map(|d| d.code.name())
            .collect();
        (types, errors)
    };
    let (mut done, mut refused) = (0, 0);
    for text in texts {
        let before = analyze(text);
        assert_eq!(before.1, [] as [&str; 0]);
        let db = semantics::Database::new();
        let file = db.add_file(text, syntax::ParseLimits::default());
        for at in (0..text.len()).filter(|&at| text.as_bytes()[at] == b'%') {
            for new in ["a", "b", "c", "g", "t", "x", "y", "n", "loop", "fresh", "3"] {
                let offset = syntax::TextSize::new(at as u32 + 1);
                match super::rename(&db, file, offset, new) {
                    Ok(edits) => {
                        let after = crate::edit::apply_all(text, &edits);
                        assert_eq!(analyze(&after), before, "{at} to {new}:\n{after}");
                        done += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(done > 100 && refused > 100, "{done} done, {refused} refused");
}
