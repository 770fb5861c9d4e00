//! Texts that are edited.

use std::{
    borrow::Cow,
    fmt,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

use crate::{Edit, Source};
use crop::Rope;

/// A text that is edited. Clones share it.
///
/// After the first edit it is a rope: an edit in one string would move half of it, and copy all of it
/// while a request still reads the previous one. As a `str` it is collected into one string, once for
/// each version: most requests read a few lines, or the tree alone.
#[derive(Clone, Default)]
pub struct Text {
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// A text that was not edited.
    String(Arc<String>),
    /// An edited text, and the string of this version.
    Rope(Rope, Arc<OnceLock<Arc<String>>>),
}

impl Default for Form {
    fn default() -> Form {
        Form::String(Arc::default())
    }
}

impl Text {
    /// Replaces a range, which must be inside the text, on character boundaries.
    pub fn edit(&mut self, edit: &Edit) {
        let mut rope = match std::mem::take(&mut self.form) {
            Form::String(text) => Rope::from(text.as_str()),
            Form::Rope(rope, _) => rope,
        };
        rope.replace(Range::<usize>::from(edit.range), &edit.insert);
        self.form = Form::Rope(rope, Arc::default());
    }

    /// Returns the text as one string.
    pub fn collected(&self) -> &Arc<String> {
        match &self.form {
            Form::String(text) => text,
            Form::Rope(rope, whole) => whole.get_or_init(|| Arc::new(rope.to_string())),
        }
    }

    /// Returns true if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the length in bytes, without collecting the text.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::String(text) => text.len(),
            Form::Rope(rope, _) => rope.byte_len(),
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text of {} bytes", self.len())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text { form: Form::String(Arc::new(text)) }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        text.to_owned().into()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Text {
        text.clone().into()
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
        self.len()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        match &self.form {
            Form::String(text) => text.is_char_boundary(offset),
            Form::Rope(rope, _) => offset <= rope.byte_len() && rope.is_char_boundary(offset),
        }
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        let rope = match &self.form {
            Form::String(text) => return text.part(range),
            Form::Rope(rope, whole) => match whole.get() {
                Some(text) => return text.part(range),
                None => rope,
            },
        };
        if range.start > range.end || !self.is_boundary(range.start) || !self.is_boundary(range.end)
        {
            return None;
        }
        let part = rope.byte_slice(range);
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
            let range = crate::TextRange::new((start as u32).into(), (end as u32).into());
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
