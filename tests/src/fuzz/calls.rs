//! Fuzz target of operators: a call without errors gives a value of the inferred type, or fails with a reason.

use crate::{
    operator_calls::{callable, check_law, random},
    programs::tape::Tape,
};

/// Checks and runs the call that the bytes choose, see [`crate::operator_calls`].
pub fn calls(input: &[u8]) {
    let choices: Vec<u16> = input.chunks(2).map(choice).collect();
    let mut tape = Tape::new(&choices);
    let operators: Vec<_> = callable().collect();
    let operator = tape.one_of(&operators);
    let Some(call) = random(operator, &mut tape) else { return };
    if let Err(violation) = check_law(&call) {
        panic!("`{}`: {violation}:\n{}", operator.name, call.text());
    }
}

fn choice(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |choice, &byte| choice << 8 | u16::from(byte))
}
