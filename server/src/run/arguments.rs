//! The arguments of a run: from the command line, from files, or drawn.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use interpreter::{Element, Tensor, Value};
use rayon::prelude::*;
use semantics::{View, body::UnitKind, scope::Binding};
use types::{DataType, ElementKind, Type};

use super::{npy, params};
/// Where the arguments of a run come from.
#[derive(Clone, Default, Debug)]
pub(crate) struct Inputs {
    /// Names with values: numbers, lists of numbers as JSON, `.npy` files.
    pub(crate) given: Vec<(String, String)>,
    /// Archives of arrays: by name, or `i0`, `i1`, … by position.
    pub(crate) archives: Vec<PathBuf>,
    /// Files of parameters as TVM saves them.
    pub(crate) params: Vec<PathBuf>,
    /// What is not given is drawn from this seed, by its type.
    pub(crate) seed: Option<u64>,
    /// What relative paths of `.npy` files are relative to.
    pub(crate) folder: PathBuf,
}

/// The arguments of a run.
pub(crate) struct Arguments {
    /// One for each parameter.
    pub(crate) values: Vec<Value>,
    /// Those whose arguments are drawn.
    pub(crate) drawn: Vec<String>,
}

/// A parameter of the function.
struct Param {
    name: String,
    ty: Type,
}

/// One value for each parameter of the function; ends early where `stop` is set.
///
/// # Errors
/// A message: something is missing, or does not fit.
pub(crate) fn gather(
    view: &View<'_>,
    inputs: &Inputs,
    stop: &AtomicBool,
) -> Result<Arguments, String> {
    let params = parameters(view);
    let mut given: HashMap<String, Value> = HashMap::new();
    for path in &inputs.params {
        given.extend(params::read(path)?.into_iter().map(|(name, t)| (name, t.into())));
    }
    for path in &inputs.archives {
        given.extend(npy::read_npz(path)?.into_iter().map(|(name, t)| (name, t.into())));
    }
    for (name, value) in &inputs.given {
        let name = name.trim().trim_start_matches('%').to_owned();
        let Some((position, param)) = position(&params, &name) else {
            let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
            return Err(format!(
                "there is no parameter `{name}`; the parameters are: {}",
                names.join(", ")
            ));
        };
        given.remove(&format!("i{position}"));
        given.insert(param.name.clone(), read_value(value.trim(), &param.ty, &inputs.folder)?);
    }
    let mut draw = inputs.seed.map(|seed| Draw(seed, stop));
    // Positions count the tensors: a parameter that is a tuple takes as many as it has.
    let mut next = 0;
    let mut values = Vec::with_capacity(params.len());
    let mut drawn = Vec::new();
    for param in &params {
        if stop.load(Ordering::Relaxed) {
            return Err("the run was stopped".to_owned());
        }
        let fits = |value: &Value| fit(value.clone(), &param.ty, &param.name);
        let leaves = leaves_of(&param.ty);
        let value = match given.get(&param.name) {
            Some(value) => fits(value)?,
            None => {
                let numbered: Option<Vec<Value>> =
                    (next..next + leaves).map(|k| given.get(&format!("i{k}")).cloned()).collect();
                match (numbered.filter(|_| leaves > 0), &mut draw) {
                    (Some(tensors), _) => fits(&build(&param.ty, &mut tensors.into_iter()))?,
                    (None, Some(draw)) => {
                        drawn.push(param.name.clone());
                        draw.value(&param.ty).ok_or_else(|| {
                            format!(
                                "no value of the type {} can be drawn for `%{}`: give it one",
                                param.ty, param.name
                            )
                        })?
                    }
                    (None, None) => {
                        return Err(format!(
                            "the parameter `%{}` of type {} has no value: give one with `--input \
                             {}=…`, or draw it with `--random 0`",
                            param.name, param.ty, param.name
                        ));
                    }
                }
            }
        };
        next += leaves;
        values.push(value);
    }
    Ok(Arguments { values, drawn })
}

/// The parameters of a function, or the `free_var`s of a bare expression.
fn parameters(view: &View<'_>) -> Vec<Param> {
    let mut params = Vec::new();
    for (number, unit) in view.body.units.iter().enumerate() {
        let header = unit.header().map(|header| header.params.as_slice()).unwrap_or_default();
        let free = unit.binds.filter(|_| unit.kind == UnitKind::FreeVar);
        for &binder in header.iter().chain(&free) {
            let name = unit.binder(binder).name.trim_start_matches('%').to_owned();
            let binding = Binding { unit: number as u32, binder };
            params.push(Param { name, ty: view.binding_type(binding).clone() });
        }
    }
    params
}

/// The parameter that is called `name`, or `i0` by its position.
fn position<'p>(params: &'p [Param], name: &str) -> Option<(usize, &'p Param)> {
    let by_name = params.iter().position(|param| param.name == name);
    let at = by_name.or_else(|| name.strip_prefix('i')?.parse().ok())?;
    Some((at, params.get(at)?))
}

