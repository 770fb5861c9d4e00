//! Assigns registers to the slots of a frame.
//!
//! A backward pass over the code finds the last use of each register on every path. There the
//! machine moves the value out, so that its memory is released as soon as possible and operators
//! may work in place. A forward pass then assigns slots, and reuses a slot after the last use of
//! its value, which keeps the frames of recursive functions small.

use rustc_hash::{FxHashMap, FxHashSet};
use semantics::{SourceFile, body::Name};
use smallvec::SmallVec;
use syntax::TextRange;

use super::{Context, Draft, Reg, What, fuse};
use crate::code::{Arms, Instr, NOWHERE, Op, Proc, Test, Use};

/// Assigns the slots of a function.
pub(super) fn lay_out(mut context: Context, name: Name, file: SourceFile) -> Proc {
    let parts = std::mem::take(&mut context.parts);
    let mut pinned: FxHashSet<Reg> = context.lazies.keys().copied().collect();
    for draft in parts.iter().skip(1).flatten() {
        pinned.extend(draft.dst);
        pinned.extend(&draft.args);
        if let What::Choose(Some(tests)) = &draft.what {
            tests.iter().for_each(|test| {
                kept(test, &mut |reg| {
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
        slots: vec![NOWHERE; context.regs as usize],
        pinned,
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
    for reg in pinned {
        frame.slot(reg);
    }
    let mut starts = vec![0u32; parts.len()];
    for (number, part) in parts.into_iter().enumerate() {
        starts[number] = frame.code.len() as u32;
        let main = number == 0;
        let lives = Lives::of(&part, &frame.pinned, context.regs as usize);
        if main {
            let unused = inputs.iter().copied().filter(|&reg| !lives.live[reg as usize]);
            let unused: Vec<Reg> = unused.filter(|reg| !frame.pinned.contains(reg)).collect();
            frame.forget(&unused, TextRange::default());
        }
        frame.part(part, &lives);
        if !main {
            frame.push(Op::Resume, NOWHERE, SmallVec::new(), TextRange::default());
        }
    }
    for instr in &mut frame.code {
        if let Op::Force(part) = &mut instr.op {
            *part = starts.get(*part as usize).copied().unwrap_or_default();
        }
    }
    mark_tails(&mut frame.code);
    fuse::fuse(&mut frame.code);
    Proc {
        name,
        params: context.params.len(),
        slots: frame.count as usize,
        code: frame.code,
        file,
        places: frame.places,
    }
}

/// Calls `keep` with the registers that a pattern binds.
fn kept(test: &Test, keep: &mut impl FnMut(Reg)) {
    match test {
        Test::Any => {}
        Test::Keep(reg) => keep(*reg),
        Test::Data(_, fields) | Test::Tuple(fields) => {
            fields.iter().for_each(|field| kept(field, keep));
        }
    }
}

/// The last uses of registers.
struct Lives {
    /// The registers that are alive at the start of the code.
    live: Vec<bool>,
    /// The operands with their last use at each instruction, one bit each.
    last: Vec<SmallVec<[bool; 4]>>,
    /// True for each instruction whose result is unused; for a choice, if it is unused after it.
    dead: Vec<bool>,
    /// At the start of an arm: the registers that are unused on this path, but not on others.
    forget: FxHashMap<usize, Vec<Reg>>,
    /// At the start of an arm: the registers that its pattern binds and the arm uses.
    kept: FxHashMap<usize, FxHashSet<Reg>>,
}

/// A choice during the backward pass.
struct Choice {
    /// The length of the log.
    log: usize,
    /// The start of each arm, and the registers that it changed.
    arms: Vec<(usize, FxHashMap<Reg, bool>)>,
    /// The patterns.
    tests: Vec<Test>,
}

impl Lives {
    fn of(part: &[Draft], pinned: &FxHashSet<Reg>, regs: usize) -> Lives {
        let mut lives = Lives {
            live: vec![false; regs],
            last: vec![SmallVec::new(); part.len()],
            dead: vec![false; part.len()],
            forget: FxHashMap::default(),
            kept: FxHashMap::default(),
        };
        // The patterns are at the start of a choice, but needed at its end.
        let mut tests: FxHashMap<usize, Vec<Test>> = FxHashMap::default();
        let mut begun: Vec<usize> = Vec::new();
        for (at, draft) in part.iter().enumerate() {
            match &draft.what {
                What::Choose(_) => begun.push(at),
                What::End => {
                    let begin = begun.pop().and_then(|begin| match &part[begin].what {
                        What::Choose(Some(tests)) => Some(tests.clone()),
                        _ => None,
                    });
                    tests.insert(at, begin.unwrap_or_default());
                }
                _ => {}
            }
        }
        let mut choices: Vec<Choice> = Vec::new();
        let mut log: Vec<(Reg, bool)> = Vec::new();
        for at in (0..part.len()).rev() {
            let draft = &part[at];
            match &draft.what {
                What::End => {
                    let tests = tests.remove(&at).unwrap_or_default();
                    choices.push(Choice { log: log.len(), arms: Vec::new(), tests });
                    continue;
                }
                What::Arm(number) => {
                    let Some(choice) = choices.last_mut() else { continue };
                    if let Some(test) = choice.tests.get(*number as usize) {
                        let mut used = FxHashSet::default();
                        kept(test, &mut |reg| {
                            if lives.live[reg as usize] || pinned.contains(&reg) {
                                used.insert(reg);
                            }
                            lives.set(reg, false, &mut log);
                        });
                        lives.kept.insert(at, used);
                    }
                    // Sets the changes of the arm aside; the next arm has the same state at its
                    // end.
                    let mut changed = FxHashMap::default();
                    for &(reg, _) in &log[choice.log..] {
                        changed.insert(reg, lives.live[reg as usize]);
                    }
                    while log.len() > choice.log {
                        if let Some((reg, before)) = log.pop() {
                            lives.live[reg as usize] = before;
                        }
                    }
                    choice.arms.push((at, changed));
                    continue;
                }
                What::Choose(_) => {
                    let Some(choice) = choices.pop() else { continue };
                    // The arms define the value, so that it is alive at the start of none. Only the
                    // code after the choice decides.
                    let is_dead = draft
                        .dst
                        .is_some_and(|dst| !pinned.contains(&dst) && !lives.live[dst as usize]);
                    let regs: FxHashSet<Reg> = choice
                        .arms
                        .iter()
                        .flat_map(|(_, changed)| changed.keys().copied())
                        .collect();
                    let mut merged: Vec<(Reg, bool)> = Vec::with_capacity(regs.len());
                    for reg in regs {
                        let after = lives.live[reg as usize];
                        let before = |changed: &FxHashMap<Reg, bool>| {
                            changed.get(&reg).copied().unwrap_or(after)
                        };
                        let any = choice.arms.iter().any(|(_, changed)| before(changed));
                        if any {
                            for (arm, changed) in &choice.arms {
                                if !before(changed) {
                                    lives.forget.entry(*arm).or_default().push(reg);
                                }
                            }
                        }
                        merged.push((reg, any));
                    }
                    // Sorted, so that the layout is deterministic.
                    lives.forget.values_mut().for_each(|regs| regs.sort_unstable());
                    for (reg, live) in merged {
                        lives.set(reg, live, &mut log);
                    }
                    lives.define(at, draft, pinned, &mut log);
                    lives.dead[at] = is_dead;
                }
                What::Do(_) | What::Force(_) => lives.define(at, draft, pinned, &mut log),
            }
            let mut last: SmallVec<[bool; 4]> = SmallVec::from_elem(false, draft.args.len());
            for (k, &reg) in draft.args.iter().enumerate().rev() {
                if !pinned.contains(&reg) && !lives.live[reg as usize] {
                    last[k] = true;
                    lives.set(reg, true, &mut log);
                }
            }
            lives.last[at] = last;
            if choices.is_empty() {
                log.clear();
            }
        }
        lives
    }

    fn set(&mut self, reg: Reg, live: bool, log: &mut Vec<(Reg, bool)>) {
        let before = std::mem::replace(&mut self.live[reg as usize], live);
        log.push((reg, before));
    }

    fn define(
        &mut self,
        at: usize,
        draft: &Draft,
        pinned: &FxHashSet<Reg>,
        log: &mut Vec<(Reg, bool)>,
    ) {
        let Some(dst) = draft.dst.filter(|dst| !pinned.contains(dst)) else { return };
        self.dead[at] = !self.live[dst as usize];
        self.set(dst, false, log);
    }
}

struct Frame {
    slots: Vec<u32>,
    /// Registers that keep their slot to the end.
    pinned: FxHashSet<Reg>,
    free: Vec<u32>,
    count: u32,
    code: Vec<Instr>,
    places: Vec<TextRange>,
}

/// An open choice during the forward pass.
struct Open {
    free: Vec<u32>,
    count: u32,
    /// The choosing instruction.
    begin: usize,
    /// The jumps to the end.
    jumps: Vec<usize>,
    arms: Vec<(Test, u32)>,
    tests: Option<Vec<Test>>,
}

impl Frame {
    fn push(&mut self, op: Op, dst: u32, args: SmallVec<[Use; 2]>, place: TextRange) {
        self.code.push(Instr { op, dst, args });
        self.places.push(place);
    }

    fn slot(&mut self, reg: Reg) -> u32 {
        let slot = self.slots[reg as usize];
        if slot != NOWHERE {
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
        // The register keeps its slot: in another arm it may still be alive.
        let slot = self.slots[reg as usize];
        if slot != NOWHERE {
            self.free.push(slot);
        }
    }

    fn forget(&mut self, regs: &[Reg], place: TextRange) {
        let mut args: SmallVec<[Use; 2]> = SmallVec::new();
        for &reg in regs {
            let slot = self.slots[reg as usize];
            if slot != NOWHERE {
                args.push(Use { slot, last: true });
                self.release(reg);
            }
        }
        if !args.is_empty() {
            self.push(Op::Forget, NOWHERE, args, place);
        }
    }

    fn operands(&mut self, draft: &Draft, last: &[bool]) -> SmallVec<[Use; 2]> {
        let mut args: SmallVec<[Use; 2]> = SmallVec::with_capacity(draft.args.len());
        for (k, &reg) in draft.args.iter().enumerate() {
            let last = last.get(k).copied().unwrap_or(false);
            args.push(Use { slot: self.slot(reg), last });
        }
        for (k, &reg) in draft.args.iter().enumerate() {
            if last.get(k).copied().unwrap_or(false) {
                self.release(reg);
            }
        }
        args
    }

    fn part(&mut self, part: Vec<Draft>, lives: &Lives) {
        let mut open: Vec<Open> = Vec::new();
        for (at, mut draft) in part.into_iter().enumerate() {
            let place = draft.place;
            let what = std::mem::replace(&mut draft.what, What::End);
            match what {
                What::Do(op) => {
                    let args = self.operands(&draft, &lives.last[at]);
                    let dst = match draft.dst {
                        Some(reg) if !lives.dead[at] => self.slot(reg),
                        _ => NOWHERE,
                    };
                    self.push(op, dst, args, place);
                }
                What::Force(number) => {
                    let dst = draft.dst.map_or(NOWHERE, |reg| self.slot(reg));
                    self.push(Op::Force(number), dst, SmallVec::new(), place);
                }
                What::Choose(tests) => {
                    let args = self.operands(&draft, &lives.last[at]);
                    // The arms store their values there.
                    if let Some(reg) = draft.dst.filter(|_| !lives.dead[at]) {
                        self.slot(reg);
                    }
                    let begin = self.code.len();
                    self.push(Op::Unless(0), NOWHERE, args, place);
                    open.push(Open {
                        free: self.free.clone(),
                        count: self.count,
                        begin,
                        jumps: Vec::new(),
                        arms: Vec::new(),
                        tests,
                    });
                }
                What::Arm(number) => {
                    let Some(mut choice) = open.pop() else { continue };
                    if number > 0 {
                        choice.jumps.push(self.code.len());
                        self.push(Op::Jump(0), NOWHERE, SmallVec::new(), place);
                        // Restores the slots at the start of the choice; slots assigned since then
                        // are free.
                        self.free.clone_from(&choice.free);
                        self.free.extend(choice.count..self.count);
                    }
                    let start = self.code.len() as u32;
                    let test = match &choice.tests {
                        Some(tests) => {
                            let used = lives.kept.get(&at);
                            let test = tests.get(number as usize).cloned().unwrap_or(Test::Any);
                            self.place_test(test, used)
                        }
                        None => Test::Any,
                    };
                    choice.arms.push((test, start));
                    if let Some(regs) = lives.forget.get(&at) {
                        self.forget(regs, place);
                    }
                    open.push(choice);
                }
                What::End => {
                    let Some(choice) = open.pop() else { continue };
                    let end = self.code.len() as u32;
                    for jump in choice.jumps {
                        self.code[jump].op = Op::Jump(end);
                    }
                    let otherwise = choice.arms.get(1).map_or(end, |(_, start)| *start);
                    self.code[choice.begin].op = match choice.tests {
                        Some(_) => Op::Match(Arms { arms: choice.arms }.into()),
                        None => Op::Unless(otherwise),
                    };
                }
            }
        }
    }

    /// A pattern with slots for registers; unused ones are not stored.
    fn place_test(&mut self, test: Test, used: Option<&FxHashSet<Reg>>) -> Test {
        match test {
            Test::Any => Test::Any,
            Test::Keep(reg) if used.is_some_and(|used| used.contains(&reg)) => {
                Test::Keep(self.slot(reg))
            }
            Test::Keep(_) => Test::Any,
            Test::Data(name, fields) => {
                let fields = fields.into_iter().map(|field| self.place_test(field, used));
                Test::Data(name, fields.collect())
            }
            Test::Tuple(fields) => {
                let fields = fields.into_iter().map(|field| self.place_test(field, used));
                Test::Tuple(fields.collect())
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
