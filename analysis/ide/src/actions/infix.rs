//! Actions that convert between `add(%a, %b)` and `%a + %b`.

use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};

use super::{Context, is_atom, with_comments};
use crate::{edit::Edits, lookups::operator_call};

/// The operators that have an infix form, with their symbols.
const SYMBOLS: &[(&str, &str)] = &[
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

/// Returns the call at the cursor whose operator has an infix form, and the symbol.
fn call_at<'db>(context: &Context<'db>) -> Option<(ast::CallExpr<'db>, &'static str)> {
    let place = context.place.as_ref()?;
    let view = context.view.as_ref()?;
    let call = context.nearest(SyntaxKind::CALL_EXPR).and_then(ast::CallExpr::cast)?;
    let expr_ref = place.expr_of(call.range())?;
    let (data, operator) = operator_call(view, expr_ref)?;
    if view.types.constructor(operator.name).is_some() || !data.written.is_empty() {
        return None;
    }
    let (_, symbol) = SYMBOLS.iter().find(|(name, _)| *name == operator.name)?;
    let args = call.args()?;
    (data.args.len() == 2 && args.args().count() == 2 && call.type_args().is_none())
        .then_some((call, symbol))
}

/// Returns the text of an operand with the comments that follow it, in parentheses unless it is an
/// atom or a call.
fn operand(context: &Context<'_>, parent: Node<'_>, node: Node<'_>) -> String {
    let text = context.slice(node.range());
    let whole = with_comments(parent, node);
    let comments = context.slice(TextRange::new(node.range().end(), whole.end()));
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
    match (bare, comments.contains("ty=")) {
        // A type comment after the last operand would apply to the whole expression.
        (_, true) => format!("({text}{comments})"),
        (true, false) => format!("{text}{comments}"),
        (false, false) => format!("({text}){comments}"),
    }
}

pub(super) fn offer_infix(context: &Context<'_>) -> Option<String> {
    let (_, symbol) = call_at(context)?;
    Some(format!("Rewrite with `{symbol}`"))
}

pub(super) fn to_infix(context: &Context<'_>) -> Result<Edits, String> {
    let (call, symbol) = call_at(context).ok_or("there is no call with an infix form here")?;
    let args = call.args().ok_or("the call has no arguments")?;
    let kept: Vec<TextRange> =
        args.args().map(|arg| with_comments(args.node(), arg.node())).collect();
    let is_lost = |range: TextRange| !kept.iter().any(|kept| kept.contains_range(range));
    let mut comments = args
        .node()
        .tokens()
        .filter(|token| token.kind().is_trivia() && token.kind() != SyntaxKind::WHITESPACE);
    if comments.any(|token| is_lost(token.range())) {
        return Err("a comment between the arguments would be lost".into());
    }
    let operands: Vec<String> =
        args.args().map(|arg| operand(context, args.node(), arg.node())).collect();
    let mut text = operands.join(&format!(" {symbol} "));
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

/// Returns the infix expression at the cursor, and the name of its operator.
fn infix_at<'db>(context: &Context<'db>) -> Option<(ast::InfixExpr<'db>, &'static str)> {
    let infix = context.nearest(SyntaxKind::INFIX_EXPR).and_then(ast::InfixExpr::cast)?;
    let symbol = infix.operator()?;
    let (name, _) = SYMBOLS.iter().find(|(_, known)| *known == symbol.text())?;
    Some((infix, name))
}

pub(super) fn offer_call(context: &Context<'_>) -> Option<String> {
    let (_, name) = infix_at(context)?;
    Some(format!("Rewrite as a call of `{name}`"))
}

pub(super) fn to_call(context: &Context<'_>) -> Result<Edits, String> {
    let (infix, name) = infix_at(context).ok_or("there is no infix operator here")?;
    let (Some(left), Some(right)) = (infix.left(), infix.right()) else {
        return Err("an operand is missing".into());
    };
    // The parentheses of an operand are not needed in a call.
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
        return Err("a comment between the operands would be lost".into());
    }
    Ok(vec![(infix.range() + context.start(), text)])
}
