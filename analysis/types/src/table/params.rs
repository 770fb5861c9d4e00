//! Instantiation and generalisation in the table.

use smol_str::SmolStr;

use super::{Level, NodeId, Table, Term, Var};
use crate::{
    Constraint, DTypeClass, DTypeTerm, DTypeVar, DataType, Dim, Kind, Param, ParamId, PolyType,
    ShapeTerm, Type, TypeArg, TypeParam, TypeVar,
};

impl Table {
    /// Instantiates `poly` with fresh variables. Returns the node, the constraints and the
    /// variables.
    pub fn instantiate(&mut self, poly: &PolyType) -> (NodeId, Box<[Constraint]>, Vec<TypeArg>) {
        let args: Vec<TypeArg> = poly.params().iter().map(|param| self.open_param(param)).collect();
        let (node, constraints) = self.instantiate_with(poly, &args);
        (node, constraints, args)
    }

    /// Instantiates `poly` with the given arguments.
    pub fn instantiate_with(
        &mut self,
        poly: &PolyType,
        args: &[TypeArg],
    ) -> (NodeId, Box<[Constraint]>) {
        let instance = poly.open(args);
        (self.import(&instance.ty), instance.constraints)
    }

    /// Creates a fresh variable for a parameter.
    pub fn open_param(&mut self, param: &TypeParam) -> TypeArg {
        match param.kind {
            Kind::Type => TypeArg::Type(Type::Var(TypeVar(self.fresh()))),
            Kind::Shape => TypeArg::Shape(ShapeTerm::Var(self.fresh_shape())),
            Kind::BaseType => {
                // If inference does not determine it, it defaults like an unsuffixed literal.
                let var = self.fresh_dtype(param.class);
                if param.class != DTypeClass::Any {
                    self.of_params.insert(var.0);
                }
                let default = match param.class {
                    DTypeClass::Float => DataType::FLOAT32,
                    DTypeClass::Any | DTypeClass::Number => DataType::INT32,
                };
                self.literals.push((var, default));
                TypeArg::DType(DTypeTerm::Var(var))
            }
            Kind::ShapeVar => TypeArg::Dim(Dim::Var(self.fresh_dim())),
        }
    }

    /// Creates a type parameter. If it is `checked`, it must not escape into the types of older
    /// variables.
    pub fn fresh_param(&mut self, declared: TypeParam, checked: bool) -> Param {
        let level = checked.then(|| self.tick());
        self.param_of_level(declared, level)
    }

    fn param_of_level(&mut self, declared: TypeParam, level: Option<Level>) -> Param {
        let id = ParamId::inferred(self.params);
        self.params += 1;
        if let Some(level) = level {
            self.rigid.insert(id, level);
        }
        Param::of(declared, id)
    }

    /// Skolemizes `poly`: instantiates it with fresh rigid parameters, which must not escape into
    /// the types of variables older than `level`. Returns the parameters, the node and the
    /// constraints, which may be assumed.
    pub fn skolemize(
        &mut self,
        poly: &PolyType,
        level: Level,
    ) -> (Vec<Param>, NodeId, Box<[Constraint]>) {
        let params = poly.params().iter();
        let params: Vec<Param> =
            params.map(|param| self.param_of_level(param.clone(), Some(level))).collect();
        let args: Vec<TypeArg> = params.iter().map(Param::as_arg).collect();
        let (node, constraints) = self.instantiate_with(poly, &args);
        (params, node, constraints)
    }

    /// Generalises a variable to a new type parameter.
    pub fn quantify(&mut self, var: Var, name: SmolStr) -> Param {
        let (kind, class) = match var {
            Var::Type(_) => (Kind::Type, DTypeClass::Any),
            Var::Shape(_) => (Kind::Shape, DTypeClass::Any),
            Var::DType(var) => (Kind::BaseType, self.classes[var as usize]),
            Var::Dim(_) => (Kind::ShapeVar, DTypeClass::Any),
        };
        let param = self.fresh_param(TypeParam { name, kind, class, inferred: true }, true);
        self.set_param(var, &param);
        self.waiting.remove(&var);
        param
    }

