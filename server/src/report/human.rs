//! Diagnostics as excerpts of the source with marks.
//!
//! A function header in a dump of TVM is one line of up to two hundred thousand characters; of such
//! a line only the surroundings of each mark are printed.

use std::borrow::Cow;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, renderer::DecorStyle,
};
use semantics::{Diagnostic, Severity};
use syntax::{TextRange, TextSize};

use super::{CheckReport, escape};

/// The longest line that is printed whole, in bytes.
const WHOLE_LINE: usize = 160;
/// The number of bytes of a long line that are printed on either side of a mark.
const AROUND: usize = 60;

/// Formats the diagnostics of a file.
pub(crate) fn human(checked: &CheckReport) -> String {
    let mut out = String::new();
    for diagnostic in &checked.diagnostics {
        out += &one(checked, diagnostic);
        out += "\n\n";
    }
    out
}

/// Formats a diagnostic without colour.
pub(crate) fn excerpt(checked: &CheckReport, diagnostic: &Diagnostic) -> String {
    anstream::adapter::strip_str(&one(checked, diagnostic)).to_string()
}

fn one(checked: &CheckReport, diagnostic: &Diagnostic) -> String {
    let (title, rule) = match diagnostic.message.split_once('\n') {
        Some((title, rule)) => (title, Some(escape::terminal_lines(rule))),
        None => (diagnostic.message.as_str(), None),
    };
    let title = escape::terminal(title);
    let help = diagnostic.help.as_deref().map(escape::terminal_lines);
    let path = escape::terminal(&checked.path);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let excerpts = excerpts(checked, diagnostic);
    let mut group =
        Group::with_title(level.primary_title(title.as_ref()).id(diagnostic.code.name()));
    for excerpt in &excerpts {
        let marks = excerpt.marks.iter().map(|mark| {
            let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation: Annotation<'_> = kind.span(mark.range.clone());
            match &mark.label {
                Some(label) => annotation.label(label.as_ref()),
                None => annotation,
            }
        });
        group = group.element(
            Snippet::source(&excerpt.text)
                .line_start(excerpt.line)
                .path(path.as_ref())
                .fold(true)
                .annotations(marks),
        );
    }
    if let Some(rule) = &rule {
        group = group.element(Level::NOTE.with_name("rule").message(rule.as_ref()));
    }
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(help.as_ref()));
    }
    let width = WHOLE_LINE + 20;
    let renderer = Renderer::styled().decor_style(DecorStyle::Unicode).term_width(width);
    with_columns(renderer.render(&[group]), &path, &excerpts)
}

/// Replaces the columns of shortened lines in the headings `path:line:column` by those of the source: the
/// renderer knows the excerpt alone.
fn with_columns(rendered: String, path: &str, excerpts: &[Excerpt<'_>]) -> String {
    let heading = format!("{path}:");
    let mut out = String::with_capacity(rendered.len());
    let mut rest = rendered.as_str();
    // The title is before the first heading, and may mention the file.
    let title = rest.find('\n').unwrap_or(0);
    let mut from = title;
    for excerpt in excerpts {
        let Some(at) = rest[from..].find(&heading) else { break };
        let line_at = from + at + heading.len();
        let line = leading_digits(&rest[line_at..]);
        let column_at = line_at + line.len() + 1;
        let shown = leading_digits(rest.get(column_at..).unwrap_or_default());
        let is_shown = |mark: &&MarkIn<'_>| {
            Ok(mark.line) == line.parse() && Ok(mark.shown_column) == shown.parse()
        };
        if let Some(mark) = excerpt.marks.iter().find(is_shown) {
            out += &rest[..column_at];
            out += &mark.column.to_string();
            rest = &rest[column_at + shown.len()..];
            from = 0;
        } else {
            from = line_at;
        }
    }
    out + rest
}

/// Returns the decimal digits at the start of a text.
fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

/// Consecutive lines of the source, long ones shortened, with marks.
struct Excerpt<'a> {
    text: String,
    line: usize,
    marks: Vec<MarkIn<'a>>,
}

struct MarkIn<'a> {
    range: std::ops::Range<usize>,
    label: Option<Cow<'a, str>>,
    primary: bool,
    /// The line, from 1.
    line: usize,
    /// The column in characters from 1, in the shortened line.
    shown_column: usize,
    /// The column in characters from 1, in the source.
    column: usize,
}

