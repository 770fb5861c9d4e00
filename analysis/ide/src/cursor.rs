//! The syntactic context of the cursor, for completion and signature help.
//!
//! During typing the text after the cursor is usually incomplete, and the syntax tree is not
//! reliable: `nn.conv2d(%x, %w, pad` has no call expression yet. The context is therefore derived
//! from the tokens before the cursor, scanned backwards to the start of the statement.

mod back;
mod level;

use back::Back;
pub(crate) use back::tokens_before;
use level::Level;
use semantics::{Db, Def, Module, SourceFile, modules};
use syntax::{Node, SyntaxKind, T, TextRange, TextSize, Token};

/// The context of the cursor.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    /// The word at the cursor; empty between words.
    pub(crate) word: TextRange,
    /// The part of the word before the cursor.
    pub(crate) prefix: String,
    /// The syntax that is expected.
    pub(crate) expected: Expected,
    /// The enclosing calls, the innermost first.
    pub(crate) calls: Vec<CallSite<'t>>,
    /// The name that the enclosing statement binds, which is not in scope in its value.
    pub(crate) bound: Option<TextRange>,
    /// True if the word is the first of a statement or of a bound value.
    pub(crate) begins_value: bool,
    /// The token after the word.
    pub(crate) next: Option<SyntaxKind>,
}

/// The syntax that is expected at the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    /// Nothing to complete: a new name, a comment or a number.
    Nothing,
    /// The start of an item.
    Item,
    /// The start of a statement, or a tail expression.
    Statement,
    /// An expression.
    Expr {
        /// True if an attribute is allowed as well: in `nn.conv2d(%x, %w, $0`.
        attribute: bool,
    },
    /// The value of an attribute.
    AttrValue {
        /// The name of the attribute.
        name: String,
        /// True inside a list.
        in_list: bool,
        /// True inside quotes.
        in_string: bool,
    },
    /// A pattern.
    Pattern,
    /// A type.
    Type,
    /// The shape of a tensor type, or a size in it.
    Shape,
    /// The data type of a tensor type.
    DataType,
    /// The field of the tuple that ends at this offset, before the dot.
    Field(TextSize),
}

/// The part of a call before the cursor.
#[derive(Debug)]
pub(crate) struct CallSite<'t> {
    /// The callee.
    pub(crate) callee: Callee<'t>,
    /// The index of the argument at the cursor, counting attributes.
    pub(crate) argument: usize,
    /// The names of the attributes before the cursor.
    pub(crate) written: Vec<String>,
    /// The attribute whose value contains the cursor.
    pub(crate) attribute: Option<String>,
    /// The arguments before the cursor; the token of each one that is a variable.
    pub(crate) variables: Vec<Option<Token<'t>>>,
}

