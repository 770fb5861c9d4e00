//! Comparison of types up to the names of their parameters.

use types::{DTypeTerm, Dim, Param, ParamId, PolyType, ShapeTerm, Symbol, Type};

/// A mapping from the parameters of one type to parts of another type.
#[derive(Default)]
struct Pairs {
    found: Vec<(ParamId, Part)>,
    /// True if parameters of the second type may be instantiated.
    instances: bool,
}

/// The kind of a parameter.
#[derive(Clone, PartialEq)]
enum Part {
    Type(Type),
    Shape(ShapeTerm),
    DType(DTypeTerm),
    Dim(Dim),
}

/// Returns true if two types are equal up to the names of their parameters and the order of their
/// constraints. Open types match any type.
pub(super) fn is_same_scheme(a: &Type, b: &Type) -> bool {
    let mut there = Pairs::default();
    let mut back = Pairs::default();
    there.fits(a, b) && back.fits(b, a)
}

/// Returns true if `special` is an instance of `general`.
pub(super) fn is_instance(special: &Type, general: &Type) -> bool {
    Pairs { instances: true, ..Pairs::default() }.fits(special, general)
}

impl Pairs {
    /// Pairs a parameter of the second type with a part of the first.
    fn pair(&mut self, param: &Param, with: Part) -> bool {
        let is_param = match &with {
            Part::Type(ty) => matches!(ty, Type::Param(_)),
            Part::Shape(shape) => matches!(shape, ShapeTerm::Param(_)),
            Part::DType(dtype) => matches!(dtype, DTypeTerm::Param(_)),
            Part::Dim(dim) => is_param(dim),
        };
        if !is_param && !self.instances {
            return false;
        }
        match self.found.iter().find(|(known, _)| *known == param.id()) {
            Some((_, Part::Type(known))) => match &with {
                Part::Type(ty) => known == ty || matches!(ty, Type::Hole | Type::Error),
                _ => false,
            },
            Some((_, known)) => *known == with,
            // Distinct parameters have distinct partners.
            None if !self.instances && self.found.iter().any(|(_, part)| *part == with) => false,
            None => {
                self.found.push((param.id(), with));
                true
            }
        }
    }

