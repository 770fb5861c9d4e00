//! A tensor as a view draws it: a heat map of a slice, its distribution, an image, and the difference from another one.
//! Clients draw what they get, and compute nothing.

mod listing;

use base64::{Engine, prelude::BASE64_STANDARD};
use interpreter::{AxisSlice, Tensor};
use serde::Deserialize;
use types::{DataType, ElementKind};

use super::{
    show, slice,
    summary::{self, Part, Summary},
};
use crate::protocol::{Distribution, TensorAxis, TensorImage, TensorPicture, TensorView};

/// The largest number of rows and of columns of a heat map.
const MAX_CELLS: usize = 256;
/// The largest number of cells with texts.
const MAX_TEXTS: usize = 64 * 64;
/// The number of bars of a distribution.
const BARS: usize = 32;
/// The largest width and height of an image.
const MAX_PIXELS: usize = 512;
/// The largest number of elements of an expression of numpy.
const MAX_NUMPY: usize = 10_000;
/// A cell whose block has NaN.
const NAN: i16 = 1000;
/// A cell whose block has infinities.
const INFINITE: i16 = 1001;

/// What a view of a tensor shows.
#[derive(Clone, Default, Deserialize, Debug)]
#[serde(default)]
pub(crate) struct ViewOptions {
    /// The slice: `[0, :, 3]`. Of axes before the last two that it takes as a whole, the first element is shown.
    pub(crate) slice: Option<String>,
    /// The layout of an image.
    pub(crate) layout: Option<String>,
    /// True if the view has lines of text, too.
    pub(crate) listing: bool,
}

/// A tensor with the name that a view shows.
#[derive(Clone, Copy)]
pub(crate) struct NamedTensor<'t> {
    /// The name, or the expression.
    pub(crate) name: &'t str,
    /// The tensor.
    pub(crate) tensor: &'t Tensor,
}

impl ViewOptions {
    /// Returns the view of a tensor, and of its difference from another one.
    ///
    /// # Errors
    /// The message for a slice or a layout that does not fit, or for tensors of different shapes.
    pub(crate) fn view(
        &self,
        shown: NamedTensor<'_>,
        other: Option<NamedTensor<'_>>,
    ) -> Result<TensorView, String> {
        let NamedTensor { name, tensor } = shown;
        let shape = tensor.shape();
        let written = self.slice.as_deref().unwrap_or_default();
        let mut axes = slice::parse(written, shape).map_err(|error| error.to_string())?;
        show_two(&mut axes);
        let text = slice::text(&axes, shape);
        let plane = take(tensor, &axes)?;
        let titled =
            |name: &str| if shape.is_empty() { name.to_owned() } else { format!("{name}{text}") };
        let (mut compared, mut slices) = (None, vec![(titled(name), plane.clone())]);
        if let Some(NamedTensor { name: other_name, tensor: other }) = other {
            if other.shape() != shape {
                return Err(format!(
                    "`{name}` is {}, but `{other_name}` is {}: only tensors of one shape have a difference",
                    tensor.ty(),
                    other.ty()
                ));
            }
            let other = take(other, &axes)?;
            let difference: Vec<f64> =
                plane.to_f64s().into_iter().zip(other.to_f64s()).map(|(a, b)| a - b).collect();
            let difference = Tensor::from_f64s(DataType::FLOAT64, plane.shape(), difference);
            let difference = difference.ok_or("there is no memory for the difference")?;
            let title = format!("{name} − {other_name}");
            if self.listing {
                slices.push((titled(other_name), other.clone()));
                slices.push((title.clone(), difference.clone()));
            }
            compared = Some((picture(titled(other_name), &other), picture(title, &difference)));
        }
        let (other, difference) = compared.unzip();
        let layouts = layouts(shape);
        let image = match self.layout.as_deref() {
            None => None,
            Some(wanted) => Some(image(tensor, &axes, wanted, &layouts)?),
        };
        let of_axis = |(axis, &size): (&AxisSlice, &usize)| TensorAxis {
            size,
            taken: slice::entry(*axis, size),
            index: match axis {
                AxisSlice::Index(index) => Some(*index),
                AxisSlice::Range { .. } => None,
            },
        };
        let (ty, summary) = (tensor.ty().to_string(), Summary::of(tensor).line());
        let head = [format!("{name}: {ty}"), format!("  {summary}")];
        Ok(TensorView {
            name: name.to_owned(),
            ty,
            summary,
            axes: axes.iter().zip(shape).map(of_axis).collect(),
            picture: picture(titled(name), &plane),
            slice: text,
            other,
            difference,
            layouts,
            image,
            numpy: numpy(&plane),
            listing: self.listing.then(|| listing::listing(&head, &slices, &axes, shape)),
        })
    }
}

