//! The grammar. It maps three notations to one tree: TVM's text format 0.0.5, the output of TVM
//! that TVM cannot parse, and the notation of the manual.
//!
//! ```text
//! match (%l) { Nil => 0, Cons(%h, _) => %h }          TVM
//! match (%l) { case Nil { 0 } case Cons(%h, _) { %h } }   manual
//! ```
//!
//! Both lines parse to the same nodes; deviations from TVM's format are recorded as errors that
//! only `--tvm` reports.
//!
//! Conventions: `foo` always produces a node or an error; `opt_foo` may produce nothing. A broken
//! statement costs one error and ends at its `;`, before the next line that begins a statement, or
//! at the closing brace, whichever comes first.

pub(crate) mod attrs;
pub(crate) mod choices;
pub(crate) mod exprs;
pub(crate) mod foreign;
pub(crate) mod items;
mod manual;
pub(crate) mod mistakes;
pub(crate) mod params;
pub(crate) mod patterns;
mod printed;
pub(crate) mod stmts;
pub(crate) mod types;

use crate::{Expectation, SyntaxErrorKind, SyntaxKind, SyntaxKind::*, TextRange, parser::Parser};

/// Parses a whole file.
pub(crate) fn source_file(p: &mut Parser<'_>) {
    p.node(SOURCE_FILE, |p| items::items(p, usize::MAX));
}

/// Parses one type, wrapped in a file node.
pub(crate) fn type_fragment(p: &mut Parser<'_>) {
    let file = p.start();
    types::ty(p);
    while !p.at_end() {
        p.bump_unexpected();
    }
    file.complete(p, SOURCE_FILE);
}

/// Parses definitions up to token number `stop`, wrapped in a file node. Returns true if the parser
/// stopped exactly there, and not in the middle of error recovery.
pub(crate) fn item_fragment(p: &mut Parser<'_>, stop: usize) -> bool {
    p.node(SOURCE_FILE, |p| items::items(p, stop));
    p.position() == stop && (!p.is_recovering() || p.at_end() || items::at_item_line(p))
}

/// Parses statements up to token number `stop`, wrapped in a block node. Returns true if the parser
/// stopped exactly there.
pub(crate) fn statement_fragment(p: &mut Parser<'_>, stop: usize, on_lines: bool) -> bool {
    p.node(CHUNK, |p| stmts::block_part(p, stop, on_lines));
    p.position() == stop && (!p.is_recovering() || p.at(T!["}"]))
}

/// Parses one parameter of a definition up to token number `stop`, wrapped in a list node. Returns
/// true if there is one and a separator follows.
pub(crate) fn param_fragment(p: &mut Parser<'_>, stop: usize) -> bool {
    let list = p.start();
    let found = params::at_param(p);
    if found {
        params::param(p);
    }
    list.complete(p, PARAM_LIST);
    found && p.position() == stop && (p.at(T![","]) || p.at(T![")"]))
}

