use super::*;

/// Returns what `found` makes of the context of the cursor at `$0`, and of the text without it; `None` if there is none.
fn at_cursor<T>(text: &str, found: impl FnOnce(Cursor<'_>, &str) -> T) -> Option<T> {
    let at = TextSize::new(text.find("$0").expect("a cursor") as u32);
    let text = text.replace("$0", "");
    let parse = syntax::parse(&text);
    MarkedTree::new(&parse, at).map(|marked| found(marked.cursor(), &text))
}

/// Checks the expected syntax at `$0` and the enclosing call.
fn check(text: &str, expected: &str) {
    let found = at_cursor(text, |cursor, _| described(&cursor));
    assert_eq!(found.as_deref().unwrap_or("Nothing"), expected, "{text}");
}

fn described(found: &Cursor<'_>) -> String {
    let call = found.calls.first().map(|call| {
        let callee = match &call.callee {
            CalleeSyntax::Name(name) => name.clone(),
            CalleeSyntax::Global(token) | CalleeSyntax::Variable(token) => token.text().to_owned(),
            CalleeSyntax::Expr(_) => "…".to_owned(),
        };
        format!(" {callee}#{}", call.argument)
    });
    format!("{:?}{}", found.expected, call.unwrap_or_default())
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
    check("def @f(%x: int32) { let %g = f$0n (%a: int32) { %a }; %g }", plain);
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

#[test]
fn nothing_is_expected_where_no_name_may_follow() {
    for text in [
        // The end of a type.
        "def @f(%x: int32 $0",
        "def @f(%x: Tensor[(1, 2)$0",
        "def @f(%x: fn $0",
        "def @f() { let %y: int32 $0 = 1; %y }",
        // The header of a function.
        "def @f() { fn $0",
        "def @f() { fn (%a: int32) $0{ %a } }",
        // The names of type parameters.
        "type T[$0",
        "type T $0",
        "extern type T $0",
        // The end of a pattern or an arm.
        "def @f(%x: int32) { match (%x) { A $0=> 1 } }",
        "def @f(%x: int32) { match (%x) { A => add(%x, %x) $0} }",
        // The inside of an operator, a directive or a metadata reference.
        "def @f() -$0> int32 { 1 }",
        "#[$0",
        "def @f() { meta[rel$0",
    ] {
        check(text, "Nothing");
    }
}

#[test]
fn recovery_decides_where_unclosed_brackets_end() {
    check("def @f(%x: int32) {\n  add(%x, \n}\n$0", "Item");
    check("def @f(%x: int32) {\n  let %y = add(\n  let %z = $0\n}", "Expr { attribute: false }");
    check("extern type T\n$0", "Item");
    // A comma without an argument before it counts.
    check("def @f(%x: int32) { add(, $0)", "Expr { attribute: true } add#1");
    // The list of the attribute before it is unclosed.
    check(
        "def @f(%x: int32) { sum(%x, axis=[1, keepdims=$0",
        "AttrValue { name: \"keepdims\", in_list: false, in_string: false } sum#1",
    );
    // A list in parentheses.
    check(
        "def @f(%x: int32) { sum(%x, axis=(1, $0",
        "AttrValue { name: \"axis\", in_list: true, in_string: false } sum#1",
    );
}

#[test]
fn notation_of_the_manual_is_understood() {
    check("data Nat { Z : () -> $0", "Type");
    check("data Nat { Z : $0() -> Nat }", "Type");
    check("def @f(x: $0", "Type");
    check("def @f<t : Type>(%a: t) { %a }\ndef @g() { @f<$0int32>(1) }", "Type");
    check("def @g() { @f<Tensor[(), bool], Tensor[(), $0", "DataType");
    check("def @g() { @f<int32>($0) }", "Expr { attribute: false } @f#0");
    check("def @g(%x: int32) { all(%x == Constant(0, ($0, 10), float32)) }", "Shape all#0");
    check("def @f(%r: ref($0", "Type");
    check("def @f(%x: Nat) { match (%x) { case Z { 1 }\n case $0", "Pattern");
}

#[test]
fn names_with_dots_and_projections_are_callees() {
    check("def @f(%input.1: int32) { add(%input.1, $0", "Expr { attribute: true } add#1");
    check("def @f(%t: (fn () -> int32,)) { %t.0($0) }", "Expr { attribute: false } …#0");
}

#[test]
fn binding_is_excluded_in_its_value_only() {
    let bound = |text: &str| {
        let bound = at_cursor(text, |cursor, text| {
            cursor.bound.map(|range| text[std::ops::Range::<usize>::from(range)].to_owned())
        });
        bound.expect("a marker")
    };
    assert_eq!(bound("def @f() { let %y = add($0); %y }").as_deref(), Some("%y"));
    assert_eq!(bound("def @f() { %0 = add($0) }").as_deref(), Some("%0"));
    assert_eq!(bound("def @f(%x) { let %y = match (%x) { A => $0 }; %y }").as_deref(), Some("%y"));
    assert_eq!(bound("def @f() { let %$0 = 1; %y }"), None);
    assert_eq!(bound("def @f() { let %y = { $0 }; %y }"), None);
    // The manual omits the `;`.
    assert_eq!(bound("def @f() {\n  %0 = add(1, 2)\n  $0\n}"), None);
    assert_eq!(bound("def @f() {\n  %0 = ;$0\n}"), None);
}

#[test]
fn arguments_around_the_cursor_are_found_in_closed_calls() {
    let render = |arguments: Option<&Arguments<'_>>| {
        let Some(arguments) = arguments else { return "open".to_owned() };
        let variables: Vec<&str> =
            arguments.variables.iter().map(|name| name.unwrap_or("…")).collect();
        format!("({}) {}", variables.join(", "), arguments.attributes.join(" "))
            .trim_end()
            .to_owned()
    };
    let of_word = |text: &str| {
        at_cursor(text, |cursor, _| render(cursor.arguments.as_ref())).expect("a marker")
    };
    let call = "def @f() { $0(%x, add(%x, %y), %2, axis=[1, 2]) }";
    assert_eq!(of_word(call), "(%x, …, %2) axis");
    assert_eq!(of_word("def @f() { $0() }"), "()");
    assert_eq!(of_word("def @f() { $0(fn (%x) { %x }, %y) }"), "(…, %y)");
    assert_eq!(of_word("def @f() { $0 (%x }"), "open");
    assert_eq!(of_word("def @f() { $0 }"), "open");
    let after = |text: &str| {
        at_cursor(text, |cursor, _| render(cursor.calls[0].after.as_ref())).expect("a marker")
    };
    assert_eq!(after("def @f() { add($0, %y) }"), "(%y)");
    assert_eq!(after("def @f() { add($0%x, %y) }"), "(%y)");
    assert_eq!(after("def @f() { add(%x, $0) }"), "()");
    assert_eq!(after("def @f() { sum(add(%x, %a)$0, axis=1) }"), "() axis");
    assert_eq!(after("def @f() { @map($0, fn (%x) { %x }, %l) }"), "(…, %l)");
    assert_eq!(after("def @f() { %0 = add($0\n %1 = add(%x, %y); %1 }"), "open");
}
