//! The formats of the shape report.

mod columns;
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

pub(crate) use graph::dot;
pub(crate) use graphs::{SCRIPTS as GRAPH_SCRIPTS, STYLE as GRAPH_STYLE, marked_graphs};
pub(crate) use layers::{layer_csv, layer_table};
pub(crate) use memory::{memory_csv, memory_table};
pub(crate) use merged::MergedShapes;
pub(crate) use page::html;
pub(crate) use table::{csv, table};

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

/// Returns the name of a call in a list: its variable, or its number.
fn name_of(row: &Row, at: usize) -> String {
    row.binding.clone().unwrap_or_else(|| format!("#{at}"))
}
