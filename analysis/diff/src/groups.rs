//! Conversion of a pairing of nodes to the report: one-to-one pairs, one-to-many pairs, and unpaired
//! nodes.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::format_smolstr;
use syntax::TextRange;

use crate::{
    changes::{PairBuilder, annotation_change, change, unpaired},
    expand::{Expansion, expansions},
    flat::{InlinedCall, Side, group_of},
    graph::{Kind, NONE, NodeId, Role},
    half::Half,
    matching::{Input, Pairing, values},
    parts::{Part, parts},
    report::{Change, Fact, FunctionDiff, Pair, PairKind, Property, UnpairedExpr, order},
};

/// The maximum number of calls to which one operator is expanded. Passes replace an operator by ten or
/// twenty; a larger part with a single call in its place was replaced, not expanded.
const MAX_EXPANDED: usize = 64;

struct Report<'h> {
    a: &'h Half,
    b: &'h Half,
    input: &'h Input<'h>,
    pairing: &'h Pairing,
    builder: PairBuilder<'h>,
    pairs: Vec<Pair>,
    /// The nodes in one-to-many pairs, which are neither removed nor added.
    known_a: FxHashSet<u32>,
    known_b: FxHashSet<u32>,
    /// The pairs of an operator and a call of its expansion.
    expanded: FxHashSet<(u32, u32)>,
}

/// Writes the report of a pairing to `diff`.
pub(crate) fn report(
    a: &Half,
    b: &Half,
    input: &Input<'_>,
    pairing: &Pairing,
    params: &[(NodeId, NodeId)],
    (lambda_a, lambda_b): (u32, u32),
    diff: &mut FunctionDiff,
) {
    let mut report = Report {
        a,
        b,
        input,
        pairing,
        builder: PairBuilder { a, b },
        pairs: Vec::new(),
        known_a: FxHashSet::default(),
        known_b: FxHashSet::default(),
        expanded: FxHashSet::default(),
    };
    let calls_a = calls_of(a, lambda_a);
    let calls_b = calls_of(b, lambda_b);
    report.params(params);
    report.header(lambda_a, lambda_b);
    let groups = report.wrappers(&calls_a, &calls_b);
    report.expanded();
    report.several();
    report.repeated();
    report.inner(&groups);
    let (removed, added) = report.unpaired();
    (diff.removed, diff.added) = (removed, added);
    diff.pairs = report.pairs;
    let calls = |side: &Side| side.kinds.iter().filter(|kind| **kind == Kind::Call).count();
    (diff.calls_before, diff.calls_after) = (calls(input.a), calls(input.b));
    let is_call = |pair: &&Pair| pair.kind != PairKind::Changed && !pair.operators.1.is_empty();
    // An operator that was expanded to many calls is one that was kept.
    let kept = |range: &dyn Fn(&Pair) -> TextRange| {
        diff.pairs.iter().filter(is_call).map(range).collect::<FxHashSet<_>>().len()
    };
    let kept = kept(&|pair| pair.before).min(kept(&|pair| pair.after));
    diff.is_guess = diff.calls_before.min(diff.calls_after) >= 4
        && kept * 5 < diff.calls_before.min(diff.calls_after);
    order(&mut diff.pairs);
}

/// Returns the inlined calls of a function, including those in its callees.
fn calls_of(half: &Half, root: u32) -> Vec<InlinedCall> {
    let graph = &half.graph;
    let top = |mut lambda: u32| {
        while lambda != NONE && graph.lambda(lambda).parent != NONE {
            lambda = graph.lambda(lambda).parent;
        }
        lambda
    };
    // The caller of each inlined definition.
    let mut callers: FxHashMap<u32, u32> = FxHashMap::default();
    for call in &half.inlined.calls {
        let own = top(graph.node(call.call).owner);
        if graph.lambda(call.lambda).parent == NONE {
            callers.insert(call.lambda, own);
        }
    }
    let is_own = |call: &&InlinedCall| {
        let mut at = top(graph.node(call.call).owner);
        // Recursive definitions are not inlined, so that the chain of callers ends.
        for _ in 0..=callers.len() {
            if at == root {
                return true;
            }
            match callers.get(&at) {
                Some(&next) => at = next,
                None => return false,
            }
        }
        false
    };
    half.inlined.calls.iter().filter(is_own).copied().collect()
}

