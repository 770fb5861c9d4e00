//! The queries from items to types.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use types::{PolyType, Type};

use crate::{
    adt::{Adt, TypeDef},
    body::{Body, Name, Unit, UnitKind},
    db::{Db, Inferred, Settings, SourceFile},
    groups::{group_members, group_of, groups, infer_cluster, place_in_cluster},
    infer::{self, Env, Finding, Global, Inference, Memo, MetaEntry},
    item::{Def, DefKind, Module, module, modules},
    lower::{Previous, lower, lower_type_def},
    metadata::Metadata,
    module::ModuleTypes,
    scope::{Scopes, resolve, resolve_after},
};

/// The body of a definition.
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

/// The header of a definition. What depends on it alone is not computed again when the body changes.
#[salsa::tracked(returns(clone))]
fn header<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Unit> {
    body(db, def).units[0].clone()
}

/// The names of a definition's units, resolved.
#[salsa::tracked(returns(clone))]
pub fn scopes<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Scopes> {
    let body = body(db, def);
    let key = def.key(db);
    let known = db.cache().scopes(&key);
    let scopes = match known {
        Some((before, scopes)) => resolve_after(&scopes, &before, &body),
        None => Arc::new(resolve(&body)),
    };
    db.cache().set_scopes(&key, body, scopes.clone());
    scopes
}

/// A type definition.
#[salsa::tracked(returns(clone))]
pub fn type_def<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Arc<TypeDef>> {
    lower_type_def(def.node(db)).map(Arc::new)
}

/// The prelude without its tensor arrays.
pub fn prelude(db: &dyn Db) -> Option<Module<'_>> {
    module(db, *Settings::get(db).prelude_files(db).first()?, 0)
}

/// Returns the module of the prelude that defines `name`, if it is not the module itself.
fn prelude_of<'db>(db: &'db dyn Db, file: SourceFile, name: &str) -> Option<Module<'db>> {
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
            types.add(Adt { from_prelude, ..def.adt.clone() });
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

/// Returns the function `name` of a module itself, without the prelude.
fn own_global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> Option<Def<'db>> {
    let position = *module_scope(db, module).get(name)?;
    module.items(db).get(position as usize).copied()
}

/// Resolves a global. Returns its definition, and true if that is in the prelude.
pub fn global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> Option<(Def<'db>, bool)> {
    if let Some(def) = own_global(db, module, name) {
        return Some((def, false));
    }
    let found = own_global(db, prelude_of(db, module.file(db), name)?, name)?;
    // `@map` of the prelude takes a `List` of the prelude, not one of the module.
    let fits =
        signature(db, found).is_none_or(|ty| module_types(db, module).redefines_prelude(&ty));
    fits.then_some((found, true))
}

/// Resolves a data type. Returns its definition, and true if that is in the prelude.
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
    own(prelude_of(db, module.file(db), name)?).map(|def| (def, true))
}

/// The metadata section of a module: its own, or for a code view that of the file.
#[salsa::tracked(returns(clone))]
pub fn metadata<'db>(db: &'db dyn Db, module: Module<'db>) -> Option<Arc<Metadata>> {
    let def = module.items(db).iter().find(|def| def.kind(db) == DefKind::Metadata)?;
    let token = def.node(db).token(syntax::SyntaxKind::METADATA)?;
    if weights::is_folded(token.text()) {
        return module.file(db).section(db).clone();
    }
    Some(Arc::new(Metadata::read(token.text())))
}

/// Returns true if the type of a definition may have constraints that its signature does not show:
/// those of shape, size and data type parameters, and of a `where` clause.
fn has_rules(header: &crate::body::Function) -> bool {
    let is_part = |param: &types::Param| param.kind() != types::Kind::Type;
    !header.relations.is_empty() || header.type_params.iter().any(is_part)
}

/// The type that other definitions see, if it is independent of the body.
#[salsa::tracked(returns(clone))]
pub(crate) fn closed_signature<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    signature(db, def).filter(|_| !header(db, def).header().is_some_and(has_rules))
}

/// The type of a definition by its header, if the header is complete.
#[salsa::tracked(returns(clone))]
pub fn signature<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    let unit = header(db, def);
    let header = unit.header()?;
    let params: Option<Vec<Type>> = header
        .params
        .iter()
        .map(|&binder| unit.binder(binder).annotation.clone().filter(Type::is_closed))
        .collect();
    let func = Type::func(params?, header.ret.clone().filter(Type::is_closed)?);
    Some(PolyType::close(&header.type_params, Vec::new(), &func))
}

/// True if all parameters of a definition are annotated, so that its result follows from its body.
/// The result of `def @f<s : Shape>(%x: Tensor[s, float32])` may follow from its calls only.
#[salsa::tracked(returns(copy))]
pub(crate) fn has_typed_params<'db>(db: &'db dyn Db, def: Def<'db>) -> bool {
    let unit = header(db, def);
    unit.header().is_none_or(|header| {
        !has_rules(header)
            && (header.ret.is_some() || header.type_params.is_empty())
            && header
                .params
                .iter()
                .all(|&binder| unit.binder(binder).annotation.as_ref().is_some_and(Type::is_closed))
    })
}

