//! Calls of operators as [chains](Chain) of elementwise operations.

use types::{AttrValue, Attrs, Type, normal_axis};

use crate::{
    allocate::{mapped, repeated},
    chain::{BinaryOp, Chain, MAX_SAVED, Operand, Scratch, Step, UnaryOp},
    code::CallSite,
    families::{Broadcast, channel_factors},
    fusion_rules::ElementOp,
    interrupt::PIECE,
    kernel::{Kernel, kernel},
    parallel::each_chunk,
    shared::SharedTensor,
    tensor::{Array, Tensor, count_of, elements, own},
};

/// Returns the operation of a chain that computes a call.
fn step(call: &CallSite) -> Option<ElementOp> {
    call.fusion.step
}

/// Returns true if a chain can apply the operator of a call to its argument at `position`.
pub(crate) fn can_follow(call: &CallSite, position: usize) -> bool {
    match step(call) {
        Some(ElementOp::Binary(_)) => position < 2,
        Some(_) => position == 0,
        None => false,
    }
}

/// Returns true if a chain can begin with the operator of a call.
pub(crate) fn can_start(call: &CallSite) -> bool {
    step(call).is_some_and(|op| op != ElementOp::Reshape)
}

/// Returns true if the result of a call is a tuple, of which a chain computes the first field.
pub(crate) fn has_tuple_result(call: &CallSite) -> bool {
    step(call) == Some(ElementOp::BatchNorm)
}

/// Returns true if the kernel of a call applies a chain to its result.
pub(crate) fn has_epilogue(call: &CallSite) -> bool {
    let attrs = &call.attrs;
    call.fusion.epilogue.is_some_and(|plain| {
        attrs.str("data_layout") == plain && ["", plain].contains(&attrs.str("out_layout"))
    })
}

/// Returns the shape of a type of tensors in single precision whose sizes are known.
pub(crate) fn shape_of(ty: &Type) -> Option<Vec<usize>> {
    let tensor = ty.as_tensor().filter(|tensor| tensor.dtype == types::DataType::FLOAT32)?;
    tensor.lengths::<Vec<usize>>().filter(|shape| count_of(shape).is_some())
}

/// Returns the shape of a type, or of the first field of a tuple.
pub(crate) fn first_shape(ty: &Type) -> Option<Vec<usize>> {
    match ty {
        Type::Tuple(fields) => shape_of(fields.first()?),
        other => shape_of(other),
    }
}

/// An argument of a call in a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg<'v> {
    /// The result of the previous operation.
    Previous,
    /// Elements that have been saved, by their number.
    Saved(usize),
    /// A tensor from outside of the chain.
    Tensor(&'v SharedTensor),
}

/// A chain to which operations are added.
pub(crate) struct Builder {
    chain: Chain,
    /// The shapes of saved elements, by their numbers.
    saved: [Option<Vec<usize>>; MAX_SAVED],
}

impl Builder {
    /// Creates a chain without operations, for tensors of a shape.
    pub(crate) fn new(shape: Vec<usize>) -> Builder {
        Builder { chain: Chain::new(shape), saved: Default::default() }
    }

    /// Saves the current elements under a number for a later operation.
    pub(crate) fn save(&mut self, number: usize) -> Option<()> {
        *self.saved.get_mut(number)? = Some(self.chain.shape().to_vec());
        self.chain.push(Step::Save(number));
        Some(())
    }

