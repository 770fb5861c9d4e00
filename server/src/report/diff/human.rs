//! Differences as text: a summary, then the changes, with equal changes grouped.

use std::fmt::{self, Write};

use diff::{Change, Fact, FunctionDiff, ModuleDiff, Pair, PairKind, Property, UnpairedExpr};
use rustc_hash::FxHashMap;
use syntax::{TextRange, TextSize};
use types::{AttrValue, TensorType};

use super::{
    ShownModule, layers,
    replaces::{self, ListedPair, ReplacedCalls, Sides, is_operator},
};
use crate::{
    protocol::{Cost, Totals},
    report::escape,
};

/// The largest number of groups of changes of a function.
const MAX_GROUPS: usize = 40;
/// The largest number of places that are shown on one side of a change.
const MAX_PLACES: usize = 3;
/// The longest part of a line that is printed, in characters.
const MAX_LINE: usize = 110;

/// A report of differences.
#[derive(Default)]
pub(crate) struct Report {
    /// The report, for a terminal.
    pub(crate) text: String,
    /// The places that it names, in order.
    pub(crate) places: Vec<Place>,
}

/// A place that a report names, such as `12:3`.
pub(crate) struct Place {
    /// Its range in the report.
    pub(crate) range: TextRange,
    /// The expressions of a change.
    pub(crate) ends: Ends,
}

/// The expressions of a change; `None` on the side without one.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) before: Option<TextRange>,
    pub(crate) after: Option<TextRange>,
}

impl Write for Report {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.write_str(text)
    }
}

/// Reports differences.
pub(crate) fn human(
    diff: &ModuleDiff,
    sides: (&ShownModule<'_>, &ShownModule<'_>),
    totals: &Totals,
) -> Report {
    let (before, after) = sides;
    let mut out = Report::default();
    let (name_a, name_b) = (escape::terminal(before.name), escape::terminal(after.name));
    if diff.equal {
        let _ = writeln!(out, "`{name_a}` and `{name_b}` are equal in structure");
        return out;
    }
    let _ = writeln!(out, "`{name_a}` → `{name_b}`: {}", headline(diff));
    for ty in &diff.types {
        let name = escape::terminal(&ty.name);
        let _ = match (ty.before, ty.after) {
            (Some(_), Some(_)) => writeln!(out, "\nthe data type `{name}` changed"),
            (None, _) => writeln!(out, "\nthe data type `{name}` was added"),
            _ => writeln!(out, "\nthe data type `{name}` was removed"),
        };
    }
    for function in diff.functions.iter().filter(|function| !function.equal) {
        describe(function, sides, &mut out);
    }
    cost(totals, &mut out.text);
    out
}

