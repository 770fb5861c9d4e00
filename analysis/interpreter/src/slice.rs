//! Slices of tensors, as debuggers and viewers show them.

use ndarray::{Axis, Slice};

use crate::{Element, Tensor, tensor::each_dtype};

/// The elements of an axis that a slice takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AxisSlice {
    /// One element; the axis is dropped.
    Index(usize),
    /// The elements from `start` on and before `end`, each `step`-th one.
    Range {
        /// The first element.
        start: usize,
        /// The end, which is not part of it.
        end: usize,
        /// The distance of elements, at least 1.
        step: usize,
    },
}

impl Tensor {
    /// Copies the elements of a slice, which has an entry for each axis; `None` if the entries do not fit the shape.
    pub fn slice(&self, axes: &[AxisSlice]) -> Option<Tensor> {
        let fits = |(axis, &size): (&AxisSlice, &usize)| match *axis {
            AxisSlice::Index(index) => index < size,
            AxisSlice::Range { start, end, step } => start <= end && end <= size && step > 0,
        };
        if axes.len() != self.rank() || !axes.iter().zip(self.shape()).all(fits) {
            return None;
        }
        each_dtype!(self, array => {
            let mut view = array.view();
            // The axes after one that is dropped move.
            for (axis, taken) in axes.iter().enumerate().rev() {
                match *taken {
                    AxisSlice::Index(index) => view = view.index_axis_move(Axis(axis), index),
                    AxisSlice::Range { start, end, step } => {
                        let ends = (isize::try_from(start).ok()?, isize::try_from(end).ok()?);
                        let taken = Slice::new(ends.0, Some(ends.1), isize::try_from(step).ok()?);
                        view.slice_axis_inplace(Axis(axis), taken);
                    }
                }
            }
            Some(<T as Element>::wrap(view.as_standard_layout().into_owned().into_shared()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_have_the_elements_of_each_axis() {
        let tensor = Tensor::from_i64s(types::DataType::INT32, &[2, 3, 4], (0..24).collect());
        let tensor = tensor.expect("24 elements");
        let all = |end| AxisSlice::Range { start: 0, end, step: 1 };
        let cases: [(&[AxisSlice], &[usize], &[i64]); 4] = [
            (&[AxisSlice::Index(1), all(3), AxisSlice::Index(2)], &[3], &[14, 18, 22]),
            (
                &[all(2), AxisSlice::Index(0), AxisSlice::Range { start: 1, end: 4, step: 2 }],
                &[2, 2],
                &[1, 3, 13, 15],
            ),
            (&[AxisSlice::Index(1); 3], &[], &[17]),
            (&[all(2), AxisSlice::Range { start: 2, end: 2, step: 1 }, all(4)], &[2, 0, 4], &[]),
        ];
        for (axes, shape, expected) in cases {
            let found = tensor.slice(axes).expect("the slice fits");
            assert_eq!((found.shape(), &*found.to_i64s()), (shape, expected), "{axes:?}");
        }
    }

    #[test]
    fn slices_that_do_not_fit_are_none() {
        let tensor = Tensor::from_f64s(types::DataType::FLOAT32, &[2, 3], crate::repeated(0.0, 6));
        let tensor = tensor.expect("6 elements");
        let range = |start, end, step| AxisSlice::Range { start, end, step };
        for axes in [
            &[][..],
            &[AxisSlice::Index(0)],
            &[AxisSlice::Index(2), AxisSlice::Index(0)],
            &[AxisSlice::Index(0), range(0, 4, 1)],
            &[AxisSlice::Index(0), range(2, 1, 1)],
            &[AxisSlice::Index(0), range(0, 3, 0)],
        ] {
            assert!(tensor.slice(axes).is_none(), "{axes:?}");
        }
    }
}