    /// Adds the operator of a call; `None` if a chain cannot contain it, or its arguments do not fit.
    pub(crate) fn call(&mut self, call: &CallSite, args: &[Arg<'_>]) -> Option<()> {
        let attrs = &call.attrs;
        match (step(call)?, args) {
            (ElementOp::Binary(op), [Arg::Previous, other]) => self.binary(op, other, false),
            (ElementOp::Binary(op), [other, Arg::Previous]) => self.binary(op, other, true),
            (ElementOp::Relu, [Arg::Previous]) => self.unary(UnaryOp::Relu),
            (ElementOp::Erf, [Arg::Previous]) => self.unary(UnaryOp::Erf),
            (ElementOp::Clip, [Arg::Previous]) => {
                let (low, high) = (attrs.float("a_min")?, attrs.float("a_max")?);
                self.unary(UnaryOp::Clip(low as f32, high as f32))
            }
            (ElementOp::BiasAdd, [Arg::Previous, Arg::Tensor(bias)]) => {
                let (count, inner) = self.channels(attrs)?;
                let bias = elements(array_of(bias)?);
                match *bias {
                    [one] => self.push(BinaryOp::Add, Operand::Scalar(one), false),
                    _ if bias.len() == count => {
                        let numbers = mapped(bias, |x| x);
                        self.push(BinaryOp::Add, Operand::Channels { numbers, inner }, false)
                    }
                    _ => None,
                }
            }
            (
                ElementOp::BatchNorm,
                [Arg::Previous, Arg::Tensor(gamma), Arg::Tensor(beta), mean, variance],
            ) => {
                let (Arg::Tensor(mean), Arg::Tensor(variance)) = (mean, variance) else {
                    return None;
                };
                let (count, inner) = self.channels(attrs)?;
                let vectors = [gamma, beta, mean, variance].map(|tensor| array_of(tensor));
                let [Some(gamma), Some(beta), Some(mean), Some(variance)] = vectors else {
                    return None;
                };
                let [gamma, beta, mean, variance] = [gamma, beta, mean, variance].map(elements);
                if [gamma, beta, mean, variance].iter().any(|numbers| numbers.len() != count) {
                    return None;
                }
                let double = |numbers: &[f32]| mapped(numbers, f64::from);
                let gamma = if attrs.bool("scale") { double(gamma) } else { repeated(1.0, count) };
                let beta = if attrs.bool("center") { double(beta) } else { repeated(0.0, count) };
                let (factors, offsets) = channel_factors(
                    &gamma,
                    &beta,
                    &double(mean),
                    &double(variance),
                    attrs.float("epsilon")?,
                );
                let single = |numbers: &[f64]| mapped(numbers, |x| x as f32);
                let factors = Operand::Channels { numbers: single(&factors), inner };
                self.push(BinaryOp::Multiply, factors, false)?;
                self.push(
                    BinaryOp::Add,
                    Operand::Channels { numbers: single(&offsets), inner },
                    false,
                )
            }
            (ElementOp::Reshape, [Arg::Previous]) => {
                let shape = shape_of(&call.result)?;
                let count = |shape: &[usize]| shape.iter().product::<usize>();
                (count(&shape) == count(self.chain.shape())).then(|| self.chain.reshape(shape))
            }
            _ => None,
        }
    }

    fn push(&mut self, op: BinaryOp, other: Operand, swapped: bool) -> Option<()> {
        self.chain.push(Step::Binary { op, other, swapped });
        Some(())
    }

    fn unary(&mut self, op: UnaryOp) -> Option<()> {
        self.chain.push(Step::Unary(op));
        Some(())
    }

    /// Returns the number of channels, and the number of adjacent elements of each.
    fn channels(&self, attrs: &Attrs) -> Option<(usize, usize)> {
        let axis = match attrs.get("axis") {
            AttrValue::Float(number) => number.0 as i64,
            value => value.as_int()?,
        };
        let shape = self.chain.shape();
        let axis = normal_axis(axis, shape.len())?;
        Some((shape[axis], shape[axis + 1..].iter().product()))
    }

    fn binary(&mut self, op: BinaryOp, other: &Arg<'_>, swapped: bool) -> Option<()> {
        let shape = self.chain.shape();
        let operand = match other {
            Arg::Previous => return None,
            Arg::Saved(number) if self.saved.get(*number)?.as_deref() == Some(shape) => {
                Operand::Saved(*number)
            }
            Arg::Saved(_) => return None,
            Arg::Tensor(tensor) => {
                let array = array_of(tensor)?;
                let whole = Broadcast::of([shape, array.shape()])?;
                if whole.shape != shape {
                    return None;
                }
                let numbers = elements(array);
                // The axes from the first to the last that are longer than 1.
                let sizes = array.shape();
                let front = sizes.iter().take_while(|&&size| size == 1).count();
                let back = sizes.iter().rev().take_while(|&&size| size == 1).count();
                let skip = shape.len() - sizes.len();
                match numbers {
                    [one] => Operand::Scalar(*one),
                    _ if numbers.len() == shape.iter().product::<usize>() => {
                        Operand::Elements(array.clone())
                    }
                    _ if sizes[front..sizes.len() - back]
                        == shape[skip + front..shape.len() - back] =>
                    {
                        let inner = shape[shape.len() - back..].iter().product();
                        Operand::Channels { numbers: mapped(numbers, |x| x), inner }
                    }
                    _ => return None,
                }
            }
        };
        self.push(op, operand, swapped)
    }

    /// Returns the chain.
    pub(crate) fn build(self) -> Chain {
        self.chain
    }
}

/// Returns the array of a tensor in single precision without a pending transpose.
fn array_of(shared: &SharedTensor) -> Option<&Array<f32>> {
    match shared.pending() {
        Some(_) => None,
        None => match &**shared {
            Tensor::F32(array) => Some(array),
            _ => None,
        },
    }
}

/// The kernel that applies a chain to its argument.
pub(crate) static CHAIN_KERNEL: Kernel = kernel("nn.relu", |call| {
    let tensor = call.take_tensor(0)?;
    let Some(chain) = call.chain(tensor.shape()) else {
        return call.unsupported(tensor.dtype());
    };
    let Tensor::F32(array) = tensor else { return call.unsupported(tensor.dtype()) };
    let mut array = own(array);
    if let Some(elements) = array.as_slice_mut() {
        each_chunk(elements, PIECE, 1, &|at, piece| {
            chain.apply(at * PIECE, piece, &mut Scratch::default());
        });
    }
    Ok(Tensor::F32(array).into())
});
