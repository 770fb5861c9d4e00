//! Data types of tensor elements: `float32`, `int8`, `bool`, `float32x4`.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;

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
    /// A custom data type that was registered with TVM, by its number in [`CUSTOM`].
    Custom(u16),
    /// No value.
    Void,
}

/// The maximal number of custom data types. Their names live as long as the process, and each prefix of a name that is
/// typed is one of them: the two limits bound their memory to a quarter of a megabyte.
const MAX_CUSTOM: usize = 4096;
/// The maximal length of the name of a custom data type in bytes.
const MAX_CUSTOM_NAME: usize = 64;

/// The custom data types that were parsed, by number and by name.
#[derive(Default)]
struct CustomTypes {
    names: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u16>,
}

static CUSTOM: LazyLock<RwLock<CustomTypes>> = LazyLock::new(RwLock::default);

/// Returns the number of a custom data type; `None` if there are too many, or the name is too long.
fn custom(name: &str) -> Option<u16> {
    let known = CUSTOM.read().numbers.get(name).copied();
    if known.is_some() || name.is_empty() || name.len() > MAX_CUSTOM_NAME {
        return known;
    }
    let mut types = CUSTOM.write();
    // Another thread may have added it.
    if let Some(&number) = types.numbers.get(name) {
        return Some(number);
    }
    let number = u16::try_from(types.names.len()).ok()?;
    if types.names.len() >= MAX_CUSTOM {
        return None;
    }
    let name: Arc<str> = name.into();
    types.names.push(name.clone());
    types.numbers.insert(name, number);
    Some(number)
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
        // `custom[posit]8`
        let of_custom = || {
            let (name, rest) = text.strip_prefix("custom[")?.split_once(']')?;
            Some((ElementKind::Custom(custom(name)?), rest))
        };
        let mut prefixes = PREFIXES.iter();
        let (kind, rest) = prefixes
            .find_map(|(prefix, kind)| Some((*kind, text.strip_prefix(prefix)?)))
            .or_else(of_custom)?;
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
            ElementKind::Custom(number) => {
                let types = CUSTOM.read();
                write!(
                    f,
                    "custom[{}]",
                    types.names.get(usize::from(number)).map_or("", |name| name)
                )?;
                ""
            }
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
        for text in [
            "float32",
            "int8",
            "uint1x4",
            "bool",
            "bfloat16",
            "float32x4",
            "e4m3_float8",
            "custom[posit]8x4",
        ] {
            assert_eq!(DataType::parse(text).map(|d| d.to_string()).as_deref(), Some(text));
        }
        assert_eq!(DataType::parse("int"), Some(DataType::INT32));
        assert_eq!(DataType::parse("uint1"), Some(DataType::BOOL));
        assert_eq!(DataType::parse("float3.2"), None);
        assert_eq!(DataType::parse("Nat"), None);
        assert_eq!(DataType::parse("custom[posit]"), DataType::parse("custom[posit]32"));
        assert_eq!(DataType::parse("custom[]8"), None);
        // An editor parses each prefix of a name.
        assert!((0..1_000).all(|n| DataType::parse(&format!("custom[t{n}]8")).is_some()));
        assert_eq!(DataType::parse(&format!("custom[{}]8", "x".repeat(1_000))), None);
    }

    #[test]
    fn bytes_are_rounded_up_per_lane() {
        assert_eq!(DataType::BOOL.bytes(), 1);
        assert_eq!(DataType::FLOAT16.bytes(), 2);
        assert_eq!(DataType::parse("float32x4").map(DataType::bytes), Some(16));
    }
}
