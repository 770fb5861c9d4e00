// The responses of the server, generated from `server/src/protocol` by
// `RELAY_WRITE=1 cargo test --workspace --lib generated_types`.

/** A number with its text, which has a unit if it is one of bytes. */
export interface Amount {
  /** The terms of an amount without a value, which is the sum of them and of summands that are not defined. */
  readonly terms?: readonly Term[];
  /** The text: with a unit, or with the unknown sizes. */
  readonly text: string;
  /** The number of summands that are not defined. */
  readonly undefined?: number;
  /** The number; `null` if it depends on unknown sizes. */
  readonly value: number | null;
}

/** An attribute of a call. */
export interface Attribute {
  readonly name: string;
  readonly value: string;
}

/** An axis of a tensor. */
export interface Axis {
  readonly axis: number;
  /** The letter of the axis in the layout of the operator: `N`, `C`, `4c`. */
  readonly letter: string | null;
  /** The origin of the size before it was changed, as far as it was followed. */
  readonly origin: ShapeStep | null;
  /** The size: a number, `?`, or a symbol. */
  readonly size: string;
  /** The step that set the size or changed it last. */
  readonly source: ShapeStep | null;
}

/** The response to `relay/bindParameters` and `relay/liftConstants`. */
export interface BoundNames {
  /** The names of the parameters that became constants, or that constants became. */
  readonly names: readonly string[];
}

/** The costs of the calls of an operator at one place. */
export interface CallSite {
  /** The place, if it is in the document. */
  readonly at: Range | null;
  /** The variable of the result, or empty. */
  readonly binding: string;
  /** The size of the results, in bytes. */
  readonly bytes: Count;
  readonly calls: Count;
  /** The function with the call. */
  readonly function: string;
  /** The multiply-accumulates; without a value if those of some calls are unknown. */
  readonly macs: Amount;
  readonly operator: string;
  readonly time: Seconds;
}

/** The category of an operator, or that of a function. */
export type Category = "product" | "normalization" | "activation" | "reduction" | "arithmetic" | "movement" | "function";

/** A difference between two expressions, with its place in each. */
export interface Change {
  readonly after: Range | null;
  readonly before: Range | null;
  /** The text for the end of a line. */
  readonly note: string;
  readonly text: string;
}

/** The kind of a change: that of a pair, or of an expression without a counterpart. */
export type ChangeKind = "removed" | "added" | PairKind;

/** The response to `relay/codeView`: the code of a file with one line for its metadata section. */
export interface CodeView {
  /** The length of the section in bytes. */
  readonly sectionBytes: Count;
  /** The state of the file, which the client passes to `relay/saveCode`. */
  readonly stamp: string;
  /** The code, and one line that replaces the metadata section. */
  readonly text: string;
}

/** A way to colour the graph of a function. */
export interface Colouring {
  readonly key: ColouringKey;
  /** The categories of the marks, in order. */
  readonly legend: readonly LegendEntry[];
  /** The marks of calls and groups. Others have no colour. */
  readonly marks: readonly Mark[];
  /** The name in a list of ways: `by run time`. */
  readonly title: string;
}

/** What colours say. */
export type ColouringKey = "time" | "error" | "difference";

/** The response to `relay/compare`. Ranges are relative to the start of each module. */
export interface Comparison {
  /** The names of the sides with syntax errors. */
  readonly broken: readonly string[];
  /** True if the modules differ in names, order, notation and comments only, and have no syntax errors. */
  readonly equal: boolean;
  /** The empty lines that bring corresponding lines to the same height, in order on each side. */
  readonly fillers: readonly Filler[];
  readonly functions: readonly FunctionChanges[];
  /** A summary of the differences in one sentence. */
  readonly headline: string;
  /** The places in the report that lead to expressions, in order. */
  readonly links: readonly ReportLink[];
  /** The report of `relay-analyzer diff`. */
  readonly report: string;
  /** The changes in order of the text after, one for neighbouring changes of the same kind. */
  readonly stops: readonly Stop[];
  /** The cost of running each side. */
  readonly totals: Totals;
}

