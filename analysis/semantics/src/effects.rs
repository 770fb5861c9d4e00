//! The effects of expressions: what evaluating them does, besides computing their values.
//!
//! ```text
//! let %bump = fn () { ref_write(%r, 1) };   // no effect: the function is not called
//! let %a = %bump();                         // writes
//! let %b = @map(%f, %xs);                   // what a call of `%f` does
//! ```
//!
//! A value is described by what calls of it may do, or of the functions in it ([`CallEffects`]): that of
//! a closure is what its body does, that of a tuple or a constructor is the union of its fields. A
//! function that calls functions in its arguments has the effects of those at each of its calls.
//! What is read from a reference may be any function. A call that does not end and one that fails
//! are not effects, as in TVM's `DeadCodeElimination`.

use std::ops::BitOr;

use operators::{Effect, Operator};
use rustc_hash::FxHashMap;
use types::Type;

use crate::{
    body::*,
    infer::{Inference, UnitTypes},
    module::ModuleTypes,
    scope::Scopes,
};

bitflags::bitflags! {
    /// A set of effects.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Effects: u8 {
        /// A reference is created.
        const CREATE = 1;
        /// A reference is read.
        const READ = 1 << 1;
        /// A reference is written.
        const WRITE = 1 << 2;
        /// Tensors are written, or their memory is freed.
        const MEMORY = 1 << 3;
        /// A graph variable is evaluated whose value depends on when that happens first.
        const FIRST_USE = 1 << 4;
    }
}

impl Effects {
    /// The effects of an unknown function.
    pub const UNKNOWN: Effects = Effects::CREATE.union(Effects::READ).union(Effects::WRITE);

    /// Returns true if other expressions can observe that an expression with these effects is not
    /// evaluated.
    pub fn is_needed(self) -> bool {
        self.intersects(Effects::WRITE | Effects::MEMORY | Effects::FIRST_USE)
    }

    /// Returns true if other expressions can observe when an expression with these effects is
    /// evaluated, or its value can depend on it.
    pub fn is_ordered(self) -> bool {
        self.intersects(Effects::READ | Effects::WRITE | Effects::MEMORY)
    }

    /// Returns true if two expressions can be evaluated in either order.
    pub fn commutes_with(self, other: Effects) -> bool {
        // Any expression may read a tensor.
        let disturbs = |one: Effects, other: Effects| {
            one.contains(Effects::MEMORY) || one.contains(Effects::WRITE) && other.is_ordered()
        };
        !disturbs(self, other) && !disturbs(other, self)
    }
}

/// Returns true if a binding that nothing uses has to stay because of its effects, which are asked for only where they
/// decide.
pub fn is_needed_unused(unit: &Unit, binder: BinderId, effects: impl FnOnce() -> Effects) -> bool {
    match unit.binder(binder).kind {
        BinderKind::Let => effects().is_needed(),
        // It is not evaluated, but a function around it evaluates the graph variables that it mentions.
        BinderKind::Graph if unit.binds != Some(binder) => effects().contains(Effects::FIRST_USE),
        _ => false,
    }
}

/// What the evaluation of an expression does, or the call of a value or of the functions in it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct CallEffects {
    effects: Effects,
    /// The functions around whose parameters are called, as bits by their depth.
    params: u32,
    /// True if the functions in the arguments of a call are called.
    calls_arguments: bool,
}

/// The number of nested functions whose parameters are told apart.
const MAX_DEPTH: u32 = 32;

impl CallEffects {
    /// An unknown function.
    pub(crate) const UNKNOWN: CallEffects =
        CallEffects { effects: Effects::UNKNOWN, params: 0, calls_arguments: true };

    /// A function that calls nothing itself. It may return its arguments.
    pub(crate) const NO_CALLS: CallEffects =
        CallEffects { effects: Effects::empty(), params: 0, calls_arguments: true };

    fn of(effects: Effects) -> CallEffects {
        CallEffects { effects, ..CallEffects::default() }
    }

    /// Returns that of a parameter of a function.
    fn param(depth: u32) -> CallEffects {
        match depth < MAX_DEPTH {
            true => {
                CallEffects { effects: Effects::empty(), params: 1 << depth, calls_arguments: true }
            }
            false => CallEffects::UNKNOWN,
        }
    }

    /// Returns that of a function by that of its body. A result that is a function may be called, too.
    fn function(self, depth: u32) -> CallEffects {
        let own = 1u32.checked_shl(depth).unwrap_or_default();
        CallEffects {
            // Graph variables around are evaluated where the function is created.
            effects: self.effects - Effects::FIRST_USE,
            params: self.params & !own,
            calls_arguments: self.calls_arguments || self.params & own != 0,
        }
    }

