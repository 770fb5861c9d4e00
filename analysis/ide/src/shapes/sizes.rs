//! Identification of equal unknown sizes.
//!
//! Two occurrences of `?` denote the same size if they have the same origin: axis 0 of
//! `nn.relu(nn.dense(%x, %w))` is axis 0 of `%x`.

use rustc_hash::FxHashMap;
use semantics::{ExprRef, SizeSource, View, source_of};
use types::{Dim, Flags, MAX_WEIGHT, SymbolId, Type};

use super::{
    UnknownSize,
    amount::{Amount, UnknownId, measured},
};

/// The maximal number of expressions to follow to the origin of a size.
const MAX_STEPS: usize = 10_000;

/// The unknown sizes of a report.
#[derive(Default)]
pub(super) struct Sizes {
    pub(super) unknowns: Vec<UnknownSize>,
    numbers: FxHashMap<SymbolId, UnknownId>,
    /// The descriptions of symbols, which are numbered only when an amount uses them.
    descriptions: FxHashMap<SymbolId, String>,
    fresh: u32,
}

/// The symbols of the unknown sizes of a definition, by expression, field and axis.
#[derive(Default)]
pub(super) struct Origins {
    symbols: FxHashMap<(ExprRef, Option<usize>, usize), SymbolId>,
}

impl Sizes {
    /// Returns the type of an expression with a symbol for each `?` in it.
    pub(super) fn sized(
        &mut self,
        view: &View<'_>,
        origins: &mut Origins,
        expr_ref: ExprRef,
    ) -> Type {
        let ty = view.ty(expr_ref);
        match ty {
            // Fast path that avoids a copy of a wide tuple for each of its projections.
            _ if !ty.flags().has(Flags::ANY) => ty.clone(),
            Type::Tensor(_) => self.tensor(view, origins, expr_ref, None, ty),
            Type::Tuple(fields) => Type::tuple(
                fields
                    .iter()
                    .enumerate()
                    .map(|(at, field)| self.tensor(view, origins, expr_ref, Some(at), field)),
            ),
            other => other.clone(),
        }
    }

    fn tensor(
        &mut self,
        view: &View<'_>,
        origins: &mut Origins,
        expr_ref: ExprRef,
        field: Option<usize>,
        ty: &Type,
    ) -> Type {
        let Some(tensor) = ty.as_tensor().filter(|tensor| tensor.shape.iter().any(Dim::is_any))
        else {
            return ty.clone();
        };
        let dims = tensor.shape.iter().enumerate().map(|(axis, dim)| {
            if !dim.is_any() {
                return dim.clone();
            }
            let id = self.symbol(view, origins, expr_ref, field, axis);
            Dim::symbol("?", id)
        });
        Type::tensor(dims.collect::<Vec<_>>(), tensor.dtype)
    }

    /// Returns the symbol of an unknown size, which is that of its origin.
    fn symbol(
        &mut self,
        view: &View<'_>,
        origins: &mut Origins,
        expr_ref: ExprRef,
        field: Option<usize>,
        axis: usize,
    ) -> SymbolId {
        let mut path = Vec::new();
        let mut at = (expr_ref, field, axis);
        let mut symbol = None;
        for _ in 0..MAX_STEPS {
            symbol = origins.symbols.get(&at).copied();
            if symbol.is_some() {
                break;
            }
            path.push(at);
            match source_of(view, at.0, at.1, at.2) {
                SizeSource::Same(expr_ref, axis) => at = (expr_ref, None, axis),
                SizeSource::Changed(..) | SizeSource::Set => break,
            }
        }
        let symbol = symbol.unwrap_or_else(|| {
            let id = SymbolId::fresh();
            let field = match at.1 {
                Some(field) => format!("field {field} of "),
                None => String::new(),
            };
            let what = format!("axis {} of {field}{}", at.2, view.describe(at.0));
            self.descriptions.insert(id, what);
            id
        });
        origins.symbols.extend(path.into_iter().map(|at| (at, symbol)));
        symbol
    }

    /// Evaluates `measure` for types that [`Sizes::sized`] returned.
    pub(super) fn measure(
        &mut self,
        types: &[Type],
        measure: &dyn Fn(&[Type]) -> Option<u64>,
    ) -> Amount {
        let mut numbers = |id: SymbolId, name: &str| self.number(id, name);
        measured(types, &mut numbers, measure)
    }

    fn number(&mut self, id: SymbolId, name: &str) -> UnknownId {
        if let Some(&number) = self.numbers.get(&id) {
            return number;
        }
        let number = self.unknowns.len() as UnknownId;
        let unknown = match self.descriptions.get(&id) {
            Some(what) => {
                self.fresh += 1;
                UnknownSize { name: format!("n{}", self.fresh), what: what.clone() }
            }
            None => UnknownSize { name: name.to_owned(), what: format!("the size `{name}`") },
        };
        self.unknowns.push(unknown);
        self.numbers.insert(id, number);
        number
    }

    /// Returns the size in bytes of all tensors in a type.
    pub(super) fn bytes(&mut self, ty: &Type) -> Amount {
        self.over_tensors(ty, &|types| types.first()?.as_tensor()?.bytes())
    }

    /// Returns the number of elements of all tensors in a type.
    pub(super) fn elements(&mut self, ty: &Type) -> Amount {
        self.over_tensors(ty, &|types| types.first()?.as_tensor()?.elements())
    }

    fn over_tensors(&mut self, ty: &Type, measure: &dyn Fn(&[Type]) -> Option<u64>) -> Amount {
        let mut sum = Amount::ZERO;
        let mut stack = vec![ty];
        while let Some(ty) = stack.pop() {
            // The traversal visits shared parts repeatedly, so that large types are skipped.
            if ty.weight() > MAX_WEIGHT {
                sum.add(&Amount::undefined());
                continue;
            }
            match ty {
                Type::Tensor(_) => {
                    let amount = self.measure(std::slice::from_ref(ty), measure);
                    sum.add(&amount);
                }
                Type::Tuple(fields) => stack.extend(fields.iter()),
                Type::Ref(cell) => stack.push(cell.inner()),
                Type::Func(_) | Type::Poly(_) => {}
                Type::OpenTensor(_)
                | Type::Adt(_)
                | Type::Index(_)
                | Type::Param(_)
                | Type::Bound(_)
                | Type::Var(_)
                | Type::Hole
                | Type::Error => sum.add(&Amount::undefined()),
            }
        }
        sum
    }
}