/** A constant. */
export interface ConstantInput {
  /** True. */
  readonly constant: boolean;
  /** The index in `sources`. */
  readonly source: number;
}

/** The response to `relay/convertFile`: the module of a file as text. */
export interface ConvertedText {
  readonly text: string;
}

/** The cost of running a module. */
export interface Cost {
  /** The number of operator calls. */
  readonly calls: Amount;
  /** The name of the function. */
  readonly function: string;
  /** The number of multiply-accumulates. */
  readonly macs: Amount;
  /** The number of elements of weights and constants. */
  readonly params: Amount;
  /** The peak memory of results, in bytes. */
  readonly peak: Amount;
}

/** A number that is known, with its text. */
export interface Count {
  /** The text: with separators, or with a unit. */
  readonly text: string;
  readonly value: number;
}

/** A size of a shape: a number, or the text of an unknown one. */
export type Dim = number | string;

/** The explanation of a size. */
export interface Dimension {
  readonly axis: number;
  /** The field if the expression is a tuple. */
  readonly field: number | null;
  readonly size: string;
  /** The origin, then each relation that changed the size or passed it on. */
  readonly steps: readonly ShapeStep[];
}

/** The distribution of the finite elements of a tensor. */
export interface Distribution {
  /** The greatest element as a text. */
  readonly high: string;
  /** The number of elements in each of equal parts of the range from `min` to `max`. */
  readonly histogram: readonly number[];
  /** The least element as a text. */
  readonly low: string;
  readonly max: number;
  readonly min: number;
}

/** The elements of a constant. */
export interface Elements {
  /** The distribution of the finite elements; `null` if they are all the same. */
  readonly distribution: Distribution | null;
  /** `min -1, max 1, mean 0.5, 3 zeros`, or empty. */
  readonly facts: string;
  /** The first elements: `1, 2, 3, …`. */
  readonly first: string;
}

/** An error: the largest absolute difference of an element. */
export interface ErrorAmount {
  /** The text, as in `1.840e-3`. */
  readonly text: string;
  /** The number; `null` if it is infinite. */
  readonly value: number | null;
}

/** The expectation of the context of an expression. */
export interface ExpectedType {
  /** The documentation of the argument of an operator: `` `(units, input_dim)` ``. */
  readonly note: string | null;
  /** The context: `` `weight` of `nn.dense` ``. */
  readonly place: string;
  /** The expected type, if the context determines it. */
  readonly type: string | null;
}

/** Empty lines before a line of one side. */
export interface Filler {
  /** The number of empty lines. */
  readonly count: number;
  /** The line, from 0. */
  readonly line: number;
  readonly side: SideName;
}

/** Two corresponding functions, or one without a counterpart. */
export interface FunctionChanges {
  readonly added: readonly UnpairedExpr[];
  readonly after: string | null;
  readonly before: string | null;
  readonly equal: boolean;
  readonly pairs: readonly MatchedPair[];
  readonly removed: readonly UnpairedExpr[];
}

/** A function with its calls. */
export interface FunctionShapes {
  /** The totals of the layers, each before those inside of it. */
  readonly byLayer: readonly LayerTotal[];
  readonly byOperator: readonly Group[];
  readonly bySpan: readonly Group[];
  /** The ways to colour the graph by what is known of its calls besides their types. */
  readonly colourings?: readonly Colouring[];
  /** The inner functions. */
  readonly functions: readonly FunctionShapes[];
  /** The groups of the dataflow graph, in order. Calls between them are in no group. */
  readonly groups: readonly GraphGroup[];
  readonly name: string;
  readonly range: Range;
  readonly results: readonly Input[];
  readonly rows: readonly Row[];
  readonly sources: readonly Source[];
  readonly total: Total;
  /** The unknown sizes of the amounts. */
  readonly unknowns: readonly UnknownSize[];
}

