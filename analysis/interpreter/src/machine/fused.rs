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

#[cfg(test)]
thread_local! {
    /// The number of rows that this thread has done as a whole.
    static DONE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn done() -> usize {
    DONE.with(std::cell::Cell::get)
}

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
        #[cfg(test)]
        DONE.with(|done| done.set(done.get() + 1));
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
        let first = if first.is_some() { &instr.args[..] } else { &[] };
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semantics::{Database, all_defs};

    use crate::{
        Machine, Tensor, Value,
        code::{Op, Proc},
        machine::program::Program,
    };

    const TEXT: &str = "
        def @main(%x: Tensor[(1, 4, 40, 40), float32], %w: Tensor[(4, 4, 3, 3), float32],
                  %c: Tensor[(4), float32]) {
          %0 = nn.conv2d(%x, %w, padding=[1, 1], channels=4, kernel_size=[3, 3]);
          %1 = nn.batch_norm(%0, %c, %c, %c, %c);
          %2 = %1.0;
          %3 = add(%2, %x);
          %4 = nn.relu(%3);
          %5 = nn.softmax(%4);
          %6 = multiply(%5, 0.5f);
          %7 = erf(%6);
          %8 = multiply(%5, %7);
          nn.global_avg_pool2d(%8)
        }";

    #[test]
    fn calls_in_a_row_are_one_instruction() {
        let db = Database::new();
        let file = db.add_file(TEXT, syntax::ParseLimits::default());
        let def = all_defs(&db, file).next().expect("it is there");
        let lengths = |proc: &Arc<Proc>| -> Vec<usize> {
            let length = |op: &Op| match op {
                Op::Fused(fused) => Some(fused.length),
                _ => None,
            };
            proc.code.iter().filter_map(|instr| length(&instr.op)).collect()
        };
        let mut program = Program::new(&db);
        // The convolution to the activation, with the field of the tuple; then what comes after the softmax.
        assert_eq!(lengths(&program.compile(def).expect("code")), [5, 3]);
        program.observe(Some(file));
        assert_eq!(lengths(&program.compile(def).expect("code")), [0; 0]);
    }

    #[test]
    fn the_whole_row_is_done() {
        let db = Database::new();
        let file = db.add_file(TEXT, syntax::ParseLimits::default());
        let def = all_defs(&db, file).next().expect("it is there");
        let tensor = |shape: &[usize]| {
            let numbers = (0..shape.iter().product()).map(|k: usize| (k % 7) as f64 * 0.1 + 0.1);
            let tensor = Tensor::from_f64s(types::DataType::FLOAT32, shape, numbers.collect());
            Value::from(tensor.expect("a tensor"))
        };
        let args = vec![tensor(&[1, 4, 40, 40]), tensor(&[4, 4, 3, 3]), tensor(&[4])];
        let before = super::done();
        Machine::new(&db).run(def, args, None).expect("it runs");
        assert_eq!(super::done() - before, 2);
    }
}
