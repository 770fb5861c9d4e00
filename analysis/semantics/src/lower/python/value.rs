//! Values of attributes as Python writes them: `'int8'`, `(2, 2)`, `2` for `[2, 2]`.

use operators::{Operator, attrs::accepts};
use syntax::{
    Node, SyntaxKind,
    ast::{self, AstNode},
};
use types::{AttrField, AttrType, AttrValue, DataType, Number};

use crate::{body::Literal, lower::meta_parts};

/// A value.
pub(super) struct Value {
    pub(super) value: AttrValue,
    /// True if Relay writes it in the same way.
    pub(super) is_same: bool,
    /// True if it has the quotes of Python.
    pub(super) is_quoted: bool,
}

impl Value {
    fn same(value: AttrValue) -> Option<Value> {
        Some(Value { value, is_same: true, is_quoted: false })
    }

    fn other(value: AttrValue) -> Option<Value> {
        Some(Value { value, is_same: false, is_quoted: false })
    }
}

/// Returns true if the values of an attribute are lists.
pub(super) fn takes_list(field: &AttrField) -> bool {
    matches!(field.ty, AttrType::Dims | AttrType::Ints | AttrType::OptionalInts | AttrType::Floats)
}

/// Returns the value of a node. Recursion is bounded by the depth of the tree, which the parser limits.
pub(super) fn raw(node: Node<'_>) -> Option<Value> {
    match node.kind() {
        SyntaxKind::LITERAL => literal(node),
        SyntaxKind::ATTR_OPAQUE => quoted(node),
        SyntaxKind::PAREN_EXPR => {
            let mut inner = node.children().filter_map(raw);
            inner.next().map(|value| Value { is_same: false, ..value })
        }
        SyntaxKind::TUPLE_EXPR | SyntaxKind::ATTR_LIST => {
            let values: Option<Vec<Value>> = node.children().map(raw).collect();
            let values = values?;
            let is_list = node.kind() == SyntaxKind::ATTR_LIST
                && node.first_token().is_some_and(|token| token.kind() == SyntaxKind::L_BRACK);
            Some(Value {
                is_same: is_list && values.iter().all(|value| value.is_same),
                is_quoted: values.iter().any(|value| value.is_quoted),
                value: AttrValue::List(values.into_iter().map(|value| value.value).collect()),
            })
        }
        SyntaxKind::META_EXPR => {
            let token = ast::MetaExpr::cast(node)?.text()?;
            let (key, index) = meta_parts(token.text())?;
            Value::same(AttrValue::Meta { key, index })
        }
        SyntaxKind::NAME_REF => match &*ast::NameRef::cast(node)?.text() {
            "None" => Value::same(AttrValue::None),
            "nullptr" => Value::other(AttrValue::None),
            name => Value::other(AttrValue::DType(DataType::parse(syntax::dtype_of(name)?)?)),
        },
        _ => None,
    }
}

fn literal(node: Node<'_>) -> Option<Value> {
    let is_negative =
        node.tokens().filter(|token| token.kind() == SyntaxKind::MINUS).count() % 2 == 1;
    let sign = |value: f64| if is_negative { -value } else { value };
    node.tokens().find_map(|token| match token.kind() {
        SyntaxKind::TRUE_KW => Value::same(AttrValue::Bool(true)),
        SyntaxKind::FALSE_KW => Value::same(AttrValue::Bool(false)),
        SyntaxKind::INT => {
            let (digits, suffix) = syntax::int_parts(token.text());
            let value: i64 = digits.parse().ok()?;
            let value = if is_negative { -value } else { value };
            let wide = suffix == "64" || suffix.is_empty() && i32::try_from(value).is_err();
            Value::same(AttrValue::Int { value, wide })
        }
        SyntaxKind::FLOAT => {
            let (digits, _) = syntax::float_parts(token.text());
            let value = digits.trim_end_matches('.').parse().ok()?;
            Value::same(AttrValue::Float(Number(sign(value))))
        }
        SyntaxKind::STRING => Value::same(AttrValue::Str(syntax::unquoted(token.text()).into())),
        SyntaxKind::QUOTED_NAME => quoted(node),
        _ => None,
    })
}

/// Returns the value of `'int8'`.
fn quoted(node: Node<'_>) -> Option<Value> {
    let token = node.tokens().find(|token| token.kind() == SyntaxKind::QUOTED_NAME)?;
    let text = token.text().trim_matches('\'');
    Some(Value { value: AttrValue::Str(text.into()), is_same: false, is_quoted: true })
}

/// Returns the value of a node as one of an attribute, if it can be one.
pub(super) fn of(node: Node<'_>, field: &AttrField, operator: &Operator) -> Option<Value> {
    let Value { value, is_same, is_quoted } = raw(node)?;
    // Numbers are no truth values here, and the other way round: which parameter is meant would be uncertain.
    let is_mixed = match value {
        AttrValue::Bool(_) => !matches!(field.ty, AttrType::Bool | AttrType::Any),
        AttrValue::Int { .. } => field.ty == AttrType::Bool,
        _ => false,
    };
    if is_mixed {
        return None;
    }
    let (value, is_same) = match (value, field.ty) {
        (value @ AttrValue::Int { .. }, _) if takes_list(field) => {
            let axes = if field.ty == AttrType::Dims { operator.spatial_axes() } else { 1 };
            (AttrValue::List(vec![value; axes].into()), false)
        }
        (AttrValue::Int { value, .. }, AttrType::Float) if field.boxed => {
            (AttrValue::Float(Number(value as f64)), false)
        }
        (AttrValue::Str(text), AttrType::DType) if DataType::parse(&text).is_none() => {
            (AttrValue::DType(DataType::parse(syntax::dtype_of(&text)?)?), false)
        }
        (value, _) => (value, is_same),
    };
    accepts(field, &value).then_some(Value { value, is_same, is_quoted })
}

/// Returns the literal of a default of an argument: `0`, `0.5f`.
pub(super) fn default_literal(text: &str) -> Literal {
    match text.strip_suffix('f') {
        Some(number) => {
            let value: f64 = number.parse().unwrap_or_default();
            Literal::Float { bits: value.to_bits(), dtype: Some(DataType::FLOAT32), claimed: None }
        }
        None => {
            let value = text.parse().unwrap_or_default();
            Literal::Int { value, dtype: None, claimed: None }
        }
    }
}
