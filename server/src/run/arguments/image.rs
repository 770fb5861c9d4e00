//! Help for images that are given for tensors: they are not read, but can be converted to arrays.

use std::path::Path;

use types::{DataType, Dim, ElementKind, TensorType, Type};

/// The file extensions of images.
const ENDINGS: &[&str] = &["bmp", "gif", "jpeg", "jpg", "png", "ppm", "tif", "tiff", "webp"];

/// Returns true if a text is the name of an image.
pub(super) fn is_image(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
        && !text.starts_with(['[', '('])
}

/// The layout of an image in a tensor.
struct Picture {
    batch: Option<u64>,
    channels: Option<Channels>,
    /// The width and the height, if known.
    size: Option<(u64, u64)>,
}

/// The axis of the channels, and their number.
struct Channels {
    first: bool,
    count: u64,
}

/// Returns the help for the image `text` as the argument of the parameter `name`.
pub(super) fn help(text: &str, name: &str, ty: &Type) -> String {
    let stem = Path::new(text).with_extension("npy").display().to_string();
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    // A name with characters that shells or Python interpret is replaced by a placeholder.
    let (image, array) = match is_plain(text) {
        true => (text, stem.as_str()),
        false => ("image.png", "image.npy"),
    };
    let tensor = match ty {
        Type::Tensor(tensor) => Some(tensor),
        _ => None,
    };
    let Some((tensor, picture)) = tensor.and_then(|t| Some((t, picture(t)?))) else {
        return format!("give it an array: `--input {name}={array}`");
    };
    let line = python(image, array, tensor, &picture);
    let scale = match tensor.dtype.kind {
        ElementKind::Float | ElementKind::BFloat => {
            ", with values from 0 to 1; subtract the mean and divide as the network was trained"
        }
        _ => "",
    };
    format!("make an array of it{scale}:\n{line}\nand give that: `--input {name}={array}`")
}

/// Returns the shell command that converts the image.
fn python(image: &str, array: &str, tensor: &TensorType, picture: &Picture) -> String {
    let mode = match &picture.channels {
        Some(Channels { count: 4, .. }) => "RGBA",
        Some(Channels { count: 3, .. }) => "RGB",
        _ => "L",
    };
    let mut value = format!("Image.open('{image}').convert('{mode}')");
    if let Some((width, height)) = picture.size {
        value += &format!(".resize(({width}, {height}))");
    }
    value = format!("np.asarray({value})");
    match picture.channels {
        Some(Channels { count: 1, first: true }) => value += "[None]",
        Some(Channels { count: 1, first: false }) => value += "[..., None]",
        Some(Channels { first: true, .. }) => value += ".transpose(2, 0, 1)",
        _ => {}
    }
    if picture.batch.is_some() {
        value += "[None]";
    }
    if let Some(count) = picture.batch.filter(|&count| count > 1) {
        value += &format!(".repeat({count}, 0)");
    }
    // numpy does not have these types.
    let dtype = match tensor.dtype.kind {
        ElementKind::BFloat => DataType::FLOAT32,
        _ => tensor.dtype,
    };
    if dtype.kind == ElementKind::Float {
        value = format!("({value} / 255)");
    }
    let value = format!("{value}.astype('{dtype}')");
    format!("python3 -c \"import numpy as np; from PIL import Image; np.save('{array}', {value})\"")
}

/// Returns the layout of an image in a tensor, by the axis with the size of channels.
fn picture(tensor: &TensorType) -> Option<Picture> {
    let known = |dim: &Dim| dim.as_known().and_then(|size| u64::try_from(size).ok());
    let sizes: Vec<Option<u64>> = tensor.shape.iter().map(known).collect();
    let (batch, rest) = match sizes.len() {
        4 => (Some(sizes[0].unwrap_or(1)), &sizes[1..]),
        2 | 3 => (None, &sizes[..]),
        _ => return None,
    };
    let few = |size: Option<u64>| size.filter(|size| matches!(size, 1 | 3 | 4));
    // A smaller rank is a batch of vectors.
    let is_side = |size: Option<u64>| size.is_none_or(|size| size >= 8);
    let (channels, height, width) = match *rest {
        [height, width] if is_side(height) && is_side(width) => (None, height, width),
        [first, height, width] if few(first).is_some() => {
            (few(first).map(|count| Channels { first: true, count }), height, width)
        }
        [height, width, last] => {
            (Some(Channels { first: false, count: few(last)? }), height, width)
        }
        _ => return None,
    };
    Some(Picture { batch, channels, size: width.zip(height) })
}

#[cfg(test)]
mod tests {
    use types::{DataType, Dim, TensorType, Type};

    use super::{help, is_image};

    fn tensor(shape: &[i64], dtype: DataType) -> Type {
        Type::from(TensorType::new(shape.iter().map(|&size| Dim::known(size)), dtype))
    }

    #[test]
    fn images_are_recognised_by_extension() {
        assert!(["cat.png", "a/b.JPG", "./x.jpeg"].into_iter().all(is_image));
        assert!(
            !["cat.npy", "png", "[1, 2]", "(x.png, 1)", "Cons(1, Nil)"].into_iter().any(is_image)
        );
    }

    #[test]
    fn command_depends_on_the_type() {
        let line = |shape: &[i64], dtype| {
            let text = help("pictures/cat.png", "data", &tensor(shape, dtype));
            let line = text.lines().find(|line| line.starts_with("python3")).unwrap_or(&text);
            line.to_owned()
        };
        assert_eq!(
            line(&[1, 3, 224, 320], DataType::FLOAT32),
            "python3 -c \"import numpy as np; from PIL import Image; np.save('pictures/cat.npy', \
             (np.asarray(Image.open('pictures/cat.png').convert('RGB').resize((320, 224)))\
             .transpose(2, 0, 1)[None] / 255).astype('float32'))\""
        );
        assert!(
            line(&[2, 32, 32, 3], DataType::UINT8)
                .contains("resize((32, 32)))[None].repeat(2, 0).astype('uint8')")
        );
        assert!(line(&[1, 1, 28, 28], DataType::FLOAT32).contains("[None][None] / 255"));
        assert!(line(&[28, 28], DataType::UINT8).contains("convert('L').resize((28, 28)))"));
        assert_eq!(
            line(&[1, 128], DataType::INT64),
            "give it an array: `--input data=pictures/cat.npy`"
        );
        let odd = help("a'b $(c).png", "data", &tensor(&[8, 8], DataType::UINT8));
        assert!(odd.contains("Image.open('image.png')"), "{odd}");
    }
}
