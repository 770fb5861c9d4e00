//! The kernels, family by family.

mod annotation;
mod broadcast;
mod create;
mod dynamic;
mod elementwise;
mod ethosu;
mod image;
mod index;
mod layouts;
mod nn_conv;
mod nn_conv_contrib;
mod nn_dense;
mod nn_layout;
mod nn_norm;
mod nn_pool;
mod overflow;
mod qnn;
mod random;
mod reduce;
mod shape;
mod sort;
mod sparse;
mod vision;

pub(crate) use broadcast::Broadcast;
pub(crate) use nn_norm::channel_factors;

use std::sync::LazyLock;

use operators::Operator;
use rustc_hash::FxHashMap;

use crate::kernel::Kernel;

/// The imports that all families share.
mod prelude {
    pub(crate) use crate::{
        allocate::{collected, mapped, push, repeated, try_collected, with_capacity},
        fault::Fault,
        fusion_rules::ElementOp,
        interrupt::{PIECE, RunHandle, pieces, pieces_mut, ranges, spend, watched},
        kernel::{Call, Kernel, Outcome, absent, kernel, light},
        parallel::each_chunk,
        tensor::{Array, Element, Tensor, count_of, each_dtype, elements, own, unspecified},
        value::Value,
    };
    pub(crate) use types::DataType;
}

static FAMILIES: &[&[Kernel]] = &[
    annotation::KERNELS,
    broadcast::KERNELS,
    create::KERNELS,
    dynamic::KERNELS,
    elementwise::KERNELS,
    ethosu::KERNELS,
    image::KERNELS,
    index::GATHER,
    index::SCATTER,
    index::SEQUENCE,
    index::SLICE,
    nn_conv::KERNELS,
    nn_conv_contrib::KERNELS,
    nn_dense::KERNELS,
    nn_layout::KERNELS,
    nn_norm::KERNELS,
    nn_pool::KERNELS,
    qnn::KERNELS,
    random::KERNELS,
    reduce::KERNELS,
    shape::KERNELS,
    sort::KERNELS,
    sparse::KERNELS,
    vision::KERNELS,
];

static BY_NAME: LazyLock<FxHashMap<&'static str, &'static Kernel>> =
    LazyLock::new(|| all().map(|kernel| (kernel.operator().name, kernel)).collect());

/// Returns the kernels of all families.
fn all() -> impl Iterator<Item = &'static Kernel> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Returns the kernel of an operator.
pub(crate) fn find(name: &str) -> Option<&'static Kernel> {
    BY_NAME.get(name).copied()
}

/// Returns the kernel of an operator, which a relation of other releases does not have.
pub(crate) fn of(operator: &Operator) -> Option<&'static Kernel> {
    find(operator.name).filter(|_| !operator.is_another)
}

/// Returns true if the interpreter knows the operator `name`. It computes it unless there is a
/// [`refusal`].
pub fn can_run(name: &str) -> bool {
    find(name).is_some()
}

/// Returns the reason why every call of the operator called `name` fails, if it does:
/// `call_lowered` calls functions that Relay text cannot contain.
pub fn refusal(name: &str) -> Option<&'static str> {
    find(name)?.refusal()
}

/// Returns the operators that the interpreter does not know.
pub fn missing() -> impl Iterator<Item = &'static Operator> {
    operators::all().filter(|operator| find(operator.name).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_unique() {
        assert_eq!(BY_NAME.len(), all().count());
    }

    #[test]
    fn every_operator_has_a_kernel() {
        let missing: Vec<&str> = missing().map(|operator| operator.name).collect();
        assert_eq!(missing, [""; 0]);
    }
}
