//! The methods of the protocol: each sends an event to the mailbox and waits for the reply.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tower_lsp::{
    LanguageServer, LspServiceBuilder,
    jsonrpc::{Error, Result},
    lsp_types::*,
};

#[cfg(not(target_arch = "wasm32"))]
use super::reductions;
use super::{
    abilities::ClientAbilities,
    comparisons,
    event::{Event, Mailbox},
    exit::{self, ExitSender},
    handlers::{
        self, actions, between, binding, calls, code_view, completion, definition, diagnostics,
        folding, format, health, hover, inlay, lens, linked, links, occurrences, reading,
        references, rename, saved, selection, shapes, signature, symbols, tokens, type_at,
        workspace,
    },
    request::{Request, Retry},
    runs::{self, RunRequest, Runs},
    snapshot::Snapshot,
    transport::respond_raw,
};

/// The implementation of `tower-lsp`'s interface.
pub(super) struct Backend {
    mailbox: Mailbox,
    runs: Runs,
    exits: ExitSender,
}

impl Backend {
    pub(super) fn new(mailbox: Mailbox, runs: Runs, exits: ExitSender) -> Backend {
        Backend { mailbox, runs, exits }
    }

    /// Sends a request to the owner, and returns the reply to come. The transport runs each handler
    /// up to its first `await` in the order of arrival: nothing may be awaited before this call.
    fn ask<P, R>(
        &self,
        params: P,
        retry: Retry,
        handler: fn(&Snapshot, P) -> Result<R>,
    ) -> impl Future<Output = Result<R>> + use<P, R>
    where
        P: Clone + Send + 'static,
        R: Send + 'static,
    {
        let (request, reply) = Request::new(params, retry, handler);
        self.mailbox.send(Event::Request(request));
        reply.wait()
    }

    /// `window/workDoneProgress/cancel`
    async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        self.runs.cancel(&params.token);
    }
}

/// Adds the methods that are not part of the protocol, or that `tower-lsp` does not know.
pub(super) fn with_methods(service: LspServiceBuilder<Backend>) -> LspServiceBuilder<Backend> {
    service
        .custom_method("relay/shapes", asked(Retry::Always, shapes::report))
        .custom_method("relay/whyShape", asked(Retry::Never, shapes::why))
        .custom_method("relay/typeAt", asked(Retry::Never, type_at::handle))
        .custom_method("relay/readingView", asked(Retry::Always, reading::handle))
        .custom_method("relay/readingFormat", asked(Retry::Always, reading::format))
        .custom_method("relay/shapesOfFile", asked(Retry::Always, shapes::report_file))
        .custom_method("relay/health", asked(Retry::Always, health::handle))
        .custom_method("relay/compare", asked(Retry::Always, between::compare))
        .custom_method("relay/compareValues", compared(comparisons::modules))
        .custom_method("relay/comparedTensors", compared(comparisons::tensors))
        .custom_method("relay/passErrors", compared(comparisons::passes))
        .custom_method("relay/passes", asked(Retry::Always, between::passes))
        .custom_method("relay/convertFile", asked(Retry::Always, saved::convert))
        .custom_method("relay/codeView", asked(Retry::Always, code_view::open))
        .custom_method("relay/saveCode", asked(Retry::Always, code_view::save))
        .custom_method("relay/bindParameters", asked(Retry::Always, binding::bind))
        .custom_method("relay/liftConstants", asked(Retry::Always, binding::lift))
        .custom_method("relay/moduleText", asked(Retry::Always, between::module_text))
        .custom_method("relay/history", asked(Retry::Never, between::history))
        .custom_method("window/workDoneProgress/cancel", Backend::cancel_progress)
}

/// Returns the method that a handler answers.
fn asked<P, R>(
    retry: Retry,
    handler: fn(&Snapshot, P) -> Result<R>,
) -> impl Fn(&Backend, P) -> BoxFuture<'static, Result<R>> + Copy + Send + Sync
where
    P: Clone + Send + 'static,
    R: Send + 'static,
{
    move |backend, params| Box::pin(backend.ask(params, retry, handler))
}

