//! A definition with everything that is known of it, for those who speak about it.

use std::sync::Arc;

use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::Type;

use crate::{
    body::*,
    db::{Db, SourceFile},
    infer::{Inference, UnitTypes},
    item::{Def, DefKind, Module},
    module::ModuleTypes,
    queries,
    scope::{Binding, Scopes},
};

/// A place in a body: an expression of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    /// The unit.
    pub unit: usize,
    /// The expression there.
    pub expr: ExprId,
}

/// A definition with its body, names and types.
#[derive(Clone)]
pub struct View<'db> {
    /// The database.
    pub db: &'db dyn Db,
    /// The definition.
    pub def: Def<'db>,
    /// Its module.
    pub module: Module<'db>,
    /// What it computes.
    pub body: Arc<Body>,
    /// Its names.
    pub scopes: Arc<Scopes>,
    /// Its types.
    pub inference: Arc<Inference>,
    /// The data types that it sees.
    pub types: Arc<ModuleTypes>,
}

impl<'db> View<'db> {
    /// A view of a function or a bare expression.
    pub fn new(db: &'db dyn Db, def: Def<'db>) -> Option<View<'db>> {
        let module = crate::item::module(db, def.file(db), def.module(db))?;
        Some(View {
            db,
            def,
            module,
            body: queries::body(db, def),
            scopes: queries::scopes(db, def),
            inference: queries::inference(db, def),
            types: queries::module_types(db, module),
        })
    }

    /// The same definition with other types.
    pub(crate) fn with_types(&self, inference: Arc<Inference>) -> View<'db> {
        View { inference, ..self.clone() }
    }

    /// A unit.
    pub fn unit(&self, unit: usize) -> &Unit {
        &self.body.units[unit]
    }

    /// The types of a unit.
    pub fn unit_types(&self, unit: usize) -> &UnitTypes {
        &self.inference.units[unit]
    }

    /// The type of an expression.
    pub fn ty(&self, spot: Spot) -> &Type {
        self.unit_types(spot.unit).expr(spot.expr)
    }

    /// Returns true if an error leaves the type of an expression open, so that it is assumed, or
    /// follows from one that is.
    pub fn is_assumed(&self, spot: Spot) -> bool {
        self.unit_types(spot.unit).is_assumed(spot.expr)
    }

    /// As [`View::is_assumed`], of a variable.
    pub fn is_assumed_binding(&self, binding: Binding) -> bool {
        self.unit_types(binding.unit as usize).is_assumed_binder(binding.binder)
    }

    /// The type of a variable.
    pub fn binding_type(&self, binding: Binding) -> &Type {
        self.unit_types(binding.unit as usize).binder(binding.binder)
    }

    /// A range of a unit as a range of the file.
    pub fn place(&self, unit: usize, range: TextRange) -> TextRange {
        range + self.body.starts[unit] + self.def.start(self.db)
    }

    /// Where an expression stands in the file.
    pub fn range(&self, spot: Spot) -> TextRange {
        self.place(spot.unit, self.unit(spot.unit).range(spot.expr))
    }

    /// Where the name of a variable stands in the file.
    pub fn binding_range(&self, binding: Binding) -> TextRange {
        let unit = binding.unit as usize;
        self.place(unit, self.unit(unit).binder(binding.binder).range)
    }

    /// The variable that a binding binds.
    pub fn binder(&self, binding: Binding) -> &Binder {
        self.unit(binding.unit as usize).binder(binding.binder)
    }

    /// The text of a range of the file, which lies in this definition.
    pub fn text(&self, range: TextRange) -> String {
        let range = range - self.def.start(self.db);
        let root = self.def.node(self.db);
        let inner = root.path_to(range).pop().unwrap_or(root);
        let text = inner.to_string();
        let range = range - inner.start();
        text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default().to_owned()
    }

    /// An expression as a message shows it: its text if that is short, else what kind it is.
    pub fn describe(&self, spot: Spot) -> String {
        let range = self.range(spot);
        if usize::from(range.len()) <= 40 {
            let text = self.text(range);
            if !text.contains('\n') && !text.is_empty() {
                return format!("`{text}`");
            }
        }
        match self.unit(spot.unit).expr(spot.expr) {
            Expr::Call(call) => match &self.unit(spot.unit).call(*call).callee {
                Callee::Operator(operator) => format!("this call of `{}`", operator.name),
                _ => "this call".into(),
            },
            Expr::Fn(_) => "this function".into(),
            Expr::If { .. } => "this `if`".into(),
            Expr::Match(_) => "this `match`".into(),
            Expr::Tuple(_) => "this tuple".into(),
            _ => "this expression".into(),
        }
    }

    /// The variable that an expression is, if it is nothing else.
    pub fn variable(&self, spot: Spot) -> Option<Binding> {
        match self.unit(spot.unit).expr(spot.expr) {
            Expr::Bound(binder) => Some(Binding { unit: spot.unit as u32, binder: *binder }),
            Expr::Free(free) => self.scopes.get(spot.unit, *free),
            Expr::Dotted { whole, .. } => self.scopes.get(spot.unit, *whole),
            _ => None,
        }
    }

    /// The value that a variable is bound to.
    pub fn value(&self, binding: Binding) -> Option<Spot> {
        let unit = binding.unit as usize;
        self.unit(unit).value_of(binding.binder).map(|expr| Spot { unit, expr })
    }

    /// Follows variables to the expression that they stand for; stops at parameters and patterns.
    pub fn resolve(&self, mut spot: Spot) -> Spot {
        for _ in 0..10_000 {
            match self.variable(spot).and_then(|binding| self.value(binding)) {
                Some(value) => spot = value,
                None => break,
            }
        }
        spot
    }

    /// The written type of a variable: its node, with places counted from the definition.
    pub fn annotation_node(&self, binding: Binding) -> Option<Node<'_>> {
        let at = self.binder(binding).range + self.body.starts[binding.unit as usize];
        let path = self.def.node(self.db).path_to(at);
        let holder = path.iter().rev().find(|node| {
            matches!(
                node.kind(),
                SyntaxKind::PARAM
                    | SyntaxKind::LET_STMT
                    | SyntaxKind::FREE_VAR_STMT
                    | SyntaxKind::VAR_PAT
            )
        })?;
        holder.children().find(|node| ast::Type::can_cast(node.kind()))
    }

    /// Where one size of a written tensor type stands in the file.
    pub fn dim_range(&self, ty: Node<'_>, axis: usize) -> Option<TextRange> {
        let tensor = ast::TensorType::cast(ty)?;
        let dim = tensor.shape()?.dims().nth(axis)?;
        Some(dim.range() + self.def.start(self.db))
    }

    /// Where the result type is written.
    pub fn result_type_node(&self) -> Option<Node<'_>> {
        let def = ast::FnDef::cast(self.def.node(self.db))?;
        def.ret()?.ty().map(|ty| ty.node())
    }

    /// The last use of what a graph binding binds, where one is.
    ///
    /// TVM gives a shared expression the place of its last use.
    pub fn last_use(&self, unit: usize) -> Option<TextRange> {
        let data = self.unit(unit);
        if data.kind != UnitKind::Graph {
            return None;
        }
        self.last_use_of(Binding { unit: unit as u32, binder: data.binds? })
    }

    /// The last use of a variable in the units behind the one that binds it.
    pub fn last_use_of(&self, binding: Binding) -> Option<TextRange> {
        let (user, free) = self.scopes.last_use(&self.body, binding)?;
        let expr = *self.unit(user).uses_of_free(free).last()?;
        Some(self.range(Spot { unit: user, expr }))
    }

    /// The last use of the graph variable inside of a unit whose value `spot` is: in a function
    /// expression, a branch or an arm.
    pub fn last_use_within(&self, spot: Spot) -> Option<TextRange> {
        let unit = self.unit(spot.unit);
        let binder = unit.bound_to(spot.expr)?;
        if unit.binder(binder).kind != BinderKind::Graph {
            return None;
        }
        let expr = *unit.uses_of(binder).last()?;
        Some(self.range(Spot { unit: spot.unit, expr }))
    }

    /// Whether a variable of this name is bound anywhere in the definition.
    pub fn binds_name(&self, name: &str) -> bool {
        self.scopes.binds_name(&self.body, name)
    }

    /// Where the graph bindings begin that stand right before the expression at `range` of the
    /// file, which ends their block.
    ///
    /// TVM gives that expression the place of all of them:
    ///
    /// ```text
    /// %0 = nn.relu(%x);   // here, for TVM, begins
    /// add(%0)             // what is wrong with this
    /// ```
    pub fn block_start(&self, range: TextRange) -> Option<TextRange> {
        let start = self.def.start(self.db);
        let own =
            TextRange::new(range.start().checked_sub(start)?, range.end().checked_sub(start)?);
        let path = self.def.node(self.db).path_to(own);
        let at = path.iter().rposition(|node| node.kind() == SyntaxKind::BLOCK)?;
        let block = path[at];
        let tail = ast::Block::cast(block)?.tail()?.node();
        let is_tail = tail.start() == own.start()
            || tail.kind() == SyntaxKind::PAREN_EXPR && tail.range().contains_range(own);
        if !is_tail {
            return None;
        }
        let run = block.children().rev().skip_while(|node| node.start() >= tail.start());
        let first = run.take_while(|node| node.kind() == SyntaxKind::GRAPH_STMT).last()?;
        let name = first.child(SyntaxKind::NAME)?;
        Some(name.range() + start)
    }

    /// The unit of the definition that `offset` of the file lies in.
    pub fn unit_at(&self, offset: TextSize) -> Option<usize> {
        let offset = offset.checked_sub(self.def.start(self.db))?;
        let at = self.body.starts.partition_point(|&start| start <= offset).checked_sub(1)?;
        Some(at)
    }

    /// Line comments and block comments directly in front of the definition.
    pub fn first_token(&self) -> Option<TextRange> {
        let token = self.def.node(self.db).elements().find_map(|element| match element {
            NodeOrToken::Token(token) if !token.kind().is_trivia() => Some(token),
            _ => None,
        })?;
        Some(token.range() + self.def.start(self.db))
    }
}

