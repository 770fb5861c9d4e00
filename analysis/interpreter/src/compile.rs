//! Compiles lowered bodies to code.
//!
//! Three passes process a definition, none of which recurses along bindings or nesting: [`lazy`]
//! finds the graph bindings that not every path through the body needs, this module converts
//! expressions to instructions over an unlimited number of registers, and [`frame`] finds the last
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
mod frame;
mod fuse;
mod lazy;
mod literal;
mod numeric;
mod unit;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use semantics::{
    SourceFile, View,
    body::{BinderId, Expr, ExprId, FnId, Name, UnitKind},
    metadata::Metadata,
    scope::LocalRef,
};
use smallvec::SmallVec;
use syntax::TextRange;
use types::ParamId;

use crate::{
    code::{Op, Proc, Test},
    fault::FaultKind,
    value::{Callable, Value},
};
use call::no_tensors;
use lazy::Lazy;
pub(crate) use literal::of_dtype;
use numeric::Numbers;
pub(crate) use numeric::chosen;

/// The definitions and constants that a body refers to.
pub(crate) trait Link {
    /// The number of the definition with a name.
    fn global(&mut self, name: &str) -> Option<u32>;
    /// The number of a constant of the metadata section.
    fn constant(&mut self, key: &str, index: u32) -> Option<u32>;
    /// The metadata section, if there is one.
    fn metadata(&self) -> Option<&Metadata>;
}

/// Compiles a definition or a bare expression. With `observed`, the code reports the values of the
/// variables of its statements.
pub(crate) fn compile(view: &View<'_>, link: &mut dyn Link, observed: bool) -> Arc<Proc> {
    let name = match view.def.name(view.db).as_str() {
        "" => "the expression".into(),
        name => name.into(),
    };
    let mut compiler = Compiler {
        view,
        link,
        observed,
        name,
        file: view.def.file(view.db),
        lazy: Lazy::of(view),
        unit: 0,
        operands: Vec::new(),
        procs: FxHashMap::default(),
        makers: FxHashMap::default(),
        numbers: Numbers::default(),
        choices: Vec::new(),
        contexts: vec![Context::default()],
    };
    compiler.definition()
}

/// A variable or data type with a value in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Var {
    /// A variable of the definition.
    Local(LocalRef),
    /// The data type of a literal, which a use of the enclosing function determines.
    DType(ParamId),
}

/// A register.
type Reg = u32;

/// The location of an expression's value.
#[derive(Clone, Debug)]
enum Operand {
    /// Nothing (yet).
    None,
    /// The value in a register.
    Reg(Reg),
    /// A definition.
    Global(u32),
    /// It has no value, for this reason.
    Missing(FaultKind, Arc<str>),
}

/// An instruction over registers.
#[derive(Clone, Debug)]
struct Draft {
    what: What,
    dst: Option<Reg>,
    args: SmallVec<[Reg; 2]>,
    place: TextRange,
}

#[derive(Clone, Debug)]
enum What {
    /// An instruction.
    Do(Op),
    /// The register is lazy: the part with this number computes its value, if it has none.
    Force(u32),
    /// Begins a choice by truth value, or by patterns over registers.
    Choose(Option<Vec<Test>>),
    /// Begins its next arm.
    Arm(u32),
    /// Ends the choice.
    End,
}

/// A function that is being compiled.
#[derive(Default)]
struct Context {
    params: Vec<Reg>,
    vars: FxHashMap<Var, Reg>,
    /// The variable that the function is bound to and calls itself by.
    own: Option<Var>,
    captures: Vec<(Var, Reg)>,
    /// The code, then that of each lazy binding.
    parts: Vec<Vec<Draft>>,
    /// The parts that are being written, innermost last.
    open: Vec<u32>,
    /// The registers that a part computes.
    lazies: FxHashMap<Reg, u32>,
    regs: u32,
}

impl Context {
    fn reg(&mut self) -> Reg {
        self.regs += 1;
        self.regs - 1
    }

    fn emit(&mut self, draft: Draft) {
        let open = self.open.last().copied().unwrap_or(0) as usize;
        if self.parts.is_empty() {
            self.parts.push(Vec::new());
        }
        self.parts[open].push(draft);
    }

    fn last(&mut self) -> Option<&mut Draft> {
        let open = self.open.last().copied().unwrap_or(0) as usize;
        self.parts.get_mut(open)?.last_mut()
    }
}

