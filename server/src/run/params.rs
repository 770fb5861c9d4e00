//! Parameters of networks as TVM saves them: `save_param_dict`.

use std::path::Path;

use interpreter::Tensor;
use types::{DataType, ElementKind};

use super::npy;

/// In front of a list of parameters.
const LIST_MAGIC: u64 = 0xF7E5_8D4F_0504_9CB7;
/// The most bytes that are read of what does not say how long it is.
const MAX_BYTES: u64 = 1 << 36;
/// In front of each array.
const ARRAY_MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;

/// Reads a `.params` file: names and arrays.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, Tensor)>, String> {
    let unreadable = |e| format!("cannot read `{}`: {e}", path.display());
    let file = std::fs::File::open(path).map_err(unreadable)?;
    // What is no plain file does not say how long it is.
    let size = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len());
    let size = size.filter(|&size| size > 0);
    let bytes = npy::contents(file, size.unwrap_or(MAX_BYTES)).map_err(unreadable)?;
    parse(&bytes)
        .map_err(|problem| format!("`{}` holds no parameters of TVM: {problem}", path.display()))
}

fn parse(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    let short = || "the file ends too soon".to_owned();
    let mut from = Reader(bytes);
    if from.u64() != Some(LIST_MAGIC) {
        return Err("it does not begin as what `save_param_dict` gives".into());
    }
    from.u64().ok_or_else(short)?;
    let count = from.size().ok_or_else(short)?;
    let mut names = Vec::new();
    for _ in 0..count {
        let length = from.size().ok_or_else(short)?;
        let name = from.take(length).ok_or_else(short)?;
        names.push(String::from_utf8(name.to_vec()).map_err(|_| "a name is no UTF-8".to_owned())?);
    }
    let arrays = from.size().ok_or_else(short)?;
    if arrays != count {
        return Err(format!("it has {count} names and {arrays} arrays"));
    }
    let mut array = |name: String| {
        interpreter::poll();
        let tensor = from.array().map_err(|problem| format!("`{name}`: {problem}"))?;
        Ok((name, tensor))
    };
    names.into_iter().map(&mut array).collect()
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok()
    }

    fn array(&mut self) -> Result<Tensor, String> {
        let (dtype, shape, bytes) = self.parts().ok_or("the file ends too soon")?;
        let Some(dtype) = dtype else { return Err("its data type is not known".into()) };
        Tensor::from_le_bytes(dtype, &shape, bytes).ok_or_else(|| {
            let (count, plain) = (bytes.len(), DataType { lanes: 1, ..dtype });
            match Tensor::zeros(plain, &[]) {
                Some(_) if dtype.lanes == 1 => {
                    format!("{count} bytes are no {dtype} of shape {shape:?}")
                }
                _ => format!("there are no arrays of {dtype} here"),
            }
        })
    }

    /// Data type, shape and bytes of an array.
    fn parts(&mut self) -> Option<(Option<DataType>, Vec<usize>, &'b [u8])> {
        if self.u64()? != ARRAY_MAGIC {
            return Some((None, Vec::new(), &[]));
        }
        // Reserved, then the device.
        self.take(8 + 8)?;
        let rank = usize::try_from(self.u32()?).ok()?;
        let &[code, bits, low, high] = self.take(4)? else { return None };
        let kind = match code {
            0 => Some(ElementKind::Int),
            1 => Some(ElementKind::UInt),
            2 => Some(ElementKind::Float),
            4 => Some(ElementKind::BFloat),
            _ => None,
        };
        let lanes = u16::from_le_bytes([low, high]);
        let dtype = kind.map(|kind| DataType { kind, bits, lanes });
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(self.size()?);
        }
        let length = self.size()?;
        Some((dtype, shape, self.take(length)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_parameter() {
        let mut bytes = Vec::new();
        for number in [LIST_MAGIC, 0, 1, 1] {
            bytes.extend(u64::to_le_bytes(number));
        }
        bytes.push(b'w');
        for number in [1, ARRAY_MAGIC, 0, 1] {
            bytes.extend(u64::to_le_bytes(number));
        }
        bytes.extend(u32::to_le_bytes(1));
        bytes.extend([2, 32, 1, 0]);
        for number in [2u64, 8] {
            bytes.extend(u64::to_le_bytes(number));
        }
        bytes.extend(f32::to_le_bytes(1.5));
        bytes.extend(f32::to_le_bytes(-2.0));
        let read = parse(&bytes).expect("well formed");
        assert_eq!(read.len(), 1);
        let mut wide = bytes.clone();
        // The lanes of its type.
        let lanes = wide.iter().rposition(|&byte| byte == 32).expect("the bits") + 1;
        wide[lanes] = 4;
        let told = parse(&wide).expect_err("vectors are not read");
        assert_eq!(told, "`w`: there are no arrays of float32x4 here");
        assert_eq!((read[0].0.as_str(), read[0].1.to_f64s()), ("w", vec![1.5, -2.0]));
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_err());
        }
    }
}
