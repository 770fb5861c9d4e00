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
    out: Vec<Array>,
    tolerance: f64,
}

#[derive(Deserialize)]
struct Array {
    dtype: String,
    shape: Vec<usize>,
    data: Vec<serde_json::Value>,
}

impl Array {
    fn numbers(&self) -> Vec<f64> {
        let number = |value: &serde_json::Value| match value {
            serde_json::Value::Bool(truth) => f64::from(u8::from(*truth)),
            serde_json::Value::String(name) => name.parse().expect("nan, inf or -inf"),
            other => other.as_f64().expect("a number"),
        };
        self.data.iter().map(number).collect()
    }

    fn tensor(&self) -> Tensor {
        let dtype = DataType::parse(&self.dtype).expect("a data type");
        Tensor::from_f64s(dtype, &self.shape, self.numbers()).expect("as many as the shape has")
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
        format!("def @main({}) {{ {} }}", params.join(", "), self.expr)
    }

    fn run(&self) -> Result<Vec<Tensor>, String> {
        let db = Database::new();
        let file = db.add_file(&self.text(), ParseLimits::default());
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
        let found = self.run()?;
        if found.len() != self.out.len() {
            return Err(format!("{} tensors, not {}", found.len(), self.out.len()));
        }
        for (found, wanted) in found.iter().zip(&self.out) {
            let (ty, expected) = (found.ty(), wanted.tensor().ty());
            if ty != expected {
                return Err(format!("{ty}, not {expected}"));
            }
            let close = |x: f64, y: f64| {
                x == y
                    || x.is_nan() && y.is_nan()
                    || found.dtype().is_float()
                        && (x - y).abs() <= self.tolerance + self.tolerance * y.abs()
            };
            for (k, (x, y)) in found.to_f64s().into_iter().zip(wanted.numbers()).enumerate() {
                if !close(x, y) {
                    return Err(format!("element {k} is {x}, not {y}"));
                }
            }
        }
        Ok(())
    }
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(here().join("kernels/cases.jsonl")).expect("the cases");
    text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect()
}

#[test]
fn kernels_compute_what_numpy_computes() {
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.expr, case.check().err()?)))
        .collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The kernels of numbers that are laid out, moved, added up and compared have their cases here;
/// those of the corpus' own operators (`vision`, `sparse`, the accelerators) elsewhere.
#[test]
fn most_operators_have_a_case() {
    let names: BTreeSet<&str> = cases()
        .iter()
        .flat_map(|case| calls::of_text(&case.text()))
        .map(|c| c.operator.name)
        .collect();
    assert!(names.len() > 160, "{} operators: {names:?}", names.len());
}
