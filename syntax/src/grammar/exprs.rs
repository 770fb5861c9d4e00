//! Expressions.

use super::*;
use crate::parser::CompletedNode;

/// The construct after the `.` of a projection, for messages.
const TUPLE_INDEX: &str = "a tuple index, such as `.0`";

/// Parses an expression inside another construct, or reports that it is missing.
pub(super) fn expr(p: &mut Parser<'_>) {
    let first = p.position();
    match opt_expr(p) {
        Some(expr) => operand(p, first, expr),
        None => p.expected("an expression"),
    }
}

/// Records a `match` or block operand: TVM accepts those only as whole expressions.
/// `first` is its first token.
fn operand(p: &mut Parser<'_>, first: usize, expr: CompletedNode) {
    if matches!(expr.kind(), MATCH_EXPR | BLOCK_EXPR) {
        let range = p.range_of(first).cover(p.last_range());
        p.compat(range, SyntaxErrorKind::BareOperand);
    }
}

/// Parses an operator expression or anything that binds tighter.
pub(super) fn opt_expr(p: &mut Parser<'_>) -> Option<CompletedNode> {
    infix(p, 0)
}

/// Returns the precedence of a binary operator, 0 for other tokens, and [`mistakes::FOREIGN`] for tokens that follow
/// an operand in other languages alone. `&&` and `||` are the manual's, and
/// `:=` is that of TVM 0.6 and 0.7.
fn binding_power(kind: SyntaxKind) -> u8 {
    match kind {
        T!["*"] | T!["/"] => 12,
        T!["+"] | T!["-"] => 10,
        T!["<"] | T!["<="] | T![">"] | T![">="] => 8,
        T!["=="] | T!["!="] => 7,
        T!["&&"] => 5,
        T!["||"] => 4,
        T![":="] => 1,
        PERCENT | LOCAL | GRAPH | GLOBAL | AT | UNKNOWN | QUESTION | IF_KW | IDENT | L_BRACK
        | L_BRACE | FAT_ARROW | THIN_ARROW | INT | FLOAT | COLON | CARET => mistakes::FOREIGN,
        _ => 0,
    }
}

/// Parses `a op b op c`; all operators are left-associative.
pub(super) fn infix(p: &mut Parser<'_>, min: u8) -> Option<CompletedNode> {
    let first = p.position();
    let mut left = postfix(p)?;
    let mut chain = 0;
    loop {
        let operator = p.current();
        let power = binding_power(operator);
        if power == 0 || power <= min {
            return Some(left);
        }
        if power == mistakes::FOREIGN {
            match mistakes::operator(p, left, first, min) {
                Some(expr) if chain < p.limits().chain => {
                    chain += 1;
                    left = expr;
                    continue;
                }
                Some(expr) => return Some(expr),
                None => return Some(left),
            }
        }
        operand(p, first, left);
        if operator == T!["-"] && p.nth(1) == INT && p.is_glued(1) && !p.is_glued(0) {
            // `%a -1`: TVM's lexer makes a variable and a negative number of it.
            p.compat(p.range(), SyntaxErrorKind::GluedMinus);
        }
        match operator {
            T![":="] => p.compat(p.range(), SyntaxErrorKind::PrintedWrite),
            _ if power < 7 => p.compat(p.range(), SyntaxErrorKind::LogicalOperator),
            _ => {}
        }
        chain += 1;
        if chain > p.limits().chain {
            p.too_deep();
            return Some(left);
        }
        let infix_expr = left.precede(p);
        p.bump();
        let right = p.position();
        let mut kind = if operator == T![":="] { REF_WRITE_EXPR } else { INFIX_EXPR };
        match infix(p, power) {
            Some(expr) => operand(p, right, expr),
            None => match mistakes::second_operator(p, first) {
                Some(read) => kind = read,
                None => p.expected("an expression"),
            },
        }
        left = infix_expr.complete(p, kind);
    }
}

/// Parses a branch without braces.
pub(super) fn infix_in_branch(p: &mut Parser<'_>) -> Option<CompletedNode> {
    p.nested(|p| infix(p, 0)).flatten()
}

