//! What can be wrong with a text, as values.

use std::fmt;

use rowan::{TextRange, TextSize};

use crate::SyntaxKind;

/// One finding of the lexer or the parser, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte range in the parsed text.
    pub range: TextRange,
    /// What is wrong there.
    pub kind: SyntaxErrorKind,
}

/// What would have been right at a place. Displayed, it goes into a sentence: `` `)` ``, `an
/// expression`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// A token or construct.
    Kind(SyntaxKind),
    /// The shape of a tensor type.
    Shape,
    /// Something else that only a reader has to know, in words.
    Words(&'static str),
}

impl From<SyntaxKind> for Expectation {
    fn from(kind: SyntaxKind) -> Expectation {
        Expectation::Kind(kind)
    }
}

impl From<&'static str> for Expectation {
    fn from(words: &'static str) -> Expectation {
        Expectation::Words(words)
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Expectation::Kind(kind) => kind.describe(),
            Expectation::Shape => "a shape such as `(1, 64)`",
            Expectation::Words(words) => words,
        })
    }
}

/// What the lexer and the parser report.
///
/// The first group is wrong in every notation. The second group is sound Relay (the manual's
/// notation, or what TVM prints) that TVM 0.0.5 does not read back: a finding for `--tvm` only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A token or construct is missing: `expected … found …`.
    Expected {
        /// What would have been right.
        expected: Expectation,
        /// What stands there.
        found: SyntaxKind,
        /// The bracket that is still open, for a missing closing bracket.
        open: Option<TextRange>,
    },
    /// A token that no construct takes.
    Unexpected(SyntaxKind),
    /// `/*` without `*/`.
    UnclosedComment,
    /// `"` without its partner.
    UnclosedString,
    /// A character that begins no token.
    UnknownCharacter,
    /// More nesting than the limit.
    TooDeep,
    /// `#[…]` that is neither a version nor a metadata section.
    UnknownSection,
    /// `#[version = "…"]` of another version than 0.0.5.
    UnknownVersion,
    /// A second bare expression.
    SecondExpression,

    /// `# comment`.
    HashComment,
    /// A carriage return that no line feed follows.
    LoneCarriageReturn,
    /// A binding without `;`.
    MissingSemicolon,
    /// Constructors or arms on lines of their own without `,` between them.
    MissingComma,
    /// `data T { … }` for `type T { … }`.
    DataDefinition,
    /// `case C(%x) { e }` for `C(%x) => e,`.
    CaseArm,
    /// `fn<t : Type>(…)` for `fn[t](…)`, and kinds.
    AngleTypeParams,
    /// `f<T>(x)`.
    TypeArguments,
    /// `where Broadcast`.
    WhereClause,
    /// `C : (A) -> T` for `C(A)` in a type definition.
    ConstructorSignature,
    /// `&&` and `||`.
    LogicalOperator,
    /// `Constant(1, (10, 10), float32)`.
    ConstantExpression,
    /// `1.5` without suffix.
    BareFloat,
    /// A number that TVM would read together with the `+`, `-`, `.` or `e` that follows it.
    GluedNumber,
    /// `%a -1`: TVM reads `-1` as a number of its own.
    GluedMinus,
    /// `%input.1`, `%aten::linear_3.bias`: printed names that TVM's parser does not take.
    UnreadableName,
    /// `ref(T)` as a type.
    RefType,
    /// `%x: meta[TensorType][0]`: a type in the metadata section.
    MetaType,
    /// `def @f = meta[ExternalFunc][0]`.
    ExternalFunction,
    /// A TIR function in the module.
    TirFunction,
    /// `{a=1}`, `'main'`, `VirtualDevice(…)` where an attribute stands.
    PrintedAttribute,
    /// A log line between modules.
    LogLine,
    /// A second module in the file.
    SecondModule,
    /// `%t.0.1`, `f(%x).0`: TVM projects only once and only from an atom.
    ChainedProjection,
    /// `let %x = let %y = …` without parentheses.
    NestedLet,
    /// `Tensor[s, float32]`, `Tensor[(n, 3), float32]`: shape variables.
    ShapeVariable,
    /// A literal with a suffix that names no scalar of TVM's text format: `1i8`, `nanf`.
    LiteralSuffix,
    /// `match f(%x) { … }`: TVM takes an atom there.
    MatchScrutinee,
    /// `let %x = match …`, `1 + { … }`: TVM takes these only where a whole expression stands.
    BareOperand,
    /// `else if` for `else { if … }`.
    ElseIf,
    /// `fn [A](A) -> A` as a type.
    PolymorphicFnType,
    /// `(_, int32)`: a type left out inside of another.
    NestedHole,
    /// `axes=(1, 0)` for `axes=[1, 0]`.
    AttributeTuple,
}

impl SyntaxErrorKind {
    /// The kind with every place in it moved.
    pub(crate) fn moved(self, place: impl Fn(TextRange) -> TextRange) -> SyntaxErrorKind {
        match self {
            SyntaxErrorKind::Expected { expected, found, open } => {
                SyntaxErrorKind::Expected { expected, found, open: open.map(place) }
            }
            other => other,
        }
    }

    /// Whether only TVM's own reader objects.
    pub fn is_compat(&self) -> bool {
        use SyntaxErrorKind::*;
        !matches!(
            self,
            Expected { .. }
                | Unexpected(_)
                | UnclosedComment
                | UnclosedString
                | UnknownCharacter
                | TooDeep
                | UnknownSection
                | UnknownVersion
                | SecondExpression
        )
    }
}

/// A range from byte offsets of a text below 4 GiB.
pub(crate) fn range(start: usize, end: usize) -> TextRange {
    TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32))
}
