//! Weights in the form that kernels multiply, kept from one run to the next.

use std::{any::Any, sync::Arc};

use super::{
    float::AlignedElements,
    real::Real,
    tile::shape,
    windows::{FilterRows, interleave},
};
use crate::{
    derived::Lookup,
    interrupt::{spend, with_pool},
    parallel::each_chunk,
    tensor::{Array, Element, elements},
};

/// Which runs derive something from weights.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Each run needs it.
    Always,
    /// It only pays off if it is kept for the next runs.
    Kept,
}

/// Returns what an earlier run derived from weights, or else the result of `derive`, with its size in bytes. `sizes` are
/// those that it depends on.
pub(super) fn derived<T: Element, D: Any + Send + Sync>(
    weights: Option<&Array<T>>,
    sizes: [usize; 2],
    need: Need,
    derive: impl FnOnce() -> Option<(D, usize)>,
) -> Option<Arc<D>> {
    let source = weights.map(|weights| (weights, (weights.as_ptr() as usize, sizes)));
    let known = source.and_then(|(_, key)| with_pool(|pool| pool.derived.find(key)));
    if let Some(Lookup::Derived(derived)) = known {
        return Some(derived);
    }
    let kept = source.filter(|_| matches!(known, Some(Lookup::Repeated)));
    if need == Need::Kept && kept.is_none() {
        return None;
    }
    let (derived, bytes) = derive()?;
    let derived = Arc::new(derived);
    if let Some((weights, key)) = kept {
        with_pool(|pool| pool.derived.keep(key, weights.clone(), &derived, bytes));
    }
    Some(derived)
}

/// Filters whose rows are interleaved in strips, as many as the largest tile has.
pub(crate) struct InterleavedFilters<T: Element>(Arc<AlignedElements<T>>);

impl<T: Real> InterleavedFilters<T> {
    /// Returns the filters `weights`, of `depth` elements each, if an earlier run used them, too.
    pub(super) fn of(weights: &Array<T>, depth: usize) -> Option<InterleavedFilters<T>> {
        let all = elements(weights);
        let outputs = all.len() / depth.max(1);
        let derive = || {
            let height = shape::<T>().rows;
            let count = outputs.next_multiple_of(height).checked_mul(depth)?;
            let mut filters = AlignedElements::new(count);
            let to = filters.get_mut().get_mut(..count)?;
            each_chunk(to, height * depth, 2, &|at, to| {
                spend(to.len());
                let rows = all.get(at * height * depth..).unwrap_or_default();
                interleave(rows, depth, height.min(outputs - at * height), to);
            });
            Some((filters, count * size_of::<T>()))
        };
        derived(Some(weights), [outputs, depth], Need::Kept, derive).map(InterleavedFilters)
    }
}

impl<T: Element> InterleavedFilters<T> {
    /// Returns the rows.
    pub(crate) fn rows(&self) -> FilterRows<'_, T> {
        FilterRows::Interleaved(self.0.get())
    }
}

#[cfg(test)]
mod tests {
    use semantics::{Database, Def, all_defs};
    use types::DataType;

    use crate::{Machine, Tensor, Value};

    /// The windows of the first convolution are tiled; the filters of the second one are interleaved.
    const TEXT: &str = "
        def @main(%x: Tensor[(1, 16, 15, 15), float32], %a: Tensor[(20, 16, 3, 3), float32],
                  %b: Tensor[(21, 20, 3, 3), float32]) {
          %0 = nn.conv2d(%x, %a, padding=[1, 1], channels=20, kernel_size=[3, 3]);
          nn.conv2d(%0, %b, strides=[2, 2], channels=21, kernel_size=[3, 3])
        }";

    fn args(seed: u64) -> Vec<Value> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut tensor = |shape: &[usize]| {
            let numbers = (0..shape.iter().product()).map(|_| rng.f64() - 0.5).collect();
            Value::from(Tensor::from_f64s(DataType::FLOAT32, shape, numbers).expect("a tensor"))
        };
        vec![tensor(&[1, 16, 15, 15]), tensor(&[20, 16, 3, 3]), tensor(&[21, 20, 3, 3])]
    }

    fn run<'db>(machine: &mut Machine<'db>, def: Def<'db>, args: &[Value]) -> Tensor {
        let value = machine.run(def, args.to_vec(), None).expect("it runs");
        value.as_tensor().expect("a tensor").clone()
    }

    #[test]
    fn results_with_kept_weights_are_identical() {
        let db = Database::new();
        let file = db.add_file(TEXT, syntax::ParseLimits::default());
        let def = all_defs(&db, file).next().expect("a definition");
        let mut machine = Machine::new(&db);
        let kept = |machine: &mut Machine<'_>| machine.begin().pool().derived.bytes();
        let [first, other] = [args(1), args(2)];
        let expected = run(&mut Machine::new(&db), def, &first);
        assert!(run(&mut machine, def, &first).is_identical(&expected));
        assert_eq!(kept(&mut machine), 0);
        for _ in 0..3 {
            assert!(run(&mut machine, def, &first).is_identical(&expected));
        }
        assert!(kept(&mut machine) > (16 * 20 * 16 + 20 * 21 * 9) * size_of::<f32>());
        // Weights of other elements, then those again.
        let changed = run(&mut Machine::new(&db), def, &other);
        assert!(!changed.is_identical(&expected));
        for (args, expected) in [(&other, &changed), (&first, &expected)].repeat(3) {
            assert!(run(&mut machine, def, args).is_identical(expected));
        }
        // The weights of another run may get the address of some that are dropped.
        drop(first);
        drop(other);
        for seed in 3..9 {
            let args = args(seed);
            let expected = run(&mut Machine::new(&db), def, &args);
            for _ in 0..2 {
                assert!(run(&mut machine, def, &args).is_identical(&expected));
            }
        }
    }
}
