//! Tensors of a stopped run: their bytes, and views of them.

use base64::{Engine, prelude::BASE64_STANDARD};
use interpreter::{AxisSlice, Tensor, Value};

use super::{
    protocol::{Body, ReadMemoryArguments, TensorArguments},
    sliced::tensor_of,
    stopped::StoppedRun,
    variables::Node,
};
use crate::run::tensor_view::NamedTensor;

/// The largest number of bytes of a response.
const MAX_BYTES: usize = 1 << 20;

impl StoppedRun {
    /// Returns bytes of a tensor: its elements in row-major order, little-endian.
    ///
    /// # Errors
    /// The message for a reference of no tensor.
    pub(super) fn memory(&self, given: &ReadMemoryArguments) -> Result<Body, String> {
        let reference = &given.memory_reference;
        let tensor = self.nodes.memory(reference).ok_or_else(|| {
            format!("there is no tensor with the memory `{reference}` where the run has stopped")
        })?;
        let count = given.count.min(MAX_BYTES);
        let start = usize::try_from(given.offset).ok();
        let bytes = start.and_then(|start| bytes(tensor, start, count)).unwrap_or_default();
        let unreadable = given.count - bytes.len();
        Ok(Body::Memory {
            address: format!("{:#x}", given.offset.max(0)),
            data: (!bytes.is_empty()).then(|| BASE64_STANDARD.encode(&bytes)),
            unreadable_bytes: (unreadable > 0).then_some(unreadable),
        })
    }

    /// Returns the view of a tensor.
    ///
    /// # Errors
    /// The message for an expression that fails or is no tensor, and for a slice that does not fit.
    pub(super) fn tensor_view(&mut self, given: &TensorArguments) -> Result<Body, String> {
        let TensorArguments { expression, variables_reference, name, frame_id, other, options } =
            given;
        let tensor = match (expression, variables_reference) {
            (Some(expression), _) => tensor_of(&self.value_of(expression, *frame_id)?, expression)?,
            (None, Some(reference)) => {
                let found = match self.nodes.get(*reference) {
                    Some(&Node::Released { frame, name }) => self.recalled(frame, name)?,
                    _ => self.nodes.tensor(*reference).map(Value::Tensor),
                };
                let found = found.ok_or_else(|| {
                    format!("there is no tensor {reference} where the run has stopped")
                })?;
                tensor_of(&found, name.as_deref().unwrap_or("the value"))?
            }
            (None, None) => {
                return Err(
                    "`relay/tensor` needs an `expression` or a `variablesReference`".to_owned()
                );
            }
        };
        let other = other.as_deref().map(|other| {
            let value = self.value_of(other, *frame_id)?;
            Ok::<_, String>((other, tensor_of(&value, other)?))
        });
        let other = other.transpose()?;
        let name = name.as_deref().or(expression.as_deref()).unwrap_or("tensor");
        let other = other.as_ref().map(|(name, tensor)| NamedTensor { name, tensor });
        let view = options.view(NamedTensor { name, tensor: &tensor }, other)?;
        Ok(Body::Tensor(Box::new(view)))
    }
}

/// Returns up to `count` bytes of a tensor from `start` on; `None` if there are none.
fn bytes(tensor: &Tensor, start: usize, count: usize) -> Option<Vec<u8>> {
    let end = start.saturating_add(count).min(tensor.bytes());
    let width = tensor.dtype().bytes() as usize;
    let flat = tensor.clone().reshape(&[tensor.len()])?;
    let first = start.checked_div(width)?;
    let range = AxisSlice::Range { start: first, end: end.div_ceil(width), step: 1 };
    let mut bytes = Vec::new();
    let part = flat.slice(&[range])?;
    let put = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok::<(), std::convert::Infallible>(())
    };
    part.write_le(put).unwrap_or_else(|never| match never {});
    let from = start.checked_sub(first * width)?;
    bytes.get(from..from + end.checked_sub(start)?).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use types::DataType;

    use super::*;

    fn numbers(shape: &[usize]) -> Tensor {
        let count: usize = shape.iter().product();
        Tensor::from_i64s(DataType::INT16, shape, (0..count as i64).collect()).expect("a tensor")
    }

    #[test]
    fn bytes_begin_and_end_anywhere() {
        let tensor = numbers(&[2, 2]);
        assert_eq!(bytes(&tensor, 0, 100), Some(vec![0, 0, 1, 0, 2, 0, 3, 0]));
        assert_eq!(bytes(&tensor, 3, 2), Some(vec![0, 2]));
        assert_eq!(bytes(&tensor, 7, 1), Some(vec![0]));
        assert_eq!(bytes(&tensor, 8, 4), Some(Vec::new()));
        assert_eq!(bytes(&tensor, 9, 4), None);
        assert_eq!(bytes(&tensor, usize::MAX, usize::MAX), None);
    }
}
