//! The files of a command, compared before any of them is written.

use std::path::{Path, PathBuf};

use weights::Stamp;

use super::{Identity, Target};
use crate::input::shown;

/// What a command reads and writes, by identity: also through links and by other names. Without this
/// comparison, `lift m.relay -o m.relay` would destroy the weights that it has not written elsewhere.
#[derive(Default)]
pub(crate) struct Claims {
    inputs: Vec<Input>,
    outputs: Vec<(Identity, PathBuf)>,
}

struct Input {
    identity: Identity,
    path: PathBuf,
    /// The state in which the file was read, for outputs that replace it.
    stamp: Option<Stamp>,
    /// True if an output may replace it, because that loses nothing.
    is_replaceable: bool,
}

impl Claims {
    /// Adds an input. One that does not exist cannot be overwritten.
    pub(crate) fn read(mut self, path: &Path) -> Claims {
        self.add(path, None, false);
        self
    }

    /// Adds inputs.
    pub(crate) fn read_all<'p>(self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Claims {
        paths.into_iter().fold(self, |claims, path| claims.read(path))
    }

    /// Adds an input that an output may replace, in the state in which it was read: what is written
    /// contains everything that was read.
    pub(crate) fn read_and_replace(mut self, path: &Path, stamp: Option<Stamp>) -> Claims {
        self.add(path, stamp, true);
        self
    }

    fn add(&mut self, path: &Path, stamp: Option<Stamp>, is_replaceable: bool) {
        let identity = match path.as_os_str() == "-" {
            true => Identity::of_stdin(),
            false => Identity::at(path),
        };
        if let Ok(identity) = identity {
            self.inputs.push(Input { identity, path: path.to_owned(), stamp, is_replaceable });
        }
    }

    /// Adds an output; `-` is standard output, which destroys nothing that the shell has not.
    ///
    /// # Errors
    /// The message if the file is an input whose content would be lost, or another output, or cannot be
    /// written.
    pub(crate) fn write(&mut self, path: &Path) -> Result<Target, String> {
        let target = Target::new(path).map_err(|error| cannot_write(path, &error))?;
        self.claim(target)
    }

    /// Adds an output that is a regular file, or a new one.
    ///
    /// # Errors
    /// As above, and if it is something else.
    pub(crate) fn write_regular(&mut self, path: &Path) -> Result<Target, String> {
        let target = Target::regular(path).map_err(|error| cannot_write(path, &error))?;
        self.claim(target)
    }

    fn claim(&mut self, target: Target) -> Result<Target, String> {
        let path = target.path.clone();
        if path.as_os_str() == "-" {
            return Ok(target);
        }
        // Several outputs may be discarded.
        if is_character_device(&path) {
            return Ok(target);
        }
        let identity = Identity::of_target(&path).map_err(|error| cannot_write(&path, &error))?;
        if let Some((_, other)) = self.outputs.iter().find(|(known, _)| *known == identity) {
            let message = match *other == path {
                true => format!("`{}` is named for two outputs", shown(&path)),
                false => format!("`{}` and `{}` are the same file", shown(other), shown(&path)),
            };
            return Err(format!("{message}, of which one would be lost: name another file"));
        }
        self.outputs.push((identity.clone(), path.clone()));
        let inputs = || self.inputs.iter().filter(|input| input.identity == identity);
        if let Some(input) = inputs().find(|input| !input.is_replaceable) {
            let message = match input.path == path {
                true => format!("`{}` is an input of this command", shown(&path)),
                false => format!("`{}` is the input `{}`", shown(&path), shown(&input.path)),
            };
            return Err(format!("{message}, and its content would be lost: name another file"));
        }
        Ok(match inputs().find_map(|input| input.stamp) {
            Some(stamp) => target.in_state(stamp),
            None => target,
        })
    }
}

/// Formats an error of an output.
pub(crate) fn cannot_write(path: &Path, error: impl std::fmt::Display) -> String {
    format!("cannot write `{}`: {error}", shown(path))
}

fn is_character_device(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(path).is_ok_and(|data| data.file_type().is_char_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
