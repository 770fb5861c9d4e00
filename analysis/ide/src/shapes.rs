//! The shape report: the shapes, parameters, multiply-accumulates and memory of each call of a
//! function.
//!
//! - A row is a call of an operator or a function, in order of evaluation. A function expression has
//!   its own rows, which are counted at each of its calls.
//! - **Parameters** are elements of constants and weights. A parameter of the function is a weight
//!   if it is not the first argument of an operator (`%w` in `nn.dense(%x, %w)`), if it is the table
//!   of `take`, or if it is an operand of `add` whose other operand is computed and to whose shape it is
//!   broadcast: one of the shape of the result is data, such as a mask. It stays a weight if it is
//!   transposed, reshaped or cast. A parameter that is also a first argument somewhere is an input
//!   instead, as `%x` in `add(nn.dense(%x, %w), %x)`. A total counts each weight once.
//! - **Memory** is that of results, each of which is live from its call to its last use. It excludes
//!   parameters and includes all branches.
//! - Unknown sizes are factors: see [`Amount`].

mod amount;
mod data;
mod function;
mod memory;
mod sizes;
mod totals;

use std::collections::BTreeMap;

use operators::Category;
use semantics::{Db, Def, DefKind, SourceFile, all_defs};
use syntax::TextRange;
use types::Type;

pub use amount::{Amount, UnknownId};
pub use function::layer;
use function::{Content, Reporter};
pub use totals::{Group, LayerTotal, Total, UncountedCall};

use crate::words;

/// The shape report of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionShapes {
    /// The name of the global, or of the variable that a function expression is bound to.
    pub name: String,
    /// The range of the function.
    pub range: TextRange,
    /// The calls in order of evaluation.
    pub rows: Vec<Row>,
    /// The inputs, weights and constants in order of first use.
    pub sources: Vec<Source>,
    /// The origins of the result, field by field for a tuple.
    pub results: Vec<Input>,
    /// The function expressions inside the function that contain calls.
    pub functions: Vec<FunctionShapes>,
    /// The cost of one run.
    pub total: Total,
    /// The cost by operator, the most expensive first. A called function counts as the operators
    /// that it calls.
    pub by_operator: Vec<Group>,
    /// The cost by the place in the framework's program that a `span=` comment names.
    pub by_span: Vec<Group>,
    /// The cost by layer, each before those inside of it; empty without layers, and in [`shapes`].
    pub by_layer: Vec<LayerTotal>,
    /// The unknown sizes, indexed by [`UnknownId`].
    pub unknowns: Vec<UnknownSize>,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The variable that the result is bound to.
    pub binding: Option<String>,
    /// The callee: `nn.dense`, `@f`, `%f`.
    pub operator: String,
    /// The category of the operator; `None` if the callee is a function.
    pub category: Option<Category>,
    /// What the callee calls.
    pub called: CallTarget,
    /// The type of the result.
    pub ty: Type,
    /// The range of the call in the file.
    pub range: TextRange,
    /// The number of elements of the weights and constants among the arguments.
    pub params: Amount,
    /// The number of multiply-accumulates.
    pub macs: Amount,
    /// The size of the result in bytes.
    pub bytes: Amount,
    /// The size in bytes of all results that are live during the call, including its own.
    pub live: Amount,
    /// The size in bytes of what is live during the call with what the callee computes, if that is more than
    /// [`Row::live`].
    pub peak: Option<Amount>,
    /// The index of the last row during which the result is live; the number of rows if it is a result of the function.
    pub until: usize,
    /// The place in the framework's program that the call comes from.
    pub span: Option<String>,
    /// The origins of the arguments.
    pub inputs: Vec<Input>,
    /// Indices of [`Row::inputs`], with the fields that the call takes of their results, which are tuples.
    pub fields: Vec<(usize, u32)>,
    /// The names and values of the written attributes.
    pub attributes: Vec<(String, String)>,
    /// The reason why the number of multiply-accumulates is undefined.
    pub undefined: Option<String>,
}

/// What the callee of a call calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallTarget {
    /// Nothing: the callee is an operator, or not known.
    Nothing,
    /// Operators, also those that functions inside of it call.
    Operators {
        /// The number of calls.
        calls: u64,
        /// The size of their results in bytes.
        bytes: Amount,
    },
    /// The function around the call, or too many functions inside of each other: they are not counted.
    Recursive,
}

