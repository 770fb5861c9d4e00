//! Diagnostics, and the table of their codes.

mod shorten;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use syntax::TextRange;

use crate::check::Cause;

/// The severity of a diagnostic, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// A hint; editors show it faded.
    Hint,
    /// Incomplete knowledge, or a possible improvement.
    Info,
    /// Valid code that is probably unintended.
    Warning,
    /// Invalid code.
    Error,
}

impl Severity {
    /// Returns the name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A finding in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The stable code, such as `shape-mismatch`.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The message. Its first line is a complete statement.
    pub message: String,
    /// The primary range, in bytes of the file.
    pub range: TextRange,
    /// Related places, such as the origin of a conflicting size or the binder of a name.
    pub related: Vec<Related>,
    /// A suggestion without edits.
    pub help: Option<String>,
    /// The possible fixes, the best one first.
    pub fixes: Vec<Fix>,
    /// Set if the code in the range has no effect; editors fade it.
    pub unnecessary: bool,
    /// The facts that it depends on, to merge diagnostics with the same cause.
    pub(crate) cause: Option<Box<Cause>>,
}

/// A related place of a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// The range in the same file.
    pub range: TextRange,
    /// The label of the range.
    pub message: String,
}

/// A change of the text that resolves a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The title, as menus show it.
    pub title: String,
    /// The ranges to replace, each with the new text.
    pub edits: Vec<(TextRange, String)>,
}

impl Diagnostic {
    /// Creates a diagnostic with the default severity of its code.
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

    /// Adds a related place.
    pub fn related(mut self, range: TextRange, message: impl Into<String>) -> Diagnostic {
        self.related.push(Related { range, message: message.into() });
        self
    }

    /// Sets the suggestion.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a fix.
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

    /// Marks the code in the range as without effect.
    pub fn unnecessary(mut self) -> Diagnostic {
        self.unnecessary = true;
        self
    }
}

/// A diagnostic code and its documentation.
#[derive(Clone, Debug)]
pub struct Code {
    /// `shape-mismatch`
    pub name: &'static str,
    /// The default severity.
    pub severity: Severity,
    /// Set if the finding concerns compatibility with TVM only; `--tvm` makes it an error.
    pub tvm: bool,
    /// The title, a single line.
    pub title: &'static str,
    /// The page in Markdown, as `explain` prints it.
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

/// Returns all codes in the order of the reference.
pub fn codes() -> &'static [Code] {
    &CODES
}

/// Returns the code called `name`.
pub fn code_of(name: &str) -> Option<&'static Code> {
    BY_NAME.get(name).map(|&at| &CODES[at])
}