    /// Returns what a call does.
    fn call(self, args: CallEffects) -> CallEffects {
        let args = if self.calls_arguments { args } else { CallEffects::default() };
        CallEffects { calls_arguments: false, ..self | args }
    }

    /// Returns the effects, with those of the parameters of functions around.
    fn all(self) -> Effects {
        if self.params == 0 { self.effects } else { self.effects | Effects::UNKNOWN }
    }
}

impl BitOr for CallEffects {
    type Output = CallEffects;

    fn bitor(self, other: CallEffects) -> CallEffects {
        CallEffects {
            effects: self.effects | other.effects,
            params: self.params | other.params,
            calls_arguments: self.calls_arguments || other.calls_arguments,
        }
    }
}

/// The effects of the expressions of a body.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BodyEffects {
    /// The effects of the evaluation of the value of each variable, if there are any.
    bindings: FxHashMap<LocalRef, Effects>,
    /// The expressions with effects of their own, apart from those of their operands, in order.
    steps: Vec<(ExprRef, Effects)>,
    /// What a call of the definition does.
    pub(crate) calls: CallEffects,
}

impl BodyEffects {
    /// Returns the effects of the evaluation of the value of a variable; of that of a graph binding,
    /// on its first use.
    pub fn of_binding(&self, binding: LocalRef) -> Effects {
        self.bindings.get(&binding).copied().unwrap_or_default()
    }

    /// Returns the expressions with effects of their own, apart from those of their operands, in order.
    pub fn steps(&self) -> &[(ExprRef, Effects)] {
        &self.steps
    }
}

/// What the analysis of a body depends on.
pub(crate) struct Context<'a> {
    pub(crate) body: &'a Body,
    pub(crate) scopes: &'a Scopes,
    /// The types; without them, any value may hold functions.
    pub(crate) types: Option<&'a Inference>,
    pub(crate) module: &'a ModuleTypes,
    /// What calls of the globals do.
    pub(crate) globals: &'a FxHashMap<Name, CallEffects>,
}

/// The number of passes over a body, each of which is needed only if the one before found a new
/// effect of a recursive function. What is still open then is assumed to have all effects.
const MAX_PASSES: usize = 8;

/// Returns the effects of a body.
pub(crate) fn effects_of(context: &Context<'_>) -> BodyEffects {
    let mut analysis = Analysis {
        context,
        variables: FxHashMap::default(),
        graphs: FxHashMap::default(),
        frames: Vec::new(),
        depth: 0,
        is_settled: true,
        at: ExprRef::default(),
        found: BodyEffects::default(),
    };
    for pass in 0..=MAX_PASSES {
        analysis.run(pass == MAX_PASSES);
        if analysis.is_settled {
            break;
        }
    }
    analysis.found
}

/// A function or a graph binding whose expressions are visited.
#[derive(Default)]
struct Frame {
    /// What its evaluation does.
    evaluation: CallEffects,
    /// For each effect, the last expression that has it.
    last: [Option<ExprRef>; <Effects as bitflags::Flags>::FLAGS.len()],
    /// What the evaluation of graph variables of the functions around does, with their depths: a function
    /// that uses one evaluates it where the function is created.
    captured: Vec<(u32, CallEffects)>,
}

struct Analysis<'a> {
    context: &'a Context<'a>,
    /// What calls of variables do. It only grows.
    variables: FxHashMap<LocalRef, CallEffects>,
    /// What the evaluation of graph variables does, with the number of functions around them.
    graphs: FxHashMap<LocalRef, (u32, CallEffects)>,
    /// The functions and graph bindings around the current expression.
    frames: Vec<Frame>,
    /// The number of functions around it, without the definition.
    depth: u32,
    /// False if a recursive function does more than was assumed at its uses.
    is_settled: bool,
    at: ExprRef,
    found: BodyEffects,
}

