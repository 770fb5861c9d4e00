//! Layout of frames: the assignment of slots to registers.
//!
//! A backward pass over the code finds the last use of each register on every path. There the
//! machine moves the value out, so that its memory is released as soon as possible and operators
//! may work in place. A forward pass then assigns slots, and reuses a slot after the last use of
//! its value, which keeps the frames of recursive functions small.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{SourceFile, body::Name};
use smallvec::SmallVec;
use syntax::TextRange;

use super::{Context, Reg, RegInstr, RegOp, fuse};
use crate::code::{Arms, FrameVariable, Instr, NO_SLOT, Op, Operand, Pattern, Proc};

/// Assigns slots to the registers of a function. No other registers use the slots of `variables`.
pub(super) fn lay_out(
    mut context: Context,
    name: Name,
    file: SourceFile,
    mut variables: Vec<FrameVariable>,
    has_points: bool,
) -> Proc {
    let parts = std::mem::take(&mut context.parts);
    let mut pinned: FxHashSet<Reg> = context.lazies.keys().copied().collect();
    // The running function holds what it captured.
    let captured = variables.iter().filter(|variable| variable.is_captured);
    pinned.extend(captured.map(|variable| variable.slot));
    for reg_instr in parts.iter().skip(1).flatten() {
        pinned.extend(reg_instr.dst);
        pinned.extend(&reg_instr.args);
        if let RegOp::Branch(Some(patterns)) = &reg_instr.op {
            patterns.iter().for_each(|pattern| {
                for_each_bound(pattern, &mut |reg| {
                    pinned.insert(reg);
                })
            });
        }
    }
    let inputs: Vec<Reg> = context
        .params
        .iter()
        .copied()
        .chain(context.captures.iter().map(|(_, reg)| *reg))
        .collect();
    let mut frame = Frame {
        slots: vec![NO_SLOT; context.regs as usize],
        pinned,
        reserved: variables.iter().map(|variable| variable.slot).collect(),
        free: Vec::new(),
        count: 0,
        code: Vec::new(),
        places: Vec::new(),
    };
    for &reg in &inputs {
        frame.slots[reg as usize] = frame.count;
        frame.count += 1;
    }
    let pinned: Vec<Reg> = frame.pinned.iter().copied().collect();
    let reserved = variables.iter().map(|variable| variable.slot);
    for reg in pinned.into_iter().chain(reserved) {
        frame.slot(reg);
    }
    let mut starts = vec![0u32; parts.len()];
    for (number, part) in parts.into_iter().enumerate() {
        starts[number] = frame.code.len() as u32;
        let is_main = number == 0;
        let liveness = Liveness::of(&part, &frame.pinned, context.regs as usize);
        if is_main {
            let unused = inputs.iter().copied().filter(|&reg| !liveness.live[reg as usize]);
            let unused: Vec<Reg> = unused.filter(|reg| !frame.pinned.contains(reg)).collect();
            frame.drop_unused(&unused, TextRange::default());
        }
        frame.part(part, &liveness);
        if !is_main {
            frame.push(Op::Resume, NO_SLOT, SmallVec::new(), TextRange::default());
        }
    }
    for instr in &mut frame.code {
        if let Op::Force(part) = &mut instr.op {
            *part = starts.get(*part as usize).copied().unwrap_or_default();
        }
    }
    for variable in &mut variables {
        variable.slot = frame.slots[variable.slot as usize];
    }
    mark_tails(&mut frame.code);
    fuse::fuse(&mut frame.code, has_points);
    Proc {
        name,
        params: context.params.len(),
        slots: frame.count as usize,
        code: frame.code,
        file,
        places: frame.places,
        variables,
    }
}

/// Calls `f` with the registers that a pattern binds.
fn for_each_bound(pattern: &Pattern, f: &mut impl FnMut(Reg)) {
    match pattern {
        Pattern::Wildcard => {}
        Pattern::Bind(reg) => f(*reg),
        Pattern::Constructor(_, fields) | Pattern::Tuple(fields) => {
            fields.iter().for_each(|field| for_each_bound(field, f));
        }
    }
}

