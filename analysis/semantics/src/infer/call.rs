//! Inference of calls.

use operators::{Operator, attrs::accepts};
use smallvec::SmallVec;
use smol_str::SmolStr;
use types::{Assign, AttrValue, Attrs, ConflictKind, Level, NodeId, Relation, Type, Vars};

use super::{
    Finding, FindingKind, FindingSubject, Infer, MetaEntry, Mismatch, Remark, UnitRef,
    UnresolvedName,
};
use crate::{body::*, declared::DeclaredResult};

impl Infer<'_> {
    pub(super) fn call(&mut self, at: UnitRef, id: ExprId, call: CallId) -> NodeId {
        let data = self.unit(at).call(call);
        let args: SmallVec<[NodeId; 4]> =
            data.args.iter().map(|&arg| self.value(at, arg)).collect();
        match &data.callee {
            Callee::Operator(operator) => {
                // A constructor of the module takes precedence over an operator of the same name.
                if let Some(node) = self.constructor(operator.name) {
                    return self.apply(at, id, data, node, &args);
                }
                self.note_effect(id);
                self.operator_call(at, id, data, operator, args)
            }
            Callee::Name(name) => match self.constructor(name) {
                Some(node) => self.apply(at, id, data, node, &args),
                None => self.declared_call(id, data, name, &args),
            },
            Callee::Expr(callee) => {
                self.note_effect(id);
                let node = self.node(*callee);
                self.apply(at, id, data, node, &args)
            }
        }
    }

    /// Infers a call of an operator that the project declares, or reports an unknown name.
    fn declared_call(
        &mut self,
        id: ExprId,
        data: &CallData,
        name: &Name,
        args: &[NodeId],
    ) -> NodeId {
        let Some(operator) = self.env.module().operators.get(name).cloned() else {
            if !name.is_empty() {
                self.unknown_name(id, name);
            }
            return self.error_node();
        };
        self.note_effect(id);
        if let Some(expected) = operator.args.map(|args| args.len())
            && expected != args.len()
            && data.whole
        {
            self.find(Finding::arity(id, expected, args.len()));
        }
        match operator.result {
            DeclaredResult::SameAs(index) => {
                args.get(index).copied().unwrap_or_else(|| self.error_node())
            }
            DeclaredResult::Type(ty) => self.solver.table.import(&ty),
            // The type in the comment is used for types that are unknown because of an error.
            DeclaredResult::Comment => self.error_node(),
        }
    }

    /// Reports a name that is neither an operator nor a constructor.
    pub(super) fn unknown_name(&mut self, expr: ExprId, name: &Name) {
        let kind = FindingKind::Unresolved(UnresolvedName::Operator(name.clone()));
        self.find(Finding::of_text(FindingSubject::Call(expr), kind));
    }

    /// Reports an operator without a type relation.
    pub(super) fn no_rule(&mut self, expr: ExprId, operator: &'static Operator) {
        let kind = FindingKind::Remark(Remark::NoRule(operator));
        self.find(Finding::of_text(FindingSubject::Value(expr), kind));
    }

    /// Reports a missing entry of the metadata section.
    pub(super) fn unknown_entry(&mut self, expr: ExprId, key: SmolStr, index: u32) {
        let kind = FindingKind::Unresolved(UnresolvedName::Metadata { key, index });
        self.find(Finding::of_text(FindingSubject::Expr(expr), kind));
    }

    fn constructor(&mut self, name: &str) -> Option<NodeId> {
        let (_, constructor) = self.env.module().types.constructor(name)?;
        Some(self.solver.table.import(&constructor.ty))
    }

    /// Infers a call of an operator: adds a relation over the arguments and the result.
    fn operator_call(
        &mut self,
        at: UnitRef,
        id: ExprId,
        data: &CallData,
        operator: &'static Operator,
        mut args: SmallVec<[NodeId; 4]>,
    ) -> NodeId {
        let expected = operator.args.len();
        let fits = if operator.variadic { args.len() >= expected } else { args.len() == expected };
        if !fits {
            if data.whole {
                self.find(Finding::arity(id, expected, args.len()));
            }
            return self.error_node();
        }
        let Some((name, solve)) = operator.rule else {
            self.no_rule(id, operator);
            return self.error_node();
        };
        if !data.trusted {
            return self.error_node();
        }
        let Some(attrs) = self.attrs(id, data, operator) else { return self.error_node() };
        let result = self.solver.table.fresh();
        args.push(result);
        let relation = Relation { name, operator: operator.name, solve, attrs };
        self.relate(at, id, relation, args, operator.args);
        result
    }

    /// Returns the attributes of a call, with references to the metadata section resolved.
    fn attrs(&mut self, id: ExprId, data: &CallData, operator: &Operator) -> Option<Attrs> {
        if let Some((key, index)) = data.meta_attrs.as_deref() {
            let Some(schema) = operator.schema else { return Some(Attrs::none()) };
            return match self.env.module().entry(|section| section.attrs(key, *index)) {
                MetaEntry::Found(attrs)
                    if attrs.schema().is_some_and(|found| {
                        found.key == schema.key
                            || operator.made_with.is_some_and(|made| made.key == found.key)
                    }) =>
                {
                    Some(attrs)
                }
                // The module was printed without metadata: the attributes are unknown.
                MetaEntry::NoSection => None,
                MetaEntry::Missing | MetaEntry::Wrong | MetaEntry::Found(_) => {
                    let (key, index) = (key.clone(), *index);
                    self.unknown_entry(id, key, index);
                    None
                }
            };
        }
        if operator.detached && data.written.is_empty() {
            return Some(Attrs::none());
        }
        let attrs = &data.attrs;
        if attrs.values().iter().any(has_meta) {
            let env = self.env;
            let schema = attrs.schema()?;
            let values: Vec<AttrValue> =
                attrs.values().iter().map(|value| look_up(env, value)).collect();
            let misfit = schema.fields.iter().zip(attrs.values()).zip(&values);
            let misfit = misfit.filter(|((field, _), value)| !accepts(field, value));
            if let Some(((_, AttrValue::Meta { key, index }), _)) = misfit.into_iter().next() {
                let (key, index) = (key.clone(), *index);
                self.unknown_entry(id, key, index);
                return None;
            }
            return Some(Attrs::new(schema, values));
        }
        Some(attrs.clone())
    }

    /// Infers a call of a function.
    fn apply(
        &mut self,
        at: UnitRef,
        id: ExprId,
        data: &CallData,
        callee: NodeId,
        args: &[NodeId],
    ) -> NodeId {
        // Rejected attributes mean that the call is wrong.
        if !data.trusted && !matches!(data.callee, Callee::Operator(_)) {
            return self.error_node();
        }
        // The types of the arguments may decide the type of the callee.
        self.solve();
        let ty = self.solver.table.resolve(callee);
        let node = match &ty {
            Type::Poly(poly) => {
                let args = self.type_args(id, poly, &data.type_args);
                let callee = match data.callee {
                    Callee::Expr(callee) => callee,
                    Callee::Operator(_) | Callee::Name(_) => id,
                };
                self.instantiate(at, id, callee, poly, &args)
            }
            Type::Func(_) => {
                if !data.type_args.is_empty() {
                    let found = data.type_args.len();
                    self.find(Finding::of_callee(id, FindingKind::TypeArgs { expected: 0, found }));
                }
                callee
            }
            Type::Var(_) => {
                // A function from the types of the arguments to an unknown result.
                let ret = self.solver.table.fresh();
                let func = self.solver.table.func(args.iter().copied(), ret);
                if let Err(conflict) = self.solver.table.unify(callee, func) {
                    self.find(match conflict.kind {
                        ConflictKind::Infinite => {
                            Finding::of_callee(id, FindingKind::SelfApplication)
                        }
                        _ => Finding::not_callable(id, ty),
                    });
                    self.solver.table.set_error(ret);
                }
                return ret;
            }
            Type::Error => return self.error_node(),
            other => {
                self.find(Finding::not_callable(id, other.clone()));
                return self.error_node();
            }
        };
        let Some((params, ret)) = self.solver.table.signature(node) else {
            // An instance of a polymorphic constant: `let %e = Nil; %e(1)`.
            let ty = self.solver.table.resolve(node);
            if ty != Type::Error {
                self.find(Finding::not_callable(id, ty));
            }
            return self.error_node();
        };
        if params.len() != args.len() {
            if data.whole {
                self.find(Finding::arity(id, params.len(), args.len()));
            }
            return ret;
        }
        // In `@twice(@positive, 1)` the first argument, a function from `int32` to `bool`, is
        // wrong. It must not decide the type parameter, so that the second argument is not reported
        // too.
        let is_instance = matches!(ty, Type::Poly(_)) && args.len() > 1;
        let own: Vec<Vars> = match is_instance {
            true => params.iter().map(|&param| self.free_vars(&[param], Level::FIRST)).collect(),
            false => Vec::new(),
        };
        let mut misled = Vars::default();
        for (index, (&param, &arg)) in params.iter().zip(args).enumerate() {
            let before = (self.solver.table.resolve(param), self.solver.table.resolve(arg));
            let open = is_instance.then(|| self.free_vars(&[param], Level::FIRST));
            let unified = self.solver.table.unify_as(param, arg, Assign::Left);
            if let Err(conflict) = unified {
                let mut needs = own.get(index).into_iter().flat_map(Vars::order);
                if !needs.any(|&var| misled.contains(var)) {
                    let (expected, found) = before;
                    let what = Mismatch::Argument { call: id, index };
                    self.find(Finding::mismatch(what, found, expected, conflict));
                }
                misled.extend(open.iter().flat_map(Vars::order));
            }
        }
        ret
    }
}

fn look_up(env: &dyn super::Env, value: &AttrValue) -> AttrValue {
    match value {
        AttrValue::Meta { key, index } => {
            match env.module().entry(|section| section.value(key, *index)) {
                MetaEntry::Found(value) => value,
                MetaEntry::NoSection => AttrValue::Opaque,
                MetaEntry::Missing | MetaEntry::Wrong => AttrValue::Error,
            }
        }
        AttrValue::List(values) => {
            AttrValue::List(values.iter().map(|value| look_up(env, value)).collect())
        }
        other => other.clone(),
    }
}
