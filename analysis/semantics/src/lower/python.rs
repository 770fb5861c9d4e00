//! Calls in Python's notation: `cast(%x, 'int8')`, `relay.nn.pad(%x, ((0, 0), (1, 1)))`, `add(lhs=%x, rhs=%y)`.
//!
//! Such a call is reported once, with the call in Relay, and has the type of that call. Python passes arguments
//! and attributes by position, in an order of its own ([`operators::python`]), or by name. Lists are tuples, tuples are
//! lists, and a number stands for a list of equal ones.

mod expr;
mod value;

use operators::{
    Operator,
    attrs::{AttrEntry, AttrProblem, bind},
    python::{Meaning, Parameter, in_python},
};
use smallvec::SmallVec;
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{AttrField, AttrType, AttrValue, Attrs, DataType};

use super::Lowerer;
use crate::body::*;
pub(super) use expr::operator_of_module;
use value::Value;

/// The numbers of problems and expressions before the arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct PrecedingCounts {
    pub(super) problems: usize,
    pub(super) exprs: usize,
}

/// A call of an operator that may be one in Python's notation.
pub(super) struct Site<'t> {
    /// Its arguments and attributes; `None` if they have errors, or the form of another release.
    pub(super) list: Option<ast::ArgList<'t>>,
    pub(super) operator: &'static Operator,
    pub(super) callee_range: RangeId,
    /// True if the name is that of Python.
    pub(super) is_renamed: bool,
    pub(super) before: PrecedingCounts,
    /// The number of problems before those of the attributes.
    pub(super) bound_from: usize,
}

/// The notation of a call.
pub(super) enum Notation {
    /// Relay, with or without errors.
    Relay,
    /// Python. The attributes are those that it means.
    Python(Attrs),
    /// Neither: a list or a string is no value.
    Unclear,
}

/// The arguments and attributes of a call that is read as one of Python.
#[derive(Default)]
struct PythonArguments<'t> {
    /// By the position of the argument.
    args: SmallVec<[Option<Arg<'t>>; 4]>,
    attrs: Vec<Attr<'t>>,
    /// The ranges of all of them in the text.
    written: Vec<TextRange>,
    /// True if the call differs from one of Relay in more than the values of attributes.
    is_python: bool,
    /// True if attributes that Relay has to write are missing.
    is_completed: bool,
}

