//! Fuzz targets: functions that take any bytes, and panic where the analyzer breaks a promise.
//!
//! The same functions are driven in three ways: by `cargo fuzz` (`tests/fuzz`), by the campaign
//! runner (`cargo run -p relay-tests --example campaign`), and for a few seconds each by
//! `tests/fuzz_bounded.rs`. Inputs are made from [`Seeds`] by a [`Mutator`], which depends on a seed
//! alone, so that an input can be made again from its number. A failing input is made smaller by
//! [`minimise`].

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Once,
    time::Duration,
};

use cpu_time::ThreadTime;

pub mod dictionary;
mod edits;
mod files;
mod minimise;
mod mutate;
mod run;
mod saved;
mod seeds;
mod session;
mod text;

pub use self::saved::{archive, json};
pub use edits::{edits, reparse};
pub use files::{npy, npz, params};
pub use minimise::minimise;
pub use mutate::{Mutator, one_token};
pub use run::run;
pub use seeds::{Kind, Seeds, failures};
pub use session::{end_session, session};
pub use text::{check, format, open};

/// The most that one input may take, in CPU time of its thread.
pub const MOST_TIME: Duration = Duration::from_secs(2);
/// The most memory that a process which works on one input after another may hold, in bytes.
pub const MOST_MEMORY: usize = 1 << 30;
/// The stack of the thread that runs targets: what threads have unless they ask for more.
pub const STACK: usize = 2 << 20;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name, as the command line of the campaign and `cargo fuzz` spell it.
    pub name: &'static str,
    /// The form of its inputs.
    pub kind: Kind,
    /// Works on one input. Panics if the analyzer breaks a promise.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "check", kind: Kind::Text, run: check },
    Target { name: "open", kind: Kind::Text, run: open },
    Target { name: "format", kind: Kind::Text, run: format },
    Target { name: "run", kind: Kind::Text, run },
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
    /// The target called `name`.
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.iter().find(|target| target.name == name).copied()
    }

    /// Works on one input on this thread.
    ///
    /// # Errors
    /// The target panics, or takes longer than [`MOST_TIME`]. What never ends, overflows the stack
    /// or aborts the process is for the caller to notice, from another thread or process.
    pub fn attempt(&self, input: &[u8]) -> Result<(), Failure> {
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
        if took > MOST_TIME {
            return Err(Failure { place: SLOW.to_owned(), message: format!("it takes {took:?}") });
        }
        Ok(())
    }
}

/// The place of failures that are not panics.
const SLOW: &str = "slow";

/// Why a target fails on an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The line of code that panics. Failures at one place count as one.
    pub place: String,
    /// The message of the panic.
    pub message: String,
}

impl Failure {
    /// The same for failures that are likely to be one: the place, and how the message begins,
    /// without the numbers in it.
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

/// Makes panics of targets be remembered instead of printed.
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

/// The message that a panic carries.
fn said(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}
