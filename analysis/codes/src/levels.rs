//! The levels that users give to codes.

use std::{collections::BTreeMap, fmt};

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

/// A code whose level users may choose. [`Levels`] takes no other, so that no option, setting or
/// comment hides an error of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lint(Code);

impl Lint {
    /// Returns the code as one that has a level.
    ///
    /// # Errors
    /// It is an error of the language.
    pub const fn new(code: Code) -> Result<Lint, NoLevel> {
        if code.has_level() { Ok(Lint(code)) } else { Err(NoLevel(code)) }
    }

    /// Returns the code.
    pub const fn code(self) -> Code {
        self.0
    }
}

/// The error of a code that has no level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoLevel(Code);

impl NoLevel {
    /// The help.
    pub const HELP: &'static str = "warnings, infos, hints and what TVM rejects have levels: \
                                    `relay-analyzer explain` lists them";
}

impl fmt::Display for NoLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is an error of the language, which has no level", self.0)
    }
}

/// The levels of the codes whose diagnostics do not have their default severities.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Levels(BTreeMap<Code, Level>);

impl Levels {
    /// Sets the level of a code.
    pub fn set(&mut self, lint: Lint, level: Level) {
        self.0.insert(lint.0, level);
    }

    /// Returns the level of a code, if it has one.
    pub fn get(&self, code: Code) -> Option<Level> {
        let own = self.0.get(&code).copied();
        own.or(code.is_on_request().then_some(Level::Allow))
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
        let lint = Lint::new(Code::UnusedBinding).expect("it has a level");
        let mut levels = Levels::default();
        levels.set(lint, Level::Allow);
        levels.set(lint, Level::Report(Severity::Error));
        assert_eq!(levels.get(Code::UnusedBinding), Some(Level::Report(Severity::Error)));
        assert_eq!(levels.get(Code::UnusedParameter), None);
        for &level in Level::ALL {
            assert_eq!(Level::from_name(level.name()), Some(level));
        }
        assert_eq!(Level::from_name("deny"), None);
    }

    #[test]
    fn errors_have_no_level() {
        for &code in Code::ALL {
            let is_error = code.severity() == Severity::Error;
            assert_eq!(
                Lint::new(code).map(Lint::code),
                if is_error { Err(NoLevel(code)) } else { Ok(code) }
            );
        }
    }
}
