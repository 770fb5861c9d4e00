//! Generation of Markdown, and its conversion to plain text.
//!
//! Names, comments, strings and excerpts of a document are untrusted: a client would load images and
//! follow command links in them. They are inserted into Markdown only through this module.

use std::borrow::Cow;

/// Returns a fenced block of Relay. The fence is longer than any run of backquotes in the text, so
/// that the text cannot end the block.
pub fn code_block(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}relay\n{}\n{fence}", text.trim_end())
}

/// Returns a code span. Line breaks become spaces, because an empty line would end the span.
pub fn code_span(text: &str) -> String {
    let text: Cow<'_, str> = match text.contains(char::is_control) {
        true => text.replace(char::is_control, " ").into(),
        false => text.into(),
    };
    let ticks = "`".repeat(longest_run(&text) + 1);
    // Markdown strips a space at both ends, and a backquote at an end would join the delimiter.
    let is_padded = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty();
    let pad = if is_padded { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Returns text in which markup, links, images and HTML have no effect. Only characters that could
/// have one are escaped, for clients that show Markdown source.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        // Four spaces would start a code block, and two trailing ones a line break.
        escape_line(line.trim(), &mut out);
    }
    out
}

fn escape_line(line: &str, out: &mut String) {
    // The marker of a heading, quotation, list, rule, fence, table or heading underline.
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match line.as_bytes().get(digits) {
        Some(b'.' | b')') if digits > 0 => Some(digits),
        Some(b'#' | b'>' | b'+' | b'-' | b'=' | b'~' | b':') if digits == 0 => Some(0),
        _ => None,
    };
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let rest = &line[at + c.len_utf8()..];
        let is_special = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '&' | '|' | '~' | '$' | '^' => true,
            // Addresses that clients turn into links: `https://…`, `www.…`, `name@host`.
            ':' => rest.starts_with("//"),
            '.' => before.eq_ignore_ascii_case(&'w'),
            '@' => before.is_alphanumeric() && rest.starts_with(char::is_alphanumeric),
            _ => false,
        };
        if is_special || marker == Some(at) {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
        before = c;
    }
}

/// Returns a plain-text message as Markdown. Text between backquotes becomes a code span, all other
/// text is escaped.
pub fn message(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut out = String::with_capacity(text.len() + 16);
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        match at % 2 {
            0 => out += &escaped_inline(part),
            // An unmatched backquote.
            _ if is_last => out += &format!("\\`{}", escaped_inline(part)),
            _ => out += &code_span(part),
        }
    }
    out
}

/// Escapes a part of a line and keeps spaces at its ends.
fn escaped_inline(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let inner = text.trim();
    if inner.is_empty() {
        return if text.is_empty() { String::new() } else { " ".to_owned() };
    }
    let space = |is_there| if is_there { " " } else { "" };
    let (start, end) = (text.starts_with(char::is_whitespace), text.ends_with(char::is_whitespace));
    format!("{}{}{}", space(start), escaped(inner), space(end))
}

