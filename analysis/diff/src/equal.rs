//! Equality of functions.

use rustc_hash::FxHashMap;

use crate::graph::{Graph, Kind, NONE, NodeId};

/// Returns the pairs of nodes of two functions if they are equal up to names, order and notation,
/// otherwise `None`.
///
/// Both functions are traversed simultaneously from their results. The pairs are one-to-one, so that
/// a value that is computed once differs from one that is computed twice. Unused nodes must be equal
/// and in the same order.
pub(crate) fn pairs(
    (a, of_a): (&Graph, u32),
    (b, of_b): (&Graph, u32),
    names: &dyn Fn(NodeId, NodeId) -> bool,
) -> Option<Vec<(NodeId, NodeId)>> {
    let mut walk = Walk { a, b, names, to_b: FxHashMap::default(), to_a: FxHashMap::default() };
    let (lambda_a, lambda_b) = (a.lambda(of_a), b.lambda(of_b));
    let size = (lambda_a.node - lambda_a.first) as usize;
    walk.to_b.reserve(size);
    walk.to_a.reserve(size);
    let mut found = Vec::with_capacity(size);
    if !walk.equal(lambda_a.node, lambda_b.node, &mut found) {
        return None;
    }
    let (mut left_a, mut left_b) = (walk.unused_of_a(of_a), walk.unused_of_b(of_b));
    loop {
        match (left_a.pop(), left_b.pop()) {
            (None, None) => return Some(found),
            (Some(unused_a), Some(unused_b)) => {
                let is_known = walk.to_b.contains_key(&unused_a);
                if is_known != walk.to_a.contains_key(&unused_b) {
                    return None;
                }
                if !is_known && !walk.equal(unused_a, unused_b, &mut found) {
                    return None;
                }
            }
            _ => return None,
        }
    }
}

struct Walk<'g> {
    a: &'g Graph,
    b: &'g Graph,
    names: &'g dyn Fn(NodeId, NodeId) -> bool,
    to_b: FxHashMap<NodeId, NodeId>,
    to_a: FxHashMap<NodeId, NodeId>,
}

impl Walk<'_> {
    fn equal(&mut self, a: NodeId, b: NodeId, found: &mut Vec<(NodeId, NodeId)>) -> bool {
        let mut stack = vec![(a, b)];
        while let Some((a, b)) = stack.pop() {
            let (node_a, node_b) = (self.a.node(a), self.b.node(b));
            if node_a.kind.is_leaf() && node_a.kind != Kind::Param {
                if node_a.kind != node_b.kind || !(self.names)(a, b) {
                    return false;
                }
                found.push((a, b));
                continue;
            }
            match (self.to_b.get(&a), self.to_a.get(&b)) {
                (Some(&known), _) if known == b => continue,
                (None, None) => {}
                _ => return false,
            }
            // Parameters were paired with their function, so that a new one is of another function.
            let is_open = node_a.kind == Kind::Param || node_a.kind != node_b.kind;
            if is_open || node_a.label != node_b.label || node_a.count != node_b.count {
                return false;
            }
            if node_a.kind == Kind::Fn {
                let params_a = &self.a.lambda(node_a.extra).params;
                let params_b = &self.b.lambda(node_b.extra).params;
                if params_a.len() != params_b.len() {
                    return false;
                }
                for (&a, &b) in params_a.iter().zip(params_b) {
                    if !(self.names)(a, b) {
                        return false;
                    }
                    self.to_b.insert(a, b);
                    self.to_a.insert(b, a);
                    found.push((a, b));
                }
            }
            self.to_b.insert(a, b);
            self.to_a.insert(b, a);
            found.push((a, b));
            let operands = self.a.operands(a).iter().zip(self.b.operands(b));
            stack.extend(operands.map(|(&a, &b)| (a, b)).rev());
        }
        true
    }

    fn unused_of_a(&self, lambda: u32) -> Vec<NodeId> {
        unused(self.a, lambda, &self.to_b)
    }

    fn unused_of_b(&self, lambda: u32) -> Vec<NodeId> {
        unused(self.b, lambda, &self.to_a)
    }
}

/// Returns the unused nodes of a function that were not visited, the last one first.
fn unused(graph: &Graph, lambda: u32, visited: &FxHashMap<NodeId, NodeId>) -> Vec<NodeId> {
    let data = graph.lambda(lambda);
    let size = (data.node - data.first) as usize;
    let mut used = vec![false; size];
    let mut found = Vec::new();
    for id in (data.first..data.node).rev() {
        let at = (id - data.first) as usize;
        let node = graph.node(id);
        let is_visited = visited.contains_key(&id) || node.kind.is_leaf();
        if !is_visited && !used[at] && node.kind != Kind::Pattern {
            found.push(id);
        }
        for &operand in graph.operands(id) {
            if operand >= data.first && operand != NONE && (operand - data.first) < size as u32 {
                used[(operand - data.first) as usize] = true;
            }
        }
    }
    found
}
