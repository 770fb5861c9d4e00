//! Annotations left by passes, and the memory and call operators of the virtual machine. They
//! compute nothing.

use types::Place;

use crate::prelude::*;

const MARK: &[&str] = &["a value of any type"];

/// An annotation that returns its argument.
macro_rules! mark {
    ($name:literal, $summary:literal) => {
        op($name, &["data"]).keeps_data().rule("Identity", identity).cost(Cost::Free).doc(Doc {
            summary: $summary,
            args: MARK,
            shape: "the type of `data`",
            example: concat!($name, "(%x)"),
        })
    };
}

/// `memory.alloc_storage` up to TVM 0.13.
static ALLOC_STORAGE_2: Operator = op("memory.alloc_storage", &["size", "alignment"])
    .controls(&["size", "alignment"])
    .attrs(&ALLOC_STORAGE)
    .rule("AllocStorage", |call| alloc_storage_of(call, &[0, 1]))
    .cost(Cost::Free)
    .another();
/// `memory.alloc_tensor` of TVM 0.6.
static ALLOC_TENSOR_2: Operator = op("memory.alloc_tensor", &["storage", "shape"])
    .controls(&["shape"])
    .attrs(&ALLOC_TENSOR)
    .rule("AllocTensor", |call| alloc_tensor_of(call, 1))
    .cost(Cost::Free)
    .another();

