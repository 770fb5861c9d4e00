//! Pass logs: files with a sequence of modules and other lines between them.
//!
//! [`split`] finds modules by their first and last lines without parsing them, so that a log of
//! hundreds of megabytes costs one pass over its lines, and [`outline`] does the same for a file
//! without holding its text. Both recognize the headers that TVM prints (`PrintIR(…):`,
//! `Print IR before: …`, `Before Running Pass: …`, and the same for after) and modules without
//! headers.

use std::{
    borrow::Cow,
    io::{self, Read},
    ops::Range,
};

use memchr::memmem;
use rustc_hash::FxHashSet;

/// A module in a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogModule {
    /// The byte range from the first line of the module to the end of its last one.
    pub range: Range<usize>,
    /// The 0-based number of the first line.
    pub line: u32,
    /// The pass in the header.
    pub pass: Option<String>,
    /// True if the module was printed before the pass ran.
    pub is_before: bool,
    /// The passes that ran inside it, from the line [`NESTED`] after the header.
    pub nested: Vec<String>,
    /// The number of functions.
    pub functions: usize,
    /// The byte ranges of unrelated lines inside the module, such as warnings.
    pub noise: Vec<Range<usize>>,
    /// True if the log ends or another module starts inside an item.
    pub is_cut: bool,
}

