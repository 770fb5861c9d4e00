//! Instructions that do more than move values. The loop over the code (`Run::frame`) calls each of them in one
//! place, into which it is inlined.

use semantics::{SourceFile, body::Literal};
use smallvec::SmallVec;
use syntax::TextRange;

use super::{
    Run,
    matching::{matches, truth},
    observer::Event,
};
use crate::{
    code::{Arms, Instr, Operand, Pattern, Promise},
    compile::literal_of_dtype,
    fault::{Fault, FaultKind},
    tensor::Tensor,
    value::Value,
};

impl Run<'_, '_, '_> {
    /// Puts a value with so many new bytes into a slot.
    pub(super) fn create(
        &mut self,
        base: usize,
        dst: u32,
        value: Value,
        bytes: u64,
    ) -> Result<(), Fault> {
        self.put(base, dst, value);
        self.count_created(bytes)
    }

    /// Loads a number of the data type of the operand.
    #[inline]
    pub(super) fn literal(
        &mut self,
        base: usize,
        instr: &Instr,
        literal: &Literal,
    ) -> Result<(), Fault> {
        let like = self.operand(base, instr, 0);
        let dtype = like.as_tensor().map(Tensor::dtype);
        let Some(number) = literal_of_dtype(literal, dtype) else {
            let message = "numbers of this data type are not supported";
            return Err(Fault::new(FaultKind::Missing, message));
        };
        self.put(base, instr.dst, number.into());
        Ok(())
    }

    /// Reads a field of a tuple.
    #[inline]
    pub(super) fn field(&mut self, base: usize, instr: &Instr, index: usize) -> Result<(), Fault> {
        let tuple = self.operand(base, instr, 0);
        if let Value::Unknown(_) = tuple {
            self.put(base, instr.dst, tuple);
            return Ok(());
        }
        let field = tuple.as_tuple().and_then(|fields| fields.get(index));
        let Some(field) = field.cloned() else {
            let message = format!("field {index} is out of range for {}", tuple.describe());
            return Err(Fault::new(FaultKind::Untyped, message));
        };
        self.put(base, instr.dst, field);
        Ok(())
    }

    /// Returns the truth of the operand.
    #[inline]
    pub(super) fn condition(&mut self, base: usize, instr: &Instr) -> Result<bool, Fault> {
        let value = self.operand(base, instr, 0);
        self.decided_by(&value)?;
        truth(&value).ok_or_else(|| {
            let message = format!("the condition is {}, not a bool", value.describe());
            Fault::new(FaultKind::Untyped, message)
        })
    }

    /// Binds the variables of the first arm that matches the operand. Returns its number and the place of its code.
    #[inline]
    pub(super) fn arm(
        &mut self,
        base: usize,
        instr: &Instr,
        arms: &Arms,
    ) -> Result<(usize, usize), Fault> {
        let value = self.operand(base, instr, 0);
        if !matches!(arms.arms.first(), Some((Pattern::Wildcard | Pattern::Bind(_), _))) {
            self.decided_by(&value)?;
        }
        let mut bound: SmallVec<[(u32, Value); 4]> = SmallVec::new();
        let arm = arms.arms.iter().enumerate().find(|(_, (pattern, _))| {
            bound.clear();
            matches(pattern, &value, &mut bound)
        });
        let Some((number, (_, to))) = arm else {
            let message = format!("no arm of the `match` matches {}", value.describe());
            return Err(Fault::new(FaultKind::NoArm, message));
        };
        drop(value);
        for (slot, value) in bound {
            self.put(base, slot, value);
        }
        Ok((number, *to as usize))
    }

    /// Reads a reference.
    #[inline]
    pub(super) fn read(&mut self, base: usize, instr: &Instr) -> Result<(), Fault> {
        let value = match self.operand(base, instr, 0) {
            Value::Ref(cell) => cell.get(),
            unknown @ Value::Unknown(_) => unknown,
            _ => return Err(no_reference()),
        };
        self.put(base, instr.dst, value);
        Ok(())
    }

    /// Writes a reference.
    #[inline]
    pub(super) fn write(&mut self, base: usize, instr: &Instr) -> Result<(), Fault> {
        let reference = self.operand(base, instr, 0);
        let value = self.operand(base, instr, 1);
        let Value::Ref(cell) = reference else { return Err(no_reference()) };
        cell.set(value);
        self.put(base, instr.dst, Value::tuple([]));
        Ok(())
    }

    /// Reports the value of a variable to the observer.
    #[inline]
    pub(super) fn report(
        &mut self,
        base: usize,
        instr: &Instr,
        name: (SourceFile, TextRange),
    ) -> Result<(), Fault> {
        let Some(&arg) = instr.args.first() else { return Ok(()) };
        if self.passed.pass(false) {
            if arg.last {
                self.release(base, arg);
            }
            return Ok(());
        }
        // An unused variable has its value until the observer has seen it.
        let value = self.get(base, Operand { last: false, ..arg });
        match &mut self.observer {
            _ if matches!(value, Value::Unknown(_)) => {}
            Some(observer) => {
                self.watch.within(|| observer.bound(name, &value))?;
                self.event(Event::Bound(name.1, &value))?;
            }
            None => {}
        }
        drop(value);
        if arg.last {
            self.release(base, arg);
        }
        Ok(())
    }

    /// Compares values with their declared sizes.
    #[inline]
    pub(super) fn check(
        &mut self,
        base: usize,
        instr: &Instr,
        promise: &Promise,
    ) -> Result<(), Fault> {
        let values = self.operands(base, &instr.args);
        match promise.broken(values.iter()) {
            Some(message) => Err(Fault::new(FaultKind::DeclaredSize, message)),
            None => Ok(()),
        }
    }

    /// Ends the innermost frame. Returns the result of the outermost one.
    #[inline]
    pub(super) fn end(&mut self, base: usize, instr: &Instr) -> Option<Value> {
        let value = self.operand(base, instr, 0);
        let Some(frame) = self.frames.pop() else { return Some(value) };
        self.leave(frame.serial, base);
        let Some(below) = self.frames.last() else { return Some(value) };
        let base = below.base;
        self.put(base, frame.dst, value);
        None
    }
}

fn no_reference() -> Fault {
    Fault::new(FaultKind::Untyped, "this is not a reference")
}
