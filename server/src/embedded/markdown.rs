//! Fenced code blocks of Markdown whose language is Relay.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{
    Block, MAX_BLOCKS,
    mapping::{Builder, Notation},
};

/// Returns true for the words of Relay that is to be analysed: `relay`, `relay title="x"`, `{.relay}`.
/// `relay,ignore` is not.
fn is_relay(info: &str) -> bool {
    let is_break = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '?' | ':');
    let mut words = info.split(is_break).filter(|word| !word.is_empty());
    let language = words.next().unwrap_or_default();
    let language = language.strip_prefix('.').unwrap_or(language);
    language.eq_ignore_ascii_case("relay") && words.all(|word| word != "ignore")
}

pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(Builder, String)> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if is_relay(&info) => {
                let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                let rest = text[range.start..].find('\n');
                let first = rest.map_or(text.len(), |length| range.start + length + 1);
                let mut builder = Builder::default();
                builder.cover(first, first);
                open = Some((builder, indentation(&text[line..range.start])));
            }
            // A line without the indentation and the `>` of what the block is in.
            Event::Text(_) => {
                if let Some((builder, _)) = &mut open {
                    let content = &text[range.clone()];
                    builder.verbatim(content, range.start);
                    // The position before the closing fence is outside of the block.
                    let end = range.start + content.trim_end_matches('\n').len();
                    builder.cover(range.start, end);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let Some((mut builder, prefix)) = open.take() else { continue };
                // A fence that is not closed yet reaches to the end of the text.
                if range.end == text.len() && !is_closed(&text[range]) {
                    builder.cover(text.len(), text.len());
                }
                found.push(builder.finish(Notation::Lines { prefix }));
                if found.len() >= MAX_BLOCKS {
                    return found;
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the text before further lines of a block: the marker of a list item is on the first one alone.
fn indentation(before: &str) -> String {
    before.chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' }).collect()
}

/// Returns true if the last line of a block is its closing fence.
fn is_closed(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let last = lines.next_back().unwrap_or_default().trim_start_matches([' ', '\t', '>']);
    lines.next().is_some() && (last.starts_with("```") || last.starts_with("~~~"))
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
    fn lines_may_end_with_carriage_returns() {
        let page = "- a\r\n  ```relay\r\n  %x\r\n\r\n  é\r\n  ```\r\n";
        let found = blocks(page);
        assert_eq!(found[0].text.replace('\r', ""), "%x\n\né\n");
        for (at, character) in found[0].text.char_indices() {
            let outer = found[0].mapping.to_host((at as u32).into());
            assert!(page[usize::from(outer)..].starts_with(character), "{at}");
        }
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
