//! Reduction of calls that violate the law.

use std::time::{Duration, Instant};

use types::{AttrValue, DataType};

use super::{Arg, Call, Elements, Form, Violation, check_law};

/// The time limit of a reduction.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns a smaller call that violates the law in the same way.
pub fn shrink(call: &Call, violation: &Violation) -> (Call, Violation) {
    let begin = Instant::now();
    let mut best = (call.clone(), violation.clone());
    'smaller: loop {
        for candidate in candidates(&best.0) {
            if begin.elapsed() > PATIENCE {
                return best;
            }
            if let Err(found) = check_law(&candidate)
                && found.is_like(violation)
            {
                best = (candidate, found);
                continue 'smaller;
            }
        }
        return best;
    }
}

/// Returns simpler calls, the simplest first.
fn candidates(call: &Call) -> Vec<Call> {
    let mut found = Vec::new();
    if call.is_squared {
        found.push(Call { is_squared: false, ..call.clone() });
    }
    if let Form::Table(attrs) = &call.form {
        for at in 0..attrs.len() {
            let mut without = attrs.clone();
            without.remove(at);
            found.push(Call { form: Form::Table(without), ..call.clone() });
        }
        for at in 0..attrs.len() {
            for value in simpler_values(&attrs[at].1) {
                let mut simpler = attrs.clone();
                simpler[at].1 = value;
                found.push(Call { form: Form::Table(simpler), ..call.clone() });
            }
        }
    }
    for at in 0..call.args.len() {
        for arg in simpler_args(&call.args[at]) {
            let mut args = call.args.clone();
            args[at] = arg;
            found.push(Call { args, ..call.clone() });
        }
        if call.operator.variadic {
            let mut args = call.args.clone();
            args.remove(at);
            found.push(Call { args, ..call.clone() });
        }
    }
    // Equal sizes and data types together.
    let mut sizes: Vec<usize> =
        call.args.iter().flat_map(Arg::tensors).flat_map(|tensor| tensor.shape.clone()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for &from in sizes.iter().rev() {
        for to in [1, 2, from.saturating_sub(1)] {
            if (1..from).contains(&to) {
                let mut smaller = call.clone();
                smaller.each_tensor(&mut |tensor| {
                    tensor
                        .shape
                        .iter_mut()
                        .filter(|size| **size == from)
                        .for_each(|size| *size = to);
                });
                found.push(smaller);
            }
        }
    }
    if let Some(first) = call.args.iter().flat_map(Arg::tensors).map(|tensor| tensor.dtype).next()
        && first != DataType::FLOAT32
    {
        let mut plain = call.clone();
        plain.each_tensor(&mut |tensor| {
            if tensor.dtype == first {
                tensor.dtype = DataType::FLOAT32;
            }
        });
        found.push(plain);
    }
    found
}

fn simpler_values(value: &AttrValue) -> Vec<AttrValue> {
    match value {
        AttrValue::Int { value, wide } => {
            let mut found: Vec<AttrValue> = [0, 1, value.signum() * (value.abs() - 1)]
                .into_iter()
                .filter(|new| new.abs() < value.abs())
                .map(AttrValue::int)
                .collect();
            if *wide {
                found.push(AttrValue::int(*value));
            }
            found
        }
        AttrValue::List(values) => {
            let mut found = Vec::new();
            for at in 0..values.len() {
                let mut shorter = values.to_vec();
                shorter.remove(at);
                found.push(AttrValue::List(shorter.into()));
            }
            for at in 0..values.len() {
                for simpler in simpler_values(&values[at]) {
                    let mut values = values.to_vec();
                    values[at] = simpler;
                    found.push(AttrValue::List(values.into()));
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

fn simpler_args(arg: &Arg) -> Vec<Arg> {
    match arg {
        Arg::Tuple(fields) => {
            let mut found = Vec::new();
            for at in 0..fields.len() {
                let mut fewer = fields.clone();
                fewer.remove(at);
                found.push(Arg::Tuple(fewer));
            }
            for at in 0..fields.len() {
                for simpler in simpler_args(&fields[at]) {
                    let mut fields = fields.clone();
                    fields[at] = simpler;
                    found.push(Arg::Tuple(fields));
                }
            }
            found
        }
        Arg::Tensor(tensor) => {
            let mut found = Vec::new();
            if tensor.literal {
                found.push(super::TensorArg { literal: false, ..tensor.clone() });
            }
            if tensor.open.contains(&true) {
                found.push(super::TensorArg {
                    open: vec![false; tensor.open.len()],
                    ..tensor.clone()
                });
            }
            if !matches!(tensor.elements, Elements::All(1)) {
                found.push(super::TensorArg { elements: Elements::All(1), ..tensor.clone() });
                if !matches!(tensor.elements, Elements::All(0)) {
                    found.push(super::TensorArg { elements: Elements::All(0), ..tensor.clone() });
                }
            }
            for axis in 0..tensor.shape.len() {
                let mut lower = tensor.clone();
                lower.shape.remove(axis);
                lower.open.remove(axis);
                found.push(lower);
                for size in [1, 2, tensor.shape[axis].saturating_sub(1)] {
                    if (1..tensor.shape[axis]).contains(&size) {
                        let mut smaller = tensor.clone();
                        smaller.shape[axis] = size;
                        found.push(smaller);
                    }
                }
            }
            found.into_iter().map(Arg::Tensor).collect()
        }
    }
}
