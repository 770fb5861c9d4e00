//! The texts of documents.

use std::{
    borrow::Cow,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use crop::Rope;
use syntax::{Edit, Source};

/// A text that is edited.
///
/// It is a rope: an edit in one string would move half of it, and copy all of it while a request still
/// reads the previous one. As a `str` it is collected into one string, once for each version: most
/// requests read a few lines, or the tree alone.
#[derive(Clone, Default)]
pub(in crate::lsp) struct Text {
    rope: Rope,
    whole: OnceLock<Arc<String>>,
}

impl Text {
    /// Replaces a range, which must be inside the text, on character boundaries.
    pub(super) fn edit(&mut self, edit: &Edit) {
        self.rope.replace(Range::<usize>::from(edit.range), &edit.insert);
        self.whole = OnceLock::new();
    }

    /// Returns the text as one string.
    pub(in crate::lsp) fn collected(&self) -> &Arc<String> {
        self.whole.get_or_init(|| Arc::new(self.rope.to_string()))
    }

    /// Returns the length in bytes, without collecting the text.
    pub(in crate::lsp) fn len(&self) -> usize {
        self.rope.byte_len()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text { rope: Rope::from(text), whole: OnceLock::new() }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.collected()
    }
}

impl Source for Text {
    fn byte_len(&self) -> usize {
        self.rope.byte_len()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        offset <= self.rope.byte_len() && self.rope.is_char_boundary(offset)
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        if range.start > range.end || !self.is_boundary(range.start) || !self.is_boundary(range.end)
        {
            return None;
        }
        let part = self.rope.byte_slice(range);
        let mut chunks = part.chunks();
        let first = chunks.next().unwrap_or_default();
        if first.len() == part.byte_len() {
            return Some(Cow::Borrowed(first));
        }
        let mut joined = String::with_capacity(part.byte_len());
        joined.push_str(first);
        joined.extend(chunks);
        Some(Cow::Owned(joined))
    }

    fn whole(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of every range of an edited text equal those of a string.
    #[test]
    fn text_equals_a_string_after_edits() {
        let mut string = "def @f(%ä: int32) { 𝄞 }\r\n".repeat(300);
        let mut text = Text::from(string.clone());
        let mut seed = 7usize;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (seed >> 33) % below.max(1)
        };
        for round in 0..400 {
            let start = string.as_str().boundary_from(random(string.len() + 1));
            let length = if round % 40 == 0 { 3_000 } else { 9 };
            let end = string.as_str().boundary_from(start + random(length));
            let insert = ["", "x", "\r\n", "権", &"long ".repeat(900)][random(5)].to_owned();
            let range = syntax::TextRange::new((start as u32).into(), (end as u32).into());
            let edit = Edit { range, insert };
            edit.apply(&mut string);
            text.edit(&edit);
            assert_eq!(*text, *string);
            assert_eq!(text.len(), string.len());
            for _ in 0..20 {
                let from = random(string.len() + 3);
                let range = from..from + random(5_000);
                assert_eq!(text.part(range.clone()), string.part(range.clone()), "{range:?}");
                assert_eq!(text.is_boundary(from), string.is_char_boundary(from), "{from}");
            }
        }
    }
}
