//! The words of the language, for mutations: keywords, punctuation, operators with their
//! attributes, and common fragments. `tests/fuzz/dictionaries/relay.dict` has the same
//! words in the form of libFuzzer; a test compares them.

use std::{collections::BTreeSet, fmt::Write, sync::OnceLock};

use syntax::SyntaxKind;

/// Words that are in no table: types, data types of the prelude, and starts of constructs.
const OTHERS: &[&str] = &[
    "Tensor[(1, 2), float32]",
    "Tensor[(?, ?), float32]",
    "Tensor[(), bool]",
    "Tensor[",
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint1",
    "bool",
    "handle",
    "custom[my]32",
    "int8x4",
    "Nil",
    "Cons(",
    "Some(",
    "None",
    "List[",
    "Tree[",
    "Option[",
    "Rose(",
    "@map",
    "@foldl",
    "@hd",
    "%x",
    "%y",
    "%0",
    "%1",
    "%0.0",
    "%x.1",
    "%0 = ",
    "%1 = (%0, %0);\n",
    "let %x = ",
    "let %x: ",
    "let %f = fn (%y) { %y };\n",
    "fn (%x) { %x }",
    "fn [A](%x: A) -> A { %x }",
    "fn () -> ",
    "def @main(",
    "def @f(%x) { @f(%x) }\n",
    "def @g[A](%x: A) -> A { %x }\n",
    "def @h<s : Shape, bt : BaseType>(%a : Tensor[s, bt]) -> Tensor[s, bt] where Broadcast ",
    "type T { A, B(int32) }\n",
    "type L[A] { C(A, L[A]), N }\n",
    "extern type E\n",
    "free_var %q: int32;\n",
    "match (%x) { ",
    "match? (%x) { ",
    "Cons(%a, _) => ",
    "if (%c) { ",
    "} else { ",
    "ref(%x)",
    "ref_read(%x)",
    "ref_write(%x, %y)",
    "-> ",
    "_",
    "()",
    "(%x,)",
    "(%x, %y)",
    "[1, 2]",
    "[]",
    "axis=",
    "axis=-1",
    "attributes",
    "Primitive=1",
    "meta[relay.Constant][0]",
    "meta[tir.SizeVar][0]",
    "#[metadata]\n{}",
    "#[version = \"0.0.5\"]\n",
    "/* ty=int32 */",
    "/* from_string */",
    "span=",
    "// ",
    "\n",
    "\n\n",
    "  ",
    "1",
    "1f",
    "2147483648",
    "0.5f",
    "\"float32\"",
    "'a'",
];

/// Returns every word, sorted.
pub fn words() -> &'static [&'static str] {
    static WORDS: OnceLock<Vec<&'static str>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let fixed = SyntaxKind::ALL.iter().filter(|kind| kind.is_fixed());
        let spelled = fixed.map(|kind| kind.describe().trim_matches('`'));
        let mut words: BTreeSet<&'static str> = spelled.collect();
        for operator in operators::all() {
            words.insert(operator.name);
            words.extend(
                operator.schema.iter().flat_map(|schema| schema.fields).map(|field| field.name),
            );
        }
        words.extend(OTHERS);
        words.into_iter().collect()
    })
}

/// The dictionary in the form of libFuzzer: one quoted word per line.
pub fn text() -> String {
    let mut text = String::from(
        "# The words of Relay: keywords, punctuation, operators and their attributes.\n\
         # Made by `RELAY_WRITE=1 cargo test --release --workspace --test fuzz_bounded dictionary`.\n",
    );
    for word in words() {
        let escaped = word.bytes().fold(String::new(), |mut out, byte| {
            match byte {
                b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
                b' '..=b'~' => out.push(char::from(byte)),
                // Writing to a string cannot fail.
                _ => drop(write!(out, "\\x{byte:02X}")),
            }
            out
        });
        let _ = writeln!(text, "\"{escaped}\"");
    }
    text
}
