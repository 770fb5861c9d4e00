//! The progress of a run on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use interpreter::{Measured, Observer, Value};
use semantics::SourceFile;
use syntax::TextRange;

use super::profile::Profile;

/// The time after which progress is displayed.
const DELAY: Duration = Duration::from_millis(500);
/// The interval at which the clock is updated while an operator is computed.
const TICK: Duration = Duration::from_millis(200);
/// The number of bindings between updates.
const STEP: u64 = 16;

/// Observes a run: displays its progress if it is slow, and measures it if requested.
pub(crate) struct Progress<'p> {
    begin: Instant,
    profile: Option<&'p mut Profile>,
    /// The number of bindings in the function; a recursive function binds more.
    total: u64,
    bound: u64,
    /// True if progress is displayed.
    is_shown: bool,
    bar: Option<ProgressBar>,
}

impl<'p> Progress<'p> {
    /// Creates the progress of a function with `total` bindings. indicatif draws on standard error
    /// if it is a terminal.
    pub(crate) fn new(is_shown: bool, total: usize, profile: Option<&'p mut Profile>) -> Self {
        let begin = Instant::now();
        Progress { begin, profile, total: total as u64, bound: 0, is_shown, bar: None }
    }

    /// Returns the style: a bar, or a counter once there are more bindings than expected.
    fn style(&self) -> ProgressStyle {
        let text = match self.bound <= self.total {
            true => "{elapsed:>4} {bar:40} {pos}/{len} bindings",
            false => "{elapsed:>4} {spinner} {pos} bindings",
        };
        ProgressStyle::with_template(text).unwrap_or_else(|_| ProgressStyle::default_bar())
    }

    fn show(&mut self) {
        if self.bar.is_none() && self.begin.elapsed() >= DELAY {
            let bar = ProgressBar::new(self.total).with_elapsed(self.begin.elapsed());
            bar.set_style(self.style());
            bar.enable_steady_tick(TICK);
            self.bar = Some(bar);
        }
        let Some(bar) = &self.bar else { return };
        // The count exceeds the expected total.
        if self.bound > self.total && self.bound - STEP <= self.total {
            bar.set_style(self.style());
        }
        bar.set_position(self.bound);
    }
}

impl Observer for Progress<'_> {
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        self.bound += 1;
        if self.is_shown && self.bound.is_multiple_of(STEP) {
            self.show();
        }
        if let Some(profile) = &mut self.profile {
            profile.bound(place, value);
        }
    }

    fn measures(&self) -> bool {
        self.profile.as_ref().is_some_and(|profile| profile.measures())
    }

    fn called(&mut self, call: &Measured<'_>) {
        if let Some(profile) = &mut self.profile {
            profile.called(call);
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
