//! Types as values: immutable, shared, with structural equality.

use std::{
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use crate::{
    Attrs, BoundParam, DTypeVar, DataType, Dim, Kind, Param, Shape, ShapeVar, TensorType,
    TypeParam, TypeVar,
    info::{Flags, Info, MAX_DEPTH, MAX_WEIGHT, of_dims},
};

/// A Relay type.
///
/// A type is a shared graph. Queries such as [`Type::is_closed`] take constant time; folds such as
/// [`crate::map_leaves`] visit each shared part once.
#[derive(Clone, Debug)]
pub enum Type {
    /// A tensor of known rank and data type.
    Tensor(Arc<TensorType>),
    /// A tensor whose shape or data type is a parameter or a variable: `Tensor[s, bt]`.
    OpenTensor(Arc<OpenTensor>),
    /// A tuple.
    Tuple(Arc<TupleType>),
    /// A function.
    Func(Arc<FuncType>),
    /// A reference cell.
    Ref(Arc<RefType>),
    /// An algebraic data type with its arguments: `List[int32]`.
    Adt(Arc<AdtType>),
    /// An argument of a data type that is not a type: the shape in `Bx[(2, 3)]`.
    Index(Arc<IndexType>),
    /// A polymorphic type: `fn [A](A) -> A`, and `List[A]` for `%e` in `let %e = Nil;`.
    Poly(Arc<PolyType>),
    /// A type parameter in the function that declares it.
    Param(Param),
    /// A type parameter in the polymorphic type that declares it.
    Bound(BoundParam),
    /// An inference variable. Occurs in inference tables only.
    Var(TypeVar),
    /// A written `_`. Each use of the written type replaces it by a fresh variable.
    Hole,
    /// The type of an erroneous expression. It unifies with any type without a further error.
    Error,
}

/// A tensor whose shape or data type is not known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpenTensor {
    /// The shape.
    pub shape: ShapeTerm,
    /// The data type.
    pub dtype: DTypeTerm,
}

/// A shape, or a parameter or variable for one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ShapeTerm {
    /// A shape of known rank.
    Dims(Shape),
    /// A parameter of kind `Shape`, in the function that declares it.
    Param(Param),
    /// A parameter of kind `Shape`, in the polymorphic type that declares it.
    Bound(BoundParam),
    /// An inference variable. Occurs in inference tables only.
    Var(ShapeVar),
    /// Unknown. Occurs in types for messages only ([`Type::for_message`]).
    Unknown,
}

/// A data type, or a parameter or variable for one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DTypeTerm {
    /// A known data type.
    Known(DataType),
    /// A parameter of kind `BaseType`, in the function that declares it.
    Param(Param),
    /// A parameter of kind `BaseType`, in the polymorphic type that declares it.
    Bound(BoundParam),
    /// An inference variable. Occurs in inference tables only.
    Var(DTypeVar),
    /// Unknown. Occurs in types for messages only ([`Type::for_message`]).
    Unknown,
}

/// The fields of a tuple type.
#[derive(Clone, Debug)]
pub struct TupleType {
    fields: Box<[Type]>,
    info: Info,
}

/// A function type.
#[derive(Clone, Debug)]
pub struct FuncType {
    params: Box<[Type]>,
    ret: Type,
    info: Info,
}

/// The type of a reference cell.
#[derive(Clone, Debug)]
pub struct RefType {
    inner: Type,
    info: Info,
}

/// An instance of an algebraic data type.
#[derive(Clone, Debug)]
pub struct AdtType {
    name: SmolStr,
    args: Box<[Type]>,
    info: Info,
}

/// A shape, size or data type as an argument of a data type.
///
/// It is represented by a tensor type that contains it, so that whatever treats the parts of tensor
/// types (unification, substitution, generalisation) treats those of arguments.
#[derive(Clone, Debug)]
pub struct IndexType {
    pub(crate) kind: Kind,
    pub(crate) tensor: Type,
    pub(crate) info: Info,
}

/// A relation between types that must hold at every use of a function type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constraint {
    /// The relation.
    pub relation: RelationKey,
    /// The types of the arguments, followed by the type of the result.
    pub args: Box<[Type]>,
}

/// The identity of a relation. Types contain it in place of the typing rule, which is a function over
/// types.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RelationKey {
    /// The relation's name: `Broadcast`.
    pub name: &'static str,
    /// The operator whose relation it is: `add`.
    pub operator: &'static str,
    /// The attributes of the call.
    pub attrs: Attrs,
}

