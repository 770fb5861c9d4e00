//! Slices inside expressions: `mean(%5[0, :, 3]) > 0f`. Relay has no such expressions, so that each one is evaluated by
//! itself, and is a variable in what is around it.

use interpreter::{SharedTensor, Tensor, Value};
use types::{Dim, Type};

use crate::run::slice::{self, SliceError};

/// The largest number of slices in an expression.
const MAX_SLICES: usize = 64;

/// An expression without slices: each is the variable [`name`] with its number.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct SlicedExpression {
    /// Those inside of others first.
    pub(super) slices: Vec<Slice>,
    pub(super) text: String,
}

/// A slice of the value of an expression.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Slice {
    /// The expression, in which the slices before are variables.
    pub(super) base: String,
    /// The expression as it is written.
    written: String,
    /// `[0, :, 3]`
    brackets: String,
}

/// Returns the name of the variable that stands for a slice.
pub(super) fn name(number: usize) -> String {
    format!("%relay_slice_{number}")
}

/// Where a value begins, in the text as it is written and in the text without slices.
#[derive(Clone, Copy)]
struct Start {
    written: usize,
    out: usize,
}

/// What ends before a character of an expression.
#[derive(Clone, Copy)]
enum Before {
    /// The name of an operator or a definition, or another word: calls, but no slices, follow it.
    Word(Start),
    /// A variable, a parenthesis or a slice.
    Value(Start),
    Nothing,
}

impl SlicedExpression {
    /// Takes the slices out of an expression. Brackets are slices only after a variable, a parenthesis or a slice: a list,
    /// the type `Tensor[…]` and `meta[…][…]` stay parts of the expression.
    ///
    /// # Errors
    /// The message for an expression with too many slices.
    pub(super) fn parse(text: &str) -> Result<SlicedExpression, String> {
        let is_letter = |c: char| c.is_alphanumeric() || "_.%@".contains(c);
        let mut slices = Vec::new();
        let mut out = String::new();
        let mut before = Before::Nothing;
        // Where the values in parentheses and the calls that are open begin; bounded by the length of the text.
        let mut open: Vec<Start> = Vec::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..)
            && let Some(c) = rest.chars().next()
        {
            let here = Start { written: at, out: out.len() };
            let mut length = c.len_utf8();
            match (c, before) {
                ('[', Before::Value(start)) if let Some(end) = rest.find(']') => {
                    if slices.len() == MAX_SLICES {
                        return Err(format!("an expression has at most {MAX_SLICES} slices"));
                    }
                    let written = text.get(start.written..at).unwrap_or_default();
                    slices.push(Slice {
                        base: out.split_off(start.out),
                        written: written.trim().to_owned(),
                        brackets: rest.get(..=end).unwrap_or(rest).to_owned(),
                    });
                    out += &name(slices.len() - 1);
                    at += end + 1;
                    continue;
                }
                ('"', _) => {
                    length = string(rest);
                    before = Before::Nothing;
                }
                ('(', _) => {
                    open.push(match before {
                        Before::Word(start) | Before::Value(start) => start,
                        Before::Nothing => here,
                    });
                    before = Before::Nothing;
                }
                (')', _) => before = open.pop().map_or(Before::Nothing, Before::Value),
                // `.0` is a field of what is before it.
                ('.', Before::Value(_)) => length = word(rest, is_letter),
                (c, _) if is_letter(c) => {
                    length = word(rest, is_letter);
                    before = match c {
                        '%' => Before::Value(here),
                        _ => Before::Word(here),
                    };
                }
                (c, _) if c.is_whitespace() => {}
                _ => before = Before::Nothing,
            }
            out += rest.get(..length).unwrap_or(rest);
            at += length;
        }
        Ok(SlicedExpression { slices, text: out })
    }
}

/// Returns a message about an expression without slices with these as they are written.
pub(super) fn as_written(message: &str, slices: &[Slice]) -> String {
    let mut text = message.to_owned();
    // A name may begin with another one, which has a lower number.
    for (number, slice) in slices.iter().enumerate().rev() {
        text = text.replace(&name(number), &format!("{}{}", slice.written, slice.brackets));
    }
    text
}

