//! Actions that give a name to the selection: a variable for an expression, or a definition for an
//! expression or for bindings.

use semantics::{
    Module, View,
    body::{BinderKind, LocalRef},
};
use syntax::{Node, SyntaxKind, TextRange, TextSize};
use types::{Flags, Type};

use super::{
    Context, annotate,
    bindings::before,
    effects::{ORDER, Steps},
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
    let (view, root) = context.parts().ok_or("there is no definition here")?;
    let stmt = statement_around(root, node.range())
        .ok_or("the expression is in an arm without braces; put the arm's value in braces first")?;
    let graph = stmt.kind() == SyntaxKind::GRAPH_STMT;
    let steps = Steps::of(view);
    let passed = steps.between(stmt.start(), node.start());
    // A graph binding is evaluated where it is used, as the expression was.
    if !graph && !steps.of_node(node).commutes_with(passed) {
        return Err(ORDER.into());
    }
    let mut known = Names::of(view);
    let whole = with_comments(parent, node);
    let text = context.slice(whole);
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
    annotate::written(view, ty, view.def.range(view.db))
        .ok_or_else(|| format!("the type of {of} is not fully known: `{ty}`"))
}

/// What the user selected for a definition: an expression, or bindings.
struct Selection<'db> {
    /// The selected text, from the start of the definition.
    range: TextRange,
    /// The expression.
    expr: Option<Node<'db>>,
    /// The bindings otherwise.
    stmts: Vec<Node<'db>>,
}

impl<'db> Selection<'db> {
    fn of(context: &Context<'db>) -> Option<Selection<'db>> {
        if let Some((parent, node)) = selected(context) {
            let range = with_comments(parent, node);
            return Some(Selection { range, expr: Some(node), stmts: Vec::new() });
        }
        let stmts = statements(context)?;
        let range = TextRange::new(stmts.first()?.start(), stmts.last()?.range().end());
        Some(Selection { range, expr: None, stmts })
    }
}

/// The variables that an extracted definition shares with the rest of the function.
struct Variables {
    /// Those that are bound outside, in the order of their use: the parameters.
    inputs: Vec<LocalRef>,
    /// Those that are bound inside and used after the selection: the results.
    outputs: Vec<LocalRef>,
    /// All uses inside, with their places in the file.
    used: Vec<(LocalRef, TextRange)>,
}

impl Variables {
    /// Finds the variables of the part `inside` of the file.
    fn of(view: &View<'_>, inside: TextRange, has_bindings: bool) -> Variables {
        let is_outside = |binding| !inside.contains_range(view.binding_range(binding));
        let used = names::used_in(view, inside);
        let mut inputs: Vec<LocalRef> = Vec::new();
        for &(binding, _) in &used {
            if is_outside(binding) && !inputs.contains(&binding) {
                inputs.push(binding);
            }
        }
        let mut outputs = names::bound(view, &[BinderKind::Let, BinderKind::Graph]);
        outputs.retain(|&binding| {
            let is_used_outside =
                || names::uses(view, binding).iter().any(|place| !inside.contains_range(*place));
            has_bindings && !is_outside(binding) && is_used_outside()
        });
        outputs.sort_by_key(|&binding| view.binding_range(binding).start());
        Variables { inputs, outputs, used }
    }

    /// Returns the edits that rename the uses of a variable inside, relative to `start`.
    fn renamed(
        &self,
        binding: LocalRef,
        name: &str,
        start: TextSize,
    ) -> impl Iterator<Item = (TextRange, String)> {
        let places = self.used.iter().filter(move |(used, _)| *used == binding);
        places.map(move |(_, place)| (*place - start, name.to_owned()))
    }
}

/// Returns the parameters of an extracted definition with their types, and the arguments. Graph variables become local
/// ones, by edits that are added to `renames`.
fn params(
    view: &View<'_>,
    variables: &Variables,
    names: &mut Names,
    start: TextSize,
    renames: &mut Edits,
) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut params, mut args) = (Vec::new(), Vec::new());
    for &binding in &variables.inputs {
        let name = view.binder(binding).name.to_string();
        let ty = type_text(view, view.binding_type(binding), &format!("`{name}`"))?;
        let is_graph = view.binder(binding).kind == BinderKind::Graph;
        let param = match is_graph {
            true => names.local(&format!("x{}", name.trim_start_matches('%'))),
            false => name.clone(),
        };
        if is_graph {
            renames.extend(variables.renamed(binding, &param, start));
        }
        params.push(format!("{param}: {ty}"));
        args.push(name);
    }
    Ok((params, args))
}

/// Returns the names of the results inside the definition. A graph variable keeps its number outside, so that it
/// needs a fresh one inside, by edits that are added to `renames`.
fn inner_names(
    view: &View<'_>,
    variables: &Variables,
    names: &mut Names,
    start: TextSize,
    renames: &mut Edits,
) -> Vec<String> {
    let inner = variables.outputs.iter().map(|&binding| {
        if view.binder(binding).kind != BinderKind::Graph {
            return view.binder(binding).name.to_string();
        }
        let fresh = names.graph();
        renames.extend(variables.renamed(binding, &fresh, start));
        renames.push((view.binding_range(binding) - start, fresh.clone()));
        fresh
    });
    inner.collect()
}

