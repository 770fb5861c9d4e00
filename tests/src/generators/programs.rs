//! Programs: tuples, data types, functions without types, closures.

use super::{Generator, clean, each, main_around, root, row};

/// `type T { C0, C1, … }` with `fields` after each name.
fn constructors(n: usize, fields: &str) -> String {
    format!("type T {{ {} }}\n", each(n, |i| format!("C{i}{fields}, ")))
}

pub(super) const ALL: &[Generator] = &[
    clean("projections of a wide tuple", |n| {
        let fields = each(n, |_| "%x, ");
        let lines = each(n, |i| format!("  let %y{i} = %t.{i};\n"));
        main_around(&format!("  let %t = ({fields});\n{lines}"), "%x")
    }),
    clean("projections of a wide tuple as a graph", |n| {
        let fields = each(n, |_| "%x, ");
        let lines = each(n, |i| format!("  %{} = add(%0.{i}, %w);\n", i + 1));
        main_around(&format!("  %0 = ({fields});\n{lines}"), "%x")
    }),
    clean("projections of a wide tuple parameter", |n| {
        let lines = each(n, |i| format!("  let %y{i} = %t.{i};\n"));
        format!("def @main(%t: ({})) {{\n{lines}  1\n}}\n", each(n, |_| "int32, "))
    }),
    clean("wide tuples passed through functions", |n| {
        // The length is linear in n: √n types with √n fields each.
        let (k, ty) = (root(n), format!("({})", each(root(n), |_| "int32, ")));
        each(k, |i| format!("def @f{i}(%t: {ty}) -> {ty} {{ %t }}\n"))
    }),
    row("a wide tuple through a chain", |n| {
        let fields = each(n, |_| "%x, ");
        let lines = each(n, |i| format!("  let %t{} = %t{i};\n", i + 1));
        main_around(&format!("  let %t0 = ({fields});\n{lines}"), "%x")
    }),
    clean("split into many", |n| {
        let lines = each(n, |i| format!("  %{} = %0.{i};\n", i + 1));
        format!(
            "def @main(%x: Tensor[({n}, 2), float32]) {{\n  %0 = split(%x, indices_or_sections={n});\n{lines}  %1\n}}\n"
        )
    }),
    clean("concatenation of many", |n| {
        main_around(&format!("  %0 = concatenate(({}));\n", each(n, |_| "%x, ")), "%0")
    }),
    row("nested tuples", |n| {
        let lines = each(n, |i| match i {
            0 => "  let %t0 = (%x, %w);\n".to_owned(),
            i => format!("  let %t{i} = (%t{}, %w);\n", i - 1),
        });
        main_around(&lines, &format!("%t{}", n - 1))
    }),
    row("nested tuples and their projections", |n| {
        let build = each(n, |i| match i {
            0 => "  let %t0 = (%x, %w);\n".to_owned(),
            i => format!("  let %t{i} = (%t{}, %w);\n", i - 1),
        });
        let take = each(n, |i| match i {
            0 => format!("  let %u0 = %t{}.0;\n", n - 1),
            i => format!("  let %u{i} = %u{}.0;\n", i - 1),
        });
        main_around(&(build + &take), "%x")
    }),
    row("nested tuples as a graph", |n| {
        let lines = each(n, |i| match i {
            0 => "  %0 = (%x, %w);\n".to_owned(),
            i => format!("  %{i} = (%{}, %w);\n", i - 1),
        });
        main_around(&lines, &format!("%{}", n - 1))
    }),
    row("doubling tuples", |n| {
        let lines = each(n, |i| match i {
            0 => "  let %t0 = (%x, %w);\n".to_owned(),
            i => format!("  let %t{i} = (%t{}, %t{});\n", i - 1, i - 1),
        });
        main_around(&lines, "%x")
    }),
    row("nested references", |n| {
        let lines = each(n, |i| match i {
            0 => "  let %t0 = ref(%x);\n".to_owned(),
            i => format!("  let %t{i} = ref(%t{});\n", i - 1),
        });
        main_around(&lines, "%x")
    }),
    row("nested lists", |n| {
        let lines = each(n, |i| match i {
            0 => "  let %t0 = Cons(%x, Nil);\n".to_owned(),
            i => format!("  let %t{i} = Cons(%t{}, Nil);\n", i - 1),
        });
        main_around(&lines, "%x")
    }),
    clean("a long list", |n| {
        let lines = each(n, |i| match i {
            0 => "  let %t0 = Cons(%x, Nil);\n".to_owned(),
            i => format!("  let %t{i} = Cons(%x, %t{});\n", i - 1),
        });
        main_around(&lines, &format!("%t{}", n - 1))
    }),
    clean("match on a constructor of many fields", |n| {
        let types = each(n, |_| "int32, ");
        let names = each(n, |i| format!("%y{i}, "));
        let (types, names) = (types.trim_end_matches(", "), names.trim_end_matches(", "));
        format!(
            "type T {{ C({types}) }}\ndef @main(%t: T) {{ match (%t) {{ C({names}) => %y{} }} }}\n",
            n - 1
        )
    }),
    row("many fields matched by nested patterns", |n| {
        let types = each(n, |_| "List[int32], ");
        let names = each(n, |i| format!("Cons(%y{i}, _), "));
        let (types, names) = (types.trim_end_matches(", "), names.trim_end_matches(", "));
        format!(
            "type T {{ C({types}) }}\ndef @main(%t: T) {{ match? (%t) {{ C({names}) => %y{} }} }}\n",
            n - 1
        )
    }),
    row("many fields not matched", |n| {
        let types = each(n, |_| "List[int32], ");
        let names = each(n, |i| format!("Cons(%y{i}, _), "));
        let (types, names) = (types.trim_end_matches(", "), names.trim_end_matches(", "));
        format!(
            "type T {{ C({types}) }}\ndef @main(%t: T) {{ match (%t) {{ C({names}) => %y{} }} }}\n",
            n - 1
        )
    }),
    clean("match of a wide tuple", |n| {
        let names = each(n, |i| format!("%y{i}, "));
        main_around(
            &format!("  let %t = ({});\n", each(n, |_| "%x, ")),
            &format!("match (%t) {{ ({names}) => %y0 }}"),
        )
    }),
    clean("arms of many constructors", |n| {
        let arms = each(n, |i| format!("C{i}(%y) => %y, "));
        format!("{}def @main(%t: T) {{ match (%t) {{ {arms} }} }}\n", constructors(n, "(int32)"))
    }),
    row("arms of many constructors, the last missing", |n| {
        let arms = each(n - 1, |i| format!("C{i}(%y) => %y, "));
        format!("{}def @main(%t: T) {{ match (%t) {{ {arms} }} }}\n", constructors(n, "(int32)"))
    }),
    row("many constructors, one arm", |n| {
        format!(
            "{}def @main(%t: T) {{ match (%t) {{ C0(%y) => %y }} }}\n",
            constructors(n, "(int32)")
        )
    }),
    row("many matches with missing arms", |n| {
        let lines = each(n, |i| format!("  let %y{i} = match (%t) {{ Nil => 1 }};\n"));
        format!("def @main(%t: List[int32]) {{\n{lines}  1\n}}\n")
    }),
    row("unreachable arms", |n| {
        format!("def @main(%t: List[int32]) {{ match (%t) {{ {} }} }}\n", each(n, |_| "%y => 1, "))
    }),
    row("arms of one constructor", |n| {
        let arms = each(n, |_| "Cons(%y, _) => %y, ");
        format!("def @main(%t: List[int32]) {{ match (%t) {{ {arms}Nil => 1 }} }}\n")
    }),
    row("arms of nested constructors", |n| {
        let arms = each(n, |i| format!("C{i}(C{}(_)) => 1, ", n - 1 - i));
        format!("{}def @main(%t: T) {{ match (%t) {{ {arms}_ => 2 }} }}\n", constructors(n, "(T)"))
    }),
    row("arms of pairs of constructors", |n| {
        let arms = each(n, |i| format!("(C{i}, C{}) => 1, ", n - 1 - i));
        format!(
            "{}def @main(%t: T, %u: T) {{ match ((%t, %u)) {{ {arms} }} }}\n",
            constructors(n, "")
        )
    }),
    row("a diagonal of patterns", |n| {
        // √n arms with √n fields, each of which tests another field: a matrix of uncovered patterns would
        // double with each arm if it were expanded.
        let k = root(n);
        let arm = |i: usize| each(k, |field| if field == i { "Nil, " } else { "_, " });
        let arms = each(k, |i| format!("({}) => {i}, ", arm(i)));
        let fields = each(k, |_| "List[int32], ");
        format!("def @main(%t: ({fields})) {{ match (%t) {{ {arms} }} }}\n")
    }),
    clean("matches of one list", |n| {
        let lines =
            each(n, |i| format!("  let %y{i} = match (%t) {{ Cons(%a, _) => %a, Nil => 1 }};\n"));
        format!("def @main(%t: List[int32]) {{\n{lines}  1\n}}\n")
    }),
    clean("a chain of type definitions", |n| {
        let types = each(n, |i| match i {
            0 => "type T0 { C0(int32) }\n".to_owned(),
            i => format!("type T{i} {{ C{i}(T{}) }}\n", i - 1),
        });
        format!("{types}def @main(%t: T{}) {{ match (%t) {{ C{}(%y) => %y }} }}\n", n - 1, n - 1)
    }),
    clean("a ring of type definitions", |n| {
        let types = each(n, |i| format!("type T{i} {{ C{i}(T{}), N{i} }}\n", (i + 1) % n));
        let next = 1 % n;
        format!("{types}def @main(%t: T0) {{ match (%t) {{ C0(%y) => %y, N0 => N{next} }} }}\n")
    }),
    clean("a chain of generic type definitions", |n| {
        let types = each(n, |i| match i {
            0 => "type T0[A] { C0(A) }\n".to_owned(),
            i => format!("type T{i}[A] {{ C{i}(T{}[A]) }}\n", i - 1),
        });
        format!("{types}def @main(%t: T{}[int32]) {{ %t }}\n", n - 1)
    }),
    clean("type definitions", |n| each(n, |i| format!("type T{i} {{ C{i} }}\n"))),
    row("external types", |n| each(n, |i| format!("extern type T{i}\n"))),
    clean("a type of many parameters", |n| {
        let params = each(n, |i| format!("A{i}, "));
        format!("type T[{}] {{ C(A0) }}\ndef @main() {{ C(1) }}\n", params.trim_end_matches(", "))
    }),
    clean("a chain of functions without types", |n| {
        let defs = each(n, |i| format!("def @f{i}(%x) {{ @f{}(%x) }}\n", i + 1));
        format!("{defs}def @f{n}(%x) {{ %x }}\ndef @main() {{ @f0(1) }}\n")
    }),
    clean("a chain of functions without types, backwards", |n| {
        let defs = each(n, |i| format!("def @f{}(%x) {{ @f{i}(%x) }}\n", i + 1));
        format!("def @f0(%x) {{ %x }}\n{defs}def @main() {{ @f{n}(1) }}\n")
    }),
    row("a chain of functions with relations", |n| {
        let defs = each(n, |i| format!("def @f{i}(%x) {{ nn.relu(@f{}(%x)) }}\n", i + 1));
        format!("{defs}def @f{n}(%x) {{ nn.relu(%x) }}\ndef @main() {{ @f0(1f) }}\n")
    }),
    row("a ring of functions without types", |n| {
        each(n, |i| format!("def @f{i}(%x) {{ @f{}(%x) }}\n", (i + 1) % n))
    }),
    row("a ring of functions that compute", |n| {
        each(n, |i| {
            format!(
                "def @f{i}(%x, %c) {{ if (%c) {{ %x }} else {{ @f{}(add(%x, 1f), %c) }} }}\n",
                (i + 1) % n
            )
        })
    }),
    row("pairs of recursive functions", |n| {
        each(n, |i| format!("def @a{i}(%x) {{ @b{i}(%x) }}\ndef @b{i}(%x) {{ @a{i}(%x) }}\n"))
    }),
    row("recursive functions without types", |n| {
        each(n, |i| format!("def @f{i}(%x, %c) {{ if (%c) {{ %x }} else {{ @f{i}(%x, %c) }} }}\n"))
    }),
    row("one function that calls all others", |n| {
        let lines = each(n, |i| format!("  let %y{i} = @f{i}(%x);\n"));
        each(n, |i| format!("def @f{i}(%x) {{ %x }}\n")) + &main_around(&lines, "%x")
    }),
    row("all functions call one", |n| {
        let defs = each(n, |i| format!("def @f{i}(%x) {{ @g(%x, 1f) }}\n"));
        format!("{defs}def @g(%x, %y) {{ add(%x, %y) }}\n")
    }),
    clean("a chain of closures without types", |n| {
        let lines = each(n, |i| format!("  let %f{} = fn (%y) {{ %f{i}(%y) }};\n", i + 1));
        main_around(&format!("  let %f0 = fn (%y) {{ %y }};\n{lines}"), &format!("%f{n}(%x)"))
    }),
    clean("a chain of closures with types", |n| {
        let ty = "Tensor[(2, 3), float32]";
        let lines =
            each(n, |i| format!("  let %f{} = fn (%y: {ty}) -> {ty} {{ %f{i}(%y) }};\n", i + 1));
        main_around(
            &format!("  let %f0 = fn (%y: {ty}) -> {ty} {{ %y }};\n{lines}"),
            &format!("%f{n}(%x)"),
        )
    }),
    row("a chain of closures as a graph", |n| {
        let lines = each(n, |i| format!("  %{} = fn (%y) {{ %{i}(%y) }};\n", i + 1));
        main_around(&format!("  %0 = fn (%y) {{ %y }};\n{lines}"), &format!("%{n}(%x)"))
    }),
    row("a chain of closures that compute", |n| {
        let lines = each(n, |i| format!("  let %f{} = fn (%y) {{ add(%f{i}(%y), %w) }};\n", i + 1));
        main_around(&format!("  let %f0 = fn (%y) {{ %y }};\n{lines}"), &format!("%f{n}(%x)"))
    }),
    row("doubling of polymorphic functions", |n| {
        let lines = each(n, |i| format!("  let %f{} = fn (%y) {{ %f{i}(%f{i}(%y)) }};\n", i + 1));
        main_around(&format!("  let %f0 = fn (%y) {{ %y }};\n{lines}"), "%x")
    }),
    clean("closures over one variable", |n| {
        main_around(
            &each(n, |i| format!("  let %f{i} = fn (%y: int32) {{ add(%x, %w) }};\n")),
            "%x",
        )
    }),
    row("recursive closures", |n| {
        let lines = each(n, |i| {
            format!("  let %f{i} = fn (%y, %b) {{ if (%b) {{ %y }} else {{ %f{i}(%y, %b) }} }};\n")
        });
        main_around(&lines, "%x")
    }),
    row("functions with many variables captured", |n| {
        let lets = each(n, |i| format!("  let %y{i} = nn.relu(%x);\n"));
        let uses = each(n, |i| format!("let %z{i} = %y{i}; "));
        main_around(&format!("{lets}  let %f = fn () {{ {uses}1 }};\n"), "%x")
    }),
    row("a function of many parameters without types", |n| {
        let params = each(n, |i| format!("%p{i}, "));
        let sum = each(n, |i| format!("  let %s{} = add(%s{i}, %p{i});\n", i + 1));
        let params = params.trim_end_matches(", ");
        format!("def @f({params}) {{\n  let %s0 = 1f;\n{sum}  %s{n}\n}}\n")
    }),
    row("equal variables", |n| {
        // One class of n variables.
        let lines =
            each(n, |i| format!("  let %r{i} = if (%c) {{ %p{} }} else {{ %p{i} }};\n", i + 1));
        let params = each(n + 1, |i| format!("%p{i}, "));
        format!("def @f({params}%c) {{\n{lines}  %p0\n}}\n")
    }),
    clean("a chain of bindings", |n| {
        let lines = each(n, |i| match i {
            0 => "  %0 = add(%x, %w);\n".to_owned(),
            i => format!("  %{i} = add(%{}, %w);\n", i - 1),
        });
        main_around(&lines, &format!("%{}", n - 1))
    }),
    clean("if expressions", |n| {
        main_around(&each(n, |i| format!("  %{i} = if (%c) {{ %x }} else {{ %w }};\n")), "%x")
    }),
    row("functions from kinds", |n| {
        each(n, |i| {
            format!(
                "def @f{i}<s : Shape, bt : BaseType>(%a : Tensor[s, bt]) -> Tensor[s, bt] {{ %a }}\n"
            )
        })
    }),
    row("where clauses", |n| {
        each(n, |i| format!("def @f{i}(%x, %y) where Broadcast {{ add(%x, %y) }}\n"))
    }),
    row("symbolic sizes", |n| {
        let lines = each(n, |i| format!("  %{i} = concatenate((%a, %a));\n"));
        format!("def @main(%a: Tensor[(?, 3), float32]) {{\n{lines}  %a\n}}\n")
    }),
    row("sizes that grow in a chain", |n| {
        let lines = each(n, |i| match i {
            0 => "  %0 = concatenate((%a, %b));\n".to_owned(),
            i => format!("  %{i} = concatenate((%{}, %b));\n", i - 1),
        });
        format!(
            "def @main(%a: Tensor[(?, 3), float32], %b: Tensor[(?, 3), float32]) {{\n{lines}  %a\n}}\n"
        )
    }),
    row("sizes that grow without bound", |n| {
        let lines = each(n, |i| match i {
            0 => "  %0 = concatenate((%x, %x));\n".to_owned(),
            i => format!("  %{i} = concatenate((%{}, %{}));\n", i - 1, i - 1),
        });
        main_around(&lines, "%x")
    }),
    row("ranks that grow", |n| {
        let k = root(n);
        let lines = each(k, |i| match i {
            0 => "  %0 = expand_dims(%x, axis=0);\n".to_owned(),
            i => format!("  %{i} = expand_dims(%{}, axis=0);\n", i - 1),
        });
        main_around(&lines, "%x")
    }),
];
