//! The inference table: types under construction in a union-find structure.
//!
//! A node corresponds to a type node of TVM: expressions with unified types share one node. This
//! matters for known types too: if `?` is unified with a size, the node becomes `?`, and all
//! expressions that share it have `?` from then on, as in TVM.
//!
//! The term of a node never changes once it is known. If the unification of two types results in a
//! third one, both nodes are linked to a new node. A tuple built from a field of type
//! `Tensor[(10), float32]` therefore keeps that type, as in TVM, although the field itself may
//! become `Tensor[(?), float32]`. Only fields that were unknown when the tuple was built are
//! resolved to their current types ([`Table::part`]).
//!
//! Variables have levels: the time of their creation, lowered to that of any older variable with
//! which they are unified. The variables that belong to the value of a binding alone are those with
//! a level not below the time at which its inference began, and these are generalised:
//!
//! ```text
//! let %id = fn (%x) { %x };      the type of %x is younger than the binding: fn [A](A) -> A
//! ```
//!
//! The graph of nodes is acyclic: [`Table::adjust`] performs the occurs check before two nodes are
//! linked.

mod literals;
mod params;
mod parts;
mod resolve;
mod unify;
mod variables;

use std::{cell::Cell, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use smol_str::SmolStr;

use self::parts::Parts;

pub use resolve::Resolver;
pub use variables::{Var, Vars};

use crate::{
    DTypeClass, DTypeTerm, DTypeVar, DataType, Dim, DimVar, Kind, NodeId, OpenTensor, ParamId,
    PolyType, ShapeTerm, ShapeVar, Type, TypeVar, info::Flags, map::open_tensor,
};

pub(crate) type Nodes = SmallVec<[NodeId; 4]>;

/// A point in the time of a table: the age of variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Level(u32);

impl Level {
    /// The level of variables that are never generalised, older than any other.
    pub const NEVER: Level = Level(0);
    /// The level of the first variable of a table.
    pub const FIRST: Level = Level(1);
}

/// The content of a node.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    /// An unknown type.
    Var(Level),
    /// A type whose parts have no nodes.
    Leaf(Type),
    Tuple(Nodes),
    Func(Box<FuncTerm>),
    Ref(NodeId),
    Adt(SmolStr, Nodes),
    Index(Kind, NodeId),
}

#[derive(Clone, Debug)]
pub(crate) struct FuncTerm {
    pub(crate) params: Nodes,
    pub(crate) ret: NodeId,
}

#[derive(Clone, Debug)]
struct Node {
    /// The parent in the union-find forest. A cell, so that [`Table::find`] can compress paths.
    parent: Cell<u32>,
    /// The number of the last graph walk that visited the node.
    seen: u32,
    term: Term,
}

/// The sides of a unification that are linked to the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assign {
    /// Both sides.
    Both,
    /// The left side only. The right one, the argument of a call, keeps its type.
    Left,
}

/// The inference table.
#[derive(Default)]
pub struct Table {
    nodes: Vec<Node>,
    shapes: Parts<ShapeTerm>,
    dtypes: Parts<DTypeTerm>,
    /// The classes of the data type variables.
    classes: Vec<DTypeClass>,
    dims: Parts<Dim>,
    /// The data type variables that stand for parameters of a class in an instance.
    of_params: FxHashSet<u32>,
    /// Data type variables of literals, with their defaults.
    literals: Vec<(DTypeVar, DataType)>,
    /// Relations to wake when a variable becomes known.
    waiting: FxHashMap<Var, SmallVec<[u32; 2]>>,
    /// Relations to run again.
    pub(crate) woken: Vec<u32>,
    /// The levels of type parameters that must not escape their functions.
    rigid: FxHashMap<ParamId, Level>,
    /// The classes of the data type parameters that the body of a function may restrict, see
    /// [`Table::open_class`].
    classes_of_params: FxHashMap<ParamId, DTypeClass>,
    /// Set if a known type has changed: a size was unified with `?`.
    entangled: bool,
    /// Number of open type variables.
    open: usize,
    /// Number of variables and checked type parameters created.
    clock: u32,
    /// Number of type parameters created.
    params: u32,
    /// The number of the last graph walk.
    walk: u32,
    /// The recursion depth of the current unification.
    nesting: u8,
    /// Number of mismatching parts in the current unification.
    mismatches: u16,
    #[cfg(debug_assertions)]
    generation: u32,
}

impl Table {
    /// Creates an empty table.
    pub fn new() -> Table {
        Table::default()
    }

