//! The action that adds missing arms to a `match`: `match (%l) { Nil => 0 }` gets `Cons(_, _) => 0`.

use semantics::{
    ExprRef, View,
    infer::{FindingKind, FindingSubject},
};
use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{DataType, Type};

use super::Context;
use crate::edit::Edits;

/// Returns the `match` around the cursor and the patterns that it does not cover.
fn missing<'db>(context: &Context<'db>) -> Option<(ast::MatchExpr<'db>, ExprRef, Vec<String>)> {
    let view = context.view.as_ref()?;
    let place = context.place.as_ref()?;
    context.around().into_iter().find_map(|node| {
        let node = ast::MatchExpr::cast(node)?;
        let expr_ref = place.expr_of(node.range())?;
        let findings = &view.unit_types(expr_ref.unit).findings;
        let mut own = findings.iter().filter(|f| f.subject == FindingSubject::Expr(expr_ref.expr));
        let patterns = own.find_map(|finding| match &finding.kind {
            FindingKind::NotExhaustive(missing) => Some(missing),
            _ => None,
        })?;
        Some((node, expr_ref, patterns.clone()))
    })
}

pub(super) fn offer(context: &Context<'_>) -> Option<String> {
    let (_, _, missing) = missing(context)?;
    Some(match missing.as_slice() {
        [one] => format!("Add an arm for `{one}`"),
        all => format!("Add {} arms", all.len()),
    })
}

pub(super) fn edits(context: &Context<'_>) -> Result<Edits, String> {
    let (node, expr_ref, missing) = missing(context).ok_or("no arm is missing here")?;
    let view = context.view.as_ref().ok_or("there is no definition here")?;
    let list = node.arms().ok_or("the arms have no braces")?;
    let value = value(view, view.ty(expr_ref), 3)
        .or_else(|| constant_arm(context, list))
        .ok_or("the type of the arms has no default value")?;
    let close = list.node().token(SyntaxKind::R_BRACE).ok_or("the arms have no closing brace")?;
    // The end of the last arm or comma, where a comma is inserted.
    let mut last_end = close.start();
    let mut has_comma = true;
    // The end of a line comment after it. New arms are inserted after the comment, not before it,
    // so that it stays with its arm.
    let mut comment_end = None;
    for element in list.node().elements() {
        match element {
            NodeOrToken::Node(arm) => {
                (last_end, has_comma, comment_end) = (arm.range().end(), false, None);
            }
            NodeOrToken::Token(token) => match (token.kind(), token.range().end()) {
                (SyntaxKind::COMMA, end) => (last_end, has_comma, comment_end) = (end, true, None),
                (SyntaxKind::L_BRACE, end) => last_end = end,
                (SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT, end) => {
                    comment_end = Some(end);
                }
                // A type comment belongs to the preceding arm.
                (SyntaxKind::BLOCK_COMMENT, end) if !has_comma => last_end = end,
                _ => {}
            },
        }
    }
    let is_case =
        list.arms().any(|arm| arm.node().first_token().is_some_and(|token| token.text() == "case"));
    let on_lines = context.slice(list.range()).contains('\n');
    let arms = missing.iter().map(|pattern| match is_case {
        true => format!("case {pattern} {{ {value} }}"),
        false => format!("{pattern} => {value},"),
    });
    let arms: Vec<String> = arms.collect();
    let start = context.start();
    let mut edits = Edits::new();
    let mut out = String::new();
    let comma = if has_comma || is_case { "" } else { "," };
    if on_lines {
        let outer = context.indent_of(close.start()).to_owned();
        let indent = match list.arms().next() {
            Some(arm) => context.indent_of(arm.node().start()).to_owned(),
            None => format!("{outer}  "),
        };
        for arm in &arms {
            out += &format!("\n{indent}{arm}");
        }
        match comment_end {
            Some(end) => {
                if !comma.is_empty() {
                    edits.push((TextRange::empty(last_end) + start, comma.into()));
                }
                edits.push((TextRange::empty(end) + start, out));
            }
            None => edits.push((TextRange::empty(last_end) + start, format!("{comma}{out}"))),
        }
    } else {
        let text = format!("{comma} {}", arms.join(" "));
        edits.push((TextRange::empty(last_end) + start, text.trim_end_matches(',').to_owned()));
    }
    Ok(edits)
}

/// Returns the value of the first arm whose pattern binds no variable.
fn constant_arm(context: &Context<'_>, list: ast::ArmList<'_>) -> Option<String> {
    list.arms().find_map(|arm| {
        let binds = |node: Node<'_>| node.descendants().any(|n| n.kind() == SyntaxKind::VAR_PAT);
        let body = arm.body()?;
        (!binds(arm.pattern()?.node())).then(|| context.slice(body.range()).to_owned())
    })
}

/// Returns a default value of a type, such as zeros or an empty list.
fn value(view: &View<'_>, ty: &Type, depth: u32) -> Option<String> {
    if depth == 0 {
        return None;
    }
    match ty {
        Type::Tensor(tensor) if tensor.rank() == 0 => Some(scalar(tensor.dtype)),
        Type::Tensor(tensor) => {
            let dims: Option<Vec<String>> =
                tensor.shape.iter().map(|dim| dim.as_known().map(|n| n.to_string())).collect();
            Some(format!("zeros(shape=[{}], dtype=\"{}\")", dims?.join(", "), tensor.dtype))
        }
        Type::Tuple(fields) => {
            let fields: Option<Vec<String>> =
                fields.iter().map(|field| value(view, field, depth - 1)).collect();
            let fields = fields?;
            let comma = if fields.len() == 1 { "," } else { "" };
            Some(format!("({}{comma})", fields.join(", ")))
        }
        Type::Adt(adt) => {
            let own = view.types.adt(adt.name())?;
            let empty = own.constructors.iter().find(|c| c.fields.is_empty());
            empty.map(|constructor| constructor.name.to_string())
        }
        Type::Ref(cell) => Some(format!("ref({})", value(view, cell.inner(), depth - 1)?)),
        _ => None,
    }
}

fn scalar(dtype: DataType) -> String {
    match dtype.to_string().as_str() {
        "bool" => "False".into(),
        "int32" => "0".into(),
        "int64" => "0i64".into(),
        "float32" => "0f".into(),
        "float16" => "0f16".into(),
        "float64" => "0f64".into(),
        other => format!("cast(0, dtype=\"{other}\")"),
    }
}
