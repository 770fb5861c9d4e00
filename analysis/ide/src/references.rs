//! Find references.

use semantics::{
    Db, Def, DefKind, Module, SourceFile, View,
    body::{Body, Callee, Expr, LocalRef, Name, PatternKind, RangeId, SourceMap, UnitId},
    module_types, source_map, type_def,
};
use syntax::{Node, SyntaxKind, TextRange, TextSize, Token, ast, ast::AstNode};

use crate::{
    goto::target_of,
    place::{Place, Symbol, place_at, type_name},
};

/// An occurrence of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The range.
    pub range: TextRange,
    /// True at the binder or declaration.
    pub is_definition: bool,
}

/// Returns the references to the name at `offset` in text order, with its declaration.
///
/// The search covers one module, because the modules of a file have separate scopes.
pub fn references(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Vec<Reference>> {
    let place = place_at(db, file, offset)?;
    let (symbol, _) = place.symbol(db)?;
    Some(references_to(db, &place, &symbol))
}

/// Returns the references to `symbol` in the module in text order, with its declaration.
pub fn references_to(db: &dyn Db, place: &Place<'_>, symbol: &Symbol<'_>) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    let mut add = |range| found.push(Reference { range, is_definition: false });
    match symbol {
        Symbol::Local(binding) => {
            if let Some(view) = &place.view {
                local_uses(view, *binding, &mut add);
            }
        }
        Symbol::TypeParam { name, declared, scope } => {
            let start = place.start(db);
            let mut uses = Vec::new();
            type_param_uses(*scope, name, &mut uses);
            let uses = uses.into_iter().filter(|range| range != declared);
            uses.for_each(|range| add(range + start));
        }
        symbol => in_module(db, place.module, symbol, &mut add),
    }
    if let Some(target) = target_of(db, place, symbol)
        && target.file == place.def.file(db)
        && !matches!(symbol, Symbol::Meta(_))
    {
        found.push(Reference { range: target.name, is_definition: true });
    }
    found.sort_by_key(|r| (r.range.start(), r.range.end(), !r.is_definition));
    found.dedup_by_key(|reference| reference.range);
    found
}

/// Passes the ranges of the uses of a variable to `add`.
pub(crate) fn local_uses(view: &View<'_>, binding: LocalRef, add: &mut impl FnMut(TextRange)) {
    let mut in_unit = |number: UnitId, is_use: &dyn Fn(&Expr) -> bool| {
        let uses = view.exprs(number).filter(|(_, expr, _)| is_use(expr));
        uses.for_each(|(.., range)| add(range));
    };
    let own = Expr::Bound(binding.binder);
    in_unit(binding.unit, &|expr| *expr == own);
    for (number, free) in view.scopes.uses(&view.body, binding) {
        in_unit(number, &|expr| match expr {
            Expr::Free(name) => *name == free,
            Expr::Dotted { whole, .. } => *whole == free,
            _ => false,
        });
    }
}

/// Passes the ranges of the uses of a symbol with module scope to `add`.
fn in_module<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    symbol: &Symbol<'_>,
    add: &mut impl FnMut(TextRange),
) {
    let global = match symbol {
        Symbol::Global(name) => Some((DefKind::Fn, name)),
        Symbol::Type(name) => Some((DefKind::Type, name)),
        _ => None,
    };
    for &def in module.items(db) {
        if global.is_some() {
            uses_in(db, def, &mut |kind, name, range| {
                if global == Some((kind, name)) {
                    add(range);
                }
            });
        } else if def.kind(db).has_body() {
            let (body, source) = (semantics::body(db, def), source_map(db, def));
            let start = def.start(db);
            for (number, _) in body.units() {
                let unit = (&*body, &*source, number);
                in_unit(db, module, unit, symbol, &mut |range| add(range + start));
            }
        }
    }
}

/// Passes the uses of globals and of types in a definition to `add`, with the kind of what is used, its name and the
/// range in the file.
pub(crate) fn uses_in(db: &dyn Db, def: Def<'_>, add: &mut impl FnMut(DefKind, &Name, TextRange)) {
    let start = def.start(db);
    // The range of a type includes its arguments.
    let name_at = |name: &Name, range: TextRange| {
        TextRange::at(range.start() + start, TextSize::of(name.as_str()))
    };
    if def.kind(db).has_body() {
        let (body, source) = (semantics::body(db, def), source_map(db, def));
        for (number, unit) in body.units() {
            for (name, expr) in unit.globals() {
                add(DefKind::Fn, name, source.expr(number, expr) + start);
            }
            for used in &unit.type_uses {
                let range = name_at(&used.name, source.range(number, used.range));
                add(DefKind::Type, &used.name, range);
            }
        }
    } else if let Some(data) = type_def(db, def) {
        for used in &data.uses {
            add(DefKind::Type, &used.name, name_at(&used.name, data.range(used.range)));
        }
    }
}

