//! The formats of the shape report.

mod graph;
mod graphs;
mod groups;
mod layers;
mod machine;
mod memory;
mod merged;
mod page;
mod table;
mod texts;

use ide::{
    shapes::{Amount, FunctionShapes, Row},
    words,
};

use syntax::LineIndex;

pub(crate) use graph::dot;
pub(crate) use graphs::{SCRIPTS as GRAPH_SCRIPTS, STYLE as GRAPH_STYLE, marked_graphs};
pub(crate) use layers::{layer_csv, layer_table};
pub(crate) use memory::{memory_csv, memory_table};
pub(crate) use merged::MergedShapes;
pub(crate) use page::html;
pub(crate) use table::{csv, table};

use super::{columns::aligned, escape};

/// Returns the totals of a function in one line: parameters, operations, calls and peak memory.
fn summary(function: &FunctionShapes) -> String {
    let total = &function.total;
    let many = |amount: &Amount, noun: &str| match amount.as_known() {
        Some(0) => format!("no {noun}s"),
        Some(known) => words::counted(known, noun),
        None => format!("{} {noun}s", function.number(amount)),
    };
    let size = match total.params.is_zero() {
        true => String::new(),
        false => format!(" ({})", function.bytes(&total.param_bytes)),
    };
    let peak = total.peak_row.and_then(|at| Some((at, function.rows.get(at)?)));
    let peak = peak.map_or_else(String::new, |(at, row)| {
        format!("; peak memory {} at {}", function.bytes(&total.peak), name_of(row, at))
    });
    let (parameters, macs) = (many(&total.params, "parameter"), many(&total.macs, "MAC"));
    let calls = many(&Amount::known(total.calls), "call");
    format!("{parameters}{size}, {macs}, {calls}{peak}")
}

/// Formats the tables of functions for a terminal, each with the name of its function above; `none` if there are none.
fn tables<'f>(
    functions: impl Iterator<Item = &'f FunctionShapes>,
    lines: &LineIndex,
    none: &str,
    table: impl Fn(&FunctionShapes) -> String,
) -> String {
    let tables: Vec<String> = functions
        .map(|function| {
            let line = lines.line_at(function.range.start()) + 1;
            format!("{} (line {line})\n{}", function.name, table(function))
        })
        .collect();
    let text = if tables.is_empty() { none.to_owned() } else { tables.join("\n") };
    escape::terminal_lines(&text).into_owned()
}

/// Aligns the cells of a table, of which the columns in `right` are numbers.
fn columns<const N: usize>(cells: &[[String; N]], right: [bool; N], most: Option<usize>) -> String {
    // The margin is a part of the line.
    let most = most.map(|most| most.saturating_sub(2));
    aligned(cells, &right, " ", most).iter().map(|line| format!("  {line}\n")).collect()
}

/// Formats a number, a zero as a dash.
fn nonzero(function: &FunctionShapes, amount: &Amount) -> String {
    if amount.is_zero() { "-".to_owned() } else { function.number(amount) }
}

/// Describes the unknown sizes of a function, one per line.
fn unknowns(function: &FunctionShapes) -> String {
    let unknowns = function.unknowns.iter();
    unknowns.map(|unknown| format!("where {} is {}\n", unknown.name, unknown.what)).collect()
}

/// Formats the rows of all functions as CSV by RFC 4180. The first field is the name of the function.
fn csv_rows<const N: usize>(
    head: &str,
    functions: &[FunctionShapes],
    rows: impl Fn(&FunctionShapes) -> Vec<[String; N]>,
) -> String {
    let mut out = format!("function,{head}\r\n");
    for function in functions.iter().flat_map(FunctionShapes::all) {
        // Spreadsheets would take `@main` for a formula.
        let name = escape::csv(function.name.trim_start_matches('@'));
        for fields in rows(function) {
            out += &format!("{name},{}\r\n", fields.map(|field| escape::csv(&field)).join(","));
        }
    }
    out
}

/// Returns an amount for CSV, without thousands separators if it is known.
fn csv_amount(function: &FunctionShapes, amount: &Amount) -> String {
    amount.as_known().map_or_else(|| function.number(amount), |known| known.to_string())
}

/// Returns the name of a call in a list: its variable, or its number.
fn name_of(row: &Row, at: usize) -> String {
    row.binding.clone().unwrap_or_else(|| format!("#{at}"))
}
