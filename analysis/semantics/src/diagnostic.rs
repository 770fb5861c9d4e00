//! Diagnostics.

mod cause;
mod edits;
mod levels;
mod search;
mod shorten;

pub(crate) use cause::{Cause, Flow, are_same};
pub use codes::{Code, Level, Levels, Lint, NoLevel, Severity};
pub use edits::Edits;
pub(crate) use edits::{Edit, insert, parenthesise};
pub use levels::apply_levels;
use search::Search;
pub(crate) use search::{ExternalName, NameSet};
use syntax::TextRange;

/// A finding in a file, or while its definition is checked, a [`DefDiagnostic`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic<P = TextRange> {
    /// The stable code, such as `shape-mismatch`.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// The message. Its first line is a complete statement.
    pub message: String,
    /// The primary range, in bytes of the file.
    pub range: TextRange,
    /// Related places, such as the origin of a conflicting size or the binder of a name.
    pub related: Vec<RelatedPlace<P>>,
    /// A suggestion without edits.
    pub help: Option<String>,
    /// The possible fixes, the best one first.
    pub fixes: Vec<Fix>,
    /// Set if the code in the range has no effect; editors fade it.
    pub unnecessary: bool,
    /// The facts that it depends on, to merge diagnostics with the same cause.
    pub(crate) cause: Option<Box<Cause<P>>>,
    /// The search for a similar name, until the diagnostics of the file are put together.
    pub(crate) search: Option<Box<Search>>,
}

/// A finding of a definition. It has ranges from the start of the definition, except for places in others:
/// an argument relates to a parameter of the function that is called. With offsets in the file, those of all
/// later definitions would be computed again after each line break.
pub(crate) type DefDiagnostic = Diagnostic<InDef>;

/// A range in the definition that is checked, or in another one of the file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct InDef {
    /// The other definition.
    pub(crate) def: Option<salsa::Id>,
    /// The range from the start of the definition.
    pub(crate) range: TextRange,
}

impl From<TextRange> for InDef {
    fn from(range: TextRange) -> InDef {
        InDef { def: None, range }
    }
}

/// A related place of a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelatedPlace<P = TextRange> {
    /// The range in the same file.
    pub range: P,
    /// The label of the range.
    pub message: String,
    /// The relation to the diagnostic.
    pub role: Role,
}

/// The relation of a related place to its diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Explains the diagnostic.
    Detail,
    /// Another place where the error may be reported or fixed. It is kept if the diagnostic becomes
    /// a consequence of another one.
    Alternative,
    /// A consequence of the diagnostic.
    Consequence,
}

/// A change of the text that resolves a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The title, as menus show it.
    pub title: String,
    /// The ranges to replace, each with the new text.
    pub edits: Edits,
}

impl<P> Diagnostic<P> {
    /// Creates a diagnostic with the default severity of its code.
    pub fn new(code: Code, range: TextRange, message: impl Into<String>) -> Diagnostic<P> {
        Diagnostic {
            code,
            severity: code.severity(),
            message: message.into(),
            range,
            related: Vec::new(),
            help: None,
            fixes: Vec::new(),
            unnecessary: false,
            cause: None,
            search: None,
        }
    }

    /// Adds a related place.
    pub fn related(self, range: impl Into<P>, message: impl Into<String>) -> Diagnostic<P> {
        self.relate(Role::Detail, range, message)
    }

    /// Adds a related place with a role.
    pub(crate) fn relate(
        mut self,
        role: Role,
        range: impl Into<P>,
        message: impl Into<String>,
    ) -> Diagnostic<P> {
        self.related.push(RelatedPlace { range: range.into(), message: message.into(), role });
        self
    }

    pub(crate) fn add_related(&mut self, range: impl Into<P>, message: impl Into<String>) {
        let (range, message) = (range.into(), message.into());
        self.related.push(RelatedPlace { range, message, role: Role::Detail });
    }

    /// Completes the diagnostic with a part that it may have.
    pub(crate) fn with<T>(
        self,
        part: Option<T>,
        complete: impl FnOnce(Diagnostic<P>, T) -> Diagnostic<P>,
    ) -> Diagnostic<P> {
        match part {
            Some(part) => complete(self, part),
            None => self,
        }
    }

    /// Sets the suggestion.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic<P> {
        self.help = Some(help.into());
        self
    }

    /// Adds a fix.
    pub fn fix(
        mut self,
        title: impl Into<String>,
        edits: impl IntoIterator<Item = (TextRange, String)>,
    ) -> Diagnostic<P> {
        self.add_fix(title, edits);
        self
    }

    /// Adds the fix that changes a range to another text.
    pub(crate) fn change(self, range: TextRange, to: impl Into<String>) -> Diagnostic<P> {
        let to = to.into();
        self.fix(format!("Change to `{to}`"), [(range, to)])
    }

    pub(crate) fn add_fix(
        &mut self,
        title: impl Into<String>,
        edits: impl IntoIterator<Item = (TextRange, String)>,
    ) {
        self.fixes.push(Fix { title: title.into(), edits: edits.into_iter().collect() });
    }

    /// Converts all ranges, and the places in other definitions. Deferred edits follow from the tree of the
    /// file and have its ranges already.
    pub(crate) fn map_places<Q>(
        mut self,
        map: impl Fn(TextRange) -> TextRange,
        place: impl Fn(P) -> Q,
    ) -> Diagnostic<Q> {
        let convert = |range: &mut TextRange| *range = map(*range);
        let edits = self.fixes.iter_mut().map(|fix| &mut fix.edits);
        let edits = edits.filter(|edits| !edits.is_deferred());
        edits.flat_map(|edits| edits.iter_mut()).for_each(|(range, _)| convert(range));
        self.search.iter_mut().for_each(|search| convert(&mut search.range));
        let related = self.related.into_iter().map(|RelatedPlace { range, message, role }| {
            RelatedPlace { range: place(range), message, role }
        });
        Diagnostic {
            code: self.code,
            severity: self.severity,
            message: self.message,
            range: map(self.range),
            related: related.collect(),
            help: self.help,
            fixes: self.fixes,
            unnecessary: self.unnecessary,
            cause: self.cause.map(|cause| Box::new(cause.map_places(&place))),
            search: self.search,
        }
    }

    /// Cuts the message, the help, the labels and the titles to 600 characters each.
    pub(crate) fn shorten(&mut self) {
        shorten::shorten(&mut self.message);
        self.help.iter_mut().for_each(shorten::shorten);
        self.related.iter_mut().for_each(|related| shorten::shorten(&mut related.message));
        self.fixes.iter_mut().for_each(|fix| shorten::shorten(&mut fix.title));
    }

    /// Marks the code in the range as without effect.
    pub fn unnecessary(mut self) -> Diagnostic<P> {
        self.unnecessary = true;
        self
    }
}
