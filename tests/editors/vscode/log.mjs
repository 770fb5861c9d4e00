// A log of four passes.
const TYPE = "Tensor[(2, 8), float32]";
/** The input of the first pass. */
export const FIRST = `#[version = "0.0.5"]
def @main(%x: ${TYPE}, %w: Tensor[(8, 8), float32]) {
  %0 = nn.dense(%x, %w, units=8);
  %1 = tanh(%0);
  %2 = nn.softmax(%1, axis=1);
  %3 = add(%2, %1);
  nn.relu(%3)
}
`;
const RENAMED = FIRST.replaceAll("%x", "%data");
const CHANGED = FIRST.replace("axis=1", "axis=0").replace("nn.relu(%3)", "nn.relu(exp(%3))");
const FUSED = `#[version = "0.0.5"]
def @main(%x: ${TYPE}, %w: Tensor[(8, 8), float32]) {
  %3 = fn (%p0: ${TYPE}, %p1: Tensor[(8, 8), float32], Primitive=1) {
    %0 = nn.dense(%p0, %p1, units=8);
    tanh(%0)
  };
  %4 = %3(%x, %w);
  %5 = fn (%p2: ${TYPE}, Primitive=1) {
    nn.softmax(%p2, axis=0)
  };
  %6 = %5(%4);
  %7 = fn (%p3: ${TYPE}, %p4: ${TYPE}, Primitive=1) {
    %1 = add(%p3, %p4);
    %2 = exp(%1);
    nn.relu(%2)
  };
  %7(%6, %4)
}
`;
/** A log as written by TVM: one pass changes names only, one an axis, one fuses, and runs others inside itself. */
export const LOG = [["InferType", FIRST], ["FoldConstant", RENAMED], ["SimplifyExpr", CHANGED], ["FuseOps", `// nested: ToANormalForm, InferType\n${FUSED}`]]
  .map(([pass, text], at) => `[10:00:0${at}] /src/relay/ir/transform.cc:133: PrintIR(after ${pass}):\n${text}`)
  .join("\n");