/// A range, its label, and true for the primary one.
type Mark<'a> = (TextRange, Option<&'a str>, bool);

/// Returns the excerpts of a diagnostic, with close lines together, and the primary one first.
fn excerpts<'a>(checked: &CheckReport, diagnostic: &'a Diagnostic) -> Vec<Excerpt<'a>> {
    let line_of = |offset: TextSize| checked.lines().line_at(offset) as usize;
    let content = |line: usize| {
        checked.lines().line_content(checked.text.as_str(), line as u32).unwrap_or_default()
    };
    let mut marks: Vec<Mark<'a>> = vec![(diagnostic.range, None, true)];
    marks.extend(diagnostic.related.iter().map(|r| (r.range, Some(r.message.as_str()), false)));
    // A mark of several lines is reduced to the first.
    for (range, ..) in &mut marks {
        let line = content(line_of(range.start()));
        if range.end() > line.end() {
            *range = TextRange::new(range.start(), line.end().max(range.start()));
        }
    }
    let mut lines: Vec<usize> = marks.iter().map(|(range, ..)| line_of(range.start())).collect();
    lines.sort_unstable();
    lines.dedup();
    let excerpt = |lines: &[usize]| {
        let (mut next, text) = (lines[0], String::new());
        let mut excerpt = Excerpt { text, line: next + 1, marks: Vec::new() };
        for &line in lines {
            // Long lines without marks are replaced by empty lines, which the renderer folds.
            for between in next..line {
                let line = &checked.text[content(between)];
                if line.len() <= WHOLE_LINE {
                    excerpt.text.extend(line.chars().map(escape::excerpt));
                }
                excerpt.text.push('\n');
            }
            next = line + 1;
            let is_here = |(range, ..): &&Mark<'a>| line_of(range.start()) == line;
            let on_line: Vec<_> = marks.iter().filter(is_here).copied().collect();
            add_line(&mut excerpt, &checked.text, line + 1, content(line), &on_line);
        }
        excerpt
    };
    // A larger gap starts another excerpt.
    let mut groups: Vec<_> = lines.chunk_by(|a, b| b - a <= 40).map(excerpt).collect();
    // The primary mark first.
    if let Some(at) = groups.iter().position(|group| group.marks.iter().any(|mark| mark.primary)) {
        groups.swap(0, at);
    }
    groups
}

/// Appends a line with its marks; of a long line, only their surroundings.
fn add_line<'a>(
    excerpt: &mut Excerpt<'a>,
    text: &str,
    number: usize,
    line: TextRange,
    marks: &[Mark<'a>],
) {
    let (start, end) = (usize::from(line.start()), usize::from(line.end()));
    let mut windows: Vec<(usize, usize)> = Vec::new();
    if end - start <= WHOLE_LINE {
        windows.push((start, end));
    } else {
        let mut around: Vec<(usize, usize)> = marks
            .iter()
            .map(|(range, ..)| {
                let (from, to) = (usize::from(range.start()), usize::from(range.end()));
                let from = floor(text, from.saturating_sub(AROUND).max(start));
                (from, ceil(text, (to + AROUND).min(end)))
            })
            .collect();
        around.sort_unstable();
        for (from, to) in around {
            match windows.last_mut() {
                Some(last) if from <= last.1 + 8 => last.1 = last.1.max(to),
                _ => windows.push((from, to)),
            }
        }
    }
    let line_base = excerpt.text.len();
    for (from, to) in windows {
        if from > start {
            excerpt.text += "… ";
        }
        let base = excerpt.text.len();
        excerpt.text.extend(text[from..to].chars().map(escape::excerpt));
        for &(range, label, primary) in marks {
            let (at, until) = (usize::from(range.start()), usize::from(range.end()));
            if at >= from && until <= to {
                let range = base + (at - from)..base + (until - from);
                let label = label.map(escape::terminal);
                let shown_column = excerpt.text[line_base..range.start].chars().count() + 1;
                let column = text[start..at].chars().count() + 1;
                let line = number;
                excerpt.marks.push(MarkIn { range, label, primary, line, shown_column, column });
            }
        }
        if to < end {
            excerpt.text += " …";
        }
    }
    excerpt.text.push('\n');
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