/// A type and the text that has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeAt {
    /// The expression, or the name that is bound.
    pub range: TextRange,
    /// Its type.
    pub ty: Type,
}

/// The type of every expression, parameter, variable and pattern variable of a file.
pub fn types_in(db: &dyn Db, file: SourceFile) -> Vec<TypeAt> {
    let mut types = Vec::new();
    let computing = |def: &Def<'_>| matches!(def.kind(db), DefKind::Fn | DefKind::Expr);
    for view in queries::all_defs(db, file).filter(computing).filter_map(|def| View::new(db, def)) {
        for (number, unit) in view.body.units.iter().enumerate() {
            let inferred = view.unit_types(number);
            for (index, expr) in unit.exprs.iter().enumerate() {
                // Steps of the evaluation are no expressions of the text.
                if !expr.is_step() && *expr != Expr::Missing {
                    let id = ExprId(index as u32);
                    let range = view.place(number, unit.range(id));
                    types.push(TypeAt { range, ty: inferred.expr(id).clone() });
                }
            }
            for (index, binder) in unit.binders.iter().enumerate() {
                let ty = inferred.binder(BinderId(index as u32)).clone();
                types.push(TypeAt { range: view.place(number, binder.range), ty });
            }
        }
    }
    types.sort_by_key(|at| (at.range.start(), at.range.end()));
    types
}
