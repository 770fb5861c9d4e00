//! Escaping: a function for each context in which text is output.
//!
//! Paths, arguments, names and excerpts are untrusted. They reach terminals, GitHub logs, SARIF, HTML,
//! DOT, CSV and messages of the editor only through these functions, and Markdown through
//! [`ide::markdown`].

use std::borrow::Cow;

/// Returns true if a terminal interprets `c`: control characters of seven and eight bits, and those
/// that change the direction of text.
fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the visible replacement of an active character: its control picture, if there is one.
fn picture(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        _ => '\u{fffd}',
    }
}

/// Escapes text for one line of a terminal, without cursor movements, colours and line breaks.
pub(crate) fn terminal(text: &str) -> Cow<'_, str> {
    pictured(text, is_active)
}

/// Escapes text for several lines of a terminal.
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

/// Escapes a character of an excerpt of source. The result has as many bytes as `c`, which
/// preserves offsets; tabs are kept.
pub(crate) fn excerpt(c: char) -> char {
    match c.len_utf8() {
        _ if c == '\t' || !is_active(c) => c,
        1 => ' ',
        2 => '·',
        _ => '\u{fffd}',
    }
}

/// Escapes the message of a GitHub workflow command. The log interprets colours as a terminal does.
pub(crate) fn github_data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    terminal(&text).into_owned()
}

/// Escapes a property of a GitHub workflow command.
pub(crate) fn github_property(text: &str) -> String {
    github_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Escapes a SARIF message, in which `[text](target)` is a link (3.11.6). Types such as `Tensor[(2,
/// 3), float32]` have brackets before parentheses, and the format has no escape for them outside
/// links.
pub(crate) fn sarif_message(text: &str) -> String {
    text.replace("](", "] (")
}

/// Encodes all bytes of a text but letters, digits and those of `kept` for a URI.
pub(crate) fn percent_encoded(text: &str, kept: &[u8]) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            true => out.push(byte as char),
            false => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// Converts a path to a URI reference, relative if the path is.
pub(crate) fn uri(path: &str) -> String {
    let uri = percent_encoded(&path.replace('\\', "/"), b"-._~/");
    match path.starts_with('/') {
        true => format!("file://{uri}"),
        // `//host/share` would refer to another host.
        false if uri.starts_with("//") => format!(".{uri}"),
        false => uri,
    }
}

/// Escapes text for HTML and for quoted attributes.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // Direction marks could disguise names.
            c if is_active(c) && c != '\n' && c != '\t' => out.push(picture(c)),
            c => out.push(c),
        }
    }
    out
}

/// Escapes JSON for an HTML script element.
pub(crate) fn script(json: &str) -> String {
    pictured(&json.replace('<', "\\u003c"), |c| is_active(c) && c != '\n').into_owned()
}

/// Quotes a DOT string. Graphviz decodes HTML entities in labels.
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

/// Escapes a CSV cell by RFC 4180. Spreadsheets evaluate a cell that starts with `=`, `+`, `-`,
/// `@`, a tab or a line break as a formula; an apostrophe before it makes it text.
pub(crate) fn csv(cell: &str) -> String {
    let is_formula =
        cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    // The semicolon separates cells in some locales.
    let is_quoted = is_formula || cell.contains([',', ';', '"', '\n', '\r', '\t', '\0']);
    let mark = if is_formula { "'" } else { "" };
    let cell = cell.replace('\0', "␀");
    if is_quoted { format!("\"{mark}{}\"", cell.replace('"', "\"\"")) } else { cell }
}

/// Escapes a message of the editor, in which VS Code renders `[text](command:…)` as a button.
pub(crate) fn notification(text: &str) -> String {
    terminal_lines(text).replace("](", "] (")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each character that a terminal, shell, spreadsheet, browser or parser interprets,
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
    fn terminal_text_has_no_active_characters() {
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
    fn workflow_command_is_one_line_with_its_properties() {
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
            let expected = if text.contains('\u{1}') { continue } else { shown };
            assert_eq!(decoded(&github_data(&text)), expected, "{text:?}");
        }
    }

    #[test]
    fn sarif_messages_have_no_links() {
        for text in hostile() {
            assert!(!sarif_message(&text).contains("]("), "{text:?}");
            assert!(!notification(&text).contains("]("), "{text:?}");
        }
    }

    #[test]
    fn uri_never_refers_to_another_host() {
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
    fn html_has_no_tags_quotes_or_entities() {
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
    fn dot_string_cannot_be_closed_early() {
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

    /// Parses a CSV record by RFC 4180.
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
    fn csv_cell_is_one_cell_and_not_a_formula() {
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
