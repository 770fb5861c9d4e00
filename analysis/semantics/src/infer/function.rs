//! Inference of functions: headers, parameters, results and annotations.

use smallvec::SmallVec;
use types::{
    DTypeTerm, Dim, Flags, Kind, NodeId, Param, PolyType, RelationId, Resolver, ShapeTerm, State,
    Symbol, Type,
};

use super::{Finding, GroupSignature, Infer, Mismatch, UnitRef};
use crate::body::*;

/// A function with its declared type, before its body is inferred.
pub(super) struct Declared {
    params: SmallVec<[NodeId; 4]>,
    ret: NodeId,
}

/// Returns true if the declared type of a function is complete, so that inference cannot add
/// constraints to it.
pub(super) fn is_complete(function: &Function, unit: &Unit) -> bool {
    let annotated =
        |&binder: &BinderId| unit.binder(binder).annotation.as_ref().is_some_and(Type::is_closed);
    function.ret.as_ref().is_some_and(Type::is_closed) && function.params.iter().all(annotated)
}

impl Infer<'_> {
    /// Imports an annotation, with fresh variables for its unknown parts.
    pub(super) fn import_written(&mut self, ty: &Type) -> NodeId {
        let flags = ty.flags();
        // An undefined type is reported at its annotation, and unifies with any type.
        if flags.has(Flags::ADT) && !self.env.module().types.knows(ty) {
            return self.error_node();
        }
        let mut ty = ty.clone();
        if flags.has(Flags::PARAM) {
            ty = ty.rename_params(&mut |param| self.rigid.get(&param.id()).cloned());
        }
        if flags.has(Flags::HOLE.or(Flags::SYMBOL)) {
            ty = self.fill(&ty);
        }
        self.solver.table.import(&ty)
    }

    /// Returns an annotation with fresh variables for `_`, and with the symbolic sizes of the
    /// metadata section.
    fn fill(&mut self, ty: &Type) -> Type {
        let env = self.env;
        let table = &mut self.solver.table;
        types::map_leaves(ty, &mut |leaf| match leaf {
            Type::Hole => {
                let node = table.fresh();
                table.resolve(node)
            }
            Type::Tensor(tensor) if leaf.flags().has(Flags::SYMBOL) => {
                let look_up = |dim: &Dim| match dim {
                    Dim::Symbol(symbol) => match &**symbol {
                        Symbol::Variable { id, .. } => {
                            env.module().dim(*id).unwrap_or_else(|| dim.clone())
                        }
                        _ => dim.clone(),
                    },
                    _ => dim.clone(),
                };
                Type::tensor(tensor.shape.iter().map(look_up), tensor.dtype)
            }
            other => other.clone(),
        })
    }

    /// Returns the node of the annotation of a variable, or a fresh one.
    pub(super) fn annotated(&mut self, at: UnitRef, binder: BinderId) -> NodeId {
        match &self.unit(at).binder(binder).annotation {
            Some(ty) => self.import_written(ty),
            None => self.solver.table.fresh(),
        }
    }

    /// Infers the header of a definition.
    pub(super) fn header(&mut self, at: UnitRef) {
        let unit = self.unit(at);
        let Some(header) = unit.header() else { return };
        if self.whole {
            self.enter_header(at.body as usize, header);
        }
        let declared = self.group[at.body as usize].clone();
        for (i, &binder) in header.params.iter().enumerate() {
            let node = match &declared {
                Some(signature) => signature.params[i],
                None => self.annotated(at, binder),
            };
            self.set_binder(binder, node);
        }
        // The relations of a header have no expression.
        let no_expr = ExprId(u32::MAX);
        if let Some(signature) = declared {
            self.where_relations(at, no_expr, header, &signature.params, signature.ret);
        } else if let Some(ret) = header.ret.as_ref().filter(|_| !header.relations.is_empty()) {
            let params: Vec<NodeId> =
                header.params.iter().map(|&binder| self.annotated(at, binder)).collect();
            let ret = self.import_written(ret);
            self.where_relations(at, no_expr, header, &params, ret);
        }
    }

    /// Creates the nodes for the parameters and the result of a definition of the group.
    pub(super) fn declare(&mut self, number: usize, body: &Body) {
        let Some(header) = body.header() else { return };
        let unit = &body.units[0];
        self.enter_header(number, header);
        let params: SmallVec<[NodeId; 4]> = header
            .params
            .iter()
            .map(|&binder| match &unit.binder(binder).annotation {
                Some(ty) => self.import_written(ty),
                None => self.solver.table.fresh(),
            })
            .collect();
        let ret = match &header.ret {
            Some(ty) => self.import_written(ty),
            None => self.solver.table.fresh(),
        };
        let own = self.own_params(header);
        let node = self.function_node(&own, &params, ret);
        self.group[number] = Some(GroupSignature { params, ret, node });
    }

    /// Gives the type parameters of a definition unique identities in the table.
    fn enter_header(&mut self, number: usize, header: &Function) {
        for param in &header.type_params {
            let own = param.with_id(param.id().of_definition(number as u32));
            self.rigid.insert(param.id(), own);
        }
    }

    /// Returns the type parameters of a function in the table.
    pub(super) fn own_params(&self, function: &Function) -> Vec<Param> {
        let own = |param: &Param| self.rigid.get(&param.id()).unwrap_or(param).clone();
        function.type_params.iter().map(own).collect()
    }

    /// Returns the type of a function over type parameters. Its unknown parts are shared by all
    /// uses.
    fn function_node(&mut self, own: &[Param], params: &[NodeId], ret: NodeId) -> NodeId {
        if own.is_empty() {
            return self.solver.table.func(params.iter().copied(), ret);
        }
        let mut resolver = Resolver::new(&self.solver.table);
        let params: Vec<Type> = params.iter().map(|&node| resolver.resolve(node)).collect();
        let func = Type::func(params, resolver.resolve(ret));
        self.solver.table.import(&PolyType::close(own, Vec::new(), &func))
    }

    /// Unifies the tail expression of a definition with its declared result.
    pub(super) fn result(&mut self, at: UnitRef, value: ExprId) {
        let has_header = self.body(at).header().is_some();
        let mut node = self.node(value);
        // A bare expression may be polymorphic, but a number in it has a single data type.
        let is_number = self.solver.table.as_poly(node).is_some_and(|p| p.has_numeric_params())
            && !self.solver.table.resolve(node).is_function();
        if has_header || is_number {
            node = self.value(at, value);
        }
        self.result = Some(node);
        let expected = match &self.group[at.body as usize] {
            Some(signature) => signature.ret,
            None => match self.body(at).header().and_then(|header| header.ret.as_ref()) {
                Some(ty) => self.import_written(ty),
                None => return,
            },
        };
        self.unify_or_report(expected, node, Mismatch::Result { function: None, value });
    }

    /// Declares a function that may be recursive, before its body is inferred.
    ///
    /// `let %f = fn [A](%x: A) -> A { … %f(1f) … };`: with declared type parameters, each use
    /// instantiates them separately.
    pub(super) fn declare_function(&mut self, at: UnitRef, id: ExprId, binder: BinderId) -> NodeId {
        let unit = self.unit(at);
        let has_annotation = unit.binder(binder).annotation.is_some();
        let function = match unit.exprs.get(id.index() + 1) {
            Some(Expr::EnterFn(function)) if !has_annotation && !self.env.strict() => *function,
            _ => {
                let node = self.annotated(at, binder);
                self.set_binder(binder, node);
                return node;
            }
        };
        let data = &unit.fns[function.index()];
        let node = if data.type_params.is_empty() {
            self.solver.table.fresh()
        } else {
            self.enter_type_params(data);
            let params: SmallVec<[NodeId; 4]> =
                data.params.iter().map(|&binder| self.annotated(at, binder)).collect();
            let ret = match &data.ret {
                Some(ty) => self.import_written(ty),
                None => self.solver.table.fresh(),
            };
            let own = self.own_params(data);
            let node = self.function_node(&own, &params, ret);
            self.declared.insert((at, function), Declared { params, ret });
            node
        };
        self.set_binder(binder, node);
        node
    }

    /// Gives the type parameters of a function unique identities in the table.
    fn enter_type_params(&mut self, function: &Function) {
        let strict = self.env.strict();
        for param in &function.type_params {
            let own = self.solver.table.fresh_param(param.declared().clone(), !strict);
            self.rigid.insert(param.id(), own);
        }
    }

    /// Creates the nodes of the parameters of a function expression.
    pub(super) fn enter_function(&mut self, at: UnitRef, function: FnId) -> NodeId {
        if self.whole {
            self.solve();
        }
        let data = &self.unit(at).fns[function.index()];
        self.effects.push(0);
        if !data.type_params.is_empty() {
            let first = self.solver.entries().len();
            self.first_relations.insert((at, function), first);
        }
        let declared = self.declared.get(&(at, function)).map(|declared| declared.params.clone());
        let params = match declared {
            Some(params) => params,
            None => {
                self.enter_type_params(data);
                data.params.iter().map(|&binder| self.annotated(at, binder)).collect()
            }
        };
        for (&binder, node) in data.params.iter().zip(params) {
            self.set_binder(binder, node);
        }
        self.error_node()
    }

    /// Returns the type of a function expression after its body.
    pub(super) fn function(&mut self, at: UnitRef, id: ExprId, function: FnId) -> NodeId {
        let unit = self.unit(at);
        let data = &unit.fns[function.index()];
        self.effects.pop();
        let params: SmallVec<[Option<NodeId>; 4]> =
            data.params.iter().map(|&binder| self.current().binders[binder.index()]).collect();
        let params: SmallVec<[NodeId; 4]> =
            params.into_iter().map(|node| node.unwrap_or_else(|| self.error_node())).collect();
        let Some(body) = data.body else { return self.error_node() };
        let mut ret = self.value(at, body.result);
        let declared = self.declared.remove(&(at, function));
        let what = Mismatch::Result { function: Some(function), value: body.result };
        if let Some(declared) = declared {
            self.unify_or_report(declared.ret, ret, what);
            ret = declared.ret;
        } else if let Some(written) = &data.ret {
            let expected = self.import_written(written);
            self.unify_or_report(expected, ret, what);
            ret = expected;
        }
        self.where_relations(at, id, data, &params, ret);
        if data.type_params.is_empty() {
            // The type of the function consists of the current types of its parts.
            let table = &mut self.solver.table;
            let params: SmallVec<[NodeId; 4]> =
                params.iter().map(|&param| table.part(param)).collect();
            let ret = table.part(ret);
            return table.func(params, ret);
        }
        self.solve_all();
        let own = self.own_params(data);
        if self.env.strict() {
            return self.function_node(&own, &params, ret);
        }
        self.use_given();
        let first = self.first_relations.remove(&(at, function)).unwrap_or_default();
        let relations = (first..self.solver.entries().len()).map(|id| RelationId(id as u32));
        let kept = self.relations_over(relations.collect(), &own, is_complete(data, unit));
        let node = self.solver.table.func(params, ret);
        let ty = self.close_over(&own, &kept, node);
        self.release(&kept);
        self.solver.table.import(&ty)
    }

    /// Returns those of `relations` that depend on a type parameter of a function, and become
    /// constraints of its type.
    ///
    /// A completely declared type cannot get constraints: `def @f[A](%x: A) -> A { add(%x, 1f) }`
    /// is invalid, because it does not hold for every `A`.
    pub(super) fn relations_over(
        &mut self,
        relations: Vec<RelationId>,
        own: &[Param],
        is_complete: bool,
    ) -> Vec<RelationId> {
        let mut kept = Vec::new();
        for id in relations {
            let entry = self.solver.entry(id);
            if entry.state != State::Waiting {
                continue;
            }
            let origin = entry.origin;
            let types = self.solver.arg_types(id);
            let mut about = false;
            for ty in &types {
                let _same = ty.rename_params(&mut |param| {
                    about |= own.contains(param);
                    None
                });
            }
            if !about {
                continue;
            }
            let needs_more = types.iter().any(|ty| matches!(ty, Type::Param(p) if own.contains(p)));
            // A relation of the `where` clause of a header has no expression.
            let is_written = self.origins[origin as usize].1 == ExprId(u32::MAX);
            if is_complete && needs_more && !is_written && !self.is_given(&types, id) {
                self.report_unproven(id);
            } else {
                kept.push(id);
            }
        }
        kept
    }

    /// Returns true if a `where` clause states the relation `id` over `types`.
    fn is_given(&self, types: &[Type], id: RelationId) -> bool {
        let name = self.solver.entry(id).relation.name;
        let is_written = |at: usize| {
            let entry = &self.solver.entries()[at];
            entry.relation.name == name
                && self.given.contains(&RelationId(at as u32))
                && self.solver.arg_types(RelationId(at as u32)) == types
        };
        self.given.iter().any(|given| is_written(given.0 as usize))
    }

    /// Decides the results of operators from `where` clauses: relations are functional, so that
    /// with `Broadcast(t1, t2, t5)` the sum of a `t1` and a `t2` is a `t5`.
    ///
    /// One pass is enough, because the result of a relation is an argument of later relations only.
    pub(super) fn use_given(&mut self) {
        if self.given.is_empty() {
            return;
        }
        for at in 0..self.solver.entries().len() {
            let id = RelationId(at as u32);
            let entry = self.solver.entry(id);
            let Some(&result) = entry.args.last() else { continue };
            if entry.state != State::Waiting
                || self.given.contains(&id)
                || !self.solver.table.is_unknown(result)
            {
                continue;
            }
            let (name, types) = (self.solver.entry(id).relation.name, self.solver.arg_types(id));
            let inputs = &types[..types.len() - 1];
            let found = self.given.iter().find_map(|&given| {
                let entry = self.solver.entry(given);
                let types = self.solver.arg_types(given);
                let is_same = entry.relation.name == name
                    && types.split_last().is_some_and(|(_, given)| given == inputs);
                entry.args.last().copied().filter(|_| is_same)
            });
            if let Some(found) = found
                && self.solver.table.unify(result, found).is_ok()
            {
                self.solve();
            }
        }
    }

    /// Adds the relations of a `where` clause over the parameters and the result.
    fn where_relations(
        &mut self,
        at: UnitRef,
        id: ExprId,
        function: &Function,
        params: &[NodeId],
        ret: NodeId,
    ) {
        for relation in &function.relations {
            let Some(operator) = operators::by_relation(&relation.name) else {
                let (range, name) = (relation.range, relation.name.clone());
                self.find(Finding::UnknownRelation { range, name });
                continue;
            };
            let Some(solver_relation) = operator.plain_relation() else { continue };
            let args: Vec<NodeId> = match &relation.args {
                Some(args) => args.iter().map(|ty| self.import_written(ty)).collect(),
                None => params.iter().copied().chain([ret]).collect(),
            };
            let given = self.relate(at, id, solver_relation, args, operator.args);
            self.given.push(given);
        }
    }

    /// Returns the type arguments of a call, one for each parameter of `poly`, with fresh variables
    /// for those left out.
    pub(super) fn type_args(
        &mut self,
        call: ExprId,
        poly: &PolyType,
        written: &[TypeArg],
    ) -> Vec<types::TypeArg> {
        let params = poly.params();
        if written.len() > params.len() {
            self.find(Finding::TypeArgs { call, expected: params.len(), found: written.len() });
        }
        let mut args = Vec::with_capacity(written.len());
        for (index, (param, written)) in params.iter().zip(written).enumerate() {
            args.push(match (param.kind, written) {
                (Kind::Type, TypeArg::Type(ty)) => {
                    let node = self.import_written(ty);
                    types::TypeArg::Type(self.solver.table.resolve(node))
                }
                (Kind::Shape, TypeArg::Shape(dims)) => {
                    types::TypeArg::Shape(ShapeTerm::Dims(dims.iter().cloned().collect()))
                }
                (Kind::BaseType, TypeArg::Type(Type::Tensor(t))) if t.rank() == 0 => {
                    types::TypeArg::DType(DTypeTerm::Known(t.dtype))
                }
                (Kind::ShapeVar, TypeArg::Shape(dims)) if dims.len() == 1 => {
                    types::TypeArg::Dim(dims[0].clone())
                }
                // `()` is a type, and also the shape of a scalar.
                (Kind::Shape, TypeArg::Type(Type::Tuple(fields))) if fields.is_empty() => {
                    types::TypeArg::Shape(ShapeTerm::Dims(types::Shape::default()))
                }
                (expected, _) => {
                    self.find(Finding::TypeArgKind { call, index, expected });
                    self.solver.table.open_param(param)
                }
            });
        }
        args
    }
}
