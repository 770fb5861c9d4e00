//! Lowering of numbers.

use syntax::{Node, SyntaxKind};
use types::DataType;

use super::Lowerer;
use crate::body::{Literal, ProblemKind};

impl Lowerer {
    /// Lowers a `LITERAL` node; returns `None` for a string.
    pub(super) fn literal(&mut self, node: Node<'_>) -> Option<Literal> {
        let mut negative = false;
        for token in node.tokens() {
            match token.kind() {
                SyntaxKind::MINUS => negative = !negative,
                SyntaxKind::TRUE_KW => return Some(Literal::Bool(true)),
                SyntaxKind::FALSE_KW => return Some(Literal::Bool(false)),
                SyntaxKind::INT => return Some(self.int(node, token.text(), negative)),
                SyntaxKind::FLOAT => return Some(self.float(node, token.text(), negative)),
                _ => {}
            }
        }
        None
    }

    fn int(&mut self, node: Node<'_>, text: &str, negative: bool) -> Literal {
        let (digits, suffix) = syntax::int_parts(text);
        // `int64(-3)` has a sign among its digits. Few numbers need the slow conversion.
        let small = digits.parse::<u64>().map(i128::from);
        let magnitude = small.or_else(|_| digits.parse()).unwrap_or(i128::MAX);
        let value = if negative { -magnitude } else { magnitude };
        let dtype = match suffix {
            "" => None,
            "8" => Some(DataType::INT8),
            "16" => Some(DataType::INT16),
            "32" => Some(DataType::INT32),
            "64" => Some(DataType::INT64),
            _ => {
                self.problem(node.range(), ProblemKind::NumberSuffix(format!("i{suffix}").into()));
                Some(DataType::INT32)
            }
        };
        // A number without suffix that does not fit into 32 bits has 64 bits.
        let width = dtype.unwrap_or(DataType::INT64);
        let limit = 1i128 << (width.bits - 1);
        if value < -limit || value >= limit {
            let text = text.into();
            self.problem(node.range(), ProblemKind::NumberRange { text, dtype: width });
        }
        Literal::Int {
            value: value.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            dtype,
            claimed: None,
        }
    }

    fn float(&mut self, node: Node<'_>, text: &str, negative: bool) -> Literal {
        let (digits, suffix) = syntax::float_parts(text);
        let digits = digits.strip_suffix('.').unwrap_or(digits);
        let magnitude = digits.parse::<f64>().unwrap_or(f64::NAN);
        let value = if negative { -magnitude } else { magnitude };
        let dtype = match suffix {
            None | Some("" | "32") => DataType::FLOAT32,
            Some("16") => DataType::FLOAT16,
            Some("64") => DataType::FLOAT64,
            Some(other) => {
                self.problem(node.range(), ProblemKind::NumberSuffix(format!("f{other}").into()));
                DataType::FLOAT32
            }
        };
        let largest = match dtype.bits {
            16 => 65504.0,
            32 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        // `1e-400f` underflows, and is not a zero literal.
        let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
        let is_lost = mantissa.bytes().any(|digit| matches!(digit, b'1'..=b'9'))
            && (value == 0.0 || dtype.bits < 64 && value.is_subnormal());
        let is_large =
            value.is_infinite() && digits != "inf" || value.is_finite() && value.abs() > largest;
        if is_large || is_lost {
            self.problem(node.range(), ProblemKind::NumberRange { text: text.into(), dtype });
        }
        Literal::Float { bits: value.to_bits(), dtype: suffix.map(|_| dtype), claimed: None }
    }
}
