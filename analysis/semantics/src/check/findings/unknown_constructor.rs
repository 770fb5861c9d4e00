//! A pattern of a constructor that does not exist.

use syntax::{TextRange, TextSize};

use super::Site;
use crate::{
    body::Name,
    diagnostic::{Code, DefDiagnostic, NameSet},
};

pub(super) fn report(site: &Site<'_, '_, '_>, name: &Name) -> DefDiagnostic {
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
