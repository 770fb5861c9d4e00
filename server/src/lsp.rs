//! The language server.
//!
//! `tower-lsp` defines the types of messages and dispatches them to handlers; the transport that
//! calls it is [`transport`]. Each handler sends an event to one mailbox before its first `await`,
//! so that events keep the order of arrival. One thread, the owner, receives them. It alone changes
//! documents and the database, and gives snapshots to idle workers. Diagnostics and responses are
//! written by the stdout thread; every other message to the client passes through the outgoing
//! task, which may wait for the client.
//!
//! [`serve`] has these threads. [`embedded`] is the same server inside of another program, without them.

mod abilities;
mod backend;
mod bases;
mod code_views;
mod comparisons;
mod config;
mod convert;
mod documents;
pub(crate) mod embedded;
mod event;
mod exit;
pub(crate) mod framing;
mod handlers;
mod layered;
mod live;
mod logs;
mod markup;
mod message;
mod outgoing;
mod overlays;
mod owner;
mod published;
#[cfg(not(target_arch = "wasm32"))]
mod reductions;
mod request;
mod runs;
mod semantic_tokens;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod serve;
mod session;
mod snapshot;
mod stdout;
mod tasks;
mod transport;
mod workers;
mod workspace;

use tower_lsp::{Client, ClientSocket, LspService};

use backend::Backend;

/// Returns the service, and the socket of its client. `start` starts what the backend sends its events to.
fn service(
    mailbox: event::Mailbox,
    runs: runs::Runs,
    exits: exit::ExitSender,
    start: impl FnOnce(Client),
) -> (LspService<Backend>, ClientSocket) {
    let service = LspService::build(|client| {
        start(client);
        Backend::new(mailbox, runs, exits)
    });
    backend::with_methods(service).finish()
}
