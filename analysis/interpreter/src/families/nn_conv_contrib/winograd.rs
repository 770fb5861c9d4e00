//! Winograd's algorithm, and convolutions as products with weights in tiles.
//!
//! A tile of the result is `Aᵀ ((G w Gᵀ) · (Bᵀ d B)) A`. The matrices are determined by the
//! evaluation points of polynomials (Cook and Toom), which are those of TVM.

use super::{
    super::{
        layouts,
        nn_conv::{convolve, padding, steps},
        nn_dense::out_dtype,
    },
    *,
};

/// The matrices of one axis in row-major order.
struct Matrices {
    /// The size of a tile of the result.
    tile: usize,
    /// The size of a tile of the data: `tile + window - 1`.
    alpha: usize,
    /// `alpha` rows, `tile` columns.
    a: Vec<Vec<f64>>,
    /// `alpha` rows and columns.
    b: Vec<Vec<f64>>,
    /// `alpha` rows, `window` columns.
    g: Vec<Vec<f64>>,
}

/// The evaluation points.
fn points(count: usize) -> Option<Vec<f64>> {
    let (half, quarter, thirds) = (0.5, 0.25, 4.0 / 3.0);
    let short = [0.0, -1.0, 1.0, half, -2.0, -half];
    let long = [0.0, -1.0, 1.0, half, -half, 2.0, -2.0, -quarter];
    let of = |first: usize, more: &[f64]| [&long[..first], more].concat();
    Some(match count {
        3..=6 => short[..count].to_vec(),
        7 | 8 => of(count, &[]),
        9 => of(8, &[4.0]),
        10 => of(8, &[0.75, -thirds]),
        11 => of(8, &[4.0, 0.75, -thirds]),
        12 => of(8, &[4.0, 0.75, -thirds, quarter]),
        13 => of(8, &[4.0, quarter, -0.75, thirds, -4.0]),
        14 => of(8, &[4.0, quarter, -0.75, thirds, 0.75, -thirds]),
        _ => return None,
    })
}

impl Matrices {
    fn new(call: &Call<'_>, tile: usize, window: usize) -> Result<Matrices, Fault> {
        let alpha = tile + window.saturating_sub(1);
        let points = match (tile, window) {
            (2..9, 3..8) => points(alpha - 1),
            _ => None,
        };
        let Some(points) = points else {
            return Err(call.fault(format_args!(
                "there is no transform for tiles of {tile} and a window of {window}: tiles have \
                 2 to 8 places, windows 3 to 7"
            )));
        };
        let others = |i: usize| {
            points.iter().enumerate().filter(move |&(k, _)| k != i).map(|(_, &point)| point)
        };
        let products: Vec<f64> =
            (0..alpha - 1).map(|i| others(i).map(|other| points[i] - other).product()).collect();
        let mut scale = products.clone();
        scale.push(1.0);
        if scale[0] < 0.0 {
            scale[0] = -scale[0];
        }
        let powers = |columns: usize| -> Vec<Vec<f64>> {
            let row = |&x: &f64| (0..columns).map(|j| x.powi(j as i32)).collect();
            let mut rows: Vec<Vec<f64>> = points.iter().map(row).collect();
            rows.push((0..columns).map(|j| f64::from(u8::from(j + 1 == columns))).collect());
            rows
        };
        let mut g = powers(window);
        for (row, by) in g.iter_mut().zip(&scale) {
            row.iter_mut().for_each(|x| *x /= by);
        }
        let mut b = collected((0..alpha).map(|_| repeated(0f64, alpha)));
        for i in 0..alpha - 1 {
            // The polynomial whose roots are the other points, lowest power first.
            let mut polynomial = vec![1.0];
            for root in others(i) {
                let mut next = repeated(0.0, polynomial.len() + 1);
                for (power, x) in polynomial.iter().enumerate() {
                    next[power + 1] += x;
                    next[power] -= root * x;
                }
                polynomial = next;
            }
            let last = -points[i].powi(alpha as i32 - 1);
            for (power, x) in polynomial.iter().enumerate() {
                let x = x / products[i];
                b[power][i] += x * scale[i];
                b[power][alpha - 1] += x * last;
            }
        }
        b[alpha - 1][alpha - 1] = 1.0;
        Ok(Matrices { tile, alpha, a: powers(tile), b, g })
    }

