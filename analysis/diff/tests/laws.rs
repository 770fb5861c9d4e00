//! Properties of the comparison: invariance under notation, symmetry, minimal reports of single
//! changes, and the matching of calls across passes.

use diff::{Fact, FunctionDiff, ModuleDiff, Options, PairKind, Property, Structure, compare};
use semantics::{Database, SourceFile};
use syntax::{ParseLimits, TextRange};

struct Side {
    text: String,
    db: Database,
    file: SourceFile,
}

fn side(text: &str) -> Side {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    Side { text: text.to_owned(), db, file }
}

fn difference(before: &Side, after: &Side) -> ModuleDiff {
    let module = |side: &Side| semantics::module(&side.db, side.file, 0).is_some();
    assert!(module(before) && module(after), "every file holds a module");
    let (Some(a), Some(b)) = (
        semantics::module(&before.db, before.file, 0),
        semantics::module(&after.db, after.file, 0),
    ) else {
        unreachable!("checked above");
    };
    compare((&before.db, a), (&after.db, b), &Options::default())
}

fn diff(before: &str, after: &str) -> ModuleDiff {
    difference(&side(before), &side(after))
}

fn slice(text: &str, range: TextRange) -> &str {
    &text[std::ops::Range::<usize>::from(range)]
}

/// Returns the lines that describe all differences.
fn report(before: &str, after: &str) -> Vec<String> {
    let found = diff(before, after);
    let mut lines = Vec::new();
    for function in &found.functions {
        for pair in function.pairs.iter().filter(|pair| pair.kind != PairKind::Same) {
            let what: Vec<&str> = pair.changes.iter().map(|change| change.what.word()).collect();
            lines.push(format!(
                "{} {} | {} [{}]",
                pair.kind.word(),
                slice(before, pair.before),
                slice(after, pair.after),
                what.join(", ")
            ));
        }
        lines.extend(function.removed.iter().map(|l| format!("- {}", slice(before, l.range))));
        lines.extend(function.added.iter().map(|l| format!("+ {}", slice(after, l.range))));
    }
    lines
}

const GRAPH: &str = r#"#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8), float32], %w1: Tensor[(4, 8), float32], %w2: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  %0 = nn.dense(%x, %w1, units=4);
  %1 = nn.relu(%0);
  %2 = nn.dense(%x, %w2, units=4);
  %3 = tanh(%2);
  %4 = (%1, %3);
  %5 = %4.0;
  %6 = multiply(%5, 2f);
  add(%6, %3)
}
"#;

/// Modules that are equal to [`GRAPH`].
const SAME: [&str; 5] = [
    // Other numbers and names, other order.
    r#"def @main(%a: Tensor[(1, 8), float32], %b: Tensor[(4, 8), float32], %c: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  %12 = nn.dense(%a, %c, units=4) /* ty=Tensor[(1, 4), float32] */;
  %13 = tanh(%12);
  %10 = nn.dense(%a, %b, units=4);
  %11 = nn.relu(%10);
  %14 = (%11, %13);
  %15 = %14.0;
  %16 = multiply(%15, 2f);
  add(%16, %13)
}"#,
    // `let` form.
    r#"def @main(%x: Tensor[(1, 8), float32], %w1: Tensor[(4, 8), float32], %w2: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  let %d: Tensor[(1, 4), float32] = nn.dense(%x, %w1, units=4);
  let %r = nn.relu(%d);
  let %e = nn.dense(%x, %w2, units=4);
  let %t = tanh(%e);
  let %both = (%r, %t);
  let %first = %both.0;
  let %two = 2f;
  let %m = multiply(%first, %two);
  let %s = add(%m, %t);
  %s
}"#,
    // No result type, nested calls, infix operators.
    r#"def @main(%x: Tensor[(1, 8), float32], %w1: Tensor[(4, 8), float32], %w2: Tensor[(4, 8), float32]) {
  %0 = tanh(nn.dense(%x, %w2, units=4));
  %1 = (nn.relu(nn.dense(%x, %w1, units=4)), %0);
  %1.0 * 2f + %0
}"#,
    // A default written out.
    r#"def @main(%x: Tensor[(1, 8), float32], %w1: Tensor[(4, 8), float32], %w2: Tensor[(4, 8), float32]) {
  %0 = tanh(nn.dense(%x, %w2, units=4, out_dtype=""));
  %1 = (nn.relu(nn.dense(%x, %w1, units=4)), %0);
  %1.0 * 2f + %0
}"#,
    GRAPH,
];

