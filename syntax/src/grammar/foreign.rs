//! Lines around modules that are not Relay: of logs, of traces and of Python, of mails, and what TVM 0.8 and
//! later print below a text that they reject.
//!
//! ```text
//! One or more operators have not been tuned.        words
//! >>> print(mod)                                    a prompt
//! mod, params = relay.frontend.from_onnx(model)     Python
//!  --> from_string:3:5                              a diagnostic of TVM
//!    |  ^^^^
//! ```
//!
//! They are recognised only where an item begins, by what no item begins with.

use super::*;
use crate::lexer::is_log_line;

/// Returns true at a line that is not Relay, between modules. In a trace, every indented line is one.
pub(super) fn at_line(p: &mut Parser<'_>, in_trace: bool) -> bool {
    if in_trace && p.on_new_line(0) && p.indentation(0) > 0 {
        return true;
    }
    if p.current() == T!["["] {
        let line = p.rest_of_line(0);
        return p.at_column_zero() && is_log_line(line.as_bytes())
            || ["[bt] (", "[Task "].iter().any(|begin| line.starts_with(begin));
    }
    if !p.on_new_line(0) {
        return false;
    }
    let line = p.rest_of_line(0);
    match p.current() {
        IDENT => is_noise(line) || at_words(p),
        // `let me know`
        T!["let"] | T!["if"] | T!["else"] | T!["type"] | T!["match"] | T!["ref"] => {
            (p.nth(1) == T![":"] || are_words(p, 1) && are_words(p, 2)) && is_prose(line)
        }
        T![">"] | T!["=="] | T!["-"] | T!["*"] => {
            let begins = |begin: &&str| line.starts_with(*begin);
            p.at_column_zero() && [">>> ", "==", "-----", "***"].iter().any(begins)
                || line.starts_with("--> ")
                || line.trim_end() == "--"
                || are_words(p, 1) && are_words(p, 2) && is_prose(line)
        }
        // `<pre>`, `</details>`
        T!["<"] => {
            matches!(p.nth(1), IDENT | T!["/"]) && line.trim_end().ends_with('>') && is_prose(line)
        }
        // `12%|████`, ` 3 |  %0 = add(%x, %y);` in a diagnostic of TVM, `6: TVMFuncCall`, `1. First`.
        INT | FLOAT => {
            let bar = if p.nth(1) == T!["%"] { 2 } else { 1 };
            let is_bar = p.nth(bar) == UNKNOWN && p.text(bar).starts_with('|');
            let is_item = p.nth(1) == T![":"] && are_words(p, 2) || are_words(p, 1);
            let is_line = is_bar || is_item && is_prose(line);
            // `2021-05-03 12:33:21 INFO`, `12:33:21.123 INFO`
            if p.current() == INT
                && matches!(p.nth(1), T!["-"] | T![":"])
                && p.is_glued(1)
                && p.nth(2) == INT
            {
                return true;
            }
            if is_line {
                // All lines may have numbers in front.
                p.suspect();
            }
            is_line
        }
        UNKNOWN | QUOTED_NAME => {
            ["|", "$ "].iter().any(|begin| line.starts_with(begin))
                || line.trim_end().bytes().all(|byte| matches!(byte, b'~' | b'^' | b' '))
                || are_words(p, 1) && is_prose(line)
        }
        T!["^"] => true,
        // The quotes around a text in Python.
        STRING => {
            if p.text(0).contains('\\') || p.nth(1) == STRING && p.on_new_line(1) {
                // All lines may be strings.
                p.suspect();
            }
            line.starts_with("\"\"\"")
        }
        _ => false,
    }
}

/// Returns the number of tokens around a function in what `repr` prints of a module in TVM 0.7:
///
/// ```text
/// IRModuleNode( {GlobalVar(main): fn (%x: int32) { %x }, GlobalVar(f): fn () { 1 }})
/// ```
pub(super) fn at_repr(p: &mut Parser<'_>, is_inside: bool) -> Option<usize> {
    let key = |p: &mut Parser<'_>, n: usize| {
        let is_key = p.nth(n) == IDENT
            && p.text(n) == "GlobalVar"
            && [T!["("], IDENT, T![")"], T![":"]]
                .iter()
                .zip(n + 1..)
                .all(|(kind, n)| p.nth(n) == *kind);
        is_key.then_some(n + 5)
    };
    match p.current() {
        IDENT if p.text(0).starts_with("IRModule") => {
            (p.nth(1) == T!["("] && p.nth(2) == T!["{"]).then(|| key(p, 3)).flatten()
        }
        T![","] if is_inside => key(p, 1),
        T!["}"] if is_inside => Some(if p.nth(1) == T![")"] { 2 } else { 1 }),
        _ => None,
    }
}

