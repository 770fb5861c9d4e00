//! The kinds of layers, and how they are recognised by what they compute.

use std::ops::Range;

use operators::Category;

use super::steps::{Functions, Step, Steps};
use crate::shapes::FunctionShapes;

/// The kind of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LayerKind {
    /// A part that names of the framework's program tell.
    Module,
    /// Layers whose results have the same height and width.
    Stage,
    /// A part that repeats itself.
    Block,
    /// What comes before the first block of a network of convolutions.
    Stem,
    /// What comes before the first block of another network.
    Input,
    /// What comes after the last block.
    Head,
    /// Attention and what follows it up to the next attention.
    TransformerBlock,
    /// Products around a softmax.
    Attention,
    /// Two products with an activation function between them.
    FeedForward,
    /// A computation whose result is added to its input.
    ResidualBlock,
    /// A computation whose result is concatenated with its input.
    DenseLayer,
    /// Dense layers whose results are put together.
    DenseBlock,
    /// The convolution between two dense blocks, with its pooling.
    Transition,
    /// Computations on the same value whose results are put together.
    Branches,
    /// A convolution that reduces the channels, and two that expand them.
    FireModule,
    /// A convolution of each channel by itself, and one across them.
    SeparableConvolution,
    /// A separable convolution after an expansion of the channels.
    InvertedBottleneck,
    /// A convolution with what belongs to it.
    Convolution,
    /// Several convolutions.
    Convolutions,
    /// A product of matrices with what belongs to it.
    Dense,
    /// Several products of matrices.
    Products,
    /// Patches of an image that are put together, and a product that reduces their channels.
    PatchMerging,
    /// A step of an LSTM.
    LstmCell,
    /// A step of a GRU.
    GruCell,
    /// The lookup of rows in a table.
    Embedding,
    /// Pooling.
    Pooling,
    /// A normalization with its activation function.
    Normalization,
    /// Anything else.
    Other,
}

impl LayerKind {
    /// Returns the name for programs: `transformer-block`.
    pub fn key(self) -> &'static str {
        self.into()
    }

    /// Returns the name for people: `transformer block`.
    pub fn name(self) -> &'static str {
        match self {
            LayerKind::TransformerBlock => "transformer block",
            LayerKind::ResidualBlock => "residual block",
            LayerKind::DenseLayer => "dense layer",
            LayerKind::DenseBlock => "dense block",
            LayerKind::FireModule => "fire module",
            LayerKind::SeparableConvolution => "separable convolution",
            LayerKind::InvertedBottleneck => "inverted bottleneck",
            LayerKind::PatchMerging => "patch merging",
            LayerKind::LstmCell => "LSTM cell",
            LayerKind::GruCell => "GRU cell",
            LayerKind::Products => "products of matrices",
            LayerKind::Other => "group",
            other => other.key(),
        }
    }
}

/// The maximal number of calls of called functions that are looked at: more than a block has, few enough for each function
/// of a chain of thousands.
const MAX_INNER: usize = 256;

/// What a call does, with the calls inside of a called function in its place.
struct Call<'f> {
    operator: &'f str,
    is_product: bool,
}

