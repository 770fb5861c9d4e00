//! 

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("random.multinomial", &["key", "probs"]).attrs(&MULTINOMIAL),
    op("random.normal", &["key", "mean", "scale"]).attrs(&NORMAL),
    op("random.threefry_generate", &["key"]).attrs(&THREEFRY_GENERATE),
    op("random.threefry_split", &["key"]),
    op("random.uniform", &["key", "low", "high"]).attrs(&UNIFORM),
];
