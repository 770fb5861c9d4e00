//! Functions of Python that create expressions, and names of operators without their modules.

use operators::{
    Operator,
    python::{of_module, without_modules},
};
use smallvec::{SmallVec, smallvec};
use syntax::{
    Node, SyntaxKind,
    ast::{self, AstNode},
};
use types::{AttrValue, DataType, Shape};

use super::{super::Lowerer, Site, value};
use crate::body::*;

impl Lowerer {
    /// Lowers a call of a function of Python that creates an expression, as that expression: `relay.const(1.0)`,
    /// `relay.Tuple([%a, %b])`, `relay.TupleGetItem(%t, 0)`. Returns `None` for other calls.
    #[cold]
    pub(in crate::lower) fn python_expr(
        &mut self,
        call: ast::CallExpr<'_>,
        name: &str,
        callee: RangeId,
        list: Option<ast::ArgList<'_>>,
    ) -> Option<ExprId> {
        let bare = without_modules(name)?;
        let children: Vec<Node<'_>> = list?.node().children().collect();
        let (expr, parts) = match (bare, &children[..]) {
            ("const", _) => constant(&children)?,
            ("Tuple", [fields]) => self.python_tuple(*fields)?,
            ("TupleGetItem", [tuple, index]) => self.python_field(*tuple, *index)?,
            _ => return None,
        };
        let call_range = self.range(call.range());
        let python = PythonExpr { call: call_range, parts };
        self.problem_at(callee, ProblemKind::PythonExpr(Box::new(python)));
        Some(self.push(call.range(), expr))
    }

    fn python_tuple(&mut self, list: Node<'_>) -> Option<(Expr, SmallVec<[PythonPart; 4]>)> {
        let is_list = list.kind() == SyntaxKind::ATTR_LIST;
        if !is_list && list.kind() != SyntaxKind::TUPLE_EXPR {
            return None;
        }
        let nodes: Vec<Node<'_>> = list.children().collect();
        let is_value = |node: &Node<'_>| ast::BlockOrExpr::can_cast(node.kind());
        if nodes.is_empty() || !nodes.iter().all(is_value) {
            return None;
        }
        let fields = nodes.iter().map(|field| self.expr(*field)).collect();
        if !is_list {
            return Some((
                Expr::Tuple(fields),
                smallvec![PythonPart::Kept(self.range(list.range()))],
            ));
        }
        let mut parts = SmallVec::new();
        for (at, field) in nodes.iter().enumerate() {
            parts.push(PythonPart::Text(if at == 0 { "(".into() } else { ", ".into() }));
            parts.push(PythonPart::Kept(self.range(field.range())));
        }
        parts.push(PythonPart::Text(if nodes.len() == 1 { ",)".into() } else { ")".into() }));
        Some((Expr::Tuple(fields), parts))
    }

    fn python_field(
        &mut self,
        tuple: Node<'_>,
        index: Node<'_>,
    ) -> Option<(Expr, SmallVec<[PythonPart; 4]>)> {
        let AttrValue::Int { value, .. } = value::raw(index)?.value else { return None };
        let index = u32::try_from(value).ok()?;
        if !ast::BlockOrExpr::can_cast(tuple.kind()) {
            return None;
        }
        let kept = PythonPart::Kept(self.range(tuple.range()));
        let is_operand = matches!(
            tuple.kind(),
            SyntaxKind::LOCAL_REF
                | SyntaxKind::GRAPH_REF
                | SyntaxKind::CALL_EXPR
                | SyntaxKind::TUPLE_EXPR
                | SyntaxKind::PAREN_EXPR
        );
        let parts = match is_operand {
            true => smallvec![kept, PythonPart::Text(format!(".{index}").into())],
            false => smallvec![
                PythonPart::Text("(".into()),
                kept,
                PythonPart::Text(format!(").{index}").into()),
            ],
        };
        Some((Expr::Proj { tuple: self.expr(tuple), index }, parts))
    }

    /// Records what a call of an unknown name means if the name is that of an operator in its module: `softmax(%x, 1)`.
    #[cold]
    pub(in crate::lower) fn unqualified(&mut self, site: &Site<'_>, args: &[ExprId]) {
        let Some(reading) = site.list.and_then(|list| self.reading(site.operator, list)) else {
            return;
        };
        let Some(attrs) = self.attributes(site.operator, &reading) else { return };
        let is_renamed_only = !reading.is_python && !reading.is_completed;
        let (args, call) = self.meaning(site, reading, args);
        let call = (!is_renamed_only).then_some(call);
        let meaning = UnqualifiedCall { operator: site.operator, args, attrs, call };
        self.problem_at(site.callee_range, ProblemKind::Unqualified(Box::new(meaning)));
    }
}

/// Returns the operator that a callee names without its module.
pub(in crate::lower) fn operator_of_module(callee: &Callee) -> Option<&'static Operator> {
    match callee {
        Callee::Name(name) => of_module(name),
        Callee::Operator(_) | Callee::Expr(_) => None,
    }
}

/// Returns the number of `relay.const(1.0, "float32")`.
fn constant(children: &[Node<'_>]) -> Option<(Expr, SmallVec<[PythonPart; 4]>)> {
    let (mut value, mut dtype) = (None, None);
    for (at, child) in children.iter().enumerate() {
        let (name, node) = match ast::Attr::cast(*child) {
            Some(attr) => (attr.name()?.text().to_string(), attr.value()?.node()),
            None => (if at == 0 { "value" } else { "dtype" }.to_owned(), *child),
        };
        let slot = match &*name {
            "value" => &mut value,
            "dtype" => &mut dtype,
            _ => return None,
        };
        if slot.replace(value::raw(node)?.value).is_some() {
            return None;
        }
    }
    let value = value?;
    let dtype = match dtype {
        None => match value {
            AttrValue::Bool(_) => DataType::BOOL,
            AttrValue::Int { wide, .. } if wide => DataType::INT64,
            AttrValue::Int { .. } => DataType::INT32,
            _ => DataType::FLOAT32,
        },
        Some(AttrValue::DType(dtype)) => dtype,
        Some(AttrValue::Str(text)) => {
            DataType::parse(&text).or_else(|| DataType::parse(syntax::dtype_of(&text)?))?
        }
        Some(_) => return None,
    };
    let literal = literal_of(&value, dtype)?;
    let filled = FilledTensor { value: literal, shape: Shape::default(), dtype };
    let part = PythonPart::Number { value: literal, dtype };
    Some((Expr::Filled(Box::new(filled)), smallvec![part]))
}

/// Returns a number of Python as a literal of a data type.
fn literal_of(value: &AttrValue, dtype: DataType) -> Option<Literal> {
    let number = match *value {
        AttrValue::Bool(value) => f64::from(u8::from(value)),
        AttrValue::Int { value, .. } => value as f64,
        AttrValue::Float(value) => value.0,
        _ => return None,
    };
    if dtype == DataType::BOOL {
        return Some(Literal::Bool(number != 0.0));
    }
    if dtype.is_float() {
        return Some(Literal::Float { bits: number.to_bits(), dtype: None, claimed: None });
    }
    let value = match *value {
        AttrValue::Int { value, .. } => value,
        // Python cuts off the fraction.
        _ => number as i64,
    };
    Some(Literal::Int { value, dtype: None, claimed: None })
}
