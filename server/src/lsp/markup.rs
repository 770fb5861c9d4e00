//! The formats of documentation: Markdown, or plain text for clients without Markdown.

use ide::markdown::plain;
use tower_lsp::lsp_types::{Documentation, MarkupContent, MarkupKind};

/// A format of documentation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Markup {
    #[default]
    Plain,
    Markdown,
}

/// The formats that a client takes in the response to each request.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Markups {
    /// `textDocument/hover`
    pub(super) hover: Markup,
    /// `completionItem/resolve`
    pub(super) completion: Markup,
    /// `textDocument/signatureHelp`
    pub(super) signature: Markup,
}

impl Markup {
    /// Returns the first format of a list, which the client prefers. A client without a list may show
    /// Markdown unrendered, as Emacs does in its echo area without a package for it.
    pub(super) fn preferred(formats: &[String]) -> Markup {
        match formats.first().map(String::as_str) {
            Some("markdown") => Markup::Markdown,
            _ => Markup::Plain,
        }
    }

    /// Converts Markdown to documentation. Plain text is a bare string, which every client accepts.
    pub(super) fn documentation(self, markdown: String) -> Documentation {
        match self {
            Markup::Markdown => Documentation::MarkupContent(self.content(markdown)),
            Markup::Plain => Documentation::String(plain(&markdown)),
        }
    }

    /// Converts Markdown to markup.
    pub(super) fn content(self, markdown: String) -> MarkupContent {
        match self {
            Markup::Markdown => MarkupContent { kind: MarkupKind::Markdown, value: markdown },
            Markup::Plain => MarkupContent { kind: MarkupKind::PlainText, value: plain(&markdown) },
        }
    }
}
