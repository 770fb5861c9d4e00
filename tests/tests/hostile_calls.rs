//! Calls of operators with extreme numbers: sizes, widths, axes and shapes that are 0, negative or maximal.
//! Each terminates quickly, with a value or a reason.
//!
//! The calls are those of `tests/kernels/cases.jsonl`, with one number of an attribute, or all of an
//! argument, changed. The process has little memory, and every second run has no memory limit: an
//! infallible allocation ends the process.

use std::{
    alloc::System,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use cap::Cap;
use interpreter::{FaultKind, Limits, Machine, Tensor, Value};
use relay_tests::{
    figures::WATCHDOG,
    kernel_calls::{Array, Case, cases, numbers},
};
use semantics::{Database, Severity, all_defs};
use syntax::ParseLimits;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, 512 << 20);

const NUMBERS: &[i64] = &[
    0,
    -1,
    -2,
    1,
    3,
    1 << 15,
    i32::MAX as i64,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 62,
    i64::MAX,
    i64::MIN + 1,
];

/// Runs a call; returns an error if it does not fail properly.
fn run(
    case: &Case,
    expr: &str,
    args: Vec<Tensor>,
    memory: Option<u64>,
) -> Result<Option<FaultKind>, String> {
    let params = args.iter().zip('a'..).map(|(arg, name)| format!("%{name}: {}", arg.ty()));
    let params = params.collect::<Vec<_>>().join(", ");
    let text = format!("{}\ndef @main({params}) {{ {expr} }}\n{}", case.before, case.after);
    let begin = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        let found = semantics::check_file(&db, file);
        if found.iter().any(|d| d.severity == Severity::Error) {
            return None;
        }
        let def = all_defs(&db, file).find(|def| def.name(&db) == "@main").expect("@main");
        let limits = Limits { memory, time: Some(Duration::from_secs(1)), ..Limits::default() };
        let args = args.iter().cloned().map(Value::from).collect();
        let mut machine = Machine::new(&db).limited(limits);
        let kind = machine.run(def, args, None).err().map(|fault| fault.kind);
        // A cancelled call may still hold its memory.
        machine.wait_for_cleanup();
        kind
    }));
    let took = begin.elapsed();
    let told = args.iter().map(|arg| format!("{:?}", arg.to_f64s())).collect::<Vec<_>>().join(" ");
    let Ok(kind) = done else { return Err(format!("it panics: {text} {told:.200}")) };
    if took > WATCHDOG {
        return Err(format!("it takes {took:?}: {text} {told:.200}"));
    }
    Ok(kind)
}

#[test]
fn extreme_numbers_fail_with_a_reason() {
    let cases = cases();
    // All of them on demand, otherwise a deterministic sample.
    let part = if std::env::var_os("RELAY_TESTS_ALL").is_some() { 1 } else { 17 };
    let (mut calls, mut wrong) = (0, Vec::new());
    let memory = |calls: usize| (calls / part).is_multiple_of(2).then_some(128 << 20);
    let mut faults = std::collections::BTreeMap::new();
    let mut end = |ended: Result<Option<FaultKind>, String>| match ended {
        Ok(Some(kind)) => *faults.entry(kind.code()).or_insert(0) += 1,
        Ok(None) => {}
        Err(what) => wrong.push(what),
    };
    for (number, case) in cases.iter().enumerate() {
        let args: Vec<Tensor> = case.args.iter().map(Array::tensor).collect();
        for range in numbers(&case.expr) {
            for new in NUMBERS {
                calls += 1;
                if (calls + number) % part != 0 {
                    continue;
                }
                let mut expr = case.expr.clone();
                expr.replace_range(range.clone(), &new.to_string());
                end(run(case, &expr, args.clone(), memory(calls)));
            }
        }
        for (at, arg) in case.args.iter().enumerate().filter(|(_, arg)| !arg.is_float()) {
            for &new in NUMBERS {
                calls += 1;
                if (calls + number) % part != 0 {
                    continue;
                }
                let mut args = args.clone();
                let count = arg.data.len();
                let numbers = std::iter::repeat_n(new, count).collect();
                args[at] = Tensor::from_i64s(arg.dtype(), &arg.shape, numbers).expect("a tensor");
                end(run(case, &case.expr, args, memory(calls)));
            }
        }
    }
    println!("{calls} calls: {faults:?}, at most {} MB", ALLOCATOR.max_allocated() >> 20);
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(faults.get(&semantics::Code::RunMemory).is_some_and(|&count| count > 20), "{faults:?}");
}