/// The origin of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The result of a row.
    Row(usize),
    /// One of the function's [`sources`](FunctionShapes::sources).
    Source(usize),
}

/// A value that no call of the function computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The name of the variable, or the text of the constant.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The role in the function.
    pub kind: SourceKind,
    /// The range of the binder or of the constant.
    pub range: TextRange,
}

/// The role of a source in its function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// A parameter that is data, or a variable from outside of the function.
    Input,
    /// A parameter that is a weight.
    Weight,
    /// A constant.
    Constant,
}

/// A size that is unknown before the function runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownSize {
    /// The name in amounts: `n1`.
    pub name: String,
    /// The description: ``axis 0 of `%x` ``.
    pub what: String,
}

impl FunctionShapes {
    /// Returns the name of an unknown size in amounts.
    pub fn unknown_name(&self, unknown: UnknownId) -> String {
        self.unknowns.get(unknown as usize).map_or_else(|| "?".into(), |size| size.name.clone())
    }

    /// Formats a number: `100,352·n`.
    pub fn number(&self, amount: &Amount) -> String {
        amount.plain(&|unknown| self.unknown_name(unknown))
    }

    /// Formats a number of bytes: `3.1 MiB`, `512 bytes·n`.
    pub fn bytes(&self, amount: &Amount) -> String {
        amount.text(&|unknown| self.unknown_name(unknown), &words::bytes)
    }

    /// Returns the rows whose results are live at the peak, the largest first.
    pub fn peak_rows(&self) -> Vec<usize> {
        let Some(peak) = self.total.peak_row else { return Vec::new() };
        let rows = self.rows.iter().enumerate().take(peak + 1);
        let live = rows.filter(|(_, row)| row.until >= peak && !row.bytes.is_zero());
        let mut found: Vec<usize> = live.map(|(at, _)| at).collect();
        found.sort_by_key(|&at| std::cmp::Reverse(self.rows[at].bytes.at_one()));
        found
    }

    /// Returns this function and the functions inside it, the outer ones first.
    pub fn all(&self) -> Vec<&FunctionShapes> {
        let mut found = Vec::new();
        let mut stack = vec![self];
        while let Some(function) = stack.pop() {
            found.push(function);
            stack.extend(function.functions.iter().rev());
        }
        found
    }
}

/// Returns the shape reports of the functions of a file that contain calls, or of the functions
/// called `name`.
pub fn shapes(db: &dyn Db, file: SourceFile, name: Option<&str>) -> Vec<FunctionShapes> {
    reports(db, file, name, Content::Whole)
}

/// Returns the reports of [`shapes`] with zero for all amounts and without groups: the calls with their types, attributes
/// and origins.
pub fn structure(db: &dyn Db, file: SourceFile) -> Vec<FunctionShapes> {
    reports(db, file, None, Content::Structure)
}

fn reports(
    db: &dyn Db,
    file: SourceFile,
    name: Option<&str>,
    content: Content,
) -> Vec<FunctionShapes> {
    let is_selected = |def: &Def<'_>| match name {
        Some(name) => def.kind(db) == DefKind::Fn && def.name(db) == name,
        None => def.kind(db).has_body(),
    };
    let defs: Vec<Def<'_>> = all_defs(db, file).filter(is_selected).collect();
    let mut reporter = Reporter::new(db, content);
    let found = defs.into_iter().filter_map(|def| reporter.report(def));
    found.filter(|f| name.is_some() || !f.rows.is_empty() || !f.functions.is_empty()).collect()
}

/// Returns reports with only the totals of `defs`, `None` for a definition that is no function or
/// expression.
pub fn totals<'db>(db: &'db dyn Db, defs: &[Def<'db>]) -> Vec<Option<FunctionShapes>> {
    let mut reporter = Reporter::new(db, Content::Totals);
    defs.iter().map(|&def| reporter.summary(def)).collect()
}

