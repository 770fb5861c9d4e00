//! Data types of unsuffixed literals, inferred from context: in `add(%x, 1)`, from `%x`.

use super::{NodeId, Table, Term, Var, Vars};
use crate::{
    DTypeClass, DTypeTerm, DTypeVar, DataType, OpenTensor, Param, Shape, ShapeTerm, Type, TypeArg,
};

impl Table {
    /// Creates the type of an unsuffixed literal: a scalar with an unknown data type of `class`,
    /// and `default` as a fallback.
    pub fn literal(&mut self, class: DTypeClass, default: DataType) -> NodeId {
        let var = self.fresh_dtype(class);
        self.literals.push((var, default));
        let open = OpenTensor { shape: ShapeTerm::Dims(Shape::new()), dtype: DTypeTerm::Var(var) };
        self.push(Term::Leaf(Type::OpenTensor(open.into())))
    }

    /// Lets the body of the function that declares `param` restrict its data types: `%x + 1` is a
    /// sum for numbers only.
    pub fn open_class(&mut self, param: &Param) {
        self.classes_of_params.insert(param.id(), param.declared().class);
    }

    /// Returns the class of data types of a parameter, as far as it has been restricted.
    pub fn class_of(&self, param: &Param) -> DTypeClass {
        self.classes_of_params.get(&param.id()).copied().unwrap_or(param.declared().class)
    }

    /// Returns true if a type argument is a data type of `class`, or a parameter that can be restricted
    /// to it.
    pub fn admits(&mut self, arg: &TypeArg, class: DTypeClass) -> bool {
        match arg {
            TypeArg::DType(DTypeTerm::Known(dtype)) => class.admits(*dtype),
            TypeArg::DType(DTypeTerm::Param(param)) => self.restrict(param, class),
            _ => true,
        }
    }

    /// Restricts a parameter to data types of `class`. Returns false if it may be any other.
    pub(super) fn restrict(&mut self, param: &Param, class: DTypeClass) -> bool {
        match self.classes_of_params.get_mut(&param.id()) {
            Some(own) => {
                *own = class.max(*own);
                true
            }
            None => param.declared().class >= class,
        }
    }

    /// Returns true if the data type of a literal is unknown.
    pub fn has_open_literals(&self) -> bool {
        self.literals.iter().any(|(var, _)| self.dtypes.is_open(var.0))
    }

    /// Assigns the default data types to all open literals. Returns true if there was one.
    pub fn default_literals(&mut self) -> bool {
        let literals = std::mem::take(&mut self.literals);
        self.default_among(&literals, |_| true)
    }

    /// Assigns the default data types to the open literals among `vars`. Returns true if there was
    /// one.
    pub fn default_some_literals(&mut self, vars: &Vars) -> bool {
        let literals = std::mem::take(&mut self.literals);
        let any = self.default_among(&literals, |var| vars.contains(Var::DType(var.0)));
        self.literals = literals;
        any
    }

    fn default_among(
        &mut self,
        literals: &[(DTypeVar, DataType)],
        filter: impl Fn(DTypeVar) -> bool,
    ) -> bool {
        let mut any = false;
        for (var, default) in literals {
            if let DTypeTerm::Var(var) = self.dtype(&DTypeTerm::Var(*var))
                && filter(var)
            {
                let class = self.classes[var.0 as usize];
                let default = if class.admits(*default) { *default } else { DataType::FLOAT32 };
                self.set_dtype(var, DTypeTerm::Known(default));
                any = true;
            }
        }
        any
    }

    /// Returns the representative of a data type variable, which may be known.
    pub fn dtype_root(&self, dtype: &DTypeTerm) -> Option<Var> {
        let DTypeTerm::Var(var) = dtype else { return None };
        Some(Var::DType(self.dtypes.root(var.0)))
    }

    /// Returns the current value of a data type.
    pub fn known_dtype_term(&self, dtype: &DTypeTerm) -> DTypeTerm {
        self.dtype(dtype)
    }
}
