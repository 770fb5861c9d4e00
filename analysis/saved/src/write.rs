//! Writes JSON in TVM's format.

use std::fmt::Write;

/// Writes JSON with the line breaks of TVM's writer.
#[derive(Default)]
pub(crate) struct JsonWriter {
    out: String,
    /// For each open scope, true if each element is on a separate line, and the number of elements.
    scopes: Vec<(bool, usize)>,
}

impl JsonWriter {
    pub(crate) fn finish(self) -> String {
        self.out
    }

    fn line(&mut self) {
        if self.scopes.last().is_none_or(|scope| scope.0) {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', self.scopes.len() * 2));
        }
    }

    /// Begins the next element of an array.
    pub(crate) fn element(&mut self) {
        if let Some((_, count)) = self.scopes.last_mut() {
            if *count > 0 {
                self.out.push_str(", ");
            }
            *count += 1;
        }
        self.line();
    }

    /// Begins the next member of an object.
    pub(crate) fn member(&mut self, key: &str) {
        self.element();
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\": ");
    }

    pub(crate) fn begin(&mut self, bracket: char, lines: bool) {
        self.out.push(bracket);
        self.scopes.push((lines, 0));
    }

    pub(crate) fn end(&mut self, bracket: char) {
        if let Some((true, 1..)) = self.scopes.pop() {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', self.scopes.len() * 2));
        }
        self.out.push(bracket);
    }

    pub(crate) fn number(&mut self, number: u64) {
        // Writing to a string does not fail.
        let _ = write!(self.out, "{number}");
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '\r' => self.out.push_str("\\r"),
                '\n' => self.out.push_str("\\n"),
                '\\' => self.out.push_str("\\\\"),
                '\t' => self.out.push_str("\\t"),
                '"' => self.out.push_str("\\\""),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// Writes the array of numbers of a node.
    pub(crate) fn numbers(&mut self, numbers: &[u32]) {
        self.begin('[', numbers.len() > 10);
        for &number in numbers {
            self.element();
            self.number(number.into());
        }
        self.end(']');
    }

    /// Writes an array of strings.
    pub(crate) fn strings<'s>(&mut self, strings: impl Iterator<Item = &'s str>) {
        self.begin('[', true);
        for text in strings {
            self.element();
            self.string(text);
        }
        self.end(']');
    }

    /// Writes an object of strings.
    pub(crate) fn object(&mut self, members: &[(&str, String)]) {
        self.begin('{', members.len() > 1);
        for (key, value) in members {
            self.member(key);
            self.string(value);
        }
        self.end('}');
    }
}
