//! Panics: each is a fault of this program. It costs the item of work that it happened in, is told
//! once, and says how to report it.

use std::{
    cell::{Cell, RefCell},
    fmt,
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind},
    time::Duration,
};

use semantics::{Cancelled, Database, Def, DefKind, Diagnostic, SourceFile, View, all_defs};
use syntax::TextRange;

use crate::report::escape;

/// How often work is tried that ended since another thread panicked in what both needed. By the
/// second time the panic is this thread's own, unless a third thread was first: each waits a little
/// longer than the time before, and there are no more than a handful of threads.
const TRIES: u32 = 20;
/// The longest text of a panic that is repeated, in characters. It may quote the document.
const LONGEST_TEXT: usize = 200;

/// The site of a panic that this thread has only heard of.
const ELSEWHERE: &str = "another thread";

thread_local! {
    /// How many calls of [`guarded`] this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The last panic of this thread within one of them.
    static LAST: RefCell<Option<Panicked>> = const { RefCell::new(None) };
}

/// A panic that was caught.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Panicked {
    /// The line of the source: `analysis/semantics/src/body.rs:12:5`.
    pub(crate) site: String,
    /// What it said.
    text: String,
}

/// Why work ended without a result.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// Nobody wants the result any more, or the database changes.
    Cancelled(Cancelled),
    /// It panicked.
    Panicked(Panicked),
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.site, self.text)
    }
}

impl Panicked {
    fn new(site: &str, payload: &(dyn std::any::Any + Send)) -> Panicked {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("a panic without a text");
        let mut text = escape::terminal(text).into_owned();
        if let Some((at, _)) = text.char_indices().nth(LONGEST_TEXT) {
            text.truncate(at);
            text.push('…');
        }
        Panicked { site: site.to_owned(), text }
    }

    /// Whether this thread panicked. Else another one tells of it.
    pub(crate) fn is_own(&self) -> bool {
        self.site != ELSEWHERE
    }

    /// Returns what to do about it.
    pub(crate) fn help() -> String {
        format!(
            "this is a fault of relay-analyzer {}, not of the text: please report it with the text \
             and this message at {}/issues",
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_REPOSITORY"),
        )
    }

    /// Returns the whole message: what was not done, why, and what to do.
    pub(crate) fn message(&self, what: &str) -> String {
        format!("an internal error ended {what} ({self}); {}", Panicked::help())
    }

    /// Returns the diagnostic of a file whose analysis panicked.
    pub(crate) fn diagnostic(&self, at: TextRange) -> Diagnostic {
        let message = format!("an internal error ended the analysis of this file ({self})");
        Diagnostic::new("internal-error", at, message).help(Panicked::help())
    }
}

/// Has panics within [`guarded`] recorded rather than printed; all others are printed with how to
/// report them. With `RUST_BACKTRACE` each is printed as Rust does, too.
pub(crate) fn install_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            default(info);
        }
        let panicked = Panicked::new(&site(info), info.payload());
        if DEPTH.get() > 0 {
            LAST.set(Some(panicked));
        } else {
            let thread = std::thread::current();
            let thread = thread.name().unwrap_or("a nameless thread");
            crate::cli::complain(&panicked.message(thread));
        }
    }));
}

/// The place of a panic. Of a dependency only the crate and what follows: the rest is a path of the
/// machine that built this.
fn site(info: &PanicHookInfo<'_>) -> String {
    let Some(location) = info.location() else { return "an unknown place".to_owned() };
    let file = location.file().replace('\\', "/");
    let file = match file.split_once("/registry/src/") {
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, crate_and_file)| crate_and_file),
        None => &file,
    };
    format!("{file}:{}:{}", location.line(), location.column())
}

/// Runs work that may panic, be cancelled, or meet a panic of another thread in the database; the
/// last is tried again, so that the panic is seen where it happens.
///
/// Whatever `work` changes must be replaced by the caller when it panics.
pub(crate) fn guarded<R>(mut work: impl FnMut() -> R) -> Result<R, Interrupt> {
    let mut tries = 1;
    if DEPTH.get() == 0 {
        // What somebody else caught says nothing about this work.
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
        // The hook ran on another thread where this one only passes the panic on.
        let last = LAST.take();
        let panicked = last.unwrap_or_else(|| Panicked::new(ELSEWHERE, &*payload));
        return Err(Interrupt::Panicked(panicked));
    }
}

/// Like [`guarded`], for work that nothing cancels.
///
/// # Errors
/// The panic.
pub(crate) fn caught<R>(work: impl FnMut() -> R) -> Result<R, Panicked> {
    guarded(work).map_err(|interrupt| match interrupt {
        Interrupt::Panicked(panicked) => panicked,
        Interrupt::Cancelled(cancelled) => Panicked::new("the database", &cancelled.to_string()),
    })
}

/// Returns where a file is marked whose analysis panics: at the name of the first definition whose
/// types cannot be found, else at the beginning.
///
/// # Errors
/// The database is about to change.
pub(crate) fn locate(db: &Database, file: SourceFile) -> Result<TextRange, Cancelled> {
    // Each definition is looked at once, and what has been found out of it is known already.
    let find = || {
        let mut defs =
            all_defs(db, file).filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr));
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
    fn a_panic_is_recorded_and_a_cancellation_is_none() {
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
        // What a panic left behind is not taken for the next one.
        assert_ne!(
            caught(|| panic!("other")).map_err(|panicked| panicked.text),
            Err(panicked.text)
        );
    }

    #[test]
    fn a_panic_of_another_thread_is_tried_again_and_no_cancellation() {
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
