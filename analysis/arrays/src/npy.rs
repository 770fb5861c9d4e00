//! `.npy`: a header in Python's notation, then the elements.

use std::io::Read;

use types::DataType;

use crate::{Array, Error, Layout, bytes_of};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The length of the longest supported header. Only arrays of records with thousands of columns have
/// longer ones, and records are not supported.
const MAX_HEADER: u64 = 1 << 16;

/// The bytes that may follow the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Anything: `numpy.save` may be called several times on one file.
    Ignored,
    /// Nothing.
    Nothing,
}

/// Reads the header of an array from the beginning of `length` bytes.
pub(crate) fn array<'s>(
    mut from: impl Read + 's,
    length: u64,
    rest: Rest,
) -> Result<Array<'s>, Error> {
    let mut start = [0u8; 8];
    from.read_exact(&mut start)?;
    if !start.starts_with(MAGIC) {
        return Err(Error("this is not a numpy array".to_owned()));
    }
    let size = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => {
            return Err(Error(format!("version {version} of numpy's format is not supported")));
        }
    };
    let mut bytes = [0u8; 4];
    from.read_exact(&mut bytes[..size])?;
    let header = u64::from(u32::from_le_bytes(bytes));
    let left = length.saturating_sub((start.len() + size) as u64);
    if header > left {
        return Err(Error::short());
    }
    if header > MAX_HEADER {
        return Err(Error(format!(
            "its header has {header} bytes, more than the {MAX_HEADER} that are read: that of an \
             array of numbers has a hundred"
        )));
    }
    let left = left - header;
    let mut text = vec![0u8; header as usize];
    from.read_exact(&mut text)?;
    // The first two versions are in Latin-1, but supported headers are ASCII.
    let Header { dtype, layout, shape } = Header::parse(&String::from_utf8_lossy(&text))?;
    let bytes = bytes_of(dtype, &shape)?;
    if bytes > left {
        return Err(Error(format!(
            "the file is truncated: its header declares {bytes} bytes of elements, but {left} follow"
        )));
    }
    if rest == Rest::Nothing && bytes < left {
        return Err(Error(format!("{} bytes follow the array", left - bytes)));
    }
    Ok(Array { name: "", dtype, shape, layout, from: Box::new(from), end: None })
}

struct Header {
    dtype: DataType,
    layout: Layout,
    shape: Vec<usize>,
}

impl Header {
    /// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, with the keys in any
    /// order.
    fn parse(text: &str) -> Result<Header, Error> {
        let bad = |what: &str| Error(format!("the header {what}"));
        let (mut descr, mut columns_first, mut shape) = (None, None, None);
        let mut rest = Text(text);
        if !rest.take('{') {
            return Err(bad("is not a dictionary"));
        }
        while !rest.take('}') {
            let key = rest.quoted().ok_or_else(|| bad("is not a dictionary"))?;
            if !rest.take(':') {
                return Err(bad("is not a dictionary"));
            }
            match key {
                "descr" => {
                    if rest.0.trim_start().starts_with(['[', '(']) {
                        return Err(Error(
                            "arrays of records, with a field for each column, are not read: save one \
                             column, as in `np.save(\"x.npy\", table[\"x\"])`"
                                .to_owned(),
                        ));
                    }
                    descr = Some(rest.quoted().ok_or_else(|| bad("has no data type"))?);
                }
                "fortran_order" => {
                    columns_first = match rest.word() {
                        "True" => Some(true),
                        "False" => Some(false),
                        other => return Err(bad(&format!("has `{other}` for `fortran_order`"))),
                    }
                }
                "shape" => shape = Some(sizes(&mut rest)?),
                other => return Err(bad(&format!("has a key `{}`", shortened(other)))),
            }
            if !rest.take(',') && !rest.0.trim_start().starts_with('}') {
                return Err(bad("is not a dictionary"));
            }
        }
        let descr = descr.ok_or_else(|| bad("has no data type"))?;
        let shape = shape.ok_or_else(|| bad("has no shape"))?;
        let (dtype, big_endian) = data_type(descr).ok_or_else(|| unread(descr))?;
        // With at most one axis, both orders are equal.
        let columns_first = columns_first.unwrap_or(false) && shape.len() > 1;
        Ok(Header { dtype, layout: Layout { big_endian, columns_first }, shape })
    }
}

/// The rest of a text.
struct Text<'t>(&'t str);

impl<'t> Text<'t> {
    /// Consumes a mark and the blanks before it.
    fn take(&mut self, mark: char) -> bool {
        match self.0.trim_start().strip_prefix(mark) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Consumes a string in single or double quotes.
    fn quoted(&mut self) -> Option<&'t str> {
        let text = self.0.trim_start();
        let mark = text.chars().next().filter(|mark| matches!(mark, '\'' | '"'))?;
        let (inner, rest) = text[1..].split_once(mark)?;
        self.0 = rest;
        Some(inner)
    }

    /// Consumes letters, digits and signs.
    fn word(&mut self) -> &'t str {
        let text = self.0.trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '+');
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        self.0 = rest;
        word
    }
}

