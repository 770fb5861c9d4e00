//! Which sizes that are not known are one and the same.
//!
//! A `?` says nothing but that a size is open. Where it comes from does: in
//! `nn.relu(nn.dense(%x, %w))` axis 0 is axis 0 of `%x` all the way.

use rustc_hash::FxHashMap;
use semantics::{Source, Spot, View, source_of};
use types::{Dim, Flags, MAX_WEIGHT, SymbolId, Type};

use super::{
    UnknownSize,
    amount::{Amount, Unknown, measured},
};

/// The longest way back that is followed at once.
const MAX_STEPS: usize = 10_000;

/// The sizes of a report that are not known.
#[derive(Default)]
pub(super) struct Sizes {
    pub(super) unknowns: Vec<UnknownSize>,
    numbers: FxHashMap<SymbolId, Unknown>,
    /// What each symbol stands for, before any amount uses it.
    meanings: FxHashMap<SymbolId, String>,
    fresh: u32,
}

/// What is known about the open sizes of one definition.
#[derive(Default)]
pub(super) struct Origins {
    symbols: FxHashMap<(Spot, Option<usize>, usize), SymbolId>,
}

impl Sizes {
    /// The type of an expression, with a symbol for each `?` in it.
    pub(super) fn sized(&mut self, view: &View<'_>, origins: &mut Origins, spot: Spot) -> Type {
        let ty = view.ty(spot);
        match ty {
            // A wide tuple is not copied for each of its projections.
            _ if !ty.flags().has(Flags::ANY) => ty.clone(),
            Type::Tensor(_) => self.tensor(view, origins, spot, None, ty),
            Type::Tuple(fields) => Type::tuple(
                fields
                    .iter()
                    .enumerate()
                    .map(|(at, field)| self.tensor(view, origins, spot, Some(at), field)),
            ),
            other => other.clone(),
        }
    }

    fn tensor(
        &mut self,
        view: &View<'_>,
        origins: &mut Origins,
        spot: Spot,
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
            let id = self.symbol(view, origins, spot, field, axis);
            Dim::symbol("?", id)
        });
        Type::tensor(dims.collect::<Vec<_>>(), tensor.dtype)
    }

    /// The symbol of an open size: that of the place where it was set.
    fn symbol(
        &mut self,
        view: &View<'_>,
        origins: &mut Origins,
        spot: Spot,
        field: Option<usize>,
        axis: usize,
    ) -> SymbolId {
        let mut way = Vec::new();
        let mut at = (spot, field, axis);
        let mut symbol = None;
        for _ in 0..MAX_STEPS {
            symbol = origins.symbols.get(&at).copied();
            if symbol.is_some() {
                break;
            }
            way.push(at);
            match source_of(view, at.0, at.1, at.2) {
                Source::Same(spot, axis) => at = (spot, None, axis),
                Source::Changed(..) | Source::Set => break,
            }
        }
        let symbol = symbol.unwrap_or_else(|| {
            let id = SymbolId::fresh();
            let field = match at.1 {
                Some(field) => format!("field {field} of "),
                None => String::new(),
            };
            let what = format!("axis {} of {field}{}", at.2, view.describe(at.0));
            self.meanings.insert(id, what);
            id
        });
        origins.symbols.extend(way.into_iter().map(|at| (at, symbol)));
        symbol
    }

    /// What `measure` makes of types that [`Sizes::sized`] gave.
    pub(super) fn measure(
        &mut self,
        types: &[Type],
        measure: &dyn Fn(&[Type]) -> Option<u64>,
    ) -> Amount {
        let mut numbers = |id: SymbolId, name: &str| self.number(id, name);
        measured(types, &mut numbers, measure)
    }

    fn number(&mut self, id: SymbolId, name: &str) -> Unknown {
        if let Some(&number) = self.numbers.get(&id) {
            return number;
        }
        let number = self.unknowns.len() as Unknown;
        let unknown = match self.meanings.get(&id) {
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

    /// The bytes of all tensors in a type.
    pub(super) fn bytes(&mut self, ty: &Type) -> Amount {
        self.over_tensors(ty, &|types| types.first()?.as_tensor()?.bytes())
    }

    /// The elements of all tensors in a type.
    pub(super) fn elements(&mut self, ty: &Type) -> Amount {
        self.over_tensors(ty, &|types| types.first()?.as_tensor()?.elements())
    }

    fn over_tensors(&mut self, ty: &Type, measure: &dyn Fn(&[Type]) -> Option<u64>) -> Amount {
        let mut sum = Amount::ZERO;
        let mut stack = vec![ty];
        while let Some(ty) = stack.pop() {
            // Shared parts are counted as often as they occur, and types of values are small.
            if ty.weight() > MAX_WEIGHT {
                sum.add(&Amount::untold());
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
                | Type::Param(_)
                | Type::Bound(_)
                | Type::Var(_)
                | Type::Hole
                | Type::Error => sum.add(&Amount::untold()),
            }
        }
        sum
    }
}
