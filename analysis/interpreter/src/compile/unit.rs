//! Compilation of a unit: its expressions in order, and the regions among them, which are the arms of
//! `if` and `match`, the bodies of functions, and values that depend on the data types of their uses.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use semantics::body::{self, BinderId, Expr, ExprId, FnId, LocalRef, PatternKind, Region, UnitId};
use syntax::TextRange;

use super::{Compiler, Context, LiteralDTypes, Location, RegInstr, RegOp, Var, points};
use crate::code::{Op, Pattern, Proc};

/// The owner of a region.
#[derive(Clone, Copy)]
enum Role {
    Arm(ExprId, u32, Region),
    Body(FnId, Region),
    /// The maker of the value of a variable, which depends on the data types of its uses.
    Maker(BinderId, Region),
}

impl Compiler<'_, '_> {
    /// Compiles the expressions of a unit.
    pub(super) fn start_unit(&mut self, number: UnitId) {
        self.unit = number;
        let body = self.view.body.clone();
        let unit = body.unit(number);
        let count = unit.exprs.len();
        self.stops.enter(self.view, number);
        self.locations.clear();
        self.locations.resize(count, Location::None);
        self.procs.clear();
        self.makers.clear();
        self.literal_dtypes = LiteralDTypes::of(self.view, number);
        self.find_results(unit);
        let mut starts: Vec<Option<Role>> = vec![None; count + 1];
        let mut ends: Vec<Option<Role>> = vec![None; count + 1];
        let made = self.literal_dtypes.regions(unit);
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
        // The variables that functions are bound to, by which they call themselves.
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
        let stops = match self.has_points() {
            true => points::of_unit(self.view, number, unit),
            false => Vec::new(),
        };
        let mut stops = stops.into_iter().peekable();
        for index in 0..=count {
            if let Some(role) = ends[index] {
                self.leave(role);
            }
            // No other region ends where the value of a variable does.
            for &(binder, region) in made.iter().filter(|(_, region)| region.end == index as u32) {
                self.leave(Role::Maker(binder, region));
            }
            if let Some(role) = starts[index] {
                self.enter(role, &own);
            }
            for &(binder, region) in made.iter().filter(|(_, region)| region.start == index as u32)
            {
                self.enter(Role::Maker(binder, region), &own);
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
                while let Some((_, point)) = stops.next_if(|(before, _)| *before <= id) {
                    self.emit(Op::Reach, None, &[], point.range);
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
                    self.begin_branch(expr, place);
                }
                self.emit_op(RegOp::Arm(number), None, &[], place);
                let body = self.view.body.clone();
                let unit = body.unit(self.unit);
                if let Expr::Match(at) = unit.expr(expr)
                    && let Some(arm) = unit.matches[at.index()].arms.get(number as usize)
                {
                    self.check_pattern(&arm.pattern);
                    self.report_pattern(&arm.pattern);
                }
            }
            Role::Body(at, _) => {
                let unit = self.unit;
                self.bind_dtypes(at);
                let own = own.get(&at).map(|&binder| Var::Local(LocalRef { unit, binder }));
                self.contexts.push(Context { own, ..Context::default() });
                let body = self.view.body.clone();
                let function = &body.unit(self.unit).fns[at.index()];
                for &binder in &function.params {
                    self.param(Var::Local(LocalRef { unit, binder }));
                }
                self.check_params(unit, function);
            }
            Role::Maker(binder, _) => {
                let maker = Var::Maker(LocalRef { unit: self.unit, binder });
                self.contexts.push(Context { own: Some(maker), ..Context::default() });
                for param in self.literal_dtypes.params(binder) {
                    self.param(Var::DType(param));
                }
            }
        }
    }

