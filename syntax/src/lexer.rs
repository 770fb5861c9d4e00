//! Text to tokens.
//!
//! The token rules are TVM's (identifiers hold `/`, `%` and `@` glue to the next name, comments
//! nest, strings have no escapes) widened by what TVM prints but cannot read (`%input.1`,
//! `%aten::linear_3.bias`) and by the manual's `#` comments. Every byte is in exactly one token,
//! and no text makes the lexer fail: what it cannot read is an [`UNKNOWN`] token with an error.
//!
//! [`UNKNOWN`]: SyntaxKind::UNKNOWN

use logos::{Lexer, Logos};

use crate::{SyntaxError, SyntaxErrorKind, SyntaxKind, TextRange, error::range};

/// The automaton's own tokens. [`SyntaxKind`] also has the node kinds, which no text matches, and
/// some tokens here need a second look before they have a kind.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(subpattern letter = r"[A-Za-z_\u{80}-\u{10FFFF}]")]
#[logos(subpattern word = r"[A-Za-z_0-9\u{80}-\u{10FFFF}]")]
#[logos(subpattern slashed = r"[A-Za-z_0-9/\u{80}-\u{10FFFF}]")]
// One further part of a printed name. A part of digits alone counts only when a proper part
// follows it: `%layer.0.weight` is a name, `%pair.0` projects a tuple.
#[logos(subpattern part = r"((\.|::)[0-9]+)*(\.|::)[0-9]*(?&letter)(?&slashed)*")]
enum Token {
    #[regex(r"[ \t\r\n\x0B\x0C]+")]
    Whitespace,
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*")]
    BlockCommentStart,
    #[token("#")]
    Hash,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBrack,
    #[token("]")]
    RBrack,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("=")]
    Eq,
    #[token("==")]
    Eq2,
    #[token("!=")]
    Neq,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("&&")]
    Amp2,
    #[token("||")]
    Pipe2,
    #[token("->")]
    ThinArrow,
    #[token("=>")]
    FatArrow,
    #[token("?")]
    Question,
    #[token("!")]
    Bang,
    #[token("%")]
    Percent,
    #[token("@")]
    At,

    #[token("let")]
    Let,
    #[token("fn")]
    Fn,
    #[token("def")]
    Def,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("type")]
    Type,
    #[token("match")]
    Match,
    #[token("extern")]
    Extern,
    #[token("free_var")]
    FreeVar,
    #[token("ref")]
    Ref,
    #[token("ref_read")]
    RefRead,
    #[token("ref_write")]
    RefWrite,
    #[token("True")]
    True,
    #[token("False")]
    False,

    #[regex(r"(?&letter)(?&word)*(\.(?&letter)(?&word)*)*")]
    Ident,
    // A slash may be part of a name, or the start of a comment that stands against it.
    #[regex(r"(?&letter)(?&slashed)*(\.(?&letter)(?&slashed)*)*", priority = 1)]
    SlashedIdent,
    #[regex(r"%(?&letter)(?&word)*")]
    Local,
    #[regex(r"%(?&letter)(?&slashed)*(?&part)*(:[0-9]+)?(-malformed-ir)?", priority = 1)]
    LongLocal,
    #[regex(r"%[0-9]+")]
    Graph,
    // No name of anything, and one word to whoever wrote it.
    #[regex(r"%[0-9]+(?&letter)(?&word)*")]
    DigitLocal,
    #[regex(r"@(?&letter)(?&word)*")]
    Global,
    #[regex(r"@(?&letter)(?&slashed)*(?&part)*", priority = 1)]
    LongGlobal,

    #[regex(r"[0-9]+")]
    Int,
    #[regex(r"[0-9]+i[0-9]+")]
    SuffixedInt,
    #[regex(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?(f[0-9]*)?", priority = 1)]
    #[regex(r"(inff|nanf)[0-9]*", priority = 20)]
    Float,
    #[regex(r#""[^"\n]*""#)]
    Str,
    #[token("\"")]
    OpenString,
    #[regex(r"'[^'\n]*'")]
    QuotedName,
    #[regex(r"meta\[[^\[\]\n]*\]\[[^\[\]\n]*\]")]
    MetaRef,
    // The commonest type in a dump, in the spelling that TVM prints: 14 tokens in one step. The
    // tree spells it out, so this is invisible outside the lexer and the tree builder.
    #[regex(r"Tensor\[\(([0-9]+|\?)(, ([0-9]+|\?))*\), (float|int|uint|bool|bfloat)[0-9a-z]*\]")]
    TensorText,
}

