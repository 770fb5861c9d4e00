//! Diagnostics for the problems that lowering finds in a unit.

use operators::attrs::AttrProblem;
use syntax::{SyntaxKind, TextRange, TextSize};
use types::{AttrType, Type};

use super::{calls, checked::Checked, findings::python_call, other_names};
use crate::{
    body::*,
    diagnostic::{Among, Code, DefDiagnostic},
    view::View,
};

pub(super) fn problem(view: &Checked<'_, '_>, number: UnitId, problem: &Problem) -> DefDiagnostic {
    let range = view.place(number, problem.range);
    let value = match &problem.kind {
        ProblemKind::Attr { .. }
        | ProblemKind::PythonName(_)
        | ProblemKind::PythonExpr(_)
        | ProblemKind::ListValue { .. } => view.text(range),
        _ => String::new(),
    };
    let mut diagnostic = of_kind(range, &value, &problem.kind, |id| view.place(number, id));
    match &problem.kind {
        // The newline ends a graph binding, but a `let` needs a `;`.
        ProblemKind::BadBinder { kind: BinderKind::Graph, .. } => {
            let path = view.root().path_to(range);
            let statement = path.iter().rfind(|node| node.kind() == SyntaxKind::GRAPH_STMT);
            if let Some(statement) = statement
                && statement.token(SyntaxKind::SEMICOLON).is_none()
                && let Some(fix) = diagnostic.fixes.first_mut()
                && fix.edits.iter().all(|(place, _)| place.is_empty())
            {
                fix.edits.push((TextRange::empty(statement.range().end()), ";".to_owned()));
            }
            diagnostic
        }
        ProblemKind::DetachedAttrs(operator) => {
            detached(diagnostic, view, number, problem, operator)
        }
        ProblemKind::Attr { operator, problem: AttrProblem::Missing { .. }, .. } => {
            calls::missing_attributes(view, number, problem, operator, diagnostic)
        }
        ProblemKind::AttrsNotTaken { .. } => without_attributes(diagnostic, view, number, problem),
        ProblemKind::PythonCall(call) => python_call::with_call(diagnostic, view, number, call),
        ProblemKind::PythonExpr(expr) => python_call::with_expr(diagnostic, view, number, expr),
        _ => diagnostic,
    }
}