pub(crate) static OPERATORS: &[Operator] = &[
    mark!("annotation.bitpack_end", "Marks the end of a region of bit-packed values.").since(6),
    mark!("annotation.bitpack_start", "Marks the start of a region of bit-packed values.").since(6),
    op("annotation.cast_hint", &["data"]).keeps_data().since(6)
        .detached_attrs(&CAST_HINT)
        .rule("Identity", identity)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Marks a value that quantization keeps in the data type `dtype`.",
            args: MARK,
            shape: "the type of `data`",
            example: "annotation.cast_hint(%x, dtype=\"int8\", \
                      attrs_type_key=\"relay.attrs.CastHintAttrs\")",
        }),
    mark!(
        "annotation.checkpoint",
        "Marks a value that the backward pass keeps instead of computing it again."
    ).since(6),
    op("annotation.compiler_begin", &["data"]).keeps_data().since(7)
        .detached_attrs(&COMPILER)
        .rule("Identity", identity)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Marks a value that enters a region for the external code generator \
                      `compiler`.",
            args: MARK,
            shape: "the type of `data`",
            example: "annotation.compiler_begin(%x, compiler=\"dnnl\", \
                      attrs_type_key=\"relay.attrs.CompilerAttrs\")",
        }),
    op("annotation.compiler_end", &["data"]).keeps_data().since(7)
        .detached_attrs(&COMPILER)
        .rule("Identity", identity)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Marks a value that leaves a region for the external code generator \
                      `compiler`.",
            args: MARK,
            shape: "the type of `data`",
            example: "annotation.compiler_end(%x, compiler=\"dnnl\", \
                      attrs_type_key=\"relay.attrs.CompilerAttrs\")",
        }),
    mark!(
        "annotation.stop_fusion",
        "Marks a value that is not fused with the operators that use it."
    ).since(6),
    op("annotation.with_funcid", &["func"]).keeps_data().since(6)
        .detached_attrs(&WITH_FUNC_ID)
        .rule("", internal)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Numbers a function while partial evaluation runs.",
            args: &["a function"],
            shape: "none: TVM never infers its type",
            example: "annotation.with_funcid(%f, fid=1, \
                      attrs_type_key=\"relay.attrs.WithFuncIdAttrs\")",
        }),
    op("call_lowered", &["func", "call_args"]).controls(&["func"]).tuples(&["call_args"]).since(8)
        .effect(Effect::Calls)
        .attrs(&CALL_LOWERED)
        .rule("CallLoweredRel", call_lowered)
        .cost(Cost::Undefined("it costs what the function called costs"))
        .doc(Doc {
            summary: "Calls a function that has been lowered to TIR.",
            args: &["a function", "its arguments, as a tuple"],
            shape: "the result of `func`",
            example: "call_lowered(@f, (%x,))",
        }),
    op("debug", &["program"]).attrs(&DEBUG).rule("Debug", identity).cost(Cost::Free).doc(Doc {
        summary: "Stops in the debugger before the value is used.",
        args: MARK,
        shape: "the type of `program`",
        example: "debug(%x, debug_func=None)",
    }),
    op("device_copy", &["data"]).keeps_data()
        .forms(&[form(Releases::until(8), 1)
            .attrs(&[
                was("src_dev_type", AttrType::Int, AttrDefault::Int(0), Becomes::Nothing),
                was("dst_dev_type", AttrType::Int, AttrDefault::Int(0), Becomes::Nothing),
            ])
            .defaults(&[
                ("src_virtual_device", AttrDefault::None),
                ("dst_virtual_device", AttrDefault::None),
            ])])
        .attrs(&DEVICE_COPY)
        .rule("Identity", identity)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Copies a value from the device `src_virtual_device` to \
                      `dst_virtual_device`.",
            args: MARK,
            shape: "the type of `data`",
            example: "device_copy(%x, src_virtual_device=meta[VirtualDevice][0], \
                      dst_virtual_device=meta[VirtualDevice][1])",
        }),
    op("memory.alloc_storage", &["size", "shape", "alignment"]).controls(&["size", "shape", "alignment"])
        .since(6)
        .forms(&[form(Releases::between(6, 13), 2)
            .attrs(&[
                was("device_id", AttrType::Any, AttrDefault::None, Becomes::Nothing),
                was("device_type", AttrType::Any, AttrDefault::None, Becomes::Nothing),
            ])
            .defaults(&[("virtual_device", AttrDefault::None)])
            .as_operator(&ALLOC_STORAGE_2)])
        .attrs(&ALLOC_STORAGE)
        .rule("AllocStorage", alloc_storage)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Allocates a region of memory for tensors.",
            args: &[
                "int64 scalar: the size in bytes",
                "the shape of the tensor to be stored",
                "int64 scalar: the alignment in bytes",
            ],
            shape: "`Storage`",
            example: "memory.alloc_storage(4096i64, %s, 64i64, dtype=\"float32\", \
                      virtual_device=meta[VirtualDevice][0])",
        }),
    op("memory.alloc_tensor", &["storage", "offset", "shape"]).controls(&["offset", "shape"])
        .since(6)
        .forms(&[form(Releases::between(6, 6), 2).as_operator(&ALLOC_TENSOR_2)])
        .attrs(&ALLOC_TENSOR)
        .rule("AllocTensor", alloc_tensor)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Allocates a tensor in a region of memory.",
            args: &[
                "a `Storage`",
                "the offset of the tensor in it",
                "`(rank,)`: the shape of the tensor",
            ],
            shape: "`const_shape`, with the data type `dtype`",
            example: "memory.alloc_tensor(%storage, 0i64, %s, const_shape=meta[relay.Constant][0], \
                      assert_shape=None)",
        }),
    op("memory.kill", &["to_free"]).effect(Effect::Memory).since(6).rule("Kill", kill).cost(Cost::Free).doc(Doc {
        summary: "Frees the memory of a value.",
        args: MARK,
        shape: "`()`",
        example: "memory.kill(%x)",
    }),
    op("on_device", &["body"]).keeps_data()
        .forms(&[form(Releases::until(8), 1)
            .attrs(&[
                was("device_type", AttrType::Int, AttrDefault::Int(0), Becomes::Nothing),
                was("is_fixed", AttrType::Bool, AttrDefault::Bool(false), Becomes::Nothing),
            ])])
        .attrs(&ON_DEVICE).rule("Identity", identity).cost(Cost::Free).doc(
        Doc {
            summary: "Sets the device on which an expression is computed (`constrain_body`) and its \
                      value is stored (`constrain_result`).",
            args: MARK,
            shape: "the type of `body`",
            example: "on_device(%x, virtual_device=meta[VirtualDevice][0], constrain_result=True)",
        },
    ),
    op("parser.MetaRef", &[]).since(7).attrs(&META_REF).rule("MetaRef", internal).cost(Cost::Free).doc(
        Doc {
            summary: "Refers to an entry of the metadata section while a text is parsed.",
            args: &[],
            shape: "the type of the entry, which replaces the call before inference",
            example: "meta[relay.Constant][0]",
        },
    ),
    op("relay.op.annotation.simulated_quantize", &["data", "dom_scale", "clip_min", "clip_max"]).in_category(Category::Normalization)
        .attrs(&ANNOTATED_QUANTIZE)
        .registered_with(&SIMULATED_QUANTIZE)
        .rule("SimulatedQuantize", simulated_quantize)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Simulates quantization of reals: \
                      `clip(round(data / dom_scale), clip_min, clip_max) · dom_scale`.",
            args: &[
                "any shape but a scalar",
                "float32 scalar: the quantization step",
                "float32 scalar: the smallest integer",
                "float32 scalar: the largest integer",
            ],
            shape: "the type of `data`",
            example: "relay.op.annotation.simulated_quantize(%x, 0.1f, -127f, 127f)",
        }),
    op("vm.invoke_tvm_op", &["op", "ins", "outs"]).effect(Effect::Memory).controls(&["op"]).tuples(&["ins", "outs"])
        .formerly(&[("memory.invoke_tvm_op", Releases::between(6, 6))]).since(7)
        .attrs(&DICT)
        .rule("InvokeTVMOp", invoke)
        .cost(Cost::Undefined("it costs what the function called costs"))
        .doc(Doc {
            summary: "Calls a function that has been compiled, with tensors to write the result \
                      to.",
            args: &[
                "a function whose result is a tensor or a tuple",
                "its arguments, as a tuple",
                "the tensors to write to, as a tuple",
            ],
            shape: "`()`",
            example: "vm.invoke_tvm_op(%f, (%x,), (%out,))",
        }),
    op("vm.reshape_tensor", &["data", "shape"]).keeps_data().controls(&["shape"]).since(7)
        .attrs(&RESHAPE_TENSOR)
        .rule("ReshapeTensor", reshape_tensor)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Views a tensor in another shape, without a check of the number of elements.",
            args: &["any shape", "`(rank,)`: the new shape"],
            shape: "`newshape`, with the data type of `data`",
            example: "vm.reshape_tensor(%x, %s, newshape=[2, 3])",
        }),
    op("vm.shape_of", &["tensor"]).since(7).attrs(&SHAPE_OF).rule("ShapeOf", shape_of).cost(Cost::Free).doc(
        Doc {
            summary: "The shape of a tensor, as a tensor.",
            args: &["any shape"],
            shape: "`(rank,)`, with the data type `dtype`; a scalar for a scalar",
            example: "vm.shape_of(%x, dtype=\"int64\")",
        },
    ),
];

