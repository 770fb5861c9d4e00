//! The syntactic context of the cursor, for completion and signature help.
//!
//! During typing the text at the cursor is usually incomplete: `nn.conv2d(%x, ` has no argument to
//! ask about. A marker inserted at the cursor is one, and the parser recovers from whatever is
//! missing after it, so that the nodes around the marker are the context. The marked tree is a
//! reparse of the one in the database, at the cost of a keystroke, and is never stored there.

mod arguments;

use std::{borrow::Cow, ops::Range};

pub(crate) use arguments::{Arguments, CallSite, CalleeSyntax};
use semantics::{Db, Def, Module, SourceFile, modules};
use syntax::{
    Edit, Element, GreenNode, Node, NodeOrToken, Parse, Source, SyntaxKind, T, TextRange, TextSize,
    Token,
};

/// The marker between tokens and in a word. A name may be an expression, a pattern, a type, a
/// dimension or an attribute.
const NAME: &str = "marker";
/// The marker in a number, which a name would split, and after the dot of a projection, where a
/// name would be part of the variable: `%x.marker` is one.
const DIGIT: &str = "0";

/// A tree with a marker at the cursor.
pub(crate) struct MarkedTree<'a> {
    /// The tree without the marker.
    unmarked: Node<'a>,
    green: GreenNode,
    /// The range of the marker.
    marker: TextRange,
}

/// The text of a tree with an insertion. A reparse reads only the parts that it needs.
struct InsertedText<'a> {
    text: Node<'a>,
    /// The offset of the insertion.
    at: usize,
    insert: &'a str,
}

impl InsertedText<'_> {
    /// Splits an offset into the one in the text without the insertion, and the one in the insertion.
    fn split(&self, offset: usize) -> (usize, usize) {
        let inside = offset.saturating_sub(self.at).min(self.insert.len());
        (offset - inside, inside)
    }
}

impl Source for InsertedText<'_> {
    fn byte_len(&self) -> usize {
        self.text.byte_len() + self.insert.len()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        let (outside, inside) = self.split(offset);
        self.text.is_boundary(outside) && self.insert.is_char_boundary(inside)
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        let ((start, from), (end, to)) = (self.split(range.start), self.split(range.end));
        let inserted = self.insert.get(from..to)?;
        if inserted.is_empty() {
            return self.text.part(start..end);
        }
        let before = self.text.part(start..self.at)?;
        let after = self.text.part(self.at..end)?;
        Some(Cow::Owned([&before, inserted, &after].concat()))
    }
}

/// The context of the cursor.
#[derive(Debug, Default)]
pub(crate) struct Cursor<'t> {
    /// The word at the cursor; empty between words.
    pub(crate) word: TextRange,
    /// The text of the word.
    pub(crate) text: Cow<'t, str>,
    /// The part of the word before the cursor.
    pub(crate) prefix: Cow<'t, str>,
    /// The syntax that is expected.
    pub(crate) expected: Expectation<'t>,
    /// The enclosing calls, the innermost first.
    pub(crate) calls: Vec<CallSite<'t>>,
    /// The arguments of the call whose callee is the word, if its parentheses are closed.
    pub(crate) arguments: Option<Arguments<'t>>,
    /// The name that the enclosing statement binds, which is not in scope in its value.
    pub(crate) bound: Option<TextRange>,
    /// True if the word is the first of a statement or of a bound value.
    pub(crate) begins_value: bool,
    /// The token after the word.
    pub(crate) next: Option<SyntaxKind>,
}

/// The syntax that is expected at the cursor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Expectation<'t> {
    /// Nothing to complete: a new name, a comment or a number.
    #[default]
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
        name: &'t str,
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

