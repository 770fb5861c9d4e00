//! The dataflow graph, for Graphviz.

use ide::shapes::{FunctionShapes, Input};

use super::name_of;
use crate::report::escape::dot as dot_string;

/// A graph with a cluster for each function: calls by how much they multiply, and what they are
/// given.
pub(crate) fn dot(functions: &[FunctionShapes]) -> String {
    let mut out = String::from(
        "digraph relay {\n  node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\"];\n",
    );
    for (number, function) in functions.iter().flat_map(FunctionShapes::all).enumerate() {
        out +=
            &format!("  subgraph cluster_{number} {{\n    label={};\n", dot_string(&function.name));
        let most = function.rows.iter().map(|row| row.macs.at_one()).max().unwrap_or(0);
        let mut variables: Vec<&str> = Vec::new();
        for (at, row) in function.rows.iter().enumerate() {
            let label = format!("{}\n{}\n{}", name_of(row, at), row.operator, row.ty);
            out += &format!("    r{number}_{at} [label={}", dot_string(&label));
            if most > 0 && row.macs.at_one() > 0 {
                // From white to red with the logarithm: one convolution outweighs all else.
                let weight = ((row.macs.at_one() as f64).ln_1p() / (most as f64).ln_1p()) * 0.6;
                out += &format!(", fillcolor=\"0.0 {weight:.2} 1.0\"");
            }
            out += "];\n";
            for input in &row.inputs {
                match input {
                    Input::Row(from) => {
                        out += &format!("    r{number}_{from} -> r{number}_{at};\n");
                    }
                    Input::Variable(name) => {
                        let node = dot_string(&format!("v{number} {name}"));
                        variables.push(name);
                        out += &format!("    {node} -> r{number}_{at} [color=gray];\n");
                    }
                    Input::Constant => {}
                }
            }
        }
        variables.sort_unstable();
        variables.dedup();
        for name in variables {
            let node = dot_string(&format!("v{number} {name}"));
            out += &format!("    {node} [label={}, shape=ellipse];\n", dot_string(name));
        }
        out += "  }\n";
    }
    out + "}\n"
}