struct Compiler<'a, 'db> {
    view: &'a View<'db>,
    link: &'a mut dyn Link,
    observed: bool,
    name: Name,
    file: SourceFile,
    lazy: Lazy,
    unit: usize,
    /// The operand of each expression of the unit.
    operands: Vec<Operand>,
    /// The compiled functions of the unit, with their captures.
    procs: FxHashMap<FnId, (Arc<Proc>, Vec<Var>)>,
    /// The makers of values of the unit, with their captures.
    makers: FxHashMap<BinderId, (Arc<Proc>, Vec<Var>)>,
    /// The literals of the unit whose data types are determined by uses.
    numbers: Numbers,
    /// Registers for the results of the open choices.
    choices: Vec<Reg>,
    contexts: Vec<Context>,
}

impl Compiler<'_, '_> {
    fn definition(&mut self) -> Arc<Proc> {
        let body = self.view.body.clone();
        for (number, unit) in body.units.iter().enumerate() {
            let params = unit.header().map(|header| header.params.as_slice()).unwrap_or_default();
            let free = unit.binds.filter(|_| unit.kind == UnitKind::FreeVar);
            for &binder in params.iter().chain(&free) {
                let param = LocalRef { unit: number as u32, binder };
                self.param(Var::Local(param));
                if self.observed
                    && let Some(&reg) = self.context().vars.get(&Var::Local(param))
                {
                    let name = self.view.binding_range(param);
                    self.emit(Op::Bound(name), None, &[reg], name);
                }
            }
        }
        // The data types that a use of the definition determines are captured.
        for param in &self.view.inference.numeric {
            let var = Var::DType(param.id());
            let context = self.context();
            let reg = context.reg();
            context.vars.insert(var, reg);
            context.captures.push((var, reg));
        }
        let mut value =
            Operand::Missing(FaultKind::Missing, format!("`{}` has no body", self.name).into());
        let mut place = self.view.def.range(self.view.db);
        for (number, unit) in body.units.iter().enumerate() {
            self.start_unit(number);
            if unit.kind == UnitKind::Tail
                && let Some(root) = unit.root
            {
                value = self.operands[root.index()].clone();
                place = self.place(root);
            }
        }
        let reg = self.register(value, place);
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
        self.draft(What::Do(op), dst, args, place);
    }

    fn draft(&mut self, what: What, dst: Option<Reg>, args: &[Reg], place: TextRange) {
        let args = SmallVec::from_slice(args);
        self.context().emit(Draft { what, dst, args, place });
    }

    /// Emits an instruction with a result.
    fn value(&mut self, op: Op, args: &[Reg], place: TextRange) -> Operand {
        let dst = self.context().reg();
        self.emit(op, Some(dst), args, place);
        Operand::Reg(dst)
    }

    fn finish(&self, context: Context) -> Arc<Proc> {
        Arc::new(frame::lay_out(context, self.name.clone(), self.file))
    }

    fn place(&self, expr: ExprId) -> TextRange {
        self.view.place(self.unit, self.view.unit(self.unit).range(expr))
    }

    /// The register of an expression.
    fn use_of(&mut self, expr: ExprId) -> Reg {
        let operand = self.operands.get(expr.index()).cloned().unwrap_or(Operand::None);
        let place = self.place(expr);
        self.register(operand, place)
    }

    fn register(&mut self, operand: Operand, place: TextRange) -> Reg {
        match operand {
            Operand::Reg(reg) => reg,
            Operand::Global(number) => {
                let dst = self.context().reg();
                let function = Value::closure(Callable::Global(number), Vec::new());
                self.emit(Op::Const(function), Some(dst), &[], place);
                dst
            }
            Operand::None => {
                let message = "this expression has no value because of an error".into();
                self.register(Operand::Missing(FaultKind::Untyped, message), place)
            }
            Operand::Missing(kind, message) => {
                let dst = self.context().reg();
                self.emit(Op::Fault(kind, message), Some(dst), &[], place);
                dst
            }
        }
    }

    /// The register of a variable, forced if it is lazy, captured if it is bound in an enclosing
    /// function.
    fn variable(&mut self, var: Var, place: TextRange) -> Reg {
        let level = self.contexts.len().saturating_sub(1);
        self.variable_at(level, var, place)
    }

