//! The shape report as a self-contained HTML page with graphs, sortable tables and a search.
//!
//! The page contains the report as JSON and renders visible rows only, with the table and the graph of the shape
//! panel: a browser cannot lay out 14,500 rows at once.

use ide::{layers::FunctionLayers, shapes::FunctionShapes};
use syntax::{LineIndex, TextRange};

use super::{graphs, summary};
use crate::{
    protocol::Function,
    report::{
        escape::html as escaped,
        page::{data, page},
    },
};

const STYLE: &str = include_str!("page.css");
const TABLE_STYLE: &str = include_str!("../../../../editors/vscode/media/table.css");
const SCRIPTS: [&str; 2] =
    [include_str!("../../../../editors/vscode/media/table.js"), include_str!("page.js")];

/// Returns the page.
pub(crate) fn html(
    title: &str,
    functions: &[FunctionShapes],
    layers: &[FunctionLayers],
    lines: &LineIndex,
) -> String {
    let mut out = format!(
        "<h1>{}</h1>\n\
         <header><input type=\"search\" placeholder=\"Search\" aria-label=\"Search\">\n\
         <label>Cost <select></select></label> <button title=\"Saves this page as a file\">Save page</button> <output></output></header>\n\
         <noscript><p>The tables are made by a script, which the browser does not run.</p></noscript>\n",
        escaped(title),
    );
    for function in functions.iter().flat_map(FunctionShapes::all) {
        section(function, &mut out);
    }
    let line = |range: TextRange| lines.line_at(range.start()) + 1;
    out += &data("report", &Function::list(functions, layers, &[], &line));
    let styles = [STYLE, graphs::STYLE, TABLE_STYLE];
    page(title, &styles, &[&graphs::SCRIPTS[..], &SCRIPTS].concat(), &out)
}

/// Writes a function with its totals; the script adds the tables below.
fn section(function: &FunctionShapes, out: &mut String) {
    let (name, totals) = (escaped(&function.name), summary(function));
    *out += &format!("<section>\n<h2><code>{name}</code></h2>\n<p>{}", escaped(&totals));
    for unknown in &function.unknowns {
        let (name, what) = (escaped(&unknown.name), escaped(&unknown.what));
        *out += &format!("<br>where <code>{name}</code> is {what}");
    }
    *out += "</p>\n</section>\n";
}
