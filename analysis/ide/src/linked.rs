//! A name and its uses, to be edited as one.

use semantics::{Db, SourceFile, body::BinderKind};
use syntax::{TextRange, TextSize};

use crate::{
    place::{Symbol, place_at},
    references::references_to,
};

/// The most places that an editor is asked to keep in step.
const MAX_PLACES: usize = 500;

/// The variable at `offset` where it is bound and everywhere it is used, in order; likewise a type
/// parameter. The numbers of graph variables are left out: the next digit of `%1` makes it another
/// one.
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
    // The protocol wants equal texts; `%input .1` with a blank in it is none.
    let same = ranges.windows(2).all(|pair| pair[0].len() == pair[1].len());
    (same && ranges.len() > 1 && ranges.len() <= MAX_PLACES).then_some(ranges)
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
    fn a_variable_and_its_uses() {
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
    fn what_is_no_variable() {
        check("def @main(%x: int32) {\n  %0$0 = add(%x, %x);\n  %0\n}\n");
        check("def @ma$0in(%x: int32) { @main(%x) }\n");
    }
}
