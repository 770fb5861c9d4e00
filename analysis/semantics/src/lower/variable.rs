//! Lowering of variables, and of printed names with dots: `%input.1`.

use smol_str::SmolStrBuilder;
use syntax::{
    TextRange,
    ast::{self, AstNode},
};

use super::Lowerer;
use crate::body::*;

impl Lowerer {
    /// Lowers a use of a variable.
    pub(super) fn variable(&mut self, name: &str, range: TextRange) -> ExprId {
        let graph = name.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        // A graph variable may be used after the end of its block.
        let binders = &self.unit.binders;
        let bound = self.scope.get(name, binders).or_else(|| {
            graph.then(|| self.graphs.find(name, binders, graph_name)).flatten().map(BinderId)
        });
        match bound {
            Some(binder) => self.push(range, Expr::Bound(binder)),
            None => {
                let free = self.free(name, range);
                self.push(range, Expr::Free(free))
            }
        }
    }

    /// Lowers the name of a variable that nothing in the unit binds.
    fn free(&mut self, name: &str, range: TextRange) -> FreeId {
        if let Some(free) = self.known_free(name) {
            // A name that is also used without a projection must be bound.
            self.unit.frees[free.index()].dotted = false;
            self.unit.frees[free.index()].whole = false;
            return free;
        }
        self.new_free(name, range, false, false)
    }

    /// Returns the free variable of a name in the unit.
    fn known_free(&mut self, name: &str) -> Option<FreeId> {
        self.frees.find(name, &self.unit.frees, |free| Some(&free.name)).map(FreeId)
    }

    fn new_free(&mut self, name: &str, range: TextRange, dotted: bool, whole: bool) -> FreeId {
        let id = FreeId(self.unit.frees.len() as u32);
        let range = self.range(range);
        self.unit.frees.push(FreeName { name: name.into(), range, dotted, whole });
        id
    }

    /// Lowers `t.0`, or the printed name `%input.1`.
    pub(super) fn projection(&mut self, projection: ast::ProjExpr<'_>) -> ExprId {
        let range = projection.range();
        let (digits, tuple_node) = (projection.index(), projection.tuple());
        let index = digits.and_then(|t| t.text().parse::<u32>().ok());
        let mut whole = SmolStrBuilder::new();
        if let Some(digits) = digits
            && let Some(tuple) = tuple_node
            && !self.is_bound_tuple(tuple)
            && dotted_name(tuple, &mut whole).is_some()
        {
            let base = whole.clone().finish();
            whole.push('.');
            whole.push_str(digits.text());
            let whole = whole.finish();
            if let Some(binder) = self.scope.get(&whole, &self.unit.binders) {
                return self.push(range, Expr::Bound(binder));
            }
            if self.scope.get(&base, &self.unit.binders).is_none()
                && !base[1..].starts_with(|c: char| c.is_ascii_digit())
            {
                return self.dotted(tuple_node, &whole, range, index.unwrap_or_default());
            }
        }
        let tuple = match tuple_node {
            Some(tuple) => self.expr_with_comment(projection.node(), tuple.node()),
            None => self.push(range, Expr::Missing),
        };
        match index {
            Some(index) => self.push(range, Expr::Proj { tuple, index }),
            None => self.push(range, Expr::Missing),
        }
    }

    /// Returns true for a variable of the unit, if no variable of the unit has a name with a dot.
    fn is_bound_tuple(&self, tuple: ast::Expr<'_>) -> bool {
        let ast::Expr::LocalRef(local) = tuple else { return false };
        let is_bound = |name: &str| self.scope.get(name, &self.unit.binders).is_some();
        !self.has_dotted_binder && local.name().is_some_and(|name| is_bound(name.text()))
    }

    /// Lowers `%input.1` if neither `%input.1` nor `%input` is bound in the unit: resolution
    /// chooses the one that the definition binds.
    fn dotted(
        &mut self,
        tuple: Option<ast::Expr<'_>>,
        whole: &str,
        range: TextRange,
        index: u32,
    ) -> ExprId {
        let tuple = match tuple {
            Some(ast::Expr::LocalRef(local)) => {
                let name = local.name().map(|t| t.text()).unwrap_or_default();
                let free = self.known_free(name);
                let free = free.unwrap_or_else(|| self.new_free(name, local.range(), true, false));
                self.push(local.range(), Expr::Free(free))
            }
            Some(other) => self.expr(other.node()),
            None => self.push(range, Expr::Missing),
        };
        let free = self.known_free(whole);
        let whole = free.unwrap_or_else(|| self.new_free(whole, range, false, true));
        self.push(range, Expr::Dotted { whole, tuple, index })
    }
}

/// Appends `%a` or `%a.1` to `into`; `None` if the expression cannot be the front of a printed
/// name.
fn dotted_name(expr: ast::Expr<'_>, into: &mut SmolStrBuilder) -> Option<()> {
    match expr {
        ast::Expr::LocalRef(local) => into.push_str(local.name()?.text()),
        ast::Expr::ProjExpr(projection) => {
            dotted_name(projection.tuple()?, into)?;
            into.push('.');
            into.push_str(projection.index()?.text());
        }
        _ => return None,
    }
    Some(())
}

/// Returns the name of a graph variable.
fn graph_name(binder: &Binder) -> Option<&Name> {
    (binder.kind == BinderKind::Graph).then_some(&binder.name)
}
