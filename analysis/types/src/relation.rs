//! Type relations: what an operator demands of its argument types and what it makes of them.
//!
//! A relation is a function over one call. It looks at the types of the arguments, assigns what
//! follows from them, and answers: solved, not yet, undecided, or failed with a reason. It runs
//! again when a type that it asked for becomes known.

use std::{fmt, hash::Hash};

use smallvec::SmallVec;

use crate::{
    Attrs, Conflict, DTypeTerm, DataType, Dim, NodeId, Table, TensorType, TupleType, Type,
};

/// The rule behind an operator.
pub type RelationFn = fn(&mut Call<'_>) -> Outcome;

/// `Ok` when the relation holds and everything it determines is assigned.
pub type Outcome = Result<(), Halt>;

/// Why a relation is not solved.
#[derive(Debug)]
pub enum Halt {
    /// A type that the relation needs is not known yet.
    NotYet,
    /// The relation neither holds nor fails in TVM: it gives no result, and the call is accepted
    /// where something else decides its type. The reason says what kept it.
    Undecided(Box<Reason>),
    /// The relation does not hold.
    Failed(Box<Reason>),
    /// An argument is wrong already; there is nothing to add.
    Silent,
}

/// A relation with its attributes, as it stands in a type.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The relation's name: `Broadcast`.
    pub name: &'static str,
    /// The operator that brought it: `add`.
    pub operator: &'static str,
    /// The rule.
    pub solve: RelationFn,
    /// Attributes of the call.
    pub attrs: Attrs,
}

impl PartialEq for Relation {
    fn eq(&self, other: &Relation) -> bool {
        self.name == other.name && self.operator == other.operator && self.attrs == other.attrs
    }
}

impl Eq for Relation {}

impl Hash for Relation {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.name, self.operator, &self.attrs).hash(state);
    }
}

/// A relation between types that must hold wherever the function type is used.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constraint {
    /// The rule and its attributes.
    pub relation: Relation,
    /// The types related: the arguments, then the result.
    pub args: Box<[Type]>,
}

/// What made a relation fail, in terms of the call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// Stable code of the diagnostic.
    pub code: &'static str,
    /// What is wrong, in one sentence that stands alone.
    pub message: String,
    /// The rule in words, with the numbers of this call. May be empty.
    pub rule: String,
    /// What to mark, the most guilty first.
    pub marks: SmallVec<[Mark; 2]>,
    /// What to write instead.
    pub help: Option<String>,
    /// A change of one attribute that would satisfy the relation.
    pub fix: Option<AttrFix>,
    /// Where two types clash, what differs in them.
    pub clash: Vec<String>,
}

/// A place in a call that a reason points at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Which part of the call.
    pub place: Place,
    /// Which axis of its shape.
    pub axis: Option<usize>,
    /// What is there: `64 input channels`.
    pub label: String,
}

/// A part of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// An argument, by position.
    Argument(usize),
    /// A field of an argument that is a tuple.
    Field(usize, usize),
    /// An attribute, by name.
    Attribute(&'static str),
    /// What the surroundings expect of the result.
    Result,
    /// The call as a whole.
    Operator,
}

/// A new value for an attribute, as it would be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttrFix {
    /// The attribute.
    pub name: &'static str,
    /// Its new value in Relay.
    pub value: String,
}

impl Reason {
    /// A reason with a code and its first sentence.
    pub fn new(code: &'static str, message: impl Into<String>) -> Reason {
        Reason {
            code,
            message: message.into(),
            rule: String::new(),
            marks: SmallVec::new(),
            help: None,
            fix: None,
            clash: Vec::new(),
        }
    }

    /// Adds the rule in words.
    pub fn rule(mut self, rule: impl Into<String>) -> Reason {
        self.rule = rule.into();
        self
    }

    /// Marks an argument.
    pub fn argument(self, position: usize, label: impl Into<String>) -> Reason {
        self.mark(Place::Argument(position), None, label)
    }

    /// Marks an axis of an argument.
    pub fn axis(self, position: usize, axis: usize, label: impl Into<String>) -> Reason {
        self.mark(Place::Argument(position), Some(axis), label)
    }