/// The liveness of registers at each instruction of a part.
struct Liveness {
    /// The registers that are live at the start of the code.
    live: Vec<bool>,
    /// True for each operand of each instruction that is its last use.
    last: Vec<SmallVec<[bool; 4]>>,
    /// True for each instruction whose result is unused; for a branch, if it is unused after it.
    dead: Vec<bool>,
    /// The registers that an arm does not use but other paths do, by the start of the arm.
    dropped: FxHashMap<usize, Vec<Reg>>,
    /// The registers that the pattern of an arm binds and the arm uses, by the start of the arm.
    bound: FxHashMap<usize, FxHashSet<Reg>>,
}

/// A branch during the backward pass.
struct Branch {
    /// The length of the log.
    log: usize,
    /// The start of each arm, and the registers that it changed.
    arms: Vec<(usize, FxHashMap<Reg, bool>)>,
    patterns: Vec<Pattern>,
}

impl Liveness {
    fn of(part: &[RegInstr], pinned: &FxHashSet<Reg>, regs: usize) -> Liveness {
        let mut liveness = Liveness {
            live: vec![false; regs],
            last: vec![SmallVec::new(); part.len()],
            dead: vec![false; part.len()],
            dropped: FxHashMap::default(),
            bound: FxHashMap::default(),
        };
        // The patterns are at the start of a branch, but needed at its end.
        let mut patterns: FxHashMap<usize, Vec<Pattern>> = FxHashMap::default();
        let mut begun: Vec<usize> = Vec::new();
        for (at, reg_instr) in part.iter().enumerate() {
            match &reg_instr.op {
                RegOp::Branch(_) => begun.push(at),
                RegOp::EndBranch => {
                    let begin = begun.pop().and_then(|begin| match &part[begin].op {
                        RegOp::Branch(Some(patterns)) => Some(patterns.clone()),
                        _ => None,
                    });
                    patterns.insert(at, begin.unwrap_or_default());
                }
                _ => {}
            }
        }
        let mut branches: Vec<Branch> = Vec::new();
        let mut log: Vec<(Reg, bool)> = Vec::new();
        for at in (0..part.len()).rev() {
            let reg_instr = &part[at];
            match &reg_instr.op {
                RegOp::EndBranch => {
                    let patterns = patterns.remove(&at).unwrap_or_default();
                    branches.push(Branch { log: log.len(), arms: Vec::new(), patterns });
                    continue;
                }
                RegOp::Arm(number) => {
                    let Some(branch) = branches.last_mut() else { continue };
                    if let Some(pattern) = branch.patterns.get(*number as usize) {
                        let mut used = FxHashSet::default();
                        for_each_bound(pattern, &mut |reg| {
                            if liveness.live[reg as usize] || pinned.contains(&reg) {
                                used.insert(reg);
                            }
                            liveness.set(reg, false, &mut log);
                        });
                        liveness.bound.insert(at, used);
                    }
                    // Saves and undoes the changes of the arm: the next arm has the same state at its
                    // end.
                    let mut changed = FxHashMap::default();
                    for &(reg, _) in &log[branch.log..] {
                        changed.insert(reg, liveness.live[reg as usize]);
                    }
                    while log.len() > branch.log {
                        if let Some((reg, before)) = log.pop() {
                            liveness.live[reg as usize] = before;
                        }
                    }
                    branch.arms.push((at, changed));
                    continue;
                }
                RegOp::Branch(_) => {
                    let Some(branch) = branches.pop() else { continue };
                    // Each arm defines the value, which is live only if the code after the branch
                    // uses it.
                    let is_dead = reg_instr
                        .dst
                        .is_some_and(|dst| !pinned.contains(&dst) && !liveness.live[dst as usize]);
                    let regs: FxHashSet<Reg> = branch
                        .arms
                        .iter()
                        .flat_map(|(_, changed)| changed.keys().copied())
                        .collect();
                    let mut merged: Vec<(Reg, bool)> = Vec::with_capacity(regs.len());
                    for reg in regs {
                        let after = liveness.live[reg as usize];
                        let before = |changed: &FxHashMap<Reg, bool>| {
                            changed.get(&reg).copied().unwrap_or(after)
                        };
                        let any = branch.arms.iter().any(|(_, changed)| before(changed));
                        if any {
                            for (arm, changed) in &branch.arms {
                                if !before(changed) {
                                    liveness.dropped.entry(*arm).or_default().push(reg);
                                }
                            }
                        }
                        merged.push((reg, any));
                    }
                    // Sorted, so that the layout is deterministic.
                    liveness.dropped.values_mut().for_each(|regs| regs.sort_unstable());
                    for (reg, live) in merged {
                        liveness.set(reg, live, &mut log);
                    }
                    liveness.define(at, reg_instr, pinned, &mut log);
                    liveness.dead[at] = is_dead;
                }
                RegOp::Plain(_) | RegOp::Force(_) => {
                    liveness.define(at, reg_instr, pinned, &mut log)
                }
            }
            let mut last: SmallVec<[bool; 4]> = SmallVec::from_elem(false, reg_instr.args.len());
            for (k, &reg) in reg_instr.args.iter().enumerate().rev() {
                if !pinned.contains(&reg) && !liveness.live[reg as usize] {
                    last[k] = true;
                    liveness.set(reg, true, &mut log);
                }
            }
            liveness.last[at] = last;
            if branches.is_empty() {
                log.clear();
            }
        }
        liveness
    }