/// An argument.
enum Arg<'t> {
    /// The argument of that number in the text.
    Positional(usize, Node<'t>),
    /// The value of what looks like an attribute: `lhs=%x`.
    Named(Node<'t>),
    /// A default of Python.
    Default(&'static str),
}

/// An attribute.
struct Attr<'t> {
    field: &'static AttrField,
    value: AttrValue,
    /// Its text: that of the node, or that of the value.
    node: Option<Node<'t>>,
    /// The number of the argument in the text that it is.
    position: Option<usize>,
}

impl Lowerer {
    /// Returns the callee of a name that is not an operator: that which Python calls so, or else a name.
    #[cold]
    pub(super) fn unknown_callee(&mut self, name: &str, is_renamed: &mut bool) -> Callee {
        let operator = if name.contains('.') { in_python(name) } else { None };
        *is_renamed = operator.is_some();
        operator.map_or_else(|| Callee::Name(name.into()), Callee::Operator)
    }

    /// Lowers `[%a, %b]` as an argument, which is read as a tuple. A list of numbers has no meaning of its own.
    pub(super) fn list_argument(&mut self, list: Node<'_>) -> ExprId {
        let fields: Vec<Node<'_>> = list.children().collect();
        let is_tuple = !fields.is_empty() && fields.iter().all(is_operand);
        let expr = match is_tuple {
            true => Expr::Tuple(fields.into_iter().map(|field| self.expr(field)).collect()),
            false => Expr::Missing,
        };
        self.problem(list.range(), ProblemKind::ListValue { is_tuple });
        self.push(list.range(), expr)
    }

    /// Reads a call as one of Python if it cannot be one of Relay, and reports it.
    #[cold]
    pub(super) fn python_call(
        &mut self,
        site: &Site<'_>,
        args: &mut SmallVec<[ExprId; 4]>,
        written: &mut Vec<WrittenAttr>,
    ) -> Notation {
        let operator = site.operator;
        let list = site.list.filter(|list| self.is_unlike_relay(site, *list));
        let reading = list.and_then(|list| self.reading(operator, list));
        if let Some(reading) = reading
            && let Some(attrs) = self.attributes(operator, &reading)
        {
            if reading.is_python {
                self.accept(site, reading, args, written);
                return Notation::Python(attrs);
            }
            self.report_name(site);
            // The wrong values are reported, and what is meant is clear.
            return if reading.is_completed { Notation::Relay } else { Notation::Python(attrs) };
        }
        self.report_name(site);
        let Some(list) = site.list else { return Notation::Relay };
        if self.skip_printed_types(site, list, args) {
            return Notation::Relay;
        }
        let is_list = list.node().children().any(|child| child.kind() == SyntaxKind::ATTR_LIST);
        let is_string =
            args.len() > operator.args.len() && list.args().any(|arg| is_string(arg.node()));
        if is_list || is_string { Notation::Unclear } else { Notation::Relay }
    }

    /// Removes the data types of scalars from the end of the arguments, which debug builds print: `add(%n, 1, int32,
    /// int32)`. Returns false if there are none. The parser reads those after the type of a tensor.
    fn skip_printed_types(
        &mut self,
        site: &Site<'_>,
        list: ast::ArgList<'_>,
        args: &mut SmallVec<[ExprId; 4]>,
    ) -> bool {
        let expected = site.operator.args.len();
        let is_arg =
            |node: &Node<'_>| !matches!(node.kind(), SyntaxKind::ATTR | SyntaxKind::TYPE_ARG_LIST);
        let nodes: Vec<Node<'_>> = list.node().children().filter(is_arg).collect();
        let has_others = list.node().children().any(|n| n.kind() == SyntaxKind::TYPE_ARG_LIST);
        let is_complete = nodes.len() == 2 * expected
            || has_others && (expected + 1..2 * expected).contains(&nodes.len());
        if !is_complete || args.len() != nodes.len() || expected == 0 {
            return false;
        }
        let (values, types) = nodes.split_at(expected);
        let is_type = |node: &Node<'_>| {
            ast::NameRef::cast(*node).is_some_and(|name| {
                let name = name.text();
                syntax::dtype_of(&name) == Some(&*name)
            })
        };
        let (Some(value), Some(last)) = (values.last(), types.last()) else { return false };
        if !types.iter().all(is_type) {
            return false;
        }
        for ty in args.drain(expected..) {
            self.unit.exprs[ty.index()] = Expr::Missing;
        }
        let range = TextRange::new(value.range().end(), last.range().end());
        self.problem(range, ProblemKind::PrintedTypes);
        true
    }

    /// Reads a call as one of Python, in its order of parameters or else in that of Relay.
    fn reading<'t>(
        &self,
        operator: &'static Operator,
        list: ast::ArgList<'t>,
    ) -> Option<PythonArguments<'t>> {
        let is_valid = |own: &PythonArguments<'_>| self.attributes(operator, own).is_some();
        let usual = read(operator, list, &operator.python_parameters()).filter(is_valid);
        usual.or_else(|| read(operator, list, &operator.plain_parameters()).filter(is_valid))
    }

    /// Reports a name of Python before a call in Relay's notation.
    fn report_name(&mut self, site: &Site<'_>) {
        if site.is_renamed {
            self.problem_at(site.callee_range, ProblemKind::PythonName(site.operator));
        }
    }

    /// Returns true if a call has errors of its own.
    fn is_unlike_relay(&self, site: &Site<'_>, list: ast::ArgList<'_>) -> bool {
        let is_value = |child: &Node<'_>| child.kind() != SyntaxKind::ATTR;
        let values = || list.node().children().filter(is_value);
        let is_foreign =
            |child: Node<'_>| child.kind() == SyntaxKind::ATTR_LIST || is_string(child);
        self.unit.problems.len() > site.bound_from
            || !site.operator.variadic && values().count() != site.operator.args.len()
            || values().any(is_foreign)
    }

    /// Returns the attributes of a call, if they are valid.
    fn attributes(
        &self,
        operator: &'static Operator,
        reading: &PythonArguments<'_>,
    ) -> Option<Attrs> {
        let Some(schema) = operator.schema else {
            return reading.attrs.is_empty().then(Attrs::none);
        };
        if reading.attrs.is_empty() && operator.detached {
            return Some(Attrs::none());
        }
        let values = reading.attrs.iter();
        let values: SmallVec<[AttrEntry<'_>; 8]> =
            values.map(|attr| AttrEntry { name: attr.field.name, value: &attr.value }).collect();
        let bound = bind(schema, &values, &[]);
        let is_warning = |problem: &AttrProblem| !problem.is_error();
        (bound.trusted && bound.problems.iter().all(is_warning)).then_some(bound.attrs)
    }

    /// Replaces the arguments and attributes of a call by those of a reading, and reports it in place of the
    /// problems that follow from the notation.
    fn accept(
        &mut self,
        site: &Site<'_>,
        reading: PythonArguments<'_>,
        args: &mut SmallVec<[ExprId; 4]>,
        written: &mut Vec<WrittenAttr>,
    ) {
        self.unit.problems.truncate(site.bound_from);
        let own: Vec<TextRange> = site
            .list
            .into_iter()
            .flat_map(|list| list.node().children())
            .map(|child| child.range() - self.origin)
            .collect();
        let ranges = &self.ranges;
        let mut at = 0;
        self.unit.problems.retain(|problem| {
            at += 1;
            let is_notation =
                matches!(problem.kind, ProblemKind::StringValue | ProblemKind::ListValue { .. });
            at <= site.before.problems
                || !(is_notation && own.contains(&ranges[problem.range.index()]))
        });
        // What is an attribute now is no expression any more.
        for position in reading.attrs.iter().filter_map(|attr| attr.position) {
            let first = match position.checked_sub(1).and_then(|before| args.get(before)) {
                Some(before) => before.index() + 1,
                None => site.before.exprs,
            };
            let last = args.get(position).map_or(first, |arg| arg.index() + 1);
            self.unit.exprs[first..last].fill(Expr::Missing);
        }
        written.retain(|attr| reading.attrs.iter().any(|own| own.field.name == attr.name));
        let (values, call) = self.meaning(site, reading, args);
        *args = values;
        self.problem_at(site.callee_range, ProblemKind::PythonCall(Box::new(call)));
    }

    /// Returns the arguments of a reading, and the call in Relay.
    fn meaning(
        &mut self,
        site: &Site<'_>,
        reading: PythonArguments<'_>,
        args: &[ExprId],
    ) -> (SmallVec<[ExprId; 4]>, PythonCall) {
        let written = reading.written.iter().map(|range| self.range(*range)).collect();
        let mut parts = Vec::new();
        let mut values = SmallVec::new();
        for arg in reading.args.into_iter().flatten() {
            let (value, text) = self.argument(site, arg, args);
            values.push(value);
            parts.push(("", text));
        }
        for attr in &reading.attrs {
            let text = match attr.node {
                Some(node) => PythonText::Same(self.range(node.range())),
                None => PythonText::Value(attr.value.clone()),
            };
            parts.push((attr.field.name, text));
        }
        let (operator, is_renamed) = (site.operator, site.is_renamed);
        (values, PythonCall { operator, is_renamed, written, parts })
    }

    /// Returns the expression of an argument, and its text.
    fn argument(&mut self, site: &Site<'_>, arg: Arg<'_>, args: &[ExprId]) -> (ExprId, PythonText) {
        let node = match arg {
            Arg::Positional(_, node) | Arg::Named(node) => node,
            Arg::Default(text) => {
                let literal = value::default_literal(text);
                let range = self.ranges[site.callee_range.index()] + self.origin;
                return (self.push(range, Expr::Literal(literal)), PythonText::Default(text));
            }
        };
        let range = self.range(node.range());
        let text = match node.kind() {
            SyntaxKind::ATTR_LIST => {
                let is_single = node.children().count() == 1;
                PythonText::Tuple { range, is_single }
            }
            _ => PythonText::Same(range),
        };
        let expr = match arg {
            Arg::Positional(number, _) => args[number],
            _ if node.kind() == SyntaxKind::ATTR_LIST => {
                let problems = self.unit.problems.len();
                let expr = self.list_argument(node);
                self.unit.problems.truncate(problems);
                expr
            }
            _ => self.expr(node),
        };
        (expr, text)
    }
}

