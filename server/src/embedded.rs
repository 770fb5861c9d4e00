//! Relay within other languages: the strings that Python passes to TVM's parser, the fenced code of
//! Markdown, and both in the cells of notebooks.
//!
//! A scanner finds the blocks of a text, the *host*. Each block has the text that TVM would see and a
//! [`Mapping`] between both, so that the rest of the program needs to know neither language.

mod mapping;
mod markdown;
mod notebook;
mod placed;
mod python;

use std::path::Path;

pub(crate) use mapping::Mapping;
pub(crate) use placed::{problem_of, replaced};

/// The largest host in bytes that is searched. It is searched as a whole after every change.
pub(crate) const MAX_HOST: usize = 8 << 20;
/// The largest number of blocks of a host.
const MAX_BLOCKS: usize = 1_000;

/// A language that Relay is embedded in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    Python,
    Markdown,
    /// A file of Jupyter. Editors send its cells as documents of their own.
    Notebook,
}

impl Language {
    /// Returns the language of a file by its extension.
    pub(crate) fn of_path(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "py" | "pyi" => Some(Language::Python),
            "md" | "markdown" => Some(Language::Markdown),
            "ipynb" => Some(Language::Notebook),
            _ => None,
        }
    }

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
        // A text that is no notebook is a problem of the file, see `problem_of`.
        Language::Notebook => notebook::blocks(text).unwrap_or_default(),
    };
    blocks.truncate(MAX_BLOCKS);
    blocks
}
