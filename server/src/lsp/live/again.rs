//! What repeats the last run of a document.

use std::sync::Arc;

use syntax::TextRange;
use tower_lsp::lsp_types::Url;

use super::{LiveResults, RunRecord};
use crate::{lsp::documents::Document, protocol::RememberedArguments, run::execute::Selection};

/// The function and the arguments of a run.
#[derive(Clone, Default)]
pub(in crate::lsp) struct Rerun {
    /// The name, which is empty for a bare expression.
    pub(in crate::lsp) function: String,
    /// The arguments of the request.
    pub(in crate::lsp) given: RememberedArguments,
    /// Those that were remembered for the function, which complete them.
    pub(in crate::lsp) recalled: RememberedArguments,
}

impl Rerun {
    /// Returns the choice of the function.
    pub(in crate::lsp) fn selection(&self) -> Selection<'_> {
        if self.function.is_empty() {
            Selection::Expression
        } else {
            Selection::Named(&self.function)
        }
    }
}

impl RunRecord {
    /// Returns true if a document has the text that was run.
    pub(in crate::lsp) fn is_of(&self, document: &Document) -> bool {
        document.version == self.version || **document.text.collected() == *self.text
    }

    /// Returns the number of values of the variable with its name at `range`.
    pub(in crate::lsp) fn count_of(&self, range: TextRange) -> Option<u64> {
        self.values.iter().find(|value| value.range == range).map(|value| value.times)
    }

    /// Returns what repeats the run.
    pub(in crate::lsp) fn rerun(&self) -> &Rerun {
        &self.rerun
    }
}

impl LiveResults {
    /// Returns the record of the last run of a document.
    pub(in crate::lsp) fn last(&self, uri: &Url) -> Option<Arc<RunRecord>> {
        self.0.lock().get(uri)?.last.clone()
    }
}
