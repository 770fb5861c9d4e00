//! `relay/typeAt`: the type at the cursor in detail, for a panel that follows the cursor.

use ide::type_at::{TypeInfo, type_at};
use semantics::Step;
use serde_json::{Value, json};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Location, TextDocumentPositionParams, Url},
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

/// Returns the type at a position; `null` if there is none.
pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: TextDocumentPositionParams,
) -> Result<Value> {
    let (document, offset) = snapshot.place(&params)?;
    let found = type_at(&snapshot.db, document.file, offset);
    let uri = &params.text_document.uri;
    Ok(found.map_or(Value::Null, |info| convert(snapshot, uri, document, &info)))
}

fn convert(snapshot: &Snapshot, uri: &Url, document: &Document, info: &TypeInfo) -> Value {
    let location = |range| Location::new(uri.clone(), document.range(range, snapshot.encoding));
    let step = |step: &Option<Step>| match step {
        Some(step) => json!({ "message": step.message, "location": location(step.range) }),
        None => Value::Null,
    };
    let tensors = info.tensors.iter().map(|tensor| {
        let axes = tensor.axes.iter().enumerate().map(|(number, axis)| {
            json!({
                "axis": number, "size": axis.size, "letter": axis.letter,
                "source": step(&axis.source), "origin": step(&axis.origin),
            })
        });
        json!({
            "part": tensor.part, "type": tensor.ty, "amount": tensor.amount,
            "dimensions": axes.collect::<Vec<_>>(), "isCut": tensor.is_cut,
        })
    });
    let context = info.context.iter().map(|variable| {
        json!({
            "name": variable.name, "type": variable.ty, "location": location(variable.range),
        })
    });
    let expected = info.expected.as_ref().map(
        |expected| json!({ "place": expected.place, "type": expected.ty, "note": expected.note }),
    );
    let elements = info.elements.as_ref().map(|elements| {
        let distribution = elements.distribution.as_ref().map(|distribution| {
            json!({
                "min": distribution.min, "max": distribution.max,
                "low": distribution.low, "high": distribution.high,
                "histogram": distribution.histogram,
            })
        });
        json!({ "facts": elements.facts, "first": elements.first, "distribution": distribution })
    });
    json!({
        "version": document.version,
        "range": document.range(info.range, snapshot.encoding),
        "source": info.source,
        "kind": info.kind,
        "type": info.lines,
        "tensors": tensors.collect::<Vec<_>>(),
        "context": context.collect::<Vec<_>>(),
        "expected": expected,
        "elements": elements,
    })
}
