//! Unification.

use smallvec::SmallVec;

use super::{Assign, FuncTerm, Level, NodeId, Table, Term, Var};
use crate::{
    Conflict, ConflictKind, DTypeTerm, DTypeVar, DataType, Dim, Kind, Shape, ShapeTerm, ShapeVar,
    Step, Symbol, TensorType, Type,
    info::{Flags, MAX_DEPTH},
};

/// Minimum weight of equal types that are linked as a whole instead of part by part.
const LARGE: u32 = 64;

/// Maximum number of mismatching parts before a unification stops: a shared part fails at each of
/// its occurrences.
const MAX_MISMATCHES: u16 = 64;

impl Table {
    /// Unifies the types of two nodes.
    pub fn unify(&mut self, left: NodeId, right: NodeId) -> Result<(), Box<Conflict>> {
        self.unify_as(left, right, Assign::Both)
    }

    /// Unifies the types of two nodes and links the sides given by `assign` to the result.
    pub fn unify_as(
        &mut self,
        left: NodeId,
        right: NodeId,
        assign: Assign,
    ) -> Result<(), Box<Conflict>> {
        let (l, r) = (self.find(left), self.find(right));
        if l == r {
            return Ok(());
        }
        if let Term::Var(level) = self.at(l).term {
            // Binding a variable wakes the relations that wait for it. Binding the one with fewer
            // relations wakes each relation a logarithmic number of times.
            if let Term::Var(other) = self.at(r).term
                && self.waiting_count(r) < self.waiting_count(l)
            {
                return self.bind(r, other, l);
            }
            return self.bind(l, level, r);
        }
        if let Term::Var(level) = self.at(r).term {
            return self.bind(r, level, l);
        }
        if let (Term::Leaf(a), Term::Leaf(b)) = (&self.at(l).term, &self.at(r).term) {
            match (a, b) {
                (Type::Error, _) | (_, Type::Error) => {}
                // Equal types with parts are unified part by part, so that the parts share nodes.
                _ if (!a.has_parts()
                    || matches!(a, Type::Poly(_))
                    || a.weight() > LARGE && !a.flags().has(Flags::ANY))
                    && (a.is_same(b) || a == b) =>
                {
                    self.link(l, r);
                    return Ok(());
                }
                (Type::Tensor(x), Type::Tensor(y)) => {
                    let (x, y) = (x.clone(), y.clone());
                    let merged = self.unify_tensors(&y, &x)?;
                    self.replace_tensors(l, r, merged, assign);
                    return Ok(());
                }
                (Type::Tensor(_) | Type::OpenTensor(_), Type::Tensor(_) | Type::OpenTensor(_)) => {
                    let (a, b) = (a.clone(), b.clone());
                    self.unify_open(&a, &b)?;
                    self.link(l, r);
                    return Ok(());
                }
                _ => {}
            }
        }
        // Terms may nest as deeply as bindings, unlike types.
        if self.nesting > MAX_DEPTH {
            return Err(self.conflict(l, r, ConflictKind::Depth));
        }
        if self.nesting == 0 {
            self.mismatches = 0;
        }
        self.nesting += 1;
        let unified = self.unify_parts(l, r, assign);
        self.nesting -= 1;
        unified
    }

    fn conflict(&self, left: NodeId, right: NodeId, kind: ConflictKind) -> Box<Conflict> {
        Conflict::new(self.resolve(left), self.resolve(right), kind)
    }

    /// Makes `to` the representative of `from`.
    fn link(&mut self, from: NodeId, to: NodeId) {
        self.at(from).parent.set(to.index);
    }

    /// Binds the variable `var` to `node`. Both are representatives.
    fn bind(&mut self, var: NodeId, level: Level, node: NodeId) -> Result<(), Box<Conflict>> {
        self.adjust(var, level, node).map_err(|kind| self.conflict(var, node, kind))?;
        self.link(var, node);
        self.open -= 1;
        self.wake(Var::Type(var.index));
        Ok(())
    }

    /// Links a node with the error type to `node`, so that expressions that depend on it have a
    /// type, unless the occurs check fails. The variables in `node` are not generalised afterwards.
    fn recover(&mut self, error: NodeId, node: NodeId) {
        if self.adjust(error, Level::NEVER, node).is_ok() {
            self.link(error, node);
        }
    }

