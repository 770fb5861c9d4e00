//! Differences as a self-contained HTML page: both texts side by side, unchanged lines folded,
//! corresponding expressions highlighted together.

use std::fmt::Write;

use diff::{ModuleDiff, PairKind};
use syntax::TextRange;

use super::ShownModule;
use crate::{
    protocol::{Amount, Totals},
    report::{
        escape::html as escaped,
        page::page,
        shapes::{GRAPH_SCRIPTS, GRAPH_STYLE, MergedShapes},
    },
};

/// The number of context lines around a change.
const CONTEXT: usize = 3;

const STYLE: &str = "
body { font: 14px/1.4 system-ui, sans-serif; margin: 0; color-scheme: light dark; }
header { padding: .6em 1em; border-bottom: 1px solid #8884; }
main { display: flex; height: calc(100vh - 7em); }
section { flex: 1; overflow: auto; border-right: 1px solid #8884; min-width: 0; }
section > h2 { position: sticky; top: 0; margin: 0; padding: .2em 1em; font-size: 14px; background: Canvas; }
div.l { font-family: ui-monospace, monospace; font-size: 12px; white-space: pre; padding: 0 .5em; }
div.l::before { content: attr(data-n); display: inline-block; width: 5em; color: #8888; }
summary { color: #888; padding: 0 .5em; cursor: pointer; font-size: 12px; }
details { content-visibility: auto; }
.changed { background: #e8a80055; } .fused { background: #5a8dee33; } .inlined { background: #5a8dee33; }
.folded { background: #9c6ade44; } .expanded { background: #9c6ade44; }
.removed { background: #e6553355; } .added { background: #2da04455; }
.on { outline: 2px solid #e65533; }
[data-k] { cursor: pointer; }
input { font: inherit; padding: .2em .5em; width: 20em; }
#dataflow { padding: 0 1em 1em; }
";

const SCRIPT: &str = "
const all = key => document.querySelectorAll(`[data-k~=\"${key}\"]`);
const keysOf = event => { const of = event.target.closest('[data-k]'); return of ? of.dataset.k.split(' ') : []; };
let lit = [];
const light = keys => {
  for (const element of lit) element.classList.remove('on');
  lit = keys.flatMap(key => [...all(key)]);
  for (const element of lit) element.classList.add('on');
};
document.addEventListener('mouseover', event => light(keysOf(event)));
const reveal = element => {
  for (let at = element; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  element.scrollIntoView({ block: 'center' });
};
document.addEventListener('click', event => {
  const keys = keysOf(event), side = event.target.closest('section');
  for (const key of keys) for (const element of all(key))
    if (element.closest('section') !== side) { reveal(element); return; }
});
const find = document.querySelector('input');
let at = 0;
find.addEventListener('change', () => {
  const query = find.value.toLowerCase();
  if (!query) return;
  const lines = [...document.querySelectorAll('div.l')];
  const found = lines.filter(line => line.textContent.toLowerCase().includes(query));
  if (found.length) reveal(found[at++ % found.length]);
});
const marks = () => [...document.querySelectorAll('.changed,.fused,.inlined,.folded,.expanded,.removed,.added')];
let mark = -1;
document.querySelector('header button').addEventListener('click', () => {
  const found = marks();
  if (found.length) { mark = (mark + 1) % found.length; reveal(found[mark]); light((found[mark].dataset.k || '').split(' ').filter(Boolean)); }
});
if (document.getElementById('graphs') !== null) drawGraphs(document.getElementById('dataflow'), 'difference');
";

/// A mark in one of the texts, up to the end of its first line.
struct Mark {
    range: TextRange,
    class: &'static str,
    keys: Vec<usize>,
}

/// Returns the page. `merged` has the shapes of both modules, whose graphs have the colours of the differences.
pub(crate) fn html(
    diff: &ModuleDiff,
    (before, after): (&ShownModule<'_>, &ShownModule<'_>),
    totals: &Totals,
    merged: &MergedShapes,
) -> String {
    let (mut marks_a, mut marks_b) = (Vec::new(), Vec::new());
    let mut number = 0;
    for function in &diff.functions {
        for pair in &function.pairs {
            number += 1;
            let class = match pair.kind {
                PairKind::Same => "",
                kind => kind.word(),
            };
            marks_a.push(Mark { range: pair.before, class, keys: vec![number] });
            marks_b.push(Mark { range: pair.after, class, keys: vec![number] });
        }
        let lost = |range, class| Mark { range, class, keys: Vec::new() };
        marks_a.extend(function.removed.iter().map(|l| lost(l.range, "removed")));
        marks_b.extend(function.added.iter().map(|l| lost(l.range, "added")));
    }
    let title = format!("{} → {}", before.name, after.name);
    let lines = (after.lines, after.first_line);
    let graphs = merged.graphs(lines).filter(|_| !diff.equal).unwrap_or_default();
    let mut out = format!(
        "<header><strong>{}</strong><br>{}{}<br>\n\
         <input type=\"search\" placeholder=\"Search\" aria-label=\"Search\"> <button>Next change</button></header>\n<main>\n",
        escaped(&title),
        escaped(&super::human::headline(diff)),
        cost(totals),
    );
    section(before, marks_a, &mut out);
    section(after, marks_b, &mut out);
    out += "</main>\n";
    let mut scripts = vec![SCRIPT];
    if !graphs.is_empty() {
        out += "<div id=\"dataflow\"></div>\n";
        out += &graphs;
        scripts.splice(..0, GRAPH_SCRIPTS);
    }
    page(&title, &[STYLE, GRAPH_STYLE], &scripts, &out)
}

fn cost(totals: &Totals) -> String {
    let (Some(a), Some(b)) = (&totals.before, &totals.after) else { return String::new() };
    let both = |old: &Amount, new: &Amount| match old.text == new.text {
        true => escaped(&old.text),
        false => escaped(&format!("{} → {}", old.text, new.text)),
    };
    let counted = |old: &Amount, new: &Amount, noun: &str| {
        let end = if new.value == Some(1) { "" } else { "s" };
        format!("{} {noun}{end}", both(old, new))
    };
    format!(
        "<br>{}, {}, {}, peak {}",
        counted(&a.calls, &b.calls, "call"),
        counted(&a.params, &b.params, "parameter"),
        counted(&a.macs, &b.macs, "multiply-accumulate"),
        both(&a.peak, &b.peak)
    )
}

fn section(side: &ShownModule<'_>, mut marks: Vec<Mark>, out: &mut String) {
    let _ = writeln!(out, "<section><h2>{}</h2>", escaped(side.name));
    marks.sort_by_key(|mark| (mark.range.start(), std::cmp::Reverse(mark.range.end())));
    // A range with several counterparts is one mark with several keys and the most specific class.
    marks.dedup_by(|next, kept| {
        let same = next.range == kept.range;
        if same {
            kept.keys.append(&mut next.keys);
            if kept.class.is_empty() {
                kept.class = next.class;
            }
        }
        same
    });
    let lines: Vec<&str> = side.text.split_inclusive('\n').collect();
    let mut starts = Vec::with_capacity(lines.len());
    let mut start = 0;
    for line in &lines {
        starts.push(start);
        start += line.len();
    }
    let before = |offset| marks.partition_point(|m| usize::from(m.range.start()) < offset);
    let of_line = |at: usize| &marks[before(starts[at])..before(starts[at] + lines[at].len())];
    let is_changed = |at| of_line(at).iter().any(|mark| !mark.class.is_empty());
    let mut shown = vec![false; lines.len()];
    for at in 0..lines.len() {
        if is_changed(at) {
            let end = (at + CONTEXT + 1).min(lines.len());
            shown[at.saturating_sub(CONTEXT)..end].fill(true);
        }
    }
    let mut at = 0;
    while at < lines.len() {
        let run = shown[at..].iter().take_while(|is| **is == shown[at]).count();
        let folded = !shown[at] && run > 2 * CONTEXT;
        if folded {
            let _ = writeln!(out, "<details><summary>{run} unchanged lines</summary>");
        }
        for number in at..at + run {
            let _ = write!(
                out,
                "<div class=\"l\" data-n=\"{}\">",
                number + side.first_line as usize + 1
            );
            line(
                lines[number].trim_end_matches(['\n', '\r']),
                starts[number],
                of_line(number),
                out,
            );
            out.push_str("</div>\n");
        }
        if folded {
            out.push_str("</details>\n");
        }
        at += run;
    }
    out.push_str("</section>\n");
}

/// Writes a line with its marks, which nest as expressions do.
fn line(text: &str, start: usize, marks: &[Mark], out: &mut String) {
    let mut open: Vec<usize> = Vec::new();
    let mut written = 0;
    let put = |from: &mut usize, to: usize, out: &mut String| {
        out.push_str(&escaped(text.get(*from..to).unwrap_or_default()));
        *from = to.max(*from);
    };
    for mark in marks {
        let from = usize::from(mark.range.start()) - start;
        let to = (usize::from(mark.range.end()) - start).min(text.len());
        while open.last().is_some_and(|&end| end <= from) {
            put(&mut written, open.pop().unwrap_or_default(), out);
            out.push_str("</span>");
        }
        put(&mut written, from.min(text.len()), out);
        let keys: Vec<String> = mark.keys.iter().map(usize::to_string).collect();
        let _ = write!(out, "<span class=\"{}\" data-k=\"{}\">", mark.class, keys.join(" "));
        open.push(to.min(open.last().copied().unwrap_or(text.len())));
    }
    while let Some(end) = open.pop() {
        put(&mut written, end, out);
        out.push_str("</span>");
    }
    put(&mut written, text.len(), out);
}
