//! Kernels against numpy: `tests/kernels/make.py` writes the cases.

use std::collections::BTreeSet;

use interpreter::{Machine, Tensor, Value};
use relay_tests::{
    calls,
    kernel_calls::{Case, cases},
    operator_calls::WITHOUT_CALL,
};
use semantics::{Database, all_defs};
use syntax::ParseLimits;

fn operators(case: &Case) -> impl Iterator<Item = &'static str> {
    calls::of_text(&case.text()).into_iter().map(|call| call.operator.name)
}

fn run(case: &Case) -> Result<Vec<Tensor>, String> {
    let db = Database::new();
    let file = db.add_file(case.text(), ParseLimits::default());
    let found = semantics::check_file(&db, file);
    if let Some(error) = found.iter().find(|d| d.severity == semantics::Severity::Error) {
        return Err(error.message.clone());
    }
    let def = all_defs(&db, file).find(|def| def.name(&db) == "@main");
    let args = case.args.iter().map(|arg| Value::from(arg.tensor())).collect();
    let value = Machine::new(&db).run(def.ok_or("there is no @main")?, args, None);
    value.map(|value| value.leaves().into_iter().cloned().collect()).map_err(|fault| fault.message)
}

fn check(case: &Case) -> Result<(), String> {
    let found = match (run(case), &case.fault) {
        (Err(found), Some(wanted)) if found.contains(wanted.as_str()) => return Ok(()),
        (Ok(_), Some(wanted)) => return Err(format!("it succeeded, expected: {wanted}")),
        (found, _) => found?,
    };
    if found.len() != case.out.len() {
        return Err(format!("{} tensors, not {}", found.len(), case.out.len()));
    }
    for (number, (found, wanted)) in found.iter().zip(&case.out).enumerate() {
        let (ty, expected) = (found.ty(), wanted.tensor().ty());
        if ty != expected {
            return Err(format!("tensor {number} has type {ty}, expected {expected}"));
        }
        let wrong = if found.dtype().is_float() || found.dtype().is_bfloat() {
            let close = |&(x, y): &(f64, f64)| {
                x == y
                    || x.is_nan() && y.is_nan()
                    || (x - y).abs() <= case.tolerance + case.tolerance * y.abs()
            };
            first(found.to_f64s(), wanted.floats(), close)
        } else {
            first(found.to_i64s(), wanted.integers(), |(x, y)| x == y)
        };
        if let Some(wrong) = wrong {
            return Err(format!("tensor {number}: {wrong}"));
        }
    }
    Ok(())
}

/// Describes the first pair of elements that differ.
fn first<T: std::fmt::Display>(
    found: Vec<T>,
    wanted: Vec<T>,
    agree: impl Fn(&(T, T)) -> bool,
) -> Option<String> {
    let mut pairs = found.into_iter().zip(wanted).enumerate();
    let (place, (found, wanted)) = pairs.find(|(_, pair)| !agree(pair))?;
    Some(format!("element {place} is {found}, expected {wanted}"))
}

#[test]
fn kernels_equal_numpy() {
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.expr, check(case).err()?)))
        .collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every operator has a case with numbers, or with a message if it cannot be run. Operators without a type
/// relation in TVM have no case, because they have no valid calls.
#[test]
fn every_operator_has_a_case() {
    let (mut computed, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for case in cases() {
        match &case.fault {
            Some(why) => refused.extend(
                operators(&case).filter(|name| interpreter::refusal(name) == Some(why.as_str())),
            ),
            None => computed.extend(operators(&case)),
        }
    }
    let mut wrong = Vec::new();
    for operator in operators::all() {
        let name = operator.name;
        let typed = operator.rule.is_some_and(|(relation, _)| !relation.is_empty());
        let callable = typed && WITHOUT_CALL.iter().all(|(other, _)| *other != name);
        let refuses = interpreter::refusal(name).is_some();
        // `scatter` has a type relation only in earlier versions.
        let is_computed =
            computed.contains(name) && (typed || operators::other_version(name).is_none());
        if is_computed != (callable && !refuses) {
            wrong.push(format!("{name}: {}", if is_computed { "computed" } else { "no case" }));
        }
        let is_refused = refused.contains(name);
        if is_refused != (callable && refuses) {
            wrong.push(format!("{name}: {}", if is_refused { "refused" } else { "no refusal" }));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), operators::all().count());
}
