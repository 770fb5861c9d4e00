//! Linked editing ranges: a name and its uses, which the client edits simultaneously.

use semantics::{Db, SourceFile, body::BinderKind};
use syntax::{TextRange, TextSize};

use crate::{
    place::{Symbol, place_at},
    references::references_to,
};

/// The maximal number of ranges for a client to edit simultaneously.
const MAX_RANGES: usize = 500;

/// Returns the binder and uses of the variable or type parameter at `offset`, in order. Returns
/// `None` for a graph variable: typing another digit after `%1` names a different variable, so that
/// a simultaneous edit would be wrong.
pub fn linked_ranges(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Vec<TextRange>> {
    let place = place_at(db, file, offset)?;
    let (symbol, _) = place.symbol(db)?;
    match &symbol {
        Symbol::Local(binding) => {
            let binder = place.view.as_ref()?.binder(*binding);
            if binder.kind == BinderKind::Graph {
                return None;
            }
        }
        Symbol::TypeParam { .. } => {}
        _ => return None,
    }
    let found = references_to(db, &place, &symbol);
    let ranges: Vec<TextRange> = found.into_iter().map(|reference| reference.range).collect();
    // LSP requires equal texts, and `%input .1` may contain white space.
    let same = ranges.windows(2).all(|pair| pair[0].len() == pair[1].len());
    (same && ranges.len() > 1 && ranges.len() <= MAX_RANGES).then_some(ranges)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Fixture, marked};

    fn check(text: &str) {
        let fixture = Fixture::new(text);
        let found = super::linked_ranges(&fixture.db, fixture.file, fixture.cursor());
        assert_eq!(found.unwrap_or_default(), marked(&fixture), "{text}");
    }

    #[test]
    fn binder_and_uses_of_a_variable_are_linked() {
        check(
            "
def @main(%x: int32) {
  let %y$0 = add(%x, %x);
    //^^
  let %f = fn (%z: int32) { add(%z, %y) };
                                  //^^
  let %y = %f(%y);
            //^^
  %y
}
",
        );
    }

    #[test]
    fn graph_variables_and_globals_are_not_linked() {
        check("def @main(%x: int32) {\n  %0$0 = add(%x, %x);\n  %0\n}\n");
        check("def @ma$0in(%x: int32) { @main(%x) }\n");
    }
}