/// Returns the diagnostic for a problem at `range`; `value` is the text there, for an attribute, and `place`
/// returns the ranges of other places.
pub(super) fn of_kind(
    range: TextRange,
    value: &str,
    kind: &ProblemKind,
    place: impl Fn(RangeId) -> TextRange,
) -> DefDiagnostic {
    match kind {
        ProblemKind::Attr { operator, name, problem } => {
            attr(range, value, operator, name, problem)
        }
        ProblemKind::AttrsNotTaken { callee, .. } => DefDiagnostic::new(
            Code::AttributesNotTaken,
            range,
            format!("`{callee}` takes no attributes"),
        ),
        ProblemKind::DetachedAttrs(operator) => DefDiagnostic::new(
            Code::TvmDetachedAttributes,
            range,
            format!("TVM does not know the type of the attributes of `{}`", operator.name),
        ),
        ProblemKind::Kind { param, expected } => DefDiagnostic::new(
            Code::KindMismatch,
            range,
            format!(
                "`{}` is a {}, but a {} is expected here",
                param.name(),
                kind_name(param.kind()),
                kind_name(*expected)
            ),
        )
        .help(format!("declare it as `{} : {}`", param.name(), expected.name())),
        ProblemKind::UnknownKind(name) => {
            DefDiagnostic::new(Code::UnknownKind, range, format!("`{name}` is not a kind"))
                .help("the kinds are `Type`, `Shape`, `ShapeVar` and `BaseType`")
        }
        ProblemKind::UnknownRelation(name) => unknown_relation(range, name),
        ProblemKind::UnknownDType(name) => {
            let known = [
                "float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8",
                "uint16", "uint32", "uint64", "bool", "bfloat16",
            ];
            let diagnostic = DefDiagnostic::new(
                Code::UnknownDtype,
                range,
                format!("`{name}` is not a data type"),
            );
            match syntax::dtype_of(name).or_else(|| operators::similar::nearest(name, known)) {
                Some(near) => diagnostic
                    .help(format!("did you mean `{near}`?"))
                    .fix(format!("Change to `{near}`"), [(range, near.to_owned())]),
                None => diagnostic.help("data types are written `float32`, `int8`, `bool` …"),
            }
        }
        ProblemKind::NumberRange { text, dtype } => DefDiagnostic::new(
            Code::NumberRange,
            range,
            format!("`{text}` does not fit into {dtype}"),
        ),
        ProblemKind::NumberSuffix(suffix) => DefDiagnostic::new(
            Code::NumberSuffix,
            range,
            format!("`{suffix}` is not a number suffix"),
        )
        .help("integers end in i8, i16, i32 or i64, other numbers in f, f16, f32 or f64"),
        ProblemKind::NegativeDim(size) => DefDiagnostic::new(
            Code::NegativeSize,
            range,
            format!("the size of a tensor cannot be negative, found {size}"),
        )
        .help("write an unknown size as `?`")
        .fix("Write `?`", [(range, "?".to_owned())]),
        ProblemKind::BadBinder { name, kind } => bad_binder(range, name, *kind),
        ProblemKind::DuplicateParam { name, first } => {
            let what = if name.starts_with('%') { "parameter" } else { "type parameter" };
            let message = format!("duplicate {what} `{name}`");
            DefDiagnostic::new(Code::DuplicateParameter, range, message)
                .related(place(*first), format!("an earlier {what} of this name"))
        }
        ProblemKind::NoArms => {
            let message = "this `match?` has no arms: it fails for every value";
            let keyword = TextRange::at(range.start(), TextSize::of("match?"));
            DefDiagnostic::new(Code::MatchWithoutArms, keyword, message)
                .help("add an arm for each value that can occur, or `_ => …` for all of them")
        }
        ProblemKind::ParamWithArgs(param) => DefDiagnostic::new(
            Code::TypeArguments,
            range,
            format!("`{}` is a type parameter and takes no arguments", param.name()),
        ),
        ProblemKind::ArgAfterAttr => {
            DefDiagnostic::new(Code::SyntaxError, range, "positional argument follows an attribute")
        }
        ProblemKind::StringValue => {
            DefDiagnostic::new(Code::SyntaxError, range, "a string is not a value of Relay")
                .help("strings are values of attributes: `cast(%x, dtype=\"float16\")`")
        }
        ProblemKind::PythonCall(call) => python_call::report(range, call.operator.name),
        ProblemKind::PythonExpr(_) => python_call::report(range, value),
        // Neither is reported here: see [`ProblemKind::is_said_elsewhere`].
        ProblemKind::Unqualified(meaning) => python_call::report(range, meaning.operator.name),
        ProblemKind::PrintedTypes => {
            DefDiagnostic::new(Code::TvmOtherVersion, range, ProblemKind::PRINTED_TYPES)
        }
        ProblemKind::PythonName(operator) => python_call::name(range, value, operator),
        ProblemKind::ListValue { is_tuple } => python_call::list_value(range, value, *is_tuple),
        ProblemKind::OpenField => {
            DefDiagnostic::new(Code::OpenField, range, "the type of a field cannot be left out")
                .help(
                    "write it, or make it a parameter of the data type: `type Box[A] { Wrap(A) }`",
                )
        }
    }
}

/// Adds the fix that removes the attributes of a call whose callee takes none.
fn without_attributes(
    diagnostic: DefDiagnostic,
    view: &View<'_>,
    number: UnitId,
    problem: &Problem,
) -> DefDiagnostic {
    let unit = view.unit(number);
    let is_of_problem = |call: &&CallData| {
        call.written.first().is_some_and(|attr| attr.name_range == problem.range)
    };
    let Some(call) = unit.calls.iter().find(is_of_problem) else { return diagnostic };
    let (Some(&arg), Some(attr)) = (call.args.last(), call.written.last()) else {
        return diagnostic;
    };
    let start = view.range(ExprRef { unit: number, expr: arg }).end();
    let end = view.place(number, attr.value_range).end();
    if end <= start {
        return diagnostic;
    }
    diagnostic.fix("Remove the attributes", [(TextRange::new(start, end), String::new())])
}

/// Adds a fix or help for attributes of an operator that TVM registers without an attribute type.
fn detached(
    diagnostic: DefDiagnostic,
    view: &View<'_>,
    number: UnitId,
    problem: &Problem,
    operator: &operators::Operator,
) -> DefDiagnostic {
    let mut calls = view.unit(number).calls.iter();
    let call = calls
        .find(|call| call.written.first().is_some_and(|attr| attr.name_range == problem.range));
    match (call.and_then(|call| call.written.last()), operator.schema) {
        (Some(last), Some(schema)) => {
            let at = view.place(number, last.value_range).end();
            let text = format!(", attrs_type_key=\"{}\"", schema.key);
            diagnostic.fix("Add the attribute type", [(TextRange::empty(at), text)])
        }
        _ => diagnostic.help("add `attrs_type_key=\"…\"`"),
    }
}

