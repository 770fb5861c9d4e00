//! The formats of documentation: Markdown, or plain text for clients without Markdown.

use ide::markdown::plain;
use tower_lsp::lsp_types::{ClientCapabilities, Documentation, MarkupContent, MarkupKind};

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

impl Markups {
    pub(super) fn of(client: &ClientCapabilities) -> Markups {
        let document = client.text_document.as_ref();
        let hover = document
            .and_then(|document| document.hover.as_ref())
            .and_then(|hover| hover.content_format.as_deref());
        let completion = document
            .and_then(|document| document.completion.as_ref())
            .and_then(|completion| completion.completion_item.as_ref())
            .and_then(|item| item.documentation_format.as_deref());
        let signature = document
            .and_then(|document| document.signature_help.as_ref())
            .and_then(|help| help.signature_information.as_ref())
            .and_then(|signature| signature.documentation_format.as_deref());
        Markups {
            hover: Markup::preferred(hover),
            completion: Markup::preferred(completion),
            signature: Markup::preferred(signature),
        }
    }
}

impl Markup {
    /// Returns the first format of a list, which the client prefers. A client without a list may show
    /// Markdown unrendered, as Emacs does in its echo area without a package for it.
    fn preferred(formats: Option<&[MarkupKind]>) -> Markup {
        match formats.and_then(<[MarkupKind]>::first) {
            Some(MarkupKind::Markdown) => Markup::Markdown,
            Some(MarkupKind::PlainText) | None => Markup::Plain,
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
