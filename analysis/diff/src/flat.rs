//! Inlining, and flattened functions.
//!
//! Passes such as `FuseOps` move calls into functions and out of them. After inlining these
//! functions, the calls on both sides match one to one, and the functions are groups of calls.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{Graph, Kind, Lambda, NONE, NodeId, Role};

/// A call that was replaced by the result of its callee.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlinedCall {
    pub(crate) call: NodeId,
    /// The callee, or the copy of it for this call.
    pub(crate) lambda: u32,
}

/// The result of inlining: aliases of nodes, and the inlined calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inlining {
    alias: Vec<NodeId>,
    pub(crate) calls: Vec<InlinedCall>,
    /// The lambdas of the inlined definitions.
    pub(crate) globals: FxHashSet<u32>,
    /// The numbers of the inlined definitions.
    pub(crate) defs: FxHashSet<u32>,
}

impl Inlining {
    /// Returns the node that replaces `id` after inlining.
    pub(crate) fn resolve(&self, mut id: NodeId) -> NodeId {
        // A chain of aliases is not longer than the number of nodes.
        for _ in 0..self.alias.len() {
            match self.alias[id as usize] {
                NONE => return id,
                next => id = next,
            }
        }
        id
    }

    /// Compresses chains of aliases, which identity functions make long. Each alias is followed and
    /// written once.
    fn shorten(&mut self) {
        let mut is_short = vec![false; self.alias.len()];
        let mut chain = Vec::new();
        for start in 0..self.alias.len() {
            let mut at = start;
            chain.clear();
            while self.alias[at] != NONE && !is_short[at] && chain.len() <= self.alias.len() {
                chain.push(at);
                at = self.alias[at] as usize;
            }
            let end = match self.alias[at] {
                NONE => at as NodeId,
                end => end,
            };
            for &link in &chain {
                self.alias[link] = end;
                is_short[link] = true;
            }
        }
    }
}

/// Inlines calls of function expressions, and of the definitions whose families are in `globals`.
///
/// A function is copied for each call except the first. Inlining stops when the graph has three
/// times its size, which bounds time and memory; the remaining calls are kept.
pub(crate) fn inline(graph: &mut Graph, globals: &FxHashMap<u64, u32>) -> Inlining {
    let most = graph.nodes.len() * 3 + 4096;
    let mut inlined = Inlining { alias: vec![NONE; graph.nodes.len()], ..Inlining::default() };
    let values = used_as_values(graph);
    let mut taken = vec![false; graph.lambdas.len()];
    let mut at = 0;
    // Nodes of copies are visited, too; their number is bounded by `most`.
    while at < graph.nodes.len() {
        let call = at as NodeId;
        at += 1;
        if graph.node(call).kind != Kind::Apply {
            continue;
        }
        let callee = inlined.resolve(graph.operands(call)[0]);
        let node = *graph.node(callee);
        let lambda = match node.kind {
            Kind::Fn => node.extra,
            Kind::Global => match globals.get(&node.family) {
                Some(&lambda) => lambda,
                None => continue,
            },
            _ => continue,
        };
        let data = graph.lambda(lambda);
        let arity = graph.operands(call).len() - 1;
        if data.recursive || data.params.len() != arity || data.node == NONE {
            continue;
        }
        let first = std::mem::replace(&mut taken[lambda as usize], true);
        let is_value = values.get(data.node as usize).copied().unwrap_or(false);
        let is_inside = data.first <= call && call <= data.node;
        let own = if !first && !is_value {
            lambda
        } else {
            let size = (data.node - data.first + 1) as usize;
            if is_inside || graph.nodes.len() + size > most {
                continue;
            }
            copy(graph, &mut inlined, lambda, &mut taken)
        };
        let (params, result) = {
            let data = graph.lambda(own);
            (data.params.clone(), data.result)
        };
        for (slot, param) in params.into_iter().enumerate() {
            inlined.alias[param as usize] = graph.operands(call)[slot + 1];
        }
        inlined.alias[call as usize] = result;
        inlined.calls.push(InlinedCall { call, lambda: own });
        if node.kind == Kind::Global {
            inlined.globals.insert(lambda);
            inlined.defs.insert(graph.lambda(lambda).def);
        }
    }
    unpack(graph, &mut inlined);
    inlined.shorten();
    inlined
}

