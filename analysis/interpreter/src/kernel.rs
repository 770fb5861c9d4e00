//! Kernels, which compute operators.
//!
//! Each kernel is a row in the file of its [family](crate::families). The families have the names of
//! those of the operators.

use operators::{Operator, OperatorId};
use smallvec::SmallVec;
use types::{AttrValue, Attrs, DataType, State, Type, normal_axis};

use crate::{
    chain::Chain,
    fault::{Fault, FaultKind},
    fusion_rules::{ElementOp, FusionRules, ScalarOp},
    limits::Watch,
    overflow::Overflow,
    shared::SharedTensor,
    tensor::{Element, Tensor, count_of},
    value::Value,
};

/// The result of a kernel.
pub(crate) type Outcome = Result<Value, Fault>;

/// Returns the first element of the result of a call that overflows.
pub(crate) type OverflowRule = fn(&Call<'_>, &Tensor) -> Option<Overflow>;

/// The function that computes an operator.
pub(crate) struct Kernel {
    operator: OperatorId,
    body: Body,
    /// True if the kernel never reads elements, however many there are.
    is_light: bool,
    /// The fusion rules.
    pub(crate) fusion: FusionRules,
    /// Finds integer overflow, if calls can have some.
    pub(crate) overflow: Option<OverflowRule>,
}

/// The meaning of a kernel.
enum Body {
    /// Computes a call.
    Computes(fn(&mut Call<'_>) -> Outcome),
    /// Fails in every call, for this reason.
    Refuses(&'static str),
}

impl Kernel {
    /// Returns the operator that the kernel computes.
    pub(crate) fn operator(&self) -> &'static Operator {
        self.operator.operator()
    }

    /// Returns the reason why every call fails, if it does.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        match self.body {
            Body::Computes(_) => None,
            Body::Refuses(reason) => Some(reason),
        }
    }

    /// Computes a call.
    pub(crate) fn run(&self, call: &mut Call<'_>) -> Outcome {
        match self.body {
            Body::Computes(run) => run(call),
            Body::Refuses(reason) => {
                let fault = call.fault(format_args!("it cannot be run here: {reason}"));
                Err(Fault { kind: FaultKind::NoKernel, ..fault })
            }
        }
    }

    /// Returns true if a call takes no longer for large arguments.
    pub(crate) fn is_light(&self, args: &[Value]) -> bool {
        let is_pending = |tensor: &SharedTensor| tensor.pending().is_some();
        self.is_light || args.first().and_then(Value::shared).is_some_and(is_pending)
    }
}

/// Creates a row of a family: the kernel of the operator called `name`. A name that is not an
/// operator does not compile.
pub(crate) const fn kernel(name: &'static str, run: fn(&mut Call<'_>) -> Outcome) -> Kernel {
    row(name, Body::Computes(run), false)
}

/// Creates a row of a family: a kernel that never reads elements, such as one that only changes the
/// shape.
pub(crate) const fn light(name: &'static str, run: fn(&mut Call<'_>) -> Outcome) -> Kernel {
    row(name, Body::Computes(run), true)
}

/// Creates a row of a family: an operator that is only meaningful elsewhere. `reason` completes the
/// sentence `it cannot be run here`.
pub(crate) const fn absent(name: &'static str, reason: &'static str) -> Kernel {
    row(name, Body::Refuses(reason), false)
}

const fn row(name: &'static str, body: Body, is_light: bool) -> Kernel {
    let operator = OperatorId::of(name);
    Kernel {
        operator,
        body,
        is_light,
        fusion: FusionRules { step: None, scalar: None, epilogue: None },
        overflow: None,
    }
}

impl Kernel {
    /// Sets [`FusionRules::step`].
    pub(crate) const fn step(mut self, op: ElementOp) -> Kernel {
        self.fusion.step = Some(op);
        self
    }

    /// Sets [`FusionRules::scalar`].
    pub(crate) const fn scalar(mut self, op: ScalarOp) -> Kernel {
        self.fusion.scalar = Some(op);
        self
    }

    /// Sets [`Kernel::overflow`].
    pub(crate) const fn overflow(mut self, rule: OverflowRule) -> Kernel {
        self.overflow = Some(rule);
        self
    }

    /// Sets [`FusionRules::epilogue`].
    pub(crate) const fn epilogue(mut self, layout: &'static str) -> Kernel {
        self.fusion.epilogue = Some(layout);
        self
    }
}

