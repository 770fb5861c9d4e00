//! Expressions in a stopped frame. An expression becomes a function of the variables that it names, after the
//! definition of the frame, so that the analysis and the interpreter see it like any other function: with the globals,
//! data types and constants of the module.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use interpreter::{CallVariable, Limits, Value};
use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use semantics::{
    Database, Def, DefKind, Severity, SourceFile, View,
    body::{BinderId, Expr, LocalRef},
    effects::Effects,
};
use syntax::{TextRange, TextSize};
use types::Type;

use super::{
    program::Program,
    sliced::{self, SlicedExpression},
};
use crate::{allocator::limited_machine, panics, run::failure};

/// The name of the function of an expression.
const NAME: &str = "@relay_debug_expression";
/// The longest expression, in bytes.
const MAX_LENGTH: usize = 64 << 10;
/// The number of expressions whose functions are kept.
const MAX_KEPT: usize = 1000;
/// The number of parts of a value that are searched for functions.
const MAX_PARTS: usize = 1 << 16;

/// The helpers of expressions, which stand for calls of operators, and what they return.
pub(super) const HELPERS: [(&str, &str); 3] = [
    ("any_nan", "true if an element is NaN"),
    ("any_inf", "true if an element is infinite"),
    ("shape", "the sizes of the axes"),
];

/// Evaluates expressions.
#[derive(Clone)]
pub(super) struct Evaluator {
    program: Program,
    /// The files that were made for expressions, by the offsets and texts of their functions.
    files: Arc<Mutex<HashMap<(usize, String), SourceFile>>>,
}

/// A variable that an expression names.
#[derive(Clone)]
struct Parameter {
    name: String,
    /// Its type in the text; without it, that of its value is inferred.
    ty: Option<String>,
    value: Option<Value>,
}

/// The function of an expression, and the range of the text of the program that it replaces.
struct Code {
    text: String,
    /// The offset of the expression in the text.
    expression_at: usize,
    start: usize,
    end: usize,
}

impl Evaluator {
    /// Creates the evaluator of a program.
    pub(super) fn new(program: &Program) -> Evaluator {
        Evaluator { program: program.clone(), files: Arc::default() }
    }

    /// Returns the file of the program.
    pub(super) fn file(&self) -> SourceFile {
        self.program.file
    }

    /// Returns the program.
    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    /// Evaluates an expression at a place with the variables of its frame.
    ///
    /// # Errors
    /// The message for an expression that does not type, names a variable without a value, or fails.
    pub(super) fn evaluate(
        &self,
        expression: &str,
        at: TextRange,
        variables: &[CallVariable],
    ) -> Result<Value, String> {
        let SlicedExpression { slices, text } = SlicedExpression::parse(expression)?;
        let evaluate = |text: &str, parts: &[Parameter]| {
            let value = self.evaluate_whole(text, at, variables, parts);
            value.map_err(|message| sliced::as_written(&message, &slices))
        };
        let mut parts = Vec::new();
        for (number, slice) in slices.iter().enumerate() {
            let part = slice.of(&evaluate(&slice.base, &parts)?)?;
            let (name, ty) = (sliced::name(number), Some(part.ty().to_string()));
            parts.push(Parameter { name, ty, value: Some(Value::from(part)) });
        }
        evaluate(&text, &parts)
    }

    /// Evaluates an expression without slices, whose variables may also be `parts`.
    fn evaluate_whole(
        &self,
        expression: &str,
        at: TextRange,
        variables: &[CallVariable],
        parts: &[Parameter],
    ) -> Result<Value, String> {
        let expression = prepared(expression)?;
        let mut parameters = named_parts(&expression, parts);
        for (name, range) in self.named(&expression, at, variables.iter().map(|v| v.name)) {
            let variable = variables.iter().find(|variable| variable.name == range);
            let Some(value) = variable.map(|variable| variable.value.clone()) else { continue };
            if matches!(value, Value::Empty) {
                return Err(format!("`{name}` has no value yet here"));
            }
            if matches!(value, Value::Released) {
                return Err(format!("`{name}` has no value any more here"));
            }
            if has_part(&value, |part| matches!(part, Value::Closure(_))) {
                // Its code belongs to the run.
                return Err(format!(
                    "`{name}` is a function or has one, which cannot be used in expressions: call a definition"
                ));
            }
            let ty = self.type_text(&value, at, range);
            parameters.push(Parameter { name, ty, value: Some(value) });
        }
        let mut result = self.run(&expression, at, &parameters);
        if result.is_err() && parameters.iter().any(|parameter| parameter.ty.is_none()) {
            return result;
        }
        // A static type may name what the function does not: the types of its values then follow from their uses.
        if result.is_err() {
            let is_static = |p: &Parameter| !matches!(p.value, Some(Value::Tensor(_)));
            if parameters.iter().any(is_static) {
                parameters.iter_mut().filter(|p| is_static(p)).for_each(|p| p.ty = None);
                result = self.run(&expression, at, &parameters).or(result);
            }
        }
        result
    }

