//! Documents that are opened and closed, and the blocks of Relay in those of other languages.

use std::{sync::Arc, time::Duration};

use semantics::SourceFile;
use syntax::ParseLimits;
use tokio::sync::mpsc::unbounded_channel;
use tower_lsp::lsp_types::{NumberOrString, TextDocumentItem, Url};

use super::{LARGE, Owner};
use crate::{
    embedded::{self, Language},
    lsp::{
        documents::{Document, Host, Origin},
        outgoing::{Message, Progress},
    },
    panics,
};

/// The number of files that are added to the database at a time.
const NEW_FILES: usize = 32;

impl Owner {
    pub(super) fn open(&mut self, item: TextDocumentItem) {
        self.finish_requests();
        let uri = item.uri.clone();
        if let Some(older) = Arc::make_mut(&mut self.documents).remove(&uri) {
            self.log(format!("{uri} was opened twice; the newer text replaces the older one"));
            self.close_files(&older);
        }
        let language = Language::from_id(&item.language_id);
        let file = self.new_file();
        self.db.set_section(file, self.session.code_views.section(&uri, &item.text));
        let state = self.published.entry(uri.clone()).or_default();
        state.dirty = true;
        if self.client.progress && item.text.len() >= LARGE {
            let (done, messages) = unbounded_channel();
            state.progress = Some(done);
            let name = uri.path().rsplit('/').next().unwrap_or_default().to_owned();
            self.outgoing.send(Message::Progress(Progress {
                token: NumberOrString::String(format!("relay/load/{uri}/{}", item.version)),
                title: format!("Reading {name}"),
                cancellable: false,
                create: true,
                delay: Duration::ZERO,
                messages,
            }));
        }
        self.opened += 1;
        let host = language.map(|language| Host { language, blocks: Vec::new() });
        let mut document = Document::new(item, file, self.opened, host);
        document.write_all(&mut self.db, self.config.limits);
        self.parse(document.file);
        Arc::make_mut(&mut self.documents).insert(uri.clone(), document);
        self.project_opened(&uri);
        self.embed(&uri, false);
    }

    pub(super) fn close(&mut self, uri: &Url) {
        if self.documents.get(uri).is_none() {
            self.log(format!("{uri} was closed but is not open"));
            return;
        }
        self.finish_requests();
        self.session.tokens.forget(uri);
        self.session.live.forget(uri);
        self.session.code_views.forget(uri);
        let removed = Arc::make_mut(&mut self.documents).remove(uri);
        if let Some(document) = removed {
            self.close_files(&document);
        }
        let published = self.published.remove(uri).and_then(|state| state.items);
        if published.is_some_and(|items| !items.is_empty()) {
            self.outgoing.diagnostics(uri, &[], None);
        }
    }

    /// Returns an empty file.
    fn new_file(&mut self) -> SourceFile {
        let limits = ParseLimits::default();
        if self.closed_files.is_empty() {
            self.closed_files = self.db.add_closed_files(NEW_FILES);
        }
        match self.closed_files.pop() {
            Some(file) => {
                self.db.set_text(file, "", limits);
                file
            }
            None => self.db.add_file("", limits),
        }
    }

    fn close_file(&mut self, file: SourceFile) {
        self.db.close(file);
        self.just_closed.push(file);
        self.has_garbage = true;
    }

    /// Closes the files of a document that is no longer open.
    fn close_files(&mut self, document: &Document) {
        self.close_file(document.file);
        let blocks = document.host.iter().flat_map(|host| &host.blocks);
        blocks.for_each(|block| self.close_file(block.file));
    }

    /// Finds the blocks of a document of another language again. Blocks keep their numbers, so that an
    /// edit is reparsed in the block that it changes. With `reparse`, they are parsed anew.
    pub(super) fn embed(&mut self, uri: &Url, reparse: bool) {
        let Some(host) = self.documents.get(uri).cloned() else { return };
        let Some(Host { language, blocks: previous }) = host.host.as_deref() else { return };
        let limits = self.config.limits;
        let found = match self.config.embedded && host.is_in_sync() {
            true => panics::caught(|| embedded::blocks(&host.text, *language)).unwrap_or_default(),
            false => Vec::new(),
        };
        if host.text.len() > embedded::MAX_HOST && self.config.embedded {
            let most = embedded::MAX_HOST >> 20;
            self.log(format!("{uri} has more than {most} MiB and is not searched for Relay"));
        }
        let levels = self.config.levels(&host.project);
        let mut blocks = Vec::with_capacity(found.len());
        for (number, block) in found.into_iter().enumerate() {
            let mut part = match previous.get(number) {
                Some(part) => part.clone(),
                None => host.block(self.new_file()),
            };
            part.set_text(&mut self.db, &block.text, limits);
            if reparse {
                part.write_all(&mut self.db, limits);
            }
            (part.version, part.project) = (host.version, host.project.clone());
            part.origin = Some(Arc::new(Origin::new(&host, block.mapping)));
            if *part.file.levels(&self.db) != levels {
                self.db.set_levels(part.file, &levels);
            }
            blocks.push(part);
        }
        for gone in previous.iter().skip(blocks.len()) {
            self.close_file(gone.file);
        }
        if let Some(document) = Arc::make_mut(&mut self.documents).get_mut(uri) {
            document.host = Some(Arc::new(Host { language: *language, blocks }));
        }
    }
}
