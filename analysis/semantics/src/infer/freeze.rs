//! Freezing: from nodes of the solver to types, when a batch is closed.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use types::{
    Constraint, DTypeTerm, Flags, Level, NodeId, Param, PolyType, RelationId, Resolver, State, Type,
};

use super::{
    Definition, Finding, FindingKind, FindingSubject, Infer, Inference, Instance, Memo, MetaEntry,
    Numeric, OpenUnit, Remark, TypeLimit, UnitRef, UnitTypes, constants::ConstantBinding,
    env::ModuleData, results::Assumptions,
};
use crate::{body::*, list::List, scope::Scopes};

/// Returns the type of a constant if its comment says all sizes, and the metadata section does not contradict it.
fn known_type(module: &ModuleData, meta: &MetaRef) -> Option<Type> {
    let claimed =
        meta.claimed.clone().filter(|ty| ty.is_closed() && !ty.flags().has(Flags::ANY))?;
    match module.entry(|section| section.constant_type(&meta.key, meta.index)) {
        MetaEntry::Found(ty) => (ty == claimed).then_some(ty),
        MetaEntry::NoSection => Some(claimed),
        MetaEntry::Missing | MetaEntry::Wrong => None,
    }
}

impl Infer<'_> {
    /// Closes the open batch: decides what is still open, and freezes the types.
    pub(super) fn close(&mut self, last: bool) {
        if self.batch.units.is_empty() {
            return;
        }
        if last && !self.whole && !self.env.strict() {
            self.generalise_result();
        }
        self.decide_constants();
        let constants = std::mem::take(&mut self.batch.constants);
        let constants = constants.bindings();
        let shown: Vec<Vec<Param>> =
            constants.iter().map(|constant| constant.decide(&mut self.solver.table)).collect();
        let mut own_constants: FxHashMap<UnitRef, Vec<usize>> = FxHashMap::default();
        for (index, constant) in constants.iter().enumerate() {
            own_constants.entry(constant.at).or_default().push(index);
        }
        if self.solver.table.default_literals() {
            self.solve();
        }
        self.report();
        if last && self.env.strict() {
            self.report_open();
        }
        self.entangled |= self.solver.table.is_entangled();
        self.record_classes();
        let alone = self.batch.units.len() == 1;
        let generalised = std::mem::take(&mut self.batch.generalised);
        let mut open = std::mem::take(&mut self.batch.units);
        let table = &self.solver.table;
        let mut resolver = Resolver::new(table);
        for open in &mut open {
            let unit = self.bodies[open.at.body as usize].0.unit(open.at.unit);
            let mut is_open = false;
            let mut too_large = None;
            let mut freeze = |node: NodeId, about: Option<ExprId>| {
                let ty = resolver.resolve(node);
                if ty.is_too_large() || resolver.is_too_deep() {
                    resolver.reset_too_deep();
                    too_large = too_large.or(about);
                    return Type::Error;
                }
                if ty.is_closed() {
                    return ty;
                }
                is_open = true;
                ty.without_variables()
            };
            let numbered = open.exprs.iter().zip(0..);
            let mut exprs: Box<[Type]> =
                numbered.map(|(&node, i)| freeze(node, Some(ExprId(i)))).collect();
            for (ty, expr) in exprs.iter_mut().zip(&unit.exprs) {
                // Relations let `?` stand for the sizes of other arguments. The weight of a grouped convolution over
                // `?` channels has the sizes that its comment says, or those if it says `?`.
                if let Expr::Meta(meta) = expr
                    && ty.flags().has(Flags::ANY)
                    && let Some(own) = known_type(self.env.module(), meta)
                {
                    *ty = own;
                }
            }
            let binders = open.binders.iter();
            let mut binders: Box<[Type]> =
                binders.map(|node| node.map_or(Type::Error, |node| freeze(node, None))).collect();
            let mut schemes = Vec::new();
            let own = own_constants.get(&open.at).map_or(&[][..], Vec::as_slice);
            let own: Vec<&ConstantBinding> = own
                .iter()
                .map(|&index| {
                    let constant = &constants[index];
                    let ty = freeze(constant.shown, None);
                    binders[constant.binder.index()] =
                        PolyType::close(&shown[index], Vec::new(), &ty);
                    let scheme = table.refresh(&constant.scheme).without_variables();
                    schemes.push((constant.binder, scheme));
                    constant
                })
                .collect();
            let mut findings = std::mem::take(&mut open.findings);
            findings.extend(
                too_large
                    .map(|expr| Finding::of_type(expr, FindingKind::TooLarge(TypeLimit::Size))),
            );
            findings.iter_mut().for_each(|finding| finding.freeze(table));
            numbers_out_of_range(unit, &exprs, &mut findings);
            let stale = self.printer.stale(unit, &exprs, &binders);
            let types = UnitTypes {
                exprs,
                binders,
                findings: findings.into(),
                stale: stale.into(),
                inputs: std::mem::take(&mut open.inputs).into(),
                alone,
                open: is_open,
                generalised,
                assumed: std::mem::take(&mut open.assumed).into(),
                numeric: freeze_numeric(open, schemes, &own, table, &self.defs),
            };
            let (body, number) = (open.at.body as usize, open.at.unit.0);
            if types.has_findings() {
                self.defs[body].units_with_findings.push(number);
            }
            self.defs[body].done.freeze(number as usize, Arc::new(types));
        }
        self.batch.clear();
        self.solver.clear();
    }

    /// The most general type of a definition whose parameters are all typed, where its result is
    /// open: `def @empty() { Nil }`.
    fn generalise_result(&mut self) {
        let (body, _) = self.bodies[0];
        let Some(result) = self.batch.result.take() else { return };
        self.solve_all();
        let Some(header) = body.header() else {
            if self.solver.table.signature_of(result).is_some() {
                self.generalise_members(&[(0, result)], Level::FIRST);
            }
            return;
        };
        if header.ret.as_ref().is_some_and(Type::is_closed) {
            return;
        }
        if self.free_vars(&[result], Level::FIRST).is_empty() {
            return;
        }
        let binder = |&binder: &BinderId| crate::body::LocalRef { unit: UnitId::HEADER, binder };
        let params: Vec<NodeId> =
            header.params.iter().map(binder).map(|b| self.outer_variable(0, b)).collect();
        let node = self.solver.table.func(params, result);
        self.generalise_members(&[(0, node)], Level::FIRST);
    }

    /// The types of all units, body by body.
    pub(super) fn finish(self, memo: Option<&Memo<'_>>) -> Vec<Inference> {
        let strict = self.env.strict();
        let is_alone = self.bodies.len() == 1;
        let defs = self.defs.into_iter().zip(self.bodies);
        defs.map(|(def, (body, scopes))| {
            let Definition { units_with_findings, signature, numeric, weak, .. } = def;
            let mut units = def.done.finish();
            let mut assumptions = Assumptions::default();
            if is_alone {
                assumptions = Assumptions::spread(body, scopes, &mut units, &units_with_findings);
            }
            let signature = signature.or_else(|| {
                let known =
                    memo.and_then(|memo| memo.signature(body, scopes, &units, &assumptions));
                known.unwrap_or_else(|| signature_of(body, scopes, &units, &assumptions))
            });
            let signature = signature.map(|ty| match ty.is_closed() {
                true => ty,
                false => ty.without_variables(),
            });
            let is_general = |&unit: &u32| {
                let types = &units[unit as usize];
                types.generalised || types.open
            };
            let generalised = units_with_findings.iter().any(is_general);
            let names = match &signature {
                Some(Type::Poly(poly)) => poly.params().iter().map(|p| p.name.clone()).collect(),
                _ => Box::default(),
            };
            Inference {
                units,
                signature,
                generalised,
                strict,
                numeric,
                weak,
                assumptions,
                units_with_findings,
                names,
            }
        })
        .collect()
    }

    /// Reports relations that failed or stayed undecided.
    fn report(&mut self) {
        let mut variables = None;
        for id in self.relations_from(self.batch.reported) {
            let entry = self.solver.entry(id);
            let origin = entry.origin;
            let result = entry.args.last().copied();
            let unknown = result.is_some_and(|node| self.solver.table.is_unknown(node));
            match entry.state.clone() {
                State::Failed(reason) => {
                    let (at, expr) = self.batch.origins[origin as usize];
                    let finding = self.failed(id, at, expr, reason);
                    self.find_at(origin, |_| finding);
                }
                State::Undecided(reason) if unknown || self.batch.given_up.contains(&id) => {
                    self.give_up(result);
                    let kind = FindingKind::Unknown { argument: None, reason: Some(reason) };
                    self.find_at(origin, |expr| Finding::of_operands(expr, kind));
                }
                State::Undecided(reason) => {
                    let kind = FindingKind::Remark(Remark::Undecided(reason));
                    self.find_at(origin, |expr| Finding::of_operands(expr, kind));
                }
                // A relation of an instance may concern a part that is not used: `%p.1` of a pair
                // of a function and a number.
                State::Waiting if unknown && self.is_of_unused_part(origin) => {}
                State::Waiting if self.needs_parameter(id) => self.report_unproven(id),
                State::Waiting if unknown => {
                    let variables = variables.get_or_insert_with(|| self.variables_without_types());
                    self.report_waiting(id, origin, variables);
                }
                State::Waiting | State::Solved | State::Silent => {}
            }
        }
        self.batch.reported = self.solver.entries().len();
        for (id, reason) in self.solver.take_caveats() {
            let origin = self.solver.entry(id).origin;
            let kind = FindingKind::Remark(Remark::Uncomputable(reason));
            self.find_at(origin, |expr| Finding::of_operands(expr, kind));
        }
    }

    /// Returns true if a relation came from a variable that is not called.
    fn is_of_unused_part(&self, origin: u32) -> bool {
        let (at, expr) = self.batch.origins[origin as usize];
        let expr = self.unit(at).exprs.get(expr.index());
        matches!(expr, Some(Expr::Bound(_) | Expr::Free(_) | Expr::Dotted { .. } | Expr::Global(_)))
    }

    /// Returns true if a relation waits for a written type parameter, which is unknown inside the
    /// function.
    fn needs_parameter(&self, id: RelationId) -> bool {
        let types = self.solver.arg_types(id);
        let is_written = self.batch.given.contains(&id);
        !self.env.strict() && !is_written && types.iter().any(|ty| matches!(ty, Type::Param(_)))
    }

    /// Reports a rule that does not hold for every type that a parameter may be.
    pub(super) fn report_unproven(&mut self, id: RelationId) {
        let entry = self.solver.entry(id);
        let (origin, relation) = (entry.origin, entry.relation.key());
        let args: Box<[Type]> = self.solver.arg_types(id).into();
        let result = entry.args.last().copied();
        self.solver.release(id);
        self.give_up(result);
        let constraint = Constraint { relation, args };
        self.find_at(origin, |expr| Finding::of_type(expr, FindingKind::Unproven(constraint)));
    }

    /// Reports expressions that TVM infers no type for. TVM accepts a list of an unknown type.
    fn report_open(&mut self) {
        for open in 0..self.batch.units.len() {
            let unit = self.unit(self.batch.units[open].at);
            // Variables are reported before their uses, values before their bindings.
            let is_value = |kind| matches!(kind, BinderKind::Let | BinderKind::Graph);
            let types = &self.batch.units[open];
            let binders = (0..).map(BinderId).zip(&types.binders);
            let binders = binders.filter(|(binder, _)| !is_value(unit.binder(*binder).kind));
            let binders =
                binders.filter_map(|(id, node)| Some((FindingSubject::Binder(id), (*node)?)));
            let exprs = (0..).map(ExprId).zip(&types.exprs);
            let exprs = exprs.filter(|(expr, _)| !unit.expr(*expr).is_step());
            let exprs = exprs.map(|(expr, node)| (FindingSubject::Expr(expr), *node));
            for (subject, node) in binders.chain(exprs).collect::<Vec<_>>() {
                if self.solver.table.is_unknown(node) {
                    let finding = Finding::of_text(subject, FindingKind::Open);
                    self.batch.units[open].findings.push(finding);
                    self.solver.table.set_error(node);
                }
            }
        }
    }

    /// Reports a relation that waits for a type that cannot be inferred.
    fn report_waiting(
        &mut self,
        id: RelationId,
        origin: u32,
        variables: &FxHashMap<NodeId, (usize, BinderId)>,
    ) {
        let args = self.solver.entry(id).args.clone();
        let Some((&result, inputs)) = args.split_last() else { return };
        let is_open = |&node: &NodeId| !self.solver.table.resolve(node).is_closed();
        let argument = inputs.iter().position(is_open);
        let node = argument.map(|argument| inputs[argument]);
        match node.and_then(|node| variables.get(&self.solver.table.find(node))) {
            Some(&(open, binder)) => {
                let subject = FindingSubject::Binder(binder);
                let finding = Finding::of_text(subject, FindingKind::UnknownVariable);
                self.batch.units[open].findings.push(finding);
            }
            None => {
                let kind = FindingKind::Unknown { argument, reason: None };
                self.find_at(origin, |expr| Finding::of_operands(expr, kind));
            }
        }
        self.give_up(node);
        self.give_up(Some(result));
        self.solve();
    }

    /// Returns the parameters and free variables without annotations whose types are unknown, by
    /// node.
    fn variables_without_types(&self) -> FxHashMap<NodeId, (usize, BinderId)> {
        let mut found = FxHashMap::default();
        for (i, open) in self.batch.units.iter().enumerate() {
            let unit = self.unit(open.at);
            for (number, (binder, node)) in (0..).zip(unit.binders.iter().zip(&open.binders)) {
                let bare = matches!(binder.kind, BinderKind::Param | BinderKind::Free)
                    && binder.annotation.is_none();
                if let Some(node) = node.filter(|_| bare) {
                    found.entry(self.solver.table.find(node)).or_insert((i, BinderId(number)));
                }
            }
        }
        found
    }

    pub(super) fn give_up(&mut self, node: Option<NodeId>) {
        if let Some(node) = node {
            self.solver.table.set_error(node);
        }
    }

    /// Adds a finding to the unit that a relation originates from.
    pub(super) fn find_at(&mut self, origin: u32, finding: impl FnOnce(ExprId) -> Finding) {
        let (at, expr) = self.batch.origins[origin as usize];
        if let Some(&open) = self.batch.indices.get(&at) {
            // A relation of a header has no expression, and is reported at the calls.
            if expr.index() < self.unit(at).exprs.len() {
                self.batch.units[open].findings.push(finding(expr));
            }
        }
    }
}

