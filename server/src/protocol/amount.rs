//! Numbers with their texts.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

/// A number with its text, which has a unit if it is one of bytes.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Amount {
    /// The number; `null` if it depends on unknown sizes.
    pub(crate) value: Option<u64>,
    /// The text: with a unit, or with the unknown sizes.
    pub(crate) text: String,
    /// The terms of an amount without a value, which is the sum of them and of summands that are not defined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) terms: Vec<Term>,
    /// The number of summands that are not defined.
    #[serde(skip_serializing_if = "super::is_default")]
    pub(crate) undefined: u32,
}

impl Amount {
    /// Returns an amount without terms.
    pub(crate) fn new(value: Option<u64>, text: String) -> Amount {
        Amount { value, text, terms: Vec::new(), undefined: 0 }
    }
}

/// A coefficient, and unknown sizes with their powers, by which it is multiplied.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Term {
    pub(crate) coefficient: u64,
    pub(crate) factors: BTreeMap<String, u32>,
}

/// A number that is known, with its text.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Count {
    pub(crate) value: u64,
    /// The text: with separators, or with a unit.
    pub(crate) text: String,
}

/// A time in seconds, with its text.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Seconds {
    pub(crate) value: f64,
    /// The text, as in `12.3 ms`.
    pub(crate) text: String,
}

impl From<Duration> for Seconds {
    fn from(time: Duration) -> Seconds {
        Seconds { value: time.as_secs_f64(), text: ide::words::duration(time) }
    }
}
