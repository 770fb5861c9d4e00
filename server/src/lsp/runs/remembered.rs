//! Arguments that are remembered between runs, in `.relay/run.json` of the workspace folder:
//!
//! ```json
//! {
//!   "models/net.relay": {
//!     "@main": { "inputs": { "x": "image.npy", "n": 3 }, "params": ["net.params"], "seed": 1 },
//!     "expression": { "seed": 7 }
//!   }
//! }
//! ```
//!
//! Paths are relative to the folder. Parameters without an argument are random, drawn from the seed.

use std::{
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use serde_json::{Map, Value as Json};
use tower_lsp::lsp_types::Url;

use crate::run::{
    arguments::{GivenArgument, Inputs},
    files::ArgumentFile,
};
use crate::{
    files::{Folder, WriteError},
    paths,
    protocol::RememberedArguments,
};

/// The path of the file in the workspace folder.
const FILE: &str = ".relay/run.json";
/// The components of [`FILE`].
const PARTS: (&str, &str) = (".relay", "run.json");
/// Held while the file is updated: several runs may end at once.
static UPDATING: Mutex<()> = Mutex::new(());
/// The largest size of the file that is read, in bytes.
const MAX_SIZE: u64 = 16 << 20;

impl RememberedArguments {
    /// Returns these arguments, and those of `other` that are missing here.
    pub(in crate::lsp) fn or(mut self, other: RememberedArguments) -> RememberedArguments {
        for (name, value) in other.inputs {
            self.inputs.entry(name).or_insert(value);
        }
        if self.archives.is_empty() {
            self.archives = other.archives;
        }
        if self.params.is_empty() {
            self.params = other.params;
        }
        self.seed = self.seed.or(other.seed);
        self
    }

    /// Returns the files that these arguments name, relative to the folder.
    pub(in crate::lsp) fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let arrays = self.inputs.values().filter_map(Json::as_str).map(Path::new);
        let archives = self.archives.iter().chain(&self.params).map(PathBuf::as_path);
        arrays.chain(archives).map(|path| folder.join(path)).collect()
    }

    /// Returns these arguments, and the recalled ones that are missing here, as inputs of a run.
    /// Recalled files must lie in the folder, unless `outside` allows others: they are named by the
    /// workspace, which may come from an untrusted source.
    ///
    /// # Errors
    /// An argument is neither a number, nor a list, nor a path.
    pub(in crate::lsp) fn inputs(
        &self,
        recalled: &RememberedArguments,
        folder: &Path,
        outside: bool,
    ) -> Result<Inputs, String> {
        let own = self.inputs.iter().map(|(name, value)| (name, value, false));
        let others = recalled.inputs.iter().filter(|(name, _)| !self.inputs.contains_key(*name));
        let others = others.map(|(name, value)| (name, value, !outside));
        let mut given = Vec::new();
        for (name, value, is_remote) in own.chain(others) {
            given.push(GivenArgument::of_json(name, value, folder, is_remote)?);
        }
        let all = |own: &[PathBuf], others: &[PathBuf]| {
            let (paths, is_remote) = if own.is_empty() { (others, !outside) } else { (own, false) };
            let within = is_remote.then(|| folder.to_owned());
            let named = |path: &PathBuf| ArgumentFile {
                path: folder.join(path),
                within: within.clone(),
                part: None,
            };
            paths.iter().map(named).collect()
        };
        Ok(Inputs {
            given,
            archives: all(&self.archives, &recalled.archives),
            params: all(&self.params, &recalled.params),
            seed: Some(self.seed.or(recalled.seed).unwrap_or(0)),
        })
    }
}

/// The entry of a function in the file.
pub(in crate::lsp) struct Entry {
    folder: Option<PathBuf>,
    file: String,
    function: String,
}

type Functions = Map<String, Json>;

impl Entry {
    /// Returns the entry of a function of a document; that of a bare expression has no name. Without a folder, nothing is
    /// remembered.
    pub(in crate::lsp) fn new(folder: Option<&Path>, uri: &Url, function: &str) -> Entry {
        let path = paths::of_uri(uri);
        let below =
            folder.and_then(|folder| Some(path.as_ref()?.strip_prefix(folder).ok()?.to_owned()));
        let parts = below.iter().flat_map(|path| path.iter());
        let parts: Vec<_> = parts.map(|part| part.to_string_lossy().into_owned()).collect();
        let function = if function.is_empty() { "expression" } else { function };
        Entry {
            folder: below.is_some().then(|| folder.map(Path::to_owned)).flatten(),
            file: parts.join("/"),
            function: function.to_owned(),
        }
    }

    /// Returns the folder to which paths are relative.
    pub(in crate::lsp) fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(""))
    }

    fn read(&self) -> Result<Map<String, Json>, String> {
        let Some(folder) = &self.folder else { return Ok(Map::new()) };
        let path = folder.join(FILE);
        let bad = |error: &dyn std::fmt::Display| format!("`{}`: {error}", path.display());
        let read = match Folder::open(&folder.join(PARTS.0)) {
            Ok(folder) => folder.read(PARTS.1, MAX_SIZE),
            Err(error) => Err(error),
        };
        match read {
            Ok(text) => serde_json::from_str(&text).map_err(|error| bad(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Map::new()),
            Err(error) => Err(bad(&error)),
        }
    }

    /// Returns the remembered arguments; none if the file does not exist.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(in crate::lsp) fn recall(&self) -> Result<RememberedArguments, String> {
        let all = self.read()?;
        match all.get(&self.file).and_then(|functions| functions.get(&self.function)) {
            Some(known) => serde_json::from_value(known.clone())
                .map_err(|error| format!("`{FILE}`, {} of {}: {error}", self.function, self.file)),
            None => Ok(RememberedArguments::default()),
        }
    }

    /// Writes the arguments to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(in crate::lsp) fn write(&self, remembered: &RememberedArguments) -> Result<(), String> {
        let Some(folder) = &self.folder else {
            return Err("arguments can be remembered only for files in a folder".to_owned());
        };
        let path = folder.join(FILE);
        let _updating = UPDATING.lock();
        let mut all = self.read()?;
        let functions = all.entry(&*self.file).or_insert_with(|| Functions::new().into());
        if !functions.is_object() {
            *functions = Functions::new().into();
        }
        let value = serde_json::to_value(remembered).map_err(|error| error.to_string())?;
        functions[&self.function] = value;
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        Folder::create(&folder.join(PARTS.0))
            .map_err(WriteError::from)
            .and_then(|folder| folder.target(PARTS.1).write_text(&(text + "\n")))
            .map(drop)
            .map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
    }
}