fn word(text: &str, is_letter: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_letter(c)).unwrap_or(text.len())
}

/// Returns the length of the string at the beginning of a text.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

impl Slice {
    /// Returns the slice of a value.
    ///
    /// # Errors
    /// The message for a value that is no tensor, and for a slice that does not fit it.
    pub(super) fn of(&self, value: &Value) -> Result<Tensor, String> {
        let tensor = tensor_of(value, &self.written)?;
        let axes = slice::parse(&self.brackets, tensor.shape()).map_err(|e| self.error(&e))?;
        let part = tensor.slice(&axes);
        part.ok_or_else(|| format!("`{}` has no slice {}", self.written, self.brackets))
    }

    /// Returns the type of the slice of a value of this type; `None` if its sizes are not known before the run.
    ///
    /// # Errors
    /// The message for a type that is not that of a tensor, and for a slice that does not fit it.
    pub(super) fn of_type(&self, ty: &Type) -> Result<Option<Type>, String> {
        let Type::Tensor(tensor) = ty else {
            let is_open = !matches!(ty, Type::Tuple(_) | Type::Func(_) | Type::Ref(_));
            let message =
                || format!("`{}` has the type {ty}: name one of its tensors", self.written);
            return if is_open { Ok(None) } else { Err(message()) };
        };
        let Some(shape) = tensor.lengths::<Vec<usize>>() else { return Ok(None) };
        let axes = slice::parse(&self.brackets, &shape).map_err(|error| self.error(&error))?;
        let sizes = slice::lengths(&axes).into_iter().map(|size| Dim::known(size as i64));
        Ok(Some(Type::tensor(sizes, tensor.dtype)))
    }

    fn error(&self, error: &SliceError) -> String {
        format!("`{}{}`: {error}", self.written, self.brackets)
    }
}

/// Returns the tensor that a value is.
///
/// # Errors
/// The message for another value.
pub(super) fn tensor_of(value: &Value, expression: &str) -> Result<SharedTensor, String> {
    match value {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        other => {
            let what = other.describe();
            Err(format!("`{}` is {what}: name one of its tensors", expression.trim()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_after_values_are_slices() {
        for (text, expression, slices) in [
            ("%5[0, :, 3]", "%relay_slice_0", &[("%5", "[0, :, 3]")][..]),
            (
                " add(%x, [1, 2]) [0] [1:] ;",
                " %relay_slice_1 ;",
                &[("add(%x, [1, 2]) ", "[0]"), ("%relay_slice_0 ", "[1:]")],
            ),
            ("%t.0[x] + 1", "%relay_slice_0 + 1", &[("%t.0", "[x]")]),
            ("f(%t).1[0]", "%relay_slice_0", &[("f(%t).1", "[0]")]),
            (
                "mean(%5[0] - @f(%6[1:])(%x)[2]) > 0f",
                "mean(%relay_slice_0 - %relay_slice_2) > 0f",
                &[("%5", "[0]"), ("%6", "[1:]"), ("@f(%relay_slice_1)(%x)", "[2]")],
            ),
            ("(%a, (%b))[0]", "%relay_slice_0", &[("(%a, (%b))", "[0]")]),
            ("[1, 2]", "[1, 2]", &[]),
            ("fn (%x: Tensor[(2), int8]) { %x }", "fn (%x: Tensor[(2), int8]) { %x }", &[]),
            ("meta[relay.Constant][0]", "meta[relay.Constant][0]", &[]),
            ("f(%x, s=\"%a[\\\"]\")", "f(%x, s=\"%a[\\\"]\")", &[]),
            ("%x[", "%x[", &[]),
            ("]))(", "]))(", &[]),
            ("\"", "\"", &[]),
            ("", "", &[]),
        ] {
            let found = SlicedExpression::parse(text).expect(text);
            let parts = found.slices.iter().map(|s| (&*s.base, &*s.brackets));
            assert_eq!((&*found.text, &*parts.collect::<Vec<_>>()), (expression, slices), "{text}");
        }
        assert!(SlicedExpression::parse(&"%x[0] + ".repeat(MAX_SLICES + 1)).is_err());
    }
}
