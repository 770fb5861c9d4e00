//! Inference of functions: headers, parameters, results and annotations.

use smallvec::SmallVec;
use types::{
    DTypeClass, DTypeTerm, Dim, Flags, Kind, Level, NodeId, Param, PolyType, Relation, RelationId,
    RelationKey, Resolver, State, Symbol, Type, TypeParam,
};

use super::{
    DeclaredSignature, Finding, FindingKind, Infer, Mismatch, UnitRef,
    learned::{Declarer, mentions},
};
use crate::{body::*, relations};

/// Returns true if the declared type of a function is complete, so that inference cannot add
/// constraints to it.
pub(super) fn is_complete(function: &Function, unit: &Unit) -> bool {
    let annotated =
        |&binder: &BinderId| unit.binder(binder).annotation.as_ref().is_some_and(Type::is_closed);
    function.ret.as_ref().is_some_and(Type::is_closed) && function.params.iter().all(annotated)
}

/// Returns the parameters for the data types of literals.
pub(super) fn numeric(params: &[Param]) -> Vec<Param> {
    let is_numeric = |param: &&Param| {
        param.kind() == Kind::BaseType && param.declared().class != DTypeClass::Any
    };
    params.iter().filter(is_numeric).cloned().collect()
}

/// Returns true if two relations have one rule and the same attributes: those of `add` and
/// `subtract`.
fn is_same_relation(a: &Relation, b: &Relation) -> bool {
    a.name == b.name && (a.attrs == b.attrs || a.attrs.values() == b.attrs.values())
}

