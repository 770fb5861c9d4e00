// The graph of a function: its calls, inputs and result, and the kinds of its operators.
"use strict";

/** The kinds of operators by name, of which the first match counts. Each has a colour in the graph. */
const KINDS = [
  { key: "norm", title: "normalization, quantization", colour: "charts-purple", pattern: /_norm|normalize|nn\.lrn|dropout|quantize/ },
  { key: "shape", title: "shape, layout, selection", colour: "charts-foreground", strength: 0.1, pattern: /transform|to_dense|_pack$|batch_flatten|sparse_transpose/ },
  { key: "product", title: "convolution, product", colour: "charts-blue", pattern: /conv\dd|correlation|dense|matmul|einsum|^dft$/ },
  { key: "activation", title: "activation", colour: "charts-red", pattern: /relu|sigmoid|(^|[._])tanh$|softmax|erf$|clip|hardswish/ },
  { key: "reduction", title: "pooling, reduction, order", colour: "charts-green", pattern: /pool|topk$|^(mean|sum|max|min|prod|all|any|variance|argmax|argmin|argsort|sort|unique|cumsum|cumprod|searchsorted)$|nll_loss|cross_entropy/ },
  { key: "arithmetic", title: "arithmetic, comparison", colour: "charts-yellow", pattern: /^(qnn\.)?(add|subtract|mul|multiply|divide|mod|power|maximum|minimum|exp|log|log2|log10|sqrt|rsqrt|abs|negative|sign|floor|ceil|round|trunc|(floor|trunc)_(divide|mod)|a?(sin|cos|tan)h?|fast_exp|logical_\w+|bitwise_\w+|(left|right)_shift|equal|not_equal|less|less_equal|greater|greater_equal|isnan|isinf|isfinite|fixed_point_multiply\w*|where|nn\.bias_add)$|ethosu\.\w+ary_elementwise/ },
];
/** Other operators move or create data. */
const SHAPE = KINDS.find(({ key }) => key === "shape");
const FUNCTION = { key: "function", title: "call of a function", colour: "charts-orange" };

function kindOf(row) {
  return row.isOperator ? KINDS.find(({ pattern }) => pattern.test(row.operator)) ?? SHAPE : FUNCTION;
}

/**
 * The items of a function's graph: inputs, then calls, then the result. Weights and constants are pills
 * at the calls that use them. `first` is the index of the first call.
 */
function dataflow({ rows, sources, results }) {
  const items = [];
  const inputs = new Map();
  const item = (input) => (input.row === undefined ? inputs.get(input.source) : inputs.size + input.row);
  for (const [at, source] of sources.entries()) {
    if (source.kind === "input") {
      inputs.set(at, items.length);
      items.push({ kind: "input", name: source.name, type: source.type, range: source.range, from: [], own: [] });
    }
  }
  for (const [at, row] of rows.entries()) {
    // The inputs of a call precede it; a call that seems to use itself is recursive.
    const from = row.inputs.map(item).filter((from) => from !== undefined && from < inputs.size + at);
    const own = row.inputs.filter((input) => item(input) === undefined).map(({ source }) => sources[source]);
    items.push({ kind: "call", name: row.name, type: row.type, row, range: row.range, from, own, pills: own.length });
  }
  if (results.length > 0) {
    const from = results.map(item).filter((from) => from !== undefined);
    const own = results.filter((input) => item(input) === undefined).map(({ source }) => sources[source]);
    const type = results.length === 1 && from.length === 1 ? items[from[0]].type : `${results.length} values`;
    items.push({ kind: "output", name: "result", type, from, own, pills: own.length });
  }
  return { items, first: inputs.size };
}
