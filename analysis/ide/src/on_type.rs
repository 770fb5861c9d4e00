//! On-type formatting and range formatting.

use syntax::{
    Parse, TextRange, TextSize,
    format::{Style, format},
};

use crate::edit::Edits;

/// The number of spaces per level of nesting.
const INDENT: usize = 2;

/// Returns the edits after `typed` was inserted before `offset`: a new line is indented, and a line
/// that ends with `;` or `}` is formatted.
pub fn on_type(text: &str, parse: &Parse, offset: TextSize, typed: &str, style: Style) -> Edits {
    match typed {
        "\n" => indent(text, offset).into_iter().collect(),
        ";" | "}" => {
            let line = line_around(text, offset);
            // Edits after the cursor would move the text that is being typed.
            range(text, parse, line, style)
                .into_iter()
                .filter(|(range, _)| range.start() < offset)
                .collect()
        }
        _ => Edits::new(),
    }
}

/// Returns the edits that format the text that touches a range.
pub fn range(text: &str, parse: &Parse, range: TextRange, style: Style) -> Edits {
    let edits = format(text, parse, style).into_iter();
    edits.filter(|(place, _)| place.intersect(range).is_some()).collect()
}

/// Returns the range of the line at an offset, without line breaks.
fn line_around(text: &str, offset: TextSize) -> TextRange {
    let at = usize::from(offset).min(text.len());
    let start = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |nl| nl + 1);
    let end = text.get(at..).and_then(|tail| tail.find('\n')).map_or(text.len(), |nl| at + nl);
    TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32))
}

/// Returns the edit that indents the line at `offset` like the preceding line, one level deeper if
/// that line ends with an opening bracket, one level less if this line starts with a closing one.
fn indent(text: &str, offset: TextSize) -> Option<(TextRange, String)> {
    let line = line_around(text, offset);
    let start = usize::from(line.start());
    let this = text.get(start..usize::from(line.end()))?;
    let blank = this.len() - this.trim_start_matches([' ', '\t']).len();
    let before = text.get(..start)?.lines().rev().find(|line| !line.trim().is_empty());
    let before = before.unwrap_or_default();
    let mut depth = before.len() - before.trim_start_matches(' ').len();
    let code = before.split("//").next().unwrap_or_default().trim_end();
    if code.ends_with(['{', '(', '[']) {
        depth += INDENT;
    }
    if this[blank..].starts_with(['}', ')', ']']) {
        depth = depth.saturating_sub(INDENT);
    }
    let indent = " ".repeat(depth);
    let place = TextRange::at(line.start(), TextSize::new(blank as u32));
    (this.get(..blank) != Some(indent.as_str())).then_some((place, indent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, typed: &str, after: &str) {
        let at = text.find("$0").expect("a cursor");
        let text = text.replace("$0", "");
        let parse = syntax::parse(&text);
        let edits = on_type(&text, &parse, TextSize::new(at as u32), typed, Style::Tvm);
        assert_eq!(crate::edit::apply_all(&text, &edits), after);
    }

    #[test]
    fn new_line_is_indented() {
        check("def @main(%x: int32) {\n$0", "\n", "def @main(%x: int32) {\n  ");
        check("def @main(%x: int32) {\n$0}\n", "\n", "def @main(%x: int32) {\n}\n");
        check("def @f() {\n  %0 = 1;\n$0", "\n", "def @f() {\n  %0 = 1;\n  ");
        check("def @f() {\n    $0}\n", "\n", "def @f() {\n}\n");
        check("def @f() {\n  add( // why\n$0", "\n", "def @f() {\n  add( // why\n    ");
    }

    #[test]
    fn end_of_statement_formats_line() {
        check(
            "def @f(%x :int32) {\n %0=add( %x,%x) ;$0\n  %0\n}\n",
            ";",
            "def @f(%x :int32) {\n  %0 = add(%x, %x);\n  %0\n}\n",
        );
        check("def @f() {\n  1\n  }$0\n", "}", "def @f() {\n  1\n}\n");
        check("def @f( {\n %0=;$0\n", ";", "def @f( {\n %0=;\n");
    }
}
