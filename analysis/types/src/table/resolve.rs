//! Extraction of types from nodes.

use rustc_hash::FxHashMap;

use super::{NodeId, Table, Term};
use crate::{
    DTypeTerm, DTypeVar, Dim, DimVar, ShapeTerm, ShapeVar, Type, TypeVar,
    info::{Flags, Info, MAX_DEPTH},
    map::{Rewrite, Rewriter, map_leaves_with, open_tensor},
};

/// A memoised extraction of the types of many nodes. Equal nodes and shared parts become one type
/// in memory.
pub struct Resolver<'t> {
    table: &'t Table,
    /// Types of nodes with parts, by representative.
    memo: FxHashMap<u32, Type>,
    depth: u8,
    too_deep: bool,
}

impl<'t> Resolver<'t> {
    /// Creates a resolver for the current state of `table`.
    pub fn new(table: &'t Table) -> Resolver<'t> {
        Resolver { table, memo: FxHashMap::default(), depth: 0, too_deep: false }
    }

    /// Returns the current type of `node`. A type that nests too deeply is truncated with error
    /// types, and [`Resolver::is_too_deep`] returns true afterwards.
    pub fn resolve(&mut self, node: NodeId) -> Type {
        let root = self.table.find(node);
        self.node(root)
    }

    /// Returns true if a type was truncated.
    pub fn is_too_deep(&self) -> bool {
        self.too_deep
    }

    /// Resets [`Resolver::is_too_deep`] and discards truncated types.
    pub fn reset_too_deep(&mut self) {
        if std::mem::take(&mut self.too_deep) {
            self.memo.clear();
        }
    }

    /// Returns the type of `node` itself, without following its link to a representative.
    fn node(&mut self, node: NodeId) -> Type {
        match &self.table.at(node).term {
            Term::Var(_) => Type::Var(TypeVar(node)),
            Term::Leaf(ty) => self.refresh(ty),
            term => {
                if let Some(ty) = self.memo.get(&node.index) {
                    return ty.clone();
                }
                if self.depth > MAX_DEPTH {
                    self.too_deep = true;
                    return Type::Error;
                }
                self.depth += 1;
                let ty = self.term(term);
                self.depth -= 1;
                self.memo.insert(node.index, ty.clone());
                ty
            }
        }
    }

    /// Recursion is bounded by [`MAX_DEPTH`].
    fn term(&mut self, term: &Term) -> Type {
        let mut part = |node: &NodeId| self.node(self.table.part(*node));
        match term {
            Term::Tuple(fields) => Type::tuple(fields.iter().map(part).collect::<Vec<_>>()),
            Term::Func(func) => {
                let params: Vec<Type> = func.params.iter().map(&mut part).collect();
                Type::func(params, part(&func.ret))
            }
            Term::Ref(inner) => Type::reference(part(inner)),
            Term::Index(kind, tensor) => Type::index(*kind, part(tensor)),
            Term::Adt(name, args) => {
                Type::adt(name.clone(), args.iter().map(part).collect::<Vec<_>>())
            }
            Term::Var(_) | Term::Leaf(_) => Type::Error,
        }
    }

    /// Replaces the known variables in `ty`.
    pub fn refresh(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Tensor(_) | Type::OpenTensor(_) => self.table.refresh_tensor(ty),
            _ if !ty.flags().has(Flags::VAR.or(Flags::PART)) => ty.clone(),
            _ => Rewriter::new(self).ty(ty, 0),
        }
    }
}

impl Rewrite for Resolver<'_> {
    fn affects(&self, info: Info, _: u8) -> bool {
        info.flags.has(Flags::VAR.or(Flags::PART))
    }

    fn leaf(&mut self, leaf: &Type, _: u8) -> Type {
        match leaf {
            Type::Var(TypeVar(node)) => self.resolve(*node),
            Type::Tensor(_) | Type::OpenTensor(_) => self.table.refresh_tensor(leaf),
            other => other.clone(),
        }
    }
}

