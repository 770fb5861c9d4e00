//! Expressions.

use super::*;
use crate::{kind::KindSet, parser::Completed};

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
fn operand(p: &mut Parser<'_>, first: usize, expr: Completed) {
    if matches!(expr.kind(), MATCH_EXPR | BLOCK_EXPR) {
        let range = p.range_of(first).cover(p.last_range());
        p.compat(range, SyntaxErrorKind::BareOperand);
    }
}

/// Parses an operator expression or anything that binds tighter.
pub(super) fn opt_expr(p: &mut Parser<'_>) -> Option<Completed> {
    infix(p, 0)
}

/// Returns the precedence of a binary operator, 0 for other tokens. `&&` and `||` are the manual's.
fn binding_power(kind: SyntaxKind) -> u8 {
    match kind {
        T!["*"] | T!["/"] => 12,
        T!["+"] | T!["-"] => 10,
        T!["<"] | T!["<="] | T![">"] | T![">="] => 8,
        T!["=="] | T!["!="] => 7,
        T!["&&"] => 5,
        T!["||"] => 4,
        _ => 0,
    }
}

/// Parses `a op b op c`; all operators are left-associative.
fn infix(p: &mut Parser<'_>, min: u8) -> Option<Completed> {
    let first = p.position();
    let mut left = postfix(p)?;
    let mut chain = 0;
    loop {
        let operator = p.current();
        let power = binding_power(operator);
        if power == 0 || power <= min {
            return Some(left);
        }
        operand(p, first, left);
        if operator == T!["-"] && p.nth(1) == INT && p.is_glued(1) && !p.is_glued(0) {
            // `%a -1`: TVM's lexer makes a variable and a negative number of it.
            p.compat(p.range(), SyntaxErrorKind::GluedMinus);
        }
        if power < 7 {
            p.compat(p.range(), SyntaxErrorKind::LogicalOperator);
        }
        chain += 1;
        if chain > p.limits().chain {
            p.too_deep();
            return Some(left);
        }
        let infix_expr = left.precede(p);
        p.bump();
        let right = p.position();
        match infix(p, power) {
            Some(expr) => operand(p, right, expr),
            None => p.expected("an expression"),
        }
        left = infix_expr.complete(p, INFIX_EXPR);
    }
}

/// Parses calls and projections: `f(%x)(%y)`, `%t.0`. Each of them nests the expression before it
/// one level deeper, so the limit applies to the chain and the nesting inside it together.
fn postfix(p: &mut Parser<'_>) -> Option<Completed> {
    p.measured(postfix_measured)
}

