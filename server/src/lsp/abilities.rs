//! The client's capabilities, read once from `initialize`.

use syntax::Encoding;
use tower_lsp::lsp_types::{ClientCapabilities, WorkspaceClientCapabilities};

use super::{convert, markup::Markups};

/// The client's capabilities, as far as the server uses them.
#[derive(Clone, Debug)]
pub(super) struct ClientAbilities {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// True if it responds to `workspace/configuration`.
    pub(super) configuration: bool,
    /// True if the server can register for changes of settings.
    pub(super) watch_configuration: bool,
    /// True if the server can register for changes of files.
    pub(super) watch_files: bool,
    /// True if it shows progress.
    pub(super) progress: bool,
    pub(super) refreshes: Refreshes,
    /// True if it pulls diagnostics.
    pub(super) pulls: bool,
    /// True if it checks the version of published diagnostics, and may drop those of an older text.
    pub(super) checks_versions: bool,
    /// The commands that it runs when they are clicked.
    pub(super) commands: Vec<String>,
    /// True if it highlights with a grammar, too.
    pub(super) has_grammar: bool,
    pub(super) features: Features,
}

/// The requests that the client repeats when the server asks it to.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Refreshes {
    /// Inlay hints.
    pub(super) hints: bool,
    /// Semantic tokens.
    pub(super) tokens: bool,
    /// Code lenses.
    pub(super) lenses: bool,
}

/// The command with which VS Code shows the signature of the call at the cursor. A completion that inserts a
/// call has it: the parentheses are not typed, so that they trigger nothing.
pub(super) const PARAMETER_HINTS: &str = "editor.action.triggerParameterHints";

/// The features of responses that the client supports.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Features {
    /// Completions that are snippets.
    pub(super) snippets: bool,
    /// The command that shows the signature of the call at the cursor.
    pub(super) parameter_hints: bool,
    /// Details next to the labels of completions.
    pub(super) label_details: bool,
    /// Code actions whose edits are resolved when they are chosen.
    pub(super) lazy_actions: bool,
    /// Edits that the server asks it to apply.
    pub(super) applied_edits: bool,
    /// Tooltips of document links.
    pub(super) tooltips: bool,
    /// Document symbols that contain others.
    pub(super) nested_symbols: bool,
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
        let files = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let window = abilities.window.as_ref();
        ClientAbilities {
            encoding,
            configuration: workspace.and_then(|w| w.configuration).unwrap_or(false),
            watch_configuration: watched.and_then(|w| w.dynamic_registration).unwrap_or(false),
            watch_files: files.and_then(|w| w.dynamic_registration).unwrap_or(false),
            pulls: abilities.text_document.as_ref().is_some_and(|t| t.diagnostic.is_some()),
            checks_versions: abilities
                .text_document
                .as_ref()
                .and_then(|document| document.publish_diagnostics.as_ref())
                .and_then(|diagnostics| diagnostics.version_support)
                .unwrap_or(false),
            has_grammar: has_grammar(abilities),
            commands: commands(abilities.experimental.as_ref()),
            refreshes: refreshes(workspace),
            progress: window.and_then(|window| window.work_done_progress).unwrap_or(false),
            features: features(abilities),
        }
    }
}

/// Returns true if the client highlights with a grammar, too, and announces it.
fn has_grammar(client: &ClientCapabilities) -> bool {
    let document = client.text_document.as_ref();
    let tokens = document.and_then(|document| document.semantic_tokens.as_ref());
    tokens.and_then(|tokens| tokens.augments_syntax_tokens).unwrap_or(false)
}

/// Returns the commands that a client runs when they are clicked, from
/// `{"commands": {"commands": […]}}` in its experimental capabilities.
fn commands(experimental: Option<&serde_json::Value>) -> Vec<String> {
    let list = experimental.and_then(|abilities| abilities["commands"]["commands"].as_array());
    let names = list.into_iter().flatten().filter_map(|name| name.as_str());
    names.map(str::to_owned).collect()
}

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

fn features(abilities: &ClientCapabilities) -> Features {
    let document = abilities.text_document.as_ref();
    let item = document
        .and_then(|document| document.completion.as_ref())
        .and_then(|completion| completion.completion_item.as_ref());
    let lazy = document
        .and_then(|document| document.code_action.as_ref())
        .and_then(|action| action.resolve_support.as_ref());
    let workspace = abilities.workspace.as_ref();
    Features {
        snippets: item.and_then(|item| item.snippet_support).unwrap_or(false),
        parameter_hints: commands(abilities.experimental.as_ref())
            .iter()
            .any(|name| name == PARAMETER_HINTS),
        label_details: item.and_then(|item| item.label_details_support).unwrap_or(false),
        lazy_actions: lazy.is_some_and(|lazy| lazy.properties.iter().any(|name| name == "edit")),
        applied_edits: workspace.and_then(|workspace| workspace.apply_edit).unwrap_or(false),
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
