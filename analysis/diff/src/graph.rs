//! The dataflow graph of a module, without names, order or notation.
//!
//! `let` bindings, graph bindings and nested calls all become edges, so that modules that differ
//! only in notation have equal graphs: `let %y = tanh(%x); exp(%y)` and `exp(tanh(%x))`. A node
//! keeps its range, but not its text.

use rustc_hash::FxHashMap;
use semantics::body::Name;
use syntax::{SyntaxError, TextRange};

/// The index of a node in its graph.
pub(crate) type NodeId = u32;

/// No node.
pub(crate) const NONE: NodeId = u32::MAX;

/// The kinds of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// A parameter of a function.
    Param,
    /// `free_var`
    FreeVar,
    /// A number or boolean.
    Literal,
    /// An entry of the metadata section, or `Constant(1, (10, 10), float32)`.
    Constant,
    /// `@f`
    Global,
    /// An operator or a constructor as a value.
    Name,
    /// An unbound variable.
    Unknown,
    /// A recursive use of an enclosing function.
    Recursion,
    /// A syntax error.
    Missing,
    /// A variable of a pattern.
    Pattern,
    /// A tuple.
    Tuple,
    /// A field of a tuple.
    Proj,
    /// A call of an operator or of an unknown name.
    Call,
    /// A call of a constructor.
    Construct,
    /// A call of a function. The callee is the first operand.
    Apply,
    /// `if`: the condition and both results.
    If,
    /// `match`: the scrutinee and the result of each arm.
    Match,
    /// A function: its result. The parameters are in its [`Lambda`].
    Fn,
    /// `ref(e)`. The last operand is the preceding effect, as for the next two.
    RefNew,
    /// `ref_read(r)`
    RefRead,
    /// `ref_write(r, e)`
    RefWrite,
}

impl Kind {
    /// Returns true for nodes without operands. It makes no difference whether such a value is bound
    /// once or repeated.
    pub(crate) fn is_leaf(self) -> bool {
        matches!(
            self,
            Kind::Param
                | Kind::FreeVar
                | Kind::Literal
                | Kind::Constant
                | Kind::Global
                | Kind::Name
                | Kind::Unknown
                | Kind::Recursion
                | Kind::Missing
        )
    }
}

/// A value of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// A hash of the node without its operands: operator, attributes, content.
    pub(crate) label: u64,
    /// A hash of the kind and the callee.
    pub(crate) family: u64,
    /// The index of the first operand in [`Graph::edges`].
    pub(crate) first: u32,
    /// The number of operands.
    pub(crate) count: u32,
    /// The number of the definition.
    pub(crate) def: u32,
    /// The enclosing function, or [`NONE`].
    pub(crate) owner: u32,
    /// The lambda of a function, the lambda to which a parameter belongs, the field of a projection, or
    /// the index of what is known of a call or global ([`Facts`](crate::facts::Facts)).
    pub(crate) extra: u32,
    /// The node itself or the one that it was copied from, by which its type is known; [`NONE`] for a
    /// definition and a use of a variable that is not a value.
    pub(crate) source: NodeId,
    /// The range in the file, without comments.
    pub(crate) range: TextRange,
}

/// The purpose of a function, from its attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A definition or a plain function expression.
    Plain,
    /// `Primitive`, `Composite` or `Compiler`: a group of calls that is compiled as a unit.
    Fused,
}

/// A function: a definition, or a function expression.
#[derive(Clone, Debug)]
pub(crate) struct Lambda {
    /// The node of the function.
    pub(crate) node: NodeId,
    pub(crate) params: Vec<NodeId>,
    pub(crate) result: NodeId,
    /// The first node of the body, which extends to `node` and includes inner functions.
    pub(crate) first: NodeId,
    /// The enclosing function, or [`NONE`].
    pub(crate) parent: u32,
    /// The number of the definition.
    pub(crate) def: u32,
    /// True for a definition, false for a function expression.
    pub(crate) is_definition: bool,
    /// The function itself or the one that it was copied from.
    pub(crate) source: u32,
    pub(crate) role: Role,
    /// True if the function uses itself.
    pub(crate) recursive: bool,
}

/// The graph of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<NodeId>,
    pub(crate) lambdas: Vec<Lambda>,
    /// The functions that are definitions, in the order of the module.
    pub(crate) functions: Vec<Function>,
    /// The ranges of the syntax errors, those of which only TVM's parser complains aside.
    errors: Vec<TextRange>,
}

/// A function or expression definition.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// The name with its sigil; empty for a bare expression.
    pub(crate) name: Name,
    /// The index of the function.
    pub(crate) lambda: u32,
}

impl Graph {
    /// Returns the empty graph of a text with these syntax errors.
    pub(crate) fn of_text(errors: &[SyntaxError]) -> Graph {
        let errors = errors.iter().filter(|error| !error.kind.is_compat());
        Graph { errors: errors.map(|error| error.range).collect(), ..Graph::default() }
    }

    /// Returns true if a syntax error is within an expression or directly after it: `add(`.
    pub(crate) fn is_broken(&self, id: NodeId) -> bool {
        let range = self.node(id).range;
        self.errors.iter().any(|error| error.intersect(range).is_some())
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn operands(&self, id: NodeId) -> &[NodeId] {
        let node = self.node(id);
        &self.edges[node.first as usize..(node.first + node.count) as usize]
    }

    pub(crate) fn lambda(&self, id: u32) -> &Lambda {
        &self.lambdas[id as usize]
    }

    /// Adds a node with its operands.
    pub(crate) fn push(&mut self, mut node: Node, operands: &[NodeId]) -> NodeId {
        node.first = self.edges.len() as u32;
        node.count = operands.len() as u32;
        self.edges.extend_from_slice(operands);
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }
}

/// Combines two hashes. The order matters.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
    (product as u64) ^ ((product >> 64) as u64) ^ a.rotate_left(17)
}

/// Returns a hash of a value that is equal in every process.
pub(crate) fn hash_of(value: impl std::hash::Hash) -> u64 {
    use std::hash::Hasher;
    let mut hasher = std::hash::DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the family of `Global` nodes of a name.
pub(crate) fn global_family(name: &Name) -> u64 {
    mix(Kind::Global as u64 + 1, hash_of(name))
}

/// Returns the first function of each name by the family of the `Global` nodes that refer to it.
pub(crate) fn by_name(graph: &Graph) -> FxHashMap<u64, u32> {
    let mut found = FxHashMap::default();
    for (number, function) in graph.functions.iter().enumerate() {
        found.entry(global_family(&function.name)).or_insert(number as u32);
    }
    found
}