/// Returns an example of a type argument of a kind, except for types.
pub(super) fn example_of_kind(kind: types::Kind) -> Option<String> {
    let example = match kind {
        types::Kind::Type => return None,
        types::Kind::Shape => "a shape is written as `(2, 3)`, or is a parameter of kind `Shape`",
        types::Kind::ShapeVar => "a size is a number, `?`, or a parameter of kind `ShapeVar`",
        types::Kind::BaseType => "a data type is `float32`, or a parameter of kind `BaseType`",
    };
    Some(example.to_owned())
}

/// Returns the diagnostic for a graph variable that is bound like a local variable, or the reverse.
fn bad_binder(range: syntax::TextRange, name: &str, kind: BinderKind) -> DefDiagnostic {
    let bare = &name[1..];
    let digits = bare.bytes().all(|b| b.is_ascii_digit());
    let message = match kind {
        BinderKind::Graph => {
            format!("`{name}` is not a graph variable: those are numbers, as in `%0`")
        }
        _ if digits => format!("the graph variable `{name}` cannot be bound here"),
        _ => format!("`{name}` is not a valid name: names begin with a letter"),
    };
    let diagnostic = DefDiagnostic::new(Code::InvalidBinder, range, message);
    match kind {
        BinderKind::Graph if !bare.starts_with(|c: char| c.is_ascii_digit()) => {
            let at = syntax::TextRange::empty(range.start());
            diagnostic.fix("Bind it with `let`", [(at, "let ".to_owned())])
        }
        BinderKind::Graph => {
            let number: String = bare.chars().take_while(char::is_ascii_digit).collect();
            let to = format!("%{number}");
            diagnostic.fix(format!("Change to `{to}`"), [(range, to)])
        }
        _ if digits => diagnostic.help("`%0 = …;` binds graph variables; write a name here"),
        _ => diagnostic.help(format!("write `%_{bare}`, or another name")),
    }
}

pub(super) fn kind_name(kind: types::Kind) -> &'static str {
    match kind {
        types::Kind::Type => "type",
        types::Kind::Shape => "shape",
        types::Kind::ShapeVar => "size",
        types::Kind::BaseType => "data type",
    }
}

/// Returns the diagnostic for an attribute; `value` is the text of its value.
fn attr(
    range: TextRange,
    value: &str,
    operator: &operators::Operator,
    name: &str,
    problem: &AttrProblem,
) -> DefDiagnostic {
    match problem {
        AttrProblem::Unknown { nearest, .. } => {
            let diagnostic = DefDiagnostic::new(
                Code::UnknownAttribute,
                range,
                format!("`{}` has no attribute `{name}`", operator.name),
            );
            let fields = || operator.schema.into_iter().flat_map(|schema| schema.fields);
            let of_name =
                |name: &str| fields().find(|field| field.name == name).map(|field| field.name);
            match nearest.or_else(|| other_names::attribute(name, of_name)) {
                Some(near) => diagnostic
                    .help(format!("did you mean `{near}`?"))
                    .fix(format!("Change to `{near}`"), [(range, near.to_owned())]),
                None => {
                    let known: Vec<String> = operator
                        .schema
                        .into_iter()
                        .flat_map(|schema| schema.fields)
                        .map(|field| format!("`{}`", field.name))
                        .collect();
                    diagnostic.help(format!("its attributes are {}", known.join(", ")))
                }
            }
        }
        AttrProblem::Type { expected, none, .. } => {
            let takes = AttrProblem::describe(*expected);
            let or_none = if *none && !expected.is_optional() { " or `None`" } else { "" };
            let not = match value.len() {
                1..=40 => format!(", not `{value}`"),
                _ => String::new(),
            };
            let diagnostic = DefDiagnostic::new(
                Code::AttributeType,
                range,
                format!("`{}`: `{name}` takes {takes}{or_none}{not}", operator.name),
            );
            let diagnostic = match attr_help(*expected) {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            };
            match rewritten(*expected, value, operator.spatial_axes()) {
                Some(to) => diagnostic.fix(format!("Change to `{to}`"), [(range, to)]),
                None => diagnostic,
            }
        }
        AttrProblem::Choice { choices, nearest, .. } => {
            let diagnostic = DefDiagnostic::new(
                Code::AttributeValue,
                range,
                format!("`{}`: `{name}` cannot be {value}", operator.name),
            );
            let known: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
            let diagnostic = diagnostic.help(format!("it is one of {}", known.join(", ")));
            suggested(diagnostic, range, *nearest)
        }
        AttrProblem::DType { nearest, .. } => {
            let diagnostic = DefDiagnostic::new(
                Code::AttributeValue,
                range,
                format!("`{}`: `{name}` is {value}, which is not a data type", operator.name),
            );
            let diagnostic = diagnostic.help("write a data type as in `\"float32\"`");
            suggested(diagnostic, range, syntax::dtype_of(value).or(*nearest))
        }
        AttrProblem::TooSmall { min: least, .. } => DefDiagnostic::new(
            Code::AttributeValue,
            range,
            format!("`{}`: `{name}` must be at least {least}, it is {value}", operator.name),
        )
        .fix(format!("Change to {least}"), [(range, least.to_string())]),
        AttrProblem::TypeKey { expected } => {
            let diagnostic = DefDiagnostic::new(
                Code::AttributeValue,
                range,
                format!("`{}`: this is not the name of its attribute type", operator.name),
            );
            match expected {
                Some(key) => suggested(diagnostic, range, Some(key)),
                None => {
                    diagnostic.help("the name is one of TVM's, such as \"relay.attrs.InitOpAttrs\"")
                }
            }
        }
        AttrProblem::Missing { name } => DefDiagnostic::new(
            Code::MissingAttribute,
            range,
            format!("`{}` needs the attribute `{name}`", operator.name),
        )
        .help(format!("write `{name}=…` after the arguments")),
        AttrProblem::Twice { .. } => DefDiagnostic::new(
            Code::DuplicateAttribute,
            range,
            format!("`{}`: duplicate attribute `{name}`", operator.name),
        )
        .help("TVM takes the last value that is written"),
    }
}

