//! Actions that inline a variable or a call: `@f(%x)` becomes the body of `@f` with `%x` for its
//! parameter.

use rustc_hash::FxHashMap;
use semantics::{
    DefKind, View,
    body::{BinderId, BinderKind, LocalRef, UnitId},
};
use syntax::{
    Node, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};

use super::{
    Context,
    bindings::{before, value_of},
    effects::{ORDER, Steps},
    is_atom, is_expr,
    names::{self, Names},
    unused::statement_of,
};
use crate::{
    edit::{Edits, apply_all},
    locals::locals,
    lookups::bindings,
};

pub(super) fn offer_variable(context: &Context<'_>) -> Option<String> {
    let view = context.view.as_ref()?;
    let (binding, _) = context.bound_at()?;
    let value = value_of(statement_of(view, binding)?)?;
    let uses = names::uses(view, binding);
    let can = uses.len() == 1 || (is_atom(value) && !uses.is_empty());
    can.then(|| format!("Inline `{}`", view.binder(binding).name))
}

pub(super) fn variable(context: &Context<'_>) -> Result<Edits, String> {
    let nothing = "there is no `let` or graph variable here";
    let (view, root) = context.parts().ok_or(nothing)?;
    let (binding, _) = context.bound_at().ok_or(nothing)?;
    let name = &view.binder(binding).name;
    let stmt = statement_of(view, binding).ok_or(nothing)?;
    let value = value_of(stmt).ok_or(nothing)?;
    let uses = names::uses(view, binding);
    let start = context.start();
    if uses.len() != 1 && !is_atom(value) {
        return Err(format!(
            "`{name}` is used {} times and would be computed each time",
            uses.len()
        ));
    }
    let steps = Steps::of(view);
    let effects = steps.of_node(value);
    // A variable that is no graph variable, or a literal, is not evaluated.
    let is_computed = !is_atom(value) || !effects.is_empty();
    let inside = names::used_in(view, value.range() + start);
    if inside.iter().any(|(used, _)| *used == binding) {
        return Err(format!("`{name}` is recursive"));
    }
    let text = context.slice(value.range()).to_owned();
    let mut edits = vec![(context.whole_line(stmt.range() + context.start()), String::new())];
    for place in uses {
        let path = root.path_to(place - start);
        if is_computed {
            let is_inside = |kinds: &[SyntaxKind]| {
                let mut around =
                    path.iter().filter(|node| !node.range().contains_range(stmt.range()));
                around.any(|node| kinds.contains(&node.kind()))
            };
            if is_inside(&[SyntaxKind::FN_EXPR]) {
                return Err(format!(
                    "`{name}` is used inside a function and would be computed on each call"
                ));
            }
            // A graph binding is evaluated on its first use already.
            if view.binder(binding).kind == BinderKind::Let {
                let passed = steps.between(stmt.range().end(), place.start() - start);
                let is_deferred = effects.is_ordered() && is_inside(&[SyntaxKind::GRAPH_STMT]);
                if is_deferred || !effects.commutes_with(passed) {
                    return Err(ORDER.into());
                }
                if effects.is_needed() && is_inside(&[SyntaxKind::BLOCK, SyntaxKind::ARM]) {
                    return Err(format!(
                        "the value of `{name}` has an effect, and would not be computed in every case"
                    ));
                }
            }
        }
        // The names in the value have to refer to the same variables at the use.
        let known: FxHashMap<&str, LocalRef> = locals(view, place.start(), None)
            .into_iter()
            .map(|local| (local.name, local.binding))
            .collect();
        for (used, _) in &inside {
            let own = value.range() + start;
            if own.contains_range(view.binding_range(*used)) {
                continue;
            }
            let used_name = view.binder(*used).name.as_str();
            if known.get(used_name) != Some(used) {
                return Err(format!("`{used_name}` is shadowed where `{name}` is used"));
            }
        }
        let node = path.iter().rposition(|node| node.range() == place - start);
        let parent = node.and_then(|at| at.checked_sub(1)).and_then(|at| path.get(at));
        edits.push((place, bracketed(&text, value.kind(), parent.copied(), place - start)));
    }
    Ok(edits)
}

/// Returns the text that replaces a variable, in parentheses where precedence requires them.
fn bracketed(text: &str, kind: SyntaxKind, parent: Option<Node<'_>>, place: TextRange) -> String {
    let wide = matches!(
        kind,
        SyntaxKind::INFIX_EXPR
            | SyntaxKind::IF_EXPR
            | SyntaxKind::MATCH_EXPR
            | SyntaxKind::FN_EXPR
            | SyntaxKind::BLOCK_EXPR
    ) || text.starts_with('-');
    let tight = match parent {
        Some(parent) => match parent.kind() {
            SyntaxKind::INFIX_EXPR | SyntaxKind::MATCH_EXPR => wide,
            SyntaxKind::PROJ_EXPR => true,
            // The callee, not an argument.
            SyntaxKind::CALL_EXPR => parent.start() == place.start(),
            _ => false,
        },
        None => false,
    };
    let plain = matches!(
        kind,
        SyntaxKind::LOCAL_REF
            | SyntaxKind::GRAPH_REF
            | SyntaxKind::GLOBAL_REF
            | SyntaxKind::NAME_REF
    );
    if tight && !plain { format!("({text})") } else { text.to_owned() }
}