/// Parses `(2, 3)`. Each size takes at least two characters of the header, which bounds their number.
fn sizes(rest: &mut Text<'_>) -> Result<Vec<usize>, Error> {
    let bad = |what: String| Error(format!("the header has no shape: {what}"));
    if !rest.take('(') {
        return Err(bad("it is not a tuple".to_owned()));
    }
    let mut sizes = Vec::new();
    while !rest.take(')') {
        // Python 2 wrote long integers with an `L`.
        let word = rest.word().trim_end_matches('L');
        match word.parse::<usize>() {
            Ok(size) => sizes.push(size),
            Err(_) if word.starts_with('-') => {
                return Err(bad(format!("the size {} is below 0", shortened(word))));
            }
            Err(_) => return Err(bad(format!("`{}` is not a size", shortened(word)))),
        }
        if !rest.take(',') && !rest.0.trim_start().starts_with(')') {
            return Err(bad("it is not a tuple".to_owned()));
        }
    }
    Ok(sizes)
}

/// Shortens and escapes an untrusted text.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut letters = text.chars();
    let shown: String = letters.by_ref().take(SHOWN).collect();
    if letters.next().is_some() { shown + "…" } else { shown }
}

/// Returns the error of an unsupported type.
fn unread(descr: &str) -> Error {
    let kind = descr.trim_start_matches(['<', '>', '|', '=']);
    let descr = shortened(descr);
    let what = match kind.chars().next() {
        Some('c') => "complex numbers",
        Some('O') => "Python objects",
        Some('S' | 'U' | 'a') => "texts",
        Some('M' | 'm') => "times",
        _ => {
            let message = "Relay has no such data type";
            return Error(format!("arrays of the type `{descr}` are not supported: {message}"));
        }
    };
    Error(format!("arrays of {what} (`{descr}`) are not supported in Relay"))
}

/// Parses `<f4`: the data type, and true if the most significant byte is the first.
fn data_type(text: &str) -> Option<(DataType, bool)> {
    let (order, code) = match text.as_bytes().first()? {
        b'<' | b'>' | b'|' | b'=' => text.split_at(1),
        _ => ("=", text),
    };
    let dtype = match code {
        "b1" | "?" => DataType::BOOL,
        "i1" => DataType::INT8,
        "i2" => DataType::INT16,
        "i4" => DataType::INT32,
        "i8" => DataType::INT64,
        "u1" => DataType::UINT8,
        "u2" => DataType::UINT16,
        "u4" => DataType::UINT32,
        "u8" => DataType::UINT64,
        "f2" => DataType::FLOAT16,
        "f4" => DataType::FLOAT32,
        "f8" => DataType::FLOAT64,
        // The `bfloat16` of the package `ml_dtypes`, as numpy saves it.
        "V2" | "bfloat16" => DataType::BFLOAT16,
        _ => return None,
    };
    Some((dtype, order == ">"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<(DataType, Vec<usize>, bool), String> {
        let found = Header::parse(text).map_err(|error| error.to_string())?;
        Ok((found.dtype, found.shape, found.layout.columns_first))
    }

    #[test]
    fn headers_in_any_order_of_keys() {
        let float = DataType::FLOAT32;
        let plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }   \n";
        assert_eq!(header(plain), Ok((float, vec![], false)));
        let other = "{\"shape\":(2,3L),\"fortran_order\":True,\"descr\":\"f4\"}";
        assert_eq!(header(other), Ok((float, vec![2, 3], true)));
        let one = "{'shape': (7,), 'fortran_order': True, 'descr': '<f4'}";
        assert_eq!(header(one), Ok((float, vec![7], false)));
        // A value that looks like a key.
        let odd = "{'descr': \"'shape': (9,)\", 'fortran_order': False, 'shape': (2,)}";
        assert!(header(odd).is_err_and(|error| error.contains("are not supported")));
    }

    #[test]
    fn invalid_headers_are_rejected() {
        let of = |descr: &str, shape: &str| {
            header(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"))
        };
        let says = |found: Result<_, String>, what: &str| {
            let error = found.map(|_: (DataType, Vec<usize>, bool)| ()).expect_err(what);
            assert!(error.contains(what), "{error}");
            assert!(error.len() < 200, "{error}");
        };
        says(of("'<f4'", "(-1,)"), "the size -1 is below 0");
        says(of("'<f4'", "(99999999999999999999,)"), "`99999999999999999999` is not a size");
        says(of("'<f4'", "7"), "it is not a tuple");
        says(of("'<f4'", "(2 3)"), "it is not a tuple");
        says(of("'<f4'", "(2, 3"), "it is not a tuple");
        says(of("'<f4'", "(2, "), "is not a size");
        says(of("[('a', '<f4')]", "(2,)"), "arrays of records");
        says(of("'|O'", "(2,)"), "arrays of Python objects (`|O`)");
        says(of("'<c8'", "(2,)"), "arrays of complex numbers");
        says(of("7", "(2,)"), "has no data type");
        says(of(&format!("'{}'", "x".repeat(60_000)), "(2,)"), "are not supported");
        says(header(""), "is not a dictionary");
        says(header("{'shape': (2,)}"), "has no data type");
        says(header("{'descr': '<f4'}"), "has no shape");
        says(header("{'colour': 7}"), "has a key `colour`");
        says(header("{'fortran_order': Maybe}"), "has `Maybe` for `fortran_order`");
        says(header(&"{'descr': '<f4', ".repeat(1000)), "is not a dictionary");
    }
}
