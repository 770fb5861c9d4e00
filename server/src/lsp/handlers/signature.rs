//! `textDocument/signatureHelp`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        ParameterInformation, ParameterLabel, SignatureHelp, SignatureHelpParams,
        SignatureInformation,
    },
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: SignatureHelpParams,
) -> Result<Option<SignatureHelp>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    let found = ide::signature::signature_help(&snapshot.db, document.file, offset);
    let markup = snapshot.client.features.markup.signature;
    let shown = |markdown: String| markup.documentation(markdown);
    Ok(found.map(|found| {
        // Offsets in labels are UTF-16, unlike the negotiated columns of documents.
        let units = |to: syntax::TextSize| {
            let head = found.label.get(..usize::from(to)).unwrap_or_default();
            head.encode_utf16().count() as u32
        };
        let parameters = found.params.iter().map(|(range, doc)| ParameterInformation {
            label: ParameterLabel::LabelOffsets([units(range.start()), units(range.end())]),
            documentation: doc.clone().map(shown),
        });
        let active = found.active.map(|active| active as u32);
        let signature = SignatureInformation {
            parameters: Some(parameters.collect()),
            label: found.label.clone(),
            documentation: found.documentation.clone().map(shown),
            active_parameter: active,
        };
        SignatureHelp {
            signatures: vec![signature],
            active_signature: Some(0),
            active_parameter: active,
        }
    }))
}