    fn set(&mut self, reg: Reg, live: bool, log: &mut Vec<(Reg, bool)>) {
        let before = std::mem::replace(&mut self.live[reg as usize], live);
        log.push((reg, before));
    }

    fn define(
        &mut self,
        at: usize,
        reg_instr: &RegInstr,
        pinned: &FxHashSet<Reg>,
        log: &mut Vec<(Reg, bool)>,
    ) {
        let Some(dst) = reg_instr.dst.filter(|dst| !pinned.contains(dst)) else { return };
        self.dead[at] = !self.live[dst as usize];
        self.set(dst, false, log);
    }
}

struct Frame {
    slots: Vec<u32>,
    /// The registers that keep their slot and their value to the end.
    pinned: FxHashSet<Reg>,
    /// The registers of variables, which keep their slot to the end.
    reserved: FxHashSet<Reg>,
    free: Vec<u32>,
    count: u32,
    code: Vec<Instr>,
    places: Vec<TextRange>,
}

/// An open branch during the forward pass.
struct OpenBranch {
    free: Vec<u32>,
    count: u32,
    /// The branching instruction.
    begin: usize,
    /// The jumps to the end.
    jumps: Vec<usize>,
    arms: Vec<(Pattern, u32)>,
    patterns: Option<Vec<Pattern>>,
}

impl Frame {
    fn push(&mut self, op: Op, dst: u32, args: SmallVec<[Operand; 2]>, place: TextRange) {
        self.code.push(Instr { op, dst, args });
        self.places.push(place);
    }

