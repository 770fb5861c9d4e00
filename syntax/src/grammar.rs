//! The grammar: three notations, one tree.
//!
//! TVM's text format 0.0.5, what TVM prints but cannot read, and the notation of the manual. Where
//! they agree the tree does not tell them apart; where a text leaves TVM's format, the parser notes
//! it as a finding that only `--tvm` takes for an error.
//!
//! Conventions: `foo` always makes a node or an error; `opt_foo` may make nothing. A statement that
//! is broken costs one error and ends at its `;`, at the next line that begins a statement, or at
//! the closing brace, whichever comes first.

pub(crate) mod attrs;
pub(crate) mod exprs;
pub(crate) mod items;
pub(crate) mod params;
pub(crate) mod patterns;
pub(crate) mod stmts;
pub(crate) mod types;

use crate::{Expectation, SyntaxErrorKind, SyntaxKind, SyntaxKind::*, TextRange, parser::Parser};

/// A whole file.
pub(crate) fn source_file(p: &mut Parser<'_>) {
    let file = p.start();
    items::items(p, usize::MAX);
    file.complete(p, SOURCE_FILE);
}

/// One type, wrapped in a file node.
pub(crate) fn type_fragment(p: &mut Parser<'_>) {
    let file = p.start();
    types::ty(p);
    while !p.at_end() {
        p.bump_unexpected();
    }
    file.complete(p, SOURCE_FILE);
}

/// Definitions up to token number `stop`, wrapped in a file node. Says whether the parser arrived
/// exactly there, at a place where it knows where it is.
pub(crate) fn item_fragment(p: &mut Parser<'_>, stop: usize) -> bool {
    let file = p.start();
    items::items(p, stop);
    file.complete(p, SOURCE_FILE);
    p.position() == stop && (!p.is_lost() || p.at_end() || items::at_item_line(p))
}

/// Statements up to token number `stop`, wrapped in a block node. Says whether the parser arrived
/// exactly there.
pub(crate) fn statement_fragment(p: &mut Parser<'_>, stop: usize, on_lines: bool) -> bool {
    let block = p.start();
    stmts::block_part(p, stop, on_lines);
    block.complete(p, BLOCK);
    p.position() == stop && (!p.is_lost() || p.at(T!["}"]))
}

/// One parameter of a definition up to token number `stop`, wrapped in a list node. Says whether
/// there is one, and a separator behind it.
pub(crate) fn param_fragment(p: &mut Parser<'_>, stop: usize) -> bool {
    let list = p.start();
    let found = params::at_param(p);
    if found {
        params::param(p);
    }
    list.complete(p, PARAM_LIST);
    found && p.position() == stop && (p.at(T![","]) || p.at(T![")"]))
}

/// `open element, element, … close`, with an optional trailing comma.
///
/// `element` says whether it found anything. A missing comma is reported once and the list goes
/// on; the list ends at its bracket, or where `stop` says that something else begins.
fn list(
    p: &mut Parser<'_>,
    open: SyntaxKind,
    close: SyntaxKind,
    mut element: impl FnMut(&mut Parser<'_>) -> bool,
) {
    let open_range = p.range();
    debug_assert!(p.at(open));
    p.bump();
    while !p.at(close) && !p.at_end() {
        if stmts::at_statement_line(p) || items::at_item_line(p) {
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
            if ends_list(p.current(), close)
                || stmts::at_statement_line(p)
                || items::at_item_line(p)
            {
                break;
            }
            let found = p.current();
            p.error(SyntaxErrorKind::Expected { expected: T![","].into(), found, open: None });
            if p.position() == before {
                p.bump_unexpected();
            }
        }
    }
    p.expect_close(close, open_range);
}

/// The commas between constructors or arms: TVM needs the first of them and can do without the
/// others.
#[derive(Default)]
struct Separators {
    seen: bool,
}

impl Separators {
    /// Takes a comma, or notes that there is none. Says whether the list may go on here; `noted`
    /// where the absence of the comma is part of something noted already.
    fn comma(&mut self, p: &mut Parser<'_>, noted: bool) -> bool {
        if p.eat(T![","]) {
            self.seen = true;
            return true;
        }
        if p.at(T!["}"]) {
            return true;
        }
        if !self.seen && !noted && p.on_new_line(0) && !p.is_lost() && !p.at_end() {
            let end = p.last_range().end();
            p.compat(TextRange::new(end, end), SyntaxErrorKind::MissingComma);
        }
        false
    }
}

/// A token that cannot be inside the list that `close` would end, so the bracket is missing.
fn ends_list(kind: SyntaxKind, close: SyntaxKind) -> bool {
    match kind {
        END_OF_FILE | SEMICOLON | R_BRACE => kind != close,
        R_PAREN | R_BRACK => kind != close,
        EQ | FAT_ARROW | THIN_ARROW | L_BRACE => true,
        _ => false,
    }
}

/// `%x`, `%input.1`: a name where one is bound.
///
/// A printed name may end in a part of digits, which the lexer leaves as a projection.
fn local_name(p: &mut Parser<'_>) {
    let name = p.start();
    let range = p.range();
    match p.current() {
        LOCAL => {
            let mut readable = is_readable(p.text(0));
            p.bump();
            while p.at(T!["."]) && p.is_glued(0) && p.nth(1) == INT && p.is_glued(1) {
                p.bump();
                p.bump();
                readable = false;
            }
            if !readable {
                p.compat(range.cover(p.last_range()), SyntaxErrorKind::UnreadableName);
            }
        }
        // Lowering says that it is none, beside what else is wrong with names.
        GRAPH => p.bump(),
        // `let y = 2;`: the sigil is forgotten, and the rest is as it should be.
        IDENT if matches!(p.nth(1), T!["="] | T![":"]) => {
            p.expected(LOCAL);
            let error = p.start();
            p.bump();
            error.complete(p, ERROR);
            p.recover();
        }
        _ => p.expected(LOCAL),
    }
    name.complete(p, NAME);
}

/// Whether TVM's tokenizer takes this name in one piece.
fn is_readable(name: &str) -> bool {
    name.bytes().skip(1).all(|b| b == b'_' || b == b'/' || b.is_ascii_alphanumeric())
        && !name.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
        && SyntaxKind::from_keyword(&name[1..]).is_none_or(|k| matches!(k, TRUE_KW | FALSE_KW))
}
