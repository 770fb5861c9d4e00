//! Name resolution for highlighting.

use std::{
    cell::RefCell,
    hash::{Hash, Hasher},
    rc::Rc,
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use semantics::{
    Db, Def, DefKind, Module,
    body::{BinderKind, Body, Expr, ExprId, LocalRef, Name, SourceMap, Unit, UnitId},
    global,
    module::ModuleTypes,
    module_types,
    scope::{Scopes, is_marked_unused},
};
use syntax::{
    TextRange, TextSize,
    ast::{self, AstNode},
};

use super::{TokenKind, modifier};
use crate::lookups::bindings_of;

/// A binder or use of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariableToken {
    /// The range, relative to the start of the definition.
    pub(super) range: TextRange,
    pub(super) kind: TokenKind,
    pub(super) modifiers: u8,
}

/// The names in the scope of a module.
pub(super) struct ModuleNames<'db> {
    db: &'db dyn Db,
    module: Module<'db>,
    types: Arc<ModuleTypes>,
    globals: RefCell<FxHashMap<Name, u8>>,
    hash: u64,
}

impl<'db> ModuleNames<'db> {
    pub(super) fn new(db: &'db dyn Db, module: Module<'db>) -> ModuleNames<'db> {
        let types = module_types(db, module);
        let mut hasher = FxHasher::default();
        // The highlighting of the whole module depends on which names it declares and which come
        // from the prelude, so that adding or removing a declaration invalidates every segment.
        semantics::prelude(db).is_some().hash(&mut hasher);
        for &def in module.items(db) {
            let kind = def.kind(db);
            if matches!(kind, DefKind::Fn | DefKind::Type | DefKind::Tir) {
                (kind, def.name(db)).hash(&mut hasher);
            }
            let adt = if kind == DefKind::Type { types.adt(def.name(db)) } else { None };
            for constructor in adt.into_iter().flat_map(|adt| &adt.constructors) {
                constructor.name.hash(&mut hasher);
                // A global of the prelude is hidden if the module redefines a type that it uses.
                constructor.fields.iter().for_each(|field| field.to_string().hash(&mut hasher));
            }
        }
        let globals = RefCell::default();
        ModuleNames { db, module, types, globals, hash: hasher.finish() }
    }

    /// Returns the modifiers of a global.
    pub(super) fn global(&self, name: &str) -> u8 {
        if let Some(&known) = self.globals.borrow().get(name) {
            return known;
        }
        let from_prelude = global(self.db, self.module, name).is_some_and(|(_, prelude)| prelude);
        let modifiers = if from_prelude { modifier::PRELUDE } else { 0 };
        self.globals.borrow_mut().insert(name.into(), modifiers);
        modifiers
    }

    /// Returns the modifiers of a constructor, or `None` if there is none of the name.
    pub(super) fn constructor(&self, name: &str) -> Option<u8> {
        let (adt, _) = self.types.constructor(name)?;
        Some(if adt.from_prelude { modifier::PRELUDE } else { 0 })
    }

    /// Returns the modifiers of a type. Built-in data types count as prelude.
    pub(super) fn type_name(&self, name: &str) -> u8 {
        match self.types.adt(name) {
            Some(adt) if !adt.from_prelude => 0,
            Some(_) => modifier::PRELUDE,
            None if types::DataType::parse(name).is_some() => modifier::PRELUDE,
            None => 0,
        }
    }
}

/// The names in the scope of a definition.
pub(super) struct DefNames<'db> {
    pub(super) module: Rc<ModuleNames<'db>>,
    pub(super) type_params: Vec<Box<str>>,
    code: Option<Code>,
    hash: u64,
}

struct Code {
    body: Arc<Body>,
    source: Arc<SourceMap>,
    scopes: Arc<Scopes>,
    unused: FxHashSet<LocalRef>,
    hidden: FxHashSet<LocalRef>,
    /// For each unit, true if it binds a constant.
    constant: Vec<bool>,
}

