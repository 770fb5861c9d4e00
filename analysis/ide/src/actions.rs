//! Code actions: quick fixes and refactorings.
//!
//! Offering an action is cheap, because a client requests actions at every cursor move; its edits
//! are computed when the client resolves it. The edited text is then checked: it must have no new
//! error, and every definition must keep its type. An action that fails the check returns the
//! reason instead of edits.
//!
//! For example, *Inline `%y`* turns `let %y = add(%x, 1); multiply(%y, %x)` into
//! `multiply(add(%x, 1), %x)`.

mod annotate;
mod arms;
mod bindings;
mod check;
mod effects;
mod extract;
mod file;
mod fix_shapes;
mod infix;
mod inline;
pub(crate) mod names;
mod unused;

use std::cell::OnceCell;

use semantics::{
    Db, Def, Module, SourceFile, View,
    body::{BinderKind, LocalRef},
};
use syntax::{
    Element, Node, NodeOrToken, SyntaxKind, TextRange, TextSize, ast, ast::AstNode, element_range,
};

use ActionKind::*;
use check::Level::{self, *};

use crate::{
    edit::{Edits, line_break, with_line_break},
    place::{Place, Symbol, def_at, place_at},
};

/// The kind of an action, which decides where an editor shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionKind {
    /// Fixes a diagnostic.
    QuickFix,
    /// Rewrites an expression to an equivalent one.
    Rewrite,
    /// Replaces a name by its value.
    Inline,
    /// Gives a name to an expression or to statements.
    Extract,
    /// Changes the whole file.
    Source,
    /// Applies every fix in the file that is unambiguous.
    FixAll,
}

/// An action that is offered to the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// The identifier that [`resolve`] takes.
    pub id: &'static str,
    /// The title in the menu.
    pub title: String,
    /// The kind, which decides where an editor shows it.
    pub kind: ActionKind,
}