/// Returns the expression and the number of calls and projections in it.
fn postfix_measured(p: &mut Parser<'_>) -> (Option<Completed>, u32) {
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
            T!["<"] if p.is_glued(0) && at_type_args(p) => {
                p.compat(p.range(), SyntaxErrorKind::TypeArguments);
                let call = expr.precede(p);
                let args = p.start();
                list(p, T!["<"], T![">"], |p| {
                    let before = p.position();
                    type_arg(p);
                    p.position() > before
                });
                args.complete(p, TYPE_ARG_LIST);
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

/// Parses a type, or a shape such as `(10, 10)` for a parameter of kind `Shape`.
fn type_arg(p: &mut Parser<'_>) {
    if p.at(T!["("]) && matches!(p.nth(1), INT | QUESTION) {
        types::shape(p);
    } else {
        types::ty(p);
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
fn arg_list(p: &mut Parser<'_>) {
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
    chain(p)
}

/// Parses an argument or the inside of parentheses, where bindings without braces may precede the
/// expression: `f(let %y = 1; %y)`.
fn chain(p: &mut Parser<'_>) -> bool {
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
        let block = p.start();
        p.nested(stmts::statements);
        block.complete(p, BLOCK);
        return true;
    }
    let Some(expr) = opt_expr(p) else {
        p.expected("an expression");
        return false;
    };
    // `(%a; %b)`. A `;` at the end of a line indicates a missing closing bracket instead.
    if p.at(T![";"]) && !p.on_new_line(1) && p.nth(1) != T![";"] {
        let stmt = expr.precede(p);
        p.bump();
        let block = stmt.complete(p, EXPR_STMT).precede(p);
        p.nested(stmts::statements);
        block.complete(p, BLOCK);
    }
    true
}

const LITERALS: KindSet = KindSet::new(&[INT, FLOAT, TRUE_KW, FALSE_KW]);

/// Parses an atom: a name, a literal, brackets, `if`, `match` or `fn`.
pub(super) fn opt_atom(p: &mut Parser<'_>) -> Option<Completed> {
    let kind = p.current();
    if LITERALS.contains(kind) {
        return Some(literal(p));
    }
    match kind {
        LOCAL => Some(p.leaf(LOCAL_REF)),
        GRAPH => Some(p.leaf(GRAPH_REF)),
        GLOBAL => Some(p.leaf(GLOBAL_REF)),
        META_REF => Some(p.leaf(META_EXPR)),
        STRING => Some(p.leaf(LITERAL)),
        IDENT if p.nth(1) == T!["("] && at_constant(p) && p.text(0) == "Constant" => {
            Some(constant(p))
        }
        // `fun (%x: int32) { … }`
        IDENT if p.nth(1) == T!["("] && p.nth(2) == LOCAL && p.nth(3) == T![":"] => {
            let function = p.start();
            p.error(SyntaxErrorKind::Expected {
                expected: T!["fn"].into(),
                found: IDENT,
                open: None,
            });
            p.bump();
            p.nested(params::signature_and_body);
            Some(function.complete(p, FN_EXPR))
        }
        IDENT => Some(name_ref(p)),
        T!["-"] => negative(p),
        T!["("] => Some(paren(p)),
        T!["{"] => {
            let block = p.start();
            stmts::block(p);
            Some(block.complete(p, BLOCK_EXPR))
        }
        T!["if"] => Some(if_expr(p)),
        T!["match"] => Some(match_expr(p)),
        T!["fn"] => {
            let function = p.start();
            p.bump();
            p.nested(params::signature_and_body);
            Some(function.complete(p, FN_EXPR))
        }
        T!["ref"] => Some(reference(p, REF_EXPR, 1)),
        T!["ref_read"] => Some(reference(p, REF_READ_EXPR, 1)),
        T!["ref_write"] => Some(reference(p, REF_WRITE_EXPR, 2)),
        // A tensor type or an unknown character in place of a value.
        TENSOR_TEXT | UNKNOWN | PERCENT | AT if !p.on_new_line(0) => {
            p.error(SyntaxErrorKind::Expected {
                expected: "an expression".into(),
                found: kind,
                open: None,
            });
            let error = p.start();
            p.bump();
            Some(error.complete(p, ERROR))
        }
        _ => None,
    }
}

/// `nn.conv2d`. TVM allows white space around the dots.
fn name_ref(p: &mut Parser<'_>) -> Completed {
    if p.nth(1) != T!["."] || p.nth(2) != IDENT {
        return p.leaf(NAME_REF);
    }
    let name = p.start();
    p.bump();
    while p.at(T!["."]) && p.nth(1) == IDENT {
        p.bump();
        p.bump();
    }
    name.complete(p, NAME_REF)
}

/// `1`, `1.5f16`, `True`
fn literal(p: &mut Parser<'_>) -> Completed {
    number(p, |p| p.leaf(LITERAL))
}

/// `-1`, `--1`, `-inff`: signs directly before a number are part of the literal.
fn negative(p: &mut Parser<'_>) -> Option<Completed> {
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
    for _ in 0..signs {
        p.bump();
    }
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
fn paren(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    let open = p.position();
    p.bump();
    if p.eat(T![")"]) {
        return marker.complete(p, TUPLE_EXPR);
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
            } else if p.at(T![")"]) || ends_list(p.current(), T![")"]) || p.position() == before {
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

/// `if (c) { a } else { b }`, and the manual's `else if`.
fn if_expr(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.bump();
    if p.at(T!["("]) {
        let open = p.position();
        let guard = p.start();
        p.bump();
        p.nested(chain);
        p.expect_close(T![")"], open);
        guard.complete(p, PAREN_EXPR);
    } else {
        p.expected("`(`");
        opt_expr(p);
    }
    if p.at(T!["{"]) {
        stmts::block(p);
    } else {
        p.expected("a branch in braces");
    }
    if p.eat(T!["else"]) {
        if p.at(T!["{"]) {
            stmts::block(p);
        } else if p.at(T!["if"]) {
            p.compat(p.range(), SyntaxErrorKind::ElseIf);
            p.nested(if_expr);
        } else {
            p.expected("a branch in braces");
            // `else else {`
            params::skip_to_brace(p);
            if p.at(T!["{"]) {
                stmts::block(p);
            }
        }
    } else {
        p.expected("`else`");
    }
    marker.complete(p, IF_EXPR)
}

/// `match (%l) { Nil => a, Cons(%h, _) => b }`, `match? …`, and the manual's `case` arms.
fn match_expr(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.bump();
    p.eat(T!["?"]);
    let scrutinee = p.range();
    match postfix_without_block(p) {
        Some(CALL_EXPR) => {
            p.compat(scrutinee.cover(p.last_range()), SyntaxErrorKind::MatchScrutinee);
        }
        Some(_) => {}
        None => p.expected("the value to match on"),
    }
    if !p.at(T!["{"]) {
        p.expected("match arms in braces");
        params::skip_to_brace(p);
    }
    if p.at(T!["{"]) {
        p.recover();
        p.nested(arm_list);
    }
    marker.complete(p, MATCH_EXPR)
}

fn postfix_without_block(p: &mut Parser<'_>) -> Option<SyntaxKind> {
    if p.at(T!["{"]) {
        return None;
    }
    p.nested(postfix).flatten().map(Completed::kind)
}

fn arm_list(p: &mut Parser<'_>) {
    let arms = p.start();
    let open = p.position();
    p.bump();
    let mut separators = Separators::default();
    // No arm begins with a binding, so a binding indicates a missing closing brace.
    while !p.at(T!["}"]) && !p.at_end() && !items::at_item_line(p) && !stmts::at_statement_line(p) {
        let before = p.position();
        let is_case = arm(p);
        if p.is_recovering() && !p.on_new_line(0) && !skip_to_end_of_arms(p) {
            params::skip_to_brace(p);
        }
        if p.on_new_line(0) {
            p.recover();
        }
        // The manual separates arms by line breaks.
        if !separators.comma(p, is_case) && !p.on_new_line(0) {
            p.expected("`,`");
        }
        if p.position() == before {
            p.bump_unexpected();
        }
    }
    p.expect_close(T!["}"], open);
    arms.complete(p, ARM_LIST);
}

/// After a broken arm: skips to the closing brace of the arms and returns true if that is on the
/// same line.
fn skip_to_end_of_arms(p: &mut Parser<'_>) -> bool {
    let mut open = 0usize;
    let end = (0..p.count_on_line()).find(|&n| {
        match p.nth(n) {
            T!["{"] => open += 1,
            T!["}"] if open == 0 => return true,
            T!["}"] => open -= 1,
            _ => {}
        }
        false
    });
    let Some(end) = end else { return false };
    if end > 0 {
        let error = p.start();
        for _ in 0..end {
            p.bump();
        }
        error.complete(p, ERROR);
    }
    true
}

/// `Cons(%x, _) => e`, `case Cons(%x, _) { e }`. Returns true for the latter.
fn arm(p: &mut Parser<'_>) -> bool {
    let arm = p.start();
    let is_case = p.at_contextual_kw("case") && matches!(p.nth(1), IDENT | LOCAL | L_PAREN);
    if is_case {
        p.compat(p.range(), SyntaxErrorKind::CaseArm);
        p.bump();
    }
    patterns::pattern(p);
    if is_case && p.at(T!["{"]) {
        stmts::block(p);
    } else if p.expect(T!["=>"]) {
        if p.at(T!["{"]) {
            // A block is the whole body of the arm; `{…}(x)` is not a call.
            stmts::block(p);
        } else {
            chain(p);
        }
    }
    arm.complete(p, ARM);
    is_case
}

/// `ref(e)`, `ref_read(r)`, `ref_write(r, e)`
fn reference(p: &mut Parser<'_>, kind: SyntaxKind, arity: usize) -> Completed {
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

/// Returns true at the manual's `Constant(1, (10, 10), float32)`, false at a call of a constructor
/// with that name.
fn at_constant(p: &mut Parser<'_>) -> bool {
    let value = if p.nth(2) == T!["-"] { 3 } else { 2 };
    LITERALS.contains(p.nth(value)) && p.nth(value + 1) == T![","] && p.nth(value + 2) == T!["("]
}

/// `Constant(1, (10, 10), float32)`
fn constant(p: &mut Parser<'_>) -> Completed {
    let marker = p.start();
    p.compat(p.range(), SyntaxErrorKind::ConstantExpression);
    p.bump();
    let open = p.position();
    p.bump();
    if p.at(T!["-"]) {
        negative(p);
    } else {
        literal(p);
    }
    p.expect(T![","]);
    types::shape(p);
    if p.expect(T![","]) {
        types::ty(p);
    }
    p.expect_close(T![")"], open);
    marker.complete(p, CONSTANT_EXPR)
}
