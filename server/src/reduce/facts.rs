//! What a reduction knows of a text: its tree, the variable of each use, and types.

use std::{cell::OnceCell, sync::Arc};

use rustc_hash::FxHashMap;
use semantics::{Code, Diagnostic, Severity, View, body::Expr, writable};
use syntax::{
    Node, Parse, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::Type;

use crate::analyzer::Analyzer;

/// A use of a variable.
#[derive(Clone, Copy)]
pub(super) struct Use {
    /// Its range.
    pub(super) range: TextRange,
    /// The range of the name where it is bound.
    pub(super) binder: TextRange,
}

/// A variable.
pub(super) struct Variable {
    /// The name, with the sigil.
    pub(super) name: String,
    ty: Type,
    written: OnceCell<Option<String>>,
}

/// The form of a type, without sizes and data types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A tensor.
    Tensor,
    /// A tuple of so many fields.
    Tuple(usize),
    /// A function.
    Function,
    /// A reference cell.
    Reference,
}

impl Form {
    /// Returns the form of a written type; `None` if that depends on what its name means.
    pub(super) fn written(ty: ast::Type<'_>) -> Option<Form> {
        match ty.node().kind() {
            SyntaxKind::TENSOR_TYPE => Some(Form::Tensor),
            SyntaxKind::TUPLE_TYPE => Some(Form::Tuple(ty.node().children().count())),
            SyntaxKind::FN_TYPE => Some(Form::Function),
            SyntaxKind::REF_TYPE => Some(Form::Reference),
            _ => None,
        }
    }
}

/// The facts about a text.
pub(super) struct Facts {
    /// The text.
    pub(super) text: String,
    /// Its tree.
    pub(super) parse: Arc<Parse>,
    /// The uses in text order. None contains another one.
    uses: Vec<Use>,
    variables: FxHashMap<TextRange, Variable>,
    types: FxHashMap<TextRange, Type>,
    /// The errors, and those of them that are syntax errors.
    errors: Vec<TextRange>,
    syntax_errors: Vec<TextRange>,
    /// The uses of names that are bound nowhere, which is not reported, since another error explains it.
    silent: Vec<TextRange>,
}

impl Facts {
    /// Collects the facts about the text that the analyzer analysed last, with the diagnostics that it found.
    pub(super) fn of(analyzer: &Analyzer, text: String, found: &[Diagnostic]) -> Facts {
        let errors = found.iter().filter(|found| found.severity == Severity::Error);
        let of_syntax = errors.clone().filter(|error| error.code == Code::SyntaxError);
        let syntax_errors: Vec<TextRange> = of_syntax.map(|error| error.range).collect();
        let errors: Vec<TextRange> = errors.map(|error| error.range).collect();
        let mut silent = Vec::new();
        let (db, file) = analyzer.database();
        let mut uses = Vec::new();
        let mut variables = FxHashMap::default();
        let mut types = FxHashMap::default();
        for view in semantics::all_defs(db, file).filter_map(|def| View::new(db, def)) {
            for (number, _) in view.body.units() {
                for (expr_ref, expr, range) in view.exprs(number) {
                    types.insert(range, view.ty(expr_ref).clone());
                    let is_name =
                        matches!(expr, Expr::Bound(_) | Expr::Free(_) | Expr::Dotted { .. });
                    let Some(local) = view.variable(expr_ref).filter(|_| is_name) else {
                        let is_unbound = matches!(expr, Expr::Free(_));
                        silent.extend(Some(range).filter(|_| is_unbound));
                        continue;
                    };
                    let binder = view.binding_range(local);
                    uses.push(Use { range, binder });
                    variables.entry(binder).or_insert_with(|| Variable {
                        name: view.binder(local).name.to_string(),
                        ty: view.binding_type(local).clone(),
                        written: OnceCell::new(),
                    });
                }
            }
        }
        // Of nested uses (`%input.1`) the whole one is first.
        uses.sort_by_key(|of| (of.range.start(), std::cmp::Reverse(of.range.end())));
        uses.dedup_by(|next, before| before.range.contains_range(next.range));
        silent.retain(|range| !errors.iter().any(|error| error.contains_range(*range)));
        Facts { text, parse: file.parse(db), uses, variables, types, errors, syntax_errors, silent }
    }

