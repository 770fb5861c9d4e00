//! The codes of diagnostics: one table, with a page of documentation for each code.
//!
//! A code is added as a row of the table below and a page at the same place in `codes.md`. A code
//! without a page, or with a page whose heading differs from the row, does not compile.

mod levels;

use std::{cmp::Ordering, fmt};

pub use levels::{Level, Levels, Lint, NoLevel};

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
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Who sees the diagnostics of a code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// Everyone.
    Always,
    /// Everyone, and `--tvm` makes them errors.
    Tvm,
    /// Those who give the code a level.
    OnRequest,
}

/// Expands to the severity and the policy of a kind of code.
macro_rules! kind {
    (error) => {
        (Severity::Error, Policy::Always)
    };
    (warning) => {
        (Severity::Warning, Policy::Always)
    };
    (info) => {
        (Severity::Info, Policy::Always)
    };
    (hint) => {
        (Severity::Hint, Policy::Always)
    };
    (tvm) => {
        (Severity::Hint, Policy::Tvm)
    };
    (off) => {
        (Severity::Hint, Policy::OnRequest)
    };
}

/// Defines [`Code`] from rows `Variant = "name" (kind)` in the order of `codes.md`. The kind is a
/// severity, or `tvm`: a hint that `--tvm` makes an error, or `off`: a hint that is reported if the code has a level.
macro_rules! codes {
    ($($code:ident = $name:literal ($kind:ident),)*) => {
        /// The code of a diagnostic.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`")] $code,)*
        }

        impl Code {
            /// All codes in the order of the reference.
            pub const ALL: &'static [Code] = &[$(Code::$code),*];

            /// Returns the name, such as `shape-mismatch`.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$code => $name,)* }
            }

            const fn kind(self) -> (Severity, Policy) {
                match self { $(Code::$code => kind!($kind),)* }
            }

            /// Returns the code called `name`.
            pub fn from_name(name: &str) -> Option<Code> {
                match name {
                    $($name => Some(Code::$code),)*
                    _ => None,
                }
            }

            /// Returns the beginning of the heading of the page.
            const fn heading(self) -> &'static str {
                match self { $(Code::$code => concat!($name, " (", stringify!($kind), "): "),)* }
            }
        }
    };
}