impl<'db> DefNames<'db> {
    pub(super) fn new(
        db: &'db dyn Db,
        def: Def<'db>,
        module: Rc<ModuleNames<'db>>,
    ) -> DefNames<'db> {
        let list = def.node(db).child(syntax::SyntaxKind::TYPE_PARAM_LIST);
        let params = list.and_then(ast::TypeParamList::cast).into_iter().flat_map(|l| l.params());
        let type_params: Vec<Box<str>> =
            params.filter_map(|param| param.name()).map(|name| name.text().into()).collect();
        let code = def.kind(db).has_body().then(|| {
            let (body, scopes) = (semantics::body(db, def), semantics::scopes(db, def));
            let source = semantics::source_map(db, def);
            let unused = scopes.unused.iter().copied().collect();
            let hidden = scopes.shadows.iter().map(|(_, hidden)| *hidden).collect();
            let constant = body.units.iter().map(|unit| {
                let binds = |expr: &&Expr| matches!(expr, Expr::Bind { binder, .. } if Some(*binder) == unit.binds);
                unit.binds.is_some()
                    && unit.exprs.iter().rev().find(binds).is_some_and(|e| is_constant(unit, e))
            });
            Code { constant: constant.collect(), unused, hidden, body, source, scopes }
        });
        let mut hasher = FxHasher::default();
        module.hash.hash(&mut hasher);
        type_params.hash(&mut hasher);
        DefNames { module, type_params, code, hash: hasher.finish() }
    }

    /// Returns the unit at an offset of the definition.
    pub(super) fn unit_at(&self, offset: TextSize) -> UnitId {
        self.code.as_ref().and_then(|code| code.source.unit_at(offset)).unwrap_or_default()
    }

    /// Returns a hash of the resolution of the names in a unit. Equal trees with equal hashes have
    /// equal highlighting.
    pub(super) fn context(&self, number: UnitId) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash.hash(&mut hasher);
        let Some(code) = &self.code else { return hasher.finish() };
        let Some(unit) = code.body.units.get(number.index()) else { return hasher.finish() };
        for found in code.scopes.unit(number) {
            found.map(|binding| code.of(binding)).hash(&mut hasher);
        }
        let params = unit.header().map(|header| header.params.as_slice()).unwrap_or_default();
        for &binder in params.iter().chain(&unit.binds) {
            code.of(LocalRef { unit: number, binder }).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Returns the binders and uses of variables in a unit, in text order.
    pub(super) fn of_unit(&self, number: UnitId) -> Vec<VariableToken> {
        let Some(code) = &self.code else { return Vec::new() };
        let Some(unit) = code.body.units.get(number.index()) else { return Vec::new() };
        let mut own: Vec<(TokenKind, u8)> =
            bindings_of(number, unit).map(|(binding, _)| code.of(binding)).collect();
        for expr in &unit.exprs {
            if let Expr::Bind { binder, .. } = expr
                && is_constant(unit, expr)
            {
                own[binder.index()].1 |= modifier::READONLY;
            }
        }
        let mut found: Vec<VariableToken> = Vec::new();
        for (i, expr) in unit.exprs.iter().enumerate() {
            let resolved = match expr {
                Expr::Bound(binder) => Some(own[binder.index()]),
                Expr::Free(free) => {
                    let binding = code.scopes.get(number, *free);
                    Some(binding.map_or((TokenKind::Variable, 0), |binding| code.of(binding)))
                }
                // Unless the whole is a name, it is a projection, whose operand is highlighted.
                Expr::Dotted { whole, .. } => {
                    code.scopes.get(number, *whole).map(|binding| code.of(binding))
                }
                _ => None,
            };
            if let Some((kind, modifiers)) = resolved {
                let modifiers = modifiers & !modifier::UNUSED;
                let range = code.source.expr(number, ExprId(i as u32));
                found.push(VariableToken { range, kind, modifiers });
            }
        }
        for inner in unit.unused_inside() {
            own[inner.index()].1 |= modifier::UNUSED;
        }
        for (binder, (kind, modifiers)) in unit.binders.iter().zip(own) {
            if !binder.name.is_empty() {
                let silenced = if is_marked_unused(&binder.name) { modifier::UNUSED } else { 0 };
                let modifiers = (modifiers & !silenced) | modifier::DECLARATION;
                let range = code.source.range(number, binder.range);
                found.push(VariableToken { range, kind, modifiers });
            }
        }
        // Of `%input` and `%input.1`, which start at the same offset, the longer one wins.
        found.sort_by_key(|named| (named.range.start(), std::cmp::Reverse(named.range.end())));
        found.dedup_by_key(|named| named.range.start());
        found
    }
}

impl Code {
    /// Returns the kind and modifiers of a variable.
    fn of(&self, binding: LocalRef) -> (TokenKind, u8) {
        let number = binding.unit;
        let Some(unit) = self.body.units.get(number.index()) else {
            return (TokenKind::Variable, 0);
        };
        let kind = match unit.binders.get(binding.binder.index()).map(|binder| binder.kind) {
            Some(BinderKind::Param) => TokenKind::Parameter,
            _ => TokenKind::Variable,
        };
        let mut modifiers = 0;
        if unit.binds == Some(binding.binder) && self.constant[number.index()] {
            modifiers |= modifier::READONLY;
        }
        if self.hidden.contains(&binding) {
            modifiers |= modifier::SHADOWED;
        }
        if self.unused.contains(&binding) {
            modifiers |= modifier::UNUSED;
        }
        (kind, modifiers)
    }
}

/// Returns true if a `Bind` expression binds a constant.
fn is_constant(unit: &Unit, bind: &Expr) -> bool {
    let Expr::Bind { value, .. } = bind else { return false };
    matches!(unit.expr(*value), Expr::Literal(_) | Expr::Filled(_) | Expr::Meta(_))
}
