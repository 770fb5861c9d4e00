//! Compilation of lowered bodies to code.
//!
//! Three passes process a definition, none of which recurses along bindings or nesting: [`lazy`]
//! finds the graph bindings that not every path through the body needs, this module converts
//! expressions to instructions over an unlimited number of registers, and [`layout`] finds the last
//! use of each register and assigns it a slot.
//!
//! A graph binding is evaluated in its place if every path after it needs it, and otherwise on its
//! first use:
//!
//! ```relay
//! %0 = @f(%n);
//! if (%c) { %0 } else { 0 }
//! ```

mod call;
mod fuse;
mod layout;
mod lazy;
mod literal;
mod numeric;
mod points;
mod promise;
mod stops;
mod unit;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use semantics::{
    ExprRef, SourceFile, View,
    body::{BinderId, Expr, ExprId, FnId, LocalRef, Name, UnitId, UnitKind},
    metadata::Metadata,
};
use smallvec::SmallVec;
use syntax::TextRange;
use types::ParamId;

use crate::{
    code::{Callable, FrameVariable, Op, Pattern, Proc},
    fault::FaultKind,
};
use call::unsupported_type;
use lazy::LazyBindings;
pub(crate) use literal::of_dtype as literal_of_dtype;
use numeric::LiteralDTypes;
pub(crate) use numeric::literal_dtypes;
pub use points::{Point, PointKind, points};
use stops::Stops;

/// Assigns numbers to the definitions and constants that a body refers to.
pub(crate) trait Linker {
    /// Returns the number of the definition with a name.
    fn global(&mut self, name: &str) -> Option<u32>;
    /// Returns the number of a constant of the metadata section.
    fn constant(&mut self, key: &str, index: u32) -> Option<u32>;
    /// Returns the metadata section, if there is one.
    fn metadata(&self) -> Option<&Metadata>;
}

/// What code reports to the observer of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TraceLevel {
    /// The values of the variables of statements.
    Values,
    /// Also the [points](Point) before them, and the values of variables in function expressions. Each variable has
    /// a slot of its own, in which a run may [retain](crate::Observer::retains) its value after its last use.
    Points,
}

/// Compiles a definition or a bare expression. Without `tracing`, the code reports nothing. The code stops at the
/// `errors` of the file.
pub(crate) fn compile(
    view: &View<'_>,
    linker: &mut dyn Linker,
    tracing: Option<TraceLevel>,
    errors: &[TextRange],
) -> Arc<Proc> {
    let name = match view.def.name(view.db).as_str() {
        "" => "the expression".into(),
        name => name.into(),
    };
    let mut compiler = Compiler {
        view,
        linker,
        tracing,
        name,
        file: view.def.file(view.db),
        lazy: LazyBindings::of(view),
        stops: Stops::of(view, errors),
        unit: UnitId::HEADER,
        locations: Vec::new(),
        procs: FxHashMap::default(),
        makers: FxHashMap::default(),
        results: FxHashMap::default(),
        unit_has_any: false,
        literal_dtypes: LiteralDTypes::default(),
        branches: Vec::new(),
        contexts: vec![Context::default()],
    };
    compiler.definition()
}

/// A variable or data type with a value in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Var {
    /// A variable of the definition.
    Local(LocalRef),
    /// The function that makes the value of a variable for data types.
    Maker(LocalRef),
    /// The data type of a literal, which a use of the enclosing function determines.
    DType(ParamId),
}

/// A register.
type Reg = u32;

/// The location of an expression's value.
#[derive(Clone, Debug)]
enum Location {
    /// No value: it is not compiled yet, or has an error.
    None,
    /// The value in a register.
    Reg(Reg),
    /// A definition.
    Global(u32),
    /// No value, for this reason.
    Missing(FaultKind, Arc<str>),
}

/// An instruction over registers.
#[derive(Clone, Debug)]
struct RegInstr {
    op: RegOp,
    dst: Option<Reg>,
    args: SmallVec<[Reg; 2]>,
    place: TextRange,
}

