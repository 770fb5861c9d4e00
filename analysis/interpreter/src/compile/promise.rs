//! Checks of declared sizes, where the type of a value has a `?`.

use semantics::body::{
    BinderId, CallData, Callee, Expr, ExprId, FnId, Function, LocalRef, Pattern, PatternKind, Unit,
    UnitId, UnitKind,
};
use syntax::TextRange;
use types::{Flags, Type};

use super::{Compiler, Location, Reg, Var};
use crate::{
    code::{Op, Promise},
    promise::is_promise,
};

impl Compiler<'_, '_> {
    /// Checks the values of parameters at the beginning of a function: its callers may know a `?`.
    pub(super) fn check_params(&mut self, unit: UnitId, function: &Function) {
        for (number, &binder) in function.params.iter().enumerate() {
            self.check_variable(unit, binder, &function.params[..number]);
        }
    }

    /// Checks the value of a variable against its annotation. `others` are parameters whose
    /// annotations may have the same symbolic sizes.
    fn check_variable(&mut self, unit: UnitId, binder: BinderId, others: &[BinderId]) {
        let body = self.view.body.clone();
        let data = body.unit(unit).binder(binder);
        let var = LocalRef { unit, binder };
        let (Some(ty), Some(reg)) = (&data.annotation, self.known(var)) else { return };
        let place = self.view.binding_range(var);
        self.check(format!("`{}`", data.name), ty, reg, (unit, others), place);
    }

    /// Checks the value of a `let` binding.
    pub(super) fn check_binding(&mut self, binder: BinderId, value: Reg) {
        let body = self.view.body.clone();
        let data = body.unit(self.unit).binder(binder);
        let Some(ty) = data.annotation.as_ref().filter(|_| self.unit_has_any) else { return };
        let place = self.view.binding_range(LocalRef { unit: self.unit, binder });
        let header = body.header().map(|header| header.params.clone()).unwrap_or_default();
        let of = format!("`{}`", data.name);
        self.check(of, ty, value, (UnitId::HEADER, &header), place);
    }

    /// Checks the variables of a pattern.
    pub(super) fn check_pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Var(binder) => self.check_variable(self.unit, *binder, &[]),
            PatternKind::Constructor(_, fields) | PatternKind::Tuple(fields) => {
                fields.iter().for_each(|field| self.check_pattern(field));
            }
        }
    }

    /// Checks the value of an expression that a function returns.
    pub(super) fn check_result(&mut self, expr: ExprId) {
        let Some(function) = self.results.get(&expr).copied() else { return };
        let body = self.view.body.clone();
        let (unit, data) = match function {
            Some(function) => (self.unit, &body.unit(self.unit).fns[function.index()]),
            None => match body.header() {
                Some(header) => (UnitId::HEADER, header),
                None => return,
            },
        };
        let Some(ty) = &data.ret else { return };
        let place = self.place(expr);
        let reg = self.use_of(expr);
        let of = match function {
            Some(_) => "the result".to_owned(),
            None => format!("the result of `{}`", self.name),
        };
        self.check(of, ty, reg, (unit, &data.params), place);
    }

    fn known(&mut self, var: LocalRef) -> Option<Reg> {
        self.context().vars.get(&Var::Local(var)).copied()
    }

    fn check(
        &mut self,
        of: String,
        ty: &Type,
        reg: Reg,
        (unit, others): (UnitId, &[BinderId]),
        place: TextRange,
    ) {
        if !is_promise(ty) {
            return;
        }
        let body = self.view.body.clone();
        let (mut types, mut args) = (Vec::new(), Vec::new());
        if ty.flags().has(Flags::SYMBOL) {
            for &binder in others {
                let annotation = body.unit(unit).binder(binder).annotation.as_ref();
                let annotation = annotation.filter(|ty| ty.flags().has(Flags::SYMBOL));
                let var = LocalRef { unit, binder };
                if let (Some(ty), Some(reg)) = (annotation, self.known(var)) {
                    types.push(ty.clone());
                    args.push(reg);
                }
            }
        }
        types.push(ty.clone());
        args.push(reg);
        let promise = Promise { of: of.into(), types: types.into() };
        self.emit(Op::Check(promise.into()), None, &args, place);
    }

    /// Finds the expressions of a unit that functions with a declared result return, and whose types
    /// have a `?`: the arms of an `if` instead of the `if`, so that recursive calls stay tail calls.
    pub(super) fn find_results(&mut self, unit: &Unit) {
        self.results.clear();
        let types = self.view.unit_types(self.unit);
        self.unit_has_any = types.exprs.iter().any(|ty| ty.flags().has(Flags::ANY));
        let mut stack: Vec<(ExprId, Option<FnId>)> = Vec::new();
        let functions = unit.fns.iter().zip(0..).filter(|(function, _)| function.ret.is_some());
        stack
            .extend(functions.filter_map(|(function, number)| {
                Some((function.body?.result, Some(FnId(number))))
            }));
        if unit.kind == UnitKind::Tail && self.view.body.header().is_some_and(|h| h.ret.is_some()) {
            stack.extend(unit.root.map(|root| (root, None)));
        }
        // Each expression is the result of at most one region.
        while let Some((expr, function)) = stack.pop() {
            match unit.expr(expr) {
                Expr::If { then, otherwise, .. } => {
                    stack.extend([(then.result, function), (otherwise.result, function)]);
                }
                Expr::Match(at) => {
                    let arms = unit.matches.get(at.index()).map(|data| data.arms.as_slice());
                    let arms = arms.unwrap_or_default().iter();
                    stack.extend(arms.map(|arm| (arm.body.result, function)));
                }
                // The function checks its own result.
                Expr::Call(call) if self.calls_itself(unit, unit.call(*call)) => {}
                _ => {
                    // A tuple keeps the declared sizes of fields, whose types are elsewhere.
                    let ty = types.expr(expr);
                    if ty.flags().has(Flags::ANY) || ty.as_tuple().is_some() {
                        self.results.insert(expr, function);
                    }
                }
            }
        }
    }

    fn calls_itself(&self, unit: &Unit, call: &CallData) -> bool {
        let Callee::Expr(callee) = call.callee else { return false };
        matches!(unit.expr(callee), Expr::Global(name) if *name == self.name)
    }

    /// Returns true if an expression has a value to check.
    pub(super) fn has_value(&self, expr: ExprId) -> bool {
        matches!(self.locations.get(expr.index()), Some(Location::Reg(_)))
    }
}
