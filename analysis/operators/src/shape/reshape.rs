//! Operators that change the shape.

use crate::prelude::*;

/// Up to TVM 0.7, both reshaping operators have the same attributes.
const REVERSED: &[crate::CallForm] = &[form(Releases::until(7), 1).attrs(&[was(
    "reverse",
    AttrType::Bool,
    AttrDefault::Bool(false),
    Becomes::Nothing,
)])];

pub(crate) static OPERATORS: &[Operator] = &[
    op("contrib_reverse_reshape", &["data"]).keeps_data()
        .since(7)
        .forms(REVERSED)
        .formerly(&[("_contrib_reverse_reshape", Releases::until(6))])
        .attrs(&RESHAPE)
        .rule("ReverseReshape", reverse_reshape)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Changes the shape, with special entries that are applied from \
                      the last axis to the first.",
            args: &["any tensor"],
            shape: "as `reshape`, with the sizes of `data` and the entries of `newshape` taken \
                    from right to left",
            example: "contrib_reverse_reshape(%x, newshape=[-1, 0])",
        }),
    op("reshape", &["data"]).keeps_data()
        .forms(REVERSED)
        .attrs(&RESHAPE).rule("Reshape", reshape).cost(Cost::Free).doc(Doc {
        summary: "Changes the shape, in row-major order.",
        args: &["any tensor"],
        shape: "`newshape`, where 0 copies the size of `data` on that axis (unless `allowzero`), \
                -1 is inferred from the other sizes, -2 copies all remaining axes, -3 merges two \
                axes, and -4 splits one into the two sizes that follow",
        example: "reshape(%x, newshape=[0, -1])",
    }),
    op("reshape_like", &["data", "shape_like"]).keeps_data().controls(&["shape_like"])
        .attrs(&RESHAPE_LIKE)
        .rule("ReshapeLike", reshape_like)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Changes the shape to that of another tensor, or to a part of it.",
            args: &["any tensor", "a tensor of the target shape, whose elements are not used"],
            shape: "the shape of `data` with the axes from `lhs_begin` to `lhs_end` replaced by \
                    those of `shape_like` from `rhs_begin` to `rhs_end`",
            example: "reshape_like(%x, %y)",
        }),
];

fn reshape(call: &mut Call<'_>) -> Outcome {
    reshape_with(call, false)
}

fn reverse_reshape(call: &mut Call<'_>) -> Outcome {
    reshape_with(call, true)
}

/// Reshapes by the entries of `newshape`, from the first axis or from the last.
fn reshape_with(call: &mut Call<'_>, reverse: bool) -> Outcome {
    let data = call.require_tensor(0)?;
    let mut entries = optional_dims(call, "newshape")?.unwrap_or_default();
    let mut source = data.shape.clone();
    if reverse && !call.attrs().has("newshape") {
        return attribute_missing(call, "newshape", "[-1]");
    }
    if reverse {
        entries.reverse();
        source.reverse();
    }
    let mut shape = new_shape(call, &source, &entries)?;
    if reverse {
        shape.reverse();
    }
    if let (Some(new), Some(old)) = (element_count(&shape), element_count(&data.shape))
        && new != old
    {
        return wrong_count(call, &data, &shape, &entries, (old, new));
    }
    call.output_tensor(shape, data.dtype)
}

/// The failure that a special entry of `newshape` does not apply.
fn bad_entry<T>(call: &Call<'_>, what: Text, rule: &'static str) -> Result<T, Halt> {
    fault(call, Code::AttributeValue, what).rule(rule).attribute("newshape", "invalid entry").fail()
}

/// Returns the shape that results from applying `entries` to `source`.
fn new_shape(call: &Call<'_>, source: &[Dim], entries: &[Dim]) -> Result<Shape, Halt> {
    let keep_zero = call.attrs().bool("allowzero");
    let mut new = NewShape {
        source,
        at: 0,
        used: SmallVec::from_elem(false, source.len()),
        shape: Shape::new(),
        settled: SmallVec::new(),
        open: None,
    };
    let mut i = 0;
    while let Some(entry) = entries.get(i) {
        let Some(value) = entry.as_known() else { return Err(Halt::Silent) };
        match value {
            1.. => new.write(entry),
            0 if keep_zero => new.write(entry),
            0 => new.copy(call, i)?,
            -1 => new.leave_open(call, i)?,
            -2 => new.copy_rest(),
            -3 => new.merge(call, i)?,
            -4 => {
                new.split(call, i, entries)?;
                // The two sizes that follow belong to this entry.
                i += 2;
            }
            other => {
                return bad_entry(
                    call,
                    text!("{other} is not valid in `newshape`"),
                    "sizes must be positive, or one of the special values 0, -1, -2, -3 and -4",
                );
            }
        }
        i += 1;
    }
    new.inferred(call)
}

