//! Operators whose results nobody sees but the next one, in one instruction.
//!
//! The first instruction of a chain is replaced; those after it stay, and are skipped where the machine does
//! the whole chain at once. Where it cannot, because arguments are of other types than inference says, or
//! somebody measures each call, it goes on with them.

use smallvec::SmallVec;

use crate::{
    chain::{self, KEPT},
    code::{Fused, Instr, Link, NOWHERE, Op, Site, Source},
    value::Value,
};

/// Results of fewer elements are computed one by one: a chain has to be set up.
const LEAST: usize = 1 << 12;

/// Finds the chains of a function.
pub(super) fn fuse(code: &mut [Instr]) {
    let mut at = 0;
    while at < code.len() {
        let fused = chain_at(code, at);
        let length = fused.as_ref().map_or(1, |fused| fused.length);
        if let Some(fused) = fused {
            code[at].op = Op::Fused(fused.into());
        }
        at += length;
    }
}

/// The content of a slot after an instruction of the chain.
enum Held {
    /// The result of a call, by its number.
    Result(usize),
    Const(Value),
}

/// The place of the result of a call.
fn result_of(code: &[Instr], at: usize, site: &Site) -> Option<(u32, usize)> {
    let dst = code[at].dst;
    if !chain::gives_tuple(site) {
        return (dst != NOWHERE).then_some((dst, at + 1));
    }
    let field = code.get(at + 1)?;
    let arg = field.args.first()?;
    let is_first = matches!(field.op, Op::Proj(0)) && arg.slot == dst && arg.last;
    (is_first && field.dst != NOWHERE).then_some((field.dst, at + 2))
}

/// The chain that begins with an instruction.
fn chain_at(code: &[Instr], at: usize) -> Option<Fused> {
    let Op::Operator(site) = &code[at].op else { return None };
    let leads = chain::can_lead(site);
    if !(leads || chain::can_begin(site))
        || chain::first_shape(&site.result)?.iter().product::<usize>() < LEAST
    {
        return None;
    }
    let (mut dst, mut next) = result_of(code, at, site)?;
    // Results are numbered: that of the first call is 0.
    let mut held: SmallVec<[(u32, Held); 4]> = SmallVec::from_iter([(dst, Held::Result(0))]);
    let mut links: Vec<Link> = Vec::new();
    let mut whole = (0, next, dst);
    'chain: while let Some(instr) = code.get(next) {
        match &instr.op {
            Op::Const(value) if instr.dst != NOWHERE => {
                held.push((instr.dst, Held::Const(value.clone())));
                next += 1;
            }
            Op::Operator(site) => {
                let now = links.len();
                let mut args: SmallVec<[Source; 2]> = SmallVec::new();
                let mut takes = false;
                for (position, arg) in instr.args.iter().enumerate() {
                    let place = held.iter().position(|(slot, _)| *slot == arg.slot);
                    args.push(match place.map(|place| &held[place].1) {
                        None => Source::Slot(*arg),
                        Some(Held::Const(value)) => Source::Const(value.clone()),
                        Some(Held::Result(number)) => {
                            if *number == now && !takes && chain::can_follow(site, position) {
                                takes = true;
                                Source::Before
                            } else {
                                Source::Kept(*number)
                            }
                        }
                    });
                    if let Some(place) = place.filter(|_| arg.last) {
                        held.swap_remove(place);
                    }
                }
                let Some(result) = result_of(code, next, site).filter(|_| takes) else {
                    break 'chain;
                };
                (dst, next) = result;
                links.push(Link { site: site.clone(), args });
                held.push((dst, Held::Result(links.len())));
                // Nothing of the chain is left for what comes after it.
                if held.len() == 1 {
                    whole = (links.len(), next, dst);
                }
            }
            _ => break 'chain,
        }
    }
    let (count, end, dst) = whole;
    links.truncate(count);
    let mut kept: Vec<usize> = Vec::new();
    for source in links.iter_mut().flat_map(|link| &mut link.args) {
        if let Source::Kept(number) = source {
            let place = kept.iter().position(|kept| kept == number);
            let place = place.unwrap_or_else(|| {
                kept.push(*number);
                kept.len() - 1
            });
            *number = place;
        }
    }
    let worth = links.iter().any(|link| chain::can_begin(&link.site));
    (worth && kept.len() <= KEPT).then(|| Fused {
        site: site.clone(),
        leads,
        links,
        kept,
        length: end - at,
        dst,
    })
}