/// Returns true if a field of a list is an expression, and not a number of an attribute.
fn is_operand(field: &Node<'_>) -> bool {
    ast::BlockOrExpr::can_cast(field.kind()) && field.kind() != SyntaxKind::LITERAL
}

fn is_string(node: Node<'_>) -> bool {
    node.kind() == SyntaxKind::LITERAL
        && node
            .tokens()
            .any(|token| matches!(token.kind(), SyntaxKind::STRING | SyntaxKind::QUOTED_NAME))
}

/// Reads the arguments of a call as Python passes them to parameters. Returns `None` if they do not fit, or are those
/// of a call in Relay.
fn read<'t>(
    operator: &'static Operator,
    list: ast::ArgList<'t>,
    parameters: &[Parameter],
) -> Option<PythonArguments<'t>> {
    let mut reading = PythonArguments::default();
    reading.args.resize_with(operator.args.len(), || None);
    let children: Vec<Node<'t>> = list.node().children().collect();
    let positional = children.iter().take_while(|child| child.kind() != SyntaxKind::ATTR).count();
    for (at, &child) in children.iter().enumerate() {
        reading.written.push(child.range());
        if at >= positional {
            // An argument by position does not follow one with a name.
            reading.named(operator, ast::Attr::cast(child)?)?;
            continue;
        }
        match parameters.get(at)?.meaning {
            Meaning::Argument(to) => reading.positional(to, at, child)?,
            Meaning::Attribute(field) => {
                reading.is_python = true;
                let rest = &children[at..positional];
                if rest.len() > 1 && value::takes_list(field) && is_last_list(parameters, at, rest)
                {
                    reading.joined(field, at, rest)?;
                    reading.written.extend(rest[1..].iter().map(|node| node.range()));
                    for &child in &children[positional..] {
                        reading.written.push(child.range());
                        reading.named(operator, ast::Attr::cast(child)?)?;
                    }
                    return reading.complete(parameters);
                }
                let value = value::of(child, field, operator)?;
                reading.attribute(field, value, child, Some(at))?;
            }
        }
    }
    reading.complete(parameters)
}