fn leaves_of(ty: &Type) -> usize {
    match ty {
        Type::Tuple(fields) => fields.iter().map(leaves_of).sum(),
        _ => 1,
    }
}

/// A value of the form of `ty` from its tensors in order.
fn build(ty: &Type, tensors: &mut impl Iterator<Item = Value>) -> Value {
    match ty {
        Type::Tuple(fields) => {
            let fields: Vec<Value> = fields.iter().map(|field| build(field, tensors)).collect();
            Value::tuple(fields)
        }
        _ => tensors.next().unwrap_or_else(|| Value::tuple([])),
    }
}

/// Holds a value against the type of the parameter.
fn fit(value: Value, ty: &Type, name: &str) -> Result<Value, String> {
    let Value::Tensor(tensor) = &value else { return Ok(value) };
    let Some(wanted) = ty.as_tensor() else { return Ok(value) };
    let same = wanted.shape.len() == tensor.rank()
        && wanted.shape.iter().zip(tensor.shape()).all(|(dim, &size)| {
            dim.as_known().is_none_or(|known| usize::try_from(known) == Ok(size))
        });
    if !same {
        return Err(format!("`%{name}` is of type {ty}, the array given is {}", value.ty()));
    }
    if wanted.dtype == tensor.dtype() {
        return Ok(value);
    }
    // numpy has no brain floating point, and makes doubles of what is written without a type.
    let cast = match (wanted.dtype.kind, tensor.dtype().kind) {
        (ElementKind::BFloat | ElementKind::Float, ElementKind::Float | ElementKind::BFloat) => {
            Tensor::from_f64s(wanted.dtype, tensor.shape(), tensor.to_f64s())
        }
        _ => None,
    };
    match cast {
        Some(tensor) => Ok(tensor.into()),
        None => Err(format!("`%{name}` is of type {ty}, the array given is {}", value.ty())),
    }
}

/// A value on the command line: a file, a number, or numbers in brackets.
fn read_value(text: &str, ty: &Type, folder: &Path) -> Result<Value, String> {
    if text.ends_with(".npy") {
        return npy::read_npy(&folder.join(text)).map(Value::from);
    }
    let wanted = ty.as_tensor();
    let json = match text {
        "True" | "true" => "1",
        "False" | "false" => "0",
        "nan" | "inf" | "-inf" => {
            let number: f64 = text.parse().unwrap_or(f64::NAN);
            let (dtype, shape) = target(ty, &[])?;
            return filled(dtype, &shape, number);
        }
        other => other,
    };
    let json: serde_json::Value = serde_json::from_str(json)
        .map_err(|_| format!("`{text}` is no number, no list of numbers and no `.npy` file"))?;
    let (mut shape, mut numbers) = (Vec::new(), Vec::new());
    flatten(&json, 0, &mut shape, &mut numbers)
        .ok_or_else(|| format!("`{text}` is no regular list of numbers"))?;
    if shape.is_empty() && wanted.is_some_and(|tensor| !tensor.shape.is_empty()) {
        // One number for all elements.
        let (dtype, shape) = target(ty, &[])?;
        return filled(dtype, &shape, numbers.first().copied().unwrap_or_default());
    }
    let dtype = wanted.map_or(DataType::FLOAT32, |tensor| tensor.dtype);
    Tensor::from_f64s(dtype, &shape, numbers)
        .map(Value::from)
        .ok_or_else(|| format!("a tensor of {dtype} cannot be made of `{text}`"))
}

/// Data type and shape of a parameter, whose sizes must be known.
fn target(ty: &Type, other: &[usize]) -> Result<(DataType, Vec<usize>), String> {
    let Some(tensor) = ty.as_tensor() else { return Ok((DataType::FLOAT32, other.to_vec())) };
    let size = |dim: &types::Dim| usize::try_from(dim.as_known()?).ok();
    let shape: Option<Vec<usize>> = tensor.shape.iter().map(size).collect();
    Ok((tensor.dtype, shape.ok_or_else(|| format!("the sizes of {ty} are not known"))?))
}

fn filled(dtype: DataType, shape: &[usize], number: f64) -> Result<Value, String> {
    let count = shape.iter().product();
    Tensor::from_f64s(dtype, shape, vec![number; count])
        .map(Value::from)
        .ok_or_else(|| format!("there are no tensors of {dtype}"))
}