    /// Returns the variables without their values any more that an expression names, by the ranges of their names.
    pub(super) fn released(
        &self,
        expression: &str,
        at: TextRange,
        variables: &[CallVariable],
    ) -> Vec<TextRange> {
        let named = self.named(expression, at, variables.iter().map(|v| v.name)).into_iter();
        let is_released = |range: &TextRange| {
            let mut same = variables.iter().filter(|variable| variable.name == *range);
            same.any(|variable| matches!(variable.value, Value::Released))
        };
        named.map(|(_, range)| range).filter(is_released).collect()
    }

    /// Returns the ranges of the names of all variables of the program that expressions name.
    pub(super) fn named_anywhere(&self, expressions: &[&str]) -> FxHashSet<TextRange> {
        let words: FxHashSet<&str> = expressions
            .iter()
            .flat_map(|text| variables_in(text))
            // `%t.0` is a field of `%t`, or a variable.
            .flat_map(|word| [word, word.split_once('.').map_or(word, |(whole, _)| whole)])
            .collect();
        let db = &self.program.db;
        let views = semantics::all_defs(db, self.program.file).filter_map(|def| View::new(db, def));
        let bound = views.flat_map(|view| bindings(&view)).map(|(range, _)| range);
        bound.filter(|range| words.contains(self.program.at(*range))).collect()
    }

    /// Checks the types of an expression at a place, before the program runs.
    ///
    /// # Errors
    /// The message of its first error.
    pub(super) fn check(&self, expression: &str, at: TextRange) -> Result<(), String> {
        let SlicedExpression { slices, text } = SlicedExpression::parse(expression)?;
        let check = |text: &str, parts: &[Parameter]| {
            let ty = self.check_whole(text, at, parts);
            ty.map_err(|message| sliced::as_written(&message, &slices))
        };
        let mut parts = Vec::new();
        for (number, slice) in slices.iter().enumerate() {
            let ty = check(&slice.base, &parts)?;
            let Some(ty) = ty.map_or(Ok(None), |ty| slice.of_type(&ty))? else { return Ok(()) };
            let (name, ty) = (sliced::name(number), Some(ty.to_string()));
            parts.push(Parameter { name, ty, value: None });
        }
        check(&text, &parts).map(|_| ())
    }

    /// Checks an expression without slices, whose variables may also be `parts`. Returns its type, if it is known.
    fn check_whole(
        &self,
        expression: &str,
        at: TextRange,
        parts: &[Parameter],
    ) -> Result<Option<Type>, String> {
        let expression = prepared(expression)?;
        let db = &self.program.db;
        let Some(def) = self.program.def_at(at.start()) else { return Ok(None) };
        let Some(view) = View::new(db, def) else { return Ok(None) };
        let bindings = bindings(&view);
        let ranges = bindings.iter().map(|(range, _)| *range);
        let mut parameters = named_parts(&expression, parts);
        for (name, range) in self.named(&expression, at, ranges) {
            let binding = bindings.iter().find(|(of, _)| *of == range);
            let ty = binding.map(|(_, binding)| view.binding_type(*binding));
            let ty = ty.filter(|ty| view.can_name(ty, at)).map(ToString::to_string);
            parameters.push(Parameter { name, ty, value: None });
        }
        // Without all types, an error may be one of a missing type only.
        if parameters.iter().any(|parameter| parameter.ty.is_none()) {
            return Ok(None);
        }
        let file = self.function(&expression, at, &parameters)?;
        let signature = function_in(db, file).map(|def| semantics::inference(db, def));
        Ok(match signature.and_then(|inference| inference.signature.clone()) {
            Some(Type::Func(function)) => Some(function.ret().clone()),
            _ => None,
        })
    }

