//! The inference table: types under construction, merged by union and find.
//!
//! A node is what TVM calls a type node: two expressions whose types have been found equal share
//! one node, and what is learned of the one holds for the other. That matters beyond unknown
//! types: where `?` meets a size, the node keeps `?`, and every expression that shares it shows
//! `?` from then on, as it does in TVM.
//!
//! What is known of a node never changes. Where two types meet and become a third, both nodes go
//! over to a new one. So a tuple that was built of `Tensor[(10), float32]` goes on saying so,
//! although the field on its own has become `Tensor[(?), float32]`: the tuple is of the type that
//! its fields had. Only the fields of which nothing was known then say what was found since.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::{
    Constraint, DTypeTerm, DTypeVar, DataType, Dim, DimVar, FuncType, OpenTensor, Shape, ShapeTerm,
    ShapeVar, TensorType, Type, TypeParam, TypeVar,
    subst::{Substitution, open_tensor, substitute},
};

/// A node of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

pub(crate) type Nodes = SmallVec<[NodeId; 4]>;

/// What is known of a node.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    /// Nothing.
    Var,
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
    parent: u32,
    term: Term,
}

/// Why two types do not fit together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The innermost two types that differ.
    pub left: Type,
    /// The innermost two types that differ.
    pub right: Type,
    /// In which way they differ.
    pub kind: ConflictKind,
    /// Tuple fields, parameters and arguments on the way in, the outermost first.
    pub path: SmallVec<[Step; 2]>,
}

/// In which way two types differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConflictKind {
    /// A tensor and a tuple, a function and a list, two different data types.
    Form,
    /// Tensors of different rank.
    Rank,
    /// Tensors of different data type.
    DType,
    /// Tensors whose sizes differ on these axes.
    Sizes(SmallVec<[usize; 4]>),
    /// Tuples of different length.
    Length,
    /// Functions of different arity.
    Arity,
    /// A type that would contain itself.
    Infinite,
}

/// A step into a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A field of a tuple.
    Field(usize),
    /// A parameter of a function.
    Param(usize),
    /// The result of a function.
    Ret,
    /// What a reference holds.
    Inner,
    /// An argument of a data type.
    Arg(usize),
}

impl Conflict {
    fn new(left: Type, right: Type, kind: ConflictKind) -> Box<Conflict> {
        Box::new(Conflict { left, right, kind, path: SmallVec::new() })
    }

    /// The same, seen from the other side.
    fn turned(mut self: Box<Self>) -> Box<Conflict> {
        let Conflict { left, right, .. } = &mut *self;
        std::mem::swap(left, right);
        self
    }

    fn inside(mut self: Box<Self>, step: Step) -> Box<Conflict> {
        self.path.insert(0, step);
        self
    }

