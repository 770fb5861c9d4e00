//! Random numbers by Threefry, which hashes a counter. The same key produces the same bits as TVM's
//! variant of the algorithm: the rotated word is added twice before the exclusive or, and the
//! position of a number is added to every word of the counter.
//!
//! A key has ten words: four of the key proper, two for the path of splits, two of the counter (of
//! which the second counts), and two of which one bit marks the position of the next split in the
//! path.

use super::{create::scalar, prelude::*};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("random.threefry_generate", generate),
    kernel("random.threefry_split", split),
    kernel("random.uniform", uniform),
    kernel("random.normal", normal),
    kernel("random.multinomial", multinomial),
];

type Key = [u64; 10];
type Block = [u64; 4];

/// The rotation of the words in each of eight rounds.
const ROTATIONS: [[u32; 2]; 8] =
    [[14, 16], [52, 57], [23, 40], [5, 37], [25, 33], [46, 12], [58, 22], [32, 32]];

/// The hash of a counter.
fn threefry(key: Block, counter: Block) -> Block {
    let [a, b, c, d] = key;
    let keys = [a, b, c, d, 0x1BD1_1BDA_A9FC_1A22 ^ a ^ b ^ c ^ d];
    let mut words = counter;
    for round in 0..20 {
        if round % 4 == 0 {
            let part = round / 4;
            for (at, word) in words.iter_mut().enumerate() {
                *word = word.wrapping_add(keys[(part + at) % 5]);
            }
            words[3] = words[3].wrapping_add(part as u64);
        }
        let mix = |x: u64, y: u64, bits: u32| {
            let sum = x.wrapping_add(y);
            (sum, sum.wrapping_add(y) ^ y.rotate_left(bits))
        };
        let [first, second] = ROTATIONS[round % 8];
        let (w0, w1) = mix(words[0], words[1], first);
        let (w2, w3) = mix(words[2], words[3], second);
        words = [w0, w3, w2, w1];
    }
    words
}

/// Advances the bit that marks the position of the next split.
fn next_split_bit(high: u64, low: u64) -> [u64; 2] {
    match high {
        0 => [0, low >> 1],
        1 => [0, 1 << 63],
        _ => [high >> 1, 0],
    }
}

/// The number of elements, the next key, and that many random bits.
fn draw(key: Key, count: usize) -> (Key, Vec<u64>) {
    let mut key = key;
    if key[7] >= u64::MAX.wrapping_sub(count as u64) {
        // The counter is exhausted.
        let [a, b, c, d, p0, p1, _, _, high, low] = key;
        key = if high == 0 {
            let [a, b, c, d] = threefry([a, b, c, d], [u64::MAX; 4]);
            [a, b, c, d, 0, 0, 0, 0, 1 << 63, 0]
        } else {
            let [next_high, next_low] = next_split_bit(high, low);
            [a, b, c, d, p0 | high, p1 | low, 0, 0, next_high, next_low]
        };
    }
    let [a, b, c, d, w0, w1, w2, w3, ..] = key;
    let mut bits = with_capacity(count.next_multiple_of(4));
    let whole = count / 4;
    for block in 0..whole as u64 {
        spend(32);
        bits.extend(threefry([a, b, c, d], [w0, w1, w2, w3].map(|word| word.wrapping_add(block))));
    }
    if !count.is_multiple_of(4) {
        let counter = [w0, w1, w2, w3.wrapping_add(whole as u64 * 4)];
        bits.extend(threefry([a, b, c, d], counter));
        bits.truncate(count);
    }
    key[6] = 0;
    key[7] = w3.wrapping_add(count.next_multiple_of(4) as u64);
    (key, bits)
}

/// The key, which is the first argument.
fn key(call: &Call<'_>) -> Result<Key, Fault> {
    let words = match call.tensor(0)? {
        Tensor::U64(array) => array.as_slice().and_then(|words| words.try_into().ok()),
        _ => None,
    };
    words.ok_or_else(|| call.fault("`key` must be a vector of ten 64 bit words"))
}

fn key_value(key: Key) -> Value {
    Value::from(Tensor::from_array(ndarray::Array1::from_vec(key.to_vec()).into_dyn()))
}

/// The shape to draw, and its number of elements.
fn out_shape(call: &Call<'_>, dtype: DataType) -> Result<(Vec<usize>, usize), Fault> {
    let sizes = call.ints("out_shape")?;
    let size = |&size: &i64| {
        usize::try_from(size).map_err(|_| call.fault(format_args!("{size} is not a valid size")))
    };
    let shape = sizes.iter().map(size).collect::<Result<Vec<usize>, Fault>>()?;
    call.allow(&shape, dtype)?;
    let count: usize = shape.iter().product();
    // Some distributions draw twice as many.
    call.allow(&[count, 2], DataType::UINT64)?;
    Ok((shape, count))
}

fn generate(call: &mut Call<'_>) -> Outcome {
    let (shape, count) = out_shape(call, DataType::UINT64)?;
    let (next, bits) = draw(key(call)?, count);
    Ok(Value::tuple([key_value(next), call.build(&shape, bits)?]))
}

fn split(call: &mut Call<'_>) -> Outcome {
    let [a, b, c, d, p0, p1, c0, c1, high, low] = key(call)?;
    if high == 0 {
        // The path is full and needs a new key.
        let [a, b, c, d] = threefry([a, b, c, d], [p0, p1, c0, c1]);
        let left = [a, b, c, d, 0, 0, 0, 0, 1 << 62, 0];
        let right = [a, b, c, d, 1 << 63, 0, 0, 0, 1 << 62, 0];
        return Ok(Value::tuple([key_value(left), key_value(right)]));
    }
    let [next_high, next_low] = next_split_bit(high, low);
    let left = [a, b, c, d, p0, p1, c0, c1, next_high, next_low];
    let right = [a, b, c, d, p0 | high, p1 | low, c0, c1, next_high, next_low];
    Ok(Value::tuple([key_value(left), key_value(right)]))
}

