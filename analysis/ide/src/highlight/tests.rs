use std::sync::Arc;

use expect_test::{Expect, expect};
use syntax::{Edit, TextRange};

use super::*;
use crate::fixture::Fixture;

fn render(fixture: &Fixture, words: &Highlights) -> String {
    let mut out = String::new();
    for word in words.iter() {
        let text = &fixture.text[std::ops::Range::<usize>::from(word.range)];
        let names = ["declaration", "definition", "readonly", "prelude", "shadowed", "unused"];
        let bits = names.iter().enumerate().filter(|(bit, _)| word.modifiers & (1 << bit) != 0);
        let bits: String = bits.map(|(_, name)| format!(" {name}")).collect();
        out += &format!("{text}  {:?}{bits}\n", word.kind);
    }
    out
}

fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let words = highlight(&fixture.db, fixture.file, None);
    expected.assert_eq(&render(&fixture, &words));
}

#[test]
fn variables_have_modifiers() {
    check(
        "
def @main(%x: int32, %input.1: int32, %w: int32) -> int32 {
  let %y = meta[relay.Constant][0];
  let %y = add(%x, %y);
  %0 = (%y, %input.1);
  let %_q = %0.1;
  %y
}
",
        expect![[r#"
                def  Keyword
                @main  Function definition
                %x  Parameter declaration
                int32  Type prelude
                %input.1  Parameter declaration
                int32  Type prelude
                %w  Parameter declaration unused
                int32  Type prelude
                int32  Type prelude
                let  Keyword
                %y  Variable declaration readonly shadowed
                meta[relay.Constant][0]  Meta
                let  Keyword
                %y  Variable declaration
                add  Operator
                %x  Parameter
                %y  Variable readonly shadowed
                %0  Variable declaration
                %y  Variable
                %input.1  Parameter
                let  Keyword
                %_q  Variable declaration
                %0  Variable
                1  Number
                %y  Variable
            "#]],
    );
}

#[test]
fn types_and_constructors_are_highlighted() {
    check(
        "
// Two
type Pair[A] { P(A, List[A]) }
def @f<s : Shape, b : BaseType>(%x: Tensor[s, b], %p: Pair[int32]) {
  match (%p) { P(%a, Cons(_, _)) => @hd(Cons(%a + 1, Nil)), /* a
    b */
    _ => fn[B](%q: B) -> B { %q }(2) }
}
",
        expect![[r#"
                // Two  Comment
                type  Keyword
                Pair  Type definition
                A  TypeParameter declaration
                P  Constructor definition
                A  TypeParameter
                List  Type prelude
                A  TypeParameter
                def  Keyword
                @f  Function definition
                s  TypeParameter declaration
                Shape  Type prelude
                b  TypeParameter declaration
                BaseType  Type prelude
                %x  Parameter declaration unused
                Tensor  Type prelude
                s  TypeParameter
                b  TypeParameter
                %p  Parameter declaration
                Pair  Type
                int32  Type prelude
                match  Keyword
                %p  Parameter
                P  Constructor
                %a  Variable declaration
                Cons  Constructor prelude
                @hd  Function prelude
                Cons  Constructor prelude
                %a  Variable
                +  Operator
                1  Number
                Nil  Constructor prelude
                /* a  Comment
                    b */  Comment
                fn  Keyword
                B  TypeParameter declaration
                %q  Parameter declaration
                B  TypeParameter
                B  TypeParameter
                %q  Parameter
                2  Number
            "#]],
    );
}

#[test]
fn attributes_strings_and_malformed_code_are_highlighted() {
    check(
        "
#[version = \"0.0.5\"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], Primitive=1) {
  let = nn.conv2d(%x, %nowhere, data_layout=\"NCHW\", padding=[1, 1]) ) ;
}
def def
",
        expect![[r#"
                "0.0.5"  String
                def  Keyword
                @main  Function definition
                %x  Parameter declaration
                Tensor  Type prelude
                1  Number
                3  Number
                8  Number
                8  Number
                float32  Type prelude
                Primitive  Attribute
                1  Number
                let  Keyword
                nn.conv2d  Operator
                %x  Parameter
                %nowhere  Variable
                data_layout  Attribute
                "NCHW"  String
                padding  Attribute
                1  Number
                1  Number
                def  Keyword
                def  Keyword
            "#]],
    );
}

/// Incremental highlighting equals highlighting from scratch, and recomputes only changed segments.
#[test]
fn edit_recomputes_only_affected_segments() {
    let text = "
def @main(%x: int32) -> int32 {
  let %a = add(%x, 1);
  // between
  let %b = add(%a, 2);
  %0 = add(%b, 3);
  let %c = fn (%y: int32) -> int32 { %y };
  %c(%0)
}
def @other() -> int32 { 1 }
";
    let mut fixture = Fixture::new(text);
    let mut before = highlight(&fixture.db, fixture.file, None);
    let edits: &[(&str, &str, usize)] = &[
        ("add(%a, 2)", "subtract(%a, 2)", 1),
        // The last statement no longer uses `%0`, which becomes unused.
        ("%c(%0)", "%c(%b)", 2),
        // Added lines move the following segments without changing them.
        ("// between", "// between\n\n  // more", 1),
        // The second `%a` shadows the first one, whose modifiers change. One statement becomes two,
        // so that the parser reparses the block.
        ("  %0 =", "  let %a = 1;\n  %0 =", 6),
    ];
    for (from, to, fresh) in edits {
        let at = fixture.text.find(from).expect("the text occurs");
        let range = TextRange::at((at as u32).into(), TextSize::of(*from));
        let edit = Edit { range, insert: (*to).into() };
        edit.apply(&mut fixture.text);
        fixture.db.apply(fixture.file, &edit);
        let after = highlight(&fixture.db, fixture.file, Some(&before));
        let scratch = highlight(&fixture.db, fixture.file, None);
        assert_eq!(render(&fixture, &after), render(&fixture, &scratch));
        let old: Vec<_> = before.segments.iter().map(|s| Arc::as_ptr(&s.words)).collect();
        let new = after.segments.iter().filter(|s| !old.contains(&Arc::as_ptr(&s.words)));
        assert_eq!(new.count(), *fresh, "{to}");
        before = after;
    }
}

#[test]
fn highlight_range_covers_touched_segments() {
    let fixture = Fixture::new("def @f() { 1 }\ndef @g() { let %x = 2; %x }\n");
    let at = TextRange::new(27.into(), 30.into());
    let words = highlight_range(&fixture.db, fixture.file, at);
    expect![[r#"
            let  Keyword
            %x  Variable declaration readonly
            2  Number
        "#]]
    .assert_eq(&render(&fixture, &words));
}
