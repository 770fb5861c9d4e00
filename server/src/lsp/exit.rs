//! The ways in which a session ends, and threads that detect the ends that no message announces.

#[cfg(unix)]
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use super::framing;

/// The reason that a session ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExitReason {
    /// `shutdown`, then `exit`.
    AfterShutdown,
    /// `exit` without `shutdown`.
    WithoutShutdown,
    /// The client closed standard input.
    InputClosed,
    /// The client closed standard output.
    OutputClosed,
    /// The client's process ended.
    Orphaned,
    /// A header announced a message longer than [`framing::MAX_BODY`].
    Oversized,
}

impl ExitReason {
    /// Returns the exit code: the protocol requires 0 after `shutdown`, and 1 without.
    pub(super) fn code(self) -> i32 {
        match self {
            ExitReason::AfterShutdown | ExitReason::InputClosed => 0,
            ExitReason::WithoutShutdown
            | ExitReason::OutputClosed
            | ExitReason::Orphaned
            | ExitReason::Oversized => 1,
        }
    }

    /// Returns the message for standard error if the client did not request the end.
    pub(super) fn message(self) -> Option<String> {
        match self {
            ExitReason::AfterShutdown | ExitReason::WithoutShutdown | ExitReason::InputClosed => {
                None
            }
            ExitReason::OutputClosed => Some("standard output was closed: the session ends".into()),
            ExitReason::Orphaned => {
                Some("the client process named by `initialize` has ended: the session ends".into())
            }
            ExitReason::Oversized => Some(format!(
                "a message longer than {} bytes was announced: the session ends",
                framing::MAX_BODY
            )),
        }
    }

    /// Returns true if the client may still read responses.
    pub(super) fn client_reads(self) -> bool {
        use ExitReason::{AfterShutdown, Oversized, WithoutShutdown};
        matches!(self, AfterShutdown | WithoutShutdown | Oversized)
    }
}

/// Reports the end of the session.
pub(super) type ExitSender = UnboundedSender<ExitReason>;

/// Starts a thread that is never joined.
#[cfg(unix)]
fn start(name: &str, watch: impl FnOnce() + Send + 'static) {
    // If it cannot start, the session still ends when standard input closes or a write fails.
    let _ = thread::Builder::new().name(name.into()).stack_size(256 << 10).spawn(watch);
}

/// Reports when the client closes standard output, also while nothing is written.
#[cfg(unix)]
pub(super) fn watch_output(exits: ExitSender) {
    use rustix::{
        event::{PollFd, PollFlags, poll},
        io::retry_on_intr,
    };
    start("output", move || {
        let output = std::io::stdout();
        // `poll` reports errors and hang-ups for any set of flags.
        let mut fds = [PollFd::new(&output, PollFlags::empty())];
        if retry_on_intr(|| poll(&mut fds, None)).is_err() {
            return;
        }
        // Fails if the session has ended already.
        let _ = exits.send(ExitReason::OutputClosed);
    });
}

/// Does nothing: on other systems the next write fails.
#[cfg(not(unix))]
pub(super) fn watch_output(_: ExitSender) {}

/// Reports when the process with this identifier ends or does not exist.
#[cfg(unix)]
pub(super) fn watch_parent(process: u32, exits: ExitSender) {
    let Some(pid) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else {
        return;
    };
    start("parent", move || {
        wait_for(pid);
        // Fails if the session has ended already.
        let _ = exits.send(ExitReason::Orphaned);
    });
}

/// Does nothing: on other systems standard input closes when the client ends.
#[cfg(not(unix))]
pub(super) fn watch_parent(_: u32, _: ExitSender) {}

/// Waits until a process has ended.
#[cfg(unix)]
fn wait_for(pid: rustix::process::Pid) {
    #[cfg(target_os = "linux")]
    {
        use rustix::{
            event::{PollFd, PollFlags, poll},
            io::{Errno, retry_on_intr},
            process::{PidfdFlags, pidfd_open},
        };
        // A process that reuses the identifier is not mistaken for the client, unlike with `kill`
        // below, and a zombie counts as ended.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => {
                let mut fds = [PollFd::new(&process, PollFlags::IN)];
                if retry_on_intr(|| poll(&mut fds, None)).is_ok() {
                    return;
                }
            }
            Err(Errno::SRCH) => return,
            // Not supported before Linux 5.3, or not permitted.
            Err(_) => {}
        }
    }
    // `kill` is not permitted for a process of another user, which still exists.
    while rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH) {
        thread::sleep(std::time::Duration::from_secs(1));
    }
}
