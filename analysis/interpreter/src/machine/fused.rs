//! Fused calls of operators.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Args, Run};
use crate::{
    chain::Chain,
    code::{FusedArg, FusedCalls, Instr, Operand},
    families,
    fault::Fault,
    fusion::{self, Arg, Builder, CHAIN_KERNEL},
    kernel::Kernel,
    shared::SharedTensor,
    value::Value,
};

#[cfg(test)]
thread_local! {
    /// The number of chains that this thread has computed as a whole.
    static COMPUTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn computed() -> usize {
    COMPUTED.with(std::cell::Cell::get)
}

impl Run<'_, '_, '_> {
    /// Executes fused calls, or the first of them. Returns the number of executed instructions.
    pub(super) fn fused(
        &mut self,
        base: usize,
        instr: &Instr,
        fused: &FusedCalls,
    ) -> Result<usize, Fault> {
        // The first call has been counted.
        let calls = fused.rest.len() as u64;
        // The observer receives the events between the calls, or the values of their variables are kept.
        let is_observed = self.has_points && (!self.passed.is_on() || self.retention.is_on);
        let is_separate = self.measures || self.fuel < calls || is_observed;
        let chain = match is_separate {
            true => None,
            false => self.watch.within(|| self.chain(base, instr, fused))?,
        };
        let Some((chain, kernel, argument)) = chain else {
            self.site(base, instr, &fused.first)?;
            return Ok(1);
        };
        let chain = Arc::new(chain);
        let mut args = match argument {
            Some(argument) => Args::from_iter([self.get(base, argument)]),
            None => self.operands(base, &instr.args),
        };
        let site = &fused.first;
        let types = (&site.attrs, &site.result);
        let value = self.kernel(kernel, site.operator, types, &mut args, Some(&chain))?;
        if !chain.is_claimed() {
            self.finish_call(base, instr.dst, args, value)?;
            return Ok(1);
        }
        self.fuel -= calls;
        #[cfg(test)]
        COMPUTED.with(|computed| computed.set(computed.get() + 1));
        let shape = chain.shape();
        let value = match value {
            Value::Tensor(tensor) if tensor.shape() != shape => {
                let tensor = tensor.into_tensor();
                tensor.clone().reshape(shape).unwrap_or(tensor).into()
            }
            other => other,
        };
        // It shares the elements of arguments.
        drop(chain);
        let first = if argument.is_some() { &instr.args[..] } else { &[] };
        let others = fused.rest.iter().flat_map(|call| &call.args);
        let others = others.filter_map(|arg| match arg {
            FusedArg::Slot(arg) => Some(arg),
            _ => None,
        });
        for arg in first.iter().chain(others).filter(|arg| arg.last) {
            self.release(base, *arg);
        }
        self.passed.add(fused.events);
        for &slot in &fused.variables {
            self.put(base, slot, Value::Released);
        }
        self.finish_call(base, fused.dst, args, value)?;
        Ok(fused.length)
    }

    /// Returns the chain of fused calls, the kernel that applies it, and the argument of the first call
    /// that it is applied to, unless it is applied to the result of that call.
    fn chain(
        &self,
        base: usize,
        instr: &Instr,
        fused: &FusedCalls,
    ) -> Option<(Chain, &'static Kernel, Option<Operand>)> {
        let tensor = |arg: &Operand| self.stack.get(base + arg.slot as usize)?.shared();
        let shape = fusion::first_shape(&fused.first.result)?;
        let (mut builder, kernel, argument) = if fused.has_epilogue {
            (Builder::new(shape), families::find(fused.first.operator.name)?, None)
        } else {
            let position = instr.args.iter().enumerate().position(|(position, arg)| {
                let fits =
                    |tensor: &SharedTensor| fusion::shape_of(&tensor.ty()).as_ref() == Some(&shape);
                fusion::can_follow(&fused.first, position) && tensor(arg).is_some_and(fits)
            })?;
            let mut args: SmallVec<[Arg<'_>; 5]> = SmallVec::new();
            for (at, arg) in instr.args.iter().enumerate() {
                args.push(if at == position { Arg::Previous } else { Arg::Tensor(tensor(arg)?) });
            }
            let mut builder = Builder::new(shape);
            builder.call(&fused.first, &args)?;
            (builder, &CHAIN_KERNEL, Some(instr.args[position]))
        };
        let save = |builder: &mut Builder, number: usize| {
            let index = fused.saved.iter().position(|saved| *saved == number);
            index.map_or(Some(()), |index| builder.save(index))
        };
        save(&mut builder, 0)?;
        for (call, number) in fused.rest.iter().zip(1..) {
            let mut args: SmallVec<[Arg<'_>; 5]> = SmallVec::new();
            for arg in &call.args {
                args.push(match arg {
                    FusedArg::Previous => Arg::Previous,
                    FusedArg::Saved(index) => Arg::Saved(*index),
                    FusedArg::Slot(slot) => Arg::Tensor(tensor(slot)?),
                    FusedArg::Const(tensor) => Arg::Tensor(tensor),
                });
            }
            builder.call(&call.site, &args)?;
            save(&mut builder, number)?;
        }
        Some((builder.build(), kernel, argument))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semantics::{Database, all_defs};

    use crate::{
        Machine, Observer, Pace, Tensor, Value,
        code::{Op, Proc},
        compile::TraceLevel,
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

    /// Returns the arguments of `@main`.
    fn args() -> Vec<Value> {
        let tensor = |shape: &[usize]| {
            let numbers = (0..shape.iter().product()).map(|k: usize| (k % 7) as f64 * 0.1 + 0.1);
            let tensor = Tensor::from_f64s(types::DataType::FLOAT32, shape, numbers.collect());
            Value::from(tensor.expect("a tensor"))
        };
        vec![tensor(&[1, 4, 40, 40]), tensor(&[4, 4, 3, 3]), tensor(&[4])]
    }

    #[test]
    fn calls_are_fused_into_one_instruction() {
        let db = Database::new();
        let file = db.add_file(TEXT, syntax::ParseLimits::default());
        let def = all_defs(&db, file).next().expect("a definition");
        let lengths = |proc: &Arc<Proc>| -> Vec<usize> {
            let length = |op: &Op| match op {
                Op::Fused(fused) => Some(fused.length),
                _ => None,
            };
            proc.code.iter().filter_map(|instr| length(&instr.op)).collect()
        };
        let mut program = Program::new(&db);
        // From the convolution to the activation, with the field of the tuple; and after the softmax.
        assert_eq!(lengths(&program.compile(def).expect("code")), [5, 3]);
        program.observe(Some((file, TraceLevel::Values)));
        assert_eq!(lengths(&program.compile(def).expect("code")), [0; 0]);
        // With the points before the calls, and the variables.
        program.observe(Some((file, TraceLevel::Points)));
        assert_eq!(lengths(&program.compile(def).expect("code")), [13, 7]);
    }

    #[test]
    fn the_whole_chain_is_computed() {
        let db = Database::new();
        let file = db.add_file(TEXT, syntax::ParseLimits::default());
        let def = all_defs(&db, file).next().expect("a definition");
        let args = args();
        let before = super::computed();
        Machine::new(&db).run(def, args, None).expect("it runs");
        assert_eq!(super::computed() - before, 2);
    }

    /// Passes over events, or receives each of them.
    struct Passing(Option<Pace>);

    impl Observer for Passing {
        fn pace(&self) -> Option<Pace> {
            self.0.clone()
        }
    }

    #[test]
    fn chains_go_past_events_that_nobody_receives() {
        let db = Database::new();
        let file = db.add_file(TEXT, syntax::ParseLimits::default());
        let def = all_defs(&db, file).next().expect("a definition");
        let args = args();
        let mut machine = Machine::new(&db);
        machine.trace(TraceLevel::Points);
        for (pace, expected) in [(Some(Pace { events: 64, alert: Arc::default() }), 2), (None, 0)] {
            let before = super::computed();
            machine.run(def, args.clone(), Some(&mut Passing(pace))).expect("it runs");
            assert_eq!(super::computed() - before, expected);
        }
    }
}
