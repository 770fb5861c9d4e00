//! The totals of layers.

use std::ops::Range;

use rustc_hash::FxHashSet;
use semantics::{Db, SourceFile};
use syntax::TextRange;

use super::{FunctionLayers, Grouping, Layer, function_around, layers, of_functions, of_list};
use crate::shapes::{self, CallTarget, FunctionShapes, Input, LayerTotal, SourceKind};

/// The maximal number of weights by which two calls are compared.
const MAX_WEIGHTS: usize = 8;

/// Returns the shape reports of [`shapes::shapes`] with totals by layer, and the layers of these functions and of those
/// inside of them, as far as they have any.
pub fn shapes_by_layer(
    db: &dyn Db,
    file: SourceFile,
    name: Option<&str>,
    grouping: Grouping,
) -> (Vec<FunctionShapes>, Vec<FunctionLayers>) {
    let mut found = shapes::shapes(db, file, name);
    if grouping == Grouping::Flat {
        return (found, Vec::new());
    }
    // What a call of another function computes is part of the evidence.
    let mut own = match name {
        None => of_functions(db, file, &found, grouping),
        Some(_) => {
            let all = layers(db, file, grouping);
            let own = found.iter().filter_map(|function| function_around(all, function.range));
            own.cloned().collect()
        }
    };
    for function in &mut found {
        if let Some(layers) = function_around(&own, function.range) {
            function.by_layer = totals(function, layers);
        }
    }
    if found.iter().any(|function| !function.functions.is_empty()) {
        let all = name.map(|_| shapes::structure(db, file));
        let inner: Vec<&FunctionShapes> =
            found.iter().flat_map(|function| function.all().into_iter().skip(1)).collect();
        let inner = of_list(db, file, &inner, all.as_deref().unwrap_or(&found), grouping);
        let mut rest = inner.iter();
        for function in &mut found {
            add_totals(function, &mut rest);
        }
        own.extend(inner);
    }
    (found, own)
}

/// Fills the totals of the functions inside of a function. `layers` are theirs, in the order of
/// [`FunctionShapes::all`]. The nesting of functions in a report is bounded.
fn add_totals<'l>(
    function: &mut FunctionShapes,
    layers: &mut impl Iterator<Item = &'l FunctionLayers>,
) {
    for inner in &mut function.functions {
        if let Some(own) = layers.next() {
            inner.by_layer = totals(inner, own);
        }
        add_totals(inner, layers);
    }
}

/// Returns the totals of the layers of a function, each before those inside of it, and of the calls in no layer.
fn totals(function: &FunctionShapes, layers: &FunctionLayers) -> Vec<LayerTotal> {
    if layers.layers.is_empty() {
        return Vec::new();
    }
    let adder = Adder { function, weights: weights(function) };
    let mut found = Vec::new();
    adder.add(&layers.layers, 0, &mut found);
    let mut rest = Vec::new();
    let mut end = 0;
    for rows in layers.layers.iter().flat_map(|layer| &layer.rows) {
        rest.push(end..rows.start);
        end = rows.end;
    }
    rest.push(end..function.rows.len());
    let rest = adder.total("other calls".to_owned(), 0, function.range, &rest);
    found.extend((rest.count > 0 || rest.is_recursive).then_some(rest));
    found
}

/// Returns the weights and constants that each call takes, also in another layout, without those that data is
/// computed from.
fn weights(function: &FunctionShapes) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::with_capacity(function.rows.len());
    let mut is_preparation: Vec<bool> = Vec::with_capacity(function.rows.len());
    for (at, row) in function.rows.iter().enumerate() {
        let (mut own, mut is_data) = (Vec::new(), false);
        for input in &row.inputs {
            match *input {
                Input::Source(source) => {
                    match function.sources.get(source).map(|source| source.kind) {
                        Some(SourceKind::Weight | SourceKind::Constant) => own.push(source),
                        _ => is_data = true,
                    }
                }
                Input::Row(row) if row < at && is_preparation[row] => own.extend(&found[row]),
                Input::Row(_) => is_data = true,
            }
        }
        own.truncate(MAX_WEIGHTS);
        found.push(own);
        is_preparation.push(!is_data && row.category.is_some());
    }
    found
}

