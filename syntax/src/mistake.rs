//! Constructs of other languages that the parser understands.
//!
//! The parser reads `%x % 2` or `if %c { … }` as what they mean, so that the rest of the definition keeps its
//! types, and records a [`Mistake`]: what it is, and the edits that write it in Relay. The semantic layer puts it
//! into words.

use rowan::TextRange;

/// A construct of another language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is written.
    pub kind: MistakeKind,
    /// The edits that write it in Relay, if they are certain.
    pub edits: Vec<(TextRange, String)>,
}

/// The kinds of constructs of other languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MistakeKind {
    /// An operator that is a call in Relay: `%x % 2` for `mod(%x, 2)`.
    Operator(&'static str),
    /// A token that is missing, with the edit that inserts it: the colon of `%x float32`.
    Missing(&'static str),
    /// A token or word that has another spelling: `elif` for `else if`, `->` for `=>`.
    Spelling(&'static str),
    /// A word that Relay does not need: `match %l with`, `let mut %x`.
    Superfluous,
    /// `+1f`.
    PlusSign,
    /// `%x[0]`; with the index if it is a number.
    Index(Option<u32>),
    /// `if %c { … }`.
    Condition,
    /// `if (%c) %x else %y`.
    Branch,
    /// `(%v) => add(%v, 1f)`, `lambda %v: add(%v, 1f)`.
    Lambda,
    /// `fn %v { … }`, `def @main %x`.
    Parameters,
    /// `def @f(%x) = tanh(%x)`, `def @f(%x):`.
    Body,
    /// `def @f(%x: T): T { … }`.
    ResultType,
    /// `let int32 %x = 1;`, `float32 %x`.
    TypeFirst,
    /// `let %x, %y = e;`.
    Destructuring,
    /// `tanh %x`.
    Application,
    /// `let %y = e : T;`
    AscribedValue,
    /// `0x10`, `1_000`, `.5`, `1L`.
    Number,
    /// `(float32) %n`, `%n as float32`.
    Cast,
    /// `%x if %c else %y`, `%c ? %x : %y`.
    Conditional,
    /// `for`, `while`.
    Loop,
    /// `[%a, %b]`, or a list of numbers, as a value.
    ListValue,
    /// A tensor type of another language or with other punctuation: `tensor<2x3xf32>`, `Tensor[float32, (2, 3)]`.
    TensorType,
    /// `List<int32>`.
    TypeArguments,
    /// `int32[]` or `[int32]` for a list.
    ListType,
    /// `int32 -> int32`, `(int32) -> int32`.
    FunctionType,
    /// `&int32`.
    TypeSign,
    /// `A * B`.
    ProductType,
    /// `type T = A | B`.
    TypeBody,
    /// `A of int32`, `A(x: int32)`.
    ConstructorFields,
    /// `type T a { … }`, `type T(a) { … }`.
    TypeParameters,
    /// `type T = int32`.
    Alias,
    /// `Cons %h %t`, `%h :: %t`.
    Pattern,
    /// `| Cons(%h, _) => …`.
    ArmBar,
    /// `type Shade { | Light | Dark }`.
    ConstructorBar,
    /// `Cons(%h, _) if c => …`.
    Guard,
    /// `fn @main`, `func @main`, `float32 @main`.
    Definition,
    /// `def main`, `def %f`, or a parameter `x` or `@x`: the name with its sigil.
    Sigil(char),
    /// `struct`, `class`.
    Record,
    /// `module { … }`, and other texts that are not Relay as a whole.
    OtherLanguage(&'static str),
    /// `%x: T = 1`: a default value.
    DefaultValue,
    /// `-- comment`, `(* comment *)`, `; comment`.
    Comment,
    /// A size that is no number.
    Size,
    /// `axis: 1` for `axis=1`.
    AttributeSign,
}

/// Returns the Relay data type for its name in another language: `f32`, `half`, `torch.int64`.
pub fn dtype_of(name: &str) -> Option<&'static str> {
    let bare = name.rsplit('.').next().unwrap_or(name);
    let bare = bare.trim_matches(['"', '\'', '_']).trim_end_matches("_t");
    Some(match bare.to_ascii_lowercase().as_str() {
        "float32" | "f32" | "fp32" | "float" | "single" => "float32",
        "float16" | "f16" | "fp16" | "half" => "float16",
        "float64" | "f64" | "fp64" | "double" => "float64",
        "bfloat16" | "bf16" => "bfloat16",
        "int8" | "i8" | "s8" | "byte" | "si8" => "int8",
        "int16" | "i16" | "s16" | "short" | "si16" => "int16",
        "int32" | "i32" | "s32" | "int" | "integer" | "si32" => "int32",
        "int64" | "i64" | "s64" | "long" | "index" | "si64" => "int64",
        "uint8" | "u8" | "ui8" | "ubyte" => "uint8",
        "uint16" | "u16" | "ui16" => "uint16",
        "uint32" | "u32" | "ui32" => "uint32",
        "uint64" | "u64" | "ui64" => "uint64",
        "bool" | "boolean" | "i1" | "pred" => "bool",
        _ => return None,
    })
}

/// Returns the tensor type that a text of another language means: `Tensor[(2, 3), float32]` for
/// `tensor<2x3xf32>`, `Tensor[float32, (2, 3)]` and `float32[2][3]`.
pub fn tensor_type_of(text: &str) -> Option<String> {
    let (mut sizes, mut dtype) = (Vec::new(), None);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '?' | '-' | '*');
    for word in text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()) {
        if dtype_of(word).is_some() {
            dtype = dtype.or(dtype_of(word));
            continue;
        }
        // `2x3xf32`
        for part in word.split('x').filter(|part| !part.is_empty()) {
            match part {
                "?" | "-1" | "None" | "*" => sizes.push("?".to_owned()),
                part if part.bytes().all(|b| b.is_ascii_digit()) => sizes.push(part.to_owned()),
                part if word
                    .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '?' | 'x')) =>
                {
                    dtype = dtype.or(Some(dtype_of(part)?));
                }
                part if sizes.is_empty() && dtype.is_none() && is_word_of_tensors(part) => {}
                _ => return None,
            }
        }
    }
    let dtype = dtype?;
    // The shape of `Tensor[float32]` is unknown; that of `tensor<f32>` is `()`.
    if sizes.is_empty() && !text.contains("()") && !text.contains('<') {
        return None;
    }
    Some(match sizes.is_empty() {
        true => format!("Tensor[(), {dtype}]"),
        false => format!("Tensor[({}), {dtype}]", sizes.join(", ")),
    })
}

/// Returns true for a word that names tensors in another language.
pub(crate) fn is_word_of_tensors(word: &str) -> bool {
    let bare = word.rsplit('.').next().unwrap_or(word).to_ascii_lowercase();
    matches!(
        bare.as_str(),
        "tensor" | "memref" | "ndarray" | "array" | "vector" | "matri" | "matrix"
    )
}
