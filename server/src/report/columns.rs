//! Tables for terminals.

use std::borrow::Cow;

use ide::words;

use super::escape;

/// The number of characters that a shortened text has at least.
const SHORTEST: usize = 8;

/// Returns the lines of a table with `gap` between its columns, of which those in `right` are numbers. Texts are
/// shortened as far as lines of `most` characters require, but numbers are not.
pub(crate) fn aligned(
    rows: &[impl AsRef<[String]>],
    right: &[bool],
    gap: &str,
    most: Option<usize>,
) -> Vec<String> {
    let mut widths = vec![0; right.len()];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = cell.chars().count().max(*width);
        }
    }
    let gaps = gap.len() * right.len().saturating_sub(1);
    // The longest text gives way first, one character after the other.
    while let Some(most) = most
        && gaps + widths.iter().sum::<usize>() > most
        && let Some(longest) = (0..widths.len())
            .filter(|&at| !right[at] && widths[at] > SHORTEST)
            .max_by_key(|&at| widths[at])
    {
        widths[longest] -= 1;
    }
    let aligned = |((cell, &width), &right): ((&String, &usize), &bool)| {
        // Escaping preserves the number of characters, and so the columns.
        let cell = match cell.chars().count() > width {
            true => words::shortened(cell, width.saturating_sub(1)).into(),
            false => Cow::Borrowed(cell.as_str()),
        };
        let cell = escape::terminal(&cell);
        let space = " ".repeat(width - cell.chars().count());
        if right { space + &cell } else { cell.into_owned() + &space }
    };
    let line = |row: &[String]| {
        let cells: Vec<String> = row.iter().zip(&widths).zip(right).map(aligned).collect();
        cells.join(gap).trim_end().to_owned()
    };
    rows.iter().map(|row| line(row.as_ref())).collect()
}
