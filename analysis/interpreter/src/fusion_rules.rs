//! The fusion rules of kernels, by which calls are computed without intermediate tensors.

use crate::chain::BinaryOp;

/// The fusion rules of a kernel.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct FusionRules {
    /// The operation of a chain that computes the same in single precision.
    pub(crate) step: Option<ElementOp>,
    /// The operator on two scalars.
    pub(crate) scalar: Option<ScalarOp>,
    /// The data layout in which the kernel accepts a chain as its epilogue, empty if the operator has no layout.
    pub(crate) epilogue: Option<&'static str>,
}

/// The operators that a chain can contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ElementOp {
    Binary(BinaryOp),
    Relu,
    Clip,
    Erf,
    BiasAdd,
    BatchNorm,
    Reshape,
}

/// An operator on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScalarOp {
    Add,
    Subtract,
    Multiply,
    Compare(Comparison),
}

/// A comparison of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}
