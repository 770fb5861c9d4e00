//! From items to types, query by query.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use types::{PolyType, Type};

use crate::{
    body::{Body, Name, UnitKind},
    db::{Db, Inferred, Settings, SourceFile},
    groups::{group_members, group_of, groups, infer_cluster, place_in_cluster},
    infer::{self, Env, Finding, Global, Inference, Memo, MetaEntry},
    item::{Def, DefKind, Module, module, modules},
    lower::{Previous, lower},
    metadata::Metadata,
    module::{ModuleTypes, TypeDef},
    scope::{Scopes, resolve},
};

/// What a definition computes.
#[salsa::tracked(returns(clone))]
pub fn body<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Body> {
    let key = def.key(db);
    let previous = db.cache().lowered(&key);
    let body = lower(def.node(db), previous.as_ref());
    let same = previous.map(|previous| previous.body).filter(|before| **before == body);
    let body = same.unwrap_or_else(|| Arc::new(body));
    let lowered = Previous { green: def.green(db).clone(), body: body.clone() };
    db.cache().set_lowered(&key, lowered);
    body
}

/// The names of a definition's units, resolved.
#[salsa::tracked(returns(clone))]
pub fn scopes<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Scopes> {
    let body = body(db, def);
    let key = def.key(db);
    let known = db.cache().scopes(&key);
    let known = known.and_then(|(before, scopes)| scopes.follow(&before, &body));
    let scopes = known.unwrap_or_else(|| Arc::new(resolve(&body)));
    db.cache().set_scopes(&key, body, scopes.clone());
    scopes
}

/// A type definition.
#[salsa::tracked(returns(clone))]
pub fn type_def<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Arc<TypeDef>> {
    TypeDef::of(def.node(db)).map(Arc::new)
}

/// The prelude but for its tensor arrays.
pub fn prelude(db: &dyn Db) -> Option<Module<'_>> {
    module(db, *Settings::get(db).prelude_files(db).first()?, 0)
}

/// The part of the prelude behind a module that would define `name`.
fn prelude_behind<'db>(db: &'db dyn Db, file: SourceFile, name: &str) -> Option<Module<'db>> {
    let files = Settings::get(db).prelude_files(db);
    let behind = *files.get(crate::prelude::file_of(name))?;
    (behind != file).then(|| module(db, behind, 0)).flatten()
}

/// The data types that a module sees: its own, then the prelude's.
#[salsa::tracked(returns(clone))]
pub fn module_types<'db>(db: &'db dyn Db, module: Module<'db>) -> Arc<ModuleTypes> {
    let files = Settings::get(db).prelude_files(db);
    let mut types = ModuleTypes::over_prelude(files.first().is_some_and(|f| *f != module.file(db)));
    let from_prelude = module.file(db).is_prelude(db);
    for &def in module.items(db) {
        if def.kind(db) == DefKind::Type
            && let Some(def) = type_def(db, def)
        {
            types.add(crate::module::Adt { from_prelude, ..def.adt.clone() });
        }
    }
    db.cache().share_types(module.file(db), module.number(db), types)
}

/// The functions that a module defines, by name: their positions among its items.
#[salsa::tracked(returns(ref))]
pub fn module_scope<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashMap<Name, u32> {
    let mut scope = FxHashMap::default();
    for (position, &def) in module.items(db).iter().enumerate() {
        if matches!(def.kind(db), DefKind::Fn | DefKind::Tir) {
            scope.entry(def.name(db).clone()).or_insert(position as u32);
        }
    }
    scope
}

/// The function that a module itself defines under `name`.
fn own_global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> Option<Def<'db>> {
    let position = *module_scope(db, module).get(name)?;
    module.items(db).get(position as usize).copied()
}

/// The definition that `name` means in a module, and whether it is the prelude's.
pub fn global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> Option<(Def<'db>, bool)> {
    if let Some(def) = own_global(db, module, name) {
        return Some((def, false));
    }
    let found = own_global(db, prelude_behind(db, module.file(db), name)?, name)?;
    // `@map` of the prelude is about its `List`, and not about another one of the module.
    let fits =
        signature(db, found).is_none_or(|ty| module_types(db, module).stands_for_prelude(&ty));
    fits.then_some((found, true))
}

