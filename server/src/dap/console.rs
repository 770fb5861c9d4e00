//! Lines of the console: expressions, and `save(%5, "file.npy")`.

use std::path::{Path, PathBuf};

use interpreter::{SharedTensor, Value};
use serde_json::Value as Json;

use super::{
    protocol::{Body, EvaluateArguments, LaunchArguments, ValueDetails, Variable},
    runner,
    sliced::tensor_of,
    stopped::StoppedRun,
};
use crate::{files::Claims, input::shown};

/// The helper that writes a file.
pub(super) const SAVE: &str = "save";

/// A line of the console.
#[derive(PartialEq, Eq, Debug)]
struct Line<'l> {
    expression: &'l str,
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
            return Ok(Line { expression: text, path: None });
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
        Ok(Line { expression, path: Some(path) })
    }
}

/// Returns what follows the parenthesis of a call of `save`.
fn save_arguments(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(SAVE)?.trim_start().strip_prefix('(')
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
        let value = self.value_of(line.expression, given.frame_id)?;
        let Some(path) = line.path else {
            let Variable { value: result, details, .. } = self.nodes.value("", &value);
            return Ok(Body::Evaluated { result, details });
        };
        let tensor = tensor_of(&value, line.expression)?;
        let result = self.save(&tensor, &path, read)?;
        Ok(Body::Evaluated { result, details: ValueDetails::default() })
    }

    /// Evaluates an expression in a frame.
    ///
    /// # Errors
    /// The message for an expression that is wrong or fails.
    pub(super) fn value_of(
        &mut self,
        expression: &str,
        frame: Option<i64>,
    ) -> Result<Value, String> {
        let id = frame.unwrap_or(1);
        let (frame, stopped) = self.frame(id)?;
        let range = stopped.call.place.1;
        let released = self.evaluator.released(expression, range, &stopped.variables);
        self.recall(frame, &released)?;
        let (_, stopped) = self.frame(id)?;
        self.evaluator.evaluate(expression, range, &stopped.variables)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_the_last_argument() {
        for (line, expression, path) in [
            ("save(%x, \"x.npy\")", "%x", "x.npy"),
            ("save (add(%x, %y)[0], \"a, \\\"b\\\".npy\" )", "add(%x, %y)[0]", "a, \"b\".npy"),
        ] {
            let found = Line::parse(line).expect(line);
            assert_eq!((found.expression, found.path.as_deref()), (expression, Some(path)));
        }
        for line in ["save(%x)", "save(", "save(%x, x.npy)", "save(%x, \"x.npy\""] {
            assert!(Line::parse(line).is_err(), "{line}");
        }
        assert_eq!(Line::parse("saved(%x)").map(|line| line.path), Ok(None));
    }
}
