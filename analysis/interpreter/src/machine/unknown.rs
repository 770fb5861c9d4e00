//! Runs that go on after a failure, with values that are not known.

use types::Type;

use super::{Run, observer::Absence};
use crate::{
    code::Op,
    fault::{Fault, FaultKind},
    value::Value,
};

/// The depth to which a value is compared with the type of the call in whose place it is used.
const MAX_DEPTH: u32 = 16;

impl Run<'_, '_, '_> {
    /// Goes on after a failure of the running instruction, if that only has a result and the observer permits it.
    ///
    /// # Errors
    /// The failure, if the run ends.
    #[cold]
    pub(super) fn go_on_after(&mut self, fault: Fault) -> Result<(), Fault> {
        use FaultKind::{Missing, NoKernel, Operator, Untyped};
        let is_of_program = matches!(fault.kind, Missing | NoKernel | Operator | Untyped);
        let running = self.frames.last().and_then(|frame| {
            let instr = frame.proc.code.get(frame.pc.checked_sub(1)?)?;
            Some((frame.proc.clone(), frame.base, frame.pc - 1, instr.dst))
        });
        let Some((proc, base, at, dst)) = running.filter(|_| is_of_program) else {
            return Err(fault);
        };
        let no_type = Type::Error;
        let (is_call, result) = match &proc.code[at].op {
            Op::Operator(site) => (true, &site.result),
            Op::Fused(fused) => (true, &fused.first.result),
            Op::Call { .. } => (true, &no_type),
            Op::Literal(_) | Op::Meta(_) | Op::Proj(_) | Op::RefRead | Op::Fault(..) => {
                (false, &no_type)
            }
            _ => return Err(fault),
        };
        let fault = self.traced(fault);
        let absence = if is_call { Absence::Call(&fault) } else { Absence::Other(&fault) };
        let Some(value) = self.unknown(absence, result) else { return Err(fault) };
        self.has_unknown = true;
        self.put(base, dst, value);
        Ok(())
    }

    /// Returns what the observer gives instead of the value of the running instruction, whose result has a type.
    pub(super) fn unknown(&mut self, absence: Absence<'_>, result: &Type) -> Option<Value> {
        let frame = self.frames.last()?;
        let place = frame.proc.places.get(frame.pc.saturating_sub(1)).copied();
        let place = (frame.proc.file, place.unwrap_or_default());
        let (number, value) = self.observer.as_mut()?.unknown(place, absence)?;
        let fits = |value: &Value| !result.has_error() && value.conforms(result, MAX_DEPTH);
        Some(value.filter(fits).unwrap_or(Value::Unknown(number)))
    }

    /// Returns the number of a failure that one of the operands depends on.
    pub(super) fn failure_of(&self, operands: &[Value]) -> Option<u32> {
        if !self.has_unknown {
            return None;
        }
        operands.iter().find_map(Value::failure)
    }

    /// Checks that a value decides where the run goes on.
    ///
    /// # Errors
    /// It is not known.
    pub(super) fn decided_by(&self, value: &Value) -> Result<(), Fault> {
        if !self.has_unknown || value.failure().is_none() {
            return Ok(());
        }
        let message = "the value that decides here depends on what cannot be run";
        Err(Fault::new(FaultKind::Missing, message))
    }
}
