//! Random numbers. Each operator takes a key and returns a new one with the numbers, so that the
//! same key produces the same numbers.

use crate::prelude::*;

const COST: Cost = Cost::Undefined("it depends on the random number generator");

pub(crate) static OPERATORS: &[Operator] = &[
    op("random.multinomial", &["key", "probs"])
        .controls(&["key"])
        .data(&["probs"])
        .since(10)
        .attrs(&MULTINOMIAL)
        .rule("Multinomial", multinomial)
        .cost(COST)
        .doc(Doc {
            summary: "Draws indices of the last axis with the given probabilities.",
            args: &["`(10,)`, `uint64`: the key", "`(d1, …, dn, k)`: probabilities"],
            shape: "a tuple of two: the next key, and `int32` indices of shape `(d1, …, dn, \
                    num_samples)`",
            example: "random.multinomial(%key, %probs, num_samples=4)",
        }),
    op("random.normal", &["key", "mean", "scale"])
        .python("key shape/out_shape dtype/out_dtype=float32 mean=0f scale=1f")
        .controls(&["key"])
        .since(9)
        .attrs(&NORMAL)
        .rule("Normal", distribution)
        .cost(COST)
        .doc(Doc {
            summary: "Draws numbers from a normal distribution.",
            args: &[
                "`(10,)`, `uint64`: the key",
                "a scalar of type `out_dtype`: the mean",
                "a scalar of type `out_dtype`: the standard deviation",
            ],
            shape: "a tuple of two: the next key, and numbers of shape `out_shape`",
            example: "random.normal(%key, 0f, 1f, out_shape=[2, 3], out_dtype=\"float32\")",
        }),
    op("random.threefry_generate", &["key"])
        .python("key shape/out_shape")
        .since(8)
        .attrs(&THREEFRY_GENERATE)
        .rule("ThreefryGenerate", threefry_generate)
        .cost(COST)
        .doc(Doc {
            summary: "Draws uniformly distributed 64-bit integers.",
            args: &["`(10,)`, `uint64`: the key"],
            shape: "a tuple of two: the next key, and `uint64` numbers of shape `out_shape`",
            example: "random.threefry_generate(%key, out_shape=[12])",
        }),
    op("random.threefry_split", &["key"])
        .since(8)
        .rule("ThreefrySplit", threefry_split)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Splits a key into two independent keys.",
            args: &["`(10,)`, `uint64`: the key"],
            shape: "a tuple of two keys",
            example: "random.threefry_split(%key)",
        }),
    op("random.uniform", &["key", "low", "high"])
        .python("key shape/out_shape dtype/out_dtype=float32 low=0f high=1f")
        .controls(&["key"])
        .since(8)
        .attrs(&UNIFORM)
        .rule("Uniform", distribution)
        .cost(COST)
        .doc(Doc {
            summary: "Draws uniformly distributed numbers between `low` and `high`.",
            args: &[
                "`(10,)`, `uint64`: the key",
                "a scalar of type `out_dtype`: the lower bound",
                "a scalar of type `out_dtype`: the upper bound",
            ],
            shape: "a tuple of two: the next key, and numbers of shape `out_shape`",
            example: "random.uniform(%key, 0f, 1f, out_shape=[2, 3], out_dtype=\"float32\")",
        }),
];

/// The type of a key.
fn key() -> Type {
    Type::tensor([Dim::known(10)], DataType::UINT64)
}

/// Checks that the first argument is a key.
fn takes_key(call: &mut Call<'_>) -> Outcome {
    let (operator, name) = (call.operator(), call.name(0));
    let rule =
        "a key is `Tensor[(10), uint64]`: a result of `random.threefry_split`, or a constant";
    if let Type::Tensor(found) = call.ty(0) {
        let length = found.shape.first().cloned().unwrap_or(Dim::known(1));
        if found.rank() != 1 || !may_equal(&length, &Dim::known(10)) {
            let code = if found.rank() == 1 { Code::ShapeMismatch } else { Code::RankMismatch };
            return Reason::new(
                code,
                text!("`{operator}`: {name} is not a key of the generator: its type is `{found}`"),
            )
            .rule(rule)
            .argument(0, found)
            .fail();
        }
        if found.dtype != DataType::UINT64 {
            return Reason::new(
                Code::DtypeMismatch,
                text!("`{operator}`: {name} must be uint64, but it is {}", found.dtype),
            )
            .rule(rule)
            .argument(0, found.dtype)
            .fail();
        }
    }
    call.assign(0, key())
}

