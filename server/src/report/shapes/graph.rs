//! The dataflow graph, for Graphviz.

use ide::shapes::{FunctionShapes, Input, SourceKind};

use super::name_of;
use crate::report::escape::dot as dot_string;

/// Returns a graph with a cluster for each function: calls, coloured by multiply-accumulates, and
/// their inputs.
pub(crate) fn dot(functions: &[FunctionShapes]) -> String {
    let mut out = String::from(
        "digraph relay {\n  node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\"];\n",
    );
    for (number, function) in functions.iter().flat_map(FunctionShapes::all).enumerate() {
        out +=
            &format!("  subgraph cluster_{number} {{\n    label={};\n", dot_string(&function.name));
        let is_drawn = |at: usize| function.sources[at].kind != SourceKind::Constant;
        let most = function.rows.iter().map(|row| row.macs.at_one()).max().unwrap_or(0);
        for (at, row) in function.rows.iter().enumerate() {
            let label = format!("{}\n{}\n{}", name_of(row, at), row.operator, row.ty);
            out += &format!("    r{number}_{at} [label={}", dot_string(&label));
            if most > 0 && row.macs.at_one() > 0 {
                // From white to red on a logarithmic scale, as one convolution may dominate the
                // sum.
                let weight = ((row.macs.at_one() as f64).ln_1p() / (most as f64).ln_1p()) * 0.6;
                out += &format!(", fillcolor=\"0.0 {weight:.2} 1.0\"");
            }
            out += "];\n";
            for input in &row.inputs {
                match *input {
                    Input::Row(from) => {
                        out += &format!("    r{number}_{from} -> r{number}_{at};\n");
                    }
                    Input::Source(from) if is_drawn(from) => {
                        out += &format!("    v{number}_{from} -> r{number}_{at} [color=gray];\n");
                    }
                    Input::Source(_) => {}
                }
            }
        }
        for (at, source) in function.sources.iter().enumerate().filter(|(at, _)| is_drawn(*at)) {
            let label = format!("{}\n{}", source.name, source.ty);
            let label = dot_string(&label);
            out += &format!("    v{number}_{at} [label={label}, shape=ellipse];\n");
        }
        out += "  }\n";
    }
    out + "}\n"
}
