//! Polynomial normal form of symbolic sizes, for comparing and simplifying them: `n + n` equals
//! `n * 2`, `(h + 2) - 3 + 1` is `h`, and `(n * 2 + 1) / 2` is `n`.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::floor_div;
use crate::{Dim, DimVar, Op, Symbol};

/// Maximum number of terms, and of atoms in a product. `(a + b) * (c + d) * …` has exponentially
/// many terms; a size beyond the limit has no normal form and equals only itself.
const MAX_TERMS: usize = 32;

/// The sum of the terms and a constant.
#[derive(Clone, Default)]
pub(super) struct Polynomial {
    constant: i64,
    terms: Vec<Term>,
}

/// `factor · Π atoms`. An atom is a variable, or a quotient, remainder, maximum or minimum that
/// cannot be simplified, with operands in normal form.
#[derive(Clone)]
struct Term {
    atoms: SmallVec<[Dim; 2]>,
    factor: i64,
}

/// Returns true if the normal forms of two sizes are equal, as for `(n + 1) * 2` and `n * 2 + 2`.
pub(super) fn are_equal(a: &Dim, b: &Dim) -> bool {
    difference(a, b).is_some_and(|difference| difference.as_constant() == Some(0))
}

/// Returns the shortest form of a size, if that has fewer operations than `most`.
pub(super) fn shorter(dim: &Dim, most: u16) -> Option<Dim> {
    let short = Polynomial::of(dim)?.to_dim();
    (short.operations() < most).then_some(short)
}

/// Returns the variable of an equation `a = b` and its value, if it has exactly one variable and
/// is linear in it: `n` and 4 for `n * 2 + 1 = 9`.
pub(super) fn solution(a: &Dim, b: &Dim) -> Option<(DimVar, Dim)> {
    let mut left = difference(a, b)?;
    let is_open = |term: &Term| {
        let mut any = false;
        term.atoms.iter().for_each(|atom| {
            atom.for_each_leaf(&mut |leaf| any |= matches!(leaf, Dim::Var(_)));
        });
        any
    };
    let at = left.terms.iter().position(is_open)?;
    let term = left.terms.remove(at);
    let ([Dim::Var(var)], false) = (&term.atoms[..], left.terms.iter().any(is_open)) else {
        return None;
    };
    let value =
        left.divided_by(&Term { atoms: SmallVec::new(), factor: term.factor.checked_neg()? })?;
    Some((*var, value.to_dim()))
}

fn difference(a: &Dim, b: &Dim) -> Option<Polynomial> {
    let mut sum = Polynomial::of(a)?;
    sum.add(&Polynomial::of(b)?, -1)?;
    Some(sum)
}

impl Polynomial {
    /// Returns the normal form; `None` on overflow, beyond [`MAX_TERMS`], or for `?`. The maximum
    /// number of operations in a size bounds the recursion.
    fn of(dim: &Dim) -> Option<Polynomial> {
        let symbol = match dim {
            Dim::Known { size, .. } => return Some(Polynomial::constant(*size)),
            Dim::Any => return None,
            Dim::Var(_) => return Some(Polynomial::atom(dim.clone())),
            Dim::Symbol(symbol) => symbol,
        };
        let Symbol::Binary { op, lhs, rhs, .. } = &**symbol else {
            return Some(Polynomial::atom(dim.clone()));
        };
        let (mut a, b) = (Polynomial::of(lhs)?, Polynomial::of(rhs)?);
        match op {
            Op::Add => a.add(&b, 1)?,
            Op::Sub => a.add(&b, -1)?,
            Op::Mul => return a.times(&b),
            Op::FloorDiv => return a.over(&b),
            Op::FloorMod => return a.modulo(&b),
            Op::Max | Op::Min => {
                let mut gap = a.clone();
                gap.add(&b, -1)?;
                return Some(match gap.as_constant() {
                    Some(gap) if (gap >= 0) == (*op == Op::Max) => a,
                    Some(_) => b,
                    None => Polynomial::atom(Dim::binary(*op, &a.to_dim(), &b.to_dim())),
                });
            }
        }
        Some(a)
    }

