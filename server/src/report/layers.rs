//! The layers of functions, as a tree for people and as JSON.

use ide::{
    layers::{FunctionLayers, Layer},
    words,
};
use serde::Serialize;
use syntax::{LineIndex, TextRange};
use types::Type;

use super::{columns::aligned, line_range};

/// The layers of a file: `relay-analyzer layers --format json`.
#[derive(Serialize)]
pub(crate) struct LayersDocument<'a> {
    path: &'a str,
    functions: Vec<Function<'a>>,
}

/// The layers of a function.
#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    calls: usize,
    groups: Vec<Group<'a>>,
}

/// A layer. Ranges are in bytes.
#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    kind: &'static str,
    /// The number of repetitions, if there are several; each has its range.
    repeats: Option<usize>,
    /// The number of repetitions that differ from the others in details.
    #[serde(skip_serializing_if = "crate::protocol::is_default")]
    exceptions: usize,
    evidence: Vec<&'static str>,
    /// The number of calls in all repetitions.
    calls: usize,
    ranges: Vec<[u32; 2]>,
    /// The layers inside of one repetition.
    groups: Vec<Group<'a>>,
}

/// Returns the layers as JSON.
pub(crate) fn document<'a>(path: &'a str, functions: &'a [FunctionLayers]) -> LayersDocument<'a> {
    let functions = functions.iter().map(|function| Function {
        name: &function.name,
        calls: function.calls,
        groups: function.layers.iter().map(group).collect(),
    });
    LayersDocument { path, functions: functions.collect() }
}

/// The nesting of layers is bounded.
fn group(layer: &Layer) -> Group<'_> {
    let range = |range: &TextRange| [u32::from(range.start()), u32::from(range.end())];
    Group {
        name: &layer.name,
        kind: layer.kind.key(),
        repeats: (layer.ranges.len() > 1).then_some(layer.ranges.len()),
        exceptions: layer.exceptions,
        evidence: layer.evidence.iter().map(|evidence| evidence.key()).collect(),
        calls: layer.calls(),
        ranges: layer.ranges.iter().map(range).collect(),
        groups: layer.layers.iter().map(group).collect(),
    }
}

/// Returns the layers as a tree with columns: the number of calls, the lines, and the type of the result.
pub(crate) fn tree(functions: &[FunctionLayers], lines: &LineIndex) -> String {
    let mut rows = Vec::new();
    // Small functions beside a network say nothing.
    let is_any_structured = functions.iter().any(|function| !function.layers.is_empty());
    for function in functions.iter().filter(|f| !is_any_structured || !f.layers.is_empty()) {
        let calls = words::number(function.calls as u64);
        let place = line_range(function.range, lines);
        rows.push([function.name.clone(), calls, place, String::new()]);
        add(&function.layers, "", lines, &mut rows);
    }
    let table = aligned(&rows, &[false, true, false, false], "  ", None);
    table.into_iter().map(|line| line + "\n").collect()
}

/// Adds a row for each of the layers and those inside of them: name, calls, lines and result.
fn add(layers: &[Layer], indent: &str, lines: &LineIndex, rows: &mut Vec<[String; 4]>) {
    for (at, layer) in layers.iter().enumerate() {
        let is_last = at + 1 == layers.len();
        let (branch, next) = if is_last { ("└ ", "  ") } else { ("├ ", "│ ") };
        let whole = layer.ranges.iter().copied().reduce(TextRange::cover);
        rows.push([
            format!("{indent}{branch}{}", layer.title()),
            words::number(layer.calls() as u64),
            whole.map_or_else(String::new, |whole| line_range(whole, lines)),
            layer.result.as_ref().map(result).unwrap_or_default(),
        ]);
        add(&layer.layers, &format!("{indent}{next}"), lines, rows);
    }
}

/// Returns the shape and data type of a result: `1×128×768 float32`. Of several results it is the first.
fn result(ty: &Type) -> String {
    match ty {
        Type::Tensor(tensor) => {
            let sizes: Vec<String> = tensor.shape.iter().map(|size| size.to_string()).collect();
            format!("{} {}", sizes.join("×"), tensor.dtype).trim_start().to_owned()
        }
        Type::Tuple(fields) => match fields.split_first() {
            Some((first, [])) => result(first),
            Some((first, rest)) => format!("{} +{}", result(first), rest.len()),
            None => String::new(),
        },
        other => words::bounded(other, 40).0,
    }
}
