//! Kernels against numpy: `tests/kernels/make.py` writes the cases.

use std::collections::BTreeSet;

use interpreter::{Machine, Tensor, Value};
use relay_tests::{calls, corpus::here};
use semantics::{Database, all_defs};
use serde::Deserialize;
use syntax::ParseLimits;
use types::DataType;

#[derive(Deserialize)]
struct Case {
    expr: String,
    args: Vec<Array>,
    #[serde(default)]
    out: Vec<Array>,
    #[serde(default)]
    tolerance: f64,
    /// The message of an operator that cannot be computed.
    fault: Option<String>,
    /// Definitions before `@main`.
    #[serde(default)]
    before: String,
    /// The metadata section.
    #[serde(default)]
    after: String,
}

#[derive(Deserialize)]
struct Array {
    dtype: String,
    shape: Vec<usize>,
    data: Vec<serde_json::Value>,
}

impl Array {
    fn floats(&self) -> Vec<f64> {
        let number = |value: &serde_json::Value| match value {
            serde_json::Value::String(name) => name.parse().expect("nan, inf or -inf"),
            other => other.as_f64().expect("a number"),
        };
        self.data.iter().map(number).collect()
    }

    /// Returns exact 64-bit integers, such as keys of random generators.
    fn integers(&self) -> Vec<i64> {
        let number = |value: &serde_json::Value| match value {
            serde_json::Value::Bool(truth) => i64::from(*truth),
            other => match other.as_i64() {
                Some(number) => number,
                None => other.as_u64().expect("an integer").cast_signed(),
            },
        };
        self.data.iter().map(number).collect()
    }

    fn tensor(&self) -> Tensor {
        let dtype = DataType::parse(&self.dtype).expect("a data type");
        let tensor = if dtype.is_float() || dtype.is_bfloat() {
            Tensor::from_f64s(dtype, &self.shape, self.floats())
        } else {
            Tensor::from_i64s(dtype, &self.shape, self.integers())
        };
        tensor.expect("as many as the shape has")
    }
}

impl Case {
    fn text(&self) -> String {
        let params: Vec<String> = self
            .args
            .iter()
            .zip('a'..)
            .map(|(arg, name)| format!("%{name}: {}", arg.tensor().ty()))
            .collect();
        let (params, expr) = (params.join(", "), &self.expr);
        format!("{}\ndef @main({params}) {{ {expr} }}\n{}", self.before, self.after)
    }

    fn operators(&self) -> impl Iterator<Item = &'static str> {
        calls::of_text(&self.text()).into_iter().map(|call| call.operator.name)
    }

    fn run(&self) -> Result<Vec<Tensor>, String> {
        let db = Database::new();
        let file = db.add_file(self.text(), ParseLimits::default());
        let found = semantics::check_file(&db, file);
        if let Some(error) = found.iter().find(|d| d.severity == semantics::Severity::Error) {
            return Err(error.message.clone());
        }
        let def = all_defs(&db, file).find(|def| def.name(&db) == "@main");
        let args = self.args.iter().map(|arg| Value::from(arg.tensor())).collect();
        let value = Machine::new(&db).run(def.ok_or("there is no @main")?, args, None);
        value
            .map(|value| value.leaves().into_iter().cloned().collect())
            .map_err(|fault| fault.message)
    }

    fn check(&self) -> Result<(), String> {
        let found = match (self.run(), &self.fault) {
            (Err(found), Some(wanted)) if found.contains(wanted.as_str()) => return Ok(()),
            (Ok(_), Some(wanted)) => return Err(format!("it succeeded, expected: {wanted}")),
            (found, _) => found?,
        };
        if found.len() != self.out.len() {
            return Err(format!("{} tensors, not {}", found.len(), self.out.len()));
        }
        for (number, (found, wanted)) in found.iter().zip(&self.out).enumerate() {
            let (ty, expected) = (found.ty(), wanted.tensor().ty());
            if ty != expected {
                return Err(format!("tensor {number} has type {ty}, expected {expected}"));
            }
            let wrong = if found.dtype().is_float() || found.dtype().is_bfloat() {
                let close = |&(x, y): &(f64, f64)| {
                    x == y
                        || x.is_nan() && y.is_nan()
                        || (x - y).abs() <= self.tolerance + self.tolerance * y.abs()
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

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(here().join("kernels/cases.jsonl")).expect("the cases");
    text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect()
}

#[test]
fn kernels_equal_numpy() {
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.expr, case.check().err()?)))
        .collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Operators that no text can call, with the reason.
const WITHOUT_CALL: &[(&str, &str)] = &[
    ("parser.MetaRef", "`meta[relay.Constant][0]` is the entry itself as soon as a text is read"),
    ("meta_schedule_layout_transform", "its index map is an object of TIR in the metadata section"),
];

/// Every operator has a case with numbers, or with a message if it cannot be run. Operators without a type
/// relation in TVM have no case, because they have no valid calls.
#[test]
fn every_operator_has_a_case() {
    let (mut computed, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for case in cases() {
        match &case.fault {
            Some(why) => refused.extend(
                case.operators().filter(|name| interpreter::refusal(name) == Some(why.as_str())),
            ),
            None => computed.extend(case.operators()),
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