/// Takes the first element of all axes but the last two that are taken as ranges.
fn show_two(axes: &mut [AxisSlice]) {
    let mut shown = 0;
    for axis in axes.iter_mut().rev() {
        if let AxisSlice::Range { start, end, .. } = *axis {
            shown += 1;
            if shown > 2 && start < end {
                *axis = AxisSlice::Index(start);
            }
        }
    }
}

fn take(tensor: &Tensor, axes: &[AxisSlice]) -> Result<Tensor, String> {
    tensor.slice(axes).ok_or_else(|| "the slice does not fit the tensor".to_owned())
}

/// Draws a tensor: the last axis from left to right, those before it from top to bottom.
fn picture(title: String, plane: &Tensor) -> TensorPicture {
    let columns = plane.shape().last().copied().unwrap_or(1);
    let rows = plane.len().checked_div(columns).unwrap_or(0);
    let block = (rows.div_ceil(MAX_CELLS).max(1), columns.div_ceil(MAX_CELLS).max(1));
    let cells = (rows.div_ceil(block.0), if rows > 0 { columns.div_ceil(block.1) } else { 0 });
    let mut blocks = vec![Part::default(); cells.0 * cells.1];
    let mut at = 0;
    plane.each_f64s(|numbers| {
        for &x in numbers {
            let (row, column) = (at / columns / block.0, at % columns / block.1);
            if let Some(block) = blocks.get_mut(row * cells.1 + column) {
                block.add(x);
            }
            at += 1;
        }
    });
    let found = Summary::of(plane);
    let (least, _, most) = found.finite.unwrap_or_default();
    let signed = least < 0.0 && most > 0.0;
    let span = if signed { most.max(-least) } else { most - least };
    let cell = |block: &Part| {
        if block.nan > 0 {
            return NAN;
        }
        if block.infinite > 0 {
            return INFINITE;
        }
        let from = if signed { 0.0 } else { least };
        // Of a constant, every cell is in the middle of the scale.
        let level = if span > 0.0 { (block.mean() - from) / span } else { 0.5 };
        // From -1 to 1, apart from rounding.
        (level.clamp(-1.0, 1.0) * 255.0).round() as i16
    };
    let is_whole = block == (1, 1);
    let text = |(at, block): (usize, &Part)| match (is_whole, block) {
        (true, _) => show::element(plane, at),
        (false, Part { nan: 1.., .. }) => "NaN".to_owned(),
        (false, Part { infinite: 1.., .. }) => "Inf".to_owned(),
        (false, block) => summary::short(block.mean()),
    };
    let has_texts = blocks.len() <= MAX_TEXTS;
    let brief = found.brief();
    TensorPicture {
        title,
        summary: if brief.is_empty() { "no elements".to_owned() } else { brief },
        rows: cells.0,
        columns: cells.1,
        reduced: (!is_whole)
            .then(|| format!("a cell is the mean of {} × {} elements", block.0, block.1)),
        cells: blocks.iter().map(cell).collect(),
        texts: if has_texts { blocks.iter().enumerate().map(text).collect() } else { Vec::new() },
        signed,
        distribution: (least < most).then(|| distribution(plane, (least, most))),
    }
}

