//! The client's capabilities, read once from `initialize`.

use serde_json::Value;
use syntax::Encoding;
use tower_lsp::lsp_types::ClientCapabilities;

use super::{
    convert,
    markup::{Markup, Markups},
};

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
    /// The commands that it runs when they are clicked, from `{"commands": {"commands": […]}}` in its
    /// experimental capabilities.
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
        // Each level of the types is optional: in JSON a capability has one path, that of the protocol.
        let all = serde_json::to_value(abilities).unwrap_or_default();
        let has = |path: &str| all.pointer(path) == Some(&Value::Bool(true));
        let names = |path: &str| -> Vec<String> {
            let names = all.pointer(path).and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let format = |path: &str| Markup::preferred(&names(path));
        let lazy = names("/textDocument/codeAction/resolveSupport/properties");
        let commands = names("/experimental/commands/commands");
        ClientAbilities {
            encoding: convert::negotiate(offered),
            configuration: has("/workspace/configuration"),
            watch_configuration: has("/workspace/didChangeConfiguration/dynamicRegistration"),
            watch_files: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            progress: has("/window/workDoneProgress"),
            refreshes: Refreshes {
                hints: has("/workspace/inlayHint/refreshSupport"),
                tokens: has("/workspace/semanticTokens/refreshSupport"),
                lenses: has("/workspace/codeLens/refreshSupport"),
            },
            pulls: all.pointer("/textDocument/diagnostic").is_some(),
            checks_versions: has("/textDocument/publishDiagnostics/versionSupport"),
            has_grammar: has("/textDocument/semanticTokens/augmentsSyntaxTokens"),
            features: Features {
                snippets: has("/textDocument/completion/completionItem/snippetSupport"),
                parameter_hints: commands.iter().any(|name| name == PARAMETER_HINTS),
                label_details: has("/textDocument/completion/completionItem/labelDetailsSupport"),
                lazy_actions: lazy.iter().any(|name| name == "edit"),
                applied_edits: has("/workspace/applyEdit"),
                tooltips: has("/textDocument/documentLink/tooltipSupport"),
                nested_symbols: has(
                    "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport",
                ),
                markup: Markups {
                    hover: format("/textDocument/hover/contentFormat"),
                    completion: format(
                        "/textDocument/completion/completionItem/documentationFormat",
                    ),
                    signature: format(
                        "/textDocument/signatureHelp/signatureInformation/documentationFormat",
                    ),
                },
            },
            commands,
        }
    }

    /// Returns true if the client runs `command` when it is clicked.
    pub(super) fn runs(&self, command: &str) -> bool {
        self.commands.iter().any(|name| name == command)
    }
}