/// Parses `open element, element, … close`, with an optional trailing comma.
///
/// `element` returns true if it consumed an element. A missing comma is reported and the list
/// continues; the list ends at its bracket or where a statement or an item begins.
fn list(
    p: &mut Parser<'_>,
    opening: SyntaxKind,
    close: SyntaxKind,
    mut element: impl FnMut(&mut Parser<'_>) -> bool,
) {
    let open = p.position();
    debug_assert!(p.at(opening));
    p.bump();
    while !p.at(close) && !p.at_end() {
        // An attribute after an unclosed list of values: `f(%x, axes=[1, 2, keepdims=True)`.
        if at_line_of_its_own(p) || close == T!["]"] && attrs::at_attr(p) {
            break;
        }
        let before = p.position();
        if !element(p) && p.position() == before {
            if ends_list(p.current(), close) {
                break;
            }
            p.bump_unexpected();
            continue;
        }
        if p.at(close) {
            break;
        }
        if !p.eat(T![","]) {
            if mistakes::semicolon_in_list(p) {
                continue;
            }
            if ends_list(p.current(), close) || at_line_of_its_own(p) {
                break;
            }
            p.expected(T![","]);
            if p.position() == before {
                p.bump_unexpected();
            }
        }
    }
    p.expect_close(close, open);
}

/// Consumes `count` tokens as text that has no meaning.
fn skip(p: &mut Parser<'_>, count: usize) {
    p.node(ERROR, |p| p.bump_tokens(count));
}

/// Consumes a token and those after it as text that has no meaning, up to one for which `is_end` returns true.
fn skip_until<'t>(p: &mut Parser<'t>, mut is_end: impl FnMut(&mut Parser<'t>) -> bool) {
    p.node(ERROR, |p| {
        p.bump();
        while !p.at_end() && !is_end(p) {
            p.bump();
        }
    });
}

/// Returns true at a line that begins a statement or an item, where an unfinished list ends.
fn at_line_of_its_own(p: &mut Parser<'_>) -> bool {
    p.on_new_line(0) && (stmts::at_statement_line(p) || items::at_item_line(p))
}

/// The commas between constructors or arms. TVM requires the first of them only.
#[derive(Default)]
struct Separators {
    seen: bool,
}

impl Separators {
    /// Consumes a comma or records that it is missing, unless `reported` is set because the
    /// manual's notation was recorded before. Returns true if the list may continue here.
    fn comma(&mut self, p: &mut Parser<'_>, reported: bool) -> bool {
        if p.eat(T![","]) {
            self.seen = true;
            return true;
        }
        if p.at(T!["}"]) {
            return true;
        }
        if !self.seen && !reported && p.on_new_line(0) && !p.is_recovering() && !p.at_end() {
            let end = p.last_range().end();
            p.compat(TextRange::new(end, end), SyntaxErrorKind::MissingComma);
        }
        false
    }
}

/// Returns true for tokens that no list ended by `close` contains, so that the bracket is missing.
fn ends_list(kind: SyntaxKind, close: SyntaxKind) -> bool {
    match kind {
        END_OF_FILE | SEMICOLON | R_BRACE => kind != close,
        R_PAREN | R_BRACK => kind != close,
        EQ | FAT_ARROW | THIN_ARROW | L_BRACE => true,
        _ => false,
    }
}

/// Parses the name at a binding: `%x`, `%input.1`. The lexer splits a trailing part of digits off,
/// because `%pair.1` is a projection elsewhere.
fn local_name(p: &mut Parser<'_>) {
    let first = p.position();
    let has_parts = |p: &mut Parser<'_>| {
        p.nth(1) == T!["."] && p.is_glued(1) && p.nth(2) == INT && p.is_glued(2)
    };
    match p.current() {
        LOCAL if !has_parts(p) => {
            let readable = is_readable(p.text(0));
            p.leaf(NAME);
            if !readable {
                p.compat(p.last_range(), SyntaxErrorKind::UnreadableName);
            }
            return;
        }
        // Lowering reports graph variables together with the other errors about names.
        GRAPH => {
            p.leaf(NAME);
            return;
        }
        _ => {}
    }
    let name = p.start();
    match p.current() {
        LOCAL => {
            p.bump();
            while p.at(T!["."]) && p.is_glued(0) && p.nth(1) == INT && p.is_glued(1) {
                p.bump_tokens(2);
            }
            let range = p.range_of(first).cover(p.last_range());
            p.compat(range, SyntaxErrorKind::UnreadableName);
        }
        // `let y = 2;`: only the sigil is missing, so parsing continues normally.
        IDENT if matches!(p.nth(1), T!["="] | T![":"]) => {
            p.expected(LOCAL);
            p.leaf(ERROR);
            p.recover();
        }
        _ if mistakes::words_before_name(p) => {
            name.abandon(p);
            if p.at(LOCAL) {
                p.leaf(NAME);
            }
            return;
        }
        _ => p.expected(LOCAL),
    }
    name.complete(p, NAME);
}

/// The bytes of names that TVM's lexer reads, as a table because every binding is checked.
const READABLE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = b == b'_' || b == b'/' || b.is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Returns true if TVM's lexer reads this name as one token.
fn is_readable(name: &str) -> bool {
    name.bytes().skip(1).all(|b| READABLE[usize::from(b)])
        && !name.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
        && SyntaxKind::from_keyword(&name[1..]).is_none_or(|k| matches!(k, TRUE_KW | FALSE_KW))
}
