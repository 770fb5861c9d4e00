//! Lowering of attributes, and their check against the schema of the operator.

use operators::{
    Becomes, CallForm, Operator,
    attrs::{AttrEntry, AttrProblem, bind, by_key},
};
use smallvec::SmallVec;
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{AttrSchema, AttrValue, Attrs, Number, Release, Releases};

use super::{Lowerer, ty::meta_parts};
use crate::body::{CallData, Callee, Expr, ExprId, Literal, ProblemKind, RangeId, WrittenAttr};

impl Lowerer {
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
                let first = list.node().first_token();
                let is_list = first.is_none_or(|token| token.kind() != SyntaxKind::L_PAREN)
                    || list.node().token(SyntaxKind::COMMA).is_some();
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
        match self.literal(node) {
            Some(Literal::Bool(value)) => AttrValue::Bool(value),
            Some(Literal::Int { value, dtype, .. }) => {
                let wide = dtype.map_or(i32::try_from(value).is_err(), |dtype| dtype.bits == 64);
                AttrValue::Int { value, wide }
            }
            Some(Literal::Float { bits, .. }) => AttrValue::Float(Number(f64::from_bits(bits))),
            None => match node.token(SyntaxKind::STRING) {
                Some(string) => AttrValue::Str(syntax::unquoted(string.text()).into()),
                None => AttrValue::Error,
            },
        }
    }

    /// Returns the attributes of a call of `operator`, and true if they match its schema.
    pub(super) fn bind_attrs(
        &mut self,
        operator: &'static Operator,
        written: &[WrittenAttr],
        from_metadata: bool,
        callee: RangeId,
        form: Option<&CallForm>,
        releases: &mut Releases,
    ) -> (Attrs, bool) {
        if from_metadata && written.is_empty() {
            return (self.no_attrs.clone(), true);
        }
        let declared = operator.declared_attrs();
        let key = written.iter().find(|attr| attr.name == TYPE_KEY && declared.is_none());
        let schema = match (declared, key) {
            (Some(schema), _) => schema,
            (None, Some(key)) => match self.keyed(operator, key) {
                Ok(Some(schema)) => schema,
                Ok(None) => return (self.no_attrs.clone(), true),
                Err(()) => return (self.no_attrs.clone(), false),
            },
            (None, None) => match (operator.schema, written.first()) {
                // As in TVM, an operator without written attributes has none, not even defaults.
                (_, None) => return (self.no_attrs.clone(), true),
                (Some(schema), Some(first)) => {
                    self.problem_at(first.name_range, ProblemKind::DetachedAttrs(operator));
                    schema
                }
                (None, Some(first)) => {
                    let name = operator.name.into();
                    let kind = ProblemKind::AttrsNotTaken { callee: name, callee_range: callee };
                    self.problem_at(first.name_range, kind);
                    return (self.no_attrs.clone(), false);
                }
            },
        };
        let is_of_schema = |attr: &&WrittenAttr| {
            (key.is_none() || attr.name != TYPE_KEY)
                && form.is_none_or(|form| form.attr(&attr.name).is_none())
        };
        let plain: SmallVec<[&WrittenAttr; 8]> = written.iter().filter(is_of_schema).collect();
        let defaults = form.map_or(&[][..], |form| form.defaults);
        let values: SmallVec<[AttrEntry<'_>; 8]> =
            plain.iter().map(|attr| AttrEntry { name: &attr.name, value: &attr.value }).collect();
        let bound = bind(schema, &values, defaults);
        *releases = releases.and(bound.releases);
        let mut is_missing = false;
        for problem in bound.problems {
            // The report of the first missing attribute names all of them.
            if matches!(problem, AttrProblem::Missing { .. })
                && std::mem::replace(&mut is_missing, true)
            {
                continue;
            }
            let (name, range) = match (&problem, problem.written().and_then(|at| plain.get(at))) {
                (AttrProblem::Missing { name }, _) => ((*name).into(), callee),
                (_, Some(attr)) if problem.is_about_name() => (attr.name.clone(), attr.name_range),
                (_, Some(attr)) => (attr.name.clone(), attr.value_range),
                (_, None) => continue,
            };
            self.problem_at(range, ProblemKind::Attr { operator, name, problem });
        }
        // An operator without a schema reads no attributes.
        (if operator.schema.is_some() { bound.attrs } else { self.no_attrs.clone() }, bound.trusted)
    }

    /// Returns the attributes that are arguments in 0.14, as literals at `range`, by their positions.
    pub(super) fn attrs_as_arguments(
        &mut self,
        form: &CallForm,
        written: &[WrittenAttr],
        range: TextRange,
        args: &mut SmallVec<[ExprId; 4]>,
    ) {
        let mut found: SmallVec<[(usize, ExprId); 4]> = SmallVec::new();
        for attr in form.attrs {
            let Becomes::Argument(position, dtype) = attr.becomes else { continue };
            let value = written.iter().find(|written| written.name == attr.field.name);
            let value = value.map_or_else(|| attr.field.default.into(), |w| w.value.clone());
            let literal = match (value.as_int(), value.as_float()) {
                (Some(value), _) if dtype.is_none_or(|dtype| dtype.is_int()) => {
                    Some(Literal::Int { value, dtype, claimed: None })
                }
                // A number of the data type of another argument may be an integer.
                (None, Some(value)) if dtype.is_none() && value.fract() == 0.0 => {
                    Some(Literal::Int { value: value as i64, dtype, claimed: None })
                }
                (_, value) => value.map(|value| Literal::Float {
                    bits: value.to_bits(),
                    dtype,
                    claimed: None,
                }),
            };
            let expr = literal.map_or(Expr::Missing, Expr::Literal);
            found.push((position, self.push(range, expr)));
        }
        found.sort_by_key(|(position, _)| *position);
        for (position, expr) in found {
            args.insert(position.min(args.len()), expr);
        }
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

/// Returns the form of a call in another release, if it does not have that of 0.14 but has this one, and the
/// releases that write such a call.
pub(super) fn form_of<'a>(
    operator: &'static Operator,
    args: usize,
    written: impl Iterator<Item = &'a str> + Clone,
    is_meta: bool,
) -> (Option<&'static CallForm>, Releases) {
    let mut fitting = Releases::NONE;
    let mut first = None;
    for form in operator.forms {
        let fits = form.fits(operator, args, written.clone(), is_meta);
        if fits {
            fitting = fitting.or(form.releases);
            first = first.or(Some(form));
        }
    }
    let others = operator.forms.iter().fold(Releases::NONE, |all, form| all.or(form.releases));
    let now = operator.releases.without(others);
    let lacks = |form: &CallForm| {
        !is_meta
            && !form.absent.is_empty()
            && form.absent.iter().all(|name| written.clone().all(|written| written != *name))
    };
    let is_of_now =
        !first.is_some_and(lacks) && operator.default_form().fits(operator, args, written, is_meta);
    match first {
        _ if is_of_now => (None, now.or(fitting).and(operator.releases)),
        Some(form) => (Some(form), fitting.and(operator.releases)),
        // A call that fits no release is reported as one of 0.14.
        None => (None, Releases::ALL),
    }
}

/// Returns the releases other than 0.14 in which a call that 0.14 takes may have another meaning: 0.5 to 0.7 for
/// `nn.batch_matmul(%a, %b)`, and none for `nn.batch_matmul(%a, %b, transpose_b=True)`, which only later releases
/// write.
pub(crate) fn other_meaning(call: &CallData) -> Releases {
    let Callee::Operator(operator) = &call.callee else { return Releases::NONE };
    if operator.forms.is_empty() || !call.releases.has(Release::DEFAULT) {
        return Releases::NONE;
    }
    let others = operator.forms.iter().fold(Releases::NONE, |all, form| all.or(form.releases));
    others.and(call.releases)
}

/// Returns true if a call that 0.14 takes has another meaning in the releases of a form.
pub(crate) fn means_another(call: &CallData, form: &CallForm) -> bool {
    let is_absent = |name: &str| !call.written.iter().any(|attr| attr.name == name);
    let has_default = || form.defaults.iter().any(|(name, _)| is_absent(name));
    !call.releases.and(form.releases).is_empty()
        && (form.operator.is_some() || call.meta_attrs.is_none() && has_default())
}

/// Gives a call that 0.14 takes the meaning that it has in another form. Attributes that are arguments in 0.14
/// are of calls that it does not take.
pub(crate) fn rebind(call: &mut CallData, operator: &'static Operator, form: &CallForm) {
    let becomes = form.operator.unwrap_or(operator);
    if let (Some(schema), None) = (becomes.schema, &call.meta_attrs)
        && !(becomes.detached && call.written.is_empty())
    {
        let values = call.written.iter();
        let values: SmallVec<[AttrEntry<'_>; 8]> =
            values.map(|attr| AttrEntry { name: &attr.name, value: &attr.value }).collect();
        call.attrs = bind(schema, &values, form.defaults).attrs;
    }
    call.callee = Callee::Operator(becomes);
}
