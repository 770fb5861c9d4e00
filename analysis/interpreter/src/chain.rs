//! Operators on elements that follow a convolution or a product, computed together with it.
//!
//! A normalisation, a bias, a residual and an activation each go over all elements of a result, which may be
//! larger than the caches. In a chain they are computed for a stretch of elements right after it is there.
//! Each operation is the one of the operator's own kernel, in the same order, so that the result is the same
//! to the last bit.

#![expect(
    clippy::needless_range_loop,
    reason = "adapters of iterators are not always inlined into functions with more instructions"
)]

use std::sync::atomic::{AtomicBool, Ordering};

use pulp::{Simd, WithSimd};
use types::{AttrValue, Attrs, Type};

use crate::{
    code::Site,
    families::{Broadcast, channel_factors},
    interrupt::{PIECE, each_chunk, mapped, repeated, spend},
    kernel::{self, Kernel},
    tensor::{Array, Tensor, count_of, elements, own},
    value::Value,
    wide,
};

/// Elements that the operations of a chain are done on in turn: they stay in the first level cache.
const STRETCH: usize = 1024;
/// The most values of a chain that later operations use again.
pub(crate) const KEPT: usize = 2;

/// Operations on the elements of one tensor.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The shape of the tensor before.
    from: Vec<usize>,
    /// The shape of the result, which has as many elements.
    shape: Vec<usize>,
    steps: Vec<Step>,
    /// The operations have been, or will be, done by the kernel that was given them.
    taken: AtomicBool,
}

/// One operation.
#[derive(Debug)]
enum Step {
    /// Keeps the elements for a later operation.
    Keep(usize),
    /// Two operands, of which the elements are the left one unless they are `turned`.
    Pair { pair: Pair, with: With, turned: bool },
    /// A function of each element.
    Each(Each),
}

/// An operation on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pair {
    Add,
    Subtract,
    Multiply,
    Divide,
    Larger,
    Smaller,
}

/// A function of one number.
#[derive(Clone, Copy, Debug)]
enum Each {
    Relu,
    Clip(f32, f32),
    Erf,
}

/// The other operand of an operation.
#[derive(Debug)]
enum With {
    /// One number for all elements.
    One(f32),
    /// A number for each element.
    All(Array<f32>),
    /// A number for each channel; `inner` elements of a channel lie side by side.
    Channels { numbers: Vec<f32>, inner: usize },
    /// Elements that have been kept.
    Kept(usize),
}

/// An argument of a call in a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg<'v> {
    /// The result of the operation before.
    Before,
    /// Elements that have been kept.
    Kept(usize),
    /// A value from outside.
    Value(&'v Value),
}

/// The operation of an operator on elements, of those that a chain can contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Pair(Pair),
    Relu,
    Clip,
    Erf,
    Bias,
    Norm,
    Reshape,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "add" => Kind::Pair(Pair::Add),
            "subtract" => Kind::Pair(Pair::Subtract),
            "multiply" => Kind::Pair(Pair::Multiply),
            "divide" => Kind::Pair(Pair::Divide),
            "maximum" => Kind::Pair(Pair::Larger),
            "minimum" => Kind::Pair(Pair::Smaller),
            "nn.relu" => Kind::Relu,
            "clip" => Kind::Clip,
            "erf" => Kind::Erf,
            "nn.bias_add" => Kind::Bias,
            "nn.batch_norm" => Kind::Norm,
            "reshape" | "nn.batch_flatten" | "expand_dims" | "squeeze" => Kind::Reshape,
            _ => return None,
        })
    }
}

/// Returns true if a chain can do what this operator does to its argument at `position`.
pub(crate) fn can_follow(site: &Site, position: usize) -> bool {
    match Kind::of(site.operator.name) {
        Some(Kind::Pair(_)) => position < 2,
        Some(_) => position == 0,
        None => false,
    }
}

/// Returns true if a chain can begin with what this operator does to one of its arguments.
pub(crate) fn can_begin(site: &Site) -> bool {
    Kind::of(site.operator.name).is_some_and(|kind| kind != Kind::Reshape)
}

