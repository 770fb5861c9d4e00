//! Texts with a cursor and marks, for the tests of features.

use semantics::{Database, SourceFile};
use syntax::{ParseLimits, TextRange, TextSize};

/// A text without its marks, loaded.
pub(crate) struct Fixture {
    pub(crate) db: Database,
    pub(crate) file: SourceFile,
    pub(crate) text: String,
    cursor: Option<TextSize>,
    marks: Vec<TextRange>,
}

impl Fixture {
    /// `$0` marks the cursor. A line `//^^^`, white space in front, marks what stands above it;
    /// it is no part of the text.
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

/// What the fixture marks, in order.
pub(crate) fn marked(fixture: &Fixture) -> Vec<TextRange> {
    let mut marks = fixture.marks.clone();
    marks.sort_by_key(|range| range.start());
    marks
}
