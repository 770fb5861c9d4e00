use super::*;

/// Checks the expected syntax at `$0` and the enclosing call.
fn check(text: &str, expected: &str) {
    let at = TextSize::new(text.find("$0").expect("a cursor") as u32);
    let text = text.replace("$0", "");
    let parse = syntax::parse(&text);
    let found = cursor(Node::root(&parse.green), at);
    let call = found.calls.first().map(|call| {
        let callee = match &call.callee {
            Callee::Name(name) => name.clone(),
            Callee::Global(token) | Callee::Variable(token) => token.text().to_owned(),
            Callee::Expr(_) => "…".to_owned(),
        };
        format!(" {callee}#{}", call.argument)
    });
    let found = format!("{:?}{}", found.expected, call.unwrap_or_default());
    assert_eq!(found, expected, "{text}");
}

#[test]
fn type_positions() {
    for text in [
        "def @f(%x: $0",
        "def @f(%x: int32, %y: T$0) { %x }",
        "def @f(%x: int32) -> $0 { %x }",
        "def @f(%x: (int32, $0",
        "def @f(%x: List[$0]) { %x }",
        "def @f(%x: fn ($0) -> int32) { %x }",
        "def @f() {\n  let %y: i$0 = 1;\n  %y\n}",
        "def @f() { fn (%a: $0) { 1 } }",
        "type T { A($0",
        "type T[A] { B(A), C(A, $0) }",
    ] {
        check(text, "Type");
    }
    check("def @f(%x: Tensor[$0", "Shape");
    check("def @f(%x: Tensor[(1, $0", "Shape");
    check("def @f(%x: Tensor[(1, 2), $0", "DataType");
}

#[test]
fn expression_positions() {
    let plain = "Expr { attribute: false }";
    let either = "Expr { attribute: true }";
    check("def @f(%x: int32) {\n  $0\n}", "Statement");
    check("def @f(%x: int32) {\n  %0 = %x;\n  a$0\n}", "Statement");
    check("def @f(%x: int32) {\n  %0 = $0;\n}", plain);
    check("def @f(%x: int32) {\n  let %y = $0", plain);
    check("def @f(%x: int32) {\n  let %y: int32 = $0", plain);
    check("def @f(%x: int32) { add(%x, $0", &format!("{either} add#1"));
    check("def @f(%x: int32) { add($0", &format!("{either} add#0"));
    check("def @f(%x: int32) { add(%x + $0", &format!("{plain} add#0"));
    check("def @f(%x: int32) { add((%x, $0", &format!("{plain} add#0"));
    check(
        "def @f(%x: int32) { nn.conv2d(%x, %w, strides=[1, 1], $0",
        &format!("{either} nn.conv2d#3"),
    );
    check("def @f(%x: int32) { @g(add(%x, %x), $0", &format!("{plain} @g#1"));
    check("def @f(%x: int32) { %g($0", &format!("{plain} %g#0"));
    check("def @f(%x: int32) { (fn (%a) { %a })($0", &format!("{plain} …#0"));
    check("def @f(%x: int32) { if ($0", plain);
    check("def @f(%x: int32) { if (%x) { $0", "Statement");
    check("def @f(%x: int32) { match (%x) { A => $0", plain);
    check("def @f(%x: int32) { match (%x) { A => 1, B => add(%x, $0", &format!("{either} add#1"));
    for text in [
        "def @f(%x: int32) { match (%x) { A => 1, B => Cons(%x, $0",
        "def @f(%x: int32) { match (%x) { Cons(%a, _) => Cons(%a, $0), Nil => Nil } }",
    ] {
        check(text, &format!("{either} Cons#1"));
    }
    check(
        "def @f(%x: int32) { match (%x) { A => 1, B => Cons(%x, Cons($0",
        &format!("{either} Cons#0"),
    );
    check("def @f(%x: int32) { (%x, $0", plain);
    check("def @f(%x: int32) { concatenate((%x, $0), axis=1)", &format!("{plain} concatenate#0"));
}

#[test]
fn pattern_attribute_and_field_positions() {
    check("def @f(%x: int32) { match (%x) { $0", "Pattern");
    check("def @f(%x: int32) { match (%x) { A => 1, $0 } }", "Pattern");
    check("def @f(%x: int32) { match? (%x) { Cons($0 } }", "Pattern");
    check("def @f(%x: int32) { match (%x) { A => Cons(%x), (%a, Cons($0 } }", "Pattern");
    check("def @f(%x: int32) { match (%x) { A => { 1 }, Cons(_, $0 } }", "Pattern");
    let value = |name: &str, in_list, in_string| {
        format!("AttrValue {{ name: {name:?}, in_list: {in_list}, in_string: {in_string} }}")
    };
    check("def @f(%x: int32) { sum(%x, axis=$0", &format!("{} sum#1", value("axis", false, false)));
    check("def @f(%x: int32) { sum(%x, axis=[$0", &format!("{} sum#1", value("axis", true, false)));
    check(
        "def @f(%x: int32) { cast(%x, dtype=\"$0\")",
        &format!("{} cast#1", value("dtype", false, true)),
    );
    check(
        "def @f(%x: int32) { cast(%x, dtype=\"fl$0\n}",
        &format!("{} cast#1", value("dtype", false, true)),
    );
    check("def @f(%x: int32) { %x.$0 }", &format!("Field({})", 22));
    check("def @f(%x: int32) { %0.1$0 }", &format!("Field({})", 22));
}

#[test]
fn new_names_and_comments_expect_nothing() {
    for text in [
        "def @f($0",
        "def @f(%x: int32, %$0",
        "def $0",
        "type T$0",
        "def @f() { let $0",
        "// $0",
        "def @f() { /* $0 */ 1 }",
        "def @f() { 12$0 }",
        "type T { $0 }",
        "def @f() { fn (%a$0",
    ] {
        check(text, "Nothing");
    }
    check("$0", "Item");
    check("#[version = \"0.0.5\"]\nd$0", "Item");
    check("def @f() { 1 }\n$0", "Item");
    check("def @f() { 1 }\nde$0\ndef @g() { 2 }", "Item");
}
