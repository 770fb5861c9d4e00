//! The lexer.
//!
//! The token rules are TVM's (identifiers may contain `/`, `%` and `@` are part of the name after
//! them, comments nest, strings have no escapes), extended by names that TVM prints but cannot
//! parse (`%input.1`, `%aten::linear_3.bias`) and by the manual's `#` comments. Every byte is in
//! exactly one token, and the lexer never fails: other characters become [`UNKNOWN`] tokens with an
//! error.
//!
//! [`UNKNOWN`]: SyntaxKind::UNKNOWN

mod messages;
mod names;

use logos::{Lexer, Logos};
pub(crate) use names::escaped_end;

use crate::{
    SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange,
    damage::{self, Damage},
    error::range,
};

/// The tokens of the generated automaton. Some of them are post-processed before they get a
/// [`SyntaxKind`].
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
// Letters outside of ASCII. Spaces, quotes, dashes and arrows are none: `crate::pasted` reads them.
#[logos(subpattern far = r"[\u{80}-\u{9F}\u{A1}-\u{AA}\u{AC}\u{AE}-\u{BA}\u{BC}-\u{167F}\u{1681}-\u{1FFF}\u{2070}-\u{2191}\u{2193}-\u{21D1}\u{21D3}-\u{2211}\u{2213}-\u{225F}\u{2261}-\u{2263}\u{2266}-\u{2FFF}\u{3003}-\u{FEFE}\u{FF00}\u{FF10}-\u{FF19}\u{FF21}-\u{FF3A}\u{FF3F}\u{FF41}-\u{FF5A}\u{FF5F}-\u{10FFFF}]")]
#[logos(subpattern letter = r"([A-Za-z_]|(?&far))")]
#[logos(subpattern word = r"([A-Za-z_0-9]|(?&far))")]
#[logos(subpattern slashed = r"([A-Za-z_0-9/]|(?&far))")]
// A further part of a printed name. A part of digits counts only if another part follows it:
// `%layer.0.weight` is a name, `%pair.0` a projection.
#[logos(subpattern part = r"((\.|::)[0-9]+)*(\.|::)[0-9]*(?&letter)(?&slashed)*")]
enum Token {
    /// A token whose kind follows from its characters alone.
    #[regex(r"[ \t\r\n\x0B\x0C]+", |_| SyntaxKind::WHITESPACE)]
    #[regex(r"//[^\n]*", |_| SyntaxKind::LINE_COMMENT, allow_greedy = true)]
    #[token("(", |_| SyntaxKind::L_PAREN)]
    #[token(")", |_| SyntaxKind::R_PAREN)]
    #[token("[", |_| SyntaxKind::L_BRACK)]
    #[token("]", |_| SyntaxKind::R_BRACK)]
    #[token("{", |_| SyntaxKind::L_BRACE)]
    #[token("}", |_| SyntaxKind::R_BRACE)]
    #[token(",", |_| SyntaxKind::COMMA)]
    #[token(";", |_| SyntaxKind::SEMICOLON)]
    #[token(":", |_| SyntaxKind::COLON)]
    #[token(":=", |_| SyntaxKind::COLON_EQ)]
    #[token(".", |_| SyntaxKind::DOT)]
    #[token("=", |_| SyntaxKind::EQ)]
    #[token("==", |_| SyntaxKind::EQ2)]
    #[token("!=", |_| SyntaxKind::NEQ)]
    #[token("<=", |_| SyntaxKind::LE)]
    #[token(">=", |_| SyntaxKind::GE)]
    #[token("+", |_| SyntaxKind::PLUS)]
    #[token("-", |_| SyntaxKind::MINUS)]
    #[token("*", |_| SyntaxKind::STAR)]
    #[token("/", |_| SyntaxKind::SLASH)]
    #[token("&&", |_| SyntaxKind::AMP2)]
    #[token("||", |_| SyntaxKind::PIPE2)]
    #[token("->", |_| SyntaxKind::THIN_ARROW)]
    #[token("=>", |_| SyntaxKind::FAT_ARROW)]
    #[token("^", |_| SyntaxKind::CARET)]
    #[token("?", |_| SyntaxKind::QUESTION)]
    #[token("!", |_| SyntaxKind::BANG)]
    #[token("%", |_| SyntaxKind::PERCENT)]
    #[token("@", |_| SyntaxKind::AT)]
    #[token("let", |_| SyntaxKind::LET_KW)]
    #[token("fn", |_| SyntaxKind::FN_KW)]
    #[token("def", |_| SyntaxKind::DEF_KW)]
    #[token("if", |_| SyntaxKind::IF_KW)]
    #[token("else", |_| SyntaxKind::ELSE_KW)]
    #[token("type", |_| SyntaxKind::TYPE_KW)]
    #[token("match", |_| SyntaxKind::MATCH_KW)]
    #[token("extern", |_| SyntaxKind::EXTERN_KW)]
    #[token("free_var", |_| SyntaxKind::FREE_VAR_KW)]
    #[token("ref", |_| SyntaxKind::REF_KW)]
    #[token("ref_read", |_| SyntaxKind::REF_READ_KW)]
    #[token("ref_write", |_| SyntaxKind::REF_WRITE_KW)]
    #[token("True", |_| SyntaxKind::TRUE_KW)]
    #[token("False", |_| SyntaxKind::FALSE_KW)]
    #[regex(r"%(?&letter)(?&word)*", |_| SyntaxKind::LOCAL)]
    #[regex(r"%[0-9]+", |_| SyntaxKind::GRAPH)]
    // `%1x` is not a valid name, but one token gives a better error than two.
    #[regex(r"%[0-9]+(?&letter)(?&word)*", |_| SyntaxKind::LOCAL)]
    #[regex(r"@(?&letter)(?&word)*", |_| SyntaxKind::GLOBAL)]
    #[regex(r"[0-9]+", |_| SyntaxKind::INT)]
    #[regex(r"[0-9]+i[0-9]+", |_| SyntaxKind::INT)]
    #[regex(r"'[^'\n]*'", |_| SyntaxKind::QUOTED_NAME)]
    #[regex(r"meta\[[^\[\]\n]*\]\[[^\[\]\n]*\]", |_| SyntaxKind::META_REF)]
    Plain(SyntaxKind),

