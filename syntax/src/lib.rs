//! Lexer, error-resilient parser, lossless syntax tree and formatter for Relay, TVM's functional
//! tensor IR.
//!
//! Invariants:
//! - [`parse`] accepts any text and never fails or panics; the tree contains every byte of it.
//! - A tree is a value: it stores no positions, and equal texts parse to equal trees.
//! - Chains of bindings (`%0 = …; %1 = …; %2`) are flat lists; nesting is bounded by
//!   [`ParseLimits`].
//!
//! The crate knows nothing of the incremental database, the file system or LSP.

#[macro_use]
mod kind;

pub mod ast;
mod chunk;
mod damage;
mod directives;
mod error;
pub mod format;
mod grammar;
mod input;
mod interner;
mod lexer;
mod limits;
mod line_index;
mod mistake;
mod node;
mod number;
mod other_text;
mod parser;
mod pasted;
mod reparse;
mod reuse;
mod source;
mod tensors;
mod text;
mod tree;

pub use damage::Damage;
pub use error::{Expectation, SyntaxError, SyntaxErrorKind};
pub use kind::{Relay, SyntaxKind};
pub use lexer::next_module;
pub use limits::ParseLimits;
pub use line_index::{Encoding, LineColumn, LineIndex, LineWalk};
pub use mistake::{Mistake, MistakeKind, dtype_of, tensor_type_of};
pub use node::{Element, Node, Token, element_range};
pub use number::{float_parts, int_parts};
pub use other_text::{OtherText, other_text};
pub use pasted::{cleaning, readable_section, unquoted};
pub use reparse::Edit;
pub use rowan::NodeOrToken;
pub use rowan::{GreenNode, GreenNodeData, GreenTokenData, TextRange, TextSize};
pub use source::Source;
pub use text::Text;

/// A node with access to its parent and siblings. [`Node`] is cheaper where neither is needed.
pub type SyntaxNode = rowan::SyntaxNode<Relay>;
/// A token with access to its parent and siblings.
pub type SyntaxToken = rowan::SyntaxToken<Relay>;

use input::Input;
use interner::Interner;
use lexer::TensorTypes;
use parser::Parser;

/// A syntax tree and the errors found while it was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parse {
    /// The tree over the whole text.
    pub green: GreenNode,
    /// Errors of the lexer and the parser, in no particular order.
    pub errors: Vec<SyntaxError>,
    /// The offsets at which the text has `relay: allow` or `relay:allow`, in order. Most of them begin
    /// the content of a comment; nothing else is known of their tokens.
    pub directives: Vec<TextSize>,
    limits: ParseLimits,
    /// True if the text has a token that a clean one cannot have, so that an edit may change how all of it is
    /// read.
    is_suspect: bool,
    /// True if the text is damaged, and was read in its readable form.
    is_pasted: bool,
}

impl Parse {
    /// Returns the limits of the parser, which also apply to reparses.
    pub fn limits(&self) -> ParseLimits {
        self.limits
    }

    /// Replaces definitions and statements by equal ones of `previous`, so that both parses share
    /// their memory and consumers can compare them by address.
    pub fn reusing(self, previous: &Parse) -> Parse {
        Parse { green: reuse::reuse(&previous.green, self.green), ..self }
    }

    /// Returns the root of the tree.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }
}

/// Parses a whole file.
pub fn parse(text: &str) -> Parse {
    parse_with(text, ParseLimits::default())
}

/// Parses a whole file with the given limits.
pub fn parse_with(text: &str, limits: ParseLimits) -> Parse {
    fragment(text, limits, grammar::source_file)
}

/// Parses a single type, such as the one in `/* ty=Tensor[(1, 64), float32] */`. The root of the
/// tree is a `SOURCE_FILE`.
pub fn parse_type(text: &str) -> Parse {
    fragment(text, ParseLimits::default(), grammar::type_fragment)
}

/// Returns the tokens of a text with their end offsets. A tensor type such as
/// `Tensor[(1, 64), float32]` is one token, as it is for the parser.
pub fn tokens(text: &str) -> impl Iterator<Item = (SyntaxKind, TextSize)> {
    let tokens = lexer::lex(text, TensorTypes::Whole);
    tokens.kinds.into_iter().zip(tokens.ends.into_iter().map(TextSize::new))
}

/// Returns true for a line that a compiler or a log writes: `One or more operators have not been tuned.`
pub fn is_log_text(line: &str) -> bool {
    grammar::foreign::is_noise(line)
}

fn fragment(text: &str, limits: ParseLimits, entry: fn(&mut Parser<'_>)) -> Parse {
    let tokens = lexer::lex(text, TensorTypes::Whole);
    if tokens.is_suspect
        && let Some(masked) = pasted::masked(text)
    {
        return parse_masked(text, masked, limits, entry);
    }
    let parse = parse_tokens(text, tokens, limits, entry);
    match parse.is_suspect.then(|| pasted::masked(text)).flatten() {
        Some(masked) => parse_masked(text, masked, limits, entry),
        None => parse,
    }
}

/// Parses a damaged text in its readable form.
fn parse_masked(
    text: &str,
    masked: pasted::MaskedText,
    limits: ParseLimits,
    entry: fn(&mut Parser<'_>),
) -> Parse {
    // The trees of tensor types are made of their texts, which may be damaged.
    let mut tokens = lexer::lex(&masked.text, TensorTypes::Spelled);
    masked.join(&mut tokens);
    let mut errors = std::mem::take(&mut tokens.errors);
    errors.iter_mut().for_each(|error| error.range = masked.widen(error.range));
    let input = Input::new(&masked.text, tokens);
    let mut parser = Parser::damaged(input, text, limits);
    entry(&mut parser);
    let parsed = parser.finish();
    errors.extend(masked.errors());
    parsed.retain(&mut errors);
    errors.extend(parsed.errors);
    let (green, directives) = (parsed.green, directives::find(text));
    Parse { green, errors, directives, limits, is_suspect: true, is_pasted: true }
}

fn parse_tokens(
    text: &str,
    mut tokens: lexer::Tokens,
    limits: ParseLimits,
    entry: fn(&mut Parser<'_>),
) -> Parse {
    let mut errors = std::mem::take(&mut tokens.errors);
    let mut is_suspect = tokens.is_suspect;
    let interner = tensors::intern(text, &mut tokens, Interner::default());
    let mut parser = Parser::new(Input::new(text, tokens), limits, interner);
    entry(&mut parser);
    let parsed = parser.finish();
    is_suspect |= parsed.is_suspect;
    is_suspect |= parsed.retain(&mut errors);
    errors.extend(parsed.errors);
    let (green, directives) = (parsed.green, directives::find(text));
    Parse { green, errors, directives, limits, is_suspect, is_pasted: false }
}
