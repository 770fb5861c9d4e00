//! Changes of the text that keep its meaning, offered where they make sense.
//!
//! To offer one costs next to nothing; its edits are made when it is chosen, and then looked at:
//! the text with the edits has no error that it did not have before, and every definition has the
//! type that it had. A change that does not pass is not made, and says why.

mod annotate;
mod arms;
mod bindings;
mod check;
mod extract;
mod file;
mod infix;
mod inline;
mod mend;
pub(crate) mod names;
mod unused;

use std::cell::OnceCell;

use semantics::{Db, Def, DefKind, Module, SourceFile, View};
use syntax::{Node, NodeOrToken, SyntaxKind, TextRange, TextSize, ast, ast::AstNode};

use crate::{
    edit::Edits,
    place::{Place, def_at, place_at},
};

/// What kind of change it is, which decides where an editor shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionKind {
    /// It mends what a diagnostic says.
    QuickFix,
    /// The same in other words.
    Rewrite,
    /// A name gives way to what it stands for.
    Inline,
    /// Something gets a name.
    Extract,
    /// It is about the whole file.
    Source,
    /// It mends everything in the file that can be mended without a choice.
    FixAll,
}

/// A change that is offered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// By which it is asked for.
    pub id: &'static str,
    /// How a menu shows it.
    pub title: String,
    /// What kind of change it is.
    pub kind: ActionKind,
}

