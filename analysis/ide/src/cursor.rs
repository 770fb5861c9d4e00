//! What is being written at a place, read off the tokens in front of it.
//!
//! While somebody types, the text behind the cursor is broken more often than not, and what the
//! parser made of it says little: in `nn.conv2d(%x, %w, pad` there is no call yet. The tokens in
//! front of the cursor are as they will stay, so they are what is asked here, from the cursor
//! backwards and never further than to the statement's begin.

mod back;
mod level;

use back::Back;
pub(crate) use back::tokens_before;
use level::Level;
use semantics::{Db, Def, Module, SourceFile, modules};
use syntax::{Node, SyntaxKind, T, TextRange, TextSize, Token};

/// What is being written.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    /// What belongs to the name under the cursor; empty between names.
    pub(crate) word: TextRange,
    /// The name up to the cursor.
    pub(crate) prefix: String,
    /// What may stand there.
    pub(crate) wanted: Wanted,
    /// The calls around, the innermost first.
    pub(crate) calls: Vec<CallSite<'t>>,
    /// The name that the statement around the cursor binds, which its value cannot use.
    pub(crate) bound: Option<TextRange>,
    /// The word is the first of a statement, or of the value that it binds.
    pub(crate) begins_value: bool,
    /// The token behind the word.
    pub(crate) next: Option<SyntaxKind>,
}

/// What may stand at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// A new name, the inside of a comment, a number: nothing can be offered.
    Nothing,
    /// The beginning of an item.
    Item,
    /// The beginning of a statement, or the expression at the end of a block.
    Statement,
    /// An expression; directly between the brackets of a call, an attribute too.
    Expr {
        /// An attribute may stand here as well.
        attribute: bool,
    },
    /// The value of an attribute.
    AttrValue {
        /// The attribute.
        name: String,
        /// It stands in a list.
        in_list: bool,
        /// It stands in quotes.
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
    /// The field of a tuple: what stands before the dot ends here.
    Field(TextSize),
}

/// A call, as far as it is written.
#[derive(Debug)]
pub(crate) struct CallSite<'t> {
    /// What is called.
    pub(crate) callee: Callee<'t>,
    /// Which argument the cursor is at, attributes included.
    pub(crate) argument: usize,
    /// The attributes in front of the cursor.
    pub(crate) written: Vec<String>,
    /// The attribute whose value is written.
    pub(crate) attribute: Option<String>,
    /// The arguments in front of the cursor that are plain variables.
    pub(crate) variables: Vec<Option<Token<'t>>>,
}

