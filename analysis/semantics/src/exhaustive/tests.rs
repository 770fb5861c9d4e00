//! The search against trying every value.

use fastrand::Rng;
use syntax::{ParseLimits, parse_with};

use super::*;
use crate::module::TypeDef;

/// `type T { A, B(T), C(T, T) }`.
fn types() -> ModuleTypes {
    let parse = parse_with("type T { A, B(T), C(T, T) }", ParseLimits::default());
    let item = syntax::Node::root(&parse.green).children().next().expect("a definition");
    let mut types = ModuleTypes::over_prelude(false);
    types.add(TypeDef::of(item).expect("a type").adt);
    types
}

const CONSTRUCTORS: [(&str, usize); 3] = [("A", 0), ("B", 1), ("C", 2)];

/// Every value of at most `depth` constructors one inside the other.
fn values(depth: usize) -> Vec<Shape> {
    let inner = if depth == 0 { Vec::new() } else { values(depth - 1) };
    let value = |name: &str, fields| Shape::Constructor(name.into(), fields);
    let mut found = vec![value("A", vec![])];
    found.extend(inner.iter().map(|a| value("B", vec![a.clone()])));
    for a in &inner {
        found.extend(inner.iter().map(|b| value("C", vec![a.clone(), b.clone()])));
    }
    found
}

fn takes(pattern: &Shape, value: &Shape) -> bool {
    match (pattern, value) {
        (Shape::Any, _) => true,
        (Shape::Constructor(a, inner), Shape::Constructor(b, fields)) => {
            a == b && inner.iter().zip(fields).all(|(a, b)| takes(a, b))
        }
        (Shape::Tuple(inner), Shape::Tuple(fields)) => {
            inner.iter().zip(fields).all(|(a, b)| takes(a, b))
        }
        _ => false,
    }
}

fn pattern(rng: &mut Rng, depth: usize) -> Shape {
    if depth == 0 || rng.u8(0..3) == 0 {
        return Shape::Any;
    }
    let (name, width) = CONSTRUCTORS[rng.usize(0..3)];
    Shape::Constructor(name.into(), (0..width).map(|_| pattern(rng, depth - 1)).collect())
}

fn spelled(shape: &Shape) -> String {
    match shape {
        Shape::Any => "_".into(),
        Shape::Constructor(name, fields) if fields.is_empty() => name.to_string(),
        Shape::Constructor(_, fields) | Shape::Tuple(fields) => {
            let fields: Vec<String> = fields.iter().map(spelled).collect();
            let name = if let Shape::Constructor(name, _) = shape { name.as_str() } else { "" };
            format!("{name}({})", fields.join(", "))
        }
    }
}

/// Patterns that are read back from what is spelled out.
fn read(text: &mut &str) -> Shape {
    let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    *text = &text[name.len()..];
    if let Some(rest) = text.strip_prefix('_') {
        *text = rest;
        return Shape::Any;
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
    if name.is_empty() { Shape::Tuple(fields) } else { Shape::Constructor(name.into(), fields) }
}

/// What is found is what trying every value finds.
#[test]
fn patterns_take_what_trying_every_value_shows() {
    let types = types();
    let single = values(3);
    let few = values(2);
    let pairs: Vec<Shape> = few
        .iter()
        .flat_map(|a| few.iter().map(|b| Shape::Tuple(vec![a.clone(), b.clone()])))
        .collect();
    let mut rng = Rng::with_seed(4);
    for round in 0..3_000 {
        let is_pair = round % 2 == 1;
        let values = if is_pair { &pairs } else { &single };
        let arm = |rng: &mut Rng| match is_pair {
            true if rng.u8(0..6) == 0 => Shape::Any,
            true => Shape::Tuple(vec![pattern(rng, 1), pattern(rng, 1)]),
            false => pattern(rng, 2),
        };
        let arms: Vec<Shape> = (0..rng.usize(1..6)).map(|_| arm(&mut rng)).collect();
        let texts: Vec<String> = arms.iter().map(spelled).collect();
        let first = |value: &Shape| arms.iter().position(|arm| takes(arm, value));
        let left: Vec<&Shape> = values.iter().filter(|v| first(v).is_none()).collect();
        let found = missing(&types, &arms);
        assert_eq!(left.is_empty(), found.is_empty(), "{texts:?}: {found:?}");
        let shapes: Vec<Shape> = found.iter().map(|text| read(&mut text.as_str())).collect();
        for (text, shape) in found.iter().zip(&shapes) {
            let mut taken = values.iter().filter(|value| takes(shape, value)).peekable();
            assert!(taken.peek().is_some(), "{texts:?}: {text} is no value");
            assert!(taken.all(|value| first(value).is_none()), "{texts:?}: {text} is taken");
        }
        if found.len() < MAX_MISSING {
            let told = |value: &&Shape| shapes.iter().any(|shape| takes(shape, value));
            assert!(left.iter().all(told), "{texts:?}: not all in {found:?}");
        }
        let dead: Vec<usize> = (0..arms.len())
            .filter(|&arm| !values.iter().any(|value| first(value) == Some(arm)))
            .collect();
        assert_eq!(unreachable(&types, &arms), dead, "{texts:?}");
    }
}

/// A search that would take exponential time ends, and claims nothing that it has not seen.
#[test]
fn a_search_that_is_given_up_claims_nothing() {
    let types = types();
    let b = || Shape::Constructor("B".into(), vec![Shape::Any]);
    // Arm `i` asks of all fields but the first `i`, in turn for one constructor or another.
    let width = 40;
    let mut arms: Vec<Shape> = (0..width)
        .map(|i| {
            let asks = |field: usize| (field * 7 + i * 3) % 5 < 2;
            Shape::Tuple((0..width).map(|f| if asks(f) { b() } else { Shape::Any }).collect())
        })
        .collect();
    // What takes everything that is left: values of nothing but `A` come to it.
    arms.push(Shape::Any);
    assert!(!unreachable(&types, &arms).contains(&width));
    assert_eq!(missing(&types, &arms), [""; 0]);
}
