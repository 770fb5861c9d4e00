//! How far a run on a terminal is.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use interpreter::{Measured, Observer, Value};
use semantics::SourceFile;
use syntax::TextRange;

use super::profile::Profile;

/// Runs that take longer than this show how far they are.
const SOON: Duration = Duration::from_millis(500);
/// How often the clock of the progress goes on while an operator is computed.
const TICK: Duration = Duration::from_millis(200);
/// One binding of so many is told.
const STEP: u64 = 16;

/// Sees a run: shows how far it is where it takes long, and measures where that is asked for.
pub(crate) struct Progress<'p> {
    begin: Instant,
    profile: Option<&'p mut Profile>,
    /// What the function binds; where it recurses, more is bound than that.
    total: u64,
    bound: u64,
    /// Progress is wanted.
    is_shown: bool,
    bar: Option<ProgressBar>,
}

impl<'p> Progress<'p> {
    /// `total` are the bindings of the function that is run. indicatif draws on standard error, and
    /// nothing where that is no terminal.
    pub(crate) fn new(is_shown: bool, total: usize, profile: Option<&'p mut Profile>) -> Self {
        let begin = Instant::now();
        Progress { begin, profile, total: total as u64, bound: 0, is_shown, bar: None }
    }

    /// A bar while the end is in sight, a count of bindings where there are more than were counted.
    fn style(&self) -> ProgressStyle {
        let text = match self.bound <= self.total {
            true => "{elapsed:>4} {bar:40} {pos}/{len} bindings",
            false => "{elapsed:>4} {spinner} {pos} bindings",
        };
        ProgressStyle::with_template(text).unwrap_or_else(|_| ProgressStyle::default_bar())
    }

    fn show(&mut self) {
        if self.bar.is_none() && self.begin.elapsed() >= SOON {
            let bar = ProgressBar::new(self.total).with_elapsed(self.begin.elapsed());
            bar.set_style(self.style());
            bar.enable_steady_tick(TICK);
            self.bar = Some(bar);
        }
        let Some(bar) = &self.bar else { return };
        // The count has left what was expected.
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
