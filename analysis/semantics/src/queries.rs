//! The queries from items to types, each layer over those before it: [`definitions`], the [`groups`]
//! of recursive ones, their [`base`] inference, and the definitions with [`weak`] types, which are
//! inferred together.

mod base;
mod definitions;
mod effects;
mod groups;
mod lowered;
pub(crate) mod previous;
mod releases;
mod weak;

use std::sync::Arc;

use types::Type;

use crate::{
    db::{Db, Rules, Settings},
    infer::{Finding, Inference},
    item::{Def, DefKind, module},
};
pub(crate) use base::infer_from_below as prepare;
use base::{base_inference, base_type, infer_alone, infer_from_below};
pub use definitions::*;
pub use effects::effects;
pub use lowered::{metadata, source_map};
pub(crate) use releases::releases_of_notation;
pub use releases::{asked_release, other_releases, possible_releases, release};
use weak::{infer_cluster, place_in_cluster};

/// The types of a definition.
pub fn inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    prepare_for(db, def);
    match Settings::get(db).rules(db) {
        Rules::General => general_inference(db, def),
        Rules::Tvm(_) => tvm_inference(db, def),
    }
}

/// Returns the most general types of a definition.
pub(crate) fn general_inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    let Some(module) = module(db, def.file(db), def.module(db)) else {
        return base_inference(db, def);
    };
    match place_in_cluster(db, module, def) {
        Some(at) => infer_cluster(db, module).get(at).cloned().unwrap_or_default(),
        None => base_inference(db, def),
    }
}

/// Returns the types of a definition as TVM infers them, from its own text and the headers of others.
pub(crate) fn tvm_inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    tvm_types(db, def).unwrap_or_else(|| infer_alone(db, def, true))
}

/// The types of a definition as TVM infers them, if they may differ from the general ones: a
/// definition without errors whose types are not generalised is not inferred again.
#[salsa::tracked(returns(clone))]
pub(crate) fn tvm_types<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Arc<Inference>> {
    let is_open = || {
        let unit = header(db, def);
        let header = unit.header()?;
        Some(header.params.iter().any(|&param| unit.binder(param).annotation.is_none()))
    };
    let is_doubtful = || {
        let types = general_inference(db, def);
        let sound = || !types.findings().any(Finding::is_error);
        (types.generalised || is_open() == Some(true)) && sound()
    };
    let wanted = Settings::get(db).rules(db) != Rules::General
        || uses_open_globals(db, def)
        || is_doubtful();
    wanted.then(|| infer_alone(db, def, true))
}

/// Returns the type of a global at its uses.
pub fn global_type<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    prepare_for(db, def);
    if def.kind(db) != DefKind::Fn {
        return None;
    }
    let is_member = module(db, def.file(db), def.module(db))
        .is_some_and(|module| place_in_cluster(db, module, def).is_some());
    match is_member && closed_signature(db, def).is_none() {
        true => general_inference(db, def).signature.clone(),
        false => base_type(db, def),
    }
}

/// Ensures that the dependencies of `def` are inferred, without recursion.
fn prepare_for<'db>(db: &'db dyn Db, def: Def<'db>) {
    if let Some(module) = module(db, def.file(db), def.module(db)) {
        infer_from_below(db, module);
    }
}
