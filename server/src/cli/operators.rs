//! `relay-analyzer operators`

use std::io::Write;

use ide::markdown::plain;
use operators::{Cost, Operator};

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
