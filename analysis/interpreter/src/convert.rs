//! Tensors from one data type to another.
//!
//! Every pair of data types goes by way of 64 bits, a piece at a time, so that there is code for
//! each data type and not for each pair.

use types::DataType;

use crate::{
    interrupt::spend,
    value::{Element, Tensor, each_dtype},
};

/// How many elements are under way at once.
const PIECE: usize = 512;

/// How elements get from one data type to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As floating point numbers of 64 bits.
    Float,
    /// As integers of 64 bits.
    Integer,
    /// Floating point numbers to integers as the machine does it: by way of 32 bits, of which the
    /// lower ones are kept; what has no integer becomes the least one.
    Cut,
    /// What is not 0 is true.
    Truth,
}

fn is_float(dtype: DataType) -> bool {
    dtype.is_float() || dtype.is_bfloat()
}

/// A tensor in another data type; `None` for data types that have no tensors.
pub(crate) fn converted(tensor: Tensor, dtype: DataType) -> Option<Tensor> {
    let from = tensor.dtype();
    if from == dtype {
        return Some(tensor);
    }
    let way = if dtype.is_bool() {
        Way::Truth
    } else if is_float(dtype) || is_float(from) && (dtype.bits == 64 || dtype == DataType::UINT32) {
        Way::Float
    } else if is_float(from) {
        Way::Cut
    } else {
        Way::Integer
    };
    let like = Tensor::zeros(dtype, &[])?;
    let count = tensor.len();
    each_dtype!(like, _like => {
        let mut out: Vec<T> = Vec::with_capacity(count);
        let (mut floats, mut integers) = ([0f64; PIECE], [0i64; PIECE]);
        for start in (0..count).step_by(PIECE) {
            let length = PIECE.min(count - start);
            spend(length);
            match way {
                Way::Integer => read_integers(&tensor, start, &mut integers[..length]),
                _ => read_floats(&tensor, start, &mut floats[..length]),
            }
            if way == Way::Float {
                out.extend(floats[..length].iter().map(|&x| <T as Element>::from_f64(x)));
                continue;
            }
            let pairs = integers.iter_mut().zip(&floats);
            match way {
                Way::Truth => pairs.for_each(|(to, &x)| *to = i64::from(x != 0.0)),
                Way::Cut => pairs.for_each(|(to, &x)| *to = cut(x)),
                Way::Float | Way::Integer => {}
            }
            out.extend(integers[..length].iter().map(|&x| <T as Element>::from_i64(x)));
        }
        T::tensor(tensor.shape(), out)
    })
}

fn cut(x: f64) -> i64 {
    let x = x.trunc();
    let within = x >= f64::from(i32::MIN) && x <= f64::from(i32::MAX);
    if within { x as i64 } else { i64::from(i32::MIN) }
}

fn read_floats(tensor: &Tensor, start: usize, to: &mut [f64]) {
    each_dtype!(tensor, array => {
        let from = array.as_slice().and_then(|all| all.get(start..)).unwrap_or_default();
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = Element::to_f64(x));
    });
}

fn read_integers(tensor: &Tensor, start: usize, to: &mut [i64]) {
    each_dtype!(tensor, array => {
        let from = array.as_slice().and_then(|all| all.get(start..)).unwrap_or_default();
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = Element::to_i64(x));
    });
}

/// The data type that arithmetic on elements of `dtype` is done in: half precision goes through
/// single precision, small integers through 32 bits. What is narrowed again wraps, as it would
/// have in the small type.
fn wide(dtype: DataType) -> DataType {
    match dtype {
        DataType::FLOAT16 | DataType::BFLOAT16 => DataType::FLOAT32,
        DataType::UINT32 => DataType::INT64,
        _ if !is_float(dtype) && dtype.bits < 32 => DataType::INT32,
        _ => dtype,
    }
}

/// A tensor in the data type that arithmetic is done in: one that [`each_wide`] takes.
pub(crate) fn widened(tensor: &Tensor) -> Tensor {
    let dtype = wide(tensor.dtype());
    converted(tensor.clone(), dtype).unwrap_or_else(|| tensor.clone())
}

/// As `each_dtype`, for tensors that are [`widened`].
macro_rules! each_wide {
    ($tensor:expr, $array:ident => $body:expr, else $other:expr) => {
        match $tensor {
            $crate::value::Tensor::F32($array) => {
                type T = f32;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::value::Tensor::F64($array) => {
                type T = f64;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::value::Tensor::I32($array) => {
                type T = i32;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::value::Tensor::I64($array) => {
                type T = i64;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::value::Tensor::U64($array) => {
                type T = u64;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            _ => $other,
        }
    };
}
pub(crate) use each_wide;

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(values: Vec<f64>, from: DataType, to: DataType) -> Vec<f64> {
        let count = values.len();
        let tensor = Tensor::from_f64s(from, &[count], values).expect("a tensor");
        converted(tensor, to).expect("a tensor").to_f64s()
    }

    #[test]
    fn casts() {
        let (f32, u8, i8) = (DataType::FLOAT32, DataType::UINT8, DataType::INT8);
        assert_eq!(cast(vec![-1.7, 2.9, 300.0], f32, i8), [-1.0, 2.0, 44.0]);
        assert_eq!(cast(vec![-1.0, 255.0], f32, u8), [255.0, 255.0]);
        let least = f64::from(i32::MIN);
        assert_eq!(cast(vec![f64::NAN, 1e20], f32, DataType::INT32), [least, least]);
        assert_eq!(cast(vec![0.5, 0.0], f32, DataType::BOOL), [1.0, 0.0]);
        assert_eq!(cast(vec![200.0], u8, i8), [-56.0]);
        let long: Vec<f64> = (0..2000).map(f64::from).collect();
        assert_eq!(cast(long.clone(), DataType::INT16, DataType::FLOAT64), long);
    }
}
