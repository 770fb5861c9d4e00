//! `einsum`: sums of products over named axes.

use std::collections::BTreeMap;

use types::Place;

use super::larger;
use crate::prelude::*;

/// A label of an equation. The ellipsis represents unnamed axes, and sorts first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Ellipsis,
    Letter(u8),
}

struct Equation {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

impl Equation {
    /// Parses an equation, or returns the error message.
    fn parse(text: &str) -> Result<Equation, Text> {
        let mut inputs = Vec::new();
        let mut current = Vec::new();
        let mut has_arrow = false;
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b' ' => {}
                b'-' if has_arrow => return Err("more than one arrow".into()),
                b'-' if bytes.next() != Some(b'>') => return Err("`-` is not an arrow".into()),
                b'-' => {
                    has_arrow = true;
                    inputs.push(std::mem::take(&mut current));
                }
                b',' => inputs.push(std::mem::take(&mut current)),
                b'.' if current.contains(&Label::Ellipsis) => {
                    return Err("`...` occurs twice in one subscript".into());
                }
                b'.' if (bytes.next(), bytes.next()) != (Some(b'.'), Some(b'.')) => {
                    return Err("`.` is not an ellipsis".into());
                }
                b'.' => current.push(Label::Ellipsis),
                letter if letter.is_ascii_alphabetic() => current.push(Label::Letter(letter)),
                _ => return Err(text!("`{}` is not an axis", char::from(byte))),
            }
        }
        if has_arrow {
            return Ok(Equation { inputs, output: current });
        }
        // Without an arrow the result has the labels that occur once, in order.
        inputs.push(current);
        let mut counts = BTreeMap::new();
        for label in inputs.iter().flatten() {
            *counts.entry(*label).or_insert(0) += 1;
        }
        let once = |(label, number): (Label, usize)| {
            (label == Label::Ellipsis || number == 1).then_some(label)
        };
        let output = counts.into_iter().filter_map(once).collect();
        Ok(Equation { inputs, output })
    }
}

/// The size of a label, and its first occurrence: operand and axis.
type Sizes = BTreeMap<u8, (Dim, usize, usize)>;

pub(super) fn einsum(call: &mut Call<'_>) -> Outcome {
    let operands = call.tensors(0)?;
    let Some(first) = operands.first() else {
        return Reason::new(
            Code::ArgumentType,
            text!("`{}` expects at least one tensor, found an empty tuple", call.operator()),
        )
        .argument(0, "the empty tuple")
        .fail();
    };
    let dtype = first.dtype;
    if let Some(k) = operands.iter().position(|operand| operand.dtype != dtype) {
        let found = operands[k].dtype;
        return Reason::new(
            Code::DtypeMismatch,
            text!("`{}`: operand {k} is {found}, but operand 0 is {dtype}", call.operator()),
        )
        .rule("all operands must have the same data type")
        .mark(Place::Field(0, k), None, found)
        .mark(Place::Field(0, 0), None, dtype)
        .help(text!("cast one of them: `cast(…, dtype=\"{dtype}\")`"))
        .fail();
    }
    let text = call.attrs().str("equation");
    let equation = match Equation::parse(text) {
        Ok(equation) => equation,
        Err(why) => {
            return Reason::new(
                Code::AttributeValue,
                text!("`{}`: \"{text}\" is not an equation: {why}", call.operator()),
            )
            .attribute("equation", why)
            .help("write a subscript for each operand and one for the result: \"ij,jk->ik\"")
            .fail();
        }
    };
    let (subscripts, number) = (equation.inputs.len(), operands.len());
    if subscripts != number {
        let wants = count(subscripts, "operand", "operands");
        return Reason::new(
            Code::AttributeMismatch,
            text!("`{}`: \"{text}\" is for {wants}, found {number}", call.operator()),
        )
        .rule("the equation has one subscript for each operand, separated by commas")
        .attribute("equation", text!("for {wants}"))
        .argument(0, count(number, "operand", "operands"))
        .fail();
    }

    let mut sizes = Sizes::new();
    let mut unnamed: Vec<(usize, Vec<Dim>)> = Vec::new();
    for (k, (subscript, operand)) in equation.inputs.iter().zip(&operands).enumerate() {
        let named = subscript.iter().filter(|label| **label != Label::Ellipsis).count();
        let has_ellipsis = named < subscript.len();
        let rank = operand.rank();
        if rank < named || (rank > named && !has_ellipsis) {
            return wrong_rank(call, k, rank, named, has_ellipsis);
        }
        let mut axis = 0;
        for label in subscript {
            match label {
                Label::Ellipsis => {
                    let length = rank - named;
                    unnamed.push((k, operand.shape[axis..axis + length].to_vec()));
                    axis += length;
                }
                Label::Letter(letter) => {
                    add_size(call, &mut sizes, *letter, (k, axis), &operand.shape[axis])?;
                    axis += 1;
                }
            }
        }
    }
    let unnamed = broadcast_unnamed(call, &unnamed)?;
    let mut labels = equation.output.iter().enumerate();
    let again = labels.find(|(at, label)| equation.output[..*at].contains(label));
    if let Some((_, Label::Letter(letter))) = again {
        let letter = char::from(*letter);
        let check =
            fault(call, Code::AttributeValue, text!("`{letter}` occurs twice in the result"))
                .rule("each axis of the result has a letter of its own")
                .attribute("equation", text!("`{letter}` twice"))
                .fail();
        call.lenient(check)?;
    }
    let mut shape = Shape::new();
    for label in &equation.output {
        match label {
            Label::Ellipsis => shape.extend(unnamed.iter().cloned()),
            Label::Letter(letter) => match sizes.get(letter) {
                Some((size, ..)) => shape.push(size.clone()),
                None => return unknown_label(call, *letter),
            },
        }
    }
    call.output_tensor(shape, dtype)
}

