//! Names that are more than letters and digits, and strings with escapes.

use logos::Lexer;

use super::{Token, Tokens, restart};
use crate::{SyntaxErrorKind, SyntaxKind, error::range};

/// The most bytes that are searched for the end of such a token: a line may begin a hundred thousand of them.
const MAX_LOOKAHEAD: usize = 2_000;

/// Pushes a name, which may contain `/` but no start of a comment: `Nil//empty` is `Nil` and a
/// comment.
pub(super) fn cut_at_comment(lexer: &mut Lexer<'_, Token>, kind: SyntaxKind, out: &mut Tokens) {
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
            // `def/* … */`: the rest may be a keyword.
            let word = SyntaxKind::from_keyword(&lexer.slice()[..cut]);
            let kind = word.filter(|_| kind == SyntaxKind::IDENT).unwrap_or(kind);
            restart(lexer, span.start + cut, kind, out);
        }
        None => out.push(kind, span.end),
    }
}

/// Pushes `@applyFuncType([], [TensorType([5, 5], float32)], TensorType([5, 5], float32), [])`; without the end of
/// the type in its statement, the name alone.
pub(super) fn typed_name(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    let (span, kind) = (
        lexer.span(),
        match lexer.slice().as_bytes()[0] {
            b'@' => SyntaxKind::GLOBAL,
            _ => SyntaxKind::IDENT,
        },
    );
    let mut depth = 2u32;
    for (at, byte) in lexer.remainder().bytes().take(MAX_LOOKAHEAD).enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'\n' | b';' | b'%' | b'{' | b'}' | b'=' => break,
            _ => {}
        }
        if depth == 0 {
            lexer.bump(at + 1);
            let end = lexer.span().end;
            out.error(range(span.start, end), SyntaxErrorKind::UnreadableName);
            return out.push(kind, end);
        }
    }
    restart(lexer, span.end - "([".len(), kind, out);
}

/// Pushes a string that ends in `\"`.
#[cold]
#[inline(never)]
pub(super) fn escaped(lexer: &mut Lexer<'_, Token>, out: &mut Tokens) {
    if let Some(len) = escaped_end(lexer.slice(), lexer.remainder()) {
        lexer.bump(len);
        out.error(range(lexer.span().start, lexer.span().end), SyntaxErrorKind::PrintedAttribute);
    }
    out.push(SyntaxKind::STRING, lexer.span().end);
}

/// Returns the length of the rest of a string that seems to end in `\"`, but goes on. TVM 0.9 and later print a
/// quotation mark in a string so, and read it as the end, as all releases do. It is an escape if a value cannot end
/// there, but ends at the next quotation mark: `target="llvm -mcpu=\"core\""`, and not `path="C:\", name="x"`.
#[cold]
#[inline(never)]
pub(crate) fn escaped_end(string: &str, rest: &str) -> Option<usize> {
    let may_end = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '\t']);
        rest.is_empty() || rest.starts_with([',', ')', ']', '}', ';', '/', '\r', '\n'])
    };
    let backslashes = string.bytes().rev().skip(1).take_while(|byte| *byte == b'\\').count();
    let is_escape = backslashes % 2 == 1 && !may_end(rest);
    let len = is_escape.then(|| quoted_end(rest)).flatten()?;
    may_end(&rest[len..]).then_some(len)
}

/// Returns the length of the rest of a string with escapes, up to its quotation mark on the same line.
fn quoted_end(rest: &str) -> Option<usize> {
    let mut bytes = rest.bytes().take(MAX_LOOKAHEAD).enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next().filter(|(_, byte)| *byte != b'\n')?,
            b'"' => return Some(at + 1),
            b'\n' => return None,
            _ => {}
        }
    }
    None
}
