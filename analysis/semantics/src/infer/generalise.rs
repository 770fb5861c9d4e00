//! Generalisation: the most general types of bindings and definitions.
//!
//! A type variable that occurs only in the value of a binding becomes a type parameter, and the
//! relations over it become constraints of the type: `let %f = fn (%y) { add(%x, %y) };` is
//! generalised over the type of `%y`, with a constraint that relates it to the type of `%x`. The
//! levels of the variables ([`types::Table`]) show the ones that occur in the value alone; a search
//! of the environment would take quadratic time.
//!
//! Only values are generalised (the value restriction): functions, constants, constructors applied
//! to values, tuples of values, and variables bound to them. Generalising `let %r = ref(Nil);`
//! would allow writes and reads at different types.

use rustc_hash::{FxHashMap, FxHashSet};
use types::{Constraint, Kind, Level, NodeId, Param, PolyType, RelationId, Type, Var, Vars};

use super::{
    Finding, Infer, UnitRef,
    constants::ConstantBinding,
    function::{is_complete, numeric},
};
use crate::body::*;

/// The maximum total number of shared relations in the types of a group, each of which contains all
/// of them.
const MAX_SHARED: usize = 100_000;

/// The variables to generalise, and the relations over them.
struct Generalisation {
    vars: Vars,
    kept: Vec<RelationId>,
}