    #[token("/*")]
    BlockCommentStart,
    #[token("#")]
    Hash,
    // Where somebody cut the text.
    #[token("...")]
    #[token("…")]
    Cut,
    #[token("<")]
    Lt,
    #[token(">")]
    Gt,
    // A comment that has lost its asterisks, or a division.
    #[token("/ ty=")]
    BareComment,
    #[regex(r"(?&letter)(?&word)*(\.(?&letter)(?&word)*)*")]
    Ident,
    // A slash may be part of a name or start a comment directly after it.
    #[regex(r"(?&letter)(?&slashed)*(\.(?&letter)(?&slashed)*)*", priority = 1)]
    SlashedIdent,
    #[regex(r"%(?&letter)(?&slashed)*(?&part)*(:[0-9]+)?(-malformed-ir)?", priority = 1)]
    LongLocal,
    #[regex(r"@(?&letter)(?&slashed)*(?&part)*", priority = 1)]
    LongGlobal,
    // TVM 0.7 names fused functions by their hash, and cannot read that back.
    #[regex(r"@[0-9]+(?&word)*")]
    DigitGlobal,
    // The pass Defunctionalization names definitions by their types, and does not read that back.
    #[regex(r"(@(?&letter)(?&word)*|DefuncFuncType)\(\[")]
    TypedName,
    #[regex(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?(f[0-9]*)?", priority = 1)]
    #[regex(r"(inff|nanf)[0-9]*", priority = 20)]
    Float,
    // TVM 0.5 prints numbers of 64 bits so.
    #[regex(r"int64\(-?[0-9]+\)")]
    OldInt,
    #[regex(r"float64\((-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|-?inf|nan)\)")]
    OldFloat,
    #[regex(r#""[^"\n]*""#)]
    Str,
    #[token("\"")]
    OpenString,
    // A composite token: the most frequent type of a dump in the one spelling of TVM's printer. With 14
    // tokens in its place, which `TensorTypes::Spelled` gives, a check of a printed network executes a
    // third more instructions, of which the lexer alone takes a quarter. Only its end is decided here:
    // `crate::tensors` has the grammar parse the separate tokens.
    #[regex(r"Tensor\[\(([0-9]+|\?)(, ([0-9]+|\?))*\), (float|int|uint|bool|bfloat)[0-9a-z]*\]")]
    TensorText,
}

/// The tokens of a text: token `i` has `kinds[i]` and the range `ends[i - 1] .. ends[i]`.
#[derive(Default, Debug)]
pub(crate) struct Tokens {
    pub(crate) kinds: Vec<SyntaxKind>,
    pub(crate) ends: Vec<u32>,
    pub(crate) errors: Vec<SyntaxError>,
    /// The tensor types that are one token, in order.
    pub(crate) tensors: Vec<TensorToken>,
    /// The start of the first token whose end depends on the whole rest of the text: an unclosed
    /// comment or string, or a metadata section.
    pub(crate) open_ended: Option<u32>,
    /// True if the text has a token that a clean one cannot have; see [`crate::pasted`].
    pub(crate) is_suspect: bool,
}

