//! Cells of tables for terminals.

use std::borrow::Cow;

use ide::{
    shapes::{Amount, FunctionShapes},
    words,
};

use crate::report::escape;

/// The number of characters that a shortened text has at least.
const SHORTEST: usize = 8;

/// Formats a number, a zero as a dash.
pub(super) fn nonzero(function: &FunctionShapes, amount: &Amount) -> String {
    if amount.is_zero() { "-".to_owned() } else { function.number(amount) }
}

/// Aligns cells, of which the columns in `right` are numbers.
pub(super) fn columns<const N: usize>(
    cells: &[[String; N]],
    right: [bool; N],
    most: Option<usize>,
) -> String {
    let mut widths = [0; N];
    for row in cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    // The longest text gives way first, one character after the other.
    while let Some(most) = most
        && 1 + widths.iter().map(|width| width + 1).sum::<usize>() > most
        && let Some(longest) =
            (0..N).filter(|&at| !right[at] && widths[at] > SHORTEST).max_by_key(|&at| widths[at])
    {
        widths[longest] -= 1;
    }
    let mut out = String::new();
    for row in cells {
        let mut line = String::from(" ");
        for ((cell, width), right) in row.iter().zip(widths).zip(right) {
            // Escaping preserves the number of characters, and so the columns.
            let cell = match cell.chars().count() > width {
                true => words::shortened(cell, width.saturating_sub(1)).into(),
                false => Cow::Borrowed(cell.as_str()),
            };
            let cell = escape::terminal(&cell);
            let space = " ".repeat(width - cell.chars().count());
            line += " ";
            line += &if right { format!("{space}{cell}") } else { format!("{cell}{space}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}
