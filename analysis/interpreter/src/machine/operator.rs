//! Calls of operators, and other instructions that create tensors.

use std::sync::Arc;

use clock::Instant;
use smallvec::SmallVec;
use types::{Attrs, Type};

use super::{
    Args, LARGE, Run,
    kernel_thread::{self, is_large},
    memory::{bytes_of, recycle},
    observer::{Absence, ArgType, CallMeasurement, Event, PendingCall},
};
use crate::{
    chain::Chain,
    code::{CallSite, Fill, Instr},
    families,
    fault::{Fault, FaultKind},
    kernel::{Call, Kernel, OverflowRule},
    pool,
    tensor::count_of,
    value::Value,
};

/// The depth to which nested tuples are compared with their types.
const MAX_DEPTH: u32 = 16;

impl Run<'_, '_, '_> {
    /// Executes the call of an operator.
    pub(super) fn site(
        &mut self,
        base: usize,
        instr: &Instr,
        site: &CallSite,
    ) -> Result<(), Fault> {
        let mut args = self.operands(base, &instr.args);
        if let Some(number) = self.failure_of(&args) {
            let value = self.unknown(Absence::Operand(number), &site.result);
            return self.finish_call(
                base,
                instr.dst,
                args,
                value.unwrap_or(Value::Unknown(number)),
            );
        }
        if self.has_unknown && site.result.has_error() {
            let message = "this expression has no type because of an error";
            return Err(Fault::new(FaultKind::Untyped, message));
        }
        // A measured call uses the kernel.
        let scalar = site.fusion.scalar.filter(|_| !self.measures);
        let value = match scalar.and_then(|scalar| scalar.run(&mut args)) {
            Some(value) => value,
            None => self.operator(site.operator, &site.attrs, &mut args, &site.result)?,
        };
        if site.is_open && !value.conforms(&site.result, MAX_DEPTH) {
            let (name, inferred, found) = (site.operator.name, &site.result, value.ty());
            let message = format!(
                "`{name}`: the result has the type {found}, but {inferred} was inferred with `?` for a size of \
                 an argument"
            );
            return Err(Fault::new(FaultKind::Operator, message));
        }
        self.finish_call(base, instr.dst, args, value)
    }

    /// Drops the arguments of a call, and stores its result in a slot.
    pub(super) fn finish_call(
        &mut self,
        base: usize,
        dst: u32,
        args: Args,
        value: Value,
    ) -> Result<(), Fault> {
        if self.has_large {
            self.discard(args);
        } else {
            drop(args);
        }
        let bytes = self.bytes(&value);
        self.put(base, dst, value);
        self.count_created(bytes)
    }

    /// Calls an operator.
    pub(super) fn operator(
        &mut self,
        operator: &'static operators::Operator,
        attrs: &Attrs,
        args: &mut [Value],
        result: &Type,
    ) -> Result<Value, Fault> {
        let Some(kernel) = families::of(operator) else {
            let message = format!("`{}` is not supported by the interpreter", operator.name);
            return Err(Fault::new(FaultKind::NoKernel, message));
        };
        self.kernel(kernel, operator, (attrs, result), args, None)
    }

    /// Calls a kernel, which may apply a chain to its result.
    pub(super) fn kernel(
        &mut self,
        kernel: &'static Kernel,
        operator: &'static operators::Operator,
        (attrs, result): (&Attrs, &Type),
        args: &mut [Value],
        chain: Option<&Arc<Chain>>,
    ) -> Result<Value, Fault> {
        let is_large_call =
            args.iter().filter_map(Value::shared).any(|tensor| tensor.len() > LARGE);
        if is_large_call {
            self.watch.poll()?;
            self.passed.hasten();
        }
        // The kernel may consume its arguments.
        let arg_types: SmallVec<[ArgType; 4]> = args.iter().map(ArgType::of).collect();
        let rule = self.overflow_rule(kernel);
        let kept: Option<Args> = rule.map(|_| args.iter().cloned().collect());
        let begin = self.measures.then(Instant::now);
        let known = self.known(operator, (attrs, result), args);
        let empty = match kernel.refusal() {
            _ if known.is_some() => known,
            None => Call::new(operator, attrs, args, result, &self.watch).empty_result(),
            Some(_) => None,
        };
        let live = match &empty {
            Some(_) => 0,
            None => self.live_during(args, bytes_of(result))?,
        };
        let other;
        let watch = match live {
            0 => &self.watch,
            _ => {
                other = self.watch.with_live(live);
                &other
            }
        };
        let is_slow = empty.is_none() && !kernel.is_light(args) && is_large(args, result);
        let thread = if is_slow { self.thread.get() } else { None };
        self.has_large |= thread.is_some();
        let result_value = match (empty, thread) {
            (Some(value), _) => Ok(Ok(value)),
            (None, Some(thread)) => {
                let take = |arg: &mut Value| std::mem::replace(arg, Value::Empty);
                let mut args: Args = args.iter_mut().map(take).collect();
                let (attrs, result, watch) = (attrs.clone(), result.clone(), watch.clone());
                let chain = chain.cloned();
                thread
                    .call(&self.watch, move || {
                        let call = Call::new(operator, &attrs, &mut args, &result, &watch);
                        let mut call = call.with_epilogue(chain.as_deref());
                        let done = watch.within(|| kernel.run(&mut call));
                        for arg in args {
                            recycle(watch.pool(), arg);
                        }
                        done
                    })
                    .and_then(|done| done)
            }
            (None, None) => {
                let call = Call::new(operator, attrs, args, result, watch);
                let mut call = call.with_epilogue(chain.map(|chain| &**chain));
                watch.within(|| kernel.run(&mut call))
            }
        };
        self.has_large |= bytes_of(result).is_some_and(|bytes| bytes > pool::MIN_LEN as u64);
        let value = match result_value.and_then(|done| done) {
            Ok(value) => value,
            Err(mut fault) => {
                fault.arguments = arg_types.iter().map(|ty| ty.ty().to_string()).collect();
                return Err(fault);
            }
        };
        if let (Some(begin), Some(frame)) = (begin, self.frames.last()) {
            let time = begin.elapsed();
            let overflow = match (rule, kept, &value) {
                (Some(rule), Some(mut kept), Value::Tensor(found)) => {
                    let call = Call::new(operator, attrs, &mut kept, result, &self.watch);
                    self.watch.within(|| rule(&call, found))?
                }
                _ => None,
            };
            let proc = frame.proc.clone();
            let args: Vec<Type> = arg_types.iter().map(ArgType::ty).collect();
            let place = proc.places.get(frame.pc.saturating_sub(1)).copied();
            let call = CallMeasurement {
                operator,
                attrs,
                args: &args,
                value: &value,
                overflow: overflow.as_ref(),
                time,
                function: &proc.name,
                place: (proc.file, place.unwrap_or_default()),
            };
            if let Some(observer) = &mut self.observer {
                observer.called(&call);
                if let Some(other) = observer.replacement(&call) {
                    return Ok(other);
                }
            }
            self.event(Event::Called(&call))?;
        }
        Ok(value)
    }

    /// Returns the result of a call, if the observer knows it.
    fn known(
        &mut self,
        operator: &'static operators::Operator,
        (attrs, result): (&Attrs, &Type),
        args: &[Value],
    ) -> Option<Value> {
        let observer = self.observer.as_mut().filter(|_| self.measures)?;
        let frame = self.frames.last()?;
        let place = frame.proc.places.get(frame.pc.saturating_sub(1)).copied();
        let place = (frame.proc.file, place.unwrap_or_default());
        observer.known(&PendingCall { operator, attrs, args, result, place })
    }

    /// Returns what checks the calls of a kernel for overflow, if they are to be checked.
    fn overflow_rule(&self, kernel: &Kernel) -> Option<OverflowRule> {
        if !self.measures {
            return None;
        }
        let checks = self.observer.as_ref().is_some_and(|observer| observer.checks_overflow());
        kernel.overflow.filter(|_| checks)
    }

    /// Computes the pending transposes in the result of the run, within its limits.
    pub(super) fn with_elements(&self, value: Value) -> Result<Value, Fault> {
        self.watch.within(|| {
            if let Some(leaves) = value.leaves_within(1 << 12) {
                leaves.iter().for_each(|tensor| _ = tensor.len());
            }
        })?;
        Ok(value)
    }

    /// Returns a constant of a metadata section, decoded on its first use.
    pub(super) fn constant(&mut self, number: u32) -> Result<Value, Fault> {
        let Some(encoded) = self.program.constant(number)? else {
            return self.program.known(number);
        };
        let thread =
            if encoded.len() > kernel_thread::LARGE as u64 { self.thread.get() } else { None };
        self.has_large |= thread.is_some();
        let watch = self.watch.clone();
        let decode = move || watch.within(|| encoded.decode());
        let decoded = match thread {
            Some(thread) => thread.call(&self.watch, decode).and_then(|done| done),
            None => decode(),
        };
        let value = decoded.and_then(|done| done)?;
        self.program.keep(number, value.clone());
        Ok(value)
    }

    /// Creates a tensor filled with one number.
    pub(super) fn fill(&mut self, fill: &Fill) -> Result<Value, Fault> {
        let shape = &fill.shape;
        let too_large = || {
            let message = format!("a constant of shape {shape:?} does not fit into memory");
            Fault::new(FaultKind::Memory, message)
        };
        let bytes = count_of(shape).and_then(|n| n.checked_mul(fill.value.bytes()));
        let live = self.live_during(&[], Some(bytes.ok_or_else(too_large)? as u64))?;
        let watch = self.watch.with_live(live);
        let tensor = watch.within(|| fill.value.filled(shape))?;
        tensor.map(Value::from).ok_or_else(too_large)
    }
}
