//! Hovers of types as written: data types, tensors and their sizes.

use syntax::{Node, SyntaxKind, TextRange};
use types::{DataType, Dim, ElementKind, Type};

use super::{code, size, truncated};
use crate::place::{Place, trimmed};

/// Describes the data type, tensor type or size at the token as Markdown, with its range relative to the definition.
pub(super) fn of_token(place: &Place<'_>) -> Option<(TextRange, String)> {
    let node = *place.path.last()?;
    if node.kind() == SyntaxKind::NAMED_TYPE
        && let Some(meaning) = DataType::parse(place.token.text()).and_then(meaning)
    {
        let text = code(place.token.text()) + &format!("\n\n{meaning}");
        return Some((place.token.range(), text));
    }
    let at = place.path.iter().rposition(|node| node.kind() == SyntaxKind::TENSOR_TYPE)?;
    let tensor = place.path[at];
    let mut out = code(&truncated(tensor));
    let shape = place.path.get(at + 1).filter(|node| node.kind() == SyntaxKind::SHAPE);
    let dim = shape.and_then(|_| place.path.get(at + 2));
    let amount = tensor_type(tensor).map(|ty| size(&ty)).unwrap_or_default();
    let amount = amount.trim_start_matches(", ");
    let Some((shape, dim)) = shape.zip(dim) else {
        if !amount.is_empty() {
            out += &format!("\n\n{amount}");
        }
        return Some((trimmed(tensor), out));
    };
    let axes = shape.children().filter(|child| child.kind() == SyntaxKind::DIM);
    let axis = axes.clone().position(|axis| axis.range() == dim.range())?;
    out += &format!("\n\naxis {axis} of {}", axes.count());
    if place.token.kind() == SyntaxKind::QUESTION {
        out += ", whose size is known when the function runs";
    }
    if !amount.is_empty() {
        out += &format!("\n\n{amount}");
    }
    Some((trimmed(*dim), out))
}

/// Returns the meaning of a data type.
fn meaning(dtype: DataType) -> Option<String> {
    let bits = u32::from(dtype.bits);
    if dtype.lanes != 1 || bits == 0 || bits > 64 {
        return None;
    }
    let numbers = match dtype.kind {
        _ if dtype.is_bool() => "`True` or `False`".to_owned(),
        ElementKind::Int => {
            let end = 1i128 << (bits - 1);
            format!("integers of {bits} bits, from -{end} to {}", end - 1)
        }
        ElementKind::UInt => {
            format!("integers of {bits} bits, from 0 to {}", (1u128 << bits) - 1)
        }
        ElementKind::Float => format!("floating-point numbers of {bits} bits (IEEE 754)"),
        ElementKind::BFloat => {
            format!("floating-point numbers of {bits} bits, with the range of `float32`")
        }
        _ => return None,
    };
    Some(numbers)
}

/// Returns a tensor type of known sizes.
fn tensor_type(tensor: Node<'_>) -> Option<Type> {
    let dtype = tensor.child(SyntaxKind::NAMED_TYPE)?;
    let dtype = DataType::parse(dtype.first_token()?.text())?;
    let dims = tensor.child(SyntaxKind::SHAPE)?.children();
    let dims = dims.filter(|child| child.kind() == SyntaxKind::DIM);
    let sizes: Option<Vec<Dim>> = dims
        .map(|dim| {
            let mut tokens = dim.tokens().filter(|token| !token.kind().is_trivia());
            let number: i64 = tokens.next()?.text().parse().ok()?;
            tokens.next().is_none().then(|| Dim::from(number))
        })
        .collect();
    Some(Type::tensor(sizes?, dtype))
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;

    fn hover(text: &str) -> (String, String) {
        let fixture = Fixture::new(text);
        let hover = crate::hover::hover(&fixture.db, fixture.file, fixture.cursor());
        let hover = hover.expect("a hover");
        let range = std::ops::Range::<usize>::from(hover.range);
        (fixture.text[range].to_owned(), hover.markdown)
    }

    #[test]
    fn data_types_and_sizes_are_described() {
        let hover = |text: &str| {
            let (source, markdown) = hover(text);
            (source, markdown.replace("```relay\n", "").replace("\n```", ""))
        };
        let is = |text: &str, source: &str, shown: &str| {
            assert_eq!(hover(text), (source.to_owned(), shown.to_owned()), "{text}");
        };
        let rest = "float32], %n: int32, %d: Tensor[(?, 2), bool]) -> int32 { %n }";
        let with = |start: &str| format!("def @main(%x: Tensor[{start}, {rest}");
        is(
            &with("(1, $064, 112)"),
            "64",
            "Tensor[(1, 64, 112), float32]\n\naxis 1 of 3\n\n7,168 elements, 28.0 KiB",
        );
        let header = with("(1)");
        is(
            &header.replace("float32", "flo$0at32"),
            "float32",
            "float32\n\nfloating-point numbers of 32 bits (IEEE 754)",
        );
        is(
            &header.replace("%n: int32", "%n: int$032"),
            "int32",
            "int32\n\nintegers of 32 bits, from -2147483648 to 2147483647",
        );
        is(&header.replace("bool", "bo$0ol"), "bool", "bool\n\n`True` or `False`");
        is(
            &header.replace("?, 2", "$0?, 2"),
            "?",
            "Tensor[(?, 2), bool]\n\naxis 0 of 2, whose size is known when the function runs",
        );
    }
}
