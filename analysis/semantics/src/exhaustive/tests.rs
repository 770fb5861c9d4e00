//! Tests of the search against an enumeration of all values.

use fastrand::Rng;
use syntax::{ParseLimits, parse_with};

use super::*;
use crate::{body::RangeId, lower::lower_type_def};

/// Returns the types of `type T { A, B(T), C(T, T) }`.
fn types() -> ModuleTypes {
    let parse = parse_with("type T { A, B(T), C(T, T) }", ParseLimits::default());
    let item = syntax::Node::root(&parse.green).children().next().expect("a definition");
    let mut types = ModuleTypes::over_prelude(false);
    types.add(lower_type_def(item).expect("a type").adt);
    types
}

fn of_kind(kind: PatternKind) -> Pattern {
    Pattern { range: RangeId::default(), kind }
}

fn any() -> Pattern {
    of_kind(PatternKind::Wildcard)
}

fn constructor(name: &str, fields: Vec<Pattern>) -> Pattern {
    of_kind(PatternKind::Constructor(name.into(), fields))
}

fn tuple(fields: Vec<Pattern>) -> Pattern {
    of_kind(PatternKind::Tuple(fields))
}

const CONSTRUCTORS: [(&str, usize); 3] = [("A", 0), ("B", 1), ("C", 2)];

/// Returns all values with a nesting of at most `depth` constructors.
fn values(depth: usize) -> Vec<Pattern> {
    let inner = if depth == 0 { Vec::new() } else { values(depth - 1) };
    let mut found = vec![constructor("A", vec![])];
    found.extend(inner.iter().map(|a| constructor("B", vec![a.clone()])));
    for a in &inner {
        found.extend(inner.iter().map(|b| constructor("C", vec![a.clone(), b.clone()])));
    }
    found
}

fn matches(pattern: &Pattern, value: &Pattern) -> bool {
    match (&pattern.kind, &value.kind) {
        (PatternKind::Wildcard, _) => true,
        (PatternKind::Constructor(a, inner), PatternKind::Constructor(b, fields)) => {
            a == b && inner.iter().zip(fields).all(|(a, b)| matches(a, b))
        }
        (PatternKind::Tuple(inner), PatternKind::Tuple(fields)) => {
            inner.iter().zip(fields).all(|(a, b)| matches(a, b))
        }
        _ => false,
    }
}

fn pattern(rng: &mut Rng, depth: usize) -> Pattern {
    if depth == 0 || rng.u8(0..3) == 0 {
        return any();
    }
    let (name, width) = CONSTRUCTORS[rng.usize(0..3)];
    constructor(name, (0..width).map(|_| pattern(rng, depth - 1)).collect())
}

fn printed(pattern: &Pattern) -> String {
    let fields: Vec<String> = pattern.fields().iter().map(printed).collect();
    let fields = fields.join(", ");
    match &pattern.kind {
        PatternKind::Constructor(name, _) if fields.is_empty() => name.to_string(),
        PatternKind::Constructor(name, _) => format!("{name}({fields})"),
        PatternKind::Tuple(_) => format!("({fields})"),
        PatternKind::Wildcard | PatternKind::Var(_) => "_".into(),
    }
}

/// Parses a printed pattern.
fn read(text: &mut &str) -> Pattern {
    let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    *text = &text[name.len()..];
    if let Some(rest) = text.strip_prefix('_') {
        *text = rest;
        return any();
    }
    let mut fields = Vec::new();
    if let Some(rest) = text.strip_prefix('(') {
        *text = rest;
        while !text.starts_with(')') {
            fields.push(read(text));
            *text = text.strip_prefix(", ").unwrap_or(text);
        }
        *text = &text[1..];
    }
    if name.is_empty() { tuple(fields) } else { constructor(&name, fields) }
}

/// Compares the search with the enumeration on random patterns.
#[test]
fn search_agrees_with_enumeration() {
    let types = types();
    let single = values(3);
    let few = values(2);
    let pairs: Vec<Pattern> =
        few.iter().flat_map(|a| few.iter().map(|b| tuple(vec![a.clone(), b.clone()]))).collect();
    let mut rng = Rng::with_seed(4);
    for round in 0..3_000 {
        let is_pair = round % 2 == 1;
        let values = if is_pair { &pairs } else { &single };
        let arm = |rng: &mut Rng| match is_pair {
            true if rng.u8(0..6) == 0 => any(),
            true => tuple(vec![pattern(rng, 1), pattern(rng, 1)]),
            false => pattern(rng, 2),
        };
        let arms: Vec<Pattern> = (0..rng.usize(1..6)).map(|_| arm(&mut rng)).collect();
        let arms: Vec<&Pattern> = arms.iter().collect();
        let texts: Vec<String> = arms.iter().copied().map(printed).collect();
        let first = |value: &Pattern| arms.iter().position(|arm| matches(arm, value));
        let left: Vec<&Pattern> = values.iter().filter(|v| first(v).is_none()).collect();
        let found = missing(&types, &arms);
        assert_eq!(left.is_empty(), found.is_empty(), "{texts:?}: {found:?}");
        let shapes: Vec<Pattern> = found.iter().map(|text| read(&mut text.as_str())).collect();
        for (text, shape) in found.iter().zip(&shapes) {
            let mut taken = values.iter().filter(|value| matches(shape, value)).peekable();
            assert!(taken.peek().is_some(), "{texts:?}: {text} is no value");
            assert!(taken.all(|value| first(value).is_none()), "{texts:?}: {text} is taken");
        }
        if found.len() < MAX_MISSING {
            let covered = |value: &&Pattern| shapes.iter().any(|shape| matches(shape, value));
            assert!(left.iter().all(covered), "{texts:?}: not all in {found:?}");
        }
        let dead: Vec<usize> = (0..arms.len())
            .filter(|&arm| !values.iter().any(|value| first(value) == Some(arm)))
            .collect();
        assert_eq!(unreachable(&types, &arms), dead, "{texts:?}");
    }
}

/// Checks that a search of exponential size stops, and reports only what it has verified.
#[test]
fn search_over_the_limit_reports_nothing() {
    let types = types();
    let b = || constructor("B", vec![any()]);
    // Arm `i` tests all fields except the first `i`, for alternating constructors.
    let width = 40;
    let mut arms: Vec<Pattern> = (0..width)
        .map(|i| {
            let is_tested = |field: usize| (field * 7 + i * 3) % 5 < 2;
            tuple((0..width).map(|f| if is_tested(f) { b() } else { any() }).collect())
        })
        .collect();
    // A wildcard for the remaining values.
    arms.push(any());
    let arms: Vec<&Pattern> = arms.iter().collect();
    assert!(!unreachable(&types, &arms).contains(&width));
    assert_eq!(missing(&types, &arms), [""; 0]);
}
