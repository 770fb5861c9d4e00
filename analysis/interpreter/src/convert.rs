//! Conversions of tensors to other data types.
//!
//! Every conversion goes through 64 or 32 bits, chunk by chunk, so that code is generated for each
//! data type and not for each pair of them. Numbers are converted as by [`cast`](crate::cast).

use types::DataType;

use crate::{
    allocate::with_capacity,
    interrupt::spend,
    tensor::{Element, Tensor, each_dtype, elements},
};

/// The number of elements that are converted at once.
const CHUNK: usize = 512;

/// The conversion of elements from one data type to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IntermediateType {
    /// Through 64 bit floating point.
    Double,
    /// Through 32 bit floating point, to which other floating point numbers are rounded.
    Single,
    /// Through 64 bit integers.
    Integer,
}

fn is_float(dtype: DataType) -> bool {
    dtype.is_float() || dtype.is_bfloat()
}

fn through(from: DataType, to: DataType) -> IntermediateType {
    if is_float(to) {
        // Double precision is rounded to half precision only once.
        if to.bits == 64 || from == DataType::FLOAT64 {
            IntermediateType::Double
        } else {
            IntermediateType::Single
        }
    } else if is_float(from) {
        IntermediateType::Double
    } else {
        IntermediateType::Integer
    }
}

/// Converts a tensor; `None` for data types that tensors do not support.
pub(crate) fn converted(tensor: Tensor, dtype: DataType) -> Option<Tensor> {
    let from = tensor.dtype();
    if from == dtype {
        return Some(tensor);
    }
    let through = through(from, dtype);
    let like = Tensor::zeros(dtype, &[])?;
    let count = tensor.len();
    each_dtype!(like, _like => {
        let mut out = with_capacity::<T>(count);
        let (mut doubles, mut singles, mut integers) = ([0f64; CHUNK], [0f32; CHUNK], [0i64; CHUNK]);
        for start in (0..count).step_by(CHUNK) {
            let length = CHUNK.min(count - start);
            spend(length);
            match through {
                IntermediateType::Double => {
                    tensor.read_f64s(start, &mut doubles[..length]);
                    out.extend(doubles[..length].iter().map(|&x| <T as Element>::from_f64(x)));
                }
                IntermediateType::Single => {
                    read_singles(&tensor, start, &mut singles[..length]);
                    out.extend(singles[..length].iter().map(|&x| <T as Element>::from_f32(x)));
                }
                IntermediateType::Integer => {
                    read_integers(&tensor, start, &mut integers[..length]);
                    out.extend(integers[..length].iter().map(|&x| <T as Element>::from_i64(x)));
                }
            }
        }
        T::tensor(tensor.shape(), out)
    })
}

fn read_singles(tensor: &Tensor, start: usize, to: &mut [f32]) {
    each_dtype!(tensor, array => {
        let from = elements(array).get(start..).unwrap_or_default();
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = Element::to_f32(x));
    });
}

fn read_integers(tensor: &Tensor, start: usize, to: &mut [i64]) {
    each_dtype!(tensor, array => {
        let from = elements(array).get(start..).unwrap_or_default();
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = Element::to_i64(x));
    });
}

/// Returns the data type in which arithmetic on elements of `dtype` is computed: single precision for half
/// precision, 32 bits for small integers. Narrowing the result wraps just as the small type would.
fn wide(dtype: DataType) -> DataType {
    match dtype {
        DataType::FLOAT16 | DataType::BFLOAT16 => DataType::FLOAT32,
        DataType::UINT32 => DataType::INT64,
        _ if !is_float(dtype) && dtype.bits < 32 => DataType::INT32,
        _ => dtype,
    }
}

/// Converts a tensor to the data type in which its arithmetic is computed, one of those of
/// [`each_wide`].
pub(crate) fn widened(tensor: &Tensor) -> Tensor {
    let dtype = wide(tensor.dtype());
    converted(tensor.clone(), dtype).unwrap_or_else(|| tensor.clone())
}

/// Like `each_dtype`, for tensors that are [`widened`].
macro_rules! each_wide {
    ($tensor:expr, $array:ident => $body:expr, else $other:expr) => {
        match $tensor {
            $crate::tensor::Tensor::F32($array) => {
                type T = f32;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::tensor::Tensor::F64($array) => {
                type T = f64;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::tensor::Tensor::I32($array) => {
                type T = i32;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::tensor::Tensor::I64($array) => {
                type T = i64;
                let _ = std::marker::PhantomData::<T>;
                $body
            }
            $crate::tensor::Tensor::U64($array) => {
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
        assert_eq!(cast(vec![0.5, 0.0, f64::NAN], f32, DataType::BOOL), [1.0, 0.0, 1.0]);
        assert_eq!(cast(vec![200.0], u8, i8), [-56.0]);
        let long: Vec<f64> = (0..2000).map(f64::from).collect();
        assert_eq!(cast(long.clone(), DataType::INT16, DataType::FLOAT64), long);
    }

    #[test]
    fn half_precision_is_rounded_once() {
        // Slightly above the middle of two neighbours. Single precision has no room for the excess,
        // and rounds to the middle, which half precision would round down to even.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(cast(vec![above], DataType::FLOAT64, DataType::FLOAT16), [1.0 + 2f64.powi(-10)]);
        // Brain floating point goes through single precision.
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(cast(vec![above], DataType::FLOAT64, DataType::BFLOAT16), [1.0]);
    }

    /// Checks the definition of rounding for all numbers of half precision and those next to and
    /// between them.
    #[test]
    fn half_precision_rounds_to_nearest() {
        let value = |bits: u16| half::f16::from_bits(bits).to_f64();
        for bits in 0..0x7BFFu16 {
            let (low, high) = (value(bits), value(bits + 1));
            let middle = f64::midpoint(low, high);
            let even = if bits % 2 == 0 { low } else { high };
            let cases = [
                (low, low),
                (middle.next_down(), low),
                (middle, even),
                (middle.next_up(), high),
                (high.next_down(), high),
            ];
            for (x, wanted) in cases {
                let found = <half::f16 as Element>::from_f64(x).to_f64();
                assert_eq!(found, wanted, "{x:e}, after {low}");
                assert_eq!(<half::f16 as Element>::from_f64(-x).to_f64(), -wanted);
            }
        }
    }
}
