//! The syntax of arguments on a command line or in an editor:
//!
//! ```text
//! 3   [[1, 2], [3, 4]]   image.npy   (1, [2.5, nan])   Cons(1, Nil)   ref(0)   @f
//! ```

use std::path::Path;

use interpreter::{Tensor, Value};
use semantics::module::ModuleTypes;
use types::{AdtType, DTypeTerm, DataType, TensorType, Type};

use super::{Functions, constructors, nearest, no_tensors, shortened};
use crate::run::files::ArgumentFile;

/// The largest depth of brackets.
const MAX_DEPTH: usize = 400;

/// A parsed argument, before its type is known.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ParsedArgument {
    /// `3`
    Int(i128),
    /// `2.5`, `1e-3`, `nan`, `-inf`
    Float(f64),
    /// `true`
    Bool(bool),
    /// `[1, 2]`
    List(Vec<ParsedArgument>),
    /// `(1, 2)`
    Tuple(Vec<ParsedArgument>),
    /// `Cons(1, Nil)`, `Nil`, `ref(1)`
    Named(String, Vec<ParsedArgument>),
    /// `@f`
    Global(String),
    /// `image.npy`
    File(String),
}

impl ParsedArgument {
    /// Parses an argument.
    ///
    /// # Errors
    /// The message of the syntax error.
    pub(super) fn parse(text: &str) -> Result<ParsedArgument, String> {
        // File names may have any characters.
        if text.ends_with(".npy") && !text.starts_with(['[', '(']) && !text.contains('\n') {
            return Ok(ParsedArgument::File(text.to_owned()));
        }
        let mut parser = Parser { rest: text };
        let value = parser.value(0)?;
        match parser.rest.trim_start() {
            "" => Ok(value),
            rest => Err(format!("`{text}` has text after its value: `{rest}`")),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, ParsedArgument::Int(_) | ParsedArgument::Float(_) | ParsedArgument::Bool(_))
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn take(&mut self, mark: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Parses items up to and including the closing bracket.
    fn items(&mut self, close: char, depth: usize) -> Result<Vec<ParsedArgument>, String> {
        let mut items = Vec::new();
        loop {
            if self.take(close) {
                return Ok(items);
            }
            // A list may have millions of items.
            interpreter::poll();
            items.push(self.value(depth + 1)?);
            if !self.take(',') && !self.rest.trim_start().starts_with(close) {
                return Err(format!("a `,` or `{close}` is missing"));
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<ParsedArgument, String> {
        if depth > MAX_DEPTH {
            return Err(format!("brackets are nested deeper than {MAX_DEPTH}"));
        }
        if self.take('[') {
            return self.items(']', depth).map(ParsedArgument::List);
        }
        if self.take('(') {
            return self.items(')', depth).map(ParsedArgument::Tuple);
        }
        let text = self.rest.trim_start();
        let end = text.find(|c: char| c.is_whitespace() || "[](),".contains(c));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        self.rest = rest;
        if let Some(number) = number(word) {
            return Ok(number);
        }
        if word.ends_with(".npy") {
            return Ok(ParsedArgument::File(word.to_owned()));
        }
        if word.starts_with('@') {
            return Ok(ParsedArgument::Global(word.to_owned()));
        }
        if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            let word = if word.is_empty() { "nothing".to_owned() } else { format!("`{word}`") };
            return Err(format!(
                "{word} is not a number, a list of numbers, a constructor or a `.npy` file"
            ));
        }
        let fields = if self.take('(') { self.items(')', depth)? } else { Vec::new() };
        Ok(ParsedArgument::Named(word.to_owned(), fields))
    }
}

fn number(word: &str) -> Option<ParsedArgument> {
    let plain = word.strip_prefix('+').unwrap_or(word);
    match plain {
        "true" | "True" => return Some(ParsedArgument::Bool(true)),
        "false" | "False" => return Some(ParsedArgument::Bool(false)),
        "nan" | "NaN" | "-nan" => return Some(ParsedArgument::Float(f64::NAN)),
        "inf" | "Infinity" => return Some(ParsedArgument::Float(f64::INFINITY)),
        "-inf" | "-Infinity" => return Some(ParsedArgument::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    if let Ok(number) = plain.parse() {
        return Some(ParsedArgument::Int(number));
    }
    // Rust parses names of NaN and infinities that numpy does not.
    let is_number = plain.starts_with(|c: char| c.is_ascii_digit() || "-.".contains(c));
    plain.parse().ok().filter(|_| is_number).map(ParsedArgument::Float)
}

/// Converts parsed arguments to values by their types.
pub(super) struct Reader<'r, 'f> {
    pub(super) types: &'r ModuleTypes,
    /// The folder to which file names are relative.
    pub(super) folder: &'r Path,
    /// True if the files are named by an untrusted workspace, and must lie in the folder.
    pub(super) is_remote: bool,
    pub(super) functions: Functions<'f>,
}

impl Reader<'_, '_> {
    /// Converts an argument to a value of a type.
    ///
    /// # Errors
    /// The message of the mismatch.
    pub(super) fn value(&mut self, written: &ParsedArgument, ty: &Type) -> Result<Value, String> {
        match (written, ty) {
            (ParsedArgument::File(name), _) => {
                let path = self.folder.join(name);
                let within = self.is_remote.then(|| self.folder.to_owned());
                let source = ArgumentFile { path, within, part: None }.open()?;
                let bad = |error: arrays::Error| format!("`{name}`: {error}");
                super::read(source.npy().map_err(bad)?, ty, bad)
            }
            (written, Type::Tensor(tensor)) if written.is_number() => filled(written, tensor),
            (ParsedArgument::List(_) | ParsedArgument::Tuple(_), Type::Tensor(tensor)) => {
                let (shape, numbers) = flat(written)?;
                let made = elements(&numbers, &shape, tensor.dtype)?;
                super::fit(made.into(), ty)
            }
            (written, Type::OpenTensor(open))
                if written.is_number()
                    || matches!(written, ParsedArgument::List(_) | ParsedArgument::Tuple(_)) =>
            {
                let (shape, numbers) = flat(written)?;
                let dtype = match open.dtype {
                    DTypeTerm::Known(dtype) => dtype,
                    _ => natural_dtype(&numbers),
                };
                Ok(elements(&numbers, &shape, dtype)?.into())
            }
            (written, Type::Param(_) | Type::Var(_) | Type::Hole) => self.natural(written, ty),
            (ParsedArgument::Tuple(fields) | ParsedArgument::List(fields), Type::Tuple(types)) => {
                if fields.len() != types.len() {
                    let (found, expected) = (fields.len(), types.len());
                    return Err(format!("{found} fields are given for a tuple of {expected}"));
                }
                let fields =
                    fields.iter().zip(types.iter()).map(|(field, ty)| self.value(field, ty));
                Ok(Value::tuple(fields.collect::<Result<Vec<Value>, String>>()?))
            }
            (ParsedArgument::Named(name, fields), Type::Ref(held)) if name == "ref" => {
                match fields.as_slice() {
                    [one] => Ok(Value::reference(self.value(one, held.inner())?)),
                    many => Err(format!("a reference holds one value, not {}", many.len())),
                }
            }
            (held_value, Type::Ref(held)) => {
                Ok(Value::reference(self.value(held_value, held.inner())?))
            }
            (ParsedArgument::Named(name, fields), Type::Adt(adt)) => self.data(name, fields, adt),
            (ParsedArgument::List(items), Type::Adt(adt)) if adt.name() == "List" => {
                self.list(items, adt)
            }
            (ParsedArgument::Global(name), Type::Func(_)) => match (self.functions)(name) {
                Some((value, of)) if of == *ty || !of.is_closed() => Ok(value),
                Some((_, of)) => Err(format!("`{name}` is of type {of}")),
                None => Err(format!("there is no function `{name}` in this file")),
            },
            (written, _) => Err(format!("{} is given", kind_of(written))),
        }
    }

    /// Converts an argument for a parameter of unknown type: `3` is an `int32` and `2.5` a
    /// `float32`, as in a program.
    fn natural(&mut self, written: &ParsedArgument, any: &Type) -> Result<Value, String> {
        match written {
            ParsedArgument::Int(_)
            | ParsedArgument::Float(_)
            | ParsedArgument::Bool(_)
            | ParsedArgument::List(_) => {
                let (shape, numbers) = flat(written)?;
                Ok(elements(&numbers, &shape, natural_dtype(&numbers))?.into())
            }
            ParsedArgument::Tuple(fields) => {
                let fields = fields.iter().map(|field| self.value(field, any));
                Ok(Value::tuple(fields.collect::<Result<Vec<Value>, String>>()?))
            }
            ParsedArgument::Named(name, fields) if name == "ref" && fields.len() == 1 => {
                Ok(Value::reference(self.value(&fields[0], any)?))
            }
            ParsedArgument::Named(name, fields) => {
                let Some((_, constructor)) = self.types.constructor(name) else {
                    return Err(format!("there is no constructor `{name}`"));
                };
                let (expected, found) = (constructor.fields.len(), fields.len());
                if expected != found {
                    return Err(format!("`{name}` has {expected} fields, {found} are given"));
                }
                let name = constructor.name.clone();
                let fields = fields.iter().map(|field| self.value(field, any));
                Ok(Value::data(name, fields.collect::<Result<Vec<Value>, String>>()?))
            }
            ParsedArgument::Global(name) => match (self.functions)(name) {
                Some((value, _)) => Ok(value),
                None => Err(format!("there is no function `{name}` in this file")),
            },
            ParsedArgument::File(name) => Err(format!("the file `{name}` is given")),
        }
    }

    fn data(
        &mut self,
        name: &str,
        fields: &[ParsedArgument],
        adt: &AdtType,
    ) -> Result<Value, String> {
        let all = constructors(adt, self.types);
        let Some((constructor, types)) = all.iter().find(|(known, _)| known == name) else {
            let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            let near = nearest(name, names.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!(
                "`{name}` is none of its constructors, which are {}{near}",
                shortened(names.iter(), ", ")
            ));
        };
        if fields.len() != types.len() {
            let (found, expected) = (fields.len(), types.len());
            return Err(format!("`{name}` has {expected} fields, {found} are given"));
        }
        let fields = fields.iter().zip(types).map(|(field, ty)| self.value(field, ty));
        let fields: Vec<Value> = fields.collect::<Result<_, String>>()?;
        Ok(Value::data(constructor.clone(), fields))
    }

    /// Converts `[1, 2]` to `Cons(1, Cons(2, Nil))`.
    fn list(&mut self, items: &[ParsedArgument], adt: &AdtType) -> Result<Value, String> {
        let [element] = adt.args() else { return Err("it takes no elements".to_owned()) };
        let items = items.iter().map(|item| self.value(item, element));
        let items: Vec<Value> = items.collect::<Result<_, String>>()?;
        let cons = |rest: Value, item: Value| Value::data("Cons".into(), [item, rest]);
        Ok(items.into_iter().rev().fold(Value::data("Nil".into(), []), cons))
    }
}

/// Returns the data type of literals.
fn natural_dtype(numbers: &[&ParsedArgument]) -> DataType {
    let are = |is: fn(&ParsedArgument) -> bool| numbers.iter().all(|number| is(number));
    match () {
        () if numbers.is_empty() => DataType::FLOAT32,
        () if are(|number| matches!(number, ParsedArgument::Bool(_))) => DataType::BOOL,
        () if are(|number| matches!(number, ParsedArgument::Int(_))) => DataType::INT32,
        () => DataType::FLOAT32,
    }
}

fn kind_of(written: &ParsedArgument) -> String {
    match written {
        ParsedArgument::Int(number) => format!("`{number}`"),
        ParsedArgument::Float(number) if number.is_nan() => "`nan`".to_owned(),
        ParsedArgument::Float(number) => format!("`{number}`"),
        ParsedArgument::Bool(value) => format!("`{value}`"),
        ParsedArgument::List(_) => "a list in brackets".to_owned(),
        ParsedArgument::Tuple(_) => "a tuple".to_owned(),
        ParsedArgument::Named(name, _) | ParsedArgument::Global(name) => format!("`{name}`"),
        ParsedArgument::File(name) => format!("the file `{name}`"),
    }
}

/// Returns the shape of nested lists, which must be regular, and their elements.
fn flat(written: &ParsedArgument) -> Result<(Vec<usize>, Vec<&ParsedArgument>), String> {
    let mut shape = Vec::new();
    let mut first = written;
    while let ParsedArgument::List(items) | ParsedArgument::Tuple(items) = first {
        shape.push(items.len());
        match items.first() {
            Some(item) => first = item,
            None => break,
        }
    }
    let mut level = vec![written];
    for &size in &shape {
        // Not reserved by the shape, as only the first list is known.
        let mut next = Vec::new();
        for item in level {
            match item {
                ParsedArgument::List(items) | ParsedArgument::Tuple(items)
                    if items.len() == size =>
                {
                    next.extend(items);
                }
                _ => return Err("the lists in it are of different lengths".to_owned()),
            }
        }
        level = next;
    }
    match level.iter().find(|item| !item.is_number()) {
        Some(ParsedArgument::List(_) | ParsedArgument::Tuple(_)) => {
            Err("the lists in it are of different lengths".to_owned())
        }
        Some(other) => Err(format!("{} is not a number", kind_of(other))),
        None => Ok((shape, level)),
    }
}

/// Fills a tensor with one number.
fn filled(number: &ParsedArgument, tensor: &TensorType) -> Result<Value, String> {
    let shape: Option<Vec<usize>> = tensor.lengths();
    let Some(shape) = shape else {
        return Err("its sizes are unknown, so it cannot be filled with one number".to_owned());
    };
    let one = elements(&[number], &[], tensor.dtype)?;
    if interpreter::count_of(&shape).is_none() {
        return Err("it has more elements than can be counted".to_owned());
    }
    let tensor = one.filled(&shape).ok_or_else(|| no_tensors(tensor.dtype))?;
    interpreter::charge(tensor.bytes() as u64);
    Ok(tensor.into())
}

/// Converts numbers to a tensor, if its data type can represent them.
fn elements(
    numbers: &[&ParsedArgument],
    shape: &[usize],
    dtype: DataType,
) -> Result<Tensor, String> {
    let made = if dtype.is_float() || dtype.is_bfloat() {
        let number = |written: &&ParsedArgument| match written {
            ParsedArgument::Int(number) => *number as f64,
            ParsedArgument::Float(number) => *number,
            ParsedArgument::Bool(value) => f64::from(u8::from(*value)),
            _ => f64::NAN,
        };
        let made = Tensor::from_f64s(dtype, shape, numbers.iter().map(number).collect());
        let stored = made.as_ref().map(Tensor::to_f64s).unwrap_or_default();
        let is_lost = |(written, stored): &(&&ParsedArgument, &f64)| {
            stored.is_infinite() && number(written).is_finite()
        };
        if let Some((written, _)) = numbers.iter().zip(&stored).find(is_lost) {
            let what = kind_of(written);
            return Err(format!("{what} is not a valid {dtype}: it is out of its range"));
        }
        made
    } else {
        let (low, high) = bounds(dtype);
        let number = |written: &&ParsedArgument| {
            let number = match written {
                ParsedArgument::Int(number) => *number,
                ParsedArgument::Bool(value) => i128::from(*value),
                // `1e3` is an integer, too.
                ParsedArgument::Float(number) if number.fract() == 0.0 && number.abs() < 1e18 => {
                    *number as i128
                }
                other => return Err(format!("{} is not a valid {dtype}", kind_of(other))),
            };
            match (low..=high).contains(&number) {
                // Values above `i64::MAX` keep their bits.
                true => Ok(number as i64),
                false => {
                    Err(format!("{number} is not a valid {dtype}: the range is {low} to {high}"))
                }
            }
        };
        let numbers = numbers.iter().map(number).collect::<Result<Vec<i64>, String>>()?;
        Tensor::from_i64s(dtype, shape, numbers)
    };
    made.ok_or_else(|| no_tensors(dtype))
}

/// Returns the smallest and the largest integer of a data type.
fn bounds(dtype: DataType) -> (i128, i128) {
    let bits = u32::from(dtype.bits).clamp(1, 64);
    if dtype.is_int() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parsed() {
        let read = |text: &str| ParsedArgument::parse(text);
        assert_eq!(read("3"), Ok(ParsedArgument::Int(3)));
        assert_eq!(read("-2.5e1"), Ok(ParsedArgument::Float(-25.0)));
        assert_eq!(read("True"), Ok(ParsedArgument::Bool(true)));
        assert_eq!(read("a b.npy"), Ok(ParsedArgument::File("a b.npy".into())));
        let one = || ParsedArgument::Int(1);
        assert_eq!(
            read("[ [1], ]"),
            Ok(ParsedArgument::List(vec![ParsedArgument::List(vec![one()])]))
        );
        let nil = ParsedArgument::Named("Nil".into(), vec![]);
        let cons = ParsedArgument::Named("Cons".into(), vec![one(), nil]);
        assert_eq!(
            read("(Cons(1, Nil), @f)"),
            Ok(ParsedArgument::Tuple(vec![cons, ParsedArgument::Global("@f".into())]))
        );
        for wrong in ["", "[1", "[1 2]", "1 2", "]", "-", "[,]", "Cons(", "$"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read(&"[".repeat(100_000)).is_err());
        // Rust parses these as numbers, numpy does not.
        assert_eq!(read("infinity"), Ok(ParsedArgument::Named("infinity".into(), vec![])));
    }

    #[test]
    fn numbers_must_fit_the_data_type() {
        let of = |dtype, text: &str| -> Result<Vec<i64>, String> {
            let written = ParsedArgument::parse(text)?;
            let (shape, numbers) = flat(&written)?;
            Ok(elements(&numbers, &shape, dtype)?.to_i64s())
        };
        assert_eq!(of(DataType::INT8, "[-128, 127, 1e1]"), Ok(vec![-128, 127, 10]));
        assert!(of(DataType::INT8, "[128]").is_err_and(|e| e.contains("-128 to 127")));
        assert!(of(DataType::INT32, "2.5").is_err());
        assert!(of(DataType::INT32, "nan").is_err());
        assert!(of(DataType::UINT8, "-1").is_err());
        assert!(of(DataType::BOOL, "2").is_err());
        assert_eq!(of(DataType::INT64, "9007199254740993"), Ok(vec![9_007_199_254_740_993]));
        let all = elements(&[&ParsedArgument::Int(i128::from(u64::MAX))], &[], DataType::UINT64);
        assert!(matches!(all, Ok(Tensor::U64(array)) if array.first() == Some(&u64::MAX)));
        assert!(of(DataType::INT32, "[[1], [2, 3]]").is_err());
        assert!(of(DataType::INT32, "[1, [2]]").is_err());
        assert_eq!(of(DataType::INT32, "[[], []]"), Ok(vec![]));
    }
}