/// Returns true if numbers are the elements of one list: `reshape(%x, 3, 2)`, and not `squeeze(%x, 0, 1)` if the
/// second number is a parameter of its own.
fn is_last_list(parameters: &[Parameter], at: usize, rest: &[Node<'_>]) -> bool {
    let is_int = |node: &Node<'_>| {
        matches!(value::raw(*node), Some(Value { value: AttrValue::Int { .. }, .. }))
    };
    let takes_number = |parameter: &Parameter| {
        matches!(parameter.meaning, Meaning::Attribute(field)
            if matches!(field.ty, AttrType::Int | AttrType::OptionalInt | AttrType::Float | AttrType::Dim)
                || value::takes_list(field))
    };
    rest.iter().all(is_int) && !parameters.get(at + 1).is_some_and(takes_number)
}

impl<'t> PythonArguments<'t> {
    fn positional(&mut self, to: usize, number: usize, node: Node<'t>) -> Option<()> {
        self.is_python |= to != number || node.kind() == SyntaxKind::ATTR_LIST;
        self.argument(to, Arg::Positional(number, node), node)
    }

    fn argument(&mut self, to: usize, arg: Arg<'t>, node: Node<'t>) -> Option<()> {
        let is_list_of_values = || {
            let mut fields = node.children();
            node.kind() == SyntaxKind::ATTR_LIST
                && (node.children().next().is_none() || !fields.all(|field| is_operand(&field)))
        };
        if is_string(node) || is_list_of_values() || self.args[to].is_some() {
            return None;
        }
        self.args[to] = Some(arg);
        Some(())
    }