impl Analysis<'_> {
    /// Visits all expressions. In the last pass, recursive functions are assumed to have all effects.
    fn run(&mut self, is_last: bool) {
        self.found = BodyEffects::default();
        self.is_settled = true;
        self.frames = vec![Frame::default()];
        let mut result = CallEffects::default();
        for (number, unit) in self.context.body.units() {
            let is_given = matches!(unit.kind, UnitKind::Header | UnitKind::FreeVar);
            for binder in unit.exported().filter(|_| is_given) {
                self.bind(number, binder, CallEffects::param(0));
            }
            let latents = self.unit(number, unit, is_last);
            let root = unit.root.filter(|_| unit.kind == UnitKind::Tail);
            result = root.map_or(result, |root| latents[root.index()]);
        }
        let evaluation = self.frames.pop().unwrap_or_default().evaluation;
        self.found.calls = (evaluation | result).function(0);
    }

    /// Visits the expressions of a unit. Returns what calls of their values do.
    fn unit(&mut self, number: UnitId, unit: &Unit, is_last: bool) -> Vec<CallEffects> {
        // The graph bindings by their first expressions, the outermost last.
        let mut graphs: FxHashMap<ExprId, u32> = FxHashMap::default();
        for expr in &unit.exprs {
            if let Expr::Bind { binder, start, .. } = expr
                && unit.binder(*binder).kind == BinderKind::Graph
            {
                *graphs.entry(*start).or_default() += 1;
            }
        }
        let mut latents: Vec<CallEffects> = Vec::with_capacity(unit.exprs.len());
        for (at, expr) in (0..).zip(&unit.exprs) {
            self.at = ExprRef { unit: number, expr: ExprId(at) };
            let opened = graphs.get(&ExprId(at)).copied().unwrap_or_default();
            self.frames.extend((0..opened).map(|_| Frame::default()));
            let latent = match expr {
                Expr::Declare(binder) if is_last => {
                    self.bind(number, *binder, CallEffects::UNKNOWN);
                    CallEffects::default()
                }
                Expr::EnterFn(function) => {
                    self.depth += 1;
                    self.frames.push(Frame::default());
                    for &param in &unit.fns[function.index()].params {
                        self.bind(number, param, CallEffects::param(self.depth));
                    }
                    CallEffects::default()
                }
                Expr::Fn(function) => {
                    let frame = self.frames.pop().unwrap_or_default();
                    let body = unit.fns[function.index()].body;
                    let result = body.map(|body| latents[body.result.index()]);
                    let latent =
                        (frame.evaluation | result.unwrap_or_default()).function(self.depth);
                    self.depth = self.depth.saturating_sub(1);
                    frame.captured.into_iter().for_each(|(depth, of)| self.evaluate(depth, of));
                    latent
                }
                Expr::Bind { binder, value, start } => {
                    let is_recursive = *unit.expr(*start) == Expr::Declare(*binder);
                    self.end_binding(unit, *binder, *start);
                    let grows = self.bind(number, *binder, latents[value.index()]);
                    self.is_settled &= is_last || !is_recursive || !grows;
                    CallEffects::default()
                }
                Expr::EnterMatch(id) => {
                    let matched = &unit.matches[id.index()];
                    let latent = latents[matched.scrutinee.index()];
                    for pattern in matched.arms.iter().flat_map(|arm| arm.pattern.all()) {
                        if let PatternKind::Var(binder) = pattern.kind {
                            self.bind(number, binder, latent);
                        }
                    }
                    CallEffects::default()
                }
                _ => self.expr(unit, expr, &latents),
            };
            latents.push(
                match self.holds_functions(latent, |types| types.exprs.get(at as usize)) {
                    true => latent,
                    false => CallEffects::default(),
                },
            );
        }
        latents
    }

    /// Returns what a call of the value of an expression does; notes the effects of its evaluation.
    fn expr(&mut self, unit: &Unit, expr: &Expr, latents: &[CallEffects]) -> CallEffects {
        let of = |id: ExprId| latents[id.index()];
        let union =
            |ids: &[ExprId]| ids.iter().fold(CallEffects::default(), |all, &id| all | of(id));
        let number = self.at.unit;
        match expr {
            Expr::Bound(binder) => self.variable(LocalRef { unit: number, binder: *binder }),
            Expr::Free(free) => match self.context.scopes.get(number, *free) {
                Some(binding) => self.variable(binding),
                None => CallEffects::UNKNOWN,
            },
            Expr::Dotted { whole, tuple, .. } => match self.context.scopes.get(number, *whole) {
                Some(binding) => self.variable(binding),
                None => of(*tuple),
            },
            Expr::Global(name) => {
                self.context.globals.get(name).copied().unwrap_or(CallEffects::UNKNOWN)
            }
            Expr::Name(name) => {
                let other = || operators::other_version(name).map(|other| &other.operator);
                self.named(name, operators::find(name).or_else(other))
            }
            Expr::Tuple(fields) => union(fields),
            Expr::Proj { tuple, .. } => of(*tuple),
            Expr::Call(call) => {
                let call = unit.call(*call);
                let callee = match &call.callee {
                    Callee::Operator(operator) => self.named(operator.name, Some(operator)),
                    Callee::Name(name) => self.named(name, None),
                    Callee::Expr(callee) => of(*callee),
                };
                let args = union(&call.args);
                self.step(callee.call(args));
                callee | args
            }
            Expr::If { .. } | Expr::Match(_) => union(&unit.branches_of(self.at.expr)),
            Expr::RefNew(_) => {
                self.step(CallEffects::of(Effects::CREATE));
                CallEffects::default()
            }
            Expr::RefRead(_) => {
                self.step(CallEffects::of(Effects::READ));
                CallEffects::UNKNOWN
            }
            Expr::RefWrite(..) => {
                self.step(CallEffects::of(Effects::WRITE));
                CallEffects::default()
            }
            _ => CallEffects::default(),
        }
    }

    /// Returns what a call of an operator or a constructor does. An unknown operator, or one that the
    /// project declares, may do anything.
    fn named(&self, name: &str, operator: Option<&Operator>) -> CallEffects {
        // A constructor hides the operator of its name.
        if self.context.module.constructor(name).is_some() {
            return CallEffects::default();
        }
        match operator.map(|operator| operator.effect) {
            Some(Effect::None) => CallEffects::default(),
            Some(Effect::Calls) => CallEffects::NO_CALLS,
            Some(Effect::Memory) => {
                CallEffects { calls_arguments: true, ..CallEffects::of(Effects::MEMORY) }
            }
            None => CallEffects::UNKNOWN,
        }
    }

    /// Returns what a call of a variable does. A graph variable is evaluated.
    fn variable(&mut self, binding: LocalRef) -> CallEffects {
        if let Some(&(depth, evaluation)) = self.graphs.get(&binding) {
            self.evaluate(depth, evaluation);
        }
        self.variables.get(&binding).copied().unwrap_or_default()
    }

    /// Notes the evaluation of a graph variable that is bound inside of `depth` functions.
    fn evaluate(&mut self, depth: u32, evaluation: CallEffects) {
        let is_ordered = evaluation.all().is_ordered();
        let first_use = if is_ordered { Effects::FIRST_USE } else { Effects::empty() };
        self.step(evaluation | CallEffects::of(first_use));
        if let Some(frame) = self.frames.last_mut().filter(|_| depth < self.depth) {
            let known = frame.captured.iter_mut().find(|(known, _)| *known == depth);
            match known {
                Some((_, latent)) => *latent = *latent | evaluation,
                None => frame.captured.push((depth, evaluation)),
            }
        }
    }

    /// Adds what calls of the value of a variable do. Returns true if that is new.
    fn bind(&mut self, unit: UnitId, binder: BinderId, latent: CallEffects) -> bool {
        if !self.holds_functions(latent, |types| types.binders.get(binder.index())) {
            return false;
        }
        let known = self.variables.entry(LocalRef { unit, binder }).or_default();
        let before = *known;
        *known = before | latent;
        *known != before
    }

    /// Notes the effects of the value of a variable, whose first expression is `start`.
    fn end_binding(&mut self, unit: &Unit, binder: BinderId, start: ExprId) {
        let binding = LocalRef { unit: self.at.unit, binder };
        let start = ExprRef { unit: self.at.unit, expr: start };
        let effects = if unit.binder(binder).kind == BinderKind::Graph {
            let Frame { evaluation: latent, captured, .. } = self.frames.pop().unwrap_or_default();
            // Of a binding inside of a function, also if it is not used.
            let is_captured = captured.iter().any(|(_, of)| of.all().is_ordered());
            let first_use = if is_captured { Effects::FIRST_USE } else { Effects::empty() };
            if let Some(frame) = self.frames.last_mut() {
                frame.captured.extend(captured);
            }
            if latent != CallEffects::default() {
                self.graphs.insert(binding, (self.depth, latent));
            }
            (latent.all() - Effects::FIRST_USE) | first_use
        } else {
            let Some(frame) = self.frames.last() else { return };
            let inside = |last: &Option<ExprRef>| last.is_some_and(|last| last >= start);
            let pairs = Effects::all().iter().zip(&frame.last);
            pairs.filter(|(_, last)| inside(last)).map(|(effect, _)| effect).collect()
        };
        if !effects.is_empty() {
            self.found.bindings.insert(binding, effects);
        }
    }

    /// Notes what the evaluation of the current expression does.
    fn step(&mut self, latent: CallEffects) {
        let effects = latent.all();
        if effects.is_empty() {
            return;
        }
        self.found.steps.push((self.at, effects));
        if let Some(frame) = self.frames.last_mut() {
            frame.evaluation = frame.evaluation | latent;
            let pairs = Effects::all().iter().zip(&mut frame.last);
            let own = pairs.filter(|(effect, _)| effects.contains(*effect));
            own.for_each(|(_, last)| *last = Some(self.at));
        }
    }

    /// Returns false if calls do nothing, or if a value of this type holds no functions.
    fn holds_functions<'t>(
        &'t self,
        latent: CallEffects,
        type_in: impl FnOnce(&'t UnitTypes) -> Option<&'t Type>,
    ) -> bool {
        let types = self.context.types;
        latent != CallEffects::default()
            && types
                .and_then(|types| types.units.get(self.at.unit.index()))
                .and_then(|types| type_in(types))
                .is_none_or(|ty| self.context.module.may_hold_functions(ty))
    }
}
