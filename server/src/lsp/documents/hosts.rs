//! Documents of other languages that Relay is embedded in.
//!
//! Each block is a [`Document`] of its own, with its file in the database. Positions are converted where
//! they enter and leave, in [`Document::offset`] and [`Document::range`], so that handlers answer about
//! blocks as they do about files of Relay.

use std::{slice, sync::Arc};

use syntax::{Encoding, LineIndex, Text, TextRange, TextSize};
use tower_lsp::lsp_types::{Position, Range, TextEdit};

use super::Document;
use crate::embedded::{Language, Mapping};

/// The blocks of a document.
#[derive(Clone)]
pub(in crate::lsp) struct Host {
    pub(in crate::lsp) language: Language,
    /// In the order of the text.
    pub(in crate::lsp) blocks: Vec<Document>,
}

/// The place of a block in its host.
pub(in crate::lsp) struct Origin {
    /// The text of the host.
    text: Text,
    lines: Arc<LineIndex>,
    mapping: Mapping,
}

impl Origin {
    pub(in crate::lsp) fn new(host: &Document, mapping: Mapping) -> Origin {
        Origin { text: host.text.clone(), lines: host.lines.clone(), mapping }
    }

    /// Returns the offset in the block of a position in the host.
    pub(in crate::lsp) fn offset(
        &self,
        position: Position,
        encoding: Encoding,
    ) -> Option<TextSize> {
        let offset = super::offset(&self.text, &self.lines, position, encoding)?;
        self.mapping.to_block(offset)
    }
}

impl Document {
    /// Returns the documents that are analysed: the blocks of a host, or the document itself.
    pub(in crate::lsp) fn parts(&self) -> &[Document] {
        match &self.host {
            Some(host) => &host.blocks,
            None => slice::from_ref(self),
        }
    }

    /// Returns the block at an offset in the host, and the offset in the block.
    pub(in crate::lsp) fn block_at(&self, offset: TextSize) -> Option<(&Document, TextSize)> {
        let blocks = &self.host.as_ref()?.blocks;
        blocks.iter().find_map(|block| {
            let offset = block.origin.as_ref()?.mapping.to_block(offset)?;
            Some((block, offset))
        })
    }

    /// Returns the line index in which this document has its positions, and a range in that text.
    pub(in crate::lsp) fn placed(&self, range: TextRange) -> (&LineIndex, TextRange) {
        match &self.origin {
            Some(origin) => (&origin.lines, origin.mapping.range_to_host(range)),
            None => (&self.lines, range),
        }
    }

    /// Returns the part of the document in a range of positions of the client; `None` if it has none.
    pub(in crate::lsp) fn part_in(&self, range: Range, encoding: Encoding) -> Option<TextRange> {
        let (text, lines) = match &self.origin {
            Some(origin) => (&origin.text, &origin.lines),
            None => (&self.text, &self.lines),
        };
        let start = super::offset(text, lines, range.start, encoding)?;
        // Editors request ranges up to the line after the last.
        let end = super::offset(text, lines, range.end, encoding).unwrap_or(lines.text_len());
        let range = TextRange::new(start.min(end), end.max(start));
        match &self.origin {
            Some(origin) => origin.mapping.part_in(range),
            None => Some(range),
        }
    }

    /// Converts an edit. Returns `None` if the host cannot write the text inside of the block.
    pub(in crate::lsp) fn text_edit(
        &self,
        range: TextRange,
        text: &str,
        encoding: Encoding,
    ) -> Option<TextEdit> {
        Some(TextEdit::new(self.range(range, encoding), self.written(text)?))
    }

    /// Returns a text as it is inserted into the document; `None` if the host cannot write it.
    pub(in crate::lsp) fn written(&self, text: &str) -> Option<String> {
        match &self.origin {
            Some(origin) => origin.mapping.written(text),
            None => Some(text.to_owned()),
        }
    }
}
