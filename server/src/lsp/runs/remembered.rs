//! Arguments that are remembered from run to run, in `.relay/run.json` of the workspace folder:
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
//! Files are relative to the folder. What has no argument is drawn from the seed.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use tower_lsp::lsp_types::Url;

use super::folder::Folder;
use crate::run::{
    arguments::{Given, Inputs},
    files::Named,
};

/// The file, below the folder.
const FILE: &str = ".relay/run.json";
/// The same, part by part.
const PARTS: (&str, &str) = (".relay", "run.json");
/// Held by the run that changes the file: several may end together.
static CHANGING: Mutex<()> = Mutex::new(());
/// The largest file that is read.
const MOST: u64 = 16 << 20;

/// Arguments of one function.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    /// Numbers, lists of numbers, and names of `.npy` files.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) inputs: Map<String, Json>,
    /// Names of `.npz` files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) archives: Vec<PathBuf>,
    /// Names of `.params` files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) params: Vec<PathBuf>,
    /// What draws the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
}

impl Remembered {
    /// These, and `other` where nothing is said here.
    pub(super) fn or(mut self, other: Remembered) -> Remembered {
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

    /// These, and what is recalled where nothing is said here, as a run takes them. Files that are
    /// recalled must lie in the folder, unless `outside` allows others: whoever has written the
    /// workspace has named them.
    ///
    /// # Errors
    /// An argument is neither a number, nor a list, nor a name.
    pub(super) fn inputs(
        &self,
        recalled: &Remembered,
        folder: &Path,
        outside: bool,
    ) -> Result<Inputs, String> {
        let own = self.inputs.iter().map(|(name, value)| (name, value, false));
        let others = recalled.inputs.iter().filter(|(name, _)| !self.inputs.contains_key(*name));
        let others = others.map(|(name, value)| (name, value, !outside));
        let mut given = Vec::new();
        for (name, value, is_remote) in own.chain(others) {
            let text = match value {
                Json::String(text) => text.clone(),
                Json::Number(_) | Json::Bool(_) | Json::Array(_) => value.to_string(),
                Json::Null | Json::Object(_) => {
                    return Err(format!(
                        "the argument `{name}` is {value}: it takes a number, a list of numbers, \
                         or the name of a `.npy` file"
                    ));
                }
            };
            given.push(Given { name: name.clone(), text, is_remote });
        }
        let all = |own: &[PathBuf], others: &[PathBuf]| {
            let (paths, is_remote) = if own.is_empty() { (others, !outside) } else { (own, false) };
            let within = is_remote.then(|| folder.to_owned());
            let named = |path: &PathBuf| Named { path: folder.join(path), within: within.clone() };
            paths.iter().map(named).collect()
        };
        Ok(Inputs {
            given,
            archives: all(&self.archives, &recalled.archives),
            params: all(&self.params, &recalled.params),
            seed: Some(self.seed.or(recalled.seed).unwrap_or(0)),
            folder: folder.to_owned(),
        })
    }
}

/// Where the arguments of a function are remembered.
pub(super) struct Place {
    folder: Option<PathBuf>,
    file: String,
    function: String,
}

type Functions = Map<String, Json>;

impl Place {
    /// For a function of a document; without a folder, nothing is remembered.
    pub(super) fn new(folder: Option<&Path>, uri: &Url, function: &str) -> Place {
        let path = uri.to_file_path().ok();
        let below =
            folder.and_then(|folder| Some(path.as_ref()?.strip_prefix(folder).ok()?.to_owned()));
        let parts = below.iter().flat_map(|path| path.iter());
        let parts: Vec<_> = parts.map(|part| part.to_string_lossy().into_owned()).collect();
        Place {
            folder: below.is_some().then(|| folder.map(Path::to_owned)).flatten(),
            file: parts.join("/"),
            function: function.to_owned(),
        }
    }

    /// What names of files are relative to.
    pub(super) fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(""))
    }

    fn read(&self) -> Result<Map<String, Json>, String> {
        let Some(folder) = &self.folder else { return Ok(Map::new()) };
        let path = folder.join(FILE);
        let bad = |error: &dyn std::fmt::Display| format!("`{}`: {error}", path.display());
        let read = match Folder::open(&folder.join(PARTS.0)) {
            Ok(folder) => folder.read(PARTS.1, MOST),
            Err(error) => Err(error),
        };
        match read {
            Ok(text) => serde_json::from_str(&text).map_err(|error| bad(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Map::new()),
            Err(error) => Err(bad(&error)),
        }
    }

    /// What is remembered; nothing, if there is nothing.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub(super) fn recall(&self) -> Result<Remembered, String> {
        let all = self.read()?;
        match all.get(&self.file).and_then(|functions| functions.get(&self.function)) {
            Some(known) => serde_json::from_value(known.clone())
                .map_err(|error| format!("`{FILE}`, {} of {}: {error}", self.function, self.file)),
            None => Ok(Remembered::default()),
        }
    }

    /// Remembers.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, remembered: &Remembered) -> Result<(), String> {
        let Some(folder) = &self.folder else {
            return Err("arguments are remembered for files in a folder only".to_owned());
        };
        let path = folder.join(FILE);
        let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.read()?;
        let functions = all.entry(&*self.file).or_insert_with(|| Functions::new().into());
        if !functions.is_object() {
            *functions = Functions::new().into();
        }
        let value = serde_json::to_value(remembered).map_err(|error| error.to_string())?;
        functions[&self.function] = value;
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        Folder::make(&folder.join(PARTS.0))
            .and_then(|folder| folder.replace(PARTS.1, &(text + "\n")))
            .map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
    }
}