/// The definition of the data type that `name` means in a module, and whether it is the prelude's.
pub fn data_type<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    name: &str,
) -> Option<(Def<'db>, bool)> {
    let own = |module: Module<'db>| {
        let position = *type_scope(db, module).get(name)?;
        module.items(db).get(position as usize).copied()
    };
    if let Some(def) = own(module) {
        return Some((def, module.file(db).is_prelude(db)));
    }
    own(prelude_behind(db, module.file(db), name)?).map(|def| (def, true))
}

/// The metadata section of a module.
#[salsa::tracked(returns(clone))]
pub fn metadata<'db>(db: &'db dyn Db, module: Module<'db>) -> Option<Arc<Metadata>> {
    let def = module.items(db).iter().find(|def| def.kind(db) == DefKind::Metadata)?;
    let token = def.node(db).token(syntax::SyntaxKind::METADATA)?;
    Some(Arc::new(Metadata::read(token.text())))
}

/// Returns true if the type of a definition may carry rules that its header does not spell out:
/// those for its shapes, sizes and data types, and those of a `where` clause.
fn has_rules(header: &crate::body::Function) -> bool {
    let is_part = |param: &types::Param| param.kind() != types::Kind::Type;
    !header.relations.is_empty() || header.type_params.iter().any(is_part)
}

/// The type that other definitions see without looking into the body.
#[salsa::tracked(returns(clone))]
pub(crate) fn closed_signature<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    let body = body(db, def);
    signature(db, def).filter(|_| !body.header().is_some_and(has_rules))
}

/// The type that a definition's header gives it, if it leaves nothing out.
#[salsa::tracked(returns(clone))]
pub fn signature<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    let body = body(db, def);
    let header = body.header()?;
    let unit = &body.units[0];
    let params: Option<Vec<Type>> = header
        .params
        .iter()
        .map(|&binder| unit.binder(binder).annotation.clone().filter(Type::is_closed))
        .collect();
    let func = Type::func(params?, header.ret.clone().filter(Type::is_closed)?);
    Some(PolyType::close(&header.type_params, Vec::new(), &func))
}

/// Whether every parameter of a definition has its type, so that its result follows from its body.
/// Of `def @f<s : Shape>(%x: Tensor[s, float32])` it may follow at the calls alone.
#[salsa::tracked(returns(copy))]
pub(crate) fn has_typed_params<'db>(db: &'db dyn Db, def: Def<'db>) -> bool {
    let body = body(db, def);
    let unit = &body.units[0];
    body.header().is_none_or(|header| {
        !has_rules(header)
            && (header.ret.is_some() || header.type_params.is_empty())
            && header
                .params
                .iter()
                .all(|&binder| unit.binder(binder).annotation.as_ref().is_some_and(Type::is_closed))
    })
}

/// The globals that a definition names.
#[salsa::tracked(returns(ref))]
pub(crate) fn global_uses<'db>(db: &'db dyn Db, def: Def<'db>) -> Vec<Name> {
    scopes(db, def).globals.clone()
}

/// The definitions of a module that name each global: their positions among its items, in order.
#[salsa::tracked(returns(ref))]
fn users<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashMap<Name, Vec<u32>> {
    let mut users: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
    for (position, &def) in module.items(db).iter().enumerate() {
        if matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
            for name in global_uses(db, def) {
                users.entry(name.clone()).or_default().push(position as u32);
            }
        }
    }
    users
}

/// The definitions of a module that name a global, in order.
pub fn users_of<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    name: &str,
) -> impl Iterator<Item = Def<'db>> {
    let positions = users(db, module).get(name).into_iter().flatten();
    positions.filter_map(move |&position| module.items(db).get(position as usize).copied())
}

/// The data types that a module defines, by name: their positions among its items.
#[salsa::tracked(returns(ref))]
fn type_scope<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashMap<Name, u32> {
    let mut scope = FxHashMap::default();
    for (position, &def) in module.items(db).iter().enumerate() {
        if def.kind(db) == DefKind::Type {
            scope.entry(def.name(db).clone()).or_insert(position as u32);
        }
    }
    scope
}

/// The types of the group that `first` is the first one of; nothing where it is not.
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

/// The types of a definition.
pub fn inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    prepare(db, def);
    if Settings::get(db).strict(db) { tvm_inference(db, def) } else { general_inference(db, def) }
}