/// Returns the kind of a range of steps.
pub(super) fn kind_of(
    steps: &Steps<'_>,
    range: &Range<usize>,
    functions: &Functions<'_>,
) -> LayerKind {
    let main: Vec<&Step<'_>> = steps.main(range).collect();
    let calls = flattened(&main, functions);
    let count = |names: &[&str]| calls.iter().filter(|call| names.contains(&call.operator)).count();
    let products = calls.iter().filter(|call| call.is_product).count();
    let convolutions =
        calls.iter().filter(|call| call.is_product && call.operator.contains("conv")).count();
    let (gates, tanh) = (count(&["sigmoid", "nn.fast_sigmoid"]), count(&["tanh", "fast_tanh"]));
    if products > 0 && convolutions == 0 && gates >= 3 && tanh >= 2 {
        return LayerKind::LstmCell;
    }
    if products > 0 && convolutions == 0 && gates == 2 && tanh == 1 {
        return LayerKind::GruCell;
    }
    let softmax = calls.iter().rposition(|call| {
        matches!(call.operator, "nn.softmax" | "nn.fast_softmax" | "nn.masked_softmax")
    });
    if let Some(at) = softmax
        && calls[..at].iter().any(|call| call.is_product)
        && let after = &calls[at..]
        && after.iter().any(|call| call.is_product)
    {
        let products = after.iter().filter(|call| call.is_product).count();
        let is_block = products >= 4 && after.iter().any(|call| is_activation(call.operator));
        return if is_block { LayerKind::TransformerBlock } else { LayerKind::Attention };
    }
    let has_activation = calls.iter().any(|call| is_activation(call.operator));
    if products == 2 && convolutions == 0 && has_activation {
        return LayerKind::FeedForward;
    }
    if convolutions > 0 {
        let joins = |operator: &str| main.iter().rfind(|step| step.operator() == operator);
        if let Some(join) = joins("concatenate") {
            let takes_input = join.inputs.iter().any(|&input| input < range.start);
            let is_dense = takes_input || join.takes_data;
            return if is_dense { LayerKind::DenseLayer } else { LayerKind::Branches };
        }
        let adds = |step: &&&Step<'_>| {
            let data = step.inputs.iter().filter(|&&input| !steps.list[input].is_preparation);
            step.operator() == "add" && data.count() + usize::from(step.takes_data) > 1
        };
        if main.iter().rfind(adds).is_some() {
            return LayerKind::ResidualBlock;
        }
        let depthwise = main.iter().any(|step| is_depthwise(step));
        return match convolutions {
            2 if depthwise => LayerKind::SeparableConvolution,
            1 => LayerKind::Convolution,
            _ => LayerKind::Convolutions,
        };
    }
    match products {
        0 => {}
        1 => return LayerKind::Dense,
        _ => return LayerKind::Products,
    }
    if count(&["take", "embedding", "nn.embedding", "gather_nd"]) > 0 {
        return LayerKind::Embedding;
    }
    if calls.iter().any(|call| call.operator.contains("_pool")) {
        return LayerKind::Pooling;
    }
    match !main.is_empty() && main.iter().all(|step| step.begins_block()) {
        true => LayerKind::Normalization,
        false => LayerKind::Other,
    }
}

/// Returns true for a convolution of each channel by itself.
pub(super) fn is_depthwise(step: &Step<'_>) -> bool {
    let groups = step.attribute("groups").filter(|groups| *groups != "1");
    step.is_convolution() && groups.is_some() && groups == step.attribute("channels")
}

fn is_activation(operator: &str) -> bool {
    matches!(
        operator,
        "nn.relu"
            | "erf"
            | "fast_erf"
            | "tanh"
            | "fast_tanh"
            | "sigmoid"
            | "nn.leaky_relu"
            | "nn.prelu"
            | "nn.gelu"
            | "clip"
    )
}

fn flattened<'f>(main: &[&Step<'f>], functions: &Functions<'f>) -> Vec<Call<'f>> {
    let mut calls = Vec::with_capacity(main.len());
    let mut stack: Vec<&'f FunctionShapes> = Vec::new();
    for step in main {
        let Some(callee) = step.callee else {
            let operator = step.row.operator.as_str();
            calls.push(Call { operator, is_product: step.is_product });
            continue;
        };
        // Each called function is looked at once; a recursive one ends by the number of calls.
        stack.push(callee);
        while let Some(function) = stack.pop() {
            for row in &function.rows {
                if calls.len() >= main.len() + MAX_INNER {
                    return calls;
                }
                match functions.get(row.operator.as_str()).filter(|_| row.category.is_none()) {
                    Some(inner) if stack.len() < 8 && !std::ptr::eq(*inner, function) => {
                        stack.push(inner);
                    }
                    _ => calls.push(Call {
                        operator: &row.operator,
                        is_product: row.category == Some(Category::Product),
                    }),
                }
            }
        }
    }
    calls
}
