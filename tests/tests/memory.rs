//! The memory of the analysis does not grow with the number of edits, or of files that were open.
//!
//! The test counts allocated bytes instead of resident memory, which depends on the fragmentation of the
//! allocator's pages and varies by a tenth.

use cap::Cap;
use parking_lot::Mutex;
use relay_tests::{corpus, variables};
use semantics::{Database, SourceFile, check_file};
use syntax::{Edit, ParseLimits, TextRange, TextSize};

#[global_allocator]
static ALLOCATOR: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// Held by each test, because bytes are counted for all threads together.
static ALONE: Mutex<()> = Mutex::new(());

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

    /// Returns the allocated bytes after each twentieth of `rounds` edits.
    fn allocated_after_each_twentieth(&mut self, rounds: usize) -> Vec<usize> {
        let mut allocated = Vec::new();
        for round in 1..=rounds {
            self.type_and_undo();
            if round % (rounds / 20) == 0 {
                self.db.free_replaced();
                allocated.push(ALLOCATOR.allocated());
            }
        }
        allocated
    }
}

#[test]
fn undone_edits_leak_no_memory() {
    let _alone = ALONE.lock();
    let text = corpus::longest();
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    check_file(&db, file);
    let mut session = Session { db, file, text, rng: fastrand::Rng::with_seed(3) };
    let rounds = variables::number("RELAY_SOAK", 1_000);
    let allocated = session.allocated_after_each_twentieth((rounds / 5).max(100));
    // What is kept for the next edit depends on the place of the last one and differs by a tenth, so that the
    // smallest values are compared: a leak is in them as well. The caches are full after the first fifth.
    let least = |part: &[usize]| part.iter().copied().min().unwrap_or_default();
    let (early, late) = (least(&allocated[4..12]), least(&allocated[12..]));
    println!("{} KiB early in the session, {} late", early >> 10, late >> 10);
    let grown = late as f64 / early as f64;
    assert!(grown <= 1.05, "from {early} to {late} bytes: {allocated:?}");
}

/// The bytes that may stay of a closed file: its input, and the slots of its definitions.
const CLOSED: usize = 8 << 10;

/// Files that are open at the same time or one after another, checked and edited, leave nothing behind.
#[test]
fn closed_files_leave_no_memory() {
    let _alone = ALONE.lock();
    let mut db = Database::new();
    let text = |number: usize| corpus::chain(1_000).replace("@main", &format!("@main{number}"));
    let open = |db: &mut Database, file: SourceFile, number: usize| {
        db.set_text(file, text(number), ParseLimits::default());
        check_file(db, file);
        for insert in ["q", ""] {
            let range = TextRange::new(200.into(), (200 + u32::from(insert.is_empty())).into());
            db.apply(file, &Edit { range, insert: insert.into() });
            check_file(db, file);
            let _ = ide::hover::hover(db, file, TextSize::new(400));
            let _ = ide::highlight::highlight(db, file, None);
        }
    };
    // The first one initialises tables.
    let first = db.add_file("", ParseLimits::default());
    open(&mut db, first, 0);
    db.close(first);
    db.free_closed(&[first]);
    let before = ALLOCATOR.allocated();
    for number in 0..100 {
        open(&mut db, first, number);
        db.close(first);
    }
    db.free_closed(&[first]);
    let left = ALLOCATOR.allocated().saturating_sub(before);
    println!("{left} bytes left of 100 files, one after another");
    assert!(left <= CLOSED, "{left} bytes");
    let files: Vec<SourceFile> = (0..20).map(|_| db.add_file("", ParseLimits::default())).collect();
    for (number, &file) in files.iter().enumerate() {
        open(&mut db, file, number);
    }
    let held = ALLOCATOR.allocated().saturating_sub(before);
    files.iter().for_each(|&file| db.close(file));
    db.free_closed(&files);
    let left = ALLOCATOR.allocated().saturating_sub(before);
    println!("{left} bytes left of {held} in 20 files at the same time");
    assert!(left <= 20 * CLOSED, "{left} bytes");
}
