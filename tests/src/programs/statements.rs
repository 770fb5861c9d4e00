//! Blocks: bindings, references, and a result.

use super::{
    generate::Generator,
    terms::{Scope, Ty, TypedName},
};

impl Generator {
    /// Generates statements and a tail expression of type `want`, without braces.
    pub(super) fn block(&mut self, scope: &mut Scope, want: &Ty, depth: u32) -> String {
        let vars = scope.vars.len();
        let mut lines: Vec<String> = self.error_here().map(str::to_owned).into_iter().collect();
        let count = if depth == 0 || self.size == 0 { 0 } else { self.tape.pick(4) };
        for _ in 0..count {
            self.size = self.size.saturating_sub(1);
            match self.tape.pick(8) {
                1 => lines.push(self.graph_binding(scope, depth - 1)),
                2 | 3 => lines.push(self.let_function(scope)),
                4 => lines.push(self.reference(scope, depth - 1)),
                5 => {
                    let name = self.local_name();
                    let head = format!("let {name} = fn ");
                    let (text, named) = self.countdown_named(scope, &head, &name);
                    lines.push(text + ";");
                    scope.vars.push(named);
                }
                _ => lines.push(self.let_value(scope, depth - 1)),
            }
        }
        let tail = self.expr(scope, want, depth);
        scope.vars.truncate(vars);
        lines.push(tail);
        lines.join("\n")
    }

    /// Generates the type of a binding, whose type parameters are those of variables in scope.
    fn bound_ty(&mut self, scope: &Scope) -> Ty {
        let params: Vec<u32> = scope
            .vars
            .iter()
            .filter_map(|var| match (&var.ty, var.free.as_slice()) {
                (Ty::Param(param), []) => Some(*param),
                _ => None,
            })
            .collect();
        self.ty(2, &params, true)
    }

    fn let_value(&mut self, scope: &mut Scope, depth: u32) -> String {
        let ty = self.bound_ty(scope);
        let annotated = self.tape.once_in(3) && ty.is_writable(&scope.declared);
        let value = self.expr(scope, &ty, depth);
        let name = self.local_name();
        let annotation = if annotated { format!(": {ty}") } else { String::new() };
        let text = format!("let {name}{annotation} = {value};");
        scope.vars.push(TypedName { name, free: Vec::new(), ty });
        text
    }

    fn graph_binding(&mut self, scope: &mut Scope, depth: u32) -> String {
        let ty = self.bound_ty(scope);
        let value = self.expr(scope, &ty, depth);
        let name = self.graph_name();
        let text = format!("{name} = {value};");
        scope.vars.push(TypedName { name, free: Vec::new(), ty });
        text
    }

    /// Generates a polymorphic function, bound by `let` or as a graph variable.
    fn let_function(&mut self, scope: &mut Scope) -> String {
        let (free, params, ret) = self.signature();
        let (name, keyword) = match self.tape.once_in(3) {
            true => (self.graph_name(), ""),
            false => (self.local_name(), "let "),
        };
        let value = self.function(scope, "fn ", &free, &params, &ret);
        scope.vars.push(TypedName { name: name.clone(), free, ty: Ty::Fn(params, Box::new(ret)) });
        format!("{keyword}{name} = {value};")
    }

    /// Generates a reference, a write to it, and a read.
    fn reference(&mut self, scope: &mut Scope, depth: u32) -> String {
        let ty = self.bound_ty(scope);
        let (name, result) = (self.local_name(), self.local_name());
        let first = self.expr(scope, &ty, depth);
        let mut text = format!("let {name} = ref({first});\n");
        let cell = Ty::Ref(Box::new(ty.clone()));
        scope.vars.push(TypedName { name: name.clone(), free: Vec::new(), ty: cell });
        if self.tape.once_in(2) {
            let second = self.expr(scope, &ty, depth);
            text += &format!("ref_write({name}, {second});\n");
        }
        text += &format!("let {result} = ref_read({name});");
        scope.vars.push(TypedName { name: result, free: Vec::new(), ty });
        text
    }
}
