//! Types as edits insert them.

use types::Type;

/// The maximum number of nodes of a type that an edit inserts.
const MAX_NODES: u32 = 1_000;

/// Returns the text of a type as a module can contain it. `None` for a type that has unknown parts,
/// that has no syntax (`Tensor[(n * 2), float32]`), or that has more than 1,000 nodes.
pub fn writable(ty: &Type) -> Option<String> {
    if !ty.is_closed() || ty.has_error() || ty.weight() > MAX_NODES {
        return None;
    }
    let text = ty.to_string();
    // The parser does not accept a printed size such as `(n * 2)`.
    let parse = syntax::parse_type(&text);
    parse.errors.iter().all(|error| error.kind.is_compat()).then_some(text)
}