/// The new shape to which the entries so far lead.
struct NewShape<'s> {
    /// The old shape.
    source: &'s [Dim],
    /// The next axis of the old shape.
    at: usize,
    /// The axes of the old shape that entries took over, which do not affect the size of -1.
    used: SmallVec<[bool; 8]>,
    shape: Shape,
    /// The axes of the new shape that were taken over, which do not affect it either.
    settled: SmallVec<[bool; 8]>,
    /// The entry that is -1.
    open: Option<usize>,
}

impl NewShape<'_> {
    fn push(&mut self, size: Dim, is_settled: bool) {
        self.shape.push(size);
        self.settled.push(is_settled);
    }

    /// Returns the next axis of the old shape, which is taken over.
    fn take(&mut self) -> Option<Dim> {
        let size = self.source.get(self.at)?.clone();
        self.used[self.at] = true;
        self.at += 1;
        Some(size)
    }

    /// Applies a size.
    fn write(&mut self, size: &Dim) {
        self.push(size.clone(), false);
        self.at += 1;
    }

    /// Applies a 0, which is entry `i`.
    fn copy(&mut self, call: &Call<'_>, i: usize) -> Result<(), Halt> {
        let Some(size) = self.take() else {
            let (at, name, rank) = (self.at, call.name(0), axes(self.source.len()));
            return bad_entry(
                call,
                text!("entry {i} of `newshape` copies axis {at} of {name}, which has {rank}"),
                "0 copies the size at the same position of the old shape",
            );
        };
        self.push(size, true);
        Ok(())
    }

    /// Applies a -1. Its axis has size 1 until all entries are applied.
    fn leave_open(&mut self, call: &Call<'_>, i: usize) -> Result<(), Halt> {
        if self.open.replace(i).is_some() {
            return bad_entry(
                call,
                "`newshape` has more than one -1".into(),
                "-1 is inferred from the other sizes, so it may occur once",
            );
        }
        self.write(&Dim::known(1));
        Ok(())
    }

    /// Applies a -2.
    fn copy_rest(&mut self) {
        while let Some(size) = self.take() {
            self.push(size, true);
        }
    }

    /// Applies a -3.
    fn merge(&mut self, call: &Call<'_>, i: usize) -> Result<(), Halt> {
        let at = self.at;
        let (Some(left), Some(right)) = (self.take(), self.take()) else {
            let (name, rank) = (call.name(0), axes(self.source.len()));
            return bad_entry(
                call,
                text!(
                    "entry {i} of `newshape` merges axes {at} and {} of {name}, which has {rank}",
                    at + 1
                ),
                "-3 merges the next two axes of the old shape",
            );
        };
        self.push(&left * &right, true);
        Ok(())
    }

    /// Applies a -4 and the two entries after it.
    fn split(&mut self, call: &Call<'_>, i: usize, entries: &[Dim]) -> Result<(), Halt> {
        let rule = "-4 splits the next axis of the old shape into the two sizes that follow";
        let known = |i: usize| entries.get(i).and_then(Dim::as_known);
        let (Some(a), Some(b)) = (known(i + 1), known(i + 2)) else {
            return bad_entry(
                call,
                text!("entry {i} of `newshape` splits an axis, and two sizes must follow"),
                rule,
            );
        };
        let Some(whole) = self.take() else {
            let (at, name, rank) = (self.at, call.name(0), axes(self.source.len()));
            return bad_entry(
                call,
                text!("entry {i} of `newshape` splits axis {at} of {name}, which has {rank}"),
                rule,
            );
        };
        if (a, b) == (-1, -1) || (a == -1 && b == 0) || (a == 0 && b == -1) {
            return bad_entry(
                call,
                text!("entry {i} of `newshape` splits an axis into {a} and {b}"),
                "at most one of the two sizes can be -1, and the other must not be 0",
            );
        }
        let (left, right) = (&entries[i + 1], &entries[i + 2]);
        self.push(if a == -1 { &whole / right } else { left.clone() }, true);
        self.push(if b == -1 { &whole / left } else { right.clone() }, true);
        Ok(())
    }

    /// Returns the shape, with the size of -1 inferred from the axes that were not taken over.
    fn inferred(self, call: &Call<'_>) -> Result<Shape, Halt> {
        let NewShape { source, used, mut shape, settled, open, .. } = self;
        let Some(place) = open else { return Ok(shape) };
        let rest = source.iter().zip(&used).filter(|(_, used)| !**used).map(|(dim, _)| dim);
        let mut size = product(rest);
        for (dim, _) in shape.iter().zip(&settled).filter(|(_, settled)| !**settled) {
            if dim.is(0) && !size.is_any() {
                return bad_entry(
                    call,
                    "-1 is ambiguous, because another size is 0".into(),
                    "-1 is inferred from the other sizes",
                );
            }
            size = size / dim.clone();
        }
        // TVM counts entries instead of axes, so that -1 after -2 or -4 sets the wrong axis.
        let Some(dim) = shape.get_mut(place) else { return misplaced(call, place) };
        *dim = size;
        Ok(shape)
    }
}

