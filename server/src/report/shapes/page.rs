//! The shape report as one page that needs nothing else: tables that sort by a click, and a search.

use ide::shapes::{Amount, FunctionShapes, Group};
use syntax::LineIndex;

use super::name_of;
use crate::report::escape::html as escaped;

const STYLE: &str = "
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; color-scheme: light dark; }
table { border-collapse: collapse; margin: .5em 0 1.5em; }
th, td { padding: .15em .7em; text-align: left; border-bottom: 1px solid #8884; }
th { cursor: pointer; position: sticky; top: 0; background: Canvas; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
td, code { font-family: ui-monospace, monospace; }
.bar { background: linear-gradient(90deg, #e6553344 var(--w), transparent var(--w)); }
input { font: inherit; padding: .2em .5em; width: 20em; }
";

const SCRIPT: &str = "
const find = document.querySelector('input');
find.addEventListener('input', () => {
  const wanted = find.value.toLowerCase();
  for (const row of document.querySelectorAll('tbody tr'))
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
});
for (const head of document.querySelectorAll('th')) head.addEventListener('click', () => {
  const body = head.closest('table').tBodies[0], at = head.cellIndex;
  const value = row => { const c = row.cells[at]; return c.dataset.v ? +c.dataset.v : c.textContent; };
  const down = head.dataset.down = head.dataset.down === '1' ? '0' : '1';
  const rows = [...body.rows].sort((a, b) => {
    const x = value(a), y = value(b);
    const order = typeof x === 'number' && typeof y === 'number' ? x - y : `${x}`.localeCompare(`${y}`);
    return down === '1' ? -order : order;
  });
  body.append(...rows);
});
";

/// The page.
pub(crate) fn html(title: &str, functions: &[FunctionShapes], lines: &LineIndex) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n\
         <style>{STYLE}</style></head>\n<body>\n<h1>{}</h1>\n\
         <p><input type=\"search\" placeholder=\"Search\" aria-label=\"Search\"></p>\n",
        escaped(title),
        escaped(title)
    );
    for function in functions.iter().flat_map(FunctionShapes::all) {
        section(function, lines, &mut out);
    }
    out += &format!("<script>{SCRIPT}</script>\n</body></html>\n");
    out
}

fn section(function: &FunctionShapes, lines: &LineIndex, out: &mut String) {
    let total = &function.total;
    *out += &format!("<h2><code>{}</code></h2>\n<p>", escaped(&function.name));
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
    *out += "</p>\n";
    head(&["line", "", "operator", "type", "parameters", "MACs", "bytes", "live", "source"], out);
    let most = function.rows.iter().map(|row| row.macs.at_one()).max().unwrap_or(0);
    for (at, row) in function.rows.iter().enumerate() {
        let line = lines.line_at(row.range.start()) + 1;
        *out += &format!("<tr><td class=\"n\" data-v=\"{line}\">{line}</td>");
        for text in [&name_of(row, at), &row.operator, &row.ty.to_string()] {
            *out += &format!("<td>{}</td>", escaped(text));
        }
        number(function.number(&row.params), &row.params, 0, out);
        number(function.number(&row.macs), &row.macs, most, out);
        number(function.bytes(&row.bytes), &row.bytes, 0, out);
        number(function.bytes(&row.live), &row.live, total.peak.at_one(), out);
        *out += &format!("<td>{}</td></tr>\n", escaped(row.span.as_deref().unwrap_or("")));
    }
    *out += "</tbody></table>\n";
    for (what, groups) in [("operator", &function.by_operator), ("source", &function.by_span)] {
        if !groups.is_empty() {
            head(&[&format!("by {what}"), "calls", "MACs", "bytes"], out);
            groups.iter().for_each(|group| group_row(function, group, out));
            *out += "</tbody></table>\n";
        }
    }
}

fn head(names: &[&str], out: &mut String) {
    *out += "<table><thead><tr>";
    names.iter().for_each(|name| *out += &format!("<th>{name}</th>"));
    *out += "</tr></thead><tbody>\n";
}

fn group_row(function: &FunctionShapes, group: &Group, out: &mut String) {
    *out += &format!("<tr><td>{}</td>", escaped(&group.name));
    *out += &format!("<td class=\"n\" data-v=\"{0}\">{0}</td>", group.count);
    number(function.number(&group.macs), &group.macs, function.total.macs.at_one(), out);
    number(function.bytes(&group.bytes), &group.bytes, 0, out);
    *out += "</tr>\n";
}

/// A cell with a number, and a bar as long as its part of `most`.
fn number(text: String, amount: &Amount, most: u64, out: &mut String) {
    let value = amount.at_one();
    let bar = if most > 0 && value > 0 {
        format!(" bar\" style=\"--w:{:.1}%", value as f64 * 100.0 / most as f64)
    } else {
        String::new()
    };
    *out += &format!("<td class=\"n{bar}\" data-v=\"{value}\">{}</td>", escaped(&text));
}
