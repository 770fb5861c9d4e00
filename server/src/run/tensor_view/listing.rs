//! A view of a tensor as lines of text, for editors without pictures.

use interpreter::{AxisSlice, Tensor, Value};
use weights::Stats;

use crate::{
    protocol::TensorListing,
    run::{show, slice},
};

/// Lists slices with their titles. `axes` is what they take of tensors with this shape.
pub(super) fn listing(
    head: &[String],
    slices: &[(String, Tensor)],
    axes: &[AxisSlice],
    shape: &[usize],
) -> TensorListing {
    let mut lines = head.to_vec();
    for (title, plane) in slices {
        lines.push(String::new());
        lines.push(title.clone());
        let stats = Stats::of_blocks(|f| plane.each_f64s(f));
        let elements = ide::elements::described(&stats);
        if !elements.facts.is_empty() {
            lines.push(format!("  {}", elements.facts));
        }
        if let Some(distribution) = elements.distribution {
            let ide::elements::Distribution { low, bars, high, .. } = distribution;
            lines.push(format!("  {low} ▕{bars}▏ {high}"));
        }
        let text = show::human(&Value::from(plane.clone()));
        // The first line of an array is its type and summary.
        let rows = text.split_once('\n').map_or(&*text, |(_, rows)| rows);
        lines.extend(rows.lines().map(|row| format!("  {row}")));
    }
    TensorListing { lines, next: moved(axes, shape, true), previous: moved(axes, shape, false) }
}

/// Returns the slice after or before one that takes one element of some axes: the last of these changes first. `None` at
/// either end.
fn moved(axes: &[AxisSlice], shape: &[usize], forwards: bool) -> Option<String> {
    let mut axes = axes.to_vec();
    for (axis, &size) in axes.iter_mut().zip(shape).rev() {
        let AxisSlice::Index(index) = axis else { continue };
        let next = if forwards { *index + 1 } else { index.wrapping_sub(1) };
        if next < size {
            *index = next;
            return Some(slice::text(&axes, shape));
        }
        *index = if forwards { 0 } else { size.saturating_sub(1) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_follow_each_other() {
        let shape = [2, 3, 2];
        let mut axes = slice::parse("[0, :, 0]", &shape).expect("a slice");
        assert_eq!(moved(&axes, &shape, false), None);
        let mut seen = Vec::new();
        while let Some(next) = moved(&axes, &shape, true) {
            axes = slice::parse(&next, &shape).expect("a slice");
            seen.push(next);
        }
        assert_eq!(seen, ["[0, :, 1]", "[1, :, 0]", "[1, :, 1]"]);
        assert_eq!(moved(&axes, &shape, false).as_deref(), Some("[1, :, 0]"));
    }
}
