//! String literals of Python that hold Relay.
//!
//! Such are the literals that are passed to `relay.fromtext`, `relay.parse`, `parse_expr` and the
//! functions of `tvm.parser`, and those that begin with the version of a module. The scanner knows
//! comments, literals and calls, and no other syntax. Literals whose text is only known when the program
//! runs, such as f-strings and operands of `%`, are not Relay.

use super::{
    Block, MAX_BLOCKS,
    mapping::{Builder, Notation},
};

/// The first line of a cell of a notebook that holds Relay.
const CELL_MAGIC: &str = "%%relay";
/// The begin of a module that no other text has.
const VERSION: &str = "#[version";

/// Returns true for the functions that take a text of Relay. The names that other libraries have, too,
/// count in files that mention TVM.
fn takes_relay(callee: &str, has_tvm: bool) -> bool {
    let mut path = callee.rsplit('.');
    let function = path.next().unwrap_or_default();
    match (function, path.next()) {
        ("fromtext", Some("relay" | "parser") | None) => true,
        ("parse" | "parse_expr", Some("relay")) => true,
        ("parse" | "parse_expr", Some("parser")) => has_tvm,
        ("parse_expr", None) => has_tvm,
        _ => false,
    }
}

/// A literal.
struct Literal<'a> {
    /// The text between the quotes, and its offset.
    content: &'a str,
    start: usize,
    quote: char,
    is_triple: bool,
    is_raw: bool,
    /// Neither formatted nor of bytes.
    is_plain: bool,
}

/// The literals that are joined to one text, and the offset after them.
struct JoinedLiterals<'a> {
    literals: Vec<Literal<'a>>,
    end: usize,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_comment(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn skip_while(&mut self, is_skipped: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let skipped = &rest[..rest.len() - rest.trim_start_matches(is_skipped).len()];
        self.at += skipped.len();
        skipped
    }

    /// Skips spaces and continuations of lines; line breaks and comments, too, if `with_lines`.
    fn skip_blank(&mut self, with_lines: bool) {
        loop {
            self.skip_while(|c| {
                matches!(c, ' ' | '\t' | '\x0c') || (with_lines && "\r\n".contains(c))
            });
            match self.peek() {
                Some('#') if with_lines => self.skip_comment(),
                Some('\\') if self.rest().starts_with("\\\n") => self.at += 2,
                Some('\\') if self.rest().starts_with("\\\r\n") => self.at += 3,
                _ => return,
            }
        }
    }

    /// Reads a literal, if one begins here.
    fn literal(&mut self) -> Option<Literal<'a>> {
        let rest = self.rest();
        let opening = rest.bytes().take(2).take_while(|b| b"rRbBuUfFtT".contains(b)).count();
        let prefix = &rest[..opening];
        let quote = rest[opening..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let triple = if quote == '"' { "\"\"\"" } else { "'''" };
        let is_triple = rest[opening..].starts_with(triple);
        let quotes = if is_triple { triple } else { &triple[..1] };
        let start = self.at + opening + quotes.len();
        let end = closing(self.text, start, quote, is_triple);
        let has = |letters: &str| prefix.contains(|c| letters.contains(c));
        let is_closed = self.text[end..].starts_with(quotes);
        self.at = if is_closed { end + quotes.len() } else { end };
        Some(Literal {
            content: &self.text[start..end],
            start,
            quote,
            is_triple,
            is_raw: has("rR"),
            is_plain: !has("bBfFtT"),
        })
    }

    /// Reads the literals after the first that are joined with it, also by `+`.
    fn joined(&mut self, first: Literal<'a>, in_call: bool) -> JoinedLiterals<'a> {
        let mut literals = vec![first];
        let mut end = self.at;
        loop {
            self.skip_blank(in_call);
            if self.peek() == Some('+') {
                self.at += 1;
                self.skip_blank(in_call);
            }
            match self.literal() {
                Some(literal) => literals.push(literal),
                None => break,
            }
            end = self.at;
        }
        self.at = end;
        JoinedLiterals { literals, end }
    }

    /// Returns true if what follows the literals changes their text.
    fn is_changed(&self, joined: &JoinedLiterals<'_>, in_call: bool) -> bool {
        let mut after = Scanner { text: self.text, at: joined.end };
        after.skip_blank(in_call);
        let rest = after.rest();
        let strips = [".strip()", ".lstrip()", ".rstrip()"].iter().any(|m| rest.starts_with(m));
        rest.starts_with(['.', '%', '+', '*', '[']) && !strips
    }
}

/// Returns the offset of the closing quote, or the end of a literal that is not closed.
fn closing(text: &str, start: usize, quote: char, is_triple: bool) -> usize {
    let bytes = text.as_bytes();
    let quote = quote as u8;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            // Also in raw literals: `r"\""` has both characters.
            b'\\' if bytes[at + 1..].starts_with(b"\r\n") => at += 2,
            b'\\' => at += 1,
            b'\n' if !is_triple => return at,
            _ if byte == quote && (!is_triple || bytes[at..].starts_with(&[quote; 3])) => {
                return at;
            }
            _ => {}
        }
        at += 1;
    }
    // A backslash may be the last character, or precede a character of several bytes.
    text.len()
}