#[test]
fn notation_names_and_order_are_ignored() {
    for same in SAME {
        let found = diff(GRAPH, same);
        assert!(found.equal, "{same}\n{:?}", report(GRAPH, same));
        assert!(report(GRAPH, same).is_empty());
        // Every call has a partner.
        assert!(found.functions[0].pairs.iter().filter(|p| !p.operators.0.is_empty()).count() >= 6);
    }
}

#[test]
fn shared_and_repeated_values_differ() {
    let once = "def @main(%x: int32) { %0 = negative(%x); add(%0, %0) }";
    let twice = "def @main(%x: int32) { add(negative(%x), negative(%x)) }";
    assert!(!diff(once, twice).equal);
    assert_eq!(report(once, twice), ["folded negative(%x) | negative(%x) []"]);
}

/// Single changes: the text before, the text after, and the report.
const SINGLE: [(&str, &str, &str); 9] = [
    ("tanh(%2)", "sigmoid(%2)", "changed tanh(%2) | sigmoid(%2) [operator]"),
    ("multiply(%5, 2f)", "multiply(%5, 3f)", "changed 2f | 3f [value]"),
    (
        "nn.dense(%x, %w2, units=4)",
        "nn.dense(%x, %w2, units=4, out_dtype=\"float32\")",
        "changed nn.dense(%x, %w2, units=4) | nn.dense(%x, %w2, units=4, out_dtype=\"float32\") [attribute]",
    ),
    (
        "nn.dense(%x, %w2",
        "nn.dense(%x, %w1",
        "changed nn.dense(%x, %w2, units=4) | nn.dense(%x, %w1, units=4) [operand]",
    ),
    ("%4.0", "%4.1", "changed %4.0 | %4.1 [field]"),
    ("add(%6, %3)", "add(%6, %1)", "changed add(%6, %3) | add(%6, %1) [operand]"),
    ("%5 = %4.0;", "%5 = %4.0; %9 = exp(%1);", "+ exp(%1)"),
    ("tanh(%2)", "tanh(exp(%2))", "+ exp(%2)"),
    (
        "%w1: Tensor[(4, 8), float32]",
        "%w1: Tensor[(4, 9), float32]",
        "changed %w1: Tensor[(4, 8), float32] | %w1: Tensor[(4, 9), float32] [annotation]",
    ),
];

#[test]
fn single_change_has_single_line_report() {
    for (old, new, expected) in SINGLE {
        assert_eq!(GRAPH.matches(old).count(), 1, "{old}");
        let after = GRAPH.replace(old, new);
        let lines = report(GRAPH, &after);
        assert_eq!(lines.len(), 1, "{old} → {new}: {lines:?}");
        // Types that follow from a change of operator or attribute are on the same line.
        let head = expected.trim_end_matches(']');
        assert!(lines[0].starts_with(head), "{} instead of {expected}", lines[0]);
    }
}