    fn variable_at(&mut self, level: usize, var: Var, place: TextRange) -> Reg {
        // Goes out to the binding function and back in: each function captures the variable from
        // the next outer one.
        let knows = |context: &Context| context.vars.contains_key(&var) || context.own == Some(var);
        let home = (0..=level).rev().find(|&at| self.contexts.get(at).is_some_and(knows));
        for at in home.unwrap_or(0) + 1..=level {
            let context = &mut self.contexts[at];
            let reg = context.reg();
            context.vars.insert(var, reg);
            context.captures.push((var, reg));
        }
        let context = &mut self.contexts[level];
        let (what, dst) = match context.vars.get(&var) {
            Some(&reg) => match context.lazies.get(&reg) {
                Some(&part) => (What::Force(part), reg),
                None => return reg,
            },
            None if context.own == Some(var) => (What::Do(Op::Own), context.reg()),
            None => {
                let message = "this variable has no value here".into();
                (What::Do(Op::Fault(FaultKind::Missing, message)), context.reg())
            }
        };
        context.emit(Draft { what, dst: Some(dst), args: SmallVec::new(), place });
        dst
    }

    fn expr(&mut self, id: ExprId) {
        let body = self.view.body.clone();
        let unit = &body.units[self.unit];
        let place = self.place(id);
        let number = self.unit as u32;
        let operand = match unit.expr(id) {
            Expr::Missing
            | Expr::Condition(_)
            | Expr::EnterFn(_)
            | Expr::EnterMatch(_)
            | Expr::Declare(_) => return,
            // The value is in the register of the choice.
            Expr::If { .. } => return,
            Expr::Match(at) => {
                if unit.matches[at.index()].arms.is_empty() {
                    let message = "this `match` has no arms".into();
                    Operand::Missing(FaultKind::NoArm, message)
                } else {
                    return;
                }
            }
            Expr::Bind { binder, value, .. } => {
                let var = LocalRef { unit: number, binder: *binder };
                match self.makers.remove(binder) {
                    Some((proc, captures)) => self.bind_maker(var, proc, &captures, place),
                    None => self.bind(var, *value, place),
                }
                return;
            }
            Expr::Literal(literal) => match self.numbers.literal(self.view, self.unit, id) {
                Some(param) => {
                    let like = self.dtype(&param, place);
                    self.value(Op::Number(*literal), &[like], place)
                }
                None => {
                    let ty = self.view.unit_types(self.unit).expr(id);
                    match literal::tensor(literal, ty) {
                        Some(tensor) => self.value(Op::Const(tensor.into()), &[], place),
                        None => no_tensors(ty),
                    }
                }
            },
            Expr::Filled(filled) => match literal::filled(filled) {
                Ok(fill) => self.value(Op::Fill(fill.into()), &[], place),
                Err(message) => Operand::Missing(FaultKind::Missing, message.into()),
            },
            Expr::Bound(binder) => {
                let var = LocalRef { unit: number, binder: *binder };
                self.use_variable(var, id, place)
            }
            Expr::Free(free) => match self.view.scopes.get(self.unit, *free) {
                Some(var) => self.use_variable(var, id, place),
                None => Operand::None,
            },
            Expr::Dotted { whole, tuple, index } => match self.view.scopes.get(self.unit, *whole) {
                Some(var) => self.use_variable(var, id, place),
                None => {
                    let tuple = self.use_of(*tuple);
                    self.value(Op::Proj(*index), &[tuple], place)
                }
            },
            Expr::Global(name) => match self.link.global(name) {
                Some(global) => self.use_global(global, id, place),
                None => Operand::Missing(
                    FaultKind::Missing,
                    format!("`{name}` has no definition that can be run").into(),
                ),
            },
            Expr::Name(name) => self.named(name, place),
            Expr::Meta(meta) => match self.link.constant(&meta.key, meta.index) {
                Some(constant) => self.value(Op::Meta(constant), &[], place),
                None => Operand::Missing(
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
                None => Operand::None,
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
        self.operands[id.index()] = operand;
    }

    fn bind(&mut self, var: LocalRef, value: ExprId, place: TextRange) {
        let reg = self.use_of(value);
        let lazy = self.lazy.is(var);
        let observed = self.observed && self.contexts.len() == 1;
        if observed {
            let name = self.view.binding_range(var);
            self.emit(Op::Bound(name), None, &[reg], place);
        }
        let context = self.context();
        if !lazy {
            context.vars.insert(Var::Local(var), reg);
            return;
        }
        let dst = context.reg();
        let args = SmallVec::from_slice(&[reg]);
        context.emit(Draft { what: What::Do(Op::Move), dst: Some(dst), args, place });
        if let Some(part) = context.open.pop() {
            context.lazies.insert(dst, part);
        }
        context.vars.insert(Var::Local(var), dst);
    }
}