impl LogModule {
    /// Returns the text of the module. Unrelated lines are replaced by white space, so that offsets
    /// are those of the log relative to the start of the module.
    pub fn text<'t>(&self, log: &'t str) -> Cow<'t, str> {
        let text = log.get(self.range.clone()).unwrap_or_default();
        if self.noise.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut bytes = text.as_bytes().to_vec();
        self.clear_noise(&mut bytes);
        // Whole lines were replaced, so that the text is valid UTF-8.
        Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
    }

    /// Replaces unrelated lines in the bytes of the module by white space.
    pub fn clear_noise(&self, bytes: &mut [u8]) {
        for noise in &self.noise {
            let own = noise.start - self.range.start..noise.end - self.range.start;
            for byte in bytes.get_mut(own).unwrap_or_default() {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
    }
}

/// The start of a line after a header that lists the passes that ran inside the pass. The instrument of the
/// Python package writes it.
const NESTED: &str = "// nested: ";

/// The kind of a line.
enum Line<'t> {
    Blank,
    /// A header with the pass; true if the module was printed before the pass.
    Header(Option<&'t str>, bool),
    /// `#[version = "0.0.5"]`
    Version,
    /// The first line of a definition or type, and its name.
    Item(&'t [u8]),
    Metadata,
    Comment,
    /// A continuation: indented, or starting with a bracket.
    Rest,
    Other,
}

/// Finds the modules of a log.
pub fn split(text: &str) -> Vec<LogModule> {
    let mut splitter = Splitter::default();
    let rest = splitter.lines(text.as_bytes());
    splitter.end(&text.as_bytes()[rest..])
}

/// The size of a read in bytes.
const STEP: usize = 256 << 10;

/// Finds the modules of a log that is read piece by piece. Also returns the number of its lines.
///
/// Memory is bounded by the longest line, which has to be known whole: it may be a definition in one
/// line.
///
/// # Errors
/// The log cannot be read.
pub fn outline(mut log: impl Read) -> io::Result<(Vec<LogModule>, u32)> {
    let mut splitter = Splitter::default();
    let mut buffer = vec![0; STEP];
    let mut length = 0;
    // Ends with the log.
    loop {
        if length == buffer.len() {
            buffer.resize(length * 2, 0);
        }
        let read = match log.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        length += read;
        if memchr::memchr(b'\n', &buffer[length - read..length]).is_some() {
            let rest = splitter.lines(&buffer[..length]);
            buffer.copy_within(rest..length, 0);
            length -= rest;
        }
    }
    let lines = splitter.number.saturating_add(1);
    Ok((splitter.end(&buffer[..length]), lines))
}

/// The kind of an item.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Item {
    /// The version or the metadata section.
    Directive,
    Function,
    #[default]
    Other,
}

impl Item {
    /// Returns the kind of an item from its first line.
    fn of(line: &[u8]) -> Item {
        match line {
            [b'#', b'[', ..] => Item::Directive,
            [b'd', b'e', b'f', b' ', ..] => Item::Function,
            _ => Item::Other,
        }
    }
}

#[derive(Default)]
struct Splitter {
    found: Vec<LogModule>,
    /// The current module.
    module: Option<LogModule>,
    /// The numbers of its directives and of its other items.
    items: (usize, usize),
    /// The names of its definitions.
    names: FxHashSet<Box<[u8]>>,
    /// The start and kind of the current item.
    item: Option<(usize, Item)>,
    /// True if the current item is an expression, which ends at a blank line.
    is_expression: bool,
    /// Lines after the last item, which are noise if another item follows.
    pending: Vec<Range<usize>>,
    header: Option<(Option<String>, bool)>,
    /// The passes inside that of the header.
    nested: Vec<String>,
    /// The start of the current line; finally, the end of the log.
    line_start: usize,
    /// The number of the current line.
    number: u32,
}

impl Splitter {
    /// Takes the complete lines at the start of `bytes`, and returns their length.
    fn lines(&mut self, bytes: &[u8]) -> usize {
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', &bytes[start..]) {
            let end = start + length + 1;
            self.line(&bytes[start..end]);
            start = end;
        }
        start
    }

    /// Takes the last line, which may have no line break, and returns the modules.
    fn end(mut self, line: &[u8]) -> Vec<LogModule> {
        if !line.is_empty() {
            self.line(line);
        }
        let is_inside = self.item.is_some() && self.pending.is_empty();
        self.close(is_inside);
        self.found
    }

    /// Takes a line.
    fn line(&mut self, line: &[u8]) {
        self.take(line);
        self.line_start += line.len();
        self.number = self.number.saturating_add(1);
    }

    fn take(&mut self, line: &[u8]) {
        let range = self.line_start..self.line_start + line.len();
        if self.item.is_some() && !self.is_expression {
            match line.first() {
                // Fast path for lines inside a function, which are most lines of a log.
                Some(b' ' | b'\n' | b'\r' | b'\t' | b')' | b'"' | b'{') => return,
                Some(b'}' | b']') => return self.end_item(range.end),
                _ => {}
            }
        }
        match classify(line) {
            Line::Header(pass, is_before) => {
                self.close(self.item.is_some());
                self.header = Some((pass.map(str::to_owned), is_before));
                self.nested.clear();
            }
            Line::Version => {
                self.close(self.item.is_some());
                self.open(range.start);
                self.begin(range.start, line);
                self.end_item(range.end);
            }
            Line::Item(name) => {
                let is_cut = self.item.is_some() && !self.is_expression;
                if is_cut || self.names.contains(name) {
                    self.close(is_cut);
                }
                self.open(range.start);
                self.names.insert(name.into());
                self.begin(range.start, line);
                if is_whole(line) {
                    self.end_item(range.end);
                }
            }
            Line::Metadata if self.module.is_some() => {
                self.begin(range.start, line);
                if is_whole(line) && line.contains(&b'{') {
                    self.end_item(range.end);
                }
            }
            Line::Blank => {
                if self.is_expression && self.item.is_some() {
                    self.end_item(range.start);
                }
            }
            Line::Comment => {
                if self.header.is_some()
                    && let Ok(text) = std::str::from_utf8(line)
                    && let Some(list) = text.strip_prefix(NESTED)
                {
                    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
                    self.nested = names.map(str::to_owned).collect();
                }
            }
            Line::Rest | Line::Metadata => {
                if self.item.is_none() && self.module.is_some() {
                    self.pending.push(range);
                }
            }
            Line::Other => {
                // A bare expression directly follows a version.
                let has_items = self.items.1 > 0;
                if self.is_expression && self.item.is_some() {
                    // A statement of a bare expression.
                } else if self.item.is_some() {
                    self.pending.push(range);
                } else if self.module.is_some() && !has_items && self.pending.is_empty() {
                    self.begin(range.start, line);
                    self.is_expression = !line.trim_ascii_end().ends_with(b"{");
                } else if self.module.is_some() {
                    self.pending.push(range);
                }
            }
        }
    }

    fn open(&mut self, start: usize) {
        if self.module.is_some() {
            return;
        }
        let (pass, is_before) = self.header.take().unwrap_or_default();
        self.items = (0, 0);
        self.module = Some(LogModule {
            range: start..start,
            line: self.number,
            pass,
            is_before,
            nested: std::mem::take(&mut self.nested),
            functions: 0,
            noise: Vec::new(),
            is_cut: false,
        });
    }

    /// Begins an item with its first line.
    fn begin(&mut self, start: usize, line: &[u8]) {
        if let Some(module) = &mut self.module {
            module.noise.append(&mut self.pending);
            self.item = Some((start, Item::of(line)));
            self.is_expression = false;
        }
    }

    fn end_item(&mut self, end: usize) {
        let Some((_, kind)) = self.item.take() else { return };
        self.is_expression = false;
        if let Some(module) = &mut self.module {
            module.noise.append(&mut self.pending);
            module.functions += usize::from(kind == Item::Function);
            module.range.end = end;
            match kind {
                Item::Directive => self.items.0 += 1,
                Item::Function | Item::Other => self.items.1 += 1,
            }
        }
    }

    /// Ends the current module. A version without other items is dropped.
    fn close(&mut self, is_cut: bool) {
        if self.item.is_some() {
            let end = self.pending.first().map_or(self.line_start, |noise| noise.start);
            self.pending.clear();
            self.end_item(end);
            if let Some(module) = &mut self.module {
                module.is_cut = is_cut;
            }
        }
        self.pending.clear();
        self.names.clear();
        if let Some(module) = self.module.take()
            && !matches!(self.items, (0 | 1, 0))
        {
            self.found.push(module);
        }
    }
}

