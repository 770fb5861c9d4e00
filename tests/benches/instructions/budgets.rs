//! Budgets in millions of instructions, a little over what the release profile needs.

/// Of the steps lex, parse, lower, infer and of the whole command, by module.
pub(crate) const COLD: [(&str, [f64; 5]); 0] = [];

/// Of the kinds of edit, by module.
pub(crate) const EDITS: [(&str, [f64; 10]); 0] = [];
