//! Random arguments.

use interpreter::{Element, Value, bf16, count_of, f16};
use rayon::prelude::*;
use semantics::module::ModuleTypes;
use types::{AdtType, DataType, TensorType, Type};

use super::{constructors, no_tensors};

/// Draws values from a seed: the same for the same seed everywhere.
///
/// The distribution keeps the values of a network in bounds: weights have a deviation of one over the
/// square root of the numbers that are summed up with them, and vectors are positive, because the
/// variances of a batch norm are vectors. Integers are from 0 to 9, as indices may be.
pub(super) struct Draw(u64);

/// The number of elements that one task generates.
const CHUNK: usize = 1 << 16;
/// The number of chunks between checks for cancellation, one or two milliseconds.
const CHUNKS: usize = 16;

impl Draw {
    /// Creates a generator from a seed.
    pub(super) fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    /// Returns the next number of SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a uniform number in [0, 1).
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Returns an approximately normal number with mean 0 and deviation 1.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let part = |shift: u32| ((bits >> shift) & 0x1F_FFFF) as f32 / (1u32 << 21) as f32;
        (part(0) + part(21) + part(42) - 1.5) * 2.0
    }

    /// Draws `count` numbers on all cores.
    fn numbers<T: Send + Copy + Default>(
        &mut self,
        count: usize,
        one: impl Fn(&mut Draw) -> T + Sync,
    ) -> Vec<T> {
        let seed = self.next();
        let mut numbers = interpreter::repeated(T::default(), count);
        for (segment, numbers) in numbers.chunks_mut(CHUNK * CHUNKS).enumerate() {
            interpreter::poll();
            numbers.par_chunks_mut(CHUNK).enumerate().for_each(|(number, chunk)| {
                let number = (segment * CHUNKS + number) as u64;
                let mut draw = Draw(seed ^ number.wrapping_mul(0xD129_0A4B_5C3F_7E91));
                chunk.iter_mut().for_each(|element| *element = one(&mut draw));
            });
        }
        numbers
    }

    /// Draws a value of a type.
    ///
    /// # Errors
    /// The reason that no value can be generated, as the text after a colon.
    pub(super) fn value(&mut self, ty: &Type, types: &ModuleTypes) -> Result<Value, String> {
        self.within(ty, types, 0)
    }

    /// Draws a value within `depth` data values.
    fn within(&mut self, ty: &Type, types: &ModuleTypes, depth: u32) -> Result<Value, String> {
        interpreter::poll();
        match ty {
            Type::Tensor(tensor) => self.tensor(ty, tensor),
            Type::Tuple(fields) => {
                let fields = fields.iter().map(|field| self.within(field, types, depth));
                Ok(Value::tuple(fields.collect::<Result<Vec<Value>, String>>()?))
            }
            Type::Ref(held) => Ok(Value::reference(self.within(held.inner(), types, depth)?)),
            Type::Adt(adt) => self.data(adt, types, depth),
            Type::Func(_) => Err("there are no random functions".to_owned()),
            _ => Err(format!("the type {ty} is open")),
        }
    }

    /// Draws a value of a data type. Constructors with fewer fields are chosen at larger depths, so
    /// that it terminates; lists have a few elements.
    fn data(&mut self, adt: &AdtType, types: &ModuleTypes, depth: u32) -> Result<Value, String> {
        let mut choices = constructors(adt, types);
        choices.retain(|(_, fields)| fields.iter().all(|field| !matches!(field, Type::Func(_))));
        if depth >= DEEP {
            let least = choices.iter().map(|(_, fields)| fields.len()).min();
            choices.retain(|(_, fields)| Some(fields.len()) == least);
        }
        if depth >= MAX_DEPTH || choices.is_empty() {
            return Err(format!("all values of `{}` are infinite", adt.name()));
        }
        let (name, fields) = choices.swap_remove((self.next() % choices.len() as u64) as usize);
        let fields = fields.iter().map(|field| self.within(field, types, depth + 1));
        Ok(Value::data(name, fields.collect::<Result<Vec<Value>, String>>()?))
    }

    fn tensor(&mut self, ty: &Type, tensor: &TensorType) -> Result<Value, String> {
        let dtype = tensor.dtype;
        let shape: Option<Vec<usize>> = tensor.lengths();
        let Some(shape) = shape else { return Err(format!("the sizes of {ty} are not known")) };
        let Some(count) = count_of(&shape) else {
            return Err(format!("{ty} has more elements than can be counted"));
        };
        let summed: usize = shape.iter().skip(1).product();
        // With a batch size of one it is an input rather than a weight.
        let is_weight = shape.len() > 1 && shape.first() != Some(&1);
        let scale = if is_weight { 1.0 / (summed.max(1) as f32).sqrt() } else { 1.0 };
        let float = |draw: &mut Draw| match shape.len() {
            0 | 1 => draw.unit() + 0.5,
            _ => draw.normal() * scale,
        };
        let most = if dtype.is_bool() { 2 } else { 10 };
        let whole = |draw: &mut Draw| (draw.next() % most) as i64;
        macro_rules! drawn {
            ($($dtype:ident $ty:ty = $number:ident $one:expr,)*) => {
                match dtype {
                    $(DataType::$dtype => {
                        let one = |draw: &mut Draw| <$ty as Element>::$number($one(draw));
                        <$ty>::tensor(&shape, self.numbers(count, one))
                    })*
                    _ => None,
                }
            };
        }
        let made = drawn! {
            BOOL bool = from_i64 whole,
            INT8 i8 = from_i64 whole,
            INT16 i16 = from_i64 whole,
            INT32 i32 = from_i64 whole,
            INT64 i64 = from_i64 whole,
            UINT8 u8 = from_i64 whole,
            UINT16 u16 = from_i64 whole,
            UINT32 u32 = from_i64 whole,
            UINT64 u64 = from_i64 whole,
            FLOAT16 f16 = from_f32 float,
            BFLOAT16 bf16 = from_f32 float,
            FLOAT32 f32 = from_f32 float,
            FLOAT64 f64 = from_f32 float,
        };
        let tensor = made.ok_or_else(|| no_tensors(dtype))?;
        interpreter::charge(tensor.bytes() as u64);
        Ok(tensor.into())
    }
}

