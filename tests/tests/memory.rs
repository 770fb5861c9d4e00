//! The memory of the analysis does not grow with the number of edits.
//!
//! The test counts allocated bytes instead of resident memory, which depends on the fragmentation of the
//! allocator's pages and varies by a tenth.

use cap::Cap;
use relay_tests::corpus;
use semantics::{Database, SourceFile, check_file};
use syntax::{Edit, ParseLimits, TextRange, TextSize};

#[global_allocator]
static ALLOCATOR: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// Returns the longest module of the corpus, or a chain of bindings.
fn module() -> String {
    corpus::conformance()
        .and_then(|folder| std::fs::read_to_string(folder.join("models/lstm500.relay")).ok())
        .unwrap_or_else(|| corpus::chain(10_000))
}

/// An open file that is edited.
struct Session {
    db: Database,
    file: SourceFile,
    text: String,
    rng: fastrand::Rng,
}

impl Session {
    fn edit(&mut self, range: TextRange, insert: &str) {
        let edit = Edit { range, insert: insert.into() };
        edit.apply(&mut self.text);
        self.db.apply(self.file, &edit);
        check_file(&self.db, self.file);
    }

    /// Types a letter at a random place and deletes it, with a hover in between.
    fn type_and_undo(&mut self) {
        let mut at = self.rng.usize(0..self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let at = TextSize::new(at as u32);
        self.edit(TextRange::empty(at), "q");
        let _ = ide::hover::hover(&self.db, self.file, at);
        self.edit(TextRange::at(at, 1.into()), "");
    }

    /// Returns the allocated bytes after each tenth of `rounds` edits.
    fn allocated_after_each_tenth(&mut self, rounds: usize) -> Vec<usize> {
        let mut allocated = Vec::new();
        for round in 1..=rounds {
            self.type_and_undo();
            if round % (rounds / 10) == 0 {
                self.db.free_replaced();
                allocated.push(ALLOCATOR.allocated());
            }
        }
        allocated
    }
}

#[test]
fn undone_edits_leak_no_memory() {
    let text = module();
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    check_file(&db, file);
    let mut session = Session { db, file, text, rng: fastrand::Rng::with_seed(3) };
    let rounds = std::env::var("RELAY_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let allocated = session.allocated_after_each_tenth((rounds / 5).max(100));
    let (early, late) = (allocated[1], allocated[9]);
    println!("{} KiB early in the session, {} late", early >> 10, late >> 10);
    let grown = late as f64 / early as f64;
    assert!(grown <= 1.05, "from {early} to {late} bytes: {allocated:?}");
}