fn distribution(plane: &Tensor, (least, most): (f64, f64)) -> Distribution {
    let mut histogram = vec![0u64; BARS];
    // Halves, because the difference of the largest numbers overflows.
    let span = most / 2.0 - least / 2.0;
    plane.each_f64s(|numbers| {
        for &x in numbers.iter().filter(|x| x.is_finite()) {
            let part = (x / 2.0 - least / 2.0) / span * BARS as f64;
            if let Some(bar) = histogram.get_mut((part as usize).min(BARS - 1)) {
                *bar += 1;
            }
        }
    });
    Distribution {
        min: least,
        max: most,
        low: summary::short(least),
        high: summary::short(most),
        histogram,
    }
}

/// Returns the layouts in which a shape can be an image of one, three or four channels.
fn layouts(shape: &[usize]) -> Vec<&'static str> {
    let is_channels = |size: &usize| matches!(size, 1 | 3 | 4);
    let names = match shape {
        [_, first, .., last] if shape.len() == 4 => [(first, "NCHW"), (last, "NHWC")],
        [first, _, last] => [(first, "CHW"), (last, "HWC")],
        _ => return Vec::new(),
    };
    if shape.contains(&0) {
        return Vec::new();
    }
    names.into_iter().filter(|(size, _)| is_channels(size)).map(|(_, name)| name).collect()
}

/// Draws an image of the batch that a slice shows.
fn image(
    tensor: &Tensor,
    axes: &[AxisSlice],
    wanted: &str,
    layouts: &[&str],
) -> Result<TensorImage, String> {
    if !layouts.contains(&wanted) {
        return Err(match layouts {
            [] => format!("{} is no image: it has not 1, 3 or 4 channels of two axes", tensor.ty()),
            _ => format!(
                "{} can be an image in {}, not in {wanted}",
                tensor.ty(),
                layouts.join(" or ")
            ),
        });
    }
    let mut taken: Vec<AxisSlice> = tensor.shape().iter().map(|&size| slice::whole(size)).collect();
    if let (true, Some(batch)) = (wanted.starts_with('N'), taken.first_mut()) {
        *batch = match axes.first() {
            Some(AxisSlice::Index(index)) => AxisSlice::Index(*index),
            _ => AxisSlice::Index(0),
        };
    }
    let whole = take(tensor, &taken)?;
    let channels_first = wanted.ends_with("CHW");
    let &[first, second, third] = whole.shape() else {
        return Err("an image has three axes".to_owned());
    };
    let (channels, height, width) =
        if channels_first { (first, second, third) } else { (third, first, second) };
    let step = height.max(width).div_ceil(MAX_PIXELS).max(1);
    let element = |channel: usize, row: usize, column: usize| {
        let at = match channels_first {
            true => (channel * height + row) * width + column,
            false => (row * width + column) * channels + channel,
        };
        whole.get_f64(at).unwrap_or(f64::NAN)
    };
    let (least, _, most) = Summary::of(&whole).finite.unwrap_or_default();
    let is_bytes = whole.dtype() == DataType::UINT8;
    let (black, white) = if is_bytes { (0.0, 255.0) } else { (least, most) };
    let level = |x: f64| match white > black {
        true => ((x / 2.0 - black / 2.0) / (white / 2.0 - black / 2.0) * 255.0).round() as u8,
        false => 127,
    };
    let mut pixels = Vec::new();
    for row in (0..height).step_by(step) {
        for column in (0..width).step_by(step) {
            let levels: Vec<f64> = (0..channels).map(|c| element(c, row, column)).collect();
            pixels.extend(match *levels.as_slice() {
                _ if levels.iter().any(|x| !x.is_finite()) => [255, 0, 255, 255],
                [grey] => [level(grey), level(grey), level(grey), 255],
                [red, green, blue] => [level(red), level(green), level(blue), 255],
                [red, green, blue, alpha] => [level(red), level(green), level(blue), level(alpha)],
                _ => [0; 4],
            });
        }
    }
    let ends = (summary::short(black), summary::short(white));
    Ok(TensorImage {
        layout: wanted.to_owned(),
        width: width.div_ceil(step),
        height: height.div_ceil(step),
        pixels: BASE64_STANDARD.encode(pixels),
        scale: format!("black is {}, white is {}, magenta is NaN or Inf", ends.0, ends.1),
    })
}

