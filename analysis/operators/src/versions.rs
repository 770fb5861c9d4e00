//! Operators that TVM 0.14 does not know and another version between 0.8 and 0.18 did.
//!
//! Old dumps hold them: `scatter_add(%x, %i, %u, axis=0)`. They are typed as that version typed
//! them, and a lint says what became of them.

use crate::{annotation::wrong_argument, index::scatter::fits_elements, prelude::*};

/// An operator of another version.
pub struct OtherVersion {
    /// The operator, as it was.
    pub operator: Operator,
    /// The versions that had it: `0.8 to 0.11`.
    pub versions: &'static str,
    /// What a module of TVM 0.14 has in its place, in words.
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

static OTHER_VERSIONS: &[OtherVersion] = &[
    OtherVersion {
        operator: op("scatter", &["data", "indices", "updates"])
            .attrs(&SCATTER)
            .rule("Scatter", scatter)
            .cost(Cost::Free)
            .doc(Doc {
                summary: "Puts each element of `updates` into `data`, at its index on axis `axis` \
                          and at its own place on the others.",
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
                          and at its own place on the others.",
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
                summary: "Calls a function of PyTorch that travels with the module, serialised.",
                args: &[],
                shape: "what the function says when it is asked; it is not asked here",
                example: "torch_op(%x)",
            }),
        versions: "0.9 to 0.18, where it was built with PyTorch,",
        now: "nothing: it needs a TVM that was built with PyTorch",
        successor: None,
    },
];

/// What is known of `name`, if it is an operator of another version than 0.14.
pub fn other_version(name: &str) -> Option<&'static OtherVersion> {
    OTHER_VERSIONS.iter().find(|other| other.operator.name == name)
}

fn scatter(call: &mut Call<'_>) -> Outcome {
    let data = call.need_tensor(0)?;
    let (indices, _) = (call.need_tensor(1)?, call.need_tensor(2)?);
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