/// Returns the statement of the innermost block around a node, unless a `match` arm without braces
/// is in between: it is evaluated conditionally and has no place for a statement.
pub(super) fn statement_around<'t>(root: Node<'t>, range: TextRange) -> Option<Node<'t>> {
    let path = root.path_to(range);
    for pair in path.windows(2).rev() {
        let (parent, node) = (pair[0], pair[1]);
        if parent.kind() == SyntaxKind::BLOCK && (node.kind().is_stmt() || is_expr(node)) {
            return Some(node);
        }
        if parent.kind() == SyntaxKind::ARM {
            return None;
        }
    }
    None
}

/// Returns the call at the cursor, and the definition that it calls.
fn call_at<'db>(context: &Context<'db>) -> Option<(ast::CallExpr<'db>, View<'db>)> {
    let place = context.place.as_ref()?;
    if place.token.kind() != SyntaxKind::GLOBAL {
        return None;
    }
    let call = context.nearest(SyntaxKind::CALL_EXPR).and_then(ast::CallExpr::cast)?;
    if call.callee()?.range() != place.token.range() {
        return None;
    }
    let (def, _) = semantics::global(context.db, context.module?, place.token.text())?;
    (def.kind(context.db) == DefKind::Fn).then_some(())?;
    Some((call, View::new(context.db, def)?))
}

pub(super) fn offer_call(context: &Context<'_>) -> Option<String> {
    let (call, callee) = call_at(context)?;
    let name = callee.def.name(context.db);
    let own = callee.body.units.iter().any(|unit| unit.globals().any(|(used, _)| used == name));
    let generic = callee.body.header().is_none_or(|header| !header.type_params.is_empty());
    let stmt = statement_around(context.root()?, call.range());
    (!own && !generic && stmt.is_some()).then(|| format!("Inline this call of `{name}`"))
}

pub(super) fn call(context: &Context<'_>) -> Result<Edits, String> {
    let inlined = InlinedCall::of(context)?;
    inlined.check_order()?;
    let mut names = CalleeNames { host: Names::of(inlined.host), renamed: FxHashMap::default() };
    let mut lets = inlined.bind_arguments(context, &mut names)?;
    names.add_bindings(&inlined.callee);
    let text = CalleeText::of(context, &inlined, &names);
    let body = text.slice(TextRange::new(text.first, inlined.tail.range().start()));
    if !body.trim().is_empty() {
        lets.push(body.trim_end().to_owned());
    }
    let (call, stmt, start) = (inlined.call.range(), inlined.stmt, context.start());
    let path = inlined.root.path_to(call);
    let at =
        path.iter().rposition(|node| node.range() == call && node.kind() == SyntaxKind::CALL_EXPR);
    let parent = at.and_then(|at| at.checked_sub(1)).and_then(|at| path.get(at)).copied();
    let result = text.slice(inlined.tail.range());
    let result = bracketed(&result, inlined.tail.node().kind(), parent, call);
    let mut out = Vec::new();
    if !lets.is_empty() {
        out.push((TextRange::empty(stmt.start()) + start, before(context, stmt.start(), &lets)));
    }
    out.push((call + start, result));
    Ok(out)
}

/// A call that can be inlined, and the parts of its callee.
struct InlinedCall<'c, 'db> {
    /// The function with the call, and its tree.
    host: &'c View<'db>,
    root: Node<'db>,
    call: ast::CallExpr<'db>,
    args: Vec<ast::BlockOrExpr<'db>>,
    /// The statement before which the bindings of the callee are inserted.
    stmt: Node<'db>,
    callee: View<'db>,
    params: Vec<BinderId>,
    body: ast::Block<'db>,
    /// The result of the callee.
    tail: ast::Expr<'db>,
}

impl<'c, 'db> InlinedCall<'c, 'db> {
    fn of(context: &'c Context<'db>) -> Result<InlinedCall<'c, 'db>, String> {
        let nothing = "there is no call of a definition here";
        let (call, callee) = call_at(context).ok_or(nothing)?;
        let (host, root) = context.parts().ok_or(nothing)?;
        let name = callee.def.name(context.db);
        if callee.body.units.iter().any(|unit| unit.globals().any(|(used, _)| used == name)) {
            return Err(format!("`{name}` is recursive"));
        }
        let header = callee.body.header().ok_or(nothing)?;
        if !header.type_params.is_empty() {
            return Err(format!("`{name}` has type parameters"));
        }
        let params = header.params.to_vec();
        let stmt = statement_around(root, call.range())
            .ok_or("the call is in an arm without braces; put the arm's value in braces first")?;
        let node = callee.def.node(context.db);
        let body =
            ast::FnDef::cast(node).and_then(|def| def.body()).ok_or("the callee has no body")?;
        let tail = body.tail().ok_or("the callee has no result")?;
        let args: Vec<ast::BlockOrExpr<'_>> =
            call.args().map(|args| args.args().collect()).unwrap_or_default();
        if args.len() != params.len() {
            let expected = crate::words::counted(params.len() as u64, "argument");
            return Err(format!("`{name}` expects {expected}, found {}", args.len()));
        }
        Ok(InlinedCall { host, root, call, args, stmt, callee, params, body, tail })
    }