struct Adder<'f> {
    function: &'f FunctionShapes,
    /// The weights and constants of each call.
    weights: Vec<Vec<usize>>,
}

impl Adder<'_> {
    /// Adds the totals of layers. The nesting of layers is bounded.
    fn add(&self, layers: &[Layer], depth: usize, found: &mut Vec<LayerTotal>) {
        for layer in layers {
            let range = layer.ranges.iter().copied().reduce(TextRange::cover).unwrap_or_default();
            found.push(self.total(layer.title(), depth, range, &layer.rows));
            self.add(&layer.layers, depth + 1, found);
        }
    }

    /// Returns the total of some calls. Weights that several calls take, such as those of the steps of a recurrent
    /// network, count once.
    fn total(
        &self,
        name: String,
        depth: usize,
        range: TextRange,
        rows: &[Range<usize>],
    ) -> LayerTotal {
        let mut total = LayerTotal { name, depth, range, ..LayerTotal::default() };
        let mut seen = FxHashSet::default();
        for at in rows.iter().cloned().flatten() {
            let row = &self.function.rows[at];
            let weights = &self.weights[at];
            total.macs.add(&row.macs);
            match &row.called {
                CallTarget::Nothing => {
                    total.count += u64::from(row.category.is_some());
                    total.bytes.add(&row.bytes);
                }
                CallTarget::Operators { calls, bytes } => {
                    total.count = total.count.saturating_add(*calls);
                    total.bytes.add(bytes);
                }
                CallTarget::Recursive => total.is_recursive = true,
            }
            if !row.params.is_zero() && (weights.is_empty() || seen.insert(weights)) {
                total.params.add(&row.params);
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use semantics::Database;
    use syntax::ParseLimits;

    use super::*;

    fn totals_of(text: &str) -> Vec<FunctionShapes> {
        let db = Database::new();
        let file = db.add_file(text, ParseLimits::default());
        shapes_by_layer(&db, file, None, Grouping::Found).0
    }

    /// Two equal layers, each of which calls a function with two products.
    const CALLS: &str = "\
def @mlp(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {
  let %a = nn.dense(%x, %w, units=8);
  let %b = nn.relu(%a);
  nn.dense(%b, %w, units=8)
}
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {
  let %a = @mlp(%x, %w);
  let %b = tanh(%a);
  let %c = @mlp(%b, %w);
  let %d = tanh(%c);
  %d
}
";

    #[test]
    fn a_layer_has_the_calls_and_the_memory_of_the_functions_that_it_calls() {
        let found = totals_of(CALLS);
        let main = &found[1];
        let outermost: Vec<_> = main.by_layer.iter().filter(|layer| layer.depth == 0).collect();
        let calls: u64 = outermost.iter().map(|layer| layer.count).sum();
        assert_eq!((calls, main.total.calls), (8, 8), "{:?}", main.by_layer);
        let bytes: u64 = outermost.iter().filter_map(|layer| layer.bytes.as_known()).sum();
        // Eight results of 32 elements.
        assert_eq!(bytes, 8 * 128);
        let macs: u64 = outermost.iter().filter_map(|layer| layer.macs.as_known()).sum();
        assert_eq!(Some(macs), main.total.macs.as_known());
        assert!(main.by_layer.iter().all(|layer| !layer.is_recursive));
    }

    #[test]
    fn a_layer_says_that_recursive_calls_are_not_counted() {
        let text =
            CALLS.replace("nn.dense(%b, %w, units=8)", "@mlp(nn.dense(%b, %w, units=8), %w)");
        let text = text.replace("def @mlp(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32])", "def @mlp(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) -> Tensor[(4, 8), float32]");
        let found = totals_of(&text);
        let recursive: Vec<String> = found
            .iter()
            .flat_map(|one| &one.by_layer)
            .filter(|layer| layer.is_recursive)
            .map(LayerTotal::title)
            .collect();
        assert!(!recursive.is_empty(), "{found:?}");
        assert!(recursive.iter().all(|title| title.ends_with("(recursive, not counted)")));
    }
}
