//! What a function computes, operator by operator: shapes, parameters, multiply-accumulates, memory.
//!
//! - A row is a call, of an operator or of a function; it stands where the call is evaluated. A
//!   function expression has rows of its own, which count where it is called.
//! - **Parameters** are elements of tensors that the calls are given from outside: constants, and
//!   parameters of the function where they are weights. A parameter of the function is a weight of
//!   an operator if it is no first argument (`%w` in `nn.dense(%x, %w)`), the table that `take`
//!   takes from, or one side of `add` where the other is computed. Transposed, reshaped or cast it
//!   is a weight still. What is a first argument anywhere in the function is no weight but an
//!   input, as `%x` in `add(nn.dense(%x, %w), %x)`. Each weight counts once in a total.
//! - **Memory** is that of results: each is there from the call that makes it to its last use.
//!   Parameters are not in it. Where there are branches, all of them count.
//! - Sizes that are not known are factors: see [`Amount`].

mod amount;
mod data;
mod function;
mod memory;
mod sizes;

use std::collections::BTreeMap;

use semantics::{Db, Def, DefKind, SourceFile, all_defs};
use syntax::TextRange;
use types::Type;

pub use amount::{Amount, Unknown};
pub(crate) use data::{is_index, keeps_data};
use function::Reporter;
pub use function::layer;

use crate::words;

/// What a function computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionShapes {
    /// Its name: a global, or the variable that a function expression is bound to.
    pub name: String,
    /// All of it.
    pub range: TextRange,
    /// Its calls, in the order of evaluation.
    pub rows: Vec<Row>,
    /// What its calls are given from outside, in the order of first use.
    pub sources: Vec<Source>,
    /// Where its result comes from: the fields of a tuple one by one.
    pub results: Vec<Input>,
    /// Function expressions in it that call something.
    pub functions: Vec<FunctionShapes>,
    /// What one run of it takes.
    pub total: Total,
    /// The same by operator, the most expensive first. Functions that are called count by what
    /// they call.
    pub by_operator: Vec<Group>,
    /// The same by the place in the framework's program that a `span=` comment names.
    pub by_span: Vec<Group>,
    /// The sizes that are not known, by number.
    pub unknowns: Vec<UnknownSize>,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The variable that the result is bound to, if it is.
    pub binding: Option<String>,
    /// What is called: `nn.dense`, `@f`, `%f`.
    pub operator: String,
    /// Whether it is an operator; else it is a function.
    pub is_operator: bool,
    /// The type of the result.
    pub ty: Type,
    /// Where the call stands.
    pub range: TextRange,
    /// Elements of the weights and constants that it is given.
    pub params: Amount,
    /// Multiply-accumulates.
    pub macs: Amount,
    /// Bytes of the result.
    pub bytes: Amount,
    /// Bytes of all results that are there while it runs, its own among them.
    pub live: Amount,
    /// The place in the framework's program that it came from.
    pub span: Option<String>,
    /// Where its arguments come from.
    pub inputs: Vec<Input>,
    /// The attributes that are written, with their values as text.
    pub attributes: Vec<(String, String)>,
    /// Why its multiply-accumulates cannot be told.
    pub untold: Option<String>,
}

/// Where an argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The result of a row.
    Row(usize),
    /// One of the function's [`sources`](FunctionShapes::sources).
    Source(usize),
}

/// Something that a function is given: no call of it makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The variable, or the constant as it is written.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// What it is to the function.
    pub kind: SourceKind,
    /// Where the variable is bound, or the constant stands.
    pub range: TextRange,
}

/// What a source is to its function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// A parameter that is worked on, or a variable from outside of the function.
    Input,
    /// A parameter that counts as a weight.
    Weight,
    /// A constant.
    Constant,
}

/// What one run of a function takes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// Elements of weights and constants.
    pub params: Amount,
    /// Bytes of them.
    pub param_bytes: Amount,
    /// Multiply-accumulates.
    pub macs: Amount,
    /// The most bytes of results that are there at once.
    pub peak: Amount,
    /// The row where that is.
    pub peak_row: Option<usize>,
    /// Calls of operators.
    pub calls: u64,
}

/// A part of a total.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// What the rows of the part have in common.
    pub name: String,
    /// How many calls there are.
    pub count: u64,
    /// Their multiply-accumulates.
    pub macs: Amount,
    /// Bytes of their results.
    pub bytes: Amount,
}

/// A size that is not known before the function runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownSize {
    /// What amounts call it.
    pub name: String,
    /// What it is: ``axis 0 of `%x` ``.
    pub what: String,
}

