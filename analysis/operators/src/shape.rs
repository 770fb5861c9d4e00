//! Operators that change the shape of a tensor and keep its elements.

pub(crate) mod axes;
pub(crate) mod broadcast;
pub(crate) mod join;
pub(crate) mod reshape;