/// Returns true if the operator gives a tuple of which a chain knows the first field.
pub(crate) fn gives_tuple(site: &Site) -> bool {
    Kind::of(site.operator.name) == Some(Kind::Norm)
}

/// Returns true if the kernel of this operator does the operations of a chain with its own.
pub(crate) fn can_lead(site: &Site) -> bool {
    let plain = |plain: &str| {
        let attrs = &site.attrs;
        attrs.str("data_layout") == plain && ["", plain].contains(&attrs.str("out_layout"))
    };
    match site.operator.name {
        "nn.conv1d" => plain("NCW"),
        "nn.conv2d" => plain("NCHW"),
        "nn.conv3d" => plain("NCDHW"),
        "nn.dense" | "nn.matmul" | "nn.batch_matmul" => true,
        _ => false,
    }
}

/// The shape of a type of tensors in single precision whose sizes are known.
pub(crate) fn shape_of(ty: &Type) -> Option<Vec<usize>> {
    let tensor = ty.as_tensor().filter(|tensor| tensor.dtype == types::DataType::FLOAT32)?;
    let sizes = tensor.shape.iter().map(|dim| usize::try_from(dim.as_known()?).ok());
    sizes.collect::<Option<Vec<usize>>>().filter(|shape| count_of(shape).is_some())
}

/// That of a type, or of the first field of a tuple.
pub(crate) fn first_shape(ty: &Type) -> Option<Vec<usize>> {
    match ty {
        Type::Tuple(fields) => shape_of(fields.first()?),
        other => shape_of(other),
    }
}

/// A chain to which operations are added.
pub(crate) struct Builder {
    chain: Chain,
    kept: [Option<Vec<usize>>; KEPT],
}

impl Builder {
    /// A chain without operations, for a tensor of a shape.
    pub(crate) fn new(shape: Vec<usize>) -> Builder {
        let taken = AtomicBool::new(false);
        let chain = Chain { from: shape.clone(), shape, steps: Vec::new(), taken };
        Builder { chain, kept: Default::default() }
    }

    /// Keeps what there is for a later operation.
    pub(crate) fn keep(&mut self, at: usize) -> Option<()> {
        *self.kept.get_mut(at)? = Some(self.chain.shape.clone());
        self.chain.steps.push(Step::Keep(at));
        Some(())
    }

