//! Random edits of texts, realistic and arbitrary ones.

use fastrand::Rng;
use rowan::{TextRange, TextSize};
use syntax::Edit;

const SNIPPETS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "=",
    "=>",
    "->",
    "%",
    "@",
    "#",
    "\"",
    "/",
    "*",
    "/*",
    "*/",
    "//",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    "-",
    "-1",
    "1",
    "0.5f",
    "%x",
    "%0",
    "%1",
    "%12 = ",
    "%a.1",
    "@f",
    "let ",
    "let %z = 1;\n",
    "  %7 = add(%0, %1);\n",
    "if (",
    "else",
    "fn (",
    "match (%x) {",
    "def @g() { 1 }\n",
    "def ",
    "type T { A, B }\n",
    "data",
    "case ",
    "Nil",
    "True",
    "Tensor[(1, 2), float32]",
    "Tensor[",
    "meta[relay.Constant][0]",
    "#[metadata]",
    "\u{A0}",
    "“",
    "...",
    "\n> ",
    "\n3 ",
    "&lt;",
    "/ ty=int32 /",
    "ref(",
    "_",
    "#[version = \"0.0.5\"]\n",
    "é",
    "🚀",
    "\0",
    "add(",
    "axis=1",
    ", axis=[1, 2]",
    "&&",
    "<",
    ">",
    "\n}\n",
    "free_var %q: int32;\n",
    "'a'",
    "?",
    "!",
    "[12:30:00] PrintIR():\n",
    "where Broadcast",
];

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns a random edit of `text`, usually a small one.
pub fn random(rng: &mut Rng, text: &str) -> Edit {
    let at = boundary(text, rng.usize(0..=text.len()));
    let len = match rng.u8(0..10) {
        0..=5 => 0,
        6 | 7 => 1,
        8 => rng.usize(0..12),
        _ => rng.usize(0..80),
    };
    let end = boundary(text, (at + len).min(text.len())).max(at);
    let insert = match rng.u8(0..10) {
        0 | 1 if end > at => String::new(),
        2 => {
            // A piece of the text itself.
            let from = boundary(text, rng.usize(0..=text.len()));
            let to = boundary(text, (from + rng.usize(0..60)).min(text.len())).max(from);
            text[from..to].to_owned()
        }
        _ => SNIPPETS[rng.usize(0..SNIPPETS.len())].to_owned(),
    };
    let size = |o: usize| TextSize::new(o as u32);
    Edit { range: TextRange::new(size(at), size(end)), insert }
}