/// Summarises differences in one sentence.
pub(crate) fn headline(diff: &ModuleDiff) -> String {
    let mut parts = Vec::new();
    let open = || diff.functions.iter().filter(|f| !f.equal);
    if open().any(|function| function.is_guess) {
        parts.push(
            "the modules have little in common; the differences below are approximate".to_owned(),
        );
    }
    let pairs = || open().flat_map(|f| &f.pairs);
    let calls = |kind: PairKind| {
        pairs()
            .filter(|p| {
                p.kind == kind && is_operator(&p.operators.0) && is_operator(&p.operators.1)
            })
            .count()
    };
    let fused = calls(PairKind::Fused);
    if fused > 0 {
        let wrappers = |side| pairs().filter(|pair| replaces::is_wrapper(pair, side)).count();
        let (then, now) = (wrappers(Sides::Before), wrappers(Sides::After));
        let calls = count(fused, "call");
        let functions = |number| count(number, "fused function");
        parts.push(match (now, then) {
            (0, then) => format!("{} became {calls}", functions(then)),
            (now, 0) => format!("{calls} became {}", functions(now)),
            (now, then) => {
                format!("{calls} moved between fused functions ({then} before, {now} after)")
            }
        });
    }
    let (mut expanded, mut combined) = ((0, 0), (0, 0));
    for function in open() {
        for replaced in replaces::expansions(&function.pairs) {
            let sum = match replaced.one {
                Sides::Before => &mut expanded,
                Sides::After => &mut combined,
            };
            *sum = (sum.0 + 1, sum.1 + replaced.pairs.len());
        }
    }
    if expanded.0 > 0 {
        let were = if expanded.0 == 1 { "was" } else { "were" };
        parts.push(format!("{} {were} expanded to {}", count(expanded.0, "call"), expanded.1));
    }
    if combined.0 > 0 {
        let were = if combined.1 == 1 { "was" } else { "were" };
        parts.push(format!("{} {were} combined into {}", count(combined.1, "call"), combined.0));
    }
    let of_kind = |kind: PairKind| pairs().filter(|pair| pair.kind == kind).count();
    let gone = diff.functions.iter().filter(|f| f.after.is_none() && !is_part(f)).count();
    let new = diff.functions.iter().filter(|f| f.before.is_none() && !is_part(f)).count();
    let counts = [
        (calls(PairKind::Inlined), "call", "moved into or out of functions"),
        (of_kind(PairKind::Changed), "expression", "changed"),
        (of_kind(PairKind::Folded), "expression", "folded into others"),
        (open().map(|f| f.removed.len()).sum(), "expression", "removed"),
        (open().map(|f| f.added.len()).sum(), "expression", "added"),
        (gone, "function", "removed"),
        (new, "function", "added"),
        (diff.types.len(), "data type", "changed"),
    ];
    let told = counts.into_iter().filter(|(number, ..)| *number > 0);
    parts.extend(told.map(|(number, noun, what)| format!("{} {what}", count(number, noun))));
    match parts.len() {
        0 => "the modules differ in the functions called or in their order".to_owned(),
        1 => format!("{}; nothing else changed", parts[0]),
        _ => parts.join("; "),
    }
}

/// Formats a number with a noun.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn is_part(function: &FunctionDiff) -> bool {
    let of = function.before.as_ref().or(function.after.as_ref());
    of.is_some_and(|reference| reference.is_part)
}

fn describe(
    function: &FunctionDiff,
    sides: (&ShownModule<'_>, &ShownModule<'_>),
    out: &mut Report,
) {
    let shown = |name| quoted(name, "the expression");
    let (name, what) = match (&function.before, &function.after) {
        (Some(a), Some(b)) if a.name == b.name => (&a.name, String::new()),
        (Some(a), Some(b)) => (&a.name, format!(" → {}", shown(&b.name))),
        (Some(a), None) if a.is_part => (&a.name, " was inlined".to_owned()),
        (Some(a), None) => (&a.name, " was removed".to_owned()),
        (None, Some(b)) if b.is_part => {
            (&b.name, " contains calls from other functions".to_owned())
        }
        (None, Some(b)) => (&b.name, " was added".to_owned()),
        (None, None) => return,
    };
    let _ = writeln!(out, "\n{}{what}", shown(name));
    if function.before.is_none() || function.after.is_none() {
        return;
    }
    let mut groups: Vec<(String, Vec<Item<'_>>)> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut add = |key: String, item| {
        let at = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(item);
    };
    let replaced = replaces::all(&function.pairs);
    for (at, pair) in function.pairs.iter().enumerate() {
        match replaced.get(&at) {
            Some(ListedPair::As(group)) => add(group.title(), Item::Replaced(group)),
            // Described together with another pair.
            Some(ListedPair::Elsewhere) => {}
            None if pair.kind == PairKind::Same => {}
            None => add(title(pair), Item::Pair(pair)),
        }
    }
    for lost in &function.removed {
        add(format!("removed: {}", name_of(&lost.operator)), Item::Unpaired(Sides::Before, lost));
    }
    for lost in &function.added {
        add(format!("added: {}", name_of(&lost.operator)), Item::Unpaired(Sides::After, lost));
    }
    let hidden = groups.len().saturating_sub(MAX_GROUPS);
    for (title, items) in groups.iter().take(MAX_GROUPS) {
        let _ = writeln!(out, "  {title}");
        items[0].show(sides, out);
        if let more @ 1.. = items.len() - 1 {
            let _ = writeln!(out, "    … and {more} more");
        }
    }
    if hidden > 0 {
        let _ = writeln!(
            out,
            "  … and {hidden} more kinds of changes: use `--format json` or `--format html` to see all"
        );
    }
    layers::describe(function, sides, out);
}

