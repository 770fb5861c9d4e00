//! Substitution of type parameters.

use rustc_hash::FxHashMap;

use crate::{
    AdtType, Constraint, DTypeTerm, Dim, FuncType, OpenTensor, ParamId, ShapeTerm, Symbol,
    SymbolId, Type,
};

/// What stands in for type parameters, by kind.
#[derive(Default, Debug, Clone)]
pub struct Substitution {
    /// For parameters of kind `Type`.
    pub types: FxHashMap<ParamId, Type>,
    /// For parameters of kind `Shape`.
    pub shapes: FxHashMap<ParamId, ShapeTerm>,
    /// For parameters of kind `BaseType`.
    pub dtypes: FxHashMap<ParamId, DTypeTerm>,
    /// For parameters of kind `ShapeVar`.
    pub dims: FxHashMap<ParamId, Dim>,
}

impl Substitution {
    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
            && self.shapes.is_empty()
            && self.dtypes.is_empty()
            && self.dims.is_empty()
    }

    fn dim(&self, dim: &Dim) -> Dim {
        let Dim::Symbol(symbol) = dim else { return dim.clone() };
        match &**symbol {
            Symbol::Variable { id, .. } => {
                let found = self.dims.iter().find(|(param, _)| symbol_of(**param) == *id);
                found.map_or_else(|| dim.clone(), |(_, dim)| dim.clone())
            }
            Symbol::Binary(op, a, b) => Dim::apply(*op, &self.dim(a), &self.dim(b)),
        }
    }
}

/// The symbolic size that a parameter of kind `ShapeVar` stands for in its own function.
pub fn symbol_of(param: ParamId) -> SymbolId {
    SymbolId::of_param(param)
}

/// `ty` with parameters replaced.
pub fn substitute(ty: &Type, subst: &Substitution) -> Type {
    if subst.is_empty() {
        return ty.clone();
    }
    map_leaves(ty, &mut |leaf| match leaf {
        Type::Param(param) => subst.types.get(&param.id).unwrap_or(leaf).clone(),
        Type::Tensor(tensor) if !subst.dims.is_empty() => {
            Type::tensor(tensor.shape.iter().map(|d| subst.dim(d)), tensor.dtype)
        }
        Type::OpenTensor(open) => {
            let shape = match &open.shape {
                ShapeTerm::Param(p) => {
                    subst.shapes.get(&p.id).cloned().unwrap_or_else(|| open.shape.clone())
                }
                ShapeTerm::Dims(dims) => {
                    ShapeTerm::Dims(dims.iter().map(|d| subst.dim(d)).collect())
                }
                ShapeTerm::Var(_) => open.shape.clone(),
            };
            let dtype = match &open.dtype {
                DTypeTerm::Param(p) => {
                    subst.dtypes.get(&p.id).cloned().unwrap_or_else(|| open.dtype.clone())
                }
                _ => open.dtype.clone(),
            };
            open_tensor(shape, dtype)
        }
        other => other.clone(),
    })
}

/// A tensor type, closed if both parts are known.
pub fn open_tensor(shape: ShapeTerm, dtype: DTypeTerm) -> Type {
    match (shape, dtype) {
        (ShapeTerm::Dims(shape), DTypeTerm::Known(dtype)) => Type::tensor(shape, dtype),
        (shape, dtype) => Type::OpenTensor(OpenTensor { shape, dtype }.into()),
    }
}

/// Rebuilds `ty` with every leaf (tensor, parameter, variable) replaced by what `leaf` makes of it.
pub fn map_leaves(ty: &Type, leaf: &mut impl FnMut(&Type) -> Type) -> Type {
    match ty {
        Type::Tuple(fields) => Type::Tuple(fields.iter().map(|t| map_leaves(t, leaf)).collect()),
        Type::Func(func) => FuncType {
            type_params: func.type_params.clone(),
            params: func.params.iter().map(|t| map_leaves(t, leaf)).collect(),
            ret: map_leaves(&func.ret, leaf),
            constraints: func
                .constraints
                .iter()
                .map(|c| Constraint {
                    relation: c.relation.clone(),
                    args: c.args.iter().map(|t| map_leaves(t, leaf)).collect(),
                })
                .collect(),
        }
        .into(),
        Type::Ref(inner) => Type::Ref(map_leaves(inner, leaf).into()),
        Type::Adt(adt) => Type::Adt(
            AdtType {
                name: adt.name.clone(),
                args: adt.args.iter().map(|t| map_leaves(t, leaf)).collect(),
            }
            .into(),
        ),
        _ => leaf(ty),
    }
}