/// What is known of an action.
struct Row {
    id: &'static str,
    kind: ActionKind,
    /// Its title, where it makes sense.
    offer: fn(&Context<'_>) -> Option<String>,
    /// Its edits.
    edits: fn(&Context<'_>) -> Result<Edits, String>,
    /// How far the result may differ.
    check: check::Level,
}

const ROWS: &[Row] = &[
    Row {
        id: "write-type",
        kind: ActionKind::Rewrite,
        offer: annotate::offer_one,
        edits: annotate::one,
        check: check::Level::Written,
    },
    Row {
        id: "write-all-types",
        kind: ActionKind::Source,
        offer: annotate::offer_all,
        edits: annotate::all,
        check: check::Level::Written,
    },
    Row {
        id: "fill-arms",
        kind: ActionKind::QuickFix,
        offer: arms::offer,
        edits: arms::edits,
        check: check::Level::Errors,
    },
    Row {
        id: "mend-shapes",
        kind: ActionKind::QuickFix,
        offer: mend::offer,
        edits: mend::edits,
        check: check::Level::Errors,
    },
    Row {
        id: "graph-to-let",
        kind: ActionKind::Rewrite,
        offer: bindings::offer_let,
        edits: bindings::to_let,
        check: check::Level::Meaning,
    },
    Row {
        id: "let-to-graph",
        kind: ActionKind::Rewrite,
        offer: bindings::offer_graph,
        edits: bindings::to_graph,
        check: check::Level::Meaning,
    },
    Row {
        id: "inline-call",
        kind: ActionKind::Inline,
        offer: inline::offer_call,
        edits: inline::call,
        check: check::Level::Meaning,
    },
    Row {
        id: "inline-variable",
        kind: ActionKind::Inline,
        offer: inline::offer_variable,
        edits: inline::variable,
        check: check::Level::Meaning,
    },
    Row {
        id: "extract-variable",
        kind: ActionKind::Extract,
        offer: extract::offer_variable,
        edits: extract::variable,
        check: check::Level::Meaning,
    },
    Row {
        id: "extract-definition",
        kind: ActionKind::Extract,
        offer: extract::offer_definition,
        edits: extract::definition,
        check: check::Level::Meaning,
    },
    Row {
        id: "to-infix",
        kind: ActionKind::Rewrite,
        offer: infix::offer_infix,
        edits: infix::to_infix,
        check: check::Level::Types,
    },
    Row {
        id: "to-call",
        kind: ActionKind::Rewrite,
        offer: infix::offer_call,
        edits: infix::to_call,
        check: check::Level::Types,
    },
    Row {
        id: "remove-unused",
        kind: ActionKind::QuickFix,
        offer: unused::offer_one,
        edits: unused::one,
        check: check::Level::Types,
    },
    Row {
        id: "remove-all-unused",
        kind: ActionKind::Source,
        offer: unused::offer_all,
        edits: unused::all,
        check: check::Level::Types,
    },
    Row {
        id: "add-version",
        kind: ActionKind::Source,
        offer: file::offer_version,
        edits: file::version,
        check: check::Level::Types,
    },
    Row {
        id: "to-tvm",
        kind: ActionKind::Source,
        offer: file::offer_tvm,
        edits: file::tvm,
        check: check::Level::Errors,
    },
    Row {
        id: "correct-all",
        kind: ActionKind::QuickFix,
        offer: file::offer_correct_all,
        edits: file::correct_all,
        check: check::Level::Errors,
    },
    Row {
        id: "fix-all",
        kind: ActionKind::FixAll,
        offer: file::offer_fix_all,
        edits: file::fix_all,
        check: check::Level::Errors,
    },
];

/// What can be done at `range`: the cursor, or a selection.
pub fn actions(db: &dyn Db, file: SourceFile, range: TextRange) -> Vec<Action> {
    let context = Context::new(db, file, range);
    ROWS.iter()
        .filter_map(|row| {
            let title = (row.offer)(&context)?;
            Some(Action { id: row.id, title, kind: row.kind })
        })
        .collect()
}

/// The edits of the action `id` at `range`, checked.
///
/// # Errors
/// Why it is not done.
pub fn resolve(db: &dyn Db, file: SourceFile, range: TextRange, id: &str) -> Result<Edits, String> {
    let context = Context::new(db, file, range);
    let row = ROWS.iter().find(|row| row.id == id).ok_or("there is no such action")?;
    let mut edits = (row.edits)(&context)?;
    edits.sort_by_key(|(range, _)| (range.start(), range.end()));
    check::check(&context, &edits, row.check)?;
    Ok(edits)
}

/// Where an action is asked for.
struct Context<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    /// The selection, without white space at its ends.
    range: TextRange,
    module: Option<Module<'db>>,
    def: Option<Def<'db>>,
    view: Option<View<'db>>,
    /// What stands at the beginning of the selection.
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
        let view = def
            .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr))
            .and_then(|def| View::new(db, def));
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

    /// The whole text.
    fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let parse = self.file.parse(self.db);
            Node::root(&parse.green).to_string()
        })
    }

    /// Where the definition begins.
    fn start(&self) -> TextSize {
        self.def.map_or(TextSize::new(0), |def| def.start(self.db))
    }

    /// The tree of the definition, its offsets counted from the definition's start.
    fn root(&self) -> Option<Node<'db>> {
        self.def.map(|def| def.node(self.db))
    }

    /// The nodes around the cursor or the selection, the innermost first.
    fn around(&self) -> Vec<Node<'db>> {
        let mut path = match (self.range.is_empty(), &self.place, self.root()) {
            (true, Some(place), _) => place.path.clone(),
            (false, _, Some(root)) => root.path_to(self.range - self.start()),
            _ => Vec::new(),
        };
        path.reverse();
        path
    }

    /// The innermost node of a kind around the cursor or the selection.
    fn nearest(&self, kind: SyntaxKind) -> Option<Node<'db>> {
        self.around().into_iter().find(|node| node.kind() == kind)
    }

    /// The text of a range of the definition.
    fn slice(&self, range: TextRange) -> &str {
        let range = std::ops::Range::<usize>::from(range + self.start());
        self.text().get(range).unwrap_or_default()
    }

    /// A statement, by its place in the file, together with its line, if it has one to itself.
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

    /// The white space that the line of a place begins with.
    fn indent_of(&self, at: TextSize) -> &str {
        let text = self.text();
        let head = text.get(..usize::from(at + self.start())).unwrap_or_default();
        let line = head.rsplit_once('\n').map_or(head, |(_, line)| line);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

/// A range without white space at its ends.
fn trimmed(root: Node<'_>, range: TextRange) -> TextRange {
    let (mut start, mut end) = (range.start(), range.end());
    while start < end {
        match root.token_at(start) {
            Some(token) if token.kind() == SyntaxKind::WHITESPACE => {
                start = token.range().end().min(end);
            }
            _ => break,
        }
    }
    while start < end {
        let left = end.checked_sub(1.into()).and_then(|left| root.token_at(left));
        match left {
            Some(token) if token.kind() == SyntaxKind::WHITESPACE => end = token.start().max(start),
            _ => break,
        }
    }
    TextRange::new(start, end)
}

/// An expression with the type comments directly behind it.
fn with_comments(parent: Node<'_>, node: Node<'_>) -> TextRange {
    let mut end = node.range().end();
    for element in parent.elements().skip_while(|e| match e {
        NodeOrToken::Node(n) => n.range().end() <= node.range().end(),
        NodeOrToken::Token(t) => t.range().end() <= node.range().end(),
    }) {
        match element {
            NodeOrToken::Token(token) if token.kind() == SyntaxKind::WHITESPACE => {}
            NodeOrToken::Token(token) if token.kind() == SyntaxKind::BLOCK_COMMENT => {
                end = token.range().end();
            }
            _ => break,
        }
    }
    TextRange::new(node.start(), end)
}

/// Whether an expression is no computation: a variable, a number, a global.
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

/// Whether a node holds a block, or the arms of a `match`.
fn has_lines(node: Node<'_>) -> bool {
    let mut inside = node.descendants();
    inside.any(|node| matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::ARM_LIST))
}

/// Whether anything in a node reads or writes a reference, or may.
fn has_effects(node: Node<'_>) -> bool {
    node.descendants().any(|node| {
        matches!(
            node.kind(),
            SyntaxKind::REF_EXPR | SyntaxKind::REF_READ_EXPR | SyntaxKind::REF_WRITE_EXPR
        )
    })
}

/// Whether anything in the module has to do with references; where nothing has, the order of
/// evaluation does not matter.
fn module_has_effects(context: &Context<'_>) -> bool {
    let Some(module) = context.module else { return false };
    module.items(context.db).iter().any(|def| {
        matches!(def.kind(context.db), DefKind::Fn | DefKind::Expr)
            && has_effects(def.node(context.db))
    })
}

#[cfg(test)]
mod tests;