#[test]
fn comparison_is_symmetric() {
    let mut texts: Vec<String> = SAME.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(SINGLE.iter().map(|(old, new, _)| GRAPH.replace(old, new)));
    texts.push(FUSED.to_owned());
    texts.push(OUTLINED.to_owned());
    for a in &texts {
        for b in &texts {
            let (there, back) = (diff(a, b), diff(b, a));
            assert_eq!(there.equal, back.equal);
            let pairs = |diff: &ModuleDiff, is_back: bool| {
                let pairs = diff.functions.iter().flat_map(|f| &f.pairs);
                let mut found: Vec<_> = pairs
                    .map(|p| {
                        if is_back {
                            (p.after, p.before, p.kind)
                        } else {
                            (p.before, p.after, p.kind)
                        }
                    })
                    .map(|(x, y, kind)| {
                        (
                            u32::from(x.start()),
                            u32::from(x.end()),
                            u32::from(y.start()),
                            u32::from(y.end()),
                            kind,
                        )
                    })
                    .collect();
                found.sort_unstable();
                found
            };
            assert_eq!(pairs(&there, false), pairs(&back, true), "{a}\n{b}");
            let unpaired = |diff: &ModuleDiff, of: fn(&FunctionDiff) -> usize| {
                diff.functions.iter().map(of).sum::<usize>()
            };
            assert_eq!(unpaired(&there, |f| f.removed.len()), unpaired(&back, |f| f.added.len()));
        }
    }
}

#[test]
fn applying_a_single_change_yields_the_module_after() {
    for (old, new, _) in SINGLE {
        let after = GRAPH.replace(old, new);
        let found = diff(GRAPH, &after);
        let pair = found.functions[0].pairs.iter().find(|pair| pair.kind == PairKind::Changed);
        let Some(pair) = pair else { continue };
        let mut applied = GRAPH.to_owned();
        let range: std::ops::Range<usize> = pair.before.into();
        applied.replace_range(range, slice(&after, pair.after));
        assert!(diff(&applied, &after).equal, "{applied}");
    }
}

const FUSED: &str = r#"def @main(%x: Tensor[(1, 8), float32], %w1: Tensor[(4, 8), float32], %w2: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  %1 = fn (%p0: Tensor[(1, 8), float32], %p1: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(1, 4), float32] {
    %0 = nn.dense(%p0, %p1, units=4);
    nn.relu(%0)
  };
  %2 = %1(%x, %w1);
  %4 = fn (%p0: Tensor[(1, 8), float32], %p1: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(1, 4), float32] {
    %3 = nn.dense(%p0, %p1, units=4);
    tanh(%3)
  };
  %5 = %4(%x, %w2);
  %6 = (%2, %5);
  %7 = %6.0;
  %8 = multiply(%7, 2f);
  add(%8, %5)
}
"#;

const OUTLINED: &str = r#"def @part(%a: Tensor[(1, 8), float32], %b: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  %0 = nn.dense(%a, %b, units=4);
  nn.relu(%0)
}
def @main(%x: Tensor[(1, 8), float32], %w1: Tensor[(4, 8), float32], %w2: Tensor[(4, 8), float32]) -> Tensor[(1, 4), float32] {
  %1 = @part(%x, %w1);
  %2 = nn.dense(%x, %w2, units=4);
  %3 = tanh(%2);
  %4 = (%1, %3);
  %5 = %4.0;
  %6 = multiply(%5, 2f);
  add(%6, %3)
}
"#;

#[test]
fn calls_are_paired_with_calls_in_fused_functions() {
    let lines = report(GRAPH, FUSED);
    for expected in [
        "fused nn.dense(%x, %w1, units=4) | nn.dense(%p0, %p1, units=4) []",
        "fused nn.relu(%0) | nn.relu(%0) []",
        "fused nn.relu(%0) | %1(%x, %w1) []",
        "fused tanh(%2) | tanh(%3) []",
        "fused tanh(%2) | %4(%x, %w2) []",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected}: {lines:#?}");
    }
    assert!(lines.iter().all(|line| line.starts_with("fused ")), "{lines:#?}");
}

#[test]
fn calls_are_paired_with_calls_in_outlined_functions() {
    let lines = report(GRAPH, OUTLINED);
    for expected in [
        "inlined nn.dense(%x, %w1, units=4) | nn.dense(%a, %b, units=4) []",
        "inlined nn.relu(%0) | nn.relu(%0) []",
        "inlined nn.relu(%0) | @part(%x, %w1) []",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected}: {lines:#?}");
    }
    assert!(lines.iter().all(|line| line.starts_with("inlined ")), "{lines:#?}");
}

