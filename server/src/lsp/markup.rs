//! Texts that are shown to a person: as Markdown, or plain for clients that show no Markdown.

use ide::markdown::plain;
use tower_lsp::lsp_types::{ClientCapabilities, Documentation, MarkupContent, MarkupKind};

/// How a client shows a text.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Markup {
    /// As it is.
    #[default]
    Plain,
    /// Laid out.
    Markdown,
}

/// How a client shows the texts of each request.
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
    /// What a client lists first, it prefers; one that lists nothing may show the text as it is,
    /// as Emacs does in its echo area where it has no package for Markdown.
    fn preferred(formats: Option<&[MarkupKind]>) -> Markup {
        match formats.and_then(<[MarkupKind]>::first) {
            Some(MarkupKind::Markdown) => Markup::Markdown,
            Some(MarkupKind::PlainText) | None => Markup::Plain,
        }
    }

    /// A text in Markdown, as documentation of something. Plain text is a bare string, which every
    /// client takes, whatever it says of formats.
    pub(super) fn documentation(self, markdown: String) -> Documentation {
        match self {
            Markup::Markdown => Documentation::MarkupContent(self.content(markdown)),
            Markup::Plain => Documentation::String(plain(&markdown)),
        }
    }

    /// A text in Markdown, as the client shows it.
    pub(super) fn content(self, markdown: String) -> MarkupContent {
        match self {
            Markup::Markdown => MarkupContent { kind: MarkupKind::Markdown, value: markdown },
            Markup::Plain => MarkupContent { kind: MarkupKind::PlainText, value: plain(&markdown) },
        }
    }
}
