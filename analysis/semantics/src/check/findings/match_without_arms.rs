//! A `match?` without arms.

use syntax::{TextRange, TextSize};

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>) -> DefDiagnostic {
    let message = "this `match?` has no arms: it fails for every value";
    let keyword = TextRange::at(site.range.start(), TextSize::of("match?"));
    DefDiagnostic::new(Code::MatchWithoutArms, keyword, message)
        .help("add an arm for each value that can occur, or `_ => …` for all of them")
}