/// Adds the text of a literal. Returns false if it has an escape that is not known.
fn decode(literal: &Literal<'_>, builder: &mut Builder) -> bool {
    let Literal { content, start, .. } = *literal;
    builder.cover(start, start + content.len());
    if literal.is_raw {
        builder.verbatim(content, start);
        return true;
    }
    let mut rest = content;
    while let Some(at) = rest.find('\\') {
        let place = start + content.len() - rest.len();
        builder.verbatim(&rest[..at], place);
        let escape = &rest[at..];
        let place = place + at;
        let digits = |from: usize, count: usize, radix: u32| {
            let digits = escape.get(from..from + count)?;
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let number = u32::from_str_radix(digits, radix).ok()?;
            Some((char::from_u32(number)?, from + count))
        };
        let second = escape[1..].chars().next();
        let single = |c: char| Some((c, 2));
        let decoded = match second {
            Some('n') => single('\n'),
            Some('t') => single('\t'),
            Some('r') => single('\r'),
            Some('f') => single('\x0c'),
            Some('v') => single('\x0b'),
            Some('a') => single('\x07'),
            Some('b') => single('\x08'),
            Some(c @ ('\\' | '\'' | '"')) => single(c),
            Some('x') => digits(2, 2, 16),
            Some('u') => digits(2, 4, 16),
            Some('U') => digits(2, 8, 16),
            Some('0'..='7') => {
                let octal = escape[1..].bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b));
                digits(1, octal.count(), 8)
            }
            Some('\n') => {
                rest = &escape[2..];
                continue;
            }
            Some('\r') if escape.starts_with("\\\r\n") => {
                rest = &escape[3..];
                continue;
            }
            // A name of Unicode.
            Some('N') => None,
            // Python keeps the backslash of what is no escape.
            _ => {
                builder.verbatim("\\", place);
                rest = &escape[1..];
                continue;
            }
        };
        let Some((character, length)) = decoded else { return false };
        builder.escape(character, place, length);
        rest = &escape[length..];
    }
    builder.verbatim(rest, start + content.len() - rest.len());
    true
}

/// Returns the block of literals; `None` if their text is not known before the program runs.
fn block(joined: &JoinedLiterals<'_>) -> Option<Block> {
    let first = joined.literals.first()?;
    let mut builder = Builder::default();
    let is_known =
        joined.literals.iter().all(|literal| literal.is_plain && decode(literal, &mut builder));
    let notation = Notation::Literal {
        is_raw: joined.literals.iter().any(|literal| literal.is_raw),
        quote: first.quote,
        is_triple: joined.literals.iter().all(|literal| literal.is_triple),
    };
    is_known.then(|| builder.finish(notation))
}

