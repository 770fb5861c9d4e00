//! The arguments of a run: given, read from files, or random.

mod archives;
mod draw;
mod image;
mod written;

use std::{
    collections::HashMap,
    fmt::Display,
    path::{Path, PathBuf},
};

use arrays::{Array, Error};
use ide::words;
use interpreter::{FaultKind, Value};
use semantics::{
    Code, Diagnostic, View,
    adt::Constructor,
    body::{LocalRef, Name},
    module::ModuleTypes,
};
use serde_json::Value as Json;
use syntax::TextRange;
use types::{AdtType, DataType, Dim, Type, TypeArg};

use super::files::ArgumentFile;
use crate::protocol::RunError;
use archives::Files;
use draw::Draw;
use written::ParsedArgument;

/// The sources of the arguments of a run.
#[derive(Clone, Default, Debug)]
pub(crate) struct Inputs {
    /// The arguments that are given for parameters.
    pub(crate) given: Vec<GivenArgument>,
    /// Files with arrays by parameter name, or `i0`, `i1`, … by position. Positions count tensors,
    /// all those of a tuple, so that `i1` is the same in a file and on the command line.
    pub(crate) archives: Vec<ArgumentFile>,
    /// Files of parameters, over which the archives take precedence.
    pub(crate) params: Vec<ArgumentFile>,
    /// The seed of the random values for missing arguments.
    pub(crate) seed: Option<u64>,
}

/// An argument that is given for a parameter: a number, a JSON list of numbers, or the path of a
/// `.npy` file.
#[derive(Clone, Debug)]
pub(crate) struct GivenArgument {
    /// The name of the parameter, or the position of a tensor.
    pub(crate) name: String,
    /// The text of the value.
    pub(crate) text: String,
    /// The folder to which paths of `.npy` files are relative.
    pub(crate) folder: PathBuf,
    /// True if it comes from a file of the workspace: files that it names must lie in the folder.
    pub(crate) is_remote: bool,
}

impl GivenArgument {
    /// Returns an argument that is a number, a list of numbers, or the text of a value in JSON.
    ///
    /// # Errors
    /// The message for another value.
    pub(crate) fn of_json(
        name: &str,
        value: &Json,
        folder: &Path,
        is_remote: bool,
    ) -> Result<GivenArgument, String> {
        let text = match value {
            Json::String(text) => text.clone(),
            Json::Number(_) | Json::Bool(_) | Json::Array(_) => value.to_string(),
            Json::Null | Json::Object(_) => {
                return Err(format!(
                    "the argument `{name}` is {value}: it takes a number, a list of numbers, \
                     or the name of a `.npy` file"
                ));
            }
        };
        Ok(GivenArgument { name: name.to_owned(), text, folder: folder.to_owned(), is_remote })
    }
}

/// The arguments of a run.
pub(crate) struct Arguments {
    /// The arguments, one for each parameter.
    pub(crate) values: Vec<Value>,
    /// The names of the parameters with random arguments.
    pub(crate) drawn: Vec<String>,
    /// Warnings about the files.
    pub(crate) warnings: Vec<String>,
}

impl Arguments {
    /// Returns which arguments are random, as in `` `%x` is random (seed 1)``; `None` if there are none.
    pub(crate) fn random(&self, seed: u64) -> Option<String> {
        let what = match self.drawn.as_slice() {
            [] => return None,
            [one] => format!("`%{one}` is"),
            [first, rest @ ..] if rest.len() < 4 => {
                let rest: Vec<String> = rest.iter().map(|name| format!("`%{name}`")).collect();
                format!("`%{first}`, {} are", rest.join(", "))
            }
            many => format!("{} arguments are", many.len()),
        };
        Some(format!("{what} random (seed {seed})"))
    }
}

/// An error in the arguments.
#[derive(Debug)]
pub(crate) struct ArgumentError {
    /// The message.
    pub(crate) message: String,
    /// The help.
    pub(crate) help: Option<String>,
    /// The range of the parameter, if it concerns one.
    range: Option<TextRange>,
}

impl From<String> for ArgumentError {
    fn from(message: String) -> ArgumentError {
        ArgumentError { message, help: None, range: None }
    }
}