/// The operation of an instruction over registers.
#[derive(Clone, Debug)]
enum RegOp {
    /// An operation without jumps.
    Plain(Op),
    /// Computes the value of a lazy register by the part with this number, unless it has one.
    Force(u32),
    /// Begins a branch by truth value, or by patterns over registers.
    Branch(Option<Vec<Pattern>>),
    /// Begins the arm of the branch with this number.
    Arm(u32),
    /// Ends the branch.
    EndBranch,
}

/// A function that is being compiled.
#[derive(Default)]
struct Context {
    params: Vec<Reg>,
    vars: FxHashMap<Var, Reg>,
    /// The variable that the function is bound to, by which it calls itself.
    own: Option<Var>,
    captures: Vec<(Var, Reg)>,
    /// The code of the function, followed by that of each lazy binding.
    parts: Vec<Vec<RegInstr>>,
    /// The parts that are being compiled, innermost last.
    open: Vec<u32>,
    /// The parts that compute lazy registers.
    lazies: FxHashMap<Reg, u32>,
    regs: u32,
}

impl Context {
    fn reg(&mut self) -> Reg {
        self.regs += 1;
        self.regs - 1
    }

    fn emit(&mut self, instr: RegInstr) {
        let open = self.open.last().copied().unwrap_or(0) as usize;
        if self.parts.is_empty() {
            self.parts.push(Vec::new());
        }
        self.parts[open].push(instr);
    }

    fn last(&mut self) -> Option<&mut RegInstr> {
        let open = self.open.last().copied().unwrap_or(0) as usize;
        self.parts.get_mut(open)?.last_mut()
    }
}

struct Compiler<'a, 'db> {
    view: &'a View<'db>,
    linker: &'a mut dyn Linker,
    tracing: Option<TraceLevel>,
    name: Name,
    file: SourceFile,
    lazy: LazyBindings,
    stops: Stops,
    unit: UnitId,
    /// The location of the value of each expression of the unit.
    locations: Vec<Location>,
    /// The compiled functions of the unit, with their captures.
    procs: FxHashMap<FnId, (Arc<Proc>, Vec<Var>)>,
    /// The makers of values of the unit, with their captures.
    makers: FxHashMap<BinderId, (Arc<Proc>, Vec<Var>)>,
    /// The expressions of the unit that functions with a declared result return; `None` for the
    /// definition.
    results: FxHashMap<ExprId, Option<FnId>>,
    /// True if a type in the unit has a `?`.
    unit_has_any: bool,
    /// The literals of the unit whose data types are determined by uses.
    literal_dtypes: LiteralDTypes,
    /// Registers for the results of the open branches.
    branches: Vec<Reg>,
    contexts: Vec<Context>,
}

impl Compiler<'_, '_> {
    fn definition(&mut self) -> Arc<Proc> {
        let body = self.view.body.clone();
        for (number, unit) in body.units() {
            let params = unit.header().map(|header| header.params.as_slice()).unwrap_or_default();
            let free = unit.binds.filter(|_| unit.kind == UnitKind::FreeVar);
            for &binder in params.iter().chain(&free) {
                let param = LocalRef { unit: number, binder };
                self.param(Var::Local(param));
                if self.tracing.is_some()
                    && let Some(&reg) = self.context().vars.get(&Var::Local(param))
                {
                    let name = self.view.binding_range(param);
                    self.emit(Op::Report(name), None, &[reg], name);
                }
            }
            if let Some(header) = unit.header() {
                self.check_params(number, header);
            }
        }
        if self.has_points() {
            let place = points::entry(self.view);
            self.emit(Op::Reach, None, &[], place);
        }
        // A bare function is called with the arguments of the run.
        let bare = self.view.bare_function();
        let count = bare.map_or(0, |(_, function)| function.params.len());
        let context = self.context();
        let arguments: SmallVec<[Reg; 4]> = (0..count).map(|_| context.reg()).collect();
        context.params.extend(&arguments);
        // The data types that a use of the definition determines are captured.
        for param in &self.view.inference.numeric {
            let var = Var::DType(param.id());
            let context = self.context();
            let reg = context.reg();
            context.vars.insert(var, reg);
            context.captures.push((var, reg));
        }
        let mut value =
            Location::Missing(FaultKind::Missing, format!("`{}` has no body", self.name).into());
        let mut place = self.view.def.range(self.view.db);
        for (number, unit) in body.units() {
            self.start_unit(number);
            if unit.kind == UnitKind::Tail
                && let Some(root) = unit.root
            {
                value = self.locations[root.index()].clone();
                place = self.place(root);
            }
        }
        if self.stops.has_rest() {
            value = stopped();
        }
        let mut reg = self.register(value, place);
        if bare.is_some() {
            let mut operands: SmallVec<[Reg; 4]> = SmallVec::from_slice(&[reg]);
            operands.extend(arguments);
            let called = self.value(Op::Call { tail: false }, &operands, place);
            reg = self.register(called, place);
        }
        self.emit(Op::Return, None, &[reg], place);
        let context = self.contexts.pop().unwrap_or_default();
        self.finish(context)
    }

