//! Resolution of an offset: the enclosing definition, and the name or expression there.

use operators::Operator;
pub use semantics::def_at;
use semantics::{
    Db, Def, ExprRef, Module, Settings, SourceFile, View,
    body::{Expr, LocalRef, Name},
};
use syntax::{
    Node, SyntaxKind, TextRange, TextSize, Token,
    ast::{self, AstNode},
};
use types::AttrField;

use crate::lookups::operator_call;

/// A token in a definition, with its context.
#[derive(Clone)]
pub struct Place<'db> {
    /// The module.
    pub module: Module<'db>,
    /// The definition.
    pub def: Def<'db>,
    /// The analysis of the definition, if it is a function or expression.
    pub view: Option<View<'db>>,
    /// The token, with offsets relative to the definition.
    pub token: Token<'db>,
    /// The ancestors of the token, the outermost first.
    pub path: Vec<Node<'db>>,
}

/// The resolution of a name.
#[derive(Clone)]
pub enum Symbol<'db> {
    /// `@f`
    Global(Name),
    /// A parameter, a `let` or graph variable, a pattern variable.
    Local(LocalRef),
    /// `Cons`
    Constructor(Name),
    /// `List`
    Type(Name),
    /// `A` in `fn[A](…)`.
    TypeParam {
        /// The name.
        name: Name,
        /// The range of the declaration, relative to the definition.
        declared: TextRange,
        /// The node in which it is in scope.
        scope: Node<'db>,
    },
    /// `nn.conv2d`
    Operator(&'static Operator),
    /// `vendor.topk`, which the project declares.
    Declared(Name),
    /// `padding` at a call of an operator.
    Attribute(&'static Operator, &'static AttrField),
    /// `meta[relay.Constant][0]`
    Meta(ExprRef),
}

/// Returns the place at an offset. Between two adjacent tokens, a name is preferred.
pub fn place_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Place<'_>> {
    let (module, def) = def_at(db, file, offset)?;
    let offset = offset - def.start(db);
    let root = def.node(db);
    let right = root.token_at(offset);
    let left = offset.checked_sub(1.into()).and_then(|before| root.token_at(before));
    let rank = |token: &Token<'_>| match token.kind() {
        kind if is_name(kind) => 3,
        kind if kind.is_trivia() => 0,
        SyntaxKind::INT | SyntaxKind::FLOAT | SyntaxKind::STRING => 2,
        _ => 1,
    };
    let token = match (left, right) {
        (Some(left), Some(right)) if rank(&left) > rank(&right) => left,
        (left, right) => right.or(left)?,
    };
    let (view, path) = (View::new(db, def), root.path_to(token.range()));
    Some(Place { module, def, view, token, path })
}

fn is_name(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        SyntaxKind::LOCAL
            | SyntaxKind::GRAPH
            | SyntaxKind::GLOBAL
            | SyntaxKind::IDENT
            | SyntaxKind::META_REF
    )
}

impl<'db> Place<'db> {
    /// Returns the offset of the definition in the file.
    pub fn start(&self, db: &dyn Db) -> TextSize {
        self.def.start(db)
    }

    /// Returns the expression of a node with this range, which is relative to the definition.
    pub fn expr_of(&self, node: TextRange) -> Option<ExprRef> {
        let view = self.view.as_ref()?;
        view.source.expr_of(&view.body, node)
    }

    /// Returns the innermost expression around the token.
    pub fn expr(&self) -> Option<ExprRef> {
        let view = self.view.as_ref()?;
        view.source.expr_around(&view.body, self.token.range())
    }

    /// Returns the variable whose binder is at the token.
    fn binding(&self) -> Option<LocalRef> {
        let view = self.view.as_ref()?;
        view.source.binder_around(&view.body, self.token.range())
    }

    /// Returns the call around the token, and its operator.
    pub(crate) fn call(&self) -> Option<(ExprRef, &'static Operator)> {
        let call = self.path.iter().rev().find(|node| node.kind() == SyntaxKind::CALL_EXPR)?;
        let expr_ref = self.expr_of(call.range())?;
        let (_, operator) = operator_call(self.view.as_ref()?, expr_ref)?;
        Some((expr_ref, operator))
    }

    /// Returns the attribute whose value the token is part of, and its range relative to the definition. Comments and
    /// entries of the metadata section are described by themselves.
    pub(crate) fn attribute(&self) -> Option<(&'static Operator, &'static AttrField, TextRange)> {
        let is_other = |node: &Node<'_>| node.kind() == SyntaxKind::META_EXPR;
        if self.token.kind().is_trivia() || self.path.last().is_some_and(is_other) {
            return None;
        }
        let attr = self.path.iter().rev().find(|node| node.kind() == SyntaxKind::ATTR)?;
        let name: Name = ast::Name::cast(attr.child(SyntaxKind::NAME)?)?.text().as_ref().into();
        let (_, operator) = self.call()?;
        Some((operator, operator.schema?.field(&name)?, trimmed(*attr)))
    }