/// The types of a definition, each as general as can be.
pub(crate) fn general_inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    let Some(module) = module(db, def.file(db), def.module(db)) else {
        return base_inference(db, def);
    };
    match place_in_cluster(db, module, def) {
        Some(at) => infer_cluster(db, module).get(at).cloned().unwrap_or_default(),
        None => base_inference(db, def),
    }
}

/// The types of a definition where what references hold is generalised as everything else is.
#[salsa::tracked(returns(clone))]
pub(crate) fn base_inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    // Asked in any case: what it found for a definition that was recursive for a moment would stay.
    let own_group = infer_group(db, def);
    match group_of(db, def) {
        Some((first, at)) => {
            let group = if first == def { own_group } else { infer_group(db, first) };
            group.get(at as usize).cloned().unwrap_or_default()
        }
        None => infer_alone(db, def, false),
    }
}

/// The types of a definition as TVM finds them: from its own text and the headers of others.
fn tvm_inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    tvm_types(db, def).unwrap_or_else(|| infer_alone(db, def, true))
}

/// The types of a definition as TVM finds them, where that is worth knowing: a sound definition
/// that TVM is sure to type costs nothing here, and what was found while it was another one goes.
#[salsa::tracked(returns(clone))]
pub(crate) fn tvm_types<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Arc<Inference>> {
    let is_open = || {
        let body = body(db, def);
        let header = body.header()?;
        Some(header.params.iter().any(|&param| body.units[0].binder(param).annotation.is_none()))
    };
    let is_doubtful = || {
        let types = general_inference(db, def);
        let sound = || !types.units.iter().flat_map(|unit| &unit.findings).any(Finding::is_error);
        (types.generalised || is_open() == Some(true)) && sound()
    };
    let wanted = Settings::get(db).strict(db) || uses_open_globals(db, def) || is_doubtful();
    wanted.then(|| infer_alone(db, def, true))
}

fn infer_alone<'db>(db: &'db dyn Db, def: Def<'db>, strict: bool) -> Arc<Inference> {
    let (body, scopes) = (body(db, def), scopes(db, def));
    let env = DbEnv { strict, ..DbEnv::new(db, def, &[]) };
    let key = def.key(db);
    // What was found under other rules, or over other data types, says nothing.
    let before = db.cache().inferred(&key).filter(|before| {
        before.inference.strict == strict
            && before.metadata == env.metadata
            && (Arc::ptr_eq(&before.types, &env.types) || before.types == env.types)
    });
    let memo =
        before.as_ref().map(|b| Memo { body: &b.body, scopes: &b.scopes, inference: &b.inference });
    let inference = Arc::new(infer::infer_ordered(&body, &scopes, &env, memo.as_ref()));
    if strict == Settings::get(db).strict(db) {
        let (types, metadata) = (env.types, env.metadata);
        let inference = inference.clone();
        db.cache().set_inferred(&key, Inferred { body, scopes, inference, types, metadata });
    }
    inference
}

/// The type of a global as far as its header says.
#[salsa::tracked(returns(clone))]
fn written_type<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    let body = body(db, def);
    let header = body.header()?;
    let unit = &body.units[0];
    let params = header.params.iter().map(|&binder| unit.binder(binder).annotation.clone());
    let params = params.map(|ty| ty.unwrap_or(Type::Hole));
    let func = Type::func(params, header.ret.clone().unwrap_or(Type::Hole));
    Some(PolyType::close(&header.type_params, Vec::new(), &func))
}

/// Whether a definition names globals whose headers leave something out.
#[salsa::tracked(returns(copy))]
pub(crate) fn uses_open_globals<'db>(db: &'db dyn Db, def: Def<'db>) -> bool {
    let Some(module) = module(db, def.file(db), def.module(db)) else { return false };
    global_uses(db, def).iter().any(|name| is_open_global(db, module, name))
}

/// Whether a module's own definition of `name` has a header that leaves something out.
pub(crate) fn is_open_global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> bool {
    own_global(db, module, name).is_some_and(|def| signature(db, def).is_none())
}

