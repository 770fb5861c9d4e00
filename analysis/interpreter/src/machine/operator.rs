//! Calls of operators, and other instructions that create tensors.

use std::sync::Arc;

use clock::Instant;
use smallvec::SmallVec;
use types::{Attrs, Type};

use super::{
    Args, LARGE, Run,
    hand::{self, is_large},
    memory::bytes_of,
    observer::{Given, Measured},
};
use crate::{
    chain::Chain,
    code::{Fill, Instr, Site},
    fault::{Fault, FaultKind},
    interrupt,
    kernel::{self, Call, Kernel},
    spare,
    tensor::count_of,
    value::Value,
};

impl Run<'_, '_, '_> {
    /// The call of an operator in the code.
    pub(super) fn site(&mut self, base: usize, instr: &Instr, site: &Site) -> Result<(), Fault> {
        let mut args = self.operands(base, &instr.args);
        // What is measured goes the way of all calls.
        let quick = site.quick.filter(|_| !self.measures);
        let value = match quick.and_then(|quick| quick.run(&mut args)) {
            Some(value) => value,
            None => self.operator(site.operator, &site.attrs, &mut args, &site.result)?,
        };
        self.give(base, instr.dst, args, value)
    }

    /// Drops the arguments of a call, and puts its value into a slot.
    pub(super) fn give(
        &mut self,
        base: usize,
        dst: u32,
        args: Args,
        value: Value,
    ) -> Result<(), Fault> {
        if self.has_large {
            self.forget(args);
        } else {
            drop(args);
        }
        let bytes = self.bytes(&value);
        self.put(base, dst, value);
        self.made(bytes)
    }

    pub(super) fn operator(
        &mut self,
        operator: &'static operators::Operator,
        attrs: &Attrs,
        args: &mut [Value],
        result: &Type,
    ) -> Result<Value, Fault> {
        let Some(kernel) = kernel::find(operator.name) else {
            let message = format!("`{}` is not supported by the interpreter", operator.name);
            return Err(Fault::new(FaultKind::NoKernel, message));
        };
        self.kernel(kernel, operator, (attrs, result), args, None)
    }

    /// The call of a kernel, which may do the operations of a chain as well.
    pub(super) fn kernel(
        &mut self,
        kernel: &'static Kernel,
        operator: &'static operators::Operator,
        (attrs, result): (&Attrs, &Type),
        args: &mut [Value],
        chain: Option<&Arc<Chain>>,
    ) -> Result<Value, Fault> {
        let large = args.iter().filter_map(Value::shared).any(|tensor| tensor.len() > LARGE);
        if large {
            self.watch.poll()?;
        }
        // The kernel may consume its arguments.
        let given: SmallVec<[Given; 4]> = args.iter().map(Given::of).collect();
        let begin = self.measures.then(Instant::now);
        let empty = match kernel.computes() {
            true => Call::new(operator, attrs, args, result, &self.watch).empty_result(),
            false => None,
        };
        let held = match &empty {
            Some(_) => 0,
            None => self.held(args, bytes_of(result))?,
        };
        let other;
        let watch = match held {
            0 => &self.watch,
            _ => {
                other = self.watch.holding(held);
                &other
            }
        };
        let worth = empty.is_none() && !kernel.is_light(args) && is_large(args, result);
        let hand = if worth { self.hand.get() } else { None };
        self.has_large |= hand.is_some();
        let made = match (empty, hand) {
            (Some(value), _) => Ok(Ok(value)),
            (None, Some(hand)) => {
                let take = |arg: &mut Value| std::mem::replace(arg, Value::Empty);
                let mut args: Args = args.iter_mut().map(take).collect();
                let (attrs, result, watch) = (attrs.clone(), result.clone(), watch.clone());
                let chain = chain.cloned();
                hand.call(&self.watch, move || {
                    let call = Call::new(operator, &attrs, &mut args, &result, &watch);
                    let mut call = call.followed_by(chain.as_deref());
                    let done = interrupt::scope(&watch, || (kernel.run)(&mut call));
                    for arg in args {
                        watch.spare().give_value(arg);
                    }
                    done
                })
                .and_then(|done| done)
            }
            (None, None) => {
                let call = Call::new(operator, attrs, args, result, watch);
                let mut call = call.followed_by(chain.map(|chain| &**chain));
                interrupt::scope(watch, || (kernel.run)(&mut call))
            }
        };
        self.has_large |= bytes_of(result).is_some_and(|bytes| bytes > spare::LEAST as u64);
        let value = match made.and_then(|done| done) {
            Ok(value) => value,
            Err(mut fault) => {
                fault.arguments = given.iter().map(|given| given.ty().to_string()).collect();
                return Err(fault);
            }
        };
        if let (Some(begin), Some(observer), Some(frame)) =
            (begin, &mut self.observer, self.frames.last())
        {
            let time = begin.elapsed();
            let args: Vec<Type> = given.iter().map(Given::ty).collect();
            let place = frame.proc.places.get(frame.pc.saturating_sub(1)).copied();
            observer.called(&Measured {
                operator,
                attrs,
                args: &args,
                value: &value,
                time,
                function: &frame.proc.name,
                place: (frame.proc.file, place.unwrap_or_default()),
            });
        }
        Ok(value)
    }

    /// The result of the run, with pending transposes computed within the limits of the run.
    pub(super) fn settled(&self, value: Value) -> Result<Value, Fault> {
        interrupt::scope(&self.watch, || {
            if let Some(leaves) = value.leaves_within(1 << 12) {
                leaves.iter().for_each(|tensor| _ = tensor.len());
            }
        })?;
        Ok(value)
    }

    /// A constant of a metadata section, decoded on its first use.
    pub(super) fn constant(&mut self, number: u32) -> Result<Value, Fault> {
        let Some(read) = self.program.constant(number)? else {
            return self.program.known(number);
        };
        let hand = if read.len() > hand::LARGE as u64 { self.hand.get() } else { None };
        self.has_large |= hand.is_some();
        let watch = self.watch.clone();
        let decode = move || interrupt::scope(&watch, || read.decode());
        let decoded = match hand {
            Some(hand) => hand.call(&self.watch, decode).and_then(|done| done),
            None => decode(),
        };
        let value = decoded.and_then(|done| done)?;
        self.program.keep(number, value.clone());
        Ok(value)
    }

    /// A tensor filled with one number.
    pub(super) fn fill(&mut self, fill: &Fill) -> Result<Value, Fault> {
        let shape = &fill.shape;
        let none = || {
            let message = format!("a constant of shape {shape:?} does not fit into memory");
            Fault::new(FaultKind::Memory, message)
        };
        let bytes = count_of(shape).and_then(|n| n.checked_mul(fill.value.bytes()));
        let held = self.held(&[], Some(bytes.ok_or_else(none)? as u64))?;
        let watch = self.watch.holding(held);
        let tensor = interrupt::scope(&watch, || fill.value.filled(shape))?;
        tensor.map(Value::from).ok_or_else(none)
    }
}
