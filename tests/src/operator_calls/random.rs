//! Random changes of calls, by the choices of a tape.

use operators::{
    Operator,
    attrs::{AttrEntry, bind},
};
use types::{
    AttrDefault, AttrField, AttrType, AttrValue, Attrs, Constant, DataType, Number, Relation,
    State, TensorType, Type, infer_argument, probe,
};

use super::{Arg, Call, Elements, Form, MAX_ELEMENTS, TensorArg, seeds::seeds};
use crate::{kernel_calls::numbers, programs::tape::Tape};

/// The sizes of axes; unequal ones, so that exchanged axes are noticed.
const SIZES: &[usize] = &[2, 3, 1, 0, 4, 5, 6, 7, 8, 9, 16];
/// The numbers in attributes.
const NUMBERS: &[i64] = &[1, 0, -1, 2, 3, -2, 4, 5, -3, 7, 8, 32, 1 << 31, -(1 << 20)];
const DTYPES: &[DataType] = &[
    DataType::FLOAT32,
    DataType::INT32,
    DataType::INT64,
    DataType::BOOL,
    DataType::INT8,
    DataType::UINT8,
    DataType::FLOAT16,
    DataType::FLOAT64,
    DataType::INT16,
    DataType::UINT16,
    DataType::UINT32,
    DataType::UINT64,
    DataType::BFLOAT16,
];
/// The largest rank.
const MAX_RANK: usize = 6;

/// Returns a call of `operator`: one of its seeds with some changes. `None` if the type relation rejects it.
pub fn random(operator: &'static Operator, tape: &mut Tape) -> Option<Call> {
    let known = seeds().of(operator);
    let mut call = match known.is_empty() {
        true => {
            Call { operator, form: Form::Table(Vec::new()), args: Vec::new(), is_squared: false }
        }
        false => tape.one_of(known),
    };
    call.is_squared = tape.once_in(12);
    for _ in 0..tape.pick(8) {
        match &call.form {
            Form::Table(_) => change(&mut call, tape),
            Form::Text { .. } => change_text(&mut call, tape),
        }
    }
    is_plausible(&call).then_some(call)
}

/// Returns true if the relation of a call does not fail.
fn is_plausible(call: &Call) -> bool {
    let fits = |tensor: &TensorArg| {
        let count = interpreter::count_of(&tensor.shape);
        tensor.shape.len() <= MAX_RANK && count.is_some_and(|count| count <= MAX_ELEMENTS)
    };
    if !call.args.iter().flat_map(Arg::tensors).all(fits) {
        return false;
    }
    if matches!(call.form, Form::Text { .. }) {
        return true;
    }
    let Some(relation) = relation(call) else { return false };
    let types: Vec<Type> = call.args.iter().map(Arg::ty).collect();
    let (state, _) = probe(&relation, call.operator.args, &types);
    !matches!(state, State::Failed(_) | State::Undecided(_))
}

/// Returns the relation with the attributes of the call. `None` if they are not valid.
fn relation(call: &Call) -> Option<Relation> {
    let (name, solve) = call.operator.rule?;
    let Form::Table(attrs) = &call.form else { return None };
    let attrs = match call.operator.schema {
        Some(schema) if !(call.operator.detached && attrs.is_empty()) => {
            let written: Vec<AttrEntry<'_>> =
                attrs.iter().map(|(field, value)| AttrEntry { name: field.name, value }).collect();
            let bound = bind(schema, &written, &[]);
            if bound.problems.iter().any(operators::attrs::AttrProblem::is_error) {
                return None;
            }
            bound.attrs
        }
        _ => Attrs::none(),
    };
    Some(Relation { name, operator: call.operator.name, solve, attrs })
}

