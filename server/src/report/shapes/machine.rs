//! The shape report as the types of the protocol.

use ide::{
    layers::{FunctionLayers, Layer},
    shapes::{Amount, FunctionShapes, Group, Input, LayerTotal, Row, Source, SourceKind},
};
use operators::Category;
use rustc_hash::FxHashMap;
use syntax::{TextRange, TextSize};

use super::{
    groups, summary,
    texts::{json_amount, label},
};
use crate::{
    protocol::{self, ConstantInput, RowInput, TakenField, VariableInput},
    report::overlay::{Overlay, colourings},
};

/// What is known of functions besides their shapes.
struct Surroundings<'l> {
    /// The layers of functions by the ends of their ranges.
    layers: FxHashMap<(TextSize, TextSize), &'l [Layer]>,
    overlays: &'l [Overlay],
}

impl<P> protocol::Function<P> {
    /// Converts the reports of functions, with the layers as groups of the graph, which `overlays` may colour. `place`
    /// converts ranges.
    pub(crate) fn list(
        functions: &[FunctionShapes],
        layers: &[FunctionLayers],
        overlays: &[Overlay],
        place: &dyn Fn(TextRange) -> P,
    ) -> Vec<Self> {
        let own = |layers: &FunctionLayers| (layers.range.start(), layers.range.end());
        let layers = layers.iter().map(|one| (own(one), one.layers.as_slice())).collect();
        let around = Surroundings { layers, overlays };
        functions.iter().map(|one| protocol::Function::new(one, &around, place)).collect()
    }

    fn new(
        function: &FunctionShapes,
        around: &Surroundings<'_>,
        place: &dyn Fn(TextRange) -> P,
    ) -> Self {
        let range = (function.range.start(), function.range.end());
        let layers = around.layers.get(&range).copied().unwrap_or_default();
        let groups = groups::of_function(function, layers, place);
        let amount = |amount: &Amount| json_amount(function, amount, false);
        let memory = |amount: &Amount| json_amount(function, amount, true);
        let group = |group: &Group| protocol::Group {
            name: group.name.clone(),
            count: group.count,
            macs: amount(&group.macs),
            bytes: memory(&group.bytes),
        };
        let layer = |layer: &LayerTotal| protocol::LayerTotal {
            name: layer.title(),
            depth: layer.depth,
            range: place(layer.range),
            count: layer.count,
            parameters: amount(&layer.params),
            macs: amount(&layer.macs),
            bytes: memory(&layer.bytes),
        };
        let total = &function.total;
        let unknowns = function.unknowns.iter();
        protocol::Function {
            name: function.name.clone(),
            range: place(function.range),
            rows: function.rows.iter().map(|row| json_row(function, row, place)).collect(),
            sources: function.sources.iter().map(|source| json_source(source, place)).collect(),
            results: function
                .results
                .iter()
                .map(|&input| json_input(function, input, &[]))
                .collect(),
            functions: function
                .functions
                .iter()
                .map(|f| protocol::Function::new(f, around, place))
                .collect(),
            total: protocol::Total {
                text: summary(function),
                parameters: amount(&total.params),
                parameter_bytes: memory(&total.param_bytes),
                macs: amount(&total.macs),
                peak_bytes: memory(&total.peak),
                peak_row: total.peak_row,
                peak_rows: function.peak_rows(),
                calls: total.calls,
            },
            by_operator: function.by_operator.iter().map(group).collect(),
            by_span: function.by_span.iter().map(group).collect(),
            by_layer: function.by_layer.iter().map(layer).collect(),
            colourings: colourings(function, &groups, around.overlays),
            groups,
            unknowns: unknowns
                .map(|u| protocol::UnknownSize { name: u.name.clone(), what: u.what.clone() })
                .collect(),
        }
    }
}

fn json_row<P>(
    function: &FunctionShapes,
    row: &Row,
    place: &dyn Fn(TextRange) -> P,
) -> protocol::Row<P> {
    let amount = |amount: &Amount| json_amount(function, amount, false);
    let memory = |amount: &Amount| json_amount(function, amount, true);
    let tensor = row.ty.as_tensor();
    let shape = tensor.map(|tensor| {
        let dims = tensor.shape.iter().map(|dim| match dim.as_known() {
            Some(size) => protocol::Dim::Known(size),
            None => protocol::Dim::Open(dim.to_string()),
        });
        dims.collect()
    });
    let attributes = row.attributes.iter();
    protocol::Row {
        binding: row.binding.clone(),
        operator: row.operator.clone(),
        category: row.category.map_or("function", Category::name),
        ty: row.ty.to_string(),
        label: label(&row.ty),
        shape,
        dtype: tensor.map(|tensor| tensor.dtype.to_string()),
        range: place(row.range),
        parameters: amount(&row.params),
        macs: amount(&row.macs),
        bytes: memory(&row.bytes),
        live_bytes: memory(&row.live),
        peak_bytes: row.peak.as_ref().map(&memory),
        live_until: row.until,
        span: row.span.clone(),
        inputs: (row.inputs.iter().enumerate())
            .map(|(at, &input)| {
                let fields = row.fields.iter().filter(|(input, _)| *input == at);
                let fields: Vec<u32> = fields.map(|(_, field)| *field).collect();
                json_input(function, input, &fields)
            })
            .collect(),
        attributes: attributes
            .map(|(name, value)| protocol::Attribute { name: name.clone(), value: value.clone() })
            .collect(),
        undefined: row.undefined.clone(),
    }
}

fn json_source<P>(source: &Source, place: &dyn Fn(TextRange) -> P) -> protocol::Source<P> {
    protocol::Source {
        name: source.name.clone(),
        ty: source.ty.to_string(),
        label: label(&source.ty),
        kind: match source.kind {
            SourceKind::Input => protocol::SourceKind::Input,
            SourceKind::Weight => protocol::SourceKind::Weight,
            SourceKind::Constant => protocol::SourceKind::Constant,
        },
        range: place(source.range),
    }
}

fn json_input(function: &FunctionShapes, input: Input, fields: &[u32]) -> protocol::Input {
    match input {
        Input::Row(row) => {
            let ty = function.rows.get(row).map(|row| &row.ty);
            let field = |&index: &u32| {
                let field = ty.and_then(|ty| ty.as_tuple()?.get(index as usize));
                TakenField { index, label: field.map(label).unwrap_or_default() }
            };
            protocol::Input::Row(RowInput { row, fields: fields.iter().map(field).collect() })
        }
        Input::Source(at) => match &function.sources[at] {
            Source { kind: SourceKind::Constant, .. } => {
                protocol::Input::Constant(ConstantInput { constant: true, source: at })
            }
            Source { name, .. } => {
                protocol::Input::Variable(VariableInput { variable: name.clone(), source: at })
            }
        },
    }
}
