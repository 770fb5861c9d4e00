//! Symbolic sizes as sums of multiples, to see that two of them are equal however they are written.

use crate::{Dim, Op, Symbol};

/// `constant + Σ factor · atom`. An atom is a size that is no sum: a variable, or a product,
/// quotient, remainder, maximum or minimum of sizes that are not known.
struct Sum<'d> {
    constant: i64,
    terms: Vec<(&'d Dim, i64)>,
}

/// Returns true if the two sizes are the same sum: `n + n` and `n * 2`, or `(n + 1) * 2` and
/// `n * 2 + 2`. This is how TVM sees that two sizes broadcast; it does not look into atoms either.
///
/// The recursion and the number of terms are bounded by the operations that a size may have.
pub(crate) fn are_equal(a: &Dim, b: &Dim) -> bool {
    let mut sum = Sum { constant: 0, terms: Vec::new() };
    let fits = sum.add(a, 1).and_then(|()| sum.add(b, -1)).is_some();
    fits && sum.constant == 0 && sum.terms.iter().all(|(_, factor)| *factor == 0)
}

impl<'d> Sum<'d> {
    /// Adds `factor` times `dim`; nothing where a number overflows.
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
            Some((_, known)) => *known = known.checked_add(factor)?,
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
    fn equal_sums_are_equal_however_they_are_written() {
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
