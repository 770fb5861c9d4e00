//! Data types of literals without suffix, which their surroundings decide.

use super::{NodeId, Table, Term, Var, Vars};
use crate::{DTypeClass, DTypeTerm, DTypeVar, DataType, OpenTensor, Shape, ShapeTerm, Type};

impl Table {
    /// The type of a literal without suffix: a scalar of a data type of `class`, which is `default`
    /// if nothing decides otherwise.
    pub fn literal(&mut self, class: DTypeClass, default: DataType) -> NodeId {
        let var = self.fresh_dtype(class);
        self.literals.push((var, default));
        let open = OpenTensor { shape: ShapeTerm::Dims(Shape::new()), dtype: DTypeTerm::Var(var) };
        self.push(Term::Leaf(Type::OpenTensor(open.into())))
    }

    /// Returns true if a literal's data type is undecided.
    pub fn has_open_literals(&self) -> bool {
        self.literals.iter().any(|(var, _)| self.dtypes.is_open(var.0))
    }

    /// Gives every undecided literal its default data type. Returns true if there was one.
    pub fn default_literals(&mut self) -> bool {
        let literals = std::mem::take(&mut self.literals);
        self.default_among(&literals, |_| true)
    }

    /// Gives the undecided literals among `vars` their default data types. Returns true if there
    /// was one.
    pub fn default_some_literals(&mut self, vars: &Vars) -> bool {
        let literals = std::mem::take(&mut self.literals);
        let any = self.default_among(&literals, |var| vars.contains(Var::DType(var.0)));
        self.literals = literals;
        any
    }

    fn default_among(
        &mut self,
        literals: &[(DTypeVar, DataType)],
        wanted: impl Fn(DTypeVar) -> bool,
    ) -> bool {
        let mut any = false;
        for (var, default) in literals {
            if let DTypeTerm::Var(var) = self.dtype(&DTypeTerm::Var(*var))
                && wanted(var)
            {
                let class = self.classes[var.0 as usize];
                let default = if class.admits(*default) { *default } else { DataType::FLOAT32 };
                self.set_dtype(var, DTypeTerm::Known(default));
                any = true;
            }
        }
        any
    }

    /// The variable that a data type is one with, whether or not it is known by now.
    pub fn dtype_root(&self, dtype: &DTypeTerm) -> Option<Var> {
        let DTypeTerm::Var(var) = dtype else { return None };
        Some(Var::DType(self.dtypes.root(var.0)))
    }

    /// A data type as far as it is known.
    pub fn known_dtype_term(&self, dtype: &DTypeTerm) -> DTypeTerm {
        self.dtype(dtype)
    }
}
