//! Snapshots: what a worker sees.

use std::sync::Arc;

use semantics::Database;
use syntax::Encoding;

use super::{abilities::Writing, config::Config, documents::Documents, session::Session};

/// What a worker sees.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) db: Database,
    pub(super) documents: Arc<Documents>,
    pub(super) config: Arc<Config>,
    pub(super) encoding: Encoding,
    pub(super) session: Arc<Session>,
    pub(super) writing: Writing,
}