impl Infer<'_> {
    /// Returns the most general type of the value of a binding. `start` is the first expression of
    /// the evaluation of the value, and `node` its type.
    pub(super) fn generalise(
        &mut self,
        at: UnitRef,
        binder: BinderId,
        value: ExprId,
        start: ExprId,
        node: NodeId,
    ) -> NodeId {
        let table = &self.solver.table;
        if table.open_vars() == 0 && !table.has_parts() {
            return node;
        }
        let last_effect = self.effects.last().copied().unwrap_or_default();
        if last_effect > start.0 {
            return node;
        }
        let level = self.levels[start.index()];
        if self.free_vars(&[node], level).is_empty() {
            return node;
        }
        self.solve_all();
        if level > Level::FIRST {
            let vars = self.free_vars(&[node], level);
            self.solver.lower_determined(vars, level);
        }
        if self.is_function(node) {
            self.default_literals(&[node], &[], level);
        }
        let Generalisation { vars, kept } = self.generalisation(node, &[], level);
        if vars.is_empty() {
            return node;
        }
        self.batch.generalised = true;
        let taken = self.names_in_scope(at);
        let params = self.name_params(&vars, &taken);
        let needed = self.without_those_of_all_sizes(&kept, &params);
        let ty = self.close_over(&params, &needed, node);
        self.release(&kept);
        let kept = needed;
        let numeric = numeric(&params);
        let unit = self.unit(at);
        let has_function = (start.0..=value.0).any(|i| matches!(unit.expr(ExprId(i)), Expr::Fn(_)));
        if !has_function && kept.is_empty() {
            for i in start.0..=value.0 {
                if matches!(unit.expr(ExprId(i)), Expr::Literal(_))
                    && let Some(param) = self.solver.table.scalar_param(self.node(ExprId(i)))
                    && numeric.contains(&param)
                {
                    self.current().constants.push((ExprId(i), param));
                }
            }
            vars.order().iter().for_each(|&var| self.solver.table.reopen(var, level));
            let vars = vars.order().iter().copied().zip(params).collect();
            let (scheme, shown, exprs) = (ty.clone(), node, (start, value));
            let uses = Vec::new();
            self.batch.constants.push(ConstantBinding {
                at,
                binder,
                exprs,
                scheme,
                shown,
                vars,
                uses,
            });
        }
        self.add_numeric(binder, numeric);
        self.solver.table.import(&ty)
    }

    /// Records that `params` of the type of a variable stand for data types of literals.
    pub(super) fn add_numeric(&mut self, binder: BinderId, params: Vec<Param>) {
        if params.is_empty() {
            return;
        }
        match self.current().numeric.iter_mut().find(|(own, _)| *own == binder) {
            Some((_, all)) => all.extend(params),
            None => self.current().numeric.push((binder, params)),
        }
    }

    /// Decides the types of constants from their uses.
    pub(super) fn decide_constants(&mut self) {
        // The type of a constant may decide the type of an earlier one.
        for constant in self.batch.constants.bindings().iter().rev() {
            constant.decide_from_uses(&mut self.solver.table);
        }
    }

    /// Returns true if the types of all constants are decided.
    pub(super) fn has_decided_constants(&mut self) -> bool {
        // The last one is the most likely to be undecided.
        let mut constants = self.batch.constants.bindings().iter().rev();
        constants.all(|constant| constant.decide_from_uses(&mut self.solver.table))
    }

    /// Solves all relations that can be solved, and gives up those that TVM's rules leave without a
    /// type.
    pub(super) fn solve_all(&mut self) {
        loop {
            self.solve();
            let undecided = self.solver.take_undecided();
            if undecided.is_empty() {
                return;
            }
            for id in undecided {
                if let Some(&result) = self.solver.entry(id).args.last()
                    && self.solver.table.is_unknown(result)
                {
                    self.batch.given_up.insert(id);
                    self.solver.table.set_error(result);
                }
            }
        }
    }

    /// Generalises the types of the definitions of a group. Variables older than `level` belong to
    /// other groups. TVM does not generalise.
    pub(super) fn generalise_group(&mut self, group: &[usize], level: Level) {
        if self.env.strict() {
            for &number in group {
                let node = self.defs[number].declared.as_ref().map(|signature| signature.node);
                self.defs[number].signature = node.map(|node| self.solver.table.resolve(node));
            }
            return;
        }
        let mut members: Vec<(usize, NodeId)> = Vec::with_capacity(group.len());
        for &number in group {
            let node = match self.defs[number].declared.clone() {
                Some(signature) => Some(self.solver.table.func(signature.params, signature.ret)),
                None => self.expression_root(number).filter(|&node| self.is_function(node)),
            };
            members.extend(node.map(|node| (number, node)));
        }
        self.generalise_members(&members, level);
    }

    /// Generalises the types of definitions that are inferred together.
    pub(super) fn generalise_members(&mut self, members: &[(usize, NodeId)], level: Level) {
        let nodes: Vec<NodeId> = members.iter().map(|(_, node)| *node).collect();
        self.use_given();
        let own: Vec<Vec<RelationId>> =
            members.iter().map(|&(number, _)| self.relations_over_header(number)).collect();
        self.default_literals(&nodes, &own.concat(), level);
        for &(number, node) in members {
            self.keep_weak(number, node, level);
        }
        self.limit_shared(&nodes, level);
        self.unify_equal_relations();
        let mut parts: Vec<Generalisation> = nodes
            .iter()
            .zip(&own)
            .map(|(&node, own)| self.generalisation(node, own, level))
            .collect();
        for (&(number, _), part) in members.iter().zip(&mut parts) {
            part.kept.extend(self.relations_over_sizes(0, &self.header_params(number)));
            part.kept.sort();
            part.kept.dedup();
        }
        let all: Vars = parts.iter().flat_map(|part| part.vars.order()).collect();
        self.batch.generalised |= !all.is_empty();
        let mut taken = FxHashSet::default();
        for &(number, _) in members {
            let header = self.bodies[number].0.header();
            taken.extend(header.into_iter().flat_map(|h| &h.type_params).map(|p| p.name().clone()));
        }
        let params = self.name_params(&all, &taken);
        let params: FxHashMap<Var, Param> = all.order().iter().copied().zip(params).collect();
        let recursive = self.recursive_members();
        for (&(number, node), part) in members.iter().zip(&parts) {
            let vars = part.vars.order().iter();
            let mut found: Vec<Param> = vars.filter_map(|var| params.get(var)).cloned().collect();
            let mut all = self.header_params(number);
            self.defs[number].numeric = numeric(&all);
            self.defs[number].numeric.extend(numeric(&found));
            if members.len() > 1 {
                self.add_foreign(number, node, &part.kept, &mut found);
                found = renumbered(&found, &taken);
            }
            all.extend(found);
            let kept = self.without_those_of_all_sizes(&part.kept, &all);
            let ty = self.close_over(&all, &kept, node);
            if self.bodies[number].0.header().is_none()
                && let Some((open, root)) = self.expression(number)
            {
                self.batch.units[open].exprs[root.index()] = self.solver.table.import(&ty);
            }
            if recursive.contains(&number) {
                let at = UnitRef { body: number as u32, unit: UnitId::HEADER };
                self.learn_type((at, None), &ty);
            }
            self.defs[number].signature = Some(ty);
        }
        parts.iter().for_each(|part| self.release(&part.kept));
    }

    /// Returns the relations of a definition that depend on the type parameters of its header.
    fn relations_over_header(&mut self, number: usize) -> Vec<RelationId> {
        let own = self.header_params(number);
        if own.is_empty() {
            return Vec::new();
        }
        let body = self.bodies[number].0;
        let complete = body.header().is_some_and(|h| is_complete(h, &body.units[0]));
        self.relations_over(self.relations_from(0).collect(), &own, complete)
    }

    /// Gives up the relations that the members of a group share if there are more than
    /// [`MAX_SHARED`] in all types together: a cycle of n functions has n relations in each of n
    /// types.
    fn limit_shared(&mut self, members: &[NodeId], level: Level) {
        if members.len() < 2 {
            return;
        }
        let mut vars = self.free_vars(members, level);
        let kept = self.solver.related(&mut vars, level);
        if members.len().saturating_mul(kept.len()) <= MAX_SHARED {
            return;
        }
        if let Some(&first) = kept.first() {
            let (origin, open) = (self.solver.entry(first).origin, kept.len());
            self.find_at(origin, |expr| Finding::too_general(expr, open));
        }
        for &id in &kept {
            let result = self.solver.entry(id).args.last().copied();
            self.give_up(result);
        }
        self.release(&kept);
    }

    /// Decides the weak type variables of references that no use has decided.
    pub(super) fn generalise_weak(&mut self) {
        let mut members = Vec::new();
        for (number, def) in self.defs.iter().enumerate() {
            if let Some(ty) = def.signature.as_ref().filter(|ty| !ty.is_closed()) {
                members.push((number, self.solver.table.import(ty)));
            }
        }
        self.keeps_weak = false;
        self.generalise_members(&members, Level::NEVER);
    }

    /// Returns the type parameters that the header of a definition declares.
    fn header_params(&self, number: usize) -> Vec<Param> {
        let header = self.bodies[number].0.header();
        let params = header.into_iter().flat_map(|header| &header.type_params);
        match self.whole {
            true => params.map(|param| self.header_param(number, param)).collect(),
            false => params.cloned().collect(),
        }
    }

    /// Adds the declared type parameters of other members of a group that occur in the type of a
    /// member: with `def @a[A](%x: A) { @b(%x) }`, `def @b(%y) { @a(%y) }` is equally general.
    fn add_foreign(
        &self,
        number: usize,
        node: NodeId,
        kept: &[RelationId],
        params: &mut Vec<Param>,
    ) {
        let own = self.header_params(number);
        let args = kept.iter().flat_map(|&id| self.solver.arg_types(id));
        for ty in std::iter::once(self.solver.table.resolve(node)).chain(args) {
            let _same = ty.rename_params(&mut |param| {
                let id = param.id();
                if id.is_of_header() && !own.contains(param) && !params.contains(param) {
                    params.push(param.clone());
                }
                None
            });
        }
    }

    /// Returns the tail expression of a bare expression.
    fn expression(&self, number: usize) -> Option<(usize, ExprId)> {
        self.batch.units.iter().enumerate().find_map(|(open, unit)| {
            let is_own = unit.at.body as usize == number;
            let data = self.unit(unit.at);
            let root = data.root.filter(|_| is_own && data.kind == UnitKind::Tail)?;
            Some((open, root))
        })
    }

    fn expression_root(&self, number: usize) -> Option<NodeId> {
        let (open, root) = self.expression(number)?;
        Some(self.batch.units[open].exprs[root.index()])
    }

    /// Keeps the value of a reference that a definition without parameters returns monomorphic for
    /// all users: `def @cell() { ref(Nil) }`.
    fn keep_weak(&mut self, number: usize, node: NodeId, level: Level) {
        let header = self.bodies[number].0.header();
        if header.is_none_or(|header| !header.params.is_empty()) {
            return;
        }
        let Some((_, result)) = self.solver.table.signature_of(node) else { return };
        for reference in self.solver.table.references_in(result) {
            if !self.free_vars(&[reference], level).is_empty() {
                self.defs[number].weak = true;
                if self.keeps_weak {
                    self.solver.table.lower_all(reference, Level::NEVER);
                }
            }
        }
    }

    /// Returns the variables of the type of `node` that are not older than `level`, those of the
    /// relations `own`, and those of the relations over all of them.
    ///
    /// In `def @f<s : Shape>(%x: Tensor[s, float32]) { reshape(%x, newshape=[2, 2]) + 1 }` the type
    /// of the sum depends on that of the new shape, which follows from `s`.
    fn generalisation(&mut self, node: NodeId, own: &[RelationId], level: Level) -> Generalisation {
        let mut vars = self.free_vars(&[node], level);
        let visible = vars.order().len();
        for &id in own {
            for arg in self.solver.entry(id).args.clone() {
                self.solver.table.free_vars(arg, level, &mut vars);
            }
        }
        if vars.is_empty() {
            return Generalisation { vars, kept: own.to_vec() };
        }
        let mut kept = self.solver.related(&mut vars, level);
        kept.extend_from_slice(own);
        kept.sort();
        kept.dedup();
        self.without_ambiguous(vars, visible, kept, level)
    }

    /// Removes ambiguous relations, whose types no use can decide: the type of the first argument
    /// of `add(@hd(Nil), 1f)` neither occurs in the type of the result, nor is it determined by it.
    /// The first `visible` variables are those in the type. Rules determine results from arguments,
    /// and data types of literals from other operands.
    fn without_ambiguous(
        &mut self,
        vars: Vars,
        visible: usize,
        mut kept: Vec<RelationId>,
        level: Level,
    ) -> Generalisation {
        let is_type = |var: &Var| matches!(var, Var::Type(_));
        let (shown, others) = vars.order().split_at(visible);
        if !others.iter().any(is_type) {
            return Generalisation { vars, kept };
        }
        let mut decided: Vars =
            shown.iter().chain(others.iter().filter(|var| !is_type(var))).collect();
        let mut parts: Vec<(Vars, Vars)> = Vec::with_capacity(kept.len());
        for &id in &kept {
            let args = self.solver.entry(id).args.clone();
            let (inputs, result) = args.split_at(args.len().saturating_sub(1));
            parts.push((self.free_vars(inputs, level), self.free_vars(result, level)));
        }
        let is_decided =
            |inputs: &Vars, decided: &Vars| inputs.order().iter().all(|var| decided.contains(*var));
        // Relations are in program order: usually, one pass is enough.
        loop {
            let before = decided.order().len();
            for (inputs, results) in &parts {
                if is_decided(inputs, &decided) {
                    decided.extend(results.order());
                }
            }
            if decided.order().len() == before {
                break;
            }
        }
        // The result of an undecided relation is undecided too, and reported with it.
        let mut undecided = Vars::default();
        let mut parts = parts.iter();
        kept.retain(|_| {
            let Some((inputs, results)) = parts.next() else { return false };
            let decides = is_decided(inputs, &decided);
            if !decides {
                undecided.extend(results.order());
            }
            decides
        });
        let left = shown.iter().chain(others.iter().filter(|var| decided.contains(**var)));
        let left = left.filter(|var| !undecided.contains(**var)).collect();
        Generalisation { vars: left, kept }
    }

    pub(super) fn free_vars(&mut self, nodes: &[NodeId], level: Level) -> Vars {
        let mut vars = Vars::default();
        for &node in nodes {
            self.solver.table.free_vars(node, level, &mut vars);
        }
        vars
    }

    fn is_function(&mut self, node: NodeId) -> bool {
        self.solver.table.signature_of(node).is_some()
    }

    /// Gives literals that do not depend on arguments their default types: `fn (%x) { (%x, 1) }`
    /// returns a pair with an `int32`. Used for functions that are inferred together. `own` are the
    /// relations over their type parameters, whose results depend on arguments, too.
    fn default_literals(&mut self, nodes: &[NodeId], own: &[RelationId], level: Level) {
        let results_of_own =
            own.iter().filter_map(|&id| self.solver.entry(id).args.last().copied());
        let (mut inputs, mut outputs): (Vec<NodeId>, Vec<NodeId>) =
            (results_of_own.collect(), Vec::new());
        for &node in nodes {
            if let Some((params, ret)) = self.solver.table.signature_of(node) {
                inputs.extend(params);
                outputs.push(ret);
            }
        }
        let mut results = self.free_vars(&outputs, level);
        self.solver.related(&mut results, level);
        if !results.order().iter().any(|var| matches!(var, Var::DType(_))) {
            return;
        }
        // In `fn () { fn (%x) { add(%x, 1) } }`, the arguments of the returned function count too.
        for output in outputs {
            inputs.extend(self.solver.table.parameters_in(output));
        }
        let mut given = self.free_vars(&inputs, level);
        self.solver.related(&mut given, level);
        let alone = results.order().iter().filter(|var| !given.contains(**var)).collect();
        if self.solver.table.default_some_literals(&alone) {
            self.solve();
        }
    }

    /// Returns the names of the type parameters in scope at a statement.
    fn names_in_scope(&self, at: UnitRef) -> FxHashSet<smol_str::SmolStr> {
        let header = self.body(at).header();
        let functions = header.into_iter().chain(&self.unit(at).fns);
        functions.flat_map(|function| &function.type_params).map(|p| p.name().clone()).collect()
    }

    /// Replaces each variable by a fresh type parameter.
    fn name_params(&mut self, vars: &Vars, taken: &FxHashSet<smol_str::SmolStr>) -> Vec<Param> {
        let mut names = Names::new(taken);
        let kind = |var| match var {
            Var::Type(_) => Kind::Type,
            Var::Shape(_) => Kind::Shape,
            Var::DType(_) => Kind::BaseType,
            Var::Dim(_) => Kind::ShapeVar,
        };
        let vars = vars.order().iter();
        vars.map(|&var| self.solver.table.quantify(var, names.next(letter(kind(var))))).collect()
    }

    /// Returns the type of `node` over `params`, with the relations `kept` as constraints.
    pub(super) fn close_over(&self, params: &[Param], kept: &[RelationId], node: NodeId) -> Type {
        let ty = self.solver.table.resolve(node);
        PolyType::close(params, self.constraints(kept), &ty)
    }

    fn constraints(&self, kept: &[RelationId]) -> Vec<Constraint> {
        let mut constraints: Vec<Constraint> = kept
            .iter()
            .map(|&id| Constraint {
                relation: self.solver.entry(id).relation.key(),
                args: self.solver.required_types(id).into(),
            })
            .collect();
        // `fn(%x, %y) where Broadcast { add(%x, %y) }` has the same relation twice.
        let mut known = FxHashSet::default();
        constraints
            .retain(|c| known.insert((c.relation.name, c.args.clone(), c.relation.attrs.clone())));
        constraints
    }

    pub(super) fn release(&mut self, kept: &[RelationId]) {
        kept.iter().for_each(|&id| self.solver.release(id));
    }
}

