//! Polymorphic types: making one from a type over parameters, and instances of one.
//!
//! Parameters that a polymorphic type declares are positions in it, not names, so that no
//! substitution can capture a parameter of another type. All of them are one walk ([`Substitute`]).

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::{
    Bound, Constraint, DTypeTerm, Dim, FuncType, Kind, Param, ParamId, PolyType, ShapeTerm, Symbol,
    Type, TypeParam,
    info::{Flags, Info},
    map::{Rewrite, Rewriter, open_tensor},
};

/// What a parameter of a polymorphic type is replaced by, of the parameter's kind.
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
    /// Returns true if it is no variable itself.
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

/// An instance of a polymorphic type: its body, and the relations that must hold.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The type.
    pub ty: Type,
    /// Relations over it.
    pub constraints: Box<[Constraint]>,
}

/// A function type with its parameters by name, to be shown or looked into.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The type parameters, which occur by these names in the rest.
    pub type_params: Vec<Param>,
    /// The function.
    pub func: FuncType,
    /// Relations that hold at every call.
    pub constraints: Box<[Constraint]>,
}

impl PolyType {
    /// The polymorphic type over `params`, which occur as constants in `ty` and `constraints`.
    /// Where there are neither parameters nor constraints, `ty` itself.
    ///
    /// A polymorphic `ty` gets the new parameters after its own: in
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
            concerns: |info: Info, _| info.flags.has(Flags::PARAM),
            replace: |used: Use<'_>, depth| match used {
                Use::Param(param) => {
                    let bound = Bound { depth, index: *index.get(&param.id())? };
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

    /// The instance for `args`, one for each parameter and of its kind.
    pub fn open(&self, args: &[TypeArg]) -> Instance {
        let mut open = Substitute {
            concerns: |info: Info, depth| info.loose > depth,
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
    /// The type with the parameters of a polymorphic type as constants, by name, and those
    /// parameters and relations. Any other type as it is.
    pub fn opened(&self) -> (Vec<Param>, Instance) {
        let Type::Poly(poly) = self else {
            return (Vec::new(), Instance { ty: self.clone(), constraints: Box::default() });
        };
        let params = poly.params().iter().zip(0..);
        let mut params: Vec<Param> =
            params.map(|(param, at)| Param::of(param.clone(), ParamId::opened(at))).collect();
        self.tell_apart(&mut params);
        let args: Vec<TypeArg> = params.iter().map(Param::as_arg).collect();
        let instance = poly.open(&args);
        (params, instance)
    }

    /// Gives other names to those of `params`, which this polymorphic type declares, that are named
    /// as a parameter of a function around it: `fn [t1](t1) -> (t1, t1)` would not say which is which.
    fn tell_apart(&self, params: &mut [Param]) {
        if !self.flags().has(Flags::PARAM) {
            return;
        }
        let mut taken: FxHashSet<SmolStr> = FxHashSet::default();
        let _same = self.rename_params(&mut |param| {
            taken.insert(param.name().clone());
            None
        });
        let clash: Vec<usize> =
            (0..params.len()).filter(|&at| taken.contains(params[at].name())).collect();
        taken.extend(params.iter().map(|param| param.name().clone()));
        for at in clash {
            let letter = params[at].name().trim_end_matches(|c: char| c.is_ascii_digit());
            // Ends: only as many names are taken as there are.
            let name = (1..).map(|n| smol_str::format_smolstr!("{letter}{n}"));
            if let Some(name) = name.into_iter().find(|name| !taken.contains(name)) {
                taken.insert(name.clone());
                params[at] = params[at].with_name(name);
            }
        }
    }

    /// The function type that this is, polymorphic or not.
    pub fn signature(&self) -> Option<Signature> {
        self.arity()?;
        let (type_params, Instance { ty, constraints }) = self.opened();
        match ty {
            Type::Func(func) => Some(Signature { type_params, func: (*func).clone(), constraints }),
            _ => None,
        }
    }

    /// The number of arguments of the function type that this is, polymorphic or not.
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

    /// Returns true if this is a function type, polymorphic or not.
    pub fn is_function(&self) -> bool {
        self.arity().is_some()
    }

    /// The type with each parameter for which `rename` returns another one replaced by it.
    #[must_use]
    pub fn rename_params(&self, rename: &mut impl FnMut(&Param) -> Option<Param>) -> Type {
        let mut rename = Substitute {
            concerns: |info: Info, _| info.flags.has(Flags::PARAM),
            replace: |used: Use<'_>, _| match used {
                Use::Param(param) => Some(rename(param)?.as_arg()),
                Use::Bound(_) => None,
            },
        };
        Rewriter::new(&mut rename).ty(self, 0)
    }
}

impl Param {
    /// The parameter as a type argument of its own kind.
    pub fn as_arg(&self) -> TypeArg {
        match self.kind() {
            Kind::Type => TypeArg::Type(Type::Param(self.clone())),
            Kind::Shape => TypeArg::Shape(ShapeTerm::Param(self.clone())),
            Kind::BaseType => TypeArg::DType(DTypeTerm::Param(self.clone())),
            Kind::ShapeVar => TypeArg::Dim(Dim::param(self.clone())),
        }
    }
}

impl Bound {
    fn as_arg(self, kind: Kind) -> TypeArg {
        match kind {
            Kind::Type => TypeArg::Type(Type::Bound(self)),
            Kind::Shape => TypeArg::Shape(ShapeTerm::Bound(self)),
            Kind::BaseType => TypeArg::DType(DTypeTerm::Bound(self)),
            Kind::ShapeVar => TypeArg::Dim(Dim::Symbol(Symbol::Bound(self).into())),
        }
    }
}

/// A parameter where it occurs in a type.
enum Use<'u> {
    Param(&'u Param),
    Bound(Bound),
}

/// Replaces parameters, in parts of types that are concerned. Both functions are given the number
/// of binders around the place. What replaces a parameter is of the parameter's kind, and refers
/// to no binder but through [`Bound::depth`].
struct Substitute<C, R> {
    concerns: C,
    replace: R,
}

impl<C, R: FnMut(Use<'_>, u8) -> Option<TypeArg>> Substitute<C, R> {
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

impl<C, R> Rewrite for Substitute<C, R>
where
    C: Fn(Info, u8) -> bool,
    R: FnMut(Use<'_>, u8) -> Option<TypeArg>,
{
    fn concerns(&self, info: Info, depth: u8) -> bool {
        (self.concerns)(info, depth)
    }

    fn leaf(&mut self, leaf: &Type, depth: u8) -> Type {
        let replacement = match leaf {
            Type::Param(param) => (self.replace)(Use::Param(param), depth),
            Type::Bound(bound) => (self.replace)(Use::Bound(*bound), depth),
            Type::Tensor(tensor) if self.concerns(leaf.info(), depth) => {
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