/** Calls that follow one another and are drawn as one box until it is opened: a layer, or a part of a long sequence of calls. Amounts are sums over all calls of all repetitions. */
export interface GraphGroup {
  /** The size of all results. */
  readonly bytes: Amount;
  readonly calls: Count;
  /** The number of repetitions that differ from it in details. */
  readonly exceptions?: number;
  /** The index of the repetition whose groups are in `groups`. */
  readonly exemplar: number;
  readonly groups: readonly GraphGroup[];
  /** The kind of the layer; `sequence` for calls without structure. */
  readonly kind: string;
  /** The name of the kind, if it says more than the name. */
  readonly kindName?: string;
  /** The type of the result, for narrow places. */
  readonly label: string;
  readonly macs: Amount;
  readonly name: string;
  readonly parameters: Amount;
  /** The range of each repetition. */
  readonly ranges: readonly Range[];
  /** The calls of each repetition: the indices of the first and of the one after the last. Calls between two repetitions belong to the group, too. */
  readonly rows: readonly (readonly [number, number])[];
}

/** The totals of the calls of one operator or one `span=` source. */
export interface Group {
  readonly bytes: Amount;
  readonly count: number;
  readonly macs: Amount;
  readonly name: string;
}

/** The response to `relay/health`. */
export interface HealthCounts {
  readonly errors: number;
  /** The first TVM incompatibility. */
  readonly first: Range | null;
  readonly functions: number;
  /** The number of these that are names which TVM prints but does not parse. */
  readonly names: number;
  /** The releases of TVM that printed the document, if 0.14 is none of them: `0.6 to 0.7`. */
  readonly releases: string | null;
  /** The number of TVM incompatibilities that are not errors. */
  readonly tvm: number;
  readonly types: number;
  readonly unresolved: number;
  /** The version of the document. */
  readonly version: number;
  readonly warnings: number;
}

/** The mark of a line. */
export interface HeatMark {
  /** The line, from 0. */
  readonly line: number;
  /** The number of the pair with the largest error in the line. */
  readonly pair: number;
}

/** The response to `relay/history`. Ranges are relative to the start of each module. */
export interface History {
  /** True if the module after the last stop has no counterpart. */
  readonly gone: boolean;
  /** The index of the stop at which the history was requested. */
  readonly here: number;
  /** True if the module before the first stop has no counterpart. */
  readonly new: boolean;
  readonly stops: readonly HistoryStop[];
}

/** The expression in one module. */
export interface HistoryStop {
  /** The differences from the previous stop; `null` for the first one. */
  readonly changes: readonly string[] | null;
  /** The relation to the previous stop; `null` for the first one. */
  readonly kind: StepKind | null;
  /** The line in the log, from 0. */
  readonly line: number;
  /** The index of the module. */
  readonly module: number;
  readonly pass: string | null;
  readonly range: Range;
  /** The first line of its text. */
  readonly text: string;
}

/** An input of a call, or a result of a function: that of a row, or one of the `sources` of the function. */
export type Input = RowInput | VariableInput | ConstantInput;

/** The totals of the calls of a layer, or of those in no layer. */
export interface LayerTotal {
  readonly bytes: Amount;
  /** The number of calls of operators, also in functions that are called. */
  readonly count: number;
  /** The number of layers around it. One inside of a layer that repeats itself is that of one repetition. */
  readonly depth: number;
  readonly macs: Amount;
  /** The name with the kind and the number of repetitions, and what is not counted. */
  readonly name: string;
  /** The elements of weights and constants; those that several calls share count once. */
  readonly parameters: Amount;
  readonly range: Range;
}

/** The costs of the calls of a layer. */
export interface LayerTotals {
  /** The size of the results, in bytes. */
  readonly bytes: Count;
  readonly calls: Count;
  /** The number of layers around it. */
  readonly depth: number;
  readonly layer: string;
  /** The multiply-accumulates; without a value if those of some calls are unknown. */
  readonly macs: Amount;
  readonly time: Seconds;
}

/** A category with its meaning. */
export interface LegendEntry {
  readonly category: MarkCategory;
  readonly text: string;
}

/** A range in a document. */
export interface Location {
  readonly range: Range;
  readonly uri: string;
}

/** The mark of a call or a group. */
export interface Mark {
  readonly category: MarkCategory;
  /** The rows: the first, and the one after the last. */
  readonly rows: readonly [number, number];
  /** The mark in words. */
  readonly text: string;
  /** The strength of the colour, from 0 to 1. */
  readonly weight: number;
}