/// Returns the parameters with names numbered from 1 for each kind.
fn renumbered(params: &[Param], taken: &FxHashSet<smol_str::SmolStr>) -> Vec<Param> {
    let mut names = Names::new(taken);
    params
        .iter()
        .map(|param| match param.id().is_of_header() {
            true => param.clone(),
            false => param.with_name(names.next(letter(param.kind()))),
        })
        .collect()
}

/// Returns the prefix of the names of inferred type parameters of a kind.
fn letter(kind: Kind) -> &'static str {
    match kind {
        Kind::Type => "t",
        Kind::Shape => "s",
        Kind::BaseType => "b",
        Kind::ShapeVar => "n",
    }
}

/// A generator of names for type parameters.
struct Names<'t> {
    taken: &'t FxHashSet<smol_str::SmolStr>,
    last: FxHashMap<&'static str, usize>,
}

impl<'t> Names<'t> {
    fn new(taken: &'t FxHashSet<smol_str::SmolStr>) -> Names<'t> {
        Names { taken, last: FxHashMap::default() }
    }

    /// Returns the next of `t1`, `t2`, … that is not taken.
    fn next(&mut self, letter: &'static str) -> smol_str::SmolStr {
        let last = self.last.entry(letter).or_insert(0);
        loop {
            *last += 1;
            let name = smol_str::format_smolstr!("{letter}{last}");
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}