/// Returns the length of the longest run of backquotes.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Converts Markdown of this crate to plain text: removes code fences, asterisks of bold text and
/// backslashes of [`escaped`]. Backquotes around names stay, because they are readable in plain
/// text.
pub fn plain(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut fence = 0;
    for line in markdown.lines() {
        let ticks = line.bytes().take_while(|&b| b == b'`').count();
        if fence == 0 && ticks >= 3 && !line[ticks..].contains('`') {
            fence = ticks;
        } else if fence > 0 && ticks >= fence && line[ticks..].trim().is_empty() {
            fence = 0;
        } else {
            match fence {
                0 => plain_line(line, &mut out),
                _ => out += line,
            }
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn plain_line(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(['`', '\\', '*']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let ticks = rest.bytes().take_while(|&b| b == b'`').count();
        if ticks > 0 {
            let (inner, after) = match span_end(&rest[ticks..], ticks) {
                Some(end) => (&rest[ticks..ticks + end], &rest[ticks + end + ticks..]),
                None => (&rest[ticks..], ""),
            };
            let stripped = inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' '));
            *out += &format!("`{}`", stripped.filter(|s| !s.trim().is_empty()).unwrap_or(inner));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("**") {
            rest = after;
        } else {
            let escaped = rest.strip_prefix('\\');
            let escaped =
                escaped.filter(|after| after.starts_with(|c: char| c.is_ascii_punctuation()));
            rest = escaped.unwrap_or(rest);
            let mut chars = rest.chars();
            out.extend(chars.next());
            rest = chars.as_str();
        }
    }
    out.push_str(rest);
}

/// Returns the offset of the first run of exactly `ticks` backquotes.
fn span_end(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        at += found;
        let run = text[at..].bytes().take_while(|&b| b == b'`').count();
        if run == ticks {
            return Some(at);
        }
        at += run;
    }
    None
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::{code_block, code_span, escaped, message, plain};

    /// Texts with markup that a comment, a string or a name could contain.
    const HOSTILE: &[&str] = &[
        "![img](https://example.com/pixel.png)",
        "[click](command:workbench.action.terminal.sendSequence?%7B%7D)",
        "<command:relay.whyShape>",
        "<img src=x onerror=alert(1)>",
        "</code></pre><script>alert(1)</script>",
        "[a]: command:x\n[a]",
        "[a][b] ![a][b] [a][]",
        "# heading\n## another\n= =\n---\n===\n***",
        "- item\n+ item\n* item\n1. item\n12) item",
        "> quote\n    indented code\n\ttab",
        "```relay\nfence\n```\n````\n~~~\n~~~",
        "`code` ``two`` ` alone",
        "*a* **b** _c_ __d__ ~~e~~ ~f~ $x$ $$y$$ ^g^",
        "| a | b |\n|---|---|\n| c | d |\n:-- | --:",
        "&lt;b&gt; &#60; &amp; &copy;",
        "https://example.com www.example.com ftp://x someone@example.com",
        "\\ \\[ \\` \\\\",
        "- [ ] task\n[^1] [^1]: note",
        "a\r\nb\u{b}c\u{0}d\u{1b}[31m",
        "` ![x](http://e) `",
        "trailing \\",
        "``` ` ```` `````",
        "",
        " ",
        " `",
        "{.class} {{x}} ::: warning",
        "term\n: definition",
    ];

    fn hostile() -> impl Iterator<Item = String> {
        let pairs = HOSTILE.iter().flat_map(|a| {
            HOSTILE.iter().flat_map(move |b| [format!("{a}{b}"), format!("{a}\n{b}")])
        });
        HOSTILE.iter().map(|text| (*text).to_owned()).chain(pairs)
    }

    fn events(markdown: &str) -> Vec<Event<'_>> {
        Parser::new_ext(markdown, Options::all() - Options::ENABLE_SMART_PUNCTUATION).collect()
    }

    fn words(text: &str) -> Vec<String> {
        let text = text.replace(char::is_control, " ");
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Returns the text of Markdown, which may consist only of text, breaks and code spans.
    fn rendered(markdown: &str, with_code: bool) -> String {
        let mut text = String::new();
        for event in events(markdown) {
            match event {
                Event::Text(part) => text += &part,
                Event::Code(part) if with_code => text += &part,
                Event::SoftBreak => text.push('\n'),
                Event::Start(Tag::Paragraph) | Event::End(_) => text.push('\n'),
                other => panic!("{other:?} in {markdown:?}"),
            }
        }
        text
    }

    #[test]
    fn escaped_text_renders_unchanged() {
        for text in hostile() {
            let markdown = escaped(&text);
            assert_eq!(
                words(&rendered(&markdown, false)),
                words(&text),
                "{text:?} as {markdown:?}"
            );
            // Clients turn bare addresses into links.
            for address in ["https://", "ftp://", "www.", "someone@"] {
                assert!(!markdown.contains(address), "{markdown:?}");
            }
            assert_eq!(words(&plain(&markdown)), words(&text), "{markdown:?}");
        }
    }

    #[test]
    fn code_spans_hold_any_text() {
        for text in hostile() {
            let markdown = format!("before {} after", code_span(&text));
            let found = events(&markdown);
            let Event::Code(inner) = &found[2] else { panic!("{found:?} for {text:?}") };
            assert_eq!(words(inner), words(&text), "{markdown:?}");
            assert_eq!(found.len(), 5, "{found:?}");
        }
    }

    #[test]
    fn code_blocks_hold_any_text() {
        for text in hostile() {
            let markdown = format!("{}\n\nafter", code_block(&text));
            let found = events(&markdown);
            let at =
                found.iter().position(|event| matches!(event, Event::End(_))).expect("a block");
            let inner: String = found[1..at]
                .iter()
                .map(|event| match event {
                    Event::Text(part) => part.as_ref(),
                    other => panic!("{other:?} in {markdown:?}"),
                })
                .collect();
            assert_eq!(words(&inner), words(&text));
            assert_eq!(found.len(), at + 4, "{found:?}");
            assert_eq!(words(&plain(&markdown)), words(&format!("{text}\nafter")), "{markdown:?}");
        }
    }

    #[test]
    fn messages_keep_only_code_spans() {
        let markdown = message("axis 0 of `%x` is [2], by `a*b`");
        assert_eq!(markdown, "axis 0 of `%x` is \\[2\\], by `a*b`");
        for text in hostile() {
            let text = text.replace(['\n', '\r'], " ");
            let markdown = message(&text);
            let strip = |text: &str| words(&text.replace('`', " ")).concat();
            assert_eq!(strip(&rendered(&markdown, true)), strip(&text), "{text:?} as {markdown:?}");
        }
    }

    #[test]
    fn plain_text_has_neither_fences_nor_asterisks() {
        let markdown = "```relay\n%x: int32\n```\n\n**Shape**: of `data`\n\n```\n%a ** 2\n```\n";
        assert_eq!(plain(markdown), "%x: int32\n\nShape: of `data`\n\n%a ** 2");
        assert_eq!(plain("nothing to do"), "nothing to do");
        assert_eq!(plain("```relay\nnever closed"), "never closed");
        assert_eq!(plain("a \\*b\\* in `` `c` ``"), "a *b* in ``c``");
    }
}
