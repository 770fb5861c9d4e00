//! Expressions to nodes of the table.

use smallvec::SmallVec;
use types::{
    AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, Call, Constraint, DataType,
    Dim, FuncType, Halt, Kind, NodeId, Outcome, Relation, Substitution, Type,
};

use super::{At, Finding, Global, GroupSignature, Infer, MetaEntry, Mismatch};
use crate::{body::*, lower::HOLE};

impl Infer<'_> {
    /// A type as written, with fresh variables for what is left out.
    pub(super) fn import_written(&mut self, ty: &Type) -> NodeId {
        // What is not defined is reported where it is written, and fits whatever it meets.
        if !self.env.types().knows(ty) {
            return self.error_node();
        }
        let mut holes = false;
        let mut symbols = false;
        scan(ty, &mut holes, &mut symbols);
        if !holes && !symbols {
            return self.solver.table.import(ty);
        }
        let env = self.env;
        let table = &mut self.solver.table;
        let ty = types::map_leaves(ty, &mut |leaf| match leaf {
            Type::Var(var) if *var == HOLE => Type::Var(types::TypeVar(table.fresh().0)),
            Type::Tensor(tensor) if symbols => {
                let look_up = |dim: &Dim| match dim {
                    Dim::Symbol(symbol) => match &**symbol {
                        types::Symbol::Variable { id, .. } => {
                            env.dim(*id).unwrap_or_else(|| dim.clone())
                        }
                        types::Symbol::Binary(..) => dim.clone(),
                    },
                    _ => dim.clone(),
                };
                Type::tensor(tensor.shape.iter().map(look_up), tensor.dtype)
            }
            other => other.clone(),
        });
        self.solver.table.import(&ty)
    }

    /// The node of a variable's annotation, or a fresh one.
    pub(super) fn annotated(&mut self, at: At, binder: BinderId) -> NodeId {
        match &self.unit(at).binder(binder).annotation {
            Some(ty) => self.import_written(ty),
            None => self.solver.table.fresh(),
        }
    }

    /// The parameters of a definition.
    pub(super) fn header(&mut self, at: At) {
        let unit = self.unit(at);
        let Some(header) = unit.header() else { return };
        let declared = self.group[at.body as usize].clone();
        for (i, &binder) in header.params.iter().enumerate() {
            let node = match &declared {
                Some(signature) => signature.params[i],
                None => self.annotated(at, binder),
            };
            self.set_binder(binder, node);
        }
        if let Some(signature) = declared {
            self.where_relations(at, header, &signature.params, signature.ret);
        } else if let Some(ret) = header.ret.as_ref().filter(|_| !header.relations.is_empty()) {
            let params: Vec<NodeId> =
                header.params.iter().map(|&binder| self.annotated(at, binder)).collect();
            let ret = self.import_written(ret);
            self.where_relations(at, header, &params, ret);
        }
    }

    /// Nodes for the parameters and result of a definition of the group.
    pub(super) fn declare(&mut self, number: usize, body: &Body) {
        let Some(header) = body.header() else { return };
        let unit = &body.units[0];
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
        let node = self.solver.table.func(params.iter().copied(), ret);
        self.group[number] = Some(GroupSignature { params, ret, node });
    }

    /// The expression at the end of a definition, against the result written or declared.
    pub(super) fn result(&mut self, at: At, value: ExprId) {
        let node = self.node(value);
        let node = self.instance(at, value, node);
        let wanted = match &self.group[at.body as usize] {
            Some(signature) => signature.ret,
            None => match self.body(at).header().and_then(|header| header.ret.as_ref()) {
                Some(ty) => self.import_written(ty),
                None => return,
            },
        };
        self.must_be(wanted, node, Mismatch::Result { function: None, value });
    }

    /// What a function gives: of a function with type parameters, one instance.
    pub(super) fn instance(&mut self, at: At, expr: ExprId, node: NodeId) -> NodeId {
        let Type::Func(func) = self.solver.table.resolve(node) else { return node };
        if func.type_params.is_empty() {
            return node;
        }
        let (node, constraints) = self.solver.table.instantiate(&func);
        for constraint in &constraints {
            self.constrain(at, expr, constraint);
        }
        node
    }

    /// Makes `found` one with `wanted`, or reports the difference.
    pub(super) fn must_be(&mut self, wanted: NodeId, found: NodeId, what: Mismatch) -> bool {
        let before = (self.solver.table.resolve(wanted), self.solver.table.resolve(found));
        match self.solver.table.unify(wanted, found) {
            Ok(()) => true,
            Err(conflict) => {
                let (wanted, found) = before;
                self.find(Finding::Mismatch { what, found, wanted, conflict });
                false
            }
        }
    }

    /// The node of an expression; the nodes of what it consists of are known.
    pub(super) fn expr(&mut self, at: At, id: ExprId) -> NodeId {
        let unit = self.unit(at);
        match unit.expr(id) {
            Expr::Missing => self.error_node(),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Filled(filled) => {
                let ty = Type::tensor(filled.shape.iter().cloned(), filled.dtype);
                self.solver.table.import(&ty)
            }
            Expr::Bound(binder) => {
                let node = self.current().binders[binder.index()];
                let node = node.unwrap_or_else(|| self.error_node());
                self.use_variable(node)
            }
            Expr::Free(free) => {
                match self.bodies[at.body as usize].1.get(at.unit as usize, *free) {
                    Some(binding) => {
                        let node = self.outer_variable(at.body, binding);
                        self.use_variable(node)
                    }
                    None => self.error_node(),
                }
            }
            Expr::Dotted { whole, tuple, index } => {
                match self.bodies[at.body as usize].1.get(at.unit as usize, *whole) {
                    Some(binding) => self.outer_variable(at.body, binding),
                    None => self.projection(at, id, *tuple, *index),
                }
            }
            Expr::Global(name) => self.global(id, name),
            Expr::Name(name) => self.name(id, name),
            Expr::Meta(meta) if meta.key.starts_with("relay.attrs.") => self.error_node(),
            Expr::Meta(meta) => self.constant(id, meta),
            Expr::Tuple(fields) => {
                let fields: SmallVec<[NodeId; 4]> = fields.iter().map(|&f| self.node(f)).collect();
                self.solver.table.tuple(fields)
            }
            Expr::Proj { tuple, index } => self.projection(at, id, *tuple, *index),
            Expr::Call(call) => self.call(at, id, *call),
            Expr::If { then, otherwise, .. } => {
                let (then, otherwise) = (then.result, otherwise.result);
                let (a, b) = (self.node(then), self.node(otherwise));
                self.must_be(a, b, Mismatch::Branches { then, otherwise });
                self.solver.table.find(a)
            }
            Expr::Condition(cond) => {
                self.condition(*cond);
                self.node(*cond)
            }
            Expr::EnterMatch(id) => self.enter_match(at, *id),
            Expr::Match(number) => self.finish_match(at, id, *number),
            Expr::EnterFn(function) => {
                if self.whole {
                    self.solver.solve();
                }
                let unit = self.unit(at);
                for &binder in &unit.fns[function.index()].params {
                    let node = self.annotated(at, binder);
                    self.set_binder(binder, node);
                }
                self.error_node()
            }
            Expr::Fn(function) => self.function(at, id, *function),
            Expr::RefNew(value) => {
                let inner = self.node(*value);
                self.solver.table.reference(inner)
            }
            Expr::RefRead(reference) => self.referent(*reference),
            Expr::RefWrite(reference, value) => {
                let inner = self.referent(*reference);
                let found = self.node(*value);
                self.must_be(inner, found, Mismatch::Write { value: *value });
                self.solver.table.import(&Type::unit())
            }
            Expr::Declare(binder) => {
                let node = self.annotated(at, *binder);
                self.set_binder(*binder, node);
                node
            }
            Expr::Bind { binder, value } => self.bind(at, *binder, *value),
        }
    }

    /// `let` and graph bindings.
    fn bind(&mut self, at: At, binder: BinderId, value: ExprId) -> NodeId {
        let unit = self.unit(at);
        let mut node = self.node(value);
        let declared = self.current().binders[binder.index()];
        let annotation = match declared {
            Some(declared) => Some(declared),
            None => {
                let annotation = unit.binder(binder).annotation.as_ref();
                annotation.map(|ty| self.import_written(ty))
            }
        };
        if let Some(annotation) = annotation {
            if self.must_be(annotation, node, Mismatch::Annotation { binder, value }) {
                node = annotation;
            } else if unit.binder(binder).annotation.is_some() {
                // What follows goes by what was written.
                node = annotation;
            }
        }
        if matches!(unit.expr(value), Expr::Fn(_)) && !self.env.strict() {
            node = self.generalise(node);
        }
        // What the variable is part of is of the type that is known by now; a graph binding is its
        // value.
        if unit.binder(binder).kind == BinderKind::Let {
            node = self.solver.table.find(node);
        }
        self.set_binder(binder, node);
        node
    }

    /// A variable where it is used. Functions with type parameters are instantiated where they are
    /// called, not here.
    fn use_variable(&mut self, node: NodeId) -> NodeId {
        node
    }

    fn literal(&mut self, literal: &Literal) -> NodeId {
        let dtype = match literal {
            Literal::Bool(_) => DataType::BOOL,
            Literal::Int { dtype: Some(dtype), .. } | Literal::Float { dtype: Some(dtype), .. } => {
                *dtype
            }
            Literal::Float { dtype: None, .. } => DataType::FLOAT32,
            Literal::Int { value, dtype: None } => {
                let fits = i32::try_from(*value).is_ok();
                let dtype = if fits { DataType::INT32 } else { DataType::INT64 };
                if !self.env.strict() {
                    return self.solver.table.literal(dtype);
                }
                dtype
            }
        };
        self.solver.table.import(&Type::scalar(dtype))
    }

    /// A condition must be a truth value.
    fn condition(&mut self, cond: ExprId) {
        // What a relation gives is found first, so that a tensor is refused as a condition, and
        // not as the result of `equal`.
        self.solver.solve();
        let node = self.node(cond);
        let wanted = self.solver.table.import(&Type::scalar(DataType::BOOL));
        let ty = self.solver.table.resolve(node);
        // A number whose data type is open could be a truth value, and is not meant as one.
        let is_number = matches!(&ty, Type::OpenTensor(open)
            if matches!((&open.shape, &open.dtype),
                (types::ShapeTerm::Dims(_), types::DTypeTerm::Var(_))));
        if is_number || self.solver.table.unify(node, wanted).is_err() {
            self.find(Finding::Condition { expr: cond, ty });
        }
    }

    fn global(&mut self, id: ExprId, name: &Name) -> NodeId {
        match self.env.global(name) {
            Global::Known(ty) if !self.whole => self.solver.table.import(&ty),
            // In a definition, all uses of a global are of one type: where its result has met a
            // `?` at one call, it says so at the others.
            Global::Known(ty) | Global::Written(ty) => match self.globals.get(name) {
                Some(&node) => node,
                None => {
                    let node = self.import_written(&ty);
                    self.globals.insert(name.clone(), node);
                    node
                }
            },
            Global::Group(number) => match &self.group[number] {
                Some(signature) => signature.node,
                None => self.error_node(),
            },
            Global::Opaque => self.error_node(),
            Global::Missing => {
                self.find(Finding::UnknownGlobal { expr: id, name: name.clone() });
                self.error_node()
            }
        }
    }

    /// A constructor or an operator that is not called.
    fn name(&mut self, id: ExprId, name: &Name) -> NodeId {
        if let Some((adt, constructor)) = self.env.types().constructor(name) {
            let func = adt.constructor_type(constructor);
            if func.params.is_empty() {
                // A constructor without fields is its only value.
                let (node, _) = self.solver.table.instantiate(&func);
                let ret = self.solver.table.signature(node).map(|(_, ret)| ret);
                return ret.unwrap_or_else(|| self.error_node());
            }
            return self.solver.table.import(&func.into());
        }
        match operators::named(name) {
            Some(operator) => self.operator_value(id, operator),
            None => {
                self.find(Finding::UnknownName { expr: id, name: name.clone() });
                self.error_node()
            }
        }
    }

    /// An operator as a value: a function under its relation.
    fn operator_value(&mut self, id: ExprId, operator: &'static operators::Operator) -> NodeId {
        let Some(relation) = operator.plain_relation() else {
            self.find(Finding::NoRule { expr: id, operator });
            return self.error_node();
        };
        let params: Vec<_> = (0..=operator.args.len())
            .map(|i| types::TypeParam {
                name: format!("t{}", i + 1).into(),
                id: types::ParamId(i as u32),
                kind: Kind::Type,
            })
            .collect();
        let vars: Vec<Type> = params.iter().cloned().map(Type::Param).collect();
        let func = FuncType {
            type_params: params.into(),
            params: vars[..operator.args.len()].into(),
            ret: vars[operator.args.len()].clone(),
            constraints: [Constraint { relation, args: vars.into() }].into(),
        };
        self.solver.table.import(&func.into())
    }

    /// A constant of the metadata section.
    fn constant(&mut self, id: ExprId, meta: &MetaRef) -> NodeId {
        match self.env.constant(&meta.key, meta.index) {
            MetaEntry::Found(ty) => self.solver.table.import(&ty),
            MetaEntry::NoSection => match &meta.claimed {
                Some(ty) => self.import_written(ty),
                None => {
                    self.find(Finding::UntypedConstant { expr: id });
                    self.error_node()
                }
            },
            MetaEntry::Missing | MetaEntry::Wrong => {
                self.find(Finding::Metadata {
                    expr: id,
                    key: meta.key.clone(),
                    index: meta.index,
                    section: true,
                });
                self.error_node()
            }
        }
    }

    fn projection(&mut self, at: At, id: ExprId, tuple: ExprId, index: u32) -> NodeId {
        let node = self.node(tuple);
        if self.solver.table.is_unknown(node) {
            // Decided when the tuple is.
            return self.relate_field(at, id, node, index);
        }
        if let Some(fields) = self.solver.table.fields(node)
            && let Some(&field) = fields.get(index as usize)
        {
            // In one table, what the surroundings expect comes before what the tuple gives.
            return if self.whole { self.relate_field(at, id, node, index) } else { field };
        }
        let ty = self.solver.table.resolve(node);
        if ty != Type::Error {
            self.find(Finding::Projection { expr: id, index, ty });
        }
        self.error_node()
    }

    /// The type of a field, by a relation: it is found when the others are.
    fn relate_field(&mut self, at: At, id: ExprId, tuple: NodeId, index: u32) -> NodeId {
        let result = self.solver.table.fresh();
        let attrs = Attrs::new(&PROJECTION, vec![AttrValue::int(index.into())]);
        let relation =
            Relation { name: "TupleGetItem", operator: ".", solve: tuple_get_item, attrs };
        self.relate(at, id, relation, [tuple, result], &[]);
        result
    }

    /// What a reference holds.
    fn referent(&mut self, reference: ExprId) -> NodeId {
        let node = self.node(reference);
        let inner = self.solver.table.fresh();
        let wanted = self.solver.table.reference(inner);
        if !self.must_be(wanted, node, Mismatch::Reference { reference }) {
            self.solver.table.give_up(inner);
        }
        inner
    }

    /// Adds a relation that came from `expr`.
    pub(super) fn relate(
        &mut self,
        at: At,
        expr: ExprId,
        relation: Relation,
        args: impl IntoIterator<Item = NodeId>,
        names: &'static [&'static str],
    ) {
        let origin = self.origins.len() as u32;
        self.origins.push((at, expr));
        self.solver.add(relation, args, names, origin);
    }

    /// Adds a constraint that came from `expr`.
    pub(super) fn constrain(&mut self, at: At, expr: ExprId, constraint: &Constraint) {
        let origin = self.origins.len() as u32;
        self.origins.push((at, expr));
        let operator = operators::named(constraint.relation.operator);
        let names = operator.map_or(&[][..], |operator| operator.args);
        self.solver.add_constraint(constraint, names, origin);
    }

    /// The type of a function expression, its body being typed.
    fn function(&mut self, at: At, id: ExprId, function: FnId) -> NodeId {
        let unit = self.unit(at);
        let data = &unit.fns[function.index()];
        let params: SmallVec<[NodeId; 4]> = data
            .params
            .iter()
            .map(|&binder| self.current().binders[binder.index()])
            .map(|node| node.unwrap_or(NodeId(0)))
            .collect();
        let Some(body) = data.body else { return self.error_node() };
        let mut ret = self.node(body.result);
        ret = self.instance(at, body.result, ret);
        if let Some(written) = &data.ret {
            let wanted = self.import_written(written);
            let what = Mismatch::Result { function: Some(function), value: body.result };
            self.must_be(wanted, ret, what);
            ret = wanted;
        }
        self.where_relations_at(at, id, data, &params, ret);
        if data.type_params.is_empty() {
            // The function is of the type that its parts have now.
            let table = &mut self.solver.table;
            let params: SmallVec<[NodeId; 4]> =
                params.iter().map(|&param| table.part(param)).collect();
            let ret = table.part(ret);
            return table.func(params, ret);
        }
        self.solver.solve();
        let func = FuncType {
            type_params: data.type_params.clone().into(),
            params: params.iter().map(|&p| self.solver.table.resolve(p)).collect(),
            ret: self.solver.table.resolve(ret),
            constraints: [].into(),
        };
        self.solver.table.import(&func.into())
    }

    fn where_relations(&mut self, at: At, function: &Function, params: &[NodeId], ret: NodeId) {
        // Relations of a header have no expression of their own.
        self.where_relations_at(at, ExprId(u32::MAX), function, params, ret);
    }

    /// The relations of a `where` clause, over the parameters and the result.
    fn where_relations_at(
        &mut self,
        at: At,
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
            self.relate(at, id, solver_relation, args, operator.args);
        }
    }

    /// The instance of a generic function for the type arguments of a call.
    pub(super) fn with_type_args(
        &mut self,
        call: ExprId,
        func: &FuncType,
        args: &[TypeArg],
    ) -> Substitution {
        let mut subst = Substitution::default();
        if args.len() > func.type_params.len() {
            let (wanted, found) = (func.type_params.len(), args.len());
            self.find(Finding::TypeArgs { call, wanted, found });
        }
        for (index, param) in func.type_params.iter().enumerate() {
            match (param.kind, args.get(index)) {
                (_, None) => self.solver.table.open_param(&mut subst, param),
                (Kind::Type, Some(TypeArg::Type(ty))) => {
                    let node = self.import_written(ty);
                    subst.types.insert(param.id, self.solver.table.resolve(node));
                }
                (Kind::Shape, Some(TypeArg::Shape(dims))) => {
                    let shape = types::ShapeTerm::Dims(dims.iter().cloned().collect());
                    subst.shapes.insert(param.id, shape);
                }
                (Kind::BaseType, Some(TypeArg::Type(Type::Tensor(t)))) if t.rank() == 0 => {
                    subst.dtypes.insert(param.id, types::DTypeTerm::Known(t.dtype));
                }
                (Kind::ShapeVar, Some(TypeArg::Shape(dims))) if dims.len() == 1 => {
                    subst.dims.insert(param.id, dims[0].clone());
                }
                // `()` is a type and the shape of a scalar.
                (Kind::Shape, Some(TypeArg::Type(Type::Tuple(fields)))) if fields.is_empty() => {
                    subst.shapes.insert(param.id, types::ShapeTerm::Dims(Default::default()));
                }
                (wanted, Some(_)) => {
                    self.find(Finding::TypeArgKind { call, index, wanted });
                    self.solver.table.open_param(&mut subst, param);
                }
            }
        }
        subst
    }
}