/// The callee of a call.
#[derive(Debug)]
pub(crate) enum Callee<'t> {
    /// An operator or a constructor: `nn.conv2d`.
    Name(String),
    /// `@f`
    Global(Token<'t>),
    /// `%f`
    Variable(Token<'t>),
    /// An expression that ends at this offset.
    Expr(TextSize),
}

/// Returns the definition around `offset`. It extends to the start of the next one, because its end
/// may be missing.
pub(crate) fn def_around(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
) -> Option<(Module<'_>, Def<'_>)> {
    modules(db, file).iter().rev().find_map(|&module| {
        let defs = module.items(db);
        let at = defs.partition_point(|def| def.start(db) <= offset).checked_sub(1)?;
        Some((module, defs[at]))
    })
}

/// Returns the context of `offset` in the file with the given root.
pub(crate) fn cursor(root: Node<'_>, offset: TextSize) -> Cursor<'_> {
    let at = |expected: Expected| Cursor {
        word: TextRange::empty(offset),
        prefix: String::new(),
        expected,
        calls: Vec::new(),
        bound: None,
        begins_value: false,
        next: None,
    };
    let mut all = tokens_before(root, offset).peekable();
    let mut word = TextRange::empty(offset);
    let mut in_string = false;
    let mut dot = None;
    if let Some(&left) = all.peek() {
        let ends_here = left.range().end() == offset;
        match left.kind() {
            // A line comment includes the end of its line.
            SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT => return at(Expected::Nothing),
            SyntaxKind::METADATA | SyntaxKind::TIR_TEXT | SyntaxKind::BANNER => {
                return at(Expected::Nothing);
            }
            SyntaxKind::BLOCK_COMMENT if !ends_here || !left.text().ends_with("*/") => {
                return at(Expected::Nothing);
            }
            SyntaxKind::META_REF if !ends_here => return at(Expected::Nothing),
            SyntaxKind::STRING => {
                let text = left.text();
                let closed = text.len() > 1 && text.ends_with('"');
                if !ends_here || !closed {
                    in_string = true;
                    let end = left.range().end() - TextSize::new(u32::from(closed));
                    // An unclosed string extends to the end of its line, so that the word ends at
                    // the cursor instead.
                    let end = if closed { end } else { offset };
                    word = TextRange::new((left.start() + TextSize::new(1)).min(offset), end);
                    all.next();
                }
            }
            SyntaxKind::UNKNOWN if left.text().starts_with('"') => {
                in_string = true;
                word = TextRange::new((left.start() + TextSize::new(1)).min(offset), offset);
                all.next();
            }
            SyntaxKind::INT | SyntaxKind::FLOAT => {
                all.next();
                // `%t.1`: the index of a field is a word.
                if all.peek().is_some_and(|token| token.kind() == T!["."]) {
                    word = left.range();
                    dot = all.next();
                } else {
                    return at(Expected::Nothing);
                }
            }
            kind if is_word(kind) => {
                word = left.range();
                all.next();
                if kind == SyntaxKind::IDENT {
                    // The lexer splits `nn.conv2d`.
                    while all.peek().is_some_and(|token| token.kind() == T!["."]) {
                        let Some(point) = all.next() else { break };
                        match all.peek() {
                            Some(part) if part.kind() == SyntaxKind::IDENT => {
                                word = TextRange::new(part.start(), word.end());
                                all.next();
                            }
                            _ => {
                                dot = Some(point);
                                break;
                            }
                        }
                    }
                }
            }
            T!["."] => {
                all.next();
                match all.peek() {
                    Some(part) if part.kind() == SyntaxKind::IDENT => {
                        let mut start = part.start();
                        all.next();
                        while all.peek().is_some_and(|token| token.kind() == T!["."]) {
                            all.next();
                            let Some(part) = all.next_if(|t| t.kind() == SyntaxKind::IDENT) else {
                                break;
                            };
                            start = part.start();
                        }
                        word = TextRange::new(start, offset);
                    }
                    _ => dot = Some(left),
                }
            }
            _ => {}
        }
    }
    let prefix = text_between(root, word.start(), offset);
    let next = next_kind(root, word.end().max(offset));
    if let Some(dot) = dot {
        return Cursor { word, prefix, next, ..at(Expected::Field(dot.start())) };
    }
    let mut back = Back { tokens: all, seen: Vec::new() };
    let (mut expected, calls) = around(&mut back, in_string);
    if in_string && !matches!(expected, Expected::AttrValue { .. }) {
        expected = Expected::Nothing;
    }
    let bound = bound_name(&mut back);
    let begins_value = matches!(back.kind(0), T!["="] | T![";"] | T!["{"] | T!["=>"]);
    Cursor { word, prefix, expected, calls, bound, begins_value, next }
}

fn is_word(kind: SyntaxKind) -> bool {
    kind.is_keyword()
        || matches!(
            kind,
            SyntaxKind::IDENT
                | SyntaxKind::LOCAL
                | SyntaxKind::GRAPH
                | SyntaxKind::GLOBAL
                | T!["%"]
                | T!["@"]
        )
}

/// Returns the text from `start` to `end`.
fn text_between(root: Node<'_>, start: TextSize, end: TextSize) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for token in tokens_before(root, end) {
        if token.range().end() <= start {
            break;
        }
        let from = usize::from(start.checked_sub(token.start()).unwrap_or_default());
        let to = usize::from(end - token.start()).min(token.text().len());
        parts.push(token.text().get(from..to).unwrap_or_default());
    }
    parts.reverse();
    parts.concat()
}

/// Returns the kind of the first token after `offset` that is not trivia.
fn next_kind(root: Node<'_>, mut offset: TextSize) -> Option<SyntaxKind> {
    for _ in 0..4 {
        let token = root.token_at(offset)?;
        if !token.kind().is_trivia() {
            return Some(token.kind());
        }
        offset = token.range().end();
    }
    None
}

/// Returns the expected syntax and the enclosing calls, from the brackets around the cursor.
fn around<'t>(
    back: &mut Back<'t, impl Iterator<Item = Token<'t>>>,
    in_string: bool,
) -> (Expected, Vec<CallSite<'t>>) {
    let mut calls: Vec<CallSite<'t>> = Vec::new();
    // The result of the innermost construct that determines it.
    let mut expected: Option<Expected> = None;
    let decide = |expected: &mut Option<Expected>, what: Expected| {
        if expected.is_none() {
            *expected = Some(what);
        }
    };
    match back.kind(0) {
        T![":"] | T!["->"] => decide(&mut expected, Expected::Type),
        T!["let"] | T!["def"] | T!["type"] | T!["extern"] | T!["free_var"] => {
            return (Expected::Nothing, calls);
        }
        T!["="] if is_attr(back, 0) => {
            let name = back.get(1).map_or("", |token| token.text()).to_owned();
            decide(&mut expected, Expected::AttrValue { name, in_list: false, in_string });
        }
        T!["="] => decide(&mut expected, Expected::Expr { attribute: false }),
        // `#[version = "0.0.5"]`
        T!["]"] if ends_hash_attribute(back) => return (Expected::Item, calls),
        T![";"] | SyntaxKind::END_OF_FILE => {
            let what = if back.kind(0) == T![";"] { Expected::Statement } else { Expected::Item };
            return (what, calls);
        }
        _ => {}
    }
    // True until the scan leaves the innermost bracket.
    let mut direct = true;
    // True after the scan has passed a closed block.
    let mut after_block = false;
    let mut level = Level::default();
    let mut at = 0;
    loop {
        let Some(token) = back.get(at) else {
            decide(
                &mut expected,
                if direct && at > 0 { Expected::Expr { attribute: false } } else { Expected::Item },
            );
            break;
        };
        match token.kind() {
            T![")"] | T!["]"] | T!["}"] => {
                let next = back.skip_closed(at);
                after_block |= token.kind() == T!["}"];
                level.bracket();
                at = next;
                continue;
            }
            T![","] => level.comma(),
            T!["="]
                if is_attr_name(back.kind(at + 1)) && back.kind(at + 1) != SyntaxKind::GRAPH =>
            {
                let name = back.get(at + 1).map_or("", |token| token.text());
                level.attr(name);
                at += 2;
                continue;
            }
            T!["=>"] => {
                // After a comma it is the arrow of a preceding arm.
                if level.commas == 0 {
                    level.arrow = true;
                    decide(&mut expected, Expected::Expr { attribute: false });
                }
            }
            T![":"] if level.commas == 0 => {
                // `%x: Tensor[…] `: no name may follow a type.
                if expected.is_none() && direct {
                    expected = Some(Expected::Type);
                }
            }
            T!["("] => {
                let open = token.start();
                match back.kind(at + 1) {
                    SyntaxKind::IDENT => {
                        let (name, front) = back.dotted(at + 1);
                        match outer_brace(back, front) {
                            Outer::Constructors => decide(&mut expected, Expected::Type),
                            Outer::Patterns if !level.arrow => {
                                decide(&mut expected, Expected::Pattern)
                            }
                            _ => {
                                let attribute = direct && level.arrow_free();
                                decide(&mut expected, Expected::Expr { attribute });
                                calls.push(level.call(Callee::Name(name)));
                            }
                        }
                    }
                    SyntaxKind::GLOBAL => {
                        if back.kind(at + 2) == T!["def"] {
                            decide(&mut expected, Expected::Nothing);
                            break;
                        }
                        decide(&mut expected, Expected::Expr { attribute: false });
                        if let Some(name) = back.get(at + 1) {
                            calls.push(level.call(Callee::Global(name)));
                        }
                    }
                    SyntaxKind::LOCAL | SyntaxKind::GRAPH => {
                        decide(&mut expected, Expected::Expr { attribute: false });
                        if let Some(name) = back.get(at + 1) {
                            calls.push(level.call(Callee::Variable(name)));
                        }
                    }
                    T!["]"] => {
                        let front = back.skip_closed(at + 1);
                        if back.kind(front) == T!["fn"] || back.kind(front + 1) == T!["def"] {
                            decide(&mut expected, Expected::Nothing);
                            break;
                        }
                        decide(&mut expected, Expected::Expr { attribute: false });
                    }
                    T![")"] | T!["}"] => {
                        decide(&mut expected, Expected::Expr { attribute: false });
                        let end = back.get(at + 1).map_or(open, |token| token.range().end());
                        calls.push(level.call(Callee::Expr(end)));
                    }
                    T!["fn"] => {
                        // The parameters of a function, or of a function type.
                        let is_type = matches!(back.kind(at + 2), T![":"] | T!["->"]);
                        decide(
                            &mut expected,
                            if is_type { Expected::Type } else { Expected::Nothing },
                        );
                        if is_type {
                            break;
                        }
                    }
                    T!["if"] | T!["match"] | T!["?"] => {
                        decide(&mut expected, Expected::Expr { attribute: false });
                    }
                    T!["["] if is_tensor(back.get(at + 2)) => {
                        decide(&mut expected, Expected::Shape)
                    }
                    T![":"] | T!["->"] => decide(&mut expected, Expected::Type),
                    T!["ref"] | T!["ref_read"] | T!["ref_write"] => {
                        decide(&mut expected, Expected::Expr { attribute: false });
                    }
                    _ => {}
                }
                direct = false;
                level = Level::default();
            }
            T!["["] => {
                match back.kind(at + 1) {
                    SyntaxKind::IDENT if is_tensor(back.get(at + 1)) => {
                        let what =
                            if level.commas > 0 { Expected::DataType } else { Expected::Shape };
                        decide(&mut expected, what);
                    }
                    T!["="] if is_attr_name(back.kind(at + 2)) => {
                        let name = back.get(at + 2).map_or("", |token| token.text()).to_owned();
                        decide(
                            &mut expected,
                            Expected::AttrValue { name, in_list: true, in_string },
                        );
                    }
                    SyntaxKind::IDENT => decide(&mut expected, Expected::Type),
                    SyntaxKind::GLOBAL | T!["fn"] | SyntaxKind::HASH => {
                        decide(&mut expected, Expected::Nothing);
                        break;
                    }
                    _ => {}
                }
                direct = false;
                level = Level::default();
            }
            T!["{"] => {
                let what = match outer_of(back, at) {
                    Outer::Constructors => Expected::Nothing,
                    Outer::Patterns if !level.arrow => Expected::Pattern,
                    Outer::Patterns => Expected::Expr { attribute: false },
                    _ if at == 0 => Expected::Statement,
                    _ => Expected::Expr { attribute: false },
                };
                decide(&mut expected, what);
                break;
            }
            T![";"] => {
                let what =
                    if at == 0 { Expected::Statement } else { Expected::Expr { attribute: false } };
                decide(&mut expected, what);
                break;
            }
            T!["let"] | T!["free_var"] => {
                decide(&mut expected, Expected::Expr { attribute: false });
                break;
            }
            // `let %x: T = …`, `%0 = …`
            T!["="] => {
                decide(&mut expected, Expected::Expr { attribute: false });
                break;
            }
            T!["def"] | T!["type"] | T!["extern"] => {
                let ended = after_block && direct;
                decide(&mut expected, if ended { Expected::Item } else { Expected::Nothing });
                break;
            }
            _ => level.token(token),
        }
        at += 1;
    }
    (expected.unwrap_or(Expected::Expr { attribute: false }), calls)
}