    /// Links two tensor nodes to their unified type.
    fn replace_tensors(&mut self, l: NodeId, r: NodeId, merged: Type, assign: Assign) {
        let differs = |t: &Table, n: NodeId| match &t.at(n).term {
            Term::Leaf(ty) => t.refresh(ty) != merged,
            _ => true,
        };
        self.entangled |= differs(self, l) || (assign == Assign::Both && differs(self, r));
        self.merge(l, r, Term::Leaf(merged), assign);
    }

    /// Links the sides given by `assign` to a new node with the term `merged`.
    fn merge(&mut self, l: NodeId, r: NodeId, merged: Term, assign: Assign) {
        let merged = self.push(merged);
        self.link(l, merged);
        if assign == Assign::Both {
            self.link(r, merged);
        }
    }

    /// Returns the unified type of two tensors: `?` for an axis if either size is `?`, and the size
    /// of `a` if both are known and equal.
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
            // Some axes may have bound variables.
            let (left, right) = (self.refresh(&b.clone().into()), self.refresh(&a.clone().into()));
            return Err(Conflict::new(left, right, ConflictKind::Sizes(differ)));
        }
        Ok(TensorType::of(shape, a.dtype).into())
    }

    fn unify_dims(&mut self, a: &Dim, b: &Dim) -> Option<Dim> {
        let (a, b) = (self.dim(a), self.dim(b));
        if a == b {
            return Some(a);
        }
        match (&a, &b) {
            (Dim::Var(var), other) | (other, Dim::Var(var)) => {
                let (index, other) = (var.0, other.clone());
                self.set_dim(index, &other).then_some(other)
            }
            _ if a.has_any() || b.has_any() => Some(Dim::Any),
            (Dim::Known { size: x, .. }, Dim::Known { size: y, .. }) => (x == y).then_some(a),
            // As in TVM, a symbolic size unifies with the known size that it has elsewhere.
            (Dim::Symbol(s), Dim::Known { .. }) if is_variable(s) => Some(b),
            (Dim::Known { .. }, Dim::Symbol(s)) if is_variable(s) => Some(a),
            _ if a.equals(&b) == Some(true) => Some(a),
            _ => {
                // `n * 2` is 8 where `n` is a variable.
                let (var, value) = a.solution(&b)?;
                self.set_dim(var.0, &value).then_some(value).map(|_| self.dim(&a))
            }
        }
    }

    /// Binds size variable `index`. Returns false if `dim` contains the variable or a type
    /// parameter that would escape.
    fn set_dim(&mut self, index: u32, dim: &Dim) -> bool {
        let level = self.dims.level(index);
        let mut fits = true;
        let mut younger: SmallVec<[u32; 2]> = SmallVec::new();
        dim.for_each_leaf(&mut |leaf| match leaf {
            Dim::Var(var) if var.0 == index => fits = false,
            Dim::Var(var) => younger.push(var.0),
            Dim::Symbol(symbol) => {
                if let Symbol::Param(param) = &**symbol {
                    fits &= self.is_in_scope(param.id(), level);
                }
            }
            _ => {}
        });
        if fits {
            younger.into_iter().for_each(|var| self.lower(Var::Dim(var), level));
            self.dims.set(index, dim.clone());
            self.wake(Var::Dim(index));
        }
        fits
    }

    fn is_in_scope(&self, param: crate::ParamId, level: Level) -> bool {
        self.rigid.get(&param).is_none_or(|own| *own <= level)
    }

    /// Binds a data type variable. Returns false if `dtype` is not in its class or would escape.
    pub(super) fn set_dtype(&mut self, var: DTypeVar, dtype: DTypeTerm) -> bool {
        let (class, level) = (self.classes[var.0 as usize], self.dtypes.level(var.0));
        let fits = match &dtype {
            DTypeTerm::Known(dtype) => class.admits(*dtype),
            DTypeTerm::Param(param) => {
                self.is_in_scope(param.id(), level) && self.restrict(param, class)
            }
            DTypeTerm::Var(other) if *other == var => return true,
            DTypeTerm::Var(other) => {
                let own = &mut self.classes[other.0 as usize];
                *own = class.max(*own);
                self.lower(Var::DType(other.0), level);
                true
            }
            DTypeTerm::Bound(_) | DTypeTerm::Unknown => false,
        };
        if fits {
            self.dtypes.set(var.0, dtype);
            self.wake(Var::DType(var.0));
        }
        fits
    }

    fn set_shape(&mut self, var: ShapeVar, shape: &ShapeTerm) -> bool {
        let level = self.shapes.level(var.0);
        let fits = match shape {
            ShapeTerm::Param(param) => self.is_in_scope(param.id(), level),
            ShapeTerm::Var(other) => {
                self.lower(Var::Shape(other.0), level);
                true
            }
            ShapeTerm::Dims(dims) => {
                for dim in dims {
                    let mut vars: SmallVec<[u32; 2]> = SmallVec::new();
                    dim.for_each_leaf(&mut |leaf| {
                        if let Dim::Var(var) = leaf {
                            vars.push(var.0);
                        }
                    });
                    vars.into_iter().for_each(|var| self.lower(Var::Dim(var), level));
                }
                true
            }
            ShapeTerm::Bound(_) | ShapeTerm::Unknown => false,
        };
        if fits {
            self.shapes.set(var.0, shape.clone());
            self.wake(Var::Shape(var.0));
        }
        fits
    }

    /// Binds the data type of a tensor if it is open. Returns false if `dtype` is not in its class.
    pub(crate) fn assign_dtype(&mut self, node: NodeId, dtype: DTypeTerm) -> bool {
        if let Type::OpenTensor(open) = self.resolve(node)
            && let DTypeTerm::Var(var) = self.dtype(&open.dtype)
        {
            return self.set_dtype(var, dtype);
        }
        true
    }

    /// Unifies two data types if both are open.
    pub(crate) fn unify_dtypes(&mut self, a: &DTypeTerm, b: &DTypeTerm) {
        if let (DTypeTerm::Var(x), DTypeTerm::Var(y)) = (self.dtype(a), self.dtype(b)) {
            self.set_dtype(x, DTypeTerm::Var(y));
        }
    }

    /// Unifies two tensors, at least one of them open.
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
                let class = self.classes[var.0 as usize];
                let is_of_param = self.of_params.contains(&var.0);
                if !self.set_dtype(*var, other.clone()) {
                    return conflict(match other {
                        DTypeTerm::Known(_) if is_of_param => ConflictKind::Class(class),
                        _ => ConflictKind::DType,
                    });
                }
            }
            _ => return conflict(ConflictKind::DType),
        }
        match (&shape_a, &shape_b) {
            (x, y) if x == y => {}
            (ShapeTerm::Var(var), other) | (other, ShapeTerm::Var(var)) => {
                if !self.set_shape(*var, other) {
                    return conflict(ConflictKind::Form);
                }
            }
            (ShapeTerm::Dims(x), ShapeTerm::Dims(y)) => {
                if x.len() != y.len() {
                    return conflict(ConflictKind::Rank);
                }
                let differ: SmallVec<[usize; 4]> = (0..x.len())
                    .filter(|&axis| self.unify_dims(&x[axis], &y[axis]).is_none())
                    .collect();
                if !differ.is_empty() {
                    let (left, right) = (self.refresh(&a), self.refresh(&b));
                    return Err(Conflict::new(left, right, ConflictKind::Sizes(differ)));
                }
            }
            _ => return conflict(ConflictKind::Form),
        }
        Ok(())
    }

    /// Recursion is bounded by [`Table::nesting`].
    fn unify_parts(&mut self, l: NodeId, r: NodeId, assign: Assign) -> Result<(), Box<Conflict>> {
        let (a, b) = (self.expand(l), self.expand(r));
        let mut first = Ok(());
        // As in TVM, parts are unified with swapped sides, and both are linked whatever `assign`
        // is.
        let mut one = |t: &mut Table, x: NodeId, y: NodeId, step: Step| {
            // After a mismatch, the other parts are still unified, to infer as much as possible.
            if t.mismatches <= MAX_MISMATCHES
                && let Err(conflict) = t.unify(y, x)
            {
                t.mismatches += 1;
                if first.is_ok() {
                    first = Err(conflict.swapped().inside(step));
                }
            }
            t.find(x)
        };
        let merged = match (a, b) {
            (Term::Leaf(Type::Error), _) => {
                self.recover(l, r);
                return Ok(());
            }
            (_, Term::Leaf(Type::Error)) => {
                if assign == Assign::Both {
                    self.recover(r, l);
                }
                return Ok(());
            }
            (Term::Tuple(x), Term::Tuple(y)) => {
                if x.len() != y.len() {
                    return Err(self.conflict(l, r, ConflictKind::Length));
                }
                let fields = x.iter().zip(&y).enumerate();
                Term::Tuple(fields.map(|(i, (&x, &y))| one(self, x, y, Step::Field(i))).collect())
            }
            (Term::Func(x), Term::Func(y)) => {
                if x.params.len() != y.params.len() {
                    return Err(self.conflict(l, r, ConflictKind::Arity));
                }
                let ret = one(self, x.ret, y.ret, Step::Ret);
                let params = x.params.iter().zip(&y.params).enumerate();
                let params = params.map(|(i, (&x, &y))| one(self, x, y, Step::Param(i))).collect();
                Term::Func(Box::new(FuncTerm { params, ret }))
            }
            (Term::Ref(x), Term::Ref(y)) => Term::Ref(one(self, x, y, Step::Inner)),
            (Term::Index(kind, x), Term::Index(other, y)) if kind == other => {
                self.unify_index(kind, x, y)?;
                self.link(l, r);
                return Ok(());
            }
            // A known data type is the type of its scalars, see [`Type::argument`].
            (Term::Index(kind @ Kind::BaseType, x), Term::Leaf(Type::Tensor(_))) => {
                self.unify_index(kind, x, r)?;
                self.link(l, r);
                return Ok(());
            }
            (Term::Leaf(Type::Tensor(_)), Term::Index(kind @ Kind::BaseType, y)) => {
                self.unify_index(kind, l, y)?;
                self.link(r, l);
                return Ok(());
            }
            // `()` may be a shape.
            (Term::Index(kind @ Kind::Shape, x), Term::Tuple(fields)) if fields.is_empty() => {
                let scalar = self.push(Term::Leaf(Type::scalar(DataType::VOID)));
                return self.unify_index(kind, x, scalar);
            }
            (Term::Tuple(fields), Term::Index(kind @ Kind::Shape, y)) if fields.is_empty() => {
                let scalar = self.push(Term::Leaf(Type::scalar(DataType::VOID)));
                return self.unify_index(kind, scalar, y);
            }
            (Term::Adt(name, x), Term::Adt(other, y)) => {
                if name != other || x.len() != y.len() {
                    return Err(self.conflict(l, r, ConflictKind::Form));
                }
                let args = x.iter().zip(&y).enumerate();
                let args = args.map(|(i, (&x, &y))| one(self, x, y, Step::Arg(i))).collect();
                Term::Adt(name, args)
            }
            (Term::Leaf(x @ Type::Poly(_)), y) => return self.unify_poly(&x, l, r, &y),
            (x, Term::Leaf(y @ Type::Poly(_))) => return self.unify_poly(&y, r, l, &x),
            _ => return Err(self.conflict(l, r, ConflictKind::Form)),
        };
        if first.is_ok() {
            self.merge(l, r, merged, assign);
        }
        first
    }

    /// Unifies the tensors that contain two arguments of a data type.
    fn unify_index(&mut self, kind: Kind, l: NodeId, r: NodeId) -> Result<(), Box<Conflict>> {
        let mut unified = self.unify(l, r);
        if let Err(conflict) = &mut unified
            && !matches!(conflict.kind, ConflictKind::Sizes(_))
        {
            for side in [&mut conflict.left, &mut conflict.right] {
                *side = Type::index(kind, side.clone());
            }
        }
        unified
    }

    /// Unifies an instance of a polymorphic function type with another function type, whose own
    /// parameters are rigid. All other uses of polymorphic types are instantiated before they are
    /// unified.
    fn unify_poly(
        &mut self,
        poly: &Type,
        node: NodeId,
        other: NodeId,
        term: &Term,
    ) -> Result<(), Box<Conflict>> {
        let arity = match term {
            Term::Func(func) => Some(func.params.len()),
            Term::Leaf(ty) => ty.arity(),
            _ => None,
        };
        let Type::Poly(poly) = poly else { return Ok(()) };
        let own = Type::Poly(poly.clone()).arity();
        if arity.is_none() || arity != own {
            let form = arity.is_none() || own.is_none();
            let kind = if form { ConflictKind::Form } else { ConflictKind::Arity };
            return Err(self.conflict(node, other, kind));
        }
        let (instance, ..) = self.instantiate(poly);
        if let Term::Leaf(Type::Poly(rigid)) = term {
            let level = self.level();
            let (_, rigid, _) = self.skolemize(rigid, level);
            return self.unify(instance, rigid);
        }
        self.unify(instance, other)
    }
}

fn is_variable(symbol: &Symbol) -> bool {
    matches!(symbol, Symbol::Variable { .. })
}
