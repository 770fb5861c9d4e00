//! Calls of operators in a row, computed together.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Args, Run};
use crate::{
    chain::{self, Arg, Builder, Chain},
    code::{Fused, Instr, Source, Use},
    fault::Fault,
    interrupt,
    kernel::{self, Kernel},
    value::Value,
};

impl Run<'_, '_, '_> {
    /// Does calls in a row, or the first of them; returns the number of instructions that it did.
    pub(super) fn fused(
        &mut self,
        base: usize,
        instr: &Instr,
        fused: &Fused,
    ) -> Result<usize, Fault> {
        // One call has been counted, and each of the others is one.
        let calls = fused.links.len() as u64;
        let apart = self.measures || self.fuel < calls;
        let chain = match apart {
            true => None,
            false => interrupt::scope(&self.watch, || self.chain(base, instr, fused))?,
        };
        let Some((chain, kernel, first)) = chain else {
            self.site(base, instr, &fused.site)?;
            return Ok(1);
        };
        let chain = Arc::new(chain);
        let mut args = match first {
            Some(position) => Args::from_iter([self.get(base, position)]),
            None => self.operands(base, &instr.args),
        };
        let site = &fused.site;
        let types = (&site.attrs, &site.result);
        let value = self.kernel(kernel, site.operator, types, &mut args, Some(&chain))?;
        if !chain.is_taken() {
            self.give(base, instr.dst, args, value)?;
            return Ok(1);
        }
        self.fuel -= calls;
        let shape = chain.shape();
        let value = match value {
            Value::Tensor(tensor) if tensor.shape() != shape => {
                let tensor = tensor.into_tensor();
                tensor.clone().reshape(shape).unwrap_or(tensor).into()
            }
            other => other,
        };
        // With it goes what it holds of arguments.
        drop(chain);
        let first = first.is_some().then_some(&instr.args[..]).unwrap_or_default();
        let others = fused.links.iter().flat_map(|link| &link.args);
        let others = others.filter_map(|source| match source {
            Source::Slot(arg) => Some(arg),
            _ => None,
        });
        for arg in first.iter().chain(others).filter(|arg| arg.last) {
            self.put(base, arg.slot, Value::Empty);
        }
        self.give(base, fused.dst, args, value)?;
        Ok(fused.length)
    }

    /// The operations of calls in a row, the kernel that does them, and which argument of the first call they
    /// are done on, unless they are done on its result.
    fn chain(
        &self,
        base: usize,
        instr: &Instr,
        fused: &Fused,
    ) -> Option<(Chain, &'static Kernel, Option<Use>)> {
        let value = |arg: &Use| self.stack.get(base + arg.slot as usize);
        let shape = chain::first_shape(&fused.site.result)?;
        let (mut builder, kernel, first) = if fused.leads {
            (Builder::new(shape), kernel::find(fused.site.operator.name)?, None)
        } else {
            let position = instr.args.iter().enumerate().position(|(position, arg)| {
                let fits = |value: &Value| chain::shape_of(&value.ty()).as_ref() == Some(&shape);
                chain::can_follow(&fused.site, position) && value(arg).is_some_and(fits)
            })?;
            let mut args: SmallVec<[Arg<'_>; 5]> = SmallVec::new();
            for (at, arg) in instr.args.iter().enumerate() {
                args.push(if at == position { Arg::Before } else { Arg::Value(value(arg)?) });
            }
            let mut builder = Builder::new(shape);
            builder.call(&fused.site, &args)?;
            (builder, chain::kernel(), Some(instr.args[position]))
        };
        let keep = |builder: &mut Builder, number: usize| {
            let place = fused.kept.iter().position(|kept| *kept == number);
            place.map_or(Some(()), |place| builder.keep(place))
        };
        keep(&mut builder, 0)?;
        for (link, number) in fused.links.iter().zip(1..) {
            let mut args: SmallVec<[Arg<'_>; 5]> = SmallVec::new();
            for source in &link.args {
                args.push(match source {
                    Source::Before => Arg::Before,
                    Source::Kept(place) => Arg::Kept(*place),
                    Source::Slot(arg) => Arg::Value(value(arg)?),
                    Source::Const(value) => Arg::Value(value),
                });
            }
            builder.call(&link.site, &args)?;
            keep(&mut builder, number)?;
        }
        Some((builder.build(), kernel, first))
    }
}