/// Fails: TVM uses the operator inside a single pass and defines no type for it.
fn internal(call: &mut Call<'_>) -> Outcome {
    Reason::new(
        Code::OperatorUndefined,
        text!("`{}` has no type: TVM uses it inside a single pass only", call.operator()),
    )
    .mark(Place::Operator, None, "has no type")
    .fail()
}

fn call_lowered(call: &mut Call<'_>) -> Outcome {
    let (params, ret) = match call.ty(0) {
        Type::Func(func) => (func.params().to_vec(), func.ret().clone()),
        Type::Var(_) | Type::Param(_) => return Err(Halt::NotYet),
        Type::Error => return Err(Halt::Silent),
        other => return wrong_argument(call, 0, "a function", &other),
    };
    arguments(call, 1, &params)?;
    call.output(ret)
}

fn invoke(call: &mut Call<'_>) -> Outcome {
    let (params, ret) = match call.ty(0) {
        Type::Func(func) => (func.params().to_vec(), func.ret().clone()),
        Type::Var(_) | Type::Param(_) => return Err(Halt::NotYet),
        Type::Error => return Err(Halt::Silent),
        other => return wrong_argument(call, 0, "a function", &other),
    };
    let results: Vec<Type> = match &ret {
        Type::Tensor(_) => vec![ret.clone()],
        Type::Tuple(fields) => fields.to_vec(),
        Type::Var(_) | Type::OpenTensor(_) | Type::Param(_) => return Err(Halt::NotYet),
        Type::Error => return Err(Halt::Silent),
        other => {
            let operator = call.operator();
            return Reason::new(
                Code::ArgumentType,
                text!("`{operator}`: the result of `op` is {}", Fact::Described(other.clone())),
            )
            .rule("the function must return a tensor or a tuple, to be written to `outs`")
            .argument(0, Fact::Described(call.ty(0)))
            .fail();
        }
    };
    arguments(call, 1, &params)?;
    arguments(call, 2, &results)?;
    call.output(Type::unit())
}

