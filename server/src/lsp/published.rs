//! The state of the diagnostics of a document.

use std::{sync::Arc, time::Duration};

use clock::Instant;
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::lsp_types::Diagnostic;

/// The time in which published diagnostics may cross a change that the client has already made. A
/// client such as Helix drops diagnostics of another version than its text; so after a change within
/// this time they are published again with the new version, though they may be the same.
const RACE: Duration = Duration::from_millis(250);

/// The cost from which diagnostics are debounced.
const SLOW: Duration = Duration::from_millis(40);
/// The longest debounce.
const MAX_DEBOUNCE: Duration = Duration::from_millis(400);

/// The state of the diagnostics of a document.
#[derive(Default)]
pub(super) struct PublicationState {
    /// Set if the text or settings changed since they were last computed.
    pub(super) dirty: bool,
    /// True while a worker computes them.
    pub(super) running: bool,
    /// The diagnostics that were last published.
    pub(super) items: Option<Arc<Vec<Diagnostic>>>,
    /// The time at which they were published.
    pub(super) sent: Option<Instant>,
    /// Set if the text changed within [`RACE`] after they were published.
    pub(super) raced: bool,
    /// The time that their last computation took.
    pub(super) cost: Duration,
    /// The time of the last change of the text.
    pub(super) changed: Option<Instant>,
    /// Ends the progress report of the first check when it is dropped.
    pub(super) progress: Option<UnboundedSender<String>>,
}

impl PublicationState {
    /// Returns the rest of the debounce; zero for diagnostics that are fast to compute.
    pub(super) fn until_due(&self, now: Instant) -> Duration {
        match self.changed {
            Some(changed) if self.cost > SLOW => {
                let debounce = self.cost.min(MAX_DEBOUNCE);
                (changed + debounce).saturating_duration_since(now)
            }
            _ => Duration::ZERO,
        }
    }

    /// Records a change of the text.
    pub(super) fn text_changed(&mut self) {
        self.dirty = true;
        self.changed = Some(Instant::now());
        self.raced |= self.sent.is_some_and(|sent| sent.elapsed() < RACE);
    }

    /// Records that `items` were published.
    pub(super) fn sent(&mut self, items: Arc<Vec<Diagnostic>>) {
        self.items = Some(items);
        self.sent = Some(Instant::now());
        self.raced = false;
    }
}