/// Makes one change.
fn change(call: &mut Call, tape: &mut Tape) {
    match tape.pick(17) {
        // An attribute, the most common reason for errors.
        0..=4 => change_attr(call, tape),
        5 => {
            for _ in 0..6 {
                change_attr(call, tape);
            }
            infer(call, tape);
        }
        // All axes of one size.
        6 | 7 => {
            let sizes = all_sizes(call);
            if !sizes.is_empty() {
                let (from, to) = (tape.one_of(&sizes), tape.one_of(SIZES));
                call.each_tensor(&mut |tensor| {
                    tensor
                        .shape
                        .iter_mut()
                        .filter(|size| **size == from)
                        .for_each(|size| *size = to);
                });
            }
        }
        // One axis.
        8 | 9 => {
            let to = tape.one_of(SIZES);
            with_tensor(call, tape, |tensor, tape| {
                if !tensor.shape.is_empty() {
                    let axis = tape.pick(tensor.shape.len());
                    tensor.shape[axis] = to;
                }
            });
        }
        10 => change_rank(call, tape),
        11 => change_dtype(call, tape),
        12 => change_elements(call, tape),
        13 => infer(call, tape),
        // All sizes, ranks stay.
        15 => {
            let sizes = [tape.one_of(SIZES), tape.one_of(SIZES), tape.one_of(SIZES)];
            call.each_tensor(&mut |tensor| {
                tensor.shape.iter_mut().for_each(|size| *size = tape.one_of(&sizes));
            });
            infer(call, tape);
        }
        14 => with_tensor(call, tape, |tensor, tape| match tape.pick(2) {
            0 => tensor.literal = true,
            _ => tensor.open = tensor.shape.iter().map(|_| tape.pick(2) == 1).collect(),
        }),
        _ => change_args(call, tape),
    }
}

