//! Fuzz targets of single texts: checking, opening in an editor, formatting.

use semantics::{Database, Diagnostic, apply, check_file, types_in};
use syntax::{
    Parse, ParseLimits, SyntaxError, TextRange,
    format::{Style, formatted},
    parse,
};

use crate::opening::{HEAVY_STEPS, OpenFile, STEPS};

/// The maximal length of a message in characters.
const MAX_MESSAGE: usize = 600;

/// The text of an input.
pub(super) fn text_of(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// Returns the errors of a parse, without TVM incompatibilities.
fn faults(parse: &Parse) -> Vec<&SyntaxError> {
    parse.errors.iter().filter(|error| !error.kind.is_compat()).collect()
}

/// Checks a text with its types, in both modes: the tree contains every byte, diagnostics have valid
/// ranges, messages are neither empty nor too long, and fixes preserve the absence of syntax errors.
pub fn check(input: &[u8]) {
    let text = text_of(input);
    let mut db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let parse = file.parse(&db);
    assert!(parse.green.to_string() == text, "the tree lost something");
    let is_sound = faults(&parse).is_empty();
    for strict in [false, true] {
        db.set_tvm(strict);
        for at in types_in(&db, file) {
            assert_inside(&text, at.range, "type");
        }
        for diagnostic in check_file(&db, file).iter() {
            judge(&text, diagnostic, is_sound);
        }
    }
}

/// Asserts that a range is inside the text, at character boundaries.
fn assert_inside(text: &str, range: TextRange, what: &str) {
    let bytes = std::ops::Range::<usize>::from(range);
    assert!(text.get(bytes).is_some(), "a {what} is at {range:?}, outside of the text");
}

fn judge(text: &str, diagnostic: &Diagnostic, is_sound: bool) {
    let code = diagnostic.code;
    assert_inside(text, diagnostic.range, code.name());
    let related = diagnostic.related.iter().map(|related| &related.message);
    for message in [&diagnostic.message].into_iter().chain(&diagnostic.help).chain(related) {
        assert!(!message.is_empty(), "`{code}` says nothing");
        let length = message.chars().count();
        assert!(length <= MAX_MESSAGE, "`{code}` has a message of {length} characters: {message}");
    }
    for related in &diagnostic.related {
        assert_inside(text, related.range, "related place");
    }
    for fix in &diagnostic.fixes {
        for (range, _) in fix.edits.iter() {
            assert_inside(text, *range, "change");
        }
        if is_sound {
            let after = parse(&apply(text, [fix]));
            let faults = faults(&after);
            assert!(faults.is_empty(), "`{code}`: {fix:?} introduces syntax errors");
        }
    }
}

/// The lines around a module that a text is put between.
const AROUND: [&str; 4] = [
    "WARNING:autotvm:Cannot find config for target=llvm\n",
    "[12:30:00] /src/ir/transform.cc:629: PrintIR(FuseOps):\n",
    "Error(s) have occurred. The program has been annotated with them:\n",
    ">>> print(mod)\n",
];

/// Reads a text out of a mail, a page or a log: the repair of a damaged text is complete after one time, a line
/// of a log before a text introduces no fault, and the modules of a log are in order and inside it.
pub fn pasted(input: &[u8]) {
    let text = text_of(input);
    let whole = parse(&text);
    let edits = syntax::cleaning(&whole);
    let mut last = 0;
    for (range, _) in &edits {
        assert_inside(&text, *range, "repair");
        assert!(usize::from(range.start()) >= last, "repairs overlap at {range:?}");
        last = range.end().into();
    }
    if !edits.is_empty() {
        let mut after = text.clone();
        for (range, with) in edits.iter().rev() {
            after.replace_range(std::ops::Range::<usize>::from(*range), with);
        }
        let again = syntax::cleaning(&parse(&after));
        assert!(again.is_empty(), "a repaired text is damaged: {again:?}\n{after}");
    }
    // A byte order mark is white space only where the text begins.
    if faults(&whole).is_empty() && !whole.is_pasted() && !text.starts_with('\u{FEFF}') {
        for line in AROUND {
            let around = parse(&format!("{line}{text}"));
            let found = faults(&around);
            assert!(found.is_empty(), "{line:?} introduces {found:?}");
        }
    }
    let mut end = 0;
    for module in diff::log::split(&text) {
        assert!(module.range.start >= end, "modules of a log overlap");
        assert!(text.get(module.range.clone()).is_some(), "a module is outside of the log");
        assert_eq!(module.text(&text).len(), module.range.len());
        end = module.range.end;
    }
}

/// Runs the analyses for opening a file, typing in it, and all requests of an editor in its middle.
pub fn open(input: &[u8]) {
    let mut opened = OpenFile::new(text_of(input));
    for step in STEPS.iter().chain(HEAVY_STEPS) {
        opened.run(step);
    }
}

/// Formats a text in both styles: only white space changes, and formatting is idempotent.
pub fn format(input: &[u8]) {
    let text = text_of(input);
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let is_sound = faults(&parse(&text)).is_empty();
    for style in [Style::Tvm, Style::Reading] {
        let after = formatted(&text, style);
        assert!(bare(&after) == bare(&text), "{} loses something:\n{after}", style.name());
        let again = formatted(&after, style);
        assert!(again == after, "{} is not idempotent:\n{after:?}\n{again:?}", style.name());
        let reads = faults(&parse(&after)).is_empty();
        assert!(reads == is_sound, "{} changes the validity of the text:\n{after}", style.name());
    }
}
