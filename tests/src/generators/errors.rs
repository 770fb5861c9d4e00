//! Errors: at the end of a long text, as consequences of others, or repeated.

use super::{Generator, each, main_around, row};

/// Returns a valid chain of `n` bindings, the last of which is `%(n - 1)`.
fn chain(n: usize) -> String {
    each(n, |i| match i {
        0 => "  %0 = add(%x, %w);\n".to_owned(),
        i => format!("  %{i} = add(%{}, %w);\n", i - 1),
    })
}

pub(super) const ALL: &[Generator] = &[
    row("errors at the end of a chain", |n| {
        let last = n - 1;
        let errors = each(n, |i| format!("  %{} = add(%{last}, %v);\n", n + i));
        main_around(&(chain(n) + &errors), "%x")
    }),
    row("errors at the end of a chain of shapes", |n| {
        // Each step permutes the axes, so that a size has an origin in each of them.
        let steps = each(n, |i| match i {
            0 => "  %0 = transpose(%x, axes=[1, 0]);\n".to_owned(),
            i => format!("  %{i} = transpose(%{}, axes=[1, 0]);\n", i - 1),
        });
        let last = n - 1;
        let errors = each(n, |i| format!("  %{} = add(%{last}, %v);\n", n + i));
        main_around(&(steps + &errors), "%x")
    }),
    row("errors at the end of a chain of lets", |n| {
        let steps = each(n, |_| "  let %x = nn.relu(%x);\n");
        main_around(&(steps + &each(n, |i| format!("  let %y{i} = add(%x, %v);\n"))), "%x")
    }),
    row("errors all along a chain", |n| {
        let steps = each(n, |i| match i {
            0 => "  %0 = add(%x, %w);\n".to_owned(),
            i => format!("  %{i} = add(add(%{}, %w), add(%{}, %v));\n", i - 1, i - 1),
        });
        main_around(&steps, "%x")
    }),
    row("each error a consequence of the one before", |n| {
        let steps = each(n, |i| match i {
            0 => "  %0 = add(%x, %v);\n".to_owned(),
            i => format!("  %{i} = nn.dense(%{}, %v, units=7);\n", i - 1),
        });
        main_around(&steps, "%x")
    }),
    row("independent errors", |n| {
        main_around(&each(n, |i| format!("  %{i} = add(%x, %v);\n")), "%x")
    }),
    row("mismatched annotations", |n| {
        main_around(&each(n, |i| format!("  let %y{i}: int32 = add(%x, %w);\n")), "%x")
    }),
    row("one mismatched annotation, used often", |n| {
        let uses = each(n, |i| format!("  let %y{i} = add(%y, %w);\n"));
        main_around(&format!("  let %y: Tensor[(5), float32] = %x;\n{uses}"), "%x")
    }),
    row("mismatched type comments", |n| {
        main_around(
            &each(n, |i| format!("  %{i} = nn.relu(%x) /* ty=Tensor[(2, 4), float32] */;\n")),
            "%x",
        )
    }),
    row("calls with too few arguments", |n| {
        let lines = each(n, |i| format!("  let %y{i} = @f(%x);\n"));
        format!("def @f(%a: int32, %b: int32) {{ %a }}\n{}", main_around(&lines, "%x"))
    }),
    row("one call with too many arguments", |n| {
        main_around(&format!("  let %y = add({});\n", each(n, |_| "%x, ")), "%x")
    }),
    row("calls of values that are not functions", |n| {
        main_around(&each(n, |i| format!("  let %y{i} = %x(%w);\n")), "%x")
    }),
    row("branches of different types", |n| {
        main_around(&each(n, |i| format!("  let %y{i} = if (%c) {{ %x }} else {{ %v }};\n")), "%x")
    }),
    row("conditions that are not bool", |n| {
        main_around(&each(n, |i| format!("  let %y{i} = if (%x) {{ %x }} else {{ %x }};\n")), "%x")
    }),
    row("wrong arguments at calls of functions", |n| {
        let lines = each(n, |i| format!("  let %y{i} = @f{i}(%v);\n"));
        let defs = each(n, |i| format!("def @f{i}(%a: Tensor[(2, 3), float32]) {{ %a }}\n"));
        defs + &main_around(&lines, "%x")
    }),
    row("definitions with one error each", |n| {
        each(n, |i| {
            format!(
                "def @f{i}(%a: Tensor[(2, 3), float32], %b: Tensor[(4), float32]) {{ add(%a, %b) }}\n"
            )
        })
    }),
    row("an error passed through many functions", |n| {
        let defs = each(n, |i| format!("def @f{i}(%a) {{ @f{}(%a) }}\n", i + 1));
        let bad = format!("def @f{n}(%a) {{ add(%a, @missing) }}\n");
        defs + &bad + &main_around(&each(n, |i| format!("  let %y{i} = @f{i}(%x);\n")), "%x")
    }),
    row("tuple indices out of range", |n| {
        main_around(&each(n, |i| format!("  %{i} = (%x, %w).{};\n", i + 2)), "%x")
    }),
    row("projections of one tuple out of range", |n| {
        let fields = each(n, |_| "%x, ");
        main_around(
            &format!(
                "  let %t = ({fields});\n{}",
                each(n, |i| format!("  %{i} = %t.{};\n", n + i))
            ),
            "%x",
        )
    }),
    row("calls with a missing bracket", |n| {
        main_around(&each(n, |i| format!("  %{i} = add(%x, %w;\n")), "%x")
    }),
    row("bindings without a value", |n| main_around(&each(n, |i| format!("  %{i} = ;\n")), "%x")),
    row("lines of brackets", |n| main_around(&each(n, |_| "  ) ] } = ; , \" /* \n"), "%x")),
    row("lines of characters that are not tokens", |n| {
        main_around(&each(n, |_| "  'q' $ ` \\ \u{1}\n"), "%x")
    }),
    row("definitions that end early", |n| {
        each(n, |i| format!("def @f{i}(%x: int32) {{ let %y = \n"))
    }),
    row("closing braces", |n| main_around(&each(n, |_| "  }\n"), "%x")),
    row("broken match arms", |n| {
        format!(
            "def @main(%x: int32) {{ match (%x) {{ {} }} }}\n",
            each(n, |i| format!("C{i}( => %x, "))
        )
    }),
    row("statements after an error", |n| {
        main_around(&format!("  let %q = ((;\n{}", chain(n)), "%x")
    }),
    row("integers out of range", |n| {
        main_around(&each(n, |i| format!("  let %y{i}: int8 = {};\n", 1000 + i)), "%x")
    }),
    row("infinite types", |n| {
        main_around(&each(n, |i| format!("  let %f{i} = fn (%y) {{ %y(%y) }};\n")), "%x")
    }),
    row("operators that TVM rejects", |n| {
        main_around(&each(n, |i| format!("  %{i} = mul(%x, %w) && True\n")), "%x")
    }),
];