/// The tokens of a text: `kinds[i]` stands on `ends[i - 1] .. ends[i]`.
#[derive(Default, Debug)]
pub(crate) struct Tokens {
    pub(crate) kinds: Vec<SyntaxKind>,
    pub(crate) ends: Vec<u32>,
    pub(crate) errors: Vec<SyntaxError>,
    /// Where the first token begins whose extent depends on all that follows it: an unclosed comment
    /// or string, a metadata section.
    pub(crate) open_ended: Option<u32>,
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

/// How tensor types come out of the lexer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorTypes {
    /// As one [`SyntaxKind::TENSOR_TEXT`] where the spelling is TVM's.
    Whole,
    /// As their own tokens.
    Spelled,
}

/// Splits `text` into tokens. Texts of 4 GiB and more are refused before they come here.
pub(crate) fn lex(text: &str, tensor_types: TensorTypes) -> Tokens {
    let mut out = Tokens::default();
    out.kinds.reserve(text.len() / 6);
    out.ends.reserve(text.len() / 6);
    let mut at = 0;
    if text.starts_with('\u{FEFF}') {
        // A byte order mark, which some editors write, is white space at the start of a file.
        at = '\u{FEFF}'.len_utf8();
        out.push(SyntaxKind::WHITESPACE, at);
    }
    let mut lexer = Token::lexer(text);
    lexer.bump(at);
    while let Some(token) = lexer.next() {
        match token {
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
        Token::Whitespace => WHITESPACE,
        Token::LineComment => LINE_COMMENT,
        Token::BlockCommentStart => return block_comment(lexer, out),
        Token::Hash => return hash(lexer, out),
        Token::LParen => L_PAREN,
        Token::RParen => R_PAREN,
        Token::LBrack => L_BRACK,
        Token::RBrack => R_BRACK,
        Token::LBrace => L_BRACE,
        Token::RBrace => R_BRACE,
        Token::Comma => COMMA,
        Token::Semicolon => SEMICOLON,
        Token::Colon => COLON,
        Token::Dot => DOT,
        Token::Eq => EQ,
        Token::Eq2 => EQ2,
        Token::Neq => NEQ,
        Token::Lt => LT,
        Token::Le => LE,
        Token::Gt => GT,
        Token::Ge => GE,
        Token::Plus => PLUS,
        Token::Minus => MINUS,
        Token::Star => STAR,
        Token::Slash => SLASH,
        Token::Amp2 => AMP2,
        Token::Pipe2 => PIPE2,
        Token::ThinArrow => THIN_ARROW,
        Token::FatArrow => FAT_ARROW,
        Token::Question => QUESTION,
        Token::Bang => BANG,
        Token::Percent => PERCENT,
        Token::At => AT,
        Token::Let => LET_KW,
        Token::Fn => FN_KW,
        Token::Def => DEF_KW,
        Token::If => IF_KW,
        Token::Else => ELSE_KW,
        Token::Type => TYPE_KW,
        Token::Match => MATCH_KW,
        Token::Extern => EXTERN_KW,
        Token::FreeVar => FREE_VAR_KW,
        Token::Ref => REF_KW,
        Token::RefRead => REF_READ_KW,
        Token::RefWrite => REF_WRITE_KW,
        Token::True => TRUE_KW,
        Token::False => FALSE_KW,
        Token::Ident => IDENT,
        Token::SlashedIdent => return cut_at_comment(lexer, IDENT, out),
        Token::Local | Token::DigitLocal => LOCAL,
        Token::LongLocal => return cut_at_comment(lexer, LOCAL, out),
        Token::Graph => GRAPH,
        Token::Global => GLOBAL,
        Token::LongGlobal => return cut_at_comment(lexer, GLOBAL, out),
        Token::Int | Token::SuffixedInt => INT,
        Token::Float => return number(lexer, out),
        Token::Str => STRING,
        Token::OpenString => return open_string(lexer, out),
        Token::QuotedName => QUOTED_NAME,
        Token::MetaRef => META_REF,
        Token::TensorText if tensor_types == TensorTypes::Whole => TENSOR_TEXT,
        Token::TensorText => {
            // Give back all but the word `Tensor`.
            return restart(lexer, span.start + "Tensor".len(), IDENT, out);
        }
    };
    out.push(kind, span.end);
}

/// Ends the current token at `end`, before where the automaton stopped, and goes on from there.
fn restart<'t>(lexer: &mut Lexer<'t, Token>, end: usize, kind: SyntaxKind, out: &mut Tokens) {
    let mut again = Token::lexer(lexer.source());
    again.bump(end);
    *lexer = again;
    out.push(kind, end);
}

