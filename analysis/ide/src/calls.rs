//! The call hierarchy of globals.

use rustc_hash::FxHashMap;
use semantics::{Db, Def, DefKind, Module, SourceFile, body::Name, global};
use syntax::{TextRange, TextSize};

use crate::{
    goto::{Target, def_target},
    place::{Symbol, place_at},
    references::uses_in,
};

/// A node of the call hierarchy: a definition that calls or is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callable {
    /// The name, or `expression` for a module that is a bare expression.
    pub name: String,
    /// The type, if it is known.
    pub detail: Option<String>,
    /// The place of the definition.
    pub target: Target,
}

/// An edge of the call hierarchy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Calls {
    /// The caller of an incoming call, the callee of an outgoing one.
    pub other: Callable,
    /// The ranges of the calls in the file of the caller.
    pub places: Vec<TextRange>,
}

/// Returns the global that is named at `offset`, otherwise the enclosing definition.
pub fn callable_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Callable> {
    callee_at(db, file, offset).map(|(_, def)| callable(db, def))
}

fn callee_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<(Module<'_>, Def<'_>)> {
    let place = place_at(db, file, offset)?;
    if let Some((Symbol::Global(name), _)) = place.symbol(db) {
        return Some((place.module, global(db, place.module, &name)?.0));
    }
    place.def.kind(db).has_body().then_some((place.module, place.def))
}

/// Returns the definitions of the module at `offset` that use the global there. The global itself
/// may be from the prelude.
pub fn incoming(db: &dyn Db, file: SourceFile, offset: TextSize) -> Vec<Calls> {
    let Some((module, callee)) = callee_at(db, file, offset) else { return Vec::new() };
    let mut found = Vec::new();
    for &caller in module.items(db) {
        let uses = uses(db, caller);
        let names = uses.into_iter().filter(|(name, _)| *name == *callee.name(db));
        let mut places: Vec<TextRange> = names.flat_map(|(_, places)| places).collect();
        if !places.is_empty() {
            places.sort_by_key(|range| range.start());
            found.push(Calls { other: callable(db, caller), places });
        }
    }
    found
}

/// Returns the globals that the definition at `offset` uses, in the order of their first use.
pub fn outgoing(db: &dyn Db, file: SourceFile, offset: TextSize) -> Vec<Calls> {
    let Some((module, caller)) = callee_at(db, file, offset) else { return Vec::new() };
    // The globals of a prelude definition are resolved in the prelude.
    let own = || semantics::module(db, caller.file(db), caller.module(db));
    let module = if caller.file(db) == file { Some(module) } else { own() };
    let Some(module) = module else { return Vec::new() };
    let found = uses(db, caller).into_iter().filter_map(|(name, places)| {
        let (def, _) = global(db, module, &name)?;
        Some(Calls { other: callable(db, def), places })
    });
    found.collect()
}

/// Returns the globals that a definition uses, with the ranges of the uses in the file.
fn uses(db: &dyn Db, def: Def<'_>) -> Vec<(Name, Vec<TextRange>)> {
    let mut index: FxHashMap<Name, usize> = FxHashMap::default();
    let mut found: Vec<(Name, Vec<TextRange>)> = Vec::new();
    uses_in(db, def, &mut |kind, name, range| {
        if kind == DefKind::Fn {
            let at = *index.entry(name.clone()).or_insert_with(|| {
                found.push((name.clone(), Vec::new()));
                found.len() - 1
            });
            found[at].1.push(range);
        }
    });
    found
}

fn callable(db: &dyn Db, def: Def<'_>) -> Callable {
    let name = match def.name(db).as_str() {
        "" => "expression".to_owned(),
        name => name.to_owned(),
    };
    let detail = semantics::global_type(db, def).map(crate::symbols::short);
    Callable { name, detail, target: def_target(db, def) }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let (db, file, at) = (&fixture.db, fixture.file, fixture.cursor());
        let mut out = match callable_at(db, file, at) {
            Some(c) => format!("{}: {}\n", c.name, c.detail.unwrap_or_default()),
            None => "nothing\n".into(),
        };
        for (direction, calls) in [("from", incoming(db, file, at)), ("to", outgoing(db, file, at))]
        {
            for call in calls {
                let places: Vec<_> = call.places.iter().map(|p| u32::from(p.start())).collect();
                out += &format!("{direction} {} at {places:?}\n", call.other.name);
            }
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn incoming_and_outgoing_calls_of_a_definition() {
        check(
            "
def @f(%x: int32) -> int32 { %x }
def @g$0(%x: int32) -> int32 { @f(@f(@g(%x))) }
def @main() { (@g(1), @f(2)) }
",
            expect![[r#"
                @g: fn (int32) -> int32
                from @g at [69]
                from @main at [95]
                to @f at [63, 66]
                to @g at [69]
            "#]],
        );
    }

    #[test]
    fn calls_of_enclosing_definition_and_of_prelude() {
        check(
            "def @main(%l: List[int32]) -> int32 { let %x = 1; @h$0d(%l) }",
            expect![[r#"
            @hd: fn [A](List[A]) -> A
            from @main at [50]
        "#]],
        );
        check(
            "def @f() { 1 }\ndef @main() -> int32 { let %x = $01; @f() }",
            expect![[r#"
            @main: fn () -> int32
            to @f at [50]
        "#]],
        );
        check(
            "type T { A$0 }",
            expect![[r#"
            nothing
        "#]],
        );
    }
}
