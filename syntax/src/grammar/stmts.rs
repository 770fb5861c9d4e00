//! Statements. A chain of bindings is a flat list of any length: nesting each binding in the one
//! before it, as `let %a = 1; let %b = 2; %b` means, would exceed any limit of depth.

use super::*;

/// Parses `{ … }`, the body of a function, a branch or an arm.
pub(super) fn block(p: &mut Parser<'_>) {
    let block = p.start();
    let open = p.position();
    p.bump();
    block_rest(p, block, Some(open));
}

/// Parses a body whose opening brace is missing, up to the closing one.
pub(super) fn block_without_brace(p: &mut Parser<'_>) {
    let block = p.start();
    block_rest(p, block, None);
}

fn block_rest(p: &mut Parser<'_>, block: crate::parser::Marker, open: Option<usize>) {
    // The `{` ends recovery from an error in the header.
    p.recover();
    let style = if p.on_new_line(0) { Style::Lines } else { Style::OneLine };
    let first = p.position();
    let fits = p.nested(|p| {
        statements_until(p, usize::MAX, style);
        if p.at(T!["}"]) && p.position() == first {
            p.expected("an expression");
        }
    });
    match open {
        Some(open) => p.expect_close(T!["}"], open),
        None => p.eat(T!["}"]),
    };
    if fits.is_some() {
        p.recover();
    }
    block.complete(p, BLOCK);
}

/// Parses statements of a block, up to token number `stop`.
pub(super) fn block_part(p: &mut Parser<'_>, stop: usize, on_lines: bool) {
    statements_until(p, stop, if on_lines { Style::Lines } else { Style::OneLine });
}

/// The layout of a block. Recovery uses it to tell a closing brace from a stray one.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// The first statement is on a line of its own; so is the closing brace.
    Lines,
    /// `{ %x }`
    OneLine,
    /// Without braces: `(let %x = 1; %x)`, and in arms and arguments, up to the `,`.
    Bare,
}

/// Parses statements without braces, up to the closing bracket around them.
pub(super) fn statements(p: &mut Parser<'_>) {
    statements_until(p, usize::MAX, Style::Bare);
}

/// Parses statements up to token number `stop` or to the end of the block, including the tail
/// expression.
fn statements_until(p: &mut Parser<'_>, stop: usize, style: Style) {
    let mut at_end = p.position() < stop && at_block_end(p, style);
    while p.position() < stop && !at_end {
        let before = p.position();
        if foreign::at_line_inside(p, style != Style::Bare, false) {
            items::banner(p, p.count_on_line(0));
            at_end = p.position() < stop && at_block_end(p, style);
            continue;
        }
        let last = statement(p, style);
        while last == BlockEnd::Tail && foreign::at_line_inside(p, style != Style::Bare, true) {
            items::banner(p, p.count_on_line(0));
        }
        match last {
            BlockEnd::Tail if at_block_end(p, style) => return,
            BlockEnd::Tail => {
                end_of_statement(p, style);
                at_end = p.position() < stop && at_block_end(p, style);
            }
            BlockEnd::Open => {
                at_end = at_block_end(p, style);
                if at_end {
                    // A chain of bindings requires a tail expression.
                    p.expected("an expression");
                }
            }
            BlockEnd::Missing => return,
        }
        if p.position() == before {
            return;
        }
    }
}

fn at_block_end(p: &mut Parser<'_>, style: Style) -> bool {
    match p.current() {
        T!["}"] if style == Style::Lines && !p.on_new_line(0) => {
            // `%2 = reshape}%1);` has a stray brace; `{⏎ %x }` ends with its own.
            !p.is_recovering()
                && (p.on_new_line(1)
                    || matches!(p.nth(1), T![";"] | T![","] | T![")"] | T!["}"] | T!["else"]))
        }
        T!["}"] => true,
        T![")"] | T!["]"] | T![","] => style == Style::Bare,
        END_OF_FILE => true,
        _ => items::at_item_line(p) && !foreign::at_line_inside(p, style != Style::Bare, false),
    }
}

