//! Catches panics. Each of them is a bug in this program; it affects only the task in which it occurs, and
//! is reported once, with instructions for a bug report.

use std::{
    cell::{Cell, RefCell},
    fmt,
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind},
    time::Duration,
};

use semantics::{Cancelled, Code, Database, Def, DefKind, Diagnostic, SourceFile, View, all_defs};
use syntax::TextRange;

use crate::report::{escape, stderr};

/// The number of retries of work that waited for a query in which another thread panicked. On a
/// retry this thread usually runs the query itself and sees the panic, unless a third thread is
/// first; the delay grows with each retry.
const TRIES: u32 = 20;
/// The longest panic message that is quoted, in characters. It may contain text of the document.
const LONGEST_TEXT: usize = 200;

/// The site of a panic in another thread.
const ELSEWHERE: &str = "another thread";

thread_local! {
    /// The number of nested calls of [`guarded`] on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The last panic of this thread within such a call.
    static LAST: RefCell<Option<CaughtPanic>> = const { RefCell::new(None) };
}

/// A panic that was caught.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CaughtPanic {
    /// The place in the source, as in `analysis/semantics/src/body.rs:12:5`.
    pub(crate) site: String,
    /// The panic message.
    text: String,
}

/// The reason that work ended without a result.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// It was cancelled, by the client or by a change of the database.
    Cancelled(Cancelled),
    /// It panicked.
    Panicked(CaughtPanic),
}

impl fmt::Display for CaughtPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.site, self.text)
    }
}

impl CaughtPanic {
    fn new(site: &str, payload: &(dyn std::any::Any + Send)) -> CaughtPanic {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("a panic without a message");
        let mut text = escape::terminal(text).into_owned();
        if let Some((at, _)) = text.char_indices().nth(LONGEST_TEXT) {
            text.truncate(at);
            text.push('…');
        }
        CaughtPanic { site: site.to_owned(), text }
    }

    /// Returns true if this thread panicked, and not another one, which reports it.
    pub(crate) fn is_own(&self) -> bool {
        self.site != ELSEWHERE
    }

    /// Returns the help.
    pub(crate) fn help() -> String {
        format!(
            "this is a fault of relay-analyzer {}, not of the text: please report it with the text \
             and this message at {}/issues",
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_REPOSITORY"),
        )
    }

    /// Returns the full message: the failed work, the panic, and the help.
    pub(crate) fn message(&self, what: &str) -> String {
        format!("an internal error ended {what} ({self}); {}", CaughtPanic::help())
    }

    /// Returns the diagnostic of a file whose analysis panicked.
    pub(crate) fn diagnostic(&self, at: TextRange) -> Diagnostic {
        let message = format!("an internal error ended the analysis of this file ({self})");
        Diagnostic::new(Code::InternalError, at, message).help(CaughtPanic::help())
    }
}

/// Installs a panic hook that records panics within [`guarded`] and prints all others with the
/// help. With `RUST_BACKTRACE` the default hook prints each of them, too.
pub(crate) fn install_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            default(info);
        }
        let panicked = CaughtPanic::new(&site(info), info.payload());
        if DEPTH.get() > 0 {
            LAST.set(Some(panicked));
        } else {
            let thread = std::thread::current();
            let thread = thread.name().unwrap_or("an unnamed thread");
            stderr::error(&panicked.message(thread));
        }
    }));
}

/// Installs a panic hook that passes the message on, for a program that a panic ends: where it cannot
/// unwind, neither can a run that reaches a limit.
pub fn on_panic(report: fn(String)) {
    std::panic::set_hook(Box::new(move |info| {
        report(match info.payload().downcast_ref::<interpreter::FatalFault>() {
            Some(ended) => format!("the run was ended: {ended}"),
            None => CaughtPanic::new(&site(info), info.payload()).message("the session"),
        });
    }));
}

/// Returns the place of a panic. The path of a dependency starts with the crate: the rest is
/// specific to the build machine.
fn site(info: &PanicHookInfo<'_>) -> String {
    let Some(location) = info.location() else { return "an unknown place".to_owned() };
    let file = location.file().replace('\\', "/");
    let file = match file.split_once("/registry/src/") {
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, crate_and_file)| crate_and_file),
        None => &file,
    };
    format!("{file}:{}:{}", location.line(), location.column())
}

