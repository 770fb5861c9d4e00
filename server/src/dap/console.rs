//! Lines of the console: expressions with slices, `%5[0, :, 3]`, and `save(%5, "file.npy")`.

use std::path::{Path, PathBuf};

use interpreter::{SharedTensor, Value};
use serde_json::Value as Json;

use super::{
    protocol::{Body, EvaluateArguments, Evaluated, LaunchArguments},
    runner,
    stopped::StoppedRun,
};
use crate::{files::Claims, input::shown, run::slice};

/// The largest number of slices after an expression.
const MAX_SLICES: usize = 16;
/// The helper that writes a file.
pub(super) const SAVE: &str = "save";

/// An expression with slices after it.
#[derive(PartialEq, Eq, Debug)]
struct SlicedExpression<'l> {
    expression: &'l str,
    /// `[0, :, 3]`, in the order of their application.
    slices: Vec<&'l str>,
}

/// A line of the console.
#[derive(PartialEq, Eq, Debug)]
struct Line<'l> {
    value: SlicedExpression<'l>,
    /// The file that is to be written.
    path: Option<String>,
}

impl<'l> Line<'l> {
    /// Parses a line, apart from its expression.
    ///
    /// # Errors
    /// The message for a call of `save` with other arguments.
    fn parse(text: &'l str) -> Result<Line<'l>, String> {
        let Some(arguments) = save_arguments(text) else {
            return Ok(Line { value: SlicedExpression::parse(text), path: None });
        };
        let inner = arguments.trim_end().strip_suffix(')');
        // The expression and the name may have commas, too.
        let found = inner.and_then(|inner| {
            let mut commas = inner.rmatch_indices(',');
            commas.find_map(|(at, _)| {
                let name = inner.get(at + 1..)?.trim();
                let is_text = name.starts_with('"');
                let path = is_text.then(|| serde_json::from_str::<String>(name).ok())??;
                Some((inner.get(..at)?, path))
            })
        });
        let (expression, path) = found.ok_or_else(|| {
            "`save` takes an expression and the name of a `.npy` file: `save(%x, \"x.npy\")`"
                .to_owned()
        })?;
        Ok(Line { value: SlicedExpression::parse(expression), path: Some(path) })
    }
}

/// Returns what follows the parenthesis of a call of `save`.
fn save_arguments(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(SAVE)?.trim_start().strip_prefix('(')
}

impl<'l> SlicedExpression<'l> {
    /// Splits the slices off an expression. Brackets are slices only after a name, a number or a parenthesis: a list, the
    /// type `Tensor[…]` and `meta[…][…]` stay parts of the expression.
    fn parse(text: &'l str) -> SlicedExpression<'l> {
        let whole = text.trim().trim_end_matches(';').trim_end();
        let mut expression = whole;
        let mut slices = Vec::new();
        while slices.len() < MAX_SLICES
            && expression.ends_with(']')
            && let Some(open) = expression.rfind('[')
            && let (Some(before), Some(slice)) = (expression.get(..open), expression.get(open..))
            && !slice.contains('"')
        {
            slices.push(slice);
            expression = before.trim_end();
        }
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let word = expression.rsplit(|c| !is_letter(c)).next().unwrap_or_default();
        let is_value = expression.ends_with(|c| is_letter(c) || c == ')');
        if !is_value || matches!(word, "Tensor" | "meta") {
            return SlicedExpression { expression: whole, slices: Vec::new() };
        }
        slices.reverse();
        SlicedExpression { expression, slices }
    }
}

/// Returns the files that the runs of a session read, if a line of the console may write one of them.
pub(super) fn read_files(line: &str, launch: &LaunchArguments, folder: &Path) -> Vec<PathBuf> {
    if save_arguments(line).is_none() {
        return Vec::new();
    }
    let inputs = launch.inputs.values().filter_map(Json::as_str);
    let archives = launch.archives.iter().chain(&launch.params).map(String::as_str);
    inputs.chain(archives).map(|name| folder.join(name)).collect()
}

impl StoppedRun {
    /// Evaluates a line of the console in a frame, by default the innermost one. A file that it writes is none of those
    /// that are `read`.
    ///
    /// # Errors
    /// The message for a line that is wrong or fails.
    pub(super) fn evaluate(
        &mut self,
        given: &EvaluateArguments,
        read: &[PathBuf],
    ) -> Result<Body, String> {
        let line = Line::parse(&given.expression)?;
        if line.path.is_some() && given.context.as_deref().is_some_and(|context| context != "repl")
        {
            // A watched expression is evaluated at each stop.
            return Err("`save` writes a file, which only the console does".to_owned());
        }
        let value = self.sliced(&line.value, given.frame_id)?;
        let Some(path) = line.path else {
            let shown = self.nodes.value("", &value);
            return Ok(Body::Evaluated(Evaluated {
                result: shown.value,
                ty: shown.ty,
                variables_reference: shown.variables_reference,
                indexed_variables: shown.indexed_variables,
                named_variables: shown.named_variables,
                memory_reference: shown.memory_reference,
            }));
        };
        let tensor = tensor_of(&value, line.value.expression)?;
        let result = self.save(&tensor, &path, read)?;
        Ok(Body::Evaluated(Evaluated { result, ..Evaluated::default() }))
    }

