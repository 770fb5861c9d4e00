//! Helpers for the relations of several families.

mod broadcast;

pub(crate) use broadcast::*;
use smallvec::SmallVec;
use types::{
    AttrValue, Call, Code, DTypeTerm, DataType, Dim, Fact, Halt, Outcome, Reason, Shape, ShapeTerm,
    TensorType, Text, ToFact, Type, normal_axis, open_tensor, text,
};

use crate::layout::Layout;

/// Returns false if both sizes are known and differ (TVM's `AssertEQ`).
pub(crate) fn may_equal(a: &Dim, b: &Dim) -> bool {
    a.equals(b) != Some(false)
}

/// Returns the product of sizes, which has 32 bits if every size has.
pub(crate) fn product<'d>(dims: impl IntoIterator<Item = &'d Dim>) -> Dim {
    dims.into_iter().fold(Dim::known(1), |product, dim| &product * dim)
}

/// Returns the attribute `name` as an axis of the argument at `position`, of `rank`.
pub(crate) fn axis_attr(
    call: &Call<'_>,
    name: &'static str,
    position: usize,
    rank: usize,
) -> Result<usize, Halt> {
    let Some(axis) = call.attrs().int(name) else { return Err(Halt::Silent) };
    normal_axis(axis, rank).map_or_else(|| axis_out_of_range(call, name, axis, position, rank), Ok)
}

/// The failure that `axis`, the attribute `name`, is not an axis of the argument at `position`.
pub(crate) fn axis_out_of_range<T>(
    call: &Call<'_>,
    name: &'static str,
    axis: i64,
    position: usize,
    rank: usize,
) -> Result<T, Halt> {
    let (operator, argument) = (call.operator(), call.name(position));
    let range = match rank {
        0 => Text::from("a scalar has no axes"),
        _ => text!("it has the axes 0 to {} (or -{rank} to -1)", rank - 1),
    };
    Reason::new(
        Code::AxisOutOfRange,
        text!("`{operator}`: {argument} has no axis {axis}: it has {}", axes(rank)),
    )
    .rule(text!("`{name}` must be an axis of {argument}; {range}"))
    .attribute(name, text!("axis {axis}"))
    .argument(position, axes(rank))
    .fail()
}

/// Returns the attribute `name` as a layout.
pub(crate) fn layout_attr(call: &Call<'_>, name: &'static str) -> Result<Layout, Halt> {
    let text = call.attrs().str(name);
    Layout::parse(text).or_else(|why| {
        Reason::new(
            Code::InvalidLayout,
            text!("`{}`: \"{text}\" is not a layout: {why}", call.operator()),
        )
        .attribute(name, why)
        .help("write one upper case letter for each axis, such as \"NCHW\", and blocks as in \"NCHW4c\"")
        .fail()
    })
}

/// Returns `layout` if it has the axes of `base`, the layout in which the rule is defined.
pub(crate) fn needs_axes(
    call: &Call<'_>,
    name: &'static str,
    layout: Layout,
    base: &Layout,
) -> Result<Layout, Halt> {
    if layout.converts_to(base) {
        return Ok(layout);
    }
    Reason::new(
        Code::InvalidLayout,
        text!("`{}`: \"{layout}\" does not have the axes of \"{base}\"", call.operator()),
    )
    .rule(text!("`{name}` must order the axes of \"{base}\", optionally with blocks"))
    .attribute(name, text!("\"{layout}\""))
    .help(text!("write `{name}=\"{base}\"`, or an order of the same letters"))
    .fail()
}

/// Converts the shape of the argument at `position` from the layout `from` to `to`.
pub(crate) fn in_layout(
    call: &Call<'_>,
    position: usize,
    tensor: &TensorType,
    from: &Layout,
    to: &Layout,
) -> Result<Shape, Halt> {
    from.convert(&tensor.shape, to).map_or_else(
        || {
            let (operator, name) = (call.operator(), call.name(position));
            let rank = tensor.rank();
            if rank != from.rank() {
                let expected = from.rank();
                return Reason::new(
                    Code::RankMismatch,
                    text!(
                        "`{operator}`: {name} has {}, but the layout \"{from}\" has {expected}",
                        axes(rank)
                    ),
                )
                .argument(position, axes(rank))
                .fail();
            }
            Reason::new(
                Code::ShapeMismatch,
                text!(
                    "`{operator}`: {name} of shape `{}` does not have the blocks of \"{from}\"",
                    shape_text(&tensor.shape)
                ),
            )
            .argument(position, text!("layout \"{from}\""))
            .fail()
        },
        Ok,
    )
}