/// The failure that TVM sets the size of -1, entry `place`, in an axis that does not exist.
fn misplaced<T>(call: &Call<'_>, place: usize) -> Result<T, Halt> {
    fault(
        call,
        Code::AttributeValue,
        text!("-1 in entry {place} of `newshape` refers to an axis that does not exist"),
    )
    .rule(
        "TVM infers the axis with the index of the entry, and -2 or -4 before it make the two differ",
    )
    .attribute("newshape", "-1 after -2 or -4")
    .help("write the size instead of -1")
    .fail()
}

/// The failure that the new shape has another number of elements.
fn wrong_count<T>(
    call: &Call<'_>,
    data: &TensorType,
    shape: &[Dim],
    entries: &[Dim],
    (old, new): (i128, i128),
) -> Result<T, Halt> {
    let name = call.name(0);
    let open = entries.iter().position(|dim| dim.is(-1));
    let mut reason = fault(
        call,
        Code::ShapeMismatch,
        text!(
            "{name} of shape `{}` has {old} elements, the new shape `{}` has {new}",
            shape_text(&data.shape),
            shape_text(shape)
        ),
    )
    .rule(match open {
        Some(_) => "the other sizes must divide the number of elements",
        None => "the number of elements must stay the same",
    })
    .attribute("newshape", text!("{new} elements"))
    .argument(0, text!("{old} elements"));
    // The sizes that could be replaced by -1.
    let plain = entries.len() == shape.len() && entries.iter().all(|e| e.as_known() > Some(0));
    if plain && old > 0 {
        // All sizes are positive, and `new` is their product.
        let fits = |&i: &usize| {
            let size = shape[i].as_known().map_or(1, i128::from);
            let others = new / size.max(1);
            others > 0 && old % others == 0
        };
        let places: Vec<usize> = (0..shape.len()).filter(fits).collect();
        if let [place] = places[..] {
            let mut fixed = entries.to_vec();
            fixed[place] = Dim::known(-1);
            reason = reason.fix("newshape", AttrValue::list(fixed));
        } else if !places.is_empty() {
            reason = reason.help("write -1 for one of the sizes to infer it");
        }
    }
    reason.fail()
}

fn reshape_like(call: &mut Call<'_>) -> Outcome {
    let (data, like) = (call.tensor(0)?, call.tensor(1)?);
    let (left_rank, right_rank) = (data.rank() as i64, like.rank() as i64);
    let bound = |name, rank: i64, default: i64| -> Result<i64, Halt> {
        let at = optional_int(call, name)?.unwrap_or(default);
        Ok(if at < 0 { at.saturating_add(rank) } else { at })
    };
    let left = (bound("lhs_begin", left_rank, 0)?, bound("lhs_end", left_rank, left_rank)?);
    let right = (bound("rhs_begin", right_rank, 0)?, bound("rhs_end", right_rank, right_rank)?);
    let mut shape = Shape::new();
    let parts = [
        (0, left.0, 0, &data.shape, "lhs_begin"),
        (right.0, right.1, 1, &like.shape, if right.0 < 0 { "rhs_begin" } else { "rhs_end" }),
        (left.1, left_rank, 0, &data.shape, "lhs_end"),
    ];
    for (from, to, position, source, name) in parts {
        // An empty range is valid at any position.
        if from >= to {
            continue;
        }
        let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        let Some(part) = range.and_then(|(from, to)| source.get(from..to)) else {
            return axis_out_of_range(
                call,
                name,
                optional_int(call, name)?.unwrap_or(0),
                position,
                source.len(),
            );
        };
        shape.extend(part.iter().cloned());
    }
    if let (Some(old), Some(new)) = (element_count(&data.shape), element_count(&shape))
        && old != new
    {
        return fault(
            call,
            Code::ShapeMismatch,
            text!(
                "{} of shape `{}` has {old} elements, the new shape `{}` has {new}",
                call.name(0),
                shape_text(&data.shape),
                shape_text(&shape)
            ),
        )
        .rule("the number of elements must stay the same")
        .argument(1, shape_text(&like.shape))
        .argument(0, text!("{old} elements"))
        .fail();
    }
    call.output_tensor(shape, data.dtype)
}
