//! The search of a whole text for damage. Each line is visited a fixed number of times.

mod strings;

use super::{Mend, begins_item};
use crate::{Damage, damage::chars};

/// The most digits of a line number.
const MAX_DIGITS: usize = 7;
/// As many spaces as one place of damage can have.
const SPACES: &str = "                                                                ";

/// Returns the damaged places of a text, in order and without overlaps. Characters in comments and strings are
/// no damage on their own, because a clean text may have them there.
pub(super) fn mends(text: &str) -> Vec<Mend> {
    mends_with(text, Prefixes::of(text, Tally::default))
}

/// Does the same for a metadata section, whose lines are JSON and begin no items.
pub(super) fn mends_of_section(section: &str) -> Vec<Mend> {
    let tally = || Tally { begins_item: true, ..Tally::default() };
    mends_with(section, Prefixes::of(section, tally))
}

fn mends_with(text: &str, prefixes: Prefixes) -> Vec<Mend> {
    let mut scan = Scan { text, ..Scan::default() };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let [quote, number] = prefixes.of_line(line);
        let rest = &line[quote + number..];
        if prefixes.are_strings
            && let Some(inside) = strings::inside(rest)
        {
            scan.string(start + quote + number, rest, inside);
            start = end;
            continue;
        }
        if is_fence(rest) {
            scan.push(start, end, Damage::Fence, 1, "", false);
        } else {
            if quote > 0 {
                scan.push(start, start + quote, Damage::Quoted, 1, "", false);
            }
            if number > 0 {
                let from = start + quote;
                scan.push(from, from + number, Damage::Numbered, 1, "", false);
            }
            scan.line(start + quote + number, rest);
        }
        start = end;
    }
    if !scan.is_escaped {
        scan.mends.retain(|mend| mend.damage != Damage::Escape);
    }
    if scan.is_damaged { scan.mends } else { Vec::new() }
}

/// What is in front of the lines of a text.
struct Prefixes {
    is_quoted: bool,
    /// The number of characters between a line number and the line.
    numbered: Option<usize>,
    /// True if each line is a string of Python.
    are_strings: bool,
}

impl Prefixes {
    fn of(text: &str, tally: fn() -> Tally) -> Prefixes {
        let mut quotes = tally();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let prefix = quote_prefix(line);
            let rest = &line[prefix..];
            let number = number_prefix(rest).map_or(0, |(_, end)| end);
            let begins = || begins_item(rest) || begins_item(&rest[number..]);
            quotes.add(prefix > 0, prefix > 0 && begins());
        }
        let is_quoted = quotes.decides();
        let mut numbers = tally();
        let (mut last, mut gap) = (None, usize::MAX);
        for line in text.lines() {
            let line = &line[if is_quoted { quote_prefix(line) } else { 0 }..];
            if line.trim().is_empty() {
                continue;
            }
            let Some((number, end)) = number_prefix(line) else {
                numbers.add(false, false);
                continue;
            };
            let follows = last.is_none_or(|last| number == last + 1);
            last = Some(number);
            numbers.add(follows, begins_item(line[end..].trim_start_matches(['|', ' ', '\t'])));
            if !line[end..].trim().is_empty() {
                gap = gap.min(gap_after(&line[end..]));
            }
        }
        let numbered = numbers.decides().then_some(if gap == usize::MAX { 1 } else { gap });
        Prefixes { is_quoted, numbered, are_strings: strings::decide(text, tally()) }
    }

    /// Returns the lengths of the quote and the number in front of a line.
    fn of_line(&self, line: &str) -> [usize; 2] {
        let quote = if self.is_quoted { quote_prefix(line) } else { 0 };
        let rest = &line[quote..];
        let number = self.numbered.and_then(|gap| {
            let (_, end) = number_prefix(rest)?;
            Some(end + gap_after(&rest[end..]).min(gap))
        });
        [quote, number.unwrap_or(0)]
    }
}

/// The lines of a text with and without a prefix.
#[derive(Default)]
struct Tally {
    with: usize,
    /// The lines from the first one with a prefix to the last one.
    between: usize,
    /// Those after the last one.
    after: usize,
    begins_item: bool,
}

impl Tally {
    fn add(&mut self, has_prefix: bool, begins_item: bool) {
        if has_prefix {
            self.between += self.after + 1;
            self.after = 0;
            self.with += 1;
            self.begins_item |= begins_item;
        } else if self.with > 0 {
            self.after += 1;
        }
    }

