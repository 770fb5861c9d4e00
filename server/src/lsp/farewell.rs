//! The ends of a session, and the threads that watch for those that no message tells of.

#[cfg(unix)]
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use super::framing;

/// How a session ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Farewell {
    /// `shutdown`, then `exit`.
    Proper,
    /// `exit` alone.
    Abrupt,
    /// The client closed standard input.
    Gone,
    /// The client closed standard output.
    Unread,
    /// The process that started the server has ended.
    Orphaned,
    /// A message was announced that is longer than any that is taken.
    Oversized,
}

impl Farewell {
    /// Returns the exit code: the protocol asks for 0 after `shutdown`, and for 1 without.
    pub(super) fn code(self) -> i32 {
        match self {
            Farewell::Proper | Farewell::Gone => 0,
            Farewell::Abrupt | Farewell::Unread | Farewell::Orphaned | Farewell::Oversized => 1,
        }
    }

    /// Returns what is written to standard error, where the client did not ask for the end.
    pub(super) fn reason(self) -> Option<String> {
        match self {
            Farewell::Proper | Farewell::Abrupt | Farewell::Gone => None,
            Farewell::Unread => Some("nobody reads standard output: the session ends".into()),
            Farewell::Orphaned => {
                Some("the process that `initialize` names has ended: the session ends".into())
            }
            Farewell::Oversized => Some(format!(
                "a message was announced that is longer than {} bytes: the session ends",
                framing::MAX_BODY
            )),
        }
    }

    /// Whether answers that are under way can still reach the client.
    pub(super) fn is_heard(self) -> bool {
        !matches!(self, Farewell::Gone | Farewell::Unread | Farewell::Orphaned)
    }
}

/// Where the ends of a session are told.
pub(super) type Ends = UnboundedSender<Farewell>;

/// Starts a thread that lasts as long as the process, or until what it watches for.
#[cfg(unix)]
fn start(name: &str, watch: impl FnOnce() + Send + 'static) {
    // Without it the session still ends with standard input, or with the next message written.
    let _ = thread::Builder::new().name(name.into()).stack_size(256 << 10).spawn(watch);
}

/// Tells when nobody reads standard output any more, also while nothing is written.
#[cfg(unix)]
pub(super) fn watch_output(ends: Ends) {
    use rustix::event::{PollFd, PollFlags, poll};
    start("output", move || {
        let output = std::io::stdout();
        loop {
            // Errors and hang-ups are told without being asked for.
            let mut fds = [PollFd::new(&output, PollFlags::empty())];
            match poll(&mut fds, None) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
        // The session may have ended by other means.
        let _ = ends.send(Farewell::Unread);
    });
}

/// Does nothing: here the next message that is written tells.
#[cfg(not(unix))]
pub(super) fn watch_output(_: Ends) {}

/// Tells when the process with this number ends, or that there is none.
#[cfg(unix)]
pub(super) fn watch_parent(process: u32, ends: Ends) {
    let Some(pid) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else {
        return;
    };
    start("parent", move || {
        wait_for(pid);
        // The session may have ended by other means.
        let _ = ends.send(Farewell::Orphaned);
    });
}

/// Does nothing: here standard input is closed when the other end goes.
#[cfg(not(unix))]
pub(super) fn watch_parent(_: u32, _: Ends) {}

/// Waits until a process has ended.
#[cfg(unix)]
fn wait_for(pid: rustix::process::Pid) {
    #[cfg(target_os = "linux")]
    {
        use rustix::{
            event::{PollFd, PollFlags, poll},
            io::Errno,
            process::{PidfdFlags, pidfd_open},
        };
        // Another process that is given the same number later is not taken for it, and one that
        // has ended counts as gone, though nobody has asked how.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => loop {
                match poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {
                    Ok(_) => return,
                    Err(Errno::INTR) => {}
                    Err(_) => break,
                }
            },
            Err(Errno::SRCH) => return,
            // Older than Linux 5.3, or forbidden.
            Err(_) => {}
        }
    }
    // A process of somebody else may not be asked, and is there.
    while rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH) {
        thread::sleep(std::time::Duration::from_secs(1));
    }
}
