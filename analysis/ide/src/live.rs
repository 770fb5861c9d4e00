//! Queries for showing values of a run in the editor: the variable at a position, and whether a
//! definition can be run.

use semantics::{Db, SourceFile, View, body::UnitKind};
use syntax::{TextRange, TextSize};
use types::{Flags, Type};

use crate::place::{Symbol, place_at};

/// Returns the range of the binder of the variable at `offset`.
pub fn variable_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<TextRange> {
    let place = place_at(db, file, offset)?;
    let (Symbol::Local(binding), _) = place.symbol(db)? else { return None };
    Some(place.view.as_ref()?.binding_range(binding))
}

/// Returns the name of the parameter of a definition at `offset`, where it is bound or used.
pub fn parameter_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<String> {
    let place = place_at(db, file, offset)?;
    let (Symbol::Local(binding), _) = place.symbol(db)? else { return None };
    let view = place.view.as_ref().filter(|view| view.is_parameter(binding))?;
    Some(view.unit(binding.unit).binder(binding.binder).name.as_str().to_owned())
}

/// Returns true if a definition can be run with generated inputs: its parameters and free variables
/// are tensors of known sizes or tuples of them.
pub fn is_runnable(view: &View<'_>) -> bool {
    view.parameters().into_iter().all(|binding| concrete(view.binding_type(binding)))
}

/// Returns true if a place in a definition precedes its body: a function with an error there cannot be called.
pub fn is_in_header(view: &View<'_>, range: TextRange) -> bool {
    let mut units = view.body.units();
    let first = units.find(|(_, unit)| !matches!(unit.kind, UnitKind::Header | UnitKind::FreeVar));
    // A body without statements is empty.
    first.is_none_or(|(number, _)| range.start() < view.unit_range(number).start())
}

fn concrete(ty: &Type) -> bool {
    let mut is_concrete = true;
    types::for_each_part(ty, Flags::ALL, &mut |part| {
        is_concrete &= match part {
            Type::Tensor(tensor) => tensor.shape.iter().all(|dim| dim.as_known().is_some()),
            Type::Tuple(_) => true,
            _ => false,
        };
    });
    is_concrete
}

#[cfg(test)]
mod tests {
    use semantics::{View, all_defs};

    use super::is_runnable;
    use crate::fixture::Fixture;

    #[test]
    fn definitions_with_concrete_parameters_are_runnable() {
        let fixture = Fixture::new(
            "
def @nothing() { 1 }
def @sized(%x: Tensor[(2, 3), float32], %p: (int32, Tensor[(1), bool])) { %x }
def @open(%x: Tensor[(?, 3), float32]) { %x }
def @generic[A](%x: A) { %x }
def @takes(%f: fn(int32) -> int32) { %f(1) }
def @list(%l: List[int32]) { %l }
",
        );
        let runs: Vec<(String, bool)> = all_defs(&fixture.db, fixture.file)
            .filter_map(|def| {
                let view = View::new(&fixture.db, def)?;
                Some((def.name(&fixture.db).to_string(), is_runnable(&view)))
            })
            .filter(|(name, _)| !name.is_empty())
            .collect();
        let expected = [
            ("@nothing", true),
            ("@sized", true),
            ("@open", false),
            ("@generic", false),
            ("@takes", false),
            ("@list", false),
        ];
        assert_eq!(runs, expected.map(|(name, runs)| (name.to_owned(), runs)));
    }
}
