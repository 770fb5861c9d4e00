//! The errors after each pass of a log as a self-contained HTML page.

use serde::Serialize;
use serde_json::json;

use super::page::STYLES;
use crate::{
    report::{
        escape::html as escaped,
        page::{data, page},
    },
    run::compare::Errors,
};

const SCRIPTS: [&str; 2] =
    [include_str!("../../../../editors/vscode/media/table.js"), include_str!("modules.js")];

/// A module of a log that was run, or cannot be.
#[derive(Serialize)]
pub(crate) struct ModuleRow<'l> {
    /// The number of the module.
    pub(crate) index: usize,
    /// The pass that made it.
    pub(crate) pass: Option<&'l str>,
    /// `equal`, `differs` or `cannot be run`.
    pub(crate) state: &'static str,
    /// The error of its result; `null` if it has another type or is not known.
    pub(crate) result: Option<Errors>,
    /// The reason that it cannot be run, after its place.
    pub(crate) reason: Option<String>,
}

/// Returns the page of a log.
pub(crate) fn modules_html(log: &str, rows: &[ModuleRow<'_>]) -> String {
    let head = format!(
        "<h1>{}</h1>\n<header><input type=\"search\" placeholder=\"Search\" aria-label=\"Search\"></header>\n\
         <noscript><p>The table is made by a script, which the browser does not run.</p></noscript>\n\
         <section></section>\n",
        escaped(log),
    );
    page(log, &STYLES, &SCRIPTS, &(head + &data("report", &json!({ "modules": rows }))))
}