    /// Returns the root of the tree.
    pub(super) fn root(&self) -> Node<'_> {
        Node::root(&self.parse.green)
    }

    /// Returns the items of the module.
    pub(super) fn items(&self) -> impl Iterator<Item = ast::Item<'_>> {
        ast::SourceFile::cast(self.root()).into_iter().flat_map(ast::SourceFile::items)
    }

    /// Returns the text of a range.
    pub(super) fn slice(&self, range: TextRange) -> &str {
        self.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default()
    }

    /// Returns the uses of variables within a range.
    pub(super) fn uses_in(&self, range: TextRange) -> &[Use] {
        let from = self.uses.partition_point(|of| of.range.start() < range.start());
        let to = self.uses.partition_point(|of| of.range.start() < range.end());
        self.uses.get(from..to).unwrap_or_default()
    }

    /// Returns true unless parts have an error as soon as what explains it is missing: the tree of a definition with a
    /// syntax error lacks what was not understood, and a name that is bound nowhere is not reported beside another error.
    pub(super) fn is_explained(&self, parts: &[TextRange], replaced: &[TextRange]) -> bool {
        let is_within =
            |ranges: &[TextRange], of: &TextRange| ranges.iter().any(|it| it.contains_range(*of));
        let is_left = |of: &TextRange| is_within(parts, of) && !is_within(replaced, of);
        let path = parts.first().map(|part| self.root().path_to(*part)).unwrap_or_default();
        let mut items = path.iter().filter_map(|node| ast::Item::cast(*node)).map(AstNode::range);
        let is_broken =
            items.any(|item| self.syntax_errors.iter().any(|it| item.contains_range(*it)));
        let needs_error = is_broken || self.silent.iter().any(is_left);
        !needs_error || self.errors.iter().any(is_left)
    }

    /// Returns true if a range has the error that explains others.
    pub(super) fn explains(&self, range: TextRange) -> bool {
        !self.silent.is_empty() && self.errors.iter().any(|error| range.contains_range(*error))
    }

    /// Returns true if a variable is used.
    pub(super) fn is_used(&self, binder: TextRange) -> bool {
        self.variables.contains_key(&binder)
    }

    /// Returns a variable.
    pub(super) fn variable(&self, binder: TextRange) -> Option<&Variable> {
        self.variables.get(&binder)
    }

    /// Returns the type of the value of the block that is reduced.
    pub(super) fn result_type(&self) -> Option<String> {
        self.type_of(self.main_block(None)?.tail?)
    }

    /// Returns the range of the value of the statement that binds a variable; `None` for a parameter.
    pub(super) fn value_of(&self, binder: TextRange) -> Option<TextRange> {
        let path = self.root().path_to(binder);
        let (name, value) = path.iter().rev().find_map(|node| bound(ast::Stmt::cast(*node)?))?;
        (name == binder).then_some(value)
    }

    /// Returns the range of the variable that a value is bound to.
    pub(super) fn binder_of(&self, value: TextRange) -> Option<TextRange> {
        let path = self.root().path_to(value);
        let (name, of) = path.iter().rev().find_map(|node| bound(ast::Stmt::cast(*node)?))?;
        (of == value).then_some(name)
    }

    /// Returns the type of an expression as text, if a module can contain it.
    pub(super) fn type_of(&self, range: TextRange) -> Option<String> {
        self.types.get(&range).and_then(writable)
    }

    /// Returns the form of the value of an expression, or of a variable by the range where it is bound.
    pub(super) fn form_of(&self, range: TextRange) -> Option<Form> {
        let variable = || self.variables.get(&range).map(|variable| &variable.ty);
        match self.types.get(&range).or_else(variable)? {
            Type::Tensor(_) | Type::OpenTensor(_) => Some(Form::Tensor),
            Type::Tuple(tuple) => Some(Form::Tuple(tuple.len())),
            Type::Func(_) => Some(Form::Function),
            Type::Ref(_) => Some(Form::Reference),
            _ => None,
        }
    }

    /// Returns the annotation with which a variable can be declared as a parameter: that of a parameter
    /// as it is written, or else its type. The inner value is `None` for a parameter without one; the outer one
    /// if the type is not known or is disputed.
    pub(super) fn declaration(&self, binder: TextRange) -> Option<Option<String>> {
        let path = self.root().path_to(binder);
        let holder = path.iter().rev().find_map(|node| ast::Param::cast(*node));
        if let Some(param) = holder.filter(|param| is_named(*param, binder)) {
            return Some(param.ty().map(|ty| without_comments(self.slice(ty.range()))));
        }
        // Of a binding with an error, its annotation and its value may say different types.
        let mut lets = path.iter().filter_map(|node| ast::LetStmt::cast(*node));
        let is_disputed = |stmt: ast::LetStmt<'_>| {
            stmt.name().is_some_and(|name| name.range() == binder)
                && stmt.ty().is_some()
                && self.errors.iter().any(|error| stmt.range().contains_range(*error))
        };
        if lets.any(is_disputed) {
            return None;
        }
        let variable = self.variables.get(&binder)?;
        let written = variable.written.get_or_init(|| writable(&variable.ty));
        written.clone().map(Some)
    }

    /// Returns the blocks, each with the ranges of its statements, that contain a range, the innermost first.
    pub(super) fn blocks_around(&self, range: TextRange) -> Vec<Block> {
        let path = self.root().path_to(range);
        path.iter().rev().filter_map(|node| self.block(ast::Block::cast(*node)?)).collect()
    }

    /// Returns the block that is reduced: that of the definition around the place, or else of `@main`, or else of the
    /// last definition or bare expression.
    pub(super) fn main_block(&self, place: Option<TextRange>) -> Option<Block> {
        let bodies = self.bodies();
        let around = |place| bodies.iter().find(|body| body.0.contains_range(place));
        let found = place.and_then(around).or_else(|| bodies.iter().find(|body| body.1));
        self.block(found.or_else(|| bodies.last())?.2)
    }

    /// Returns the blocks of all definitions.
    pub(super) fn blocks(&self) -> Vec<Block> {
        self.bodies().into_iter().filter_map(|body| self.block(body.2)).collect()
    }

    /// Returns the bodies of definitions: the range of the definition, true for `@main`, and the block.
    fn bodies(&self) -> Vec<(TextRange, bool, ast::Block<'_>)> {
        let bodies = self.items().filter_map(|item| match item {
            ast::Item::FnDef(def) => {
                let is_main = def.name().is_some_and(|name| name.text() == "@main");
                Some((item.range(), is_main, def.body()?))
            }
            ast::Item::ExprItem(expr) => Some((item.range(), false, expr.block()?)),
            _ => None,
        });
        bodies.collect()
    }

    fn block(&self, block: ast::Block<'_>) -> Option<Block> {
        let stmt = |stmt: ast::Stmt<'_>| {
            let (binder, is_free) = match stmt {
                ast::Stmt::LetStmt(it) => (it.name(), false),
                ast::Stmt::GraphStmt(it) => (it.name(), false),
                ast::Stmt::FreeVarStmt(it) => (it.name(), true),
                ast::Stmt::ExprStmt(_) => (None, false),
            };
            let binder = binder.map(|name| name.range());
            Stmt { range: stmt.range(), binder, is_free }
        };
        let stmts: Vec<Stmt> = block.stmts().map(stmt).collect();
        let tail = block.tail().map(|tail| tail.range());
        (tail.is_some() || !stmts.is_empty()).then_some(Block { range: block.range(), stmts, tail })
    }
}

