//! Numbers of operations, elements and bytes, as far as sizes are known.
//!
//! A function with `?` in its shapes costs what its sizes turn out to be when it runs: with `n` for
//! axis 0 of `%x`, `nn.dense` of it with a weight of 128 by 784 takes `100,352·n`
//! multiply-accumulates.

use std::collections::BTreeMap;

use types::{Dim, Symbol, SymbolId, Type};

use crate::words;

/// A size that is not known, by its number in a report.
pub type Unknown = u32;

/// A sum of products: `100,352·n + 12`, and how many parts of it cannot be told at all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// Coefficients, by which sizes they are multiplied with and how often.
    terms: BTreeMap<Vec<(Unknown, u32)>, u64>,
    /// How many summands are not known.
    untold: u32,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount { terms: BTreeMap::new(), untold: 0 };

    /// A known number.
    pub fn known(n: u64) -> Amount {
        Amount::term(n, Vec::new())
    }

    /// Something that cannot be told.
    pub fn untold() -> Amount {
        Amount { untold: 1, ..Amount::ZERO }
    }

    fn term(n: u64, factors: Vec<(Unknown, u32)>) -> Amount {
        let mut terms = BTreeMap::new();
        if n > 0 {
            terms.insert(factors, n);
        }
        Amount { terms, untold: 0 }
    }

    /// Adds another; a sum that does not fit counts as something that cannot be told.
    pub fn add(&mut self, other: &Amount) {
        self.untold = self.untold.saturating_add(other.untold);
        for (factors, n) in &other.terms {
            let own = self.terms.entry(factors.clone()).or_default();
            match own.checked_add(*n) {
                Some(sum) => *own = sum,
                None => self.untold = self.untold.saturating_add(1),
            }
        }
    }

    /// Takes away what was added before.
    pub fn subtract(&mut self, other: &Amount) {
        self.untold = self.untold.saturating_sub(other.untold);
        for (factors, n) in &other.terms {
            if let Some(own) = self.terms.get_mut(factors) {
                *own = own.saturating_sub(*n);
                if *own == 0 {
                    self.terms.remove(factors);
                }
            }
        }
    }

    /// The number, if it is known.
    pub fn as_known(&self) -> Option<u64> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next(), self.untold) {
            (None, _, 0) => Some(0),
            (Some((factors, n)), None, 0) if factors.is_empty() => Some(*n),
            _ => None,
        }
    }

    /// Whether there is nothing, known or not.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.untold == 0
    }

    /// How many summands cannot be told.
    pub fn untold_count(&self) -> u32 {
        self.untold
    }

    /// The coefficients, each with the unknown sizes that it is multiplied with and how often.
    pub fn terms(&self) -> impl Iterator<Item = (&[(Unknown, u32)], u64)> {
        self.terms.iter().map(|(factors, n)| (factors.as_slice(), *n))
    }

    /// The number with every unknown size taken as 1, to compare amounts by.
    pub fn at_one(&self) -> u64 {
        self.terms.values().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// The amount as people read it. `name` names the sizes that are not known, `number` writes
    /// the numbers: with a unit, where they have one.
    pub fn text(&self, name: &dyn Fn(Unknown) -> String, number: &dyn Fn(u64) -> String) -> String {
        let mut parts: Vec<String> = Vec::new();
        // The highest powers first, the known number last.
        let degree = |factors: &[(Unknown, u32)]| factors.iter().map(|f| f.1).sum::<u32>();
        let mut terms: Vec<_> = self.terms().collect();
        terms.sort_by_key(|(factors, _)| std::cmp::Reverse(degree(factors)));
        for (factors, n) in terms {
            let mut part = number(n);
            for (unknown, power) in factors {
                part += &format!("·{}", name(*unknown));
                if *power > 1 {
                    part += &power.to_string().chars().map(superscript).collect::<String>();
                }
            }
            parts.push(part);
        }
        if self.untold > 0 {
            parts.push("?".to_owned());
        }
        if parts.is_empty() { number(0) } else { parts.join(" + ") }
    }

    /// The amount as a plain number.
    pub fn plain(&self, name: &dyn Fn(Unknown) -> String) -> String {
        self.text(name, &words::number)
    }
}

fn superscript(digit: char) -> char {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).and_then(|digit| digits.get(digit as usize).copied()).unwrap_or(digit)
}

/// How many different unknown sizes one operator may have.
const MOST_UNKNOWNS: usize = 6;

/// What `measure` makes of `types`, with the sizes that are not known as factors.
///
/// `measure` knows numbers only: it is asked with the unknown sizes set to 1, then with each of
/// them doubled, which shows its power. Sums are no products: of those nothing can be told.
pub(super) fn measured(
    types: &[Type],
    numbers: &mut dyn FnMut(SymbolId, &str) -> Unknown,
    measure: &dyn Fn(&[Type]) -> Option<u64>,
) -> Amount {
    let mut symbols: Vec<(SymbolId, String)> = Vec::new();
    for ty in types {
        collect(ty, &mut symbols);
    }
    if symbols.is_empty() {
        return measure(types).map_or_else(Amount::untold, Amount::known);
    }
    if symbols.len() > MOST_UNKNOWNS {
        return Amount::untold();
    }
    let at = |size: &dyn Fn(SymbolId) -> i64| {
        let types: Option<Vec<Type>> = types.iter().map(|ty| with_sizes(ty, size)).collect();
        measure(&types?)
    };
    let Some(one) = at(&|_| 1) else { return Amount::untold() };
    if one == 0 {
        return Amount::ZERO;
    }
    let mut factors = Vec::new();
    let mut tripled = Some(one);
    for (symbol, name) in &symbols {
        let Some(two) = at(&|s| if s == *symbol { 2 } else { 1 }) else { return Amount::untold() };
        let ratio = two / one;
        if !ratio.is_power_of_two() || ratio.checked_mul(one) != Some(two) {
            return Amount::untold();
        }
        let power = ratio.trailing_zeros();
        if power > 0 {
            factors.push((numbers(*symbol, name), power));
        }
        tripled = tripled.and_then(|n| n.checked_mul(3u64.checked_pow(power)?));
    }
    // A product is one at every point: `(n + 1) / 2` doubles with `n` here and there only.
    if tripled.is_none() || at(&|_| 3) != tripled {
        return Amount::untold();
    }
    factors.sort_unstable();
    Amount::term(one, factors)
}