/// The fact of a shape: `(1, 64, ?)`.
pub(crate) fn shape_text(shape: &[Dim]) -> Fact {
    Fact::Shape(shape.into())
}

/// The failure that two arguments have different data types.
pub(crate) fn dtype_mismatch<T>(
    call: &Call<'_>,
    a: (usize, DataType),
    b: (usize, DataType),
) -> Result<T, Halt> {
    let operator = call.operator();
    let (x, y) = (call.name(a.0), call.name(b.0));
    Reason::new(Code::DtypeMismatch, text!("`{operator}`: {y} is {}, but {x} is {}", b.1, a.1))
        .rule(text!("{x} and {y} must have the same data type"))
        .argument(b.0, b.1)
        .argument(a.0, a.1)
        .help(text!("cast one of them: `cast(…, dtype=\"{}\")`", a.1))
        .fail()
}

/// Returns the sums of the padding of both sides for each spatial axis. The attribute has one value
/// for all axes, one per axis, or one per side.
pub(crate) fn padding(call: &Call<'_>, name: &'static str, axes: usize) -> Result<Shape, Halt> {
    padding_sums(call, name, axes)?.or_else(Reason::fail)
}

/// Like [`padding`], but returns the reason for a wrong length to the caller.
pub(crate) fn padding_sums(
    call: &Call<'_>,
    name: &'static str,
    axes: usize,
) -> Result<Result<Shape, Reason>, Halt> {
    let values = list(call, name)?;
    Ok(Ok(match values.len() {
        1 => (0..axes).map(|_| &values[0] * 2).collect(),
        n if n == axes => values.iter().map(|pad| pad * 2).collect(),
        n if n == 2 * axes => (0..axes).map(|i| &values[i] + &values[axes + i]).collect(),
        n => {
            let count = count(n, "value", "values");
            let each = match axes {
                1 => Text::default(),
                _ => text!("{axes} for both sides of each axis, "),
            };
            return Ok(Err(Reason::new(
                Code::AttributeLength,
                text!("`{}`: `{name}` has {count}", call.operator()),
            )
            .rule(text!("`{name}` has 1 value for all sides, {each}or {} for each side", 2 * axes))
            .attribute(name, count)));
        }
    }))
}

/// The failure that a list attribute has the wrong length.
pub(crate) fn wrong_length<T>(
    call: &Call<'_>,
    name: &'static str,
    found: usize,
    expected: usize,
) -> Result<T, Halt> {
    let (found, each) = (count(found, "value", "values"), axes(expected));
    Reason::new(
        Code::AttributeLength,
        text!("`{}`: `{name}` has {found}, expected {expected}", call.operator()),
    )
    .rule(text!("`{name}` has one value for each of {each}"))
    .attribute(name, found)
    .fail()
}

/// Unifies the types of all arguments and the result.
pub(crate) fn identity(call: &mut Call<'_>) -> Outcome {
    for i in 1..=call.arity() {
        call.assign_same(i, 0)?;
    }
    Ok(())
}

/// Like [`identity`], of an operator that computes a tensor: TVM gives `nn.relu(%bn)` the type of the tuple `%bn`.
pub(crate) fn same_tensor(call: &mut Call<'_>) -> Outcome {
    call.expect_tensor(0);
    identity(call)
}

/// Returns the attribute `name` as a data type, or `default` if it has no value.
pub(crate) fn dtype_or(call: &Call<'_>, name: &str, default: DataType) -> DataType {
    let dtype = call.attrs().dtype(name);
    if dtype.is_void() { default } else { dtype }
}

/// Returns the number of elements of a tensor type with known sizes.
pub(crate) fn elements(ty: &Type) -> Option<u64> {
    ty.as_tensor()?.elements()
}

/// Checks that the argument at `position` has `expected` axes; `what` names them.
pub(crate) fn needs_rank(
    call: &Call<'_>,
    position: usize,
    tensor: &TensorType,
    expected: usize,
    what: &'static str,
) -> Outcome {
    let rank = tensor.rank();
    if rank == expected {
        return Ok(());
    }
    let (operator, name) = (call.operator(), call.name(position));
    let found = if rank == 0 {
        Text::from("it is a scalar")
    } else {
        text!("its shape is `{}`", shape_text(&tensor.shape))
    };
    let requirement = match expected {
        0 => Text::from("be a scalar"),
        1 => text!("be a vector ({what})"),
        _ => text!("have {expected} axes ({what})"),
    };
    Reason::new(Code::RankMismatch, text!("`{operator}`: {name} must {requirement}, but {found}"))
        .argument(position, axes(rank))
        .fail()
}

