//! All that goes to the client without having been asked for.

use serde::Serialize;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tower_lsp::{
    Client,
    lsp_types::{
        Diagnostic, MessageType, NumberOrString, ProgressParams, ProgressParamsValue, Registration,
        Url, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams,
        WorkDoneProgressEnd, notification::Progress, request::WorkDoneProgressCreate,
    },
};

use super::{
    owner::{Event, Mailbox},
    wire::Wire,
};

/// Something for the client.
pub(super) enum Message {
    /// A line for the log.
    Log(MessageType, String),
    /// A message for the person.
    Show(MessageType, String),
    /// Something takes a while; it has ended when `done` is dropped or sent to.
    Progress { token: String, title: String, done: tokio::sync::oneshot::Receiver<()> },
    /// Asks for the settings; the answer goes to the mailbox.
    AskSettings(Mailbox),
    /// Asks to be told when settings change.
    WatchSettings,
    /// Tells a client that asks for diagnostics to ask again.
    RefreshDiagnostics,
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
                Message::Show(level, text) => client.show_message(level, text).await,
                // What waits for the client goes its own way, and is never given up: tower-lsp
                // cannot bear an answer that nobody waits for.
                Message::Progress { token, title, done } => {
                    tokio::spawn(progress(client.clone(), token, title, done));
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

async fn progress(
    client: Client,
    token: String,
    title: String,
    done: tokio::sync::oneshot::Receiver<()>,
) {
    let token = NumberOrString::String(token);
    let create = WorkDoneProgressCreateParams { token: token.clone() };
    if client.send_request::<WorkDoneProgressCreate>(create).await.is_err() {
        return;
    }
    let report = |value| ProgressParams {
        token: token.clone(),
        value: ProgressParamsValue::WorkDone(value),
    };
    let begin = WorkDoneProgress::Begin(WorkDoneProgressBegin {
        title,
        cancellable: Some(false),
        ..WorkDoneProgressBegin::default()
    });
    client.send_notification::<Progress>(report(begin)).await;
    // It has ended either way.
    let _ = done.await;
    let end = WorkDoneProgress::End(WorkDoneProgressEnd { message: None });
    client.send_notification::<Progress>(report(end)).await;
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
