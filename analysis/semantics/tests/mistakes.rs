//! Mistakes of people who know other languages: one error each, in their terms, with a fix where one is certain.
//!
//! The pages in `tests/mistakes` show each mistake as a block of a diff:
//!
//! ````text
//! ## `true` and `false`
//!
//! ```diff
//! -let %y = if (true) { %x } else { tanh(%x) };
//! +let %y = if (True) { %x } else { tanh(%x) };
//! ```
//! > [unknown-name] there is no operator or constructor `true`
//! > help: it is `True` in Relay
//! ````
//!
//! The lines with `-` are wrong, and those with `+` are the text after the first fix of the error. A mistake
//! without `+` has no fix. The first lines of the messages of all errors follow the block. A block with the
//! word `module` is a whole file; others are statements in [`BEFORE`] and [`AFTER`], which bind `%y`.
//!
//! `RELAY_WRITE=1` writes what is found into the pages, to be reviewed as a diff of the commit.

use std::{fmt::Write, path::PathBuf};

use semantics::{Database, Diagnostic, Severity, apply, check_file};

/// The text before the statements.
const BEFORE: &str = "type Shade { Light, Dark(int32) }
def @double(%v: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] { add(%v, %v) }
def @main(
  %x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %b: Tensor[(4), float32],
  %img: Tensor[(1, 3, 8, 8), float32], %k: Tensor[(16, 3, 3, 3), float32],
  %img4: Tensor[(2, 4), float32], %b16: Tensor[(16), float32], %i1: Tensor[(4), int32],
  %n: int32, %c: bool, %l: List[int32], %t: (Tensor[(2, 3), float32], int32)
) {
let %before = nn.relu(%x);
";

/// The text after the statements.
const AFTER: &str = "let %after = tanh(%before);
(%y, %after)
}
";

/// A mistake on a page.
struct Mistake {
    page: String,
    title: String,
    is_module: bool,
    wrong: String,
    right: String,
    messages: String,
}

impl Mistake {
    fn file(&self, lines: &str) -> String {
        match self.is_module {
            true => lines.to_owned(),
            false => format!("{BEFORE}{lines}{AFTER}"),
        }
    }

    fn lines<'f>(&self, file: &'f str) -> &'f str {
        let inner = file.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(AFTER));
        inner.filter(|_| !self.is_module).unwrap_or(file)
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes")
}

/// Returns the mistakes of a page.
fn parse(page: &str, text: &str) -> Vec<Mistake> {
    let mut found = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let (title, rest) = section.split_once('\n').expect("a title");
        let (_, rest) = rest.split_once("```diff").expect("a block");
        let (word, rest) = rest.split_once('\n').expect("a block");
        let (block, rest) = rest.split_once("```").expect("the end of the block");
        let of = |sign: char| -> String {
            let lines = block.lines().filter(|line| line.starts_with([sign, ' ']));
            lines.map(|line| format!("{}\n", &line[1..])).collect()
        };
        let messages = rest.lines().filter_map(|line| line.strip_prefix("> "));
        let has_fix = block.lines().any(|line| line.starts_with('+'));
        found.push(Mistake {
            page: page.to_owned(),
            title: title.to_owned(),
            is_module: word.trim() == "module",
            wrong: of('-'),
            right: if has_fix { of('+') } else { String::new() },
            messages: messages.map(|line| format!("{line}\n")).collect(),
        });
    }
    found
}

fn errors(text: &str) -> Vec<Diagnostic> {
    let db = Database::new();
    let file = db.add_file(text, syntax::ParseLimits::default());
    let found = check_file(&db, file);
    found.iter().filter(|found| found.severity == Severity::Error).cloned().collect()
}

/// The diagnostics of a mistake, and of its text after the fix.
struct Report {
    messages: String,
    errors: usize,
    /// The lines after the fix; empty without one.
    fixed: String,
    /// The errors after the fix.
    left: Vec<Diagnostic>,
}

fn report(mistake: &Mistake) -> Report {
    let text = mistake.file(&mistake.wrong);
    let errors_before = errors(&text);
    let mut messages = String::new();
    for error in &errors_before {
        let first = error.message.lines().next().unwrap_or_default();
        let _ = writeln!(messages, "[{}] {first}", error.code);
        if let Some(help) = &error.help {
            let _ = writeln!(messages, "help: {help}");
        }
    }
    let fix = errors_before.iter().find_map(|error| error.fixes.first());
    let fixed = fix.map(|fix| apply(&text, [fix])).unwrap_or_default();
    let left = if fixed.is_empty() { Vec::new() } else { errors(&fixed) };
    let fixed = mistake.lines(&fixed).to_owned();
    Report { messages, errors: errors_before.len(), fixed, left }
}

