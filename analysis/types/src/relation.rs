//! Type relations: the typing rules of operators.
//!
//! A relation is a function over one call. It reads the types of the arguments, assigns the types
//! that follow from them, and returns whether it holds. For `nn.dense(%x, %w, units=4)` it assigns
//! the type of `%w` once the type of `%x` is known, and the type of the result. It returns
//! [`Halt::NotYet`] if it needs a type that is unknown, and is run again when that changes.

use std::fmt;

use smallvec::SmallVec;

use crate::{
    AttrField, AttrType, AttrValue, Attrs, Code, Conflict, DTypeTerm, DataType, Dim, Fact, Flags,
    NodeId, Param, RelationKey, Shape, ShapeTerm, Table, TensorType, Text, TupleType, Type, text,
};

/// The typing rule of an operator.
pub type RelationFn = fn(&mut Call<'_>) -> Outcome;

/// The result of a relation: `Ok` if it holds and all types that it determines are assigned.
pub type Outcome = Result<(), Halt>;

/// The reasons why a relation is not solved.
#[derive(Debug)]
pub enum Halt {
    /// A required type is unknown.
    NotYet,
    /// TVM's relation returns neither success nor failure. The call is accepted if its type is
    /// determined elsewhere, and otherwise reported with the reason.
    Undecided(Box<Reason>),
    /// The relation does not hold.
    Failed(Box<Reason>),
    /// An argument has the error type, which was reported elsewhere.
    Silent,
}

/// A relation with the attributes of a call.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The relation's name: `Broadcast`.
    pub name: &'static str,
    /// The operator of the call: `add`.
    pub operator: &'static str,
    /// The typing rule.
    pub solve: RelationFn,
    /// The attributes of the call.
    pub attrs: Attrs,
}

impl Relation {
    /// Returns the identity of the relation, which types refer to it by.
    pub fn key(&self) -> RelationKey {
        RelationKey { name: self.name, operator: self.operator, attrs: self.attrs.clone() }
    }
}

/// The reason for a failed relation, from which a diagnostic is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The code of the diagnostic.
    pub code: Code,
    /// The message: one sentence without context.
    pub message: Text,
    /// The rule with the numbers of this call, or an empty text.
    pub rule: Text,
    /// The labelled parts of the call, the most likely cause first.
    pub marks: SmallVec<[Mark; 2]>,
    /// A suggestion.
    pub help: Option<Text>,
    /// A change of one attribute that would satisfy the relation.
    pub fix: Option<AttrFix>,
    /// The argument whose first field would satisfy the relation: `nn.relu(%bn)`, where `%bn` is the results of
    /// `nn.batch_norm`.
    pub first_field_of: Option<usize>,
    /// The differing parts of two types that do not unify.
    pub clash: Vec<Fact>,
}

/// A labelled part of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The part.
    pub place: Place,
    /// The axis of its shape.
    pub axis: Option<usize>,
    /// The fact that it is labelled with: `64 input channels`.
    pub fact: Fact,
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
    /// The type expected of the result by its context.
    Result,
    /// The whole call.
    Operator,
}

/// A new value for an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttrFix {
    /// The attribute.
    pub name: &'static str,
    /// The value.
    pub value: AttrValue,
}

impl Reason {
    /// Creates a reason with a code and a message.
    pub fn new(code: Code, message: impl Into<Text>) -> Reason {
        Reason {
            code,
            message: message.into(),
            rule: Text::default(),
            marks: SmallVec::new(),
            help: None,
            fix: None,
            first_field_of: None,
            clash: Vec::new(),
        }
    }

    /// Adds the rule.
    pub fn rule(mut self, rule: impl Into<Text>) -> Reason {
        self.rule = rule.into();
        self
    }

    /// Marks an argument.
    pub fn argument(self, position: usize, fact: impl Into<Fact>) -> Reason {
        self.mark(Place::Argument(position), None, fact)
    }

    /// Marks an axis of an argument.
    pub fn axis(self, position: usize, axis: usize, fact: impl Into<Fact>) -> Reason {
        self.mark(Place::Argument(position), Some(axis), fact)
    }

    /// Marks an attribute.
    pub fn attribute(self, name: &'static str, fact: impl Into<Fact>) -> Reason {
        self.mark(Place::Attribute(name), None, fact)
    }