fn classify(line: &[u8]) -> Line<'_> {
    let text = line.trim_ascii_end();
    match text.first() {
        None => return Line::Blank,
        Some(b' ' | b'\t' | b'}' | b')' | b']' | b'{' | b'"') => return Line::Rest,
        _ => {}
    }
    if let Some(header) = header(text) {
        return header;
    }
    let name = |rest: &[u8]| {
        let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"@_.:/".contains(b)));
        end.unwrap_or(rest.len())
    };
    for keyword in [&b"def "[..], b"type ", b"extern type ", b"data "] {
        if let Some(rest) = text.strip_prefix(keyword) {
            let is_name = rest.first().is_some_and(|b| *b == b'@' || b.is_ascii_alphabetic());
            let is_item = keyword != b"data " || memchr::memchr(b'{', rest).is_some();
            if is_name && is_item {
                return Line::Item(&text[..keyword.len() + name(rest)]);
            }
        }
    }
    if text.starts_with(b"#[version") {
        return Line::Version;
    }
    if text.starts_with(b"#[metadata]") {
        return Line::Metadata;
    }
    if text.starts_with(b"@") && memmem::find(text, b"primfn(").is_some() {
        return Line::Item(&text[..name(text)]);
    }
    if text.starts_with(b"//") || text.starts_with(b"/*") {
        return Line::Comment;
    }
    Line::Other
}

/// Parses a header.
fn header(line: &[u8]) -> Option<Line<'_>> {
    let line = std::str::from_utf8(line).ok()?;
    if let Some(at) = line.find("PrintIR(") {
        let rest = &line[at + "PrintIR(".len()..];
        let inner = rest.strip_suffix(':').unwrap_or(rest);
        let inner = inner.strip_suffix(')')?.trim();
        let (inner, is_before) = match (inner.strip_prefix("after "), inner.strip_prefix("before "))
        {
            (Some(pass), _) => (pass.trim(), false),
            (None, Some(pass)) => (pass.trim(), true),
            _ => (inner, false),
        };
        return Some(Line::Header(Some(inner).filter(|pass| !pass.is_empty()), is_before));
    }
    // `===== before FuseOps =====`
    if let Some(title) = line.strip_prefix("=====") {
        let mut words = title.trim_matches(['=', ' ']).split(' ');
        let is_before = words.next().map(|word| word.eq_ignore_ascii_case("before"));
        let is_title = title.trim_start_matches(['=', ' ']).to_ascii_lowercase();
        if is_title.starts_with("before ") || is_title.starts_with("after ") {
            let pass = words.next().filter(|_| words.next().is_none());
            return Some(Line::Header(pass, is_before.unwrap_or_default()));
        }
    }
    for (mark, is_before) in [("Print IR after:", false), ("Print IR before:", true)] {
        if let Some(at) = line.find(mark) {
            let pass = line[at + mark.len()..].trim();
            return Some(Line::Header(Some(pass).filter(|pass| !pass.is_empty()), is_before));
        }
    }
    for (mark, is_before) in [("After Running Pass:", false), ("Before Running Pass:", true)] {
        if let Some(at) = line.find(mark) {
            let rest = &line[at + mark.len()..];
            let name = rest.find("pass name:").map(|at| &rest[at + "pass name:".len()..]);
            let name = name.unwrap_or(rest);
            let pass = name.find(", opt_level").map_or(name, |end| &name[..end]).trim();
            return Some(Line::Header(Some(pass).filter(|pass| !pass.is_empty()), is_before));
        }
    }
    None
}

