//! The inference table: types under construction, merged by union and find.
//!
//! A node is what TVM calls a type node: two expressions whose types have been found equal share
//! one node, and what is learned of the one holds for the other. That matters beyond unknown
//! types: where `?` meets a size, the node keeps `?`, and every expression that shares it shows
//! `?` from then on, as it does in TVM.
//!
//! What is known of a node never changes. Where two types meet and become a third, both nodes are
//! linked to a new one. So a tuple that was built of `Tensor[(10), float32]` still says so although
//! the field on its own has become `Tensor[(?), float32]`: the tuple is of the type that its fields
//! had. Only those fields of which nothing was known then say what was found since.
//!
//! Variables have levels: the time at which they were made. A variable that meets an older one
//! takes its level. So the variables that belong to the value of a binding alone are those whose
//! level is not below the time at which its inference began, and these are generalised.
//!
//! The graph of nodes has no cycles: whatever links a node to another one looks first whether that
//! one contains it ([`Table::adjust`]).

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
    DTypeClass, DTypeTerm, DTypeVar, DataType, Dim, DimVar, OpenTensor, ParamId, PolyType,
    ShapeTerm, ShapeVar, Type, TypeVar, info::Flags, map::open_tensor,
};

/// A node of a table. In debug builds it knows the state of the table that it belongs to, and is
/// refused by any other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId {
    index: u32,
    #[cfg(debug_assertions)]
    generation: u32,
}

pub(crate) type Nodes = SmallVec<[NodeId; 4]>;

/// A point in the time of a table, for the age of variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Level(u32);

impl Level {
    /// Older than any variable is made: the level of those that are not generalised at all.
    pub const NEVER: Level = Level(0);
    /// The level of the first variable of a table.
    pub const FIRST: Level = Level(1);
}

/// What is known of a node.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    /// Nothing.
    Var(Level),
    /// A type whose parts have no nodes of their own, yet.
    Leaf(Type),
    Tuple(Nodes),
    Func(Box<FuncTerm>),
    Ref(NodeId),
    Adt(SmolStr, Nodes),
}

#[derive(Clone, Debug)]
pub(crate) struct FuncTerm {
    pub(crate) params: Nodes,
    pub(crate) ret: NodeId,
}

#[derive(Clone, Debug)]
struct Node {
    /// Towards the node that represents this one. A cell, so that [`Table::find`] shortens the path.
    parent: Cell<u32>,
    /// The last walk over the graph that came by.
    seen: u32,
    term: Term,
}

/// Which sides of a unification take part in the union.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assign {
    /// Both become one node.
    Both,
    /// The right side keeps what it was: the argument of a call, against the parameter.
    Left,
}

/// The inference table.
#[derive(Default)]
pub struct Table {
    nodes: Vec<Node>,
    shapes: Parts<ShapeTerm>,
    dtypes: Parts<DTypeTerm>,
    /// The data types that each open one may become.
    classes: Vec<DTypeClass>,
    dims: Parts<Dim>,
    /// Data types of literals that nothing has decided, with their default.
    literals: Vec<(DTypeVar, DataType)>,
    /// Relations to run again when a variable becomes known.
    waiting: FxHashMap<Var, SmallVec<[u32; 2]>>,
    pub(crate) woken: Vec<u32>,
    /// The levels of the type parameters of functions, which do not leave them.
    rigid: FxHashMap<ParamId, Level>,
    /// A type that was known has changed: it met a `?` where it had a size.
    entangled: bool,
    /// How many type variables are open.
    open: usize,
    /// How many variables and type parameters there have been.
    clock: u32,
    /// How many type parameters have been made.
    params: u32,
    /// The number of the last walk over the graph.
    walk: u32,
    /// How deep the unification under way is.
    nesting: u8,
    /// How many parts have not fitted in the unification under way.
    misfits: u16,
    #[cfg(debug_assertions)]
    generation: u32,
}

