//! The language server over standard input and output.

use std::io;

use tokio::sync::mpsc::unbounded_channel;

use super::{event, exit, outgoing, owner, runs::Runs, stdout, transport};
use crate::report::stderr;

/// Disables huge pages for the process. The allocator requests them because networks run in a tenth less time
/// (`.cargo/config.toml`); a session of hours would keep each of them for a few bytes in use.
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
pub(crate) fn serve() -> io::Result<i32> {
    disable_huge_pages();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (exits, exited) = unbounded_channel();
    let (writer, stdout_thread) = stdout::StdoutWriter::start(exits.clone())?;
    exit::watch_output(exits.clone());
    let reason = runtime.block_on(async {
        let (mailbox, inbox) = event::mailbox();
        let runs = Runs::default();
        let service = super::service(mailbox.clone(), runs.clone(), exits, |client| {
            let outgoing = outgoing::start(client, writer.clone());
            owner::start(inbox, mailbox, outgoing, runs);
        });
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
