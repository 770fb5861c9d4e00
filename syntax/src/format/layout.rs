//! From a tree to the white space between its tokens.

mod gaps;

use super::{Style, width};
use crate::{Node, NodeOrToken, Parse, SyntaxKind, SyntaxKind::*, TextRange, TextSize, Token};

/// Where lines of the reading style end, if they can.
const WIDTH: usize = 100;
/// One level of nesting.
const INDENT: usize = 2;
/// Deeper than this, text is not indented further; nor can it be read by anyone.
const MAX_INDENT: usize = 200;

/// What is to stand between two tokens.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Gap {
    /// Nothing.
    Glue,
    /// One space.
    Space,
    /// A new line; with `keep`, an empty line in front of it stays.
    Line { keep: bool },
    /// An empty line.
    Blank,
    /// What stands there.
    Keep,
    /// Whatever suits the two tokens.
    Auto,
}

/// A text laid out.
pub(super) struct Laid {
    /// What changes.
    pub(super) edits: Vec<(TextRange, String)>,
    /// The result has to be read again to know that it means the same.
    pub(super) in_doubt: bool,
}

struct Layout<'t> {
    style: Style,
    text: &'t str,
    newline: &'static str,
    /// Where syntax errors stand, in order.
    broken: Vec<TextRange>,
    edits: Vec<(TextRange, String)>,
    in_doubt: bool,
    indent: usize,
    /// What is to stand in front of the next token.
    gap: Gap,
    /// The last token that was placed, comments included.
    last: Option<SyntaxKind>,
    last_end: TextSize,
    /// The last token placed is a comment.
    after_comment: Comment,
    /// The column behind the last token.
    column: usize,
    /// Nodes that stay as they are, one in the other.
    verbatim: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Comment {
    No,
    /// `/* … */`
    Block,
    /// `// …`, or `/* … */` with the line to itself.
    Line,
}

pub(super) fn lay_out(text: &str, parse: &Parse, style: Style) -> Laid {
    let mut broken: Vec<TextRange> =
        parse.errors.iter().filter(|e| !e.kind.is_compat()).map(|e| e.range).collect();
    broken.sort_by_key(|range| (range.start(), range.end()));
    let mut layout = Layout {
        style,
        text,
        newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        in_doubt: !parse.errors.is_empty(),
        broken,
        edits: Vec::new(),
        indent: 0,
        gap: Gap::Glue,
        last: None,
        // A byte order mark is white space to the parser, and stays.
        last_end: TextSize::of(text.strip_prefix('\u{FEFF}').map_or("", |_| "\u{FEFF}")),
        after_comment: Comment::No,
        column: 0,
        verbatim: 0,
    };
    layout.file(Node::root(&parse.green));
    Laid { edits: layout.edits, in_doubt: layout.in_doubt }
}

impl<'t> Layout<'t> {
    fn file(&mut self, root: Node<'t>) {
        let mut before: Option<SyntaxKind> = None;
        for element in root.elements() {
            match element {
                NodeOrToken::Token(token) => {
                    if before.is_some() && !token.kind().is_trivia() {
                        self.gap = Gap::Keep;
                    }
                    self.token(token, SOURCE_FILE);
                }
                NodeOrToken::Node(item) => {
                    let odd = |kind| matches!(kind, ERROR | TIR_ITEM | BANNER_ITEM);
                    self.gap = match before {
                        None if self.last.is_none() => Gap::Glue,
                        None => Gap::Line { keep: true },
                        Some(kind) if odd(kind) || odd(item.kind()) => Gap::Keep,
                        Some(VERSION) => Gap::Line { keep: true },
                        // A comment has taken the empty line already.
                        Some(_) if self.after_comment == Comment::Line => Gap::Line { keep: true },
                        Some(_) => Gap::Blank,
                    };
                    before = Some(item.kind());
                    let stays = odd(item.kind()) || self.is_lost(item);
                    self.verbatim += u32::from(stays);
                    if stays && self.gap == Gap::Blank {
                        self.gap = Gap::Keep;
                    }
                    self.node(item);
                    self.verbatim -= u32::from(stays);
                    self.gap = match item.kind() {
                        kind if odd(kind) => Gap::Keep,
                        VERSION => Gap::Line { keep: true },
                        _ => Gap::Blank,
                    };
                }
            }
        }
        // The last line ends, unless there is none.
        let rest = TextRange::new(self.last_end, TextSize::of(self.text));
        let ends = matches!(self.last, None | Some(METADATA | TIR_TEXT | BANNER));
        let after_cr = self.text[..usize::from(self.last_end)].ends_with('\r');
        // A line feed after the only carriage return would change what ends the other lines.
        let turns = after_cr && self.newline == "\n";
        if !ends && !turns && self.gap != Gap::Keep {
            self.replace(rest, if after_cr { "\n".into() } else { self.newline.into() });
        }
    }

