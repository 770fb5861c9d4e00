//! All that goes to the client without having been asked for.

use std::time::Duration;

use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::{
    Client,
    lsp_types::{
        Diagnostic, MessageType, NumberOrString, ProgressParams, ProgressParamsValue, Registration,
        Url, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams,
        WorkDoneProgressEnd, WorkDoneProgressReport, notification, request::WorkDoneProgressCreate,
    },
};

use super::{
    event::{Event, Mailbox},
    wire::Wire,
};
use crate::report::escape;

/// Something for the client.
pub(super) enum Message {
    /// A line for the log.
    Log(MessageType, String),
    /// A message for the person.
    Show(MessageType, String),
    /// Something takes a while.
    Progress(Progress),
    /// Asks for the settings; the answer goes to the mailbox.
    AskSettings(Mailbox),
    /// Asks to be told when settings change.
    WatchSettings,
    /// Tells a client that shows inlay hints to ask again.
    RefreshHints,
    /// Tells a client that shows semantic tokens to ask again.
    RefreshTokens,
    /// Tells a client that shows code lenses to ask again.
    RefreshLenses,
    /// Tells a client that asks for diagnostics to ask again.
    RefreshDiagnostics,
}

/// Something that takes a while.
pub(super) struct Progress {
    /// What the client calls it.
    pub(super) token: NumberOrString,
    /// What takes a while.
    pub(super) title: String,
    /// Whether the person may end it.
    pub(super) cancellable: bool,
    /// The client does not know the token yet.
    pub(super) create: bool,
    /// What has ended by then is not spoken of.
    pub(super) delay: Duration,
    /// How far it is. It has ended when the other end is dropped.
    pub(super) messages: UnboundedReceiver<String>,
}

/// Sends to the client, in order.
#[derive(Clone)]
pub(super) struct Outgoing {
    messages: UnboundedSender<Message>,
    wire: Wire,
}

impl Outgoing {
    pub(super) fn send(&self, message: Message) {
        // The task ends with the process only.
        let _ = self.messages.send(message);
    }

    /// What is wrong with a document.
    pub(super) fn diagnostics(&self, uri: &Url, items: &[Diagnostic], version: Option<i32>) {
        /// `PublishDiagnosticsParams`, borrowed.
        #[derive(Serialize)]
        struct Params<'p> {
            uri: &'p Url,
            #[serde(skip_serializing_if = "Option::is_none")]
            version: Option<i32>,
            diagnostics: &'p [Diagnostic],
        }
        let params = Params { uri, version, diagnostics: items };
        self.wire.notify("textDocument/publishDiagnostics", &params);
    }
}

/// Starts the task through which everything leaves.
pub(super) fn start(client: Client, wire: Wire) -> Outgoing {
    let (sender, mut messages) = unbounded_channel();
    tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            match message {
                Message::Log(level, text) => client.log_message(level, text).await,
                Message::Show(level, text) => {
                    client.show_message(level, escape::notification(&text)).await;
                }
                // What waits for the client goes its own way, and is never given up: tower-lsp
                // cannot bear an answer that nobody waits for.
                Message::Progress(about) => {
                    tokio::spawn(progress(client.clone(), about));
                }
                Message::RefreshHints => {
                    let client = client.clone();
                    tokio::spawn(async move { client.inlay_hint_refresh().await });
                }
                Message::RefreshTokens => {
                    let client = client.clone();
                    tokio::spawn(async move { client.semantic_tokens_refresh().await });
                }
                Message::RefreshLenses => {
                    let client = client.clone();
                    tokio::spawn(async move { client.code_lens_refresh().await });
                }
                Message::AskSettings(mailbox) => {
                    tokio::spawn(ask_settings(client.clone(), mailbox));
                }
                Message::WatchSettings => {
                    tokio::spawn(watch_settings(client.clone()));
                }
                Message::RefreshDiagnostics => {
                    let client = client.clone();
                    tokio::spawn(async move { client.workspace_diagnostic_refresh().await });
                }
            }
        }
    });
    Outgoing { messages: sender, wire }
}

async fn progress(client: Client, about: Progress) {
    let Progress { token, title, cancellable, create, delay, mut messages } = about;
    let mut message = None;
    let over = tokio::time::sleep(delay);
    tokio::pin!(over);
    while !delay.is_zero() {
        tokio::select! {
            () = &mut over => break,
            more = messages.recv() => match more {
                Some(more) => message = Some(more),
                None => return,
            },
        }
    }
    if create {
        let create = WorkDoneProgressCreateParams { token: token.clone() };
        if client.send_request::<WorkDoneProgressCreate>(create).await.is_err() {
            return;
        }
    }
    let report = |value| ProgressParams {
        token: token.clone(),
        value: ProgressParamsValue::WorkDone(value),
    };
    let begin = WorkDoneProgress::Begin(WorkDoneProgressBegin {
        title,
        cancellable: Some(cancellable),
        message,
        ..WorkDoneProgressBegin::default()
    });
    client.send_notification::<notification::Progress>(report(begin)).await;
    while let Some(message) = messages.recv().await {
        let step = WorkDoneProgress::Report(WorkDoneProgressReport {
            cancellable: Some(cancellable),
            message: Some(message),
            percentage: None,
        });
        client.send_notification::<notification::Progress>(report(step)).await;
    }
    let end = WorkDoneProgress::End(WorkDoneProgressEnd { message: None });
    client.send_notification::<notification::Progress>(report(end)).await;
}

async fn ask_settings(client: Client, mailbox: Mailbox) {
    use tower_lsp::lsp_types::ConfigurationItem;
    let item = ConfigurationItem { scope_uri: None, section: Some("relay".into()) };
    if let Ok(answer) = client.configuration(vec![item]).await
        && let Some(settings) = answer.into_iter().next().filter(|settings| !settings.is_null())
    {
        mailbox.send(Event::Settings(settings));
    }
}

async fn watch_settings(client: Client) {
    let registration = Registration {
        id: "relay-settings".into(),
        method: "workspace/didChangeConfiguration".into(),
        register_options: Some(serde_json::json!({ "section": "relay" })),
    };
    // A client that refuses sends what it likes.
    let _ = client.register_capability(vec![registration]).await;
}