impl Tokens {
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn start(&self, i: usize) -> u32 {
        if i == 0 { 0 } else { self.ends[i - 1] }
    }

    fn push(&mut self, kind: SyntaxKind, end: usize) {
        self.kinds.push(kind);
        self.ends.push(end as u32);
    }

    fn error(&mut self, range: TextRange, kind: SyntaxErrorKind) {
        self.errors.push(SyntaxError { range, kind });
    }
}

/// A tensor type that is one token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorToken {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The number of its tree, once [`crate::tensors`] has made it.
    pub(crate) tree: u32,
}

/// The tokenization of tensor types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorTypes {
    /// One [`SyntaxKind::TENSOR_TEXT`] if the spelling is the one that TVM prints.
    Whole,
    /// Separate tokens.
    Spelled,
}

/// Splits `text`, which must be smaller than 4 GiB, into tokens.
pub(crate) fn lex(text: &str, tensor_types: TensorTypes) -> Tokens {
    let mut out = Tokens::default();
    out.kinds.reserve(text.len() / 6);
    out.ends.reserve(text.len() / 6);
    let mut at = 0;
    if text.starts_with('\u{FEFF}') {
        // A byte order mark at the start of a file is white space.
        at = '\u{FEFF}'.len_utf8();
        out.push(SyntaxKind::WHITESPACE, at);
    }
    let mut lexer = Token::lexer(text);
    lexer.bump(at);
    while let Some(token) = lexer.next() {
        match token {
            // Most tokens. A call of `step` for each of them would be a twelfth of the instructions.
            Ok(Token::Plain(kind)) => out.push(kind, lexer.span().end),
            Ok(token) => step(&mut lexer, token, tensor_types, &mut out),
            Err(()) => unknown(&mut lexer, &mut out),
        }
    }
    if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        lone_carriage_returns(text, &mut out);
    }
    out
}

fn step<'t>(
    lexer: &mut Lexer<'t, Token>,
    token: Token,
    tensor_types: TensorTypes,
    out: &mut Tokens,
) {
    use SyntaxKind::*;
    let span = lexer.span();
    let kind = match token {
        Token::Plain(kind) => kind,
        Token::BlockCommentStart => return block_comment(lexer, out),
        Token::Hash => return hash(lexer, out),
        Token::Lt => return less_than(lexer, out),
        Token::Gt => {
            out.is_suspect |= damage::is_quote(lexer.source(), span.start);
            GT
        }
        Token::Cut => {
            out.error(range(span.start, span.end), SyntaxErrorKind::Cut);
            CUT
        }
        Token::BareComment => return bare_comment(lexer, out),
        Token::Ident => {
            if lexer.slice() == "METADATA"
                && let Some(rest) = lexer.remainder().strip_prefix(':')
                && rest.trim_start().starts_with('{')
            {
                return old_section(lexer, out);
            }
            if let Some(end) = messages::end(lexer.slice(), &lexer.source()[span.start..]) {
                return message(lexer, end, out);
            }
            IDENT
        }
        Token::SlashedIdent => return names::cut_at_comment(lexer, IDENT, out),
        Token::LongLocal => return names::cut_at_comment(lexer, LOCAL, out),
        Token::DigitGlobal => {
            out.error(range(span.start, span.end), SyntaxErrorKind::UnreadableName);
            GLOBAL
        }
        Token::LongGlobal => return names::cut_at_comment(lexer, GLOBAL, out),
        Token::TypedName => return names::typed_name(lexer, out),
        Token::Float => return number(lexer, out),
        Token::OldInt | Token::OldFloat => {
            out.error(range(span.start, span.end), SyntaxErrorKind::OldLiteral);
            if token == Token::OldInt { INT } else { FLOAT }
        }
        Token::Str if lexer.slice().ends_with("\\\"") => return names::escaped(lexer, out),
        Token::Str => STRING,
        Token::OpenString => return open_string(lexer, out),
        Token::TensorText if tensor_types == TensorTypes::Whole => {
            let (start, end) = (span.start as u32, span.end as u32);
            out.tensors.push(TensorToken { start, end, tree: 0 });
            TENSOR_TEXT
        }
        Token::TensorText => {
            // Rewind to the end of the word `Tensor`.
            return restart(lexer, span.start + "Tensor".len(), IDENT, out);
        }
    };
    out.push(kind, span.end);
}

