//! Documents that are opened and closed, and the blocks of Relay in those of other languages.

use std::{sync::Arc, time::Duration};

use semantics::SourceFile;
use syntax::{LineIndex, ParseLimits, Text};
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

impl Owner {
    pub(super) fn open(&mut self, item: TextDocumentItem) {
        self.finish_requests();
        let uri = item.uri;
        if self.documents.get(&uri).is_some() {
            self.log(format!("{uri} was opened twice; the newer text replaces the older one"));
        }
        let language = Language::from_id(&item.language_id);
        let file = match self.files.get(&uri) {
            Some(&file) => file,
            None => {
                let file = self.db.add_file("", ParseLimits::default());
                self.files.insert(uri.clone(), file);
                file
            }
        };
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
        let mut document = Document {
            file,
            opened: self.opened,
            version: item.version,
            lines: Arc::new(LineIndex::new(&item.text)),
            text: item.text.into(),
            project: Arc::default(),
            problem: None,
            host: language.map(|language| Arc::new(Host { language, blocks: Vec::new() })),
            origin: None,
        };
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
            self.db.set_section(document.file, None);
            self.db.clear(document.file);
            document.host.iter().flat_map(|host| &host.blocks).for_each(|b| self.db.clear(b.file));
        }
        let published = self.published.remove(uri).and_then(|state| state.items);
        if published.is_some_and(|items| !items.is_empty()) {
            self.outgoing.diagnostics(uri, &[], None);
        }
    }

    /// Returns the file of a block by its number in the document.
    fn block_file(&mut self, uri: &Url, number: usize) -> SourceFile {
        let files = self.block_files.entry(uri.clone()).or_default();
        while files.len() <= number {
            files.push(self.db.add_file("", ParseLimits::default()));
        }
        files[number]
    }

    /// Finds the blocks of a document of another language again. Blocks keep their numbers, so that an
    /// edit is reparsed in the block that it changes. With `reparse`, they are parsed anew.
    pub(super) fn embed(&mut self, uri: &Url, reparse: bool) {
        let Some(host) = self.documents.get(uri).cloned() else { return };
        let Some(Host { language, blocks: previous }) = host.host.as_deref() else { return };
        let limits = self.config.limits;
        let found = match self.config.embedded {
            true => panics::caught(|| embedded::blocks(&host.text, *language)).unwrap_or_default(),
            false => Vec::new(),
        };
        if host.text.len() > embedded::MAX_HOST && self.config.embedded {
            let most = embedded::MAX_HOST >> 20;
            self.log(format!("{uri} has more than {most} MB and is not searched for Relay"));
        }
        let levels = self.config.levels(&host.project);
        let mut blocks = Vec::with_capacity(found.len());
        for (number, block) in found.into_iter().enumerate() {
            let mut part = match previous.get(number) {
                Some(part) => part.clone(),
                None => {
                    let (text, lines) = (Text::default(), Arc::new(LineIndex::new("")));
                    let file = self.block_file(uri, number);
                    Document { file, text, lines, problem: None, host: None, ..host.clone() }
                }
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
            self.db.clear(gone.file);
        }
        if let Some(document) = Arc::make_mut(&mut self.documents).get_mut(uri) {
            document.host = Some(Arc::new(Host { language: *language, blocks }));
        }
    }
}
