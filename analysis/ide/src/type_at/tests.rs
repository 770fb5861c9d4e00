//! Tests of the details of the type at the cursor.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::*;
use crate::fixture::Fixture;

fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let Some(info) = type_at(&fixture.db, fixture.file, fixture.cursor()) else {
        expected.assert_eq("nothing");
        return;
    };
    let text = |range: TextRange| &fixture.text[std::ops::Range::<usize>::from(range)];
    let mut out = format!("{} ({})\n{}\n", info.source, info.kind, info.lines.join("\n"));
    for tensor in &info.tensors {
        let amount = tensor.amount.as_deref().unwrap_or("open");
        writeln!(out, "-- {}: {} ({amount})", tensor.part, tensor.ty).unwrap();
        for axis in &tensor.axes {
            let letter = axis.letter.as_deref().unwrap_or("-");
            let step = |step: &Option<Step>| {
                step.as_ref().map(|step| format!(" <- {} [{}]", step.message(), text(step.range)))
            };
            let (source, origin) = (step(&axis.source), step(&axis.origin));
            let steps = source.into_iter().chain(origin).collect::<String>();
            writeln!(out, "{letter} {}{steps}", axis.size).unwrap();
        }
    }
    for variable in &info.context {
        writeln!(out, "{} : {} [{}]", variable.name, variable.ty, text(variable.range)).unwrap();
    }
    if let Some(expected) = &info.expected {
        writeln!(out, "expected at {}: {:?} {:?}", expected.place, expected.ty, expected.note)
            .unwrap();
    }
    expected.assert_eq(&out);
}

