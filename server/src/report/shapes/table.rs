//! The shape report as a table for terminals and as CSV.

use std::borrow::Cow;

use ide::shapes::{Amount, FunctionShapes, Group};
use rustc_hash::FxHashSet;
use syntax::LineIndex;

use super::{name_of, summary};
use crate::report::escape;

/// The longest type that is printed whole, in characters.
const MAX_TYPE: usize = 60;
/// The number of characters that a shortened text has at least.
const SHORTEST: usize = 8;

/// The most calls of a small function.
const MAX_SMALL: usize = 8;
/// The number of small functions that have tables.
const MAX_TABLES: usize = 4;

/// Formats a table per function, with totals below. Texts are shortened as far as lines of `width` characters
/// require, but numbers are not.
pub(crate) fn table(
    functions: &[FunctionShapes],
    lines: &LineIndex,
    width: Option<usize>,
) -> String {
    let mut out = String::new();
    let all: Vec<&FunctionShapes> = functions.iter().flat_map(FunctionShapes::all).collect();
    let small = small(&all);
    let has_line: FxHashSet<*const FunctionShapes> =
        small.iter().map(|one| std::ptr::from_ref(*one)).collect();
    for function in all.iter().filter(|one| !has_line.contains(&std::ptr::from_ref(**one))) {
        if !out.is_empty() {
            out.push('\n');
        }
        let line = lines.line_at(function.range.start()) + 1;
        out += &format!("{} (line {line})\n", function.name);
        let head = ["line", "", "operator", "type", "parameters", "MACs", "bytes", "live"];
        let mut cells: Vec<[String; 8]> = vec![head.map(str::to_owned)];
        for (at, row) in function.rows.iter().enumerate() {
            cells.push([
                (lines.line_at(row.range.start()) + 1).to_string(),
                name_of(row, at),
                row.operator.clone(),
                cut(&row.ty.to_string(), MAX_TYPE),
                nonzero(function, &row.params),
                nonzero(function, &row.macs),
                function.bytes(&row.bytes),
                function.bytes(&row.live),
            ]);
        }
        // Numbers are aligned to the right.
        let right = [true, false, false, false, true, true, true, true];
        out += &columns(&cells, right, width);
        out += &totals(function, width);
    }
    out += &called(&small, lines, width);
    escape::terminal_lines(&out).into_owned()
}

/// Returns the functions that have one line each: those that the others call, if they are small and many, as `FuseOps`
/// and `ToANormalForm` make them.
fn small<'f>(all: &[&'f FunctionShapes]) -> Vec<&'f FunctionShapes> {
    let callees: FxHashSet<&str> =
        all.iter().flat_map(|one| &one.rows).map(|row| row.operator.as_str()).collect();
    let is_small =
        |one: &&FunctionShapes| one.rows.len() <= MAX_SMALL && callees.contains(one.name.as_str());
    let found: Vec<&FunctionShapes> = all.iter().copied().filter(is_small).collect();
    if found.len() > MAX_TABLES { found } else { Vec::new() }
}

/// Formats a line for each function, in the order of the file.
fn called(functions: &[&FunctionShapes], lines: &LineIndex, width: Option<usize>) -> String {
    if functions.is_empty() {
        return String::new();
    }
    let head = ["line", "", "operators", "parameters", "MACs", "peak"];
    let mut cells: Vec<[String; 6]> = vec![head.map(str::to_owned)];
    for function in functions {
        let operators: Vec<&str> = function.rows.iter().map(|row| row.operator.as_str()).collect();
        cells.push([
            (lines.line_at(function.range.start()) + 1).to_string(),
            function.name.clone(),
            cut(&operators.join(", "), MAX_TYPE),
            nonzero(function, &function.total.params),
            nonzero(function, &function.total.macs),
            function.bytes(&function.total.peak),
        ]);
    }
    let mut out = format!("\n{} small functions that these call\n", functions.len());
    out += &columns(&cells, [true, false, false, true, true, true], width);
    out
}

fn totals(function: &FunctionShapes, width: Option<usize>) -> String {
    let mut out = format!("total: {}\n", summary(function));
    for (what, groups) in [("operator", &function.by_operator), ("source", &function.by_span)] {
        if groups.is_empty() {
            continue;
        }
        let head = [format!("by {what}"), "calls".into(), "MACs".into(), "bytes".into()];
        let mut cells = vec![head];
        cells.extend(groups.iter().map(|group| group_cells(function, group)));
        out += &columns(&cells, [false, true, true, true], width);
    }
    for unknown in &function.unknowns {
        out += &format!("where {} is {}\n", unknown.name, unknown.what);
    }
    let undefined = function.rows.iter().enumerate().filter_map(|(at, row)| {
        let why = row.undefined.as_ref()?;
        Some(format!("not counted: the MACs of {} ({}): {why}\n", name_of(row, at), row.operator))
    });
    out.extend(undefined);
    out
}

fn group_cells(function: &FunctionShapes, group: &Group) -> [String; 4] {
    [
        group.name.clone(),
        ide::words::number(group.count),
        nonzero(function, &group.macs),
        function.bytes(&group.bytes),
    ]
}

fn nonzero(function: &FunctionShapes, amount: &Amount) -> String {
    if amount.is_zero() { "-".to_owned() } else { function.number(amount) }
}

/// Shortens a text to `longest` characters and a mark.
fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Aligns cells, of which the columns in `right` are numbers.
fn columns<const N: usize>(cells: &[[String; N]], right: [bool; N], most: Option<usize>) -> String {
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
                true => cut(cell, width.saturating_sub(1)).into(),
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

/// Formats the rows of all functions as CSV by RFC 4180.
pub(crate) fn csv(functions: &[FunctionShapes], lines: &LineIndex) -> String {
    let mut out = String::from(
        "function,row,line,binding,operator,type,parameters,macs,bytes,live_bytes,span\r\n",
    );
    for function in functions.iter().flat_map(FunctionShapes::all) {
        for (at, row) in function.rows.iter().enumerate() {
            let amount = |amount: &Amount| match amount.as_known() {
                Some(known) => known.to_string(),
                None => function.number(amount),
            };
            let fields = [
                // Spreadsheets would take `@main` for a formula.
                function.name.trim_start_matches('@').to_owned(),
                at.to_string(),
                (lines.line_at(row.range.start()) + 1).to_string(),
                row.binding.clone().unwrap_or_default(),
                row.operator.clone(),
                row.ty.to_string(),
                amount(&row.params),
                amount(&row.macs),
                amount(&row.bytes),
                amount(&row.live),
                row.span.clone().unwrap_or_default(),
            ];
            out += &fields.map(|field| escape::csv(&field)).join(",");
            out += "\r\n";
        }
    }
    out
}
