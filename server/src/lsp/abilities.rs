//! What the client can do, read once from what it says at the beginning.

use syntax::Encoding;
use tower_lsp::lsp_types::{ClientCapabilities, WorkspaceClientCapabilities};

use super::{convert, handlers::tokens, markup::Markups};

/// What the client can do.
#[derive(Clone, Debug)]
pub(super) struct ClientAbilities {
    /// The units of columns.
    pub(super) encoding: Encoding,
    /// It answers `workspace/configuration`.
    pub(super) configuration: bool,
    /// It lets the server say which settings it watches.
    pub(super) watch_configuration: bool,
    /// It shows progress.
    pub(super) progress: bool,
    /// What it asks for again when it is told to.
    pub(super) refreshes: Refreshes,
    /// It asks for diagnostics.
    pub(super) pulls: bool,
    /// It looks at the version of diagnostics that it is sent, and may drop those of a text that
    /// is no more.
    pub(super) drops: bool,
    /// The commands that it runs when they are clicked.
    pub(super) commands: Vec<String>,
    /// It colours words by a grammar, too.
    pub(super) has_grammar: bool,
    /// What it can do with a text that is written for it.
    pub(super) writing: Writing,
}

/// What the client asks for again when it is told that it may have changed.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Refreshes {
    /// Inlay hints.
    pub(super) hints: bool,
    /// Semantic tokens.
    pub(super) tokens: bool,
    /// Code lenses.
    pub(super) lenses: bool,
}

/// What the client can do with a text that is written for it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Writing {
    /// It fills in snippets.
    pub(super) snippets: bool,
    /// It shows details of completions beside their labels.
    pub(super) label_details: bool,
    /// It asks for the edits of a code action when that is chosen.
    pub(super) lazy_actions: bool,
    /// It says where a link leads before it is followed.
    pub(super) tooltips: bool,
    /// It shows symbols inside of symbols.
    pub(super) nested_symbols: bool,
    /// How it shows texts.
    pub(super) markup: Markups,
}

impl ClientAbilities {
    /// Reads the capabilities of `initialize`.
    pub(super) fn of(abilities: &ClientCapabilities) -> ClientAbilities {
        let general = abilities.general.as_ref();
        let offered = general.and_then(|general| general.position_encodings.as_deref());
        let encoding = convert::negotiate(offered);
        let workspace = abilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_configuration);
        let window = abilities.window.as_ref();
        ClientAbilities {
            encoding,
            configuration: workspace.and_then(|w| w.configuration).unwrap_or(false),
            watch_configuration: watched.and_then(|w| w.dynamic_registration).unwrap_or(false),
            pulls: abilities.text_document.as_ref().is_some_and(|t| t.diagnostic.is_some()),
            drops: abilities
                .text_document
                .as_ref()
                .and_then(|document| document.publish_diagnostics.as_ref())
                .and_then(|diagnostics| diagnostics.version_support)
                .unwrap_or(false),
            has_grammar: tokens::has_grammar(abilities),
            commands: convert::commands(abilities.experimental.as_ref()),
            refreshes: refreshes(workspace),
            progress: window.and_then(|window| window.work_done_progress).unwrap_or(false),
            writing: writing(abilities),
        }
    }
}

/// What the client asks for again when it is told to.
fn refreshes(workspace: Option<&WorkspaceClientCapabilities>) -> Refreshes {
    let hints = workspace.and_then(|workspace| workspace.inlay_hint.as_ref());
    let tokens = workspace.and_then(|workspace| workspace.semantic_tokens.as_ref());
    let lenses = workspace.and_then(|workspace| workspace.code_lens.as_ref());
    Refreshes {
        hints: hints.and_then(|hints| hints.refresh_support).unwrap_or(false),
        tokens: tokens.and_then(|tokens| tokens.refresh_support).unwrap_or(false),
        lenses: lenses.and_then(|lenses| lenses.refresh_support).unwrap_or(false),
    }
}

/// What the client can do with a text that is written for it.
fn writing(abilities: &ClientCapabilities) -> Writing {
    let document = abilities.text_document.as_ref();
    let item = document
        .and_then(|document| document.completion.as_ref())
        .and_then(|completion| completion.completion_item.as_ref());
    let lazy = document
        .and_then(|document| document.code_action.as_ref())
        .and_then(|action| action.resolve_support.as_ref());
    Writing {
        snippets: item.and_then(|item| item.snippet_support).unwrap_or(false),
        label_details: item.and_then(|item| item.label_details_support).unwrap_or(false),
        lazy_actions: lazy.is_some_and(|lazy| lazy.properties.iter().any(|name| name == "edit")),
        tooltips: document
            .and_then(|document| document.document_link.as_ref())
            .and_then(|link| link.tooltip_support)
            .unwrap_or(false),
        nested_symbols: document
            .and_then(|document| document.document_symbol.as_ref())
            .and_then(|symbol| symbol.hierarchical_document_symbol_support)
            .unwrap_or(false),
        markup: Markups::of(abilities),
    }
}
