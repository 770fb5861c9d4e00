//! Operators of TVM versions between 0.8 and 0.18 that TVM 0.14 does not have.
//!
//! They occur in dumps of those versions: `scatter_add(%x, %i, %u, axis=0)`. They have the type
//! that their version gives them, and a lint names the successor.

use crate::{
    annotation::wrong_argument, image::resized, index::scatter::fits_elements, prelude::*,
};

/// An operator of another version.
pub struct OtherVersion {
    /// The operator, as defined by that version.
    pub operator: Operator,
    /// The option or library that a build of TVM must have been configured with.
    pub requires: Option<&'static str>,
    /// The replacement in TVM 0.14, as text for messages, if there is one.
    pub now: Option<&'static str>,
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
            .controls(&["indices"])
            .data(&["updates"])
            .since(7)
            .until(11)
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
        requires: None,
        now: Some("`scatter_elements`"),
        successor: Some(("scatter_elements", "")),
    },
    OtherVersion {
        operator: op("scatter_add", &["data", "indices", "updates"])
            .controls(&["indices"])
            .data(&["updates"])
            .since(7)
            .until(11)
            .attrs(&SCATTER_ADD)
            .rule("ScatterAdd", scatter)
            .cost(Cost::Free)
            .doc(Doc {
                summary: "Adds each element of `updates` to `data`, at its index on axis `axis` \
                          and at its own position on the other axes.",
                args: UPDATED,
                shape: "the shape of `data`",
                example: "scatter_add(%x, %i, %updates, axis=0)",
            }),
        requires: None,
        now: Some("`scatter_elements(…, reduction=\"add\")`"),
        successor: Some(("scatter_elements", "reduction=\"add\"")),
    },
    OtherVersion {
        operator: op("vm.shape_func", &["func", "ins", "outs"])
            .effect(Effect::Memory)
            .controls(&["func"])
            .tuples(&["ins", "outs"])
            .since(7)
            .until(8)
            .formerly(&[("memory.shape_func", Releases::between(6, 6))])
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
        requires: None,
        now: Some("`vm.invoke_tvm_op` of a shape function"),
        successor: None,
    },
    OtherVersion {
        operator: op("image.resize", &["data"])
            .in_category(Category::Movement)
            .until(7)
            .attrs(&RESIZE_7)
            .rule("Resize", |call| resized(call, "NCHW"))
            .cost(Cost::Elementwise)
            .doc(Doc {
                summary: "Resizes images by interpolation.",
                args: &["images in `layout`: `(n, c, h, w)` for \"NCHW\""],
                shape: "the shape of `data`, with the height and the width of `size`",
                example: "image.resize(%x, size=[32, 32])",
            }),
        requires: None,
        now: Some("`image.resize2d`"),
        successor: None,
    },
    OtherVersion {
        operator: op("dyn.image.resize", &["data", "size"])
            .in_category(Category::Movement)
            .controls(&["size"])
            .since(7)
            .until(7)
            .attrs(&RESIZE_7)
            .rule("DynResize", crate::dynamic::resize2d)
            .cost(Cost::Elementwise)
            .doc(Doc {
                summary: "Resizes images by interpolation.",
                args: &[
                    "images in `layout`: `(n, c, h, w)` for \"NCHW\"",
                    "`(2,)`, integers: the height and the width",
                ],
                shape: "the shape of `data`, with `?` for the height and the width",
                example: "dyn.image.resize(%x, %size)",
            }),
        requires: None,
        now: Some("`dyn.image.resize2d`"),
        successor: None,
    },
    OtherVersion {
        operator: op("torch_op", &[])
            .since(9)
            .variadic()
            .attrs(&DICT)
            .cost(Cost::Undefined("it costs what the function of PyTorch costs"))
            .doc(Doc {
                summary: "Calls a serialised function of PyTorch that is stored in the module.",
                args: &[],
                shape: "determined by the function at run time, and unknown here",
                example: "torch_op(%x)",
            }),
        requires: Some("with PyTorch"),
        now: None,
        successor: None,
    },
];

/// Returns the operators that 0.14 does not have.
pub fn other_versions() -> impl Iterator<Item = &'static OtherVersion> {
    OTHER_VERSIONS.iter()
}

/// Returns true for a row of an operator that 0.14 does not have, by its address.
pub fn is_other_version(operator: &'static Operator) -> bool {
    let rows = OTHER_VERSIONS.as_ptr_range();
    let row = std::ptr::from_ref(operator).cast::<OtherVersion>();
    rows.contains(&row)
}

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