    /// Marks any part of the call.
    pub fn mark(mut self, place: Place, axis: Option<usize>, fact: impl Into<Fact>) -> Reason {
        self.marks.push(Mark { place, axis, fact: fact.into() });
        self
    }

    /// Adds a suggestion.
    pub fn help(mut self, help: impl Into<Text>) -> Reason {
        self.help = Some(help.into());
        self
    }

    /// Adds a new value for an attribute that would satisfy the relation.
    pub fn fix(mut self, name: &'static str, value: impl Into<AttrValue>) -> Reason {
        self.fix = Some(AttrFix { name, value: value.into() });
        self
    }

    /// Returns the reason as a failure.
    pub fn fail<T>(self) -> Result<T, Halt> {
        Err(Halt::Failed(Box::new(self)))
    }

    /// Returns the reason as [`Halt::Undecided`].
    pub fn undecided<T>(self) -> Result<T, Halt> {
        Err(Halt::Undecided(Box::new(self)))
    }
}

/// A call of an operator, as its relation sees it.
pub struct Call<'a> {
    pub(crate) table: &'a mut Table,
    pub(crate) args: &'a [NodeId],
    pub(crate) relation: &'a Relation,
    /// Names of the operator's arguments, for messages.
    pub(crate) names: &'static [&'static str],
    /// Set if the relation has assigned a type.
    pub(crate) progress: bool,
    /// True if the relation holds despite a failure of a [`Call::lenient`] check.
    pub(crate) keeps_caveats: bool,
    /// The first such failure.
    pub(crate) caveat: Option<Box<Reason>>,
    /// The type that the result had before the relation assigned one with `?` for known sizes.
    pub(crate) promise: Option<Type>,
}

