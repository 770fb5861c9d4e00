//! Operators that pick elements by position, and put elements at positions.

pub(crate) mod gather;
pub(crate) mod scatter;
pub(crate) mod sequence;
pub(crate) mod slice;
