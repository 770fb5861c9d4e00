//! Linear normal form of symbolic sizes, for comparing them: `n + n` equals `n * 2`.

use crate::{Dim, Op, Symbol};

/// `constant + Σ factor · atom`. An atom is a variable, or a product, quotient, remainder, maximum
/// or minimum of unknown sizes.
struct Sum<'d> {
    constant: i64,
    terms: Vec<(&'d Dim, i64)>,
}

/// Returns true if the normal forms of two sizes are equal, as for `(n + 1) * 2` and `n * 2 + 2`.
/// TVM compares broadcast sizes in the same way; it does not normalise inside atoms either.
///
/// The maximum number of operations in a size bounds the recursion and the number of terms.
pub(crate) fn are_equal(a: &Dim, b: &Dim) -> bool {
    let mut sum = Sum { constant: 0, terms: Vec::new() };
    let fits = sum.add(a, 1).and_then(|()| sum.add(b, -1)).is_some();
    fits && sum.constant == 0 && sum.terms.iter().all(|(_, factor)| *factor == 0)
}

impl<'d> Sum<'d> {
    /// Adds `factor · dim`, or returns `None` on overflow.
    fn add(&mut self, dim: &'d Dim, factor: i64) -> Option<()> {
        match dim {
            Dim::Known { size, .. } => {
                self.constant = self.constant.checked_add(size.checked_mul(factor)?)?;
                return Some(());
            }
            Dim::Symbol(symbol) => {
                if let Symbol::Binary { op, lhs, rhs, .. } = &**symbol {
                    match (op, lhs.as_known(), rhs.as_known()) {
                        (Op::Add, ..) => return self.add(lhs, factor).and(self.add(rhs, factor)),
                        (Op::Sub, ..) => {
                            return self.add(lhs, factor).and(self.add(rhs, factor.checked_neg()?));
                        }
                        (Op::Mul, Some(by), _) => return self.add(rhs, factor.checked_mul(by)?),
                        (Op::Mul, _, Some(by)) => return self.add(lhs, factor.checked_mul(by)?),
                        _ => {}
                    }
                }
            }
            Dim::Any | Dim::Var(_) => {}
        }
        match self.terms.iter_mut().find(|(atom, _)| *atom == dim) {
            Some((_, sum)) => *sum = sum.checked_add(factor)?,
            None => self.terms.push((dim, factor)),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolId;

    #[test]
    fn sizes_are_compared_in_normal_form() {
        let n = Dim::symbol("n", SymbolId::of_entry(0));
        let m = Dim::symbol("m", SymbolId::of_entry(1));
        let twice = &n * 2;
        for (a, b) in [
            (&n + &n, twice.clone()),
            (&(&n + 1) * 2, &twice + 2),
            (&(&n + &m) - &n, m.clone()),
            (&m + &n, &n + &m),
            (&(&n * &m) + 0, &n * &m),
        ] {
            assert!(are_equal(&a, &b), "{a} and {b}");
            assert_eq!(a.equals(&b), Some(true));
        }
        for (a, b) in [(n.clone(), twice), (&n + 1, n.clone()), (n.clone(), m), (&n * &n, n)] {
            assert!(!are_equal(&a, &b), "{a} and {b}");
            assert_eq!(a.equals(&b), None);
        }
        let large = Dim::symbol("k", SymbolId::of_entry(2));
        let overflows = &(&large * i64::MAX) * 4;
        assert!(!are_equal(&overflows, &large));
    }
}