fn flatten(
    json: &serde_json::Value,
    depth: usize,
    shape: &mut Vec<usize>,
    numbers: &mut Vec<f64>,
) -> Option<()> {
    match json {
        serde_json::Value::Array(items) => {
            match shape.get(depth) {
                None if numbers.is_empty() => shape.push(items.len()),
                Some(&size) if size == items.len() => {}
                _ => return None,
            }
            items.iter().try_for_each(|item| flatten(item, depth + 1, shape, numbers))
        }
        serde_json::Value::Bool(value) => {
            numbers.push(f64::from(u8::from(*value)));
            (depth == shape.len()).then_some(())
        }
        other => {
            numbers.push(other.as_f64()?);
            (depth == shape.len()).then_some(())
        }
    }
}

/// Draws values from a seed: the same for the same seed everywhere.
///
/// What is drawn keeps the values of a network in bounds: weights have a deviation of one over the
/// square root of the numbers that are summed up with them, and vectors are positive, because the
/// variances of a batch norm are vectors. Integers are from 0 to 9, as indices may be.
struct Draw<'s>(u64, &'s AtomicBool);

/// How many elements are drawn one after another.
const CHUNK: usize = 1 << 16;

impl Draw<'_> {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// A number of mean 0 and deviation 1, near enough to a normal one.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let part = |shift: u32| ((bits >> shift) & 0x1F_FFFF) as f32 / (1u32 << 21) as f32;
        (part(0) + part(21) + part(42) - 1.5) * 2.0
    }

    /// `count` numbers, drawn on all cores.
    fn numbers<T: Send + Copy + Default>(
        &mut self,
        count: usize,
        one: impl Fn(&mut Draw<'_>) -> T + Sync,
    ) -> Vec<T> {
        let seed = self.next();
        let stop = self.1;
        let mut numbers = vec![T::default(); count];
        numbers.par_chunks_mut(CHUNK).enumerate().for_each(|(number, chunk)| {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let seed = seed ^ (number as u64).wrapping_mul(0xD129_0A4B_5C3F_7E91);
            let mut draw = Draw(seed, stop);
            chunk.iter_mut().for_each(|element| *element = one(&mut draw));
        });
        numbers
    }

    fn value(&mut self, ty: &Type) -> Option<Value> {
        if let Type::Tuple(fields) = ty {
            let fields: Option<Vec<Value>> = fields.iter().map(|field| self.value(field)).collect();
            return Some(Value::tuple(fields?));
        }
        ty.as_tensor()?;
        let (dtype, shape) = target(ty, &[]).ok()?;
        let count = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size))?;
        let count = (count <= MOST_ELEMENTS).then_some(count)?;
        let summed: usize = shape.iter().skip(1).product();
        // With a batch of one it is an input rather than a weight.
        let is_weight = shape.len() > 1 && shape.first() != Some(&1);
        let scale = if is_weight { 1.0 / (summed.max(1) as f32).sqrt() } else { 1.0 };
        let float = |draw: &mut Draw<'_>| match shape.len() {
            0 | 1 => draw.unit() + 0.5,
            _ => draw.normal() * scale,
        };
        match dtype.kind {
            ElementKind::Float | ElementKind::BFloat if dtype == DataType::FLOAT32 => {
                f32::tensor(&shape, self.numbers(count, float)).map(Value::from)
            }
            ElementKind::Float | ElementKind::BFloat => {
                let numbers = self.numbers(count, |draw| f64::from(float(draw)));
                Tensor::from_f64s(dtype, &shape, numbers).map(Value::from)
            }
            _ => {
                let most = if dtype.is_bool() { 2 } else { 10 };
                let numbers = self.numbers(count, |draw| (draw.next() % most) as i64);
                Tensor::from_i64s(dtype, &shape, numbers).map(Value::from)
            }
        }
    }
}

/// The largest tensor that is drawn.
const MOST_ELEMENTS: usize = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, shape: &[i64], dtype: DataType) -> Vec<f64> {
        let dims = shape.iter().map(|&size| types::Dim::known(size));
        let value =
            Draw(seed, &AtomicBool::new(false)).value(&Type::tensor(dims, dtype)).expect("a value");
        value.as_tensor().expect("a tensor").to_f64s()
    }

    #[test]
    fn what_is_drawn() {
        let weights = drawn(1, &[100, 2000], DataType::FLOAT32);
        assert_eq!(weights, drawn(1, &[100, 2000], DataType::FLOAT32));
        assert_ne!(weights, drawn(2, &[100, 2000], DataType::FLOAT32));
        let squares = weights.iter().map(|x| x * x).sum::<f64>() / weights.len() as f64;
        assert!((squares * 2000.0 - 1.0).abs() < 0.05, "{squares}");
        assert!((weights.iter().sum::<f64>() / weights.len() as f64).abs() < 1e-3);
        assert!(drawn(1, &[64], DataType::FLOAT16).iter().all(|&x| (0.5..=1.5).contains(&x)));
        let indices = drawn(1, &[1000], DataType::INT64);
        assert!((0..10).all(|k| indices.contains(&f64::from(k))), "{indices:?}");
        assert!(drawn(1, &[64], DataType::BOOL).contains(&0.0));
    }
}