    fn param(&mut self, var: Var) {
        let context = self.context();
        let reg = context.reg();
        context.params.push(reg);
        context.vars.insert(var, reg);
    }

    fn context(&mut self) -> &mut Context {
        if self.contexts.is_empty() {
            self.contexts.push(Context::default());
        }
        let last = self.contexts.len() - 1;
        &mut self.contexts[last]
    }

    fn emit(&mut self, op: Op, dst: Option<Reg>, args: &[Reg], place: TextRange) {
        self.emit_op(RegOp::Plain(op), dst, args, place);
    }

    fn emit_op(&mut self, op: RegOp, dst: Option<Reg>, args: &[Reg], place: TextRange) {
        let args = SmallVec::from_slice(args);
        self.context().emit(RegInstr { op, dst, args, place });
    }

    /// Emits an instruction with a result.
    fn value(&mut self, op: Op, args: &[Reg], place: TextRange) -> Location {
        let dst = self.context().reg();
        self.emit(op, Some(dst), args, place);
        Location::Reg(dst)
    }

    fn finish(&self, context: Context) -> Arc<Proc> {
        let has_points = self.has_points();
        let variables = if has_points { self.variables(&context) } else { Vec::new() };
        Arc::new(layout::lay_out(context, self.name.clone(), self.file, variables, has_points))
    }

    /// Returns the variables of a function, with registers for slots.
    fn variables(&self, context: &Context) -> Vec<FrameVariable> {
        let of = |(var, reg): (&Var, &Reg)| match var {
            Var::Local(local) => {
                let is_captured = context.captures.iter().any(|(_, captured)| captured == reg);
                Some(FrameVariable {
                    name: self.view.binding_range(*local),
                    slot: *reg,
                    is_captured,
                })
            }
            Var::Maker(_) | Var::DType(_) => None,
        };
        let mut variables: Vec<FrameVariable> = context.vars.iter().filter_map(of).collect();
        variables.sort_by_key(|variable| variable.name.start());
        variables
    }

    /// Returns true if the code has points at which a debugger can stop.
    fn has_points(&self) -> bool {
        self.tracing >= Some(TraceLevel::Points)
    }

    /// Returns true if the function that is being compiled reports the values of its variables.
    fn reports(&self) -> bool {
        self.has_points() || (self.tracing.is_some() && self.contexts.len() == 1)
    }

    fn place(&self, expr: ExprId) -> TextRange {
        self.view.range(ExprRef { unit: self.unit, expr })
    }

    /// Returns the register of an expression.
    fn use_of(&mut self, expr: ExprId) -> Reg {
        let location = self.locations.get(expr.index()).cloned().unwrap_or(Location::None);
        let place = self.place(expr);
        self.register(location, place)
    }

