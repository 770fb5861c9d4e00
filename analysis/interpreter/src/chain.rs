//! Chains of elementwise operations, computed together.
//!
//! A normalisation, a bias, a residual and an activation each go over all elements of a tensor,
//! which may be larger than the caches. The operations of a chain are applied to one block of
//! elements after another, as the epilogue of a convolution or a product to each block right after
//! it is computed. Each operation is that of the operator's own kernel, in the same order, so that
//! the result is the same to the last bit.

use std::sync::atomic::{AtomicBool, Ordering};

use pulp::{Simd, WithSimd};

use crate::{
    interrupt::spend,
    tensor::{Array, elements},
    wide,
};

/// The number of elements to which the operations of a chain are applied in turn: they stay in the
/// first level cache.
const BLOCK: usize = 1024;
/// The maximum number of intermediate results of a chain that later operations use again.
pub(crate) const MAX_SAVED: usize = 2;

/// Operations on the elements of one tensor.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The shape of the tensor.
    input_shape: Vec<usize>,
    /// The shape of the result, which has as many elements.
    shape: Vec<usize>,
    steps: Vec<Step>,
    /// True once a kernel has claimed the operations.
    is_claimed: AtomicBool,
}

/// One operation.
#[derive(Debug)]
pub(crate) enum Step {
    /// Saves the elements for a later operation.
    Save(usize),
    /// An operation with another operand. The elements are the left operand unless `swapped`.
    Binary { op: BinaryOp, other: Operand, swapped: bool },
    /// A function of each element.
    Unary(UnaryOp),
}

/// An operation on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Max,
    Min,
}

/// A function of one number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnaryOp {
    Relu,
    Clip(f32, f32),
    Erf,
}

/// The other operand of an operation.
#[derive(Debug)]
pub(crate) enum Operand {
    /// One number for all elements.
    Scalar(f32),
    /// A number for each element.
    Elements(Array<f32>),
    /// A number for each channel; `inner` elements of a channel are adjacent.
    Channels { numbers: Vec<f32>, inner: usize },
    /// Elements that have been saved.
    Saved(usize),
}

impl Chain {
    /// Creates a chain without operations, for tensors of a shape.
    pub(crate) fn new(shape: Vec<usize>) -> Chain {
        let is_claimed = AtomicBool::new(false);
        Chain { input_shape: shape.clone(), shape, steps: Vec::new(), is_claimed }
    }

    /// Adds an operation.
    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Reshapes the result. The number of elements must be the same.
    pub(crate) fn reshape(&mut self, shape: Vec<usize>) {
        self.shape = shape;
    }

    /// Claims the chain for a kernel whose result has this shape, and which must then apply all its
    /// operations. Returns false if the chain is for tensors of another shape.
    pub(crate) fn claim(&self, shape: &[usize]) -> bool {
        let fits = shape == self.input_shape;
        if fits {
            self.is_claimed.store(true, Ordering::Relaxed);
        }
        fits
    }

    /// Returns true if a kernel has claimed the chain.
    pub(crate) fn is_claimed(&self) -> bool {
        self.is_claimed.load(Ordering::Relaxed)
    }

    /// Returns the shape of the result.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Applies the operations to the elements from `at` on, in row-major order.
    pub(crate) fn apply(&self, at: usize, elements: &mut [f32], scratch: &mut Scratch) {
        wide::ARCH.dispatch(Apply { chain: self, at, elements, scratch });
    }
}

/// Memory for saved elements, and for those of another operand.
pub(crate) struct Scratch {
    saved: [[f32; BLOCK]; MAX_SAVED],
    other: [f32; BLOCK],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { saved: [[0.0; BLOCK]; MAX_SAVED], other: [0.0; BLOCK] }
    }
}

struct Apply<'a> {
    chain: &'a Chain,
    at: usize,
    elements: &'a mut [f32],
    scratch: &'a mut Scratch,
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Apply { chain, at, elements, scratch: Scratch { saved, other } } = self;
        let mut from = 0;
        while from < elements.len() {
            let length = BLOCK.min(elements.len() - from);
            let Some(now) = elements.get_mut(from..from + length) else { return };
            spend(length * chain.steps.len());
            for step in &chain.steps {
                match step {
                    Step::Save(number) => {
                        if let Some(to) = saved.get_mut(*number) {
                            to[..length].copy_from_slice(now);
                        }
                    }
                    Step::Unary(op) => op.apply(now, !S::IS_SCALAR),
                    Step::Binary { op, other: operand, swapped } => {
                        let Some(other) = operand.block(at + from, length, saved, other) else {
                            return;
                        };
                        op.apply(now, other, *swapped);
                    }
                }
            }
            from += length;
        }
    }
}