impl Table {
    /// Returns the current type of `node`.
    pub fn resolve(&self, node: NodeId) -> Type {
        let root = self.find(node);
        match &self.at(root).term {
            Term::Var(_) => Type::Var(TypeVar(root)),
            Term::Leaf(ty) if !ty.flags().has(Flags::VAR.or(Flags::PART)) => ty.clone(),
            _ => Resolver::new(self).resolve(root),
        }
    }

    /// Replaces the known variables in a tensor type.
    fn refresh_tensor(&self, ty: &Type) -> Type {
        match ty {
            Type::Tensor(tensor) => {
                if self.dims.is_empty() || !ty.flags().has(Flags::PART) {
                    return ty.clone();
                }
                Type::tensor(tensor.shape.iter().map(|dim| self.dim(dim)), tensor.dtype)
            }
            Type::OpenTensor(open) => open_tensor(self.shape(&open.shape), self.dtype(&open.dtype)),
            other => other.clone(),
        }
    }

    pub(super) fn dim(&self, dim: &Dim) -> Dim {
        match dim {
            Dim::Known { .. } | Dim::Any => return dim.clone(),
            Dim::Symbol(_) if self.dims.is_empty() => return dim.clone(),
            _ => {}
        }
        dim.map(&mut |leaf| {
            let Dim::Var(var) = leaf else { return leaf.clone() };
            match self.dims.value(var.0) {
                // The variables in an expression may be known too.
                Some(value @ Dim::Symbol(_)) => self.dim(value),
                Some(value) => value.clone(),
                None => Dim::Var(DimVar(self.dims.root(var.0))),
            }
        })
    }

    pub(super) fn dtype(&self, dtype: &DTypeTerm) -> DTypeTerm {
        let DTypeTerm::Var(var) = dtype else { return dtype.clone() };
        match self.dtypes.value(var.0) {
            Some(known) => known.clone(),
            None => DTypeTerm::Var(DTypeVar(self.dtypes.root(var.0))),
        }
    }

    pub(super) fn shape(&self, shape: &ShapeTerm) -> ShapeTerm {
        let value = match shape {
            ShapeTerm::Var(var) => match self.shapes.value(var.0) {
                Some(known) => known,
                None => return ShapeTerm::Var(ShapeVar(self.shapes.root(var.0))),
            },
            _ => shape,
        };
        match value {
            ShapeTerm::Dims(dims) => {
                ShapeTerm::Dims(dims.iter().map(|dim| self.dim(dim)).collect())
            }
            other => other.clone(),
        }
    }
}

impl Type {
    /// Replaces variables and `_` by the error type.
    #[must_use]
    pub fn without_variables(&self) -> Type {
        self.replace_variables(|_| Type::Error)
    }

    /// Prepares a partially inferred type for a message: unlike [`Type::without_variables`], keeps
    /// the known parts of tensors. The result must not be used in inference.
    #[must_use]
    pub fn for_message(&self) -> Type {
        let known = |dims: &[Dim]| -> crate::Shape {
            dims.iter()
                .map(|dim| {
                    dim.map(&mut |leaf| match leaf {
                        Dim::Var(_) => Dim::Var(crate::DimVar::UNKNOWN),
                        other => other.clone(),
                    })
                })
                .collect()
        };
        self.replace_variables(|leaf| {
            let open = match leaf {
                Type::OpenTensor(open) => open,
                Type::Tensor(tensor) => return Type::tensor(known(&tensor.shape), tensor.dtype),
                _ => return Type::Error,
            };
            let shape = match &open.shape {
                ShapeTerm::Var(_) => ShapeTerm::Unknown,
                ShapeTerm::Dims(dims) => ShapeTerm::Dims(known(dims)),
                other => other.clone(),
            };
            let dtype = match &open.dtype {
                DTypeTerm::Var(_) => DTypeTerm::Unknown,
                other => other.clone(),
            };
            open_tensor(shape, dtype)
        })
    }

    fn replace_variables(&self, replace: impl Fn(&Type) -> Type) -> Type {
        let open = Flags::VAR.or(Flags::PART).or(Flags::HOLE);
        map_leaves_with(self, Some(open), &mut |leaf| match leaf.is_closed() {
            true => leaf.clone(),
            false => replace(leaf),
        })
    }
}