/// A type over parameters that are instantiated at each use, with relations that must hold there.
///
/// [`PolyType::close`] creates one, and [`PolyType::open`] instantiates it.
#[derive(Clone, Debug)]
pub struct PolyType {
    pub(crate) params: Box<[TypeParam]>,
    pub(crate) constraints: Box<[Constraint]>,
    pub(crate) body: Type,
    info: Info,
}

impl Deref for TupleType {
    type Target = [Type];

    fn deref(&self) -> &[Type] {
        &self.fields
    }
}

impl FuncType {
    /// Creates a function type.
    pub fn new(params: impl IntoIterator<Item = Type>, ret: Type) -> FuncType {
        let params: Box<[Type]> = params.into_iter().collect();
        let parts = params.iter().chain([&ret]).map(Type::info);
        let info = Info::over(3, params.len(), parts);
        FuncType { params, ret, info }
    }

    /// Returns the types of the parameters.
    pub fn params(&self) -> &[Type] {
        &self.params
    }

    /// Returns the type of the result.
    pub fn ret(&self) -> &Type {
        &self.ret
    }
}

impl RefType {
    /// Returns the type of the referent.
    pub fn inner(&self) -> &Type {
        &self.inner
    }
}

impl AdtType {
    /// Returns the name of the definition, which identifies it: names are unique in a module.
    pub fn name(&self) -> &SmolStr {
        &self.name
    }

    /// Returns the arguments.
    pub fn args(&self) -> &[Type] {
        &self.args
    }
}

impl PolyType {
    /// Creates a polymorphic type from parts in which the parameters are [`BoundParam`].
    pub(crate) fn of_bound(
        params: Box<[TypeParam]>,
        constraints: Box<[Constraint]>,
        body: Type,
    ) -> PolyType {
        let args = constraints.iter().flat_map(|constraint| constraint.args.iter());
        let parts = args.chain([&body]).map(Type::info);
        let mut info = Info::over(6, &params, parts);
        info.flags = info.flags.or(Flags::POLY);
        info.loose = info.loose.saturating_sub(1);
        PolyType { params, constraints, body, info }
    }

    /// Returns the parameters.
    pub fn params(&self) -> &[TypeParam] {
        &self.params
    }

    /// Returns the flags of the type.
    pub(crate) fn flags(&self) -> Flags {
        self.info.flags
    }

    /// Returns true if a parameter is the data type of a literal.
    pub fn has_numeric_params(&self) -> bool {
        self.params.iter().any(|param| param.class != crate::DTypeClass::Any)
    }

    /// Returns the number of relations that must hold at each use.
    pub fn constraint_count(&self) -> usize {
        self.constraints.len()
    }
}

impl From<TensorType> for Type {
    fn from(tensor: TensorType) -> Type {
        Type::Tensor(Arc::new(tensor))
    }
}

impl From<FuncType> for Type {
    fn from(func: FuncType) -> Type {
        Type::Func(Arc::new(func))
    }
}

impl Type {
    /// Creates a tensor type.
    pub fn tensor(shape: impl IntoIterator<Item = Dim>, dtype: DataType) -> Type {
        TensorType::new(shape, dtype).into()
    }

    /// Creates a tensor type of rank 0.
    pub fn scalar(dtype: DataType) -> Type {
        TensorType::scalar(dtype).into()
    }

    /// Creates a tuple type.
    pub fn tuple(fields: impl IntoIterator<Item = Type>) -> Type {
        let fields: Box<[Type]> = fields.into_iter().collect();
        let info = Info::over(2, fields.len(), fields.iter().map(Type::info));
        Type::Tuple(Arc::new(TupleType { fields, info }))
    }

    /// Creates the type `()`.
    pub fn unit() -> Type {
        Type::tuple([])
    }

    /// Creates a function type.
    pub fn func(params: impl IntoIterator<Item = Type>, ret: Type) -> Type {
        FuncType::new(params, ret).into()
    }

    /// Creates the type of a reference cell.
    pub fn reference(inner: Type) -> Type {
        let info = Info::over(4, (), [inner.info()]);
        Type::Ref(Arc::new(RefType { inner, info }))
    }

    /// Creates an instance of an algebraic data type.
    pub fn adt(name: impl Into<SmolStr>, args: impl IntoIterator<Item = Type>) -> Type {
        let (name, args) = (name.into(), args.into_iter().collect::<Box<[Type]>>());
        let mut info = Info::over(5, &name, args.iter().map(Type::info));
        info.flags = info.flags.or(Flags::ADT);
        Type::Adt(Arc::new(AdtType { name, args, info }))
    }

