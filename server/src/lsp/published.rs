//! What is known about the diagnostics of a document.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::lsp_types::Diagnostic;

/// How long diagnostics may be on their way. A change that arrives within this time may have been
/// made before they came, and a client such as Helix drops what is of another version than its
/// text; so they are sent again, with the new version, though they may be the same.
const DOUBT: Duration = Duration::from_millis(250);

/// Diagnostics that take longer than this wait for a pause in the typing.
const SLOW: Duration = Duration::from_millis(40);
/// The longest such wait.
const LONGEST_PAUSE: Duration = Duration::from_millis(400);

/// What is known about the diagnostics of a document.
#[derive(Default)]
pub(super) struct Published {
    /// Changed since they were computed last.
    pub(super) dirty: bool,
    /// A worker computes them.
    pub(super) running: bool,
    /// What the client was sent.
    pub(super) items: Option<Arc<Vec<Diagnostic>>>,
    /// When it was sent.
    pub(super) sent: Option<Instant>,
    /// It may have met a newer text at the client.
    pub(super) doubtful: bool,
    /// How long they took last.
    pub(super) cost: Duration,
    /// When the text changed last.
    pub(super) changed: Option<Instant>,
    /// Ends a progress when it is dropped.
    pub(super) progress: Option<UnboundedSender<String>>,
}

impl Published {
    /// How long the document waits for a pause in the typing, if it does.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        match self.changed {
            Some(changed) if self.cost > SLOW => {
                let pause = self.cost.min(LONGEST_PAUSE);
                (changed + pause).saturating_duration_since(now)
            }
            _ => Duration::ZERO,
        }
    }

    /// Notes that the text has changed.
    pub(super) fn text_changed(&mut self) {
        self.dirty = true;
        self.changed = Some(Instant::now());
        self.doubtful |= self.sent.is_some_and(|sent| sent.elapsed() < DOUBT);
    }

    /// Notes that the client was sent `items`.
    pub(super) fn sent(&mut self, items: Arc<Vec<Diagnostic>>) {
        self.items = Some(items);
        self.sent = Some(Instant::now());
        self.doubtful = false;
    }
}