/// Returns the method that compares what a handler reads, on a thread of its own.
fn compared<P, T>(
    handler: fn(&Snapshot, P) -> Result<T>,
) -> impl Fn(&Backend, P) -> BoxFuture<'static, Result<T::Answer>> + Copy + Send + Sync
where
    P: Clone + Send + 'static,
    T: comparisons::Task,
{
    move |backend, params| {
        let read = backend.ask(params, Retry::Always, handler);
        let (runs, mailbox) = (backend.runs.clone(), backend.mailbox.clone());
        Box::pin(async move { comparisons::run(&runs, &mailbox, read.await?).await })
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        if let Some(process) = params.process_id {
            exit::watch_parent(process, self.exits.clone());
        }
        let abilities = &params.capabilities;
        let folders = match params.workspace_folders {
            Some(folders) => folders.into_iter().map(|folder| folder.uri).collect(),
            None => params.root_uri.into_iter().collect(),
        };
        self.mailbox.send(Event::Folders { added: folders, removed: Vec::new() });
        if let Some(options) = params.initialization_options {
            self.mailbox.send(Event::Settings(options));
        }
        let abilities = ClientAbilities::of(abilities);
        let encoding = abilities.encoding;
        self.mailbox.send(Event::Client(Arc::new(abilities)));
        Ok(InitializeResult {
            capabilities: handlers::capabilities(encoding),
            server_info: Some(ServerInfo {
                name: "relay-analyzer".into(),
                version: Some(env!("CARGO_PKG_VERSION").into()),
            }),
        })
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.mailbox.send(Event::Open(params.text_document));
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.mailbox.send(Event::Change(params.text_document, params.content_changes));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.mailbox.send(Event::Close(params.text_document.uri));
    }

    async fn did_save(&self, _: DidSaveTextDocumentParams) {}

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        // A client with `workspace/configuration` sends no settings here.
        if params.settings.is_object() {
            self.mailbox.send(Event::Settings(params.settings));
        } else {
            self.mailbox.send(Event::SettingsChanged);
        }
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        let uris = params.changes.into_iter().map(|change| change.uri).collect();
        self.mailbox.send(Event::FilesChanged(uris));
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let uris =
            |folders: Vec<WorkspaceFolder>| folders.into_iter().map(|folder| folder.uri).collect();
        let (added, removed) = (uris(params.event.added), uris(params.event.removed));
        self.mailbox.send(Event::Folders { added, removed });
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        self.ask(params, Retry::Never, hover::handle).await
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        self.ask(params, Retry::Never, definition::handle).await
    }

    async fn goto_type_definition(
        &self,
        params: request::GotoTypeDefinitionParams,
    ) -> Result<Option<request::GotoTypeDefinitionResponse>> {
        self.ask(params, Retry::Never, definition::handle_type).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        self.ask(params, Retry::Never, references::handle).await
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        self.ask(params, Retry::Always, symbols::handle).await
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        self.ask(params, Retry::Never, actions::handle).await
    }

    async fn document_highlight(
        &self,
        params: DocumentHighlightParams,
    ) -> Result<Option<Vec<DocumentHighlight>>> {
        self.ask(params, Retry::Never, occurrences::handle).await
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.ask(params, Retry::Always, folding::handle).await
    }

    async fn selection_range(
        &self,
        params: SelectionRangeParams,
    ) -> Result<Option<Vec<SelectionRange>>> {
        self.ask(params, Retry::Never, selection::handle).await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<CallHierarchyItem>>> {
        self.ask(params, Retry::Never, calls::prepare).await
    }

    async fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
        self.ask(params, Retry::Never, calls::handle_incoming).await
    }

    async fn outgoing_calls(
        &self,
        params: CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
        self.ask(params, Retry::Never, calls::handle_outgoing).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        self.ask(params, Retry::Always, lens::handle).await
    }

    async fn execute_command(
        &self,
        params: ExecuteCommandParams,
    ) -> Result<Option<serde_json::Value>> {
        if params.command == runs::RUN {
            let (request, reply) = RunRequest::new(params)?;
            self.mailbox.send(Event::Run(Box::new(request)));
            return to_json(&reply.wait().await?).map(Some);
        }
        if params.command == runs::CLEAR {
            let given = params.arguments.into_iter().next().unwrap_or_default();
            let uri = serde_json::from_value(given).map_err(|error| {
                let message = format!("`{}` takes the URI of a document: {error}", runs::CLEAR);
                Error::invalid_params(message)
            })?;
            self.mailbox.send(Event::ClearValues(uri));
            return Ok(None);
        }
        #[cfg(not(target_arch = "wasm32"))]
        if params.command == reductions::REDUCE {
            let subject = self.ask(params, Retry::Never, reductions::subject).await?;
            return to_json(&reductions::run(subject).await?).map(Some);
        }
        if params.command == actions::APPLY {
            if let Some(edit) = self.ask(params, Retry::Never, actions::apply).await? {
                self.mailbox.send(Event::Apply(edit));
            }
            return Ok(None);
        }
        let why = self.ask(params, Retry::Never, shapes::execute).await?;
        why.as_ref().map(to_json).transpose()
    }

    async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        self.ask(params, Retry::Always, links::handle).await
    }

    async fn symbol(
        &self,
        params: WorkspaceSymbolParams,
    ) -> Result<Option<Vec<SymbolInformation>>> {
        self.ask(params, Retry::Always, workspace::handle).await
    }

    async fn semantic_tokens_full(
        &self,
        params: SemanticTokensParams,
    ) -> Result<Option<SemanticTokensResult>> {
        respond_raw(self.ask(params, Retry::Always, tokens::full).await?);
        Ok(None)
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: SemanticTokensDeltaParams,
    ) -> Result<Option<SemanticTokensFullDeltaResult>> {
        match self.ask(params, Retry::Always, tokens::delta).await? {
            tokens::DeltaResponse::Delta(delta) => Ok(Some(delta.into())),
            tokens::DeltaResponse::Full(tokens) => {
                respond_raw(tokens);
                Ok(None)
            }
        }
    }

    async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokensRangeResult>> {
        self.ask(params, Retry::Never, tokens::range).await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        self.ask(params, Retry::Never, inlay::handle).await
    }

    async fn code_action_resolve(&self, params: CodeAction) -> Result<CodeAction> {
        self.ask(params, Retry::Never, actions::resolve).await
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        self.ask(params, Retry::Never, completion::handle).await
    }

    async fn completion_resolve(&self, params: CompletionItem) -> Result<CompletionItem> {
        self.ask(params, Retry::Always, completion::resolve).await
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        self.ask(params, Retry::Never, signature::handle).await
    }

    async fn prepare_rename(
        &self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResponse>> {
        self.ask(params, Retry::Never, rename::prepare).await
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        self.ask(params, Retry::Never, rename::handle).await
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        self.ask(params, Retry::Never, format::handle).await
    }

    async fn range_formatting(
        &self,
        params: DocumentRangeFormattingParams,
    ) -> Result<Option<Vec<TextEdit>>> {
        self.ask(params, Retry::Never, format::handle_range).await
    }

    async fn on_type_formatting(
        &self,
        params: DocumentOnTypeFormattingParams,
    ) -> Result<Option<Vec<TextEdit>>> {
        self.ask(params, Retry::Never, format::handle_on_type).await
    }

    async fn linked_editing_range(
        &self,
        params: LinkedEditingRangeParams,
    ) -> Result<Option<LinkedEditingRanges>> {
        self.ask(params, Retry::Never, linked::handle).await
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        self.mailbox.send(Event::Pulled);
        self.ask(params, Retry::Always, diagnostics::handle).await
    }

    async fn initialized(&self, _: InitializedParams) {
        self.mailbox.send(Event::Initialized);
    }
}

/// Converts the result of a command, whose type depends on the command.
fn to_json(result: &impl serde::Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(result).map_err(|_| Error::internal_error())
}
