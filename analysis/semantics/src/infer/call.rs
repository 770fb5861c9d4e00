//! Inference of calls.

use operators::{Operator, attrs::accepts};
use smallvec::SmallVec;
use types::{Assign, AttrValue, Attrs, ConflictKind, Level, NodeId, Relation, Type, Vars};

use super::{Finding, Infer, MetaEntry, Mismatch, UnitRef};
use crate::body::*;

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
                None => {
                    if !name.is_empty() {
                        self.find(Finding::UnknownName { expr: id, name: name.clone() });
                    }
                    self.error_node()
                }
            },
            Callee::Expr(callee) => {
                self.note_effect(id);
                let node = self.node(*callee);
                self.apply(at, id, data, node, &args)
            }
        }
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
        if !fits && !data.whole {
            return self.error_node();
        }
        if !fits {
            self.find(Finding::Arity { call: id, expected, found: args.len() });
            return self.error_node();
        }
        let Some((name, solve)) = operator.rule else {
            self.find(Finding::NoRule { expr: id, operator });
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
        if let Some((key, index)) = &data.meta_attrs {
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
                    self.find(Finding::Metadata { expr: id, key, index, section: true });
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
                self.find(Finding::Metadata { expr: id, key, index, section: true });
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
                    self.find(Finding::TypeArgs { call: id, expected: 0, found });
                }
                callee
            }
            Type::Var(_) => {
                // A function from the types of the arguments to an unknown result.
                let ret = self.solver.table.fresh();
                let func = self.solver.table.func(args.iter().copied(), ret);
                if let Err(conflict) = self.solver.table.unify(callee, func) {
                    self.find(match conflict.kind {
                        ConflictKind::Infinite => Finding::SelfApplication { call: id },
                        _ => Finding::NotCallable { call: id, ty },
                    });
                    self.solver.table.set_error(ret);
                }
                return ret;
            }
            Type::Error => return self.error_node(),
            other => {
                self.find(Finding::NotCallable { call: id, ty: other.clone() });
                return self.error_node();
            }
        };
        let Some((params, ret)) = self.solver.table.signature(node) else {
            // An instance of a polymorphic constant: `let %e = Nil; %e(1)`.
            let ty = self.solver.table.resolve(node);
            if ty != Type::Error {
                self.find(Finding::NotCallable { call: id, ty });
            }
            return self.error_node();
        };
        if params.len() != args.len() && !data.whole {
            return ret;
        }
        if params.len() != args.len() {
            let (expected, found) = (params.len(), args.len());
            self.find(Finding::Arity { call: id, expected, found });
            return ret;
        }
        // In `@twice(@positive, 1)` the first argument, a function from `int32` to `bool`, is
        // wrong. It must not decide the type parameter, so that the second argument is not reported
        // too.
        let is_instance = matches!(ty, Type::Poly(_)) && args.len() > 1;
        let own: Vec<Vars> = match is_instance {
            true => params.iter().map(|&param| self.open_in(param)).collect(),
            false => Vec::new(),
        };
        let mut misled = Vars::default();
        for (index, (&param, &arg)) in params.iter().zip(args).enumerate() {
            let before = (self.solver.table.resolve(param), self.solver.table.resolve(arg));
            let open = is_instance.then(|| self.open_in(param));
            let unified = self.solver.table.unify_as(param, arg, Assign::Left);
            if let Err(conflict) = unified {
                let mut needs = own.get(index).into_iter().flat_map(Vars::order);
                if !needs.any(|&var| misled.contains(var)) {
                    let (expected, found) = before;
                    let what = Mismatch::Argument { call: id, index };
                    self.find(Finding::Mismatch { what, found, expected, conflict });
                }
                open.iter().flat_map(Vars::order).for_each(|&var| {
                    misled.add(var);
                });
            }
        }
        ret
    }

    /// Returns the free variables in the type of `node`.
    fn open_in(&mut self, node: NodeId) -> Vars {
        let mut vars = Vars::default();
        self.solver.table.free_vars(node, Level::FIRST, &mut vars);
        vars
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
