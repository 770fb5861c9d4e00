//! Operators on two scalars without a kernel.
//!
//! Recursive programs such as `@sum(%n - 1, %acc + %n)` spend most of their time on counters. The
//! results for scalars of one data type are the same as those of the kernels, which handle everything
//! else.

use std::sync::LazyLock;

use crate::{
    fusion_rules::{Comparison, ScalarOp},
    tensor::{Array, Element, Tensor},
    value::Value,
};

static TRUTH: LazyLock<[Value; 2]> =
    LazyLock::new(|| [false, true].map(|truth| Tensor::scalar(truth).into()));

impl ScalarOp {
    /// Returns the result, if the arguments are two numbers of one data type.
    pub(super) fn run(self, args: &mut [Value]) -> Option<Value> {
        let [Value::Tensor(a), Value::Tensor(b)] = &*args else { return None };
        match (&**a, &**b) {
            (Tensor::I32(a), Tensor::I32(b)) => {
                let (x, y) = numbers(a, b)?;
                let all = [i32::wrapping_add(x, y), x.wrapping_sub(y), x.wrapping_mul(y)];
                self.choose(args, x, y, all)
            }
            (Tensor::I64(a), Tensor::I64(b)) => {
                let (x, y) = numbers(a, b)?;
                let all = [i64::wrapping_add(x, y), x.wrapping_sub(y), x.wrapping_mul(y)];
                self.choose(args, x, y, all)
            }
            (Tensor::F32(a), Tensor::F32(b)) => {
                let (x, y) = numbers(a, b)?;
                self.choose(args, x, y, [x + y, x - y, x * y])
            }
            _ => None,
        }
    }

    fn choose<T: Element>(self, args: &mut [Value], x: T, y: T, all: [T; 3]) -> Option<Value> {
        let truth = match self {
            ScalarOp::Add => return in_place(args, all[0]),
            ScalarOp::Subtract => return in_place(args, all[1]),
            ScalarOp::Multiply => return in_place(args, all[2]),
            ScalarOp::Compare(Comparison::Equal) => x == y,
            ScalarOp::Compare(Comparison::NotEqual) => x != y,
            ScalarOp::Compare(Comparison::Less) => x < y,
            ScalarOp::Compare(Comparison::LessEqual) => x <= y,
            ScalarOp::Compare(Comparison::Greater) => x > y,
            ScalarOp::Compare(Comparison::GreaterEqual) => x >= y,
        };
        Some(TRUTH[usize::from(truth)].clone())
    }
}

#[inline]
fn numbers<T: Element>(a: &Array<T>, b: &Array<T>) -> Option<(T, T)> {
    (a.ndim() == 0 && b.ndim() == 0).then_some((*a.first()?, *b.first()?))
}

/// Writes a number to an argument that is not shared, or creates a tensor.
#[inline]
fn in_place<T: Element>(args: &mut [Value], value: T) -> Option<Value> {
    for arg in args {
        let Value::Tensor(tensor) = arg else { return None };
        if let Some(tensor) = tensor.get_mut()
            && let Some(array) = T::unwrap_mut(tensor)
            && array.is_unique()
        {
            *array.first_mut()? = value;
            return Some(std::mem::replace(arg, Value::Empty));
        }
    }
    Some(Tensor::scalar(value).into())
}
