//! Mutations of inputs: of tokens and characters in texts, of bytes and numbers in files.

mod saved;

use fastrand::Rng;

use super::{
    SEPARATOR, dictionary,
    seeds::{Kind, Seeds},
};
use crate::edits;

/// The longest generated text. Short texts run fast, and reveal nearly all bugs; `tests/linear.rs` covers
/// those that depend on length.
const MAX_TEXT: usize = 3000;
/// The longest file that is made.
const MAX_FILE: usize = 10_000;
/// The length of the longest list of choices, in bytes.
const MAX_CHOICES: usize = 300;

/// Numbers at the limits of widths.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    127,
    128,
    255,
    256,
    32_767,
    65_535,
    65_536,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    1 << 61,
    1 << 62,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Number literals: with signs, with suffixes, and too long for any width.
const NUMERALS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "0f",
    "1.5f",
    "1e39f",
    "1e-46f",
    "-0f",
    "0f16",
    "70000f16",
    "1f64",
    "1e400f64",
    "1i64",
    "-1i64",
    "127i8",
    "128i8",
    "255u8",
    "256u8",
    "-1u8",
    "65536i16",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967296",
    "9223372036854775807i64",
    "9223372036854775808i64",
    "-9223372036854775808i64",
    "18446744073709551615u64",
    "99999999999999999999999999",
    "0x10",
    "1e",
    "1.",
    ".5",
    "00",
    "1_000",
];

/// Characters of two, three and four bytes, and those that editors treat specially.
const LETTERS: &[&str] =
    &["é", "ß", "→", "日本", "🚀", "\u{FEFF}", "\u{200B}", "\u{301}", "\0", "\r", "\r\n", "\t"];

const BRACKETS: &[&str] = &["(", ")", "[", "]", "{", "}", "/*", "*/", "\"", "<", ">"];

/// Fragments of headers of array files.
const FILE_WORDS: &[&str] = &[
    "(0, 4611686018427387904)",
    "(9223372036854775807,)",
    "(-1,)",
    "(,)",
    "()",
    "(1, (2, 3))",
    "'fortran_order': True",
    "'descr': '>f8'",
    "'<c16'",
    "'|O'",
    "'<V2'",
    "'|b1'",
    "99999999999999999999999999",
    "'shape': (4194304,)",
    "{",
    "}",
    "'",
    "PK\x01\x02",
    "PK\x03\x04",
    "PK\x05\x06",
    "PK\x06\x06",
    "ustar",
    "../",
    "/etc/passwd",
    "model.json",
    "src/a.relay",
    "77777777777",
    "00000000000",
];

/// Generates inputs.
pub struct Mutator<'s> {
    pub(super) rng: Rng,
    pub(super) seeds: &'s Seeds,
}

impl<'s> Mutator<'s> {
    /// Creates a mutator whose output depends only on `seed` and the seeds.
    pub fn new(seeds: &'s Seeds, seed: u64) -> Mutator<'s> {
        // Neighbouring seeds of the generator yield similar first numbers.
        let mut rng = Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        rng.u64(..);
        Mutator { rng, seeds }
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.rng.usize(0..from.len())]
    }