/** What a mark says. Of several calls, the last category counts. */
export type MarkCategory = "time" | "notRun" | "tolerated" | "recovered" | "inherited" | "culprit" | "same" | "fused" | "inlined" | "folded" | "expanded" | "changed" | "added" | "removed";

/** Two expressions that correspond. */
export interface MatchedPair {
  readonly after: Range;
  readonly before: Range;
  readonly changes?: readonly Change[];
  readonly kind: PairKind;
}

/** The response to `relay/moduleText`. */
export interface ModuleText {
  /** Its first line in the log, from 0. */
  readonly line: number;
  /** The index of the module. */
  readonly module: number;
  /** The pass in its header. */
  readonly pass: string | null;
  readonly text: string;
}

/** A variable with NaN or Inf. */
export interface NotFinite {
  readonly elements: number;
  readonly infinite: number;
  readonly name: string;
  readonly nan: number;
  readonly range: Range;
  /** The numbers as a text, as in `3 NaN, 1 Inf of 12`. */
  readonly text: string;
}

/** The costs of the calls of an operator. */
export interface OperatorTotals {
  /** The size of the results, in bytes. */
  readonly bytes: Count;
  readonly calls: Count;
  /** The multiply-accumulates; without a value if those of some calls are unknown. */
  readonly macs: Amount;
  readonly operator: string;
  readonly time: Seconds;
}

/** The relation of two corresponding expressions. */
export type PairKind = "same" | "changed" | "fused" | "inlined" | "folded" | "expanded";

/** A parameter to ask an argument for. */
export interface ParameterField {
  /** What can be entered, in words. */
  readonly accepts: string;
  /** The name without its sigil. */
  readonly name: string;
  /** The name and the type, as in `%x: Tensor[(2, 3), float32]`. */
  readonly title: string;
}

/** The error of the result of a module. */
export interface PassError {
  /** The error in one line, or the reason that the module cannot be run. */
  readonly detail: string;
  /** The error; `null` if the result has another type or is not known. */
  readonly error: ErrorAmount | null;
  /** The number of the module. */
  readonly index: number;
  readonly state: PassErrorState;
  /** The error in a few characters, for a column: a number, or why there is none. */
  readonly text: string;
}

/** What a module computes. */
export type PassErrorState = "equal" | "differs" | "notRun";

/** The response to `relay/passErrors`: the errors of the modules of a log against the first one that can be run. */
export interface PassErrors {
  /** The module whose values are right. */
  readonly first: number;
  /** The modules from that one on. */
  readonly modules: readonly PassError[];
  /** The outcome in one line. */
  readonly summary: string;
}

/** The response to `relay/passes`, and `relay-analyzer passes --format json`. */
export interface PassLog {
  readonly file: string;
  readonly modules: readonly PassModule[];
}

/** A module of a log. */
export interface PassModule {
  /** True if the module was printed before the pass. */
  readonly before?: boolean;
  /** The functions that differ from the previous module. */
  readonly changed: readonly string[];
  /** The cost of running it, if requested and known. */
  readonly cost?: Cost;
  /** True if the module is truncated. */
  readonly cut?: boolean;
  /** The offset after its last byte in the log. */
  readonly end: number;
  readonly functions: number;
  readonly index: number;
  /** The first line in the log, from 1. */
  readonly line: number;
  /** The passes that ran inside it. */
  readonly nested?: readonly string[];
  /** The pass in its header. */
  readonly pass: string | null;
  /** The offset of its first byte in the log. */
  readonly start: number;
}

/** A position of the protocol: a line and a character, from 0. */
export interface Position {
  readonly character: number;
  readonly line: number;
}

/** The costs of the operator calls of a run, slowest first. */
export interface Profile {
  readonly bindings: readonly CallSite[];
  /** The layers in their order, each before those inside of it; without layers, the places that `span=` comments name, slowest first. */
  readonly layers: readonly LayerTotals[];
  readonly operators: readonly OperatorTotals[];
  readonly total: ProfileTotal;
}