    /// Reads `name=value`.
    fn named(&mut self, operator: &'static Operator, attr: ast::Attr<'t>) -> Option<()> {
        let (name, node) = (attr.name()?, attr.value()?.node());
        let parameter = operator.named_parameter(&name.text())?;
        match parameter.meaning {
            Meaning::Argument(to) => {
                self.is_python = true;
                self.argument(to, Arg::Named(node), node)
            }
            Meaning::Attribute(field) => {
                let value = value::of(node, field, operator)?;
                // Values of other types have codes of their own, unless the quotes are Python's.
                self.is_python |= name.text() != field.name || value.is_quoted;
                self.attribute(field, value, node, None)
            }
        }
    }

    fn attribute(
        &mut self,
        field: &'static AttrField,
        value: Value,
        node: Node<'t>,
        position: Option<usize>,
    ) -> Option<()> {
        if self.attrs.iter().any(|attr| attr.field.name == field.name) {
            return None;
        }
        let node = value.is_same.then_some(node);
        self.attrs.push(Attr { field, value: value.value, node, position });
        Some(())
    }

    /// Reads several numbers as one list.
    fn joined(&mut self, field: &'static AttrField, at: usize, nodes: &[Node<'t>]) -> Option<()> {
        let values = nodes.iter().map(|node| Some(value::raw(*node)?.value));
        let value = AttrValue::List(values.collect::<Option<_>>()?);
        if !operators::attrs::accepts(field, &value) {
            return None;
        }
        // All of them are no expressions any more.
        self.attrs.push(Attr { field, value, node: None, position: Some(at + nodes.len() - 1) });
        Some(())
    }

    /// Adds the defaults that Relay does not have. Returns `None` if an argument is missing.
    fn complete(mut self, parameters: &[Parameter]) -> Option<PythonArguments<'t>> {
        for parameter in parameters {
            match (parameter.meaning, parameter.default) {
                (Meaning::Argument(at), Some(default)) if self.args[at].is_none() => {
                    self.is_python = true;
                    self.args[at] = Some(Arg::Default(default));
                }
                (Meaning::Attribute(field), default) => {
                    let is_set = self.attrs.iter().any(|attr| attr.field.name == field.name);
                    if !is_set && let Some(value) = missing_value(field, default) {
                        self.is_completed = true;
                        self.attrs.push(Attr { field, value, node: None, position: None });
                    }
                }
                _ => {}
            }
        }
        self.args.iter().all(Option::is_some).then_some(self)
    }
}

/// Returns the value that Python passes for an attribute without a default.
fn missing_value(field: &AttrField, default: Option<&'static str>) -> Option<AttrValue> {
    if field.default != types::AttrDefault::Required {
        return None;
    }
    match default {
        Some(default) => DataType::parse(default).map(AttrValue::DType),
        None => operators::attrs::accepts_none(field).then_some(AttrValue::None),
    }
}
