//! The levels that users give to codes.

use std::collections::BTreeMap;

use crate::{Code, Severity};

/// The level of a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Its diagnostics are not reported.
    Allow,
    /// Its diagnostics have this severity.
    Report(Severity),
}

impl Level {
    /// All levels, in ascending order.
    pub const ALL: &'static [Level] = &[
        Level::Allow,
        Level::Report(Severity::Hint),
        Level::Report(Severity::Info),
        Level::Report(Severity::Warning),
        Level::Report(Severity::Error),
    ];

    /// Returns the name, as settings have it.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Allow => "allow",
            Level::Report(severity) => severity.name(),
        }
    }

    /// Returns the level called `name`.
    pub fn from_name(name: &str) -> Option<Level> {
        Level::ALL.iter().copied().find(|level| level.name() == name)
    }
}

/// The levels of the codes whose diagnostics do not have their default severities.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Levels(BTreeMap<Code, Level>);

impl Levels {
    /// Sets the level of a code.
    pub fn set(&mut self, code: Code, level: Level) {
        self.0.insert(code, level);
    }

    /// Sets the levels of `over`, which take precedence.
    pub fn overlay(&mut self, over: &Levels) {
        self.0.extend(&over.0);
    }

    /// Returns the level of a code, if it has one.
    pub fn get(&self, code: Code) -> Option<Level> {
        self.0.get(&code).copied()
    }

    /// Returns true if no code has a level.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_levels_take_precedence() {
        let mut levels = Levels::default();
        levels.set(Code::UnusedBinding, Level::Allow);
        let mut over = Levels::default();
        over.set(Code::UnusedBinding, Level::Report(Severity::Error));
        levels.overlay(&over);
        assert_eq!(levels.get(Code::UnusedBinding), Some(Level::Report(Severity::Error)));
        assert_eq!(levels.get(Code::UnusedParameter), None);
        for &level in Level::ALL {
            assert_eq!(Level::from_name(level.name()), Some(level));
        }
        assert_eq!(Level::from_name("deny"), None);
    }
}
