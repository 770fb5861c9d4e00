//! Lowering of attributes, and their check against the schema of the operator.

use operators::{
    Operator,
    attrs::{AttrProblem, Written, bind, by_key},
};
use syntax::{
    Node, SyntaxKind,
    ast::{self, AstNode},
};
use types::{AttrSchema, AttrValue, Attrs, Number};

use super::{Lowering, ty::meta_parts};
use crate::body::{Literal, ProblemKind, RangeId, WrittenAttr};

impl Lowering {
    pub(super) fn written_attr(&mut self, attr: ast::Attr<'_>) -> WrittenAttr {
        let name = attr.name();
        let value = attr.value().map(|value| value.node());
        WrittenAttr {
            name: name.map(|n| n.text().into()).unwrap_or_default(),
            name_range: self.range(name.map_or(attr.range(), |n| n.range())),
            value_range: self.range(value.map_or(attr.range(), |v| v.range())),
            value: self.attr_value(value),
        }
    }

    pub(super) fn attr_value(&mut self, value: Option<Node<'_>>) -> AttrValue {
        let Some(value) = value.and_then(ast::AttrValue::cast) else { return AttrValue::Error };
        match value {
            ast::AttrValue::Literal(literal) => self.attr_literal(literal.node()),
            ast::AttrValue::AttrList(list) => {
                // `(1)` is a number in parentheses. `(1, 0)` is read as a list; that TVM requires
                // square brackets is a separate finding.
                let has = |kind| list.node().token(kind).is_some();
                let is_list = !has(SyntaxKind::L_PAREN) || has(SyntaxKind::COMMA);
                let mut values = list.values().map(|v| self.attr_value(Some(v.node())));
                match is_list {
                    true => AttrValue::List(values.collect()),
                    false => values.next().unwrap_or(AttrValue::Error),
                }
            }
            ast::AttrValue::MetaExpr(meta) => {
                let parts = meta.text().and_then(|token| meta_parts(token.text()));
                parts.map_or(AttrValue::Error, |(key, index)| AttrValue::Meta { key, index })
            }
            ast::AttrValue::NameRef(name) => match &*name.text() {
                "None" | "nullptr" => AttrValue::None,
                // An operator or constructor; `dtype=float32` without quotes is read as one.
                _ => AttrValue::Opaque,
            },
            _ => AttrValue::Opaque,
        }
    }

    fn attr_literal(&mut self, node: Node<'_>) -> AttrValue {
        if let Some(string) = node.token(SyntaxKind::STRING) {
            let text = string.text();
            let text = text.strip_prefix('"').unwrap_or(text);
            return AttrValue::Str(text.strip_suffix('"').unwrap_or(text).into());
        }
        match self.literal(node) {
            Some(Literal::Bool(value)) => AttrValue::Bool(value),
            Some(Literal::Int { value, dtype }) => {
                let wide = dtype.map_or(i32::try_from(value).is_err(), |dtype| dtype.bits == 64);
                AttrValue::Int { value, wide }
            }
            Some(Literal::Float { bits, .. }) => AttrValue::Float(Number(f64::from_bits(bits))),
            None => AttrValue::Error,
        }
    }

    /// Returns the attributes of a call of `operator`, and true if they match its schema.
    pub(super) fn bind_attrs(
        &mut self,
        operator: &'static Operator,
        written: &[WrittenAttr],
        from_metadata: bool,
        callee: RangeId,
    ) -> (Attrs, bool) {
        if from_metadata && written.is_empty() {
            return (Attrs::none(), true);
        }
        let declared = operator.declared_attrs();
        let key = written.iter().find(|attr| attr.name == TYPE_KEY && declared.is_none());
        let schema = match (declared, key) {
            (Some(schema), _) => schema,
            (None, Some(key)) => match self.keyed(operator, key) {
                Ok(Some(schema)) => schema,
                Ok(None) => return (Attrs::none(), true),
                Err(()) => return (Attrs::none(), false),
            },
            (None, None) => match (operator.schema, written.first()) {
                // As in TVM, an operator without written attributes has none, not even defaults.
                (_, None) => return (Attrs::none(), true),
                (Some(schema), Some(first)) => {
                    self.problem_at(first.name_range, ProblemKind::DetachedAttrs(operator));
                    schema
                }
                (None, Some(first)) => {
                    let name = operator.name.into();
                    let kind = ProblemKind::AttrsNotTaken { callee: name, callee_range: callee };
                    self.problem_at(first.name_range, kind);
                    return (Attrs::none(), false);
                }
            },
        };
        let plain: Vec<&WrittenAttr> =
            written.iter().filter(|attr| key.is_none() || attr.name != TYPE_KEY).collect();
        let values: Vec<Written<'_>> = plain
            .iter()
            .map(|attr| Written { name: &attr.name, value: attr.value.clone() })
            .collect();
        let bound = bind(schema, &values);
        for problem in bound.problems {
            let (name, range) = match (&problem, problem.written().and_then(|at| plain.get(at))) {
                (AttrProblem::Missing { name }, _) => ((*name).into(), callee),
                (_, Some(attr)) if problem.is_about_name() => (attr.name.clone(), attr.name_range),
                (_, Some(attr)) => (attr.name.clone(), attr.value_range),
                (_, None) => continue,
            };
            self.problem_at(range, ProblemKind::Attr { operator, name, problem });
        }
        // An operator without a schema reads no attributes.
        (if operator.schema.is_some() { bound.attrs } else { Attrs::none() }, bound.trusted)
    }

    /// Returns true if `attrs_type_key` names the attribute type of a call of a function. TVM keeps
    /// such attributes, and they do not affect the type.
    pub(super) fn has_known_key(written: &[WrittenAttr]) -> bool {
        let key = written.iter().find(|attr| attr.name == TYPE_KEY);
        key.and_then(|key| key.value.as_str())
            .is_some_and(|key| key == TEST_ATTRS || by_key(key).is_some())
    }

    /// Returns the schema that `attrs_type_key` names; `None` if it is empty.
    fn keyed(
        &mut self,
        operator: &'static Operator,
        key: &WrittenAttr,
    ) -> Result<Option<&'static AttrSchema>, ()> {
        let text = key.value.as_str();
        if text == Some("") {
            return Ok(None);
        }
        let schema = text.and_then(by_key);
        match (schema, operator.schema) {
            (Some(found), None) => Ok(Some(found)),
            (Some(found), Some(expected)) if found.key == expected.key => Ok(Some(found)),
            (_, expected) => {
                let problem = AttrProblem::TypeKey { expected: expected.map(|schema| schema.key) };
                let name = key.name.clone();
                self.problem_at(key.value_range, ProblemKind::Attr { operator, name, problem });
                Err(())
            }
        }
    }
}

/// The attribute that names the attribute type, for operators that do not declare one.
const TYPE_KEY: &str = "attrs_type_key";

/// An attribute type without an operator, present in every build of TVM.
const TEST_ATTRS: &str = "attrs.TestAttrs";
