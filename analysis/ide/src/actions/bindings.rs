//! Actions that convert between graph bindings, `%0 = add(%x, %x);`, and A-normal form,
//! `let %x0 = add(%x, %x);`.
//!
//! Both forms bind each value once and use it by name, so that shared values stay shared.

use semantics::{
    View,
    body::{BinderKind, LocalRef},
    effects::{BodyEffects, Effects},
};
use syntax::{
    Node, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};

use super::{
    Context,
    effects::{ORDER, Steps},
    is_expr,
    names::{self, Names},
    unused::statement_of,
    with_comments,
};
use crate::edit::{Edits, apply_all};

const EVALUATION_ORDER: &str = "graph bindings are evaluated on first use, which could change the order \
                                of effects, such as the reads and writes of references";

/// Returns true if a variable can become a `let` instead of a graph variable, or the reverse, which
/// changes when its value is evaluated.
fn may_move(effects: &BodyEffects, steps: &Steps<'_>, binding: LocalRef) -> bool {
    effects.of_binding(binding).is_empty() && !steps.all().contains(Effects::MEMORY)
}

/// Returns true if an expression gets a name in A-normal form: it computes something and contains no
/// block.
fn is_compound(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        SyntaxKind::CALL_EXPR
            | SyntaxKind::TUPLE_EXPR
            | SyntaxKind::INFIX_EXPR
            | SyntaxKind::PROJ_EXPR
            | SyntaxKind::REF_EXPR
            | SyntaxKind::REF_READ_EXPR
            | SyntaxKind::REF_WRITE_EXPR
    ) && !(node.kind() == SyntaxKind::TUPLE_EXPR && node.children().next().is_none())
        && !super::has_lines(node)
}

/// Returns the operands of an expression, each preceded by its parent node.
fn operands<'t>(node: Node<'t>) -> Vec<(Node<'t>, Node<'t>)> {
    let of = |parent: Node<'t>| -> Vec<(Node<'t>, Node<'t>)> {
        parent.children().filter(|child| is_expr(*child)).map(|child| (parent, child)).collect()
    };
    match node.kind() {
        SyntaxKind::CALL_EXPR => node.child(SyntaxKind::ARG_LIST).map(of).unwrap_or_default(),
        SyntaxKind::TUPLE_EXPR
        | SyntaxKind::INFIX_EXPR
        | SyntaxKind::PROJ_EXPR
        | SyntaxKind::PAREN_EXPR
        | SyntaxKind::REF_EXPR
        | SyntaxKind::REF_READ_EXPR
        | SyntaxKind::REF_WRITE_EXPR => of(node),
        // Only the condition is always evaluated.
        SyntaxKind::IF_EXPR => node.child(SyntaxKind::PAREN_EXPR).map(of).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A definition that is converted to A-normal form.
struct NormalForm<'a, 'db> {
    context: &'a Context<'db>,
    names: Names,
    /// The new names of variables, in order of their ranges in the definition.
    renames: Edits,
}

impl NormalForm<'_, '_> {
    /// Returns the text of a range after applying the renames and `replaced`.
    fn text(&self, range: TextRange, replaced: &Edits) -> String {
        let text = self.context.slice(range);
        let from = self.renames.partition_point(|(place, _)| place.start() < range.start());
        let inside =
            self.renames[from..].iter().take_while(|(place, _)| place.end() <= range.end());
        let free = |place: &TextRange| !replaced.iter().any(|(r, _)| r.contains_range(*place));
        let edits: Edits = inside
            .filter(|(place, _)| free(place))
            .chain(replaced)
            .map(|(place, with)| (*place - range.start(), with.clone()))
            .collect();
        apply_all(text, &edits)
    }

    /// Binds the compound operands of `node` in `lets` and returns the edits that replace them by
    /// names: `add(tanh(%x), %y)` becomes `let %v = tanh(%x); add(%v, %y)`.
    fn flatten(&mut self, node: Node<'_>, lets: &mut Vec<String>) -> Edits {
        let mut out = Edits::new();
        for (parent, operand) in operands(node) {
            let mut inner = operand;
            // The parentheses of `(add(%x, %y))` are not needed around a name.
            while let Some(next) = (inner.kind() == SyntaxKind::PAREN_EXPR)
                .then(|| inner.children().find(|child| is_expr(*child)))
                .flatten()
            {
                inner = next;
            }
            if !is_compound(inner) {
                continue;
            }
            let replaced = self.flatten(inner, lets);
            let whole = with_comments(parent, operand);
            let text = match inner.range() == operand.range() {
                true => self.text(whole, &replaced),
                false => self.text(inner.range(), &replaced),
            };
            let name = self.names.local("v");
            lets.push(format!("let {name} = {text};"));
            out.push((whole, name));
        }
        out
    }
}

/// Returns the statements and tail expressions of all blocks of a definition.
fn all_statements<'t>(root: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    root.descendants()
        .filter(|node| node.kind() == SyntaxKind::BLOCK)
        .flat_map(|block| block.children().filter(|c| c.kind().is_stmt() || is_expr(*c)))
}

