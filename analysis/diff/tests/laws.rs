//! Laws of the comparison: what is no difference, that both directions agree, that one change is
//! told as one, and what a pass does to calls.

use diff::{Fact, FunctionDiff, ModuleDiff, Options, PairKind, Structure, What, compare};
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
        unreachable!("both were there");
    };
    compare((&before.db, a), (&after.db, b), &Options::default())
}

fn diff(before: &str, after: &str) -> ModuleDiff {
    difference(&side(before), &side(after))
}

fn slice(text: &str, range: TextRange) -> &str {
    &text[std::ops::Range::<usize>::from(range)]
}

/// Everything that is not the same, as text, in order.
fn told(before: &str, after: &str) -> Vec<String> {
    let found = diff(before, after);
    let mut told = Vec::new();
    for function in &found.functions {
        for pair in function.pairs.iter().filter(|pair| pair.kind != PairKind::Same) {
            let what: Vec<&str> = pair.changes.iter().map(|change| change.what.word()).collect();
            told.push(format!(
                "{} {} | {} [{}]",
                pair.kind.word(),
                slice(before, pair.before),
                slice(after, pair.after),
                what.join(", ")
            ));
        }
        told.extend(function.removed.iter().map(|l| format!("- {}", slice(before, l.range))));
        told.extend(function.added.iter().map(|l| format!("+ {}", slice(after, l.range))));
    }
    told
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

/// The same in other words.
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
    // No result type, nested calls, signs.
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
fn notation_names_and_order_make_no_difference() {
    for same in SAME {
        let found = diff(GRAPH, same);
        assert!(found.equal, "{same}\n{:?}", told(GRAPH, same));
        assert!(told(GRAPH, same).is_empty());
        // Every call has its partner all the same.
        assert!(found.functions[0].pairs.iter().filter(|p| !p.operators.0.is_empty()).count() >= 6);
    }
}

#[test]
fn one_value_and_two_equal_ones_differ() {
    let once = "def @main(%x: int32) { %0 = negative(%x); add(%0, %0) }";
    let twice = "def @main(%x: int32) { add(negative(%x), negative(%x)) }";
    assert!(!diff(once, twice).equal);
    assert_eq!(told(once, twice), ["folded negative(%x) | negative(%x) []"]);
}

/// One change each, with the text before, the text after, and what is told.
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
fn one_change_is_told_as_one_at_its_place() {
    for (old, new, wanted) in SINGLE {
        assert_eq!(GRAPH.matches(old).count(), 1, "{old}");
        let after = GRAPH.replace(old, new);
        let told = told(GRAPH, &after);
        assert_eq!(told.len(), 1, "{old} → {new}: {told:?}");
        // Types that follow from a change of operator or attribute are told with it.
        let head = wanted.trim_end_matches(']');
        assert!(told[0].starts_with(head), "{} instead of {wanted}", told[0]);
    }
}

#[test]
fn a_difference_mirrored_is_the_difference_of_the_mirror() {
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
            let lost = |diff: &ModuleDiff, of: fn(&FunctionDiff) -> usize| {
                diff.functions.iter().map(of).sum::<usize>()
            };
            assert_eq!(lost(&there, |f| f.removed.len()), lost(&back, |f| f.added.len()));
        }
    }
}

