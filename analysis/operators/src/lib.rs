//! The table of Relay's operators.
//!
//! Each operator is a row with its argument names, attributes, type relation, cost and
//! documentation; each family of operators has a file. The relation of `nn.dense(%x, %w, units=4)`
//! assigns the types of the weight and the result, or fails with a message about the sizes of this
//! call.
//!
//! Rules, defaults and formulas are those of TVM, checked against TVM's answers in the conformance
//! corpus. The crate knows nothing of the incremental database or of evaluation.

mod attribute_docs;
pub mod attrs;
mod changes;
mod domain;
mod form;
mod layout;
mod operator;
pub mod python;
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
mod usage;
mod versions;
mod vision;
mod windows;

use std::sync::LazyLock;

pub use attribute_docs::{attribute_meaning, value_meaning};
pub use changes::{Change, ChangeKind, attributes_in, changes, name_in};
pub use domain::{Constant, Domain, Fill};
pub use layout::Layout;
pub use operator::{
    Becomes, CallForm, Category, Cost, CostCall, Doc, Effect, FormerAttr, Operator, Role,
};
use rustc_hash::FxHashMap;
pub use usage::usage_count;
use versions::OTHER_VERSIONS;
pub use versions::{OtherVersion, is_other_version, other_version, other_versions};

/// The imports of the families.
mod prelude {
    pub(crate) use crate::{
        attrs::{conv::*, image::*, nn::*, qnn::*, system::*, transform::*},
        computable::*,
        domain::{Domain, Fill},
        form::{scale, was, zero_point},
        layout::Layout,
        operator::{Becomes, Category, Cost, CostCall, Doc, Effect, Operator, form, op},
        rules::*,
        windows::*,
    };
    pub(crate) use smallvec::SmallVec;
    pub(crate) use types::{
        AttrDefault, AttrType, AttrValue, Call, Code, DataType, Dim, Fact, Halt, Number, Outcome,
        Reason, Releases, Shape, TensorType, Text, Type, normal_axis, text,
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

/// The operators by the names that they had in other releases.
static BY_FORMER_NAME: LazyLock<FxHashMap<&'static str, &'static Operator>> = LazyLock::new(|| {
    let others = OTHER_VERSIONS.iter().map(|other| &other.operator);
    let names = |operator: &'static Operator| {
        operator.formerly.iter().map(move |(name, _)| (*name, operator))
    };
    all().chain(others).flat_map(names).collect()
});

static BY_NAME: LazyLock<FxHashMap<&'static str, &'static Operator>> =
    LazyLock::new(|| all().map(|operator| (operator.name, operator)).collect());

/// Returns all operators, family by family.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// Returns the operator `name`.
pub fn find(name: &str) -> Option<&'static Operator> {
    BY_NAME.get(name).copied()
}

/// The identity of an operator in the table. It exists for the names of rows only, which
/// [`OperatorId::of`] checks while compiling.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperatorId {
    /// The family; those of other versions are numbered after the last one.
    family: usize,
    row: usize,
}

impl OperatorId {
    /// Returns the operator called `name`.
    ///
    /// # Panics
    /// If there is none, which in a constant is an error of compilation.
    pub const fn of(name: &str) -> OperatorId {
        let mut family = 0;
        while family < FAMILIES.len() {
            let mut row = 0;
            while row < FAMILIES[family].len() {
                if is_equal(FAMILIES[family][row].name.as_bytes(), name.as_bytes()) {
                    return OperatorId { family, row };
                }
                row += 1;
            }
            family += 1;
        }
        let mut row = 0;
        while row < OTHER_VERSIONS.len() {
            if is_equal(OTHER_VERSIONS[row].operator.name.as_bytes(), name.as_bytes()) {
                return OperatorId { family, row };
            }
            row += 1;
        }
        panic!("no operator has this name")
    }

    /// Returns the row of the operator.
    pub fn operator(self) -> &'static Operator {
        match FAMILIES.get(self.family) {
            Some(family) => &family[self.row],
            None => &OTHER_VERSIONS[self.row].operator,
        }
    }
}

/// Compares two texts in constants.
const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Returns the operator with the alias `name` in the manual.
pub fn alias(name: &str) -> Option<&'static Operator> {
    let name = match name {
        "mul" => "multiply",
        "sub" => "subtract",
        "div" => "divide",
        _ => return None,
    };
    find(name)
}

/// Resolves the callee `name`: an operator of TVM 0.14 or another version, an alias, or a name that an operator
/// had in other releases.
pub fn named(name: &str) -> Option<&'static Operator> {
    // `scatter` is registered in 0.14 without a type relation, but is an operator in older
    // versions.
    let other = || other_version(name).map(|other| &other.operator);
    let former = || BY_FORMER_NAME.get(name).copied();
    other().or_else(|| find(name)).or_else(|| alias(name)).or_else(former)
}

/// Returns the operator name most similar to `name`, for a suggestion.
pub fn nearest(name: &str) -> Option<&'static str> {
    // `conv2d` matches `nn.conv2d`, the shortest name with that last segment.
    let is_segment = |op: &&Operator| {
        op.name.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let same_segment = all().filter(is_segment);
    let namespaced = same_segment.min_by_key(|op| op.name.len());
    namespaced.map(|op| op.name).or_else(|| similar::nearest(name, all().map(|op| op.name)))
}

/// Returns the edit distance of two names, see [`similar::distance`], or `usize::MAX` if it is more
/// than eight.
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

    #[test]
    fn well_known_operators_have_their_categories() {
        let expected = [
            (
                Category::Product,
                "nn.conv2d_transpose nn.dense nn.batch_matmul einsum dft nn.contrib_dense_pack",
            ),
            (Category::Normalization, "nn.batch_norm nn.layer_norm nn.dropout qnn.requantize"),
            (Category::Activation, "nn.relu nn.softmax tanh clip qnn.sigmoid"),
            (Category::Reduction, "nn.max_pool2d mean argmax cumsum topk collapse_sum_like"),
            (Category::Arithmetic, "add nn.bias_add rsqrt where atanh qnn.add"),
            (
                Category::Movement,
                "reshape concatenate take layout_transform cast image.resize2d zeros",
            ),
        ];
        for (category, names) in expected {
            for name in names.split(' ') {
                assert_eq!(find(name).map(Operator::category), Some(category), "{name}");
            }
        }
    }

    /// A quoted name must be an argument or attribute of the operator, or a size in a shape.
    #[test]
    fn documentation_quotes_existing_parameters() {
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
                // `s` is any of `s1, …, sm`.
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
    fn nearest_suggests_similar_operators() {
        assert_eq!(nearest("conv2d"), Some("nn.conv2d"));
        assert_eq!(nearest("nn.dence"), Some("nn.dense"));
        assert_eq!(nearest("multipyl"), Some("multiply"));
        assert_eq!(nearest("frobnicate"), None);
        assert_eq!(distance("kernal_size", "kernel_size"), 1);
    }
}