/// Ends the current token at `end` and rewinds the automaton to that offset.
fn restart<'t>(lexer: &mut Lexer<'t, Token>, end: usize, kind: SyntaxKind, out: &mut Tokens) {
    let mut again = Token::lexer(lexer.source());
    again.bump(end);
    *lexer = again;
    out.push(kind, end);
}

/// Pushes `1.5f16`, `1e-5` or `3.`; splits `%t.0.1`, which is two projections.
fn number(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let span = lexer.span();
    let after_dot = out.kinds.last() == Some(&SyntaxKind::DOT);
    let digits = lexer.slice().bytes().take_while(u8::is_ascii_digit).count();
    if after_dot && digits > 0 {
        return restart(lexer, span.start + digits, SyntaxKind::INT, out);
    }
    out.push(SyntaxKind::FLOAT, span.end);
}

/// Pushes `<`, or `<---- this one` up to the end of the line, a remark of somebody who posted the text.
#[inline(never)]
fn less_than(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let start = lexer.span().start;
    let rest = lexer.remainder();
    if !rest.starts_with("---") {
        return out.push(SyntaxKind::LT, lexer.span().end);
    }
    lexer.bump(memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len()));
    let end = lexer.span().end;
    let kind = SyntaxErrorKind::Pasted { damage: Damage::Remark, count: 1 };
    out.error(range(start, end), kind);
    out.push(SyntaxKind::LINE_COMMENT, end);
}

/// Pushes `/ ty=int32 /`, or a division.
fn bare_comment(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let start = lexer.span().start;
    let Some(length) = damage::bare_comment(&lexer.source()[start..]) else {
        return restart(lexer, start + 1, SyntaxKind::SLASH, out);
    };
    lexer.bump(start + length - lexer.span().end);
    let kind = SyntaxErrorKind::Pasted { damage: Damage::Asterisks, count: 1 };
    out.error(range(start, start + length), kind);
    out.push(SyntaxKind::BLOCK_COMMENT, start + length);
}

/// Pushes a nested comment `/* … */`.
fn block_comment(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let start = lexer.span().start;
    let rest = lexer.remainder().as_bytes();
    let (mut depth, mut at) = (1u32, 0);
    // Both delimiters contain a slash.
    for slash in memchr::memchr_iter(b'/', rest) {
        if slash < at {
            continue;
        }
        if slash > at && rest[slash - 1] == b'*' {
            depth -= 1;
            at = slash + 1;
            if depth == 0 {
                lexer.bump(at);
                return out.push(SyntaxKind::BLOCK_COMMENT, lexer.span().end);
            }
        } else if rest.get(slash + 1) == Some(&b'*') {
            depth += 1;
            at = slash + 2;
        }
    }
    lexer.bump(rest.len());
    let end = lexer.span().end;
    out.push(SyntaxKind::BLOCK_COMMENT, end);
    out.open_ended.get_or_insert(start as u32);
    out.error(range(start, start + 2), SyntaxErrorKind::UnclosedComment);
}

/// Pushes the metadata section, the `#` of `#[version = …]`, or a comment of the manual.
fn hash(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let start = lexer.span().start;
    let rest = lexer.remainder();
    let Some(inside) = rest.strip_prefix('[') else {
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        if rest[..end].trim() == "meta data" && rest[end..].trim_start().starts_with("r\"\"\"") {
            return old_section(lexer, out);
        }
        let is_old = rest.starts_with(" ty=") || rest.starts_with(" meta data omitted");
        // TVM 0.5 prints its messages in comments.
        let is_said = messages::begins(rest[..end].trim_start());
        lexer.bump(end);
        let (marked, kind) = match is_old {
            _ if is_said => (lexer.span().end, SyntaxErrorKind::PrintedMessage),
            true => (start + 1, SyntaxErrorKind::OldComment),
            false => (start + 1, SyntaxErrorKind::HashComment),
        };
        out.error(range(start, marked), kind);
        return out.push(SyntaxKind::HASH_COMMENT, lexer.span().end);
    };
    if inside.trim_start().strip_prefix("metadata").is_some_and(|r| r.trim_start().starts_with(']'))
    {
        out.open_ended.get_or_insert(start as u32);
        lexer.bump(next_module(rest.as_bytes()).unwrap_or(rest.len()));
        return out.push(SyntaxKind::METADATA, lexer.span().end);
    }
    out.push(SyntaxKind::HASH, lexer.span().end);
}

