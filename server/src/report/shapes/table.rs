//! The shape report as a table for terminals and as CSV.

use ide::{
    shapes::{Amount, FunctionShapes, Row},
    words,
};
use rustc_hash::FxHashSet;
use syntax::LineIndex;

use super::{
    columns, csv_amount, csv_rows, layers::by_layer, name_of, nonzero, summary, tables, unknowns,
};
use crate::report::escape;

/// The longest type that is printed whole, in characters.
const MAX_TYPE: usize = 60;

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
    let all: Vec<&FunctionShapes> = functions.iter().flat_map(FunctionShapes::all).collect();
    let small = small(&all);
    let has_line: FxHashSet<*const FunctionShapes> =
        small.iter().map(|one| std::ptr::from_ref(*one)).collect();
    let whole = all.into_iter().filter(|one| !has_line.contains(&std::ptr::from_ref(*one)));
    let tables = tables(whole, lines, "", |function| {
        let head = ["line", "", "operator", "type", "parameters", "MACs", "bytes", "live"];
        let mut cells: Vec<[String; 8]> = vec![head.map(str::to_owned)];
        for (at, row) in function.rows.iter().enumerate() {
            cells.push([
                (lines.line_at(row.range.start()) + 1).to_string(),
                name_of(row, at),
                row.operator.clone(),
                words::shortened(&row.ty, MAX_TYPE),
                nonzero(function, &row.params),
                nonzero(function, &row.macs),
                function.bytes(&row.bytes),
                function.bytes(&row.live),
            ]);
        }
        // Numbers are aligned to the right.
        let right = [true, false, false, false, true, true, true, true];
        columns(&cells, right, width) + &totals(function, width)
    });
    tables + &escape::terminal_lines(&called(&small, lines, width))
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
            words::shortened(operators.join(", "), MAX_TYPE),
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
        cells.extend(groups.iter().map(|group| {
            let (macs, bytes) = (nonzero(function, &group.macs), function.bytes(&group.bytes));
            [group.name.clone(), words::number(group.count), macs, bytes]
        }));
        out += &columns(&cells, [false, true, true, true], width);
    }
    if !function.by_layer.is_empty() {
        out += &by_layer(function, None, width);
    }
    out += &unknowns(function);
    let undefined = function.rows.iter().enumerate().filter_map(|(at, row)| {
        let why = row.undefined.as_ref()?;
        Some(format!("not counted: the MACs of {} ({}): {why}\n", name_of(row, at), row.operator))
    });
    out.extend(undefined);
    out
}

/// Formats the rows of all functions as CSV by RFC 4180.
pub(crate) fn csv(functions: &[FunctionShapes], lines: &LineIndex) -> String {
    let head = "row,line,binding,operator,type,parameters,macs,bytes,live_bytes,span";
    csv_rows(head, functions, |function| {
        let amount = |amount: &Amount| csv_amount(function, amount);
        let fields = |(at, row): (usize, &Row)| {
            [
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
            ]
        };
        function.rows.iter().enumerate().map(fields).collect()
    })
}