/// Returns true if an item ends on its first line.
fn is_whole(line: &[u8]) -> bool {
    let mut depth = 0i64;
    for &byte in line {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            _ => {}
        }
    }
    depth <= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(log: &str) -> Vec<(Option<String>, String, bool)> {
        let found = split(log).into_iter();
        found
            .map(|module| (module.pass.clone(), module.text(log).into_owned(), module.is_cut))
            .collect()
    }

    const A: &str = "#[version = \"0.0.5\"]\ndef @main(%x: int32) {\n  %x\n}\n";
    const B: &str = "def @main(%x: int32) {\n  %0 = negative(%x);\n  %0\n}\n\ndef @f() {\n  1\n}\n";

    #[test]
    fn split_recognizes_all_headers() {
        let forms = [
            "[10:00:01] /src/ir/transform.cc:629: PrintIR(after FuseOps):\n",
            "Print IR after: FuseOps\n",
            "After Running Pass: The meta data of the pass - pass name: FuseOps, opt_level: 2, required passes: [InferType, ]\n",
            "===== after FuseOps =====\n",
        ];
        for form in forms {
            let log = format!("{form}{A}\nsome warning\n{form}{B}\n");
            let found = modules(&log);
            assert_eq!(found.len(), 2, "{log}");
            for (at, module) in [A, B].iter().enumerate() {
                assert_eq!(found[at], (Some("FuseOps".into()), (*module).to_owned(), false));
            }
        }
    }

    #[test]
    fn passes_inside_a_pass_are_those_of_its_module() {
        let log = format!(
            "PrintIR(after Lost):\n// nested: X\nPrintIR(after FuseOps):\n// nested: InferType, Y\n{A}\n\
             PrintIR(after Z):\n{B}// nested: W\n"
        );
        let nested: Vec<Vec<String>> = split(&log).into_iter().map(|one| one.nested).collect();
        assert_eq!(nested, [vec!["InferType".to_owned(), "Y".to_owned()], Vec::new()]);
    }

    #[test]
    fn repeated_name_starts_new_module() {
        let log = format!("{B}{B}");
        let found = modules(&log);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|(pass, text, _)| pass.is_none() && text == B));
    }

    #[test]
    fn noise_inside_module_becomes_white_space() {
        let log = "def @f() {\n  1\n}\nWARNING: tuning\ndef @g() {\n  2\n}\n";
        let found = modules(log);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].1.len(), log.len());
        assert!(!found[0].1.contains("tuning") && found[0].1.contains("@g"));
    }

    #[test]
    fn metadata_belongs_to_preceding_module() {
        let log = format!("{A}#[metadata]\n{{\n  \"root\": 1\n}}\nTraceback:\n{A}");
        let found = modules(&log);
        assert_eq!(found.len(), 2);
        assert!(found[0].1.ends_with("\"root\": 1\n}\n"));
    }

    #[test]
    fn truncated_log_keeps_partial_module() {
        for end in 1..A.len() {
            let log = format!("{A}{}", &A[..end]);
            let found = modules(&log);
            assert!(!found.is_empty() && found[0].1 == A, "{log}");
            for module in split(&log) {
                assert!(log.get(module.range.clone()).is_some());
            }
        }
        let found = modules(&format!("{A}{}", &A[..A.len() - 3]));
        assert!(found[1].2, "the last module is cut");
    }
}