/** The costs of all calls that were measured. */
export interface ProfileTotal {
  /** The size of the results, in bytes. */
  readonly bytes: Count;
  readonly calls: Count;
  /** True if only the first calls were measured. */
  readonly cut: boolean;
  /** The multiply-accumulates; without a value if those of some calls are unknown. */
  readonly macs: Amount;
  /** What the run did in this time; the times sum to it. */
  readonly parts: readonly TimePart[];
  readonly time: Seconds;
  /** The time of the run. */
  readonly wall: Seconds;
}

/** A range of the protocol. */
export interface Range {
  readonly end: Position;
  readonly start: Position;
}

/** The response to `relay/readingView`. */
export interface ReadingView {
  /** The first and the last line of each chain. */
  readonly chains: readonly (readonly [number, number])[];
  /** The line, the first character, and the end. */
  readonly dimmed: readonly (readonly [number, number, number])[];
  /** The line, the first character, and the end. */
  readonly hidden: readonly (readonly [number, number, number])[];
  /** The first lines of what *Fold a Level* folds, one level after another. */
  readonly levels: readonly (readonly number[])[];
  /** A line, and the short type of its statement, from a hidden comment. */
  readonly shapes: readonly (readonly [number, string])[];
  /** The placeholder of each folded chain. */
  readonly summaries: readonly string[];
  /** The version of the document. */
  readonly version: number;
}

/** The response to a request for the arguments that are remembered. */
export interface RecalledArguments {
  readonly function: string;
  /** The parameters, in order. */
  readonly parameters: readonly ParameterField[];
  readonly remembered: RememberedArguments;
  readonly status: RecalledStatus;
}

/** The status of a response that is not the result of a run. */
export type RecalledStatus = "recalled";

/** The response to `relay.reduce`: a small module with the diagnostic. */
export interface ReducedModule {
  /** The numbers of bindings before and after. */
  readonly bindings: readonly [number, number];
  /** The code of the diagnostic. */
  readonly code: string;
  /** The message of the diagnostic, in one line. */
  readonly shows: string;
  /** The module, with a comment that says what it shows. */
  readonly text: string;
  /** The number of modules that were tried. */
  readonly tried: number;
}

/** The arguments of a function. */
export interface RememberedArguments {
  /** Paths of `.npz` files. */
  readonly archives?: readonly string[];
  /** Numbers, lists of numbers, and paths of `.npy` files, by parameter. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Paths of `.params` files. */
  readonly params?: readonly string[];
  /** The seed from which the other arguments are drawn. */
  readonly seed?: number;
}

/** A place in the report, such as `12:3`, with the expressions of its change. */
export interface ReportLink {
  readonly after: Range | null;
  readonly before: Range | null;
  /** The range in the report. */
  readonly range: Range;
}

/** A call with its result and cost. Amounts of memory are in bytes. */
export interface Row {
  readonly attributes?: readonly Attribute[];
  readonly binding: string | null;
  readonly bytes: Amount;
  readonly category: Category;
  readonly dtype?: string;
  readonly inputs: readonly Input[];
  /** The type for narrow places: `1×64 f32`. */
  readonly label: string;
  readonly liveBytes: Amount;
  /** The last row during which the result is live; the number of rows if it is a result of the function. */
  readonly liveUntil: number;
  readonly macs: Amount;
  readonly operator: string;
  readonly parameters: Amount;
  /** What is live during the call with what the callee computes, if that is more. */
  readonly peakBytes?: Amount;
  readonly range: Range;
  /** The shape of a single tensor. */
  readonly shape?: readonly Dim[];
  /** The source that a `span=` comment names. */
  readonly span: string | null;
  readonly type: string;
  /** Why the operations are not counted. */
  readonly undefined?: string;
}

/** The result of a row. */
export interface RowInput {
  /** The fields of the result that are taken, if it is a tuple and not taken as a whole. */
  readonly fields?: readonly TakenField[];
  readonly row: number;
}

/** The failure of a run. */
export interface RunError {
  /** The types of the arguments of the operator that failed. */
  readonly arguments: readonly string[];
  /** The name of the code. */
  readonly code: string;
  readonly help?: string;
  readonly message: string;
  /** The number of calls in the middle of the trace that are omitted. */
  readonly omitted: number;
  /** The innermost place in the document. */
  readonly range?: Range;
  /** The calls, the innermost first. */
  readonly trace: readonly TraceStep[];
}