    /// An axis that is not transformed: each element of the result is a plain sum.
    fn plain(call: &Call<'_>, window: usize) -> Result<Matrices, Fault> {
        // It still needs a matrix, of the size of the window's depth.
        call.allow(&[window, window], DataType::FLOAT64)?;
        let unit = || {
            collected((0..window).map(|i| {
                let row = watched(0..window).map(|j| f64::from(u8::from(i == j)));
                collected(row)
            }))
        };
        let a = collected((0..window).map(|_| repeated(1.0, 1)));
        Ok(Matrices { tile: 1, alpha: window, a, g: unit(), b: unit() })
    }
}

/// Multiplies the elements along one axis by the columns of a matrix. The data has the shape
/// `(outer, rows of the matrix, inner)`.
fn along(data: &[f64], inner: usize, matrix: &[Vec<f64>]) -> Vec<f64> {
    let columns = matrix.first().map_or(0, Vec::len);
    let block = matrix.len() * inner;
    let mut out = with_capacity(data.len() / block.max(1) * columns * inner);
    for from in data.chunks_exact(block.max(1)) {
        for column in 0..columns {
            let start = out.len();
            out.resize(start + inner, 0.0);
            for (row, factors) in matrix.iter().enumerate() {
                let factor = factors[column];
                spend(inner);
                if factor != 0.0 {
                    let line = &from[row * inner..(row + 1) * inner];
                    out[start..].iter_mut().zip(line).for_each(|(to, x)| *to += x * factor);
                }
            }
        }
    }
    out
}

fn transposed_matrix(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = matrix.first().map_or(0, Vec::len);
    (0..columns).map(|j| matrix.iter().map(|row| row[j]).collect()).collect()
}

fn tile_size(call: &Call<'_>) -> Result<usize, Fault> {
    usize::try_from(call.int("tile_size")?).map_err(|_| call.fault("`tile_size` is below 0"))
}

/// Transforms a weight `(outputs, inputs, window…)` along its last `axes` axes, which become the
/// first axes of the result.
fn transformed(call: &Call<'_>, axes: usize) -> Outcome {
    let weight = call.tensor(0)?;
    let shape = weight.shape().to_vec();
    let rank = shape.len();
    if rank < axes + 2 || shape[rank - axes..].iter().any(|&size| size != shape[rank - 1]) {
        return Err(call.fault("the sides of the window must be equal"));
    }
    let matrices = Matrices::new(call, tile_size(call)?, shape[rank - 1])?;
    let by = transposed_matrix(&matrices.g);
    let mut made = shape.clone();
    made[rank - axes..].fill(matrices.alpha);
    call.allow(&made, weight.dtype())?;
    let mut values = weight.to_f64s();
    for axis in (rank - axes..rank).rev() {
        let inner: usize = made[axis + 1..].iter().product();
        values = along(&values, inner, &by);
    }
    let Some(tensor) = Tensor::from_f64s(weight.dtype(), &made, values) else {
        return call.unsupported(weight.dtype());
    };
    let mut order: Vec<usize> = (rank - axes..rank).collect();
    order.extend(2..rank - axes);
    order.extend([0, 1]);
    Ok(tensor.permuted(&order).into())
}

/// `nn.contrib_conv2d_winograd_weight_transform`
pub(super) fn weight2d(call: &mut Call<'_>) -> Outcome {
    transformed(call, 2)
}

/// `nn.contrib_conv3d_winograd_weight_transform`: the depth is transformed if it equals the height
/// and the width.
pub(super) fn weight3d(call: &mut Call<'_>) -> Outcome {
    let &[_, _, depth, height, _] = call.tensor(0)?.shape() else {
        return Err(call.fault("the weight has the wrong rank"));
    };
    let deep = (3..8).contains(&depth) && depth == height;
    transformed(call, if deep { 3 } else { 2 })
}

/// `nn.contrib_conv2d_winograd_without_weight_transform`
pub(super) fn conv2d(call: &mut Call<'_>) -> Outcome {
    convolution(call, "NCHW")
}

/// `nn.contrib_conv3d_winograd_without_weight_transform`
pub(super) fn conv3d(call: &mut Call<'_>) -> Outcome {
    convolution(call, "NCDHW")
}

