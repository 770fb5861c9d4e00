//! Arguments from files with several arrays.

use std::collections::{HashMap, HashSet};

use arrays::Archive;
use interpreter::Value;
use types::Type;

use super::{ArgumentError, Inputs, Param, leaves_of, misfit, nearest, shortened};
use crate::run::files::Part;

/// The files of a run. An array is read when a parameter takes it.
pub(super) struct Files {
    files: Vec<(String, Archive<Part>)>,
    /// The arrays that a parameter may take, by name: the file, and the index in it.
    used: HashMap<String, (usize, usize)>,
    /// Warnings about the files.
    pub(super) warnings: Vec<String>,
}

/// The reason that an array cannot be an argument.
pub(super) enum Problem {
    /// It has another type.
    Misfit(String),
    /// It cannot be read.
    Unreadable(String),
}

impl Problem {
    /// Converts the problem to an error of a parameter.
    pub(super) fn error(self, param: &Param) -> ArgumentError {
        match self {
            Problem::Misfit(is) => misfit(param, &is),
            Problem::Unreadable(message) => param.error(message),
        }
    }
}

impl Files {
    /// Opens the files, and finds the arrays for parameters. Of arrays with the same name in
    /// several files the last is used, and those of archives take precedence over parameters.
    ///
    /// # Errors
    /// A file cannot be read or has another format.
    pub(super) fn open(inputs: &Inputs, params: &[Param]) -> Result<Files, ArgumentError> {
        let mut all = Files { files: Vec::new(), used: HashMap::new(), warnings: Vec::new() };
        let names: HashSet<&str> = params.iter().map(|param| param.name.as_str()).collect();
        let count: usize = params.iter().map(|param| leaves_of(&param.ty)).sum();
        let is_known =
            |name: &str| names.contains(name) || position(name).is_some_and(|k| k < count);
        for named in inputs.params.iter().chain(&inputs.archives) {
            let source = named.open()?;
            let shown = named.path.display().to_string();
            let archive = Archive::open(source).map_err(|error| format!("`{shown}`: {error}"))?;
            let file = all.files.len();
            let mut unknown = Vec::new();
            for (at, name) in archive.names().iter().enumerate() {
                interpreter::poll();
                if is_known(name) {
                    all.used.insert(name.clone(), (file, at));
                } else {
                    unknown.push(name.as_str());
                }
            }
            all.warnings.extend(warning(&shown, &unknown, params));
            all.files.push((shown, archive));
        }
        Ok(all)
    }

    /// Returns the names of all arrays.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|(_, archive)| archive.names()).map(String::as_str)
    }

    /// Returns true if there is an array with this name for a parameter.
    pub(super) fn has(&self, name: &str) -> bool {
        self.used.contains_key(name)
    }

    /// Removes the array with this name.
    pub(super) fn forget(&mut self, name: &str) {
        self.used.remove(name);
    }

    /// Reads the array with this name as a value of a type.
    pub(super) fn read(&self, name: &str, ty: &Type) -> Option<Result<Value, Problem>> {
        let &(file, at) = self.used.get(name)?;
        let (shown, archive) = self.files.get(file)?;
        let bad = |error: arrays::Error| format!("`{shown}`: {error}");
        let array = match archive.array(at) {
            Ok(array) => array,
            Err(error) => return Some(Err(Problem::Unreadable(bad(error)))),
        };
        if let Err(is) = super::takes(ty, array.dtype(), array.shape()) {
            return Some(Err(Problem::Misfit(format!("and in `{shown}` {is}"))));
        }
        Some(super::read(array, ty, bad).map_err(Problem::Unreadable))
    }
}

/// Parses a position such as `i0`.
pub(super) fn position(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('i')?;
    let position: usize = digits.parse().ok()?;
    // `i01` is not a position.
    (position.to_string() == digits).then_some(position)
}

/// Returns a warning about arrays that no parameter takes.
fn warning(file: &str, unknown: &[&str], params: &[Param]) -> Option<String> {
    let first = unknown.first()?;
    let what = match unknown.len() {
        1 => "an array".to_owned(),
        many => format!("{many} arrays"),
    };
    let names = shortened(unknown.iter().map(|name| format!("`{name}`")), ", ");
    let mut message = format!("`{file}` has {what} that no parameter takes: {names}");
    if let Some(near) = nearest(first, params.iter().map(|param| param.name.as_str())) {
        message += &format!("; did you mean `{near}` by `{first}`?");
    }
    Some(message)
}