    /// Adds what an operator does; `None` where this is not known, or its arguments do not fit.
    pub(crate) fn call(&mut self, site: &Site, args: &[Arg<'_>]) -> Option<()> {
        let attrs = &site.attrs;
        match (Kind::of(site.operator.name)?, args) {
            (Kind::Pair(pair), [Arg::Before, other]) => self.pair(pair, other, false),
            (Kind::Pair(pair), [other, Arg::Before]) => self.pair(pair, other, true),
            (Kind::Relu, [Arg::Before]) => self.each(Each::Relu),
            (Kind::Erf, [Arg::Before]) => self.each(Each::Erf),
            (Kind::Clip, [Arg::Before]) => {
                let (low, high) = (attrs.float("a_min")?, attrs.float("a_max")?);
                self.each(Each::Clip(low as f32, high as f32))
            }
            (Kind::Bias, [Arg::Before, Arg::Value(bias)]) => {
                let (count, inner) = self.channels(attrs)?;
                let bias = elements(array_of(bias)?);
                match *bias {
                    [one] => self.push(Pair::Add, With::One(one), false),
                    _ if bias.len() == count => {
                        let numbers = mapped(bias, |x| x);
                        self.push(Pair::Add, With::Channels { numbers, inner }, false)
                    }
                    _ => None,
                }
            }
            (Kind::Norm, [Arg::Before, Arg::Value(gamma), Arg::Value(beta), mean, variance]) => {
                let (Arg::Value(mean), Arg::Value(variance)) = (mean, variance) else {
                    return None;
                };
                let (count, inner) = self.channels(attrs)?;
                let vectors = [gamma, beta, mean, variance].map(|value| array_of(value));
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
                let factors = With::Channels { numbers: single(&factors), inner };
                self.push(Pair::Multiply, factors, false)?;
                self.push(Pair::Add, With::Channels { numbers: single(&offsets), inner }, false)
            }
            (Kind::Reshape, [Arg::Before]) => {
                let shape = shape_of(&site.result)?;
                let count = |shape: &[usize]| shape.iter().product::<usize>();
                (count(&shape) == count(&self.chain.shape)).then(|| self.chain.shape = shape)
            }
            _ => None,
        }
    }

    fn push(&mut self, pair: Pair, with: With, turned: bool) -> Option<()> {
        self.chain.steps.push(Step::Pair { pair, with, turned });
        Some(())
    }

    fn each(&mut self, each: Each) -> Option<()> {
        self.chain.steps.push(Step::Each(each));
        Some(())
    }

    /// The number of channels, and how many elements of one lie side by side.
    fn channels(&self, attrs: &Attrs) -> Option<(usize, usize)> {
        let axis = match attrs.get("axis") {
            AttrValue::Float(number) => number.0 as i64,
            value => value.as_int()?,
        };
        let rank = self.chain.shape.len();
        let axis = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
        let axis = usize::try_from(axis).ok().filter(|&axis| axis < rank)?;
        Some((self.chain.shape[axis], self.chain.shape[axis + 1..].iter().product()))
    }

    fn pair(&mut self, pair: Pair, other: &Arg<'_>, turned: bool) -> Option<()> {
        let shape = &self.chain.shape;
        let with = match other {
            Arg::Before => return None,
            Arg::Kept(at) if self.kept.get(*at)?.as_ref() == Some(shape) => With::Kept(*at),
            Arg::Kept(_) => return None,
            Arg::Value(value) => {
                let array = array_of(value)?;
                let whole = Broadcast::of([shape, array.shape()])?;
                if whole.shape != *shape {
                    return None;
                }
                let numbers = elements(array);
                // The axes from the first to the last that are longer than 1.
                let sizes = array.shape();
                let front = sizes.iter().take_while(|&&size| size == 1).count();
                let back = sizes.iter().rev().take_while(|&&size| size == 1).count();
                let skip = shape.len() - sizes.len();
                match numbers {
                    [one] => With::One(*one),
                    _ if numbers.len() == shape.iter().product::<usize>() => {
                        With::All(array.clone())
                    }
                    _ if sizes[front..sizes.len() - back]
                        == shape[skip + front..shape.len() - back] =>
                    {
                        let inner = shape[shape.len() - back..].iter().product();
                        With::Channels { numbers: mapped(numbers, |x| x), inner }
                    }
                    _ => return None,
                }
            }
        };
        self.push(pair, with, turned)
    }

    /// The chain.
    pub(crate) fn build(self) -> Chain {
        self.chain
    }
}

/// The array of a tensor in single precision that is not waiting to be transposed.
fn array_of(value: &Value) -> Option<&Array<f32>> {
    let Value::Tensor(shared) = value else { return None };
    match shared.pending() {
        Some(_) => None,
        None => match &**shared {
            Tensor::F32(array) => Some(array),
            _ => None,
        },
    }
}

impl Chain {
    /// Takes the chain for a result of this shape: whoever has it does all its operations. Returns false
    /// where the shape is another one.
    pub(crate) fn take(&self, shape: &[usize]) -> bool {
        let fits = shape == self.from;
        if fits {
            self.taken.store(true, Ordering::Relaxed);
        }
        fits
    }

    /// Returns true if somebody has taken the chain.
    pub(crate) fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }

    /// The shape of the result.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Does the operations on the elements from `at` on, in row-major order.
    pub(crate) fn apply(&self, at: usize, elements: &mut [f32], scratch: &mut Scratch) {
        wide::ARCH.dispatch(Apply { chain: self, at, elements, scratch });
    }
}