    /// Whether an item cannot be laid out: it has a syntax error that is in no statement of its
    /// body.
    fn is_lost(&self, item: Node<'_>) -> bool {
        let errors = self.broken_in(item.range());
        // What stands behind a version is not part of it: laid out, it is on another line.
        let is_behind = |error: &TextRange| error.start() >= item.range().end();
        if errors.is_empty() || item.kind() == VERSION && errors.iter().all(is_behind) {
            return false;
        }
        let Some(block) = item.child(BLOCK).filter(|_| item.kind() == FN_DEF) else { return true };
        let inside =
            |error: &TextRange| block.start() < error.start() && error.end() < block.range().end();
        !errors.iter().all(inside) || block.children().any(|child| child.kind() == ERROR)
    }

    /// The syntax errors that touch a range.
    fn broken_in(&self, range: TextRange) -> &[TextRange] {
        let from = self.broken.partition_point(|error| error.end() < range.start());
        let to = self.broken.partition_point(|error| error.start() <= range.end());
        self.broken.get(from..to).unwrap_or_default()
    }

    fn node(&mut self, node: Node<'t>) {
        if self.verbatim > 0 {
            return self.plain(node);
        }
        match node.kind() {
            BLOCK => self.block(node, None),
            ARM_LIST | CONSTRUCTOR_LIST => self.braced_list(node),
            PARAM_LIST => self.params(node),
            PAREN_EXPR => self.paren(node),
            LET_STMT | GRAPH_STMT | EXPR_STMT => self.statement(node),
            ERROR => {
                self.verbatim += 1;
                self.plain(node);
                self.verbatim -= 1;
            }
            _ => self.plain(node),
        }
    }

    /// What has no lines of its own.
    fn plain(&mut self, node: Node<'t>) {
        let kind = node.kind();
        for element in node.elements() {
            match element {
                NodeOrToken::Node(child) => {
                    self.before_child(kind, child.kind());
                    self.node(child);
                }
                NodeOrToken::Token(token) => self.token(token, kind),
            }
        }
    }

    /// What stands in front of a node for reasons that its first token does not tell.
    fn before_child(&mut self, parent: SyntaxKind, child: SyntaxKind) {
        if self.gap != Gap::Auto || self.verbatim > 0 {
            return;
        }
        self.gap = match (parent, child) {
            (CALL_EXPR, ARG_LIST | TYPE_ARG_LIST) => Gap::Glue,
            (CONSTRUCTOR, TUPLE_TYPE) if self.last != Some(COLON) => Gap::Glue,
            (RELATION, TUPLE_TYPE) => Gap::Glue,
            (FN_DEF | TYPE_DEF, TYPE_PARAM_LIST) | (FN_DEF, PARAM_LIST) => Gap::Glue,
            (FN_EXPR | FN_TYPE, PARAM_LIST | TUPLE_TYPE) if self.last != Some(FN_KW) => Gap::Glue,
            _ => Gap::Auto,
        };
    }

