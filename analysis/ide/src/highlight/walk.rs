//! The traversal that highlights the tokens of a segment.

use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange, TextSize, Token,
    ast::{self, AstNode},
};

use super::{
    Highlight, TokenKind, modifier,
    names::{DefNames, VariableToken},
};

/// Adds a highlight for each line of `text`, because clients do not support multi-line tokens.
pub(super) fn lines_of(
    text: &str,
    start: TextSize,
    kind: TokenKind,
    modifiers: u8,
    to: &mut Vec<Highlight>,
) {
    let mut at = start;
    for line in text.split_inclusive(['\n', '\r']) {
        let content = line.trim_end_matches(['\n', '\r']);
        if !content.trim().is_empty() {
            let range = TextRange::at(at, TextSize::of(content));
            to.push(Highlight { range, kind, modifiers });
        }
        at += TextSize::of(line);
    }
}

/// Returns the kind of a token that is not a name.
pub(super) fn kind_of_word(token: Token<'_>, parent: SyntaxKind) -> Option<TokenKind> {
    use SyntaxKind::*;
    Some(match token.kind() {
        LINE_COMMENT | HASH_COMMENT | BLOCK_COMMENT | BANNER => TokenKind::Comment,
        INT | FLOAT => TokenKind::Number,
        STRING | QUOTED_NAME => TokenKind::String,
        META_REF => TokenKind::Meta,
        kind if kind.is_keyword() => TokenKind::Keyword,
        kind if parent == INFIX_EXPR && !kind.is_trivia() && !is_bracket(kind) => {
            TokenKind::Operator
        }
        _ => return None,
    })
}

fn is_bracket(kind: SyntaxKind) -> bool {
    use SyntaxKind::*;
    matches!(kind, L_PAREN | R_PAREN | L_BRACE | R_BRACE | L_BRACK | R_BRACK | COMMA | SEMICOLON)
}

/// A traversal of the tokens of a segment.
pub(super) struct Walk<'w, 'db> {
    to: &'w mut Vec<Highlight>,
    base: TextSize,
    /// The remaining binders and uses of variables in text order.
    named: std::iter::Peekable<std::vec::IntoIter<VariableToken>>,
    names: Option<&'w DefNames<'db>>,
    /// The type parameters in scope.
    type_params: Vec<&'w str>,
    /// The end of the last highlight.
    end: TextSize,
}

/// A pending step of the traversal.
enum Step<'t> {
    Element(NodeOrToken<Node<'t>, Token<'t>>, SyntaxKind, SyntaxKind),
    /// Leaves a scope and keeps this number of type parameters.
    Leave(usize),
}

impl<'w, 'db> Walk<'w, 'db> {
    pub(super) fn new(
        to: &'w mut Vec<Highlight>,
        base: TextSize,
        named: Vec<VariableToken>,
        names: Option<&'w DefNames<'db>>,
    ) -> Walk<'w, 'db> {
        let type_params: Vec<&str> =
            names.into_iter().flat_map(|names| &names.type_params).map(|name| &**name).collect();
        let named = named.into_iter().peekable();
        Walk { to, base, named, names, type_params, end: TextSize::default() }
    }

