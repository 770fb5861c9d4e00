//! The comparison of the values of two modules as a self-contained HTML page: a sortable table of the pairs, one of
//! their sources, and the histogram of the error of a pair.

use std::collections::BTreeMap;

use ide::{layers::FunctionLayers, shapes::FunctionShapes};
use serde::Serialize;
use syntax::TextRange;

use super::{Calls, error_overlays, human, stop_text};
use crate::{
    report::{
        diff::{ShownModule, change_text},
        escape::html as escaped,
        page::{data, page},
        shapes::{GRAPH_SCRIPTS, GRAPH_STYLE, marked_graphs},
    },
    run::compare::{Comparison, Errors, Histogram, PairComparison, span_after},
};

pub(super) const STYLES: [&str; 3] = [
    include_str!("../shapes/page.css"),
    include_str!("../../../../editors/vscode/media/table.css"),
    include_str!("page.css"),
];
const SCRIPTS: [&str; 2] =
    [include_str!("../../../../editors/vscode/media/table.js"), include_str!("page.js")];

/// What the script of the page shows.
#[derive(Serialize)]
struct Report<'d> {
    pairs: Vec<Row<'d>>,
    sources: Vec<Source>,
    /// The labels of the bins of histograms.
    histogram: Vec<String>,
}

#[derive(Serialize)]
struct Row<'d> {
    at: usize,
    operator: &'d str,
    /// The lines of both calls.
    lines: [u32; 2],
    local: Errors,
    accumulated: Option<Errors>,
    culprit: bool,
    source: Option<String>,
    sample: Option<&'d str>,
    changes: Vec<String>,
    values: Option<[String; 2]>,
    histogram: Option<Histogram>,
}

/// The pairs of one source.
#[derive(Serialize)]
struct Source {
    name: String,
    calls: usize,
    culprits: usize,
    local: Errors,
    accumulated: Option<Errors>,
}

/// Returns the page. `shapes` are those of the second module, whose graphs have the colours of the errors.
pub(crate) fn html(
    comparison: &Comparison,
    calls: &Calls<'_>,
    (a, b): (&ShownModule<'_>, &ShownModule<'_>),
    shapes: (&[FunctionShapes], &[FunctionLayers]),
) -> String {
    let title = format!("{} → {}", a.name, b.name);
    let summary = human(comparison, calls, (a, b));
    let mut out = format!(
        "<h1>{}</h1>\n<header><input type=\"search\" placeholder=\"Search\" aria-label=\"Search\"></header>\n\
         <noscript><p>The tables are made by a script, which the browser does not run.</p></noscript>\n<p>{}</p>\n",
        escaped(&title),
        escaped(summary.lines().next().unwrap_or_default()),
    );
    let stops = comparison.stops.0.iter().map(|stop| stop_text(stop, a));
    for stop in stops.chain(comparison.stops.1.iter().map(|stop| stop_text(stop, b))) {
        out += &format!("<p>cannot be run: {}</p>\n", escaped(&stop));
    }
    out += "<aside></aside>\n<section id=\"pairs\"></section>\n<section id=\"sources\"></section>\n<section id=\"dataflow\"></section>\n";
    let not_run = calls.not_run(comparison, (a, b));
    if !not_run.is_empty() {
        let count = ide::words::counted(not_run.len() as u64, "pair");
        out += &format!("<details><summary>{count} not compared</summary>\n<ul>\n");
        for (_, pair, reason) in not_run {
            let (line, _) = b.position(pair.after);
            let operator = escaped(&pair.operators.1);
            out +=
                &format!("<li><code>{operator}</code>, line {line}: {}</li>\n", escaped(&reason));
        }
        out += "</ul></details>\n";
    }
    let rows = comparison.pairs.iter().enumerate();
    let report = Report {
        pairs: rows.map(|(at, compared)| row(at, compared, calls, (a, b))).collect(),
        sources: sources(comparison, calls, (a, b)),
        histogram: Histogram::labels(),
    };
    let (_, errors) = error_overlays(comparison, calls, (a, b));
    let graphs = marked_graphs(shapes, &errors, &|range| range, (b.lines, b.first_line));
    out += &graphs.unwrap_or_default();
    out += &data("report", &report);
    let styles = [&STYLES[..], &[GRAPH_STYLE]].concat();
    page(&title, &styles, &[&GRAPH_SCRIPTS[..], &SCRIPTS].concat(), &out)
}

fn row<'d>(
    at: usize,
    compared: &PairComparison,
    calls: &Calls<'d>,
    (a, b): (&ShownModule<'_>, &ShownModule<'_>),
) -> Row<'d> {
    let (_, pair) = calls.compared[compared.pair];
    let line = |range: TextRange, side: &ShownModule<'_>| side.position(range).0;
    let values = compared.values.as_ref();
    Row {
        at,
        operator: &pair.operators.1,
        lines: [line(pair.before, a), line(pair.after, b)],
        local: compared.local,
        accumulated: compared.accumulated,
        culprit: compared.is_culprit,
        source: source_of(compared, calls, (a, b)),
        sample: calls.sample(compared.sample),
        changes: pair.changes.iter().map(change_text).collect(),
        values: values.map(|(before, after)| [before.line(), after.line()]),
        histogram: compared.histogram,
    }
}

/// Returns the name in the span of one of the calls.
fn source_of(
    compared: &PairComparison,
    calls: &Calls<'_>,
    (a, b): (&ShownModule<'_>, &ShownModule<'_>),
) -> Option<String> {
    let (_, pair) = calls.compared[compared.pair];
    span_after(b.text, pair.after).or_else(|| span_after(a.text, pair.before))
}

/// Returns the sources of the calls with the worst errors of each; none if no call has one.
fn sources(
    comparison: &Comparison,
    calls: &Calls<'_>,
    sides: (&ShownModule<'_>, &ShownModule<'_>),
) -> Vec<Source> {
    let mut groups: BTreeMap<String, Vec<&PairComparison>> = BTreeMap::new();
    for compared in &comparison.pairs {
        if let Some(name) = source_of(compared, calls, sides) {
            groups.entry(name).or_default().push(compared);
        }
    }
    let source = |(name, pairs): (String, Vec<&PairComparison>)| Source {
        name,
        calls: pairs.len(),
        culprits: pairs.iter().filter(|pair| pair.is_culprit).count(),
        local: pairs.iter().map(|pair| pair.local).fold(Errors::default(), Errors::or_worse),
        accumulated: pairs
            .iter()
            .try_fold(Errors::default(), |all, pair| Some(all.or_worse(pair.accumulated?))),
    };
    groups.into_iter().map(source).collect()
}