/// The functions of a module whose results TVM would have to know and does not: they are called,
/// their headers do not say, and nothing about the calls decides it.
#[salsa::tracked(returns(ref))]
pub fn unknown_results<'db>(db: &'db dyn Db, module: Module<'db>) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    for &def in module.items(db) {
        if !matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
            continue;
        }
        if !uses_open_globals(db, def) {
            continue;
        }
        let (body, inference) = (body(db, def), tvm_inference(db, def));
        for (unit, types) in body.units.iter().zip(&inference.units) {
            for finding in &types.findings {
                if let Some(name) = called_by(unit, finding)
                    && is_open_global(db, module, name)
                {
                    found.insert(name.clone());
                }
            }
        }
    }
    found
}

/// The global whose call TVM finds no type for.
pub(crate) fn called_by<'u>(
    unit: &'u crate::body::Unit,
    finding: &infer::Finding,
) -> Option<&'u Name> {
    use crate::body::{Callee, Expr};
    let infer::Finding::OpenExpr(expr) = finding else { return None };
    let Expr::Call(call) = unit.expr(*expr) else { return None };
    let Callee::Expr(callee) = unit.call(*call).callee else { return None };
    match unit.expr(callee) {
        Expr::Global(name) => Some(name),
        _ => None,
    }
}

/// The type of a global, where it is used.
pub fn global_type<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    prepare(db, def);
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

/// Infers the definitions of a module that have no written types, each after those that it needs.
///
/// Each of them is inferred inside the one that calls it, and after an edit the database looks
/// inside each for what has changed: a chain of thousands would take the stack of any thread. From
/// the bottom up, whatever is needed is there already. So the first question about the types of a
/// module asks this.
#[salsa::tracked]
pub(crate) fn infer_from_below<'db>(db: &'db dyn Db, module: Module<'db>) {
    for def in groups(db, module).iter().flatten() {
        base_inference(db, *def);
    }
}

/// Sees to it that what `def` needs is inferred, however long the way is.
fn prepare<'db>(db: &'db dyn Db, def: Def<'db>) {
    if let Some(module) = module(db, def.file(db), def.module(db)) {
        infer_from_below(db, module);
    }
}

/// The type of a global; of a member of a cluster, the one that it has outside of it.
#[salsa::tracked(returns(clone))]
fn base_type<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
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

/// The name by which a definition is known as a member of its group. One that is written in full is
/// known by its type.
fn member_name<'db>(db: &'db dyn Db, def: Def<'db>) -> Name {
    match closed_signature(db, def) {
        Some(_) => Name::default(),
        None => def.name(db).clone(),
    }
}

/// The world around a definition.
pub(crate) struct DbEnv<'db> {
    db: &'db dyn Db,
    module: Option<Module<'db>>,
    types: Arc<ModuleTypes>,
    metadata: Option<Arc<Metadata>>,
    /// The members of the group that is inferred, by name.
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
            types: module.map(|module| module_types(db, module)).unwrap_or_default(),
            metadata: module.and_then(|module| metadata(db, module)),
            group: members,
            strict: false,
        }
    }
}

impl Env for DbEnv<'_> {
    fn types(&self) -> &ModuleTypes {
        &self.types
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

    fn constant(&self, key: &str, index: u32) -> MetaEntry<Type> {
        match &self.metadata {
            Some(metadata) => metadata.constant_type(key, index),
            None => MetaEntry::NoSection,
        }
    }

    fn dim(&self, symbol: types::SymbolId) -> Option<types::Dim> {
        self.metadata.as_ref()?.dim(symbol)
    }

    fn attrs(&self, key: &str, index: u32) -> MetaEntry<types::Attrs> {
        match &self.metadata {
            Some(metadata) => metadata.attrs(key, index),
            None => MetaEntry::NoSection,
        }
    }

    fn value(&self, key: &str, index: u32) -> MetaEntry<types::AttrValue> {
        match &self.metadata {
            Some(metadata) => metadata.value(key, index),
            None => MetaEntry::NoSection,
        }
    }

    fn strict(&self) -> bool {
        self.strict
    }

    fn poll(&self) {
        self.db.unwind_if_revision_cancelled();
    }
}

/// Every definition of a file, module by module.
pub fn all_defs<'db>(db: &'db dyn Db, file: SourceFile) -> impl Iterator<Item = Def<'db>> {
    modules(db, file).iter().flat_map(move |module| module.items(db).iter().copied())
}
