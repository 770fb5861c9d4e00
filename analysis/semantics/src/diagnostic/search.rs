//! Searches for the name that an unknown one may be a misspelling of.

use syntax::TextRange;

use super::{Code, Diagnostic};

/// A search that is done when the diagnostics of a file are put together: it visits all names of a
/// module, and their number in a module is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// The unknown name.
    pub(crate) name: String,
    /// The range that a similar name replaces.
    pub(crate) range: TextRange,
    /// The sets of names that are searched, up to the first with a similar one.
    pub(crate) among: &'static [NameSet],
    /// The diagnostic if there is no similar name.
    pub(crate) external: Option<ExternalName>,
}

/// What an unknown name is if it is no misspelling: the text does not define it, but says its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExternalName {
    /// The code.
    pub(crate) code: Code,
    /// The message.
    pub(crate) message: String,
    /// The help.
    pub(crate) help: &'static str,
}

/// A set of names that is searched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NameSet {
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

impl<P> Diagnostic<P> {
    /// Adds a search for a name that is similar to `name`, which is at `range`. The help and the
    /// fixes so far are for the case that there is none.
    pub(crate) fn or_similar(
        mut self,
        name: &str,
        range: TextRange,
        among: &'static [NameSet],
    ) -> Diagnostic<P> {
        self.search =
            Some(Box::new(Search { name: name.to_owned(), range, among, external: None }));
        self
    }

    /// Sets what the name is if the search finds no similar one.
    pub(crate) fn or_external(mut self, external: ExternalName) -> Diagnostic<P> {
        if let Some(search) = &mut self.search {
            search.external = Some(external);
        }
        self
    }

    /// Reports that a name is defined elsewhere.
    pub(crate) fn become_external(&mut self, external: ExternalName) {
        self.code = external.code;
        self.severity = external.code.severity();
        self.message = external.message;
        self.help = Some(external.help.to_owned());
        self.fixes.clear();
    }

    /// Adds the similar name that a search found as help and fix.
    pub(crate) fn suggest(&mut self, range: TextRange, near: String) {
        self.help = Some(format!("did you mean `{near}`?"));
        self.fixes.clear();
        self.add_fix(format!("Change to `{near}`"), [(range, near)]);
    }
}
