//! In what two types differ, as the end of a sentence.

use types::{Conflict, ConflictKind, Dim, ShapeTerm, Step, Type};

/// The axes, fields or parameters in which two types differ, as the end of a sentence.
pub(super) fn differ(conflict: &Conflict) -> String {
    let mut place = String::new();
    for step in &conflict.path {
        place += &match step {
            Step::Field(i) => format!(" of field {i}"),
            Step::Param(i) => format!(" of parameter {}", i + 1),
            Step::Ret => " of the result".to_owned(),
            Step::Inner => " of what it holds".to_owned(),
            Step::Arg(i) => format!(" of type argument {}", i + 1),
        };
    }
    match &conflict.kind {
        ConflictKind::Sizes(axes) => {
            let list: Vec<String> = axes
                .iter()
                .filter_map(|&axis| {
                    let (left, right) = (sizes(&conflict.left)?, sizes(&conflict.right)?);
                    Some(format!("axis {axis}: {} and {}", left.get(axis)?, right.get(axis)?))
                })
                .collect();
            format!(" ({}{place})", list.join("; "))
        }
        ConflictKind::Infinite => " (the type would contain itself)".to_owned(),
        ConflictKind::Depth => " (the types nest too deeply to be compared)".to_owned(),
        ConflictKind::Escape(param) => {
            format!(" (the type parameter `{}` would leave its function)", param.name())
        }
        _ => match namesakes(conflict) {
            Some(name) => format!(" (these are two type parameters named `{name}`{place})"),
            None if place.is_empty() => String::new(),
            None => format!(" (`{}` and `{}`{place})", conflict.left, conflict.right),
        },
    }
}

/// The sizes of a tensor, whose data type may be open.
fn sizes(ty: &Type) -> Option<&[Dim]> {
    match ty {
        Type::Tensor(tensor) => Some(&tensor.shape),
        Type::OpenTensor(open) => match &open.shape {
            ShapeTerm::Dims(dims) => Some(dims),
            _ => None,
        },
        _ => None,
    }
}

/// The name of the two type parameters that differ, if they have one name.
fn namesakes(conflict: &Conflict) -> Option<&str> {
    match (&conflict.left, &conflict.right) {
        (Type::Param(left), Type::Param(right)) if left.name() == right.name() => Some(left.name()),
        _ => None,
    }
}
