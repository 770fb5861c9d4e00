//! Winograd's algorithm, and convolutions as products with weights in tiles.
//!
//! A tile of the result is `Aᵀ ((G w Gᵀ) · (Bᵀ d B)) A`. The matrices are determined by the
//! evaluation points of polynomials (Cook and Toom), which are those of TVM.

use super::{
    super::{
        index::advance,
        layouts,
        nn_conv::{Convolution, cropped, padding, steps},
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

/// Returns the layouts of the data and of the result, `plain` unless they are written.
fn layouts_of<'c>(call: &Call<'c>, plain: &'c str) -> (&'c str, &'c str) {
    let written = |name: &str, default: &'c str| match call.str(name) {
        "" => default,
        written => written,
    };
    let layout = written("data_layout", plain);
    (layout, written("out_layout", layout))
}

/// Returns true if the depth of a weight, the last of the `axes` transformed ones, is transformed as well.
fn is_deep(weight: &Tensor, axes: usize) -> bool {
    axes == 2 || weight.shape()[2] == weight.shape()[0]
}

/// Returns the matrices of each axis of the data. In the weight, the transformed axes come first and have
/// equal sizes; an untransformed depth is the last of them.
fn matrices(call: &Call<'_>, weight: &Tensor, axes: usize) -> Result<Vec<Matrices>, Fault> {
    let tile = tile_size(call)?;
    let front = &weight.shape()[..axes];
    if front.contains(&0) {
        return Err(call.fault("the weight is empty"));
    }
    let side = |alpha: usize| Matrices::new(call, tile, (alpha + 1).saturating_sub(tile));
    let mut matrices = with_capacity(axes);
    for axis in 0..axes {
        matrices.push(match (is_deep(weight, axes), axis) {
            (true, _) => side(front[axis])?,
            (false, 0) => Matrices::plain(call, front[2])?,
            (false, _) => side(front[axis - 1])?,
        });
    }
    Ok(matrices)
}

/// Returns the factors of a weight as (window…, outputs, inputs), with the window in the order of the data,
/// and the number of outputs.
fn factors(
    call: &Call<'_>,
    weight: &Tensor,
    inputs: usize,
    is_plain: bool,
) -> Result<(Vec<f64>, usize), Fault> {
    let axes = weight.rank() - 2;
    // The transform of the weight puts outputs first; for "NCHW", TVM swaps them with the inputs.
    let (outputs_first, outputs) = match (weight.shape()[axes], weight.shape()[axes + 1]) {
        (a, b) if b == inputs && (a != inputs || !is_plain) => (true, a),
        (a, b) if a == inputs => (false, b),
        (a, b) => {
            return Err(
                call.fault(format_args!("{inputs} channels do not match a weight of {a} by {b}"))
            );
        }
    };
    let mut order: Vec<usize> =
        if is_deep(weight, axes) { (0..axes).collect() } else { vec![2, 0, 1] };
    order.extend(if outputs_first { [axes, axes + 1] } else { [axes + 1, axes] });
    Ok((weight.permuted(&order).to_f64s(), outputs))
}

/// The tiles of a convolution. The axes are those of the data behind the channels.
struct Tiling {
    matrices: Vec<Matrices>,
    inputs: usize,
    outputs: usize,
    /// The sizes of the data, and its padding at the start of each axis.
    sizes: Vec<usize>,
    padding: Vec<usize>,
    /// The sizes of the result.
    counts: Vec<usize>,
    /// The sizes of a tile of the data.
    alphas: Vec<usize>,
    /// The sizes of a tile of the result.
    sides: Vec<usize>,
}

impl Tiling {
    /// Returns a tile of the data of a batch, channel by channel, transformed along each axis.
    fn read(&self, data: &[f64], tile: &[usize]) -> Vec<f64> {
        let axes = self.matrices.len();
        let (window, area): (usize, usize) =
            (self.alphas.iter().product(), self.sizes.iter().product());
        let mut values = with_capacity(self.inputs * window);
        for channel in 0..self.inputs {
            let plane = &data[channel * area..][..area];
            let mut index = repeated(0usize, axes);
            for _ in 0..window {
                let mut place = Some(0);
                for axis in 0..axes {
                    let start = tile[axis] * self.sides[axis] + index[axis];
                    let one = start.checked_sub(self.padding[axis]);
                    let one = one.filter(|&one| one < self.sizes[axis]);
                    place = place.zip(one).map(|(place, one)| place * self.sizes[axis] + one);
                }
                values.push(place.map_or(0.0, |place| plane[place]));
                advance(&mut index, &self.alphas);
            }
        }
        for axis in (0..axes).rev() {
            let inner: usize = self.alphas[axis + 1..].iter().product();
            values = along(&values, inner, &self.matrices[axis].b);
        }
        values
    }

