//! Names, attributes, types and ranges of the expressions of a module, for comparisons.
//!
//! The bodies and the source map, of which this is an excerpt, take ten times the memory.

use rustc_hash::FxHashMap;
use semantics::body::Name;
use smol_str::SmolStr;
use syntax::TextRange;
use types::{AttrValue, Attrs, Type};

use crate::graph::{Graph, Kind, Lambda, NodeId};

/// The properties of the expressions of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The definitions, indexed by [`Node::def`](crate::graph::Node::def).
    pub(crate) definitions: Vec<Definition>,
    /// The functions, indexed by [`Lambda::source`].
    pub(crate) functions: Vec<FunctionFacts>,
    /// The parameters and free variables by node.
    pub(crate) variables: FxHashMap<NodeId, Variable>,
    /// The `let` variables, in order.
    pub(crate) lets: Vec<Let>,
    /// The calls, indexed by [`Node::extra`](crate::graph::Node::extra).
    pub(crate) calls: Vec<CallFacts>,
    /// The names of globals, indexed likewise.
    pub(crate) globals: Vec<Name>,
    /// The types of nodes, indexed by [`Node::source`](crate::graph::Node::source).
    pub(crate) types: Vec<Option<Type>>,
}

/// A function or expression definition.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: Name,
    /// The range in the file.
    pub(crate) range: TextRange,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionFacts {
    pub(crate) attrs: Vec<(SmolStr, AttrValue)>,
    /// The number of its parameters.
    pub(crate) params: usize,
    /// The annotation of its result.
    pub(crate) ret: Option<Type>,
}

/// A parameter or free variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Name,
    pub(crate) annotation: Option<Type>,
}

/// A `let` variable.
#[derive(Clone, Debug)]
pub(crate) struct Let {
    /// Its value.
    pub(crate) node: NodeId,
    /// The number of the definition.
    pub(crate) def: u32,
    /// The range of the name and its annotation.
    pub(crate) range: TextRange,
    pub(crate) annotation: Option<Type>,
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct CallFacts {
    /// The name of the operator or constructor; empty for the call of a function.
    pub(crate) name: SmolStr,
    /// False for a name that is not an operator.
    pub(crate) is_operator: bool,
    /// The range of the callee.
    pub(crate) callee: TextRange,
    /// The ranges of the arguments.
    pub(crate) args: Box<[TextRange]>,
    /// The attributes, including those in the metadata section.
    pub(crate) attrs: Attrs,
    pub(crate) written: Box<[WrittenAttr]>,
}

/// An attribute as it is written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenAttr {
    pub(crate) name: SmolStr,
    pub(crate) value: AttrValue,
    /// The range of the name and the value.
    pub(crate) range: TextRange,
}

impl Facts {
    /// Returns the type of a node; a definition has none.
    pub(crate) fn ty(&self, graph: &Graph, id: NodeId) -> Option<&Type> {
        self.types.get(graph.node(id).source as usize)?.as_ref()
    }

    /// Returns the call of a node.
    pub(crate) fn call(&self, graph: &Graph, id: NodeId) -> Option<&CallFacts> {
        let node = graph.node(id);
        let is_call = matches!(node.kind, Kind::Call | Kind::Construct | Kind::Apply);
        self.calls.get(node.extra as usize).filter(|_| is_call)
    }

    pub(crate) fn function(&self, lambda: &Lambda) -> Option<&FunctionFacts> {
        self.functions.get(lambda.source as usize)
    }

    /// Returns the parameter or free variable of a node.
    pub(crate) fn variable(&self, graph: &Graph, id: NodeId) -> Option<&Variable> {
        self.variables.get(&graph.node(id).source)
    }
}