/// The end of a block as seen from one of its statements.
#[derive(PartialEq)]
enum BlockEnd {
    /// A tail expression.
    Tail,
    /// A binding, which requires an expression after it.
    Open,
    /// A binding at the end of the block. The missing expression has been reported; the brace is
    /// not stray although an error precedes it.
    Missing,
}

fn statement(p: &mut Parser<'_>, style: Style) -> BlockEnd {
    match p.current() {
        T!["let"] => let_stmt(p, style),
        // `%x = e;` is not a graph binding, but can only be meant as one.
        GRAPH | LOCAL if p.nth(1) == T!["="] => graph_stmt(p, style),
        IDENT if p.nth(1) == LOCAL && matches!(p.nth(2), EQ | COLON) => let_stmt(p, style),
        T!["free_var"] => free_var(p, style),
        _ => {
            let Some(expr) = exprs::opt_expr(p) else {
                let kind = p.current();
                p.error(SyntaxErrorKind::Unexpected(kind));
                return BlockEnd::Tail;
            };
            if p.at(T![";"]) && !p.is_recovering() {
                let stmt = expr.precede(p);
                semicolon(p);
                stmt.complete(p, EXPR_STMT);
                return BlockEnd::Open;
            }
            BlockEnd::Tail
        }
    }
}

/// Returns true at the sequence of TVM 0.6, with an expression on the same line: `%a ;; %b`.
pub(super) fn at_old_sequence(p: &mut Parser<'_>) -> bool {
    p.at(T![";"])
        && p.nth(1) == T![";"]
        && p.is_glued(1)
        && !p.on_new_line(2)
        && !matches!(p.nth(2), T![";"] | T!["}"] | T![")"] | END_OF_FILE)
}

/// Consumes the `;` between expressions.
pub(super) fn semicolon(p: &mut Parser<'_>) {
    let is_old = at_old_sequence(p);
    let first = p.position();
    p.bump();
    if is_old {
        p.bump();
        let range = p.range_of(first).cover(p.last_range());
        p.compat(range, SyntaxErrorKind::DoubleSemicolon);
    }
}

/// `let %x: T = e;`, `lett %x = e;`, `var %x = e;`
fn let_stmt(p: &mut Parser<'_>, style: Style) -> BlockEnd {
    let stmt = p.start();
    if !p.eat(T!["let"]) && !mistakes::type_first(p) {
        mistakes::respell(p, 1, "let");
    }
    let last = binding(p, style);
    stmt.complete(p, LET_STMT);
    last
}

/// Parses the part of a binding after `let`.
fn binding(p: &mut Parser<'_>, style: Style) -> BlockEnd {
    if p.at(T!["("]) && mistakes::destructuring(p) {
        return end_of_statement(p, style);
    }
    local_name(p);
    let named = p.position();
    types::opt_ascription(p);
    if p.at(T![","]) && mistakes::destructuring(p) {
        return end_of_statement(p, style);
    }
    if p.eat(T!["="]) || mistakes::binding_sign(p) {
        if p.at(T!["let"]) {
            nested_let(p);
        } else {
            exprs::expr(p);
            if p.at(T![":"]) {
                mistakes::ascribed_value(p, named);
            }
        }
    } else {
        p.expected(T!["="]);
        if at_value(p) {
            exprs::expr(p);
            if p.at(T![";"]) {
                p.recover();
            }
        }
    }
    end_of_statement(p, style)
}

/// Returns true at the value of a binding without `=`: `let %x nn.relu(%y);`. False at what may be a
/// type, where only the `:` is missing: `let %x (int32, int32) = %y;`.
fn at_value(p: &mut Parser<'_>) -> bool {
    let at = usize::from(p.at(T!["("]));
    !p.on_new_line(0)
        && match p.nth(at) {
            LOCAL | GRAPH => !matches!(p.nth(at + 1), EQ | COLON),
            IDENT => p.nth(at + 1) == T!["("],
            T!["fn"] => p.nth(at + 1) == T!["("] && p.nth(at + 2) == LOCAL,
            GLOBAL | INT | FLOAT | TRUE_KW | FALSE_KW | IF_KW | MATCH_KW => true,
            _ => false,
        }
}

