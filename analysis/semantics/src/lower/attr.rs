//! Attributes as written to values, and to the attributes an operator declares.

use operators::{
    Operator,
    attrs::{AttrProblem, Written, bind},
};
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{AttrValue, Attrs, Number};

use super::{UnitLowering, ty::meta_parts};
use crate::body::{Literal, ProblemKind, WrittenAttr};

impl UnitLowering<'_> {
    pub(super) fn written_attr(&mut self, attr: ast::Attr<'_>) -> WrittenAttr {
        let name = attr.name();
        let value = attr.value().map(|value| value.node());
        WrittenAttr {
            name: name.map(|n| n.text().into()).unwrap_or_default(),
            name_range: self.place(name.map_or(attr.range(), |n| n.range())),
            value_range: self.place(value.map_or(attr.range(), |v| v.range())),
            value: self.attr_value(value),
        }
    }

    pub(super) fn attr_value(&mut self, value: Option<Node<'_>>) -> AttrValue {
        let Some(value) = value.and_then(ast::AttrValue::cast) else { return AttrValue::Error };
        match value {
            ast::AttrValue::Literal(literal) => self.attr_literal(literal.node()),
            ast::AttrValue::AttrList(list) => {
                AttrValue::List(list.values().map(|v| self.attr_value(Some(v.node()))).collect())
            }
            ast::AttrValue::MetaExpr(meta) => {
                let parts = meta.text().and_then(|token| meta_parts(token.text()));
                parts.map_or(AttrValue::Error, |(key, index)| AttrValue::Meta { key, index })
            }
            ast::AttrValue::NameRef(name) => match &*name.text() {
                "None" | "nullptr" => AttrValue::None,
                _ => AttrValue::Error,
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

    /// The attributes of a call of `operator`, by its declaration.
    pub(super) fn bind_attrs(
        &mut self,
        operator: &'static Operator,
        written: &[WrittenAttr],
        from_metadata: bool,
        callee: TextRange,
    ) -> Attrs {
        let type_key = |attr: &&WrittenAttr| attr.name == "attrs_type_key";
        let keyed = written.iter().find(type_key);
        let Some(schema) = operator.schema else {
            if let Some(first) = written.iter().find(|attr| !type_key(attr)) {
                let range = first.name_range + self.origin;
                let callee = operator.name.into();
                self.problem(range, ProblemKind::AttrsNotTaken { callee });
            }
            return Attrs::none();
        };
        if operator.detached && keyed.is_none() && !from_metadata && !written.is_empty() {
            let range = written[0].name_range + self.origin;
            self.problem(range, ProblemKind::DetachedAttrs(operator));
        }
        let plain: Vec<&WrittenAttr> = written.iter().filter(|attr| !type_key(attr)).collect();
        let values: Vec<Written<'_>> = plain
            .iter()
            .map(|attr| Written { name: &attr.name, value: attr.value.clone() })
            .collect();
        let (attrs, problems) = bind(schema, &values);
        for problem in problems {
            if from_metadata && matches!(problem, AttrProblem::Missing { .. }) {
                continue;
            }
            // A detached operator without attributes has none at all, as in TVM.
            let (name, range) = match &problem {
                AttrProblem::Missing { name } => ((*name).into(), callee),
                AttrProblem::Unknown { written, .. } | AttrProblem::Twice { written } => {
                    (plain[*written].name.clone(), plain[*written].name_range + self.origin)
                }
                AttrProblem::Type { written, .. } => {
                    (plain[*written].name.clone(), plain[*written].value_range + self.origin)
                }
            };
            self.problem(range, ProblemKind::Attr { operator, name, problem });
        }
        attrs
    }
}