/// Adds an axis to a label, whose sizes must broadcast.
fn add_size(
    call: &mut Call<'_>,
    sizes: &mut Sizes,
    letter: u8,
    (operand, axis): (usize, usize),
    size: &Dim,
) -> Outcome {
    let Some(&mut (ref mut known, k, at)) = sizes.get_mut(&letter) else {
        sizes.insert(letter, (size.clone(), operand, axis));
        return Ok(());
    };
    *known = match (known.as_known(), size.as_known()) {
        (Some(a), Some(b)) if a == b => return Ok(()),
        (Some(a), Some(b)) if a == 1 || b == 1 => {
            // TVM broadcasts the axis of size 1, but an axis without elements cannot be broadcast.
            if a == 0 || b == 0 {
                let differ = sizes_differ(call, letter, (k, at, a), (operand, axis, b));
                call.lenient(differ)?;
            }
            Dim::known(a.max(b))
        }
        (Some(a), Some(b)) => return sizes_differ(call, letter, (k, at, a), (operand, axis, b)),
        // TVM does not propagate the known size.
        (Some(_), None) => size.clone(),
        (None, Some(_)) => return Ok(()),
        (None, None) => larger(known, size),
    };
    Ok(())
}

/// The failure that two axes of a label, given by operand, axis and size, do not broadcast.
fn sizes_differ(
    call: &Call<'_>,
    letter: u8,
    (k, at, a): (usize, usize, i64),
    (operand, axis, b): (usize, usize, i64),
) -> Outcome {
    let letter = char::from(letter);
    let message = text!("{letter} is {a} in operand {k} and {b} in operand {operand}");
    fault(call, Code::ShapeMismatch, message)
        .rule(text!(
            "axes of one label must be equal, or one of them 1 and the other not 0: axis {at} of \
             operand {k} is {a}, axis {axis} of operand {operand} is {b}"
        ))
        .mark(Place::Field(0, operand), Some(axis), text!("{letter} is {b}"))
        .mark(Place::Field(0, k), Some(at), text!("{letter} is {a}"))
        .fail()
}

