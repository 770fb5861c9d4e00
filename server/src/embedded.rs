//! Relay within other languages: the strings that Python passes to TVM's parser, and the fenced code of
//! Markdown.
//!
//! A scanner finds the blocks of a text, the *host*. Each block has the text that TVM would see and a
//! [`Mapping`] between both, so that the rest of the program needs to know neither language.

mod mapping;
mod markdown;
mod python;

pub(crate) use mapping::Mapping;

/// The largest host in bytes that is searched. It is searched as a whole after every change.
pub(crate) const MAX_HOST: usize = 8 << 20;
/// The largest number of blocks of a host.
const MAX_BLOCKS: usize = 1_000;

/// A language that Relay is embedded in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    Python,
    Markdown,
}

impl Language {
    /// Returns the language that editors call `id`.
    pub(crate) fn from_id(id: &str) -> Option<Language> {
        match id {
            "python" => Some(Language::Python),
            "markdown" => Some(Language::Markdown),
            _ => None,
        }
    }
}

/// A text of Relay within a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    /// The text as TVM sees it, without escapes and indentation.
    pub(crate) text: String,
    pub(crate) mapping: Mapping,
}

/// Returns the blocks of a host in order. They do not overlap.
pub(crate) fn blocks(text: &str, language: Language) -> Vec<Block> {
    if text.len() > MAX_HOST {
        return Vec::new();
    }
    let mut blocks = match language {
        Language::Python => python::blocks(text),
        Language::Markdown => markdown::blocks(text),
    };
    blocks.truncate(MAX_BLOCKS);
    blocks
}
