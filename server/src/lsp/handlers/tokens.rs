//! `textDocument/semanticTokens/full`, `…/full/delta` and `…/range`

use std::sync::Arc;

use ide::highlight::{TokenKind, highlight, highlight_range};
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
        SemanticTokensDeltaParams, SemanticTokensFullOptions, SemanticTokensLegend,
        SemanticTokensOptions, SemanticTokensParams, SemanticTokensRangeParams,
        SemanticTokensRangeResult, Url,
    },
};

use crate::lsp::{
    semantic_tokens::{EncodedTokens, Form, encode_once},
    snapshot::Snapshot,
    transport::RawResponse,
};

/// Returns the capabilities, with the names of the types and modifiers.
pub(in crate::lsp) fn options() -> SemanticTokensOptions {
    let token_types = TokenKind::NAMES.map(SemanticTokenType::new);
    // In the order of the bits of `ide::highlight::modifier`.
    let token_modifiers = vec![
        SemanticTokenModifier::DECLARATION,
        SemanticTokenModifier::DEFINITION,
        SemanticTokenModifier::READONLY,
        SemanticTokenModifier::DEFAULT_LIBRARY,
        SemanticTokenModifier::new("shadowed"),
        SemanticTokenModifier::new("unused"),
    ];
    SemanticTokensOptions {
        legend: SemanticTokensLegend { token_types: token_types.into(), token_modifiers },
        range: Some(true),
        full: Some(SemanticTokensFullOptions::Delta { delta: Some(true) }),
        ..SemanticTokensOptions::default()
    }
}

/// The response to a request for a delta.
pub(in crate::lsp) enum DeltaResponse {
    /// The edits of the tokens that the client has.
    Delta(SemanticTokensDelta),
    /// All tokens, for a client whose tokens are no longer cached.
    Full(RawResponse),
}

fn form(snapshot: &Snapshot) -> Form {
    Form { encoding: snapshot.encoding, without_syntax: snapshot.client.has_grammar }
}

/// Returns the tokens of a document, now cached, and those that were cached before.
fn current(
    snapshot: &Snapshot,
    uri: &Url,
) -> Result<(Arc<EncodedTokens>, Option<Arc<EncodedTokens>>)> {
    let document = snapshot.document(uri)?;
    let cache = &snapshot.session.tokens;
    let previous = cache.get(uri);
    let old = previous.as_ref().map(|previous| &previous.highlights);
    let highlights = highlight(&snapshot.db, document.file, old);
    let lines = &document.lines;
    let encoded = cache.encode(uri, highlights, lines, form(snapshot), previous.as_deref());
    Ok((encoded, previous))
}

pub(in crate::lsp) fn full(
    snapshot: &Snapshot,
    params: SemanticTokensParams,
) -> Result<RawResponse> {
    let (encoded, _) = current(snapshot, &params.text_document.uri)?;
    Ok(RawResponse(encoded.json()))
}

pub(in crate::lsp) fn delta(
    snapshot: &Snapshot,
    params: SemanticTokensDeltaParams,
) -> Result<DeltaResponse> {
    let (encoded, previous) = current(snapshot, &params.text_document.uri)?;
    let known = previous.filter(|previous| previous.id == params.previous_result_id);
    Ok(match known {
        Some(previous) => DeltaResponse::Delta(SemanticTokensDelta {
            result_id: Some(encoded.id.clone()),
            edits: encoded.edits_from(&previous),
        }),
        None => DeltaResponse::Full(RawResponse(encoded.json())),
    })
}

pub(in crate::lsp) fn range(
    snapshot: &Snapshot,
    params: SemanticTokensRangeParams,
) -> Result<Option<SemanticTokensRangeResult>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let encoding = snapshot.encoding;
    let Some(start) = document.offset(params.range.start, encoding) else { return Ok(None) };
    let end = document.offset(params.range.end, encoding).unwrap_or(document.lines.text_len());
    let requested = TextRange::new(start, end.max(start));
    let mut highlights = highlight_range(&snapshot.db, document.file, requested);
    for segment in &mut highlights.segments {
        let range = requested.checked_sub(segment.start);
        let is_inside = |range: TextRange| {
            let range = range + segment.start;
            range.start() < requested.end() && requested.start() < range.end()
        };
        // Fast path: a segment that is entirely in the range keeps its shared words.
        if range.is_none() || !segment.words.list.iter().all(|word| is_inside(word.range)) {
            segment.words = Arc::new(segment.words.only(is_inside));
        }
    }
    let data = encode_once(&highlights, &document.lines, form(snapshot));
    Ok(Some(SemanticTokensRangeResult::Tokens(SemanticTokens { result_id: None, data })))
}