const CONVOLUTION: &str = "
def @main(%x: Tensor[(2, 3, 8, 8), float32], %w: Tensor[(16, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  let %y = transpose(%1, axes=[0, 2, 3, 1]);
  %y
}
";

fn convolution(at: &str, with: &str, expected: Expect) {
    let text = CONVOLUTION.replacen(at, with, 1);
    assert_ne!(text, CONVOLUTION, "{at}");
    check(&text, expected);
}

#[test]
fn binder_shows_origin_of_each_size() {
    convolution(
        "let %y",
        "let %y$0",
        expect![[r#"
        %y (`let` variable)
        Tensor[(2, 4, 4, 16), float32]
        -- : Tensor[(2, 4, 4, 16), float32] (512 elements, 2.0 KiB)
        N 2 <- axis 0 of `%x` is 2 [2]
        H 4 <- `nn.conv2d` computes 4 from 8 on axis 2 [nn.conv2d] <- axis 2 of `%x` is 8 [8]
        W 4 <- `nn.conv2d` computes 4 from 8 on axis 3 [nn.conv2d] <- axis 3 of `%x` is 8 [8]
        C 16 <- `channels` sets axis 1 to 16 [16]
        %1 : Tensor[(2, 16, 4, 4), float32] [%1]
    "#]],
    );
}

#[test]
fn argument_has_letters_of_layout() {
    convolution(
        "conv2d(%x, %w",
        "conv2d(%x, %w$0",
        expect![[r#"
        %w (parameter)
        Tensor[(16, 3, 3, 3), float32]
        -- : Tensor[(16, 3, 3, 3), float32] (432 elements, 1.7 KiB)
        O 16 <- axis 0 of `%w` is 16 [16]
        I 3 <- axis 1 of `%w` is 3 [3]
        H 3 <- axis 2 of `%w` is 3 [3]
        W 3 <- axis 3 of `%w` is 3 [3]
        expected at `weight` of `nn.conv2d`: Some("Tensor[(16, 3, 3, 3), float32]") Some("`(O, C / groups, KH, KW)`, or in the order of `kernel_layout`")
    "#]],
    );
}

#[test]
fn call_shows_variables_of_arguments() {
    convolution(
        "nn.conv2d",
        "nn.co$0nv2d",
        expect![[r#"
        nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], chan… (call of `nn.conv2d`)
        Tensor[(2, 16, 4, 4), float32]
        -- : Tensor[(2, 16, 4, 4), float32] (512 elements, 2.0 KiB)
        N 2 <- axis 0 of `%x` is 2 [2]
        C 16 <- `channels` sets axis 1 to 16 [16]
        H 4 <- `nn.conv2d` computes 4 from 8 on axis 2 [nn.conv2d] <- axis 2 of `%x` is 8 [8]
        W 4 <- `nn.conv2d` computes 4 from 8 on axis 3 [nn.conv2d] <- axis 3 of `%x` is 8 [8]
        %x : Tensor[(2, 3, 8, 8), float32] [%x]
        %w : Tensor[(16, 3, 3, 3), float32] [%w]
    "#]],
    );
}

#[test]
fn annotation_describes_its_parameter() {
    convolution(
        "%w: Tensor[(16",
        "%w: Tensor[($016",
        expect![[r#"
        %w (parameter)
        Tensor[(16, 3, 3, 3), float32]
        -- : Tensor[(16, 3, 3, 3), float32] (432 elements, 1.7 KiB)
        - 16 <- written at `%w` [16]
        - 3 <- written at `%w` [3]
        - 3 <- written at `%w` [3]
        - 3 <- written at `%w` [3]
    "#]],
    );
}

#[test]
fn function_shows_each_parameter() {
    check(
        "
def @f(%x: Tensor[(2, 3), float32], %p: (int32, Tensor[(4), float32])) -> Tensor[(2, 3), float32] {
  %x
}
def @main(%x: Tensor[(2, 3), float32], %p: (int32, Tensor[(4), float32])) {
  @f$0(%x, %p)
}
",
        expect![[r#"
            @f (function)
            fn (
              %x: Tensor[(2, 3), float32],
              %p: (int32, Tensor[(4), float32]),
            ) -> Tensor[(2, 3), float32]
            -- %x: Tensor[(2, 3), float32] (6 elements, 24 bytes)
            - 2 <- written at `%x` [2]
            - 3 <- written at `%x` [3]
            -- result: Tensor[(2, 3), float32] (6 elements, 24 bytes)
            - 2 <- axis 0 of `%x` is 2 [2]
            - 3 <- axis 1 of `%x` is 3 [3]
        "#]],
    );
    check(
        "
def @main(%x: Tensor[(2, 3), float32]) {
  let %f$0 = fn (%a: Tensor[(2, 3), float32], %b) { add(%a, %x) };
  %f(%x, 1)
}
",
        expect![[r#"
            %f (`let` variable)
            fn [t1](
              %a: Tensor[(2, 3), float32],
              %b: t1,
            ) -> Tensor[(2, 3), float32]
            -- %a: Tensor[(2, 3), float32] (6 elements, 24 bytes)
            - 2 <- written at `%a` [2]
            - 3 <- written at `%a` [3]
            -- result: Tensor[(2, 3), float32] (6 elements, 24 bytes)
            - 2 <- axis 0 of `%a` is 2 [2]
            - 3 <- axis 1 of `%a` is 3 [3]
            %x : Tensor[(2, 3), float32] [%x]
        "#]],
    );
}

#[test]
fn tuple_shows_each_field() {
    check(
        "
def @main(%x: Tensor[(?, 8), float32]) {
  %0 = nn.relu(%x);
  split$0(%0, indices_or_sections=2, axis=1)
}
",
        expect![[r#"
            split(%0, indices_or_sections=2, axis=1) (call of `split`)
            (
              0: Tensor[(?, 4), float32],
              1: Tensor[(?, 4), float32],
            )
            -- field 0: Tensor[(?, 4), float32] (open)
            - ? <- axis 0 of `%x` is ? [?]
            - 4 <- `split` computes 4 from 8 on axis 1 [split] <- axis 1 of `%x` is 8 [8]
            -- field 1: Tensor[(?, 4), float32] (open)
            - ? <- axis 0 of `%x` is ? [?]
            - 4 <- `split` computes 4 from 8 on axis 1 [split] <- axis 1 of `%x` is 8 [8]
            %0 : Tensor[(?, 8), float32] [%0]
        "#]],
    );
    check(
        "def @main(%p: (Tensor[(2), float32], (int32, bool))) { %p$0.1 }",
        expect![[r#"
            %p (parameter)
            (
              0: Tensor[(2), float32],
              1: (int32, bool),
            )
            -- field 0: Tensor[(2), float32] (2 elements, 8 bytes)
            - 2 <- axis 0 of field 0 of `%p` is 2 [%p]
        "#]],
    );
}

#[test]
fn context_determines_expected_type() {
    check(
        "def @main(%x: Tensor[(2, 8), float32]) { nn.dense(%x, $01f, units=4) }",
        expect![[r#"
            1f (number)
            float32
            -- : float32 (1 element, 4 bytes)
            expected at `weight` of `nn.dense`: Some("Tensor[(4, 8), float32]") Some("`(units, input_dim)`")
        "#]],
    );
    check(
        "def @main(%x: int32) -> int32 { if (equ$0al(%x, 1)) { 1 } else { 2 } }",
        expect![[r#"
        equal(%x, 1) (call of `equal`)
        bool
        -- : bool (1 element, 1 byte)
        %x : int32 [%x]
        expected at the condition of an `if`: Some("bool") None
    "#]],
    );
    check(
        "def @main(%x: int32) { Cons($0%x, Nil()) }",
        expect![[r#"
        %x (parameter)
        int32
        -- : int32 (1 element, 4 bytes)
        expected at field 0 of `Cons` of `List`: Some("A") None
    "#]],
    );
    check(
        "def @main() { let %y: int32 = 1$0; %y }",
        expect![[r#"
        1 (number)
        int32
        -- : int32 (1 element, 4 bytes)
        expected at the annotation of `%y`: Some("int32") None
    "#]],
    );
}

#[test]
fn no_type_outside_of_expressions() {
    check("def @main(%x: int32) $0{ %x }", expect!["nothing"]);
    check("type T { A, $0B }", expect!["nothing"]);
    check("// def $0", expect!["nothing"]);
}

/// A size is followed over a bounded number of expressions.
#[test]
fn long_chain_is_followed_partially() {
    let mut text = "def @main(%x: Tensor[(2, 8), float32]) {\n".to_owned();
    text += "  %0 = nn.relu(%x);\n";
    for number in 1..1000 {
        writeln!(text, "  %{number} = nn.relu(%{});", number - 1).unwrap();
    }
    text += "  add(%999, %$0999)\n}\n";
    let fixture = Fixture::new(&text.replace("%$0999", "%99$09"));
    let info = type_at(&fixture.db, fixture.file, fixture.cursor()).expect("a type");
    let source = info.tensors[0].axes[0].source.as_ref().expect("a source");
    assert!(source.message().starts_with("axis 0 of "), "{source:?}");
}