/// Returns the list attribute `name`, empty if it is `None`. As in TVM, a floating point number is
/// truncated to an integer size.
pub(crate) fn list_attr(call: &Call<'_>, name: &'static str) -> Result<Shape, Halt> {
    let size = |value: &AttrValue| match value {
        AttrValue::Float(number) => Some(Dim::known(number.0 as i64)),
        AttrValue::Bool(value) => Some(Dim::known(i64::from(*value))),
        other => other.as_dim(),
    };
    match call.attrs().get(name) {
        AttrValue::None => Ok(Shape::new()),
        AttrValue::List(values) => {
            values.iter().map(size).collect::<Option<Shape>>().ok_or(Halt::Silent)
        }
        _ => Err(Halt::Silent),
    }
}

/// Returns the values of the list attribute `name`. As in TVM, `None` is an empty list, and truth
/// values are 0 and 1.
pub(crate) fn list(call: &Call<'_>, name: &'static str) -> Result<Shape, Halt> {
    match call.attrs().get(name) {
        AttrValue::None => Ok(Shape::new()),
        AttrValue::List(values) => values.iter().map(|value| whole(call, name, value)).collect(),
        value => Ok(Shape::from_iter([whole(call, name, value)?])),
    }
}

/// Returns a value of the attribute `name`, which must be an integer.
pub(crate) fn whole(call: &Call<'_>, name: &'static str, value: &AttrValue) -> Result<Dim, Halt> {
    let number = match value {
        AttrValue::Float(number) => number.0,
        AttrValue::Bool(truth) => return Ok(Dim::known(i64::from(*truth))),
        other => return other.as_dim().ok_or(Halt::Silent),
    };
    Reason::new(
        Code::AttributeValue,
        text!("`{}`: `{name}` must be an integer, but it is {number}", call.operator()),
    )
    .attribute(name, text!("{number}"))
    .fail()
}

/// Returns the value at `index` of the list attribute `name`, which has one for each of `expected`
/// axes. As in TVM, excess values are ignored.
pub(crate) fn element(
    call: &Call<'_>,
    name: &'static str,
    values: &[Dim],
    index: usize,
    expected: usize,
) -> Result<Dim, Halt> {
    match values.get(index) {
        Some(value) => Ok(value.clone()),
        None => wrong_length(call, name, values.len(), expected),
    }
}

/// Returns `a / b` rounded toward negative infinity, where `b` is from the attribute `name`.
pub(crate) fn floor_div(
    call: &Call<'_>,
    name: &'static str,
    a: &Dim,
    b: &Dim,
) -> Result<Dim, Halt> {
    not_zero(call, name, b)?;
    Ok(a / b)
}

/// Returns `a / b` rounded toward zero, where `b` is from the attribute `name`.
pub(crate) fn trunc_div(
    call: &Call<'_>,
    name: &'static str,
    a: &Dim,
    b: &Dim,
) -> Result<Dim, Halt> {
    not_zero(call, name, b)?;
    Ok(match (a, b) {
        (Dim::Known { size: x, wide: wx }, Dim::Known { size: y, wide: wy }) => {
            x.checked_div(*y).map_or(Dim::Any, |size| Dim::Known { size, wide: *wx || *wy })
        }
        _ => a / b,
    })
}

fn not_zero(call: &Call<'_>, name: &'static str, value: &Dim) -> Outcome {
    if !value.is(0) {
        return Ok(());
    }
    let values = call.attrs().get(name).as_list();
    let is = if values.is_some() { "contains a 0" } else { "is 0" };
    let reason = Reason::new(Code::AttributeValue, text!("`{}`: `{name}` {is}", call.operator()))
        .rule(text!("sizes are divided by `{name}`, which must not be 0"))
        .attribute(name, "0");
    let fixed = match values {
        Some(values) => {
            let or_one = |value: &AttrValue| match value.as_int()? {
                0 => Some(1),
                number => Some(number),
            };
            let fixed: Option<Vec<i64>> = values.iter().map(or_one).collect();
            fixed.map(AttrValue::list)
        }
        None => Some(1.into()),
    };
    match fixed {
        Some(fixed) => reason.fix(name, fixed).fail(),
        None => reason.fail(),
    }
}

/// Creates a reason with a message that starts with the name of the operator.
pub(crate) fn fault(call: &Call<'_>, code: Code, message: impl Into<Text>) -> Reason {
    Reason::new(code, text!("`{}`: {}", call.operator(), message.into()))
}

/// Formats a number with a noun: `1 value`, `3 values`.
pub(crate) fn count(n: usize, one: &'static str, many: &'static str) -> Fact {
    Fact::Count(n, one, many)
}

