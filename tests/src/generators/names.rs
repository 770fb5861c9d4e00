//! Names: unknown ones, shadowed ones, many of one kind.

use super::{Generator, clean, each, main_around, row, spread};

pub(super) const ALL: &[Generator] = &[
    row("unknown globals with near misses", |n| {
        let defs = each(n, |i| format!("def @value{i}(%x: int32) {{ @valeu{i}(%x) }}\n"));
        defs + "def @main() { 1 }\n"
    }),
    row("unknown globals in one body, with near misses", |n| {
        let lines = each(n, |i| format!("  let %y{i} = @{}q(%x);\n", spread(i)));
        each(n, |i| format!("def @{}(%x: int32) {{ %x }}\n", spread(i)))
            + &main_around(&lines, "%x")
    }),
    row("unknown globals without near misses", |n| {
        let defs =
            each(n, |i| format!("def @{}(%x: int32) {{ @{}(%x) }}\n", spread(i), spread(i + n)));
        defs + "def @main() { 1 }\n"
    }),
    row("unknown variables with near misses", |n| {
        let lines = each(n, |i| format!("  let %value{i} = nn.relu(%valeu{i});\n"));
        main_around(&lines, "%x")
    }),
    row("unknown graph variables", |n| {
        main_around(&each(n, |i| format!("  %{i} = nn.relu(%{});\n", i + n)), "%x")
    }),
    row("one unknown variable used often", |n| {
        main_around(&each(n, |i| format!("  let %y{i} = nn.relu(%missing);\n")), "%x")
    }),
    row("unknown operators", |n| {
        main_around(&each(n, |i| format!("  let %y{i} = nn.dence{i}(%x);\n")), "%x")
    }),
    row("unknown constructors with near misses", |n| {
        let defs = each(n, |i| format!("Constructor{i}(int32), "));
        let lines = each(n, |i| format!("  let %y{i} = Construtcor{i}(1);\n"));
        format!("type T {{ {defs} }}\n{}", main_around(&lines, "%x"))
    }),
    row("unknown constructors in patterns", |n| {
        let defs = each(n, |i| format!("Constructor{i}(int32), "));
        let arms = each(n, |i| format!("Construtcor{i}(%y) => %y, "));
        format!("type T {{ {defs} }}\ndef @main(%t: T) {{ match (%t) {{ {arms} }} }}\n")
    }),
    row("unknown types with near misses", |n| {
        let defs = each(n, |i| format!("type Named{i} {{ A{i} }}\n"));
        defs + &each(n, |i| format!("def @f{i}(%x: Naemd{i}) {{ %x }}\n"))
    }),
    row("unknown types in one header", |n| {
        let defs = each(n, |i| format!("type Named{i} {{ A{i} }}\n"));
        format!("{defs}def @main({}) {{ 1 }}\n", each(n, |i| format!("%x{i}: Naemd{i}, ")))
    }),
    row("unknown attributes of many calls", |n| {
        main_around(&each(n, |i| format!("  %{i} = nn.softmax(%x, axs={i});\n")), "%x")
    }),
    row("unknown attributes of one call", |n| {
        main_around(
            &format!("  %0 = nn.conv2d(%x, %w{});\n", each(n, |i| format!(", axs{i}={i}"))),
            "%x",
        )
    }),
    row("unknown relations", |n| {
        each(n, |i| format!("def @f{i}(%x, %y) where Brodacast{i} {{ %x }}\n"))
    }),
    row("unknown type parameters", |n| {
        each(n, |i| format!("def @f{i}[Abc](%x: Abd) -> Abe {{ %x }}\n"))
    }),
    row("wrong sigils", |n| {
        let defs = each(n, |i| format!("def @f{i}(%x: int32) {{ f{i}(%x) }}\n"));
        defs + &main_around(&each(n, |i| format!("  let %y{i} = %f{i}(1);\n")), "%x")
    }),
    row("two long unknown names", |n| {
        // One name as long as the whole text: comparing it with the other must not take the square.
        let (near, far) = ("a".repeat(n * 8), "b".repeat(n * 8));
        format!("def @{near}(%{near}: int32) {{ (@{far}(1), %{far}, {far}(1), nn.{far}(1)) }}\n")
    }),
    clean("one name shadowed by let", |n| {
        main_around(&each(n, |_| "  let %x = nn.relu(%x);\n"), "%x")
    }),
    clean("one graph variable shadowed", |n| {
        main_around(&format!("  %0 = %x;\n{}", each(n, |_| "  %0 = nn.relu(%0);\n")), "%0")
    }),
    row("one name shadowed by patterns", |n| {
        main_around(&each(n, |_| "  let %x = match (%x) { %x => nn.relu(%x) };\n"), "%x")
    }),
    clean("one name shadowed by parameters", |n| {
        main_around(&each(n, |_| "  let %x = fn (%x) { nn.relu(%x) }(%x);\n"), "%x")
    }),
    row("one parameter many times", |n| {
        format!("def @main({}) {{ %x }}\n", each(n, |_| "%x: int32, "))
    }),
    row("one definition many times", |n| each(n, |_| "def @main(%x: int32) { %x }\n")),
    row("one definition many times without types", |n| {
        each(n, |_| "def @main(%x) { @main(%x) }\n")
    }),
    row("one type many times", |n| each(n, |_| "type T { A }\n")),
    row("one constructor many times", |n| format!("type T {{ {} }}\n", each(n, |_| "A(int32), "))),
    row("one type parameter many times", |n| {
        format!("def @main[{}](%x: A) {{ %x }}\n", each(n, |_| "A, "))
    }),
    row("one name bound twice in a pattern", |n| {
        format!("def @main(%t: int32) {{ match (%t) {{ ({}) => %y }} }}\n", each(n, |_| "%y, "))
    }),
    clean("one variable used often", |n| {
        main_around(&each(n, |i| format!("  let %y{i} = add(%x, %w);\n")), "%x")
    }),
    clean("one function used often", |n| {
        let lines = each(n, |i| format!("  let %y{i} = @f(%x);\n"));
        format!("def @f[A](%y: A) -> A {{ %y }}\n{}", main_around(&lines, "%x"))
    }),
    row("one function without types used often", |n| {
        let lines = each(n, |i| format!("  let %y{i} = @f(%x, %w);\n"));
        format!("def @f(%a, %b) {{ add(%a, %b) }}\n{}", main_around(&lines, "%x"))
    }),
    row("dotted and colon names", |n| {
        let params = each(n, |i| format!("%aten::a_{i}.w: Tensor[(2, 3), float32], "));
        format!(
            "def @main({params}%x.1: int32) {{\n{}  %x.1\n}}\n",
            each(n, |i| format!("  %{i} = nn.relu(%aten::a_{i}.w);\n"))
        )
    }),
    row("dotted names that clash", |n| {
        let params = each(n, |i| format!("%a.b{}: int32, %a::b{}: int32, ", i / 2, i / 2));
        format!("def @main({params}%x.1: int32) {{ %x.1 }}\n")
    }),
    row("unused bindings", |n| main_around(&each(n, |i| format!("  let %y{i} = 1;\n")), "%x")),
    row("unused graph bindings", |n| {
        main_around(&each(n, |i| format!("  %{i} = nn.relu(%x);\n")), "%x")
    }),
];