/// Writes a tensor as an expression of numpy: `np.array([[1.0, 2.0]], dtype=np.float32)`.
fn numpy(tensor: &Tensor) -> Option<String> {
    if tensor.len() > MAX_NUMPY || tensor.is_empty() {
        return None;
    }
    let dtype = tensor.dtype();
    let name = match dtype {
        DataType::BOOL => "np.bool_".to_owned(),
        DataType::BFLOAT16 => "ml_dtypes.bfloat16".to_owned(),
        other => format!("np.{other}"),
    };
    let is_float = matches!(dtype.kind, ElementKind::Float | ElementKind::BFloat);
    let element = |at: usize| match tensor.get_f64(at) {
        Some(x) if is_float && x.is_nan() => "np.nan".to_owned(),
        Some(x) if is_float && x.is_infinite() => {
            if x > 0.0 { "np.inf" } else { "-np.inf" }.to_owned()
        }
        // The shortest text that single precision reads as the same number.
        Some(x) if dtype == DataType::FLOAT32 => format!("{:?}", x as f32),
        Some(x) if is_float => format!("{x:?}"),
        _ => show::element(tensor, at),
    };
    let list = |from: usize, count: usize| {
        let elements: Vec<String> = (from..from + count).map(element).collect();
        format!("[{}]", elements.join(", "))
    };
    let elements = match *tensor.shape() {
        [] => element(0),
        [count] => list(0, count),
        [rows, columns] => {
            let rows: Vec<String> = (0..rows).map(|row| list(row * columns, columns)).collect();
            format!("[{}]", rows.join(",\n "))
        }
        _ => return None,
    };
    Some(format!("np.array({elements}, dtype={name})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize], values: Vec<f64>) -> Tensor {
        Tensor::from_f64s(DataType::FLOAT32, shape, values).expect("the shape fits")
    }

    fn view(tensor: &Tensor, slice: &str) -> TensorView {
        let options =
            ViewOptions { slice: Some(slice.to_owned()), layout: None, ..ViewOptions::default() };
        options.view(NamedTensor { name: "%x", tensor }, None).expect("a view")
    }

    #[test]
    fn views_show_two_axes() {
        let whole = tensor(&[2, 2, 3], (0..12).map(f64::from).collect());
        let shown = view(&whole, "");
        assert_eq!(shown.slice, "[0, :, :]");
        assert_eq!((shown.picture.rows, shown.picture.columns), (2, 3));
        assert_eq!(shown.picture.cells, [0, 51, 102, 153, 204, 255]);
        assert_eq!(shown.picture.texts, ["0", "1", "2", "3", "4", "5"]);
        let shown = view(&whole, "[:, 1, 2]");
        assert_eq!(shown.picture.title, "%x[:, 1, 2]");
        assert_eq!((shown.picture.rows, shown.picture.columns), (1, 2));
        assert_eq!(shown.numpy.as_deref(), Some("np.array([5.0, 11.0], dtype=np.float32)"));
    }

    #[test]
    fn scales_of_both_signs_have_zero_in_the_middle_and_marks_beside_it() {
        let shown = view(&tensor(&[4], vec![-2.0, 0.0, 1.0, f64::NAN]), "").picture;
        assert!(shown.signed);
        assert_eq!(shown.cells, [-255, 0, 128, NAN]);
        let shown = view(&tensor(&[2], vec![f64::INFINITY, 3.0]), "").picture;
        assert_eq!(shown.cells, [INFINITE, 128]);
        assert!(shown.distribution.is_none());
    }

    #[test]
    fn large_slices_are_reduced_to_blocks_that_keep_their_marks() {
        let mut values: Vec<f64> = (0..1000 * 3).map(|at| f64::from(at / 3)).collect();
        values[2999] = f64::NAN;
        let shown = view(&tensor(&[1000, 3], values), "").picture;
        assert_eq!((shown.rows, shown.columns), (250, 3));
        assert_eq!(shown.reduced.as_deref(), Some("a cell is the mean of 4 × 1 elements"));
        assert_eq!(shown.cells.last(), Some(&NAN));
        assert_eq!(shown.texts.first().map(String::as_str), Some("1.5"));
        let bars = shown.distribution.expect("the elements differ").histogram;
        assert_eq!(bars.iter().sum::<u64>(), 2999);
    }

    #[test]
    fn empty_and_scalar_tensors_have_views() {
        let shown = view(&tensor(&[0, 3], Vec::new()), "");
        assert_eq!((shown.picture.rows, &*shown.picture.summary), (0, "no elements"));
        assert!(shown.numpy.is_none());
        let shown = view(&tensor(&[3, 0], Vec::new()), "");
        assert!(shown.picture.cells.is_empty());
        let shown = view(&tensor(&[], vec![2.5]), "");
        assert_eq!((shown.picture.cells.len(), &*shown.picture.title), (1, "%x"));
        assert_eq!(shown.numpy.as_deref(), Some("np.array(2.5, dtype=np.float32)"));
    }

    #[test]
    fn views_have_lines_of_text() {
        let whole = tensor(&[2, 2, 3], (0..12).map(f64::from).collect());
        let options = ViewOptions { listing: true, ..ViewOptions::default() };
        let named = |name| NamedTensor { name, tensor: &whole };
        let shown = options.view(named("%x"), None).expect("a view").listing.expect("lines");
        assert_eq!(
            shown.lines,
            [
                "%x: Tensor[(2, 2, 3), float32]",
                "  (2, 2, 3) min 0 mean 5.5 max 11",
                "",
                "%x[0, :, :]",
                "  min 0, max 5, mean 2.5, 1 zero",
                "  0 ▕█  █  █  █  █  █▏ 5",
                "  [[0. 1. 2.]",
                "   [3. 4. 5.]]",
            ]
        );
        assert_eq!((shown.next.as_deref(), shown.previous), (Some("[1, :, :]"), None));
        let shown = options.view(named("%x"), Some(named("%y"))).expect("a view");
        let lines = shown.listing.expect("lines").lines;
        assert!(lines.contains(&"%x − %y".to_owned()), "{lines:?}");
    }

    #[test]
    fn differences_need_one_shape() {
        let (one, two) = (tensor(&[2], vec![1.0, 5.0]), tensor(&[2], vec![1.0, 2.0]));
        let named = |name, tensor| NamedTensor { name, tensor };
        let options = ViewOptions::default();
        let shown = options.view(named("%a", &one), Some(named("%b", &two))).expect("a view");
        let difference = shown.difference.expect("a difference");
        assert_eq!((&*difference.title, difference.texts.join(" ")), ("%a − %b", "0 3".to_owned()));
        let other = tensor(&[1], vec![0.0]);
        let error = options.view(named("%a", &one), Some(named("%c", &other))).err();
        assert!(error.is_some_and(|error| error.contains("only tensors of one shape")));
    }

    #[test]
    fn images_have_the_channels_of_their_layout() {
        let values = vec![0.0, 1.0, 0.5, f64::NAN, 1.0, 0.0];
        let whole = tensor(&[1, 3, 1, 2], values);
        let options = |layout: &str| ViewOptions {
            layout: Some(layout.to_owned()),
            ..ViewOptions::default()
        };
        let named = NamedTensor { name: "%x", tensor: &whole };
        let shown = options("NCHW").view(named, None).expect("a view");
        assert_eq!(shown.layouts, ["NCHW"]);
        let image = shown.image.expect("an image");
        assert_eq!((image.width, image.height), (2, 1));
        let pixels = BASE64_STANDARD.decode(image.pixels).expect("base64");
        assert_eq!(pixels, [0, 128, 255, 255, 255, 0, 255, 255]);
        let error = options("NHWC").view(named, None).err().expect("not that layout");
        assert!(error.contains("in NCHW, not in NHWC"), "{error}");
    }
}