    fn constant(constant: i64) -> Polynomial {
        Polynomial { constant, terms: Vec::new() }
    }

    fn atom(atom: Dim) -> Polynomial {
        let atoms = SmallVec::from_iter([atom]);
        Polynomial { constant: 0, terms: vec![Term { atoms, factor: 1 }] }
    }

    fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Adds `factor · other`.
    fn add(&mut self, other: &Polynomial, factor: i64) -> Option<()> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for term in &other.terms {
            self.add_term(&term.atoms, term.factor.checked_mul(factor)?)?;
        }
        Some(())
    }

    fn add_term(&mut self, atoms: &[Dim], factor: i64) -> Option<()> {
        if atoms.is_empty() {
            self.constant = self.constant.checked_add(factor)?;
            return Some(());
        }
        match self
            .terms
            .iter()
            .position(|term| without(&term.atoms, atoms).is_some_and(|rest| rest.is_empty()))
        {
            Some(at) => {
                let sum = self.terms[at].factor.checked_add(factor)?;
                if sum == 0 {
                    self.terms.remove(at);
                } else {
                    self.terms[at].factor = sum;
                }
            }
            None if self.terms.len() < MAX_TERMS && atoms.len() <= MAX_TERMS => {
                self.terms.push(Term { atoms: atoms.into(), factor });
            }
            None => return None,
        }
        Some(())
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        let constant = |constant: i64| Term { atoms: SmallVec::new(), factor: constant };
        let all = |of: &Polynomial| -> Vec<Term> {
            let last = (of.constant != 0).then(|| constant(of.constant));
            of.terms.iter().cloned().chain(last).collect()
        };
        let right = all(other);
        for a in all(self) {
            for b in &right {
                let atoms: SmallVec<[Dim; 2]> = a.atoms.iter().chain(&b.atoms).cloned().collect();
                product.add_term(&atoms, a.factor.checked_mul(b.factor)?)?;
            }
        }
        Some(product)
    }

    /// Returns the quotient by a single term, if all terms and the constant are multiples of it.
    fn divided_by(&self, divisor: &Term) -> Option<Polynomial> {
        let mut quotient = Polynomial::default();
        let divides = |factor: i64| factor.checked_rem(divisor.factor) == Some(0);
        if self.constant != 0 {
            if !divisor.atoms.is_empty() || !divides(self.constant) {
                return None;
            }
            quotient.constant = self.constant.checked_div(divisor.factor)?;
        }
        for term in &self.terms {
            if !divides(term.factor) {
                return None;
            }
            let rest = without(&term.atoms, &divisor.atoms)?;
            quotient.add_term(&rest, term.factor.checked_div(divisor.factor)?)?;
        }
        Some(quotient)
    }

    /// Splits off the terms that are multiples of `by`. Returns their quotient and the rest, whose
    /// constant is between 0 and `by`.
    fn split(&self, by: i64) -> Option<(Polynomial, Polynomial)> {
        let constant = floor_div(self.constant, by)?;
        let mut quotient = Polynomial::constant(constant);
        let mut rest = Polynomial::constant(self.constant.checked_sub(constant.checked_mul(by)?)?);
        for term in &self.terms {
            match term.factor.checked_rem(by)? {
                0 => quotient.add_term(&term.atoms, term.factor.checked_div(by)?)?,
                _ => rest.add_term(&term.atoms, term.factor)?,
            }
        }
        Some((quotient, rest))
    }

    /// Returns the quotient, rounded toward negative infinity: `(k·p + r) / k` is `p + r / k`.
    fn over(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let Some(by) = divisor.as_constant() else {
            let exact = match &divisor.terms[..] {
                [term] if divisor.constant == 0 => self.divided_by(term),
                _ => None,
            };
            let opaque = || Dim::binary(Op::FloorDiv, &self.to_dim(), &divisor.to_dim());
            return exact.or_else(|| Some(Polynomial::atom(opaque())));
        };
        if by <= 0 {
            return Some(Polynomial::atom(Dim::binary(
                Op::FloorDiv,
                &self.to_dim(),
                &Dim::known(by),
            )));
        }
        let (mut quotient, mut rest) = self.split(by)?;
        if rest.terms.is_empty() {
            // The constant is smaller than the divisor.
            return Some(quotient);
        }
        // `(4·n + 3) / 6` is `(2·n + 1) / 3`, and `(n / 2) / 3` is `n / 6`.
        let common = rest.terms.iter().fold(by, |common, term| gcd(common, term.factor));
        let mut by = by.checked_div(common)?;
        rest.constant = floor_div(rest.constant, common)?;
        for term in &mut rest.terms {
            term.factor = term.factor.checked_div(common)?;
        }
        let mut lhs = rest.to_dim();
        if let Dim::Symbol(symbol) = &lhs
            && let Symbol::Binary { op: Op::FloorDiv, lhs: inner, rhs, .. } = &**symbol
            && let Some(size) = rhs.as_known().filter(|&size| size > 0)
        {
            by = by.checked_mul(size)?;
            lhs = inner.clone();
        }
        let atom = if by == 1 { lhs } else { Dim::binary(Op::FloorDiv, &lhs, &Dim::known(by)) };
        quotient.add(&Polynomial::atom(atom), 1)?;
        Some(quotient)
    }

    /// Returns the remainder, with the sign of the divisor: `(k·p + r) % k` is `r % k`.
    fn modulo(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let rest = match divisor.as_constant() {
            Some(by) if by > 0 => Cow::Owned(self.split(by)?.1),
            _ => Cow::Borrowed(self),
        };
        if rest.terms.is_empty() && matches!(rest, Cow::Owned(_)) {
            return Some(rest.into_owned());
        }
        Some(Polynomial::atom(Dim::binary(Op::FloorMod, &rest.to_dim(), &divisor.to_dim())))
    }

    /// Returns the size, with the terms in order of their first occurrence, positive ones first.
    fn to_dim(&self) -> Dim {
        let (positive, negative): (Vec<&Term>, Vec<&Term>) =
            self.terms.iter().partition(|term| term.factor > 0);
        let mut sum: Option<Dim> = None;
        for term in positive {
            let value = term.to_dim(term.factor);
            sum = Some(match sum {
                Some(sum) => Dim::binary(Op::Add, &sum, &value),
                None => value,
            });
        }
        let mut constant = Some(self.constant).filter(|&constant| constant != 0);
        let mut sum = sum.unwrap_or_else(|| Dim::known(constant.take().unwrap_or_default()));
        for term in negative {
            // Cannot overflow: the factor of a term is the result of checked arithmetic, and its
            // negation is displayed only.
            sum = Dim::binary(Op::Sub, &sum, &term.to_dim(term.factor.saturating_neg()));
        }
        match constant {
            Some(constant) if constant < 0 => {
                Dim::binary(Op::Sub, &sum, &Dim::known(constant.saturating_neg()))
            }
            Some(constant) => Dim::binary(Op::Add, &sum, &Dim::known(constant)),
            None => sum,
        }
    }
}