/// Returns the value of an attribute as Relay writes it: `true`, `'NCHW'`, and `1` for a list, of `axes` numbers if it
/// has one for each axis of a window.
fn rewritten(expected: AttrType, value: &str, axes: usize) -> Option<String> {
    let is_word = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
    };
    let bare = value.trim_matches('\'');
    match expected {
        AttrType::Bool => match value {
            "true" => Some("True".to_owned()),
            "false" => Some("False".to_owned()),
            _ => None,
        },
        AttrType::DType if is_word(bare) => {
            syntax::dtype_of(bare).map(|dtype| format!("\"{dtype}\""))
        }
        AttrType::Str | AttrType::Layout if is_word(bare) => Some(format!("\"{bare}\"")),
        AttrType::Choice(choices) if choices.contains(&bare) => Some(format!("\"{bare}\"")),
        AttrType::Dims | AttrType::Ints | AttrType::OptionalInts
            if value.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit())
                && !value.is_empty() =>
        {
            let count = if expected == AttrType::Dims { axes } else { 1 };
            Some(format!("[{}]", vec![value; count].join(", ")))
        }
        _ => None,
    }
}

/// Adds a fix that inserts the nearest valid string, if there is one.
fn suggested(diagnostic: DefDiagnostic, range: TextRange, nearest: Option<&str>) -> DefDiagnostic {
    match nearest {
        Some(near) => {
            diagnostic.fix(format!("Change to \"{near}\""), [(range, format!("\"{near}\""))])
        }
        None => diagnostic,
    }
}

/// Returns the diagnostic for an unknown type relation.
pub(super) fn unknown_relation(range: TextRange, name: &str) -> DefDiagnostic {
    let message = format!("there is no type relation `{name}`");
    DefDiagnostic::new(Code::UnknownRelation, range, message)
        .help("relations are named after operators: `Broadcast`, `Dense`, `Identity` …")
        .or_similar(name, range, &[Among::Relations])
}

/// Returns how to write a value of type `expected`, if the message does not say so.
fn attr_help(expected: AttrType) -> Option<&'static str> {
    Some(match expected {
        AttrType::Dims | AttrType::Ints | AttrType::OptionalInts => "a list is written in brackets",
        AttrType::DType | AttrType::Str | AttrType::Layout | AttrType::Choice(_) => {
            "a string is written in quotes"
        }
        _ => return None,
    })
}

/// Returns a number of things: `no fields`, `1 field`, `2 fields`.
pub(super) fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// Returns the text of a type as a module can contain it. `None` for a type that has unknown parts,
/// that has no syntax (`Tensor[(n * 2), float32]`), or that has more than 1,000 nodes.
pub fn writable(ty: &Type) -> Option<String> {
    if !ty.is_closed() || ty.has_error() || ty.weight() > MAX_WRITTEN {
        return None;
    }
    let text = ty.to_string();
    // The parser does not accept a printed size such as `(n * 2)`.
    let parse = syntax::parse_type(&text);
    parse.errors.iter().all(|error| error.kind.is_compat()).then_some(text)
}

/// The maximum number of nodes of a type that an edit inserts.
const MAX_WRITTEN: u32 = 1_000;