/// Checks that the argument at `position` is a tuple of the types `expected`.
fn arguments(call: &mut Call<'_>, position: usize, expected: &[Type]) -> Outcome {
    let found = call.tuple(position)?;
    if found.len() != expected.len() {
        let (operator, name) = (call.operator(), call.name(position));
        let (m, n) = (expected.len(), found.len());
        return Reason::new(
            Code::ArgumentType,
            text!("`{operator}`: {name} has {}, expected {m}", count(n, "field", "fields")),
        )
        .rule(text!("{name} has one field for each parameter or result of {}", call.name(0)))
        .argument(position, count(n, "field", "fields"))
        .argument(0, count(m, "value", "values"))
        .fail();
    }
    call.assign(position, Type::tuple(expected.to_vec()))
}

pub(crate) fn wrong_argument<T>(
    call: &Call<'_>,
    position: usize,
    expected: &str,
    found: &Type,
) -> Result<T, Halt> {
    let (operator, name) = (call.operator(), call.name(position));
    let found = Fact::Described(found.clone());
    Reason::new(
        Code::ArgumentType,
        text!("`{operator}` expects {expected} as {name}, found {found}"),
    )
    .argument(position, found)
    .fail()
}

/// The type of allocated memory, which the prelude declares.
fn storage() -> Type {
    Type::adt("Storage", [])
}

fn alloc_storage(call: &mut Call<'_>) -> Outcome {
    alloc_storage_of(call, &[0, 2])?;
    call.require_tensor(1).map(drop)
}

/// Types an allocation whose size and alignment are at some positions.
fn alloc_storage_of(call: &mut Call<'_>, positions: &[usize]) -> Outcome {
    for &position in positions {
        let found = scalar_or_literal(call, position)?;
        if let Some(found) = found
            && *found != TensorType::new([], DataType::INT64)
        {
            let (operator, name) = (call.operator(), call.name(position));
            return Reason::new(
                if found.rank() > 0 { Code::RankMismatch } else { Code::DtypeMismatch },
                text!("`{operator}`: {name} must be an int64 scalar, but it is `{found}`"),
            )
            .argument(position, found)
            .help("write a 64-bit literal: `64i64`")
            .fail();
        }
    }
    call.output(storage())
}

/// Returns a tensor argument. An unsuffixed literal becomes a 64-bit integer, and the result
/// `None`.
fn scalar_or_literal(
    call: &mut Call<'_>,
    position: usize,
) -> Result<Option<std::sync::Arc<TensorType>>, Halt> {
    if let Type::OpenTensor(_) = call.ty(position) {
        call.assign(position, Type::scalar(DataType::INT64))?;
        return Ok(None);
    }
    call.require_tensor(position).map(Some)
}

fn alloc_tensor(call: &mut Call<'_>) -> Outcome {
    if !matches!(call.ty(1), Type::OpenTensor(_)) {
        call.require_tensor(1)?;
    }
    alloc_tensor_of(call, 2)
}

/// Types an allocation whose shape is at a position.
fn alloc_tensor_of(call: &mut Call<'_>, position: usize) -> Outcome {
    match call.ty(0) {
        Type::Var(_) | Type::Param(_) => {}
        found if found == storage() => {}
        Type::Error => return Err(Halt::Silent),
        other => return wrong_argument(call, 0, "a `Storage`", &other),
    }
    call.assign(0, storage())?;
    let shape = call.require_tensor(position)?;
    let rank = match shape.shape.first() {
        None => 0,
        Some(size) => match size.as_known() {
            Some(rank) => rank,
            None => {
                return Reason::new(
                    Code::TypeNeeded,
                    text!("`{}`: the size of `shape` must be known", call.operator()),
                )
                .axis(position, 0, size)
                .fail();
            }
        },
    };
    let dtype = call.attrs().dtype("dtype");
    let sizes = match call.attrs().get("const_shape") {
        types::AttrValue::Constant(constant) => match constant_shape(constant) {
            Some(sizes) => sizes,
            None => {
                return Reason::new(
                    Code::AttributeValue,
                    text!(
                        "`{}`: `const_shape` must be a list of sizes, but it is `{}`",
                        call.operator(),
                        constant.ty
                    ),
                )
                .rule("`const_shape` is a vector of int32 or int64")
                .attribute("const_shape", text!("{}", constant.ty))
                .fail();
            }
        },
        types::AttrValue::None if call.attrs().dims("assert_shape").is_some() => {
            return Reason::new(
                Code::TypeNeeded,
                text!("cannot infer the type of `{}` without `const_shape`", call.operator()),
            )
            .rule("`assert_shape` is checked when the program runs")
            .attribute("const_shape", "no shape")
            .undecided();
        }
        types::AttrValue::None => {
            return Reason::new(
                Code::AttributeValue,
                text!("`{}` needs `const_shape` or `assert_shape`", call.operator()),
            )
            .attribute("const_shape", "no shape")
            .fail();
        }
        _ => return Err(Halt::Silent),
    };
    if sizes.len() as i64 != rank {
        return Reason::new(
            Code::AttributeMismatch,
            text!(
                "`{}`: `const_shape` has {} sizes, but `shape` has {rank}",
                call.operator(),
                sizes.len()
            ),
        )
        .rule("`const_shape` is the value of `shape`")
        .attribute("const_shape", text!("{} sizes", sizes.len()))
        .axis(2, 0, Fact::Size(rank.into(), "sizes"))
        .fail();
    }
    call.output_tensor(sizes, dtype)
}

