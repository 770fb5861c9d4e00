//! Files that TVM saves, with changes that keep them readable more often than not.

use super::{Mutator, NUMBERS};
use crate::fuzz::seeds::{Kind, saved::set_checksum};

/// The longest file that is made.
const MAX_SAVED: usize = 20_000;

/// Kinds, versions and other words of saved modules.
const JSON_WORDS: &[&str] = &[
    "\"\"",
    "\"0\"",
    "\"-1\"",
    "\"4294967296\"",
    "\"1e999\"",
    "\"nan\"",
    "\"0.6.0\"",
    "\"0.7.0\"",
    "\"0.8.dev1\"",
    "\"0.99.0\"",
    "\"Array\"",
    "\"Map\"",
    "\"IRModule\"",
    "\"relay.Let\"",
    "\"relay.Call\"",
    "\"relay.Match\"",
    "\"relay.Function\"",
    "\"relay.Constant\"",
    "\"relay.TupleGetItem\"",
    "\"relay.attrs.Conv2DAttrs\"",
    "\"relay.attrs.PadAttrs\"",
    "\"relay.attrs.QnnConv2DAttrs\"",
    "\"NCHW\"",
    "\"TypeVar\"",
    "\"tir.Any\"",
    "\"tir.PrimFunc\"",
    "\"VirtualDevice\"",
    "\"repr_b64\"",
    "\"global_key\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"é\"",
    "null",
    "true",
    "[]",
    "{}",
    "-1",
    "1e400",
    "0.5",
];

/// The strings and numbers of a JSON text, the strings with their quotes.
fn scalars(text: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at;
        at += 1;
        if text[start] == b'"' {
            while at < text.len() && text[at] != b'"' {
                at += if text[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(text.len());
            out.push((start, at));
        } else if text[start].is_ascii_digit() {
            while at < text.len() && text[at].is_ascii_digit() {
                at += 1;
            }
            out.push((start, at));
        }
    }
    out
}

impl Mutator<'_> {
    /// A module in JSON: strings and numbers replaced by others, or bytes changed.
    pub(crate) fn json(&mut self) -> Vec<u8> {
        if self.rng.u8(0..5) == 0 {
            return self.file(Kind::Json);
        }
        let seeds = self.seeds.files(Kind::Json);
        let mut text = seeds[self.rng.usize(0..seeds.len())].clone();
        for _ in 0..self.rng.usize(1..5) {
            let tokens = scalars(&text);
            if tokens.is_empty() {
                break;
            }
            let (from, to) = tokens[self.rng.usize(0..tokens.len())];
            let is_string = text[from] == b'"';
            let new = match self.rng.u8(0..8) {
                // Another one of the same file, mostly of the same form.
                0..=3 => {
                    let (from, to) = tokens[self.rng.usize(0..tokens.len())];
                    text[from..to].to_vec()
                }
                4 => {
                    let other = &seeds[self.rng.usize(0..seeds.len())];
                    let tokens = scalars(other);
                    let (from, to) = tokens[self.rng.usize(0..tokens.len())];
                    other[from..to].to_vec()
                }
                // The number of another node.
                5 => {
                    let number = self.rng.usize(0..40);
                    let quote = if is_string { "\"" } else { "" };
                    format!("{quote}{number}{quote}").into_bytes()
                }
                6 => {
                    let number = NUMBERS[self.rng.usize(0..NUMBERS.len())];
                    let quote = if is_string { "\"" } else { "" };
                    format!("{quote}{number}{quote}").into_bytes()
                }
                _ => self.pick(JSON_WORDS).as_bytes().to_vec(),
            };
            text.splice(from..to, new);
        }
        text.truncate(MAX_SAVED);
        text
    }

    /// An archive with bytes changed; mostly with headers whose checksums are right.
    pub(crate) fn archive(&mut self) -> Vec<u8> {
        let mut file = self.file(Kind::Archive);
        if self.rng.u8(0..4) > 0 {
            for header in file.chunks_exact_mut(512) {
                if &header[257..262] == b"ustar" {
                    set_checksum(header);
                }
            }
        }
        file
    }
}
