//! Values that no arm of a `match` matches.

use syntax::TextRange;

use super::{Code, DefDiagnostic, Site};
use crate::body::*;

pub(super) fn report(site: &Site<'_, '_, '_>, missing: &[String]) -> Option<DefDiagnostic> {
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