/// A row of the table of actions.
struct Row {
    id: &'static str,
    kind: ActionKind,
    /// Returns the title if the action applies at the cursor.
    offer: fn(&Context<'_>) -> Option<String>,
    /// Returns the edits, or the reason why there are none.
    edits: fn(&Context<'_>) -> Result<Edits, String>,
    /// The properties that the edited text has to keep.
    check: Level,
}

const fn row(
    id: &'static str,
    kind: ActionKind,
    check: Level,
    offer: fn(&Context<'_>) -> Option<String>,
    edits: fn(&Context<'_>) -> Result<Edits, String>,
) -> Row {
    Row { id, kind, offer, edits, check }
}

/// The actions. A row is an identifier, the kind, what the edited text has to keep, and the functions that offer the
/// action and return its edits.
const ROWS: &[Row] = &[
    row("write-type", Rewrite, Written, annotate::offer_one, annotate::one),
    row("write-all-types", Source, Written, annotate::offer_all, annotate::all),
    row("fill-arms", QuickFix, Errors, arms::offer, arms::edits),
    row("fix-shapes", QuickFix, Errors, fix_shapes::offer, fix_shapes::edits),
    row("graph-to-let", Rewrite, Meaning, bindings::offer_let, bindings::to_let),
    row("let-to-graph", Rewrite, Meaning, bindings::offer_graph, bindings::to_graph),
    row("inline-call", Inline, Meaning, inline::offer_call, inline::call),
    row("inline-variable", Inline, Meaning, inline::offer_variable, inline::variable),
    row("extract-variable", Extract, Meaning, extract::offer_variable, extract::variable),
    row("extract-definition", Extract, Meaning, extract::offer_definition, extract::definition),
    row("to-infix", Rewrite, Types, infix::offer_infix, infix::to_infix),
    row("to-call", Rewrite, Types, infix::offer_call, infix::to_call),
    row("remove-unused", QuickFix, Types, unused::offer_one, unused::one),
    row("remove-all-unused", Source, Types, unused::offer_all, unused::all),
    row("add-version", Source, Types, file::offer_version, file::version),
    row("to-tvm", Source, Errors, file::offer_tvm, file::tvm),
    row("fix-all-of-code", QuickFix, Errors, file::offer_fix_code, file::fix_code),
    row("fix-all", FixAll, Errors, file::offer_fix_all, file::fix_all),
];

/// Returns the actions at `range`, the cursor or a selection.
pub fn actions(db: &dyn Db, file: SourceFile, range: TextRange) -> Vec<Action> {
    let context = Context::new(db, file, range);
    ROWS.iter()
        .filter_map(|row| {
            let title = (row.offer)(&context)?;
            Some(Action { id: row.id, title, kind: row.kind })
        })
        .collect()
}

/// Returns the checked edits of the action `id` at `range`, in order of their ranges.
///
/// # Errors
/// Returns the reason, as a text for the user, why the action cannot be applied.
pub fn resolve(db: &dyn Db, file: SourceFile, range: TextRange, id: &str) -> Result<Edits, String> {
    let context = Context::new(db, file, range);
    let row = ROWS.iter().find(|row| row.id == id).ok_or("there is no such action")?;
    let mut edits = (row.edits)(&context)?;
    edits.sort_by_key(|(range, _)| (range.start(), range.end()));
    for (_, with) in edits.iter_mut().filter(|(_, with)| with.contains('\n')) {
        *with = with_line_break(with, line_break(context.text())).into_owned();
    }
    check::check(&context, &edits, row.check)?;
    Ok(edits)
}

/// The place for which actions are requested.
struct Context<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    /// The selection, without white space at its ends.
    range: TextRange,
    module: Option<Module<'db>>,
    def: Option<Def<'db>>,
    view: Option<View<'db>>,
    /// The token and nodes at the start of the selection.
    place: Option<Place<'db>>,
    text: OnceCell<String>,
}

impl<'db> Context<'db> {
    fn new(db: &'db dyn Db, file: SourceFile, range: TextRange) -> Context<'db> {
        let found = def_at(db, file, range.start());
        let def = found.map(|(_, def)| def).filter(|def| def.range(db).contains_range(range));
        let mut range = range;
        if let Some(def) = def.filter(|_| !range.is_empty()) {
            range = trimmed(def.node(db), range - def.start(db)) + def.start(db);
        }
        let view = def.and_then(|def| View::new(db, def));
        Context {
            db,
            file,
            range,
            module: found.map(|(module, _)| module),
            def,
            view,
            place: place_at(db, file, range.start()),
            text: OnceCell::new(),
        }
    }

    /// Returns the text of the file.
    fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let parse = self.file.parse(self.db);
            Node::root(&parse.green).to_string()
        })
    }

    /// Returns the offset of the definition in the file.
    fn start(&self) -> TextSize {
        self.def.map_or(TextSize::new(0), |def| def.start(self.db))
    }

    /// Returns the tree of the definition, with offsets relative to the definition's start.
    fn root(&self) -> Option<Node<'db>> {
        self.def.map(|def| def.node(self.db))
    }

    /// Returns the analysis and the tree of the definition.
    fn parts(&self) -> Option<(&View<'db>, Node<'db>)> {
        self.view.as_ref().zip(self.root())
    }

    /// Returns the `let` or graph variable at the cursor, and the range of its name there.
    fn bound_at(&self) -> Option<(LocalRef, TextRange)> {
        let (Symbol::Local(binding), range) = self.place.as_ref()?.symbol(self.db)? else {
            return None;
        };
        let kind = self.view.as_ref()?.binder(binding).kind;
        matches!(kind, BinderKind::Let | BinderKind::Graph)
            .then_some((binding, range + self.start()))
    }

