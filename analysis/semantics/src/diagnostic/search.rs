//! Searches for the name that an unknown one may be a misspelling of.

use syntax::TextRange;

use super::Diagnostic;

/// A search that is done when the diagnostics of a file are put together: it visits all names of a
/// module, and their number in a module is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// The unknown name.
    pub(crate) name: String,
    /// The range that a similar name replaces.
    pub(crate) range: TextRange,
    /// The sets of names that are searched, up to the first with a similar one.
    pub(crate) among: &'static [Among],
}

/// A set of names that is searched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Among {
    /// Functions.
    Globals,
    /// Operators.
    Operators,
    /// Constructors.
    Constructors,
    /// Data types.
    Types,
    /// Type relations.
    Relations,
}

impl Diagnostic {
    /// Adds a search for a name that is similar to `name`, which is at `range`. The help and the
    /// fixes so far are for the case that there is none.
    pub(crate) fn or_similar(
        mut self,
        name: &str,
        range: TextRange,
        among: &'static [Among],
    ) -> Diagnostic {
        self.search = Some(Box::new(Search { name: name.to_owned(), range, among }));
        self
    }

    /// Adds the similar name that a search found as help and fix.
    pub(crate) fn suggest(&mut self, range: TextRange, near: String) {
        self.help = Some(format!("did you mean `{near}`?"));
        self.fixes.clear();
        self.add_fix(format!("Change to `{near}`"), [(range, near)]);
    }
}
