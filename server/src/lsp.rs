//! The language server.
//!
//! `tower-lsp` reads and writes messages and knows their types; nothing else is left to it. Every
//! handler puts what it was sent into one mailbox before it waits for anything, so that the order
//! of arrival is kept. One thread, the owner, empties the mailbox. It alone changes documents and
//! the database, and hands snapshots to workers that are idle. All that goes to the client leaves
//! through one task, diagnostics aside; one thread writes.

mod abilities;
mod backend;
mod config;
mod convert;
mod documents;
mod event;
mod farewell;
mod framing;
mod gate;
mod handlers;
mod live;
mod markup;
mod outgoing;
mod owner;
mod parcels;
mod published;
mod request;
mod runs;
mod session;
mod snapshot;
mod wire;
mod workers;
mod workspace;

use farewell::Farewell;
use tokio::sync::mpsc::unbounded_channel;
use tower_lsp::{LspService, Server};

use crate::cli::{Failure, complain};

/// How many messages may be under way at once.
///
/// Each request that waits for its answer holds one place, and so does `$/cancelRequest`; with
/// tower-lsp's default of four, four slow requests shut out everything behind them.
const CONCURRENCY: usize = 256;

/// How long answers that are under way may take after `exit`.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(200);

/// The allocator asks for huge pages, which save a command that ends soon a third of its time. A
/// session of hours would keep each of them for the few bytes of it that are in use.
fn keep_to_small_pages() {
    // Where the system will not, the session keeps 20 MiB more.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Serves a client over standard input and output until it says `exit` or is gone: closes either,
/// or ends as a process. Gives the exit code that the protocol asks for.
///
/// The process has to end with it: a thread may still wait for a line of standard input that never
/// comes.
pub(crate) fn serve() -> Result<i32, Failure> {
    keep_to_small_pages();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (ends, mut ended) = unbounded_channel();
    let (wire, writing) = wire::start(ends.clone())?;
    farewell::watch_output(ends.clone());
    let farewell = runtime.block_on(async {
        let (mailbox, inbox) = event::mailbox();
        let parcels = parcels::Parcels::default();
        let pen = wire::Pen::new(wire.clone(), parcels.clone());
        let for_outgoing = wire.clone();
        let (service, socket) = LspService::build(|client| {
            let outgoing = outgoing::start(client, for_outgoing);
            let runs = runs::Runs::default();
            owner::start(inbox, mailbox.clone(), outgoing, runs.clone(), parcels);
            backend::Backend::new(mailbox.clone(), runs, ends)
        })
        .custom_method("relay/shapes", backend::Backend::shapes)
        .custom_method("relay/whyShape", backend::Backend::why_shape)
        .custom_method("relay/typeAt", backend::Backend::type_at)
        .custom_method("relay/readingView", backend::Backend::reading_view)
        .custom_method("relay/readingFormat", backend::Backend::reading_format)
        .custom_method("relay/shapesOfFile", backend::Backend::shapes_of_file)
        .custom_method("relay/health", backend::Backend::health)
        .custom_method("relay/compare", backend::Backend::compare)
        .custom_method("relay/passes", backend::Backend::passes)
        .custom_method("relay/moduleText", backend::Backend::module_text)
        .custom_method("relay/history", backend::Backend::history)
        .custom_method("window/workDoneProgress/cancel", backend::Backend::cancel_progress)
        .finish();
        let (gate, exited) = gate::Gate::new(service);
        let (pipe, input) = tokio::io::duplex(1 << 20);
        let stdin = tokio::io::BufReader::with_capacity(1 << 16, tokio::io::stdin());
        let mut forward = tokio::spawn(framing::forward(stdin, pipe));
        let server = Server::new(input, pen, socket).concurrency_level(CONCURRENCY).serve(gate);
        tokio::pin!(server);
        let farewell = tokio::select! {
            // A client may say `exit` and close the pipe at once.
            biased;
            farewell = exited => farewell,
            Some(farewell) = ended.recv() => farewell,
            // After the end of the input the server finishes what it has read.
            Ok(Ok(framing::End::Oversized)) = &mut forward => Farewell::Oversized,
            () = &mut server => Farewell::Gone,
        };
        // Nothing more is read; what has been answered still goes out.
        forward.abort();
        if farewell.is_heard() {
            let _ = tokio::time::timeout(LAST_WORDS, server).await;
        }
        farewell
    });
    let code = farewell.code();
    // Dropping the runtime would wait for that thread.
    runtime.shutdown_background();
    writing.finish(&wire, LAST_WORDS);
    if let Some(reason) = farewell.reason() {
        complain(&reason);
    }
    Ok(code)
}