    /// Removes all types, but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.shapes.clear();
        self.dtypes.clear();
        self.classes.clear();
        self.of_params.clear();
        self.dims.clear();
        self.literals.clear();
        self.waiting.clear();
        self.woken.clear();
        self.rigid.clear();
        self.classes_of_params.clear();
        self.entangled = false;
        self.open = 0;
        self.clock = 0;
        self.params = 0;
        self.walk = 0;
        #[cfg(debug_assertions)]
        {
            self.generation += 1;
        }
    }

    /// Returns the number of nodes, for limits on the cost of inference.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the table has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns true if a known type has changed, so that its earlier uses saw another one.
    pub fn is_entangled(&self) -> bool {
        self.entangled
    }

    /// Returns the number of open type variables.
    pub fn open_vars(&self) -> usize {
        self.open
    }

    /// Returns true if a variable for a shape, size or data type was created.
    pub fn has_parts(&self) -> bool {
        !(self.shapes.is_empty() && self.dtypes.is_empty() && self.dims.is_empty())
    }

    /// Returns true if a shape, a size or a data type may be open although no type is: the implicit
    /// type arguments of a generic function.
    pub fn may_have_open_parts(&self) -> bool {
        let dtypes = self.dtypes.len() > self.literals.len();
        dtypes || !self.shapes.is_empty() || !self.dims.is_empty()
    }

    fn id(&self, index: u32) -> NodeId {
        NodeId {
            index,
            #[cfg(debug_assertions)]
            generation: self.generation,
        }
    }

    fn at(&self, node: NodeId) -> &Node {
        #[cfg(debug_assertions)]
        assert_eq!(node.generation, self.generation, "a node of another table");
        &self.nodes[node.index as usize]
    }

    fn at_mut(&mut self, node: NodeId) -> &mut Node {
        #[cfg(debug_assertions)]
        assert_eq!(node.generation, self.generation, "a node of another table");
        &mut self.nodes[node.index as usize]
    }

    fn push(&mut self, term: Term) -> NodeId {
        let id = self.id(self.nodes.len() as u32);
        self.nodes.push(Node { parent: Cell::new(id.index), seen: 0, term });
        id
    }

    /// Returns the current time. Variables created from now on have this level or a later one.
    pub fn level(&self) -> Level {
        Level(self.clock + Level::FIRST.0)
    }

    fn tick(&mut self) -> Level {
        let now = self.level();
        self.clock += 1;
        now
    }

    /// Creates a type variable.
    pub fn fresh(&mut self) -> NodeId {
        self.open += 1;
        let level = self.tick();
        self.push(Term::Var(level))
    }

    /// Creates a shape variable.
    pub fn fresh_shape(&mut self) -> ShapeVar {
        let level = self.tick();
        ShapeVar(self.shapes.fresh(level))
    }

    /// Creates a data type variable.
    pub fn fresh_dtype(&mut self, class: DTypeClass) -> DTypeVar {
        let level = self.tick();
        self.classes.push(class);
        DTypeVar(self.dtypes.fresh(level))
    }

    /// Creates a size variable.
    pub fn fresh_dim(&mut self) -> DimVar {
        let level = self.tick();
        DimVar(self.dims.fresh(level))
    }

    /// Creates a node for `ty`. The variables in `ty` must belong to this table.
    pub fn import(&mut self, ty: &Type) -> NodeId {
        self.import_with(ty, &mut FxHashMap::default())
    }

    /// Recursion is bounded by the depth of types; shared parts get one node.
    fn import_with(&mut self, ty: &Type, memo: &mut FxHashMap<usize, NodeId>) -> NodeId {
        if let Type::Var(TypeVar(node)) = ty {
            return *node;
        }
        // For small types, which are the most frequent, a memo costs more than it saves.
        let memoise = !matches!(ty, Type::Tensor(_) | Type::OpenTensor(_)) && ty.weight() > 64;
        if memoise && let Some(&node) = memo.get(&ty.address()) {
            return node;
        }
        let term = if ty.flags().has(Flags::VAR) { self.term_of(ty, memo) } else { None };
        let node = self.push(term.unwrap_or_else(|| Term::Leaf(ty.clone())));
        if memoise {
            memo.insert(ty.address(), node);
        }
        node
    }

    /// Returns the term for `ty` with nodes for its parts, or `None` if it has no parts.
    fn term_of(&mut self, ty: &Type, memo: &mut FxHashMap<usize, NodeId>) -> Option<Term> {
        let mut all = |table: &mut Table, types: &[Type]| -> Nodes {
            types.iter().map(|ty| table.import_with(ty, memo)).collect()
        };
        Some(match ty {
            Type::Tuple(fields) => Term::Tuple(all(self, fields)),
            Type::Func(func) => {
                let params = all(self, func.params());
                let ret = self.import_with(func.ret(), memo);
                Term::Func(Box::new(FuncTerm { params, ret }))
            }
            Type::Ref(reference) => Term::Ref(self.import_with(reference.inner(), memo)),
            Type::Index(index) => Term::Index(index.kind(), self.import_with(&index.tensor, memo)),
            Type::Adt(adt) => Term::Adt(adt.name().clone(), all(self, adt.args())),
            _ => return None,
        })
    }

    /// Creates a tuple of nodes.
    pub fn tuple(&mut self, fields: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.push(Term::Tuple(fields.into_iter().collect()))
    }

    /// Creates a function over nodes.
    pub fn func(&mut self, params: impl IntoIterator<Item = NodeId>, ret: NodeId) -> NodeId {
        let params = params.into_iter().collect();
        self.push(Term::Func(Box::new(FuncTerm { params, ret })))
    }

    /// Creates a reference to a node.
    pub fn reference(&mut self, inner: NodeId) -> NodeId {
        self.push(Term::Ref(inner))
    }

    /// Creates an algebraic data type over nodes.
    pub fn adt(&mut self, name: SmolStr, args: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.push(Term::Adt(name, args.into_iter().collect()))
    }

    /// Returns the representative of `node`.
    pub fn find(&self, node: NodeId) -> NodeId {
        if self.at(node).parent.get() == node.index {
            return node;
        }
        self.id(parts::root(node.index, |at| &self.nodes[at as usize].parent))
    }

    /// Returns true if the type of `node` is a variable.
    pub fn is_unknown(&self, node: NodeId) -> bool {
        matches!(self.at(self.find(node)).term, Term::Var(_))
    }

    /// Creates nodes for the parts of the representative of `node`, and returns the representative.
    fn expand_in_place(&mut self, node: NodeId) -> NodeId {
        let root = self.find(node);
        let Term::Leaf(ty) = &self.at(root).term else { return root };
        let ty = ty.clone();
        if let Some(term) = self.term_of(&ty, &mut FxHashMap::default()) {
            self.at_mut(root).term = term;
        }
        root
    }

    /// Returns the term of `node`, with nodes for its parts.
    pub(crate) fn expand(&mut self, node: NodeId) -> Term {
        let root = self.expand_in_place(node);
        self.at(root).term.clone()
    }

    /// Returns the node of field `index` of a tuple: `None` if the node is not a tuple,
    /// `Some(None)` if the tuple has no such field.
    pub fn field(&mut self, node: NodeId, index: usize) -> Option<Option<NodeId>> {
        let root = self.find(node);
        // Fast path: import one field instead of all fields of a long tuple.
        if let Term::Leaf(Type::Tuple(fields)) = &self.at(root).term
            && fields.len() > 16
            && !fields.get(index).is_some_and(|field| field.flags().has(Flags::ANY))
        {
            let field = fields.get(index).cloned();
            return Some(field.map(|field| self.import(&field)));
        }
        let root = self.expand_in_place(root);
        match &self.at(root).term {
            Term::Tuple(fields) => Some(fields.get(index).copied()),
            _ => None,
        }
    }

    /// Returns the parameters and the result of a function node.
    pub fn signature(&mut self, node: NodeId) -> Option<(SmallVec<[NodeId; 4]>, NodeId)> {
        match self.expand(node) {
            Term::Func(func) => Some((func.params, func.ret)),
            _ => None,
        }
    }

    /// Returns the referent of a reference node.
    pub fn referent(&mut self, node: NodeId) -> Option<NodeId> {
        match self.expand(node) {
            Term::Ref(inner) => Some(inner),
            _ => None,
        }
    }

    /// Returns the parameters and the result of a function node, polymorphic or not. Those of a
    /// polymorphic type contain loose bound parameters; use them for searching variables only.
    pub fn signature_of(&mut self, node: NodeId) -> Option<(SmallVec<[NodeId; 4]>, NodeId)> {
        match self.as_poly(node) {
            None => self.signature(node),
            Some(poly) => match &poly.body {
                Type::Func(func) => {
                    let params = func.params().iter().map(|ty| self.import(ty)).collect();
                    Some((params, self.import(func.ret())))
                }
                _ => None,
            },
        }
    }

    /// Returns the type of `node` if it is known and has not been expanded into nodes.
    pub fn leaf(&self, node: NodeId) -> Option<&Type> {
        match &self.at(self.find(node)).term {
            Term::Leaf(ty) => Some(ty),
            _ => None,
        }
    }

    /// Returns the polymorphic type of `node`.
    pub fn as_poly(&self, node: NodeId) -> Option<Arc<PolyType>> {
        let Type::Poly(poly) = self.leaf(node)? else { return None };
        if !poly.flags().has(Flags::VAR.or(Flags::PART)) {
            return Some(poly.clone());
        }
        match self.refresh(&Type::Poly(poly.clone())) {
            Type::Poly(poly) => Some(poly),
            _ => None,
        }
    }

    /// Returns the references in the type of `node` outside function types: a value of the type
    /// contains them.
    pub fn references_in(&mut self, node: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut stack = vec![node];
        let mut seen = FxHashSet::default();
        while let Some(node) = stack.pop() {
            let root = self.expand_in_place(node);
            if !seen.insert(root) {
                continue;
            }
            match &self.at(root).term {
                Term::Ref(_) => found.push(root),
                Term::Tuple(parts) | Term::Adt(_, parts) => stack.extend_from_slice(parts),
                Term::Func(_) | Term::Index(..) | Term::Var(_) | Term::Leaf(_) => {}
            }
        }
        found
    }

    /// Returns the parameters of functions in the type of `node`. Visits each node once, and skips
    /// closed types.
    pub fn parameters_in(&mut self, node: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut stack = vec![node];
        let mut seen = FxHashSet::default();
        while let Some(node) = stack.pop() {
            let root = self.find(node);
            if !seen.insert(root) {
                continue;
            }
            if let Term::Leaf(ty) = &self.at(root).term
                && ty.is_closed()
            {
                continue;
            }
            self.expand_in_place(root);
            match &self.at(root).term {
                Term::Func(func) => {
                    found.extend_from_slice(&func.params);
                    stack.push(func.ret);
                }
                Term::Tuple(parts) | Term::Adt(_, parts) => stack.extend_from_slice(parts),
                Term::Ref(inner) | Term::Index(_, inner) => stack.push(*inner),
                Term::Var(_) | Term::Leaf(_) => {}
            }
        }
        found
    }

    /// Returns the node with the type of a part of a type: the part itself if it was known when the
    /// type was built, and otherwise its representative.
    pub fn part(&self, node: NodeId) -> NodeId {
        match self.at(node).term {
            Term::Var(_) | Term::Leaf(Type::Error) => self.find(node),
            _ => node,
        }
    }

    /// Binds a type variable to the error type. Does nothing if the type is known.
    pub fn set_error(&mut self, node: NodeId) {
        let root = self.find(node);
        if matches!(self.at(root).term, Term::Var(_)) {
            self.at_mut(root).term = Term::Leaf(Type::Error);
            self.open -= 1;
            self.wake(Var::Type(root.index));
        }
    }

    /// Registers a relation to be woken when a variable in the types of `nodes` becomes known.
    pub(crate) fn wait(&mut self, relation: u32, nodes: &[NodeId]) {
        let mut vars = Vars::default();
        for &node in nodes {
            self.free_vars(node, Level::NEVER, &mut vars);
        }
        for &var in vars.order() {
            self.waiting.entry(var).or_default().push(relation);
        }
    }

    /// Registers a relation that holds to be woken when an unknown size of its arguments becomes
    /// known: `reshape(%x, newshape=[2, 2])` holds for a `Tensor[(_), float32]`, and not for every
    /// size. Returns false if all sizes are known.
    pub(crate) fn wait_for_sizes(&mut self, relation: u32, args: &[NodeId]) -> bool {
        if self.dims.is_empty() {
            return false;
        }
        let mut vars = Vars::default();
        let inputs = args.split_last().map_or(&[][..], |(_, inputs)| inputs);
        inputs.iter().for_each(|&node| self.free_vars(node, Level::NEVER, &mut vars));
        let mut any = false;
        for &var in vars.order().iter().filter(|var| matches!(var, Var::Dim(_))) {
            self.waiting.entry(var).or_default().push(relation);
            any = true;
        }
        any
    }

    /// Returns the relations that have waited for a variable. Some may have been decided since.
    pub(crate) fn waiting_for(&self, var: Var) -> &[u32] {
        self.waiting.get(&var).map_or(&[], SmallVec::as_slice)
    }

    /// Returns the number of relations that wait for a type variable.
    fn waiting_count(&self, var: NodeId) -> usize {
        if self.waiting.is_empty() { 0 } else { self.waiting_for(Var::Type(var.index)).len() }
    }

    fn wake(&mut self, var: Var) {
        if !self.waiting.is_empty()
            && let Some(relations) = self.waiting.remove(&var)
        {
            self.woken.extend(relations);
        }
    }

    /// Replaces the known variables in `ty`.
    pub fn refresh(&self, ty: &Type) -> Type {
        Resolver::new(self).refresh(ty)
    }

    /// Returns an open tensor with the current value of its data type.
    pub fn known_dtype(&self, open: &OpenTensor) -> Type {
        open_tensor(open.shape.clone(), self.dtype(&open.dtype))
    }
}
