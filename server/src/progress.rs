//! Progress on a terminal: a bar on standard error for work that takes long.

use std::{
    io::IsTerminal,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;

/// The time after which progress is displayed.
const DELAY: Duration = Duration::from_millis(500);
/// The interval at which the clock is updated between steps.
const TICK: Duration = Duration::from_millis(200);

/// The progress of some work, in steps of a unit. It is displayed once the work has taken long, and
/// removed when it is dropped.
pub(crate) struct Progress {
    /// `None` if the progress is not displayed at all.
    state: Option<Arc<State>>,
    /// Dropping it ends the thread that waits for the delay.
    _end: Option<Sender<()>>,
}

struct State {
    unit: &'static str,
    /// The expected number of steps.
    total: u64,
    done: AtomicU64,
    bar: Mutex<Option<ProgressBar>>,
}

impl State {
    /// Returns the style: a bar, or a counter once there are more steps than expected.
    fn style(&self, done: u64) -> ProgressStyle {
        let unit = self.unit;
        let text = match done <= self.total {
            true => format!("{{elapsed:>4}} {{bar:40}} {{pos}}/{{len}} {unit}"),
            false => format!("{{elapsed:>4}} {{spinner}} {{pos}} {unit}"),
        };
        ProgressStyle::with_template(&text).unwrap_or_else(|_| ProgressStyle::default_bar())
    }

    fn show(&self, begin: Instant) {
        let done = self.done.load(Ordering::Relaxed);
        let bar = ProgressBar::new(self.total).with_elapsed(begin.elapsed());
        bar.set_style(self.style(done));
        bar.set_position(done);
        bar.enable_steady_tick(TICK);
        *self.bar.lock() = Some(bar);
    }
}

impl Progress {
    /// Creates the progress of `total` steps, of which `unit` is the plural. If standard error is not a
    /// terminal, nothing is displayed.
    pub(crate) fn new(is_shown: bool, total: usize, unit: &'static str) -> Progress {
        if !is_shown || !std::io::stderr().is_terminal() {
            return Progress { state: None, _end: None };
        }
        let begin = Instant::now();
        let (total, done, bar) = (total as u64, AtomicU64::new(0), Mutex::default());
        let state = Arc::new(State { unit, total, done, bar });
        let (end, ended) = channel();
        let shared = state.clone();
        let wait = move || {
            if ended.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                shared.show(begin);
                // The bar stays until the work ends.
                let _ = ended.recv();
                if let Some(bar) = shared.bar.lock().take() {
                    bar.finish_and_clear();
                }
            }
        };
        // Without a thread the work is done without a bar.
        let started = thread::Builder::new().name("progress".into()).spawn(wait);
        Progress { state: started.is_ok().then_some(state), _end: Some(end) }
    }

    /// Records that `steps` more are done.
    pub(crate) fn advance(&self, steps: u64) {
        let Some(state) = &self.state else { return };
        let before = state.done.fetch_add(steps, Ordering::Relaxed);
        let done = before + steps;
        if let Some(bar) = state.bar.lock().as_ref() {
            // The count exceeds the expected total.
            if done > state.total && before <= state.total {
                bar.set_style(state.style(done));
            }
            bar.set_position(done);
        }
    }

    /// Prints something while the bar is removed.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match self.state.as_ref().map(|state| state.bar.lock()).as_deref() {
            Some(Some(bar)) => bar.suspend(print),
            _ => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.state.as_ref().and_then(|state| state.bar.lock().take()) {
            bar.finish_and_clear();
        }
    }
}