    /// Marks an attribute.
    pub fn attribute(self, name: &'static str, label: impl Into<String>) -> Reason {
        self.mark(Place::Attribute(name), None, label)
    }

    /// Marks any part of the call.
    pub fn mark(mut self, place: Place, axis: Option<usize>, label: impl Into<String>) -> Reason {
        self.marks.push(Mark { place, axis, label: label.into() });
        self
    }

    /// Adds what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Reason {
        self.help = Some(help.into());
        self
    }

    /// Adds a new value for an attribute that would satisfy the relation.
    pub fn fix(mut self, name: &'static str, value: impl Into<String>) -> Reason {
        self.fix = Some(AttrFix { name, value: value.into() });
        self
    }

    /// The relation fails.
    pub fn fail<T>(self) -> Result<T, Halt> {
        Err(Halt::Failed(Box::new(self)))
    }

    /// The relation gives no result, which TVM accepts where the type is decided elsewhere.
    pub fn undecided<T>(self) -> Result<T, Halt> {
        Err(Halt::Undecided(Box::new(self)))
    }
}

/// One call of an operator while its relation runs.
pub struct Call<'a> {
    pub(crate) table: &'a mut Table,
    pub(crate) args: &'a [NodeId],
    pub(crate) relation: &'a Relation,
    /// Names of the operator's arguments, for messages.
    pub(crate) names: &'static [&'static str],
    /// Something was assigned.
    pub(crate) progress: bool,
    /// Why the operator cannot compute what its relation allows.
    pub(crate) caveat: Option<Box<Reason>>,
}

