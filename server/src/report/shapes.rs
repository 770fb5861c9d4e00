//! The formats of the shape report.

mod graph;
mod machine;
mod page;
mod table;

use ide::shapes::Row;

pub(crate) use graph::dot;
pub(crate) use machine::JsonFunction;
pub(crate) use page::html;
pub(crate) use table::{csv, table};

/// Returns the name of a call in a list: its variable, or its number.
fn name_of(row: &Row, at: usize) -> String {
    row.binding.clone().unwrap_or_else(|| format!("#{at}"))
}
