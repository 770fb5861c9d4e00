mod bindings;
mod effects;

use expect_test::{Expect, expect};
use syntax::{TextRange, TextSize};

use super::{actions, resolve};

/// Returns the title of an action if it is offered, and the text after it or the reason for which it is
/// refused. `$0` marks the cursor, two of them a selection.
fn run(id: &str, text: &str) -> (Option<String>, Result<String, String>) {
    let parts: Vec<&str> = text.trim_start_matches('\n').split("$0").collect();
    let clean = parts.concat();
    let start = TextSize::of(parts[0]);
    let end = if parts.len() > 2 { start + TextSize::of(parts[1]) } else { start };
    let db = semantics::Database::new();
    let file = db.add_file(&clean, syntax::ParseLimits::default());
    let range = TextRange::new(start, end);
    let offered = actions(&db, file, range).into_iter().find(|action| action.id == id);
    let edits = resolve(&db, file, range, id);
    let text = edits.map(|edits| crate::edit::apply_all(&clean, &edits));
    (offered.map(|action| action.title), text)
}

/// Checks the title of an action, and the text after it or the reason for which it is refused.
fn check(id: &str, text: &str, expected: Expect) {
    let (title, text) = run(id, text);
    let title = title.unwrap_or_else(|| "not offered".to_owned());
    let outcome = text.unwrap_or_else(|reason| format!("refused: {reason}\n"));
    expected.assert_eq(&format!("// {title}\n{outcome}"));
}

