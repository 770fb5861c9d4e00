//! Text in other languages: one function for each place that text can have in an output.
//!
//! Paths, arguments, names and excerpts are somebody else's text. It reaches a terminal, a log of
//! GitHub, SARIF, HTML, DOT, CSV and messages of the editor through the functions here and through
//! no others. Markdown has its own: [`ide::markdown`].

use std::borrow::Cow;

/// Whether a terminal does anything with `c` but show it: control characters, also those of eight
/// bits, and characters that turn the direction of the text around them.
fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The character that is shown in place of an active one: its picture where there is one.
fn picture(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        _ => '\u{fffd}',
    }
}

/// Returns text for one line of a terminal: nothing in it moves the cursor, changes colours or ends
/// the line.
pub(crate) fn terminal(text: &str) -> Cow<'_, str> {
    pictured(text, is_active)
}

/// Returns text for a terminal that may have several lines.
pub(crate) fn terminal_lines(text: &str) -> Cow<'_, str> {
    pictured(text, |c| is_active(c) && c != '\n')
}

fn pictured(text: &str, is_shown: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(&is_shown) {
        text.chars().map(|c| if is_shown(c) { picture(c) } else { c }).collect::<String>().into()
    } else {
        text.into()
    }
}

/// Returns the character for an excerpt of source in a terminal. It has as many bytes as `c`, so
/// that marks stay where they are; tabs stay, too.
pub(crate) fn excerpt(c: char) -> char {
    match c.len_utf8() {
        _ if c == '\t' || !is_active(c) => c,
        1 => ' ',
        2 => '·',
        _ => '\u{fffd}',
    }
}

/// Returns the message of a workflow command of GitHub. The log shows colours as a terminal does.
pub(crate) fn github_data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    terminal(&text).into_owned()
}

/// Returns the value of a property of a workflow command of GitHub.
pub(crate) fn github_property(text: &str) -> String {
    github_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Returns the text of a message of SARIF, in which `[text](target)` is a link (3.11.6); brackets
/// before parentheses are common in types. The format has no escape for them outside of a link.
pub(crate) fn sarif_message(text: &str) -> String {
    text.replace("](", "] (")
}

/// Returns a path as a reference to a resource, relative if the path is.
pub(crate) fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(byte as char);
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    match path.starts_with('/') {
        true => format!("file://{uri}"),
        // `//host/share` would be another host's.
        false if uri.starts_with("//") => format!(".{uri}"),
        false => uri,
    }
}

/// Returns text for HTML, also within an attribute in quotes.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // Names shall not seem to be others.
            c if is_active(c) && c != '\n' && c != '\t' => out.push(picture(c)),
            c => out.push(c),
        }
    }
    out
}

/// Returns JSON for a script element of HTML: nothing in it ends the element.
pub(crate) fn script(json: &str) -> String {
    pictured(&json.replace('<', "\\u003c"), |c| is_active(c) && c != '\n').into_owned()
}

