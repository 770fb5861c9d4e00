//! Data types of unsuffixed literals, inferred from context: in `add(%x, 1)`, from `%x`.

use super::{NodeId, Table, Term, Var, Vars};
use crate::{DTypeClass, DTypeTerm, DTypeVar, DataType, OpenTensor, Shape, ShapeTerm, Type};

impl Table {
    /// Creates the type of an unsuffixed literal: a scalar with an unknown data type of `class`,
    /// and `default` as a fallback.
    pub fn literal(&mut self, class: DTypeClass, default: DataType) -> NodeId {
        let var = self.fresh_dtype(class);
        self.literals.push((var, default));
        let open = OpenTensor { shape: ShapeTerm::Dims(Shape::new()), dtype: DTypeTerm::Var(var) };
        self.push(Term::Leaf(Type::OpenTensor(open.into())))
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