/// The pairs of corresponding groups before and after.
type Groups = FxHashSet<(u32, u32)>;

impl Report<'_> {
    fn node_a(&self, at: u32) -> NodeId {
        self.input.a.ids[at as usize]
    }

    fn node_b(&self, at: u32) -> NodeId {
        self.input.b.ids[at as usize]
    }

    fn params(&mut self, params: &[(NodeId, NodeId)]) {
        for &(a, b) in params {
            let changes = annotation_change(self.a.annotation(a), self.b.annotation(b));
            let changes: Vec<Change> = changes.into_iter().collect();
            let kind = if changes.is_empty() { PairKind::Same } else { PairKind::Changed };
            self.builder.pair_with_lets((a, b), kind, changes, &mut self.pairs);
        }
    }

    /// Adds changes of attributes and result type of the definitions.
    fn header(&mut self, lambda_a: u32, lambda_b: u32) {
        let (graph_a, graph_b) = (&self.a.graph, &self.b.graph);
        let (data_a, data_b) = (graph_a.lambda(lambda_a), graph_b.lambda(lambda_b));
        let (fn_a, fn_b) = (self.a.facts().function(data_a), self.b.facts().function(data_b));
        let mut changes = Vec::new();
        if let (Some(fn_a), Some(fn_b)) = (fn_a, fn_b) {
            if graph_a.node(data_a.node).label != graph_b.node(data_b.node).label {
                changes = self.builder.own_changes(data_a.node, data_b.node);
                // Changes of parameters are reported separately.
                changes.retain(|change| change.what == Property::Attribute);
            }
            changes.extend(annotation_change(fn_a.ret.as_ref(), fn_b.ret.as_ref()));
        }
        if !changes.is_empty() {
            let kind = PairKind::Changed;
            self.builder.pair_with_lets((data_a.node, data_b.node), kind, changes, &mut self.pairs);
        }
    }

    /// Adds pairs for inlined calls and their callees.
    fn wrappers(&mut self, calls_a: &[InlinedCall], calls_b: &[InlinedCall]) -> Groups {
        let mut groups = Groups::default();
        let (graph_a, graph_b) = (&self.a.graph, &self.b.graph);
        let place = |side: &Side| -> FxHashMap<NodeId, u32> {
            side.ids.iter().enumerate().map(|(at, &id)| (id, at as u32)).collect()
        };
        let (place_a, place_b) = (place(self.input.a), place(self.input.b));
        // The calls by result, the outermost first.
        let mut by_result: FxHashMap<u32, Vec<InlinedCall>> = FxHashMap::default();
        for &call in calls_a {
            if let Some(&at) = place_a.get(&self.a.inlined.resolve(call.call)) {
                by_result.entry(at).or_default().push(call);
            }
        }
        for &call in calls_b {
            let Some(&at) = place_b.get(&self.b.inlined.resolve(call.call)) else { continue };
            let Some(result) = self.pairing.a(at) else { continue };
            let role = graph_b.lambda(call.lambda).role;
            let candidates = by_result.get_mut(&result);
            let same_role = |other: &InlinedCall| graph_a.lambda(other.lambda).role == role;
            let partner = candidates.and_then(|calls| {
                let at = calls.iter().position(same_role)?;
                Some(calls.remove(at))
            });
            match partner {
                Some(partner) => {
                    groups.insert((partner.lambda, call.lambda));
                    self.group(partner, call);
                }
                None => {
                    let both = (self.node_a(result), call.call);
                    let at = self.wrapper(both, role);
                    let group = &mut self.pairs[at].groups.1;
                    *group = group.or((role == Role::Fused).then_some(call.lambda));
                }
            }
        }
        for (result, calls) in by_result {
            let Some(partner) = self.pairing.b(result) else { continue };
            for call in calls {
                let role = graph_a.lambda(call.lambda).role;
                let at = self.wrapper((call.call, self.node_b(partner)), role);
                let group = &mut self.pairs[at].groups.0;
                *group = group.or((role == Role::Fused).then_some(call.lambda));
            }
        }
        groups
    }

    /// Adds the pair of an expression and the call of a function that replaces it. Returns the index of
    /// the pair.
    fn wrapper(&mut self, both: (NodeId, NodeId), role: Role) -> usize {
        let kind = match role {
            Role::Fused => PairKind::Fused,
            Role::Plain => PairKind::Inlined,
        };
        let at = self.pairs.len();
        self.builder.pair_with_lets(both, kind, Vec::new(), &mut self.pairs);
        at
    }

    /// Adds the pairs of two calls with the same result and of their callees.
    fn group(&mut self, call_a: InlinedCall, call_b: InlinedCall) {
        let (graph_a, graph_b) = (&self.a.graph, &self.b.graph);
        let (data_a, data_b) = (graph_a.lambda(call_a.lambda), graph_b.lambda(call_b.lambda));
        let kind = PairKind::Same;
        self.builder.pair_with_lets((call_a.call, call_b.call), kind, Vec::new(), &mut self.pairs);
        let mut changes = Vec::new();
        if graph_a.node(data_a.node).label != graph_b.node(data_b.node).label {
            changes = self.builder.own_changes(data_a.node, data_b.node);
            changes.retain(|change| change.what == Property::Attribute);
        }
        let ret = |half: &Half, lambda| half.facts().function(lambda).and_then(|f| f.ret.clone());
        let (ret_a, ret_b) = (ret(self.a, data_a), ret(self.b, data_b));
        if ret_a != ret_b && !changes.is_empty() {
            changes.extend(annotation_change(ret_a.as_ref(), ret_b.as_ref()));
        }
        let kind = if changes.is_empty() { kind } else { PairKind::Changed };
        self.builder.pair_with_lets((data_a.node, data_b.node), kind, changes, &mut self.pairs);
        if data_a.params.len() == data_b.params.len() {
            for (&a, &b) in data_a.params.iter().zip(&data_b.params) {
                self.builder.pair_with_lets((a, b), PairKind::Same, Vec::new(), &mut self.pairs);
            }
        }
    }

    /// Adds the one-to-one pairs with their changes.
    fn inner(&mut self, groups: &Groups) {
        let (graph_a, graph_b) = (&self.a.graph, &self.b.graph);
        for at_a in 0..self.input.a.len() as u32 {
            let Some(at_b) = self.pairing.b(at_a) else { continue };
            if self.input.a.kind(at_a).is_leaf() {
                continue;
            }
            let (a, b) = (self.node_a(at_a), self.node_b(at_b));
            let is_expanded = self.expanded.contains(&(at_a, at_b));
            let mut changes = Vec::new();
            if !is_expanded {
                changes = self.builder.own_changes(a, b);
                self.operands(at_a, at_b, &mut changes);
            }
            let is_changed = !changes.is_empty();
            if is_changed {
                changes.extend(self.builder.type_changes(a, b));
            }
            let kind = match (group_of(graph_a, a), group_of(graph_b, b)) {
                (None, None) => self.plain_kind(a, b),
                (Some(of_a), Some(of_b)) if groups.contains(&(of_a, of_b)) => PairKind::Same,
                _ => PairKind::Fused,
            };
            let kind = match kind {
                PairKind::Same if is_expanded => PairKind::Expanded,
                PairKind::Same if is_changed => PairKind::Changed,
                kind => kind,
            };
            self.builder.pair_with_lets((a, b), kind, changes, &mut self.pairs);
            if graph_a.node(a).kind == Kind::Fn && graph_b.node(b).kind == Kind::Fn {
                let params_a = &graph_a.lambda(graph_a.node(a).extra).params;
                let params_b = &graph_b.lambda(graph_b.node(b).extra).params;
                let params: Vec<(NodeId, NodeId)> =
                    params_a.iter().copied().zip(params_b.iter().copied()).collect();
                self.params(&params);
            }
        }
    }

    /// Returns the kind of a pair of calls outside of groups.
    fn plain_kind(&self, a: NodeId, b: NodeId) -> PairKind {
        let definition = |half: &Half, id: NodeId| {
            half.facts().definitions[half.graph.node(id).def as usize].name.clone()
        };
        let depth = |half: &Half, id: NodeId| {
            let graph = &half.graph;
            let mut at = graph.node(id).owner;
            let mut depth = 0;
            while at != NONE {
                at = graph.lambda(at).parent;
                depth += 1;
            }
            depth
        };
        let inlined =
            |half: &Half, id: NodeId| half.inlined.defs.contains(&half.graph.node(id).def);
        let same = definition(self.a, a) == definition(self.b, b)
            || !inlined(self.a, a) && !inlined(self.b, b);
        match same && depth(self.a, a) == depth(self.b, b) {
            true => PairKind::Same,
            false => PairKind::Inlined,
        }
    }

    /// Adds changes of the operands of a pair, except those that removed or added nodes explain.
    fn operands(&mut self, at_a: u32, at_b: u32, changes: &mut Vec<Change>) {
        let (side_a, side_b) = (self.input.a, self.input.b);
        let (slots_a, slots_b) = (side_a.operands(at_a), side_b.operands(at_b));
        if slots_a.len() != slots_b.len() {
            if side_a.family(at_a) == side_b.family(at_b) {
                let (before, after) = (Fact::Count(slots_a.len()), Fact::Count(slots_b.len()));
                if !changes.iter().any(|change| change.what == Property::Operands) {
                    changes.push(change(Property::Operands, "", before, after));
                }
            }
            return;
        }
        for (slot, (&of_a, &of_b)) in slots_a.iter().zip(slots_b).enumerate() {
            let (leaf_a, leaf_b) = (side_a.kind(of_a).is_leaf(), side_b.kind(of_b).is_leaf());
            let is_value = |kind| matches!(kind, Kind::Literal | Kind::Constant);
            let (a, b) = (self.node_a(of_a), self.node_b(of_b));
            if leaf_a && leaf_b {
                let same = self.input.seeds_a[of_a as usize] == self.input.seeds_b[of_b as usize];
                if is_value(side_a.kind(of_a)) && is_value(side_b.kind(of_b)) {
                    let (kind, changes) = match same {
                        true => (PairKind::Same, Vec::new()),
                        false => {
                            let mut changes = self.builder.own_changes(a, b);
                            changes.extend(self.builder.type_changes(a, b));
                            (PairKind::Changed, changes)
                        }
                    };
                    self.builder.pair_with_lets((a, b), kind, changes, &mut self.pairs);
                    continue;
                }
                if same {
                    continue;
                }
            } else if !leaf_a && !leaf_b {
                let explained = self.pairing.b(of_a) == Some(of_b)
                    || self.pairing.b(of_a).is_none()
                    || self.pairing.a(of_b).is_none();
                if explained {
                    continue;
                }
            } else if leaf_b && self.pairing.b(of_a).is_none()
                || leaf_a && self.pairing.a(of_b).is_none()
            {
                // The replacement is reported as removed or added.
                continue;
            }
            let (before, after) =
                (Fact::Expr(self.a.graph.node(a).range), Fact::Expr(self.b.graph.node(b).range));
            let name = format_smolstr!("{}", slot + 1);
            changes.push(Change {
                places: (
                    argument(self.a, self.node_a(at_a), slot),
                    argument(self.b, self.node_b(at_b), slot),
                ),
                ..change(Property::Operand, &name, before, after)
            });
        }
    }

    /// Adds pairs for the unpaired nodes of expansions of which one call is paired.
    fn expanded(&mut self) {
        for Expansion { pair: (a, b), nodes, is_after } in
            expansions(self.input, self.pairing, MAX_EXPANDED)
        {
            self.expanded.insert((a, b));
            for &at in &nodes {
                let side = if is_after { self.input.b } else { self.input.a };
                match (is_after, side.kind(at) == Kind::Call) {
                    (true, true) => self.join(a, at, PairKind::Expanded),
                    (false, true) => self.join(at, b, PairKind::Expanded),
                    (true, false) => _ = self.known_b.insert(at),
                    (false, false) => _ = self.known_a.insert(at),
                }
            }
        }
    }

    /// Adds one-to-many pairs of unpaired parts between the same pairs. The result is symmetric in
    /// the two sides.
    fn several(&mut self) {
        let (side_a, side_b) = (self.input.a, self.input.b);
        let parts_a = parts(side_a, &self.pairing.to_b);
        let parts_b = parts(side_b, &self.pairing.to_a);
        let number = |side: &Side, parts: &[Part]| {
            let mut of = vec![NONE; side.len()];
            for (number, part) in (0..).zip(parts) {
                for &at in &part.nodes {
                    of[at as usize] = number;
                }
            }
            of
        };
        let (of_a, of_b) = (number(side_a, &parts_a), number(side_b, &parts_b));
        // Parts that are the same operand of a pair, and parts that a constant replaces.
        let mut links: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut constants_a: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut constants_b: BTreeSet<(u32, u32)> = BTreeSet::new();
        let is_constant = |kind| matches!(kind, Kind::Constant | Kind::Literal);
        for user_a in 0..side_a.len() as u32 {
            let Some(user_b) = self.pairing.b(user_a) else { continue };
            if side_a.family(user_a) != side_b.family(user_b) {
                continue;
            }
            let slots = side_a.operands(user_a).iter().zip(side_b.operands(user_b));
            for (&slot_a, &slot_b) in slots {
                match (of_a[slot_a as usize], of_b[slot_b as usize]) {
                    (NONE, NONE) => {}
                    (NONE, part) if is_constant(side_a.kind(slot_a)) => {
                        constants_b.insert((part, slot_a));
                    }
                    (part, NONE) if is_constant(side_b.kind(slot_b)) => {
                        constants_a.insert((part, slot_b));
                    }
                    (NONE, _) | (_, NONE) => {}
                    both => {
                        links.insert(both);
                    }
                }
            }
        }
        if let (Some(&root_a), Some(&root_b)) = (side_a.roots.first(), side_b.roots.first()) {
            let both = (of_a[root_a as usize], of_b[root_b as usize]);
            if both.0 != NONE && both.1 != NONE {
                links.insert(both);
            }
        }
        let mut degree_a: FxHashMap<u32, u32> = FxHashMap::default();
        let mut degree_b: FxHashMap<u32, u32> = FxHashMap::default();
        for &(part_a, part_b) in &links {
            *degree_a.entry(part_a).or_default() += 1;
            *degree_b.entry(part_b).or_default() += 1;
        }
        for &(a, b) in &links {
            let (part_a, part_b) = (&parts_a[a as usize], &parts_b[b as usize]);
            let is_sure = degree_a[&a] == 1 || degree_b[&b] == 1;
            let Some((calls_a, calls_b)) = Part::expansion(part_a, part_b) else { continue };
            if !is_sure || calls_a.len().max(calls_b.len()) > MAX_EXPANDED {
                continue;
            }
            // A call that is cut off, such as the result in `%1 = exp(%x); add(`, replaces nothing.
            let (graph_a, graph_b) = (&self.a.graph, &self.b.graph);
            if part_a.nodes.iter().any(|&at| graph_a.is_broken(self.node_a(at)))
                || part_b.nodes.iter().any(|&at| graph_b.is_broken(self.node_b(at)))
            {
                continue;
            }
            // One part has a single call, which is paired with each call of the other.
            for &at_a in calls_a {
                for &at_b in calls_b {
                    self.join(at_a, at_b, PairKind::Expanded);
                }
            }
            for (part, calls, known) in
                [(part_a, calls_a, &mut self.known_a), (part_b, calls_b, &mut self.known_b)]
            {
                // What was around the single call is removed or added.
                if calls.len() == part.calls.len() {
                    known.extend(&part.nodes);
                }
            }
        }
        for (part, constant) in only(&constants_a) {
            if !degree_a.contains_key(&part) {
                for &at in &parts_a[part as usize].nodes {
                    self.join(at, constant, PairKind::Folded);
                }
            }
        }
        for (part, constant) in only(&constants_b) {
            if !degree_b.contains_key(&part) {
                for &at in &parts_b[part as usize].nodes {
                    self.join(constant, at, PairKind::Folded);
                }
            }
        }
    }

    fn join(&mut self, at_a: u32, at_b: u32, kind: PairKind) {
        let pair = self.builder.pair(self.node_a(at_a), self.node_b(at_b), kind, Vec::new());
        self.pairs.push(pair);
        self.known_a.insert(at_a);
        self.known_b.insert(at_b);
    }

    /// Adds pairs for values that are computed once on one side and several times on the other.
    fn repeated(&mut self) {
        let values_a = values(self.input.a, &self.input.seeds_a);
        let values_b = values(self.input.b, &self.input.seeds_b);
        let mut first_a: FxHashMap<u64, u32> = FxHashMap::default();
        for at in 0..self.input.a.len() as u32 {
            if self.pairing.b(at).is_some() {
                first_a.entry(values_a[at as usize]).or_insert(at);
            }
        }
        let mut first_b: FxHashMap<u64, u32> = FxHashMap::default();
        for at in 0..self.input.b.len() as u32 {
            if self.pairing.a(at).is_some() {
                first_b.entry(values_b[at as usize]).or_insert(at);
            }
        }
        for at in 0..self.input.a.len() as u32 {
            if self.pairing.b(at).is_none()
                && !self.input.a.kind(at).is_leaf()
                && let Some(&twin) = first_a.get(&values_a[at as usize])
                && let Some(partner) = self.pairing.b(twin)
            {
                self.join(at, partner, PairKind::Folded);
            }
        }
        for at in 0..self.input.b.len() as u32 {
            if self.pairing.a(at).is_none()
                && !self.input.b.kind(at).is_leaf()
                && let Some(&twin) = first_b.get(&values_b[at as usize])
                && let Some(partner) = self.pairing.a(twin)
            {
                self.join(partner, at, PairKind::Folded);
            }
        }
    }

    /// Returns the removed and added nodes in text order.
    fn unpaired(&self) -> (Vec<UnpairedExpr>, Vec<UnpairedExpr>) {
        let of = |half: &Half, side: &Side, partners: &[u32], known: &FxHashSet<u32>| {
            let is_unpaired = |at: &u32| {
                partners[*at as usize] == NONE
                    && !known.contains(at)
                    && !side.kind(*at).is_leaf()
                    && side.kind(*at) != Kind::Pattern
            };
            let all = (0..side.len() as u32).filter(is_unpaired);
            let mut found: Vec<UnpairedExpr> =
                all.map(|at| unpaired(half, side.ids[at as usize])).collect();
            found.sort_by_key(|node| (node.range.start(), node.range.end()));
            found.dedup();
            found
        };
        let removed = of(self.a, self.input.a, &self.pairing.to_b, &self.known_a);
        let added = of(self.b, self.input.b, &self.pairing.to_a, &self.known_b);
        (removed, added)
    }
}

/// Returns the range of an operand of a call.
fn argument(half: &Half, id: NodeId, slot: usize) -> Option<TextRange> {
    let call = half.facts().call(&half.graph, id)?;
    // The first operand of an `Apply` node is the callee.
    let is_apply = half.graph.node(id).kind == Kind::Apply;
    let slot = if is_apply { slot.checked_sub(1)? } else { slot };
    call.args.get(slot).copied()
}

/// Returns the parts that exactly one constant replaces.
fn only(constants: &BTreeSet<(u32, u32)>) -> Vec<(u32, u32)> {
    let all: Vec<(u32, u32)> = constants.iter().copied().collect();
    let parts = all.chunk_by(|x, y| x.0 == y.0);
    parts.filter(|part| part.len() == 1).map(|part| part[0]).collect()
}