/// A call of an operator.
pub(crate) struct Call<'a> {
    operator: &'static Operator,
    attrs: &'a Attrs,
    args: &'a mut [Value],
    inferred: &'a Type,
    watch: &'a Watch,
    chain: Option<&'a Chain>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        operator: &'static Operator,
        attrs: &'a Attrs,
        args: &'a mut [Value],
        inferred: &'a Type,
        watch: &'a Watch,
    ) -> Call<'a> {
        Call { operator, attrs, args, inferred, watch, chain: None }
    }

    /// Returns the same call with a chain that the kernel may apply to its result.
    pub(crate) fn with_epilogue(self, chain: Option<&'a Chain>) -> Call<'a> {
        Call { chain, ..self }
    }

    /// Returns the chain to be applied to the result, in single precision, if the result has this shape.
    /// A kernel that calls this must apply it.
    pub(crate) fn chain(&self, shape: &[usize]) -> Option<&'a Chain> {
        self.chain.filter(|chain| chain.claim(shape))
    }

    /// The attributes.
    pub(crate) fn attrs(&self) -> &'a Attrs {
        self.attrs
    }

    /// A failure of this call. The message follows the name of the operator: `index 7 is out of
    /// range`.
    pub(crate) fn fault(&self, message: impl std::fmt::Display) -> Fault {
        Fault::new(FaultKind::Operator, format!("`{}`: {message}", self.operator.name))
    }

    // Arguments.

    /// Returns the name of an argument in messages.
    fn arg_name(&self, position: usize) -> String {
        match self.operator.args.get(position) {
            Some(name) => format!("`{name}`"),
            None => format!("argument {position}"),
        }
    }

    /// An argument.
    pub(crate) fn arg(&self, position: usize) -> &Value {
        self.args.get(position).unwrap_or(&Value::Empty)
    }

    /// An argument as a tensor that may still have to be transposed.
    pub(crate) fn shared(&self, position: usize) -> Option<&SharedTensor> {
        self.arg(position).shared()
    }

    /// The first argument in another shape, if it is a matrix with a pending transpose that stays
    /// pending.
    pub(crate) fn reshaped_pending(&self, shape: &[usize]) -> Option<Value> {
        self.shared(0)?.reshaped_pending(shape).map(Value::Tensor)
    }

    /// Takes an argument out of the call: the kernel may work in place if it is the only owner.
    pub(crate) fn take(&mut self, position: usize) -> Value {
        match self.args.get_mut(position) {
            Some(value) => std::mem::replace(value, Value::Empty),
            None => Value::Empty,
        }
    }

    /// Replaces an argument, for a kernel that delegates to another one.
    pub(crate) fn put(&mut self, position: usize, value: Value) {
        if let Some(arg) = self.args.get_mut(position) {
            *arg = value;
        }
    }

    /// An argument that must be a tensor.
    pub(crate) fn tensor(&self, position: usize) -> Result<&Tensor, Fault> {
        match self.arg(position) {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(self.fault(format_args!(
                "{} is {}, not a tensor",
                self.arg_name(position),
                other.describe()
            ))),
        }
    }

    /// Takes an argument that must be a tensor out of the call.
    pub(crate) fn take_tensor(&mut self, position: usize) -> Result<Tensor, Fault> {
        match self.take(position) {
            Value::Tensor(tensor) => Ok(tensor.into_tensor()),
            other => Err(self.fault(format_args!(
                "{} is {}, not a tensor",
                self.arg_name(position),
                other.describe()
            ))),
        }
    }

    /// The data type of an argument that must be a tensor.
    pub(crate) fn dtype(&self, position: usize) -> Result<DataType, Fault> {
        match self.shared(position) {
            Some(tensor) => Ok(tensor.dtype()),
            None => self.tensor(position).map(Tensor::dtype),
        }
    }

    /// The fields of an argument that must be a tuple of tensors.
    pub(crate) fn tensors(&self, position: usize) -> Result<Vec<&Tensor>, Fault> {
        let fields = match self.arg(position) {
            Value::Tuple(_) => self.arg(position).as_tuple().unwrap_or_default(),
            // Like TVM, accepts a single tensor in place of a tuple.
            value @ Value::Tensor(_) => std::slice::from_ref(value),
            other => {
                return Err(self.fault(format_args!(
                    "{} is {}, not a tuple of tensors",
                    self.arg_name(position),
                    other.describe()
                )));
            }
        };
        let tensor = |value: &'_ Value| value.as_tensor().is_some();
        if !fields.iter().all(tensor) {
            return Err(self.fault(format_args!(
                "{} has a field that is not a tensor",
                self.arg_name(position)
            )));
        }
        Ok(fields.iter().filter_map(Value::as_tensor).collect())
    }

    /// The elements of an integer tensor argument: sizes, positions, axes.
    pub(crate) fn numbers(&self, position: usize) -> Result<Vec<i64>, Fault> {
        self.tensor(position).map(Tensor::to_i64s)
    }

    // Attributes.

    fn bad_attr(&self, name: &str) -> Fault {
        self.fault(format_args!("`{name}` has no usable value"))
    }

    /// The integer attribute `name`.
    pub(crate) fn int(&self, name: &str) -> Result<i64, Fault> {
        match self.attrs.get(name) {
            AttrValue::Float(number) => Ok(number.0 as i64),
            value => value.as_int().ok_or_else(|| self.bad_attr(name)),
        }
    }

    /// The integer attribute `name`, if it has a value.
    pub(crate) fn optional_int(&self, name: &str) -> Result<Option<i64>, Fault> {
        if self.attrs.has(name) { self.int(name).map(Some) } else { Ok(None) }
    }

    /// The list of integers `name`; a number is a list of one, `None` an empty list.
    pub(crate) fn ints(&self, name: &str) -> Result<SmallVec<[i64; 6]>, Fault> {
        let int = |value: &AttrValue| match value {
            AttrValue::Float(number) => Ok(number.0 as i64),
            value => value.as_int().ok_or_else(|| self.bad_attr(name)),
        };
        match self.attrs.get(name) {
            AttrValue::None => Ok(SmallVec::new()),
            AttrValue::List(values) => values.iter().map(int).collect(),
            value => Ok(SmallVec::from_iter([int(value)?])),
        }
    }

    /// The list of integers `name`, if it has a value.
    pub(crate) fn optional_ints(&self, name: &str) -> Result<Option<SmallVec<[i64; 6]>>, Fault> {
        if self.attrs.has(name) { self.ints(name).map(Some) } else { Ok(None) }
    }

    /// Like `ints`, with a single number repeated for all of `count` axes.
    pub(crate) fn ints_for(&self, name: &str, count: usize) -> Result<SmallVec<[i64; 6]>, Fault> {
        let values = self.ints(name)?;
        match values.as_slice() {
            [one] => Ok(SmallVec::from_elem(*one, count)),
            many if many.len() >= count => Ok(SmallVec::from_slice(&many[..count])),
            many => {
                Err(self.fault(format_args!("`{name}` has {} values for {count} axes", many.len())))
            }
        }
    }

    /// The number `name`.
    pub(crate) fn float(&self, name: &str) -> Result<f64, Fault> {
        self.attrs.float(name).ok_or_else(|| self.bad_attr(name))
    }

    /// The list of numbers `name`; `None` is an empty list.
    pub(crate) fn floats(&self, name: &str) -> Result<Vec<f64>, Fault> {
        match self.attrs.get(name) {
            AttrValue::None => Ok(Vec::new()),
            AttrValue::List(values) => {
                let number =
                    |value: &AttrValue| value.as_float().ok_or_else(|| self.bad_attr(name));
                values.iter().map(number).collect()
            }
            value => Ok(vec![value.as_float().ok_or_else(|| self.bad_attr(name))?]),
        }
    }

    /// The boolean `name`.
    pub(crate) fn bool(&self, name: &str) -> bool {
        self.attrs.bool(name)
    }

    /// The string `name`; empty if it is not given.
    pub(crate) fn str(&self, name: &str) -> &'a str {
        self.attrs.str(name)
    }

    /// Resolves an axis of a tensor of `rank` axes; negative ones count from the end.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Result<usize, Fault> {
        normal_axis(axis, rank)
            .ok_or_else(|| self.fault(format_args!("axis {axis} is out of range for {rank} axes")))
    }

    // The result.

    /// The type of the result. If inference does not know all sizes, the operator's relation is
    /// evaluated again with the types of the actual arguments. Sizes that depend on the elements of
    /// arguments (`dyn.reshape`) stay `?`.
    pub(crate) fn result_type(&self) -> Result<Type, Fault> {
        if is_concrete(self.inferred) {
            return Ok(self.inferred.clone());
        }
        let Some((name, solve)) = self.operator.rule else {
            return Err(self.fault("its type relation is unknown"));
        };
        let relation = types::Relation {
            name,
            operator: self.operator.name,
            solve,
            attrs: self.attrs.clone(),
        };
        let inputs: SmallVec<[Type; 4]> = self.args.iter().map(Value::ty).collect();
        let (state, mut all) = types::probe(&relation, self.operator.args, &inputs);
        match state {
            State::Failed(reason) | State::Undecided(reason) => {
                Err(Fault::new(FaultKind::Operator, reason.message.to_string()))
            }
            _ => Ok(all.pop().unwrap_or(Type::Error)),
        }
    }

    /// The result, if its type has no elements. The kernel is not needed, and might iterate over an
    /// axis of size 2^62 for nothing.
    pub(crate) fn empty_result(&self) -> Option<Value> {
        if is_concrete(self.inferred) {
            return without_elements(self.inferred);
        }
        // Evaluating the relation again pays off only for small calls.
        let is_empty = |value: &Value| value.shared().is_some_and(SharedTensor::is_empty);
        let has_empty = |value: &Value| {
            is_empty(value) || value.as_tuple().unwrap_or_default().iter().any(is_empty)
        };
        if !self.args.iter().any(has_empty) {
            return None;
        }
        without_elements(&self.result_type().ok()?)
    }

    /// Shape and data type of the result, which must be a tensor of known sizes. Must be called
    /// before arguments are taken out of the call.
    pub(crate) fn result(&self) -> Result<(Vec<usize>, DataType), Fault> {
        let ty = self.result_type()?;
        self.sized(&ty)
    }

    fn sized(&self, ty: &Type) -> Result<(Vec<usize>, DataType), Fault> {
        let sized = ty.as_tensor().and_then(|tensor| Some((tensor.lengths()?, tensor.dtype)));
        let Some((shape, dtype)): Option<(Vec<usize>, _)> = sized else {
            return Err(
                self.fault(format_args!("the result has the type {ty}, whose size is unknown"))
            );
        };
        self.allow(&shape, dtype)?;
        Ok((shape, dtype))
    }

    /// The data type of the result, if its sizes are not needed.
    pub(crate) fn result_dtype(&self) -> Result<DataType, Fault> {
        if let Some(tensor) = self.inferred.as_tensor() {
            return Ok(tensor.dtype);
        }
        match self.result_type()?.as_tensor() {
            Some(tensor) => Ok(tensor.dtype),
            None => Err(self.fault("the data type of the result is unknown")),
        }
    }

    /// Checks that there can be a tensor of this size. Products of sizes of an allowed shape do not
    /// overflow.
    pub(crate) fn allow(&self, shape: &[usize], dtype: DataType) -> Result<(), Fault> {
        let count = count_of(shape).map(|count| count as u64);
        match count.and_then(|count| count.checked_mul(dtype.bytes())) {
            Some(bytes) => self.watch.fits(bytes),
            None => Err(Fault::new(
                FaultKind::Memory,
                format!(
                    "`{}`: a result of shape {shape:?} does not fit into memory",
                    self.operator.name
                ),
            )),
        }
    }

    /// A tensor of elements in row-major order.
    pub(crate) fn build<T: Element>(&self, shape: &[usize], elements: Vec<T>) -> Outcome {
        let count = elements.len();
        match T::tensor(shape, elements) {
            Some(tensor) => Ok(tensor.into()),
            None => {
                Err(self.fault(format_args!("{count} elements do not have the shape {shape:?}")))
            }
        }
    }

    /// A tensor with another shape.
    pub(crate) fn reshaped(&self, tensor: Tensor, shape: &[usize]) -> Result<Tensor, Fault> {
        let count = tensor.len();
        tensor.reshape(shape).ok_or_else(|| {
            self.fault(format_args!("{count} elements do not have the shape {shape:?}"))
        })
    }

    /// The failure that the operator has no kernel for elements of this type.
    pub(crate) fn unsupported<T>(&self, dtype: DataType) -> Result<T, Fault> {
        Err(Fault::new(
            FaultKind::NoKernel,
            format!("`{}` does not support {dtype}", self.operator.name),
        ))
    }
}

/// The value of a type whose tensors all have no elements; `None` if one of them has some, or there
/// are no tensors.
fn without_elements(ty: &Type) -> Option<Value> {
    match ty {
        Type::Tensor(tensor) => {
            let shape: SmallVec<[usize; 6]> = tensor.lengths()?;
            let is_empty = shape.contains(&0);
            is_empty.then(|| Tensor::zeros(tensor.dtype, &shape))?.map(Value::from)
        }
        Type::Tuple(fields) if !fields.is_empty() => {
            let fields: Option<Vec<Value>> = fields.iter().map(without_elements).collect();
            fields.map(Value::tuple)
        }
        _ => None,
    }
}

/// Returns true if every size in a type is known.
pub(crate) fn is_concrete(ty: &Type) -> bool {
    match ty {
        Type::Tensor(tensor) => tensor.shape.iter().all(|dim| dim.as_known().is_some()),
        Type::Tuple(fields) => fields.iter().all(is_concrete),
        _ => false,
    }
}
