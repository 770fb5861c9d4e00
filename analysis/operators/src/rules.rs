//! What the relations of several families share.

use types::{Call, DataType, Dim, Halt, Outcome, Reason, Shape, TensorType, Type};

use crate::layout::Layout;

/// TVM's `AssertEQ`: false only where both sizes are known and differ.
pub(crate) fn may_equal(a: &Dim, b: &Dim) -> bool {
    a.equals(b) != Some(false)
}

/// The product of some sizes, in 32 bits as long as every size is.
pub(crate) fn product<'d>(dims: impl IntoIterator<Item = &'d Dim>) -> Dim {
    dims.into_iter().fold(Dim::known(1), |product, dim| &product * dim)
}

/// `axis` counted from the front, if it is an axis of a tensor of `rank`.
pub(crate) fn normal_axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = rank as i64;
    let axis = if axis < 0 { axis.checked_add(rank)? } else { axis };
    (0..rank).contains(&axis).then_some(axis as usize)
}

/// The attribute `name` as an axis of the argument at `position`, of `rank`.
pub(crate) fn axis_attr(
    call: &Call<'_>,
    name: &'static str,
    position: usize,
    rank: usize,
) -> Result<usize, Halt> {
    let Some(axis) = call.attrs().int(name) else { return Err(Halt::Silent) };
    normal_axis(axis, rank).map_or_else(|| axis_out_of_range(call, name, axis, position, rank), Ok)
}

/// The failure that `name`, which is `axis`, is no axis of the argument at `position`.
pub(crate) fn axis_out_of_range<T>(
    call: &Call<'_>,
    name: &'static str,
    axis: i64,
    position: usize,
    rank: usize,
) -> Result<T, Halt> {
    let (operator, argument) = (call.operator(), call.name(position));
    let range = match rank {
        0 => "a scalar has no axes".to_owned(),
        _ => format!("it has the axes 0 to {} (or -{rank} to -1)", rank - 1),
    };
    Reason::new(
        "axis-out-of-range",
        format!("`{operator}`: {argument} has no axis {axis}: it has {rank} axes"),
    )
    .rule(format!("`{name}` must be an axis of {argument}; {range}"))
    .attribute(name, format!("axis {axis}"))
    .argument(position, format!("{rank} axes"))
    .fail()
}

/// The attribute `name` as a layout.
pub(crate) fn layout_attr(call: &Call<'_>, name: &'static str) -> Result<Layout, Halt> {
    let text = call.attrs().str(name);
    Layout::parse(text).or_else(|why| {
        Reason::new(
            "invalid-layout",
            format!("`{}`: \"{text}\" is no layout: {why}", call.operator()),
        )
        .attribute(name, why)
        .help("write one upper case letter for each axis, such as \"NCHW\", and blocks as in \"NCHW4c\"")
        .fail()
    })
}

/// `layout`, if it holds the axes of `base`: the layout that the rule is written for.
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
        "invalid-layout",
        format!("`{}`: \"{layout}\" does not have the axes of \"{base}\"", call.operator()),
    )
    .rule(format!("`{name}` must order the axes of \"{base}\", with blocks split off at will"))
    .attribute(name, format!("\"{layout}\""))
    .help(format!("write `{name}=\"{base}\"`, or an order of the same letters"))
    .fail()
}

/// The shape of the argument at `position`, which is in `from`, in the layout `to`.
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
                let wanted = from.rank();
                return Reason::new(
                    "rank-mismatch",
                    format!(
                        "`{operator}`: {name} has {rank} axes, but the layout \"{from}\" has {wanted}"
                    ),
                )
                .argument(position, format!("{rank} axes"))
                .fail();
            }
            Reason::new(
                "shape-mismatch",
                format!("`{operator}`: {name} of shape `{}` does not have the blocks of \"{from}\"",
                    shape_text(&tensor.shape)),
            )
            .argument(position, format!("layout \"{from}\""))
            .fail()
        },
        Ok,
    )
}

/// A shape as a message shows it: `(1, 64, ?)`.
pub(crate) fn shape_text(shape: &[Dim]) -> String {
    let dims: Vec<String> = shape.iter().map(Dim::to_string).collect();
    match dims.len() {
        1 => format!("({},)", dims[0]),
        _ => format!("({})", dims.join(", ")),
    }
}

/// The failure that two arguments have different data types.
pub(crate) fn dtype_mismatch<T>(
    call: &Call<'_>,
    a: (usize, DataType),
    b: (usize, DataType),
) -> Result<T, Halt> {
    let operator = call.operator();
    let (x, y) = (call.name(a.0), call.name(b.0));
    Reason::new(
        "dtype-mismatch",
        format!("`{operator}`: {y} is {}, but {x} is {}", b.1, a.1),
    )
    .rule(format!("{x} and {y} must have the same data type"))
    .argument(b.0, b.1.to_string())
    .argument(a.0, a.1.to_string())
    .help(format!("cast one of them: `cast(…, dtype=\"{}\")`", a.1))
    .fail()
}

