//! Parameters of networks as TVM saves them: `save_param_dict`.

use std::path::Path;

use interpreter::Tensor;
use types::{DataType, ElementKind};

/// In front of a list of parameters.
const LIST_MAGIC: u64 = 0xF7E5_8D4F_0504_9CB7;
/// In front of each array.
const ARRAY_MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;

/// Reads a `.params` file: names and arrays.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, Tensor)>, String> {
    let bytes =
        std::fs::read(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
    parse(&bytes).ok_or_else(|| format!("`{}` holds no parameters of TVM", path.display()))
}

fn parse(bytes: &[u8]) -> Option<Vec<(String, Tensor)>> {
    let mut from = Reader(bytes);
    if from.u64()? != LIST_MAGIC {
        return None;
    }
    from.u64()?;
    let count = usize::try_from(from.u64()?).ok()?;
    let mut names = Vec::new();
    for _ in 0..count {
        let length = usize::try_from(from.u64()?).ok()?;
        names.push(String::from_utf8(from.take(length)?.to_vec()).ok()?);
    }
    if usize::try_from(from.u64()?).ok()? != count {
        return None;
    }
    names.into_iter().map(|name| Some((name, from.array()?))).collect()
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

    fn array(&mut self) -> Option<Tensor> {
        if self.u64()? != ARRAY_MAGIC {
            return None;
        }
        // Reserved, then the device.
        self.take(8 + 8)?;
        let rank = usize::try_from(self.u32()?).ok()?;
        let &[code, bits, low, high] = self.take(4)? else { return None };
        let kind = match code {
            0 => ElementKind::Int,
            1 => ElementKind::UInt,
            2 => ElementKind::Float,
            4 => ElementKind::BFloat,
            _ => return None,
        };
        let dtype = DataType { kind, bits, lanes: u16::from_le_bytes([low, high]) };
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(usize::try_from(self.u64()?).ok()?);
        }
        let length = usize::try_from(self.u64()?).ok()?;
        Tensor::from_le_bytes(dtype, &shape, self.take(length)?)
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
        assert_eq!((read[0].0.as_str(), read[0].1.to_f64s()), ("w", vec![1.5, -2.0]));
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_none());
        }
    }
}
