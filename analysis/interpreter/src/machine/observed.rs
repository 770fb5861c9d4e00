//! Runs of tests with observers.

use semantics::{Database, DefKind, all_defs};
use syntax::ParseLimits;

use super::{Calls, Machine, Observer};
use crate::{Fault, Tensor, TraceLevel, Value};

/// Runs the last function of a text on arguments, with points. `then` gets the machine after that.
pub(super) fn run<O: Observer>(
    text: &str,
    args: Vec<Value>,
    observer: &mut O,
    then: impl FnOnce(&mut Machine<'_>, &mut O),
) -> Result<Value, Fault> {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let functions = all_defs(&db, file).filter(|def| def.kind(&db) == DefKind::Fn);
    let main = functions.last().expect("a function");
    let mut machine = Machine::new(&db);
    machine.trace(TraceLevel::Points);
    let result = machine.run(main, args, Some(observer));
    then(&mut machine, observer);
    result
}

/// Returns zeros in single precision.
pub(super) fn zeros(count: usize) -> Value {
    Tensor::zeros(types::DataType::FLOAT32, &[count]).expect("a tensor").into()
}

/// Returns the names of the variables of the innermost call that have a value.
pub(super) fn names<'t>(text: &'t str, calls: &Calls<'_>) -> Vec<&'t str> {
    let variables = calls.variables(0).into_iter();
    let has_value = |value: &Value| !matches!(value, Value::Empty | Value::Released);
    let named = variables.filter(|variable| has_value(&variable.value));
    named.map(|variable| &text[std::ops::Range::<usize>::from(variable.name)]).collect()
}