    /// Returns the variables that an expression names, with the ranges where they are bound: the last one of each name
    /// up to the place.
    fn named(
        &self,
        expression: &str,
        at: TextRange,
        bound: impl Iterator<Item = TextRange> + Clone,
    ) -> Vec<(String, TextRange)> {
        let mut found: Vec<(String, TextRange)> = Vec::new();
        for word in variables_in(expression) {
            // `%t.0` is the field of `%t`, unless there is a variable of this name.
            let mut name = word;
            loop {
                let same = bound.clone().filter(|range| self.program.at(*range) == name);
                let before = same.clone().filter(|range| range.start() <= at.end());
                if let Some(range) =
                    before.max_by_key(|range| range.start()).or(same.min_by_key(|r| r.start()))
                {
                    if found.iter().all(|(known, _)| known != name) {
                        found.push((name.to_owned(), range));
                    }
                    break;
                }
                let Some((whole, _)) = name.rsplit_once('.') else { break };
                name = whole;
            }
        }
        found
    }

    /// Returns the type of a value as text: that of its tensors, otherwise that of its variable.
    fn type_text(&self, value: &Value, at: TextRange, range: TextRange) -> Option<String> {
        let own = value.ty();
        if is_complete(&own) {
            return Some(own.to_string());
        }
        let view = View::new(&self.program.db, self.program.def_at(at.start())?)?;
        let (_, binding) = bindings(&view).into_iter().find(|(of, _)| *of == range)?;
        let ty = view.binding_type(binding);
        view.can_name(ty, at).then(|| ty.to_string())
    }

    fn run(
        &self,
        expression: &str,
        at: TextRange,
        parameters: &[Parameter],
    ) -> Result<Value, String> {
        let file = self.function(expression, at, parameters)?;
        let values: Vec<Value> = parameters.iter().filter_map(|p| p.value.clone()).collect();
        let db = &self.program.db;
        let limits = Limits {
            fuel: Some(100_000_000),
            time: Some(Duration::from_secs(10)),
            ..self.program.limits.clone()
        };
        let run = || {
            let def = function_in(db, file).ok_or_else(|| "this is no expression".to_owned())?;
            let is_ref = |value: &Value| has_part(value, |part| matches!(part, Value::Ref(_)));
            if values.iter().any(is_ref) && View::new(db, def).is_some_and(|view| writes(&view)) {
                let message = "it writes a reference of the program, which would change the run";
                return Err(message.to_owned());
            }
            let mut machine = limited_machine(db, limits.clone());
            machine.run(def, values.clone(), None).map_err(|fault| failure::message(&fault))
        };
        panics::caught(run).map_err(|panicked| panicked.message("the expression"))?
    }

    /// Returns the file with the function of an expression.
    ///
    /// # Errors
    /// The message of its first error.
    fn function(
        &self,
        expression: &str,
        at: TextRange,
        parameters: &[Parameter],
    ) -> Result<SourceFile, String> {
        let db = &self.program.db;
        let Code { text: code, start, end, .. } = self.code(expression, at, parameters);
        let text = &self.program.text;
        let own = TextRange::at(TextSize::from(start as u32), TextSize::of(&*code));
        let mut files = self.files.lock();
        let key = (start, code);
        let file = files.get(&key).copied().unwrap_or_else(|| {
            let (before, after) = (text.get(..start), text.get(end..));
            let (before, after) = (before.unwrap_or(text), after.unwrap_or_default());
            let whole = format!("{before}{}{after}", key.1);
            let file = db.add_file(whole, self.program.options.limits);
            if files.len() < MAX_KEPT {
                files.insert(key, file);
            }
            file
        });
        drop(files);
        self.first_error(file, own).map_or(Ok(file), Err)
    }

