//! Document highlights: the occurrences of the name at the cursor.

use semantics::{Db, SourceFile};
use syntax::{TextRange, TextSize};

use crate::references::references;

/// An occurrence of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// The range.
    pub range: TextRange,
    /// True at the binder, false at a use.
    pub is_write: bool,
}

/// Returns the occurrences of the name at `offset` in text order.
pub fn occurrences(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Vec<Occurrence>> {
    let found = references(db, file, offset)?.into_iter();
    let found = found.map(|r| Occurrence { range: r.range, is_write: r.is_definition });
    Some(found.collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Fixture, marked};

    #[test]
    fn binder_is_write_and_use_is_read() {
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
    fn no_occurrences_without_a_name() {
        let fixture = Fixture::new("def @main() { $0 1 }");
        assert_eq!(super::occurrences(&fixture.db, fixture.file, fixture.cursor()), None);
    }
}