fn all_sizes(call: &Call) -> Vec<usize> {
    let tensors = call.args.iter().flat_map(Arg::tensors);
    let mut sizes: Vec<usize> = tensors.flat_map(|tensor| tensor.shape.iter().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Changes one tensor.
fn with_tensor(call: &mut Call, tape: &mut Tape, change: impl FnOnce(&mut TensorArg, &mut Tape)) {
    let count = call.args.iter().flat_map(Arg::tensors).count();
    let (chosen, mut at) = (tape.pick(count), 0);
    let mut change = Some(change);
    call.each_tensor(&mut |tensor| {
        if at == chosen
            && let Some(change) = change.take()
        {
            change(tensor, tape);
        }
        at += 1;
    });
}

/// Adds, removes or exchanges axes of one tensor, or of all with the same rank.
fn change_rank(call: &mut Call, tape: &mut Tape) {
    let ranks: Vec<usize> =
        call.args.iter().flat_map(Arg::tensors).map(|tensor| tensor.shape.len()).collect();
    if ranks.is_empty() {
        return;
    }
    let (chosen, is_alone) = (tape.pick(ranks.len()), tape.pick(2) == 1);
    let (rank, kind) = (ranks[chosen], tape.pick(4));
    let (axis, other, size) = (tape.pick(rank), tape.pick(rank), tape.one_of(SIZES));
    let mut at = 0;
    call.each_tensor(&mut |tensor| {
        let is_chosen = at == chosen || !is_alone && tensor.shape.len() == rank;
        at += 1;
        if !is_chosen {
            return;
        }
        match kind {
            0 => {
                tensor.shape.insert(axis, size);
                tensor.open.insert(axis, false);
            }
            1 if rank > 0 => {
                tensor.shape.remove(axis);
                tensor.open.remove(axis);
            }
            2 if rank > 0 => tensor.shape.swap(axis, other),
            _ => {
                tensor.shape.push(size);
                tensor.open.push(false);
            }
        }
    });
}

/// Changes the data type of one tensor, or of all with the same data type.
fn change_dtype(call: &mut Call, tape: &mut Tape) {
    let dtypes: Vec<DataType> =
        call.args.iter().flat_map(Arg::tensors).map(|tensor| tensor.dtype).collect();
    if dtypes.is_empty() {
        return;
    }
    let (chosen, is_alone, to) = (tape.pick(dtypes.len()), tape.pick(3) == 1, tape.one_of(DTYPES));
    let mut at = 0;
    call.each_tensor(&mut |tensor| {
        if at == chosen || !is_alone && tensor.dtype == dtypes[chosen] {
            tensor.dtype = to;
        }
        at += 1;
    });
}

fn change_elements(call: &mut Call, tape: &mut Tape) {
    let elements = match tape.pick(4) {
        0 => Elements::All(tape.one_of(NUMBERS)),
        1 => Elements::Given((0..1 + tape.pick(6)).map(|_| tape.one_of(NUMBERS) as f64).collect()),
        _ => Elements::Counting {
            first: tape.pick(4) as i64,
            step: 1 + tape.pick(6) as i64,
            period: 1 + tape.pick(9) as i64,
        },
    };
    with_tensor(call, tape, |tensor, _| tensor.elements = elements);
}

/// Gives one argument the type that follows from the others.
fn infer(call: &mut Call, tape: &mut Tape) {
    let Some(relation) = relation(call).filter(|_| !call.args.is_empty()) else { return };
    let types: Vec<Type> = call.args.iter().map(Arg::ty).collect();
    let at = call.args.len() - 1 - tape.pick(call.args.len());
    let inferred = infer_argument(&relation, call.operator.args, &types, at);
    if let Some(arg) = inferred.as_ref().and_then(Arg::of) {
        call.args[at] = arg;
    }
}

/// Adds, removes or exchanges arguments, or fields of a tuple.
fn change_args(call: &mut Call, tape: &mut Tape) {
    let is_variadic = call.operator.variadic;
    let tuple = call.args.iter_mut().find_map(|arg| match arg {
        Arg::Tuple(fields) => Some(fields),
        Arg::Tensor(_) => None,
    });
    let list = match tuple {
        Some(fields) => fields,
        None if is_variadic => &mut call.args,
        None => {
            let shape = (0..tape.pick(5)).map(|_| tape.one_of(SIZES)).collect();
            return with_tensor(call, tape, |tensor, _| {
                *tensor = TensorArg {
                    elements: tensor.elements.clone(),
                    ..TensorArg::new(tensor.dtype, shape)
                };
            });
        }
    };
    if list.is_empty() {
        return;
    }
    let at = tape.pick(list.len());
    match tape.pick(3) {
        0 => list.push(list[at].clone()),
        1 => drop(list.remove(at)),
        _ => list.rotate_left(at),
    }
}

/// Changes a number of the text or an argument.
fn change_text(call: &mut Call, tape: &mut Tape) {
    let number = tape.one_of(NUMBERS).to_string();
    let Form::Text { expr, .. } = &mut call.form else { return };
    let places = numbers(expr);
    match tape.pick(3) {
        0 if !places.is_empty() => expr.replace_range(tape.one_of(&places), &number),
        1 => change_elements(call, tape),
        _ => {
            let to = tape.one_of(SIZES);
            with_tensor(call, tape, |tensor, tape| {
                if !tensor.shape.is_empty() {
                    let axis = tape.pick(tensor.shape.len());
                    tensor.shape[axis] = to;
                }
            });
        }
    }
}

/// Gives an attribute another value, or its default.
fn change_attr(call: &mut Call, tape: &mut Tape) {
    let Some(schema) = call.operator.schema.filter(|schema| !schema.fields.is_empty()) else {
        return;
    };
    let field = &schema.fields[tape.pick(schema.fields.len())];
    let first = call.args.iter().flat_map(Arg::tensors).next();
    let context =
        AttrContext { rank: first.map_or(0, |tensor| tensor.shape.len()), sizes: all_sizes(call) };
    let Some(attrs) = call.attrs_mut() else { return };
    let at = attrs.iter().position(|(other, _)| other.name == field.name);
    let old = match at {
        Some(at) => attrs[at].1.clone(),
        None => field.default.into(),
    };
    let value = context.value(field, &old, tape);
    match (at, value) {
        (Some(at), Some(value)) => attrs[at].1 = value,
        (Some(at), None) => drop(attrs.remove(at)),
        (None, Some(value)) => attrs.push((field, value)),
        (None, None) => {}
    }
}

/// The facts of a call from which its attributes are drawn.
struct AttrContext {
    /// The rank of the first tensor.
    rank: usize,
    /// The sizes of all arguments.
    sizes: Vec<usize>,
}

impl AttrContext {
    /// Returns a value of an attribute; `None` for the default.
    fn value(
        &self,
        field: &'static AttrField,
        old: &AttrValue,
        tape: &mut Tape,
    ) -> Option<AttrValue> {
        let value = match field.ty {
            _ if tape.once_in(8) => None,
            AttrType::Int => Some(self.number(tape)),
            AttrType::Bool => Some(AttrValue::Bool(tape.pick(2) == 1)),
            AttrType::Float => Some(float(tape)),
            AttrType::Choice(choices) => Some(AttrValue::Str(tape.one_of(choices).into())),
            AttrType::Str => self.word(field, tape),
            AttrType::Layout => match tape.pick(2) {
                0 => self.word(field, tape),
                _ => relaid(old.as_str()?, tape),
            },
            AttrType::DType => Some(match tape.pick(DTYPES.len() + 1) {
                0 => AttrValue::None,
                at => AttrValue::DType(DTYPES[at - 1]),
            }),
            AttrType::OptionalInt | AttrType::Dim => match tape.pick(4) {
                0 => Some(AttrValue::None),
                _ => Some(self.number(tape)),
            },
            AttrType::Dims | AttrType::Ints | AttrType::OptionalInts => {
                Some(self.list(old, tape, |context, tape| {
                    match field.ty == AttrType::OptionalInts && tape.once_in(4) {
                        true => AttrValue::None,
                        false => context.number(tape),
                    }
                }))
            }
            AttrType::Floats => Some(self.list(old, tape, |_, tape| float(tape))),
            AttrType::IntLists | AttrType::DimLists => {
                Some(self.list(old, tape, |context, tape| {
                    AttrValue::List(
                        (0..if tape.once_in(8) { 3 } else { 2 })
                            .map(|_| context.number(tape))
                            .collect(),
                    )
                }))
            }
            AttrType::Any => match tape.pick(3) {
                0 => Some(self.number(tape)),
                1 => Some(self.list(old, tape, AttrContext::number)),
                _ => self.word(field, tape),
            },
            AttrType::Constant => Some(AttrValue::Constant(
                Constant {
                    ty: TensorType::new([], DataType::FLOAT32),
                    data: (tape.one_of(NUMBERS) as f32).to_le_bytes().into(),
                }
                .into(),
            )),
            AttrType::VirtualDevice | AttrType::Object => None,
        };
        value.filter(|value| AttrValue::from(field.default) != *value)
    }

    /// A small number, an axis or a size.
    fn number(&self, tape: &mut Tape) -> AttrValue {
        let rank = self.rank as i64;
        let value = match tape.pick(8) {
            0 => tape.one_of(&[rank, -rank, rank - 1, -rank - 1]),
            1 if !self.sizes.is_empty() => tape.one_of(&self.sizes) as i64,
            _ => tape.one_of(NUMBERS),
        };
        AttrValue::Int { value, wide: tape.once_in(16) }
    }

    /// A list that is mostly as long as the old one.
    fn list(
        &self,
        old: &AttrValue,
        tape: &mut Tape,
        mut item: impl FnMut(&AttrContext, &mut Tape) -> AttrValue,
    ) -> AttrValue {
        let old = old.as_list().unwrap_or_default();
        let spatial = self.rank.saturating_sub(2);
        match tape.pick(4) {
            // Change one.
            0 | 1 if !old.is_empty() => {
                let mut values = old.to_vec();
                let at = tape.pick(values.len());
                values[at] = item(self, tape);
                AttrValue::List(values.into())
            }
            2 => AttrValue::List((0..old.len()).map(|_| item(self, tape)).collect()),
            _ => {
                let length =
                    tape.one_of(&[1, self.rank, spatial, 2 * spatial, 2, 0, old.len() + 1]);
                AttrValue::List((0..length.min(12)).map(|_| item(self, tape)).collect())
            }
        }
    }

    /// A string or another value that attributes of this name have in tests.
    fn word(&self, field: &'static AttrField, tape: &mut Tape) -> Option<AttrValue> {
        let known = seeds().words(field);
        match tape.pick(known.len() + 1).checked_sub(1) {
            Some(at) => Some(known[at].clone()),
            None => match field.default {
                AttrDefault::Required | AttrDefault::Str(_) if known.is_empty() => {
                    Some(AttrValue::Str("other".into()))
                }
                _ => None,
            },
        }
    }
}

fn float(tape: &mut Tape) -> AttrValue {
    AttrValue::Float(Number(tape.one_of(&[0.5, 1.0, 0.0, -1.0, 2.0, -0.5, 3.0, 1e-5])))
}

/// Exchanges two axes of a layout, or adds or removes a block.
fn relaid(layout: &str, tape: &mut Tape) -> Option<AttrValue> {
    let mut letters: Vec<char> = layout.chars().collect();
    if letters.is_empty() {
        return None;
    }
    let (a, b) = (tape.pick(letters.len()), tape.pick(letters.len()));
    match tape.pick(4) {
        0 => {
            let block: Vec<char> =
                format!("{}{}", 1 + tape.pick(4), letters[a].to_ascii_lowercase())
                    .chars()
                    .collect();
            letters.extend(block);
        }
        1 => drop(letters.remove(a)),
        _ => letters.swap(a, b),
    }
    let text: String = letters.into_iter().collect();
    Some(AttrValue::Str(text.into()))
}