/// The end of an extracted definition, and what replaces the selection.
struct Results {
    /// The type of the result.
    ty: String,
    /// The last line of the body, for bindings.
    tail: String,
    replacement: String,
}

/// Returns the results of bindings: one variable, or the fields of a tuple.
fn results(
    view: &View<'_>,
    outputs: &[LocalRef],
    inner: &[String],
    names: &mut Names,
    call: &str,
    indent: &str,
) -> Result<Results, String> {
    let types = outputs.iter().map(|&it| type_text(view, view.binding_type(it), "a result"));
    let types = types.collect::<Result<Vec<String>, String>>()?;
    let name = |binding| view.binder(binding).name.as_str();
    let is_graph = |binding| view.binder(binding).kind == BinderKind::Graph;
    let keyword = |binding| if is_graph(binding) { "" } else { "let " };
    if let (&[one], [ty]) = (outputs, types.as_slice()) {
        return Ok(Results {
            ty: ty.clone(),
            tail: format!("\n  {}", inner[0]),
            replacement: format!("{}{} = {call};", keyword(one), name(one)),
        });
    }
    let (tuple, head) = match outputs.iter().all(|&binding| is_graph(binding)) {
        true => (names.graph(), ""),
        false => (names.local("extracted"), "let "),
    };
    let mut replacement = format!("{head}{tuple} = {call};");
    for (at, &binding) in outputs.iter().enumerate() {
        replacement += &format!("\n{indent}{}{} = {tuple}.{at};", keyword(binding), name(binding));
    }
    Ok(Results {
        ty: format!("({})", types.join(", ")),
        tail: format!("\n  ({})", inner.join(", ")),
        replacement,
    })
}

/// Returns the name of a definition that the module does not have.
fn fresh_global<'db>(context: &Context<'db>, module: Module<'db>) -> String {
    names::fresh("@extracted", |name| semantics::global(context.db, module, name).is_none())
}

/// Returns the place after a definition that ends at `end`, for another one. The other one follows the rest of
/// the line if that is a comment, which belongs to this definition.
fn place_after(context: &Context<'_>, end: TextSize) -> TextSize {
    let rest = context.text().get(usize::from(end)..).unwrap_or_default();
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let is_comment = line.trim_start().starts_with("//") || line.trim().is_empty();
    if is_comment { end + TextSize::new(line.len() as u32) } else { end }
}

pub(super) fn definition(context: &Context<'_>) -> Result<Edits, String> {
    let nothing = "select a whole expression, or whole bindings";
    let (view, root) = context.parts().ok_or(nothing)?;
    let module = context.module.ok_or(nothing)?;
    let start = context.start();
    let Selection { range, expr, stmts } = Selection::of(context).ok_or(nothing)?;
    let inside = range + start;
    let variables = Variables::of(view, inside, !stmts.is_empty());
    if !stmts.is_empty() && variables.outputs.is_empty() {
        return Err("no selected binding is used after the selection".into());
    }
    // The arguments of the new definition are evaluated before it, and the bindings in it where it is
    // called.
    let (steps, effects) = (Steps::of(view), view.effects());
    let is_late = |binding: &LocalRef| {
        view.binder(*binding).kind == BinderKind::Graph && effects.of_binding(*binding).is_ordered()
    };
    let mut outputs = variables.outputs.iter();
    let is_deferred = outputs.any(|&binding| view.binder(binding).kind == BinderKind::Graph)
        && stmts.iter().any(|stmt| steps.of_node(*stmt).is_ordered());
    if is_deferred || variables.inputs.iter().any(is_late) {
        return Err(ORDER.into());
    }
    let global = fresh_global(context, module);
    let (mut names, mut renames) = (Names::of(view), Edits::new());
    let (params, args) = params(view, &variables, &mut names, inside.start(), &mut renames)?;
    let inner = inner_names(view, &variables, &mut names, inside.start(), &mut renames);
    let call = format!("{global}({})", args.join(", "));
    let indent = context.indent_of(range.start());
    let body = apply_all(context.slice(range), &renames).replace(&format!("\n{indent}"), "\n  ");
    let Results { ty, tail, replacement } = match expr {
        Some(node) => {
            let place = context.place.as_ref().ok_or(nothing)?;
            let expr_ref = place.expr_of(node.range()).ok_or(nothing)?;
            let ty = type_text(view, view.ty(expr_ref), "the result")?;
            Results { ty, tail: String::new(), replacement: call }
        }
        None => results(view, &variables.outputs, &inner, &mut names, &call, indent)?,
    };
    let params = params.join(", ");
    let text = format!("\n\ndef {global}({params}) -> {ty} {{\n  {body}{tail}\n}}");
    let end = place_after(context, root.range().end() + start);
    Ok(vec![(range + start, replacement), (TextRange::empty(end), text)])
}
