//! Dimensions of shapes: known sizes, `?`, and symbolic sizes with the arithmetic of relations.
//!
//! `concatenate((%x, %y))` of `Tensor[(n), int32]` and `Tensor[(2), int32]` has the size `(n + 2)`.

mod polynomial;

use std::{
    fmt,
    sync::Arc,
    sync::atomic::{AtomicU32, Ordering},
};

use smol_str::SmolStr;

use crate::{BoundParam, DimVar, Param};

/// One axis of a shape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// A known size. TVM stores some sizes as 64-bit integers and prints them as `1i64`; they come
    /// from front ends that use 64-bit shapes, and arithmetic preserves the width.
    Known {
        /// The size. Negative in broken modules only.
        size: i64,
        /// True for a 64-bit integer.
        wide: bool,
    },
    /// `?`: a size that is known at run time only.
    Any,
    /// A symbolic size: a shape variable, or an expression over shape variables.
    Symbol(Arc<Symbol>),
    /// An inference variable.
    Var(DimVar),
}

/// A symbolic size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    /// A variable, identified by its id: different variables may have equal names.
    Variable {
        /// The name in printed types.
        name: SmolStr,
        /// The identity.
        id: SymbolId,
    },
    /// A type parameter of kind `ShapeVar`, in the function that declares it.
    Param(Param),
    /// A type parameter of kind `ShapeVar`, in the polymorphic type that declares it.
    Bound(BoundParam),
    /// Arithmetic over sizes that are not all known.
    Binary {
        /// The operation.
        op: Op,
        /// The left operand.
        lhs: Dim,
        /// The right operand.
        rhs: Dim,
        /// Number of operations in the expression, at most [`MAX_OPERATIONS`].
        operations: u16,
    },
}

/// Maximum number of operations in a symbolic size; a larger expression becomes `?`. Repeated
/// `concatenate((%x, %x))` doubles the expression each time, and recursion over a size is bounded
/// by this limit.
const MAX_OPERATIONS: u16 = 200;

/// Identity of a symbolic variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(u64);