impl<'a> Call<'a> {
    /// Returns the operator's name: `nn.dense`.
    pub fn operator(&self) -> &'static str {
        self.relation.operator
    }

    /// Makes a check that TVM's relation omits although the operator cannot compute a call that
    /// fails it: for `nn.dense(%x, %w, units=None)` TVM does not compare the sizes of the reduced
    /// axis. The relation fails, except under TVM's rules ([`Solver::keep_caveats`]), which reject
    /// nothing that TVM accepts: there the first reason is reported if the relation holds.
    ///
    /// [`Solver::keep_caveats`]: crate::Solver::keep_caveats
    pub fn lenient(&mut self, check: Outcome) -> Outcome {
        match check {
            Err(Halt::Failed(reason)) if self.keeps_caveats => {
                self.caveat.get_or_insert(reason);
                Ok(())
            }
            other => other,
        }
    }

    /// Returns the attributes.
    pub fn attrs(&self) -> &'a Attrs {
        &self.relation.attrs
    }

    /// Returns the number of arguments, without the result.
    pub fn arity(&self) -> usize {
        self.args.len().saturating_sub(1)
    }

    /// Returns the name of an argument for messages: `` `weight` ``.
    pub fn name(&self, position: usize) -> Fact {
        Fact::Argument(position, self.names.get(position).copied())
    }

    /// Returns the current type of an argument, or of the result at position [`Call::arity`].
    pub fn ty(&self, position: usize) -> Type {
        self.args.get(position).map_or(Type::Error, |&node| self.table.resolve(node))
    }

    /// Returns true if the argument at `position` is known to be a tensor. Cheaper than
    /// [`Call::ty`], which resolves the whole type.
    pub fn is_tensor(&self, position: usize) -> bool {
        let leaf = self.args.get(position).and_then(|&node| self.table.leaf(node));
        matches!(leaf, Some(Type::Tensor(_)))
    }

    /// Returns the argument at `position` as a tensor, or [`Halt::NotYet`] if its type is unknown.
    /// Any other type is [`Halt::Undecided`], because most of TVM's relations return no result
    /// then.
    pub fn tensor(&self, position: usize) -> Result<std::sync::Arc<TensorType>, Halt> {
        self.tensor_or(position, false)
    }

    /// Like [`Call::tensor`], but fails for other types: some of TVM's relations reject them.
    pub fn require_tensor(&self, position: usize) -> Result<std::sync::Arc<TensorType>, Halt> {
        self.tensor_or(position, true)
    }

    /// Returns the shape of the argument at `position`, which must be a tensor. Unlike
    /// [`Call::require_tensor`], this does not wait for the data type: in `cast(96, "float32")` the
    /// one of the literal has no influence on the result.
    pub fn require_shape(&self, position: usize) -> Result<Shape, Halt> {
        match self.open_shape(position) {
            Some(shape) => Ok(shape),
            None => Ok(self.require_tensor(position)?.shape.clone()),
        }
    }

    /// Returns the shape of the argument at `position` if its data type is unknown: of a literal.
    pub fn open_shape(&self, position: usize) -> Option<Shape> {
        match self.ty(position) {
            Type::OpenTensor(open) => match &open.shape {
                ShapeTerm::Dims(shape) => Some(shape.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    fn tensor_or(&self, position: usize, strict: bool) -> Result<std::sync::Arc<TensorType>, Halt> {
        match self.ty(position) {
            Type::Tensor(tensor) => Ok(tensor),
            Type::Var(_) | Type::OpenTensor(_) => Err(Halt::NotYet),
            // In a generic function the rule is checked at the calls of that function.
            Type::Param(_) | Type::Bound(_) => Err(Halt::NotYet),
            Type::Error | Type::Hole => Err(Halt::Silent),
            other if other.has_error() => Err(Halt::Silent),
            other => {
                let reason = self.no_tensor(position, &other);
                if strict { reason.fail() } else { reason.undecided() }
            }
        }
    }

    /// Notes that the argument at `position` is a tuple, of which the operator computes nothing although TVM's
    /// relation accepts it: `nn.relu(%bn)`, where `%bn` is the results of `nn.batch_norm`.
    pub fn expect_tensor(&mut self, position: usize) {
        let leaf = self.args.get(position).and_then(|&node| self.table.leaf(node));
        if let Some(Type::Tuple(fields)) = leaf {
            let found = Type::Tuple(fields.clone());
            if !found.has_error() {
                let reason = Box::new(self.no_tensor(position, &found));
                self.caveat.get_or_insert(reason);
            }
        }
    }

    /// Adds a warning to a call that holds and is computed: not what its author expects.
    pub fn warn(&mut self, reason: Reason) {
        let reason = Reason { code: Code::DoubtfulCall, ..reason };
        self.caveat.get_or_insert(Box::new(reason));
    }

    fn no_tensor(&self, position: usize, found: &Type) -> Reason {
        let mut reason = self.not_a(position, "a tensor", found);
        let first = match found {
            Type::Tuple(fields) => fields.iter().next(),
            _ => None,
        };
        reason.first_field_of = first.filter(|field| field.as_tensor().is_some()).map(|_| position);
        reason
    }

    /// Returns the argument at `position` as a tuple of tensors.
    pub fn tensors(&self, position: usize) -> Result<Vec<std::sync::Arc<TensorType>>, Halt> {
        let fields = self.tuple(position)?;
        let field = |(k, field): (usize, &Type)| match field {
            Type::Tensor(tensor) => Ok(tensor.clone()),
            Type::Var(_) | Type::OpenTensor(_) | Type::Param(_) => Err(Halt::NotYet),
            Type::Error => Err(Halt::Silent),
            other => Reason::new(
                Code::ArgumentType,
                text!(
                    "`{}`: field {k} of {} is {}, not a tensor",
                    self.operator(),
                    self.name(position),
                    Fact::Described(other.clone())
                ),
            )
            .mark(Place::Field(position, k), None, Fact::Described(other.clone()))
            .fail(),
        };
        fields.iter().enumerate().map(field).collect()
    }

    /// Returns the argument at `position` as a tuple.
    pub fn tuple(&self, position: usize) -> Result<std::sync::Arc<TupleType>, Halt> {
        match self.ty(position) {
            Type::Tuple(fields) => Ok(fields),
            Type::Var(_) | Type::Param(_) => Err(Halt::NotYet),
            Type::Error => Err(Halt::Silent),
            other => self.not_a(position, "a tuple of tensors", &other).fail(),
        }
    }

    fn not_a(&self, position: usize, expected: &'static str, found: &Type) -> Reason {
        let (operator, name) = (self.operator(), self.name(position));
        let found = Fact::Described(found.clone());
        let message = text!("`{operator}` expects {expected} as {name}, found {found}");
        Reason::new(Code::ArgumentType, message).argument(position, found)
    }

    /// Returns true if the argument at `position` is a tuple with a field `index`, or `None` if its
    /// type is unknown. Does not resolve the other fields.
    pub fn has_field(&mut self, position: usize, index: usize) -> Option<bool> {
        let &node = self.args.get(position)?;
        if self.table.is_unknown(node) {
            return None;
        }
        Some(matches!(self.table.field(node, index), Some(Some(_))))
    }

    /// Infers the data type of an unsuffixed literal from the other of two arguments: in
    /// `add(%x, 1)` the literal has the data type of `%x`. That may be a type parameter, which is
    /// thereby restricted to numbers. Fails for a parameter that is promised to be any data type.
    pub fn infer_literal_dtype(&mut self, a: usize, b: usize) -> Outcome {
        for (literal, other) in [(a, b), (b, a)] {
            let Type::OpenTensor(open) = self.ty(literal) else { continue };
            let dtype = match (&open.dtype, self.ty(other)) {
                (DTypeTerm::Var(_), Type::Tensor(tensor)) => DTypeTerm::Known(tensor.dtype),
                (DTypeTerm::Var(_), Type::OpenTensor(other)) => match &other.dtype {
                    DTypeTerm::Known(_) | DTypeTerm::Param(_) => other.dtype.clone(),
                    _ => continue,
                },
                _ => continue,
            };
            let fits = self.table.assign_dtype(self.args[literal], dtype.clone());
            self.progress |= fits;
            return match dtype {
                DTypeTerm::Param(param) if !fits => self.any_dtype(literal, &param).fail(),
                _ => Ok(()),
            };
        }
        if let (Type::OpenTensor(x), Type::OpenTensor(y)) = (self.ty(a), self.ty(b)) {
            self.table.unify_dtypes(&x.dtype, &y.dtype);
        }
        Ok(())
    }

    fn any_dtype(&self, literal: usize, param: &Param) -> Reason {
        let (operator, name) = (self.operator(), self.name(literal));
        let message =
            text!("`{operator}`: {name} is a number, but `{}` may be any data type", param.name());
        let rule =
            text!("`lhs` and `rhs` must have the same data type for every `{}`", param.name());
        Reason::new(Code::DtypeMismatch, message)
            .rule(rule)
            .argument(literal, "a number")
            .help(text!("declare it as `{} : Number`", param.name()))
    }

    /// Assigns the type `ty` to the argument at `position`, or to the result.
    pub fn assign(&mut self, position: usize, ty: impl Into<Type>) -> Outcome {
        let ty = ty.into();
        let Some(&node) = self.args.get(position) else { return Ok(()) };
        let new = self.table.import(&ty);
        self.unify(position, node, new)
    }

    /// Unifies the types of the arguments at `a` and `b`.
    pub fn assign_same(&mut self, a: usize, b: usize) -> Outcome {
        let (Some(&x), Some(&y)) = (self.args.get(a), self.args.get(b)) else { return Ok(()) };
        self.unify(a, x, y)
    }

    /// Assigns the type `ty` to the result.
    ///
    /// A negative size and a missing data type are lenient failures: TVM assigns them without a
    /// check.
    pub fn output(&mut self, ty: impl Into<Type>) -> Outcome {
        let ty = ty.into();
        let check = self.check_sizes(&ty).and_then(|()| self.check_dtype(&ty));
        self.lenient(check)?;
        if ty.flags().has(Flags::ANY) {
            let declared = self.ty(self.arity());
            self.promise = (declared.as_tensor().is_some() && declared != ty).then_some(declared);
        }
        self.assign(self.arity(), ty)
    }

    /// Checks that no size of a result is negative, unless a size of an argument is, which is
    /// reported at its declaration.
    fn check_sizes(&self, ty: &Type) -> Outcome {
        let negative = |ty: &Type| {
            let mut sizes = ty.as_tensor()?.shape.iter().map(Dim::as_known).enumerate();
            sizes.find_map(|(axis, size)| Some((axis, size.filter(|&size| size < 0)?)))
        };
        let (of, (axis, size)) = match ty.as_tuple() {
            Some(fields) => {
                let mut fields = fields.iter().enumerate();
                match fields.find_map(|(k, field)| Some((k, negative(field)?))) {
                    Some((k, found)) => (text!("field {k} of the result"), found),
                    None => return Ok(()),
                }
            }
            None => match negative(ty) {
                Some(found) => ("the result".into(), found),
                None => return Ok(()),
            },
        };
        if (0..self.arity()).any(|position| has_negative_size(&self.ty(position))) {
            return Ok(());
        }
        let message = text!("`{}`: axis {axis} of {of} would have size {size}", self.operator());
        Reason::new(Code::ShapeMismatch, message)
            .rule(text!("sizes are not negative, and the result has type `{ty}`"))
            .mark(Place::Operator, None, text!("size {size}"))
            .fail()
    }

    /// Checks that the attributes specify the data type of a result.
    fn check_dtype(&self, ty: &Type) -> Outcome {
        let is_void = |ty: &Type| ty.as_tensor().is_some_and(|tensor| tensor.dtype.is_void());
        let fields = ty.as_tuple().map(|fields| fields.iter().any(is_void));
        if !fields.unwrap_or_else(|| is_void(ty)) {
            return Ok(());
        }
        let mut fields = self.attrs().schema().into_iter().flat_map(|schema| schema.fields);
        let missing = fields
            .find(|field| field.ty == AttrType::DType && self.attrs().dtype(field.name).is_void());
        let Some(AttrField { name, .. }) = missing else { return Ok(()) };
        Reason::new(
            Code::MissingAttribute,
            text!("`{}`: `{name}` does not specify a data type for the result", self.operator()),
        )
        .attribute(name, "no data type")
        .help(text!("write one, such as `{name}=\"int32\"`"))
        .fail()
    }

    /// Assigns a tensor type to the result.
    pub fn output_tensor(
        &mut self,
        shape: impl IntoIterator<Item = Dim>,
        dtype: DataType,
    ) -> Outcome {
        self.output(TensorType::new(shape, dtype))
    }

    /// Unifies the type of the result with that of the argument at `position`.
    pub fn output_same(&mut self, position: usize) -> Outcome {
        self.assign_same(self.arity(), position)
    }

    /// Unifies the type of the argument at `a` with field `k` of the tuple at `b`.
    pub fn assign_field(&mut self, a: usize, b: usize, k: usize) -> Outcome {
        let (Some(&x), Some(&y)) = (self.args.get(a), self.args.get(b)) else { return Ok(()) };
        let Some(Some(field)) = self.table.field(y, k) else { return Ok(()) };
        self.unify(a, x, field)
    }

    fn unify(&mut self, position: usize, left: NodeId, right: NodeId) -> Outcome {
        self.progress = true;
        let Err(conflict) = self.table.unify(left, right) else { return Ok(()) };
        let (found, required) = (self.table.resolve(left), self.table.resolve(right));
        self.conflict(position, &found, &required, &conflict).fail()
    }

    fn conflict(&self, position: usize, found: &Type, required: &Type, at: &Conflict) -> Reason {
        let operator = self.operator();
        if position == self.arity() {
            let message = text!("`{operator}` returns {required}, but {found} is expected here");
            let reason = Reason { clash: at.clash(), ..Reason::new(at.code(), message) };
            return reason.mark(Place::Result, at.axis(), text!("{found} expected"));
        }
        let name = self.name(position);
        let axis = at.axis().map_or_else(Text::default, |axis| text!(" (axis {axis} differs)"));
        Reason::new(
            at.code(),
            text!("`{operator}`: {name} must be {required}, but it is {found}{axis}"),
        )
        .mark(Place::Argument(position), at.axis(), found)
    }
}

/// Returns true if a tensor, or a field of a tuple of tensors, has a negative size.
fn has_negative_size(ty: &Type) -> bool {
    let is_negative = |ty: &Type| {
        let mut sizes = ty.as_tensor().into_iter().flat_map(|tensor| &tensor.shape);
        sizes.any(|dim| dim.as_known().is_some_and(|size| size < 0))
    };
    is_negative(ty) || ty.as_tuple().is_some_and(|fields| fields.iter().any(is_negative))
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}