impl FunctionShapes {
    /// What amounts call a size that is not known.
    pub fn unknown_name(&self, unknown: Unknown) -> String {
        self.unknowns.get(unknown as usize).map_or_else(|| "?".into(), |size| size.name.clone())
    }

    /// A number as people read it: `100,352·n`.
    pub fn number(&self, amount: &Amount) -> String {
        amount.plain(&|unknown| self.unknown_name(unknown))
    }

    /// Bytes as people read them: `3.1 MiB`, `512 bytes·n`.
    pub fn bytes(&self, amount: &Amount) -> String {
        amount.text(&|unknown| self.unknown_name(unknown), &words::bytes)
    }

    /// This function and those in it, the outer ones first.
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

/// What the functions of a file compute; with `name`, those of that name. Functions that call
/// nothing are left out where no name is given.
pub fn shapes(db: &dyn Db, file: SourceFile, name: Option<&str>) -> Vec<FunctionShapes> {
    let wanted = |def: &Def<'_>| match name {
        Some(name) => def.kind(db) == DefKind::Fn && def.name(db) == name,
        None => matches!(def.kind(db), DefKind::Fn | DefKind::Expr),
    };
    let defs: Vec<Def<'_>> = all_defs(db, file).filter(wanted).collect();
    let mut reporter = Reporter::new(db, true);
    let found = defs.into_iter().filter_map(|def| reporter.report(def));
    found.filter(|f| name.is_some() || !f.rows.is_empty() || !f.functions.is_empty()).collect()
}

/// What one run of each of `defs` takes, for those that compute something.
pub fn totals<'db>(db: &'db dyn Db, defs: &[Def<'db>]) -> Vec<Option<FunctionShapes>> {
    let mut reporter = Reporter::new(db, false);
    defs.iter().map(|&def| reporter.summary(def)).collect()
}

