//! Numbers in environment variables, which make tests longer or select their random input.

use std::{fmt::Debug, str::FromStr};

/// Returns the number in a variable, or `default` if it is not set.
///
/// # Panics
/// The variable is not such a number: with the default instead, a long run would silently be a short one.
pub fn number<N: FromStr<Err: Debug>>(variable: &str, default: N) -> N {
    chosen(variable).unwrap_or(default)
}

/// Returns the number in a variable, if it is set.
///
/// # Panics
/// The variable is not such a number.
pub fn chosen<N: FromStr<Err: Debug>>(variable: &str) -> Option<N> {
    let text = std::env::var_os(variable)?;
    let number = text.to_str().map(str::parse);
    Some(number.and_then(Result::ok).unwrap_or_else(|| panic!("{variable} is no number: {text:?}")))
}
