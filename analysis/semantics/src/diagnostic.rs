//! Diagnostics as values.

mod shorten;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use syntax::TextRange;

use crate::check::Cause;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Something to know; shown in grey.
    Hint,
    /// Something that is not known, or could be better.
    Info,
    /// Probably not meant.
    Warning,
    /// Wrong.
    Error,
}

impl Severity {
    /// As machine output spells it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One finding about a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Its stable code.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in the user's terms; the first sentence is complete in itself.
    pub message: String,
    /// The fault.
    pub range: TextRange,
    /// Other places that belong to it: where a conflicting size came from, where a name is bound.
    pub related: Vec<Related>,
    /// What to write instead.
    pub help: Option<String>,
    /// Changes that would mend it, the best first.
    pub fixes: Vec<Fix>,
    /// The marked text does nothing.
    pub unnecessary: bool,
    /// What it rests on.
    pub(crate) cause: Option<Box<Cause>>,
}

/// Another place that belongs to a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Where, in the same file.
    pub range: TextRange,
    /// What is there.
    pub message: String,
}

/// A change of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, as a menu shows it.
    pub title: String,
    /// What replaces what.
    pub edits: Vec<(TextRange, String)>,
}

impl Diagnostic {
    /// A diagnostic with the severity that its code has.
    pub fn new(code: &'static str, range: TextRange, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: code_of(code).map_or(Severity::Error, |code| code.severity),
            message: message.into(),
            range,
            related: Vec::new(),
            help: None,
            fixes: Vec::new(),
            unnecessary: false,
            cause: None,
        }
    }

    /// Adds another place.
    pub fn related(mut self, range: TextRange, message: impl Into<String>) -> Diagnostic {
        self.related.push(Related { range, message: message.into() });
        self
    }

    /// Adds what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a change that would mend it.
    pub fn fix(
        mut self,
        title: impl Into<String>,
        edits: impl IntoIterator<Item = (TextRange, String)>,
    ) -> Diagnostic {
        self.fixes.push(Fix { title: title.into(), edits: edits.into_iter().collect() });
        self
    }

    /// Cuts the message, the help, the labels and the titles to 600 characters each.
    pub(crate) fn shorten(&mut self) {
        shorten::shorten(&mut self.message);
        self.help.iter_mut().for_each(shorten::shorten);
        self.related.iter_mut().for_each(|related| shorten::shorten(&mut related.message));
        self.fixes.iter_mut().for_each(|fix| shorten::shorten(&mut fix.title));
    }

    /// Marks text that does nothing.
    pub fn unnecessary(mut self) -> Diagnostic {
        self.unnecessary = true;
        self
    }
}

/// What a code stands for.
#[derive(Clone, Debug)]
pub struct Code {
    /// `shape-mismatch`
    pub name: &'static str,
    /// How bad it is by default.
    pub severity: Severity,
    /// The finding is only about what TVM would take; `--tvm` makes it an error.
    pub tvm: bool,
    /// One line.
    pub title: &'static str,
    /// The page, in markdown.
    pub page: &'static str,
}

const PAGES: &str = include_str!("codes.md");

static CODES: LazyLock<Vec<Code>> = LazyLock::new(|| {
    // `## name (severity): title`, and the page up to the next heading.
    PAGES
        .split("\n## ")
        .skip(1)
        .filter_map(|section| {
            let (heading, page) = section.split_once('\n')?;
            let (name, rest) = heading.split_once(" (")?;
            let (severity, title) = rest.split_once("): ")?;
            let tvm = severity == "tvm";
            let severity = match severity {
                "error" => Severity::Error,
                "warning" => Severity::Warning,
                "info" => Severity::Info,
                _ => Severity::Hint,
            };
            Some(Code { name, severity, tvm, title, page: page.trim() })
        })
        .collect()
});

static BY_NAME: LazyLock<FxHashMap<&'static str, usize>> =
    LazyLock::new(|| CODES.iter().enumerate().map(|(i, code)| (code.name, i)).collect());

/// Every code, in the order of the reference.
pub fn codes() -> &'static [Code] {
    &CODES
}

/// The code called `name`.
pub fn code_of(name: &str) -> Option<&'static Code> {
    BY_NAME.get(name).map(|&at| &CODES[at])
}
