//! Structural equality as TVM defines it.
//!
//! It ignores names and positions, but not notation: a function in `let` form differs from the same
//! function in graph form, and annotations are compared.

use rustc_hash::FxHashMap;
use semantics::{Db, Module, body::Name};
use types::Type;

use crate::{
    build::{Detail, ModuleGraph},
    equal,
    facts::Let,
    graph::{Function, Graph, Kind, NodeId},
};

/// The data of a module for structural equality. It is independent of the database, and holds neither
/// the syntax tree nor the bodies: of a log, the structures of two modules are in memory at once.
pub struct Structure {
    graph: Graph,
    /// The written types of parameters and free variables.
    annotations: FxHashMap<NodeId, Type>,
    /// The written result types of the functions, in the order of the graph.
    results: Vec<Option<Type>>,
    lets: Vec<Lets>,
}

impl Structure {
    /// Returns the structure of a module.
    pub fn new<'db>(db: &'db dyn Db, module: Module<'db>) -> Structure {
        let ModuleGraph { graph, facts } = ModuleGraph::new(db, module, Detail::Structure);
        let mut lets = vec![Lets::new(); facts.definitions.len()];
        for Let { node, def, annotation, .. } in facts.lets {
            lets[def as usize].push((node, annotation));
        }
        let annotations = facts.variables.into_iter();
        let result = |function: &Function| {
            let lambda = graph.lambda(function.lambda);
            facts.functions.get(lambda.source as usize).and_then(|known| known.ret.clone())
        };
        Structure {
            annotations: annotations.filter_map(|(id, of)| Some((id, of.annotation?))).collect(),
            results: graph.functions.iter().map(result).collect(),
            lets,
            graph,
        }
    }

    /// Returns the sorted names of the functions that are added in `after`, removed, or not
    /// structurally equal.
    pub fn changed(&self, after: &Structure) -> Vec<Name> {
        let mut left: FxHashMap<&Name, u32> = FxHashMap::default();
        for (number, function) in (0..).zip(&after.graph.functions) {
            left.entry(&function.name).or_insert(number);
        }
        let mut changed = Vec::new();
        for (number, function) in (0..).zip(&self.graph.functions) {
            let other = left.remove(&function.name);
            if !other.is_some_and(|other| are_equal(self, number, after, other)) {
                changed.push(function.name.clone());
            }
        }
        changed.extend(left.into_keys().cloned());
        changed.sort_unstable();
        changed.dedup();
        changed
    }
}

/// The values of the `let` variables of a definition, in order, with their annotations.
type Lets = Vec<(NodeId, Option<Type>)>;

fn are_equal(a: &Structure, before: u32, b: &Structure, after: u32) -> bool {
    let (lambda_a, lambda_b) =
        (a.graph.functions[before as usize].lambda, b.graph.functions[after as usize].lambda);
    let (lets_a, lets_b) = (&a.lets[before as usize], &b.lets[after as usize]);
    let leaves = |of_a: NodeId, of_b: NodeId| {
        let (node_a, node_b) = (a.graph.node(of_a), b.graph.node(of_b));
        match node_a.kind {
            Kind::Param | Kind::FreeVar => a.annotations.get(&of_a) == b.annotations.get(&of_b),
            _ => node_a.label == node_b.label,
        }
    };
    let is_same_result = a.results[before as usize] == b.results[after as usize];
    if lets_a.len() != lets_b.len() || !is_same_result {
        return false;
    }
    let Some(pairs) = equal::pairs((&a.graph, lambda_a), (&b.graph, lambda_b), &leaves) else {
        return false;
    };
    if lets_a.is_empty() {
        return true;
    }
    let partners: FxHashMap<NodeId, NodeId> = pairs.into_iter().collect();
    lets_a.iter().zip(lets_b).all(|((of_a, ty_a), (of_b, ty_b))| {
        let is_leaf = |module: &Structure, id: NodeId| {
            module.graph.nodes.get(id as usize).is_none_or(|node| node.kind.is_leaf())
        };
        let same = match partners.get(of_a) {
            Some(partner) => partner == of_b || is_leaf(b, *of_b),
            // A `let` variable that is bound to a variable has no node of its own.
            None => is_leaf(a, *of_a) && is_leaf(b, *of_b),
        };
        same && ty_a == ty_b
    })
}