impl<'a> Call<'a> {
    /// The operator's name: `nn.dense`.
    pub fn operator(&self) -> &'static str {
        self.relation.operator
    }

    /// Goes on after a check that TVM's relation leaves out, though the operator cannot compute a
    /// call that fails it: `nn.dense(%x, %w, units=None)` does not compare the sizes that are summed
    /// over. The first such reason is reported if the relation holds.
    pub fn lenient(&mut self, check: Outcome) -> Outcome {
        match check {
            Err(Halt::Failed(reason)) => {
                self.caveat.get_or_insert(reason);
                Ok(())
            }
            other => other,
        }
    }

    /// The attributes.
    pub fn attrs(&self) -> &'a Attrs {
        &self.relation.attrs
    }

    /// The number of arguments, the result not counted.
    pub fn arity(&self) -> usize {
        self.args.len().saturating_sub(1)
    }

    /// How messages name an argument: `` `weight` ``.
    pub fn name(&self, position: usize) -> String {
        match self.names.get(position) {
            Some(name) => format!("`{name}`"),
            None => format!("argument {position}"),
        }
    }

    /// The type of an argument, or of the result at position [`Call::arity`], as far as it is
    /// known.
    pub fn ty(&self, position: usize) -> Type {
        self.args.get(position).map_or(Type::Error, |&node| self.table.resolve(node))
    }

    /// Returns true if the argument at `position` is known to be a tensor, without looking further.
    pub fn is_tensor(&self, position: usize) -> bool {
        let leaf = self.args.get(position).and_then(|&node| self.table.leaf(node));
        matches!(leaf, Some(Type::Tensor(_)))
    }

    /// The argument at `position` as a tensor. Not yet, where it is not known; undecided, where it
    /// is something else (TVM's relations answer "don't know" there).
    pub fn tensor(&self, position: usize) -> Result<std::sync::Arc<TensorType>, Halt> {
        self.tensor_or(position, false)
    }

    /// As [`Call::tensor`], where TVM refuses anything but a tensor.
    pub fn need_tensor(&self, position: usize) -> Result<std::sync::Arc<TensorType>, Halt> {
        self.tensor_or(position, true)
    }

    fn tensor_or(&self, position: usize, strict: bool) -> Result<std::sync::Arc<TensorType>, Halt> {
        match self.ty(position) {
            Type::Tensor(tensor) => Ok(tensor),
            Type::Var(_) | Type::OpenTensor(_) => Err(Halt::NotYet),
            // Inside a generic function the rule is checked where the function is called.
            Type::Param(_) | Type::Bound(_) => Err(Halt::NotYet),
            Type::Error | Type::Hole => Err(Halt::Silent),
            other if other.has_error() => Err(Halt::Silent),
            other => {
                let reason = self.not_a(position, "a tensor", &other);
                if strict { reason.fail() } else { reason.undecided() }
            }
        }
    }

    /// The argument at `position` as a tuple of tensors.
    pub fn tensors(&self, position: usize) -> Result<Vec<std::sync::Arc<TensorType>>, Halt> {
        let fields = self.tuple(position)?;
        let field = |(k, field): (usize, &Type)| match field {
            Type::Tensor(tensor) => Ok(tensor.clone()),
            Type::Var(_) | Type::OpenTensor(_) | Type::Param(_) => Err(Halt::NotYet),
            Type::Error => Err(Halt::Silent),
            other => Reason::new(
                "argument-type",
                format!(
                    "`{}`: field {k} of {} is {}, not a tensor",
                    self.operator(),
                    self.name(position),
                    describe(other)
                ),
            )
            .mark(Place::Field(position, k), None, describe(other))
            .fail(),
        };
        fields.iter().enumerate().map(field).collect()
    }

    /// The argument at `position` as a tuple.
    pub fn tuple(&self, position: usize) -> Result<std::sync::Arc<TupleType>, Halt> {
        match self.ty(position) {
            Type::Tuple(fields) => Ok(fields),
            Type::Var(_) | Type::Param(_) => Err(Halt::NotYet),
            Type::Error => Err(Halt::Silent),
            other => self.not_a(position, "a tuple of tensors", &other).fail(),
        }
    }

    fn not_a(&self, position: usize, wanted: &str, found: &Type) -> Reason {
        Reason::new(
            "argument-type",
            format!(
                "`{}` wants {wanted} as {}, not {}",
                self.operator(),
                self.name(position),
                describe(found)
            ),
        )
        .argument(position, describe(found))
    }

    /// Returns true if the argument at `position` is a tuple with a field `index`: nothing where its
    /// type is not known. The other fields are not looked at.
    pub fn has_field(&mut self, position: usize, index: usize) -> Option<bool> {
        let &node = self.args.get(position)?;
        if self.table.is_unknown(node) {
            return None;
        }
        Some(matches!(self.table.field(node, index), Some(Some(_))))
    }

    /// Gives a literal without suffix among two arguments the data type of the other one.
    pub fn literals_like(&mut self, a: usize, b: usize) {
        for (literal, other) in [(a, b), (b, a)] {
            let Type::OpenTensor(open) = self.ty(literal) else { continue };
            let dtype = match (&open.dtype, self.ty(other)) {
                (DTypeTerm::Var(_), Type::Tensor(tensor)) => tensor.dtype,
                (DTypeTerm::Var(_), Type::OpenTensor(other)) => match other.dtype {
                    DTypeTerm::Known(dtype) => dtype,
                    _ => continue,
                },
                _ => continue,
            };
            self.progress |= self.table.decide_dtype(self.args[literal], dtype);
            return;
        }
        if let (Type::OpenTensor(x), Type::OpenTensor(y)) = (self.ty(a), self.ty(b)) {
            self.table.same_dtype(&x.dtype, &y.dtype);
        }
    }

    /// Says that the argument at `position` (or the result) has type `ty`.
    pub fn assign(&mut self, position: usize, ty: impl Into<Type>) -> Outcome {
        let ty = ty.into();
        let Some(&node) = self.args.get(position) else { return Ok(()) };
        let new = self.table.import(&ty);
        self.unify(position, node, new)
    }

    /// Says that the arguments at `a` and `b` have one and the same type.
    pub fn assign_same(&mut self, a: usize, b: usize) -> Outcome {
        let (Some(&x), Some(&y)) = (self.args.get(a), self.args.get(b)) else { return Ok(()) };
        self.unify(a, x, y)
    }

    /// Says that the result has type `ty`.
    ///
    /// TVM computes sizes and does not look at them: a result with a size below 0 has a type, and no
    /// elements that could be computed.
    pub fn output(&mut self, ty: impl Into<Type>) -> Outcome {
        let ty = ty.into();
        let check = self.has_sizes(&ty);
        self.lenient(check)?;
        self.assign(self.arity(), ty)
    }

    /// Checks that no size of a result is below 0.
    fn has_sizes(&self, ty: &Type) -> Outcome {
        let below_0 = |ty: &Type| {
            let mut sizes = ty.as_tensor()?.shape.iter().map(Dim::as_known).enumerate();
            sizes.find_map(|(axis, size)| Some((axis, size.filter(|&size| size < 0)?)))
        };
        let (of, (axis, size)) = match ty.as_tuple() {
            Some(fields) => {
                let mut fields = fields.iter().enumerate();
                match fields.find_map(|(k, field)| Some((k, below_0(field)?))) {
                    Some((k, found)) => (format!("field {k} of the result"), found),
                    None => return Ok(()),
                }
            }
            None => match below_0(ty) {
                Some(found) => ("the result".to_owned(), found),
                None => return Ok(()),
            },
        };
        let message = format!("`{}`: axis {axis} of {of} would have size {size}", self.operator());
        Reason::new("shape-mismatch", message)
            .rule(format!("no size is below 0, and the result is of type `{ty}`"))
            .mark(Place::Operator, None, format!("size {size}"))
            .fail()
    }

    /// Says that the result is a tensor.
    pub fn output_tensor(
        &mut self,
        shape: impl IntoIterator<Item = Dim>,
        dtype: DataType,
    ) -> Outcome {
        self.output(TensorType::new(shape, dtype))
    }

    /// Says that the result has the type of the argument at `position`, and is one with it.
    pub fn output_same(&mut self, position: usize) -> Outcome {
        self.assign_same(self.arity(), position)
    }

    /// Says that the argument at `a` has the type of field `k` of the tuple at `b`.
    pub fn assign_field(&mut self, a: usize, b: usize, k: usize) -> Outcome {
        let (Some(&x), Some(&y)) = (self.args.get(a), self.args.get(b)) else { return Ok(()) };
        let Some(Some(field)) = self.table.field(y, k) else { return Ok(()) };
        self.unify(a, x, field)
    }

    fn unify(&mut self, position: usize, left: NodeId, right: NodeId) -> Outcome {
        self.progress = true;
        let Err(conflict) = self.table.unify(left, right) else { return Ok(()) };
        let (found, demanded) = (self.table.resolve(left), self.table.resolve(right));
        self.conflict(position, &found, &demanded, &conflict).fail()
    }

    fn conflict(&self, position: usize, found: &Type, demanded: &Type, at: &Conflict) -> Reason {
        let operator = self.operator();
        if position == self.arity() {
            let message = format!("`{operator}` gives {demanded}, but {found} is expected here");
            let reason = Reason { clash: at.clash(), ..Reason::new(at.code(), message) };
            return reason.mark(Place::Result, at.axis(), format!("{found} expected"));
        }
        let name = self.name(position);
        let axis = at.axis().map_or(String::new(), |axis| format!(" (axis {axis} differs)"));
        Reason::new(
            at.code(),
            format!("`{operator}`: {name} must be {demanded}, but it is {found}{axis}"),
        )
        .mark(Place::Argument(position), at.axis(), format!("{found}"))
    }
}

/// A type in a sentence.
pub fn describe(ty: &Type) -> String {
    match ty {
        Type::Tensor(t) if t.shape.is_empty() => format!("a scalar of type `{}`", t.dtype),
        Type::Tensor(_) | Type::OpenTensor(_) => format!("a tensor of type `{ty}`"),
        Type::Tuple(fields) if fields.is_empty() => "the empty tuple `()`".into(),
        Type::Tuple(_) => format!("a tuple of type `{ty}`"),
        Type::Func(_) | Type::Poly(_) => format!("a function of type `{ty}`"),
        Type::Ref(_) => format!("a reference of type `{ty}`"),
        Type::Adt(_) => format!("a value of type `{ty}`"),
        Type::Param(param) => format!("a value of the type parameter `{param}`"),
        Type::Bound(_) | Type::Var(_) | Type::Hole | Type::Error => {
            "of a type that is not known".into()
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
