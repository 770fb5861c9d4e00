//! Syntax errors as data; the semantic layer renders them.

use std::fmt;

use rowan::{TextRange, TextSize};

use crate::{Mistake, SyntaxKind, damage::Damage};

/// An error reported by the lexer or the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte range in the parsed text.
    pub range: TextRange,
    /// The error.
    pub kind: SyntaxErrorKind,
}

/// The token or construct that the grammar requires at a position. Its display is part of a
/// sentence: `` `)` ``, `an expression`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// A token or construct.
    Kind(SyntaxKind),
    /// The shape of a tensor type.
    Shape,
    /// Anything else, as a noun phrase for the message.
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

/// The errors of the lexer and the parser.
///
/// The first group is an error in every notation. The second group is valid in the manual's
/// notation or in TVM's printed output, but TVM's parser for format 0.0.5 rejects it: reported
/// under `--tvm` only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// A token or construct is missing: `expected … found …`.
    Expected {
        /// The missing token or construct.
        expected: Expectation,
        /// The token in its place.
        found: SyntaxKind,
        /// For a missing closing bracket: the opening one.
        open: Option<TextRange>,
    },
    /// A token that fits no construct.
    Unexpected(SyntaxKind),
    /// `/*` without `*/`.
    UnclosedComment,
    /// `"` without a closing `"`.
    UnclosedString,
    /// A character that begins no token.
    UnknownCharacter,
    /// Nesting that exceeds [`crate::ParseLimits`].
    TooDeep,
    /// `#[…]` that is neither a version nor a metadata section.
    UnknownSection,
    /// `#[version = "…"]` with a version other than 0.0.5.
    UnknownVersion,
    /// A second bare expression.
    SecondExpression,
    /// A construct of another language.
    Mistake(Box<Mistake>),
    /// A place where somebody cut the text. It has no message of its own: what is left out may be the cause of
    /// other errors.
    Cut,

    /// `# comment`.
    HashComment,
    /// A carriage return that no line feed follows.
    LoneCarriageReturn,
    /// A binding without `;`.
    MissingSemicolon,
    /// Constructors or arms separated by line breaks instead of `,`.
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
    /// A number that TVM's lexer joins with the `+`, `-` or `.` directly after it: `1-2`.
    GluedNumber,
    /// `%a -1`: TVM's lexer reads `-1` as a number, not as a subtraction.
    GluedMinus,
    /// `%input.1`, `%aten::linear_3.bias`: names that TVM prints but does not parse.
    UnreadableName,
    /// `ref(T)` as a type.
    RefType,
    /// `%x: meta[TensorType][0]`: a type from the metadata section.
    MetaType,
    /// `def @f = meta[ExternalFunc][0]`.
    ExternalFunction,
    /// A TIR function in the module.
    TirFunction,
    /// `{a=1}`, `'main'`, `VirtualDevice(…)` as the value of an attribute.
    PrintedAttribute,
    /// Damage of a text that was pasted, other than a cut.
    Pasted {
        /// The kind of damage.
        damage: Damage,
        /// The number of damaged characters or lines.
        count: u32,
    },
    /// A log line between modules.
    LogLine,
    /// A message of TVM about the expression before it, in a module that TVM 0.5 to 0.7 rejected.
    PrintedMessage,
    /// A second module in the file.
    SecondModule,
    /// `v0.0.4`, the version line of TVM 0.6 and before.
    OldVersion,
    /// `# ty=T`, a comment of TVM 0.5.
    OldComment,
    /// `int64(3)` and `float64(1.5)`, numbers of TVM 0.5.
    OldLiteral,
    /// `Tuple[A, B]`, a tuple type of TVM 0.5.
    OldTuple,
    /// The metadata section of TVM 0.5 and 0.6.
    OldSection,
    /// `%r^`, as TVM 0.6 and 0.7 print `ref_read(%r)`.
    PrintedRead,
    /// `(%r := e)`, as TVM 0.6 and 0.7 print `ref_write(%r, e)`.
    PrintedWrite,
    /// `nn.relu(%x, Tensor[(1, 3), float32])`, the type arguments of a call as debug builds of TVM 0.9 print them. The
    /// range begins before the comma.
    PrintedTypes,
    /// `e1 ;; e2`, the sequence of TVM 0.6.
    DoubleSemicolon,
    /// `%t.0.1`, `f(%x).0`: TVM parses one projection, and only from an atom.
    ChainedProjection,
    /// `let %x = let %y = …` without parentheses.
    NestedLet,
    /// `Tensor[s, float32]`, `Tensor[(n, 3), float32]`: shape variables.
    ShapeVariable,
    /// A literal with a suffix that TVM's text format does not have: `1i8`, `nanf`.
    LiteralSuffix,
    /// `match f(%x) { … }`: TVM requires an atom as the scrutinee.
    MatchScrutinee,
    /// `let %x = match …`, `1 + { … }`: TVM accepts `match` and blocks only as whole expressions.
    BareOperand,
    /// `else if` for `else { if … }`.
    ElseIf,
    /// `fn [A](A) -> A` as a type.
    PolymorphicFnType,
    /// `(_, int32)`: an omitted type inside another type.
    NestedHole,
    /// `axes=(1, 0)` for `axes=[1, 0]`.
    AttributeTuple,
}

impl SyntaxErrorKind {
    /// Returns the kind of damage and the number of damaged places.
    pub fn damage(&self) -> Option<(Damage, u32)> {
        match *self {
            SyntaxErrorKind::Pasted { damage, count } => Some((damage, count)),
            SyntaxErrorKind::Cut => Some((Damage::Cut, 1)),
            _ => None,
        }
    }

    /// Applies `map` to every range inside the kind.
    pub(crate) fn map_ranges(self, map: impl Fn(TextRange) -> TextRange) -> SyntaxErrorKind {
        match self {
            SyntaxErrorKind::Expected { expected, found, open } => {
                SyntaxErrorKind::Expected { expected, found, open: open.map(map) }
            }
            SyntaxErrorKind::Mistake(mut mistake) => {
                mistake.edits.iter_mut().for_each(|(range, _)| *range = map(*range));
                SyntaxErrorKind::Mistake(mistake)
            }
            other => other,
        }
    }

    /// Returns true for an error about characters, which are no fault in a text that is not Relay.
    pub(crate) fn is_of_characters(&self) -> bool {
        use SyntaxErrorKind::*;
        matches!(self, UnknownCharacter | UnclosedString | Cut | Pasted { .. })
    }

    /// Returns true for the second group: only TVM's own parser rejects the text.
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
                | Mistake(_)
                | Cut
        )
    }
}

/// Returns the range between two byte offsets of a text below 4 GiB.
pub(crate) fn range(start: usize, end: usize) -> TextRange {
    TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32))
}