/// Quotes a name; an expression without one is `unnamed`.
fn quoted(name: &str, unnamed: &str) -> String {
    match name {
        "" => unnamed.to_owned(),
        name => format!("`{}`", escape::terminal(name)),
    }
}

fn name_of(operator: &str) -> String {
    quoted(operator, "an expression")
}

/// Returns the title of a group of changes.
fn title(pair: &Pair) -> String {
    let (a, b) = (&pair.operators.0, &pair.operators.1);
    let subject = match a == b {
        true => name_of(a),
        false => format!("{} → {}", name_of(a), name_of(b)),
    };
    let details: Vec<String> = pair.changes.iter().map(summary).collect();
    match details.is_empty() {
        true => format!("{}: {subject}", pair.kind.word()),
        false => format!("{}: {subject}: {}", pair.kind.word(), details.join(", ")),
    }
}

fn summary(change: &Change) -> String {
    let blank = if change.name.is_empty() { "" } else { " " };
    let name = format!("{blank}{}", quoted(&change.name, ""));
    let what = change.what.word();
    match (&change.before, &change.after) {
        // The places of the changes in a group differ.
        (Fact::Expr(_), _) | (_, Fact::Expr(_)) => format!("{what}{name}"),
        (before, after) => format!("{what}{name} {} → {}", fact_text(before), fact_text(after)),
    }
}

/// Formats a change of a pair, as in `attribute axis 1 → 0`.
pub(crate) fn change_text(change: &Change) -> String {
    let (before, after) = (fact_text(&change.before), fact_text(&change.after));
    let name = escape::terminal(&change.name);
    let blank = if name.is_empty() { "" } else { " " };
    format!("{}{blank}{name} {before} → {after}", change.what.word())
}

/// Formats a change of a pair for the end of a line: `float32 → float16` for a tensor whose shape is the same, and an
/// attribute without the word.
pub(crate) fn change_note(change: &Change) -> String {
    let types = match (&change.before, &change.after) {
        (Fact::Type(before), Fact::Type(after)) => before.as_tensor().zip(after.as_tensor()),
        _ => None,
    };
    let Some((before, after)) = types else {
        let text = change_text(change);
        return text.strip_prefix("attribute ").map_or(text.clone(), str::to_owned);
    };
    let sizes = |tensor: &TensorType| match tensor.shape.is_empty() {
        true => "()".to_owned(),
        false => tensor.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("×"),
    };
    let (old, new) = (sizes(before), sizes(after));
    match (old == new, before.dtype == after.dtype) {
        (true, _) => format!("{} → {}", before.dtype, after.dtype),
        (false, true) => format!("{old} → {new}"),
        (false, false) => format!("{old} {} → {new} {}", before.dtype, after.dtype),
    }
}

fn fact_text(fact: &Fact) -> String {
    let text = match fact {
        Fact::Absent => "nothing".to_owned(),
        Fact::Callee(name) => name.to_string(),
        Fact::Attribute(AttrValue::Constant(_)) => "a constant".to_owned(),
        Fact::Attribute(value) => value.to_string(),
        Fact::Type(ty) => ty.to_string(),
        Fact::Expr(_) => "another expression".to_owned(),
        Fact::Count(count) => count.to_string(),
    };
    escape::terminal(&text).into_owned()
}