/// Returns a string of DOT with its quotes. Graphviz reads entities of HTML in labels.
pub(crate) fn dot(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => out += "\\\\",
            '"' => out += "\\\"",
            '&' => out += "&amp;",
            '\n' => out += "\\n",
            c if is_active(c) => out.push(picture(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// Returns a cell of CSV, after RFC 4180. Spreadsheets take a cell that begins with `=`, `+`, `-`,
/// `@`, a tab or a line break for a formula; with an apostrophe before it, it is text.
pub(crate) fn csv(cell: &str) -> String {
    let is_formula =
        cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    // A separator of some countries begins another cell.
    let is_quoted = is_formula || cell.contains([',', ';', '"', '\n', '\r', '\t', '\0']);
    let mark = if is_formula { "'" } else { "" };
    let cell = cell.replace('\0', "␀");
    if is_quoted { format!("\"{mark}{}\"", cell.replace('"', "\"\"")) } else { cell }
}

/// Returns text for a message of the editor. VS Code makes buttons of `[text](command:…)` in it.
pub(crate) fn notification(text: &str) -> String {
    terminal_lines(text).replace("](", "] (")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character that a terminal, a shell, a spreadsheet, a browser or a parser could act on,
    /// alone and at either end of a word.
    fn hostile() -> Vec<String> {
        let active = (0..0x300u32).chain(0x2000..0x2070).chain([0xfeff, 0xff1d, 0xff20]);
        let characters = active.filter_map(char::from_u32);
        let words = [
            "\u{1b}[2J\u{1b}]0;title\u{7}",
            "\u{9b}31m",
            "a\r\nb",
            "::error file=x::y",
            "%0A::set-output name=a::b",
            "[click](command:rm)",
            "]( ](",
            "</title><script>alert(1)</script>",
            "\" onmouseover=\"alert(1)",
            "' onmouseover='alert(1)",
            "&lt;&#60;&amp",
            "\"]; evil [label=\"",
            "\\",
            "\\\\\"",
            "=HYPERLINK(\"http://e\")",
            "@SUM(1+1)*cmd|' /C calc'!A0",
            "-1+1",
            "+1",
            "\t=1",
            "\r=1",
            "\n=1",
            "a,\"b\",c",
            "//host/share",
            "../../x",
            "",
        ];
        let around =
            |c: char| [format!("{c}"), format!("{c}a"), format!("a{c}"), format!("a{c}{c}b")];
        characters.flat_map(around).chain(words.map(str::to_owned)).collect()
    }

    #[test]
    fn nothing_that_a_terminal_acts_on_is_left() {
        for text in hostile() {
            assert!(!terminal(&text).contains(is_active), "{text:?}");
            assert_eq!(terminal(&text).chars().count(), text.chars().count());
            assert!(!terminal_lines(&text).contains(|c| is_active(c) && c != '\n'), "{text:?}");
            for c in text.chars() {
                assert_eq!(excerpt(c).len_utf8(), c.len_utf8(), "{c:?}");
                assert!(c == '\t' || !is_active(excerpt(c)), "{c:?}");
            }
        }
        assert!(matches!(terminal("Größe 模型.relay"), Cow::Borrowed("Größe 模型.relay")));
        assert_eq!(terminal("a\u{1b}[31m\nb\u{7f}\u{9b}"), "a␛[31m␊b␡\u{fffd}");
    }

    #[test]
    fn a_workflow_command_is_one_line_and_its_properties_end_where_they_should() {
        for text in hostile() {
            let command =
                format!("::error file={}::{}", github_property(&text), github_data(&text));
            assert!(!command.contains(is_active), "{command:?}");
            let (properties, _) = command["::error ".len()..].split_once("::").expect("a message");
            assert!(!properties.contains([',', ':']), "{command:?}");
            let decoded = |text: &str| {
                let text = text.replace("%0A", "\n").replace("%0D", "\r");
                text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
            };
            let shown = terminal_lines(&text.replace('\r', "\u{1}")).replace('␁', "\r");
            let wanted = if text.contains('\u{1}') { continue } else { shown };
            assert_eq!(decoded(&github_data(&text)), wanted, "{text:?}");
        }
    }

    #[test]
    fn messages_have_no_links() {
        for text in hostile() {
            assert!(!sarif_message(&text).contains("]("), "{text:?}");
            assert!(!notification(&text).contains("]("), "{text:?}");
        }
    }

    #[test]
    fn a_path_is_one_reference_and_never_another_host() {
        for text in hostile() {
            let uri = uri(&text);
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/%".contains(&b);
            let rest = uri.strip_prefix("file://").unwrap_or(&uri);
            assert!(rest.bytes().all(is_plain), "{uri:?}");
            assert!(!uri.starts_with("//"), "{uri:?}");
        }
        assert_eq!(uri("/a b.relay"), "file:///a%20b.relay");
        assert_eq!(uri("x:y.relay"), "x%3Ay.relay");
    }

    #[test]
    fn html_has_neither_tags_nor_quotes_nor_entities_of_the_text() {
        for text in hostile() {
            let shown = html(&text);
            assert!(!shown.contains(['<', '>', '"', '\'']), "{shown:?}");
            let back = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            let back = back.replace("&#39;", "'").replace("&amp;", "&");
            let kept = |text: &str| {
                text.replace(
                    |c: char| is_active(c) || ('␀'..='␡').contains(&c) || c == '\u{fffd}',
                    "",
                )
            };
            assert_eq!(kept(&back), kept(&text), "{shown:?}");
        }
    }

    #[test]
    fn a_string_of_dot_ends_at_its_end() {
        for text in hostile() {
            let string = dot(&text);
            let inner = &string[1..string.len() - 1];
            let mut escaped = false;
            for c in inner.chars() {
                assert!(escaped || c != '"', "{string:?}");
                assert!(!is_active(c), "{string:?}");
                escaped = c == '\\' && !escaped;
            }
            assert!(!escaped, "{string:?}");
        }
    }

    /// Reads a record of CSV back, after RFC 4180.
    fn record(line: &str) -> Vec<String> {
        let mut cells = vec![String::new()];
        let (mut chars, mut is_quoted) = (line.chars().peekable(), false);
        while let Some(c) = chars.next() {
            match c {
                '"' if is_quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    cells.last_mut().expect("a cell").push('"');
                }
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                '\n' | '\r' if !is_quoted => panic!("a record of several lines: {line:?}"),
                c => cells.last_mut().expect("a cell").push(c),
            }
        }
        cells
    }

    #[test]
    fn a_cell_is_one_cell_and_no_formula() {
        for text in hostile() {
            let cells = record(&format!("a,{},b", csv(&text)));
            assert_eq!(cells.len(), 3, "{text:?}");
            assert!(!cells[1].starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{text:?}");
            let back = cells[1].strip_prefix('\'').filter(|_| !text.starts_with('\''));
            assert_eq!(back.unwrap_or(&cells[1]).replace('␀', "\0"), text.replace('␀', "\0"));
        }
        assert_eq!(csv("@main"), "\"'@main\"");
        assert_eq!(csv("%0"), "%0");
    }
}