/** The response to `relay.run`. */
export type RunResponse = RunResult | RecalledArguments;

/** The result of a run, or its failure. */
export interface RunResult {
  /** The names of the parameters with random arguments. */
  readonly drawn?: readonly string[];
  /** The failure of a run that is not done. */
  readonly error?: RunError;
  readonly function?: string;
  /** The variables with NaN or Inf, in the order of evaluation. Missing if the run was cancelled. */
  readonly notFinite?: readonly NotFinite[];
  /** Missing if the run was cancelled. */
  readonly profile?: Profile;
  /** The random arguments and their seed, as in `` `%x` is random (seed 1)``. */
  readonly random?: string;
  /** The seed of the random arguments. */
  readonly seed?: number;
  readonly status: RunStatus;
  /** The tensors of the result; other values have only a text. */
  readonly tensors?: readonly TensorText[];
  /** The result in full. */
  readonly text: string;
  /** The time of the function. */
  readonly time?: Seconds;
  /** The result in one line. */
  readonly title: string;
  readonly uri?: string;
  /** The value of a run that is done. Tensors with many elements are summarised. */
  readonly value?: unknown;
  /** The version of the document. */
  readonly version?: number;
  /** The view of one value of a variable, if requested. */
  readonly view?: ValueView;
  /** Warnings about the files of the arguments. */
  readonly warnings?: readonly string[];
  /** The time with that of reading the module and the arguments. */
  readonly whole?: Seconds;
}

/** The state in which a run ended. */
export type RunStatus = "done" | "failed" | "cancelled";

/** The response to `relay/saveCode`. */
export interface SavedCode {
  /** The new state of the written file; `null` if the file has changed on disk, and nothing was written. */
  readonly stamp: string | null;
  /** The new text of the view if constants were removed, whose successors have other numbers. */
  readonly text?: string;
}

/** An element of a tensor of scores. */
export interface Score {
  /** The position as a text. */
  readonly place: string;
  readonly position: readonly number[];
  readonly text: string;
  readonly value: number;
}

/** A time in seconds, with its text. */
export interface Seconds {
  /** The text, as in `12.3 ms`. */
  readonly text: string;
  readonly value: number;
}

/** The response to `relay/whyShape`; `null` for expressions that are not tensors. */
export interface ShapeExplanation {
  /** The sizes by axis; for a tuple, by field and axis. */
  readonly dimensions: readonly Dimension[];
  /** The text or description of the expression. */
  readonly expression: string;
  /** The explanation as Markdown. */
  readonly markdown: string;
  readonly range: Range;
  readonly type: string;
}

/** The response to `relay/shapes` and `relay/shapesOfFile`. */
export interface ShapeReport {
  readonly functions: readonly FunctionShapes[];
  /** The version of the document; 0 for a file. */
  readonly version: number;
}

/** The place where a size comes from or changes, with a description. */
export interface ShapeStep {
  readonly location: Location;
  readonly message: string;
}

/** A side of a comparison. */
export type SideName = "before" | "after";

/** An input of a function. */
export interface Source {
  readonly kind: SourceKind;
  /** The type for narrow places: `1×64 f32`. */
  readonly label: string;
  readonly name: string;
  readonly range: Range;
  readonly type: string;
}

/** The kind of an input of a function. */
export type SourceKind = "input" | "weight" | "constant";

/** What a pass did to an expression, in the order of the log. */
export type StepKind = "same" | "changed" | "fused" | "unfused" | "inlined" | "folded" | "expanded";

/** A change where an editor stops. On the side without the expression, its place is that of the preceding one. */
export interface Stop {
  readonly after: Range;
  readonly before: Range;
  readonly kind: ChangeKind;
  /** The side without the expression. */
  readonly without?: SideName;
}

/** A field of a tuple that is taken. */
export interface TakenField {
  /** The index, from 0. */
  readonly index: number;
  /** The type for narrow places: `1×64 f32`. */
  readonly label: string;
}

