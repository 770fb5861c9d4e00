//! Arbitrary texts on a small stack: trees are complete, and nothing panics.

use std::time::Instant;

use relay_tests::{corpus, edits, figures::WATCHDOG};
use semantics::{Database, Severity, check_file, types_in};
use syntax::ParseLimits;

/// Runs on a stack of 2 MiB, the default of threads.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
    assert!(thread.join().is_ok());
}

/// Runs the analyses for opening a file; returns the number of errors.
fn open(text: &str) -> usize {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    assert!(file.parse(&db).green.to_string() == text, "the tree is incomplete");
    types_in(&db, file);
    let found = check_file(&db, file);
    for diagnostic in found.iter() {
        assert!(usize::from(diagnostic.range.end()) <= text.len(), "{diagnostic:?}");
        // Messages are neither empty nor too long.
        let related = diagnostic.related.iter().map(|related| &related.message);
        for message in related.chain(&diagnostic.help).chain([&diagnostic.message]) {
            assert!(!message.is_empty());
            assert!(message.chars().count() <= 600, "{message}");
        }
    }
    found.iter().filter(|d| d.severity == Severity::Error).count()
}

/// Returns calls nested 200 deep, each followed by 1,900 calls or projections.
fn nested_chains(step: &str) -> String {
    let inner = "%x(".repeat(200) + "%x";
    format!("def @main(%x: int32) {{ {inner}{} }}", format!("){}", step.repeat(1_900)).repeat(200))
}

#[test]
fn deep_nesting_is_limited() {
    on_small_stack(|| {
        let n = 50_000;
        let wrap = |open: &str, middle: &str, close: &str| {
            format!(
                "def @main(%x: int32, %c: bool) {{ {}{middle}{} }}",
                open.repeat(n),
                close.repeat(n)
            )
        };
        for (text, broken) in [
            (wrap("(", "%x", ")"), true),
            (wrap("nn.relu(", "%x", ")"), true),
            (wrap("(%x, ", "%x", ")"), true),
            (wrap("if (%c) {", "%x", "} else { %x }"), true),
            (wrap("fn (%y: int32) {", "%x", "}"), true),
            (wrap("let %y = (", "%x", "); %x"), true),
            (wrap("{", "%x", "}"), true),
            (wrap("(", "%x", ""), true),
            (wrap("", "%x", ")"), true),
            (wrap("[", "%x", "]"), true),
            (wrap("/* ", "", " */"), true),
            (wrap("/* ", "", ""), true),
            (wrap("-", "1", ""), true),
            (wrap("%x.0", "", ""), true),
            // Calls and projections of deeply nested expressions.
            (nested_chains("()"), true),
            (nested_chains(".0"), true),
            (format!("def @main(%x: {}int32{}) {{ %x }}", "(".repeat(n), ",)".repeat(n)), true),
            (format!("def @main(%x: {}int32) {{ %x }}", "fn () -> ".repeat(n)), true),
            (
                format!("def @main() {{ add(1, 2, axis={}1{}) }}", "[".repeat(n), "]".repeat(n)),
                true,
            ),
        ] {
            assert_eq!(open(&text) > 0, broken, "{}…", &text[..60]);
        }
    });
}

/// Long valid texts are not deeply nested.
#[test]
fn long_texts_have_no_errors() {
    on_small_stack(|| {
        let n = 20_000;
        let chain = |one: &dyn Fn(usize) -> String, last: &str| {
            let lines: String = (0..n).map(one).collect();
            format!("def @main(%x: float32, %l: List[float32]) {{\n{lines}  {last}\n}}\n")
        };
        let graph = |i: usize| match i {
            0 => "  %0 = nn.relu(%x);\n".to_owned(),
            i => format!("  %{i} = nn.relu(%{});\n", i - 1),
        };
        assert_eq!(open(&chain(&graph, &format!("%{}", n - 1))), 0);
        assert_eq!(open(&chain(&|_| "  let %x = nn.relu(%x);\n".into(), "%x")), 0);
        let sum = (0..1_500).map(|_| "%x + ").collect::<String>();
        assert_eq!(open(&format!("def @main(%x: float32) {{ {sum}%x }}")), 0);
        let many: String =
            (0..n).map(|i| format!("def @f{i}(%x: int32) {{ @f{}(%x) }}\n", i + 1)).collect();
        assert_eq!(open(&format!("{many}def @f{n}(%x: int32) {{ %x }}\n")), 0);
        let recursive: String =
            (0..n).map(|i| format!("def @f{i}(%x) {{ @f{}(%x) }}\n", (i + 1) % n)).collect();
        open(&recursive);
        let params: String = (0..n).map(|i| format!("%p{i}: Tensor[(1, 64), float32], ")).collect();
        assert_eq!(open(&format!("def @main({params}%x: int32) {{ %x }}")), 0);
        let arms: String = (0..2_000).map(|i| format!("C{i}(%y) => %y,\n")).collect();
        let constructors: String = (0..2_000).map(|i| format!("C{i}(int32),\n")).collect();
        let text =
            format!("type T {{ {constructors} }}\ndef @main(%t: T) {{ match (%t) {{ {arms} }} }}");
        assert_eq!(open(&text), 0);
    });
}

