//! Actions that give a name to the selection: a variable for an expression, or a definition for an
//! expression or for bindings.

use semantics::{
    View,
    body::{BinderKind, LocalRef},
};
use syntax::{Node, SyntaxKind, TextRange};
use types::{Flags, Type};

use super::{
    Context, annotate,
    bindings::before,
    has_effects,
    inline::statement_around,
    is_atom, is_expr,
    names::{self, Names},
    with_comments,
};
use crate::edit::{Edits, apply_all};

/// Returns the parent of the selected expression, and the expression.
fn selected<'db>(context: &Context<'db>) -> Option<(Node<'db>, Node<'db>)> {
    if context.range.is_empty() {
        return None;
    }
    let range = context.range - context.start();
    let path = context.root()?.path_to(range);
    let whole = path.windows(2).find_map(|pair| {
        let (parent, node) = (pair[0], pair[1]);
        (is_expr(node) && node.range() == range).then_some((parent, node))
    });
    let found = whole.or_else(|| {
        // The selection may include the comments that follow the expression.
        let parent = *path.last()?;
        let mut exprs = parent.children().filter(|child| is_expr(*child));
        let node = exprs.find(|child| with_comments(parent, *child) == range)?;
        Some((parent, node))
    });
    let (mut parent, mut node) = found?;
    // The parentheses of `match (%x)` belong to the `match`.
    while node.kind() == SyntaxKind::PAREN_EXPR {
        let inner = node.children().find(|child| is_expr(*child))?;
        (parent, node) = (node, inner);
    }
    Some((parent, node))
}

pub(super) fn offer_variable(context: &Context<'_>) -> Option<String> {
    let (parent, node) = selected(context)?;
    context.view.as_ref()?;
    let is_value = matches!(parent.kind(), SyntaxKind::LET_STMT | SyntaxKind::GRAPH_STMT);
    let stmt = statement_around(context.root()?, node.range());
    (!is_atom(node) && !is_value && stmt.is_some()).then(|| "Extract into a variable".into())
}

pub(super) fn variable(context: &Context<'_>) -> Result<Edits, String> {
    let (parent, node) = selected(context).ok_or("select one whole expression")?;
    let (Some(view), Some(root)) = (&context.view, context.root()) else {
        return Err("there is no definition here".into());
    };
    let stmt = statement_around(root, node.range())
        .ok_or("the expression is in an arm without braces; put the arm's value in braces first")?;
    if has_effects(stmt) {
        return Err("the order of reads and writes of references would change".into());
    }
    let mut known = Names::of(view);
    let whole = with_comments(parent, node);
    let text = context.slice(whole);
    let graph = stmt.kind() == SyntaxKind::GRAPH_STMT;
    let name = if graph { known.graph() } else { known.local("value") };
    let keyword = if graph { "" } else { "let " };
    let line = format!("{keyword}{name} = {text};");
    let start = context.start();
    Ok(vec![
        (TextRange::empty(stmt.start()) + start, before(context, stmt.start(), &[line])),
        (whole + start, name),
    ])
}

/// Returns the selected statements: consecutive bindings of one block.
fn statements<'db>(context: &Context<'db>) -> Option<Vec<Node<'db>>> {
    if context.range.is_empty() {
        return None;
    }
    let range = context.range - context.start();
    let path = context.root()?.path_to(range);
    let block = path.into_iter().rev().find(|node| node.kind() == SyntaxKind::BLOCK)?;
    let mut chosen = Vec::new();
    for child in block.children() {
        let touches = child.range().intersect(range).is_some_and(|both| !both.is_empty());
        if touches {
            let binds = matches!(child.kind(), SyntaxKind::LET_STMT | SyntaxKind::GRAPH_STMT);
            if !binds || !range.contains_range(child.range()) {
                return None;
            }
            chosen.push(child);
        }
    }
    (!chosen.is_empty()).then_some(chosen)
}

pub(super) fn offer_definition(context: &Context<'_>) -> Option<String> {
    let view = context.view.as_ref()?;
    view.body.header()?;
    let found = match selected(context) {
        Some((_, node)) => !is_atom(node),
        None => statements(context).is_some(),
    };
    found.then(|| "Extract into a definition".into())
}

fn type_text(view: &View<'_>, ty: &Type, of: &str) -> Result<String, String> {
    // Type parameters are in scope only in the enclosing definition.
    if ty.flags().has(Flags::PARAM) {
        return Err(format!("the type of {of} depends on a type parameter of this definition"));
    }
    annotate::written(view, ty)
        .ok_or_else(|| format!("the type of {of} is not fully known: `{ty}`"))
}

