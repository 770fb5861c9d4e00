//! Calls of operators with a given result type.

use super::{
    generate::Generator,
    terms::{DType, Scope, Ty},
};

/// `[1, 2]`
fn list(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

/// Inserts an axis into a shape.
fn with_axis(shape: &[i64], at: usize, size: i64) -> Vec<i64> {
    let mut shape = shape.to_vec();
    shape.insert(at, size);
    shape
}

impl Generator {
    /// Generates a call of an operator with a given result shape and data type. Shapes grow by at most
    /// an axis of size 2 per level.
    pub(super) fn operator(
        &mut self,
        scope: &mut Scope,
        shape: &[i64],
        dtype: DType,
        depth: u32,
    ) -> String {
        let same = Ty::Tensor(shape.to_vec(), dtype);
        match self.tape.pick(12) {
            0..=2 if dtype == DType::Bool => self.comparison(scope, shape, depth),
            3 if dtype == DType::Bool => {
                let a = self.expr(scope, &same, depth);
                format!("logical_not({a})")
            }
            0 => {
                let (a, b) = (self.operand(scope, &same, depth), self.operand(scope, &same, depth));
                format!("{a} {} {b}", self.tape.one_of(&["+", "-", "*"]))
            }
            1 | 2 => {
                let name = self.tape.one_of(&["add", "multiply", "subtract", "maximum"]);
                let small = self.broadcast(shape);
                let a = self.expr(scope, &same, depth);
                if small.is_empty() && self.tape.once_in(2) {
                    // A number without a suffix takes the data type of the other operand.
                    return format!("{name}({a}, {})", self.tape.pick(4));
                }
                let b = self.expr(scope, &Ty::Tensor(small, dtype), depth);
                format!("{name}({a}, {b})")
            }
            3 => {
                let name = self.tape.one_of(&["negative", "nn.relu", "abs"]);
                format!("{name}({})", self.expr(scope, &same, depth))
            }
            4 => {
                let from = self.tape.one_of(&DType::NUMBERS);
                let a = self.expr(scope, &Ty::Tensor(shape.to_vec(), from), depth);
                format!("cast({a}, dtype=\"{}\")", dtype.name())
            }
            5 => {
                let count: i64 = shape.iter().product();
                let from = self.tape.one_of(&[vec![count], with_axis(shape, 0, 1)]);
                let a = self.expr(scope, &Ty::Tensor(from, dtype), depth);
                format!("reshape({a}, newshape={})", list(shape))
            }
            6 if shape.len() >= 2 => {
                let mut from = shape.to_vec();
                from.swap(0, 1);
                let axes: Vec<i64> = [1, 0].into_iter().chain(2..shape.len() as i64).collect();
                let a = self.expr(scope, &Ty::Tensor(from, dtype), depth);
                format!("transpose({a}, axes={})", list(&axes))
            }
            7 if shape.first().is_some_and(|size| *size > 1) => {
                let (mut first, mut second) = (shape.to_vec(), shape.to_vec());
                first[0] = 1;
                second[0] -= 1;
                let a = self.expr(scope, &Ty::Tensor(first, dtype), depth);
                let b = self.expr(scope, &Ty::Tensor(second, dtype), depth);
                format!("concatenate(({a}, {b}))")
            }
            8 if shape.len() == 2 && dtype.is_float() => {
                let a = self.expr(scope, &Ty::Tensor(vec![shape[0], 2], dtype), depth);
                let b = self.expr(scope, &Ty::Tensor(vec![shape[1], 2], dtype), depth);
                format!("nn.dense({a}, {b}, units=None)")
            }
            9 if shape.len() < 3 && dtype != DType::Bool => {
                let axis = self.tape.pick(shape.len() + 1);
                let a = self.expr(scope, &Ty::Tensor(with_axis(shape, axis, 2), dtype), depth);
                format!("sum({a}, axis=[{axis}])")
            }
            10 if shape.first().is_some_and(|size| *size < 3) => {
                let mut from = shape.to_vec();
                from[0] *= 2;
                let (a, at) =
                    (self.expr(scope, &Ty::Tensor(from, dtype), depth), self.tape.pick(2));
                format!("split({a}, indices_or_sections=2).{at}")
            }
            11 => {
                let condition = self.expr(scope, &Ty::Tensor(shape.to_vec(), DType::Bool), depth);
                let (a, b) = (self.expr(scope, &same, depth), self.expr(scope, &same, depth));
                format!("where({condition}, {a}, {b})")
            }
            _ if shape.first() == Some(&1) => {
                let a = self.expr(scope, &Ty::Tensor(shape[1..].to_vec(), dtype), depth);
                format!("expand_dims({a}, axis=0)")
            }
            _ if shape.len() < 3 => {
                let a = self.expr(scope, &Ty::Tensor(with_axis(shape, 0, 1), dtype), depth);
                format!("squeeze({a}, axis=[0])")
            }
            _ => {
                let name = self.tape.one_of(&["zeros_like", "ones_like"]);
                format!("{name}({})", self.expr(scope, &same, depth))
            }
        }
    }

    fn comparison(&mut self, scope: &mut Scope, shape: &[i64], depth: u32) -> String {
        let of = Ty::Tensor(shape.to_vec(), self.tape.one_of(&DType::NUMBERS));
        if self.tape.once_in(2) {
            let (a, b) = (self.operand(scope, &of, depth), self.operand(scope, &of, depth));
            return format!("{a} {} {b}", self.tape.one_of(&["<", "<=", ">", ">=", "==", "!="]));
        }
        let name = self.tape.one_of(&["less", "equal", "greater_equal"]);
        let (a, b) = (self.expr(scope, &of, depth), self.expr(scope, &of, depth));
        format!("{name}({a}, {b})")
    }

    /// Generates an operand of an infix operator, in parentheses unless it is a word or a call.
    fn operand(&mut self, scope: &mut Scope, ty: &Ty, depth: u32) -> String {
        let text = self.expr(scope, ty, depth);
        let is_word = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'%' | b'@'));
        if is_word { text } else { format!("({text})") }
    }

    /// Generates a shape that broadcasts to `shape`.
    fn broadcast(&mut self, shape: &[i64]) -> Vec<i64> {
        match self.tape.pick(4) {
            1 => Vec::new(),
            2 => shape.iter().skip(1).copied().collect(),
            3 => {
                let axis = self.tape.pick(shape.len());
                let kept = |(at, size): (usize, &i64)| if at == axis { 1 } else { *size };
                shape.iter().enumerate().map(kept).collect()
            }
            _ => shape.to_vec(),
        }
    }
}