    /// `{`, statements on lines, `}`; without braces, just the statements.
    fn block(&mut self, node: Node<'t>, lines: Option<bool>) {
        let braced = node.first_token().is_some_and(|token| token.kind() == L_BRACE)
            && node.token(L_BRACE).is_some();
        let on_lines = braced || lines.unwrap_or(false);
        if !braced {
            // Where bindings stand without braces, lines can mean something.
            self.in_doubt = true;
        }
        let mut first = true;
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) if braced && token.kind() == L_BRACE => {
                    self.token(token, BLOCK);
                    self.indent += INDENT;
                    self.gap = Gap::Line { keep: false };
                }
                NodeOrToken::Token(token) if braced && token.kind() == R_BRACE => {
                    self.indent = self.indent.saturating_sub(INDENT);
                    self.gap = Gap::Line { keep: false };
                    self.token(token, BLOCK);
                }
                NodeOrToken::Token(token) => self.token(token, BLOCK),
                NodeOrToken::Node(child) => {
                    let broken = child.kind() == ERROR || !self.broken_in(child.range()).is_empty();
                    if broken {
                        self.gap = Gap::Keep;
                    }
                    self.verbatim += u32::from(broken);
                    if on_lines && !child.kind().is_stmt() {
                        self.statement(child);
                    } else {
                        self.node(child);
                    }
                    self.verbatim -= u32::from(broken);
                    first = false;
                    self.gap = match on_lines {
                        _ if broken => Gap::Keep,
                        true => Gap::Line { keep: true },
                        false => Gap::Auto,
                    };
                }
            }
        }
        if braced && first && node.token(R_BRACE).is_none() {
            self.indent = self.indent.saturating_sub(INDENT);
        } else if braced && node.token(R_BRACE).is_none() {
            self.indent = self.indent.saturating_sub(INDENT);
            self.gap = Gap::Keep;
        }
        if on_lines && !braced {
            self.gap = Gap::Auto;
        }
    }

    /// `{ A => a, B => b }`, one a line.
    fn braced_list(&mut self, node: Node<'t>) {
        let kind = node.kind();
        let is_empty = node.children().next().is_none();
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) if token.kind() == L_BRACE => {
                    self.token(token, kind);
                    self.indent += INDENT;
                    self.gap = Gap::Line { keep: false };
                }
                NodeOrToken::Token(token) if token.kind() == R_BRACE => {
                    self.indent = self.indent.saturating_sub(INDENT);
                    self.gap = Gap::Line { keep: false };
                    // TVM prints an empty line, indented, where a type has no constructors.
                    let printed = is_empty && self.style == Style::Tvm && kind == CONSTRUCTOR_LIST;
                    if printed && self.after_comment == Comment::No {
                        self.gap = Gap::Keep;
                        let gap = TextRange::new(self.last_end, token.start());
                        let pad = " ".repeat(self.indent + INDENT);
                        let inner = self.indent_text();
                        self.replace(gap, format!("{0}{pad}{0}{inner}", self.newline));
                    }
                    self.token(token, kind);
                }
                NodeOrToken::Token(token) => {
                    let is_comma = token.kind() == COMMA;
                    if is_comma {
                        self.gap = Gap::Glue;
                    }
                    self.token(token, kind);
                    if is_comma {
                        self.gap = Gap::Line { keep: true };
                    }
                }
                NodeOrToken::Node(child) => {
                    self.node(child);
                    self.gap = Gap::Line { keep: true };
                }
            }
        }
        if node.token(R_BRACE).is_none() {
            self.indent = self.indent.saturating_sub(INDENT);
            self.gap = Gap::Keep;
        }
    }

    /// Parameters: one line, or one line each.
    fn params(&mut self, node: Node<'t>) {
        let tall = self.style == Style::Reading
            && node.children().nth(1).is_some()
            && self.column + width::flat(node, 2 * WIDTH) > WIDTH;
        if !tall {
            return self.plain(node);
        }
        self.each_on_a_line(node, true);
    }

    /// The parts of a bracketed list on lines: each on its own, or as many on one as fit.
    fn each_on_a_line(&mut self, node: Node<'t>, alone: bool) {
        let kind = node.kind();
        let mut first = true;
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) if token.kind() == L_PAREN && first => {
                    self.token(token, kind);
                    self.indent += INDENT;
                    self.gap = Gap::Line { keep: false };
                }
                NodeOrToken::Token(token) if token.kind() == R_PAREN => {
                    self.indent = self.indent.saturating_sub(INDENT);
                    self.gap = Gap::Line { keep: false };
                    self.token(token, kind);
                }
                NodeOrToken::Token(token) => {
                    self.token(token, kind);
                    if token.kind() == COMMA {
                        self.gap = if alone { Gap::Line { keep: false } } else { Gap::Auto };
                    }
                }
                NodeOrToken::Node(child) => {
                    first = false;
                    if self.gap == Gap::Auto {
                        // A comma and what closes the list come behind.
                        let width = width::flat(child, 2 * WIDTH) + 2;
                        self.gap = match self.column + width > WIDTH {
                            true => Gap::Line { keep: false },
                            false => Gap::Space,
                        };
                    }
                    self.wrapped(child);
                    self.gap = Gap::Auto;
                }
            }
        }
        if node.token(R_PAREN).is_none() {
            self.indent = self.indent.saturating_sub(INDENT);
        }
    }

    /// An expression that may be too long for what is left of its line.
    fn wrapped(&mut self, node: Node<'t>) {
        if self.style != Style::Reading || self.verbatim > 0 {
            return self.node(node);
        }
        let line = match self.gap {
            Gap::Line { .. } | Gap::Blank => self.indent,
            _ => self.column,
        };
        let can = matches!(node.kind(), CALL_EXPR | TUPLE_EXPR);
        if !can || line + width::flat(node, 2 * WIDTH) < WIDTH || width::has_lines(node) {
            return self.node(node);
        }
        if node.kind() == TUPLE_EXPR {
            return self.each_on_a_line(node, false);
        }
        for element in node.elements() {
            match element {
                NodeOrToken::Node(list) if list.kind() == ARG_LIST => {
                    self.before_child(CALL_EXPR, ARG_LIST);
                    if list.children().next().is_some() {
                        self.each_on_a_line(list, false);
                    } else {
                        self.node(list);
                    }
                }
                NodeOrToken::Node(child) => {
                    self.before_child(CALL_EXPR, child.kind());
                    self.node(child);
                }
                NodeOrToken::Token(token) => self.token(token, CALL_EXPR),
            }
        }
    }

    /// A statement, or the expression at the end of a block.
    fn statement(&mut self, node: Node<'t>) {
        if !node.kind().is_stmt() {
            return self.wrapped(node);
        }
        for element in node.elements() {
            match element {
                NodeOrToken::Node(child) if child.kind() == BLOCK => {
                    // `let %x = let %y = e; %y;` goes on at the same depth.
                    self.gap = Gap::Space;
                    self.block(child, Some(node.kind() == LET_STMT));
                }
                NodeOrToken::Node(child) => {
                    self.before_child(node.kind(), child.kind());
                    if self.gap == Gap::Auto && self.last == Some(EQ) {
                        self.gap = Gap::Space;
                    }
                    self.wrapped(child);
                }
                NodeOrToken::Token(token) => self.token(token, node.kind()),
            }
        }
    }

    /// `(e)`; with bindings in it, on lines.
    fn paren(&mut self, node: Node<'t>) {
        if node.child(BLOCK).is_none() {
            return self.plain(node);
        }
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) if token.kind() == L_PAREN => {
                    self.token(token, PAREN_EXPR);
                    self.indent += INDENT;
                    self.gap = Gap::Line { keep: false };
                }
                NodeOrToken::Token(token) if token.kind() == R_PAREN => {
                    self.indent = self.indent.saturating_sub(INDENT);
                    self.gap = Gap::Line { keep: false };
                    self.token(token, PAREN_EXPR);
                }
                NodeOrToken::Token(token) => self.token(token, PAREN_EXPR),
                NodeOrToken::Node(child) if child.kind() == BLOCK => self.block(child, Some(true)),
                NodeOrToken::Node(child) => self.node(child),
            }
        }
        if node.token(R_PAREN).is_none() {
            self.indent = self.indent.saturating_sub(INDENT);
        }
    }

    fn token(&mut self, token: Token<'t>, parent: SyntaxKind) {
        match token.kind() {
            WHITESPACE => {}
            LINE_COMMENT | HASH_COMMENT | BLOCK_COMMENT => self.comment(token),
            kind => {
                let sign = kind == MINUS && self.is_before_digit(token);
                // What a sign against a number means depends on what is in front of it.
                self.in_doubt |= sign;
                let gap = match (self.after_comment, self.gap) {
                    (Comment::No, Gap::Auto)
                        if sign && parent == INFIX_EXPR && self.text_before_is_glued() =>
                    {
                        Gap::Keep
                    }
                    _ if self.verbatim > 0 && self.gap == Gap::Auto => Gap::Keep,
                    (_, Gap::Keep) => Gap::Keep,
                    (Comment::Line, Gap::Line { keep }) => Gap::Line { keep },
                    (Comment::Line, Gap::Blank) => Gap::Blank,
                    // What follows a comment on its line goes on in the next.
                    (Comment::Line, _) => Gap::Line { keep: false },
                    (Comment::Block, Gap::Auto) if closes(kind) => Gap::Glue,
                    (Comment::Block, Gap::Auto | Gap::Glue) if !closes(kind) => Gap::Space,
                    (_, Gap::Auto) => self.between(kind, parent),
                    (_, gap) => gap,
                };
                self.place(gap, token);
                self.after_comment = Comment::No;
                self.last = Some(kind);
                self.gap = Gap::Auto;
            }
        }
    }

    fn comment(&mut self, token: Token<'t>) {
        let gap_range = TextRange::new(self.last_end, token.start());
        let between = &self.text[std::ops::Range::<usize>::from(gap_range)];
        let own_line = self.last.is_none() || between.contains('\n');
        let wanted = self.gap;
        let gap = match wanted {
            Gap::Keep => Gap::Keep,
            _ if self.verbatim > 0 => Gap::Keep,
            _ if self.last.is_none() => Gap::Glue,
            Gap::Blank if own_line && self.after_comment == Comment::No => Gap::Blank,
            Gap::Blank | Gap::Line { .. } if own_line => Gap::Line {
                keep: !matches!(wanted, Gap::Line { keep: false })
                    || self.after_comment != Comment::No,
            },
            _ if own_line => Gap::Line { keep: false },
            _ if matches!(self.last, Some(L_PAREN | L_BRACK)) && token.kind() == BLOCK_COMMENT => {
                Gap::Glue
            }
            _ => Gap::Space,
        };
        self.place(gap, token);
        // Whether the comment has the rest of its line to itself.
        let rest = &self.text[usize::from(token.range().end())..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        let ends_line = rest[blank..].starts_with('\n');
        let alone = token.kind() != BLOCK_COMMENT || (own_line && ends_line);
        self.after_comment = if alone { Comment::Line } else { Comment::Block };
        if self.last.is_none() {
            self.last = Some(token.kind());
            self.gap = Gap::Line { keep: true };
            return;
        }
        // A blank line that was asked for may still come, but behind the comment of its line.
        self.gap = match wanted {
            Gap::Blank if own_line => Gap::Line { keep: true },
            gap => gap,
        };
    }
}

fn closes(kind: SyntaxKind) -> bool {
    matches!(kind, COMMA | SEMICOLON | R_PAREN | R_BRACK)
}
