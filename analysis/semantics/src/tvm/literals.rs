//! Numbers that TVM reads differently, or cannot read.

use syntax::{
    Node, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::{DataType, Type};

use super::{Edit, MergedDiagnostics, insert, rules};
use crate::{
    body::*,
    diagnostic::{Code, Diagnostic},
    features::UnitFeatures,
    view::View,
};

/// Reports integers without suffix that get their data type from another operand. TVM reads them as
/// `int32`, or `int64` if they do not fit.
pub(super) fn check(view: &View<'_>, findings: &mut MergedDiagnostics<'_>) {
    if rules::hold(view.db) {
        return;
    }
    for number in view.body.units_with(UnitFeatures::BARE_INT) {
        for (expr_ref, expr, range) in view.exprs(number) {
            let Expr::Literal(Literal::Int { value, dtype: None, .. }) = expr else { continue };
            let Type::Tensor(tensor) = view.ty(expr_ref) else { continue };
            let fits = i32::try_from(*value).is_ok();
            let default = if fits { DataType::INT32 } else { DataType::INT64 };
            if tensor.dtype == default || tensor.rank() > 0 {
                continue;
            }
            let message =
                format!("TVM reads this number as {default}, but its type is {}", tensor.dtype);
            findings.fold(
                Diagnostic::new(Code::TvmLiteralType, range, message)
                    .fix("Add the data type", with_dtype(range, tensor.dtype)),
            );
        }
    }
}

/// Returns the suffix of a data type, if TVM has one.
pub(crate) fn suffix_of(dtype: DataType) -> Option<&'static str> {
    Some(match dtype {
        DataType::INT16 => "i16",
        DataType::INT64 => "i64",
        DataType::FLOAT16 => "f16",
        DataType::FLOAT32 => "f",
        DataType::FLOAT64 => "f64",
        _ => return None,
    })
}

/// Returns the edits that make the integer at `range` a number of type `dtype`.
fn with_dtype(range: TextRange, dtype: DataType) -> Vec<Edit> {
    match suffix_of(dtype) {
        Some(suffix) => vec![insert(range.end(), suffix)],
        None => {
            let point = if dtype == DataType::BFLOAT16 { "f" } else { "" };
            vec![
                insert(range.start(), "cast("),
                insert(range.end(), format!("{point}, dtype=\"{dtype}\")")),
            ]
        }
    }
}

/// `int64(3)` to `3i64`, `float64(1.5)` to `1.5f64`.
pub(super) fn old(root: Node<'_>, range: TextRange) -> Option<Vec<Edit>> {
    let text = root.token_at(range.start())?.text();
    let (digits, suffix) = syntax::int_parts(text);
    let written = match digits.len() < text.len() && !suffix.is_empty() {
        true => format!("{digits}i{suffix}"),
        false => {
            let (digits, suffix) = syntax::float_parts(text);
            format!("{digits}f{}", suffix.unwrap_or_default())
        }
    };
    Some(vec![(range, written)])
}

/// `Constant(1, (10, 10), float32)` to `full(1f, shape=[10, 10], dtype="float32")`.
pub(super) fn constant(node: Node<'_>) -> Option<Vec<Edit>> {
    let constant = ast::ConstantExpr::cast(node)?;
    let value = constant.value()?.node();
    let shape = constant.shape()?.node();
    let dtype = constant.dtype()?.node();
    let ty = DataType::parse(dtype.to_string().trim())?;
    // A constant has known sizes.
    let known = |dim: Node<'_>| dim.tokens().all(|token| token.kind() == SyntaxKind::INT);
    if !shape.children().all(known) {
        return None;
    }
    let callee = node.token(SyntaxKind::IDENT)?.range();
    let open = shape.token(SyntaxKind::L_PAREN)?.range();
    let close = shape.token(SyntaxKind::R_PAREN)?.range();
    let mut edits = vec![
        (callee, "full".to_owned()),
        (open, "shape=[".to_owned()),
        (close, "]".to_owned()),
        (dtype.range(), format!("dtype=\"{ty}\"")),
    ];
    // The attribute `dtype` alone would be enough; the suffix is for the reader.
    let plain = value.token(SyntaxKind::INT).is_some_and(|token| !token.text().contains('i'));
    if let Some(suffix) = suffix_of(ty).filter(|_| plain) {
        edits.push(insert(value.range().end(), suffix));
    }
    Some(edits)
}

/// Returns the edits for a number with a suffix that TVM does not have: `1i8`, `nanf`, `inff64`.
/// `range` is the number without its sign.
pub(super) fn suffix(root: Node<'_>, range: TextRange) -> Option<Vec<Edit>> {
    let path = root.path_to(range);
    let literal = path.iter().rposition(|node| node.kind() == SyntaxKind::LITERAL)?;
    let around = path.get(literal.checked_sub(1)?)?;
    let in_attribute = matches!(around.kind(), SyntaxKind::ATTR | SyntaxKind::ATTR_LIST);
    let (whole, text) = (path[literal].range(), root.token_at(range.start())?.text());
    let end = range.end();
    let cut =
        |length: usize| (TextRange::new(end - TextSize::new(length as u32), end), String::new());
    let cast = |edit: Edit, dtype: &str| {
        vec![insert(whole.start(), "cast("), edit, insert(end, format!(", dtype=\"{dtype}\")"))]
    };
    if text.ends_with("i8") {
        return Some(if in_attribute { vec![cut(2)] } else { cast(cut(2), "int8") });
    }
    if let Some(width) = text.strip_prefix("inff") {
        return Some(match width {
            "32" => vec![cut(2)],
            _ if in_attribute => vec![cut(width.len())],
            _ => cast(cut(width.len()), &format!("float{width}")),
        });
    }
    let width = text.strip_prefix("nanf").filter(|_| !in_attribute)?;
    let zero = if width == "32" { "0f".to_owned() } else { format!("0f{width}") };
    Some(vec![(whole, format!("divide({zero}, {zero})"))])
}
