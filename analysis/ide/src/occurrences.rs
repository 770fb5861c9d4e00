//! The uses of the name under the cursor, for the editor to mark.

use semantics::{Db, SourceFile};
use syntax::{TextRange, TextSize};

use crate::references::references;

/// A place that means what the name under the cursor means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// Where.
    pub range: TextRange,
    /// The name is bound here; elsewhere it is read.
    pub is_write: bool,
}

/// Every place in the file that means what the name at `offset` means, in the order of the text.
pub fn occurrences(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Vec<Occurrence>> {
    let found = references(db, file, offset)?.into_iter();
    let found = found.map(|r| Occurrence { range: r.range, is_write: r.is_definition });
    Some(found.collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Fixture, marked};

    #[test]
    fn where_it_is_bound_and_where_it_is_read() {
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
        let found = super::occurrences(&fixture.db, fixture.file, fixture.cursor());
        let found = found.expect("a name");
        let ranges: Vec<_> = found.iter().map(|o| o.range).collect();
        assert_eq!(ranges, marked(&fixture));
        assert_eq!(found.iter().map(|o| o.is_write).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn nothing_under_the_cursor() {
        let fixture = Fixture::new("def @main() { $0 1 }");
        assert_eq!(super::occurrences(&fixture.db, fixture.file, fixture.cursor()), None);
    }
}