/// Returns true if a type is that of a `where` clause, or may become it: the number in `%x + 1` has
/// the data type `b` of a `Broadcast(t1, Tensor[(), b], t2)`.
fn is_met_by(ty: &Type, given: &Type) -> bool {
    match (ty, given) {
        (Type::OpenTensor(open), Type::OpenTensor(given)) => {
            open.shape == given.shape
                && (open.dtype == given.dtype || matches!(open.dtype, DTypeTerm::Var(_)))
        }
        _ => ty == given,
    }
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
            ty = ty.rename_params(&mut |param| self.batch.rigid.get(&param.id()).cloned());
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
                let look_up = |dim: &Dim| {
                    let Dim::Symbol(symbol) = dim else { return dim.clone() };
                    let Symbol::Variable { id, .. } = &**symbol else { return dim.clone() };
                    env.module().dim(*id).unwrap_or_else(|| dim.clone())
                };
                Type::tensor(tensor.shape.iter().map(look_up), tensor.dtype)
            }
            other => other.clone(),
        })
    }

    /// Returns the node of the annotation of a variable, or a fresh one.
    pub(super) fn annotated(&mut self, at: UnitRef, binder: BinderId) -> NodeId {
        self.written_or_fresh(self.unit(at).binder(binder).annotation.as_ref())
    }

    fn written_or_fresh(&mut self, written: Option<&Type>) -> NodeId {
        match written {
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
        let declared = self.defs[at.body as usize].declared.clone();
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
        self.enter_header(number, header);
        let at = UnitRef { body: number as u32, unit: UnitId::HEADER };
        self.defs[number].declared = Some(self.declared((at, None), header));
    }

    /// Gives the type parameters of a definition unique identities in the table.
    fn enter_header(&mut self, number: usize, header: &Function) {
        for param in &header.type_params {
            let own = self.header_param(number, param);
            self.open_class(UnitRef { body: number as u32, unit: UnitId::HEADER }, param, &own);
            self.batch.rigid.insert(param.id(), own);
        }
    }

    /// Returns a type parameter of the header of a definition in the table.
    pub(super) fn header_param(&self, number: usize, param: &Param) -> Param {
        let at = UnitRef { body: number as u32, unit: UnitId::HEADER };
        let own = param.with_id(param.id().of_definition(number as u32));
        own.with_class(self.class_of(at, param))
    }

    /// Returns the class of data types of a written type parameter, as far as it is known.
    fn class_of(&self, at: UnitRef, param: &Param) -> DTypeClass {
        self.learned.classes.get(&(at, param.id())).copied().unwrap_or(param.declared().class)
    }

    /// Lets the body of a function restrict the data types of its parameter `param`, which is `own`
    /// in the table.
    fn open_class(&mut self, at: UnitRef, param: &Param, own: &Param) {
        if param.kind() == Kind::BaseType && !self.env.strict() {
            self.solver.table.open_class(own);
            self.batch.restrictable.push((at, param.id(), own.clone()));
        }
    }

    /// Records the classes of data types that the open batch has found.
    pub(super) fn record_classes(&mut self) {
        for (at, id, own) in std::mem::take(&mut self.batch.restrictable) {
            let class = self.solver.table.class_of(&own);
            if class != DTypeClass::Any {
                self.found.classes.insert((at, id), class);
            }
        }
    }

    /// Returns the type parameters of a function in the table.
    pub(super) fn own_params(&self, function: &Function) -> Vec<Param> {
        let own = |param: &Param| self.batch.rigid.get(&param.id()).unwrap_or(param).clone();
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

    /// Creates the nodes of a function for what is known of its type before its body.
    fn declared(&mut self, declarer: Declarer, function: &Function) -> DeclaredSignature {
        let params: SmallVec<[NodeId; 4]> =
            function.params.iter().map(|&binder| self.annotated(declarer.0, binder)).collect();
        let ret = self.written_or_fresh(function.ret.as_ref());
        let own = self.own_params(function);
        let func = self.solver.table.func(params.iter().copied(), ret);
        let (hidden, constraints) = self.learned_constraints(declarer, &own, func);
        let node = if constraints.is_empty() {
            self.function_node(&own, &params, ret)
        } else {
            let all = [own, hidden].concat();
            let func = self.solver.table.resolve(func);
            self.solver.table.import(&PolyType::close(&all, constraints, &func))
        };
        DeclaredSignature { params, ret, node }
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
        self.batch.result = Some(node);
        let expected = match &self.defs[at.body as usize].declared {
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
        self.enter_type_params(at, data);
        let declared = self.declared((at, Some(function)), data);
        let node = declared.node;
        self.batch.declared.insert((at, function), declared);
        self.set_binder(binder, node);
        node
    }

    /// Gives the type parameters of a function unique identities in the table.
    fn enter_type_params(&mut self, at: UnitRef, function: &Function) {
        let strict = self.env.strict();
        for param in &function.type_params {
            let class = self.class_of(at, param);
            let declared = TypeParam { class, ..param.declared().clone() };
            let own = self.solver.table.fresh_param(declared, !strict);
            self.open_class(at, param, &own);
            self.batch.rigid.insert(param.id(), own);
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
            self.batch.first_relations.insert((at, function), first);
        }
        let declared =
            self.batch.declared.get(&(at, function)).map(|declared| declared.params.clone());
        let params = match declared {
            Some(params) => params,
            None => {
                self.enter_type_params(at, data);
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
        let declared = self.batch.declared.remove(&(at, function));
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
        let numeric = numeric(&own);
        if !numeric.is_empty() {
            self.current().functions.push((function, numeric));
        }
        if self.env.strict() {
            return self.function_node(&own, &params, ret);
        }
        self.use_given();
        self.unify_equal_relations();
        let first = self.batch.first_relations.remove(&(at, function)).unwrap_or_default();
        let relations = self.relations_from(first).collect();
        let mut kept = self.relations_over(relations, &own, is_complete(data, unit));
        kept.extend(self.relations_over_sizes(first, &own));
        kept.sort();
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
            if !types.iter().any(|ty| mentions(ty, own)) {
                continue;
            }
            let needs_more = types.iter().any(|ty| matches!(ty, Type::Param(p) if own.contains(p)));
            // A relation of the `where` clause of a header has no expression.
            let is_written = self.batch.origins[origin as usize].1 == ExprId(u32::MAX);
            if is_complete && needs_more && !is_written && !self.is_given(&types, id) {
                self.report_unproven(id);
            } else {
                kept.push(id);
            }
        }
        kept
    }

    /// Returns true if a `where` clause states the relation `id` over `types`.
    /// Returns the relations that there are from a number on.
    pub(super) fn relations_from(&self, first: usize) -> impl Iterator<Item = RelationId> + use<> {
        (first..self.solver.entries().len()).map(|id| RelationId(id as u32))
    }

    fn is_given(&self, types: &[Type], id: RelationId) -> bool {
        let relation = &self.solver.entry(id).relation;
        self.batch.given.iter().any(|&given| {
            is_same_relation(&self.solver.entry(given).relation, relation)
                && self.solver.arg_types(given) == types
        })
    }

    /// Adds a relation that is assumed to hold inside a function, because of its `where` clause.
    fn assume(
        &mut self,
        at: UnitRef,
        id: ExprId,
        key: &RelationKey,
        args: impl IntoIterator<Item = NodeId>,
    ) {
        let Some(solve) = relations::typing_rule(key) else { return };
        let RelationKey { name, operator, attrs } = key.clone();
        let names = operators::named(operator).map_or(&[][..], |operator| operator.args);
        let given = self.relate(at, id, Relation { name, operator, solve, attrs }, args, names);
        self.batch.given.push(given);
    }

    /// Unifies the type `found` of a value with a polymorphic annotation: it must have that type for
    /// all its instances for which the relations of the `where` clause hold.
    ///
    /// `let %f: fn <t1, t2, t3>(t1, t2) -> t3 where Broadcast(t1, t2, t3) = add;`
    pub(super) fn check_instance(
        &mut self,
        at: UnitRef,
        (binder, value): (BinderId, ExprId),
        level: Level,
        poly: &PolyType,
        found: NodeId,
    ) {
        let (params, rigid, constraints) = self.solver.table.skolemize(poly, level);
        self.add_numeric(binder, numeric(&params));
        for constraint in &constraints {
            let args: Vec<NodeId> =
                constraint.args.iter().map(|ty| self.solver.table.import(ty)).collect();
            self.assume(at, value, &constraint.relation, args);
        }
        if !self.unify_or_report(rigid, found, Mismatch::Annotation { binder, value }) {
            return;
        }
        self.solve_all();
        self.use_given();
        for id in self.relations_from(0) {
            let entry = self.solver.entry(id);
            let is_waiting = entry.state == State::Waiting;
            if self.batch.given.contains(&id) || !is_waiting && entry.state != State::Solved {
                continue;
            }
            let types = self.solver.arg_types(id);
            if !types.iter().any(|ty| mentions(ty, &params)) {
                continue;
            }
            let is_proven = match is_waiting {
                true => self.is_given(&types, id),
                false => self.is_given(&types, id) || !self.depends_on_sizes(id, &params),
            };
            if is_proven {
                self.solver.release(id);
            } else {
                self.report_unproven(id);
            }
        }
    }

    /// Decides the results of operators from `where` clauses: relations are functional, so that
    /// with `Broadcast(t1, t2, t5)` the sum of a `t1` and a `t2` is a `t5`.
    ///
    /// One pass is enough, because the result of a relation is an argument of later relations only.
    pub(super) fn use_given(&mut self) {
        if self.batch.given.is_empty() {
            return;
        }
        let mut used: Vec<RelationId> = Vec::new();
        for id in self.relations_from(0) {
            if self.solver.entry(id).state != State::Waiting || self.batch.given.contains(&id) {
                continue;
            }
            let types = self.solver.arg_types(id);
            let Some((result, inputs)) = types.split_last() else { continue };
            let fits = |&given: &RelationId| {
                let relation = &self.solver.entry(given).relation;
                is_same_relation(relation, &self.solver.entry(id).relation) && {
                    let types = self.solver.arg_types(given);
                    let all = types.iter().zip(inputs);
                    types.len() == inputs.len() + 1 && all.into_iter().all(|(a, b)| is_met_by(b, a))
                }
            };
            let is_open = inputs.iter().any(|ty| !ty.is_closed());
            if !is_open && !matches!(result, Type::Var(_)) {
                continue;
            }
            // The relations of a displayed type are in the order of the calls.
            let mut fitting: Vec<RelationId> =
                self.batch.given.iter().copied().filter(fits).collect();
            fitting.sort_by_key(|given| is_open && used.contains(given));
            let Some(&given) = fitting.first() else { continue };
            used.push(given);
            let pairs = self.solver.entry(id).args.clone().into_iter();
            let pairs: Vec<(NodeId, NodeId)> =
                pairs.zip(self.solver.entry(given).args.clone()).collect();
            if pairs.into_iter().all(|(a, b)| self.solver.table.unify(a, b).is_ok()) {
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
            let args: Vec<NodeId> = match &relation.args {
                Some(args) => args.iter().map(|ty| self.import_written(ty)).collect(),
                None => params.iter().copied().chain([ret]).collect(),
            };
            self.assume(at, id, &relation.relation, args);
        }
    }

    /// Returns the type arguments of a call, one for each declared parameter of `poly`, with fresh
    /// variables for wrong ones. If none are written, all are inferred.
    pub(super) fn type_args(
        &mut self,
        call: ExprId,
        poly: &PolyType,
        written: &[Type],
    ) -> Vec<types::TypeArg> {
        let params = poly.params();
        let expected = params.iter().filter(|param| !param.inferred).count();
        if written.len() != expected && !written.is_empty() {
            let kind = FindingKind::TypeArgs { expected, found: written.len() };
            self.find(Finding::of_callee(call, kind));
        }
        let declared = params.iter().filter(|param| !param.inferred);
        // Arguments in the wrong order are one mistake.
        let mut is_reported = written.len() != expected;
        let mut args = Vec::with_capacity(written.len());
        for (index, (param, written)) in declared.zip(written).enumerate() {
            // `_` leaves the argument to inference.
            let is_open = matches!(written, Type::Hole | Type::Error);
            let node = self.import_written(written);
            let arg = self.solver.table.resolve(node).as_argument(param.kind).filter(|_| !is_open);
            // A data type parameter that is passed on has the restrictions of this one.
            let arg = arg.filter(|arg| self.solver.table.admits(arg, param.class));
            args.push(arg.unwrap_or_else(|| {
                if !is_open && !std::mem::replace(&mut is_reported, true) {
                    let kind = FindingKind::TypeArgKind { index, expected: param.kind };
                    self.find(Finding::of_callee(call, kind));
                }
                self.solver.table.open_param(param)
            }));
        }
        args
    }
}