    /// Returns a tile of the result, output by output: the products with the weight, transformed along each
    /// axis.
    fn multiply(&self, values: &[f64], factors: &[f64]) -> Vec<f64> {
        let window: usize = self.alphas.iter().product();
        let (inputs, outputs) = (self.inputs, self.outputs);
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
        for (matrices, side) in self.matrices.iter().zip(&self.sides).rev() {
            sums = along(&sums, inner, &matrices.a);
            inner *= side;
        }
        sums
    }

    /// Writes a tile to the result of a batch, without what is beyond its end.
    fn write(&self, sums: &[f64], out: &mut [f64], tile: &[usize]) {
        let (places, inner): (usize, usize) =
            (self.counts.iter().product(), self.sides.iter().product());
        for output in 0..self.outputs {
            let to = &mut out[output * places..][..places];
            let mut index = repeated(0usize, self.sides.len());
            for value in &sums[output * inner..(output + 1) * inner] {
                let mut place = Some(0);
                for axis in 0..self.sides.len() {
                    let one = tile[axis] * self.sides[axis] + index[axis];
                    place = place
                        .filter(|_| one < self.counts[axis])
                        .map(|place| place * self.counts[axis] + one);
                }
                if let Some(place) = place {
                    to[place] = *value;
                }
                advance(&mut index, &self.sides);
            }
        }
    }
}

fn convolution(call: &mut Call<'_>, plain: &str) -> Outcome {
    let dtype = out_dtype(call)?;
    let (layout, out_layout) = layouts_of(call, plain);
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
    let (data, padding) = cropped(call, data, &padding(call, axes)?)?;
    let matrices = matrices(call, weight, axes)?;
    let (batches, inputs) = (data.shape()[0], data.shape()[1]);
    let (factors, outputs) = factors(call, weight, inputs, layout == plain)?;
    let sizes = data.shape()[2..].to_vec();
    let mut counts = with_capacity(axes);
    for axis in 0..axes {
        let window = matrices[axis].alpha + 1 - matrices[axis].tile;
        let padded = sizes[axis].saturating_add(padding[axis].0).saturating_add(padding[axis].1);
        counts.push(padded.saturating_add(1).saturating_sub(window));
    }
    let shape = [&[batches, outputs][..], &counts].concat();
    call.allow(&shape, dtype)?;
    let x = data.to_f64s();
    let mut out = repeated(0f64, shape.iter().product());
    let tiles: Vec<usize> =
        counts.iter().zip(&matrices).map(|(count, one)| count.div_ceil(one.tile)).collect();
    let tiling = Tiling {
        inputs,
        outputs,
        sizes,
        padding: padding.iter().map(|padding| padding.0).collect(),
        counts,
        alphas: matrices.iter().map(|one| one.alpha).collect(),
        sides: matrices.iter().map(|one| one.tile).collect(),
        matrices,
    };
    let (area, places): (usize, usize) =
        (tiling.sizes.iter().product(), tiling.counts.iter().product());
    for batch in 0..batches {
        let data = &x[batch * inputs * area..][..inputs * area];
        let out = &mut out[batch * outputs * places..][..outputs * places];
        let mut tile = repeated(0usize, axes);
        for _ in 0..tiles.iter().product() {
            let values = tiling.read(data, &tile);
            let sums = tiling.multiply(&values, &factors);
            tiling.write(&sums, out, &tile);
            advance(&mut tile, &tiles);
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
    let (layout, out_layout) = layouts_of(call, "NHWC");
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
    let (data, padding) = cropped(call, data, &padding(call, 2)?)?;
    let layouts = ("NCHW", out_layout.to_owned());
    let convolution = Convolution { data, weight, strides, dilations, padding, groups: 1, layouts };
    Ok(convolution.compute(call, dtype)?.into())
}