/// Returns the elements of an integer vector as a shape.
fn constant_shape(constant: &types::Constant) -> Option<Shape> {
    if constant.ty.rank() != 1 {
        return None;
    }
    let size = |value: Option<i64>| value.map(Dim::known);
    match constant.ty.dtype {
        DataType::INT32 => constant
            .data
            .chunks_exact(4)
            .map(|bytes| size(bytes.try_into().ok().map(i32::from_le_bytes).map(i64::from)))
            .collect(),
        DataType::INT64 => constant
            .data
            .chunks_exact(8)
            .map(|bytes| size(bytes.try_into().ok().map(i64::from_le_bytes)))
            .collect(),
        _ => None,
    }
}

fn kill(call: &mut Call<'_>) -> Outcome {
    call.output(Type::unit())
}

fn simulated_quantize(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    if data.rank() == 0 {
        let (operator, name) = (call.operator(), call.name(0));
        return Reason::new(Code::RankMismatch, text!("`{operator}`: {name} must not be a scalar"))
            .rule(text!("{name} has at least one axis"))
            .argument(0, "a scalar")
            .fail();
    }
    for position in 1..4 {
        let scalar = TensorType::new([], DataType::FLOAT32);
        if let Type::Tensor(found) = call.ty(position)
            && *found != scalar
        {
            let (operator, name) = (call.operator(), call.name(position));
            return Reason::new(
                if found.rank() > 0 { Code::RankMismatch } else { Code::DtypeMismatch },
                text!("`{operator}`: {name} must be a float32 scalar, but it is `{found}`"),
            )
            .argument(position, found)
            .fail();
        }
        call.assign(position, scalar)?;
    }
    call.output_same(0)
}

fn reshape_tensor(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let shape = if call.attrs().has("newshape") {
        call.attrs().dims("newshape").ok_or(Halt::Silent)?
    } else {
        Shape::new()
    };
    call.lenient(same_elements(call, &data, &shape))?;
    call.output_tensor(shape, data.dtype)
}

/// Checks that the new shape has as many elements as the tensor, and as many axes as the shape
/// that is an argument.
fn same_elements(call: &Call<'_>, data: &TensorType, shape: &[Dim]) -> Outcome {
    let (x, s) = (call.name(0), call.name(1));
    if let (Some(old), Some(new)) = (element_count(&data.shape), element_count(shape))
        && old != new
    {
        return fault(
            call,
            Code::ShapeMismatch,
            text!("{x} has {old} elements, `{}` has {new}", shape_text(shape)),
        )
        .rule("the number of elements must stay the same")
        .argument(0, shape_text(&data.shape))
        .attribute("newshape", shape_text(shape))
        .fail();
    }
    let Type::Tensor(sizes) = call.ty(1) else { return Ok(()) };
    match sizes.shape.first() {
        Some(length) => {
            let rule = text!("{s} has the sizes of `newshape`, `{}`", shape_text(shape));
            has_size(call, (1, 0, length), shape.len() as i64, rule)
        }
        None => Ok(()),
    }
}

fn shape_of(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let rank = (tensor.rank() > 0).then(|| Dim::known(tensor.rank() as i64));
    call.output_tensor(rank, call.attrs().dtype("dtype"))
}