/// Returns true if the `=` at `at` follows the name of an attribute: `(axis=`, `, axis=`.
fn is_attr<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>, at: usize) -> bool {
    is_attr_name(back.kind(at + 1)) && matches!(back.kind(at + 2), T!["("] | T![","] | T!["{"])
}

/// Returns true if the brackets that end before the cursor start with `#[`.
fn ends_hash_attribute<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>) -> bool {
    let front = back.skip_closed(0);
    back.kind(front) == SyntaxKind::HASH
}

fn is_attr_name(kind: SyntaxKind) -> bool {
    kind == SyntaxKind::IDENT || kind.is_keyword()
}

fn is_tensor(token: Option<Token<'_>>) -> bool {
    token.is_some_and(|token| token.text() == "Tensor")
}

/// The construct that a brace belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Outer {
    /// `type T { … }`
    Constructors,
    /// `match (%x) { … }`
    Patterns,
    Other,
}

/// Returns the construct of the brace at `at`.
fn outer_of<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>, at: usize) -> Outer {
    let front = match back.kind(at + 1) {
        T!["]"] | T![")"] => back.skip_closed(at + 1),
        _ => at + 1,
    };
    match (back.kind(front), back.kind(front + 1)) {
        (T!["match"], _) | (T!["?"], T!["match"]) => Outer::Patterns,
        (SyntaxKind::IDENT, T!["type"]) => Outer::Constructors,
        // `match %x { … }`
        (SyntaxKind::LOCAL | SyntaxKind::GRAPH, T!["match"] | T!["?"]) => Outer::Patterns,
        _ => Outer::Other,
    }
}

