//! Files of URIs.

use std::path::{Path, PathBuf};

use tower_lsp::lsp_types::Url;

/// Returns the path of a `file:` URI; `None` for other URIs, and where there are no files.
pub(crate) fn of_uri(uri: &Url) -> Option<PathBuf> {
    #[cfg(not(target_arch = "wasm32"))]
    return uri.to_file_path().ok();
    #[cfg(target_arch = "wasm32")]
    return uri.path_segments().and(None);
}

/// Returns the URI of an absolute path; `None` where there are no files.
pub(crate) fn uri_of(path: impl AsRef<Path>) -> Option<Url> {
    #[cfg(not(target_arch = "wasm32"))]
    return Url::from_file_path(path).ok();
    #[cfg(target_arch = "wasm32")]
    return path.as_ref().file_name().and(None);
}