impl Term {
    fn to_dim(&self, factor: i64) -> Dim {
        let mut atoms = self.atoms.iter();
        let first = atoms.next().cloned().unwrap_or(Dim::known(1));
        let product = atoms.fold(first, |product, atom| Dim::binary(Op::Mul, &product, atom));
        if factor == 1 { product } else { Dim::binary(Op::Mul, &product, &Dim::known(factor)) }
    }
}

/// Returns the atoms of a product without those of another one, or `None` if it lacks some.
fn without(all: &[Dim], taken: &[Dim]) -> Option<SmallVec<[Dim; 2]>> {
    let mut rest: SmallVec<[Dim; 2]> = all.into();
    for atom in taken {
        let at = rest.iter().position(|other| other == atom)?;
        rest.remove(at);
    }
    Some(rest)
}

/// The greatest common divisor. Terminates, because the second number decreases.
fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or_default());
    }
    a.checked_abs().unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolId;

    fn sizes() -> (Dim, Dim) {
        (Dim::symbol("n", SymbolId::of_entry(0)), Dim::symbol("m", SymbolId::of_entry(1)))
    }

    #[test]
    fn sizes_are_compared_in_normal_form() {
        let (n, m) = sizes();
        let twice = &n * 2;
        for (a, b) in [
            (&n + &n, twice.clone()),
            (&(&n + 1) * 2, &twice + 2),
            (&(&n + &m) - &n, m.clone()),
            (&m + &n, &n + &m),
            (&(&n * &m) + 0, &m * &n),
            (&(&n + 1) * &(&n - 1), &(&n * &n) - 1),
            (&(&n * &m) / &m, n.clone()),
            (&(&(&n * 2) + 1) / 2, n.clone()),
            (&(&n / 2) / 3, &n / 6),
            (&(&(&n * 4) + 3) / 6, &(&(&n * 2) + 1) / 3),
            (&(&(&n * 6) + &m) % 3, &m % 3),
        ] {
            assert!(are_equal(&a, &b), "{a} and {b}");
            assert_eq!(a.equals(&b), Some(true));
        }
        let unequal = [
            (n.clone(), twice),
            (&n + 1, n.clone()),
            (n.clone(), m.clone()),
            (&n * &n, n.clone()),
            (&(&n / 2) * 2, n.clone()),
            (&(&n + 1) / 2, &n / 2),
        ];
        for (a, b) in unequal {
            assert!(!are_equal(&a, &b), "{a} and {b}");
            assert_eq!(a.equals(&b), None);
        }
        let large = Dim::symbol("k", SymbolId::of_entry(2));
        let overflows = &(&large * i64::MAX) * 4;
        assert!(!are_equal(&overflows, &large));
    }

    #[test]
    fn sizes_are_simplified() {
        let (n, m) = sizes();
        for (dim, text) in [
            (&(&(&n + 2) - 3) + 1, "n"),
            (&(&(&(&n + 2) - 3) / 2) + 1, "((n + 1) / 2)"),
            (&(&(&(&(&n * 2) + 2) - 3) / 2) + 1, "n"),
            (&(&n + &m) - &n, "m"),
            (&(&n * 2) + 1, "((n * 2) + 1)"),
            (&n + &n, "(n + n)"),
            (Dim::apply(Op::Max, &(&n + 1), &n), "(n + 1)"),
        ] {
            assert_eq!(dim.to_string(), text);
        }
    }

    /// The normal form has the value of the size, whatever its variables are.
    #[test]
    fn normal_forms_have_the_same_value() {
        let (n, m) = sizes();
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let ops = [Op::Add, Op::Sub, Op::Mul, Op::FloorDiv, Op::FloorMod, Op::Max, Op::Min];
        for _ in 0..5_000 {
            let mut dims = vec![n.clone(), m.clone(), Dim::known(2), Dim::known(3)];
            for _ in 0..5 {
                let op = ops[random(7) as usize];
                let a = dims[random(dims.len() as u64) as usize].clone();
                let b = match op {
                    Op::FloorDiv | Op::FloorMod => Dim::known(1 + random(6) as i64),
                    _ => dims[random(dims.len() as u64) as usize].clone(),
                };
                dims.push(Dim::binary(op, &a, &b));
            }
            let Some(dim) = dims.pop() else { continue };
            let Some(normal) = Polynomial::of(&dim) else { continue };
            let normal = normal.to_dim();
            for (x, y) in [(1, 1), (2, 7), (5, 3), (12, 30)] {
                let value = |dim: &Dim| {
                    dim.map(&mut |leaf| Dim::known(if *leaf == n { x } else { y })).as_known()
                };
                assert_eq!(value(&dim), value(&normal), "{dim} and {normal} for {x} and {y}");
            }
        }
    }

    #[test]
    fn linear_equations_are_solved() {
        let (n, _) = sizes();
        let var = Dim::Var(DimVar(3));
        let twice = Dim::binary(Op::Mul, &var, &Dim::known(2));
        assert_eq!(solution(&twice, &Dim::known(8)), Some((DimVar(3), Dim::known(4))));
        assert_eq!(solution(&Dim::known(8), &twice), Some((DimVar(3), Dim::known(4))));
        assert_eq!(solution(&twice, &Dim::known(7)), None);
        let plus = Dim::binary(Op::Add, &var, &Dim::known(2));
        assert_eq!(solution(&plus, &n), Some((DimVar(3), &n - 2)));
    }
}
