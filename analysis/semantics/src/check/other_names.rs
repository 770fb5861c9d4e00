//! Names of other languages and libraries: `torch.relu`, `MatMul`, `pow`, `%x.sum`.

use operators::Operator;

/// A name of another language or library.
pub(super) struct ForeignName {
    /// The name in Relay, if there is one.
    pub(super) name: Option<&'static str>,
    /// The help text.
    pub(super) help: String,
}

/// Returns the meaning of a name that is not bound in a module, if another language has it.
pub(super) fn foreign_name(name: &str) -> Option<ForeignName> {
    let help = |help: &str| Some(ForeignName { name: None, help: help.to_owned() });
    if let Some(own) = operators::python::without_modules(name).and_then(in_relay) {
        return help(own);
    }
    match name {
        "return" => help("Relay has no `return`: the value of a body is its last expression"),
        "print" => help("Relay has no output: `relay-analyzer run` shows the result of a function"),
        "null" | "nil" | "None" | "nullptr" | "NULL" | "undefined" => help(
            "Relay has no null: a value that may be missing is an `Option`, `None()` or `Some(…)`",
        ),
        "for" | "while" | "loop" => help(
            "Relay has no loops: write a function that calls itself, or use `@map` or `@foldl`",
        ),
        "range" | "iota" | "linspace" => {
            help("write `arange(0f, 10f, 1f, start=None, stop=None, step=None, dtype=\"float32\")`")
        }
        "len" => help(
            "the length of a list is `@length(%l)`, the shape of a tensor `shape_of(%x, dtype=\"int32\")`",
        ),
        "true" | "TRUE" => renamed("True"),
        "false" | "FALSE" => renamed("False"),
        _ => operator(name).and_then(|operator| renamed(operator.name)),
    }
}

/// Returns what Relay has instead of a function of Python that creates an expression.
fn in_relay(bare: &str) -> Option<&'static str> {
    Some(match bare {
        "var" | "Var" => {
            "a variable is a parameter, `%x: Tensor[(1, 3), float32]`, or bound with `let %x = …;`"
        }
        "const" | "constant" | "Constant" => {
            "a number is written as `1f`, `2` or `3i64`; a tensor is a parameter or a constant of the metadata section"
        }
        "Tuple" => "a tuple is written as `(%a, %b)`",
        "TupleGetItem" | "TupleWrapper" => "a field of a tuple is written as `%t.0`",
        "Function" => {
            "a function is written as `fn (%x) { … }`, or as a definition: `def @f(%x) { … }`"
        }
        "Let" => "a binding is written as `let %x = …;`",
        "If" => "a conditional is written as `if (%c) { … } else { … }`",
        "Match" => "a match is written as `match (%l) { Nil => …, Cons(%h, %t) => … }`",
        "Call" => "a call is written as `add(%x, %y)`, `@f(%x)` or `%f(%x)`",
        "GlobalVar" => "a function of the module is written as `@f`",
        "RefCreate" => "a reference is written as `ref(%x)`",
        "RefRead" => "a reference is read with `ref_read(%r)`",
        "RefWrite" => "a reference is written with `ref_write(%r, %x)`",
        "TensorType" | "scalar_type" => "a tensor type is written as `Tensor[(1, 3), float32]`",
        "TupleType" => "a tuple type is written as `(int32, bool)`",
        _ => return None,
    })
}

fn renamed(name: &'static str) -> Option<ForeignName> {
    let help = format!("it is `{name}` in Relay");
    Some(ForeignName { name: Some(name), help })
}

/// The names of libraries before those of operators.
const LIBRARIES: &[&str] = &[
    "torch",
    "np",
    "numpy",
    "jnp",
    "jax",
    "tf",
    "relay",
    "relax",
    "tvm",
    "op",
    "F",
    "nn",
    "functional",
    "onnx",
    "math",
    "R",
    "T",
    "aten",
    "tosa",
    "linalg",
    "arith",
    "lax",
    "keras",
    "layers",
    "module",
    "mx",
    "sym",
];

/// Returns the operator that another library has under this name: `torch.nn.functional.relu`, `Relu`, `BatchNorm`.
pub(super) fn operator(name: &str) -> Option<&'static Operator> {
    let mut bare = name;
    while let Some((first, rest)) = bare.split_once('.') {
        if !LIBRARIES.contains(&first) {
            return None;
        }
        if bare != name
            && let Some(found) = operators::find(bare)
        {
            return Some(found);
        }
        bare = rest;
    }
    let snake = snake_case(bare);
    let plain =
        |name: &str| operators::find(name).or_else(|| operators::find(&format!("nn.{name}")));
    let found = (bare != name).then(|| plain(bare)).flatten();
    let renamed = |name: &str| synonym(name).and_then(operators::find);
    let is_other = |found: &&Operator| found.name != name;
    let found = found.or_else(|| renamed(bare)).or_else(|| renamed(&snake));
    found.or_else(|| plain(&snake).filter(is_other)).or_else(|| {
        let lower = bare.to_ascii_lowercase();
        renamed(&lower).or_else(|| plain(&lower)).filter(is_other)
    })
}

