//! Constructs that are cheap on their own: comments, blank lines, attributes, literals, brackets.

use super::{Generator, clean, each, main_around, row};

/// Returns a text after a complete definition.
fn after_main(text: String) -> String {
    format!("def @main(%x: int32) {{ %x }}\n{text}")
}

pub(super) const ALL: &[Generator] = &[
    clean("line comments", |n| after_main(each(n, |i| format!("// comment {i}\n")))),
    clean("line comments in a body", |n| {
        main_around(&each(n, |i| format!("  // comment {i}\n")), "%x")
    }),
    clean("block comments", |n| after_main(each(n, |i| format!("/* comment {i} */\n")))),
    clean("block comments in a body", |n| {
        main_around(&each(n, |i| format!("  /* comment {i} */\n")), "%x")
    }),
    clean("block comments on one line", |n| after_main(each(n, |_| "/* a */ "))),
    row("hash comments", |n| after_main(each(n, |i| format!("# comment {i}\n")))),
    clean("comments before definitions", |n| {
        each(n, |i| format!("// comment {i}\ndef @f{i}(%x: int32) {{ %x }}\n"))
    }),
    clean("comments inside a call", |n| {
        main_around(&format!("  %0 = add(%x, {}%w);\n", each(n, |_| "/* a */ ")), "%0")
    }),
    clean("blank lines", |n| "\n".repeat(n) + &after_main("\n".repeat(n))),
    clean("blank lines in a body", |n| main_around(&"\n".repeat(n), "%x")),
    clean("carriage returns", |n| after_main("\r\n".repeat(n))),
    row("lone carriage returns", |n| after_main("\r".repeat(n))),
    clean("spaces", |n| after_main(" ".repeat(n))),
    row("byte order marks", |n| after_main("\u{FEFF}".repeat(n))),
    row("zero bytes", |n| after_main("\0".repeat(n))),
    row("letters of other alphabets", |n| after_main("é🚀".repeat(n))),
    row("unknown characters", |n| after_main("$`?".repeat(n))),
    row("attributes of one call", |n| {
        main_around(&format!("  %0 = nn.relu(%x{});\n", each(n, |i| format!(", a{i}={i}"))), "%x")
    }),
    row("one attribute many times", |n| {
        main_around(&format!("  %0 = nn.softmax(%x{});\n", each(n, |_| ", axis=1")), "%x")
    }),
    row("attributes of a function", |n| {
        format!("def @main(%x: int32{}) {{ %x }}\n", each(n, |i| format!(", Attr{i}={i}")))
    }),
    clean("calls with attributes", |n| {
        main_around(&each(n, |i| format!("  %{i} = nn.softmax(%x, axis=1);\n")), "%x")
    }),
    row("a list attribute", |n| {
        main_around(
            &format!("  %0 = transpose(%x, axes=[{}]);\n", each(n, |i| format!("{i}, "))),
            "%x",
        )
    }),
    row("a shape attribute", |n| {
        main_around(&format!("  %0 = reshape(%x, newshape=[{}]);\n", each(n, |_| "1, ")), "%x")
    }),
    row("string literals", |n| {
        main_around(&each(n, |i| format!("  %{i} = cast(%x, dtype=\"float{i}\");\n")), "%x")
    }),
    row("one string literal", |n| {
        main_around(&format!("  %0 = cast(%x, dtype=\"{}\");\n", "a".repeat(n)), "%x")
    }),
    row("string literals in a row", |n| after_main(each(n, |_| "\"a\" "))),
    row("quotes", |n| after_main("\"".repeat(n))),
    row("quotes on lines", |n| after_main("\"\n".repeat(n))),
    clean("numbers", |n| {
        main_around(&format!("  let %t = ({});\n", each(n, |i| format!("{i}, "))), "%x")
    }),
    row("one long number", |n| main_around(&format!("  let %t = {};\n", "1".repeat(n)), "%x")),
    row("one long size", |n| {
        format!("def @main(%x: Tensor[({}, 1), float32]) {{ %x }}\n", "1".repeat(n))
    }),
    clean("parameters", |n| {
        format!(
            "def @main({}%x: int32) {{ %x }}\n",
            each(n, |i| format!("%p{i}: Tensor[(1, 64), float32], "))
        )
    }),
    row("parameters without types", |n| {
        format!("def @main({}%x) {{ %x }}\n", each(n, |i| format!("%p{i}, ")))
    }),
    clean("type parameters", |n| {
        format!("def @main[{}B](%x: B) -> B {{ %x }}\n", each(n, |i| format!("A{i}, ")))
    }),
    row("type arguments", |n| {
        format!(
            "def @f[A](%x: A) -> A {{ %x }}\ndef @main() {{ @f<{}int32>(1) }}\n",
            each(n, |_| "int32, ")
        )
    }),
    clean("definitions", |n| each(n, |i| format!("def @f{i}(%x: int32) -> int32 {{ %x }}\n"))),
    row("definitions without types", |n| each(n, |i| format!("def @f{i}(%x) {{ %x }}\n"))),
    clean("graph bindings", |n| {
        main_around(&each(n, |i| format!("  %{i} = nn.relu(%x);\n")), "%x")
    }),
    // A stage of which only the first layer has a product, without runs of equal calls.
    clean("calls on images", |n| {
        let calls = each(n, |i| {
            let operator = if i.count_ones() % 2 == 0 { "tanh" } else { "exp" };
            format!("  %{} = {operator}(%{i});\n", i + 1)
        });
        format!(
            "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(3, 3, 3, 3), float32]) {{\n  \
             %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=3, kernel_size=[3, 3]);\n{calls}  %{n}\n}}\n"
        )
    }),
    // Each run of layers is another one.
    clean("runs of layers", |n| {
        let units = |i: usize| 2 + 2 * (i / 4) + i % 2;
        let calls = each(n, |i| {
            let (before, own) = (if i == 0 { 4 } else { units(i - 1) }, units(i));
            let input = if i == 0 { "x".to_owned() } else { (i - 1).to_string() };
            format!(
                "  %{i} = nn.dense(%{input}, ones(shape=[{own}, {before}], dtype=\"float32\"), units={own});\n"
            )
        });
        format!("def @main(%x: Tensor[(1, 4), float32]) {{\n{calls}  %{}\n}}\n", n - 1)
    }),
    row("graph bindings without semicolons", |n| {
        main_around(&each(n, |i| format!("  %{i} = nn.relu(%x)\n")), "%x")
    }),
    clean("let bindings", |n| {
        main_around(&each(n, |i| format!("  let %y{i} = nn.relu(%x);\n")), "%x")
    }),
    row("sequences", |n| main_around(&each(n, |_| "  nn.relu(%x);\n"), "%x")),
    row("semicolons", |n| main_around(&";".repeat(n), "%x")),
    row("commas", |n| main_around(&format!("add({})", ",".repeat(n)), "%x")),
    row("free variables", |n| each(n, |i| format!("free_var %y{i}: int32;\n")) + "add(%y0, %y0)\n"),
    row("metadata entries", |n| {
        let nodes = each(n, |i| {
            format!(
                ",\n    {{\"type_key\": \"IntImm\", \"attrs\": {{\"dtype\": \"int32\", \"span\": \"0\", \"value\": \"{i}\"}}}}"
            )
        });
        let lines = each(n, |i| format!("  %{i} = meta[relay.Constant][{i}];\n"));
        main_around(&lines, "%x")
            + &format!(
                "#[metadata]\n{{\n  \"root\": 1,\n  \"nodes\": [\n    {{\"type_key\": \"\"}}{nodes}\n  ],\n  \"b64ndarrays\": [],\n  \"attrs\": {{\"tvm_version\": \"0.14.0\"}}\n}}\n"
            )
    }),
    row("metadata arrays", |n| {
        let list = each(n, |i| format!("{}, ", i + 3));
        let nodes = each(n, |i| {
            format!(
                ",\n    {{\"type_key\": \"relay.Constant\", \"attrs\": {{\"_checked_type_\": \"0\", \"data\": \"{i}\", \"span\": \"0\", \"virtual_device_\": \"0\"}}}}"
            )
        });
        // A scalar of int32 in TVM's format for arrays.
        let array = "\"P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAAAAAAAgAQAEAAAAAAAAAAEAAAA=\"";
        let arrays = each(n, |_| format!("{array}, "));
        let lines = each(n, |i| format!("  %{i} = meta[relay.Constant][{i}];\n"));
        main_around(&lines, "%x")
            + &format!(
                "#[metadata]\n{{\"root\": 1, \"nodes\": [{{\"type_key\": \"\"}}, {{\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \"data\": [2]}}, {{\"type_key\": \"Array\", \"data\": [{}]}}{nodes}], \"b64ndarrays\": [{}], \"attrs\": {{\"tvm_version\": \"0.14.0\"}}}}\n",
                list.trim_end_matches(", "),
                arrays.trim_end_matches(", ")
            )
    }),
    row("metadata chains", |n| {
        // Each node refers to the one after it.
        let nodes = each(n, |i| format!(", {{\"type_key\": \"Array\", \"data\": [{}]}}", i + 2));
        main_around("  %0 = meta[relay.Constant][0];\n", "%0")
            + &format!(
                "#[metadata]\n{{\"root\": 1, \"nodes\": [{{\"type_key\": \"\"}}{nodes}], \"b64ndarrays\": [], \"attrs\": {{}}}}\n"
            )
    }),
    row("nested metadata", |n| {
        main_around("", "meta[relay.Constant][0]")
            + "#[metadata]\n"
            + &"[".repeat(n)
            + &"]".repeat(n)
    }),
    row("metadata sections", |n| each(n, |_| "def @main() { 1 }\n#[metadata]\n{}\n")),
    row("metadata references", |n| {
        main_around(
            &each(n, |i| {
                format!("  %{i} = meta[relay.Constant][{i}] /* ty=Tensor[(2), float32] */;\n")
            }),
            "%x",
        )
    }),
    row("banners of a log", |n| {
        each(n, |i| {
            format!(
                "[12:30:00] PrintIR(After pass {i}):\n#[version = \"0.0.5\"]\ndef @main(%x: int32) {{ %x }}\n\n"
            )
        })
    }),
    row("modules of a log", |n| {
        each(n, |_| "#[version = \"0.0.5\"]\ndef @main(%x: int32) { %x }\n\n")
    }),
    row("modules of a log without types", |n| {
        each(n, |_| "#[version = \"0.0.5\"]\ndef @main(%x) { @main(%x) }\n\n")
    }),
    row("version lines", |n| each(n, |_| "#[version = \"0.0.5\"]\n")),
    row("metadata markers", |n| each(n, |_| "#[metadata]\n")),
    row("opening parentheses", |n| main_around(&"(".repeat(n), "%x")),
    row("opening brackets", |n| main_around(&"[".repeat(n), "%x")),
    row("opening braces", |n| main_around(&"{".repeat(n), "%x")),
    row("opening angles", |n| main_around(&"@f<".repeat(n), "%x")),
    row("closing parentheses", |n| main_around(&")".repeat(n), "%x")),
    row("closing brackets", |n| main_around(&"]".repeat(n), "%x")),
    row("opening parentheses on lines", |n| {
        main_around(&each(n, |i| format!("  %{i} = (\n")), "%x")
    }),
    row("opening braces on lines", |n| main_around(&each(n, |_| "  if (%c) {\n"), "%x")),
    row("closed parentheses", |n| {
        main_around(&format!("{}%x{}", "(".repeat(n), ")".repeat(n)), "%x")
    }),
    row("opening comments", |n| after_main("/* ".repeat(n))),
    row("closed comments", |n| after_main("/* ".repeat(n) + &"*/ ".repeat(n))),
    row("closing comments", |n| after_main("*/ ".repeat(n))),
    row("functions in functions", |n| main_around(&"fn (%y) { ".repeat(n), "%x")),
    row("calls in calls", |n| {
        main_around(&format!("{}%x{}", "nn.relu(".repeat(n), ")".repeat(n)), "")
    }),
    row("branches in branches", |n| main_around(&"if (%c) { %x } else ".repeat(n), "{ %x }")),
    row("types in types", |n| {
        format!("def @main(%x: {}int32{}) {{ %x }}\n", "(".repeat(n), ",)".repeat(n))
    }),
    row("functions of functions", |n| {
        format!("def @main(%x: {}int32) {{ %x }}\n", "fn () -> ".repeat(n))
    }),
    row("minus signs", |n| main_around("", &format!("{}1", "-".repeat(n)))),
    row("sums", |n| main_around("", &format!("{}%x", "%x + ".repeat(n)))),
    row("comparisons", |n| main_around("", &format!("{}%x", "%x < ".repeat(n)))),
    row("conjunctions", |n| main_around("", &format!("{}%c", "%c && ".repeat(n)))),
    row("projections of projections", |n| main_around("", &format!("%x{}", ".0".repeat(n)))),
    row("calls of calls", |n| main_around("", &format!("%x{}", "()".repeat(n)))),
    row("words", |n| "@f %x let if else match ".repeat(n)),
    row("definition words", |n| "def ".repeat(n)),
    row("type words", |n| "type T { A, ".repeat(n)),
    row("let words", |n| main_around(&"let %y = ".repeat(n), "%x")),
    row("match words", |n| main_around(&"match (%x) { ".repeat(n), "%x")),
    row("equals signs", |n| main_around(&"%0 = ".repeat(n), "%x")),
    row("bare expressions", |n| each(n, |_| "add(1, 2)\n")),
    clean("sizes of a shape", |n| {
        format!(
            "def @main(%x: Tensor[({}), float32]) {{ %x }}\n",
            each(n, |_| "1, ").trim_end_matches(", ")
        )
    }),
    row("unknown sizes", |n| {
        format!(
            "def @main(%x: Tensor[({}), float32]) {{ nn.relu(%x) }}\n",
            each(n, |_| "?, ").trim_end_matches(", ")
        )
    }),
    row("wide shapes that are added", |n| {
        let ty = format!(
            "Tensor[({}), float32]",
            each(n, |i| format!("{}, ", i + 1)).trim_end_matches(", ")
        );
        format!("def @main(%x: {ty}, %y: {ty}) {{ add(%x, %y) }}\n")
    }),
    clean("fields of a tuple type", |n| {
        format!("def @main(%x: ({})) {{ %x }}\n", each(n, |_| "int32, "))
    }),
    clean("parameters of a function type", |n| {
        format!(
            "def @main(%x: fn ({}) -> int32) {{ %x }}\n",
            each(n, |_| "int32, ").trim_end_matches(", ")
        )
    }),
    row("type comments", |n| {
        main_around(
            &each(n, |i| {
                format!("  %{i} = nn.relu(%x) /* ty=Tensor[(2, 3), float32] span=a.py:{i}:1 */;\n")
            }),
            "%x",
        )
    }),
    row("type comments of one expression", |n| {
        main_around(
            &format!("  %0 = nn.relu(%x) {};\n", each(n, |_| "/* ty=Tensor[(2, 3), float32] */ ")),
            "%x",
        )
    }),
    row("comments that name paths", |n| {
        after_main(each(n, |i| format!("// https://example.org/{i} see span=a.py:{i}:1\n")))
    }),
    row("malformed marks", |n| {
        main_around(&each(n, |i| format!("  %{i} = nn.relu-malformed-ir(%x);\n")), "%x")
    }),
    row("TIR functions", |n| {
        each(n, |i| {
            format!(
                "@f{i} = primfn(a: handle) -> ()\n  attr = {{\"a\": {i}}} {{\n  evaluate(0)\n}}\n\n"
            )
        })
    }),
    row("virtual devices", |n| {
        main_around(
            &each(n, |i| {
                format!("  %{i} = on_device(%x, virtual_device=VirtualDevice(device_type={i}));\n")
            }),
            "%x",
        )
    }),
    row("arms of the manual", |n| {
        format!(
            "def @main(%t: List[int32]) {{ match (%t) {{ {} }} }}\n",
            each(n, |_| "case Nil() { 1 }\n")
        )
    }),
    row("data definitions of the manual", |n| {
        each(n, |i| format!("data N{i} {{ Z{i} : () -> N{i}\n S{i} : (N{i}) -> N{i} }}\n"))
    }),
    row("constants of the manual", |n| {
        main_around(&each(n, |i| format!("  %{i} = Constant(1, (10, 10), float32)\n")), "%x")
    }),
    row("one long name", |n| format!("def @{0}(%{0}: int32) {{ %{0} }}\n", "a".repeat(n))),
    row("one long line comment", |n| after_main(format!("// {}", "a ".repeat(n)))),
    row("one long token of brackets", |n| after_main("([{".repeat(n) + &"}])".repeat(n))),
    row("slashes", |n| after_main("%a/".repeat(n))),
    row("colons", |n| after_main("%a::".repeat(n))),
    row("dots", |n| after_main("%a.".repeat(n))),
    row("hashes", |n| after_main("#".repeat(n))),
    row("hashes on lines", |n| after_main("#[\n".repeat(n))),
    row("at signs", |n| after_main("@".repeat(n))),
];
