//! Annotations, which compute nothing, and the operators of TVM's virtual machine.

use super::{create::scalar, prelude::*};
use crate::convert::converted;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("annotation.bitpack_end", identity),
    kernel("annotation.bitpack_start", identity),
    kernel("annotation.cast_hint", identity),
    kernel("annotation.checkpoint", identity),
    kernel("annotation.compiler_begin", identity),
    kernel("annotation.compiler_end", identity),
    kernel("annotation.stop_fusion", identity),
    kernel("annotation.with_funcid", identity),
    absent(
        "call_lowered",
        "it calls a function that TVM has lowered to TIR, which Relay text cannot contain",
    ),
    kernel("debug", identity),
    kernel("device_copy", identity),
    // The content of a `Storage` is only visible through the tensors in it.
    kernel("memory.alloc_storage", |_| Ok(Value::tuple([]))),
    kernel("memory.alloc_tensor", alloc_tensor),
    kernel("memory.kill", |c| {
        c.take(0);
        Ok(Value::tuple([]))
    }),
    kernel("on_device", identity),
    absent("parser.MetaRef", "it represents an entry of the metadata section while text is parsed"),
    kernel("relay.op.annotation.simulated_quantize", simulated_quantize),
    absent(
        "vm.invoke_tvm_op",
        "it calls compiled code and writes to memory, only inside of TVM's virtual machine",
    ),
    kernel("vm.reshape_tensor", reshape_tensor),
    kernel("vm.shape_of", shape_of),
];

/// Returns the first argument.
fn identity(call: &mut Call<'_>) -> Outcome {
    Ok(call.take(0))
}

/// The initial content of memory is unspecified; here it is zeros.
fn alloc_tensor(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("dtype");
    let mut shape = Vec::new();
    for size in call.numbers(2)? {
        match usize::try_from(size) {
            Ok(size) => shape.push(size),
            Err(_) => return Err(call.fault(format_args!("{size} is not a valid size"))),
        }
    }
    call.allow(&shape, dtype)?;
    match Tensor::zeros(dtype, &shape) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

fn reshape_tensor(call: &mut Call<'_>) -> Outcome {
    let mut shape = Vec::new();
    for size in call.numbers(1)? {
        match usize::try_from(size) {
            Ok(size) => shape.push(size),
            Err(_) => return Err(call.fault(format_args!("{size} is not a valid size"))),
        }
    }
    // The elements decide the shape, `newshape` the type.
    let (expected, _) = call.result()?;
    if shape != expected {
        return Err(
            call.fault(format_args!("`shape` is {shape:?}, but `newshape` is {expected:?}"))
        );
    }
    let tensor = call.take_tensor(0)?;
    Ok(call.reshaped(tensor, &shape)?.into())
}

/// The shape of a scalar has the type of a scalar; its value is 0.
fn shape_of(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let mut sizes: Vec<i64> = tensor.shape().iter().map(|&size| size as i64).collect();
    let shape: Vec<usize> = (tensor.rank() > 0).then_some(tensor.rank()).into_iter().collect();
    if sizes.is_empty() {
        sizes.push(0);
    }
    let dtype = call.attrs().dtype("dtype");
    match Tensor::from_i64s(dtype, &shape, sizes) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// Halves are rounded away from zero, as in the backend.
fn simulated_quantize(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    // The kind `IDENTITY` of TVM's enumeration, the only one that leaves the data unchanged.
    if call.optional_int("kind")? == Some(0) {
        return Ok(call.take(0));
    }
    let number = |position: usize| scalar(call, position).map(|number| number as f32);
    let (scale, low, high) = (number(1)?, number(2)?, number(3)?);
    let clip = |x: f32| {
        let x = if x < high { x } else { high };
        if x > low { x } else { low }
    };
    let quantize = |x: f32| clip(x / scale).round() * scale;
    let (shape, dtype) = (data.shape().to_vec(), data.dtype());
    call.allow(&shape, dtype)?;
    let numbers: Vec<f32> = mapped(&data.to_f32s(), quantize);
    match f32::tensor(&shape, numbers).and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}