impl<'a> MarkedTree<'a> {
    /// Inserts a marker into a tree. Returns `None` inside a token that is not a word, such as a comment,
    /// and outside of the tree, which is empty if the text is too large.
    pub(crate) fn new(parse: &'a Parse, offset: TextSize) -> Option<MarkedTree<'a>> {
        let root = Node::root(&parse.green);
        if !root.is_boundary(offset.into()) {
            return None;
        }
        let left = |at: TextSize| root.token_at(at.checked_sub(TextSize::new(1))?);
        let kind = left(offset).map(Token::kind);
        let at_end = left(offset).is_none_or(|token| token.range().end() == offset);
        let insert = match kind {
            Some(SyntaxKind::INT | SyntaxKind::FLOAT) => DIGIT,
            Some(T!["."]) => match left(offset - TextSize::of('.')).map(Token::kind) {
                Some(SyntaxKind::IDENT) => NAME,
                _ => DIGIT,
            },
            _ => NAME,
        };
        let splits =
            |kind| is_word(kind) || matches!(kind, SyntaxKind::WHITESPACE | SyntaxKind::STRING);
        if !at_end && !kind.is_some_and(splits) {
            return None;
        }
        // The marker is not part of the word that begins at the cursor.
        let begins = root.token_at(offset).is_some_and(|token| {
            let after = &token.text()[usize::from(offset - token.start())..];
            after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        });
        let space = begins && insert == NAME && at_end && !kind.is_some_and(is_word);
        let insert = if space { NAME.to_owned() + " " } else { insert.to_owned() };
        let edit = Edit { range: TextRange::empty(offset), insert };
        let text = InsertedText { text: root, at: offset.into(), insert: &edit.insert };
        let green = parse.reparse(&text, &edit).green;
        let len = TextSize::of(edit.insert.trim_end());
        Some(MarkedTree { unmarked: root, green, marker: TextRange::at(offset, len) })
    }

    /// Returns the context of the marker.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        let root = Node::root(&self.green);
        let text = |range: TextRange| self.unmarked.part(range.into());
        let offset = self.marker.start();
        let mut cursor = Cursor { word: TextRange::empty(offset), ..Cursor::default() };
        let Some(token) = root.token_at(offset) else { return cursor };
        let path = root.path_to(self.marker);
        let Some(&parent) = path.last() else { return cursor };
        let mut start = token.start();
        let mut end = token.range().end();
        let mut in_string = false;
        match token.kind() {
            SyntaxKind::STRING | SyntaxKind::UNKNOWN if token.text().starts_with('"') => {
                in_string = true;
                start += TextSize::new(1);
                // An unclosed string extends to the end of its line, so that the word ends at the
                // cursor instead.
                end = match token.text().len() > 1 && token.text().ends_with('"') {
                    true => end - TextSize::new(1),
                    false => self.marker.end(),
                };
            }
            SyntaxKind::INT if parent.kind() == SyntaxKind::PROJ_EXPR => {}
            SyntaxKind::IDENT | SyntaxKind::LOCAL | SyntaxKind::GLOBAL => {
                // `nn.$0`, but not with white space in the name.
                let name = TextRange::new(parent.start(), offset);
                if parent.kind() == SyntaxKind::NAME_REF
                    && text(name).is_some_and(|name| !name.contains(char::is_whitespace))
                {
                    start = parent.start();
                }
            }
            _ => return cursor,
        }
        let before = token_before(&path, start);
        let gap = TextRange::new(before.map_or(start, |token| token.range().end()), start);
        let begins_line = text(gap).is_some_and(|gap| gap.contains('\n'));
        let place = WordPlace { path: &path, start, before, begins_line, in_string };
        cursor.word = match start == offset && !in_string {
            true => TextRange::empty(offset),
            false => TextRange::new(start, end - self.marker.len()),
        };
        cursor.text = text(cursor.word).unwrap_or_default();
        cursor.prefix = text(TextRange::new(start.min(offset), offset)).unwrap_or_default();
        cursor.next = root.token_from(end).map(Token::kind);
        cursor.expected = place.expected();
        cursor.calls = place.calls();
        cursor.arguments = place.arguments();
        cursor.bound = place.bound();
        cursor.begins_value = matches!(place.before_kind(), T!["="] | T![";"] | T!["{"] | T!["=>"]);
        cursor
    }
}

fn is_word(kind: SyntaxKind) -> bool {
    use SyntaxKind::*;
    kind.is_keyword() || matches!(kind, IDENT | LOCAL | GRAPH | GLOBAL | PERCENT | AT | DOT)
}