    /// Returns the nodes around the cursor or the selection, the innermost first.
    fn around(&self) -> Vec<Node<'db>> {
        let mut path = match (self.range.is_empty(), &self.place, self.root()) {
            (true, Some(place), _) => place.path.clone(),
            (false, _, Some(root)) => root.path_to(self.range - self.start()),
            _ => Vec::new(),
        };
        path.reverse();
        path
    }

    /// Returns the innermost node of a kind around the cursor or the selection.
    fn nearest(&self, kind: SyntaxKind) -> Option<Node<'db>> {
        self.around().into_iter().find(|node| node.kind() == kind)
    }

    /// Returns the text of a range that is relative to the definition.
    fn slice(&self, range: TextRange) -> &str {
        let range = std::ops::Range::<usize>::from(range + self.start());
        self.text().get(range).unwrap_or_default()
    }

    /// Extends the range of a statement in the file to its whole line if nothing else is on it.
    fn whole_line(&self, absolute: TextRange) -> TextRange {
        let text = self.text();
        let (start, end) = (usize::from(absolute.start()), usize::from(absolute.end()));
        let (Some(head), Some(tail)) = (text.get(..start), text.get(end..)) else {
            return absolute;
        };
        let indent = head.len() - head.trim_end_matches([' ', '\t']).len();
        let begins = head[..start - indent].ends_with('\n');
        let blank = tail.len() - tail.trim_start_matches([' ', '\t', '\r']).len();
        let ends = tail[blank..].starts_with('\n');
        let cut = match (begins, ends) {
            (true, true) => (start - indent, end + blank + 1),
            (_, true) => (start - indent, end + blank),
            _ => (start, end + blank),
        };
        let size = |at: usize| TextSize::new(at as u32);
        TextRange::new(size(cut.0), size(cut.1))
    }

    /// Returns the indentation of the line at an offset of the definition.
    fn indent_of(&self, at: TextSize) -> &str {
        let text = self.text();
        let head = text.get(..usize::from(at + self.start())).unwrap_or_default();
        let line = head.rsplit_once('\n').map_or(head, |(_, line)| line);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

/// Returns the range without white space at its ends.
fn trimmed(root: Node<'_>, range: TextRange) -> TextRange {
    let (mut start, mut end) = (range.start(), range.end());
    let space_at = |at| root.token_at(at).filter(|token| token.kind() == SyntaxKind::WHITESPACE);
    while let Some(space) = space_at(start).filter(|_| start < end) {
        start = space.range().end().min(end);
    }
    while start < end
        && let Some(space) = end.checked_sub(1.into()).and_then(space_at)
    {
        end = space.start().max(start);
    }
    TextRange::new(start, end)
}

/// Returns the range of an expression and of the comments that follow it: `%x /* ty=int32 */`.
fn with_comments(parent: Node<'_>, node: Node<'_>) -> TextRange {
    let mut end = node.range().end();
    let is_before = |element: &Element<'_>| element_range(element).end() <= node.range().end();
    for token in parent.elements().skip_while(is_before).map_while(NodeOrToken::into_token) {
        match token.kind() {
            SyntaxKind::WHITESPACE => {}
            SyntaxKind::BLOCK_COMMENT => end = token.range().end(),
            _ => break,
        }
    }
    TextRange::new(node.start(), end)
}

/// Returns true if an expression computes nothing: a variable, a literal or a global.
fn is_atom(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        SyntaxKind::LITERAL
            | SyntaxKind::LOCAL_REF
            | SyntaxKind::GRAPH_REF
            | SyntaxKind::GLOBAL_REF
            | SyntaxKind::NAME_REF
            | SyntaxKind::META_EXPR
    )
}

fn is_expr(node: Node<'_>) -> bool {
    ast::Expr::can_cast(node.kind())
}

/// Returns true if a node contains a block or the arms of a `match`.
fn has_lines(node: Node<'_>) -> bool {
    let mut inside = node.descendants();
    inside.any(|node| matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::ARM_LIST))
}

#[cfg(test)]
mod tests;
