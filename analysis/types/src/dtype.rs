//! Data types of tensor elements: `float32`, `int8`, `bool`, `float32x4`.

use std::fmt;

/// The representation of an element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ElementKind {
    /// Two's complement integers.
    Int,
    /// Unsigned integers; `bool` is one of 1 bit.
    UInt,
    /// IEEE floating point.
    Float,
    /// Brain floating point.
    BFloat,
    /// Opaque pointers.
    Handle,
    /// 8-bit floating point with 4 bits of exponent.
    E4M3Float,
    /// 8-bit floating point with 5 bits of exponent.
    E5M2Float,
    /// No value.
    Void,
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DataType {
    /// The representation of an element.
    pub kind: ElementKind,
    /// Bits of one lane.
    pub bits: u8,
    /// Lanes of a vector type; 1 for scalars.
    pub lanes: u16,
}

macro_rules! named {
    ($($name:ident = $kind:ident $bits:literal,)*) => {
        $(
            #[doc = concat!("`", stringify!($kind), "` of ", stringify!($bits), " bits.")]
            pub const $name: DataType =
                DataType { kind: ElementKind::$kind, bits: $bits, lanes: 1 };
        )*
    };
}

impl DataType {
    named! {
        BOOL = UInt 1, INT8 = Int 8, INT16 = Int 16, INT32 = Int 32, INT64 = Int 64,
        UINT8 = UInt 8, UINT16 = UInt 16, UINT32 = UInt 32, UINT64 = UInt 64,
        FLOAT16 = Float 16, FLOAT32 = Float 32, FLOAT64 = Float 64, BFLOAT16 = BFloat 16,
        VOID = Void 0,
    }

    /// Parses a data type as TVM does: the default width is 32 bits, lanes follow an `x`.
    pub fn parse(text: &str) -> Option<DataType> {
        const PREFIXES: &[(&str, ElementKind)] = &[
            ("int", ElementKind::Int),
            ("uint", ElementKind::UInt),
            ("float", ElementKind::Float),
            ("handle", ElementKind::Handle),
            ("bfloat", ElementKind::BFloat),
            ("e4m3_float", ElementKind::E4M3Float),
            ("e5m2_float", ElementKind::E5M2Float),
        ];
        match text {
            "bool" => return Some(DataType::BOOL),
            "" | "void" => return Some(DataType::VOID),
            _ => {}
        }
        let (kind, rest) =
            PREFIXES.iter().find_map(|(p, kind)| Some((*kind, text.strip_prefix(p)?)))?;
        let (bits, lanes) = rest.split_once('x').unwrap_or((rest, "1"));
        let default = if kind == ElementKind::Handle { 64 } else { 32 };
        let number = |text: &str, default: u16| {
            if text.is_empty() { Some(default) } else { text.parse::<u16>().ok() }
        };
        let bits = number(bits, default)?;
        let bits = if bits == 0 { default } else { bits };
        Some(DataType { kind, bits: u8::try_from(bits).ok()?, lanes: number(lanes, 1)? })
    }

    /// Returns true for signed integers.
    pub fn is_int(self) -> bool {
        self.kind == ElementKind::Int
    }

    /// Returns true for unsigned integers, including `bool`.
    pub fn is_uint(self) -> bool {
        self.kind == ElementKind::UInt
    }

    /// Returns true for IEEE floating point.
    pub fn is_float(self) -> bool {
        self.kind == ElementKind::Float
    }

    /// Returns true for brain floating point.
    pub fn is_bfloat(self) -> bool {
        self.kind == ElementKind::BFloat
    }

    /// Returns true for `bool`.
    pub fn is_bool(self) -> bool {
        self == DataType::BOOL
    }

    /// Returns true for `void`, the value of an unset attribute of this type.
    pub fn is_void(self) -> bool {
        self.kind == ElementKind::Void
    }

    /// Returns true for floating point of any format.
    pub fn is_floating(self) -> bool {
        use ElementKind::{BFloat, E4M3Float, E5M2Float, Float};
        matches!(self.kind, Float | BFloat | E4M3Float | E5M2Float)
    }

    /// Returns true if the integer `value` is in the range of the type. Floating point types are
    /// assumed to round.
    pub fn can_represent(self, value: i64) -> bool {
        let bits = u32::from(self.bits);
        match self.kind {
            ElementKind::Int if bits < 64 => {
                let limit = 1i64 << bits.saturating_sub(1);
                (-limit..limit).contains(&value)
            }
            ElementKind::UInt => value >= 0 && (bits >= 63 || value < 1 << bits),
            _ => true,
        }
    }

    /// Replaces the number of bits.
    pub fn with_bits(self, bits: u8) -> DataType {
        DataType { bits, ..self }
    }

    /// Returns the size of an element in bytes; each lane has whole bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8)) * u64::from(self.lanes)
    }
}

/// Displays the data type as TVM prints it.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == DataType::BOOL {
            return f.write_str("bool");
        }
        let name = match self.kind {
            ElementKind::Int => "int",
            ElementKind::UInt => "uint",
            ElementKind::Float => "float",
            ElementKind::BFloat => "bfloat",
            ElementKind::Handle => return f.write_str("handle"),
            ElementKind::E4M3Float => "e4m3_float",
            ElementKind::E5M2Float => "e5m2_float",
            ElementKind::Void => return f.write_str("void"),
        };
        write!(f, "{name}{}", self.bits)?;
        if self.lanes != 1 {
            write!(f, "x{}", self.lanes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for text in ["float32", "int8", "uint1x4", "bool", "bfloat16", "float32x4", "e4m3_float8"] {
            assert_eq!(DataType::parse(text).map(|d| d.to_string()).as_deref(), Some(text));
        }
        assert_eq!(DataType::parse("int"), Some(DataType::INT32));
        assert_eq!(DataType::parse("uint1"), Some(DataType::BOOL));
        assert_eq!(DataType::parse("float3.2"), None);
        assert_eq!(DataType::parse("Nat"), None);
    }

    #[test]
    fn bytes_are_rounded_up_per_lane() {
        assert_eq!(DataType::BOOL.bytes(), 1);
        assert_eq!(DataType::FLOAT16.bytes(), 2);
        assert_eq!(DataType::parse("float32x4").map(DataType::bytes), Some(16));
    }
}