/// The depth from which constructors without fields are preferred.
const DEEP: u32 = 4;
/// The largest depth of a value.
const MAX_DEPTH: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, shape: &[i64], dtype: DataType) -> Vec<f64> {
        let dims = shape.iter().map(|&size| types::Dim::known(size));
        let value =
            Draw(seed).value(&Type::tensor(dims, dtype), &ModuleTypes::default()).expect("a value");
        value.as_tensor().expect("a tensor").to_f64s()
    }

    #[test]
    fn drawn_values_depend_on_shape_and_type() {
        let weights = drawn(1, &[100, 2000], DataType::FLOAT32);
        assert_eq!(weights, drawn(1, &[100, 2000], DataType::FLOAT32));
        assert_ne!(weights, drawn(2, &[100, 2000], DataType::FLOAT32));
        let squares = weights.iter().map(|x| x * x).sum::<f64>() / weights.len() as f64;
        assert!((squares * 2000.0 - 1.0).abs() < 0.05, "{squares}");
        assert!((weights.iter().sum::<f64>() / weights.len() as f64).abs() < 1e-3);
        assert!(drawn(1, &[64], DataType::FLOAT16).iter().all(|&x| (0.5..=1.5).contains(&x)));
        let indices = drawn(1, &[1000], DataType::INT64);
        assert!((0..10).all(|k| indices.contains(&f64::from(k))), "{indices:?}");
        assert!(drawn(1, &[64], DataType::BOOL).contains(&0.0));
    }
}
