//! Conversion of modules that TVM saved to Relay text.
//!
//! [`convert`] reads the JSON of `tvm.ir.save_json` and returns the text that TVM 0.14 prints for it
//! with `astext(show_meta_data=True)`, byte for byte. JSON of TVM 0.6 to 0.8 is upgraded to the format
//! that later versions share.
//!
//! The calls of a module of TVM 0.6 or 0.7 mean what they mean in that release: `pad_value` is an
//! attribute, `nn.batch_matmul` transposes its second operand. Its text has the attributes and defaults
//! of the release, and a metadata section that names it, even if there is nothing else in it.
//!
//! Files are untrusted: every index is checked, the number of nodes is limited to [`MAX_NODES`] and the
//! nesting of the output to [`MAX_NESTING`], and the length of the text is limited to a multiple of the
//! file's length, since nodes that are shared in the file are repeated in the text.
//!
//! [`open`] reads archives of TVM: saved models, compiled packages and the Model Library Format.
//!
//! The crate deliberately does not open or write files.

mod archive;
mod defaults;
mod error;
mod former;
mod graph;
mod kinds;
mod map;
mod metadata;
mod numbers;
mod plan;
mod print;
mod upgrade;
mod uses;
mod write;

pub use archive::{Package, is_archive, open};
pub use error::Error;
use graph::Graph;
pub use plan::{Plan, is_plan};

/// The largest number of nodes in a file. A network of 14,500 bindings has 400,000.
pub const MAX_NODES: usize = 1 << 22;
/// The largest nesting depth of expressions, types, patterns and attributes that is printed. Chains of
/// bindings, and calls in the arguments of calls, are not nested.
pub const MAX_NESTING: usize = 4096;
/// The stack of the thread that prints: enough for that nesting in a build without optimisation.
const STACK: usize = 256 << 20;

/// Returns true if the start of a file is an object with the members that `tvm.ir.save_json` writes, so
/// that [`convert`] can read it.
pub fn is_saved(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4 << 10)];
    let mut words = head
        .split(|byte| byte.is_ascii_whitespace() || *byte == b',')
        .flat_map(|word| word.split_inclusive(|byte| matches!(byte, b'{' | b':' | b'[')));
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    if words.next() != Some(b"{") {
        return false;
    }
    let begins = |name: &[u8], word: &[u8]| word.starts_with(name);
    match words.next() {
        // `json.dumps` keeps the order of members, but a sorted object starts with another one.
        Some(word) if begins(b"\"root\"", word) => true,
        Some(word) if begins(b"\"attrs\"", word) || begins(b"\"b64ndarrays\"", word) => {
            contains(head, b"\"tvm_version\"") || begins(b"\"b64ndarrays\"", word)
        }
        Some(word) if begins(b"\"nodes\"", word) => contains(head, b"\"type_key\""),
        _ => false,
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Returns the text of a module, a function or an expression that `tvm.ir.save_json` wrote.
///
/// # Errors
/// The JSON has another format, an unknown version or kind of node, or exceeds the limits above.
pub fn convert(json: &str) -> Result<String, Error> {
    let mut graph = Graph::read(json)?;
    upgrade::upgrade(&mut graph)?;
    // The printer recurses with the nesting of the module; the caller's stack may be small.
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("print".to_owned()).stack_size(STACK);
        let thread = builder.spawn_scoped(scope, || print::module(&graph, json.len()));
        let thread = thread.map_err(|error| Error::new("no-thread", "", error.to_string()))?;
        match thread.join() {
            Ok(text) => text,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