    /// Returns true if most lines have the prefix, and one of them begins what cannot continue an expression:
    /// `%a⏎> %b` is a comparison.
    fn decides(&self) -> bool {
        let is_alone = self.with == 1 && self.after == 0;
        self.begins_item && (self.with > 1 || is_alone) && 2 * self.with >= self.between
    }
}

/// Returns the length of `> ` in front of a line, or of the `E` of pytest. `>>> ` is the prompt of Python.
fn quote_prefix(line: &str) -> usize {
    if line.starts_with(">>>") {
        return 0;
    }
    if line.trim_end() == "E" || line.starts_with("E   ") {
        return 1;
    }
    let mut rest = line;
    while let Some(inner) = rest.strip_prefix('>').or_else(|| rest.strip_prefix("&gt;")) {
        rest = inner.strip_prefix([' ', '\u{A0}']).unwrap_or(inner);
    }
    line.len() - rest.len()
}

/// Returns the line number in front of a line and where it ends: `  12`, `12:`, `12 |`.
fn number_prefix(line: &str) -> Option<(u64, usize)> {
    let digits = line.trim_start_matches([' ', '\t']);
    let start = line.len() - digits.len();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 || count > MAX_DIGITS {
        return None;
    }
    let number = digits[..count].parse().ok()?;
    let rest = &digits[count..];
    let bar = rest.trim_start_matches(' ');
    let mark = match (rest.strip_prefix([':', '|', '.', ')']), bar.strip_prefix(['|', ':'])) {
        (Some(after), _) | (None, Some(after)) => after,
        (None, None) => rest,
    };
    let is_end = mark.is_empty() || mark.starts_with([' ', '\t', '\r', '\n', '\u{A0}']);
    is_end.then(|| (number, start + count + rest.len() - mark.len()))
}

/// Returns where the string that opens at an offset of a line ends, if a straight quote closes it. TVM 0.9 and later
/// print a quotation mark inside of one as `\"`.
fn string_end(line: &str, open: usize) -> Option<usize> {
    let end = open + 1 + memchr::memchr(b'"', &line.as_bytes()[open + 1..])?;
    let more = crate::lexer::escaped_end(&line[open..=end], &line[end + 1..]);
    Some(end + more.unwrap_or(0))
}

/// Returns the number of spaces, or the one tab, after a line number.
fn gap_after(rest: &str) -> usize {
    match rest.strip_prefix('\t') {
        Some(_) => 1,
        None => rest.len() - rest.trim_start_matches(' ').len(),
    }
}

/// Returns true for a line of backticks or tildes, with the name of a language.
fn is_fence(line: &str) -> bool {
    let line = line.trim();
    let info = ["```", "~~~"].iter().find_map(|mark| line.strip_prefix(mark));
    info.is_some_and(|info| {
        let info = info.trim_start_matches(['`', '~']);
        info.chars().all(|c| c.is_alphanumeric() || "-_+. ".contains(c))
    })
}

#[derive(Default)]
struct Scan<'t> {
    text: &'t str,
    mends: Vec<Mend>,
    /// True if one of them is outside of comments and strings.
    is_damaged: bool,
    /// True if an escape is outside of comments and strings.
    is_escaped: bool,
    /// True if an escape on this line stands for the end of a line.
    is_broken_by_escape: bool,
    in_comment: bool,
}

