//! The grammar of Relay for tree-sitter, with the queries that editors use.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_relay() -> *const ();
}

/// The grammar, for `tree_sitter::Parser::set_language`.
// SAFETY: the function is that of the generated parser: it takes nothing, and returns a language that
// is never freed.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_relay) };

/// Colours.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");
/// Texts in other languages.
pub const INJECTIONS_QUERY: &str = include_str!("../../queries/injections.scm");
/// Scopes and names.
pub const LOCALS_QUERY: &str = include_str!("../../queries/locals.scm");
/// Definitions and uses.
pub const TAGS_QUERY: &str = include_str!("../../queries/tags.scm");