/// Parses calls and projections: `f(%x)(%y)`, `%t.0`. Each of them nests the expression before it
/// one level deeper, so the limit applies to the chain and the nesting inside it together.
pub(super) fn postfix(p: &mut Parser<'_>) -> Option<CompletedNode> {
    p.measured(postfix_measured)
}

/// Returns the expression and the number of calls and projections in it.
fn postfix_measured(p: &mut Parser<'_>) -> (Option<CompletedNode>, u32) {
    let first = p.position();
    let Some(mut expr) = opt_atom(p) else { return (None, 0) };
    let mut chain = 0;
    loop {
        if matches!(p.current(), T!["("] | T!["."]) {
            operand(p, first, expr);
        }
        let next = match p.current() {
            T!["("] => {
                let call = expr.precede(p);
                arg_list(p);
                call.complete(p, CALL_EXPR)
            }
            T!["."] if p.nth(1) == INT => {
                if expr.kind() == PROJ_EXPR || expr.kind() == CALL_EXPR {
                    p.compat(p.range(), SyntaxErrorKind::ChainedProjection);
                }
                let projection = expr.precede(p);
                p.bump();
                // `%t.1i8`, `%t.99999999999`
                if p.text(0).parse::<u32>().is_err() {
                    p.expected(TUPLE_INDEX);
                }
                p.bump();
                projection.complete(p, PROJ_EXPR)
            }
            T!["."] => {
                let projection = expr.precede(p);
                p.bump();
                p.expected(TUPLE_INDEX);
                projection.complete(p, PROJ_EXPR)
            }
            T!["^"] if !mistakes::is_xor(p) => {
                p.compat(p.range(), SyntaxErrorKind::PrintedRead);
                let read = expr.precede(p);
                p.bump();
                read.complete(p, REF_READ_EXPR)
            }
            T!["<"] if p.is_glued(0) && at_type_args(p) => {
                p.compat(p.range(), SyntaxErrorKind::TypeArguments);
                let call = expr.precede(p);
                p.node(TYPE_ARG_LIST, |p| {
                    list(p, T!["<"], T![">"], |p| p.advances(types::type_arg))
                });
                if p.at(T!["("]) {
                    arg_list(p);
                }
                call.complete(p, CALL_EXPR)
            }
            _ => return (Some(expr), chain),
        };
        chain += 1;
        if p.levels_inside() + chain > 2 * p.limits().depth {
            p.too_deep();
            return (Some(next), chain);
        }
        expr = next;
    }
}

/// Returns true if `<` opens type arguments and is not an operator: a type with arguments follows, or
/// only tokens of types, up to a `>` directly before `(`.
fn at_type_args(p: &mut Parser<'_>) -> bool {
    // No expression begins with `name[`.
    if p.nth(1) == TENSOR_TEXT || p.nth(1) == IDENT && p.nth(2) == T!["["] {
        return true;
    }
    let mut depth = 0;
    for n in 1..256 {
        match p.nth(n) {
            L_PAREN | L_BRACK => depth += 1,
            R_PAREN | R_BRACK => depth -= 1,
            GT if depth <= 0 => return p.nth(n + 1) == T!["("] && p.is_glued(n + 1),
            IDENT | INT | COMMA | QUESTION | TENSOR_TEXT | FN_KW | THIN_ARROW | META_REF => {}
            _ => return false,
        }
    }
    false
}

/// `(%a, %b, axis=1)`
pub(super) fn arg_list(p: &mut Parser<'_>) {
    let args = p.start();
    if p.nested(|p| list(p, T!["("], T![")"], arg)).is_none() {
        p.eat(T![")"]);
    }
    args.complete(p, ARG_LIST);
}

fn arg(p: &mut Parser<'_>) -> bool {
    if attrs::at_attr(p) {
        attrs::attr(p);
        return true;
    }
    if p.at(IDENT) && p.nth(1) == T![":"] && p.nth(2) != T![":"] {
        mistakes::attr_with_colon(p);
        return true;
    }
    if matches!(p.current(), T!["["] | QUOTED_NAME) {
        return attrs::value_without_name(p);
    }
    chain(p)
}