#[test]
fn operator_is_paired_with_calls_of_its_expansion() {
    let before = "def @main(%x: Tensor[(4), float32]) { exp(nn.fast_softmax(negative(%x))) }";
    let after = "def @main(%x: Tensor[(4), float32]) { %0 = negative(%x); %1 = exp(%0); exp(divide(%1, sum(%1))) }";
    let lines = report(before, after);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("expanded nn.fast_softmax(negative(%x)) | divide")),
        "{lines:#?}"
    );
    assert!(lines.iter().all(|line| !line.starts_with(['+', '-'])), "{lines:#?}");
}

#[test]
fn constant_is_paired_with_folded_calls() {
    let before = "def @main(%x: Tensor[(4), float32]) { add(%x, multiply(exp(2f), 3f)) }";
    let after =
        "def @main(%x: Tensor[(4), float32]) { add(%x, meta[relay.Constant][0] /* ty=float32 */) }";
    let lines = report(before, after);
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines.iter().all(|line| line.starts_with("folded ")), "{lines:#?}");
}

#[test]
fn repeated_blocks_are_paired_in_order_around_added_block() {
    let block = |from: usize| {
        format!("  %{} = nn.relu(%{from});\n  %{} = tanh(%{});\n", from + 1, from + 2, from + 1)
    };
    let module = |count: usize| {
        let mut text = "def @main(%x: Tensor[(4), float32]) {\n  %0 = negative(%x);\n".to_owned();
        (0..count).for_each(|at| text += &block(at * 2));
        text + &format!("  %{} = exp(%{});\n  %{}\n}}", count * 2 + 1, count * 2, count * 2 + 1)
    };
    let found = diff(&module(5), &module(6));
    let function = &found.functions[0];
    assert_eq!(function.added.len(), 2);
    assert!(function.removed.is_empty());
    let mut last = 0.into();
    for pair in &function.pairs {
        assert!(pair.before.start() >= last, "no two pairs cross");
        last = pair.before.start();
    }
}

/// The users of a mask look alike in all blocks: which are partners is known from their other operands.
#[test]
fn repeated_blocks_with_a_shared_mask_are_paired_with_themselves() {
    let block = |at: usize, (sum, ratio): (String, String)| {
        format!(
            "  %d{at} = nn.dense(%s{at}, %w{at}, units=4);\n  %e{at} = nn.relu(%d{at});\n  \
             %q{at} = {ratio};\n  %a{at} = {sum};\n  %p{at} = nn.softmax(%a{at});\n  \
             %s{} = subtract(%p{at}, %d{at});\n",
            at + 1
        )
    };
    let module = |is_after: bool| {
        let weights: String =
            (0..8).map(|at| format!(", %w{at}: Tensor[(4, 4), float32]")).collect();
        let mask = if is_after { "%y, 2f" } else { "2f, %y" };
        let mut text = format!(
            "def @main(%s0: Tensor[(4, 4), float32]{weights}) {{\n  \
             %y = full(1f, shape=[4], dtype=\"float32\");\n  %m = multiply({mask});\n"
        );
        for at in 0..8 {
            let sum = match is_after && (at == 3 || at == 4) {
                true => format!("add(%m, %q{at})"),
                false => format!("add(%q{at}, %m)"),
            };
            let ratio = match is_after && at == 6 {
                true => format!("divide(8f, %e{at})"),
                false => format!("divide(%e{at}, 8f)"),
            };
            text += &block(at, (sum, ratio));
        }
        text + "  %s8\n}"
    };
    let (before, after) = (module(false), module(true));
    let found = diff(&before, &after);
    let function = &found.functions[0];
    assert_eq!((function.removed.len(), function.added.len()), (0, 0));
    let changed = function.pairs.iter().filter(|pair| pair.kind == PairKind::Changed);
    let calls: Vec<&str> = changed.map(|pair| slice(&after, pair.after)).collect();
    let expected = ["multiply(%y, 2f)", "add(%m, %q3)", "add(%m, %q4)", "divide(8f, %e6)"];
    assert_eq!(calls, expected);
}