/// The cost of errors is linear in the length of the text.
#[test]
fn many_errors_are_reported_in_linear_time() {
    let n = 20_000;
    let each = |line: &dyn Fn(usize) -> String| {
        let lines: String = (0..n).map(line).collect();
        format!(
            "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) {{\n{lines}  %x\n}}\n"
        )
    };
    for text in [
        each(&|i| format!("  %{i} = add(%x, %unknown{i});\n")),
        each(&|i| format!("  %{i} = add(%x, %y);\n")),
        each(&|i| format!("  %{i} = addd(%x, %y);\n")),
        each(&|i| format!("  %{i} = add(%x, %y;\n")),
        each(&|i| format!("  let %v{i}: int32 = add(%x, %x);\n")),
        each(&|i| format!("  let %v{i} = @g{i}(%x);\n")),
        each(&|_| "  }\n".to_owned()),
        each(&|_| "  ) ] } = ; , \" /* \n".to_owned()),
        each(&|_| "  'q' $ ` \\ \u{1}\n".to_owned()),
        format!("def @main({}) {{ 1 }}", "%x: int32, ".repeat(n)),
        "@f %x let if else match ".repeat(n),
        "def ".repeat(n),
        "type T { A, ".repeat(n),
        "#[metadata]\n".repeat(n),
        "\u{FEFF}\r\r\n\0".repeat(n),
    ] {
        let start = Instant::now();
        assert!(open(&text) > 0, "{}…", text.chars().take(80).collect::<String>());
        // A bound that only quadratic behaviour exceeds.
        assert!(start.elapsed() < WATCHDOG, "{:?}: {}…", start.elapsed(), &text[..80]);
    }
}

/// The cost of damage is linear in the length of the text, too.
#[test]
fn damage_is_read_in_linear_time() {
    let n = 20_000;
    let each = |line: &dyn Fn(usize) -> String| {
        let lines: String = (0..n).map(line).collect();
        format!("def @main(%x: int32) {{\n{lines}  %x\n}}\n")
    };
    for text in [
        each(&|i| format!("\u{A0} let %v{i} = “add”(%x, &amp;amp;lt; −1);\n")),
        each(&|i| format!("> {i} let %v{i} = add(%x, ...) / ty=int32 /;\n")),
        each(&|_| "  / ty=/ ty=/ ty= & ”” \u{200B}".to_owned()),
        format!("def @main() {{ {} }}\n", "> 1 \"“&amp;".repeat(n)),
        ">".repeat(n) + &"&amp;".repeat(n) + " def @main() { 1 }\n```\n",
        "... … def @f(...) { ...\n".repeat(n),
        "mod = print(mod)\nTraceback (most recent call last)\n  a b c\n".repeat(n),
        "\n1 def @f() {\n```\n\"\"\"\n".repeat(n),
    ] {
        let start = Instant::now();
        open(&text);
        let took = start.elapsed();
        let head: String = text.chars().take(80).collect();
        assert!(took < WATCHDOG, "{took:?}: {head}…");
    }
}

/// Types that would contain themselves, found by fuzzing.
#[test]
fn infinite_types_are_errors() {
    on_small_stack(|| {
        for text in [
            "def@f%\nw(%s:{match{y=>t=>@f(",
            "def @main(%x;\n a\n @main\n nn.relu",
            "{ %1 = ref_read }\n%2 = %1",
            "type [A{Row\n\ndef@sum(%rows:Rows%start:Tenso_y=\n    Row(%first\n});\n  %double=fn\n  }\n  @sum\n",
        ] {
            open(text);
        }
    });
}

/// Types that double with each line are graphs with a node per line, and are traversed as such. If a
/// scheme doubles, one diagnostic reports the limit.
#[test]
fn exponential_types_are_limited() {
    let main =
        |lines: String, last: &str| format!("def @main(%p0: int32) {{\n{lines}  {last}\n}}\n");
    let each = |n: usize, line: &dyn Fn(usize, usize) -> String| -> String {
        (1..=n).map(|i| format!("  {}\n", line(i, i - 1))).collect()
    };
    let tuples = |n| each(n, &|i, j| format!("let %p{i} = (%p{j}, %p{j});"));
    let graph = |n| each(n, &|i, j| format!("%{i} = (%{j}, %{j});"));
    let functions = |n| {
        let first = "  let %f0 = fn (%x) { (%x, %x) };\n";
        first.to_owned() + &each(n, &|i, j| format!("let %f{i} = fn (%x) {{ %f{j}(%f{j}(%x)) }};"))
    };
    let pairs = |n| {
        let first = "  let %q0 = fn (%x) { %x };\n";
        first.to_owned() + &each(n, &|i, j| format!("let %q{i} = fn (%z) {{ (%q{j}, %q{j}) }};"))
    };
    let added = |n| {
        let first = "  let %a0 = fn (%x) { add(%x, 1) };\n";
        first.to_owned()
            + &each(n, &|i, j| format!("let %a{i} = fn (%x) {{ (%a{j}(%x), %a{j}(%x)) }};"))
    };
    let texts = [
        main(tuples(60), "%p60"),
        main(tuples(60), "(%p60, 1).0"),
        main(tuples(60), "add(%p60, %p59)"),
        main(format!("  %0 = (%p0, %p0);\n{}", graph(60)), "%60"),
        main(functions(12), "%f12(%p0)"),
        main(functions(60), "%f60(%p0)"),
        main(pairs(40), "%q40"),
        main(added(12), "%a12(%p0)"),
        main(added(40), "%a40(%p0)"),
    ];
    on_small_stack(move || {
        for text in texts {
            let start = Instant::now();
            let errors = open(&text);
            assert!(errors <= 1, "{errors} errors: {text}");
            assert!(start.elapsed() < WATCHDOG, "{:?}: {text}", start.elapsed());
        }
    });
}

#[test]
fn arbitrary_bytes_are_analysed() {
    on_small_stack(|| {
        let mut rng = fastrand::Rng::with_seed(7);
        for (_, text) in corpus::examples() {
            let mut text = text;
            for _ in 0..150 {
                edits::random(&mut rng, &text).apply(&mut text);
                open(&text);
            }
        }
        for length in 0..300 {
            let bytes: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
            open(&String::from_utf8_lossy(&bytes));
        }
    });
}