static PROJECTION: AttrSchema = AttrSchema {
    key: "relay.attrs.TupleGetItemAttrs",
    fields: &[AttrField {
        name: "index",
        ty: AttrType::Int,
        default: AttrDefault::Required,
        boxed: false,
        least: None,
    }],
};

/// The type of a field of a tuple.
fn tuple_get_item(call: &mut Call<'_>) -> Outcome {
    let index = call.attrs().int("index").unwrap_or_default();
    match call.ty(0) {
        Type::Var(_) | Type::Param(_) => Err(Halt::NotYet),
        Type::Error => Err(Halt::Silent),
        Type::Tuple(fields) if (index as usize) < fields.len() => {
            call.assign_field(1, 0, index as usize)
        }
        other => types::Reason::new(
            "projection",
            format!("{} has no field {index}", types::describe(&other)),
        )
        .fail(),
    }
}

/// Whether a written type leaves something out, or holds symbolic sizes.
fn scan(ty: &Type, holes: &mut bool, symbols: &mut bool) {
    match ty {
        Type::Var(_) => *holes = true,
        Type::Tensor(tensor) => {
            *symbols |= tensor.shape.iter().any(|dim| matches!(dim, Dim::Symbol(_)));
        }
        Type::Tuple(fields) => fields.iter().for_each(|ty| scan(ty, holes, symbols)),
        Type::Func(func) => {
            func.params.iter().for_each(|ty| scan(ty, holes, symbols));
            scan(&func.ret, holes, symbols);
        }
        Type::Ref(inner) => scan(inner, holes, symbols),
        Type::Adt(adt) => adt.args.iter().for_each(|ty| scan(ty, holes, symbols)),
        Type::OpenTensor(_) | Type::Param(_) | Type::Error => {}
    }
}
