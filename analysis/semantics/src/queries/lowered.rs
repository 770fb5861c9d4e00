//! What follows from the text of a definition alone: its body as it is written, and the metadata section.

use std::sync::Arc;

use super::previous::Results;
use crate::{
    body::{Body, SourceMap},
    db::Db,
    item::{Def, DefKind, Module},
    lower::LoweredBody,
    metadata::Metadata,
    previous::Entry,
    test_panic::panic_if_requested,
};

/// The body of a definition, and its source map.
#[salsa::tracked(returns(clone))]
fn lowered<'db>(db: &'db dyn Db, def: Def<'db>) -> (Arc<Body>, Arc<SourceMap>) {
    let results = Results::of(db, def);
    panic_if_requested("lower", results.name());
    let lowered = LoweredBody::new(
        def.green(db),
        results.earlier(|earlier| earlier.lowered.clone()).as_ref(),
    );
    let parts = (lowered.body().clone(), lowered.source().clone());
    results.record(Entry { lowered: Some(lowered), ..Entry::default() });
    parts
}

/// Returns the body of a definition in which calls mean what they mean in TVM 0.14, if it takes them.
pub(super) fn lowered_body<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Body> {
    lowered(db, def).0
}

/// Returns the source map of the body of a definition. It changes with each edit of the definition.
pub fn source_map<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<SourceMap> {
    lowered(db, def).1
}

/// The metadata section of a module: its own, or for a code view that of the file.
#[salsa::tracked(returns(clone))]
pub fn metadata<'db>(db: &'db dyn Db, module: Module<'db>) -> Option<Arc<Metadata>> {
    let def = module.items(db).iter().find(|def| def.kind(db) == DefKind::Metadata)?;
    let token = def.node(db).token(syntax::SyntaxKind::METADATA)?;
    if weights::is_folded(token.text()) {
        return module.file(db).section(db).clone();
    }
    let readable = syntax::readable_section(token.text());
    Some(Arc::new(Metadata::read(readable.as_deref().unwrap_or(token.text()))))
}
