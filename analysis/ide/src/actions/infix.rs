//! `add(%a, %b)` and `%a + %b`.

use semantics::body::{Callee, Expr};
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};

use super::{Context, is_atom, with_comments};
use crate::edit::Edits;

const SIGNS: &[(&str, &str)] = &[
    ("add", "+"),
    ("subtract", "-"),
    ("multiply", "*"),
    ("divide", "/"),
    ("less", "<"),
    ("less_equal", "<="),
    ("greater", ">"),
    ("greater_equal", ">="),
    ("equal", "=="),
    ("not_equal", "!="),
];

/// The call of an operator that has a sign, at the cursor.
fn call_at<'db>(context: &Context<'db>) -> Option<(ast::CallExpr<'db>, &'static str)> {
    let place = context.place.as_ref()?;
    let view = context.view.as_ref()?;
    // From the name of the operator or a bracket, not from deep inside of an argument.
    let call = context.nearest(SyntaxKind::CALL_EXPR).and_then(ast::CallExpr::cast)?;
    let spot = place.expr_of(call.range())?;
    let unit = view.unit(spot.unit);
    let Expr::Call(id) = unit.expr(spot.expr) else { return None };
    let data = unit.call(*id);
    let Callee::Operator(operator) = &data.callee else { return None };
    if view.types.constructor(operator.name).is_some() || !data.written.is_empty() {
        return None;
    }
    let (_, sign) = SIGNS.iter().find(|(name, _)| *name == operator.name)?;
    let args = call.args()?;
    (data.args.len() == 2 && args.args().count() == 2 && call.type_args().is_none())
        .then_some((call, sign))
}

/// An operand as the sign wants it, with the comments behind it: what is no atom or call is put in
/// brackets.
fn operand(context: &Context<'_>, parent: Node<'_>, node: Node<'_>) -> String {
    let text = context.slice(node.range());
    let whole = with_comments(parent, node);
    let behind = context.slice(TextRange::new(node.range().end(), whole.end()));
    let negative = node.kind() == SyntaxKind::LITERAL && text.starts_with('-');
    let bare = is_atom(node) && !negative
        || matches!(
            node.kind(),
            SyntaxKind::CALL_EXPR
                | SyntaxKind::PROJ_EXPR
                | SyntaxKind::PAREN_EXPR
                | SyntaxKind::TUPLE_EXPR
                | SyntaxKind::REF_READ_EXPR
        );
    match (bare, behind.contains("ty=")) {
        // A type comment behind the last operand would speak of the whole.
        (_, true) => format!("({text}{behind})"),
        (true, false) => format!("{text}{behind}"),
        (false, false) => format!("({text}){behind}"),
    }
}

pub(super) fn offer_infix(context: &Context<'_>) -> Option<String> {
    let (_, sign) = call_at(context)?;
    Some(format!("Write it with `{sign}`"))
}

pub(super) fn to_infix(context: &Context<'_>) -> Result<Edits, String> {
    let (call, sign) =
        call_at(context).ok_or("there is no call of an operator with a sign here")?;
    let args = call.args().ok_or("the call has no arguments")?;
    let kept: Vec<TextRange> =
        args.args().map(|arg| with_comments(args.node(), arg.node())).collect();
    let is_lost = |range: TextRange| !kept.iter().any(|kept| kept.contains_range(range));
    let mut comments = args
        .node()
        .tokens()
        .filter(|token| token.kind().is_trivia() && token.kind() != SyntaxKind::WHITESPACE);
    if comments.any(|token| is_lost(token.range())) {
        return Err("a comment stands between the arguments, and would be lost".into());
    }
    let operands: Vec<String> =
        args.args().map(|arg| operand(context, args.node(), arg.node())).collect();
    let mut text = operands.join(&format!(" {sign} "));
    let parent = context.root().map(|root| root.path_to(call.range())).and_then(|path| {
        let at = path.iter().position(|node| node.range() == call.range())?;
        path.get(at.checked_sub(1)?).map(|node| node.kind())
    });
    if matches!(
        parent,
        Some(
            SyntaxKind::INFIX_EXPR
                | SyntaxKind::PROJ_EXPR
                | SyntaxKind::CALL_EXPR
                | SyntaxKind::MATCH_EXPR
        )
    ) {
        text = format!("({text})");
    }
    Ok(vec![(call.range() + context.start(), text)])
}

/// The operation with a sign at the cursor, and its operator.
fn infix_at<'db>(context: &Context<'db>) -> Option<(ast::InfixExpr<'db>, &'static str)> {
    let infix = context.nearest(SyntaxKind::INFIX_EXPR).and_then(ast::InfixExpr::cast)?;
    let sign = infix.operator()?;
    let (name, _) = SIGNS.iter().find(|(_, known)| *known == sign.text())?;
    Some((infix, name))
}

pub(super) fn offer_call(context: &Context<'_>) -> Option<String> {
    let (_, name) = infix_at(context)?;
    Some(format!("Write it as a call of `{name}`"))
}

pub(super) fn to_call(context: &Context<'_>) -> Result<Edits, String> {
    let (infix, name) = infix_at(context).ok_or("there is no operator sign here")?;
    let (Some(left), Some(right)) = (infix.left(), infix.right()) else {
        return Err("an operand is missing".into());
    };
    // Only what stands around the operands changes, so that nothing between them is lost.
    let plain = |node: Node<'_>| {
        let inner = ast::ParenExpr::cast(node).and_then(|paren| paren.inner());
        let text = context.slice(node.range());
        match inner {
            Some(inner) if inner.node().kind() != SyntaxKind::BLOCK && !text.contains("/*") => {
                context.slice(inner.range()).to_owned()
            }
            _ => text.to_owned(),
        }
    };
    let text = format!("{name}({}, {})", plain(left.node()), plain(right.node()));
    let between = infix.node().tokens();
    if between.into_iter().any(|t| t.kind().is_trivia() && t.kind() != SyntaxKind::WHITESPACE) {
        return Err("a comment stands between the operands, and would be lost".into());
    }
    Ok(vec![(infix.range() + context.start(), text)])
}