impl ArgumentError {
    fn help(self, help: impl Into<String>) -> ArgumentError {
        ArgumentError { help: Some(help.into()), ..self }
    }

    /// Converts the error to the type of the protocol.
    pub(crate) fn document<P>(&self) -> RunError<P> {
        RunError {
            code: FaultKind::Input.code().name(),
            message: self.message.clone(),
            help: self.help.clone(),
            arguments: Vec::new(),
            trace: Vec::new(),
            omitted: 0,
            range: None,
        }
    }

    /// Converts the error to a diagnostic at the parameter, or at the definition at `def`.
    pub(crate) fn diagnostic(&self, code: Code, def: TextRange) -> Diagnostic {
        let diagnostic = Diagnostic::new(code, self.range.unwrap_or(def), &*self.message);
        match &self.help {
            Some(help) => diagnostic.help(help.as_str()),
            None => diagnostic,
        }
    }
}

/// A parameter of the function.
struct Param {
    name: String,
    ty: Type,
    range: TextRange,
}

impl Param {
    fn error(&self, message: impl Into<String>) -> ArgumentError {
        ArgumentError { message: message.into(), help: None, range: Some(self.range) }
    }

    /// Returns an example of an argument.
    fn example(&self) -> String {
        let name = &self.name;
        match &self.ty {
            Type::Tensor(tensor) if tensor.shape.is_empty() => format!("`--input {name}=1`"),
            Type::Tensor(_) | Type::OpenTensor(_) => {
                format!("`--input {name}={name}.npy`, or numbers in brackets")
            }
            Type::Tuple(_) => format!("`--input '{name}=(1, x.npy)'`, field by field"),
            Type::Adt(_) => format!("`--input '{name}=Cons(1, Nil)'`, with its constructors"),
            Type::Ref(_) => format!("`--input '{name}=ref(1)'`"),
            Type::Func(_) => format!("`--input {name}=@f`, a function of the file"),
            _ => format!("`--input {name}=…`"),
        }
    }
}

/// Finds a function of the file by name, with its type.
pub(crate) type Functions<'f> = &'f mut dyn FnMut(&str) -> Option<(Value, Type)>;

/// Returns the names of the parameters, without sigils, and their types.
pub(crate) fn parameter_types(view: &View<'_>) -> Vec<(String, Type)> {
    parameters(view).into_iter().map(|param| (param.name, param.ty)).collect()
}