enum Item<'d> {
    Pair(&'d Pair),
    Replaced(&'d ReplacedCalls<'d>),
    Unpaired(Sides, &'d UnpairedExpr),
}

impl Item<'_> {
    fn show(&self, (before, after): (&ShownModule<'_>, &ShownModule<'_>), out: &mut Report) {
        match self {
            Item::Pair(pair) => {
                let is_shown =
                    |c: &&Change| !matches!(c.what, Property::DataType | Property::Shape);
                let change = pair.changes.iter().find(is_shown);
                let mark = |place: Option<TextRange>, fact: &Fact| match fact {
                    Fact::Expr(range) => place.or(Some(*range)),
                    _ => place,
                };
                let old = change.and_then(|change| mark(change.places.0, &change.before));
                let new = change.and_then(|change| mark(change.places.1, &change.after));
                let ends = Ends { before: Some(pair.before), after: Some(pair.after) };
                excerpt(before, (pair.before, old), '-', ends, out);
                excerpt(after, (pair.after, new), '+', ends, out);
            }
            Item::Replaced(replaced) => {
                let (old, new) = (replaced.ranges(Sides::Before), replaced.ranges(Sides::After));
                let first = Ends { before: old.first().copied(), after: new.first().copied() };
                for (side, sign, ranges) in [(before, '-', old), (after, '+', new)] {
                    for &range in ranges.iter().take(MAX_PLACES) {
                        let ends = match sign {
                            '-' => Ends { before: Some(range), ..first },
                            _ => Ends { after: Some(range), ..first },
                        };
                        excerpt(side, (range, None), sign, ends, out);
                    }
                    if let Some(more @ 1..) = ranges.len().checked_sub(MAX_PLACES) {
                        let _ = writeln!(out, "    {sign} {:>9}  … {more} more", "");
                    }
                }
            }
            Item::Unpaired(of, lost) => {
                let range = Some(lost.range);
                let ends = Ends { before: of.of(range, None), after: of.of(None, range) };
                excerpt(of.of(before, after), (lost.range, None), of.of('-', '+'), ends, out);
            }
        }
    }
}

/// Writes a line of a text, and a line of carets under the changed part.
fn excerpt(
    side: &ShownModule<'_>,
    (range, mark): (TextRange, Option<TextRange>),
    sign: char,
    ends: Ends,
    out: &mut Report,
) {
    let (line, column) = side.position(range);
    let text = side.slice(range);
    let first = text.lines().next().unwrap_or_default();
    let mark = mark.filter(|mark| range.contains_range(*mark)).map(|mark| mark - range.start());
    // A long line is printed from a little before the mark.
    let skip = match mark {
        Some(mark) if usize::from(mark.end()) > MAX_LINE => {
            let from = usize::from(mark.start()).saturating_sub(MAX_LINE / 2).min(first.len());
            first[..from].char_indices().next_back().map_or(0, |(at, _)| at)
        }
        _ => 0,
    };
    let rest = first.get(skip..).unwrap_or_default();
    let cut: String = rest.chars().take(MAX_LINE).map(escape::excerpt).collect();
    let dots = if cut.len() < text.len() - skip { "…" } else { "" };
    let lead = if skip > 0 { "…" } else { "" };
    let place = format!("{line}:{column}");
    let _ = write!(out, "    {sign} {place:>9}");
    let end = TextSize::of(out.text.as_str());
    let range = TextRange::new(end - TextSize::of(place.as_str()), end);
    out.places.push(Place { range, ends });
    let _ = writeln!(out, "  {lead}{cut}{dots}");
    if let Some(mark) = mark {
        let start = usize::from(mark.start());
        if start >= skip && start < skip + cut.len() {
            let end = usize::from(mark.end()).min(skip + cut.len());
            let width =
                |from: usize, to: usize| first.get(from..to).unwrap_or_default().chars().count();
            let indent = width(skip, start) + lead.chars().count();
            let carets = "^".repeat(width(start, end).max(1));
            let _ = writeln!(out, "      {:>9}  {}{carets}", "", " ".repeat(indent));
        }
    }
}

fn cost(totals: &Totals, out: &mut String) {
    let (Some(a), Some(b)) = (&totals.before, &totals.after) else { return };
    let line = |what: &str, of: &dyn Fn(&Cost) -> String| {
        let (old, new) = (of(a), of(b));
        match old == new {
            true => format!("  {what:<24}{old}\n"),
            false => format!("  {what:<24}{old} → {new}\n"),
        }
    };
    let _ = writeln!(out, "\none run of `{}`", escape::terminal(&b.name));
    out.push_str(&line("calls", &|cost| cost.calls.text.clone()));
    out.push_str(&line("parameters", &|cost| cost.params.text.clone()));
    out.push_str(&line("multiply-accumulates", &|cost| cost.macs.text.clone()));
    out.push_str(&line("peak memory", &|cost| cost.peak.text.clone()));
}
