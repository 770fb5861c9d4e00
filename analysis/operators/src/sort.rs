//! Operators that sort and search.

use crate::prelude::*;

const COMPARISONS: Cost = Cost::Undefined("the number of comparisons depends on the algorithm");

pub(crate) static OPERATORS: &[Operator] = &[
    op("argsort", &["data"]).in_category(Category::Reduction).since(6).attrs(&ARGSORT).rule("Argsort", argsort).cost(COMPARISONS).doc(Doc {
        summary: "Returns the indices that sort the elements along one axis.",
        args: &["any tensor"],
        shape: "the shape of `data`, with the data type `dtype`",
        example: "argsort(%x, axis=-1, is_ascend=True, dtype=\"int32\")",
    }),
    op("argwhere", &["condition"]).since(6).rule("ArgWhere", argwhere).cost(Cost::Reduction).doc(Doc {
        summary: "Finds the indices of all elements that are not 0.",
        args: &["any tensor"],
        shape: "`(?, rank)`: one row for each element found, of data type int32",
        example: "argwhere(%mask)",
    }),
    op("searchsorted", &["sorted_sequence", "values"]).in_category(Category::Reduction).data(&["values"]).since(8)
        .attrs(&SEARCH_SORTED)
        .rule("SearchSorted", search_sorted)
        .cost(COMPARISONS)
        .doc(Doc {
            summary: "Finds the indices at which to insert values to keep a \
                      sequence sorted.",
            args: &[
                "`(n,)`, or `(…, n)` with one sequence for each row of `values`: ascending values",
                "`(…, m)`: what to search for",
            ],
            shape: "the shape of `values`, with the data type `dtype`",
            example: "searchsorted(%sorted, %values, right=False, dtype=\"int32\")",
        }),
    op("sort", &["data"]).in_category(Category::Reduction).since(8).attrs(&ARGSORT).rule("Sort", sort).cost(COMPARISONS).doc(Doc {
        summary: "Sorts the elements along one axis.",
        args: &["any tensor"],
        shape: "the shape of `data`",
        example: "sort(%x, axis=-1, is_ascend=True)",
    }),
    op("topk", &["data"]).in_category(Category::Reduction)
        .since(6)
        .forms(&[form(Releases::between(6, 6), 1).defaults(&[("k", AttrDefault::Int(1))])])
        .attrs(&TOPK).rule("TopK", topk).cost(COMPARISONS).doc(Doc {
        summary: "Finds the k largest elements along one axis, or the smallest, and their indices.",
        args: &["any tensor that has the axis `axis`"],
        shape: "the shape of `data` with `k` elements on axis `axis` (all if `k` is below 1): a \
                tuple of values and indices, or the one that `ret_type` names",
        example: "topk(%x, k=5, axis=-1, ret_type=\"both\", dtype=\"int32\")",
    }),
    op("unique", &["data"]).in_category(Category::Reduction).since(8).detached_attrs(&UNIQUE).rule("unique", unique).cost(COMPARISONS).doc(
        Doc {
            summary: "Finds the distinct elements of a vector.",
            args: &["`(n,)`"],
            shape: "a tuple: the elements, the indices of their first occurrences, the index of \
                    each element among the distinct ones (all `(n,)`, padded after the number \
                    of elements found), that number `(1,)`, and the counts `(n,)` where \
                    `return_counts` is set",
            example: "unique(%x, sorted=True, attrs_type_key=\"relay.attrs.UniqueAttrs\")",
        },
    ),
];

fn argsort(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    call.lenient(names_axis(call, "axis", 0, data.rank()))?;
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(data.shape.clone(), dtype)
}

fn argwhere(call: &mut Call<'_>) -> Outcome {
    let condition = call.tensor(0)?;
    let rank = Dim::known(condition.rank() as i64);
    call.output_tensor([Dim::Any, rank], DataType::INT32)
}

fn search_sorted(call: &mut Call<'_>) -> Outcome {
    let (sorted, values) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let (m, n) = (sorted.rank(), values.rank());
    if n == 0 {
        return wrong_rank(call, 1, 0, "a vector or a tensor of more axes");
    }
    if m > 1 {
        let (x, y) = (call.name(0), call.name(1));
        if m != n {
            return fault(call, Code::RankMismatch, text!("{x} has {}, {y} has {n}", axes(m)))
                .rule(text!("{x} must be a vector, or have one sequence for each row of {y}"))
                .argument(0, axes(m))
                .argument(1, axes(n))
                .fail();
        }
        for i in 0..n - 1 {
            let (a, b) = (&sorted.shape[i], &values.shape[i]);
            if !may_equal(a, b) {
                return fault(
                    call,
                    Code::ShapeMismatch,
                    text!("{y} has size {b} on axis {i}, {x} has {a}"),
                )
                .rule("the shapes must be equal on every axis but the last")
                .axis(1, i, b)
                .axis(0, i, a)
                .fail();
            }
        }
    }
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(values.shape.clone(), dtype)
}

fn sort(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    call.lenient(names_axis(call, "axis", 0, data.rank()))?;
    call.output_tensor(data.shape.clone(), data.dtype)
}

fn topk(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let axis = axis_attr(call, "axis", 0, data.rank())?;
    let mut shape = data.shape.clone();
    if !call.attrs().has("k") {
        return attribute_missing(call, "k", "1");
    }
    let k = call.attrs().dim("k").ok_or(Halt::Silent)?;
    call.lenient(has_as_many(call, axis, &shape[axis], &k))?;
    if k.as_known().is_none_or(|k| k >= 1) {
        shape[axis] = k;
    }
    let indices = Type::tensor(shape.clone(), call.attrs().dtype("dtype"));
    let values = Type::tensor(shape, data.dtype);
    match call.attrs().str("ret_type") {
        "both" => call.output(Type::tuple([values, indices])),
        "values" => call.output(values),
        "indices" => call.output(indices),
        other => fault(call, Code::AttributeValue, text!("`ret_type` cannot be \"{other}\""))
            .rule("`ret_type` is \"both\", \"values\" or \"indices\"")
            .attribute("ret_type", text!("\"{other}\""))
            .fix("ret_type", "both")
            .fail(),
    }
}

/// Checks that `axis` has at least `k` elements.
fn has_as_many(call: &Call<'_>, axis: usize, size: &Dim, k: &Dim) -> Outcome {
    match (size.as_known(), k.as_known()) {
        (Some(size), Some(k)) if k > size => fault(
            call,
            Code::AttributeValue,
            text!("`k` is {k}, and axis {axis} of {} has size {size}", call.name(0)),
        )
        .rule("`k` is at most the size of the axis that is searched")
        .attribute("k", text!("{k}"))
        .axis(0, axis, size)
        .fix("k", size)
        .fail(),
        _ => Ok(()),
    }
}

fn unique(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    if data.rank() != 1 {
        return wrong_rank(call, 0, data.rank(), "a vector");
    }
    needs_attrs(call, "relay.attrs.UniqueAttrs")?;
    let indices = Type::tensor(data.shape.clone(), DataType::INT32);
    let number = Type::tensor([Dim::known(1)], DataType::INT32);
    let values = Type::tensor(data.shape.clone(), data.dtype);
    let mut fields = vec![values, indices.clone(), indices.clone(), number];
    if call.attrs().bool("return_counts") {
        fields.push(indices);
    }
    call.output(Type::tuple(fields))
}
