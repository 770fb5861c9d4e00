//! The settings of projects: `relay.toml` of each document, and of the session.
//!
//! The levels of codes and the style of formatting are those of the `relay.toml` that is nearest to a
//! document. The other settings hold for the whole session: they are those of the first workspace
//! folder that has the file.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use clock::Instant;
use syntax::LineIndex;
use tower_lsp::lsp_types::{Diagnostic, DiagnosticSeverity, MessageType, NumberOrString, Url};

use super::Owner;
use crate::{
    lsp::{convert, outgoing::Message},
    paths,
    project::{FILE_NAME, Project, ProjectFile, Projects},
};

/// The age at which the files are read again for a client that cannot watch them.
const STALE: Duration = Duration::from_secs(2);

/// The files with settings that were read.
#[derive(Default)]
pub(super) struct ProjectState {
    projects: Projects,
    /// The time at which the files were read; `None` before the session has started.
    read: Option<Instant>,
    /// The published problems.
    published: BTreeMap<Url, Vec<Diagnostic>>,
}

impl ProjectState {
    /// Returns true if the files were read.
    pub(super) fn is_read(&self) -> bool {
        self.read.is_some()
    }
}

impl Owner {
    /// Returns the settings of the first workspace folder that has some.
    fn folder_project(&mut self) -> Option<Arc<Project>> {
        let folders = self.session.workspace.folders();
        let found = folders.iter().find_map(|folder| self.projects.projects.of_folder(folder));
        found.map(|loaded| loaded.project.clone())
    }

    /// Returns the settings that hold for the session.
    pub(super) fn session_project(&mut self) -> Arc<Project> {
        if let Some(project) = self.folder_project() {
            return project;
        }
        let mut uris: Vec<&Url> = match self.session.workspace.folders().is_empty() {
            true => self.documents.keys().collect(),
            false => Vec::new(),
        };
        uris.sort();
        let first = uris.first().and_then(|uri| self.documents.get(uri));
        first.map(|document| document.project.clone()).unwrap_or_default()
    }

    /// Returns the settings of a document. A document without a file has those of the workspace.
    fn project_of(&mut self, uri: &Url) -> Arc<Project> {
        let path = paths::of_uri(uri);
        let Some(folder) = path.as_deref().and_then(|path| path.parent()) else {
            return self.folder_project().unwrap_or_default();
        };
        let loaded = self.projects.projects.of_folder(folder);
        loaded.map(|loaded| loaded.project.clone()).unwrap_or_default()
    }

    /// Reads the settings of a document that was opened.
    pub(super) fn project_opened(&mut self, uri: &Url) {
        if self.is_stale() {
            return self.read_projects();
        }
        let project = self.project_of(uri);
        if let Some(document) = Arc::make_mut(&mut self.documents).get_mut(uri) {
            self.db.set_levels(document.file, &self.config.levels(&project));
            document.project = project;
        }
        // The first document decides about a session without folders.
        self.apply_settings();
        self.publish_problems();
    }

    /// Reads the settings of all documents and of the session again.
    pub(super) fn read_projects(&mut self) {
        self.projects.projects = Projects::default();
        self.projects.read = Some(Instant::now());
        let uris: Vec<Url> = self.documents.keys().cloned().collect();
        for uri in uris {
            let project = self.project_of(&uri);
            if let Some(document) = Arc::make_mut(&mut self.documents).get_mut(&uri) {
                document.project = project;
            }
        }
        self.apply_settings();
        self.publish_problems();
    }

    /// Reads the settings again if a file that has them changed.
    pub(super) fn files_changed(&mut self, uris: &[Url]) {
        let is_settings = |uri: &Url| {
            uri.path_segments().and_then(|mut path| path.next_back()) == Some(FILE_NAME)
        };
        if uris.iter().any(is_settings) {
            self.read_projects();
        }
    }

    /// Returns true if the client cannot watch files, and they were not read for a while.
    fn is_stale(&self) -> bool {
        !self.client.watch_files && self.projects.read.is_some_and(|read| read.elapsed() > STALE)
    }

    /// Reads the settings again for a client that cannot watch files.
    pub(super) fn read_stale_projects(&mut self) {
        if self.is_stale() {
            self.read_projects();
        }
    }

    /// Publishes the problems of the files that were read.
    fn publish_problems(&mut self) {
        if !self.projects.is_read() {
            return;
        }
        let mut published = BTreeMap::new();
        for loaded in self.projects.projects.files() {
            let Some(uri) = paths::uri_of(&loaded.path) else { continue };
            if loaded.problems.is_empty() {
                continue;
            }
            let problems = self.problems(&loaded);
            if self.projects.published.get(&uri) != Some(&problems) {
                self.outgoing.diagnostics(&uri, &problems, None);
                self.outgoing.send(Message::Show(MessageType::WARNING, message(&loaded)));
            }
            published.insert(uri, problems);
        }
        for uri in self.projects.published.keys().filter(|uri| !published.contains_key(*uri)) {
            self.outgoing.diagnostics(uri, &[], None);
        }
        self.projects.published = published;
    }

    fn problems(&self, loaded: &ProjectFile) -> Vec<Diagnostic> {
        let lines = LineIndex::new(&loaded.text);
        let convert = |problem: &semantics::Diagnostic| {
            let help = problem.help.iter().map(|help| format!("\nhelp: {help}"));
            Diagnostic {
                range: convert::range(&lines, problem.range, self.client.encoding),
                severity: Some(DiagnosticSeverity::ERROR),
                code: Some(NumberOrString::String(problem.code.name().to_owned())),
                source: Some("relay".to_owned()),
                message: std::iter::once(problem.message.clone()).chain(help).collect(),
                ..Diagnostic::default()
            }
        };
        loaded.problems.iter().map(convert).collect()
    }
}

/// Returns the message for a file with problems, with the place of the first.
fn message(loaded: &ProjectFile) -> String {
    let path = loaded.path.display();
    let Some(first) = loaded.problems.first() else { return String::new() };
    let at = LineIndex::new(&loaded.text).line_column(first.range.start(), syntax::Encoding::Utf32);
    let help = first.help.iter().map(|help| format!("; {help}")).collect::<String>();
    let more = match loaded.problems.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("{path}:{}:{}: {}{help}{more}", at.line + 1, at.column + 1, first.message)
}