/// Converts bits to numbers from 0 to 1: the lower half of them becomes the fraction after `1.`.
fn fraction32(bits: u64) -> f32 {
    f32::from_bits(bits as u32 >> 9 | 0x3F80_0000) - 1.0
}

fn fraction64(bits: u64) -> f64 {
    f64::from_bits(bits >> 12 | 0x3FF0_0000_0000_0000) - 1.0
}

fn uniform(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("out_dtype");
    let (shape, count) = out_shape(call, dtype)?;
    let (low, high) = (scalar(call, 1)?, scalar(call, 2)?);
    let (next, bits) = draw(key(call)?, count);
    let numbers = match dtype {
        DataType::FLOAT32 => {
            let (low, high) = (low as f32, high as f32);
            let number = |bits| fraction32(bits) * (high - low) + low;
            call.build(&shape, mapped(&bits, number))?
        }
        DataType::FLOAT64 => {
            let number = |bits| fraction64(bits) * (high - low) + low;
            call.build(&shape, mapped(&bits, number))?
        }
        other => return call.unsupported(other),
    };
    Ok(Value::tuple([key_value(next), numbers]))
}

/// The Box-Muller transform of two numbers each.
fn normal(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("out_dtype");
    let (shape, count) = out_shape(call, dtype)?;
    let (mean, scale) = (scalar(call, 1)?, scalar(call, 2)?);
    let (next, bits) = draw(key(call)?, count * 2);
    let pairs = bits[..count].iter().zip(&bits[count..]).inspect(|_| spend(16));
    let numbers = match dtype {
        DataType::FLOAT32 => {
            let (mean, scale) = (mean as f32, scale as f32);
            let number = |(&x, &y): (&u64, &u64)| {
                let radius = (-2.0 * (1.0 - fraction32(x)).ln()).sqrt();
                let angle = std::f32::consts::TAU * fraction32(y);
                radius * angle.sin() * scale + mean
            };
            call.build(&shape, collected(pairs.map(number)))?
        }
        DataType::FLOAT64 => {
            let number = |(&x, &y): (&u64, &u64)| {
                let radius = (-2.0 * (1.0 - fraction64(x)).ln()).sqrt();
                let angle = std::f64::consts::TAU * fraction64(y);
                radius * angle.sin() * scale + mean
            };
            call.build(&shape, collected(pairs.map(number)))?
        }
        other => return call.unsupported(other),
    };
    Ok(Value::tuple([key_value(next), numbers]))
}

/// Draws indices with the probabilities in each row.
fn multinomial(call: &mut Call<'_>) -> Outcome {
    let probabilities = call.tensor(1)?;
    let Some((&choices, outer)) = probabilities.shape().split_last() else {
        return Err(call.fault("`probs` has no axis"));
    };
    let samples = call.int("num_samples")?;
    let Ok(samples) = usize::try_from(samples) else {
        return Err(call.fault(format_args!("{samples} numbers cannot be drawn")));
    };
    let mut shape = outer.to_vec();
    shape.push(samples);
    call.allow(&shape, DataType::UINT64)?;
    let (next, bits) = draw(key(call)?, shape.iter().product());
    let numbers = probabilities.to_f32s();
    let mut out: Vec<i32> = with_capacity(bits.len());
    for (row, bits) in bits.chunks(samples.max(1)).enumerate() {
        spend(choices);
        let weights = numbers.get(row * choices..(row + 1) * choices).unwrap_or_default();
        let weights = weights.iter().map(|&x| if x > 0.0 { x } else { 0.0 });
        let sum: f32 = weights.clone().sum();
        let mut so_far = 0.0;
        let shares = weights.map(|weight| {
            so_far += weight / sum;
            so_far
        });
        let shares = collected(shares);
        let bits = bits.iter().inspect(|_| spend(choices));
        out.extend(bits.map(|&bits| nearest_above(&shares, fraction32(bits))));
    }
    Ok(Value::tuple([key_value(next), call.build(&shape, out)?]))
}

/// The index of the smallest cumulative probability above the number; the first of equal ones.
fn nearest_above(shares: &[f32], number: f32) -> i32 {
    let mut found = (0, f32::INFINITY);
    for (at, share) in shares.iter().enumerate() {
        let distance = if share - number > 0.0 { share - number } else { 1.0 };
        if distance < found.1 {
            found = (at as i32, distance);
        }
    }
    found.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks() {
        // The numbers that TVM draws with the key of seed 1.
        let expected = [
            17_177_944_308_465_414_780,
            3_733_049_263_667_422_849,
            17_198_659_010_121_151_173,
            5_672_677_121_325_786_426,
        ];
        assert_eq!(threefry([1, 0, 0, 0], [0; 4]), expected);
        assert_eq!(fraction32(u64::MAX), 1.0 - f32::EPSILON);
        assert_eq!((fraction32(0), fraction64(0)), (0.0, 0.0));
    }

    #[test]
    fn splits_move_on() {
        assert_eq!(next_split_bit(1 << 63, 0), [1 << 62, 0]);
        assert_eq!(next_split_bit(1, 0), [0, 1 << 63]);
        assert_eq!(next_split_bit(0, 2), [0, 1]);
    }

    #[test]
    fn shares() {
        assert_eq!(nearest_above(&[0.25, 0.25, 1.0], 0.1), 0);
        assert_eq!(nearest_above(&[0.25, 0.25, 1.0], 0.25), 2);
        assert_eq!(nearest_above(&[], 0.5), 0);
    }
}
