//! The shape report as a self-contained HTML page with sortable tables and a search.
//!
//! The page contains the report as JSON and renders visible rows only, with the table of the shape
//! panel: a browser cannot lay out 14,500 rows at once.

use ide::shapes::FunctionShapes;
use syntax::{LineIndex, TextRange};

use super::{JsonFunction, name_of};
use crate::report::escape::{self, html as escaped};

const STYLE: &str = include_str!("page.css");
const TABLE_STYLE: &str = include_str!("../../../../editors/vscode/media/table.css");
const SCRIPTS: [&str; 3] = [
    include_str!("../../../../editors/vscode/media/amounts.js"),
    include_str!("../../../../editors/vscode/media/table.js"),
    include_str!("page.js"),
];

/// Returns the page.
pub(crate) fn html(title: &str, functions: &[FunctionShapes], lines: &LineIndex) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n\
         <style>\n{STYLE}{TABLE_STYLE}</style></head>\n<body>\n<h1>{0}</h1>\n\
         <header><input type=\"search\" placeholder=\"Search\" aria-label=\"Search\">\n\
         <label>Cost <select></select></label> <output></output></header>\n\
         <noscript><p>The tables are made by a script, which the browser does not run.</p></noscript>\n",
        escaped(title),
    );
    for function in functions.iter().flat_map(FunctionShapes::all) {
        section(function, &mut out);
    }
    let line = |range: TextRange| lines.line_at(range.start()) + 1;
    let report: Vec<_> = functions.iter().map(|f| JsonFunction::new(f, &line)).collect();
    // Numbers and strings serialise without errors.
    let report = serde_json::to_string(&report).unwrap_or_default();
    out += "<script type=\"application/json\" id=\"report\">";
    out += &escape::script(&report);
    out += &format!("</script>\n<script>\n{}</script>\n</body></html>\n", SCRIPTS.concat());
    out
}

/// Writes a function with its totals; the script adds the tables below.
fn section(function: &FunctionShapes, out: &mut String) {
    let total = &function.total;
    *out += &format!("<section>\n<h2><code>{}</code></h2>\n<p>", escaped(&function.name));
    *out += &format!(
        "{} parameters ({}), {} MACs, {} calls of operators",
        escaped(&function.number(&total.params)),
        escaped(&function.bytes(&total.param_bytes)),
        escaped(&function.number(&total.macs)),
        ide::words::number(total.calls),
    );
    if let Some((at, row)) = total.peak_row.and_then(|at| Some((at, function.rows.get(at)?))) {
        let (peak, name) = (function.bytes(&total.peak), name_of(row, at));
        *out += &format!("; peak memory {} at <code>{}</code>", escaped(&peak), escaped(&name));
    }
    for unknown in &function.unknowns {
        let (name, what) = (escaped(&unknown.name), escaped(&unknown.what));
        *out += &format!("<br>where <code>{name}</code> is {what}");
    }
    *out += "</p>\n</section>\n";
}