/// Passes the uses in a unit to `add`, with ranges from the start of the definition.
fn in_unit(
    db: &dyn Db,
    module: Module<'_>,
    (body, source, number): (&Body, &SourceMap, UnitId),
    symbol: &Symbol<'_>,
    add: &mut impl FnMut(TextRange),
) {
    let unit = body.unit(number);
    let range = |id: RangeId| source.range(number, id);
    let calls = |name: &str, add: &mut dyn FnMut(TextRange)| {
        for call in &unit.calls {
            let is_called = match &call.callee {
                Callee::Name(used) => used == name,
                Callee::Operator(operator) => operator.name == name,
                Callee::Expr(_) => false,
            };
            if is_called {
                add(range(call.callee_range));
            }
        }
    };
    match symbol {
        Symbol::Constructor(name) => {
            for (_, expr, range) in source.exprs(body, number) {
                if matches!(expr, Expr::Name(used) if used == name) {
                    add(range);
                }
            }
            calls(name, add);
            let arms = unit.matches.iter().flat_map(|m| &m.arms);
            for pattern in arms.flat_map(|arm| arm.pattern.all()) {
                if matches!(&pattern.kind, PatternKind::Constructor(used, _) if used == name) {
                    add(TextRange::at(range(pattern.range).start(), TextSize::of(name.as_str())));
                }
            }
        }
        Symbol::Operator(operator) => {
            let types = module_types(db, module);
            if types.constructor(operator.name).is_none() {
                calls(operator.name, add);
            }
        }
        Symbol::Declared(name) => calls(name, add),
        Symbol::Attribute(operator, field) => {
            for call in &unit.calls {
                if matches!(&call.callee, Callee::Operator(used) if used == operator) {
                    let written = call.written.iter().filter(|attr| attr.name == field.name);
                    written.for_each(|attr| add(range(attr.name_range)));
                }
            }
        }
        // `uses_in` finds the first two, and the others have no module scope.
        Symbol::Global(_)
        | Symbol::Type(_)
        | Symbol::Local(_)
        | Symbol::TypeParam { .. }
        | Symbol::Meta(_) => {}
    }
}

/// Collects the uses of a type parameter in its scope, except where it is shadowed.
fn type_param_uses(scope: Node<'_>, name: &str, uses: &mut Vec<TextRange>) {
    let declares = |node: Node<'_>| {
        let list = node.child(SyntaxKind::TYPE_PARAM_LIST).and_then(ast::TypeParamList::cast);
        let mut params = list.into_iter().flat_map(|list| list.params());
        params.any(|param| param.name().is_some_and(|token| token.text() == name))
    };
    let mut stack: Vec<Node<'_>> = vec![scope];
    let mut is_scope = true;
    while let Some(node) = stack.pop() {
        if !is_scope && declares(node) {
            continue;
        }
        is_scope = false;
        let token = type_name(node).filter(|token| token.text() == name);
        uses.extend(token.map(Token::range));
        stack.extend(node.children());
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Fixture, marked};

    /// Checks the references to the name at the cursor `$0`, which `^^^` marks.
    fn check(text: &str) {
        let fixture = Fixture::new(text);
        let found = super::references(&fixture.db, fixture.file, fixture.cursor());
        let found: Vec<_> = found.unwrap_or_default().iter().map(|r| r.range).collect();
        assert_eq!(found, marked(&fixture), "{text}");
    }

    #[test]
    fn binder_is_definition_and_use_is_none() {
        let fixture = Fixture::new(
            "
def @main(%x: int32) -> int32 {
  let %x = add(%x, %x);
    //^^
  add(%x$0, 1)
    //^^
}
",
        );
        let found = super::references(&fixture.db, fixture.file, fixture.cursor());
        let found = found.expect("a name");
        let ranges: Vec<_> = found.iter().map(|reference| reference.range).collect();
        assert_eq!(ranges, marked(&fixture));
        let definitions: Vec<_> = found.iter().map(|reference| reference.is_definition).collect();
        assert_eq!(definitions, [true, false]);
    }

    #[test]
    fn no_references_without_a_name() {
        let fixture = Fixture::new("def @main() { $0 1 }");
        assert_eq!(super::references(&fixture.db, fixture.file, fixture.cursor()), None);
    }

    #[test]
    fn locals_respect_shadowing() {
        check(
            "
def @main(%x: int32) {
        //^^
  let %y = %x$0;
         //^^
  let %x = add(%y, %x);
                 //^^
  add(%x, %y)
}
",
        );
    }

    #[test]
    fn references_include_uses_in_inner_functions() {
        check(
            "
def @main(%x: int32) {
  %0 = add(%x, %x);
//^^
  let %f = fn (%y: int32) { add(%y, %0) };
                                  //^^
  add(%f(%x), %$00)
            //^^
}
",
        );
    }

    #[test]
    fn references_to_globals_constructors_and_types() {
        check(
            "
def @f$0(%x: int32) -> int32 { @f(%x) }
  //^^
                           //^^
def @main() { @f(1) }
            //^^
",
        );
        check(
            "
type Nat { Z, S(Nat) }
            //^
def @f(%n: Nat) -> Nat { match (%n) { Z => S$0(Z), S(%m) => %m } }
                                         //^
                                               //^
",
        );
        check(
            "
type Nat { Z, S(Nat$0) }
   //^^^
              //^^^
def @f(%n: Nat) -> Nat { %n }
         //^^^
                 //^^^
",
        );
    }

    #[test]
    fn references_to_type_parameter_respect_shadowing() {
        check(
            "
def @f[A, B](%x: A$0, %g: fn(A) -> B) -> B {
     //^
               //^
                         //^
  let %h = fn[A](%y: A) { %y };
  %g(%h(%x))
}
",
        );
    }
}