/// Returns the number of the tail expression of a body.
pub(super) fn tail_of(body: &Body) -> Option<usize> {
    // It is the last unit, but for syntax errors.
    body.units.iter().rposition(|unit| unit.kind == UnitKind::Tail)
}

/// The type of a definition from the types of its units.
fn signature_of(
    body: &Body,
    scopes: &Scopes,
    units: &List<Arc<UnitTypes>>,
    assumptions: &Assumptions,
) -> Option<Type> {
    // Other definitions do not depend on assumed types.
    let known = |tail: usize, root| {
        let is_assumed = assumptions.hold(body, scopes, &units[tail], (tail, root));
        if is_assumed { Type::Error } else { units[tail].expr(root).clone() }
    };
    let result = tail_of(body).and_then(|tail| Some(known(tail, body.units[tail].root?)));
    let Some(header) = body.header() else { return result };
    let params = header.params.iter().map(|&binder| units[0].binder(binder).clone());
    let ret = header.ret.clone().filter(|ty| ty.is_closed()).or(result).unwrap_or(Type::Error);
    let func = Type::func(params, ret);
    Some(PolyType::close(&header.type_params, Vec::new(), &func))
}

/// Returns the data types of the literals of a unit that uses choose, for evaluation.
fn freeze_numeric(
    open: &mut OpenUnit,
    schemes: Vec<(BinderId, Type)>,
    constants: &[&ConstantBinding],
    table: &types::Table,
    members: &[Definition],
) -> Option<Box<Numeric>> {
    let mut uses: Vec<(ExprId, Vec<DTypeTerm>)> = Vec::new();
    for (expr, instance) in std::mem::take(&mut open.instances) {
        let dtypes: Vec<DTypeTerm> = match instance {
            Instance::DTypes(dtypes) => {
                let of_constant = |dtype: &DTypeTerm| {
                    constants.iter().find_map(|constant| constant.param(expr, dtype, table))
                };
                let known = |dtype: &DTypeTerm| match of_constant(dtype) {
                    Some(param) => DTypeTerm::Param(param),
                    None => table.known_dtype_term(dtype),
                };
                dtypes.iter().map(known).collect()
            }
            Instance::Member(number) => {
                members[number].numeric.iter().cloned().map(DTypeTerm::Param).collect()
            }
        };
        match uses.last_mut() {
            // A use of a member of the group decides the written type parameters, which come first.
            Some((last, known)) if *last == expr => {
                known.iter_mut().zip(dtypes).for_each(|(known, dtype)| *known = dtype);
            }
            _ if dtypes.is_empty() => {}
            _ => uses.push((expr, dtypes)),
        }
    }
    let binders = std::mem::take(&mut open.numeric);
    let functions = std::mem::take(&mut open.functions);
    let literals = std::mem::take(&mut open.constants);
    // Later statements see the schemes: otherwise `let %e = Nil;` would have the type of its uses
    // in the same batch.
    let is_empty = uses.is_empty()
        && binders.is_empty()
        && functions.is_empty()
        && literals.is_empty()
        && schemes.is_empty();
    (!is_empty).then(|| Box::new(Numeric { uses, binders, functions, literals, schemes }))
}

/// Reports literals without suffix whose value is out of the range of the inferred data type.
fn numbers_out_of_range(unit: &Unit, exprs: &[Type], findings: &mut Vec<Finding>) {
    if !unit.features.contains(crate::features::UnitFeatures::BARE_INT) {
        return;
    }
    for (expr, (data, ty)) in (0..).zip(unit.exprs.iter().zip(exprs)) {
        if let Expr::Literal(Literal::Int { value, dtype: None, .. }) = data
            && let Some(tensor) = ty.as_tensor()
            && !tensor.dtype.can_represent(*value)
        {
            let kind = FindingKind::NumberRange { value: *value, dtype: tensor.dtype };
            findings.push(Finding::of_text(FindingSubject::Expr(ExprId(expr)), kind));
        }
    }
}

/// `body:unit`, for panics and logs.
impl std::fmt::Display for UnitRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.body, self.unit.0)
    }
}
