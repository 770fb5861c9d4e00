//! Inference of expressions, which creates nodes of the table.

use smallvec::SmallVec;
use types::{
    Constraint, DTypeClass, DataType, Flags, Kind, NodeId, Param, ParamId, PolyType, Relation,
    RelationId, Type,
};

use super::{
    DependsOn, Finding, FindingKind, FindingSubject, Global, Infer, Instance, MetaEntry, Mismatch,
    Remark, UnitRef, UnresolvedName, branches::Clash,
};
use crate::{body::*, metadata::Metadata, relations};

/// The maximum number of type parameters and relations of an instance of a polymorphic type. An
/// unannotated definition inherits those of its callees, so that their number can grow
/// exponentially along a chain of calls.
const MAX_OPEN: usize = 1_000;

impl Infer<'_> {
    /// Returns the type of the value of an expression: an instance if the type is polymorphic.
    ///
    /// Only variables have polymorphic types; all uses except calls instantiate them. TVM keeps
    /// them polymorphic.
    pub(super) fn value(&mut self, at: UnitRef, expr: ExprId) -> NodeId {
        let node = self.node(expr);
        if self.env.strict() {
            return node;
        }
        match self.solver.table.as_poly(node) {
            Some(poly) => {
                let node = self.instantiate(at, expr, expr, &poly, &[]);
                // The use of a constant is displayed with its instance: in `let %x = 1; add(%x,
                // 2f)` the `%x` is a `float32`. The use of a function is displayed with its
                // signature, which is more informative.
                if self.solver.table.signature_of(node).is_none() {
                    self.current().exprs[expr.index()] = node;
                }
                node
            }
            None => node,
        }
    }

    /// Instantiates the polymorphic type of `used`, with type arguments if they are written. The
    /// origin of its constraints is `expr`: the call if `used` is called.
    pub(super) fn instantiate(
        &mut self,
        at: UnitRef,
        expr: ExprId,
        used: ExprId,
        poly: &PolyType,
        written: &[types::TypeArg],
    ) -> NodeId {
        let open = poly.params().len() + poly.constraint_count();
        if open > MAX_OPEN && !self.env.strict() {
            self.find(Finding::too_general(expr, open));
            return self.error_node();
        }
        let table = &mut self.solver.table;
        let mut written = written.iter();
        let args: Vec<types::TypeArg> = poly
            .params()
            .iter()
            .map(|param| {
                let written = if param.inferred { None } else { written.next().cloned() };
                written.unwrap_or_else(|| table.open_param(param))
            })
            .collect();
        let (node, constraints) = table.instantiate_with(poly, &args);
        let numeric = poly.params().iter().zip(&args).filter_map(|(param, arg)| match arg {
            types::TypeArg::DType(dtype) if param.class != DTypeClass::Any => Some(dtype.clone()),
            _ => None,
        });
        let numeric: Vec<types::DTypeTerm> = numeric.collect();
        self.batch.constants.note_use(poly, &args);
        if !numeric.is_empty() {
            self.current().instances.push((used, Instance::DTypes(numeric)));
        }
        for constraint in &constraints {
            self.constrain(at, expr, constraint);
        }
        node
    }

    /// Unifies `found` with `expected`, or reports a mismatch.
    pub(super) fn unify_or_report(
        &mut self,
        expected: NodeId,
        found: NodeId,
        what: Mismatch,
    ) -> bool {
        match self.unify(expected, found) {
            Ok(()) => true,
            Err(Clash { expected, found, conflict }) => {
                self.find(Finding::mismatch(what, found, expected, conflict));
                false
            }
        }
    }

    /// Unifies `found` with `expected`.
    pub(super) fn unify(&mut self, expected: NodeId, found: NodeId) -> Result<(), Clash> {
        let before = (self.solver.table.resolve(expected), self.solver.table.resolve(found));
        // The size that a type declares for a `?` has to be checked where that is known.
        if before.1.flags().has(Flags::ANY) && !before.0.flags().has(Flags::ANY) {
            self.solver.promise(found, &before.0);
        }
        let unified = self.solver.table.unify(expected, found);
        unified.map_err(|conflict| Clash { expected: before.0, found: before.1, conflict })
    }

    /// Returns the node of an expression, whose operands have nodes already.
    pub(super) fn expr(&mut self, at: UnitRef, id: ExprId) -> NodeId {
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
                self.ranked(id, node)
            }
            Expr::Free(free) => match self.bodies[at.body as usize].1.get(at.unit, *free) {
                Some(binding) => {
                    let node = self.outer_variable(at.body, binding);
                    self.ranked(id, node)
                }
                None => self.error_node(),
            },
            Expr::Dotted { whole, tuple, index } => {
                match self.bodies[at.body as usize].1.get(at.unit, *whole) {
                    Some(binding) => self.outer_variable(at.body, binding),
                    None => self.projection(at, id, *tuple, *index),
                }
            }
            Expr::Global(name) => self.global(id, name),
            Expr::Name(name) => self.name(id, name),
            Expr::Meta(meta) if meta.key.starts_with("relay.attrs.") => self.error_node(),
            Expr::Meta(meta) => self.constant(id, meta),
            Expr::Tuple(fields) => {
                let fields: SmallVec<[NodeId; 4]> =
                    fields.iter().map(|&field| self.value(at, field)).collect();
                self.solver.table.tuple(fields)
            }
            Expr::Proj { tuple, index } => self.projection(at, id, *tuple, *index),
            Expr::Call(call) => self.call(at, id, *call),
            Expr::If { .. } => self.branches(at, id),
            Expr::Condition(cond) => self.condition(at, *cond),
            Expr::EnterMatch(id) => self.enter_match(at, *id),
            Expr::Match(number) => self.finish_match(at, id, *number),
            Expr::EnterFn(function) => self.enter_function(at, *function),
            Expr::Fn(function) => self.function(at, id, *function),
            Expr::RefNew(value) => {
                self.note_effect(id);
                let inner = self.value(at, *value);
                self.solver.table.reference(inner)
            }
            Expr::RefRead(reference) => {
                self.note_effect(id);
                self.referent(at, *reference)
            }
            Expr::RefWrite(reference, value) => {
                self.note_effect(id);
                let inner = self.referent(at, *reference);
                let found = self.value(at, *value);
                self.unify_or_report(inner, found, Mismatch::Write { value: *value });
                self.solver.table.import(&Type::unit())
            }
            Expr::Declare(binder) => self.declare_function(at, id, *binder),
            Expr::Bind { binder, value, start } => self.bind(at, *binder, *value, *start),
        }
    }

    /// Infers a `let` or graph binding.
    fn bind(&mut self, at: UnitRef, binder: BinderId, value: ExprId, start: ExprId) -> NodeId {
        let unit = self.unit(at);
        let mut node = self.node(value);
        let declared = self.current().binders[binder.index()];
        let is_declared_poly = unit.binder(binder).annotation.is_none()
            && declared.is_some_and(|node| self.solver.table.as_poly(node).is_some());
        let annotation = match declared {
            // The declared function is the one that is bound.
            Some(_) if is_declared_poly => None,
            Some(declared) => Some(declared),
            None => {
                let annotation = unit.binder(binder).annotation.as_ref();
                let annotation = annotation.filter(|ty| !self.is_printed(at, binder, ty));
                annotation.map(|ty| self.import_written(ty))
            }
        };
        if let Some(annotation) = annotation {
            node = self.annotate(at, binder, value, start, annotation);
        }
        if !self.env.strict() {
            // Each variable instantiates data types separately.
            if self.solver.table.as_poly(node).is_some_and(|poly| poly.has_numeric_params())
                && !matches!(unit.expr(value), Expr::Fn(_))
            {
                node = self.value(at, value);
            }
            if let Expr::Fn(function) = unit.expr(value) {
                let functions = &self.current().functions;
                let own = functions.iter().find(|(number, _)| number == function);
                let own = own.map(|(_, params)| params.clone()).unwrap_or_default();
                self.add_numeric(binder, own);
            }
            node = self.generalise(at, binder, value, start, node);
            if let Expr::Fn(function) = unit.expr(value) {
                self.learn_function(at, *function, binder, (start, value), node);
            }
        }
        // A compound type uses the type of the variable known by now; a graph binding is its value.
        if unit.binder(binder).kind == BinderKind::Let {
            node = self.solver.table.find(node);
        }
        self.set_binder(binder, node);
        node
    }

    /// Returns the type of a variable with an annotation, after unifying it with the type of its
    /// value.
    fn annotate(
        &mut self,
        at: UnitRef,
        binder: BinderId,
        value: ExprId,
        start: ExprId,
        annotation: NodeId,
    ) -> NodeId {
        let what = Mismatch::Annotation { binder, value };
        if let Some(poly) = self.solver.table.as_poly(annotation)
            && !self.env.strict()
        {
            // `let %id: fn [A](A) -> A = fn (%x) { %x };`: the value must have that type for every
            // `A`.
            let level = self.levels[start.index()];
            let found = self.value(at, value);
            self.solve();
            self.check_instance(at, (binder, value), level, &poly, found);
            return annotation;
        }
        let found = self.value(at, value);
        let fits = self.unify_or_report(annotation, found, what);
        // Later uses have the declared type.
        if fits || self.unit(at).binder(binder).annotation.is_some() { annotation } else { found }
    }

    /// Marks an expression that is not a value: evaluating it twice has an effect twice, or repeats
    /// work.
    pub(super) fn note_effect(&mut self, expr: ExprId) {
        if let Some(last) = self.effects.last_mut() {
            *last = expr.0 + 1;
        }
    }

    /// Returns the type of a use of a variable. Types of higher rank are rejected: a function with
    /// a polymorphic parameter can be declared, but not called.
    fn ranked(&mut self, expr: ExprId, node: NodeId) -> NodeId {
        match self.solver.table.leaf(node) {
            Some(ty) if ty.flags().has(Flags::POLY) && !self.env.strict() && !ty.is_rank_1() => {
                let ty = ty.clone();
                self.find(Finding::of_type(expr, FindingKind::HigherRank(ty)));
                self.error_node()
            }
            _ => node,
        }
    }

    fn literal(&mut self, literal: &Literal) -> NodeId {
        let is_strict = self.env.strict();
        let (dtype, class) = match *literal {
            Literal::Bool(_) => (DataType::BOOL, None),
            Literal::Int { dtype: Some(dtype), .. } | Literal::Float { dtype: Some(dtype), .. } => {
                (dtype, None)
            }
            Literal::Int { claimed: Some(dtype), .. }
            | Literal::Float { claimed: Some(dtype), .. }
                if !is_strict =>
            {
                (dtype, None)
            }
            Literal::Float { .. } => (DataType::FLOAT32, Some(DTypeClass::Float)),
            Literal::Int { value, .. } => {
                let fits = i32::try_from(value).is_ok();
                let dtype = if fits { DataType::INT32 } else { DataType::INT64 };
                (dtype, Some(DTypeClass::Number))
            }
        };
        match class.filter(|_| !is_strict) {
            Some(class) => self.solver.table.literal(class, dtype),
            None => self.solver.table.import(&Type::scalar(dtype)),
        }
    }

    /// Checks that a condition is a boolean.
    fn condition(&mut self, at: UnitRef, cond: ExprId) -> NodeId {
        // Relations are solved first, so that a tensor is reported as the condition instead of the
        // result of `equal`.
        self.solve();
        let node = self.value(at, cond);
        let expected = self.solver.table.import(&Type::scalar(DataType::BOOL));
        let ty = self.solver.table.resolve(node);
        if self.solver.table.unify(node, expected).is_err() {
            let (subject, depends_on) = (FindingSubject::Expr(cond), DependsOn::Value(cond));
            self.find(Finding { subject, depends_on, kind: FindingKind::Condition(ty) });
        }
        node
    }

    fn global(&mut self, id: ExprId, name: &Name) -> NodeId {
        match self.env.global(name) {
            Global::Known(ty) if !self.env.strict() && !ty.is_rank_1() => {
                self.find(Finding::of_type(id, FindingKind::HigherRank(ty)));
                self.error_node()
            }
            Global::Known(ty) if !self.whole => self.solver.table.import(&ty),
            // In a definition, all uses of a global share one node: if its result is unified with a
            // `?` at one call, the others have the `?` too.
            Global::Known(ty) | Global::Written(ty) => match self.batch.globals.get(name) {
                Some(&node) => node,
                None => {
                    let node = self.import_written(&ty);
                    self.batch.globals.insert(name.clone(), node);
                    node
                }
            },
            Global::Group(number) => {
                if let Some(scheme) = self.defs[number].signature.clone() {
                    return self.solver.table.import(&scheme);
                }
                self.current().instances.push((id, Instance::Member(number)));
                match &self.defs[number].declared {
                    Some(signature) => signature.node,
                    None => self.error_node(),
                }
            }
            Global::Opaque => self.error_node(),
            Global::Missing => {
                let kind = FindingKind::Unresolved(UnresolvedName::Global(name.clone()));
                self.find(Finding::of_text(FindingSubject::Expr(id), kind));
                self.error_node()
            }
        }
    }

    /// Returns the type of a constructor or an operator that is not called.
    fn name(&mut self, id: ExprId, name: &Name) -> NodeId {
        if let Some((_, constructor)) = self.env.module().types.constructor(name) {
            let node = self.solver.table.import(&constructor.ty);
            if constructor.fields.is_empty() {
                // A constructor without fields is a value, not a function.
                let node = match self.solver.table.as_poly(node) {
                    Some(poly) => self.solver.table.instantiate(&poly).0,
                    None => node,
                };
                let ret = self.solver.table.signature(node).map(|(_, ret)| ret);
                return ret.unwrap_or_else(|| self.error_node());
            }
            return node;
        }
        match operators::named(name) {
            Some(operator) => self.operator_value(id, operator),
            None => {
                self.unknown_name(id, name);
                self.error_node()
            }
        }
    }

    /// Returns the type of an operator as a value: a function with its relation as a constraint.
    fn operator_value(&mut self, id: ExprId, operator: &'static operators::Operator) -> NodeId {
        let relation = match operator.relation_of_value() {
            Ok(Some(relation)) => relation,
            Ok(None) => {
                self.no_rule(id, operator);
                return self.error_node();
            }
            Err(missing) => {
                let kind = FindingKind::ValueAttributes { operator, missing };
                self.find(Finding::of_text(FindingSubject::Value(id), kind));
                return self.error_node();
            }
        };
        let params: Vec<Param> = (0..=operator.args.len() as u32)
            .map(|i| Param::new(format!("t{}", i + 1), Kind::Type, ParamId::in_header(i)))
            .collect();
        let args: Vec<Type> = params.iter().cloned().map(Type::Param).collect();
        let func =
            Type::func(args[..operator.args.len()].to_vec(), args[operator.args.len()].clone());
        let constraint = Constraint { relation: relation.key(), args: args.into() };
        let func = PolyType::close(&params, vec![constraint], &func);
        self.solver.table.import(&func)
    }

    /// Returns the type of a constant of the metadata section.
    fn constant(&mut self, id: ExprId, meta: &MetaRef) -> NodeId {
        let entry = |section: &Metadata| section.constant_type(&meta.key, meta.index);
        match self.env.module().entry(entry) {
            MetaEntry::Found(ty) => self.solver.table.import(&ty),
            MetaEntry::NoSection => match &meta.claimed {
                Some(ty) => self.import_written(ty),
                None => {
                    let kind = FindingKind::Remark(Remark::UntypedConstant);
                    self.find(Finding::of_text(FindingSubject::Expr(id), kind));
                    self.error_node()
                }
            },
            MetaEntry::Missing | MetaEntry::Wrong => {
                self.unknown_entry(id, meta.key.clone(), meta.index);
                self.error_node()
            }
        }
    }

    fn projection(&mut self, at: UnitRef, id: ExprId, tuple: ExprId, index: u32) -> NodeId {
        self.note_effect(id);
        let node = self.value(at, tuple);
        if self.solver.table.is_unknown(node) {
            // Solved when the tuple is known.
            return self.relate_field(at, id, node, index);
        }
        if let Some(Some(field)) = self.solver.table.field(node, index as usize) {
            // In one table, the expected type takes precedence over the type of the field.
            return if self.whole { self.relate_field(at, id, node, index) } else { field };
        }
        let ty = self.solver.table.resolve(node);
        if ty != Type::Error {
            self.find(Finding::of_operands(id, FindingKind::Projection { index, ty }));
        }
        self.error_node()
    }

    /// Returns the type of a field by adding a relation, which is solved with the others.
    fn relate_field(&mut self, at: UnitRef, id: ExprId, tuple: NodeId, index: u32) -> NodeId {
        let result = self.solver.table.fresh();
        self.relate(at, id, relations::projection(index), [tuple, result], &[]);
        result
    }

    /// Returns the type of the value of a reference.
    fn referent(&mut self, at: UnitRef, reference: ExprId) -> NodeId {
        let node = self.value(at, reference);
        let inner = self.solver.table.fresh();
        let expected = self.solver.table.reference(inner);
        if !self.unify_or_report(expected, node, Mismatch::Reference { reference }) {
            self.solver.table.set_error(inner);
        }
        inner
    }

    /// Adds a relation with the origin `expr`.
    pub(super) fn relate(
        &mut self,
        at: UnitRef,
        expr: ExprId,
        relation: Relation,
        args: impl IntoIterator<Item = NodeId>,
        names: &'static [&'static str],
    ) -> RelationId {
        let origin = self.batch.origins.len() as u32;
        self.batch.origins.push((at, expr));
        self.solver.add(relation, args, names, origin)
    }

    /// Adds a constraint with the origin `expr`.
    pub(super) fn constrain(&mut self, at: UnitRef, expr: ExprId, constraint: &Constraint) {
        // The relation of an operator or a projection, both of which have a rule.
        let Some(solve) = relations::typing_rule(&constraint.relation) else { return };
        let origin = self.batch.origins.len() as u32;
        self.batch.origins.push((at, expr));
        let operator = operators::named(constraint.relation.operator);
        let names = operator.map_or(&[][..], |operator| operator.args);
        self.solver.add_constraint(constraint, solve, names, origin);
    }
}