    fn slot(&mut self, reg: Reg) -> u32 {
        let slot = self.slots[reg as usize];
        if slot != NO_SLOT {
            return slot;
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.count += 1;
                self.count - 1
            }
        };
        self.slots[reg as usize] = slot;
        slot
    }

    fn release(&mut self, reg: Reg) {
        // The register keeps its slot, since it may be live in another arm.
        let slot = self.slots[reg as usize];
        if slot != NO_SLOT && !self.reserved.contains(&reg) {
            self.free.push(slot);
        }
    }

    fn drop_unused(&mut self, regs: &[Reg], place: TextRange) {
        let mut args: SmallVec<[Operand; 2]> = SmallVec::new();
        for &reg in regs {
            let slot = self.slots[reg as usize];
            if slot != NO_SLOT {
                args.push(Operand { slot, last: true, is_variable: self.reserved.contains(&reg) });
                self.release(reg);
            }
        }
        if !args.is_empty() {
            self.push(Op::Drop, NO_SLOT, args, place);
        }
    }

    fn operands(&mut self, reg_instr: &RegInstr, last: &[bool]) -> SmallVec<[Operand; 2]> {
        let mut args: SmallVec<[Operand; 2]> = SmallVec::with_capacity(reg_instr.args.len());
        for (k, &reg) in reg_instr.args.iter().enumerate() {
            let last = last.get(k).copied().unwrap_or(false);
            let is_variable = self.reserved.contains(&reg);
            args.push(Operand { slot: self.slot(reg), last, is_variable });
        }
        for (k, &reg) in reg_instr.args.iter().enumerate() {
            if last.get(k).copied().unwrap_or(false) {
                self.release(reg);
            }
        }
        args
    }

    fn part(&mut self, part: Vec<RegInstr>, liveness: &Liveness) {
        let mut open: Vec<OpenBranch> = Vec::new();
        for (at, mut reg_instr) in part.into_iter().enumerate() {
            let place = reg_instr.place;
            let op = std::mem::replace(&mut reg_instr.op, RegOp::EndBranch);
            match op {
                RegOp::Plain(op) => {
                    let args = self.operands(&reg_instr, &liveness.last[at]);
                    let dst = match reg_instr.dst {
                        Some(reg) if !liveness.dead[at] => self.slot(reg),
                        _ => NO_SLOT,
                    };
                    self.push(op, dst, args, place);
                }
                RegOp::Force(number) => {
                    let dst = reg_instr.dst.map_or(NO_SLOT, |reg| self.slot(reg));
                    self.push(Op::Force(number), dst, SmallVec::new(), place);
                }
                RegOp::Branch(patterns) => {
                    let args = self.operands(&reg_instr, &liveness.last[at]);
                    // The arms store their values there.
                    if let Some(reg) = reg_instr.dst.filter(|_| !liveness.dead[at]) {
                        self.slot(reg);
                    }
                    let begin = self.code.len();
                    self.push(Op::JumpUnless(0), NO_SLOT, args, place);
                    open.push(OpenBranch {
                        free: self.free.clone(),
                        count: self.count,
                        begin,
                        jumps: Vec::new(),
                        arms: Vec::new(),
                        patterns,
                    });
                }
                RegOp::Arm(number) => {
                    let Some(mut branch) = open.pop() else { continue };
                    if number > 0 {
                        branch.jumps.push(self.code.len());
                        self.push(Op::Jump(0), NO_SLOT, SmallVec::new(), place);
                        // Restores the slots at the start of the branch; slots assigned since then
                        // are free.
                        self.free.clone_from(&branch.free);
                        self.free.extend(branch.count..self.count);
                    }
                    let start = self.code.len() as u32;
                    let pattern = match &branch.patterns {
                        Some(patterns) => {
                            let used = liveness.bound.get(&at);
                            let pattern = patterns.get(number as usize).cloned();
                            self.place_pattern(pattern.unwrap_or(Pattern::Wildcard), used)
                        }
                        None => Pattern::Wildcard,
                    };
                    branch.arms.push((pattern, start));
                    if let Some(regs) = liveness.dropped.get(&at) {
                        self.drop_unused(regs, place);
                    }
                    open.push(branch);
                }
                RegOp::EndBranch => {
                    let Some(branch) = open.pop() else { continue };
                    let end = self.code.len() as u32;
                    for jump in branch.jumps {
                        self.code[jump].op = Op::Jump(end);
                    }
                    let otherwise = branch.arms.get(1).map_or(end, |(_, start)| *start);
                    self.code[branch.begin].op = match branch.patterns {
                        Some(_) => Op::Match(Arms { arms: branch.arms }.into()),
                        None => Op::JumpUnless(otherwise),
                    };
                }
            }
        }
    }

    /// Replaces the registers of a pattern by slots. Unused ones are not stored.
    fn place_pattern(&mut self, pattern: Pattern, used: Option<&FxHashSet<Reg>>) -> Pattern {
        match pattern {
            Pattern::Wildcard => Pattern::Wildcard,
            Pattern::Bind(reg) if used.is_some_and(|used| used.contains(&reg)) => {
                Pattern::Bind(self.slot(reg))
            }
            Pattern::Bind(_) => Pattern::Wildcard,
            Pattern::Constructor(name, fields) => {
                let fields = fields.into_iter().map(|field| self.place_pattern(field, used));
                Pattern::Constructor(name, fields.collect())
            }
            Pattern::Tuple(fields) => {
                let fields = fields.into_iter().map(|field| self.place_pattern(field, used));
                Pattern::Tuple(fields.collect())
            }
        }
    }
}

/// Marks the calls in tail position.
fn mark_tails(code: &mut [Instr]) {
    for at in 0..code.len() {
        if !matches!(code[at].op, Op::Call { .. } | Op::CallGlobal { .. }) {
            continue;
        }
        let mut value = code[at].dst;
        let mut next = at + 1;
        let is_tail = loop {
            let Some(instr) = code.get(next) else { break false };
            match &instr.op {
                Op::Jump(to) => next = *to as usize,
                Op::Move if instr.args.first().is_some_and(|arg| arg.slot == value) => {
                    value = instr.dst;
                    next += 1;
                }
                Op::Return => break instr.args.first().is_some_and(|arg| arg.slot == value),
                _ => break false,
            }
        };
        match &mut code[at].op {
            Op::Call { tail } | Op::CallGlobal { tail, .. } => *tail = is_tail,
            _ => {}
        }
    }
}