    /// Returns the tensor type, if this is one of known rank and data type.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the sizes of a tensor type of known rank, whose data type may be open.
    pub fn as_sizes(&self) -> Option<&[Dim]> {
        match self {
            Type::Tensor(tensor) => Some(&tensor.shape),
            Type::OpenTensor(open) => match &open.shape {
                ShapeTerm::Dims(dims) => Some(dims),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the fields of a tuple type.
    pub fn as_tuple(&self) -> Option<&[Type]> {
        match self {
            Type::Tuple(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the cached facts about the type.
    pub(crate) fn info(&self) -> Info {
        match self {
            Type::Tensor(tensor) => {
                let (flags, loose) = tensor.facts;
                Info { loose, ..Info::leaf(0, flags, tensor) }
            }
            Type::OpenTensor(open) => {
                let (flags, loose) = open.flags();
                Info { loose, ..Info::leaf(1, flags, open) }
            }
            Type::Tuple(fields) => fields.info,
            Type::Func(func) => func.info,
            Type::Ref(reference) => reference.info,
            Type::Adt(adt) => adt.info,
            Type::Index(index) => index.info,
            Type::Poly(poly) => poly.info,
            Type::Param(param) => Info::leaf(7, Flags::PARAM, param),
            Type::Bound(bound) => {
                Info { loose: bound.loose(), ..Info::leaf(8, Flags::NONE, bound) }
            }
            Type::Var(var) => Info::leaf(9, Flags::VAR, var),
            Type::Hole => Info::leaf(10, Flags::HOLE, ()),
            Type::Error => Info::leaf(11, Flags::ERROR, ()),
        }
    }

    /// Returns the flags of the type.
    pub fn flags(&self) -> Flags {
        match self {
            Type::Tensor(tensor) => tensor.facts.0,
            Type::OpenTensor(open) => open.flags().0,
            Type::Param(_) => Flags::PARAM,
            Type::Bound(_) => Flags::NONE,
            Type::Var(_) => Flags::VAR,
            Type::Hole => Flags::HOLE,
            Type::Error => Flags::ERROR,
            Type::Tuple(_)
            | Type::Func(_)
            | Type::Ref(_)
            | Type::Adt(_)
            | Type::Index(_)
            | Type::Poly(_) => self.info().flags,
        }
    }

    /// Returns true if the type contains neither variables nor `_`.
    pub fn is_closed(&self) -> bool {
        !self.flags().has(Flags::VAR.or(Flags::PART).or(Flags::HOLE))
    }

    /// Returns true if the type contains the error type.
    pub fn has_error(&self) -> bool {
        self.flags().has(Flags::ERROR)
    }

    /// Returns the number of nodes of the type as a tree, saturating. A shared part counts once per
    /// occurrence.
    pub fn weight(&self) -> u32 {
        if self.has_parts() { self.info().weight } else { 1 }
    }

    /// Returns true if no part of the type is polymorphic, except possibly the type itself.
    pub fn is_rank_1(&self) -> bool {
        match self {
            Type::Poly(poly) => !poly.body.flags().has(Flags::POLY),
            ty => !ty.flags().has(Flags::POLY),
        }
    }

    /// Returns true if the type exceeds [`MAX_WEIGHT`] or [`MAX_DEPTH`].
    pub fn is_too_large(&self) -> bool {
        self.has_parts() && {
            let info = self.info();
            info.weight > MAX_WEIGHT || info.depth > MAX_DEPTH
        }
    }

    /// Returns true if the type is built of other types.
    pub(crate) fn has_parts(&self) -> bool {
        matches!(
            self,
            Type::Tuple(_)
                | Type::Func(_)
                | Type::Ref(_)
                | Type::Adt(_)
                | Type::Index(_)
                | Type::Poly(_)
        )
    }

    /// Returns the address of the type in memory, or 0 for variants that are not allocated.
    pub fn address(&self) -> usize {
        match self {
            Type::Tensor(tensor) => Arc::as_ptr(tensor).addr(),
            Type::OpenTensor(open) => Arc::as_ptr(open).addr(),
            Type::Tuple(fields) => Arc::as_ptr(fields).addr(),
            Type::Func(func) => Arc::as_ptr(func).addr(),
            Type::Ref(reference) => Arc::as_ptr(reference).addr(),
            Type::Adt(adt) => Arc::as_ptr(adt).addr(),
            Type::Index(index) => Arc::as_ptr(index).addr(),
            Type::Poly(poly) => Arc::as_ptr(poly).addr(),
            Type::Param(_) | Type::Bound(_) | Type::Var(_) | Type::Hole | Type::Error => 0,
        }
    }

    /// Compares two types by address, and variants without allocation by value.
    pub fn is_same(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Param(a), Type::Param(b)) => a == b,
            (Type::Bound(a), Type::Bound(b)) => a == b,
            (Type::Error, Type::Error) => true,
            _ => self.address() != 0 && self.address() == other.address(),
        }
    }

    /// Returns the parts of the type in order.
    fn parts(&self) -> (&[Type], Option<&Type>) {
        match self {
            Type::Tuple(fields) => (fields, None),
            Type::Func(func) => (&func.params, Some(&func.ret)),
            Type::Ref(reference) => (&[], Some(&reference.inner)),
            Type::Adt(adt) => (&adt.args, None),
            Type::Index(index) => (&[], Some(&index.tensor)),
            _ => (&[], None),
        }
    }
}

impl OpenTensor {
    fn flags(&self) -> (Flags, u8) {
        let (mut flags, mut loose) = match &self.shape {
            ShapeTerm::Dims(dims) => of_dims(dims),
            ShapeTerm::Param(_) => (Flags::PARAM, 0),
            ShapeTerm::Bound(bound) => (Flags::NONE, bound.loose()),
            ShapeTerm::Var(_) => (Flags::PART, 0),
            ShapeTerm::Unknown => (Flags::ERROR, 0),
        };
        match &self.dtype {
            DTypeTerm::Known(_) => {}
            DTypeTerm::Param(_) => flags = flags.or(Flags::PARAM),
            DTypeTerm::Bound(bound) => loose = loose.max(bound.loose()),
            DTypeTerm::Var(_) => flags = flags.or(Flags::PART),
            DTypeTerm::Unknown => flags = flags.or(Flags::ERROR),
        }
        (flags, loose)
    }
}

impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.info().hash);
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        equal(self, other, &mut None)
    }
}

impl Eq for Type {}

/// Minimum weight of types whose comparison is memoised. For smaller types, the comparison is
/// faster than the hash table.
const LARGE: u32 = 512;

/// Compares two types. Recursion is bounded by [`MAX_DEPTH`], and shared parts are compared once.
fn equal(a: &Type, b: &Type, seen: &mut Option<FxHashSet<(usize, usize)>>) -> bool {
    match (a, b) {
        (Type::Tensor(x), Type::Tensor(y)) => Arc::ptr_eq(x, y) || x == y,
        (Type::OpenTensor(x), Type::OpenTensor(y)) => Arc::ptr_eq(x, y) || x == y,
        (Type::Param(x), Type::Param(y)) => x == y,
        (Type::Bound(x), Type::Bound(y)) => x == y,
        (Type::Var(x), Type::Var(y)) => x == y,
        (Type::Hole, Type::Hole) | (Type::Error, Type::Error) => true,
        (Type::Tuple(_), Type::Tuple(_))
        | (Type::Func(_), Type::Func(_))
        | (Type::Ref(_), Type::Ref(_))
        | (Type::Adt(_), Type::Adt(_))
        | (Type::Index(_), Type::Index(_))
        | (Type::Poly(_), Type::Poly(_)) => {
            let addresses = (a.address(), b.address());
            if addresses.0 == addresses.1 {
                return true;
            }
            let (x, y) = (a.info(), b.info());
            if x.hash != y.hash || x.weight != y.weight {
                return false;
            }
            if x.weight > LARGE && !seen.get_or_insert_default().insert(addresses) {
                return true;
            }
            let mut all = |a: &[Type], b: &[Type]| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b, seen))
            };
            match (a, b) {
                (Type::Adt(x), Type::Adt(y)) => x.name == y.name && all(&x.args, &y.args),
                (Type::Index(x), Type::Index(y)) if x.kind != y.kind => false,
                (Type::Poly(x), Type::Poly(y)) => {
                    x.params == y.params
                        && x.constraints == y.constraints
                        && equal(&x.body, &y.body, seen)
                }
                _ => {
                    let ((p, r), (q, s)) = (a.parts(), b.parts());
                    let last = r.is_some() == s.is_some();
                    all(p, q) && last && r.zip(s).is_none_or(|(r, s)| equal(r, s, seen))
                }
            }
        }
        _ => false,
    }
}
