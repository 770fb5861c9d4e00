//! Test fixtures: texts with a cursor and marked ranges.

use semantics::{Database, SourceFile};
use syntax::{ParseLimits, TextRange, TextSize};

/// A database with the text of a fixture, without its marks.
pub(crate) struct Fixture {
    pub(crate) db: Database,
    pub(crate) file: SourceFile,
    pub(crate) text: String,
    cursor: Option<TextSize>,
    marks: Vec<TextRange>,
}

impl Fixture {
    /// Parses a fixture. `$0` marks the cursor. A line `//^^^` marks a range of the line above and
    /// is removed from the text.
    pub(crate) fn new(text: &str) -> Fixture {
        let mut clean = String::new();
        let mut cursor = None;
        let mut marks = Vec::new();
        let mut line_start = 0;
        for line in text.trim_start_matches('\n').split_inclusive('\n') {
            let trimmed = line.trim();
            if let Some(carets) = trimmed.strip_prefix("//").filter(|rest| rest.starts_with('^')) {
                let at = line.find('^').unwrap_or(0);
                let len = carets.chars().take_while(|c| *c == '^').count();
                marks.push(TextRange::at(
                    TextSize::new((line_start + at) as u32),
                    TextSize::new(len as u32),
                ));
                continue;
            }
            line_start = clean.len();
            match line.split_once("$0") {
                Some((before, after)) => {
                    clean += before;
                    cursor = Some(TextSize::of(clean.as_str()));
                    clean += after;
                }
                None => clean += line,
            }
        }
        let db = Database::new();
        let file = db.add_file(&clean, ParseLimits::default());
        Fixture { db, file, text: clean, cursor, marks }
    }

    pub(crate) fn cursor(&self) -> TextSize {
        self.cursor.expect("a cursor `$0` in the fixture")
    }
}

/// Returns the marked ranges in order.
pub(crate) fn marked(fixture: &Fixture) -> Vec<TextRange> {
    let mut marks = fixture.marks.clone();
    marks.sort_by_key(|range| range.start());
    marks
}