/// A recursive or quadratic algorithm would overflow the stack or time out.
#[test]
fn chain_of_100_000_bindings_is_compared() {
    let chain = |changed: usize| {
        let mut text = "def @main(%x: Tensor[(4), float32]) {\n  %0 = negative(%x);\n".to_owned();
        for at in 0..100_000 {
            let operator = if at == changed { "tanh" } else { "nn.relu" };
            text += &format!("  %{} = {operator}(%{at});\n", at + 1);
        }
        text + "  %100000\n}"
    };
    let (before, after) = (side(&chain(usize::MAX)), side(&chain(50_000)));
    assert!(difference(&before, &side(&before.text)).equal);
    let found = difference(&before, &after);
    let changed: Vec<_> =
        found.functions[0].pairs.iter().filter(|p| p.kind != PairKind::Same).collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].changes[0].what, Property::Operator);
    assert_eq!(changed[0].changes[0].after, Fact::Callee("tanh".into()));
    assert_eq!(slice(&after.text, changed[0].after), "tanh(%50000)");
}

#[test]
fn malformed_cyclic_and_duplicate_definitions_are_compared() {
    let texts = [
        "",
        "def @main(%x: int32) { add(%x, ",
        "def @main() { @main() }",
        "def @f() { @g() }\ndef @g() { @f() }",
        "def @f(%x: int32) { %x }\ndef @f(%x: int32) { negative(%x) }",
        "def @main() { let %f = fn (%x: int32) { %f(%x) }; %f(%f(1)) }",
        "def @main() { %undefined.0.1 }",
        "def @main(%x: int32) { %0 = %1; %1 = %0; %1 }",
        "fn (%x: int32) { %x }",
        "def @main(%r: ref(int32)) { ref_write(%r, add(ref_read(%r), 1)); ref_read(%r) }",
        "def @main(%l: List[int32]) { match (%l) { Cons(%h, _) => %h, Nil => 0 } }",
    ];
    for a in texts {
        assert!(diff(a, a).equal, "{a}");
        for b in texts {
            assert_eq!(diff(a, b).equal, a == b, "{a} and {b}");
        }
    }
}

#[test]
fn order_of_effects_is_compared() {
    let module = |first: &str, second: &str| {
        format!("def @main(%r: ref(int32)) {{ let %a = {first}; let %b = {second}; ref_read(%r) }}")
    };
    let (one, two) = ("ref_write(%r, 1)", "ref_write(%r, 2)");
    assert!(diff(&module(one, two), &module(one, two)).equal);
    assert!(!diff(&module(one, two), &module(two, one)).equal);
}

#[test]
fn structural_equality_follows_tvm() {
    let changed = |before: &str, after: &str| {
        let (a, b) = (side(before), side(after));
        let (Some(of_a), Some(of_b)) =
            (semantics::module(&a.db, a.file, 0), semantics::module(&b.db, b.file, 0))
        else {
            unreachable!("every file holds a module");
        };
        Structure::new(&a.db, of_a).changed(&Structure::new(&b.db, of_b))
    };
    let none: [&str; 0] = [];
    // Names are ignored.
    assert_eq!(changed(GRAPH, SAME[0]), none);
    // Notation and annotations are compared.
    assert_eq!(changed(GRAPH, SAME[1]), ["@main"]);
    assert_eq!(changed(GRAPH, SAME[2]), ["@main"]);
    // Added and removed functions.
    assert_eq!(changed(GRAPH, OUTLINED), ["@main", "@part"]);
    assert_eq!(changed(OUTLINED, GRAPH), ["@main", "@part"]);
    // Moved bindings.
    let lets = "def @main(%x: int32) { let %a = negative(%x); let %b = abs(%x); add(%a, %b) }";
    let moved = "def @main(%x: int32) { let %b = abs(%x); let %a = negative(%x); add(%a, %b) }";
    assert_eq!(changed(lets, moved), ["@main"]);
    assert!(diff(lets, moved).equal, "the order of independent bindings is ignored");
}
