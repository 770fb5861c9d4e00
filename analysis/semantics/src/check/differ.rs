//! The difference of two types in words.

use types::{Conflict, ConflictKind, DTypeClass, Step, Type};

/// Returns the axes, fields or parameters in which two types differ, as the end of a sentence: ``
/// (axis 1: 3 and 4)``.
pub(super) fn differ(conflict: &Conflict) -> String {
    let mut place = String::new();
    for step in &conflict.path {
        place += &match step {
            Step::Field(i) => format!(" of field {i}"),
            Step::Param(i) => format!(" of parameter {}", i + 1),
            Step::Ret => " of the result".to_owned(),
            Step::Inner => " of the referenced type".to_owned(),
            Step::Arg(i) => format!(" of type argument {}", i + 1),
        };
    }
    match &conflict.kind {
        ConflictKind::Sizes(axes) => {
            let list: Vec<String> = axes
                .iter()
                .filter_map(|&axis| {
                    let (left, right) = (conflict.left.as_sizes()?, conflict.right.as_sizes()?);
                    Some(format!("axis {axis}: {} and {}", left.get(axis)?, right.get(axis)?))
                })
                .collect();
            format!(" ({}{place})", list.join("; "))
        }
        ConflictKind::Class(DTypeClass::Float) => {
            " (`_` must be a floating point type, because of a number with a fraction)".to_owned()
        }
        ConflictKind::Class(_) => {
            " (`_` must be an integer or floating point type, because of a number)".to_owned()
        }
        ConflictKind::Infinite => " (the type would contain itself)".to_owned(),
        ConflictKind::Depth => " (the types nest too deeply to be compared)".to_owned(),
        ConflictKind::Escape(param) => {
            format!(" (the type parameter `{}` would leave its function)", param.name())
        }
        _ => match shared_name(conflict) {
            Some(name) => format!(" (these are two type parameters named `{name}`{place})"),
            None if place.is_empty() => String::new(),
            None => format!(" (`{}` and `{}`{place})", conflict.left, conflict.right),
        },
    }
}

/// Returns the name of two different type parameters that have the same name.
fn shared_name(conflict: &Conflict) -> Option<&str> {
    match (&conflict.left, &conflict.right) {
        (Type::Param(left), Type::Param(right)) if left.name() == right.name() => Some(left.name()),
        _ => None,
    }
}