/// Returns the parts of a total, the most expensive first.
fn sorted(groups: &BTreeMap<String, Group>) -> Vec<Group> {
    let mut groups: Vec<Group> = groups.values().cloned().collect();
    groups.sort_by_key(|group| {
        std::cmp::Reverse((group.macs.at_one(), group.bytes.at_one(), group.count))
    });
    groups
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;

    fn source(function: &FunctionShapes, input: Input) -> String {
        match input {
            Input::Row(row) => format!("#{row}"),
            Input::Source(at) => function.sources[at].name.clone(),
        }
    }

    fn render(function: &FunctionShapes, out: &mut String) {
        *out += &format!("{}\n", function.name);
        for (at, row) in function.rows.iter().enumerate() {
            let inputs: Vec<String> = row.inputs.iter().map(|&i| source(function, i)).collect();
            *out += &format!(
                "#{at} {} = {}({}): {} | params {} | macs {} | bytes {} | live {} until {}{}{}\n",
                row.binding.as_deref().unwrap_or("_"),
                row.operator,
                inputs.join(", "),
                row.ty,
                function.number(&row.params),
                function.number(&row.macs),
                function.number(&row.bytes),
                function.number(&row.live),
                row.until,
                row.span.as_ref().map(|span| format!(" | from {span}")).unwrap_or_default(),
                row.undefined.as_ref().map(|why| format!(" | {why}")).unwrap_or_default(),
            );
        }
        let total = &function.total;
        *out += &format!(
            "total: params {} ({}) | macs {} | peak {} at {:?} of {:?} | calls {}\n",
            function.number(&total.params),
            function.bytes(&total.param_bytes),
            function.number(&total.macs),
            function.number(&total.peak),
            total.peak_row,
            function.peak_rows(),
            total.calls,
        );
        for (key, groups) in [("operator", &function.by_operator), ("span", &function.by_span)] {
            for group in groups {
                let (macs, bytes) = (function.number(&group.macs), function.number(&group.bytes));
                *out += &format!("by {key}: {} ×{} {macs} {bytes}\n", group.name, group.count);
            }
        }
        for unknown in &function.unknowns {
            *out += &format!("{}: {}\n", unknown.name, unknown.what);
        }
        for inner in &function.functions {
            *out += "-- ";
            render(inner, out);
        }
    }

    fn check(text: &str, expected: Expect) {
        let fixture = Fixture::new(text);
        let mut out = String::new();
        for function in shapes(&fixture.db, fixture.file, None) {
            render(&function, &mut out);
        }
        expected.assert_eq(&out);
    }

    /// Removes the amounts of a report. The nesting of functions is bounded.
    fn without_amounts(function: FunctionShapes) -> FunctionShapes {
        let row = |row: Row| Row {
            called: CallTarget::Nothing,
            params: Amount::ZERO,
            macs: Amount::ZERO,
            bytes: Amount::ZERO,
            live: Amount::ZERO,
            peak: None,
            until: 0,
            undefined: None,
            ..row
        };
        FunctionShapes {
            rows: function.rows.into_iter().map(row).collect(),
            functions: function.functions.into_iter().map(without_amounts).collect(),
            total: Total::default(),
            by_operator: Vec::new(),
            by_span: Vec::new(),
            ..function
        }
    }

    #[test]
    fn structure_is_the_report_without_amounts() {
        let fixture = Fixture::new(
            "
def @layer(%x: Tensor[(1, 8), float32], %w: Tensor[(8, 8), float32]) -> Tensor[(1, 8), float32] {
  nn.dense(%x, %w, units=8) /* ty=Tensor[(1, 8), float32] span=aten::linear_0:1:2 */
}
def @main(%x: Tensor[(1, 8), float32], %w: Tensor[(8, 8), float32]) {
  let %f = fn (%y: Tensor[(1, 8), float32]) { nn.relu(@layer(%y, %w)) };
  %0 = split(%f(%x), indices_or_sections=2, axis=1);
  add(%0.0, multiply(%0.1, 2f))
}
",
        );
        let whole = shapes(&fixture.db, fixture.file, None).into_iter().map(without_amounts);
        assert_eq!(structure(&fixture.db, fixture.file), whole.collect::<Vec<_>>());
    }

    /// All statements of a nested function are in one unit.
    #[test]
    fn every_row_of_a_long_nested_function_has_its_span() {
        let mut text = "def @main() {\n  fn (%v0: int32) {\n".to_owned();
        for at in 1..=2_000 {
            let ty = format!("/* ty=int32 span=net.py:{at} */");
            text += &format!("    let %v{at} = negative(%v{}) {ty};\n", at - 1);
        }
        text += "    %v2000\n  }\n}\n";
        let fixture = Fixture::new(&text);
        let found = shapes(&fixture.db, fixture.file, None);
        let rows = found.iter().flat_map(FunctionShapes::all).flat_map(|function| &function.rows);
        let spans: Vec<&str> = rows.filter_map(|row| row.span.as_deref()).collect();
        assert_eq!(spans.len(), 2_000);
        assert_eq!(spans.last(), Some(&"net.py:2000"));
    }

    #[test]
    fn report_of_sequential_function() {
        check(
            "
def @main(%x: Tensor[(1, 784), float32], %w: Tensor[(128, 784), float32], %b: Tensor[(128), float32]) {
  %0 = nn.dense(%x, %w, units=128) /* ty=Tensor[(1, 128), float32] span=aten::linear_0:1:2 */;
  %1 = nn.bias_add(%0, %b);
  %2 = nn.relu(%1);
  %3 = nn.dense(%2, transpose(%w, axes=[1, 0]), units=784);
  add(%3, %x)
}
",
            expect![[r#"
                @main
                #0 %0 = nn.dense(%x, %w): Tensor[(1, 128), float32] | params 100,352 | macs 100,352 | bytes 512 | live 512 until 1 | from aten::linear_0:1:2
                #1 %1 = nn.bias_add(#0, %b): Tensor[(1, 128), float32] | params 128 | macs 0 | bytes 512 | live 1,024 until 2
                #2 %2 = nn.relu(#1): Tensor[(1, 128), float32] | params 0 | macs 0 | bytes 512 | live 1,024 until 4
                #3 _ = transpose(%w): Tensor[(784, 128), float32] | params 0 | macs 0 | bytes 401,408 | live 401,920 until 4
                #4 %3 = nn.dense(#2, #3): Tensor[(1, 784), float32] | params 100,352 | macs 100,352 | bytes 3,136 | live 405,056 until 5
                #5 _ = add(#4, %x): Tensor[(1, 784), float32] | params 0 | macs 0 | bytes 3,136 | live 6,272 until 6
                total: params 100,480 (392.5 KiB) | macs 200,704 | peak 405,056 at Some(4) of [3, 4, 2] | calls 6
                by operator: nn.dense ×2 200,704 3,648
                by operator: transpose ×1 0 401,408
                by operator: add ×1 0 3,136
                by operator: nn.bias_add ×1 0 512
                by operator: nn.relu ×1 0 512
                by span: aten::linear_0 ×1 100,352 512
            "#]],
        );
    }

    #[test]
    fn report_has_sources_results_and_attributes() {
        let fixture = Fixture::new(
            "
def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(8, 4), float32]) {
  %0 = nn.dense(%x, transpose(%w, axes=[0, 1]), units=8);
  %1 = multiply(%0, 2f);
  (%1, %0, %x)
}
",
        );
        let found = shapes(&fixture.db, fixture.file, None);
        let [function] = found.as_slice() else { panic!("{found:?}") };
        let sources = function.sources.iter();
        let sources: Vec<_> =
            sources.map(|s| (s.kind, s.name.as_str(), s.ty.to_string())).collect();
        assert_eq!(
            sources,
            [
                (SourceKind::Weight, "%w", "Tensor[(8, 4), float32]".to_owned()),
                (SourceKind::Input, "%x", "Tensor[(1, 4), float32]".to_owned()),
                (SourceKind::Constant, "2f", "float32".to_owned()),
            ]
        );
        assert_eq!(function.results, [Input::Row(2), Input::Row(1), Input::Source(1)]);
        let attributes: Vec<_> = function.rows.iter().map(|row| row.attributes.clone()).collect();
        let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(attributes, [one("axes", "[0, 1]"), one("units", "8"), Vec::new()]);
    }

    #[test]
    fn result_is_live_until_last_use() {
        check(
            "
def @main(%x: Tensor[(256), float32]) {
  %0 = nn.relu(%x);
  %1 = tanh(%0);
  %2 = (%0, %1);
  %3 = exp(%1);
  %4 = %2.0;
  %5 = add(%4, %3);
  sigmoid(%5)
}
",
            expect![[r#"
                @main
                #0 %0 = nn.relu(%x): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 1,024 until 3
                #1 %1 = tanh(#0): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 2,048 until 3
                #2 %3 = exp(#1): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 3,072 until 3
                #3 %5 = add(#0, #2): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 4,096 until 4
                #4 _ = sigmoid(#3): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 2,048 until 5
                total: params 0 (0 bytes) | macs 0 | peak 4,096 at Some(3) of [0, 1, 2, 3] | calls 5
                by operator: add ×1 0 1,024
                by operator: exp ×1 0 1,024
                by operator: nn.relu ×1 0 1,024
                by operator: sigmoid ×1 0 1,024
                by operator: tanh ×1 0 1,024
            "#]],
        );
    }

    #[test]
    fn functions_count_at_each_call() {
        check(
            "
def @layer(%x: Tensor[(1, 8), float32], %w: Tensor[(8, 8), float32]) -> Tensor[(1, 8), float32] {
  nn.dense(%x, %w, units=8)
}
def @main(%x: Tensor[(1, 8), float32], %w1: Tensor[(8, 8), float32], %w2: Tensor[(8, 8), float32]) {
  let %f = fn (%y: Tensor[(1, 8), float32]) { nn.relu(@layer(%y, %w1)) };
  let %a = %f(%x);
  let %b = %f(%a);
  @layer(%b, %w2)
}
",
            expect![[r#"
                @layer
                #0 _ = nn.dense(%x, %w): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 32 until 1
                total: params 64 (256 bytes) | macs 64 | peak 32 at Some(0) of [0] | calls 1
                by operator: nn.dense ×1 64 32
                @main
                #0 %a = %f(%x): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 32 until 1
                #1 %b = %f(#0): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 64 until 2
                #2 _ = @layer(#1, %w2): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 64 until 3
                total: params 128 (512 bytes) | macs 192 | peak 96 at Some(1) of [0, 1] | calls 5
                by operator: nn.dense ×3 192 96
                by operator: nn.relu ×2 0 64
                -- %f
                #0 _ = @layer(%y, %w1): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 32 until 1
                #1 _ = nn.relu(#0): Tensor[(1, 8), float32] | params 0 | macs 0 | bytes 32 | live 64 until 2
                total: params 64 (256 bytes) | macs 64 | peak 64 at Some(1) of [0, 1] | calls 2
                by operator: nn.dense ×1 64 32
                by operator: nn.relu ×1 0 32
            "#]],
        );
    }

    /// `FuseOps` moves the scaling of an input into a function, in which only numbers are beside it.
    #[test]
    fn an_input_of_a_fused_call_is_no_weight() {
        let fixture = Fixture::new(
            "
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 1, 1), float32], %b: Tensor[(4, 1, 1), float32]) {
  %2 = fn (%p0: Tensor[(1, 3, 8, 8), float32], Primitive=1) {
    %0 = divide(%p0, cast(255, dtype=\"float32\"));
    %1 = subtract(%0, 0.5f);
    multiply(2f, %1)
  };
  %3 = %2(%x);
  %6 = fn (%p1: Tensor[(1, 3, 8, 8), float32], %p2: Tensor[(4, 3, 1, 1), float32], %p3: Tensor[(4, 1, 1), float32], Primitive=1) {
    %4 = nn.conv2d(%p1, %p2, padding=[0, 0, 0, 0]);
    %5 = add(%4, %p3);
    nn.relu(%5)
  };
  %6(%3, %w, %b)
}
",
        );
        let found = shapes(&fixture.db, fixture.file, None);
        let kind = |function: &FunctionShapes, name: &str| {
            function.sources.iter().find(|source| source.name == name).map(|source| source.kind)
        };
        let main = &found[0];
        let params: Vec<String> = main.rows.iter().map(|row| main.number(&row.params)).collect();
        assert_eq!(params, ["0", "16"]);
        assert_eq!(main.number(&main.total.params), "16");
        assert_eq!(kind(main, "%x"), Some(SourceKind::Input));
        assert_eq!(kind(main, "%w"), Some(SourceKind::Weight));
        assert_eq!(kind(&main.functions[0], "%p0"), Some(SourceKind::Input));
        assert_eq!(kind(&main.functions[1], "%p3"), Some(SourceKind::Weight));
    }

    #[test]
    fn unknown_sizes_are_factors() {
        check(
            "
def @main(%x: Tensor[(?, 784), float32], %y: Tensor[(?, 784), float32], %w: Tensor[(128, 784), float32]) {
  %0 = nn.dense(%x, %w, units=128);
  %1 = nn.relu(%0);
  %2 = nn.dense(%y, %w, units=128);
  %3 = nn.dense(%1, %2, units=None);
  %4 = argsort(%3, axis=-1, is_ascend=True, dtype=\"int32\");
  %3
}
",
            expect![[r#"
                @main
                #0 %0 = nn.dense(%x, %w): Tensor[(?, 128), float32] | params 100,352 | macs 100,352·n1 | bytes 512·n1 | live 512·n1 until 1
                #1 %1 = nn.relu(#0): Tensor[(?, 128), float32] | params 0 | macs 0 | bytes 512·n1 | live 1,024·n1 until 3
                #2 %2 = nn.dense(%y, %w): Tensor[(?, 128), float32] | params 100,352 | macs 100,352·n2 | bytes 512·n2 | live 512·n1 + 512·n2 until 3
                #3 %3 = nn.dense(#1, #2): Tensor[(?, ?), float32] | params 0 | macs 128·n1·n2 | bytes 4·n1·n2 | live 4·n1·n2 + 512·n1 + 512·n2 until 5
                #4 %4 = argsort(#3): Tensor[(?, ?), int32] | params 0 | macs ? | bytes 4·n1·n2 | live 8·n1·n2 until 4 | the number of comparisons depends on the algorithm
                total: params 100,352 (392.0 KiB) | macs 128·n1·n2 + 100,352·n1 + 100,352·n2 + ? | peak 4·n1·n2 + 512·n1 + 512·n2 at Some(3) of [1, 2, 3] | calls 5
                by operator: nn.dense ×3 128·n1·n2 + 100,352·n1 + 100,352·n2 4·n1·n2 + 512·n1 + 512·n2
                by operator: nn.relu ×1 0 512·n1
                by operator: argsort ×1 ? 4·n1·n2
                n1: axis 0 of `%x`
                n2: axis 0 of `%y`
            "#]],
        );
    }

    #[test]
    fn undefined_costs_have_reasons() {
        check(
            "
def @loop(%x: Tensor[(2, 2), float32]) -> Tensor[(2, 2), float32] {
  @loop(nn.dense(%x, %x, units=None))
}
def @apply(%f: fn (Tensor[(2), float32]) -> Tensor[(2), float32], %x: Tensor[(2), float32]) {
  if (True) { %f(%x) } else { exp(%x) }
}
def @list(%l: List[Tensor[(2), float32]]) { @hd(Cons(exp(@hd(%l)), %l)) }
",
            expect![[r#"
                @loop
                #0 _ = nn.dense(%x): Tensor[(2, 2), float32] | params 0 | macs 8 | bytes 16 | live 16 until 1
                #1 _ = @loop(#0): Tensor[(2, 2), float32] | params 0 | macs ? | bytes 16 | live 32 until 2 | the depth of the recursion is unknown
                total: params 0 (0 bytes) | macs 8 + ? | peak 32 at Some(1) of [0, 1] | calls 1
                by operator: nn.dense ×1 8 16
                by operator: @loop ×1 ? 16
                @apply
                #0 _ = %f(%x): Tensor[(2), float32] | params 0 | macs ? | bytes 8 | live 8 until 2 | the callee is unknown
                #1 _ = exp(%x): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 16 until 2
                total: params 0 (0 bytes) | macs ? | peak 16 at Some(1) of [0, 1] | calls 1
                by operator: %f ×1 ? 8
                by operator: exp ×1 0 8
                @list
                #0 _ = @hd(%l): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 8 until 1
                #1 _ = exp(#0): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 16 until 2
                #2 _ = @hd(#1, %l): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 16 until 3
                total: params 0 (0 bytes) | macs 0 | peak 16 at Some(1) of [0, 1] | calls 1
                by operator: exp ×1 0 8
            "#]],
        );
    }
}
