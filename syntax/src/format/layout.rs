//! Computes the white space between the tokens of a tree.

mod gaps;

use super::{Style, width};
use crate::{Node, NodeOrToken, Parse, SyntaxKind, SyntaxKind::*, TextRange, TextSize, Token};

/// Maximum line width of the reading style, in characters.
const WIDTH: usize = 100;
/// Indentation of one level, in spaces.
const INDENT: usize = 2;
/// Maximum indentation, which keeps the output of deeply nested text linear in its size.
const MAX_INDENT: usize = 200;

/// The white space required between two tokens.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Gap {
    /// Nothing.
    Glue,
    /// One space.
    Space,
    /// A line break; with `keep`, an empty line in the source is kept.
    Line { keep: bool },
    /// An empty line.
    Blank,
    /// The white space of the source.
    Keep,
    /// The default for the two tokens, see [`Layout::between`].
    Auto,
}

/// The result of [`lay_out`].
pub(super) struct Output {
    /// Replacements of white space, in order of position.
    pub(super) edits: Vec<(TextRange, String)>,
    /// True if the edits may change the parse, so that the caller has to compare it.
    pub(super) needs_reparse: bool,
}

struct Layout<'t> {
    style: Style,
    text: &'t str,
    newline: &'static str,
    /// Ranges of the syntax errors, in order.
    errors: Vec<TextRange>,
    edits: Vec<(TextRange, String)>,
    needs_reparse: bool,
    indent: usize,
    /// The gap before the next token.
    gap: Gap,
    /// The previous token, which may be a comment.
    last: Option<SyntaxKind>,
    /// The gap after the previous token if that is an operator: the one before it decides.
    after_operator: Option<Gap>,
    last_end: TextSize,
    /// Set if the previous token is a comment.
    after_comment: Comment,
    /// The column after the previous token, in characters.
    column: usize,
    /// Number of enclosing nodes that keep their white space.
    verbatim: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Comment {
    No,
    /// `/* … */`
    Block,
    /// `// …`, or `/* … */` alone on its line.
    Line,
}

pub(super) fn lay_out(text: &str, parse: &Parse, style: Style) -> Output {
    let mut errors: Vec<TextRange> =
        parse.errors.iter().filter(|e| !e.kind.is_compat()).map(|e| e.range).collect();
    errors.sort_by_key(|range| (range.start(), range.end()));
    let mut layout = Layout {
        style,
        text,
        newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        needs_reparse: !parse.errors.is_empty(),
        errors,
        edits: Vec::new(),
        indent: 0,
        gap: Gap::Glue,
        last: None,
        after_operator: None,
        // A byte order mark is white space to the parser and must not be replaced.
        last_end: TextSize::of(text.strip_prefix('\u{FEFF}').map_or("", |_| "\u{FEFF}")),
        after_comment: Comment::No,
        column: 0,
        verbatim: 0,
    };
    layout.file(Node::root(&parse.green));
    Output { edits: layout.edits, needs_reparse: layout.needs_reparse }
}

impl<'t> Layout<'t> {
    fn file(&mut self, root: Node<'t>) {
        let is_opaque = |kind| matches!(kind, ERROR | TIR_ITEM | BANNER_ITEM);
        let mut previous: Option<SyntaxKind> = None;
        for element in root.elements() {
            match element {
                NodeOrToken::Token(token) => {
                    if previous.is_some() && !token.kind().is_trivia() {
                        self.gap = Gap::Keep;
                    }
                    self.token(token, SOURCE_FILE);
                }
                NodeOrToken::Node(item) => {
                    self.gap = match previous {
                        None if self.last.is_none() => Gap::Glue,
                        None => Gap::Line { keep: true },
                        Some(kind) if is_opaque(kind) || is_opaque(item.kind()) => Gap::Keep,
                        Some(VERSION) => Gap::Line { keep: true },
                        // The empty line already precedes the comment.
                        Some(_) if self.after_comment == Comment::Line => Gap::Line { keep: true },
                        Some(_) => Gap::Blank,
                    };
                    previous = Some(item.kind());
                    let is_verbatim = is_opaque(item.kind()) || self.is_broken(item);
                    self.verbatim += u32::from(is_verbatim);
                    if is_verbatim && self.gap == Gap::Blank {
                        self.gap = Gap::Keep;
                    }
                    self.node(item);
                    self.verbatim -= u32::from(is_verbatim);
                    self.gap = match item.kind() {
                        kind if is_opaque(kind) => Gap::Keep,
                        VERSION => Gap::Line { keep: true },
                        _ => Gap::Blank,
                    };
                }
            }
        }
        // End the last line. METADATA, TIR_TEXT and BANNER tokens extend to the end of the text.
        let rest = TextRange::new(self.last_end, TextSize::of(self.text));
        let is_complete = matches!(self.last, None | Some(METADATA | TIR_TEXT | BANNER));
        let after_cr = self.text[..usize::from(self.last_end)].ends_with('\r');
        // `\n` after the only `\r` would make `\r\n` the line break of the next run.
        let changes_newline = after_cr && self.newline == "\n";
        if !is_complete && !changes_newline && self.gap != Gap::Keep {
            self.replace(rest, if after_cr { "\n" } else { self.newline });
        }
    }