/// Room for elements that are kept, and for those of another operand.
pub(crate) struct Scratch {
    kept: [[f32; STRETCH]; KEPT],
    other: [f32; STRETCH],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { kept: [[0.0; STRETCH]; KEPT], other: [0.0; STRETCH] }
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
        let Apply { chain, at, elements, scratch: Scratch { kept, other } } = self;
        let mut from = 0;
        while from < elements.len() {
            let length = STRETCH.min(elements.len() - from);
            let Some(now) = elements.get_mut(from..from + length) else { return };
            spend(length * chain.steps.len());
            for step in &chain.steps {
                match step {
                    Step::Keep(number) => {
                        if let Some(to) = kept.get_mut(*number) {
                            to[..length].copy_from_slice(now);
                        }
                    }
                    Step::Each(each) => each.apply(now, !S::IS_SCALAR),
                    Step::Pair { pair, with, turned } => {
                        let Some(other) = with.stretch(at + from, length, kept, other) else {
                            return;
                        };
                        pair.apply(now, other, *turned);
                    }
                }
            }
            from += length;
        }
    }
}

impl With {
    /// The numbers for the elements from `at` on.
    #[inline(always)]
    fn stretch<'a>(
        &'a self,
        at: usize,
        length: usize,
        kept: &'a [[f32; STRETCH]; KEPT],
        room: &'a mut [f32; STRETCH],
    ) -> Option<&'a [f32]> {
        match self {
            With::All(array) => elements(array).get(at..at + length),
            With::Kept(number) => kept.get(*number)?.get(..length),
            With::One(number) => {
                let room = room.get_mut(..length)?;
                room.fill(*number);
                Some(room)
            }
            With::Channels { numbers, inner } => {
                let room = room.get_mut(..length)?;
                let inner = (*inner).max(1);
                let mut channel = at / inner % numbers.len().max(1);
                let mut left = inner - at % inner;
                let mut from = 0;
                while from < length {
                    if inner == 1 {
                        let count = (numbers.len() - channel).min(length - from);
                        let numbers = numbers.get(channel..channel + count)?;
                        room.get_mut(from..from + count)?.copy_from_slice(numbers);
                        (from, channel) = (from + count, 0);
                        continue;
                    }
                    let count = left.min(length - from);
                    room.get_mut(from..from + count)?.fill(*numbers.get(channel)?);
                    from += count;
                    left = inner;
                    channel = if channel + 1 == numbers.len() { 0 } else { channel + 1 };
                }
                Some(room)
            }
        }
    }
}

impl Pair {
    #[inline(always)]
    fn apply(self, now: &mut [f32], other: &[f32], turned: bool) {
        match (self, turned) {
            (Pair::Add, _) => pairs(now, other, |x, y| x + y),
            (Pair::Multiply, _) => pairs(now, other, |x, y| x * y),
            (Pair::Subtract, false) => pairs(now, other, |x, y| x - y),
            (Pair::Subtract, true) => pairs(now, other, |x, y| y - x),
            (Pair::Divide, false) => pairs(now, other, |x, y| x / y),
            (Pair::Divide, true) => pairs(now, other, |x, y| y / x),
            (Pair::Larger, false) => pairs(now, other, |x, y| if x > y { x } else { y }),
            (Pair::Larger, true) => pairs(now, other, |x, y| if y > x { y } else { x }),
            (Pair::Smaller, false) => pairs(now, other, |x, y| if x < y { x } else { y }),
            (Pair::Smaller, true) => pairs(now, other, |x, y| if y < x { y } else { x }),
        }
    }
}

impl Each {
    #[inline(always)]
    fn apply(self, now: &mut [f32], fused: bool) {
        match self {
            Each::Relu => each(now, |x| if x > 0.0 { x } else { 0.0 }),
            Each::Clip(low, high) => each(now, |x| x.min(high).max(low)),
            Each::Erf => each(now, |x| wide::erf_of(x, fused)),
        }
    }
}

// Indices and no iterators: adapters are not always inlined into functions with more instructions.

#[inline(always)]
fn pairs(now: &mut [f32], other: &[f32], f: impl Fn(f32, f32) -> f32) {
    let Some(other) = other.get(..now.len()) else { return };
    for k in 0..now.len() {
        now[k] = f(now[k], other[k]);
    }
}

#[inline(always)]
fn each(now: &mut [f32], f: impl Fn(f32) -> f32) {
    for k in 0..now.len() {
        now[k] = f(now[k]);
    }
}

/// The kernel of a chain by itself.
pub(crate) fn kernel() -> &'static Kernel {
    static KERNEL: Kernel = kernel::kernel("nn.relu", |call| {
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
    &KERNEL
}