/// Simplifies tuples that are rebuilt from the fields of an inlined result: in
/// `%t = @f(%x); (%t.0, %t.1)`, the projections become aliases of the fields.
fn unpack(graph: &Graph, inlined: &mut Inlining) {
    for id in 0..graph.nodes.len() as NodeId {
        if graph.node(id).kind != Kind::Tuple {
            continue;
        }
        let fields = graph.operands(id);
        let Some(&first) = fields.first() else { continue };
        let of = |field: NodeId| graph.operands(field).first().copied();
        let is_field = |(at, &field): (usize, &NodeId)| {
            let node = graph.node(field);
            node.kind == Kind::Proj && node.extra as usize == at && of(field) == of(first)
        };
        if !fields.iter().enumerate().all(is_field) {
            continue;
        }
        let Some(tuple) = of(first) else { continue };
        let value = inlined.resolve(tuple);
        let is_whole = graph.node(value).kind == Kind::Tuple
            && graph.operands(value).len() == fields.len()
            && value != tuple;
        if is_whole {
            for (&field, &inner) in fields.iter().zip(graph.operands(value)) {
                inlined.alias[field as usize] = inner;
            }
        }
    }
}

/// Returns true for each node that is used other than as a callee.
fn used_as_values(graph: &Graph) -> Vec<bool> {
    let mut values = vec![false; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        let callees = usize::from(node.kind == Kind::Apply);
        for &operand in &graph.operands(id as NodeId)[callees..] {
            values[operand as usize] = true;
        }
    }
    values
}

/// Copies a function including its inner functions.
fn copy(graph: &mut Graph, inlined: &mut Inlining, lambda: u32, taken: &mut Vec<bool>) -> u32 {
    let data = graph.lambda(lambda).clone();
    let (first, last) = (data.first, data.node);
    let offset = graph.nodes.len() as NodeId - first;
    let moved = |id: NodeId| if (first..=last).contains(&id) { id + offset } else { id };
    let mut lambdas: FxHashMap<u32, u32> = FxHashMap::default();
    // The ranges of inner functions are inside that of the outer one.
    let inner = (lambda..graph.lambdas.len() as u32)
        .take_while(|&at| graph.lambda(at).node != NONE && graph.lambda(at).first <= last)
        .filter(|&at| (first..=last).contains(&graph.lambda(at).node))
        .collect::<Vec<u32>>();
    for at in inner {
        let of = graph.lambda(at).clone();
        let number = graph.lambdas.len() as u32;
        lambdas.insert(at, number);
        graph.lambdas.push(Lambda {
            node: moved(of.node),
            params: of.params.iter().map(|&id| moved(id)).collect(),
            result: moved(of.result),
            first: moved(of.first),
            parent: lambdas.get(&of.parent).copied().unwrap_or(of.parent),
            ..of
        });
        taken.push(false);
    }
    for id in first..=last {
        let mut node = *graph.node(id);
        let operands: Vec<NodeId> = graph.operands(id).iter().map(|&id| moved(id)).collect();
        node.owner = lambdas.get(&node.owner).copied().unwrap_or(node.owner);
        if matches!(node.kind, Kind::Fn | Kind::Param) {
            node.extra = lambdas.get(&node.extra).copied().unwrap_or(node.extra);
        }
        graph.push(node, &operands);
        inlined.alias.push(NONE);
    }
    lambdas.get(&lambda).copied().unwrap_or(lambda)
}

/// Returns the definitions in `candidates` that are not recursive, directly or indirectly.
pub(crate) fn inlinable(graph: &Graph, candidates: &FxHashMap<u64, u32>) -> FxHashMap<u64, u32> {
    // A topological sort of the calls among the candidates: those that remain are in cycles.
    let mut calls: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
    let mut waiting: FxHashMap<u64, usize> = FxHashMap::default();
    for (&family, &lambda) in candidates {
        let data = graph.lambda(lambda);
        let count = waiting.entry(family).or_insert(0);
        for id in data.first..data.node {
            let node = graph.node(id);
            if node.kind == Kind::Global && candidates.contains_key(&node.family) {
                calls.entry(node.family).or_default().push(family);
                *count += 1;
            }
        }
    }
    let mut ready: Vec<u64> =
        waiting.iter().filter(|(_, count)| **count == 0).map(|(family, _)| *family).collect();
    let mut found = FxHashMap::default();
    while let Some(family) = ready.pop() {
        if let Some(&lambda) = candidates.get(&family) {
            found.insert(family, lambda);
        }
        for caller in calls.remove(&family).unwrap_or_default() {
            let count = waiting.entry(caller).or_insert(1);
            *count -= 1;
            if *count == 0 {
                ready.push(caller);
            }
        }
    }
    found
}

/// A flattened function: its nodes with dense indices in topological order, operands first.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// The nodes in postorder from the result.
    pub(crate) ids: Vec<NodeId>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) labels: Vec<u64>,
    pub(crate) families: Vec<u64>,
    operands: Vec<u32>,
    starts: Vec<u32>,
    /// The user and slot of each use.
    users: Vec<(u32, u32)>,
    user_starts: Vec<u32>,
    /// The result, then the unused nodes in order.
    pub(crate) roots: Vec<u32>,
}

