//! Requests and notifications of the server to the client.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::{
    Client,
    lsp_types::{
        ConfigurationItem, Diagnostic, MessageType, NumberOrString, ProgressParams,
        ProgressParamsValue, Registration, RegistrationParams, Url, WorkDoneProgress,
        WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd,
        WorkDoneProgressReport, notification,
        request::{RegisterCapability, Request, WorkDoneProgressCreate},
    },
};

use super::{stdout::StdoutWriter, tasks};
use crate::{allocator, report::escape};

/// A message to the client.
pub(super) enum Message {
    /// A line for the log.
    Log(MessageType, String),
    /// A message for the user.
    Show(MessageType, String),
    /// A progress report.
    Progress(Progress),
    /// A request for the settings, passed to the function unless the client has none.
    RequestSettings(Box<dyn FnOnce(Value) + Send>),
    /// A request whose response is of no use; see [`Message::request`].
    Request(Box<dyn FnOnce(Client) -> BoxFuture<'static, ()> + Send>),
    /// No message: the task, which runs on the thread of the transport, takes back the memory that
    /// other threads have freed.
    Collect,
}

impl Message {
    /// Returns a request whose response is of no use, such as one to pull inlay hints again.
    pub(super) fn request<R>(params: R::Params) -> Message
    where
        R: Request<Params: Send, Result: Send> + 'static,
    {
        Message::Request(Box::new(|client| {
            Box::pin(async move { drop(client.send_request::<R>(params).await) })
        }))
    }

    /// Returns a registration for changes of settings.
    pub(super) fn watch_settings() -> Message {
        let options = json!({ "section": "relay" });
        Message::watch("relay-settings", "workspace/didChangeConfiguration", options)
    }

    /// Returns a registration for changes of `relay.toml`.
    pub(super) fn watch_files() -> Message {
        let pattern = format!("**/{}", crate::project::FILE_NAME);
        let options = json!({ "watchers": [{ "globPattern": pattern }] });
        Message::watch("relay-files", "workspace/didChangeWatchedFiles", options)
    }

    /// Returns a registration. A client that refuses it may still send changes unregistered.
    fn watch(id: &str, method: &str, options: Value) -> Message {
        let registration = Registration {
            id: id.to_owned(),
            method: method.to_owned(),
            register_options: Some(options),
        };
        Message::request::<RegisterCapability>(RegistrationParams {
            registrations: vec![registration],
        })
    }
}

/// The progress of an operation.
pub(super) struct Progress {
    pub(super) token: NumberOrString,
    /// The name of the operation.
    pub(super) title: String,
    /// True if the user may cancel the operation.
    pub(super) cancellable: bool,
    /// True if the token was created by the server, and must be registered with the client.
    pub(super) create: bool,
    /// The delay before the progress is shown; an operation that ends earlier is not reported.
    pub(super) delay: Duration,
    /// The steps. The progress ends when the sender is dropped.
    pub(super) messages: UnboundedReceiver<String>,
}

/// A handle for sending messages to the client, in order.
#[derive(Clone)]
pub(super) struct Outbox {
    messages: UnboundedSender<Message>,
    writer: StdoutWriter,
}

impl Outbox {
    pub(super) fn send(&self, message: Message) {
        // The task receives until the process ends.
        let _ = self.messages.send(message);
    }

    /// Publishes the diagnostics of a document, in place of those that the client has not read yet.
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
        self.writer.publish(uri, &params);
    }
}

/// Starts the task that sends messages.
pub(super) fn start(client: Client, writer: StdoutWriter) -> Outbox {
    let (sender, mut messages) = unbounded_channel();
    tasks::spawn(async move {
        while let Some(message) = messages.recv().await {
            match message {
                Message::Log(level, text) => client.log_message(level, text).await,
                Message::Show(level, text) => {
                    client.show_message(level, escape::notification(&text)).await;
                }
                // Requests that wait for a response run as tasks that are never cancelled:
                // tower-lsp panics on a response whose receiver was dropped.
                Message::Progress(progress) => {
                    tasks::spawn(report(client.clone(), progress));
                }
                Message::RequestSettings(receive) => {
                    tasks::spawn(request_settings(client.clone(), receive));
                }
                Message::Request(request) => tasks::spawn(request(client.clone())),
                Message::Collect => allocator::collect(),
            }
        }
    });
    Outbox { messages: sender, writer }
}

/// Reports the progress of an operation until it ends.
async fn report(client: Client, progress: Progress) {
    if tasks::is_embedded() {
        // The operation is over before this task is polled.
        return;
    }
    let Progress { token, title, cancellable, create, delay, mut messages } = progress;
    let mut message = None;
    let delayed = tokio::time::sleep(delay);
    tokio::pin!(delayed);
    while !delay.is_zero() {
        tokio::select! {
            () = &mut delayed => break,
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
    let params = |value| ProgressParams {
        token: token.clone(),
        value: ProgressParamsValue::WorkDone(value),
    };
    let begin = WorkDoneProgress::Begin(WorkDoneProgressBegin {
        title,
        cancellable: Some(cancellable),
        message,
        ..WorkDoneProgressBegin::default()
    });
    client.send_notification::<notification::Progress>(params(begin)).await;
    while let Some(message) = messages.recv().await {
        let step = WorkDoneProgress::Report(WorkDoneProgressReport {
            cancellable: Some(cancellable),
            message: Some(message),
            percentage: None,
        });
        client.send_notification::<notification::Progress>(params(step)).await;
    }
    let end = WorkDoneProgress::End(WorkDoneProgressEnd { message: None });
    client.send_notification::<notification::Progress>(params(end)).await;
}

async fn request_settings(client: Client, receive: Box<dyn FnOnce(Value) + Send>) {
    let item = ConfigurationItem { scope_uri: None, section: Some("relay".into()) };
    if let Ok(answer) = client.configuration(vec![item]).await
        && let Some(settings) = answer.into_iter().next().filter(|settings| !settings.is_null())
    {
        receive(settings);
    }
}
