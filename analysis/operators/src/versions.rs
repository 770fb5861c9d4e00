//! Operators of TVM versions between 0.8 and 0.18 that TVM 0.14 does not have.
//!
//! They occur in dumps of those versions: `scatter_add(%x, %i, %u, axis=0)`. They have the type
//! that their version gives them, and a lint names the successor.

use crate::{annotation::wrong_argument, index::scatter::fits_elements, prelude::*};

/// An operator of another version.
pub struct OtherVersion {
    /// The operator, as defined by that version.
    pub operator: Operator,
    /// The versions that have it: `0.8 to 0.11`.
    pub versions: &'static str,
    /// The replacement in TVM 0.14, as text for messages.
    pub now: &'static str,
    /// The name and the attributes with which TVM 0.14 computes the same from the same arguments.
    pub successor: Option<(&'static str, &'static str)>,
}

/// The arguments of `scatter` and `scatter_add`.
const UPDATED: &[&str] = &[
    "any tensor",
    "integers, one for each element of `updates`",
    "a tensor of the shape of `indices` and the data type of `data`",
];

pub(crate) static OTHER_VERSIONS: &[OtherVersion] = &[
    OtherVersion {
        operator: op("scatter", &["data", "indices", "updates"])
            .attrs(&SCATTER)
            .rule("Scatter", scatter)
            .cost(Cost::Free)
            .doc(Doc {
                summary: "Writes each element of `updates` to `data`, at its index on axis `axis` \
                          and at its own position on the other axes.",
                args: UPDATED,
                shape: "the shape of `data`",
                example: "scatter(%x, %i, %updates, axis=0)",
            }),
        versions: "0.8 to 0.11",
        now: "`scatter_elements`",
        successor: Some(("scatter_elements", "")),
    },
    OtherVersion {
        operator: op("scatter_add", &["data", "indices", "updates"])
            .attrs(&SCATTER)
            .rule("ScatterAdd", scatter)
            .cost(Cost::Free)
            .doc(Doc {
                summary: "Adds each element of `updates` to `data`, at its index on axis `axis` \
                          and at its own position on the other axes.",
                args: UPDATED,
                shape: "the shape of `data`",
                example: "scatter_add(%x, %i, %updates, axis=0)",
            }),
        versions: "0.8 to 0.11",
        now: "`scatter_elements(…, reduction=\"add\")`",
        successor: Some(("scatter_elements", "reduction=\"add\"")),
    },
    OtherVersion {
        operator: op("vm.shape_func", &["func", "ins", "outs"])
            .attrs(&SHAPE_FUNC)
            .rule("ShapeFuncRel", shape_func)
            .cost(Cost::Undefined("it computes shapes, not elements"))
            .doc(Doc {
                summary: "Writes the shapes of a function's results, computed from the shapes of \
                          its arguments.",
                args: &[
                    "the function",
                    "its arguments, or their shapes, as a tuple",
                    "the tensors to write to, as a tuple",
                ],
                shape: "`()`",
                example: "vm.shape_func(%f, (%s,), (%out,), is_input=[False])",
            }),
        versions: "0.8",
        now: "`vm.invoke_tvm_op` of a shape function",
        successor: None,
    },
    OtherVersion {
        operator: op("torch_op", &[])
            .variadic()
            .attrs(&DICT)
            .cost(Cost::Undefined("it costs what the function of PyTorch costs"))
            .doc(Doc {
                summary: "Calls a serialised function of PyTorch that is stored in the module.",
                args: &[],
                shape: "determined by the function at run time, and unknown here",
                example: "torch_op(%x)",
            }),
        versions: "0.9 to 0.18, if built with PyTorch,",
        now: "no replacement: it requires a TVM built with PyTorch",
        successor: None,
    },
];

/// Returns the operator `name` of a version other than 0.14.
pub fn other_version(name: &str) -> Option<&'static OtherVersion> {
    OTHER_VERSIONS.iter().find(|other| other.operator.name == name)
}

fn scatter(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let (indices, _) = (call.require_tensor(1)?, call.require_tensor(2)?);
    if !indices.dtype.is_int() {
        return not_integers(call, 1, indices.dtype);
    }
    call.lenient(fits_elements(call))?;
    call.output_tensor(data.shape.clone(), data.dtype)
}

fn shape_func(call: &mut Call<'_>) -> Outcome {
    match call.ty(0) {
        Type::Func(_) | Type::Poly(_) => call.output(Type::unit()),
        Type::Var(_) | Type::Param(_) => Err(Halt::NotYet),
        Type::Error => Err(Halt::Silent),
        other => wrong_argument(call, 0, "a function", &other),
    }
}
