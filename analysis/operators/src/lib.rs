//! The operators of Relay.
//!
//! One row an operator, columns beside it: argument names, attributes, type relation, cost,
//! documentation. One file a family. A relation answers for one call: it assigns what follows, or
//! says why the call is wrong in terms of this call's numbers.
//!
//! Facts (which rule, which default, which formula) are TVM's; the conformance corpus holds what
//! TVM answered. Absent on purpose: the incremental database, arrays and arithmetic on them.

pub mod attrs;
mod common;
mod layout;
mod operator;
mod rules;
pub mod similar;

mod annotation;
mod computable;
mod create;
mod dynamic;
mod elementwise;
mod ethosu;
mod image;
mod index;
mod nn_conv;
mod nn_conv_contrib;
mod nn_dense;
mod nn_layout;
mod nn_norm;
mod nn_pool;
mod qnn;
mod random;
mod reduce;
mod shape;
mod sort;
mod sparse;
mod versions;
mod vision;

use std::sync::LazyLock;

pub use common::commonness;
pub use layout::Layout;
pub use operator::{Cost, CostCall, Doc, Operator};
use rustc_hash::FxHashMap;
pub use versions::{OtherVersion, other_version};

/// What the families have in common.
mod prelude {
    pub(crate) use crate::{
        attrs::{conv::*, image::*, nn::*, qnn::*, system::*, transform::*},
        computable::*,
        layout::Layout,
        operator::{Cost, CostCall, Doc, Operator, op},
        rules::*,
    };
    pub(crate) use smallvec::SmallVec;
    pub(crate) use types::{
        AttrValue, Call, DataType, Dim, Halt, Outcome, Reason, Shape, TensorType, Type,
    };
}

static FAMILIES: &[&[Operator]] = &[
    annotation::OPERATORS,
    create::OPERATORS,
    dynamic::OPERATORS,
    elementwise::OPERATORS,
    ethosu::OPERATORS,
    image::OPERATORS,
    index::gather::OPERATORS,
    index::scatter::OPERATORS,
    index::sequence::OPERATORS,
    index::slice::OPERATORS,
    nn_conv::OPERATORS,
    nn_conv_contrib::OPERATORS,
    nn_dense::OPERATORS,
    nn_layout::OPERATORS,
    nn_norm::OPERATORS,
    nn_pool::OPERATORS,
    qnn::convert::OPERATORS,
    qnn::elementwise::OPERATORS,
    qnn::linear::OPERATORS,
    qnn::tensors::OPERATORS,
    random::OPERATORS,
    reduce::OPERATORS,
    shape::axes::OPERATORS,
    shape::broadcast::OPERATORS,
    shape::join::OPERATORS,
    shape::reshape::OPERATORS,
    sort::OPERATORS,
    sparse::OPERATORS,
    vision::OPERATORS,
];

static BY_NAME: LazyLock<FxHashMap<&'static str, &'static Operator>> =
    LazyLock::new(|| all().map(|operator| (operator.name, operator)).collect());

/// Every operator, family by family.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The operator called `name`.
pub fn find(name: &str) -> Option<&'static Operator> {
    BY_NAME.get(name).copied()
}

/// What the manual calls an operator that TVM calls otherwise.
pub fn alias(name: &str) -> Option<&'static Operator> {
    let name = match name {
        "mul" => "multiply",
        "sub" => "subtract",
        "div" => "divide",
        _ => return None,
    };
    find(name)
}

/// What `name` means where a call names it: the operator, also by the name that the manual or
/// another version of TVM gives it.
pub fn named(name: &str) -> Option<&'static Operator> {
    // `scatter` is a name without meaning in 0.14, and an operator before.
    let other = || other_version(name).map(|other| &other.operator);
    other().or_else(|| find(name)).or_else(|| alias(name))
}

/// The operator that brings the relation `name`, for a `where` clause.
pub fn by_relation(name: &str) -> Option<&'static Operator> {
    all().find(|operator| operator.rule.is_some_and(|(rule, _)| rule == name))
}

/// The operator name nearest to `name`, if one is near enough to be meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    // The name alone, without its namespace: `conv2d` for `nn.conv2d`, which is the shortest of
    // those that end so.
    let ends_so = all().filter(|op| op.name.rsplit('.').next() == Some(name));
    let namespaced = ends_so.min_by_key(|op| op.name.len());
    namespaced.map(|op| op.name).or_else(|| similar::nearest(name, all().map(|op| op.name)))
}

/// How many letters have to change to make `a` into `b`; swapping two neighbours counts as one.
/// `usize::MAX` where it is more than eight.
pub fn distance(a: &str, b: &str) -> usize {
    similar::distance(a, b, usize::MAX).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        assert_eq!(BY_NAME.len(), all().count());
    }

    /// A name in the documentation is one of the operator's, or a size that a shape names.
    #[test]
    fn documentation_names_the_parameters() {
        for operator in all() {
            let doc = &operator.doc;
            let texts: Vec<&str> =
                [doc.summary, doc.shape].iter().chain(doc.args).copied().collect();
            let quoted: Vec<&str> =
                texts.iter().flat_map(|text| text.split('`').skip(1).step_by(2)).collect();
            let is_name = |text: &str| {
                text.starts_with(|c: char| c.is_ascii_lowercase())
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            let words = |text: &'static str| text.split(|c: char| !c.is_alphanumeric() && c != '_');
            let of_shapes: Vec<&str> = [doc.shape]
                .iter()
                .chain(doc.args)
                .flat_map(|text| text.split('`').skip(1).step_by(2))
                .filter(|text| !is_name(text))
                .flat_map(words)
                // `s` stands for any of `s1, …, sm`.
                .flat_map(|word| [word, word.trim_end_matches(|c: char| c.is_ascii_digit())])
                .collect();
            for name in quoted.into_iter().filter(|text| is_name(text)) {
                let is_own = operator.args.contains(&name)
                    || operator.schema.is_some_and(|schema| schema.field(name).is_some())
                    || of_shapes.contains(&name);
                let is_known = find(name).is_some() || types::DataType::parse(name).is_some();
                assert!(is_own || is_known, "`{}` has no `{name}`", operator.name);
            }
        }
    }

    #[test]
    fn near_names() {
        assert_eq!(nearest("conv2d"), Some("nn.conv2d"));
        assert_eq!(nearest("nn.dence"), Some("nn.dense"));
        assert_eq!(nearest("multipyl"), Some("multiply"));
        assert_eq!(nearest("frobnicate"), None);
        assert_eq!(distance("kernal_size", "kernel_size"), 1);
    }
}
