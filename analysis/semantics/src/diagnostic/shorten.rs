//! Truncation of long messages: types and names can be as long as a module.

use std::borrow::Cow;

/// The maximum number of characters of a message, a label or a suggestion.
const MAX_MESSAGE: usize = 600;

/// The lengths in characters to which quoted code is truncated, in turn, until the message fits.
const QUOTES: [usize; 4] = [200, 100, 60, 30];

/// Truncates the message to `MAX_MESSAGE` characters. Quoted code is truncated first, in its
/// middle, because the beginning and the end of a type identify it better than its beginning alone.
pub(super) fn shorten(message: &mut String) {
    // A character has at least one byte.
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

/// Returns the text with its middle replaced by `…` if it has more than `longest` characters.
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
    fn quoted_code_is_truncated_before_the_sentence() {
        let ty = format!("({})", vec!["int32"; 300].join(", "));
        let mut message = format!("`%x` is `{ty}`, but `@f` takes `{ty}` as argument 1");
        shorten(&mut message);
        assert!(message.chars().count() <= MAX_MESSAGE);
        assert!(message.starts_with("`%x` is `(int32, int32"));
        assert!(message.ends_with("int32, int32)` as argument 1"), "{message}");
        assert!(message.contains("`, but `@f` takes `("));
    }

    #[test]
    fn messages_never_exceed_the_limit() {
        for text in ["é".repeat(2_000), "`a` ".repeat(500), "`".repeat(601), "x".repeat(600)] {
            let mut message = text.clone();
            shorten(&mut message);
            assert!(message.chars().count() <= MAX_MESSAGE);
            assert_eq!(message == text, text.chars().count() <= MAX_MESSAGE);
        }
    }
}