/// Returns a value for each parameter. The caller runs this within the limits of the run, which
/// apply to the memory and time that it takes.
///
/// # Errors
/// An argument is missing or has the wrong type.
pub(crate) fn gather(
    view: &View<'_>,
    inputs: &Inputs,
    functions: Functions<'_>,
) -> Result<Arguments, ArgumentError> {
    let params = parameters(view);
    let mut files = Files::open(inputs, &params)?;
    let mut given: HashMap<String, Value> = HashMap::new();
    // The names by which each parameter that is no tuple is given.
    let mut names: HashMap<&str, &str> = HashMap::new();
    for GivenArgument { name: written, text, folder, is_remote } in &inputs.given {
        let written = written.trim().trim_start_matches('%');
        let name = written.to_owned();
        let Place { param, leaf } = place(&params, &name).ok_or_else(|| unknown(&params, &name))?;
        // A recalled argument stays behind one that is given.
        if !matches!(param.ty, Type::Tuple(_))
            && !is_remote
            && let Some(other) =
                names.insert(&param.name, written).filter(|other| *other != written)
        {
            let message =
                format!("`%{}` is given twice: as `{other}` and as `{written}`", param.name);
            return Err(param.error(message));
        }
        let ty = leaf.as_ref().map_or(&param.ty, |leaf| &leaf.ty);
        let text = text.trim();
        if image::is_image(text) {
            let error = param.error(format!("`{text}` is an image, and `%{name}` takes {ty}"));
            return Err(error.help(image::help(text, &param.name, ty)));
        }
        let written = ParsedArgument::parse(text).map_err(|problem| param.error(problem))?;
        let mut reader =
            written::Reader { types: &view.types, folder, is_remote: *is_remote, functions };
        let value = reader.value(&written, ty).map_err(|problem| {
            let what = match &leaf {
                Some(_) if matches!(param.ty, Type::Tuple(_)) => {
                    format!("`{name}`, which counts the tensors in `%{}`,", param.name)
                }
                _ => format!("`%{}`", param.name),
            };
            let message = format!("{what} is of type {ty}: {problem}");
            param.error(message).help(format!("give it a value like {}", param.example()))
        })?;
        match leaf {
            None => {
                given.insert(param.name.clone(), value);
            }
            // An argument for one tensor of a tuple overrides that for the whole tuple.
            Some(leaf) => {
                files.forget(&param.name);
                if let Some(whole) = given.remove(&param.name) {
                    put_leaves(whole, &param.ty, &mut { leaf.first }, &mut given);
                }
                given.insert(name, value);
            }
        }
    }
    let mut draw = inputs.seed.map(Draw::new);
    let mut next = 0;
    let mut values = Vec::with_capacity(params.len());
    let mut drawn = Vec::new();
    for param in &params {
        interpreter::poll();
        let count = leaves_of(&param.ty);
        // Given arguments override those of files.
        let one = |name: &str, ty: &Type| -> Option<Result<Value, ArgumentError>> {
            if let Some(value) = given.get(name) {
                return Some(fit(value.clone(), ty).map_err(|is| misfit(param, &is)));
            }
            files.read(name, ty).map(|read| read.map_err(|problem| problem.error(param)))
        };
        let names = || (next..next + count).map(|k| format!("i{k}"));
        let value = match one(&param.name, &param.ty) {
            Some(value) => value?,
            None if count > 0
                && names().all(|name| given.contains_key(&name) || files.has(&name)) =>
            {
                let mut names = names();
                build(&param.ty, &mut |ty| {
                    let name = names.next().unwrap_or_default();
                    one(&name, ty).unwrap_or_else(|| Err(missing(param, &files)))
                })?
            }
            None => match &mut draw {
                Some(draw) => {
                    drawn.push(param.name.clone());
                    draw.value(&param.ty, &view.types).map_err(|why| {
                        let (ty, name) = (&param.ty, &param.name);
                        let message =
                            format!("cannot generate a random value of type {ty} for `%{name}`");
                        let help = format!("give it one: {}", param.example());
                        param.error(format!("{message}: {why}")).help(help)
                    })?
                }
                None => return Err(missing(param, &files)),
            },
        };
        next += count;
        values.push(value);
    }
    Ok(Arguments { values, drawn, warnings: files.warnings })
}

/// Returns the value of a type that is written as an argument: a number, a list of numbers, or the name of a `.npy`
/// file relative to `folder`.
///
/// # Errors
/// The message for a text that is no such value.
pub(crate) fn written_value(
    text: &str,
    ty: &Type,
    types: &ModuleTypes,
    folder: &Path,
) -> Result<Value, String> {
    let written = ParsedArgument::parse(text.trim())?;
    let functions: Functions<'_> = &mut |_| None;
    written::Reader { types, folder, is_remote: false, functions }.value(&written, ty)
}

/// Returns the error of an unknown parameter.
fn unknown(params: &[Param], name: &str) -> ArgumentError {
    let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    let message = match names.as_slice() {
        [] => format!("there is no parameter `{name}`: the function has none"),
        names if archives::position(name).is_some() => {
            let count: usize = params.iter().map(|param| leaves_of(&param.ty)).sum();
            format!(
                "there is no parameter `{name}`: the function takes {} by position, and the parameters \
                 are: {}",
                words::counted(count as u64, "tensor"),
                shortened(names.iter(), ", ")
            )
        }
        names => format!(
            "there is no parameter `{name}`; the parameters are: {}",
            shortened(names.iter(), ", ")
        ),
    };
    match nearest(name, names.into_iter()) {
        Some(near) => ArgumentError::from(message).help(format!("did you mean `{near}`?")),
        None => ArgumentError::from(message),
    }
}

/// Returns the message for an unknown function.
pub(crate) fn no_function(name: &str, names: &[&str]) -> String {
    let message = format!("there is no function `{name}` in this file");
    match (nearest(name, names.iter().copied()), names) {
        (Some(near), _) => format!("{message}; did you mean `{near}`?"),
        (None, []) => format!("{message}, which has none"),
        (None, names) => format!("{message}; there are {}", shortened(names.iter(), ", ")),
    }
}