/// What is called.
#[derive(Debug)]
pub(crate) enum Callee<'t> {
    /// An operator or a constructor: `nn.conv2d`.
    Name(String),
    /// `@f`
    Global(Token<'t>),
    /// `%f`
    Variable(Token<'t>),
    /// An expression that ends here.
    Expr(TextSize),
}

/// The definition in which something at `offset` is written: while its end is missing, it reaches
/// as far as the next one.
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

/// What is being written at `offset`; `root` is the whole file.
pub(crate) fn cursor(root: Node<'_>, offset: TextSize) -> Cursor<'_> {
    let at = |wanted: Wanted| Cursor {
        word: TextRange::empty(offset),
        prefix: String::new(),
        wanted,
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
            // It reaches as far as its line does.
            SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT => return at(Wanted::Nothing),
            SyntaxKind::METADATA | SyntaxKind::TIR_TEXT | SyntaxKind::BANNER => {
                return at(Wanted::Nothing);
            }
            SyntaxKind::BLOCK_COMMENT if !ends_here || !left.text().ends_with("*/") => {
                return at(Wanted::Nothing);
            }
            SyntaxKind::META_REF if !ends_here => return at(Wanted::Nothing),
            SyntaxKind::STRING => {
                let text = left.text();
                let closed = text.len() > 1 && text.ends_with('"');
                if !ends_here || !closed {
                    in_string = true;
                    let end = left.range().end() - TextSize::new(u32::from(closed));
                    // A string that is not closed runs to the end of its line: no further than to
                    // the cursor is it the word.
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
                // `%t.1`: the number of a field is a name of its own.
                if all.peek().is_some_and(|token| token.kind() == T!["."]) {
                    word = left.range();
                    dot = all.next();
                } else {
                    return at(Wanted::Nothing);
                }
            }
            kind if is_word(kind) => {
                word = left.range();
                all.next();
                if kind == SyntaxKind::IDENT {
                    // `nn.conv2d`, taken apart by the lexer.
                    let mut ahead: Vec<Token<'_>> = Vec::new();
                    while all.peek().is_some_and(|token| token.kind() == T!["."]) {
                        let Some(point) = all.next() else { break };
                        match all.peek() {
                            Some(part) if part.kind() == SyntaxKind::IDENT => {
                                word = TextRange::new(part.start(), word.end());
                                all.next();
                            }
                            _ => {
                                ahead.push(point);
                                break;
                            }
                        }
                    }
                    dot = ahead.pop();
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
        return Cursor { word, prefix, next, ..at(Wanted::Field(dot.start())) };
    }
    let mut back = Back { tokens: all, seen: Vec::new() };
    let (mut wanted, calls) = around(&mut back, in_string);
    if in_string && !matches!(wanted, Wanted::AttrValue { .. }) {
        wanted = Wanted::Nothing;
    }
    let bound = bound_name(&mut back);
    let begins_value = matches!(back.kind(0), T!["="] | T![";"] | T!["{"] | T!["=>"]);
    Cursor { word, prefix, wanted, calls, bound, begins_value, next }
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

/// The text from `start` to `end`, which lie in few tokens.
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

/// The kind of the first significant token from `offset` on.
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

/// What the brackets around say.
fn around<'t>(
    back: &mut Back<'t, impl Iterator<Item = Token<'t>>>,
    in_string: bool,
) -> (Wanted, Vec<CallSite<'t>>) {
    let mut calls: Vec<CallSite<'t>> = Vec::new();
    // What is known so far: the innermost construct that decides wins.
    let mut wanted: Option<Wanted> = None;
    let decide = |wanted: &mut Option<Wanted>, what: Wanted| {
        if wanted.is_none() {
            *wanted = Some(what);
        }
    };
    match back.kind(0) {
        T![":"] | T!["->"] => decide(&mut wanted, Wanted::Type),
        T!["let"] | T!["def"] | T!["type"] | T!["extern"] | T!["free_var"] => {
            return (Wanted::Nothing, calls);
        }
        T!["="] if is_attr(back, 0) => {
            let name = back.get(1).map_or("", |token| token.text()).to_owned();
            decide(&mut wanted, Wanted::AttrValue { name, in_list: false, in_string });
        }
        T!["="] => decide(&mut wanted, Wanted::Expr { attribute: false }),
        // `#[version = "0.0.5"]`
        T!["]"] if in_front_of_hash(back) => return (Wanted::Item, calls),
        T![";"] | SyntaxKind::END_OF_FILE => {
            let what = if back.kind(0) == T![";"] { Wanted::Statement } else { Wanted::Item };
            return (what, calls);
        }
        _ => {}
    }
    // Whether everything passed so far stands directly in the bracket that is looked for.
    let mut direct = true;
    // Whether a block has ended in front.
    let mut behind_block = false;
    let mut level = Level::default();
    let mut at = 0;
    loop {
        let Some(token) = back.get(at) else {
            decide(
                &mut wanted,
                if direct && at > 0 { Wanted::Expr { attribute: false } } else { Wanted::Item },
            );
            break;
        };
        match token.kind() {
            T![")"] | T!["]"] | T!["}"] => {
                let next = back.skip_closed(at);
                behind_block |= token.kind() == T!["}"];
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
                // Behind a comma it is the arrow of an arm before.
                if level.commas == 0 {
                    level.arrow = true;
                    decide(&mut wanted, Wanted::Expr { attribute: false });
                }
            }
            T![":"] if level.commas == 0 => {
                // `%x: Tensor[…] ` behind a type; what may follow is no name.
                if wanted.is_none() && direct {
                    wanted = Some(Wanted::Type);
                }
            }
            T!["("] => {
                let open = token.start();
                let behind = back.kind(at + 1);
                match behind {
                    SyntaxKind::IDENT => {
                        let (name, front) = back.dotted(at + 1);
                        match outer_brace(back, front) {
                            Outer::Constructors => decide(&mut wanted, Wanted::Type),
                            Outer::Patterns if !level.arrow => decide(&mut wanted, Wanted::Pattern),
                            _ => {
                                let attribute = direct && level.arrow_free();
                                decide(&mut wanted, Wanted::Expr { attribute });
                                calls.push(level.call(Callee::Name(name)));
                            }
                        }
                    }
                    SyntaxKind::GLOBAL => {
                        if back.kind(at + 2) == T!["def"] {
                            decide(&mut wanted, Wanted::Nothing);
                            break;
                        }
                        decide(&mut wanted, Wanted::Expr { attribute: false });
                        if let Some(name) = back.get(at + 1) {
                            calls.push(level.call(Callee::Global(name)));
                        }
                    }
                    SyntaxKind::LOCAL | SyntaxKind::GRAPH => {
                        decide(&mut wanted, Wanted::Expr { attribute: false });
                        if let Some(name) = back.get(at + 1) {
                            calls.push(level.call(Callee::Variable(name)));
                        }
                    }
                    T!["]"] => {
                        let front = back.skip_closed(at + 1);
                        if back.kind(front) == T!["fn"] || back.kind(front + 1) == T!["def"] {
                            decide(&mut wanted, Wanted::Nothing);
                            break;
                        }
                        decide(&mut wanted, Wanted::Expr { attribute: false });
                    }
                    T![")"] | T!["}"] => {
                        decide(&mut wanted, Wanted::Expr { attribute: false });
                        let end = back.get(at + 1).map_or(open, |token| token.range().end());
                        calls.push(level.call(Callee::Expr(end)));
                    }
                    T!["fn"] => {
                        // The parameters of a function, or of a function type.
                        let is_type = matches!(back.kind(at + 2), T![":"] | T!["->"]);
                        decide(&mut wanted, if is_type { Wanted::Type } else { Wanted::Nothing });
                        if is_type {
                            break;
                        }
                    }
                    T!["if"] | T!["match"] | T!["?"] => {
                        decide(&mut wanted, Wanted::Expr { attribute: false });
                    }
                    T!["["] if is_tensor(back.get(at + 2)) => decide(&mut wanted, Wanted::Shape),
                    T![":"] | T!["->"] => decide(&mut wanted, Wanted::Type),
                    T!["ref"] | T!["ref_read"] | T!["ref_write"] => {
                        decide(&mut wanted, Wanted::Expr { attribute: false });
                    }
                    _ => {}
                }
                direct = false;
                level = Level::default();
            }
            T!["["] => {
                match back.kind(at + 1) {
                    SyntaxKind::IDENT if is_tensor(back.get(at + 1)) => {
                        let what = if level.commas > 0 { Wanted::DataType } else { Wanted::Shape };
                        decide(&mut wanted, what);
                    }
                    T!["="] if is_attr_name(back.kind(at + 2)) => {
                        let name = back.get(at + 2).map_or("", |token| token.text()).to_owned();
                        decide(&mut wanted, Wanted::AttrValue { name, in_list: true, in_string });
                    }
                    SyntaxKind::IDENT => decide(&mut wanted, Wanted::Type),
                    SyntaxKind::GLOBAL | T!["fn"] | SyntaxKind::HASH => {
                        decide(&mut wanted, Wanted::Nothing);
                        break;
                    }
                    _ => {}
                }
                direct = false;
                level = Level::default();
            }
            T!["{"] => {
                let what = match outer_of(back, at) {
                    Outer::Constructors => Wanted::Nothing,
                    Outer::Patterns if !level.arrow => Wanted::Pattern,
                    Outer::Patterns => Wanted::Expr { attribute: false },
                    _ if at == 0 => Wanted::Statement,
                    _ => Wanted::Expr { attribute: false },
                };
                decide(&mut wanted, what);
                break;
            }
            T![";"] => {
                let what =
                    if at == 0 { Wanted::Statement } else { Wanted::Expr { attribute: false } };
                decide(&mut wanted, what);
                break;
            }
            T!["let"] | T!["free_var"] => {
                // `let %x = …`; without `=` the name itself is written, or its type.
                decide(&mut wanted, Wanted::Expr { attribute: false });
                break;
            }
            // `let %x: T = …`, `%0 = …`
            T!["="] => {
                decide(&mut wanted, Wanted::Expr { attribute: false });
                break;
            }
            T!["def"] | T!["type"] | T!["extern"] => {
                let ended = behind_block && direct;
                decide(&mut wanted, if ended { Wanted::Item } else { Wanted::Nothing });
                break;
            }
            _ => level.token(token),
        }
        at += 1;
    }
    (wanted.unwrap_or(Wanted::Expr { attribute: false }), calls)
}

/// Whether the `=` at `at` stands behind the name of an attribute: `(axis=`, `, axis=`.
fn is_attr<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>, at: usize) -> bool {
    is_attr_name(back.kind(at + 1)) && matches!(back.kind(at + 2), T!["("] | T![","] | T!["{"])
}

/// Whether what ends in front of the cursor began with `#[`.
fn in_front_of_hash<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>) -> bool {
    let front = back.skip_closed(0);
    back.kind(front) == SyntaxKind::HASH
}

fn is_attr_name(kind: SyntaxKind) -> bool {
    kind == SyntaxKind::IDENT || kind.is_keyword()
}

fn is_tensor(token: Option<Token<'_>>) -> bool {
    token.is_some_and(|token| token.text() == "Tensor")
}

/// What a brace belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Outer {
    /// `type T { … }`
    Constructors,
    /// `match (%x) { … }`
    Patterns,
    Other,
}

/// What the brace at `at` belongs to.
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

/// What the brace around the name in front of position `at` belongs to, if the name begins an arm
/// or a constructor, or stands in a pattern.
fn outer_brace<'t>(back: &mut Back<'t, impl Iterator<Item = Token<'t>>>, mut at: usize) -> Outer {
    loop {
        match back.kind(at) {
            T!["{"] => return outer_of(back, at),
            T![","] | T!["("] | SyntaxKind::IDENT | SyntaxKind::LOCAL => at += 1,
            T![")"] | T!["}"] | T!["]"] => at = back.skip_closed(at),
            T!["=>"] => {
                // The arm before: `Nil => 1, Cons(`.
                at += 1;
            }
            _ => return Outer::Other,
        }
        // An arm's value may be anything; only its beginning is asked for here.
        if at > 4_000 {
            return Outer::Other;
        }
    }
}

/// The name that the statement around binds: the first in front that stands in no closed bracket
/// and in no statement before.
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