    /// Evaluates an expression, which may have slices, in a frame.
    ///
    /// # Errors
    /// The message for an expression that is wrong or fails.
    pub(super) fn value_of(
        &mut self,
        expression: &str,
        frame: Option<i64>,
    ) -> Result<Value, String> {
        self.sliced(&SlicedExpression::parse(expression), frame)
    }

    fn sliced(
        &mut self,
        given: &SlicedExpression<'_>,
        frame: Option<i64>,
    ) -> Result<Value, String> {
        let id = frame.unwrap_or(1);
        let (frame, stopped) = self.frame(id)?;
        let range = stopped.call.place.1;
        let released = self.evaluator.released(given.expression, range, &stopped.variables);
        self.recall(frame, &released)?;
        let (_, stopped) = self.frame(id)?;
        let mut value = self.evaluator.evaluate(given.expression, range, &stopped.variables)?;
        for text in &given.slices {
            let tensor = tensor_of(&value, given.expression)?;
            let axes = slice::parse(text, tensor.shape()).map_err(|error| error.to_string())?;
            let part = tensor.slice(&axes);
            value = Value::from(part.ok_or("the slice does not fit the tensor")?);
        }
        Ok(value)
    }

    /// Writes a tensor to a `.npy` file, relative to the folder of the program. Returns a text for the console.
    fn save(&self, tensor: &SharedTensor, path: &str, read: &[PathBuf]) -> Result<String, String> {
        let path = runner::folder(self.evaluator.program()).join(path);
        let name = shown(&path);
        if path.extension().is_none_or(|extension| extension != "npy") {
            return Err(format!("`{name}` is no `.npy` file: name one"));
        }
        let target = Claims::default().read_all(read).write_regular(&path)?;
        let written = target.write(|out| arrays::write_npy(out, tensor));
        written.map_err(|error| target.error(&error))?;
        Ok(format!("saved {} as `{name}`", tensor.ty()))
    }
}

/// Returns the tensor that a value is.
///
/// # Errors
/// The message for another value.
pub(super) fn tensor_of(value: &Value, expression: &str) -> Result<SharedTensor, String> {
    match value {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        other => {
            let what = other.describe();
            Err(format!("`{}` is {what}: name one of its tensors", expression.trim()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_after_values_are_slices() {
        for (line, expression, slices) in [
            ("%5[0, :, 3]", "%5", &["[0, :, 3]"][..]),
            (" add(%x, [1, 2]) [0] [1:] ;", "add(%x, [1, 2])", &["[0]", "[1:]"]),
            ("%t.0[x]", "%t.0", &["[x]"]),
            ("[1, 2]", "[1, 2]", &[]),
            ("meta[relay.Constant][0]", "meta[relay.Constant][0]", &[]),
            ("f(%x, s=\"a]\")", "f(%x, s=\"a]\")", &[]),
            ("]", "]", &[]),
            ("[", "[", &[]),
            ("", "", &[]),
        ] {
            let found = SlicedExpression::parse(line);
            assert_eq!((found.expression, &*found.slices), (expression, slices), "{line}");
        }
    }

    #[test]
    fn files_are_named_by_the_last_argument() {
        for (line, expression, path) in [
            ("save(%x, \"x.npy\")", "%x", "x.npy"),
            ("save (add(%x, %y)[0], \"a, \\\"b\\\".npy\" )", "add(%x, %y)", "a, \"b\".npy"),
        ] {
            let found = Line::parse(line).expect(line);
            assert_eq!((found.value.expression, found.path.as_deref()), (expression, Some(path)));
        }
        for line in ["save(%x)", "save(", "save(%x, x.npy)", "save(%x, \"x.npy\""] {
            assert!(Line::parse(line).is_err(), "{line}");
        }
        assert_eq!(Line::parse("saved(%x)").map(|line| line.path), Ok(None));
    }
}