fn convolution(call: &mut Call<'_>, plain: &str) -> Outcome {
    let dtype = out_dtype(call)?;
    let layout = match call.str("data_layout") {
        "" => plain,
        written => written,
    };
    let out_layout = match call.str("out_layout") {
        "" => layout,
        written => written,
    };
    let data = layouts::convert(call, call.tensor(0)?, layout, plain)?;
    let weight = call.tensor(1)?;
    let axes = plain.len() - 2;
    if data.rank() != axes + 2 || weight.rank() != axes + 2 {
        return Err(call.fault("the arguments have the wrong rank"));
    }
    let one = |steps: &[usize]| steps.iter().all(|&step| step == 1);
    let (strides, dilations) = (steps(call, "strides", axes)?, steps(call, "dilation", axes)?);
    if !one(&strides) || !one(&dilations) {
        return Err(call.fault("Winograd's algorithm only supports strides and dilations of 1"));
    }
    let padding = padding(call, axes)?;
    let tile = tile_size(call)?;
    // The transformed axes come first and have equal sizes.
    let front = &weight.shape()[..axes];
    if front.contains(&0) {
        return Err(call.fault("the weight is empty"));
    }
    let deep = axes == 2 || front[2] == front[0];
    let side = |alpha: usize| Matrices::new(call, tile, (alpha + 1).saturating_sub(tile));
    let mut matrices = with_capacity(axes);
    for axis in 0..axes {
        // In the order of the data: an untransformed depth is the last axis of the weight.
        matrices.push(match (deep, axis) {
            (true, _) => side(front[axis])?,
            (false, 0) => Matrices::plain(call, front[2])?,
            (false, _) => side(front[axis - 1])?,
        });
    }
    let (batches, inputs) = (data.shape()[0], data.shape()[1]);
    // The transform of the weight puts outputs first; for "NCHW", TVM swaps them with the inputs.
    let (outputs_first, outputs) = match (weight.shape()[axes], weight.shape()[axes + 1]) {
        (a, b) if b == inputs && (a != inputs || layout != plain) => (true, a),
        (a, b) if a == inputs => (false, b),
        (a, b) => {
            return Err(
                call.fault(format_args!("{inputs} channels do not match a weight of {a} by {b}"))
            );
        }
    };
    // The weight as (window…, outputs, inputs), with the window in the order of the data.
    let mut order: Vec<usize> = if deep { (0..axes).collect() } else { vec![2, 0, 1] };
    order.extend(if outputs_first { [axes, axes + 1] } else { [axes + 1, axes] });
    let factors = weight.permuted(&order).to_f64s();
    let sizes = &data.shape()[2..];
    let mut counts = with_capacity(axes);
    for axis in 0..axes {
        let window = matrices[axis].alpha + 1 - matrices[axis].tile;
        let padded = sizes[axis].saturating_add(padding[axis].0).saturating_add(padding[axis].1);
        counts.push(padded.saturating_add(1).saturating_sub(window));
    }
    let mut shape = vec![batches, outputs];
    shape.extend(&counts);
    call.allow(&shape, dtype)?;
    let x = data.to_f64s();
    let mut out = repeated(0f64, shape.iter().product());
    let tiles: Vec<usize> =
        counts.iter().zip(&matrices).map(|(count, one)| count.div_ceil(one.tile)).collect();
    let alphas: Vec<usize> = matrices.iter().map(|one| one.alpha).collect();
    let window: usize = alphas.iter().product();
    let area: usize = sizes.iter().product();
    let places: usize = counts.iter().product();
    for batch in 0..batches {
        let mut at = repeated(0usize, axes);
        for _ in 0..tiles.iter().product() {
            // A tile of the data, channel by channel, transformed along each axis.
            let mut values = with_capacity(inputs * window);
            for channel in 0..inputs {
                let plane = &x[(batch * inputs + channel) * area..][..area];
                let mut index = repeated(0usize, axes);
                for _ in 0..window {
                    let mut place = Some(0);
                    for axis in 0..axes {
                        let start = at[axis] * matrices[axis].tile + index[axis];
                        let one = start.checked_sub(padding[axis].0);
                        let one = one.filter(|&one| one < sizes[axis]);
                        place = place.zip(one).map(|(place, one)| place * sizes[axis] + one);
                    }
                    values.push(place.map_or(0.0, |place| plane[place]));
                    super::super::index::advance(&mut index, &alphas);
                }
            }
            for axis in (0..axes).rev() {
                let inner: usize = alphas[axis + 1..].iter().product();
                values = along(&values, inner, &matrices[axis].b);
            }
            let mut sums = repeated(0f64, outputs * window);
            for place in 0..window {
                for output in 0..outputs {
                    let factors = &factors[(place * outputs + output) * inputs..][..inputs];
                    spend(inputs);
                    let terms = factors.iter().enumerate();
                    sums[output * window + place] =
                        terms.map(|(input, w)| w * values[input * window + place]).sum();
                }
            }
            let mut inner = 1;
            for axis in (0..axes).rev() {
                sums = along(&sums, inner, &matrices[axis].a);
                inner *= matrices[axis].tile;
            }
            let sides: Vec<usize> = matrices.iter().map(|one| one.tile).collect();
            for output in 0..outputs {
                let to = &mut out[(batch * outputs + output) * places..][..places];
                let mut index = repeated(0usize, axes);
                for value in &sums[output * inner..(output + 1) * inner] {
                    let mut place = Some(0);
                    for axis in 0..axes {
                        let one = at[axis] * sides[axis] + index[axis];
                        place = place
                            .filter(|_| one < counts[axis])
                            .map(|place| place * counts[axis] + one);
                    }
                    if let Some(place) = place {
                        to[place] = *value;
                    }
                    super::super::index::advance(&mut index, &sides);
                }
            }
            super::super::index::advance(&mut at, &tiles);
        }
    }
    match Tensor::from_f64s(dtype, &shape, out) {
        Some(out) => Ok(layouts::convert(call, &out, plain, out_layout)?.into()),
        None => call.unsupported(dtype),
    }
}