    /// Returns one of the seeds, preferring short ones.
    pub(super) fn seed(&mut self) -> &'s str {
        let texts = &self.seeds.texts;
        // They are sorted by length.
        let at = self.rng.f64();
        &texts[((at * at * texts.len() as f64) as usize).min(texts.len() - 1)]
    }

    /// A seed with a few changes.
    pub(super) fn text(&mut self) -> String {
        let mut text = self.seed().to_owned();
        // Mostly one or two, as more make the whole text nonsense.
        let changes = match self.rng.u8(0..16) {
            0..=5 => 1,
            6..=9 => 2,
            10..=13 => self.rng.usize(3..6),
            _ => self.rng.usize(6..20),
        };
        for _ in 0..changes {
            text = self.changed(&text);
        }
        truncate(&mut text, MAX_TEXT);
        text
    }

    fn changed(&mut self, text: &str) -> String {
        let tokens = Tokens::of(text);
        if tokens.ends.is_empty() {
            return self.word().to_owned();
        }
        let count = tokens.ends.len();
        let at = self.rng.usize(0..count);
        let (start, end) = tokens.range(at, at + 1);
        let put = |from: usize, to: usize, new: &str| [&text[..from], new, &text[to..]].concat();
        match self.rng.u8(0..24) {
            0 | 1 => put(start, end, ""),
            2 => put(end, end, &text[start..end]),
            3 => tokens.swapped(text, at, self.rng.usize(0..count)),
            4 => tokens.swapped(text, at, (at + 2).min(count - 1)),
            5 | 6 => put(start, end, self.word()),
            7 | 8 => put(start, start, self.word()),
            // Another token of the same text: another name, number or bracket.
            9..=11 => {
                let other = self.rng.usize(0..count);
                let (from, to) = tokens.range(other, other + 1);
                put(start, end, &text[from..to])
            }
            // The start of this text and the end of another.
            12 => {
                let other = self.seed();
                let tokens = Tokens::of(other);
                let (from, _) = tokens.range(self.rng.usize(0..=tokens.ends.len()), 0);
                [&text[..end], &other[from..]].concat()
            }
            // A piece of another text.
            13..=15 => {
                let other = self.seed();
                let tokens = Tokens::of(other);
                let first = self.rng.usize(0..=tokens.ends.len());
                let last = (first + self.rng.usize(0..24)).min(tokens.ends.len());
                let (from, to) = tokens.range(first, last);
                put(start, start, &other[from..to.max(from)])
            }
            // Repeat or delete a piece of this text.
            16 | 17 => {
                let last = (at + self.rng.usize(1..30)).min(count);
                let (from, to) = tokens.range(at, last);
                let (place, _) = tokens.range(self.rng.usize(0..=count), 0);
                put(place, place, &text[from..to])
            }
            18 => put(start, tokens.range(at, (at + self.rng.usize(1..30)).min(count)).1, ""),
            19 => put(start, end, self.pick(NUMERALS)),
            20 => put(start, if self.rng.bool() { end } else { start }, self.pick(BRACKETS)),
            21 => put(start, if self.rng.bool() { end } else { start }, self.pick(LETTERS)),
            // Copy a line to another place.
            22 => {
                let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
                let to = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
                let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
                let place =
                    if lines.is_empty() { 0 } else { lines[self.rng.usize(0..lines.len())] };
                put(place, place, &text[from..to])
            }
            _ => {
                let mut text = text.to_owned();
                edits::random(&mut self.rng, &text.clone()).apply(&mut text);
                text
            }
        }
    }

    /// Returns a word of the dictionary.
    fn word(&mut self) -> &'static str {
        let words = dictionary::words();
        words[self.rng.usize(0..words.len())]
    }

    /// A text, mostly a sound one, and edits of it.
    pub(super) fn edited(&mut self) -> String {
        let mut text = if self.rng.u8(0..4) > 0 { self.seed().to_owned() } else { self.text() };
        truncate(&mut text, MAX_TEXT);
        let mut script = text.replace(SEPARATOR, "");
        let mut now = script.clone();
        for _ in 0..self.rng.usize(1..8) {
            let edit = if self.rng.bool() {
                edits::random(&mut self.rng, &now)
            } else {
                syntax::Edit::between(&now, &self.changed(&now))
            };
            let (at, length) = (u32::from(edit.range.start()), u32::from(edit.range.len()));
            let insert = edit.insert.replace(SEPARATOR, "");
            script += &format!("{SEPARATOR}{at} {length} {insert}");
            edit.apply(&mut now);
        }
        script
    }

    /// Choices of a generator.
    pub(super) fn choices(&mut self) -> Vec<u8> {
        (0..self.rng.usize(0..MAX_CHOICES)).map(|_| self.rng.u8(..)).collect()
    }

    /// A file with bytes changed.
    pub(super) fn file(&mut self, kind: Kind) -> Vec<u8> {
        let seeds = self.seeds.files(kind);
        let mut file = seeds[self.rng.usize(0..seeds.len())].clone();
        for _ in 0..self.rng.usize(1..5) {
            let at = self.rng.usize(0..=file.len());
            match self.rng.u8(0..10) {
                0 if at < file.len() => file[at] ^= 1 << self.rng.u32(0..8),
                1 if at < file.len() => file[at] = self.rng.u8(..),
                // Replace a number of some width.
                2 | 3 => {
                    let width = [1, 2, 4, 8][self.rng.usize(0..4)];
                    let number = NUMBERS[self.rng.usize(0..NUMBERS.len())].to_le_bytes();
                    let end = file.len().min(at + width);
                    file[at..end].copy_from_slice(&number[..end - at]);
                }
                4 => file.truncate(at),
                5 | 6 => {
                    let word = self.pick(FILE_WORDS);
                    let end = file.len().min(at + self.rng.usize(0..=word.len()));
                    file.splice(at..end, word.bytes());
                }
                // Copy a part to another place.
                7 => {
                    let end = file.len().min(at + self.rng.usize(0..200));
                    let part = file[at..end].to_vec();
                    let to = self.rng.usize(0..=file.len());
                    file.splice(to..to, part);
                }
                8 => {
                    let end = file.len().min(at + self.rng.usize(0..50));
                    file.drain(at..end);
                }
                _ => file.splice(at..at, vec![0; self.rng.usize(0..20)]).for_each(drop),
            }
        }
        file.truncate(MAX_FILE);
        file
    }
}

