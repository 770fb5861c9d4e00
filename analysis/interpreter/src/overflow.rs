//! Integer overflow: kernels wrap, and a debugger may want to know where.

use std::fmt;

use types::DataType;

/// The largest number of operands that are kept.
const MAX_OPERANDS: usize = 4;

/// The first element of a result of integers whose exact value does not fit their type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overflow {
    /// The index of the element.
    pub index: Vec<usize>,
    /// The first of the elements from which it is computed.
    pub operands: Vec<String>,
    /// The number of all of them.
    pub count: usize,
    /// The exact value; `None` if there is none, or it has more than 128 bits.
    pub exact: Option<i128>,
    /// True if it is the sum of the operands that does not fit, from which the result is computed.
    pub is_sum: bool,
}

/// A fold in exact numbers, `None` beyond 128 bits, and its neutral element.
pub(crate) type ExactFold = (fn(i128, i128) -> Option<i128>, i128);

impl Overflow {
    /// Creates the overflow of the element `at` of a result of this shape, in row-major order.
    pub(crate) fn new(
        shape: &[usize],
        mut at: usize,
        operands: impl ExactSizeIterator<Item = String>,
        exact: Option<i128>,
    ) -> Overflow {
        let mut index = Vec::new();
        for &size in shape.iter().rev() {
            index.push(at.checked_rem(size).unwrap_or(0));
            at = at.checked_div(size).unwrap_or(0);
        }
        index.reverse();
        let count = operands.len();
        Overflow {
            index,
            operands: operands.take(MAX_OPERANDS).collect(),
            count,
            exact,
            is_sum: false,
        }
    }

    /// Returns what does not fit: the result of the call, or the sum.
    pub fn quantity(&self) -> &'static str {
        if self.is_sum { "sum" } else { "result" }
    }
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.index.is_empty() {
            write!(f, " at {:?}", self.index)?;
        }
        let is_one = self.count == 1;
        write!(f, ": the operand{} ", if is_one { " is" } else { "s are" })?;
        let more = self.count.saturating_sub(self.operands.len());
        for (at, operand) in self.operands.iter().enumerate() {
            let is_last = more == 0 && at + 1 == self.operands.len();
            let before = match at {
                0 => "",
                _ if is_last => " and ",
                _ => ", ",
            };
            write!(f, "{before}{operand}")?;
        }
        if more > 0 {
            write!(f, " and {more} more")?;
        }
        let quantity = self.quantity();
        self.exact.map_or(Ok(()), |exact| write!(f, ", and the exact {quantity} is {exact}"))
    }
}

/// Returns true if a number is in the range of a type of integers. `None` stands for one that is in no range.
pub(crate) fn fits(dtype: DataType, exact: Option<i128>) -> bool {
    let Some(exact) = exact else { return false };
    // There are tensors of at most 64 bits.
    let bits = u32::from(dtype.bits).min(64);
    match dtype.is_uint() {
        true => (0..1 << bits).contains(&exact),
        false => {
            let half = 1i128 << bits.saturating_sub(1);
            (-half..half).contains(&exact)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_types() {
        for (dtype, least, most) in [
            (DataType::INT8, -128, 127),
            (DataType::UINT8, 0, 255),
            (DataType::INT64, i64::MIN.into(), i64::MAX.into()),
            (DataType::UINT64, 0, u64::MAX.into()),
        ] {
            assert!(fits(dtype, Some(least)) && fits(dtype, Some(most)), "{dtype}");
            assert!(!fits(dtype, Some(least - 1)) && !fits(dtype, Some(most + 1)), "{dtype}");
        }
        assert!(!fits(DataType::INT64, None));
    }

    #[test]
    fn overflows_have_an_index_and_operands() {
        let numbers = |count: usize| (0..count).map(|number| number.to_string());
        for (found, expected) in [
            (Overflow::new(&[], 0, numbers(1), None), ": the operand is 0"),
            (
                Overflow::new(&[2, 3], 5, numbers(2), Some(300)),
                " at [1, 2]: the operands are 0 and 1, and the exact result is 300",
            ),
            (
                Overflow::new(&[4], 3, numbers(10), Some(-1)),
                " at [3]: the operands are 0, 1, 2, 3 and 6 more, and the exact result is -1",
            ),
            (
                Overflow { is_sum: true, ..Overflow::new(&[], 0, numbers(2), Some(300)) },
                ": the operands are 0 and 1, and the exact sum is 300",
            ),
        ] {
            assert_eq!(found.to_string(), expected);
        }
    }
}
