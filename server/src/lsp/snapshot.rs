//! Snapshots: the state on which a worker answers a request.

use std::sync::Arc;

use semantics::Database;
use syntax::Encoding;

use super::{abilities::ClientAbilities, config::Config, documents::Documents, session::Session};

/// The state of the server at one moment. The owner cannot change the database while a snapshot
/// exists: it cancels the queries of its workers, and waits for them to drop it.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) db: Database,
    pub(super) documents: Arc<Documents>,
    pub(super) config: Arc<Config>,
    /// The unit of columns.
    pub(super) encoding: Encoding,
    pub(super) session: Arc<Session>,
    pub(super) client: Arc<ClientAbilities>,
}