/// Broadcasts the axes of the ellipses.
fn broadcast_unnamed(call: &Call<'_>, shapes: &[(usize, Vec<Dim>)]) -> Result<Vec<Dim>, Halt> {
    let longest = shapes.iter().map(|(_, shape)| shape.len()).max().unwrap_or(0);
    let Some((_, first)) = shapes.iter().find(|(_, shape)| shape.len() == longest) else {
        return Ok(Vec::new());
    };
    let mut common = first.clone();
    for (k, shape) in shapes {
        let offset = longest - shape.len();
        for (known, size) in common[offset..].iter_mut().zip(shape) {
            let wide = |dim: &Dim| matches!(dim, Dim::Known { wide: true, .. });
            let either = wide(known) || wide(size);
            *known = match (known.as_known(), size.as_known()) {
                (Some(a), Some(b)) if a == b || b == 1 => known.clone().with_width(either),
                (Some(1), _) => size.clone().with_width(either),
                (_, Some(1)) => known.clone(),
                (Some(a), Some(b)) => {
                    return Reason::new(
                        Code::BroadcastMismatch,
                        text!(
                            "`{}`: the axes of `...` do not broadcast: {a} and {b} in \
                             operand {k}",
                            call.operator()
                        ),
                    )
                    .rule("counted from the last, sizes must be equal or one of them 1")
                    .mark(Place::Field(0, *k), None, shape_text(shape))
                    .fail();
                }
                (Some(_), None) => known.clone(),
                (None, Some(_)) => size.clone(),
                (None, None) => larger(known, size),
            };
        }
    }
    Ok(common)
}

fn wrong_rank<T>(
    call: &Call<'_>,
    operand: usize,
    rank: usize,
    named: usize,
    has_ellipsis: bool,
) -> Result<T, Halt> {
    let expected = if has_ellipsis { text!("{named} or more") } else { text!("{named}") };
    Reason::new(
        Code::RankMismatch,
        text!(
            "`{}`: operand {operand} has {}, but its subscript is for {expected}",
            call.operator(),
            axes(rank)
        ),
    )
    .rule("a subscript has one label for each axis of its operand; `...` represents the others")
    .mark(Place::Field(0, operand), None, axes(rank))
    .attribute("equation", text!("{expected} axes for operand {operand}"))
    .fail()
}

fn unknown_label<T>(call: &Call<'_>, letter: u8) -> Result<T, Halt> {
    let letter = char::from(letter);
    Reason::new(
        Code::AttributeValue,
        text!("`{}`: label {letter} of the result does not occur in any operand", call.operator()),
    )
    .attribute("equation", text!("{letter} occurs after the arrow only"))
    .fail()
}

/// One multiplication for each combination of the indices of all labels, and for each operand but
/// the first.
pub(super) fn macs(call: &CostCall<'_>) -> Option<u64> {
    let operands = call.args.first()?.as_tuple()?;
    let equation = Equation::parse(call.attrs.str("equation")).ok()?;
    let mut named = BTreeMap::new();
    let mut unnamed: Vec<u64> = Vec::new();
    for (subscript, operand) in equation.inputs.iter().zip(operands) {
        let shape = &operand.as_tensor()?.shape;
        let sizes: Option<Vec<u64>> =
            shape.iter().map(|size| u64::try_from(size.as_known()?).ok()).collect();
        let mut sizes = sizes?.into_iter();
        let after = (sizes.len() + 1).checked_sub(subscript.len())?;
        for label in subscript {
            match label {
                Label::Letter(letter) => {
                    let size = sizes.next()?;
                    let known = named.entry(*letter).or_insert(size);
                    *known = size.max(*known);
                }
                Label::Ellipsis => {
                    let shape: Vec<u64> = sizes.by_ref().take(after).collect();
                    while unnamed.len() < shape.len() {
                        unnamed.insert(0, 1);
                    }
                    for (known, size) in unnamed.iter_mut().rev().zip(shape.iter().rev()) {
                        *known = (*size).max(*known);
                    }
                }
            }
        }
    }
    let factors = u64::try_from(operands.len()).ok()?.saturating_sub(1).max(1);
    named.values().chain(&unnamed).try_fold(factors, |product, size| product.checked_mul(*size))
}