/** A tensor of a type. */
export interface Tensor {
  /** The size if it is known: `64 elements, 256 bytes`. */
  readonly amount: string | null;
  readonly dimensions: readonly Axis[];
  /** True if axes were omitted. */
  readonly isCut: boolean;
  /** The part of the type: `field 0`, `%x`, `result`, or empty for the whole type. */
  readonly part: string;
  readonly type: string;
}

/** An axis of a tensor in a view. */
export interface TensorAxis {
  /** The index that it takes; none of an axis that is shown. */
  readonly index?: number;
  readonly size: number;
  /** What the slice takes of it: `3`, `:`, `2:8`. */
  readonly taken: string;
}

/** An image, which has every few pixels of a large tensor. */
export interface TensorImage {
  readonly height: number;
  readonly layout: string;
  /** Red, green, blue and opacity of each pixel, a byte each, in base64. */
  readonly pixels: string;
  /** What is black and what is white. */
  readonly scale: string;
  readonly width: number;
}

/** A view of a tensor as text: its type, statistics, distribution and elements. */
export interface TensorListing {
  readonly lines: readonly string[];
  /** The slice after this one, if it takes one element of some axes and is not the last one. */
  readonly next?: string;
  /** The slice before it, likewise. */
  readonly previous?: string;
}

/** A heat map. A cell is the mean of the finite elements of a block. */
export interface TensorPicture {
  /** The cells in row-major order: -255 to 255 on the scale, 1000 for a block with NaN, 1001 for one with infinities. */
  readonly cells: readonly number[];
  readonly columns: number;
  /** The distribution of the finite elements, if they differ. */
  readonly distribution?: Distribution;
  /** A note on the size of a block, if a cell is more than one element. */
  readonly reduced?: string;
  /** The numbers of cells. */
  readonly rows: number;
  /** True if the scale has its zero in the middle; otherwise it begins at the least element. */
  readonly signed: boolean;
  /** The statistics of the slice in one line. */
  readonly summary: string;
  /** The texts of the cells, if they are few enough. */
  readonly texts?: readonly string[];
  readonly title: string;
}

/** A part of a result: a tensor, or another value as a text. */
export interface TensorText {
  /** The minimum, mean and maximum, and the numbers of NaN and Inf. */
  readonly brief?: string;
  /** The number of elements. */
  readonly elements?: number;
  /** The path in the result, as in `result.0`. */
  readonly name: string;
  /** The largest elements of a tensor that looks like scores. */
  readonly scores?: readonly Score[];
  /** The elements, or the value. */
  readonly text: string;
  readonly type?: string;
}

/** A slice of a tensor, with at most two axes, and what a view of it shows. */
export interface TensorView {
  readonly axes: readonly TensorAxis[];
  /** The tensor minus the other one. */
  readonly difference?: TensorPicture;
  /** The image, if a layout was requested. */
  readonly image?: TensorImage;
  /** The layouts in which the tensor can be an image: `NCHW`, `NHWC`, `CHW`, `HWC`. */
  readonly layouts: readonly string[];
  /** The view as text, if requested. */
  readonly listing?: TensorListing;
  /** The expression or the name of the tensor. */
  readonly name: string;
  /** An expression of numpy with the elements of the slice, if they are few enough. */
  readonly numpy?: string;
  /** The same slice of the tensor that it is compared with. */
  readonly other?: TensorPicture;
  readonly picture: TensorPicture;
  /** The slice that is shown: `[0, :, 3]`. */
  readonly slice: string;
  /** The statistics of the whole tensor in one line. */
  readonly summary: string;
  /** `Tensor[(1, 3), float32]` */
  readonly type: string;
}

/** A coefficient, and unknown sizes with their powers, by which it is multiplied. */
export interface Term {
  readonly coefficient: number;
  readonly factors: Readonly<Record<string, number>>;
}

/** A part of the time of a run. */
export interface TimePart {
  readonly time: Seconds;
  readonly what: string;
}

/** The totals of a function. */
export interface Total {
  readonly calls: number;
  readonly macs: Amount;
  readonly parameterBytes: Amount;
  readonly parameters: Amount;
  readonly peakBytes: Amount;
  /** The row at which the peak is reached. */
  readonly peakRow: number | null;
  /** The rows whose results are live at the peak, the largest first. */
  readonly peakRows: readonly number[];
  /** The totals in one line. */
  readonly text: string;
}

