//! The law: a value has the type that was inferred.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use interpreter::{FaultKind, Limits, Machine};
use semantics::{Database, Severity, View, all_defs, check_file};
use syntax::ParseLimits;
use types::Type;

use super::Call;
use crate::fuzz::fits;

/// How an examined call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The check has an error.
    Rejected,
    /// The run gives a value of the inferred type.
    Computed,
    /// The run fails with a reason.
    Failed(FaultKind),
}

/// A violation of the law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// The value has another type.
    OtherType {
        /// The inferred type.
        inferred: String,
        /// The value.
        value: String,
    },
    /// The run fails for a reason that the check excludes.
    Excluded(String),
    /// The check or the run panics.
    Panic,
}

impl Violation {
    /// Returns true if two violations probably have one cause.
    pub fn is_like(&self, other: &Violation) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::OtherType { inferred, value } => {
                write!(f, "the type is {inferred}, the value {value}")
            }
            Violation::Excluded(fault) => write!(f, "a call without errors fails: {fault}"),
            Violation::Panic => f.write_str("it panics"),
        }
    }
}

fn limits() -> Limits {
    Limits {
        fuel: Some(1_000),
        memory: Some(8 << 20),
        time: Some(Duration::from_millis(500)),
        depth: Some(100),
    }
}

/// Checks and runs a call.
///
/// # Errors
/// The call violates the law.
pub fn check_law(call: &Call) -> Result<Outcome, Violation> {
    catch_unwind(AssertUnwindSafe(|| examine(call))).unwrap_or(Err(Violation::Panic))
}

fn examine(call: &Call) -> Result<Outcome, Violation> {
    let Some(args) = call.values() else { return Ok(Outcome::Rejected) };
    let db = Database::new();
    let file = db.add_file(call.text(), ParseLimits::default());
    if check_file(&db, file).iter().any(|found| found.severity == Severity::Error) {
        return Ok(Outcome::Rejected);
    }
    let Some(def) = all_defs(&db, file).find(|def| def.name(&db) == "@main") else {
        return Ok(Outcome::Rejected);
    };
    let signature = View::new(&db, def).and_then(|view| view.inference.signature.clone());
    let mut machine = Machine::new(&db).limited(limits());
    let result = machine.run(def, args, None);
    machine.wait_for_cleanup();
    match result {
        Ok(value) => {
            if let Some(Type::Func(function)) = &signature
                && !fits(&value, function.ret(), true, 0)
            {
                let (inferred, value) = (function.ret().to_string(), value.describe());
                return Err(Violation::OtherType { inferred, value });
            }
            Ok(Outcome::Computed)
        }
        Err(fault) => match fault.kind {
            FaultKind::Untyped | FaultKind::Input => Err(Violation::Excluded(fault.to_string())),
            _ if fault.message.is_empty() => Err(Violation::Excluded("without a message".into())),
            kind => Ok(Outcome::Failed(kind)),
        },
    }
}
