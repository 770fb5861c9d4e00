//! Tests of actions on code with effects.

use super::*;

const ORDER: &str =
    "the order of effects, such as the reads and writes of references, could change";

/// Checks that an action refuses because of `reason`, or that it makes a change if there is none.
fn refuses(id: &str, text: &str, reason: Option<&str>) {
    let (_, result) = run(id, text);
    assert_eq!(result.as_ref().err().map(String::as_str), reason, "{text}\n{result:?}");
}

/// Returns a definition with some statements, in a module with a definition that writes a reference.
fn with_bump(statements: &str) -> String {
    format!(
        "def @bump(%r: ref(int32)) -> int32 {{ let %w = ref_write(%r, 1); 1 }}\n\
         def @pure(%x: int32) -> int32 {{ add(%x, 1) }}\n\
         def @main(%r: ref(int32), %c: bool, %g: fn () -> int32) {{ {statements} }}\n"
    )
}

#[test]
fn a_value_is_inlined_if_no_effect_is_passed() {
    let cases = [
        ("let $0%a = ref_read(%r); let %w = ref_write(%r, 2); %a", Some(ORDER)),
        ("let $0%a = ref_read(%r); let %b = @bump(%r); add(%a, %b)", Some(ORDER)),
        ("let $0%a = ref_read(%r); let %b = @pure(1); add(%a, %b)", None),
        ("let $0%a = @pure(1); let %b = @bump(%r); add(%a, %b)", None),
        ("let $0%a = @bump(%r); let %b = ref_read(%r); add(%a, %b)", Some(ORDER)),
        ("let $0%a = @bump(%r); let %b = fn () { ref_read(%r) }; add(%a, 1)", None),
        ("let $0%a = %g(); add(%a, 1)", None),
        ("let $0%a = %g(); let %b = %g(); add(%a, %b)", Some(ORDER)),
        // A graph binding is evaluated on its first use already.
        ("$0%0 = ref_read(%r); let %w = ref_write(%r, 2); %0", None),
        ("let $0%a = ref_read(%r); %0 = add(%a, 1); let %w = ref_write(%r, 2); %0", Some(ORDER)),
    ];
    for (statements, reason) in cases {
        refuses("inline-variable", &with_bump(statements), reason);
    }
    refuses(
        "inline-variable",
        &with_bump("let $0%a = @bump(%r); if (%c) { %a } else { 0 }"),
        Some("the value of `%a` has an effect, and would not be computed in every case"),
    );
}

#[test]
fn a_call_is_inlined_if_no_effect_is_passed() {
    let cases = [
        ("let %a = $0@bump(%r); %a", None),
        ("(ref_read(%r), $0@bump(%r))", Some(ORDER)),
        ("(ref_read(%r), $0@pure(1))", None),
        ("%0 = add($0@bump(%r), 1); let %x = ref_read(%r); (%x, %0)", Some(ORDER)),
    ];
    for (statements, reason) in cases {
        refuses("inline-call", &with_bump(statements), reason);
    }
}

#[test]
fn an_expression_is_extracted_if_no_effect_is_passed() {
    let cases = [
        ("(ref_read(%r), $0@bump(%r)$0)", Some(ORDER)),
        ("(ref_read(%r), $0@pure(1)$0)", None),
        ("($0@bump(%r)$0, ref_read(%r))", None),
        ("%0 = (ref_read(%r), $0@bump(%r)$0); %0", None),
    ];
    for (statements, reason) in cases {
        refuses("extract-variable", &with_bump(statements), reason);
    }
    refuses(
        "extract-definition",
        &with_bump("$0let %a = @bump(%r); %0 = add(%a, 1);$0 %0"),
        Some(ORDER),
    );
}

#[test]
fn bindings_without_effects_are_rewritten() {
    let order = "graph bindings are evaluated on first use, which could change the order of effects, such as the \
                 reads and writes of references";
    let cases = [
        ("let-to-graph", "$0let %a = @pure(1); ref_write(%r, %a); %a", None),
        ("let-to-graph", "$0let %a = @bump(%r); ref_write(%r, %a); %a", Some(order)),
        ("graph-to-let", "$0%0 = @pure(1); ref_write(%r, %0); %0", None),
        ("graph-to-let", "$0%0 = @bump(%r); ref_write(%r, 2); %0", Some(order)),
    ];
    for (id, statements, reason) in cases {
        refuses(id, &with_bump(statements), reason);
    }
}