/// Returns the attribute `out_shape`.
fn out_shape(call: &Call<'_>) -> Result<Shape, Halt> {
    if !call.attrs().has("out_shape") {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}`: `out_shape` must be a list of integers", call.operator()),
        )
        .attribute("out_shape", "None")
        .help("write the shape of the result: `out_shape=[2, 3]`, or `[]` for a scalar")
        .fail();
    }
    call.attrs().dims("out_shape").ok_or(Halt::Silent)
}

fn threefry_generate(call: &mut Call<'_>) -> Outcome {
    let shape = out_shape(call)?;
    takes_key(call)?;
    call.output(Type::tuple([key(), Type::tensor(shape, DataType::UINT64)]))
}

fn threefry_split(call: &mut Call<'_>) -> Outcome {
    takes_key(call)?;
    call.output(Type::tuple([key(), key()]))
}

/// The relation of a distribution with two parameters of type `out_dtype`.
fn distribution(call: &mut Call<'_>) -> Outcome {
    let shape = out_shape(call)?;
    let dtype = call.attrs().dtype("out_dtype");
    if !dtype.is_float() || !matches!(dtype.bits, 32 | 64) {
        let operator = call.operator();
        let message = if dtype.is_void() {
            text!("`{operator}`: `out_dtype` must be given")
        } else {
            text!("`{operator}` does not support {dtype} as its data type")
        };
        return Reason::new(Code::AttributeValue, message)
            .rule("`out_dtype` is \"float32\" or \"float64\"")
            .attribute("out_dtype", text!("{dtype}"))
            .fix("out_dtype", "float32")
            .fail();
    }
    takes_key(call)?;
    for position in [1, 2] {
        parameter(call, position, dtype)?;
    }
    call.output(Type::tuple([key(), Type::tensor(shape, dtype)]))
}

/// Checks that the argument at `position` is a scalar of type `dtype`.
fn parameter(call: &mut Call<'_>, position: usize, dtype: DataType) -> Outcome {
    if let Type::Tensor(found) = call.ty(position) {
        needs_rank(call, position, &found, 0, "")?;
        if found.dtype != dtype {
            let (operator, name, other) = (call.operator(), call.name(position), found.dtype);
            return Reason::new(
                Code::DtypeMismatch,
                text!("`{operator}`: {name} is {other}, but `out_dtype` is {dtype}"),
            )
            .rule("the parameters of the distribution have the data type of the result")
            .argument(position, other)
            .attribute("out_dtype", text!("{dtype}"))
            .help(text!("cast it: `cast(…, dtype=\"{dtype}\")`"))
            .fail();
        }
    }
    call.assign(position, Type::scalar(dtype))
}

fn multinomial(call: &mut Call<'_>) -> Outcome {
    let probs = call.require_tensor(1)?;
    let Some((_, outer)) = probs.shape.split_last() else {
        let (operator, name) = (call.operator(), call.name(1));
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must have 1 axis or more, but it is a scalar"),
        )
        .rule(text!("the last axis of {name} contains a probability for each index"))
        .argument(1, "a scalar")
        .fail();
    };
    // `True` counts as 1.
    let samples = call.attrs().dim("num_samples");
    let Some(samples) = samples.or_else(|| call.attrs().int("num_samples").map(Dim::known)) else {
        return Err(Halt::Silent);
    };
    takes_key(call)?;
    let shape = outer.iter().cloned().chain([samples]);
    call.output(Type::tuple([key(), Type::tensor(shape, DataType::INT32)]))
}
