//! Any text, on a small stack: nothing is lost, and nothing dies.

use std::time::{Duration, Instant};

use relay_tests::{corpus, edits};
use semantics::{Database, Severity, check_file, types_in};
use syntax::ParseLimits;

/// Runs on a stack of 2 MiB, which is what threads have that nobody asked for more.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
    assert!(thread.join().is_ok());
}

/// Everything that opening a file does; the number of errors.
fn open(text: &str) -> usize {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    assert!(file.parse(&db).green.to_string() == text, "the tree lost something");
    types_in(&db, file);
    let found = check_file(&db, file);
    for diagnostic in found.iter() {
        assert!(usize::from(diagnostic.range.end()) <= text.len(), "{diagnostic:?}");
        // A message is a message.
        assert!(!diagnostic.message.is_empty());
    }
    found.iter().filter(|d| d.severity == Severity::Error).count()
}

#[test]
fn deep_texts() {
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

/// What is long in a legal way is not deep.
#[test]
fn long_texts() {
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

/// Errors everywhere cost no more than the text is long.
#[test]
fn wrong_texts() {
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
        // A bound that only what is quadratic comes near to.
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?}: {}…",
            start.elapsed(),
            &text[..80]
        );
    }
}

/// Types that would contain themselves, come upon by chance.
#[test]
fn types_without_end() {
    on_small_stack(|| {
        for text in [
            "def@f%\nw(%s:{match{y=>t=>@f(",
            "type [A{Row\n\ndef@sum(%rows:Rows%start:Tenso_y=\n    Row(%first\n});\n  %double=fn\n  }\n  @sum\n",
        ] {
            open(text);
        }
    });
}

#[test]
fn any_bytes() {
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
