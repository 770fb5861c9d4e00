//! One side of a comparison.

use semantics::{Db, Module, body::Name};
use types::Type;

use crate::{
    build::{Detail, ModuleGraph},
    facts::{Facts, Let},
    flat::Inlining,
    graph::{Graph, NodeId},
    report::FunctionRef,
};

/// One of the modules.
#[derive(Clone)]
pub(crate) struct Half {
    pub(crate) graph: Graph,
    /// The properties of its expressions. The `let` variables are in the order of their values.
    facts: Facts,
    pub(crate) inlined: Inlining,
}

impl Half {
    pub(crate) fn new<'db>(db: &'db dyn Db, module: Module<'db>) -> Half {
        let ModuleGraph { graph, mut facts } = ModuleGraph::new(db, module, Detail::All);
        facts.lets.sort_by_key(|of| of.node);
        let mut half = Half { graph, facts, inlined: Inlining::default() };
        half.shrink();
        half
    }

    /// Frees the memory into which the lists could grow: a comparison holds two modules.
    fn shrink(&mut self) {
        self.graph.nodes.shrink_to_fit();
        self.graph.edges.shrink_to_fit();
        self.facts.calls.shrink_to_fit();
        self.facts.types.shrink_to_fit();
        self.facts.lets.shrink_to_fit();
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the type of a node; a definition has none.
    pub(crate) fn ty(&self, id: NodeId) -> Option<&Type> {
        self.facts.ty(&self.graph, id)
    }

    pub(crate) fn reference(&self, number: usize) -> FunctionRef {
        FunctionRef {
            name: self.graph.functions[number].name.clone(),
            range: self.facts.definitions[number].range,
            // This is set after inlining.
            is_part: false,
        }
    }

    /// Returns the `let` variables of a node, in order. Nodes of inlined copies have none.
    pub(crate) fn lets(&self, id: NodeId) -> &[Let] {
        let lets = &self.facts.lets;
        let first = lets.partition_point(|of| of.node < id);
        let count = lets[first..].iter().take_while(|of| of.node == id).count();
        &lets[first..first + count]
    }

    /// Returns true if there are no `let` variables.
    pub(crate) fn has_no_lets(&self) -> bool {
        self.facts.lets.is_empty()
    }

    /// Returns the annotation of a parameter.
    pub(crate) fn annotation(&self, id: NodeId) -> Option<&Type> {
        self.facts.variable(&self.graph, id)?.annotation.as_ref()
    }

    /// Returns the name of a parameter or free variable.
    pub(crate) fn variable_name(&self, id: NodeId) -> Option<&Name> {
        self.facts.variable(&self.graph, id).map(|variable| &variable.name)
    }
}

/// Returns true if two annotations agree. A missing or open annotation agrees with any.
pub(crate) fn same_annotation(a: Option<&Type>, b: Option<&Type>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || !a.is_closed() || !b.is_closed(),
        _ => true,
    }
}