    fn all_fit(&mut self, a: &[Type], b: &[Type]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.fits(a, b))
    }

    /// Returns true if the first type is the second one with its parameters replaced. Inference limits the
    /// depth of types.
    fn fits(&mut self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            // An open type in an accepted program is irrelevant.
            (Type::Hole | Type::Error, _) | (_, Type::Hole | Type::Error) => true,
            (_, Type::Param(param)) => self.pair(param, Part::Type(a.clone())),
            (Type::Poly(one), Type::Poly(other)) => self.poly_fits(one, other),
            (_, Type::Poly(_)) if self.instances => {
                let (_, inner) = b.opened();
                self.fits(a, &inner.ty)
            }
            (Type::Poly(_), _) if self.instances => {
                let (_, inner) = a.opened();
                self.fits(&inner.ty, b)
            }
            (Type::Tensor(a), Type::Tensor(b)) => {
                a.dtype == b.dtype && self.dims_fit(&a.shape, &b.shape)
            }
            (Type::OpenTensor(_) | Type::Tensor(_), Type::OpenTensor(open)) => {
                let (shape, dtype) = match a {
                    Type::OpenTensor(open) => (open.shape.clone(), open.dtype.clone()),
                    Type::Tensor(tensor) => {
                        (ShapeTerm::Dims(tensor.shape.clone()), DTypeTerm::Known(tensor.dtype))
                    }
                    _ => return false,
                };
                let dtypes = match &open.dtype {
                    DTypeTerm::Param(param) => self.pair(param, Part::DType(dtype)),
                    other => *other == dtype,
                };
                dtypes
                    && match (&shape, &open.shape) {
                        (_, ShapeTerm::Param(param)) => self.pair(param, Part::Shape(shape)),
                        (ShapeTerm::Dims(a), ShapeTerm::Dims(b)) => self.dims_fit(a, b),
                        (a, b) => a == b,
                    }
            }
            (Type::Tuple(_), Type::Tuple(_)) => {
                let fields = |ty: &Type| ty.as_tuple().unwrap_or_default().to_vec();
                self.all_fit(&fields(a), &fields(b))
            }
            (Type::Func(a), Type::Func(b)) => {
                self.all_fit(a.params(), b.params()) && self.fits(a.ret(), b.ret())
            }
            (Type::Ref(a), Type::Ref(b)) => self.fits(a.inner(), b.inner()),
            (Type::Adt(a), Type::Adt(b)) => {
                a.name() == b.name() && self.all_fit(a.args(), b.args())
            }
            _ => a == b,
        }
    }

    fn dims_fit(&mut self, a: &[Dim], b: &[Dim]) -> bool {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| match b {
                // `?` matches any size: unifying it with a size may yield either, depending on the order.
                _ if a.is_any() || b.is_any() => true,
                Dim::Symbol(symbol) => match &**symbol {
                    Symbol::Param(param) => self.pair(param, Part::Dim(a.clone())),
                    _ => a == b,
                },
                _ => a == b,
            })
    }

    /// Compares two polymorphic types, whose constraints may be in another order.
    fn poly_fits(&mut self, a: &PolyType, b: &PolyType) -> bool {
        let open = |poly: &PolyType| Type::Poly(poly.clone().into()).opened();
        let ((own, one), (other, two)) = (open(a), open(b));
        let constraints = one.constraints.len() == two.constraints.len();
        if !self.instances && (own.len() != other.len() || !constraints) {
            return false;
        }
        // The parameters of the second type are in scope only here.
        let outer = std::mem::take(&mut self.found);
        let outer_kept = outer.clone();
        self.found =
            outer.into_iter().filter(|(id, _)| other.iter().all(|p| p.id() != *id)).collect();
        let mut fits = self.fits(&one.ty, &two.ty);
        if fits && !self.instances {
            let mut left: Vec<_> = two.constraints.iter().collect();
            for constraint in &one.constraints {
                let at = left.iter().position(|other| {
                    let before = self.found.clone();
                    let is_same = constraint.relation.name == other.relation.name
                        && constraint.relation.attrs == other.relation.attrs
                        && self.all_fit(&constraint.args, &other.args);
                    if !is_same {
                        self.found = before;
                    }
                    is_same
                });
                match at {
                    Some(at) => drop(left.swap_remove(at)),
                    None => fits = false,
                }
            }
        }
        let inner = std::mem::replace(&mut self.found, outer_kept);
        for (id, part) in inner {
            let is_own = other.iter().any(|param| param.id() == id);
            if !is_own && self.found.iter().all(|(known, _)| *known != id) {
                self.found.push((id, part));
            }
        }
        fits
    }
}

fn is_param(dim: &Dim) -> bool {
    matches!(dim, Dim::Symbol(symbol) if matches!(&**symbol, Symbol::Param(_)))
}

#[cfg(test)]
mod tests {
    use types::{DataType, Kind};

    use super::*;

    fn param(name: &str, index: u32) -> Param {
        Param::new(name, Kind::Type, ParamId::in_header(index))
    }

    fn scheme(first: &Param, second: &Param) -> Type {
        let (a, b) = (Type::Param(first.clone()), Type::Param(second.clone()));
        let func = Type::func([a.clone(), b], a);
        PolyType::close(&[first.clone(), second.clone()], Vec::new(), &func)
    }

    #[test]
    fn names_do_not_matter_and_equal_parameters_do() {
        let (a, b) = (param("A", 0), param("B", 1));
        assert!(is_same_scheme(&scheme(&a, &b), &scheme(&param("X", 7), &param("Y", 3))));
        assert!(!is_same_scheme(&scheme(&a, &b), &scheme(&a, &a)));
        assert!(!is_same_scheme(&scheme(&a, &a), &scheme(&a, &b)));
    }

    #[test]
    fn instances_are_no_more_general() {
        let a = Type::Param(param("A", 0));
        let int = Type::scalar(DataType::parse("int32").expect("a data type"));
        let of = |ty: &Type| Type::func([ty.clone()], ty.clone());
        assert!(is_instance(&of(&int), &of(&a)));
        assert!(!is_instance(&of(&a), &of(&int)));
        assert!(!is_instance(&Type::func([int.clone()], a.clone()), &of(&a)));
        assert!(!is_same_scheme(&of(&int), &of(&a)));
    }
}
