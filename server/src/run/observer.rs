//! Observes a run: displays its progress if it is slow, and measures it if requested.

use interpreter::{Measured, Observer, Value};
use semantics::SourceFile;
use syntax::TextRange;

use super::profile::Profile;
use crate::progress::Progress;

/// The number of bindings between updates of the progress.
const STEP: u64 = 16;

/// Observes a run.
pub(crate) struct Watched<'p> {
    profile: Option<&'p mut Profile>,
    progress: Progress,
    bound: u64,
}

impl<'p> Watched<'p> {
    /// Creates the observer of a function with `total` bindings; a recursive function binds more.
    pub(crate) fn new(is_shown: bool, total: usize, profile: Option<&'p mut Profile>) -> Self {
        Watched { profile, progress: Progress::new(is_shown, total, "bindings"), bound: 0 }
    }
}

impl Observer for Watched<'_> {
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        self.bound += 1;
        if self.bound.is_multiple_of(STEP) {
            self.progress.advance(STEP);
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