    fn set_param(&mut self, var: Var, param: &Param) {
        match var {
            Var::Type(index) => {
                self.nodes[index as usize].term = Term::Leaf(Type::Param(param.clone()));
                self.open -= 1;
            }
            Var::Shape(index) => {
                self.shapes.set(index, ShapeTerm::Param(param.clone()));
            }
            Var::DType(index) => {
                self.dtypes.set(index, DTypeTerm::Param(param.clone()));
            }
            Var::Dim(index) => {
                self.dims.set(index, Dim::param(param.clone()));
            }
        }
    }

    /// Returns the type parameter that is the data type of the scalar `node`.
    pub fn scalar_param(&self, node: NodeId) -> Option<Param> {
        match self.resolve(node) {
            Type::OpenTensor(open) => match &open.dtype {
                DTypeTerm::Param(param) => Some(param.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Reopens a variable at `level` directly after its generalisation. The polymorphic type, which
    /// is closed, does not change.
    pub fn reopen(&mut self, var: Var, level: Level) {
        match var {
            Var::Type(index) => {
                self.nodes[index as usize].term = Term::Var(level);
                self.open += 1;
            }
            Var::Shape(index) => self.shapes.reopen(index, level),
            Var::DType(index) => self.dtypes.reopen(index, level),
            Var::Dim(index) => self.dims.reopen(index, level),
        }
    }

    /// Generalises a reopened variable again, to its previous parameter.
    pub fn requantify(&mut self, var: Var, param: &Param) {
        if self.is_open(var) {
            self.set_param(var, param);
        }
    }

    /// Returns true if a variable is still unknown.
    pub fn is_open(&self, var: Var) -> bool {
        match var {
            Var::Type(index) => self.is_unknown(self.id(index)),
            Var::Shape(index) => self.shapes.is_open(index),
            Var::DType(index) => {
                matches!(self.dtype(&DTypeTerm::Var(DTypeVar(index))), DTypeTerm::Var(_))
            }
            Var::Dim(index) => self.dims.is_open(index),
        }
    }

    /// Binds an open variable to the current value of `arg`. Returns false if that is unknown too.
    pub fn bind_arg(&mut self, var: Var, arg: &TypeArg) -> bool {
        match (var, self.refresh_arg(arg)) {
            (_, TypeArg::Type(Type::Var(_)))
            | (_, TypeArg::Shape(ShapeTerm::Var(_)))
            | (_, TypeArg::DType(DTypeTerm::Var(_)))
            | (_, TypeArg::Dim(Dim::Var(_))) => return false,
            (Var::Type(index), TypeArg::Type(ty)) => {
                let node = self.import(&ty);
                // Cannot fail, because the variable is open.
                let _ = self.unify(self.id(index), node);
            }
            (Var::Shape(index), TypeArg::Shape(shape)) => {
                self.shapes.set(index, shape);
            }
            (Var::DType(index), TypeArg::DType(dtype)) => {
                self.set_dtype(DTypeVar(index), dtype);
            }
            (Var::Dim(index), TypeArg::Dim(dim)) => self.dims.set(index, dim),
            _ => {}
        }
        true
    }

    /// Returns the current value of a type argument.
    pub fn refresh_arg(&self, arg: &TypeArg) -> TypeArg {
        match arg {
            TypeArg::Type(ty) => TypeArg::Type(self.refresh(ty)),
            TypeArg::Shape(shape) => TypeArg::Shape(self.shape(shape)),
            TypeArg::DType(dtype) => TypeArg::DType(self.dtype(dtype)),
            TypeArg::Dim(dim) => TypeArg::Dim(self.dim(dim)),
        }
    }
}