/// Returns the construct of the brace around position `at`, if a name there starts an arm or a
/// constructor, or is part of a pattern.
fn outer_brace<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>, mut at: usize) -> Outer {
    // True after a comma directly inside the bracket that the scan is in.
    let mut comma = false;
    loop {
        match back.kind(at) {
            T!["{"] => return outer_of(back, at),
            T!["("] => {
                comma = false;
                at += 1;
            }
            T![","] => {
                comma = true;
                at += 1;
            }
            SyntaxKind::IDENT | SyntaxKind::LOCAL => at += 1,
            T![")"] | T!["}"] | T!["]"] => at = back.skip_closed(at),
            // The preceding arm: `Nil => 1, Cons(`. Without a comma the value of this arm:
            // `Nil => Cons(`.
            T!["=>"] if comma => at += 1,
            _ => return Outer::Other,
        }
        if at > 4_000 {
            return Outer::Other;
        }
    }
}

/// Returns the name that the enclosing statement binds.
fn bound_name<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>) -> Option<TextRange> {
    let mut at = 0;
    loop {
        match back.kind(at) {
            T![")"] | T!["]"] | T!["}"] => {
                at = back.skip_closed(at);
                continue;
            }
            T![";"] | T!["{"] | T!["def"] | SyntaxKind::END_OF_FILE => return None,
            T!["let"] => {
                let name = at.checked_sub(1).and_then(|name| back.get(name))?;
                return Some(name.range());
            }
            T!["="] if matches!(back.kind(at + 1), SyntaxKind::GRAPH) => {
                return back.get(at + 1).map(|token| token.range());
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests;