pub(super) fn definition(context: &Context<'_>) -> Result<Edits, String> {
    let nothing = "select a whole expression, or whole bindings";
    let (Some(view), Some(root), Some(module)) = (&context.view, context.root(), context.module)
    else {
        return Err(nothing.into());
    };
    let (db, start) = (context.db, context.start());
    let expr = selected(context);
    let (range, stmts) = match expr {
        Some((parent, node)) => (with_comments(parent, node), Vec::new()),
        None => {
            let stmts = statements(context).ok_or(nothing)?;
            let (Some(first), Some(last)) = (stmts.first(), stmts.last()) else {
                return Err(nothing.into());
            };
            (TextRange::new(first.start(), last.range().end()), stmts)
        }
    };
    let inside = range + start;
    // Variables that are bound outside, in the order of their use, become parameters.
    let mut inputs: Vec<LocalRef> = Vec::new();
    let used = names::used_in(view, inside);
    for (binding, _) in &used {
        if !inside.contains_range(view.binding_range(*binding)) && !inputs.contains(binding) {
            inputs.push(*binding);
        }
    }
    // Variables that are bound inside and used after the selection become results.
    let mut outputs: Vec<LocalRef> = Vec::new();
    for kind in [BinderKind::Let, BinderKind::Graph] {
        for binding in names::bound(view, kind) {
            if stmts.is_empty() || !inside.contains_range(view.binding_range(binding)) {
                continue;
            }
            if names::uses(view, binding).iter().any(|place| !inside.contains_range(*place)) {
                outputs.push(binding);
            }
        }
    }
    outputs.sort_by_key(|&binding| view.binding_range(binding).start());
    if !stmts.is_empty() && outputs.is_empty() {
        return Err("no selected binding is used after the selection".into());
    }
    if stmts.iter().any(|s| s.kind() == SyntaxKind::GRAPH_STMT && has_effects(*s)) {
        return Err("the order of reads and writes of references would change".into());
    }
    let mut global = "@extracted".to_owned();
    let mut number = 1;
    while semantics::global(db, module, &global).is_some() {
        global = format!("@extracted_{number}");
        number += 1;
    }
    let mut known = Names::of(view);
    let (mut params, mut args, mut renames) = (Vec::new(), Vec::new(), Edits::new());
    for &binding in &inputs {
        let name = view.binder(binding).name.to_string();
        let ty = type_text(view, view.binding_type(binding), &format!("`{name}`"))?;
        let is_graph = view.binder(binding).kind == BinderKind::Graph;
        let param = match is_graph {
            true => known.local(&format!("x{}", name.trim_start_matches('%'))),
            false => name.clone(),
        };
        if is_graph {
            let places = used.iter().filter(|(used, _)| *used == binding);
            renames.extend(places.map(|(_, place)| (*place - inside.start(), param.clone())));
        }
        params.push(format!("{param}: {ty}"));
        args.push(name);
    }
    // A graph variable keeps its number outside, so that it needs a fresh one inside.
    let mut inner: Vec<String> = Vec::new();
    for &binding in &outputs {
        let name = view.binder(binding).name.to_string();
        if view.binder(binding).kind != BinderKind::Graph {
            inner.push(name);
            continue;
        }
        let fresh = known.graph();
        let places = used.iter().filter(|(used, _)| *used == binding).map(|(_, place)| *place);
        let places = places.chain([view.binding_range(binding)]);
        renames.extend(places.map(|place| (place - inside.start(), fresh.clone())));
        inner.push(fresh);
    }
    let call = format!("{global}({})", args.join(", "));
    let body = apply_all(context.slice(range), &renames);
    let own = context.indent_of(range.start()).to_owned();
    let body = body.replace(&format!("\n{own}"), "\n  ");
    let (result, tail, replacement) = if stmts.is_empty() {
        let place = context.place.as_ref().ok_or(nothing)?;
        let (_, node) = expr.ok_or(nothing)?;
        let expr_ref = place.expr_of(node.range()).ok_or(nothing)?;
        (type_text(view, view.ty(expr_ref), "the result")?, String::new(), call)
    } else {
        let names: Vec<&str> =
            outputs.iter().map(|&binding| view.binder(binding).name.as_str()).collect();
        let types: Result<Vec<String>, String> = outputs
            .iter()
            .map(|&binding| type_text(view, view.binding_type(binding), "a result"))
            .collect();
        let types = types?;
        let keyword = |binding: LocalRef| match view.binder(binding).kind {
            BinderKind::Graph => "",
            _ => "let ",
        };
        match (outputs.as_slice(), types.as_slice()) {
            ([one], [ty]) => {
                let text = format!("{}{} = {call};", keyword(*one), names[0]);
                (ty.clone(), format!("\n  {}", inner[0]), text)
            }
            _ => {
                let indent = context.indent_of(range.start());
                let graph = outputs.iter().all(|b| view.binder(*b).kind == BinderKind::Graph);
                let tuple = if graph { known.graph() } else { known.local("extracted") };
                let head = if graph { "" } else { "let " };
                let mut text = format!("{head}{tuple} = {call};");
                for (at, &binding) in outputs.iter().enumerate() {
                    text += &format!("\n{indent}{}{} = {tuple}.{at};", keyword(binding), names[at]);
                }
                (format!("({})", types.join(", ")), format!("\n  ({})", inner.join(", ")), text)
            }
        }
    };
    let text =
        format!("\n\ndef {global}({}) -> {result} {{\n  {body}{tail}\n}}", params.join(", "));
    let end = root.range().end() + start;
    // The new definition follows the rest of the line if that is a comment, which belongs to this
    // definition.
    let rest = context.text().get(usize::from(end)..).unwrap_or_default();
    let line = rest.find('\n').unwrap_or(rest.len());
    let only_comment =
        rest[..line].trim_start().starts_with("//") || rest[..line].trim().is_empty();
    let end = if only_comment { end + syntax::TextSize::new(line as u32) } else { end };
    Ok(vec![(range + start, replacement), (TextRange::empty(end), text)])
}