impl SymbolId {
    /// Returns a new identity.
    pub fn fresh() -> SymbolId {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        SymbolId(1 << 40 | u64::from(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns the identity of entry `index` of a metadata section, which is stable between runs.
    pub fn of_entry(index: u32) -> SymbolId {
        SymbolId(index.into())
    }
}

/// An operation on sizes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, rounded toward negative infinity.
    FloorDiv,
    /// `a % b`, with the sign of `b`.
    FloorMod,
    /// The maximum.
    Max,
    /// The minimum.
    Min,
}

impl Dim {
    /// Creates a 32-bit size, the usual case.
    pub const fn known(size: i64) -> Dim {
        Dim::Known { size, wide: false }
    }

    /// Creates a 64-bit size.
    pub const fn wide(size: i64) -> Dim {
        Dim::Known { size, wide: true }
    }

    /// Creates a symbolic variable.
    pub fn symbol(name: impl Into<SmolStr>, id: SymbolId) -> Dim {
        Dim::Symbol(Arc::new(Symbol::Variable { name: name.into(), id }))
    }

    /// Returns the size if it is known.
    pub fn as_known(&self) -> Option<i64> {
        match self {
            Dim::Known { size, .. } => Some(*size),
            _ => None,
        }
    }

    /// Returns the size as the length of an axis of an array: `None` if it is unknown, negative or too large.
    pub fn as_length(&self) -> Option<usize> {
        usize::try_from(self.as_known()?).ok()
    }

    /// Returns true if the size is known to be `size`.
    pub fn is(&self, size: i64) -> bool {
        self.as_known() == Some(size)
    }

    /// Returns true for `?`.
    pub fn is_any(&self) -> bool {
        matches!(self, Dim::Any)
    }

    /// Returns true if `?` occurs in the size.
    pub fn has_any(&self) -> bool {
        match self {
            Dim::Any => true,
            Dim::Symbol(symbol) => match &**symbol {
                Symbol::Binary { lhs, rhs, .. } => lhs.has_any() || rhs.has_any(),
                Symbol::Variable { .. } | Symbol::Param(_) | Symbol::Bound(_) => false,
            },
            _ => false,
        }
    }

    /// Compares two sizes; `None` if the result depends on unknown sizes. Expressions are compared
    /// in normal form: `n + n` equals `n * 2`.
    pub fn equals(&self, other: &Dim) -> Option<bool> {
        match (self, other) {
            (Dim::Known { size: a, .. }, Dim::Known { size: b, .. }) => Some(a == b),
            (Dim::Symbol(a), Dim::Symbol(b)) if a == b => Some(true),
            (Dim::Symbol(_), Dim::Symbol(_)) if polynomial::are_equal(self, other) => Some(true),
            (Dim::Var(a), Dim::Var(b)) if a == b => Some(true),
            _ => None,
        }
    }

    /// Sets the width of a known size.
    pub fn with_width(self, wide: bool) -> Dim {
        match self {
            Dim::Known { size, .. } => Dim::Known { size, wide },
            other => other,
        }
    }

    /// Applies an operation. The result is `?` if an operand contains `?` or the result overflows.
    pub fn apply(op: Op, a: &Dim, b: &Dim) -> Dim {
        if let (Dim::Known { size: x, wide: wx }, Dim::Known { size: y, wide: wy }) = (a, b) {
            let (x, y, wide) = (*x, *y, *wx || *wy);
            let size = match op {
                Op::Add => x.checked_add(y),
                Op::Sub => x.checked_sub(y),
                Op::Mul => x.checked_mul(y),
                Op::FloorDiv => floor_div(x, y),
                Op::FloorMod => floor_div(x, y).and_then(|q| x.checked_sub(q.checked_mul(y)?)),
                Op::Max => Some(x.max(y)),
                Op::Min => Some(x.min(y)),
            };
            return size.map_or(Dim::Any, |size| Dim::Known { size, wide });
        }
        if a.has_any() || b.has_any() {
            return Dim::Any;
        }
        match op {
            Op::Add | Op::Sub if b.is(0) => a.clone(),
            Op::Add if a.is(0) => b.clone(),
            Op::Mul | Op::FloorDiv if b.is(1) => a.clone(),
            Op::Mul if a.is(1) => b.clone(),
            Op::Sub if a.equals(b) == Some(true) => Dim::known(0),
            _ => {
                let operations = a.operations().saturating_add(b.operations()).saturating_add(1);
                if operations > MAX_OPERATIONS {
                    return Dim::Any;
                }
                let naive = Dim::binary(op, a, b);
                polynomial::shorter(&naive, operations).unwrap_or(naive)
            }
        }
    }

    /// Creates an expression as it is written, unlike [`Dim::apply`], which simplifies it.
    fn binary(op: Op, a: &Dim, b: &Dim) -> Dim {
        let operations = a.operations().saturating_add(b.operations()).saturating_add(1);
        let (lhs, rhs) = (a.clone(), b.clone());
        Dim::Symbol(Arc::new(Symbol::Binary { op, lhs, rhs, operations }))
    }

    /// Returns the variable of the equation of two sizes and its value, if that follows: `n` and 4
    /// for `n * 2` and 8.
    pub(crate) fn solution(&self, other: &Dim) -> Option<(DimVar, Dim)> {
        polynomial::solution(self, other)
    }

    fn operations(&self) -> u16 {
        match self {
            Dim::Symbol(symbol) => match **symbol {
                Symbol::Binary { operations, .. } => operations,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Replaces each variable in the size by the result of `leaf`.
    pub(crate) fn map(&self, leaf: &mut impl FnMut(&Dim) -> Dim) -> Dim {
        match self {
            Dim::Symbol(symbol) => match &**symbol {
                Symbol::Binary { op, lhs, rhs, .. } => {
                    Dim::apply(*op, &lhs.map(leaf), &rhs.map(leaf))
                }
                Symbol::Variable { .. } | Symbol::Param(_) | Symbol::Bound(_) => leaf(self),
            },
            Dim::Var(_) => leaf(self),
            Dim::Known { .. } | Dim::Any => self.clone(),
        }
    }

    /// Calls `visit` with each variable in the size.
    pub(crate) fn for_each_leaf(&self, visit: &mut impl FnMut(&Dim)) {
        match self {
            Dim::Symbol(symbol) => match &**symbol {
                Symbol::Binary { lhs, rhs, .. } => {
                    lhs.for_each_leaf(visit);
                    rhs.for_each_leaf(visit);
                }
                Symbol::Variable { .. } | Symbol::Param(_) | Symbol::Bound(_) => visit(self),
            },
            Dim::Var(_) => visit(self),
            Dim::Known { .. } | Dim::Any => {}
        }
    }

    /// Returns the size, if `size` gives those of all variables in it.
    pub fn evaluate(&self, size: &mut impl FnMut(&Symbol) -> Option<i64>) -> Option<i64> {
        let known = self.map(&mut |leaf| match leaf {
            Dim::Symbol(symbol) => size(symbol).map_or(Dim::Any, Dim::known),
            _ => Dim::Any,
        });
        known.as_known()
    }

    /// Creates the size for a type parameter of kind `ShapeVar`.
    pub fn param(param: Param) -> Dim {
        Dim::Symbol(Arc::new(Symbol::Param(param)))
    }
}

fn floor_div(x: i64, y: i64) -> Option<i64> {
    let quotient = x.checked_div(y)?;
    Some(if x % y != 0 && ((x < 0) != (y < 0)) { quotient - 1 } else { quotient })
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident,)*) => {
        $(
            impl std::ops::$trait<&Dim> for &Dim {
                type Output = Dim;
                fn $method(self, other: &Dim) -> Dim {
                    Dim::apply(Op::$op, self, other)
                }
            }
            impl std::ops::$trait<i64> for &Dim {
                type Output = Dim;
                fn $method(self, other: i64) -> Dim {
                    Dim::apply(Op::$op, self, &Dim::known(other))
                }
            }
            impl std::ops::$trait<Dim> for Dim {
                type Output = Dim;
                fn $method(self, other: Dim) -> Dim {
                    Dim::apply(Op::$op, &self, &other)
                }
            }
            impl std::ops::$trait<i64> for Dim {
                type Output = Dim;
                fn $method(self, other: i64) -> Dim {
                    Dim::apply(Op::$op, &self, &Dim::known(other))
                }
            }
        )*
    };
}

operators! { Add add Add, Sub sub Sub, Mul mul Mul, Div div FloorDiv, Rem rem FloorMod, }

impl From<i64> for Dim {
    fn from(size: i64) -> Dim {
        Dim::known(size)
    }
}

/// Displays the size as TVM prints it, variables by name.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Known { size, wide: false } => write!(f, "{size}"),
            Dim::Known { size, wide: true } => write!(f, "{size}i64"),
            Dim::Any => f.write_str("?"),
            Dim::Var(_) => f.write_str("_"),
            Dim::Symbol(symbol) => match &**symbol {
                Symbol::Variable { name, .. } => f.write_str(name),
                Symbol::Param(param) => f.write_str(param.name()),
                Symbol::Bound(_) => f.write_str("_"),
                Symbol::Binary { op, lhs: a, rhs: b, .. } => {
                    let infix = match op {
                        Op::Add => "+",
                        Op::Sub => "-",
                        Op::Mul => "*",
                        Op::FloorDiv => "/",
                        Op::FloorMod => "%",
                        Op::Max => return write!(f, "max({a}, {b})"),
                        Op::Min => return write!(f, "min({a}, {b})"),
                    };
                    write!(f, "({a} {infix} {b})")
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_folds_known_sizes_and_propagates_unknown_ones() {
        let n = Dim::symbol("n", SymbolId::fresh());
        assert_eq!(Dim::known(7) / 2, Dim::known(3));
        assert_eq!(Dim::known(-7) / 2, Dim::known(-4));
        assert_eq!(Dim::wide(3) + Dim::known(1), Dim::wide(4));
        assert_eq!(Dim::Any * 2, Dim::Any);
        assert_eq!(Dim::known(i64::MAX) + 1, Dim::Any);
        assert_eq!(Dim::known(1) / 0, Dim::Any);
        assert_eq!((n.clone() * 2 + 1).to_string(), "((n * 2) + 1)");
        assert_eq!(n.clone() - n.clone(), Dim::known(0));
        assert_eq!(n.clone() * 1, n);
    }
}
