//! `match` expressions and their patterns.

use super::{BinderId, ExprId, Name, RangeId, Region};

/// A `match` expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Match {
    /// The matched value.
    pub scrutinee: ExprId,
    /// Set for `match?`: a value that no arm matches is an error at run time.
    pub partial: bool,
    /// The arms.
    pub arms: Vec<Arm>,
}

/// An arm of a `match`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// Its body.
    pub body: Region,
}

/// A pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// The range.
    pub range: RangeId,
    /// The kind.
    pub kind: PatternKind,
}

/// The kind of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PatternKind {
    /// `_`, or a syntax error.
    Wildcard,
    /// `%x`
    Var(BinderId),
    /// `Cons(%x, _)`
    Constructor(Name, Vec<Pattern>),
    /// `(%a, _)`
    Tuple(Vec<Pattern>),
}

impl Match {
    /// Returns true if a pattern is one of an arm, or inside of one.
    pub(crate) fn has_pattern(&self, range: RangeId) -> bool {
        // Ranges are numbered in the order of the text.
        let until = self.arms.partition_point(|arm| arm.pattern.range <= range);
        let arm = until.checked_sub(1).map(|at| &self.arms[at]);
        arm.is_some_and(|arm| arm.pattern.all().any(|pattern| pattern.range == range))
    }
}

impl Pattern {
    /// Returns the patterns of the fields of a constructor or a tuple.
    pub fn fields(&self) -> &[Pattern] {
        match &self.kind {
            PatternKind::Constructor(_, fields) | PatternKind::Tuple(fields) => fields,
            PatternKind::Wildcard | PatternKind::Var(_) => &[],
        }
    }

    /// Returns the pattern and those inside of it.
    pub fn all(&self) -> impl Iterator<Item = &Pattern> {
        let mut left = vec![self];
        std::iter::from_fn(move || {
            let pattern = left.pop()?;
            left.extend(pattern.fields());
            Some(pattern)
        })
    }
}