/// Runs work that may panic or be cancelled. Work that waited for a query in which another thread
/// panicked is retried, so that this thread sees the panic itself.
///
/// The caller must discard the state that `work` changes if it panics.
///
/// # Errors
/// The panic or the cancellation.
pub(crate) fn guarded<R>(mut work: impl FnMut() -> R) -> Result<R, Interrupt> {
    let mut tries = 1;
    if DEPTH.get() == 0 {
        // A panic that was caught elsewhere does not belong to this work.
        LAST.take();
    }
    loop {
        DEPTH.set(DEPTH.get() + 1);
        let ended = catch_unwind(AssertUnwindSafe(&mut work));
        DEPTH.set(DEPTH.get() - 1);
        let payload = match ended {
            Ok(result) => return Ok(result),
            Err(payload) => payload,
        };
        let payload = match payload.downcast::<Cancelled>() {
            Ok(cancelled) if !matches!(*cancelled, Cancelled::PropagatedPanic) => {
                return Err(Interrupt::Cancelled(*cancelled));
            }
            Ok(_) if tries < TRIES => {
                std::thread::sleep(Duration::from_millis(tries.into()));
                tries += 1;
                continue;
            }
            Ok(_) => Box::new("another thread panicked"),
            Err(payload) => payload,
        };
        // The hook did not run on this thread if it only propagates the panic.
        let last = LAST.take();
        let panicked = last.unwrap_or_else(|| CaughtPanic::new(ELSEWHERE, &*payload));
        return Err(Interrupt::Panicked(panicked));
    }
}

/// Like [`guarded`], for work that is never cancelled.
///
/// # Errors
/// The panic.
pub(crate) fn caught<R>(work: impl FnMut() -> R) -> Result<R, CaughtPanic> {
    guarded(work).map_err(|interrupt| match interrupt {
        Interrupt::Panicked(panicked) => panicked,
        Interrupt::Cancelled(cancelled) => CaughtPanic::new("the database", &cancelled.to_string()),
    })
}

/// Returns the range for the diagnostic of a panic in the analysis of a file: the name of the first
/// definition whose inference panics, or the start of the file.
///
/// # Errors
/// The request was cancelled.
pub(crate) fn locate(db: &Database, file: SourceFile) -> Result<TextRange, Cancelled> {
    // Definitions without a panic are memoised already.
    let find = || {
        let mut defs = all_defs(db, file).filter(|def| def.kind(db).has_body());
        defs.find_map(|def| match guarded(|| View::new(db, def).is_some()) {
            Ok(_) => None,
            Err(Interrupt::Panicked(_)) => Some(Ok(name_of(db, def))),
            Err(Interrupt::Cancelled(cancelled)) => Some(Err(cancelled)),
        })
    };
    match guarded(find) {
        Ok(found) => found.unwrap_or(Ok(TextRange::default())),
        Err(Interrupt::Panicked(_)) => Ok(TextRange::default()),
        Err(Interrupt::Cancelled(cancelled)) => Err(cancelled),
    }
}

fn name_of(db: &Database, def: Def<'_>) -> TextRange {
    match def.kind(db) {
        DefKind::Fn => def.name_range(db) + def.start(db),
        _ => TextRange::empty(def.start(db)),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;

    #[test]
    fn panics_and_cancellations_are_told_apart() {
        install_hook();
        assert!(matches!(guarded(|| 7), Ok(7)));
        let Err(Interrupt::Panicked(panicked)) =
            guarded(|| panic!("over\u{1b}[31m {}", "x".repeat(900)))
        else {
            unreachable!("it panics")
        };
        assert!(panicked.site.starts_with("server/src/panics.rs:"), "{panicked}");
        let message = panicked.message("this request");
        assert!(message.contains("over␛[31m xxx") && message.contains("/issues"), "{message}");
        assert!(message.chars().count() <= 600, "{message}");
        let ended = guarded(|| resume_unwind(Box::new(Cancelled::PendingWrite)));
        assert!(matches!(ended, Err(Interrupt::Cancelled(Cancelled::PendingWrite))), "{ended:?}");
        // The record of a panic is not reused for the next one.
        assert_ne!(
            caught(|| panic!("other")).map_err(|panicked| panicked.text),
            Err(panicked.text)
        );
    }

    #[test]
    fn propagated_panic_is_retried() {
        let mut runs = 0;
        let ended = guarded(|| {
            runs += 1;
            if runs < 2 {
                resume_unwind(Box::new(Cancelled::PropagatedPanic));
            }
            runs
        });
        assert!(matches!(ended, Ok(2)), "{ended:?}");
        let always = || -> () { resume_unwind(Box::new(Cancelled::PropagatedPanic)) };
        assert!(
            matches!(guarded(always), Err(Interrupt::Panicked(panicked)) if !panicked.is_own())
        );
    }
}