/// Deletes or repeats one token of a text, or replaces it by another token of the text or a word of the
/// language. Also describes the mutation. `None` for a text without tokens.
pub fn one_token(rng: &mut Rng, text: &str) -> Option<(String, String)> {
    let tokens = Tokens::of(text);
    let solid: Vec<usize> = (0..tokens.ends.len())
        .filter(|&at| {
            let (start, end) = tokens.range(at, at + 1);
            let token = &text[start..end];
            !token.trim().is_empty() && !token.starts_with("/*") && !token.starts_with("//")
        })
        .collect();
    if solid.is_empty() {
        return None;
    }
    let chosen = solid[rng.usize(0..solid.len())];
    let (start, end) = tokens.range(chosen, chosen + 1);
    let token = &text[start..end];
    let (change, new) = match rng.u8(0..4) {
        0 => (format!("delete `{token}`"), String::new()),
        1 => (format!("duplicate `{token}`"), format!("{token} {token}")),
        2 => {
            let other = solid[rng.usize(0..solid.len())];
            let (from, to) = tokens.range(other, other + 1);
            (format!("`{token}` becomes `{}`", &text[from..to]), text[from..to].to_owned())
        }
        _ => {
            let single: Vec<&str> =
                dictionary::words().iter().copied().filter(|word| is_token(word)).collect();
            let word = single[rng.usize(0..single.len())];
            (format!("`{token}` becomes `{word}`"), word.to_owned())
        }
    };
    Some(([&text[..start], &new, &text[end..]].concat(), change))
}

/// Returns true if a text is one token.
fn is_token(text: &str) -> bool {
    Tokens::of(text).ends.len() == 1 && !text.trim().is_empty()
}

/// Truncates a text at a character boundary.
fn truncate(text: &mut String, most: usize) {
    if text.len() > most {
        let end = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
        text.truncate(end);
    }
}

/// The ends of the tokens of a text.
pub(super) struct Tokens {
    pub(super) ends: Vec<usize>,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Tokens {
        // The lexer yields tensor types as single tokens: they are split at each character that is not part of
        // a word, so that their parts are mutated, too.
        let mut ends = Vec::new();
        let mut start = 0;
        for (_, end) in syntax::tokens(text) {
            let end = usize::from(end);
            let token = &text[start..end];
            if token.starts_with("Tensor[") {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let mut letters = token.char_indices().peekable();
                while let Some((at, letter)) = letters.next() {
                    let next = letters.peek().map(|&(_, next)| next);
                    if !is_word(letter) || !next.is_some_and(is_word) {
                        ends.push(start + at + letter.len_utf8());
                    }
                }
            } else {
                ends.push(end);
            }
            start = end;
        }
        Tokens { ends }
    }

    /// Returns the byte range of the tokens `first..last`.
    pub(super) fn range(&self, first: usize, last: usize) -> (usize, usize) {
        let end = |count: usize| count.checked_sub(1).map_or(0, |at| self.ends[at]);
        (end(first), end(last))
    }

    fn swapped(&self, text: &str, one: usize, other: usize) -> String {
        let (first, second) = (one.min(other), one.max(other));
        if first == second {
            return text.to_owned();
        }
        let ((a, b), (c, d)) = (self.range(first, first + 1), self.range(second, second + 1));
        [&text[..a], &text[c..d], &text[b..c], &text[a..b], &text[d..]].concat()
    }
}
