//! `relay/typeAt`: the type at the cursor in detail, for a panel that follows the cursor.

use ide::type_at::{self, AxisInfo, TensorInfo, TypeInfo};
use semantics::Step;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Location, TextDocumentPositionParams, Url},
};

use crate::{
    lsp::{documents::Document, snapshot::Snapshot},
    protocol::{Axis, Distribution, Elements, ExpectedType, ShapeStep, Tensor, TypeAt, Variable},
};

/// Returns the type at a position; `None` if there is none.
pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: TextDocumentPositionParams,
) -> Result<Option<TypeAt>> {
    let (document, offset) = snapshot.place(&params)?;
    let found = type_at::type_at(&snapshot.db, document.file, offset);
    let uri = &params.text_document.uri;
    Ok(found.map(|info| convert(snapshot, uri, document, info)))
}

fn convert(snapshot: &Snapshot, uri: &Url, document: &Document, info: TypeInfo) -> TypeAt {
    let location = |range| Location::new(uri.clone(), document.range(range, snapshot.encoding));
    let step = |step: Step| ShapeStep { message: step.message(), location: location(step.range) };
    let axis = |(axis, info): (usize, AxisInfo)| Axis {
        axis,
        size: info.size,
        letter: info.letter,
        source: info.source.map(step),
        origin: info.origin.map(step),
    };
    let tensor = |tensor: TensorInfo| Tensor {
        part: tensor.part,
        ty: tensor.ty,
        amount: tensor.amount,
        dimensions: tensor.axes.into_iter().enumerate().map(axis).collect(),
        is_cut: tensor.is_cut,
    };
    let variable = |variable: type_at::Variable| Variable {
        name: variable.name,
        ty: variable.ty,
        location: location(variable.range),
    };
    let expected = |expected: type_at::ExpectedType| ExpectedType {
        place: expected.place,
        ty: expected.ty,
        note: expected.note,
    };
    let distribution = |found: ide::elements::Distribution| Distribution {
        min: found.min,
        max: found.max,
        low: found.low,
        high: found.high,
        histogram: found.histogram,
    };
    let elements = |found: ide::elements::Elements| Elements {
        facts: found.facts,
        first: found.first,
        distribution: found.distribution.map(distribution),
    };
    TypeAt {
        version: document.version,
        range: document.range(info.range, snapshot.encoding),
        source: info.source,
        kind: info.kind,
        ty: info.lines,
        tensors: info.tensors.into_iter().map(tensor).collect(),
        context: info.context.into_iter().map(variable).collect(),
        expected: info.expected.map(expected),
        elements: info.elements.map(elements),
    }
}
