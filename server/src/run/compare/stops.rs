//! What cannot be run of the sides of a comparison, which go on with all that does not depend on it.

use interpreter::{Absence, Fault};
use rustc_hash::FxHashMap;
use semantics::{Code, Database, Diagnostic, View};
use syntax::TextRange;

use super::LimitName;
use crate::run::failure;

/// An expression that cannot be run.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The reason, in one line.
    pub(crate) message: String,
    /// The code of the failure, or of the error in the text.
    pub(crate) code: Code,
    /// Its place.
    pub(crate) range: TextRange,
    /// The help.
    pub(crate) help: Option<String>,
}

/// The reason that a pair has no values to compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingValue {
    /// True if the first side has no value, false if the second one has none.
    pub(crate) is_before: bool,
    /// The number of the stop of that side.
    pub(crate) stop: usize,
    /// True if the call itself cannot be run, false if it depends on the expression that cannot.
    pub(crate) is_own: bool,
}

/// The function of a side.
pub(super) struct Subject<'r, 'db> {
    pub(super) db: &'db Database,
    pub(super) view: &'r View<'db>,
    /// The errors of its file, at which the run stops.
    pub(super) errors: Vec<Diagnostic>,
    /// Names what raises a limit.
    pub(super) limit_name: LimitName,
}

/// The most expressions that are told apart.
const MOST: usize = 1 << 10;

/// Collects the stops of a run.
pub(super) struct Stops<'r, 'db> {
    subject: &'r Subject<'r, 'db>,
    found: Vec<Stop>,
    /// The number of the stop at a place: an expression may fail many times.
    by_place: FxHashMap<TextRange, u32>,
}

impl<'r, 'db> Stops<'r, 'db> {
    pub(super) fn new(subject: &'r Subject<'r, 'db>) -> Stops<'r, 'db> {
        Stops { subject, found: Vec::new(), by_place: FxHashMap::default() }
    }

    /// Returns the number of the stop because of which a value is absent.
    pub(super) fn of(&mut self, absence: Absence<'_>) -> u32 {
        match absence {
            Absence::Call(fault) | Absence::Other(fault) => self.add(fault),
            Absence::Operand(stop) => stop,
        }
    }

    /// Returns the number of the stop of a failure.
    pub(super) fn add(&mut self, fault: &Fault) -> u32 {
        let stop = self.subject.stop(fault);
        if let Some(number) = self.by_place.get(&stop.range) {
            return *number;
        }
        let number = self.found.len() as u32;
        if self.found.len() == MOST {
            return number - 1;
        }
        self.by_place.insert(stop.range, number);
        self.found.push(stop);
        number
    }

    pub(super) fn into_found(self) -> Vec<Stop> {
        self.found
    }
}

impl Subject<'_, '_> {
    /// Describes a failure, at the error of the text that is its cause if there is one.
    pub(super) fn stop(&self, fault: &Fault) -> Stop {
        let Subject { db, view, errors, limit_name } = self;
        let mut fault = fault.clone();
        let of_text = failure::explain_stop(&mut fault, view.def.file(*db), errors);
        let diagnostic = match of_text {
            Some(error) => error.clone(),
            None => failure::diagnostic(db, view.def, &fault, *limit_name),
        };
        Stop {
            message: failure::headline(&diagnostic).to_owned(),
            code: diagnostic.code,
            range: diagnostic.range,
            help: diagnostic.help,
        }
    }
}