codes! {
    NotText = "not-text" (error),
    InvalidUtf8 = "invalid-utf8" (error),
    FileTooLarge = "file-too-large" (error),
    UnreadableSavedModule = "unreadable-saved-module" (error),
    InvalidSettings = "invalid-settings" (error),
    InternalError = "internal-error" (error),
    OutOfSync = "out-of-sync" (error),
    SyntaxError = "syntax-error" (error),
    UnclosedComment = "unclosed-comment" (error),
    UnclosedString = "unclosed-string" (error),
    UnknownCharacter = "unknown-character" (error),
    NestedTooDeep = "nested-too-deep" (error),
    UnknownSection = "unknown-section" (error),
    UnknownVersion = "unknown-version" (error),
    SecondExpression = "second-expression" (error),
    OtherText = "other-text" (error),
    PastedText = "pasted-text" (warning),
    MessageOfTvm = "message-of-tvm" (info),
    NumberRange = "number-range" (error),
    NumberSuffix = "number-suffix" (error),
    MetadataUnreadable = "metadata-unreadable" (error),
    MetadataEntry = "metadata-entry" (error),
    UntypedConstant = "untyped-constant" (info),
    TooMany = "too-many" (info),
    UnknownVariable = "unknown-variable" (error),
    UnknownGlobal = "unknown-global" (error),
    UnknownName = "unknown-name" (error),
    ExternalGlobal = "external-global" (hint),
    ExternalOperator = "external-operator" (warning),
    UnknownConstructor = "unknown-constructor" (error),
    UnknownType = "unknown-type" (error),
    UnknownDtype = "unknown-dtype" (error),
    UnknownKind = "unknown-kind" (error),
    UnknownRelation = "unknown-relation" (error),
    UnknownAttribute = "unknown-attribute" (error),
    DuplicateDefinition = "duplicate-definition" (error),
    DuplicateConstructor = "duplicate-constructor" (error),
    InvalidBinder = "invalid-binder" (error),
    DuplicateParameter = "duplicate-parameter" (error),
    DuplicateAttribute = "duplicate-attribute" (warning),
    ExternConstructors = "extern-constructors" (error),
    OpenField = "open-field" (error),
    TypeMismatch = "type-mismatch" (error),
    Projection = "projection" (error),
    InfiniteType = "infinite-type" (error),
    CannotInfer = "cannot-infer" (error),
    UnprovenRelation = "unproven-relation" (error),
    HigherRank = "higher-rank" (error),
    TypeTooLarge = "type-too-large" (error),
    InferenceBudget = "inference-budget" (error),
    MissingAnnotation = "missing-annotation" (error),
    TypeNeeded = "type-needed" (error),
    NotCallable = "not-callable" (error),
    ArgumentCount = "argument-count" (error),
    ArgumentType = "argument-type" (error),
    TypeArguments = "type-arguments" (error),
    KindMismatch = "kind-mismatch" (error),
    NegativeSize = "negative-size" (warning),
    ConditionType = "condition-type" (error),
    MatchNotExhaustive = "match-not-exhaustive" (error),
    MatchWithoutArms = "match-without-arms" (warning),
    UnreachableArm = "unreachable-arm" (warning),
    PatternType = "pattern-type" (error),
    PatternArity = "pattern-arity" (error),
    ShapeMismatch = "shape-mismatch" (error),
    BroadcastMismatch = "broadcast-mismatch" (error),
    RankMismatch = "rank-mismatch" (error),
    DtypeMismatch = "dtype-mismatch" (error),
    AxisOutOfRange = "axis-out-of-range" (error),
    PythonCall = "python-call" (error),
    AttributeType = "attribute-type" (error),
    AttributeValue = "attribute-value" (error),
    AttributeLength = "attribute-length" (error),
    AttributeMismatch = "attribute-mismatch" (error),
    MissingAttribute = "missing-attribute" (error),
    AttributesNotTaken = "attributes-not-taken" (error),
    InvalidLayout = "invalid-layout" (error),
    RelationUndecided = "relation-undecided" (warning),
    CannotCompute = "cannot-compute" (warning),
    DoubtfulCall = "doubtful-call" (warning),
    UndefinedResult = "undefined-result" (warning),
    NoRelation = "no-relation" (info),
    OperatorUndefined = "operator-undefined" (error),
    UnusedBinding = "unused-binding" (warning),
    UnusedParameter = "unused-parameter" (hint),
    ShadowedParameter = "shadowed-parameter" (info),
    StaleTypeComment = "stale-type-comment" (warning),
    ImpreciseTypeComment = "imprecise-type-comment" (off),
    UnusedAllow = "unused-allow" (hint),
    InvalidAllow = "invalid-allow" (warning),
    TvmAnnotation = "tvm-annotation" (tvm),
    TvmAttributeTuple = "tvm-attribute-tuple" (tvm),
    TvmBareExpression = "tvm-bare-expression" (tvm),
    TvmBareFloat = "tvm-bare-float" (tvm),
    TvmCarriageReturn = "tvm-carriage-return" (tvm),
    TvmCaseArm = "tvm-case-arm" (tvm),
    TvmChainedProjection = "tvm-chained-projection" (tvm),
    TvmComma = "tvm-comma" (tvm),
    TvmConstantExpression = "tvm-constant-expression" (tvm),
    TvmConstructorSignature = "tvm-constructor-signature" (tvm),
    TvmDataDefinition = "tvm-data-definition" (tvm),
    TvmDetachedAttributes = "tvm-detached-attributes" (tvm),
    TvmElseIf = "tvm-else-if" (tvm),
    TvmExternalFunction = "tvm-external-function" (tvm),
    TvmFreeVariable = "tvm-free-variable" (tvm),
    TvmGluedMinus = "tvm-glued-minus" (tvm),
    TvmGluedNumber = "tvm-glued-number" (tvm),
    TvmGraphVariable = "tvm-graph-variable" (tvm),
    TvmHashComment = "tvm-hash-comment" (tvm),
    TvmHole = "tvm-hole" (tvm),
    TvmKind = "tvm-kind" (tvm),
    TvmLiteralSuffix = "tvm-literal-suffix" (tvm),
    TvmLiteralType = "tvm-literal-type" (tvm),
    TvmLogLine = "tvm-log-line" (tvm),
    TvmLogicalOperator = "tvm-logical-operator" (tvm),
    TvmMatchScrutinee = "tvm-match-scrutinee" (tvm),
    TvmMetaType = "tvm-meta-type" (tvm),
    TvmMetadata = "tvm-metadata" (tvm),
    TvmName = "tvm-name" (tvm),
    TvmNestedLet = "tvm-nested-let" (tvm),
    TvmOperand = "tvm-operand" (tvm),
    TvmOperatorName = "tvm-operator-name" (tvm),
    TvmOtherVersion = "tvm-other-version" (tvm),
    TvmPolymorphicType = "tvm-polymorphic-type" (tvm),
    TvmPrelude = "tvm-prelude" (tvm),
    TvmPrintedAttribute = "tvm-printed-attribute" (tvm),
    TvmRefType = "tvm-ref-type" (tvm),
    TvmSecondModule = "tvm-second-module" (tvm),
    TvmSemicolon = "tvm-semicolon" (tvm),
    TvmShadowedLet = "tvm-shadowed-let" (tvm),
    TvmTirFunction = "tvm-tir-function" (tvm),
    TvmTypeArguments = "tvm-type-arguments" (tvm),
    TvmTypeOrder = "tvm-type-order" (tvm),
    TvmTypeParameters = "tvm-type-parameters" (tvm),
    TvmVersion = "tvm-version" (tvm),
    TvmWhereClause = "tvm-where-clause" (tvm),
    RunCancelled = "run-cancelled" (info),
    RunDeclaredSize = "run-declared-size" (error),
    RunDepth = "run-depth" (error),
    RunFuel = "run-fuel" (error),
    RunInput = "run-input" (error),
    RunMemory = "run-memory" (error),
    RunMissing = "run-missing" (error),
    RunNoArm = "run-no-arm" (error),
    RunNoKernel = "run-no-kernel" (error),
    RunNotFinite = "run-not-finite" (warning),
    RunOperatorFailed = "run-operator-failed" (error),
    RunTime = "run-time" (error),
    RunUntyped = "run-untyped" (error),
    UnusedConstant = "unused-constant" (hint),
    DuplicateConstant = "duplicate-constant" (hint),
}

