//! The arguments of a run: from the command line, from files, or drawn.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use interpreter::{Tensor, Value};
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
    /// What is not given is drawn from this seed.
    pub(crate) seed: Option<u64>,
    /// What relative paths of `.npy` files are relative to.
    pub(crate) folder: PathBuf,
}

/// The arguments of a run.
pub(crate) struct Arguments {
    /// One for each parameter.
    pub(crate) values: Vec<Value>,
    /// Names of the parameters.
    pub(crate) names: Vec<String>,
    /// Those whose arguments are drawn.
    pub(crate) drawn: Vec<String>,
}

/// A parameter of the function.
struct Param {
    name: String,
    ty: Type,
}

/// One value for each parameter of the function.
///
/// # Errors
/// A message: something is missing, or does not fit.
pub(crate) fn gather(view: &View<'_>, inputs: &Inputs) -> Result<Arguments, String> {
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
    let mut draw = inputs.seed.map(Draw);
    // Positions count the tensors: a parameter that is a tuple takes as many as it has.
    let mut next = 0;
    let mut values = Vec::with_capacity(params.len());
    let mut drawn = Vec::new();
    for param in &params {
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
    let names = params.into_iter().map(|param| param.name).collect();
    Ok(Arguments { values, names, drawn })
}

/// The parameters of a function, or the `free_var`s of a bare expression.
fn parameters(view: &View<'_>) -> Vec<Param> {
    let mut params = Vec::new();
    for (number, unit) in view.body.units.iter().enumerate() {
        let header = unit.header().map(|header| header.params.as_slice()).unwrap_or_default();
        let free = unit.binds.filter(|_| unit.kind == UnitKind::FreeVar);
        for &binder in header.iter().chain(&free) {
            let name = unit.binder(binder).name.trim_start_matches('%').to_owned();
            let ty = view.binding_type(Binding { unit: number as u32, binder }).clone();
            params.push(Param { name, ty });
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
struct Draw(u64);

impl Draw {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn value(&mut self, ty: &Type) -> Option<Value> {
        if let Type::Tuple(fields) = ty {
            let fields: Option<Vec<Value>> = fields.iter().map(|field| self.value(field)).collect();
            return Some(Value::tuple(fields?));
        }
        ty.as_tensor()?;
        let (dtype, shape) = target(ty, &[]).ok()?;
        let count = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size))?;
        let count = (count <= 1 << 32).then_some(count)?;
        let draw = |_| match dtype.kind {
            // Numbers of mean 0 and deviation 1, near enough to normal ones.
            ElementKind::Float | ElementKind::BFloat => {
                (self.unit() + self.unit() + self.unit() - 1.5) * 2.0
            }
            _ if dtype.is_bool() => (self.next() & 1) as f64,
            ElementKind::Int => (self.next() % 21) as f64 - 10.0,
            _ => (self.next() % 11) as f64,
        };
        let numbers = (0..count).map(draw).collect();
        Tensor::from_f64s(dtype, &shape, numbers).map(Value::from)
    }
}
