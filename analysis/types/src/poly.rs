//! Closing (generalising) and opening (instantiating) polymorphic types.
//!
//! Closing `fn (A) -> A` over the parameter `A` gives `fn [A](A) -> A`; opening that for `int32`
//! gives `fn (int32) -> int32`. Both are one substitution ([`Substitute`]) of de Bruijn indices,
//! which cannot capture parameters of other types.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::{
    BoundParam, Constraint, DTypeTerm, Dim, FuncType, Kind, Param, ParamId, PolyType, ShapeTerm,
    Symbol, Type, TypeParam,
    info::{Flags, Info},
    map::{Rewrite, Rewriter, open_tensor},
};

/// An argument for a parameter of a polymorphic type, of the parameter's kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeArg {
    /// For a parameter of kind `Type`.
    Type(Type),
    /// For a parameter of kind `Shape`.
    Shape(ShapeTerm),
    /// For a parameter of kind `BaseType`.
    DType(DTypeTerm),
    /// For a parameter of kind `ShapeVar`.
    Dim(Dim),
}

impl TypeArg {
    /// Returns true unless the argument is an inference variable.
    pub fn is_known(&self) -> bool {
        !matches!(
            self,
            TypeArg::Type(Type::Var(_))
                | TypeArg::Shape(ShapeTerm::Var(_))
                | TypeArg::DType(DTypeTerm::Var(_))
                | TypeArg::Dim(Dim::Var(_))
        )
    }
}

/// An instance of a polymorphic type.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The type.
    pub ty: Type,
    /// The relations that must hold.
    pub constraints: Box<[Constraint]>,
}

/// A function type with named type parameters, for display and inspection.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The type parameters, which occur as constants in the rest.
    pub type_params: Vec<Param>,
    /// The function.
    pub func: FuncType,
    /// Relations that hold at every call.
    pub constraints: Box<[Constraint]>,
}

impl PolyType {
    /// Returns the polymorphic type over `params`, which occur as constants in `ty` and
    /// `constraints`; returns `ty` if there are neither parameters nor constraints.
    ///
    /// The parameters of a polymorphic `ty` precede the new ones: in
    /// `let %f = fn [A](%x: A, %y) { %x };` the type of `%y` follows `A`.
    pub fn close(params: &[Param], constraints: Vec<Constraint>, ty: &Type) -> Type {
        if params.is_empty() && constraints.is_empty() {
            return ty.clone();
        }
        let (mut declared, Instance { ty, constraints: own }) = ty.opened();
        declared.extend_from_slice(params);
        let all: Vec<Constraint> = own.into_iter().chain(constraints).collect();
        let index: FxHashMap<ParamId, u16> =
            declared.iter().zip(0..).map(|(param, index)| (param.id(), index)).collect();
        let mut close = Substitute {
            affects: |info: Info, _| info.flags.has(Flags::PARAM),
            replace: |used: Use<'_>, depth| match used {
                Use::Param(param) => {
                    let bound = BoundParam { depth, index: *index.get(&param.id())? };
                    Some(bound.as_arg(param.kind()))
                }
                Use::Bound(_) => None,
            },
        };
        let mut rewriter = Rewriter::new(&mut close);
        let body = rewriter.ty(&ty, 0);
        let constraints = rewriter.constraints(&all, 0);
        let params: Box<[TypeParam]> = declared.iter().map(|p| p.declared().clone()).collect();
        Type::Poly(PolyType::of_bound(params, constraints, body).into())
    }

    /// Returns the instance for `args`: one argument per parameter, of its kind.
    pub fn open(&self, args: &[TypeArg]) -> Instance {
        let mut open = Substitute {
            affects: |info: Info, depth| info.loose > depth,
            replace: |used: Use<'_>, depth| match used {
                Use::Bound(bound) if bound.depth == depth => {
                    args.get(usize::from(bound.index)).cloned()
                }
                Use::Bound(_) | Use::Param(_) => None,
            },
        };
        let mut rewriter = Rewriter::new(&mut open);
        let ty = rewriter.ty(&self.body, 0);
        Instance { ty, constraints: rewriter.constraints(&self.constraints, 0) }
    }
}

