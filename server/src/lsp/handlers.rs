//! The handlers of requests, a file for each: they convert parameters, query the analysis, and convert
//! its result.

pub(super) mod actions;
pub(super) mod between;
pub(super) mod binding;
pub(super) mod calls;
pub(super) mod code_view;
pub(super) mod completion;
pub(super) mod definition;
pub(super) mod diagnostics;
pub(super) mod folding;
pub(super) mod format;
pub(super) mod health;
pub(super) mod hover;
pub(super) mod inlay;
pub(super) mod lens;
pub(super) mod linked;
pub(super) mod links;
pub(super) mod occurrences;
pub(super) mod reading;
pub(super) mod references;
pub(super) mod rename;
pub(super) mod saved;
pub(super) mod selection;
pub(super) mod shapes;
pub(super) mod signature;
pub(super) mod symbols;
pub(super) mod tokens;
pub(super) mod type_at;
pub(super) mod workspace;

use std::path::{Path, PathBuf};

use semantics::Code;
use serde::Deserialize;
use syntax::{Encoding, TextSize};
use tower_lsp::{
    jsonrpc::{Error, ErrorCode, Result},
    lsp_types::*,
};

use super::{convert, documents::Document, snapshot::Snapshot};
use crate::{
    files::Folder,
    input::{self, Input},
    paths,
};

/// The parameters of requests about a document.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    text_document: TextDocumentIdentifier,
}

/// The parameters of requests about a file.
#[derive(Clone, Deserialize)]
pub(super) struct FileParams {
    uri: Url,
}

/// Returns the capabilities of the server.
pub(super) fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(convert::encoding_kind(encoding)),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(actions::kinds()),
            resolve_provider: Some(true),
            ..CodeActionOptions::default()
        })),
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some(
                ["%", "@", ".", "(", ",", "=", "\"", "#", "["].map(str::to_owned).to_vec(),
            ),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".into(), ",".into(), "=".into()]),
            retrigger_characters: Some(vec![")".into()]),
            ..SignatureHelpOptions::default()
        }),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        document_on_type_formatting_provider: Some(DocumentOnTypeFormattingOptions {
            first_trigger_character: "\n".into(),
            more_trigger_character: Some(vec![";".into(), "}".into()]),
        }),
        linked_editing_range_provider: Some(LinkedEditingRangeServerCapabilities::Simple(true)),
        diagnostic_provider: Some(DiagnosticServerCapabilities::Options(DiagnosticOptions {
            identifier: Some("relay".into()),
            inter_file_dependencies: false,
            workspace_diagnostics: false,
            ..DiagnosticOptions::default()
        })),
        semantic_tokens_provider: Some(tokens::options().into()),
        document_highlight_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: None }),
        execute_command_provider: Some(shapes::commands()),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: None,
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

impl Snapshot {
    /// Returns an open document whose text is that of the client.
    pub(super) fn document(&self, uri: &Url) -> Result<&Document> {
        let document = self.any_document(uri)?;
        match &document.problem {
            // An editor shows the diagnostic, and no message for each of its requests.
            Some(problem) if !document.is_in_sync() => Err(Error {
                code: ErrorCode::ContentModified,
                message: problem.message.clone().into(),
                data: None,
            }),
            _ => Ok(document),
        }
    }

    /// Returns an open document, also one whose text is lost.
    fn any_document(&self, uri: &Url) -> Result<&Document> {
        self.documents
            .get(uri)
            .ok_or_else(|| Error::invalid_params(format!("the document {uri} is not open")))
    }

    /// Returns an open document and the offset of a position in it. Of a document of another language,
    /// it is the block at the position; outside of its blocks, the document, whose own tree is empty.
    pub(super) fn place(
        &self,
        params: &TextDocumentPositionParams,
    ) -> Result<(&Document, TextSize)> {
        let document = self.document(&params.text_document.uri)?;
        let position = params.position;
        let offset = document.offset(position, self.encoding).ok_or_else(|| {
            Error::invalid_params(format!(
                "line {} does not exist: the document has {} lines",
                position.line,
                document.lines.line_count()
            ))
        })?;
        Ok(document.block_at(offset).unwrap_or((document, offset)))
    }

    /// Reads a file.
    fn read(&self, path: &Path) -> Result<Input> {
        let input = input::read_file(path, self.config.limits.code as u64);
        let input = input.map_err(Error::invalid_params)?;
        match &input.problem {
            Some(problem) if problem.code != Code::InvalidUtf8 => {
                Err(Error::invalid_params(problem.message.clone()))
            }
            _ => Ok(input),
        }
    }

    /// Converts a range in an open document, or a block of one, or in the prelude to a location.
    pub(super) fn location(
        &self,
        file: semantics::SourceFile,
        range: syntax::TextRange,
    ) -> Option<Location> {
        for (uri, document) in &*self.documents {
            if let Some(part) = document.parts().iter().find(|part| part.file == file) {
                return Some(Location::new(uri.clone(), part.range(range, self.encoding)));
            }
        }
        let (name, text) = semantics::prelude::source(self.db.prelude_number(file)?);
        let lines = syntax::LineIndex::new(&text);
        let range = convert::range(&lines, range, self.encoding);
        Some(Location::new(prelude_uri(&name, &text)?, range))
    }
}

/// Returns the path of a document, unless it is of no file.
fn path_on_machine(uri: &Url, path: Option<PathBuf>) -> Result<PathBuf> {
    path.ok_or_else(|| Error::invalid_params(format!("{uri} is not a file of this machine")))
}

/// Returns a file of the prelude, which is written to the cache folder so that an editor can open it.
fn prelude_uri(name: &str, text: &str) -> Option<Url> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    std::fs::create_dir_all(&cache).ok()?;
    // The cache may be a folder that all users share, such as `/tmp`.
    let own = cache.join("relay-analyzer");
    Folder::private(&own).ok()?;
    let path = own.join(env!("CARGO_PKG_VERSION"));
    let folder = Folder::private(&path).ok()?;
    if !folder.read(name, text.len() as u64).is_ok_and(|cached| cached == text) {
        folder.target(name).write_text(text).ok()?;
    }
    paths::uri_of(path.join(name))
}