    /// Writes the function of an expression.
    fn code(&self, expression: &str, at: TextRange, parameters: &[Parameter]) -> Code {
        let db = &self.program.db;
        let mut header = String::new();
        let mut aliases = String::new();
        for (number, Parameter { name, ty, .. }) in parameters.iter().enumerate() {
            // `%0` is no name of a parameter.
            let is_graph = name.trim_start_matches('%').starts_with(|c: char| c.is_ascii_digit());
            let own = if is_graph { format!("%relay_debug_{number}") } else { name.clone() };
            if is_graph {
                aliases += &format!("{name} = {own}; ");
            }
            header += if number > 0 { ", " } else { "" };
            header += &own;
            if let Some(ty) = ty {
                header += &format!(": {ty}");
            }
        }
        let before = format!("\ndef {NAME}({header}) {{ {aliases}");
        let expression_at = before.len();
        let (start, end) = match self.program.def_at(at.start()) {
            // A bare expression ends its module.
            Some(def) if def.kind(db) == DefKind::Expr => {
                (def.range(db).start().into(), def.range(db).end().into())
            }
            Some(def) => (def.range(db).end().into(), def.range(db).end().into()),
            None => (self.program.text.len(), self.program.text.len()),
        };
        Code { text: format!("{before}{expression}\n}}\n"), expression_at, start, end }
    }

    /// Returns the text of the program with a function of an expression, which need not be complete, and the offset of
    /// the expression in it. Of variables with one name, the first one counts.
    pub(super) fn code_with(
        &self,
        expression: &str,
        at: TextRange,
        variables: &[CallVariable],
    ) -> (String, usize) {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut names = HashSet::new();
        for CallVariable { name: range, value, .. } in variables {
            let name = self.program.at(*range).to_owned();
            if names.insert(name.clone()) {
                let ty = self.type_text(value, at, *range);
                parameters.push(Parameter { name, ty, value: None });
            }
        }
        let code = self.code(expression, at, &parameters);
        let text = &self.program.text;
        let (before, after) = (text.get(..code.start), text.get(code.end..));
        let (before, after) = (before.unwrap_or(text), after.unwrap_or_default());
        let offset = before.len() + code.expression_at;
        (format!("{before}{}{after}", code.text), offset)
    }

    fn first_error(&self, file: SourceFile, own: TextRange) -> Option<String> {
        let db = &self.program.db;
        let mut parse_errors =
            file.parse(db).errors.iter().map(|error| error.range).collect::<Vec<_>>();
        parse_errors.retain(|range| own.contains_range(*range));
        let view = function_in(db, file).and_then(|def| View::new(db, def));
        let is_typed = view.is_some_and(|view| {
            view.inference.units.iter().all(|unit| unit.findings.is_empty())
                && view.body.units.iter().all(|unit| unit.problems.is_empty())
                && has_all_names(&view)
        });
        if is_typed && parse_errors.is_empty() {
            return None;
        }
        let found = semantics::check_file(db, file);
        let mut errors = found.iter().filter(|d| d.severity == Severity::Error);
        let error = errors.find(|d| own.contains_range(d.range));
        error.map(failure::summary_of)
    }
}

/// Returns the function of an expression in its file.
fn function_in(db: &Database, file: SourceFile) -> Option<Def<'_>> {
    let mut defs = semantics::all_defs(db, file);
    defs.find(|def| def.kind(db) == DefKind::Fn && def.name(db) == NAME)
}

/// Returns those of the slices that an expression names.
fn named_parts(expression: &str, parts: &[Parameter]) -> Vec<Parameter> {
    let is_named = |part: &&Parameter| variables_in(expression).any(|word| word == part.name);
    parts.iter().filter(is_named).cloned().collect()
}

/// Returns true if a definition writes references.
fn writes(view: &View<'_>) -> bool {
    view.effects().steps().iter().any(|(_, effects)| effects.contains(Effects::WRITE))
}

/// Returns true if all names in a definition are those of variables and definitions.
fn has_all_names(view: &View<'_>) -> bool {
    view.body.units().all(|(number, unit)| {
        unit.exprs.iter().all(|expr| match expr {
            Expr::Free(free) => view.scopes.get(number, *free).is_some(),
            Expr::Global(name) => semantics::global(view.db, view.module, name).is_some(),
            _ => true,
        })
    })
}

/// Returns the bindings of a definition with the ranges of their names.
fn bindings(view: &View<'_>) -> Vec<(TextRange, LocalRef)> {
    let mut found = Vec::new();
    for (unit, data) in view.body.units() {
        for number in 0..data.binders.len() as u32 {
            let binding = LocalRef { unit, binder: BinderId(number) };
            found.push((view.binding_range(binding), binding));
        }
    }
    found
}

