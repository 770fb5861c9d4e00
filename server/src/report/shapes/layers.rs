//! The totals of layers, as a table and as CSV.

use ide::shapes::{Amount, FunctionShapes, LayerTotal};
use syntax::LineIndex;

use super::{columns, csv_amount, csv_rows, nonzero, summary, tables, unknowns};
use crate::report::line_range;

/// Formats a table of layers per function, with the totals below.
pub(crate) fn layer_table(
    functions: &[FunctionShapes],
    lines: &LineIndex,
    width: Option<usize>,
) -> String {
    let all = functions.iter().flat_map(FunctionShapes::all);
    let layered = all.filter(|function| !function.by_layer.is_empty());
    tables(layered, lines, "no function has layers\n", |function| {
        let layers = by_layer(function, Some(lines), width);
        format!("{layers}total: {}\n{}", summary(function), unknowns(function))
    })
}

/// Formats the totals of the layers of a function, with their lines if given.
pub(super) fn by_layer(
    function: &FunctionShapes,
    lines: Option<&LineIndex>,
    width: Option<usize>,
) -> String {
    let head = ["by layer", "calls", "parameters", "MACs", "bytes", "lines"];
    let mut cells = vec![head.map(str::to_owned)];
    if lines.is_none() {
        cells[0][5].clear();
    }
    for layer in &function.by_layer {
        cells.push([
            format!("{}{}", "  ".repeat(layer.depth), layer.title()),
            ide::words::number(layer.count),
            nonzero(function, &layer.params),
            nonzero(function, &layer.macs),
            function.bytes(&layer.bytes),
            lines.map_or_else(String::new, |lines| line_range(layer.range, lines)),
        ]);
    }
    columns(&cells, [false, true, true, true, true, false], width)
}

/// Formats the layers of all functions as CSV by RFC 4180.
pub(crate) fn layer_csv(functions: &[FunctionShapes], lines: &LineIndex) -> String {
    let head = "depth,layer,first_line,last_line,calls,parameters,macs,bytes";
    csv_rows(head, functions, |function| {
        let amount = |amount: &Amount| csv_amount(function, amount);
        let fields = |layer: &LayerTotal| {
            [
                layer.depth.to_string(),
                layer.title(),
                (lines.line_at(layer.range.start()) + 1).to_string(),
                (lines.line_at(layer.range.end()) + 1).to_string(),
                layer.count.to_string(),
                amount(&layer.params),
                amount(&layer.macs),
                amount(&layer.bytes),
            ]
        };
        function.by_layer.iter().map(fields).collect()
    })
}
