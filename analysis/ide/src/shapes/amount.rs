//! Symbolic numbers of operations, elements and bytes.
//!
//! The cost of a function with `?` in its shapes depends on sizes at run time. With `n` for axis 0 of
//! `%x`, `nn.dense(%x, %w)` with a weight of 128 by 784 needs `100,352·n` multiply-accumulates.

use types::{Dim, Symbol, SymbolId, Type};

use crate::words;

/// The number of an unknown size in a report.
pub type UnknownId = u32;

/// A polynomial in unknown sizes, `100,352·n + 12`, with a number of undefined summands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// The term without factors. Nearly all amounts are known, and take no memory elsewhere.
    constant: u64,
    /// The coefficients by factors, each of which is an unknown size and its power, in the order of the factors.
    terms: Vec<(Vec<(UnknownId, u32)>, u64)>,
    /// The number of undefined summands.
    undefined: u32,
}

impl Amount {
    /// The amount 0.
    pub const ZERO: Amount = Amount { constant: 0, terms: Vec::new(), undefined: 0 };

    /// Returns a known amount.
    pub fn known(n: u64) -> Amount {
        Amount { constant: n, ..Amount::ZERO }
    }

    /// Returns an undefined amount.
    pub fn undefined() -> Amount {
        Amount { undefined: 1, ..Amount::ZERO }
    }

    fn term(n: u64, factors: Vec<(UnknownId, u32)>) -> Amount {
        if factors.is_empty() {
            return Amount::known(n);
        }
        let terms = if n > 0 { vec![(factors, n)] } else { Vec::new() };
        Amount { terms, ..Amount::ZERO }
    }

    /// Returns the index of the term with some factors, or that where it belongs.
    fn place(&self, factors: &[(UnknownId, u32)]) -> Result<usize, usize> {
        self.terms.binary_search_by(|(own, _)| own.as_slice().cmp(factors))
    }

    /// Adds an amount. A coefficient that overflows counts as an undefined summand.
    pub fn add(&mut self, other: &Amount) {
        let mut undefined = other.undefined;
        let mut add = |own: &mut u64, n: u64| match own.checked_add(n) {
            Some(sum) => *own = sum,
            None => undefined = undefined.saturating_add(1),
        };
        add(&mut self.constant, other.constant);
        for (factors, n) in &other.terms {
            let at = match self.place(factors) {
                Ok(at) => at,
                Err(at) => {
                    self.terms.insert(at, (factors.clone(), 0));
                    at
                }
            };
            add(&mut self.terms[at].1, *n);
        }
        self.undefined = self.undefined.saturating_add(undefined);
    }

    /// Subtracts an amount that was added before.
    pub fn subtract(&mut self, other: &Amount) {
        self.undefined = self.undefined.saturating_sub(other.undefined);
        self.constant = self.constant.saturating_sub(other.constant);
        for (factors, n) in &other.terms {
            if let Ok(at) = self.place(factors) {
                let own = &mut self.terms[at].1;
                *own = own.saturating_sub(*n);
                if *own == 0 {
                    self.terms.remove(at);
                }
            }
        }
    }

    /// Returns the number if it is known.
    pub fn as_known(&self) -> Option<u64> {
        (self.terms.is_empty() && self.undefined == 0).then_some(self.constant)
    }

    /// Returns true for 0 without undefined summands.
    pub fn is_zero(&self) -> bool {
        self.as_known() == Some(0)
    }

    /// Returns the number of undefined summands.
    pub fn undefined_count(&self) -> u32 {
        self.undefined
    }

    /// Returns the factors and coefficients of the terms. A factor is an unknown size and its power.
    pub fn terms(&self) -> impl Iterator<Item = (&[(UnknownId, u32)], u64)> {
        let constant = (self.constant > 0).then_some((&[][..], self.constant));
        constant.into_iter().chain(self.terms.iter().map(|(factors, n)| (factors.as_slice(), *n)))
    }