/// Returns the cell of a notebook that begins with the magic of Relay.
fn cell(text: &str) -> Option<Block> {
    let line = text.split_inclusive('\n').next().unwrap_or_default();
    let rest = line.strip_prefix(CELL_MAGIC)?;
    rest.starts_with(|c: char| c.is_whitespace()).then(|| {
        let mut builder = Builder::default();
        builder.cover(line.len(), text.len());
        builder.verbatim(&text[line.len()..], line.len());
        builder.finish(Notation::Lines { prefix: String::new() })
    })
}

pub(super) fn blocks(text: &str) -> Vec<Block> {
    if let Some(cell) = cell(text) {
        return vec![cell];
    }
    let has_tvm = memchr::memmem::find(text.as_bytes(), b"tvm").is_some();
    let mut found = Vec::new();
    let mut scanner = Scanner { text, at: 0 };
    // The name that was read last, with its dots.
    let mut callee = "";
    // Set inside of a call that takes Relay, before its first argument.
    let mut in_call = false;
    while let Some(next) = scanner.peek() {
        if found.len() >= MAX_BLOCKS {
            break;
        }
        let start = scanner.at;
        if let Some(literal) = scanner.literal() {
            let joined = scanner.joined(literal, in_call);
            let begin = joined.literals.first().map(|first| first.content).unwrap_or_default();
            let is_relay = in_call || begin.trim_start().starts_with(VERSION);
            if is_relay && !scanner.is_changed(&joined, in_call) {
                found.extend(block(&joined));
            }
            (callee, in_call) = ("", false);
            continue;
        }
        if is_name(next) {
            let name = scanner.skip_while(|c| is_name(c) || c == '.');
            callee = name;
            // `source="…"` and `SEMVER + "…"` precede the text.
            let mut after = Scanner { text, at: scanner.at };
            after.skip_blank(in_call);
            let is_followed =
                after.rest().starts_with(['=', '+']) && !after.rest().starts_with("==");
            if in_call && is_followed {
                scanner.at = after.at + 1;
                continue;
            }
            in_call = false;
            continue;
        }
        match next {
            '#' => scanner.skip_comment(),
            '(' => {
                in_call = (in_call && callee.is_empty()) || takes_relay(callee, has_tvm);
                callee = "";
                scanner.at += 1;
            }
            ' ' | '\t' => scanner.at += 1,
            '\n' | '\r' | '\\' => {
                callee = "";
                scanner.at += 1;
            }
            _ => {
                (callee, in_call) = ("", false);
                scanner.at = start + next.len_utf8();
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        blocks(text).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn arguments_of_the_parsers_are_found() {
        let cases: [(&str, &[&str]); 22] = [
            ("relay.fromtext(\"\"\"def @f() { 1 }\"\"\")", &["def @f() { 1 }"]),
            ("tvm.relay.parse('%x')", &["%x"]),
            ("tvm.parser.parse(\n    # text\n    r'''a\\n''', x)", &["a\\n"]),
            ("import tvm\nparse_expr('1')", &["1"]),
            ("from sympy import *\nparse_expr('x + 1')", &[]),
            ("tvm.relay.fromtext(source=\"1\")", &["1"]),
            ("relay.parse(SEMVER + '1')", &["1"]),
            ("relay.fromtext('a' 'b'\n  + 'c')", &["abc"]),
            ("relay.fromtext((\"1\"))", &["1"]),
            ("relay.fromtext(text)\n\"other\"", &[]),
            ("relay.fromtext(f'{x}')", &[]),
            ("relay.fromtext('%s' % x)", &[]),
            ("relay.fromtext('{}'.format(x))", &[]),
            ("relay.fromtext('''\n1'''.strip())", &["\n1"]),
            ("relay.fromtext(text, '1')", &[]),
            ("relay.fromtext(load('a'), b)", &[]),
            ("# relay.fromtext('1')\nx = 'relay.fromtext(\"2\")'", &[]),
            (
                "M = '''\n#[version = \"0.0.5\"]\n1'''\nN = 'other'",
                &["\n#[version = \"0.0.5\"]\n1"],
            ),
            ("ast.parse('x')\njson.parse_expr('y')", &[]),
            ("relay.fromtext(b'1')", &[]),
            ("relay.fromtext('unclosed\nx = 1", &["unclosed"]),
            ("relay.fromtext('\\N{DIGIT ONE}')", &[]),
        ];
        for (python, wanted) in cases {
            assert_eq!(texts(python), wanted, "{python}");
        }
    }

    #[test]
    fn cells_of_notebooks_are_relay_as_a_whole() {
        assert_eq!(texts("%%relay\ndef @f() { 'x' }\n"), ["def @f() { 'x' }\n"]);
        assert_eq!(texts("%%relayed\n1"), [] as [&str; 0]);
    }

    #[test]
    fn places_map_both_ways_through_escapes() {
        let python = "é; relay.fromtext('a\\n\\'b\\x41\\u00e9\\103c\\\nd\\q' \"é\")";
        let found = blocks(python);
        assert_eq!(found[0].text, "a\n'bAéCcd\\qé");
        let mapping = &found[0].mapping;
        for (at, character) in found[0].text.char_indices() {
            let outer = mapping.to_host((at as u32).into());
            let is_escape = !python[usize::from(outer)..].starts_with(character);
            assert!(!is_escape || python[usize::from(outer)..].starts_with('\\'), "{at}");
            assert_eq!(mapping.to_block(outer), Some((at as u32).into()), "{at}");
        }
        let of = |range: std::ops::Range<u32>| {
            let range =
                mapping.range_to_host(syntax::TextRange::new(range.start.into(), range.end.into()));
            &python[range]
        };
        assert_eq!(of(1..3), "\\n\\'");
        assert_eq!(of(4..5), "\\x41");
        assert_eq!(mapping.to_block(3.into()), None);
    }

    #[test]
    fn insertions_are_written_as_the_literal_needs() {
        let written = |python: &str, text: &str| blocks(python)[0].mapping.written(text);
        assert_eq!(written("relay.parse('1')", "\"a\"\n").as_deref(), Some("\"a\"\\n"));
        assert_eq!(written("relay.parse(\"1\")", "\"a\"\n").as_deref(), Some("\\\"a\\\"\\n"));
        assert_eq!(written("relay.parse(\"\"\"1\"\"\")", "\"a\"\n").as_deref(), Some("\"a\"\n"));
        assert_eq!(written("relay.parse(r\"\"\"1\"\"\")", "\"a\"\n").as_deref(), Some("\"a\"\n"));
        assert_eq!(written("relay.parse(r\"1\")", "\"a\""), None);
    }

    /// Any text gives blocks in order, whose places are places of the text.
    #[test]
    fn any_text_is_scanned() {
        let pieces = [
            "relay.fromtext(",
            "'",
            "\"",
            "\"\"\"",
            "\\",
            "\n",
            "é",
            "f'",
            "r\"",
            "+",
            "(",
            ")",
            "x",
            "#[version",
            "\\x4",
            "\\u",
            "\\777",
            "%",
            "```relay\n",
            "> ",
            "  ",
            "~~~",
            "- ",
            "\r\n",
        ];
        let mut seed = 1u64;
        for _ in 0..4_000 {
            let mut text = String::new();
            for _ in 0..24 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text += pieces[(seed >> 33) as usize % pieces.len()];
            }
            for blocks in [blocks(&text), super::super::markdown::blocks(&text)] {
                let mut last = 0.into();
                for block in blocks {
                    let range = block.mapping.host_range();
                    assert!(last <= range.start(), "{text:?}");
                    last = range.end();
                    assert!(text.get(std::ops::Range::<usize>::from(range)).is_some(), "{text:?}");
                    for (at, _) in block.text.char_indices() {
                        let outer = block.mapping.to_host((at as u32).into());
                        assert!(range.contains_inclusive(outer), "{text:?} {at}");
                        assert!(text.is_char_boundary(outer.into()), "{text:?} {at}");
                    }
                }
            }
        }
    }
}
