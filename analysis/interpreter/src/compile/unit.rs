//! The expressions of a unit in order, and the regions among them: the arms of `if` and `match`,
//! the bodies of functions, and values that depend on the data types of their uses.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use semantics::{
    body::{BinderId, Expr, ExprId, FnId, Pattern, PatternKind, Region},
    scope::LocalRef,
};
use syntax::TextRange;

use super::{Compiler, Context, Draft, Numbers, Operand, Var, What};
use crate::code::{Op, Proc, Test};

/// The owner of a region.
#[derive(Clone, Copy)]
enum Role {
    Arm(ExprId, u32, Region),
    Body(FnId, Region),
    /// The value of a variable that depends on the data types of its uses.
    Made(BinderId, Region),
}

impl Compiler<'_, '_> {
    /// Compiles the expressions of a unit.
    pub(super) fn start_unit(&mut self, number: usize) {
        self.unit = number;
        let body = self.view.body.clone();
        let unit = &body.units[number];
        let count = unit.exprs.len();
        self.operands.clear();
        self.operands.resize(count, Operand::None);
        self.procs.clear();
        self.makers.clear();
        self.numbers = Numbers::of(self.view, number);
        let mut starts: Vec<Option<Role>> = vec![None; count + 1];
        let mut ends: Vec<Option<Role>> = vec![None; count + 1];
        let made = self.numbers.regions(unit);
        let mut add = |role: Role, region: Region| {
            let (start, end) = (region.start as usize, region.end as usize);
            if start < end && end <= count {
                starts[start] = Some(role);
                ends[end] = Some(role);
            }
        };
        for (index, expr) in unit.exprs.iter().enumerate() {
            let id = ExprId(index as u32);
            match expr {
                Expr::If { then, otherwise, .. } => {
                    add(Role::Arm(id, 0, *then), *then);
                    add(Role::Arm(id, 1, *otherwise), *otherwise);
                }
                Expr::Match(at) => {
                    let arms = unit.matches.get(at.index()).map(|m| m.arms.as_slice());
                    for (arm, number) in arms.unwrap_or_default().iter().zip(0..) {
                        add(Role::Arm(id, number, arm.body), arm.body);
                    }
                }
                Expr::Fn(at) => {
                    if let Some(region) = unit.fns.get(at.index()).and_then(|f| f.body) {
                        add(Role::Body(*at, region), region);
                    }
                }
                _ => {}
            }
        }
        // The variables that functions are bound to and by which they call themselves.
        let mut own: FxHashMap<FnId, BinderId> = FxHashMap::default();
        let mut declared: Vec<BinderId> = Vec::new();
        for expr in &unit.exprs {
            match expr {
                Expr::Declare(binder) => declared.push(*binder),
                Expr::Bind { binder, value, .. } if declared.last() == Some(binder) => {
                    declared.pop();
                    if let Expr::Fn(at) = unit.expr(*value) {
                        own.insert(*at, *binder);
                    }
                }
                _ => {}
            }
        }
        for index in 0..=count {
            if let Some(role) = ends[index] {
                self.leave(role);
            }
            // No other region ends where the value of a variable does.
            for &(binder, region) in made.iter().filter(|(_, region)| region.end == index as u32) {
                self.leave(Role::Made(binder, region));
            }
            if let Some(role) = starts[index] {
                self.enter(role, &own);
            }
            for &(binder, region) in made.iter().filter(|(_, region)| region.start == index as u32)
            {
                self.enter(Role::Made(binder, region), &own);
            }
            if index < count {
                let id = ExprId(index as u32);
                if self.lazy.begins(number, id) {
                    let context = self.context();
                    if context.parts.is_empty() {
                        context.parts.push(Vec::new());
                    }
                    let part = context.parts.len() as u32;
                    context.parts.push(Vec::new());
                    context.open.push(part);
                }
                self.expr(id);
            }
        }
    }