#[test]
fn applying_what_is_told_of_a_single_change_gives_the_module_after() {
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
fn calls_match_those_in_fused_functions() {
    let told = told(GRAPH, FUSED);
    for wanted in [
        "fused nn.dense(%x, %w1, units=4) | nn.dense(%p0, %p1, units=4) []",
        "fused nn.relu(%0) | nn.relu(%0) []",
        "fused nn.relu(%0) | %1(%x, %w1) []",
        "fused tanh(%2) | tanh(%3) []",
        "fused tanh(%2) | %4(%x, %w2) []",
    ] {
        assert!(told.iter().any(|line| line == wanted), "{wanted}: {told:#?}");
    }
    assert!(told.iter().all(|line| line.starts_with("fused ")), "{told:#?}");
}

#[test]
fn calls_match_those_in_a_function_that_was_outlined() {
    let told = told(GRAPH, OUTLINED);
    for wanted in [
        "inlined nn.dense(%x, %w1, units=4) | nn.dense(%a, %b, units=4) []",
        "inlined nn.relu(%0) | nn.relu(%0) []",
        "inlined nn.relu(%0) | @part(%x, %w1) []",
    ] {
        assert!(told.iter().any(|line| line == wanted), "{wanted}: {told:#?}");
    }
    assert!(told.iter().all(|line| line.starts_with("inlined ")), "{told:#?}");
}

#[test]
fn an_operator_matches_what_it_was_expanded_to() {
    let before = "def @main(%x: Tensor[(4), float32]) { exp(nn.fast_softmax(negative(%x))) }";
    let after = "def @main(%x: Tensor[(4), float32]) { %0 = negative(%x); %1 = exp(%0); exp(divide(%1, sum(%1))) }";
    let told = told(before, after);
    assert!(
        told.iter().any(|line| line.starts_with("expanded nn.fast_softmax(negative(%x)) | divide")),
        "{told:#?}"
    );
    assert!(told.iter().all(|line| !line.starts_with(['+', '-'])), "{told:#?}");
}

#[test]
fn a_constant_matches_the_calls_that_it_came_from() {
    let before = "def @main(%x: Tensor[(4), float32]) { add(%x, multiply(exp(2f), 3f)) }";
    let after =
        "def @main(%x: Tensor[(4), float32]) { add(%x, meta[relay.Constant][0] /* ty=float32 */) }";
    let told = told(before, after);
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told.iter().all(|line| line.starts_with("folded ")), "{told:#?}");
}

#[test]
fn repeated_blocks_keep_their_order_around_one_that_is_new() {
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

/// What a recursion or a square of the size would not survive.
#[test]
fn a_chain_of_a_hundred_thousand_bindings_is_compared() {
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
    assert_eq!(changed[0].changes[0].what, What::Operator);
    assert_eq!(changed[0].changes[0].after, Fact::Callee("tanh".into()));
    assert_eq!(slice(&after.text, changed[0].after), "tanh(%50000)");
}

#[test]
fn broken_cyclic_and_doubled_definitions_are_compared_as_far_as_they_go() {
    let odd = [
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
    for a in odd {
        assert!(diff(a, a).equal, "{a}");
        for b in odd {
            assert_eq!(diff(a, b).equal, a == b, "{a} and {b}");
        }
    }
}

#[test]
fn the_order_of_effects_counts() {
    let module = |first: &str, second: &str| {
        format!("def @main(%r: ref(int32)) {{ let %a = {first}; let %b = {second}; ref_read(%r) }}")
    };
    let (one, two) = ("ref_write(%r, 1)", "ref_write(%r, 2)");
    assert!(diff(&module(one, two), &module(one, two)).equal);
    assert!(!diff(&module(one, two), &module(two, one)).equal);
}

#[test]
fn structural_equality_is_that_of_tvm() {
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
    // Names do not count.
    assert_eq!(changed(GRAPH, SAME[0]), none);
    // `let` counts, and so do written types.
    assert_eq!(changed(GRAPH, SAME[1]), ["@main"]);
    assert_eq!(changed(GRAPH, SAME[2]), ["@main"]);
    // New and gone.
    assert_eq!(changed(GRAPH, OUTLINED), ["@main", "@part"]);
    assert_eq!(changed(OUTLINED, GRAPH), ["@main", "@part"]);
    // A binding moved.
    let lets = "def @main(%x: int32) { let %a = negative(%x); let %b = abs(%x); add(%a, %b) }";
    let moved = "def @main(%x: int32) { let %b = abs(%x); let %a = negative(%x); add(%a, %b) }";
    assert_eq!(changed(lets, moved), ["@main"]);
    assert!(diff(lets, moved).equal, "which is no difference otherwise");
}