/// Returns the block of a diff between two texts.
fn diff(wrong: &str, fixed: &str) -> String {
    let (wrong, fixed): (Vec<_>, Vec<_>) = (wrong.lines().collect(), fixed.lines().collect());
    let mut out = String::new();
    let mut write = |sign: char, lines: &[&str]| {
        lines.iter().for_each(|line| {
            let _ = writeln!(out, "{sign}{line}");
        });
    };
    if fixed.is_empty() {
        write('-', &wrong);
        return out;
    }
    let same = |at: &(usize, usize)| wrong[at.0] == fixed[at.1];
    let most = wrong.len().min(fixed.len());
    let first = (0..most).map(|at| (at, at)).take_while(same).count();
    let last = (1..=most - first)
        .map(|back| (wrong.len() - back, fixed.len() - back))
        .take_while(same)
        .count();
    write(' ', &wrong[..first]);
    write('-', &wrong[first..wrong.len() - last]);
    write('+', &fixed[first..fixed.len() - last]);
    write(' ', &wrong[wrong.len() - last..]);
    out
}

/// The files of the pages in order.
fn pages() -> Vec<PathBuf> {
    let entries = folder().read_dir().expect("the pages");
    let mut pages: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    pages
}

/// A mistake is typed letter by letter, and parts of it are deleted: no state of the text is without an analysis.
#[test]
fn unfinished_mistakes_are_analysed() {
    let check = |text: &str, parts: &str| {
        let analysed = std::panic::catch_unwind(|| {
            assert_eq!(syntax::parse(text).green.to_string(), text);
            errors(text).len()
        });
        assert!(analysed.is_ok(), "no analysis of {parts:?}");
    };
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page");
        for mistake in parse("", &text) {
            let wrong = &mistake.wrong;
            // What has been typed before the cursor, with and without what follows.
            for (at, _) in wrong.char_indices() {
                let typed = &wrong[..at];
                check(&mistake.file(typed), typed);
                check(mistake.file(typed).trim_end_matches(AFTER), typed);
            }
            // Each word is missing, and what it leaves is white space.
            let words = wrong.split_inclusive(|c: char| !c.is_alphanumeric());
            let mut start = 0;
            for word in words {
                let end = start + word.len();
                let rest = format!("{} {}", &wrong[..start], &wrong[end..]);
                check(&mistake.file(&rest), &rest);
                start = end;
            }
        }
    }
}

#[test]
fn mistakes_of_learners_have_one_error_and_a_fix() {
    let is_writing = std::env::var_os("RELAY_WRITE").is_some();
    let (mut all, mut one, mut with_fix, mut clean) = (0, 0, 0, 0);
    let (mut different, mut notes) = (String::new(), String::new());
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut written = text.split("\n## ").next().expect("an introduction").to_owned();
        for mistake in parse(&name, &text) {
            let found = report(&mistake);
            all += 1;
            one += usize::from(found.errors == 1);
            with_fix += usize::from(!found.fixed.is_empty());
            clean += usize::from(!found.fixed.is_empty() && found.left.is_empty());
            let place = format!("{}: {}", mistake.page, mistake.title);
            if found.errors != 1 {
                let _ = writeln!(notes, "{} errors: {place}", found.errors);
            } else if found.fixed.is_empty() {
                let _ = writeln!(notes, "no fix: {place}");
            } else if let Some(left) = found.left.first() {
                let _ = writeln!(notes, "not clean: {place}: {}", left.message);
            }
            if found.messages != mistake.messages || found.fixed != mistake.right {
                let _ = writeln!(different, "{place}\n{}\n{}", found.messages, found.fixed);
            }
            let word = if mistake.is_module { " module" } else { "" };
            let block = diff(&mistake.wrong, &found.fixed);
            let messages: String =
                found.messages.lines().map(|line| format!("> {line}\n")).collect();
            let _ =
                write!(written, "\n## {}\n\n```diff{word}\n{block}```\n{messages}", mistake.title);
        }
        if is_writing {
            std::fs::write(&path, written).expect("a page");
        }
    }
    let percent = |part: usize, whole: usize| part as f64 * 100.0 / whole.max(1) as f64;
    println!(
        "{all} mistakes: {:.1} % one error, {:.1} % a fix, {:.1} % of the fixes clean\n{notes}",
        percent(one, all),
        percent(with_fix, all),
        percent(clean, with_fix)
    );
    assert!(is_writing || different.is_empty(), "\n{different}");
    assert!(all >= 130, "{all} mistakes");
    assert!(percent(one, all) >= 97.0, "{one} of {all} have one error:\n{notes}");
    assert!(percent(with_fix, all) >= 60.0, "{with_fix} of {all} have a fix:\n{notes}");
    assert!(percent(clean, with_fix) >= 95.0, "{clean} of {with_fix} fixes are clean:\n{notes}");
}