/// `nn.contrib_conv2d_gemm_weight_transform`: converts a weight `(height, width, inputs, outputs)`
/// to a matrix with one row per product and one column per output, in tiles padded with zeros.
pub(super) fn gemm_weight(call: &mut Call<'_>) -> Outcome {
    let (shape, _) = call.result()?;
    let weight = call.tensor(0)?;
    let outputs = weight.shape().last().copied().unwrap_or(0);
    let &[across, down, rows, columns] = shape.as_slice() else {
        return Err(call.fault("the weight has the wrong rank"));
    };
    let depth = weight.len() / outputs.max(1);
    each_dtype!(weight, array => {
        let elements = array.as_slice().unwrap_or_default();
        let mut out = with_capacity(shape.iter().product());
        for tile in 0..across * down {
            for cell in watched(0..rows * columns) {
                let output = tile / down * rows + cell / columns;
                let row = tile % down * columns + cell % columns;
                let inside = row < depth && output < outputs;
                out.push(if inside { elements[row * outputs + output] } else { T::default() });
            }
        }
        call.build(&shape, out)
    })
}

/// `nn.contrib_conv2d_gemm_without_weight_transform`
pub(super) fn gemm(call: &mut Call<'_>) -> Outcome {
    let dtype = out_dtype(call)?;
    let layout = match call.str("data_layout") {
        "" => "NHWC",
        written => written,
    };
    let out_layout = match call.str("out_layout") {
        "" => layout,
        written => written,
    };
    let data = layouts::convert(call, call.tensor(0)?, layout, "NCHW")?;
    let tiles = call.tensor(1)?;
    let (&[_, down, rows, columns], &[_, inputs, _, _]) = (tiles.shape(), data.shape()) else {
        return Err(call.fault("the arguments have the wrong rank"));
    };
    let size = |value: i64| usize::try_from(value).unwrap_or(0);
    let window = call.ints_for("kernel_size", 2)?;
    let (height, width) = (size(window[0]), size(window[1]));
    let outputs = size(call.int("channels")?);
    let depth = height.saturating_mul(width).saturating_mul(inputs);
    if tiles.shape()[0] * rows < outputs || down * columns < depth {
        return Err(call.fault("the weight has too few tiles"));
    }
    let shape = [outputs, inputs, height, width];
    call.allow(&shape, tiles.dtype())?;
    let weight = each_dtype!(tiles, array => {
        let elements = array.as_slice().unwrap_or_default();
        let mut out = with_capacity(outputs * depth);
        for output in 0..outputs {
            for input in 0..inputs {
                spend(2 * height * width);
                for tap in 0..height * width {
                    let row = tap * inputs + input;
                    let tile = output / rows * down + row / columns;
                    out.push(elements[(tile * rows + output % rows) * columns + row % columns]);
                }
            }
        }
        T::tensor(&shape, out)
    });
    let Some(weight) = weight else { return call.unsupported(tiles.dtype()) };
    let (strides, dilations) = (steps(call, "strides", 2)?, steps(call, "dilation", 2)?);
    let padding = padding(call, 2)?;
    let out = convolve(call, &data, &weight, &strides, &dilations, &padding, 1, dtype)?;
    Ok(layouts::convert(call, &out, "NCHW", out_layout)?.into())
}