/// A table of the size of the graph, reused for all functions to avoid an allocation for each.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    local: Vec<u32>,
}

const OPEN: u32 = u32::MAX - 1;

impl Side {
    /// Flattens a function.
    pub(crate) fn new(
        graph: &Graph,
        inlined: &Inlining,
        lambda: u32,
        scratch: &mut Scratch,
    ) -> Side {
        scratch.local.resize(graph.nodes.len(), NONE);
        let mut side = Side::default();
        let data = graph.lambda(lambda);
        let root = inlined.resolve(data.result);
        side.walk(graph, inlined, root, scratch);
        side.roots.push(scratch.local[root as usize]);
        let mut unused = Vec::new();
        // Users follow their operands, so that backwards, the root of an unused tree comes first.
        // Nodes inside functions that are values belong to those functions.
        for id in (data.first..data.node).rev() {
            let node = graph.node(id);
            let is_unused = scratch.local[id as usize] == NONE
                && !node.kind.is_leaf()
                && !matches!(node.kind, Kind::Fn | Kind::Pattern)
                && node.owner == lambda
                && inlined.alias[id as usize] == NONE;
            if is_unused && !is_unreadable(graph, id) {
                side.walk(graph, inlined, id, scratch);
                unused.push(scratch.local[id as usize]);
            }
        }
        side.roots.extend(unused.into_iter().rev());
        for &id in &side.ids {
            scratch.local[id as usize] = NONE;
        }
        side.count_users();
        side
    }

    fn walk(&mut self, graph: &Graph, inlined: &Inlining, root: NodeId, scratch: &mut Scratch) {
        if scratch.local[root as usize] != NONE {
            return;
        }
        scratch.local[root as usize] = OPEN;
        let mut stack: Vec<(NodeId, usize)> = vec![(root, 0)];
        while let Some((id, slot)) = stack.last_mut() {
            let operands = graph.operands(*id);
            if let Some(&operand) = operands.get(*slot) {
                *slot += 1;
                let operand = inlined.resolve(operand);
                if scratch.local[operand as usize] == NONE {
                    scratch.local[operand as usize] = OPEN;
                    stack.push((operand, 0));
                }
                continue;
            }
            let id = *id;
            stack.pop();
            let node = graph.node(id);
            self.starts.push(self.operands.len() as u32);
            for &operand in operands {
                // An open node would be its own operand. Only cyclic bindings in an erroneous module
                // have such operands, which are dropped.
                let local = scratch.local[inlined.resolve(operand) as usize];
                self.operands.extend((local != OPEN).then_some(local));
            }
            scratch.local[id as usize] = self.ids.len() as u32;
            self.ids.push(id);
            self.kinds.push(node.kind);
            self.labels.push(node.label);
            self.families.push(node.family);
        }
    }

    fn count_users(&mut self) {
        self.starts.push(self.operands.len() as u32);
        let mut counts = vec![0u32; self.ids.len() + 1];
        for &operand in &self.operands {
            counts[operand as usize + 1] += 1;
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        self.user_starts = counts.clone();
        self.users = vec![(0, 0); self.operands.len()];
        for user in 0..self.ids.len() as u32 {
            let range = self.starts[user as usize]..self.starts[user as usize + 1];
            for (slot, edge) in (0..).zip(range) {
                let operand = self.operands[edge as usize] as usize;
                self.users[counts[operand] as usize] = (user, slot);
                counts[operand] += 1;
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn operands(&self, at: u32) -> &[u32] {
        let at = at as usize;
        &self.operands[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the users of a node with the slots of the operand.
    pub(crate) fn users(&self, at: u32) -> &[(u32, u32)] {
        let at = at as usize;
        &self.users[self.user_starts[at] as usize..self.user_starts[at + 1] as usize]
    }

    pub(crate) fn kind(&self, at: u32) -> Kind {
        self.kinds[at as usize]
    }

    pub(crate) fn label(&self, at: u32) -> u64 {
        self.labels[at as usize]
    }

    pub(crate) fn family(&self, at: u32) -> u64 {
        self.families[at as usize]
    }
}

/// Returns true for a projection of a syntax error or an unbound variable.
fn is_unreadable(graph: &Graph, id: NodeId) -> bool {
    let is_error = |id: &NodeId| matches!(graph.node(*id).kind, Kind::Missing | Kind::Unknown);
    graph.node(id).kind == Kind::Proj && graph.operands(id).iter().all(is_error)
}

/// Returns the outermost fused function around a node.
pub(crate) fn group_of(graph: &Graph, id: NodeId) -> Option<u32> {
    let mut at = graph.node(id).owner;
    let mut found = None;
    while at != NONE {
        let lambda = graph.lambda(at);
        if lambda.role == Role::Fused {
            found = Some(at);
        }
        at = lambda.parent;
    }
    found
}