    fn register(&mut self, location: Location, place: TextRange) -> Reg {
        match location {
            Location::Reg(reg) => reg,
            Location::Global(number) => {
                let dst = self.context().reg();
                self.emit(Op::Closure(Callable::Global(number)), Some(dst), &[], place);
                dst
            }
            Location::None => {
                let message = "this expression has no value because of an error".into();
                self.register(Location::Missing(FaultKind::Untyped, message), place)
            }
            Location::Missing(kind, message) => {
                let dst = self.context().reg();
                self.emit(Op::Fault(kind, message), Some(dst), &[], place);
                dst
            }
        }
    }

    /// Returns the register of a variable, forced if it is lazy, captured if it is bound in an
    /// enclosing function.
    fn variable(&mut self, var: Var, place: TextRange) -> Reg {
        let level = self.contexts.len().saturating_sub(1);
        self.variable_at(level, var, place)
    }

    fn variable_at(&mut self, level: usize, var: Var, place: TextRange) -> Reg {
        // Each function between the binding one and this one captures the variable from the next
        // outer one.
        let knows = |context: &Context| context.vars.contains_key(&var) || context.own == Some(var);
        let home = (0..=level).rev().find(|&at| self.contexts.get(at).is_some_and(knows));
        for at in home.unwrap_or(0) + 1..=level {
            let context = &mut self.contexts[at];
            let reg = context.reg();
            context.vars.insert(var, reg);
            context.captures.push((var, reg));
        }
        let context = &mut self.contexts[level];
        let (op, dst) = match context.vars.get(&var) {
            Some(&reg) => match context.lazies.get(&reg) {
                Some(&part) => (RegOp::Force(part), reg),
                None => return reg,
            },
            None if context.own == Some(var) => (RegOp::Plain(Op::CurrentFunction), context.reg()),
            None => {
                let message = "this variable has no value here".into();
                (RegOp::Plain(Op::Fault(FaultKind::Missing, message)), context.reg())
            }
        };
        context.emit(RegInstr { op, dst: Some(dst), args: SmallVec::new(), place });
        dst
    }

