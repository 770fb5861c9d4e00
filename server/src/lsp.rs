//! The language server.
//!
//! `tower-lsp` defines the types of messages and dispatches them to handlers; the transport that
//! calls it is [`transport`]. Each handler sends an event to one mailbox before its first `await`,
//! so that events keep the order of arrival. One thread, the owner, receives them. It alone changes
//! documents and the database, and gives snapshots to idle workers. Diagnostics and responses are
//! written by the stdout thread; every other message to the client passes through the outgoing
//! task, which may wait for the client.

mod abilities;
mod backend;
mod bases;
mod code_views;
mod config;
mod convert;
mod documents;
mod event;
mod exit;
mod framing;
mod handlers;
mod live;
mod logs;
mod markup;
mod outgoing;
mod owner;
mod published;
mod request;
mod runs;
mod semantic_tokens;
mod session;
mod snapshot;
mod stdout;
mod transport;
mod workers;
mod workspace;

use tokio::sync::mpsc::unbounded_channel;
use tower_lsp::LspService;

use crate::report::stderr;
use backend::Backend;

/// Disables huge pages for the process. The allocator requests them because they make a short
/// command a third faster; a session of hours would keep each of them for a few bytes in use.
fn disable_huge_pages() {
    // If the system refuses, the session uses 20 MiB more.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Serves a client over standard input and output until it sends `exit`, closes either stream or
/// ends. Returns the exit code that the protocol requires.
///
/// The process must end afterwards: a thread may still block on standard input.
///
/// # Errors
/// A thread or the runtime cannot be started.
pub(crate) fn serve() -> std::io::Result<i32> {
    disable_huge_pages();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (exits, exited) = unbounded_channel();
    let (writer, stdout_thread) = stdout::StdoutWriter::start(exits.clone())?;
    exit::watch_output(exits.clone());
    let reason = runtime.block_on(async {
        let (mailbox, inbox) = event::mailbox();
        let service = LspService::build(|client| {
            let outgoing = outgoing::start(client, writer.clone());
            let runs = runs::Runs::default();
            owner::start(inbox, mailbox.clone(), outgoing, runs.clone());
            Backend::new(mailbox, runs, exits)
        })
        .custom_method("relay/shapes", Backend::shapes)
        .custom_method("relay/whyShape", Backend::why_shape)
        .custom_method("relay/typeAt", Backend::type_at)
        .custom_method("relay/readingView", Backend::reading_view)
        .custom_method("relay/readingFormat", Backend::reading_format)
        .custom_method("relay/shapesOfFile", Backend::shapes_of_file)
        .custom_method("relay/health", Backend::health)
        .custom_method("relay/compare", Backend::compare)
        .custom_method("relay/passes", Backend::passes)
        .custom_method("relay/convertFile", Backend::convert_file)
        .custom_method("relay/codeView", Backend::code_view)
        .custom_method("relay/saveCode", Backend::save_code)
        .custom_method("relay/bindParameters", Backend::bind_parameters)
        .custom_method("relay/liftConstants", Backend::lift_constants)
        .custom_method("relay/moduleText", Backend::module_text)
        .custom_method("relay/history", Backend::history)
        .custom_method("window/workDoneProgress/cancel", Backend::cancel_progress)
        .finish();
        let input = tokio::io::BufReader::with_capacity(1 << 16, tokio::io::stdin());
        transport::serve(input, service, writer.clone(), exited).await
    });
    // Dropping the runtime would wait for the thread that reads standard input.
    runtime.shutdown_background();
    stdout_thread.finish(&writer, transport::EXIT_GRACE);
    if let Some(message) = reason.message() {
        stderr::error(&message);
    }
    Ok(reason.code())
}