impl Operand {
    /// Returns the numbers for the elements from `at` on, which are written to `buffer` if needed.
    #[inline(always)]
    fn block<'a>(
        &'a self,
        at: usize,
        length: usize,
        saved: &'a [[f32; BLOCK]; MAX_SAVED],
        buffer: &'a mut [f32; BLOCK],
    ) -> Option<&'a [f32]> {
        match self {
            Operand::Elements(array) => elements(array).get(at..at + length),
            Operand::Saved(number) => saved.get(*number)?.get(..length),
            Operand::Scalar(number) => {
                let buffer = buffer.get_mut(..length)?;
                buffer.fill(*number);
                Some(buffer)
            }
            Operand::Channels { numbers, inner } => {
                let buffer = buffer.get_mut(..length)?;
                let inner = (*inner).max(1);
                let mut channel = at / inner % numbers.len().max(1);
                let mut left = inner - at % inner;
                let mut from = 0;
                while from < length {
                    if inner == 1 {
                        let count = (numbers.len() - channel).min(length - from);
                        let numbers = numbers.get(channel..channel + count)?;
                        buffer.get_mut(from..from + count)?.copy_from_slice(numbers);
                        (from, channel) = (from + count, 0);
                        continue;
                    }
                    let count = left.min(length - from);
                    buffer.get_mut(from..from + count)?.fill(*numbers.get(channel)?);
                    from += count;
                    left = inner;
                    channel = if channel + 1 == numbers.len() { 0 } else { channel + 1 };
                }
                Some(buffer)
            }
        }
    }
}

// Macros instead of functions with closures, and indices instead of iterators: neither closures nor adapters
// are always inlined into functions with more instructions, and a call of `mul_add` that is not is a hundred
// times slower.

/// Replaces each number by the value of an expression.
macro_rules! map {
    ($now:ident, $x:ident => $value:expr) => {
        for k in 0..$now.len() {
            let $x = $now[k];
            $now[k] = $value;
        }
    };
}

/// Replaces each number by the value of an expression of it and its counterpart.
macro_rules! zip {
    ($now:ident, $other:ident, $x:ident, $y:ident => $value:expr) => {
        for k in 0..$now.len() {
            let ($x, $y) = ($now[k], $other[k]);
            $now[k] = $value;
        }
    };
}

impl BinaryOp {
    #[inline(always)]
    fn apply(self, now: &mut [f32], other: &[f32], swapped: bool) {
        let Some(other) = other.get(..now.len()) else { return };
        match (self, swapped) {
            (BinaryOp::Add, _) => zip!(now, other, x, y => x + y),
            (BinaryOp::Multiply, _) => zip!(now, other, x, y => x * y),
            (BinaryOp::Subtract, false) => zip!(now, other, x, y => x - y),
            (BinaryOp::Subtract, true) => zip!(now, other, x, y => y - x),
            (BinaryOp::Divide, false) => zip!(now, other, x, y => x / y),
            (BinaryOp::Divide, true) => zip!(now, other, x, y => y / x),
            (BinaryOp::Max, false) => zip!(now, other, x, y => if x > y { x } else { y }),
            (BinaryOp::Max, true) => zip!(now, other, x, y => if y > x { y } else { x }),
            (BinaryOp::Min, false) => zip!(now, other, x, y => if x < y { x } else { y }),
            (BinaryOp::Min, true) => zip!(now, other, x, y => if y < x { y } else { x }),
        }
    }
}

impl UnaryOp {
    #[inline(always)]
    fn apply(self, now: &mut [f32], fused: bool) {
        match self {
            UnaryOp::Relu => map!(now, x => if x > 0.0 { x } else { 0.0 }),
            UnaryOp::Clip(low, high) => map!(now, x => x.min(high).max(low)),
            UnaryOp::Erf => map!(now, x => wide::erf_of(x, fused)),
        }
    }
}
