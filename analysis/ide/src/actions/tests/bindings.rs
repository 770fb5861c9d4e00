//! Tests of the actions that convert, inline and extract bindings.

use expect_test::expect;

use super::check;

#[test]
fn graph_bindings_to_let() {
    check(
        "graph-to-let",
        "
def @main(%x: Tensor[(2, 2), float32]) {
  %0$0 = add(%x, %x) /* ty=Tensor[(2, 2), float32] */;
  %1 = add(nn.relu(%0) /* ty=Tensor[(2, 2), float32] */, (multiply(%0, %x), %x).0);
  add(tanh(%1), %1)
}
",
        expect![[r#"
            // Rewrite to `let` bindings (A-normal form)
            def @main(%x: Tensor[(2, 2), float32]) {
              let %x0 = add(%x, %x) /* ty=Tensor[(2, 2), float32] */;
              let %v = nn.relu(%x0) /* ty=Tensor[(2, 2), float32] */;
              let %v_1 = multiply(%x0, %x);
              let %v_2 = (%v_1, %x);
              let %v_3 = %v_2.0;
              let %x1 = add(%v, %v_3);
              let %v_4 = tanh(%x1);
              add(%v_4, %x1)
            }
        "#]],
    );
    check(
        "graph-to-let",
        "
def @main(%c: bool, %x: int32) {
  if (%c) {
    %0$0 = add(%x, 1);
    add(add(%0, %0), %x)
  } else { add(add(%x, 1), 2) }
}
",
        expect![[r#"
            // Rewrite to `let` bindings (A-normal form)
            def @main(%c: bool, %x: int32) {
              if (%c) {
                let %x0 = add(%x, 1);
                let %v = add(%x0, %x0);
                add(%v, %x)
              } else { let %v_1 = add(%x, 1); add(%v_1, 2) }
            }
        "#]],
    );
}

#[test]
fn let_to_graph_bindings() {
    check(
        "let-to-graph",
        "
def @main(%x: Tensor[(2, 2), float32]) {
  let %a$0: Tensor[(2, 2), float32] /* ty=Tensor[(2, 2), float32] */ = add(%x, %x);
  let %f = fn (%y: Tensor[(2, 2), float32]) { let %a = nn.relu(%y); %a };
  let %a = %f(%a);
  add(%a, %a)
}
",
        expect![[r#"
            // Rewrite `let` to graph bindings
            def @main(%x: Tensor[(2, 2), float32]) {
              %0 = add(%x, %x);
              let %f = fn (%y: Tensor[(2, 2), float32]) { %1 = nn.relu(%y); %1 };
              %2 = %f(%0);
              add(%2, %2)
            }
        "#]],
    );
    check(
        "let-to-graph",
        "
def @main(%x: int32) {
  let %r$0 = ref(%x);
  ref_read(%r)
}
",
        expect![[r#"
            // Rewrite `let` to graph bindings
            refused: graph bindings are evaluated on first use, which could change the order of effects, such as the reads and writes of references
        "#]],
    );
}

#[test]
fn inline_call_inserts_the_body_of_the_definition() {
    check(
        "inline-call",
        "
def @f(%a: int32, %b: int32) -> int32 {
  %0 = add(%a, %b);
  let %x = multiply(%0, %0);
  add(%x, %b)
}
def @main(%x: int32) {
  %0 = add(%x, 1);
  %1 = multiply(@f$0(%0, add(%x, 2)), %0);
  %1
}
",
        expect![[r#"
            // Inline this call of `@f`
            def @f(%a: int32, %b: int32) -> int32 {
              %0 = add(%a, %b);
              let %x = multiply(%0, %0);
              add(%x, %b)
            }
            def @main(%x: int32) {
              %0 = add(%x, 1);
              let %b: int32 = add(%x, 2);
              %2 = add(%0, %b);
              let %x_1 = multiply(%2, %2);
              %1 = multiply(add(%x_1, %b), %0);
              %1
            }
        "#]],
    );
    check(
        "inline-call",
        "
def @twice(%a: int32) -> int32 { %a + %a }
def @main(%x: int32) { %x * @twi$0ce(%x) }
",
        expect![[r#"
            // Inline this call of `@twice`
            def @twice(%a: int32) -> int32 { %a + %a }
            def @main(%x: int32) { %x * (%x + %x) }
        "#]],
    );
    check(
        "inline-call",
        "
def @f(%a: int32) -> int32 { @f(%a) }
def @main(%x: int32) { @f$0(%x) }
",
        expect![[r#"
            // not offered
            refused: `@f` is recursive
        "#]],
    );
}

#[test]
fn inline_variable_inserts_the_value() {
    check(
        "inline-variable",
        "
def @main(%x: int32) {
  let %y$0 = add(%x, 1);
  multiply(%y, %x)
}
",
        expect![[r#"
            // Inline `%y`
            def @main(%x: int32) {
              multiply(add(%x, 1), %x)
            }
        "#]],
    );
    check(
        "inline-variable",
        "
def @main(%x: int32) {
  %0$0 = %x + 1;
  %0 * %x
}
",
        expect![[r#"
            // Inline `%0`
            def @main(%x: int32) {
              (%x + 1) * %x
            }
        "#]],
    );
    check(
        "inline-variable",
        "
def @main(%x: int32) {
  let %y$0 = add(%x, 1);
  let %x = 2;
  multiply(%y, %x)
}
",
        expect![[r#"
            // Inline `%y`
            refused: `%x` is shadowed where `%y` is used
        "#]],
    );
    check(
        "inline-variable",
        "
def @main(%x: int32) {
  let %y$0 = add(%x, 1);
  fn () { %y }
}
",
        expect![[r#"
            // Inline `%y`
            refused: `%y` is used inside a function and would be computed on each call
        "#]],
    );
    check(
        "inline-variable",
        "
def @main(%x: int32) {
  let %y$0 = %x;
  multiply(%y, %y)
}
",
        expect![[r#"
            // Inline `%y`
            def @main(%x: int32) {
              multiply(%x, %x)
            }
        "#]],
    );
}

#[test]
fn extract_variable_binds_the_selection() {
    check(
        "extract-variable",
        "
def @main(%x: int32) {
  multiply($0add(%x, 1)$0, %x)
}
",
        expect![[r#"
            // Extract into a variable
            def @main(%x: int32) {
              let %value = add(%x, 1);
              multiply(%value, %x)
            }
        "#]],
    );
    check(
        "extract-variable",
        "
def @main(%x: int32) {
  %0 = multiply($0add(%x, 1) /* ty=int32 */$0, %x);
  %0
}
",
        expect![[r#"
            // Extract into a variable
            def @main(%x: int32) {
              %1 = add(%x, 1) /* ty=int32 */;
              %0 = multiply(%1, %x);
              %0
            }
        "#]],
    );
    check(
        "extract-variable",
        "def @main(%x: int32) { multiply($0add(%x, 1)$0, %x) }\n",
        expect![[r#"
            // Extract into a variable
            def @main(%x: int32) { let %value = add(%x, 1); multiply(%value, %x) }
        "#]],
    );
}

#[test]
fn extract_variable_keeps_the_parentheses_of_match() {
    check(
        "extract-variable",
        "
type T { A(int32), B }
def @main(%x: int32) {
  match $0(A(%x))$0 { A(%y) => %y, B => 0 }
}
",
        expect![[r#"
            // Extract into a variable
            type T { A(int32), B }
            def @main(%x: int32) {
              let %value = A(%x);
              match (%value) { A(%y) => %y, B => 0 }
            }
        "#]],
    );
}
