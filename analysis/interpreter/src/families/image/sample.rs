//! Sampling at the points of a grid.

use super::*;
use num_traits::Float;

/// The values outside of the data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PaddingMode {
    Zeros,
    Border,
    Reflection,
}

/// The interpolation between elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Nearest,
    Linear,
    Cubic,
}

struct Sampler {
    outside: PaddingMode,
    method: Method,
    align_corners: bool,
    /// The spatial sizes of the data, outermost first.
    sizes: Vec<usize>,
}

/// `image.grid_sample`, in two or three dimensions.
pub(super) fn grid_sample(call: &mut Call<'_>) -> Outcome {
    let (shape, dtype) = call.result()?;
    let (data, grid) = (call.tensor(0)?, call.tensor(1)?);
    let axes = data.rank().saturating_sub(2);
    let outside = match call.str("padding_mode") {
        "zeros" => PaddingMode::Zeros,
        "border" => PaddingMode::Border,
        "reflection" => PaddingMode::Reflection,
        other => return Err(call.fault(format_args!("unknown padding mode \"{other}\""))),
    };
    let method = match call.str("method") {
        "nearest" => Method::Nearest,
        "bilinear" | "trilinear" => Method::Linear,
        "bicubic" if axes == 2 => Method::Cubic,
        other => return Err(call.fault(format_args!("unknown method \"{other}\""))),
    };
    let fits = (axes == 2 || axes == 3)
        && grid.rank() == axes + 2
        && grid.shape()[0] == data.shape()[0]
        && grid.shape()[1] == axes
        && shape.get(2..) == grid.shape().get(2..);
    if !fits {
        return Err(call.fault("the grid does not fit the data"));
    }
    let sizes = data.shape()[2..].to_vec();
    let sampler = Sampler { outside, method, align_corners: call.bool("align_corners"), sizes };
    // TVM computes in the data type of the grid.
    let made = if grid.dtype() == DataType::FLOAT64 || data.dtype() == DataType::FLOAT64 {
        let out = sampler.run(&data.to_f64s(), &grid.to_f64s(), &shape);
        f64::tensor(&shape, out)
    } else if let (Tensor::F16(data), Tensor::F16(grid)) = (data, grid) {
        let (data, grid) = (data.as_slice(), grid.as_slice());
        let out = sampler.run(data.unwrap_or_default(), grid.unwrap_or_default(), &shape);
        half::f16::tensor(&shape, out)
    } else {
        f32::tensor(&shape, sampler.run(&data.to_f32s(), &grid.to_f32s(), &shape))
    };
    match made.and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// Converts a number that every `T` here can represent.
fn number<T: Float>(x: f64) -> T {
    T::from(x).unwrap_or_else(T::zero)
}

/// Converts a whole number to an integer; other numbers are far out of range.
fn whole<T: Float>(x: T) -> i64 {
    x.to_i64().filter(|x| x.unsigned_abs() < 1 << 31).unwrap_or(i64::from(i32::MIN))
}

impl Sampler {
    fn run<T: Float + Send + Sync>(&self, data: &[T], grid: &[T], shape: &[usize]) -> Vec<T> {
        let axes = self.sizes.len();
        let places: usize = shape[2..].iter().product();
        let area: usize = self.sizes.iter().product();
        let channels = shape[1];
        let mut out = repeated(T::zero(), shape.iter().product());
        if out.is_empty() {
            return out;
        }
        each_chunk(&mut out, places, 32, &|at, to| {
            let plane = data.get(at * area..(at + 1) * area).unwrap_or_default();
            let grid = &grid[at / channels * axes * places..];
            for (place, to) in to.iter_mut().enumerate() {
                spend(32);
                // The grid holds x before y.
                let mut x = [T::zero(); 3];
                for (axis, x) in x.iter_mut().enumerate().take(axes) {
                    let from = grid[(axes - 1 - axis) * places + place];
                    *x = self.coordinate(from, self.sizes[axis]);
                }
                *to = match self.method {
                    Method::Nearest => self.nearest(plane, &x[..axes]),
                    Method::Linear => self.linear(plane, &x[..axes]),
                    Method::Cubic => self.cubic(plane, x[0], x[1]),
                };
            }
        });
        out
    }

    /// Converts -1 … 1 to positions of elements.
    fn coordinate<T: Float>(&self, x: T, size: usize) -> T {
        let (one, two, size_of) = (T::one(), number::<T>(2.0), number::<T>(size as f64));
        let x = if self.align_corners {
            (x + one) * (size_of - one) / two
        } else {
            number::<T>(-0.5) + (x + one) * size_of / two
        };
        match self.outside {
            // The cubic method clamps the elements instead of the position.
            _ if self.method == Method::Cubic => x,
            PaddingMode::Zeros => x,
            PaddingMode::Border => clip(x, size),
            PaddingMode::Reflection => clip(self.reflect(x, size), size),
        }
    }

    /// Reflects a position at the borders until it is inside.
    fn reflect<T: Float>(&self, x: T, size: usize) -> T {
        let (size, corner) = if self.align_corners {
            (size.saturating_sub(1), T::zero())
        } else {
            (size, number::<T>(-0.5))
        };
        let length = number::<T>(size as f64);
        if x >= corner && x <= length + corner {
            return x;
        }
        if size == 0 {
            return corner;
        }
        let distance = (corner - x).abs();
        let times = whole(distance.trunc()) / size as i64;
        let rest = distance - number::<T>((times * size as i64) as f64);
        if times % 2 == 0 { rest + corner } else { length - rest + corner }
    }

    fn element<T: Float>(&self, plane: &[T], at: &[i64]) -> T {
        let mut place = 0;
        for (&at, &size) in at.iter().zip(&self.sizes) {
            match usize::try_from(at) {
                Ok(at) if at < size => place = place * size + at,
                _ => return T::zero(),
            }
        }
        plane.get(place).copied().unwrap_or_else(T::zero)
    }

    fn nearest<T: Float>(&self, plane: &[T], x: &[T]) -> T {
        let mut at = [0i64; 3];
        // Halves are rounded to even.
        let even = |x: T| match x.to_f64() {
            Some(x) => whole(x.round_ties_even()),
            None => i64::from(i32::MIN),
        };
        at.iter_mut().zip(x).for_each(|(at, &x)| *at = even(x));
        self.element(plane, &at[..x.len()])
    }

    fn linear<T: Float>(&self, plane: &[T], x: &[T]) -> T {
        let axes = x.len();
        let mut first = [0i64; 3];
        let mut part = [T::zero(); 3];
        for axis in 0..axes {
            first[axis] = whole(x[axis].floor());
            part[axis] = x[axis] - number::<T>(first[axis] as f64);
        }
        let mut sum = T::zero();
        for corner in 0..1usize << axes {
            let mut at = [0i64; 3];
            for axis in 0..axes {
                at[axis] = first[axis] + (corner >> (axes - 1 - axis) & 1) as i64;
            }
            let mut term = self.element(plane, &at[..axes]);
            for (axis, &part) in part.iter().enumerate().take(axes) {
                let second = corner >> (axes - 1 - axis) & 1 == 1;
                term = term * if second { part } else { T::one() - part };
            }
            sum = sum + term;
        }
        sum
    }

    fn cubic<T: Float>(&self, plane: &[T], y: T, x: T) -> T {
        let (row, column) = (whole(y.floor()), whole(x.floor()));
        let (down, across) =
            (cubic_weights(y - number::<T>(row as f64)), cubic_weights(x - number(column as f64)));
        let mut sum = T::zero();
        for (i, &down) in (-1..3).zip(&down) {
            let mut line = T::zero();
            for (j, &across) in (-1..3).zip(&across) {
                let at =
                    [self.inside(row + i, self.sizes[0]), self.inside(column + j, self.sizes[1])];
                line = line + self.element(plane, &at) * across;
            }
            sum = sum + line * down;
        }
        sum
    }

    /// Clamps or reflects an index, if elements outside of the data are defined that way.
    fn inside(&self, at: i64, size: usize) -> i64 {
        match self.outside {
            PaddingMode::Zeros => at,
            PaddingMode::Border => at.clamp(0, size.saturating_sub(1) as i64),
            PaddingMode::Reflection => clip(self.reflect(at as f64, size), size) as i64,
        }
    }
}

/// Clamps a position to the elements; NaN becomes the first.
fn clip<T: Float>(x: T, size: usize) -> T {
    let x = if x > T::zero() { x } else { T::zero() };
    let last = number::<T>(size.saturating_sub(1) as f64);
    if x < last { x } else { last }
}

/// The weights of the four elements around a position that is `t` after the second of them, with
/// the free parameter -0.75.
fn cubic_weights<T: Float>(t: T) -> [T; 4] {
    let a: T = number(-0.75);
    let c = number::<T>;
    let near = |t: T| ((a + c(2.0)) * t - (a + c(3.0))) * t * t + T::one();
    let far = |t: T| ((a * t - c(5.0) * a) * t + c(8.0) * a) * t - c(4.0) * a;
    [far(t + T::one()), near(t), near(T::one() - t), far(c(2.0) - t)]
}