/// Returns the operator with the meaning of a name of PyTorch, NumPy, ONNX or another language.
fn synonym(name: &str) -> Option<&'static str> {
    Some(match name {
        "plus" | "iadd" => "add",
        "minus" | "sub" => "subtract",
        "mul" | "times" | "product" => "multiply",
        "div" | "truediv" | "true_divide" => "divide",
        "pow" => "power",
        "neg" => "negative",
        "absolute" | "fabs" => "abs",
        "reciprocal_sqrt" => "rsqrt",
        "remainder" | "fmod" | "rem" => "mod",
        "eq" => "equal",
        "ne" | "neq" => "not_equal",
        "lt" => "less",
        "le" | "lte" | "less_or_equal" => "less_equal",
        "gt" => "greater",
        "ge" | "gte" | "greater_or_equal" => "greater_equal",
        "and" | "land" => "logical_and",
        "or" | "lor" => "logical_or",
        "not" | "lnot" => "logical_not",
        "concat" | "cat" => "concatenate",
        "view" | "resize" => "reshape",
        "permute" | "swapaxes" => "transpose",
        "unsqueeze" => "expand_dims",
        "astype" | "type" | "to" | "convert" | "to_dtype" => "cast",
        "clamp" => "clip",
        "shape" => "shape_of",
        "numel" => "ndarray_size",
        "broadcast" | "expand" | "broadcast_in_dim" => "broadcast_to",
        "select" | "cond" => "where",
        "reduce_sum" => "sum",
        "reduce_mean" | "average" => "mean",
        "reduce_max" | "amax" => "max",
        "reduce_min" | "amin" => "min",
        "reduce_prod" => "prod",
        "slice" => "strided_slice",
        "linear" | "gemm" | "fc" | "fully_connected" | "inner_product" => "nn.dense",
        "mm" | "dot" | "matmul" | "mat_mul" | "dot_general" => "nn.matmul",
        "bmm" => "nn.batch_matmul",
        "conv" | "conv_2d" | "conv2" | "convolution" => "nn.conv2d",
        "conv_transpose" | "conv_transpose2d" => "nn.conv2d_transpose",
        "maxpool" | "max_pool" | "maxpool2d" => "nn.max_pool2d",
        "avgpool" | "average_pool" | "avg_pool" | "avgpool2d" | "averagepool" => "nn.avg_pool2d",
        "globalaveragepool" | "global_average_pool" => "nn.global_avg_pool2d",
        "batchnorm" | "batch_normalization" | "batchnorm2d" | "batchnormalization" => {
            "nn.batch_norm"
        }
        "layernorm" | "layer_normalization" => "nn.layer_norm",
        "logsoftmax" => "nn.log_softmax",
        "leakyrelu" => "nn.leaky_relu",
        "flatten" => "nn.batch_flatten",
        "dropout" => "nn.dropout",
        "padding" => "nn.pad",
        _ => return None,
    })
}

/// Returns `MatMul` as `mat_mul`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut previous_lower = false;
    for c in name.chars().take(64) {
        if c.is_ascii_uppercase() && previous_lower {
            out.push('_');
        }
        previous_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Returns the attribute with the meaning of a name of another library, among those that an operator has.
pub(super) fn attribute<'f>(
    name: &str,
    mut has: impl FnMut(&str) -> Option<&'f str>,
) -> Option<&'f str> {
    let candidates: &[&str] = match name {
        "dim" | "dims" | "axis" | "axes" => &["axis", "axes"],
        "perm" | "permutation" => &["axes"],
        "shape" | "size" | "sizes" => &["newshape", "shape", "size", "output_size"],
        "stride" => &["strides"],
        "pad" | "pads" => &["padding", "pad_width"],
        "kernel_shape" | "kernel" | "window" | "ksize" => &["kernel_size", "pool_size"],
        "dilations" => &["dilation"],
        "group" => &["groups"],
        "eps" => &["epsilon"],
        "negative_slope" => &["alpha"],
        "out_features" | "out_channels" | "filters" => &["units", "channels"],
        "min" | "a" | "lower" => &["a_min"],
        "max" | "b" | "upper" => &["a_max"],
        "to" | "type" => &["dtype"],
        "p" | "prob" => &["rate"],
        "keepdim" | "keep_dims" => &["keepdims"],
        "sections" | "num_splits" | "chunks" => &["indices_or_sections"],
        _ => return None,
    };
    candidates.iter().find_map(|candidate| has(candidate))
}
