//! The slots of frames.

use super::{Args, Run};
use crate::{
    code::{Instr, NO_SLOT, Operand},
    value::Value,
};

impl Run<'_, '_, '_> {
    /// Puts a value into a slot.
    pub(super) fn put(&mut self, base: usize, dst: u32, value: Value) {
        if dst != NO_SLOT
            && let Some(slot) = self.stack.get_mut(base + dst as usize)
        {
            if self.has_large {
                let old = std::mem::replace(slot, value);
                self.discard([old]);
            } else {
                *slot = value;
            }
        }
    }

    /// Returns the value of an operand.
    pub(super) fn get(&mut self, base: usize, arg: Operand) -> Value {
        let at = base + arg.slot as usize;
        if arg.last && arg.is_variable {
            return self.last_use(at);
        }
        let slot = &mut self.stack[at];
        if arg.last { std::mem::replace(slot, Value::Empty) } else { slot.clone() }
    }

    /// Returns the value of the operand at a position.
    pub(super) fn operand(&mut self, base: usize, instr: &Instr, position: usize) -> Value {
        match instr.args.get(position) {
            Some(&arg) => self.get(base, arg),
            None => Value::Empty,
        }
    }

    /// Returns the values of operands.
    pub(super) fn operands(&mut self, base: usize, args: &[Operand]) -> Args {
        args.iter().map(|&arg| self.get(base, arg)).collect()
    }

    /// Drops the value of an operand at its last use.
    pub(super) fn release(&mut self, base: usize, arg: Operand) {
        let old = self.get(base, Operand { last: true, ..arg });
        if self.has_large {
            self.discard([old]);
        }
    }
}