/// Spatial padding as a list of sums over both sides: one value for all axes, one for each, or one
/// for each side.
pub(crate) fn padding(call: &Call<'_>, name: &'static str, axes: usize) -> Result<Shape, Halt> {
    let Some(values) = call.attrs().dims(name) else { return Err(Halt::Silent) };
    match values.len() {
        1 => Ok((0..axes).map(|_| &values[0] * 2).collect()),
        n if n == axes => Ok(values.iter().map(|pad| pad * 2).collect()),
        n if n == 2 * axes => Ok((0..axes).map(|i| &values[i] + &values[axes + i]).collect()),
        n => Reason::new(
            "attribute-length",
            format!("`{}`: `{name}` has {n} values", call.operator()),
        )
        .rule(format!(
            "`{name}` takes 1 value for all sides, {axes} for both sides of each axis, or {} for \
             each side",
            2 * axes
        ))
        .attribute(name, format!("{n} values"))
        .fail(),
    }
}

/// A list attribute with one value for each of `axes` spatial axes.
pub(crate) fn per_axis(call: &Call<'_>, name: &'static str, axes: usize) -> Result<Shape, Halt> {
    let Some(values) = call.attrs().dims(name) else { return Err(Halt::Silent) };
    if values.len() == axes {
        return Ok(values);
    }
    wrong_length(call, name, values.len(), axes)
}

/// The failure that a list attribute has the wrong length.
pub(crate) fn wrong_length<T>(
    call: &Call<'_>,
    name: &'static str,
    found: usize,
    wanted: usize,
) -> Result<T, Halt> {
    let values = if found == 1 { "value" } else { "values" };
    Reason::new(
        "attribute-length",
        format!("`{}`: `{name}` has {found} {values}, {wanted} are needed", call.operator()),
    )
    .rule(format!("`{name}` has one value for each of the {wanted} spatial axes"))
    .attribute(name, format!("{found} {values}"))
    .fail()
}

/// The result has the type of the first argument, and every argument has.
pub(crate) fn identity(call: &mut Call<'_>) -> Outcome {
    for i in 1..=call.arity() {
        call.assign_same(i, 0)?;
    }
    Ok(())
}

/// The shape of two broadcast together, or the axes (from the back) that do not fit.
pub(crate) fn broadcast_shapes(a: &[Dim], b: &[Dim]) -> Result<Shape, usize> {
    let longest = if a.len() > b.len() { a } else { b };
    let shared = a.len().min(b.len());
    let mut shape: Shape = longest[..longest.len() - shared].iter().cloned().collect();
    for i in (1..=shared).rev() {
        let (x, y) = (&a[a.len() - i], &b[b.len() - i]);
        let dim = if x.is(1) {
            y
        } else if y.is(1) {
            x
        } else if x.is_any() {
            y
        } else if y.is_any() || x.equals(y) == Some(true) {
            x
        } else {
            return Err(i);
        };
        shape.push(dim.clone());
    }
    Ok(shape)
}

/// Two arguments broadcast together; the result has the data type `dtype` makes of theirs.
pub(crate) fn broadcast_with(
    call: &mut Call<'_>,
    dtype: impl FnOnce(DataType) -> DataType,
) -> Outcome {
    call.literals_like(0, 1);
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    if a.dtype != b.dtype {
        return dtype_mismatch(call, (0, a.dtype), (1, b.dtype));
    }
    match broadcast_shapes(&a.shape, &b.shape) {
        Ok(shape) => call.output_tensor(shape, dtype(a.dtype)),
        Err(from_back) => {
            let (x, y) = (a.rank() - from_back, b.rank() - from_back);
            let (m, n) = (&a.shape[x], &b.shape[y]);
            let (left, right) = (call.name(0), call.name(1));
            Reason::new(
                "broadcast-mismatch",
                format!(
                    "`{}`: {left} of shape `{}` and {right} of shape `{}` do not broadcast: {m} \
                     against {n}",
                    call.operator(),
                    shape_text(&a.shape),
                    shape_text(&b.shape)
                ),
            )
            .rule(format!(
                "counted from the last axis, sizes must be equal or one of them 1; axis {x} of \
                 {left} is {m}, axis {y} of {right} is {n}"
            ))
            .axis(1, y, format!("{n}"))
            .axis(0, x, format!("{m}"))
            .fail()
        }
    }
}

/// Two arguments of one data type broadcast together.
pub(crate) fn broadcast(call: &mut Call<'_>) -> Outcome {
    broadcast_with(call, |dtype| dtype)
}

/// Two arguments broadcast together and compared.
pub(crate) fn broadcast_compare(call: &mut Call<'_>) -> Outcome {
    broadcast_with(call, |_| DataType::BOOL)
}

/// The attribute `name` as a data type, or `default` where it is not written.
pub(crate) fn dtype_or(call: &Call<'_>, name: &str, default: DataType) -> DataType {
    let dtype = call.attrs().dtype(name);
    if dtype.is_void() { default } else { dtype }
}

/// The elements of a type, if it is a tensor of known sizes.
pub(crate) fn elements(ty: &Type) -> Option<u64> {
    ty.as_tensor()?.elements()
}

/// `int8, uint8 or int16`
pub(crate) fn alternatives(dtypes: &[DataType]) -> String {
    let names: Vec<String> = dtypes.iter().map(DataType::to_string).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
