//! Memory over time: what is live at the peak, as a table, and the lifetimes of all results, as CSV.

use ide::shapes::{Amount, FunctionShapes, Row};
use syntax::LineIndex;

use super::{columns, csv_amount, csv_rows, name_of, summary, tables, texts::label, unknowns};

/// Formats a table per function of the results that are live at the peak, the largest first.
pub(crate) fn memory_table(
    functions: &[FunctionShapes],
    lines: &LineIndex,
    width: Option<usize>,
) -> String {
    let all = functions.iter().flat_map(FunctionShapes::all);
    tables(all, lines, "no function has calls\n", |function| {
        let mut out = String::new();
        let head = ["live at the peak", "operator", "type", "bytes", "lines"];
        let mut cells = vec![head.map(str::to_owned)];
        for at in function.peak_rows() {
            let row = &function.rows[at];
            let first = lines.line_at(row.range.start()) + 1;
            cells.push([
                name_of(row, at),
                row.operator.clone(),
                label(&row.ty),
                function.bytes(&row.bytes),
                match last_line(function, row, lines) {
                    Some(last) if last == first => first.to_string(),
                    Some(last) => format!("{first}–{last}"),
                    None => format!("{first}–result"),
                },
            ]);
        }
        if cells.len() > 1 {
            out += &columns(&cells, [false, false, false, true, false], width);
        }
        let peak = function.total.peak_row.and_then(|at| Some((at, function.rows.get(at)?)));
        if let Some((at, row)) = peak.filter(|(_, row)| row.peak.is_some()) {
            let mut inside = function.total.peak.clone();
            // The memory of the callee includes the result.
            inside.subtract(&row.live);
            inside.add(&row.bytes);
            let (name, inside) = (name_of(row, at), function.bytes(&inside));
            out += &format!("in the call of {} at {name}: {inside}\n", row.operator);
        }
        out + &format!("total: {}\n{}", summary(function), unknowns(function))
    })
}

/// Returns the line of the last call during which a result is live; `None` for a result of the function.
fn last_line(function: &FunctionShapes, row: &Row, lines: &LineIndex) -> Option<u32> {
    function.rows.get(row.until).map(|last| lines.line_at(last.range.start()) + 1)
}

/// Formats the lifetimes of the results of all functions as CSV by RFC 4180. The last line of a result of a function is
/// empty.
pub(crate) fn memory_csv(functions: &[FunctionShapes], lines: &LineIndex) -> String {
    let head = "row,binding,operator,type,bytes,live_bytes,peak_bytes,first_line,last_line,at_peak";
    csv_rows(head, functions, |function| {
        let amount = |amount: &Amount| csv_amount(function, amount);
        let peak = function.total.peak_row;
        let fields = |(at, row): (usize, &Row)| {
            let is_at_peak = peak.is_some_and(|peak| at <= peak && peak <= row.until);
            [
                at.to_string(),
                row.binding.clone().unwrap_or_default(),
                row.operator.clone(),
                row.ty.to_string(),
                amount(&row.bytes),
                amount(&row.live),
                amount(row.peak.as_ref().unwrap_or(&row.live)),
                (lines.line_at(row.range.start()) + 1).to_string(),
                last_line(function, row, lines).map_or_else(String::new, |line| line.to_string()),
                is_at_peak.to_string(),
            ]
        };
        function.rows.iter().enumerate().map(fields).collect()
    })
}
