use expect_test::{Expect, expect};

use super::{Abilities, completions};
use crate::fixture::Fixture;

/// Checks the first `count` entries at `$0`: label, detail and inserted text.
fn check(text: &str, count: usize, expected: Expect) {
    let fixture = Fixture::new(text);
    let abilities = Abilities { snippets: true };
    let found = completions(&fixture.db, fixture.file, fixture.cursor(), abilities);
    let replaced = std::ops::Range::<usize>::from(found.replace);
    let mut out = format!("for `{}`\n", &fixture.text[replaced]);
    for item in found.items.iter().take(count) {
        out += &format!("{} | {}", item.label, item.detail.as_deref().unwrap_or("-"));
        if item.insert != item.label {
            out += &format!(" | {}", item.insert);
        }
        out.push('\n');
    }
    expected.assert_eq(&out);
}

#[test]
fn operators_match_prefix() {
    check(
        "def @main(%x: Tensor[(1, 3, 8, 8), float32]) {\n  nn.conv2d_t$0\n}\n",
        3,
        expect![[r#"
            for `nn.conv2d_t`
            nn.conv2d_transpose | nn.conv2d_transpose(%data, %weight, channels=None, kernel_size=None, strides=[1, 1], output_padding=[0, 0], padding=[0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="IOHW", out_layout="", out_dtype="") | nn.conv2d_transpose(${1:%data}, ${2:%weight})$0
        "#]],
    );
    check(
        "def @main(%x: Tensor[(1, 3, 8, 8), float32]) {\n  nn.$0\n}\n",
        2,
        expect![[r#"
            for `nn.`
            nn.conv2d | nn.conv2d(%data, %weight, strides=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1, channels=None, kernel_size=None, data_layout="NCHW", kernel_layout="OIHW", out_layout="", out_dtype="") | nn.conv2d(${1:%data}, ${2:%weight})$0
            nn.relu | nn.relu(%data) | nn.relu(${1:%data})$0
        "#]],
    );
}

#[test]
fn variables_of_matching_type_come_first() {
    check(
        "
def @main(%x: Tensor[(2, 3), float32], %i: int32, %n: Tensor[(5, 5), float32]) {
  %0 = nn.relu(%x);
  %1 = (%0, %x);
  add(%x, $0
}
",
        5,
        expect![[r#"
            for ``
            %0 | Tensor[(2, 3), float32]
            %x | Tensor[(2, 3), float32]
            %1 | (Tensor[(2, 3), float32], Tensor[(2, 3), float32])
            %i | int32
            %n | Tensor[(5, 5), float32]
        "#]],
    );
    check(
        "
def @f(%a: int32, %b: (int32, int32)) -> int32 { %a }
def @main(%x: int32, %t: (int32, int32)) {
  %0 = add(%x, %x);
  @f(%0, %$0)
}
",
        5,
        expect![[r#"
            for `%`
            %t | (int32, int32)
            %0 | int32
            %x | int32
        "#]],
    );
}

#[test]
fn binding_is_not_in_scope_in_its_own_value() {
    check(
        "def @main(%x: int32) {\n  let %y = add(%$0\n  let %z = %x;\n  %z\n}\n",
        5,
        expect![[r#"
        for `%`
        %x | int32
    "#]],
    );
    check(
        "def @main(%x: int32) {\n  %0 = add(%x, %x);\n  %1 = add(%0, %$0);\n  %1\n}\n",
        5,
        expect![[r#"
            for `%`
            %x | int32
            %0 | int32
        "#]],
    );
}

#[test]
fn attributes_and_their_values_are_completed() {
    check(
        "
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  nn.conv2d(%x, %w, strides=[1, 1], pad$0
}
",
        3,
        expect![[r#"
            for `pad`
            padding= | a list of dimensions such as [1, 1] = [0, 0] | padding=${1:[0, 0]}$0
            nn.pad | nn.pad(%data, %pad_val, pad_width, pad_mode="constant") | nn.pad(${1:%data}, ${2:%pad_val}, pad_width=${3:[[0, 0], [0, 0]]})$0
            dyn.nn.pad | dyn.nn.pad(%data, %pad_width, %pad_val, pad_width, pad_mode="constant") | dyn.nn.pad(${1:%data}, ${2:%pad_width}, ${3:%pad_val}, pad_width=${4:[[0, 0], [0, 0]]})$0
        "#]],
    );
    check(
        "
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  nn.conv2d(%x, %w, data_layout=\"N$0\")
}
",
        3,
        expect![[r#"
            for `N`
            NCHW | the default
            NHWC | -
            NCHW4c | -
        "#]],
    );
    check(
        "def @main(%x: Tensor[(2, 3), float32]) { cast(%x, dtype=$0) }\n",
        3,
        expect![[r#"
        for ``
        "float32" | -
        "int32" | -
        "int64" | -
    "#]],
    );
    check(
        "def @main(%x: Tensor[(2, 3), float32]) { sum(%x, keepdims=$0) }\n",
        3,
        expect![[r#"
        for ``
        False | the default
        True | -
    "#]],
    );
}

#[test]
fn types_shapes_and_patterns_are_completed() {
    check(
        "type Chain { Link(int32, Chain), End }\ndef @main(%x: $0) { %x }\n",
        4,
        expect![[r#"
        for ``
        Tensor | a tensor | Tensor[(${1:1, 3, 224, 224}), ${2:float32}]$0
        Chain | Chain[] | Chain[]$0
        float32 | -
        int32 | -
    "#]],
    );
    check(
        "def @main(%x: Tensor[($0), float32]) { %x }\n",
        2,
        expect![[r#"
        for ``
        (1, 3, 224, 224) | an image, channels first | (${1:1}, ${2:3}, ${3:224}, ${4:224})
        (1, 224, 224, 3) | an image, channels last | (${1:1}, ${2:224}, ${3:224}, ${4:3})
    "#]],
    );
    check(
        "def @main(%x: Tensor[(1, 2), fl$0]) { %x }\n",
        3,
        expect![[r#"
        for `fl`
        float32 | -
        float16 | -
        float64 | -
    "#]],
    );
    check(
        "
type Chain { Link(int32, Chain), End }
def @main(%c: Chain) -> int32 {
  match (%c) {
    End => 0,
    L$0
  }
}
",
        2,
        expect![[r#"
            for `L`
            Link | Chain[] | Link(${1:%x1}, ${2:%x2})$0
        "#]],
    );
}

#[test]
fn tuple_fields_and_globals_are_completed() {
    check(
        "def @main(%t: (int32, float32)) { %t.$0 }\n",
        3,
        expect![[r#"
        for ``
        0 | int32
        1 | float32
    "#]],
    );
    check(
        "def @main(%t: int32) { @ma$0 }\ndef @mate(%x: int32) { %x }\n",
        2,
        expect![[r#"
        for `@ma`
        @main | fn (int32) -> _ | @main(${1:%t})$0
        @mate | fn (int32) -> int32 | @mate(${1:%x})$0
    "#]],
    );
}

#[test]
fn keywords_depend_on_position() {
    check(
        "d$0",
        2,
        expect![[r#"
        for `d`
        def | a function | def @${1:main}(${2:%x}: ${3:Tensor[(1, 3, 224, 224), float32]}) {
          $0
        }
    "#]],
    );
    check(
        "def @main(%x: int32) {\n  le$0\n  %x\n}\n",
        1,
        expect![[r#"
            for `le`
            let | a binding | let ${1:%x} = ${2:value};
            $0
        "#]],
    );
    check(
        "def @main(%x: int32) {\n  // nothing $0 here\n  %x\n}\n",
        1,
        expect![[r#"
        for ``
    "#]],
    );
    check(
        "def @main(%x$0: int32) {\n  %x\n}\n",
        1,
        expect![[r#"
        for `%x`
    "#]],
    );
}

/// An editor closes the bracket, which the entry replaces.
#[test]
fn begun_version_header_is_completed() {
    for (text, replaced) in [
        ("#$0", "#"),
        ("#[$0]", "#[]"),
        ("#[ver$0]\ndef @main(%x: int32) { %x }\n", "#[ver]"),
        ("def @main(%x: int32) { %x }\n#[$0\n", "#["),
    ] {
        let fixture = Fixture::new(text);
        let abilities = Abilities { snippets: true };
        let found = completions(&fixture.db, fixture.file, fixture.cursor(), abilities);
        let labels: Vec<&str> = found.items.iter().map(|item| item.label.as_str()).collect();
        assert_eq!(labels, ["#[version = \"0.0.5\"]"], "{text}");
        assert_eq!(&fixture.text[std::ops::Range::<usize>::from(found.replace)], replaced);
    }
}

/// Completion and signature help do not panic at any offset of malformed texts.
#[test]
fn malformed_text_is_completed_at_every_offset() {
    let texts = [
        "def @main(%x: Tensor[(1, 2), float32]) { nn.conv2d(%x, \"a, [b=) => {] } match { %x.0. , ",
        "#[version = \"0.0.5\"]\ntype T[A] { C(A, T[A]), D }\ndef @f<t : Type>(%a: t) { let %b: = fn(%q) { %q }; é(%a) }",
        "}}}))]];;;,,,===>>><<<%%%@@@\"\"\"",
    ];
    for text in texts {
        let db = semantics::Database::new();
        let file = db.add_file(text, syntax::ParseLimits::default());
        for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
            let offset = syntax::TextSize::new(at as u32);
            let found = completions(&db, file, offset, Abilities { snippets: true });
            assert!(found.replace.end() >= found.replace.start());
            crate::signature::signature_help(&db, file, offset);
        }
    }
}

#[test]
fn empty_prefix_without_context_offers_common_operators_first() {
    let fixture = Fixture::new("def @main() {\n  $0\n}\n");
    let abilities = Abilities { snippets: true };
    let found = completions(&fixture.db, fixture.file, fixture.cursor(), abilities);
    let place = |name: &str| found.items.iter().position(|item| item.label == name);
    let names = found.items.iter().map(|item| item.label.as_str());
    let is_rare = |name: &str| name.starts_with("annotation.") || name.starts_with("vm.");
    let first_rare = names.clone().position(is_rare).unwrap_or(found.items.len());
    for common in ["add", "nn.conv2d", "nn.relu", "nn.dense", "nn.softmax", "reshape"] {
        let place = place(common).unwrap_or_else(|| panic!("no {common}"));
        assert!(place < first_rare, "{common} is at {place}, the first rare at {first_rare}");
    }
    assert!(
        place("add") < Some(10) && place("nn.conv2d") < Some(10) && place("nn.relu") < Some(10)
    );
}