    /// Returns the resolution of the name at the token, and the range of the name relative to the
    /// definition.
    pub fn symbol(&self, db: &'db dyn Db) -> Option<(Symbol<'db>, TextRange)> {
        let mut nodes = self.path.iter().rev();
        let node = *nodes.next()?;
        let parent = nodes.next().copied();
        match node.kind() {
            SyntaxKind::NAME => self.declared(node, parent?),
            SyntaxKind::LOCAL_REF | SyntaxKind::GRAPH_REF | SyntaxKind::PROJ_EXPR => {
                self.variable(node, parent)
            }
            SyntaxKind::GLOBAL_REF => {
                Some((Symbol::Global(self.token.text().into()), node.range()))
            }
            SyntaxKind::NAME_REF => {
                let name: Name = ast::NameRef::cast(node)?.text().as_ref().into();
                let range = trimmed(node);
                let types = semantics::module_types(db, self.module);
                if types.constructor(&name).is_some()
                    || parent.is_some_and(|p| p.kind() == SyntaxKind::CONSTRUCTOR_PAT)
                {
                    return Some((Symbol::Constructor(name), range));
                }
                if let Some(operator) = operators::named(&name) {
                    return Some((Symbol::Operator(operator), range));
                }
                Settings::get(db).operators(db).get(&name)?;
                Some((Symbol::Declared(name), range))
            }
            SyntaxKind::META_EXPR => {
                let expr_ref = self.expr_of(node.range())?;
                Some((Symbol::Meta(expr_ref), node.range()))
            }
            SyntaxKind::NAMED_TYPE
            | SyntaxKind::DIM
            | SyntaxKind::SHAPE
            | SyntaxKind::TYPE_PARAM => {
                if self.token.kind() != SyntaxKind::IDENT {
                    return None;
                }
                let name = self.token.text();
                let range = self.token.range();
                if let Some((declared, scope)) = self.type_param(name) {
                    let name = name.into();
                    return Some((Symbol::TypeParam { name, declared, scope }, range));
                }
                let types = semantics::module_types(db, self.module);
                types.adt(name).map(|adt| (Symbol::Type(adt.name.clone()), range))
            }
            _ => self.infix(node),
        }
    }

    /// Resolves a name at its declaration.
    fn declared(&self, node: Node<'db>, parent: Node<'db>) -> Option<(Symbol<'db>, TextRange)> {
        let name: Name = ast::Name::cast(node)?.text().as_ref().into();
        let range = trimmed(node);
        match parent.kind() {
            SyntaxKind::FN_DEF => Some((Symbol::Global(name), range)),
            SyntaxKind::TYPE_DEF => Some((Symbol::Type(name), range)),
            SyntaxKind::CONSTRUCTOR => Some((Symbol::Constructor(name), range)),
            SyntaxKind::ATTR => {
                let (_, operator) = self.call()?;
                let field = operator.schema?.field(&name)?;
                Some((Symbol::Attribute(operator, field), range))
            }
            _ => {
                let binding = self.binding()?;
                Some((Symbol::Local(binding), range))
            }
        }
    }

    /// Resolves a use of a variable: `%x`, `%0`, or `%input.1`, which is parsed as a projection.
    fn variable(
        &self,
        node: Node<'db>,
        parent: Option<Node<'db>>,
    ) -> Option<(Symbol<'db>, TextRange)> {
        let view = self.view.as_ref()?;
        let dotted = [Some(node), parent].into_iter().flatten();
        for node in dotted.filter(|n| n.kind() == SyntaxKind::PROJ_EXPR) {
            let Some(expr_ref) = self.expr_of(node.range()) else { continue };
            if matches!(view.unit(expr_ref.unit).expr(expr_ref.expr), Expr::Dotted { .. })
                && let Some(binding) = view.variable(expr_ref)
            {
                return Some((Symbol::Local(binding), node.range()));
            }
        }
        let expr_ref = self.expr_of(node.range())?;
        Some((Symbol::Local(view.variable(expr_ref)?), node.range()))
    }

    /// Resolves an infix operator: `%a + %b`.
    fn infix(&self, node: Node<'db>) -> Option<(Symbol<'db>, TextRange)> {
        let infix = ast::InfixExpr::cast(node)?;
        let symbol = infix.operator()?;
        if symbol.range() != self.token.range() {
            return None;
        }
        let expr_ref = self.expr_of(node.range())?;
        let (_, operator) = operator_call(self.view.as_ref()?, expr_ref)?;
        Some((Symbol::Operator(operator), symbol.range()))
    }

    /// Returns the declaration of the type parameter `name` and the node in which it is in scope.
    fn type_param(&self, name: &str) -> Option<(TextRange, Node<'db>)> {
        self.path.iter().rev().find_map(|&scope| {
            let list = ast::TypeParamList::cast(scope.child(SyntaxKind::TYPE_PARAM_LIST)?)?;
            let mut params = list.params().filter_map(|param| param.name());
            let declared = params.find(|token| token.text() == name)?;
            Some((declared.range(), scope))
        })
    }
}

/// Returns the name of the type, size or type parameter that a node is.
pub(crate) fn type_name(node: Node<'_>) -> Option<Token<'_>> {
    use SyntaxKind::*;
    let is_named = matches!(node.kind(), NAMED_TYPE | DIM | SHAPE | TYPE_PARAM);
    is_named.then(|| node.token(IDENT)).flatten()
}

/// Returns the range of a node without trailing comments and white space.
pub(crate) fn trimmed(node: Node<'_>) -> TextRange {
    let mut tokens = node.tokens().filter(|token| !token.kind().is_trivia());
    let last = tokens.next_back().map_or(node.range().end(), |token| token.range().end());
    TextRange::new(node.start(), last)
}