/// Parses an argument or the inside of parentheses, where bindings without braces may precede the
/// expression: `f(let %y = 1; %y)`.
pub(super) fn chain(p: &mut Parser<'_>) -> bool {
    // Fast path: most arguments are variables alone.
    let variable = match p.current() {
        LOCAL => Some(LOCAL_REF),
        GRAPH => Some(GRAPH_REF),
        _ => None,
    };
    if let Some(variable) = variable
        && matches!(p.nth(1), T![","] | T![")"])
    {
        p.leaf(variable);
        return true;
    }
    let at_binding =
        matches!(p.current(), LET_KW | FREE_VAR_KW) || (p.at(GRAPH) && p.nth(1) == T!["="]);
    if at_binding {
        p.node(BLOCK, |p| p.nested(stmts::statements));
        return true;
    }
    let Some(expr) = opt_expr(p) else {
        p.expected("an expression");
        return false;
    };
    // `(%a; %b)`. A `;` at the end of a line indicates a missing closing bracket instead.
    let is_sequence =
        p.at(T![";"]) && !p.on_new_line(1) && p.nth(1) != T![";"] && !mistakes::at_arm(p, 1);
    if is_sequence || stmts::at_old_sequence(p) {
        let stmt = expr.precede(p);
        stmts::semicolon(p);
        let block = stmt.complete(p, EXPR_STMT).precede(p);
        p.nested(stmts::statements);
        block.complete(p, BLOCK);
    }
    true
}

/// Parses an atom: a name, a literal, brackets, `if`, `match` or `fn`.
pub(super) fn opt_atom(p: &mut Parser<'_>) -> Option<CompletedNode> {
    let kind = p.current();
    match kind {
        INT | FLOAT | TRUE_KW | FALSE_KW => Some(literal(p)),
        LOCAL => Some(p.leaf(LOCAL_REF)),
        GRAPH => Some(p.leaf(GRAPH_REF)),
        GLOBAL => Some(p.leaf(GLOBAL_REF)),
        META_REF => Some(p.leaf(META_EXPR)),
        STRING if p.nth(1) == T!["("] => mistakes::operation(p).or_else(|| Some(p.leaf(LITERAL))),
        STRING => Some(p.leaf(LITERAL)),
        IDENT if p.nth(1) == T!["("] && manual::at_constant(p) && p.text(0) == "Constant" => {
            Some(manual::constant(p))
        }
        // `fun (%x: int32) { … }`
        IDENT if p.nth(1) == T!["("] && p.nth(2) == LOCAL && p.nth(3) == T![":"] => {
            p.expected(T!["fn"]);
            Some(function(p))
        }
        IDENT => Some(name_ref(p)),
        T!["-"] => match negative(p) {
            Some(number) => Some(number),
            None => mistakes::prefix(p),
        },
        T!["!"] | T!["+"] | T!["*"] | T!["["] | T!["."] => mistakes::prefix(p),
        T!["("] => Some(paren(p)),
        T!["{"] => Some(p.node(BLOCK_EXPR, stmts::block)),
        T!["if"] => Some(choices::if_expr(p)),
        T!["match"] => Some(choices::match_expr(p)),
        T!["fn"] => Some(function(p)),
        T!["ref"] => Some(reference(p, REF_EXPR, 1)),
        T!["ref_read"] => Some(reference(p, REF_READ_EXPR, 1)),
        T!["ref_write"] => Some(reference(p, REF_WRITE_EXPR, 2)),
        // The expression, or some of those of a list.
        CUT => Some(p.leaf(ERROR)),
        // A tensor type or an unknown character in place of a value.
        TENSOR_TEXT | UNKNOWN | PERCENT | AT if !p.on_new_line(0) => {
            let types = if kind == TENSOR_TEXT { printed::type_arguments(p) } else { None };
            if let Some(expr) = types.or_else(|| mistakes::prefix(p)) {
                return Some(expr);
            }
            p.expected("an expression");
            Some(p.leaf(ERROR))
        }
        _ => None,
    }
}

/// `fn (%x) { e }`
fn function(p: &mut Parser<'_>) -> CompletedNode {
    p.node(FN_EXPR, |p| {
        p.bump();
        p.nested(params::signature_and_body);
    })
}

/// `nn.conv2d`. TVM allows white space around the dots.
pub(super) fn name_ref(p: &mut Parser<'_>) -> CompletedNode {
    if p.nth(1) != T!["."] || p.nth(2) != IDENT {
        return p.leaf(NAME_REF);
    }
    let name = p.start();
    p.bump();
    while p.at(T!["."]) && p.nth(1) == IDENT {
        p.bump_tokens(2);
    }
    name.complete(p, NAME_REF)
}