/// A name runs over `/`, but not into a comment: in `Nil//empty` the comment starts at `//`.
fn cut_at_comment(lexer: &mut Lexer<'_, Token>, kind: SyntaxKind, out: &mut Tokens) {
    let (text, span) = (lexer.slice().as_bytes(), lexer.span());
    let mut cut = text.windows(2).position(|pair| pair == b"//");
    if cut.is_none()
        && text.last() == Some(&b'/')
        && lexer.remainder().as_bytes().first() == Some(&b'*')
    {
        cut = Some(text.len() - 1);
    }
    match cut {
        Some(cut) => {
            // `def/* … */`: what is left may be a word of the language.
            let word = SyntaxKind::from_keyword(&lexer.slice()[..cut]);
            let kind = word.filter(|_| kind == SyntaxKind::IDENT).unwrap_or(kind);
            restart(lexer, span.start + cut, kind, out);
        }
        None => out.push(kind, span.end),
    }
}

/// `1.5f16`, `1e-5`, `3.`; and `.0.1` after a tuple, which are two projections.
fn number(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let span = lexer.span();
    let projects = out.kinds.last() == Some(&SyntaxKind::DOT);
    let digits = lexer.slice().bytes().take_while(u8::is_ascii_digit).count();
    if projects && digits > 0 {
        return restart(lexer, span.start + digits, SyntaxKind::INT, out);
    }
    out.push(SyntaxKind::FLOAT, span.end);
}

/// `/* … */`, nested.
fn block_comment(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let start = lexer.span().start;
    let rest = lexer.remainder().as_bytes();
    let (mut depth, mut at) = (1u32, 0);
    // Every change of depth has a slash in it.
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

/// `#[metadata]`, `#[version = …]`, or the manual's comments.
fn hash(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let start = lexer.span().start;
    let rest = lexer.remainder();
    let Some(inside) = rest.strip_prefix('[') else {
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        lexer.bump(end);
        out.error(range(start, start + 1), SyntaxErrorKind::HashComment);
        return out.push(SyntaxKind::HASH_COMMENT, lexer.span().end);
    };
    if inside.trim_start().strip_prefix("metadata").is_some_and(|r| r.trim_start().starts_with(']'))
    {
        out.open_ended.get_or_insert(start as u32);
        lexer.bump(metadata_end(rest));
        return out.push(SyntaxKind::METADATA, lexer.span().end);
    }
    out.push(SyntaxKind::HASH, lexer.span().end);
}

/// The section runs to the end of the text, or to the next module of a log. JSON has no line that
/// begins with `#[` or `[1`, so nothing in the section ends it early.
fn metadata_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let starts = |at: usize| bytes[at..].starts_with(b"\n#[version");
    memchr::memchr_iter(b'\n', bytes)
        .find(|&at| {
            starts(at) || bytes[at + 1..].starts_with(b"\n[") && is_log_line(&rest[at + 2..])
        })
        .unwrap_or(bytes.len())
}

/// `[12:30:00] /src/…: PrintIR():` and what else stands between the modules of a log.
pub(crate) fn is_log_line(line: &str) -> bool {
    let b = line.as_bytes();
    b.len() > 9 && b[0] == b'[' && b[3] == b':' && b[6] == b':' && b[9] == b']'
}

/// A `"` without its partner on the line. TVM lets strings run over line breaks; a person who is
/// typing has just not closed one. It is taken for a long string where the closing quote is
/// followed by what may follow an attribute, and for an open one otherwise.
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
    // Leave a carriage return to the white space.
    let line = rest[..line].trim_end_matches('\r').len();
    lexer.bump(line);
    out.error(range(span.start, span.end + line), SyntaxErrorKind::UnclosedString);
    out.push(SyntaxKind::STRING, lexer.span().end);
}

/// A run of characters that begin no token, as one token with one error.
fn unknown(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let span = lexer.span();
    let first = lexer.slice().chars().next().unwrap_or_default();
    // The automaton may stop inside a longer attempt (`'abc`); only its first character is bad.
    let end = span.start + first.len_utf8().max(1);
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

/// A carriage return that no line feed follows: TVM stops there, unless it is in a comment or a
/// string.
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
