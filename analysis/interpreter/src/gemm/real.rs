//! Floating point numbers in vectors.

use std::ops::{Add, AddAssign};

use pulp::Simd;

use crate::tensor::Element;

/// Floating point numbers that are multiplied in vectors.
pub(crate) trait Real: Element + Add<Output = Self> + AddAssign {
    /// A vector of numbers.
    type Vector<S: Simd>: Copy;

    fn zeros<S: Simd>(simd: S) -> Self::Vector<S>;
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    fn sum_of<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// Computes `a · b + c`.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// Returns the sum of the elements of a vector.
    fn sum<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;
    /// Returns a vector of these elements, followed by zeros.
    fn padded<S: Simd>(simd: S, elements: &[Self]) -> Self::Vector<S>;
    fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>];
    fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>];
    /// Returns the number of elements of a vector.
    fn lanes<S: Simd>() -> usize;
}

macro_rules! reals {
    ($($ty:ident $vector:ident $lanes:ident $splat:ident $add:ident $mul_add:ident $sum:ident $padded:ident
        $vectors:ident $vectors_mut:ident;)*) => {
        $(impl Real for $ty {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn zeros<S: Simd>(simd: S) -> Self::Vector<S> {
                simd.$splat(0.0)
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S> {
                simd.$splat(x)
            }

            #[inline(always)]
            fn sum_of<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn sum<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self {
                simd.$sum(vector)
            }

            #[inline(always)]
            fn padded<S: Simd>(simd: S, elements: &[Self]) -> Self::Vector<S> {
                simd.$padded(elements)
            }

            #[inline(always)]
            fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>] {
                S::$vectors(slice).0
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>] {
                S::$vectors_mut(slice).0
            }

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
        })*
    };
}

reals! {
    f32 f32s F32_LANES splat_f32s add_f32s mul_add_e_f32s reduce_sum_f32s partial_load_f32s
        as_simd_f32s as_mut_simd_f32s;
    f64 f64s F64_LANES splat_f64s add_f64s mul_add_e_f64s reduce_sum_f64s partial_load_f64s
        as_simd_f64s as_mut_simd_f64s;
}