impl Scan<'_> {
    fn push(
        &mut self,
        start: usize,
        end: usize,
        damage: Damage,
        count: u32,
        with: &'static str,
        is_before: bool,
    ) {
        self.is_damaged = true;
        let is_in_name = damage == Damage::Invisible && {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            self.text[..start].ends_with(is_word) && self.text[end..].starts_with(is_word)
        };
        let (start, end) = (start as u32, end as u32);
        self.mends.push(Mend { start, end, damage, count, with, is_before, is_in_name });
    }

    /// Searches a line without its prefix.
    fn line(&mut self, start: usize, line: &str) {
        let bytes = line.as_bytes();
        let mut at = 0;
        // The string that is open, and where it ends if a straight quote closes it.
        let mut string: Option<Option<usize>> = None;
        let mut in_line_comment = false;
        self.is_broken_by_escape = false;
        while let Some(&byte) = bytes.get(at) {
            let next = bytes.get(at + 1).copied();
            match byte {
                _ if string.flatten() == Some(at) => string = None,
                b'\\' => {
                    at += self.escape(start, at, line, &mut string, &mut in_line_comment);
                    continue;
                }
                b'"' if string.is_none() && !self.in_comment && !in_line_comment => {
                    string = Some(string_end(line, at));
                }
                b'"' => string = None,
                b'/' if string.is_none() && !in_line_comment => match next {
                    Some(b'/') if !self.in_comment => in_line_comment = true,
                    Some(b'*') => {
                        self.in_comment = true;
                        at += 1;
                    }
                    _ => {}
                },
                b'*' if self.in_comment && next == Some(b'/') => {
                    self.in_comment = false;
                    at += 1;
                }
                b'&' | 0x80.. => {
                    let is_quoted =
                        self.in_comment || in_line_comment || string.flatten().is_some();
                    at += self.place(start + at, &mut string, is_quoted, in_line_comment);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Takes the `\` at an offset of a line that begins at `start`, with what it escapes, and returns the length. In a
    /// string it is none, but `\\` may be one.
    fn escape(
        &mut self,
        start: usize,
        at: usize,
        line: &str,
        string: &mut Option<Option<usize>>,
        in_line_comment: &mut bool,
    ) -> usize {
        let rest = &line[at..];
        if rest.starts_with("\\\\") {
            return 2;
        }
        let Some((length, with)) = chars::escape(rest).filter(|_| string.flatten().is_none())
        else {
            return 1;
        };
        let is_quoted = self.in_comment || *in_line_comment;
        let mut is_before = false;
        let mut from = at;
        match with {
            "\"" if !is_quoted => {
                is_before = string.is_none();
                *string = is_before.then_some(None);
            }
            // The spaces before the end of a line are of no use.
            "" => from = line[..at].trim_end_matches([' ', '\t']).len(),
            "\n" => {
                // A comment in a text that is one line has its end there, and not at that of the line.
                if *in_line_comment && !self.is_broken_by_escape {
                    return length;
                }
                is_before = true;
                self.is_broken_by_escape |= !is_quoted;
                (*string, *in_line_comment) = (None, false);
            }
            _ => {}
        }
        let was_damaged = self.is_damaged;
        self.push(start + from, start + at + length, Damage::Escape, 1, with, is_before);
        self.is_damaged = was_damaged || !is_quoted;
        self.is_escaped |= !is_quoted;
        length
    }

    /// Takes the character or entity at an offset, and returns its length. `is_quoted` is true in a comment or a
    /// string, where it is no damage on its own.
    fn place(
        &mut self,
        at: usize,
        string: &mut Option<Option<usize>>,
        is_quoted: bool,
        in_line_comment: bool,
    ) -> usize {
        let rest = &self.text[at..];
        let Some(c) = rest.chars().next() else { return 1 };
        let found = match c {
            '&' => chars::entity(rest).map(|(length, with)| (Damage::Entity, length, with)),
            _ => chars::meaning(c).map(|(damage, with)| (damage, c.len_utf8(), with)),
        };
        let Some((damage, length, with)) = found else { return c.len_utf8() };
        // Prose may have such signs. Spaces and entities are damage in a damaged text.
        let is_prose = in_line_comment || string.flatten().is_some();
        if is_prose && !matches!(damage, Damage::Space | Damage::Invisible | Damage::Entity) {
            return length;
        }
        let mut is_opening = false;
        if with == "\"" && !is_quoted {
            is_opening = string.is_none();
            *string = is_opening.then_some(None);
        }
        let was_damaged = self.is_damaged;
        if damage == Damage::Space && with == " " {
            let run =
                rest.chars().take_while(|&other| chars::meaning(other) == Some((damage, with)));
            let run = run.take(SPACES.len());
            let (count, length) = run.fold((0, 0), |(n, length), c| (n + 1, length + c.len_utf8()));
            self.push(at, at + length, damage, count as u32, &SPACES[..count], false);
            self.is_damaged = was_damaged || !is_quoted;
            return length;
        }
        // `−1` is a number, `％x` a name, and `&lt;=` one operator, as `-&gt;` is.
        let is_before =
            is_opening || matches!(with, "-" | "%" | "@") || rest[length..].starts_with('=');
        self.push(at, at + length, damage, 1, with, is_before);
        self.is_damaged = was_damaged || !is_quoted;
        length
    }
}