    /// Refuses a call whose effects would change places with others: the bindings of the callee, and those of the
    /// arguments, are evaluated before the statement.
    fn check_order(&self) -> Result<(), String> {
        let steps = Steps::of(self.host);
        let effects = steps.of_node(self.call.node());
        let passed = steps.between(self.stmt.start(), self.call.range().start());
        let is_deferred = effects.is_ordered() && self.stmt.kind() == SyntaxKind::GRAPH_STMT;
        let mut graph_args =
            self.args.iter().filter(|arg| arg.node().kind() == SyntaxKind::GRAPH_REF);
        let is_later = graph_args.any(|arg| steps.of_node(arg.node()).is_ordered());
        if is_deferred || is_later || !effects.commutes_with(passed) {
            return Err(ORDER.into());
        }
        Ok(())
    }

    /// Returns the bindings of the arguments that are no variables.
    fn bind_arguments(
        &self,
        context: &Context<'_>,
        names: &mut CalleeNames,
    ) -> Result<Vec<String>, String> {
        let mut lets = Vec::new();
        for (arg, &binder) in self.args.iter().zip(&self.params) {
            let binding = LocalRef { unit: UnitId::HEADER, binder };
            let text = context.slice(arg.range());
            let kind = arg.node().kind();
            if matches!(kind, SyntaxKind::LOCAL_REF | SyntaxKind::GRAPH_REF) {
                names.renamed.insert(binding, text.to_owned());
                continue;
            }
            if kind == SyntaxKind::BLOCK {
                return Err("an argument is a block with bindings".into());
            }
            let fresh = names.host.local(&self.callee.binder(binding).name);
            // The whole definition is outside of the scope of its type parameters.
            let place = self.callee.def.range(self.callee.db);
            let ty = self.callee.binding_type(binding);
            let ty = super::annotate::written(&self.callee, ty, place);
            let ty = ty.map_or(String::new(), |ty| format!(": {ty}"));
            lets.push(format!("let {fresh}{ty} = {text};"));
            names.renamed.insert(binding, fresh);
        }
        Ok(lets)
    }
}

/// The names that the variables of a callee get in the function with the call.
struct CalleeNames {
    /// The names of the function.
    host: Names,
    renamed: FxHashMap<LocalRef, String>,
}

impl CalleeNames {
    /// Names the variables that are no parameters.
    fn add_bindings(&mut self, callee: &View<'_>) {
        for (binding, binder) in bindings(callee) {
            if self.renamed.contains_key(&binding) || binder.name.is_empty() {
                continue;
            }
            let fresh = match binder.kind {
                BinderKind::Graph => self.host.graph(),
                _ => self.host.local(&binder.name),
            };
            self.renamed.insert(binding, fresh);
        }
    }

    /// Returns the edits that rename the variables, with ranges from the start of the callee.
    fn edits(&self, callee: &View<'_>) -> Edits {
        let start = callee.def.start(callee.db);
        let mut edits = Edits::new();
        let uses = names::all_uses(callee);
        for (binding, fresh) in &self.renamed {
            let is_param = binding.unit == UnitId::HEADER;
            if !is_param {
                edits.push((callee.binding_range(*binding) - start, fresh.clone()));
            }
            let places = uses.get(binding).into_iter().flatten();
            edits.extend(places.map(|place| (*place - start, fresh.clone())));
        }
        edits
    }
}

/// The text of a callee as it is written at a call.
struct CalleeText {
    /// The text of the definition, which is not part of the file if it comes from the prelude.
    text: String,
    edits: Edits,
    /// The start of the first statement.
    first: TextSize,
    /// The line break and the indentation of the statements of the callee.
    own_break: String,
    /// Those of the statement with the call.
    new_break: String,
}

impl CalleeText {
    fn of(context: &Context<'_>, inlined: &InlinedCall<'_, '_>, names: &CalleeNames) -> CalleeText {
        let callee = &inlined.callee;
        let text = callee.def.node(callee.db).to_string();
        let first = inlined.body.node().children().next();
        let first = first.map_or(inlined.tail.range().start(), |first| first.start());
        let head = text.get(..usize::from(first)).unwrap_or_default();
        let line = head.rsplit_once('\n').map_or("", |(_, line)| line);
        let own = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let own_break = format!("\n{own}");
        let new_break = format!("\n{}", context.indent_of(inlined.stmt.start()));
        CalleeText { edits: names.edits(callee), text, first, own_break, new_break }
    }

    /// Returns a part of the text, with the new names and the indentation of the call.
    fn slice(&self, range: TextRange) -> String {
        let inside: Edits = self
            .edits
            .iter()
            .filter(|(place, _)| range.contains_range(*place))
            .map(|(place, with)| (*place - range.start(), with.clone()))
            .collect();
        let text = self.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default();
        apply_all(text, &inside).replace(&self.own_break, &self.new_break)
    }
}