fn collect(ty: &Type, found: &mut Vec<(SymbolId, String)>) {
    match ty {
        Type::Tensor(tensor) => tensor.shape.iter().for_each(|dim| collect_dim(dim, found)),
        Type::Tuple(fields) => fields.iter().for_each(|field| collect(field, found)),
        Type::Ref(cell) => collect(cell.inner(), found),
        _ => {}
    }
}

fn collect_dim(dim: &Dim, found: &mut Vec<(SymbolId, String)>) {
    let Dim::Symbol(symbol) = dim else { return };
    match &**symbol {
        Symbol::Variable { name, id } => {
            if found.len() <= MOST_UNKNOWNS && !found.iter().any(|(known, _)| known == id) {
                found.push((*id, name.to_string()));
            }
        }
        Symbol::Binary { lhs, rhs, .. } => {
            collect_dim(lhs, found);
            collect_dim(rhs, found);
        }
        Symbol::Param(_) | Symbol::Bound(_) => {}
    }
}

/// `ty` with numbers for its symbolic sizes.
fn with_sizes(ty: &Type, size: &dyn Fn(SymbolId) -> i64) -> Option<Type> {
    Some(match ty {
        Type::Tensor(tensor) => {
            let dims: Option<Vec<Dim>> = tensor.shape.iter().map(|d| dim_with(d, size)).collect();
            Type::tensor(dims?, tensor.dtype)
        }
        Type::Tuple(fields) => {
            let fields: Option<Vec<Type>> = fields.iter().map(|f| with_sizes(f, size)).collect();
            Type::tuple(fields?)
        }
        other => other.clone(),
    })
}

fn dim_with(dim: &Dim, size: &dyn Fn(SymbolId) -> i64) -> Option<Dim> {
    let Dim::Symbol(symbol) = dim else { return Some(dim.clone()) };
    Some(match &**symbol {
        Symbol::Variable { id, .. } => Dim::known(size(*id)),
        Symbol::Binary { op, lhs, rhs, .. } => {
            Dim::apply(*op, &dim_with(lhs, size)?, &dim_with(rhs, size)?)
        }
        // Known where the function is called.
        Symbol::Param(_) | Symbol::Bound(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use types::{DataType, Op};

    use super::*;

    fn elements(dims: Vec<Dim>) -> String {
        let ty = Type::tensor(dims, DataType::FLOAT32);
        let mut names: Vec<String> = Vec::new();
        let mut numbers = |_: SymbolId, name: &str| {
            names.push(name.to_owned());
            names.len() as u32 - 1
        };
        let measure = |types: &[Type]| types[0].as_tensor()?.elements();
        let amount = measured(&[ty], &mut numbers, &measure);
        amount.plain(&|n| names[n as usize].clone())
    }

    #[test]
    fn products_of_sizes() {
        let n = || Dim::symbol("n", SymbolId::of_entry(1));
        let m = || Dim::symbol("m", SymbolId::of_entry(2));
        let four = || Dim::known(4);
        assert_eq!(elements(vec![four(), Dim::known(3000)]), "12,000");
        assert_eq!(elements(vec![four(), n(), n(), m()]), "4·n²·m");
        assert_eq!(elements(vec![Dim::apply(Op::Mul, &n(), &four()), n()]), "4·n²");
        assert_eq!(elements(vec![Dim::apply(Op::Add, &n(), &four())]), "?");
        assert_eq!(elements(vec![Dim::known(0), n()]), "0");
        assert_eq!(elements(vec![Dim::known(i64::MAX), Dim::known(i64::MAX)]), "?");
        assert_eq!(elements(vec![Dim::Any]), "?");
    }

    #[test]
    fn sums() {
        let mut sum = Amount::known(5);
        sum.add(&Amount::term(7, vec![(0, 1)]));
        sum.add(&Amount::term(3, vec![(0, 2)]));
        sum.add(&Amount::untold());
        let name = |_: u32| "n".to_owned();
        assert_eq!(sum.plain(&name), "3·n² + 7·n + 5 + ?");
        assert_eq!((sum.as_known(), sum.at_one()), (None, 15));
        sum.subtract(&Amount::untold());
        sum.subtract(&Amount::term(7, vec![(0, 1)]));
        sum.subtract(&Amount::term(3, vec![(0, 2)]));
        assert_eq!(sum.as_known(), Some(5));
        sum.subtract(&Amount::known(5));
        assert!(sum.is_zero());
        let mut large = Amount::known(u64::MAX);
        large.add(&Amount::known(1));
        assert_eq!(large.untold_count(), 1);
    }
}