/// `1`, `1.5f16`, `True`
pub(super) fn literal(p: &mut Parser<'_>) -> CompletedNode {
    number(p, |p| p.leaf(LITERAL))
}

/// `-1`, `--1`, `-inff`: signs directly before a number are part of the literal.
pub(super) fn negative(p: &mut Parser<'_>) -> Option<CompletedNode> {
    let mut signs = 1;
    while signs < 16 && p.nth(signs) == T!["-"] && p.is_glued(signs) {
        signs += 1;
    }
    if !matches!(p.nth(signs), INT | FLOAT) {
        return None;
    }
    let literal = p.start();
    if !p.is_glued(signs) {
        p.expected("a number directly after the sign");
    }
    p.bump_tokens(signs);
    number(p, Parser::bump);
    Some(literal.complete(p, LITERAL))
}

/// Checks a number, which `consume` consumes.
fn number<'t, R>(p: &mut Parser<'t>, consume: impl FnOnce(&mut Parser<'t>) -> R) -> R {
    let (range, text) = (p.range(), p.text(0));
    match p.current() {
        FLOAT if !text.contains('f') => p.compat(range, SyntaxErrorKind::BareFloat),
        FLOAT if text.starts_with("nan") || text.starts_with("inff") && text != "inff" => {
            p.compat(range, SyntaxErrorKind::LiteralSuffix);
        }
        INT if text.ends_with("i8") => p.compat(range, SyntaxErrorKind::LiteralSuffix),
        _ => {}
    }
    let is_number = matches!(p.current(), INT | FLOAT);
    let consumed = consume(p);
    if is_number && p.is_glued(0) && matches!(p.current(), T!["+"] | T!["-"] | T!["."]) {
        p.compat(range.cover(p.range()), SyntaxErrorKind::GluedNumber);
    }
    consumed
}

/// `()`, `(e)`, `(a, b)`, `(a,)`
fn paren(p: &mut Parser<'_>) -> CompletedNode {
    let marker = p.start();
    let open = p.position();
    p.bump();
    if p.eat(T![")"]) {
        return marker.complete(p, TUPLE_EXPR);
    }
    if matches!(p.current(), TENSOR_TEXT | IDENT | L_PAREN) && printed::types_of_tuple(p) {
        return marker.complete(p, TYPE_ARG_LIST);
    }
    let mut kind = PAREN_EXPR;
    let fits = p.nested(|p| {
        let mut before = p.position();
        while !p.at(T![")"]) && !p.at_end() {
            if stmts::at_statement_line(p) && kind == TUPLE_EXPR || items::at_item_line(p) {
                break;
            }
            if !chain(p) && p.position() == before {
                if ends_list(p.current(), T![")"]) {
                    break;
                }
                p.bump_unexpected();
            }
            if p.eat(T![","]) {
                kind = TUPLE_EXPR;
            } else if p.at(T![")"]) {
                break;
            } else if mistakes::typed_parens(p) {
                kind = TUPLE_EXPR;
                if !p.eat(T![","]) {
                    break;
                }
            } else if ends_list(p.current(), T![")"]) || p.position() == before {
                break;
            } else {
                p.expected("`,`");
                if stmts::at_statement_line(p) {
                    break;
                }
                kind = TUPLE_EXPR;
            }
            before = p.position();
        }
    });
    if fits.is_none() {
        p.eat(T![")"]);
    } else {
        p.expect_close(T![")"], open);
    }
    marker.complete(p, kind)
}

/// `ref(e)`, `ref_read(r)`, `ref_write(r, e)`
fn reference(p: &mut Parser<'_>, kind: SyntaxKind, arity: usize) -> CompletedNode {
    let marker = p.start();
    p.bump();
    if p.at(T!["("]) {
        let open = p.position();
        p.bump();
        p.nested(|p| {
            for i in 0..arity {
                if i > 0 && !p.expect(T![","]) {
                    break;
                }
                if !chain(p) {
                    break;
                }
            }
        });
        p.expect_close(T![")"], open);
    } else {
        p.expected("`(`");
    }
    marker.complete(p, kind)
}