impl Type {
    /// Opens a polymorphic type with its parameters as constants, and returns those parameters and
    /// the instance. Returns any other type unchanged.
    pub fn opened(&self) -> (Vec<Param>, Instance) {
        let Type::Poly(poly) = self else {
            return (Vec::new(), Instance { ty: self.clone(), constraints: Box::default() });
        };
        let params = poly.params().iter().zip(0..);
        let mut params: Vec<Param> =
            params.map(|(param, at)| Param::of(param.clone(), ParamId::opened(at))).collect();
        self.rename_shadowing(&mut params);
        let args: Vec<TypeArg> = params.iter().map(Param::as_arg).collect();
        let instance = poly.open(&args);
        (params, instance)
    }

    /// Renames those of `params`, the parameters of this type, that have the name of a free
    /// parameter of the type: `fn [t1](t1) -> (t1, t1)` would be ambiguous.
    fn rename_shadowing(&self, params: &mut [Param]) {
        if !self.flags().has(Flags::PARAM) {
            return;
        }
        let mut taken: FxHashSet<SmolStr> = FxHashSet::default();
        let _unchanged = self.rename_params(&mut |param| {
            taken.insert(param.name().clone());
            None
        });
        let shadowing: Vec<usize> =
            (0..params.len()).filter(|&at| taken.contains(params[at].name())).collect();
        taken.extend(params.iter().map(|param| param.name().clone()));
        for at in shadowing {
            let stem = params[at].name().trim_end_matches(|c: char| c.is_ascii_digit());
            // Terminates, because `taken` is finite.
            let mut names = (1..).map(|n| smol_str::format_smolstr!("{stem}{n}"));
            if let Some(name) = names.find(|name| !taken.contains(name)) {
                taken.insert(name.clone());
                params[at] = params[at].with_name(name);
            }
        }
    }

    /// Returns the signature of a function type, polymorphic or not.
    pub fn signature(&self) -> Option<Signature> {
        self.arity()?;
        let (type_params, Instance { ty, constraints }) = self.opened();
        match ty {
            Type::Func(func) => Some(Signature { type_params, func: (*func).clone(), constraints }),
            _ => None,
        }
    }

    /// Returns the number of arguments of a function type, polymorphic or not.
    pub fn arity(&self) -> Option<usize> {
        let body = match self {
            Type::Poly(poly) => &poly.body,
            ty => ty,
        };
        match body {
            Type::Func(func) => Some(func.params().len()),
            _ => None,
        }
    }

    /// Returns true for a function type, polymorphic or not.
    pub fn is_function(&self) -> bool {
        self.arity().is_some()
    }

    /// Replaces the free parameters for which `rename` returns another one.
    #[must_use]
    pub fn rename_params(&self, rename: &mut impl FnMut(&Param) -> Option<Param>) -> Type {
        let mut rename = Substitute {
            affects: |info: Info, _| info.flags.has(Flags::PARAM),
            replace: |used: Use<'_>, _| match used {
                Use::Param(param) => Some(rename(param)?.as_arg()),
                Use::Bound(_) => None,
            },
        };
        Rewriter::new(&mut rename).ty(self, 0)
    }
}

impl Param {
    /// Returns the parameter as a type argument of its kind.
    pub fn as_arg(&self) -> TypeArg {
        match self.kind() {
            Kind::Type => TypeArg::Type(Type::Param(self.clone())),
            Kind::Shape => TypeArg::Shape(ShapeTerm::Param(self.clone())),
            Kind::BaseType => TypeArg::DType(DTypeTerm::Param(self.clone())),
            Kind::ShapeVar => TypeArg::Dim(Dim::param(self.clone())),
        }
    }
}