    /// Returns true if an item has a syntax error outside the statements of its body, so that none
    /// of it can be formatted.
    fn is_broken(&self, item: Node<'_>) -> bool {
        let errors = self.errors_in(item.range());
        // An error directly after a version belongs to the next item.
        let is_after = |error: &TextRange| error.start() >= item.range().end();
        if errors.is_empty() || item.kind() == VERSION && errors.iter().all(is_after) {
            return false;
        }
        let Some(block) = item.child(BLOCK).filter(|_| item.kind() == FN_DEF) else { return true };
        let inside =
            |error: &TextRange| block.start() < error.start() && error.end() < block.range().end();
        !errors.iter().all(inside) || block.children().any(|child| child.kind() == ERROR)
    }

    /// Returns the syntax errors that touch a range.
    fn errors_in(&self, range: TextRange) -> &[TextRange] {
        let from = self.errors.partition_point(|error| error.end() < range.start());
        let to = self.errors.partition_point(|error| error.start() <= range.end());
        self.errors.get(from..to).unwrap_or_default()
    }

    fn node(&mut self, node: Node<'t>) {
        if self.verbatim > 0 {
            return self.plain(node);
        }
        match node.kind() {
            BLOCK => self.block(node, false),
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

    /// Formats a node that adds no line breaks.
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

    /// Sets the gap before a node where its first token alone does not determine it: `(` follows a
    /// callee directly, but a `=` after a space.
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

    /// Formats a block: `{`, one statement per line, `}`. A block without braces has one statement
    /// per line if `on_lines` is set.
    fn block(&mut self, node: Node<'t>, on_lines: bool) {
        let braced = node.first_token().is_some_and(|token| token.kind() == L_BRACE)
            && node.token(L_BRACE).is_some();
        let on_lines = braced || on_lines;
        // Without braces, line breaks can be significant.
        self.needs_reparse |= !braced;
        let mut is_empty = true;
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) if braced => self.bracket(token, BLOCK),
                NodeOrToken::Token(token) => self.token(token, BLOCK),
                NodeOrToken::Node(child) => {
                    let broken = child.kind() == ERROR || !self.errors_in(child.range()).is_empty();
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
                    is_empty = false;
                    self.gap = match on_lines {
                        _ if broken => Gap::Keep,
                        true => Gap::Line { keep: true },
                        false => Gap::Auto,
                    };
                }
            }
        }
        if braced && node.token(R_BRACE).is_none() {
            self.indent = self.indent.saturating_sub(INDENT);
            if !is_empty {
                self.gap = Gap::Keep;
            }
        }
        if on_lines && !braced {
            self.gap = Gap::Auto;
        }
    }

    /// Formats `{ A => a, B => b }`, one element per line.
    fn braced_list(&mut self, node: Node<'t>) {
        let kind = node.kind();
        let is_empty = node.children().next().is_none();
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) if token.kind() == R_BRACE => {
                    self.indent = self.indent.saturating_sub(INDENT);
                    self.gap = Gap::Line { keep: false };
                    // For a type without constructors TVM prints an indented empty line.
                    let printed = is_empty && self.style == Style::Tvm && kind == CONSTRUCTOR_LIST;
                    if printed && self.after_comment == Comment::No {
                        self.gap = Gap::Keep;
                        let gap = TextRange::new(self.last_end, token.start());
                        let pad = " ".repeat(self.indent + INDENT);
                        let inner = self.indent_text();
                        self.replace(gap, &format!("{0}{pad}{0}{inner}", self.newline));
                    }
                    self.token(token, kind);
                }
                NodeOrToken::Token(token) if token.kind() == COMMA => {
                    self.gap = Gap::Glue;
                    self.token(token, kind);
                    self.gap = Gap::Line { keep: true };
                }
                NodeOrToken::Token(token) => self.bracket(token, kind),
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

    /// Formats parameters on one line, or one per line where the reading style has no space.
    fn params(&mut self, node: Node<'t>) {
        let is_too_long = self.style == Style::Reading
            && node.children().nth(1).is_some()
            && self.column + width::flat(node, 2 * WIDTH) > WIDTH;
        if is_too_long { self.wrapped_list(node, true) } else { self.plain(node) }
    }

    /// Breaks the lines of a bracketed list: one element per line, or as many as fit.
    fn wrapped_list(&mut self, node: Node<'t>, one_per_line: bool) {
        let kind = node.kind();
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) => {
                    self.bracket(token, kind);
                    if token.kind() == COMMA {
                        self.gap = if one_per_line { Gap::Line { keep: false } } else { Gap::Auto };
                    }
                }
                NodeOrToken::Node(child) => {
                    if self.gap == Gap::Auto {
                        // Two more for the comma and the closing bracket.
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

    /// Formats an expression, breaking its argument list if it does not fit on the line.
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
            return self.wrapped_list(node, false);
        }
        for element in node.elements() {
            match element {
                NodeOrToken::Node(child) => {
                    self.before_child(CALL_EXPR, child.kind());
                    let has_args = child.kind() == ARG_LIST && child.children().next().is_some();
                    if has_args { self.wrapped_list(child, false) } else { self.node(child) }
                }
                NodeOrToken::Token(token) => self.token(token, CALL_EXPR),
            }
        }
    }

    /// Formats a statement or the tail expression of a block.
    fn statement(&mut self, node: Node<'t>) {
        if !node.kind().is_stmt() {
            return self.wrapped(node);
        }
        for element in node.elements() {
            match element {
                NodeOrToken::Node(child) if child.kind() == BLOCK => {
                    // TVM does not indent the inner bindings of `let %x = let %y = e; %y;`.
                    self.gap = Gap::Space;
                    self.block(child, node.kind() == LET_STMT);
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

    /// Formats `(e)`; bindings in the parentheses are on lines of their own.
    fn paren(&mut self, node: Node<'t>) {
        if node.child(BLOCK).is_none() {
            return self.plain(node);
        }
        for element in node.elements() {
            match element {
                NodeOrToken::Token(token) => self.bracket(token, PAREN_EXPR),
                NodeOrToken::Node(child) if child.kind() == BLOCK => self.block(child, true),
                NodeOrToken::Node(child) => self.node(child),
            }
        }
        if node.token(R_PAREN).is_none() {
            self.indent = self.indent.saturating_sub(INDENT);
        }
    }

    /// Formats a token of a node whose brackets are around lines that are indented.
    fn bracket(&mut self, token: Token<'t>, parent: SyntaxKind) {
        match token.kind() {
            L_PAREN | L_BRACE => {
                self.token(token, parent);
                self.indent += INDENT;
                self.gap = Gap::Line { keep: false };
            }
            R_PAREN | R_BRACE => {
                self.indent = self.indent.saturating_sub(INDENT);
                self.gap = Gap::Line { keep: false };
                self.token(token, parent);
            }
            _ => self.token(token, parent),
        }
    }

    fn token(&mut self, token: Token<'t>, parent: SyntaxKind) {
        match token.kind() {
            WHITESPACE => {}
            LINE_COMMENT | HASH_COMMENT | BLOCK_COMMENT => self.comment(token),
            kind => {
                let sign = kind == MINUS && self.is_before_digit(token);
                // `-1` is a literal or part of a subtraction, depending on the token before it.
                self.needs_reparse |= sign;
                // `%x-1` and `%x - 1` are the same, and `%x -1` is another text for TVM.
                let is_tight = sign && parent == INFIX_EXPR && self.text_before_is_glued();
                let after_operator = self.after_operator.take();
                let gap = match (self.after_comment, self.gap) {
                    (Comment::No, Gap::Auto) if is_tight => Gap::Keep,
                    _ if self.verbatim > 0 && self.gap == Gap::Auto => Gap::Keep,
                    (_, Gap::Keep) => Gap::Keep,
                    (Comment::Line, Gap::Line { keep }) => Gap::Line { keep },
                    (Comment::Line, Gap::Blank) => Gap::Blank,
                    // The comment extends to the end of its line.
                    (Comment::Line, _) => Gap::Line { keep: false },
                    (Comment::No, Gap::Auto) if let Some(gap) = after_operator => gap,
                    (Comment::Block, Gap::Auto) if is_closing(kind) => Gap::Glue,
                    (Comment::Block, Gap::Auto | Gap::Glue) if !is_closing(kind) => Gap::Space,
                    (_, Gap::Auto) => self.between(kind, parent),
                    (_, gap) => gap,
                };
                self.place(gap, token);
                if parent == INFIX_EXPR {
                    self.after_operator = Some(if is_tight { Gap::Keep } else { Gap::Space });
                }
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
        let requested = self.gap;
        let gap = match requested {
            Gap::Keep => Gap::Keep,
            _ if self.verbatim > 0 => Gap::Keep,
            _ if self.last.is_none() => Gap::Glue,
            Gap::Blank if own_line && self.after_comment == Comment::No => Gap::Blank,
            Gap::Blank | Gap::Line { .. } if own_line => Gap::Line {
                keep: !matches!(requested, Gap::Line { keep: false })
                    || self.after_comment != Comment::No,
            },
            _ if own_line => Gap::Line { keep: false },
            _ if matches!(self.last, Some(L_PAREN | L_BRACK)) && token.kind() == BLOCK_COMMENT => {
                Gap::Glue
            }
            _ => Gap::Space,
        };
        self.place(gap, token);
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
        // A blank line was placed before this comment; the source decides on another one after it.
        self.gap = match requested {
            Gap::Blank if own_line => Gap::Line { keep: true },
            gap => gap,
        };
    }
}

fn is_closing(kind: SyntaxKind) -> bool {
    matches!(kind, COMMA | SEMICOLON | R_PAREN | R_BRACK)
}
