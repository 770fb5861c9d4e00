//! Folds and visitors over types.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Constraint, DTypeTerm, FuncType, OpenTensor, PolyType, ShapeTerm, TensorType, Type,
    info::{Flags, Info},
};

/// Minimum weight of types that are memoised by address.
const LARGE: u32 = 64;

/// A function over the leaves of a type: tensors, parameters, variables, `_` and error types.
pub(crate) trait Rewrite {
    /// Returns false if no part of a type with these facts, below `depth` binders, changes.
    fn affects(&self, info: Info, depth: u8) -> bool;

    /// Returns the replacement of a leaf below `depth` binders.
    fn leaf(&mut self, leaf: &Type, depth: u8) -> Type;
}

/// A fold over a type. Unaffected parts are shared with the original, and shared parts are rebuilt
/// once.
pub(crate) struct Rewriter<'r, R> {
    rewrite: &'r mut R,
    memo: FxHashMap<(usize, u8), Type>,
}

impl<'r, R: Rewrite> Rewriter<'r, R> {
    pub(crate) fn new(rewrite: &'r mut R) -> Rewriter<'r, R> {
        Rewriter { rewrite, memo: FxHashMap::default() }
    }

    /// Rebuilds `ty`, which is below `depth` binders. Recursion is bounded by [`crate::MAX_DEPTH`].
    pub(crate) fn ty(&mut self, ty: &Type, depth: u8) -> Type {
        if !ty.has_parts() {
            return self.rewrite.leaf(ty, depth);
        }
        let info = ty.info();
        if !self.rewrite.affects(info, depth) {
            return ty.clone();
        }
        let key = (ty.address(), depth);
        if info.weight >= LARGE
            && let Some(rebuilt) = self.memo.get(&key)
        {
            return rebuilt.clone();
        }
        let rebuilt = match ty {
            Type::Tuple(fields) => Type::tuple(self.all(fields, depth)),
            Type::Func(func) => {
                FuncType::new(self.all(func.params(), depth), self.ty(func.ret(), depth)).into()
            }
            Type::Ref(reference) => Type::reference(self.ty(reference.inner(), depth)),
            Type::Adt(adt) => Type::adt(adt.name().clone(), self.all(adt.args(), depth)),
            Type::Index(index) => Type::index(index.kind(), self.ty(&index.tensor, depth)),
            Type::Poly(poly) => {
                let depth = depth.saturating_add(1);
                let constraints = self.constraints(&poly.constraints, depth);
                let body = self.ty(&poly.body, depth);
                Type::Poly(PolyType::of_bound(poly.params.clone(), constraints, body).into())
            }
            _ => Type::Error,
        };
        if info.weight >= LARGE {
            self.memo.insert(key, rebuilt.clone());
        }
        rebuilt
    }

    pub(crate) fn constraints(
        &mut self,
        constraints: &[Constraint],
        depth: u8,
    ) -> Box<[Constraint]> {
        let one = |constraint: &Constraint| Constraint {
            relation: constraint.relation.clone(),
            args: constraint.args.iter().map(|arg| self.ty(arg, depth)).collect(),
        };
        constraints.iter().map(one).collect()
    }

    fn all(&mut self, types: &[Type], depth: u8) -> Vec<Type> {
        types.iter().map(|ty| self.ty(ty, depth)).collect()
    }
}

/// Replaces every leaf of `ty` (tensor, parameter, variable) by the result of `leaf`.
pub fn map_leaves(ty: &Type, leaf: &mut impl FnMut(&Type) -> Type) -> Type {
    map_leaves_with(ty, None, leaf)
}

/// Like [`map_leaves`], but skips the parts without any of `flags`.
pub(crate) fn map_leaves_with(
    ty: &Type,
    flags: Option<Flags>,
    leaf: &mut impl FnMut(&Type) -> Type,
) -> Type {
    struct Leaves<'l, F>(Option<Flags>, &'l mut F);
    impl<F: FnMut(&Type) -> Type> Rewrite for Leaves<'_, F> {
        fn affects(&self, info: Info, _: u8) -> bool {
            self.0.is_none_or(|flags| info.flags.has(flags))
        }
        fn leaf(&mut self, leaf: &Type, _: u8) -> Type {
            (self.1)(leaf)
        }
    }
    Rewriter::new(&mut Leaves(flags, leaf)).ty(ty, 0)
}

/// Visits `ty` and its parts in preorder, each shared part once. Skips the parts without any of
/// `flags`; visits all of them for [`Flags::ALL`].
pub fn for_each_part(ty: &Type, flags: Flags, visit: &mut impl FnMut(&Type)) {
    fn walk(ty: &Type, flags: Flags, seen: &mut FxHashSet<usize>, visit: &mut impl FnMut(&Type)) {
        if flags != Flags::ALL && !ty.flags().has(flags) {
            return;
        }
        if ty.weight() >= LARGE && !seen.insert(ty.address()) {
            return;
        }
        visit(ty);
        match ty {
            Type::Tuple(fields) => fields.iter().for_each(|ty| walk(ty, flags, seen, visit)),
            Type::Func(func) => {
                func.params().iter().for_each(|ty| walk(ty, flags, seen, visit));
                walk(func.ret(), flags, seen, visit);
            }
            Type::Ref(reference) => walk(reference.inner(), flags, seen, visit),
            Type::Adt(adt) => adt.args().iter().for_each(|ty| walk(ty, flags, seen, visit)),
            Type::Index(index) => walk(&index.tensor, flags, seen, visit),
            Type::Poly(poly) => {
                walk(&poly.body, flags, seen, visit);
                let args = poly.constraints.iter().flat_map(|constraint| &constraint.args);
                args.for_each(|ty| walk(ty, flags, seen, visit));
            }
            _ => {}
        }
    }
    walk(ty, flags, &mut FxHashSet::default(), visit);
}

/// Creates a tensor type: an [`OpenTensor`] unless the shape and the data type are known.
pub fn open_tensor(shape: ShapeTerm, dtype: DTypeTerm) -> Type {
    match (shape, dtype) {
        (ShapeTerm::Dims(shape), DTypeTerm::Known(dtype)) => TensorType::of(shape, dtype).into(),
        (shape, dtype) => Type::OpenTensor(OpenTensor { shape, dtype }.into()),
    }
}