impl BoundParam {
    fn as_arg(self, kind: Kind) -> TypeArg {
        match kind {
            Kind::Type => TypeArg::Type(Type::Bound(self)),
            Kind::Shape => TypeArg::Shape(ShapeTerm::Bound(self)),
            Kind::BaseType => TypeArg::DType(DTypeTerm::Bound(self)),
            Kind::ShapeVar => TypeArg::Dim(Dim::Symbol(Symbol::Bound(self).into())),
        }
    }
}

/// An occurrence of a parameter in a type.
enum Use<'u> {
    Param(&'u Param),
    Bound(BoundParam),
}

/// A substitution of parameters. Both functions receive the number of binders around the
/// occurrence. A replacement must have the kind of the parameter, and must account for those
/// binders in any [`BoundParam::depth`] that it contains.
struct Substitute<A, R> {
    affects: A,
    replace: R,
}

impl<A, R: FnMut(Use<'_>, u8) -> Option<TypeArg>> Substitute<A, R> {
    fn dim(&mut self, dim: &Dim, depth: u8) -> Dim {
        dim.map(&mut |leaf| {
            let Dim::Symbol(symbol) = leaf else { return leaf.clone() };
            let replacement = match &**symbol {
                Symbol::Param(param) => (self.replace)(Use::Param(param), depth),
                Symbol::Bound(bound) => (self.replace)(Use::Bound(*bound), depth),
                Symbol::Variable { .. } | Symbol::Binary { .. } => None,
            };
            match replacement {
                Some(TypeArg::Dim(dim)) => dim,
                _ => leaf.clone(),
            }
        })
    }

    fn shape(&mut self, shape: &ShapeTerm, depth: u8) -> ShapeTerm {
        let replacement = match shape {
            ShapeTerm::Dims(dims) => {
                return ShapeTerm::Dims(dims.iter().map(|dim| self.dim(dim, depth)).collect());
            }
            ShapeTerm::Param(param) => (self.replace)(Use::Param(param), depth),
            ShapeTerm::Bound(bound) => (self.replace)(Use::Bound(*bound), depth),
            ShapeTerm::Var(_) | ShapeTerm::Unknown => None,
        };
        match replacement {
            Some(TypeArg::Shape(shape)) => shape,
            _ => shape.clone(),
        }
    }

    fn dtype(&mut self, dtype: &DTypeTerm, depth: u8) -> DTypeTerm {
        let replacement = match dtype {
            DTypeTerm::Param(param) => (self.replace)(Use::Param(param), depth),
            DTypeTerm::Bound(bound) => (self.replace)(Use::Bound(*bound), depth),
            DTypeTerm::Known(_) | DTypeTerm::Var(_) | DTypeTerm::Unknown => None,
        };
        match replacement {
            Some(TypeArg::DType(dtype)) => dtype,
            _ => dtype.clone(),
        }
    }
}

impl<A, R> Rewrite for Substitute<A, R>
where
    A: Fn(Info, u8) -> bool,
    R: FnMut(Use<'_>, u8) -> Option<TypeArg>,
{
    fn affects(&self, info: Info, depth: u8) -> bool {
        (self.affects)(info, depth)
    }

    fn leaf(&mut self, leaf: &Type, depth: u8) -> Type {
        let replacement = match leaf {
            Type::Param(param) => (self.replace)(Use::Param(param), depth),
            Type::Bound(bound) => (self.replace)(Use::Bound(*bound), depth),
            Type::Tensor(tensor) if self.affects(leaf.info(), depth) => {
                let shape = tensor.shape.iter().map(|dim| self.dim(dim, depth));
                return Type::tensor(shape.collect::<crate::Shape>(), tensor.dtype);
            }
            Type::OpenTensor(open) => {
                let shape = self.shape(&open.shape, depth);
                let dtype = self.dtype(&open.dtype, depth);
                return open_tensor(shape, dtype);
            }
            _ => None,
        };
        match replacement {
            Some(TypeArg::Type(ty)) => ty,
            _ => leaf.clone(),
        }
    }
}
