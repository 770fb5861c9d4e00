//! The values of operands for which an operator is defined.
//!
//! A column of the table: `divide` has no result for a divisor of 0, `log` none for 0 and below. TVM's relations
//! see types alone, so that it compiles such calls.

use types::DataType;

/// The values of an operand for which an operator is defined.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Domain {
    /// All numbers but 0.
    NonZero,
    /// The numbers from one to another, both included.
    Closed(f64, f64),
    /// The numbers between two others, both excluded.
    Open(f64, f64),
    /// The numbers by which the bits of the data type of the operand can be shifted.
    Shift,
    /// The positions on the axis that the attribute `axis` names, or among all elements without one. An operator
    /// with the attribute `mode` brings other positions into the range in all modes but `"fast"`.
    Position,
    /// The exponents of the first operand: 0 has no negative power, and a negative number powers with whole
    /// exponents alone.
    Exponent,
}

/// A constant operand.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The value of its elements.
    pub value: f64,
    /// Its data type.
    pub dtype: DataType,
    /// For [`Domain::Exponent`]: the value of the elements of the first operand.
    pub base: Option<f64>,
    /// For [`Domain::Position`]: the number of positions.
    pub size: Option<i64>,
}

/// The value of all elements of the result of an operator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fill {
    /// That of the elements of an argument, converted to the data type of the result.
    Argument(usize),
    /// The negation of that of the elements of an argument.
    Negation(usize),
    /// A number.
    Number(f64),
}

impl Domain {
    /// Returns the rule that a constant breaks, as a part of a sentence after the value; `None` if the operator
    /// may be defined for it.
    pub fn broken_by(self, constant: &Constant) -> Option<String> {
        let Constant { value, dtype, base, size } = *constant;
        match self {
            Domain::NonZero => (value == 0.0).then(|| "must not be 0".to_owned()),
            Domain::Closed(least, greatest) if value < least || value > greatest => {
                Some(if greatest == f64::INFINITY {
                    format!("must be at least {least}")
                } else {
                    format!("must be between {least} and {greatest}")
                })
            }
            Domain::Open(least, greatest) if value <= least || value >= greatest => {
                Some(if greatest == f64::INFINITY {
                    format!("must be above {least}")
                } else {
                    format!("must be above {least} and below {greatest}")
                })
            }
            Domain::Shift => {
                let last = i32::from(dtype.bits) - 1;
                let is_number = dtype.is_int() || dtype.is_uint();
                (is_number && !(0.0..=f64::from(last)).contains(&value))
                    .then(|| format!("bits of {dtype} are shifted by 0 to {last} positions"))
            }
            Domain::Position => {
                let size = size?;
                (value < 0.0 || value >= size as f64)
                    .then(|| format!("must be a position from 0 to {}", size - 1))
            }
            Domain::Exponent => {
                let base = base?;
                if base == 0.0 && value < 0.0 {
                    Some("0 has no negative power".to_owned())
                } else if base < 0.0 && value.is_finite() && value.fract() != 0.0 {
                    Some(format!("{base}, a negative number, has powers with whole exponents only"))
                } else {
                    None
                }
            }
            Domain::Closed(..) | Domain::Open(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_those_of_arguments() {
        for operator in crate::all() {
            for (name, _) in operator.domains {
                assert!(operator.args.contains(name), "`{}` has no `{name}`", operator.name);
            }
            if let Some(Fill::Argument(at) | Fill::Negation(at)) = operator.fill {
                assert!(at < operator.args.len(), "{}", operator.name);
            }
        }
    }

    #[test]
    fn ends_belong_to_closed_domains() {
        let breaks = |domain: Domain, value: f64| {
            let dtype = DataType::INT8;
            domain.broken_by(&Constant { value, dtype, base: Some(-2.0), size: Some(3) }).is_some()
        };
        assert!(!breaks(Domain::Closed(-1.0, 1.0), 1.0) && breaks(Domain::Closed(-1.0, 1.0), 1.5));
        assert!(breaks(Domain::Open(-1.0, 1.0), 1.0) && !breaks(Domain::Open(-1.0, 1.0), 0.5));
        assert!(breaks(Domain::NonZero, -0.0) && !breaks(Domain::NonZero, f64::NAN));
        assert!(!breaks(Domain::Shift, 7.0) && breaks(Domain::Shift, 8.0));
        assert!(breaks(Domain::Position, 3.0) && breaks(Domain::Position, -1.0));
        assert!(breaks(Domain::Exponent, 0.5) && !breaks(Domain::Exponent, -3.0));
        let domains = [Domain::NonZero, Domain::Closed(0.0, 1.0), Domain::Open(0.0, 1.0)];
        assert!(domains.iter().all(|domain| !breaks(*domain, f64::NAN)));
    }
}