impl Table {
    /// An empty table.
    pub fn new() -> Table {
        Table::default()
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.shapes.clear();
        self.dtypes.clear();
        self.classes.clear();
        self.dims.clear();
        self.literals.clear();
        self.waiting.clear();
        self.woken.clear();
        self.rigid.clear();
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

    /// The number of nodes, for limits on the work of an inference.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the table has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns true if a type that was known has changed: uses before saw another one.
    pub fn is_entangled(&self) -> bool {
        self.entangled
    }

    /// How many type variables are not known.
    pub fn open_vars(&self) -> usize {
        self.open
    }

    /// Returns true if there has been an open shape, size or data type.
    pub fn has_parts(&self) -> bool {
        !(self.shapes.is_empty() && self.dtypes.is_empty() && self.dims.is_empty())
    }

    /// Returns true if a part of a type may be open though no type is: a shape, a size or a data
    /// type that a generic function was called with, `@f<?, float32>`.
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

    /// The present time. Variables made from now on have this level or a later one.
    pub fn level(&self) -> Level {
        Level(self.clock + Level::FIRST.0)
    }

    fn tick(&mut self) -> Level {
        let now = self.level();
        self.clock += 1;
        now
    }

    /// A type that is not known.
    pub fn fresh(&mut self) -> NodeId {
        self.open += 1;
        let level = self.tick();
        self.push(Term::Var(level))
    }

    /// A shape that is not known.
    pub fn fresh_shape(&mut self) -> ShapeVar {
        let level = self.tick();
        ShapeVar(self.shapes.fresh(level))
    }

    /// A data type that is not known.
    pub fn fresh_dtype(&mut self, class: DTypeClass) -> DTypeVar {
        let level = self.tick();
        self.classes.push(class);
        DTypeVar(self.dtypes.fresh(level))
    }

    /// A size that is not known.
    pub fn fresh_dim(&mut self) -> DimVar {
        let level = self.tick();
        DimVar(self.dims.fresh(level))
    }

    /// A node of its own for `ty`. The variables in `ty` are those of the table.
    pub fn import(&mut self, ty: &Type) -> NodeId {
        self.import_below(ty, &mut FxHashMap::default())
    }

    /// Recursion is bounded by the depth of types; shared parts get one node.
    fn import_below(&mut self, ty: &Type, known: &mut FxHashMap<usize, NodeId>) -> NodeId {
        if let Type::Var(TypeVar(node)) = ty {
            return *node;
        }
        // Most types are small, and a table of what has been seen costs more than they do.
        let remember = !matches!(ty, Type::Tensor(_) | Type::OpenTensor(_)) && ty.weight() > 64;
        if remember && let Some(&node) = known.get(&ty.address()) {
            return node;
        }
        if !ty.flags().has(Flags::VAR) {
            let node = self.push(Term::Leaf(ty.clone()));
            if remember {
                known.insert(ty.address(), node);
            }
            return node;
        }
        let mut all = |table: &mut Table, types: &[Type]| -> Nodes {
            types.iter().map(|ty| table.import_below(ty, known)).collect()
        };
        let term = match ty {
            Type::Tuple(fields) => Term::Tuple(all(self, fields)),
            Type::Func(func) => {
                let params = all(self, func.params());
                let ret = self.import_below(func.ret(), known);
                Term::Func(Box::new(FuncTerm { params, ret }))
            }
            Type::Ref(reference) => Term::Ref(self.import_below(reference.inner(), known)),
            Type::Adt(adt) => Term::Adt(adt.name().clone(), all(self, adt.args())),
            other => Term::Leaf(other.clone()),
        };
        let node = self.push(term);
        if remember {
            known.insert(ty.address(), node);
        }
        node
    }

    /// A tuple of nodes.
    pub fn tuple(&mut self, fields: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.push(Term::Tuple(fields.into_iter().collect()))
    }

    /// A function over nodes.
    pub fn func(&mut self, params: impl IntoIterator<Item = NodeId>, ret: NodeId) -> NodeId {
        let params = params.into_iter().collect();
        self.push(Term::Func(Box::new(FuncTerm { params, ret })))
    }

    /// A reference to a node.
    pub fn reference(&mut self, inner: NodeId) -> NodeId {
        self.push(Term::Ref(inner))
    }

    /// An algebraic data type over nodes.
    pub fn adt(&mut self, name: SmolStr, args: impl IntoIterator<Item = NodeId>) -> NodeId {
        self.push(Term::Adt(name, args.into_iter().collect()))
    }

    /// The node that represents `node` now.
    pub fn find(&self, node: NodeId) -> NodeId {
        if self.at(node).parent.get() == node.index {
            return node;
        }
        self.id(parts::root(node.index, |at| &self.nodes[at as usize].parent))
    }

    /// Returns true if nothing is known of `node`.
    pub fn is_unknown(&self, node: NodeId) -> bool {
        matches!(self.at(self.find(node)).term, Term::Var(_))
    }

    /// Gives the root of `node` nodes for its parts, where its type has parts.
    fn expand_in_place(&mut self, node: NodeId) -> NodeId {
        let root = self.find(node);
        let Term::Leaf(ty) = &self.at(root).term else { return root };
        let ty = ty.clone();
        let mut known = FxHashMap::default();
        let mut all = |table: &mut Table, types: &[Type]| {
            types.iter().map(|ty| table.import_below(ty, &mut known)).collect()
        };
        let term = match &ty {
            Type::Tuple(fields) => Term::Tuple(all(self, fields)),
            Type::Func(func) => {
                let params = all(self, func.params());
                let ret = self.import_below(func.ret(), &mut known);
                Term::Func(Box::new(FuncTerm { params, ret }))
            }
            Type::Ref(reference) => Term::Ref(self.import(reference.inner())),
            Type::Adt(adt) => Term::Adt(adt.name().clone(), all(self, adt.args())),
            _ => return root,
        };
        self.at_mut(root).term = term;
        root
    }

    /// The term of `node`, with nodes for its parts.
    pub(crate) fn expand(&mut self, node: NodeId) -> Term {
        let root = self.expand_in_place(node);
        self.at(root).term.clone()
    }

    /// The node of field `index` of a tuple node: nothing for anything else, and inside `Some`
    /// nothing where the tuple has no such field.
    pub fn field(&mut self, node: NodeId, index: usize) -> Option<Option<NodeId>> {
        let root = self.find(node);
        // A long tuple from outside is not taken apart for each of its projections.
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

    /// Parameters and result of a function node.
    pub fn signature(&mut self, node: NodeId) -> Option<(SmallVec<[NodeId; 4]>, NodeId)> {
        match self.expand(node) {
            Term::Func(func) => Some((func.params, func.ret)),
            _ => None,
        }
    }

    /// What a reference node holds.
    pub fn referent(&mut self, node: NodeId) -> Option<NodeId> {
        match self.expand(node) {
            Term::Ref(inner) => Some(inner),
            _ => None,
        }
    }

    /// Parameters and result of a function node, polymorphic or not. Those of a polymorphic one are
    /// good for looking for variables in them, and for nothing else.
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

    /// The type of `node`, where it has not been taken apart and is not open.
    pub fn leaf(&self, node: NodeId) -> Option<&Type> {
        match &self.at(self.find(node)).term {
            Term::Leaf(ty) => Some(ty),
            _ => None,
        }
    }

    /// The polymorphic type that `node` is.
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

    /// The references in the type of `node` that exist when there is a value of it: not those that a
    /// function makes when it is called.
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
                Term::Func(_) | Term::Var(_) | Term::Leaf(_) => {}
            }
        }
        found
    }

    /// The parameters of functions in the type of `node` that are open: what is given to such a
    /// function decides them. Each node is visited once.
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
                Term::Ref(inner) => stack.push(*inner),
                Term::Var(_) | Term::Leaf(_) => {}
            }
        }
        found
    }

    /// The node that says what a part of a type is: itself, where something was known of it when
    /// the type was built.
    pub fn part(&self, node: NodeId) -> NodeId {
        match self.at(node).term {
            Term::Var(_) | Term::Leaf(Type::Error) => self.find(node),
            _ => node,
        }
    }

    /// Puts the error type where nothing is known.
    pub fn give_up(&mut self, node: NodeId) {
        let root = self.find(node);
        if matches!(self.at(root).term, Term::Var(_)) {
            self.at_mut(root).term = Term::Leaf(Type::Error);
            self.open -= 1;
            self.wake(Var::Type(root.index));
        }
    }

    /// Runs relation number `relation` again when something becomes known of `nodes`. Returns false
    /// if all of them are known.
    pub(crate) fn wait(&mut self, relation: u32, nodes: &[NodeId]) -> bool {
        let mut vars = Vars::default();
        for &node in nodes {
            self.free_vars(node, Level::NEVER, &mut vars);
        }
        for &var in vars.order() {
            self.waiting.entry(var).or_default().push(relation);
        }
        !vars.is_empty()
    }

    /// The relations that wait for a variable. Some of them may not wait any more.
    pub(crate) fn waiting_for(&self, var: Var) -> &[u32] {
        self.waiting.get(&var).map_or(&[], SmallVec::as_slice)
    }

    /// The number of relations that wait for a variable, which is a root.
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

    /// `ty` as far as it is known, with the variables in it that are known replaced.
    pub fn refresh(&self, ty: &Type) -> Type {
        Resolver::new(self).refresh(ty)
    }

    /// A tensor with the data type that it has got, where its shape is known too.
    pub fn known_dtype(&self, open: &OpenTensor) -> Type {
        open_tensor(open.shape.clone(), self.dtype(&open.dtype))
    }
}
