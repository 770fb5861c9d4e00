//! The arms of a `match` and their patterns.

use syntax::{TextRange, TextSize};
use types::{Type, describe};

use super::{Code, DefDiagnostic, Site};
use crate::{
    body::*,
    check::{plural::count, site::ProblemSite},
    diagnostic::NameSet,
};

/// An arm of a `match` that no value reaches.
pub(super) fn unreachable_arm(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    let message = "unreachable arm: the arms before it match all of its values";
    site.diagnostic(Code::UnreachableArm, message).unnecessary()
}

/// Values that no arm of a `match` matches.
pub(super) fn not_exhaustive(site: &Site<'_, '_, '_>, missing: &[String]) -> Option<DefDiagnostic> {
    let Expr::Match(id) = site.view.unit(site.unit).expr(site.expr_ref()?.expr) else {
        return None;
    };
    let data = &site.view.unit(site.unit).matches[id.index()];
    let findings = &site.view.unit_types(site.unit).findings;
    if findings.iter().any(|finding| finding.is_in_pattern_of(data)) {
        return None;
    }
    let list: Vec<String> = missing.iter().map(|m| format!("`{m}`")).collect();
    let message = format!("non-exhaustive `match`: no arm matches {}", list.join(", "));
    let keyword = TextRange::at(site.at().start(), 5.into());
    let help = "add the missing arms, or write `match?` if such values are errors at run time";
    Some(DefDiagnostic::new(Code::MatchNotExhaustive, keyword, message).help(help))
}

/// A `match?` without arms.
pub(in crate::check) fn without_arms(site: &ProblemSite<'_, '_, '_>) -> DefDiagnostic {
    let message = "this `match?` has no arms: it fails for every value";
    let keyword = TextRange::at(site.range.start(), TextSize::of("match?"));
    DefDiagnostic::new(Code::MatchWithoutArms, keyword, message)
        .help("add an arm for each value that can occur, or `_ => …` for all of them")
}

/// A pattern with the wrong number of fields.
pub(super) fn arity(
    site: &Site<'_, '_, '_>,
    name: Option<&Name>,
    expected: usize,
    found: usize,
) -> DefDiagnostic {
    let what = match name {
        Some(name) => format!("`{name}` has"),
        None => "the tuple that is matched on has".into(),
    };
    let message = format!("{what} {}, the pattern has {found}", count(expected, "field"));
    site.diagnostic(Code::PatternArity, message)
}

/// A pattern that does not match the type of the value.
pub(super) fn of_other_type(
    site: &Site<'_, '_, '_>,
    pattern: &Type,
    scrutinee: &Type,
) -> DefDiagnostic {
    let message = format!(
        "this pattern matches {}, but the matched value is {}",
        describe(pattern),
        describe(scrutinee)
    );
    site.diagnostic(Code::PatternType, message)
}

/// A pattern of a constructor that does not exist.
pub(super) fn unknown_constructor(site: &Site<'_, '_, '_>, name: &Name) -> DefDiagnostic {
    let at = site.at();
    let diagnostic = site
        .diagnostic(Code::UnknownConstructor, format!("there is no constructor `{name}`"))
        .help(format!("a variable is written `%{name}`"));
    // The range is that of the pattern, which begins with the name.
    let has_fields = at.len() > TextSize::of(name.as_str());
    let at = TextRange::at(at.start(), TextSize::of(name.as_str()));
    if !has_fields && name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return diagnostic.change(at, format!("%{name}"));
    }
    diagnostic.or_similar(name, at, &[NameSet::Constructors])
}
