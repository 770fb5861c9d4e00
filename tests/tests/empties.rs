//! Tensors without elements, but with huge axes: every operator accepts them or fails with a reason, and
//! none iterates over 2^62 empty positions.
//!
//! The calls are those of `tests/kernels/cases.jsonl`, with one size of their arguments replaced by 0 and
//! another by a huge one, wherever these sizes occur.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use interpreter::{FaultKind, Limits, Machine, Tensor, Value, count_of};
use relay_tests::{
    figures::WATCHDOG,
    kernel_calls::{Case, cases},
};
use semantics::{Database, Severity, all_defs};
use syntax::ParseLimits;

const HUGE: u64 = 1 << 62;

/// Operators whose results are not compared with their types: for windows of size 0, and for attributes that
/// contradict the arguments, TVM's types are inconsistent.
const WINDOWED: &[&str] = &[
    "collapse_sum_to",
    "image.dilation2d",
    "nn.avg_pool",
    "nn.batch_matmul",
    "nn.bitserial",
    "nn.contrib_conv",
    "nn.conv",
    "nn.max_pool",
    "qnn.avg_pool",
    "qnn.conv",
    "vm.reshape_tensor",
];

/// The sizes that become 0 and huge.
#[derive(Clone, Copy)]
struct Change {
    zero: u64,
    huge: Option<u64>,
    /// In attributes, too.
    everywhere: bool,
}

impl Change {
    fn of(self, size: u64) -> u64 {
        match size {
            size if size == self.zero => 0,
            size if Some(size) == self.huge => HUGE,
            size => size,
        }
    }

    /// Changes the numbers in a text.
    fn text(self, text: &str) -> String {
        if !self.everywhere {
            return text.to_owned();
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let (front, back) = rest.split_at(at);
            out += front;
            let end = back.find(|c: char| !c.is_ascii_digit()).unwrap_or(back.len());
            let (number, back) = back.split_at(end);
            // Not a part of a name, such as `float32` or `i64`, or of `0.5`.
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '%' | '"');
            let alone = !front.ends_with(is_part) && !back.starts_with(is_part);
            match number.parse() {
                Ok(size) if alone => out += &self.of(size).to_string(),
                _ => out += number,
            }
            rest = back;
        }
        out + rest
    }
}

/// The outcome of a call.
#[derive(PartialEq, Eq, Debug)]
enum End {
    /// It has errors.
    Untyped,
    /// An argument has too many elements.
    Large,
    Value,
    Fault(FaultKind),
}

fn run(case: &Case, change: Change) -> Result<End, String> {
    let mut args = Vec::new();
    let mut params = Vec::new();
    for (array, name) in case.args.iter().zip('a'..) {
        let dtype = array.dtype();
        let shape: Vec<usize> =
            array.shape.iter().map(|&size| change.of(size as u64) as usize).collect();
        match count_of(&shape) {
            Some(count) if count <= 1 << 16 => {}
            _ => return Ok(End::Large),
        }
        let tensor = Tensor::zeros(dtype, &shape).expect("a tensor");
        params.push(format!("%{name}: {}", tensor.ty()));
        args.push(Value::from(tensor));
    }
    let expr = change.text(&case.expr);
    let text =
        format!("{}\ndef @main({}) {{ {expr} }}\n{}", case.before, params.join(", "), case.after);
    let begin = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let db = Database::new();
        let file = db.add_file(&text, ParseLimits::default());
        let found = semantics::check_file(&db, file);
        if found.iter().any(|d| d.severity == Severity::Error) {
            return Ok(End::Untyped);
        }
        let def = all_defs(&db, file).find(|def| def.name(&db) == "@main").expect("@main");
        let limits = Limits { memory: Some(64 << 20), time: Some(WATCHDOG), ..Limits::default() };
        match Machine::new(&db).limited(limits).run(def, args, None) {
            Err(fault) if fault.kind == FaultKind::Time => Err("it takes too long".to_owned()),
            Err(fault) => Ok(End::Fault(fault.kind)),
            Ok(value) => {
                let view = semantics::View::new(&db, def).expect("a function");
                let wanted = match view.inference.signature.as_ref() {
                    Some(types::Type::Func(func)) => func.ret().clone(),
                    _ => types::Type::Error,
                };
                // A size in a 64-bit literal keeps its suffix.
                let (is, wanted) = (value.ty().to_string(), wanted.to_string().replace("i64", ""));
                // TVM infers negative sizes for windows that are larger than the data.
                let is_open = wanted.contains(['?', '-'])
                    || WINDOWED.iter().any(|name| expr.starts_with(name));
                if !is_open && is.replace("i64", "") != wanted {
                    return Err(format!("it is {is}, expected {wanted}"));
                }
                Ok(End::Value)
            }
        }
    }));
    let took = begin.elapsed();
    let panicked = |_| Err("it panics".to_owned());
    match done.unwrap_or_else(panicked) {
        Err(what) => Err(format!("{what}: {text}")),
        Ok(_) if took > WATCHDOG => Err(format!("it takes {took:?}: {text}")),
        Ok(end) => Ok(end),
    }
}

#[test]
fn every_operator_handles_tensors_without_elements() {
    let mut wrong = Vec::new();
    let (mut values, mut faults, mut untyped) = (0, 0, 0);
    let mut operators = std::collections::BTreeSet::new();
    for case in cases() {
        let mut sizes: Vec<u64> =
            case.args.iter().flat_map(|arg| &arg.shape).map(|&size| size as u64).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for &zero in &sizes {
            let others = sizes.iter().filter(|&&size| size != zero).map(|&size| Some(size));
            for huge in others.chain([None]) {
                for everywhere in [false, true] {
                    match run(&case, Change { zero, huge, everywhere }) {
                        Ok(End::Value) => {
                            values += 1;
                            let name = case.expr.split('(').next().unwrap_or_default();
                            operators.insert(name.to_owned());
                        }
                        Ok(End::Fault(_)) => faults += 1,
                        Ok(End::Untyped | End::Large) => untyped += 1,
                        Err(what) => wrong.push(what),
                    }
                }
            }
        }
    }
    println!(
        "{values} values, {faults} faults, {untyped} with errors, {} operators",
        operators.len()
    );
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(values > 5000 && operators.len() > 200, "{values} values, {}", operators.len());
}
