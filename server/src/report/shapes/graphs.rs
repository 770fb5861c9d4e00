//! Dataflow graphs in HTML pages.

use ide::{layers::FunctionLayers, shapes::FunctionShapes};
use syntax::{LineIndex, TextRange};

use crate::{
    protocol::{Function, MarkCategory},
    report::{overlay::Overlay, page::data},
};

pub(crate) const STYLE: &str = include_str!("graphs.css");
pub(crate) const SCRIPTS: [&str; 4] = [
    include_str!("../../../../editors/vscode/media/amounts.js"),
    include_str!("../../../../editors/vscode/media/picture.js"),
    include_str!("../../../../editors/vscode/media/kinds.js"),
    include_str!("graphs.js"),
];

/// Returns the data of the graphs of the functions that an overlay marks, for `drawGraphs` of the script; `None` if it
/// marks none, or says nothing but that they are the same. `place` converts ranges.
pub(crate) fn marked_graphs(
    (functions, layers): (&[FunctionShapes], &[FunctionLayers]),
    overlay: &Overlay,
    place: &dyn Fn(TextRange) -> TextRange,
    (lines, first_line): (&LineIndex, u32),
) -> Option<String> {
    let line = |range: TextRange| lines.line_at(place(range).start()) + first_line + 1;
    let mut list = Function::list(functions, layers, std::slice::from_ref(overlay), &line);
    let says = |function: &Function<u32>| {
        let mut marks = function.colourings.iter().flat_map(|colouring| &colouring.marks);
        marks.any(|mark| mark.category != MarkCategory::Same)
    };
    let is_marked =
        |function: &Function<u32>| says(function) || function.functions.iter().any(says);
    list.retain(is_marked);
    (!list.is_empty()).then(|| data("graphs", &list))
}
