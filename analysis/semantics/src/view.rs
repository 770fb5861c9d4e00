//! The view of a definition: its body, names and types, with lookups for diagnostics and IDE
//! features.

mod names;

use std::sync::Arc;

use salsa::plumbing::AsId;
use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::Type;

use crate::{
    body::*,
    db::{Db, SourceFile},
    diagnostic::InDef,
    effects::BodyEffects,
    infer::{Finding, FindingSubject, Inference, UnitTypes},
    item::{Def, DefKind, Module},
    module::ModuleTypes,
    queries,
    scope::Scopes,
};

/// A definition with its body, names and types.
///
/// Ranges are those of the file, except in a view of [`View::relative`].
#[derive(Clone)]
pub struct View<'db> {
    /// The database.
    pub db: &'db dyn Db,
    /// The definition.
    pub def: Def<'db>,
    /// Its module.
    pub module: Module<'db>,
    /// Its body.
    pub body: Arc<Body>,
    /// The source map of the body.
    pub source: Arc<SourceMap>,
    /// Its names.
    pub scopes: Arc<Scopes>,
    /// Its types.
    pub inference: Arc<Inference>,
    /// The data types in scope.
    pub types: Arc<ModuleTypes>,
    /// See [`View::start`].
    start: TextSize,
}

impl<'db> View<'db> {
    /// Returns the view of a function or a bare expression, with ranges of the file; `None` for other
    /// definitions.
    pub fn new(db: &'db dyn Db, def: Def<'db>) -> Option<View<'db>> {
        View::from_start(db, def, def.start(db))
    }

    /// Like [`View::new`], with ranges from the start of the definition. A query that uses this view
    /// alone does not depend on the place of the definition in the file.
    pub(crate) fn relative(db: &'db dyn Db, def: Def<'db>) -> Option<View<'db>> {
        View::from_start(db, def, TextSize::new(0))
    }

    fn from_start(db: &'db dyn Db, def: Def<'db>, start: TextSize) -> Option<View<'db>> {
        let module = crate::item::module(db, def.file(db), def.module(db))?;
        def.kind(db).has_body().then(|| View {
            db,
            def,
            module,
            body: queries::body(db, def),
            source: queries::source_map(db, def),
            scopes: queries::scopes(db, def),
            inference: queries::inference(db, def),
            types: queries::module_types(db, module),
            start,
        })
    }

    /// Returns a view of the same definition with other types.
    pub(crate) fn with_types(&self, inference: Arc<Inference>) -> View<'db> {
        View { inference, ..self.clone() }
    }

    /// Returns a unit.
    pub fn unit(&self, unit: UnitId) -> &Unit {
        self.body.unit(unit)
    }

    /// Returns the types of a unit.
    pub fn unit_types(&self, unit: UnitId) -> &UnitTypes {
        &self.inference.units[unit.index()]
    }

    /// Returns true if inference found an error in the definition.
    pub fn has_type_errors(&self) -> bool {
        self.inference.units.iter().flat_map(|unit| &unit.findings).any(Finding::is_error)
    }

    /// Returns the function that a bare expression is, as in `fn (%x: int32) { add(%x, 1) }`, which TVM 0.5 to 0.7
    /// print for a function without a module.
    pub fn bare_function(&self) -> Option<(UnitId, &Function)> {
        if self.def.kind(self.db) != DefKind::Expr {
            return None;
        }
        let (number, unit) = self.body.units().find(|(_, unit)| unit.kind != UnitKind::Header)?;
        let expr = unit.root.filter(|_| unit.kind == UnitKind::Tail)?;
        Some((number, self.function(ExprRef { unit: number, expr })?))
    }

    /// Returns what a run of the definition is given: the parameters of a function, also of a bare one, or the
    /// `free_var`s of a bare expression.
    pub fn parameters(&self) -> Vec<LocalRef> {
        let bare = self.bare_function();
        let mut parameters = Vec::new();
        for (number, unit) in self.body.units() {
            let is_given = matches!(unit.kind, UnitKind::Header | UnitKind::FreeVar);
            let given = unit.exported().filter(|_| is_given);
            let bare = bare.into_iter().filter(|(unit, _)| *unit == number);
            let bare = bare.flat_map(|(_, function)| function.params.iter().copied());
            parameters.extend(given.chain(bare).map(|binder| LocalRef { unit: number, binder }));
        }
        parameters
    }

    /// Returns true if a variable is one of [`View::parameters`], without looking at all units.
    pub fn is_parameter(&self, binding: LocalRef) -> bool {
        let unit = self.unit(binding.unit);
        let is_of = |function: &Function| function.params.contains(&binding.binder);
        let is_free = unit.kind == UnitKind::FreeVar && unit.binds == Some(binding.binder);
        let bare = self.bare_function().filter(|(number, _)| *number == binding.unit);
        is_free || unit.header().is_some_and(is_of) || bare.is_some_and(|(_, bare)| is_of(bare))
    }

    /// Returns the type of an expression.
    pub fn ty(&self, expr_ref: ExprRef) -> &Type {
        self.unit_types(expr_ref.unit).expr(expr_ref.expr)
    }

    /// Returns true if the type of an expression is assumed because of an error, or depends on an
    /// assumed type.
    pub fn is_assumed(&self, expr_ref: ExprRef) -> bool {
        self.inference.is_assumed(&self.body, &self.scopes, expr_ref.unit.index(), expr_ref.expr)
    }

    /// Like [`View::is_assumed`], for a variable.
    pub fn is_assumed_binding(&self, binding: LocalRef) -> bool {
        self.inference.is_assumed_variable(binding)
    }

    /// Returns the effects of the expressions.
    pub fn effects(&self) -> Arc<BodyEffects> {
        queries::effects(self.db, self.def)
    }

    /// Returns the type of a variable.
    pub fn binding_type(&self, binding: LocalRef) -> &Type {
        self.unit_types(binding.unit).binder(binding.binder)
    }

    /// Returns the offset of the definition from which ranges are computed: 0 in a view of [`View::relative`].
    pub(crate) fn start(&self) -> TextSize {
        self.start
    }

    /// Returns the tree of the definition with the ranges of this view.
    pub(crate) fn root(&self) -> Node<'_> {
        Node::at(self.def.green(self.db), self.start())
    }

    /// Returns the range of the name of the definition.
    pub(crate) fn name_range(&self) -> TextRange {
        self.def.name_range(self.db) + self.start()
    }

    /// Returns the place of a range of a definition of the file, from the start of that definition.
    pub(crate) fn place_in(&self, def: Def<'db>, range: TextRange) -> InDef {
        match def == self.def {
            true => InDef::from(range + self.start),
            false => InDef { def: Some(def.as_id()), range },
        }
    }

    /// Returns the range of a part of a unit in the file.
    pub fn place(&self, unit: UnitId, id: RangeId) -> TextRange {
        self.source.range(unit, id) + self.start()
    }

    /// Returns the expressions of a unit that are written in the text, with their ranges in the file.
    pub fn exprs(&self, unit: UnitId) -> impl Iterator<Item = (ExprRef, &Expr, TextRange)> {
        let start = self.start();
        let exprs = self.source.exprs(&self.body, unit);
        exprs.map(move |(id, expr, range)| (ExprRef { unit, expr: id }, expr, range + start))
    }

    /// Returns the calls of a unit, with their ranges in the file.
    pub fn calls(&self, unit: UnitId) -> impl Iterator<Item = (&CallData, TextRange)> {
        self.exprs(unit).filter_map(move |(_, expr, range)| match expr {
            Expr::Call(call) => Some((self.unit(unit).call(*call), range)),
            _ => None,
        })
    }

    /// Returns the call that an expression is.
    pub fn call(&self, expr_ref: ExprRef) -> Option<&CallData> {
        let unit = self.unit(expr_ref.unit);
        match unit.expr(expr_ref.expr) {
            Expr::Call(call) => Some(unit.call(*call)),
            _ => None,
        }
    }

    /// Returns the function that an expression is.
    pub fn function(&self, expr_ref: ExprRef) -> Option<&Function> {
        let unit = self.unit(expr_ref.unit);
        match unit.expr(expr_ref.expr) {
            Expr::Fn(function) => unit.fns.get(function.index()),
            _ => None,
        }
    }

    /// Returns the range of a unit in the file.
    pub fn unit_range(&self, unit: UnitId) -> TextRange {
        self.source.unit(unit) + self.start()
    }

    /// Returns the range of an expression in the file.
    pub fn range(&self, expr_ref: ExprRef) -> TextRange {
        self.source.expr(expr_ref.unit, expr_ref.expr) + self.start()
    }

    /// Returns the range of the binder of a variable in the file.
    pub fn binding_range(&self, binding: LocalRef) -> TextRange {
        let unit = binding.unit;
        self.place(unit, self.unit(unit).binder(binding.binder).range)
    }

    /// Returns the range of the subject of a finding of a unit in the file.
    pub(crate) fn subject_range(&self, unit: UnitId, subject: FindingSubject) -> TextRange {
        match subject {
            FindingSubject::Value(expr) | FindingSubject::Expr(expr) => {
                self.range(ExprRef { unit, expr })
            }
            FindingSubject::Call(expr) | FindingSubject::Callee(expr) => {
                self.callee_range(ExprRef { unit, expr })
            }
            FindingSubject::Statement => self.unit_range(unit),
            FindingSubject::Binder(binder) => self.binding_range(LocalRef { unit, binder }),
            FindingSubject::Pattern(range) => self.place(unit, range),
        }
    }

    /// Returns the range of the callee of a call, or of the whole expression if it is not a call.
    pub(crate) fn callee_range(&self, expr_ref: ExprRef) -> TextRange {
        match self.call(expr_ref) {
            Some(call) => self.place(expr_ref.unit, call.callee_range),
            None => self.range(expr_ref),
        }
    }

    /// Returns the range of the value of a written attribute of a call.
    pub(crate) fn attribute_range(&self, expr_ref: ExprRef, name: &str) -> Option<TextRange> {
        let attr = self.call(expr_ref)?.written.iter().find(|attr| attr.name == name)?;
        Some(self.place(expr_ref.unit, attr.value_range))
    }

    /// Returns the binder of a variable.
    pub fn binder(&self, binding: LocalRef) -> &Binder {
        self.unit(binding.unit).binder(binding.binder)
    }

    /// Returns the text of a range of the file inside of this definition.
    pub fn text(&self, range: TextRange) -> String {
        let range = range - self.start();
        let root = self.def.node(self.db);
        let inner = root.path_to(range).pop().unwrap_or(root);
        let text = inner.to_string();
        let range = range - inner.start();
        text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default().to_owned()
    }

    /// Returns the description of an expression for a message: its text if that is short, or else
    /// its kind, such as ``this call of `add` ``.
    pub fn describe(&self, expr_ref: ExprRef) -> String {
        let range = self.range(expr_ref);
        if usize::from(range.len()) <= 40 {
            let text = self.text(range);
            if !text.contains('\n') && !text.is_empty() {
                return format!("`{text}`");
            }
        }
        match self.unit(expr_ref.unit).expr(expr_ref.expr) {
            Expr::Call(call) => match &self.unit(expr_ref.unit).call(*call).callee {
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

    /// Returns the variable that an expression refers to, if it is a variable.
    pub fn variable(&self, expr_ref: ExprRef) -> Option<LocalRef> {
        match self.unit(expr_ref.unit).expr(expr_ref.expr) {
            Expr::Bound(binder) => Some(LocalRef { unit: expr_ref.unit, binder: *binder }),
            Expr::Free(free) => self.scopes.get(expr_ref.unit, *free),
            Expr::Dotted { whole, .. } => self.scopes.get(expr_ref.unit, *whole),
            _ => None,
        }
    }

    /// Returns the value that a variable is bound to.
    pub fn value(&self, binding: LocalRef) -> Option<ExprRef> {
        let unit = binding.unit;
        self.unit(unit).value_of(binding.binder).map(|expr| ExprRef { unit, expr })
    }

    /// Follows variables to their values, up to parameters and pattern variables.
    pub fn resolve(&self, mut expr_ref: ExprRef) -> ExprRef {
        for _ in 0..10_000 {
            match self.variable(expr_ref).and_then(|binding| self.value(binding)) {
                Some(value) => expr_ref = value,
                None => break,
            }
        }
        expr_ref
    }

    /// Returns the annotation of a variable, with ranges relative to the definition.
    pub fn annotation_node(&self, binding: LocalRef) -> Option<Node<'_>> {
        let at = self.source.range(binding.unit, self.binder(binding).range);
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

    /// Returns the end of the last argument or attribute of a call, if it has any.
    pub(crate) fn end_of_arguments(&self, unit: UnitId, call: &CallData) -> Option<TextSize> {
        let args = call.args.iter().map(|&expr| self.range(ExprRef { unit, expr }));
        let attrs = call.written.iter().map(|attr| self.place(unit, attr.value_range));
        args.chain(attrs).map(|range| range.end()).max()
    }

    /// Returns the range of the annotation of a variable.
    pub(crate) fn annotation_range(&self, binding: LocalRef) -> Option<TextRange> {
        Some(self.annotation_node(binding)?.range() + self.start())
    }

    /// Returns the range in the file of one size of a written tensor type.
    pub fn dim_range(&self, ty: Node<'_>, axis: usize) -> Option<TextRange> {
        let tensor = ast::TensorType::cast(ty)?;
        let dim = tensor.shape()?.dims().nth(axis)?;
        Some(dim.range() + self.start())
    }

    /// Returns the range of the declared result of the definition.
    pub(crate) fn result_range(&self) -> Option<TextRange> {
        let def = ast::FnDef::cast(self.def.node(self.db))?;
        Some(def.ret()?.ty()?.node().range() + self.start())
    }

    /// Returns the last use of the variable of a graph binding, which TVM reports as the place of
    /// the expression.
    pub fn last_use(&self, unit: UnitId) -> Option<TextRange> {
        let data = self.unit(unit);
        if data.kind != UnitKind::Graph {
            return None;
        }
        self.last_use_of(LocalRef { unit, binder: data.binds? })
    }

    /// Returns the last use of a variable in the units after its binding.
    pub fn last_use_of(&self, binding: LocalRef) -> Option<TextRange> {
        let (user, free) = self.scopes.last_use(&self.body, binding)?;
        let expr = *self.unit(user).uses_of_free(free).last()?;
        Some(self.range(ExprRef { unit: user, expr }))
    }

    /// Returns the last use of the inner graph variable with the value `expr_ref`: in a function
    /// expression, a branch or an arm.
    pub fn last_use_within(&self, expr_ref: ExprRef) -> Option<TextRange> {
        let unit = self.unit(expr_ref.unit);
        let binder = unit.bound_to(expr_ref.expr)?;
        if unit.binder(binder).kind != BinderKind::Graph {
            return None;
        }
        let expr = *unit.uses_of(binder).last()?;
        Some(self.range(ExprRef { unit: expr_ref.unit, expr }))
    }

    /// Returns true if a variable of this name is bound anywhere in the definition.
    pub fn binds_name(&self, name: &str) -> bool {
        self.scopes.binds_name(&self.body, name)
    }

    /// Returns the unit that contains `offset` of the file.
    pub fn unit_at(&self, offset: TextSize) -> Option<UnitId> {
        self.source.unit_at(offset.checked_sub(self.start())?)
    }

    /// Returns the range of the first token of the definition.
    pub fn first_token(&self) -> Option<TextRange> {
        let token = self.def.node(self.db).elements().find_map(|element| match element {
            NodeOrToken::Token(token) if !token.kind().is_trivia() => Some(token),
            _ => None,
        })?;
        Some(token.range() + self.start())
    }
}

/// The type at a range of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeAt {
    /// The range of the expression or the binder.
    pub range: TextRange,
    /// Its type.
    pub ty: Type,
}

/// Returns the types of all expressions and variables of a file.
pub fn types_in(db: &dyn Db, file: SourceFile) -> Vec<TypeAt> {
    let mut types = Vec::new();
    let root = file.parse(db);
    let root = Node::root(&root.green);
    for view in queries::all_defs(db, file).filter_map(|def| View::new(db, def)) {
        for (number, unit) in view.body.units() {
            let inferred = view.unit_types(number);
            // Of two comments after an expression, the second one is about the text up to the first.
            for pair in unit.type_comments.windows(2) {
                let [first, second] = pair else { continue };
                if let (Subject::Expr(expr), true) =
                    (first.subject, first.subject == second.subject)
                    && let Some(comment) = root.token_at(view.place(number, first.range).start())
                {
                    let start = view.range(ExprRef { unit: number, expr }).start();
                    let range = TextRange::new(start, comment.range().end());
                    types.push(TypeAt { range, ty: inferred.expr(expr).clone() });
                }
            }
            for (ExprRef { expr, .. }, _, range) in view.exprs(number) {
                types.push(TypeAt { range, ty: inferred.expr(expr).clone() });
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
