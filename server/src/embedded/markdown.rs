//! Fenced code blocks of Markdown whose language is Relay.

use super::{
    Block, MAX_BLOCKS,
    mapping::{Builder, Notation},
};

/// A fence: its character, its length, and the words after it.
struct Fence<'a> {
    /// The text before the fence: indentation and `>` of quotes.
    prefix: &'a str,
    character: char,
    length: usize,
    info: &'a str,
}

/// Returns the text of a line before its content: indentation, the `>` of quotes, and the marker of a
/// list item if `with_list`.
fn prefix(line: &str, with_list: bool) -> &str {
    let mut rest = line.trim_start_matches([' ', '\t', '>']);
    // A line may begin several nested lists.
    loop {
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = digits.len() < rest.len() && digits.starts_with(['.', ')']);
        let marked = if numbered { Some(&digits[1..]) } else { rest.strip_prefix(['-', '*', '+']) };
        match marked.filter(|marked| with_list && marked.starts_with([' ', '\t'])) {
            Some(marked) => rest = marked.trim_start_matches([' ', '\t', '>']),
            None => break,
        }
    }
    &line[..line.len() - rest.len()]
}

fn fence(line: &str, with_list: bool) -> Option<Fence<'_>> {
    let prefix = prefix(line, with_list);
    let rest = &line[prefix.len()..];
    let character = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = rest.trim_start_matches(character);
    let length = rest.len() - info.len();
    let is_fence = length >= 3 && !(character == '`' && info.contains('`'));
    is_fence.then_some(Fence { prefix, character, length, info: info.trim() })
}

/// Returns true for the words of Relay that is to be analysed: `relay`, `relay title="x"`, `{.relay}`.
/// `relay,ignore` is not.
fn is_relay(info: &str) -> bool {
    let is_break = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '?' | ':');
    let mut words = info.split(is_break).filter(|word| !word.is_empty());
    let language = words.next().unwrap_or_default();
    let language = language.strip_prefix('.').unwrap_or(language);
    language.eq_ignore_ascii_case("relay") && words.all(|word| word != "ignore")
}

/// Returns the content of a line inside of a fence, without the prefix of the fence.
fn content<'a>(line: &'a str, opening: &str) -> &'a str {
    let mut rest = line;
    for wanted in opening.chars() {
        // Of a list item, the following lines have indentation instead of the marker.
        rest = match wanted {
            '>' => rest.strip_prefix('>').unwrap_or(rest),
            _ => rest.strip_prefix([' ', '\t']).unwrap_or(rest),
        };
    }
    rest
}

pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(Fence<'_>, Option<Builder>)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        match &mut open {
            None => {
                if let Some(fence) = fence(bare, true) {
                    let builder = is_relay(fence.info).then(|| {
                        let mut builder = Builder::new();
                        builder.cover(at, at);
                        builder
                    });
                    open = Some((fence, builder));
                }
            }
            Some((opening, builder)) => {
                let closes = fence(bare, false).is_some_and(|closing| {
                    closing.character == opening.character
                        && closing.length >= opening.length
                        && closing.info.is_empty()
                });
                if !closes {
                    if let Some(builder) = builder {
                        let content = content(line, opening.prefix);
                        let outer = start + line.len() - content.len();
                        builder.verbatim(content, outer);
                        // The place before the closing fence is no place of the block.
                        builder.cover(outer, outer + content.trim_end_matches('\n').len());
                    }
                    continue;
                }
                if let Some((fence, Some(builder))) = open.take() {
                    found.push(finish(builder, fence.prefix));
                    if found.len() >= MAX_BLOCKS {
                        return found;
                    }
                }
            }
        }
    }
    // A fence that is not closed yet reaches to the end of the text.
    if let Some((fence, Some(mut builder))) = open {
        builder.cover(at, at);
        found.push(finish(builder, fence.prefix));
    }
    found
}

fn finish(builder: Builder, prefix: &str) -> Block {
    let indentation = prefix.chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' });
    builder.finish(Notation::Lines { prefix: indentation.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        blocks(text).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn fences_of_relay_are_found() {
        let page = "# A\n```relay\n%x\n```\n```rust\n```relay\n```\n~~~ relay title=\"b\"\n1\n\n2\n~~~\n\
                    ```{.relay}\n3\n````\n```relay,ignore\n4\n```\n````Relay\n```\n5\n";
        assert_eq!(texts(page), ["%x\n", "1\n\n2\n", "3\n", "```\n5\n"]);
        assert_eq!(texts("```relay"), [""]);
        assert_eq!(texts("inline ```relay``` code\n    ```relays\n"), [] as [&str; 0]);
    }

    #[test]
    fn indentation_and_quotes_are_removed() {
        let page =
            "1. item\n\n   ```relay\n   let %x = 1;\n     %x\n   ```\n> ```relay\n> é\n>\n> ```\n";
        let found = blocks(page);
        assert_eq!(found[0].text, "let %x = 1;\n  %x\n");
        assert_eq!(found[1].text, "é\n\n");
        for block in &found {
            for (at, character) in block.text.char_indices() {
                let outer = block.mapping.to_host((at as u32).into());
                assert!(page[usize::from(outer)..].starts_with(character), "{at}");
                assert_eq!(block.mapping.to_block(outer), Some((at as u32).into()));
            }
        }
        assert_eq!(found[0].mapping.written("a\nb").as_deref(), Some("a\n   b"));
        assert_eq!(found[1].mapping.written("a\nb").as_deref(), Some("a\n> b"));
        // Indentation before a line is outside.
        let second = page.find("     %x").unwrap() as u32;
        assert_eq!(found[0].mapping.to_block((second + 1).into()), None);
    }
}