    fn enter(&mut self, role: Role, own: &FxHashMap<FnId, BinderId>) {
        match role {
            Role::Arm(expr, number, _) => {
                let place = self.place(expr);
                if number == 0 {
                    self.choose(expr, place);
                }
                self.draft(What::Arm(number), None, &[], place);
            }
            Role::Body(at, _) => {
                let unit = self.unit as u32;
                let own = own.get(&at).map(|&binder| Var::Local(LocalRef { unit, binder }));
                self.contexts.push(Context { own, ..Context::default() });
                let body = self.view.body.clone();
                for &binder in &body.units[self.unit].fns[at.index()].params {
                    self.param(Var::Local(LocalRef { unit, binder }));
                }
            }
            Role::Made(binder, _) => {
                self.contexts.push(Context::default());
                for param in self.numbers.params(binder) {
                    self.param(Var::DType(param));
                }
            }
        }
    }

    /// Begins a choice. The value that decides has been evaluated before.
    fn choose(&mut self, expr: ExprId, place: TextRange) {
        let body = self.view.body.clone();
        let unit = &body.units[self.unit];
        let (on, tests) = match unit.expr(expr) {
            Expr::If { cond, .. } => (*cond, None),
            Expr::Match(at) => {
                let data = &unit.matches[at.index()];
                let tests = data.arms.iter().map(|arm| self.test(&arm.pattern)).collect();
                (data.scrutinee, Some(tests))
            }
            _ => return,
        };
        let on = self.use_of(on);
        let value = self.context().reg();
        self.choices.push(value);
        self.draft(What::Choose(tests), Some(value), &[on], place);
    }

    /// Compiles a pattern and puts its variables into registers.
    fn test(&mut self, pattern: &Pattern) -> Test {
        match &pattern.kind {
            PatternKind::Wildcard => Test::Any,
            PatternKind::Var(binder) => {
                let var = Var::Local(LocalRef { unit: self.unit as u32, binder: *binder });
                let context = self.context();
                let reg = context.reg();
                context.vars.insert(var, reg);
                Test::Keep(reg)
            }
            PatternKind::Constructor(name, fields) => {
                let fields = fields.iter().map(|field| self.test(field)).collect();
                Test::Data(name.clone(), fields)
            }
            PatternKind::Tuple(fields) => {
                Test::Tuple(fields.iter().map(|field| self.test(field)).collect())
            }
        }
    }

    fn leave(&mut self, role: Role) {
        match role {
            Role::Arm(expr, number, region) => {
                let place = self.place(region.result);
                let result = self.use_of(region.result);
                if let Some(&value) = self.choices.last() {
                    // A result that was just computed is written to the result of the choice
                    // directly.
                    match self.context().last() {
                        Some(Draft { what: What::Do(_), dst: Some(dst), .. }) if *dst == result => {
                            *dst = value;
                        }
                        _ => self.emit(Op::Move, Some(value), &[result], place),
                    }
                }
                let body = self.view.body.clone();
                let unit = &body.units[self.unit];
                let arms = match unit.expr(expr) {
                    Expr::Match(at) => unit.matches[at.index()].arms.len(),
                    _ => 2,
                };
                if number as usize + 1 == arms {
                    self.draft(What::End, None, &[], place);
                    if let Some(value) = self.choices.pop() {
                        self.operands[expr.index()] = Operand::Reg(value);
                    }
                }
            }
            Role::Body(at, region) => {
                if let Some(made) = self.close(region) {
                    self.procs.insert(at, made);
                }
            }
            Role::Made(binder, region) => {
                if let Some(made) = self.close(region) {
                    self.makers.insert(binder, made);
                }
            }
        }
    }

    /// Ends the innermost procedure with the result of `region`. Returns the procedure and its
    /// captured variables.
    fn close(&mut self, region: Region) -> Option<(Arc<Proc>, Vec<Var>)> {
        let place = self.place(region.result);
        let result = self.use_of(region.result);
        self.emit(Op::Return, None, &[result], place);
        let context = self.contexts.pop()?;
        let captures = context.captures.iter().map(|(var, _)| *var).collect();
        Some((self.finish(context), captures))
    }
}