/// The parts of a total, the most expensive first.
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
                "#{at} {} = {}({}): {} | params {} | macs {} | bytes {} | live {}{}{}\n",
                row.binding.as_deref().unwrap_or("_"),
                row.operator,
                inputs.join(", "),
                row.ty,
                function.number(&row.params),
                function.number(&row.macs),
                function.number(&row.bytes),
                function.number(&row.live),
                row.span.as_ref().map(|span| format!(" | from {span}")).unwrap_or_default(),
                row.untold.as_ref().map(|why| format!(" | {why}")).unwrap_or_default(),
            );
        }
        let total = &function.total;
        *out += &format!(
            "total: params {} ({}) | macs {} | peak {} at {:?} | calls {}\n",
            function.number(&total.params),
            function.bytes(&total.param_bytes),
            function.number(&total.macs),
            function.number(&total.peak),
            total.peak_row,
            total.calls,
        );
        for (what, groups) in [("operator", &function.by_operator), ("span", &function.by_span)] {
            for group in groups {
                let (macs, bytes) = (function.number(&group.macs), function.number(&group.bytes));
                *out += &format!("by {what}: {} ×{} {macs} {bytes}\n", group.name, group.count);
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

    #[test]
    fn a_straight_line() {
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
                #0 %0 = nn.dense(%x, %w): Tensor[(1, 128), float32] | params 100,352 | macs 100,352 | bytes 512 | live 512 | from aten::linear_0:1:2
                #1 %1 = nn.bias_add(#0, %b): Tensor[(1, 128), float32] | params 128 | macs 0 | bytes 512 | live 1,024
                #2 %2 = nn.relu(#1): Tensor[(1, 128), float32] | params 0 | macs 0 | bytes 512 | live 1,024
                #3 _ = transpose(%w): Tensor[(784, 128), float32] | params 0 | macs 0 | bytes 401,408 | live 401,920
                #4 %3 = nn.dense(#2, #3): Tensor[(1, 784), float32] | params 100,352 | macs 100,352 | bytes 3,136 | live 405,056
                #5 _ = add(#4, %x): Tensor[(1, 784), float32] | params 0 | macs 0 | bytes 3,136 | live 6,272
                total: params 100,480 (392.5 KiB) | macs 200,704 | peak 405,056 at Some(4) | calls 6
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
    fn what_a_function_is_given_and_gives() {
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
    fn memory_follows_the_last_use() {
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
                #0 %0 = nn.relu(%x): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 1,024
                #1 %1 = tanh(#0): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 2,048
                #2 %3 = exp(#1): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 3,072
                #3 %5 = add(#0, #2): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 4,096
                #4 _ = sigmoid(#3): Tensor[(256), float32] | params 0 | macs 0 | bytes 1,024 | live 2,048
                total: params 0 (0 bytes) | macs 0 | peak 4,096 at Some(3) | calls 5
                by operator: add ×1 0 1,024
                by operator: exp ×1 0 1,024
                by operator: nn.relu ×1 0 1,024
                by operator: sigmoid ×1 0 1,024
                by operator: tanh ×1 0 1,024
            "#]],
        );
    }

    #[test]
    fn functions_count_where_they_are_called() {
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
                #0 _ = nn.dense(%x, %w): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 32
                total: params 64 (256 bytes) | macs 64 | peak 32 at Some(0) | calls 1
                by operator: nn.dense ×1 64 32
                @main
                #0 %a = %f(%x): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 32
                #1 %b = %f(#0): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 64
                #2 _ = @layer(#1, %w2): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 64
                total: params 128 (512 bytes) | macs 192 | peak 96 at Some(1) | calls 5
                by operator: nn.dense ×3 192 96
                by operator: nn.relu ×2 0 64
                -- %f
                #0 _ = @layer(%y, %w1): Tensor[(1, 8), float32] | params 64 | macs 64 | bytes 32 | live 32
                #1 _ = nn.relu(#0): Tensor[(1, 8), float32] | params 0 | macs 0 | bytes 32 | live 64
                total: params 64 (256 bytes) | macs 64 | peak 64 at Some(1) | calls 2
                by operator: nn.dense ×1 64 32
                by operator: nn.relu ×1 0 32
            "#]],
        );
    }

    #[test]
    fn sizes_that_are_not_known() {
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
                #0 %0 = nn.dense(%x, %w): Tensor[(?, 128), float32] | params 100,352 | macs 100,352·n1 | bytes 512·n1 | live 512·n1
                #1 %1 = nn.relu(#0): Tensor[(?, 128), float32] | params 0 | macs 0 | bytes 512·n1 | live 1,024·n1
                #2 %2 = nn.dense(%y, %w): Tensor[(?, 128), float32] | params 100,352 | macs 100,352·n2 | bytes 512·n2 | live 512·n1 + 512·n2
                #3 %3 = nn.dense(#1, #2): Tensor[(?, ?), float32] | params 0 | macs 128·n1·n2 | bytes 4·n1·n2 | live 4·n1·n2 + 512·n1 + 512·n2
                #4 %4 = argsort(#3): Tensor[(?, ?), int32] | params 0 | macs ? | bytes 4·n1·n2 | live 8·n1·n2 | the number of comparisons depends on the algorithm
                total: params 100,352 (392.0 KiB) | macs 128·n1·n2 + 100,352·n1 + 100,352·n2 + ? | peak 4·n1·n2 + 512·n1 + 512·n2 at Some(3) | calls 5
                by operator: nn.dense ×3 128·n1·n2 + 100,352·n1 + 100,352·n2 4·n1·n2 + 512·n1 + 512·n2
                by operator: nn.relu ×1 0 512·n1
                by operator: argsort ×1 ? 4·n1·n2
                n1: axis 0 of `%x`
                n2: axis 0 of `%y`
            "#]],
        );
    }

    #[test]
    fn what_cannot_be_told() {
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
                #0 _ = nn.dense(%x): Tensor[(2, 2), float32] | params 0 | macs 8 | bytes 16 | live 16
                #1 _ = @loop(#0): Tensor[(2, 2), float32] | params 0 | macs ? | bytes 16 | live 32 | how often it calls itself is not known
                total: params 0 (0 bytes) | macs 8 + ? | peak 32 at Some(1) | calls 1
                by operator: nn.dense ×1 8 16
                by operator: @loop ×1 ? 16
                @apply
                #0 _ = %f(%x): Tensor[(2), float32] | params 0 | macs ? | bytes 8 | live 8 | what the function computes is not known
                #1 _ = exp(%x): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 16
                total: params 0 (0 bytes) | macs ? | peak 16 at Some(1) | calls 1
                by operator: %f ×1 ? 8
                by operator: exp ×1 0 8
                @list
                #0 _ = @hd(%l): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 8
                #1 _ = exp(#0): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 16
                #2 _ = @hd(#1, %l): Tensor[(2), float32] | params 0 | macs 0 | bytes 8 | live 16
                total: params 0 (0 bytes) | macs 0 | peak 16 at Some(1) | calls 1
                by operator: exp ×1 0 8
            "#]],
        );
    }
}