/// Returns the ranges of the variable and the value of a statement.
fn bound(stmt: ast::Stmt<'_>) -> Option<(TextRange, TextRange)> {
    let (name, value) = match stmt {
        ast::Stmt::LetStmt(it) => (it.name()?, it.value()?.range()),
        ast::Stmt::GraphStmt(it) => (it.name()?, it.value()?.range()),
        ast::Stmt::FreeVarStmt(_) | ast::Stmt::ExprStmt(_) => return None,
    };
    Some((name.range(), value))
}

fn is_named(param: ast::Param<'_>, binder: TextRange) -> bool {
    param.name().is_some_and(|name| name.range() == binder)
}

/// The statements of a block.
#[derive(Clone)]
pub(super) struct Block {
    /// Its range.
    pub(super) range: TextRange,
    /// Its statements.
    pub(super) stmts: Vec<Stmt>,
    /// Its value.
    pub(super) tail: Option<TextRange>,
}

/// A statement.
#[derive(Clone, Copy)]
pub(super) struct Stmt {
    /// Its range.
    pub(super) range: TextRange,
    /// The range of the name that it binds.
    pub(super) binder: Option<TextRange>,
    /// True for `free_var`.
    pub(super) is_free: bool,
}

/// Returns a text with comments replaced by spaces.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (kind, range) in tokens(text) {
        out += if is_comment(kind) { " " } else { &text[range] };
    }
    out
}

/// Returns true for a comment.
pub(super) fn is_comment(kind: SyntaxKind) -> bool {
    kind.is_trivia() && kind != SyntaxKind::WHITESPACE
}

/// Returns a range of bytes of a text.
pub(super) fn text_range(range: std::ops::Range<usize>) -> Option<TextRange> {
    let [start, end] = [range.start, range.end].map(|at| u32::try_from(at).ok());
    Some(TextRange::new(start?.into(), end?.into()))
}

/// Returns the tokens of a text.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = (SyntaxKind, std::ops::Range<usize>)> {
    let mut start = 0;
    syntax::tokens(text).map(move |(kind, end)| {
        let end = usize::from(end);
        (kind, std::mem::replace(&mut start, end)..end)
    })
}