/** The costs of both modules, if known. */
export interface Totals {
  readonly after: Cost | null;
  readonly before: Cost | null;
}

/** A place of a trace. */
export interface TracePlace {
  /** The file, the line and the column, as in `net.relay:12:3`. */
  readonly at: string;
  /** The offset after the last byte. */
  readonly end: number;
  /** The offset of the first byte. */
  readonly start: number;
}

/** A call of a trace. */
export interface TraceStep {
  readonly function: string;
  readonly place: TracePlace | null;
}

/** The response to `relay/typeAt`; `null` if nothing has a type. */
export interface TypeAt {
  /** The variables that the expression uses. */
  readonly context: readonly Variable[];
  /** What the elements are like, where the expression is a constant of the metadata section. */
  readonly elements: Elements | null;
  /** The type that the context of the expression expects. */
  readonly expected: ExpectedType | null;
  readonly kind: string;
  /** The range of the expression or name. */
  readonly range: Range;
  /** The text of the expression, truncated. */
  readonly source: string;
  readonly tensors: readonly Tensor[];
  /** The lines of the type. */
  readonly type: readonly string[];
  /** The version of the document. */
  readonly version: number;
}

/** An unknown size. */
export interface UnknownSize {
  readonly name: string;
  readonly what: string;
}

/** An expression or the name of a function without a counterpart. */
export interface UnpairedExpr {
  /** The callee; empty if the expression is not a call. */
  readonly operator: string;
  readonly range: Range;
}

/** What is the matter with the values of a pair. */
export type ValueCategory = "tolerated" | "recovered" | "inherited" | "culprit" | "notRun";

/** The response to `relay/compareValues`. Ranges are relative to the start of each module. */
export interface ValueComparison {
  /** The marks of lines of the second module. */
  readonly after: readonly HeatMark[];
  /** The marks of lines of the first module, one for each line with a pair that has an error or was not compared. */
  readonly before: readonly HeatMark[];
  /** The pairs with an error of their own, by their numbers, in the order of the second side: the first one is the first divergence. */
  readonly divergences: readonly number[];
  /** True if the results agree, and no call has an error of its own. */
  readonly equal: boolean;
  /** The highest heat that there is. */
  readonly maxHeat: number;
  /** What is to be known of the arguments: which ones are random, and warnings about files. */
  readonly notes: readonly string[];
  /** The pairs of calls: first those that were computed on both sides, in the order of the second one. */
  readonly pairs: readonly ValuePair[];
  /** The report of `relay-analyzer compare`. */
  readonly report: string;
  /** The error of the results; `null` if they have different types or are not known. */
  readonly result: ErrorAmount | null;
  /** The outcome in one line. */
  readonly summary: string;
}

/** Two calls with their values. */
export interface ValuePair {
  /** The error of an ordinary run; `null` if it is not known. */
  readonly accumulated: ErrorAmount | null;
  readonly after: Range;
  readonly before: Range;
  readonly category: ValueCategory;
  /** The size of the error relative to the values, from 0 (none) to `maxHeat`. */
  readonly heat: number;
  /** The errors and the values of both sides, as Markdown. */
  readonly hover: string;
  /** The error on the operands of the first side; `null` if the calls were not compared. */
  readonly local: ErrorAmount | null;
  /** The text for the end of a line; empty if the values are equal. */
  readonly note: string;
  /** The operator of the second side. */
  readonly operator: string;
}

/** A value of a variable as a view draws it. */
export interface ValueView {
  /** The number of values of the variable in the run. */
  readonly count: number;
  /** The number of the value, from 1. */
  readonly number: number;
  readonly tensor: TensorView;
}

/** A variable with its type. */
export interface Variable {
  /** The place of its binding. */
  readonly location: Location;
  /** The name with its sigil. */
  readonly name: string;
  readonly type: string;
}

/** A parameter or free variable. */
export interface VariableInput {
  /** The index in `sources`. */
  readonly source: number;
  readonly variable: string;
}
