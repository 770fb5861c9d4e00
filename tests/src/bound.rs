//! Modules with constants in a metadata section, as TVM prints them.

use std::fmt::Write;

use weights::{Header, encode};

/// A tensor of `float32`.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The sizes of the axes.
    pub shape: Vec<usize>,
    /// The elements.
    pub elements: Vec<f32>,
}

impl Tensor {
    /// Creates a tensor with random elements.
    pub fn drawn(shape: &[usize], random: &mut fastrand::Rng) -> Tensor {
        let count = shape.iter().product();
        let elements = (0..count).map(|_| random.f32() * 2.0 - 1.0).collect();
        Tensor { shape: shape.to_vec(), elements }
    }

    fn base64(&self) -> String {
        let header = Header::write(types::DataType::FLOAT32, &self.shape).expect("a header");
        let mut out = Vec::new();
        let bytes: Vec<u8> = self.elements.iter().flat_map(|x| x.to_le_bytes()).collect();
        encode(&mut out, &header, |to| to.write_all(&bytes)).expect("memory is written");
        String::from_utf8(out).expect("base64")
    }
}

/// Returns a section with a constant for each tensor.
pub fn section(tensors: &[Tensor]) -> String {
    let mut out = String::from(
        "#[metadata]\n{\n  \"root\": 1, \n  \"nodes\": [\n    {\n      \"type_key\": \"\"\n    }, \n    {\n      \"type_key\": \"Map\", \n      \"keys\": [\n        \"relay.Constant\"\n      ], \n      \"data\": [2]\n    }, \n    {\n      \"type_key\": \"Array\", \n      \"data\": [",
    );
    let nodes: Vec<String> = (3..3 + tensors.len()).map(|node| node.to_string()).collect();
    out += &nodes.join(", ");
    out += "]\n    }";
    for array in 0..tensors.len() {
        // Writing to a string does not fail.
        let _ = write!(
            out,
            ", \n    {{\n      \"type_key\": \"relay.Constant\", \n      \"attrs\": {{\n        \"_checked_type_\": \"0\", \n        \"data\": \"{array}\", \n        \"span\": \"0\", \n        \"virtual_device_\": \"0\"\n      }}\n    }}"
        );
    }
    out += "\n  ], \n  \"b64ndarrays\": [\n    ";
    let arrays: Vec<String> = tensors.iter().map(|t| format!("\"{}\"", t.base64())).collect();
    out += &arrays.join(", \n    ");
    out += "\n  ], \n  \"attrs\": {\"tvm_version\": \"0.14.0\"}\n}\n";
    out
}