/// Pushes messages of TVM, as a comment.
fn message(lexer: &mut Lexer<'_, Token>, length: usize, out: &mut Tokens) {
    let start = lexer.span().start;
    lexer.bump(start + length - lexer.span().end);
    out.open_ended.get_or_insert(start as u32);
    out.error(range(start, start + length), SyntaxErrorKind::PrintedMessage);
    out.push(SyntaxKind::BLOCK_COMMENT, start + length);
}

/// Pushes the metadata section of TVM 0.5, `# meta data` and JSON in a string of Python, or of TVM 0.6,
/// `METADATA:` and JSON up to the end.
fn old_section(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let start = lexer.span().start;
    let rest = lexer.remainder().as_bytes();
    out.open_ended.get_or_insert(start as u32);
    let mut end = next_module(rest).unwrap_or(rest.len());
    if let Some(open) = memchr::memmem::find(&rest[..end], b"r\"\"\"")
        && let Some(close) = memchr::memmem::find(&rest[open + 4..end], b"\"\"\"")
    {
        end = open + 4 + close + 3;
    }
    lexer.bump(end);
    out.error(range(start, lexer.span().start.max(start) + 1), SyntaxErrorKind::OldSection);
    out.push(SyntaxKind::METADATA, lexer.span().end);
}

/// Returns the offset of the line feed before the next module of a log, which ends a metadata section;
/// `None` if the section extends to the end of the text. TVM's JSON has no line that begins with
/// `#[version` or a time, so scanning for those is safe and much faster than parsing the JSON.
pub fn next_module(section: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', section).find(|&at| {
        let rest = &section[at + 1..];
        rest.starts_with(b"#[version")
            || rest.starts_with(b"v0.0.")
            || rest.first() == Some(&b'\n') && is_log_line(&rest[1..])
    })
}

/// Returns true for a line such as `[12:30:00] /src/…: PrintIR():` between the modules of a log.
pub(crate) fn is_log_line(b: &[u8]) -> bool {
    b.len() > 9 && b[0] == b'[' && b[3] == b':' && b[6] == b':' && b[9] == b']'
}

/// Pushes a string without a closing `"` on its line. TVM allows line breaks in strings, but while
/// a file is edited an unclosed string is more likely. Heuristic: it is a string of several lines
/// if a token that may follow an attribute follows the closing quote, and an unclosed one
/// otherwise.
fn open_string(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let span = lexer.span();
    let rest = lexer.remainder();
    out.open_ended.get_or_insert(span.start as u32);
    let line = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
    if let Some(close) = memchr::memchr(b'"', rest.as_bytes()) {
        let after = rest[close + 1..].trim_start_matches([' ', '\t']);
        if close > line && after.starts_with([',', ')', ']', '}']) {
            lexer.bump(close + 1);
            return out.push(SyntaxKind::STRING, lexer.span().end);
        }
    }
    // A carriage return belongs to the white space.
    let line = rest[..line].trim_end_matches('\r').len();
    lexer.bump(line);
    out.error(range(span.start, span.end + line), SyntaxErrorKind::UnclosedString);
    out.push(SyntaxKind::STRING, lexer.span().end);
}

/// Pushes a run of characters that begin no token as one token with one error.
fn unknown(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let span = lexer.span();
    let first = lexer.slice().chars().next().unwrap_or_default();
    // The automaton may have consumed more (`'abc`); only the first character is unknown.
    let end = span.start + first.len_utf8().max(1);
    out.is_suspect |= damage::is_suspect(first, lexer.source(), span.start);
    if out.kinds.last() == Some(&SyntaxKind::UNKNOWN)
        && let (Some(last), Some(error)) = (out.ends.last_mut(), out.errors.last_mut())
    {
        *last = end as u32;
        error.range = TextRange::new(error.range.start(), (end as u32).into());
    } else {
        out.error(range(span.start, end), SyntaxErrorKind::UnknownCharacter);
        out.push(SyntaxKind::UNKNOWN, end);
    }
    if end != span.end {
        let mut again = Token::lexer(lexer.source());
        again.bump(end);
        *lexer = again;
    }
}

/// Reports carriage returns without a line feed, which TVM rejects outside comments and strings.
fn lone_carriage_returns(text: &str, out: &mut Tokens) {
    let bytes = text.as_bytes();
    for at in memchr::memchr_iter(b'\r', bytes) {
        let token = out.ends.partition_point(|&end| end as usize <= at);
        if bytes.get(at + 1) != Some(&b'\n')
            && out.kinds.get(token) == Some(&SyntaxKind::WHITESPACE)
        {
            out.error(range(at, at + 1), SyntaxErrorKind::LoneCarriageReturn);
        }
    }
}
