//! `relay-analyzer operators`

use std::io::Write;

use ide::markdown::plain;
use operators::{Change, ChangeKind, Cost, Operator};
use types::{AttrDefault, Release};

use super::{Failure, Outcome};

pub(super) fn run(name: Option<&str>, markdown: bool) -> Result<Outcome, Failure> {
    let mut out = anstream::stdout().lock();
    match name {
        _ if markdown => write!(out, "{}", reference())?,
        Some(name) => write!(out, "{}", page(find(name)?))?,
        None => write!(out, "{}", list())?,
    }
    Ok(Outcome::Clean)
}

/// Lists what a release changed, as Markdown.
pub(super) fn changes(release: Release) -> Result<Outcome, Failure> {
    let mut out = anstream::stdout().lock();
    write!(out, "{}", changes_of(release))?;
    Ok(Outcome::Clean)
}

fn changes_of(release: Release) -> String {
    let changes = operators::changes(release);
    let mut out = String::new();
    for (title, is_listed) in [
        ("New operators", (|kind| matches!(kind, ChangeKind::Added)) as fn(&ChangeKind) -> bool),
        ("Removed operators", |kind| matches!(kind, ChangeKind::Removed)),
        ("Renamed operators", |kind| matches!(kind, ChangeKind::Renamed(_))),
    ] {
        let mut listed = changes.iter().filter(|change| is_listed(&change.kind)).peekable();
        if listed.peek().is_some() {
            out += &format!("## {title}\n\n");
        }
        for Change { operator, name, kind } in listed {
            let now = operators::other_version(name).and_then(|other| other.now);
            match (kind, now) {
                (ChangeKind::Renamed(old), _) => out += &format!("- `{old}` is `{name}`\n"),
                (ChangeKind::Removed, Some(now)) => out += &format!("- `{name}`: now {now}\n"),
                (ChangeKind::Removed, None) => out += &format!("- `{name}`\n"),
                _ => out += &format!("- `{name}`: {}\n", operator.doc.summary),
            }
        }
        if out.ends_with("\n") && !out.ends_with("\n\n") {
            out.push('\n');
        }
    }
    let default = |default: &AttrDefault| match ide::words::default(default) {
        Some(text) => format!("`{text}`"),
        None => "none".to_owned(),
    };
    let mut calls: Vec<(&str, Vec<String>)> = Vec::new();
    for Change { name, kind, .. } in &changes {
        let text = match kind {
            ChangeKind::Added | ChangeKind::Removed | ChangeKind::Renamed(_) => continue,
            ChangeKind::Arguments(before, now) => format!("{now} arguments, {before} before"),
            ChangeKind::Meaning => "a different type relation".to_owned(),
            ChangeKind::AttributeAdded(name, AttrDefault::Required) => {
                format!("new required attribute `{name}`")
            }
            ChangeKind::AttributeAdded(name, value) => {
                format!("new attribute `{name}`, by default {}", default(value))
            }
            ChangeKind::AttributeRemoved(name) => format!("removed attribute `{name}`"),
            ChangeKind::Default(name, before, now) => {
                format!("the default of `{name}` is {}, {} before", default(now), default(before))
            }
        };
        match calls.last_mut() {
            Some((last, texts)) if last == name => texts.push(text),
            _ => calls.push((name, vec![text])),
        }
    }
    if !calls.is_empty() {
        out += "## Changed calls\n\n";
    }
    for (name, texts) in calls {
        out += &format!("- `{name}`: {}\n", texts.join("; "));
    }
    if out.is_empty() {
        out += "No operator changed.\n";
    }
    out.trim_end().to_owned() + "\n"
}

fn sorted() -> Vec<&'static Operator> {
    let mut all: Vec<&Operator> = operators::all().collect();
    all.sort_by_key(|operator| operator.name);
    all
}

/// Lists all operators with their descriptions.
fn list() -> String {
    let bold = anstyle::Style::new().bold();
    let all = sorted();
    let width = all.iter().map(|operator| operator.name.len()).max().unwrap_or(0);
    let line = |operator: &&Operator| {
        format!("{bold}{:width$}{bold:#}  {}\n", operator.name, operator.doc.summary)
    };
    all.iter().map(line).collect()
}

fn find(name: &str) -> Result<&'static Operator, String> {
    if let Some(operator) = operators::find(name).or_else(|| operators::alias(name)) {
        return Ok(operator);
    }
    let ends_so = |operator: &&&Operator| operator.name.rsplit('.').next() == Some(name);
    let alike: Vec<String> =
        sorted().iter().filter(ends_so).map(|operator| format!("`{}`", operator.name)).collect();
    let hint = match operators::nearest(name) {
        _ if !alike.is_empty() => format!("; there is {}", alike.join(", ")),
        Some(near) => format!(", did you mean `{near}`?"),
        None => "; `relay-analyzer operators` lists all".to_owned(),
    };
    Err(format!("there is no operator `{name}`{hint}"))
}

/// Formats the page of an operator.
fn page(operator: &Operator) -> String {
    let bold = anstyle::Style::new().bold();
    let plain = plain(&ide::hover::operator_page(operator));
    let cost = cost(operator).map(|cost| format!("\nCost: {cost}\n")).unwrap_or_default();
    let relation = match operator.relation_name() {
        "" => String::new(),
        name => format!("\nType relation: {name}\n"),
    };
    format!("{bold}{}{bold:#}\n\n{}\n{relation}{cost}", operator.name, plain.trim())
}

/// Describes the cost of an operator.
fn cost(operator: &Operator) -> Option<&'static str> {
    match operator.cost {
        Cost::Unknown => None,
        Cost::Free => Some("no arithmetic"),
        Cost::Elementwise => Some("one operation for each element of the result"),
        Cost::Reduction => Some("one operation for each element of the first argument"),
        Cost::Macs(_) => Some("multiply-accumulates by shape, see `shapes`"),
        Cost::Undefined(reason) => Some(reason),
    }
}

/// Returns the Markdown page of all operators.
fn reference() -> String {
    let mut out = String::from("# Operators\n\nMade by `relay-analyzer operators --markdown`.\n");
    for operator in sorted() {
        out +=
            &format!("\n## {}\n\n{}\n", operator.name, ide::hover::operator_page(operator).trim());
        if !operator.relation_name().is_empty() {
            out += &format!("\nType relation: `{}`.", operator.relation_name());
        }
        if let Some(cost) = cost(operator) {
            out += &format!(" Cost: {cost}.");
        }
        out.push('\n');
    }
    out
}
