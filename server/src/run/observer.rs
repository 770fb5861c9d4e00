//! Observes a run of the command line: displays its progress if it is slow, and measures it if requested.

use interpreter::{CallMeasurement, Observer, Value};
use semantics::SourceFile;
use syntax::TextRange;

use super::{arguments::Arguments, bound::BoundValues, execute::RunObserver, profile::Profile};
use crate::{progress::Progress, report::stderr};

/// The number of bindings between updates of the progress.
const STEP: u64 = 16;

/// Observes a run.
pub(crate) struct TerminalObserver {
    /// The profile, if requested.
    pub(crate) profile: Option<Profile>,
    /// True if progress, warnings and random arguments are displayed.
    is_shown: bool,
    /// The number of bindings of the function; a recursive one binds more.
    total: usize,
    /// The seed of random arguments.
    seed: Option<u64>,
    progress: Option<Progress>,
    bound: u64,
    /// The values of variables before an error at which the run stops.
    pub(crate) values: BoundValues,
}

impl TerminalObserver {
    /// Creates the observer of a function with `total` bindings.
    pub(crate) fn new(
        is_shown: bool,
        total: usize,
        seed: Option<u64>,
        profile: Option<Profile>,
    ) -> TerminalObserver {
        let values = BoundValues::default();
        TerminalObserver { profile, is_shown, total, seed, progress: None, bound: 0, values }
    }

    /// Removes the progress and returns the profile and the values that were kept.
    pub(crate) fn into_parts(self) -> (Option<Profile>, BoundValues) {
        (self.profile, self.values)
    }
}

impl RunObserver for TerminalObserver {
    fn started(&mut self, arguments: &Arguments) {
        if self.is_shown {
            if let Some(random) = self.seed.and_then(|seed| arguments.random(seed)) {
                stderr::note(&random);
            }
            arguments.warnings.iter().for_each(|warning| stderr::warning(warning));
        }
        self.progress = Some(Progress::new(self.is_shown, self.total, "bindings"));
    }
}

impl Observer for TerminalObserver {
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        self.bound += 1;
        if self.bound.is_multiple_of(STEP)
            && let Some(progress) = &self.progress
        {
            progress.advance(STEP);
        }
        if let Some(profile) = &mut self.profile {
            profile.bound(place, value);
        }
        self.values.bound(place, value);
    }

    fn measures(&self) -> bool {
        self.profile.as_ref().is_some_and(Profile::measures)
    }

    fn called(&mut self, call: &CallMeasurement<'_>) {
        if let Some(profile) = &mut self.profile {
            profile.called(call);
        }
    }
}
