//! `textDocument/completion`, `completionItem/resolve`

use ide::completion::{self, Abilities, Item, ItemKind, Lookup};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        Command, CompletionItem, CompletionItemKind, CompletionItemLabelDetails, CompletionList,
        CompletionParams, CompletionResponse, CompletionTextEdit, InsertTextFormat, Range,
        TextEdit, Url,
    },
};

use crate::lsp::{
    abilities::{Features, PARAMETER_HINTS},
    snapshot::Snapshot,
};

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: CompletionParams,
) -> Result<Option<CompletionResponse>> {
    let (document, offset) = snapshot.place(&params.text_document_position)?;
    if document.host.is_some() {
        return Ok(None);
    }
    let abilities = Abilities { snippets: snapshot.client.features.snippets };
    let found = completion::completions(&snapshot.db, document.file, offset, abilities);
    // The value of `axis=` follows immediately. In `let %x =` a space comes first, which an entry that is
    // accepted directly after the `=` would lack.
    let trigger = params.context.as_ref().and_then(|context| context.trigger_character.as_deref());
    if trigger == Some("=") && !found.is_attribute_value {
        return Ok(None);
    }
    let replace = document.range(found.replace, snapshot.encoding);
    let uri = &params.text_document_position.text_document.uri;
    let items = found.items.into_iter().enumerate();
    let items = items.filter_map(|(order, mut item)| {
        // A string literal may need escapes, or be unable to hold the text.
        item.insert = document.written(&item.insert)?;
        Some(convert(order, item, replace, &snapshot.client.features, uri))
    });
    let items = items.collect();
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete: found.incomplete, items })))
}

fn convert(
    order: usize,
    item: Item,
    replace: Range,
    features: &Features,
    uri: &Url,
) -> CompletionItem {
    let kind = match item.kind {
        ItemKind::Variable => CompletionItemKind::VARIABLE,
        ItemKind::Function => CompletionItemKind::FUNCTION,
        ItemKind::Operator => CompletionItemKind::OPERATOR,
        ItemKind::Constructor => CompletionItemKind::ENUM_MEMBER,
        ItemKind::Attribute => CompletionItemKind::PROPERTY,
        ItemKind::Value => CompletionItemKind::VALUE,
        ItemKind::Type => CompletionItemKind::CLASS,
        ItemKind::Keyword => CompletionItemKind::KEYWORD,
        ItemKind::Snippet => CompletionItemKind::SNIPPET,
        ItemKind::Field => CompletionItemKind::FIELD,
    };
    let takes_arguments =
        matches!(kind, CompletionItemKind::OPERATOR | CompletionItemKind::FUNCTION);
    let shows_signature = features.parameter_hints && item.is_snippet && takes_arguments;
    CompletionItem {
        label: item.label.clone(),
        kind: Some(kind),
        label_details: item.summary.filter(|_| features.label_details).map(|summary| {
            CompletionItemLabelDetails { description: Some(summary), ..Default::default() }
        }),
        detail: item.detail,
        sort_text: Some(format!("{order:04}")),
        filter_text: Some(item.label),
        insert_text_format: item.is_snippet.then_some(InsertTextFormat::SNIPPET),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(replace, item.insert))),
        data: item.lookup.map(|lookup| json!(ItemData::new(lookup, uri))),
        command: shows_signature
            .then(|| Command::new("Show Parameters".to_owned(), PARAMETER_HINTS.to_owned(), None)),
        ..CompletionItem::default()
    }
}

/// The data with which an item is resolved.
#[derive(Serialize, Deserialize)]
struct ItemData {
    uri: Url,
    kind: LookupKind,
    name: String,
    /// The operator of an attribute.
    of: Option<String>,
}

/// What the name of an item means.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LookupKind {
    Operator,
    Attribute,
    Global,
    Constructor,
    Type,
}

impl ItemData {
    fn new(lookup: Lookup, uri: &Url) -> ItemData {
        let (kind, name, of) = match lookup {
            Lookup::Operator(name) => (LookupKind::Operator, name, None),
            Lookup::Attribute(operator, name) => (LookupKind::Attribute, name, Some(operator)),
            Lookup::Global(name) => (LookupKind::Global, name, None),
            Lookup::Constructor(name) => (LookupKind::Constructor, name, None),
            Lookup::Type(name) => (LookupKind::Type, name, None),
        };
        ItemData { uri: uri.clone(), kind, name, of }
    }

    /// Returns what is looked up; `None` for an attribute without its operator.
    fn lookup(self) -> Option<Lookup> {
        Some(match self.kind {
            LookupKind::Operator => Lookup::Operator(self.name),
            LookupKind::Attribute => Lookup::Attribute(self.of?, self.name),
            LookupKind::Global => Lookup::Global(self.name),
            LookupKind::Constructor => Lookup::Constructor(self.name),
            LookupKind::Type => Lookup::Type(self.name),
        })
    }
}

pub(in crate::lsp) fn resolve(
    snapshot: &Snapshot,
    mut item: CompletionItem,
) -> Result<CompletionItem> {
    // The item of a closed document is returned unresolved.
    let data = item.data.as_ref().and_then(|data| ItemData::deserialize(data).ok());
    if let Some(data) = data
        && let Ok(document) = snapshot.document(&data.uri)
        && let Some(document) = document.parts().first()
        && let Some(lookup) = data.lookup()
        && let Some(markdown) = completion::documentation(&snapshot.db, document.file, &lookup)
    {
        item.documentation =
            Some(snapshot.client.features.markup.completion.documentation(markdown));
    }
    Ok(item)
}