    /// The stable code of a diagnostic about it.
    pub fn code(&self) -> &'static str {
        match self.kind {
            ConflictKind::Rank | ConflictKind::Sizes(_) => "shape-mismatch",
            ConflictKind::DType => "dtype-mismatch",
            ConflictKind::Infinite => "infinite-type",
            _ => "type-mismatch",
        }
    }

    /// What differs: sizes or data types of tensors, otherwise the types.
    pub fn clash(&self) -> Vec<String> {
        let (left, right) = (self.left.as_tensor(), self.right.as_tensor());
        match (&self.kind, left, right) {
            (ConflictKind::Sizes(axes), Some(left), Some(right)) => {
                let both = |&axis: &usize| [left.shape.get(axis), right.shape.get(axis)];
                axes.iter().flat_map(both).flatten().map(ToString::to_string).collect()
            }
            (_, Some(left), Some(right)) if left.dtype != right.dtype => {
                vec![left.dtype.to_string(), right.dtype.to_string()]
            }
            _ => vec![self.left.to_string(), self.right.to_string()],
        }
    }

    /// The first axis that differs, if the two are tensors of one rank.
    pub fn axis(&self) -> Option<usize> {
        match &self.kind {
            ConflictKind::Sizes(axes) if self.path.is_empty() => axes.first().copied(),
            _ => None,
        }
    }
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
    shapes: Vec<Option<ShapeTerm>>,
    dtypes: Vec<Option<DTypeTerm>>,
    dims: Vec<Option<Dim>>,
    /// Data types of literals that nothing has decided, with their default.
    literals: Vec<(DTypeVar, DataType)>,
    /// Relations to run again when a variable becomes known.
    waiting: FxHashMap<u32, SmallVec<[u32; 2]>>,
    pub(crate) woken: Vec<u32>,
    /// A type that was known has changed: it met a `?` where it had a size.
    entangled: bool,
    /// How many variables are open.
    open: usize,
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
        self.dims.clear();
        self.literals.clear();
        self.waiting.clear();
        self.woken.clear();
        self.entangled = false;
        self.open = 0;
    }

    /// Whether a type that was known has changed: who saw it before saw another.
    pub fn is_entangled(&self) -> bool {
        self.entangled
    }

    /// How many type variables are not known.
    pub fn open_vars(&self) -> usize {
        self.open
    }

    /// Whether a part of a type may be open though no type is: a shape, a size or a data type that a
    /// generic function was called with, `@f<?, float32>`.
    pub fn may_have_open_parts(&self) -> bool {
        let dtypes = self.dtypes.len() > self.literals.len();
        dtypes || !self.shapes.is_empty() || !self.dims.is_empty()
    }

    fn push(&mut self, term: Term) -> NodeId {
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { parent: id, term });
        NodeId(id)
    }

    /// A type that is not known.
    pub fn fresh(&mut self) -> NodeId {
        self.open += 1;
        self.push(Term::Var)
    }

    /// A shape that is not known.
    pub fn fresh_shape(&mut self) -> ShapeVar {
        self.shapes.push(None);
        ShapeVar(self.shapes.len() as u32 - 1)
    }

    /// A data type that is not known.
    pub fn fresh_dtype(&mut self) -> DTypeVar {
        self.dtypes.push(None);
        DTypeVar(self.dtypes.len() as u32 - 1)
    }

    /// A size that is not known.
    pub fn fresh_dim(&mut self) -> DimVar {
        self.dims.push(None);
        DimVar(self.dims.len() as u32 - 1)
    }

    /// The type of a literal without suffix: a scalar whose data type is `default` if nothing
    /// decides otherwise.
    pub fn literal(&mut self, default: DataType) -> NodeId {
        let var = self.fresh_dtype();
        self.literals.push((var, default));
        let open = OpenTensor { shape: ShapeTerm::Dims(Shape::new()), dtype: DTypeTerm::Var(var) };
        self.push(Term::Leaf(Type::OpenTensor(open.into())))
    }

    /// Whether a literal's data type is undecided.
    pub fn has_open_literals(&self) -> bool {
        self.literals.iter().any(|(var, _)| self.dtypes[var.0 as usize].is_none())
    }

    /// Gives every undecided literal its default data type. Says whether there was one.
    pub fn default_literals(&mut self) -> bool {
        let mut any = false;
        for (var, default) in std::mem::take(&mut self.literals) {
            if let DTypeTerm::Var(var) = self.dtype(&DTypeTerm::Var(var)) {
                self.dtypes[var.0 as usize] = Some(DTypeTerm::Known(default));
                any = true;
            }
        }
        if any {
            self.wake_all();
        }
        any
    }

    /// Gives the undecided literals among `vars` their default data types. Says whether there was
    /// one.
    pub fn default_some_literals(&mut self, vars: &[DTypeVar]) -> bool {
        let mut any = false;
        for (var, default) in self.literals.clone() {
            if let DTypeTerm::Var(var) = self.dtype(&DTypeTerm::Var(var))
                && vars.contains(&var)
            {
                self.dtypes[var.0 as usize] = Some(DTypeTerm::Known(default));
                any = true;
            }
        }
        if any {
            self.wake_all();
        }
        any
    }

    /// Gives a tensor of open data type the data type `dtype`.
    pub(crate) fn decide_dtype(&mut self, node: NodeId, dtype: DataType) {
        if let Type::OpenTensor(open) = self.resolve(node)
            && let DTypeTerm::Var(var) = self.dtype(&open.dtype)
        {
            self.dtypes[var.0 as usize] = Some(DTypeTerm::Known(dtype));
            self.wake_all();
        }
    }

    /// Makes two open data types one.
    pub(crate) fn same_dtype(&mut self, a: &DTypeTerm, b: &DTypeTerm) {
        if let (DTypeTerm::Var(x), DTypeTerm::Var(y)) = (self.dtype(a), self.dtype(b))
            && x != y
        {
            self.dtypes[x.0 as usize] = Some(DTypeTerm::Var(y));
        }
    }

    /// A tensor with the data type that it has got, where its shape is known too.
    pub fn known_dtype(&self, open: &OpenTensor) -> Type {
        open_tensor(open.shape.clone(), self.dtype(&open.dtype))
    }

    /// A node of its own for `ty`.
    pub fn import(&mut self, ty: &Type) -> NodeId {
        if let Type::Var(TypeVar(node)) = ty {
            return NodeId(*node);
        }
        let closed = match ty {
            Type::Tensor(_) | Type::OpenTensor(_) | Type::Param(_) | Type::Error => true,
            other => !has_type_var(other),
        };
        if closed {
            return self.push(Term::Leaf(ty.clone()));
        }
        let term = match ty {
            Type::Tuple(fields) => Term::Tuple(fields.iter().map(|t| self.import(t)).collect()),
            Type::Func(func) if func.type_params.is_empty() => {
                let params = func.params.iter().map(|t| self.import(t)).collect();
                let ret = self.import(&func.ret);
                Term::Func(Box::new(FuncTerm { params, ret }))
            }
            Type::Ref(inner) => Term::Ref(self.import(inner)),
            Type::Adt(adt) => {
                let args = adt.args.iter().map(|t| self.import(t)).collect();
                Term::Adt(adt.name.clone(), args)
            }
            other => Term::Leaf(other.clone()),
        };
        self.push(term)
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

    /// The node that stands for `node` now.
    pub fn find(&self, node: NodeId) -> NodeId {
        let mut at = node.0;
        while self.nodes[at as usize].parent != at {
            at = self.nodes[at as usize].parent;
        }
        NodeId(at)
    }

    fn find_and_shorten(&mut self, node: NodeId) -> NodeId {
        let root = self.find(node);
        let mut at = node.0;
        while self.nodes[at as usize].parent != root.0 {
            at = std::mem::replace(&mut self.nodes[at as usize].parent, root.0);
        }
        root
    }

    /// Whether nothing is known of `node`.
    pub fn is_unknown(&self, node: NodeId) -> bool {
        matches!(self.nodes[self.find(node).0 as usize].term, Term::Var)
    }

    /// The term of `node`, with nodes for its parts.
    pub(crate) fn expand(&mut self, node: NodeId) -> Term {
        let root = self.find_and_shorten(node);
        let Node { term, .. } = &self.nodes[root.0 as usize];
        let Term::Leaf(ty) = term else { return term.clone() };
        let ty = ty.clone();
        let term = match &ty {
            Type::Tuple(fields) => Term::Tuple(fields.iter().map(|t| self.import(t)).collect()),
            Type::Func(func) if func.type_params.is_empty() => {
                let params = func.params.iter().map(|t| self.import(t)).collect();
                let ret = self.import(&func.ret);
                Term::Func(Box::new(FuncTerm { params, ret }))
            }
            Type::Ref(inner) => Term::Ref(self.import(inner)),
            Type::Adt(adt) => {
                let args = adt.args.iter().map(|t| self.import(t)).collect();
                Term::Adt(adt.name.clone(), args)
            }
            _ => return Term::Leaf(ty),
        };
        self.nodes[root.0 as usize].term = term.clone();
        term
    }

    /// The fields of a tuple node.
    pub fn fields(&mut self, node: NodeId) -> Option<SmallVec<[NodeId; 4]>> {
        match self.expand(node) {
            Term::Tuple(fields) => Some(fields),
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

    /// The type of `node` as far as it is known.
    pub fn resolve(&self, node: NodeId) -> Type {
        self.resolve_below(self.find(node), &mut SmallVec::new())
    }

    /// The node that says what a part of a type is: itself, where something was known of it when
    /// the type was built.
    pub fn part(&self, node: NodeId) -> NodeId {
        match self.nodes[node.0 as usize].term {
            Term::Var | Term::Leaf(Type::Error) => self.find(node),
            _ => node,
        }
    }

    /// As [`Table::resolve`], for many nodes one after the other while nothing is found out: what
    /// stands for the same is built once and shared. `known` belongs to one state of the table.
    pub fn resolve_shared(&self, node: NodeId, known: &mut FxHashMap<NodeId, Type>) -> Type {
        let root = self.find(node);
        match &self.nodes[root.0 as usize].term {
            Term::Var => Type::Var(TypeVar(root.0)),
            Term::Leaf(ty) => self.refresh(ty),
            _ => known.entry(root).or_insert_with(|| self.resolve(root)).clone(),
        }
    }

    /// The type of `node` itself, inside of the types on `path`. A type that contains itself, which
    /// is reported where it came about, ends where it begins again.
    fn resolve_below(&self, node: NodeId, path: &mut SmallVec<[NodeId; 8]>) -> Type {
        let term = &self.nodes[node.0 as usize].term;
        match term {
            Term::Var => return Type::Var(TypeVar(node.0)),
            Term::Leaf(ty) => return self.refresh(ty),
            _ if path.contains(&node) => return Type::Error,
            _ => path.push(node),
        }
        let mut part = |part: NodeId| self.resolve_below(self.part(part), path);
        let ty = match term {
            Term::Var | Term::Leaf(_) => Type::Error,
            Term::Tuple(fields) => Type::Tuple(fields.iter().map(|&n| part(n)).collect()),
            Term::Func(func) => FuncType {
                type_params: [].into(),
                params: func.params.iter().map(|&n| part(n)).collect(),
                ret: part(func.ret),
                constraints: [].into(),
            }
            .into(),
            Term::Ref(inner) => Type::Ref(part(*inner).into()),
            Term::Adt(name, args) => Type::adt(name.clone(), args.iter().map(|&n| part(n))),
        };
        path.pop();
        ty
    }

    /// `ty` with what has been found for its open shapes, sizes and data types.
    fn refresh(&self, ty: &Type) -> Type {
        match ty {
            Type::Tensor(tensor) if !self.dims.is_empty() => {
                let open = tensor.shape.iter().any(|d| matches!(d, Dim::Var(_)));
                if !open {
                    return ty.clone();
                }
                Type::tensor(tensor.shape.iter().map(|d| self.dim(d)), tensor.dtype)
            }
            Type::OpenTensor(open) => {
                let dtype = self.dtype(&open.dtype);
                let shape = self.shape(&open.shape);
                match (shape, dtype) {
                    (ShapeTerm::Dims(shape), DTypeTerm::Known(dtype)) => Type::tensor(shape, dtype),
                    (shape, dtype) => Type::OpenTensor(OpenTensor { shape, dtype }.into()),
                }
            }
            Type::Tuple(_) | Type::Func(_) | Type::Ref(_) | Type::Adt(_)
                if !(self.dims.is_empty() && self.dtypes.is_empty() && self.shapes.is_empty()) =>
            {
                crate::subst::map_leaves(ty, &mut |leaf| self.refresh(leaf))
            }
            _ => ty.clone(),
        }
    }

    fn dim(&self, dim: &Dim) -> Dim {
        match dim {
            Dim::Var(var) => match &self.dims[var.0 as usize] {
                Some(bound) => self.dim(bound),
                None => dim.clone(),
            },
            _ => dim.clone(),
        }
    }

    fn dtype(&self, dtype: &DTypeTerm) -> DTypeTerm {
        match dtype {
            DTypeTerm::Var(var) => match &self.dtypes[var.0 as usize] {
                Some(bound) => self.dtype(bound),
                None => dtype.clone(),
            },
            _ => dtype.clone(),
        }
    }

    fn shape(&self, shape: &ShapeTerm) -> ShapeTerm {
        match shape {
            ShapeTerm::Var(var) => match &self.shapes[var.0 as usize] {
                Some(bound) => self.shape(bound),
                None => shape.clone(),
            },
            ShapeTerm::Dims(dims) => ShapeTerm::Dims(dims.iter().map(|d| self.dim(d)).collect()),
            ShapeTerm::Param(_) => shape.clone(),
        }
    }

    /// Makes the two one type.
    pub fn unify(&mut self, left: NodeId, right: NodeId) -> Result<(), Box<Conflict>> {
        self.unify_as(left, right, Assign::Both)
    }

    /// Makes the two one type, as far as `assign` says.
    pub fn unify_as(
        &mut self,
        left: NodeId,
        right: NodeId,
        assign: Assign,
    ) -> Result<(), Box<Conflict>> {
        let (l, r) = (self.find_and_shorten(left), self.find_and_shorten(right));
        if l == r {
            return Ok(());
        }
        let is_var = |n: NodeId, t: &Table| matches!(t.nodes[n.0 as usize].term, Term::Var);
        if is_var(l, self) {
            return self.bind(l, r);
        }
        if is_var(r, self) {
            return self.bind(r, l);
        }
        if let (Term::Leaf(a), Term::Leaf(b)) =
            (&self.nodes[l.0 as usize].term, &self.nodes[r.0 as usize].term)
        {
            match (a, b) {
                (Type::Error, _) => {
                    self.nodes[l.0 as usize].parent = r.0;
                    return Ok(());
                }
                (_, Type::Error) => {
                    if assign == Assign::Both {
                        self.nodes[r.0 as usize].parent = l.0;
                    }
                    return Ok(());
                }
                // What has parts meets part by part, although they are equal: they become one.
                _ if !has_parts(a) && (a.is_same(b) || a == b) => {
                    self.nodes[l.0 as usize].parent = r.0;
                    return Ok(());
                }
                (Type::Tensor(x), Type::Tensor(y)) => {
                    let (x, y) = (x.clone(), y.clone());
                    let merged = self.unify_tensors(&y, &x)?;
                    self.settle(l, r, merged, assign);
                    return Ok(());
                }
                (Type::Tensor(_) | Type::OpenTensor(_), Type::Tensor(_) | Type::OpenTensor(_)) => {
                    let (a, b) = (a.clone(), b.clone());
                    self.unify_open(&a, &b)?;
                    self.nodes[l.0 as usize].parent = r.0;
                    return Ok(());
                }
                _ => {}
            }
        }
        self.unify_parts(l, r, assign)
    }

    /// `var` becomes one with `node`.
    fn bind(&mut self, var: NodeId, node: NodeId) -> Result<(), Box<Conflict>> {
        if !matches!(self.nodes[node.0 as usize].term, Term::Leaf(_) | Term::Var)
            && self.occurs(var, node)
        {
            let (left, right) = (self.resolve(var), self.resolve(node));
            return Err(Conflict::new(left, right, ConflictKind::Infinite));
        }
        self.nodes[var.0 as usize].parent = node.0;
        self.open -= 1;
        if !self.waiting.is_empty()
            && let Some(relations) = self.waiting.remove(&var.0)
        {
            self.woken.extend(relations);
        }
        Ok(())
    }

    fn occurs(&self, var: NodeId, node: NodeId) -> bool {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let root = self.find(node);
            if root == var {
                return true;
            }
            match &self.nodes[root.0 as usize].term {
                Term::Var | Term::Leaf(_) => {}
                Term::Tuple(parts) | Term::Adt(_, parts) => stack.extend(parts),
                Term::Func(func) => {
                    stack.extend(&func.params);
                    stack.push(func.ret);
                }
                Term::Ref(inner) => stack.push(*inner),
            }
        }
        false
    }

    /// Two tensor nodes have become `merged`.
    fn settle(&mut self, l: NodeId, r: NodeId, merged: Type, assign: Assign) {
        let differs = |t: &Table, n: NodeId| match &t.nodes[n.0 as usize].term {
            Term::Leaf(ty) => t.refresh(ty) != merged,
            _ => true,
        };
        self.entangled |= differs(self, l) || (assign == Assign::Both && differs(self, r));
        self.merge(l, r, Term::Leaf(merged), assign);
    }

    /// Two nodes have become `merged`, as far as `assign` says.
    fn merge(&mut self, l: NodeId, r: NodeId, merged: Term, assign: Assign) {
        let merged = self.push(merged);
        self.nodes[l.0 as usize].parent = merged.0;
        if assign == Assign::Both {
            self.nodes[r.0 as usize].parent = merged.0;
        }
    }

    /// The type of which both are instances. The first operand's sizes win where both are known.
    fn unify_tensors(&mut self, a: &TensorType, b: &TensorType) -> Result<Type, Box<Conflict>> {
        let conflict = |kind| Err(Conflict::new(b.clone().into(), a.clone().into(), kind));
        if a.dtype != b.dtype {
            return conflict(ConflictKind::DType);
        }
        if a.rank() != b.rank() {
            return conflict(ConflictKind::Rank);
        }
        let mut differ: SmallVec<[usize; 4]> = SmallVec::new();
        let mut shape = Shape::new();
        for (axis, (x, y)) in a.shape.iter().zip(&b.shape).enumerate() {
            match self.unify_dims(x, y) {
                Some(dim) => shape.push(dim),
                None => differ.push(axis),
            }
        }
        if !differ.is_empty() {
            return conflict(ConflictKind::Sizes(differ));
        }
        Ok(Type::tensor(shape, a.dtype))
    }

    fn unify_dims(&mut self, a: &Dim, b: &Dim) -> Option<Dim> {
        let (a, b) = (self.dim(a), self.dim(b));
        if a == b {
            return Some(a);
        }
        match (&a, &b) {
            (Dim::Var(var), other) | (other, Dim::Var(var)) => {
                self.dims[var.0 as usize] = Some(other.clone());
                self.wake_all();
                Some(other.clone())
            }
            _ if a.has_any() || b.has_any() => Some(Dim::Any),
            (Dim::Known { size: x, .. }, Dim::Known { size: y, .. }) => (x == y).then_some(a),
            // A symbolic size in a module that fixes it elsewhere.
            (Dim::Symbol(s), Dim::Known { .. }) if is_variable(s) => Some(b),
            (Dim::Known { .. }, Dim::Symbol(s)) if is_variable(s) => Some(a),
            _ => None,
        }
    }

    /// Tensors of which something is open.
    fn unify_open(&mut self, a: &Type, b: &Type) -> Result<(), Box<Conflict>> {
        let (a, b) = (self.refresh(a), self.refresh(b));
        if let (Type::Tensor(x), Type::Tensor(y)) = (&a, &b) {
            return self.unify_tensors(y, x).map(|_| ());
        }
        let parts = |ty: &Type| match ty {
            Type::Tensor(t) => (ShapeTerm::Dims(t.shape.clone()), DTypeTerm::Known(t.dtype)),
            Type::OpenTensor(open) => (open.shape.clone(), open.dtype.clone()),
            _ => (ShapeTerm::Dims(Shape::new()), DTypeTerm::Known(DataType::VOID)),
        };
        let ((shape_a, dtype_a), (shape_b, dtype_b)) = (parts(&a), parts(&b));
        let conflict = |kind| Err(Conflict::new(a.clone(), b.clone(), kind));
        match (&dtype_a, &dtype_b) {
            (x, y) if x == y => {}
            (DTypeTerm::Var(var), other) | (other, DTypeTerm::Var(var)) => {
                self.dtypes[var.0 as usize] = Some(other.clone());
                self.wake_all();
            }
            _ => return conflict(ConflictKind::DType),
        }
        match (&shape_a, &shape_b) {
            (x, y) if x == y => {}
            (ShapeTerm::Var(var), other) | (other, ShapeTerm::Var(var)) => {
                self.shapes[var.0 as usize] = Some(other.clone());
                self.wake_all();
            }
            (ShapeTerm::Dims(x), ShapeTerm::Dims(y)) => {
                if x.len() != y.len() {
                    return conflict(ConflictKind::Rank);
                }
                let differ: SmallVec<[usize; 4]> = (0..x.len())
                    .filter(|&axis| self.unify_dims(&x[axis], &y[axis]).is_none())
                    .collect();
                if !differ.is_empty() {
                    return conflict(ConflictKind::Sizes(differ));
                }
            }
            _ => return conflict(ConflictKind::Form),
        }
        Ok(())
    }

    fn unify_parts(&mut self, l: NodeId, r: NodeId, assign: Assign) -> Result<(), Box<Conflict>> {
        let (a, b) = (self.expand(l), self.expand(r));
        let conflict = |t: &Table, kind| Err(Conflict::new(t.resolve(l), t.resolve(r), kind));
        let mut first = Ok(());
        // Parts meet the other way round, and both change, whichever of the wholes does: so it is
        // in TVM.
        let mut one = |t: &mut Table, x: NodeId, y: NodeId, step: Step| {
            if let (Ok(()), Err(conflict)) = (&first, t.unify(y, x)) {
                first = Err(conflict.turned().inside(step));
            }
            t.find_and_shorten(x)
        };
        let merged = match (a, b) {
            (Term::Leaf(Type::Error), _) => {
                self.nodes[l.0 as usize].parent = r.0;
                return Ok(());
            }
            (_, Term::Leaf(Type::Error)) => {
                if assign == Assign::Both {
                    self.nodes[r.0 as usize].parent = l.0;
                }
                return Ok(());
            }
            (Term::Tuple(x), Term::Tuple(y)) => {
                if x.len() != y.len() {
                    return conflict(self, ConflictKind::Length);
                }
                let fields = x.iter().zip(&y).enumerate();
                Term::Tuple(fields.map(|(i, (&x, &y))| one(self, x, y, Step::Field(i))).collect())
            }
            (Term::Func(x), Term::Func(y)) => {
                if x.params.len() != y.params.len() {
                    return conflict(self, ConflictKind::Arity);
                }
                let ret = one(self, x.ret, y.ret, Step::Ret);
                let params = x.params.iter().zip(&y.params).enumerate();
                let params = params.map(|(i, (&x, &y))| one(self, x, y, Step::Param(i))).collect();
                Term::Func(Box::new(FuncTerm { params, ret }))
            }
            (Term::Ref(x), Term::Ref(y)) => Term::Ref(one(self, x, y, Step::Inner)),
            (Term::Adt(name, x), Term::Adt(other, y)) => {
                if name != other || x.len() != y.len() {
                    return conflict(self, ConflictKind::Form);
                }
                let args = x.iter().zip(&y).enumerate();
                let args = args.map(|(i, (&x, &y))| one(self, x, y, Step::Arg(i))).collect();
                Term::Adt(name, args)
            }
            (Term::Leaf(Type::Func(x)), y) => return self.unify_generic(&x, l, r, &y),
            (x, Term::Leaf(Type::Func(y))) => return self.unify_generic(&y, r, l, &x),
            _ => return conflict(self, ConflictKind::Form),
        };
        if first.is_ok() {
            self.merge(l, r, merged, assign);
        }
        first
    }

    /// A function with type parameters of its own, against another function: the parameters stand
    /// for whatever makes the two equal.
    fn unify_generic(
        &mut self,
        func: &FuncType,
        node: NodeId,
        other: NodeId,
        term: &Term,
    ) -> Result<(), Box<Conflict>> {
        let arity = match term {
            Term::Func(f) => f.params.len(),
            Term::Leaf(Type::Func(f)) => f.params.len(),
            _ => usize::MAX,
        };
        if arity != func.params.len() {
            let kind = if arity == usize::MAX { ConflictKind::Form } else { ConflictKind::Arity };
            return Err(Conflict::new(self.resolve(node), self.resolve(other), kind));
        }
        let instance = self.instantiate(func).0;
        if let Term::Leaf(Type::Func(generic)) = term {
            // The other side's parameters are the rigid ones.
            let rigid = FuncType { type_params: [].into(), ..(**generic).clone() };
            let rigid = self.import(&rigid.into());
            return self.unify(instance, rigid);
        }
        self.unify(instance, other)
    }

    /// `func` with fresh variables for its type parameters; its node and the constraints that the
    /// instance brings.
    pub fn instantiate(&mut self, func: &FuncType) -> (NodeId, Vec<Constraint>) {
        let mut subst = Substitution::default();
        for param in &func.type_params {
            self.open_param(&mut subst, param);
        }
        self.instantiate_with(func, &subst)
    }

    /// `func` with the given types for its type parameters.
    pub fn instantiate_with(
        &mut self,
        func: &FuncType,
        subst: &Substitution,
    ) -> (NodeId, Vec<Constraint>) {
        let open = |t: &Type| substitute(t, subst);
        let params: Nodes = func.params.iter().map(|t| self.import(&open(t))).collect();
        let ret = self.import(&open(&func.ret));
        let constraints = func.constraints.iter().map(|c| Constraint {
            relation: c.relation.clone(),
            args: c.args.iter().map(open).collect(),
        });
        let constraints = constraints.collect();
        (self.func(params, ret), constraints)
    }

    /// Adds a fresh variable for `param` to `subst`.
    pub fn open_param(&mut self, subst: &mut Substitution, param: &TypeParam) {
        match param.kind {
            crate::Kind::Type => {
                let var = self.fresh();
                subst.types.insert(param.id, Type::Var(TypeVar(var.0)));
            }
            crate::Kind::Shape => {
                let var = self.fresh_shape();
                subst.shapes.insert(param.id, ShapeTerm::Var(var));
            }
            crate::Kind::BaseType => {
                // What nothing decides is what a literal without suffix would be.
                let var = self.fresh_dtype();
                self.literals.push((var, DataType::INT32));
                subst.dtypes.insert(param.id, DTypeTerm::Var(var));
            }
            crate::Kind::ShapeVar => {
                let var = self.fresh_dim();
                subst.dims.insert(param.id, Dim::Var(var));
            }
        }
    }

    /// Puts a type parameter where nothing is known.
    pub fn make_rigid(&mut self, node: NodeId, param: TypeParam) {
        let root = self.find(node);
        if matches!(self.nodes[root.0 as usize].term, Term::Var) {
            self.nodes[root.0 as usize].term = Term::Leaf(Type::Param(param));
            self.open -= 1;
        }
    }

    /// Puts a type parameter in the place of a shape that is not known.
    pub fn make_shape_rigid(&mut self, var: ShapeVar, param: TypeParam) {
        self.shapes[var.0 as usize].get_or_insert(ShapeTerm::Param(param));
    }

    /// Puts a type parameter in the place of a data type that is not known.
    pub fn make_dtype_rigid(&mut self, var: DTypeVar, param: TypeParam) {
        self.dtypes[var.0 as usize].get_or_insert(DTypeTerm::Param(param));
    }

    /// Puts a type parameter in the place of a size that is not known.
    pub fn make_dim_rigid(&mut self, var: DimVar, param: &TypeParam) {
        let symbol = Dim::symbol(param.name.clone(), crate::SymbolId::of_param(param.id));
        self.dims[var.0 as usize].get_or_insert(symbol);
    }

    /// Puts the error type where nothing is known.
    pub fn give_up(&mut self, node: NodeId) {
        let root = self.find(node);
        if matches!(self.nodes[root.0 as usize].term, Term::Var) {
            self.nodes[root.0 as usize].term = Term::Leaf(Type::Error);
            self.open -= 1;
            if let Some(relations) = self.waiting.remove(&root.0) {
                self.woken.extend(relations);
            }
        }
    }

    /// Runs relation number `relation` again when something becomes known of `nodes`.
    pub(crate) fn wait(&mut self, relation: u32, nodes: &[NodeId]) {
        let mut stack: SmallVec<[NodeId; 8]> = SmallVec::from_slice(nodes);
        while let Some(node) = stack.pop() {
            let root = self.find(node);
            match &self.nodes[root.0 as usize].term {
                Term::Var => {
                    self.waiting.entry(root.0).or_default().push(relation);
                }
                Term::Tuple(parts) | Term::Adt(_, parts) => stack.extend(parts.iter().copied()),
                Term::Func(func) => {
                    stack.extend(func.params.iter().copied());
                    stack.push(func.ret);
                }
                Term::Ref(inner) => stack.push(*inner),
                Term::Leaf(ty) => {
                    if !self.refresh(ty).is_closed() {
                        self.waiting.entry(u32::MAX).or_default().push(relation);
                    }
                }
            }
        }
    }

    /// Something became known that is not a type of its own: a size, a data type, a shape.
    fn wake_all(&mut self) {
        if let Some(relations) = self.waiting.remove(&u32::MAX) {
            self.woken.extend(relations);
        }
    }
}

fn is_variable(symbol: &crate::Symbol) -> bool {
    matches!(symbol, crate::Symbol::Variable { .. })
}

/// Whether a type is built of types that a node can stand for.
fn has_parts(ty: &Type) -> bool {
    match ty {
        Type::Tuple(_) | Type::Ref(_) | Type::Adt(_) => true,
        Type::Func(func) => func.type_params.is_empty(),
        Type::Tensor(_) | Type::OpenTensor(_) | Type::Param(_) | Type::Var(_) | Type::Error => {
            false
        }
    }
}

fn has_type_var(ty: &Type) -> bool {
    match ty {
        Type::Var(_) => true,
        Type::Tensor(_) | Type::OpenTensor(_) | Type::Param(_) | Type::Error => false,
        Type::Tuple(fields) => fields.iter().any(has_type_var),
        Type::Func(func) => func.params.iter().any(has_type_var) || has_type_var(&func.ret),
        Type::Ref(inner) => has_type_var(inner),
        Type::Adt(adt) => adt.args.iter().any(has_type_var),
    }
}
