//! A call without warnings can be computed, and a call with the warning `cannot-compute` of TVM mode, which is
//! an error otherwise, cannot, or gives a value of another type.
//!
//! The calls are those of `tests/kernels/cases.jsonl` with other numbers in their attributes and
//! other sizes of their arguments. `RELAY_COMPUTED_CALLS` sets their number, `RELAY_LAWS_SEED` the seed.
//! `RELAY_COMPUTED_ONLY` restricts the test to operators, separated by commas, and shows all their
//! failures, including those of [`BY_VALUE`].

use std::{
    collections::{BTreeMap, HashMap},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use interpreter::{Fault, FaultKind, Limits, Machine, Tensor, Value};
use relay_tests::{
    fuzz::fits,
    kernel_calls::{Array, Case, cases, numbers},
    notes::note,
    variables::number,
};
use semantics::{Code, Database, Severity, View, all_defs, check_file};
use syntax::ParseLimits;
use types::Type;

/// Operators whose calls can fail because of the elements of an argument, such as a shape, independently of
/// types. The test still checks what follows from types. Each has a description of these elements.
const BY_VALUE: &[(&str, &str)] = &[
    ("collapse_sum_to", "the shape of the result"),
    ("dyn.broadcast_to", "the shape of the result"),
    ("dyn.reshape", "the shape of the result"),
    ("dyn.squeeze", "the axes that are removed"),
    ("strided_set", "where the slice begins and ends"),
    ("vm.reshape_tensor", "the shape of the result"),
];

/// The elements of an argument.
#[derive(Clone, Copy)]
enum Elements {
    /// Those of the case, repeated to fill the shape.
    Own,
    /// The same number everywhere.
    All(f64),
}

fn tensor(arg: &Array, shape: &[usize], elements: Elements) -> Option<Tensor> {
    let count: usize = shape.iter().product();
    let own = arg.tensor().to_f64s();
    let number = |at: usize| match elements {
        Elements::Own => own.get(at % own.len().max(1)).copied().unwrap_or(0.0),
        Elements::All(number) => number,
    };
    Tensor::from_f64s(arg.dtype(), shape, (0..count).map(number).collect())
}

/// An accepted call, and its results with several arguments.
struct TrialCall {
    text: String,
    /// The message of `cannot-compute`, if any.
    warning: Option<String>,
    /// True if it was computed with some arguments.
    computed: bool,
    faults: Vec<Fault>,
    panicked: bool,
}

/// Returns true if a result contains a tensor without elements.
fn is_empty(value: &Value) -> bool {
    match value.as_tuple() {
        Some(fields) => fields.iter().any(is_empty),
        None => value.as_tensor().is_some_and(|tensor| tensor.shape().contains(&0)),
    }
}

/// Checks and runs a call, as TVM does if it has errors. `None` if it has errors even so, or other warnings,
/// or if a run fails for another reason than its operator, such as a time limit.
fn tried(case: &Case, expr: &str, shapes: &[Vec<usize>]) -> Option<TrialCall> {
    let arguments = |elements| -> Option<Vec<Tensor>> {
        let args = case.args.iter().zip(shapes);
        args.map(|(arg, shape)| tensor(arg, shape, elements)).collect()
    };
    let args = arguments(Elements::Own)?;
    let params = args.iter().zip('a'..).map(|(arg, name)| format!("%{name}: {}", arg.ty()));
    let params = params.collect::<Vec<_>>().join(", ");
    let text = format!("{}\ndef @main({params}) {{ {expr} }}\n{}", case.before, case.after);
    let mut db = Database::new();
    let mut file = db.add_file(&text, ParseLimits::default());
    let mut found = check_file(&db, file);
    if found.iter().any(|d| d.severity == Severity::Error) {
        db = Database::new();
        db.set_tvm(true);
        file = db.add_file(format!("#[version = \"0.0.5\"]\n{text}"), ParseLimits::default());
        found = check_file(&db, file);
    }
    let mut serious =
        found.iter().filter(|d| matches!(d.severity, Severity::Error | Severity::Warning));
    let warning = match (serious.next(), serious.next()) {
        (None, _) => None,
        (Some(only), None) if only.code == Code::CannotCompute => Some(only.message.clone()),
        _ => return None,
    };
    let def = all_defs(&db, file).find(|def| def.name(&db) == "@main")?;
    let signature = View::new(&db, def).and_then(|view| view.inference.signature.clone());
    let has_type = |value: &Value| match &signature {
        Some(Type::Func(function)) => fits(value, function.ret(), true, 0),
        _ => true,
    };
    let limits =
        Limits { memory: Some(64 << 20), time: Some(Duration::from_secs(1)), ..Limits::default() };
    let mut tried =
        TrialCall { text, warning, computed: false, faults: Vec::new(), panicked: false };
    // A call that fails for some elements only fails because of them, such as an index.
    for elements in [Elements::Own, Elements::All(0.0), Elements::All(1.0), Elements::All(2.0)] {
        let args = arguments(elements)?.into_iter().map(Value::from).collect();
        let run = || Machine::new(&db).limited(limits.clone()).run(def, args, None);
        let Ok(ended) = catch_unwind(AssertUnwindSafe(run)) else {
            return Some(TrialCall { panicked: true, ..tried });
        };
        match ended {
            // An empty result is always computed, regardless of attributes.
            Ok(value) if is_empty(&value) && tried.warning.is_some() => return None,
            Ok(value) if !has_type(&value) => {
                let message = format!("it gives {}", value.describe());
                tried.faults.push(Fault::new(FaultKind::Operator, message));
            }
            Ok(_) => return Some(TrialCall { computed: true, ..tried }),
            Err(fault) if matches!(fault.kind, FaultKind::Operator | FaultKind::Untyped) => {
                tried.faults.push(fault);
            }
            Err(_) => return None,
        }
    }
    Some(tried)
}

/// Returns a case with other sizes and numbers; equal ones stay equal.
fn changed(case: &Case, rng: &mut fastrand::Rng) -> (String, Vec<Vec<usize>>) {
    let mut expr = case.expr.clone();
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    if rng.bool() {
        let found: Vec<usize> = case.args.iter().flat_map(|arg| arg.shape.clone()).collect();
        if !found.is_empty() {
            let size = found[rng.usize(0..found.len())];
            sizes.insert(size, rng.usize(1..7));
        }
    }
    let mut shapes: Vec<Vec<usize>> = case
        .args
        .iter()
        .map(|arg| arg.shape.iter().map(|size| *sizes.get(size).unwrap_or(size)).collect())
        .collect();
    // Sometimes change only one axis.
    if rng.u8(0..4) == 0 {
        let at = rng.usize(0..shapes.len().max(1));
        if let Some(shape) = shapes.get_mut(at).filter(|shape| !shape.is_empty()) {
            let axis = rng.usize(0..shape.len());
            shape[axis] = rng.usize(1..5);
        }
    }
    for _ in 0..rng.usize(0..3) {
        let places = numbers(&expr);
        if places.is_empty() {
            break;
        }
        let place = places[rng.usize(0..places.len())].clone();
        expr.replace_range(place, &rng.i64(-2..6).to_string());
    }
    (expr, shapes)
}

/// The operator that an expression calls.
fn operator_of(expr: &str) -> &str {
    let mut words = expr.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_'));
    words.find(|word| operators::named(word).is_some()).unwrap_or_default()
}

/// Tries calls, and shows the shortest for each operator for which `wrong` returns a message.
fn survey(listed: &[(&str, &str)], wrong: fn(&TrialCall) -> Option<&str>) {
    let mut rng = fastrand::Rng::with_seed(number("RELAY_LAWS_SEED", 0));
    let mut cases = cases();
    let only = std::env::var("RELAY_COMPUTED_ONLY").ok();
    let only = only.map(|names| names.split(',').map(str::to_owned).collect::<Vec<_>>());
    if let Some(names) = &only {
        cases.retain(|case| names.iter().any(|name| name == operator_of(&case.expr)));
    }
    // By operator, and for chosen operators also by message without its numbers.
    let mut found: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
    assert!(!cases.is_empty(), "RELAY_COMPUTED_ONLY names no operator: {only:?}");
    let count = number("RELAY_COMPUTED_CALLS", 20_000);
    note(&format!("{count} calls (RELAY_COMPUTED_CALLS)"));
    for _ in 0..count {
        let case = &cases[rng.usize(0..cases.len())];
        let (expr, shapes) = changed(case, &mut rng);
        let Some(call) = tried(case, &expr, &shapes) else { continue };
        assert!(!call.panicked, "it panics: {}", call.text);
        let Some(message) = wrong(&call) else { continue };
        let kind = match only {
            Some(_) => message.chars().filter(|c| !c.is_ascii_digit() && *c != '-').collect(),
            None => String::new(),
        };
        let entry = found.entry((operator_of(&expr).to_owned(), kind)).or_default();
        entry.0 += 1;
        // The shortest one is the most readable.
        let shown = format!("{}: {message}", call.text.trim());
        if entry.1.is_empty() || shown.len() < entry.1.len() {
            entry.1 = shown;
        }
    }
    let unknown: Vec<String> = found
        .iter()
        .filter(|((operator, _), _)| {
            only.is_some() || listed.iter().all(|(name, _)| name != operator)
        })
        .map(|((operator, _), (count, shown))| format!("{operator} ({count}): {shown}"))
        .collect();
    assert!(unknown.is_empty(), "{} found:\n{}", unknown.len(), unknown.join("\n"));
}

#[test]
fn calls_without_a_warning_can_be_computed() {
    survey(BY_VALUE, |call| match call.warning {
        None if !call.computed => call.faults.first().map(|fault| fault.message.as_str()),
        _ => None,
    });
}

#[test]
fn calls_with_a_warning_cannot_be_computed() {
    // The elements take precedence over `newshape`, so the result may not have its type.
    let listed = &[("vm.reshape_tensor", "the shape of the result")];
    survey(listed, |call| {
        // Tensors have no negative sizes, so the result does not have its type.
        let warning = call.warning.as_deref().filter(|text| !text.contains("would have size -"));
        warning.filter(|_| call.computed)
    });
}
