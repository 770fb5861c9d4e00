//! Completion of globals, operators, constructors, types and tuple fields.

use semantics::{DefKind, Settings, View, global_type, module_types};
use syntax::TextSize;
use types::{AttrDefault, Type};

use super::{
    DATA_TYPES, Item, ItemKind, List, Lookup, brief, escaped, holes, item, usage::Usage,
    variables::Uses,
};
use crate::{
    cursor::Cursor,
    hover::{operator, type_text},
    locals::Local,
    lookups::header_names,
};

/// Returns the names of the arguments of an operator: `(data, weight)`.
fn arguments(operator: &operators::Operator) -> String {
    let more = if operator.variadic { &["…"][..] } else { &[] };
    format!("({})", [operator.args, more].concat().join(", "))
}

impl List<'_, '_> {
    /// Adds the functions of the module, then those of the prelude.
    pub(super) fn globals(&mut self, has_args: bool) {
        let Some(module) = self.module else { return };
        let mut names: Vec<(u8, semantics::Def<'_>)> = Vec::new();
        names.extend(functions_of(self.db, module).map(|def| (4, def)));
        let own = names.len();
        if let Some(prelude) = semantics::prelude(self.db)
            && prelude.file(self.db) != module.file(self.db)
            && semantics::imports_prelude(self.db)
        {
            names.extend(functions_of(self.db, prelude).map(|def| (8, def)));
        }
        for (order, (class, def)) in names.iter().copied().enumerate() {
            let name = def.name(self.db);
            if name.len() < 2 || super::fit(&self.typed, name).is_none() {
                continue;
            }
            if order >= own && semantics::global(self.db, module, name).is_none_or(|(_, p)| !p) {
                continue;
            }
            let ty = global_type(self.db, def);
            let count = ty.as_ref().and_then(Type::arity);
            let mut entry = item(name.as_str(), ItemKind::Function);
            entry.detail = ty.as_ref().map(type_text);
            let result = ty.as_ref().and_then(|ty| ty.signature().map(|s| brief(s.func.ret())));
            entry.summary = result.map(|result| format!("→ {result}"));
            entry.lookup = Some(Lookup::Global(name.to_string()));
            if let (Some(count), false) = (count, has_args) {
                entry = self.with_args(entry, &param_names(self.db, def, count));
            }
            self.add(class, order as u32, entry);
        }
    }

    /// Adds placeholders for arguments to an entry: `@f(${1:%x})`.
    fn with_args(&self, entry: Item, args: &[String]) -> Item {
        if args.len() > 12 {
            return entry;
        }
        let snippet = format!("{}({})$0", escaped(&entry.insert), holes(1, args).join(", "));
        self.expanded(entry, snippet)
    }

    pub(super) fn constructors(&mut self, has_args: bool) {
        let Some(module) = self.module else { return };
        let types = module_types(self.db, module);
        let mut found: Vec<(bool, &str, Vec<String>, String)> = Vec::new();
        for adt in types.adts() {
            for constructor in &adt.constructors {
                let fields = constructor.fields.iter().map(|ty| ty.to_string()).collect();
                found.push((
                    adt.from_prelude,
                    &constructor.name,
                    fields,
                    adt.own_type().to_string(),
                ));
            }
        }
        found.sort();
        for (order, (from_prelude, name, fields, ty)) in found.into_iter().enumerate() {
            let detail = match fields.is_empty() {
                true => ty,
                false => format!("({}) -> {ty}", fields.join(", ")),
            };
            let mut entry = Item {
                detail: Some(detail),
                lookup: Some(Lookup::Constructor(name.to_owned())),
                ..item(name, ItemKind::Constructor)
            };
            if !fields.is_empty() && !has_args {
                entry = self.with_args(entry, &fields);
            }
            self.add(if from_prelude { 9 } else { 5 }, order as u32, entry);
        }
    }

    /// Adds the operators.
    pub(super) fn operators(&mut self, known: &[Local<'_>], uses: &Uses, cursor: &Cursor<'_>) {
        let has_args = cursor.next == Some(syntax::SyntaxKind::L_PAREN);
        let usage = self
            .module
            .map(|module| Usage::of(self.db, module, cursor.word.start()))
            .unwrap_or_default();
        let argument = self.likely_argument(known, uses).map(|local| local.ty);
        let argument = argument.filter(|ty| !ty.has_error());
        for operator in operators::all() {
            if operator.name.starts_with('_') || super::fit(&self.typed, operator.name).is_none() {
                continue;
            }
            let detail = operator::signature(operator)
                .replace("(\n  ", "(")
                .replace("\n  ", " ")
                .replace('\n', "");
            let mut entry = Item {
                detail: Some(detail),
                summary: Some(arguments(operator)),
                lookup: Some(Lookup::Operator(operator.name.to_owned())),
                ..item(operator.name, ItemKind::Operator)
            };
            if !has_args && self.abilities.snippets {
                let more = operator.variadic.then_some(&"arg");
                let args = operator.args.iter().chain(more).map(|arg| format!("%{arg}"));
                let mut parts = holes(1, &args.collect::<Vec<String>>());
                let fields = operator.schema.filter(|_| !operator.detached);
                for field in fields.into_iter().flat_map(|schema| schema.fields) {
                    if field.default == AttrDefault::Required {
                        let value = super::attributes::example(field.ty);
                        let hole = holes(parts.len() + 1, &[value]).concat();
                        parts.push(format!("{}={hole}", field.name));
                    }
                }
                entry = self.expanded(entry, format!("{}({})$0", operator.name, parts.join(", ")));
            }
            // Inside a call, variables come first: an argument is rarely a nested call.
            let is_first = cursor.begins_value || has_args;
            let class = match usage.is_likely(operator) {
                _ if !self.may_call(operator, cursor.arguments.as_ref(), argument, known) => 7,
                true if is_first => 0,
                _ => 6,
            };
            self.add(class, u32::MAX - usage.score(operator), entry);
        }
        self.declared_operators(has_args);
    }

    /// Adds the operators of the project.
    fn declared_operators(&mut self, has_args: bool) {
        let declared = Settings::get(self.db).operators(self.db);
        for (order, (name, operator)) in declared.iter().enumerate() {
            if super::fit(&self.typed, name).is_none() {
                continue;
            }
            let detail = Some(operator.signature());
            let mut entry = Item { detail, ..item(name, ItemKind::Operator) };
            let args = operator.args.iter().flatten().map(|arg| format!("%{arg}"));
            if !has_args {
                entry = self.with_args(entry, &args.collect::<Vec<String>>());
            }
            self.add(6, order as u32, entry);
        }
    }

    /// Adds patterns.
    pub(super) fn patterns(&mut self) {
        let Some(module) = self.module else { return };
        let types = module_types(self.db, module);
        for adt in types.adts() {
            let class = if adt.from_prelude { 2 } else { 1 };
            for (order, constructor) in adt.constructors.iter().enumerate() {
                let mut entry = Item {
                    detail: Some(adt.own_type().to_string()),
                    lookup: Some(Lookup::Constructor(constructor.name.to_string())),
                    ..item(constructor.name.as_str(), ItemKind::Constructor)
                };
                let names: Vec<String> =
                    (1..=constructor.fields.len()).map(|i| format!("%x{i}")).collect();
                if !names.is_empty() {
                    entry = self.with_args(entry, &names);
                }
                self.add(class, order as u32, entry);
            }
        }
        self.add(3, 0, item("_", ItemKind::Keyword));
    }

    /// Adds types.
    pub(super) fn types(&mut self) {
        let (detail, insert) = (Some("a tensor".into()), "Tensor[(".into());
        let tensor = Item { detail, insert, ..item("Tensor", ItemKind::Type) };
        let snippet = "Tensor[(${1:1, 3, 224, 224}), ${2:float32}]$0";
        self.add(0, 0, self.expanded(tensor, snippet.into()));
        self.type_params();
        self.data_types(2);
        if let Some(module) = self.module {
            let types = module_types(self.db, module);
            for adt in types.adts() {
                let params: Vec<String> = adt.params.iter().map(|p| p.to_string()).collect();
                let entry = Item {
                    detail: Some(adt.own_type().to_string()),
                    lookup: Some(Lookup::Type(adt.name.to_string())),
                    ..item(adt.name.as_str(), ItemKind::Type)
                };
                let snippet = format!("{}[{}]$0", entry.insert, holes(1, &params).join(", "));
                let class = if adt.from_prelude { 4 } else { 1 };
                self.add(class, 0, self.expanded(entry, snippet));
            }
        }
        let snippet = "fn (${1:int32}) -> ${2:int32}$0";
        self.add(5, 0, self.expanded(item("fn", ItemKind::Keyword), snippet.into()));
    }

    /// Adds the type parameters in scope.
    fn type_params(&mut self) {
        let Some(view) = self.view else { return };
        let params =
            view.body.header().map(|header| header.type_params.clone()).unwrap_or_default();
        for (order, param) in params.iter().enumerate() {
            let detail = Some(param.kind().name().to_owned());
            let entry = Item { detail, ..item(param.name().as_str(), ItemKind::Type) };
            self.add(1, order as u32, entry);
        }
    }

    pub(super) fn data_types(&mut self, class: u8) {
        for (order, name) in DATA_TYPES.iter().enumerate() {
            self.add(class, order as u32, item(*name, ItemKind::Type));
        }
    }

    /// Adds the fields of the tuple expression that ends at `dot`.
    pub(super) fn fields(&mut self, dot: TextSize) {
        let Some(view) = self.view else { return };
        let Some(ty) = type_ending_at(view, dot) else { return };
        let Some(fields) = ty.as_tuple() else { return };
        for (number, field) in fields.iter().enumerate().take(super::MAX_ITEMS) {
            let detail = Some(type_text(field));
            let entry = Item { detail, ..item(number.to_string(), ItemKind::Field) };
            self.add(0, number as u32, entry);
        }
    }
}

/// Returns the type of the shortest expression that ends at `end`, before a dot.
pub(crate) fn type_ending_at(view: &View<'_>, end: TextSize) -> Option<Type> {
    let number = view.unit_at(end.checked_sub(1.into())?)?;
    let exprs = view.exprs(number).filter(|(.., range)| range.end() == end);
    // Of those with the same start, the first.
    let (expr_ref, ..) = exprs.min_by_key(|(.., range)| std::cmp::Reverse(range.start()))?;
    Some(view.ty(expr_ref).clone())
}

fn functions_of<'db>(
    db: &'db dyn semantics::Db,
    module: semantics::Module<'db>,
) -> impl Iterator<Item = semantics::Def<'db>> {
    let items = module.items(db).iter().copied();
    items.filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Tir))
}

/// Returns the names of the parameters of a definition.
fn param_names(db: &dyn semantics::Db, def: semantics::Def<'_>, count: usize) -> Vec<String> {
    let names = header_names(&semantics::body(db, def));
    let name = |at| names.get(at).cloned().unwrap_or_else(|| format!("%x{at}"));
    (0..count).map(name).collect()
}
