//! Fusion of calls whose results only the next call uses into one instruction.
//!
//! The first instruction of a chain is replaced. Those after it stay, and are skipped when the machine
//! computes the whole chain at once. It executes them one by one if arguments have other types than
//! inferred, or an observer measures each call.

use smallvec::SmallVec;

use crate::{
    chain::MAX_SAVED,
    code::{CallSite, FusedArg, FusedCall, FusedCalls, Instr, NO_SLOT, Op},
    fusion,
    shared::SharedTensor,
};

/// The least number of elements of a result that is worth the creation of a chain.
const MIN_ELEMENTS: usize = 1 << 12;

/// Fuses the chains of a function. If `has_points`, they go past events, which a run may
/// [pass over](crate::Observer::pace).
pub(super) fn fuse(code: &mut [Instr], has_points: bool) {
    let mut at = 0;
    while at < code.len() {
        let fused = chain_at(code, at, has_points);
        let length = fused.as_ref().map_or(1, |fused| fused.length);
        if let Some(fused) = fused {
            code[at].op = Op::Fused(fused.into());
        }
        at += length;
    }
}

/// The content of a slot after an instruction of the chain.
enum Content {
    /// The result of a call, by its number.
    Result(usize),
    Const(SharedTensor),
}

/// Returns the position after the events at a position, if chains go past them.
fn after_events(code: &[Instr], at: usize, has_points: bool) -> usize {
    let is_event = |instr: &&Instr| match instr.op {
        Op::Reach => true,
        // A variable that nothing uses is dropped there.
        Op::Report(_) => !instr.args.iter().any(|arg| arg.last),
        _ => false,
    };
    let events = code.get(at..).unwrap_or_default().iter().take_while(is_event);
    if has_points { at + events.count() } else { at }
}

/// Returns the slot of the result of a call, and the position after the call. The result of a call
/// that returns a tuple is its first field, if the others are not used.
fn result_of(code: &[Instr], at: usize, site: &CallSite, has_points: bool) -> Option<(u32, usize)> {
    let dst = code[at].dst;
    if !fusion::has_tuple_result(site) {
        return (dst != NO_SLOT).then_some((dst, at + 1));
    }
    let next = after_events(code, at + 1, has_points);
    let field = code.get(next)?;
    let arg = field.args.first()?;
    let is_first = matches!(field.op, Op::Proj(0)) && arg.slot == dst && arg.last;
    (is_first && field.dst != NO_SLOT).then_some((field.dst, next + 1))
}

/// Returns the slots of the variables among the results of the instructions.
fn variables(code: &[Instr]) -> impl Iterator<Item = u32> {
    let results = code.iter().filter(|instr| instr.dst != NO_SLOT).map(|instr| instr.dst);
    let is_reported = |slot: u32| {
        let mut reports = code.iter().filter(|instr| matches!(instr.op, Op::Report(_)));
        reports.any(|report| report.args.iter().any(|arg| arg.slot == slot))
    };
    results.filter(move |slot| is_reported(*slot))
}

/// Returns the chain that begins with an instruction.
fn chain_at(code: &[Instr], at: usize, has_points: bool) -> Option<FusedCalls> {
    let Op::Operator(first) = &code[at].op else { return None };
    let has_epilogue = fusion::has_epilogue(first);
    if !(has_epilogue || fusion::can_start(first))
        || fusion::first_shape(&first.result)?.iter().product::<usize>() < MIN_ELEMENTS
    {
        return None;
    }
    let (mut dst, mut next) = result_of(code, at, first, has_points)?;
    // The result of the first call has the number 0.
    let mut contents: SmallVec<[(u32, Content); 4]> =
        SmallVec::from_iter([(dst, Content::Result(0))]);
    let mut rest: Vec<FusedCall> = Vec::new();
    let mut complete = (0, next, dst);
    'chain: loop {
        next = after_events(code, next, has_points);
        let Some(instr) = code.get(next) else { break };
        match &instr.op {
            Op::Const(tensor) if instr.dst != NO_SLOT => {
                contents.push((instr.dst, Content::Const(tensor.clone())));
                next += 1;
            }
            Op::Operator(site) => {
                let previous = rest.len();
                let mut args: SmallVec<[FusedArg; 2]> = SmallVec::new();
                let mut takes_previous = false;
                for (position, arg) in instr.args.iter().enumerate() {
                    let found = contents.iter().position(|(slot, _)| *slot == arg.slot);
                    args.push(match found.map(|found| &contents[found].1) {
                        None => FusedArg::Slot(*arg),
                        Some(Content::Const(tensor)) => FusedArg::Const(tensor.clone()),
                        Some(Content::Result(number)) => {
                            if *number == previous
                                && !takes_previous
                                && fusion::can_follow(site, position)
                            {
                                takes_previous = true;
                                FusedArg::Previous
                            } else {
                                FusedArg::Saved(*number)
                            }
                        }
                    });
                    if let Some(found) = found.filter(|_| arg.last) {
                        contents.swap_remove(found);
                    }
                }
                let result = result_of(code, next, site, has_points);
                let Some(result) = result.filter(|_| takes_previous) else { break 'chain };
                (dst, next) = result;
                rest.push(FusedCall { site: site.clone(), args });
                contents.push((dst, Content::Result(rest.len())));
                // The code after the chain uses its result alone.
                if contents.len() == 1 {
                    complete = (rest.len(), next, dst);
                }
            }
            _ => break 'chain,
        }
    }
    let (count, end, dst) = complete;
    rest.truncate(count);
    let mut saved: Vec<usize> = Vec::new();
    for arg in rest.iter_mut().flat_map(|call| &mut call.args) {
        if let FusedArg::Saved(number) = arg {
            let index = saved.iter().position(|saved| saved == number);
            *number = index.unwrap_or_else(|| {
                saved.push(*number);
                saved.len() - 1
            });
        }
    }
    let skipped = code.get(at + 1..end).unwrap_or_default();
    let events = skipped
        .iter()
        .filter(|instr| matches!(instr.op, Op::Reach | Op::Report(_) | Op::Operator(_)));
    let is_worthwhile = rest.iter().any(|call| fusion::can_start(&call.site));
    (is_worthwhile && saved.len() <= MAX_SAVED).then(|| FusedCalls {
        first: first.clone(),
        has_epilogue,
        rest,
        saved,
        length: end - at,
        dst,
        events: events.count() as u64,
        variables: variables(&code[at..end]).filter(|slot| *slot != dst).collect(),
    })
}