/// Returns an expression without the helpers `any_nan`, `any_inf` and `shape`, which stand for calls of operators.
fn prepared(expression: &str) -> Result<String, String> {
    let expression = expression.trim().trim_end_matches(';');
    if expression.is_empty() {
        return Err("there is no expression".to_owned());
    }
    if expression.len() > MAX_LENGTH {
        return Err(format!("the expression is longer than {} KiB", MAX_LENGTH >> 10));
    }
    let mut out = String::new();
    // What closes the parentheses that are open.
    let mut open: Vec<&str> = Vec::new();
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        let is_letter = |c: char| c.is_alphanumeric() || "_.%@".contains(c);
        if is_letter(c) {
            let end = rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let called = after.trim_start().strip_prefix('(');
            let operators = match word {
                "any_nan" => Some(("any(isnan(", "))")),
                "any_inf" => Some(("any(isinf(", "))")),
                "shape" => Some(("shape_of(", ", dtype=\"int32\")")),
                _ => None,
            };
            match (operators, called) {
                (Some((begin, end)), Some(after)) => {
                    out += begin;
                    open.push(end);
                    rest = after;
                }
                _ => {
                    out += word;
                    rest = after;
                }
            }
            continue;
        }
        match c {
            '(' => {
                open.push(")");
                out.push(c);
            }
            ')' => out += open.pop().unwrap_or(")"),
            _ => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    Ok(out)
}

/// Returns the names of variables in an expression, with the fields after them.
pub(super) fn variables_in(expression: &str) -> impl Iterator<Item = &str> {
    let is_letter = |c: char| c.is_alphanumeric() || "_.".contains(c);
    expression.match_indices('%').filter_map(move |(at, _)| {
        let after = &expression[at + 1..];
        let end = after.find(|c: char| !is_letter(c)).unwrap_or(after.len());
        let name = expression[at..at + 1 + end].trim_end_matches('.');
        (name.len() > 1).then_some(name)
    })
}

fn is_complete(ty: &Type) -> bool {
    match ty {
        Type::Tensor(_) => true,
        Type::Tuple(fields) => fields.iter().all(is_complete),
        _ => false,
    }
}

/// Returns true if a value or a part of it is `wanted`, or if it has too many parts.
fn has_part(value: &Value, wanted: fn(&Value) -> bool) -> bool {
    let mut left = MAX_PARTS;
    let mut todo = vec![value.clone()];
    while let Some(value) = todo.pop() {
        let Some(less) = left.checked_sub(1) else { return true };
        left = less;
        if wanted(&value) {
            return true;
        }
        match &value {
            Value::Tuple(_) => todo.extend(value.as_tuple().unwrap_or_default().iter().cloned()),
            Value::Data(data) => todo.extend(data.fields().iter().cloned()),
            Value::Ref(cell) => todo.push(cell.get()),
            Value::Closure(_)
            | Value::Tensor(_)
            | Value::Unknown(_)
            | Value::Empty
            | Value::Released => {}
        }
        if todo.len() > MAX_PARTS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_calls_of_operators() {
        let cases = [
            ("any_nan(%5)", "any(isnan(%5))"),
            ("any_inf (add(%x, %y));", "any(isinf(add(%x, %y)))"),
            ("shape(%x)", "shape_of(%x, dtype=\"int32\")"),
            ("add(shape(f(%x)), 1)", "add(shape_of(f(%x), dtype=\"int32\"), 1)"),
            ("%shape", "%shape"),
            ("any_nan", "any_nan"),
            ("))(", "))("),
        ];
        for (written, expected) in cases {
            assert_eq!(prepared(written).as_deref(), Ok(expected));
        }
        assert!(prepared(" ; ").is_err());
        assert!(prepared(&"x".repeat(MAX_LENGTH + 1)).is_err());
    }

    #[test]
    fn variables_have_their_fields() {
        let found: Vec<&str> = variables_in("add(%5.0, %x) + %t.a.b. % 3").collect();
        assert_eq!(found, ["%5.0", "%x", "%t.a.b"]);
    }
}
