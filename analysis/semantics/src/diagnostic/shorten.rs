//! Long messages, made short: types and names can be as long as a module.

use std::borrow::Cow;

/// The most characters of a message, of a label and of a help.
const MAX_MESSAGE: usize = 600;

/// The lengths to which quoted code is cut until the message is short enough.
const QUOTES: [usize; 4] = [200, 100, 60, 30];

/// The message in at most `MAX_MESSAGE` characters. The quoted code is cut first, in its middle:
/// how a type begins and ends says more than how it goes on.
pub(super) fn shorten(message: &mut String) {
    // A character has a byte at least.
    if message.len() <= MAX_MESSAGE || message.chars().count() <= MAX_MESSAGE {
        return;
    }
    for longest in QUOTES {
        let parts = message.split('`').enumerate();
        let shorter: Vec<Cow<'_, str>> = parts
            .map(|(at, part)| if at % 2 == 1 { cut_middle(part, longest) } else { part.into() })
            .collect();
        let shorter = shorter.join("`");
        if shorter.chars().count() <= MAX_MESSAGE {
            *message = shorter;
            return;
        }
    }
    *message = cut_middle(message, MAX_MESSAGE).into_owned();
}

/// The text with `…` in place of its middle, if it has more than `longest` characters.
fn cut_middle(text: &str, longest: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= longest {
        return text.into();
    }
    let head: String = text.chars().take(longest * 2 / 3).collect();
    let tail: String = text.chars().skip(count - (longest - longest * 2 / 3 - 1)).collect();
    format!("{head}…{tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_code_is_cut_before_the_sentence() {
        let ty = format!("({})", vec!["int32"; 300].join(", "));
        let mut message = format!("`%x` is `{ty}`, but `@f` takes `{ty}` as argument 1");
        shorten(&mut message);
        assert!(message.chars().count() <= MAX_MESSAGE);
        assert!(message.starts_with("`%x` is `(int32, int32"));
        assert!(message.ends_with("int32, int32)` as argument 1"), "{message}");
        assert!(message.contains("`, but `@f` takes `("));
    }

    #[test]
    fn no_message_is_longer() {
        for text in ["é".repeat(2_000), "`a` ".repeat(500), "`".repeat(601), "x".repeat(600)] {
            let mut message = text.clone();
            shorten(&mut message);
            assert!(message.chars().count() <= MAX_MESSAGE);
            assert_eq!(message == text, text.chars().count() <= MAX_MESSAGE);
        }
    }
}
