//! A function with parameters of every kind means what it means for the types of each call: a module with
//! generic functions has the errors, the types and the values of the module in which they are written for
//! each call.
//!
//! `RELAY_KINDS` sets the number of modules, `RELAY_LAWS_SEED` the seed.

use interpreter::FaultKind;
use relay_tests::{
    notes::note,
    programs::{
        kinds::pair,
        meaning::{Outcome, Program},
        tape::Tape,
    },
    variables::number,
};

/// The maximal number of choices of a module.
const LENGTH: usize = 40;

/// The type and the value of `@main`.
fn main_of(program: &Program) -> (Option<String>, Option<Outcome>) {
    let computed = program.computed();
    let main = computed.iter().find(|def| def.name == "@main");
    let ty = main.and_then(|def| def.signature.as_ref()).map(ToString::to_string);
    let defs = program.defs();
    let def = defs.iter().find(|def| def.name(&program.db) == "@main");
    (ty, def.and_then(|&def| program.run(def)))
}

/// Describes how two modules that mean the same differ.
fn difference(generic: &Program, written: &Program) -> Option<String> {
    // What inference does not know of a `?` is checked when it is computed.
    let fails = || {
        let fault = main_of(generic).1;
        let kinds = [FaultKind::DeclaredSize, FaultKind::Operator];
        kinds.into_iter().any(|kind| fault == Some(Outcome::Fault(kind)))
    };
    match (generic.errors().is_empty(), written.errors().is_empty()) {
        (true, true) => {
            let ((ty, value), (theirs, other)) = (main_of(generic), main_of(written));
            // Where a size is a parameter, its result may be a `?`.
            let is_open = ty.as_ref().is_some_and(|ty| ty.contains('?'));
            (ty != theirs && !is_open || value != other)
                .then(|| format!("{ty:?} {value:?}\n{theirs:?} {other:?}"))
        }
        (true, false) if fails() => None,
        (true, false) => Some(format!("accepted: {:?}", written.first_error())),
        (false, true) => Some(format!("refused: {:?}", generic.first_error())),
        (false, false) => None,
    }
}

#[test]
fn generic_functions_mean_their_instances() {
    let mut rng = fastrand::Rng::with_seed(number("RELAY_LAWS_SEED", 7));
    let wanted = number("RELAY_KINDS", 1_000_u64);
    note(&format!("{wanted} modules (RELAY_KINDS)"));
    let (mut sound, mut wrong) = (0u64, Vec::new());
    for _ in 0..wanted {
        let choices: Vec<u16> = (0..LENGTH).map(|_| rng.u16(..)).collect();
        let pair = pair(&mut Tape::new(&choices));
        let (generic, written) = (Program::new(pair.generic), Program::new(pair.written));
        sound += u64::from(written.errors().is_empty());
        if let Some(difference) = difference(&generic, &written) {
            wrong.push(format!("{difference}\n{}---\n{}", generic.text, written.text));
        }
    }
    println!("{wanted} modules, {sound} without errors");
    assert!(sound * 5 > wanted && sound * 5 < wanted * 4, "{sound} of {wanted} have no errors");
    wrong.sort_by_key(String::len);
    let count = wrong.len();
    wrong.truncate(8);
    assert!(wrong.is_empty(), "{count} of {wanted}:\n{}", wrong.join("\n======\n"));
}