/// The globals that a definition uses.
#[salsa::tracked(returns(ref))]
pub(crate) fn global_uses<'db>(db: &'db dyn Db, def: Def<'db>) -> Vec<Name> {
    scopes(db, def).globals.clone()
}

/// The users of each global in a module: their positions among its items, in order.
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

/// Returns the users of a global in a module, in order.
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

/// The types of a definition.
pub fn inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    prepare(db, def);
    if Settings::get(db).tvm(db) { tvm_inference(db, def) } else { general_inference(db, def) }
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

/// The types of a definition, with types held in references generalised like all others.
#[salsa::tracked(returns(clone))]
pub(crate) fn base_inference<'db>(db: &'db dyn Db, def: Def<'db>) -> Arc<Inference> {
    // Called in any case, so that the memo of a definition that is no longer recursive is replaced.
    let own_group = infer_group(db, def);
    match group_of(db, def) {
        Some((first, at)) => {
            let group = if first == def { own_group } else { infer_group(db, first) };
            group.get(at as usize).cloned().unwrap_or_default()
        }
        None => infer_alone(db, def, false),
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
    let wanted = Settings::get(db).tvm(db) || uses_open_globals(db, def) || is_doubtful();
    wanted.then(|| infer_alone(db, def, true))
}

fn infer_alone<'db>(db: &'db dyn Db, def: Def<'db>, strict: bool) -> Arc<Inference> {
    let (body, scopes) = (body(db, def), scopes(db, def));
    let env = DbEnv { strict, ..DbEnv::new(db, def, &[]) };
    let key = def.key(db);
    // A previous inference under other settings or data types cannot be reused.
    let before = db.cache().inferred(&key).filter(|before| {
        before.inference.strict == strict
            && before.metadata == env.metadata
            && (Arc::ptr_eq(&before.types, &env.types) || before.types == env.types)
    });
    let memo =
        before.as_ref().map(|b| Memo { body: &b.body, scopes: &b.scopes, inference: &b.inference });
    let inference = Arc::new(infer::infer_ordered(&body, &scopes, &env, memo.as_ref()));
    if strict == Settings::get(db).tvm(db) {
        let (types, metadata) = (env.types, env.metadata);
        let inference = inference.clone();
        db.cache().set_inferred(&key, Inferred { body, scopes, inference, types, metadata });
    }
    inference
}

/// The type of a global, as far as its header gives it.
#[salsa::tracked(returns(clone))]
fn written_type<'db>(db: &'db dyn Db, def: Def<'db>) -> Option<Type> {
    let unit = header(db, def);
    let header = unit.header()?;
    let params = header.params.iter().map(|&binder| unit.binder(binder).annotation.clone());
    let params = params.map(|ty| ty.unwrap_or(Type::Hole));
    let func = Type::func(params, header.ret.clone().unwrap_or(Type::Hole));
    Some(PolyType::close(&header.type_params, Vec::new(), &func))
}

/// True if a definition uses globals with incomplete headers.
#[salsa::tracked(returns(copy))]
pub(crate) fn uses_open_globals<'db>(db: &'db dyn Db, def: Def<'db>) -> bool {
    let Some(module) = module(db, def.file(db), def.module(db)) else { return false };
    global_uses(db, def).iter().any(|name| is_open_global(db, module, name))
}

/// Returns true if a module's own definition of `name` has an incomplete header.
pub(crate) fn is_open_global<'db>(db: &'db dyn Db, module: Module<'db>, name: &str) -> bool {
    own_global(db, module, name).is_some_and(|def| signature(db, def).is_none())
}

/// Returns the type of a global at its uses.
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

/// Infers the definitions of a module that have incomplete headers, dependencies first.
///
/// On demand, each would be inferred inside the query of its caller, and validated inside it after
/// an edit, so that a chain of thousands would overflow the stack. Bottom up, every dependency is a
/// memo hit. [`inference`] therefore executes this query first.
#[salsa::tracked]
pub(crate) fn infer_from_below<'db>(db: &'db dyn Db, module: Module<'db>) {
    for def in groups(db, module).iter().flatten() {
        base_inference(db, *def);
    }
}

/// Ensures that the dependencies of `def` are inferred, without recursion.
fn prepare<'db>(db: &'db dyn Db, def: Def<'db>) {
    if let Some(module) = module(db, def.file(db), def.module(db)) {
        infer_from_below(db, module);
    }
}

/// Returns the type of a global; for a member of a cluster, its type outside the cluster.
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
    types: Arc<ModuleTypes>,
    metadata: Option<Arc<Metadata>>,
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

/// Returns the definitions of a file, module by module.
pub fn all_defs<'db>(db: &'db dyn Db, file: SourceFile) -> impl Iterator<Item = Def<'db>> {
    modules(db, file).iter().flat_map(move |module| module.items(db).iter().copied())
}