/// The last token of an element that is not trivia.
fn last_token(element: Element<'_>) -> Option<Token<'_>> {
    match element {
        NodeOrToken::Node(node) => node.elements().rev().find_map(last_token),
        NodeOrToken::Token(token) => (!token.kind().is_trivia()).then_some(token),
    }
}

/// Returns the last token before `offset` that is not trivia. `path` leads to `offset`.
fn token_before<'t>(path: &[Node<'t>], offset: TextSize) -> Option<Token<'t>> {
    path.iter().rev().find_map(|node| node.elements_before(offset).find_map(last_token))
}

/// The place of the word at the cursor in the marked tree.
struct WordPlace<'p, 't> {
    /// The nodes around the word, the outermost first.
    path: &'p [Node<'t>],
    /// The start of the word.
    start: TextSize,
    /// The token before the word.
    before: Option<Token<'t>>,
    begins_line: bool,
    in_string: bool,
}

impl<'t> WordPlace<'_, 't> {
    fn before_kind(&self) -> SyntaxKind {
        self.before.map_or(SyntaxKind::END_OF_FILE, Token::kind)
    }

    /// Returns the nodes around the word, the innermost first, each with the one around it.
    fn outwards(&self) -> impl Iterator<Item = (Node<'t>, Option<Node<'t>>)> {
        (0..self.path.len())
            .rev()
            .map(|i| (self.path[i], i.checked_sub(1).map(|outer| self.path[outer])))
    }

    /// Returns true if a token of `kind` in `node` precedes the word.
    fn is_after(&self, node: Node<'t>, kind: SyntaxKind) -> bool {
        node.token(kind).is_some_and(|token| token.start() < self.start)
    }

    /// Returns the expected syntax: that of the innermost node which determines it.
    fn expected(&self) -> Expectation<'t> {
        use SyntaxKind::*;
        let before = self.before_kind();
        // No expression begins after `[`: `meta[$0`.
        let expr = match before {
            L_BRACK => Expectation::Nothing,
            _ => Expectation::Expr { attribute: false },
        };
        let is_start = self.begins_line || matches!(before, COMMA | L_BRACE);
        let mut in_list = false;
        for (node, outer) in self.outwards() {
            let outer_kind = outer.map(Node::kind);
            match node.kind() {
                ATTR if self.is_after(node, EQ) => {
                    let name = node.child(NAME).and_then(Node::first_token);
                    let name = name.map_or("", Token::text);
                    return Expectation::AttrValue { name, in_list, in_string: self.in_string };
                }
                ATTR_LIST => in_list = true,
                _ if self.in_string => {}
                PROJ_EXPR if self.is_after(node, DOT) => {
                    return node.token(DOT).map_or(expr, |dot| Expectation::Field(dot.start()));
                }
                NAME if !matches!(outer_kind, Some(ATTR | GRAPH_STMT | VAR_PAT)) => {
                    return Expectation::Nothing;
                }
                SHAPE | DIM => return Expectation::Shape,
                TENSOR_TYPE if self.is_after(node, COMMA) => return Expectation::DataType,
                TENSOR_TYPE => return Expectation::Shape,
                NAMED_TYPE | HOLE_TYPE if outer_kind == Some(TENSOR_TYPE) => {}
                NAMED_TYPE | HOLE_TYPE | TUPLE_TYPE | FN_TYPE | REF_TYPE | RET_TYPE => {
                    return Expectation::Type;
                }
                // Nothing follows an arm on its line but a comma: `A => 1 $0`.
                WILDCARD_PAT | VAR_PAT | CONSTRUCTOR_PAT
                    if !is_start && outer.is_some_and(|arm| arm.start() == self.start) =>
                {
                    return Expectation::Nothing;
                }
                WILDCARD_PAT | VAR_PAT | CONSTRUCTOR_PAT | TUPLE_PAT => {
                    return Expectation::Pattern;
                }
                ARM_LIST if is_start => return Expectation::Pattern,
                ARM if self.is_after(node, FAT_ARROW) => return expr,
                LET_STMT | FREE_VAR_STMT if matches!(before, LET_KW | FREE_VAR_KW) => {
                    return Expectation::Nothing;
                }
                // Nothing follows a type: `let %x: int32 $0`.
                LET_STMT | FREE_VAR_STMT
                    if self.is_after(node, COLON) && !self.is_after(node, EQ) =>
                {
                    return Expectation::Nothing;
                }
                ARG_LIST => {
                    let by_name = outer.and_then(|call| call.child(NAME_REF)).is_some();
                    let attribute = by_name && matches!(before, L_PAREN | COMMA);
                    return if attribute { Expectation::Expr { attribute } } else { expr };
                }
                LET_STMT | GRAPH_STMT if self.is_after(node, EQ) && before != SEMICOLON => {
                    return expr;
                }
                IF_EXPR | INFIX_EXPR if node.start() < self.start => return expr,
                BLOCK if outer_kind == Some(EXPR_ITEM) && before != SEMICOLON => {}
                BLOCK if matches!(before, SEMICOLON | L_BRACE) => return Expectation::Statement,
                BLOCK | PAREN_EXPR | TUPLE_EXPR => return expr,
                // The name before the colon has no sigil, or a list of types is expected.
                PARAM_LIST | CONSTRUCTOR | CONSTRUCTOR_LIST if before == COLON => {
                    return Expectation::Type;
                }
                // The first token is a name in place of `fn`.
                FN_EXPR if node.start() == self.start => {}
                ARM | ARM_LIST | PARAM | PARAM_LIST | TYPE_PARAM | TYPE_PARAM_LIST
                | CONSTRUCTOR | CONSTRUCTOR_LIST | WHERE_CLAUSE | VIRTUAL_DEVICE | VERSION
                | FN_EXPR | FN_DEF | TYPE_DEF => {
                    return Expectation::Nothing;
                }
                EXPR_ITEM | ERROR if outer_kind == Some(SOURCE_FILE) => {
                    let first = node.first_token().map(|token| (token.kind(), token.start()));
                    let is_first = first.is_some_and(|(_, start)| start == self.start);
                    let items = outer.map(|file| file.elements_before(self.start));
                    let item = items.and_then(|mut items| items.find_map(NodeOrToken::into_node));
                    let after_type = item.is_some_and(|item| item.kind() == TYPE_DEF);
                    return match first {
                        _ if self.begins_line => Expectation::Item,
                        // `type T $0`, `#[$0`
                        _ if is_first && after_type && before != R_BRACE => Expectation::Nothing,
                        Some((HASH, _)) => Expectation::Nothing,
                        _ if is_first => Expectation::Item,
                        _ => expr,
                    };
                }
                _ => {}
            }
        }
        if self.in_string { Expectation::Nothing } else { Expectation::Item }
    }

    /// Returns the calls around the word in the same statement, the innermost first.
    fn calls(&self) -> Vec<CallSite<'t>> {
        self.outwards()
            .take_while(|(node, _)| {
                !matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::ARM_LIST)
            })
            .filter_map(|(node, outer)| CallSite::new(outer?, node, self.start))
            .collect()
    }

    /// Returns the arguments of the call whose callee is the word.
    fn arguments(&self) -> Option<Arguments<'t>> {
        let (name, call) = self.outwards().next()?;
        let list = call?.child(SyntaxKind::ARG_LIST)?;
        (list.start() > name.start()).then_some(())?;
        Arguments::of(list)
    }

    /// Returns the name that the enclosing statement binds.
    fn bound(&self) -> Option<TextRange> {
        // A broken statement may extend to the end of its line.
        if self.before_kind() == T![";"] {
            return None;
        }
        let nodes = self.outwards().map(|(node, _)| node);
        let mut nodes = nodes.take_while(|node| node.kind() != SyntaxKind::BLOCK);
        let stmt =
            nodes.find(|n| matches!(n.kind(), SyntaxKind::LET_STMT | SyntaxKind::GRAPH_STMT))?;
        let name = stmt.child(SyntaxKind::NAME).map(Node::range)?;
        (!name.is_empty() && name.end() < self.start).then_some(name)
    }
}

#[cfg(test)]
mod tests;