/// The number of axes, which is written `1 axis`, `3 axes`.
pub(crate) fn axes(n: usize) -> Fact {
    count(n, "axis", "axes")
}

/// The text of a list of values in Relay: `[0, 1]`.
pub(crate) fn list_text<T: ToFact>(values: &[T]) -> Text {
    let values = values.iter().map(ToFact::to_fact).collect();
    text!("[{}]", Fact::List(values, ", ", ", "))
}

/// Returns the integer attribute `name`.
pub(crate) fn int_attr(call: &Call<'_>, name: &'static str) -> Result<i64, Halt> {
    call.attrs().int(name).ok_or(Halt::Silent)
}

/// Returns the integer attribute `name`, or `None` if it has no value.
pub(crate) fn optional_int(call: &Call<'_>, name: &'static str) -> Result<Option<i64>, Halt> {
    if call.attrs().has(name) { int_attr(call, name).map(Some) } else { Ok(None) }
}

/// Returns the list of integers `name`, or `None` if it has no value.
pub(crate) fn optional_ints(
    call: &Call<'_>,
    name: &'static str,
) -> Result<Option<SmallVec<[i64; 6]>>, Halt> {
    if !call.attrs().has(name) {
        return Ok(None);
    }
    call.attrs().ints(name).map(Some).ok_or(Halt::Silent)
}

/// Returns the list of sizes `name`, or `None` if it has no value. As in TVM, truth values are 0
/// and 1.
pub(crate) fn optional_dims(call: &Call<'_>, name: &'static str) -> Result<Option<Shape>, Halt> {
    let value = match call.attrs().get(name) {
        AttrValue::None => return Ok(None),
        value => value,
    };
    let size = |value: &AttrValue| value.as_dim().or_else(|| value.as_int().map(Dim::known));
    let sizes = match value {
        AttrValue::List(values) => values.iter().map(size).collect(),
        value => size(value).map(|size| Shape::from_iter([size])),
    };
    sizes.map(Some).ok_or(Halt::Silent)
}

/// The failure that the required attribute `name` has no value. `example` is a valid one.
pub(crate) fn attribute_missing<T>(
    call: &Call<'_>,
    name: &'static str,
    example: &str,
) -> Result<T, Halt> {
    fault(call, Code::MissingAttribute, text!("missing attribute `{name}`"))
        .attribute(name, "no value")
        .help(text!("write `{name}={example}`"))
        .fail()
}

/// Checks that a call of an operator with detached attributes has any.
pub(crate) fn needs_attrs(call: &Call<'_>, key: &str) -> Outcome {
    if call.attrs().schema().is_some() {
        return Ok(());
    }
    fault(call, Code::MissingAttribute, "missing attributes")
        .mark(types::Place::Operator, None, "no attributes")
        .help(text!(
            "write them with `attrs_type_key=\"{key}\"`, or as `meta[{key}][0]` of the metadata \
             section"
        ))
        .fail()
}

/// Returns the number of elements of a shape, if every size is known.
pub(crate) fn element_count(shape: &[Dim]) -> Option<i128> {
    shape.iter().try_fold(1i128, |n, dim| n.checked_mul(dim.as_known()?.into()))
}

/// The failure that an argument does not have an integer data type.
pub(crate) fn not_integers<T>(
    call: &Call<'_>,
    position: usize,
    found: DataType,
) -> Result<T, Halt> {
    let name = call.name(position);
    fault(call, Code::DtypeMismatch, text!("{name} must have an integer type, but it is {found}"))
        .rule(text!("{name} contains indices, so its data type must be an integer type"))
        .argument(position, found)
        .help("cast it: `cast(…, dtype=\"int32\")`")
        .fail()
}

/// The failure that an argument has the wrong number of axes; `expected` describes the correct one.
pub(crate) fn wrong_rank<T>(
    call: &Call<'_>,
    position: usize,
    found: usize,
    expected: impl Into<Text>,
) -> Result<T, Halt> {
    let (name, expected) = (call.name(position), expected.into());
    let (is, label) = match found {
        0 => (Text::from("is a scalar"), "a scalar".into()),
        n => (text!("has {}", axes(n)), axes(n)),
    };
    fault(call, Code::RankMismatch, text!("{name} must be {expected}, but it {is}"))
        .argument(position, label)
        .fail()
}

/// The fact of a list of data types: `int8, uint8 or int16`.
pub(crate) fn alternatives(dtypes: &[DataType]) -> Fact {
    Fact::List(dtypes.iter().map(ToFact::to_fact).collect(), ", ", " or ")
}