/// Returns the value of a statement, or the tail expression itself.
pub(super) fn value_of(stmt: Node<'_>) -> Option<Node<'_>> {
    if is_expr(stmt) { Some(stmt) } else { stmt.children().find(|child| is_expr(*child)) }
}

pub(super) fn offer_let(context: &Context<'_>) -> Option<String> {
    let place = context.place.as_ref()?;
    context.view.as_ref()?;
    let on_graph = place.token.kind() == SyntaxKind::GRAPH
        || context.around().iter().any(|node| node.kind() == SyntaxKind::GRAPH_STMT);
    let on_nested = || {
        let stmt = context.around().into_iter().find(|node| node.kind().is_stmt());
        let value = stmt.and_then(value_of);
        value.is_some_and(|value| operands(value).iter().any(|(_, operand)| is_compound(*operand)))
    };
    (on_graph || on_nested()).then(|| "Rewrite to `let` bindings (A-normal form)".into())
}

pub(super) fn to_let(context: &Context<'_>) -> Result<Edits, String> {
    let (view, root) = context.parts().ok_or("there is no definition here")?;
    let (effects, steps) = (view.effects(), Steps::of(view));
    let graph = names::bound(view, &[BinderKind::Graph]);
    if !graph.iter().all(|&binding| may_move(&effects, &steps, binding)) {
        return Err(EVALUATION_ORDER.into());
    }
    let start = context.start();
    let uses = names::all_uses(view);
    let mut known = Names::of(view);
    let mut renames = Edits::new();
    let mut declared = Edits::new();
    for binding in graph {
        let old = view.binder(binding).name.trim_start_matches('%').to_owned();
        let name = known.local(&format!("x{old}"));
        for place in uses.get(&binding).into_iter().flatten() {
            renames.push((*place - start, name.clone()));
        }
        declared.push((view.binding_range(binding) - start, format!("let {name}")));
    }
    renames.sort_by_key(|(range, _)| range.start());
    let mut normal = NormalForm { context, names: known, renames };
    let mut edits = declared;
    let mut moved: Vec<TextRange> = Vec::new();
    for stmt in all_statements(root) {
        context.db.unwind_if_revision_cancelled();
        let Some(value) = value_of(stmt) else { continue };
        let mut lets = Vec::new();
        let replaced = normal.flatten(value, &mut lets);
        if lets.is_empty() {
            continue;
        }
        // Nested blocks stay in place, and would be evaluated after the extracted operands.
        if steps.of_node(value).is_ordered() && super::has_lines(value) {
            return Err(ORDER.into());
        }
        edits.push((TextRange::empty(stmt.start()), before(context, stmt.start(), &lets)));
        moved.extend(replaced.iter().map(|(range, _)| *range));
        edits.extend(replaced);
    }
    moved.sort_by_key(|range| range.start());
    let is_moved = |place: &TextRange| {
        let at = moved.partition_point(|range| range.end() <= place.start());
        moved.get(at).is_some_and(|range| range.contains_range(*place))
    };
    edits.extend(normal.renames.iter().filter(|(place, _)| !is_moved(place)).cloned());
    if edits.is_empty() {
        return Err("the definition is already in A-normal form".into());
    }
    Ok(edits.into_iter().map(|(range, text)| (range + start, text)).collect())
}

/// Returns the text of `stmts` to insert before the statement at `at`, on separate lines if that
/// statement starts a line.
pub(super) fn before(context: &Context<'_>, at: TextSize, stmts: &[String]) -> String {
    let indent = context.indent_of(at);
    let head = context.text().get(..usize::from(at + context.start())).unwrap_or_default();
    let line = head.rsplit_once('\n').map_or(head, |(_, line)| line);
    let separator = if line == indent { format!("\n{indent}") } else { " ".to_owned() };
    stmts.iter().map(|stmt| format!("{stmt}{separator}")).collect()
}

pub(super) fn offer_graph(context: &Context<'_>) -> Option<String> {
    context.view.as_ref()?;
    context.nearest(SyntaxKind::LET_STMT)?;
    Some("Rewrite `let` to graph bindings".into())
}

/// Returns the range from `let` to `=`, or `None` if it has a comment that must not be removed.
fn head_of(stmt: Node<'_>) -> Option<TextRange> {
    for token in stmt.tokens() {
        match token.kind() {
            SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT => return None,
            SyntaxKind::BLOCK_COMMENT if !token.text().contains("ty=") => return None,
            SyntaxKind::EQ => return Some(TextRange::new(stmt.start(), token.start())),
            _ => {}
        }
    }
    None
}

pub(super) fn to_graph(context: &Context<'_>) -> Result<Edits, String> {
    let Some(view) = &context.view else { return Err("there is no definition here".into()) };
    let (effects, steps) = (view.effects(), Steps::of(view));
    let start = context.start();
    let uses = names::all_uses(view);
    let mut known = Names::of(view);
    let mut edits = Edits::new();
    for binding in names::bound(view, &[BinderKind::Let]) {
        if let Some((head, name)) = graph_head(view, binding, &mut known) {
            if !may_move(&effects, &steps, binding) {
                return Err(EVALUATION_ORDER.into());
            }
            edits.push((head + start, format!("{name} ")));
            let places = uses.get(&binding).into_iter().flatten();
            edits.extend(places.map(|place| (*place, name.clone())));
        }
    }
    if edits.is_empty() {
        return Err("there is no `let` here that can be a graph binding".into());
    }
    Ok(edits)
}

/// Returns the head of a `let` that can be a graph binding, and its new name. A function may be
/// recursive, which a graph binding does not allow, and a graph binding cannot hold a block.
fn graph_head(
    view: &View<'_>,
    binding: LocalRef,
    known: &mut Names,
) -> Option<(TextRange, String)> {
    let stmt = statement_of(view, binding)?;
    let value = ast::LetStmt::cast(stmt)?.value()?.node();
    if matches!(value.kind(), SyntaxKind::FN_EXPR | SyntaxKind::BLOCK) {
        return None;
    }
    let head = head_of(stmt)?;
    Some((head, known.graph()))
}