impl Code {
    /// Returns the default severity.
    pub const fn severity(self) -> Severity {
        self.kind().0
    }

    /// Returns true if the finding concerns compatibility with TVM only; `--tvm` makes it an error.
    pub const fn is_tvm(self) -> bool {
        matches!(self.kind().1, Policy::Tvm)
    }

    /// Returns true if diagnostics of the code are reported only if users give it a level.
    pub const fn is_on_request(self) -> bool {
        matches!(self.kind().1, Policy::OnRequest)
    }

    /// Returns true if users may choose the level of the code, and comments may allow its diagnostics:
    /// the errors of the language are not hidden, as everything after them may follow from them.
    pub const fn has_level(self) -> bool {
        !matches!(self.severity(), Severity::Error)
    }

    /// Returns the title, a single line.
    pub const fn title(self) -> &'static str {
        PAGES[self as usize].title
    }

    /// Returns the page in Markdown, without the heading.
    pub const fn page(self) -> &'static str {
        PAGES[self as usize].text
    }

    /// Returns the page for a reader, without what only the tests of its examples need: the words after the language
    /// of an example, and the messages that are expected on a line, of which the codes are left.
    pub fn readable_page(self) -> String {
        let mut out = String::new();
        for line in self.page().lines() {
            if let Some(info) = line.strip_prefix("```") {
                let mut words = info.split(' ');
                let language = words.next().unwrap_or_default();
                if words.any(|word| word == "fixed") {
                    out += "With the fix:\n\n";
                }
                out += &format!("```{language}\n");
                continue;
            }
            let marks = ["error", "warning", "info", "hint"];
            let begins = marks.iter().filter_map(|mark| line.find(&format!("// {mark}: [")));
            let (code, mut rest) = line.split_at(begins.min().unwrap_or(line.len()));
            out += code;
            let mut shown: Vec<String> = Vec::new();
            while let Some((severity, after)) = rest.trim_start_matches("// ").split_once(": [")
                && let Some((name, after)) = after.split_once(']')
            {
                let mark = format!("{severity}[{name}]");
                if !shown.contains(&mark) {
                    shown.push(mark);
                }
                rest = after.find("// ").map_or("", |at| &after[at..]);
            }
            if !shown.is_empty() {
                out += &format!("// {}", shown.join(", "));
            }
            out.push('\n');
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Returns the heading of the page, from which Markdown renderers make its anchor.
    pub fn page_heading(self) -> String {
        format!("{}{}", self.heading(), self.title())
    }
}

/// By name: the order of output does not depend on the order of the reference.
impl Ord for Code {
    fn cmp(&self, other: &Code) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Code {
    fn partial_cmp(&self, other: &Code) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The page of a code.
#[derive(Clone, Copy)]
struct Page {
    title: &'static str,
    text: &'static str,
}

static PAGES: [Page; Code::ALL.len()] = pages();

/// Splits the reference into its pages, at compile time.
const fn pages() -> [Page; Code::ALL.len()] {
    let (_, mut rest) = split(include_str!("codes.md"), "\n## ");
    let mut pages = [Page { title: "", text: "" }; Code::ALL.len()];
    let mut at = 0;
    while at < pages.len() {
        let (heading, text) = split(rest, "\n");
        let (text, next) = split(text, "\n## ");
        let expected = Code::ALL[at].heading();
        if !starts_with(heading.as_bytes(), 0, expected) {
            panic!("{}", expected);
        }
        let title = heading.split_at(expected.len()).1;
        pages[at] = Page { title, text: text.trim_ascii() };
        rest = next;
        at += 1;
    }
    assert!(rest.is_empty(), "`codes.md` has pages without a code");
    pages
}

/// Splits a text at the first occurrence of `separator`; the second part is empty without one.
const fn split<'t>(text: &'t str, separator: &str) -> (&'t str, &'t str) {
    let mut at = 0;
    while at < text.len() {
        if starts_with(text.as_bytes(), at, separator) {
            let (before, after) = text.split_at(at);
            return (before, after.split_at(separator.len()).1);
        }
        at += 1;
    }
    (text, "")
}

/// Returns true if `text` has `prefix` at `at`.
const fn starts_with(text: &[u8], at: usize, prefix: &str) -> bool {
    let prefix = prefix.as_bytes();
    let mut i = 0;
    while i < prefix.len() {
        if at + i >= text.len() || text[at + i] != prefix[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_by_name() {
        for &code in Code::ALL {
            assert_eq!(Code::from_name(code.name()), Some(code));
        }
        assert_eq!(Code::from_name("shape-mismach"), None);
    }

    #[test]
    fn codes_have_titles_and_pages() {
        for &code in Code::ALL {
            assert!(!code.title().is_empty() && !code.title().contains('\n'), "{code}");
            assert!(!code.page().is_empty(), "{code}");
            assert_eq!(code.is_tvm(), code.name().starts_with("tvm-"), "{code}");
        }
    }

    #[test]
    fn readable_pages_have_no_syntax_of_tests() {
        for &code in Code::ALL {
            let page = code.readable_page();
            for line in page.lines() {
                assert!(!line.contains(": [") || !line.contains("// "), "{code}: {line}");
                assert!(!line.starts_with("```") || !line.contains(' '), "{code}: {line}");
            }
            let fences = |text: &str| text.lines().filter(|line| line.starts_with("```")).count();
            assert_eq!(fences(&page), fences(code.page()));
        }
        let page = Code::TvmGluedMinus.readable_page();
        assert!(page.contains("  %a -1 // error[tvm-glued-minus]\n"), "{page}");
        assert!(page.contains("\n\nWith the fix:\n\n```relay\n"), "{page}");
        let page = Code::InvalidAllow.readable_page();
        let both =
            "// relay: allow(unused-bindings) // warning[invalid-allow], warning[unused-binding]";
        assert!(page.contains(both), "{page}");
    }
}
