//! Limits of the parser.

/// Limits on nesting, which bound the recursion of the parser and of all later passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseLimits {
    /// Maximum nesting of expressions, types and patterns. Chains of calls and projections
    /// (`%f(%x).0`) count as nesting and may reach twice this depth.
    pub depth: u32,
    /// Maximum number of operators in one chain (`%a + %b + …`). Such chains nest to the left, and
    /// passes handle them iteratively, so the limit is higher than [`ParseLimits::depth`].
    pub chain: u32,
}

impl Default for ParseLimits {
    fn default() -> Self {
        // A level needs about 1.5 kB of stack in the parser and 0.5 kB in later passes; a thread
        // has 2 MiB.
        ParseLimits { depth: 256, chain: 2_000 }
    }
}
