//! One side of a comparison.

use std::{cell::OnceCell, sync::Arc};

use rustc_hash::FxHashMap;
use semantics::{
    Db, Module,
    body::{Expr, LocalRef, Name},
    infer::Inference,
};
use syntax::TextRange;
use types::Type;

use crate::{
    build::ModuleGraph,
    flat::Inlined,
    graph::{NodeId, Origin},
    report::FunctionRef,
};

/// One of the modules with lazily computed data.
pub(crate) struct Half<'db> {
    pub(crate) module: ModuleGraph<'db>,
    pub(crate) inlined: Inlined,
    inference: Vec<OnceCell<Arc<Inference>>>,
    lets: OnceCell<FxHashMap<NodeId, Vec<Let>>>,
}

/// A `let` variable.
pub(crate) struct Let {
    def: u32,
    binding: LocalRef,
    /// The range of the name and its annotation.
    pub(crate) range: TextRange,
}

impl<'db> Half<'db> {
    pub(crate) fn new(db: &'db dyn Db, module: Module<'db>) -> Half<'db> {
        let module = ModuleGraph::new(db, module);
        let inference = module.sources.iter().map(|_| OnceCell::new()).collect();
        Half { module, inlined: Inlined::default(), inference, lets: OnceCell::new() }
    }

    /// Returns the type of a node; a definition has none.
    pub(crate) fn ty(&self, id: NodeId) -> Option<&Type> {
        let node = self.module.graph.node(id);
        let def = node.def as usize;
        let inference = self.inference[def]
            .get_or_init(|| semantics::inference(self.module.db, self.module.sources[def].def));
        match node.origin {
            Origin::Expr(expr_ref) => {
                Some(inference.units.get(expr_ref.unit.index())?.expr(expr_ref.expr))
            }
            Origin::Binder(binding) => {
                Some(inference.units.get(binding.unit.index())?.binder(binding.binder))
            }
            Origin::Def => None,
        }
    }

    pub(crate) fn reference(&self, number: usize) -> FunctionRef {
        let function = &self.module.graph.functions[number];
        let source = &self.module.sources[number];
        FunctionRef {
            name: function.name.clone(),
            range: source.def.range(self.module.db),
            // This is set after inlining.
            is_part: false,
        }
    }

    /// Returns the `let` variables of each node, in order. Nodes of inlined copies have none.
    pub(crate) fn lets(&self) -> &FxHashMap<NodeId, Vec<Let>> {
        self.lets.get_or_init(|| {
            let mut found: FxHashMap<NodeId, Vec<Let>> = FxHashMap::default();
            for &(node, def, binding) in &self.module.lets {
                let source = &self.module.sources[def as usize];
                let range = source.binder_range(self.module.db, binding);
                found.entry(node).or_default().push(Let { def, binding, range });
            }
            found
        })
    }

    /// Returns the annotation of a `let` variable.
    pub(crate) fn written(&self, of: &Let) -> Option<&Type> {
        let unit = self.module.sources[of.def as usize].body.unit(of.binding.unit);
        unit.binder(of.binding.binder).annotation.as_ref()
    }

    /// Returns the annotation of a parameter.
    pub(crate) fn annotation(&self, id: NodeId) -> Option<&Type> {
        let node = self.module.graph.node(id);
        let Origin::Binder(binding) = node.origin else { return None };
        let body = &self.module.sources[node.def as usize].body;
        body.unit(binding.unit).binder(binding.binder).annotation.as_ref()
    }

    /// Returns the name of a parameter or free variable.
    pub(crate) fn variable_name(&self, id: NodeId) -> Option<&Name> {
        let node = self.module.graph.node(id);
        let Origin::Binder(binding) = node.origin else { return None };
        let body = &self.module.sources[node.def as usize].body;
        Some(&body.unit(binding.unit).binder(binding.binder).name)
    }
}

/// Returns true if two annotations agree. A missing or open annotation agrees with any.
pub(crate) fn same_annotation(a: Option<&Type>, b: Option<&Type>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || !a.is_closed() || !b.is_closed(),
        _ => true,
    }
}

/// Returns the expression of a node.
pub(crate) fn expr_of<'h>(half: &'h Half<'_>, id: NodeId) -> Option<&'h Expr> {
    let node = half.module.graph.node(id);
    let Origin::Expr(expr_ref) = node.origin else { return None };
    Some(half.module.sources[node.def as usize].body.unit(expr_ref.unit).expr(expr_ref.expr))
}