    /// Puts the data types of the literals of a function that is used where it is written into
    /// registers of the context around it: `(fn <b : BaseType>(%x: Tensor[(), b]) { %x + 1 })(2f)`.
    fn bind_dtypes(&mut self, at: FnId) {
        if !self.literal_dtypes.has_function(at) {
            return;
        }
        let body = self.view.body.clone();
        let exprs = &body.unit(self.unit).exprs;
        let Some(expr) = exprs.iter().position(|expr| matches!(expr, Expr::Fn(own) if *own == at))
        else {
            return;
        };
        let expr = ExprId(expr as u32);
        for (param, dtype) in self.literal_dtypes.of_function(expr, at) {
            let place = self.place(expr);
            let reg = self.dtype_of(&dtype, place);
            self.context().vars.insert(Var::DType(param), reg);
        }
    }

    /// Begins a branch. The condition or scrutinee has been evaluated before.
    fn begin_branch(&mut self, expr: ExprId, place: TextRange) {
        let body = self.view.body.clone();
        let unit = body.unit(self.unit);
        let (scrutinee, patterns) = match unit.expr(expr) {
            Expr::If { cond, .. } => (*cond, None),
            Expr::Match(at) => {
                let data = &unit.matches[at.index()];
                let patterns = data.arms.iter().map(|arm| self.pattern(&arm.pattern)).collect();
                (data.scrutinee, Some(patterns))
            }
            _ => return,
        };
        let scrutinee = self.use_of(scrutinee);
        let value = self.context().reg();
        self.branches.push(value);
        self.emit_op(RegOp::Branch(patterns), Some(value), &[scrutinee], place);
    }

    /// Compiles a pattern and puts its variables into registers.
    fn pattern(&mut self, pattern: &body::Pattern) -> Pattern {
        match &pattern.kind {
            PatternKind::Wildcard => Pattern::Wildcard,
            PatternKind::Var(binder) => {
                let var = Var::Local(LocalRef { unit: self.unit, binder: *binder });
                let context = self.context();
                let reg = context.reg();
                context.vars.insert(var, reg);
                Pattern::Bind(reg)
            }
            PatternKind::Constructor(name, fields) => {
                let fields = fields.iter().map(|field| self.pattern(field)).collect();
                Pattern::Constructor(name.clone(), fields)
            }
            PatternKind::Tuple(fields) => {
                Pattern::Tuple(fields.iter().map(|field| self.pattern(field)).collect())
            }
        }
    }

    /// Reports the values of the variables of a pattern.
    fn report_pattern(&mut self, pattern: &body::Pattern) {
        if !self.reports() {
            return;
        }
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Var(binder) => {
                let var = LocalRef { unit: self.unit, binder: *binder };
                if let Some(&reg) = self.context().vars.get(&Var::Local(var)) {
                    let name = self.view.binding_range(var);
                    self.emit(Op::Report(name), None, &[reg], name);
                }
            }
            PatternKind::Constructor(_, fields) | PatternKind::Tuple(fields) => {
                fields.iter().for_each(|field| self.report_pattern(field));
            }
        }
    }

    fn leave(&mut self, role: Role) {
        match role {
            Role::Arm(expr, number, region) => {
                let place = self.place(region.result);
                let result = self.use_of(region.result);
                if let Some(&value) = self.branches.last() {
                    // A result that was just computed is written to the result of the branch
                    // directly.
                    match self.context().last() {
                        Some(RegInstr { op: RegOp::Plain(_), dst: Some(dst), .. })
                            if *dst == result =>
                        {
                            *dst = value;
                        }
                        _ => self.emit(Op::Move, Some(value), &[result], place),
                    }
                }
                let body = self.view.body.clone();
                let unit = body.unit(self.unit);
                let arms = match unit.expr(expr) {
                    Expr::Match(at) => unit.matches[at.index()].arms.len(),
                    _ => 2,
                };
                if number as usize + 1 == arms {
                    self.emit_op(RegOp::EndBranch, None, &[], place);
                    if let Some(value) = self.branches.pop() {
                        self.locations[expr.index()] = Location::Reg(value);
                    }
                }
            }
            Role::Body(at, region) => {
                if let Some(made) = self.close(region) {
                    self.procs.insert(at, made);
                }
            }
            Role::Maker(binder, region) => {
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