/// Returns the error of a missing argument.
fn missing(param: &Param, files: &Files) -> ArgumentError {
    let Param { name, ty, .. } = param;
    let message = format!("the parameter `%{name}` of type {ty} has no value");
    let mut help = format!("give one with {}, or a random one with `--random 0`", param.example());
    match nearest(name, files.names()) {
        Some(near) => help += &format!("; the files have `{near}`"),
        None if files.names().next().is_none() => {}
        None => {
            let names: Vec<&str> = files.names().collect();
            help += &format!("; the files have {}", shortened(names.iter(), ", "));
        }
    }
    param.error(message).help(help)
}

/// Returns the error of an argument of the wrong type.
fn misfit(param: &Param, is: &str) -> ArgumentError {
    let message = format!("`%{}` is of type {}, {is}", param.name, param.ty);
    param.error(message).help(format!("give it a value like {}", param.example()))
}

/// Lists the first of some names.
fn shortened(names: impl ExactSizeIterator<Item: Display>, between: &str) -> String {
    const SHOWN: usize = 12;
    let count = names.len();
    let shown: Vec<String> = names.take(SHOWN).map(|name| name.to_string()).collect();
    let mut text = shown.join(between);
    if count > SHOWN {
        text += &format!(" and {} more", count - SHOWN);
    }
    text
}

/// Returns the candidate most similar to `name`, if one is similar enough.
fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (operators::distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the constructors of a data type with the types of their fields.
fn constructors(adt: &AdtType, types: &ModuleTypes) -> Vec<(Name, Vec<Type>)> {
    let Some(known) = types.adt(adt.name()) else { return Vec::new() };
    let args = known.params.iter().zip(adt.args());
    let args: Vec<TypeArg> = args
        .map(|(param, arg)| {
            arg.as_argument(param.kind()).unwrap_or_else(|| TypeArg::Type(arg.clone()))
        })
        .collect();
    let fields = |constructor: &Constructor| match &constructor.ty {
        Type::Poly(poly) => match poly.open(&args).ty {
            Type::Func(func) => func.params().to_vec(),
            _ => Vec::new(),
        },
        _ => constructor.fields.clone(),
    };
    known.constructors.iter().map(|c| (c.name.clone(), fields(c))).collect()
}

fn no_tensors(dtype: DataType) -> String {
    format!("arrays of {dtype} are not supported")
}

/// Returns the parameters of a run.
fn parameters(view: &View<'_>) -> Vec<Param> {
    let param = |binding: LocalRef| {
        let binder = view.unit(binding.unit).binder(binding.binder);
        let name = binder.name.trim_start_matches('%').to_owned();
        Param { name, ty: view.binding_type(binding).clone(), range: view.binding_range(binding) }
    };
    view.parameters().into_iter().map(param).collect()
}

/// The parameter or tensor that a name refers to.
struct Place<'p> {
    param: &'p Param,
    /// The tensor of the parameter, for a name such as `i0`.
    leaf: Option<Leaf>,
}

/// A tensor of a tuple parameter, or a parameter.
struct Leaf {
    ty: Type,
    /// The position of the first tensor of the parameter.
    first: usize,
}

/// Finds the parameter with the name `name`, or the tensor at the position `i0`, `i1`, ….
fn place<'p>(params: &'p [Param], name: &str) -> Option<Place<'p>> {
    if let Some(param) = params.iter().find(|param| param.name == name) {
        return Some(Place { param, leaf: None });
    }
    let position = archives::position(name)?;
    let mut first = 0;
    for param in params {
        let count = leaves_of(&param.ty);
        if position < first + count {
            let ty = leaf(&param.ty, &mut (position - first))?.clone();
            return Some(Place { param, leaf: Some(Leaf { ty, first }) });
        }
        first += count;
    }
    None
}

fn leaves_of(ty: &Type) -> usize {
    match ty {
        Type::Tuple(fields) => fields.iter().map(leaves_of).sum(),
        _ => 1,
    }
}

/// Returns the type of a tensor in a tuple by its position.
fn leaf<'t>(ty: &'t Type, position: &mut usize) -> Option<&'t Type> {
    match ty {
        Type::Tuple(fields) => fields.iter().find_map(|field| leaf(field, position)),
        _ if *position == 0 => Some(ty),
        _ => {
            *position -= 1;
            None
        }
    }
}