/// `let %x = let %y = e; %y;`: TVM prints nested bindings without brackets.
fn nested_let(p: &mut Parser<'_>) {
    p.compat(p.range(), SyntaxErrorKind::NestedLet);
    let block = p.start();
    p.nested(|p| {
        loop {
            match p.current() {
                T!["let"] => {
                    let_stmt(p, Style::Bare);
                }
                GRAPH if p.nth(1) == T!["="] => {
                    graph_stmt(p, Style::Bare);
                }
                _ => break,
            }
        }
        exprs::expr(p);
    });
    block.complete(p, BLOCK);
}

/// `%0 = e;`
fn graph_stmt(p: &mut Parser<'_>, style: Style) -> BlockEnd {
    let stmt = p.start();
    p.leaf(NAME);
    p.bump();
    exprs::expr(p);
    let last = end_of_line(p, style);
    stmt.complete(p, GRAPH_STMT);
    last
}

/// Parses the `;` of a graph binding, which the manual omits, or of a free variable, which TVM 0.6 prints without,
/// at the end of a line.
fn end_of_line(p: &mut Parser<'_>, style: Style) -> BlockEnd {
    if !p.at(T![";"])
        && !p.is_recovering()
        && (p.on_new_line(0) || (p.at(T!["}"]) && at_block_end(p, style)))
        && !p.at_end()
    {
        let end = p.last_range().end();
        p.compat(TextRange::new(end, end), SyntaxErrorKind::MissingSemicolon);
        return BlockEnd::Open;
    }
    end_of_statement(p, style)
}

/// `free_var %x: T;`
fn free_var(p: &mut Parser<'_>, style: Style) -> BlockEnd {
    let stmt = p.start();
    p.bump();
    local_name(p);
    types::opt_ascription(p);
    let last = end_of_line(p, style);
    stmt.complete(p, FREE_VAR_STMT);
    last
}

/// Parses the `;` of a statement. If the statement is broken, skips the rest of it: up to a `;` at
/// the end of a line, to the next line that begins a statement, or to the end of the block.
fn end_of_statement(p: &mut Parser<'_>, style: Style) -> BlockEnd {
    if !p.is_recovering() {
        if p.eat(T![";"]) {
            return BlockEnd::Open;
        }
        if at_block_end(p, style) {
            p.expected("`;` and an expression after it");
            return BlockEnd::Missing;
        }
        if mistakes::instead_of_semicolon(p) {
            return BlockEnd::Open;
        }
        p.expected(T![";"]);
    }
    let (error, from) = (p.start(), p.position());
    let mut open = 0u32;
    loop {
        if p.at_end() || at_statement_line(p) || items::at_item_line(p) {
            break;
        }
        let at_line = open == 0 && p.on_new_line(0);
        match p.current() {
            LOCAL | GRAPH | GLOBAL | IDENT | IF_KW | MATCH_KW | FN_KW if at_line => break,
            L_PAREN | L_BRACK | L_BRACE => open += 1,
            R_PAREN | R_BRACK | R_BRACE if open > 0 => open -= 1,
            // An unmatched closing bracket is part of the broken statement, unless it ends the
            // block.
            R_BRACE if at_block_end(p, style) => break,
            R_PAREN | R_BRACK if style == Style::Bare => break,
            COMMA if style == Style::Bare && open == 0 => break,
            SEMICOLON if p.on_new_line(1) => break,
            SEMICOLON
                if p.nth(1) == LET_KW || (matches!(p.nth(1), GRAPH | LOCAL) && p.nth(2) == EQ) =>
            {
                break;
            }
            _ => {}
        }
        p.bump();
    }
    if p.position() > from {
        error.complete(p, ERROR);
    } else {
        error.abandon(p);
    }
    p.eat(T![";"]);
    p.recover();
    BlockEnd::Open
}

/// Returns true at a line that begins with a binding, where an unfinished expression ends.
pub(super) fn at_statement_line(p: &mut Parser<'_>) -> bool {
    if !p.on_new_line(0) {
        return false;
    }
    match p.current() {
        T!["let"] | T!["free_var"] => true,
        GRAPH | LOCAL => p.nth(1) == T!["="],
        IDENT => p.nth(1) == LOCAL && matches!(p.nth(2), EQ | COLON),
        _ => false,
    }
}
