//! The definitions of a module, with their bodies and source maps.

use std::sync::Arc;

use semantics::{
    Db, Def, ExprRef,
    body::{Body, LocalRef, RangeId, SourceMap, UnitId},
};
use syntax::{
    SyntaxKind, TextRange,
    ast::{self, AstNode},
};

/// A function or expression definition.
pub(crate) struct Source<'db> {
    pub(crate) def: Def<'db>,
    pub(crate) body: Arc<Body>,
    map: Arc<SourceMap>,
}

impl<'db> Source<'db> {
    pub(crate) fn new(db: &'db dyn Db, def: Def<'db>) -> Source<'db> {
        Source { def, body: semantics::body(db, def), map: semantics::source_map(db, def) }
    }

    /// Returns the range of an expression in the file.
    pub(crate) fn expr(&self, db: &dyn Db, expr_ref: ExprRef) -> TextRange {
        self.map.expr(expr_ref.unit, expr_ref.expr) + self.def.start(db)
    }

    /// Returns the range of another part of a unit in the file.
    pub(crate) fn range(&self, db: &dyn Db, unit: UnitId, id: RangeId) -> TextRange {
        self.map.range(unit, id) + self.def.start(db)
    }

    /// Returns the range of a binder with its annotation, without comments.
    pub(crate) fn binder_range(&self, db: &dyn Db, of: LocalRef) -> TextRange {
        let unit = of.unit;
        let own = self.map.range(unit, self.body.unit(unit).binder(of.binder).range);
        let path = self.def.node(db).path_to(own);
        let is_holder = |kind| {
            matches!(kind, SyntaxKind::PARAM | SyntaxKind::FREE_VAR_STMT | SyntaxKind::LET_STMT)
        };
        let holder = path.iter().rev().find(|node| is_holder(node.kind()));
        let ty =
            holder.and_then(|node| node.children().find(|node| ast::Type::can_cast(node.kind())));
        let end = ty.map_or(own.end(), |ty| ty.range().end()).max(own.end());
        TextRange::new(own.start(), end) + self.def.start(db)
    }
}