#[test]
fn write_type_annotates_the_name_at_the_cursor() {
    check(
        "write-type",
        "
def @main(%x: Tensor[(2, 3), float32]) {
  let $0%y = nn.relu(%x);
  %y
}
",
        expect![[r#"
            // Write the type `Tensor[(2, 3), float32]`
            def @main(%x: Tensor[(2, 3), float32]) {
              let %y: Tensor[(2, 3), float32] = nn.relu(%x);
              %y
            }
        "#]],
    );
    check(
        "write-type",
        "
def @ma$0in(%x: Tensor[(2, 3), float32]) {
  nn.relu(%x)
}
",
        expect![[r#"
            // Write the type `Tensor[(2, 3), float32]`
            def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
              nn.relu(%x)
            }
        "#]],
    );
    check(
        "write-type",
        "
type Pair { P(int32, float32) }
def @main(%p: Pair) -> int32 {
  match (%p) { P(%a$0, _) => %a }
}
",
        expect![[r#"
            // Write the type `int32`
            type Pair { P(int32, float32) }
            def @main(%p: Pair) -> int32 {
              match (%p) { P(%a: int32, _) => %a }
            }
        "#]],
    );
    check(
        "write-type",
        "
def @main(%x: Tensor[(2, 3), float32]) {
  let $0%r = ref(%x);
  ref_read(%r)
}
",
        expect![[r#"
            // not offered
            refused: no type can be inserted here
        "#]],
    );
}

/// The name of a type parameter is written only where it means that parameter.
#[test]
fn write_type_uses_the_type_parameters_in_scope() {
    check(
        "write-type",
        "
def @main[T](%x: T) -> T {
  let %f = fn [A](%a: A) { let %b$0 = (%a, %x); %a };
  %f(%x)
}
",
        expect![[r#"
            // Write the type `(A, T)`
            def @main[T](%x: T) -> T {
              let %f = fn [A](%a: A) { let %b: (A, T) = (%a, %x); %a };
              %f(%x)
            }
        "#]],
    );
    check(
        "write-type",
        "
def @main[T](%x: T) -> T {
  let %f = fn [T](%a: T) { let %b$0 = (%a, %x); %a };
  %f(%x)
}
",
        expect![[r#"
            // not offered
            refused: no type can be inserted here
        "#]],
    );
}

#[test]
fn write_all_types_annotates_every_binder_and_result() {
    check(
        "write-all-types",
        "
def @main(%x: int32) {
  let %y = add(%x, %x);$0
  let %f = fn (%a: int32) { add(%a, %y) };
  %f(%y)
}
def @other() { 1f }
",
        expect![[r#"
            // Write all inferred types
            def @main(%x: int32) -> int32 {
              let %y: int32 = add(%x, %x);
              let %f: fn (int32) -> int32 = fn (%a: int32) { add(%a, %y) };
              %f(%y)
            }
            def @other() -> float32 { 1f }
        "#]],
    );
}

#[test]
fn fill_arms_adds_missing_arms() {
    check(
        "fill-arms",
        "
type Chain { Link(int32, Chain), End }
def @main(%c: Chain) -> int32 {
  mat$0ch (%c) {
    Link(%x, _) => %x,
  }
}
",
        expect![[r#"
            // Add an arm for `End`
            type Chain { Link(int32, Chain), End }
            def @main(%c: Chain) -> int32 {
              match (%c) {
                Link(%x, _) => %x,
                End => 0,
              }
            }
        "#]],
    );
    check(
        "fill-arms",
        r#"
type T { A, B, C }
def @main(%c: T) -> Tensor[(2, 2), float32] { mat$0ch (%c) { A => ones(shape=[2, 2], dtype="float32") } }
"#,
        expect![[r#"
            // Add 2 arms
            type T { A, B, C }
            def @main(%c: T) -> Tensor[(2, 2), float32] { match (%c) { A => ones(shape=[2, 2], dtype="float32"), B => zeros(shape=[2, 2], dtype="float32"), C => zeros(shape=[2, 2], dtype="float32") } }
        "#]],
    );
    check(
        "fill-arms",
        "
type T { A, B, C }
def @main(%c: T) -> (int32, bool) {
  match (%c) {
    A => (1, $0True) // pair
  }
}
",
        expect![[r#"
            // Add 2 arms
            type T { A, B, C }
            def @main(%c: T) -> (int32, bool) {
              match (%c) {
                A => (1, True), // pair
                B => (0, False),
                C => (0, False),
              }
            }
        "#]],
    );
}

#[test]
fn extract_definition_moves_the_selection() {
    check(
        "extract-definition",
        "
def @main(%x: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32]) {
  %0 = nn.relu(%x);
  add($0multiply(%0, %w)$0, %0)
}
",
        expect![[r#"
            // Extract into a definition
            def @main(%x: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32]) {
              %0 = nn.relu(%x);
              add(@extracted(%0, %w), %0)
            }

            def @extracted(%x0: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] {
              multiply(%x0, %w)
            }
        "#]],
    );
    check(
        "extract-definition",
        "
def @main(%x: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32]) {
  %0 = nn.relu(%x);
  $0%1 = add(%0, %w);
  %2 = nn.relu(%1);$0
  multiply(%2, %0)
} // end
",
        expect![[r#"
            // Extract into a definition
            def @main(%x: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32]) {
              %0 = nn.relu(%x);
              %2 = @extracted(%0, %w);
              multiply(%2, %0)
            } // end

            def @extracted(%x0: Tensor[(2, 2), float32], %w: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] {
              %1 = add(%x0, %w);
              %3 = nn.relu(%1);
              %3
            }
        "#]],
    );
    check(
        "extract-definition",
        "
def @main(%x: int32) {
  $0let %a = add(%x, 1);
  let %b = add(%a, 2);$0
  multiply(%a, %b)
}
",
        expect![[r#"
            // Extract into a definition
            def @main(%x: int32) {
              let %extracted = @extracted(%x);
              let %a = %extracted.0;
              let %b = %extracted.1;
              multiply(%a, %b)
            }

            def @extracted(%x: int32) -> (int32, int32) {
              let %a = add(%x, 1);
              let %b = add(%a, 2);
              (%a, %b)
            }
        "#]],
    );
    check(
        "extract-definition",
        "
def @main[A](%x: A) -> (A, A) {
  let %y = $0(%x, %x)$0;
  %y
}
",
        expect![[r#"
            // Extract into a definition
            refused: the type of `%x` depends on a type parameter of this definition
        "#]],
    );
}

#[test]
fn calls_and_infix_expressions_convert() {
    for (id, before, title, after) in [
        ("to-infix", "ad$0d(%x, %x + 1)", "Rewrite with `+`", Ok("%x + (%x + 1)")),
        ("to-infix", "%x * su$0btract(%x, -1)", "Rewrite with `-`", Ok("%x * (%x - (-1))")),
        (
            "to-infix",
            "ad$0d(%x /* a */, 1 /* ty=int32 */)",
            "Rewrite with `+`",
            Ok("%x /* a */ + (1 /* ty=int32 */)"),
        ),
        (
            "to-infix",
            "ad$0d(/* lost */ %x, 1)",
            "Rewrite with `+`",
            Err("a comment between the arguments would be lost"),
        ),
        (
            "to-call",
            "(%x + 1) $0* %x",
            "Rewrite as a call of `multiply`",
            Ok("multiply(%x + 1, %x)"),
        ),
        ("to-call", "%x $0< 3", "Rewrite as a call of `less`", Ok("less(%x, 3)")),
    ] {
        let with_value = |value: &str| format!("def @main(%x: int32) {{ {value} }}");
        let (offered, outcome) = run(id, &with_value(before));
        assert_eq!(offered.as_deref(), Some(title), "{before}");
        assert_eq!(outcome, after.map(with_value).map_err(str::to_owned));
    }
}

#[test]
fn unused_bindings_are_removed() {
    check(
        "remove-unused",
        "
def @main(%x: int32) {
  let %y$0 = add(%x, 1);
  // stays
  %x
}
",
        expect![[r#"
            // Remove `%y`
            def @main(%x: int32) {
              // stays
              %x
            }
        "#]],
    );
    check(
        "remove-all-unused",
        "
def @main(%x: int32) {
  %0 = add(%x, 1);$0
  %1 = add(%0, 1); // stays
  let %_kept = 1;
  let %r = ref(%x);
  let %w = ref_write(%r, 2);
  %x
}
def @g(%x: int32) { let %z = 1; %x }
",
        expect![[r#"
            // Remove all unused bindings
            def @main(%x: int32) {
              // stays
              let %_kept = 1;
              let %r = ref(%x);
              let %w = ref_write(%r, 2);
              %x
            }
            def @g(%x: int32) { %x }
        "#]],
    );
}

#[test]
fn file_actions_change_the_whole_file() {
    check(
        "add-version",
        "def @main(%x: int32) {$0 %x }\n",
        expect![[r#"
        // Add the version header
        #[version = "0.0.5"]
        def @main(%x: int32) { %x }
    "#]],
    );
    check(
        "to-tvm",
        "
def @main(%x: float32) {$0 %0 = mul(%x, %x)
 %0 }
",
        expect![[r#"
            // Convert the file to TVM's text format
            #[version = "0.0.5"]
            def @main(%x: float32) { %0 = multiply(%x, %x);
             %0 }
        "#]],
    );
    check(
        "fix-all",
        r#"
#[version = "0.0.5"]
def @main(%x: int32 /* ty=int64 */) -> int32 {$0 sub(%x, %x) }
"#,
        expect![[r#"
            // Fix all auto-fixable problems
            #[version = "0.0.5"]
            def @main(%x: int32 /* ty=int32 */) -> int32 { subtract(%x, %x) }
        "#]],
    );
}

/// Removing the annotation of `let %bad: bool = 1f` would remove the error too.
#[test]
fn rewrites_do_not_hide_errors() {
    check(
        "let-to-graph",
        "
def @main() {
  let $0%bad: bool = 1f;
  %bad
}
",
        expect![[r#"
            // Rewrite `let` to graph bindings
            refused: this would hide an error; fix it first: `%bad` is declared as `bool`, but its value is `float32`
        "#]],
    );
    check(
        "inline-variable",
        "
def @main(%x: float32) {
  let $0%y: Real = %x;
  add(%y, %x)
}
",
        expect![[r#"
            // Inline `%y`
            refused: this would hide an error; fix it first: there is no type `Real`
        "#]],
    );
}

/// The uses of `%x` choose different data types, those of `%y` the same one.
#[test]
fn literal_type_is_written_if_all_uses_agree() {
    check(
        "write-all-types",
        "
def $0@main() {
  let %x = 1;
  let %y = 2;
  (add(%x, 1f), add(%x, 1i64), add(%y, 1f))
}
",
        expect![[r#"
            // Write all inferred types
            def @main() -> (float32, int64, float32) {
              let %x = 1;
              let %y: float32 = 2;
              (add(%x, 1f), add(%x, 1i64), add(%y, 1f))
            }
        "#]],
    );
}

/// Writing the type of `@main` changes the TVM findings, which `Level::Written` allows.
#[test]
fn types_are_written_in_modules_that_tvm_rejects() {
    check(
        "write-all-types",
        "
def $0@f(%n, %v) { if (%n <= 0) { %v } else { @f(%n - 1, %v) } }
def @main() { (@f(0, @f(0, (0f, 0i32)).0), 1) }
",
        expect![[r#"
            // Write all inferred types
            def @f(%n, %v) { if (%n <= 0) { %v } else { @f(%n - 1, %v) } }
            def @main() -> (float32, int32) { (@f(0, @f(0, (0f, 0i32)).0), 1) }
        "#]],
    );
}

/// Every action at every offset passes the check or is refused with a reason, and none panics.
#[test]
fn every_action_at_every_offset_resolves_or_is_refused() {
    let texts = [
        "#[version = \"0.0.5\"]\ntype T[A] { C(A, T[A]), D }\ndef @f(%c: T[int32], %x: int32) -> int32 {\n  %0 = add(%x, 1);\n  let %g = fn (%y: int32) { add(%y, %0) };\n  match? (%c) { C(%h, _) => %g(%h + %0) }\n}\ndef @main(%x: int32) { @f(D, add(%x, %x)) }\n",
        "def @main(%x: int32) {\n  %0 = add(%x, ;\n  let = 3;\n  match (%x) { \n}\n",
        "let %x = 1; (%x, %x + 2)",
        "",
    ];
    for text in texts {
        let db = semantics::Database::new();
        let file = db.add_file(text, syntax::ParseLimits::default());
        for start in 0..=text.len() {
            for len in [0, 3, 9, 30] {
                let end = (start + len).min(text.len());
                let size = |at: usize| TextSize::new(at as u32);
                let range = TextRange::new(size(start), size(end));
                for action in actions(&db, file, range) {
                    // An offered action may still fail the check.
                    if let Err(reason) = resolve(&db, file, range, action.id) {
                        assert!(!reason.is_empty(), "{}", action.id);
                    }
                }
            }
        }
    }
}

#[test]
fn check_rejects_edits_that_change_errors_or_types() {
    let text =
        "#[version = \"0.0.5\"]\ndef @main(%x: int32) -> int32 { add(%x, 1) }\ndef @g() { 1 }\n";
    let db = semantics::Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let context = super::Context::new(&db, file, TextRange::empty(TextSize::new(0)));
    let change = |from: &str, to: &str| {
        let start = TextSize::new(text.find(from).expect("the text occurs") as u32);
        let edits = vec![(TextRange::at(start, TextSize::of(from)), to.to_owned())];
        super::check::check(&context, &edits, super::check::Level::Types).err()
    };
    assert_eq!(change("add(%x, 1)", "%x"), None);
    expect!["this would introduce an error: there is no variable `%y` here"]
        .assert_eq(&change("%x, 1", "%y, 1").unwrap_or_default());
    expect!["this would give `@g` the type `fn () -> float32` instead of `fn () -> int32`"]
        .assert_eq(&change("{ 1 }", "{ 1f }").unwrap_or_default());
    expect!["this would introduce an error: TVM reads a `-` directly before a number as its sign"]
        .assert_eq(&change("add(%x, 1)", "%x -1").unwrap_or_default());
}