    /// Returns the value with 1 for every unknown size, as a sort key.
    pub fn at_one(&self) -> u64 {
        self.terms.iter().fold(self.constant, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// Formats the amount. `name` returns the name of an unknown size, `number` formats a
    /// coefficient, with a unit if it has one.
    pub fn text(
        &self,
        name: &dyn Fn(UnknownId) -> String,
        number: &dyn Fn(u64) -> String,
    ) -> String {
        let mut parts: Vec<String> = Vec::new();
        // The highest powers come first, the constant last.
        let degree = |factors: &[(UnknownId, u32)]| factors.iter().map(|f| f.1).sum::<u32>();
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
        if self.undefined > 0 {
            parts.push("?".to_owned());
        }
        if parts.is_empty() { number(0) } else { parts.join(" + ") }
    }

    /// Formats the amount without a unit.
    pub fn plain(&self, name: &dyn Fn(UnknownId) -> String) -> String {
        self.text(name, &words::number)
    }
}

fn superscript(digit: char) -> char {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).and_then(|digit| digits.get(digit as usize).copied()).unwrap_or(digit)
}

/// The maximal number of different unknown sizes of one operator.
const MAX_UNKNOWNS: usize = 6;

/// Returns the result of `measure` for `types` with unknown sizes as factors.
///
/// `measure` takes known sizes only. It is evaluated with 1 for all unknown sizes, then with 2 for
/// each of them, which determines its power. A result that is not a product is undefined.
pub(super) fn measured(
    types: &[Type],
    numbers: &mut dyn FnMut(SymbolId, &str) -> UnknownId,
    measure: &dyn Fn(&[Type]) -> Option<u64>,
) -> Amount {
    let mut symbols: Vec<(SymbolId, String)> = Vec::new();
    for ty in types {
        collect(ty, &mut symbols);
    }
    if symbols.is_empty() {
        return measure(types).map_or_else(Amount::undefined, Amount::known);
    }
    if symbols.len() > MAX_UNKNOWNS {
        return Amount::undefined();
    }
    let at = |size: &dyn Fn(SymbolId) -> i64| {
        let types: Option<Vec<Type>> = types.iter().map(|ty| with_sizes(ty, size)).collect();
        measure(&types?)
    };
    let Some(one) = at(&|_| 1) else { return Amount::undefined() };
    if one == 0 {
        return Amount::ZERO;
    }
    let mut factors = Vec::new();
    let mut tripled = Some(one);
    for (symbol, name) in &symbols {
        let Some(two) = at(&|s| if s == *symbol { 2 } else { 1 }) else {
            return Amount::undefined();
        };
        let ratio = two / one;
        if !ratio.is_power_of_two() || ratio.checked_mul(one) != Some(two) {
            return Amount::undefined();
        }
        let power = ratio.trailing_zeros();
        if power > 0 {
            factors.push((numbers(*symbol, name), power));
        }
        tripled = tripled.and_then(|n| n.checked_mul(3u64.checked_pow(power)?));
    }
    // Evaluation at 3 rejects functions that look like a product at 1 and 2, as `(n + 1) / 2` does.
    if tripled.is_none() || at(&|_| 3) != tripled {
        return Amount::undefined();
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
            if found.len() <= MAX_UNKNOWNS && !found.iter().any(|(known, _)| known == id) {
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

/// Replaces the symbolic sizes of `ty` by numbers.
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
        // These are known only at a call of the function.
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
    fn products_of_unknown_sizes_are_terms() {
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
    fn amounts_add_and_subtract() {
        let mut sum = Amount::known(5);
        sum.add(&Amount::term(7, vec![(0, 1)]));
        sum.add(&Amount::term(3, vec![(0, 2)]));
        sum.add(&Amount::undefined());
        let name = |_: u32| "n".to_owned();
        assert_eq!(sum.plain(&name), "3·n² + 7·n + 5 + ?");
        assert_eq!((sum.as_known(), sum.at_one()), (None, 15));
        sum.subtract(&Amount::undefined());
        sum.subtract(&Amount::term(7, vec![(0, 1)]));
        sum.subtract(&Amount::term(3, vec![(0, 2)]));
        assert_eq!(sum.as_known(), Some(5));
        sum.subtract(&Amount::known(5));
        assert!(sum.is_zero());
        let mut large = Amount::known(u64::MAX);
        large.add(&Amount::known(1));
        assert_eq!(large.undefined_count(), 1);
    }
}
