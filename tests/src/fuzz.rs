//! Fuzz targets: functions that take any bytes, and panic if the analyzer violates a property.
//!
//! The same functions are run in three ways: by `cargo fuzz` (`tests/fuzz`), by the campaign
//! runner (`cargo run -p relay-tests --example campaign`), and for a few seconds each by
//! `tests/fuzz_bounded.rs`. Inputs are derived from [`Seeds`] by a [`Mutator`], which depends only on a
//! seed, so that an input can be reproduced from its number. A failing input is minimised by
//! [`minimise`].

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Once,
    time::Duration,
};

use cpu_time::ThreadTime;

mod calls;
pub mod dictionary;
mod edits;
mod files;
mod inputs;
mod minimise;
mod mutate;
mod run;
mod saved;
mod seeds;
mod session;
mod text;

pub use self::saved::{archive, json};
pub use calls::calls;
pub use edits::{edits, reparse};
pub use files::{npy, npz, params};
pub use minimise::minimise;
pub use mutate::{Mutator, one_token};
pub use run::{fits, run};
pub use seeds::{Kind, Seeds, failures};
pub use session::{end_session, session};
pub use text::{check, format, open, pasted};

/// The separator between the text and its edits, and between edits.
const SEPARATOR: char = '\u{1}';

/// The maximum CPU time of the thread of one input.
pub const MAX_TIME: Duration = Duration::from_secs(2);
/// The memory limit of a process that runs many inputs, in bytes.
pub const MAX_MEMORY: usize = 1 << 30;
/// The stack size of the thread that runs targets: the default of threads.
pub const STACK: usize = 2 << 20;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name, as the command line of the campaign and `cargo fuzz` spell it.
    pub name: &'static str,
    /// The kind of its inputs.
    pub kind: Kind,
    /// Runs one input. Panics if the analyzer violates a property.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "check", kind: Kind::Text, run: check },
    Target { name: "open", kind: Kind::Text, run: open },
    Target { name: "format", kind: Kind::Text, run: format },
    Target { name: "pasted", kind: Kind::Text, run: pasted },
    Target { name: "run", kind: Kind::Text, run },
    Target { name: "calls", kind: Kind::Choices, run: calls },
    Target { name: "reparse", kind: Kind::Edits, run: reparse },
    Target { name: "edits", kind: Kind::Edits, run: edits },
    Target { name: "npy", kind: Kind::Npy, run: npy },
    Target { name: "npz", kind: Kind::Npz, run: npz },
    Target { name: "params", kind: Kind::Params, run: params },
    Target { name: "json", kind: Kind::Json, run: json },
    Target { name: "archive", kind: Kind::Archive, run: archive },
    Target { name: "session", kind: Kind::Session, run: session },
];

impl Target {
    /// Returns the target called `name`.
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.iter().find(|target| target.name == name).copied()
    }

    /// Runs one input on this thread.
    ///
    /// # Errors
    /// The target panics, or takes longer than [`MAX_TIME`]. The caller must detect
    /// hangs, stack overflows and aborts, from another thread or process.
    pub fn attempt(&self, input: &[u8]) -> Result<(), Failure> {
        self.attempt_within(MAX_TIME, input)
    }

    /// Runs one input on this thread with another limit on its CPU time.
    ///
    /// # Errors
    /// As [`attempt`](Self::attempt).
    pub fn attempt_within(&self, limit: Duration, input: &[u8]) -> Result<(), Failure> {
        keep_panics_quiet();
        let start = ThreadTime::now();
        IS_RUNNING.set(true);
        let ended = catch_unwind(AssertUnwindSafe(|| (self.run)(input)));
        IS_RUNNING.set(false);
        let took = start.elapsed();
        if let Err(payload) = ended {
            let (place, message) = PANIC.take().unwrap_or_else(|| (String::new(), said(&*payload)));
            return Err(Failure { place, message });
        }
        if took > limit {
            return Err(Failure { place: SLOW.to_owned(), message: format!("it takes {took:?}") });
        }
        Ok(())
    }
}

/// The place of failures that are not panics.
const SLOW: &str = "slow";

/// The failure of a target on an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The code location of the panic, by which failures are deduplicated.
    pub place: String,
    /// The message of the panic.
    pub message: String,
}

impl Failure {
    /// A key that is equal for failures with the same likely cause: the place, and the start of the message
    /// without numbers.
    pub fn signature(&self) -> String {
        let words = self.message.chars().filter(|letter| !letter.is_ascii_digit());
        let start: String = words.take(24).filter(|letter| *letter != '\n').collect();
        format!("{} {start}", self.place)
    }
}

thread_local! {
    /// True while this thread runs a target.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    /// The place and message of the last panic of a target on this thread.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Installs a hook that records the panics of targets instead of printing them.
fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if IS_RUNNING.get() {
                let place = info.location().map(ToString::to_string).unwrap_or_default();
                PANIC.set(Some((place, said(info.payload()))));
            } else {
                before(info);
            }
        }));
    });
    PANIC.set(None);
}

/// Returns the message of a panic.
fn said(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}