/// Inserts the tensors of a value by their positions.
fn put_leaves(value: Value, ty: &Type, next: &mut usize, to: &mut HashMap<String, Value>) {
    match (&value, ty) {
        (Value::Tuple(_), Type::Tuple(types)) => {
            let fields = value.as_tuple().unwrap_or_default();
            for (field, ty) in fields.iter().zip(types.iter()) {
                put_leaves(field.clone(), ty, next, to);
            }
        }
        _ => {
            to.insert(format!("i{next}"), value);
            *next += 1;
        }
    }
}

/// Builds a value of the type `ty` from its tensors in order.
fn build(
    ty: &Type,
    tensor: &mut dyn FnMut(&Type) -> Result<Value, ArgumentError>,
) -> Result<Value, ArgumentError> {
    match ty {
        Type::Tuple(fields) => {
            let fields = fields.iter().map(|field| build(field, tensor));
            Ok(Value::tuple(fields.collect::<Result<Vec<Value>, ArgumentError>>()?))
        }
        _ => tensor(ty),
    }
}

/// Checks a value against a type.
///
/// # Errors
/// The description of the value: `the array given is Tensor[(2, 3), float32]`.
fn fit(value: Value, ty: &Type) -> Result<Value, String> {
    match (&value, ty) {
        (Value::Tensor(tensor), _) => {
            takes(ty, tensor.dtype(), tensor.shape())?;
            Ok(value)
        }
        (Value::Tuple(_), Type::Tuple(types)) => {
            let fields = value.as_tuple().unwrap_or_default();
            if fields.len() != types.len() {
                return Err(format!("{} is given", value.describe()));
            }
            let fields = fields.iter().zip(types.iter()).map(|(field, ty)| fit(field.clone(), ty));
            Ok(Value::tuple(fields.collect::<Result<Vec<Value>, String>>()?))
        }
        // These were built by their types.
        (Value::Data(_), Type::Adt(_))
        | (Value::Closure(_), Type::Func(_))
        | (Value::Ref(_), Type::Ref(_)) => Ok(value),
        (
            _,
            Type::Tensor(_)
            | Type::OpenTensor(_)
            | Type::Tuple(_)
            | Type::Adt(_)
            | Type::Func(_)
            | Type::Ref(_),
        ) => Err(format!("{} is given", value.describe())),
        _ => Ok(value),
    }
}

/// Checks that a type accepts tensors of a data type and a shape.
///
/// # Errors
/// The description of the tensor, with a hint: a text that follows a comma or a colon.
pub(crate) fn takes(ty: &Type, dtype: DataType, shape: &[usize]) -> Result<(), String> {
    let given = Type::tensor(shape.iter().map(|&size| Dim::known(size as i64)), dtype);
    let wrong = Err(format!("the array given is {given}"));
    let Type::Tensor(expected) = ty else {
        let is_other = matches!(ty, Type::Tuple(_) | Type::Adt(_) | Type::Func(_) | Type::Ref(_));
        return if is_other { wrong } else { Ok(()) };
    };
    let same = expected.shape.len() == shape.len()
        && expected.shape.iter().zip(shape).all(|(dim, &size)| {
            dim.as_known().is_none_or(|known| usize::try_from(known) == Ok(size))
        });
    if !same {
        return wrong;
    }
    if expected.dtype != dtype {
        // numpy has no bfloat16, and its default type is float64.
        let name = match expected.dtype {
            DataType::BFLOAT16 => "ml_dtypes.bfloat16".to_owned(),
            other => format!("\"{other}\""),
        };
        return Err(format!("the array given is {given}: save it as `x.astype({name})`"));
    }
    Ok(())
}

/// Reads an array as a value of a type. `bad` adds the place of the array to an error.
fn read(array: Array<'_>, ty: &Type, bad: impl Fn(Error) -> String) -> Result<Value, String> {
    takes(ty, array.dtype(), array.shape())?;
    let tensor = array.read().map_err(bad)?;
    interpreter::charge(tensor.bytes() as u64);
    Ok(tensor.into())
}
