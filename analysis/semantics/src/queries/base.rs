//! The inference of definitions, alone or with the group that they are recursive in.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use types::Type;

use super::{
    definitions::{
        body, closed_signature, global, module_types, named, scopes, signature, written_type,
    },
    groups::{group_members, group_of, groups},
    lowered::metadata,
    previous::Results,
};
use crate::{
    body::{Body, Name, UnitKind},
    db::{Db, Rules, Settings},
    infer::{self, Env, Global, Inference, ModuleData, TypedBody},
    item::{Def, DefKind, Module, module},
    previous::Entry,
    scope::Scopes,
    test_panic::panic_if_requested,
};

/// The types of the group of which `first` is the first member; empty for other members.
#[salsa::tracked(returns(ref))]
fn infer_group<'db>(db: &'db dyn Db, first: Def<'db>) -> Vec<Arc<Inference>> {
    let group = group_members(db, first);
    if group.is_empty() {
        return Vec::new();
    }
    let all = [(0..group.len()).collect()];
    let env = DbEnv::new(db, first, group);
    infer_together(db, group, &all, false, &env)
}

pub(crate) fn infer_together<'db>(
    db: &'db dyn Db,
    defs: &[Def<'db>],
    groups: &[Vec<usize>],
    keeps_weak: bool,
    env: &DbEnv<'db>,
) -> Vec<Arc<Inference>> {
    let parts: Vec<(Arc<Body>, Arc<Scopes>)> =
        defs.iter().map(|&def| (body(db, def), scopes(db, def))).collect();
    let bodies: Vec<(&Body, &Scopes)> = parts.iter().map(|(b, s)| (&**b, &**s)).collect();
    infer::infer_groups(&bodies, groups, keeps_weak, env).into_iter().map(Arc::new).collect()
}

/// The types of a definition, with types held in references generalised like all others.
#[salsa::tracked(returns(clone))]
pub(crate) fn base_inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    // Always called, so that the memo of a definition that is no longer recursive is replaced.
    let own_group = infer_group(db, def);
    match group_of(db, def) {
        Some((first, at)) => {
            let group = if first == def { own_group } else { infer_group(db, first) };
            group.get(at as usize).cloned().unwrap_or_default()
        }
        None => infer_alone(db, def, false),
    }
}

pub(super) fn infer_alone<'db>(db: &'db dyn Db, def: Def<'db>, strict: bool) -> Arc<Inference> {
    let env = DbEnv { strict, ..DbEnv::new(db, def, &[]) };
    let results = Results::of(db, def);
    panic_if_requested("infer", results.name());
    let named = named(db, def);
    let inferred =
        TypedBody::new(named, &env, results.earlier(|earlier| earlier.inferred.clone()).as_ref());
    let inference = inferred.inference().clone();
    if strict == (Settings::get(db).rules(db) != Rules::General) {
        results.record(Entry { inferred: Some(inferred), ..Entry::default() });
    }
    inference
}

/// Infers the definitions of a module that have incomplete headers, dependencies first.
///
/// On demand, each would be inferred inside the query of its caller, and validated inside it after
/// an edit, so that a chain of thousands would overflow the stack. Bottom up, every dependency is a
/// memo hit. [`inference`] therefore executes this query first.
#[salsa::tracked]
pub(crate) fn infer_from_below<'db>(db: &'db dyn Db, module: Module<'db>) {
    for def in groups(db, module).members.iter().flatten() {
        base_inference(db, *def);
    }
}

/// Returns the type of a global; for a member of a cluster, its type outside the cluster.
#[salsa::tracked(returns(clone))]
pub(super) fn base_type<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    if def.kind(db) != DefKind::Fn {
        return None;
    }
    let opaque = body(db, def).units.iter().all(|unit| unit.kind == UnitKind::Header);
    match closed_signature(db, def) {
        Some(ty) => Some(ty),
        None if opaque => signature(db, def),
        None => base_inference(db, def).signature.clone(),
    }
}

/// Returns the name of a definition as a member of its group. A definition with a complete header is
/// not a member: its type is known.
fn member_name<'db>(db: &'db dyn Db, def: Def<'db>) -> Name {
    match closed_signature(db, def) {
        Some(_) => Name::default(),
        None => def.name(db).clone(),
    }
}

/// The environment of a definition: the database and its module.
pub(crate) struct DbEnv<'db> {
    db: &'db dyn Db,
    module: Option<Module<'db>>,
    data: ModuleData,
    /// The members of the group under inference, by name.
    group: FxHashMap<Name, usize>,
    strict: bool,
}

impl<'db> DbEnv<'db> {
    pub(crate) fn new(db: &'db dyn Db, def: Def<'db>, group: &[Def<'db>]) -> DbEnv<'db> {
        let module = module(db, def.file(db), def.module(db));
        let mut members = FxHashMap::default();
        for (&def, number) in group.iter().zip(0..) {
            members.entry(member_name(db, def)).or_insert(number);
        }
        DbEnv {
            db,
            module,
            data: ModuleData {
                types: module.map(|module| module_types(db, module)).unwrap_or_default(),
                metadata: module.and_then(|module| metadata(db, module)),
                operators: Settings::get(db).operators(db).clone(),
            },
            group: members,
            strict: false,
        }
    }
}

impl Env for DbEnv<'_> {
    fn module(&self) -> &ModuleData {
        &self.data
    }

    fn global(&self, name: &str) -> Global {
        if let Some(&number) = self.group.get(name) {
            return Global::Group(number);
        }
        let Some((def, _)) = self.module.and_then(|module| global(self.db, module, name)) else {
            return Global::Missing;
        };
        if self.strict && signature(self.db, def).is_none() {
            let opaque = body(self.db, def).units.iter().all(|u| u.kind == UnitKind::Header);
            return match written_type(self.db, def).filter(|_| !opaque) {
                Some(ty) => Global::Written(ty),
                None => Global::Opaque,
            };
        }
        match base_type(self.db, def) {
            Some(ty) => Global::Known(ty),
            None => Global::Opaque,
        }
    }

    fn strict(&self) -> bool {
        self.strict
    }

    fn poll(&self) {
        self.db.unwind_if_revision_cancelled();
    }
}