    fn expr(&mut self, id: ExprId) {
        let body = self.view.body.clone();
        let unit = body.unit(self.unit);
        let place = self.place(id);
        let number = self.unit;
        let location = match unit.expr(id) {
            Expr::Missing
            | Expr::Condition(_)
            | Expr::EnterFn(_)
            | Expr::EnterMatch(_)
            | Expr::Declare(_) => return,
            // The value is in the register of the branch.
            Expr::If { .. } => {
                self.stop_branch(id);
                return;
            }
            Expr::Match(at) => {
                if unit.matches[at.index()].arms.is_empty() {
                    let message = "this `match` has no arms".into();
                    Location::Missing(FaultKind::NoArm, message)
                } else {
                    self.stop_branch(id);
                    return;
                }
            }
            Expr::Bind { binder, value, .. } => {
                let var = LocalRef { unit: number, binder: *binder };
                match self.makers.remove(binder) {
                    Some((proc, captures)) if !self.stops.is(id) => {
                        self.bind_maker(var, proc, &captures, place);
                    }
                    _ => {
                        let reg = match self.stops.is(id) {
                            true => self.register(stopped(), place),
                            false => self.use_of(*value),
                        };
                        self.bind(var, reg, place);
                    }
                }
                return;
            }
            Expr::Literal(literal) => match self.literal_dtypes.literal(self.view, self.unit, id) {
                Some(param) => {
                    let like = self.dtype(&param, place);
                    self.value(Op::Literal(*literal), &[like], place)
                }
                None => {
                    let ty = self.view.unit_types(self.unit).expr(id);
                    match literal::tensor(literal, ty) {
                        Some(tensor) => self.value(Op::Const(tensor.into()), &[], place),
                        None => unsupported_type(ty),
                    }
                }
            },
            Expr::Filled(filled) => match literal::filled(filled) {
                Ok(fill) => self.value(Op::Fill(fill.into()), &[], place),
                Err(message) => Location::Missing(FaultKind::Missing, message.into()),
            },
            Expr::Bound(binder) => {
                let var = LocalRef { unit: number, binder: *binder };
                self.use_variable(var, id, place)
            }
            Expr::Free(free) => match self.view.scopes.get(self.unit, *free) {
                Some(var) => self.use_variable(var, id, place),
                None => Location::None,
            },
            Expr::Dotted { whole, tuple, index } => match self.view.scopes.get(self.unit, *whole) {
                Some(var) => self.use_variable(var, id, place),
                None => {
                    let tuple = self.use_of(*tuple);
                    self.value(Op::Proj(*index), &[tuple], place)
                }
            },
            Expr::Global(name) => match self.linker.global(name) {
                Some(global) => self.use_global(global, id, place),
                None => Location::Missing(
                    FaultKind::Missing,
                    format!("`{name}` has no definition that can be run").into(),
                ),
            },
            Expr::Name(name) => self.named(name, place),
            Expr::Meta(meta) => match self.linker.constant(&meta.key, meta.index) {
                Some(constant) => self.value(Op::Meta(constant), &[], place),
                None => Location::Missing(
                    FaultKind::Missing,
                    format!(
                        "`meta[{}][{}]` is not in the module's metadata section",
                        meta.key, meta.index
                    )
                    .into(),
                ),
            },
            Expr::Tuple(fields) => {
                let fields: SmallVec<[Reg; 4]> = fields.iter().map(|&f| self.use_of(f)).collect();
                self.value(Op::Tuple, &fields, place)
            }
            Expr::Proj { tuple, index } => {
                let tuple = self.use_of(*tuple);
                self.value(Op::Proj(*index), &[tuple], place)
            }
            Expr::Call(call) => self.call(id, *call, place),
            Expr::Fn(at) => match self.procs.remove(at) {
                Some((proc, captures)) => {
                    let captured: SmallVec<[Reg; 4]> =
                        captures.iter().map(|&var| self.variable(var, place)).collect();
                    self.value(Op::Closure(Callable::Proc(proc)), &captured, place)
                }
                None => Location::None,
            },
            Expr::RefNew(value) => {
                let value = self.use_of(*value);
                self.value(Op::RefNew, &[value], place)
            }
            Expr::RefRead(reference) => {
                let reference = self.use_of(*reference);
                self.value(Op::RefRead, &[reference], place)
            }
            Expr::RefWrite(reference, value) => {
                let (reference, value) = (self.use_of(*reference), self.use_of(*value));
                self.value(Op::RefWrite, &[reference, value], place)
            }
        };
        if self.stops.is(id) {
            self.locations[id.index()] = stopped();
            return;
        }
        self.locations[id.index()] = location;
        if self.has_value(id) {
            self.check_result(id);
        }
    }

    /// Replaces the value of a branch if the run stops at it.
    fn stop_branch(&mut self, id: ExprId) {
        if self.stops.is(id) {
            self.locations[id.index()] = stopped();
        }
    }

    fn bind(&mut self, var: LocalRef, reg: Reg, place: TextRange) {
        self.check_binding(var.binder, reg);
        let lazy = self.lazy.is(var);
        if self.reports() {
            let name = self.view.binding_range(var);
            self.emit(Op::Report(name), None, &[reg], place);
        }
        let context = self.context();
        if !lazy {
            context.vars.insert(Var::Local(var), reg);
            return;
        }
        let dst = context.reg();
        let args = SmallVec::from_slice(&[reg]);
        context.emit(RegInstr { op: RegOp::Plain(Op::Move), dst: Some(dst), args, place });
        if let Some(part) = context.open.pop() {
            context.lazies.insert(dst, part);
        }
        context.vars.insert(Var::Local(var), dst);
    }
}

/// The location of a value that is not computed because of an error in the text.
fn stopped() -> Location {
    Location::Missing(FaultKind::Untyped, "the run stopped at an error".into())
}
