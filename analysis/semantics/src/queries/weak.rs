//! Definitions that return references with weak type variables, which are inferred with all users.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::AsId;

use super::{
    base::{DbEnv, base_inference, infer_from_below, infer_together},
    definitions::{body, closed_signature, users_of},
    groups::{components_of, group_members, group_of},
};
use crate::{
    db::Db,
    infer::Inference,
    item::{Def, DefKind, Module},
};

/// The definitions that return references with weak type variables, and those that depend on them. The
/// value of the reference of `def @cell() { ref(Nil) }` has one type for all users.
#[derive(PartialEq, salsa::SalsaValue)]
struct Cluster<'db> {
    /// Components in dependency order.
    components: Vec<Vec<Def<'db>>>,
    /// The index of each definition.
    places: FxHashMap<salsa::Id, usize>,
}

/// The cluster of a module.
#[salsa::tracked(returns(ref))]
fn weak_cluster<'db>(db: &'db dyn Db, module: Module<'db>) -> Cluster<'db> {
    let is_weak = |def: &Def<'db>| {
        let may_be = def.kind(db) == DefKind::Fn
            && closed_signature(db, *def).is_none()
            && body(db, *def).header().is_some_and(|header| header.params.is_empty());
        may_be && base_inference(db, *def).weak
    };
    infer_from_below(db, module);
    let mut members: Vec<Def<'db>> = module.items(db).iter().copied().filter(is_weak).collect();
    // Also the users of a member, and the members of its group.
    let mut seen: FxHashSet<Def<'db>> = members.iter().copied().collect();
    let mut next = 0;
    while let Some(&member) = members.get(next) {
        next += 1;
        let group = group_of(db, member).map_or(&[][..], |(first, _)| group_members(db, first));
        members.extend(group.iter().copied().filter(|&def| seen.insert(def)));
        if closed_signature(db, member).is_none() {
            let users = users_of(db, module, member.name(db));
            members.extend(users.filter(|&user| seen.insert(user)));
        }
    }
    let components = components_of(db, &members, |def| closed_signature(db, def).is_none());
    let places = components.iter().flatten().map(AsId::as_id).zip(0..).collect();
    Cluster { components, places }
}

/// Infers the types of the definitions of [`weak_cluster`].
#[salsa::tracked(returns(ref))]
pub(crate) fn infer_cluster<'db>(db: &'db dyn Db, module: Module<'db>) -> Vec<Arc<Inference>> {
    let cluster = &weak_cluster(db, module).components;
    let defs = cluster.concat();
    let Some(&first) = defs.first() else { return Vec::new() };
    let mut count = 0;
    let numbers = cluster.iter().map(|group| {
        count += group.len();
        (count - group.len()..count).collect()
    });
    let groups: Vec<Vec<usize>> = numbers.collect();
    let env = DbEnv::new(db, first, &defs);
    infer_together(db, &defs, &groups, true, &env)
}

/// Returns the index of a definition in [`weak_cluster`], if it is a member.
pub(crate) fn place_in_cluster<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    def: Def<'db>,
) -> Option<usize> {
    weak_cluster(db, module).places.get(&def.as_id()).copied()
}
