//! The repetitions of layers, each with its place in the file.

use std::ops::Range;

use semantics::{Db, SourceFile};
use syntax::TextRange;

use super::{FunctionLayers, Grouping, Layer, LayerKind, Render, shown_layers};

/// The maximal number of parts of a function. The layers inside of further repetitions have no parts.
const MAX_PARTS: usize = 4_096;

/// A repetition of a layer, or a layer that does not repeat itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The name: `encoder layer 3`, `transformer block 4 of 12`.
    pub name: String,
    /// The kind.
    pub kind: LayerKind,
    /// The index of the layer among those beside it.
    pub layer: usize,
    /// The parts that the names of all weights begin with: `encoder.layer.3`. Empty if there are none.
    pub source: String,
    /// The calls, as indices of the rows of the shape report.
    pub rows: Range<usize>,
    /// The range in the file.
    pub range: TextRange,
    /// The parts inside, in order; none if the calls are other ones than those that the layer describes.
    pub parts: Vec<Part>,
}

impl Render<'_, '_, '_> {
    /// Returns the repetitions of layers, in order.
    pub(super) fn parts(&self, layers: &[Layer]) -> Vec<Part> {
        let mut left = MAX_PARTS;
        self.parts_of(layers, 0, 0, &mut left)
    }

    /// Returns the repetitions of layers that are described for calls from `exemplar` on, for equal ones from `start`
    /// on. All layers of a list have parts, or none has.
    fn parts_of(
        &self,
        layers: &[Layer],
        exemplar: usize,
        start: usize,
        left: &mut usize,
    ) -> Vec<Part> {
        let count: usize = layers.iter().map(|layer| layer.rows.len()).sum();
        let Some(rest) = left.checked_sub(count) else { return Vec::new() };
        *left = rest;
        let mut found = Vec::with_capacity(count);
        for (number, layer) in layers.iter().enumerate() {
            for (at, (rows, name)) in layer.rows.iter().zip(&layer.names).enumerate() {
                let own = start + (rows.start - exemplar)..start + (rows.end - exemplar);
                let range = match start == exemplar {
                    true => layer.ranges[at],
                    false => self.range(&own),
                };
                let described = &layer.rows[layer.exemplar];
                let inner = match self.steps.calls_same(rows, described) {
                    true => self.parts_of(&layer.layers, described.start, own.start, left),
                    false => Vec::new(),
                };
                let source = self.paths.map_or_else(Vec::new, |paths| paths.of(&own));
                found.push(Part {
                    name: name.clone(),
                    source: source.join(".").replace(' ', "."),
                    kind: layer.kind,
                    layer: number,
                    rows: own,
                    range,
                    parts: inner,
                });
            }
        }
        found
    }
}

/// Returns the layers around a range of a file, the outermost first.
pub fn place_of(db: &dyn Db, file: SourceFile, grouping: Grouping, range: TextRange) -> Vec<&Part> {
    let around = function_around(shown_layers(db, file, grouping), range);
    around.map_or_else(Vec::new, |function| function.around(range))
}

/// Returns the function around a range, of those of a file in their order.
pub fn function_around(functions: &[FunctionLayers], range: TextRange) -> Option<&FunctionLayers> {
    let at = functions.partition_point(|function| function.range.end() < range.end());
    functions.get(at).filter(|function| function.range.contains_range(range))
}

impl FunctionLayers {
    /// Returns the layers around a range, the outermost first.
    pub fn around(&self, range: TextRange) -> Vec<&Part> {
        let mut found = Vec::new();
        let mut parts = &self.parts[..];
        while let Some(part) = part_around(parts, range) {
            found.push(part);
            parts = &part.parts;
        }
        found
    }
}

/// Returns the part around a range. The order of evaluation is that of the text for most modules, but not for all.
fn part_around(parts: &[Part], range: TextRange) -> Option<&Part> {
    let is_around = |part: &&Part| part.range.contains_range(range);
    let at = parts.partition_point(|part| part.range.end() < range.end());
    parts.get(at).filter(is_around).or_else(|| parts.iter().find(is_around))
}