/// Returns true if the `n`th token from here is a word on the same line.
fn are_words(p: &mut Parser<'_>, n: usize) -> bool {
    (p.nth(n) == IDENT || p.nth(n).is_keyword()) && !p.on_new_line(n)
}

/// The least words of a sentence that may quote names of Relay.
const SENTENCE: usize = 4;

/// Returns true for a line without names of Relay and braces, or with so many words that it is a sentence about them.
fn is_prose(line: &str) -> bool {
    !line.contains(['%', '{', '@'])
        || line.trim_end().ends_with("wrote:")
        || !line.contains(['{', '(', '=']) && line.split_whitespace().count() >= SENTENCE
}

/// The most lines of a log in a row between two statements.
const MAX_LINES_INSIDE: usize = 16;

/// Returns true at a line of a log between two statements, as a terminal shows what a program logs while it
/// prints a module. After the lines, the body goes on, after its result with the closing brace; an item after them
/// is that of another module, and the log was cut. Without braces, only a binding shows that it goes on.
pub(super) fn at_line_inside(p: &mut Parser<'_>, in_braces: bool, after_result: bool) -> bool {
    if !matches!(p.current(), T!["["] | IDENT) || !p.on_new_line(0) || !is_log(p, 0) {
        return false;
    }
    let mut at = 0;
    for _ in 0..MAX_LINES_INSIDE {
        at += p.count_on_line(at);
        if !is_log(p, at) {
            return match p.nth(at) {
                T!["}"] => in_braces,
                _ if after_result => false,
                GRAPH | LOCAL | T!["let"] => true,
                T!["("] => in_braces,
                IDENT => in_braces && p.indentation(at) > 0,
                _ => false,
            };
        }
    }
    false
}

/// Returns true for the line of a log that begins with the `n`th token from here.
fn is_log(p: &mut Parser<'_>, n: usize) -> bool {
    match p.nth(n) {
        T!["["] => is_log_line(p.rest_of_line(n).as_bytes()),
        IDENT => is_noise(p.rest_of_line(n)),
        _ => false,
    }
}

/// Returns true for a line after which every indented line belongs to a trace.
pub(super) fn begins_trace(line: &str) -> bool {
    line.trim_end().ends_with("Traceback (most recent call last):") || line.starts_with("File \"")
}

/// Returns true for a line with words that no module contains at this place.
pub(crate) fn is_noise(line: &str) -> bool {
    const BEGINS: &[&str] = &[
        "Traceback (most recent call last)",
        "File \"",
        "Error(s) have occurred",
        "In `",
        "WARNING:",
        "INFO:",
        "DEBUG:",
        "ERROR:",
        "Check failed:",
        "One or more operators",
        "During handling of the above exception",
        "Cannot find config for",
        "tvm._ffi.base.TVMError",
        "TVMError:",
        "Executing module pass with opt level",
        "Input module:",
        "Result module:",
        "print(",
    ];
    BEGINS.iter().any(|begin| line.starts_with(begin))
}

/// Returns true at a line that begins with a word and goes on as no expression does: words side by side, a statement
/// of Python. An item that is being written has a sigil or a brace: `ty Pair {`, `de @main(%x) {`.
fn at_words(p: &mut Parser<'_>) -> bool {
    if p.on_new_line(1) {
        return false;
    }
    let line = p.rest_of_line(0);
    if p.at_column_zero() && line.starts_with("E   ") {
        // The `E` of pytest in front of all lines of a message.
        p.suspect();
        return true;
    }
    match p.nth(1) {
        // `In [3]: print(mod)`, `Out[4]: …`
        T!["["] if matches!(p.text(0), "In" | "Out") && p.nth(2) == INT => p.nth(4) == T![":"],
        T!["["] => p.nth(2) == STRING && is_prose(line),
        // `cc @somebody @another`
        GLOBAL if line.matches('@').count() > 1 => !line.contains(['{', '(', '=']),
        // `foo(`, `foo.0`, `a + b`
        T!["("]
        | T!["."]
        | T![";"]
        | T!["<"]
        | T!["<="]
        | T![">"]
        | T![">="]
        | T!["=="]
        | T!["!="]
        | T!["+"]
        | T!["-"]
        | T!["*"]
        | T!["/"]
        | T!["&&"]
        | T!["||"]
        | END_OF_FILE => false,
        _ => is_prose(line),
    }
}