    pub(super) fn node<'t: 'w>(&mut self, root: Node<'t>, parent: SyntaxKind) {
        let mut stack = vec![Step::Element(NodeOrToken::Node(root), parent, parent)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Leave(count) => self.type_params.truncate(count),
                Step::Element(NodeOrToken::Token(token), parent, around) => {
                    self.token(token, parent, around);
                }
                Step::Element(NodeOrToken::Node(node), parent, _) => {
                    let list = match node.kind() {
                        SyntaxKind::FN_EXPR | SyntaxKind::FN_TYPE => {
                            node.child(SyntaxKind::TYPE_PARAM_LIST)
                        }
                        _ => None,
                    };
                    if let Some(list) = list.and_then(ast::TypeParamList::cast) {
                        stack.push(Step::Leave(self.type_params.len()));
                        let names = list.params().filter_map(|param| param.name());
                        self.type_params.extend(names.map(|name| name.text()));
                    }
                    let kind = node.kind();
                    let children = node.elements().rev();
                    stack.extend(children.map(|child| Step::Element(child, kind, parent)));
                }
            }
        }
    }

    fn add(&mut self, range: TextRange, kind: TokenKind, modifiers: u8) {
        self.to.push(Highlight { range: range - self.base, kind, modifiers });
        self.end = range.end();
    }

    /// Highlights a token whose parent and grandparent have the kinds `parent` and `around`.
    fn token(&mut self, token: Token<'_>, parent: SyntaxKind, around: SyntaxKind) {
        use SyntaxKind::*;
        if token.kind() == WHITESPACE || token.start() < self.end {
            return;
        }
        let range = token.range();
        match token.kind() {
            LOCAL | GRAPH => {
                while self.named.next_if(|named| named.range.start() < range.start()).is_some() {}
                match self.named.next_if(|named| named.range.start() == range.start()) {
                    Some(named) => self.add(named.range, named.kind, named.modifiers),
                    None => self.add(range, TokenKind::Variable, 0),
                }
            }
            GLOBAL => {
                let modifiers = if parent == NAME && around == FN_DEF {
                    modifier::DEFINITION
                } else {
                    self.names.map_or(0, |names| names.module.global(token.text()))
                };
                self.add(range, TokenKind::Function, modifiers);
            }
            IDENT => {
                if let Some((kind, modifiers)) = self.name(token, parent, around) {
                    self.add(range, kind, modifiers);
                }
            }
            METADATA => {
                let len = TextSize::of("#[metadata]").min(range.len());
                self.add(TextRange::at(range.start(), len), TokenKind::Meta, 0);
            }
            BLOCK_COMMENT | LINE_COMMENT | HASH_COMMENT | BANNER | STRING => {
                let kind =
                    if token.kind() == STRING { TokenKind::String } else { TokenKind::Comment };
                lines_of(token.text(), range.start() - self.base, kind, 0, self.to);
                self.end = range.end();
            }
            _ => {
                if let Some(kind) = kind_of_word(token, parent) {
                    self.add(range, kind, 0);
                }
            }
        }
    }

    /// Returns the kind and modifiers of a name without a sigil.
    fn name(
        &self,
        token: Token<'_>,
        parent: SyntaxKind,
        around: SyntaxKind,
    ) -> Option<(TokenKind, u8)> {
        use SyntaxKind::*;
        let text = token.text();
        Some(match (parent, around) {
            (NAME, TYPE_DEF) => (TokenKind::Type, modifier::DEFINITION),
            (NAME, CONSTRUCTOR) => (TokenKind::Constructor, modifier::DEFINITION),
            (NAME, ATTR) => (TokenKind::Attribute, 0),
            (NAME_REF, CONSTRUCTOR_PAT) => (
                TokenKind::Constructor,
                self.names.map_or(0, |n| n.module.constructor(text).unwrap_or(0)),
            ),
            (NAME_REF, _) => match self.names.and_then(|names| names.module.constructor(text)) {
                Some(modifiers) => (TokenKind::Constructor, modifiers),
                None => (TokenKind::Operator, 0),
            },
            (TYPE_PARAM, _) => {
                let is_kind =
                    types::Kind::parse(text).is_some() && !self.type_params.contains(&text);
                if is_kind {
                    (TokenKind::Type, modifier::PRELUDE)
                } else {
                    (TokenKind::TypeParameter, modifier::DECLARATION)
                }
            }
            (NAMED_TYPE | DIM | SHAPE, _) => {
                if self.type_params.contains(&text) || parent != NAMED_TYPE {
                    (TokenKind::TypeParameter, 0)
                } else {
                    (TokenKind::Type, self.names.map_or(0, |names| names.module.type_name(text)))
                }
            }
            (TENSOR_TYPE | RELATION, _) => (TokenKind::Type, modifier::PRELUDE),
            (CONSTANT_EXPR, _) => (TokenKind::Operator, 0),
            _ => return None,
        })
    }
}
