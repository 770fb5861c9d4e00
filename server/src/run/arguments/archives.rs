//! Arguments from files that hold several arrays.

use std::collections::{HashMap, HashSet};

use arrays::{Archive, FileReader};
use interpreter::Value;
use types::Type;

use super::{Inputs, Lack, Param, leaves_of, misfit, nearest, shortened};

/// The files of a run. Of their arrays those are read that a parameter takes, when it does.
pub(super) struct Files {
    files: Vec<(String, Archive<FileReader>)>,
    /// The arrays that a parameter may take: in which file, and where.
    used: HashMap<String, (usize, usize)>,
    /// What is odd about the files, each a sentence.
    pub(super) warnings: Vec<String>,
}

/// Why an array is not the argument that it is taken for.
pub(super) enum Problem {
    /// It is of another type.
    Misfit(String),
    /// It cannot be read.
    Unreadable(String),
}

impl Problem {
    /// As what a parameter lacks.
    pub(super) fn lack(self, param: &Param) -> Lack {
        match self {
            Problem::Misfit(is) => misfit(param, &is),
            Problem::Unreadable(message) => param.lack(message),
        }
    }
}

impl Files {
    /// Opens the files, and finds what is for parameters. Where several files have an array of one
    /// name, the last one counts, and archives count more than files of TVM.
    ///
    /// # Errors
    /// A file cannot be read, or is none of those.
    pub(super) fn open(inputs: &Inputs, params: &[Param]) -> Result<Files, Lack> {
        let mut all = Files { files: Vec::new(), used: HashMap::new(), warnings: Vec::new() };
        let names: HashSet<&str> = params.iter().map(|param| param.name.as_str()).collect();
        let count: usize = params.iter().map(|param| leaves_of(&param.ty)).sum();
        let is_known =
            |name: &str| names.contains(name) || position(name).is_some_and(|k| k < count);
        let tvm = inputs.params.iter().map(|named| (named, true));
        let numpy = inputs.archives.iter().map(|named| (named, false));
        for (named, is_tvm) in tvm.chain(numpy) {
            let source = named.open()?;
            let opened = if is_tvm { Archive::params(source) } else { Archive::npz(source) };
            let shown = named.path.display().to_string();
            let archive = opened.map_err(|error| format!("`{shown}`: {error}"))?;
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

    /// The names of all arrays.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|(_, archive)| archive.names()).map(String::as_str)
    }

    /// Whether there is an array of this name, for a parameter.
    pub(super) fn has(&self, name: &str) -> bool {
        self.used.contains_key(name)
    }

    /// Takes no array of this name.
    pub(super) fn forget(&mut self, name: &str) {
        self.used.remove(name);
    }

    /// The array of this name, which is for a type.
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

/// The position that `i0`, `i1`, … means.
pub(super) fn position(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('i')?;
    let position: usize = digits.parse().ok()?;
    // `i01` would be looked for in vain.
    (position.to_string() == digits).then_some(position)
}

/// What is said of arrays that no parameter takes.
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
