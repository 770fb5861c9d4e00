//! The settings of the files of a command: those of `relay.toml`, below the arguments.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;

use super::Failure;
use crate::{
    input,
    project::{FILE_NAME, Project, ProjectFile, Projects},
    report::escape,
};

#[derive(Args, Clone)]
pub(super) struct SettingsArgs {
    /// Use the settings of this file, and not those of the nearest `relay.toml`
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Ignore `relay.toml`
    #[arg(long, conflicts_with = "config")]
    pub(super) isolated: bool,
}

/// The settings of files, each of whose `relay.toml` is read once.
pub(super) struct FileSettings<'a> {
    args: &'a SettingsArgs,
    fixed: Option<Arc<ProjectFile>>,
    projects: Projects,
}

impl<'a> FileSettings<'a> {
    pub(super) fn new(args: &'a SettingsArgs) -> FileSettings<'a> {
        let fixed = args.config.as_deref().map(|path| Arc::new(ProjectFile::read(path)));
        FileSettings { args, fixed, projects: Projects::default() }
    }

    /// Returns the settings of a file; those of the current folder for standard input.
    ///
    /// # Errors
    /// The file with the settings has problems, which are printed.
    pub(super) fn of(&mut self, path: &Path) -> Result<Arc<Project>, Failure> {
        if let Some(config) = self.args.config.as_deref()
            && let Err(error) = std::fs::metadata(config)
        {
            let message = input::cannot_read(config, &error);
            return Err(format!("{message}: `--config` names the file with the settings").into());
        }
        match self.loaded(path) {
            None => Ok(Arc::default()),
            Some(loaded) if loaded.problems.is_empty() => Ok(loaded.project.clone()),
            Some(loaded) => {
                // A failure to write cannot be reported.
                let _ = anstream::stderr().write_all(loaded.excerpts().as_bytes());
                Err(Failure::Message(refusal(&loaded)))
            }
        }
    }

    /// Returns the file with the settings of a file.
    pub(super) fn loaded(&mut self, path: &Path) -> Option<Arc<ProjectFile>> {
        if self.args.isolated {
            return None;
        }
        if self.fixed.is_some() {
            return self.fixed.clone();
        }
        let path = std::path::absolute(path).ok()?;
        self.projects.of_folder(path.parent()?)
    }

    /// Returns the files with settings that were read.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let files = self.fixed.iter().cloned().chain(self.projects.files());
        files.map(|loaded| loaded.path.clone()).collect()
    }
}

/// Returns the message for a file with settings that cannot be used.
pub(super) fn refusal(loaded: &ProjectFile) -> String {
    let count = ide::words::counted(loaded.problems.len() as u64, "problem");
    format!(
        "`{}` has {count}: correct it, or ignore `{FILE_NAME}` with `--isolated`",
        escape::terminal(&loaded.shown_path())
    )
}
