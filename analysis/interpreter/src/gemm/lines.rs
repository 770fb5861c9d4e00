//! Results of products, to which tiles are written.

use std::ops::Range;

use ndarray::{ArrayViewMut2, Axis};
use pulp::Simd;

use super::real::Real;
use crate::allocate::collected;

/// The rows or the columns of a result, whichever are contiguous.
pub(super) struct ResultLines<'a, T> {
    lines: Vec<&'a mut [T]>,
    pub(super) are_rows: bool,
}

impl<'a, T: Real> ResultLines<'a, T> {
    pub(super) fn new(out: &'a mut ArrayViewMut2<'_, T>) -> ResultLines<'a, T> {
        let are_rows = out.strides()[1] == 1 || out.ncols() == 1 && out.strides()[0] != 1;
        let lines = out.axis_iter_mut(Axis(usize::from(!are_rows)));
        let lines = collected(lines.map(|line| line.into_slice().unwrap_or_default()));
        ResultLines { lines, are_rows }
    }

    #[inline(always)]
    fn part(&mut self, line: usize, places: Range<usize>) -> &mut [T] {
        let Some(line) = self.lines.get_mut(line) else { return &mut [] };
        line.get_mut(places).unwrap_or_default()
    }

    /// Stores a part of a row.
    #[inline(always)]
    pub(super) fn store_vectors<S: Simd, const VECTORS: usize>(
        &mut self,
        simd: S,
        row: usize,
        left: usize,
        sums: [T::Vector<S>; VECTORS],
        adds: bool,
    ) {
        let places = left..left + T::lanes::<S>() * VECTORS;
        let to = T::vectors_mut::<S>(self.part(row, places));
        let Some(to) = pulp::as_arrays_mut::<VECTORS, _>(to).0.first_mut() else { return };
        if adds {
            for v in 0..VECTORS {
                to[v] = T::sum_of(simd, to[v], sums[v]);
            }
        } else {
            *to = sums;
        }
    }

    /// Stores a tile whose rows are `stride` elements apart.
    #[inline(always)]
    pub(super) fn store<const ROWS: usize>(
        &mut self,
        tile: &[T],
        stride: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        adds: bool,
    ) {
        let mut strips: [&[T]; ROWS] = [&[]; ROWS];
        for (strip, tile) in strips.iter_mut().zip(tile.chunks_exact(stride)) {
            *strip = &tile[..columns.len().min(stride)];
        }
        if self.are_rows {
            for (row, strip) in rows.zip(strips) {
                let to = self.part(row, columns.clone());
                let pairs = to.iter_mut().zip(strip);
                if adds {
                    pairs.for_each(|(to, &x)| *to += x)
                } else {
                    pairs.for_each(|(to, &x)| *to = x)
                }
            }
            return;
        }
        for (at, column) in columns.enumerate() {
            let to = self.part(column, rows.clone());
            if let (Ok(to), false) = (<&mut [T; ROWS]>::try_from(&mut *to), adds) {
                for row in 0..ROWS {
                    to[row] = strips[row][at];
                }
                continue;
            }
            for row in 0..to.len() {
                let x = strips[row][at];
                to[row] = if adds { to[row] + x } else { x };
            }
        }
    }
}
